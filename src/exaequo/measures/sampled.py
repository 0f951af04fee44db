"""Measures for sampled judgments: what was not drawn is estimated from what was, by stratum or by chance."""

from __future__ import annotations

from collections import Counter

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.judge import Judgments
from exaequo.measures.arithmetic import ratio, spread, sums_so_far
from exaequo.measures.incomplete import before
from exaequo.measures.moments import Moments, closed
from exaequo.measures.registry import define
from exaequo.measures.steps import Fine, Row, Step, column, explains, listed, over, summed
from exaequo.measures.view import View
from exaequo.order import Ranking

#: Smoothing of xinfAP, as in sample_eval.pl: of the documents drawn, and of the relevant ones among them.
_DRAWN, _FOUND = 0.00003, 0.00001


def _strata(judgments: Judgments) -> Ints:
    """Return the number of the stratum of each judgment; without strata there is one."""
    frame = judgments.qrels.frame
    if "stratum" not in frame.columns:
        return np.zeros(len(judgments.topic), dtype=np.int64)
    return frame["stratum"].fill_null("").rank("dense").to_numpy().astype(np.int64)[judgments.row]


def _represented(judgments: Judgments) -> Floats:
    """Return for how many documents of its topic and stratum each one that was drawn stands."""
    strata = _strata(judgments)
    code = np.unique(judgments.topic * (int(strata.max(initial=0)) + 1) + strata, return_inverse=True)[1]
    return ratio(np.bincount(code), np.bincount(code, judgments.grade >= 0))[code]


def _sampled(judgments: Judgments) -> Floats:
    """Return for how many documents each one that was drawn stands: 1 / the chance, 0 where there is none."""
    frame = judgments.qrels.frame
    if "prob" not in frame.columns:
        return np.ones(len(judgments.topic))
    chance = frame["prob"].fill_null(0.0).to_numpy()[judgments.row]
    return ratio(np.ones(len(chance)), chance)


def _estimated(judgments: Judgments, weight: Floats, rel: float | None) -> Floats:
    """Return the estimated number of relevant documents of each topic; the order of the judgments changes no digit."""
    relevant = judgments.relevant(judgments.grade, rel)
    topic, weight = judgments.topic[relevant], weight[relevant]
    order = np.lexsort((weight, topic))
    return np.bincount(topic[order], weight[order], minlength=judgments.n_topics).astype(np.float64)


@define(
    "xinfAP",
    title="Extended inferred average precision",
    formula="xinfAP = Σ P(i) · N/n over the ranks i of relevant documents / Σ N/n over all relevant documents, n of "
    "the N documents of a stratum being judged, with P(i) = 1/i + 1/i · Σ over the strata of pooled above i · "
    "(relevant above + ε) / (judged above + 3ε); a judgment below 0 means pooled, not judged",
    source="E. Yilmaz, E. Kanoulas, J. A. Aslam: A simple and efficient sampling method for estimating AP and NDCG, "
    "SIGIR 2008; smoothed as in sample_eval.pl",
    example="xinfAP(rel=2)",
    chain="not guaranteed",
    note="strata stand in qrels of five fields, qid iter docno stratum rel; without them a topic is one stratum",
    sees=("names",),
)
def xinf_ap(ranking: Ranking, rel: float | None = None) -> Floats:
    judgments, strata = ranking.judgments, _strata(ranking.judgments)
    place = ranking.lines.place[ranking.line]
    relevant, at = ranking.relevant(rel), np.flatnonzero(ranking.relevant(rel))
    above = np.zeros(len(at))
    for stratum in np.unique(strata):
        pooled = ranking.judged & (strata[place] == stratum)
        inside, drawn, found = (
            before(ranking, each, at) for each in (pooled, pooled & (ranking.grade >= 0), pooled & relevant)
        )
        above += inside * (found + _FOUND) / (drawn + _DRAWN)
    weight = _represented(judgments)
    total = ranking.total(ranking.topic[at], weight[place[at]] * (1 + above) / ranking.rank[at])
    return ratio(total, _estimated(judgments, weight, rel))


