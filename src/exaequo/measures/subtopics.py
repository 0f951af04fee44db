"""Measures of diversity: judgments by subtopic, and less for what the reader has seen already."""

from __future__ import annotations

from collections import Counter

import numpy as np

from exaequo.arrays import Floats
from exaequo.measures.arithmetic import ratio, spread
from exaequo.measures.moments import Linear, Moments, closed, linear, one_by, top
from exaequo.measures.novelty import (
    by_subtopic,
    covered,
    gained,
    gains,
    ideal,
    mean_gain,
    most,
    n_subtopics,
    over_greedy,
    over_most,
    own_steps,
    relevant_pairs,
    relevant_to,
    seen_ties,
    subtopics_of,
)
from exaequo.measures.registry import define
from exaequo.measures.steps import Step, column, explains, listed, over, summed
from exaequo.measures.view import View
from exaequo.order import Ranking

_NOTE = (
    "subtopics stand in the iteration field of the qrels; tied documents of one grade but different subtopics are "
    "ordered by name under all strategies"
)
_NEARLY = f"{_NOTE}; the ideal list is only nearly the best, so that a value can be a little above 1"
_NOVELTY = "C. L. A. Clarke et al.: Novelty and diversity in information retrieval evaluation, SIGIR 2008"
_ERR = "O. Chapelle et al.: Expected reciprocal rank for graded relevance, CIKM 2009"
_NRBP = (
    "C. L. A. Clarke, M. Kolla, O. Vechtomova: An effectiveness measure for ambiguous and underspecified queries, "
    "ICTIR 2009"
)
_INTENTS = "R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong: Diversifying search results, WSDM 2009"


