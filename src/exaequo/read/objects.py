"""Objects in memory: frames of Polars, pandas and Arrow, dicts, named tuples, ranx. Out: a Polars table.

No library is imported to recognise its objects: an object that came from a library brings it along.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import Any, TypeAlias

import numpy as np

from exaequo.errors import bad_input
from exaequo.frames import pl
from exaequo.read.golden import is_golden
from exaequo.read.lists import Documents, floats, is_missing

#: Rows in which a column of text holds something else, and that.
NoText: TypeAlias = "dict[str, list[tuple[int, object]]]"


def records_of(data: Any) -> Any:
    """Return the rows of a frame that has lists in it, and dicts of what ranx holds; anything else as it is."""
    if isinstance(data, Mapping):
        return data
    if type(data).__module__.partition(".")[0] == "ranx" and type(data).__name__ in ("Qrels", "Run"):
        return _from_ranx(data)
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    if isinstance(data, pl.DataFrame):
        return data.to_dicts() if data.height and is_golden(data.row(0, named=True)) else data
    if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns") and len(data):
        return data.to_dict("records") if is_golden(data.iloc[0].to_dict()) else data
    return data


def _from_ranx(data: Any) -> dict[str, Documents]:
    """Return the lists of `ranx.Qrels` or `ranx.Run`."""
    names, values = _many_at_once()
    held = data.run if hasattr(data, "run") else data.qrels
    return {topic: Documents(names(own), values(own)) for topic, own in held.items()}


@cache
def _many_at_once() -> tuple[Callable[[Any], list[str]], Callable[[Any], list[float]]]:
    """Return what returns the keys, and the values, of a dict of Numba, which gives them one by one but slowly."""
    njit = sys.modules["numba"].njit
    return njit(lambda documents: list(documents.keys())), njit(lambda documents: list(documents.values()))


def to_table(data: object, name: str) -> tuple[pl.DataFrame, NoText]:
    """Return what the user handed over as a table with named columns, and what is no text beside text in it."""
    library = type(data).__module__.partition(".")[0]
    if isinstance(data, pl.DataFrame):
        return data, {}
    if isinstance(data, pl.LazyFrame):
        return data.collect(), {}
    if library == "pandas":
        return _of_columns(_from_pandas(data, name))
    if hasattr(data, "__arrow_c_stream__"):
        return pl.DataFrame(data), {}
    if isinstance(data, Iterable):
        return _from_tuples(data, name)
    expected = "a path, a frame, a dict of lists or dicts, or an iterable of records or named tuples"
    raise bad_input(name, f"{type(data).__name__} {data!r:.40}", expected, "Convert it to one of them.")


def _from_tuples(data: Iterable[Any], name: str) -> tuple[pl.DataFrame, NoText]:
    """Named tuples with the fields of ir_measures' `Qrel` and `ScoredDoc`, or of any name a column may have."""
    rows = list(data)
    if rows and isinstance(rows[0], Mapping) and all(isinstance(row, Mapping) for row in rows):
        return from_rows(rows)
    fields = getattr(rows[0], "_fields", None) if rows else ()
    if fields is None or {*map(len, rows)} - {len(fields)}:
        found = f"an iterable of {type(rows[0]).__name__}"
        raise bad_input(name, found, "records or named tuples", "Give a dict of dicts or lists, or a frame.")
    return _of_columns({str(field): [*map(itemgetter(at), rows)] for at, field in enumerate(fields)})


def from_rows(rows: Sequence[Mapping[Any, Any]]) -> tuple[pl.DataFrame, NoText]:
    """Return the table that dicts are, one a row, and by column where values are neither text nor whole numbers."""
    no_text: NoText = {}
    columns = []
    for field in dict.fromkeys(chain.from_iterable(rows)):
        values = [row.get(field) for row in rows]
        odd = [at for at, value in enumerate(values) if type(value) not in (str, int, NoneType)]
        if odd:
            no_text[str(field)] = [(at, values[at]) for at in odd]
        for at in odd:
            if not isinstance(values[at], float | bool | np.generic):
                values[at] = str(values[at])
        columns.append(_column(str(field), values))
    return pl.DataFrame(columns), no_text


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
            if isinstance(value, bool | np.bool_) or not (isinstance(value, whole) or is_missing(value))
        ]
        for name, values in columns.items()
        if table[name].dtype == pl.String and not {*map(type, values)} <= {str, int}
    }


def _column(name: str, values: list[Any]) -> pl.Series:
    """A column of Python objects: text if there is any text, else numbers; what is missing becomes null."""
    kinds = {*map(type, values)}
    if kinds in ({str}, {int}):
        return pl.Series(name, values, strict=kinds == {str})
    if kinds == {float}:
        return floats(values, name)
    plain = [None if is_missing(value) else value for value in values]
    if any(isinstance(value, str) for value in plain):
        return pl.Series(name, [None if value is None else str(value) for value in plain], dtype=pl.String)
    if any(isinstance(value, float | np.floating) for value in values):
        return floats(values, name)
    items = [value.item() if isinstance(value, np.generic) else value for value in plain]
    return pl.Series(name, items, strict=False)
