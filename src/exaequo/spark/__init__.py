"""Spark: the same measures, ties and statistics where the data are. In: frames of Spark. Out: lazy frames of Spark.

Judgments, lines and the names of lists go into one frame, by topic; each task gets whole topics, one after the other,
and evaluates them in blocks with the kernel of the other engines. Nothing is collected on the driver.
docs/spark.md draws the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Unpack

from exaequo.errors import BadParameter
from exaequo.spark.asking import Request, Scored, Spread
from exaequo.spark.plan import averages, judgments_of, lines_of, scored, together, wrong
from exaequo.spark.table import append, table
from exaequo.spark.work import LISTS, mapped, tie_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from exaequo.measures import Measure

__all__ = ["append", "bad_rows", "evaluate", "means", "table", "ties"]


def evaluate(
    runs: DataFrame,
    qrels: DataFrame,
    measures: Iterable[str | Measure] | str | Measure,
    ties: str | Sequence[str] = "realistic",
    *,
    names: Iterable[str] | None = None,
    **options: Unpack[Scored],
) -> DataFrame:
    """Evaluate all runs of a frame; return a lazy frame: run, ties, topic, measure, value.

    Values are those of `exaequo.evaluate`, to the last bit.

    Args:
        runs: `run, qid, docno, sim`, any number of runs; `rank` for the strategy of that name, `line`, the place of
            a row in its list, for `"input"`. Other usual names of columns are known; without `run`, all is one run.
        qrels: `qid, docno, rel`; `iter` (subtopics), `stratum` and `prob` (samples) for the measures that need them.
        measures: as for `exaequo.evaluate`; one that you defined goes to the workers with the function.
        ties: one strategy or several, or `"expected"`; `"all"` is realistic, conventional and optimistic.
        names: the names of the runs to evaluate, if not all are, or if they are known: that saves a look at all rows.
        options: `columns`, `errors`, `salts` and `samples` (see `Scored`); `rel_level`, `max_grade`, `depth`,
            `missing`, `precision`, `seed`, as for `exaequo.evaluate`.
    """
    request = Request.of("evaluate", options, Scored.__annotations__, measures=measures, ties=ties)
    own = None if names is None else [] if isinstance(names, str) else [*names]
    if own is not None and not (own and all(isinstance(each, str) for each in own)):
        raise BadParameter(f"names must be those of some runs, as in ['bm25']. Got {own or names!r} instead.")
    return scored(together(runs, qrels, request, own), request)


def means(scores: DataFrame, measures: Sequence[Measure] = ()) -> DataFrame:
    """Return the aggregates of scores as a lazy frame of the same columns, under the topic `all`.

    Scores are those of topics alone, without aggregates. `measures` are those that you defined, if there are any:
    workers do not know them.

    The values of one run, strategy and measure come together in one task, in the order of topics: the mean is that of
    `Scores.means`, to the last bit.
    """
    return averages(scores, measures).drop("topics", "zeros")


def ties(runs: DataFrame, qrels: DataFrame, cutoffs: Sequence[int] | int = (), **options: Unpack[Spread]) -> DataFrame:
    """Count the ties of every list of an evaluated topic; return a lazy frame, a row per list.

    `documents`, how many are `tied`, in percent too, different `scores`, documents `per_score`, the `largest_tie`,
    whether all are tied, in one tie, or none, how many more are tied in single precision, how many `stuffed`, and
    whether a tie lies across each of the `cutoffs`. Options are those of `evaluate`, but for `samples`.
    """
    request = Request.of("ties", options, Spread.__annotations__, missing="skip")
    cutoffs = (cutoffs,) if isinstance(cutoffs, int) else tuple(cutoffs)
    for cutoff in cutoffs:
        if isinstance(cutoff, bool) or not isinstance(cutoff, int) or cutoff < 1:
            raise BadParameter(f"cutoffs must be whole numbers ≥ 1. Got {cutoff!r} instead.")
    frame = together(runs, qrels, request, names=())
    counts = "documents tied scores largest_tie only_in_single stuffed".split()
    order = "documents tied tied_percent scores per_score largest_tie all_tied one_tie no_tie only_in_single stuffed"
    kinds = {name: "bigint" if name in counts else "boolean" for name in order.split()}
    kinds |= {"tied_percent": "double", "per_score": "double", **{f"tie_across_{k}": "boolean" for k in cutoffs}}
    schema = ", ".join(["run string", "topic string", *(f"{name} {kind}" for name, kind in kinds.items())])
    return frame.mapInArrow(partial(mapped, partial(tie_rows, request, cutoffs), LISTS), schema)


def bad_rows(runs: DataFrame, qrels: DataFrame, *, columns: Mapping[str, str] | None = None) -> DataFrame:
    """Return the rows that `errors="drop"` leaves out as a lazy frame: input, run, topic, docno, problem, rows."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    parts = []
    for name, frame, number in (
        ("runs", lines_of(runs, columns), "sim"),
        ("qrels", judgments_of(qrels, columns).withColumn("run", F.lit(None).cast("string")), "rel"),
    ):
        once = ["run", "qid", "docno", *(["iter"] if "iter" in frame.columns else [])]
        marked = frame.withColumn("problem", wrong(number, frame.columns))
        alone = marked.filter("problem is not null").groupBy("run", "qid", "docno", "problem").count()
        again = marked.filter("problem is null").groupBy(*once).count().filter("count > 1")
        again = again.select(
            "run", "qid", "docno", F.lit("there again").alias("problem"), (F.col("count") - 1).alias("count")
        )
        parts.append(alone.unionByName(again).withColumn("input", F.lit(name)))
    both = parts[0].unionByName(parts[1])
    return both.selectExpr("input", "run", "qid as topic", "docno", "problem", "count as rows")
