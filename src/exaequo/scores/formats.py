"""Showing scores: one small writer per format, `Scores` in, text or bytes out. Names are data and never trusted."""

from __future__ import annotations

import io
import math
import platform
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from exaequo import __version__, tabular
from exaequo.choices import INTERVAL
from exaequo.expected import SAMPLED
from exaequo.frames import pl
from exaequo.language import number, say, strategy, word
from exaequo.measures import Measure
from exaequo.scores import ALL, Scores, TieEffect
from exaequo.tabular import Column, Table
from exaequo.text import on_one_line

#: How many lines about ties a table shows before it says how many more there are.
MOST_TIE_LINES = 12
#: Values that differ only beyond so many digits differ by the order of adding up.
MOST_DIGITS = 10


def value_text(measure: Measure, value: float, digits: int = 4) -> str:
    """Write a value for reading: counts whole, all else with so many digits, halves rounded up."""
    return number(f"{value:,.0f}") if _counts(measure) and not math.isnan(value) else tabular.fixed(value, digits)


def _counts(measure: Measure) -> bool:
    return measure.definition.aggregate == "sum" and measure.aggregate == "sum"


def grid(scores: Scores, *, per_topic: bool = False, digits: int = 4) -> Table:
    """Arrange runs as rows, measures as columns, strategies side by side."""
    block_of = {(block.run, block.ties): block for block in scores.blocks}
    topics = {run: block_of[run, scores.ties[0]].topics.to_list() if per_topic else [] for run in scores.runs}
    names = [(run, topic) for run in scores.runs for topic in (*topics[run], word(ALL))]
    columns = [Column(word("run"), [run for run, _ in names], right=False)]
    columns += [Column(word("topic"), [topic for _, topic in names], right=False)] if per_topic else []
    for at, measure in enumerate(scores.measures):
        for ties in scores.ties:
            means = {run: scores.mean(measure, run=run, ties=ties) for run in scores.runs}
            best = _best(measure, list(means.values()), digits)
            cells: list[str] = []
            winners = []
            for run, mean in means.items():
                values = block_of[run, ties].values[at].tolist() if per_topic else []
                cells += [value_text(measure, value, digits) for value in (*values, mean)]
                winners += [len(cells) - 1] if cells[-1] == best else []
            group, head = ("", measure.name) if len(scores.ties) == 1 else (measure.name, strategy(ties))
            columns.append(Column(head, cells, group=group, best=winners))
    return Table(columns=columns)


def _best(measure: Measure, means: list[float], digits: int) -> str | None:
    """Return the best figure of a column, as it is printed; none where there is one run, or for counts."""
    defined = [mean for mean in means if not math.isnan(mean)]
    if len(means) < 2 or measure.aggregate == "sum" or not defined:
        return None
    return value_text(measure, max(defined) if measure.definition.higher_is_better else min(defined), digits)


def text_table(scores: Scores, *, per_topic: bool = False, width: int = 0, colour: bool = False) -> str:
    """Return the table for reading, with what was done above it and what ties change below."""
    table = grid(scores, per_topic=per_topic)
    marked = f" · {say('* best of its column')}" if any(column.best for column in table.columns) else ""
    lines = tie_lines(scores, per_topic=per_topic) + expected_lines(scores)
    return tabular.text(replace(table, title=summary(scores) + marked, lines=lines), width=width, colour=colour)


def html_table(scores: Scores) -> str:
    """Return the table as HTML, for notebooks."""
    return tabular.html(replace(grid(scores), title=summary(scores)))


def summary(scores: Scores) -> str:
    """Say in one line how ties were ordered and what was evaluated."""
    options = scores.options
    sizes = sorted({len(block.names) for block in scores.blocks})
    topics = say("{n:,} {n:topic|topics}", n=sizes[-1])
    if len(sizes) > 1:
        topics = say("{least} to {most} topics", least=sizes[0], most=sizes[-1])
    level = options.get("rel_level")
    grades = "> 0" if level is None else f"≥ {number(f'{level:g}')}"
    ties = say("ties: {ties}", ties=", ".join(map(strategy, scores.ties)))
    parts = [ties, topics, say("relevant: grade {grades}", grades=grades)]
    parts += [say("depth {depth}", depth=options["depth"])] if options.get("depth") else []
    parts += [say("scores in single precision")] if options.get("precision") == "single" else []
    return " · ".join(parts)


def changed_by_ties(scores: Scores, *, per_topic: bool = False, exact: bool = False) -> list[TieEffect]:
    """Return the figures that ties change, largest change first, unless the strategies stand side by side.

    Figures are compared as they are printed, or `exact`; `per_topic` looks at those of single topics too.
    """
    if set(INTERVAL) <= set(scores.ties):
        return []  # the figures themselves say it
    seen = told_apart if exact or per_topic else _figures
    changed = [effect for effect in scores.tie_effects if len(set(seen(effect))) > 1]
    return sorted(changed, key=lambda effect: effect.realistic - effect.optimistic)


