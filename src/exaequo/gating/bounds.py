"""One question to the topics: is the loss smaller than a margin, larger, or can they not tell. Arrays in, `Answer` out.

The answer rests on p alone: p of *not worse than allowed*, and p of *worse than allowed*; the bounds say where the mean
difference lies. It passes if the lower bound is not below the margin, it is worse if the upper bound is. A topic just
at the margin loses no more than allowed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from exaequo.arrays import Floats
from exaequo.gating.rule import Rule
from exaequo.stats.equality import TOLERANCE, balanced, differences, settled
from exaequo.stats.tests import (
    TESTS,
    Setting,
    bootstrap_bound,
    bootstrap_tail,
    randomization_bound,
    steady,
    t_interval,
)

PASSED, WORSE, UNDECIDED, DIFFERENT = "passed", "worse", "undecided", "different"


class Level(NamedTuple):
    """Up to which p a measure passes, and up to which it is worse, or different."""

    passes: float
    fails: float


class Answer(NamedTuple):
    """What the topics say: the state, the mean difference and its bounds (upward is better), and p.

    `p` is that to pass; `p_worse` that of a loss beyond the margin, `p_more` that of a gain, 1 if nobody asked for it.
    """

    state: str
    difference: float
    low: float
    high: float
    p: float
    p_worse: float
    p_more: float


def answer(values: Floats, margin: float, rule: Rule, level: Level) -> Answer:
    """Ask whether the second of two rows, values per topic turned upward, is worse than the first by more than allowed.

    If the rule asks for equivalence, a gain of more than the margin counts too.
    """
    gaps = differences(values[:1], values[1:])
    slack = np.array([TOLERANCE * max(np.abs(values).max(initial=0), margin)])

    def asked(room: Floats) -> tuple[float, float]:
        p, against = tails(settled(room, slack), rule.test, rule.setting)
        return float(p[0]), float(against[0])

    enough, p_worse = asked(gaps + margin)
    other, p_more = asked(margin - gaps) if rule.equivalence else (0.0, 1.0)
    p = max(enough, other)
    state = PASSED if p <= level.passes else WORSE if p_worse <= level.fails else UNDECIDED
    if state == UNDECIDED and p_more <= level.fails:
        state = DIFFERENT
    least = level.fails if state == DIFFERENT else level.passes
    most = level.passes if state == PASSED and rule.equivalence else level.fails
    low, high = bound(gaps, rule.test, least, rule.setting), -bound(-gaps, rule.test, most, rule.setting)
    if enough > level.passes:  # a bound is where p passes alpha; the test itself may not pass there, only below
        low = min(low, float(np.nextafter(-margin, -np.inf)))
    return Answer(state, float(balanced(gaps)[0]) / gaps.shape[1], low, high, p, p_worse, p_more)


def tails(room: Floats, test: str, setting: Setting) -> tuple[Floats, Floats]:
    """Return p that the mean of each row, what is left of the margin, is not below 0, and p that it is."""
    if test == "bootstrap":
        p = bootstrap_tail(room, setting)
        p_below = 1 - p
    else:
        above = _allowed(room) if test == "randomization" else room
        p, p_below = (TESTS[test](each, setting) for each in (above, -room))
    # Where every topic says the same, p is as for signs.
    same, enough, chance = steady(room), room[:, 0] >= 0, 0.5 ** room.shape[1]
    return np.where(same, np.where(enough, chance, 1.0), p), np.where(same, np.where(enough, 1.0, chance), p_below)


def _allowed(room: Floats) -> Floats:
    """Return the rows with topics just at the margin above it, by more than the test takes as equal."""
    return np.where(room == 0, 1e-11 * np.abs(room).sum(axis=1, keepdims=True), room)


def bound(gaps: Floats, test: str, alpha: float, setting: Setting) -> float:
    """Return the lower bound of one mean difference, with confidence 1 − alpha; -inf if there is none."""
    if steady(gaps)[0]:
        return float(gaps[0, 0]) if 0.5 ** gaps.shape[1] <= alpha else float("-inf")
    if test == "t":
        return float(t_interval(gaps, 1 - 2 * alpha)[0][0])
    return (randomization_bound if test == "randomization" else bootstrap_bound)(gaps, alpha, setting)
