"""Measures of gain: graded judgments, discounted by rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import log2

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.errors import BadParameter
from exaequo.measures.arithmetic import products_before, ratio
from exaequo.measures.moments import Linear, Moments, closed, linear, one_by, stopping, top, unchanged
from exaequo.measures.registry import define
from exaequo.measures.steps import Plain, Row, Step, column, explains, listed, over, over_ideal, summed
from exaequo.measures.view import View
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
    at = up_to(ranking, cutoff, np.flatnonzero(ranking.judged) if gains else ranking.gainful)
    gain = gain_of(ranking.grade[at], dcg, gains)
    return ranking.total(ranking.topic[at], gain / discount(ranking.rank[at], dcg))


def up_to(ranking: Ranking, cutoff: int | None, at: Ints) -> Ints:
    """Return those of these places that stand in the first `cutoff` of their lists."""
    return at if cutoff is None else at[ranking.rank[at] <= cutoff]


@linear(dcg, cut=True)
def _dcg_form(ranking: Ranking, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> Linear:
    gain = np.where(ranking.judged, gain_of(ranking.grade, dcg, gains), 0.0)
    return Linear(gain, top(ranking, cutoff) / discount(ranking.rank, dcg))


@explains(dcg)
def _dcg_steps(view: View, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> list[Step]:
    table = _own_gains(view, cutoff, dcg, gains)
    return [table, summed(column(table.table, "quotient"), last=True)]


def _own_gains(view: View, cutoff: int | None, dcg: str, gains: Gains | None) -> Step:
    """Return the gains of the list."""
    rows = [
        _row(line.rank, line.document, line.grade, gain, dcg)
        for line in view.lines(cutoff)
        if line.judged and (gain := _one_gain(line.grade, dcg, gains)) > 0
    ]
    return listed("gains", rows, {**_rule(dcg), "cutoff": cutoff}, "no gains")


def _ideal_gains(view: View, cutoff: int | None, dcg: str, gains: Gains | None) -> Step:
    """Return the gains of the ideal list."""
    best = sorted(((_one_gain(grade, dcg, gains), grade, name) for grade, name in view.judged), reverse=True)
    top = [each for each in best if each[0] > 0][:cutoff]
    rows = [_row(rank, name, grade, gain, dcg) for rank, (gain, grade, name) in enumerate(top, 1)]
    return listed("ideal", rows, _rule(dcg), "no ideal")


def _row(rank: int, document: str, grade: float, gain: float, dcg: str) -> Row:
    discount = _one_discount(rank, dcg)
    gained = {"gain": gain, "discount": discount, "quotient": gain / discount}
    return {"rank": rank, "document": document, "judgment": grade, **gained}


def _one_gain(grade: float, dcg: str, gains: Gains | None) -> float:
    gain = max((gains or {}).get(grade, grade), 0.0)
    return 2.0**gain - 1 if dcg == "exp-log2" else float(gain)


def _one_discount(rank: int, dcg: str) -> float:
    return log2(max(rank, 2)) if dcg == "jk" else log2(rank + 1)


def _rule(dcg: str) -> dict[str, Plain]:
    """Return gain and discount as they are written; `g` is the grade, or what gains= gives for it."""
    return {
        "gain": Plain("2^g − 1" if dcg == "exp-log2" else "g"),
        "discount": Plain("log2(max(i, 2))" if dcg == "jk" else "log2(i + 1)"),
    }


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
    top = slice(None) if cutoff is None else rank <= cutoff
    return ranking.total(topic[top], gain[top] / discount(rank[top], dcg))


@define(
    "nDCG",
    title="Normalised discounted cumulative gain",
    formula="nDCG@k = DCG@k / DCG@k of the ideal list of all judged documents",
    source=_JK + "; discount as in trec_eval, unless dcg='jk'",
    example="nDCG(dcg='exp-log2')@10",
    aliases=("NDCG", "MSnDCG"),
    note=_ON_GAINS,
    official=("ndcg", "ndcg_cut_{cutoff}"),
)
def ndcg(ranking: Ranking, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> Floats:
    return ratio(_dcg(ranking, cutoff, dcg, gains), ideal_dcg(ranking, cutoff, dcg, gains))


_dcg = dcg  # the parameter of ndcg has the name of the function


@linear(ndcg, cut=True)
def _ndcg_form(ranking: Ranking, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> Linear:
    return replace(_dcg_form(ranking, cutoff, dcg, gains), scale=one_by(ideal_dcg(ranking, cutoff, dcg, gains)))


@explains(ndcg)
def _ndcg_steps(view: View, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> list[Step]:
    own, ideal = _own_gains(view, cutoff, dcg, gains), _ideal_gains(view, cutoff, dcg, gains)
    return over_ideal("dcg over ideal", own, ideal, "quotient")


@unchanged
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


@explains(idcg)
def _idcg_steps(view: View, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> list[Step]:
    table = _ideal_gains(view, cutoff, dcg, gains)
    return [table, summed(column(table.table, "quotient"), last=True)]


@define(
    "NCG",
    title="Normalised cumulative gain",
    formula="NCG@k = Σ gain(i) over the ranks i ≤ k / the same of the ideal list",
    source="K. Järvelin, J. Kekäläinen: IR evaluation methods for retrieving highly relevant documents, SIGIR 2000",
    example="NCG@100",
)
def ncg(ranking: Ranking, cutoff: int) -> Floats:
    at = up_to(ranking, cutoff, ranking.gainful)
    return ratio(ranking.total(ranking.topic[at], ranking.grade[at]), _ideal_gain(ranking, cutoff))


def _ideal_gain(ranking: Ranking, cutoff: int) -> Floats:
    topic, rank, grade = ranking.judgments.ideal
    return ranking.total(topic[rank <= cutoff], grade[rank <= cutoff])


@linear(ncg, cut=True)
def _ncg_form(ranking: Ranking, cutoff: int) -> Linear:
    return Linear(np.maximum(ranking.grade, 0.0), ranking.rank <= cutoff, one_by(_ideal_gain(ranking, cutoff)))


@explains(ncg)
def _ncg_steps(view: View, cutoff: int) -> list[Step]:
    rows = [line.row(gain=line.grade) for line in view.lines(cutoff) if line.grade > 0]
    best = [(grade, name) for grade, name in view.judged if grade > 0][:cutoff]
    ideal = [{"rank": rank, "document": name, "gain": grade} for rank, (grade, name) in enumerate(best, 1)]
    own = listed("plain gains", rows, {"cutoff": cutoff}, "no gains")
    return over_ideal("gain over ideal", own, listed("plain ideal", ideal, {}, "no ideal"), "gain")


@define(
    "SDCG",
    title="Scaled discounted cumulative gain",
    formula="SDCG@k = Σ (grade(i) / max_rel) / log2(i + 1) / Σ 1 / log2(i + 1) over the ranks i ≤ k",
    source="A. Moffat, P. Bailey, F. Scholer, P. Thomas: Incorporating user expectations and behavior into the "
    "measurement of search effectiveness, ACM TOIS 35(3), 2017",
    example="SDCG@10",
)
def scaled_dcg(ranking: Ranking, cutoff: int, max_rel: float = 4.0) -> Floats:
    return _dcg(ranking, cutoff) / _scale_end(ranking, cutoff, max_rel)


def _scale_end(ranking: Ranking, cutoff: int, max_rel: float) -> float:
    """Return the DCG of a list that has the highest grade of the scale at each rank."""
    refuse_higher("SDCG", ranking, max_rel)
    return max_rel * float(np.sum(1 / discount(np.arange(1, cutoff + 1), "log2")))


@linear(scaled_dcg, cut=True)
def _scaled_dcg_form(ranking: Ranking, cutoff: int, max_rel: float = 4.0) -> Linear:
    return replace(_dcg_form(ranking, cutoff), scale=1 / _scale_end(ranking, cutoff, max_rel))


@explains(scaled_dcg)
def _scaled_dcg_steps(view: View, cutoff: int, max_rel: float = 4.0) -> list[Step]:
    own = _own_gains(view, cutoff, "log2", None)
    together = summed(column(own.table, "quotient"))
    weights = summed([1 / _one_discount(rank, "log2") for rank in range(1, cutoff + 1)]).numbers
    best = {"max_rel": max_rel, "cutoff": cutoff, "weight": weights["total"], "terms": weights["terms"]}
    end = max_rel * weights["total"]
    scale = Step("scale end", {**best, "best": end})
    return [own, together, scale, over("dcg over scale", together.numbers["total"], end, **best)]


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
    at = up_to(ranking, cutoff, ranking.gainful)
    stops = (np.exp2(ranking.grade[at]) - 1) / 2**max_rel
    still_looking = products_before(1 - stops, ranking.topic[at])
    return ranking.total(ranking.topic[at], stops * still_looking / ranking.rank[at])


@closed(expected_reciprocal_rank, cut=True)
def err_moments(ranking: Ranking, cutoff: int | None = None, max_rel: float = 4.0) -> Moments:
    """Return the mean over all orders."""
    refuse_higher("ERR", ranking, max_rel)
    groups, at = ranking.groups, ranking.gainful
    goes_on = 1 - (np.exp2(ranking.grade[at]) - 1) / 2**max_rel
    stops = stopping(groups.topic, groups.before, groups.size, groups.of[at], goes_on)
    return Moments(ranking.total(stops.owner, np.where(stops.rank <= (cutoff or np.inf), stops.chance / stops.rank, 0)))


@explains(expected_reciprocal_rank)
def _expected_reciprocal_rank_steps(view: View, cutoff: int | None = None, max_rel: float = 4.0) -> list[Step]:
    rows = stopping_rows([(line.rank, line.document, line.grade) for line in view.lines(cutoff)], max_rel)
    return [
        listed("stopping", rows, {"max_rel": max_rel, "cutoff": cutoff}, "no gains"),
        summed(column(rows, "term"), last=True),
    ]


def stopping_rows(documents: Iterable[tuple[int, str, float]], max_rel: float) -> list[Row]:
    """Return where a reader may stop, for documents with their rank and grade."""
    rows, looking = [], 1.0
    for rank, document, grade in documents:
        if grade > 0:
            stop = (2.0**grade - 1) / 2.0**max_rel
            chances = {"stops": stop, "still looking": looking, "term": looking * stop / rank}
            rows.append({"rank": rank, "document": document, "judgment": grade, **chances})
            looking *= 1 - stop
    return rows


@define(
    "Compat",
    title="Compatibility",
    formula="Compat(p) = Σ p^(d−1)·overlap(d)/d over the depths d / the same of the ideal list with itself; "
    "overlap(d) = documents in the first d of both the list and the ideal list: all documents with a gain, best grade "
    "first, equal ones in the order of the list",
    source="C. L. A. Clarke, A. Vtyurina, M. D. Smucker: Assessing top-k preferences, ACM TOIS 39(3), 2021",
    example="Compat(p=0.8)",
    sees=("length",),
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
    both = np.maximum(rank[order], ideal_rank)
    score = _overlap(topic[order], both, depth, p)
    if not normalize:
        return score
    nth = np.arange(len(ideal_topic)) - np.searchsorted(ideal_topic, ideal_topic)
    return ratio(score, _overlap(ideal_topic, nth + 1, depth, p))


def _overlap(topic: Ints, since: Ints, depth: Ints, p: float) -> Floats:
    """Return Σ p^(d−1)·overlap(d)/d / Σ p^(d−1) over the depths d, for documents that are in both lists `since` a rank.

    Sums go down the lists, as in the program of the authors: so values are its values to the last bit.
    """
    weight = np.cumprod(np.concatenate(([1.0], np.full(max(int(depth.max(initial=0)) - 1, 0), p))))
    start = np.cumsum(depth) - depth
    owner = np.repeat(np.arange(len(depth)), depth)
    d = np.arange(len(owner)) - start[owner]
    so_far = np.concatenate(([0], np.cumsum(np.bincount(start[topic] + since - 1, minlength=len(owner)))))
    overlap = so_far[1:] - so_far[start[owner]]
    total = np.bincount(owner, weight[d] * overlap / (d + 1), minlength=len(depth))
    return ratio(total, np.bincount(owner, weight[d], minlength=len(depth)))


@explains(compatibility)
def _compatibility_steps(view: View, p: float = 0.95, normalize: bool = True) -> list[Step]:
    gains = [grade for grade, _ in view.judged if grade > 0]
    n, depth = len(gains), max(len(view.at), len(gains))
    so_far = [0.0]
    for d in range(1, depth + 1):
        so_far.append(so_far[-1] + p ** (d - 1) / d)
    rows = []
    for place in _ideal_places(view, gains):
        both = max(place["rank"], place["ideal rank"])
        rows.append({**place, "in both from": both, "term": so_far[depth] - so_far[both - 1]})
    own = listed("two lists", rows, {"n": n, "p": p, "depth": depth}, "no gains")
    if not normalize:
        together = summed(column(rows, "term"))
        total = together.numbers["total"]
        return [own, together, over("rbo", total * (1 - p), 1 - p**depth, total=total, p=p, depth=depth)]
    ideal = [{"rank": i, "term": so_far[depth] - so_far[i - 1]} for i in range(1, n + 1)]
    return over_ideal("over itself", own, listed("ideal with itself", ideal, {"depth": depth}, "no ideal"), "term")


def _ideal_places(view: View, gains: list[float]) -> list[Row]:
    """Return the documents with a gain, with their rank in the ideal list: equal ones in the order of the list."""
    places, taken = [], Counter[float]()
    for line in view.lines():
        if line.grade > 0:
            taken[line.grade] += 1
            better = sum(grade > line.grade for grade in gains)
            ranks = {"rank": line.rank, "ideal rank": better + taken[line.grade]}
            places.append({"document": line.document, "judgment": line.grade, **ranks})
    return places
