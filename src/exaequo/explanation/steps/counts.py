"""Counts: what the tables are made of."""

from __future__ import annotations

from exaequo.explanation.steps.parts import Step, contingency, explains
from exaequo.explanation.view import View


@explains("NumQ")
def _topics(view: View) -> list[Step]:
    return [Step("count topic", {"n": view.n_rel(), "result": 1.0})]


@explains("NumRet")
def _returned(view: View, rel: float | None = None) -> list[Step]:
    return _relevant_returned(view, rel) if rel is not None else _counted(view, None, "count returned")


@explains("NumRel")
def _relevant(view: View, rel: float | None = None) -> list[Step]:
    return _counted(view, rel, "count relevant")


@explains("NumRelRet")
def _relevant_returned(view: View, rel: float | None = None) -> list[Step]:
    return _counted(view, rel, "count both")


def _counted(view: View, rel: float | None, key: str) -> list[Step]:
    table = contingency(view, None, rel)
    found, returned, n = (table.numbers[name] for name in ("found", "returned", "n"))
    results = {"count returned": returned, "count relevant": found + (n - found), "count both": found}
    numbers = {"found": found, "other": returned - found, "missed": n - found}
    return [table, Step(key, {**numbers, "result": float(results[key])})]
