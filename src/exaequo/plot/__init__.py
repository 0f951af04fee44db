"""Plots: Vega-Lite specifications of every figure of the sources, from one's own files, and a few more.

`chart` is the specification and how it is drawn, `marks` what the kinds share; the kinds are in `curves`, `ranks`,
`systems` and `filters`.
"""

from __future__ import annotations

from collections.abc import Callable

from exaequo.plot.chart import FORMATS, SIZES, Chart
from exaequo.plot.curves import at_k, curve
from exaequo.plot.filters import threshold
from exaequo.plot.ranks import recall, single, tie_groups
from exaequo.plot.systems import measures, scatter, systems, ties, topics

__all__ = [
    "FORMATS",
    "KINDS",
    "SIZES",
    "Chart",
    "at_k",
    "curve",
    "measures",
    "recall",
    "scatter",
    "single",
    "systems",
    "threshold",
    "tie_groups",
    "ties",
    "topics",
]

#: The kinds by the name the command knows.
KINDS: dict[str, Callable[..., Chart]] = {
    "curve": curve,
    "recall": recall,
    "single": single,
    "ties": ties,
    "tie-groups": tie_groups,
    "topics": topics,
    "scatter": scatter,
    "measures": measures,
    "at-k": at_k,
    "threshold": threshold,
    "systems": systems,
}
