"""Tables of anything: a titled table in, aligned text, Markdown, LaTeX, HTML, CSV or rows out. Names are never trusted.

An output format is one function from a `Table` to text, and its line in `WRITERS`.
"""

from __future__ import annotations

import html as markup
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby, zip_longest
from typing import Any, ClassVar

from exaequo.choices import COMPARED
from exaequo.frames import pl
from exaequo.language import number, say, strategy, word
from exaequo.text import on_one_line

UNDEFINED = "undefined"
#: Rows, and sentences, that a notebook shows.
_MOST = 16
_SIGNS = "less greater bar backslash asciitilde asciicircum"
_LATEX = {
    **{sign: rf"$\{name}$" for sign, name in zip("τΔκαηω", "tau Delta kappa alpha eta omega".split(), strict=True)},
    **{sign: rf"\text{name}{{}}" for sign, name in zip("<>|\\~^", _SIGNS.split(), strict=True)},
    **dict(zip("²▲▼", (r"$^2$", r"$\blacktriangle$", r"$\blacktriangledown$"), strict=True)),
    **{character: "\\" + character for character in "&%$#_{}"},
}
#: Columns that readers know under another name than that in programs.
_HEADS = {
    "alpha_nominal": "α nominal",
    "alpha_ordinal": "α ordinal",
    "area_of_worst_quarter": "area of the worst quarter",
    "best_f": "best F",
    "best_f_at": "F at",
    "best_score": "its score",
    "best_utility_at": "utility at",
    "break_even": "break-even",
    "c_over_r_percent": "C over R %",
    "chance_error": "give or take",
    "chosen_F": "chosen F",
    "delta_ri": "ΔRI",
    "eleven_points": "11 points",
    "eta2": "η²",
    "f": "F",
    "f_p": "p of F",
    "f_test": "F-test",
    "f_optimal": "F_optimal",
    "f_optimal_at": "grid at",
    "first_conventional": "1/RR_C",
    "first_optimistic": "1/RR_O",
    "first_realistic": "1/RR_R",
    "friedman_p": "p of Friedman",
    "gm_ap": "gm(AP)",
    "kappa_grades": "κ grades",
    "kappa_linear": "κ linear",
    "kappa_quadratic": "κ quadratic",
    "kappa_relevant": "κ relevant",
    "least_tau": "least τ-b",
    "noticeable": "5 % rule",
    "nrmse": "nRMSE",
    "omega2": "ω²",
    "o_over_c_percent": "O over C %",
    "o_over_r_percent": "O over R %",
    "primad": "PRIMAD",
    "qid": "topic",
    "rbo": "RBO",
    "rbo_ties": "RBO ties",
    "ri": "RI",
    "ri_reproduced": "RI reproduced",
    "rmse": "RMSE",
    "tau": "τ",
    "tau_ap": "τ_AP",
    "tau_b": "τ-b",
    "topic_tau_b": "τ-b in topics",
    "t_test": "t-test",
    "w": "W",
    "window_F": "window F",
    "window_T9P": "window T9P",
    "worst_score": "its own",
    **{f"tau_{pair}": f"τ {pair.upper()}" for pair in ("rc", "ro", "co")},
    **{f"p_{pair}": f"p {pair.upper()}" for pair in ("rc", "ro", "co")},
}
#: A column may be about a measure, whose name stands between these, or about a rank.
_PARTS = re.compile(rf"(tau_)?(.*?)(_percent|(?<=[a-z])_\d+|_(?:{'|'.join(COMPARED)}))?", re.DOTALL)
#: Columns whose texts are words of ours, not names.
_WORDS = ("outcome", "mark", "how", "between", "source", "what", "kind")


