"""Slices of the topics: labels, such as long or short queries. In: a file or a mapping. Out: label → topics."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from exaequo.errors import BadParameter, bad_input
from exaequo.read.source import is_packed, load
from exaequo.text import count, listed

_TABLES = {".csv": ",", ".tsv": "\t"}
#: What a table may call what is labelled, and its label.
Heads = tuple[tuple[str, ...], tuple[str, ...]]
Labelled = tuple[str, str, int]
_HEADS: Heads = ("topic", "qid", "query_id"), ("label", "slice")


def read_slices(path: str) -> dict[str, list[str]]:
    """Read lines `topic label`, packed or not, or a table (.csv, .tsv) with these heads; a topic may have many."""
    labels: dict[str, dict[str, None]] = {}
    for topic, label, _ in read_labels(path, _HEADS)[1]:
        labels.setdefault(label, {})[topic] = None
    return {label: list(topics) for label, topics in labels.items()}


def read_labels(path: str, heads: Heads) -> tuple[str, list[Labelled]]:
    """Read what is labelled, its label and its line; and the name of the file."""
    data, source = load(path)
    name = Path(source.name)
    ending = (name.with_suffix("") if is_packed(name) else name).suffix.lower()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise bad_input(source.name, "not UTF-8", "UTF-8", "Save it as UTF-8.", line=line) from None
    pairs = _table(text, _TABLES[ending], source.name, heads) if ending in _TABLES else _lines(text, source.name, heads)
    labels = list(pairs)
    if not labels:
        raise bad_input(source.name, f"there is no {heads[1][-1]}", f"lines: {' '.join(_words(heads))}", "Add them.")
    return source.name, labels


def _words(heads: Heads) -> list[str]:
    return [each[0] for each in heads]


def _lines(text: str, name: str, heads: Heads) -> Iterator[Labelled]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [each.strip() for each in line.split("\t")] if "\t" in line else line.split()
        yield _pair(fields, name, number, heads)


def _table(text: str, separator: str, name: str, wanted: Heads) -> Iterator[Labelled]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        yield from _cells(rows, name, wanted)
    except csv.Error as error:
        found = f"not a table ({error})"
        raise bad_input(name, found, "fields in lines", "Mend the line.", line=rows.line_num + 1) from None


def _cells(rows: Any, name: str, wanted: Heads) -> Iterator[Labelled]:
    heads = [each.strip().lower() for each in next(rows, [])]
    places = [next((at for at, head in enumerate(heads) if head in known), None) for known in wanted]
    if None in places:
        mend = "Name them in the first line."
        raise bad_input(name, f"columns {', '.join(heads) or 'none'}", " and ".join(_words(wanted)), mend, line=1)
    for row in rows:
        if row:
            there = [row[at].strip() for at in places if at is not None and at < len(row)]
            yield _pair(there, name, rows.line_num, wanted)


def _pair(fields: list[str], name: str, line: int, heads: Heads) -> Labelled:
    if len(fields) != 2 or not all(fields):
        what, label = _words(heads)
        mend = f"Each {label} of a {what} has its line; one with blanks stands after a tab."
        raise bad_input(name, count(len([*filter(None, fields)]), "field"), f"2: {what} {label}", mend, line=line)
    return fields[0], fields[1], line


def checked(slices: Mapping[Any, Any]) -> dict[str, list[str]]:
    """Return label → topics, all as text; refuse what is no such mapping."""
    if not isinstance(slices, Mapping):
        raise BadParameter(f"slices must map labels to topics. Got {slices!r} instead.")
    for label, topics in slices.items():
        if isinstance(topics, str | bytes) or not isinstance(topics, Sequence | set | frozenset):
            raise BadParameter(f"The slice {label!r} must be a list of topics. Got {topics!r} instead.")
        if wrong := [each for each in topics if isinstance(each, bool) or not isinstance(each, str | Integral)]:
            raise BadParameter(f"The topics of the slice {label!r} must be text or whole numbers. Got {wrong[0]!r}.")
    return {str(label): sorted({str(each) for each in topics}) for label, topics in slices.items()}


def remarks(labels: Mapping[str, Sequence[str]], evaluated: Sequence[str]) -> Iterator[str]:
    """Say which labels have no evaluated topic, and which topics have no label."""
    if not labels:
        return
    there, labelled = {*evaluated}, {topic for topics in labels.values() for topic in topics}
    for label, topics in labels.items():
        if not there & {*topics}:
            yield f"the slice {label} has no evaluated topic"
    if without := [topic for topic in evaluated if topic not in labelled]:
        yield f"{count(len(without), 'topic')} in no slice: {listed(without)}"
