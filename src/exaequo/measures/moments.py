"""Mean and variance of a measure over all orders of tied documents: what closed forms are made of.

Within a tie every order is equally likely, and ties are independent of each other. Two tools cover most measures:

- `of_linear`: a sum of (gain of a document) × (weight of its rank);
- `stopping`: a reader who goes down the list and stops at a document with some probability.

The derivations are in docs/expected.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from exaequo.arrays import Bools, Floats, Ints
from exaequo.measures.arithmetic import begins, products_before, ratio, spread
from exaequo.measures.registry import Function, Measure, attach
from exaequo.order import Ranking

F = TypeVar("F", bound=Callable[..., object])
G = TypeVar("G", bound=Function)


class Moments(NamedTuple):
    """The mean over all orders of each topic, and the variance, if it has a closed form too."""

    mean: Floats
    variance: Floats | None = None


@dataclass(frozen=True, eq=False)
class Linear:
    """A measure that is `offset + scale · Σ gain·weight`: a gain per document, a weight per rank of its list."""

    gain: Floats | Bools
    weight: Floats | Bools
    scale: Floats | float = 1.0
    offset: Floats | float = 0.0

    def value(self, ranking: Ranking) -> Floats:
        """Return the value for the order the ranking is in."""
        return self.offset + self.scale * ranking.total(ranking.topic, np.multiply(self.gain, self.weight, dtype=float))


def of_linear(ranking: Ranking, linear: Linear) -> Moments:
    """Every document of a tie meets the mean weight of its ranks; for the variance see the theorem of Hoeffding."""
    groups = ranking.groups
    gain, weight = (np.asarray(each, dtype=np.float64) for each in (linear.gain, linear.weight))
    total = groups.sums(gain) * groups.sums(weight) / groups.size
    mean = linear.offset + linear.scale * ranking.total(groups.topic, total)
    spread = [groups.sums((each - (groups.sums(each) / groups.size)[groups.of]) ** 2) for each in (gain, weight)]
    variance = spread[0] * spread[1] / np.maximum(groups.size - 1, 1)
    return Moments(mean, np.square(linear.scale) * ranking.total(groups.topic, variance))


def linear(measure: Measure | Function, *, cut: bool = False) -> Callable[[F], F]:
    """Attach to a measure the function that gives its `Linear` form, and so a closed form.

    `cut` says that neither gain nor scale nor offset depends on the length of the list.
    """

    def decorate(function: F) -> F:
        def moments(ranking: Ranking, **params: object) -> Moments:
            return of_linear(ranking, function(ranking, **params))  # type: ignore[arg-type]

        attach(measure, moments=moments, linear=function, cut=cut)
        return function

    return decorate


def closed(measure: Measure | Function, *, cut: bool = False) -> Callable[[F], F]:
    """Attach to a measure the function that gives its `Moments`.

    `cut` says that the measure sees a list that is cut as it sees the whole one with a cutoff there.
    """

    def decorate(function: F) -> F:
        attach(measure, moments=function, cut=cut)
        return function

    return decorate


def unchanged(function: G) -> G:
    """Say of a measure, above its `@define`, that the order inside a tie is nothing to it."""

    @closed(function)
    def moments(ranking: Ranking, **params: object) -> Moments:
        return Moments(function(ranking, **params), np.zeros(ranking.n_topics))

    return function


def top(ranking: Ranking, cutoff: int | None) -> Floats:
    """Return 1 for each rank up to the cutoff, 0 below."""
    return np.ones(len(ranking.rank)) if cutoff is None else (ranking.rank <= cutoff).astype(np.float64)


def one_by(number: Floats | Ints) -> Floats:
    """Return 1 / number, 0 where there is nothing to divide by."""
    return ratio(np.ones(len(number)), number)


class Stops(NamedTuple):
    """How likely each rank is to be the one where a reader stops: for each owner of a list, its ranks."""

    owner: Ints
    rank: Ints
    chance: Floats


def stopping(owner: Ints, before: Ints, size: Ints, group: Ints, goes_on: Floats) -> Stops:
    """Return the chances of stopping at each rank, the mean over all orders of each tie.

    Ties come with the `owner` of their list, in order, the number of documents `before` them, and their `size`. Some
    documents, by the number of their `group`, stop the reader: at each the reader goes on with a chance of `goes_on`,
    at all others for certain. `group` is in order.
    """
    marked = np.bincount(group, minlength=len(size))
    through = np.ones(len(size))
    first = np.flatnonzero(begins(group))
    through[group[first]] = np.multiply.reduceat(goes_on, first)
    reaches = products_before(through, owner)
    # Where nobody gets past any of the marked documents there is nothing to add, tie by tie: what else there is to
    # evaluate must not decide how a value is computed.
    added = np.where(np.bincount(group, weights=goes_on, minlength=len(size)) > 0, marked, 0)
    # Only ties where the reader may stop, those with the most documents to add first.
    kept = np.flatnonzero((marked > 0) & (reaches > 0))
    kept = kept[np.lexsort((-marked[kept], -added[kept]))]
    start = (np.cumsum(marked) - marked)[kept]
    still = _still_looking(size[kept], marked[kept], added[kept], start, goes_on)
    slots = size[kept] + 1
    of = np.repeat(np.arange(len(kept)), slots)
    place = spread(np.zeros_like(slots), slots)
    inside = np.flatnonzero(place > 0)
    chance = (still[inside - 1] - still[inside]) * reaches[kept][of[inside]]
    return Stops(owner[kept][of[inside]], before[kept][of[inside]] + place[inside], chance)


def _still_looking(size: Ints, marked: Ints, added: Ints, start: Ints, goes_on: Floats) -> Floats:
    """Return the chance to be still looking after 0, 1, … all documents of each tie, tie after tie.

    That is the mean, over all subsets of so many documents, of the product of `goes_on`. One more document x makes the
    mean over subsets of size j of k documents ((k − j)·mean_j + j·x·mean_(j−1)) / k. Ties are sorted by `added`, how
    many documents are, falling, so those that still have one to add are always the first ones; all of them advance
    together. Where none is added, nobody gets past a marked document: the chance is that there is none among so many.
    """
    slots = size + 1
    ends = np.cumsum(slots)
    of = np.repeat(np.arange(len(size)), slots)
    place = spread(np.zeros_like(slots), slots).astype(np.float64)
    mean = (place <= (size - marked)[of]).astype(np.float64)
    going = int(np.count_nonzero(added))
    rest = slice(int(ends[going - 1]) if going else 0, None)
    others = np.maximum((size - marked)[of[rest]] - place[rest], 0.0)
    mean[rest] = products_before(others / np.maximum(size[of[rest]] - place[rest], 1.0), of[rest])
    for step in range(int(added.max(initial=0))):
        active = int(np.count_nonzero(added > step))
        last = int(ends[active - 1])
        k = (size - marked + step + 1)[of[:last]]
        x = goes_on[start[:active] + step][of[:last]]
        one_less = np.concatenate(([0.0], mean[: last - 1]))
        mean[:last] = ((k - place[:last]) * mean[:last] + place[:last] * x * one_less) / k
    return mean
