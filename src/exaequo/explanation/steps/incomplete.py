"""Incomplete judgments: what was not judged is not taken for irrelevant."""

from __future__ import annotations

from exaequo.explanation.steps.parts import Fine, Step, column, explains, listed, over, summed
from exaequo.explanation.view import View

#: Smoothing of infAP, by its definition.
EPSILON = 0.00001


@explains("Bpref")
def _bpref(view: View, rel: float | None = None) -> list[Step]:
    n, all_others = view.n_rel(rel), int(view.ranking.judgments.nonrelevant(rel)[view.topic])
    most, above, rows = min(n, all_others), 0, []
    for line in view.lines(None, rel):
        if line.relevant:
            term = 1 - min(above, n) / most if most else 1.0
            rows.append({"rank": line.rank, "document": line.document, "above": above, "term": term})
        elif line.judged and line.grade >= 0:
            above += 1
    together = summed(column(rows, "term"))
    numbers = {"n": n, "others": all_others, "most": most}
    table = listed("nonrelevant above" if most else "none nonrelevant", rows, numbers)
    return [table, together, over("over n", together.numbers["total"], n)]


@explains("infAP")
def _infap(view: View, rel: float | None = None) -> list[Step]:
    rows, found, others, pooled = [], 0, 0, 0
    for line in view.lines(None, rel):
        if line.relevant:
            known = found + others
            share = (found + EPSILON) / (known + 2 * EPSILON)
            term = 1.0 if line.rank == 1 else 1 / line.rank + (known + pooled) / line.rank * share
            above = {"pooled above": known + pooled, "judged above": known, "relevant above": found}
            rows.append({"rank": line.rank, "document": line.document, **above, "term": term})
            found += 1
        elif line.judged and line.grade < 0:
            pooled += 1
        elif line.judged:
            others += 1
    n, together = view.n_rel(rel), summed(column(rows, "term"))
    together.numbers["total"] = Fine(together.numbers["total"])  # so near a whole number that six digits hide it
    table = listed("inferred precision", rows, {"epsilon": f"{EPSILON:f}".rstrip("0"), "n": n})
    return [table, together, over("over n", together.numbers["total"], n)]


@explains("Judged")
def _judged(view: View, cutoff: int | None = None) -> list[Step]:
    lines = view.lines(cutoff)
    judged = sum(line.judged for line in lines)
    table = [{"judged": judged, "not judged": len(lines) - judged, "total": len(lines)}]
    return [Step("judged ones", {"cutoff": cutoff}, table), over("judged share", judged, len(lines))]


@explains("RBPRes")
def _rbpres(view: View, p: float = 0.8) -> list[Step]:
    lines = view.lines()
    rows = [
        {"rank": line.rank, "document": line.document, "weight": p ** (line.rank - 1)}
        for line in lines
        if not line.judged or line.grade < 0
    ]
    together = summed(column(rows, "weight"))
    total, returned = together.numbers["total"], len(lines)
    result = (1 - p) * total + p**returned
    return [
        listed("not known", rows, {"p": p}, "all known" if lines else "nothing listed"),
        together,
        Step("residual", {"p": p, "total": total, "returned": returned, "result": result}),
    ]
