"""Scores whose topics stayed where they were evaluated. In: a table of aggregates. Out: what shows as `Scores` do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from exaequo.choices import INTERVAL
from exaequo.frames import pl
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.scores import Block, Scores, TieEffect


@dataclass(frozen=True, eq=False)
class Means(Scores):
    """Aggregates by run, strategy and measure, of so many topics without names or values."""

    known: Mapping[tuple[str, str, str], float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, table: pl.DataFrame, measures: Sequence[Measure], options: Options, qrels: str, remarks: Sequence[str]
    ) -> Means:
        """Make them of `run, ties, measure, value, topics`; strategies not asked for say what ties decide."""
        known = {(run, ties, name): value for run, ties, name, value in table.select(*_KEY, "value").iter_rows()}
        sizes = dict(table.group_by("run").agg(pl.col("topics").max()).sort("run").iter_rows())
        nothing = np.zeros((0, 0))
        blocks = [
            Block(run, ties, (), pl.repeat("", topics, eager=True), nothing)
            for run, topics in sizes.items()
            for ties in options.ties
        ]
        inputs = {"qrels": {"file": qrels}, "runs": [{"name": run, "file": None} for run in sizes]}
        settings = dict(vars(options))
        return cls(tuple(measures), tuple(blocks), remarks=tuple(remarks), options=settings, inputs=inputs, known=known)

    @cached_property
    def _mean_of(self) -> dict[tuple[str, str, str], float]:
        keys = ((run, ties, each.name) for run in self.runs for ties in self.ties for each in self.measures)
        return {key: self.known[key] for key in keys}

    @cached_property
    def tie_effects(self) -> tuple[TieEffect, ...]:
        """The aggregates that ties change, where the three strategies that tell are known; not in how many topics."""
        effects = []
        for run in self.runs:
            for measure in self.measures:
                values = [self.known[key] for ties in INTERVAL if (key := (run, ties, measure.name)) in self.known]
                if len(values) == len(INTERVAL) and len(np.unique(values)) > 1:
                    low, middle, high = values
                    effects.append(TieEffect(run, measure, low, middle, high, topics=0))
        return tuple(effects)


_KEY = ("run", "ties", "measure")
