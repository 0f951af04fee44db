"""Slices of the topics: labels, such as long or short queries. In: a file or a mapping. Out: label → topics."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from exaequo.errors import BadParameter, bad_input
from exaequo.read.source import PACKED, load
from exaequo.text import count, listed

_TABLES = {".csv": ",", ".tsv": "\t"}
_HEADS = ("topic", "qid", "query_id"), ("label", "slice")


def read_slices(path: str) -> dict[str, list[str]]:
    """Read lines `topic label`, packed or not, or a table (.csv, .tsv) with these heads; a topic may have many."""
    data, source = load(path)
    name = Path(source.name)
    ending = (name.with_suffix("") if name.suffix.lower() in PACKED else name).suffix.lower()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise bad_input(source.name, "not UTF-8", "UTF-8", "Save it as UTF-8.", line=line) from None
    pairs = _table(text, _TABLES[ending], source.name) if ending in _TABLES else _lines(text, source.name)
    labels: dict[str, dict[str, None]] = {}
    for topic, label in pairs:
        labels.setdefault(label, {})[topic] = None
    if not labels:
        raise bad_input(source.name, "there is no slice", "lines: topic label", "Add them.")
    return {label: list(topics) for label, topics in labels.items()}


def _lines(text: str, name: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [each.strip() for each in line.split("\t")] if "\t" in line else line.split()
        yield _pair(fields, name, number)


def _table(text: str, separator: str, name: str) -> Iterator[tuple[str, str]]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    heads = [each.strip().lower() for each in next(rows, [])]
    places = [next((at for at, head in enumerate(heads) if head in known), None) for known in _HEADS]
    if None in places:
        mend = "Name them in the first line."
        raise bad_input(name, f"columns {', '.join(heads) or 'none'}", "topic and label", mend, line=1)
    for row in rows:
        if row:
            there = [row[at].strip() for at in places if at is not None and at < len(row)]
            yield _pair(there, name, rows.line_num)


def _pair(fields: list[str], name: str, line: int) -> tuple[str, str]:
    if len(fields) != 2 or not all(fields):
        mend = "A topic with several labels has several lines; a label with blanks stands after a tab."
        raise bad_input(name, f"{count(len([*filter(None, fields)]), 'field')}", "2: topic label", mend, line=line)
    return fields[0], fields[1]


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
