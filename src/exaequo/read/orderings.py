"""Orderings of systems by people: lines `judge system rank`, or `system rank` of one judge. Out: a `Preference` each.

Rank 1 is the best; equal ranks are ties. A table has columns of these names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeAlias

import polars as pl

from exaequo.errors import BadParameter, InputError, Problem, bad_input
from exaequo.read import tables, trec, unique_names
from exaequo.read.places import Place
from exaequo.read.source import Source, load

#: The names each column goes by; the first one present is taken. Without a judge, the file is one.
NAMES: dict[str, tuple[str, ...]] = {
    "judge": ("judge", "assessor", "user", "annotator", "person"),
    "system": ("system", "run", "run_id", "runid", "tag"),
    "rank": ("rank", "place", "position"),
}
_SHAPE = "judge system rank, or system rank"
#: Paths, or `{judge: {system: rank}}`.
OrderingsLike: TypeAlias = "str | os.PathLike[str] | Sequence[Any] | Mapping[str, Mapping[str, float]]"


@dataclass(frozen=True)
class Preference:
    """The order one judge puts systems in: the rank of each, the lowest for the best."""

    judge: str
    file: str
    ranks: dict[str, float]


def read_orderings(data: OrderingsLike) -> list[Preference]:
    """Read what judges prefer, from one file or several, or from `{judge: {system: rank}}`."""
    if isinstance(data, Mapping):
        if not all(isinstance(ranks, Mapping) for ranks in data.values()):
            raise BadParameter("orderings are files, or {judge: {system: rank}}.")
        names = [(str(judge), system, rank) for judge, ranks in data.items() for system, rank in ranks.items()]
        table = pl.DataFrame(names, schema=list(NAMES), orient="row", strict=False, infer_schema_length=None)
        return _checked(table, Place("orderings"), "")
    paths = [data] if isinstance(data, str | os.PathLike) else list(data)
    if not all(isinstance(path, str | os.PathLike) for path in paths):
        raise BadParameter("orderings are files, or {judge: {system: rank}}.")
    try:
        found = [each for path in paths for each in _file(os.fspath(path))]
    except InputError as error:
        raise InputError(error.problems, checked=False) from None
    unique = unique_names([(each.judge, each.file) for each in found])
    return [replace(each, judge=name) for each, name in zip(found, unique, strict=True)]


def _file(path: str) -> list[Preference]:
    content, source = load(path)
    kind = tables.kind_of(path, "text")
    if not content.strip():
        raise bad_input(source.name, "the file is empty", f"lines of {_SHAPE}", "Check how it was made.")
    if kind == "text":
        table, place = _lines(content, source)
    else:
        table, place = tables.read(content, kind, source.name)
        found = {ours: next((name for name in NAMES[ours] if name in table.columns), None) for ours in NAMES}
        for ours in ("system", "rank"):
            if found[ours] is None:
                raise place.without(f"the {ours}", table.columns, NAMES[ours], "Rename the column.")
        place.refuse_twice(name for name in found.values() if name)
        place.refuse_no_ids(found[ours] or "" for ours in ("judge", "system"))
        table = table.select(pl.col(theirs).alias(ours) for ours, theirs in found.items() if theirs)
    return _checked(table, place, source.stem)


def _lines(content: bytes, source: Source) -> tuple[pl.DataFrame, Place]:
    """Read lines of text; all have two fields, or all have three."""
    rows: list[list[str]] = []
    lines: list[int] = []
    problems = []
    for number, line in enumerate(content.splitlines(), 1):
        fields = line.decode(errors="replace").split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) not in (2, 3) or (rows and len(fields) != len(rows[0])):
            expected = f"{len(rows[0])} fields, as above" if rows else f"2 or 3 fields: {_SHAPE}"
            what = f"{len(fields)} field{'s' * (len(fields) != 1)} ({trec.quoted(' '.join(fields))})"
            mend = "Mend or delete the line; names with blanks need a table, .csv or .tsv."
            problems.append(Problem(source.name, number, what, expected, mend))
            continue
        rows.append(fields)
        lines.append(number)
    if problems or not rows:
        empty = Problem(source.name, None, "there are only comments", f"lines of {_SHAPE}", "Check how it was made.")
        raise InputError(problems or [empty])
    table = pl.DataFrame(rows, schema=list(NAMES)[3 - len(rows[0]) :], orient="row")
    return table, Place(source.name, lines=lines)


def _checked(table: pl.DataFrame, place: Place, stem: str) -> list[Preference]:
    """Make an ordering of each judge; raise InputError with every row that does not fit."""
    problems: list[Problem] = []
    found: dict[str, dict[str, float]] = {}
    seen: dict[tuple[str, str], int] = {}
    judges = tables.as_text(table["judge"], place) if "judge" in table.columns else [stem] * table.height
    columns = (judges, tables.as_text(table["system"], place), tables.as_text(table["rank"], place))
    for row, (judge, system, text) in enumerate(zip(*columns, strict=True)):
        rank = _number(text)
        first = seen.setdefault((judge, system), row)
        if not judge or not system:
            what = "system" if judge else "judge"
            problems.append(place.problem(row, f"the {what} is missing", "a name", "Mend or delete the line."))
        elif rank is None:
            what = f"the rank is {'missing' if text is None else trec.quoted(text)}"
            mend = "Mend the rank; a line of headings needs a table, .csv or .tsv."
            problems.append(place.problem(row, what, "a finite number, 1 for the best", mend))
        elif first < row:
            what = f"system {system!r} of judge {judge!r} is here and in {place.called(first)}"
            problems.append(place.problem(row, what, "each system once", "Delete one of the two."))
        else:
            found.setdefault(judge, {})[system] = rank
    if problems or not found:
        none = Problem(place.name, None, "there are no rows", "ranks of systems", "Check how it was made.")
        raise InputError(problems or [none])
    return [Preference(judge, place.name, ranks) for judge, ranks in found.items()]


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if isfinite(number) else None
