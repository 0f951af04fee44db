"""`exaequo ties`: how much of a score is luck."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import COMPARED, MEASURES, SPLITS, TABLE_FORMATS, TOP
from exaequo.cli import output
from exaequo.cli.engines import Asked, Engine, engine_option, lists_on_spark, refuse_master
from exaequo.cli.options import (
    Files,
    Target,
    evaluates,
    measure_option,
    reads_runs,
    speaks,
    table_option,
    writes,
)
from exaequo.cli.view import View, views
from exaequo.errors import UsageError
from exaequo.language import say, strategy, word

if TYPE_CHECKING:
    import polars as pl

    from exaequo.audit import TieAudit

TABLES = {
    "runs": "Ties of each run (shares: means over lists; 'all tied': lists where every document is, 'one tie': in one)",
    "per_score": "Documents per different score: over lists, and over the means of runs and of topics",
    "scores": "Each score under each strategy, the span from realistic to optimistic, and the gains",
    "lucky": "Lists that the names of documents help most",
    "lucky_runs": "Runs that the names of documents help most",
    "from_nothing": "Lists that names lift from 0, where a gain in percent is undefined",
    "conclusions": "Which of two runs is better (* significant), and how often with random ties; a draw counts half",
    "stuffing": "What documents of score 0 at the end of lists earn, and its share of the score",
    "reversals": "How often what n topics say of two runs is reversed on n others",
    "lists": "Ties of each list",
}

#: What columns of these tables are, where their names do not say it.
COLUMNS = {
    "tied_percent": "tied %: documents that share their score with another of their list",
    "per_score": "per score: documents for each different score",
    "largest_tie": "largest tie: its documents",
    "only_in_single": "only in single: documents that are tied only if scores are kept in single precision",
    "stuffed": "stuffed: documents of score 0 at the end of a list, after positive scores",
    "sd": "sd: standard deviation over all orders of ties",
    "how": "how: where the expected value, the mean over all orders, comes from",
    "error": "error: standard error of an expected value that is estimated",
    "span": "span: optimistic less realistic",
    "c_over_r_percent": "C over R %: what conventional gains over realistic, in percent; O: optimistic",
    "first_realistic": "1/RR: rank of the first relevant document",
    "win_percent": "win, draw, loss %: of the first run, with ties broken at random",
    "changes": "changes: not the same under all strategies",
    "earned_realistic": "earned: what the score loses without these documents; share: of the score",
}


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option()
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the tests between runs.")
@evaluates("depth", "precision", "seed", "samples")
@click.option("--chances/--no-chances", default=None, help="How likely one run beats another.  [default: up to 4 runs]")
@click.option("--splits", type=click.IntRange(1), default=SPLITS, show_default=True, help="Of topics (reversals).")
@click.option("-q", "--per-topic", is_flag=True, help="Also give the ties and scores of each list.")
@table_option(TABLES)
@views
@engine_option("Where to count: in memory; on Spark, with --table lists.")
@writes(*TABLE_FORMATS)
@reads_runs
@speaks
def ties(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    alpha: float,
    options: dict[str, Any],
    chances: bool | None,
    splits: int,
    per_topic: bool,
    only: str | None,
    view: View,
    engine: str,
    master: str | None,
    target: Target,
    files: Files,
) -> None:
    """Audit the ties of RUNs: statistics, every score with its interval and expected value, luck, stuffing.

    Between two runs, it says whether the order or the significance of their difference depends on how ties are broken.
    """
    output.check_paths((qrels, *runs), target.path)
    target.one_table(only, TABLES)
    first = view.first(target, other=per_topic or only is not None, tops=True)
    from exaequo.audit import MOST_CHANCES, audit_runs, cutoffs_of
    from exaequo.evaluation import judged_runs
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.tabular import Table

    asked, parsed = Options(ties=COMPARED, **options), parse_measures(measures or MEASURES)
    refuse_master(engine, master)
    if engine == "spark":
        if only != "lists" or files.mend or files.keep_going:
            raise UsageError("--engine spark counts the ties of lists, of files as they are: say --table lists alone.")
        on_spark: Engine = {"engine": engine, "master": master}
        found = lists_on_spark(Asked(qrels, runs, parsed, asked, True, on_spark, target, files), cutoffs_of(parsed))
        if found is not None:
            target.show({"lists": Table.of(found, say(TABLES["lists"]), brief=_brief(found))}, options=vars(asked))
        return
    if chances is None:
        chances = 1 < len(runs) <= MOST_CHANCES and only in (None, "conclusions", "scores")
    judgments = files.qrels(qrels)
    judged = judged_runs(judgments, files.runs(runs, judgments), asked, parsed)
    halves = splits if only == "reversals" else 0
    top = TOP if view.top is None else view.top
    audit = audit_runs(judged, parsed, asked, top=top, alpha=alpha, chances=chances, splits=halves)
    output.warn(*audit.warnings)
    if first:
        from exaequo.audit.screen import screen
        from exaequo.screens import shown

        target.text(shown(screen(audit, sort=view.sort, top=view.top), *output.room()))
        return
    chosen = [only] if only else [name for name in TABLES if name != "reversals" and (name != "lists" or per_topic)]
    _show(audit, chosen, target)


def _show(audit: TieAudit, chosen: list[str], target: Target) -> None:
    from exaequo.measures import parse_measure
    from exaequo.tabular import Table

    names = set(audit.scores["measure"])
    tables = {}
    for name in chosen:
        frame = audit.tables[name]
        brief = _brief(frame)
        tables[name] = Table.of(frame, say(TABLES[name]), brief=brief, names=names)
        if target.format == "table" and len(chosen) == 1:
            lines = [say(COLUMNS[each]) for each in brief.columns if each in COLUMNS]
            tables[name] = replace(tables[name], lines=lines)
        if "measure" in frame.columns:  # what is no proportion may be a number of documents
            counts = [parse_measure(each).definition.highest != 1 for each in frame["measure"]]
            tables[name] = tables[name].whole(counts)
    after = [_verdict(audit)] if "conclusions" in chosen else []
    target.show(tables, after=after, options=audit.options, warnings=audit.warnings)


def _brief(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out columns that say nothing to a reader; name levels and strategies."""
    import polars as pl

    from exaequo.audit import CHANCES
    from exaequo.luck import RANKS
    from exaequo.screens import settled
    from exaequo.tiestats import LEVELS

    rare = (*RANKS, *CHANCES, "error", "sd")
    empty = [name for name in frame.columns if name in rare and not _any(frame[name])]
    brief = frame.drop(empty, "luck", strict=False).select(pl.exclude("^p_.*$"))
    brief = settled(brief, "sd", "span", *(name for name in brief.columns if name.startswith("earned_")))
    if "by" in brief.columns:
        return brief.with_columns(pl.col("by").replace({level: word(level) for level in LEVELS}))
    if "ties" in brief.columns:
        named = {name: strategy(name) for name in COMPARED}
        return brief.with_columns(pl.col("ties").replace(named)).rename({"ties": say("ties")})
    return brief


def _any(column: pl.Series) -> bool:
    return bool((column.is_not_null() & column.is_not_nan() & (column != 0)).any())


def _verdict(audit: TieAudit) -> str:
    """Say in a sentence whether ties decide anything between the runs."""
    pairs = audit.conclusions
    if not pairs.height:
        changed = audit.scores.filter(audit.scores["span"] != 0)
        if not changed.height:
            return say("Ties change no score.")
        return say("Ties change {changed} of {scores} scores.", changed=changed.height, scores=audit.scores.height)
    changing, every = int(pairs["changes"].sum()), pairs.height
    if not changing:
        return say("No conclusion between two runs depends on how ties are broken ({pairs} compared).", pairs=every)
    return say("{n} of {pairs} conclusions between two runs depend on how ties are broken.", n=changing, pairs=every)
