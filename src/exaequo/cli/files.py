"""Files of commands: what they are read as, and whether to go on past a run that cannot be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from exaequo import memory
from exaequo.choices import READERS, STDIN
from exaequo.cli import output, progress, stopping
from exaequo.errors import InputError, UsageError
from exaequo.text import printable

if TYPE_CHECKING:
    from exaequo.measures import Measure
    from exaequo.options import Options
    from exaequo.read import Qrels, Run, Source
    from exaequo.read.source import Mend
    from exaequo.scores import Scores

    _Text = click.ParamType[str]
else:
    _Text = click.ParamType  # not generic before click 8.4

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
_KIND = click.Choice(READERS)


class _Place(_Text):
    """The name of a file or folder to write, which an unset variable of the shell is not."""

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value or self.fail("an empty name.", param, ctx)


class Number(click.FloatRange):
    """A number within bounds; NaN is within none, though no comparison says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number: float = super().convert(value, param, ctx)
        return self.fail("it must be a number, not nan.", param, ctx) if number != number else number


FILE, DIR = _Place("file"), _Place("dir")


def gathers(name: str, make: Callable[..., Any], options: Mapping[str, Decorator]) -> Decorator:
    """Add options to a command, which gets what is made of their values under one name."""

    def decorate(function: Command) -> Command:
        for option in reversed([*options.values()]):
            option(function)  # click notes it on the function

        @wraps(function)
        def command(*arguments: Any, **given: Any) -> Any:
            made = make(**{option: given.pop(option) for option in options})
            return function(*arguments, **{name: made}, **given)

        return command

    return decorate


@dataclass(frozen=True)
class Files:
    """How the files of a command are read."""

    qrels_reader: str | None
    run_reader: str | None
    columns: dict[str, str]
    #: What can be put right without a guess is, and is told.
    mend: bool = False
    #: A run that cannot be read, or whose topics nobody judged, is left out.
    keep_going: bool = False

    def qrels(self, path: str, *, digest: bool = False) -> Qrels:
        """Read judgments."""
        from exaequo.read import read_qrels

        read = read_qrels(path, reader=self.qrels_reader, columns=self.columns, digest=digest, mend=self.mend)
        return replace(read, source=_told(read.source)) if read.source.mended else read

    def run(self, path: str, *, digest: bool = False) -> Run:
        """Read a run."""
        from exaequo.read import read_run

        read = read_run(path, reader=self.run_reader, columns=self.columns, digest=digest, mend=self.mend)
        return replace(read, source=_told(read.source)) if read.source.mended else read

    def runs(self, paths: Sequence[str], qrels: Qrels | None = None, *, digest: bool = False) -> Iterator[Run]:
        """Read runs one after the other; where the others are to go on, those that cannot be judged are noted."""
        from exaequo.remarks import refuse_unjudged

        lacking = left_out()
        for path in progress.over(paths, "evaluating"):
            try:
                run = self.run(path, digest=digest)
                if self.keep_going and qrels is not None:
                    refuse_unjudged(run.source.name, run.topics, qrels)
            except InputError as error:
                if not self.keep_going:
                    raise
                lacking[path] = error
                output.warn(f"left out: {error}")
            else:
                yield run
        if lacking and lacking.keys() >= set(paths):
            raise lacking[paths[-1]]

    def scores(
        self, qrels: Qrels, paths: Sequence[str], measures: Sequence[Measure], options: Options, *, digest: bool = False
    ) -> Scores:
        """Evaluate runs, with what ties leave open; other processes may help where each can be read by itself."""
        from exaequo.evaluation import evaluate_files, evaluate_runs, judged_runs

        if self.keep_going or self.mend or STDIN in paths:  # something is to be said about each
            judged = judged_runs(qrels, self.runs(paths, qrels, digest=digest), options, measures)
            return evaluate_runs(judged, measures, options, interval=True)
        reading = {"reader": self.run_reader, "columns": self.columns, "digest": digest}
        named = [(None, path) for path in paths]
        tell = partial(progress.doing, f"evaluating {paths[0] if len(paths) == 1 else f'{len(paths):,} runs'}")
        return evaluate_files(qrels, named, measures, options, interval=True, reading=reading, tell=tell)


def _told(source: Source) -> Source:
    """Say what was put right in a file, and note it; then it has been told."""
    mended().extend(source.mended)
    for each in source.mended:
        output.aside(f"exaequo: {printable(str(each))}")
    return replace(source, mended=())


def mended() -> list[Mend]:
    """Return what this command put right; it is noted here."""
    context = click.get_current_context(silent=True)
    found: list[Mend] = context.meta.setdefault(f"{__name__}.mended", []) if context else []
    return found


def left_out() -> dict[str, InputError]:
    """Return the runs that this command could not judge, with what is wrong with them; it is noted here."""
    context = click.get_current_context(silent=True)
    found: dict[str, InputError] = context.meta.setdefault(__name__, {}) if context else {}
    return found


def _files(
    reader: str | None,
    qrels_reader: str | None,
    run_reader: str | None,
    columns: Sequence[str],
    mend: bool = False,
    keep_going: bool = False,
) -> Files:
    """Return how files are read; `columns` are `qid=NAME,docno=NAME`, given once or several times."""
    names: dict[str, str] = {}
    for pair in ",".join(columns).split(",") if columns else ():
        ours, separator, theirs = pair.partition("=")
        if not (separator and theirs):
            raise UsageError(f"--columns takes pairs such as qid=NAME,docno=NAME. Got {pair!r}.")
        if names.setdefault(ours, theirs) != theirs:
            raise UsageError(f"--columns names {ours} twice: {names[ours]!r} and {theirs!r}.")
    return Files(qrels_reader or reader, run_reader or reader, names, mend, keep_going)


MEND = click.option("--mend", is_flag=True, help="Put right what is wrong with files where that is safe, and say so.")
_READING = {
    "reader": click.option("--reader", type=_KIND, help="What all files are, whatever their names say."),
    "qrels_reader": click.option("--qrels-reader", type=_KIND, help="The same, for QRELS alone."),
    "run_reader": click.option("--run-reader", type=_KIND, help="The same, for the RUNs alone."),
    "columns": click.option(
        "--columns", multiple=True, metavar="qid=NAME,...", help="Names of the columns of tables, if unusual."
    ),
    "mend": MEND,
}
#: Adds the options of commands that read files; the command gets them as `files`.
reads_files = gathers("files", _files, _READING)
_KEEP_GOING = click.option(
    "--keep-going",
    is_flag=True,
    help="Leave out a RUN that cannot be read or judged, and go on; the exit code is 1 then.",
)


def reads_runs(function: Command) -> Command:
    """Add the options of commands that read many runs: those of `reads_files`, `--keep-going` and `--memory`."""

    @wraps(function)
    def command(*arguments: Any, **given: Any) -> Any:
        code = function(*arguments, **given)
        return code or int(bool(left_out()))

    return within_memory(gathers("files", _files, {**_READING, "keep_going": _KEEP_GOING})(command))


def within_memory(function: Command) -> Command:
    """Add `--memory`, the limit that the command keeps to."""
    text = f"The most to use, as 2GB; more is refused.  [default: what is free; {memory.VARIABLE}]"
    click.option("--memory", "limit", metavar="SIZE", help=text)(function)

    @wraps(function)
    def command(*arguments: Any, limit: str | None, **given: Any) -> Any:
        size = memory.given() if limit is None else memory.size_of(limit)
        with memory.limited(size, stopping.out_of_memory):
            return function(*arguments, **given)

    return command
