"""Intervals of each source, and together: from values per topic to a frame. In: `Ends` under each judge. Out: rows.

Ties and unjudged documents have worst cases; topics are drawn. Together: topics are drawn once (a bootstrap of
percentiles), and each brings its worst cases along. The interval goes from where the means of the least values begin
to where the means of the greatest end, so whatever the order of ties and whatever unjudged documents are, it covers as
often as the bootstrap of a plain mean does. Of several judges, it reaches as far as that of any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Floats
from exaequo.budgeting.ends import Ends
from exaequo.measures import Measure
from exaequo.stats.tests import Setting, bootstrap_interval, t_interval

TIES, UNJUDGED, JUDGES, TOPICS, TOGETHER = "tied", "unjudged", "judges", "topics", "together"
SOURCES = (TIES, UNJUDGED, JUDGES, TOPICS)
BOOTSTRAP, RANGE = "bootstrap", "range"
_FIGURES = ("low", "high", "width", "t_low", "t_high", "estimate", "reached_low", "reached_high")
SCHEMA = {"source": pl.String, "score": pl.Float64, **dict.fromkeys(_FIGURES, pl.Float64), "how": pl.String}


@dataclass(frozen=True)
class Drawing:
    """How topics are drawn."""

    alpha: float
    setting: Setting


@dataclass(frozen=True, eq=False)
class Drawn:
    """What one judge leaves of rows of values: means, their intervals over topics, and those of the worst cases."""

    score: Floats
    topics: Floats
    student: Floats
    together: Floats
    wide_student: Floats


def drawn(rows: Sequence[Ends], drawing: Drawing) -> Drawn:
    """Draw topics for rows of one measure; topics without a value are left out of a row."""
    score, low, high = (np.stack(each) for each in zip(*((row.score, *row.both) for row in rows), strict=True))
    stacked = np.concatenate((score, low, high))
    stacked = np.where(np.tile(np.isnan(score + low + high), (3, 1)), np.nan, stacked)
    means, ends, student = np.nanmean(stacked, axis=1), np.empty((2, len(stacked))), np.empty((2, len(stacked)))
    known = ~np.isnan(stacked)
    patterns, of = np.unique(known, axis=0, return_inverse=True)
    for at, pattern in enumerate(patterns):
        own = np.flatnonzero(of.ravel() == at)
        values = stacked[own][:, pattern]
        ends[:, own] = bootstrap_interval(values, 1 - drawing.alpha, drawing.setting, corrected=False)
        student[:, own] = t_interval(values, 1 - drawing.alpha)
    size = len(rows)
    least, greatest = slice(size, 2 * size), slice(2 * size, None)
    return Drawn(
        score=means[:size],
        topics=ends[:, :size],
        student=student[:, :size],
        together=np.stack((np.minimum(ends[0, least], means[least]), np.maximum(ends[1, greatest], means[greatest]))),
        wide_student=np.stack((student[0, least], student[1, greatest])),
    )


def interval_rows(
    judges: Sequence[Sequence[Ends]], measure: Measure, drawing: Drawing, limits: tuple[float, float]
) -> Iterator[list[dict[str, Any]]]:
    """Yield for each run or pair its rows, a source each; the first judge is the one by whom scores stand."""
    found = [drawn(rows, drawing) for rows in judges]
    first = found[0]
    for at, row in enumerate(judges[0]):
        known = ~np.isnan(row.score + row.both.sum(axis=0))
        factor = int(known.sum()) if measure.aggregate == "sum" else 1
        scores = [each.score[at] for each in found]
        together = np.stack([each.together[:, at] for each in found])
        t = np.stack([each.wide_student[:, at] for each in found])
        reached = [None, None] if row.reached is None else row.reached[:, known].mean(axis=1)
        rows: dict[str, dict[str, Any]] = {
            TIES: _ends(row.ties[:, known].mean(axis=1), row.how[0]),
            UNJUDGED: _ends(row.unjudged[:, known].mean(axis=1), row.how[1])
            | {"estimate": row.estimate[known].mean(), "reached_low": reached[0], "reached_high": reached[1]},
            JUDGES: _ends((min(scores), max(scores)), RANGE),
            TOPICS: _ends(first.topics[:, at], BOOTSTRAP) | _student(first.student[:, at], limits),
            TOGETHER: _ends((together[:, 0].min(), together[:, 1].max()), row.how[2])
            | _student((t[:, 0].min(), t[:, 1].max()), limits),
        }
        if len(judges) == 1:
            del rows[JUDGES]
        yield [_scaled({"source": name, "score": scores[0], **each}, factor) for name, each in rows.items()]


def _ends(ends: Sequence[float] | Floats, how: str) -> dict[str, Any]:
    return {"low": ends[0], "high": ends[1], "width": ends[1] - ends[0], "how": how}


def _student(ends: Sequence[float] | Floats, limits: tuple[float, float]) -> dict[str, Any]:
    """Return the interval of Student, as far as values can go."""
    return {"t_low": max(ends[0], limits[0]), "t_high": min(ends[1], limits[1])}


def _scaled(row: Mapping[str, Any], factor: int) -> dict[str, Any]:
    """Return a row of means as one of sums, where a measure is summed over topics."""
    figures = ("score", *_FIGURES)
    return {
        name: value if name not in figures or value is None else float(value) * factor for name, value in row.items()
    }


def largest(frame: pl.DataFrame) -> dict[str, Any]:
    """Return the row of the source that leaves most open, of the rows of one run or pair."""
    alone = frame.filter(pl.col("source") != TOGETHER)
    return alone.row(int(alone["width"].arg_max() or 0), named=True)
