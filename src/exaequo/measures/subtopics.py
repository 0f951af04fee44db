"""Measures of diversity: judgments by subtopic, and less for what the reader has seen already."""

from __future__ import annotations

from collections import Counter
from math import log2

import numpy as np
import polars as pl

from exaequo.judge import Bools, Floats, Ints, Judgments
from exaequo.measures.arithmetic import ratio, spread
from exaequo.measures.gain import discount
from exaequo.measures.moments import Linear, Moments, Stops, closed, of_linear, stopping, top
from exaequo.measures.registry import define
from exaequo.measures.steps import Row, Step, column, explains, listed, over, over_ideal, summed
from exaequo.measures.view import View
from exaequo.order import Ranking

_NOTE = (
    "subtopics stand in the iteration field of the qrels; tied documents of one grade but different subtopics are "
    "ordered by name under all strategies"
)


def relevant_pairs(ranking: Ranking, at: Ints, rel: float | None) -> tuple[Ints, Ints]:
    """Return, for each subtopic a judged document `at` this place is relevant to, the place and its judgment."""
    subtopics = ranking.judgments.subtopics
    place = ranking.lines.place[ranking.line[at]]
    start, stop = np.searchsorted(subtopics.place, place), np.searchsorted(subtopics.place, place, side="right")
    pairs = spread(start, stop - start)
    relevant = ranking.judgments.relevant(subtopics.grade[pairs], rel)
    return np.repeat(at, stop - start)[relevant], pairs[relevant]


def _gains(ranking: Ranking, cutoff: int, alpha: float, rel: float | None) -> tuple[Ints, Ints, Floats]:
    """Return topic, rank and gain of each subtopic of each document in the first `cutoff`."""
    at, pairs = relevant_pairs(ranking, np.flatnonzero(ranking.judged & (ranking.rank <= cutoff)), rel)
    subtopic = ranking.judgments.subtopics.subtopic[pairs]
    order = np.argsort(subtopic, kind="stable")
    at, subtopic = at[order], subtopic[order]
    seen = np.arange(len(at)) - np.searchsorted(subtopic, subtopic)
    return ranking.topic[at], ranking.rank[at], np.power(1 - alpha, seen)


def n_subtopics(judgments: Judgments, rel: float | None) -> Floats:
    """Return the number of subtopics of each topic that have a relevant document."""
    subtopics = judgments.subtopics
    known = np.unique(subtopics.subtopic[judgments.relevant(subtopics.grade, rel)])
    return np.bincount(subtopics.topic[known], minlength=judgments.n_topics).astype(np.float64)


def ideal_alpha_dcg(judgments: Judgments, cutoff: int, alpha: float, rel: float | None) -> Floats:
    """Return the alpha-DCG of the ideal list, which is computed once."""
    return judgments.kept(("alpha_nDCG", cutoff, alpha, rel), lambda: _ideal(judgments, cutoff, alpha, rel))


def _ideal(judgments: Judgments, cutoff: int, alpha: float, rel: float | None) -> Floats:
    """Return the alpha-DCG of the ideal list, built greedily: at each rank the document of the highest gain.

    Of equals the one with the greatest name is taken, as the reference implementation does. All topics advance
    together, rank by rank.
    """
    if judgments.qrels.subtopics is None:  # all relevant documents are alike
        ranks = np.arange(1, cutoff + 1)
        best = np.concatenate(([0.0], np.cumsum(np.power(1 - alpha, ranks - 1.0) / np.log2(ranks + 1))))
        return best[np.minimum(judgments.counted(rel), cutoff)]
    subtopics = judgments.subtopics
    relevant = judgments.relevant(subtopics.grade, rel)
    places, document = np.unique(subtopics.place[relevant], return_inverse=True)
    subtopic = subtopics.subtopic[relevant]
    names = judgments.qrels.frame["docno"][judgments.row[places]].rank("dense").to_numpy().astype(np.int64)
    order = np.lexsort((-names, judgments.topic[places]))
    kept = order[_few_alike(document, subtopic, order, cutoff)]
    topic = judgments.topic[places[kept]]
    renumbered = np.full(len(places), -1)
    renumbered[kept] = np.arange(len(kept))
    pairs = renumbered[document] >= 0
    document, subtopic = renumbered[document[pairs]], subtopic[pairs]
    _, starts, which = np.unique(topic, return_index=True, return_inverse=True)
    gain, left = np.ones(len(subtopics.topic)), np.ones(len(kept), dtype=bool)
    total = np.zeros(judgments.n_topics)
    for rank in range(1, min(cutoff, int(np.bincount(topic, minlength=1).max())) + 1):
        worth = np.where(left, np.bincount(document, weights=gain[subtopic], minlength=len(kept)), -1.0)
        level = np.round(worth, 9)  # what is equal must be so whatever the order of adding up
        chosen = _first(level == np.maximum.reduceat(level, starts)[which], which) & left
        total[topic[chosen]] += worth[chosen] / np.log2(rank + 1)
        left &= ~chosen
        gain[subtopic[chosen[document]]] *= 1 - alpha
    return total


