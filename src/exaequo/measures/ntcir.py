"""Measures of NTCIR: the blended ratio, and the global gain of documents that serve several intents."""

from __future__ import annotations

from math import log2
from typing import NamedTuple

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.judge import Judgments
from exaequo.measures.arithmetic import products_before, ratio, spread, sums_so_far
from exaequo.measures.gain import discount, err_moments, expected_reciprocal_rank, stopping_rows, up_to
from exaequo.measures.moments import Linear, Moments, closed, linear, of_linear, one_by, top
from exaequo.measures.parameters import PARAMETERS, Parameter
from exaequo.measures.registry import define
from exaequo.measures.steps import Row, Step, column, explains, listed, over, over_ideal, summed
from exaequo.measures.subtopics import subtopic_recall, subtopic_recall_moments, subtopic_recall_steps
from exaequo.measures.view import View
from exaequo.order import Ranking

_SAKAI_SONG = (
    "T. Sakai, R. Song: Evaluating diversified search results using per-intent graded relevance, SIGIR 2011; "
    "intents equally likely"
)
_GLOBAL = (
    "the intents are the subtopics in the iteration field of the qrels that have a document above 0; tied documents of "
    "one grade but different subtopics are ordered by name under all strategies"
)
_BETA = Parameter("weight of gain against precision", PARAMETERS["beta"].accepts, PARAMETERS["beta"].expected)
_GAMMA = Parameter("share of subtopic recall", PARAMETERS["recall"].accepts, PARAMETERS["recall"].expected)


class Gains(NamedTuple):
    """The gain of each document of a ranking, and the ideal lists: topic, rank from 1 and gain, topic after topic."""

    own: Floats
    topic: Ints
    rank: Ints
    gain: Floats

    def so_far(self, topic: Ints, rank: Ints) -> Floats:
        """Return the gain of the first so many documents of the ideal list of a topic that has one."""
        start, stop = (np.searchsorted(self.topic, topic, side=side) for side in ("left", "right"))
        gains: Floats = sums_so_far(self.gain, self.topic)[np.minimum(start + rank, stop) - 1]
        return gains

    def counted(self, ranking: Ranking, cutoff: int | None) -> Floats:
        """Return how many documents have a gain, as many of them as the cutoff leaves room for."""
        return np.minimum(ranking.total(self.topic), cutoff or np.inf)


def _graded(ranking: Ranking) -> Gains:
    """Return grades as gains."""
    return Gains(np.where(ranking.judged, np.maximum(ranking.grade, 0.0), 0.0), *ranking.judgments.ideal)


def _global(ranking: Ranking) -> Gains:
    """Return global gains: the mean grade of each document over the intents of its topic."""
    judgments, place = ranking.judgments, ranking.lines.place[ranking.line]
    every = judgments.kept("global gain", lambda: _mean_grades(judgments))
    own = np.where(place >= 0, every[place], 0.0) if len(every) else np.zeros(len(place))
    order = np.lexsort((-every, judgments.topic))
    order = order[every[order] > 0]
    topic = judgments.topic[order]
    return Gains(own, topic, np.arange(len(topic)) - np.searchsorted(topic, topic) + 1, every[order])


def _mean_grades(judgments: Judgments) -> Floats:
    subtopics = judgments.subtopics
    above = subtopics.grade > 0
    intents = np.bincount(subtopics.topic[np.unique(subtopics.subtopic[above])], minlength=judgments.n_topics)
    places, grades = subtopics.place[above], subtopics.grade[above]
    return ratio(np.bincount(places, grades, minlength=len(judgments.topic)), intents[judgments.topic])


def _blended(ranking: Ranking, gains: Gains, cutoff: int | None, beta: float) -> Floats:
    """Return the mean blended ratio at the documents with a gain."""
    at = up_to(ranking, cutoff, np.flatnonzero(gains.own > 0))
    topic, rank = ranking.topic[at], ranking.rank[at]
    above = sums_so_far(1 + beta * gains.own[at], topic)
    return ratio(
        ranking.total(topic, above / (rank + beta * gains.so_far(topic, rank))), gains.counted(ranking, cutoff)
    )


