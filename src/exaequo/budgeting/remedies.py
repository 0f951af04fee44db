"""What would shrink an interval: ties broken, documents judged, topics added. In: a `Listed`. Out: rows.

Documents to judge: of each, what the score moves by if it alone is relevant, and if all others are, it is not; the mean
of the two. Those of all topics that move it most are listed, and looked at among the first of each list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Bools, Floats, Ints
from exaequo.budgeting.ends import Listed, ends_of
from exaequo.budgeting.intervals import TIES, TOPICS, UNJUDGED
from exaequo.budgeting.worlds import judged_so, unknown_lines
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.stats import topicsets

DOCUMENTS = {"topic": pl.String, "docno": pl.String, "rank": pl.Int64, "moves": pl.Float64}


@dataclass(frozen=True, eq=False)
class Aims:
    """What documents are chosen by: the measure, the `topics` that count, the `grade` if relevant, and how many."""

    measure: Measure
    topics: Ints
    grade: float
    alpha: float
    most: int

    def total(self, values: Floats) -> float:
        """Return the aggregate of values of these topics: the sum, or the mean."""
        known = values[self.topics]
        return float(np.nansum(known) if self.measure.aggregate == "sum" else np.nanmean(known))


def moving(run: Listed, aims: Aims) -> tuple[Ints, Floats]:
    """Return the lines of the unjudged documents that move the score most, best first, and by how much."""
    ranking, measure, grade = run.standing.ranking(), aims.measure, aims.grade
    marked = unknown_lines(run.standing)[ranking.line] & np.isin(ranking.topic, aims.topics)
    places = np.flatnonzero(marked)
    topic = ranking.topic[places]
    nth = np.arange(len(places)) - np.searchsorted(topic, topic)
    lines, moves = ranking.line[places], np.zeros(len(places))
    none, every = np.zeros(len(places)), np.full(len(places), grade)

    def values(grades: Floats) -> Floats:
        return measure.values(judged_so(run.standing, lines, grades).ranking())

    low, high = values(none), values(every)
    for turn in range(min(aims.most, int(nth.max(initial=-1)) + 1)):
        own: Bools = nth == turn
        alone, without = values(np.where(own, grade, 0.0)), values(np.where(own, 0.0, grade))
        moves[own] = ((np.abs(alone - low) + np.abs(high - without)) / 2)[topic[own]]
    known = 1 if measure.aggregate == "sum" else max(int((~np.isnan(low[aims.topics])).sum()), 1)
    chosen = np.lexsort((topic, nth, -np.nan_to_num(moves)))[: aims.most]
    return lines[chosen], moves[chosen] / known


def documents(run: Listed, lines: Ints, moves: Floats) -> pl.DataFrame:
    """Return documents to judge, with where they stand and what they move."""
    judged, ranking = run.standing.judged_run, run.standing.ranking()
    rank = np.empty(len(ranking.line), dtype=np.int64)
    rank[ranking.line] = ranking.rank
    columns = {
        "topic": judged.judgments.topics.gather(judged.topic[lines]),
        "docno": judged.run.frame["docno"].gather(judged.row[lines]),
        "rank": rank[lines],
        "moves": moves,
    }
    return pl.DataFrame(columns, schema=DOCUMENTS)


def width_after(run: Listed, lines: Ints, aims: Aims, options: Options) -> float:
    """Return how far apart unjudged documents leave the score once these are judged: none is relevant, or all are.

    The wider of the two counts.
    """
    widths = []
    for found in (0.0, aims.grade):
        after = judged_so(run.standing, lines, found)
        (ends,) = ends_of(after, after, [aims.measure], options, aims.grade)
        widths.append(aims.total(np.ptp(ends.unjudged, axis=0)))
    return max(widths)


def topics_for_half(values: Floats, alpha: float) -> float:
    """Return how many topics would make the interval of a mean half as wide; infinite beyond a million."""
    known = values[~np.isnan(values)]
    variance = float(np.var(known, ddof=1)) / 2  # that of a difference of two means is twice the variance
    if not variance:
        return float(len(known))
    width = topicsets.interval_width(variance, len(known), alpha)
    return topicsets.for_interval(width / 2, variance, alpha)


def remedies(
    run: Listed, widths: Mapping[str, float], aims: Aims, options: Options
) -> tuple[list[dict[str, Any]], pl.DataFrame]:
    """Return for each source that leaves something open what would shrink it, and the documents to judge.

    `n` is the number of tied documents, of documents to judge, of topics in all.
    """
    lines, moves = moving(run, aims)
    shrunk: dict[str, Callable[[], tuple[float, float]]] = {
        TIES: lambda: (run.ordering.n_tied, 0.0),
        UNJUDGED: lambda: (len(lines), width_after(run, lines, aims, options)),
        TOPICS: lambda: (topics_for_half(run.ends[0].score[aims.topics], aims.alpha), widths[TOPICS] / 2),
    }
    rows = []
    for source, shrink in shrunk.items():
        if widths[source] > 0:
            n, then = shrink()
            rows.append({"source": source, "n": float(n), "width": widths[source], "then": then})
    return rows, documents(run, lines, moves)
