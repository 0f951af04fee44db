"""Pictures along the ranks: relevant documents found with best and worst cases, a single one, and where ties are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from exaequo.errors import BadParameter
from exaequo.measures import Measure, parse_measure
from exaequo.measures.recall import mor_parts
from exaequo.order import Ranking
from exaequo.plot.chart import Canvas, Chart, Common, Look
from exaequo.plot.data import Lists, read, relevant_ranks
from exaequo.plot.marks import (
    Axes,
    Row,
    channels,
    layer,
    lines,
    names_at_the_end,
    nominal,
    quantity,
    short_names,
    whole_ticks,
)
from exaequo.read import QrelsLike

#: The measures whose best and worst cases can be drawn.
CASES = ("PRES", "RNorm", "MOR")
#: Runs whose areas can be told apart.
MOST_AREAS = 8
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
    lists = read(qrels, runs, common)
    if len(lists.names) > MOST_AREAS:
        raise BadParameter(f"This picture shows up to {MOST_AREAS} runs. Got {len(lists.names)}.")
    at = lists.topic(topic)
    rankings = lists.rankings(ties)
    what = _case(measure, cutoff, lists, at, rankings)
    canvas = Canvas.of(common)
    if what.definition.name == "MOR":
        lists.only()
        return _height_and_width(what, rankings[0], at, canvas, ties)
    return areas(scene(what, rankings, at, f"{ties} ties"), canvas)


def _case(measure: str, cutoff: int | None, lists: Lists, at: int, rankings: Sequence[tuple[str, Ranking]]) -> Measure:
    """Return the measure whose cases are drawn, with a cutoff that shows all there is unless one is given."""
    bare = parse_measure(measure, complete=False)
    if bare.definition.name not in CASES:
        raise BadParameter(f"This picture shows {', '.join(CASES)}. Got {measure!r}.")
    if bare.definition.name == "RNorm":
        return parse_measure(measure)
    if "cutoff" in bare.params:
        return bare
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

    def value(line: _Steps, rank: int) -> int:
        return max(found for at, found in line if at <= rank)

    return [{"rank": rank, "low": value(low, rank), "high": value(high, rank)} for rank in ranks]


def _frame(n: int, end: int, canvas: Canvas) -> Axes:
    """Return axes with room for two lines of text above the highest value."""
    top = n / (1 - 2.6 * canvas.line / canvas.height)
    whole = {"tickMinStep": 1, "format": "d"}
    ticks = {"values": whole_ticks(n), "format": "d"}
    return Axes("rank", "found", "Rank", "Relevant documents found", (0, end), (0, top), whole, ticks)


def _staircase(steps: _Steps, axes: Axes, **look: Any) -> Row:
    rows = [{"rank": rank, "found": found} for rank, found in steps]
    return layer(rows, "line", axes.encoding(), interpolate="step-after", **look)


def _area(rows: list[Row], axes: Axes, **look: Any) -> Row:
    encoding = {"x": axes.encoding()["x"], "y": axes.encoding()["y"] | {"field": "low"}, "y2": {"field": "high"}}
    return layer(rows, "area", encoding, interpolate="step-after", **look)


def _word(text: str, rank: float, found: float, axes: Axes, **look: Any) -> Row:
    encoding = {**axes.encoding(), "text": {"field": "text"}}
    return layer([{"rank": rank, "found": found, "text": text}], "text", encoding, **look)


def areas(what: Scene, canvas: Canvas) -> Chart:
    """Draw each run between the best and the worst case; of one run both areas, of several the one below each."""
    axes = _frame(what.n, what.end, canvas)
    best, worst = _steps(what.best, what.end), _steps(what.worst, what.end)
    lines_of = {name: _steps(ranks, what.end) for name, ranks in what.own.items()}
    quiet = {"color": canvas.quiet, "strokeWidth": 1.5}
    layers = []
    if len(lines_of) == 1:
        ((name, own),) = lines_of.items()
        layers += _two_areas(own, best, worst, axes, canvas)
        layers.append(_staircase(own, axes, color=canvas.colours[0], strokeWidth=2.5))
        note = f"{name}: A2 / (A1 + A2) = {what.value(name):.4f}; {what.note}"
    else:
        layers += _each_area(what, lines_of, worst, axes, canvas)
        note = f"{what.note}; the area under a line, as a share of that between both cases, is the value"
    layers += [
        _staircase(best, axes, strokeDash=[6, 3], **quiet),
        _staircase(worst, axes, strokeDash=[2, 2], **quiet),
        *_limit(what.limit, axes),
        _word("best case", what.n, what.n, axes, align="left", dx=4, dy=-0.6 * canvas.font, color=canvas.quiet),
        _worst_word(what, lines_of, axes, canvas),
    ]
    return canvas.chart(layers, title=what.title, note=note)


def _two_areas(own: _Steps, best: _Steps, worst: _Steps, axes: Axes, canvas: Canvas) -> list[Row]:
    """A1, lost to the best case, and A2, won over the worst; each has its name where it is highest."""
    layers = []
    shades = {"A1": (canvas.quiet, 0.15), "A2": (canvas.colours[0], 0.25)}
    for (name, (colour, opacity)), (low, high) in zip(shades.items(), ((own, best), (worst, own)), strict=True):
        rows = _between(low, high)
        layers.append(_area(rows, axes, color=colour, opacity=opacity))
        widths = [after["rank"] - row["rank"] for row, after in pairwise(rows)]
        room = [(row["high"] - row["low"]) * width for row, width in zip(rows, widths, strict=False)]
        at = int(np.argmax(room))
        middle = (rows[at]["rank"] + rows[at + 1]["rank"]) / 2
        high_enough = (rows[at]["high"] - rows[at]["low"]) * canvas.height / axes.y_domain[1] > canvas.line
        if high_enough and widths[at] * canvas.width / axes.x_domain[1] > canvas.span(name):
            layers.append(_word(name, middle, (rows[at]["high"] + rows[at]["low"]) / 2, axes, fontWeight="bold"))
    return layers


def _each_area(what: Scene, lines_of: Mapping[str, _Steps], worst: _Steps, axes: Axes, canvas: Canvas) -> list[Row]:
    """The area over the worst case of each run, with its name and value at the right, where the reader stops."""
    shown = short_names(list(lines_of))
    labels = {name: f"{shown[name]} {what.value(name):.4f}" for name in lines_of}
    how = channels(list(labels.values()), canvas)
    rows, ends, layers = [], [], []
    for at, (name, steps) in enumerate(lines_of.items()):
        colour = canvas.colours[at % len(canvas.colours)]
        layers.append(_area(_between(worst, steps), axes, color=colour, opacity=0.6 / (2 + len(lines_of))))
        rows += [{"run": labels[name], "rank": rank, "found": found} for rank, found in steps]
        inside = sum(rank <= what.limit for rank in what.own[name])
        ends.append({"run": labels[name], "rank": min(what.limit, what.end), "found": inside})
    styled = {**axes.encoding(), "color": how["color"], "strokeDash": how["strokeDash"]}
    layers.append(layer(rows, "line", styled, interpolate="step-after", strokeWidth=2))
    return [*layers, *names_at_the_end(ends, axes, canvas, how["color"])]


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
    at_foot = sorted({max(found for rank, found in steps if rank <= foot) for steps in lines_of.values()})
    base = 0.0
    for found in at_foot:
        if base <= found < base + 1.4 * canvas.line * unit:
            base = found
    return _word("worst case", foot, base, axes, align="right", dx=-6, dy=-0.6 * canvas.font, color=canvas.quiet)


def _height_and_width(what: Measure, named: tuple[str, Ranking], at: int, canvas: Canvas, ties: str) -> Chart:
    """Draw h and w of MOR, and between which lines a list with the same h and w can run."""
    name, ranking = named
    cutoff, rel = int(what.params["cutoff"]), what.params.get("rel")
    parts = mor_parts(ranking, cutoff, rel)
    n, h, w = int(ranking.n_rel(rel)[at]), int(parts.h[at]), int(parts.w[at])
    axes = _frame(n, cutoff, canvas)
    own = _steps([rank for rank in relevant_ranks(ranking, at, rel) if rank <= cutoff], cutoff)
    colour, quiet = canvas.colours[0], {"color": canvas.quiet, "strokeWidth": 1.5}
    title = f"{what.name}, topic {ranking.judgments.topics[at]}"
    layers = [_staircase(own, axes, color=colour, strokeWidth=2.5), *_limit(cutoff, axes)]
    if not h:
        note = f"{name}: nothing relevant in the first {cutoff}: {what.name} = 0; {ties} ties"
        return canvas.chart(layers, title=title, note=note)
    best, worst = _steps([*range(1, h), w], cutoff), _steps(range(w - h + 1, w + 1), cutoff)
    corner, encoding = [{"rank": w, "found": h, "zero": 0}], axes.encoding()
    guide = {"strokeDash": [2, 3], "color": canvas.ink}
    words = [
        _word(f"h = {h}", 0, h, axes, align="left", dx=4, dy=-0.6 * canvas.font),
        _word(f"w = {w}", w, 0, axes, **_beside(w, cutoff, canvas), dy=-0.6 * canvas.font),
    ]
    behind = [
        _area(_between(worst, best), axes, color=canvas.quiet, opacity=0.15),
        _staircase(best, axes, strokeDash=[6, 3], **quiet),
        _staircase(worst, axes, strokeDash=[2, 2], **quiet),
        layer(corner, "rule", {**encoding, "x2": {"field": "zero"}}, **guide),
        layer(corner, "rule", {**encoding, "y2": {"field": "zero"}}, **guide),
    ]
    point = layer(corner, "point", encoding, filled=True, size=90, color=colour, opacity=1)
    figures = f"AP {parts.ap[at]:.4f} between AP0 {parts.ap0[at]:.4f} (dotted) and AP1 {parts.ap1[at]:.4f} (dashed)"
    note = f"{name}: h = {h} of n = {n}, w = {w}, {figures}; {what.name} = {parts.mor[at]:.4f}; {ties} ties"
    return canvas.chart([*behind, *layers, point, *words], title=title, note=note)


def _beside(rank: float, end: float, canvas: Canvas) -> Row:
    """To the right of a rank, where all lines have risen; to its left if there is no room."""
    narrow = (end - rank) / end * canvas.width < canvas.span("w = 0000")
    return {"align": "right", "dx": -5} if narrow else {"align": "left", "dx": 5}


def single(*, cutoff: int = 10, **look: Unpack[Look]) -> Chart:
    """MOR, PRES and RR against the rank of a single relevant document, up to twice the cutoff."""
    names = [f"MOR@{cutoff}", f"PRES@{cutoff}", "RR"]
    topics = [f"{rank:05}" for rank in range(1, 2 * cutoff + 1)]
    qrels = {topic: {"the one": 1} for topic in topics}
    run = {}
    for rank, topic in enumerate(topics, 1):
        run[topic] = {("the one" if at == rank else f"d{at}"): -float(at) for at in range(1, 2 * cutoff + 1)}
    ((_, ranking),) = read(qrels, run, {}).rankings("realistic")
    rows = [
        {"run": name, "rank": at, "value": float(value)}
        for name in names
        for at, value in enumerate(parse_measure(name).values(ranking), 1)
    ]
    whole = {"tickMinStep": 1, "format": "d"}
    axes = Axes("rank", "value", "Rank of the only relevant document", "Value", (0, 2 * cutoff), (0, 1), whole)
    layers, canvas, _ = lines(rows, axes, Canvas.of(look))
    return canvas.chart(layers, title="One relevant document", note=f"a reader who looks at {cutoff}")


def tie_groups(
    qrels: QrelsLike,
    runs: Any,
    *,
    topic: str | None = None,
    depth: int = 100,
    **common: Unpack[Common],
) -> Chart:
    """Where in the ranking the ties are: a bar from the first to the last rank of each, a row per topic, or per run."""
    lists = read(qrels, runs, common)
    several = len(lists.names) > 1
    rows: dict[str, list[Row]] = {}
    shown = short_names(lists.names)
    for name, ranking in lists.rankings("realistic"):
        chosen = [lists.topic(topic)] if topic is not None or several else range(lists.judgments.n_topics)
        bars = tie_bars(ranking, depth)
        for at in chosen:
            label = shown[name] if several else f"topic {lists.judgments.topics[at]}"
            rows[label] = bars[at]
    who = f"topic {lists.judgments.topics[lists.topic(topic)]}" if several else lists.names[0]
    return tie_rows(rows, depth, Canvas.of(common), title=f"Ties of {who}")


def tie_bars(ranking: Ranking, depth: int) -> list[list[Row]]:
    """Return the ties of each topic that begin above a depth: from where to where, and whether they are mixed."""
    groups = ranking.groups
    inside, _ = groups.counts(ranking.relevant())
    bars: list[list[Row]] = [[] for _ in range(ranking.n_topics)]
    for tie in np.flatnonzero((groups.size > 1) & (groups.before < depth)).tolist():
        first, last = int(groups.before[tie]), min(int(groups.before[tie] + groups.size[tie]), depth)
        kind = "mixed" if 0 < inside[tie] < groups.size[tie] else "all alike"
        bars[int(groups.topic[tie])].append({"first": first + 0.5, "last": last + 0.5, "kind": kind})
    return bars


def tie_rows(rows: Mapping[str, list[Row]], depth: int, canvas: Canvas, *, title: str = "") -> Chart:
    """Draw a row of ties for each label; told by the height of bars too, not by colour alone."""
    labels = list(rows)
    scale = {"domain": ["mixed", "all alike"], "range": [canvas.colours[1], canvas.quiet]}
    legend = {"title": None, "orient": "top", "symbolType": "square"}
    encoding = {
        "x": quantity("first", "Rank", scale={"domain": [0.5, depth + 0.5], "nice": False}, axis={"tickMinStep": 1}),
        "x2": {"field": "last"},
        "y": nominal("row", scale={"domain": labels}, axis={"labelOverlap": "greedy"}),
        "color": {"field": "kind", "type": "nominal", "scale": scale, "legend": legend},
    }
    layers = []
    for kind, band in (("mixed", 0.8), ("all alike", 0.35)):
        bars = [{"row": label, **bar} for label, row in rows.items() for bar in row if bar["kind"] == kind]
        look = {"height": {"band": band}, "stroke": canvas.paper, "strokeWidth": 1 if len(labels) <= 60 else 0}
        layers.append(layer(bars, "bar", encoding, **look))
    note = "mixed ties hold relevant and other documents: their order changes scores"
    each = 1.5 * canvas.font if len(labels) <= 60 else 90 * canvas.font / len(labels)
    return canvas.high(max(60.0, each * len(labels))).chart(layers, title=title, note=note)
