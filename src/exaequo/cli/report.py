"""`exaequo report`: one page about a set of runs."""

from __future__ import annotations

import shlex
import sys

import click

from exaequo.choices import CORRECTIONS, PAGE_DOCUMENTS, TESTS
from exaequo.cli import output
from exaequo.cli.options import Files, handles_missing, judges_relevance, reads_files

#: From here on a page is too large to send.
LARGE = 20_000_000


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", "path", default="report.html", show_default=True, metavar="FILE", help="The page.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="As for eval; may be repeated.")
@click.option("--baseline", metavar="RUN", help="Compare all others with this run (its name or file).")
@click.option("--test", type=click.Choice(TESTS), default="t", show_default=True)
@click.option("--correction", type=click.Choice(CORRECTIONS), default="holm", show_default=True)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the tests, after correction.")
@click.option(
    "--documents", type=click.IntRange(0), default=PAGE_DOCUMENTS, show_default=True, help="Documents of each list."
)
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Cut each list at N, after ordering.")
@click.option("--title", default="", metavar="TEXT", help="The title of the page.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For all that is random.")
@judges_relevance
@handles_missing
@reads_files
def report(
    qrels: str,
    runs: tuple[str, ...],
    path: str,
    measures: tuple[str, ...],
    baseline: str | None,
    test: str,
    correction: str,
    alpha: float,
    documents: int,
    depth: int | None,
    title: str,
    seed: int,
    rel_level: float | None,
    max_grade: float,
    missing: str,
    files: Files,
) -> None:
    """Write one page about RUNs: verdict, ties, tables, pairs, topics, figures; to send to a colleague.

    The page is a single file without network, and readable without scripts.
    """
    output.check_paths((qrels, *runs), path)
    from exaequo.choices import COMPARE_MEASURES, COMPARED
    from exaequo.comparison.pairs import Plan
    from exaequo.evaluation import judged_runs
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.reporting import content_of, page

    options = Options(ties=COMPARED, rel_level=rel_level, max_grade=max_grade, depth=depth, missing=missing, seed=seed)
    plan = Plan(baseline=baseline, test=test, correction=correction, alpha=alpha, seed=seed)
    asked = shlex.join(["exaequo", *sys.argv[1:]]) if sys.argv[1:2] == ["report"] else ""
    parsed = parse_measures(measures or COMPARE_MEASURES)
    judged = judged_runs(files.qrels(qrels, digest=True), files.runs(runs, digest=True), options, parsed)
    content = content_of(judged, parsed, options, plan, documents=documents, title=title, command=asked)
    for warning in content.warnings:
        output.warn(warning)
    text = page(content)
    if len(text) > LARGE:
        output.warn(f"{path}: {len(text) / 1e6:.0f} MB; fewer --documents make a smaller page")
    output.write(text, path)
    click.echo(content.verdict, err=path == "-")
