"""The lists that make a pool, in their order. In: runs, and judgments if there are any. Out: `Lists`.

No judgment decides who comes into a pool: the strategies here are those that look at none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from exaequo.choices import WHOLE_TIES
from exaequo.errors import BadParameter
from exaequo.evaluation import judged_runs, prepared
from exaequo.judge import Judgments
from exaequo.listing import with_topics_of
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.read import Qrels, Run, Source, unique_names
from exaequo.read.records import with_keys


@dataclass(frozen=True, eq=False)
class Lists:
    """All runs, ordered, with their names, and a row per run and document: its ranks and judgment.

    Topics and runs are numbers. `rank` is the rank a document is pooled by, `strict` the one it has where names order
    ties, `place` that of its judgment, -1 if there is none or one below 0, `relevant` what that says. Without qrels,
    nothing is `judged`.
    """

    names: list[str]
    orderings: list[Ordering]
    judgments: Judgments
    judged: bool
    frame: pl.DataFrame


def ordered(runs: Sequence[Run], qrels: Qrels | None, options: Options, ties: str) -> Lists:
    """Order each run once; `ties` says by which rank tied documents are pooled, `all`: by the first of their tie."""
    if not runs:
        raise BadParameter("No run is given.")
    judgments = prepared(with_topics_of(qrels or _no_judgments(), *runs), options, every=True)
    orderings = [ordering for ordering, _ in judged_runs(judgments, runs, options)]
    frame = pl.concat([_rows(each, at, ties, options.seed) for at, each in enumerate(orderings)])
    names = unique_names([(run.name, run.source.name) for run in runs])
    return Lists(names, orderings, judgments, qrels is not None, frame)


def _no_judgments() -> Qrels:
    columns = {"qid": pl.String, "docno": pl.String, "rel": pl.Float64}
    return Qrels(with_keys(pl.DataFrame(schema=columns)), Source("no qrels"))


def _rows(ordering: Ordering, run: int, ties: str, seed: int) -> pl.DataFrame:
    whole = ties == WHOLE_TIES
    ranking = ordering.ranking("conventional" if whole else ties, seed=seed)
    groups = ranking.groups
    return pl.DataFrame(
        {
            "topic": ranking.topic.astype(np.int32),
            "docno": ordering.run.frame["docno"][ranking.row],
            "run": pl.repeat(run, len(ranking.topic), eager=True, dtype=pl.Int32),
            "rank": (groups.before[groups.of] + 1 if whole else ranking.rank).astype(np.int32),
            "strict": ranking.rank.astype(np.int32),
            "place": np.where(ranking.grade >= 0, ordering.judged_run.place[ranking.line], -1),
            "relevant": ranking.relevant(),
        }
    )
