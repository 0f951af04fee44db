"""`exaequo pool`: which documents to judge, who found them, and what leaving a team out changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import (
    MEASURES,
    POOL_DEPTH,
    POOL_FORMATS,
    STDIN,
    TABLE_FORMATS,
    TIES_AT_DEPTH,
)
from exaequo.cli import output
from exaequo.cli.options import (
    Files,
    Target,
    depth_option,
    evaluates,
    measure_option,
    reads_files,
    speaks,
    table_option,
    ties_option,
    titled,
    writes,
)
from exaequo.errors import UsageError

if TYPE_CHECKING:
    from exaequo.pooling import Pool

TABLES = {
    "curve": "Pools of other depths: documents in all, added to the depth before, and of a topic",
    "runs": "Runs: documents contributed, those of no other run, and those that a tie at the depth brought along",
    "teams": "Teams: documents contributed, and those of no other team",
    "topics": "Topics: documents, those found by every run, by one alone",
    "overview": "Without what only its team contributed: how score and rank of a run change, and τ-b of rankings",
    "left_out": "Each run with all judgments, and without those of what only its team contributed",
    "frame": "The pool",
}
#: Unless a table is asked for, people see the last of these that there is.
SHOWN = ("curve", "teams", "overview")
#: Tables that only an option brings along.
_NEEDS = {"teams": "--team or --teams", "overview": "--leave-out", "left_out": "--leave-out"}


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@depth_option(POOL_DEPTH, ", which are pooled")
@click.option(
    "--ties-at-depth",
    type=click.Choice(TIES_AT_DEPTH),
    default=TIES_AT_DEPTH[0],
    show_default=True,
    help="Of a tie that straddles the depth: all, or what such an order puts first.",
)
@click.option("--team", "team", multiple=True, metavar="NAME=RUN,...", help="Runs of one team; may be repeated.")
@click.option(
    "--teams", "teams_file", metavar="FILE", help="The same from lines `run team`, or a .csv with these heads."
)
@click.option("--qrels", metavar="QRELS", help="Judgments: tell what is judged and relevant.")
@click.option("--leave-out", is_flag=True, help="Score each run without what only its team contributed; needs --qrels.")
@measure_option("To score by, with --leave-out")
@ties_option(text="How tied documents are ordered for these scores.")
@evaluates("precision", "seed")
@table_option(TABLES)
@click.option("--as", "kind", type=click.Choice(POOL_FORMATS), help="What FILE is.  [default: as it ends, or tsv]")
@writes(*TABLE_FORMATS, there="Write the pool there (- to standard output, alone).")
@reads_files
@speaks
def pool(
    runs: tuple[str, ...],
    team: tuple[str, ...],
    teams_file: str | None,
    qrels: str | None,
    measures: tuple[str, ...],
    ties: str,
    options: dict[str, Any],
    only: str | None,
    kind: str | None,
    target: Target,
    files: Files,
    **plan: Any,
) -> None:
    """Pool the first documents of RUNs, topic by topic: what to judge, who found it, what other depths would add.

    The pool is sorted by topic and name, so that its order tells judges nothing.
    """
    output.check_paths([*runs, *filter(None, (qrels, teams_file))], target.path)
    if target.path != STDIN:
        target.one_table(only, TABLES)
    _refuse(team, teams_file, qrels, measures, kind, target.path, only, leave_out=plan["leave_out"])
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.pooling import Pooling, pool_runs
    from exaequo.pooling.teams import parse_teams, read_teams
    from exaequo.read import unique_names
    from exaequo.spreadsheets import formulas

    given = list(files.runs(runs))
    names = unique_names([(each.name, each.source.name) for each in given])
    teams = read_teams(teams_file, names) if teams_file else parse_teams(team)
    result = pool_runs(
        given,
        files.qrels(qrels) if qrels else None,
        parse_measures(measures or MEASURES),
        Options(ties=(ties,), **options),
        Pooling(teams=teams, **plan),
    )
    output.warn(*result.warnings)
    if target.path == STDIN:
        output.write(result.text(kind or POOL_FORMATS[0]), None)
        return
    if target.path is not None:
        result.save(target.path, kind)
        output.warn(*(f"{target.path}: {each}" for each in formulas(result.frame)))
    _show(result, only, replace(target, path=None))


def _refuse(
    team: tuple[str, ...],
    teams_file: str | None,
    qrels: str | None,
    measures: tuple[str, ...],
    kind: str | None,
    path: str | None,
    only: str | None,
    *,
    leave_out: bool,
) -> None:
    """Refuse options that lack what they need."""
    there = {"--team or --teams": bool(team or teams_file), "--leave-out": leave_out}
    for wrong, why in (
        (team and teams_file, "Give --team or --teams, not both."),
        (leave_out and not qrels, "--leave-out scores runs: give --qrels."),
        (measures and not leave_out, "-m says what runs are scored by with --leave-out."),
        (kind and path is None, "--as says what the pool is written as: give -o FILE."),
        (only in _NEEDS and not there[_NEEDS[only]], f"The table {only} needs {_NEEDS.get(only or '')}."),
    ):
        if wrong:
            raise UsageError(why)


def _show(result: Pool, only: str | None, target: Target) -> None:
    there = [name for name in TABLES if result.tables[name].width]
    first = [name for name in SHOWN if name in there][-1]
    shown = [only] if only else [name for name in there if name != "frame"] if target.format == "json" else [first]
    overview = result.tables["overview"]
    brief = {} if only else {"overview": overview.drop("ranks_mean", strict=False)}  # a line has 80 columns
    tables = titled(result.tables, TABLES, shown, brief=brief, digits={"median": 1, "ranks_mean": 2})
    said: dict[str, Any] = {"options": result.options, "warnings": result.warnings}
    if only:
        target.show(tables, **said)
    else:
        target.screen(tables, before=result.sentences, after=target.others(there, first), **said)
