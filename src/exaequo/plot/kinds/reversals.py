"""Conclusions from some topics that as many others reverse."""

from __future__ import annotations

from typing import Any, Unpack

import polars as pl

from exaequo.audit import reversal_rates
from exaequo.choices import ALPHA, COMPARED, SPLITS
from exaequo.errors import BadParameter
from exaequo.evaluation import evaluate
from exaequo.language import say, strategy
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import by_topic, evaluation, level_of
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, layer, lines, ranks_axis
from exaequo.read import QrelsLike


@kind
def reversals(
    qrels: QrelsLike, runs: Any, *, measure: str = "AP", alpha: float = ALPHA, **common: Unpack[Common]
) -> Chart:
    """Error rate against the number of topics, under each strategy: of all differences, and of significant ones."""
    what = by_topic(measure)
    scores = evaluate(qrels, runs, what, ties=COMPARED, **evaluation(common))
    rates = reversal_rates(scores, alpha, SPLITS)
    if not rates["reversed_percent"].count():
        raise BadParameter("There is no conclusion to reverse: it takes runs that differ, and two topics or more.")
    systems = say("{n:,} {n:run|runs}, {m:,} {m:topic|topics}", n=len(scores.runs), m=len(scores.shared))
    splits, thin = say("up to {n:,} splits", n=SPLITS), say("thin: significant at {alpha:g} only", alpha=alpha)
    title = say("Conclusions that other topics reverse: {measure}", measure=what.name)
    return error_rates(rates, Canvas.of(common, title, notes(systems, splits, thin, level_of(common))))


def error_rates(rates: pl.DataFrame, canvas: Canvas) -> Chart:
    """Draw the share of reversed conclusions against the number of topics, a line for each strategy."""
    by_ties = list(rates.group_by("ties", maintain_order=True))
    found, sure = (
        {ties: own.select("topics", column).drop_nulls().rows() for (ties,), own in by_ties}
        for column in ("reversed_percent", "significant_reversed_percent")
    )
    most, top = (max(rates[column].drop_nulls()) for column in ("topics", "reversed_percent"))
    ends = (1, most) if most > 1 else (0, 2)
    axes = Axes(
        *("topics", "percent", say("Topics"), say("Reversed, %")),
        *(ends, (0.0, 1.04 * (top or 1.0)), ranks_axis(1, ends[1], canvas)),
    )
    thin = {**axes.encoding(), "detail": {"field": "run"}, "color": {"value": canvas.quiet}}
    behind = layer(axes.rows(sure, {ties: ties for ties in sure}), "line", thin, strokeWidth=canvas.px(0.7))
    return lines({strategy(ties): found[ties] for ties in COMPARED if found[ties]}, axes, canvas, behind=[behind])
