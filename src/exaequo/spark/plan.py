"""The plan: frames of runs and judgments in, one frame out, whole topics in one partition, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from exaequo.errors import BadParameter, bad_input
from exaequo.spark.asking import SCORES, Request
from exaequo.spark.work import JUDGMENT, LINE, LIST, LISTS, mapped, means, scores
from exaequo.text import did_you_mean, listed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from exaequo.measures import Measure

#: What a frame of runs calls the name of the run.
RUNS = ("run", "run_id", "runid", "system", "tag")
#: How Spark calls columns of text, and of whole numbers; which hold numbers, as text may.
_TEXT, _WHOLE = ("string", "varchar", "char"), ("byte", "short", "integer", "long")
_NUMBERS = (*_TEXT, *_WHOLE, "float", "double", "decimal", "boolean", "void")


def _usual() -> dict[str, tuple[str, ...]]:
    """Return what our columns are called by others."""
    from exaequo.read.tables import ALIASES

    return {**ALIASES, "run": RUNS, "line": ("line",), "stratum": ("stratum",), "prob": ("prob",)}


def _given(columns: Mapping[str, str] | None) -> dict[str, str]:
    """Return what the caller calls columns of ours; that of runs may be `run_id`, as in files."""
    known = _usual()
    for ours in columns or ():
        if ours not in known:
            hint = did_you_mean(ours, known) or "."
            raise BadParameter(f"columns names {', '.join(known)}. Got {ours!r} instead{hint}")
    return {"run" if ours == "run_id" else ours: theirs for ours, theirs in (columns or {}).items()}


def _found(frame: DataFrame, ours: str, what: str, given: Mapping[str, str], *, needed: bool = True) -> str | None:
    """Return what a frame calls a column of ours, in small letters or in large ones, which are the same to Spark."""
    usual = _usual()[ours]
    known = (given[ours], *(usual if ours in ("qid", "docno") else ())) if ours in given else usual
    there = {each.lower(): each for each in frame.columns} | {each: each for each in frame.columns}
    name = next((there[form] for each in known for form in (each, each.lower()) if form in there), None)
    if name is None and (needed or ours in given):
        mend = f"Rename the column, or name it: columns={{{ours!r}: ...}}."
        raise bad_input(what, f"no column {ours}, only {listed(frame.columns, 12)}", f"one of {', '.join(known)}", mend)
    return name


def number(text: Column) -> Column:
    """Return text as a double, null if it is none; 1f, 1d and 0x1p3 are numbers to Java alone."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return F.when(~text.rlike(r"[xX]|[0-9.][dDfF]\s*$"), text.try_cast("double"))


def _as(frame: DataFrame, name: str, ours: str, what: str) -> Column:
    """Return a column under our name, as text or as a number."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    kind = frame.schema[name].dataType.typeName()
    column = F.col(f"`{name.replace('`', '``')}`")
    known: tuple[str, ...] = _NUMBERS
    expected, mend = "numbers", "Convert the column to numbers."
    if ours in ("qid", "docno"):
        known, expected, mend = (*_TEXT, *_WHOLE), "text or whole numbers", "Convert the column to strings."
    elif ours in ("run", "iter", "stratum"):
        expected, mend = "text or numbers", "Convert the column to strings."
    if kind not in known:
        raise bad_input(what, f"column {name} holds {kind} values", expected, mend)
    if ours in ("sim", "rel", "prob") or (ours == "line" and kind not in _WHOLE):
        value = number(column) if kind in _TEXT else column.try_cast("double")
    else:
        value = column.cast("bigint" if ours == "line" else "string")
    return value.alias(ours)


def _check(frame: DataFrame, what: str) -> None:
    """Refuse what is no frame of Spark, or has no end."""
    if not hasattr(frame, "sparkSession"):
        raise bad_input(what, f"a {type(frame).__name__}", "a frame of Spark", "Make one: spark.createDataFrame(...).")
    if frame.isStreaming:
        raise bad_input(what, "a stream, which has no end", "a frame", "Write it to a table, and read that.")


def lines_of(runs: DataFrame, columns: Mapping[str, str] | None, ties: Sequence[str] = ()) -> DataFrame:
    """Return run, qid, docno, sim, and rank and line if a strategy needs them."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    _check(runs, "runs")
    given = _given(columns)
    names = {each: _found(runs, each, "runs", given) for each in ("qid", "docno", "sim")}
    for strategy, column in (("rank", "rank"), ("input", "line")):
        if strategy in ties:
            names[column] = _found(runs, column, "runs", given, needed=False)
            if names[column] is None:
                mend = "Add the column, or choose other ties: rows of Spark have no order."
                raise bad_input("runs", f"no column {column}", f"one, for ties={strategy!r}", mend)
    run = _found(runs, "run", "runs", given, needed=False)
    label = F.lit("run") if run is None else F.coalesce(_as(runs, run, "run", "runs"), F.lit(""))
    return runs.select(label.alias("run"), *(_as(runs, name, ours, "runs") for ours, name in names.items() if name))


