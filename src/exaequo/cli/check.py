"""`exaequo check`: every problem of the files, with line numbers, not just the first."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exaequo.choices import STDIN
from exaequo.cli import output, progress
from exaequo.cli.files import mended
from exaequo.cli.options import Files, Target, reads_files, writes
from exaequo.errors import InputError, Problem, UsageError
from exaequo.text import count, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exaequo.judge import Judgments

#: Problems of one kind in one file that are told one by one; people who see so many look at the first ones.
_MOST = 20


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@writes("text", "json", there="Write there instead of to standard output; with --mend, a folder for mended copies.")
@reads_files
def check(qrels: str, runs: tuple[str, ...], target: Target, files: Files) -> int:
    """Look for problems in QRELS and RUNs, or tables of decisions. Exit code 1 if a file cannot be evaluated, else 0.

    Problems stop an evaluation. Remarks do not, but change how its figures should be read.
    """
    folder = target.path if files.mend else None
    if folder and STDIN in (qrels, *runs):
        raise UsageError("Mended copies are made of files, not of standard input (-).")
    target = replace(target, path=None) if files.mend else target
    output.check_paths((qrels, *runs), target.path)
    from exaequo.read.decisions import holds_decisions

    try:
        decisions = holds_decisions(qrels, reader=files.qrels_reader, columns=files.columns)
    except InputError:  # it is told below what is wrong
        decisions = False
    problems, remarks = _of_tables((qrels, *runs), files) if decisions else _of_runs(qrels, runs, files)
    copies = _copies(qrels, runs, files, folder) if folder else []
    found = f"{count(1 + len(runs), 'file')}: {count(len(problems), 'problem')}, {count(len(remarks), 'remark')}"
    told = [*(f"remark: {remark}" for remark in remarks), *(f"mended copy: {copy}" for copy in copies)]
    lines = [*_said(problems), *told, found]
    beside = {"copies": copies} if folder else {}
    target.tell(map(printable, lines), problems=[asdict(problem) for problem in problems], remarks=remarks, **beside)
    return 1 if problems else 0


def _said(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield problems in words: of one kind in one file the first ones, then how many more there are."""
    kinds = [(each.file, each.expected, each.mend) for each in problems]
    of_kind, so_far = Counter(kinds), Counter[tuple[str, str, str]]()
    for problem, kind in zip(problems, kinds, strict=True):
        so_far[kind] += 1
        if so_far[kind] <= _MOST:
            yield str(problem)
        if so_far[kind] == _MOST < of_kind[kind]:
            more = of_kind[kind] - _MOST
            yield f"{problem.file}: {more:,} more like these; expected {problem.expected}. --json lists all."


def _copies(qrels: str, runs: Sequence[str], files: Files, folder: str) -> list[str]:
    """Write the files that were mended, as they were read, into a folder; return where they are."""
    from exaequo.read import mended_file
    from exaequo.read.source import called
    from exaequo.writing import make_folder, write_whole

    changed = {each.file for each in mended()}
    readers = {qrels: files.qrels_reader, **dict.fromkeys(runs, files.run_reader)}
    made = {
        path: mended_file(path, judgments=path == qrels, reader=reader, columns=files.columns)
        for path, reader in readers.items()
        if called(path) in changed
    }
    names = [name.casefold() for name, _ in made.values()]
    for twice in names:
        if names.count(twice) > 1:
            raise UsageError(f"Two mended copies would be {folder}/{twice}; check the files one after the other.")
    make_folder(folder)
    for name, content in made.values():
        output.check_paths([*readers], str(Path(folder, name)))
        write_whole(Path(folder, name), content)
    return [str(Path(folder, name)) for name, _ in made.values()]


def _of_tables(paths: Sequence[str], files: Files) -> tuple[list[Problem], list[str]]:
    """Return the problems of tables of decisions, each by itself and then together, and the remarks."""
    from exaequo.filtering import absent, from_tables
    from exaequo.read.decisions import read_decisions

    problems: list[Problem] = []
    read = []
    for path in paths:
        try:
            read.append(read_decisions(path, reader=files.qrels_reader, columns=files.columns))
        except InputError as error:
            problems += error.problems
    if problems:
        return problems, []
    try:
        return [], absent(from_tables(read))
    except InputError as error:
        return list(error.problems), []


def _of_runs(qrels: str, runs: Sequence[str], files: Files) -> tuple[list[Problem], list[str]]:
    from exaequo.evaluation import judged_runs, prepared
    from exaequo.options import Options
    from exaequo.remarks import remarks_on_judgments, remarks_on_lines

    problems: list[Problem] = []
    remarks: list[str] = []
    judgments: Judgments | None = None
    try:
        judgments = prepared(files.qrels(qrels), Options())
        remarks += remarks_on_judgments(judgments)
    except InputError as error:
        problems += error.problems
    for path in progress.over(runs, "checking"):
        try:
            run = files.run(path)
            remarks += remarks_on_lines(run)
            if judgments is not None:
                remarks += [said for _, more in judged_runs(judgments, [run], Options()) for said in more]
        except InputError as error:
            problems += error.problems
    return problems, remarks
