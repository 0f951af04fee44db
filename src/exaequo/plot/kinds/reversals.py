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
from exaequo.plot.marks import Axes, channels, from_zero, layer, lines, ranks_axis
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
    by_ties = {ties: own for (ties,), own in rates.group_by("ties")}
    found, sure = (
        {strategy(ties): by_ties[ties].select("topics", column).drop_nulls().rows() for ties in COMPARED}
        for column in ("reversed_percent", "significant_reversed_percent")
    )
    most = max(rates["topics"].drop_nulls())
    ends = (1, most) if most > 1 else (0, 2)
    axes = Axes(
        *("topics", "percent", say("Topics"), say("Reversed, %")),
        *(ends, from_zero(rates["reversed_percent"].drop_nulls()), ranks_axis(1, ends[1], canvas)),
    )
    drawn = {ties: points for ties, points in found.items() if points}
    how = channels(list(drawn), canvas)
    thin = {**axes.encoding(), "color": how["color"], "strokeDash": how["strokeDash"]}
    behind = layer(axes.rows(sure, {ties: ties for ties in drawn}), "line", thin, strokeWidth=canvas.px(1))
    return lines(drawn, axes, canvas, behind=[behind])