def _few_alike(document: Ints, subtopic: Ints, order: Ints, most: int) -> Bools:
    """Tell which documents in this order are among the first so many of those relevant to the very same subtopics."""
    pairs = pl.DataFrame({"document": document, "subtopic": subtopic}).sort("document", "subtopic")
    sets = pairs.group_by("document", maintain_order=True).agg(pl.col("subtopic").cast(pl.String).str.join(","))
    same = sets["subtopic"][order].to_frame()
    nth = same.select(pl.int_range(pl.len()).over("subtopic")).to_series()
    return (nth < most).to_numpy()


def _first(marked: Bools, group: Ints) -> Bools:
    """Keep the first mark of each group."""
    at = np.flatnonzero(marked)
    first = np.zeros(len(marked), dtype=bool)
    first[at[np.unique(group[at], return_index=True)[1]]] = True
    return first


def _by_subtopic(ranking: Ranking, alpha: float, rel: float | None) -> tuple[Stops, Ints]:
    """Let a reader of each subtopic go down the list; return the stops, and the topic each belongs to."""
    subtopics, groups = ranking.judgments.subtopics, ranking.groups
    at, pairs = relevant_pairs(ranking, np.flatnonzero(ranking.judged), rel)
    # A tie is seen by each of the subtopics it has a document for.
    n_groups = max(len(groups.size), 1)
    seen, group = np.unique(subtopics.subtopic[pairs] * n_groups + groups.of[at], return_inverse=True)
    owner, tie = seen // n_groups, seen % n_groups
    stops = stopping(owner, groups.before[tie], groups.size[tie], np.sort(group), np.full(len(group), 1 - alpha))
    return stops, subtopics.topic[stops.owner]


def _novelty(ranking: Ranking, cutoff: int, alpha: float, rel: float | None, dcg: str) -> Floats:
    """Return the mean discounted gain. What a rank gains is what it takes off (1 − α)^seen, over α."""
    if alpha == 0:
        at, _ = relevant_pairs(ranking, np.flatnonzero(ranking.judged), rel)
        gain = np.bincount(at, minlength=len(ranking.rank)).astype(np.float64)
        return of_linear(ranking, Linear(gain, top(ranking, cutoff) / _discount(ranking.rank, dcg))).mean
    stops, topic = _by_subtopic(ranking, alpha, rel)
    gain = np.where(stops.rank <= cutoff, stops.chance / alpha / _discount(stops.rank, dcg), 0.0)
    return ranking.total(topic, gain)


def _discount(rank: Ints, dcg: str) -> Floats:
    return rank.astype(np.float64) if dcg == "rank" else discount(rank, dcg)


def _relevant_to(view: View, rel: float | None) -> dict[str, list[str]]:
    """Return the subtopics each relevant document of the topic is relevant to, by name."""
    judgments = view.ranking.judgments
    subtopics = judgments.subtopics
    chosen = judgments.relevant(subtopics.grade, rel) & (judgments.topic[subtopics.place] == view.topic)
    rows = judgments.row[subtopics.place[chosen]]
    found: dict[str, list[str]] = {}
    documents = judgments.qrels.frame["docno"][rows].to_list()
    for document, number in zip(documents, subtopics.subtopic[chosen].tolist(), strict=True):
        found.setdefault(document, []).append(subtopics.name[number])
    return found


def _covered(view: View, cutoff: int, alpha: float, rel: float | None) -> tuple[list[Row], int]:
    """Return a row for each subtopic of each document of the list, and how many subtopics there are."""
    of, seen, rows = _relevant_to(view, rel), Counter[str](), []
    for line in view.lines(cutoff, rel):
        for subtopic in of.get(line.document, ()):
            before = seen[subtopic]
            seen[subtopic] += 1
            rows.append(line.row(subtopic=subtopic, seen=before, gain=(1 - alpha) ** before))
    return rows, len({subtopic for subtopics in of.values() for subtopic in subtopics})