def _blended_mean(ranking: Ranking, gains: Gains, cutoff: int | None, beta: float) -> Floats:
    """Return its mean over all orders: that of AP, each document found counting 1 + β times its gain."""
    groups, marked = ranking.groups, gains.own > 0
    found, _ = groups.counts(marked)
    worth = groups.sums(np.where(marked, 1 + beta * gains.own, 0.0))
    above = sums_so_far(worth, groups.topic) - worth
    kept = np.flatnonzero(found)
    size, start = groups.size[kept], groups.start[kept]
    of = np.repeat(kept, size)
    at = spread(start, size)
    topic, rank, m, r = ranking.topic[at], ranking.rank[at], groups.size[of], found[of]
    others = (rank - groups.before[of] - 1) * ratio(r - 1, m - 1)
    value = (r * above[of] + worth[of] * (1 + others)) / m / (rank + beta * gains.so_far(topic, rank))
    return ratio(ranking.total(topic, value * (rank <= (cutoff or np.inf))), gains.counted(ranking, cutoff))


def _blended_steps(
    rows: list[Row], best: list[float], cutoff: int | None, beta: float, key: str = "blended ratios"
) -> list[Step]:
    """Return the steps for documents with these gains, and the gains of the ideal list."""
    table, so_far = [], 0.0
    for found, row in enumerate(rows, 1):
        so_far += row["gain"]
        most = sum(best[: row["rank"]])
        term = (found + beta * so_far) / (row["rank"] + beta * most)
        table.append({**row, "found": found, "so far": so_far, "ideal so far": most, "term": term})
    together = summed(column(table, "term"))
    n = min(len(best), cutoff or len(best))
    return [
        listed(key, table, {"beta": beta, "cutoff": cutoff}, "no gains"),
        together,
        over("over gainful", together.numbers["total"], n),
    ]


@define(
    "Q",
    title="Q-measure",
    formula="Q@k = Σ (found + β·gain so far) / (i + β·gain so far of the ideal list) over the ranks i ≤ k of documents "
    "with a gain / all documents with a gain, or k if there are more",
    source="T. Sakai, S. E. Robertson: Modelling a user population for designing information retrieval metrics, "
    "EVIA 2008; cutoff as in NTCIREVAL",
    example="Q@10",
    aliases=("Q_measure",),
    parameters={"beta": _BETA},
)
def q_measure(ranking: Ranking, cutoff: int | None = None, beta: float = 1.0) -> Floats:
    return _blended(ranking, _graded(ranking), cutoff, beta)


@closed(q_measure)
def _q_measure_moments(ranking: Ranking, cutoff: int | None = None, beta: float = 1.0) -> Moments:
    return Moments(_blended_mean(ranking, _graded(ranking), cutoff, beta))


@explains(q_measure)
def _q_measure_steps(view: View, cutoff: int | None = None, beta: float = 1.0) -> list[Step]:
    rows = [line.row(gain=line.grade) for line in view.lines(cutoff) if line.grade > 0]
    return _blended_steps(rows, [grade for grade, _ in view.judged if grade > 0], cutoff, beta)


@define(
    "nERR",
    title="Normalised expected reciprocal rank",
    formula="nERR@k = ERR@k / ERR@k of the ideal list of all judged documents",
    source="O. Chapelle et al.: Expected reciprocal rank for graded relevance, CIKM 2009; normalised as in NTCIREVAL",
    example="nERR@20",
)
def n_err(ranking: Ranking, cutoff: int | None = None, max_rel: float = 4.0) -> Floats:
    return ratio(expected_reciprocal_rank(ranking, cutoff, max_rel), _ideal_err(ranking, cutoff, max_rel))


def _ideal_err(ranking: Ranking, cutoff: int | None, max_rel: float) -> Floats:
    topic, rank, grade = ranking.judgments.ideal
    stops = (np.exp2(grade) - 1) / 2**max_rel
    looking = np.where(rank <= (cutoff or np.inf), products_before(1 - stops, topic), 0.0)
    return ranking.total(topic, stops * looking / rank)