def tie_lines(scores: Scores, *, per_topic: bool = False, exact: bool = False) -> list[str]:
    """Say where ties change a figure, with what each strategy gives."""
    changed = changed_by_ties(scores, per_topic=per_topic, exact=exact)
    lines = [
        say(
            "ties decide {run} {measure}: {figures}",
            run=on_one_line(effect.run),
            measure=effect.measure,
            figures=", ".join(
                f"{strategy(name)} {text}" for name, text in zip(INTERVAL, told_apart(effect), strict=True)
            ),
        )
        + (say("; {n:,} {n:topic|topics} changed", n=effect.topics) if per_topic else "")
        for effect in changed[:MOST_TIE_LINES]
    ]
    return lines + more_ties(len(changed) - len(lines))


def more_ties(more: int) -> list[str]:
    """Say how many more figures ties change, if any."""
    rest = say("… and {n:,} more {n:figure|figures}; --ties all shows all of them", n=more)
    return [rest] if more else []


def expected_lines(scores: Scores) -> list[str]:
    """Say which expected values are estimates, and how good they are."""
    worst: dict[str, float] = {}
    for each in scores.expectations:
        if each["how"].startswith(SAMPLED):
            worst[each["measure"]] = max(worst.get(each["measure"], 0.0), each["standard_error"])
    samples = scores.options.get("samples")
    return [
        say(
            "expected {measure} is estimated from {samples} random orders of the ties; "
            "standard error up to {error:.2g}",
            measure=measure,
            samples=samples,
            error=error,
        )
        for measure, error in worst.items()
    ]


def _figures(effect: TieEffect) -> list[str]:
    return [value_text(effect.measure, getattr(effect, name)) for name in INTERVAL]


def told_apart(effect: TieEffect) -> list[str]:
    """Return the figures with as many digits, at least four, as it takes for values that differ to look different."""
    if _counts(effect.measure):
        return _figures(effect)
    values = [getattr(effect, name) for name in INTERVAL]
    tries = ([tabular.fixed(value, digits) for value in values] for digits in range(4, MOST_DIGITS))
    finest = [tabular.fixed(value, MOST_DIGITS) for value in values]
    return next((texts for texts in tries if len(set(texts)) == len(set(finest))), finest)


# --------------------------------------------------------------------------------------------------- data formats


def tidy(scores: Scores, *, per_topic: bool = False) -> pl.DataFrame:
    """Return what the data formats hold: the aggregates, after the topics if they are wanted."""
    return scores.to_polars() if per_topic else scores.means


def csv(scores: Scores, *, per_topic: bool = False) -> str:
    """Return `run,ties,topic,measure,value`, values at full precision."""
    return tidy(scores, per_topic=per_topic).write_csv()


def parquet(scores: Scores, *, per_topic: bool = False) -> bytes:
    """Return the same columns as Parquet."""
    buffer = io.BytesIO()
    tidy(scores, per_topic=per_topic).write_parquet(buffer)
    return buffer.getvalue()


def trec(scores: Scores, *, per_topic: bool = False) -> str:
    """Return lines as the official evaluator prints them: measure, topic, value; a `runid` line opens each run."""
    lines = []
    for block in scores.blocks:
        name = block.run if len(scores.ties) == 1 else f"{block.run} ({block.ties})"
        lines.append(f"{'runid':<22}\t{ALL}\t{on_one_line(name)}")
        means = [scores.mean(measure, run=block.run, ties=block.ties) for measure in scores.measures]
        topics = zip(block.topics, block.values.T, strict=True) if per_topic else ()
        for topic, values in (*topics, (ALL, means)):
            lines += [_trec_line(*pair, topic) for pair in zip(scores.measures, values, strict=True)]
    return "\n".join(lines) + "\n"


def _trec_line(measure: Measure, value: float, topic: str) -> str:
    text = f"{value:.0f}" if _counts(measure) else f"{value:6.4f}"
    return f"{measure.name:<22}\t{on_one_line(topic)}\t{text}"


def versions() -> dict[str, str]:
    """Return what a result was made with, for those who want to make it again."""
    return {
        "exaequo": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "polars": pl.__version__,
    }


def document(scores: Scores, *, per_topic: bool = False) -> dict[str, Any]:
    """Return everything: figures, inputs with their digests, options, versions, warnings, what ties change."""
    content: dict[str, Any] = {
        "versions": versions(),
        "options": {name: "inf" if value == math.inf else value for name, value in scores.options.items()},
        "inputs": scores.inputs,
        "measures": [
            {
                "name": measure.name,
                "aggregate": measure.aggregate,
                "higher_is_better": measure.definition.higher_is_better,
            }
            for measure in scores.measures
        ],
        "means": scores.means.drop("topic").to_dicts(),
        "ties": [
            {"run": effect.run, "measure": effect.measure.name} | {name: getattr(effect, name) for name in INTERVAL}
            for effect in scores.tie_effects
        ],
        "warnings": list(scores.warnings),
    }
    if scores.expectations:
        content["expected"] = scores.expectations
    if per_topic:
        content["topics"] = scores.topics.to_dicts()
    return content


def written(scores: Scores, format_: str, *, per_topic: bool = False) -> str | bytes:
    """Return scores in any format but JSON, which is written from the `document`."""
    if format_ in _DATA:
        return _DATA[format_](scores, per_topic=per_topic)
    return tabular.WRITERS[format_](grid(scores, per_topic=per_topic)) + "\n"


#: Formats of the tidy table; all others are those of any table.
_DATA: dict[str, Callable[..., str | bytes]] = {"csv": csv, "trec": trec, "parquet": parquet}
