"""Relevant documents against rank, between best and worst case."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from exaequo.errors import BadParameter
from exaequo.measures import Measure, parse_measure
from exaequo.measures.recall import mor_parts
from exaequo.order import Ranking
from exaequo.plot.chart import Canvas, Chart, Common
from exaequo.plot.data import RankedRuns, at_least_one, read, relevant_ranks
from exaequo.plot.kinds import kind
from exaequo.plot.marks import (
    Axes,
    Row,
    channels,
    layer,
    margin,
    names_at_the_end,
    notes,
    ranks_axis,
    short_names,
    whole_ticks,
)
from exaequo.read import QrelsLike

#: The measures whose best and worst cases can be drawn.
CASES = ("PRES", "RNorm", "MOR")
#: Runs that can be told apart, and whose areas can.
MOST_RUNS, MOST_AREAS = 8, 3
_Steps = list[tuple[int, int]]


@dataclass(frozen=True)
class Scene:
    """What a picture of relevant documents against rank shows: for each run where it finds them, and two bounds."""

    n: int
    #: How far the reader looks, or how large the collection is: N in all three measures.
    limit: int
    end: int
    best: list[int]
    worst: list[int]
    own: dict[str, list[int]]
    title: str
    note: str

    def value(self, run: str) -> float:
        """Return the share of the area between both cases that lies under the line of a run."""
        lost, whole = (sum(ranks) - sum(self.best) for ranks in (self.own[run], self.worst))
        return 1 - lost / whole if whole else 1.0


@kind
def recall(
    qrels: QrelsLike,
    runs: Any,
    *,
    measure: str = "PRES",
    topic: str | None = None,
    cutoff: int | None = None,
    ties: str = "realistic",
    **common: Unpack[Common],
) -> Chart:
    """Relevant documents against rank, between the best and the worst case of PRES, RNorm or MOR.

    PRES and RNorm are the share of the area between both cases that lies under the line of the run. MOR has the cases
    of lists that find as many (h) with the last at the same rank (w); it is drawn for one run, the others for several.
    """
    at_least_one(cutoff=cutoff)
    lists = read(qrels, runs, common)
    if len(lists.names) > MOST_RUNS:
        raise BadParameter(f"This picture shows up to {MOST_RUNS} runs. Got {len(lists.names)}.")
    at = lists.topic(topic)
    rankings = lists.rankings(ties)
    what = _case(measure, cutoff, lists, at, rankings)
    canvas = Canvas.of(common)
    if what.definition.name == "MOR":
        lists.only()
        return _height_and_width(what, rankings[0], at, canvas, notes(f"{ties} ties", lists.level))
    return areas(scene(what, rankings, at, notes(f"{ties} ties", lists.level)), canvas)


def _case(
    measure: str, cutoff: int | None, lists: RankedRuns, at: int, rankings: Sequence[tuple[str, Ranking]]
) -> Measure:
    """Return the measure whose cases are drawn, with a cutoff that shows all there is unless one is given."""
    bare = parse_measure(measure, complete=False)
    if bare.definition.name not in CASES:
        raise BadParameter(f"This picture shows {', '.join(CASES)}. Got {measure!r}.")
    given = bare.definition.name == "RNorm" or "cutoff" in bare.params
    if given and cutoff is not None:
        raise BadParameter(f"{measure} says how far the reader looks; leave the cutoff out.")
    if given:
        return parse_measure(measure)
    longest = max(int(ranking.returned[at]) for _, ranking in rankings)
    return bare @ (cutoff or max(1, min(100, max(longest, int(lists.judgments.counted(None)[at])))))


def scene(measure: Measure, rankings: Sequence[tuple[str, Ranking]], at: int, note: str) -> Scene:
    """Return the best and worst cases of PRES or RNorm, and where each run stands between them."""
    measure.values(rankings[0][1])  # says so if the collection is smaller than its lists
    rel = measure.params.get("rel")
    found = {name: relevant_ranks(ranking, at, rel) for name, ranking in rankings}
    first = rankings[0][1]
    return scene_of(measure, found, int(first.n_rel(rel)[at]), first.judgments.topics[at], note)


def scene_of(measure: Measure, found: Mapping[str, Sequence[int]], n: int, topic: str, note: str) -> Scene:
    """Return the same from the ranks of relevant documents, of n there are."""
    pres = measure.definition.name == "PRES"
    limit = int(measure.params["cutoff"] if pres else measure.params["docs"])
    end = limit + n if pres else limit
    own = {}
    for name, ranks in found.items():
        seen = [rank for rank in ranks if rank <= limit]
        own[name] = seen + list(range(end - n + len(seen) + 1, end + 1))
    best, worst = list(range(1, n + 1)), list(range(end - n + 1, end + 1))
    return Scene(n, limit, end, best, worst, own, f"{measure.name}, topic {topic}", note)


def _steps(ranks: Sequence[int], end: int) -> _Steps:
    """Return how many are found from each rank on where that changes, and at the end."""
    return [(0, 0), *((rank, i) for i, rank in enumerate(ranks, 1)), (end, len(ranks))]


def _between(low: _Steps, high: _Steps) -> list[Row]:
    """Return the lower and the upper value at every rank where one of two lines changes."""
    ranks = sorted({rank for rank, _ in (*low, *high)})
    return [{"rank": rank, "low": _found(low, rank), "high": _found(high, rank)} for rank in ranks]


def _frame(n: int, end: int, canvas: Canvas) -> Axes:
    """Return axes with room for two lines of text above the highest value."""
    top = n / (1 - 2.6 * canvas.line / canvas.height)
    ticks = {"values": whole_ticks(n), "format": ",d"}
    across = ranks_axis(0, end, canvas)
    return Axes("rank", "found", "Rank", "Relevant documents found", (0, end), (0, top), across, ticks)


def _staircase(steps: _Steps, axes: Axes, **look: Any) -> Row:
    rows = [{"rank": rank, "found": found} for rank, found in steps]
    return layer(rows, "line", axes.encoding(), interpolate="step-after", **look)


def _area(rows: list[Row], axes: Axes, **look: Any) -> Row:
    encoding = {"x": axes.encoding()["x"], "y": axes.encoding()["y"] | {"field": "low"}, "y2": {"field": "high"}}
    return layer(rows, "area", encoding, interpolate="step-after", **look)


def _word(text: str, rank: float, found: float, axes: Axes, **look: Any) -> Row:
    encoding = {**axes.encoding(), "text": {"field": "text"}}
    return layer([{"rank": rank, "found": found, "text": text}], "text", encoding, **look)


def _on_paper(word: Row, canvas: Canvas) -> list[Row]:
    """A word with paper around its letters, where lines may run through it."""
    around = {**word["mark"], "stroke": canvas.paper, "strokeWidth": canvas.px(4), "color": canvas.paper}
    return [{**word, "mark": around}, word]


def areas(what: Scene, canvas: Canvas) -> Chart:
    """Draw each run between the best and the worst case; of one run both areas, of two or three the one below each."""
    several = len(what.own) > 1
    labels = {name: f"{shown} {what.value(name):.4f}" for name, shown in short_names(list(what.own)).items()}
    canvas = canvas.beside(right=margin(list(labels.values()), canvas) if several else 0.0)
    axes = _frame(what.n, what.end, canvas)
    best, worst = _steps(what.best, what.end), _steps(what.worst, what.end)
    lines_of = {name: _steps(ranks, what.end) for name, ranks in what.own.items()}
    quiet = {"color": canvas.quiet, "strokeWidth": canvas.px(1.5)}
    if several:
        layers = _each_area(what, lines_of, labels, worst, axes, canvas)
        note = notes(what.note, "the area under a line, as a share of that between both cases, is the value")
    else:
        ((name, own),) = lines_of.items()
        layers = _two_areas(own, best, worst, axes, canvas)
        layers.append(_staircase(own, axes, color=canvas.colours[0], strokeWidth=canvas.px(2.5)))
        note = notes(f"{name}: A2 / (A1 + A2) = {what.value(name):.4f}", what.note)
    best_word = _word("best case", what.n, what.n, axes, align="left", dx=4, dy=-0.6 * canvas.font, color=canvas.quiet)
    layers += [
        _staircase(best, axes, strokeDash=[6, 3], **quiet),
        _staircase(worst, axes, strokeDash=[2, 2], **quiet),
        *_limit(what.limit, axes),
        *_on_paper(best_word, canvas),
        *_on_paper(_worst_word(what, lines_of, axes, canvas), canvas),
    ]
    return canvas.chart(layers, title=what.title, note=note)


def _two_areas(own: _Steps, best: _Steps, worst: _Steps, axes: Axes, canvas: Canvas) -> list[Row]:
    """A1, lost to the best case, and A2, won over the worst; each has its name where there is most room."""
    layers = []
    shades = {"A1": (canvas.quiet, 0.15), "A2": (canvas.colours[0], 0.25)}
    for (name, (colour, opacity)), (low, high) in zip(shades.items(), ((own, best), (worst, own)), strict=True):
        layers.append(_area(_between(low, high), axes, color=colour, opacity=opacity))
        place = _roomiest(low, high, axes, canvas, name)
        if place is not None:
            layers += _on_paper(_word(name, *place, axes, fontWeight="bold"), canvas)
    return layers


def _roomiest(low: _Steps, high: _Steps, axes: Axes, canvas: Canvas, text: str) -> tuple[float, float] | None:
    """Return the middle of the highest place between two lines that a word fits into, if there is one."""
    end = axes.x_domain[1]
    half = (canvas.span(text) / 2 + 2) / canvas.width * end
    best: tuple[float, float, float] | None = None
    for middle in np.linspace(half, end - half, 60).tolist():
        floor, ceiling = _found(low, middle + half), _found(high, middle - half)
        if best is None or ceiling - floor > best[0]:
            best = (ceiling - floor, middle, (ceiling + floor) / 2)
    if best is None or best[0] * canvas.height / axes.y_domain[1] < canvas.line:
        return None
    return best[1:]


def _found(line: _Steps, rank: float) -> int:
    """Return how many are found up to a rank."""
    return line[max(0, bisect_right(line, (rank, math.inf)) - 1)][1]


def _each_area(
    what: Scene, lines_of: Mapping[str, _Steps], labels: Mapping[str, str], worst: _Steps, axes: Axes, canvas: Canvas
) -> list[Row]:
    """The area over the worst case of each run, with its name and value at the right."""
    how = channels(list(labels.values()), canvas)
    layers: list[Row] = []
    rows: list[Row] = []
    ends: list[Row] = []
    foot = what.end - what.n  # up to here the worst case finds nothing, and runs differ
    for at, (name, steps) in enumerate(lines_of.items()):
        if len(lines_of) <= MOST_AREAS:
            colour = canvas.colours[at % len(canvas.colours)]
            layers.append(_area(_between(worst, steps), axes, color=colour, opacity=0.15))
        rows += [{"run": labels[name], "rank": rank, "found": found} for rank, found in steps]
        ends.append({"run": labels[name], "rank": foot, "found": _found(steps, foot), "value": what.value(name)})
    styled = {**axes.encoding(), "color": how["color"], "strokeDash": how["strokeDash"]}
    layers.append(layer(rows, "line", styled, interpolate="step-after", strokeWidth=canvas.px(2)))
    ends.sort(key=lambda end: end["value"])  # of those at one height, the better stands higher
    return [*layers, *names_at_the_end(ends, axes, canvas, how)]


def _limit(limit: int, axes: Axes) -> list[Row]:
    """A line at the rank where the reader stops, with its name in the upper row."""
    row = [{"rank": limit, "found": axes.y_domain[1], "text": f"N = {limit:,}"}]
    encoding = axes.encoding()
    side = {"align": "right", "dx": -4} if limit > 0.5 * axes.x_domain[1] else {"align": "left", "dx": 4}
    return [
        layer(row, "rule", {"x": encoding["x"]}, strokeDash=[4, 4], opacity=0.6),
        layer(row, "text", {**encoding, "text": {"field": "text"}}, baseline="top", **side),
    ]


def _worst_word(what: Scene, lines_of: Mapping[str, _Steps], axes: Axes, canvas: Canvas) -> Row:
    """The name of the worst case at its foot, above a line that would run through it."""
    foot = what.end - what.n
    unit = axes.y_domain[1] / canvas.height
    at_foot = sorted({_found(steps, foot) for steps in lines_of.values()})
    base = 0.0
    for found in at_foot:
        if base <= found < base + 1.4 * canvas.line * unit:
            base = found
    return _word("worst case", foot, base, axes, align="right", dx=-6, dy=-0.6 * canvas.font, color=canvas.quiet)


def _height_and_width(what: Measure, named: tuple[str, Ranking], at: int, canvas: Canvas, said: str) -> Chart:
    """Draw h and w of MOR, and between which lines a list with the same h and w can run."""
    name, ranking = named
    cutoff, rel = int(what.params["cutoff"]), what.params.get("rel")
    parts = mor_parts(ranking, cutoff, rel)
    n, h, w = int(ranking.n_rel(rel)[at]), int(parts.h[at]), int(parts.w[at])
    axes = _frame(n, cutoff, canvas)
    own = _steps([rank for rank in relevant_ranks(ranking, at, rel) if rank <= cutoff], cutoff)
    colour, quiet = canvas.colours[0], {"color": canvas.quiet, "strokeWidth": canvas.px(1.5)}
    title = f"{what.name}, topic {ranking.judgments.topics[at]}"
    layers = [_staircase(own, axes, color=colour, strokeWidth=canvas.px(2.5)), *_limit(cutoff, axes)]
    if not h:
        note = f"{name}: nothing relevant in the first {cutoff}: {what.name} = 0; {said}"
        return canvas.chart(layers, title=title, note=note)
    best, worst = _steps([*range(1, h), w], cutoff), _steps(range(w - h + 1, w + 1), cutoff)
    corner, encoding = [{"rank": w, "found": h, "zero": 0}], axes.encoding()
    guide = {"strokeDash": [2, 3], "color": canvas.ink}
    up, faint = -0.6 * canvas.font, {"color": canvas.quiet}
    room = (w - h + 1) / cutoff * canvas.width > canvas.span("AP0") + 10
    words = [
        _word(f"h = {h}", 0, h, axes, align="left", dx=4, dy=up),
        _word(f"w = {w}", w, 0, axes, **_beside(w, cutoff, canvas), dy=up),
        _word("AP1", h - 1, h - 1, axes, align="left", dx=4, dy=1.2 * canvas.font, **faint) if h > 1 else None,
        _word("AP0", w - h + 1, 0, axes, align="right", dx=-5, dy=up, **faint) if room and w > h > 1 else None,
    ]
    behind = [
        _area(_between(worst, best), axes, color=canvas.quiet, opacity=0.15),
        _staircase(best, axes, strokeDash=[6, 3], **quiet),
        _staircase(worst, axes, strokeDash=[2, 2], **quiet),
        layer(corner, "rule", {**encoding, "x2": {"field": "zero"}}, **guide),
        layer(corner, "rule", {**encoding, "y2": {"field": "zero"}}, **guide),
    ]
    point = layer(corner, "point", encoding, filled=True, size=canvas.area(90), color=colour, opacity=1)
    letters = [part for word in words if word is not None for part in _on_paper(word, canvas)]
    figures = f"AP {parts.ap[at]:.4f} between AP0 {parts.ap0[at]:.4f} (dotted) and AP1 {parts.ap1[at]:.4f} (dashed)"
    note = f"{name}: h = {h} of n = {n}, w = {w}, {figures}; {what.name} = {parts.mor[at]:.4f}; {said}"
    return canvas.chart([*behind, *layers, point, *letters], title=title, note=note)


def _beside(rank: float, end: float, canvas: Canvas) -> Row:
    """To the right of a rank, where all lines have risen; to its left if there is no room."""
    narrow = (end - rank) / end * canvas.width < canvas.span("w = 0000")
    return {"align": "right", "dx": -5} if narrow else {"align": "left", "dx": 5}
