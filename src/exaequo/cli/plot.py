"""`exaequo plot`: any figure, from one's own files."""

from __future__ import annotations

import warnings
from typing import Any

import click

from exaequo.choices import HIGHEST_GRADE, PICTURE_SIZES
from exaequo.cli import output, progress
from exaequo.cli.files import FILE, Number
from exaequo.cli.filter import are_tables
from exaequo.cli.options import Files, evaluates, measure_option, reads_runs, speaks, ties_option
from exaequo.errors import UsageError
from exaequo.plot.kinds import KINDS, options_of, takes_decisions

#: What an option is if it is not given, where that is something.
_USUAL = {"max_grade": HIGHEST_GRADE, "judges": ()}


class _Plot(click.Command):
    """A command whose help lists the kinds."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Kinds"):
            formatter.write_dl([(name, KINDS.about(name)) for name in KINDS])
        super().format_options(ctx, formatter)


@click.command(cls=_Plot)
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
@click.argument("paths", nargs=-1, metavar="[QRELS RUN... | TABLE...]")
@click.option("-o", "--output", "path", type=FILE, required=True, help="FILE.svg, .png, .pdf, .html or .json")
@measure_option("What to draw", ())
@click.option("--topic", metavar="TOPIC", help="One topic instead of all.")
@ties_option(given=True)
@click.option("--cutoff", type=click.IntRange(1), metavar="N", help="How far the reader looks (recall, single).")
@click.option("--ranks", type=click.IntRange(1), metavar="N", help="Ranks to draw (tie-groups, at-k).")
@click.option("--one", metavar="RUN", help="The first of two runs (topics, scatter).")
@click.option("--other", metavar="RUN", help="The second of two runs.")
@click.option("--f-lines", is_flag=True, default=None, help="Lines of equal F (curve, filters).")
@click.option("--every-topic/--means-only", default=None, help="All topics faintly behind the means (curve).")
@click.option("--beta", type=float, help="Weight of recall in F (threshold, filters).")
@click.option("--utility", metavar="A,B", help="Of a document rightly and wrongly selected (threshold).")
@click.option("--docs", type=int, help="Size of the collection (threshold).")
@click.option("--threshold", type=float, metavar="T", help="Scores from here on are selected (filters, stream).")
@click.option("--window", type=click.IntRange(1), metavar="N", help="Over the last N moments (stream).")
@click.option("--judges", multiple=True, metavar="QRELS", help="Other judgments of the same topics (budget).")
@click.option("--alpha", type=float, help="Level of the tests (systems, asl, reversals), or of intervals (budget).")
@evaluates()
@click.option("--size", type=click.Choice(PICTURE_SIZES), default="page", show_default=True)
@click.option("--dark", is_flag=True, help="Light on dark.")
@click.option("--scale", type=Number(0.1, 10), default=2.0, show_default=True, help="Resolution of a PNG.")
@reads_runs
@speaks
def plot(
    kind: str,
    paths: tuple[str, ...],
    path: str,
    measures: tuple[str, ...],
    scale: float,
    files: Files,
    options: dict[str, Any],
    **given: Any,
) -> None:
    """Draw a figure of a KIND from QRELS and RUNs; filters, stream and threshold take tables of decisions too."""
    from exaequo.plot.chart import refuse_unknown_format

    draw = KINDS[kind]
    known = options_of(draw)
    asked = _options(kind, known, measures, given | options)
    if "qrels" not in known and paths:
        raise UsageError(f"'{kind}' draws a formula and takes no files.")
    decisions = takes_decisions(draw) and bool(paths) and are_tables(paths, files)
    if "qrels" in known and len(paths) < 2 and not decisions:
        raise UsageError(f"'{kind}' needs QRELS and at least one RUN.")
    output.check_paths(paths, path)
    refuse_unknown_format(path)
    arguments = _read(paths, files, decisions=decisions)
    progress.doing("drawing")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chart = draw(*arguments, **asked)
    output.warn(*(str(warning.message) for warning in caught))
    chart.save(path, scale=scale)
    title = chart["title"]["text"]
    output.wrote(path, title if isinstance(title, str) else " ".join(title))


def _read(paths: tuple[str, ...], files: Files, *, decisions: bool) -> tuple[Any, ...]:
    """Return what a kind is drawn from: judgments and runs, tables of decisions, or nothing."""
    from exaequo.read.decisions import read_decisions

    if decisions:
        return ([read_decisions(path, reader=files.qrels_reader, columns=files.columns) for path in paths],)
    if not paths:
        return ()
    qrels = files.qrels(paths[0])
    return qrels, list(files.runs(paths[1:], qrels))


def _options(kind: str, known: tuple[str, ...], measures: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Return what the kind is asked for; refuse what it does not know."""
    options = {name: value for name, value in given.items() if value != _USUAL.get(name)}
    if measures and "measures" in known:
        options["measures"] = list(measures)
    elif measures:
        if len(measures) > 1:
            raise UsageError(f"'{kind}' draws one measure.")
        options["measure"] = measures[0]
    if "utility" in options:
        from exaequo.cli.filter import coefficients_of

        options["utility"] = coefficients_of(options["utility"])
    for name in sorted(options):
        if name not in known:
            raise UsageError(f"'{kind}' has no option --{name.replace('_', '-')}.")
    return options
