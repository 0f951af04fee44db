"""The steps of a measure: those of its explainer, or of its linear form. In: a `Measure` and a `View`. Out: `Step`s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from exaequo.measures import Measure
from exaequo.measures.steps import Step, column, listed, summed
from exaequo.measures.view import View


def steps_of(measure: Measure, view: View) -> list[Step]:
    """Return the steps of a measure: its own, or those of its linear form, or none but the value."""
    about = measure.definition
    if about.explain:
        return list(about.explain(view, **measure.params))
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
