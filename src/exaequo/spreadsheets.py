"""Spreadsheets: names that they would take for formulas. In: a frame. Out: CSV where all names are text.

CSV holds names as they are: it is for programs, which read the same names again. A spreadsheet computes a cell that
begins with =, +, - or @, and a name such as `=HYPERLINK(…)` comes from a stranger.
"""

from __future__ import annotations

from exaequo.frames import pl
from exaequo.text import count, listed

#: What a spreadsheet computes, wide letters too, or drops to see the rest; a sign alone is one.
_BEGINS = r"(?s)^'*(?:[=+\-@＝＋－＠].|[\t\r\n])"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def as_text(frame: pl.DataFrame) -> str:
    """Return CSV for people: texts in quotes, and an apostrophe before what would be a formula.

    Those that begin with apostrophes and such a sign get one more, so that taking one away gives the names again.
    """
    texts = frame.select(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String))
    marked = [_marked(column) for column in texts]
    heads = dict(zip(frame.columns, _marked(pl.Series(frame.columns, dtype=pl.String)), strict=True))
    return frame.with_columns(marked).rename(heads).write_csv(quote_style="non_numeric")


def _computed(names: pl.Series) -> pl.Series:
    """Tell which texts a spreadsheet would compute; numbers are what they look like."""
    return (names.str.contains(_BEGINS) & ~names.str.contains(_NUMBER)).fill_null(value=False)


def _marked(names: pl.Series) -> pl.Series:
    return pl.select(pl.when(_computed(names)).then("'" + names).otherwise(names).alias(names.name)).to_series()


def formulas(*frames: pl.DataFrame) -> list[str]:
    """Return a warning about names that a spreadsheet would compute, none if there are none."""
    found: dict[str, None] = {}
    for frame in frames:
        texts = frame.select(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String))
        for column in (pl.Series(frame.columns, dtype=pl.String), *texts):
            found |= dict.fromkeys(column.filter(_computed(column)).unique(maintain_order=True))
    names = listed([repr(each) for each in found], 3)
    what = f"{count(len(found), 'name')} a spreadsheet would compute: {names}. Import the columns as text"
    return [what] if found else []
