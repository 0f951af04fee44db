"""How far measures agree on the ranking of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from exaequo.arrays import Floats
from exaequo.errors import BadParameter
from exaequo.evaluation import evaluate
from exaequo.language import number, say, strategy
from exaequo.measures import Measure, parse_measures
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import evaluation, level_of
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Row, layer, nominal, quantity
from exaequo.read import QrelsLike
from exaequo.stats.agreement import kendall


@kind
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
    seen = say("rankings of {n} systems, {ties} ties", n=len(scores.runs), ties=strategy(ties))
    return agreement(parsed, figures, Canvas.of(common, say("Agreement of measures"), notes(seen, level_of(common))))


def agreement(parsed: Sequence[Measure], means: Sequence[Floats], canvas: Canvas) -> Chart:
    """Draw Kendall's τ-b between the rankings of systems by each two measures, from the means of each."""
    figures = [each.upward * values for each, values in zip(parsed, means, strict=True)]
    rows: list[Row] = []
    for a, one in enumerate(parsed):
        for b, other in enumerate(parsed):
            tau = kendall(figures[a], figures[b])[0]
            known = not np.isnan(tau)  # JSON has no NaN
            text = number(f"{tau:.2f}") if known else "–"
            rows.append({"one": one.name, "two": other.name, "tau": float(tau) if known else None, "text": text})
    names = [measure.name for measure in parsed]
    canvas = canvas.beside(left=max(map(canvas.span, names)), right=8 * canvas.font).rows(len(names))
    canvas = canvas.wide(max(canvas.width, 2.8 * canvas.font * len(names)))
    places = {"x": nominal("one", sort=names, axis={"labelAngle": -35}), "y": nominal("two", sort=names)}
    least = min((row["tau"] for row in rows if row["tau"] is not None), default=0.0)
    low = min(0.9, math.floor(10 * least) / 10)  # from the least there is, so that differences show
    tint = quantity("tau", "τ-b", scale={"scheme": "cividis", "domain": [low, 1]})
    readable = {
        "condition": [
            {"test": "datum.tau === null", "value": canvas.ink},
            {"test": f"datum.tau > {low + 0.6 * (1 - low):.2f}", "value": "#111111"},
        ],
        "value": "#FEFEFE",
    }
    layers = [
        layer([row for row in rows if row["tau"] is not None], "rect", {**places, "color": tint}),
        layer(rows, "text", {**places, "text": {"field": "text"}, "color": readable}),
    ]
    undefined = "" if all(row["tau"] is not None for row in rows) else say("–: all runs have the same value")
    return canvas.chart(layers, undefined)
