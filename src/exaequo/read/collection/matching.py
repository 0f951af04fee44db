"""Names that differ between the files of a collection: names and those of the judgments in, names that agree out."""

from __future__ import annotations

from itertools import chain

import polars as pl

from exaequo.text import count, listed

#: With more judged names missing than this, the numbers of an old collection are places.
_MISSING = 0.05
#: The judgments of TIME count 425 documents. Up to 370 they are about the document in that place, above 377 about the
#: one two places before. In between none is judged, so that it is nothing to scores where exactly the two are missing.
_TIME_DOCUMENTS, _TIME_GAP = 423, 374


def matched(
    names: pl.Series, judged: pl.Series, noun: str, places: pl.Series | None
) -> tuple[pl.Series, pl.Series, list[str]]:
    """Return both with the names they share, and what was done to them.

    `01` and `1` are the same if nothing else is. In an old collection judgments may count documents or topics instead
    of naming them: `places` are the numbers they have then.
    """
    lacks = _missing(names, judged)
    if not lacks:
        return names, judged, []
    short, short_judged = _without_zeros(names), _without_zeros(judged)
    counted = len(_missing(short, short_judged)) > _MISSING * judged.n_unique()
    if places is not None and counted and not _missing(places, short_judged):
        remarks = [f"judgments count {noun}s instead of naming them: {noun} {names[-1]} is called {places[-1]}"]
        if places[-1] != str(places.len()):
            remarks.append(f"judgments count two {noun}s that are not there, near the {_TIME_GAP}th")
        return places.alias(names.name), short_judged, remarks
    remarks = []
    if len(_missing(short, short_judged)) < len(lacks) and short.n_unique() == short.len():
        zeros = next(name for name in chain(lacks, names) if name.startswith("0"))
        remarks.append(f"numbers of {noun}s have zeros before them in some files: {zeros} is {zeros.lstrip('0') or 0}")
        names, judged, lacks = short, short_judged, _missing(short, short_judged)
    if lacks:
        remarks.append(f"{count(len(lacks), noun)} judged but not in the collection: {listed(lacks)}")
    return names, judged, remarks


def numbers(size: int, judged: pl.Series, *, time: bool) -> pl.Series:
    """Return the numbers of so many documents or topics; those of `time` leave out two documents it does not have."""
    highest = judged.str.to_integer(strict=False).max()
    gap = _TIME_GAP if time and size == _TIME_DOCUMENTS and highest == size + 2 else size
    return pl.Series([str(place + 2 * (place > gap)) for place in range(1, size + 1)], dtype=pl.String)


def _missing(names: pl.Series, judged: pl.Series) -> list[str]:
    once = judged.unique(maintain_order=True)
    return once.filter(~once.is_in(names.to_list())).to_list()


def _without_zeros(names: pl.Series) -> pl.Series:
    return names.str.replace(r"^0+(\d)", "$1")
