"""`exaequo replicate`: how far a reproduction agrees with the original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import MEASURES, RBO_P, STDIN, TABLE_FORMATS
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
from exaequo.language import say, strategy
from exaequo.language import word as in_words

if TYPE_CHECKING:
    from exaequo.replication import Replication

TABLES = {
    "orders": "Lists: Kendall's τ of the union and rank-biased overlap, means over topics ('RBO ties': ties as ties)",
    "runs": "Scores: means, errors over topics, and p of a t-test between original and reproduction",
    "effects": "Effects: how much runs improve on the baseline, in the original and in the reproduction",
    "topics": "Topics: agreement of lists, and by how much scores differ (reproduction − original)",
    "headers": "What differs by the metadata of the files, in capital letters: platform, research goal, "
    "implementation, method, actor, data",
}
#: What is shown unless a table is asked for, and of it what people read first.
SHOWN = ("runs",)
_OF_RUNS = ("original", "reproduced", "measure", "mean", "mean_reproduced", "rmse", "p")


class WithMany(click.Command):
    """A command with an option that takes all words up to the next option: `--with`, unless another is named."""

    many = "--with"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its words, as click wants it."""
        return super().parse_args(ctx, list(_repeated(args, self.many)))


def _repeated(words: Sequence[str], option: str) -> Iterator[str]:
    many = False
    for word in words:
        if word == option:
            many = True
        elif word.startswith("-") and word != STDIN:
            many = False
            yield word
        else:
            yield from (option, word) if many else (word,)


@click.command(cls=WithMany)
@click.argument("qrels")
@click.argument("originals", nargs=-1, required=True, metavar="ORIGINAL...")
@click.option(
    "--with",
    "reproductions",
    multiple=True,
    required=True,
    metavar="REPRODUCED...",
    help="The reproductions, in the order of the originals.",
)
@click.option("--with-qrels", metavar="QRELS", help="Their judgments, if they are of another collection.")
@click.option("--baseline", metavar="RUN", help="The original (name or file) others improve on.  [default: the first]")
@measure_option()
@ties_option()
@click.option("--rbo-p", "p", type=float, default=RBO_P, show_default=True, help="How far down RBO looks.")
@click.option("--at", "cutoffs", multiple=True, type=click.IntRange(1), metavar="K", help="Also compare the first K.")
@evaluates("depth", "missing", "precision", "seed")
@click.option("-q", "--per-topic", is_flag=True, help="Also give each topic.")
@table_option(TABLES)
@writes(*TABLE_FORMATS)
@reads_files
@speaks
def replicate(
    qrels: str,
    originals: tuple[str, ...],
    reproductions: tuple[str, ...],
    with_qrels: str | None,
    measures: tuple[str, ...],
    ties: str,
    options: dict[str, Any],
    per_topic: bool,
    only: str | None,
    target: Target,
    files: Files,
    **plan: Any,
) -> None:
    """Compare ORIGINALs with their reproductions: order of documents, scores, effects over a baseline, t-tests.

    The first original is compared with the first reproduction, the second with the second. With --with-qrels these are
    of another collection, and only scores and effects are compared.
    """
    judged = [qrels, *([with_qrels] if with_qrels else [])]
    output.check_paths((*judged, *originals, *reproductions), target.path)
    target.one_table(only, TABLES)
    if with_qrels and only in ("orders", "topics"):
        raise UsageError(f"There is no table {only} with --with-qrels: lists of two collections are not compared.")
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.replication import Comparing, replicate_runs

    chosen, parsed = Options(ties=(ties,), **options), parse_measures(measures or MEASURES)
    runs = [files.runs(each) for each in (originals, reproductions)]
    result = replicate_runs([files.qrels(each) for each in judged], runs, parsed, chosen, Comparing(**plan))
    output.warn(*result.warnings)
    if only is None and not per_topic and target.format == "table" and target.path is None:
        _first(result, target)
    else:
        _show(result, [only] if only else [name for name in TABLES if name != "topics" or per_topic], target)


def _first(result: Replication, target: Target) -> None:
    """Write the first screen: what is said, and the means."""
    runs = result.tables["runs"]
    brief = {"runs": runs.select(name for name in _OF_RUNS if name in runs.columns)}  # two collections have no RMSE
    tables = titled(result.tables, TABLES, SHOWN, brief=brief, names=set(result.options["measures"]))
    there = [name for name in TABLES if result.tables[name].height]
    target.screen(tables, before=_said(result), after=target.others(there, *SHOWN))


def _show(result: Replication, chosen: list[str], target: Target) -> None:
    tables = titled(result.tables, TABLES, chosen, names=set(result.options["measures"]))
    before = _said(result) if len(chosen) > 1 else []
    target.show(tables, before=before, options=result.options, warnings=result.warnings)


def _said(result: Replication) -> list[str]:
    """Say how they were compared, and what came out."""
    how = result.options
    topics = f" {in_words('and')} ".join(map(str, dict.fromkeys(how["topics"])))
    seen = say(
        "{topics} topics, {ties} ties, {test}", topics=topics, ties=strategy(how["ties"]), test=in_words(how["test"])
    )
    return [seen + (say(", RBO with p {p:g}", p=how["p"]) if how["same_collection"] else ""), *result.sentences]
