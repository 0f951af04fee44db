"""Tables of decisions: `theme, truth, score`, one row per document a classifier looked at. Out: a `Decisions`.

Columns with the names of the documents, and with the times they came, are read if there are any.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from exaequo.choices import STDIN
from exaequo.errors import BadParameter, InputError, Problem, bad_input
from exaequo.read import objects, tables, trec
from exaequo.read.places import Place
from exaequo.read.source import load

#: The names each column goes by; the first one present is taken. A decision is a score of 0 or 1.
NAMES: dict[str, tuple[str, ...]] = {
    "theme": ("theme", "topic", "qid", "query_id", "category", "class"),
    "truth": ("y_true", "truth", "rel", "relevance", "label", "relevant"),
    "score": ("y_score", "score", "sim", "probability", "decision", "y_pred", "selected", "prediction"),
    "document": ("docno", "doc_id", "docid", "document", "doc"),
    "time": ("time", "order"),
}
_OPTIONAL = ("document", "time")
#: Dates whose order as text is not that of time: 31/01/2026, 1.2.26, 2026-1-31; and nothing.
_UNORDERED = r"^$|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2}|^\d{4}[-/.](\d[-/.]|\d\d[-/.]\d(\D|$))"
_WORDS = {"true": 1.0, "yes": 1.0, "t": 1.0, "y": 1.0, "false": 0.0, "no": 0.0, "f": 0.0, "n": 0.0}


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a classifier said about documents, and what is true of them."""

    name: str
    theme: pl.Series
    truth: npt.NDArray[np.float64]
    score: npt.NDArray[np.float64]
    #: Names of the documents, if the table has any.
    document: pl.Series | None = None
    #: When each document came, a place in `moments`, if the table has times.
    moment: npt.NDArray[np.int64] | None = None
    moments: pl.Series | None = None
    file: str = "table"


def read_decisions(data: Any, *, reader: str | None = None, columns: Mapping[str, str] | None = None) -> Decisions:
    """Read a table from a path or an object; `columns` maps `theme`, `truth`, … to its own names."""
    if isinstance(data, str | os.PathLike):
        path = os.fspath(data)
        content, source = load(path)
        kind = reader or tables.kind_of(path, "csv")
        if kind not in tables.KINDS:
            expected = f"a table: {', '.join(tables.KINDS)}"
            raise bad_input(source.name, f"read as {kind}", expected, "Name its kind with --reader.")
        table, place = tables.read(content, kind, source.name)
        name = source.stem
    else:
        table, no_text = objects.to_table(data, "table")
        place, name = Place("table", no_text=no_text), "table"
    return _decisions(name, table, place, columns or {})


def holds_decisions(path: str, *, reader: str | None = None, columns: Mapping[str, str] | None = None) -> bool:
    """Tell whether a file is a table of decisions: it has a column for theme, truth and score, which qrels do not."""
    kind = reader or tables.kind_of(path, "")
    if path == STDIN or kind not in tables.KINDS:
        return False
    content, source = load(path)
    if not content.strip() or trec.is_text(content, trec.QRELS):
        return False
    present = tables.read(content, kind, source.name)[0].columns
    given = columns or {}
    names = ({given[ours]} if ours in given else {*NAMES[ours]} for ours in ("theme", "truth", "score"))
    return all(each & {*present} for each in names)


