"""What a filter selects over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from exaequo.arrays import Floats
from exaequo.choices import THRESHOLD
from exaequo.errors import BadParameter
from exaequo.filtering import stream_of
from exaequo.filtering.streams import Stream
from exaequo.language import say, word
from exaequo.measures import Measure, get
from exaequo.measures.selection import Tables
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import of_selections, read_filters
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, axis_name, from_zero, lines, ranks_axis

#: Moments up to which each is drawn; of more, so many.
MOST = 400
#: Moments up to which each has a mark.
MOST_MARKS = 30
#: What is drawn of one filter, and what a filter can know itself.
_FIGURES = {"precision": "SelP", "recall": "SelR", "F": "SelF"}


@kind
def stream(
    qrels: Any,
    runs: Any = None,
    *,
    topic: str | None = None,
    measure: str | None = None,
    threshold: float = THRESHOLD,
    window: int | None = None,
    **common: Unpack[Common],
) -> Chart:
    """Figures of a filter after each moment, of one theme or of all tables added up; over the last `window` moments.

    Of several filters, one measure: F, or another of what is selected. Without runs, `qrels` is a table of decisions or
    a list of them; its column time or order says when documents come, else the order of the lines does.
    """
    filters, level = read_filters(qrels, runs, common)
    alone = len(filters) == 1
    streams = [stream_of(one, threshold, theme=topic, window=window) for one in filters]
    if alone and measure is None:
        wanted = {word(name): (streams[0], get(short)) for name, short in _FIGURES.items()}
        y_title = say("Value")
    else:
        chosen = of_selections(measure or "SelF")
        wanted = {each.filter: (each, chosen) for each in streams}
        y_title = axis_name(chosen)
    title = say("{run} over time", run=filters[0].name) if alone else say("Filters over time")
    points = {name: _points(each, chosen) for name, (each, chosen) in wanted.items()}
    values = [y for line in points.values() for _, y in line]
    if not values:
        raise BadParameter("There is no value to draw: no document came, or none is relevant.")
    canvas = Canvas.of(common, title, _note(filters[0].themes, topic, threshold, window, level))
    last = max(x for line in points.values() for x, _ in line)
    axes = Axes(
        *("documents", "value", say("Documents that have come"), y_title),
        *((0.0, max(last, 1.0)), from_zero(values), ranks_axis(0, last, canvas)),
    )
    marked = points if max(map(len, points.values())) <= MOST_MARKS else {}
    rank = {name: chosen.upward * points[name][-1][1] for name, (_, chosen) in wanted.items() if points[name]}
    return lines(points, axes, canvas, marked=marked, rank=rank, interpolate="step-after")


def _note(themes: list[str], topic: str | None, threshold: float, window: int | None, level: str) -> str:
    what = say("theme {theme}", theme=topic)
    if topic is None:
        what = say("the tables of {n:,} {n:theme|themes} added up", n=len(themes))
    recent = say("over all that has come")
    if window is not None:
        recent = say("over the last {n:,} {n:moment|moments}", n=window)
    return notes(f"{what}, {recent}", say("threshold {threshold:g}", threshold=threshold), level)


def _points(each: Stream, measure: Measure) -> list[tuple[float, float]]:
    """Return the value after so many documents, where there is one."""
    tables: Tables = each.tables if each.window is None else each.window
    params: Mapping[str, Any] = measure.params
    values: Floats = measure.definition.function(tables, **params)
    came = each.tables.documents
    at = np.unique(np.linspace(0, max(len(came) - 1, 0), min(MOST, len(came))).round().astype(np.int64))
    return [(float(came[place]), float(values[place])) for place in at if values[place] == values[place]]
