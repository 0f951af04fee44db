"""Names that differ between the files of a collection: names and those of the judgments in, names that agree out."""

from __future__ import annotations

from itertools import chain

import polars as pl

from exaequo.text import count, listed

#: With more judged names missing than this, the numbers of an old collection are places.
_MISSING = 0.05


def matched(
    names: pl.Series, judged: pl.Series, noun: str, *, numbered: bool
) -> tuple[pl.Series, pl.Series, list[str]]:
    """Return both with the names they share, and what was done to them.

    `01` and `1` are the same if nothing else is. In an old, `numbered` collection judgments may count documents or
    topics instead of naming them.
    """
    lacks = _missing(names, judged)
    if not lacks:
        return names, judged, []
    short, short_judged = _without_zeros(names), _without_zeros(judged)
    fewer = _missing(short, short_judged)
    remarks = []
    if len(fewer) < len(lacks) and short.n_unique() == short.len():
        zeros = next(name for name in chain(lacks, names) if name.startswith("0"))
        remarks.append(f"numbers of {noun}s have zeros before them in some files: {zeros} is {zeros.lstrip('0')}")
        names, judged, lacks = short, short_judged, fewer
    places = pl.int_range(1, names.len() + 1, eager=True).cast(pl.String).alias(names.name)
    if numbered and len(lacks) > _MISSING * judged.n_unique() and not _missing(places, short_judged):
        said = f"judgments count {noun}s instead of naming them: {noun} {names[-1]} is called {names.len()}"
        return places, short_judged, [said]
    if lacks:
        remarks.append(f"{count(len(lacks), noun)} judged but not in the collection: {listed(lacks)}")
    return names, judged, remarks


def _missing(names: pl.Series, judged: pl.Series) -> list[str]:
    once = judged.unique(maintain_order=True)
    return once.filter(~once.is_in(names.to_list())).to_list()


def _without_zeros(names: pl.Series) -> pl.Series:
    return names.str.replace(r"^0+(\d)", "$1")
