"""Figures of filters: theme by theme, averaged, and as scores to be compared. In: `Filter`s. Out: `Scores`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.arrays import Floats
from exaequo.choices import THRESHOLD
from exaequo.errors import BadParameter
from exaequo.filtering.filters import Filter
from exaequo.measures import Measure, parse_measures
from exaequo.measures.selection import T9_TARGET, Tables
from exaequo.remarks import cautions
from exaequo.scores import Block, Scores

_SHARES = ("precision", "recall", "noise", "silence", "fallout", "density", "accuracy")
#: Figures made of what was selected alone, which a filter that is told of nothing else knows too.
KNOWN = ("precision", "utility", "T9P")
#: Why the utilities of several themes are not to be averaged.
RAW = (
    "the best utility of a theme depends on how many documents are relevant, so that utilities of several themes are "
    "not to be averaged (macro); normalised ones can be"
)


def figures_of(
    tables: Tables,
    beta: float = 1.0,
    utility: tuple[float, ...] = (3.0, -2.0),
    *,
    target: float = T9_TARGET,
    hull: float | None = None,
) -> dict[str, Floats]:
    """Return all figures by name; `hull` is the s of Hull's utility, which is left out without it."""
    worth = tables.utility(*utility)
    return {
        **{name: getattr(tables, name) for name in ("a", "b", "c", "d")},
        "relevant": tables.relevant,
        "N": tables.documents,
        **{name: getattr(tables, name) for name in _SHARES},
        "F": tables.f(beta),
        "E": tables.e(beta),
        "utility": worth,
        "best_utility": tables.best_utility(utility[0], *utility[3:]),
        "normalised": tables.normalised_utility(*utility),
        "beats_nothing": (worth > tables.idle_utility(*utility[2:])).astype(float),
        "T11SU": tables.scaled_utility(),
        **({} if hull is None else {"hull": tables.hull_utility(hull, *utility[:2])}),
        "T9P": tables.t9p(target),
    }


def averages(figures: Mapping[str, Floats]) -> dict[str, float]:
    """Return the mean of each figure over the themes where it is defined."""
    return {name: aggregate("mean", values) for name, values in figures.items()}


def mean_of_themes(values: Floats) -> Floats:
    """Return the means over themes, the rows, that have a value; NaN where none has."""
    known = ~np.isnan(values)
    total: Floats = np.where(known, values, 0.0).sum(axis=0)
    mean: Floats = np.divide(total, known.sum(axis=0), out=np.full_like(total, np.nan), where=known.any(axis=0))
    return mean


def means_over(figures: Mapping[str, Floats]) -> dict[str, int]:
    """Return the figures that some theme has no value of, each with the number of themes that have one."""
    counts = {name: int((~np.isnan(values)).sum()) for name, values in figures.items()}
    return {name: known for name, known in counts.items() if known < len(figures[name])}


def scores_of(
    filters: Sequence[Filter],
    measures: Sequence[str | Measure],
    *,
    thresholds: Mapping[str, Floats] | None = None,
) -> Scores:
    """Return the measures of selections, per theme, as scores for `compare_scores`; other measures are refused.

    Each measure says its threshold, `t`; `thresholds` are those of each filter, a threshold per theme, instead.
    """
    parsed = tuple(parse_measures(measures))
    for measure in parsed:
        if measure.definition.family != "filters":
            raise BadParameter(f"{measure} is not a measure of a selection; see `exaequo measures`.")
    themes = pl.Series("topic", filters[0].themes, dtype=pl.String)
    blocks = []
    for one in filters:
        if one.themes != filters[0].themes:
            raise BadParameter(f"{one.name} has other themes than {filters[0].name}; make the filters together.")
        values = [_values(one, measure, None if thresholds is None else thresholds[one.name]) for measure in parsed]
        blocks.append(Block(one.name, "realistic", parsed, themes, np.stack(values)))
    inputs = {"runs": [{"name": one.name, "file": one.file or one.name} for one in filters]}
    return Scores(parsed, tuple(blocks), remarks=tuple(cautions(parsed, len(themes))), inputs=inputs)


def _values(one: Filter, measure: Measure, thresholds: Floats | None) -> Floats:
    tables = one.at(measure.params.get("t", THRESHOLD) if thresholds is None else thresholds)
    values: Floats = measure.definition.function(tables, **measure.params)
    return values
