"""Recall-oriented measures: for readers who want all relevant documents, and go on to a given rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exaequo.errors import BadParameter
from exaequo.judge import Floats, Ints
from exaequo.measures.interpolated import least_found
from exaequo.measures.ranks import average_precision
from exaequo.measures.registry import define
from exaequo.measures.sets import f_measure, found, ratio, set_recall
from exaequo.order import Ranking

_MOR = (
    "B. Audeh, P. Beaune, M. Beigbeder: MOR : Mesure orientée rappel pour les systèmes de recherche d'information, "
    "Document numérique 18(1), 2015"
)


@define(
    "RNorm",
    title="Normalised recall",
    formula="RNorm = 1 − (Σ r_i − n(n+1)/2) / (n·(N − n)), with r_i the ranks of the n relevant documents in a ranking "
    "of all N documents; those not returned stand at its end",
    source="J. Rocchio: Performance indices for document retrieval systems, Information storage and retrieval, 1964",
    example="RNorm(docs=1000)",
)
def normalised_recall(ranking: Ranking, docs: int, rel: float | None = None) -> Floats:
    hits, n = ranking.hits(rel), ranking.n_rel(rel)
    collection_size("RNorm", ranking, docs, rel)
    missing = n - found(ranking, rel)
    ranks = ranking.total(hits.topic, hits.rank.astype(np.float64)) + missing * docs - missing * (missing - 1) / 2
    worst = n * (docs - n)
    return np.where(n == docs, 1.0, 1 - ratio(ranks - n * (n + 1) / 2, worst)) * (n > 0)


@define(
    "PRES",
    title="Patent retrieval evaluation score",
    formula="PRES@N = 1 − (Σ r_i / n − (n+1)/2) / N, with r_i the ranks of the n relevant documents; those not in "
    "the first N stand at N + found + 1 … N + n",
    source="W. Magdy, G. J. F. Jones: PRES: a score metric for evaluating recall-oriented information retrieval "
    "applications, SIGIR 2010",
    example="PRES@100",
)
def pres(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    hits, n = ranking.hits(rel, cutoff), ranking.n_rel(rel)
    missing = n - ranking.total(hits.topic)
    ranks = ranking.total(hits.topic, hits.rank.astype(np.float64))
    ranks += missing * (cutoff + n) - missing * (missing - 1) / 2
    return np.where(n > 0, 1 - (ratio(ranks, n) - (n + 1) / 2) / cutoff, 0.0)


@dataclass(frozen=True, eq=False)
class MorParts:
    """What MOR is made of, one value per topic; the names are those of the paper."""

    h: Floats
    w: Floats
    ap: Floats
    ap0: Floats
    ap1: Floats
    g_hw: Floats
    g_h: Floats
    mor: Floats


def mor_parts(ranking: Ranking, cutoff: int, rel: float | None = None) -> MorParts:
    """Return MOR@cutoff with everything it is made of.

    `h` relevant documents stand in the first `cutoff`, the last of them at rank `w`. `ap0` and `ap1` are the least and
    the greatest average precision any such list can have; they are equal only if h = w or h = 1.
    """
    hits, n = ranking.hits(rel, cutoff), ranking.n_rel(rel)
    h = ranking.total(hits.topic)
    w = np.zeros(ranking.n_topics)
    np.maximum.at(w, hits.topic, hits.rank)
    ap = average_precision(ranking, cutoff, rel)
    ap0 = ratio(ranking.total(hits.topic, hits.nth / ((w - h)[hits.topic] + hits.nth)), n)
    ap1 = ratio(h - 1 + ratio(h, w), n) * (h > 0)
    g_hw = np.where((h == w) | (h == 1), ap, ratio(ap - ap0, ap1 - ap0))
    g_h = (cutoff - w + g_hw) / (cutoff - h + 1)
    mor = np.where(h > 0, (h + g_h) / (np.minimum(n, cutoff) + 1), 0.0)
    return MorParts(h, w, ap, ap0, ap1, g_hw, g_h, mor)


@define(
    "MOR",
    title="Recall-oriented measure",
    formula="MOR@N = (h + g_h) / (min(n, N) + 1), g_h = (N − w + g_hw) / (N − h + 1), g_hw = (AP − AP0) / (AP1 − AP0), "
    "or AP where AP0 = AP1: first by relevant documents found (h), then by the rank of the last (w), then by AP",
    source=_MOR,
    example="MOR@100",
)
def mor(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    return mor_parts(ranking, cutoff, rel).mor


@define(
    "FAP",
    title="F with average precision in place of precision",
    formula="FAP(β)@k = (1 + β²)·AP@k·R@k / (β²·AP@k + R@k)",
    source=_MOR + ", equation 4 (F′)",
    example="FAP(beta=4)@100",
)
def f_of_average_precision(
    ranking: Ranking, cutoff: int | None = None, rel: float | None = None, beta: float = 1.0
) -> Floats:
    recall = ratio(found(ranking, rel, cutoff), ranking.n_rel(rel)) if cutoff else set_recall(ranking, rel)
    return f_measure(average_precision(ranking, cutoff, rel), recall, beta)


@define(
    "WSS",
    title="Work saved over sampling",
    formula="WSS@r = (N − k) / N − (1 − r), with k the rank where recall r is reached, N if it is not, and N the "
    "documents of the collection, or of the list if docs is not given",
    source="A. M. Cohen, W. R. Hersh, K. Peterson, P.-Y. Yen: Reducing workload in systematic review preparation using "
    "automated document classification, JAMIA 13(2), 2006",
    example="WSS(docs=1000)@0.95",
    at="recall",
    lowest=-1.0,
)
def work_saved(ranking: Ranking, recall: float, docs: int | None = None, rel: float | None = None) -> Floats:
    hits, n = ranking.hits(rel), ranking.n_rel(rel)
    least = least_found(recall, n)
    there = hits.nth == least[hits.topic]
    rank = np.full(ranking.n_topics, np.nan)
    rank[hits.topic[there]] = hits.rank[there]
    return saved_work(ranking, recall, rank, docs, rel)


def saved_work(ranking: Ranking, recall: float, rank: Floats, docs: int | None, rel: float | None) -> Floats:
    """Return WSS for a recall that is reached at these ranks, NaN where it is not."""
    size = collection_size("WSS", ranking, docs, rel) if docs else ranking.returned.astype(np.float64)
    n = ranking.n_rel(rel)
    at_once = (least_found(recall, n) == 0) & (n > 0)
    saved = ratio(size - np.where(np.isnan(rank), size, rank), size)
    return np.where(at_once, 1.0, saved) - (1 - recall)


@define(
    "LastRel",
    title="Rank of the last relevant document",
    formula="LastRel = rank at which all relevant documents are seen; one that was not returned stands at the end "
    "of the collection",
    source="W. S. Cooper: Expected search length, American Documentation 19(1), 1968",
    example="LastRel(docs=1000)",
    higher_is_better=False,
    chain="reversed",
    highest=float("inf"),
)
def last_relevant(ranking: Ranking, docs: int, rel: float | None = None) -> Floats:
    hits = ranking.hits(rel)
    size = collection_size("LastRel", ranking, docs, rel)
    last = np.zeros(ranking.n_topics)
    np.maximum.at(last, hits.topic, hits.rank)
    all_found = (found(ranking, rel) == ranking.n_rel(rel)) & (last > 0)
    return np.where(all_found, last, size)


def collection_size(name: str, ranking: Ranking, docs: int, rel: float | None) -> Floats:
    """Return the size of the collection for each topic; it holds at least the list and what is missing from it."""
    known = int((ranking.returned + ranking.n_rel(rel) - found(ranking, rel)).max(initial=0))
    if docs < known:
        raise BadParameter(f"{name}(docs={docs}): a topic has {known} documents; docs is the size of the collection.")
    return np.full(ranking.n_topics, float(docs))


def lexicographic_recall(one: Ranking, two: Ranking, rel: float | None = None) -> Ints:
    """Tell for each topic which of two rankings is preferred: 1 the first, -1 the second, 0 neither.

    The one whose last relevant document stands higher; if they stand alike, the last but one decides, and so on. A
    relevant document that was not returned stands below all others.

    F. Diaz, M. D. Ekstrand, B. Mitra: Recall, robustness, and lexicographic evaluation, 2023.
    """
    n = one.n_rel(rel)
    start = np.cumsum(n) - n
    ranks = []
    for ranking in (one, two):
        hits = ranking.hits(rel)
        own = np.full(int(n.sum()), np.iinfo(np.int64).max)
        own[start[hits.topic] + hits.nth - 1] = hits.rank
        ranks.append(own)
    sooner = np.sign(ranks[1] - ranks[0])
    topic = np.repeat(np.arange(one.n_topics), n)
    differ = np.flatnonzero(sooner)
    verdict = np.zeros(one.n_topics, dtype=np.int64)
    verdict[topic[differ]] = sooner[differ]  # the last of a topic is written last
    return verdict
