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

from collections.abc import Sequence
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


def bad_input(file: str, found: str, expected: str, mend: str, *, line: int | None = None) -> InputError:
    """Return the error of one problem, to be raised."""
    return InputError(Problem(file, line, found, expected, mend))


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
