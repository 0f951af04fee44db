"""Files as frames of Spark. In: paths anywhere, of TREC text or tables. Out: frames of runs and of judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from exaequo.errors import bad_input
from exaequo.read.source import Source
from exaequo.read.tables import kind_of
from exaequo.read.trec import CERTAIN, CHANCES, RUN, Layout, layout_of
from exaequo.spark.plan import RUNS, number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


#: What Spark reads in parts.
_KINDS = {"trec", "parquet", "csv", "tsv", "jsonl"}
#: What may stand between fields besides a blank.
_BLANKS = "\t\r\v\f"


def read_runs(spark: SparkSession, paths: Sequence[str], reader: str | None = None) -> DataFrame:
    """Return runs as one frame: TREC text, whose last field names the run, or tables with a column for it.

    Tables without one are runs named by their files, or folders.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    def table(kind: str, own: Sequence[str]) -> DataFrame:
        frame = _table(spark, kind, own)
        if not {*RUNS}.isdisjoint(each.lower() for each in frame.columns):  # as the plan finds it
            return frame
        frames = [frame] if len(own) == 1 else [_table(spark, kind, [path]) for path in own]
        return _union(each.withColumn("run", F.lit(_name(path))) for each, path in zip(frames, own, strict=True))

    return _read(spark, paths, reader, lambda text: _fields(text, RUN), table, "a run")


def read_qrels(spark: SparkSession, path: str, reader: str | None = None) -> DataFrame:
    """Return judgments as a frame."""

    def judgments(text: DataFrame) -> DataFrame:
        ends = [row["value"] for row in text.limit(2).collect()]  # two lines tell whether they are a sample
        return _fields(text, layout_of("\n".join(ends).encode()))

    return _read(spark, [path], reader, judgments, partial(_table, spark), "judgments")


def _read(
    spark: SparkSession,
    paths: Sequence[str],
    reader: str | None,
    parse: Callable[[DataFrame], DataFrame],
    table: Callable[[str, Sequence[str]], DataFrame],
    what: str,
) -> DataFrame:
    kinds: dict[str, list[str]] = {}
    for path in paths:
        kinds.setdefault(reader or kind_of(path.rstrip("/"), "trec"), []).append(path)
    packed = next((path for path in paths if path.lower().endswith(".xz")), None)
    if packed is not None:
        raise bad_input(packed, "Spark does not unpack .xz", f"{what} as text, .gz, .bz2 or .zst", "Unpack it first.")
    for kind in kinds.keys() - _KINDS:
        found, mend = f"{kind} is not read by --engine spark", "Write an object a line (.jsonl), or Parquet."
        raise bad_input(kinds[kind][0], found, f"{what} that can be cut into parts", mend)
    return _union(parse(_text(spark, own)) if kind == "trec" else table(kind, own) for kind, own in kinds.items())


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), frames)


def _name(path: str) -> str:
    """Return how a run is called that does not say so itself; a pattern is no name."""
    return "run" if {*path} & {*"*?[{"} else Source(path.rstrip("/")).stem


def _table(spark: SparkSession, kind: str, paths: Sequence[str]) -> DataFrame:
    """Return tables of one kind as a frame."""
    if kind == "parquet":
        return spark.read.parquet(*paths)
    if kind == "jsonl":
        return spark.read.json([*paths])
    marks: dict[str, Any] = {"sep": "\t", "quote": ""} if kind == "tsv" else {"quote": '"', "escape": '"'}
    # Spark would take the columns of all files in the order of one.
    return spark.read.csv([*paths], header=True, inferSchema=False, enforceSchema=False, **marks)


def _text(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Return the lines of text that hold data; those that are not UTF-8 raise an error."""
    return (
        spark.read.text(list(paths)).selectExpr("validate_utf8(value) value").filter("value rlike '^\\\\s*[^#\\\\s]'")
    )


def _fields(text: DataFrame, layout: Layout) -> DataFrame:
    """Return the fields of lines; the number is null where there is none, or too few fields, or too many."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    odd = F.startswith("value", F.lit(" ")) | F.endswith("value", F.lit(" "))
    for each in ("  ", *_BLANKS):
        odd |= F.contains("value", F.lit(each))
    blanks = F.trim(F.translate("value", _BLANKS, " " * len(_BLANKS)))
    # Java looks for one blank in less than half of the time that it takes for a pattern.
    parts = text.select(F.when(odd, F.split(blanks, " +")).otherwise(F.split("value", " ")).alias("at"))
    names = {"run_id": "run"}
    fields = {
        name: F.get("at", F.lit(place))
        for place, name in enumerate(layout.fields)
        if name != "iter" or layout is not RUN
    }
    if layout is CHANCES:
        chance = number(fields["prob"])
        chance = F.when(fields["prob"] != "NA", F.coalesce(chance, F.lit(float("nan"))))
        fields["prob"] = F.when(fields["method"].isin(*CERTAIN) & chance.between(0, 1), 1.0).otherwise(chance)
        del fields["method"]
    width, size = F.lit(len(layout.fields)), F.size("at")
    fits = size >= width if layout.more else size == width
    fields[layout.number] = F.when(fits, number(fields[layout.number]))
    return parts.select(*(column.alias(names.get(name, name)) for name, column in fields.items()))
