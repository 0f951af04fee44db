"""Queries to ask: texts, by id or not, golden sets, frames, files of JSON. Out: a frame `qid, text`."""

from __future__ import annotations

import os
from typing import Any

import polars as pl

from exaequo.errors import bad_input
from exaequo.read import golden, tables, values
from exaequo.read.lists import ids
from exaequo.read.places import Place
from exaequo.read.source import load

_EXPECTED = "{qid: text}, texts, or records with a query"


def read_queries(data: Any, name: str = "queries") -> pl.DataFrame:
    """Return the queries that an object or a file (.json, .jsonl, .csv) holds; without ids, their texts are ids."""
    if isinstance(data, str | os.PathLike):
        path = os.fspath(data)
        kind = tables.kind_of(path, "jsonl")
        content, source = load(path)
        if kind in ("json", "jsonl"):
            found = values.of_json(content, source.name) if kind == "json" else values.of_lines(content, source.name)
            return read_queries(found.whole(), source.name)
        data, name = tables.read(content, kind, source.name)[0], source.name
    if isinstance(data, pl.DataFrame):
        data = data.to_dicts()
    elif hasattr(data, "to_dict") and hasattr(data, "columns"):
        data = data.to_dict("records")
    qids, texts = golden.queries_of(data, name)
    for qid, text in zip(qids, texts, strict=True):
        if not isinstance(text, str):
            raise bad_input(name, f"query {qid!r} is {type(text).__name__} {text!r:.40}", _EXPECTED, "Give its text.")
    if not qids:
        raise bad_input(name, "there is no query", _EXPECTED, "Give at least one.")
    return pl.DataFrame({"qid": ids(qids, "query", Place(name)), "text": pl.Series(texts, dtype=pl.String)})
