"""`exaequo explain`: how a number came about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import EXPLAIN_MEASURES, HIGHEST_GRADE, THRESHOLD
from exaequo.cli import output
from exaequo.cli.files import Number
from exaequo.cli.filter import coefficients_of
from exaequo.cli.options import (
    Files,
    Target,
    evaluates,
    measure_option,
    reads_files,
    show_option,
    speaks,
    ties_option,
    writes,
)
from exaequo.errors import UsageError
from exaequo.language import ENGLISH, spoken

if TYPE_CHECKING:
    from exaequo.explanation import Explanation, FilterExplanation, MeanExplanation

#: Options for measures alone, and for filters alone, with what they are if they are not given.
FOR_MEASURES: dict[str, Any] = {"ties": "realistic", "depth": None, "precision": "double", "seed": 0}
FOR_FILTERS: dict[str, Any] = {"threshold": THRESHOLD, "utility": "LF1", "beta": 1.0}


@click.command()
@click.argument("qrels", metavar="QRELS|TABLE")
@click.argument("run", required=False)
@click.option("--topic", metavar="TOPIC", help="The topic; a filter needs one.  [default: the figure of all topics]")
@measure_option(usual=EXPLAIN_MEASURES)
@ties_option(given=True)
@click.option("--threshold", type=float, metavar="T", help="Explain a filter: scores from here on are selected.")
@click.option("--utility", metavar="A,B", help="Of a filter: LF1, LF2, T11U, or 2 or 4 numbers.  [default: LF1]")
@click.option("--beta", type=Number(0), help="Of a filter: weight of recall in F.  [default: 1]")
@click.option("--docs", type=click.IntRange(1), metavar="N", help="Size of the collection, for contingency tables.")
@show_option(10, "--rows", "Documents of each table to show.")
@click.option("--full", is_flag=True, help="Write all terms of sums, and all columns.")
@evaluates("depth", precision=None, seed=None)
@writes("text", "markdown", "json")
@reads_files
@speaks
def explain(
    qrels: str,
    run: str | None,
    topic: str | None,
    measures: tuple[str, ...],
    docs: int | None,
    show: int,
    full: bool,
    files: Files,
    target: Target,
    options: dict[str, Any],
    **given: Any,
) -> None:
    """Show step by step how the value of a measure for one TOPIC of RUN, or for all, comes about, as on the board.

    With --threshold, the figures of a binary filter; a single TABLE may then stand for both files, as for `filter`.
    """
    output.check_paths((qrels, *([run] if run is not None else [])), target.path)
    judging = {name: options.pop(name) for name in ("rel_level", "max_grade")}
    given |= options
    found: Sequence[Explanation | MeanExplanation | FilterExplanation]
    if run is None or given["threshold"] is not None:
        chosen = _chosen(given, FOR_FILTERS, FOR_MEASURES, "explains a measure, not a filter")
        if run is None and judging != {"rel_level": None, "max_grade": HIGHEST_GRADE}:
            raise UsageError("A table of decisions says what is relevant; leave --rel-level and --max-grade out.")
        if topic is None:
            raise UsageError("A filter is explained for one --topic.")
        if measures:
            raise UsageError("A measure (-m) and a filter (--threshold, or no RUN) are explained one at a time.")
        found = [_filter(qrels, run, topic, {**chosen, **judging, "docs": docs}, files)]
    else:
        chosen = _chosen(given, FOR_MEASURES, FOR_FILTERS, "explains a filter; give --threshold too")
        found = _measures(qrels, run, topic, measures or EXPLAIN_MEASURES, {**chosen, **judging}, docs, files)
    output.warn(*dict.fromkeys(text for each in found for text in each.warnings))
    if target.format == "json":
        lang = target.lang or ENGLISH
        target.json({"lang": lang, "explanations": [each.as_dict(lang) for each in found]})
    else:
        markdown = target.format == "markdown"
        width = 0 if target.path or markdown else output.room()[0]
        look: dict[str, Any] = {"rows": show, "markdown": markdown, "full": full, "width": width}
        target.text("\n\n\n".join(each.text(spoken(), **look) for each in found))


def _chosen(options: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any], why: str) -> dict[str, Any]:
    """Return the options that count here; refuse those that would be ignored."""
    for name in theirs:
        if options[name] is not None:
            raise UsageError(f"--{name} {why}.")
    return {name: default if options[name] is None else options[name] for name, default in ours.items()}


def _filter(qrels: str, run: str | None, topic: str, chosen: dict[str, Any], files: Files) -> FilterExplanation:
    from exaequo.explanation import explain_filter

    chosen = {**chosen, "utility": coefficients_of(chosen["utility"])}
    if run is not None:
        return explain_filter(files.qrels(qrels), files.run(run), topic, **chosen)
    return explain_filter(qrels, None, topic, **chosen, reader=files.qrels_reader, columns=files.columns)


def _measures(
    qrels: str,
    run: str,
    topic: str | None,
    measures: Sequence[str],
    chosen: dict[str, Any],
    docs: int | None,
    files: Files,
) -> Sequence[Explanation | MeanExplanation]:
    from exaequo.explanation import explain_run
    from exaequo.measures import parse_measures
    from exaequo.options import Options

    options = Options(ties=(chosen.pop("ties"),), **chosen)
    asked = parse_measures(measures)
    judged, lines = files.qrels(qrels), files.run(run)
    return explain_run(judged, lines, topic, asked, options, docs=docs)
