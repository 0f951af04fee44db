"""Writing files whole or not at all, under names that every system takes for the name of one file."""

from __future__ import annotations

import os
import re
import tempfile
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from exaequo.errors import ExaequoError

#: Bytes of a name without its ending, so that there is room for that, and for the name while a file is written.
LONGEST_NAME = 200
#: Names of devices, whatever ending they have, and letters that some systems have no place for.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE | re.DOTALL)
_REFUSED = re.compile(r'[<>:"/\\|?*]')


def wrong_name(name: str) -> str:
    """Say why a name cannot be that of a file in a folder, on this system or another; nothing if it can."""
    if not name or not name.isprintable():
        return "it is empty, or has control characters"
    if refused := _REFUSED.search(name):
        return f"it has a {refused[0]}"
    if name.startswith(".") or name[-1] in ". ":
        return "it begins with a dot, or ends with a dot or a blank"
    if _DEVICES.fullmatch(name.rstrip()):
        return "it is the name of a device on some systems"
    return f"it is longer than {LONGEST_NAME} bytes" if len(os.fsencode(name)) > LONGEST_NAME else ""


def same_file(names: Iterable[str]) -> tuple[str, str] | None:
    """Return two names that are one file where small and capital letters are the same, None if there are none."""
    known: dict[str, str] = {}
    for name in names:
        if (other := known.setdefault(unicodedata.normalize("NFC", name.casefold()), name)) != name:
            return other, name
    return None


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file that appears whole or not at all. Links are followed; what is not a file is written to as it is."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ExaequoError(f"{path}: cannot write ({error.strerror or error}).") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
