"""Interpolated precision: the best precision at this recall or any beyond."""

from __future__ import annotations

from itertools import pairwise
from math import ceil

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.measures.arithmetic import ratio, so_far
from exaequo.measures.moments import unchanged
from exaequo.measures.registry import define
from exaequo.measures.steps import Row, Step, column, explains, hits, least, listed, summed_over
from exaequo.measures.view import View
from exaequo.order import Ranking

_SOURCE = "C. J. van Rijsbergen: Information Retrieval, 2nd edition, 1979, chapter 7; trec_eval, 11pt_avg"


@define(
    "IPrec",
    title="Interpolated precision at a recall level",
    formula="IPrec@r = max P@i over the ranks i with R@i ≥ r; 0 if there are none",
    source=_SOURCE,
    example="IPrec@0.3",
    at="recall",
    official=("iprec_at_recall_{recall}",),
)
def interpolated_precision(ranking: Ranking, recall: float, rel: float | None = None) -> Floats:
    """Recall is compared as whole numbers: found ≥ r · all, with r the decimal fraction as it is written."""
    return best_precision_from(ranking, least_found(recall, ranking.n_rel(rel)), rel)


def least_found(recall: float, n_rel: Ints) -> Ints:
    """Return how many of so many relevant documents make a recall, a decimal fraction, exactly."""
    from fractions import Fraction

    level = Fraction(str(recall))
    sizes, which = np.unique(n_rel, return_inverse=True)
    return np.array([ceil(level * int(size)) for size in sizes], dtype=np.int64)[which]


def best_precision_from(ranking: Ranking, least: Ints, rel: float | None = None) -> Floats:
    """Return the best precision once `least` relevant documents of each topic are found."""
    hits = ranking.hits(rel)
    reached = hits.nth >= least[hits.topic]
    best = np.zeros(ranking.n_topics)
    np.maximum.at(best, hits.topic[reached], (hits.nth / hits.rank)[reached])
    return best


@explains(interpolated_precision)
def _interpolated_precision_steps(view: View, recall: float, rel: float | None = None) -> list[Step]:
    rows = _points(view, rel)
    wanted, best = _at_level(view, rows, recall, rel)
    numbers = {"level": recall, "wanted": wanted, "n": view.n_rel(rel), "found": len(rows), "result": best}
    return [_curve(view, rows, rel), Step("at level" if len(rows) >= wanted else "level not reached", numbers)]


def _points(view: View, rel: float | None) -> list[Row]:
    """Return the relevant documents with the best precision from each of them on."""
    best, rows = 0.0, []
    for row in reversed(hits(view, None, rel)):
        best = max(best, row["precision"])
        rows.append({**row, "best from here": best})
    return rows[::-1]


def _curve(view: View, rows: list[Row], rel: float | None) -> Step:
    return listed("interpolated", rows, {"n": view.n_rel(rel)})


def _at_level(view: View, rows: list[Row], level: float, rel: float | None) -> tuple[int, float]:
    """Return how many documents make a recall, and the best precision once they are found."""
    wanted = max(least(level, view.n_rel(rel)), 1)
    return wanted, rows[wanted - 1]["best from here"] if len(rows) >= wanted else 0.0


@define(
    "IPrec11",
    title="11-point interpolated average precision",
    formula="IPrec11 = mean of IPrec@r for r = 0, 0.1, … 1",
    source=_SOURCE,
    official=("11pt_avg",),
)
def eleven_points(ranking: Ranking, rel: float | None = None) -> Floats:
    levels = (interpolated_precision(ranking, tenth / 10, rel) for tenth in range(11))
    return sum(levels, start=np.zeros(ranking.n_topics)) / 11


@explains(eleven_points)
def _eleven_points_steps(view: View, rel: float | None = None) -> list[Step]:
    rows = _points(view, rel)
    levels = []
    for tenth in range(11):
        wanted, best = _at_level(view, rows, tenth / 10, rel)
        levels.append({"recall": tenth / 10, "wanted": wanted, "best from here": best})
    mean = summed_over("over eleven", column(levels, "best from here"), 11)
    return [_curve(view, rows, rel), Step("eleven", {}, levels), *mean]


