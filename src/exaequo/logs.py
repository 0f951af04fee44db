"""Scores where people look at experiments: MLflow, Weights & Biases, TensorBoard. In: `Scores`. Out: named numbers.

Nothing is imported that is not asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from exaequo.errors import BadParameter, ExaequoError
from exaequo.scores import Scores

#: What may be named instead of being handed over.
TOOLS = ("mlflow", "wandb")


def log(
    scores: Scores,
    to: str | Callable[[dict[str, float]], object] | Any,
    *,
    step: int | None = None,
    prefix: str = "",
) -> dict[str, float]:
    """Log the mean of each measure, and return what was logged: `{name: mean}`.

    `to` is "mlflow" or "wandb" for the active run there; or an object that logs: a run of wandb, a SummaryWriter of
    TensorBoard, whatever has `log_metrics(numbers, step=)`; or a function that takes the dict. Names are those of the
    measures, `nDCG_at_10` for nDCG@10, as MLflow refuses many signs; several runs stand before them, `bm25/AP`, and
    several tie strategies between, after the `prefix`. A mean that is undefined is left out.
    """
    numbers = named_means(scores, prefix)
    target = _tool(to) if isinstance(to, str) else to
    if hasattr(target, "log_metrics"):
        target.log_metrics(numbers, step=step)
    elif hasattr(target, "add_scalar"):
        for name, value in numbers.items():
            target.add_scalar(name, value, step)
    elif hasattr(target, "log"):
        target.log(numbers, step=step)
    elif callable(target):
        target(numbers)
    else:
        raise BadParameter(f"to must be {' or '.join(TOOLS)}, a logger or a function. Got {to!r} instead.")
    return numbers


def named_means(scores: Scores, prefix: str = "") -> dict[str, float]:
    """Return the means by names that all tools take; names that would be the same are refused."""
    numbers: dict[str, float] = {}
    for run, ties, _, measure, value in scores.means.rows():
        parts = (run if len(scores.runs) > 1 else "", ties if len(scores.ties) > 1 else "", measure)
        name = prefix + "/".join(_plain(part) for part in parts if part)
        if name in numbers:
            raise BadParameter(f"Two runs would both be logged as {name!r}; give them names that differ more.")
        numbers[name] = value
    return {name: value for name, value in numbers.items() if not math.isnan(value)}


def _plain(name: str) -> str:
    """Return letters, digits, `-` and `.` of a name, `_` for all between: what every tool takes."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", name.replace("@", "_at_")).strip("_") or "_"


def _tool(name: str) -> Any:
    if name not in TOOLS:
        raise BadParameter(f"to must be {' or '.join(TOOLS)}, a logger or a function. Got {name!r} instead.")
    try:
        return import_module(name)
    except ImportError:
        raise ExaequoError(f"log(…, to={name!r}) needs {name}: pip install {name}") from None
