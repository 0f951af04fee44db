"""Measures that say when a reader stops: after so many documents, or when the need is met."""

from __future__ import annotations

import numpy as np

from exaequo.errors import BadParameter
from exaequo.judge import Floats
from exaequo.measures.gain import products_before, refuse_higher
from exaequo.measures.registry import define
from exaequo.order import Ranking

#: As in cwl_eval, the reference implementation: nobody looks further, and after the end of a list comes no gain.
DEEPEST = 1000


@define(
    "INST",
    title="INST: a reader who expects T units of gain",
    formula="INST(T) = Σ w(i)·gain(i), with gain = grade / max_rel, w(i+1) / w(i) = ((i + T + T_i − 1) / (i + T + "
    "T_i))², T_i = T − gain found by rank i, and Σ w(i) = 1 over the ranks 1 … 1000",
    source="A. Moffat, P. Bailey, F. Scholer, P. Thomas: INST: an adaptive metric for information retrieval "
    "evaluation, ADCS 2015; ranks as in cwl_eval",
    example="INST(T=2)",
)
def inst(ranking: Ranking, T: float = 1.0, max_rel: float = 4.0) -> Floats:  # noqa: N803 - the name in the literature
    if T < 0.5:
        raise BadParameter(f"INST needs T ≥ 0.5, or readers would go on with certainty above 1. Got T={T}.")
    from scipy.special import polygamma

    refuse_higher("INST", ranking, max_rel)
    top = ranking.rank <= DEEPEST
    topic, rank = ranking.topic[top], ranking.rank[top]
    grade = np.maximum(ranking.grade[top], 0.0)  # 0 for documents nobody judged
    found = np.concatenate(([0.0], np.cumsum(grade)))
    start = np.searchsorted(topic, np.arange(ranking.n_topics))
    length = np.bincount(topic, minlength=ranking.n_topics)
    so_far = (found[1:] - found[start[topic]]) / max_rel
    place = rank + 2 * T - so_far
    weight = products_before((1 - 1 / place) ** 2, topic)
    # Beyond the end nothing is gained, and the weights sum to a difference of trigamma functions.
    end = length + 2 * T - (found[start + length] - found[start]) / max_rel
    after = np.ones(ranking.n_topics)
    last = np.flatnonzero(np.concatenate((topic[1:] != topic[:-1], [True]))) if len(topic) else np.zeros(0, np.int64)
    after[topic[last]] = weight[last] * (1 - 1 / place[last]) ** 2
    tail = after * end**2 * (polygamma(1, end) - polygamma(1, end + DEEPEST - length))
    value: Floats = ranking.total(topic, weight * grade / max_rel) / (ranking.total(topic, weight) + tail)
    return value


@define(
    "BPM",
    title="Bejeweled player model, static",
    formula="BPM(T)@k = gain found / documents seen by a reader who stops at T units of gain, or after k documents; "
    "gain = grade / max_rel",
    source="F. Zhang, Y. Liu, X. Li, M. Zhang, Y. Xu, S. Ma: Evaluating web search with a bejeweled player model, "
    "SIGIR 2017",
    example="BPM(T=2)@10",
    chain="not guaranteed",
)
def bpm(ranking: Ranking, cutoff: int, T: float = 1.0, max_rel: float = 4.0) -> Floats:  # noqa: N803 - as above
    refuse_higher("BPM", ranking, max_rel)
    at = ranking.gainful[ranking.rank[ranking.gainful] <= cutoff]
    topic, grade = ranking.topic[at], ranking.grade[at]
    so_far = np.concatenate(([0.0], np.cumsum(grade)))
    found = so_far[1:] - so_far[np.searchsorted(topic, topic)]
    enough = found >= T * max_rel
    stop = np.full(ranking.n_topics, cutoff)
    np.minimum.at(stop, topic[enough], ranking.rank[at][enough])
    seen = ranking.rank[at] <= stop[topic]
    value: Floats = ranking.total(topic[seen], grade[seen]) / max_rel / stop
    return value
