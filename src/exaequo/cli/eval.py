"""`exaequo eval`: judgments and runs in, scores out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from exaequo.cli import output

if TYPE_CHECKING:
    from exaequo.scores import Scores

DEFAULT_MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000")
TIES = ("realistic", "conventional", "optimistic", "rank", "input", "random", "expected", "all")
FORMATS = ("table", "csv", "json", "markdown", "latex", "trec", "parquet")

_KIND = click.Choice(["trec", "csv", "tsv", "jsonl", "parquet"])
input_options = (
    click.option("--reader", type=_KIND, help="What all files are, whatever their names say."),
    click.option("--qrels-reader", type=_KIND, help="The same, for QRELS alone."),
    click.option("--run-reader", type=_KIND, help="The same, for the RUNs alone."),
    click.option(
        "--columns", multiple=True, metavar="qid=NAME,...", help="Names of the columns of tables, if unusual."
    ),
)


def with_input_options(function: click.decorators.FC) -> click.decorators.FC:
    """Add the options of commands that read files."""
    for option in reversed(input_options):
        function = option(function)
    return function


def readers_of(kinds: dict[str, str | None]) -> tuple[str | None, str | None]:
    """Return what the qrels and the runs are to be read as."""
    return kinds["qrels_reader"] or kinds["reader"], kinds["run_reader"] or kinds["reader"]


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
@click.option("--rel-level", type=float, metavar="N", help="Least grade that is relevant.  [default: any above 0]")
@click.option(
    "--max-grade",
    type=float,
    default=127,
    show_default=True,
    metavar="N",
    help="A grade above this is not relevant; 'inf' lifts the limit.",
)
@click.option(
    "--missing",
    type=click.Choice(["zero", "skip", "error"]),
    default="zero",
    show_default=True,
    help="What a judged topic scores that the run lacks.",
)
@click.option(
    "--precision",
    type=click.Choice(["double", "single"]),
    default="double",
    show_default=True,
    help="How scores are compared.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For --ties random and expected.")
@click.option("--samples", type=click.IntRange(2), metavar="N", help="Orders to try if there is no closed form.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("-o", "--output", "path", metavar="FILE", help="Write there instead of to standard output.")
@with_input_options
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
    format_: str,
    as_json: bool,
    path: str | None,
    columns: tuple[str, ...],
    **kinds: str | None,
) -> None:
    """Score one or more RUNs against QRELS; '-' is standard input.

    Files are TREC text, or tables (.csv .tsv .jsonl .parquet), packed (.gz .bz2 .xz .zst) or not.
    """
    output.refuse_two_stdins((qrels, *runs))
    from exaequo.evaluation import Options, evaluate_runs
    from exaequo.expected import EXPECTED, SAMPLES
    from exaequo.measures import parse_measures
    from exaequo.order import strategies
    from exaequo.read import read_qrels, read_run

    chosen = strategies(ties, more=(EXPECTED,))
    options = Options(chosen, rel_level, max_grade, depth, missing, precision, seed, samples or SAMPLES)
    parsed = parse_measures(measures or DEFAULT_MEASURES)
    format_ = "json" if as_json else format_
    digest = format_ == "json"
    names, readers = output.parse_columns(columns), readers_of(kinds)
    judged = read_qrels(qrels, reader=readers[0], columns=names, digest=digest)
    read = (read_run(each, reader=readers[1], columns=names, digest=digest) for each in output.with_progress(runs))
    scores = evaluate_runs(judged, read, parsed, options, interval=True)
    for warning in scores.warnings:
        output.warn(warning)
    _show(scores, format_, path, per_topic=per_topic)


def _show(scores: Scores, format_: str, path: str | None, *, per_topic: bool) -> None:
    from exaequo import formats

    if format_ != "table":
        output.write(formats.WRITERS[format_](scores, per_topic=per_topic), path)
        exact = format_ in ("csv", "parquet")
        lines = formats.tie_lines(scores, per_topic=per_topic, exact=exact) + formats.expected_lines(scores)
        for line in lines if format_ != "json" else ():
            click.echo(line, err=True)
    elif path:
        output.write(formats.text_table(scores, per_topic=per_topic) + "\n", path)
    else:
        table = formats.text_table(scores, per_topic=per_topic, width=output.width(), colour=output.colour())
        output.show_text(table)
