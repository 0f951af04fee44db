"""Pictures of systems: intervals that ties leave open, means with their groups, topics, measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from exaequo.comparison import compare
from exaequo.errors import BadParameter
from exaequo.evaluation import evaluate
from exaequo.judge import Floats
from exaequo.measures import Measure, parse_measure, parse_measures
from exaequo.order import INTERVAL
from exaequo.plot.chart import Canvas, Chart, Common
from exaequo.plot.data import defined, evaluation, number, read, two
from exaequo.plot.marks import Row, beside_points, layer, nominal, quantity, short_names
from exaequo.read import QrelsLike
from exaequo.stats.agreement import kendall

_STRATEGIES = (*INTERVAL, "expected")
_SYMBOLS = ("triangle-right", "cross", "triangle-left", "diamond")
#: Topics up to which each bar has its name.
MOST_BARS = 60
#: Topics named in a picture of many.
NAMED = 5


def ties(qrels: QrelsLike, runs: Any, *, measure: str = "AP", **common: Unpack[Common]) -> Chart:
    """For each run the interval from realistic to optimistic, with conventional and expected in it."""
    what = parse_measure(measure)
    scores = evaluate(qrels, runs, what, ties=_STRATEGIES, **evaluation(common))
    found = {run: {ties: scores.mean(what, run=run, ties=ties) for ties in _STRATEGIES} for run in scores.runs}
    defined(what, np.array([each["realistic"] for each in found.values()]))
    order = sorted(found, key=lambda run: -what.upward * found[run]["realistic"])
    title = f"What ties leave open: {what.name}"
    return intervals(found, order, what, Canvas.of(common), title=title, note="sorted by the realistic score")


def intervals(
    found: Mapping[str, Mapping[str, float]],
    order: Sequence[str],
    measure: Measure,
    canvas: Canvas,
    **words: str,
) -> Chart:
    """Draw, for each run in this order, the score under each strategy."""
    shown = short_names(order)
    bars: list[Row] = [
        {"run": shown[run], "low": found[run]["realistic"], "high": found[run]["optimistic"]}
        for run in order
        if not np.isnan(found[run]["realistic"])
    ]
    points = [
        {"run": shown[run], "value": number(found[run][ties]), "strategy": ties}
        for run in order
        for ties in _STRATEGIES
        if not np.isnan(found[run][ties])
    ]
    y = nominal("run", sort=list(shown.values()))
    legend = {"title": None, "orient": "top", "columns": 4 if canvas.width > 400 else 2}

    def scale(values: Sequence[str]) -> Row:
        return {"domain": list(_STRATEGIES), "range": list(values)}

    strategy = {"field": "strategy", "type": "nominal", "legend": legend}
    encoding = {
        "y": y,
        "x": quantity("value", measure.name, scale={"zero": False}),
        "shape": {**strategy, "scale": scale(_SYMBOLS)},
        "color": {**strategy, "scale": scale(canvas.colours[:4])},
    }
    across = {"y": y, "x": quantity("low", measure.name), "x2": {"field": "high"}}
    layers = [
        layer(bars, "bar", across, height=8, opacity=0.3, color="#888888"),
        layer(points, "point", encoding, filled=True, size=90, opacity=1),
    ]
    return canvas.rows(len(order)).chart(layers, **words)


def systems(
    qrels: QrelsLike, runs: Any, *, measure: str = "AP", alpha: float = 0.05, **common: Unpack[Common]
) -> Chart:
    """Means with their intervals; systems that share a letter are not told apart."""
    what = parse_measure(measure)
    result = compare(qrels, runs, what, alpha=alpha, ties="realistic", **evaluation(common))
    rows = result.systems.select("run", "mean", "low", "high", "group").to_dicts()
    note = f"{100 * (1 - alpha):g} % intervals; those that share a letter are not told apart ({result.plan.name})"
    return means(rows, what, Canvas.of(common), title=f"Means of {what.name}", note=note)


def means(rows: Sequence[Mapping[str, Any]], measure: Measure, canvas: Canvas, **words: str) -> Chart:
    """Draw means with their intervals, as far as values can go, and the letters of groups."""
    about = measure.definition
    shown = short_names([row["run"] for row in rows])
    rows = [
        {
            **row,
            "run": shown[row["run"]],
            "low": max(row["low"], about.lowest) if row["low"] is not None else row["mean"],
            "high": min(row["high"], about.highest) if row["high"] is not None else row["mean"],
        }
        for row in rows
    ]
    y = nominal("run", sort=list(shown.values()))
    look = {"color": canvas.colours[0]}
    across = {"y": y, "x": quantity("low", measure.name, scale={"zero": False}), "x2": {"field": "high"}}
    letters = {"y": y, "x": quantity("high"), "text": {"field": "group"}}
    layers = [
        layer(rows, "rule", across, strokeWidth=3, **look),
        layer(rows, "point", {"y": y, "x": quantity("mean")}, filled=True, size=80, opacity=1, **look),
        layer(rows, "text", letters, align="left", dx=8, fontWeight="bold"),
    ]
    return canvas.rows(len(rows)).chart(layers, **words)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two systems, topic by topic, where both have a value."""

    measure: Measure
    names: tuple[str, str]
    topics: Sequence[str]
    first: Floats
    second: Floats

    @property
    def gap(self) -> Floats:
        """What the second has over the first."""
        return self.second - self.first

    @property
    def title(self) -> str:
        """Who against whom."""
        return f"{self.names[1]} against {self.names[0]}"


