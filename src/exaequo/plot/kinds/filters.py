"""Recall and precision of filters, each with its F."""

from __future__ import annotations

from typing import Any, Unpack

from exaequo.aggregate import aggregate
from exaequo.choices import THRESHOLD
from exaequo.errors import BadParameter
from exaequo.filtering.figures import mean_of_themes
from exaequo.language import number, say
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import read_filters
from exaequo.plot.kinds import kind
from exaequo.plot.kinds.curve import mean_curves
from exaequo.text import did_you_mean


@kind
def filters(
    qrels: Any,
    runs: Any = None,
    *,
    topic: str | None = None,
    threshold: float = THRESHOLD,
    beta: float = 1.0,
    f_lines: bool = False,
    **common: Unpack[Common],
) -> Chart:
    """Interpolated recall-precision curves of filters, of one theme or the mean of all, named with their F.

    Documents tied in score are selected together. Without runs, `qrels` is a table of decisions or a list of them.
    """
    found, level = read_filters(qrels, runs, common)
    themes = found[0].themes
    if topic is not None and topic not in themes:
        raise BadParameter(f"There is no theme {topic!r}{did_you_mean(topic, themes) or '.'}")
    kept = slice(None) if topic is None else slice(themes.index(topic), themes.index(topic) + 1)
    if not found[0].n_rel[kept].any():
        raise BadParameter("Nothing is relevant, so there is no recall to draw.")
    means = {one.name: mean_of_themes(one.sweep.interpolated()[kept]).tolist() for one in found}
    each_f = {one.name: aggregate("mean", one.at(threshold).f(beta)[kept]) for one in found}
    beside = {name: f" (F {number(f'{value:.3f}')})" for name, value in each_f.items()}
    with_recall = int((found[0].n_rel > 0).sum())
    over = say("mean over {n:,} {n:theme|themes}", n=with_recall) if topic is None else ""
    weight = "" if beta == 1 else f", β = {number(f'{beta:g}')}"
    note = notes(over, say("F at threshold {threshold:g}", threshold=threshold) + weight, level)
    title = say("Interpolated precision of filters")
    if topic is not None:
        title = say("Theme {theme}: interpolated precision of filters", theme=topic)
    return mean_curves(means, Canvas.of(common, title, note), f_lines=f_lines, beside=beside)