@define(
    "IAP",
    title="Interpolated average precision over relevant documents",
    formula="IAP = Σ max P@j over j ≥ i, for the ranks i of relevant documents / all relevant documents",
    source="C. J. van Rijsbergen: Information Retrieval, 2nd edition, 1979, chapter 7",
)
def interpolated_average_precision(ranking: Ranking, rel: float | None = None) -> Floats:
    hits = ranking.hits(rel)
    best = best_from_here(hits.nth / hits.rank, hits.topic)
    return ratio(ranking.total(hits.topic, best), ranking.n_rel(rel))


@explains(interpolated_average_precision)
def _interpolated_average_precision_steps(view: View, rel: float | None = None) -> list[Step]:
    rows = _points(view, rel)
    return [_curve(view, rows, rel), *summed_over("over n", column(rows, "best from here"), view.n_rel(rel))]


def best_from_here(values: Floats, topic: Ints) -> Floats:
    """Return for each entry the greatest value of its topic from there on."""
    return so_far(np.maximum, -np.inf, values[::-1], topic[::-1])[::-1]


@unchanged
@define(
    "BreakEven",
    title="Break-even point",
    formula="BreakEven = the value at which precision and recall are equal, as the list is read score by score, tied "
    "documents together; on the line between the two scores around it if need be",
    source="D. D. Lewis: Representation and learning in information retrieval, PhD thesis, 1992",
    note="equal to Rprec where nothing is tied and the list is long enough",
    undefined="precision and recall do not meet",
    sees=("length", "ties"),
)
def break_even_point(ranking: Ranking, rel: float | None = None) -> Floats:
    """Both are found/rank and found/n, so they meet at rank n, or inside the tie that rank n is in."""
    hits, n = ranking.hits(rel), ranking.n_rel(rel)
    start = np.searchsorted(ranking.topic, np.arange(ranking.n_topics))

    def tied_with(rank: Ints) -> tuple[Ints, Ints]:
        """First and last rank of the tie around a rank of each list."""
        number = ranking.tie[start[there] + rank - 1]
        first = np.searchsorted(ranking.tie, number)
        return first - start[there] + 1, np.searchsorted(ranking.tie, number, side="right") - start[there]

    def found(rank: Ints) -> Floats:
        last = np.zeros(ranking.n_topics, dtype=np.int64)
        last[there] = rank
        return ranking.total(hits.topic[hits.rank <= last[hits.topic]])[there]

    value = np.zeros(ranking.n_topics)
    there = np.flatnonzero((n > 0) & (ranking.returned > 0))
    # Where nothing is found, both are 0; this counts as a meeting if there is no other.
    value[there] = np.where(found(tied_with(np.ones(len(there), dtype=np.int64))[1]) == 0, 0.0, np.nan)
    there = there[n[there] <= ranking.returned[there]]
    first, last = tied_with(n[there])
    above, below = found(first - 1), found(last)
    p1, r1, p2, r2 = ratio(above, first - 1), above / n[there], below / last, below / n[there]
    meeting = np.where(last == n[there], p2, p1 + ratio(p1 - r1, p1 - r1 - p2 + r2) * (p2 - p1))
    exists = np.where(last == n[there], below, above) > 0
    value[there] = np.where(exists, meeting, value[there])
    return value


@explains(break_even_point)
def _break_even_point_steps(view: View, rel: float | None = None) -> list[Step]:
    n = view.n_rel(rel)
    if not n or not len(view.at):
        return [Step("nothing to meet", {"n": n, "result": 0.0})]
    rows = _scores(view, rel)
    table = Step("score by score", {"n": n}, rows)
    for row in rows:
        if row["rank"] == n and row["found"]:
            return [table, Step("they meet", {**row, "result": row["precision"]})]
    for one, two in pairwise(rows):
        if one["rank"] < n < two["rank"] and one["found"]:
            return [table, _crossing(one, two)]
    if not rows[0]["found"]:
        return [table, Step("both are 0", {"result": 0.0})]
    key, row = ("they have passed", rows[0]) if rows[0]["rank"] > n else ("they do not meet", rows[-1])
    return [table, Step(key, {"n": n, **{name: row[name] for name in ("rank", "precision", "recall")}})]


