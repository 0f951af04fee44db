"""What the tables of a study have in common: rows of editions, below them those of their track, and of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from exaequo.measures import parse_measure
from exaequo.scores import Scores

EDITION = ["track", "edition"]
#: What stands for all tracks, or for all editions; for the averages of editions, and for their maximum.
SUMS = ALL, PLAIN, WEIGHTED, MAXIMUM = "(all)", "(average)", "(average by runs)", "(maximum)"
#: Measures whose mean over topics is called M and their name.
_MEANS = ("AP", "RR")

Editions = Mapping[tuple[str, str], Scores]


def labelled(label: tuple[str, str], frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with track and edition before its columns."""
    return frame.select(*(pl.lit(text).alias(name) for name, text in zip(EDITION, label, strict=True)), pl.all())


def by_track(frame: pl.DataFrame) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """Yield each track with its rows, then all rows, under no name."""
    for (track,), rows in frame.group_by(["track"], maintain_order=True):
        yield str(track), rows
    yield None, frame


def with_totals(frame: pl.DataFrame, figures: Sequence[pl.Expr]) -> pl.DataFrame:
    """Return the figures of each edition, below them those of its track, and at the end those of all."""
    parts = []
    for track, rows in by_track(frame):
        if track is not None:
            parts.append(rows.group_by(EDITION, maintain_order=True).agg(figures).sort(EDITION))
        parts.append(labelled((track or ALL, ALL), rows.select(figures)))
    return pl.concat(parts)


def of_runs(measure: str) -> str:
    """Return what a measure is called where it is the mean over the topics of a run: `MAP`, `MAP@100`, `MRR`."""
    parsed = parse_measure(measure)
    return f"M{measure}" if parsed.definition.name in _MEANS and parsed.aggregate == "mean" else measure
