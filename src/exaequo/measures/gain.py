"""Measures of gain: graded judgments, discounted by rank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from exaequo.errors import BadParameter
from exaequo.judge import Floats, Ints
from exaequo.measures.registry import define
from exaequo.measures.sets import ratio
from exaequo.order import Ranking

_JK = "K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002"

_ON_GAINS = "with gains= that do not grow with the grade, realistic ≤ conventional ≤ optimistic is not guaranteed"

Gains = Mapping[float, float]


def gain_of(grade: Floats, dcg: str, gains: Gains | None) -> Floats:
    """Return the gain of each judged grade: the grade itself, or what `gains` says; never below 0."""
    gain = np.maximum(grade, 0.0)
    for of, value in (gains or {}).items():
        gain = np.where(grade == of, max(value, 0.0), gain)
    if dcg != "exp-log2":
        return gain
    if gain.max(initial=0.0) > 1000:
        raise BadParameter(f"dcg='exp-log2' takes grades up to 1000. Got {gain.max():g}.")
    return np.exp2(gain) - 1


def discount(rank: Ints, dcg: str) -> Floats:
    """Return what the gain at each rank is divided by."""
    return np.log2(np.maximum(rank, 2)) if dcg == "jk" else np.log2(rank + 1)


@define(
    "DCG",
    title="Discounted cumulative gain",
    formula="DCG@k = Σ gain(i) / log2(i + 1) over the ranks i ≤ k",
    source=_JK,
    example="DCG(dcg='jk')@10",
    highest=float("inf"),
    note=_ON_GAINS,
)
def dcg(ranking: Ranking, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> Floats:
    at = np.flatnonzero(ranking.judged) if gains else ranking.gainful
    at = at if cutoff is None else at[ranking.rank[at] <= cutoff]
    gain = gain_of(ranking.grade[at], dcg, gains)
    return ranking.total(ranking.topic[at], gain / discount(ranking.rank[at], dcg))


def ideal_dcg(ranking: Ranking, cutoff: int | None, dcg: str, gains: Gains | None) -> Floats:
    """Return the DCG of the best list there is: all judged documents, best gain first, never the run's own."""
    judgments = ranking.judgments
    topic, rank, grade = judgments.ideal
    gain = gain_of(grade, dcg, gains)
    if gains:  # which need not grow with the grade, and may give something for grade 0
        gain = gain_of(judgments.grade, dcg, gains)
        topic, gain = judgments.topic[gain > 0], gain[gain > 0]
        order = np.lexsort((-gain, topic))
        topic, gain = topic[order], gain[order]
        rank = np.arange(len(topic)) - np.searchsorted(topic, topic) + 1
    top = rank <= (cutoff or len(topic))
    return ranking.total(topic[top], gain[top] / discount(rank[top], dcg))


