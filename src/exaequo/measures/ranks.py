"""Measures of where the relevant documents stand: RR, AP, R-precision, RBP."""

from __future__ import annotations

import numpy as np

from exaequo.arrays import Bools, Floats, Ints
from exaequo.measures.arithmetic import begins, ratio, sums_so_far
from exaequo.measures.moments import Linear, Moments, closed, linear, one_by, top
from exaequo.measures.registry import define
from exaequo.measures.sets import first_relevant
from exaequo.measures.steps import (
    Step,
    column,
    contingency,
    cut,
    explains,
    fractions,
    hits,
    listed,
    over,
    precision_at_each,
    summed,
    summed_over,
)
from exaequo.measures.view import View
from exaequo.order import Ranking

_BUCKLEY_VOORHEES = "C. Buckley, E. M. Voorhees: Retrieval System Evaluation, in: TREC, MIT Press, 2005, chapter 3"


@define(
    "RR",
    title="Reciprocal rank",
    formula="RR@k = 1 / rank of the first relevant document; 0 if there is none in the first k",
    source="P. B. Kantor, E. M. Voorhees: The TREC-5 confusion track, Information Retrieval 2, 2000",
    example="RR@10",
    aliases=("MRR",),
    official=("recip_rank",),
)
def reciprocal_rank(ranking: Ranking, cutoff: int | None = None, rel: float | None = None) -> Floats:
    hits = ranking.hits(rel, cutoff)
    first = hits.nth == 1
    return ranking.total(hits.topic[first], 1 / hits.rank[first])


@closed(reciprocal_rank, cut=True)
def _reciprocal_rank_moments(ranking: Ranking, cutoff: int | None = None, rel: float | None = None) -> Moments:
    stops = first_relevant(ranking, rel)
    worth = np.where(stops.rank <= (cutoff or np.inf), 1 / stops.rank, 0.0)
    mean = ranking.total(stops.owner, stops.chance * worth)
    return Moments(mean, np.maximum(ranking.total(stops.owner, stops.chance * worth**2) - mean**2, 0.0))


@explains(reciprocal_rank)
def _reciprocal_rank_steps(view: View, cutoff: int | None = None, rel: float | None = None) -> list[Step]:
    rows = hits(view, cutoff, rel)[:1]
    if not rows:
        return [Step(cut("none relevant", cutoff), {"n": view.n_rel(rel), "cutoff": cutoff, "result": 0.0})]
    rank = rows[0]["rank"]
    return [Step("first relevant", {"rank": rank, "document": rows[0]["document"], "result": 1 / rank})]


@define(
    "AP",
    title="Average precision",
    formula="AP@k = Σ P@i over the ranks i ≤ k of relevant documents / all relevant documents",
    source=_BUCKLEY_VOORHEES,
    example="AP(rel=2)@100",
    aliases=("MAP",),
    official=("map", "map_cut_{cutoff}"),
)
def average_precision(
    ranking: Ranking, cutoff: int | None = None, rel: float | None = None, relative: bool = False
) -> Floats:
    hits = ranking.hits(rel, cutoff)
    return ratio(ranking.total(hits.topic, hits.nth / hits.rank), _divisor(ranking, cutoff, rel, relative))


def _divisor(ranking: Ranking, cutoff: int | None, rel: float | None, relative: bool) -> Ints:
    """Return all relevant documents of each topic, or as many of them as fit in the first `cutoff`."""
    n = ranking.n_rel(rel)
    return np.minimum(n, cutoff) if relative and cutoff is not None else n


