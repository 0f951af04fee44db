"""Spark: the same measures, ties and statistics where the data are. In: frames of Spark. Out: lazy frames of Spark.

Judgments, lines and the names of lists go into one frame, by topic; each task gets whole topics, one after the other,
and evaluates them in blocks with the kernel of the other engines. Nothing is collected on the driver.
docs/spark.md draws the plan.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Unpack

from exaequo.choices import ERRORS, ORDERS_SAMPLED
from exaequo.errors import BadParameter, ExaequoError, bad_input
from exaequo.options import Evaluation, Options, check_choice, keywords
from exaequo.text import listed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from exaequo.measures import Measure

__all__ = ["append", "bad_rows", "evaluate", "means", "table", "ties"]

#: Runs are spread over so many tasks for each topic, at most: judgments are copied as often.
SALTS = 16
_SCORES = "run string, ties string, topic string, measure string, value double"
#: What rows of the one frame are.
_JUDGMENT, _LIST, _LINE = 0, 1, 2
#: What a frame of runs calls the name of the run.
_RUN = ("run", "run_id", "runid", "system", "tag")
Measures = "Iterable[str | Measure] | str | Measure"


def evaluate(
    runs: DataFrame,
    qrels: DataFrame,
    measures: Iterable[str | Measure] | str | Measure,
    ties: str | Sequence[str] = "realistic",
    *,
    samples: int = ORDERS_SAMPLED,
    columns: Mapping[str, str] | None = None,
    errors: str = "raise",
    names: Sequence[str] | None = None,
    salts: int = SALTS,
    **options: Unpack[Evaluation],
) -> DataFrame:
    """Evaluate all runs of a frame; return a lazy frame: run, ties, topic, measure, value.

    Values are those of `exaequo.evaluate`, to the last bit.

    Args:
        runs: `run, qid, docno, sim`, any number of runs; `rank` for the strategy of that name, `line`, the place of
            a row in its list, for `"input"`. Other usual names of columns are known; without `run`, all is one run.
        qrels: `qid, docno, rel`; `iter` (subtopics), `stratum` and `prob` (samples) for the measures that need them.
        measures: as for `exaequo.evaluate`; one that you defined goes to the workers with the function.
        ties: one strategy or several, or `"expected"`; `"all"` is realistic, conventional and optimistic.
        samples: orders of ties to sample where an expected value has no closed form and there are too many orders.
        columns: the names of `run`, `qid`, `docno`, `sim`, `rel` in the frames, where they are not the usual ones.
        errors: rows without id or finite number, and documents that are there again, `"raise"` an error that names
            run and topic, or are left out (`"drop"`; the best score is kept). `bad_rows` lists them.
        names: the names of the runs to evaluate, if not all are, or if they are known: that saves a look at all rows.
        salts: runs of a topic are spread over so many tasks; judgments are copied at most as often.
        options: `rel_level`, `max_grade`, `depth`, `missing`, `precision`, `seed`, as for `exaequo.evaluate`.
    """
    chosen = Options.of(ties, samples=samples, **keywords("evaluate", options))
    asked = _sent(measures)
    _check(errors)
    frame = _together(runs, qrels, chosen, columns, names, salts)
    return frame.mapInArrow(partial(_mapped, partial(_scores, asked, chosen, errors)), _SCORES)


def means(scores: DataFrame) -> DataFrame:
    """Return the aggregates of scores as a lazy frame of the same columns, under the topic `all`.

    The values of one run, strategy and measure come together in one task, in the order of topics: the mean is that of
    `Scores.means`, to the last bit.
    """
    return scores.groupBy("run", "ties", "measure").applyInArrow(_mean, _SCORES)


def ties(
    runs: DataFrame,
    qrels: DataFrame,
    cutoffs: Sequence[int] = (),
    *,
    columns: Mapping[str, str] | None = None,
    errors: str = "raise",
    salts: int = SALTS,
    **options: Unpack[Evaluation],
) -> DataFrame:
    """Count the ties of every list of an evaluated topic; return a lazy frame, a row per list.

    `documents`, how many are `tied`, in percent too, different `scores`, documents `per_score`, the `largest_tie`,
    whether all are tied, in one tie, or none, how many more are tied in single precision, how many `stuffed`, and
    whether a tie lies across each of the `cutoffs`. Parameters are those of `evaluate`.
    """
    chosen = Options.of(**{**keywords("ties", options), "missing": "skip"})
    _check(errors)
    frame = _together(runs, qrels, chosen, columns, (), salts)
    counts = "documents tied scores largest_tie only_in_single stuffed".split()
    order = "documents tied tied_percent scores per_score largest_tie all_tied one_tie no_tie only_in_single stuffed"
    kinds = {name: "bigint" if name in counts else "boolean" for name in order.split()}
    kinds |= {"tied_percent": "double", "per_score": "double", **{f"tie_across_{k}": "boolean" for k in cutoffs}}
    schema = ", ".join(["run string", "topic string", *(f"{name} {kind}" for name, kind in kinds.items())])
    return frame.mapInArrow(partial(_mapped, partial(_ties, chosen, errors, tuple(cutoffs))), schema)


def bad_rows(runs: DataFrame, qrels: DataFrame, *, columns: Mapping[str, str] | None = None) -> DataFrame:
    """Return the rows that `errors="drop"` leaves out as a lazy frame: input, run, topic, docno, problem, rows."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    parts = []
    for name, frame, number in (
        ("runs", _lines(runs, columns), "sim"),
        ("qrels", _judgments(qrels, columns).withColumn("run", F.lit(None).cast("string")), "rel"),
    ):
        once = ["run", "qid", "docno", *(["iter"] if "iter" in frame.columns else [])]
        value = F.col(number)
        no_id = F.expr("coalesce(qid, '') = '' or coalesce(docno, '') = ''")
        infinite = F.isnan(value) | (F.abs(value) == float("inf"))
        problem = F.when(no_id, "no id").when(value.isNull(), f"no {number}").when(infinite, f"{number} is not finite")
        marked = frame.withColumn("problem", problem)
        wrong = marked.filter("problem is not null").groupBy("run", "qid", "docno", "problem").count()
        again = marked.filter("problem is null").groupBy(*once).count().filter("count > 1")
        again = again.select(
            "run", "qid", "docno", F.lit("there again").alias("problem"), (F.col("count") - 1).alias("count")
        )
        parts.append(wrong.unionByName(again).withColumn("input", F.lit(name)))
    both = parts[0].unionByName(parts[1])
    return both.selectExpr("input", "run", "qid as topic", "docno", "problem", "count as rows")


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
    **options: Unpack[Evaluation],
) -> int:
    """Evaluate the lists that a table of scores lacks, or has with other inputs, and append them; return how many.

    The table is a folder of Parquet files on any file system of Spark; `table` reads it. Lists are told apart by hashes
    of their rows, of the judgments of their topics, and of the settings; one with other settings is refused.
    """
    from exaequo.engine.store import now, refuse_other, settings_of

    chosen = Options.of(ties, samples=samples, **keywords("append", options))
    settings = settings_of(_sent(measures), chosen)
    spark = runs.sparkSession
    lists = _hashed(_lines(runs, columns), _judgments(qrels, columns), settings, every=chosen.missing != "skip")
    if _is_there(spark, table):
        old = spark.read.parquet(table)
        refuse_other(table, [row[0] for row in old.select("settings").distinct().collect()], settings)
        known = old.selectExpr("run", "topic as qid", "inputs").distinct()
        lists = lists.join(known, ["run", "qid", "inputs"], "left_anti")
    lists = lists.persist()
    try:
        number = lists.count()
        if number:
            _append(table, lists, runs, qrels, _sent(measures), chosen, columns, errors, salts, settings, now())
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

    frame = _together(runs, qrels, options, columns, None, salts, lists=lists.select("run", "qid"))
    scores = frame.mapInArrow(partial(_mapped, partial(_scores, measures, options, errors)), _SCORES)
    hashes = lists.withColumnRenamed("qid", "topic")
    rows = scores.join(hashes, ["run", "topic"]).withColumns({"settings": F.lit(settings), "written": F.lit(written)})
    order = "run ties topic measure value inputs settings written".split()
    rows.select(*order).write.mode("append").parquet(table)


