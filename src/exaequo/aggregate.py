"""Aggregating: the values of all topics in, one number out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from exaequo.arrays import Floats

#: Zero has no logarithm: the geometric mean takes every value as at least this, as trec_eval does.
GM_FLOOR = 1e-5


def _mean(values: Floats) -> float:
    return float(np.add.reduce(values) / len(values)) if len(values) else float("nan")  # what np.mean does


def _total(values: Floats) -> float:
    return float(np.sum(values))


def _geometric_mean(values: Floats) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, GM_FLOOR))))) if len(values) else float("nan")


#: Ways to make one number of many. Measures that count are summed, all others averaged, unless `gm(...)` is asked for.
AGGREGATES: dict[str, Callable[[Floats], float]] = {"mean": _mean, "sum": _total, "gm": _geometric_mean}


def aggregate(kind: str, values: Floats) -> float:
    """Return the aggregate of the topics that have a value, which is not NaN; NaN if there are none to average."""
    unknown = np.isnan(values)
    return AGGREGATES[kind](values[~unknown] if unknown.any() else values)
