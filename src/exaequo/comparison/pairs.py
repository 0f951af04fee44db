"""Pairs of systems: differences, tests, corrections, effect sizes, power, and a verdict in a sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from exaequo.audit import gain
from exaequo.comparison.values import Values
from exaequo.errors import BadParameter
from exaequo.judge import Floats, Ints
from exaequo.measures import Measure
from exaequo.order import check_choice
from exaequo.stats import corrections
from exaequo.stats.power import detectable_effect, topics_needed
from exaequo.stats.tests import SAMPLES, TESTS, Setting, bootstrap_interval, t_interval

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
    samples: int = SAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("test", self.test, tuple(TESTS))
        check_choice("correction", self.correction, (*corrections.CORRECTIONS, *corrections.HSD))
        if not 0 < self.alpha < 1:
            raise BadParameter(f"alpha must be a number between 0 and 1. Got {self.alpha} instead.")
        if self.correction in corrections.HSD and self.baseline is not None:
            raise BadParameter("Tukey's HSD compares all pairs; leave the baseline out, or correct with holm.")
        if self.correction in corrections.HSD and self.alternative != "two-sided":
            raise BadParameter("Tukey's HSD is two-sided.")
        self.setting  # noqa: B018 - checks the rest

    @property
    def setting(self) -> Setting:
        """What the tests need to know."""
        return Setting(self.samples, self.seed, self.alternative)

    @property
    def name(self) -> str:
        """The test and its correction in words."""
        if self.correction in corrections.HSD:
            return {"tukey": "Tukey HSD", "randomised-tukey": "randomised Tukey HSD"}[self.correction]
        corrected = "" if self.correction == "none" else f", {self.correction.replace('bh', 'BH').replace('by', 'BY')}"
        return f"{self.test}{corrected}"

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


def p_values(table: Floats, first: Ints, second: Ints, plan: Plan) -> tuple[Floats, Floats]:
    """Return p of each pair, and p corrected for the number of pairs."""
    gaps = table[second] - table[first]
    if plan.correction == "tukey":
        p = corrections.tukey(table)
        return p, p
    if plan.correction == "randomised-tukey":
        p = corrections.randomised_tukey(table, plan.setting)
        return p, p
    p = TESTS[plan.test](gaps, plan.setting)
    return p, corrections.CORRECTIONS[plan.correction](p)


def _verdicts(table: Floats, first: Ints, second: Ints, plan: Plan) -> Ints:
    """Return 1, -1 or 0 for each pair: the second is better, worse, or not told apart."""
    _, corrected = p_values(table, first, second, plan)
    sign = np.sign(table[second].mean(axis=1) - table[first].mean(axis=1))
    verdicts: Ints = (sign * (corrected < plan.alpha)).astype(np.int64)
    return verdicts


def compare_pairs(values: Values, plan: Plan) -> pl.DataFrame:
    """Compare all pairs on all measures."""
    first, second = which_pairs(values, plan.baseline)
    return pl.concat([_pairs_of(values, row, first, second, plan) for row in range(len(values.measures))])


def _pairs_of(values: Values, row: int, first: Ints, second: Ints, plan: Plan) -> pl.DataFrame:
    measure = values.measures[row]
    table, known = values.of(row)
    n = int(known.sum())
    if n < 2:
        raise BadParameter(f"{measure} has a value for {n} topics only; a test needs at least two.")
    gaps = table[second] - table[first]
    difference = gaps.mean(axis=1)
    deviation = gaps.std(axis=1, ddof=1)
    confidence = 1 - plan.alpha
    low, high = (
        bootstrap_interval(gaps, confidence, plan.setting) if plan.test == "bootstrap" else t_interval(gaps, confidence)
    )
    p, corrected = p_values(table, first, second, plan)
    steady = np.ptp(gaps, axis=1) == 0  # up to rounding, the deviation of a constant is none
    effect = np.divide(difference, deviation, out=np.zeros(len(gaps)), where=~steady & (deviation > 0))
    error = corrections.blocked_error(table)
    blocked = difference / np.sqrt(error) if error > 1e-18 else np.zeros(len(gaps))
    one, two = table[first].mean(axis=1), table[second].mean(axis=1)
    gains = np.asarray(gain(two, one))
    columns: dict[str, Any] = {
        "measure": pl.repeat(measure.name, len(first), eager=True, dtype=pl.String),
        "one": [values.systems[at] for at in first],
        "two": [values.systems[at] for at in second],
        "mean one": one,
        "mean two": two,
        "difference": difference,
        "low": low,
        "high": high,
        "gain %": gains,
        "5 % rule": np.abs(np.nan_to_num(gains, nan=np.inf)) >= NOTICEABLE,
        "p": p,
        "corrected p": corrected,
        "significant": corrected < plan.alpha,
        "d": effect,
        "blocked d": blocked,
        "wins": (gaps > 0).sum(axis=1),
        "ties": (gaps == 0).sum(axis=1),
        "losses": (gaps < 0).sum(axis=1),
        "topics": np.full(len(first), n),
        "topics needed": topics_needed(effect, plan.alpha),
        "smallest difference": detectable_effect(n, plan.alpha) * np.where(steady, 0.0, deviation),
    }
    frame = pl.DataFrame(columns)
    verdicts = {ties: _verdicts(values.of(row, ties)[0], first, second, plan) for ties in values.ties}
    stacked = np.stack(list(verdicts.values()))
    changes = (stacked != stacked[0]).any(axis=0)
    frame = frame.with_columns(
        *(pl.Series(ties, [">=<"[1 - v] if v else "=" for v in each.tolist()]) for ties, each in verdicts.items()),
        pl.Series("changes", changes),
    )
    sentences = [_sentence(each, measure, plan, values) for each in frame.to_dicts()]
    return frame.with_columns(pl.Series("verdict", sentences, dtype=pl.String))


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
        up = pair["difference"] > 0
        better = "better" if up == measure.definition.higher_is_better else "worse"
        text = f"{two} is {better} than {one} on {measure}: {size}, {p}"
    else:
        need = pair["topics needed"]
        more = f"; {need:,.0f} topics would show it" if np.isfinite(need) and need > pair["topics"] else ""
        text = f"no difference shown between {two} and {one} on {measure}: {size}, {p}{more}"
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
            marks = dict(zip(own["two"], own.select("significant", "difference").rows(), strict=True))
            columns["mark"] = [_mark(marks.get(name), plan.baseline == name) for name in values.systems]
        parts.append(pl.DataFrame(columns).sort("rank", maintain_order=True))
    return pl.concat(parts)


def _mark(pair: tuple[bool, float] | None, is_baseline: bool) -> str:
    if is_baseline:
        return "baseline"
    if pair is None or not pair[0]:
        return ""
    return "▲" if pair[1] > 0 else "▼"
