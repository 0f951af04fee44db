"""Gains by grade, discounted by rank."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2
from typing import Any

from exaequo.explanation.steps.parts import Plain, Row, Step, column, explains, listed, over, summed
from exaequo.explanation.view import View

Gains = Mapping[float, float]


def _gain(grade: float, dcg: str, gains: Gains | None) -> float:
    gain = max((gains or {}).get(grade, grade), 0.0)
    return 2.0**gain - 1 if dcg == "exp-log2" else float(gain)


def _discount(rank: int, dcg: str) -> float:
    return log2(max(rank, 2)) if dcg == "jk" else log2(rank + 1)


def _rule(dcg: str) -> dict[str, Plain]:
    """Return gain and discount as they are written; `g` is the grade, or what gains= gives for it."""
    return {
        "gain": Plain("2^g − 1" if dcg == "exp-log2" else "g"),
        "discount": Plain("log2(max(i, 2))" if dcg == "jk" else "log2(i + 1)"),
    }


def _row(rank: int, gain: float, dcg: str, **more: Any) -> Row:
    discount = _discount(rank, dcg)
    return {"rank": rank, **more, "gain": gain, "discount": discount, "quotient": gain / discount}


def _own(view: View, cutoff: int | None, dcg: str, gains: Gains | None) -> tuple[Step, Step]:
    """Return the gains of the list, and their sum."""
    rows = [
        _row(line.rank, gain, dcg, document=line.document, judgment=line.grade)
        for line in view.lines(cutoff)
        if line.judged and (gain := _gain(line.grade, dcg, gains)) > 0
    ]
    return listed("gains", rows, {**_rule(dcg), "cutoff": cutoff}, "no gains"), summed(column(rows, "quotient"))


def _ideal(view: View, cutoff: int | None, dcg: str, gains: Gains | None) -> tuple[Step, Step]:
    """Return the gains of the ideal list, and their sum."""
    best = sorted(((_gain(grade, dcg, gains), grade, name) for grade, name in view.judged), reverse=True)
    top = [each for each in best if each[0] > 0][:cutoff]
    rows = [_row(rank, gain, dcg, document=name, judgment=grade) for rank, (gain, grade, name) in enumerate(top, 1)]
    return listed("ideal", rows, _rule(dcg), "no ideal"), summed(column(rows, "quotient"))


def _as_result(steps: tuple[Step, Step]) -> list[Step]:
    table, together = steps
    return [table, Step(together.key, {**together.numbers, "result": together.numbers["total"]})]


@explains("DCG")
def _dcg(view: View, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> list[Step]:
    return _as_result(_own(view, cutoff, dcg, gains))


@explains("IDCG")
def _idcg(view: View, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> list[Step]:
    return _as_result(_ideal(view, cutoff, dcg, gains))


@explains("nDCG")
def _ndcg(view: View, cutoff: int | None = None, dcg: str = "log2", gains: Gains | None = None) -> list[Step]:
    own, ideal = _own(view, cutoff, dcg, gains), _ideal(view, cutoff, dcg, gains)
    return [*own, *ideal, over("dcg over ideal", own[1].numbers["total"], ideal[1].numbers["total"])]


@explains("NCG")
def _ncg(view: View, cutoff: int) -> list[Step]:
    rows = [
        {"rank": line.rank, "document": line.document, "gain": line.grade}
        for line in view.lines(cutoff)
        if line.judged and line.grade > 0
    ]
    best = [(grade, name) for grade, name in view.judged if grade > 0][:cutoff]
    ideal = [{"rank": rank, "document": name, "gain": grade} for rank, (grade, name) in enumerate(best, 1)]
    own_sum, ideal_sum = summed(column(rows, "gain")), summed(column(ideal, "gain"))
    return [
        listed("plain gains", rows, {"cutoff": cutoff}, "no gains"),
        own_sum,
        listed("plain ideal", ideal, {}, "no ideal"),
        ideal_sum,
        over("gain over ideal", own_sum.numbers["total"], ideal_sum.numbers["total"]),
    ]


@explains("SDCG")
def _sdcg(view: View, cutoff: int, max_rel: float = 4.0) -> list[Step]:
    own = _own(view, cutoff, "log2", None)
    weights = summed([1 / _discount(rank, "log2") for rank in range(1, cutoff + 1)])
    total, weight = own[1].numbers["total"], weights.numbers["total"]
    best = {"max_rel": max_rel, "cutoff": cutoff, "weight": weight, "terms": weights.numbers["terms"]}
    return [
        *own,
        Step("scale end", {**best, "best": max_rel * weight}),
        over("dcg over scale", total, max_rel * weight, **best),
    ]


@explains("ERR")
def _err(view: View, cutoff: int | None = None, max_rel: float = 4.0) -> list[Step]:
    rows, looking = [], 1.0
    for line in view.lines(cutoff):
        if line.judged and line.grade > 0:
            stop = (2.0**line.grade - 1) / 2.0**max_rel
            chances = {"stops": stop, "still looking": looking, "term": looking * stop / line.rank}
            rows.append({"rank": line.rank, "document": line.document, "judgment": line.grade, **chances})
            looking *= 1 - stop
    return [
        listed("stopping", rows, {"max_rel": max_rel, "cutoff": cutoff}, "no gains"),
        summed(column(rows, "term"), last=True),
    ]


@explains("Compat")
def _compat(view: View, p: float = 0.95, normalize: bool = True) -> list[Step]:
    gains = [grade for grade in view.grades if grade > 0]
    n, depth = len(gains), max(len(view.at), len(gains))
    so_far = [0.0]
    for d in range(1, depth + 1):
        so_far.append(so_far[-1] + p ** (d - 1) / d)
    rows = []
    for place in _ideal_places(view, gains):
        both = max(place["rank"], place["ideal rank"])
        rows.append({**place, "in both from": both, "term": so_far[depth] - so_far[both - 1]})
    own = summed(column(rows, "term"))
    steps = [listed("two lists", rows, {"n": n, "p": p, "depth": depth}, "no gains"), own]
    total = own.numbers["total"]
    if not normalize:
        below = 1 - p**depth
        return [*steps, over("rbo", total * (1 - p), below, total=total, p=p, depth=depth)]
    ideal = [{"rank": i, "term": so_far[depth] - so_far[i - 1]} for i in range(1, n + 1)]
    best = summed(column(ideal, "term"))
    final = over("over itself", total, best.numbers["total"])
    return [*steps, listed("ideal with itself", ideal, {"depth": depth}, "no ideal"), best, final]


def _ideal_places(view: View, gains: list[float]) -> list[Row]:
    """Return the documents with a gain, with their rank in the ideal list: equal ones in the order of the list."""
    places = []
    lines = [line for line in view.lines() if line.judged and line.grade > 0]
    taken: dict[float, int] = {}
    for line in lines:
        taken[line.grade] = taken.get(line.grade, 0) + 1
        better = sum(grade > line.grade for grade in gains)
        ranks = {"rank": line.rank, "ideal rank": better + taken[line.grade]}
        places.append({"document": line.document, "judgment": line.grade, **ranks})
    return places
