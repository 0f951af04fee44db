"""The figures of the page, drawn from what has been computed already."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from exaequo.comparison import Comparison
from exaequo.plot.chart import COLOURS, Chart, apart, channels, chart

#: Lines a picture can hold; with more runs, the best are shown.
MOST_LINES = 8
MOST_ROWS = 40


def of(result: Comparison, best: str, second: str) -> list[tuple[str, str, str, Chart]]:
    """Return name, title, description and figure of each."""
    first = result.values.measures[0].name
    ranked = result.systems.filter(pl.col("measure") == first)["run"].to_list()
    return [
        (
            "ties",
            f"What ties leave open: {first}",
            "Intervals from realistic to optimistic scores; as in the table above.",
            _ties(result, ranked),
        ),
        (
            "systems",
            f"Means of {first}",
            "Means with their intervals; as in the table of runs.",
            _systems(result, ranked),
        ),
        (
            "curves",
            "Interpolated precision",
            "Precision at recall 0 to 1, averaged over topics; the best runs.",
            _curves(result, ranked),
        ),
        (
            "topics",
            f"{best} against {second}, topic by topic",
            f"Differences in {first}, sorted.",
            _topics(result, best, second),
        ),
        ("scatter", f"{best} and {second}", f"{first} of both, topic by topic.", _scatter(result, best, second)),
    ]


def _ties(result: Comparison, ranked: list[str]) -> Chart:
    values = result.values
    means = {ties: dict(zip(values.systems, values.means(0, ties).tolist(), strict=True)) for ties in values.ties}
    runs = ranked[:MOST_ROWS]
    bars = [{"run": run, "low": means["realistic"][run], "high": means["optimistic"][run]} for run in runs]
    points = [{"run": run, "value": means[ties][run], "strategy": ties} for run in runs for ties in values.ties]
    y = {"field": "run", "type": "nominal", "title": None, "sort": runs}
    domain = list(values.ties)
    symbols = {"domain": domain, "range": ["triangle-right", "cross", "triangle-left", "diamond"][: len(domain)]}
    tints = {"domain": domain, "range": list(COLOURS[: len(domain)])}
    legend = {"title": None, "orient": "top"}
    name = values.measures[0].name
    return chart(
        [
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "height": 8, "opacity": 0.3, "color": "#888888"},
                "encoding": {
                    "y": y,
                    "x": {"field": "low", "type": "quantitative", "title": name},
                    "x2": {"field": "high"},
                },
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
                "encoding": {
                    "y": y,
                    "x": {"field": "value", "type": "quantitative", "title": name, "scale": {"zero": False}},
                    "shape": {"field": "strategy", "type": "nominal", "scale": symbols, "legend": legend},
                    "color": {"field": "strategy", "type": "nominal", "scale": tints, "legend": legend},
                },
            },
        ],
        height=max(60.0, 24.0 * len(runs)),
    )


def _systems(result: Comparison, ranked: list[str]) -> Chart:
    own = result.systems.filter(pl.col("measure") == result.values.measures[0].name)
    rows = own.filter(pl.col("run").is_in(ranked[:MOST_ROWS])).select("run", "mean", "low", "high").to_dicts()
    y = {"field": "run", "type": "nominal", "title": None, "sort": [row["run"] for row in rows]}
    x = {"type": "quantitative", "title": result.values.measures[0].name, "scale": {"zero": False}}
    return chart(
        [
            {
                "data": {"values": rows},
                "mark": {"type": "rule", "strokeWidth": 3, "color": COLOURS[0]},
                "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"}},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": COLOURS[0]},
                "encoding": {"y": y, "x": {"field": "mean", **x}},
            },
        ],
        height=max(60.0, 22.0 * len(rows)),
    )


def _curves(result: Comparison, ranked: list[str]) -> Chart:
    runs = ranked[:MOST_LINES]
    table = {row["run"]: row for row in result.curves.to_dicts()}
    levels = [name for name in result.curves.columns if name != "run"]
    points = [{"run": run, "recall": float(level), "precision": table[run][level]} for run in runs for level in levels]
    ends = [{"run": run, "recall": 1.0, "precision": table[run][levels[-1]]} for run in runs]
    places = apart([end["precision"] for end in ends], 0.055, 0.0, 1.0)
    how = channels(runs, dark=False)
    x = {"field": "recall", "type": "quantitative", "title": "Recall", "scale": {"domain": [0, 1]}}
    y = {"field": "precision", "type": "quantitative", "title": "Precision", "scale": {"domain": [0, 1]}}
    return chart(
        [
            {
                "data": {"values": points},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": how["color"], "strokeDash": how["strokeDash"]},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "size": 40},
                "encoding": {"x": x, "y": y, "color": how["color"], "shape": how["shape"]},
            },
            {
                "data": {"values": [end | {"precision": place} for end, place in zip(ends, places, strict=True)]},
                "mark": {"type": "text", "align": "left", "dx": 8},
                "encoding": {"x": x, "y": y, "text": {"field": "run"}, "color": how["color"]},
            },
        ]
    )


def _both(result: Comparison, best: str, second: str) -> tuple[list[str], Any, Any]:
    table, known = result.values.of(0)
    topics = result.values.topics.filter(pl.Series(known)).to_list()
    one, two = (table[result.values.systems.index(name)] for name in (second, best))
    return topics, one, two


def _topics(result: Comparison, best: str, second: str) -> Chart:
    topics, one, two = _both(result, best, second)
    order = np.argsort(-(two - one), kind="stable")
    rows = [
        {"topic": topics[at], "gap": float(two[at] - one[at]), "better": best if two[at] >= one[at] else second}
        for at in order
    ]
    many = len(rows) > 60
    axis = {"labels": not many, "ticks": not many, "labelAngle": -90}
    scale = {"domain": [best, second], "range": list(COLOURS[:2])}
    legend = {"orient": "top", "title": "better"}
    return chart(
        {
            "data": {"values": rows},
            "mark": {"type": "bar"},
            "encoding": {
                "x": {"field": "topic", "type": "nominal", "sort": None, "title": "Topic", "axis": axis},
                "y": {
                    "field": "gap",
                    "type": "quantitative",
                    "title": f"Difference in {result.values.measures[0].name}",
                },
                "color": {"field": "better", "type": "nominal", "scale": scale, "legend": legend},
            },
        }
    )


def _scatter(result: Comparison, best: str, second: str) -> Chart:
    topics, one, two = _both(result, best, second)
    rows = [{"topic": t, "one": float(a), "two": float(b)} for t, a, b in zip(topics, one, two, strict=True)]
    top = max([1.0, *one.tolist(), *two.tolist()])
    x = {"field": "one", "type": "quantitative", "title": second, "scale": {"domain": [0, top]}}
    y = {"field": "two", "type": "quantitative", "title": best, "scale": {"domain": [0, top]}}
    return chart(
        [
            {
                "data": {"values": [{"one": 0, "two": 0}, {"one": top, "two": top}]},
                "mark": {"type": "line", "strokeDash": [4, 4], "color": "#888888"},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "point", "filled": True, "size": 55, "opacity": 0.75, "color": COLOURS[0]},
                "encoding": {"x": x, "y": y},
            },
        ],
        height=420,
    )
