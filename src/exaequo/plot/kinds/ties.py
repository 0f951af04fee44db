"""The interval ties leave open, from realistic to optimistic."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from exaequo.choices import COMPARED
from exaequo.evaluation import evaluate
from exaequo.language import say, strategy, word
from exaequo.measures import Measure, parse_measure
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import cautioned, defined, evaluation, level_of
from exaequo.plot.kinds import kind
from exaequo.plot.marks import MOST_ROWS, Row, axis_name, best_rows, layer, nominal, padded, quantity, short_names
from exaequo.read import QrelsLike

#: Where ties change nothing that can be seen.
_ALL = "all (nearly) alike"
#: Of many runs, how many are drawn because ties leave much open.
WIDEST = 10
_SYMBOLS = ("triangle-right", "cross", "triangle-left", "diamond", "circle")


@kind
def ties(qrels: QrelsLike, runs: Any, *, measure: str = "AP", **common: Unpack[Common]) -> Chart:
    """For each run the interval from realistic to optimistic, with conventional and expected in it."""
    what = parse_measure(measure)
    scores = evaluate(qrels, runs, what, ties=COMPARED, **evaluation(common))
    found = {run: {ties: scores.mean(what, run=run, ties=ties) for ties in COMPARED} for run in scores.runs}
    defined(what, np.array([each["realistic"] for each in found.values()]))
    order, some = _rows(found, what)
    note = notes(say("sorted by the realistic score"), cautioned(what, len(scores.shared)), some, level_of(common))
    return intervals(
        found, order, what, Canvas.of(common, say("What ties leave open: {measure}", measure=what.name), note)
    )


def _rows(found: Mapping[str, Mapping[str, float]], measure: Measure) -> tuple[list[str], str]:
    """Return the runs to draw, best first: all, or of many the best and those whose intervals are widest."""
    ranked = sorted(found, key=lambda run: -measure.upward * found[run]["realistic"])
    if len(ranked) <= MOST_ROWS:
        return ranked, ""
    wide = {run: abs(found[run]["optimistic"] - found[run]["realistic"]) for run in ranked[MOST_ROWS - WIDEST :]}
    widest = sorted((run for run in wide if wide[run] > 0), key=lambda run: -wide[run])[:WIDEST]
    best, some = best_rows(ranked, MOST_ROWS - len(widest))
    said = notes(some, say("and the {n} of the others with the widest intervals", n=len(widest)) if widest else "")
    return [run for run in ranked if run in (*best, *widest)], said


def intervals(
    found: Mapping[str, Mapping[str, float]], order: Sequence[str], measure: Measure, canvas: Canvas
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
        {"run": shown[run], "value": value, "strategy": _shown(ties)}
        for run in order
        for ties, value in _told_apart(found[run], least)
        if not np.isnan(value)
    ]
    y = nominal("run", sort=list(shown.values()))
    encoding = {
        "y": y,
        "x": quantity("value", title, scale={"domain": domain, "zero": False, "nice": True}),
        **_strategies({point["strategy"] for point in points}, canvas),
    }
    across = {"y": y, "x": quantity("low", title), "x2": {"field": "high"}}
    layers = [
        layer(bars, "bar", across, height=canvas.px(8), opacity=0.3, color=canvas.quiet),
        layer(points, "point", encoding, filled=True, size=canvas.area(90), opacity=1),
    ]
    return canvas.chart(layers)


def _told_apart(values: Mapping[str, float], least: float) -> list[tuple[str, float]]:
    """Return the score under each strategy, or one for all of them if they cannot be seen apart."""
    chosen = [(ties, values[ties]) for ties in COMPARED]
    spread = max(value for _, value in chosen) - min(value for _, value in chosen)
    return [(_ALL, chosen[0][1])] if spread < least else chosen


def _shown(ties: str) -> str:
    return word(ties) if ties == _ALL else strategy(ties)


def _strategies(drawn: Collection[str], canvas: Canvas) -> dict[str, Row]:
    """Return symbol and colour of each strategy, with a legend of as many columns as there is room for."""
    every = [_shown(ties) for ties in (*COMPARED, _ALL)]
    names = [ties for ties in every if ties in drawn]
    room = sum(canvas.span(name) + 2 * canvas.font for name in names) / canvas.width
    legend = {"title": None, "orient": "top", "columns": len(names) if room < 1 else 3 if room < 1.6 else 2}

    def scale(values: Sequence[str]) -> Row:
        look = dict(zip(every, values, strict=True))
        return {"domain": names, "range": [look[name] for name in names]}

    strategy = {"field": "strategy", "type": "nominal", "legend": legend}
    return {
        "shape": {**strategy, "scale": scale(_SYMBOLS)},
        "color": {**strategy, "scale": scale((*canvas.colours[:4], canvas.ink))},
    }
