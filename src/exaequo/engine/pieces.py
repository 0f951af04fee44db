"""Files in pieces: a run too large for memory in, frames of some hundred thousand lines out, in their order."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from exaequo.choices import ERRORS, STDIN
from exaequo.errors import InputError, bad_input
from exaequo.frames import pl
from exaequo.read.golden import is_golden
from exaequo.read.metadata import header_of
from exaequo.read.places import Place
from exaequo.read.source import (
    END_OF_FILE,
    called,
    damaged,
    digest_of,
    open_stdin,
    packing,
    readable,
    unpacked,
    without_marks,
)
from exaequo.read.tables import kind_of, normalise, read
from exaequo.read.trec import RUN, has_lines, is_text, parse

#: Bytes of text, or rows of a table, that are read at a time.
BYTES, ROWS = 16_000_000, 500_000
#: Bytes that tell how a file is packed.
_LOOK = 64


@dataclass(frozen=True)
class Reading:
    """How runs are read: see `read_run`; `errors` says what becomes of bad rows."""

    reader: str | None = None
    columns: Mapping[str, str] | None = None
    errors: str = ERRORS[0]
    digest: bool = False

    @property
    def drops(self) -> bool:
        """Whether rows without id or finite number are passed on, for others to drop."""
        return self.errors == "drop"


def pieces(path: str, reading: Reading, tell: Callable[[str], None] = lambda _: None) -> Iterator[pl.DataFrame]:
    """Yield the lines of a run as frames: qid, docno, sim, and rank and run_id if they are there.

    At the end, `tell` is told the SHA-256 of the bytes on disk, if the reading asks for it.
    """
    name = called(path)
    kind = reading.reader or kind_of(path, "trec")
    if kind == "parquet":
        yield from _parquet(path, name, reading)
        if reading.digest:
            tell(digest_of(path))
        return
    if kind == "json":
        raise _whole(name, "one JSON value is no lines")
    with _opened(path, name) as raw:
        hashed = _Hashed(raw) if reading.digest else None
        stream = io.BufferedReader(hashed, io.DEFAULT_BUFFER_SIZE) if hashed else raw
        yield from _text(_unpacked(stream, name), name, kind, reading)
        if hashed:
            while stream.read(BYTES):  # what follows an archive is part of the file
                pass
            tell(hashed.sha256.hexdigest())


def _whole(name: str, found: str) -> InputError:
    mend = "Write a document a line (.jsonl), or read it whole: --engine local."
    return bad_input(name, found, "text, .csv, .tsv, .jsonl or .parquet", mend)


class _Hashed(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: Any) -> None:
        self._file, self.sha256 = file, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size: int = self._file.readinto(buffer)
        self.sha256.update(memoryview(buffer)[:size])
        return size


@contextmanager
def _opened(path: str, name: str) -> Iterator[Any]:
    """Open a file, or standard input."""
    with ExitStack() as stack:
        with readable(name):
            raw: Any = open_stdin(name) if path == STDIN else stack.enter_context(Path(path).open("rb"))
            raw.peek(1)
        yield raw


class _Begun:
    """A file whose first bytes were looked at."""

    def __init__(self, start: bytes, raw: Any) -> None:
        self._start, self._raw = start, raw

    def read(self, size: int) -> bytes:
        start, self._start = self._start[:size], self._start[size:]
        data: bytes = self._raw.read(size - len(start))
        return start + data if start else data


def _unpacked(raw: Any, name: str) -> Callable[[int], bytes]:
    """Return what reads about so many bytes of a file, unpacked whatever its name says."""
    start = raw.read(_LOOK)
    file, packed = _Begun(start, raw), packing(start)
    if packed is None:
        return file.read
    found = unpacked(file.read, packed)

    def read(size: int) -> bytes:
        parts, there = list[bytes](), 0
        try:
            while there < size and (part := next(found, None)) is not None:
                parts.append(part)
                there += len(part)
        except EOFError as error:
            raise damaged(name, packed.kind, error) from None
        return b"".join(parts)

    return read


def _text(bytes_of: Callable[[int], bytes], name: str, kind: str, reading: Reading) -> Iterator[pl.DataFrame]:
    rest, head, above, first, lines, data = b"", b"", 0, True, False, b"-"
    while data:
        try:
            data = bytes_of(BYTES)
        except OSError as error:
            raise bad_input(name, f"cannot be read ({error})", "a readable file", "Check the disk.") from None
        text = rest + data
        cut = _end(text, quotes=kind == "csv") if data else len(text)
        piece, rest = text[:cut], text[cut:]
        if not data:
            piece = piece.removesuffix(END_OF_FILE)
        if first and piece:
            piece, first = without_marks(piece), False
            kind = "trec" if reading.reader is None and kind in ("csv", "tsv") and is_text(piece, RUN) else kind
            if kind == "trec":
                header_of(piece, name)  # one without an end is refused
            if kind in ("csv", "tsv"):
                below = piece.lstrip(b"\r\n")
                end = below.find(b"\n") + 1
                above = piece.count(b"\n", 0, len(piece) - len(below) + end)
                head, piece = below[:end], below[end:]
        if has_lines(piece, RUN) if kind == "trec" else piece.strip():
            lines = True
            yield _parsed(head, piece, name, kind, reading, above)
        above += piece.count(b"\n")
    if first or (kind == "trec" and not lines):
        found = "the file is empty" if first else "the file has only comments and blank lines"
        expected = f"lines of {RUN.expected}" if kind == "trec" else "a run"
        raise bad_input(name, found, expected, "Check how it was made.")


def _end(text: bytes, *, quotes: bool) -> int:
    """Return where the last whole line ends; if there are `quotes`, none that ends within a pair of them."""
    last = at = text.rfind(b"\n") + 1
    odd = quotes and text.count(b'"', 0, at) % 2
    while odd and at:
        start = text.rfind(b"\n", 0, at - 1) + 1
        odd ^= text.count(b'"', start, at) % 2
        at = start
    return at or last  # a quote without another one tells nothing


def _parsed(head: bytes, piece: bytes, name: str, kind: str, reading: Reading, above: int) -> pl.DataFrame:
    try:
        if kind == "trec":
            return parse(piece, RUN, name, repeats=True, unused=("iter",), any_number=reading.drops).drop("key")
        table, place = read(head + piece, kind, name)
        return _normal(table, place, reading)
    except InputError as error:
        above -= head.count(b"\n")
        shifted = [each if each.line is None else replace(each, line=each.line + above) for each in error.problems]
        raise InputError(shifted) from None


def _normal(table: pl.DataFrame, place: Place, reading: Reading) -> pl.DataFrame:
    if table.height and is_golden(table.row(0, named=True), reading.columns):
        raise _whole(place.name, "records hold lists of documents")
    return normalise(table, place, RUN, reading.columns, repeats=True, any_row=reading.drops).drop("key")


def _row(start: int, row: int) -> str:
    return f"row {start + row}"


def _parquet(path: str, name: str, reading: Reading) -> Iterator[pl.DataFrame]:
    try:
        table = pl.scan_parquet(path, glob=False)
        rows = table.select(pl.len()).collect().item()
        for start in range(0, rows, ROWS):
            piece = table.slice(start, ROWS).collect(engine="streaming")
            yield _normal(piece, Place(name, label=partial(_row, start)), reading)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        found = f"cannot be read as parquet ({' '.join(str(error).split())[:120]})"
        raise bad_input(name, found, "a parquet table", "Check the file.") from None
