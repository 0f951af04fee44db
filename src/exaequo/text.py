"""Words for people: numbers with their nouns, short lists of names, hints, and text that is safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `"; did you mean 'x'?"` for the nearest known word, or nothing if none is near."""
    import difflib  # only what is misspelt needs it

    by_fold: dict[str, str] = {}
    for name in known:
        by_fold.setdefault(name.casefold(), name)
    near = difflib.get_close_matches(word.casefold(), by_fold, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(by_fold[name]) for name in near)}?" if near else ""


#: A no-break space inside a number, or before %, as some languages write it, hides nothing.
_IN_NUMBERS = re.compile(r"((?<=\d)\xa0(?=\d)|\xa0(?=%))")


def printable(text: str) -> str:
    """Make a text safe for a terminal: control characters are written as escapes; line ends and tabs stay."""
    if "\xa0" in text:
        parts = _IN_NUMBERS.split(text)
        return "\xa0".join(map(_escaped, parts[::2]))
    return _escaped(text)


def _escaped(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


#: What screens have of our own: bold letters, and no-break spaces, which some languages put before a colon.
_OWN = re.compile("(\x1b\\[[01]m|\xa0)")


def on_screen(text: str) -> str:
    """Make a whole screen safe for a terminal, whoever wrote its parts: nothing is left to obey but bold letters."""
    return "".join(part if at % 2 else _escaped(part) for at, part in enumerate(_OWN.split(text)))


def on_one_line(text: str) -> str:
    """Make a name safe for a table: control characters escaped, line ends too."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 topic`, `2 topics`, `3,000 topics`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def signed(number: float, digits: int = 4) -> str:
    """Write a difference with its sign; what rounds to nothing is +0."""
    return f"{round(number, digits) + 0.0:+.{digits}f}"


def p_text(p: float) -> str:
    """Write a p."""
    return f"p {'< 0.0001' if p < 0.0001 else f'= {p:.4f}'}"


#: Names are shown up to so many characters in messages.
LONGEST = 60


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names for a message: the first few, then how many more."""
    shown = ", ".join(name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
