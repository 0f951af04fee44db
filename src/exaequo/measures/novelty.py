"""Novelty: what subtopics gain, less each time they are seen again. In: a `Ranking` or a `View`. Out: sums or steps."""

from __future__ import annotations

from collections import Counter
from math import log2
from typing import NamedTuple

import numpy as np

from exaequo.arrays import Bools, Floats, Ints
from exaequo.frames import pl
from exaequo.judge import Judgments
from exaequo.measures.arithmetic import spread
from exaequo.measures.gain import discount, up_to
from exaequo.measures.moments import Linear, Stops, of_linear, stopping, top
from exaequo.measures.steps import Row, Step, column, listed, over, over_ideal, summed
from exaequo.measures.view import View
from exaequo.order import Ranking

#: How gains are discounted: 'log2', 'rank', or by a reader who goes on with this chance.
By = str | float


def relevant_pairs(ranking: Ranking, at: Ints, rel: float | None) -> tuple[Ints, Ints]:
    """Return, for each subtopic a judged document `at` this place is relevant to, the place and its judgment."""
    subtopics = ranking.judgments.subtopics
    place = ranking.lines.place[ranking.line[at]]
    start, stop = np.searchsorted(subtopics.place, place), np.searchsorted(subtopics.place, place, side="right")
    pairs = spread(start, stop - start)
    relevant = ranking.judgments.relevant(subtopics.grade[pairs], rel)
    return np.repeat(at, stop - start)[relevant], pairs[relevant]


def gains(ranking: Ranking, cutoff: int | None, alpha: float, rel: float | None) -> tuple[Ints, Ints, Floats]:
    """Return topic, rank and gain of each subtopic of each document in the first `cutoff`."""
    at, pairs = relevant_pairs(ranking, up_to(ranking, cutoff, np.flatnonzero(ranking.judged)), rel)
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


def ideal(judgments: Judgments, by: By, cutoff: int | None, alpha: float, rel: float | None) -> Floats:
    """Return what the ideal list gains, which is computed once."""
    return judgments.kept(("ideal", by, cutoff, alpha, rel), lambda: _greedily(judgments, by, cutoff, alpha, rel))


def _greedily(judgments: Judgments, by: By, cutoff: int | None, alpha: float, rel: float | None) -> Floats:
    """Return what the ideal list gains, built greedily: at each rank the document of the highest gain.

    Of equals the one with the greatest name is taken, as the reference implementation does. All topics advance
    together, rank by rank.
    """
    cutoff = cutoff or max(len(judgments.topic), 1)
    if judgments.qrels.subtopics is None:  # all relevant documents are alike
        ranks = np.arange(1, min(cutoff, int(judgments.counted(rel).max(initial=0))) + 1)
        best = np.concatenate(([0.0], np.cumsum(_discounted(np.power(1 - alpha, ranks - 1.0), ranks, by))))
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
        total[topic[chosen]] += _discounted(worth[chosen], np.full(1, rank), by)
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


class Seen(NamedTuple):
    """The ties each subtopic has a relevant document in: their `owner`, the subtopic, and which `tie` of the ranking.

    `group` tells for each such document and subtopic which of these it belongs to, in order.
    """

    owner: Ints
    tie: Ints
    group: Ints


