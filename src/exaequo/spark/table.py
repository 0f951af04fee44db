"""A table of scores that grows, on any file system of Spark. In: frames. Out: scores of new or changed lists, in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4

from exaequo.errors import ExaequoError, bad_input
from exaequo.options import Options
from exaequo.spark.asking import Request, Scored
from exaequo.spark.plan import diverse, judgments_of, lines_of, scored, sound, together, wrong
from exaequo.spark.session import literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from exaequo.measures import Measure


def append(
    table: str,
    runs: DataFrame,
    qrels: DataFrame,
    measures: Iterable[str | Measure] | str | Measure,
    ties: str | Sequence[str] = "realistic",
    **options: Unpack[Scored],
) -> int:
    """Evaluate the lists that a table of scores lacks, or has with other inputs, and append them; return how many.

    The table is a folder of Parquet files on any file system of Spark; `table` reads it. Lists are told apart by hashes
    of their rows, of the judgments of their topics, and of the settings; one with other settings is refused. Options
    are those of `evaluate`.
    """
    from exaequo.engine.store import refuse_other, settings_of

    request = Request.of("append", options, Scored.__annotations__, measures=measures, ties=ties)
    settings = settings_of(request.measures, request.options)
    if Path(table).is_file():
        raise bad_input(table, "a file", "a folder, of a table of scores or none yet", "Name another one.")
    spark = runs.sparkSession
    lines, judged = lines_of(runs, request.columns, request.options.ties), judgments_of(qrels, request.columns)
    lines, judged = sound(lines, "sim", request.errors), sound(judged, "rel", request.errors)
    lists = _hashed(lines, diverse(judged), settings, request.options)
    old = _read(spark, table)
    if old is not None:
        refuse_other(table, [row[0] for row in old.select("settings").distinct().collect()], settings)
        known = _last(old).selectExpr("run", "topic as qid", "inputs").distinct()
        lists = lists.join(known, ["run", "qid", "inputs"], "left_anti")
    lists = lists.persist()
    try:
        number = lists.count()
        found = scored(together(runs, qrels, request, lists=lists.select("run", "qid")), request)
        if number:
            _write(table, found, lists, settings)
        elif not (_sound(lines, "sim") and _sound(judged, "rel")):
            found.count()  # raises an error that names the row
    finally:
        lists.unpersist()
    return number


def _sound(rows: DataFrame, number: str) -> bool:
    """Tell whether nothing is wrong with any row by itself."""
    return rows.filter(wrong(number, rows.columns).isNotNull()).isEmpty()


def _write(table: str, found: DataFrame, lists: DataFrame, settings: str) -> None:
    """Write scores with what they were made of."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    from exaequo.engine.store import APPENDED, MORE, now
    from exaequo.scores import COLUMNS

    hashes = lists.withColumnRenamed("qid", "topic")
    rows = found.join(hashes, ["run", "topic"]).withColumns({"settings": F.lit(settings), "written": F.lit(now())})
    # A folder of its own: jobs that write into one at a time lose rows of each other.
    rows.select(*COLUMNS, *MORE).write.parquet(f"{table.rstrip('/')}/{APPENDED}{uuid4()}")


def table(spark: Any, path: str) -> DataFrame:
    """Return the scores of a table that `append` makes, here or in memory: of each list the last ones."""
    rows = _read(spark, path)
    if rows is None:
        raise ExaequoError(f"{path}: there is no table of scores.")
    return _last(rows).select("run", "ties", "topic", "measure", "value")


def _last(rows: DataFrame) -> DataFrame:
    """Return the scores of each list that were written last."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    last = rows.groupBy("run", "topic").agg(F.max("written").alias("written"))
    return rows.join(last, ["run", "topic", "written"])


def _parts(spark: Any, table: str) -> DataFrame:
    """Return all rows of a table; other files in its folder are none of it."""
    from exaequo.engine.store import MORE
    from exaequo.scores import COLUMNS

    files = spark.read.option("recursiveFileLookup", "true").option("pathGlobFilter", "*.parquet")
    rows: DataFrame = files.parquet(literal(table))
    lacking = {*COLUMNS, *MORE} - {*rows.columns}
    if lacking:
        raise ExaequoError(f"{table}: no table of scores (it has no column {min(lacking)}).")
    return rows


def _read(spark: Any, table: str) -> DataFrame | None:
    """Return all rows of a table; None if it is not there, or empty."""
    from pyspark.errors import AnalysisException

    try:
        return _parts(spark, table)
    except AnalysisException:
        return None


def _hashed(lines: DataFrame, judged: DataFrame, settings: str, options: Options) -> DataFrame:
    """Return run, qid and inputs of each list of an evaluated topic, also of those that are empty unless skipped."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    from exaequo import __version__

    def hashes(frame: DataFrame, key: Sequence[str], name: str) -> DataFrame:
        own = F.xxhash64(*(each for each in sorted(frame.columns) if each not in key))
        parts = F.bit_xor(own), F.sum(own.bitwiseAND(F.lit(2**32 - 1))), F.count("*")
        return frame.groupBy(*key).agg(F.concat_ws("-", *(part.cast("string") for part in parts)).alias(name))

    grade = F.when(F.col("rel") <= options.max_grade, F.col("rel"))
    relevant = grade > 0 if options.rel_level is None else grade >= options.rel_level
    evaluated = judged.filter(relevant).select("qid").distinct()
    topics = hashes(judged, ["qid"], "judged").join(evaluated, "qid", "left_semi")
    lists = hashes(lines, ["run", "qid"], "listed")
    if options.missing != "skip":
        pairs = topics.crossJoin(F.broadcast(lines.select("run").distinct()))
        both = pairs.join(lists, ["run", "qid"], "left")
    else:
        both = lists.join(topics, "qid")
    made = F.lit(f"{__version__} spark {settings}")
    inputs = F.sha2(F.concat_ws(" ", made, "judged", F.coalesce("listed", F.lit(""))), 256).substr(1, 32)
    return both.select("run", "qid", inputs.alias("inputs"))
