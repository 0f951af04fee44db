"""Running systems: built-in ones, programs, functions. In: a `Collection`. Out: a `Run` of each, and what it cost.

A program is a command with places for files: `{queries}` (qid TAB text), `{topics}` (TREC), `{documents}` (JSON lines
with docno, title, text), and `{run}`, which it writes. It is started without a shell.
"""

from __future__ import annotations

import json
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from exaequo.errors import BadParameter, ExaequoError, InputError, bad_input
from exaequo.read import Run, read_run
from exaequo.read.collection import Collection
from exaequo.read.collection.saving import trec_topics
from exaequo.read.source import as_it_stands
from exaequo.searching import watch
from exaequo.searching.functions import Ranker, ask
from exaequo.searching.notation import System
from exaequo.text import count, listed
from exaequo.writing import make_folder, write_whole, wrong_name

#: A system: a built-in one by its notation, a command that has `{run}` in it, or a function.
SystemLike: TypeAlias = "str | Ranker"
RUN = "{run}"
#: Lines of what a program said that are shown when it fails.
_LAST = 8
_KEEP = "What it wrote is deleted unless -o DIR, folder= says where to keep it."


class Cost(NamedTuple):
    """What a system needed, from its start to its end, reading and indexing included; None where that is not known.

    A function of this process has no memory of its own.
    """

    seconds: float
    cpu_seconds: float | None
    memory_mb: float | None


class Outcome(NamedTuple):
    """What became of a system: its run, what it cost, and what there is to say."""

    run: Run
    cost: Cost
    remarks: list[str]


@dataclass(frozen=True)
class Task:
    """What every system gets: a collection, its queries (`qid, text`), the depth, seconds to wait (0: for ever).

    Files that programs read and write go into the folder `inputs`, a new one; whole runs are `kept` in a folder, if one
    is given.
    """

    collection: Collection
    queries: pl.DataFrame
    depth: int
    timeout: float
    inputs: Path
    kept: Path | None = None


def outcome(name: str, system: SystemLike, task: Task) -> Outcome:
    """Run a system."""
    if callable(system):
        return _called(name, system, task)
    path = task.inputs / "runs" / f"{name}.txt"
    make_folder(path.parent)
    ours = RUN not in system
    words = _program(system, task) if ours else _words(system, name)
    command = [_filled(word, task, path) for word in words]
    cost, said = _watched(name, command, task)
    kept = task.kept / path.name if task.kept is not None and path.exists() else None
    if kept is not None:
        write_whole(kept, path.read_bytes())
    run = _written(kept or path, name, kept=kept is not None)
    return Outcome(run, cost, [*(said if ours else ()), *_strangers(run, task.collection)])


def _written(path: Path, name: str, *, kept: bool) -> Run:
    """Read the run of a program. Nobody is sent to a file that is not `kept`: the name alone is said, and how to."""
    try:
        if not path.exists():
            raise bad_input(str(path), f"{name} ended without writing it", "a run", f"Let it write to {RUN}.")
        if not path.stat().st_size:
            mend = "Check the queries and the system."
            raise bad_input(str(path), f"{name} found nothing for any topic", "a run", mend)
        return read_run(path, name=name)
    except InputError as error:
        if kept:
            raise
        said = [replace(each, file=path.name, mend=f"{each.mend} {_KEEP}") for each in error.problems]
        raise InputError(said) from None


def refuse(name: str, system: SystemLike) -> None:
    """Refuse what is no system, or has a name that cannot be that of a file, before the work."""
    if why := wrong_name(name):
        raise BadParameter(f"The name of a system is that of a file, without folders. Got {name!r:.80}: {why}.")
    if callable(system):
        return
    if not isinstance(system, str):
        raise BadParameter(f"The system {name} must be a model, a command or a function. Got {system!r:.60}.")
    if RUN in system:
        _words(system, name)
    elif len(system.split()) > 1 and "(" not in system:
        raise BadParameter(f"The command of {name} says nowhere where its run goes; put {RUN} there: {system!r:.80}.")
    else:
        System.of(system)


