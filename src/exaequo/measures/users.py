"""Measures that say when a reader stops: after so many documents, or when the need is met."""

from __future__ import annotations

import numpy as np

from exaequo.errors import BadParameter
from exaequo.judge import Floats
from exaequo.measures.arithmetic import products_before, sums_so_far
from exaequo.measures.gain import refuse_higher, up_to
from exaequo.measures.registry import define
from exaequo.measures.steps import Row, Step, explains, listed, over, summed
from exaequo.measures.view import View
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
    at = up_to(ranking, DEEPEST, ranking.gainful)
    # From one gain to the next T_i stays the same: the weights fall like inverse squares, and what lies between two
    # gains sums to a difference of trigamma functions. Each topic starts with a gain of 0 at rank 0.
    topic = np.concatenate((np.arange(ranking.n_topics), ranking.topic[at]))
    order = np.argsort(topic, kind="stable")
    start = np.zeros(ranking.n_topics)
    rank = np.concatenate((start, ranking.rank[at].astype(np.float64)))[order]
    grade = np.concatenate((start, ranking.grade[at]))[order]
    topic = topic[order]
    still = 2 * T - sums_so_far(grade, topic) / max_rel  # T + T_i
    above = rank + still - (rank > 0)
    following = np.concatenate((np.where(topic[1:] == topic[:-1], rank[1:], DEEPEST + 1), [DEEPEST + 1])) - 1 + still
    weight = products_before((above / following) ** 2, topic)
    between = weight * above**2 * (polygamma(1, rank + still) - polygamma(1, following))
    value: Floats = ranking.total(topic, weight * grade) / max_rel
    return value / (ranking.total(topic, np.where(rank > 0, weight, 0.0)) + ranking.total(topic, between))


@explains(inst)
def _inst_steps(view: View, T: float = 1.0, max_rel: float = 4.0) -> list[Step]:  # noqa: N803 - as above
    lines = {line.rank: line for line in view.lines(DEEPEST)}
    weight, found, everything = 1.0, 0.0, 0.0
    rows: list[Row] = []
    for rank in range(1, DEEPEST + 1):
        line = lines.get(rank)
        gain = line.grade / max_rel if line and line.grade > 0 else 0.0
        everything += weight
        found += gain
        if line:
            numbers = {"gain": gain, "so far": found, "weight": weight, "product": gain * weight}
            rows.append(line.row(**numbers))
        weight *= ((rank + 2 * T - found - 1) / (rank + 2 * T - found)) ** 2
    last = max((at for at, row in enumerate(rows, 1) if row["gain"]), default=0)
    rows = rows[:last]  # after the last gain nothing is added
    together = summed([row["product"] for row in rows if row["gain"]])
    return [
        listed("reader weights", rows, {"T": T, "max_rel": max_rel}, "no gains"),
        together,
        over("over weights", together.numbers["total"], everything, deepest=DEEPEST),
    ]


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
    at = up_to(ranking, cutoff, ranking.gainful)
    topic, grade = ranking.topic[at], ranking.grade[at]
    enough = sums_so_far(grade, topic) >= T * max_rel * (1 - 1e-12)  # grades may be fractions
    stop = np.full(ranking.n_topics, cutoff)
    np.minimum.at(stop, topic[enough], ranking.rank[at][enough])
    seen = ranking.rank[at] <= stop[topic]
    value: Floats = ranking.total(topic[seen], grade[seen]) / max_rel / stop
    return value


@explains(bpm)
def _bpm_steps(view: View, cutoff: int, T: float = 1.0, max_rel: float = 4.0) -> list[Step]:  # noqa: N803 - as above
    found, stop, rows = 0.0, cutoff, []
    for line in view.lines(cutoff):
        if line.grade > 0:
            found += line.grade / max_rel
            rows.append(line.row(**{"gain": line.grade / max_rel, "so far": found}))
            if found >= T * (1 - 1e-12):
                stop = line.rank
                break
    met = bool(rows) and found >= T * (1 - 1e-12)
    numbers = {"T": T, "cutoff": cutoff, "stop": stop, "found": found, "max_rel": max_rel}
    return [
        listed("reader gains", rows, numbers, "no gains"),
        Step("reader satisfied" if met else "reader gives up", numbers),
        over("per document", found, stop),
    ]
