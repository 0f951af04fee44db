"""Measures for incomplete judgments: what was not judged is not taken for irrelevant."""

from __future__ import annotations

import numpy as np

from exaequo.arrays import Bools, Floats, Ints
from exaequo.measures.arithmetic import ratio
from exaequo.measures.moments import Linear, Moments, closed, linear, one_by, top
from exaequo.measures.registry import define
from exaequo.measures.steps import Fine, Step, column, explains, listed, over, summed, summed_over
from exaequo.measures.view import View
from exaequo.order import Ranking

#: Smoothing of infAP, as in trec_eval.
_EPSILON = 0.00001


def before(ranking: Ranking, marked: Bools, at: Ints) -> Ints:
    """Return how many marked documents stand before each place `at` in its list."""
    so_far = np.concatenate(([0], np.cumsum(marked)))
    starts = at - ranking.rank[at] + 1
    counted: Ints = so_far[at] - so_far[starts]
    return counted


def _judged_nonrelevant(ranking: Ranking, relevant: Bools) -> Bools:
    return ranking.judged & (ranking.grade >= 0) & ~relevant


@define(
    "Bpref",
    title="Binary preference",
    formula="Bpref = 1/n · Σ over relevant r returned of 1 − min(n, judged nonrelevant above r) / min(n, all judged "
    "nonrelevant), with n = all relevant documents",
    source="C. Buckley, E. M. Voorhees: Retrieval evaluation with incomplete information, SIGIR 2004",
    example="Bpref(rel=2)",
    aliases=("BPref",),
    official=("bpref",),
)
def bpref(ranking: Ranking, rel: float | None = None) -> Floats:
    relevant, n_rel = ranking.relevant(rel), ranking.n_rel(rel)
    at = np.flatnonzero(relevant)
    topic = ranking.topic[at]
    above = np.minimum(before(ranking, _judged_nonrelevant(ranking, relevant), at), n_rel[topic])
    most = np.minimum(ranking.judgments.nonrelevant(rel), n_rel)
    return ratio(ranking.total(topic, 1 - ratio(above, most[topic])), n_rel)


@closed(bpref)
def _bpref_moments(ranking: Ranking, rel: float | None = None) -> Moments:
    """Among the q judged nonrelevant documents of its tie, a relevant one has 0 … q above it, all equally likely."""
    relevant, groups, n = ranking.relevant(rel), ranking.groups, ranking.n_rel(rel)
    r, _ = groups.counts(relevant)
    q, b = groups.counts(_judged_nonrelevant(ranking, relevant))
    cap = n[groups.topic]
    room = np.clip(cap - b, 0, q)  # how many of the q more count before the cap is reached
    mean = np.minimum(b, cap) + (room * (room + 1) / 2 + (q - room) * room) / (q + 1)
    most = np.minimum(ranking.judgments.nonrelevant(rel), n)[groups.topic]
    return Moments(ratio(ranking.total(groups.topic, r * (1 - ratio(mean, most))), n))


@explains(bpref)
def _bpref_steps(view: View, rel: float | None = None) -> list[Step]:
    n, all_others = view.n_rel(rel), int(view.ranking.judgments.nonrelevant(rel)[view.topic])
    most, above, rows = min(n, all_others), 0, []
    for line in view.lines(None, rel):
        if line.relevant:
            term = 1 - min(above, n) / most if most else 1.0
            rows.append(line.row(above=above, term=term))
        elif line.judged and line.grade >= 0:
            above += 1
    numbers = {"n": n, "others": all_others, "most": most}
    table = listed("nonrelevant above" if most else "none nonrelevant", rows, numbers)
    return [table, *summed_over("over n", column(rows, "term"), n)]


