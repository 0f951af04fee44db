"""Writing files whole or not at all: the old file or the new one, whatever happens between.

What is being written has the name `.exaequo-*.part` and lies beside its place; a folder for the files of programs is
called `exaequo-*` and lies where the system keeps such things. Both are removed at the end, however that comes; only a
process that is killed leaves them behind, and nothing reads them.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
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


#: What is to be removed if the process ends now.
_UNFINISHED: set[Path] = set()
#: The folders that are held, as `alone` says.
_HELD: ContextVar[tuple[Path, ...]] = ContextVar("held", default=())


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file that appears whole or not at all, and is on disk then.

    Links are followed, owner and permissions of the file that was there are kept; what is not a file is written to as
    it is.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            _replace(target, data)
    except OSError as error:
        raise ExaequoError(f"{path}: cannot write ({error.strerror or error}).") from None


def _replace(target: Path, data: bytes) -> None:
    before = target.stat() if target.exists() else None
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(0, "it is write-protected")
    # A name of its own, not one made of the target's: that may be as long as names can be.
    with _removed_at_the_end(target.parent / f".exaequo-{secrets.token_hex(8)}.part") as temporary:
        with temporary.open("xb") as stream:
            if before is not None:
                with contextlib.suppress(OSError, AttributeError):  # another's file, or a system without owners
                    os.chown(temporary, before.st_uid, before.st_gid)
                temporary.chmod(before.st_mode & 0o7777)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    if sys.platform != "win32":  # the new name is on disk when its folder is
        with contextlib.suppress(OSError), _opened(target.parent) as folder:
            os.fsync(folder)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def _removed_at_the_end(path: Path) -> Iterator[Path]:
    """Remove a file or a folder at the end, if it is still there then."""
    _UNFINISHED.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _UNFINISHED.discard(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def tidy() -> None:
    """Remove what is unfinished: for a process that ends at once, without leaving its contexts."""
    for path in tuple(_UNFINISHED):
        _remove(path)


def sweep(folder: Path) -> None:
    """Remove what a killed process has left in a folder that nobody else writes to now."""
    for path in folder.glob(".exaequo-*.part"):
        _remove(path)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder for files that nobody needs afterwards."""
    with _removed_at_the_end(Path(tempfile.gettempdir()) / f"exaequo-{secrets.token_hex(8)}") as place:
        place.mkdir(mode=0o700)
        yield place


def make_folder(folder: str | Path) -> None:
    """Make a folder, with those above it, unless it is there."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExaequoError(f"{error.filename or folder}: cannot write ({error.strerror or error}).") from None


@contextlib.contextmanager
def alone(folder: str | Path, who: str) -> Iterator[None]:
    """Hold a folder, which no other process then can; `who` is at work there, for the one that is refused.

    The system forgets it with the process, so that nothing has to be mended after one that was killed. Where folders
    cannot be held, on Windows and some file systems, nobody is refused.
    """
    place = Path(os.path.realpath(folder))
    if place in _HELD.get() or sys.platform == "win32":
        yield
        return
    import fcntl

    with _opened(place) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            mend = "Wait until it has ended, or choose another folder."
            raise ExaequoError(f"{folder}: {who} is at work in this folder; expected none. {mend}") from None
        except OSError:
            pass
        token = _HELD.set((*_HELD.get(), place))
        try:
            yield
        finally:
            _HELD.reset(token)