def seen_ties(ranking: Ranking, rel: float | None) -> Seen:
    """Return the ties as each subtopic sees them."""
    groups = ranking.groups
    at, pairs = relevant_pairs(ranking, np.flatnonzero(ranking.judged), rel)
    n_groups = max(len(groups.size), 1)
    keys = ranking.judgments.subtopics.subtopic[pairs] * n_groups + groups.of[at]
    seen, group = np.unique(keys, return_inverse=True)
    return Seen(seen // n_groups, seen % n_groups, np.sort(group))


def by_subtopic(ranking: Ranking, alpha: float, rel: float | None) -> tuple[Stops, Ints]:
    """Let a reader of each subtopic go down the list; return the stops, and the topic each belongs to."""
    groups, (owner, tie, group) = ranking.groups, seen_ties(ranking, rel)
    stops = stopping(owner, groups.before[tie], groups.size[tie], group, np.full(len(group), 1 - alpha))
    return stops, ranking.judgments.subtopics.topic[stops.owner]


def mean_gain(ranking: Ranking, by: By, cutoff: int | None, alpha: float, rel: float | None) -> Floats:
    """Return the mean discounted gain. What a rank gains is what it takes off (1 − α)^seen, over α."""
    if alpha == 0:
        gain = relevant_to(ranking, rel)
        return of_linear(ranking, Linear(gain, _discounted(top(ranking, cutoff), ranking.rank, by))).mean
    stops, topic = by_subtopic(ranking, alpha, rel)
    gain = np.where(stops.rank <= (cutoff or np.inf), _discounted(stops.chance / alpha, stops.rank, by), 0.0)
    return ranking.total(topic, gain)


def relevant_to(ranking: Ranking, rel: float | None) -> Floats:
    """Return to how many subtopics each document is relevant."""
    at, _ = relevant_pairs(ranking, np.flatnonzero(ranking.judged), rel)
    return np.bincount(at, minlength=len(ranking.rank)).astype(np.float64)


def _discounted(gain: Floats, rank: Ints, by: By) -> Floats:
    """Return what gains are worth at their ranks: over log2(rank + 1), over the rank, or times p^(rank − 1)."""
    if isinstance(by, str):
        return gain / (rank.astype(np.float64) if by == "rank" else discount(rank, by))
    weight: Floats = np.power(by, rank - 1.0)
    return gain * weight


def subtopics_of(view: View, rel: float | None) -> dict[str, list[str]]:
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


def covered(view: View, cutoff: int | None, alpha: float, rel: float | None) -> tuple[list[Row], int]:
    """Return a row for each subtopic of each document of the list, and how many subtopics there are."""
    of, seen, rows = subtopics_of(view, rel), Counter[str](), []
    for line in view.lines(cutoff, rel):
        for subtopic in of.get(line.document, ()):
            before = seen[subtopic]
            seen[subtopic] += 1
            rows.append(line.row(subtopic=subtopic, seen=before, gain=(1 - alpha) ** before))
    return rows, len({subtopic for subtopics in of.values() for subtopic in subtopics})


def gained(ranking: Ranking, by: By, cutoff: int | None, alpha: float, rel: float | None) -> Floats:
    """Return the discounted gain."""
    topic, rank, gain = gains(ranking, cutoff, alpha, rel)
    return ranking.total(topic, _discounted(gain, rank, by))


def most(ranking: Ranking, by: By, cutoff: int, alpha: float, rel: float | None) -> Floats:
    """Return what a list would have where every document is relevant to all subtopics."""
    ranks = np.arange(1, cutoff + 1)
    one = float(np.sum(_discounted(np.power(1 - alpha, ranks - 1), ranks, by)))
    return one * n_subtopics(ranking.judgments, rel)


def _rows(rows: list[Row], by: By) -> list[Row]:
    """Add to the gains what they are worth at their ranks, as the last column."""
    if by == "log2":
        return [{**row, "discount": d, "quotient": row["gain"] / d} for row in rows if (d := log2(row["rank"] + 1))]
    if by == "rank":
        return [{**row, "term": row["gain"] / row["rank"]} for row in rows]
    return [{**row, "weight": w, "product": row["gain"] * w} for row in rows for w in [float(by) ** (row["rank"] - 1)]]


_LAST: dict[By, str] = {"log2": "quotient", "rank": "term"}


def own_steps(view: View, by: By, cutoff: int | None, alpha: float, rel: float | None) -> tuple[Step, int]:
    """Return what the subtopics of the list gain, and how many subtopics there are."""
    rows, every = covered(view, cutoff, alpha, rel)
    return listed("subtopics", _rows(rows, by), {"alpha": alpha, "cutoff": cutoff}, "no subtopics"), every


def over_greedy(view: View, key: str, by: By, cutoff: int | None, alpha: float, rel: float | None) -> list[Step]:
    own, _ = own_steps(view, by, cutoff, alpha, rel)
    ideal = _rows(_greedy(subtopics_of(view, rel), cutoff, alpha), by)
    return over_ideal(key, own, listed("greedy ideal", ideal, {"alpha": alpha}, "no ideal"), _LAST.get(by, "product"))


def _greedy(of: dict[str, list[str]], cutoff: int | None, alpha: float) -> list[Row]:
    """Return the ideal list: at each rank the document of the highest gain, of equals the one of the greatest name."""
    left, worth = dict(of), {subtopic: 1.0 for subtopics in of.values() for subtopic in subtopics}
    rows: list[Row] = []
    for rank in range(1, min(cutoff or len(of), len(of)) + 1):
        gains = {document: sum(worth[each] for each in subtopics) for document, subtopics in left.items()}
        document = max(left, key=lambda name: (round(gains[name], 9), name))
        for subtopic in left.pop(document):
            rows.append({"rank": rank, "document": document, "subtopic": subtopic, "gain": worth[subtopic]})
            worth[subtopic] *= 1 - alpha
    return rows


def over_most(view: View, by: str, cutoff: int, alpha: float, rel: float | None) -> list[Step]:
    own, every = own_steps(view, by, cutoff, alpha, rel)
    together = summed(column(own.table, _LAST[by]))
    best = summed(
        [
            row[_LAST[by]]
            for row in _rows([{"rank": i, "gain": (1 - alpha) ** (i - 1)} for i in range(1, cutoff + 1)], by)
        ]
    )
    scale = {"most": best.numbers["total"], "every": every, "cutoff": cutoff, "alpha": alpha}
    return [
        own,
        together,
        Step("intents end", {**scale, "terms": best.numbers["terms"]}),
        over("over intents", together.numbers["total"], best.numbers["total"] * every, **scale),
    ]