@closed(average_precision, cut=True)
def _average_precision_moments(
    ranking: Ranking, cutoff: int | None = None, rel: float | None = None, relative: bool = False
) -> Moments:
    """At each rank of a tie: the chance of a relevant document, times the mean precision there if it is one.

    For the variance see docs/expected.md: sums over two, three and four different ranks, by running sums.
    """
    groups, n = ranking.groups, _divisor(ranking, cutoff, rel, relative)
    inside, above = groups.counts(ranking.relevant(rel))
    kept = inside[groups.of] > 0
    at = np.flatnonzero(kept if cutoff is None else kept & (ranking.rank <= cutoff))
    of = groups.of[at]
    size, r, f, rank = groups.size[of], inside[of], above[of], ranking.rank[at]
    before = rank - groups.before[of] - 1.0
    mean = ratio(ranking.total(ranking.topic[at], r / size * (f + 1 + before * ratio(r - 1, size - 1)) / rank), n)
    # Sums over the ranks of each tie of a = 1 / rank and of b = a · (ranks of the tie above), alone and in pairs.
    a, b = 1 / rank, before / rank
    tie = np.unique(of, return_inverse=True)[1] if len(of) else of

    def added(values: Floats) -> Floats:
        return np.asarray(np.bincount(tie, weights=values), dtype=np.float64)

    def above_it(values: Floats) -> Floats:
        """Sum of the values of the ranks of the same tie above each."""
        return sums_so_far(values, tie) - values

    if not len(of):
        return Moments(mean, np.zeros(ranking.n_topics))
    first = np.flatnonzero(begins(tie))
    one, two, three, four = _chances(size[first].astype(np.float64), r[first].astype(np.float64))
    found = f[first] + 1.0
    aa, bb, ab = added(a) ** 2 - added(a * a), added(b) ** 2 - added(b * b), added(a * b)
    # Σ over two ranks of a·a, and of a·a·(least − 1)
    pairs, lower = 2 * added(a * above_it(a)), 2 * added(a * above_it(b))
    linear = one * added(a * a) + two * aa
    mixed = two * (ab + pairs / 2) + three * (added(a) * added(b) - ab - pairs / 2)
    square = two * ab + three * (added(b * b) - ab + 2 * lower) + four * (bb - 2 * lower)
    second = found**2 * linear + 2 * found * mixed + square
    expected = found * one * added(a) + two * added(b)
    variance = np.maximum(second - expected**2, 0.0)
    return Moments(mean, ratio(ranking.total(groups.topic[of[first]], variance), n.astype(np.float64) ** 2))


def _chances(size: Floats, marked: Floats) -> list[Floats]:
    """Return the chance that 1, 2, 3, 4 given places of a tie all hold a marked document."""
    chances, chance = [], np.ones(len(size))
    for number in range(4):
        chance = chance * np.maximum(ratio(marked - number, np.maximum(size - number, 1)), 0.0)
        chances.append(chance)
    return chances


@explains(average_precision)
def average_precision_steps(
    view: View, cutoff: int | None = None, rel: float | None = None, relative: bool = False
) -> list[Step]:
    rows, n = hits(view, cutoff, rel), view.n_rel(rel)
    key, most = ("over most", min(n, cutoff)) if relative and cutoff is not None else ("over n", n)
    mean = summed_over(key, column(rows, "precision"), most, fractions(rows))
    return [precision_at_each(view, rows, rel, cutoff), *mean]


@define(
    "Rprec",
    title="R-precision",
    formula="Rprec = relevant documents in the first n / n, with n = all relevant documents",
    source=_BUCKLEY_VOORHEES,
    aliases=("RPrec",),
    official=("Rprec",),
)
def r_precision(ranking: Ranking, rel: float | None = None) -> Floats:
    hits, n_rel = ranking.hits(rel), ranking.n_rel(rel)
    return ratio(ranking.total(hits.topic[hits.rank <= n_rel[hits.topic]]), n_rel)


@linear(r_precision, cut=True)
def _r_precision_form(ranking: Ranking, rel: float | None = None) -> Linear:
    n = ranking.n_rel(rel)
    return Linear(ranking.relevant(rel), ranking.rank <= n[ranking.topic], one_by(n))


@explains(r_precision)
def _r_precision_steps(view: View, rel: float | None = None) -> list[Step]:
    n = view.n_rel(rel)
    if not n:
        return [Step("none relevant", {"n": n, "result": 0.0})]
    table = contingency(view, n, rel)
    return [table, over("r precision", table.numbers["found"], n)]


