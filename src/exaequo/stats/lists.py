"""How much two rankings of documents agree, all lists at once. In: flat arrays of topics, ranks. Out: a figure each.

T. Breuer and others: How to measure the reproducibility of system-oriented IR experiments, SIGIR 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exaequo.arrays import Floats, Ints

#: Topics × ranks that are held at a time.
_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists, topic after topic: the ranks each document may have. `first` and `last` are those of its tie."""

    topic: Ints
    rank: Ints
    first: Ints
    last: Ints

    def part(self, kept: Ints) -> Lists:
        """Return the documents at these places."""
        return Lists(self.topic[kept], self.rank[kept], self.first[kept], self.last[kept])

    def untied(self) -> Lists:
        """Return the same with each document at its rank."""
        return Lists(self.topic, self.rank, self.rank, self.rank)


def tau_of_union(topic: Ints, rank: Ints, other: Ints, shorter: Ints) -> Floats:
    """Return Kendall's τ of the union of two lists for each topic; NaN where one has fewer than two documents.

    Given are the lists of one, topic after topic and in order, and the rank of each document in the `other`, 0 where
    it is not there. Both count up to the length of the `shorter`. The documents of the union are numbered: those of the
    other in its order, then the rest in theirs; compared are the numbers at rank 1, 2, … of the two.
    """
    kept = rank <= shorter[topic]
    topic, rank, other = topic[kept], rank[kept], other[kept]
    number = np.where((other > 0) & (other <= shorter[topic]), other, shorter[topic] + rank)
    place = np.empty(len(number), dtype=np.int64)
    place[np.lexsort((number, topic))] = np.arange(len(number))
    turned = np.bincount(topic, weights=inversions(place), minlength=len(shorter))
    pairs = shorter * (shorter - 1.0)
    share: Floats = np.divide(4 * turned, pairs, out=np.full(len(shorter), np.nan), where=pairs > 0)
    return 1 - share


def inversions(places: Ints) -> Ints:
    """Return, for each number of a permutation of 0, 1, 2, …, how many greater ones stand before it.

    Bit by bit, the highest first: numbers that agree in all higher bits are neighbours, in the order they came; the
    greater ones before a number are those that have the bit where it has none.
    """
    found = np.zeros(len(places), dtype=np.int64)
    order, at = np.arange(len(places)), np.arange(len(places))
    for bit in reversed(range(len(places).bit_length())):
        value = places[order]
        has = (value >> bit) & 1
        start = value >> (bit + 1) << (bit + 1)
        so_far = np.cumsum(has) - has
        before = so_far - so_far[start]
        found[order[has == 0]] += before[has == 0]
        moved = np.empty_like(order)
        moved[np.where(has, start + (1 << bit) + before, at - before)] = order
        order = moved
    return found


def overlap(one: Lists, two: Lists, mine: Ints, theirs: Ints, n_topics: int, p: float) -> Floats:
    """Return rank-biased overlap to the depth of the longer list for each topic; NaN where both are empty.

    `mine` and `theirs` are the places of the documents both have. Weights p^(d−1) add up to 1. Tied documents have an
    unknown order, whose loss of information is corrected for, so that a list agrees with itself (the b variant of
    M. Corsi, J. Urbano: The treatment of ties in rank-biased overlap, SIGIR 2024).
    """
    result = np.full(n_topics, np.nan)
    width = 1 + max(int(each.rank.max(initial=0)) for each in (one, two))
    step = max(1, _CELLS // width)
    for start in range(0, n_topics, step):
        size = min(step, n_topics - start)
        first, second = (_between(each, start, size) for each in (one, two))
        pairs = slice(*np.searchsorted(one.topic[mine], (start, start + size)))
        both = _shared(one.part(mine[pairs]), two.part(theirs[pairs]), start, (size, width))
        result[start : start + size] = _weighted(both, _known(first, size, width), _known(second, size, width), p)
    return result


def _between(lists: Lists, start: int, size: int) -> Lists:
    """Return the lists of some topics, counted from 0."""
    part = lists.part(np.arange(*np.searchsorted(lists.topic, (start, start + size))))
    return Lists(part.topic - start, part.rank, part.first, part.last)


def _known(lists: Lists, size: int, width: int) -> tuple[Floats, Ints]:
    """Return topics × depths: the squared shares of the documents in the first d, added up; and the length of lists."""
    table = np.tile(np.arange(width, dtype=np.float64), (size, 1))
    above = lists.first - 1.0
    table[lists.topic, lists.rank] = above + (lists.rank - above) ** 2 / (lists.last - above)
    return table, np.bincount(lists.topic, minlength=size)


def _shared(one: Lists, two: Lists, start: int, shape: tuple[int, int]) -> Floats:
    """Return topics × depths: the products of the shares that shared documents have in the first d, added up.

    The share of a document grows evenly along its tie, so that the product is a polynomial of d from rank to rank,
    whose coefficients are noted where they change.
    """
    rising, steady = np.maximum(one.first, two.first), np.maximum(one.last, two.last)
    middle = np.minimum(one.last, two.last)
    later = one.last > two.last
    a, b = one.first - 1.0, two.first - 1.0
    m, n = one.last - a, two.last - b
    whole, alone = 1 / (m * n), np.where(later, 1 / m, 1 / n)
    pieces = (
        (rising, middle, a * b * whole, -(a + b) * whole, whole),
        (np.maximum(rising, middle), steady, -np.where(later, a, b) * alone, alone, 0 * alone),
        (steady, np.full_like(steady, shape[1]), np.ones(len(a)), 0 * a, 0 * a),
    )
    depth, total = np.arange(shape[1], dtype=np.float64), np.zeros(shape)
    row = (one.topic - start) * (shape[1] + 1)
    for power in range(3):
        changes = np.zeros(shape[0] * (shape[1] + 1))
        for begin, end, *coefficients in pieces:
            some = (begin < end) & (coefficients[power] != 0)
            for where, sign in ((begin, 1), (end, -1)):
                values = sign * coefficients[power][some]
                changes += np.bincount((row + where)[some], weights=values, minlength=len(changes))
        if changes.any():
            total += np.cumsum(changes.reshape(shape[0], -1), axis=1)[:, :-1] * depth**power
    return total


def _weighted(both: Floats, one: tuple[Floats, Ints], two: tuple[Floats, Ints], p: float) -> Floats:
    """Return the weighted mean of the agreement at each depth, to the end of the longer list."""
    (mine, my_length), (theirs, their_length) = one, two
    longest = np.maximum(my_length, their_length)
    size = np.sqrt(mine[:, 1:] * theirs[:, 1:])
    depth = np.arange(1, both.shape[1])
    weights = np.where(depth <= longest[:, None], p ** (depth - 1.0), 0.0)
    total = weights.sum(axis=1)
    scored = (both[:, 1:] / size * weights).sum(axis=1)
    mean: Floats = np.divide(scored, total, out=np.full(len(total), np.nan), where=total > 0)
    return mean
