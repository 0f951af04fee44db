"""Counts: summed over topics, not averaged."""

from __future__ import annotations

import numpy as np

from exaequo.judge import Floats
from exaequo.measures.registry import define
from exaequo.measures.sets import found
from exaequo.order import Ranking

_TREC_EVAL = "trec_eval"


@define(
    "NumQ",
    title="Topics evaluated",
    formula="NumQ = number of topics with a relevant document",
    source=_TREC_EVAL,
    example="NumQ",
    aggregate="sum",
)
def topics(ranking: Ranking) -> Floats:
    return np.ones(ranking.n_topics)


@define(
    "NumRet",
    title="Documents returned",
    formula="NumRet = number of documents returned; with rel, of those at least this relevant",
    source=_TREC_EVAL,
    example="NumRet",
    aggregate="sum",
    highest=float("inf"),
)
def returned(ranking: Ranking, rel: float | None = None) -> Floats:
    return found(ranking, rel) if rel is not None else ranking.returned.astype(np.float64)


@define(
    "NumRel",
    title="Relevant documents",
    formula="NumRel = number of relevant documents, returned or not",
    source=_TREC_EVAL,
    example="NumRel(rel=2)",
    aggregate="sum",
    highest=float("inf"),
)
def relevant(ranking: Ranking, rel: float | None = None) -> Floats:
    return ranking.n_rel(rel).astype(np.float64)


@define(
    "NumRelRet",
    title="Relevant documents returned",
    formula="NumRelRet = number of relevant documents returned",
    source=_TREC_EVAL,
    example="NumRelRet",
    aggregate="sum",
    highest=float("inf"),
)
def relevant_returned(ranking: Ranking, rel: float | None = None) -> Floats:
    return found(ranking, rel)
