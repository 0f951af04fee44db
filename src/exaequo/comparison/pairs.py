"""Pairs of systems: differences, tests, intervals, effect sizes, power, under each strategy. Out: a frame of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Floats, Ints
from exaequo.choices import COMPARED, INTERVAL, LEAST_TOPICS, ROBUST
from exaequo.comparison.plan import Plan
from exaequo.comparison.values import means
from exaequo.comparison.verdicts import (
    BEST,
    BETTER,
    EQUIVALENT,
    NONE,
    TIES,
    WORSE,
    WORST,
    Known,
    agreed,
    robust,
    sentence,
)
from exaequo.language import say, word
from exaequo.luck import changes, gain
from exaequo.measures import Measure
from exaequo.scores import Scores
from exaequo.stats import corrections, joint
from exaequo.stats.anova import blocked_error, ranks_within
from exaequo.stats.equality import balanced, differences, slack_of
from exaequo.stats.power import detectable_effect, topics_needed
from exaequo.stats.practical import Practical, practical
from exaequo.stats.tests import TESTS, bootstrap_interval, direction, steady, t_interval

#: A gain of so many percent is worth noticing, by the rule of thumb of the course.
NOTICEABLE = 5.0
#: Differences whose deviation is a smaller share of their mean hardly vary: a test of the mean is then sure of itself.
HARDLY = 0.01


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
    """All pairs of runs on one measure under one strategy: `ones` and `twos` hold runs × topics."""

    ones: Floats
    twos: Floats
    first: Ints
    second: Ints
    plan: Plan
    upward: int
    family: int

    @cached_property
    def gaps(self) -> Floats:
        """The differences of each pair, topic by topic."""
        return differences(self.ones[self.first], self.twos[self.second])

    @cached_property
    def joint(self) -> joint.Joint:
        """What a procedure over all pairs finds; of several measures corrected jointly, each at its share of alpha."""
        share = max(self.family // max(len(self.first), 1), 1)
        procedure = joint.PROCEDURES[self.plan.correction]
        found = procedure(self.upward * self.ones, self.first, self.second, self.plan.alpha / share, self.plan.setting)
        return replace(found, p=np.minimum(share * found.p, 1.0))

    @cached_property
    def p(self) -> Floats:
        """P of each pair before correction; one-sided: whether the second is better."""
        if self.plan.joint:
            return self.joint.p
        return TESTS[self.plan.test](self.upward * self.gaps, self.plan.setting)

    @cached_property
    def better(self) -> Ints:
        """Which of each pair the test sees as better: 1 the second, -1 the first, 0 neither."""
        if self.plan.correction == "nemenyi":  # it sees ranks
            total = ranks_within(self.upward * self.ones).sum(axis=1)
            return np.asarray(np.sign(total[self.second] - total[self.first]), dtype=np.int64)
        test = "t" if self.plan.joint else self.plan.test
        return (self.upward * direction(self.gaps, test)).astype(np.int64)

    @cached_property
    def level(self) -> float:
        """The level of each pair by itself at which all pairs hold together."""
        return self.joint.level if self.plan.joint else self.plan.level(self.family)

    def interval(self, measure: Measure) -> tuple[Floats, Floats]:
        """Return the interval of each mean difference, within what the measure can reach; one-sided: one end."""
        plan, kind = self.plan, self.plan.interval_kind
        level = plan.alpha if plan.single else self.level
        gaps, confidence = self.upward * self.gaps, 1 - level * (2 if plan.sides == 1 else 1)
        if plan.joint and not plan.single and kind == "t":
            low, high = self.joint.low, self.joint.high
        elif kind == "t":
            low, high = t_interval(gaps, confidence)
        else:
            low, high = bootstrap_interval(gaps, confidence, plan.setting, corrected=kind == "bca")
        if plan.sides * 0.5 ** gaps.shape[1] > level:  # no spread, and too few topics to be sure without
            nothing = steady(gaps)
            low, high = np.where(nothing, -np.inf, low), np.where(nothing, np.inf, high)
        if plan.sides == 1:
            low, high = (
                (low, np.full_like(high, np.inf)) if plan.alternative == "greater" else (-np.inf + 0 * low, high)
            )
        low, high = (low, high) if self.upward > 0 else (-high, -low)
        most = measure.definition.highest - measure.definition.lowest
        return np.maximum(low, -most), np.minimum(high, most)


def compare_pairs(scores: Scores, plan: Plan) -> pl.DataFrame:
    """Compare all pairs on all measures; one run has the columns, and no row."""
    first, second = which_pairs(scores.runs, plan.baseline)
    family = len(first) * (len(scores.measures) if plan.jointly else 1)
    tested = {measure: _under_each(scores, measure, first, second, plan, family) for measure in scores.measures}
    corrected = _corrected(tested, plan)
    return pl.concat([_frame(scores, measure, tested[measure], corrected[measure], plan) for measure in tested])


def _under_each(
    scores: Scores, measure: Measure, first: Ints, second: Ints, plan: Plan, family: int
) -> dict[str, _Pairs]:
    """Return the pairs under each strategy, and at the extremes if these decide."""
    values = {ties: (scores.matrix(measure, ties).values,) * 2 for ties in scores.ties}
    if plan.ties == ROBUST:
        plan.decides(scores.ties)  # refuses what has no extremes
        low, high = extremes(scores, measure)
        values |= {WORST: (high, low), BEST: (low, high)}
    return {ties: _Pairs(*both, first, second, plan, measure.upward, family) for ties, both in values.items()}


def extremes(scores: Scores, measure: Measure) -> tuple[Floats, Floats]:
    """Return the worst and the best that ties leave open, runs × topics: for most measures realistic and optimistic."""
    known = [scores.matrix(measure, ties).values for ties in COMPARED if ties in scores.ties]
    low, high = np.minimum.reduce(known), np.maximum.reduce(known)
    return (low, high) if measure.upward > 0 else (high, low)


def _corrected(tested: Mapping[Measure, Mapping[str, _Pairs]], plan: Plan) -> dict[Measure, dict[str, Floats]]:
    """Return the corrected p of each pair under each strategy: for each measure by itself, or for all jointly."""
    if plan.joint:
        return {measure: {ties: each.p for ties, each in by.items()} for measure, by in tested.items()}
    families = [[*tested]] if plan.jointly else [[measure] for measure in tested]
    found: dict[Measure, dict[str, Floats]] = {measure: {} for measure in tested}
    for family in families:
        for ties in tested[family[0]]:
            whole = np.concatenate([tested[measure][ties].p for measure in family])
            parts = np.split(corrections.corrected(plan.correction, whole, plan.alpha), len(family))
            for measure, part in zip(family, parts, strict=True):
                found[measure][ties] = part
    return found


def _frame(
    scores: Scores, measure: Measure, tested: Mapping[str, _Pairs], p: Mapping[str, Floats], plan: Plan
) -> pl.DataFrame:
    """Return the pairs of one measure: figures, what each strategy says, the outcome and its sentence."""
    counting = tested[scores.ties[0]]
    says = {ties: each.better * (p[ties] < plan.alpha) for ties, each in tested.items()}
    near = _practical(scores, measure, counting, plan)
    heard = [WORST, BEST] if plan.ties == ROBUST else plan.decides(scores.ties)
    alike = np.logical_and.reduce([_equivalent(tested[ties], near, plan) for ties in heard])
    outcome = (robust if plan.ties == ROBUST else agreed)([says[ties] for ties in heard])
    outcome = np.where(alike & ((outcome == NONE) | (outcome == TIES)), EQUIVALENT, outcome)
    equal = np.logical_and.reduce([~tested[ties].gaps.any(axis=1) for ties in heard])
    columns = {
        "measure": pl.repeat(measure.name, len(counting.first), eager=True, dtype=pl.String),
        "one": pl.Series([scores.runs[at] for at in counting.first], dtype=pl.String),
        "two": pl.Series([scores.runs[at] for at in counting.second], dtype=pl.String),
        "outcome": pl.Series(outcome.tolist(), dtype=pl.String),
        **_figures(scores, measure, counting, p[scores.ties[0]]),
        "topics_needed": _needed([counting, *(tested[ties] for ties in heard)]),
        **_open(scores, measure, counting),
        **({} if near is None else _chances(near[0])),
        **{ties: pl.Series(_signs(says[ties]), dtype=pl.String) for ties in tested},
        **{f"difference_{ties}": balanced(tested[ties].gaps) / tested[ties].gaps.shape[1] for ties in [*tested][1:]},
        "better": counting.better,
        "changes": changes([says[ties] for ties in scores.ties]),
        "cautions": pl.Series(_cautions(counting), dtype=pl.String),
    }
    frame = pl.DataFrame(columns)
    known = Known(measure, plan, heard, counting.family, len(scores.shared))
    rows = zip(frame.iter_rows(named=True), equal.tolist(), strict=True)
    sentences = [sentence(each, known, equal=same) for each, same in rows]
    return frame.with_columns(pl.Series("verdict", sentences, dtype=pl.String))


def _signs(says: Ints) -> list[str]:
    return [{1: ">", -1: "<", 0: "="}[each] for each in says.tolist()]


def _figures(scores: Scores, measure: Measure, pairs: _Pairs, corrected: Floats) -> dict[str, Any]:
    """Return differences with their intervals, p, effect sizes and power."""
    gaps, n, level, sides = pairs.gaps, pairs.ones.shape[1], pairs.level, pairs.plan.sides
    difference, deviation, effect = balanced(gaps) / n, gaps.std(axis=1, ddof=1), _effect(gaps)
    low, high = pairs.interval(measure)
    error = blocked_error(pairs.ones)
    average = means(scores, measure)
    one, two = average[pairs.first], average[pairs.second]
    gains = np.asarray(gain(two, one))
    return {
        "mean_one": one,
        "mean_two": two,
        "difference": difference,
        "low": low,
        "high": high,
        "gain_percent": gains,
        "noticeable": np.abs(np.nan_to_num(gains, nan=np.inf)) >= NOTICEABLE - 1e-9,
        "p": pairs.p,
        "corrected_p": corrected,
        "significant": corrected < pairs.plan.alpha,
        "d": effect,
        "blocked_d": difference / np.sqrt(error) if error > slack_of(pairs.ones) ** 2 else _endless(difference),
        "wins": (pairs.upward * gaps > 0).sum(axis=1),
        "ties": (gaps == 0).sum(axis=1),
        "losses": (pairs.upward * gaps < 0).sum(axis=1),
        "topics": np.full(len(gaps), n),
        "smallest_difference": np.multiply(
            detectable_effect(n, level, sides=sides), deviation, out=np.zeros(len(gaps)), where=~steady(gaps)
        ),
    }


def _effect(gaps: Floats) -> Floats:
    """Return each mean difference over the deviation; infinite where that is 0."""
    mean, same = balanced(gaps) / gaps.shape[1], steady(gaps)
    return np.asarray(np.divide(mean, gaps.std(axis=1, ddof=1), out=_endless(mean), where=~same), dtype=np.float64)


def _endless(difference: Floats) -> Floats:
    return np.where(difference == 0, 0.0, np.copysign(np.inf, difference))


def _needed(orders: Sequence[_Pairs]) -> Floats:
    """Return how many topics would show each difference in every order; infinite where orders point both ways."""
    effects = np.stack([_effect(pairs.gaps) for pairs in orders])
    together = (effects > 0).all(axis=0) | (effects < 0).all(axis=0)
    least = np.where(together, np.abs(effects).min(axis=0), 0.0)
    return topics_needed(np.nan_to_num(least, posinf=1e9), orders[0].level, sides=orders[0].plan.sides)


def _open(scores: Scores, measure: Measure, pairs: _Pairs) -> dict[str, Any]:
    """Return between which values the difference of means can lie, whatever the order of ties."""
    if not {INTERVAL[0], INTERVAL[-1]} <= {*scores.ties}:
        return {}
    low, high = open_means(scores, measure)
    return {"open_low": low[pairs.second] - high[pairs.first], "open_high": high[pairs.second] - low[pairs.first]}


def open_means(scores: Scores, measure: Measure) -> tuple[Floats, Floats]:
    """Return between which values the mean of each run can lie, whatever the order of ties."""
    low, high = np.sort(np.stack([each.mean(axis=1) for each in extremes(scores, measure)]), axis=0)
    return low, high


def _practical(scores: Scores, measure: Measure, pairs: _Pairs, plan: Plan) -> tuple[Practical, Floats] | None:
    """Return the chances that each difference is practically nothing, and how much that is; None if nobody asked."""
    if plan.margin is None:
        return None
    margin = plan.margin.at(means(scores, measure)[pairs.first])
    return practical(pairs.upward * pairs.gaps, margin), margin


def _equivalent(pairs: _Pairs, near: tuple[Practical, Floats] | None, plan: Plan) -> Any:
    if near is None:
        return np.zeros(len(pairs.first), dtype=bool)
    return practical(pairs.gaps, near[1]).p < plan.level(pairs.family)


def _chances(near: Practical) -> dict[str, Any]:
    return {
        "equivalent_p": near.p,
        "chance_worse": near.below,
        "chance_equivalent": near.within,
        "chance_better": near.above,
    }


def _cautions(pairs: _Pairs) -> list[str]:
    """Say of each pair why its p may promise more than the topics can hold."""
    gaps, n, plan = pairs.gaps, pairs.gaps.shape[1], pairs.plan
    spread, mean = gaps.std(axis=1, ddof=1), np.abs(gaps.mean(axis=1))
    differ = (gaps != 0).sum(axis=1)
    signs = plan.correction in ("tukey", "dunnett") if plan.joint else plan.test in ("t", "bootstrap")
    found = []
    for same, hardly, count in zip(steady(gaps), spread < HARDLY * mean, differ, strict=True):
        text = [say("{n} topics only", n=n)] if n < LEAST_TOPICS and count else []
        if same and count and signs:
            text.append(say("the same difference on every topic leaves no spread to go by, p is that of the sign test"))
        elif hardly and not same and signs:
            text.append(say("the differences hardly vary, so p says little about other topics"))
        found.append(word("; ").join(text))
    return found


def systems_table(scores: Scores, pairs: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Return means with their intervals, ranks, and the letters of groups that cannot be told apart."""
    parts = []
    for measure in scores.measures:
        own, average = scores.matrix(measure).values, means(scores, measure)
        low, high = t_interval(own, 1 - plan.alpha)
        order = measure.upward * average
        columns: dict[str, Any] = {
            "measure": pl.repeat(measure.name, len(own), eager=True, dtype=pl.String),
            "run": scores.runs,
            "rank": np.array([1 + int((order > each).sum()) for each in order]),
            "mean": average,
            "low": np.maximum(low, measure.definition.lowest),
            "high": np.minimum(high, measure.definition.highest),
            **{ties: scores.matrix(measure, ties).values.mean(axis=1) for ties in scores.ties[1:]},
        }
        name, column = _told_apart(scores.runs, order, pairs.filter(pl.col("measure") == measure.name), plan)
        parts.append(pl.DataFrame({**columns, name: column}).sort("rank", maintain_order=True))
    return pl.concat(parts)


def _told_apart(runs: Sequence[str], order: Floats, pairs: pl.DataFrame, plan: Plan) -> tuple[str, list[str]]:
    """Return the letters of the groups of all runs, or the marks of runs against the baseline."""
    if plan.baseline is not None:
        marks = {two: {BETTER: "▲", WORSE: "▼"}.get(each, "") for two, each in pairs.select("two", "outcome").rows()}
        marks[plan.baseline] = "baseline"
        return "mark", [marks.get(run, "") for run in runs]
    different = np.zeros((len(runs), len(runs)), dtype=bool)
    different[which_pairs(runs, None)] = pairs["outcome"].is_in([BETTER, WORSE]).to_numpy()
    return "group", corrections.letters(order, different | different.T)
