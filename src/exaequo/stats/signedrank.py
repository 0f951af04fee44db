"""Wilcoxon's signed-rank test, exact where it can be. In: differences, pairs × topics. Out: a p per pair."""

from __future__ import annotations

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.errors import BadParameter

#: Up to so many differences other than 0 the p is exact: sign patterns are counted, 2^50 of them without rounding.
MOST_COUNTED = 50


def signed_rank_p(gaps: Floats, alternative: str) -> Floats:
    """Return p for each row of differences, which are equal, or 0, only where they are so to the last bit.

    Differences of 0 are left out, equal ones share the mean of their ranks. Beyond 50 differences p is that of the
    normal distribution. F. Wilcoxon: Individual comparisons by ranking methods, Biometrics Bulletin 1(6), 1945.
    """
    if alternative not in ("two-sided", "greater", "less"):
        raise BadParameter(f"alternative must be two-sided, greater or less. Got {alternative!r} instead.")
    ranks, above = _ranks(gaps)
    below = ranks.sum(axis=1) - above
    # A sum of ranks is as likely as what it leaves of the whole, so p is always a chance to stay so low.
    reach = {"less": above, "greater": below, "two-sided": np.minimum(above, below)}[alternative]
    many = (ranks > 0).sum(axis=1) > MOST_COUNTED
    p = np.empty(len(gaps))
    for rows, chance in ((many, _normal), (~many, _counted)):
        if rows.any():
            p[rows] = chance(ranks[rows], reach[rows])
    return np.minimum(2 * p, 1.0) if alternative == "two-sided" else p


def rank_sums(gaps: Floats) -> tuple[Ints, Ints]:
    """Return the sums of ranks, twice, of the differences above 0 and below 0, for each row."""
    ranks, above = _ranks(gaps)
    return above, ranks.sum(axis=1) - above


def _ranks(gaps: Floats) -> tuple[Ints, Ints]:
    """Return twice the ranks of each row, whole numbers, ascending, 0 for no difference; and the sums above 0."""
    order = np.argsort(np.abs(gaps), axis=1, kind="stable")
    ordered = np.take_along_axis(gaps, order, axis=1)
    place = np.broadcast_to(np.arange(gaps.shape[1]), gaps.shape)
    other = np.diff(np.abs(ordered), axis=1) != 0
    edge = np.ones((len(gaps), 1), dtype=np.bool_)
    first = np.maximum.accumulate(np.where(np.hstack((edge, other)), place, 0), axis=1)
    last = np.where(np.hstack((other, edge)), place, gaps.shape[1])
    last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    zeros = (gaps == 0).sum(axis=1, keepdims=True)
    ranks = np.where(ordered == 0, 0, first + last + 2 - 2 * zeros)
    return ranks, (ranks * (ordered > 0)).sum(axis=1)


def _normal(ranks: Ints, reach: Ints) -> Floats:
    """Return the chance to stay so low in the normal distribution of the same mean and deviation."""
    from scipy.special import ndtr

    z = (reach - ranks.sum(axis=1) / 2) / (np.sqrt((ranks**2).sum(axis=1)) / 2)
    return np.asarray(ndtr(z), dtype=np.float64)


def _counted(ranks: Ints, reach: Ints) -> Floats:
    """Return the share of sign patterns that stay so low; pairs with the same ranks share the count."""
    p = np.empty(len(ranks))
    patterns, of = np.unique(ranks, axis=0, return_inverse=True)
    ends = np.cumsum(np.bincount(of, minlength=len(patterns)))[:-1]
    for pattern, rows in zip(patterns, np.split(np.argsort(of, kind="stable"), ends), strict=True):
        known = pattern[pattern > 0]
        counts, whole, total = _counts(known), 2.0 ** len(known), int(known.sum())
        # Beyond the middle the count is the whole less that of the sums as far from the other end.
        low = reach[rows]
        high = 2 * low > total
        number = counts[np.where(high, total - low, low + 1)]
        p[rows] = np.where(high, whole - number, number) / whole
    return p


def _counts(ranks: Ints) -> Floats:
    """Return how many sign patterns have a sum of ranks above 0 that is below 0, 1, … the middle and one more."""
    middle, reached = int(ranks.sum()) // 2, 0
    number = np.zeros(middle + 2)
    number[1] = 1.0
    sums = number[1:]
    for rank in ranks.tolist():  # each may be added to every sum so far
        reached = min(reached + rank, middle)
        sums[rank : reached + 1] += sums[: max(reached + 1 - rank, 0)]
    return np.cumsum(number)
