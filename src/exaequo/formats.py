"""Showing scores: one small writer per format, `Scores` in, text or bytes out. Names are data and never trusted."""

from __future__ import annotations

import html
import io
import json
import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import polars as pl

import exaequo
from exaequo.choices import INTERVAL
from exaequo.expected import SAMPLED
from exaequo.measures import Measure
from exaequo.scores import ALL, Scores, TieEffect
from exaequo.tabular import latex_safe, markdown_safe
from exaequo.text import count, on_one_line

JSON_FORMAT = 1
#: How many lines about ties a table shows before it says how many more there are.
MOST_TIE_LINES = 12


@dataclass(frozen=True)
class Cell:
    """One figure of a table as text, and whether it is the best of its column."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Grid:
    """A table before it is written: what stands left of the figures, the columns, and the figures."""

    stub: list[str]
    columns: list[tuple[str, str]]
    rows: list[tuple[list[str], list[Cell]]]
    n_ties: int

    @property
    def heads(self) -> list[str]:
        """One line above each column."""
        measures = [measure if self.n_ties == 1 else f"{measure} {ties}" for measure, ties in self.columns]
        return [*self.stub, *measures]


def figure(measure: Measure, value: float) -> str:
    """Write a value for reading: counts whole, all else with four digits, halves rounded up."""
    if math.isnan(value):
        return "undefined"
    if measure.definition.aggregate == "sum" and measure.aggregate == "sum":
        return f"{value:,.0f}"
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:.4g}"
    return str(Decimal(value).quantize(Decimal("0.0001"), ROUND_HALF_UP))


def grid(scores: Scores, *, per_topic: bool = False) -> Grid:
    """Arrange runs as rows, measures as columns, strategies side by side."""
    columns = [(measure.name, ties) for measure in scores.measures for ties in scores.ties]
    block_of = {(block.run, block.ties): block for block in scores.blocks}
    best = _best(scores)
    rows: list[tuple[list[str], list[Cell]]] = []
    for run in scores.runs:
        blocks = [block_of[run, ties] for ties in scores.ties]
        if per_topic:
            for at, topic in enumerate(blocks[0].topics):
                cells = [
                    Cell(figure(measure, block.values[row, at]))
                    for row, measure in enumerate(scores.measures)
                    for block in blocks
                ]
                rows.append(([run, topic], cells))
        cells = []
        for measure in scores.measures:
            for ties in scores.ties:
                value = scores.mean(measure, run=run, ties=ties)
                cells.append(Cell(figure(measure, value), best.get((measure.name, ties)) == figure(measure, value)))
        rows.append(([run, ALL] if per_topic else [run], cells))
    return Grid(["run", "topic"] if per_topic else ["run"], columns, rows, len(scores.ties))


def _best(scores: Scores) -> dict[tuple[str, str], str]:
    """Return the best figure of each column, as it is printed; none where there is one run, or for counts."""
    best: dict[tuple[str, str], str] = {}
    if len(scores.runs) < 2:
        return best
    for measure in scores.measures:
        if measure.aggregate == "sum":
            continue
        choose: Callable[[list[float]], float] = max if measure.definition.higher_is_better else min
        for ties in scores.ties:
            values = [scores.mean(measure, run=run, ties=ties) for run in scores.runs]
            defined = [value for value in values if not math.isnan(value)]
            if defined:
                best[measure.name, ties] = figure(measure, choose(defined))
    return best


# ---------------------------------------------------------------------------------------------------------- text


def text_table(scores: Scores, *, per_topic: bool = False, width: int = 0, colour: bool = False) -> str:
    """Return the table for reading, with what was done above it and what ties change below."""
    table = grid(scores, per_topic=per_topic)
    heads = [[measure, ties] if table.n_ties > 1 else [measure] for measure, ties in table.columns]
    lines = [summary(scores), ""]
    for part in _fitting(table, heads, width):
        lines += _text_part(table, heads, part, colour)
        lines.append("")
    about_ties = tie_lines(scores, per_topic=per_topic) + expected_lines(scores)
    lines += [*about_ties, ""] if about_ties else []
    return "\n".join(lines[:-1])


def summary(scores: Scores) -> str:
    """Say in one line how ties were ordered and what was evaluated."""
    options = scores.options
    sizes = sorted({len(block.topics) for block in scores.blocks})
    topics = count(sizes[-1], "topic") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} topics"
    level = options.get("rel_level")
    parts = [
        f"ties: {', '.join(scores.ties)}",
        topics,
        f"relevant: grade {'> 0' if level is None else f'≥ {level:g}'}",
    ]
    parts += [f"depth {options['depth']}"] if options.get("depth") else []
    parts += ["scores in single precision"] if options.get("precision") == "single" else []
    parts += ["* best of its column"] if _best(scores) else []
    return " · ".join(parts)


def tie_lines(scores: Scores, *, per_topic: bool = False, exact: bool = False) -> list[str]:
    """Say where ties change a printed figure, with what each strategy gives, largest change first.

    Figures are compared as they are printed, or `exact`; `per_topic` looks at those of single topics too.
    """
    if set(INTERVAL) <= set(scores.ties):
        return []  # the figures themselves say it
    changed = [
        effect
        for effect in scores.tie_effects
        if exact or len(set(_figures(effect))) > 1 or (per_topic and effect.topics)
    ]
    changed.sort(key=lambda effect: effect.realistic - effect.optimistic)
    lines = [
        f"ties decide {on_one_line(effect.run)} {effect.measure}: "
        + ", ".join(f"{name} {text}" for name, text in zip(INTERVAL, _figures(effect), strict=True))
        + (f"; {count(effect.topics, 'topic')} changed" if per_topic else "")
        for effect in changed[:MOST_TIE_LINES]
    ]
    more = len(changed) - len(lines)
    return [*lines, f"… and {count(more, 'more figure')}; --ties all shows all of them"] if more else lines


def expected_lines(scores: Scores) -> list[str]:
    """Say which expected values are estimates, and how good they are."""
    worst: dict[str, float] = {}
    for each in scores.expectations:
        if each["how"].startswith(SAMPLED):
            worst[each["measure"]] = max(worst.get(each["measure"], 0.0), each["standard_error"])
    samples = scores.options.get("samples")
    return [
        f"expected {measure} is estimated from {samples} random orders of the ties; standard error up to {error:.2g}"
        for measure, error in worst.items()
    ]


def _figures(effect: TieEffect) -> list[str]:
    return [figure(effect.measure, getattr(effect, name)) for name in INTERVAL]


def _fitting(table: Grid, heads: list[list[str]], width: int) -> list[range]:
    """Break the columns into parts that fit the width, never between the strategies of one measure."""
    if not width:
        return [range(len(heads))]
    stub = sum(max(len(on_one_line(row[0][i])) for row in table.rows) + 2 for i in range(len(table.stub)))
    parts, used = [range(0)], stub
    for start in range(0, len(heads), table.n_ties):
        group = range(start, start + table.n_ties)
        wide = sum(_column_width(table, heads, at) + 2 for at in group)
        if parts[-1] and used + wide > width:
            parts.append(range(start, start))
            used = stub
        parts[-1] = range(parts[-1].start, group.stop)
        used += wide
    return parts


def _column_width(table: Grid, heads: list[list[str]], at: int) -> int:
    return max([len(line) + 1 for line in heads[at]] + [len(row[1][at].text) + 1 for row in table.rows])


def _text_part(table: Grid, heads: list[list[str]], part: range, colour: bool) -> list[str]:
    stubs = [[on_one_line(name) for name in row[0]] for row in table.rows]
    stub_widths = [max(map(len, [table.stub[i], *(names[i] for names in stubs)])) for i in range(len(table.stub))]
    widths = {at: _column_width(table, heads, at) for at in part}
    lines = []
    for level in range(2 if table.n_ties > 1 else 1):
        left = table.stub if level == 0 else [""] * len(table.stub)
        cells = {at: heads[at][level] if level or at % table.n_ties == 0 else "" for at in part}
        lines.append(_line(left, stub_widths, [f"{cell:>{widths[at] - 1}} " for at, cell in cells.items()]))
    for names, (_, row) in zip(stubs, table.rows, strict=True):
        figures = [_text_cell(row[at], widths[at], colour) for at in part]
        lines.append(_line(names, stub_widths, figures))
    return lines


def _line(left: Sequence[str], widths: Sequence[int], right: Sequence[str]) -> str:
    stub = "  ".join(name.ljust(width) for name, width in zip(left, widths, strict=True))
    return "  ".join([stub, *right]).rstrip()


def _text_cell(cell: Cell, width: int, colour: bool) -> str:
    text = (cell.text + ("*" if cell.best else " ")).rjust(width)
    return f"\x1b[1m{text}\x1b[0m" if cell.best and colour else text


# ------------------------------------------------------------------------------------------- marked-up documents


def html_table(scores: Scores, *, per_topic: bool = False) -> str:
    """Return the table as HTML, for notebooks."""
    table = grid(scores, per_topic=per_topic)
    head = [
        *table.stub,
        *(measure if table.n_ties == 1 else f"{measure} {ties}" for measure, ties in table.columns),
    ]
    rows = [
        "".join(f"<th>{html.escape(name)}</th>" for name in names)
        + "".join(f"<td>{'<b>' if c.best else ''}{c.text}{'</b>' if c.best else ''}</td>" for c in cells)
        for names, cells in table.rows
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    caption = html.escape(summary(scores).replace(" · * best of its column", ""))
    return f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def markdown(scores: Scores, *, per_topic: bool = False) -> str:
    """Return a Markdown table, best values bold."""
    table = grid(scores, per_topic=per_topic)
    head = [
        *table.stub,
        *(measure if table.n_ties == 1 else f"{measure} {ties}" for measure, ties in table.columns),
    ]
    head = [name.replace("|", "\\|") for name in head]
    lines = [head, ["---"] * len(table.stub) + ["---:"] * len(table.columns)]
    lines += [
        [markdown_safe(name) for name in names] + [f"**{c.text}**" if c.best else c.text for c in cells]
        for names, cells in table.rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def latex(scores: Scores, *, per_topic: bool = False) -> str:
    """Return a LaTeX tabular (booktabs), best values bold."""
    table = grid(scores, per_topic=per_topic)
    lines = [r"\begin{tabular}{" + "l" * len(table.stub) + "r" * len(table.columns) + "}", r"\toprule"]
    measures = [latex_safe(measure) for measure, _ in table.columns[:: table.n_ties]]
    if table.n_ties > 1:
        spans = [rf"\multicolumn{{{table.n_ties}}}{{c}}{{{measure}}}" for measure in measures]
        lines.append(" & ".join([*([""] * len(table.stub)), *spans]) + r" \\")
        lines.append(" & ".join([*table.stub, *(ties for _, ties in table.columns)]) + r" \\")
    else:
        lines.append(" & ".join([*table.stub, *measures]) + r" \\")
    lines.append(r"\midrule")
    for names, cells in table.rows:
        figures = [rf"\textbf{{{cell.text}}}" if cell.best else cell.text for cell in cells]
        lines.append(" & ".join([*map(latex_safe, names), *figures]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


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
        if per_topic:
            for at, topic in enumerate(block.topics):
                pairs = zip(scores.measures, block.values[:, at], strict=True)
                lines += [_trec_line(measure, topic, value) for measure, value in pairs]
        lines += [
            _trec_line(measure, ALL, scores.mean(measure, run=block.run, ties=block.ties))
            for measure in scores.measures
        ]
    return "\n".join(lines) + "\n"


def _trec_line(measure: Measure, topic: str, value: float) -> str:
    counts = measure.definition.aggregate == "sum" and measure.aggregate == "sum"
    text = f"{value:.0f}" if counts else f"{value:6.4f}"
    return f"{measure.name:<22}\t{on_one_line(topic)}\t{text}"


def as_json(scores: Scores, *, per_topic: bool = False) -> str:
    """Return everything: figures, inputs with their digests, options, versions, warnings, what ties change."""
    document: dict[str, Any] = {
        "format": JSON_FORMAT,
        "versions": {
            "exaequo": exaequo.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "polars": pl.__version__,
        },
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
        document["expected"] = scores.expectations
    if per_topic:
        document["topics"] = scores.topics.to_dicts()
    return json.dumps(without_nan(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def without_nan(value: Any) -> Any:
    """JSON has no NaN: what is undefined is null."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


#: Formats other than `table`, which needs to know about the terminal.
WRITERS: dict[str, Callable[..., str | bytes]] = {
    "csv": csv,
    "json": as_json,
    "markdown": markdown,
    "latex": latex,
    "trec": trec,
    "parquet": parquet,
}
