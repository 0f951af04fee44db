"""Tables: CSV, TSV, JSON (lines), Parquet, and any frame with named columns. Out: a frame as from TREC text."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from exaequo.choices import TABLE_READERS
from exaequo.errors import InputError, Problem, bad_input
from exaequo.frames import pl
from exaequo.read import golden, objects, values
from exaequo.read.foreign import text_of
from exaequo.read.lists import DOCNOS, Lists, flat
from exaequo.read.mending import is_number, mend_number, mend_repeat
from exaequo.read.places import IDS, Place
from exaequo.read.plain import Plain, of_columns
from exaequo.read.records import repeated, starts, with_keys
from exaequo.read.source import PACKED, as_it_stands
from exaequo.read.trec import QRELS, RUN, Layout, quoted

#: The names each column goes by: ours, PyTerrier's, ir_measures', ranx's, trectools', BEIR's. The first one present is
#: taken: a PyTerrier frame has the text of the query under `query` and its id under `qid`.
ALIASES: dict[str, tuple[str, ...]] = {
    "qid": ("qid", "query_id", "query-id", "q_id", "topic", "topic_id", "query"),
    "docno": DOCNOS,
    "sim": ("sim", "score"),
    "rel": ("rel", "relevance", "label", "score"),
    "rank": ("rank",),
    "run_id": ("run_id", "runid", "system", "tag"),
    "iter": ("iter", "iteration", "subtopic", "subtopic_id"),
}
REQUIRED = {RUN: ("qid", "docno", "sim"), QRELS: ("qid", "docno", "rel")}
OPTIONAL = {RUN: ("rank", "run_id"), QRELS: ("iter",)}


def parse(
    data: bytes,
    kind: str,
    layout: Layout,
    name: str,
    columns: Mapping[str, str] | None = None,
    *,
    repeats: bool = False,
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read a whole file of one of the `KINDS`, a table or lists, as a run or as judgments; and what is odd about it.

    A document twice in one topic is a problem, unless `repeats` are allowed.
    """
    if not data.strip():
        raise bad_input(name, "the file is empty", f"a {kind} table", "Check how it was made.")
    if (lists := _lists(data, kind, layout, name, columns or {})) is not None:
        return from_lists(lists, layout, name, repeats=repeats)
    table, place = read(data, kind, name)
    if table.height and golden.is_golden(table.row(0, named=True), columns):
        lists = golden.found_in(table.to_dicts(), layout, name, columns or {})
    if lists is not None:
        return from_lists(lists, layout, name, repeats=repeats)
    return normalise(table, place, layout, columns, repeats=repeats), ()


def _lists(data: bytes, kind: str, layout: Layout, name: str, given: Mapping[str, str]) -> Lists | None:
    """Return the lists that JSON text holds; None if it is a table."""
    if kind == "json":
        found = values.of_json(data, name)
    elif kind == "jsonl" and golden.is_golden(values.first_line(data), given):
        found = values.of_lines(data, name)
    else:
        return None
    return golden.found_in(found.whole(), layout, name, given, found.lines)


