"""Measures that say when a reader stops: after so many documents, or when the need is met."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.errors import BadParameter
from exaequo.measures.arithmetic import products_before, ratio, sums_so_far
from exaequo.measures.gain import refuse_higher, up_to
from exaequo.measures.moments import Linear, linear, top
from exaequo.measures.registry import define
from exaequo.measures.steps import Plain, Row, Step, column, explains, listed, over, summed
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
    # From one gain to the next T_i stays the same: the weights fall like inverse squares, and what lies between two
    # gains sums to a difference of trigamma functions.
    topic, rank, grade = _from_the_start(ranking, up_to(ranking, DEEPEST, ranking.gainful))
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


def _static(T: float) -> Floats:  # noqa: N803 - as above
    """Return the weights of the ranks for a reader who wants T units of gain, whatever is found."""
    weights: Floats = (2 * T / (np.arange(DEEPEST, dtype=np.float64) + 2 * T)) ** 2
    return weights


@define(
    "INSQ",
    title="INSQ: a reader who expects T units of gain, and goes on regardless of what is found",
    formula="INSQ(T) = Σ w(i)·gain(i), with gain = grade / max_rel, w(i) in proportion to 1 / (i + 2T − 1)², and "
    "Σ w(i) = 1 over the ranks 1 … 1000",
    source="A. Moffat, F. Scholer, P. Thomas: Models and metrics: IR evaluation as a user process, ADCS 2012; ranks as "
    "in cwl_eval",
    example="INSQ(T=2)",
)
def insq(ranking: Ranking, T: float = 1.0, max_rel: float = 4.0) -> Floats:  # noqa: N803 - as above
    refuse_higher("INSQ", ranking, max_rel)
    at, weight = up_to(ranking, DEEPEST, ranking.gainful), _static(T)
    total = ranking.total(ranking.topic[at], ranking.grade[at] * weight[ranking.rank[at] - 1])
    return total / (max_rel * float(weight.sum()))


@linear(insq, cut=True)
def _insq_form(ranking: Ranking, T: float = 1.0, max_rel: float = 4.0) -> Linear:  # noqa: N803 - as above
    refuse_higher("INSQ", ranking, max_rel)
    weight = _static(T)
    seen = weight[np.minimum(ranking.rank, DEEPEST) - 1] * top(ranking, DEEPEST)
    return Linear(np.maximum(ranking.grade, 0.0), seen, 1 / (max_rel * float(weight.sum())))


@explains(insq)
def _insq_steps(view: View, T: float = 1.0, max_rel: float = 4.0) -> list[Step]:  # noqa: N803 - as above
    chances = [((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 for rank in range(1, DEEPEST)]
    return _weighted(view, "((i + 2T − 1) / (i + 2T))²", lambda rank, _: chances[rank - 1], DEEPEST, max_rel)


def _weighted(
    view: View, chance: str, goes_on: Callable[[int, float], float], deepest: int, max_rel: float
) -> list[Step]:
    """Return the steps of a reader who goes on from a rank with a chance that depends on it and on its gain."""
    lines = {line.rank: line for line in view.lines(deepest)}
    weight, everything, rows = 1.0, 0.0, []
    for rank in range(1, deepest + 1):
        line = lines.get(rank)
        gain = line.grade / max_rel if line and line.grade > 0 else 0.0
        everything += weight
        if line and gain:
            rows.append(line.row(gain=gain, weight=weight, product=gain * weight))
        weight *= goes_on(rank, gain) if rank < deepest else 0.0
    together = summed(column(rows, "product"))
    return [
        listed("reader chances", rows, {"chance": Plain(chance), "max_rel": max_rel}, "no gains"),
        together,
        over("over weights", together.numbers["total"], everything, deepest=deepest),
    ]


_NOT_ERR = (
    "L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L: exploring the relationship between expected reciprocal "
    "rank and other metrics, ICTIR 2021, equation {}; ranks as in cwl_eval"
)
_NOT_ERR_FORMULA = (
    "{} = Σ w(i)·gain(i) / Σ w(i) over the ranks i ≤ {}, with gain = grade / max_rel, w(1) = 1 and w(i+1) = w(i) · {}"
)


def _nearly_err(name: str, ranking: Ranking, base: Floats, max_rel: float) -> Floats:
    """Return the value for a reader with these weights of ranks, who stops with a chance that is the gain."""
    refuse_higher(name, ranking, max_rel)
    topic, rank, grade = _from_the_start(ranking, up_to(ranking, len(base), ranking.gainful))
    gain = grade / max_rel
    looking = products_before(1 - gain, topic)
    seen = np.concatenate(([0.0], np.cumsum(base)))
    following = np.concatenate((np.where(topic[1:] == topic[:-1], rank[1:], len(base)), [len(base)]))
    between = ranking.total(topic, looking * (1 - gain) * (seen[following] - seen[rank]))
    return ratio(ranking.total(topic, looking * gain * base[rank - 1]), between)


def _from_the_start(ranking: Ranking, at: Ints) -> tuple[Ints, Ints, Floats]:
    """Return topic, rank and grade of these places, each list beginning with a grade of 0 at rank 0."""
    topic = np.concatenate((np.arange(ranking.n_topics), ranking.topic[at]))
    order = np.argsort(topic, kind="stable")
    rank = np.concatenate((np.zeros(ranking.n_topics, dtype=np.int64), ranking.rank[at]))
    grade = np.concatenate((np.zeros(ranking.n_topics), ranking.grade[at]))
    return topic[order], rank[order], grade[order]


@define(
    "NERR8",
    title="Nearly expected reciprocal rank: a reader who stops at what is found",
    formula=_NOT_ERR_FORMULA.format("NERR8@k", "k", "(1 − gain(i))"),
    source=_NOT_ERR.format(8),
    example="NERR8@10",
)
def nerr8(ranking: Ranking, cutoff: int, max_rel: float = 4.0) -> Floats:
    return _nearly_err("NERR8", ranking, np.ones(min(cutoff, DEEPEST)), max_rel)


@explains(nerr8)
def _nerr8_steps(view: View, cutoff: int, max_rel: float = 4.0) -> list[Step]:
    return _weighted(view, "1 − gain(i)", lambda _, gain: 1 - gain, min(cutoff, DEEPEST), max_rel)


@define(
    "NERR9",
    title="Nearly expected reciprocal rank: a reader who also tires by the rank",
    formula=_NOT_ERR_FORMULA.format("NERR9@k", "k", "i / (i + 1) · (1 − gain(i))"),
    source=_NOT_ERR.format(9),
    example="NERR9@10",
)
def nerr9(ranking: Ranking, cutoff: int, max_rel: float = 4.0) -> Floats:
    return _nearly_err("NERR9", ranking, 1 / np.arange(1.0, min(cutoff, DEEPEST) + 1), max_rel)


@explains(nerr9)
def _nerr9_steps(view: View, cutoff: int, max_rel: float = 4.0) -> list[Step]:
    chance = "i / (i + 1) × (1 − gain(i))"
    return _weighted(view, chance, lambda i, gain: i / (i + 1) * (1 - gain), min(cutoff, DEEPEST), max_rel)


@define(
    "NERR10",
    title="Nearly expected reciprocal rank: a reader who also tires at a constant rate",
    formula=_NOT_ERR_FORMULA.format("NERR10(p)", "1000", "p · (1 − gain(i))"),
    source=_NOT_ERR.format(10),
    example="NERR10(p=0.8)",
)
def nerr10(ranking: Ranking, p: float = 0.9, max_rel: float = 4.0) -> Floats:
    return _nearly_err("NERR10", ranking, np.power(np.full(DEEPEST, p), np.arange(DEEPEST)), max_rel)


@explains(nerr10)
def _nerr10_steps(view: View, p: float = 0.9, max_rel: float = 4.0) -> list[Step]:
    return _weighted(view, f"{p:g} × (1 − gain(i))", lambda _, gain: p * (1 - gain), DEEPEST, max_rel)


@define(
    "NERR11",
    title="Nearly expected reciprocal rank: a reader who also expects T units of gain",
    formula=_NOT_ERR_FORMULA.format("NERR11(T)", "1000", "((i + 2T − 1) / (i + 2T))² · (1 − gain(i))"),
    source=_NOT_ERR.format(11),
    example="NERR11(T=2)",
)
def nerr11(ranking: Ranking, T: float = 1.0, max_rel: float = 4.0) -> Floats:  # noqa: N803 - as above
    return _nearly_err("NERR11", ranking, _static(T), max_rel)


@explains(nerr11)
def _nerr11_steps(view: View, T: float = 1.0, max_rel: float = 4.0) -> list[Step]:  # noqa: N803 - as above
    chances = [((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 for rank in range(1, DEEPEST)]
    chance = "((i + 2T − 1) / (i + 2T))² × (1 − gain(i))"
    return _weighted(view, chance, lambda i, gain: chances[i - 1] * (1 - gain), DEEPEST, max_rel)
