"""The data inside the page: what its script works on, and what can be downloaded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from exaequo import tabular
from exaequo.comparison import Comparison
from exaequo.comparison.pairs import open_means
from exaequo.comparison.values import means, pick
from exaequo.comparison.verdicts import OUTCOMES
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.reporting.sentences import ranked_runs

#: So many decimals tell apart what is not equal.
DIGITS = 12
#: What is known of pairs, under which name, to how many decimals.
_COLUMNS = (("gap", "difference", DIGITS), ("p", "corrected_p", 8), ("low", "low", 6), ("high", "high", 6))


@dataclass(frozen=True)
class Scale:
    """An axis: its ends, and where it has ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Return where a value stands, in percent of the axis."""
        return round(100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0), 2)


def scale_of(result: Comparison, measure: Measure) -> Scale:
    """Return the axis on which means, intervals and what ties leave open are drawn."""
    own = pick(result.systems, measure)
    ends = np.concatenate(
        [own[name].to_numpy() for name in ("mean", "low", "high")] + [*open_means(result.scores, measure)]
    )
    ends = ends[np.isfinite(ends)]
    low, high = float(ends.min()), float(ends.max())
    raw = (high - low) / 5 or 0.1
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return Scale(first * step, last * step, tuple(round(at * step, DIGITS) for at in range(first, last + 1)))


def _plain(table: Any) -> Any:
    return [[None if np.isnan(v) else float(f"{v:.10g}") for v in row] for row in table]


def data_of(result: Comparison, options: Options, pair: tuple[str, str | None]) -> dict[str, Any]:
    """Return what the script works on: plain numbers, rounded, null where there is none."""
    scores = result.scores
    place = {name: at for at, name in enumerate(scores.runs)}
    by_measure = [pick(result.pairs, measure) for measure in scores.measures]
    order = [scores.evaluated.index_of(topic) for topic in scores.shared]
    return {
        "format": 1,
        "runs": scores.runs,
        "topics": scores.shared.to_list(),
        "measures": [{"name": m.name, "up": m.definition.higher_is_better} for m in scores.measures],
        "alpha": result.plan.alpha,
        "test": result.plan.name,
        "outcomes": OUTCOMES,
        "baseline": result.plan.baseline or "",
        "leaders": [place[name] if name is not None else -1 for name in (pair[1], pair[0])],
        "level": options.rel_level,
        "highest": options.max_grade if np.isfinite(options.max_grade) else None,
        "ranked": [place[name] for name in ranked_runs(result)],
        "tied": [round(facts.health["tied"], 1) for facts in scores.facts.values()],
        "values": [
            _plain(scores[run, scores.ties[0], measure].values for run in scores.runs) for measure in scores.measures
        ],
        "means": {
            ties: [[round(float(v), DIGITS) for v in means(scores, measure, ties)] for measure in scores.measures]
            for ties in scores.ties
        },
        "systems": tabular.rows(result.systems),
        "open": [[[round(float(v), DIGITS) for v in ends] for ends in open_means(scores, m)] for m in scores.measures],
        "scales": [scale_of(result, measure).ticks for measure in scores.measures],
        "pairs": {
            "one": [place[name] for name in by_measure[0]["one"]],
            "two": [place[name] for name in by_measure[0]["two"]],
            **{
                name: [[round(float(v), digits) for v in own[column]] for own in by_measure]
                for name, column, digits in _COLUMNS
            },
            "outcome": [[OUTCOMES.index(each) for each in own["outcome"]] for own in by_measure],
        },
        "lists": [[facts.tops[at] for at in order] for facts in scores.facts.values()],
    }
