"""Interpolated precision, and where precision and recall meet."""

from __future__ import annotations

from itertools import pairwise

from exaequo.explanation.steps.parts import Row, Step, column, explains, hits, least, listed, over, summed
from exaequo.explanation.view import View


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


@explains("IPrec")
def _iprec(view: View, recall: float, rel: float | None = None) -> list[Step]:
    rows = _points(view, rel)
    wanted, best = _at_level(view, rows, recall, rel)
    numbers = {"level": recall, "wanted": wanted, "n": view.n_rel(rel), "found": len(rows), "result": best}
    return [_curve(view, rows, rel), Step("at level" if len(rows) >= wanted else "level not reached", numbers)]


@explains("IPrec11")
def _iprec11(view: View, rel: float | None = None) -> list[Step]:
    rows = _points(view, rel)
    levels = []
    for tenth in range(11):
        wanted, best = _at_level(view, rows, tenth / 10, rel)
        levels.append({"recall": tenth / 10, "wanted": wanted, "best from here": best})
    together = summed(column(levels, "best from here"))
    total = together.numbers["total"]
    return [_curve(view, rows, rel), Step("eleven", {}, levels), together, over("over eleven", total, 11)]


@explains("IAP")
def _iap(view: View, rel: float | None = None) -> list[Step]:
    rows = _points(view, rel)
    together = summed(column(rows, "best from here"))
    return [_curve(view, rows, rel), together, over("over n", together.numbers["total"], view.n_rel(rel))]


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


@explains("BreakEven")
def _break_even(view: View, rel: float | None = None) -> list[Step]:
    n = view.n_rel(rel)
    if not n or not len(view.at):
        return [Step("nothing to meet", {"n": n, "result": 0.0})]
    rows = _scores(view, rel)
    table = Step("score by score", {"n": n}, rows)
    for row in rows:
        if row["rank"] == n and row["found"]:
            numbers = {name: row[name] for name in ("rank", "found", "precision", "recall")}
            return [table, Step("they meet", {**numbers, "result": row["precision"]})]
    for one, two in pairwise(rows):
        if one["rank"] < n < two["rank"] and one["found"]:
            return [table, _crossing(one, two)]
    if not rows[0]["found"]:
        return [table, Step("both are 0", {"result": 0.0})]
    first = rows[0] if rows[0]["rank"] > n else rows[-1]
    key = "they have passed" if rows[0]["rank"] > n else "they do not meet"
    return [table, Step(key, {"n": n, **{name: first[name] for name in ("rank", "precision", "recall")}})]


def _crossing(one: Row, two: Row) -> Step:
    """Return the point where the lines of precision and recall between two scores cross."""
    p1, r1, p2, r2 = one["precision"], one["recall"], two["precision"], two["recall"]
    numbers = {"from": one["rank"], "to": two["rank"], "p1": p1, "r1": r1, "p2": p2, "r2": r2}
    return Step("they cross", {**numbers, "result": p1 + (p1 - r1) / (p1 - r1 - p2 + r2) * (p2 - p1)})


@explains("Precall")
def _precall(view: View, recall: float, rel: float | None = None) -> list[Step]:
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
