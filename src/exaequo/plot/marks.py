"""Marks the kinds share: lines with their names at the end, labels that keep out of each other's way, axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from exaequo.arrays import Floats
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
#: What a name may hide of lines: less than so many points of them, four pixels apart.
MOST_HIDDEN = 3
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


def from_zero(values: Iterable[float]) -> tuple[float, float]:
    """Return from where to where an axis of bars and lines goes: from 0, or below, to a little above the highest."""
    known = [0.0, *(value for value in values if not math.isnan(value))]
    low, high = min(known), max(known)
    return low, low + 1.04 * (high - low) if high > low else low + 1


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
    places: Lines | None = None,
) -> Chart:
    """Draw a line per run, with its name at the end, between the layers behind and in front.

    `marked` are the points to mark, by default all of them. With too many runs for names, those with the highest `rank`
    are named and the others are thin and grey. `beside` is what stands after a name. Lines that end together have
    their names inside, at one of the `places` of each, the best first; or, without room there, dots lead from the best.
    """
    named, some = best_named(list(found), rank or {})
    shown = {name: f"{short}{(beside or {}).get(name, '')}" for name, short in short_names(named).items()}
    how = channels(list(shown.values()), canvas)
    canvas = canvas.beside().high(max(canvas.height, canvas.line * len(named)))
    inside = None if some or axes.x_scale != "linear" else places  # thin lines leave no room
    names = _names_inside(found, shown, inside, axes, canvas) if inside else []
    if not names:
        canvas = canvas.beside(right=margin(list(shown.values()), canvas))
        ends = axes.rows({run: (places[run][:1] if places else found[run][-1:]) for run in named}, shown)
        names = names_at_the_end(ends, axes, canvas, how)
    encoding = axes.encoding()
    layers = list(behind)
    if len(named) < len(found):
        quiet = axes.rows(found, {run: run for run in found if run not in shown})
        alone = {**encoding, "detail": {"field": "run"}, "color": {"value": canvas.quiet}}
        layers.append(layer(quiet, "line", alone, strokeWidth=canvas.px(0.7), opacity=0.5, interpolate=interpolate))
    own = axes.rows(found, shown)
    styled = {**encoding, "color": how["color"], "strokeDash": how["strokeDash"]}
    styled["order"] = {"field": "order", "type": "quantitative"}
    numbered = [row | {"order": at} for at, row in enumerate(own)]
    layers.append(layer(numbered, "line", styled, strokeWidth=canvas.px(2), interpolate=interpolate))
    points = own if marked is None else axes.rows(marked, shown)
    if points:
        shaped = {**encoding, "color": how["color"], "shape": how["shape"]}
        layers.append(layer(points, "point", shaped, filled=True, size=canvas.area(45), opacity=1))
    return canvas.chart([*layers, *names, *front], said, some)


def margin(names: Sequence[str], canvas: Canvas) -> float:
    """Return the room that names at the end of lines take."""
    return 2.7 * canvas.font + max(map(canvas.span, names), default=0.0)


def best_named(names: Sequence[str], rank: Mapping[str, float]) -> tuple[list[str], str]:
    """Return the runs that have their name in the picture, and how to say so."""
    if len(names) <= MOST_NAMED:
        return list(names), ""
    best = sorted(names, key=lambda name: -rank.get(name, 0.0))[:BEST_NAMED]
    return best, say("the best {n} of {all} are named", n=BEST_NAMED, all=len(names))


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
    labels: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    points: Sequence[tuple[float, float]],
    axes: Axes,
    canvas: Canvas,
) -> tuple[list[Row], float]:
    """Write each name beside one of its points, where it hides least; return also what the worst one hides.

    Dots lead to a name that is too far to see whose it is; paper around the letters keeps them readable.
    """
    (left, right), (low, high) = axes.x_domain, axes.y_domain
    wide, tall = canvas.width / (right - left), canvas.height / (high - low)

    def pixel(at: tuple[float, float]) -> tuple[float, float]:
        return (at[0] - left) * wide, canvas.height - (at[1] - low) * tall

    encoding, layers = axes.encoding(), []
    found = beside_points([(text, list(map(pixel, own))) for text, own in labels], map(pixel, points), canvas)
    for (text, own), (nth, x, y, align, _) in zip(labels, found, strict=True):
        at = {axes.x: left + x / wide, axes.y: low + (canvas.height - y) / tall}
        from_x, from_y = pixel(own[nth])
        if abs(x - from_x) + abs(y - from_y) > 1.5 * canvas.font:
            way = {axes.x: own[nth][0], axes.y: own[nth][1], "to x": at[axes.x], "to y": at[axes.y]}
            to = {**encoding, "x2": {"field": "to x"}, "y2": {"field": "to y"}}
            layers.append(layer([way], "rule", to, **dotted(canvas)))
        written = {**encoding, "text": {"field": "name"}}
        around = {"stroke": canvas.paper, "strokeWidth": 3, "color": canvas.paper}
        place = {"align": align, "baseline": "middle"}
        layers += [layer([{"name": text, **at}], "text", written, **place, **look) for look in (around, {})]
    return layers, max((harm for *_, harm in found), default=0.0)


def _names_inside(found: Lines, shown: Mapping[str, str], places: Lines, axes: Axes, canvas: Canvas) -> list[Row]:
    """Write each name beside its line, if all can stand right there, away from other lines, and hide none of them."""
    scale = np.array([canvas.width / np.ptp(axes.x_domain), canvas.height / np.ptp(axes.y_domain)])
    drawn, labels = {}, []
    for run in (run for run in shown if places[run]):
        line = np.array(found[run], dtype=np.float64)
        way = np.cumsum(np.hypot(*(np.diff(line, axis=0, prepend=line[:1]) * scale).T))
        drawn[run] = np.column_stack([np.interp(np.arange(0.0, way[-1], 4.0), way, values) for values in line.T])
    for run in drawn:
        others = np.concatenate([np.empty((0, 2)), *(line for other, line in drawn.items() if other != run)])
        away = (np.hypot(*((others - place) * scale).T).min(initial=np.inf) for place in places[run])
        free = [place for place, room in zip(places[run], away, strict=True) if room > 0.6 * canvas.font]
        if not free:
            return []
        labels.append((shown[run], free))
    layers, harm = named_points(labels, np.concatenate([*drawn.values()]).tolist(), axes, canvas)
    return layers if harm < MOST_HIDDEN and all(each["mark"]["type"] == "text" for each in layers) else []


def where_apart(found: Lines, runs: Sequence[str]) -> dict[str, list[tuple[float, float]]]:
    """Return some points of these lines, which have points at the same places, first those where they are apart."""
    heights = np.array([[y for _, y in found[run]] for run in runs])
    gaps = np.abs(heights[:, None] - heights[None])
    gaps[np.diag_indices(len(runs))] = 1.0 if len(runs) == 1 else np.inf
    apart = gaps.min(axis=1).mean(axis=0)
    apart[[0, -1]] = 0.0  # where many meet
    some = np.unique([apart.argmax(), *np.linspace(0, len(apart) - 1, 24).round().astype(np.int64)])
    order = some[np.argsort(-apart[some], kind="stable")].tolist()
    return {run: [found[run][at] for at in order] for run in runs}


def beside_points(
    labels: Sequence[tuple[str, Sequence[tuple[float, float]]]], points: Iterable[tuple[float, float]], canvas: Canvas
) -> list[tuple[int, float, float, str, float]]:
    """Find a place for each name beside one of its points, in pixels: which point, x, y, alignment, what it hides.

    Tried are eight places around each point, then farther ones; the first that covers no other name, is inside the
    frame and covers no point is taken; if there is none, the one that does least harm.
    """
    others = np.array(list(points), dtype=np.float64).reshape(-1, 2)
    around = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1))
    taken: list[_Box] = []
    found = []
    for text, own in labels:
        width, tried = canvas.span(text), []
        for (nth, (x, y)), away, (across, down) in product(enumerate(own), (6, 12, 21, 30), around):
            at_x, at_y = x + across * away, y + down * (away + 0.45 * canvas.font)
            left = at_x - (1 - across) / 2 * width
            box = (left, at_y - canvas.font / 2, left + width, at_y + canvas.font / 2)
            harm = _overlap(box, taken, others, canvas)
            place = (nth, at_x, at_y, {1: "left", -1: "right", 0: "center"}[across], harm)
            tried.append((harm + 0.01 * away + 0.02 * nth, place, box))
        _, best, box = min(tried, key=lambda each: each[0])
        found.append(best)
        taken.append(box)
    return found


def _overlap(box: _Box, taken: Sequence[_Box], points: Floats, canvas: Canvas) -> float:
    """Return how bad a place is: names covered weigh most, then what is outside the frame, then points."""
    left, top, right, bottom = box
    names = sum(left < other[2] and right > other[0] and top < other[3] and bottom > other[1] for other in taken)
    inside = (points[:, 0] > left - 3) & (points[:, 0] < right + 3)
    inside &= (points[:, 1] > top - 2) & (points[:, 1] < bottom + 2)
    out = min(left, top) < 0 or bottom > canvas.height or right > max(canvas.width, canvas.total - 8 * canvas.font)
    return 1000.0 * names + 100.0 * out + float(inside.sum())
