"""The records of ir_measures: what goes in, a judgment or a returned document, and what comes out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from exaequo.compat.ir_measures.base import Measure


class Qrel(NamedTuple):
    """One judgment."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """One returned document."""

    query_id: str
    doc_id: str
    score: float


class Metric(NamedTuple):
    """The value of a measure for a topic."""

    query_id: str
    measure: Measure
    value: float


class CwlMetric(NamedTuple):
    """The same for a reader who goes on with a certain chance; `value` is the gain expected per document."""

    query_id: str
    measure: Measure
    value: float
    expected_total_utility: float
    expected_cost: float
    expected_total_cost: float
    expected_items: float


class CalcResults(NamedTuple):
    """Aggregates, and the values they were made of."""

    aggregated: dict[Measure, float] | float
    per_query: list[Metric | CwlMetric]


class GenericQrel(Qrel):
    """The old name of `Qrel`."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make one, and say what it is called now."""
        warnings.warn("GenericQrel is called Qrel now.", DeprecationWarning, stacklevel=2)
        return super().__new__(cls, *args, **kwargs)


class GenericScoredDoc(ScoredDoc):
    """The old name of `ScoredDoc`."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make one, and say what it is called now."""
        warnings.warn("GenericScoredDoc is called ScoredDoc now.", DeprecationWarning, stacklevel=2)
        return super().__new__(cls, *args, **kwargs)
