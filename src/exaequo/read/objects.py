"""Objects in memory: dicts of dicts, frames of Polars, pandas and Arrow, named tuples, ranx. Out: a Polars table.

No library is imported to recognise its objects: an object that came from a library brings it along.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from exaequo.errors import InputError, Problem
from exaequo.read.trec import Layout


def to_table(data: object, layout: Layout, name: str) -> pl.DataFrame:
    """Return what the user handed over as a table with named columns."""
    library = type(data).__module__.partition(".")[0]
    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if library == "ranx":
        as_dict: Any = getattr(data, "to_dict")  # noqa: B009 - only ranx knows the type
        return _from_dicts(as_dict(), layout, name)
    if isinstance(data, Mapping):
        return _from_dicts(data, layout, name)
    if library == "pandas":
        return _from_pandas(data)
    if hasattr(data, "__arrow_c_stream__"):
        return pl.DataFrame(data)
    if isinstance(data, Iterable):
        return _from_tuples(data, name)
    expected = "a path, a frame, a dict of dicts, or an iterable of named tuples"
    raise InputError(Problem(name, None, f"a {type(data).__name__}", expected, "Convert it to one of them."))


def _from_dicts(data: Mapping[Any, Any], layout: Layout, name: str) -> pl.DataFrame:
    """`{qid: {docno: number}}`, as pytrec_eval takes them."""
    for qid, documents in data.items():
        if not isinstance(documents, Mapping):
            found = f"topic {qid!r} has a {type(documents).__name__}"
            raise InputError(Problem(name, None, found, "{docno: number}", "Give a dict of dicts."))
    number = layout.number
    return pl.DataFrame(
        {
            "qid": [str(qid) for qid, documents in data.items() for _ in documents],
            "docno": [str(docno) for documents in data.values() for docno in documents],
            number: _floats([value for documents in data.values() for value in documents.values()], number),
        },
        schema_overrides={"qid": pl.String, "docno": pl.String},
    )


def _from_tuples(data: Iterable[Any], name: str) -> pl.DataFrame:
    """Named tuples with the fields of ir_measures' `Qrel` and `ScoredDoc`, or of any name a column may have."""
    rows = list(data)
    fields = getattr(rows[0], "_fields", None) if rows else ()
    if fields is None:
        found = f"an iterable of {type(rows[0]).__name__}"
        raise InputError(Problem(name, None, found, "named tuples", "Give a dict of dicts or a frame."))
    columns = zip(*rows, strict=True)
    return pl.DataFrame([_column(str(field), list(values)) for field, values in zip(fields, columns, strict=True)])


def _from_pandas(data: Any) -> pl.DataFrame:
    return pl.DataFrame([_column(str(name), data[name].tolist()) for name in data.columns])


def _column(name: str, values: list[Any]) -> pl.Series:
    if any(isinstance(value, str) for value in values):
        # pandas marks a missing string with a float
        return pl.Series(name, [value if isinstance(value, str) else None for value in values], dtype=pl.String)
    return _floats(values, name) if any(isinstance(value, float) for value in values) else _plain(values, name)


def _plain(values: list[Any], name: str) -> pl.Series:
    return pl.Series(name, [value.item() if hasattr(value, "item") else value for value in values], strict=False)


def _floats(values: list[Any], name: str) -> pl.Series:
    """Numbers of any kind (Python's, NumPy's) as doubles; what is not a number stays text and is refused later."""
    try:
        return pl.Series(name, [float(value) for value in values], dtype=pl.Float64)
    except (TypeError, ValueError):
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
