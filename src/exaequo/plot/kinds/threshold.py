"""What the threshold of a filter does."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from exaequo.errors import BadParameter
from exaequo.filtering import Filter, filter_of
from exaequo.judge import Floats
from exaequo.language import number, say, word
from exaequo.measures import PARAMETERS
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import read
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, lines
from exaequo.read import QrelsLike

#: Scores up to which every threshold is drawn; of more, so many of each kind.
MOST, SOME = 400, 150
#: From here on scores are written as 10k, 1M.
LARGE = 1e5
#: Thresholds up to which each has a mark.
MOST_MARKS = 30


@kind
def threshold(
    qrels: QrelsLike,
    runs: Any,
    *,
    beta: float = 1.0,
    utility: tuple[float, ...] = (3.0, -2.0),
    docs: int | None = None,
    **common: Unpack[Common],
) -> Chart:
    """Macro-averaged precision, recall, F and normalised utility against the threshold."""
    if not PARAMETERS["beta"].accepts(beta):
        raise BadParameter(f"beta must be {PARAMETERS['beta'].expected}. Got {beta!r} instead.")
    lists = read(qrels, runs, common)
    name = lists.only()
    one = filter_of(lists.orderings[0], docs=docs)
    grid, whole = _grid(one)
    tables = one.at_each(grid)
    figures = {
        "precision": tables.precision,
        "recall": tables.recall,
        "F": tables.f(beta),
        "utility": np.maximum(tables.normalised_utility(*utility), -1),
    }
    means = {word(figure): values.mean(axis=0).tolist() for figure, values in figures.items()}
    low, high = min(0.0, *map(min, means.values())), max(1.0, *map(max, means.values()))
    span = (float(grid[0]), float(grid[-1])) if len(grid) > 1 else (float(grid[0]) - 0.5, float(grid[0]) + 0.5)
    scale = _stretched(one, span)
    title = say("Threshold") if scale == "linear" else say("Threshold (logarithmic)")
    large = {"format": ".3~s"} if max(map(abs, span)) >= LARGE else None
    axes = Axes("threshold", "value", title, say("Macro-average"), span, (low, high), large, x_scale=scale)
    points = {figure: list(zip(grid.tolist(), values, strict=True)) for figure, values in means.items()}
    marked = points if len(grid) <= MOST_MARKS else {}
    # A threshold between two scores does what the higher one does.
    how = "step-before" if whole else "linear"
    worth = ", ".join(number(f"{each:g}").replace("-", "−") for each in utility)
    about = say("utility {worth} over its best, at least −1; β = {beta:g}", worth=worth, beta=beta)
    some = "" if whole else say("{n} of {all:,} thresholds", n=len(grid), all=len(np.unique(one.score)))
    note = notes(say("{n:,} {n:theme|themes}", n=len(one.themes)), about, some, lists.level)
    canvas = Canvas.of(common, say("{run}: what the threshold does", run=name), note)
    return lines(points, axes, canvas, marked=marked, interpolate=how)


def _stretched(one: Filter, span: tuple[float, float]) -> str:
    """Return how thresholds are spaced: by their logarithms where few scores are much higher than all others."""
    crowd = np.quantile(one.score, 0.9) - span[0]
    if crowd > 0.1 * (span[1] - span[0]):
        return "linear"
    return "log" if span[0] > 0 else "symlog"


def _grid(one: Filter) -> tuple[Floats, bool]:
    """Return the thresholds to draw, and whether these are all: else dense where scores are, and relevant documents."""
    scores = np.unique(one.score)
    if not len(scores):
        raise BadParameter("There is no score to draw a threshold at.")
    if len(scores) <= MOST:
        return scores, True
    shares = np.linspace(0, 1, SOME)
    parts: tuple[Floats, ...] = (
        np.quantile(scores, shares),
        np.quantile(one.score[one.relevant], shares) if one.relevant.any() else scores[:0],
        np.linspace(scores[0], scores[-1], SOME),
        scores[-SOME // 2 :],
    )
    # Each threshold is a score, so that what is drawn is what is there.
    places = np.searchsorted(scores, np.unique(np.concatenate(parts)))
    return scores[np.unique(np.minimum(places, len(scores) - 1))], False
