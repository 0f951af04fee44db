"""`exaequo explain`: how a number came about."""

from __future__ import annotations

from pathlib import Path

import click

from exaequo.cli import output
from exaequo.cli.eval import readers_of, with_input_options

FORMAT = 1
#: One file of sentences each.
LANGUAGES = sorted(path.stem for path in (Path(__file__).parent.parent / "explanation").glob("*.toml"))
STRATEGIES = ("realistic", "conventional", "optimistic", "rank", "input", "random")


@click.command()
@click.argument("qrels")
@click.argument("run")
@click.option("--topic", required=True, metavar="TOPIC", help="The topic to explain.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="[default: AP]")
@click.option("--ties", type=click.Choice(STRATEGIES), default="realistic", show_default=True)
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="The language.")
@click.option("--rows", type=click.IntRange(1), default=30, show_default=True, help="Rows of the list to show.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Cut the list at N, after ordering.")
@click.option("--rel-level", type=float, metavar="N", help="Least grade that is relevant.  [default: any above 0]")
@click.option("--max-grade", type=float, default=127, show_default=True, help="A grade above this is not relevant.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For --ties random.")
@click.option("--format", "format_", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True)
@click.option("-o", "--output", "path", metavar="FILE", help="Write there instead of to standard output.")
@with_input_options
def explain(
    qrels: str,
    run: str,
    topic: str,
    measures: tuple[str, ...],
    ties: str,
    lang: str,
    rows: int,
    depth: int | None,
    rel_level: float | None,
    max_grade: float,
    seed: int,
    format_: str,
    path: str | None,
    columns: tuple[str, ...],
    **kinds: str | None,
) -> None:
    """Show step by step how the value of a measure for one TOPIC of RUN comes about, as on the board."""
    output.refuse_two_stdins((qrels, run))
    from exaequo.evaluation import Options
    from exaequo.explanation import explain_list
    from exaequo.measures import parse_measures
    from exaequo.read import read_qrels, read_run

    names, readers = output.parse_columns(columns), readers_of(kinds)
    options = Options((ties,), rel_level, max_grade, depth, seed=seed)
    judged = read_qrels(qrels, reader=readers[0], columns=names)
    lines = read_run(run, reader=readers[1], columns=names)
    found = [explain_list(judged, lines, topic, measure, options) for measure in parse_measures(measures or ("AP",))]
    if format_ == "json":
        import json

        document = {"format": FORMAT, "explanations": [each.as_dict() for each in found]}
        output.write(json.dumps(document, indent=1, ensure_ascii=False) + "\n", path)
        return
    text = "\n\n\n".join(each.text(lang, rows=rows, markdown=format_ == "markdown") for each in found)
    if path is None and format_ == "text":
        output.show_text(text)
    else:
        output.write(text + "\n", path)
