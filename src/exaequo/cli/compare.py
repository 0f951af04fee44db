"""`exaequo compare`: is A really better than B."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import EXPECTED, MEASURES, STRATEGIES, TABLE_FORMATS
from exaequo.cli import output
from exaequo.cli.options import (
    Files,
    Target,
    compares,
    deciding_ties,
    evaluates,
    measure_option,
    reads_runs,
    speaks,
    table_option,
    titled,
    writes,
)
from exaequo.cli.view import View, views
from exaequo.errors import BadParameter, UsageError, bad_input
from exaequo.language import say, strategy, word
from exaequo.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from exaequo.comparison import Comparison
    from exaequo.options import Options
    from exaequo.read import Qrels, Run
    from exaequo.scores import Scores

TABLES = {
    "systems": "Systems (those that share a letter are not told apart)",
    "pairs": "Pairs: the second against the first",
    "extremes": "Best and worst system of each measure",
    "correlations": "Rankings of systems by two measures, or under two strategies",
    "taus": "Kendall's τ-b between measures",
    "inversions": "Pairs that two measures put in opposite order",
    "dominance": "Whose interpolated curve is never below the other's",
    "curves": "Interpolated precision at recall 0 … 1",
    "topics": "Topics, hardest first",
    "contrasts": "Topics on which systems differ most",
    "difficulty": "Difficulty of topics under two strategies",
    "robustness": "The worst topics of each system",
    "collections": "The same systems on other collections",
    "inverted": "Pairs that two collections put in opposite order",
    "judges": "Other judgments of the same topics",
    "orders": "Ranks of systems by each measure, and by several keys in turn",
    "sorts": "Whether measures order systems as these keys do, by their means and topic by topic",
    "orderings": "Whether measures order systems as people do",
}
#: The same where there is a baseline.
AGAINST = {**TABLES, "systems": "Systems (▲ better, ▼ worse than the baseline)"}
#: What is shown unless a table is asked for.
SHOWN = (
    "systems pairs orders sorts orderings collections inverted judges correlations inversions contrasts robustness"
).split()
#: Those that an option asks for: they stand below the first screen.
ASKED = ("collections", "inverted", "judges", "orders", "sorts", "orderings")
#: The options that tables need.
NEEDED = {"judges": "judges", "orders": "rank-by", "sorts": "rank-by", "orderings": "orderings"}


@click.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option()
@compares("interval", "samples", "single", "jointly", "margin")
@click.option("--one-sided", is_flag=True, help="Ask only whether a run is better than the baseline.")
@deciding_ties
@evaluates("depth", "missing", "precision", "seed")
@click.option(
    "--also", multiple=True, metavar="DIR", help="Another collection with the same systems: DIR/qrels*, DIR/runs/*."
)
@click.option("--judges", multiple=True, metavar="QRELS", help="Other judgments of the same topics.")
@click.option(
    "--rank-by", multiple=True, metavar="KEY,KEY...", help="Sort systems by these measures in turn; may be repeated."
)
@click.option(
    "--orderings", multiple=True, metavar="FILE", help="Orders people put the systems in: lines [judge] system rank."
)
@table_option(TABLES)
@views
@writes(*TABLE_FORMATS)
@reads_runs
@speaks
def compare(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    plan: dict[str, Any],
    one_sided: bool,
    ties: tuple[str, ...],
    options: dict[str, Any],
    also: tuple[str, ...],
    judges: tuple[str, ...],
    rank_by: tuple[str, ...],
    orderings: tuple[str, ...],
    only: str | None,
    view: View,
    target: Target,
    files: Files,
) -> None:
    """Compare two or more RUNs over the topics of QRELS: tests, intervals, effect sizes, power, what ties change."""
    output.check_paths((qrels, *runs), target.path)
    target.one_table(only, TABLES)
    first = view.first(target, other=only is not None)
    from exaequo.comparison import compare_runs, with_orders
    from exaequo.comparison.orders import keys_of, sorts_of
    from exaequo.comparison.plan import Plan, tie_rule
    from exaequo.evaluation import judged_runs
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.read.orderings import read_orderings

    asked, rule = tie_rule(ties)
    parsed, chosen = parse_measures(measures or MEASURES), Options(ties=asked, **options)
    how = Plan(**plan, alternative="greater" if one_sided else "two-sided", seed=chosen.seed, ties=rule)
    by, people = sorts_of(rank_by), read_orderings(orderings)
    judged = files.qrels(qrels)
    read = files.runs(runs, judged)
    kept = list(read) if judges else read  # other judgments ask for the runs again
    ordered = judged_runs(judged, kept, chosen, parsed)
    result = with_orders(compare_runs(ordered, parsed, chosen, how, also=keys_of(by, parsed)), by, people)
    output.warn(*result.warnings)
    tables = dict(result.tables)
    if also:
        tables["collections"], tables["inverted"] = _collections(result, also, chosen, files)
    if judges:
        others = [(each, files.qrels(each)) for each in judges]
        tables["judges"] = _judges(result, [(qrels, judged), *others], kept, chosen)
    if first:
        from exaequo.comparison.screen import screen
        from exaequo.screens import shown

        tables = {name: tables[name] for name in ASKED if name in tables}
        text = shown(screen(result, sort=view.sort, top=view.top), *output.room())
        target.text(f"{text}\n" if tables else text)
    if tables:
        show_comparison(result, tables, only, target, said=not first)


def _collections(
    result: Comparison, folders: tuple[str, ...], options: Options, files: Files
) -> tuple[pl.DataFrame, pl.DataFrame]:
    from exaequo.comparison.views import across_collections, inverted_between

    scores = {"this one": result.scores}
    for folder in folders:
        qrels = sorted(Path(folder).glob("qrels*"))
        runs = sorted(each for each in Path(folder).glob("runs/*") if each.is_file() and not each.name.startswith("."))
        if len(qrels) != 1 or len(runs) < 2:
            found = f"{len(qrels)} files qrels* and {len(runs)} in runs/"
            raise bad_input(folder, found, "one qrels* and two or more runs", "Arrange the files so.")
        read = (files.run(str(each)) for each in runs)
        scores[folder] = _also(files.qrels(str(qrels[0])), read, result, options, folder)
        if not set(scores[folder].runs) & set(result.scores.runs):
            output.warn(f"{folder}: no run has the name of one of the others; nothing to compare")
    return across_collections(scores), inverted_between(scores)


def _also(qrels: Qrels, runs: Iterable[Run], result: Comparison, options: Options, name: str) -> Scores:
    """Evaluate the same measures on other files; say what there is to say about these."""
    from exaequo.comparison.values import comparable
    from exaequo.evaluation import evaluate_runs, judged_runs

    measures = result.scores.measures
    scores = evaluate_runs(judged_runs(qrels, runs, options, measures), measures, options)
    try:
        scores, notes = comparable(scores)
    except BadParameter:  # the comparison that was asked for stands, whatever there is besides
        names = listed([measure.name for measure in measures])
        notes = [f"no two topics have a value for every run, nothing to compare ({names})"]
        scores = scores.only(measures=[])
    output.warn(*(f"with {name}: {note}" for note in (*scores.remarks, *notes)))
    return scores


def _judges(result: Comparison, files: list[tuple[str, Qrels]], runs: Iterable[Run], options: Options) -> pl.DataFrame:
    from exaequo.comparison.views import judges

    scores = {files[0][0]: result.scores}
    scores |= {name: _also(judged, runs, result, options, name) for name, judged in files[1:]}
    table, notes = judges(files, scores, options.rel_level)
    output.warn(*notes)
    return table


def show_comparison(
    result: Comparison, frames: dict[str, pl.DataFrame], only: str | None, target: Target, *, said: bool = True
) -> None:
    """Write the tables of a comparison, or one of them, with the verdicts `said` above."""
    from exaequo.comparison.pages import for_a_paper

    if only is not None and only not in frames:
        raise UsageError(f"There is no table {only} without --{NEEDED.get(only, 'also')}.")
    several = frames if target.format == "json" else [name for name in SHOWN if name in frames]
    names = {measure.name for measure in result.scores.measures}
    names.update(frames["orders"].columns if "orders" in frames else ())
    brief = {name: _brief(name, frame) for name, frame in frames.items()}
    alone = result.plan.baseline is None
    tables = titled(frames, TABLES if alone else AGAINST, [only] if only else several, brief=brief, names=names)
    if target.format == "latex" and "systems" in tables:
        tables["systems"] = for_a_paper(result, tables["systems"].title)
    before = [*([] if only or not said else _summary(result)), *target.beside(result.warnings)]
    target.show(tables, before=before, options=result.options, warnings=result.warnings)


def _summary(result: Comparison) -> list[str]:
    """Say the verdicts, the most important first, and how they were found."""
    said, shown = result.sentences, len(result.method) + 12
    more = [say("… and {n} more; --table pairs has all", n=len(said) - shown)] if len(said) > shown else []
    return [*said[:shown], *more]


#: Columns of pairs that are not in the sentences above the table.
_OF_PAIRS = (
    "measure one two difference low high gain_percent noticeable p corrected_p d blocked_d wins ties losses "
    "topics_needed smallest_difference open_low open_high equivalent_p chance_worse chance_equivalent chance_better "
    "outcome changes"
).split()


def _brief(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out what is in the sentences above a table; name strategies."""
    import polars as pl

    from exaequo.screens import settled

    if name in ("correlations", "difficulty"):  # of measures and strategies, not of runs
        names = {name: strategy(name) for name in (*STRATEGIES, EXPECTED)}
        return frame.with_columns(pl.col(pl.String).exclude("measure", "between").replace(names))
    if name == "dominance":
        neither = {text: word(text) for text in ("neither", "same curve")}
        return frame.with_columns(pl.col("dominates").replace(neither))
    if name == "orderings":
        everyone = (pl.col("between") == "judges") & (pl.col("one") == pl.col("two"))
        return frame.with_columns(
            pl.when(everyone).then(pl.lit(word("all"))).otherwise(pl.col("one", "two")).name.keep()
        )
    if name != "pairs":
        return frame
    there = [name for name in _OF_PAIRS if name in frame.columns]
    needed = pl.col("topics_needed").replace(float("inf"), None).cast(pl.Int64)
    return settled(frame.select(there).with_columns(needed), "difference", "low", "high", "open_low", "open_high")
