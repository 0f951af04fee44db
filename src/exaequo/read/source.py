"""Where bytes come from: a path, compressed or not, or standard input. Out: text bytes, UTF-8 without a mark."""

from __future__ import annotations

import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, NamedTuple

from exaequo import memory
from exaequo.choices import STDIN
from exaequo.errors import InputError, bad_input
from exaequo.read.foreign import refuse_marked

if TYPE_CHECKING:
    from typing import Protocol

    class _Stream(Protocol):
        """What unpacks one stream."""

        @property
        def eof(self) -> bool: ...
        @property
        def unused_data(self) -> bytes: ...
        def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


#: Endings that say how a file is packed, not what is in it.
PACKED = frozenset({".gz", ".bz2", ".xz", ".zst"})
#: What some programs begin text in UTF-8 with.
MARK = b"\xef\xbb\xbf"
#: Beginnings that Polars takes for something packed. One may be the name of a topic, such as x^2.
_UNPACKED_BY_POLARS = (b"x^", b"x\x01", b"x\x9c", b"x\xda", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
#: Where files are that each process has for itself.
_OWN = ("/dev/", "/proc/")
#: How many times its size what is packed takes, or so.
_UNPACKED = 10
#: What text of old Windows programs ends with.
END_OF_FILE = b"\x1a"


@dataclass(frozen=True)
class Mend:
    """What was put right in an input, how often, and the line of the first place."""

    file: str
    count: int
    done: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.file if self.line is None else f'{self.file}:{self.line}'}: mended: {self.done}"


@dataclass(frozen=True)
class Source:
    """What an input was called, and the SHA-256 of its bytes as they lay on disk, if that was asked for.

    `header` is the text of the metadata that a run may begin with (see `metadata`), `remarks` what was odd but read,
    `mended` what was put right, as asked.
    """

    name: str
    sha256: str | None = None
    header: str = ""
    remarks: tuple[str, ...] = ()
    mended: tuple[Mend, ...] = ()

    @property
    def stem(self) -> str:
        """The file name without folders, the ending of its packing and one more ending."""
        path = Path(self.name)
        if is_packed(self.name):
            path = path.with_suffix("")
        return path.stem or self.name


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Tell whether the name of a file says that it is packed."""
    return Path(path).suffix.lower() in PACKED


def called(path: str) -> str:
    """Return what messages call a path."""
    return "<stdin>" if path == STDIN else os.fsencode(path).decode(errors="backslashreplace")


def load(path: str, *, digest: bool = False, marked: bool = False) -> tuple[bytes, Source]:
    """Read all of `path` (`-` is standard input), unpacked whatever its name says, without byte-order marks.

    What is `marked` as UTF-16 or UTF-32 is refused, or returned as it is.
    """
    name = called(path)
    with readable(name):
        raw = open_stdin(name).read() if path == STDIN else _unchanged(path, name)
    source = Source(name, sha256_of(raw) if digest else None)
    data = _unpack(raw, name)
    if data is not raw:
        memory.refuse_too_large(name, len(data))
    if not marked:
        refuse_marked(data, name)
    return without_marks(data).removesuffix(END_OF_FILE), source


def without_marks(data: bytes) -> bytes:
    """Return text without what programs begin it with; some write that again."""
    while data.startswith(MARK):
        data = data.removeprefix(MARK)
    return data


def sha256_of(raw: bytes) -> str:
    """Return the SHA-256 of bytes."""
    from hashlib import sha256

    return sha256(raw).hexdigest()


def digest_of(path: str) -> str:
    """Return the SHA-256 of a file, which may be larger than memory."""
    from hashlib import file_digest

    with Path(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def size_of(path: str) -> int:
    """Return the bytes of a file; 0 of one that is none, can be read only once, or is another to other processes."""
    try:
        about, named = Path(path).stat(), Path(path).absolute()
        while named.is_symlink() and not os.path.normpath(named).startswith(_OWN):
            named = named.parent / named.readlink()
    except (OSError, ValueError):
        return 0
    own = path == STDIN or os.path.normpath(named).startswith(_OWN)
    return about.st_size if S_ISREG(about.st_mode) and not own else 0


def unpacked_size_of(path: str) -> int:
    """Return about how many bytes a file has that can be read again, unpacked; 0 of one that cannot."""
    return size_of(path) * (_UNPACKED if is_packed(path) else 1)


def as_it_stands(data: bytes) -> bytes:
    """Return text that Polars reads as it stands: behind a byte-order mark if it would unpack it, or drop one."""
    return MARK + data if data.startswith((MARK, *_UNPACKED_BY_POLARS)) else data


def version_of(path: str) -> tuple[int, int]:
    """Return what changes with a file, its size and its time; 0 of what can be read but once."""
    about = Path(path).stat() if path != STDIN else None
    return (about.st_size, about.st_mtime_ns) if about and S_ISREG(about.st_mode) else (0, 0)


def refuse_changed(path: str, name: str, before: tuple[int, int]) -> None:
    """Refuse a file that has changed while it was read: half of it may be old, or not yet there."""
    if version_of(path) != before:
        raise bad_input(name, "the file changed while it was read", "a finished file", "Try again when it is written.")


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Say why a file cannot be read."""
    try:
        yield
    except OSError as error:
        found, mend = f"cannot be read ({error.strerror or error})", "Check the path."
        if isinstance(error, FileNotFoundError):
            found = "there is no such file"
        elif isinstance(error, IsADirectoryError):
            found, mend = "this is a folder", "Name the files in it, for example with a * in the shell."
        elif isinstance(error, PermissionError):
            mend = "Check the permissions of the file."
        raise bad_input(name, found, "a readable file", mend) from None


