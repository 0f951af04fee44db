"""How far the scores of the page can be trusted: a budget of its best runs. In: runs as they come. Out: a section."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from exaequo import tabular
from exaequo.budgeting import Asked, Budget, budget_judged
from exaequo.budgeting.intervals import TOGETHER
from exaequo.budgeting.wording import remedy, widths
from exaequo.comparison import Comparison
from exaequo.errors import BadParameter, InputError
from exaequo.evaluation import Judged
from exaequo.language import say
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.plot.chart import Canvas, notes
from exaequo.plot.kinds.budget import MOST, intervals
from exaequo.reporting.pictures import figure_of
from exaequo.tabular import Table, cell_text

#: Lines of runs that are kept, so that long lists do not fill the memory.
MOST_LINES = 2_000_000
Shown = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Kept:
    """The best runs by a measure and the baseline, each with its place among all, best first; others are let go."""

    measure: Measure
    baseline: str | None
    runs: list[tuple[float, int, Judged]] = field(default_factory=list)

    def passing(self, runs: Iterable[Judged]) -> Iterator[Judged]:
        """Yield all runs as they come, and keep the best."""
        for place, judged in enumerate(runs):
            yield judged
            values = self.measure.values(judged[0].ranking("realistic"))
            mean = float(np.nanmean(values)) if not np.isnan(values).all() else -np.inf
            self.runs.append((-self.measure.upward * mean, place, judged))
            self.runs.sort(key=lambda each: each[:2])
            self._let_go()

    def _let_go(self) -> None:
        others = [each for each in self.runs if not self._is_baseline(each[2])]
        lines = sum(judged[0].run.frame.height for _, _, judged in self.runs)
        while others and (len(self.runs) > MOST or lines > MOST_LINES):
            worst = others.pop()
            lines -= worst[2][0].run.frame.height
            self.runs.remove(worst)

    def _is_baseline(self, judged: Judged) -> bool:
        run = judged[0].run
        named = (run.name, os.path.normpath(run.source.name))
        return self.baseline is not None and (self.baseline in named or os.path.normpath(self.baseline) in named)


def trust_of(result: Comparison, kept: Kept, options: Options) -> tuple[Shown, Shown]:
    """Return what the section shows, and the tables for programs; or why there are none."""
    scores, plan = result.scores, result.plan
    names = [scores.runs[place] for _, place, _ in kept.runs]
    if options.depth is not None or options.missing == "skip":
        why = say("This is told of whole lists and all topics only; here lists are cut, or topics left out.")
        return {"why": why}, {}
    if not names:
        return {"why": say("The lists are too long to tell it here; the command budget does.")}, {}
    asked = Asked(baseline=plan.baseline if plan.baseline in names else None, alpha=plan.alpha)
    try:
        budget = budget_judged([[judged for *_, judged in kept.runs]], names, scores.measures[:1], options, asked)
    except (BadParameter, InputError) as error:  # what a budget cannot be made of can still be compared
        return {"why": str(error)}, {}
    tables = {name: tabular.rows(frame) for name, frame in budget.tables.items()}
    return _section(budget, scores.measures[0], len(scores.runs)), tables


def _section(budget: Budget, measure: Measure, runs: int) -> Shown:
    """Return the sentences, the picture and the tables of a budget."""
    said = budget.remedies["run"].n_unique()
    some = say("the best {n} of {runs} runs", n=MOST, runs=runs) if runs > MOST else ""
    sure = say("{sure:g} % over topics", sure=100 * (1 - budget.options["alpha"]))
    title = say("What is left open: {measure}", measure=measure.name)
    chart = intervals(budget.runs.to_dicts(), measure, Canvas.of({}, title, notes(sure, some)))
    text = say("Mark: the score. Lines: what each source leaves open. Band: all of them together.")
    table = Table.of(widths(budget.runs))
    shrunk = [_shrunk(budget, run) for run in budget.runs["run"].unique(maintain_order=True)]
    columns = [[cell_text(value) for value in column.values] for column in table.columns]
    return {
        "why": "",
        "some": some,
        "sentences": [_whole(budget, measure), *budget.sentences[: min(said, 1)], *budget.sentences[said:]],
        "figure": figure_of("budget", title, text, chart),
        "heads": [(column.head, "n" if column.right else "") for column in table.columns],
        "rows": [[*row, own] for *row, own in zip(*columns, shrunk, strict=True)],
        "documents": [
            row | {"moves": cell_text(row["moves"])} for row in budget.documents.filter(pl.col("moves") > 0).to_dicts()
        ],
    }


def _whole(budget: Budget, measure: Measure) -> str:
    """Say between which values all that is left open leaves the best run."""
    row = budget.runs.filter(source=TOGETHER).row(0, named=True)
    figures = {name: cell_text(row[name]) for name in ("score", "low", "high")}
    said = {"run": row["run"], "measure": measure.name, **figures}
    return say("All in all, {measure} of {run} is {score} and may be anything from {low} to {high}", **said)


def _shrunk(budget: Budget, run: str) -> str:
    """Say what would shrink the largest source of a run; nothing of runs that are not spoken about."""
    own = pl.col("run") == run
    return remedy(budget.runs.filter(own), budget.remedies.filter(own))
