"""Measures of a set: the first k documents, or all of them, with no regard to the order inside."""

from __future__ import annotations

import numpy as np

from exaequo.judge import Floats, Ints
from exaequo.measures.registry import define
from exaequo.order import Ranking

_CLEVERDON = "C. W. Cleverdon, J. Mills, M. Keen: Factors determining the performance of indexing systems, 1966"
_RIJSBERGEN = "C. J. van Rijsbergen: Information Retrieval, 2nd edition, 1979, chapter 7"


def ratio(above: Floats | Ints, below: Floats | Ints) -> Floats:
    """Divide; 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below != 0)


def f_measure(precision: Floats, recall: Floats, beta: float) -> Floats:
    """F = (1 + β²)·P·R / (β²·P + R), 0 where both are 0."""
    return ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall)


def found(ranking: Ranking, rel: float | None, cutoff: int | None = None) -> Floats:
    """Return the number of relevant documents in the first `cutoff` of each list."""
    return ranking.total(ranking.hits(rel, cutoff).topic)


@define(
    "P",
    title="Precision at k",
    formula="P@k = relevant documents in the first k / k",
    source=_CLEVERDON,
    example="P(rel=2)@10",
    aliases=("Precision",),
)
def precision(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    """A list shorter than k is divided by k all the same."""
    return found(ranking, rel, cutoff) / cutoff


@define(
    "R",
    title="Recall at k",
    formula="R@k = relevant documents in the first k / all relevant documents",
    source=_CLEVERDON,
    example="R@1000",
    aliases=("Recall",),
)
def recall(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    return ratio(found(ranking, rel, cutoff), ranking.n_rel(rel))


@define(
    "F",
    title="F measure at k",
    formula="F(β)@k = (1 + β²)·P@k·R@k / (β²·P@k + R@k)",
    source=_RIJSBERGEN,
    example="F(beta=2)@20",
)
def f_at(ranking: Ranking, cutoff: int, rel: float | None = None, beta: float = 1.0) -> Floats:
    return f_measure(precision(ranking, cutoff, rel), recall(ranking, cutoff, rel), beta)


@define(
    "E",
    title="Effectiveness of van Rijsbergen at k",
    formula="E(β)@k = 1 − F(β)@k",
    source=_RIJSBERGEN,
    example="E(beta=2)@20",
    higher_is_better=False,
    chain="reversed",
)
def e_at(ranking: Ranking, cutoff: int, rel: float | None = None, beta: float = 1.0) -> Floats:
    return 1 - f_at(ranking, cutoff, rel, beta)


@define(
    "Noise",
    title="Noise at k",
    formula="Noise@k = 1 − P@k: what the reader looks at for nothing",
    source=_CLEVERDON,
    example="Noise@10",
    higher_is_better=False,
    chain="reversed",
)
def noise(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    return 1 - precision(ranking, cutoff, rel)


@define(
    "Silence",
    title="Silence at k",
    formula="Silence@k = 1 − R@k: what the reader misses",
    source=_CLEVERDON,
    example="Silence@1000",
    higher_is_better=False,
    chain="reversed",
)
def silence(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    return 1 - recall(ranking, cutoff, rel)


@define(
    "Success",
    title="Success at k",
    formula="Success@k = 1 if one of the first k documents is relevant, else 0",
    source="trec_eval, measure success; also called hit rate",
    example="Success@5",
)
def success(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    return np.minimum(found(ranking, rel, cutoff), 1.0)


@define(
    "SetP",
    title="Precision of the whole list",
    formula="SetP = relevant documents returned / documents returned; 0 if there are none",
    source=_CLEVERDON,
    example="SetP",
)
def set_precision(ranking: Ranking, rel: float | None = None) -> Floats:
    return ratio(found(ranking, rel), ranking.returned)


@define(
    "SetR",
    title="Recall of the whole list",
    formula="SetR = relevant documents returned / all relevant documents",
    source=_CLEVERDON,
    example="SetR",
)
def set_recall(ranking: Ranking, rel: float | None = None) -> Floats:
    return ratio(found(ranking, rel), ranking.n_rel(rel))


@define(
    "SetF",
    title="F measure of the whole list",
    formula="SetF(β) = (1 + β²)·SetP·SetR / (β²·SetP + SetR)",
    source=_RIJSBERGEN + ". The parameter of trec_eval's set_F is β²",
    example="SetF(beta=2)",
)
def set_f(ranking: Ranking, rel: float | None = None, beta: float = 1.0) -> Floats:
    return f_measure(set_precision(ranking, rel), set_recall(ranking, rel), beta)
