"""A comparison for a paper: systems as rows, measures as columns, best in bold, marks of significance."""

from __future__ import annotations

import numpy as np
import polars as pl

from exaequo.comparison import Comparison
from exaequo.comparison.values import oriented
from exaequo.tabular import latex_safe, shown


def for_a_paper(result: Comparison) -> str:
    """Return a LaTeX table (booktabs): the best of a column bold; letters of groups, or marks against the baseline."""
    scores, plan = result.scores, result.plan
    order = np.argsort(-oriented(scores, scores.measures[0]), kind="stable")
    lines = [r"\begin{tabular}{l" + "l" * len(scores.measures) + "}", r"\toprule"]
    lines.append(" & ".join(["run", *(latex_safe(measure.name) for measure in scores.measures)]) + r" \\")
    lines.append(r"\midrule")
    cells = [_column(result, measure.name) for measure in scores.measures]
    for at in order:
        name = scores.runs[at]
        lines.append(" & ".join([latex_safe(name), *(column[name] for column in cells)]) + r" \\")
    letters = "letters: systems that share one are not told apart"
    said = letters if plan.baseline is None else "marks: against the baseline"
    note = f"{plan.name}, $\\alpha = {plan.alpha:g}$, {len(scores.shared)} topics, {scores.ties[0]} ties; {said}"
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", f"% {note}"])


def _column(result: Comparison, measure: str) -> dict[str, str]:
    frame = result.systems.filter(pl.col("measure") == measure)
    column = {}
    for row in frame.to_dicts():
        figure = shown(row["mean"])
        figure = rf"\textbf{{{figure}}}" if row["rank"] == 1 else figure
        mark = row.get("group") or {"▲": r"\blacktriangle", "▼": r"\blacktriangledown"}.get(row.get("mark", ""), "")
        column[row["run"]] = f"{figure}$^{{{mark}}}$" if mark else figure
    return column
