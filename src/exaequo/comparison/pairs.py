"""Pairs of systems: differences, tests, corrections, effect sizes, power, and a verdict in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from exaequo.choices import CORRECTIONS, HSD, INTERVAL_KINDS, PATTERNS
from exaequo.comparison.values import DIGITS, table
from exaequo.errors import BadParameter
from exaequo.judge import Floats, Ints
from exaequo.luck import changes, gain
from exaequo.measures import Measure
from exaequo.options import check_alpha, check_choice
from exaequo.scores import Scores
from exaequo.stats import corrections
from exaequo.stats.power import detectable_effect, topics_needed
from exaequo.stats.tests import MOST_EXACT, NOISE, TESTS, Setting, bootstrap_interval, direction, t_interval

#: A gain of so many percent is worth noticing, by the rule of thumb of the course.
NOTICEABLE = 5.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to compare."""

    baseline: str | None = None
    test: str = "t"
    correction: str = "holm"
    alternative: str = "two-sided"
    alpha: float = 0.05
    samples: int = PATTERNS
    seed: int = 0
    interval: str = "auto"

    def __post_init__(self) -> None:
        check_choice("test", self.test, tuple(TESTS))
        check_choice("interval", self.interval, INTERVAL_KINDS)
        check_choice("correction", self.correction, CORRECTIONS)
        check_alpha(self.alpha)
        if self.correction in HSD and self.baseline is not None:
            raise BadParameter("Tukey's HSD compares all pairs; leave the baseline out, or correct with holm.")
        if self.correction in HSD and self.alternative != "two-sided":
            raise BadParameter("Tukey's HSD is two-sided.")
        if self.alternative != "two-sided" and self.baseline is None:
            raise BadParameter("A one-sided comparison needs a baseline: which of two runs is asked about?")
        self.setting  # noqa: B018 - checks the rest

    @property
    def setting(self) -> Setting:
        """What the tests need to know."""
        return Setting(self.samples, self.seed, self.alternative)

    @property
    def name(self) -> str:
        """The test and its correction in words."""
        if self.correction in HSD:
            return {"tukey": "Tukey HSD", "randomised-tukey": "randomised Tukey HSD"}[self.correction]
        corrected = "" if self.correction == "none" else f", {self.correction.replace('bh', 'BH').replace('by', 'BY')}"
        side = "" if self.alternative == "two-sided" else ", one-sided"
        return f"{self.test}{corrected}{side}"

    def weakness(self, pairs: int, topics: int) -> str | None:
        """Say why nothing can be significant, if the test is too coarse for so many pairs; None if it is not."""
        if self.correction in HSD or self.test not in ("randomization", "bootstrap"):
            return None
        sides = 2 if self.alternative == "two-sided" else 1
        exact = self.test == "randomization" and topics <= MOST_EXACT
        least = sides / 2**topics if exact else 1 / (self.samples + 1)
        least *= pairs if self.correction in ("holm", "bonferroni") else 1
        if least < self.alpha:
            return None
        more = f"take more --samples than {round(pairs / self.alpha):,}, or another correction"
        mend = "more topics are needed" if exact else more
        return f"with {pairs:,} pairs the least corrected p is {least:.2g}, so nothing can be significant: {mend}"


def which_pairs(runs: Sequence[str], baseline: str | None) -> tuple[Ints, Ints]:
    """Return the two runs of each comparison: the second is compared with the first."""
    if baseline is None:
        first, second = np.triu_indices(len(runs), 1)
        return first.astype(np.int64), second.astype(np.int64)
    base = runs.index(baseline)
    others = np.delete(np.arange(len(runs)), base)
    return np.full_like(others, base), others