@closed(n_err)
def _n_err_moments(ranking: Ranking, cutoff: int | None = None, max_rel: float = 4.0) -> Moments:
    return Moments(ratio(err_moments(ranking, cutoff, max_rel).mean, _ideal_err(ranking, cutoff, max_rel)))


@explains(n_err)
def _n_err_steps(view: View, cutoff: int | None = None, max_rel: float = 4.0) -> list[Step]:
    best = [(rank, name, grade) for rank, (grade, name) in enumerate(view.judged[:cutoff], 1)]
    own = [(line.rank, line.document, line.grade) for line in view.lines(cutoff)]
    numbers = {"max_rel": max_rel, "cutoff": cutoff}
    return over_ideal(
        "over the ideal",
        listed("stopping", stopping_rows(own, max_rel), numbers, "no gains"),
        listed("stopping ideal", stopping_rows(best, max_rel), numbers, "no ideal"),
        "term",
    )


@define(
    "D_nDCG",
    title="Discounted cumulative global gain, normalised",
    formula="D_nDCG@k = Σ global gain(i) / log2(i + 1) over the ranks i ≤ k / the same of the list ordered by global "
    "gain; global gain = mean over the intents of the grade of a document for each",
    source=_SAKAI_SONG,
    example="D_nDCG@10",
    chain="not guaranteed",
    note=_GLOBAL,
    sees=("names",),
)
def d_ndcg(ranking: Ranking, cutoff: int) -> Floats:
    gains = _global(ranking)
    at = up_to(ranking, cutoff, np.flatnonzero(gains.own > 0))
    own = ranking.total(ranking.topic[at], gains.own[at] / discount(ranking.rank[at], "log2"))
    return ratio(own, _ideal_global(ranking, gains, cutoff))


def _ideal_global(ranking: Ranking, gains: Gains, cutoff: int) -> Floats:
    worth = np.where(gains.rank <= cutoff, gains.gain / discount(gains.rank, "log2"), 0.0)
    return ranking.total(gains.topic, worth)


@linear(d_ndcg, cut=True)
def _d_ndcg_form(ranking: Ranking, cutoff: int) -> Linear:
    gains = _global(ranking)
    weight = top(ranking, cutoff) / discount(ranking.rank, "log2")
    return Linear(gains.own, weight, one_by(_ideal_global(ranking, gains, cutoff)))


@explains(d_ndcg)
def _d_ndcg_steps(view: View, cutoff: int) -> list[Step]:
    rows, ideal = _global_rows(view, cutoff)
    own, best = (
        [{**row, "discount": d, "quotient": row["gain"] / d} for row in each for d in [log2(row["rank"] + 1)]]
        for each in (rows, ideal[:cutoff])
    )
    lists = listed("global gains", own, {"cutoff": cutoff}, "no gains"), listed("global ideal", best, {}, "no ideal")
    return over_ideal("dcg over ideal", *lists, "quotient")


def _global_rows(view: View, cutoff: int) -> tuple[list[Row], list[Row]]:
    """Return the documents of the list that have a global gain, and all there are, best first."""
    judgments = view.ranking.judgments
    subtopics = judgments.subtopics
    chosen = np.flatnonzero((judgments.topic[subtopics.place] == view.topic) & (subtopics.grade > 0))
    names = judgments.qrels.frame["docno"][judgments.row[subtopics.place[chosen]]].to_list()
    intents, gains = set(subtopics.subtopic[chosen].tolist()), dict.fromkeys(names, 0.0)
    for name, grade in zip(names, subtopics.grade[chosen].tolist(), strict=True):
        gains[name] += grade / len(intents)
    best = sorted(((gain, name) for name, gain in gains.items()), reverse=True)
    ideal = [{"rank": rank, "document": name, "gain": gain} for rank, (gain, name) in enumerate(best, 1)]
    return [line.row(gain=gains[line.document]) for line in view.lines(cutoff) if line.document in gains], ideal