class Tabled:
    """A result made of tables: those of its fields that are frames.

    A notebook shows its `sentences`, if it has any, and of its tables those `shown`: "name", or "name: column column".
    """

    shown: ClassVar[Sequence[str]] = ()

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, pl.DataFrame)}

    def __repr__(self) -> str:
        sizes = (f"{name} {frame.height:,} × {frame.width}" for name, frame in self.tables.items() if frame.width)
        return f"<{type(self).__name__}: {', '.join(sizes)}>"

    def _repr_html_(self) -> str:
        said, tables = getattr(self, "sentences", []), self.tables
        parts = [Table(lines=[*said[:_MOST], *_more(len(said))])]
        for name, _, columns in (each.partition(": ") for each in self.shown):
            frame = tables.get(name, pl.DataFrame())
            frame = frame.select(each for each in columns.split() or frame.columns if each in frame.columns)
            if frame.height:
                parts.append(replace(Table.of(frame.head(_MOST), head(name)), lines=_more(frame.height)))
        return "\n".join(map(html, parts))


def _more(count: int) -> list[str]:
    return [say("… and {n:,} more.", n=count - _MOST)] if count > _MOST else []


@dataclass(frozen=True)
class Column:
    """A column: what stands above it, its values, and how to write them.

    Neighbours of one `group` share a head. `best` are the rows with the best value, None where there is no such thing;
    `marks` are raised beside the values.
    """

    head: str
    values: Iterable[Any]
    right: bool = True
    digits: int = 4
    group: str = ""
    best: Collection[int] | None = None
    marks: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """A table with its title and the sentences below it; any of them may be missing. Programs read the `frame`."""

    title: str = ""
    columns: Sequence[Column] = ()
    lines: Sequence[str] = ()
    data: pl.DataFrame | None = None

    @property
    def frame(self) -> pl.DataFrame:
        """What programs read; empty where people alone read the table."""
        return pl.DataFrame() if self.data is None else self.data

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        title: str = "",
        *,
        brief: pl.DataFrame | None = None,
        digits: Mapping[str, int] | None = None,
        names: Collection[str] = (),
    ) -> Table:
        """Return the table of a frame. People read the `brief` one, with its columns in words, except for `names`."""
        columns = []
        for column in frame if brief is None else brief:
            above = head(column.name, names)
            places = (digits or {}).get(column.name, 1 if above.endswith("%") else 4)
            ours = column.name in _WORDS and column.dtype == pl.String
            values = [text and word(text) for text in column] if ours else column
            columns.append(Column(above, values, column.dtype.is_numeric(), places))
        return cls(title, columns, data=frame)

    def whole(self, rows: Sequence[bool]) -> Table:
        """Return the same, but in these rows numbers that are whole, other than percent, are written as such."""

        def written(column: Column) -> Iterator[Any]:
            for value, count in zip(column.values, rows, strict=True):
                yield int(value) if count and isinstance(value, float) and value.is_integer() else value

        columns = [
            each if each.head.endswith("%") else replace(each, values=list(written(each))) for each in self.columns
        ]
        return replace(self, columns=columns)

    @property
    def heads(self) -> list[str]:
        """One line above each column."""
        return [f"{column.group} {column.head}" if column.group else column.head for column in self.columns]


def head(column: str, names: Collection[str] = ()) -> str:
    """Return what stands above a column: its name in words. Names of measures stay: those given, or not snake_case."""
    if column in names:
        return column
    if column in _HEADS:
        return word(_HEADS[column])
    parts = _PARTS.fullmatch(column)
    before, name, after = parts.groups("") if parts else ("", column, "")
    if name not in names and re.fullmatch("[a-z0-9_]+", name):
        name = strategy(name) if name in COMPARED else word(name.replace("_", " "))
    end = word(" %") if after == "_percent" else f" {strategy(after[1:])}" if after else ""
    return before.replace("tau_", "τ ") + name + end


