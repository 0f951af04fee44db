"""The data inside the page: what its script works on, and what can be downloaded."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from exaequo import tabular
from exaequo.comparison import Comparison
from exaequo.comparison.pages import for_a_paper
from exaequo.comparison.values import DIGITS
from exaequo.options import Options
from exaequo.reporting.recorder import Recorder
from exaequo.reporting.sentences import ranked_runs

#: What is known of pairs, under which name, to how many decimals.
_COLUMNS = (("gap", "difference", DIGITS), ("p", "corrected p", 8), ("low", "low", 6), ("high", "high", 6))


def data_of(result: Comparison, recorder: Recorder, options: Options, pair: tuple[str, str | None]) -> dict[str, Any]:
    """Return what the script works on: plain numbers, rounded, null where there is none."""
    values = result.values

    def plain(table: Any) -> Any:
        return [[None if np.isnan(v) else float(f"{v:.10g}") for v in row] for row in table]

    place = {name: at for at, name in enumerate(values.systems)}
    by_measure = [result.pairs.filter(pl.col("measure") == measure.name) for measure in values.measures]
    order = [recorder.topics.index(topic) for topic in values.topics]
    return {
        "format": 1,
        "runs": values.systems,
        "topics": values.topics.to_list(),
        "measures": [{"name": m.name, "up": m.definition.higher_is_better} for m in values.measures],
        "alpha": result.plan.alpha,
        "test": result.plan.name,
        "baseline": result.plan.baseline or "",
        "leaders": [place[name] if name is not None else -1 for name in (pair[1], pair[0])],
        "level": options.rel_level,
        "highest": options.max_grade if np.isfinite(options.max_grade) else None,
        "ranked": [place[name] for name in ranked_runs(result)],
        "tied": [round(look.health["tied"], 1) for look in recorder.looks],
        "values": [plain(values.by_ties[values.ties[0]][row]) for row in range(len(values.measures))],
        "means": {
            ties: [[round(float(v), DIGITS) for v in values.means(row, ties)] for row in range(len(values.measures))]
            for ties in values.ties
        },
        "systems": tabular.rows(result.systems),
        "pairs": {
            "one": [place[name] for name in by_measure[0]["one"]],
            "two": [place[name] for name in by_measure[0]["two"]],
            **{
                name: [[round(float(v), digits) for v in own[column]] for own in by_measure]
                for name, column, digits in _COLUMNS
            },
        },
        "lists": [[look.tops[at] for at in order] for look in recorder.looks],
        "latex": tabular.latex(for_a_paper(result)) if len(values.systems) > 1 else "",
    }
