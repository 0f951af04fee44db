"""Plots: Vega-Lite specifications of every figure of the sources, from one's own files, and a few more.

`chart` is the specification and how it is drawn, `page` how it becomes HTML, `marks` what the kinds share; the kinds
are in `curves`, `ranks`, `groups`, `systems` and `filters`.
"""

from __future__ import annotations

from exaequo.plot.chart import FORMATS, SIZES, Chart
from exaequo.plot.curves import at_k, curve
from exaequo.plot.filters import threshold
from exaequo.plot.groups import tie_groups
from exaequo.plot.kinds import KINDS
from exaequo.plot.ranks import recall, single
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
