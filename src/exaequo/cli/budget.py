"""`exaequo budget`: how far a score can be trusted."""

from __future__ import annotations

from typing import Any

import click

from exaequo.choices import ALPHA, BUDGET_MEASURES, PATTERNS, TABLE_FORMATS, TO_JUDGE
from exaequo.cli import output
from exaequo.cli.options import Files, Target, evaluates, measure_option, reads_files, speaks, titled, writes
from exaequo.language import say

TABLES = {
    "runs": "Scores, what each source leaves open (width), and the interval of all together",
    "pairs": "Differences, the second less the first: the same",
    "remedies": "What would shrink it: n tied documents, n documents judged, n topics in all",
    "documents": "Unjudged documents whose judgment moves the score most",
}
#: What is shown unless a table is asked for.
SHOWN = ("runs", "pairs")


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option("As for eval, the first is spoken about", BUDGET_MEASURES)
@click.option("--baseline", metavar="RUN", help="Compare all others with this run (its name or file).")
@click.option("--judges", multiple=True, metavar="QRELS", help="Other judgments of the same topics.")
@click.option(
    "--grade", type=float, metavar="N", help="Of an unjudged document that is relevant.  [default: the highest judged]"
)
@click.option("--to-judge", type=click.IntRange(1), default=TO_JUDGE, show_default=True, help="Documents to name.")
@click.option("--alpha", type=float, default=ALPHA, show_default=True, help="0.05 asks for 95 % over topics.")
@click.option("--samples", type=click.IntRange(100), default=PATTERNS, show_default=True, help="Samples of topics.")
@evaluates("precision", "seed")
@click.option("--table", "only", type=click.Choice(list(TABLES)), help="Give this table alone.")
@writes(*TABLE_FORMATS)
@reads_files
@speaks
def budget(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    judges: tuple[str, ...],
    options: dict[str, Any],
    only: str | None,
    target: Target,
    files: Files,
    **asked: Any,
) -> None:
    """Tell how far the scores of RUNs, and their differences, can be trusted, and what would help most.

    Ties, documents nobody judged, other judges and other topics each leave an interval, and one together.
    """
    output.check_paths((qrels, *judges, *runs), target.path)
    target.one_table(only, TABLES)
    from exaequo.budgeting import Asked, budget_runs
    from exaequo.budgeting.wording import widths
    from exaequo.measures import parse_measures
    from exaequo.options import Options

    chosen, parsed = Options(**options), parse_measures(measures or BUDGET_MEASURES)
    judged = [files.qrels(each) for each in (qrels, *judges)]
    result = budget_runs(judged, list(files.runs(runs)), parsed, chosen, Asked(**asked))
    output.warn(*result.warnings)
    said: dict[str, Any] = {"options": result.options, "warnings": result.warnings}
    if only:
        target.show(titled(result.tables, TABLES, [only]), **said)
        return
    brief = {name: widths(result.tables[name]) for name in SHOWN}
    tables = titled(result.tables, TABLES, TABLES if target.format == "json" else SHOWN, brief=brief)
    before = [*_method(result.options, result.topics), *result.sentences]
    target.screen(tables, before=before, after=target.others(TABLES), **said)


def _method(options: dict[str, Any], topics: int) -> list[str]:
    """Say what the intervals are."""
    sure = 100 * (1 - options["alpha"])
    said = {"measures": ", ".join(options["measures"]), "n": topics, "sure": sure}
    return [say("{measures}: {n:,} topics, {sure:g} % over topics; ties and judgments at their worst", **said)]
