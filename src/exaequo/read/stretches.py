"""Stretches of a run too large to be looked at whole: a path in, places to cut it, and the lines between them, out.

Each topic stands in one stretch. Stretches are plain text in arrays, of some hundred thousand lines, which stay near
the processor; whatever is not plain is read as a whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from exaequo.choices import STDIN
from exaequo.errors import InputError
from exaequo.read.foreign import refuse_foreign
from exaequo.read.metadata import header_of
from exaequo.read.plain import of_text
from exaequo.read.records import Run
from exaequo.read.source import Source, called, digest_of, version_of
from exaequo.read.tables import kind_of
from exaequo.read.trec import RUN

#: Bytes of a stretch, and of it for each judged topic, if those are more: each stretch has work for all of them.
SIZE, PER_TOPIC = 1 << 23, 256
#: Lines of the parts of a run that was read as a whole; bytes of a line, or so.
LINES, A_LINE = 1 << 18, 32
_TOPIC = re.compile(rb"[^\s#][^\s]*[ \t]")
#: Bytes of a line, at most, and bytes that are looked at together for the next topic.
_LONGEST, _WINDOW = 1000, 1 << 16


@dataclass(frozen=True)
class Stretch:
    """Some bytes of a file, as it was when it had this size and time of change."""

    path: str
    start: int
    end: int
    version: tuple[int, int]


def stretches(path: str, size: int = SIZE) -> list[Stretch]:
    """Return stretches of about so many bytes; none of a file that has not two of them, or is no TREC text."""
    if path == STDIN:  # whatever file has this name
        return []
    try:
        version = version_of(path)
        if version[0] < 2 * size or kind_of(path, "trec") != "trec":
            return []
        with Path(path).open("rb") as file:
            if not file.read(_LONGEST).isascii():
                return []
            cuts = [0]
            while (cut := _cut(file, cuts[-1] + size, version[0])) < version[0]:
                cuts.append(cut)
    except (OSError, ValueError):  # no such file, or one that cannot be looked at: who reads it says why
        return []
    if len(cuts) == 1:  # who reads it as a whole sees first whether there is memory for that
        return []
    return [Stretch(path, start, end, version) for start, end in zip(cuts, [*cuts[1:], version[0]], strict=True)]


def _cut(file: IO[bytes], near: int, end: int) -> int:
    """Return where the first topic begins that begins after this place, or the end."""
    first = max(0, near - _LONGEST)
    file.seek(first)
    line = first + file.read(near - first).rfind(b"\n") + 1
    file.seek(line)
    text = file.read(_WINDOW)
    topic = _TOPIC.match(text)
    if topic is None or (line == first and first):  # a line so long is none of a run
        return end
    other = re.compile(rb"\n(?!" + re.escape(topic[0]) + rb")")
    while True:
        more = file.read(_WINDOW)
        found = other.search(text)
        last = found.end() if found else len(text) + 1
        if last + len(topic[0]) <= len(text) or (not more and last < len(text)):
            return line + last
        if not more:
            return end
        kept = len(topic[0]) + 1  # what may be half a topic is looked at again
        line, text = line + len(text) - kept, text[-kept:] + more


def digest_of_all(stretch: Stretch) -> str | None:
    """Return the SHA-256 of the whole file; None if it has changed."""
    try:
        digest = digest_of(stretch.path)
        return digest if version_of(stretch.path) == stretch.version else None
    except OSError:
        return None


def read_stretch(stretch: Stretch) -> Run | None:
    """Read the lines of a stretch; None if they are not plain, or the file has changed."""
    name = called(stretch.path)
    try:
        with Path(stretch.path).open("rb") as file:
            file.seek(stretch.start)
            content = file.read(stretch.end - stretch.start)
        changed = version_of(stretch.path) != stretch.version
    except OSError:  # who reads it as a whole says why
        return None
    lines = None if changed or (not stretch.start and _begins_oddly(content, name)) else of_text(content, RUN)
    if lines is None:
        return None
    source = Source(name)
    return Run.of(lines, name=lines.label or source.stem, source=source)


def _begins_oddly(content: bytes, name: str) -> bool:
    try:
        refuse_foreign(content, name, RUN.what)
        return any(header_of(content, name))
    except InputError:
        return True