@define(
    "alpha_nDCG",
    title="Novelty-biased discounted cumulative gain",
    formula="alpha_nDCG@k = DCG@k / DCG@k of a greedily built ideal list, where a document gains (1 − α)^(times seen) "
    "for each subtopic it is relevant to",
    source=_NOVELTY,
    example="alpha_nDCG@10",
    chain="not guaranteed",
    highest=float("inf"),
    note=_NEARLY,
    sees=("names",),
)
def alpha_ndcg(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Floats:
    best = ideal(ranking.judgments, "log2", cutoff, alpha, rel)
    return ratio(gained(ranking, "log2", cutoff, alpha, rel), best)


@closed(alpha_ndcg)
def _alpha_ndcg_moments(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Moments:
    best = ideal(ranking.judgments, "log2", cutoff, alpha, rel)
    return Moments(ratio(mean_gain(ranking, "log2", cutoff, alpha, rel), best))


@explains(alpha_ndcg)
def _alpha_ndcg_steps(view: View, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    return over_greedy(view, "dcg over ideal", "log2", cutoff, alpha, rel)


@define(
    "alpha_DCG",
    title="Novelty-biased discounted cumulative gain, not over the ideal list",
    formula="alpha_DCG@k = Σ (1 − α)^(times seen) / log2(i + 1) over the ranks i ≤ k and the subtopics a document is "
    "relevant to, / the same if every document were relevant to all of them",
    source=f"{_NOVELTY}; normalised as in ndeval",
    example="alpha_DCG@10",
    chain="not guaranteed",
    note=_NOTE,
    sees=("names",),
)
def alpha_dcg(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Floats:
    best = most(ranking, "log2", cutoff, alpha, rel)
    return ratio(gained(ranking, "log2", cutoff, alpha, rel), best)


@closed(alpha_dcg)
def _alpha_dcg_moments(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Moments:
    best = most(ranking, "log2", cutoff, alpha, rel)
    return Moments(ratio(mean_gain(ranking, "log2", cutoff, alpha, rel), best))


@explains(alpha_dcg)
def _alpha_dcg_steps(view: View, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    return over_most(view, "log2", cutoff, alpha, rel)


@define(
    "ERR_IA",
    title="Intent-aware expected reciprocal rank",
    formula="ERR_IA@k = Σ (1 − α)^(times seen) / i over the ranks i ≤ k and the subtopics a document is relevant to, "
    "/ the same if every document were relevant to all of them",
    source=f"{_ERR}; normalised as in ndeval",
    example="ERR_IA@10",
    chain="not guaranteed",
    note=_NOTE,
    sees=("names",),
)
def err_ia(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Floats:
    best = most(ranking, "rank", cutoff, alpha, rel)
    return ratio(gained(ranking, "rank", cutoff, alpha, rel), best)


@closed(err_ia)
def _err_ia_moments(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Moments:
    best = most(ranking, "rank", cutoff, alpha, rel)
    return Moments(ratio(mean_gain(ranking, "rank", cutoff, alpha, rel), best))


@explains(err_ia)
def _err_ia_steps(view: View, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    return over_most(view, "rank", cutoff, alpha, rel)


@define(
    "nERR_IA",
    title="Intent-aware expected reciprocal rank, normalised",
    formula="nERR_IA@k = Σ (1 − α)^(times seen) / i over the ranks i ≤ k and the subtopics a document is relevant to, "
    "/ the same of a greedily built ideal list",
    source=f"{_ERR}; ideal list as in ndeval",
    example="nERR_IA@10",
    chain="not guaranteed",
    highest=float("inf"),
    note=_NEARLY,
    sees=("names",),
)
def n_err_ia(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Floats:
    best = ideal(ranking.judgments, "rank", cutoff, alpha, rel)
    return ratio(gained(ranking, "rank", cutoff, alpha, rel), best)


@closed(n_err_ia)
def _n_err_ia_moments(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Moments:
    best = ideal(ranking.judgments, "rank", cutoff, alpha, rel)
    return Moments(ratio(mean_gain(ranking, "rank", cutoff, alpha, rel), best))


@explains(n_err_ia)
def _n_err_ia_steps(view: View, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    return over_greedy(view, "over the ideal", "rank", cutoff, alpha, rel)


@define(
    "NRBP",
    title="Novelty- and rank-biased precision",
    formula="NRBP = (1 − (1 − α)·p) / subtopics · Σ (1 − α)^(times seen) · p^(i−1) over the ranks i and the subtopics "
    "a document is relevant to",
    source=_NRBP,
    example="NRBP(p=0.8)",
    chain="not guaranteed",
    note=_NOTE,
    sees=("names",),
)
def nrbp(ranking: Ranking, p: float = 0.5, alpha: float = 0.5, rel: float | None = None) -> Floats:
    return _nrbp_scale(ranking, p, alpha, rel) * gained(ranking, p, None, alpha, rel)


def _nrbp_scale(ranking: Ranking, p: float, alpha: float, rel: float | None) -> Floats:
    return (1 - (1 - alpha) * p) * one_by(n_subtopics(ranking.judgments, rel))


@closed(nrbp)
def _nrbp_moments(ranking: Ranking, p: float = 0.5, alpha: float = 0.5, rel: float | None = None) -> Moments:
    return Moments(_nrbp_scale(ranking, p, alpha, rel) * mean_gain(ranking, p, None, alpha, rel))


@explains(nrbp)
def _nrbp_steps(view: View, p: float = 0.5, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    own, every = own_steps(view, p, None, alpha, rel)
    together = summed(column(own.table, "product"))
    total, scale = together.numbers["total"], 1 - (1 - alpha) * p
    return [own, together, over("nrbp", scale * total, every, scale=scale, alpha=alpha, p=p, total=total)]


@define(
    "nNRBP",
    title="Novelty- and rank-biased precision, normalised",
    formula="nNRBP = NRBP / NRBP of a greedily built ideal list of all relevant documents",
    source=f"{_NRBP}; ideal list as in ndeval",
    example="nNRBP(p=0.8)",
    chain="not guaranteed",
    highest=float("inf"),
    note=_NEARLY,
    sees=("names",),
)
def n_nrbp(ranking: Ranking, p: float = 0.5, alpha: float = 0.5, rel: float | None = None) -> Floats:
    return ratio(gained(ranking, p, None, alpha, rel), ideal(ranking.judgments, p, None, alpha, rel))


@closed(n_nrbp)
def _n_nrbp_moments(ranking: Ranking, p: float = 0.5, alpha: float = 0.5, rel: float | None = None) -> Moments:
    return Moments(ratio(mean_gain(ranking, p, None, alpha, rel), ideal(ranking.judgments, p, None, alpha, rel)))


@explains(n_nrbp)
def _n_nrbp_steps(view: View, p: float = 0.5, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    return over_greedy(view, "over the ideal", p, None, alpha, rel)


@define(
    "StRecall",
    title="Subtopic recall",
    formula="StRecall@k = subtopics with a relevant document in the first k / subtopics with a relevant document",
    source="C. Zhai, W. W. Cohen, J. Lafferty: Beyond independent relevance: methods and evaluation metrics for "
    "subtopic retrieval, SIGIR 2003",
    example="StRecall@10",
    aliases=("I_rec",),
    chain="not guaranteed",
    note=_NOTE,
    sees=("names",),
)
def subtopic_recall(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    topic, _, new = gains(ranking, cutoff, 1.0, rel)  # 0 for all that was seen before
    return ratio(ranking.total(topic, new), n_subtopics(ranking.judgments, rel))


@closed(subtopic_recall)
def subtopic_recall_moments(ranking: Ranking, cutoff: int, rel: float | None = None) -> Moments:
    """Return the mean over all orders."""
    stops, topic = by_subtopic(ranking, 1.0, rel)
    seen = ranking.total(topic, np.where(stops.rank <= cutoff, stops.chance, 0.0))
    return Moments(ratio(seen, n_subtopics(ranking.judgments, rel)))


@explains(subtopic_recall)
def subtopic_recall_steps(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    """Return where each subtopic is seen first, and the share of all."""
    rows, every = covered(view, cutoff, 0.0, rel)
    first = [{name: row[name] for name in ("rank", "document", "subtopic")} for row in rows if not row["seen"]]
    return [
        listed("new subtopics", first, {"cutoff": cutoff}, "no subtopics"),
        over("subtopics covered", len(first), every),
    ]


@define(
    "MAP_IA",
    title="Intent-aware average precision",
    formula="MAP_IA = mean over the subtopics with a relevant document of Σ P@i over the ranks i of documents relevant "
    "to the subtopic / all documents relevant to it",
    source=f"{_INTENTS}; subtopics alike as in ndeval",
    aliases=("AP_IA",),
    chain="not guaranteed",
    note=_NOTE,
    sees=("names",),
)
def map_ia(ranking: Ranking, rel: float | None = None) -> Floats:
    subtopics = ranking.judgments.subtopics
    at, pairs = relevant_pairs(ranking, np.flatnonzero(ranking.judged), rel)
    subtopic = subtopics.subtopic[pairs]
    order = np.argsort(subtopic, kind="stable")
    at, subtopic = at[order], subtopic[order]
    nth = np.arange(len(at)) - np.searchsorted(subtopic, subtopic) + 1
    value = nth / ranking.rank[at] / _n_relevant(ranking, rel)[subtopic]
    return ratio(ranking.total(ranking.topic[at], value), n_subtopics(ranking.judgments, rel))


def _n_relevant(ranking: Ranking, rel: float | None) -> Floats:
    """Return the number of relevant documents of each subtopic."""
    subtopics = ranking.judgments.subtopics
    relevant = subtopics.subtopic[ranking.judgments.relevant(subtopics.grade, rel)]
    return np.bincount(relevant, minlength=len(subtopics.topic)).astype(np.float64)


@closed(map_ia)
def _map_ia_moments(ranking: Ranking, rel: float | None = None) -> Moments:
    """As for AP, subtopic by subtopic: the chance of a relevant document, times the mean precision if it is one."""
    seen = seen_ties(ranking, rel)
    marked = np.bincount(seen.group, minlength=len(seen.tie))
    above = np.cumsum(marked) - marked
    above -= above[np.searchsorted(seen.owner, seen.owner)]
    size, first = ranking.groups.size[seen.tie], ranking.groups.before[seen.tie]
    of = np.repeat(np.arange(len(size)), size)
    before = spread(np.zeros_like(size), size)
    r, m = marked[of], size[of]
    mean = r / m * (above[of] + 1 + before * ratio(r - 1, m - 1)) / (first[of] + before + 1)
    each = mean / _n_relevant(ranking, rel)[seen.owner[of]]
    total = ranking.total(ranking.judgments.subtopics.topic[seen.owner[of]], each)
    return Moments(ratio(total, n_subtopics(ranking.judgments, rel)))


@explains(map_ia)
def _map_ia_steps(view: View, rel: float | None = None) -> list[Step]:
    rows, every = covered(view, None, 0.0, rel)
    n = Counter(subtopic for subtopics in subtopics_of(view, rel).values() for subtopic in subtopics)
    table = [
        {name: row[name] for name in ("rank", "document", "subtopic")}
        | {"found": row["seen"] + 1, "precision": (row["seen"] + 1) / row["rank"]}
        | {"of": n[row["subtopic"]], "term": (row["seen"] + 1) / row["rank"] / n[row["subtopic"]]}
        for row in rows
    ]
    together = summed(column(table, "term"))
    return [
        listed("precision by subtopic", table, {}, "no subtopics"),
        together,
        over("over subtopics", together.numbers["total"], every),
    ]


@define(
    "P_IA",
    title="Intent-aware precision at k",
    formula="P_IA@k = mean over the subtopics with a relevant document of documents in the first k that are relevant "
    "to the subtopic / k",
    source=f"{_INTENTS}; subtopics alike as in ndeval",
    example="P_IA@10",
    chain="not guaranteed",
    note=_NOTE,
    sees=("names",),
)
def p_ia(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    topic, _, each = gains(ranking, cutoff, 0.0, rel)
    return ratio(ranking.total(topic, each), cutoff * n_subtopics(ranking.judgments, rel))


@linear(p_ia, cut=True)
def _p_ia_form(ranking: Ranking, cutoff: int, rel: float | None = None) -> Linear:
    scale = one_by(cutoff * n_subtopics(ranking.judgments, rel))
    return Linear(relevant_to(ranking, rel), top(ranking, cutoff), scale)


@explains(p_ia)
def _p_ia_steps(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    rows, every = covered(view, cutoff, 0.0, rel)
    table = [{name: row[name] for name in ("rank", "document", "subtopic")} for row in rows]
    return [
        listed("pairs of subtopics", table, {"cutoff": cutoff}, "no subtopics"),
        over("over k and subtopics", len(table), cutoff * every, cutoff=cutoff, every=every),
    ]
