"""Plots: Vega-Lite specifications of every figure of the sources, from one's own files, and a few more.

`chart` is the specification and how it is drawn, `page` how it becomes HTML, `data` what is read, `marks` and `pair`
what kinds share; `kinds` has one file for each. A kind is a function of the same name, here. The names below load on
first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from exaequo.choices import PICTURE_FORMATS as FORMATS
from exaequo.plot.kinds import KINDS

if TYPE_CHECKING:
    from exaequo.plot.chart import SIZES as SIZES
    from exaequo.plot.chart import Chart as Chart
    from exaequo.plot.kinds.asl import asl as asl
    from exaequo.plot.kinds.at_k import at_k as at_k
    from exaequo.plot.kinds.budget import budget as budget
    from exaequo.plot.kinds.curve import curve as curve
    from exaequo.plot.kinds.filters import filters as filters
    from exaequo.plot.kinds.measures import measures as measures
    from exaequo.plot.kinds.recall import recall as recall
    from exaequo.plot.kinds.reversals import reversals as reversals
    from exaequo.plot.kinds.scatter import scatter as scatter
    from exaequo.plot.kinds.single import single as single
    from exaequo.plot.kinds.stream import stream as stream
    from exaequo.plot.kinds.systems import systems as systems
    from exaequo.plot.kinds.threshold import threshold as threshold
    from exaequo.plot.kinds.tie_groups import tie_groups as tie_groups
    from exaequo.plot.kinds.ties import ties as ties
    from exaequo.plot.kinds.topics import topics as topics

__all__ = ["FORMATS", "KINDS", "SIZES", "Chart", *(name.replace("-", "_") for name in KINDS)]

if not TYPE_CHECKING:  # type checkers see the imports above, and that there are no other names

    def __getattr__(name: str) -> object:
        """Load a name on first use."""
        if name not in __all__:
            raise AttributeError(f"module 'exaequo.plot' has no attribute {name!r}")
        kind = KINDS.get(name.replace("_", "-"))
        globals()[name] = value = kind or getattr(import_module("exaequo.plot.chart"), name)
        return value


def __dir__() -> list[str]:
    return __all__
