"""How to mend what cannot be read: a number or the fields of a line in, words for the end of a message out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: Spaces that separate no fields.
_ODD_SPACE = re.compile(r"[^\S\x00-\x7f]|[\u200b\u2060]")


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
        (number == "rel" and many == 3 and ends, "Put a 0 after the topic: awk '{print $1, 0, $2, $3}'"),
        (number == "sim" and many == 5 and ends, "Add the name of the run: awk '{print $0, \"NAME\"}'"),
    )
    return next((mend for true, mend in hints if true), "Mend or delete the line.")
