"""What unjudged documents leave open: all outcomes and all orders of ties of small lists, by brute force."""

from __future__ import annotations

import warnings
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import exaequo
from exaequo.measures import Measure
from exaequo.residuals import BOUNDS, CUT, ENDS, FIRST_OR_LAST, Residuals
from helpers import evaluate, instances

RANDOM = np.random.default_rng(17)
#: Every measure whose values are said to be bounds, in several settings.
LISTED = [
    each
    for each in instances()
    if each.definition.name in ENDS | CUT | FIRST_OR_LAST
    and "gains" not in each.params
    and (each.definition.name not in FIRST_OR_LAST - {"AP"} or "cutoff" in each.params)
]
Grades = dict[str, float]


def unjudged(*arguments: Any, **options: Any) -> Residuals:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.unjudged(*arguments, **options)


def collection(random: np.random.Generator, docs: int = 6) -> tuple[Grades, Grades]:
    """Draw judgments, some of which are of documents not found, and a list with ties and up to four unknown."""
    names = [f"d{at}" for at in range(docs)]
    judged = {name: float(random.choice([0, 0, 1, 2])) for name in names if random.random() < 0.5}
    for name in [name for name in names if name not in judged][4:]:
        judged[name] = 0.0
    if random.random() < 0.3 and len(judged) < docs:
        judged[next(name for name in names if name not in judged)] = -1.0  # pooled, not judged
    judged |= {f"lost{at}": float(random.choice([1, 2])) for at in range(random.integers(1, 4))}
    run = {name: float(random.integers(0, 4)) for name in names}
    return judged, run


def outcomes(judged: Grades, run: Grades, grade: float) -> tuple[dict[str, Grades], dict[str, Grades]]:
    """Return each outcome of the unknown in each order of ties as a topic: judgments and runs without ties."""
    unknown = [name for name in run if judged.get(name, -1) < 0]
    ties = [[name for name in run if run[name] == sim] for sim in sorted(set(run.values()), reverse=True)]
    orders = [[name for tie in each for name in tie] for each in product(*map(permutations, ties))]
    qrels, runs = {}, {}
    for at, (order, given) in enumerate(product(orders, product((0.0, grade), repeat=len(unknown)))):
        qrels[f"{at:06}"] = {**judged, **dict(zip(unknown, given, strict=True))}
        runs[f"{at:06}"] = {name: -float(rank) for rank, name in enumerate(order)}
    return qrels, runs


def extremes(judged: Grades, run: Grades, grade: float, measures: list[Measure]) -> list[tuple[float, float]]:
    scores = evaluate(*outcomes(judged, run, grade), measures)
    return [
        (float(np.nanmin(values)), float(np.nanmax(values)))
        for values in (scores[scores.runs[0], "realistic", each].values for each in measures)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_the_extremes_of_all_outcomes_and_orders(seed: int) -> None:
    judged, run = collection(np.random.default_rng(seed))
    found = unjudged({"1": judged}, {"1": run}, LISTED, grade=2.0)
    assert set(found.scores["kind"]) == {BOUNDS}
    for (low, high), row in zip(extremes(judged, run, 2.0, LISTED), found.topics.to_dicts(), strict=True):
        if row["measure"].startswith("RBP"):  # whose bound counts what may stand beyond the end
            continue
        assert row["low"] == pytest.approx(low, abs=1e-12), row["measure"]
        assert row["high"] == pytest.approx(high, abs=1e-12), row["measure"]
