"""Scores: one tidy table `run, ties, topic, measure, value`, its aggregates, and where they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.errors import BadParameter, ExaequoError
from exaequo.expected import Expected
from exaequo.judge import Floats
from exaequo.measures import Measure, parse_measure

if TYPE_CHECKING:
    import pandas as pd

#: The topic under which aggregates stand in a tidy table.
ALL = "all"
COLUMNS = ("run", "ties", "topic", "measure", "value")


@dataclass(frozen=True, eq=False)
class Block:
    """The values of one run under one strategy: a row per measure, a column per topic.

    Expected values come with the way they were found, their standard deviations over orders and standard errors.
    """

    run: str
    ties: str
    topics: pl.Series
    values: Floats
    expected: Expected | None = None


@dataclass(frozen=True)
class TieEffect:
    """What one aggregate is under each strategy, and in how many topics ties change the value."""

    run: str
    measure: Measure
    realistic: float
    conventional: float
    optimistic: float
    topics: int


@dataclass(frozen=True, eq=False)
class Scores:
    """The result of an evaluation."""

    measures: tuple[Measure, ...]
    blocks: tuple[Block, ...]
    tie_effects: tuple[TieEffect, ...] = ()
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)

    @property
    def runs(self) -> list[str]:
        """Names of the runs, in the order they were given."""
        return list(dict.fromkeys(block.run for block in self.blocks))

    @property
    def ties(self) -> list[str]:
        """The strategies, in the order they were asked for."""
        return list(dict.fromkeys(block.ties for block in self.blocks))

    @cached_property
    def topics(self) -> pl.DataFrame:
        """One row per run, strategy, topic and measure."""
        names = [measure.name for measure in self.measures]
        parts = [
            pl.DataFrame(
                {
                    "run": pl.repeat(block.run, block.values.size, eager=True, dtype=pl.String),
                    "ties": pl.repeat(block.ties, block.values.size, eager=True, dtype=pl.String),
                    "topic": block.topics.gather(np.repeat(np.arange(len(block.topics)), len(names))),
                    "measure": pl.Series(names * len(block.topics), dtype=pl.String),
                    "value": block.values.T.ravel(),
                }
            )
            for block in self.blocks
        ]
        return pl.concat(parts)

    @cached_property
    def means(self) -> pl.DataFrame:
        """One row per run, strategy and measure: the mean over topics, or the sum or geometric mean."""
        rows = [
            (block.run, block.ties, ALL, measure.name, aggregate(measure.aggregate, values))
            for block in self.blocks
            for measure, values in zip(self.measures, block.values, strict=True)
        ]
        return pl.DataFrame(rows, schema=[*COLUMNS[:-1], ("value", pl.Float64)], orient="row")

    @property
    def expectations(self) -> list[dict[str, Any]]:
        """How each expected value was found, with the standard error of the mean, 0 where it is exact."""
        return [
            {
                "run": block.run,
                "measure": measure.name,
                "how": block.expected.how[row] + (" of each topic" if measure.aggregate == "gm" else ""),
                "standard_error": float(np.sqrt(np.nansum(block.expected.error[row] ** 2)) / len(block.topics)),
            }
            for block in self.blocks
            if block.expected is not None
            for row, measure in enumerate(self.measures)
        ]

    def mean(self, measure: str | Measure, *, run: str | None = None, ties: str | None = None) -> float:
        """Return one aggregate; the run and the strategy may be left out where there is only one."""
        wanted = (
            _only("run", run, self.runs),
            _only("ties", ties, self.ties),
            _only("measure", parse_measure(measure).name, [known.name for known in self.measures]),
        )
        return self._mean_of[wanted]

    @cached_property
    def _mean_of(self) -> dict[tuple[str, str, str], float]:
        return {(run, ties, measure): value for run, ties, _, measure, value in self.means.rows()}

    def to_polars(self, *, means: bool = True) -> pl.DataFrame:
        """Return the tidy table, with the aggregates under the topic `all` unless `means` is False."""
        return pl.concat([self.topics, self.means]) if means else self.topics

    def to_pandas(self, *, means: bool = True) -> pd.DataFrame:
        """Return the tidy table as a pandas frame."""
        try:
            import pandas as pd
        except ImportError:
            raise ExaequoError("to_pandas() needs pandas: pip install pandas") from None
        return pd.DataFrame(self.to_polars(means=means).to_dict(as_series=False))

    def to_dict(self) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
        """Return `{run: {ties: {topic: {measure: value}}}}`: for each run and strategy what pytrec_eval returns."""
        names = [measure.name for measure in self.measures]
        result: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
        for block in self.blocks:
            lists = block.values.T.tolist()
            result.setdefault(block.run, {})[block.ties] = {
                topic: dict(zip(names, values, strict=True)) for topic, values in zip(block.topics, lists, strict=True)
            }
        return result

    def __repr__(self) -> str:
        from exaequo.scores.formats import text_table

        return text_table(self)

    def _repr_html_(self) -> str:
        from exaequo.scores.formats import html_table

        return html_table(self)


def _only(what: str, given: str | None, known: Sequence[str]) -> str:
    if given is None and len(known) == 1:
        return known[0]
    if given is None or given not in known:
        got = "nothing" if given is None else repr(given)
        raise BadParameter(f"{what} must be one of {', '.join(known)}. Got {got} instead.")
    return given
