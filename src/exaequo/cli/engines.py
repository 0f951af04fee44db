"""Engines of `exaequo eval`: memory, blocks of topics, Spark. In: what is asked for. Out: scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from exaequo.choices import ENGINES, ERRORS
from exaequo.cli import output, progress
from exaequo.cli.files import Decorator, Files, gathers
from exaequo.cli.options import Target
from exaequo.errors import ExaequoError, InputError, UsageError, bad_input
from exaequo.text import count

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

    from exaequo.measures import Measure
    from exaequo.options import Options
    from exaequo.scores import Scores

Engine = dict[str, Any]
#: The measure that tells which lists are empty.
_RETURNED = "NumRet"

MASTER = click.option("--master", metavar="URL", help="Of Spark, as local[4], spark://… or sc://…")
#: Adds the options of engines; the command gets them as `engine`.
engines: Decorator = gathers(
    "engine",
    dict,
    {
        "engine": click.option(
            "--engine",
            type=click.Choice(ENGINES),
            default=ENGINES[0],
            show_default=True,
            help="Where to evaluate: in memory; topic block by topic block, for files larger than memory; on Spark.",
        ),
        "master": MASTER,
        "errors": click.option(
            "--errors",
            type=click.Choice(ERRORS),
            default=ERRORS[0],
            show_default=True,
            help="With these engines, what becomes of bad rows; those dropped are counted.",
        ),
        "append": click.option(
            "--append", metavar="DIR", help="A table of scores there; only lists that are new or changed are evaluated."
        ),
    },
)


def refuse_master(engine: str, master: str | None) -> None:
    """Refuse to name a master of Spark to another engine."""
    if engine != "spark" and master:
        raise UsageError("--master is that of Spark: say --engine spark.")


def refuse(engine: Engine, files: Files) -> None:
    """Refuse options that an engine does not have."""
    refuse_master(engine["engine"], engine["master"])
    if engine["engine"] == "local" and engine["errors"] != ERRORS[0]:
        raise UsageError("--errors is for --engine blocks and spark; --mend does it in memory.")
    if engine["engine"] != "local":
        given = [name for name, there in (("--mend", files.mend), ("--keep-going", files.keep_going)) if there]
        if given:
            raise UsageError(f"{given[0]} is for --engine local.")
    if engine["append"] and engine["engine"] == "blocks":
        raise UsageError("--append is for --engine local and spark.")


def engine_option(where: str) -> Decorator:
    """Add the option of commands that evaluate here, or on Spark; `where` says so."""
    engine = click.option(
        "--engine", type=click.Choice(("local", "spark")), default="local", show_default=True, help=where
    )
    return lambda command: engine(MASTER(command))


def folder_of(engine: Engine, target: Target) -> str | None:
    """Return the folder that Spark writes, if it is to write one."""
    return target.path if engine["engine"] == "spark" and target.format in ("parquet", "csv") else None


class Asked(NamedTuple):
    """What an evaluation was asked for."""

    qrels: str
    runs: Sequence[str]
    measures: Sequence[Measure]
    options: Options
    per_topic: bool
    engine: Engine
    target: Target
    files: Files

    @property
    def digest(self) -> bool:
        """Whether files are to be told by their hashes."""
        return self.target.format == "json"


def evaluated(asked: Asked) -> Scores | None:
    """Evaluate with the engine asked for; None if all is written already."""
    if asked.engine["engine"] == "spark":
        return _on_spark(asked)
    if asked.engine["append"]:
        return _appended(asked)
    if asked.engine["engine"] == "blocks":
        return _in_blocks(asked)
    judgments = asked.files.qrels(asked.qrels, digest=asked.digest)
    return asked.files.scores(judgments, asked.runs, asked.measures, asked.options, digest=asked.digest)


def _in_blocks(asked: Asked) -> Scores:
    """Evaluate files topic block by topic block."""
    from exaequo.engine.blocks import evaluate_blocks
    from exaequo.engine.pieces import Reading

    runs, files, digest = asked.runs, asked.files, asked.digest

    def tell(path: str, done: str) -> None:
        progress.doing(f"evaluating {path}: {done}", runs.index(path), len(runs))

    reading = Reading(files.run_reader, files.columns, asked.engine["errors"], digest)
    how: dict[str, Any] = {"reading": reading, "interval": True, "progress": tell}
    try:
        return evaluate_blocks(files.qrels(asked.qrels, digest=digest), runs, asked.measures, asked.options, **how)
    except InputError as error:  # readers say what mends a file where it is read whole
        there = [replace(each, mend=each.mend.replace("--mend", "--engine local --mend")) for each in error.problems]
        raise type(error)(there, checked=error.checked) from None


@contextmanager
def _frames(asked: Asked) -> Iterator[tuple[SparkSession, DataFrame, DataFrame]]:
    """Give a session of Spark, and runs and judgments as frames; what is wrong is said in our words."""
    from exaequo.spark.files import read_qrels, read_runs
    from exaequo.spark.session import in_our_words, refuse_there, session, watched

    with session(asked.engine["master"]) as own, in_our_words(), watched(own, tell_tasks):
        if folder := folder_of(asked.engine, asked.target):
            refuse_there(own, folder)
        progress.doing("reading")
        lines = read_runs(own, asked.runs, asked.files.run_reader)
        yield own, lines, read_qrels(own, asked.qrels, asked.files.qrels_reader)


def _on_spark(asked: Asked) -> Scores | None:
    """Evaluate on Spark; what goes into a folder is written there, else means come back."""
    import polars as pl

    from exaequo import spark
    from exaequo.measures import parse_measures
    from exaequo.measuring import orders_of
    from exaequo.spark.plan import averages

    engine, options, folder = asked.engine, asked.options, folder_of(asked.engine, asked.target)
    if asked.per_topic and not folder:
        raise UsageError("-q with --engine spark needs -o DIR and --format parquet or csv: topics are written there.")
    with _frames(asked) as (own, lines, judged):
        how = {"columns": asked.files.columns, "errors": engine["errors"], **vars(options)}
        if engine["errors"] == "drop":
            dropped = spark.bad_rows(lines, judged, columns=how["columns"]).groupBy("input", "problem").sum("rows")
            for which, problem, rows in sorted(map(tuple, dropped.collect())):
                output.warn(f"{which}: {count(rows, 'row')} dropped: {problem}")
        if engine["append"]:
            new = spark.append(engine["append"], lines, judged, asked.measures, **how)
            output.aside(f"{engine['append']}: {count(new, 'list')} evaluated and appended")
            scores = spark.table(own, engine["append"])
        else:
            how["ties"] = options.ties if folder else orders_of(options, interval=True)
            more = [] if folder else parse_measures([_RETURNED])
            scores = spark.evaluate(lines, judged, [*asked.measures, *more], **how)
        if folder is None:
            rows = counts = pl.DataFrame(averages(scores).toArrow())
            if options.missing == "skip" and not engine["append"]:  # empty lists are not among them
                whole = spark.evaluate(lines, judged, _RETURNED, **{**how, "ties": options.ties[0], "missing": "zero"})
                counts = pl.DataFrame(averages(whole).toArrow())
            return _means(rows, asked, _missing(counts, options))
        if asked.per_topic:
            # Else what is kept stays in as many tasks as there are partitions of a shuffle, however small.
            own.conf.set("spark.sql.optimizer.canChangeCachedPlanOutputPartitioning", "true")
            scores = scores.persist()
        both = scores.unionByName(spark.means(scores)) if asked.per_topic else spark.means(scores)
        _write(both, asked.target)
        return None


def _write(frame: DataFrame, target: Target) -> None:
    """Write a folder of Parquet or CSV."""
    getattr(frame.write.option("header", "true"), target.format)(target.path)


def lists_on_spark(asked: Asked, cutoffs: Sequence[int]) -> pl.DataFrame | None:
    """Count the ties of each list on Spark, beside its scores under the strategies asked for; None if it is written."""
    import polars as pl
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    from exaequo import spark

    with _frames(asked) as (_, lines, judged):
        options = vars(asked.options)
        how = {"columns": asked.files.columns, **{name: each for name, each in options.items() if name != "missing"}}
        scores = spark.evaluate(lines, judged, asked.measures, **how)
        statistics = {name: each for name, each in how.items() if name not in ("ties", "samples", "depth")}
        names: list[Any] = [f"{measure.name}_{ties}" for measure in asked.measures for ties in asked.options.ties]
        named = scores.withColumn("name", F.concat_ws("_", "measure", "ties")).groupBy("run", "topic")
        wide = named.pivot("name", names).agg(F.first("value"))
        found = spark.ties(lines, judged, cutoffs, **statistics).join(wide, ["run", "topic"], "left")
        if folder_of(asked.engine, asked.target):
            _write(found, asked.target)
            return None
        return pl.DataFrame(found.toArrow()).sort("run", "topic")


def tell_tasks(done: int, every: int) -> None:
    """Tell how many tasks of Spark are done."""
    progress.doing("evaluating on Spark, tasks", done, every)


def _appended(asked: Asked) -> Scores:
    """Evaluate the lists that are new to a table of scores; return the means of all there are."""
    from exaequo.engine.store import append, means

    table, files = asked.engine["append"], asked.files
    if asked.per_topic:
        raise UsageError(f"-q is not for --append: the topics are in the files of {table}.")
    judged = files.qrels(asked.qrels)
    done, there, remarks = append(table, judged, files.runs(asked.runs, judged), asked.measures, asked.options)
    output.aside(f"{table}: {count(done, 'list')} evaluated and appended, {there:,} there before")
    return _means(means(table), asked, remarks)


def _means(rows: pl.DataFrame, asked: Asked, remarks: Sequence[str]) -> Scores:
    from exaequo.remarks import cautions
    from exaequo.scores.means import Means

    every = max(rows["topics"], default=0)
    said = [*remarks, *cautions(asked.measures, every)]
    found = Means.of(rows, asked.measures, asked.options, asked.qrels, said)
    if not found.runs:
        raise ExaequoError("There are no scores: the runs have no rows, or no judgment is relevant.")
    return found


def _missing(rows: pl.DataFrame, options: Options) -> list[str]:
    """Say how many topics runs lack, if it is known how many documents each list has; refuse a run that lacks all."""
    remarks = []
    known = rows.filter(measure=_RETURNED, ties=options.ties[0]).sort("run").select("run", "topics", "zeros")
    for run, topics, zeros in known.iter_rows():
        if zeros == topics:
            mend = "Check that the runs and the qrels are of the same collection."
            raise bad_input(f"run {run!r}", "none of its topics is judged", "topics of the qrels", mend)
        if zeros:
            done = "left out" if options.missing == "skip" else "scored as empty lists"
            remarks.append(f"run {run!r}: {zeros:,} of {topics:,} evaluated topics missing; {done}")
    return remarks
