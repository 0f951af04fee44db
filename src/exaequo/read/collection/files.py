"""The files of a collection: a folder, an archive or a single file in, their names and unpacked bytes out."""

from __future__ import annotations

import io
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePath
from typing import NamedTuple

from exaequo.errors import bad_input
from exaequo.read.source import TooLarge, is_packed, load, most_unpacked
from exaequo.text import printable

_DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(OSError, EOFError, ValueError, RuntimeError),
)


class File(NamedTuple):
    """A file by the name that messages give it, and what is in it."""

    name: str
    data: bytes

    @property
    def base(self) -> str:
        """The name without folders and the ending of its packing, in small letters."""
        path = Path(self.name.lower())
        return path.stem if is_packed(path) else path.name

    def text(self) -> tuple[str, list[str]]:
        """Return the text, lines ended by LF, and a remark if it is not UTF-8: then it is read as Latin-1."""
        remarks = []
        try:
            text = self.data.decode()
        except UnicodeDecodeError as error:
            text = self.data.decode("latin-1")
            line = self.data.count(b"\n", 0, error.start) + 1
            remarks.append(
                f"{printable(self.name)}:{line}: byte 0x{self.data[error.start]:02x} is not UTF-8; read as Latin-1"
            )
        return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a"), remarks


def files_of(where: str) -> list[File]:
    """Return the files of a folder or an archive in the order of their names, 2 before 10, without hidden ones."""
    if not Path(where).is_dir():
        data, source = load(where)
        files = _members(data, source.name) or [File(source.name, data)]
        return sorted(files, key=lambda file: _by_number(file.name))
    paths = [Path(folder, name) for folder, _, names in os.walk(where) for name in names]
    shown = [path for path in paths if path.is_file() and not _is_hidden(path.relative_to(where))]
    loaded = (load(str(path)) for path in sorted(shown, key=lambda path: _by_number(str(path))))
    return [File(source.name, data) for data, source in loaded]


def _by_number(name: str) -> list[str | int]:
    """Return a key to sort by: text and numbers in turn."""
    return [int(part) if at % 2 else part for at, part in enumerate(re.split(r"([0-9]{1,18})", name))]


def _is_hidden(path: PurePath) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in path.parts)


def _members(data: bytes, name: str) -> list[File]:
    """Return the files of a .tar or .zip archive, none if it is neither."""
    members: list[tuple[str, bytes]] = []
    try:
        if tarfile.is_tarfile(io.BytesIO(data)):
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
                streams = [(each.name, tar.extractfile(each)) for each in tar.getmembers() if each.isfile()]
                members = [(inner, stream.read()) for inner, stream in streams if stream]
                rest = data[tar.offset :]  # zeros at the end; at anything else Python stops without a word
            if not rest or rest.strip(b"\0"):
                raise tarfile.ReadError(f"no header at byte {len(data) - len(rest):,}")
        elif data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                end = data.rindex(b"PK\x05\x06")
                if int.from_bytes(data[end + 10 : end + 12], "little") != len(packed.infolist()) % 0x10000:
                    raise zipfile.BadZipFile("members are missing")
                if sum(each.file_size for each in packed.infolist()) > (most := most_unpacked(len(data))):
                    raise TooLarge(most)  # noqa: TRY301 - told below
                members = [(each.filename, packed.read(each)) for each in packed.infolist() if not each.is_dir()]
    except _DAMAGED as error:
        mend = "Copy or download it again."
        raise bad_input(name, f"the archive is damaged or cut short ({error})", "a whole archive", mend) from None
    except TooLarge as error:
        raise bad_input(name, str(error), "no more", "If it is what it should be, unpack it first.") from None
    return [File(f"{name}/{inner}", data) for inner, data in members if not _is_hidden(PurePath(inner))]
