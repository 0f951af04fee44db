"""Measures of a set: the first k documents, or all of them, with no regard to the order inside."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from exaequo.arrays import Floats
from exaequo.measures.arithmetic import ratio
from exaequo.measures.moments import Linear, Moments, Stops, closed, linear, one_by, stopping, unchanged
from exaequo.measures.registry import Function, define
from exaequo.measures.steps import Explainer, Step, contingency, explains, f_step, over
from exaequo.measures.view import View
from exaequo.order import Ranking

CLEVERDON = "C. W. Cleverdon, J. Mills, M. Keen: Factors determining the performance of indexing systems, 1966"
RIJSBERGEN = "C. J. van Rijsbergen: Information Retrieval, 2nd edition, 1979, chapter 7"


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
    source=CLEVERDON,
    example="P(rel=2)@10",
    aliases=("Precision",),
    official=("P_{cutoff}",),
)
def precision(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    """A list shorter than k is divided by k all the same."""
    return found(ranking, rel, cutoff) / cutoff


@linear(precision, cut=True)
def _precision_form(ranking: Ranking, cutoff: int, rel: float | None = None) -> Linear:
    return Linear(ranking.relevant(rel), ranking.rank <= cutoff, 1 / cutoff)


@explains(precision)
def _precision_steps(view: View, cutoff: int | None = None, rel: float | None = None) -> list[Step]:
    table = contingency(view, cutoff, rel)
    returned = table.numbers["returned"]
    k = returned if cutoff is None else cutoff
    short = [Step("short list", {"returned": returned, "cutoff": k})] if returned < k else []
    return [table, *short, over("precision", table.numbers["found"], k)]


@define(
    "R",
    title="Recall at k",
    formula="R@k = relevant documents in the first k / all relevant documents",
    source=CLEVERDON,
    example="R@1000",
    aliases=("Recall",),
    official=("recall_{cutoff}",),
)
def recall(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    return ratio(found(ranking, rel, cutoff), ranking.n_rel(rel))


@linear(recall, cut=True)
def _recall_form(ranking: Ranking, cutoff: int, rel: float | None = None) -> Linear:
    return Linear(ranking.relevant(rel), ranking.rank <= cutoff, one_by(ranking.n_rel(rel)))


@explains(recall)
def _recall_steps(view: View, cutoff: int | None = None, rel: float | None = None) -> list[Step]:
    table = contingency(view, cutoff, rel)
    return [table, over("recall", table.numbers["found"], table.numbers["n"])]


@define(
    "F",
    title="F measure at k",
    formula="F(β)@k = (1 + β²)·P@k·R@k / (β²·P@k + R@k)",
    source=RIJSBERGEN,
    example="F(beta=2)@20",
)
def f_at(ranking: Ranking, cutoff: int, rel: float | None = None, beta: float = 1.0) -> Floats:
    return f_measure(precision(ranking, cutoff, rel), recall(ranking, cutoff, rel), beta)


@linear(f_at, cut=True)
def _f_form(ranking: Ranking, cutoff: int, rel: float | None = None, beta: float = 1.0) -> Linear:
    n = ranking.n_rel(rel)
    return Linear(ranking.relevant(rel), ranking.rank <= cutoff, (1 + beta**2) * (n > 0) / (beta**2 * n + cutoff))


@explains(f_at)
def _f_steps(view: View, cutoff: int | None = None, rel: float | None = None, beta: float = 1.0) -> list[Step]:
    *table, precision = _precision_steps(view, cutoff, rel)
    recall = _recall_steps(view, cutoff, rel)[-1]
    return [*table, precision, recall, f_step(precision, recall, beta)]


def complement(name: str, part: Function, form: Callable[..., Linear], steps: Explainer, **about: Any) -> Function:
    """Define what is missing to 1 of a measure, from its function, its linear form and its steps."""

    @wraps(part)
    def missing(ranking: Ranking, *values: Any, **params: Any) -> Floats:
        return 1 - part(ranking, *values, **params)

    define(name, missing, higher_is_better=False, chain="reversed", **about)

    @linear(missing, cut=True)
    def missing_form(ranking: Ranking, **params: Any) -> Linear:
        whole = form(ranking, **params)
        return Linear(whole.gain, whole.weight, -whole.scale, 1 - whole.offset)

    @explains(missing)
    def missing_steps(view: View, **params: Any) -> list[Step]:
        found = steps(view, **params)
        result = found[-1].numbers["result"]
        return [*found, Step("one minus", {"part": result, "result": 1 - result})]

    return missing


e_at = complement(
    "E",
    f_at,
    _f_form,
    _f_steps,
    title="Effectiveness of van Rijsbergen at k",
    formula="E(β)@k = 1 − F(β)@k",
    source=RIJSBERGEN,
    example="E(beta=2)@20",
)
noise = complement(
    "Noise",
    precision,
    _precision_form,
    _precision_steps,
    title="Noise at k",
    formula="Noise@k = 1 − P@k: what the reader looks at for nothing",
    source=CLEVERDON,
    example="Noise@10",
)
silence = complement(
    "Silence",
    recall,
    _recall_form,
    _recall_steps,
    title="Silence at k",
    formula="Silence@k = 1 − R@k: what the reader misses",
    source=CLEVERDON,
    example="Silence@1000",
)


@define(
    "Success",
    title="Success at k",
    formula="Success@k = 1 if one of the first k documents is relevant, else 0",
    source="trec_eval, measure success; also called hit rate",
    example="Success@5",
    official=("success_{cutoff}",),
)
def success(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    return np.minimum(found(ranking, rel, cutoff), 1.0)


@closed(success, cut=True)
def _success_moments(ranking: Ranking, cutoff: int, rel: float | None = None) -> Moments:
    stops = first_relevant(ranking, rel)
    mean = np.minimum(ranking.total(stops.owner, np.where(stops.rank <= cutoff, stops.chance, 0.0)), 1.0)
    return Moments(mean, mean * (1 - mean))


def first_relevant(ranking: Ranking, rel: float | None) -> Stops:
    """Return the chance of each rank to be that of the first relevant document."""
    groups = ranking.groups
    relevant = groups.of[ranking.relevant(rel)]
    return stopping(groups.topic, groups.before, groups.size, relevant, np.zeros(len(relevant)))


@explains(success)
def _success_steps(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    table = contingency(view, cutoff, rel)
    found = table.numbers["found"]
    return [table, Step("success", {"found": found, "cutoff": cutoff, "result": float(min(found, 1))})]


@unchanged
@define(
    "SetP",
    title="Precision of the whole list",
    formula="SetP = relevant documents returned / documents returned; 0 if there are none",
    source=CLEVERDON,
    official=("set_P",),
    sees=("length",),
    explain=_precision_steps,
)
def set_precision(ranking: Ranking, rel: float | None = None) -> Floats:
    return ratio(found(ranking, rel), ranking.returned)


@unchanged
@define(
    "SetR",
    title="Recall of the whole list",
    formula="SetR = relevant documents returned / all relevant documents",
    source=CLEVERDON,
    official=("set_recall",),
    explain=_recall_steps,
)
def set_recall(ranking: Ranking, rel: float | None = None) -> Floats:
    return ratio(found(ranking, rel), ranking.n_rel(rel))


@unchanged
@define(
    "SetF",
    title="F measure of the whole list",
    formula="SetF(β) = (1 + β²)·SetP·SetR / (β²·SetP + SetR)",
    source=RIJSBERGEN + ". The parameter of trec_eval's set_F is β²",
    example="SetF(beta=2)",
    official=("set_F",),
    sees=("length",),
    explain=_f_steps,
)
def set_f(ranking: Ranking, rel: float | None = None, beta: float = 1.0) -> Floats:
    return f_measure(set_precision(ranking, rel), set_recall(ranking, rel), beta)
