"""`exaequo gate`: may this release go out."""

from __future__ import annotations

from typing import Any

import click

from exaequo.choices import ALPHA, FAIR, GATE_TESTS, LEAST_TOPICS, MAX_DROP, PATTERNS
from exaequo.cli import output
from exaequo.cli.options import TIES_HELP, Files, Target, evaluates, measure_option, reads_files, writes

#: Exit codes: nothing stands against it, a loss is shown, nothing can be said.
CODES = {"passed": 0, "worse": 3, "undecided": 4}


@click.command()
@click.argument("qrels")
@click.argument("baseline")
@click.argument("candidate")
@measure_option("[default: nDCG@10]")
@click.option("--max-drop", default=MAX_DROP, show_default=True, metavar="D", help="The loss allowed.")
@click.option("--floor", "floors", multiple=True, metavar="TEXT", help="A least mean, as 'nDCG@10 >= 0.45'.")
@click.option("--test", type=click.Choice(GATE_TESTS), default="t", show_default=True)
@click.option("--alpha", type=float, default=ALPHA, show_default=True, help="1 − alpha is how sure to be.")
@click.option("--samples", type=click.IntRange(100), default=PATTERNS, show_default=True, help="For random tests.")
@click.option(
    "--min-topics", type=click.IntRange(2), default=LEAST_TOPICS, show_default=True, help="Fewer decide nothing."
)
@click.option("--ties", default=FAIR, show_default=True, help=TIES_HELP)
@click.option("--equivalence", is_flag=True, help="A gain beyond the margin does not pass either.")
@evaluates("depth", "missing", "precision", "seed")
@writes("table", "json", "markdown", flags=("json", "markdown"))
@reads_files
def gate(
    qrels: str,
    baseline: str,
    candidate: str,
    measures: tuple[str, ...],
    max_drop: str,
    floors: tuple[str, ...],
    test: str,
    alpha: float,
    samples: int,
    min_topics: int,
    ties: str,
    equivalence: bool,
    options: dict[str, Any],
    target: Target,
    files: Files,
) -> int:
    """Exit with 0 if CANDIDATE loses no more than allowed, with 3 if it is worse than BASELINE, with 4 if undecided.

    Non-inferiority: it passes if the lower end of the interval of the difference stays above the loss allowed, it is
    worse if the upper end lies below, and undecided if topics or ties cannot tell.
    """
    output.check_paths((qrels, baseline, candidate), target.path)
    from exaequo.comparison.plan import tie_rule
    from exaequo.evaluation import judged_runs
    from exaequo.gating import gate_runs
    from exaequo.gating.rule import Rule, bars
    from exaequo.options import Options

    asked = ties.split(",")
    chosen = Options(ties=tie_rule(asked)[0], **options)
    rule = Rule(
        bars=bars(measures, max_drop, floors),
        test=test,
        alpha=alpha,
        samples=samples,
        seed=chosen.seed,
        min_topics=min_topics,
        ties=ties if len(asked) == 1 else asked,
        equivalence=equivalence,
    )
    runs = judged_runs(files.qrels(qrels), map(files.run, (baseline, candidate)), chosen, rule.measures)
    result = gate_runs(runs, chosen, rule)
    output.warn(*result.warnings)
    if target.format == "json":
        target.json(result.as_dict())
    elif target.format == "markdown":
        target.text(result.markdown().rstrip("\n"))
    else:
        target.text("\n".join([*(gate.sentence for gate in result.gates), result.state]))
    return CODES[result.state]
