"""Where bytes come from: a path, compressed or not, or standard input. Out: text bytes, UTF-8 without a mark."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from exaequo.choices import STDIN
from exaequo.errors import bad_input

#: Endings that say how a file is packed, not what is in it.
PACKED = frozenset({".gz", ".bz2", ".xz", ".zst"})


@dataclass(frozen=True)
class Source:
    """What an input was called, and the SHA-256 of its bytes as they lay on disk, if that was asked for.

    `header` is the text of the metadata that a run may begin with (see `metadata`).
    """

    name: str
    sha256: str | None = None
    header: str = ""

    @property
    def stem(self) -> str:
        """The file name without folders, the ending of its packing and one more ending."""
        path = Path(self.name)
        if path.suffix.lower() in PACKED:
            path = path.with_suffix("")
        return path.stem or self.name


def load(path: str, *, digest: bool = False) -> tuple[bytes, Source]:
    """Read all of `path` (`-` is standard input), unpacked whatever its name says, without a byte-order mark."""
    name = "<stdin>" if path == STDIN else os.fsencode(path).decode(errors="backslashreplace")
    raw = _raw_bytes(path, name)
    source = Source(name, hashlib.sha256(raw).hexdigest() if digest else None)
    data = _unpack(raw, name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise bad_input(name, "the file is UTF-16", "UTF-8", "Save it as UTF-8: iconv -f UTF-16 -t UTF-8")
    return data.removeprefix(b"\xef\xbb\xbf"), source


def _raw_bytes(path: str, name: str) -> bytes:
    try:
        if path == STDIN and sys.stdin is None:
            raise bad_input(name, "standard input is closed", "data", "Name a file.")
        return sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except FileNotFoundError:
        found, mend = "there is no such file", "Check the path."
    except IsADirectoryError:
        found, mend = "this is a folder", "Name the files in it, for example with a * in the shell."
    except OSError as error:
        found, mend = f"cannot be read ({error.strerror or error})", "Check the permissions of the file."
    raise bad_input(name, found, "a readable file", mend)


def _streams(
    raw: bytes, unpacker: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor], *, padded: bool = False
) -> bytes:
    """Unpack stream after stream to the last byte: Python's own functions drop what they cannot unpack after the first.

    Where streams may be `padded`, zeros may follow each, four or a multiple of it.
    """
    parts, start, number = [], 0, 1
    while start < len(raw):
        stream, at, step = unpacker(), start, _STEP >> 8
        try:
            while not stream.eof:
                if at >= len(raw):
                    raise EOFError("it has no end")  # noqa: TRY301 - told like all that is wrong with a stream
                parts.append(stream.decompress(raw[at : at + step]))
                at, step = at + step, min(2 * step, _STEP)
        except (EOFError, OSError, lzma.LZMAError) as error:
            begins = f"stream {number} begins at byte {start:,} with {raw[start : start + 6]!r}"
            raise EOFError(f"{begins}: {error}") from None
        start, number = min(at, len(raw)) - len(stream.unused_data), number + 1
        while padded and raw[start : start + 4] == bytes(4):
            start += 4
    return b"".join(parts)


def _unzstd(raw: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    try:
        unpacked: bytes = zstd.decompress(raw)
    except zstd.ZstdError as error:
        raise EOFError(str(error)) from None
    return unpacked


#: Bytes unpacked at a time, fewer at the beginning: what follows a stream is copied, and short ones make short copies.
_STEP = 1 << 20
_XZ = partial(lzma.LZMADecompressor, format=lzma.FORMAT_XZ)
#: Frames of zstd that say something about others; some programs start files with one.
_SKIPPED = tuple(bytes((0x50 + number,)) + b"\x2a\x4d\x18" for number in range(16))
_MAGIC: tuple[tuple[bytes | tuple[bytes, ...], str, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", "gzip", gzip.decompress),
    (b"BZh", "bzip2", partial(_streams, unpacker=bz2.BZ2Decompressor)),
    (b"\xfd7zXZ\x00", "xz", partial(_streams, unpacker=_XZ, padded=True)),
    ((b"\x28\xb5\x2f\xfd", *_SKIPPED), "zstd", _unzstd),
)

#: What follows `BZh9` in a bzip2 file; a topic may be called BZh too.
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")


def _unpack(raw: bytes, name: str) -> bytes:
    """Unpack by the first bytes, not by the name: files are misnamed, and standard input has no name."""
    for magic, kind, unpack in _MAGIC:
        if raw.startswith(magic) and (kind != "bzip2" or raw[4:10] in _BZIP2_BLOCKS):
            try:
                return unpack(raw)
            except (EOFError, ValueError, OSError, lzma.LZMAError, zlib.error) as error:
                found = f"the {kind} archive is damaged or cut short ({error})"
                raise bad_input(name, found, "a whole archive", "Copy or download it again.") from None
    return raw