class PairOptions(Common, total=False):
    """Which two systems: of what measure, under which strategy, and which runs; by default the first two."""

    measure: str
    ties: str
    one: str | None
    other: str | None


def _pair(qrels: QrelsLike, runs: Any, options: PairOptions) -> Pair:
    lists = read(qrels, runs, options)
    first, second = two(lists.names, options.get("one"), options.get("other"))
    what = parse_measure(options.get("measure", "AP"))
    chosen = options.get("ties", "realistic")
    values = [what.values(lists.orderings[at].ranking(chosen)) for at in (first, second)]
    known = ~np.isnan(values[0]) & ~np.isnan(values[1])
    defined(what, np.where(known, values[0], np.nan))
    topics = [topic for topic, kept in zip(lists.judgments.topics, known, strict=True) if kept]
    return Pair(what, (lists.names[first], lists.names[second]), topics, values[0][known], values[1][known])


def topics(qrels: QrelsLike, runs: Any, **options: Unpack[PairOptions]) -> Chart:
    """Differences between two systems, topic by topic, sorted."""
    pair = _pair(qrels, runs, options)
    higher, lower, equal = (int(each.sum()) for each in (pair.gap > 0, pair.gap < 0, pair.gap == 0))
    note = f"higher on {higher} topics, lower on {lower}, equal on {equal}; {options.get('ties', 'realistic')} ties"
    return gap_bars(pair, Canvas.of(options), title=pair.title, note=note)


def gap_bars(pair: Pair, canvas: Canvas, **words: str) -> Chart:
    """Draw the differences of the second over the first, sorted; of many topics only the farthest are named."""
    shown = short_names(pair.names)
    first, second = (shown[name] for name in pair.names)
    gaps = sorted(zip(pair.topics, pair.gap.tolist(), strict=True), key=lambda each: -each[1])
    side = pair.measure.upward
    better = {1: f"{second} better", -1: f"{first} better", 0: "equal"}
    rows = [{"topic": topic, "gap": gap, "sign": better[int(np.sign(side * gap))]} for topic, gap in gaps]
    scale = {"domain": list(better.values()), "range": [canvas.colours[0], canvas.colours[1], canvas.quiet]}
    legend = {
        "title": None,
        "orient": "top",
        "columns": 3 if canvas.span("".join(better.values())) < canvas.width else 1,
    }
    many = len(rows) > MOST_BARS
    axis = {"labels": not many, "ticks": not many, "labelAngle": -90}
    name = pair.measure.name
    bars = {
        "x": nominal("topic", title="Topic", axis=axis),
        "y": quantity("gap", f"Difference in {name}"),
        "color": {"field": "sign", "type": "nominal", "scale": scale, "legend": legend},
    }
    layers = [layer(rows, "bar", bars)]
    if many:
        layers += _extremes(rows, canvas)
    return canvas.chart(layers, **words)


def _extremes(rows: Sequence[Row], canvas: Canvas) -> list[Row]:
    """The names of the farthest topics, in the two corners that bars sorted by height leave free."""
    up = [row for row in rows[:NAMED] if row["gap"] > 0]
    down = [row for row in rows[::-1][:NAMED] if row["gap"] < 0]
    corners = ((up, canvas.width - 4, 0.0, "right", 1), (down, 4.0, canvas.height, "left", -1))
    layers = []
    for chosen, x, y, align, way in corners:
        for at, row in enumerate(chosen):
            text = [{"text": f"topic {row['topic']}: {row['gap']:+.4f}".replace("-", "−")}]
            place = {"x": {"value": x}, "y": {"value": y + way * canvas.line * (at + 0.7)}, "text": {"field": "text"}}
            layers.append(layer(text, "text", place, align=align, baseline="middle"))
    return layers


