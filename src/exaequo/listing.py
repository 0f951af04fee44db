"""Reordered lists: what a strategy makes of a run, document by document. In: an `Ordering`. Out: a frame, or a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from exaequo.errors import BadParameter, bad_input
from exaequo.order import Ranking
from exaequo.read import Qrels, Run
from exaequo.read.records import with_keys


def table(ranking: Ranking, rel: float | None = None) -> pl.DataFrame:
    """Return a row per document: rank, score, judgment, tie, precision and recall at that rank."""
    relevant = ranking.relevant(rel)
    start = np.searchsorted(ranking.topic, ranking.topic)
    so_far = np.concatenate(([0], np.cumsum(relevant)))
    found = so_far[1:] - so_far[start]
    n_rel = ranking.n_rel(rel)[ranking.topic]
    groups = ranking.groups
    first_tie = np.cumsum(groups.size > 1)  # number of ties of two or more so far, over all topics
    before = np.concatenate(([0], first_tie))[np.searchsorted(groups.topic, groups.topic)]
    number = np.where(groups.size > 1, first_tie - before, 0)[groups.of]
    frame = ranking.lines.run.frame
    grade = pl.Series(ranking.lines.as_judged[ranking.line]).fill_nan(None)
    if ((grade % 1 == 0) & (grade.abs() < 1e15)).all():  # whole grades are written as such
        grade = grade.cast(pl.Int64)
    return pl.DataFrame(
        {
            "topic": frame["qid"][ranking.row],
            "rank": ranking.rank,
            "docno": frame["docno"][ranking.row],
            "sim": ranking.lines.sim[ranking.line],
            "judgment": pl.select(pl.when(pl.Series(ranking.judged)).then(grade)).to_series(),
            "relevant": relevant,
            "tie": pl.select(pl.when(pl.Series(number) > 0).then(pl.Series(number))).to_series(),
            "precision": found / ranking.rank,
            "recall": np.divide(found, n_rel, out=np.zeros(len(found)), where=n_rel > 0),
        }
    )


def as_run(ranking: Ranking, name: str) -> str:
    """Return the lists as a run file in their new order, with scores as they were; ranks count from 1."""
    frame = ranking.lines.run.frame
    lines = {
        "qid": frame["qid"][ranking.row],
        "docno": frame["docno"][ranking.row],
        "rank": ranking.rank,
        "sim": ranking.lines.sim[ranking.line],
    }
    return run_text(pl.DataFrame(lines), name, ranking.lines.run.source.name, "Write a table instead: --format csv.")


def run_text(frame: pl.DataFrame, name: str, source: str, mend: str = "Give it another name.") -> str:
    """Return `qid, docno, rank, sim` as a run file; reading it gives the same scores. Ids with blanks are refused."""
    for column in ("qid", "docno"):
        blank = frame.filter(pl.col(column).str.contains(r"\s"))[column]
        if len(blank):
            found = f"the {column} {blank[0]!r} has a blank"
            raise bad_input(source, found, "none in a run file", mend)
    tag = pl.lit("_".join(name.split()) or "run").alias("run_id")
    lines = frame.select("qid", pl.lit("Q0").alias("iter"), "docno", "rank", "sim", tag)
    return lines.write_csv(include_header=False, separator=" ", quote_style="never")


def renamed(qrels: Qrels, run: Run, names: Mapping[str, str]) -> tuple[Qrels, Run]:
    """Give documents other names, in the judgments and in the run."""
    known = set(run.frame["docno"]) | set(qrels.frame["docno"])
    if len(set(names.values())) < len(names):
        raise BadParameter("Two documents cannot get the same name.")
    for old, new in names.items():
        if old not in set(run.frame["docno"]):
            raise BadParameter(f"There is no document {old!r} to rename.")
        if new in known and new not in names:
            raise BadParameter(f"There is a document {new!r} already; choose another name.")
    frames = [with_keys(frame.with_columns(pl.col("docno").replace(dict(names)))) for frame in (qrels.frame, run.frame)]
    return replace(qrels, frame=frames[0]), replace(run, frame=frames[1])


def with_topics_of(qrels: Qrels, *runs: Run) -> Qrels:
    """Add the topics of runs that nobody judged, with a judgment of no document, so that they are ordered too."""
    mine = pl.concat([run.frame["qid"].unique() for run in runs]).unique().sort()
    stray = mine.filter(~mine.is_in(qrels.frame["qid"].unique().implode()))
    more = pl.DataFrame({"qid": stray, "docno": [""] * len(stray), "rel": [0.0] * len(stray)})
    return replace(qrels, frame=pl.concat([qrels.frame, with_keys(more).select(qrels.frame.columns)]))


def parse_renames(pairs: Sequence[str]) -> dict[str, str]:
    """Read `OLD=NEW`."""
    names = {}
    for pair in pairs:
        old, separator, new = pair.partition("=")
        if not (separator and old and new) or new.split() != [new]:
            raise BadParameter(f"--rename takes OLD=NEW. Got {pair!r}.")
        if old in names:
            raise BadParameter(f"{old!r} is renamed twice.")
        names[old] = new
    return names