@define(
    "PDoc",
    title="Precision at a document",
    formula="PDoc(doc) = P@i at the rank i of the document",
    source="G. Cabanac, G. Hubert, M. Boughanem, C. Chrisment: Tie-breaking bias: effect of an uncontrolled parameter "
    "on information retrieval evaluation, CLEF 2010",
    example="PDoc(doc='WSJ5')",
    chain="not guaranteed",
    undefined="the document is not in the list",
    sees=("names",),
)
def precision_at_document(ranking: Ranking, doc: str, rel: float | None = None) -> Floats:
    named = _named(ranking, doc)
    reached = np.zeros(ranking.n_topics, dtype=np.int64)
    reached[ranking.topic[named]] = ranking.rank[named]
    hits = ranking.hits(rel)
    found = ranking.total(hits.topic[hits.rank <= reached[hits.topic]])
    return np.where(reached > 0, ratio(found, reached), np.nan)


def _named(ranking: Ranking, doc: str) -> Bools:
    return (ranking.lines.run.frame["docno"] == doc).to_numpy()[ranking.row]


@closed(precision_at_document)
def _precision_at_document_moments(ranking: Ranking, doc: str, rel: float | None = None) -> Moments:
    """The document is as likely to stand at each rank of its tie; above it, the others are shared out evenly."""
    groups, relevant, named = ranking.groups, ranking.relevant(rel), _named(ranking, doc)
    r, f = groups.counts(relevant)
    its, own = np.zeros(len(r), dtype=bool), np.zeros(len(r))
    its[groups.of[named]] = True
    own[groups.of[named & relevant]] = 1
    at = np.flatnonzero(its[groups.of])
    of = groups.of[at]
    others = (ranking.rank[at] - groups.before[of] - 1) * ratio((r - own)[of], groups.size[of] - 1)
    value = (f[of] + own[of] + others) / ranking.rank[at] / groups.size[of]
    there = ranking.total(groups.topic[its]) > 0
    return Moments(np.where(there, ranking.total(ranking.topic[at], value), np.nan))


@explains(precision_at_document)
def _precision_at_document_steps(view: View, doc: str, rel: float | None = None) -> list[Step]:
    if doc not in view.docno:
        return [Step("not returned", {"document": doc})]
    rank = view.docno.index(doc) + 1
    rows = hits(view, rank, rel)
    return [precision_at_each(view, rows, rel, rank), over("at document", len(rows), rank, document=doc)]


@define(
    "RBP",
    title="Rank-biased precision",
    formula="RBP(p)@k = (1 − p) · Σ p^(i−1) over the ranks i ≤ k of relevant documents",
    source="A. Moffat, J. Zobel: Rank-biased precision, ACM TOIS 27(1), 2008",
    example="RBP(p=0.95)",
    unbounded="graded",
)
def rank_biased_precision(
    ranking: Ranking, cutoff: int | None = None, p: float = 0.8, rel: float | None = None, graded: bool = False
) -> Floats:
    hits = ranking.hits(rel, cutoff)
    weight = np.power(p, hits.rank - 1.0)
    return (1 - p) * ranking.total(hits.topic, hits.grade * weight if graded else weight)


@linear(rank_biased_precision, cut=True)
def _rank_biased_precision_form(
    ranking: Ranking, cutoff: int | None = None, p: float = 0.8, rel: float | None = None, graded: bool = False
) -> Linear:
    relevant = ranking.relevant(rel)
    gain = np.where(relevant, ranking.grade, 0.0) if graded else relevant
    return Linear(gain, np.power(p, ranking.rank - 1.0) * top(ranking, cutoff), 1 - p)


@explains(rank_biased_precision)
def _rank_biased_precision_steps(
    view: View, cutoff: int | None = None, p: float = 0.8, rel: float | None = None, graded: bool = False
) -> list[Step]:
    rows = []
    for line in (each for each in view.lines(cutoff, rel) if each.relevant):
        weight = p ** (line.rank - 1)
        rows.append(line.row(weight=weight, **({"term": line.grade * weight} if graded else {})))
    together = summed(column(rows, "term" if graded else "weight"))
    total = together.numbers["total"]
    key = "reader goes on by grade" if graded else "reader goes on"
    return [
        listed(key, rows, {"n": view.n_rel(rel), "p": p, "cutoff": cutoff}),
        together,
        Step("rbp", {"p": p, "total": total, "result": (1 - p) * total}),
    ]
