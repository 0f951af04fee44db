"""The plan: frames of runs and judgments in, one frame out, whole topics in one partition, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from exaequo.errors import BadParameter, bad_input
from exaequo.options import Options
from exaequo.spark.work import JUDGMENT, LINE, LIST
from exaequo.text import listed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Runs are spread over so many tasks for each topic, at most: judgments are copied as often.
SALTS = 16
#: What a frame of runs calls the name of the run.
_RUN = ("run", "run_id", "runid", "system", "tag")


def _found(frame: DataFrame, ours: str, what: str, given: Mapping[str, str], *, needed: bool = True) -> str | None:
    """Return what a frame calls a column of ours."""
    from exaequo.read.tables import ALIASES

    usual = {**ALIASES, "run": _RUN, "line": ("line",), "stratum": ("stratum",), "prob": ("prob",)}[ours]
    known = (given[ours], *(usual if ours in ("qid", "docno") else ())) if ours in given else usual
    name = next((each for each in known if each in frame.columns), None)
    if name is None and (needed or (ours in given and ours != "run")):
        mend = f"Rename the column, or name it: columns={{{ours!r}: ...}}."
        raise bad_input(what, f"no column {ours}, only {listed(frame.columns, 12)}", f"one of {', '.join(known)}", mend)
    return name


def _as(frame: DataFrame, name: str, ours: str, what: str) -> Column:
    """Return a column under our name, as text if it is an id, else as a number."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    kind = frame.schema[name].dataType.typeName()
    column = F.col(f"`{name.replace('`', '``')}`")
    if ours in ("sim", "rel", "prob"):
        return column.try_cast("double").alias(ours)
    if ours in ("qid", "docno") and kind not in ("string", "varchar", "char", "byte", "short", "integer", "long"):
        found = f"column {name} holds {kind} values"
        raise bad_input(what, found, "text or whole numbers", "Convert the column to strings.")
    return column.cast("bigint" if ours == "line" else "string").alias(ours)


def lines_of(runs: DataFrame, columns: Mapping[str, str] | None) -> DataFrame:
    """Return run, qid, docno, sim, and rank and line if they are there."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    given = dict(columns or {})
    names = {each: _found(runs, each, "runs", given) for each in ("qid", "docno", "sim")}
    names |= {each: _found(runs, each, "runs", given, needed=False) for each in ("rank", "line")}
    run = _found(runs, "run", "runs", given, needed=False)
    label = (
        F.lit("run").alias("run") if run is None else F.coalesce(_as(runs, run, "run", "runs"), F.lit("")).alias("run")
    )
    return runs.select(label, *(_as(runs, name, ours, "runs") for ours, name in names.items() if name))


def judgments_of(qrels: DataFrame, columns: Mapping[str, str] | None) -> DataFrame:
    """Return qid, docno, rel, and iter, stratum and prob if they are there."""
    given = dict(columns or {})
    names = {each: _found(qrels, each, "qrels", given) for each in ("qid", "docno", "rel")}
    names |= {each: _found(qrels, each, "qrels", given, needed=False) for each in ("iter", "stratum", "prob")}
    return qrels.select(*(_as(qrels, name, ours, "qrels") for ours, name in names.items() if name))


def together(
    runs: DataFrame,
    qrels: DataFrame,
    options: Options,
    columns: Mapping[str, str] | None,
    names: Sequence[str] | None,
    salts: int,
    lists: DataFrame | None = None,
) -> DataFrame:
    """Return judgments, names of lists and lines in one frame, whole topics in one partition, one after the other.

    If `lists` are given, those alone.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    if isinstance(salts, bool) or not isinstance(salts, int) or salts < 1:
        raise BadParameter(f"salts must be a whole number ≥ 1. Got {salts!r} instead.")
    lines, judged = lines_of(runs, columns), judgments_of(qrels, columns)
    for strategy, column in (("rank", "rank"), ("input", "line")):
        if strategy in options.ties and column not in lines.columns:
            mend = "Add the column, or choose other ties: rows of Spark have no order."
            raise bad_input("runs", f"no column {column}", f"one, for ties={strategy!r}", mend)
    if "iter" in judged.columns:  # subtopics, unless all judgments are of one
        diverse = judged.agg(
            (F.min(F.coalesce("iter", F.lit(""))) < F.max(F.coalesce("iter", F.lit("")))).alias("diverse")
        )
        judged = judged.crossJoin(F.broadcast(diverse))
    salt = F.pmod(F.xxhash64("run"), F.lit(salts)).cast("int").alias("salt")
    one = _named(lines, names, salts)
    if names:
        lines = lines.filter(F.col("run").isin(list(map(str, names))))
    if lists is not None:
        lines, judged = lines.join(lists, ["run", "qid"], "left_semi"), judged.join(lists, "qid", "left_semi")
    topics = judged.select("qid").distinct()
    if _is_small(judged):  # then rows of topics that nobody judged need not travel; those without an id are bad
        known = F.broadcast(topics.withColumn("known", F.lit(True)))
        lines = lines.join(known, "qid", "left").filter("known or coalesce(qid, '') = ''").drop("known")
    spread = lines.withColumnRenamed("sim", "value").select("*", salt, F.lit(LINE).alias("kind"))
    copied = judged.withColumnRenamed("rel", "value").withColumn("kind", F.lit(JUDGMENT))
    copied = copied.crossJoin(F.broadcast(one.select("salts"))).withColumn("salt", F.explode("salts")).drop("salts")
    parts = [copied, spread]
    if options.missing != "skip":
        pairs = topics.filter("qid is not null").crossJoin(F.broadcast(one.select("names")))
        pairs = pairs.select("qid", F.explode("names").alias("run")) if lists is None else lists
        parts.append(pairs.select("qid", "run", salt, F.lit(LIST).alias("kind")))
    whole = reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), parts)
    return whole.repartition("qid", "salt").sortWithinPartitions("qid", "salt")


def _named(lines: DataFrame, names: Sequence[str] | None, salts: int) -> DataFrame:
    """Return one row: the names of the runs, and the salts that they have; without names, all salts there may be."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    if names is None:
        one = lines.agg(F.collect_set("run").alias("names"))
    else:
        one = lines.sparkSession.createDataFrame([([*map(str, names)],)], "names array<string>")
    if names is not None and not names:
        return one.withColumn("salts", F.sequence(F.lit(0), F.lit(salts - 1)))
    own = F.transform("names", lambda name: F.pmod(F.xxhash64(name), F.lit(salts)).cast("int"))
    return one.withColumn("salts", F.array_distinct(own))


def _is_small(frame: DataFrame) -> bool:
    """Tell whether Spark would send all of a frame to every worker; unknown to Spark Connect, which says no."""
    if not hasattr(frame, "_jdf"):
        return False
    size = frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()
    limit = frame.sparkSession._jsparkSession.sessionState().conf().autoBroadcastJoinThreshold()
    return bool(int(str(size)) <= int(limit))
