"""Error rate against the number of topics: how often what n topics say is reversed on n others.

In: scores, systems × topics. Out: `Reversals`, a figure for each n. After E. M. Voorhees and C. Buckley (2002), who
compare means, and M. Sanderson and J. Zobel (2005), who ask the same of significant differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from exaequo.arrays import Bools, Floats, Ints
from exaequo.choices import ALPHA, SPLITS
from exaequo.errors import BadParameter
from exaequo.stats.equality import TOLERANCE, differences

#: Numbers of topics that are tried, if there are so many.
SIZES = 12
#: Entries of the largest array made at a time.
_CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class Reversals:
    """A figure for each number of topics; rates in percent, NaN where there was nothing to count.

    A conclusion is that two systems differ on one half of a split, in the mean, or significantly; it is reversed if
    they differ the other way round on the other half. `differ` and `significant` are the shares of pairs with a
    conclusion, `reversed` and `significant_reversed` those of conclusions that are reversed.
    """

    topics: Ints
    splits: Ints
    differ: Floats
    reversed: Floats
    significant: Floats
    significant_reversed: Floats


def reversals(values: Floats, alpha: float = ALPHA, *, splits: int = SPLITS, seed: int = 0) -> Reversals:
    """Return how often conclusions between two systems are reversed, from one topic up to half of them.

    All splits are tried where there are no more than `splits`, else so many random ones.
    """
    if splits < 1:
        raise BadParameter(f"splits must be a whole number ≥ 1. Got {splits} instead.")
    topics = values.shape[1]
    first, second = np.triu_indices(len(values), 1)
    gaps = differences(values[second], values[first])
    most = topics // 2 if len(gaps) else 0
    sizes = sorted({round(n) for n in np.linspace(1, most, SIZES)}) if most else []
    source = np.random.Generator(np.random.PCG64(seed))
    shuffled = np.argsort(source.random((splits, topics)), axis=1)  # one for all sizes: the curve is smooth
    tried = [_halves(n, shuffled) for n in sizes]
    rates = [_rates(gaps, halves, n, alpha) for n, halves in zip(sizes, tried, strict=True)]
    counts = np.array(sizes, dtype=np.int64), np.array([len(one) for one, _ in tried], dtype=np.int64)
    return Reversals(*counts, *np.array(rates, dtype=np.float64).reshape(-1, 4).T)


def _halves(n: int, shuffled: Ints) -> tuple[Ints, Ints]:
    """Return disjoint sets of n topics, splits × n each: all of them, if they are no more than the shuffled ones."""
    topics = shuffled.shape[1]
    if comb(topics, n) * comb(topics - n, n) // 2 > len(shuffled):
        return shuffled[:, :n], shuffled[:, n : 2 * n]
    every = [
        (one, two)
        for one in combinations(range(topics), n)
        for two in combinations([topic for topic in range(topics) if topic not in one], n)
        if one < two
    ]
    both = np.array(every, dtype=np.int64)
    return both[:, 0], both[:, 1]


def _rates(gaps: Floats, halves: tuple[Ints, Ints], n: int, alpha: float) -> tuple[float, float, float, float]:
    """Return the four rates of one size; each half is once what is concluded from, once what it is held against."""
    counted = np.zeros(5, dtype=np.int64)
    for one, two in _chunks(gaps, halves):
        (sign, sure), (other, also) = (_said(gaps, half, n, alpha) for half in (one, two))
        opposite = sign * other < 0
        differ = np.count_nonzero(sign) + np.count_nonzero(other)
        certain = np.count_nonzero(sure) + np.count_nonzero(also)
        undone = np.count_nonzero(opposite & sure) + np.count_nonzero(opposite & also)
        counted += np.array([2 * sign.size, differ, 2 * np.count_nonzero(opposite), certain, undone])
    every, one_way, back, shown, taken_back = counted.tolist()
    return _percent(one_way, every), _percent(back, one_way), _percent(shown, every), _percent(taken_back, shown)


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else float("nan")


def _chunks(gaps: Floats, halves: tuple[Ints, Ints]) -> Iterator[tuple[Ints, Ints]]:
    rows = max(1, _CHUNK // len(gaps))
    for start in range(0, len(halves[0]), rows):
        yield halves[0][start : start + rows], halves[1][start : start + rows]


def _said(gaps: Floats, half: Ints, n: int, alpha: float) -> tuple[Floats, Bools]:
    """Return what each half says of each pair, halves × pairs: 1, -1 or 0, and whether Student's t-test agrees.

    Sums over topics are matrix products; squares are of differences less their mean, or little of them would be left.
    """
    from scipy.special import stdtrit

    chosen = np.zeros((len(half), gaps.shape[1]))
    np.put_along_axis(chosen, half, 1.0, axis=1)
    total = chosen @ gaps.T
    total[np.abs(total) <= TOLERANCE * np.abs(gaps).max(axis=1)] = 0.0
    if n < 2:
        return np.sign(total), np.zeros(total.shape, dtype=bool)
    apart = gaps - gaps.mean(axis=1)[:, None]
    squares, sums = chosen @ (apart**2).T, chosen @ apart.T
    variance = (squares - sums**2 / n) / (n - 1)
    steady = variance <= TOLERANCE * squares / n
    limit = float(stdtrit(n - 1, 1 - alpha / 2))
    far = total**2 > limit**2 * n * np.where(steady, 0.0, variance)
    return np.sign(total), np.where(steady, (total != 0) & (2 * 0.5**n < alpha), far)
