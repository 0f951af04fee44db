"""What is compared: values of systems × topics, for each measure and strategy, topics aligned by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.choices import EXPECTED
from exaequo.errors import BadParameter, InputError, Problem
from exaequo.evaluation import notes_on_judgments, notes_on_run, values_by_order
from exaequo.expected import expected_values
from exaequo.judge import Bools, Floats, judge, prepare
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.read import Qrels, Run, unique_names
from exaequo.text import count, listed

#: What the views of curves and of robustness are made of, besides the measures asked for.
CURVE = tuple(f"IPrec@{tenth / 10:g}" for tenth in range(11))
ROBUST = ("AP", "Success@10")
#: Values are rounded to so many digits: what differs beyond is the order of adding up.
DIGITS = 12


@dataclass(frozen=True, eq=False)
class Values:
    """All values of a comparison.

    `by_ties` holds for each strategy an array measures × systems × topics; `extra` the same for `CURVE` and `ROBUST`
    under the first strategy.
    """

    systems: list[str]
    files: list[str]
    measures: tuple[Measure, ...]
    topics: pl.Series
    by_ties: dict[str, Floats]
    extra: Floats
    notes: tuple[str, ...]

    @property
    def ties(self) -> tuple[str, ...]:
        """The strategies; the first is the one that counts."""
        return tuple(self.by_ties)

    def of(self, measure: int, ties: str | None = None) -> tuple[Floats, Bools]:
        """Return systems × topics of a measure, for the topics where every system always has a value, and which."""
        known = ~np.any([np.isnan(each[measure]).any(axis=0) for each in self.by_ties.values()], axis=0)
        return np.round(self.by_ties[ties or self.ties[0]][measure][:, known], DIGITS), known

    def means(self, measure: int, ties: str | None = None) -> Floats:
        """Return the mean of each system, rounded, so that equal means are equal."""
        table, _ = self.of(measure, ties)
        return np.round(np.array([aggregate("mean", row) for row in table]), DIGITS)

    def upward(self, measure: int) -> int:
        """Return 1, or -1 where less is better."""
        return self.measures[measure].upward


def collect(
    qrels: Qrels,
    runs: Iterable[Run],
    measures: Sequence[Measure],
    options: Options,
    least: int = 2,
    watch: Callable[[Ordering], None] | None = None,
) -> Values:
    """Evaluate all runs under all strategies; there must be so many at least. `watch` sees each once it is sorted."""
    judgments = prepare(qrels, level=options.rel_level, highest=options.max_grade)
    notes = notes_on_judgments(judgments, measures)
    extra = parse_measures((*CURVE, *ROBUST))
    named, present = [], []
    found: dict[str, list[Floats]] = {ties: [] for ties in options.ties}
    more = []
    orders = [ties for ties in options.ties if ties != EXPECTED]
    for run in runs:
        lines = judge(run, judgments)
        notes += notes_on_run(lines, options)
        ordering = Ordering(lines, options.precision)
        if watch is not None:
            watch(ordering)
        values = values_by_order(ordering, orders, measures, options)
        if EXPECTED in options.ties:
            how = expected_values(ordering, measures, depth=options.depth, seed=options.seed, samples=options.samples)
            values[EXPECTED] = how.values
        for ties in options.ties:
            found[ties].append(values[ties])
        first = orders[0] if orders else "realistic"
        more.append(values_by_order(ordering, [first], extra, options)[first])
        named.append((run.name, run.source.name))
        present.append(lines.returned > 0)
    if len(named) < least:
        raise BadParameter("A comparison needs at least two runs.")
    kept = np.ones(judgments.n_topics, dtype=bool)
    if options.missing == "skip":
        kept = np.all(present, axis=0)
        if not kept.all():
            without = judgments.topics.filter(pl.Series(~kept)).to_list()
            notes.append(f"{count(len(without), 'topic')} that a run lacks left out for all of them: {listed(without)}")
    if kept.sum() < 2:
        what = f"only {count(int(kept.sum()), 'topic')}"
        raise InputError(Problem(qrels.source.name, None, what, "at least two", "Statistics over topics need several."))
    stacked = {ties: np.stack(each, axis=1)[:, :, kept] for ties, each in found.items()}
    usable, more_notes = _usable(measures, stacked)
    return Values(
        unique_names(named),
        [file for _, file in named],
        tuple(measures[row] for row in usable),
        judgments.topics.filter(pl.Series(kept)),
        {ties: each[usable] for ties, each in stacked.items()},
        np.stack(more, axis=1)[:, :, kept],
        (*notes, *more_notes),
    )


def _usable(measures: Sequence[Measure], values: Mapping[str, Floats]) -> tuple[list[int], list[str]]:
    """Return which measures have a value for two topics at least, or all if none has, and what there is to say."""
    usable, notes = [], []
    for row, measure in enumerate(measures):
        without = np.any([np.isnan(each[row]).any(axis=0) for each in values.values()], axis=0)
        why = measure.definition.undefined
        if (~without).sum() < 2:
            notes.append(f"{measure} is left out: fewer than two topics have a value for every run ({why})")
            continue
        usable.append(row)
        if without.any():
            what = count(int(without.sum()), "topic")
            notes.append(f"{measure}: {what} left out, where a run has no value ({why})")
    return (usable, notes) if usable else (list(range(len(measures))), [])