@define(
    "alpha_nDCG",
    title="Novelty-biased discounted cumulative gain",
    formula="alpha_nDCG@k = DCG@k / DCG@k of a greedily built ideal list, where a document gains (1 − α)^(times seen) "
    "for each subtopic it is relevant to",
    source="C. L. A. Clarke et al.: Novelty and diversity in information retrieval evaluation, SIGIR 2008",
    example="alpha_nDCG@10",
    chain="not guaranteed",
    highest=float("inf"),
    note=f"{_NOTE}; the ideal list is only nearly the best, so that a value can be a little above 1",
    sees=("names",),
)
def alpha_ndcg(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Floats:
    topic, rank, gain = _gains(ranking, cutoff, alpha, rel)
    ideal = ideal_alpha_dcg(ranking.judgments, cutoff, alpha, rel)
    return ratio(ranking.total(topic, gain / discount(rank, "log2")), ideal)


@closed(alpha_ndcg)
def _alpha_ndcg_moments(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Moments:
    ideal = ideal_alpha_dcg(ranking.judgments, cutoff, alpha, rel)
    return Moments(ratio(_novelty(ranking, cutoff, alpha, rel, "log2"), ideal))


@explains(alpha_ndcg)
def _alpha_ndcg_steps(view: View, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    rows = _discounted(_covered(view, cutoff, alpha, rel)[0])
    ideal = _discounted(_greedy(_relevant_to(view, rel), cutoff, alpha))
    own = listed("subtopics", rows, {"alpha": alpha, "cutoff": cutoff}, "no subtopics")
    best = listed("greedy ideal", ideal, {"alpha": alpha}, "no ideal")
    return over_ideal("dcg over ideal", own, best, "quotient")


def _discounted(rows: list[Row]) -> list[Row]:
    return [{**row, "discount": log2(row["rank"] + 1), "quotient": row["gain"] / log2(row["rank"] + 1)} for row in rows]


def _greedy(of: dict[str, list[str]], cutoff: int, alpha: float) -> list[Row]:
    """Return the ideal list: at each rank the document of the highest gain, of equals the one of the greatest name."""
    left, worth = dict(of), {subtopic: 1.0 for subtopics in of.values() for subtopic in subtopics}
    rows: list[Row] = []
    for rank in range(1, min(cutoff, len(of)) + 1):
        gains = {document: sum(worth[each] for each in subtopics) for document, subtopics in left.items()}
        document = max(left, key=lambda name: (round(gains[name], 9), name))
        for subtopic in left.pop(document):
            rows.append({"rank": rank, "document": document, "subtopic": subtopic, "gain": worth[subtopic]})
            worth[subtopic] *= 1 - alpha
    return rows


@define(
    "ERR_IA",
    title="Intent-aware expected reciprocal rank",
    formula="ERR_IA@k = Σ (1 − α)^(times seen) / i over the ranks i ≤ k and the subtopics a document is relevant to, "
    "/ the same if every document were relevant to all of them",
    source="O. Chapelle et al.: Expected reciprocal rank for graded relevance, CIKM 2009; normalised as in ndeval",
    example="ERR_IA@10",
    chain="not guaranteed",
    note=_NOTE,
    sees=("names",),
)
def err_ia(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Floats:
    topic, rank, gain = _gains(ranking, cutoff, alpha, rel)
    return ratio(ranking.total(topic, gain / rank), _most(ranking, cutoff, alpha, rel))


def _most(ranking: Ranking, cutoff: int, alpha: float, rel: float | None) -> Floats:
    """Return what a list would have where every document is relevant to all subtopics."""
    one = float(np.sum(np.power(1 - alpha, np.arange(cutoff)) / np.arange(1, cutoff + 1)))
    return one * n_subtopics(ranking.judgments, rel)


@closed(err_ia)
def _err_ia_moments(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Moments:
    return Moments(ratio(_novelty(ranking, cutoff, alpha, rel, "rank"), _most(ranking, cutoff, alpha, rel)))


@explains(err_ia)
def _err_ia_steps(view: View, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    rows, every = _covered(view, cutoff, alpha, rel)
    rows = [{**row, "term": row["gain"] / row["rank"]} for row in rows]
    together = summed(column(rows, "term"))
    best = summed([(1 - alpha) ** (i - 1) / i for i in range(1, cutoff + 1)])
    scale = {"most": best.numbers["total"], "every": every, "cutoff": cutoff, "alpha": alpha}
    return [
        listed("subtopics", rows, {"alpha": alpha, "cutoff": cutoff}, "no subtopics"),
        together,
        Step("intents end", {**scale, "terms": best.numbers["terms"]}),
        over("over intents", together.numbers["total"], best.numbers["total"] * every, **scale),
    ]


@define(
    "StRecall",
    title="Subtopic recall",
    formula="StRecall@k = subtopics with a relevant document in the first k / subtopics with a relevant document",
    source="C. Zhai, W. W. Cohen, J. Lafferty: Beyond independent relevance: methods and evaluation metrics for "
    "subtopic retrieval, SIGIR 2003",
    example="StRecall@10",
    chain="not guaranteed",
    note=_NOTE,
    sees=("names",),
)
def subtopic_recall(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats:
    topic, _, new = _gains(ranking, cutoff, 1.0, rel)  # 0 for all that was seen before
    return ratio(ranking.total(topic, new), n_subtopics(ranking.judgments, rel))


@closed(subtopic_recall)
def _subtopic_recall_moments(ranking: Ranking, cutoff: int, rel: float | None = None) -> Moments:
    stops, topic = _by_subtopic(ranking, 1.0, rel)
    seen = ranking.total(topic, np.where(stops.rank <= cutoff, stops.chance, 0.0))
    return Moments(ratio(seen, n_subtopics(ranking.judgments, rel)))


@explains(subtopic_recall)
def _subtopic_recall_steps(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    rows, every = _covered(view, cutoff, 0.0, rel)
    first = [{name: row[name] for name in ("rank", "document", "subtopic")} for row in rows if not row["seen"]]
    return [
        listed("new subtopics", first, {"cutoff": cutoff}, "no subtopics"),
        over("subtopics covered", len(first), every),
    ]
