"""Result lists as the official program sees them: all judged topics, cut (-M), judged documents only (-J)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from exaequo.arrays import Bools, Floats, Ints
from exaequo.frames import pl
from exaequo.judge import Judgments, judge, prepare
from exaequo.order import Ordering, Ranking
from exaequo.read import Qrels, Run, Source

#: What the official program keeps in the place of a judgment, for documents that have none.
NOT_POOLED, NOT_JUDGED = -1.0, -2.0
#: Cells of a padded table that are held at a time.
_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Lists(Ranking):
    """One run, ranked. `present` tells the topics the run has; release 10 gives the others one unjudged document."""

    present: Bools
    release: int
    collection_size: int
    #: What gains come to, by the parameters that give them (see `gains`).
    gained: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def rel(self) -> Floats:
        """The judgment of each document; below 0 if there is none."""
        return np.where(self.judged, np.where(self.grade < 0, NOT_JUDGED, self.grade), NOT_POOLED)

    def running(self, values: Floats) -> Floats:
        """Return running sums along each list."""
        return running(values, self.topic, self.rank, self.n_topics)


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
    seed: int = 0,
    depth: int | None = None,
    judged_only: bool = False,
    complete: bool = False,
    collection_size: int = 0,
) -> Lists:
    """Judge and order a run the official way."""
    judged = judge(run, judgments)
    ranking = Ordering(judged, "single" if release == 9 else "double").ranking(ties, seed=seed, depth=depth)
    columns = {name: getattr(ranking, name) for name in ("topic", *_PLACEHOLDER)}
    lists = Lists(judged, **columns, present=judged.returned > 0, release=release, collection_size=collection_size)
    if complete and release != 9:
        lists = _with_placeholders(lists)
    return judged_documents(lists) if judged_only else lists


def judged_documents(lists: Lists) -> Lists:
    """Drop the documents nobody judged, as -J does, and rank the others anew."""
    kept = lists.judged & (lists.grade >= 0)
    columns = {name: getattr(lists, name)[kept] for name in ("topic", *_PLACEHOLDER)}
    columns["rank"] = np.arange(len(columns["topic"])) - np.searchsorted(columns["topic"], columns["topic"]) + 1
    return replace(lists, **columns)


#: What the one document of an absent topic has, besides the topic.
_PLACEHOLDER = {"rank": 1, "grade": 0, "judged": False, "line": -1, "tie": -1}


def _with_placeholders(lists: Lists) -> Lists:
    """Give each absent topic a list of one document nobody judged, as release 10 does under -c."""
    absent = np.flatnonzero(~lists.present)
    topic = np.concatenate((lists.topic, absent))
    order = np.argsort(topic, kind="stable")
    columns: dict[str, Any] = {}
    for name, value in _PLACEHOLDER.items():
        column = getattr(lists, name)
        columns[name] = np.concatenate((column, np.full(len(absent), value, dtype=column.dtype)))[order]
    return replace(lists, topic=topic[order], **columns)