def table(spark: Any, path: str) -> DataFrame:
    """Return the scores of a table that `append` makes, here or in memory: of each list the last ones."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    rows = spark.read.parquet(path)
    last = rows.groupBy("run", "topic").agg(F.max("written").alias("written"))
    scores: DataFrame = rows.join(last, ["run", "topic", "written"]).select("run", "ties", "topic", "measure", "value")
    return scores


def _is_there(spark: Any, table: str) -> bool:
    """Tell whether a table is there, and not empty."""
    from pyspark.errors import AnalysisException

    try:
        return bool(spark.read.parquet(table).columns)
    except AnalysisException:
        return False


def _hashed(lines: DataFrame, judged: DataFrame, settings: str, *, every: bool) -> DataFrame:
    """Return run, qid and inputs of each list of a judged topic, also of those that are empty if `every` one counts."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    from exaequo import __version__

    def hashes(frame: DataFrame, key: Sequence[str], name: str) -> DataFrame:
        own = F.xxhash64(*(each for each in sorted(frame.columns) if each not in key))
        parts = F.bit_xor(own), F.sum(own.bitwiseAND(F.lit(2**32 - 1))), F.count("*")
        return frame.groupBy(*key).agg(F.concat_ws("-", *(part.cast("string") for part in parts)).alias(name))

    topics, lists = hashes(judged, ["qid"], "judged"), hashes(lines, ["run", "qid"], "listed")
    if every:
        pairs = topics.crossJoin(F.broadcast(lines.select("run").distinct()))
        both = pairs.join(lists, ["run", "qid"], "left")
    else:
        both = lists.join(topics, "qid")
    made = F.lit(f"{__version__} spark {settings}")
    inputs = F.sha2(F.concat_ws(" ", made, "judged", F.coalesce("listed", F.lit(""))), 256).substr(1, 32)
    return both.select("run", "qid", inputs.alias("inputs"))


