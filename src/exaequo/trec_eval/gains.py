"""Gains as the official program assigns and sorts them, and the ideal list they make."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar
from weakref import proxy

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.trec_eval.lists import Lists, running

T = TypeVar("T")
Pairs = tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False)
class Gained:
    """The gain of each document of the lists, and the gains of each topic's ideal list, best first."""

    lists: Lists
    gain: Floats
    ideal_topic: Ints
    ideal_gain: Floats

    @cached_property
    def ideal_rank(self) -> Ints:
        """Rank in the ideal list, from 1."""
        return np.arange(len(self.ideal_topic)) - self._start[self.ideal_topic] + 1

    @cached_property
    def ideal_length(self) -> Ints:
        """Length of each ideal list."""
        return np.bincount(self.ideal_topic, minlength=self.lists.n_topics)

    @cached_property
    def _start(self) -> Ints:
        return np.searchsorted(self.ideal_topic, np.arange(self.lists.n_topics))

    @cached_property
    def dcg(self) -> Floats:
        """DCG up to each document."""
        return self.lists.running(self.gain / np.log2(self.lists.rank + 1))

    @cached_property
    def ideal_dcg(self) -> Floats:
        """DCG up to each place of the ideal lists."""
        discounted = self.ideal_gain / np.log2(self.ideal_rank + 1)
        return running(discounted, self.ideal_topic, self.ideal_rank, self.lists.n_topics)

    def dcg_at(self, topic: Ints, rank: Ints) -> Floats:
        """Return the DCG of the list of a topic up to a rank, 0 for rank 0."""
        start = np.searchsorted(self.lists.topic, topic)
        return _at(self.dcg, start, np.minimum(rank, self.lists.returned[topic]))

    def ideal_dcg_at(self, topic: Ints, rank: Ints) -> Floats:
        """Return the DCG of the ideal list of a topic up to a rank, 0 for rank 0."""
        return _at(self.ideal_dcg, self._start[topic], np.minimum(rank, self.ideal_length[topic]))

    def ideal_gain_at(self, topic: Ints, rank: Ints) -> Floats:
        """Return the ideal gain at a rank, 0 beyond the end."""
        inside = rank <= self.ideal_length[topic]
        return np.where(inside, _at(self.ideal_gain, self._start[topic], np.where(inside, rank, 0)), 0.0)


def _at(values: Floats, start: Ints, rank: Ints) -> Floats:
    """Pick `values[start + rank - 1]`, and 0 where the rank is 0."""
    padded = np.append(values, 0.0)
    return np.where(rank > 0, padded[np.where(rank > 0, start + rank - 1, 0)], 0.0)


def gained(lists: Lists, pairs: Pairs) -> Gained:
    """Assign gains: the judgment itself, or what a pair `level=gain` says. Judgments below 0 have none."""
    if pairs not in lists.gained:
        # Lists that were known by what they hold would stay in memory until somebody looks for such circles.
        lists.gained[pairs] = _gained(proxy(lists), pairs)
    known: Gained = lists.gained[pairs]
    return known


def _gained(lists: Lists, pairs: Pairs) -> Gained:
    judgments = lists.judgments
    if not pairs:
        topic, _, grade = judgments.ideal
        return Gained(lists, np.maximum(lists.rel, 0.0), topic, grade)
    listed = _listed(pairs, lists.release)
    grade = judgments.grade
    judged = grade >= 0
    levels = int(grade.max(initial=0)) + 1
    counts = np.zeros((lists.n_topics, levels), dtype=np.int64)
    np.add.at(counts, (judgments.topic[judged], grade[judged].astype(np.int64)), 1)
    n_levels = levels - np.argmax(counts[:, ::-1] > 0, axis=1)
    gain = np.zeros(len(lists.rel))
    parts = []
    for size in np.unique(n_levels):
        own = listed + [(level, float(level)) for level in range(size) if level not in dict(listed)]
        ordered = merge_sorted(own, lambda one, two: int(one[1] - two[1]))
        mine = n_levels == size
        in_list = mine[lists.topic]
        for level, value in reversed(ordered):  # of a level given twice the lower gain counts
            gain[in_list & (lists.rel == level)] = value
        parts.append(_ideal(ordered, listed, np.flatnonzero(mine), counts))
    topic, ideal = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(topic, kind="stable")
    return Gained(lists, gain, topic[order], ideal[order])


def _listed(pairs: Pairs, release: int) -> list[tuple[int, float]]:
    """Keep the pairs that name a level; release 9 takes any other name for level 0."""
    whole = re.compile(r"[+-]?[0-9]+")
    if release == 9:
        return [(int(match[0]) if (match := whole.match(name)) else 0, gain) for name, gain in pairs]
    return [(int(name), gain) for name, gain in pairs if whole.fullmatch(name)]


def _ideal(
    ordered: list[tuple[int, float]], listed: list[tuple[int, float]], topics: Ints, counts: Ints
) -> tuple[Ints, Floats]:
    """Return the ideal lists of some topics: highest gain first, down to the first level with documents but no gain."""
    first = dict(reversed(listed + ordered))  # only the first of a level given twice holds its documents
    none = np.zeros(len(topics), dtype=np.int64)
    columns = [
        counts[topics, level] if 0 <= level < counts.shape[1] and first[level] == value else none
        for level, value in reversed(ordered)
    ]
    sizes = np.stack(columns, axis=1)
    gain = np.array([value for _, value in reversed(ordered)])
    ended = np.cumsum((sizes > 0) & (gain <= 0), axis=1) > 0
    sizes = np.where(ended | (gain[0] <= 0), 0, sizes)
    return np.repeat(topics, sizes.sum(axis=1)), np.repeat(np.tile(gain, len(topics)), sizes.ravel())


def merge_sorted(items: list[T], compare: Callable[[T, T], int]) -> list[T]:
    """Sort as glibc's qsort does, halves first.

    The official comparison cuts the difference of two gains to a whole number, so gains less than 1 apart count as
    equal; what comes out then depends on how the sort goes about it.
    """
    if len(items) < 2:
        return items
    half = len(items) // 2
    left, right = merge_sorted(items[:half], compare), merge_sorted(items[half:], compare)
    merged: list[T] = []
    while left and right:
        merged.append(left.pop(0) if compare(left[0], right[0]) <= 0 else right.pop(0))
    return merged + left + right
