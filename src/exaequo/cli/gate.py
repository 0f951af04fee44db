"""`exaequo gate`: may this release go out."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from exaequo.choices import ALPHA, GATE_MEASURES, GATE_TESTS, LEAST_TOPICS, MAX_DROP, PATTERNS
from exaequo.cli import output
from exaequo.cli.options import Files, Target, deciding_ties, evaluates, measure_option, reads_files, speaks, writes
from exaequo.errors import UsageError

if TYPE_CHECKING:
    from exaequo.gating import GateResult
    from exaequo.gating.configuration import Configuration

#: Exit codes: nothing stands against it, a loss is shown, nothing can be said.
CODES = {"passed": 0, "worse": 3, "different": 3, "undecided": 4}
_FILES = ("qrels", "baseline", "candidate")


def _configured(context: click.Context, _: click.Parameter, path: str | None) -> Configuration:
    """Read the file of the project; what it says counts where the command line says nothing."""
    from exaequo.gating.configuration import configuration

    found = configuration(path)
    context.default_map = {**found.options}
    return found


@click.command()
@click.argument("given", nargs=-1, metavar="[[QRELS] BASELINE] [CANDIDATE]")
@click.option(
    "--config",
    metavar="FILE",
    is_eager=True,
    callback=_configured,
    help="Where the rest is said.  [default: exaequo.toml, or pyproject.toml]",
)
@measure_option(usual=GATE_MEASURES)
@click.option("--max-drop", default=MAX_DROP, show_default=True, metavar="D", help="The loss allowed, as 0.01 or 1%.")
@click.option("--floor", "floors", multiple=True, metavar="TEXT", help="A least mean, as 'nDCG@10 >= 0.45'.")
@click.option("--slices", metavar="FILE", help="Labels of topics, 'topic label' a line: a verdict for each label.")
@click.option("--strict-slices", "strict", is_flag=True, help="Every slice must pass, not only none be worse.")
@click.option("--test", type=click.Choice(GATE_TESTS), default="t", show_default=True)
@click.option("--alpha", type=float, default=ALPHA, show_default=True, help="1 − alpha is how sure to be.")
@click.option(
    "--samples", type=click.IntRange(100, 10_000_000), default=PATTERNS, show_default=True, help="For random tests."
)
@click.option(
    "--min-topics", type=click.IntRange(2), default=LEAST_TOPICS, show_default=True, help="Fewer decide nothing."
)
@deciding_ties
@click.option("--equivalence", is_flag=True, help="A gain beyond the margin does not pass either.")
@evaluates("depth", "missing", "precision", "seed")
@writes("table", "json", "markdown", "junit", "github")
@reads_files
@speaks
def gate(
    given: tuple[str, ...],
    config: Configuration,
    measures: tuple[str, ...],
    max_drop: str,
    floors: tuple[str, ...],
    slices: str | None,
    options: dict[str, Any],
    target: Target,
    files: Files,
    **asked: Any,
) -> int:
    """Exit with 0 if CANDIDATE loses no more than allowed, with 3 if it is worse than BASELINE, with 4 if undecided.

    Non-inferiority: it passes if the lower end of the interval of the difference stays above the loss allowed, it is
    worse if the upper end lies below, and undecided if topics or ties cannot tell. Files and options may stand in
    exaequo.toml, table [gate]; the command line counts more. One file is the candidate, two are baseline and candidate.
    """
    from exaequo.comparison.plan import tie_rule
    from exaequo.evaluation import judged_runs
    from exaequo.gating import gate_runs
    from exaequo.gating.rule import Rule, bars
    from exaequo.gating.slices import read_slices
    from exaequo.options import Options

    paths = _paths(given, config)
    output.check_paths([*paths, *([slices] if slices else ())], target.path)
    ties = asked["ties"]
    chosen = Options(ties=tie_rule(ties)[0], **options)
    rule = Rule(
        bars=bars(_asked(measures, config), max_drop, floors),
        seed=chosen.seed,
        **{**asked, "ties": ties[0] if len(ties) == 1 else list(ties)},
    )
    labels = read_slices(slices) if slices else config.slices
    runs = judged_runs(files.qrels(paths[0]), map(files.run, paths[1:]), chosen, rule.measures)
    found = gate_runs(runs, chosen, rule, labels)
    result = replace(
        found, warnings=(*config.warnings, *found.warnings), options={"config": config.path, **found.options}
    )
    _write(result, target)
    return CODES[result.state]


def _paths(given: tuple[str, ...], config: Configuration) -> list[str]:
    """Return the three files: those given are the last ones, the rest stands in the configuration."""
    if len(given) > len(_FILES):
        raise UsageError(f"A gate takes {', '.join(_FILES)}. Got {len(given)} files.")
    found = {**config.files, **dict(zip(_FILES[len(_FILES) - len(given) :], given, strict=True))}
    if lacks := [name for name in _FILES if name not in found]:
        raise UsageError(f"A gate needs QRELS BASELINE CANDIDATE, here or in exaequo.toml. There is no {lacks[0]}.")
    return [found[name] for name in _FILES]


def _asked(measures: tuple[str, ...], config: Configuration) -> dict[str, Any]:
    """Return the measures asked for, or else all of the configuration, with the drops and floors they have there.

    A drop on the command line counts for all of them.
    """
    from exaequo.measures import parse_measure, parse_measures

    own = {parse_measure(name).name: given for name, given in config.measures.items()}
    found = {measure.name: own.get(measure.name, {}) for measure in parse_measures(measures)} if measures else own
    if click.get_current_context().get_parameter_source("max_drop") != ParameterSource.COMMANDLINE:
        return found
    floors = {name: given["floor"] for name, given in own.items() if isinstance(given, dict) and "floor" in given}
    return {name: {"floor": floors[name]} if name in floors else {} for name in found}


def _write(result: GateResult, target: Target) -> None:
    """Write the verdict; warnings stand in it, and are given too where nobody sees it."""
    from exaequo.gating.writers import FORMS, text

    if target.format != "table" or target.path is not None:
        output.warn(*result.warnings)
    if target.format == "json":
        target.json(result.as_dict())
    elif target.format == "table":
        target.text(text(result, output.width()))
    else:
        target.text(FORMS[target.format](result).removesuffix("\n"))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if target.format == "github" and summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as page:
                page.write(FORMS["markdown"](result) + "\n")
        except OSError as error:  # the verdict counts more
            output.warn(f"{summary}: cannot write the summary ({error.strerror})")
