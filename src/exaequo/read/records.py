"""What reading gives: a `Run` and a `Qrels`, each a Polars frame with known columns, ids as strings, checked."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from exaequo.read.source import Source

#: Column of the 64-bit hash of (qid, docno): finds duplicates and joins run to qrels (see `judge`).
KEY = "key"


@dataclass(frozen=True, eq=False)
class Run:
    """What one system returned: `qid, docno, sim, key`, in file order, and `rank` as the file had it, if it did.

    `n_names` counts the different run ids of the file; `name` is the first.
    """

    name: str
    frame: pl.DataFrame
    source: Source
    n_names: int = 1

    def __repr__(self) -> str:
        return f"<Run {self.name!r}: {self.frame.height:,} lines, {self.frame['qid'].n_unique():,} topics>"


@dataclass(frozen=True, eq=False)
class Qrels:
    """What people judged: `qid, docno, rel, key`."""

    frame: pl.DataFrame
    source: Source

    def __repr__(self) -> str:
        return f"<Qrels: {self.frame.height:,} judgments, {self.frame['qid'].n_unique():,} topics>"


def with_keys(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the hash of (qid, docno). Equal pairs have equal keys; unequal pairs nearly always have unequal ones."""
    return frame.with_columns((pl.col("qid").hash(seed=1) ^ pl.col("docno").hash(seed=2)).alias(KEY))


def repeated(frame: pl.DataFrame) -> pl.DataFrame | None:
    """Return the rows whose (qid, docno) occurs more than once, with their `row`, or None if there are none."""
    if frame[KEY].n_unique() == frame.height:
        return None
    again = frame.with_row_index("row").filter(pl.struct("qid", "docno").is_duplicated())
    return again.sort("qid", "docno", "row") if again.height else None
