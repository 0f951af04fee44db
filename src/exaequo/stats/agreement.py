"""How much two rankings, or two judges, agree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from exaequo.arrays import Floats, Ints
from exaequo.errors import BadParameter


def competition_ranks(values: Floats) -> Ints:
    """Return ranks, 1 for the highest; equal values share the best of their ranks, as in 1, 2, 2, 4."""
    return np.searchsorted(np.sort(-values), -values) + 1


def kendall(one: Floats, two: Floats) -> tuple[float, float]:
    """Return Kendall's τ-b and its p; NaN where one of the two has no order at all."""
    if len(one) < 2 or not np.ptp(one) or not np.ptp(two):
        return float("nan"), float("nan")
    from scipy.stats import kendalltau

    result = kendalltau(one, two)
    return float(result.statistic), float(result.pvalue)


def pearson(one: Floats, two: Floats) -> float:
    """Return the product-moment correlation; NaN where one of the two does not vary."""
    if len(one) < 2 or not np.ptp(one) or not np.ptp(two):
        return float("nan")
    return float(np.corrcoef(one, two)[0, 1])


def tau_ap(truth: Floats, estimate: Floats) -> float:
    """Return τ_AP: like τ, but a mistake at the top costs more. Scores, the highest first, without ties.

    For each item but the first of the estimated ranking: the share of the items above it that belong there.
    E. Yilmaz, J. A. Aslam, S. Robertson: A new rank correlation coefficient for information retrieval, SIGIR 2008.
    """
    for name, scores in (("first", truth), ("second", estimate)):
        if len(np.unique(scores)) < len(scores):
            raise BadParameter(f"τ_AP takes rankings without ties; the {name} has some. tau_ap_b takes them.")
    return _one_way(np.asarray(truth), np.asarray(estimate))


def tau_ap_b(one: Floats, two: Floats) -> float:
    """Return τ_AP,b: the symmetric τ_AP of two rankings that may have ties.

    J. Urbano, M. Marrero: The treatment of ties in AP correlation, ICTIR 2017.
    """
    first, second = np.asarray(one, dtype=np.float64), np.asarray(two, dtype=np.float64)
    return (_one_way(first, second) + _one_way(second, first)) / 2


def _one_way(truth: Floats, estimate: Floats) -> float:
    """Mean, over the items below the first group of the estimate, of the share of items above that belong there."""
    above = estimate[None, :] > estimate[:, None]  # row: the item, column: those ranked above it
    number = above.sum(axis=1)
    counted = number > 0
    if not counted.any():
        return float("nan")
    right = (above & (truth[None, :] > truth[:, None])).sum(axis=1)
    return float(np.mean((2 * right - number)[counted] / number[counted]))


RankedItems = Sequence[Hashable | frozenset[Hashable] | set[Hashable]]


def rbo(one: RankedItems, two: RankedItems, p: float = 0.9, ties: str = "a") -> float:
    """Return rank-biased overlap, extrapolated, of two rankings; a set among the items of one is a tie.

    `ties` says what a tie is: "w" a true equality, "a" an unknown order (the mean over all orders), "b" an unknown
    order whose loss of information is corrected for, so that a ranking agrees with itself.

    W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings, ACM TOIS 28(4), 2010. M. Corsi,
    J. Urbano: The treatment of ties in rank-biased overlap, SIGIR 2024.
    """
    if not 0 < p < 1:
        raise BadParameter(f"p must be a number between 0 and 1. Got {p} instead.")
    if ties not in ("w", "a", "b"):
        raise BadParameter(f"ties must be w, a or b. Got {ties!r} instead.")
    short, long = sorted((_places(one), _places(two)), key=len)
    if not short:
        raise BadParameter("A ranking must have at least one item.")
    s, depth = len(short), len(long)
    items = list(dict.fromkeys((*short, *long)))
    mine, theirs = (_presence(items, places, depth, ties) for places in (short, long))
    ranks = np.arange(1, depth + 1)
    overlap = (mine * theirs).sum(axis=0)
    own, other = ((each if ties == "w" else each**2).sum(axis=0) for each in (mine, theirs))
    # Beyond its end the shorter ranking holds d items, of which nothing is known.
    own = np.where(ranks > s, ranks, own)
    size = {"w": (own + other) / 2, "a": ranks.astype(np.float64), "b": np.sqrt(own * other)}[ties]
    agreement = overlap / size
    if depth > s:
        # The unseen items of the shorter one are taken to agree as much as the seen ones did.
        alone = theirs[[item not in short for item in items], s:]
        presence = alone.sum(axis=0) / np.maximum((alone > 0).sum(axis=0), 1)
        guessed = (ranks[s:] - s) * agreement[s - 1] * presence
        agreement[s:] = (overlap[s:] + guessed) / size[s:]
    last = (overlap[-1] + (depth - s) * agreement[s - 1]) / depth
    weights = np.power(p, ranks)
    return float((1 - p) / p * (np.sum(agreement * weights) + last * p ** (depth + 1) / (1 - p)))


