"""Relevant documents against rank, between best and worst case."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from exaequo.errors import BadParameter
from exaequo.language import number, say, strategy
from exaequo.measures import Measure, parse_measure
from exaequo.measures.recall import mor_parts
from exaequo.order import Ranking
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import RankedRuns, at_least_one, read, relevant_ranks
from exaequo.plot.kinds import kind
from exaequo.plot.marks import (
    Axes,
    Row,
    channels,
    layer,
    margin,
    names_at_the_end,
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
    """What a picture of relevant documents against rank shows: for each run how many it finds, and two bounds."""

    n: int
    #: How far the reader looks, or how large the collection is: N in all three measures.
    limit: int
    end: int
    best: _Steps
    worst: _Steps
    own: dict[str, _Steps]

    def value(self, run: str) -> float:
        """Return the share of the area between both cases that lies under the line of a run."""
        best, worst, own = (sum(rank for rank, _ in steps) for steps in (self.best, self.worst, self.own[run]))
        return 1 - (own - best) / (worst - best) if worst != best else 1.0


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
    rankings, at, why = _chosen(lists, topic, measure, cutoff, ties)
    what = _case(measure, cutoff, [ranking for _, ranking in rankings], at)
    canvas = Canvas.of(common, say("{measure}, topic {topic}", measure=what.name, topic=lists.judgments.topics[at]))
    note = notes(why, say("{ties} ties", ties=strategy(ties)), lists.level)
    if what.definition.name == "MOR":
        return _height_and_width(what, lists.only(), rankings[0][1], at, canvas, note)
    rel, first = what.params.get("rel"), rankings[0][1]
    what.values(first)  # says so if the collection is smaller than its lists
    found = {name: relevant_ranks(ranking, at, rel) for name, ranking in rankings}
    return areas(scene_of(what, found, int(first.n_rel(rel)[at])), canvas, note)


def _chosen(
    lists: RankedRuns, topic: str | None, measure: str, cutoff: int | None, ties: str
) -> tuple[list[tuple[str, Ranking]], int, str]:
    """Return the runs and the topic that are drawn, and why: of many runs the best, the topic on which they differ."""
    rankings, said = lists.rankings(ties), []
    bare = parse_measure(measure, complete=False)
    what = bare if bare.definition.name not in ("PRES", "MOR") or "cutoff" in bare.params else bare @ (cutoff or 100)
    values = np.array([what.values(ranking) for _, ranking in rankings])
    if len(rankings) > MOST_RUNS:
        best = np.sort(np.argsort(-values.mean(axis=1), kind="stable")[:MOST_RUNS]).tolist()
        said.append(say("the best {n} of {runs} runs", n=MOST_RUNS, runs=len(rankings)))
        rankings, values = [rankings[at] for at in best], values[best]
    if topic is not None:
        return rankings, lists.topic(topic), notes(*said)
    if len(rankings) == 1:
        return rankings, 0, notes(*said, say("the first topic"))
    return rankings, int(np.ptp(values, axis=0).argmax()), notes(*said, say("the topic on which they differ most"))


def _case(measure: str, cutoff: int | None, rankings: Sequence[Ranking], at: int) -> Measure:
    """Return the measure whose cases are drawn, with a cutoff that shows all there is unless one is given."""
    bare = parse_measure(measure, complete=False)
    if bare.definition.name not in CASES:
        raise BadParameter(f"This picture shows {', '.join(CASES)}. Got {measure!r}.")
    if bare.definition.name == "RNorm" or "cutoff" in bare.params:
        if cutoff is not None:
            raise BadParameter(f"{measure} says how far the reader looks; leave the cutoff out.")
        return parse_measure(measure)
    longest = max(int(ranking.returned[at]) for ranking in rankings)
    return bare @ (cutoff or max(1, min(100, max(longest, int(rankings[0].n_rel()[at])))))


def scene_of(measure: Measure, found: Mapping[str, Sequence[int]], n: int) -> Scene:
    """Return the best and worst cases of PRES or RNorm, and each run, from the ranks of relevant documents, of n."""
    pres = measure.definition.name == "PRES"
    limit = int(measure.params["cutoff"] if pres else measure.params["docs"])
    end = limit + n if pres else limit
    own = {}
    for name, ranks in found.items():
        seen = [rank for rank in ranks if rank <= limit]
        own[name] = _steps([*seen, *range(end - n + len(seen) + 1, end + 1)], end)
    return Scene(n, limit, end, _steps(range(1, n + 1), end), _steps(range(end - n + 1, end + 1), end), own)


def _steps(ranks: Sequence[int], end: int) -> _Steps:
    """Return how many are found from each rank on where that changes, and at the end."""
    return [(0, 0), *((rank, i) for i, rank in enumerate(ranks, 1)), (end, len(ranks))]


def _frame(n: int, end: int, canvas: Canvas) -> Axes:
    """Return axes with room for two lines of text above the highest value."""
    top = n / (1 - 2.6 * canvas.line / canvas.height)
    ticks = {"values": whole_ticks(n), "format": ",d"}
    across = ranks_axis(0, end, canvas)
    return Axes("rank", "found", say("Rank"), say("Relevant documents found"), (0, end), (0, top), across, ticks)


def _staircase(steps: _Steps, axes: Axes, **look: Any) -> Row:
    rows = [{"rank": rank, "found": found} for rank, found in steps]
    return layer(rows, "line", axes.encoding(), interpolate="step-after", **look)


def _area(low: _Steps, high: _Steps, axes: Axes, **look: Any) -> Row:
    """What lies between two lines: the lower and the upper value at every rank where one of them changes."""
    ranks = sorted({rank for rank, _ in (*low, *high)})
    rows = [{"rank": rank, "low": _found(low, rank), "high": _found(high, rank)} for rank in ranks]
    encoding = {"x": axes.encoding()["x"], "y": axes.encoding()["y"] | {"field": "low"}, "y2": {"field": "high"}}
    return layer(rows, "area", encoding, interpolate="step-after", **look)


def _cases(best: _Steps, worst: _Steps, axes: Axes, canvas: Canvas) -> list[Row]:
    """The best case dashed, the worst dotted."""
    look = {"color": canvas.quiet, "strokeWidth": canvas.px(1.5)}
    return [
        _staircase(best, axes, strokeDash=[6, 3], **look),
        _staircase(worst, axes, strokeDash=[2, 2], **look),
    ]


def _word(text: str, rank: float, found: float, axes: Axes, canvas: Canvas, **look: Any) -> list[Row]:
    """A word with paper around its letters, where lines may run through it."""
    rows, encoding = [{"rank": rank, "found": found, "text": text}], {**axes.encoding(), "text": {"field": "text"}}
    around = look | {"stroke": canvas.paper, "strokeWidth": canvas.px(4), "color": canvas.paper}
    return [layer(rows, "text", encoding, **around), layer(rows, "text", encoding, **look)]


def areas(what: Scene, canvas: Canvas, note: str) -> Chart:
    """Draw each run between the best and the worst case; of one run both areas, of two or three the one below each."""
    several = len(what.own) > 1
    labels = {name: f"{shown} {_figure(what.value(name))}" for name, shown in short_names(list(what.own)).items()}
    canvas = canvas.beside(right=margin(list(labels.values()), canvas) if several else 0.0)
    axes = _frame(what.n, what.end, canvas)
    if several:
        layers = _each_area(what, labels, axes, canvas)
        said = (note, say("the area under a line, as a share of that between both cases, is the value"))
    else:
        (name,) = what.own
        layers = _two_areas(what, axes, canvas)
        said = (say("{run}: A2 / (A1 + A2) = {value:.4f}", run=name, value=what.value(name)), note)
    up, quiet = -0.6 * canvas.font, canvas.quiet
    layers += [
        *_cases(what.best, what.worst, axes, canvas),
        *_limit(what.limit, axes),
        *_word(say("best case"), what.n, what.n, axes, canvas, align="left", dx=4, dy=up, color=quiet),
        *_word(say("worst case"), *_foot(what, axes, canvas), axes, canvas, align="right", dx=-6, dy=up, color=quiet),
    ]
    return canvas.chart(layers, *said)


def _two_areas(what: Scene, axes: Axes, canvas: Canvas) -> list[Row]:
    """A1, lost to the best case, and A2, won over the worst; each has its name where there is most room."""
    (own,), colour = what.own.values(), canvas.colours[0]
    layers = []
    for name, low, high, look in (
        ("A1", own, what.best, {"color": canvas.quiet, "opacity": 0.15}),
        ("A2", what.worst, own, {"color": colour, "opacity": 0.25}),
    ):
        layers.append(_area(low, high, axes, **look))
        place = _roomiest(low, high, axes, canvas, name)
        if place is not None:
            layers += _word(name, *place, axes, canvas, fontWeight="bold")
    return [*layers, _staircase(own, axes, color=colour, strokeWidth=canvas.px(2.5))]


def _roomiest(low: _Steps, high: _Steps, axes: Axes, canvas: Canvas, text: str) -> tuple[float, float] | None:
    """Return the middle of the highest place between two lines that a word fits into, if there is one."""
    end = axes.x_domain[1]
    half = (canvas.span(text) / 2 + 2) / canvas.width * end
    places = []
    for middle in np.linspace(half, end - half, 60).tolist():
        floor, ceiling = _found(low, middle + half), _found(high, middle - half)
        places.append((ceiling - floor, middle, (ceiling + floor) / 2))
    room, across, up = max(places, key=lambda place: place[0])
    return (across, up) if room * canvas.height / axes.y_domain[1] >= canvas.line else None


def _found(line: _Steps, rank: float) -> int:
    """Return how many are found up to a rank."""
    return line[max(0, bisect_right(line, (rank, math.inf)) - 1)][1]


def _each_area(what: Scene, labels: Mapping[str, str], axes: Axes, canvas: Canvas) -> list[Row]:
    """The area over the worst case of each run, with its name and value at the right."""
    how = channels(list(labels.values()), canvas)
    layers: list[Row] = []
    if len(what.own) <= MOST_AREAS:
        for steps, colour in zip(what.own.values(), canvas.colours, strict=False):
            layers.append(_area(what.worst, steps, axes, color=colour, opacity=0.15))
    styled = {**axes.encoding(), "color": how["color"], "strokeDash": how["strokeDash"]}
    rows = axes.rows(what.own, labels)
    layers.append(layer(rows, "line", styled, interpolate="step-after", strokeWidth=canvas.px(2)))
    foot = what.end - what.n  # up to here the worst case finds nothing, and runs differ
    upward = sorted(what.own, key=what.value)  # of those at one height, the better stands higher
    ends = [{"run": labels[name], "rank": foot, "found": _found(what.own[name], foot)} for name in upward]
    return [*layers, *names_at_the_end(ends, axes, canvas, how)]


def _limit(limit: int, axes: Axes) -> list[Row]:
    """A line at the rank where the reader stops, with its name in the upper row."""
    row = [{"rank": limit, "found": axes.y_domain[1], "text": f"N = {number(f'{limit:,}')}"}]
    encoding = axes.encoding()
    side = {"align": "right", "dx": -4} if limit > 0.5 * axes.x_domain[1] else {"align": "left", "dx": 4}
    return [
        layer(row, "rule", {"x": encoding["x"]}, strokeDash=[4, 4], opacity=0.6),
        layer(row, "text", {**encoding, "text": {"field": "text"}}, baseline="top", **side),
    ]


def _foot(what: Scene, axes: Axes, canvas: Canvas) -> tuple[int, float]:
    """Return where the name of the worst case goes: at its foot, above a line that would run through it."""
    foot = what.end - what.n
    unit = axes.y_domain[1] / canvas.height
    base = 0.0
    for found in sorted({_found(steps, foot) for steps in what.own.values()}):
        if base <= found < base + 1.4 * canvas.line * unit:
            base = found
    return foot, base


def _height_and_width(what: Measure, name: str, ranking: Ranking, at: int, canvas: Canvas, note: str) -> Chart:
    """Draw h and w of MOR, and between which lines a list with the same h and w can run."""
    cutoff, rel = int(what.params["cutoff"]), what.params.get("rel")
    parts = mor_parts(ranking, cutoff, rel)
    n, h, w = int(ranking.n_rel(rel)[at]), int(parts.h[at]), int(parts.w[at])
    axes = _frame(n, cutoff, canvas)
    own = _steps([rank for rank in relevant_ranks(ranking, at, rel) if rank <= cutoff], cutoff)
    colour = canvas.colours[0]
    layers = [_staircase(own, axes, color=colour, strokeWidth=canvas.px(2.5)), *_limit(cutoff, axes)]
    if not h:
        nothing = say("{run}: nothing relevant in the first {n}: {measure} = 0", run=name, n=cutoff, measure=what.name)
        return canvas.chart(layers, nothing, note)
    best, worst = _steps([*range(1, h), w], cutoff), _steps(range(w - h + 1, w + 1), cutoff)
    corner, encoding = [{"rank": w, "found": h, "zero": 0}], axes.encoding()
    guide = {"strokeDash": [2, 3], "color": canvas.ink}
    up, faint = -0.6 * canvas.font, {"color": canvas.quiet}
    room = (w - h + 1) / cutoff * canvas.width > canvas.span("AP0") + 10
    words = [
        *_word(f"h = {h}", 0, h, axes, canvas, align="left", dx=4, dy=up),
        *_word(f"w = {w}", w, 0, axes, canvas, **_beside(w, cutoff, canvas), dy=up),
    ]
    if h > 1:
        words += _word("AP1", h - 1, h - 1, axes, canvas, align="left", dx=4, dy=1.2 * canvas.font, **faint)
    if room and w > h > 1:
        words += _word("AP0", w - h + 1, 0, axes, canvas, align="right", dx=-5, dy=up, **faint)
    behind = [
        _area(worst, best, axes, color=canvas.quiet, opacity=0.15),
        *_cases(best, worst, axes, canvas),
        layer(corner, "rule", {**encoding, "x2": {"field": "zero"}}, **guide),
        layer(corner, "rule", {**encoding, "y2": {"field": "zero"}}, **guide),
    ]
    point = layer(corner, "point", encoding, filled=True, size=canvas.area(90), color=colour, opacity=1)
    said = say(
        "{run}: h = {h} of n = {n}, w = {w}, AP {ap:.4f} between AP0 {ap0:.4f} (dotted) and AP1 {ap1:.4f} (dashed)",
        run=name,
        h=h,
        n=n,
        w=w,
        ap=parts.ap[at],
        ap0=parts.ap0[at],
        ap1=parts.ap1[at],
    )
    return canvas.chart([*behind, *layers, point, *words], said, f"{what.name} = {_figure(parts.mor[at])}", note)


def _figure(value: float) -> str:
    return number(f"{value:.4f}")


def _beside(rank: float, end: float, canvas: Canvas) -> Row:
    """To the right of a rank, where all lines have risen; to its left if there is no room."""
    narrow = (end - rank) / end * canvas.width < canvas.span("w = 0000")
    return {"align": "right", "dx": -5} if narrow else {"align": "left", "dx": 5}