def cell_text(value: Any, digits: int = 4) -> str:
    """Write a value for reading: numbers with so many digits, halves rounded up; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return word("yes") if value else word("no")
    if isinstance(value, int):
        return number(f"{value:,}")
    if isinstance(value, float):
        return number(f"{value:.1e}") if 0 < abs(value) < 0.5 * 10**-digits else fixed(value, digits)
    return on_one_line(str(value))


def fixed(value: float, digits: int = 4) -> str:
    """Write a number with so many digits, halves rounded up; those that are too large, with four in all."""
    if math.isnan(value):
        return word(UNDEFINED)
    return number(rounded(value, digits))


def rounded(value: float, digits: int = 4) -> str:
    """Write the same as Python does, whatever the language."""
    if abs(value) >= 1e15:
        return f"{value:.4g}"
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _cells(
    column: Column, safe: Callable[[str], str], bold: Callable[[str], str], raised: Callable[[str], str]
) -> list[str]:
    """Return the cells of a column as text of a format."""
    cells = [safe(cell_text(value, column.digits)) for value in column.values]
    for row in column.best or ():
        cells[row] = bold(cells[row])
    return [cell + (raised(safe(mark)) if mark else "") for cell, mark in zip_longest(cells, column.marks)]


def _neighbours(columns: Sequence[Column]) -> Iterator[list[int]]:
    """Go through columns, those of one group together."""
    for _, block in groupby(range(len(columns)), key=lambda at: columns[at].group or at):
        yield list(block)


def text(table: Table, *, width: int = 0, colour: bool = False) -> str:
    """Return columns aligned with blanks, numbers to the right, * after the best; in parts if a `width` says so."""
    levels = 2 if any(column.group for column in table.columns) else 1
    blocks = [[table.columns[at] for at in block] for block in _neighbours(table.columns)]
    lines = [_grouped([_aligned(each, levels, colour) for each in block], block[0]) for block in blocks]
    parts = _parts([block[0].right for block in blocks], lines, width)
    written = [
        "\n".join("  ".join(row).rstrip() for row in zip(*(lines[at] for at in part), strict=True)) for part in parts
    ]
    said = "\n".join(map(on_one_line, table.lines))
    return "\n\n".join(filter(None, [on_one_line(table.title), *written, said]))


def _aligned(column: Column, levels: int, colour: bool) -> list[str]:
    """Return heads and cells of a column, all of one width; nothing yet above what is one of a group."""
    best, room = set(column.best or ()), "" if column.best is None else " "
    heads = ["", column.head] if column.group else [column.head, ""][:levels]
    cells = [cell_text(value, column.digits) for value in column.values]
    cells = [cell + ("*" if row in best else room) for row, cell in enumerate(cells)]
    marked = [f"{cell} {mark}" if mark else cell for cell, mark in zip_longest(cells, map(on_one_line, column.marks))]
    lines = [*(on_one_line(each) + room for each in heads), *marked]
    width = max(map(len, lines))
    lines = [line.rjust(width) if column.right else line.ljust(width) for line in lines]
    for row in best if colour else ():
        lines[levels + row] = f"\x1b[1m{lines[levels + row]}\x1b[0m"
    return lines


def _grouped(block: Sequence[list[str]], first: Column) -> list[str]:
    """Return columns side by side, the name of their group above the first, or over as many as it takes."""
    lines = list(map("  ".join, zip(*block, strict=True)))
    if first.group:
        name = on_one_line(first.group) + ("" if first.best is None else " ")
        wider = " " * max(len(name) - len(lines[1]), 0)
        lines = [name.rjust(len(block[0][1])).ljust(len(lines[1])), *(wider + line for line in lines[1:])]
    return lines


def _parts(right: Sequence[bool], lines: Sequence[list[str]], width: int) -> list[list[int]]:
    """Return which columns stand side by side: the first names always, groups whole, of the others as many as fit."""
    begin = next((at for at, figures in enumerate(right) if not figures), 0)
    end = next((at for at, figures in enumerate(right) if figures and at > begin), len(right))
    left = list(range(begin, end)) if not all(right) else []
    used = stub = sum(len(lines[at][0]) + 2 for at in left)
    parts: list[list[int]] = [[]]
    for at in (each for each in range(len(right)) if each not in left):
        wide = len(lines[at][0]) + 2
        if width and parts[-1] and used + wide - 2 > width:
            parts.append([])
            used = stub
        parts[-1].append(at)
        used += wide
    return [sorted(left + part) for part in parts]


def markdown(table: Table) -> str:
    """Return a table for Markdown, the best bold; several sentences are a list."""
    columns = [_cells(each, markdown_cell, "**{}**".format, "<sup>{}</sup>".format) for each in table.columns]
    rule = ["---:" if column.right else "---" for column in table.columns]
    rows = [list(map(markdown_cell, table.heads)), rule, *zip(*columns, strict=True)] if columns else []
    said = [_SPEAKING.sub(r"\\\g<0>", on_one_line(line)) for line in (table.title, *table.lines)]
    lines = [f"- {line}" for line in said[1:]] if len(said) > 2 else said[1:]
    written = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return "\n\n".join(filter(None, [said[0] and f"## {said[0]}", written, "\n".join(lines)]))


#: What means something to Markdown within a sentence; a star before a blank does not.
_SPEAKING = re.compile(r"[\\`_<>|\[\]&~]|\*(?! )")


def markdown_cell(cell: str) -> str:
    """Leave numbers as they are."""
    return cell if re.fullmatch(r"[-+.,:e0-9\u00a0]*", cell) else markdown_safe(cell)


def markdown_safe(text: str) -> str:
    """Write a name so that Markdown prints it and does nothing else."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&-])", r"\\\1", on_one_line(text))


