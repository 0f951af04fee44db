"""On the workers: record batches of Arrow in and out. Each function goes to the workers by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exaequo.options import Options

if TYPE_CHECKING:
    from exaequo.measures import Measure

#: What rows of the one frame are: a judgment, the name of a list, a line of a list.
JUDGMENT, LIST, LINE = 0, 1, 2


def mapped(work: Callable[..., Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Evaluate the rows of a partition, block by block. In and out: record batches of Arrow."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # as many tasks as cores are at work already
    import polars as pl

    from exaequo.engine.groups import blocks

    frames = (pl.DataFrame(pl.from_arrow(batch)) for batch in batches)
    for block in blocks(frames, ("qid", "salt")):
        found = work(_apart(block))
        if found.height:
            yield from _to_arrow(found)


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
    qrels = block.filter(kind == JUDGMENT).filter(pl.col("salt") == pl.col("salt").min().over("qid"))
    more = [name for name in ("iter", "stratum", "prob") if name in there]
    if "diverse" in there and not qrels["diverse"].any():
        more.remove("iter")
    qrels = qrels.select("qid", "docno", pl.col("value").alias("rel"), *more)
    known = pl.col("qid").is_in(qrels["qid"].unique().implode()) | (pl.col("qid").fill_null("") == "")
    lines = block.filter((kind == LINE) & known)
    if "line" in there:
        lines = lines.sort("line", maintain_order=True)
    lines = lines.select("run", "qid", "docno", pl.col("value").alias("sim"), *(["rank"] if "rank" in there else []))
    return Rows(block.filter(kind != JUDGMENT).select("run", "qid"), lines, qrels)


def scores(measures: Sequence[str | Measure], options: Options, errors: str, block: Any) -> Any:
    """Return the scores of a block."""
    from exaequo.engine.kernel import Work, scored
    from exaequo.measures import parse_measures

    return scored(block, Work(tuple(parse_measures(measures)), options, errors))


def tie_rows(options: Options, errors: str, cutoffs: Sequence[int], block: Any) -> Any:
    """Return the tie statistics of a block."""
    from exaequo.engine.kernel import Work, counted

    return counted(block, Work((), options, errors), cutoffs)


def mean(kinds: Mapping[str, str], scores: Any) -> Any:
    """Return the aggregate of the values of one measure: a table of Arrow with one row."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    import polars as pl

    from exaequo.aggregate import aggregate
    from exaequo.measures import parse_measure
    from exaequo.scores import ALL

    frame = pl.DataFrame(pl.from_arrow(scores)).sort("topic")
    run, strategy, measure = frame.select("run", "ties", "measure").row(0)
    value = aggregate(kinds.get(measure) or parse_measure(measure).aggregate, frame["value"].to_numpy())
    row = pl.DataFrame([(run, strategy, ALL, measure, value)], schema=frame.schema, orient="row")
    import pyarrow as pa

    return pa.Table.from_batches(_to_arrow(row))
