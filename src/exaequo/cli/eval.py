"""`exaequo eval`: judgments and runs in, scores out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import MEASURES, SCORE_FORMATS
from exaequo.cli import output
from exaequo.cli.engines import Asked, Engine, engines, evaluated, folder_of, refuse
from exaequo.cli.options import (
    Files,
    Target,
    evaluates,
    measure_option,
    reads_runs,
    several_ties,
    speaks,
    writes,
)
from exaequo.cli.view import View, views

if TYPE_CHECKING:
    from exaequo.scores import Scores


@click.command("eval")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measure_option()
@several_ties()
@click.option("-q", "--per-topic", is_flag=True, help="Also give the value of each topic.")
@evaluates("depth", "missing", "precision", "seed", "samples")
@engines
@views
@writes(*SCORE_FORMATS)
@reads_runs
@speaks
def eval_(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    ties: tuple[str, ...],
    per_topic: bool,
    options: dict[str, Any],
    engine: Engine,
    view: View,
    target: Target,
    files: Files,
) -> None:
    """Score one or more RUNs against QRELS; '-' is standard input.

    Files are TREC text, or tables or lists (.csv .tsv .jsonl .json .parquet), packed (.gz .bz2 .xz .zst) or not.
    """
    refuse(engine, files)
    first = view.first(target, other=per_topic)
    if not folder_of(engine, target):
        output.check_paths((qrels, *runs), target.path)
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.screens import shown

    chosen, parsed = Options.of(ties, **options), parse_measures(measures or MEASURES)
    scores = evaluated(Asked(qrels, runs, parsed, chosen, per_topic, engine, target, files))
    if scores is None:
        return
    output.warn(*scores.warnings)
    if first:
        from exaequo.scores.screen import screen

        target.text(shown(screen(scores, sort=view.sort, top=view.top), *output.room(), colour=output.colour()))
    else:
        _show(scores, target, per_topic=per_topic)


def _show(scores: Scores, target: Target, *, per_topic: bool) -> None:
    from exaequo.scores import formats
    from exaequo.tabular import Table

    if target.format == "json":
        target.json(formats.document(scores, per_topic=per_topic))
    elif target.format == "table":
        width, colour = (0, False) if target.path else (output.width(), output.colour())
        target.text(formats.text_table(scores, per_topic=per_topic, width=width, colour=colour))
    else:
        if target.format == "csv":
            target.show({"scores": Table(data=formats.tidy(scores, per_topic=per_topic))})
        else:
            output.write(formats.written(scores, target.format, per_topic=per_topic), target.path)
        exact = target.format in ("csv", "parquet")
        lines = formats.tie_lines(scores, per_topic=per_topic, exact=exact) + formats.expected_lines(scores)
        for line in lines:
            output.aside(line)
