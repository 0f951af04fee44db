"""Where the relevant documents stand."""

from __future__ import annotations

from exaequo.explanation.steps.parts import (
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
)
from exaequo.explanation.view import View


@explains("AP")
def _ap(view: View, cutoff: int | None = None, rel: float | None = None) -> list[Step]:
    rows = hits(view, cutoff, rel)
    together = summed(column(rows, "precision"), fractions(rows))
    return [
        precision_at_each(view, rows, rel, cutoff),
        together,
        over("over n", together.numbers["total"], view.n_rel(rel)),
    ]


@explains("RR")
def _rr(view: View, cutoff: int | None = None, rel: float | None = None) -> list[Step]:
    rows = hits(view, cutoff, rel)[:1]
    if not rows:
        return [Step(cut("none relevant", cutoff), {"n": view.n_rel(rel), "cutoff": cutoff, "result": 0.0})]
    rank = rows[0]["rank"]
    return [Step("first relevant", {"rank": rank, "document": rows[0]["document"], "result": 1 / rank})]


@explains("Rprec")
def _rprec(view: View, rel: float | None = None) -> list[Step]:
    n = view.n_rel(rel)
    if not n:
        return [Step("none relevant", {"n": n, "result": 0.0})]
    table = contingency(view, n, rel)
    return [table, over("r precision", table.numbers["found"], n)]


@explains("PDoc")
def _pdoc(view: View, doc: str, rel: float | None = None) -> list[Step]:
    if doc not in view.docno:
        return [Step("not returned", {"document": doc})]
    rank = view.docno.index(doc) + 1
    rows = hits(view, rank, rel)
    return [precision_at_each(view, rows, rel, rank), over("at document", len(rows), rank, document=doc)]


@explains("RBP")
def _rbp(view: View, cutoff: int | None = None, p: float = 0.8, rel: float | None = None) -> list[Step]:
    rows = [
        {"rank": line.rank, "document": line.document, "weight": p ** (line.rank - 1)}
        for line in view.lines(cutoff, rel)
        if line.relevant
    ]
    together = summed(column(rows, "weight"))
    total = together.numbers["total"]
    numbers = {"n": view.n_rel(rel), "p": p, "cutoff": cutoff}
    return [
        listed("reader goes on", rows, numbers),
        together,
        Step("rbp", {"p": p, "total": total, "result": (1 - p) * total}),
    ]
