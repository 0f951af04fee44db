"""The files of a collection: a folder, an archive or a single file in, their names and unpacked bytes out."""

from __future__ import annotations

import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from exaequo.errors import bad_input
from exaequo.read.source import PACKED, load
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
        return path.stem if path.suffix in PACKED else path.name

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


def files_of(where: str) -> Iterator[File]:
    """Go through the files of a folder, in the order of their names, or of an archive; hidden ones are left out."""
    if not Path(where).is_dir():
        data, source = load(where)
        yield from _members(data, source.name) or [File(source.name, data)]
        return
    for folder, folders, names in os.walk(where):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and path.is_file():
                data, source = load(str(path))
                yield File(source.name, data)


def _members(data: bytes, name: str) -> list[File]:
    """Return the files of a .tar or .zip archive, none if it is neither."""
    try:
        if data[257:262] == b"ustar":
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
                streams = [(each.name, tar.extractfile(each)) for each in tar.getmembers() if each.isfile()]
                return [File(f"{name}/{inner}", stream.read()) for inner, stream in streams if stream]
        if data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                return [
                    File(f"{name}/{each.filename}", packed.read(each))
                    for each in packed.infolist()
                    if not each.is_dir()
                ]
    except _DAMAGED as error:
        mend = "Copy or download it again."
        raise bad_input(name, f"the archive is damaged or cut short ({error})", "a whole archive", mend) from None
    return []
