"""What the threshold of a filter does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Unpack

import numpy as np

from exaequo.arrays import Floats
from exaequo.errors import BadParameter
from exaequo.filtering import Filter, Tables
from exaequo.filtering.figures import mean_of_themes
from exaequo.language import number, say, word
from exaequo.measures import PARAMETERS
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import cautioned, of_selections, read_filters
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, axis_name, from_zero, lines

#: Scores up to which every threshold is drawn; of more, so many of each kind.
MOST, SOME = 400, 150
#: From here on scores are written as 10k, 1M.
LARGE = 1e5
#: Thresholds up to which each has a mark.
MOST_MARKS = 30


@kind
def threshold(
    qrels: Any,
    runs: Any = None,
    *,
    measure: str | None = None,
    beta: float = 1.0,
    utility: tuple[float, ...] = (3.0, -2.0),
    docs: int | None = None,
    **common: Unpack[Common],
) -> Chart:
    """Macro-averaged precision, recall, F and normalised utility against the threshold.

    Of several filters, one measure: F, or another of what is selected. Without runs, `qrels` is a table of decisions or
    a list of them.
    """
    if not PARAMETERS["beta"].accepts(beta):
        raise BadParameter(f"beta must be {PARAMETERS['beta'].expected}. Got {beta!r} instead.")
    filters, level = read_filters(qrels, runs, common, docs)
    grid, whole = _grid(filters)
    tables = {one.name: one.at_each(grid) for one in filters}
    upward = 1
    if len(filters) == 1 and measure is None:
        figures = _figures(tables[filters[0].name], beta, utility)
        title, y_title = say("{run}: what the threshold does", run=filters[0].name), say("Macro-average")
        worth = ", ".join(number(f"{each:g}").replace("-", "−") for each in utility)
        about = say("utility {worth} over its best, at least −1; β = {beta:g}", worth=worth, beta=beta)
    else:
        chosen = of_selections(measure or f"SelF(beta={beta!r})")
        upward = chosen.upward
        figures = {name: chosen.definition.function(table, **chosen.params) for name, table in tables.items()}
        title, y_title = say("What the threshold does"), say("{measure}, macro-average", measure=axis_name(chosen))
        about = cautioned(chosen, len(filters[0].themes))
    means = {name: mean_of_themes(values).tolist() for name, values in figures.items()}
    axes = _axes(chain(*means.values()), grid, y_title, filters)
    points = {
        name: [(x, y) for x, y in zip(grid.tolist(), values, strict=True) if y == y] for name, values in means.items()
    }
    marked = points if len(grid) <= MOST_MARKS else {}
    # A threshold between two scores does what the higher one does.
    how = "step-before" if whole or len(filters) > 1 else "linear"
    n = len(np.unique(_scores(filters)))
    some = "" if whole else say("{n} of {all:,} thresholds", n=len(grid), all=n)
    empty, left = int((filters[0].n_rel == 0).sum()), ""
    if empty and any(np.isnan(values).any() for values in figures.values()):
        left = say("{n:,} {n:theme|themes} with nothing relevant left out where a figure is undefined", n=empty)
    note = notes(say("{n:,} {n:theme|themes}", n=len(filters[0].themes)), left, about, some, level)
    best = {name: sorted(line, key=lambda point: upward * point[1])[-1:] for name, line in points.items()}
    rank = {name: upward * y for name, line in best.items() for _, y in line}
    places = best if len(filters) > 1 else None
    canvas = Canvas.of(common, title, notes(note, say("marked where it is best") if not marked else ""))
    return lines(points, axes, canvas, marked=marked or best, interpolate=how, rank=rank, places=places)


def _figures(table: Tables, beta: float, utility: tuple[float, ...]) -> dict[str, Floats]:
    """Return what is drawn of one filter."""
    return {
        word("precision"): table.precision,
        word("recall"): table.recall,
        word("F"): table.f(beta),
        word("utility"): np.maximum(table.normalised_utility(*utility), -1),
    }


def _axes(values: Iterable[float], grid: Floats, title: str, filters: Sequence[Filter]) -> Axes:
    span = (float(grid[0]), float(grid[-1])) if len(grid) > 1 else (float(grid[0]) - 0.5, float(grid[0]) + 0.5)
    scale = _stretched(_scores(filters), span)
    x_title = say("Threshold") if scale == "linear" else say("Threshold (logarithmic)")
    large = {"format": ".3~s"} if max(map(abs, span)) >= LARGE else None
    return Axes("threshold", "value", x_title, title, span, from_zero(values), large, x_scale=scale)


def _scores(filters: Sequence[Filter]) -> Floats:
    return np.concatenate([one.score for one in filters])


def _stretched(scores: Floats, span: tuple[float, float]) -> str:
    """Return how thresholds are spaced: by their logarithms where few scores are much higher than all others."""
    crowd = np.quantile(scores, 0.9) - span[0]
    if crowd > 0.1 * (span[1] - span[0]):
        return "linear"
    return "log" if span[0] > 0 else "symlog"


def _grid(filters: Sequence[Filter]) -> tuple[Floats, bool]:
    """Return the thresholds to draw, and whether these are all: else dense where scores are, and relevant documents."""
    every = _scores(filters)
    relevant = every[np.concatenate([one.relevant for one in filters])]
    scores = np.unique(every)
    if not len(scores):
        raise BadParameter("There is no score to draw a threshold at.")
    if len(scores) <= MOST:
        return scores, True
    shares = np.linspace(0, 1, SOME)
    few = [own for own in (np.unique(one.score) for one in filters) if len(own) <= SOME]
    parts: tuple[Floats, ...] = (
        *few,
        np.quantile(scores, shares),
        np.quantile(relevant, shares) if len(relevant) else scores[:0],
        np.linspace(scores[0], scores[-1], SOME),
        scores[-SOME // 2 :],
    )
    # Each threshold is a score, so that what is drawn is what is there.
    places = np.searchsorted(scores, np.unique(np.concatenate(parts)))
    return scores[np.unique(np.minimum(places, len(scores) - 1))], False
