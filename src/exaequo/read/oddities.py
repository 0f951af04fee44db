"""What is odd about data that can be read: in a frame, and the bytes it was made of, out what the user should know."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from exaequo.arrays import Bools
from exaequo.frames import pl
from exaequo.read.plain import LARGE
from exaequo.read.trec import Layout, quoted, tidy
from exaequo.text import count

Bytes = npt.NDArray[np.uint8]

_IDS = ("qid", "docno")
_TAB, _RETURN, _BLANK, _DELETE = b"\t\r \x7f"
#: Characters of ids that nobody sees, or takes for others: controls, marks of format, all spaces but the blank, which
#: is odd at an end only, and what stands for bytes that were no text.
_UNSEEN = r"[\p{Cc}\p{Cf}\p{Z}\p{Co}\x{FFFD}&&[^ ]]|^ | $"
#: Bytes looked at together: what is made of them stays near the processor.
_PIECE = 1 << 18


def oddities(frame: pl.DataFrame, layout: Layout, name: str, text: bytes = b"", *, table: bool = True) -> list[str]:
    """Return remarks on the names and numbers of a frame; `text` tells their lines, and whether to look at all.

    In text that is no table, every character of an id stands as it is.
    """
    remarks = []
    if table or not text.isascii() or _counted(text, _is_control):
        remarks += _unseen(frame, name, text)
        remarks += _two_forms(frame, name)
    if layout.more and not table:
        remarks += _left_over(frame, layout, name, text)
    if layout.number == "sim":
        remarks += _merged(frame, name)
    return remarks


def _counted(text: bytes, wanted: Callable[[Bytes], Bools]) -> int:
    """Count the bytes of a text that are wanted."""
    whole = np.frombuffer(text, np.uint8)
    pieces = (whole[start : start + _PIECE] for start in range(0, len(whole), _PIECE))
    return sum(int(np.count_nonzero(wanted(piece))) for piece in pieces)


def _is_control(piece: Bytes) -> Bools:
    """Tell which bytes are controls, but for those that end lines and separate fields."""
    controls: Bools = (piece < _BLANK) & ((piece < _TAB) | (piece > _RETURN)) | (piece == _DELETE)
    return controls


def _line(name: str, text: bytes, piece: bytes) -> str:
    """Return the file, and the line in which a piece of it stands, if it stands there as it is."""
    at = text.find(piece)
    line = text.count(b"\n", 0, at) + 1
    return f"{name}:{line}" if at >= 0 else name


def _unseen(frame: pl.DataFrame, name: str, text: bytes) -> list[str]:
    found = [frame[column].filter(frame[column].str.contains(_UNSEEN)).unique(maintain_order=True) for column in _IDS]
    ids = [each for column in found for each in column]
    if not ids:
        return []
    first = ids[0]
    bad = next((each for each in first if pl.Series([each]).str.contains(_UNSEEN)[0]), " ")
    other = "PRIVATE USE" if unicodedata.category(bad) == "Co" else "CONTROL"
    called = f"U+{ord(bad):04X} {unicodedata.name(bad, other)}"
    more = f" ({count(len(ids), 'id')} like it)" if len(ids) > 1 else ""
    where = _line(name, text, first.encode())
    return [f"{where}: the id {quoted(first)} holds {called}; it is taken as part of the id{more}"]


def spelled(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the ids that are not ASCII alone, `qid` and `docno`, and their composed forms, `q` and `d`."""
    wide = (pl.col(column).str.len_bytes() != pl.col(column).str.len_chars() for column in _IDS)
    ids = frame.select(*_IDS).filter(pl.any_horizontal(*wide))
    return ids.unique(maintain_order=True).with_columns(
        q=pl.col("qid").str.normalize("NFC"), d=pl.col("docno").str.normalize("NFC")
    )


def _two_forms(frame: pl.DataFrame, name: str) -> list[str]:
    again = spelled(frame).filter(pl.struct("q", "d").is_duplicated())
    if not again.height:
        return []
    topic, docno = again.select("q", "d").row(0)
    what = f"document {quoted(docno)} of topic {quoted(topic)} is there in two Unicode forms, taken as two documents"
    pairs = again.select("q", "d").n_unique()
    return [f"{name}: {what}" + (f" (and {pairs - 1:,} more like it)" if pairs > 1 else "")]


def other_forms(run: pl.DataFrame, qrels: pl.DataFrame) -> tuple[int, str] | None:
    """Count the documents of a run that are judged under another Unicode form of their names, and name one."""
    ours = spelled(run)
    if not ours.height:
        return None
    pairs = ours.join(spelled(qrels), on=("q", "d"), suffix="_judged")
    differs = (pl.col(column) != pl.col(f"{column}_judged") for column in _IDS)
    pairs = pairs.filter(pl.any_horizontal(*differs))
    return (pairs.height, pairs["docno"][0]) if pairs.height else None


def _left_over(frame: pl.DataFrame, layout: Layout, name: str, text: bytes) -> list[str]:
    """Say that there are fields after the last one that is read."""
    most = (len(layout.fields) - 1) * frame.height
    if _counted(text, lambda piece: (piece == _BLANK) | (piece == _TAB)) <= most:
        return []
    lines = tidy(text, layout, whole=True)
    if lines.count(b" ") <= most:
        return []
    longer = next(each for each in lines.split(b"\n") if each.count(b" ") >= len(layout.fields))
    shown = quoted(longer.decode(errors="replace"))  # what is ignored may be no text
    return [f"{_line(name, text, longer)}: fields after the sixth are ignored, as in {shown}"]


def _merged(frame: pl.DataFrame, name: str) -> list[str]:
    sim = frame["sim"].to_numpy()
    if sim.min(initial=0) > -LARGE and sim.max(initial=0) < LARGE:
        return []
    large = frame.select("qid", "sim").filter(pl.col("sim").abs() >= LARGE)
    tied = int(large.select(pl.struct("qid", "sim").is_duplicated().sum()).item())
    if not tied:
        return []
    what = f"{count(tied, 'score')} of {LARGE:,.0f} (2^53) or more tied, perhaps only as doubles"
    return [f"{name}: {what}: whole numbers that large are not all told apart"]
