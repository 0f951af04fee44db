"""Pictures of filters: what a threshold does."""

from __future__ import annotations

from typing import Any

import numpy as np

from exaequo.errors import BadParameter
from exaequo.filtering import read_filter
from exaequo.plot.chart import Chart, apart, channels, chart
from exaequo.read import QrelsLike


def threshold(
    qrels: QrelsLike,
    runs: Any,
    *,
    beta: float = 1.0,
    utility: tuple[float, float] = (3.0, -2.0),
    docs: int | None = None,
    size: str = "page",
    dark: bool = False,
) -> Chart:
    """Macro-averaged precision, recall, F and normalised utility against the threshold."""
    if isinstance(runs, list | tuple):
        if len(runs) != 1:
            raise BadParameter("This picture shows one run; give one.")
        runs = runs[0]
    one = read_filter(qrels, runs, docs=docs)
    scores = np.unique(one.score)
    grid = scores if len(scores) <= 101 else np.quantile(scores, np.linspace(0, 1, 101))
    names = ["precision", "recall", "F", "utility"]
    rows: list[dict[str, Any]] = []
    for cut in np.unique(grid):
        tables = one.at(float(cut))
        figures = (
            tables.precision.mean(),
            tables.recall.mean(),
            tables.f(beta).mean(),
            np.maximum(tables.normalised_utility(*utility), -1).mean(),
        )
        at = {"threshold": float(cut)}
        rows += [{"run": name, **at, "value": float(v)} for name, v in zip(names, figures, strict=True)]
    how = channels(names, dark)
    x = {"field": "threshold", "type": "quantitative", "title": "Threshold", "scale": {"zero": False, "nice": False}}
    y = {"field": "value", "type": "quantitative", "title": "Macro-average"}
    ends = rows[-len(names) :]
    spread = max(row["value"] for row in rows) - min(row["value"] for row in rows)
    low, high = min(row["value"] for row in rows), max(row["value"] for row in rows)
    places = apart([end["value"] for end in ends], 0.055 * max(spread, 1e-9), low, high)
    layers = [
        {
            "data": {"values": rows},
            "mark": {"type": "line", "strokeWidth": 2, "interpolate": "step-before"},
            "encoding": {"x": x, "y": y, "color": how["color"], "strokeDash": how["strokeDash"]},
        },
        {
            "data": {"values": [end | {"value": place} for end, place in zip(ends, places, strict=True)]},
            "mark": {"type": "text", "align": "left", "dx": 8},
            "encoding": {"x": x, "y": y, "text": {"field": "run"}, "color": how["color"]},
        },
    ]
    note = f"{len(one.themes)} themes; utility {utility[0]:g}, {utility[1]:g} over its best, at least −1; β = {beta:g}"
    return chart(layers, title=f"{one.name}: what the threshold does", note=note, size=size, dark=dark)
