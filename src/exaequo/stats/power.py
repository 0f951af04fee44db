"""How many topics it takes: power of the paired t-test, of two sides or of one."""

from __future__ import annotations

from typing import overload

import numpy as np

from exaequo.arrays import Bools, Floats, Ints

#: The chance to see a difference that is there, which people ask for.
POWER = 0.8
MOST_TOPICS = 1_000_000


def power_of(effect: Floats, topics: Ints, alpha: float | Floats, *, sides: int = 2) -> Floats:
    """Return the chance to see an effect, in standard deviations of the differences, with so many topics.

    With `sides` 1 the test asks only whether there is a difference the way the effect goes.
    """
    from scipy.stats import nct, t

    limit = t.ppf(1 - np.asarray(alpha) / sides, topics - 1)
    shift = np.abs(effect) * np.sqrt(topics)
    above = nct.sf(limit, topics - 1, shift)
    # Far out, where the answer is 0 or 1 to the last bit, the library may have none.
    above = np.where(np.isnan(above), shift > limit, above)
    below = np.nan_to_num(nct.cdf(-limit, topics - 1, shift)) if sides == 2 else 0.0
    result: Floats = np.clip(above + below, 0.0, 1.0)
    return result


@overload
def detectable_effect(topics: int, alpha: float, power: float = POWER, *, sides: int = 2) -> float: ...
@overload
def detectable_effect(topics: int, alpha: Floats, power: float = POWER, *, sides: int = 2) -> Floats: ...
def detectable_effect(topics: int, alpha: float | Floats, power: float = POWER, *, sides: int = 2) -> float | Floats:
    """Return the smallest difference, in standard deviations of the differences, that so many topics show.

    With an array of levels, one for each.
    """
    if isinstance(alpha, np.ndarray):
        levels, of = np.unique(alpha, return_inverse=True)
        return np.array([detectable_effect(topics, float(each), power, sides=sides) for each in levels])[of]
    from scipy.optimize import brentq

    def short_of(effect: float) -> float:
        return float(power_of(np.array([effect]), np.array([topics]), alpha, sides=sides)[0]) - power

    if topics < 2 or short_of(1e4) < 0:
        return float("inf")
    return float(brentq(short_of, 0.0, 1e4)) if short_of(0.0) < 0 else 0.0


def topics_needed(effects: Floats, alpha: float | Floats, power: float = POWER, *, sides: int = 2) -> Floats:
    """Return for each effect how many topics show it; infinity for none, or for more than a million.

    `alpha` is one level, or one for each effect.
    """
    size = np.abs(np.nan_to_num(np.asarray(effects, dtype=np.float64)))
    level = np.broadcast_to(np.asarray(alpha, dtype=np.float64), size.shape)

    def enough(at: Ints, topics: Ints) -> Bools:
        return power_of(size[at], np.maximum(topics, 2), level[at], sides=sides) >= power

    low, high = _about(size, level / sides, power)
    every = np.arange(len(size))
    low = np.where(enough(every, low), 1, low)
    high = np.where(enough(every, high), high, MOST_TOPICS)
    while len(still := np.flatnonzero(high - low > 1)):  # power grows with topics
        middle = (low[still] + high[still]) // 2
        there = enough(still, middle)
        low[still], high[still] = np.where(there, low[still], middle), np.where(there, middle, high[still])
    return np.where(high < MOST_TOPICS, np.maximum(high, 2).astype(np.float64), np.inf)


def _about(size: Floats, tail: Floats, power: float) -> tuple[Ints, Ints]:
    """Return between which numbers of topics the answer very likely lies: near that of the normal distribution."""
    from scipy.special import ndtri

    limit = ndtri(1 - tail)
    guess = ((limit + ndtri(power)) / np.maximum(size, 1e-4)) ** 2 + limit**2 / 2
    low = np.clip(np.floor(guess) - 2, 1, MOST_TOPICS - 1).astype(np.int64)
    return low, np.minimum(low + 5, MOST_TOPICS)
