"""Pictures of filters: what a threshold does."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from exaequo.errors import BadParameter
from exaequo.filtering import read_filter
from exaequo.plot.chart import Canvas, Chart, Common
from exaequo.plot.data import evaluation
from exaequo.plot.marks import Axes, lines
from exaequo.read import QrelsLike

#: Thresholds drawn, if there are more scores.
MOST = 101


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
    if isinstance(runs, list | tuple):
        if len(runs) != 1:
            raise BadParameter("This picture shows one run; give one.")
        runs = runs[0]
    one = read_filter(qrels, runs, docs=docs, **evaluation(common))
    scores = np.unique(one.score)
    grid = scores if len(scores) <= MOST else np.quantile(scores, np.linspace(0, 1, MOST))
    rows: list[dict[str, Any]] = []
    for cut in np.unique(grid).tolist():
        tables = one.at(cut)
        figures = {
            "precision": tables.precision.mean(),
            "recall": tables.recall.mean(),
            "F" if beta == 1 else f"F (β = {beta:g})": tables.f(beta).mean(),
            "utility": np.maximum(tables.normalised_utility(*utility), -1).mean(),
        }
        rows += [{"run": name, "threshold": cut, "value": float(value)} for name, value in figures.items()]
    low, high = min(0.0, *(row["value"] for row in rows)), max(1.0, *(row["value"] for row in rows))
    ends = (float(grid.min()), float(grid.max()))
    span = ends if ends[0] < ends[1] else (ends[0] - 0.5, ends[0] + 0.5)
    axes = Axes("threshold", "value", "Threshold", "Macro-average", span, (low, high))
    layers, canvas, _ = lines(rows, axes, Canvas.of(common), marked=[], interpolate="step-before")
    worth = ", ".join(f"{each:g}" for each in utility)
    note = f"{len(one.themes)} themes; utility {worth} over its best, at least −1; β = {beta:g}"
    return canvas.chart(layers, title=f"{one.name}: what the threshold does", note=note)
