"""How to mend what cannot be read: a number or the fields of a line in, words for the end of a message out.

Also what is plain enough to be mended by a program: lines of which only one reading is possible.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: Spaces that separate no fields.
_ODD_SPACE = re.compile(r"[^\S\x00-\x7f]|[\u200b\u2060]")


_ZERO = "Put a 0 after the topic: awk '{print $1, 0, $2, $3}'"
_NAME = "Add the name of the run: awk '{print $0, \"NAME\"}'"


def is_number(text: str) -> bool:
    """Tell whether this is a decimal number as programs write it; it may be too large for them."""
    return _NUMBER.fullmatch(text) is not None


def finite(text: str) -> float | None:
    """Return the number that a field holds; None if it is no finite decimal number."""
    value = float(text) if is_number(text) else float("inf")
    return value if isfinite(value) else None


def mend_number(text: str, otherwise: str) -> str:
    """Say how to write a number that is there, but not as it should be."""
    if is_number(text):
        return "Scale the numbers: none may be larger than 1.8e308."
    if not text.isprintable():
        return "Delete the characters that are not seen."
    return "Write it like 1000, -1.5 or 2e-3." if any(map(str.isnumeric, text)) else otherwise


#: What stands after the topic in a run.
_ITERATIONS = ("Q0", "q0", "0")


def lacks_name(fields: Sequence[str]) -> bool:
    """Tell whether this is a line of a run but for its last field."""
    return len(fields) == 5 and fields[1] in _ITERATIONS and fields[3].isdecimal() and is_number(fields[4])


def lacks_iteration(fields: Sequence[str]) -> bool:
    """Tell whether this is `qid docno rel`: a number in the middle might be the iteration, and the judgment missing."""
    if len(fields) != 3 or fields[1] in _ITERATIONS:
        return False
    return is_number(fields[2]) and not is_number(fields[1])


def goes_on(fields: Sequence[str]) -> bool:
    """Tell whether words follow the judgment; a number might be the judgment itself, as in a run or a sample."""
    return len(fields) > 4 and is_number(fields[3]) and not any(map(is_number, fields[4:]))


def mend_repeat(number: str, which: str) -> str:
    """Say how to mend a document that is there again, where this is the name of its number, in one of `which`."""
    safe = "keeps the best score" if number == "sim" else "does so where they agree"
    return f"Delete one of the {which}; --mend {safe}."


def mend_width(fields: Sequence[str], number: str) -> str:
    """Say how to mend a line of too few or too many fields, where this is to be the name of its number."""
    first, many = fields[0], len(fields)
    ends = is_number(fields[-1])
    reader = "or say so with --reader."
    hints = (
        (number == "sim" and many == 4, "This looks like a line of qrels: the qrels come first, then the runs."),
        (number == "rel" and many == 6, "This looks like a line of a run: the qrels come first, then the runs."),
        (first.startswith(("{", "[")), f"If this is JSON, name it .json, or .jsonl with an object a line, {reader}"),
        (many == 1 and "," in first, f"If this is a table, name it .csv or .tsv, {reader}"),
        (many == 1 and {*";|"} & {*first}, "Separate fields by blanks or tabs."),
        (_ODD_SPACE.search(" ".join(fields)), "Write blanks in the place of other spaces, such as no-break spaces."),
        (number == "rel" and lacks_iteration(fields), f"{_ZERO}, or read it with --mend."),
        (number == "rel" and many == 3 and ends, _ZERO),
        (number == "rel" and goes_on(fields), "Delete what follows the judgment, or read it with --mend."),
        (number == "sim" and lacks_name(fields), f"{_NAME}, or read it with --mend."),
        (number == "sim" and many == 5 and ends, _NAME),
    )
    return next((mend for true, mend in hints if true), "Mend or delete the line.")
