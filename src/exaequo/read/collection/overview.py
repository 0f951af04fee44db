"""What a collection has: a `Collection` in, an `Overview` out, sizes and grades as tables."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from exaequo.choices import HIGHEST_GRADE
from exaequo.read.collection.records import Collection
from exaequo.tabular import Tabled

_SIZES = {"what": pl.String, "number": pl.Int64, "counted": pl.String, "total": pl.Int64}
_SPREAD = dict.fromkeys(("min", "median", "mean", "max"), pl.Float64)


@dataclass(frozen=True, eq=False, repr=False)
class Overview(Tabled):
    """The figures of a collection: `sizes` of documents, topics and judgments, and how often `grades` were given."""

    shown = ("sizes", "grades")
    sizes: pl.DataFrame
    grades: pl.DataFrame


def overview(collection: Collection) -> Overview:
    """Count documents, topics, judgments and relevant documents, and say how many words or documents each has."""
    rows = [
        _row("documents", collection.documents.height, "words", _words(collection.documents)),
        _row("topics", collection.topics.height, "words", _words(collection.topics)),
    ]
    grades = pl.DataFrame(schema={"grade": pl.Float64, "judgments": pl.UInt32, "topics": pl.UInt32})
    if collection.qrels is not None:
        judged = collection.qrels.frame
        by_topic = judged.group_by("qid").agg(
            pl.len().alias("judged"), pl.col("rel").is_between(0, HIGHEST_GRADE, closed="right").sum().alias("relevant")
        )
        rows += [
            _row("judged topics", by_topic.height, "judgments", by_topic["judged"]),
            _row("topics with relevant documents", _some(by_topic), "relevant documents", by_topic["relevant"]),
        ]
        grades = judged.group_by(grade="rel").agg(pl.len().alias("judgments"), pl.col("qid").n_unique().alias("topics"))
    return Overview(pl.DataFrame(rows, schema={**_SIZES, **_SPREAD}, orient="row"), grades.sort("grade"))


def _some(by_topic: pl.DataFrame) -> int:
    return by_topic.filter(pl.col("relevant") > 0).height


def _words(frame: pl.DataFrame) -> pl.Series:
    """Return how many words each row has, its name left aside."""
    texts = pl.concat_str(frame.columns[1:], separator=" ")
    return frame.select(texts.str.count_matches(r"\w+").alias("words")).to_series()


def _row(what: str, number: int, counted: str, sizes: pl.Series) -> tuple[object, ...]:
    return what, number, counted, sizes.sum(), sizes.min(), sizes.median(), sizes.mean(), sizes.max()
