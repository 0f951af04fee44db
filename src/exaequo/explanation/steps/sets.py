"""Sets: the first k documents, or all of them, against the relevant ones."""

from __future__ import annotations

from collections.abc import Callable

from exaequo.explanation.steps.parts import Step, contingency, explains, f_step, of, one_minus, over
from exaequo.explanation.view import View


def _precision(found: int, table: Step) -> list[Step]:
    """Found over k; a list shorter than k is divided by k all the same."""
    cutoff, returned = table.numbers["cutoff"], table.numbers["returned"]
    numbers = {"returned": returned, "cutoff": cutoff}
    short = [Step("short list", numbers)] if cutoff is not None and returned < cutoff else []
    return [*short, over("precision", found, returned if cutoff is None else cutoff)]


def _recall(found: int, table: Step) -> list[Step]:
    return [over("recall", found, table.numbers["n"])]


def _two_by_two(view: View, cutoff: int | None, rel: float | None, *parts: Callable[..., list[Step]]) -> list[Step]:
    """Return the table, and what is made of it."""
    table = contingency(view, cutoff, rel)
    return [table, *(step for part in parts for step in part(table.numbers["found"], table))]


@explains("P", "SetP")
def _p(view: View, cutoff: int | None = None, rel: float | None = None) -> list[Step]:
    return _two_by_two(view, cutoff, rel, _precision)


@explains("R", "SetR")
def _r(view: View, cutoff: int | None = None, rel: float | None = None) -> list[Step]:
    return _two_by_two(view, cutoff, rel, _recall)


@explains("Noise")
def _noise(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    steps = _p(view, cutoff, rel)
    return [*steps, one_minus(steps[-1])]


@explains("Silence")
def _silence(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    steps = _r(view, cutoff, rel)
    return [*steps, one_minus(steps[-1])]


@explains("F", "SetF")
def _f(view: View, cutoff: int | None = None, rel: float | None = None, beta: float = 1.0) -> list[Step]:
    steps = _two_by_two(view, cutoff, rel, _precision, _recall)
    return [*steps, f_step(of(steps[-2]), of(steps[-1]), beta)]


@explains("E")
def _e(view: View, cutoff: int, rel: float | None = None, beta: float = 1.0) -> list[Step]:
    steps = _f(view, cutoff, rel, beta)
    return [*steps, one_minus(steps[-1])]


@explains("Success")
def _success(view: View, cutoff: int, rel: float | None = None) -> list[Step]:
    table = contingency(view, cutoff, rel)
    found = table.numbers["found"]
    return [table, Step("success", {"found": found, "cutoff": cutoff, "result": float(min(found, 1))})]
