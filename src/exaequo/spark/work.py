"""On the workers: record batches of Arrow in and out. Each function goes to the workers by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exaequo.spark.asking import Request

#: What rows of the one frame are: a judgment, the name of a list, a line of a list.
JUDGMENT, LIST, LINE = 0, 1, 2
#: What rows of whole lists have in common.
LISTS = ("qid", "salt")


def mapped(work: Callable[[Any], Any], key: Sequence[str], batches: Iterable[Any]) -> Iterator[Any]:
    """Do the work on the rows of a partition, block by block of whole groups. In and out: record batches of Arrow."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # as many tasks as cores are at work already
    import polars as pl

    from exaequo.engine.groups import blocks

    frames = (pl.DataFrame(pl.from_arrow(batch)) for batch in batches)
    for block in blocks(frames, key):
        found = work(block)
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
    from exaequo.engine.kernel import Rows, wrong
    from exaequo.frames import pl

    kind = pl.col("kind")
    there = block.columns
    qrels = block.filter(kind == JUDGMENT).filter(pl.col("salt") == pl.col("salt").min().over("qid"))
    more = [name for name in ("iter", "stratum", "prob") if name in there]
    if "diverse" in there and not qrels["diverse"].any():
        more.remove("iter")
    qrels = qrels.select("qid", "docno", pl.col("value").alias("rel"), *more)
    judged = pl.col("qid").is_in(qrels["qid"].unique().implode())
    lines = block.filter((kind == LINE) & (judged | wrong("sim", (), "value").is_not_null()))
    if "line" in there:
        _refuse_places(lines)
        lines = lines.sort("line", maintain_order=True)
    lines = lines.select("run", "qid", "docno", pl.col("value").alias("sim"), *(["rank"] if "rank" in there else []))
    return Rows(block.filter(kind != JUDGMENT).select("run", "qid"), lines, qrels)


def _refuse_places(lines: Any) -> None:
    """Refuse lists in which two rows have one place, or one has none."""
    import polars as pl

    from exaequo.errors import bad_input

    unclear = pl.col("line").is_null() | pl.struct("run", "qid", "line").is_duplicated()
    for run, topic, document, line in lines.filter(unclear).select("run", "qid", "docno", "line").head(1).rows():
        found = f"line is {line!r} (document {document!r})" + ("" if line is None else ", and that of another row")
        raise bad_input(f"run {run!r}, topic {topic!r}", found, "the place of each row in its list", "Number the rows.")


def scores(request: Request, block: Any) -> Any:
    """Return the scores of a block."""
    from exaequo.engine.kernel import Work, scored

    return scored(_apart(block), Work(request.measures, request.options, request.errors))


def tie_rows(request: Request, cutoffs: Sequence[int], block: Any) -> Any:
    """Return the tie statistics of a block."""
    from exaequo.engine.kernel import Work, counted

    return counted(_apart(block), Work((), request.options, request.errors), cutoffs)


def means(kinds: Mapping[str, str], block: Any) -> Any:
    """Return the aggregates of a block of scores."""
    from exaequo.engine.kernel import averaged

    return averaged(block, kinds)
