"""The markup of the classic collections: SMART's, that of TIME, of LISA and of NPL. In: text. Out: an `Entry` each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from exaequo.read.collection.records import Entry

_FIELD = re.compile(r"\.([A-Z])\s*")
_RULE = re.compile(r"\*{5,}\s*")


class Block(NamedTuple):
    """The lines after a heading: its match, its line number, and what follows it."""

    match: re.Match[str]
    number: int
    lines: list[str]


def blocks(text: str, heading: str) -> Iterator[Block]:
    """Cut text at the lines that match; what stands before the first is left out."""
    block = None
    for number, line in enumerate(text.split("\n"), 1):
        found = re.fullmatch(heading, line)
        if found:
            if block:
                yield block
            block = Block(found, number, [])
        elif block:
            block.lines.append(line)
    if block:
        yield block


def smart(text: str) -> Iterator[Entry]:
    """Read SMART markup: `.I 1`, then fields such as `.T` (title), `.W` (words), `.A` (authors), `.K` (keywords).

    The text is `.W`; documents add `.A` and `.K`, since topics ask for them. `.B .C .N .X` are left out.
    """
    for block in blocks(text, r"\.I\b(.*)"):
        fields: dict[str, list[str]] = {}
        letter = ""
        for line in block.lines:
            field = _FIELD.fullmatch(line)
            if field:
                letter = field[1]
            else:
                fields.setdefault(letter, []).append(line)
        title, words, *more = ("\n".join(fields.get(name, ())) for name in "TWAK")
        yield Entry(block.match[1].strip(), block.number, title, words, more="\n".join(filter(None, more)))


def time(text: str) -> Iterator[Entry]:
    """Read TIME: `*TEXT 017 01/04/63 PAGE 020` and its lines, `*FIND 1` and its lines, `*STOP` at the end."""
    for block in blocks(text, r"\*(?:TEXT|FIND)\b\s*(\S*).*|\*STOP\s*"):
        if block.match[1] is not None:
            yield Entry(block.match[1], block.number, text="\n".join(filter(str.strip, block.lines)))


def lisa(text: str) -> Iterator[Entry]:
    """Read documents of LISA: `Document 1`, the title, a blank line, the text, a line of stars."""
    for block in blocks(text, r"Document\s+(\d+)\s*"):
        lines = [line.strip() for line in block.lines if not _RULE.fullmatch(line)]
        title, _, words = "\n".join(lines).strip().partition("\n\n")
        yield Entry(block.match[1], block.number, title, words)


def numbered(text: str) -> Iterator[Entry]:
    """Read numbered texts: a line with the number, then lines up to `/` in a line (NPL) or `#` at an end (LISA)."""
    start, name, lines = 0, "", list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if not name:
            name, start = line.strip(), number
            continue
        ends = line.rstrip().endswith("#") or line.strip() == "/"
        lines.append(line.rstrip().rstrip("/#") if ends else line)
        if ends:
            yield Entry(name, start, text="\n".join(lines))
            name, lines = "", []
    if "".join(lines).strip():
        yield Entry(name, start, text="\n".join(lines))
