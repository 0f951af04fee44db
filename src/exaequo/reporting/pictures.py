"""The figures of the page, drawn from what has been computed already."""

from __future__ import annotations

from typing import Any

import polars as pl

from exaequo.comparison import Comparison
from exaequo.plot.chart import Chart, apart, channels, chart
from exaequo.plot.systems import cloud, gap_bars, intervals, means

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
    by_ties = {ties: dict(zip(values.systems, values.means(0, ties).tolist(), strict=True)) for ties in values.ties}
    runs = ranked[:MOST_ROWS]
    found = {run: {ties: figures[run] for ties, figures in by_ties.items()} for run in runs}
    return intervals(found, runs, values.measures[0].name)


def _systems(result: Comparison, ranked: list[str]) -> Chart:
    own = result.systems.filter(pl.col("measure") == result.values.measures[0].name)
    group = "group" if "group" in own.columns else "mark"
    rows = own.filter(pl.col("run").is_in(ranked[:MOST_ROWS])).select("run", "mean", "low", "high", group)
    return means(rows.rename({group: "group"}).to_dicts(), result.values.measures[0].name)


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
    return gap_bars(result.values.measures[0].name, (second, best), *_both(result, best, second))


def _scatter(result: Comparison, best: str, second: str) -> Chart:
    return cloud(result.values.measures[0].name, (second, best), *_both(result, best, second), height=420)