def _places(ranking: RankedItems) -> dict[Hashable, tuple[int, int]]:
    """Return the first and last rank each item may have."""
    places: dict[Hashable, tuple[int, int]] = {}
    for entry in ranking:
        group = tuple(entry) if isinstance(entry, set | frozenset) else (entry,)
        first = len(places) + 1
        for item in group:
            if item in places:
                raise BadParameter(f"{item!r} is twice in a ranking.")
            places[item] = (first, first + len(group) - 1)
    return places


def _presence(items: list[Hashable], places: dict[Hashable, tuple[int, int]], depth: int, ties: str) -> Floats:
    """Return how much of each item is in the first d of a ranking; an item it lacks would come beyond them all."""
    first, last = np.array([places.get(item, (depth + 1, depth + 1)) for item in items]).T[:, :, None]
    share: Floats = (np.arange(1, depth + 1) - first + 1) / (last - first + 1)
    return (share > 0).astype(np.float64) if ties == "w" else np.clip(share, 0.0, 1.0)


def rbo_of_scores(one: Floats, two: Floats, p: float = 0.9, ties: str = "a") -> float:
    """Return the rank-biased overlap of the rankings that two scores give the same systems, the highest first."""

    def ranking(scores: Floats) -> list[set[Hashable]]:
        return [set(np.flatnonzero(scores == score).tolist()) for score in np.unique(scores)[::-1]]

    return rbo(ranking(one), ranking(two), p, ties)


# ------------------------------------------------------------------------------------------------------------- judges


def cohen(one: Ints | Floats, two: Ints | Floats) -> float:
    """Return Cohen's κ of two judges of the same documents; NaN where chance alone would make them agree."""
    _, table = _confusion(one, two)
    chance = float(table.sum(axis=0) @ table.sum(axis=1))
    return float((np.trace(table) - chance) / (1 - chance)) if chance < 1 else float("nan")


def weighted_cohen(one: Ints | Floats, two: Ints | Floats, power: float = 1) -> float:
    """Return Cohen's weighted κ of two judges: a disagreement counts |grade − grade| to this power.

    1 is linear, 2 quadratic. NaN where chance alone would make them agree.

    J. Cohen: Weighted kappa, Psychological Bulletin 70(4), 1968.
    """
    labels, table = _confusion(one, two)
    weight = np.abs(labels[:, None] - labels[None, :]) ** power
    chance = float((weight * np.outer(table.sum(axis=1), table.sum(axis=0))).sum())
    return float(1 - (weight * table).sum() / chance) if chance else float("nan")


def _confusion(one: Ints | Floats, two: Ints | Floats) -> tuple[Floats, Floats]:
    """Return the grades, and the share of documents that have each two of them, the first judge's by row."""
    labels, codes = np.unique(np.concatenate((one, two)), return_inverse=True)
    table = np.zeros((len(labels), len(labels)))
    np.add.at(table, (codes[: len(one)], codes[len(one) :]), 1)
    return labels.astype(np.float64), table / table.sum()


def krippendorff(judgments: npt.ArrayLike, level: str = "nominal") -> float:
    """Return Krippendorff's α of judges × documents, NaN where a judge did not judge.

    `level` is what the grades are: "nominal", "ordinal", "interval" or "ratio". NaN if nothing varies.

    K. Krippendorff: Computing Krippendorff's alpha-reliability, 2011.
    """
    table = np.asarray(judgments, dtype=np.float64)
    table = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    values, codes = np.unique(table[~np.isnan(table)], return_inverse=True)
    if len(values) < 2:
        return float("nan")
    document = np.nonzero(~np.isnan(table))[1]
    counts = np.zeros((table.shape[1], len(values)))
    np.add.at(counts, (document, codes), 1)
    weighted = counts * (1 / (counts.sum(axis=1, keepdims=True) - 1))
    coincidence = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    totals = coincidence.sum(axis=0)
    distance = _distance(values, totals, level)
    seen, expected = (coincidence * distance).sum(), (np.outer(totals, totals) * distance).sum()
    return float(1 - (totals.sum() - 1) * seen / expected)


def _distance(values: Floats, totals: Floats, level: str) -> Floats:
    if level == "ordinal":
        values = np.cumsum(totals) - totals / 2
    one, two = values[:, None], values[None, :]
    if level == "nominal":
        return np.asarray(one != two, dtype=np.float64)
    if level in ("ordinal", "interval"):
        return np.asarray((one - two) ** 2)
    if level == "ratio":
        share = np.divide(one - two, one + two, out=np.zeros((len(values),) * 2), where=one + two != 0)
        return np.asarray(share**2)
    raise BadParameter(f"level must be nominal, ordinal, interval or ratio. Got {level!r} instead.")
