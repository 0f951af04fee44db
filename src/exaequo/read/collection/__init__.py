"""Test collections: a folder or a shipped name in, a `Collection` of documents, topics and judgments out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import polars as pl

from exaequo.errors import InputError, bad_input
from exaequo.read import datasets, read_qrels
from exaequo.read.collection.files import File, files_of
from exaequo.read.collection.kinds import DOCUMENT, JUDGMENT, TIME_DOCUMENTS, TOPIC, Kind, sorted_out
from exaequo.read.collection.matching import matched, numbers
from exaequo.read.collection.records import DOCUMENTS, TOPICS, Collection, Entry, checked
from exaequo.read.collection.relevance import judgments
from exaequo.read.collection.tongue import language_of
from exaequo.read.records import Qrels, by_subtopic, with_keys
from exaequo.read.source import Source
from exaequo.text import count, did_you_mean, listed, printable

__all__ = ["DOCUMENTS", "SHIPPED", "TOPICS", "Collection", "read_collection", "read_documents", "read_topics"]

#: Collections that come with the package, and where they lie.
SHIPPED = {
    name: Path(__file__).parent / "crossings" / folder
    for name, folder in {"crossings": "en", "crossings-en": "en", "crossings-fr": "fr"}.items()
}
_READ = "documents and topics in SMART, TIME, LISA, NPL or TREC markup, JSON lines or id<TAB>text"


class _Part(NamedTuple):
    """Documents or topics as read: the frame, the kind of its files, and remarks."""

    frame: pl.DataFrame
    kind: Kind
    remarks: list[str]


def read_collection(where: str | os.PathLike[str], *, split: str = "test") -> Collection:
    """Read a test collection from a folder or an archive, or one that is shipped, by name: `crossings`.

    `ir:DATASET` is one that ir_datasets knows. Files are recognised by their content. Where there are judgments or
    topics for several splits, `split` says which.
    """
    name = os.fspath(where)
    if datasets.is_named(name):
        return _named(name)
    folder = str(SHIPPED.get(name, name))
    if not Path(folder).exists():
        expected, hint = f"a folder, or {' or '.join(SHIPPED)}", did_you_mean(name, SHIPPED) or "."
        raise bad_input(name, "there is no such folder", expected, f"Check the path{hint}")
    files = files_of(folder)
    found = sorted_out(files)
    chosen = {what: _chosen(found[what], split, name, f"{what}s") for what in (TOPIC, JUDGMENT)}
    documents, topics = _documents(found[DOCUMENT], name, files), _topics(chosen[TOPIC], name, files)
    qrels, frames, said = None, (documents.frame, topics.frame), ["no file of judgments"]
    for file, _ in chosen[JUDGMENT]:
        qrels, frames, said = _judged(file, documents, topics)
    remarks = [*documents.remarks, *topics.remarks, *said]
    used = {id(file) for file, _ in chain(found[DOCUMENT], *chosen.values())}
    unused = [printable(os.path.relpath(file.name, folder)) for file in files if id(file) not in used]
    if unused and name not in SHIPPED:
        remarks.append(f"{count(len(unused), 'file')} not used: {listed(unused)}")
    label = name if name in SHIPPED else Path(folder).absolute().name
    return Collection(label, *frames, qrels, _language(frames), tuple(remarks), documents.kind.name)


def read_documents(path: str | os.PathLike[str]) -> pl.DataFrame:
    """Read documents from a file, a folder, an archive or `ir:DATASET`: a frame `docno, title, text`."""
    name = os.fspath(path)
    if datasets.is_named(name):
        return _frame(datasets.documents(name), DOCUMENTS)
    files = files_of(name)
    return _documents(sorted_out(files, only=DOCUMENT)[DOCUMENT], name, files).frame


def read_topics(path: str | os.PathLike[str], *, split: str = "test") -> pl.DataFrame:
    """Read topics from a file, a folder, an archive or `ir:DATASET`: a frame `qid, title, description, narrative`."""
    name = os.fspath(path)
    if datasets.is_named(name):
        return _frame(datasets.topics(name), TOPICS)
    files = files_of(name)
    return _topics(_chosen(sorted_out(files, only=TOPIC)[TOPIC], split, name, "topics"), name, files).frame


def _named(name: str) -> Collection:
    """Return a collection of ir_datasets."""
    texts = read_documents(name), read_topics(name)
    qrels = read_qrels(name) if datasets.has(name, "qrels") else None
    remarks = () if qrels else ("no judgments",)
    return Collection(name, *texts, qrels, _language(texts), remarks, "ir_datasets")


def _language(frames: Iterable[pl.DataFrame]) -> str:
    return language_of(chain(*(frame.head(200)[column] for frame in frames for column in frame.columns[1:])))


def _none(what: str, where: str, files: Sequence[File]) -> InputError:
    """Return the error of a place without documents or topics; it says which files were looked at."""
    names = [printable(Path(file.name).name) for file in files]
    among = f" in {count(len(files), 'file')}: {listed(names)}" if Path(where).is_dir() else ""
    return bad_input(where, f"there are no {what}{among}", _READ, "Check that this is the right place.")


def _documents(files: Sequence[tuple[File, Kind]], where: str, among: Sequence[File]) -> _Part:
    if not files:
        raise _none("documents", where, among)
    entries, remarks = _entries(files, DOCUMENT)
    frame = _frame((entry.document for entry in entries), DOCUMENTS)
    empty = frame.filter(pl.col("title") == "", pl.col("text") == "")["docno"].to_list()
    if empty:
        remarks.append(f"{count(len(empty), 'document')} without a word: {listed(empty)}")
    again = frame.filter(pl.col("title") != "").filter(_begins_with_title()).height
    if 2 * again > frame.height:
        remarks.append(f"{count(again, 'document')} with the title once more at the beginning of the text")
    return _Part(frame, files[0][1], remarks)


def _begins_with_title() -> pl.Expr:
    return pl.col("text").str.replace_all(r"\s+", " ").str.starts_with(pl.col("title"))


def _topics(files: Sequence[tuple[File, Kind]], where: str, among: Sequence[File]) -> _Part:
    if not files:
        raise _none("topics", where, among)
    entries, remarks = _entries(files, TOPIC)
    frame = _frame((entry.topic for entry in entries), TOPICS)
    blank = pl.all_horizontal(pl.col(TOPICS[1:]) == "")
    empty = frame.filter(blank)["qid"].to_list()
    if empty:
        remarks.append(f"{count(len(empty), 'topic')} without a word, left out: {listed(empty)}")
    if len(empty) == frame.height:
        raise bad_input(where, "all topics are empty", "topics with words", "Check how they were made.")
    return _Part(frame.filter(~blank), files[0][1], remarks)


def _entries(files: Iterable[tuple[File, Kind]], what: str) -> tuple[list[Entry], list[str]]:
    """Read all entries of files, one after the other, and what there is to say."""
    entries, remarks = list[Entry](), list[str]()
    homes: dict[str, str] = {}
    for file, kind in files:
        text, said = file.text()
        remarks += said
        for entry in checked(list(kind.read(text, file.name)), file.name, what):
            if homes.setdefault(entry.name, file.name) != file.name:
                found = f"{what} {entry.name!r} is here and in {homes[entry.name]}"
                raise bad_input(file.name, found, f"each {what} once", "Delete one of the two.", line=entry.line)
            entries.append(entry)
    return entries, remarks


def _frame(rows: Iterable[tuple[str, ...]], columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict.fromkeys(columns, pl.String), orient="row")


def _judged(file: File, documents: _Part, topics: _Part) -> tuple[Qrels, tuple[pl.DataFrame, pl.DataFrame], list[str]]:
    """Read judgments and make their names and those of documents and topics agree."""
    frame, remarks = judgments(file)
    frames = []
    for part, column in ((documents, "docno"), (topics, "qid")):
        noun = DOCUMENT if column == "docno" else TOPIC
        time = part.kind is TIME_DOCUMENTS
        places = numbers(part.frame.height, frame[column], time=time) if part.kind.classic else None
        names, judged, said = matched(part.frame[column], frame[column], noun, places)
        frame = frame.with_columns(judged)
        frames.append(part.frame.with_columns(names))
        remarks += said
    unjudged = frames[1].filter(~pl.col("qid").is_in(frame["qid"].unique().to_list()))["qid"].to_list()
    if unjudged:
        remarks.append(f"{count(len(unjudged), 'topic')} without judgments: {listed(unjudged)}")
    qrels = by_subtopic(with_keys(frame), Source(file.name))
    return qrels, (frames[0], frames[1]), remarks


def _chosen(files: Sequence[tuple[File, Kind]], split: str, where: str, what: str) -> Sequence[tuple[File, Kind]]:
    """Return the one file of topics or judgments: that of the split, or that whose name ends in `.rel`."""
    of_split = [each for each in files if split in re.split(r"[._-]", each[0].base)]
    splits = [each for each in files if Path(each[0].name).parent.name == "qrels"]
    usual = [each for each in files if each[0].base.endswith(".rel")]
    for some in (of_split, *([] if splits else [files, usual])):
        if len(some) == 1 or not files:
            return some
    names = listed([printable(Path(file.name).name) for file, _ in files])
    expected, mend = f"one, or one for the split {split!r}", "Choose another split, or move the others away."
    raise bad_input(where, f"files of {what}: {names}", expected, mend)
