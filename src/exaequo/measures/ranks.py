"""Measures of where the relevant documents stand: RR, AP, R-precision, RBP."""

from __future__ import annotations

import numpy as np

from exaequo.judge import Floats
from exaequo.measures.registry import define
from exaequo.measures.sets import ratio
from exaequo.order import Ranking

_BUCKLEY_VOORHEES = "C. Buckley, E. M. Voorhees: Retrieval System Evaluation, in: TREC, MIT Press, 2005, chapter 3"


@define(
    "RR",
    title="Reciprocal rank",
    formula="RR@k = 1 / rank of the first relevant document; 0 if there is none in the first k",
    source="P. B. Kantor, E. M. Voorhees: The TREC-5 confusion track, Information Retrieval 2, 2000",
    example="RR@10",
    aliases=("MRR",),
)
def reciprocal_rank(ranking: Ranking, cutoff: int | None = None, rel: float | None = None) -> Floats:
    hits = ranking.hits(rel, cutoff)
    first = hits.nth == 1
    return ranking.total(hits.topic[first], 1 / hits.rank[first])


@define(
    "AP",
    title="Average precision",
    formula="AP@k = Σ P@i over the ranks i ≤ k of relevant documents / all relevant documents",
    source=_BUCKLEY_VOORHEES,
    example="AP(rel=2)@100",
    aliases=("MAP",),
)
def average_precision(ranking: Ranking, cutoff: int | None = None, rel: float | None = None) -> Floats:
    hits = ranking.hits(rel, cutoff)
    return ratio(ranking.total(hits.topic, hits.nth / hits.rank), ranking.n_rel(rel))


@define(
    "Rprec",
    title="R-precision",
    formula="Rprec = relevant documents in the first n / n, with n = all relevant documents",
    source=_BUCKLEY_VOORHEES,
    example="Rprec",
    aliases=("RPrec",),
)
def r_precision(ranking: Ranking, rel: float | None = None) -> Floats:
    hits, n_rel = ranking.hits(rel), ranking.n_rel(rel)
    return ratio(ranking.total(hits.topic[hits.rank <= n_rel[hits.topic]]), n_rel)


@define(
    "PDoc",
    title="Precision at a document",
    formula="PDoc(doc) = P@i at the rank i of the document",
    source="G. Cabanac, G. Hubert, M. Boughanem, C. Chrisment: Tie-breaking bias: effect of an uncontrolled parameter "
    "on information retrieval evaluation, CLEF 2010",
    example="PDoc(doc='WSJ5')",
    chain="not guaranteed",
    undefined="the document is not in the list",
)
def precision_at_document(ranking: Ranking, doc: str, rel: float | None = None) -> Floats:
    named = (ranking.lines.run.frame["docno"] == doc).to_numpy()
    at = np.flatnonzero(named[ranking.row])
    topic, rank = ranking.topic[at], ranking.rank[at]
    reached = np.zeros(ranking.n_topics, dtype=np.int64)
    reached[topic] = rank
    hits = ranking.hits(rel)
    found = ranking.total(hits.topic[hits.rank <= reached[hits.topic]])
    return np.where(reached > 0, ratio(found, reached), np.nan)


@define(
    "RBP",
    title="Rank-biased precision",
    formula="RBP(p)@k = (1 − p) · Σ p^(i−1) over the ranks i ≤ k of relevant documents",
    source="A. Moffat, J. Zobel: Rank-biased precision, ACM TOIS 27(1), 2008",
    example="RBP(p=0.95)",
)
def rank_biased_precision(
    ranking: Ranking, cutoff: int | None = None, p: float = 0.8, rel: float | None = None
) -> Floats:
    hits = ranking.hits(rel, cutoff)
    return (1 - p) * ranking.total(hits.topic, np.power(p, hits.rank - 1.0))
