"""`exaequo unjudged`: how far scores depend on documents nobody judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import JUDGED_AT, MEASURES, TABLE_FORMATS
from exaequo.cli import output
from exaequo.cli.options import (
    Files,
    Target,
    evaluates,
    measure_option,
    reads_files,
    speaks,
    table_option,
    titled,
    writes,
)

if TYPE_CHECKING:
    import polars as pl

TABLES = {
    "scores": "Scores: none and all of the unjudged relevant; least and greatest; what ties, judgments and both leave",
    "judged": "Judged among the first k documents, in percent; two figures where ties decide",
    "topics": "Scores of each topic",
}
FIRST = {"scores": "Scores if none is relevant, at least and at most; what ties leave, judgments add"}
#: Of scores, what people read first; all of it is in --table scores.
_OF_SCORES = ("run", "measure", "score", "low", "high", "by_ties", "by_judgments")


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option()
@click.option(
    "--grade", type=float, metavar="N", help="Of an unjudged document that is relevant.  [default: the highest judged]"
)
@click.option(
    "--at",
    "cutoffs",
    multiple=True,
    type=click.IntRange(1),
    metavar="K",
    help="Ranks to look at.  [default: 10, 20, 100]",
)
@evaluates("precision")
@table_option(TABLES)
@writes(*TABLE_FORMATS)
@reads_files
@speaks
def unjudged(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    grade: float | None,
    cutoffs: tuple[int, ...],
    options: dict[str, Any],
    only: str | None,
    target: Target,
    files: Files,
) -> None:
    """Tell how far the scores of RUNs depend on documents nobody judged: what they can be at least and at most.

    Beside it stands what ties leave open.
    """
    output.check_paths((qrels, *runs), target.path)
    target.one_table(only, TABLES)
    from exaequo.evaluation import judged_runs
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.residuals import unjudged_in

    chosen, parsed = Options(**options), parse_measures(measures or MEASURES)
    judged = judged_runs(files.qrels(qrels), files.runs(runs), chosen, parsed)
    result = unjudged_in(judged, parsed, chosen, grade=grade, cutoffs=cutoffs or JUDGED_AT)
    output.warn(*result.warnings)
    first, *more = result.sentences
    before, after = ([], []) if only in ("judged", "topics") else ([first], more)
    said: dict[str, Any] = {"options": result.options, "warnings": result.warnings}
    if only or target.format == "json":
        tables = titled(result.tables, TABLES, [only] if only else TABLES, brief={"judged": _in_rows(result.judged)})
        target.show(tables, before=before, after=after, **said)
    else:
        tables = titled(result.tables, FIRST, FIRST, brief={"scores": _first(result.scores)})
        target.screen(tables, before=before, after=[*after, *target.others(TABLES)], **said)


def _first(scores: pl.DataFrame) -> pl.DataFrame:
    """Return what fits a screen: a run with all its measures, several with the first."""
    import polars as pl

    one = scores["run"].n_unique() == 1
    rows = scores if one else scores.filter(pl.col("measure") == scores["measure"][0])
    return rows.rename({"realistic_none": "score"}).select(_OF_SCORES)


def _in_rows(judged: pl.DataFrame) -> pl.DataFrame:
    """Return a row per run, with the least and the most share at each cutoff, once if they are the same."""
    import polars as pl

    from exaequo.tabular import cell_text

    rows: dict[str, dict[str, str]] = {}
    for run, cutoff, least, most in judged.rows():
        both = dict.fromkeys((cell_text(least, 1), cell_text(most, 1)))
        rows.setdefault(run, {"run": run})[str(cutoff or "all")] = "–".join(both)
    return pl.DataFrame(list(rows.values()))
