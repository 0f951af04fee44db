"""Memory: how much may be used, and about how much a file needs. In: bytes. Out: nothing, or a refusal in time.

What may be used is what `limited` says, or the variable EXAEQUO_MEMORY, or what the machine has left, where it tells.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from exaequo.errors import BadParameter, bad_input

VARIABLE = "EXAEQUO_MEMORY"
#: Measured, with some to spare: a process with nothing to do yet, and what each byte of a file needs, unpacked.
START, PER_BYTE = 200_000_000, 10
#: Bytes that are always read, unless a limit is given: to ask what is free takes as long as to read them.
_SMALL = 8_000_000
#: Seconds between two looks at what is in use.
_PAUSE = 0.1
_UNITS = " KMGT"
#: Where Linux says how much memory a container may have, and has.
_GROUP = Path("/sys/fs/cgroup")
_GIVEN: ContextVar[int | None] = ContextVar("memory", default=None)


def size_of(text: str) -> int:
    """Return the bytes that a size such as 500MB, 1.5G or 2GiB stands for."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)(I?)B?", text.strip().upper())
    if found is None or not float(found[1]):
        raise BadParameter(f"memory must be a size such as 500MB or 2G. Got {text!r} instead.")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** _UNITS.index(found[2] or " "))


def said(size: float) -> str:
    """Return a size in words."""
    if size < 1e6:
        return f"{size / 1e3:,.0f} kB"
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def given() -> int | None:
    """Return the limit that was given, if one was."""
    size = _GIVEN.get()
    named = os.environ.get(VARIABLE)
    return size_of(named) if size is None and named else size


@contextmanager
def limited(size: int | None, over: Callable[[], None]) -> Iterator[None]:
    """Keep to a limit, if there is one; `over` is called, from another thread, where it was exceeded all the same."""
    token = _GIVEN.set(size)
    stop = keep(size, over)
    try:
        yield
    finally:
        stop()
        _GIVEN.reset(token)


def keep(size: int | None, over: Callable[[], None]) -> Callable[[], None]:
    """Keep to a limit until the process ends, or until what is returned is called."""
    _GIVEN.set(size)
    ended = threading.Event()

    def watch(most: int) -> None:
        while not ended.wait(_PAUSE):
            if used() > most:
                over()

    if size is not None:
        threading.Thread(target=watch, args=(size,), daemon=True).start()
    return ended.set


def used() -> int:
    """Return the bytes this process has in use; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def available() -> int | None:
    """Return the bytes this process could have without others having to go; None where the system does not tell."""
    try:
        free = re.search(r"MemAvailable: *(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError:
        return None
    left = [int(free[1]) * 1024] if free else []
    try:
        bound, taken, kept = ((_GROUP / f"memory.{each}").read_text("ascii") for each in ("max", "current", "stat"))
        # What is kept of files goes when others need the room.
        cached = sum(map(int, re.findall(r"^(?:in)?active_file (\d+)", kept, re.MULTILINE)))
        left.append(int(bound) - max(int(taken) - cached, 0))
    except (OSError, ValueError):  # no group, or one without a bound
        pass
    return min(left) + used() if left else None


def at_once(jobs: int) -> int:
    """Return how many of so many processes the limit has room for, one at least."""
    size = given()
    return jobs if size is None else max(1, min(jobs, size // START - 1))


def share(jobs: int) -> int | None:
    """Return the limit of each of so many processes beside this one, if there is a limit."""
    size = given()
    return None if size is None else max(size - START, START) // jobs


def room() -> int | None:
    """Return how many bytes a file may have, unpacked; None where there is no telling."""
    size = given() or available()
    return None if size is None else max(0, size - START) // PER_BYTE


def refuse_too_large(name: str, size: int) -> None:
    """Refuse a file of so many bytes, unpacked, or more, if there is no memory for it."""
    if size <= _SMALL and given() is None:
        return
    most = room()
    if most is None or size <= most:
        return
    limit = given()
    whose = f"{said(limit)}, as --memory or {VARIABLE} says" if limit else f"the {said(available() or 0)} that are free"
    found = f"{said(size)} of data or more, which need about {said(START + PER_BYTE * size)} of memory"
    mend = "Allow more, with --memory SIZE; or cut lists at the depth that counts, or split the file."
    raise bad_input(name, found, f"at most {whose}", mend)
