"""How many topics a collection needs, from the variance of scores: by a test of two, of several, or by an interval.

After T. Sakai: Topic set size design, Information Retrieval Journal 19(3), 2016, with exact noncentral distributions.
σ² is the variance of a score once the effects of what is compared are taken out. Systems that share their topics are
compared topic by topic: σ² is the residual variance of systems × topics, that of a difference 2σ². `unpaired` systems
have topics of their own: σ² is the variance within a system. Answers are at least 2, and infinite beyond a million.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from exaequo.errors import BadParameter
from exaequo.options import check_alpha
from exaequo.stats.power import MOST_TOPICS, POWER, topics_needed


def for_t_test(
    difference: float, variance: float, alpha: float = 0.05, power: float = POWER, *, unpaired: bool = False
) -> float:
    """Return how many topics show a difference of two means in a two-sided t-test, this often."""
    if unpaired:  # the test of two groups is the analysis of variance of two
        return for_anova(difference, variance, 2, alpha, power, unpaired=True)
    check(difference, variance, alpha, power)
    effect = difference / np.sqrt(2 * variance) if variance else 1e9
    return float(topics_needed(np.array([effect]), alpha, power)[0])


def for_anova(
    difference: float,
    variance: float,
    systems: int,
    alpha: float = 0.05,
    power: float = POWER,
    *,
    unpaired: bool = False,
) -> float:
    """Return how many topics make the F-test of so many systems significant, this often.

    `difference` is the one between the best and the worst of them; all others are taken to lie halfway, where they are
    hardest to tell apart.
    """
    check(difference, variance, alpha, power, systems)
    if not variance:
        return 2.0
    return _fewest(lambda topics: anova_power(difference, variance, systems, topics, alpha, unpaired) >= power)


def anova_power(
    difference: float, variance: float, systems: int, topics: int, alpha: float = 0.05, unpaired: bool = False
) -> float:
    """Return how often the F-test of systems is significant, the best and the worst being so far apart."""
    from scipy.stats import f, ncf

    df = systems * (topics - 1) if unpaired else (systems - 1) * (topics - 1)
    limit, shift = f.isf(alpha, systems - 1, df), topics * difference**2 / (2 * variance)
    found = float(ncf.sf(limit, systems - 1, df, shift))
    # Far out, where the answer is 0 or 1 to the last bit, the library may have none.
    return found if found == found else float(shift > limit * (systems - 1))


def for_interval(width: float, variance: float, alpha: float = 0.05, *, unpaired: bool = False) -> float:
    """Return how many topics make the interval of a difference of two means, on average, no wider than this."""
    check(width, variance, alpha)
    return _fewest(lambda topics: interval_width(variance, topics, alpha, unpaired=unpaired) <= width)


def interval_width(variance: float, topics: int, alpha: float = 0.05, *, unpaired: bool = False) -> float:
    """Return how wide the interval of a difference of two means is on average."""
    from scipy.special import gammaln, stdtrit

    df = (2 if unpaired else 1) * (topics - 1)
    root = np.sqrt(2 / df) * np.exp(gammaln((df + 1) / 2) - gammaln(df / 2))  # mean of the estimate of σ, over σ
    return float(2 * stdtrit(df, 1 - alpha / 2) * root * np.sqrt(2 * variance / topics))


def pooled(variances: Sequence[float], topics: Sequence[int]) -> float:
    """Return one variance of several collections, each with the weight of its topics less one."""
    weights = np.asarray(topics, dtype=np.float64) - 1
    if not len(weights) or len(weights) != len(variances) or not weights.min() > 0:
        raise BadParameter("Each variance comes with its number of topics, at least 2.")
    return float(np.average(np.asarray(variances, dtype=np.float64), weights=weights))


def check(difference: float, variance: float, alpha: float, power: float = POWER, systems: int = 2) -> None:
    """Refuse figures that no answer can be had for."""
    check_alpha(alpha)
    if not 0 < difference < float("inf"):
        raise BadParameter(f"The difference must be a number above 0. Got {difference} instead.")
    if not 0 <= variance < float("inf"):
        raise BadParameter(f"The variance must be a number ≥ 0. Got {variance} instead.")
    if not alpha < power < 1:
        raise BadParameter(f"The power must be a number between alpha and 1. Got {power} instead.")
    if systems < 2:
        raise BadParameter(f"systems must be a whole number ≥ 2. Got {systems} instead.")


def _fewest(enough: Callable[[int], bool]) -> float:
    """Return the fewest topics that are enough, where more always are."""
    low, high = 1, 2
    while not enough(high):
        if high >= MOST_TOPICS:
            return float("inf")
        low, high = high, min(2 * high, MOST_TOPICS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)
