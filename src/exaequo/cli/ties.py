"""`exaequo ties`: how much of a score is luck."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from exaequo.choices import PRECISIONS, TABLE_FORMATS, TOP
from exaequo.cli import output
from exaequo.cli.options import Files, Target, judges_relevance, reads_files, writes

if TYPE_CHECKING:
    import polars as pl

    from exaequo.audit import TieAudit

TABLES = ("runs", "scores", "lucky", "lucky_runs", "from_nothing", "conclusions", "stuffing", "lists")
_TITLES = {
    "runs": "Ties of each run (shares are means over its lists; 'one tie': lists that are a single tie)",
    "scores": "Each score under each strategy, the span from realistic to optimistic, and the gains",
    "lucky": "Lists that the names of documents help most",
    "lucky_runs": "Runs that the names of documents help most",
    "from_nothing": "Lists that names lift from 0, where a gain in percent is undefined",
    "conclusions": "Which of two runs is better (* significant), and how often if ties are broken at random",
    "stuffing": "What documents of score 0 at the end of lists earn",
    "lists": "Ties of each list",
}


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="As for eval; may be repeated.")
@click.option("--top", type=click.IntRange(0), default=TOP, show_default=True, help="How many of the luckiest lists.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the tests between runs.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Cut each list at N, after ordering.")
@judges_relevance
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For sampled orders.")
@click.option("--samples", type=click.IntRange(2), metavar="N", help="Orders to sample where there are too many.")
@click.option("--precision", type=click.Choice(PRECISIONS), default="double", show_default=True)
@click.option("--chances/--no-chances", default=None, help="How likely one run beats another.  [default: up to 4 runs]")
@click.option("-q", "--per-topic", is_flag=True, help="Also give the ties and scores of each list.")
@click.option("--table", "only", type=click.Choice(TABLES), help="Give this table alone.")
@writes(*TABLE_FORMATS)
@reads_files
def ties(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    top: int,
    alpha: float,
    depth: int | None,
    rel_level: float | None,
    max_grade: float,
    seed: int,
    samples: int | None,
    precision: str,
    chances: bool | None,
    per_topic: bool,
    only: str | None,
    target: Target,
    files: Files,
) -> None:
    """Audit the ties of RUNs: statistics, every score with its interval and expected value, luck, stuffing.

    Between two runs, it says whether the order or the significance of their difference depends on how ties are broken.
    """
    output.check_paths((qrels, *runs), target.path)
    target.one_table(only, TABLES)
    from exaequo.audit import MOST_CHANCES, audit_runs
    from exaequo.choices import COMPARED, ORDERS_SAMPLED, TIES_MEASURES
    from exaequo.evaluation import judged_runs
    from exaequo.measures import parse_measures
    from exaequo.options import Options

    orders = samples or ORDERS_SAMPLED
    options = Options(
        ties=COMPARED,
        rel_level=rel_level,
        max_grade=max_grade,
        depth=depth,
        precision=precision,
        seed=seed,
        samples=orders,
    )
    parsed = parse_measures(measures or TIES_MEASURES)
    if chances is None:
        chances = 1 < len(runs) <= MOST_CHANCES and only in (None, "conclusions", "scores")
    judged = judged_runs(files.qrels(qrels), files.runs(runs), options, parsed)
    audit = audit_runs(judged, parsed, options, top=top, alpha=alpha, chances=chances)
    for warning in audit.warnings:
        output.warn(warning)
    chosen = [only] if only else [name for name in TABLES if name != "lists" or per_topic]
    _show(audit, chosen, target)


def _show(audit: TieAudit, chosen: list[str], target: Target) -> None:
    from exaequo.tabular import Table

    frames = {name: audit.tables[name] for name in chosen}
    names = set(audit.scores["measure"])
    tables = {name: Table.of(frame, _TITLES[name], brief=_brief(frame), names=names) for name, frame in frames.items()}
    after = [_verdict(audit)] if "conclusions" in chosen else []
    target.show(tables, after=after, options=audit.options, warnings=audit.warnings)


def _brief(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out columns that say nothing to a reader."""
    import polars as pl

    rare = ("ranks_gained", "error", "one_beats_two", "chance_error", "sd")
    empty = [name for name in frame.columns if name in rare and not _any(frame[name])]
    return frame.drop(empty, "luck", strict=False).select(pl.exclude("^p_.*$"))


def _any(column: pl.Series) -> bool:
    return bool((column.is_not_null() & column.is_not_nan() & (column != 0)).any())


def _verdict(audit: TieAudit) -> str:
    """Say in a sentence whether ties decide anything between the runs."""
    pairs = audit.conclusions
    if not pairs.height:
        changed = audit.scores.filter(audit.scores["span"] != 0)
        return (
            f"Ties change {changed.height} of {audit.scores.height} scores."
            if changed.height
            else "Ties change no score."
        )
    changing = int(pairs["changes"].sum())
    if not changing:
        return f"No conclusion between two runs depends on how ties are broken ({pairs.height} compared)."
    return f"{changing} of {pairs.height} conclusions between two runs depend on how ties are broken."
