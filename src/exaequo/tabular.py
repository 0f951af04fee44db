"""Tables of anything: a Polars frame in, aligned text, Markdown, LaTeX or plain rows out. Names are never trusted."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import polars as pl

from exaequo.text import on_one_line

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "τ": r"$\tau$",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    **{character: "\\" + character for character in "&%$#_{}"},
}
UNDEFINED = "undefined"


def latex_safe(text: str) -> str:
    """Write a name so that LaTeX prints it and does nothing else."""
    safe = "".join(_LATEX.get(character, character) for character in on_one_line(text))
    return "{}" + safe if safe.startswith(("[", "*")) else safe  # after a line end, LaTeX takes these for itself


def markdown_safe(text: str) -> str:
    """Write a name so that Markdown prints it and does nothing else."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&-])", r"\\\1", on_one_line(text))


def shown(value: Any, digits: int = 4) -> str:
    """Write a value for reading: numbers with so many digits, halves rounded up; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if math.isnan(value):
            return UNDEFINED
        if not math.isfinite(value) or abs(value) >= 1e15:
            return f"{value:.4g}"
        if value and abs(value) < 0.5 * 10**-digits:
            return f"{value:.1e}"
        return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return on_one_line(str(value))


def _cells(frame: pl.DataFrame, digits: dict[str, int]) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return heads, rows of text, and which columns hold numbers. A column of percentages has one digit."""
    places = [digits.get(name, 1 if name.endswith("%") else 4) for name in frame.columns]
    rows = [[shown(value, place) for value, place in zip(row, places, strict=True)] for row in frame.iter_rows()]
    return frame.columns, rows, [kind.is_numeric() for kind in frame.dtypes]


def text(frame: pl.DataFrame, *, digits: dict[str, int] | None = None) -> str:
    """Return columns aligned with blanks, numbers to the right."""
    heads, rows, numeric = _cells(frame, digits or {})
    lines = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def markdown(frame: pl.DataFrame, *, digits: dict[str, int] | None = None) -> str:
    """Return a table for Markdown."""
    heads, rows, numeric = _cells(frame, digits or {})
    rule = ["---:" if right else "---" for right in numeric]
    return _lines([heads, rule, *rows], markdown_cell, "| {} |", " | ")


def markdown_cell(cell: str) -> str:
    """Leave numbers as they are."""
    return cell if re.fullmatch(r"[-+.,:e0-9]*", cell) else markdown_safe(cell)


def html_table(frame: pl.DataFrame, *, digits: dict[str, int] | None = None) -> str:
    """Return a table for HTML; numbers have the class `n`."""
    heads, rows, numeric = _cells(frame, digits or {})
    marks = [' class="n"' if right else "" for right in numeric]

    def line(cells: list[str], tag: str) -> str:
        inner = (f"<{tag}{mark}>{html.escape(cell)}</{tag}>" for cell, mark in zip(cells, marks, strict=True))
        return f"<tr>{''.join(inner)}</tr>"

    body = "\n".join(line(row, "td") for row in rows)
    return f"<table>\n<thead>{line(heads, 'th')}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def latex(frame: pl.DataFrame, *, digits: dict[str, int] | None = None) -> str:
    """Return a table for LaTeX, with booktabs."""
    heads, rows, numeric = _cells(frame, digits or {})
    shape = "".join("r" if right else "l" for right in numeric)
    body = [_lines([line], latex_safe, "{} \\\\", " & ") for line in (heads, *rows)]
    parts = [f"\\begin{{tabular}}{{{shape}}}", "\\toprule", body[0], "\\midrule", *body[1:], "\\bottomrule"]
    return "\n".join([*parts, "\\end{tabular}"])


def _lines(lines: Iterable[list[str]], safe: Callable[[str], str], frame: str, between: str) -> str:
    return "\n".join(frame.replace("{}", between.join(map(safe, line))) for line in lines)


def rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return plain rows for JSON, where what is undefined is null."""
    return [
        {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()}
        for row in frame.to_dicts()
    ]
