"""`exaequo experiment`: systems run on a collection, evaluated, and what they cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exaequo.choices import MEASURES, SEARCH_DEPTH, TABLE_FORMATS, TIMEOUT
from exaequo.cli import output
from exaequo.cli.files import Number
from exaequo.cli.options import Target, depth_option, measure_option, speaks, writes
from exaequo.cli.search import field_option
from exaequo.errors import UsageError
from exaequo.language import say

if TYPE_CHECKING:
    from exaequo.searching.experiments import Experiment


@click.command()
@click.argument("collection")
@click.option(
    "--model", "models", multiple=True, metavar="MODEL", help="As for search; with -stem, -nostop; may be repeated."
)
@click.option(
    "--system",
    "programs",
    multiple=True,
    metavar="NAME=COMMAND",
    help="A program: NAME='command {queries} {run}', with {topics}, {documents} too; may be repeated.",
)
@measure_option()
@depth_option(SEARCH_DEPTH, ", of built-in systems")
@field_option
@click.option("--timeout", type=Number(0), default=TIMEOUT, show_default=True, help="Seconds; 0: no limit.")
@writes(*TABLE_FORMATS, there="Write runs, judgments, queries, page and curves there.", where="DIR")
@speaks
def experiment(
    collection: str,
    models: tuple[str, ...],
    programs: tuple[str, ...],
    measures: tuple[str, ...],
    depth: int,
    fields: str,
    timeout: float,
    target: Target,
) -> None:
    """Run systems on COLLECTION (a folder, or a shipped name): their scores, ties in the open, and what they cost.

    A program is started without a shell, and writes a run where {run} stands.
    """
    from exaequo.searching.experiments import perform

    result = perform(
        collection,
        systems_of(models, programs),
        measures or MEASURES,
        depth=depth,
        fields=fields,
        timeout=timeout,
        folder=target.path,
    )
    output.warn(*result.warnings)
    shown = replace(target, path=None)
    if target.format == "table":
        shown.text(_screen(result, *output.room()))
    else:
        shown.show({"systems": result.table()}, options=result.options, warnings=result.warnings)
    if target.path is not None:
        for path in saved(result, target.path):
            output.aside(path)


def _screen(result: Experiment, columns: int, lines: int) -> str:
    """Return scores and costs in one table if they fit, else one below the other."""
    from exaequo.scores.screen import screen
    from exaequo.screens import page, shown

    whole, table = result.text(), result.table()
    if max(map(len, whole.split("\n"))) <= columns:
        return whole
    alone = replace(table, title=say("Costs"), columns=[table.columns[0], *table.columns[-3:]])
    costs = page((), {"costs": alone}, (), columns, lines // 3, "--format csv")
    room = lines - costs.count("\n") - 2
    scores = shown(replace(screen(result.scores), after=[say("* best of its column")]), columns, room)
    return f"{scores}\n\n{costs}"


def systems_of(models: tuple[str, ...], programs: tuple[str, ...]) -> dict[str, str]:
    """Return all systems by name."""
    from exaequo.searching.notation import System

    systems: dict[str, str] = {}
    for text in models:
        name = System.of(text).name
        _refuse_twice(name, systems)
        systems[name] = text
    for text in programs:
        name, separator, command = text.partition("=")
        if not separator or "{run}" not in command:
            raise UsageError(f"--system takes NAME='command {{queries}} {{run}}'. Got {text!r}.")
        _refuse_twice(name, systems)
        systems[name] = command
    if not systems:
        raise UsageError("Name a system: --model bm25, or --system NAME='command {queries} {run}'.")
    return systems


def _refuse_twice(name: str, systems: dict[str, str]) -> None:
    if name in systems:
        raise UsageError(f"There are two systems called {name}.")


def saved(result: Experiment, folder: str, curves: tuple[str, ...] | None = None) -> list[Path]:
    """Write the files of an experiment; say which cannot be made, and which runs in the folder are of another one."""
    paths, remarks = result.save(folder, curves=curves)
    output.warn(*remarks)
    return paths
