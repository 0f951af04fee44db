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


#: Problems that are said at most, where no command lists them.
MOST_SAID = 20


class InputError(ExaequoError, ValueError):
    """A file or table that cannot be evaluated; `checked` if `exaequo check` reads it, and so lists its problems."""

    def __init__(self, problems: Problem | Sequence[Problem], *, checked: bool = True) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        self.checked = checked
        said = self.problems[: 1 if checked else MOST_SAID]
        more = len(self.problems) - len(said)
        by_command = checked and self.problems[0].line is not None
        where = "`exaequo check` lists them all" if by_command else "`.problems` lists them"
        tail = [f"({more:,} more in this input; {where})"] if more else []
        super().__init__("\n".join([*map(str, said), *tail]))


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
