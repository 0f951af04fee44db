"""`exaequo design`: how many topics a collection needs, and which measure tells systems apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from exaequo.choices import ALPHA, EXPECTED, MEASURES, PATTERNS, STRATEGIES, TABLE_FORMATS
from exaequo.cli import output
from exaequo.cli.options import (
    Files,
    Target,
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
    import polars as pl

TABLES = {
    "measures": "Measures: which tell pairs apart, and the topics that show half of the pairs",
    "sizes": "Topics needed to show a difference, by a t-test of two, an F-test of several; or for an interval so wide",
    "anova": "Analysis of variance, systems × topics",
    "variances": "Components of variance: systems are fixed, topics a sample",
    "mixed": "Means of systems in the mixed model",
    "asl": "Achieved significance levels: p of each pair, highest first",
}
#: What is shown unless a table is asked for; and of measures, what people read first.
SHOWN = ("measures", "sizes")
_OF_MEASURES = "measure f_p told_apart_percent least_significant topics_for_half documents".split()

#: Options that say how runs are evaluated.
_OF_RUNS = ("measures", "ties", "samples", "depth", "missing", "precision", "seed", "rel_level", "max_grade")
_DIGITS = {"difference": 3, "df": 1} | dict.fromkeys(("variance", "residual_variance", "within_variance"), 5)


@click.command()
@click.argument("paths", nargs=-1, metavar="[QRELS RUN...]")
@measure_option()
@ties_option(*STRATEGIES, EXPECTED)
@click.option(
    "--difference",
    "differences",
    type=float,
    multiple=True,
    metavar="D",
    help="Difference to show; may be repeated.  [default: 0.05]",
)
@click.option("--systems", type=click.IntRange(2), metavar="N", help="Systems to compare.  [default: as many as RUNs]")
@click.option("--alpha", type=float, default=ALPHA, show_default=True, help="Level of the tests and intervals.")
@click.option("--power", type=float, default=0.8, show_default=True, help="How often it is to be shown.")
@click.option("--unpaired", is_flag=True, help="Each system has topics of its own.")
@click.option("--variance", type=float, metavar="V", help="Of scores, instead of files: sizes alone.")
@click.option("--samples", type=click.IntRange(100), default=PATTERNS, show_default=True, help="Of the randomised HSD.")
@evaluates("depth", "missing", "precision", "seed")
@table_option(TABLES)
@writes(*TABLE_FORMATS)
@reads_files
@speaks
def design(
    paths: tuple[str, ...],
    measures: tuple[str, ...],
    ties: str,
    differences: tuple[float, ...],
    variance: float | None,
    options: dict[str, Any],
    only: str | None,
    target: Target,
    files: Files,
    **given: Any,
) -> None:
    """Say how many topics a collection needs, and which measure tells systems apart at which cost.

    QRELS and RUNs are a pilot; a --variance and --systems will do for the sizes.
    """
    from exaequo.designs import DIFFERENCES, Aims, design_runs, sizes

    aims = Aims(differences=differences or DIFFERENCES, seed=options["seed"], **given)
    if variance is not None:
        if paths or only not in (None, "sizes"):
            raise UsageError("--variance takes the place of QRELS and RUNs, and gives the table sizes alone.")
        if aims.systems is None:
            raise UsageError("With --variance say how many --systems there will be.")
        _refuse_ignored()
        found = {"sizes": sizes(variance, aims, systems=aims.systems)}
        _show(found, only, target, before=[] if only else [str(aims)], options=vars(aims))
        return
    if len(paths) < 3:
        raise UsageError("Give QRELS and at least two RUNs, or a --variance.")
    output.check_paths(paths, target.path)
    target.one_table(only, TABLES)
    from exaequo.evaluation import judged_runs
    from exaequo.measures import parse_measures
    from exaequo.options import Options

    parsed, chosen = parse_measures(measures or MEASURES), Options.of(ties, **options)
    judged = judged_runs(files.qrels(paths[0]), files.runs(paths[1:]), chosen, parsed)
    result = design_runs(judged, parsed, chosen, aims)
    output.warn(*result.warnings)
    said = {"options": result.options, "warnings": result.warnings}
    _show(result.tables, only, target, before=[] if only else result.summary, **said)


def _refuse_ignored() -> None:
    """Refuse options of an evaluation where nothing is evaluated."""
    context = click.get_current_context()
    for each in context.command.params:
        if each.name in _OF_RUNS and context.get_parameter_source(each.name) == ParameterSource.COMMANDLINE:
            name = next(option for option in each.opts if option.startswith("--"))
            raise UsageError(f"{name} says how runs are evaluated; with --variance there are none.")


def _show(frames: dict[str, pl.DataFrame], only: str | None, target: Target, **said: Any) -> None:
    if only:
        target.show(titled(frames, TABLES, [only], digits=_DIGITS), **said)
        return
    several = [name for name in (frames if target.format == "json" else SHOWN) if name in frames]
    brief = {"measures": frames["measures"].select(_OF_MEASURES)} if "measures" in frames else {}
    tables = titled(frames, TABLES, several, brief=brief, digits=_DIGITS)
    target.screen(tables, after=target.others(frames, *SHOWN), **said)
