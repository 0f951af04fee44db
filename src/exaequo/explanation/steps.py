"""How a value comes about, measure by measure: a `View` in, `Step`s out. What the steps say is in the language files.

A step has a key, under which the sentence stands, the numbers in it, and perhaps a table, whose heads are keys too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exaequo.explanation.view import View
from exaequo.measures import Measure
from exaequo.measures.gain import discount, gain_of
from exaequo.measures.interpolated import best_from_here, least_found
from exaequo.measures.recall import mor_parts
from exaequo.measures.sets import f_measure
from exaequo.measures.subtopics import ideal_alpha_dcg, n_subtopics, relevant_pairs
from exaequo.measures.users import DEEPEST

Row = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One line of an explanation."""

    key: str
    numbers: dict[str, Any] = field(default_factory=dict)
    table: list[Row] = field(default_factory=list)


Explainer = Callable[..., list[Step]]
EXPLAINERS: dict[str, Explainer] = {}


def explains(*names: str) -> Callable[[Explainer], Explainer]:
    """Register the explanation of measures; it takes the view and the parameters of the measure."""

    def decorate(function: Explainer) -> Explainer:
        EXPLAINERS.update(dict.fromkeys(names, function))
        return function

    return decorate


def steps_of(measure: Measure, view: View) -> list[Step]:
    """Return the steps of a measure: its own, or those of its linear form, or none but the value."""
    about = measure.definition
    if about.name in EXPLAINERS:
        return EXPLAINERS[about.name](view, **measure.params)
    return _linear(measure, view, about.linear) if about.linear else []


def _linear(measure: Measure, view: View, form: Callable[..., Any]) -> list[Step]:
    """Gain times weight, document by document."""
    shape = form(view.ranking, **measure.params)
    gain, weight = (np.asarray(each, dtype=np.float64)[view.at] for each in (shape.gain, shape.weight))
    scale, offset = view.of(shape.scale), view.of(shape.offset)
    rows = [
        {"rank": int(rank), "document": name, "gain": float(g), "weight": float(w), "product": float(g * w)}
        for rank, name, g, w in zip(view.rank, view.docno, gain, weight, strict=True)
        if g * w
    ]
    total = float((gain * weight).sum())
    steps = [Step("terms", {"count": len(rows)}, rows), Step("sum", {"total": total})]
    if measure.definition.name in ("nDCG", "IDCG"):
        steps.append(_ideal(view, **{k: v for k, v in measure.params.items() if k in ("cutoff", "dcg", "gains")}))
    numbers = {"scale": scale, "total": total, "offset": offset}
    return [*steps, Step("scaled with offset" if offset else "scaled", numbers)]


def _ideal(view: View, cutoff: int | None = None, dcg: str = "log2", gains: Any = None) -> Step:
    grades = view.ranking.judgments.grade[view.ranking.judgments.topic == view.topic]
    gain = np.sort(gain_of(grades, dcg, gains))[::-1]
    gain = gain[gain > 0][: cutoff or len(gain)]
    rank = np.arange(1, len(gain) + 1)
    terms = gain / discount(rank, dcg)
    rows = [
        {"rank": int(r), "gain": float(g), "weight": float(1 / discount(np.array([r]), dcg)[0]), "product": float(t)}
        for r, g, t in zip(rank, gain, terms, strict=True)
    ]
    return Step("ideal", {"total": float(terms.sum())}, rows)


@explains("IDCG")
def _idcg(view: View, **params: Any) -> list[Step]:
    return [_ideal(view, **params)]


@explains("AP")
def _ap(view: View, cutoff: int | None = None, rel: float | None = None) -> list[Step]:
    rows = _hits(view, cutoff, rel)
    total = sum(row["precision"] for row in rows)
    n = view.n_rel(rel)
    return [
        Step("precision at each", {"found": len(rows), "n": n}, rows),
        Step("sum", {"total": total}),
        Step("over n", {"total": total, "n": n}),
    ]


def _hits(view: View, cutoff: int | None, rel: float | None) -> list[Row]:
    """The relevant documents with precision and recall at each."""
    n = view.n_rel(rel)
    rows: list[Row] = []
    for rank, name, relevant in zip(view.rank.tolist(), view.docno, view.relevant(rel), strict=True):
        if relevant and (cutoff is None or rank <= cutoff):
            found = len(rows) + 1
            rows.append({"rank": rank, "document": name, "precision": found / rank, "recall": found / n})
    return rows