@define(
    "nDCG",
    title="Normalised discounted cumulative gain",
    formula="nDCG@k = DCG@k / DCG@k of the ideal list of all judged documents",
    source=_JK + "; discount as in trec_eval, unless dcg='jk'",
    example="nDCG(dcg='exp-log2')@10",
    aliases=("NDCG",),
    note=_ON_GAINS,
)
def ndcg(ranking: Ranking, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> Floats:
    return ratio(_dcg(ranking, cutoff, dcg, gains), ideal_dcg(ranking, cutoff, dcg, gains))


_dcg = dcg  # the parameter of ndcg has the name of the function


@define(
    "IDCG",
    title="Ideal discounted cumulative gain",
    formula="IDCG@k = DCG@k of the ideal list of all judged documents",
    source=_JK,
    example="IDCG(dcg='jk')@10",
    highest=float("inf"),
)
def idcg(ranking: Ranking, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> Floats:
    return ideal_dcg(ranking, cutoff, dcg, gains)


@define(
    "NCG",
    title="Normalised cumulative gain",
    formula="NCG@k = Σ gain(i) over the ranks i ≤ k / the same of the ideal list",
    source="K. Järvelin, J. Kekäläinen: IR evaluation methods for retrieving highly relevant documents, SIGIR 2000",
    example="NCG@100",
)
def ncg(ranking: Ranking, cutoff: int) -> Floats:
    at = ranking.gainful[ranking.rank[ranking.gainful] <= cutoff]
    topic, rank, grade = ranking.judgments.ideal
    top = rank <= cutoff
    return ratio(ranking.total(ranking.topic[at], ranking.grade[at]), ranking.total(topic[top], grade[top]))


@define(
    "SDCG",
    title="Scaled discounted cumulative gain",
    formula="SDCG@k = Σ (grade(i) / max_rel) / log2(i + 1) / Σ 1 / log2(i + 1) over the ranks i ≤ k",
    source="A. Moffat, P. Bailey, F. Scholer, P. Thomas: Incorporating user expectations and behavior into the "
    "measurement of search effectiveness, ACM TOIS 35(3), 2017",
    example="SDCG@10",
)
def scaled_dcg(ranking: Ranking, cutoff: int, max_rel: float = 4.0) -> Floats:
    refuse_higher("SDCG", ranking, max_rel)
    best = max_rel * float(np.sum(1 / discount(np.arange(1, cutoff + 1), "log2")))
    return _dcg(ranking, cutoff) / best


def refuse_higher(name: str, ranking: Ranking, max_rel: float) -> None:
    """Refuse grades beyond the end of the scale."""
    best = ranking.judgments.grade.max(initial=0.0)
    if best > max_rel:
        raise BadParameter(f"There are judgments of {best:g}, above max_rel={max_rel:g}: say {name}(max_rel={best:g}).")


@define(
    "ERR",
    title="Expected reciprocal rank",
    formula="ERR@k = Σ 1/i · R(i) · Π (1 − R(j)) over j < i ≤ k, with R = (2^grade − 1) / 2^max_rel",
    source="O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan: Expected reciprocal rank for graded relevance, CIKM 2009",
    example="ERR@20",
)
def expected_reciprocal_rank(ranking: Ranking, cutoff: int | None = None, max_rel: float = 4.0) -> Floats:
    """The scale ends at 4 by default, as in the evaluator of the TREC Web tracks."""
    refuse_higher("ERR", ranking, max_rel)
    above = ranking.judged & (ranking.grade > 0)
    at = np.flatnonzero(above if cutoff is None else above & (ranking.rank <= cutoff))
    stops = (np.exp2(ranking.grade[at]) - 1) / 2**max_rel
    still_looking = products_before(1 - stops, ranking.topic[at])
    return ranking.total(ranking.topic[at], stops * still_looking / ranking.rank[at])


@define(
    "Compat",
    title="Compatibility",
    formula="Compat(p) = Σ p^(d−1)·overlap(d)/d over the depths d / the same of the ideal list with itself; "
    "overlap(d) = documents in the first d of both the list and the ideal list: all documents with a gain, best grade "
    "first, equal ones in the order of the list",
    source="C. L. A. Clarke, A. Vtyurina, M. D. Smucker: Assessing top-k preferences, ACM TOIS 39(3), 2021",
    example="Compat(p=0.8)",
)
def compatibility(ranking: Ranking, p: float = 0.95, normalize: bool = True) -> Floats:
    at = ranking.gainful
    topic, rank, grade = ranking.topic[at], ranking.rank[at], ranking.grade[at]
    ideal_topic, _, ideal_grade = ranking.judgments.ideal
    n = np.bincount(ideal_topic, minlength=ranking.n_topics)
    depth = np.maximum(ranking.returned, n)
    # Rank in the ideal list: after all of a higher grade, and those of the same grade that stand above in the list.
    grades = np.unique(ideal_grade)
    ideal_key = (ideal_topic + 1) * len(grades) - np.searchsorted(grades, ideal_grade)
    key = (topic + 1) * len(grades) - np.searchsorted(grades, grade)
    order = np.argsort(key, kind="stable")
    same = np.arange(len(at)) - np.searchsorted(key[order], key[order])
    above = np.searchsorted(ideal_key, key[order]) - np.searchsorted(ideal_topic, topic[order])
    ideal_rank = above + same + 1
    # A document is in the first d of both lists from the greater of its two ranks on.
    depths = np.arange(1, int(depth.max(initial=0)) + 1)
    weight = np.concatenate(([0.0], np.cumsum(np.power(p, depths - 1.0) / depths)))
    both = np.maximum(rank[order], ideal_rank)
    score = ranking.total(topic[order], weight[depth[topic[order]]] - weight[both - 1])
    if not normalize:
        return ratio(score * (1 - p), 1 - np.power(p, depth.astype(np.float64)))
    nth = np.arange(len(ideal_topic)) - np.searchsorted(ideal_topic, ideal_topic)
    return ratio(score, ranking.total(ideal_topic, weight[depth[ideal_topic]] - weight[nth]))


def sums_so_far(values: Floats, topic: Ints) -> Floats:
    """Return for each entry the sum of the entries of its topic up to it, untouched by other topics."""
    total, step = values.copy(), 1
    while step < len(total):
        same = topic[step:] == topic[:-step]
        if not same.any():
            break
        total[step:] = total[step:] + np.where(same, total[:-step], 0.0)
        step *= 2
    return total


def products_before(factors: Floats, topic: Ints) -> Floats:
    """Return for each entry the product of the entries of its topic before it.

    By doubling: after step s each entry holds the product of up to 2^s entries, so all lists advance together.
    """
    first = np.concatenate(([True], topic[1:] != topic[:-1])) if len(topic) else np.zeros(0, dtype=bool)
    product = np.where(first, 1.0, np.roll(factors, 1))
    step = 1
    while step < len(topic):
        same = topic[step:] == topic[:-step]
        if not same.any():
            break
        shifted = product[step:] * np.where(same, product[:-step], 1.0)
        product = np.concatenate((product[:step], shifted))
        step *= 2
    return product
