"""`exaequo eval`: judgments and runs in, scores out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from exaequo.cli import output
from exaequo.cli.options import Files, Target, handles_missing, judges_relevance, reads_files, writes

if TYPE_CHECKING:
    from exaequo.scores import Scores

DEFAULT_MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000")
TIES = ("realistic", "conventional", "optimistic", "rank", "input", "random", "expected", "all")
FORMATS = ("table", "csv", "json", "markdown", "latex", "trec", "parquet")


@click.command("eval")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="As in AP, P@10, nDCG@10; may be repeated.",
)
@click.option(
    "--ties",
    type=click.Choice(TIES),
    multiple=True,
    default=("realistic",),
    show_default=True,
    help="How tied documents are ordered; 'expected' is the mean over all orders, 'all' the first three.",
)
@click.option("-q", "--per-topic", is_flag=True, help="Also give the value of each topic.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Cut each list at N, after ordering.")
@judges_relevance
@handles_missing
@click.option(
    "--precision",
    type=click.Choice(["double", "single"]),
    default="double",
    show_default=True,
    help="How scores are compared.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For --ties random and expected.")
@click.option("--samples", type=click.IntRange(2), metavar="N", help="Orders to try if there is no closed form.")
@writes(*FORMATS)
@reads_files
def eval_(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    ties: tuple[str, ...],
    per_topic: bool,
    depth: int | None,
    rel_level: float | None,
    max_grade: float,
    missing: str,
    precision: str,
    seed: int,
    samples: int | None,
    target: Target,
    files: Files,
) -> None:
    """Score one or more RUNs against QRELS; '-' is standard input.

    Files are TREC text, or tables (.csv .tsv .jsonl .parquet), packed (.gz .bz2 .xz .zst) or not.
    """
    output.check_paths((qrels, *runs), target.path)
    from exaequo.evaluation import Options, evaluate_runs
    from exaequo.expected import EXPECTED, SAMPLES
    from exaequo.measures import parse_measures
    from exaequo.order import strategies

    chosen = strategies(ties, more=(EXPECTED,))
    options = Options(chosen, rel_level, max_grade, depth, missing, precision, seed, samples or SAMPLES)
    parsed = parse_measures(measures or DEFAULT_MEASURES)
    digest = target.format == "json"
    judged = files.qrels(qrels, digest=digest)
    scores = evaluate_runs(judged, files.runs(runs, digest=digest), parsed, options, interval=True)
    for warning in scores.warnings:
        output.warn(warning)
    _show(scores, target, per_topic=per_topic)


def _show(scores: Scores, target: Target, *, per_topic: bool) -> None:
    from exaequo import formats

    if target.format != "table":
        output.write(formats.WRITERS[target.format](scores, per_topic=per_topic), target.path)
        exact = target.format in ("csv", "parquet")
        lines = formats.tie_lines(scores, per_topic=per_topic, exact=exact) + formats.expected_lines(scores)
        for line in lines if target.format != "json" else ():
            click.echo(line, err=True)
    elif target.path:
        output.write(formats.text_table(scores, per_topic=per_topic) + "\n", target.path)
    else:
        table = formats.text_table(scores, per_topic=per_topic, width=output.width(), colour=output.colour())
        output.show_text(table)