@dataclass(frozen=True, eq=False)
class _Pairs:
    """All pairs of runs on one measure under one strategy; `values` are runs × topics."""

    values: Floats
    first: Ints
    second: Ints
    plan: Plan
    upward: int

    @property
    def gaps(self) -> Floats:
        """The differences of each pair, topic by topic; what is rounding is 0."""
        return np.round(self.values[self.second] - self.values[self.first], DIGITS)

    @cached_property
    def p(self) -> tuple[Floats, Floats]:
        """P of each pair, and p corrected for the number of pairs; one-sided: whether the second is better."""
        plan = self.plan
        if plan.correction in HSD:
            plain = plan.correction == "tukey"
            p = corrections.tukey(self.values) if plain else corrections.randomised_tukey(self.values, plan.setting)
            return p, p
        p = TESTS[plan.test](self.upward * self.gaps, plan.setting)
        return p, corrections.CORRECTIONS[plan.correction](p)

    @cached_property
    def better(self) -> Ints:
        """Which of each pair the test sees as better: 1 the second, -1 the first, 0 neither."""
        test = "t" if self.plan.correction in HSD else self.plan.test
        return (self.upward * direction(self.gaps, test)).astype(np.int64)

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """The interval of each mean difference, of the kind the plan asks for."""
        plan = self.plan
        kind = plan.interval if plan.interval != "auto" else "bca" if plan.test == "bootstrap" else "t"
        if kind == "t":
            return t_interval(self.gaps, 1 - plan.alpha)
        return bootstrap_interval(self.gaps, 1 - plan.alpha, plan.setting, corrected=kind == "bca")


def compare_pairs(scores: Scores, plan: Plan) -> pl.DataFrame:
    """Compare all pairs on all measures."""
    first, second = which_pairs(scores.runs, plan.baseline)
    if not len(first):  # one run: the columns, and no row
        nobody = np.zeros(1, dtype=np.int64)
        plain = replace(plan, test="t", correction="none")
        return _pairs_of(scores, scores.measures[0], nobody, nobody, plain).clear()
    return pl.concat([_pairs_of(scores, measure, first, second, plan) for measure in scores.measures])


def _pairs_of(scores: Scores, measure: Measure, first: Ints, second: Ints, plan: Plan) -> pl.DataFrame:
    """Compare all pairs on one measure: figures, verdicts under each strategy, and whether a strategy changes them."""
    pairs = [_Pairs(table(scores, measure, ties), first, second, plan, measure.upward) for ties in scores.ties]
    verdicts = [each.better * (each.p[1] < plan.alpha) for each in pairs]
    signs = ([{1: ">", -1: "<", 0: "="}[int(verdict)] for verdict in each] for each in verdicts)
    columns = {
        "measure": pl.repeat(measure.name, len(first), eager=True, dtype=pl.String),
        "one": [scores.runs[at] for at in first],
        "two": [scores.runs[at] for at in second],
        **_figures(pairs[0]),
        **dict(zip(scores.ties, signs, strict=True)),
        "better": pairs[0].better,
        "changes": changes(verdicts),
    }
    frame = pl.DataFrame(columns)
    sentences = [_sentence(each, measure, plan, scores.ties) for each in frame.to_dicts()]
    return frame.with_columns(pl.Series("verdict", sentences, dtype=pl.String))


def _figures(pairs: _Pairs) -> dict[str, Any]:
    """Return differences with their intervals, p, effect sizes and power."""
    gaps, alpha, n = pairs.gaps, pairs.plan.alpha, pairs.values.shape[1]
    difference, deviation = gaps.mean(axis=1), gaps.std(axis=1, ddof=1)
    (low, high), (p, corrected) = pairs.interval, pairs.p
    steady = np.ptp(gaps, axis=1) < NOISE
    endless = np.where(difference > NOISE, np.inf, np.where(difference < -NOISE, -np.inf, 0.0))
    effect = np.divide(difference, deviation, out=endless, where=~steady)
    error = corrections.blocked_error(pairs.values)
    one, two = (np.round(pairs.values[at].mean(axis=1), DIGITS) for at in (pairs.first, pairs.second))
    gains = np.asarray(gain(two, one))
    return {
        "mean_one": one,
        "mean_two": two,
        "difference": difference,
        "low": low,
        "high": high,
        "gain_percent": gains,
        "noticeable": np.abs(np.nan_to_num(gains, nan=np.inf)) >= NOTICEABLE - 1e-9,
        "p": p,
        "corrected_p": corrected,
        "significant": corrected < alpha,
        "d": effect,
        "blocked_d": difference / np.sqrt(error) if error > 1e-18 else np.zeros(len(gaps)),
        "wins": (pairs.upward * gaps > 0).sum(axis=1),
        "ties": (gaps == 0).sum(axis=1),
        "losses": (pairs.upward * gaps < 0).sum(axis=1),
        "topics": np.full(len(gaps), n),
        "topics_needed": topics_needed(np.nan_to_num(effect, posinf=1e9, neginf=-1e9), alpha),
        "smallest_difference": detectable_effect(n, alpha) * np.where(steady, 0.0, deviation),
    }


