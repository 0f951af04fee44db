"""Pairs of systems: differences, tests, corrections, effect sizes, power, and a verdict in a sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from exaequo.audit import gain
from exaequo.choices import CORRECTIONS, HSD, INTERVAL_KINDS, PATTERNS
from exaequo.comparison.values import DIGITS, Values
from exaequo.errors import BadParameter
from exaequo.judge import Bools, Floats, Ints
from exaequo.measures import Measure
from exaequo.options import check_alpha, check_choice
from exaequo.stats import corrections
from exaequo.stats.power import detectable_effect, topics_needed
from exaequo.stats.tests import MOST_EXACT, NOISE, TESTS, Setting, bootstrap_interval, direction, t_interval

#: A gain of so many percent is worth noticing, by the rule of thumb of the course.
NOTICEABLE = 5.0


@dataclass(frozen=True)
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
        mend = (
            "more topics are needed"
            if exact
            else f"take more --samples than {round(pairs / self.alpha):,}, or another correction"
        )
        return f"with {pairs:,} pairs the least corrected p is {least:.2g}, so nothing can be significant: {mend}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)


def which_pairs(values: Values, baseline: str | None) -> tuple[Ints, Ints]:
    """Return the two systems of each comparison: the second is compared with the first."""
    k = len(values.systems)
    if baseline is None:
        first, second = np.triu_indices(k, 1)
        return first.astype(np.int64), second.astype(np.int64)
    base = values.systems.index(baseline)
    others = np.array([at for at in range(k) if at != base], dtype=np.int64)
    return np.full(k - 1, base), others


def differences(table: Floats, first: Ints, second: Ints) -> Floats:
    """Return the differences of each pair, topic by topic; what is rounding is 0."""
    return np.round(table[second] - table[first], DIGITS)


def p_values(table: Floats, first: Ints, second: Ints, plan: Plan, upward: int) -> tuple[Floats, Floats]:
    """Return p of each pair, and p corrected for the number of pairs; one-sided: whether the second is better."""
    gaps = upward * differences(table, first, second)
    if plan.correction == "tukey":
        p = corrections.tukey(table)
        return p, p
    if plan.correction == "randomised-tukey":
        p = corrections.randomised_tukey(table, plan.setting)
        return p, p
    p = TESTS[plan.test](gaps, plan.setting)
    return p, corrections.CORRECTIONS[plan.correction](p)


def _directions(table: Floats, first: Ints, second: Ints, plan: Plan, upward: int) -> Ints:
    """Return which of each pair the test sees as better: 1 the second, -1 the first, 0 neither."""
    test = "t" if plan.correction in HSD else plan.test
    return (upward * direction(differences(table, first, second), test)).astype(np.int64)


def compare_pairs(values: Values, plan: Plan) -> pl.DataFrame:
    """Compare all pairs on all measures."""
    first, second = which_pairs(values, plan.baseline)
    if not len(first):  # one run: the columns, and no row
        nobody = np.zeros(1, dtype=np.int64)
        return _pairs_of(values, 0, nobody, nobody, replace(plan, test="t", correction="none")).clear()
    return pl.concat([_pairs_of(values, row, first, second, plan) for row in range(len(values.measures))])


def _pairs_of(values: Values, row: int, first: Ints, second: Ints, plan: Plan) -> pl.DataFrame:
    """Compare all pairs on one measure."""
    measure = values.measures[row]
    table, known = values.of(row)
    if known.sum() < 2:
        raise BadParameter(f"{measure} has a value for {known.sum()} topics only; a test needs at least two.")
    names = {
        "measure": pl.repeat(measure.name, len(first), eager=True, dtype=pl.String),
        "one": [values.systems[at] for at in first],
        "two": [values.systems[at] for at in second],
    }
    figures = _figures(table, first, second, plan, values.upward(row))
    frame = pl.DataFrame({**names, **figures, **_verdicts(values, row, first, second, plan, figures["corrected p"])})
    sentences = [_sentence(each, measure, plan, values) for each in frame.to_dicts()]
    return frame.with_columns(pl.Series("verdict", sentences, dtype=pl.String))


def _figures(table: Floats, first: Ints, second: Ints, plan: Plan, upward: int) -> dict[str, Any]:
    """Return differences with their intervals, p, effect sizes and power."""
    gaps = differences(table, first, second)
    n = table.shape[1]
    difference, deviation = gaps.mean(axis=1), gaps.std(axis=1, ddof=1)
    low, high = _interval(gaps, plan)
    p, corrected = p_values(table, first, second, plan, upward)
    steady = np.ptp(gaps, axis=1) < NOISE
    endless = np.where(difference > NOISE, np.inf, np.where(difference < -NOISE, -np.inf, 0.0))
    effect = np.divide(difference, deviation, out=endless, where=~steady)
    error = corrections.blocked_error(table)
    one, two = (np.round(table[at].mean(axis=1), DIGITS) for at in (first, second))
    gains = np.asarray(gain(two, one))
    return {
        "mean one": one,
        "mean two": two,
        "difference": difference,
        "low": low,
        "high": high,
        "gain %": gains,
        "5 % rule": np.abs(np.nan_to_num(gains, nan=np.inf)) >= NOTICEABLE - 1e-9,
        "p": p,
        "corrected p": corrected,
        "significant": corrected < plan.alpha,
        "d": effect,
        "blocked d": difference / np.sqrt(error) if error > 1e-18 else np.zeros(len(gaps)),
        "wins": (upward * gaps > 0).sum(axis=1),
        "ties": (gaps == 0).sum(axis=1),
        "losses": (upward * gaps < 0).sum(axis=1),
        "topics": np.full(len(first), n),
        "topics needed": topics_needed(np.nan_to_num(effect, posinf=1e9, neginf=-1e9), plan.alpha),
        "smallest difference": detectable_effect(n, plan.alpha) * np.where(steady, 0.0, deviation),
    }


def _interval(gaps: Floats, plan: Plan) -> tuple[Floats, Floats]:
    """Return the interval of each mean difference, of the kind the plan asks for."""
    kind = plan.interval if plan.interval != "auto" else "bca" if plan.test == "bootstrap" else "t"
    if kind == "t":
        return t_interval(gaps, 1 - plan.alpha)
    return bootstrap_interval(gaps, 1 - plan.alpha, plan.setting, corrected=kind == "bca")


def _verdicts(
    values: Values, row: int, first: Ints, second: Ints, plan: Plan, corrected: Floats
) -> dict[str, list[str] | Ints | Bools]:
    """Return the verdict on each pair under each strategy, which is better, and whether a strategy changes that."""
    upward = values.upward(row)
    verdicts = {}
    for ties in values.ties:
        own = values.of(row, ties)[0]
        level = corrected if ties == values.ties[0] else p_values(own, first, second, plan, upward)[1]
        verdicts[ties] = _directions(own, first, second, plan, upward) * (level < plan.alpha)
    stacked = np.stack(list(verdicts.values()))
    return {
        **{ties: [{1: ">", -1: "<", 0: "="}[int(v)] for v in each] for ties, each in verdicts.items()},
        "better": _directions(values.of(row)[0], first, second, plan, upward),
        "changes": (stacked != stacked[0]).any(axis=0),
    }


def _sentence(pair: dict[str, Any], measure: Measure, plan: Plan, values: Values) -> str:
    """Say in a sentence which is better, by how much, and how sure that is."""
    one, two = pair["one"], pair["two"]
    share = "" if pair["gain %"] != pair["gain %"] else f" ({pair['gain %']:+.1f} %)"
    sure = f"{100 * (1 - plan.alpha):g} % interval {pair['low']:+.4f} to {pair['high']:+.4f}"
    size = f"{pair['difference']:+.4f}{share}, {sure}"
    corrected = pair["corrected p"]
    p = f"p {'< 0.0001' if corrected < 0.0001 else f'= {corrected:.4f}'} ({plan.name})"
    if not (pair["wins"] or pair["losses"]):
        text = f"no difference between {two} and {one} on {measure}: equal on every topic"
    elif pair["significant"]:
        better = "better" if pair["better"] > 0 else "worse"
        mean_better = (pair["difference"] > 0) == measure.definition.higher_is_better
        odd = "" if mean_better == (pair["better"] > 0) else ", though its mean says otherwise"
        text = f"{two} is {better} than {one} on {measure}{odd}: {size}, {p}"
    else:
        need = pair["topics needed"]
        more = f"; {need:,.0f} topics would show it" if np.isfinite(need) and need > pair["topics"] else ""
        one_sided = plan.alternative != "two-sided"
        shown = (
            f"{two} is not shown to be better than {one}"
            if one_sided
            else f"no difference shown between {two} and {one}"
        )
        text = f"{shown} on {measure}: {size}, {p}{'' if one_sided and pair['better'] <= 0 else more}"
    if pair["changes"]:
        others = [ties for ties in values.ties if pair[ties] != pair[values.ties[0]]]
        text += f"; the verdict changes with {', '.join(others)} ties"
    return text


def systems_table(values: Values, pairs: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Return means with their intervals, ranks, and the letters of groups that cannot be told apart."""
    parts = []
    k = len(values.systems)
    for row, measure in enumerate(values.measures):
        table, _ = values.of(row)
        means, upward = table.mean(axis=1), measure.definition.higher_is_better
        low, high = t_interval(table, 1 - plan.alpha)
        means = np.round(means, DIGITS)
        order = means if upward else -means
        columns: dict[str, Any] = {
            "measure": pl.repeat(measure.name, k, eager=True, dtype=pl.String),
            "run": values.systems,
            "rank": np.array([1 + int((order > own).sum()) for own in order]),
            "mean": means,
            "low": low,
            "high": high,
            **{ties: values.of(row, ties)[0].mean(axis=1) for ties in values.ties[1:]},
        }
        own = pairs.filter(pl.col("measure") == measure.name)
        if plan.baseline is None:
            different = np.zeros((k, k), dtype=bool)
            first, second = which_pairs(values, None)
            different[first, second] = own["significant"].to_numpy()
            columns["group"] = corrections.letters(order, different | different.T)
        else:
            marks = dict(zip(own["two"], own.select("significant", "better").rows(), strict=True))
            columns["mark"] = [_mark(marks.get(name), plan.baseline == name) for name in values.systems]
        parts.append(pl.DataFrame(columns).sort("rank", maintain_order=True))
    return pl.concat(parts)


def _mark(pair: tuple[bool, float] | None, is_baseline: bool) -> str:
    if is_baseline:
        return "baseline"
    if pair is None or not pair[0]:
        return ""
    return "▲" if pair[1] > 0 else "▼"