def _scores(view: View, rel: float | None) -> list[Row]:
    """Return a row per score: how many documents are read so far, how many of them are relevant."""
    lines, ties, n = view.lines(None, rel), view.ranking.tie[view.at].tolist(), view.n_rel(rel)
    rows, found = [], 0
    for at, line in enumerate(lines):
        found += line.relevant
        if at + 1 == len(lines) or ties[at + 1] != ties[at]:
            recall = found / n if n else 0.0
            rows.append({"rank": line.rank, "found": found, "precision": found / line.rank, "recall": recall})
    return rows


def _crossing(one: Row, two: Row) -> Step:
    """Return the point where the lines of precision and recall between two scores cross."""
    p1, r1, p2, r2 = one["precision"], one["recall"], two["precision"], two["recall"]
    numbers = {"from": one["rank"], "to": two["rank"], "p1": p1, "r1": r1, "p2": p2, "r2": r2}
    return Step("they cross", {**numbers, "result": p1 + (p1 - r1) / (p1 - r1 - p2 + r2) * (p2 - p1)})


@unchanged
@define(
    "Precall",
    title="Precision at a recall level, ties taken into account",
    formula="Precall@r = N / (N + documents not relevant that are read before the Nth relevant one), N = r · all "
    "rounded up, at least 1; within a tie of a relevant and b other documents, the ith relevant one comes after "
    "i·b / (a + 1) of the others; 0 if there are not N",
    source="V. Raghavan, P. Bollmann, G. S. Jung: A critical investigation of recall and precision as measures of "
    "retrieval system performance, ACM TOIS 7(3), 1989",
    example="Precall@0.5",
    at="recall",
    note="no strategy changes it: a tie is never put in order",
    sees=("ties",),
)
def precall(ranking: Ranking, recall: float, rel: float | None = None) -> Floats:
    groups, n = ranking.groups, ranking.n_rel(rel)
    inside, above = groups.counts(ranking.relevant(rel))
    wanted = np.maximum(least_found(recall, n), 1)
    needed = wanted[groups.topic]
    at = np.flatnonzero((above < needed) & (needed <= above + inside))
    topic, others = groups.topic[at], groups.size[at] - inside[at]
    read = groups.before[at] - above[at] + (needed[at] - above[at]) * others / (inside[at] + 1)
    value = np.zeros(ranking.n_topics)
    value[topic] = wanted[topic] / (wanted[topic] + read)
    return value


@explains(precall)
def _precall_steps(view: View, recall: float, rel: float | None = None) -> list[Step]:
    n = view.n_rel(rel)
    wanted = max(least(recall, n), 1)
    numbers = {"wanted": wanted, "n": n, "recall": recall}
    rows = _scores(view, rel)
    table = listed("score by score", rows, {"n": n}, "none found")
    place = next((at for at, row in enumerate(rows) if row["found"] >= wanted), None)
    if place is None:
        return [table, Step("not reached", {**numbers, "result": 0.0})]
    above = rows[place - 1] if place else {"rank": 0, "found": 0}
    inside, size = rows[place]["found"] - above["found"], rows[place]["rank"] - above["rank"]
    before, needed, others = above["rank"] - above["found"], wanted - above["found"], size - inside
    read = before + needed * others / (inside + 1)
    tie = {"before": before, "needed": needed, "others": others, "inside": inside, "read": read}
    return [
        table,
        Step("search length", {**numbers, **tie}),
        Step("precall", {**numbers, "read": read, "result": wanted / (wanted + read)}),
    ]
