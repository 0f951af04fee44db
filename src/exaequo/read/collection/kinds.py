"""What a file of a collection is, by its content: documents, topics or judgments, and in which format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from exaequo.read.collection import classic, rows, sgml
from exaequo.read.collection.files import File
from exaequo.read.collection.records import Entry

DOCUMENT, TOPIC, JUDGMENT, EITHER = "document", "topic", "judgment", "either"
#: So much of a file tells what it is.
_HEAD = 20_000
#: Names of files of topics, where documents look alike.
_NAMED_TOPICS = re.compile(r"quer|qry|\.que|topic|question")


class Kind(NamedTuple):
    """A format: its name, what files of it hold, whether its own numbers may be places, and its reader."""

    name: str
    role: str
    classic: bool
    read: Callable[[str, str], Iterable[Entry]]


def _old(name: str, role: str, read: Callable[[str], Iterable[Entry]]) -> Kind:
    return Kind(name, role, True, lambda text, _: read(text))


SMART = _old("SMART", EITHER, classic.smart)
TIME_DOCUMENTS = _old("TIME", DOCUMENT, classic.time)
TIME_TOPICS = _old("TIME", TOPIC, classic.time)
LISA = _old("LISA", DOCUMENT, classic.lisa)
NUMBERED = _old("NPL", EITHER, classic.numbered)
QUESTIONS = _old("LISA", TOPIC, classic.numbered)
TREC_DOCUMENTS = Kind("TREC", DOCUMENT, False, sgml.documents)
TREC_TOPICS = Kind("TREC", TOPIC, False, sgml.topics)
JSON_LINES = Kind("BEIR", EITHER, False, rows.json_lines)
TAB_SEPARATED = Kind("TSV", EITHER, False, rows.tab_separated)
RELEVANCE = Kind("judgments", JUDGMENT, False, lambda *_: ())

#: The first that matches the head of a file tells its kind; what has several lines stands before what has one.
_SIGNS = (
    (SMART, re.compile(r"\s*\.I\b.*\n\.[A-Z]\s*\n")),
    (TIME_DOCUMENTS, re.compile(r"\s*\*TEXT\b")),
    (TIME_TOPICS, re.compile(r"\s*\*FIND\b")),
    (LISA, re.compile(r"\s*Document\s+\d+\s*\n")),
    (RELEVANCE, re.compile(r"\s*Query\s+\d+\s*\n\s*\d+\s+Relevant")),
    (RELEVANCE, re.compile(r"\s*\d+[ \t]*\n[\d\s]+\n[ \t]*/[ \t]*(?:\n|\Z)")),
    (NUMBERED, re.compile(r"\s*\d+[ \t]*\n(?:.*\n)*?[ \t]*/[ \t]*(?:\n|\Z)")),
    (QUESTIONS, re.compile(r"\s*\d+[ \t]*\n(?:.*\n)*?.*#[ \t]*(?:\n|\Z)")),
    (TREC_DOCUMENTS, re.compile(r"(?:<[?!][^>]*>|[\s\]>])*(?:<\w+>\s*)?<DOC(?:\s[^<>]*)?>", re.IGNORECASE)),
    (
        TREC_TOPICS,
        re.compile(r"(?:<[?!][^>]*>|[\s\]>])*(?:<topics[^<>]*>\s*)?<top(?:ic)?(?:\s[^<>]*)?>", re.IGNORECASE),
    ),
    (JSON_LINES, re.compile(rf'\s*\{{(?=.*"(?:{"|".join(rows.NAMES)})"\s*:).*(?:\}}[ \t]*\n|\Z)')),
)
_RELEVANT = re.compile(r"(?:\S+\s+){2,3}[+-]?[\d.]+|\d+(?:\s+\d+)+")
#: The first line of judgments as BEIR has them.
HEADER = re.compile(r"\s*(?:query-id|query_id|qid)\s+(?:corpus-id|doc_id|docno|pid)\s+\S+\s*", re.IGNORECASE)
_PAIR = re.compile(r"\S+\t.*")


def kind_of(file: File) -> Kind | None:
    """Return what a file is, None if it is nothing of a collection."""
    head = file.data[:_HEAD].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in head:
        return None
    for kind, sign in _SIGNS:
        if sign.match(head):
            return kind
    whole = len(file.data) <= _HEAD
    lines = [line for line in (head if whole else head[: head.rfind("\n")]).split("\n") if line.strip()]
    if not lines:
        return None
    judged = lines[1:] if HEADER.fullmatch(lines[0]) else lines
    if all(_RELEVANT.fullmatch(line.strip()) for line in judged):
        return RELEVANCE
    return TAB_SEPARATED if all(map(_PAIR.fullmatch, lines)) else None


def sorted_out(files: Sequence[File], *, only: str = "") -> dict[str, list[tuple[File, Kind]]]:
    """Return the files of documents, of topics and of judgments, all of documents in one format.

    Where formats leave open what a file holds, its name tells, or else its size: the smallest of several has topics.
    With `only`, files that may hold it do, if no other does.
    """
    found: dict[str, list[tuple[File, Kind]]] = {DOCUMENT: [], TOPIC: [], JUDGMENT: []}
    open_ = []
    for file in files:
        kind = kind_of(file)
        if kind is not None and kind.role == EITHER:
            open_.append((file, kind))
        elif kind is not None:
            found[kind.role].append((file, kind))
    named = [each for each in open_ if _NAMED_TOPICS.search(each[0].base)]
    others = [each for each in open_ if each not in named]
    if only == DOCUMENT and not others and not found[DOCUMENT]:
        named, others = [], named
    elif only == TOPIC and not named and not found[TOPIC]:
        named, others = others, []
    elif not only and not named and not found[TOPIC] and len(others) > 1:
        named = [min(others, key=lambda each: len(each[0].data))]
        others.remove(named[0])
    found[TOPIC] += named
    documents = found[DOCUMENT] + others
    first = documents[0][1] if documents else None
    found[DOCUMENT] = [each for each in documents if each[1] is first]
    return found