@define(
    "infAP",
    title="Inferred average precision",
    formula="infAP = 1/n · Σ over relevant at rank i of 1/i + (i−1)/i · (pooled above i / (i−1)) · "
    "(relevant above + ε) / (judged above + 2ε); a judgment below 0 means pooled, not judged",
    source="E. Yilmaz, J. A. Aslam: Estimating average precision with incomplete and imperfect judgments, CIKM 2006",
    chain="not guaranteed",
    official=("infAP",),
)
def inferred_ap(ranking: Ranking, rel: float | None = None) -> Floats:
    relevant = ranking.relevant(rel)
    at = np.flatnonzero(relevant)
    topic, rank = ranking.topic[at], ranking.rank[at]
    found = before(ranking, relevant, at)
    judged = found + before(ranking, _judged_nonrelevant(ranking, relevant), at)
    pooled = judged + before(ranking, ranking.grade < 0, at)
    expected = 1 / rank + pooled / rank * (found + _EPSILON) / (judged + 2 * _EPSILON)
    return ratio(ranking.total(topic, np.where(rank == 1, 1.0, expected)), ranking.n_rel(rel))


@explains(inferred_ap)
def _inferred_ap_steps(view: View, rel: float | None = None) -> list[Step]:
    rows, found, others, pooled = [], 0, 0, 0
    for line in view.lines(None, rel):
        if line.relevant:
            known = found + others
            share = (found + _EPSILON) / (known + 2 * _EPSILON)
            term = 1.0 if line.rank == 1 else 1 / line.rank + (known + pooled) / line.rank * share
            above = {"pooled above": known + pooled, "judged above": known, "relevant above": found}
            rows.append(line.row(**above, term=term))
            found += 1
        elif line.grade < 0:
            pooled += 1
        elif line.judged:
            others += 1
    n, together = view.n_rel(rel), summed(column(rows, "term"))
    together.numbers["total"] = Fine(together.numbers["total"])  # so near a whole number that six digits hide it
    table = listed("inferred precision", rows, {"epsilon": f"{_EPSILON:f}".rstrip("0"), "n": n})
    return [table, together, over("over n", together.numbers["total"], n)]


@define(
    "Judged",
    title="Share of judged documents",
    formula="Judged@k = judged documents in the first k / documents in the first k",
    source="ir_measures, measure Judged",
    example="Judged@10",
    sees=("length",),
)
def judged(ranking: Ranking, cutoff: int | None = None) -> Floats:
    """Judged below 0 counts as judged: the document is in the qrels."""
    top = slice(None) if cutoff is None else ranking.rank <= cutoff
    topic = ranking.topic[top]
    return ratio(ranking.total(topic[ranking.judged[top]]), ranking.total(topic))


@linear(judged)
def _judged_form(ranking: Ranking, cutoff: int | None = None) -> Linear:
    first = top(ranking, cutoff)
    return Linear(ranking.judged, first, one_by(ranking.total(ranking.topic, first)))


@explains(judged)
def _judged_steps(view: View, cutoff: int | None = None) -> list[Step]:
    lines = view.lines(cutoff)
    judged = sum(line.judged for line in lines)
    table = [{"judged": judged, "not judged": len(lines) - judged, "total": len(lines)}]
    return [Step("judged ones", {"cutoff": cutoff}, table), over("judged share", judged, len(lines))]


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


@linear(rbp_residual)
def _rbp_residual_form(ranking: Ranking, p: float = 0.8) -> Linear:
    unknown = ~ranking.judged | (ranking.grade < 0)
    return Linear(unknown, np.power(p, ranking.rank - 1.0), 1 - p, np.power(p, ranking.returned.astype(np.float64)))


@explains(rbp_residual)
def _rbp_residual_steps(view: View, p: float = 0.8) -> list[Step]:
    lines = view.lines()
    rows = [line.row(weight=p ** (line.rank - 1)) for line in lines if not line.judged or line.grade < 0]
    together = summed(column(rows, "weight"))
    total, returned = together.numbers["total"], len(lines)
    result = (1 - p) * total + p**returned
    return [
        listed("not known", rows, {"p": p}, "all known" if lines else "nothing listed"),
        together,
        Step("residual", {"p": p, "total": total, "returned": returned, "result": result}),
    ]