def from_lists(
    lists: Lists, layout: Layout, name: str, *, repeats: bool = False
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Give lists the columns and types of TREC text; and what is odd about them."""
    frame, place = flat(lists, layout, name)
    return checked(frame, layout, place, repeats=repeats), place.remarks


def read(data: bytes, kind: str, name: str) -> tuple[pl.DataFrame, Place]:
    """Read a whole table file of one of the `KINDS` as it is."""
    try:
        return KINDS[kind](data, name)
    # Polars panics at some damaged files; that is not even an Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        found = f"cannot be read as {kind} ({' '.join(str(error).split())[:120]})"
        raise bad_input(name, found, f"a {kind} table", "Check the file.") from None


def _delimited(data: bytes, name: str, separator: str, quote: str | None) -> tuple[pl.DataFrame, Place]:
    text_of(data, name)
    rows = _rows(data, separator, quote)
    header = next(rows, (1, []))[1]
    try:
        # Every column as text: the topic "007" is not the number 7.
        table = pl.read_csv(as_it_stands(data), separator=separator, quote_char=quote, infer_schema=False)
    except pl.exceptions.PolarsError:
        problems = [
            Problem(name, line, f"{len(row)} fields", f"{len(header)}, as in the header", "Mend the line.")
            for line, row in rows
            if len(row) > len(header)
        ]
        if problems:
            raise InputError(problems) from None
        raise
    # A quoted field may hold line ends; then rows are counted, not lines.
    spans = quote is not None and quote.encode() in data and table.height + 1 < data.rstrip(b"\r\n").count(b"\n") + 1
    twice = {each: [1] for each, times in Counter(header).items() if times > 1}
    return table, Place(name, first_line=None if spans else 2, twice=twice)


def _rows(data: bytes, separator: str, quote: str | None) -> Iterator[tuple[int, list[str]]]:
    """Read rows slowly, each with the line it ends in, as far as they can be told."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    rows = csv.reader(text, delimiter=separator, quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL)
    with suppress(csv.Error):
        for row in rows:
            yield rows.line_num, row


def _jsonl(data: bytes, name: str) -> tuple[pl.DataFrame, Place]:
    text_of(data, name)
    try:
        table = pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        problems = [
            Problem(name, number, f"not a JSON object ({quoted(line)})", "one object a line", "Mend the line.")
            for number, line in _numbered(data)
            if _pairs(line) is None
        ]
        if problems:
            raise InputError(problems) from None
        raise
    no_blank_lines = table.height == data.count(b"\n") + (not data.endswith(b"\n"))
    lines = range(1, table.height + 1) if no_blank_lines else [number for number, _ in _numbered(data)]
    twice, no_text = _lost(data, table)
    return table, Place(name, lines=lines, twice=twice, no_text=no_text)


def _numbered(data: bytes) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(data.decode().split("\n"), 1) if line.strip())


def _lost(data: bytes, table: pl.DataFrame) -> tuple[dict[str, list[int]], dict[str, list[tuple[int, object]]]]:
    """Return the lines in which a key stands more than once, and the rows in which other values became text."""
    twice: dict[str, list[int]] = {}
    no_text: dict[str, list[tuple[int, object]]] = {}
    for row, (number, line) in enumerate(_numbered(data)) if _may_be_lost(data, table) else ():
        pairs = _pairs(line) or ()
        for key, times in Counter(key for key, _ in pairs).items():
            if times > 1:
                twice.setdefault(key, []).append(number)
        for key, value in pairs:
            if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
                no_text.setdefault(key, []).append((row, value))
    return twice, no_text


def _may_be_lost(data: bytes, table: pl.DataFrame) -> bool:
    """Tell quickly whether there are more keys than values, or values of text without quotes."""
    if b"\\u" in data:  # a key may be written in more than one way
        return True
    for column in table:
        key, values = f'"{column.name}"'.encode(), column.count()
        if data.count(key) > values:
            return True
        if column.dtype == pl.String and data.count(key + b':"') + data.count(key + b': "') < values:
            return True
    return False


