"""Binary filters: classifiers that select documents per theme, by a score and a threshold, or by plain decisions.

A document is selected if its score is at least the threshold; documents nobody judged count as not relevant. Filters
that are compared have one collection: `docs` documents, or what any of them, or the judgments, know of a theme.
`filters` has the tables at a threshold and at all of them, `making` reads, `figures` averages and compares, `learning`
finds thresholds on other decisions, `streams` follows a filter over time.
"""

from __future__ import annotations

from exaequo.filtering.figures import averages, figures_of, means_over, scores_of
from exaequo.filtering.filters import GRID, Filter, Sweep
from exaequo.filtering.learning import Learnt, learn
from exaequo.filtering.making import (
    absent,
    filter_of,
    filters_of,
    from_arrays,
    from_table,
    from_tables,
    judged_filters,
    read_filter,
)
from exaequo.filtering.streams import Stream, stream_of
from exaequo.measures.selection import T9_TARGET, T11_FLOOR, Tables

__all__ = [
    "GRID",
    "T9_TARGET",
    "T11_FLOOR",
    "Filter",
    "Learnt",
    "Stream",
    "Sweep",
    "Tables",
    "absent",
    "averages",
    "figures_of",
    "filter_of",
    "filters_of",
    "from_arrays",
    "from_table",
    "from_tables",
    "judged_filters",
    "learn",
    "means_over",
    "read_filter",
    "scores_of",
    "stream_of",
]
