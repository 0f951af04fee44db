"""Files in pieces: a run too large for memory in, frames of some hundred thousand lines out, in their order."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from exaequo.choices import STDIN
from exaequo.errors import InputError, bad_input
from exaequo.frames import pl
from exaequo.read.places import Place
from exaequo.read.source import PACKED, called
from exaequo.read.tables import kind_of, normalise, read
from exaequo.read.trec import RUN, is_text, parse

#: Bytes of text, or rows of a table, that are read at a time.
BYTES, ROWS = 16_000_000, 500_000
_MARK = b"\xef\xbb\xbf"


def pieces(path: str, reader: str | None = None, columns: Mapping[str, str] | None = None) -> Iterator[pl.DataFrame]:
    """Yield the lines of a run as frames: qid, docno, sim, and rank and run_id if they are there."""
    name = called(path)
    kind = reader or kind_of(path, "trec")
    if kind == "parquet":
        yield from _parquet(path, name, columns)
        return
    if kind == "json":
        mend = "Write an object a line (.jsonl), or read it whole: --engine local."
        raise bad_input(name, "one JSON value is no lines", "text, .csv, .tsv, .jsonl or .parquet", mend)
    with _opened(path, name) as stream:
        yield from _text(stream, name, kind if reader else None, kind, columns)


@contextmanager
def _opened(path: str, name: str) -> Iterator[IO[bytes]]:
    """Open a file, unpacked whatever its name says."""
    raw: Any
    with ExitStack() as stack:
        try:
            raw = sys.stdin.buffer if path == STDIN else stack.enter_context(Path(path).open("rb"))
            start: bytes = raw.peek(6)[:6]
        except OSError as error:
            raise bad_input(name, f"cannot be read ({error.strerror})", "a readable file", "Check the path.") from None
        for magic, opening in _PACKED:
            if start.startswith(magic) and (magic != b"BZh" or Path(path).suffix in PACKED):
                raw = stack.enter_context(opening(raw))
                break
        yield raw


def _zstd(raw: IO[bytes]) -> IO[bytes]:
    zstd: Any
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    opened: IO[bytes] = zstd.open(raw)
    return opened


#: How packed files begin, and what unpacks them piece by piece.
_PACKED: tuple[tuple[bytes, Any], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"\x28\xb5\x2f\xfd", _zstd),
)


def _text(
    stream: IO[bytes], name: str, asked: str | None, kind: str, columns: Mapping[str, str] | None
) -> Iterator[pl.DataFrame]:
    rest, head, above, first = b"", b"", 0, True
    while True:
        try:
            data = stream.read(BYTES)
        except (OSError, EOFError, lzma.LZMAError, ValueError) as error:
            found = f"the archive is damaged or cut short ({error})"
            raise bad_input(name, found, "a whole archive", "Copy or download it again.") from None
        cut = (data.rfind(b"\n") + 1) if data else len(data)
        piece, rest = rest + data[:cut], (data[cut:] if cut else rest + data)
        if not data:
            piece, rest = rest, b""
        if first and piece:
            piece, first = piece.removeprefix(_MARK), False
            kind = "trec" if asked is None and kind in ("csv", "tsv") and is_text(piece, RUN) else kind
            if kind in ("csv", "tsv"):
                head, piece = piece[: piece.find(b"\n") + 1], piece[piece.find(b"\n") + 1 :]
                above = 1
        if piece.strip():
            yield _parsed(head, piece, name, kind, columns, above)
            above += piece.count(b"\n")
        if not data:
            break
    if first:
        raise bad_input(name, "the file is empty", "a run", "Check how it was made.")


def _parsed(
    head: bytes, piece: bytes, name: str, kind: str, columns: Mapping[str, str] | None, above: int
) -> pl.DataFrame:
    try:
        if kind == "trec":
            return parse(piece, RUN, name, repeats=True, unused=("iter",)).drop("key")
        table, place = read(head + piece, kind, name)
        return normalise(table, place, RUN, columns, repeats=True).drop("key")
    except InputError as error:
        above -= head.count(b"\n")
        shifted = [each if each.line is None else replace(each, line=each.line + above) for each in error.problems]
        raise InputError(shifted) from None


def _parquet(path: str, name: str, columns: Mapping[str, str] | None) -> Iterator[pl.DataFrame]:
    try:
        table = pl.scan_parquet(path, glob=False)
        rows = table.select(pl.len()).collect().item()
        for start in range(0, rows, ROWS):
            piece = table.slice(start, ROWS).collect(engine="streaming")
            yield normalise(piece, Place(name), RUN, columns, repeats=True).drop("key")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        found = f"cannot be read as parquet ({' '.join(str(error).split())[:120]})"
        raise bad_input(name, found, "a parquet table", "Check the file.") from None
