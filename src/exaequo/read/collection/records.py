"""What reading a collection gives: a `Collection`, and the `Entry` each of its documents and topics was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from exaequo.errors import InputError, Problem
from exaequo.read.records import Qrels
from exaequo.read.trec import quoted

#: Columns of `Collection.documents` and `Collection.topics`, all text, "" where there is nothing.
DOCUMENTS = ("docno", "title", "text")
TOPICS = ("qid", "title", "description", "narrative")


@dataclass(frozen=True, eq=False)
class Collection:
    """A test collection: `documents` (`docno, title, text`), `topics` (`qid, title, description, narrative`), `qrels`.

    `language` is a code such as `en`; `remarks` says what was odd in the files and what was made of it; `kind` is the
    format of the documents.
    """

    name: str
    documents: pl.DataFrame
    topics: pl.DataFrame
    qrels: Qrels | None = None
    language: str = "en"
    remarks: tuple[str, ...] = ()
    kind: str = ""

    def __repr__(self) -> str:
        return f"<Collection {self.name!r}: {self.documents.height:,} documents, {self.topics.height:,} topics>"


class Entry(NamedTuple):
    """A document or a topic as a file has it. `more` is text of a document that no topic has use for."""

    name: str
    line: int
    title: str = ""
    text: str = ""
    description: str = ""
    narrative: str = ""
    more: str = ""

    @property
    def document(self) -> tuple[str, ...]:
        """The columns of `DOCUMENTS`; lines stay lines."""
        text = "\n".join(filter(None, (self.text.strip(), self.more.strip())))
        if "\n" in text:
            text = "\n".join(map(str.rstrip, text.split("\n")))
        return self.name, on_one_line(self.title), text

    @property
    def topic(self) -> tuple[str, ...]:
        """The columns of `TOPICS`: the text of a topic without a title is its title, else its description."""
        description = self.description or (self.text if self.title else "")
        return self.name, *map(on_one_line, (self.title or self.text, description, self.narrative))


def on_one_line(text: str) -> str:
    """Return text with one blank wherever there is white space."""
    return " ".join(text.split())


def checked(entries: Sequence[Entry], file: str, what: str) -> Sequence[Entry]:
    """Return the entries of a file; raise InputError if one has no name, a name with blanks, or that of another."""
    problems, seen = [], dict[str, int]()
    for entry in entries:
        first = seen.setdefault(entry.name, entry.line)
        if not re.fullmatch(r"\S+", entry.name):
            found = f"the name of a {what} is {quoted(entry.name)}" if entry.name else f"a {what} without a name"
            problems.append(Problem(file, entry.line, found, "one word", "Name it, or delete it."))
        elif first != entry.line:
            found = f"{what} {quoted(entry.name)} is here and in line {first}"
            problems.append(Problem(file, entry.line, found, f"each {what} once", "Delete or rename one of the two."))
    if problems:
        raise InputError(problems)
    return entries
