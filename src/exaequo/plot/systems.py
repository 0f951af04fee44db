"""Pictures of systems: intervals that ties leave open, means with their groups, topics, measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from exaequo.comparison import compare
from exaequo.evaluation import evaluate
from exaequo.judge import Floats
from exaequo.measures import parse_measure, parse_measures
from exaequo.order import INTERVAL
from exaequo.plot.chart import COLOURS, ON_DARK, Chart, chart
from exaequo.plot.data import number, read, two
from exaequo.read import QrelsLike
from exaequo.stats.agreement import kendall

_STRATEGIES = (*INTERVAL, "expected")
_SYMBOLS = ("triangle-right", "cross", "triangle-left", "diamond")


def _height(rows: int) -> float:
    return max(60, 30 * rows)


def ties(qrels: QrelsLike, runs: Any, *, measure: str = "AP", size: str = "page", dark: bool = False) -> Chart:
    """For each run the interval from realistic to optimistic, with conventional and expected in it."""
    scores = evaluate(qrels, runs, measure, ties=_STRATEGIES)
    name = parse_measure(measure).name
    found = {run: {ties: scores.mean(name, run=run, ties=ties) for ties in _STRATEGIES} for run in scores.runs}
    upward = parse_measure(measure).upward
    order = sorted(found, key=lambda run: -upward * found[run]["realistic"])
    title = f"What ties leave open: {name}"
    return intervals(found, order, name, title=title, note="sorted by the realistic score", size=size, dark=dark)


def intervals(found: Mapping[str, Mapping[str, float]], order: Sequence[str], name: str, **look: Any) -> Chart:
    """Draw, for each run in this order, the score under each strategy."""
    dark = bool(look.get("dark"))
    bars = [{"run": run, "low": found[run]["realistic"], "high": found[run]["optimistic"]} for run in order]
    points = [{"run": run, "value": found[run][ties], "strategy": ties} for run in order for ties in _STRATEGIES]
    colours = ON_DARK if dark else COLOURS
    y = {"field": "run", "type": "nominal", "title": None, "sort": list(order)}
    symbols = {"domain": list(_STRATEGIES), "range": list(_SYMBOLS)}
    tints = {"domain": list(_STRATEGIES), "range": [colours[0], colours[1], colours[2], colours[3]]}
    legend = {"title": None, "orient": "top"}
    layers = [
        {
            "data": {"values": bars},
            "mark": {"type": "bar", "height": 8, "opacity": 0.3, "color": "#888888"},
            "encoding": {"y": y, "x": {"field": "low", "type": "quantitative", "title": name}, "x2": {"field": "high"}},
        },
        {
            "data": {"values": points},
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {
                "y": y,
                "x": {"field": "value", "type": "quantitative", "title": name, "scale": {"zero": False}},
                "shape": {"field": "strategy", "type": "nominal", "scale": symbols, "legend": legend},
                "color": {"field": "strategy", "type": "nominal", "scale": tints, "legend": legend},
            },
        },
    ]
    return chart(layers, height=_height(len(order)), **look)


def systems(
    qrels: QrelsLike,
    runs: Any,
    *,
    measure: str = "AP",
    alpha: float = 0.05,
    size: str = "page",
    dark: bool = False,
) -> Chart:
    """Means with their intervals; systems that share a letter are not told apart."""
    result = compare(qrels, runs, measure, alpha=alpha, ties="realistic")
    rows = [
        {"run": row["run"], "mean": row["mean"], "low": row["low"], "high": row["high"], "group": row["group"]}
        for row in result.systems.to_dicts()
    ]
    name = parse_measure(measure).name
    note = f"{100 * (1 - alpha):g} % intervals; those that share a letter are not told apart ({result.plan.name})"
    return means(rows, name, title=f"Means of {name}", note=note, size=size, dark=dark)


def means(rows: Sequence[Mapping[str, Any]], name: str, **look: Any) -> Chart:
    """Draw means with their intervals and the letters of groups."""
    order = [row["run"] for row in rows]
    y = {"field": "run", "type": "nominal", "title": None, "sort": order}
    dark = bool(look.get("dark"))
    colour = (ON_DARK if dark else COLOURS)[0]
    layers = [
        {
            "data": {"values": rows},
            "mark": {"type": "rule", "strokeWidth": 3, "color": colour},
            "encoding": {
                "y": y,
                "x": {"field": "low", "type": "quantitative", "title": name, "scale": {"zero": False}},
                "x2": {"field": "high"},
            },
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 80, "color": colour, "opacity": 1},
            "encoding": {"y": y, "x": {"field": "mean", "type": "quantitative"}},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "text", "align": "left", "dx": 8, "fontWeight": "bold"},
            "encoding": {"y": y, "x": {"field": "high", "type": "quantitative"}, "text": {"field": "group"}},
        },
    ]
    return chart(layers, height=_height(len(order)), **look)


def _pair(qrels: QrelsLike, runs: Any, measure: str, ties: str, one: str | None, other: str | None) -> Any:
    lists = read(qrels, runs)
    first, second = two(lists.names, one, other)
    what = parse_measure(measure)
    rankings = dict(lists.rankings(ties))
    names = lists.names[first], lists.names[second]
    values = [what.values(rankings[name]) for name in names]
    known = ~np.isnan(values[0]) & ~np.isnan(values[1])
    topics = [topic for topic, kept in zip(lists.judgments.topics, known, strict=True) if kept]
    return what.name, names, topics, values[0][known], values[1][known]


def topics(
    qrels: QrelsLike,
    runs: Any,
    *,
    measure: str = "AP",
    ties: str = "realistic",
    one: str | None = None,
    other: str | None = None,
    size: str = "page",
    dark: bool = False,
) -> Chart:
    """Differences between two systems, topic by topic, sorted."""
    name, names, labels, first, second = _pair(qrels, runs, measure, ties, one, other)
    wins = int((second > first).sum())
    note = f"{wins} topics up, {int((second < first).sum())} down, {int((second == first).sum())} equal; {ties} ties"
    title = f"{names[1]} against {names[0]}"
    return gap_bars(name, names, labels, first, second, title=title, note=note, size=size, dark=dark)


def gap_bars(
    name: str, names: Sequence[str], labels: Sequence[str], first: Floats, second: Floats, **look: Any
) -> Chart:
    """Draw the differences of the second over the first, sorted."""
    dark = bool(look.get("dark"))
    gaps = sorted(zip(labels, second - first, strict=True), key=lambda each: -each[1])
    side = parse_measure(name).upward
    rows = [
        {"topic": topic, "gap": float(gap), "sign": names[1] if side * gap > 0 else names[0] if gap else "equal"}
        for topic, gap in gaps
    ]
    colours = ON_DARK if dark else COLOURS
    scale = {"domain": [names[1], names[0], "equal"], "range": [colours[0], colours[1], "#888888"]}
    many = len(rows) > 60
    legend = {"title": "better", "orient": "top"}
    axis = {"labels": not many, "ticks": not many, "labelAngle": -90}
    spec = {
        "data": {"values": rows},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "topic", "type": "nominal", "sort": None, "title": "Topic", "axis": axis},
            "y": {"field": "gap", "type": "quantitative", "title": f"{name}: {names[1]} − {names[0]}"},
            "color": {"field": "sign", "type": "nominal", "scale": scale, "legend": legend},
        },
    }
    return chart(spec, **look)


def scatter(
    qrels: QrelsLike,
    runs: Any,
    *,
    measure: str = "AP",
    ties: str = "realistic",
    one: str | None = None,
    other: str | None = None,
    size: str = "page",
    dark: bool = False,
) -> Chart:
    """Two systems, topic by topic: above the line the second has the higher value."""
    name, names, labels, first, second = _pair(qrels, runs, measure, ties, one, other)
    note = f"{len(labels)} topics, the five most different named; {ties} ties"
    title = f"{names[1]} against {names[0]}"
    return cloud(name, names, labels, first, second, title=title, note=note, size=size, dark=dark)


def cloud(name: str, names: Sequence[str], labels: Sequence[str], first: Floats, second: Floats, **look: Any) -> Chart:
    """Draw the second against the first, topic by topic, with the line where both are equal."""
    dark = bool(look.get("dark"))
    rows = [{"topic": t, "one": float(a), "two": float(b)} for t, a, b in zip(labels, first, second, strict=True)]
    far = [rows[at] for at in np.argsort(-np.abs(second - first), kind="stable")[:5]]
    everything = [*first.tolist(), *second.tolist()]
    low, top = min([0.0, *everything]), max([*everything, 1e-9])
    top = 1.0 if 0.3 < top <= 1 else top
    colour = (ON_DARK if dark else COLOURS)[0]
    x = {"field": "one", "type": "quantitative", "title": f"{name} of {names[0]}", "scale": {"domain": [low, top]}}
    y = {"field": "two", "type": "quantitative", "title": f"{name} of {names[1]}", "scale": {"domain": [low, top]}}
    layers = [
        {
            "data": {"values": [{"one": low, "two": low}, {"one": top, "two": top}]},
            "mark": {"type": "line", "strokeDash": [4, 4], "color": "#888888"},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 0.75, "color": colour},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": far},
            "mark": {"type": "text", "align": "left", "dx": 6},
            "encoding": {"x": x, "y": y, "text": {"field": "topic"}},
        },
    ]
    return chart(layers, **look)


def measures(
    qrels: QrelsLike,
    runs: Any,
    *,
    measures: Sequence[str] | str = ("AP", "nDCG@10", "P@10", "RR", "R@1000", "PRES@100", "MOR@100"),
    ties: str = "realistic",
    size: str = "page",
    dark: bool = False,
) -> Chart:
    """How much measures agree on the ranking of systems: Kendall's τ-b of each two."""
    parsed = parse_measures(measures)
    scores = evaluate(qrels, runs, parsed, ties=ties)
    figures = [np.array([each.upward * scores.mean(each, run=run) for run in scores.runs]) for each in parsed]
    rows = []
    for a, one in enumerate(parsed):
        for b, second in enumerate(parsed):
            tau = 1.0 if a == b else kendall(figures[a], figures[b])[0]
            text = "–" if np.isnan(tau) else f"{tau:.2f}"
            rows.append({"one": one.name, "two": second.name, "tau": number(tau), "text": text})
    names = [measure.name for measure in parsed]
    x = {"field": "one", "type": "nominal", "title": None, "sort": names, "axis": {"labelAngle": -35}}
    y = {"field": "two", "type": "nominal", "title": None, "sort": names}
    scale = {"scheme": "cividis", "domain": [-1, 1]}
    tint = {"field": "tau", "type": "quantitative", "scale": scale, "title": "τ-b"}
    layers = [
        {
            "data": {"values": rows},
            "mark": {"type": "rect"},
            "encoding": {"x": x, "y": y, "color": tint},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "text"},
            "encoding": {
                "x": x,
                "y": y,
                "text": {"field": "text"},
                "color": {"condition": {"test": "datum.tau > 0.2", "value": "#111111"}, "value": "#FFFFFF"},
            },
        },
    ]
    note = f"rankings of {len(scores.runs)} systems, {ties} ties"
    return chart(layers, title="Agreement of measures", note=note, size=size, dark=dark, height=34.0 * len(names))
