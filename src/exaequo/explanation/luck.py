"""What ties decide about one value: the other strategies, and a sentence about them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from exaequo.choices import EXPECTED, INTERVAL
from exaequo.expected import expected_values
from exaequo.explanation.wording import figure_of
from exaequo.measures import Measure
from exaequo.measures.steps import Step, Word
from exaequo.measures.view import View
from exaequo.order import Ordering

#: Values this near are equal but for the order of adding up.
NEAR = 1e-12


def other_values(
    ordering: Ordering, measure: Measure, topic: int, ties: str, *, depth: int | None, seed: int
) -> tuple[dict[str, float], float]:
    """Return the values of a topic under the other strategies, the mean over all orders, and its standard error."""
    others = {
        name: float(measure.values(ordering.ranking(name, depth=depth))[topic]) for name in INTERVAL if name != ties
    }
    expected = expected_values(ordering, [measure], depth=depth, seed=seed)
    return {**others, EXPECTED: float(expected.values[0, topic])}, float(expected.error[0, topic])


def other_orders(ordering: Ordering, topic: int, rel: float | None, depth: int | None) -> list[dict[str, Any]]:
    """Return the ranks at which strategies differ, and the document each has there; ✓ marks relevant ones."""
    views = {ties: View(ordering.ranking(ties, depth=depth), topic) for ties in INTERVAL}
    names = {
        ties: [f"{line.document}{' ✓' if line.relevant else ''}" for line in view.lines(None, rel)]
        for ties, view in views.items()
    }
    return [
        {"rank": rank, **dict(zip(names, there, strict=True))}
        for rank, there in enumerate(zip(*names.values(), strict=True), 1)
        if len(set(there)) > 1
    ]


def what_ties_decide(whole: View, measure: Measure, values: dict[str, float], depth: int | None) -> Step:
    """Say whether ties decide anything; `whole` is the list before it is cut, `values` are those of all strategies."""
    tied, mixed, graded = _ties(whole, measure, depth)
    known = {name: value for name, value in values.items() if not math.isnan(value)}
    if not tied:
        return Step("nothing tied", {"ties": tied})
    if not known:
        return Step("ties define nothing", {"ties": tied})
    if len(known) < len(values):
        return Step("ties define", {"ties": tied})
    if _spread(known) <= NEAR:
        return Step("ties change nothing", {"ties": tied})
    # Of equal values the strategies at the two ends come first, as they say most.
    names = sorted(known, key=lambda name: name not in (INTERVAL[0], INTERVAL[-1]))
    orders = {name: known[name] for name in names if name != EXPECTED}
    apart = orders if _spread(orders) > NEAR else known
    low, high = min(apart, key=apart.__getitem__), max(apart, key=apart.__getitem__)
    lowest, highest = (figure_of(measure, apart[name]) for name in (low, high))
    if lowest == highest:
        return Step("ties change little", {"ties": tied})
    binary = "rel" in measure.definition.defaults and mixed
    key, deciding = ("ties decide", mixed) if binary else ("grades decide" if graded else "orders decide", graded)
    between = {"low": Word(low), "high": Word(high), "lowest": lowest, "highest": highest}
    return Step(key, {**between, "ties": tied, "mixed": deciding})


def _spread(values: dict[str, float]) -> float:
    return max(values.values()) - min(values.values()) if values else 0.0


def _ties(whole: View, measure: Measure, depth: int | None) -> tuple[int, int, int]:
    """Return the ties of the list down to the cut, those of relevant and other documents, those of different grades."""
    cuts = [cut for cut in (measure.params.get("cutoff"), depth) if cut is not None]
    cutoff, rel = min(cuts, default=None), measure.params.get("rel")
    groups, at = whole.ranking.groups, whole.at
    own = np.unique(groups.of[at])
    own = own[(groups.size[own] > 1) & (groups.before[own] < (cutoff or np.inf))]
    relevant = whole.ranking.relevant(rel)
    judgment = np.where(whole.ranking.judged, whole.ranking.grade, -np.inf)
    spans = [slice(groups.start[each], groups.start[each] + groups.size[each]) for each in own]
    mixed, graded = (sum(len(np.unique(of[span])) > 1 for span in spans) for of in (relevant, judgment))
    return len(spans), mixed, graded
