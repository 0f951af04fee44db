"""Collections as rows: JSON lines as BEIR has them, `id<TAB>text` as MS MARCO has it. Out: an `Entry` each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from exaequo.errors import InputError, Problem, bad_input
from exaequo.read.collection.records import Entry
from exaequo.read.trec import quoted

#: What the name of a document or topic is called.
NAMES = ("_id", "id", "docno", "qid", "doc_id", "query_id", "docid")
_TEXTS = ("text", "contents", "body", "query")
_READ = (*NAMES, *_TEXTS, "title", "description", "narrative", "metadata")


def json_lines(text: str, file: str) -> Iterator[Entry]:
    """Read one object a line: `_id`, `title`, `text`, and of topics `metadata` with `description` and `narrative`."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        row = _object(line, file, number)
        metadata = row.get("metadata")
        more = {**metadata, **row} if isinstance(metadata, dict) else row
        fields = [_first(more, names) for names in (("title",), _TEXTS, ("description",), ("narrative",))]
        yield Entry(_first(row, NAMES), number, *fields)


def _object(line: str, file: str, number: int) -> dict[str, Any]:
    def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        twice = Counter(key for key, _ in pairs) if len(found) < len(pairs) else {}
        for key in (key for key in _READ if twice.get(key, 0) > 1):
            raise bad_input(
                file, f"{quoted(key)} is here twice", "each key once", "Delete one of the two.", line=number
            )
        return found

    try:
        row = json.loads(line, object_pairs_hook=each_once)
        json.dumps(row, ensure_ascii=False).encode()
    except InputError:
        raise
    except (ValueError, RecursionError):  # half of a pair of surrogates is no text
        row = None
    if isinstance(row, dict):
        return row
    raise bad_input(file, f"no JSON object ({quoted(line)})", "one object a line", "Mend the line.", line=number)


def _first(row: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of these fields that is there, as text; null is nothing."""
    values = (row[name] for name in names if row.get(name) is not None)
    value = next((each for each in values if isinstance(each, str | int)), "")
    return str(value)


def tab_separated(text: str, file: str) -> Iterator[Entry]:
    """Read `id<TAB>text`; of more columns the last is the text of a document and the one before it its title."""
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        name, *fields = line.split("\t")
        if not line.strip():
            continue
        if not fields:
            problems.append(
                Problem(file, number, f"no tab ({quoted(line)})", "id<TAB>text", "Mend or delete the line.")
            )
            continue
        yield Entry(name.strip(), number, fields[-2] if len(fields) > 1 else "", fields[-1])
    if problems:
        raise InputError(problems)
