"""A filter over time: its tables after each moment, and over the last few. In: a `Filter`. Out: a `Stream`.

Documents of one moment come together. Recall is of the relevant documents that have come. A filter that is told of what
it selected, and of nothing else, knows precision, utility and T9P itself; recall and F it cannot know.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from exaequo.arrays import Floats, Ints
from exaequo.choices import THRESHOLD, UTILITIES
from exaequo.errors import BadParameter
from exaequo.filtering.filters import Filter
from exaequo.measures.selection import T9_TARGET, Tables
from exaequo.text import did_you_mean


@dataclass(frozen=True, eq=False)
class Stream:
    """The tables of one theme, or of all added up, after each moment: of all that has come, and of the last moments."""

    filter: str
    theme: str
    time: pl.Series
    tables: Tables
    window: Tables | None = None

    def frame(
        self, beta: float = 1.0, utility: tuple[float, ...] = UTILITIES["LF1"], target: float = T9_TARGET
    ) -> pl.DataFrame:
        """Return a row per moment; the columns of the window begin with `window_`."""
        columns = _columns(self.tables, beta, utility, target)
        if self.window is not None:
            shown = ("documents", "precision", "recall", "F", "utility", "T9P")
            recent = _columns(self.window, beta, utility, target)
            columns |= {f"window_{name}": recent[name] for name in shown}
        names = {"run": pl.lit(self.filter), "theme": pl.lit(self.theme)}
        return pl.DataFrame({"time": self.time, **columns}).select(**names, rest=pl.struct(pl.all())).unnest("rest")


def _columns(tables: Tables, beta: float, utility: tuple[float, ...], target: float) -> dict[str, Floats | Ints]:
    return {
        "documents": tables.documents.astype(np.int64),
        **{name: getattr(tables, name).astype(np.int64) for name in "abcd"},
        "precision": tables.precision,
        "recall": tables.recall,
        "F": tables.f(beta),
        "utility": tables.utility(*utility),
        "T9P": tables.t9p(target),
    }


def stream_of(
    one: Filter, threshold: float | Floats = THRESHOLD, *, theme: str | None = None, window: int | None = None
) -> Stream:
    """Follow a filter, for one theme or for all together, over the last `window` moments too if that is asked for."""
    if window is not None and window < 1:
        raise BadParameter(f"window must be a whole number ≥ 1. Got {window!r} instead.")
    if theme is not None and theme not in one.themes:
        raise BadParameter(f"There is no theme {theme!r}{did_you_mean(theme, one.themes) or '.'}")
    own = np.ones(len(one.theme), dtype=bool) if theme is None else one.theme == one.themes.index(theme)
    moments, at = np.unique(one.moment[own], return_inverse=True)
    selected, relevant = one.selects(threshold)[own], one.relevant[own]
    kinds = (selected & relevant, selected & ~relevant, ~selected & relevant, ~selected & ~relevant)
    so_far = [np.cumsum(np.bincount(at[kind], minlength=len(moments))).astype(np.float64) for kind in kinds]
    recent = None
    if window is not None:
        recent = Tables(*(each - np.concatenate((np.zeros(window), each))[: len(each)] for each in so_far))
    time = one.moments.gather(moments).alias("time")
    return Stream(one.name, "micro" if theme is None else theme, time, Tables(*so_far), recent)
