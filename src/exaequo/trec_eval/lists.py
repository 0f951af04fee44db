"""Result lists as the official program sees them: all judged topics, cut (-M), judged documents only (-J)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from exaequo.judge import Bools, Floats, Ints, Judgments, judge, prepare
from exaequo.order import Ordering, Ranking
from exaequo.read import Qrels, Run, Source

#: What the official program keeps in the place of a judgment, for documents that have none.
NOT_POOLED, NOT_JUDGED = -1.0, -2.0
#: Cells of a padded table that are held at a time.
_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Lists:
    """One run, ranked. `present` tells the topics the run has; release 10 gives the others one unjudged document."""

    ranking: Ranking
    present: Bools
    level: float
    release: int
    collection_size: int

    def at_level(self, level: float) -> Lists:
        """Return the same lists with another level of relevance."""
        return replace(self, level=float(level))

    @property
    def n_topics(self) -> int:
        """Number of judged topics."""
        return self.ranking.n_topics

    @cached_property
    def rel(self) -> Floats:
        """The judgment of each document; below 0 if there is none."""
        grade = np.where(self.ranking.grade < 0, NOT_JUDGED, self.ranking.grade)
        return np.where(self.ranking.judged, grade, NOT_POOLED)

    @cached_property
    def n_rel(self) -> Ints:
        """Relevant documents of each topic."""
        return self.ranking.n_rel(self.level)

    @cached_property
    def n_ret(self) -> Ints:
        """Documents in each list."""
        return self.ranking.returned

    @cached_property
    def n_rel_ret(self) -> Floats:
        """Relevant documents in each list."""
        return self.ranking.total(self.ranking.hits(self.level).topic)

    def running(self, values: Floats) -> Floats:
        """Return running sums along each list."""
        return running(values, self.ranking.topic, self.ranking.rank, self.n_topics)


def running(values: Floats, topic: Ints, rank: Ints, n_topics: int) -> Floats:
    """Return running sums along each list, added one by one as a loop would, so that the last bit agrees."""
    result = np.empty(len(values))
    longest = int(rank.max(initial=1))
    step = max(1, _CELLS // longest)
    for start in range(0, n_topics, step):
        places = slice(*np.searchsorted(topic, (start, start + step)))
        at = (topic[places] - start, rank[places] - 1)
        table = np.zeros((min(step, n_topics - start), longest))
        table[at] = values[places]
        result[places] = np.cumsum(table, axis=1)[at]
    return result


def all_topics(qrels: Qrels, level: int) -> Judgments:
    """Prepare judgments the official way: every topic counts, and no judgment is too high."""
    return prepare(qrels, level=float(level), highest=float("inf"), every=True)


def empty_run() -> Run:
    """Return a run without a single document."""
    schema = {"qid": pl.String, "docno": pl.String, "sim": pl.Float64, "key": pl.UInt64}
    return Run("run", pl.DataFrame(schema=schema), Source("run"))


def build(
    judgments: Judgments,
    run: Run,
    *,
    release: int,
    ties: str,
    depth: int | None,
    judged_only: bool,
    complete: bool,
    collection_size: int,
    seed: int = 0,
) -> Lists:
    """Judge and order a run the official way."""
    judged = judge(run, judgments)
    ordering = Ordering(judged, "single" if release == 9 else "double")
    ranking = ordering.ranking(ties, seed=seed, depth=depth)
    present = judged.returned > 0
    if complete and release != 9:
        ranking = _with_placeholders(ranking, ~present)
    lists = Lists(ranking, present, judgments.level or 0.0, release, collection_size)
    return judged_documents(lists) if judged_only else lists


def judged_documents(lists: Lists) -> Lists:
    """Drop the documents nobody judged, as -J does."""
    ranking = lists.ranking
    return replace(lists, ranking=_only(ranking, ranking.judged & (ranking.grade >= 0)))


def _with_placeholders(ranking: Ranking, absent: Bools) -> Ranking:
    """Give each absent topic a list of one document nobody judged, as release 10 does under -c."""
    topic = np.concatenate((ranking.topic, np.flatnonzero(absent)))
    order = np.argsort(topic, kind="stable")
    more = np.count_nonzero(absent)

    def filled(values: npt.NDArray[Any], value: float) -> npt.NDArray[Any]:
        return np.concatenate((values, np.full(more, value, dtype=values.dtype)))[order]

    return replace(
        ranking,
        topic=topic[order],
        rank=filled(ranking.rank, 1),
        grade=filled(ranking.grade, 0),
        judged=filled(ranking.judged, False),
        line=filled(ranking.line, -1),
        tie=filled(ranking.tie, -1),
    )


def _only(ranking: Ranking, kept: Bools) -> Ranking:
    """Keep some documents and rank them anew."""
    topic = ranking.topic[kept]
    rank = np.arange(len(topic)) - np.searchsorted(topic, topic) + 1
    return replace(
        ranking,
        topic=topic,
        rank=rank,
        grade=ranking.grade[kept],
        judged=ranking.judged[kept],
        line=ranking.line[kept],
        tie=ranking.tie[kept],
    )