@explains(xinf_ap)
def _xinf_ap_steps(view: View, rel: float | None = None) -> list[Step]:
    every, rows = _of_topic(view, "stratum", rel), []
    pooled = Counter[str](str(each) for _, _, each, _ in every)
    drawn = Counter[str](str(each) for _, grade, each, _ in every if grade >= 0)
    names = {document: str(each) for document, _, each, _ in every}
    seen: dict[str, list[int]] = {stratum: [0, 0, 0] for stratum in pooled}
    for line in view.lines(None, rel):
        stratum = names.get(line.document, "")
        if line.relevant:
            above = sum(n * (found + _FOUND) / (judged + _DRAWN) for n, judged, found in seen.values())
            weight, precision = pooled[stratum] / drawn[stratum], (1 + above) / line.rank
            estimate = {"relevant above": above, "precision": precision, "weight": weight, "term": precision * weight}
            rows.append(line.row(stratum=stratum, **estimate))
        if line.judged:
            for at, counts in enumerate((True, line.grade >= 0, line.relevant)):
                seen[stratum][at] += counts
    n = sum(pooled[str(each)] / drawn[str(each)] for _, _, each, relevant in every if relevant)
    return _estimate_steps("inferred by stratum", rows, n)


def _of_topic(view: View, name: str, rel: float | None) -> list[tuple[str, float, object, bool]]:
    """Return document, grade, what the qrels say under a name, and whether it is relevant, for all that are judged."""
    judgments = view.ranking.judgments
    own = np.flatnonzero(judgments.topic == view.topic)
    frame = judgments.qrels.frame[judgments.row[own]]
    said = frame[name].to_list() if name in frame.columns else [None if name == "prob" else ""] * len(own)
    grade = judgments.grade[own]
    relevant = judgments.relevant(grade, rel).tolist()
    return list(zip(frame["docno"].to_list(), grade.tolist(), said, relevant, strict=True))


def _estimate_steps(key: str, rows: list[Row], n: float) -> list[Step]:
    together = summed(column(rows, "term"))
    together.numbers["total"] = Fine(together.numbers["total"])
    return [listed(key, rows, {"n": n}, "none sampled"), together, over("over estimated", together.numbers["total"], n)]


@define(
    "statAP",
    title="Average precision estimated from a sample",
    formula="statAP = Σ (1 + Σ 1/π of relevant documents above) / i · 1/π over the ranks i of relevant documents / "
    "Σ 1/π over all relevant documents, π being the chance of a document to be drawn",
    source="J. A. Aslam, V. Pavlu: A practical sampling strategy for efficient retrieval evaluation, 2007; as in "
    "statAP_MQ_eval_v3.pl",
    example="statAP(rel=2)",
    highest=float("inf"),
    chain="not guaranteed",
    note="the chances stand in qrels of five fields, qid docno rel method prob; without them all documents are "
    "certain, and statAP is AP",
    sees=("names",),
)
def stat_ap(ranking: Ranking, rel: float | None = None) -> Floats:
    weight = _sampled(ranking.judgments)
    at = np.flatnonzero(ranking.relevant(rel))
    topic, own = ranking.topic[at], weight[ranking.lines.place[ranking.line[at]]]
    precision = (1 + sums_so_far(own, topic) - own) / ranking.rank[at]
    return ratio(ranking.total(topic, precision * own), _estimated(ranking.judgments, weight, rel))


@closed(stat_ap)
def _stat_ap_moments(ranking: Ranking, rel: float | None = None) -> Moments:
    """As for AP, a document counting 1/π: its own at each rank of the tie alike, times those that stand above."""
    weight, groups, relevant = _sampled(ranking.judgments), ranking.groups, ranking.relevant(rel)
    own = np.zeros(len(ranking.rank))
    own[relevant] = weight[ranking.lines.place[ranking.line[relevant]]]
    worth, squares = groups.sums(own), groups.sums(own**2)
    above = sums_so_far(worth, groups.topic) - worth
    kept = np.flatnonzero(worth)
    of, at = np.repeat(kept, groups.size[kept]), spread(groups.start[kept], groups.size[kept])
    m, rank = groups.size[of], ranking.rank[at]
    both = (rank - groups.before[of] - 1) * ratio((worth**2 - squares)[of], m - 1)
    mean = ranking.total(ranking.topic[at], (worth[of] * (1 + above[of]) + both) / m / rank)
    return Moments(ratio(mean, _estimated(ranking.judgments, weight, rel)))


@explains(stat_ap)
def _stat_ap_steps(view: View, rel: float | None = None) -> list[Step]:
    every = _of_topic(view, "prob", rel)
    sure = "prob" not in view.ranking.judgments.qrels.frame.columns
    weights = {name: 1.0 if sure else 1 / float(str(chance)) if chance else 0.0 for name, _, chance, _ in every}
    rows, above = [], 0.0
    for line in view.lines(None, rel):
        if line.relevant:
            weight, precision = weights[line.document], (1 + above) / line.rank
            rows.append(
                line.row(**{"so far": above, "precision": precision, "weight": weight, "term": precision * weight})
            )
            above += weight
    n = sum(weights[name] for name, _, _, relevant in every if relevant)
    return _estimate_steps("estimated precision", rows, n)
