"""Expected values: the mean of a measure over all orders of the tied documents. In: an `Ordering`. Out: `Expected`.

Three ways, the first that applies: a closed form; all orders, if a list has only a few that differ; else a sample of
orders, with its standard error. Lists without a tie need none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import factorial, inf, prod

import numpy as np

from exaequo.arrays import Bools, Floats, Ints
from exaequo.choices import ORDERS_SAMPLED
from exaequo.lots import drawn
from exaequo.measures import Measure
from exaequo.measures.arithmetic import products_before, spread
from exaequo.measures.moments import Moments, of_linear
from exaequo.order import Groups, Ordering, Ranking

#: Lists with up to so many different orders are averaged over all of them.
MOST_ORDERS = 720
#: How a value came about.
CLOSED, ALL_ORDERS, SAMPLED = "closed form", "all orders", "sampled"
_HARD = (CLOSED, ALL_ORDERS, SAMPLED)


@dataclass(frozen=True, eq=False)
class Expected:
    """Means over all orders, a row per measure, a column per topic.

    `deviation` is the standard deviation over orders (NaN where only the mean has a closed form), `error` the standard
    error of the mean, 0 where it is exact, and `how` says for each measure which way its hardest topic went.
    """

    values: Floats
    deviation: Floats
    error: Floats
    how: tuple[str, ...]

    def part(self, kept: Ints) -> Expected:
        """Keep the topics at these places."""
        return Expected(self.values[:, kept], self.deviation[:, kept], self.error[:, kept], self.how)

    def rows(self, kept: Sequence[int]) -> Expected:
        """Keep some measures."""
        at, how = list(kept), tuple(self.how[row] for row in kept)
        return Expected(self.values[at], self.deviation[at], self.error[at], how)


def filled(old: Floats | Expected, at: Ints, new: Floats | Expected) -> Floats | Expected:
    """Put other values of these topics into those of all, in place; expected ones keep the harder way of both."""
    if isinstance(old, Expected) and isinstance(new, Expected):
        for name in ("values", "deviation", "error"):
            getattr(old, name)[:, at] = getattr(new, name)
        return replace(old, how=tuple(max(pair, key=_HARD.index) for pair in zip(old.how, new.how, strict=True)))
    if not isinstance(old, Expected) and not isinstance(new, Expected):
        old[:, at] = new
    return old


def expected_values(
    ordering: Ordering,
    measures: Sequence[Measure],
    *,
    depth: int | None = None,
    seed: int = 0,
    samples: int = ORDERS_SAMPLED,
) -> Expected:
    """Return the mean of each measure and topic over all orders of the ties."""
    whole = ordering.ranking("realistic")  # the names of documents decide nothing, so neither do they here
    base = whole if depth is None else ordering.ranking("realistic", depth=depth)
    tied, cut = _tied_and_cut(whole, inf if depth is None else depth)
    values = np.stack([measure.values(base) for measure in measures])
    deviations, errors = np.zeros_like(values), np.zeros_like(values)
    how = [CLOSED] * len(measures)
    left: list[Bools] = []
    for row, measure in enumerate(measures):
        known = np.zeros_like(tied)
        for topics, moments in (
            (tied & ~cut, measure.definition.moments and (lambda m=measure: m.definition.moments(base, **m.params))),
            (tied & cut, _under_a_cut(measure, whole, depth)),
        ):
            if moments and topics.any():
                mean, variance = moments()
                values[row, topics] = mean[topics]
                deviations[row, topics] = np.nan if variance is None else np.sqrt(variance[topics])
                known |= topics
        left.append(tied & ~known)
    for by_name in (False, True):
        seen = ("names" in measure.definition.sees for measure in measures)
        rows = [row for row, is_seen in enumerate(seen) if is_seen == by_name and left[row].any()]
        if rows:
            orders = Orders(whole, np.any([left[row] for row in rows], axis=0), by_name, depth, seed, samples)
            found = orders.averages([measures[row] for row in rows], values[rows])
            for row, mean, deviation, error in zip(rows, *found, strict=True):
                chosen = left[row]
                values[row, chosen] = mean[chosen]
                deviations[row, chosen] = deviation[chosen]
                errors[row, chosen] = error[chosen]
                how[row] = SAMPLED if (orders.sampled & chosen).any() else ALL_ORDERS
    return Expected(values, deviations, errors, tuple(how))


def _under_a_cut(measure: Measure, whole: Ranking, depth: int | None) -> Callable[[], Moments] | None:
    """Return the closed form for lists that are cut through a tie, if there is one."""
    about, params = measure.definition, dict(measure.params)
    cutoff = params.get("cutoff")
    if depth is None or about.moments is None:
        return None
    moments: Callable[..., Moments] = about.moments
    if about.cut and about.linear:
        form = about.linear(whole, **params)
        return lambda: of_linear(whole, replace(form, weight=form.weight * (whole.rank <= depth)))
    if about.cut and not params.get("relative"):  # which divides by the cutoff that was asked for
        params["cutoff"] = min(cutoff or depth, depth)
    elif not (about.ours and cutoff and cutoff <= depth):  # what lies below the cut counts, or may count
        return None
    return lambda: moments(whole, **params)


def _tied_and_cut(ranking: Ranking, depth: float) -> tuple[Bools, Bools]:
    """Tell which topics have a tie that begins before the cut, and in which the cut goes through one."""
    groups = ranking.groups
    ties = (groups.size > 1) & (groups.before < depth)
    tied, cut = np.zeros((2, ranking.n_topics), dtype=bool)
    tied[groups.topic[ties]] = True
    cut[groups.topic[ties & (groups.before + groups.size > depth)]] = True
    return tied, cut


class Orders:
    """The lists of some topics, put in one order after the other: all orders where they are few, else random ones."""

    def __init__(
        self,
        whole: Ranking,
        topics: Bools,
        by_name: bool = False,
        depth: int | None = None,
        seed: int = 0,
        samples: int = ORDERS_SAMPLED,
        most: int = MOST_ORDERS,
    ) -> None:
        """Count the orders that differ; documents of one judgment are alike, unless they go by name."""
        self._ranking = whole.part(topics[whole.topic])
        self._depth = depth
        groups = self._ranking.groups
        ties = np.flatnonzero((groups.size > 1) & (groups.before < (inf if depth is None else depth)))
        kinds = _kinds_of_each(self._ranking, ties, by_name)
        number = np.ones(len(topics))
        with np.errstate(over="ignore"):
            np.multiply.at(number, groups.topic[ties], [_n_orders(each) for each in kinds])
        #: Topics with too many orders to try them all.
        self.sampled = number > most
        self.count = np.where(self.sampled, samples, number).astype(np.int64)
        many = self.sampled[groups.topic[ties]]
        self._random = _Shuffled(self._ranking, groups, ties[many], seed)
        self._listed = _Listed(
            groups, ties[~many], [each for each, is_one in zip(kinds, many, strict=True) if not is_one]
        )

    def rankings(self) -> Iterator[Ranking]:
        """Yield as many rankings as the topic with the most orders needs; a topic that needs fewer begins again."""
        ranking = self._ranking
        for at in range(int(self.count.max(initial=0))):
            line = ranking.line.copy()
            for places, source in (self._listed.order(at), self._random.order(at)):
                line[places] = ranking.line[source]
            found = ranking.reordered(line)
            yield found if self._depth is None else found.part(found.rank <= self._depth)

    def averages(self, measures: Sequence[Measure], base: Floats) -> tuple[Floats, Floats, Floats]:
        """Return mean, standard deviation and standard error; what is added up are differences from `base`."""
        total, square = np.zeros_like(base), np.zeros_like(base)
        for at, ranking in enumerate(self.rankings()):
            counted = at < self.count
            for row, measure in enumerate(measures):
                gap = np.where(counted, measure.values(ranking) - base[row], 0.0)
                total[row] += gap
                square[row] += gap**2
        shift = total / self.count
        variance = np.maximum(square / self.count - shift**2, 0.0)
        error = np.where(self.sampled, np.sqrt(variance / np.maximum(self.count - 1, 1)), 0.0)
        return base + shift, np.sqrt(variance), error


class _Shuffled:
    """Ties in random order: which places they have, and which document each place gets."""

    def __init__(self, ranking: Ranking, groups: Groups, ties: Ints, seed: int) -> None:
        """Lots depend on topic and rank alone, so that the order of a tie depends on no other."""
        self._places = spread(groups.start[ties], groups.size[ties])
        self._tie = np.repeat(np.arange(len(ties)), groups.size[ties])
        self._topic = ranking.judgments.lots[ranking.topic[self._places]] if len(ties) else np.zeros(0, np.uint64)
        self._rank = ranking.rank[self._places]
        self._seed = seed

    def order(self, number: int) -> tuple[Ints, Ints]:
        lots = drawn(self._seed, self._topic, self._rank, number + 1)  # the first is that of `random`
        return self._places, self._places[np.lexsort((lots, self._tie))]


class _Listed:
    """Ties in every order that differs, by number: the ties of a list are the digits of the number of its order."""

    def __init__(self, groups: Groups, ties: Ints, kinds: list[tuple[int, ...]]) -> None:
        self._start, self._size = groups.start[ties], groups.size[ties]
        tables = {each: _different_orders(each) for each in dict.fromkeys(kinds)}
        sizes = np.array([table.size for table in tables.values()], dtype=np.int64)
        first = dict(zip(tables, (np.cumsum(sizes) - sizes).tolist(), strict=True))
        self._pool = np.concatenate([np.zeros(0, dtype=np.int64), *(table.ravel() for table in tables.values())])
        self._first = np.array([first[each] for each in kinds], dtype=np.int64)
        self._rows = np.array([len(tables[each]) for each in kinds], dtype=np.int64)
        self._step = products_before(self._rows.astype(np.float64), groups.topic[ties]).astype(np.int64)

    def order(self, number: int) -> tuple[Ints, Ints]:
        row = number // self._step % self._rows
        source = self._pool[spread(self._first + row * self._size, self._size)]
        return spread(self._start, self._size), np.repeat(self._start, self._size) + source


def _kinds_of_each(ranking: Ranking, ties: Ints, by_name: bool) -> list[tuple[int, ...]]:
    """Return for each tie how many documents of each kind it has, in the order they stand in."""
    groups = ranking.groups
    new = np.ones(len(ranking.tie), dtype=bool)
    if not by_name:
        key = np.where(ranking.judged, ranking.grade, -np.inf)
        new[1:] = (key[1:] != key[:-1]) | (ranking.tie[1:] != ranking.tie[:-1])
    first = np.flatnonzero(new)
    sizes = np.diff(first, append=len(new)).tolist()
    start = np.searchsorted(first, groups.start[ties]).tolist()
    stop = np.searchsorted(first, groups.start[ties] + groups.size[ties]).tolist()
    return [tuple(sizes[i:j]) for i, j in zip(start, stop, strict=True)]


@lru_cache(maxsize=4096)
def _n_orders(kinds: tuple[int, ...]) -> float:
    """Return the number of different orders of so many documents of each kind."""
    if sum(kinds) > 150:  # 150! is near the end of what a float holds; here only few or many matters
        return 1.0 if len(kinds) == 1 else inf
    return float(factorial(sum(kinds)) // prod(map(factorial, kinds)))


@lru_cache(maxsize=4096)
def _different_orders(kinds: tuple[int, ...]) -> Ints:
    """Return all different orders as rows of places; documents of one kind stay in their order."""
    first = [sum(kinds[:kind]) for kind in range(len(kinds))]
    rows: list[list[int]] = []

    def extend(row: list[int], used: list[int]) -> None:
        if len(row) == sum(kinds):
            rows.append(row)
            return
        for kind, size in enumerate(kinds):
            if used[kind] < size:
                now = [*used[:kind], used[kind] + 1, *used[kind + 1 :]]
                extend([*row, first[kind] + used[kind]], now)

    extend([], [0] * len(kinds))
    return np.array(rows, dtype=np.int64)
