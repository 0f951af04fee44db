"""Counts: summed over topics, not averaged."""

from __future__ import annotations

import numpy as np

from exaequo.judge import Floats
from exaequo.measures.moments import unchanged
from exaequo.measures.registry import define
from exaequo.measures.sets import found
from exaequo.measures.steps import Step, contingency, explains
from exaequo.measures.view import View
from exaequo.order import Ranking

_TREC_EVAL = "trec_eval"


@unchanged
@define(
    "NumQ",
    title="Topics evaluated",
    formula="NumQ = number of topics with a relevant document",
    source=_TREC_EVAL,
    example="NumQ",
    aggregate="sum",
    official=("num_q",),
)
def topics(ranking: Ranking) -> Floats:
    return np.ones(ranking.n_topics)


@explains(topics)
def _topics_steps(view: View) -> list[Step]:
    return [Step("count topic", {"n": view.n_rel(), "result": 1.0})]


@unchanged
@define(
    "NumRet",
    title="Documents returned",
    formula="NumRet = number of documents returned; with rel, of those at least this relevant",
    source=_TREC_EVAL,
    example="NumRet",
    aggregate="sum",
    highest=float("inf"),
    official=("num_ret",),
    sees=("length",),
)
def returned(ranking: Ranking, rel: float | None = None) -> Floats:
    return found(ranking, rel) if rel is not None else ranking.returned.astype(np.float64)


@explains(returned)
def _returned_steps(view: View, rel: float | None = None) -> list[Step]:
    return _relevant_returned_steps(view, rel) if rel is not None else _counted(view, None, "count returned")


@unchanged
@define(
    "NumRel",
    title="Relevant documents",
    formula="NumRel = number of relevant documents, returned or not",
    source=_TREC_EVAL,
    example="NumRel(rel=2)",
    aggregate="sum",
    highest=float("inf"),
    official=("num_rel",),
)
def relevant(ranking: Ranking, rel: float | None = None) -> Floats:
    return ranking.n_rel(rel).astype(np.float64)


@explains(relevant)
def _relevant_steps(view: View, rel: float | None = None) -> list[Step]:
    return _counted(view, rel, "count relevant")


@unchanged
@define(
    "NumRelRet",
    title="Relevant documents returned",
    formula="NumRelRet = number of relevant documents returned",
    source=_TREC_EVAL,
    example="NumRelRet",
    aggregate="sum",
    highest=float("inf"),
    official=("num_rel_ret",),
)
def relevant_returned(ranking: Ranking, rel: float | None = None) -> Floats:
    return found(ranking, rel)


@explains(relevant_returned)
def _relevant_returned_steps(view: View, rel: float | None = None) -> list[Step]:
    return _counted(view, rel, "count both")


def _counted(view: View, rel: float | None, key: str) -> list[Step]:
    table = contingency(view, None, rel)
    found, returned, n = (table.numbers[name] for name in ("found", "returned", "n"))
    results = {"count returned": returned, "count relevant": found + (n - found), "count both": found}
    numbers = {"found": found, "other": returned - found, "missed": n - found}
    return [table, Step(key, {**numbers, "result": float(results[key])})]
