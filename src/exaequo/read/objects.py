"""Objects in memory: dicts of dicts, frames of Polars, pandas and Arrow, named tuples, ranx. Out: a Polars table.

No library is imported to recognise its objects: an object that came from a library brings it along.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from exaequo.errors import bad_input
from exaequo.read.trec import Layout

#: Rows in which a column of text holds something else, and that.
NoText: TypeAlias = "dict[str, list[tuple[int, object]]]"


def to_table(data: object, layout: Layout, name: str) -> tuple[pl.DataFrame, NoText]:
    """Return what the user handed over as a table with named columns, and what is no text beside text in it."""
    library = type(data).__module__.partition(".")[0]
    if isinstance(data, pl.DataFrame):
        return data, {}
    if isinstance(data, pl.LazyFrame):
        return data.collect(), {}
    if library == "ranx":
        as_dict: Any = getattr(data, "to_dict")  # noqa: B009 - only ranx knows the type
        return from_dicts(as_dict(), layout, name), {}
    if library == "pandas":
        return _of_columns(_from_pandas(data, name))
    if hasattr(data, "__arrow_c_stream__"):
        return pl.DataFrame(data), {}
    if isinstance(data, Iterable):
        return _of_columns(_from_tuples(data, name))
    expected = "a path, a frame, a dict of dicts, or an iterable of named tuples"
    raise bad_input(name, f"{type(data).__name__} {data!r:.40}", expected, "Convert it to one of them.")


def from_dicts(data: Mapping[Any, Any], layout: Layout, name: str) -> pl.DataFrame:
    """`{qid: {docno: number}}`, as pytrec_eval takes them."""
    for qid, documents in data.items():
        if not isinstance(documents, Mapping):
            found = f"topic {qid!r} has {type(documents).__name__} {documents!r:.40}"
            raise bad_input(name, found, "{docno: number}", "Give a dict of dicts.")
    topics = _ids(list(data), "topic", name)
    docnos = _ids(list(chain.from_iterable(data.values())), "document", name)
    values = list(chain.from_iterable(documents.values() for documents in data.values()))
    owner = np.repeat(np.arange(len(topics)), [len(documents) for documents in data.values()])
    return pl.DataFrame([topics[owner].rename("qid"), docnos.rename("docno"), _floats(values, layout.number)])


def _ids(ids: list[Any], what: str, name: str) -> pl.Series:
    """Ids as strings; None, bytes and reals are none."""
    try:
        series = pl.Series(ids, dtype=pl.String)  # refuses all that is not text
        if not series.null_count():
            return series
    except (TypeError, OverflowError):
        pass
    for each in ids:
        if not isinstance(each, str | int | np.integer):
            found = f"{what} {each!r} is {type(each).__name__}"
            raise bad_input(name, found, "strings or whole numbers as ids", "Convert the ids.")
    return pl.Series([str(each) for each in ids], dtype=pl.String)


def _from_tuples(data: Iterable[Any], name: str) -> dict[str, list[Any]]:
    """Named tuples with the fields of ir_measures' `Qrel` and `ScoredDoc`, or of any name a column may have."""
    rows = list(data)
    fields = getattr(rows[0], "_fields", None) if rows else ()
    if fields is None or any(len(row) != len(fields) for row in rows):
        found = f"an iterable of {type(rows[0]).__name__}"
        raise bad_input(name, found, "named tuples", "Give a dict of dicts or a frame.")
    columns = zip(*rows, strict=True)
    return {str(field): list(values) for field, values in zip(fields, columns, strict=True)}


def _from_pandas(data: Any, name: str) -> dict[str, list[Any]]:
    if not hasattr(data, "columns") or not data.columns.is_unique:
        found = "two columns of one name" if hasattr(data, "columns") else f"a pandas {type(data).__name__}"
        raise bad_input(name, found, "a frame with different columns", "Rename or convert it.")
    return {str(column): data[column].tolist() for column in data.columns}


def _of_columns(columns: dict[str, list[Any]]) -> tuple[pl.DataFrame, NoText]:
    """Return a table of columns of Python objects, and the reals and the like in columns that have text."""
    table = pl.DataFrame([_column(name, values) for name, values in columns.items()])
    whole = str | int | np.integer
    return table, {
        name: [
            (row, value)
            for row, value in enumerate(values)
            if isinstance(value, bool | np.bool_) or not (isinstance(value, whole) or _is_missing(value))
        ]
        for name, values in columns.items()
        if table[name].dtype == pl.String and not {*map(type, values)} <= {str, int}
    }


def _column(name: str, values: list[Any]) -> pl.Series:
    """A column of Python objects: text if there is any text, else numbers; what is missing becomes null."""
    plain = [None if _is_missing(value) else value for value in values]
    if any(isinstance(value, str) for value in plain):
        return pl.Series(name, [None if value is None else str(value) for value in plain], dtype=pl.String)
    if any(isinstance(value, float | np.floating) for value in values):
        return _floats(values, name)
    items = [value.item() if isinstance(value, np.generic) else value for value in plain]
    return pl.Series(name, items, strict=False)


def _is_missing(value: Any) -> bool:
    """Tell None, NaN and pandas' NA, none of which can be told by comparing."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _floats(values: list[Any], name: str) -> pl.Series:
    """Numbers of any kind (Python's, NumPy's) as doubles; what is not a number stays text and is refused later."""
    try:
        if set(map(type, values)) <= {float, int}:
            numbers = pl.Series(name, np.array(values, dtype=np.float64))
            return numbers.fill_nan(None) if numbers.is_nan().any() else numbers
        return pl.Series(name, [None if _is_missing(value) else float(value) for value in values], dtype=pl.Float64)
    except (TypeError, ValueError, OverflowError):
        return pl.Series(name, [None if _is_missing(value) else str(value) for value in values], dtype=pl.String)