def scatter(qrels: QrelsLike, runs: Any, **options: Unpack[PairOptions]) -> Chart:
    """Two systems, topic by topic: above the line the second has the higher value."""
    pair = _pair(qrels, runs, options)
    note = f"{len(pair.topics)} topics, the most different named; {options.get('ties', 'realistic')} ties"
    return cloud(pair, Canvas.of(options), title=pair.title, note=note)


def cloud(pair: Pair, canvas: Canvas, **words: str) -> Chart:
    """Draw the second against the first, topic by topic, with the line where both are equal; the frame is square."""
    side = max(canvas.height, 0.75 * canvas.width)
    canvas = Canvas(side, side, canvas.font, canvas.dark)
    shown = short_names(pair.names, 24)
    name, everything = pair.measure.name, np.concatenate([pair.first, pair.second])
    low, top = min(0.0, float(everything.min())), max(float(everything.max()), 1e-9)
    top = 1.0 if 0.3 < top <= 1 else top
    scale = {"domain": [low, top], "nice": False, "zero": False}
    encoding = {
        "x": quantity("one", f"{name} of {shown[pair.names[0]]}", scale=scale),
        "y": quantity("two", f"{name} of {shown[pair.names[1]]}", scale=scale),
    }
    values = zip(pair.topics, pair.first.tolist(), pair.second.tolist(), strict=True)
    rows = [{"topic": topic, "one": a, "two": b} for topic, a, b in values]
    far = [rows[at] for at in np.argsort(-np.abs(pair.gap), kind="stable")[:NAMED] if pair.gap[at]]
    look = {"color": canvas.quiet, "strokeDash": [4, 4]}
    layers = [
        layer([{"one": low, "two": low}, {"one": top, "two": top}], "line", encoding, **look),
        layer(rows, "point", encoding, filled=True, size=55, opacity=0.75, color=canvas.colours[0]),
        *_named_points(far, rows, (low, top), encoding, canvas),
    ]
    return canvas.chart(layers, **words)


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
    for (text, _, _), (x, y, align) in zip(labels, places, strict=True):
        at = [{"topic": text, "one": low + x / unit, "two": low + (canvas.height - y) / unit}]
        layers.append(layer(at, "text", {**encoding, "text": {"field": "topic"}}, align=align, baseline="middle"))
    return layers


def measures(
    qrels: QrelsLike,
    runs: Any,
    *,
    measures: Sequence[str] | str = ("AP", "nDCG@10", "P@10", "RR", "R@1000", "PRES@100", "MOR@100"),
    ties: str = "realistic",
    **common: Unpack[Common],
) -> Chart:
    """How much measures agree on the ranking of systems: Kendall's τ-b of each two."""
    parsed = parse_measures(measures)
    scores = evaluate(qrels, runs, parsed, ties=ties, **evaluation(common))
    if len(scores.runs) < 2:
        raise BadParameter("This picture compares rankings of runs; give two runs or more.")
    figures = [np.array([scores.mean(each, run=run) for run in scores.runs]) for each in parsed]
    note = f"rankings of {len(scores.runs)} systems, {ties} ties"
    return agreement(parsed, figures, Canvas.of(common), title="Agreement of measures", note=note)


def agreement(parsed: Sequence[Measure], means: Sequence[Floats], canvas: Canvas, **words: str) -> Chart:
    """Draw Kendall's τ-b between the rankings of systems by each two measures, from the means of each."""
    figures = [each.upward * values for each, values in zip(parsed, means, strict=True)]
    rows = []
    for a, one in enumerate(parsed):
        for b, other in enumerate(parsed):
            tau = 1.0 if a == b else kendall(figures[a], figures[b])[0]
            text = "–" if np.isnan(tau) else f"{tau:.2f}"
            rows.append({"one": one.name, "two": other.name, "tau": number(tau), "text": text})
    names = [measure.name for measure in parsed]
    places = {
        "x": nominal("one", sort=names, axis={"labelAngle": -35}),
        "y": nominal("two", sort=names),
    }
    tint = quantity("tau", "τ-b", scale={"scheme": "cividis", "domain": [-1, 1]})
    readable = {"condition": {"test": "datum.tau > 0.2", "value": "#111111"}, "value": "#FEFEFE"}
    layers = [
        layer(rows, "rect", {**places, "color": tint}),
        layer(rows, "text", {**places, "text": {"field": "text"}, "color": readable}),
    ]
    return canvas.rows(len(names)).chart(layers, **words)