# ------------------------------------------------------------------------------------------------------- the frames


def _check(errors: str) -> None:
    check_choice("errors", errors, ERRORS)
    try:
        import pyspark
    except ImportError:
        raise ExaequoError("exaequo.spark needs Spark 4: pip install 'exaequo[spark]'") from None
    if int(pyspark.__version__.partition(".")[0]) < 4:
        raise ExaequoError(f"exaequo.spark needs Spark 4 or later. This is {pyspark.__version__}.")


def _sent(measures: Any) -> list[str | Measure]:
    """Return what goes to the workers: names, which are read there, and measures that are not ours as they are."""
    from exaequo.measures import parse_measures

    return [each.name if each.definition.ours else each for each in parse_measures(measures)]


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


def _lines(runs: DataFrame, columns: Mapping[str, str] | None) -> DataFrame:
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


def _judgments(qrels: DataFrame, columns: Mapping[str, str] | None) -> DataFrame:
    """Return qid, docno, rel, and iter, stratum and prob if they are there."""
    given = dict(columns or {})
    names = {each: _found(qrels, each, "qrels", given) for each in ("qid", "docno", "rel")}
    names |= {each: _found(qrels, each, "qrels", given, needed=False) for each in ("iter", "stratum", "prob")}
    return qrels.select(*(_as(qrels, name, ours, "qrels") for ours, name in names.items() if name))


