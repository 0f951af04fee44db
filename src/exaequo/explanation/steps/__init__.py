"""How a value comes about, measure by measure: a `View` in, `Step`s out. What the steps say is in the language files.

There is one file per family of measures, as in `exaequo.measures`. Every number is computed here, from the list; no
measure is called, so that an explanation checks the value it explains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from exaequo.explanation.steps import counts, gain, incomplete, interpolated, ranks, recall, sets, subtopics, users
from exaequo.explanation.steps.parts import EXPLAINERS, Row, Step, column, listed, summed
from exaequo.explanation.view import View
from exaequo.measures import Measure

__all__ = ["EXPLAINERS", "FAMILIES", "Row", "Step", "steps_of"]

FAMILIES = (sets, ranks, recall, interpolated, gain, users, subtopics, incomplete, counts)


def steps_of(measure: Measure, view: View) -> list[Step]:
    """Return the steps of a measure: its own, or those of its linear form, or none but the value."""
    about = measure.definition
    if about.name in EXPLAINERS:
        return EXPLAINERS[about.name](view, **measure.params)
    return _linear(measure, view, about.linear) if about.linear else []


def _linear(measure: Measure, view: View, form: Callable[..., Any]) -> list[Step]:
    """Gain times weight, document by document: what a measure of one's own may be."""
    shape = form(view.ranking, **measure.params)
    gains, weights = (np.asarray(each, dtype=np.float64)[view.at] for each in (shape.gain, shape.weight))
    scale, offset = (
        float(np.broadcast_to(each, view.ranking.n_topics)[view.topic]) for each in (shape.scale, shape.offset)
    )
    rows = [
        {"rank": line.rank, "document": line.document, "gain": g, "weight": w, "product": g * w}
        for line, g, w in zip(view.lines(), gains.tolist(), weights.tolist(), strict=True)
        if g * w
    ]
    together = summed(column(rows, "product"))
    total = together.numbers["total"]
    numbers = {"scale": scale, "total": total, "offset": offset, "result": offset + scale * total}
    return [listed("terms", rows, {}, "no terms"), together, Step("scaled", numbers)]