@explains("RR")
def _rr(view: View, cutoff: int | None = None, rel: float | None = None) -> list[Step]:
    rows = _hits(view, cutoff, rel)[:1]
    return [Step("first relevant", {"rank": rows[0]["rank"]}, rows)] if rows else [Step("none relevant")]


@explains("Success")
def _success(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    return [Step("found in first", {"found": len(_hits(view, cutoff, rel)), "cutoff": cutoff})]


@explains("SetP", "SetR", "SetF")
def _sets(view: View, rel: float | None = None, beta: float = 1.0) -> list[Step]:
    found, n, returned = len(_hits(view, None, rel)), view.n_rel(rel), len(view.at)
    rows = [{"relevant and returned": found, "returned only": returned - found, "relevant only": n - found}]
    numbers = {"found": found, "returned": returned, "n": n, "beta": beta}
    numbers |= {"p": found / returned if returned else 0.0, "r": found / n if n else 0.0}
    return [Step("contingency", {}, rows), Step("set figures", numbers)]


@explains("NumQ", "NumRet", "NumRel", "NumRelRet")
def _counts(view: View, rel: float | None = None) -> list[Step]:
    numbers = {"returned": len(view.at), "n": view.n_rel(rel), "found": len(_hits(view, None, rel))}
    return [Step("counted", numbers)]


@explains("ERR")
def _err(view: View, cutoff: int | None = None, max_rel: float = 4.0) -> list[Step]:
    rows, looking, total = [], 1.0, 0.0
    for rank, name, grade in zip(view.rank.tolist(), view.docno, view.grade.tolist(), strict=True):
        if grade > 0 and (cutoff is None or rank <= cutoff):
            stop = (2.0**grade - 1) / 2.0**max_rel
            term = looking * stop / rank
            total += term
            rows.append({"rank": rank, "document": name, "stops": stop, "still looking": looking, "product": term})
            looking *= 1 - stop
    return [Step("stopping", {"max_rel": max_rel}, rows), Step("sum", {"total": total})]


def _points(view: View, rel: float | None) -> list[Row]:
    rows = _hits(view, None, rel)
    best = best_from_here(np.array([row["precision"] for row in rows]), np.zeros(len(rows), dtype=np.int64))
    return [row | {"best from here": float(value)} for row, value in zip(rows, best, strict=True)]


def _at_level(view: View, rows: list[Row], level: float, rel: float | None) -> float:
    least = max(int(least_found(level, np.array([view.n_rel(rel)]))[0]), 1)
    return rows[least - 1]["best from here"] if len(rows) >= least else 0.0


@explains("IPrec")
def _iprec(view: View, recall: float, rel: float | None = None) -> list[Step]:
    rows = _points(view, rel)
    best = _at_level(view, rows, recall, rel)
    return [Step("interpolated", {}, rows), Step("at level", {"level": recall, "best": best})]


@explains("IPrec11")
def _iprec11(view: View, rel: float | None = None) -> list[Step]:
    rows = _points(view, rel)
    levels = [{"recall": tenth / 10, "best from here": _at_level(view, rows, tenth / 10, rel)} for tenth in range(11)]
    total = sum(row["best from here"] for row in levels)
    return [Step("interpolated", {}, rows), Step("eleven", {"total": total}, levels)]


@explains("IAP")
def _iap(view: View, rel: float | None = None) -> list[Step]:
    rows = _points(view, rel)
    total = sum(row["best from here"] for row in rows)
    return [
        Step("interpolated", {}, rows),
        Step("sum", {"total": total}),
        Step("over n", {"total": total, "n": view.n_rel(rel)}),
    ]


@explains("BreakEven")
def _break_even(view: View, rel: float | None = None) -> list[Step]:
    tie, relevant, n = view.ranking.tie[view.at], view.relevant(rel), view.n_rel(rel)
    last = np.append(tie[1:] != tie[:-1], True)[: len(tie)]
    found = np.cumsum(relevant)
    rows = [
        {"rank": int(view.rank[at]), "precision": found[at] / view.rank[at], "recall": found[at] / n if n else 0.0}
        for at in np.flatnonzero(last)
    ]
    return [Step("score by score", {"n": n}, rows)]


@explains("Precall")
def _precall(view: View, recall: float, rel: float | None = None) -> list[Step]:
    wanted = max(int(least_found(recall, np.array([view.n_rel(rel)]))[0]), 1)
    groups = view.ranking.groups
    inside, above = groups.counts(view.ranking.relevant(rel))
    for at in np.flatnonzero(groups.topic == view.topic):
        if above[at] < wanted <= above[at] + inside[at]:
            others = int(groups.size[at] - inside[at])
            before = int(groups.before[at] - above[at])
            needed = int(wanted - above[at])
            read = before + needed * others / (int(inside[at]) + 1)
            numbers = {
                "wanted": wanted,
                "before": before,
                "needed": needed,
                "others": others,
                "inside": int(inside[at]),
            }
            return [Step("search length", numbers | {"read": read})]
    return [Step("not reached", {"wanted": wanted})]


@explains("PRES")
def _pres(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    ranks, n = [row["rank"] for row in _hits(view, cutoff, rel)], view.n_rel(rel)
    missing = [cutoff + i for i in range(len(ranks) + 1, n + 1)]
    rows = [{"rank": rank, "found": True} for rank in ranks] + [{"rank": rank, "found": False} for rank in missing]
    total = sum(ranks) + sum(missing)
    return [
        Step("ranks", {"found": len(ranks), "n": n, "cutoff": cutoff}, rows),
        Step("pres", {"total": total, "n": n, "cutoff": cutoff, "best": (n + 1) / 2}),
    ]


@explains("MOR")
def _mor(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    parts = mor_parts(view.ranking, cutoff, rel)
    names = ("h", "w", "ap", "ap0", "ap1", "g_hw", "g_h")
    numbers = {name: view.of(getattr(parts, name)) for name in names}
    n = view.n_rel(rel)
    if not numbers["h"]:
        return [Step("none relevant")]
    return [
        Step("precision at each", {"found": int(numbers["h"]), "n": n}, _hits(view, cutoff, rel)),
        Step("mor parts", numbers),
        Step("mor", numbers | {"best": min(n, cutoff), "cutoff": cutoff}),
    ]


@explains("FAP")
def _fap(view: View, cutoff: int | None = None, rel: float | None = None, beta: float = 1.0) -> list[Step]:
    rows, n = _hits(view, cutoff, rel), view.n_rel(rel)
    ap = sum(row["precision"] for row in rows) / n if n else 0.0
    recall = len(rows) / n if n else 0.0
    value = float(f_measure(np.array([ap]), np.array([recall]), beta)[0])
    numbers = {"ap": ap, "r": recall, "beta": beta, "f": value}
    return [Step("precision at each", {"found": len(rows), "n": n}, rows), Step("fap", numbers)]


@explains("WSS")
def _wss(view: View, recall: float, docs: int | None = None, rel: float | None = None) -> list[Step]:
    wanted = int(least_found(recall, np.array([view.n_rel(rel)]))[0])
    rows = _hits(view, None, rel)
    reached = rows[wanted - 1]["rank"] if 0 < wanted <= len(rows) else None
    size = docs or len(view.at)
    numbers = {"wanted": wanted, "size": size, "recall": recall, "read": reached if reached is not None else size}
    return [Step("work saved" if reached is not None else "work not saved", numbers)]


@explains("LastRel")
def _last(view: View, docs: int, rel: float | None = None) -> list[Step]:
    rows, n = _hits(view, None, rel), view.n_rel(rel)
    if not rows or len(rows) < n:
        return [Step("not all found", {"found": len(rows), "n": n, "docs": docs})]
    return [Step("last relevant", {"n": n, "rank": rows[-1]["rank"]})]


@explains("PDoc")
def _pdoc(view: View, doc: str, rel: float | None = None) -> list[Step]:
    if doc not in view.docno:
        return [Step("not returned", {"document": doc})]
    rank = view.docno.index(doc) + 1
    return [Step("at document", {"document": doc, "rank": rank, "found": int(view.relevant(rel)[:rank].sum())})]


@explains("Bpref")
def _bpref(view: View, rel: float | None = None) -> list[Step]:
    n, all_others = view.n_rel(rel), int(view.ranking.judgments.nonrelevant(rel)[view.topic])
    most, above, rows = min(n, all_others), 0, []
    columns = zip(view.rank.tolist(), view.docno, view.relevant(rel), view.judged, view.grade, strict=True)
    for rank, name, relevant, judged, grade in columns:
        if relevant:
            term = 1 - min(above, n) / most if most else 1.0
            rows.append({"rank": rank, "document": name, "above": above, "product": term})
        elif judged and grade >= 0:
            above += 1
    total = sum(row["product"] for row in rows)
    return [
        Step("nonrelevant above", {"most": most}, rows),
        Step("sum", {"total": total}),
        Step("over n", {"total": total, "n": n}),
    ]


@explains("infAP")
def _infap(view: View, rel: float | None = None) -> list[Step]:
    epsilon, n, rows = 0.00001, view.n_rel(rel), []
    found = others = pooled = 0
    columns = zip(view.rank.tolist(), view.docno, view.relevant(rel), view.judged, view.grade, strict=True)
    for rank, name, relevant, judged, grade in columns:
        if relevant:
            known = found + others
            share = (found + epsilon) / (known + 2 * epsilon)
            term = 1.0 if rank == 1 else 1 / rank + (known + pooled) / rank * share
            above = {"judged above": known, "relevant above": found}
            rows.append({"rank": rank, "document": name, **above, "product": term})
            found += 1
        elif judged and grade < 0:
            pooled += 1
        elif judged:
            others += 1
    total = sum(row["product"] for row in rows)
    return [
        Step("inferred precision", {}, rows),
        Step("sum", {"total": total}),
        Step("over n", {"total": total, "n": n}),
    ]


@explains("INST")
def _inst(view: View, T: float = 1.0, max_rel: float = 4.0) -> list[Step]:  # noqa: N803 - the name of the parameter
    grades = dict(zip(view.rank.tolist(), np.maximum(view.grade, 0.0).tolist(), strict=True))
    weight, found, everything = 1.0, 0.0, 0.0
    rows: list[Row] = []
    for rank in range(1, DEEPEST + 1):
        gain = grades.get(rank, 0.0) / max_rel
        everything += weight
        found += gain
        if gain:
            rows.append({"rank": rank, "document": view.docno[rank - 1], "gain": gain, "weight": weight})
        weight *= ((rank + 2 * T - found - 1) / (rank + 2 * T - found)) ** 2
    for row in rows:
        row["weight"] /= everything
        row["product"] = row["gain"] * row["weight"]
    return [Step("reader weights", {"T": T}, rows), Step("sum", {"total": sum(row["product"] for row in rows)})]


@explains("BPM")
def _bpm(view: View, cutoff: int, T: float = 1.0, max_rel: float = 4.0) -> list[Step]:  # noqa: N803 - as above
    found, stop, rows = 0.0, cutoff, []
    for rank, name, grade in zip(view.rank.tolist(), view.docno, view.grade.tolist(), strict=True):
        if grade > 0 and rank <= cutoff:
            found += grade / max_rel
            rows.append({"rank": rank, "document": name, "gain": grade / max_rel, "so far": found})
            if found >= T * (1 - 1e-12):
                stop = rank
                break
    numbers = {"T": T, "cutoff": cutoff, "stop": stop}
    return [Step("reader stops", numbers, rows), Step("per document", {"found": found, "stop": stop})]


@explains("Compat")
def _compat(view: View, p: float = 0.95, **_: Any) -> list[Step]:
    gainful = [at for at in range(len(view.at)) if view.judged[at] and view.grade[at] > 0]
    order = sorted(gainful, key=lambda at: (-view.grade[at], at))
    rows = []
    for at in order:
        same = [other for other in order if view.grade[other] == view.grade[at]]
        ideal = int((view.ideal > view.grade[at]).sum()) + same.index(at) + 1
        ranks = {"rank": at + 1, "ideal rank": ideal, "in both from": max(at + 1, ideal)}
        rows.append({"document": view.docno[at], **ranks})
    return [Step("two lists", {"p": p, "n": len(view.ideal)}, rows)]


@explains("alpha_nDCG", "ERR_IA", "StRecall")
def _subtopics(view: View, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> list[Step]:
    judgments, ranking = view.ranking.judgments, view.ranking
    top = view.at[(view.rank <= cutoff) & view.judged]
    at, pairs = relevant_pairs(ranking, top, rel)
    seen: dict[int, int] = {}
    rows = []
    for place, pair in zip(at.tolist(), pairs.tolist(), strict=True):
        subtopic = int(judgments.subtopics.subtopic[pair])
        times = seen.get(subtopic, 0)
        seen[subtopic] = times + 1
        name = view.docno[int(np.flatnonzero(view.at == place)[0])]
        gain = (1 - alpha) ** times
        rank = int(ranking.rank[place])
        rows.append({"rank": rank, "document": name, "subtopic": subtopic, "seen": times, "gain": gain})
    numbers = {
        "alpha": alpha,
        "all": view.of(n_subtopics(judgments, rel)),
        "covered": len(seen),
        "ideal": view.of(ideal_alpha_dcg(judgments, cutoff, alpha, rel)),
    }
    return [Step("subtopics", numbers, rows)]
