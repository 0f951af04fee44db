"""A table of scores that grows: a folder of Parquet files. In: runs. Out: the scores of new or changed lists, in it.

Each row is a score with `inputs`, a hash of the list, of the judgments of its topic and of the settings; `settings`,
how it was evaluated; and `written`, when. Of several scores of a list the last one counts. Nothing is changed or
deleted, so that the table may lie wherever Parquet files do, and be read by whatever reads them.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from exaequo import __version__
from exaequo.engine.blocks import judgments_of
from exaequo.engine.kernel import Rows, Work, averaged, scored
from exaequo.errors import ExaequoError, UsageError, bad_input
from exaequo.evaluation import prepared
from exaequo.frames import pl
from exaequo.judge import Judgments
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.read import Qrels, Run
from exaequo.remarks import refuse_unjudged, remarks_on_judgments, remarks_on_topics
from exaequo.scores import COLUMNS
from exaequo.writing import make_folder, write_whole

MORE = ("inputs", "settings", "written")
#: How folders begin that Spark appends.
APPENDED = "append="


def settings_of(measures: Iterable[Measure], options: Options) -> str:
    """Return how lists are evaluated, as text."""
    return json.dumps({"measures": [each.name for each in measures], **vars(options)}, sort_keys=True)


def refuse_other(table: str, known: Iterable[str], settings: str) -> None:
    """Refuse to mix scores that were made otherwise."""
    for other in known:
        if other != settings:
            raise UsageError(f"{table} was made with other measures or options: {other}. Name another folder.")


def now() -> int:
    """Return the time in microseconds."""
    return time.time_ns() // 1000


class Appended(NamedTuple):
    """How many lists were evaluated, how many were there, and what there is to say about judgments and runs."""

    done: int
    there: int
    remarks: list[str]


def append(table: str, qrels: Qrels, runs: Iterable[Run], measures: Sequence[Measure], options: Options) -> Appended:
    """Evaluate the lists that the table lacks, run by run."""
    folder = Path(table)
    settings = settings_of(measures, options)
    old = _read(folder)
    refuse_other(table, old["settings"].unique().to_list(), settings)
    known = _last(old).select("run", "topic", "inputs").unique()
    work = Work(tuple(measures), options)
    done, there, named = 0, 0, set[str]()
    judged, judgments = judgments_of(qrels), prepared(qrels, options)
    remarks = remarks_on_judgments(judgments, measures)
    topics = _hashed(judged, ["qid"], "judged").join(judgments.topics.to_frame(), on="qid", how="semi")
    for run in runs:
        if run.name in named:
            found = f"another run called {run.name!r}"
            raise bad_input(run.source.name, found, "a name for each", "Rename one: tables know runs by name.")
        named.add(run.name)
        remarks += _remarks(run, judgments, options)
        lines = run.frame.drop("key").with_columns(pl.lit(run.name).alias("run"))
        lists = topics.join(_hashed(lines, ["qid"], "listed"), on="qid", how="left").with_columns(run=pl.lit(run.name))
        lists = lists.with_columns(_inputs(lists, settings))
        if options.missing == "skip":
            lists = lists.filter(pl.col("listed").is_not_null())
        new = lists.join(known, left_on=["run", "qid", "inputs"], right_on=["run", "topic", "inputs"], how="anti")
        own = new.select("qid")
        parts = [each.join(own, on="qid", how="semi", maintain_order="left") for each in (lines, judged)]
        scores = scored(Rows(new.select("run", "qid"), *parts), work)
        done, there = done + new.height, there + lists.height - new.height
        if scores.height:
            rows = scores.join(new.select(pl.col("qid").alias("topic"), "inputs"), on="topic", how="left")
            _write(folder, rows.with_columns(settings=pl.lit(settings), written=pl.lit(now())))
    return Appended(done, there, remarks)


def _remarks(run: Run, judgments: Judgments, options: Options) -> list[str]:
    """Say what about the topics of a run changes how its scores should be read; refuse one that has none."""
    stray = judgments.stray(run.topics)
    if stray:
        refuse_unjudged(run.source.name, run.topics, judgments.qrels)
    missing = judgments.missing(judgments.topics.is_in(run.topics).to_numpy())
    said = [*map(str, run.source.mended), *run.source.remarks]
    return said + remarks_on_topics(run.source.name, stray, missing, judgments.n_topics, options)


def read(table: str) -> pl.DataFrame:
    """Return the scores of a table: of each list the last ones; run, ties, topic, measure, value."""
    return _last(_read(Path(table))).select(COLUMNS)


def _last(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of each list that were written last."""
    return rows.filter(pl.col("written") == pl.col("written").max().over("run", "topic"))


def means(table: str) -> pl.DataFrame:
    """Return the aggregates of a table, as `averaged` does."""
    return averaged(read(table))


def _read(folder: Path) -> pl.DataFrame:
    kinds: dict[str, Any] = dict.fromkeys((*COLUMNS, *MORE), pl.String)
    schema = {**kinds, "value": pl.Float64, "written": pl.Int64}
    files = sorted([*folder.glob("*.parquet"), *folder.glob(f"{APPENDED}*/*.parquet")])
    if not files:
        return pl.DataFrame(schema=schema)
    try:
        return pl.concat([pl.read_parquet(file, glob=False).select(list(schema)) for file in files])
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ExaequoError(f"{folder}: no table of scores ({' '.join(str(error).split())[:120]}).") from None


def _write(folder: Path, rows: pl.DataFrame) -> None:
    make_folder(folder)
    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    write_whole(folder / f"part-{uuid4()}.parquet", buffer.getvalue())


def _hashed(rows: pl.DataFrame, key: Sequence[str], name: str) -> pl.DataFrame:
    """Return a hash of the rows of each key, whatever their order."""
    columns = [each for each in sorted(rows.columns) if each not in (*key, "run")]
    each = rows.select(*key, pl.struct(columns).hash(seed=5).alias("hash"))
    own = pl.col("hash")
    parts = [own.bitwise_xor(), (own % 2**32).sum(), pl.len()]
    return each.group_by(key).agg(pl.format("{}-{}-{}", *parts).alias(name))


def _inputs(lists: pl.DataFrame, settings: str) -> pl.Series:
    """Return one hash for list, judgments and settings; hashes of rows are those of this release of Polars."""
    made = f"{__version__} polars {pl.__version__} {settings}"
    both = zip(lists["judged"], lists["listed"].fill_null(""), strict=True)
    return pl.Series("inputs", [sha256(f"{made} {one} {two}".encode()).hexdigest()[:32] for one, two in both])
