"""Counts: summed over topics, not averaged."""

from __future__ import annotations

import numpy as np

from exaequo.arrays import Floats
from exaequo.measures.moments import unchanged
from exaequo.measures.registry import define
from exaequo.measures.sets import found
from exaequo.measures.steps import Explainer, Step, contingency
from exaequo.measures.view import View
from exaequo.order import Ranking


def _counted(key: str) -> Explainer:
    """Return the explainer of a count of the table of relevant and returned documents."""

    def steps(view: View, rel: float | None = None) -> list[Step]:
        table = contingency(view, None, rel)
        found, returned, n = (table.numbers[name] for name in ("found", "returned", "n"))
        counts = {"count returned": returned, "count relevant": n, "count both": found}
        numbers = {"found": found, "other": returned - found, "missed": n - found}
        return [table, Step(key, {**numbers, "result": float(counts[key])})]

    return steps


@unchanged
@define(
    "NumQ",
    title="Topics evaluated",
    formula="NumQ = number of topics with a relevant document",
    source="trec_eval",
    aggregate="sum",
    official=("num_q",),
    explain=lambda view: [Step("count topic", {"n": view.n_rel(), "result": 1.0})],
)
def topics(ranking: Ranking) -> Floats:
    return np.ones(ranking.n_topics)


@unchanged
@define(
    "NumRet",
    title="Documents returned",
    formula="NumRet = number of documents returned; with rel, of those at least this relevant",
    source="trec_eval",
    aggregate="sum",
    highest=float("inf"),
    official=("num_ret",),
    sees=("length",),
    explain=lambda view, rel=None: _counted("count returned" if rel is None else "count both")(view, rel),
)
def returned(ranking: Ranking, rel: float | None = None) -> Floats:
    return found(ranking, rel) if rel is not None else ranking.returned.astype(np.float64)


@unchanged
@define(
    "NumRel",
    title="Relevant documents",
    formula="NumRel = number of relevant documents, returned or not",
    source="trec_eval",
    example="NumRel(rel=2)",
    aggregate="sum",
    highest=float("inf"),
    official=("num_rel",),
    explain=_counted("count relevant"),
)
def relevant(ranking: Ranking, rel: float | None = None) -> Floats:
    return ranking.n_rel(rel).astype(np.float64)


@unchanged
@define(
    "NumRelRet",
    title="Relevant documents returned",
    formula="NumRelRet = number of relevant documents returned",
    source="trec_eval",
    aggregate="sum",
    highest=float("inf"),
    official=("num_rel_ret",),
    explain=_counted("count both"),
)
def relevant_returned(ranking: Ranking, rel: float | None = None) -> Floats:
    return found(ranking, rel)
