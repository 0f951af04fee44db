"""What there is to judge: a pool and a `Collection` in, `Work` out: topics, documents, an order of each assessor."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from exaequo.choices import STDIN
from exaequo.errors import InputError, UsageError, bad_input
from exaequo.read import read_qrels, read_run
from exaequo.read.collection import DOCUMENTS, TOPICS, Collection
from exaequo.read.metadata import header_of
from exaequo.read.source import load
from exaequo.read.tables import ALIASES

Pair = tuple[str, str]
_EXPECTED = "a table whose first line is `qid docno ...`, with tabs between, or TREC qrels or a run"


@dataclass(frozen=True)
class Work:
    """A pool: the documents of each topic, and what there is to read about both."""

    pairs: dict[str, tuple[str, ...]]
    topics: dict[str, dict[str, str]]
    documents: dict[str, dict[str, str]]
    name: str = "pool"
    collection: str = ""
    sha256: str | None = None

    @property
    def size(self) -> int:
        """How many documents there are to judge, those of several topics several times."""
        return sum(map(len, self.pairs.values()))

    def __contains__(self, pair: object) -> bool:
        return isinstance(pair, tuple) and len(pair) == 2 and pair[1] in self.pairs.get(pair[0], ())

    def order(self, assessor: str, seed: int = 0) -> list[Pair]:
        """Return all pairs, topic by topic; inside a topic in an order of this assessor that tells no system."""

        def place(pair: Pair) -> bytes:
            return hashlib.blake2b("\0".join((str(seed), assessor, *pair)).encode(), digest_size=16).digest()

        return [
            pair for qid, docnos in self.pairs.items() for pair in sorted(((qid, each) for each in docnos), key=place)
        ]


def read_pool(path: str) -> tuple[pl.DataFrame, str | None]:
    """Read the pairs of a pool, `qid, docno, line`, each once: of a table, TREC qrels or a run; and its SHA-256."""
    if path == STDIN:
        raise UsageError("A pool is read from a file; standard input (-) cannot be it.")
    content, source = load(path, digest=True)
    start = header_of(content, source.name)[1]
    text = content[start:].decode(errors="replace").split("\n")
    lines = pl.DataFrame({"text": text}).with_row_index("line", offset=content[:start].count(b"\n") + 1)
    lines = lines.with_columns(pl.col("text").str.strip_chars_end("\r")).filter(pl.col("text").str.strip_chars() != "")
    if not lines.height:
        raise bad_input(source.name, "the file is empty", _EXPECTED, "Write a pool with `exaequo pool`.")
    first, line = lines["text"][0], int(lines["line"][0])
    if places := _places(first.split("\t")):
        pairs = _of_table(lines[1:], places, source.name)
    elif (fields := len(first.split())) in (4, 6):
        (read_qrels if fields == 4 else read_run)(path)  # says what is wrong with it
        found = pl.col("text").str.extract_groups(r"^\s*(?<qid>\S+)\s+\S+\s+(?<docno>\S+)").struct.unnest()
        pairs = lines.select("line", found).drop_nulls()
    else:
        mend = "Write the pool with `exaequo pool`, or name its columns so."
        raise bad_input(source.name, f"{first[:60]!r}", _EXPECTED, mend, line=line)
    return pairs.unique(["qid", "docno"], keep="first", maintain_order=True), source.sha256


def _places(head: Sequence[str]) -> dict[str, int] | None:
    """Return where a head has topics and documents, by any of their usual names; None if it is no head."""
    found = {ours: [head.index(name) for name in ALIASES[ours] if name in head] for ours in ("qid", "docno")}
    return {ours: places[0] for ours, places in found.items()} if all(found.values()) else None


def _of_table(lines: pl.DataFrame, places: Mapping[str, int], name: str) -> pl.DataFrame:
    fields = pl.col("text").str.split("\t")
    pairs = lines.select(
        "line", *(fields.list.get(place, null_on_oob=True).alias(each) for each, place in places.items())
    )
    if not pairs.height:
        raise bad_input(name, "there is no line below the head", "pairs of topic and document", "Add some.")
    wrong = pairs.filter(~pl.all_horizontal(pl.col("qid", "docno").fill_null("").str.contains(r"^\S+$")))
    if wrong.height:
        line, *found = wrong.row(0)
        raise bad_input(
            name, f"qid and docno are {found[0]!r} and {found[1]!r}", "names without blanks", "Mend it.", line=line
        )
    return pairs


def work_of(path: str, collection: Collection) -> Work:
    """Return what a pool asks to judge; every topic and document must be in the collection."""
    pairs, sha256 = read_pool(path)
    for column, known, what in (("qid", collection.topics, "topic"), ("docno", collection.documents, "document")):
        unknown = pairs.join(known, on=column, how="anti").unique(column, keep="first", maintain_order=True)
        if unknown.height:
            raise _unknown(path, unknown, column, what, collection.name)
    grouped = pairs.group_by("qid", maintain_order=True).agg("docno")
    return Work(
        {qid: tuple(docnos) for qid, docnos in grouped.iter_rows()},
        _by(collection.topics.select(TOPICS), "qid", pairs),
        _by(collection.documents.select(DOCUMENTS), "docno", pairs),
        path,
        collection.name,
        sha256,
    )


def _unknown(path: str, pairs: pl.DataFrame, column: str, what: str, collection: str) -> InputError:
    line, name = pairs.select("line", column).row(0)
    found = f"{what} {name!r} is not in the collection {collection}"
    more = f" ({pairs.height - 1:,} more)" if pairs.height > 1 else ""
    mend = "Take the collection the pool was made from, or drop such lines."
    return bad_input(path, found + more, f"{what}s of the collection", mend, line=line)


def _by(frame: pl.DataFrame, column: str, pairs: pl.DataFrame) -> dict[str, dict[str, str]]:
    wanted = frame.join(pairs, on=column, how="semi").unique(column, keep="first", maintain_order=True)
    return {row[column]: row for row in wanted.iter_rows(named=True)}