def judgments_of(qrels: DataFrame, columns: Mapping[str, str] | None) -> DataFrame:
    """Return qid, docno, rel, and iter, stratum and prob if they are there."""
    _check(qrels, "qrels")
    given = _given(columns)
    names = {each: _found(qrels, each, "qrels", given) for each in ("qid", "docno", "rel")}
    names |= {each: _found(qrels, each, "qrels", given, needed=False) for each in ("iter", "stratum", "prob")}
    return qrels.select(*(_as(qrels, name, ours, "qrels") for ours, name in names.items() if name))


def diverse(judged: DataFrame) -> DataFrame:
    """Return judgments that know whether there are subtopics: unless all of them are of one."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    if "iter" not in judged.columns:
        return judged
    name = F.coalesce("iter", F.lit(""))
    return judged.crossJoin(F.broadcast(judged.agg((F.min(name) < F.max(name)).alias("diverse"))))


def wrong(number: str, columns: Sequence[str]) -> Column:
    """Return what is wrong with a row by itself, null if nothing is."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    value = F.col(number)
    found = F.when(F.expr("coalesce(qid, '') = '' or coalesce(docno, '') = ''"), "no id")
    found = found.when(value.isNull(), f"no {number}")
    found = found.when(F.isnan(value) | (F.abs(value) == float("inf")), f"{number} is not finite")
    if number == "rel" and "prob" in columns:
        found = found.when(~F.col("prob").between(0, 1), "prob is no chance from 0 to 1")
    return found


def sound(rows: DataFrame, number: str, errors: str) -> DataFrame:
    """Return the rows, without those that are wrong by themselves if they are to be dropped."""
    return rows.filter(wrong(number, rows.columns).isNull()) if errors == "drop" else rows


def _of(rows: DataFrame, number: str, known: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return the rows with a known key, and those that are bad whatever their key is."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    both = rows.join(known.withColumn("known", F.lit(True)), list(key), "left")
    return both.filter(F.col("known") | wrong(number, rows.columns).isNotNull()).drop("known")


def together(
    runs: DataFrame,
    qrels: DataFrame,
    request: Request,
    names: Sequence[str] | None = None,
    lists: DataFrame | None = None,
) -> DataFrame:
    """Return judgments, names of lists and lines in one frame, whole topics in one partition, one after the other.

    If `lists` are given, those alone.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    options, salts = request.options, request.salts
    lines, judged = lines_of(runs, request.columns, options.ties), judgments_of(qrels, request.columns)
    lines, judged = sound(lines, "sim", request.errors), diverse(judged)  # what is dropped makes no list
    salt = F.pmod(F.xxhash64("run"), F.lit(salts)).cast("int").alias("salt")
    one = _named(lines, names, salts)
    if names:
        lines = lines.filter(F.col("run").isin([*names]))
    if lists is not None:
        lines = _of(lines, "sim", lists, ["run", "qid"])
        judged = _of(judged, "rel", lists.select("qid").distinct(), ["qid"])
    topics = judged.select("qid").distinct()
    if _is_small(judged):  # then sound rows of topics that nobody judged need not travel
        lines = _of(lines, "sim", F.broadcast(topics), ["qid"])
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


def scored(frame: DataFrame, request: Request) -> DataFrame:
    """Return the scores of what was put together."""
    return frame.mapInArrow(partial(mapped, partial(scores, request), LISTS), SCORES)


def averages(scores: DataFrame, measures: Sequence[Measure] = ()) -> DataFrame:
    """Return aggregates, of how many topics, and how many are 0; `measures` are those that workers do not know."""
    kinds = {each.name: each.aggregate for each in measures}
    key = ("run", "ties", "measure")
    frame = scores.repartition(*key).sortWithinPartitions(*key)
    return frame.mapInArrow(partial(mapped, partial(means, kinds), key), f"{SCORES}, topics bigint, zeros bigint")


def _named(lines: DataFrame, names: Sequence[str] | None, salts: int) -> DataFrame:
    """Return one row: the names of the runs, and the salts that they have; without names, all salts there may be."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    if names is None:
        one = lines.agg(F.collect_set("run").alias("names"))
    else:
        one = lines.sparkSession.createDataFrame([([*names],)], "names array<string>")
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
