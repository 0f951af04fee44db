"""`exaequo plot`: any figure, from one's own files."""

from __future__ import annotations

from typing import Any

import click

from exaequo.choices import HIGHEST_GRADE, PICTURE_SIZES, STRATEGIES
from exaequo.cli import output
from exaequo.cli.options import Files, judges_relevance, reads_files

#: Which options each kind knows, besides those of all.
KNOWS = {
    "curve": {"topic", "ties", "f_lines", "every_topic"},
    "recall": {"measure", "topic", "cutoff", "ties"},
    "single": {"cutoff"},
    "ties": {"measure"},
    "tie-groups": {"topic", "depth"},
    "topics": {"measure", "ties", "one", "other"},
    "scatter": {"measure", "ties", "one", "other"},
    "measures": {"measures", "ties"},
    "at-k": {"measure", "depth", "ties"},
    "threshold": {"beta", "utility", "docs"},
    "systems": {"measure", "alpha"},
}


@click.command()
@click.argument("kind", type=click.Choice(list(KNOWS)))
@click.argument("paths", nargs=-1, metavar="[QRELS RUN...]")
@click.option("-o", "--output", "path", required=True, metavar="FILE", help="FILE.svg, .png, .pdf, .html or .json")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="What to draw.")
@click.option("--topic", metavar="TOPIC", help="One topic instead of all.")
@click.option("--ties", type=click.Choice(STRATEGIES), help="[default: realistic]")
@click.option("--cutoff", type=click.IntRange(1), metavar="N", help="How far the reader looks (recall, single).")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Ranks to draw (tie-groups, at-k).")
@click.option("--one", metavar="RUN", help="The first of two runs (topics, scatter).")
@click.option("--other", metavar="RUN", help="The second of two runs.")
@click.option("--f-lines", is_flag=True, default=None, help="Lines of equal F (curve).")
@click.option("--every-topic/--means-only", default=None, help="All topics faintly behind the means (curve).")
@click.option("--beta", type=float, help="Weight of recall in F (threshold).")
@click.option("--utility", metavar="A,B", help="Of a document rightly and wrongly selected (threshold).")
@click.option("--docs", type=int, help="Size of the collection (threshold).")
@click.option("--alpha", type=float, help="Level of the tests (systems).")
@judges_relevance
@click.option("--size", type=click.Choice(PICTURE_SIZES), default="page", show_default=True)
@click.option("--dark", is_flag=True, help="Light on dark.")
@click.option("--scale", type=click.FloatRange(0.1, 10), default=2.0, show_default=True, help="Resolution of a PNG.")
@reads_files
def plot(
    kind: str,
    paths: tuple[str, ...],
    path: str,
    measures: tuple[str, ...],
    scale: float,
    files: Files,
    **given: Any,
) -> None:
    """Draw a figure of a KIND from QRELS and RUNs.

    curve: recall and precision. recall: relevant documents against rank. single: one relevant document. ties: the
    interval ties leave open. tie-groups: where ties are. topics, scatter: two systems topic by topic. measures: how far
    they agree. at-k: a measure against its cutoff. threshold: filters. systems: means with intervals and groups.
    """
    import warnings

    from exaequo.errors import UsageError

    options = _options(kind, measures, given)
    if kind == "single" and paths:
        raise UsageError("'single' draws a formula and takes no files.")
    if kind != "single" and len(paths) < 2:
        raise UsageError(f"'{kind}' needs QRELS and at least one RUN.")
    output.check_paths(paths, path)
    from exaequo.plot import KINDS as DRAWN
    from exaequo.plot.chart import refuse_unknown_format

    refuse_unknown_format(path)
    arguments: tuple[Any, ...] = ()
    if paths:
        arguments = (files.qrels(paths[0]), list(files.runs(paths[1:])))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chart = DRAWN[kind](*arguments, **options)
    for warning in caught:
        output.warn(str(warning.message))
    chart.save(path, scale=scale)


def _options(kind: str, measures: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Return what the kind is asked for; refuse what it does not know."""
    from exaequo.errors import UsageError

    if kind == "single" and given["rel_level"] is None and given["max_grade"] == HIGHEST_GRADE:
        given = {name: value for name, value in given.items() if name not in ("rel_level", "max_grade")}
    options = {name: value for name, value in given.items() if value is not None}
    if measures and "measures" in KNOWS[kind]:
        options["measures"] = list(measures)
    elif measures:
        if len(measures) > 1:
            raise UsageError(f"'{kind}' draws one measure.")
        options["measure"] = measures[0]
    if "utility" in options:
        from exaequo.cli.filter import coefficients_of

        options["utility"] = coefficients_of(options["utility"])
    common = {"size", "dark"} | (set() if kind == "single" else {"rel_level", "max_grade"})
    unknown = sorted(set(options) - KNOWS[kind] - common)
    if unknown:
        raise UsageError(f"'{kind}' has no option --{unknown[0].replace('_', '-')}.")
    return options