def _together(
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
    lines, judged = _lines(runs, columns), _judgments(qrels, columns)
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
    spread = lines.withColumnRenamed("sim", "value").select("*", salt, F.lit(_LINE).alias("kind"))
    copied = judged.withColumnRenamed("rel", "value").withColumn("kind", F.lit(_JUDGMENT))
    copied = copied.crossJoin(F.broadcast(one.select("salts"))).withColumn("salt", F.explode("salts")).drop("salts")
    parts = [copied, spread]
    if options.missing != "skip":
        pairs = topics.filter("qid is not null").crossJoin(F.broadcast(one.select("names")))
        pairs = pairs.select("qid", F.explode("names").alias("run")) if lists is None else lists
        parts.append(pairs.select("qid", "run", salt, F.lit(_LIST).alias("kind")))
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


# ----------------------------------------------------------------------------------------------------- on the workers


def _mapped(work: Callable[..., Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Evaluate the rows of a partition, block by block. In and out: record batches of Arrow."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # as many tasks as cores are at work already
    import polars as pl

    from exaequo.engine.groups import blocks

    frames = (pl.DataFrame(pl.from_arrow(batch)) for batch in batches)
    for block in blocks(frames, ("qid", "salt")):
        yield from _to_arrow(work(_apart(block)))


def _to_arrow(frame: Any) -> list[Any]:
    import pyarrow as pa

    table = frame.to_arrow()
    kinds = [
        pa.string() if pa.types.is_large_string(each.type) or pa.types.is_string_view(each.type) else each.type
        for each in table.schema
    ]
    batches: list[Any] = table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True)))).to_batches()
    return batches


def _apart(block: Any) -> Any:
    """Return the lists of a block, their lines, and the judgments of its topics."""
    from exaequo.engine.kernel import Rows
    from exaequo.frames import pl

    kind = pl.col("kind")
    there = block.columns
    qrels = block.filter(kind == _JUDGMENT).filter(pl.col("salt") == pl.col("salt").min().over("qid"))
    more = [name for name in ("iter", "stratum", "prob") if name in there]
    if "diverse" in there and not qrels["diverse"].any():
        more.remove("iter")
    qrels = qrels.select("qid", "docno", pl.col("value").alias("rel"), *more)
    known = pl.col("qid").is_in(qrels["qid"].unique().implode()) | (pl.col("qid").fill_null("") == "")
    lines = block.filter((kind == _LINE) & known)
    if "line" in there:
        lines = lines.sort("line", maintain_order=True)
    lines = lines.select("run", "qid", "docno", pl.col("value").alias("sim"), *(["rank"] if "rank" in there else []))
    return Rows(block.filter(kind != _JUDGMENT).select("run", "qid"), lines, qrels)


def _scores(measures: Sequence[str | Measure], options: Options, errors: str, block: Any) -> Any:
    from exaequo.engine.kernel import Work, scored
    from exaequo.measures import parse_measures

    return scored(block, Work(tuple(parse_measures(measures)), options, errors))


def _ties(options: Options, errors: str, cutoffs: Sequence[int], block: Any) -> Any:
    from exaequo.engine.kernel import Work, counted

    return counted(block, Work((), options, errors), cutoffs)


def _mean(scores: Any) -> Any:
    """Return the aggregate of the values of one measure: a table of Arrow with one row."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    import polars as pl

    from exaequo.aggregate import aggregate
    from exaequo.measures import parse_measure
    from exaequo.scores import ALL

    frame = pl.DataFrame(pl.from_arrow(scores)).sort("topic")
    run, strategy, measure = frame.select("run", "ties", "measure").row(0)
    value = aggregate(parse_measure(measure).aggregate, frame["value"].to_numpy())
    row = pl.DataFrame([(run, strategy, ALL, measure, value)], schema=frame.schema, orient="row")
    import pyarrow as pa

    return pa.Table.from_batches(_to_arrow(row))
