"""Recall and precision, of one topic or averaged over topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from exaequo.arrays import Floats
from exaequo.language import say, strategy
from exaequo.measures.interpolated import best_from_here, interpolated_precision
from exaequo.order import Ranking
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import read, relevant_ranks
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, Row, best_named, layer, lines, where_apart
from exaequo.read import QrelsLike

LEVELS = tuple(tenth / 10 for tenth in range(11))
#: Topics up to which each is drawn behind the mean.
MOST_FAINT = 100
_F_VALUES = (0.2, 0.4, 0.6, 0.8)


def _plane() -> Axes:
    return Axes("recall", "precision", say("Recall"), say("Precision"), (0.0, 1.0), (0.0, 1.0))


@kind
def curve(
    qrels: QrelsLike,
    runs: Any,
    *,
    topic: str | None = None,
    ties: str = "realistic",
    f_lines: bool = False,
    every_topic: bool | None = None,
    **common: Unpack[Common],
) -> Chart:
    """Recall–precision curves: of one topic, points and interpolated steps; else interpolated, averaged over topics.

    `every_topic` draws all topics faintly behind the means; by default, if there is one run.
    """
    lists = read(qrels, runs, common)
    if topic is not None:
        note = notes(say("points and interpolated steps, {ties} ties", ties=strategy(ties)), lists.level)
        canvas = Canvas.of(common, say("Topic {topic}", topic=topic), note)
        return _topic_curves(lists.rankings(ties), lists.topic(topic), canvas, f_lines)
    tables = {
        name: np.array([interpolated_precision(ranking, level) for level in LEVELS])
        for name, ranking in lists.rankings(ties)
    }
    faint = len(tables) == 1 if every_topic is None else every_topic
    means = {name: table.mean(axis=1).tolist() for name, table in tables.items()}
    canvas = Canvas.of(common, say("Interpolated precision"), lists.about(ties))
    return mean_curves(means, canvas, tables.values() if faint else (), f_lines)


def _topic_curves(rankings: Sequence[tuple[str, Ranking]], topic: int, canvas: Canvas, f_lines: bool) -> Chart:
    """Draw recall and precision at each relevant document of one topic, and the interpolated steps through them."""
    steps, points = {}, {}
    for name, ranking in rankings:
        n = int(ranking.n_rel()[topic])
        points[name] = raw = [(i / n, i / at) for i, at in enumerate(relevant_ranks(ranking, topic), 1)]
        best = best_from_here(np.array([p for _, p in raw]), np.zeros(len(raw), dtype=np.int64))
        line = [(0.0, float(best[0]) if len(best) else 0.0)]
        line += [(r, float(b)) for (r, _), b in zip(raw, best, strict=True)]
        line += [(1.0, 0.0)] if line[-1][0] < 1 else []  # recall that is never reached has no precision
        steps[name] = line
    rank = {name: sum(p for _, p in raw) for name, raw in points.items()}
    back, front = _f_lines(canvas) if f_lines else ([], [])
    how = "step-before"
    return lines(steps, _plane(), canvas, marked=points, interpolate=how, rank=rank, behind=back, front=front)


def mean_curves(
    means: Mapping[str, Sequence[float]],
    canvas: Canvas,
    behind: Iterable[Floats] = (),
    f_lines: bool = False,
    beside: Mapping[str, str] | None = None,
) -> Chart:
    """Draw precision at eleven levels of recall, averaged over topics, perhaps with all topics faintly behind.

    `beside` is what stands after a name.
    """
    points = {name: list(zip(LEVELS, values, strict=True)) for name, values in means.items()}
    rank = {name: float(np.mean(values)) for name, values in means.items()}
    back, front = _f_lines(canvas) if f_lines else ([], [])
    spread = ""
    for at, table in enumerate(behind):
        colour = canvas.colours[at % len(canvas.colours)]
        if table.shape[1] <= MOST_FAINT:
            back.append(_faint(table, colour, canvas))
        else:
            back += _bands(table, colour)
            spread = say("shaded: the middle half, and 80 %, of topics")
    places = where_apart(points, best_named(list(points), rank)[0])
    return lines(
        *(points, _plane(), canvas), rank=rank, behind=back, front=front, said=spread, beside=beside, places=places
    )


def _faint(table: Floats, colour: str, canvas: Canvas) -> Row:
    """All topics, each the fainter the more there are."""
    rows = [
        {"topic": topic, "recall": level, "precision": float(value)}
        for topic, column in enumerate(table.T)
        for level, value in zip(LEVELS, column, strict=True)
    ]
    encoding = {**_plane().encoding(), "detail": {"field": "topic"}, "color": {"value": colour}}
    return layer(rows, "line", encoding, opacity=min(0.3, max(0.08, 5 / table.shape[1])), strokeWidth=canvas.px(1))


def _bands(table: Floats, colour: str) -> list[Row]:
    """Between which values most topics lie, where there are too many to draw each."""
    layers = []
    for low, high in ((10, 90), (25, 75)):
        ends = zip(LEVELS, *np.percentile(table, [low, high], axis=1), strict=True)
        rows = [{"recall": level, "precision": float(a), "high": float(b)} for level, a, b in ends]
        layers.append(layer(rows, "area", {**_plane().encoding(), "y2": {"field": "high"}}, color=colour, opacity=0.15))
    return layers


def _f_lines(canvas: Canvas) -> tuple[list[Row], list[Row]]:
    """Lines of equal F; and their values at the right end, on top of all, with paper around the letters."""
    values = [
        {"f": f, "recall": float(r), "precision": float(f * r / (2 * r - f))}
        for f in _F_VALUES
        for r in np.linspace(f / (2 - f), 1, 60)
    ]
    encoding = {**_plane().encoding(), "detail": {"field": "f"}}
    look = {"color": canvas.quiet, "strokeWidth": canvas.px(1), "strokeDash": [2, 3], "opacity": 0.7}
    curves = layer(values, "line", encoding, **look)
    rows = [{"recall": 1.0, "precision": f / (2 - f), "text": say("F {f}", f=f)} for f in _F_VALUES]
    encoding = {**_plane().encoding(), "text": {"field": "text"}}
    look = {"align": "right", "dx": -3, "dy": -0.5 * canvas.font, "fontSize": 0.85 * canvas.font}
    around = layer(rows, "text", encoding, stroke=canvas.paper, strokeWidth=4, color=canvas.paper, **look)
    return [curves], [around, layer(rows, "text", encoding, color=canvas.quiet, **look)]
