"""Judgments of collections, in their several shapes: bytes in, a frame `qid, iter, docno, rel` and remarks out."""

from __future__ import annotations

import re

import polars as pl

from exaequo.errors import InputError, Problem, bad_input
from exaequo.read import trec
from exaequo.read.collection.files import File
from exaequo.read.collection.kinds import HEADER
from exaequo.text import count, listed

_MEND = "Mend or delete the line."
#: No grade is higher than this.
_GRADES = 9
#: The topic of judgments whose topic is lost.
_NOBODY = " "
#: Cranfield's grades, from 1 for a complete answer to 5 for no interest; -1 is the paper the question was asked for.
_CRANFIELD = {1.0: 4.0, 2.0: 3.0, 3.0: 2.0, 4.0: 1.0, 5.0: 0.0, -1.0: 1.0}
#: The parts of lists that end in -1 (LISA) or / (NPL).
_PARTS = re.compile(r"Query\s+(\S+)|(\d{1,6})\s+Relevant\s+Refs\s*:?|(\S+)")


def judgments(file: File) -> tuple[pl.DataFrame, list[str]]:
    """Read `qid docno`, `qid docno rel`, `qid docno 0 0`, `qid 0 docno rel`, or lists: `qid docno docno …`.

    Where all of an old file is 0, all of it is relevant. Cranfield's grades are turned: the best is the highest.
    """
    lines, remarks = _lines(file)
    frame = trec.parse("\n".join(lines).encode(), trec.QRELS, file.name, repeats=True, comments=False)
    frame = frame.drop("key")
    if "cran" in file.base and set(frame["rel"]) <= set(_CRANFIELD) and frame["rel"].n_unique() > 1:
        own = frame.filter(pl.col("rel") == -1).height
        frame = frame.with_columns(pl.col("rel").replace_strict(_CRANFIELD))
        remarks.append("grades run from 1 (best) to 4 or 5: turned, so that 4 is the best and 1 the least")
        if own:
            of = count(own, "judgment")
            remarks.append(f"{of} of -1, taken for the paper a question came from: relevant, with the least grade, 1")
    return _once(frame, remarks), remarks


def _once(frame: pl.DataFrame, remarks: list[str]) -> pl.DataFrame:
    """Keep one judgment of each document in a topic, or subtopic: the highest."""
    grouped = frame.group_by("qid", "iter", "docno", maintain_order=True)
    kept = grouped.agg(pl.col("rel").max(), differ=pl.col("rel").n_unique() > 1)
    if kept.height < frame.height:
        differ = kept.filter("differ").height
        said = f", {count(differ, 'document')} with different grades: the highest counts" if differ else ""
        remarks.append(f"{count(frame.height - kept.height, 'judgment')} of a document judged before{said}")
    return kept.drop("differ")


def _lines(file: File) -> tuple[list[str], list[str]]:
    """Return the file as lines of TREC judgments, each where it was if it was one line, and remarks."""
    try:
        text = file.data.decode().replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a")
    except UnicodeDecodeError:
        mend = "Convert it: iconv -f LATIN1 -t UTF-8"
        raise bad_input(file.name, "the file is not UTF-8", "judgments in UTF-8", mend) from None
    if re.match(r"\s*(?:Query\b|\d+[ \t]*\n)", text):
        return _ended_lists(text)
    lines = text.split("\n")
    headed = bool(HEADER.fullmatch(lines[0]))
    split = [[] if headed and not at else line.split() for at, line in enumerate(lines)]
    rows = [fields for fields in split if fields]
    if not rows:
        raise bad_input(file.name, "there are no judgments", "lines of qid docno rel", "Check how it was made.")
    if _are_lists(rows):
        return [f"{qid} 0 {docno} 1" for qid, *docnos in rows for docno in docnos], []
    _same_width(split, len(rows[0]) if len(rows[0]) in (2, 3, 4) else 3, file.name)
    shape, remarks = _shape(rows, headed)
    return [shape.format(*fields) if fields else "" for fields in split], remarks


def _ended_lists(text: str) -> tuple[list[str], list[str]]:
    """Return the lines of lists that end in -1 or /, and remarks. One that begins before another ends was cut there."""
    lists: dict[str, list[str]] = {}
    said: dict[str, int] = {}
    qid, lost = "", 0
    for topic, length, word in _PARTS.findall(text):
        if word in ("-1", "/"):
            qid = ""
        elif topic or not (qid or length):
            qid = topic or word
            lists.setdefault(qid, [])
        elif length and lists.get(qid) and said.get(qid, len(lists[qid])) > len(lists[qid]):
            qid = _NOBODY
        elif length:
            said.setdefault(qid, int(length))
        elif qid == _NOBODY:
            lost += 1
        else:
            lists[qid].append(word)
    short = [f"{qid} ({len(lists[qid])} of {said[qid]})" for qid in lists if len(set(lists[qid])) < said.get(qid, 0)]
    remarks = [f"{count(len(short), 'list')} of relevant documents cut short: {listed(short)}"] if short else []
    remarks += [f"{count(lost, 'judgment')} of no topic, left out"] if lost else []
    return [f"{qid} 0 {docno} 1" for qid, docnos in lists.items() for docno in docnos], remarks


def _are_lists(rows: list[list[str]]) -> bool:
    """Tell whether lines are numbers of documents after that of a topic: so many as there are, each topic once."""
    if not all(field.isdecimal() for fields in rows for field in fields):
        return False
    widths = {len(fields) for fields in rows}
    uneven = (
        len(widths) > 1 or max(widths) > 4 or (len(rows) > 1 and max(int(fields[-1][:9]) for fields in rows) > _GRADES)
    )
    return uneven and len({fields[0] for fields in rows}) == len(rows)


def _same_width(split: list[list[str]], width: int, name: str) -> None:
    """Raise InputError for lines that have not so many fields."""
    problems = [
        Problem(
            name, number, f"{count(len(fields), 'field')} ({trec.quoted(' '.join(fields))})", f"{width} fields", _MEND
        )
        for number, fields in enumerate(split, 1)
        if fields and len(fields) != width
    ]
    if problems:
        raise InputError(problems)


def _shape(rows: list[list[str]], headed: bool) -> tuple[str, list[str]]:
    """Return how a line of these fields is one of TREC judgments, and a remark if all judgments are 0."""
    width = len(rows[0])
    zero = re.compile(r"[+-]?0*\.?0*")
    if width == 2:
        return "{0} 0 {1} 1", []
    if width == 4 and not all(zero.fullmatch(fields[2]) for fields in rows):
        return "{0} {1} {2} {3}", []
    if not headed and all(zero.fullmatch(fields[-1]) for fields in rows):
        said = f"all {count(len(rows), 'judgment')} are 0; the file lists relevant documents: taken as 1"
        return "{0} 0 {1} 1", [said]
    return "{0} 0 {1} {" + str(width - 1) + "}", []