def _sentence(pair: dict[str, Any], measure: Measure, plan: Plan, strategies: Sequence[str]) -> str:
    """Say in a sentence which is better, by how much, and how sure that is."""
    one, two = pair["one"], pair["two"]
    share = "" if pair["gain_percent"] != pair["gain_percent"] else f" ({pair['gain_percent']:+.1f} %)"
    sure = f"{100 * (1 - plan.alpha):g} % interval {pair['low']:+.4f} to {pair['high']:+.4f}"
    size = f"{pair['difference']:+.4f}{share}, {sure}"
    corrected = pair["corrected_p"]
    p = f"p {'< 0.0001' if corrected < 0.0001 else f'= {corrected:.4f}'} ({plan.name})"
    if not (pair["wins"] or pair["losses"]):
        text = f"no difference between {two} and {one} on {measure}: equal on every topic"
    elif pair["significant"]:
        better = "better" if pair["better"] > 0 else "worse"
        mean_better = (pair["difference"] > 0) == measure.definition.higher_is_better
        odd = "" if mean_better == (pair["better"] > 0) else ", though its mean says otherwise"
        text = f"{two} is {better} than {one} on {measure}{odd}: {size}, {p}"
    else:
        need = pair["topics_needed"]
        more = f"; {need:,.0f} topics would show it" if np.isfinite(need) and need > pair["topics"] else ""
        shown = f"no difference shown between {two} and {one}"
        if plan.alternative != "two-sided":
            shown, more = f"{two} is not shown to be better than {one}", more if pair["better"] > 0 else ""
        text = f"{shown} on {measure}: {size}, {p}{more}"
    if pair["changes"]:
        others = [ties for ties in strategies if pair[ties] != pair[strategies[0]]]
        text += f"; the verdict changes with {', '.join(others)} ties"
    return text


def systems_table(scores: Scores, pairs: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Return means with their intervals, ranks, and the letters of groups that cannot be told apart."""
    parts = []
    for measure in scores.measures:
        own = table(scores, measure)
        low, high = t_interval(own, 1 - plan.alpha)
        means = np.round(own.mean(axis=1), DIGITS)
        order = measure.upward * means
        columns: dict[str, Any] = {
            "measure": pl.repeat(measure.name, len(own), eager=True, dtype=pl.String),
            "run": scores.runs,
            "rank": np.array([1 + int((order > each).sum()) for each in order]),
            "mean": means,
            "low": low,
            "high": high,
            **{ties: table(scores, measure, ties).mean(axis=1) for ties in scores.ties[1:]},
        }
        name, column = _told_apart(scores.runs, order, pairs.filter(pl.col("measure") == measure.name), plan)
        parts.append(pl.DataFrame({**columns, name: column}).sort("rank", maintain_order=True))
    return pl.concat(parts)


def _told_apart(runs: Sequence[str], order: Floats, pairs: pl.DataFrame, plan: Plan) -> tuple[str, list[str]]:
    """Return the letters of the groups of all runs, or the marks of runs against the baseline."""
    if plan.baseline is not None:
        significant = pairs.filter("significant").select("two", "better").rows()
        marks = {two: "▲" if better > 0 else "▼" for two, better in significant} | {plan.baseline: "baseline"}
        return "mark", [marks.get(run, "") for run in runs]
    different = np.zeros((len(runs), len(runs)), dtype=bool)
    different[which_pairs(runs, None)] = pairs["significant"].to_numpy()
    return "group", corrections.letters(order, different | different.T)
