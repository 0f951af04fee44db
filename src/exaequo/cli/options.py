"""Options many commands have: what files are read as, what counts as relevant, where output goes and as what.

Each decorator adds the options and hands the command one object instead of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import (
    ALPHA,
    CORRECTIONS,
    HIGHEST_GRADE,
    INTERVAL_KINDS,
    MISSING,
    ORDERS_SAMPLED,
    PATTERNS,
    PRECISIONS,
    READERS,
    TESTS,
)
from exaequo.cli import output
from exaequo.errors import UsageError

if TYPE_CHECKING:
    from exaequo.read import Qrels, Run
    from exaequo.tabular import Table

#: The form of JSON documents; it counts up when one changes.
JSON_FORMAT = 1
Command = Callable[..., Any]
_KIND = click.Choice(READERS)


@dataclass(frozen=True)
class Files:
    """How the files of a command are read."""

    qrels_reader: str | None
    run_reader: str | None
    columns: dict[str, str]

    def qrels(self, path: str, *, digest: bool = False) -> Qrels:
        """Read judgments."""
        from exaequo.read import read_qrels

        return read_qrels(path, reader=self.qrels_reader, columns=self.columns, digest=digest)

    def run(self, path: str, *, digest: bool = False) -> Run:
        """Read a run."""
        from exaequo.read import read_run

        return read_run(path, reader=self.run_reader, columns=self.columns, digest=digest)

    def runs(self, paths: Sequence[str], *, digest: bool = False) -> Iterator[Run]:
        """Read runs one after the other, with a progress bar if there is much to read."""
        for path in output.with_progress(paths):
            yield self.run(path, digest=digest)


def reads_files(function: Command) -> Command:
    """Add the options of commands that read files; the command gets them as `files`."""

    @wraps(function)
    def command(
        *arguments: Any,
        reader: str | None,
        qrels_reader: str | None,
        run_reader: str | None,
        columns: tuple[str, ...],
        **options: Any,
    ) -> Any:
        files = Files(qrels_reader or reader, run_reader or reader, _columns(columns))
        return function(*arguments, files=files, **options)

    return _with(
        command,
        click.option("--reader", type=_KIND, help="What all files are, whatever their names say."),
        click.option("--qrels-reader", type=_KIND, help="The same, for QRELS alone."),
        click.option("--run-reader", type=_KIND, help="The same, for the RUNs alone."),
        click.option(
            "--columns", multiple=True, metavar="qid=NAME,...", help="Names of the columns of tables, if unusual."
        ),
    )


def _columns(pairs: Sequence[str]) -> dict[str, str]:
    """Read `qid=NAME,docno=NAME`, given once or several times."""
    columns = {}
    for pair in ",".join(pairs).split(",") if pairs else ():
        ours, separator, theirs = pair.partition("=")
        if not separator:
            raise UsageError(f"--columns takes pairs such as qid=NAME,docno=NAME. Got {pair!r}.")
        columns[ours] = theirs
    return columns


@dataclass(frozen=True)
class Target:
    """Where output goes, and as what."""

    format: str
    path: str | None

    def show(
        self,
        tables: Mapping[str, Table],
        *,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
        warnings: Sequence[str] | None = None,
    ) -> None:
        """Write tables: all in one JSON document, one as CSV, or for people: with sentences, no title over nothing."""
        from exaequo import tabular

        if self.format == "json":
            about = {} if options is None else {"options": options}
            rows = {name: tabular.rows(table.frame) for name, table in tables.items()}
            self.json({**about, **rows, **({} if warnings is None else {"warnings": warnings})})
            return
        if self.format == "csv":
            (one,) = tables.values()
            shown = [one]
        else:
            some = [table for table in tables.values() if table.frame.height or not table.title]
            shown = [tabular.Table(lines=before), *some, tabular.Table(lines=after)]
        self.text("\n\n".join(filter(None, map(tabular.WRITERS[self.format], shown))))

    def text(self, text: str) -> None:
        """Write lines for people, to the terminal as far as it can show them."""
        if self.path is None and self.format in ("table", "text"):
            output.show_text(text)
        else:
            output.write(text + "\n", self.path)

    def json(self, content: Mapping[str, Any]) -> None:
        """Write a document; what is undefined is null."""
        from exaequo.tabular import plain

        document = plain({"format": JSON_FORMAT, **content})
        output.write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", self.path)

    def one_table(self, only: str | None, tables: Sequence[str]) -> None:
        """Refuse several tables in one CSV."""
        if self.format == "csv" and only is None:
            raise UsageError(f"--format csv holds one table; choose it with --table: {', '.join(tables)}.")


def writes(*formats: str, default: str | None = None, flags: Sequence[str] = ("json",)) -> Callable[[Command], Command]:
    """Add the options of commands that write tables, in one of these formats; the command gets them as `target`.

    `flags` are formats with an option of their own. `default` says in words what an empty format stands for; unless
    given, the first one counts.
    """

    def decorate(function: Command) -> Command:
        @wraps(function)
        def command(*arguments: Any, format_: str, path: str | None, **options: Any) -> Any:
            asked = [name for name in flags if options.pop(f"as_{name}")]
            return function(*arguments, target=Target(asked[0] if asked else format_ or "", path), **options)

        choice = click.Choice(formats)
        return _with(
            command,
            click.option("--format", "format_", type=choice, default=formats[0], show_default=True)
            if default is None
            else click.option("--format", "format_", type=choice, help=f"[default: {default}]"),
            *(
                click.option(f"--{name}", f"as_{name}", is_flag=True, help=f"The same as --format {name}.")
                for name in flags
            ),
            click.option("-o", "--output", "path", metavar="FILE", help="Write there instead of to standard output."),
        )

    return decorate


#: The options of an evaluation, each said once: a field of `exaequo.options.Options`.
_EVALUATION: dict[str, tuple[str, dict[str, Any]]] = {
    "depth": ("--depth", {"type": click.IntRange(1), "metavar": "N", "help": "Cut each list at N, after ordering."}),
    "rel_level": (
        "--rel-level",
        {"type": float, "metavar": "N", "help": "Least grade that is relevant.  [default: any above 0]"},
    ),
    "max_grade": (
        "--max-grade",
        {
            "type": float,
            "default": HIGHEST_GRADE,
            "show_default": "127",
            "metavar": "N",
            "help": "A grade above this is not relevant; 'inf' lifts the limit.",
        },
    ),
    "missing": (
        "--missing",
        {
            "type": click.Choice(MISSING),
            "default": MISSING[0],
            "show_default": True,
            "help": "What a judged topic scores that the run lacks.",
        },
    ),
    "precision": (
        "--precision",
        {
            "type": click.Choice(PRECISIONS),
            "default": PRECISIONS[0],
            "show_default": True,
            "help": "How scores are compared.",
        },
    ),
    "seed": (
        "--seed",
        {"type": click.IntRange(0), "default": 0, "show_default": True, "help": "For all that is random."},
    ),
    "samples": (
        "--samples",
        {
            "type": click.IntRange(2),
            "default": ORDERS_SAMPLED,
            "show_default": True,
            "metavar": "N",
            "help": "Orders to try if there is no closed form.",
        },
    ),
}


def evaluates(*names: str, **usual: Any) -> Callable[[Command], Command]:
    """Add these options of an evaluation, and what counts as relevant; the command gets them as `options`.

    `usual` are other defaults than those of all commands.
    """
    chosen = [name for name in _EVALUATION if name in (*names, *usual, "rel_level", "max_grade")]

    def decorate(function: Command) -> Command:
        @wraps(function)
        def command(*arguments: Any, **given: Any) -> Any:
            return function(*arguments, options={name: given.pop(name) for name in chosen}, **given)

        flags = {flag: about | ({"default": usual[name]} if name in usual else {}) for name, flag, about in described}
        return _with(command, *(click.option(flag, **about) for flag, about in flags.items()))

    described = [(name, *_EVALUATION[name]) for name in chosen]
    return decorate


#: How runs are compared, each option said once: a field of `Plan`.
_PLAN: dict[str, dict[str, Any]] = {
    "baseline": {"metavar": "RUN", "help": "Compare all others with this run (its name or file)."},
    "test": {"type": click.Choice(TESTS), "default": TESTS[0], "show_default": True},
    "correction": {"type": click.Choice(CORRECTIONS), "default": "holm", "show_default": True},
    "alpha": {"type": float, "default": ALPHA, "show_default": True, "help": "Level of the tests, after correction."},
    "interval": {"type": click.Choice(INTERVAL_KINDS), "default": INTERVAL_KINDS[0], "show_default": True},
    "samples": {
        "type": click.IntRange(100),
        "default": PATTERNS,
        "show_default": True,
        "help": "For random tests.",
    },
}


def compares(*more: str) -> Callable[[Command], Command]:
    """Add the options of a comparison, and these beyond the usual ones; the command gets them as `plan`."""
    chosen = [name for name in _PLAN if name in ("baseline", "test", "correction", "alpha", *more)]

    def decorate(function: Command) -> Command:
        @wraps(function)
        def command(*arguments: Any, **given: Any) -> Any:
            return function(*arguments, plan={name: given.pop(name) for name in chosen}, **given)

        return _with(command, *(click.option(f"--{name}", **_PLAN[name]) for name in chosen))

    return decorate


def measure_option(text: str = "As for eval; may be repeated.") -> Callable[[Command], Command]:
    """Add `-m`; the command gets `measures`, none if none is given."""
    return click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help=text)


def _with(function: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        function = option(function)
    return function
