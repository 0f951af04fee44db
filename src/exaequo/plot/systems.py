"""Pictures of systems: intervals that ties leave open, means with their groups, topics, measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from exaequo.choices import COMPARED
from exaequo.comparison import compare
from exaequo.errors import BadParameter
from exaequo.evaluation import evaluate
from exaequo.judge import Floats
from exaequo.measures import Measure, parse_measure, parse_measures
from exaequo.plot.chart import Canvas, Chart, Common
from exaequo.plot.data import by_topic, defined, evaluation, level_of, number, read, two
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Row, beside_points, dotted, layer, nominal, notes, padded, quantity, short_names
from exaequo.read import QrelsLike
from exaequo.stats.agreement import kendall
from exaequo.text import count

#: Where ties change nothing that can be seen.
_ALL = "all (nearly) alike"
_SYMBOLS = ("triangle-right", "cross", "triangle-left", "diamond", "circle")
#: Bars have names as long as their letters are not smaller than that share of the usual size.
LEAST_LETTERS = 0.6
#: Rows of a picture that has one for each run.
MOST_ROWS = 40
#: Letters of groups that are written out.
MOST_LETTERS = 8
#: Topics named in a picture of many.
NAMED = 5


@kind(Common)
def ties(qrels: QrelsLike, runs: Any, *, measure: str = "AP", **common: Unpack[Common]) -> Chart:
    """For each run the interval from realistic to optimistic, with conventional and expected in it."""
    what = parse_measure(measure)
    scores = evaluate(qrels, runs, what, ties=COMPARED, **evaluation(common))
    found = {run: {ties: scores.mean(what, run=run, ties=ties) for ties in COMPARED} for run in scores.runs}
    defined(what, np.array([each["realistic"] for each in found.values()]))
    order, some = best_rows(sorted(found, key=lambda run: -what.upward * found[run]["realistic"]))
    title = f"What ties leave open: {what.name}"
    note = notes("sorted by the realistic score", some, level_of(common))
    return intervals(found, order, what, Canvas.of(common), title=title, note=note)


def best_rows(runs: list[str]) -> tuple[list[str], str]:
    """Return as many of the best runs as a picture has rows for, and what to say about the others."""
    some = f"the best {MOST_ROWS} of {len(runs)} runs" if len(runs) > MOST_ROWS else ""
    return runs[:MOST_ROWS], some


def axis_name(measure: Measure, over: str = "mean") -> str:
    """Return what an axis is called: the measure, what is made of its topics if that is not the mean, and its way."""
    parts = [
        measure.name,
        "" if over == "mean" else f"{over} over topics",
        "" if measure.upward > 0 else "less is better",
    ]
    return ", ".join(part for part in parts if part)


def intervals(
    found: Mapping[str, Mapping[str, float]],
    order: Sequence[str],
    measure: Measure,
    canvas: Canvas,
    **words: str,
) -> Chart:
    """Draw, for each run in this order, the score under each strategy, or one mark where ties change nothing."""
    shown = short_names(order)
    canvas = canvas.beside(left=max(map(canvas.span, shown.values()))).rows(len(order))
    about, total = measure.definition, measure.aggregate != "mean"
    bounds = (-np.inf, np.inf) if total else (about.lowest, about.highest)
    domain = padded((value for run in order for value in found[run].values()), *bounds)
    least = 3 * (domain[1] - domain[0]) / canvas.width  # less than that cannot be seen
    title = axis_name(measure, measure.aggregate)
    bars: list[Row] = [
        {"run": shown[run], "low": found[run]["realistic"], "high": found[run]["optimistic"]}
        for run in order
        if not np.isnan(found[run]["realistic"])
    ]
    points: list[Row] = [
        {"run": shown[run], "value": value, "strategy": ties}
        for run in order
        for ties, value in _told_apart(found[run], least)
        if not np.isnan(value)
    ]
    y = nominal("run", sort=list(shown.values()))
    names = [ties for ties in (*COMPARED, _ALL) if any(point["strategy"] == ties for point in points)]
    room = sum(canvas.span(name) + 2 * canvas.font for name in names) / canvas.width
    legend = {"title": None, "orient": "top", "columns": len(names) if room < 1 else 3 if room < 1.6 else 2}

    def scale(values: Sequence[str]) -> Row:
        look = dict(zip((*COMPARED, _ALL), values, strict=True))
        return {"domain": names, "range": [look[name] for name in names]}

    strategy = {"field": "strategy", "type": "nominal", "legend": legend}
    encoding = {
        "y": y,
        "x": quantity("value", title, scale={"domain": domain, "zero": False, "nice": True}),
        "shape": {**strategy, "scale": scale(_SYMBOLS)},
        "color": {**strategy, "scale": scale((*canvas.colours[:4], canvas.ink))},
    }
    across = {"y": y, "x": quantity("low", title), "x2": {"field": "high"}}
    layers = [
        layer(bars, "bar", across, height=canvas.px(8), opacity=0.3, color=canvas.quiet),
        layer(points, "point", encoding, filled=True, size=canvas.area(90), opacity=1),
    ]
    return canvas.chart(layers, **words)


def _told_apart(values: Mapping[str, float], least: float) -> list[tuple[str, float]]:
    """Return the score under each strategy, or one for all of them if they cannot be seen apart."""
    chosen = [(ties, values[ties]) for ties in COMPARED]
    spread = max(value for _, value in chosen) - min(value for _, value in chosen)
    return [(_ALL, chosen[0][1])] if spread < least else chosen


@kind(Common)
def systems(
    qrels: QrelsLike, runs: Any, *, measure: str = "AP", alpha: float = 0.05, **common: Unpack[Common]
) -> Chart:
    """Means with their intervals; systems that share a letter are not told apart."""
    what = parse_measure(measure)
    result = compare(qrels, runs, what, alpha=alpha, ties="realistic", **evaluation(common))
    rows = result.systems.select("run", "mean", "low", "high", "group").to_dicts()
    kept, some = best_rows([row["run"] for row in rows])
    rows = rows[: len(kept)]
    note = notes(f"{100 * (1 - alpha):g} % intervals", letters_mean(rows), result.plan.name, some, level_of(common))
    return means(rows, what, Canvas.of(common), title=f"Means of {what.name}", note=note)


def letters_mean(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say what the letters beside the intervals mean; with many groups they are not written out."""
    if max(len(row["group"]) for row in rows) <= MOST_LETTERS:
        return "those that share a letter are not told apart"
    return "≈: not told apart from the best"


