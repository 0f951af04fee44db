"""How many topics it takes: power of the two-sided paired t-test."""

from __future__ import annotations

import numpy as np

from exaequo.judge import Floats, Ints

#: The chance to see a difference that is there, which people ask for.
POWER = 0.8
MOST_TOPICS = 1_000_000


def power_of(effect: Floats, topics: Ints, alpha: float) -> Floats:
    """Return the chance to see an effect, in standard deviations of the differences, with so many topics."""
    from scipy.stats import nct, t

    limit = t.ppf(1 - alpha / 2, topics - 1)
    shift = np.abs(effect) * np.sqrt(topics)
    above, below = nct.sf(limit, topics - 1, shift), nct.cdf(-limit, topics - 1, shift)
    # Far out, where the answer is 0 or 1 to the last bit, the library may have none.
    above = np.where(np.isnan(above), shift > limit, above)
    result: Floats = np.clip(above + np.nan_to_num(below), 0.0, 1.0)
    return result


def detectable_effect(topics: int, alpha: float, power: float = POWER) -> float:
    """Return the smallest difference, in standard deviations of the differences, that so many topics show."""
    from scipy.optimize import brentq

    def short_of(effect: float) -> float:
        return float(power_of(np.array([effect]), np.array([topics]), alpha)[0]) - power

    if topics < 2 or short_of(1e4) < 0:
        return float("inf")
    return float(brentq(short_of, 0.0, 1e4)) if short_of(0.0) < 0 else 0.0


def topics_needed(effects: Floats, alpha: float, power: float = POWER) -> Floats:
    """Return for each effect how many topics show it; infinity for none, or for more than a million."""
    size = np.abs(np.nan_to_num(np.asarray(effects, dtype=np.float64)))
    low, high = np.full(len(size), 1), np.full(len(size), MOST_TOPICS)
    while np.any(high - low > 1):  # power grows with topics
        middle = (low + high) // 2
        enough = power_of(size, np.maximum(middle, 2), alpha) >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(high < MOST_TOPICS, np.maximum(high, 2).astype(np.float64), np.inf)
