"""Every error and warning a user can meet.

::

    ExaequoError                exit code 1
    ├── InputError              a file or table cannot be evaluated; carries one or more `Problem`s
    ├── MissingTopics           a judged topic is not in the run, and the policy is "error"
    └── UsageError              exit code 2: the request itself is wrong
        ├── UnknownMeasure      no measure of that name; says what it may have meant
        └── BadParameter        a parameter of a measure or of a function is out of range

    OfficialError, in `exaequo.trec_eval`, is an ExaequoError with the exit code the official program has for it.
    InputError and BadParameter are ValueErrors too.

    DataWarning                 nothing is wrong with the request, but the user should know
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an input: where, what was found, what was expected, how to mend it."""

    file: str
    line: int | None
    found: str
    expected: str
    mend: str

    @property
    def where(self) -> str:
        """The place in the form editors understand: `file:line`."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.where}: {self.found}; expected {self.expected}. {self.mend}"


class ExaequoError(Exception):
    """Base of everything exaequo raises on purpose."""

    exit_code = 1


class InputError(ExaequoError, ValueError):
    """A file or table that cannot be evaluated."""

    def __init__(self, problems: Problem | Sequence[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        more = len(self.problems) - 1
        where = "`.problems` lists them" if self.problems[0].line is None else "`exaequo check` lists them all"
        tail = f"\n({more:,} more in this input; {where})" if more else ""
        super().__init__(f"{self.problems[0]}{tail}")


class MissingTopics(ExaequoError):
    """Judged topics are not in a run, and the user asked for that to be an error."""


class UsageError(ExaequoError):
    """The request itself is wrong, whatever the data."""

    exit_code = 2


class UnknownMeasure(UsageError):
    """No measure has that name."""


class BadParameter(UsageError, ValueError):
    """A parameter has a value it cannot have."""


class DataWarning(UserWarning):
    """Something about the data that changes how a score should be read."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `"; did you mean 'x'?"` for the nearest known word, or nothing if none is near."""
    by_fold: dict[str, str] = {}
    for name in known:
        by_fold.setdefault(name.casefold(), name)
    near = difflib.get_close_matches(word.casefold(), by_fold, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(by_fold[name]) for name in near)}?" if near else ""


def printable(text: str) -> str:
    """Make a text safe for a terminal: control characters are written as escapes; line ends and tabs stay."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 topic`, `2 topics`, `3,000 topics`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names for a message: the first few, then how many more."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
