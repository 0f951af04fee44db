"""Thresholds that are learnt: found on the decisions of a training set, put to the test on another.

Choosing the threshold on the test itself gives figures that no filter reaches in practice; beside those of the learnt
threshold they show how much too high they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exaequo.arrays import Floats
from exaequo.choices import LEARNT_BY, LEARNT_FOR, UTILITIES
from exaequo.errors import bad_input
from exaequo.filtering.filters import Filter
from exaequo.options import check_choice


@dataclass(frozen=True, eq=False)
class Learnt:
    """Thresholds of the themes of a test set: learnt elsewhere, and `chosen` on the test itself.

    `fallback` are the themes that training says nothing of: they have the `common` threshold, learnt from all themes.
    """

    thresholds: Floats
    chosen: Floats
    common: float
    fallback: tuple[str, ...]


def learn(
    train: Filter,
    test: Filter,
    by: str = "f",
    scope: str = "theme",
    *,
    beta: float = 1.0,
    utility: tuple[float, ...] = UTILITIES["LF1"],
) -> Learnt:
    """Learn thresholds `by` the best F, the best utility or the break-even point: for each theme, or one for all.

    The one for all is that of the sum of all tables, as if they were one theme's.
    """
    check_choice("scope", scope, LEARNT_FOR)
    common = _common(train, by, beta, utility)
    if np.isnan(common):
        found = "no relevant document has a score"
        raise bad_input(train.file or train.name, found, "decisions to learn from", "Check the training files.")
    on_test = _common(test, by, beta, utility)
    if scope == "all":
        learnt, chosen = (np.full(len(test.themes), each) for each in (common, on_test))
        return Learnt(learnt, chosen, common, ())
    own = dict(zip(train.themes, best_thresholds(train, by, beta, utility).tolist(), strict=True))
    learnt = np.array([own.get(theme, np.nan) for theme in test.themes])
    chosen = best_thresholds(test, by, beta, utility)
    without = np.isnan(learnt)
    fallback = tuple(theme for theme, missing in zip(test.themes, without, strict=True) if missing)
    chosen = np.where(np.isnan(chosen), on_test, chosen)
    return Learnt(np.where(without, common, learnt), chosen, common, fallback)


def _common(one: Filter, by: str, beta: float, utility: tuple[float, ...]) -> float:
    return float(best_thresholds(one.pooled(), by, beta, utility)[0])


def best_thresholds(one: Filter, by: str, beta: float = 1.0, utility: tuple[float, ...] = UTILITIES["LF1"]) -> Floats:
    """Return the best threshold of each theme, the lowest of equals; NaN where there is nothing to learn from.

    F and the break-even point need a relevant document with a score, utility any score. Where selecting nothing is
    worth most, the threshold is infinite. At the break-even threshold precision and recall differ least.
    """
    check_choice("by", by, LEARNT_BY)
    sweep = one.sweep
    tables = sweep.tables
    if by == "utility":
        values, idle = tables.utility(*utility), one.at(np.inf).utility(*utility)
        usable = np.ones(len(values), dtype=bool)
    else:
        # Quotients of whole numbers, so that equal ones are equal.
        gap = -tables.a * np.abs(tables.b - tables.c) / np.maximum(tables.selected * tables.relevant, 1)
        values = tables.f(beta) if by == "f" else gap
        idle, usable = np.full(sweep.n_themes, -np.inf), tables.a > 0
    best, at = idle.copy(), np.full(sweep.n_themes, np.nan)
    if by == "utility":
        at[sweep.theme] = np.inf
    np.maximum.at(best, sweep.theme[usable], values[usable])
    winners = np.flatnonzero(usable & (values == best[sweep.theme]))
    winners = winners[values[winners] > idle[sweep.theme[winners]]]
    np.fmin.at(at, sweep.theme[winners], sweep.threshold[winners])
    return at
