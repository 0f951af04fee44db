"""Test collections: a folder or a shipped name in, a `Collection` of documents, topics and judgments out."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from exaequo.read.records import Qrels

#: Columns of `Collection.documents` and `Collection.topics`, all text, "" where there is nothing.
DOCUMENTS = ("docno", "title", "text")
TOPICS = ("qid", "title", "description", "narrative")


@dataclass(frozen=True, eq=False)
class Collection:
    """A test collection: `documents` (`docno, title, text`), `topics` (`qid, title, description, narrative`), `qrels`.

    `language` is a code such as `en`; `remarks` says what was odd in the files and what was made of it.
    """

    name: str
    documents: pl.DataFrame
    topics: pl.DataFrame
    qrels: Qrels | None = None
    language: str = "en"
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Collection {self.name!r}: {self.documents.height:,} documents, {self.topics.height:,} topics>"