def _pairs(line: str) -> tuple[tuple[str, object], ...] | None:
    """Return the keys and values of a JSON object as they stand there; None if the line is no object."""

    def refuse(constant: str) -> None:  # NaN and Infinity are Python's, not JSON's
        raise ValueError(constant)

    try:
        pairs: object = json.loads(line, object_pairs_hook=tuple, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    return pairs if isinstance(pairs, tuple) else None


def _json(data: bytes, name: str) -> tuple[pl.DataFrame, Place]:
    found = values.of_json(data, name)
    for line, row in zip(found.lines, found.values, strict=True):
        if found.keys is not None or not isinstance(row, dict):
            expected = "a list of objects, each a row, or a query with its documents"
            mend = 'Name the query of each: {"query": ..., "relevant": [...]}'
            raise bad_input(name, f"no row ({quoted(json.dumps(row))})", expected, mend, line=line)
    if not found.values:
        raise bad_input(name, "there are no rows", "a list of objects", "Check how it was made.")
    table, no_text = objects.from_rows(found.values)
    return table, Place(name, lines=found.lines, no_text=no_text)


def _parquet(data: bytes, name: str) -> tuple[pl.DataFrame, Place]:
    return pl.read_parquet(io.BytesIO(data)), Place(name)


#: A function for each of the `TABLE_READERS`.
KINDS: dict[str, Callable[[bytes, str], tuple[pl.DataFrame, Place]]] = {
    "csv": partial(_delimited, separator=",", quote='"'),
    "tsv": partial(_delimited, separator="\t", quote=None),
    "jsonl": _jsonl,
    "json": _json,
    "parquet": _parquet,
}


def kind_of(path: str, other: str) -> str:
    """Return what kind of table the name of a file says it is, or the `other` kind."""
    endings = ["", *(ending for ending in map(str.lower, Path(path).suffixes) if ending not in PACKED)]
    return next((kind for kind, known in TABLE_READERS.items() if endings[-1] in known), other)


def normalise(
    table: pl.DataFrame,
    place: Place,
    layout: Layout,
    columns: Mapping[str, str] | None = None,
    *,
    repeats: bool = False,
    any_row: bool = False,
) -> pl.DataFrame:
    """Give a table the columns and types of TREC text; raise InputError with every row that does not fit.

    With `any_row`, rows without id or finite number are no problem: who reads them drops them.
    """
    found = find_columns(table.columns, layout, place, columns)
    place.refuse_twice(found.values())
    place.refuse_no_ids(found[ours] for ours in ("qid", "docno"))
    frame = table.select(pl.col(theirs).alias(ours) for ours, theirs in found.items())
    # An object of other fields is no blank line.
    blank = (table if place.lines else frame).select(pl.all_horizontal(pl.all().is_null())).to_series()
    frame = frame.with_row_index("row").filter(~blank)
    if not frame.height:
        raise bad_input(place.name, "there are no rows", layout.what, "Check how it was made.")
    kind = frame[layout.number].dtype
    if not (kind.is_numeric() or kind in (pl.String, pl.Boolean, pl.Null)):
        found_kind = f"column {found[layout.number]} holds {kind} values"
        raise bad_input(place.name, found_kind, "numbers", "Convert the column to numbers.")
    number = frame[layout.number].cast(pl.Float64, strict=False).rename("number")
    ids = [_as_ids(frame[column], place) for column in ("qid", "docno")]
    problems = [] if any_row else _missing(frame, ids, place) + _not_numbers(frame, number, layout, place)
    rows = frame["row"]
    rest = [as_text(frame[column], place) for column in OPTIONAL[layout] if column in found]
    frame = with_keys(pl.DataFrame([*ids, number.rename(layout.number), *rest]))
    if not (problems or repeats):
        problems = _repeats(frame, rows, place, layout)
    if problems:
        raise InputError(problems)
    return frame


def plain(table: pl.DataFrame, layout: Layout, name: str, columns: Mapping[str, str] | None = None) -> Plain | None:
    """Return the lines of a table that has but ids, and numbers, topic by topic; None if it is not plain."""
    found = find_columns(table.columns, layout, Place(name), columns)
    *ids, number = (table.schema[theirs] for theirs in found.values())
    are_ids = len(ids) == 2 and all(kind == pl.String or kind.is_integer() for kind in ids)
    if not (are_ids and number.is_numeric() and table.height):
        return None
    kinds: Mapping[Any, Any] = {"qid": pl.String, "docno": pl.String, layout.number: pl.Float64}
    frame = table.select(pl.col(theirs).alias(ours) for ours, theirs in found.items()).cast(kinds)
    start = starts(frame["qid"])
    topics = frame["qid"][start]
    if any(frame.null_count().row(0)) or topics.n_unique() < len(topics):
        return None
    return of_columns(topics.to_list(), np.diff(start, append=frame.height).tolist(), frame)


def checked(frame: pl.DataFrame, layout: Layout, place: Place, *, repeats: bool = False) -> pl.DataFrame:
    """Give a frame that has our columns and types already its keys; what is wrong with it `normalise` says."""
    number = frame[layout.number]
    sound = frame.height and number.dtype == pl.Float64 and not number.null_count() and number.is_finite().all()
    if sound and not any((frame[column] == "").any() for column in ("qid", "docno")):
        frame = with_keys(frame)
        if repeated(frame) is None:
            return frame
    return normalise(frame, place, layout, repeats=repeats)


def find_columns(
    present: list[str], layout: Layout, place: Place, given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Map our column names to the table's, by the names the user gave, then by the names other tools use."""
    given = dict(given or {})
    wanted = (*REQUIRED[layout], *OPTIONAL[layout])
    found: dict[str, str] = {}
    for ours in wanted:
        names = (given[ours],) if ours in given else ALIASES[ours]
        if ours in given and ours in ("qid", "docno"):
            names += ALIASES[ours]  # the name may be that of the other file
        theirs = next((name for name in names if name in present), None)
        if theirs is not None:
            found[ours] = theirs
        elif ours in REQUIRED[layout] or ours in given:
            mend = f"Rename the column, or name it: columns={{{ours!r}: ...}}, --columns {ours}=NAME."
            raise place.without(ours, present, names, _mend_columns(present) or mend)
    return found


def _mend_columns(present: list[str]) -> str:
    """Say what the file may be, if its first line is no line of names as it should be; nothing if it may be one."""
    if len(present) == 1 and len(present[0].split()) >= len(QRELS.fields):
        return "If this is TREC text, say so with --reader trec."
    if len(present) == 1 and any(sign in present[0] for sign in ",;\t|"):
        return "Separate columns by commas in .csv, by tabs in .tsv."
    if any("\r" in name for name in present):
        return "End lines with LF: tr '\\r' '\\n'"
    return "Write the names of the columns into the first line." if any(map(is_number, present)) else ""


def _as_ids(column: pl.Series, place: Place) -> pl.Series:
    """Return ids as strings. Integers become strings here, once; floats are not ids."""
    if column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    found = f"column {column.name} holds {column.dtype} values"
    raise bad_input(place.name, found, IDS, "Convert the column to strings.")


def as_text(column: pl.Series, place: Place) -> pl.Series:
    """Return a column as strings, whatever it holds, if that can be; dates are no ranks."""
    found = f"column {column.name} holds {column.dtype} values"
    if column.name == "rank" and column.dtype.is_temporal():
        raise bad_input(place.name, found, "numbers", "Convert the column to numbers.")
    with suppress(pl.exceptions.PolarsError):
        if not column.dtype.is_nested():
            return column.cast(pl.String)
    raise bad_input(place.name, found, "text or numbers", "Convert the column to text.")


def _missing(frame: pl.DataFrame, ids: list[pl.Series], place: Place) -> list[Problem]:
    return [
        place.problem(row, f"no {column.name}", "an id", "Drop the row or give it an id.")
        for column in ids
        for row in frame["row"].filter(column.is_null() | (column == ""))
    ]


def _not_numbers(frame: pl.DataFrame, number: pl.Series, layout: Layout, place: Place) -> list[Problem]:
    bad = ~(number.is_not_null() & number.is_finite().fill_null(value=False))
    noun = "score" if layout.number == "sim" else "judgment"
    mend = f"Drop the row or give it a {noun}."
    rows = frame.filter(bad).select("row", pl.col(layout.number).cast(pl.String)).rows()
    return [
        place.problem(row, f"{noun} is missing", "a finite number", mend)
        if value is None
        else place.problem(row, f"{noun} is {quoted(value)}", "a finite number", mend_number(value, mend))
        for row, value in rows
    ]


def _repeats(frame: pl.DataFrame, rows: pl.Series, place: Place, layout: Layout) -> list[Problem]:
    again = repeated(frame, subtopics=True)
    if again is None:
        return []
    problems = []
    first: tuple[str, str, int] | None = None
    for qid, docno, row in again.select("qid", "docno", pl.lit(rows).gather(pl.col("row"))).rows():
        if first is None or first[:2] != (qid, docno):
            first = (qid, docno, row)
            continue
        found = f"document {docno!r} of topic {qid!r} is here and in {place.called(first[2])}"
        problems.append(place.problem(row, found, "each document once in a topic", mend_repeat(layout.number, "two")))
    return problems
