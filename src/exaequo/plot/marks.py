"""Marks the kinds share: lines with their names at the end, labels that keep out of each other's way, axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exaequo.judge import Floats
from exaequo.language import say, word
from exaequo.measures import Measure
from exaequo.plot.chart import DASHES, SHAPES, Canvas, Chart
from exaequo.text import on_one_line

Row = dict[str, Any]
#: The points of the line of each run.
Lines = Mapping[str, Sequence[tuple[float, float]]]
#: Where a name is: left, top, right, bottom.
_Box = tuple[float, float, float, float]
#: Lines up to which each has its name; of more, so many of the best have.
MOST_NAMED, BEST_NAMED = 12, 8
#: Rows of a picture that has one for each run.
MOST_ROWS = 40
#: Letters of a name, in a picture.
LONGEST_NAME = 32
#: Names that every object has in the language the pictures are drawn with.
_TAKEN = {
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString"),
    *("valueOf", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
}


def quantity(field: str, title: str | None = None, **more: Any) -> Row:
    """Return an encoding of numbers; what is None is left out."""
    known = {name: value for name, value in {"title": title, **more}.items() if value is not None}
    return {"field": field, "type": "quantitative", **known}


def nominal(field: str, **more: Any) -> Row:
    """Return an encoding of names, in the order in which they are given."""
    return {"field": field, "type": "nominal", "title": None, "sort": None, **more}


def layer(values: Sequence[Mapping[str, Any]], mark: str, encoding: Row, **look: Any) -> Row:
    """Return a layer."""
    return {"data": {"values": [dict(row) for row in values]}, "mark": {"type": mark, **look}, "encoding": encoding}


def by_name(field: str, names: Sequence[str], looks: Sequence[Any], legend: Row | None = None) -> Row:
    """Return an encoding that gives each name its look."""
    scale = {"domain": list(names), "range": list(looks)}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


def channels(names: Sequence[str], canvas: Canvas) -> dict[str, Row]:
    """Return colour, shape and dash of each name, so that none is told by colour alone."""
    dashes = [[canvas.px(part) for part in dash] for dash in DASHES]

    def channel(values: Sequence[Any], turn: int) -> Row:
        looks = [values[(at + turn * (at // len(values))) % len(values)] for at in range(len(names))]
        return by_name("run", names, looks)

    return {"color": channel(canvas.colours, 0), "shape": channel(SHAPES, 1), "strokeDash": channel(dashes, 1)}


def whole_ticks(most: float, steps: int = 6) -> list[int]:
    """Return whole numbers from 0 to at most this, about so many, at round distances."""
    raw = max(1.0, most / steps)
    size = 10 ** math.floor(math.log10(raw))
    step = max(1, next(int(factor * size) for factor in (1, 2, 5, 10) if factor * size >= raw))
    return list(range(0, int(most) + 1, step))


def ranks_axis(least: int, most: float, canvas: Canvas) -> Row:
    """Return an axis of ranks: whole numbers, about as many as there is room for; from 1 it says so."""
    widest = canvas.span(f"{most:,.0f}") + 1.5 * canvas.font
    ticks = whole_ticks(most, max(2, int(canvas.width / widest)))
    return {"values": [1, *(tick for tick in ticks if tick > 1)] if least == 1 else ticks, "format": ",d"}


def padded(values: Iterable[float], lowest: float, highest: float) -> list[float]:
    """Return from where to where an axis goes: a little beyond all values, as far as there can be any."""
    known = [value for value in values if not math.isnan(value)]
    low, high = min(known), max(known)
    room = 0.06 * (high - low) or 0.1 * max(abs(high), 0.1)
    return [max(lowest, low - room), min(highest, high + room)]


def axis_name(measure: Measure, over: str = "mean") -> str:
    """Return what an axis is called: the measure, what is made of its topics if that is not the mean, and its way."""
    parts = [
        measure.name,
        "" if over == "mean" else say("{over} over topics", over=word(over)),
        "" if measure.upward > 0 else say("less is better"),
    ]
    return ", ".join(part for part in parts if part)


def best_rows(runs: list[str], most: int = MOST_ROWS) -> tuple[list[str], str]:
    """Return as many of the best runs as a picture has rows for, and what to say about the others."""
    some = say("the best {n} of {runs} runs", n=most, runs=len(runs)) if len(runs) > most else ""
    return runs[:most], some


def short_names(names: Sequence[str], most: int = LONGEST_NAME) -> dict[str, str]:
    """Return what to write for each name: long ones lose their middle, or else what all have in common.

    What cannot be printed is escaped, and a name the drawing library would take for its own is told apart unseen.
    """
    shown = _short([on_one_line(name) for name in names], most)
    return {name: f"{each}\u200b" if each in _TAKEN else each for name, each in zip(names, shown, strict=True)}


def _short(names: Sequence[str], most: int) -> list[str]:
    if all(len(name) <= most for name in names):
        return list(names)
    start = _in_common(names)
    end = _in_common([name[start:][::-1] for name in names])
    while start and names[0][start - 1].isalnum():  # the parts of a name are not cut
        start -= 1
    while end and names[0][len(names[0]) - end].isalnum():
        end -= 1
    for shown in ([_cut(name, most) for name in names], [_own_part(name, start, end) for name in names]):
        if len(set(shown)) == len(set(names)):
            return shown
    return list(names)


def _in_common(names: Sequence[str]) -> int:
    """Return how many letters all names begin with."""
    return next(
        (at for at, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), min(map(len, names))
    )


def _cut(name: str, most: int) -> str:
    kept = most - 1
    return name if len(name) <= most else f"{name[: (kept + 1) // 2]}…{name[-(kept // 2) :]}"


def _own_part(name: str, start: int, end: int, kept: int = 6) -> str:
    """Leave out most of what a name begins and ends with like all others."""
    head = name[:start] if start <= kept + 1 else f"{name[:kept]}…"
    tail = name[len(name) - end :] if end <= kept + 1 else f"…{name[-kept:]}"
    return f"{head}{name[start : len(name) - end]}{tail}"


def apart(values: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Move labels up or down so that each has room: at least so far apart, inside the picture, in the same order."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    placed = [0.0] * len(values)
    before = low - least
    for at in order:
        placed[at] = before = max(values[at], before + least)
    after = high + least
    for at in reversed(order):
        placed[at] = after = min(placed[at], after - least)
    return placed


@dataclass(frozen=True)
class Axes:
    """The two axes of a picture of lines: which fields, what they are called, from where to where."""

    x: str
    y: str
    x_title: str
    y_title: str
    x_domain: tuple[float, float]
    y_domain: tuple[float, float]
    x_axis: Row | None = None
    y_axis: Row | None = None
    x_scale: str = "linear"

    def rows(self, found: Lines, shown: Mapping[str, str]) -> list[Row]:
        """Return the points of those lines that are shown, under the names they are shown with."""
        chosen = ((shown[run], points) for run, points in found.items() if run in shown)
        return [{"run": name, self.x: x, self.y: y} for name, points in chosen for x, y in points]

    def encoding(self) -> dict[str, Row]:
        """Return x and y."""
        kind = {"zero": False} if self.x_scale == "linear" else {"type": self.x_scale}
        across = {"domain": list(self.x_domain), "nice": False, **kind}
        up = {"domain": list(self.y_domain), "nice": False, "zero": False}
        return {
            "x": quantity(self.x, self.x_title, scale=across, axis=self.x_axis),
            "y": quantity(self.y, self.y_title, scale=up, axis=self.y_axis),
        }


def lines(
    found: Lines,
    axes: Axes,
    canvas: Canvas,
    *,
    marked: Lines | None = None,
    interpolate: str = "linear",
    rank: Mapping[str, float] | None = None,
    behind: Sequence[Row] = (),
    front: Sequence[Row] = (),
    said: str = "",
    beside: Mapping[str, str] | None = None,
    inside: bool = False,
) -> Chart:
    """Draw a line per run, with its name at the end, between the layers behind and in front.

    `marked` are the points to mark, by default all of them. With too many runs for names, those with the highest `rank`
    are named and the others are thin and grey. `beside` is what stands after a name. Lines that all have points at the
    same places, and end together, have their names `inside`, where they are apart, or at the end as they are there.
    """
    named, some = _named(list(found), rank or {})
    shown = {name: f"{short}{(beside or {}).get(name, '')}" for name, short in short_names(named).items()}
    nearest = _nearest(found, named) if inside else np.zeros((len(named), 1))
    inside = nearest.max(axis=1).min() / (axes.y_domain[1] - axes.y_domain[0]) * canvas.height >= 0.8 * canvas.line
    canvas = canvas.beside(right=0.0 if inside else margin(list(shown.values()), canvas))
    canvas = canvas.high(max(canvas.height, canvas.line * len(named)))
    encoding = axes.encoding()
    layers = list(behind)
    if len(named) < len(found):
        quiet = axes.rows(found, {run: run for run in found if run not in shown})
        alone = {**encoding, "detail": {"field": "run"}, "color": {"value": canvas.quiet}}
        layers.append(layer(quiet, "line", alone, strokeWidth=canvas.px(0.7), opacity=0.5, interpolate=interpolate))
    own = axes.rows(found, shown)
    how = channels(list(shown.values()), canvas)
    styled = {**encoding, "color": how["color"], "strokeDash": how["strokeDash"]}
    styled["order"] = {"field": "order", "type": "quantitative"}
    numbered = [row | {"order": at} for at, row in enumerate(own)]
    layers.append(layer(numbered, "line", styled, strokeWidth=canvas.px(2), interpolate=interpolate))
    points = own if marked is None else axes.rows(marked, shown)
    if points:
        shaped = {**encoding, "color": how["color"], "shape": how["shape"]}
        layers.append(layer(points, "point", shaped, filled=True, size=canvas.area(45), opacity=1))
    last = int(nearest.mean(axis=0).argmax()) if nearest.shape[1] > 1 else -1
    ends = axes.rows({run: found[run][last:][:1] for run in named}, shown)
    at_the_end = names_at_the_end(ends, axes, canvas, how)
    names = where_apart(found, shown, nearest, axes, canvas) if inside else at_the_end
    return canvas.chart([*layers, *names, *front], said, some)


def margin(names: Sequence[str], canvas: Canvas) -> float:
    """Return the room that names at the end of lines take."""
    return 2.7 * canvas.font + max(map(canvas.span, names), default=0.0)


def _named(names: Sequence[str], rank: Mapping[str, float]) -> tuple[list[str], str]:
    """Return the runs that have their name in the picture, and how to say so."""
    if len(names) <= MOST_NAMED:
        return list(names), ""
    best = sorted(names, key=lambda name: -rank.get(name, 0.0))[:BEST_NAMED]
    return best, say("the best {n} of {runs} runs are named", n=BEST_NAMED, runs=len(names))


def names_at_the_end(ends: Sequence[Row], axes: Axes, canvas: Canvas, how: Mapping[str, Row]) -> list[Row]:
    """Write each name at the right of the frame behind its symbol, moved so that none covers another.

    Dots lead from the end of a line to its name: they are not data, and have no colour.
    """
    low, high = axes.y_domain
    places = apart([end[axes.y] for end in ends], canvas.line * ((high - low) / canvas.height), low, high)
    rows = [
        {"run": end["run"], axes.x: end[axes.x], axes.y: end[axes.y], "label": place}
        for end, place in zip(ends, places, strict=True)
    ]
    left, right = axes.x_domain
    moved = [
        row
        for row in rows
        if row["label"] != row[axes.y] or (row[axes.x] - left) / (right - left) * canvas.width < canvas.width - 4
    ]
    edge = canvas.width + 1.7 * canvas.font
    leader = {**axes.encoding(), "x2": {"value": edge - 0.6 * canvas.font}, "y2": {"field": "label"}}
    symbol = {"x": {"value": edge}, "y": quantity("label"), "color": how["color"], "shape": how["shape"]}
    text = {
        "x": {"value": edge + 0.7 * canvas.font},
        "y": quantity("label"),
        "text": {"field": "run", "type": "nominal"},
    }
    return [
        *([layer(moved, "rule", leader, **dotted(canvas))] if moved else []),
        layer(rows, "point", symbol, filled=True, size=canvas.area(45), opacity=1),
        layer(rows, "text", text, align="left", baseline="middle"),
    ]


def dotted(canvas: Canvas) -> Row:
    """Return the look of lines that lead to a name."""
    return {"strokeWidth": canvas.px(1), "strokeDash": [canvas.px(1), canvas.px(3)], "color": canvas.quiet}


def named_points(
    labels: Sequence[tuple[str, float, float]],
    points: Sequence[tuple[float, float]],
    axes: Axes,
    canvas: Canvas,
) -> list[Row]:
    """Write names beside some points, each where it covers no other name and none of the points, if there is room.

    Dots lead to a name that is too far to see whose it is; paper around the letters keeps them readable.
    """
    (left, right), (low, high) = axes.x_domain, axes.y_domain
    wide, tall = canvas.width / (right - left), canvas.height / (high - low)

    def pixel(x: float, y: float) -> tuple[float, float]:
        return (x - left) * wide, canvas.height - (y - low) * tall

    encoding, layers = axes.encoding(), []
    placed = [(text, *pixel(x, y)) for text, x, y in labels]
    places = beside_points(placed, [pixel(x, y) for x, y in points], canvas)
    for (_, from_x, from_y), (text, own_x, own_y), (x, y, align) in zip(placed, labels, places, strict=True):
        at = {axes.x: left + x / wide, axes.y: low + (canvas.height - y) / tall}
        if abs(x - from_x) + abs(y - from_y) > 1.5 * canvas.font:
            way = {axes.x: own_x, axes.y: own_y, "to x": at[axes.x], "to y": at[axes.y]}
            to = {**encoding, "x2": {"field": "to x"}, "y2": {"field": "to y"}}
            layers.append(layer([way], "rule", to, **dotted(canvas)))
        written = {**encoding, "text": {"field": "name"}}
        around = {"stroke": canvas.paper, "strokeWidth": 3, "color": canvas.paper}
        place = {"align": align, "baseline": "middle"}
        layers += [layer([{"name": text, **at}], "text", written, **place, **look) for look in (around, {})]
    return layers


def where_apart(found: Lines, shown: Mapping[str, str], nearest: Floats, axes: Axes, canvas: Canvas) -> list[Row]:
    """Write the name of each line where it is farthest from the others."""
    order = np.argsort(-nearest.max(axis=1), kind="stable").tolist()
    runs, places = list(shown), nearest.argmax(axis=1).tolist()
    labels = [(shown[runs[at]], *found[runs[at]][places[at]]) for at in order]
    drawn = []
    for run in shown:
        x, y = np.array(found[run]).T
        across = np.linspace(x[0], x[-1], 60)
        drawn += list(zip(across.tolist(), np.interp(across, x, y).tolist(), strict=True))
    return named_points(labels, drawn, axes, canvas)


def _nearest(found: Lines, runs: Sequence[str]) -> Floats:
    """Return how far each line is from the next one at each of the places where all have a point, but for the ends."""
    heights = np.array([[y for _, y in found[run]] for run in runs])
    gaps = np.abs(heights[:, None] - heights[None])
    gaps[np.arange(len(runs)), np.arange(len(runs))] = 1.0 if len(runs) == 1 else np.inf
    nearest: Floats = gaps.min(axis=1)
    nearest[:, [0, -1]] = 0.0
    return nearest


def beside_points(
    labels: Sequence[tuple[str, float, float]], points: Iterable[tuple[float, float]], canvas: Canvas, reach: float = 6
) -> list[tuple[float, float, str]]:
    """Find a place for the name of each of some points, in pixels: x, y and alignment.

    Tried are eight places around the point, then farther ones; the first that covers no other name, is inside the
    frame and covers no point is taken; if there is none, the one that does least harm.
    """
    others = np.array(list(points), dtype=np.float64).reshape(-1, 2)
    taken: list[_Box] = []
    found = []
    for text, x, y in labels:
        width, places = canvas.span(text), []
        for away in (1.0, 2.0, 3.5, 5.0):
            for across, down in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)):
                at_x, at_y = x + across * reach * away, y + down * (reach * away + 0.45 * canvas.font)
                align = {1: "left", -1: "right", 0: "center"}[across]
                left = at_x - (1 - across) / 2 * width
                box = (left, at_y - canvas.font / 2, left + width, at_y + canvas.font / 2)
                places.append((_overlap(box, taken, others, canvas) + 0.01 * away, (at_x, at_y, align), box))
        _, place, box = min(places, key=lambda each: each[0])
        found.append(place)
        taken.append(box)
    return found


def _overlap(box: _Box, taken: Sequence[_Box], points: Floats, canvas: Canvas) -> float:
    """Return how bad a place is: names covered weigh most, then what is outside the frame, then points."""
    left, top, right, bottom = box
    names = sum(left < other[2] and right > other[0] and top < other[3] and bottom > other[1] for other in taken)
    inside = (points[:, 0] > left - 3) & (points[:, 0] < right + 3)
    inside &= (points[:, 1] > top - 2) & (points[:, 1] < bottom + 2)
    out = left < 0 or top < 0 or bottom > canvas.height or right > canvas.width + 60
    return 100.0 * names + 1.0 * int(inside.sum()) + 10.0 * out
