"""Which measures tell more pairs of systems apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from exaequo.choices import MEASURES
from exaequo.designs import Design, design
from exaequo.language import number, say, strategy, word
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import evaluation, level_of
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, best_named, dotted, layer, lines, quantity, ranks_axis, where_apart
from exaequo.read import QrelsLike

#: Pairs up to which each has a mark.
MOST_MARKS = 40


@kind
def asl(
    qrels: QrelsLike,
    runs: Any,
    *,
    measures: Sequence[str] | str = MEASURES,
    ties: str = "realistic",
    alpha: float = 0.05,
    **common: Unpack[Common],
) -> Chart:
    """Achieved significance levels: p of each pair of systems, highest first, for each measure."""
    result = design(qrels, runs, measures, ties=ties, alpha=alpha, **evaluation(common))
    pairs = result.asl.height // len(result.scores.measures)
    seen = say(
        "{pairs:,} {pairs:pair|pairs} of systems, {topics:,} {topics:topic|topics}, {ties} ties",
        pairs=pairs,
        topics=len(result.scores.shared),
        ties=strategy(ties),
    )
    note = notes(
        seen,
        word("randomised Tukey HSD"),
        say("in brackets: pairs below {alpha:g} (dots)", alpha=alpha),
        level_of(common),
    )
    return curves(result, pairs, Canvas.of(common, say("Achieved significance levels"), note))


def curves(result: Design, pairs: int, canvas: Canvas) -> Chart:
    """Draw the curve of each measure; the lower it is, the more pairs the measure tells apart."""
    points = {
        measure.name: result.asl.filter(pl.col("measure") == measure.name).select("place", "p").rows()
        for measure in result.scores.measures
    }
    ends = (1, pairs) if pairs > 1 else (0, 2)
    axes = Axes("place", "p", say("Pairs, highest p first"), "p", ends, (0.0, 1.0), ranks_axis(1, pairs, canvas))
    level = layer([{"level": result.aims.alpha}], "rule", {"y": quantity("level")}, **dotted(canvas))
    told = {name: sum(p < result.aims.alpha for _, p in line) for name, line in points.items()}
    beside = {name: f" ({number(f'{n:,}')})" for name, n in told.items()}
    places = where_apart(points, best_named(list(points), told)[0])
    marked = points if pairs <= MOST_MARKS else {}
    return lines(points, axes, canvas, marked=marked, rank=told, behind=[level], beside=beside, places=places)
