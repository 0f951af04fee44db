"""One screen that answers: sentences, a table as far as there is room, what else there is. Out: text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from exaequo import tabular
from exaequo.arrays import Floats, Ints
from exaequo.errors import BadParameter, ExaequoError
from exaequo.frames import pl
from exaequo.language import say
from exaequo.measures import Measure, parse_measure
from exaequo.tabular import Table
from exaequo.text import did_you_mean, on_one_line

#: What the order of rows can be called, besides a measure.
BY_NAME = "name"
#: Longer lines of sentences are hard to read, whatever the terminal has.
WIDEST_LINE = 100
#: A table has at least so many rows, however small the screen is; names are not shortened to fewer characters.
LEAST_ROWS, LEAST_NAME = 3, 24


@dataclass(frozen=True)
class Screen:
    """What one screen shows: sentences, a table, what its columns are and what else there is.

    `tables` are forms of one table, the fullest first: the first that fits is shown, the last in parts if none does.
    Each is about so many `things`, with a row or a few for each; `top` asks for so many of them, and `more` says what
    is left out after a number of them. What stands `aside`, above the last lines, is shown where there is room for it.
    """

    before: Sequence[str]
    tables: Sequence[Table]
    things: int
    more: Callable[[int], str]
    after: Sequence[str] = ()
    top: int | None = None
    aside: Sequence[str] = ()


def shown(screen: Screen, columns: int, lines: int, *, colour: bool = False) -> str:
    """Return the text of a screen of so many columns and lines; below the table stand its lines, what it is about."""
    many = min(screen.things, lines if screen.top is None else screen.top)
    text = _shown(screen, many, columns, colour)
    while screen.top is None and many > LEAST_ROWS and text.count("\n") >= lines:
        many -= 1
        text = _shown(screen, many, columns, colour)
    if screen.aside and text.count("\n") >= lines:
        return shown(replace(screen, aside=()), columns, lines, colour=colour)
    return text


def _shown(screen: Screen, many: int, columns: int, colour: bool) -> str:
    """Return the text of a screen with so many things in its table."""
    table, width = _fitting(screen, many, columns)
    left = [screen.more(many)] if many < screen.things else []
    written = tabular.text(replace(table, lines=()), width=width, colour=colour)
    above, below = wrapped(screen.before, columns), wrapped([*table.lines, *screen.aside, *screen.after], columns)
    parts = (above, [written, *wrapped(left, columns)], below)
    return "\n\n".join("\n".join(part) for part in parts if part)


def _fitting(screen: Screen, many: int, columns: int) -> tuple[Table, int]:
    """Return the first form of the table that fits, or the last and the width of its parts; cut to so many things.

    Where none does with its names as they are, they are shortened.
    """
    cut = [picked(each, range(many * (_rows(each) // max(screen.things, 1)))) for each in screen.tables]
    short = [narrowed(each, columns) for each in cut]
    fits = next((each for each in (*cut, *short) if _width(each) <= columns), None)
    return (short[-1], columns) if fits is None else (fits, 0)


def _rows(table: Table) -> int:
    return len(list(table.columns[0].values)) if table.columns else 0


def _width(table: Table) -> int:
    return max(map(len, tabular.text(replace(table, title="", lines=())).split("\n")))


def page(
    before: Sequence[str], tables: Mapping[str, Table], after: Sequence[str], columns: int, lines: int, more: str
) -> str:
    """Return sentences, on half of the screen at most, tables as far as there is room, and what else there is.

    `more` says where the rest of a table is: a text with the name of the table as {table}.
    """
    kept = list(before)
    while len(kept) > 1 and len(wrapped(kept, columns)) > lines // 2:
        kept.pop()
    before = kept if len(kept) == len(before) else [*kept, say("… and {n:,} more.", n=len(before) - len(kept))]
    many = min(max(map(_rows, tables.values()), default=0), lines)
    text = _page(before, tables, after, columns, many, more)
    while many > LEAST_ROWS and text.count("\n") >= lines:
        many -= 1
        text = _page(before, tables, after, columns, many, more)
    return text


def _page(
    before: Sequence[str], tables: Mapping[str, Table], after: Sequence[str], columns: int, many: int, more: str
) -> str:
    """Return the same with at most so many rows of each table."""
    parts = ["\n".join(wrapped(before, columns))]
    for name, table in tables.items():
        rows = _rows(table)
        cut = narrowed(picked(table, range(min(rows, many))), columns)
        rest = more.format(table=name)
        left = [say("… and {n:,} more; {rest} has all", n=rows - many, rest=rest)] if rows > many else []
        written = tabular.text(replace(cut, title="", lines=()), width=columns)
        parts += ["\n".join(wrapped([table.title], columns)), "\n".join([written, *left])]
        parts.append("\n".join(wrapped(table.lines, columns)))
    return "\n\n".join(filter(None, [*parts, "\n".join(wrapped(after, columns))]))


def narrowed(table: Table, columns: int) -> Table:
    """Return a table in which long names are shortened in the middle, as far as it needs to fit; they stay apart."""
    most = max((len(name) for column in table.columns for name in _names(column)), default=0)
    short = table
    while most > LEAST_NAME and _width(short) > columns:
        most -= 1
        short = replace(table, columns=[_shortened(column, most) for column in table.columns])
    return short


def _names(column: tabular.Column) -> list[str]:
    """Return the texts of a column that are names: words without blanks."""
    return [text for text in column.values if isinstance(text, str) and not column.right and " " not in text]


def _shortened(column: tabular.Column, most: int) -> tabular.Column:
    """Return a column with names of at most so many characters, or as many as tell them apart."""
    names = {*_names(column)}
    short = {name: middle(name, most) for name in names}
    while len({*short.values()}) < len(names):
        most += 1
        short = {name: middle(name, most) for name in names}
    return replace(column, values=[short.get(text, text) for text in column.values])


def middle(name: str, most: int) -> str:
    """Return a name with at most so many characters: its beginning and its end."""
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}…{name[-end:]}"


#: Blanks that no line ends at: around signs between numbers, and before %.
_TOGETHER = re.compile(r" (?=[%/<=:;])|(?<=[/<=]) ")


def wrapped(sentences: Sequence[str], columns: int) -> list[str]:
    """Return sentences as lines; none is broken inside a word, or between a number and its sign."""
    width = min(columns, WIDEST_LINE)
    lines: list[str] = []
    for each in sentences:
        text = _TOGETHER.sub("\0", on_one_line(each))
        lines += textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def picked(table: Table, rows: Sequence[int]) -> Table:
    """Return a table with these of its rows, in this order."""

    def of(column: tabular.Column) -> tabular.Column:
        values, best = list(column.values), column.best
        kept = None if best is None else [at for at, row in enumerate(rows) if row in best]
        marks = [column.marks[row] for row in rows] if column.marks else ()
        return replace(column, values=[values[row] for row in rows], best=kept, marks=marks)

    return replace(table, columns=[of(column) for column in table.columns])


def sorted_by(sort: str | None, measures: Sequence[Measure]) -> Measure | None:
    """Return the measure that rows are ranked by: the first unless one is named; None for their names."""
    if sort == BY_NAME:
        return None
    by_name = {measure.name: measure for measure in measures}
    if sort is None:
        return measures[0]
    try:
        return by_name[sort if sort in by_name else parse_measure(sort).name]
    except (KeyError, ExaequoError):
        known = [BY_NAME, *by_name]
        hint = did_you_mean(sort, known) or f": {', '.join(known)}."
        raise BadParameter(f"--sort takes {BY_NAME} or a measure that is shown. Got {sort!r}{hint}") from None


def ranks(oriented: Floats) -> Ints:
    """Return the rank of each figure, the highest first; equal ones share the best, what is undefined comes last."""
    settled = np.round(np.nan_to_num(oriented, nan=-np.inf), 12)
    return np.array([1 + int((settled > each).sum()) for each in settled], dtype=np.int64)


def settled(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Return a frame in which what is 0 but for the order of adding up is 0, in those of these columns it has."""
    there = [pl.col(name) for name in columns if name in frame.columns]
    return frame.with_columns(pl.when(each.abs() < 1e-10).then(0.0).otherwise(each).name.keep() for each in there)


def names(them: Sequence[str], most: int = 3) -> str:
    """Return names for a sentence: the first few, then how many more."""
    if len(them) > most + 1:
        return say("{names} and {n:,} more", names=", ".join(them[:most]), n=len(them) - most)
    return ", ".join(them) if len(them) < 2 else say("{names} and {last}", names=", ".join(them[:-1]), last=them[-1])
