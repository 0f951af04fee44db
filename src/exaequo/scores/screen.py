"""The first screen of scores: runs ranked, and what ties change. In: `Scores`. Out: a `Screen`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from exaequo.choices import INTERVAL
from exaequo.language import say, strategy, word
from exaequo.measures import Measure
from exaequo.scores import Scores
from exaequo.scores.formats import changed_by_ties, expected_lines, grid, more_ties, summary, told_apart, value_text
from exaequo.screens import Screen, picked, ranks, sorted_by
from exaequo.tabular import Column, Table

#: How many lines about ties there are on a screen.
MOST_TIE_LINES = 5
#: Figures have so many digits, fewer where they do not fit otherwise.
DIGITS = (4, 3)


def screen(scores: Scores, *, sort: str | None = None, top: int | None = None) -> Screen:
    """Return runs ranked by the first measure, or by another, or in the order of their names."""
    by = sorted_by(sort, scores.measures)
    ranked = by or scores.measures[0]
    places = {ties: _ranks(scores, ranked, ties) for ties in scores.ties}
    first = places[scores.ties[0]]
    order = sorted(range(len(first)), key=lambda at: scores.runs[at] if by is None else first[at])
    grids = [grid(scores, digits=digits) for digits in DIGITS]
    beside = [picked(_with_ranks(table, first), order) for table in grids]
    stacked = [_stacked(scores, table, order, places) for table in grids] if len(scores.ties) > 1 else []
    last = scores.runs[order[-1]]
    figure = value_text(ranked, scores.mean(ranked, run=last, ties=scores.ties[0]))
    best = any(column.best for column in beside[0].columns)
    return Screen(
        [summary(scores)],
        [beside[0], *stacked] if stacked else beside,
        len(order),
        lambda rows: say("… {n:,} more, down to {run} {figure}", n=len(order) - rows, run=last, figure=figure),
        [*_ties(scores), *expected_lines(scores), *([_rest()] if best else [])],
        top,
    )


def _ties(scores: Scores) -> list[str]:
    """Say how many figures ties change, and those they change most."""
    changed = changed_by_ties(scores)
    if not changed:
        return []
    orders = " / ".join(map(strategy, INTERVAL))
    every = len(scores.runs) * len(scores.measures)
    said = say("Ties decide {n:,} of {all:,} figures; {orders}:", n=len(changed), all=every, orders=orders)
    lines = [f"{each.run} {each.measure} {' / '.join(told_apart(each))}" for each in changed[:MOST_TIE_LINES]]
    return [said, *(f"  {line}" for line in lines), *more_ties(len(changed) - len(lines))]


def _rest() -> str:
    return say("* best of its column. More: --sort MEASURE or name, --top N, --full; -q: topics")


def _ranks(scores: Scores, measure: Measure, ties: str) -> list[int]:
    means = np.array([scores.mean(measure, run=run, ties=ties) for run in scores.runs])
    return [int(each) for each in ranks(measure.upward * means)]


def _with_ranks(table: Table, places: list[int]) -> Table:
    """Return the table with ranks before the names; one run has none."""
    if len(places) < 2:
        return table
    return replace(table, columns=[Column(word("rank"), places), *table.columns])


def _stacked(scores: Scores, table: Table, order: list[int], places: dict[str, list[int]]) -> Table:
    """Return a row per run and strategy, of a table whose strategies stand side by side."""
    several = len(scores.ties)
    cells = [(run, at) for run in order for at in range(several)]
    figures = []
    for first, measure in zip(range(1, len(table.columns), several), scores.measures, strict=True):
        own = table.columns[first : first + several]
        values = [list(column.values) for column in own]
        best = [row for row, (run, at) in enumerate(cells) if run in (own[at].best or ())]
        figures.append(Column(measure.name, [values[at][run] for run, at in cells], best=best))
    names = [scores.runs[run] if not at else "" for run, at in cells]
    ties = [strategy(scores.ties[at]) for _, at in cells]
    texts = [Column(word("run"), names, right=False), Column(say("ties"), ties, right=False)]
    ranked = [places[scores.ties[at]][run] for run, at in cells]
    return _with_ranks(Table(columns=[*texts, *figures]), ranked if len(order) > 1 else [])
