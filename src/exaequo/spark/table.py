"""A table of scores that grows, on any file system of Spark. In: frames. Out: scores of new or changed lists, in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from exaequo.choices import ORDERS_SAMPLED
from exaequo.options import Options, Scoring, keywords
from exaequo.spark.asking import SCORES, sent
from exaequo.spark.plan import SALTS, judgments_of, lines_of, together
from exaequo.spark.work import mapped, scores

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from exaequo.measures import Measure


def append(
    table: str,
    runs: DataFrame,
    qrels: DataFrame,
    measures: Iterable[str | Measure] | str | Measure,
    ties: str | Sequence[str] = "realistic",
    *,
    samples: int = ORDERS_SAMPLED,
    columns: Mapping[str, str] | None = None,
    errors: str = "raise",
    salts: int = SALTS,
    **options: Unpack[Scoring],
) -> int:
    """Evaluate the lists that a table of scores lacks, or has with other inputs, and append them; return how many.

    The table is a folder of Parquet files on any file system of Spark; `table` reads it. Lists are told apart by hashes
    of their rows, of the judgments of their topics, and of the settings; one with other settings is refused.
    """
    from exaequo.engine.store import now, refuse_other, settings_of

    _, given = keywords("append", options, Scoring.__annotations__)
    chosen = Options.of(ties, samples=samples, **given)
    settings = settings_of(sent(measures), chosen)
    spark = runs.sparkSession
    lists = _hashed(lines_of(runs, columns), judgments_of(qrels, columns), settings, chosen)
    if _is_there(spark, table):
        old = spark.read.parquet(table)
        refuse_other(table, [row[0] for row in old.select("settings").distinct().collect()], settings)
        known = _last(old).selectExpr("run", "topic as qid", "inputs").distinct()
        lists = lists.join(known, ["run", "qid", "inputs"], "left_anti")
    lists = lists.persist()
    try:
        number = lists.count()
        if number:
            _append(table, lists, runs, qrels, sent(measures), chosen, columns, errors, salts, settings, now())
    finally:
        lists.unpersist()
    return number


def _append(
    table: str,
    lists: DataFrame,
    runs: DataFrame,
    qrels: DataFrame,
    measures: Sequence[str | Measure],
    options: Options,
    columns: Mapping[str, str] | None,
    errors: str,
    salts: int,
    settings: str,
    written: int,
) -> None:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    frame = together(runs, qrels, options, columns, None, salts, lists=lists.select("run", "qid"))
    found = frame.mapInArrow(partial(mapped, partial(scores, measures, options, errors)), SCORES)
    hashes = lists.withColumnRenamed("qid", "topic")
    rows = found.join(hashes, ["run", "topic"]).withColumns({"settings": F.lit(settings), "written": F.lit(written)})
    order = "run ties topic measure value inputs settings written".split()
    rows.select(*order).write.mode("append").parquet(table)


def table(spark: Any, path: str) -> DataFrame:
    """Return the scores of a table that `append` makes, here or in memory: of each list the last ones."""
    return _last(spark.read.parquet(path)).select("run", "ties", "topic", "measure", "value")


def _last(rows: DataFrame) -> DataFrame:
    """Return the scores of each list that were written last."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    last = rows.groupBy("run", "topic").agg(F.max("written").alias("written"))
    return rows.join(last, ["run", "topic", "written"])


def _is_there(spark: Any, table: str) -> bool:
    """Tell whether a table is there, and not empty."""
    from pyspark.errors import AnalysisException

    try:
        return bool(spark.read.parquet(table).columns)
    except AnalysisException:
        return False


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
