"""Places of rows in messages: a line of a file, a row of a table, a document of a list. In: rows. Out: problems."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from exaequo.errors import InputError, Problem, bad_input
from exaequo.read.trec import quoted
from exaequo.text import listed

IDS = "strings or whole numbers as ids"


@dataclass(frozen=True)
class Place:
    """How rows of a table are called in messages: a line of a file, or a row of an object in memory."""

    name: str
    first_line: int | None = None
    lines: Sequence[int] = ()
    #: Lines in which a column is named more than once: Polars takes the first.
    twice: Mapping[str, Sequence[int]] = field(default_factory=dict)
    #: Rows in which a column of text holds something else, and that: it would become text.
    no_text: Mapping[str, Sequence[tuple[int, object]]] = field(default_factory=dict)
    #: What rows are called that are no lines of their own: documents of lists.
    label: Callable[[int], str] | None = None
    #: What is odd, but read.
    remarks: tuple[str, ...] = ()

    def line(self, row: int) -> int | None:
        """Return the line a row stands in, if that is known."""
        if self.lines:
            return self.lines[row]
        return None if self.first_line is None else self.first_line + row

    def problem(self, row: int, found: str, expected: str, mend: str) -> Problem:
        """Return a problem at this row."""
        line = self.line(row)
        if self.label is not None or line is None:
            found = f"{self.called(row)}: {found}"
        return Problem(self.name, line, found, expected, mend)

    def without(self, what: str, present: Sequence[str], names: Iterable[str], mend: str) -> InputError:
        """Return the error that none of these names is a column."""
        found = f"no column for {what} among {listed(present, 12) or 'no columns at all'}"
        expected = " or ".join(dict.fromkeys(names))
        return bad_input(self.name, found, expected, mend, line=1 if self.first_line else None)

    def refuse_twice(self, columns: Iterable[str]) -> None:
        """Raise InputError if one of these columns is there more than once."""
        problems = [
            Problem(self.name, line, f"{quoted(column)} is here twice", "each column once", "Rename or delete one.")
            for column in columns
            for line in self.twice.get(column, ())
        ]
        if problems:
            raise InputError(problems)

    def refuse_no_ids(self, columns: Iterable[str]) -> None:
        """Raise InputError if one of these columns of ids holds what is neither text nor a whole number."""
        problems = [
            self.problem(row, f"{column} is {quoted(json.dumps(value, default=str))}", IDS, "Write it as text.")
            for column in columns
            for row, value in self.no_text.get(column, ())
        ]
        if problems:
            raise InputError(problems)

    def called(self, row: int) -> str:
        """Return what to call another row in the text of a message."""
        if self.label is not None:
            return self.label(row)
        line = self.line(row)
        return f"row {row}" if line is None else f"line {line}"
