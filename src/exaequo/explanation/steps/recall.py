"""Recall-oriented measures: where all relevant documents stand, the missing ones too."""

from __future__ import annotations

from exaequo.explanation.steps.parts import (
    Fine,
    Row,
    Step,
    column,
    cut,
    explains,
    f_step,
    fractions,
    hits,
    least,
    of,
    over,
    precision_at_each,
    summed,
    written,
)
from exaequo.explanation.view import View


def _ranks(found: list[Row], missing: list[int]) -> list[Row]:
    """Return the ranks of all relevant documents; those that are missing have no name."""
    rows: list[Row] = [{"rank": row["rank"], "document": row["document"], "returned": True} for row in found]
    return rows + [{"rank": rank, "document": None, "returned": False} for rank in missing]


@explains("RNorm")
def _rnorm(view: View, docs: int, rel: float | None = None) -> list[Step]:
    found, n = hits(view, None, rel), view.n_rel(rel)
    if n in (0, docs):
        return [Step("all relevant" if n else "none relevant", {"n": n, "result": float(n > 0)})]
    rows = _ranks(found, list(range(docs - (n - len(found)) + 1, docs + 1)))
    together, best = summed(column(rows, "rank")), n * (n + 1) / 2
    total = together.numbers["total"]
    numbers = {"total": total, "best": best, "n": n, "docs": docs}
    return [
        Step("ranks in collection", {"n": n, "docs": docs}, rows),
        together,
        Step("rnorm", {**numbers, "result": 1 - (total - best) / (n * (docs - n))}),
    ]


@explains("PRES")
def _pres(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    found, n = hits(view, cutoff, rel), view.n_rel(rel)
    if not n:
        return [Step("none relevant", {"n": n, "result": 0.0})]
    rows = _ranks(found, [cutoff + i for i in range(len(found) + 1, n + 1)])
    together, best = summed(column(rows, "rank")), (n + 1) / 2
    total = together.numbers["total"]
    numbers = {"total": total, "n": n, "cutoff": cutoff, "best": best}
    return [
        Step("ranks", {"found": len(found), "n": n, "cutoff": cutoff}, rows),
        together,
        Step("pres", {**numbers, "result": 1 - (total / n - best) / cutoff}),
    ]


@explains("MOR")
def _mor(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    rows, n = hits(view, cutoff, rel), view.n_rel(rel)
    if not rows:
        return [Step(cut("none relevant", cutoff), {"n": n, "cutoff": cutoff, "result": 0.0})]
    h, w = len(rows), rows[-1]["rank"]
    ap = sum(column(rows, "precision")) / n
    ap0 = sum(i / (w - h + i) for i in range(1, h + 1)) / n
    ap1 = (h - 1 + h / w) / n
    alone = h in (1, w)
    g_hw = ap if alone else (ap - ap0) / (ap1 - ap0)
    g_h = (cutoff - w + g_hw) / (cutoff - h + 1)
    averages = {"ap": Fine(ap), "ap0": Fine(ap0), "ap1": Fine(ap1), "g_hw": Fine(g_hw), "g_h": Fine(g_h)}
    numbers = {"h": h, "w": w, **averages, "n": n, "cutoff": cutoff}
    worst = written([f"{i}/{w - h + i}" for i in range(1, h + 1)])
    best = min(n, cutoff)
    return [
        precision_at_each(view, rows, rel, cutoff),
        Step("mor parts", {**numbers, "terms": written(fractions(rows)), "worst": worst}),
        Step("mor ap alone" if alone else "mor ap", numbers),
        Step("mor last", numbers),
        Step("mor", {**numbers, "best": best, "result": (h + g_h) / (best + 1)}),
    ]


@explains("FAP")
def _fap(view: View, cutoff: int | None = None, rel: float | None = None, beta: float = 1.0) -> list[Step]:
    rows, n = hits(view, cutoff, rel), view.n_rel(rel)
    together = summed(column(rows, "precision"), fractions(rows))
    ap, recall = over("over n", together.numbers["total"], n), over("recall", len(rows), n)
    return [
        precision_at_each(view, rows, rel, cutoff),
        together,
        ap,
        recall,
        f_step(of(ap), of(recall), beta, "f of ap"),
    ]


@explains("WSS")
def _wss(view: View, recall: float, docs: int | None = None, rel: float | None = None) -> list[Step]:
    n, size, rows = view.n_rel(rel), docs or len(view.at), hits(view, None, rel)
    wanted = least(recall, n)
    numbers = {"wanted": wanted, "n": n, "size": size, "recall": recall}
    if n and not wanted:
        return [Step("work all saved", {**numbers, "result": 1 - (1 - recall)})]
    if not size or not 0 < wanted <= len(rows):
        return [Step("work not saved", {**numbers, "result": 0 - (1 - recall)})]
    read = rows[wanted - 1]["rank"]
    return [
        Step("found so far", {"found": wanted, "n": n}, rows[:wanted]),
        Step("work", {**numbers, "read": read}),
        Step("work saved", {**numbers, "read": read, "result": (size - read) / size - (1 - recall)}),
    ]


@explains("LastRel")
def _last(view: View, docs: int, rel: float | None = None) -> list[Step]:
    rows, n = hits(view, None, rel), view.n_rel(rel)
    if not rows or len(rows) < n:
        return [Step("not all found", {"found": len(rows), "n": n, "docs": docs, "result": float(docs)})]
    last = rows[-1]
    found = precision_at_each(view, rows, rel)
    return [found, Step("last relevant", {"n": n, "document": last["document"], "result": float(last["rank"])})]