def open_stdin(name: str) -> IO[bytes]:
    """Return standard input, if it is open."""
    if sys.stdin is None:
        raise bad_input(name, "standard input is closed", "data", "Name a file.")
    return sys.stdin.buffer


def _unchanged(path: str, name: str) -> bytes:
    """Read a file that does not change meanwhile."""
    if not path or "\0" in path:
        raise bad_input(repr(path), "no file has this name", "a readable file", "Check the path.")
    before = version_of(path)
    memory.refuse_too_large(name, before[0])
    data = Path(path).read_bytes()
    refuse_changed(path, name, before)
    return data


class TooLarge(Exception):
    """What is packed is larger than anything people pack."""

    def __init__(self, most: int) -> None:
        self.most = most
        super().__init__(f"it unpacks to more than {most / 1e6:,.0f} MB, over {_TIMES} times its size")


def most_unpacked(packed: int) -> int:
    """Return to how many bytes so many may unpack; real runs, judgments and texts stay far below."""
    return max(_ALWAYS, _TIMES * packed)


def unpacked(read: Callable[[int], bytes], packing: Packing) -> Iterator[bytes]:
    """Yield what is packed, some of it at a time, to the last byte; raise EOFError where it is damaged.

    Stream after stream: Python's own functions drop what they cannot unpack after the first.
    """
    raw, number = _Raw(read), 1
    while data := raw.read(_STEP):
        begins = f"stream {number} begins at byte {raw.place - len(data):,} with {data[:6]!r}"
        try:
            yield from _of_stream(packing.unpacker(), data, raw)
            raw.pass_zeros(packing.padding)
        except Exception as error:  # noqa: BLE001 - each unpacker has errors of its own kind
            raise EOFError(f"{begins}: {error}") from None
        number += 1


def _of_stream(stream: _Stream, data: bytes, raw: _Raw) -> Iterator[bytes]:
    """Yield what a stream holds that begins with this data, and give back what follows it."""
    step = _STEP
    while not stream.eof:
        yield (part := stream.decompress(data, _MOST))
        data = getattr(stream, "unconsumed_tail", b"")
        if not stream.eof and getattr(stream, "needs_input", len(part) < _MOST):
            step = min(2 * step, _MOST)
            data += raw.read(step)
            if not data:
                raise EOFError("it has no end")
    raw.give_back(len(stream.unused_data))


