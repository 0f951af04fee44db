"""A comparison for a paper: systems as rows, measures as columns, best in bold, marks of significance."""

from __future__ import annotations

import numpy as np
import polars as pl

from exaequo.comparison import Comparison
from exaequo.comparison.values import oriented
from exaequo.language import number, say, strategy, word
from exaequo.tabular import Column, Table


def for_a_paper(result: Comparison, title: str = "") -> Table:
    """Return a table whose figures bear the letters of groups, or marks against the baseline; the best are marked."""
    scores, plan = result.scores, result.plan
    names = [scores.runs[at] for at in np.argsort(-oriented(scores, scores.measures[0]), kind="stable")]
    columns = [_column(result, measure.name, names) for measure in scores.measures]
    letters = say("letters: systems that share one are not told apart")
    said = letters if plan.baseline is None else say("marks: against the baseline")
    seen = {"topics": len(scores.shared), "ties": strategy(scores.ties[0])}
    level = number(f"{plan.alpha:g}")
    note = f"{plan.name}, $\\alpha = {level}$, {say('{topics} topics, {ties} ties', **seen)}{word('; ')}{said}"
    return Table(title, [Column(word("run"), names, right=False), *columns], [note], result.systems)


def _column(result: Comparison, measure: str, names: list[str]) -> Column:
    row_of = {row["run"]: row for row in result.systems.filter(pl.col("measure") == measure).to_dicts()}
    rows = [row_of[name] for name in names]
    best = [at for at, row in enumerate(rows) if row["rank"] == 1]
    marks = [row["group"] if "group" in row else row["mark"].replace("baseline", "") for row in rows]
    return Column(measure, [row["mean"] for row in rows], right=False, best=best, marks=marks)