@define(
    "D_Q",
    title="Q-measure of global gains",
    formula="D_Q@k = Σ (found + β·gain so far) / (i + β·gain so far of the ideal list) over the ranks i ≤ k of "
    "documents with a gain / all documents with a gain, or k if there are more; gain = mean over the intents of the "
    "grade of a document for each",
    source=_SAKAI_SONG,
    example="D_Q@10",
    chain="not guaranteed",
    note=_GLOBAL,
    sees=("names",),
    parameters={"beta": _BETA},
)
def d_q(ranking: Ranking, cutoff: int, beta: float = 1.0) -> Floats:
    return _blended(ranking, _global(ranking), cutoff, beta)


@closed(d_q)
def _d_q_moments(ranking: Ranking, cutoff: int, beta: float = 1.0) -> Moments:
    return Moments(_blended_mean(ranking, _global(ranking), cutoff, beta))


@explains(d_q)
def _d_q_steps(view: View, cutoff: int, beta: float = 1.0) -> list[Step]:
    rows, ideal = _global_rows(view, cutoff)
    return _blended_steps(rows, column(ideal, "gain"), cutoff, beta, "global ratios")


def _sharp(steps: list[Step], view: View, cutoff: int, gamma: float) -> list[Step]:
    recall = subtopic_recall_steps(view, cutoff)
    i, d = recall[-1].numbers["result"], steps[-1].numbers["result"]
    return [
        *recall,
        *steps,
        Step("sharp", {"gamma": gamma, "recall": i, "d": d, "result": gamma * i + (1 - gamma) * d}),
    ]


@define(
    "Dsharp_nDCG",
    title="D♯-nDCG: subtopic recall and D-nDCG",
    formula="Dsharp_nDCG@k = γ · StRecall@k + (1 − γ) · D_nDCG@k",
    source=_SAKAI_SONG,
    example="Dsharp_nDCG@10",
    chain="not guaranteed",
    note=_GLOBAL,
    sees=("names",),
    parameters={"gamma": _GAMMA},
)
def d_sharp_ndcg(ranking: Ranking, cutoff: int, gamma: float = 0.5) -> Floats:
    return gamma * subtopic_recall(ranking, cutoff) + (1 - gamma) * d_ndcg(ranking, cutoff)


@closed(d_sharp_ndcg)
def _d_sharp_ndcg_moments(ranking: Ranking, cutoff: int, gamma: float = 0.5) -> Moments:
    mean = of_linear(ranking, _d_ndcg_form(ranking, cutoff)).mean
    return Moments(gamma * subtopic_recall_moments(ranking, cutoff).mean + (1 - gamma) * mean)


@explains(d_sharp_ndcg)
def _d_sharp_ndcg_steps(view: View, cutoff: int, gamma: float = 0.5) -> list[Step]:
    return _sharp(_d_ndcg_steps(view, cutoff), view, cutoff, gamma)


@define(
    "Dsharp_Q",
    title="D♯-Q: subtopic recall and D-Q",
    formula="Dsharp_Q@k = γ · StRecall@k + (1 − γ) · D_Q@k",
    source=_SAKAI_SONG,
    example="Dsharp_Q@10",
    chain="not guaranteed",
    note=_GLOBAL,
    sees=("names",),
    parameters={"beta": _BETA, "gamma": _GAMMA},
)
def d_sharp_q(ranking: Ranking, cutoff: int, beta: float = 1.0, gamma: float = 0.5) -> Floats:
    return gamma * subtopic_recall(ranking, cutoff) + (1 - gamma) * d_q(ranking, cutoff, beta)


@closed(d_sharp_q)
def _d_sharp_q_moments(ranking: Ranking, cutoff: int, beta: float = 1.0, gamma: float = 0.5) -> Moments:
    mean = _blended_mean(ranking, _global(ranking), cutoff, beta)
    return Moments(gamma * subtopic_recall_moments(ranking, cutoff).mean + (1 - gamma) * mean)


@explains(d_sharp_q)
def _d_sharp_q_steps(view: View, cutoff: int, beta: float = 1.0, gamma: float = 0.5) -> list[Step]:
    return _sharp(_d_q_steps(view, cutoff, beta), view, cutoff, gamma)