def means(rows: Sequence[Mapping[str, Any]], measure: Measure, canvas: Canvas, **words: str) -> Chart:
    """Draw means with their intervals, as far as values can go, and the letters of groups."""
    about = measure.definition
    shown = short_names([row["run"] for row in rows])
    canvas = canvas.beside(left=max(map(canvas.span, shown.values())), right=2 * canvas.font).rows(len(rows))
    many = max(len(row["group"]) for row in rows) > MOST_LETTERS
    rows = [
        {
            **row,
            "group": row["group"] if not many else "≈" if row["group"].startswith("a") else "",
            "run": shown[row["run"]],
            "low": max(row["low"], about.lowest) if row["low"] is not None else row["mean"],
            "high": min(row["high"], about.highest) if row["high"] is not None else row["mean"],
        }
        for row in rows
    ]
    y = nominal("run", sort=list(shown.values()))
    look = {"color": canvas.colours[0]}
    domain = padded((row[end] for row in rows for end in ("low", "high")), about.lowest, about.highest)
    scale = {"domain": domain, "zero": False, "nice": True}
    across = {"y": y, "x": quantity("low", axis_name(measure), scale=scale), "x2": {"field": "high"}}
    letters = {"y": y, "x": quantity("high"), "text": {"field": "group"}}
    layers = [
        layer(rows, "rule", across, strokeWidth=canvas.px(3), **look),
        layer(rows, "point", {"y": y, "x": quantity("mean")}, filled=True, size=canvas.area(80), opacity=1, **look),
        layer(rows, "text", letters, align="left", dx=8, fontWeight="bold"),
    ]
    return canvas.chart(layers, **words)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two systems, topic by topic, where both have a value."""

    measure: Measure
    names: tuple[str, str]
    topics: Sequence[str]
    first: Floats
    second: Floats
    #: What there is to say about it.
    note: str = ""

    @property
    def gap(self) -> Floats:
        """What the second has over the first."""
        return self.second - self.first

    @property
    def title(self) -> str:
        """Who against whom."""
        shown = short_names(self.names)
        return f"{shown[self.names[1]]} against {shown[self.names[0]]}"


class PairOptions(Common, total=False):
    """Which two systems: of what measure, under which strategy, and which runs; by default the first two."""

    measure: str
    ties: str
    one: str | None
    other: str | None


def _pair(qrels: QrelsLike, runs: Any, options: PairOptions) -> Pair:
    lists = read(qrels, runs, options)
    first, second = two(lists.names, options.get("one"), options.get("other"))
    what = by_topic(options.get("measure", "AP"))
    chosen = options.get("ties", "realistic")
    values = [what.values(lists.orderings[at].ranking(chosen)) for at in (first, second)]
    known = ~np.isnan(values[0]) & ~np.isnan(values[1])
    defined(what, np.where(known, values[0], np.nan))
    topics = [topic for topic, kept in zip(lists.judgments.topics, known, strict=True) if kept]
    left = f"{count(int((~known).sum()), 'topic')} left out ({what.definition.undefined})" if not known.all() else ""
    note = notes(f"{chosen} ties", left, lists.level)
    return Pair(what, (lists.names[first], lists.names[second]), topics, values[0][known], values[1][known], note)


@kind(PairOptions)
def topics(qrels: QrelsLike, runs: Any, **options: Unpack[PairOptions]) -> Chart:
    """Differences between two systems, topic by topic, sorted."""
    pair = _pair(qrels, runs, options)
    higher, lower, equal = (int(each.sum()) for each in (pair.gap > 0, pair.gap < 0, pair.gap == 0))
    note = notes(f"higher on {count(higher, 'topic')}, lower on {lower}, equal on {equal}", pair.note)
    return gap_bars(pair, Canvas.of(options), title=pair.title, note=note)


def gap_bars(pair: Pair, canvas: Canvas, **words: str) -> Chart:
    """Draw the differences of the second over the first, sorted; of many topics only the farthest are named."""
    shown = short_names(pair.names)
    first, second = (shown[name] for name in pair.names)
    topics = short_names(pair.topics, 16)
    gaps = sorted(zip(topics.values(), pair.gap.tolist(), strict=True), key=lambda each: -each[1])
    side = pair.measure.upward
    better = {1: f"{second} better", -1: f"{first} better", 0: "equal"}
    rows = [{"topic": topic, "gap": gap, "sign": better[int(np.sign(side * gap))]} for topic, gap in gaps]
    tints = dict(zip(better.values(), (canvas.colours[0], canvas.colours[1], canvas.quiet), strict=True))
    there = [name for name in tints if any(row["sign"] == name for row in rows)]
    scale = {"domain": there, "range": [tints[name] for name in there]}
    narrow = canvas.span("".join(there)) + 9 * canvas.font > canvas.width
    legend = {"title": None, "orient": "top", "columns": 1 if narrow else 3}
    letters = min(canvas.font, 0.95 * canvas.width / len(rows))
    many = letters < LEAST_LETTERS * canvas.font
    upright = max(map(canvas.span, topics.values())) < 0.9 * canvas.width / len(rows)
    axis = {"labels": not many, "ticks": not many, "labelAngle": 0 if upright else -90, "labelFontSize": letters}
    bars = {
        "x": nominal("topic", title="Topic", axis=axis),
        "y": quantity("gap", f"Difference in {axis_name(pair.measure)}"),
        "color": {"field": "sign", "type": "nominal", "scale": scale, "legend": legend},
    }
    note = notes(words.get("note", ""), *(_extremes(rows) if many else ()))
    return canvas.chart([layer(rows, "bar", bars)], title=words.get("title", ""), note=note)


def _extremes(rows: Sequence[Row]) -> list[str]:
    """Say which topics are farthest to either side."""
    up = [row for row in rows[:NAMED] if row["gap"] > 0]
    down = [row for row in rows[::-1][:NAMED] if row["gap"] < 0]
    said = []
    for name, chosen in (("highest", up), ("lowest", down)):
        far = ", ".join(f"{row['topic']} {row['gap']:+.4f}".replace("-", "−") for row in chosen)
        said.append(f"{name}: {far}" if far else "")
    return said


@kind(PairOptions)
def scatter(qrels: QrelsLike, runs: Any, **options: Unpack[PairOptions]) -> Chart:
    """Two systems, topic by topic: above the line the second has the higher value."""
    pair = _pair(qrels, runs, options)
    note = notes(f"{count(len(pair.topics), 'topic')}, the most different named", pair.note)
    return cloud(pair, Canvas.of(options), title=pair.title, note=note)


def cloud(pair: Pair, canvas: Canvas, **words: str) -> Chart:
    """Draw the second against the first, topic by topic, with the line where both are equal; the frame is square."""
    side = max(canvas.height, 0.7 * canvas.width)
    canvas = canvas.high(side).wide(side)
    shown = short_names(pair.names, 24)
    name, everything = axis_name(pair.measure), np.concatenate([pair.first, pair.second])
    low, top = min(0.0, float(everything.min())), max(float(everything.max()), 1e-9)
    top = 1.0 if 0.3 < top <= 1 else top
    low, top = low - 0.03 * (top - low), top + 0.03 * (top - low)  # so that no point lies on an axis
    scale = {"domain": [low, top], "nice": False, "zero": False}
    encoding = {
        "x": quantity("one", f"{name} of {shown[pair.names[0]]}", scale=scale),
        "y": quantity("two", f"{name} of {shown[pair.names[1]]}", scale=scale),
    }
    values = zip(pair.topics, pair.first.tolist(), pair.second.tolist(), strict=True)
    rows: list[Row] = [{"topic": topic, "one": a, "two": b} for topic, a, b in values]
    far = [rows[at] for at in np.argsort(-np.abs(pair.gap), kind="stable")[:NAMED] if pair.gap[at]]
    look = {"color": canvas.quiet, "strokeDash": [4, 4]}
    times = Counter((row["one"], row["two"]) for row in rows)
    points = [{"one": a, "two": b, "topics": n, "area": canvas.area(55 * n**0.5)} for (a, b), n in times.items()]
    sized = {**encoding, "size": {"field": "area", "type": "quantitative", "scale": None, "legend": None}}
    if max(times.values()) > 1:
        words = words | {"note": notes(words.get("note", ""), "larger points are several topics")}
    layers = [
        layer([{"one": low, "two": low}, {"one": top, "two": top}], "line", encoding, **look),
        layer(points, "point", sized, filled=True, opacity=0.7, color=canvas.colours[0]),
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
    for row, (text, from_x, from_y), (x, y, align) in zip(far, labels, places, strict=True):
        at = [{"topic": text, "one": low + x / unit, "two": low + (canvas.height - y) / unit}]
        if abs(x - from_x) + abs(y - from_y) > 1.5 * canvas.font:  # too far to see whose name it is
            way = [{"one": row["one"], "two": row["two"], "x": at[0]["one"], "y": at[0]["two"]}]
            layers.append(
                layer(way, "rule", {**encoding, "x2": {"field": "x"}, "y2": {"field": "y"}}, **dotted(canvas))
            )
        layers.append(layer(at, "text", {**encoding, "text": {"field": "topic"}}, align=align, baseline="middle"))
    return layers


@kind(Common)
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
    note = notes(f"rankings of {len(scores.runs)} systems, {ties} ties", level_of(common))
    return agreement(parsed, figures, Canvas.of(common), title="Agreement of measures", note=note)


def agreement(parsed: Sequence[Measure], means: Sequence[Floats], canvas: Canvas, **words: str) -> Chart:
    """Draw Kendall's τ-b between the rankings of systems by each two measures, from the means of each."""
    figures = [each.upward * values for each, values in zip(parsed, means, strict=True)]
    rows = []
    for a, one in enumerate(parsed):
        for b, other in enumerate(parsed):
            tau = kendall(figures[a], figures[b])[0]
            text = "–" if np.isnan(tau) else f"{tau:.2f}"
            rows.append({"one": one.name, "two": other.name, "tau": number(tau), "text": text})
    names = [measure.name for measure in parsed]
    canvas = canvas.beside(left=max(map(canvas.span, names)), right=8 * canvas.font).rows(len(names))
    canvas = canvas.wide(max(canvas.width, 2.8 * canvas.font * len(names)))
    places = {
        "x": nominal("one", sort=names, axis={"labelAngle": -35}),
        "y": nominal("two", sort=names),
    }
    tint = quantity("tau", "τ-b", scale={"scheme": "cividis", "domain": [-1, 1]})
    readable = {
        "condition": [
            {"test": "datum.tau === null", "value": canvas.ink},
            {"test": "datum.tau > 0.2", "value": "#111111"},
        ],
        "value": "#FEFEFE",
    }
    layers = [
        layer([row for row in rows if row["tau"] is not None], "rect", {**places, "color": tint}),
        layer(rows, "text", {**places, "text": {"field": "text"}, "color": readable}),
    ]
    undefined = "" if all(row["tau"] is not None for row in rows) else "–: all runs have the same value"
    return canvas.chart(layers, title=words.get("title", ""), note=notes(words.get("note", ""), undefined))