def _decisions(name: str, table: pl.DataFrame, place: Place, given: Mapping[str, str]) -> Decisions:
    for key in given:
        if key not in NAMES:
            raise BadParameter(f"columns of a table of decisions are {', '.join(NAMES)}. Got {key!r} instead.")
    there = {ours for ours in _OPTIONAL if ours in given or any(name in table.columns for name in NAMES[ours])}
    wanted = (ours for ours in NAMES if ours in there or ours not in _OPTIONAL)
    found = {ours: _column(ours, table.columns, place, given) for ours in wanted}
    place.refuse_twice(found.values())
    place.refuse_no_ids(found[ours] for ours in ("theme", "document") if ours in found)
    if not table.height:
        raise bad_input(place.name, "there are no rows", "decisions", "Check how it was made.")
    theme = tables.as_text(table[found["theme"]], place)
    document = tables.as_text(table[found["document"]], place) if "document" in there else None
    names = {"theme": theme} if document is None else {"theme": theme, "document": document}
    numbers = {ours: _numbers(table[found[ours]]) for ours in ("truth", "score")}
    problems = [
        place.problem(row, f"the {what} is {_quoted(table[found[what]][row])}", expected, "Mend or delete the row.")
        for what, bad, expected in (
            *((what, column.is_null() | (column == ""), "a name") for what, column in names.items()),
            ("truth", ~numbers["truth"].is_finite().fill_null(value=False), "a number, true or false"),
            ("score", ~numbers["score"].is_finite().fill_null(value=False), "a finite number, true or false"),
        )
        for row in bad.fill_null(value=True).arg_true()
    ]
    if document is not None:
        problems += _twice(theme, document, place)
    if problems:
        raise InputError(sorted(problems, key=lambda each: each.line or 0))
    moment, moments = _moments(table[found["time"]], place) if "time" in there else (None, None)
    truth, score = (numbers[ours].to_numpy() for ours in ("truth", "score"))
    return Decisions(name, theme, truth, score, document, moment, moments, place.name)


def _twice(theme: pl.Series, document: pl.Series, place: Place) -> list[Problem]:
    """Return the rows whose document stood before, for the same theme."""
    rows = pl.DataFrame({"theme": theme, "document": document}).with_row_index("row")
    again = rows.drop_nulls().with_columns(first=pl.col("row").min().over("theme", "document"))
    return [
        place.problem(
            row,
            f"document {docno!r} of theme {topic!r} is here and in {place.called(first)}",
            "each document once in a theme",
            "Delete one of the two.",
        )
        for row, topic, docno, first in again.filter(pl.col("row") != pl.col("first")).rows()
    ]


def _moments(column: pl.Series, place: Place) -> tuple[npt.NDArray[np.int64], pl.Series]:
    """Return the place of each time among all of them, and these in order: as numbers if they are, else as text."""
    text = tables.as_text(column, place).str.strip_chars()
    as_number = column.dtype == pl.String or column.dtype.is_decimal()
    numbers = text.cast(pl.Float64, strict=False) if as_number else column
    times = numbers if numbers.count() else text
    number = times.dtype.is_numeric()
    expected = "a finite number, as others are" if number else "a number, or text in the order of time, as 2026-01-31"
    bad = times.is_null() | (times.is_finite().not_() if number else text.fill_null("").str.contains(_UNORDERED))
    problems = [
        place.problem(row, f"the time is {_quoted(column[row])}", expected, "Mend the row.")
        for row in bad.fill_null(value=True).arg_true()
    ]
    if problems:
        raise InputError(problems)
    moments = times.unique().sort().alias("time")
    return np.searchsorted(moments.to_numpy(), times.to_numpy()), moments


def _quoted(value: object) -> str:
    return "missing" if value is None or str(value) == "" else trec.quoted(str(value))


def _column(ours: str, present: list[str], place: Place, given: Mapping[str, str]) -> str:
    names = (given[ours],) if ours in given else NAMES[ours]
    for name in names:
        if name in present:
            return name
    mend = f"Rename the column, or name it: --columns {ours}=NAME. Or give QRELS and RUNs."
    raise place.without(f"the {ours}", present, names, mend)


def _numbers(column: pl.Series) -> pl.Series:
    """Numbers as they are, words such as yes and false as 1 and 0; null for all else."""
    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean)):
        return pl.Series(column.name, [None] * len(column), dtype=pl.Float64)
    if column.dtype != pl.String:
        return column.cast(pl.Float64, strict=False)
    word = column.str.strip_chars().str.to_lowercase().replace_strict(_WORDS, default=None, return_dtype=pl.Float64)
    return column.str.strip_chars().cast(pl.Float64, strict=False).fill_null(word)
