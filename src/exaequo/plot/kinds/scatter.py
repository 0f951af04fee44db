"""Two systems against each other, topic by topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from exaequo.language import say
from exaequo.plot.chart import Canvas, Chart, notes
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, Row, axis_name, beside_points, dotted, layer, short_names
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
    low, top = min(0.0, float(everything.min())), max(float(everything.max()), 1e-9)
    top = 1.0 if 0.3 < top <= 1 else top
    low, top = low - 0.03 * (top - low), top + 0.03 * (top - low)  # so that no point lies on an axis
    across, up = (say("{measure} of {run}", measure=name, run=shown[each]) for each in pair.names)
    encoding = Axes("one", "two", across, up, (low, top), (low, top)).encoding()
    values = zip(pair.topics, pair.first.tolist(), pair.second.tolist(), strict=True)
    rows: list[Row] = [{"topic": topic, "one": a, "two": b} for topic, a, b in values]
    far = [rows[at] for at in np.argsort(-np.abs(pair.gap), kind="stable")[:NAMED] if pair.gap[at]]
    look = {"color": canvas.quiet, "strokeDash": [4, 4]}
    times = Counter((row["one"], row["two"]) for row in rows)
    points = [{"one": a, "two": b, "topics": n, "area": canvas.area(55 * n**0.5)} for (a, b), n in times.items()]
    sized = {**encoding, "size": {"field": "area", "type": "quantitative", "scale": None, "legend": None}}
    several = say("larger points are several topics") if max(times.values()) > 1 else ""
    layers = [
        layer([{"one": low, "two": low}, {"one": top, "two": top}], "line", encoding, **look),
        layer(points, "point", sized, filled=True, opacity=0.7, color=canvas.colours[0]),
        *_named_points(far, rows, (low, top), encoding, canvas),
    ]
    return canvas.chart(layers, several)


def _named_points(
    far: Sequence[Row], rows: Sequence[Row], domain: tuple[float, float], encoding: Row, canvas: Canvas
) -> list[Row]:
    """The names of some points, each where it covers nothing."""
    low, top = domain
    unit = canvas.width / (top - low)

    def pixel(row: Row) -> tuple[float, float]:
        return (row["one"] - low) * unit, canvas.height - (row["two"] - low) * unit

    shown = short_names([row["topic"] for row in far], 20)
    labels = [(shown[row["topic"]], *pixel(row)) for row in far]
    layers = []
    places = beside_points(labels, [pixel(row) for row in rows], canvas)
    for row, (text, from_x, from_y), (x, y, align) in zip(far, labels, places, strict=True):
        at = [{"topic": text, "one": low + x / unit, "two": low + (canvas.height - y) / unit}]
        if abs(x - from_x) + abs(y - from_y) > 1.5 * canvas.font:  # too far to see whose name it is
            way = [{"one": row["one"], "two": row["two"], "x": at[0]["one"], "y": at[0]["two"]}]
            layers.append(
                layer(way, "rule", {**encoding, "x2": {"field": "x"}, "y2": {"field": "y"}}, **dotted(canvas))
            )
        layers.append(layer(at, "text", {**encoding, "text": {"field": "topic"}}, align=align, baseline="middle"))
    return layers
