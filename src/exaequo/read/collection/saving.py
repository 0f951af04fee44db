"""A collection as files: a `Collection` in, judgments and topics as text, or all of it in the layout of BEIR, out."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from exaequo.errors import BadParameter, ExaequoError
from exaequo.read.collection.records import TOPICS, Collection
from exaequo.read.records import Qrels
from exaequo.writing import make_folder, write_whole, wrong_name


def trec_qrels(qrels: Qrels) -> str:
    """Return judgments as TREC text, `qid iter docno rel`; the iteration is 0, or the subtopic."""
    return "".join(f"{qid} {part} {docno} {_grade(rel)}\n" for qid, part, docno, rel in _judgments(qrels))


def trec_topics(topics: pl.DataFrame) -> str:
    """Return topics as TREC writes them, fields named and not closed, & < > as entities."""
    shape = "<top>\n<num> Number: {}\n<title> {}\n<desc> Description:\n{}\n<narr> Narrative:\n{}\n</top>\n\n"
    rows = topics.select(TOPICS).iter_rows()
    return "".join(shape.format(*(html.escape(text, quote=False) for text in row)) for row in rows)


def tsv_topics(topics: pl.DataFrame) -> str:
    """Return topics as `qid<TAB>title`."""
    return "".join(f"{qid}\t{' '.join(title.split())}\n" for qid, title in topics.select("qid", "title").iter_rows())


def save(collection: Collection, folder: str | Path, *, split: str = "test") -> list[Path]:
    """Write `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`; existing files are not written over."""
    if why := wrong_name(split):
        raise BadParameter(f"split is the name of a file, without folders. Got {split!r:.80}: {why}.")
    folder = Path(folder)
    texts = {
        folder / "corpus.jsonl": _lines(_documents(collection)),
        folder / "queries.jsonl": _lines(_topics(collection)),
    }
    if collection.qrels is not None:
        rows = (
            f"{qid}\t{docno}\t{_grade(rel)}\n"
            for qid, docno, rel in collection.qrels.frame.select("qid", "docno", "rel").iter_rows()
        )
        texts[folder / "qrels" / f"{split}.tsv"] = "query-id\tcorpus-id\tscore\n" + "".join(rows)
    for path in texts:
        if path.exists():
            raise ExaequoError(f"{path}: there is such a file already. Choose a new folder.")
    for path, text in texts.items():
        make_folder(path.parent)
        write_whole(path, text.encode())
    return list(texts)


def _documents(collection: Collection) -> Iterator[Mapping[str, object]]:
    for docno, title, text in collection.documents.iter_rows():
        yield {"_id": docno, "title": title, "text": text, "metadata": {}}


def _topics(collection: Collection) -> Iterator[Mapping[str, object]]:
    for qid, title, description, narrative in collection.topics.iter_rows():
        yield {"_id": qid, "text": title, "metadata": {"description": description, "narrative": narrative}}


def _lines(rows: Iterable[Mapping[str, object]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _judgments(qrels: Qrels) -> Iterable[tuple[str, str, str, float]]:
    frame = qrels.frame
    if qrels.subtopics is None:
        return frame.select("qid", pl.lit("0"), "docno", "rel").iter_rows()
    rows = frame[qrels.subtopics["row"].to_list()]
    return zip(rows["qid"], qrels.subtopics["subtopic"], rows["docno"], qrels.subtopics["rel"], strict=True)


def _grade(rel: float) -> str:
    return str(int(rel)) if rel.is_integer() else str(rel)
