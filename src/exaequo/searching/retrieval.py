"""Retrieving: documents, queries and a `System` in, a `Run` out."""

from __future__ import annotations

import os

import numpy as np
import polars as pl

from exaequo.choices import TOPIC_FIELDS
from exaequo.errors import BadParameter, bad_input
from exaequo.read import Run, Source
from exaequo.read.collection import Collection
from exaequo.read.records import with_keys
from exaequo.searching.analysis import Analysis
from exaequo.searching.counts import Matrix, counted
from exaequo.searching.notation import System
from exaequo.text import count, listed

#: Queries scored at a time: their scores for all documents are in memory together.
_AT_ONCE = 64


def collection_of(collection: Collection | str | os.PathLike[str]) -> Collection:
    """Return a collection; read it if a place or a name is given."""
    if isinstance(collection, Collection):
        return collection
    from exaequo.read.collection import read_collection

    return read_collection(collection)


def queries_of(collection: Collection, fields: str = TOPIC_FIELDS[0]) -> pl.DataFrame:
    """Return `qid, text`. A topic that lacks the field is asked by the first it has."""
    if fields not in TOPIC_FIELDS:
        raise BadParameter(f"fields must be one of {', '.join(TOPIC_FIELDS)}. Got {fields!r} instead.")
    parts = ["title", "description", "narrative"]
    texts = [pl.col(part).str.replace_all(r"\s+", " ").str.strip_chars() for part in parts]
    if fields == "all":
        said = pl.concat_list(texts).list.eval(pl.element().filter(pl.element() != "")).list.join(" ")
    else:
        first = [texts[parts.index(fields)], *texts]
        said = pl.coalesce([pl.when(text != "").then(text) for text in first]).fill_null("")
    return collection.topics.select("qid", said.alias("text"))


def texts_of(documents: pl.DataFrame) -> pl.Series:
    """Return title and text of each document in one."""
    return documents.select(pl.concat_str("title", "text", separator="\n")).to_series()


def check_depth(depth: int) -> None:
    """Refuse what is no length of a list."""
    if type(depth) is not int or depth < 1:
        raise BadParameter(f"depth must be a whole number ≥ 1. Got {depth!r} instead.")


def search_collection(collection: Collection, system: System, fields: str, depth: int) -> tuple[Run, list[str]]:
    """Return what a system finds for the topics of a collection, and all there is to say, odd files included."""
    queries = queries_of(collection, fields)
    run, remarks = retrieve(collection.documents, queries, system, collection.language, depth)
    empty = queries.filter(~pl.col("qid").is_in(run.frame["qid"].unique().implode()))["qid"].to_list()
    if empty:
        remarks.insert(0, f"{system.name}: nothing found for {count(len(empty), 'topic')}: {listed(empty)}")
    return run, [*collection.remarks, *remarks]


def retrieve(
    documents: pl.DataFrame, queries: pl.DataFrame, system: System, language: str, depth: int
) -> tuple[Run, list[str]]:
    """Return what a system finds for queries (`qid, text`) in documents, and what to say about lists cut short."""
    check_depth(depth)
    if not documents.height:
        raise bad_input("documents", "there is none", "at least one", "Check where the collection lies.")
    analysis = Analysis(language, system.stem, system.stop)
    counts = counted(texts_of(documents), queries["text"], analysis)
    scoring = system.model.function(counts.documents, **system.params)
    parts = [
        _best(scoring(counts.queries[start : start + _AT_ONCE]), start, depth)
        for start in range(0, queries.height, _AT_ONCE)
    ]
    found = pl.concat(parts) if parts else _best(counts.queries[:0], 0, depth)
    lines = _cut(found, documents["docno"], depth)
    frame = lines.select(queries["qid"][lines["query"]], "docno", "sim", pl.col("rank").cast(pl.String))
    run = Run(system.name, with_keys(frame), Source(system.name))
    return run, _remarks(found, system.name, depth)


def _best(scores: Matrix, start: int, depth: int) -> pl.DataFrame:
    """Return `query, document, sim` of the best documents of each query, those tied with the last included."""
    query = np.repeat(np.arange(start, start + scores.shape[0]), np.diff(scores.indptr))
    frame = pl.DataFrame({"query": query, "document": scores.indices, "sim": scores.data.astype(np.float64)})
    return frame.filter(pl.col("sim").rank("min", descending=True).over("query") <= depth)


def _cut(found: pl.DataFrame, docnos: pl.Series, depth: int) -> pl.DataFrame:
    """Put lists in order and cut them; names decide among the documents tied with the last."""
    lines = found.with_columns(docnos[found["document"]].alias("docno"))
    lines = lines.sort("query", "sim", "docno", descending=[False, True, False])
    return lines.with_columns(pl.int_range(1, pl.len() + 1).over("query").alias("rank")).filter(pl.col("rank") <= depth)


def _remarks(found: pl.DataFrame, name: str, depth: int) -> list[str]:
    """Say how many lists end inside a tie."""
    longer = found.group_by("query").len().filter(pl.col("len") > depth).height
    what = (
        f"{name}: {count(longer, 'list')} cut inside a tie at depth {depth:,}, where names decide which documents "
        "stay; a larger --depth, depth= keeps them all"
    )
    return [what] if longer else []
