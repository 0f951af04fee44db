"""Worst cases of a difference, topic by topic: two runs under the same judgments. In: two `Listed`. Out: `Ends`.

The lists of two runs are two lists, so the orders of their ties have nothing to do with each other: the worst of one
against the best of the other is reached. A document that nobody judged is one document: relevant in both lists, or in
neither, and counted among the relevant ones by both, also by the run that did not return it.

- Where a measure is a sum of gain × weight of the rank (P, RBP, DCG, SDCG), each document adds what it is worth in the
  one list less what in the other: with ties as they stand the ends are reached.
- Of all others, the ends are the worst of one run against the best of the other, whatever the outcome of each: the
  difference lies between them, and may never get there. What it reaches in four outcomes stands beside them: none
  relevant, all, those that stand higher in the one list, those that stand higher in the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from exaequo.arrays import Bools, Floats, Ints
from exaequo.budgeting.ends import LOOSE, TIGHT, Ends, Listed, ends_of, hull
from exaequo.budgeting.worlds import judged_so, unknown_documents
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.residuals import BOUNDS, ENDS, SCENARIOS

#: A sum of so many fractions is exact to this.
_NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class Side:
    """A run of a pair, with the documents that one of the two has and nobody judged: `line` is -1 where it has not."""

    run: Listed
    topic: Ints
    line: Ints
    grade: float

    @property
    def has(self) -> Bools:
        """Tell which of the documents it returned."""
        found: Bools = self.line >= 0
        return found

    @property
    def rank(self) -> Floats:
        """Where each document stands; at infinity, where it does not."""
        ranking = self.run.standing.ranking()
        ranks = np.empty(len(ranking.line) + 1)
        ranks[ranking.line], ranks[-1] = ranking.rank, np.inf
        return ranks[self.line]

    def judged(self, ordering: Ordering, relevant: Bools) -> Ordering:
        """Return its lists where these of the documents are relevant, and the others are not."""
        grades = np.where(relevant, self.grade, 0.0)[self.has]
        return judged_so(ordering, self.line[self.has], grades, self.topic[~self.has & relevant], self.grade)

    def widened(self, measures: Sequence[Measure], options: Options) -> list[Ends]:
        """Return its ends where what only the other run has may be relevant too."""
        elsewhere = self.topic[~self.has]
        if not len(elsewhere):
            return list(self.run.ends)
        lists = [self.run.ordering, self.run.standing][: 1 if self.run.standing is self.run.ordering else 2]
        nothing = np.zeros(0, dtype=np.int64)
        far = [judged_so(each, nothing, 0.0, elsewhere, self.grade) for each in lists]
        return [
            replace(own, unjudged=hull(own.unjudged, other.unjudged), both=hull(own.both, other.both))
            for own, other in zip(self.run.ends, ends_of(far[0], far[-1], measures, options, self.grade), strict=True)
        ]

    def worth(self, ordering: Ordering, measure: Measure) -> tuple[Floats, Floats]:
        """Return the least and the most that each document, if relevant, adds to a sum of gain × weight."""
        ranking = self.judged(ordering, np.ones(len(self.line), dtype=bool)).ranking("input")
        if not len(ranking.line):
            return np.zeros(len(self.line)), np.zeros(len(self.line))
        form, groups = measure.definition.linear(ranking, **measure.params), ranking.groups  # type: ignore[misc]
        weight = np.asarray(form.weight, dtype=np.float64)
        found = []
        for extreme in (np.minimum, np.maximum):
            worth = np.zeros(len(weight) + 1)
            worth[ranking.line] = form.scale * form.gain * extreme.reduceat(weight, groups.start)[groups.of]
            found.append(worth[self.line])
        return found[0], found[1]


def difference(one: Listed, two: Listed, measures: Sequence[Measure], options: Options, grade: float) -> list[Ends]:
    """Return for each measure the difference two − one and its ends."""
    sides = _sides(one, two, grade)
    wide = [side.widened(measures, options) for side in sides]
    found = []
    for at, measure in enumerate(measures):
        first, second = wide[0][at], wide[1][at]
        known = Ends(
            score=second.score - first.score,
            ties=_against(first.ties, second.ties),
            unjudged=_against(first.unjudged, second.unjudged),
            both=_against(first.both, second.both),
            how=_how(sides, (first, second), (one.ends[at], two.ends[at])),
            estimate=second.estimate - first.estimate,
        )
        found.append(_summed(known, sides, at, measure) if LOOSE in known.how and _adds_up(measure) else known)
    if all(each.how[1] == TIGHT for each in found):
        return found
    return [
        each if each.how[1] == TIGHT else replace(each, reached=own)
        for each, own in zip(found, _reached(sides, measures), strict=True)
    ]


def _sides(one: Listed, two: Listed, grade: float) -> tuple[Side, Side]:
    """Put together the documents that one of two runs has and nobody judged."""
    frames = [unknown_documents(each.ordering).rename({"line": name}) for each, name in ((one, "one"), (two, "two"))]
    both = frames[0].join(frames[1], on=["topic", "docno"], how="full", coalesce=True, maintain_order="left_right")
    lines = both.select(pl.col("one", "two").fill_null(-1))
    topic = both["topic"].to_numpy()
    return Side(one, topic, lines["one"].to_numpy(), grade), Side(two, topic, lines["two"].to_numpy(), grade)


def _against(one: Floats, two: Floats) -> Floats:
    """Return the least and the greatest difference of two that have nothing to do with each other."""
    return np.stack((two[0] - one[1], two[1] - one[0]))


def _how(sides: tuple[Side, Side], wide: Sequence[Ends], own: Sequence[Ends]) -> tuple[str, str, str]:
    """Say what the ends are: reached where no document is in both lists, or counts where it is not."""
    free = not (sides[0].has & sides[1].has).any() and all(
        np.array_equal(far.both, near.both, equal_nan=True) for far, near in zip(wide, own, strict=True)
    )
    bounds = [all(each.how[at] == BOUNDS for each in own) for at in range(3)]
    ties, unjudged, both = (
        SCENARIOS if not sure else TIGHT if free or source == 0 else LOOSE for source, sure in enumerate(bounds)
    )
    return ties, unjudged, both


def _adds_up(measure: Measure) -> bool:
    """Tell whether a measure is a sum of gain × weight that the number of relevant documents does not change."""
    about = measure.definition
    return about.name in ENDS and about.linear is not None and measure.params.get("gains") is None


def _summed(known: Ends, sides: tuple[Side, Side], at: int, measure: Measure) -> Ends:
    """Return the ends of a difference of two sums: document by document."""
    ends = [side.run.ends[at] for side in sides]
    n_topics = len(known.score)

    def total(values: Floats) -> Floats:
        return np.bincount(sides[0].topic, weights=values, minlength=n_topics).astype(np.float64)

    stands = [side.worth(side.run.standing, measure)[0] for side in sides]
    # What may stand beyond the end of a list, for a measure that counts it, is in its greatest value alone.
    room = [np.ptp(each.unjudged, axis=0) - total(own) for each, own in zip(ends, stands, strict=True)]
    beyond = [np.where(each > _NOISE, each, 0.0) for each in room]
    gaps = stands[1] - stands[0]
    none = ends[1].unjudged[0] - ends[0].unjudged[0]
    low, high = none + total(np.minimum(gaps, 0)) - beyond[0], none + total(np.maximum(gaps, 0)) + beyond[1]
    unjudged = hull(np.stack((low, high)), known.score[None])
    least, most = zip(*(side.worth(side.run.ordering, measure) for side in sides), strict=True)
    low = known.ties[0] + total(np.minimum(least[1] - most[0], 0)) - beyond[0]
    high = known.ties[1] + total(np.maximum(most[1] - least[0], 0)) + beyond[1]
    inside = np.stack((np.maximum(low, known.both[0]), np.minimum(high, known.both[1])))
    whole = all(np.array_equal(*each) for each in zip(least, most, strict=True))
    how = known.how[0], TIGHT, TIGHT if whole else LOOSE
    return replace(known, unjudged=unjudged, both=hull(inside, unjudged, known.ties), how=how)


def _reached(sides: tuple[Side, Side], measures: Sequence[Measure]) -> list[Floats]:
    """Return for each measure the least and the greatest difference of four outcomes, ties as they stand."""
    one, two = (side.rank for side in sides)
    nothing = np.zeros(len(one), dtype=bool)
    found = []
    for relevant in (nothing, ~nothing, two < one, one < two):
        rankings = [side.judged(side.run.standing, relevant).ranking() for side in sides]
        found.append([measure.values(rankings[1]) - measure.values(rankings[0]) for measure in measures])
    return [hull(np.stack(each)) for each in zip(*found, strict=True)]
