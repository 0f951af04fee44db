"""Worst cases of a run, topic by topic: by ties, by unjudged documents, by both. In: an `Ordering`. Out: `Ends`.

Ties alone: all orders, judgments as they are. Unjudged documents alone: all outcomes, in the order in which the score
stands, the realistic one. Both: all orders and all outcomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.budgeting.worlds import judged_so, unknown_lines
from exaequo.choices import INTERVAL
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.order import Ordering, Ranking
from exaequo.residuals import BOUNDS, SCENARIOS, unjudged_in

#: Of a difference: a bound that is reached, and one that may not be.
TIGHT, LOOSE = "tight", "not tight"
#: The first ranks, by which the rate of relevant documents is told apart.
DEPTHS = (10, 100)
#: Outcomes that are drawn for an estimate.
DRAWS = 10


@dataclass(frozen=True, eq=False)
class Ends:
    """A value per topic, and its least and greatest, 2 × topics: by `ties`, by `unjudged` documents, by `both`.

    `how` says of each of these what its ends are; `estimate` is the value at the rate of judged documents. Of a
    difference whose bounds are not tight, `reached` are the least and the greatest found.
    """

    score: Floats
    ties: Floats
    unjudged: Floats
    both: Floats
    how: tuple[str, str, str]
    estimate: Floats
    reached: Floats | None = None

    def at(self, places: Ints) -> Ends:
        """Return the same of these topics alone."""
        return replace(
            self,
            score=self.score[places],
            ties=self.ties[:, places],
            unjudged=self.unjudged[:, places],
            both=self.both[:, places],
            estimate=self.estimate[places],
            reached=None if self.reached is None else self.reached[:, places],
        )


@dataclass(frozen=True, eq=False)
class Listed:
    """A run as it is looked at: its lists, the same without ties, and the ends of each measure."""

    ordering: Ordering
    standing: Ordering
    ends: tuple[Ends, ...]


def listed(ordering: Ordering, measures: Sequence[Measure], options: Options, grade: float) -> Listed:
    """Find the ends of a run, and an estimate; `grade` is that of an unjudged document that is relevant."""
    stands = ordering.standing()
    ends = ends_of(ordering, stands, measures, options, grade)
    guesses = estimates(stands, measures, grade, options.seed)
    return Listed(ordering, stands, tuple(replace(each, estimate=own) for each, own in zip(ends, guesses, strict=True)))


def ends_of(
    ordering: Ordering, stands: Ordering, measures: Sequence[Measure], options: Options, grade: float
) -> list[Ends]:
    """Return the ends of each measure, those of both at least as far as those of each; the score for an estimate."""
    unknown = bool(unknown_lines(ordering).any())
    both, sure = _outcomes(ordering, measures, options, grade)
    alone = both if stands is ordering else _outcomes(stands, measures, options, grade)[0]
    found = []
    for at, measure in enumerate(measures):
        orders = np.stack([measure.values(ordering.ranking(ties)) for ties in INTERVAL])
        score, ties = orders[0], hull(orders)
        unjudged = hull(score, alone[at]) if unknown else np.stack((score, score))
        every = hull(ties, unjudged, both[at]) if unknown else ties
        by_ties = BOUNDS if measure.definition.chain != "not guaranteed" or not ordering.n_tied else SCENARIOS
        by_unjudged = sure[at] if unknown else BOUNDS
        by_both = BOUNDS if by_ties == by_unjudged == BOUNDS else SCENARIOS
        found.append(Ends(score, ties, unjudged, every, (by_ties, by_unjudged, by_both), score))
    return found


def _outcomes(
    ordering: Ordering, measures: Sequence[Measure], options: Options, grade: float
) -> tuple[Floats, list[str]]:
    """Return measures × (least, greatest) × topics over all outcomes and orders, and whether these are bounds."""
    frame = unjudged_in([(ordering, [])], measures, options, grade=grade, cutoffs=()).topics
    shape = len(measures), ordering.judgments.n_topics
    values = np.stack([frame[name].to_numpy().reshape(shape) for name in ("low", "high")], axis=1)
    return values, frame["how"].to_list()[:: shape[1]]


def hull(*values: Floats) -> Floats:
    """Return the least and the greatest of each column."""
    every = np.vstack(values)
    return np.stack((every.min(axis=0), every.max(axis=0)))


# ------------------------------------------------------------------------------------------------------- an estimate


def rates(ranking: Ranking) -> Floats:
    """Return for each place how likely a document there is relevant: the share of the judged ones of its depth.

    Depths are ranks 1–10, 11–100 and below, of all topics together; one without judgments has the share of all.
    """
    band = np.searchsorted(DEPTHS, ranking.rank)
    known = ranking.judged & (ranking.grade >= 0)
    judged, relevant = (
        np.bincount(band[each], minlength=len(DEPTHS) + 1) for each in (known, known & ranking.relevant())
    )
    whole = relevant.sum() / max(judged.sum(), 1)
    share: Floats = np.where(judged > 0, relevant / np.maximum(judged, 1), whole)[band]
    return share


def estimates(stands: Ordering, measures: Sequence[Measure], grade: float, seed: int) -> Floats:
    """Return measures × topics: the mean over drawn outcomes, each unjudged document being relevant at its rate."""
    ranking = stands.ranking()
    places = np.flatnonzero(unknown_lines(stands)[ranking.line])
    if not len(places):
        return np.stack([measure.values(ranking) for measure in measures])
    at, rate = ranking.line[places], rates(ranking)[places]  # by rank: neither names nor the file decide a lot
    source = np.random.Generator(np.random.PCG64(seed))
    total = np.zeros((len(measures), ranking.n_topics))
    for _ in range(DRAWS):
        drawn = judged_so(stands, at, np.where(source.random(len(at)) < rate, grade, 0.0)).ranking()
        total += np.stack([measure.values(drawn) for measure in measures])
    estimate: Floats = total / DRAWS
    return estimate


def relevant_grade(ordering: Ordering, asked: float | None) -> float:
    """Return the grade of an unjudged document that is relevant: the one asked for, or the highest judged."""
    return float(ordering.judgments.grade.max()) if asked is None else asked