def latex(table: Table) -> str:
    """Return a table for LaTeX, with booktabs, the best bold; title and sentences are comments."""

    def line(cells: Iterable[str]) -> str:
        return " & ".join(cells) + r" \\"

    said = [f"% {on_one_line(each)}" for each in table.lines]
    title = [f"% {on_one_line(table.title)}"] if table.title else []
    if not table.columns:
        return "\n".join([*title, *said])
    blocks = [(table.columns[block[0]].group, len(block)) for block in _neighbours(table.columns)]
    groups = [rf"\multicolumn{{{size}}}{{c}}{{{latex_safe(group)}}}" if group else "" for group, size in blocks]
    heads = [latex_safe(column.head) for column in table.columns]
    columns = [_cells(each, latex_safe, r"\textbf{{{}}}".format, _raised_in_latex) for each in table.columns]
    shape = "".join("r" if column.right else "l" for column in table.columns)
    above = [line(groups)] if any(groups) else []
    parts = [*title, rf"\begin{{tabular}}{{{shape}}}", r"\toprule", *above, line(heads), r"\midrule"]
    parts += [*map(line, zip(*columns, strict=True)), r"\bottomrule", r"\end{tabular}", *said]
    return "\n".join(parts)


def _raised_in_latex(mark: str) -> str:
    return f"$^{{{mark.strip('$')}}}$"  # signs bring the $ of mathematics along


def latex_safe(text: str) -> str:
    """Write a name so that LaTeX prints it and does nothing else."""
    safe = "".join(_LATEX.get(character, character) for character in on_one_line(text))
    return "{}" + safe if safe.startswith(("[", "*")) else safe  # after a line end, LaTeX takes these for itself


def html(table: Table) -> str:
    """Return a table for HTML, the best bold; numbers have the class `n`."""
    marks = [' class="n"' if column.right else "" for column in table.columns]

    def line(cells: Iterable[str], tag: str) -> str:
        inner = (f"<{tag}{mark}>{cell}</{tag}>" for cell, mark in zip(cells, marks, strict=True))
        return f"<tr>{''.join(inner)}</tr>"

    columns = [_cells(each, markup.escape, "<b>{}</b>".format, "<sup>{}</sup>".format) for each in table.columns]
    heads = line(map(markup.escape, map(on_one_line, table.heads)), "th")
    body = [line(row, "td") for row in zip(*columns, strict=True)]
    title = [f"<caption>{markup.escape(on_one_line(table.title))}</caption>"] if table.title else []
    whole = ["<table>", *title, f"<thead>{heads}</thead>", "<tbody>", *body, "</tbody>", "</table>"]
    said = [f"<p>{markup.escape(on_one_line(each))}</p>" for each in table.lines]
    return "\n".join([*(whole if columns else ()), *said])


def csv(table: Table) -> str:
    """Return the frame of a table, values at full precision."""
    return table.frame.write_csv().removesuffix("\n")


def rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return plain rows for JSON, where what is undefined is null."""
    return [plain(row) for row in frame.to_dicts()]


def plain(value: Any) -> Any:
    """Return data as JSON can hold them: what is not finite is null."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


#: A function for each format. JSON is no table but a document; its tables are `rows`.
WRITERS: dict[str, Callable[..., str]]
WRITERS = {"table": text, "csv": csv, "markdown": markdown, "latex": latex, "html": html}
