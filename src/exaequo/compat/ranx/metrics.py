"""The metrics of ranx: `hits`, `map@10`, `ndcg@10-l2`, `rbp.95`. In: judgments and a run. Out: a value for each topic.

All are those of exaequo's catalogue; only their names and defaults are ranx'. Each is also a function here:
`metrics.recall(qrels, run, k, rel_lvl)`, with one array of (document, number) for each topic, best first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from exaequo.arrays import Floats
from exaequo.compat.ranx.ordering import of_dicts
from exaequo.compat.ranx.records import Records
from exaequo.errors import BadParameter, UnknownMeasure
from exaequo.measures import gain, incomplete, ranks, sets
from exaequo.options import one_strategy
from exaequo.read import read_qrels, read_run
from exaequo.text import did_you_mean, listed
from exaequo.trec_eval.lists import Lists, all_topics, build, empty_run

#: A metric of given lists, cutoff (None: the whole list) and relevance level.
Function = Callable[[Lists, int | None, int], Floats]
Nested = dict[str, dict[str, float]]


def _gained(function: Callable[..., Floats], dcg: str) -> Function:
    """Return a measure of gain where grades below the level gain nothing."""

    def metric(lists: Lists, k: int | None, rel: int) -> Floats:
        lower = {float(grade): 0.0 for grade in np.unique(lists.judgments.grade) if 0 < grade < rel}
        return function(lists, k, dcg, lower or None)

    return metric


METRICS: dict[str, Function] = {
    "hits": lambda lists, k, rel: sets.found(lists, rel, k),
    "hit_rate": lambda lists, k, rel: np.minimum(sets.found(lists, rel, k), 1.0),
    "precision": lambda lists, k, rel: sets.precision(lists, k, rel) if k else sets.set_precision(lists, rel),
    "recall": lambda lists, k, rel: sets.recall(lists, k, rel) if k else sets.set_recall(lists, rel),
    "f1": lambda lists, k, rel: sets.f_at(lists, k, rel) if k else sets.set_f(lists, rel),
    "r-precision": lambda lists, k, rel: ranks.r_precision(lists, rel),  # noqa: ARG005 - no cutoff, as in ranx
    "mrr": ranks.reciprocal_rank,
    "map": ranks.average_precision,
    "dcg": _gained(gain.dcg, "log2"),
    "dcg_burges": _gained(gain.dcg, "exp-log2"),
    "ndcg": _gained(gain.ndcg, "log2"),
    "ndcg_burges": _gained(gain.ndcg, "exp-log2"),
    "bpref": lambda lists, k, rel: incomplete.bpref(lists, rel),  # noqa: ARG005 - no cutoff, as in ranx
}
_METRIC = re.compile(r"(?P<name>.+?)(?:@(?P<k>\d+))?(?:-l(?P<rel>\d+))?")
_RBP = re.compile(r"rbp[.@](?P<decimals>\d+)(?:-l(?P<rel>\d+))?")


class Metric(NamedTuple):
    """What a name asks for: a function with its cutoff and level."""

    function: Function
    k: int | None
    rel: int


def parsed(text: str) -> Metric:
    """Read a name of ranx."""
    if not isinstance(text, str):
        raise BadParameter(f"Metrics are names such as 'map' or 'ndcg@10'. Got {text!r} instead.")
    if patience := _RBP.fullmatch(text):
        p = float(f"0.{patience['decimals']}")
        if not p:
            raise BadParameter(f"The persistence of {text!r} must be above 0, as in 'rbp.95'.")
        return Metric(_patient(p), None, int(patience["rel"] or 1))
    found = _METRIC.fullmatch(text)
    if found is None or found["name"] not in METRICS:
        name = found["name"] if found else text
        hint = did_you_mean(name, METRICS) or f"; there are {listed([*METRICS, 'rbp.95'], 20)}."
        raise UnknownMeasure(f"There is no metric {text!r}{hint}")
    return Metric(METRICS[found["name"]], int(found["k"] or 0) or None, int(found["rel"] or 1))


def _patient(p: float) -> Function:
    return lambda lists, k, rel: ranks.rank_biased_precision(lists, k, p, rel, graded=True)


def values(qrels: Any, run: Any, asked: Iterable[Metric], ties: str = "input") -> list[Floats]:
    """Return the values of each metric, a value for each topic, in the order of the run's topics."""
    judged, returned = nested(qrels), nested(run, ranked=True)
    if judged.keys() != returned.keys():
        apart = sorted(judged.keys() ^ returned.keys())
        raise BadParameter(
            f"Judgments and run must have the same topics; not so: {listed(apart)}. With make_comparable=True, topics "
            "the run lacks count as 0, and topics nobody judged are left out."
        )
    topics = [topic for topic in returned if judged[topic]]
    if not topics:
        return [np.zeros(len(returned)) for _ in asked]
    judgments = all_topics(read_qrels({topic: judged[topic] for topic in topics}), 1)
    full = {topic: returned[topic] for topic in topics if returned[topic]}
    lists = build(judgments, read_run(full) if full else empty_run(), release=10, ties=one_strategy(ties))
    place = judgments.number
    at = np.array([place.get(topic, -1) for topic in returned])
    return [np.where(at >= 0, function(lists, k, rel)[at], 0.0) for function, k, rel in asked]


def nested(data: Any, *, ranked: bool = False) -> Nested:
    """Return `{topic: {document: number}}` of whatever ranx takes, documents in its order.

    Arrays are taken as they stand: if they are `ranked`, the place of a document is its score.
    """
    if isinstance(data, Records):
        return data.lists()
    if isinstance(data, Mapping):
        return {str(topic): _sorted(documents) for topic, documents in data.items()}
    if hasattr(data, "to_dict"):
        own: Nested = data.to_dict()
        return own
    width = len(str(len(data)))
    return {f"{at:0{width}}": _of_array(np.asarray(each), ranked) for at, each in enumerate(data)}


def _sorted(documents: Mapping[Any, Any]) -> dict[str, float]:
    names, scores = list(map(str, documents)), list(map(float, documents.values()))
    return {names[at]: scores[at] for at in of_dicts(scores)}


def _of_array(pairs: Floats, ranked: bool) -> dict[str, float]:
    """Return the documents of an array; one that comes again is another, which nobody judged."""
    documents: dict[str, float] = {}
    for at, (name, number) in enumerate(pairs.tolist()):
        key = repr(float(name))
        documents[f"{key} again at {at}" if key in documents else key] = -float(at) if ranked else float(number)
    return documents


def _metric(name: str) -> Callable[..., Floats]:
    def metric(qrels: Sequence[Floats], run: Sequence[Floats], k: int = 0, rel_lvl: int = 1) -> Floats:
        return values(qrels, run, [Metric(METRICS[name], k or None, rel_lvl)])[0]

    return metric


hits = _metric("hits")
hit_rate = _metric("hit_rate")
precision = _metric("precision")
recall = _metric("recall")
f1 = _metric("f1")
r_precision = _metric("r-precision")
reciprocal_rank = _metric("mrr")
average_precision = _metric("map")
dcg = _metric("dcg")
dcg_burges = _metric("dcg_burges")
ndcg = _metric("ndcg")
ndcg_burges = _metric("ndcg_burges")
bpref = _metric("bpref")


def rank_biased_precision(qrels: Sequence[Floats], run: Sequence[Floats], p: float, rel_lvl: int = 1) -> Floats:
    """Rank-biased precision, grades as they are."""
    return values(qrels, run, [Metric(_patient(p), None, rel_lvl)])[0]
