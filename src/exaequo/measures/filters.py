"""Measures of a selection: the documents of a list whose score is at least a threshold, with no regard to their order.

Documents tied in score are selected together or not at all, so that no tie decides anything. Each function also takes
the `Tables` of a selection, in place of a ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from exaequo.arrays import Floats
from exaequo.choices import THRESHOLD
from exaequo.measures.moments import unchanged
from exaequo.measures.parameters import Parameter
from exaequo.measures.registry import F, define
from exaequo.measures.selection import T9_TARGET, T11_FLOOR, Tables
from exaequo.measures.sets import CLEVERDON, RIJSBERGEN
from exaequo.measures.steps import Explainer, Given, Step, Terms, crosstab
from exaequo.measures.view import View
from exaequo.order import Ranking

Selection = Ranking | Tables
_HULL = (
    "D. A. Hull: The TREC-7 filtering track: description and analysis, 1998; D. A. Hull, S. Robertson: The TREC-8 "
    "filtering track final report, 1999"
)
_NOTHING = "nothing is relevant"
_ONE_THEME = (
    "its best value depends on how many documents are relevant, so that the utilities of several topics are not to be "
    "averaged; NUtility, HullU and T11SU can be"
)


def _above_0(value: object) -> bool:
    return _finite(value) and value > 0  # type: ignore[operator]


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


_T = {"t": Parameter("scores from here on are selected", _finite, "a number")}
_WORTH = {
    "u_rel": Parameter("what a relevant document that is selected is worth", _above_0, "a number > 0"),
    "u_nonrel": Parameter("what another one that is selected is worth", _finite, "a number"),
    **_T,
}
_LOSS = {
    **_WORTH,
    "u_nonrel": Parameter(
        "what another one that is selected is worth", lambda v: _finite(v) and v < 0, "a number below 0"
    ),
    "s": Parameter("so many documents wrongly selected are the worst that counts", _above_0, "a number > 0"),
}


def tables_at(selection: Selection, t: float) -> Tables:
    """Return the tables of what is selected; `d` is unknown, as no list tells how many documents there are."""
    if isinstance(selection, Tables):
        return selection
    ranking = selection
    chosen = ranking.lines.sim[ranking.line] >= t
    relevant = ranking.relevant()
    a, b = (ranking.total(ranking.topic[chosen & kind]) for kind in (relevant, ~relevant))
    return Tables(a, b, ranking.n_rel() - a, np.full(ranking.n_topics, np.nan))


# ------------------------------------------------------------------------------------------------------- explanations


def share_step(key: str, name: str, above: int, below: int, cells: Mapping[str, Any], otherwise: float | None) -> Step:
    """Return a share, and what is missing to 1; `otherwise`, or no value, where it is one of nothing."""
    result = above / below if below else otherwise
    numbers = {"figure": name, **cells, "above": above, "below": below}
    known = {} if result is None else {"rest": 1 - result, "result": result}
    return Step(key if below else f"{key} of nothing", {**numbers, **known})


def precision_step(a: int, b: int, c: int) -> Step:
    """Return precision."""
    return share_step("filter precision", "precision", a, a + b, {"a": a, "b": b, "c": c}, 1.0)


def recall_step(a: int, b: int, c: int) -> Step:
    """Return recall."""
    return share_step("filter recall", "recall", a, a + c, {"a": a, "b": b, "c": c}, None)


def f_step(a: int, b: int, c: int, beta: float) -> Step:
    """Return F(β) of the counts."""
    weighted = (1 + beta**2) * a
    below = weighted + beta**2 * c + b
    numbers = {"figure": "F", "a": a, "b": b, "c": c, "beta": beta}
    if not a + c:
        return Step("filter f undefined", numbers)
    result = weighted / below if below else 0.0
    return Step("filter f" if below else "filter f of nothing", {**numbers, "rest": 1 - result, "result": result})


def utility_step(worth: tuple[float, ...], cells: tuple[int | None, ...]) -> Step:
    """Return the utility, written as the sum it is."""
    known = [(each, cell) for each, cell in zip(worth, cells, strict=False) if cell is not None]
    value = float(sum(each * cell for each, cell in known))
    return Step("filter utility", {"figure": "utility", "terms": written(worth, cells), "result": value})


def normalised_step(utility: float, worth: tuple[float, ...], cells: tuple[int, int, int, int | None]) -> Step:
    """Return the utility over its best."""
    a, b, c, d = cells
    passed = worth[3] if len(worth) == 4 else 0.0
    best = worth[0] * (a + c) + (passed * (b + (d or 0)) if passed else 0.0)
    ideal = written((worth[0], passed)[: len(worth) // 2], (a + c, b + (d or 0)))
    known = {"result": utility / best} if best else {}
    key = f"filter normalised{' four' if len(worth) == 4 else ''}{'' if best else ' of nothing'}"
    return Step(key, {"figure": "normalised", "utility": utility, "terms": ideal, "best": best, **known})


def t11su_step(a: int, b: int, c: int) -> Step:
    """Return T11SU."""
    if not a + c:
        return Step("filter t11su of nothing", {"figure": "T11SU"})
    share = (2 * a - b) / (2 * (a + c))
    top = max(share, T11_FLOOR)
    numbers = {"a": a, "b": b, "n": a + c, "share": share, "floor": T11_FLOOR, "top": top}
    return Step("filter t11su", {"figure": "T11SU", **numbers, "result": (top - T11_FLOOR) / (1 - T11_FLOOR)})


def written(worth: tuple[float, ...], cells: tuple[int | None, ...]) -> Terms:
    """Write a sum of products, what is below 0 in brackets."""
    numbers = [f"{each:g}" if each >= 0 else f"(−{-each:g})" for each in worth]
    return Terms(" + ".join(f"{each} × {cell}" for each, cell in zip(numbers, cells, strict=False)))


def _counts(view: View, t: float) -> tuple[int, int, int]:
    lines, sims = view.lines(), view.ranking.lines.sim[view.ranking.line[view.at]].tolist()
    a = sum(line.relevant for line, sim in zip(lines, sims, strict=True) if sim >= t)
    return a, sum(sim >= t for sim in sims) - a, view.n_rel() - a


def _begin(view: View, t: float) -> list[Step]:
    """Return the table of a list."""
    a, b, c = _counts(view, t)
    d = None if view.docs is None else view.docs - a - b - c
    unseen = view.n_rel() - sum(line.relevant for line in view.lines())
    numbers = {"selected": a + b, "threshold": Given(t), "unseen": unseen}
    table = crosstab(a, b, c, d, ("selected", "not selected"))
    return [
        Step("selection and missing" if unseen else "selection", numbers),
        Step("selection table", {"a": a, "b": b, "c": c}, table),
    ]


def _explained(last: Any) -> Explainer:
    """Return the explainer that ends with these steps, of the three counts that are known and the parameters."""

    def steps(view: View, t: float = THRESHOLD, **params: Any) -> list[Step]:
        return [*_begin(view, t), *last(*_counts(view, t), **params)]

    return steps


def _e_steps(a: int, b: int, c: int, beta: float = 1.0) -> list[Step]:
    f = f_step(a, b, c, beta)
    return [f] if f.result is None else [f, Step("one minus", {"part": f.result, "result": 1 - f.result})]


def _normalised_steps(a: int, b: int, c: int, u_rel: float = 3.0, u_nonrel: float = -2.0) -> list[Step]:
    utility = utility_step((u_rel, u_nonrel), (a, b))
    return [utility, normalised_step(utility.numbers["result"], (u_rel, u_nonrel), (a, b, c, None))]


def _hull_steps(a: int, b: int, c: int, s: float, u_rel: float = 3.0, u_nonrel: float = -2.0) -> list[Step]:
    utility = utility_step((u_rel, u_nonrel), (a, b))
    value, floor, best = utility.numbers["result"], u_nonrel * s, u_rel * (a + c)
    numbers = {"utility": value, "s": s, "u_nonrel": u_nonrel, "floor": floor, "top": max(value, floor), "best": best}
    return [utility, Step("filter hull", {**numbers, "result": (max(value, floor) - floor) / (best - floor)})]


def _t9p_steps(a: int, b: int, c: int, target: float = T9_TARGET) -> list[Step]:  # noqa: ARG001 - what is missed is free
    below = max(target, a + b)
    return [Step("filter t9p", {"a": a, "b": b, "target": target, "below": below, "result": a / below})]


# ------------------------------------------------------------------------------------------------------------ measures


def _define(name: str, *, steps: Any, **about: Any) -> Callable[[F], F]:
    """Register a measure of a selection, which ties leave as it is; `steps` follow the table in explanations."""
    about = {"parameters": _T, "sees": ("ties", "scores"), "explain": _explained(steps), **about}

    def decorate(function: F) -> F:
        define(name, function, **about)
        return unchanged(function)

    return decorate


@_define(
    "SelP",
    title="Precision of a selection",
    formula="SelP(t) = relevant documents scored t or more / documents scored t or more; 1 if there are none",
    source=CLEVERDON,
    example="SelP(t=0.9)",
    steps=lambda a, b, c: [precision_step(a, b, c)],
)
def selected_precision(selection: Selection, t: float = THRESHOLD) -> Floats:
    return tables_at(selection, t).precision


@_define(
    "SelR",
    title="Recall of a selection",
    formula="SelR(t) = relevant documents scored t or more / all relevant documents",
    source=CLEVERDON,
    example="SelR(t=0.9)",
    undefined=_NOTHING,
    steps=lambda a, b, c: [recall_step(a, b, c)],
)
def selected_recall(selection: Selection, t: float = THRESHOLD) -> Floats:
    return tables_at(selection, t).recall


@_define(
    "SelF",
    title="F measure of a selection",
    formula="SelF(β, t) = (1 + β²)·a / ((1 + β²)·a + β²·c + b), with a relevant and b other documents scored t or "
    "more, and c relevant ones that are not",
    source=RIJSBERGEN,
    example="SelF(beta=2)",
    undefined=_NOTHING,
    steps=lambda a, b, c, beta=1.0: [f_step(a, b, c, beta)],
)
def selected_f(selection: Selection, t: float = THRESHOLD, beta: float = 1.0) -> Floats:
    return tables_at(selection, t).f(beta)


@_define(
    "SelE",
    title="Effectiveness of van Rijsbergen of a selection",
    formula="SelE(β, t) = 1 − SelF(β, t)",
    source=RIJSBERGEN,
    example="SelE(beta=2)",
    higher_is_better=False,
    chain="reversed",
    undefined=_NOTHING,
    steps=_e_steps,
)
def selected_e(selection: Selection, t: float = THRESHOLD, beta: float = 1.0) -> Floats:
    return tables_at(selection, t).e(beta)


@_define(
    "Utility",
    title="Utility of a selection",
    formula="Utility(u_rel, u_nonrel, t) = u_rel · relevant documents scored t or more + u_nonrel · others scored t "
    "or more",
    source=_HULL,
    example="Utility(u_nonrel=-1)",
    lowest=float("-inf"),
    highest=float("inf"),
    parameters=_WORTH,
    caution=_ONE_THEME,
    steps=lambda *counts, u_rel=3.0, u_nonrel=-2.0: [utility_step((u_rel, u_nonrel), counts[:2])],
)
def utility(selection: Selection, t: float = THRESHOLD, u_rel: float = 3.0, u_nonrel: float = -2.0) -> Floats:
    return tables_at(selection, t).utility(u_rel, u_nonrel)


@_define(
    "NUtility",
    title="Normalised utility of a selection",
    formula="NUtility(u_rel, u_nonrel, t) = Utility(u_rel, u_nonrel, t) / (u_rel · all relevant documents)",
    source=_HULL,
    example="NUtility(u_nonrel=-1)",
    lowest=float("-inf"),
    parameters=_WORTH,
    undefined=_NOTHING,
    steps=_normalised_steps,
)
def normalised_utility(
    selection: Selection, t: float = THRESHOLD, u_rel: float = 3.0, u_nonrel: float = -2.0
) -> Floats:
    return tables_at(selection, t).normalised_utility(u_rel, u_nonrel)


@_define(
    "HullU",
    title="Hull's scaled utility of a selection",
    formula="HullU(s, u_rel, u_nonrel, t) = (max(U, U(s)) − U(s)) / (u_rel · all relevant documents − U(s)), with "
    "U = Utility(u_rel, u_nonrel, t) and U(s) = u_nonrel · s",
    source=_HULL,
    example="HullU(s=25)",
    parameters=_LOSS,
    steps=_hull_steps,
)
def hull_utility(
    selection: Selection, s: float, t: float = THRESHOLD, u_rel: float = 3.0, u_nonrel: float = -2.0
) -> Floats:
    return tables_at(selection, t).hull_utility(s, u_rel, u_nonrel)


@_define(
    "T11SU",
    title="Scaled utility of TREC 2002",
    formula="T11SU(t) = (max(NUtility(2, −1, t), −0.5) + 0.5) / 1.5",
    source="S. Robertson, I. Soboroff: The TREC 2002 filtering track report, 2002",
    example="T11SU(t=0.9)",
    undefined=_NOTHING,
    steps=lambda a, b, c: [t11su_step(a, b, c)],
)
def t11su(selection: Selection, t: float = THRESHOLD) -> Floats:
    return tables_at(selection, t).scaled_utility()


@_define(
    "T9P",
    title="Precision of a selection with a target",
    formula="T9P(target, t) = relevant documents scored t or more / max(target, documents scored t or more)",
    source="S. Robertson, D. A. Hull: The TREC-9 filtering track final report, 2000",
    example="T9P(target=20)",
    parameters={**_T, "target": Parameter("how many documents should be selected", _above_0, "a number > 0")},
    steps=_t9p_steps,
)
def t9p(selection: Selection, t: float = THRESHOLD, target: float = T9_TARGET) -> Floats:
    return tables_at(selection, t).t9p(target)
