"""Two systems against each other, topic by topic."""

from __future__ import annotations

from collections import Counter
from typing import Any, Unpack

import numpy as np

from exaequo.language import say
from exaequo.plot.chart import Canvas, Chart, notes
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, Row, axis_name, layer, named_points, short_names
from exaequo.plot.pair import NAMED, Pair, PairOptions, pair_of
from exaequo.read import QrelsLike


@kind
def scatter(qrels: QrelsLike, runs: Any, **options: Unpack[PairOptions]) -> Chart:
    """Two systems, topic by topic: above the line the second has the higher value."""
    pair = pair_of(qrels, runs, options)
    note = notes(say("{n:,} {n:topic|topics}, the most different named", n=len(pair.topics)), pair.note)
    return cloud(pair, Canvas.of(options, pair.title, note))


def cloud(pair: Pair, canvas: Canvas) -> Chart:
    """Draw the second against the first, topic by topic, with the line where both are equal; the frame is square."""
    side = max(canvas.height, 0.7 * canvas.width)
    canvas = canvas.high(side).wide(side)
    shown = short_names(pair.names, 24)
    name, everything = axis_name(pair.measure), np.concatenate([pair.first, pair.second])
    low, top = float(everything.min()), float(everything.max())
    room = 0.03 * (top - low) or 0.1 * max(abs(top), 0.1)
    low, top = low - room, top + room  # so that no point lies on an axis
    across, up = (say("{measure} of {run}", measure=name, run=shown[each]) for each in pair.names)
    axes = Axes("one", "two", across, up, (low, top), (low, top))
    encoding = axes.encoding()
    values = zip(pair.topics, pair.first.tolist(), pair.second.tolist(), strict=True)
    rows: list[Row] = [{"topic": topic, "one": a, "two": b} for topic, a, b in values]
    far = [rows[at] for at in np.argsort(-np.abs(pair.gap), kind="stable")[:NAMED] if pair.gap[at]]
    named = short_names([row["topic"] for row in far], 20)
    labels = [(named[row["topic"]], [(row["one"], row["two"])]) for row in far]
    look = {"color": canvas.quiet, "strokeDash": [4, 4]}
    times = Counter((row["one"], row["two"]) for row in rows)
    points = [{"one": a, "two": b, "topics": n, "area": canvas.area(55 * n**0.5)} for (a, b), n in times.items()]
    sized = {**encoding, "size": {"field": "area", "type": "quantitative", "scale": None, "legend": None}}
    several = say("larger points are several topics") if max(times.values()) > 1 else ""
    layers = [
        layer([{"one": low, "two": low}, {"one": top, "two": top}], "line", encoding, **look),
        layer(points, "point", sized, filled=True, opacity=0.7, color=canvas.colours[0]),
        *named_points(labels, [(row["one"], row["two"]) for row in rows], axes, canvas)[0],
    ]
    return canvas.chart(layers, several)