def _words(command: str, name: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise BadParameter(f"Cannot read the command of {name} ({error}): {command!r:.80}.") from None


def _program(system: str, task: Task) -> list[str]:
    """Return the command of a built-in system."""
    what = [System.of(system).name, task.collection.language, str(task.depth)]
    return [sys.executable, "-m", __package__ or "", "{documents}", "{queries}", *what, RUN]


def _filled(word: str, task: Task, run: Path) -> str:
    """Put files in their places, those written that are asked for."""
    for file, text in _FILES.items():
        place = f"{{{file.partition('.')[0]}}}"
        if place in word:
            path = task.inputs / file
            if not path.exists():
                write_whole(path, text(task).encode())
            word = word.replace(place, str(path.absolute()))
    return word.replace(RUN, str(run.absolute()))


def queries_text(queries: pl.DataFrame) -> str:
    """Return a line per query, `qid TAB text`."""
    return queries.write_csv(include_header=False, separator="\t", quote_style="never")


def _documents(task: Task) -> str:
    return task.collection.documents.select("docno", "title", "text").write_ndjson()


_FILES: dict[str, Callable[[Task], str]] = {
    "queries.tsv": lambda task: queries_text(task.queries),
    "topics.txt": lambda task: trec_topics(task.collection.topics),
    "documents.jsonl": _documents,
}


def read_queries(path: str | Path) -> pl.DataFrame:
    """Read what `queries_text` wrote."""
    schema = {"qid": pl.String, "text": pl.String}
    text = as_it_stands(Path(path).read_bytes())
    read = pl.read_csv(text, has_header=False, separator="\t", quote_char=None, schema=schema)
    return read.with_columns(pl.col("text").fill_null(""))


def _watched(name: str, command: list[str], task: Task) -> tuple[Cost, list[str]]:
    """Run a command and return its cost and the lines it said; an error if it fails or takes too long."""
    helper = [sys.executable, "-I", "-S", watch.__file__, str(task.timeout), *command]
    errors = task.inputs / "stderr.txt"
    # Standard input stays open as long as somebody waits: were this process ended, the helper would end the command.
    pipe = subprocess.PIPE
    with (
        errors.open("wb") as stream,
        subprocess.Popen(helper, stdin=pipe, stdout=pipe, stderr=stream) as process,  # noqa: S603 - what was asked for
    ):
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        if sys.platform != "win32":
            select.select([process.stdout], [], [])  # a read would sleep through an interrupt that Polars caught
        answer, code = process.stdout.read(), process.wait()
    said = errors.read_text(encoding="utf-8", errors="replace").splitlines()
    errors.unlink()
    about: dict[str, Any] = {"failed": f"exit code {code}"} if code else json.loads(answer)
    wrong = ""
    if "failed" in about:
        wrong = f"cannot be started ({about['failed']}): {command[0]}"
    elif "timeout" in about:
        wrong = f"took more than {task.timeout:g} seconds and was ended (--timeout, timeout= changes that)"
    elif about["code"]:
        code = about["code"]
        wrong = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    if wrong:
        raise ExaequoError("\n  ".join([f"{name} {wrong}" + (". It said:" if said else "."), *said[-_LAST:]]))
    return Cost(about["seconds"], about["cpu_seconds"], about["memory_mb"]), said


def _called(name: str, search: Ranker, task: Task) -> Outcome:
    """Ask a function every query."""
    start, cpu = time.perf_counter(), time.process_time()
    run = ask(name, search, task.queries)
    cost = Cost(time.perf_counter() - start, time.process_time() - cpu, None)
    return Outcome(run, cost, _strangers(run, task.collection))


def _strangers(run: Run, collection: Collection) -> list[str]:
    """Say which documents of a run are not in the collection."""
    docnos = run.frame["docno"].unique()
    strange = docnos.filter(~docnos.is_in(collection.documents["docno"].implode())).sort().to_list()
    what = f"{count(len(strange), 'document')} that the collection does not have: {listed(strange)}"
    return [f"{run.name}: {what}"] if strange else []
