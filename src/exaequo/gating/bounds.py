"""One question to the topics: is the loss smaller than a margin, larger, or can they not tell. Arrays in, `Answer` out.

The answer rests on p alone: p of *not worse than allowed*, and p of *worse than allowed*; the bounds say where the mean
difference lies, each with confidence 1 − alpha.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from exaequo.gating.rule import Rule
from exaequo.judge import Floats
from exaequo.stats.equality import TOLERANCE, balanced, differences, settled
from exaequo.stats.tests import (
    TESTS,
    Setting,
    bootstrap_interval,
    bootstrap_tail,
    randomization_bound,
    steady,
    t_interval,
)

PASSED, WORSE, UNDECIDED, DIFFERENT = "passed", "worse", "undecided", "different"


class Answer(NamedTuple):
    """What the topics say: the state, the mean difference and its bounds (upward is better), p to pass, p to fail."""

    state: str
    difference: float
    low: float
    high: float
    p: float
    p_worse: float


def answer(values: Floats, margin: float, rule: Rule, alpha: float) -> Answer:
    """Ask whether the second of two rows, values per topic turned upward, is worse than the first by more than allowed.

    If the rule asks for equivalence, a gain of more than the margin counts too.
    """
    test, setting = rule.test, rule.setting
    gaps = differences(values[:1], values[1:])
    slack = np.array([TOLERANCE * max(np.abs(values).max(initial=0), margin)])
    p, p_worse = map(float, np.concatenate(tails(settled(gaps + margin, slack), test, setting)))
    low, high = bounds(gaps, test, alpha, setting)
    state = PASSED if p <= alpha else WORSE if p_worse <= alpha else UNDECIDED
    if rule.equivalence:
        other, p_more = map(float, np.concatenate(tails(settled(margin - gaps, slack), test, setting)))
        p = max(p, other)
        state = PASSED if p <= alpha else WORSE if p_worse <= alpha else DIFFERENT if p_more <= alpha else UNDECIDED
        p_worse = min(p_worse, p_more)
    return Answer(state, float(balanced(gaps)[0]) / gaps.shape[1], low, high, p, p_worse)


def tails(room: Floats, test: str, setting: Setting) -> tuple[Floats, Floats]:
    """Return p that the mean of each row, what is left of the margin, is not below 0, and p that it is."""
    if test == "bootstrap":
        p = bootstrap_tail(room, setting)
        p_below = 1 - p
    else:
        p, p_below = (TESTS[test](each, setting) for each in (room, -room))
    same, enough, chance = (
        steady(room),
        room[:, 0] >= 0,
        0.5 ** room.shape[1],
    )  # every topic says the same: as for signs
    return np.where(same, np.where(enough, chance, 1.0), p), np.where(same, np.where(enough, 1.0, chance), p_below)


def bounds(gaps: Floats, test: str, alpha: float, setting: Setting) -> tuple[float, float]:
    """Return the lower and the upper bound of one mean difference, each with confidence 1 − alpha; infinite if none."""
    confidence = 1 - 2 * alpha  # of the two-sided interval with the same ends
    if steady(gaps)[0]:
        sure = 0.5 ** gaps.shape[1] <= alpha
        return (float(gaps[0, 0]),) * 2 if sure else (-np.inf, np.inf)
    if test == "randomization":
        return randomization_bound(gaps, alpha, setting), -randomization_bound(-gaps, alpha, setting)
    found = t_interval(gaps, confidence) if test == "t" else bootstrap_interval(gaps, confidence, setting)
    return float(found[0][0]), float(found[1][0])
