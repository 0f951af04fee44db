"""`exaequo demo`: the built-in sample data, evaluated or written to files."""

from __future__ import annotations

import click

from exaequo.choices import COMPARE_MEASURES, INTERVAL
from exaequo.cli import output
from exaequo.cli.options import speaks
from exaequo.language import say


@click.command()
@click.option("--save", "folder", metavar="DIR", help="Write the sample files there instead.")
@speaks
def demo(folder: str | None) -> None:
    """Evaluate built-in sample data: fair and conventional scores side by side."""
    from exaequo.sampledata import sample

    data = sample()
    if folder is not None:
        for path in data.save(folder):
            click.echo(path)
        return
    from exaequo.evaluation import evaluate_runs, judged_runs
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.scores.formats import text_table

    options = Options(ties=INTERVAL)
    scores = evaluate_runs(judged_runs(data.qrels, data.runs, options), parse_measures(COMPARE_MEASURES), options)
    output.show_text(text_table(scores, width=output.width(), colour=output.colour()))
    about = say(
        "One ranking, three ways to order documents with the same score: the relevant ones last (realistic), by their"
        "\nnames as trec_eval does (conventional), or first (optimistic). Where the three differ, part of the score is"
        "\nluck: llm-judge grades documents 0 to 4, boolean fills its lists with score 0."
        "\n\nTry it on files:  exaequo demo --save sample && exaequo eval sample/qrels.txt sample/runs/*"
    )
    output.show_text(f"\n{about}")