class _Raw:
    """Bytes that are read one after the other; the last of them may be given back."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read, self._there, self._at = read, b"", 0
        #: How many have been read.
        self.place = 0

    def read(self, size: int) -> bytes:
        """Return so many bytes, or fewer; none at the end."""
        if self._at == len(self._there):
            self._there, self._at = self._read(_MOST), 0
        data = self._there[self._at : self._at + size]
        self._at += len(data)
        self.place += len(data)
        return data

    def give_back(self, count: int) -> None:
        """Give back so many of the bytes that were read last."""
        self._at -= count
        self.place -= count

    def pass_zeros(self, padding: int) -> None:
        """Pass over zeros, if so many of them, or a multiple of it, may stand behind a stream."""
        zeros = 0
        while padding and (data := self.read(_STEP)):
            rest = data.lstrip(b"\0")
            zeros += len(data) - len(rest)
            if rest:
                self.give_back(len(rest))
                break
        if zeros % (padding or 1):
            raise EOFError(f"{zeros} zeros follow it")


def _bzip2() -> _Stream:
    from bz2 import BZ2Decompressor

    return BZ2Decompressor()


def _xz() -> _Stream:
    from lzma import FORMAT_XZ, LZMADecompressor

    return LZMADecompressor(FORMAT_XZ)


def _zstd() -> _Stream:
    module = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    stream: _Stream = module.ZstdDecompressor()
    return stream


#: What may be unpacked whatever its packed size is, and how many times that size.
_ALWAYS, _TIMES = 1 << 26, 100
#: Bytes unpacked at a time, twice as many each time: what follows a stream is copied, so that short ones make short
#: copies; and at most, also of what comes out.
_STEP, _MOST = 1 << 12, 1 << 20
_GZIP = partial(zlib.decompressobj, zlib.MAX_WBITS | 16)
#: Frames of zstd that say something about others; some programs start files with one.
_SKIPPED = tuple(bytes((0x50 + number,)) + b"\x2a\x4d\x18" for number in range(16))


class Packing(NamedTuple):
    """How files begin, how they are packed, what unpacks a stream of them, and how many zeros may follow one."""

    magic: bytes | tuple[bytes, ...]
    kind: str
    unpacker: Callable[[], _Stream]
    padding: int


_PACKINGS = (
    Packing(b"\x1f\x8b", "gzip", _GZIP, 1),
    Packing(b"BZh", "bzip2", _bzip2, 0),
    Packing(b"\xfd7zXZ\x00", "xz", _xz, 4),
    Packing((b"\x28\xb5\x2f\xfd", *_SKIPPED), "zstd", _zstd, 0),
)

#: How a bzip2 file begins: with a block, whose fifteenth byte is no letter, or with none. A topic may be called so too.
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY(?!.{4}[ -\xff])|\x17rE8P\x90)", re.DOTALL)


def packing(start: bytes) -> Packing | None:
    """Tell by its first bytes how a file is packed, if it is: files are misnamed, and standard input has no name."""
    for each in _PACKINGS:
        if start.startswith(each.magic) and (each.kind != "bzip2" or _BZIP2.match(start)):
            return each
    return None


def damaged(name: str, kind: str, error: Exception) -> InputError:
    """Return the error of an archive that does not unpack."""
    found = f"the {kind} archive is damaged or cut short ({error})"
    return bad_input(name, found, "a whole archive", "Copy or download it again.")


def _unpack(raw: bytes, name: str) -> bytes:
    found = packing(raw)
    if found is None:
        return raw
    most, free = most_unpacked(len(raw)), memory.room()
    most = most if free is None else min(most, free)
    parts, room = [], most
    try:
        for part in unpacked(io.BytesIO(raw).read, found):
            parts.append(part)
            room -= len(part)
            if room < 0:
                raise TooLarge(most)  # noqa: TRY301 - told below
    except EOFError as error:
        raise damaged(name, found.kind, error) from None
    except TooLarge as error:
        memory.refuse_too_large(name, error.most + 1)
        raise bad_input(name, str(error), "no more", "If it is what it should be, unpack it first.") from None
    return b"".join(parts)
