"""Texts of topics and documents for the page. In: files or frames, and what is shown. Out: texts by name, cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from exaequo.choices import PAGE_TEXT
from exaequo.errors import bad_input
from exaequo.read.collection import DOCUMENTS, TOPICS, read_documents, read_topics
from exaequo.text import listed

#: A file, a folder, an archive, or what was read from one.
TextsLike = str | Path | pl.DataFrame | None


@dataclass(frozen=True, eq=False)
class Texts:
    """Frames of topics and documents, and where they are from; None where nobody gave any."""

    topics: pl.DataFrame | None = None
    documents: pl.DataFrame | None = None
    topics_file: str = ""
    documents_file: str = ""


def read_texts(topics: TextsLike, documents: TextsLike) -> Texts:
    """Read topics and documents, unless they are read already."""
    return Texts(
        read_topics(topics) if isinstance(topics, str | Path) else topics,
        read_documents(documents) if isinstance(documents, str | Path) else documents,
        str(topics) if isinstance(topics, str | Path) else "topics",
        str(documents) if isinstance(documents, str | Path) else "docs",
    )


def topic_texts(texts: Texts, shown: Iterable[str]) -> dict[str, list[str]]:
    """Return title, description and narrative of the topics shown, whole."""
    return {} if texts.topics is None else _of(texts.topics, TOPICS, shown, texts.topics_file, None)


def document_texts(texts: Texts, shown: Iterable[str]) -> dict[str, list[str]]:
    """Return title and text of the documents shown, cut at a length."""
    return {} if texts.documents is None else _of(texts.documents, DOCUMENTS, shown, texts.documents_file, PAGE_TEXT)


def _of(
    frame: pl.DataFrame, columns: tuple[str, ...], shown: Iterable[str], file: str, most: int | None
) -> dict[str, list[str]]:
    names, key = list(dict.fromkeys(shown)), columns[0]
    found = frame.filter(pl.col(key).is_in(names)).select(columns)
    if names and not found.height:
        problem = f"none of the {len(names):,} shown is there ({key} {listed(frame[key].head(3).to_list(), 3)})"
        mend = "Check that runs, judgments and texts are of the same collection."
        raise bad_input(file, problem, f"{key} such as {listed(names[:3], 3)}", mend)
    return {name: [_cut(found_part, most) for found_part in row] for name, *row in found.iter_rows()}


def _cut(text: str, most: int | None) -> str:
    words = " ".join(text.split())
    return words if most is None or len(words) <= most else words[:most].rstrip() + " …"
