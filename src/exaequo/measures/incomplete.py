"""Measures for incomplete judgments: what was not judged is not taken for irrelevant."""

from __future__ import annotations

import numpy as np

from exaequo.judge import Bools, Floats, Ints
from exaequo.measures.registry import define
from exaequo.measures.sets import ratio
from exaequo.order import Ranking

#: Smoothing of infAP, as in trec_eval.
_EPSILON = 0.00001


def before(ranking: Ranking, marked: Bools, at: Ints) -> Ints:
    """Return how many marked documents stand before each place `at` in its list."""
    so_far = np.concatenate(([0], np.cumsum(marked)))
    starts = at - ranking.rank[at] + 1
    counted: Ints = so_far[at] - so_far[starts]
    return counted


@define(
    "Bpref",
    title="Binary preference",
    formula="Bpref = 1/n · Σ over relevant r returned of 1 − min(n, judged nonrelevant above r) / min(n, all judged "
    "nonrelevant), with n = all relevant documents",
    source="C. Buckley, E. M. Voorhees: Retrieval evaluation with incomplete information, SIGIR 2004",
    example="Bpref(rel=2)",
    aliases=("BPref",),
)
def bpref(ranking: Ranking, rel: float | None = None) -> Floats:
    relevant = ranking.relevant(rel)
    nonrelevant = ranking.judged & (ranking.grade >= 0) & ~relevant
    at = np.flatnonzero(relevant)
    topic = ranking.topic[at]
    n_rel = ranking.n_rel(rel)
    above = np.minimum(before(ranking, nonrelevant, at), n_rel[topic])
    most = np.minimum(ranking.judgments.nonrelevant(rel), n_rel)
    return ratio(ranking.total(topic, 1 - ratio(above, most[topic])), n_rel)


@define(
    "infAP",
    title="Inferred average precision",
    formula="infAP = 1/n · Σ over relevant at rank i of 1/i + (i−1)/i · (pooled above i / (i−1)) · "
    "(relevant above + ε) / (judged above + 2ε); a judgment below 0 means pooled, not judged",
    source="E. Yilmaz, J. A. Aslam: Estimating average precision with incomplete and imperfect judgments, CIKM 2006",
    example="infAP",
    chain="not guaranteed",
)
def inferred_ap(ranking: Ranking, rel: float | None = None) -> Floats:
    relevant = ranking.relevant(rel)
    pooled_only = ranking.judged & (ranking.grade < 0)
    nonrelevant = ranking.judged & ~relevant & ~pooled_only
    at = np.flatnonzero(relevant)
    topic, rank = ranking.topic[at], ranking.rank[at]
    found = before(ranking, relevant, at)
    judged = found + before(ranking, nonrelevant, at)
    pooled = judged + before(ranking, pooled_only, at)
    expected = 1 / rank + pooled / rank * (found + _EPSILON) / (judged + 2 * _EPSILON)
    return ratio(ranking.total(topic, np.where(rank == 1, 1.0, expected)), ranking.n_rel(rel))


@define(
    "Judged",
    title="Share of judged documents",
    formula="Judged@k = judged documents in the first k / documents in the first k",
    source="ir_measures, measure Judged",
    example="Judged@10",
)
def judged(ranking: Ranking, cutoff: int | None = None) -> Floats:
    """Judged below 0 counts as judged: the document is in the qrels."""
    top = slice(None) if cutoff is None else ranking.rank <= cutoff
    topic = ranking.topic[top]
    return ratio(ranking.total(topic[ranking.judged[top]]), ranking.total(topic))


@define(
    "RBPRes",
    title="Residual of rank-biased precision",
    formula="RBPRes(p) = (1 − p) · Σ p^(i−1) over the ranks i of documents nobody judged, + p^n with n documents in "
    "the list: how much RBP(p) could rise if all that is not known were relevant",
    source="A. Moffat, J. Zobel: Rank-biased precision, ACM TOIS 27(1), 2008",
    example="RBPRes(p=0.95)",
    higher_is_better=False,
    chain="reversed",
)
def rbp_residual(ranking: Ranking, p: float = 0.8) -> Floats:
    unknown = ~ranking.judged | (ranking.grade < 0)
    inside = ranking.total(ranking.topic[unknown], np.power(p, ranking.rank[unknown] - 1.0))
    return (1 - p) * inside + np.power(p, ranking.returned.astype(np.float64))
