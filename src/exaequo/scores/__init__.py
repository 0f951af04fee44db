"""Scores: run × ties × measure × topic, found by name; aggregates, the tidy table, and where the values came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from exaequo.aggregate import aggregate
from exaequo.arrays import Bools, Floats, Ints
from exaequo.choices import INTERVAL
from exaequo.errors import BadParameter, ExaequoError, UsageError
from exaequo.expected import Expected
from exaequo.frames import pl
from exaequo.measures import Measure, parse_measure
from exaequo.text import count, did_you_mean, listed

if TYPE_CHECKING:
    import pandas as pd

#: The topic under which aggregates stand in a tidy table.
ALL = "all"
COLUMNS = ("run", "ties", "topic", "measure", "value")


def _series(names: Sequence[str] | pl.Series) -> pl.Series:
    return pl.Series("qid", names, dtype=pl.String) if isinstance(names, list | tuple) else names  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Block:
    """The values of one run under one strategy: a row per measure, a column per topic.

    Expected values come with the way they were found, their standard deviations over orders and standard errors.
    """

    run: str
    ties: str
    measures: tuple[Measure, ...]
    names: Sequence[str] | pl.Series
    values: Floats
    expected: Expected | None = None

    @classmethod
    def of(cls, run: str, ties: str, measures: tuple[Measure, ...], names: Any, values: Floats | Expected) -> Block:
        """Make one of values, expected or not."""
        both = (values.values, values) if isinstance(values, Expected) else (values, None)
        return cls(run, ties, measures, names, *both)

    @cached_property
    def topics(self) -> pl.Series:
        """The topics, one for each column."""
        return _series(self.names)

    def named(self, run: str) -> Block:
        """Return the same values under another name of the run."""
        return self if run == self.run else replace(self, run=run)

    def part(self, kept: Ints) -> Block:
        """Keep the topics at these places, in this order."""
        topics, values = self.topics.gather(kept), self.values[:, kept]
        return Block(self.run, self.ties, self.measures, topics, values, self.expected and self.expected.part(kept))

    def row(self, row: int) -> Values:
        """Return the values of one measure."""
        values = Values(self.run, self.ties, self.measures[row], self.names, self.values[row])
        if self.expected is None:
            return values
        found = self.expected
        return replace(values, how=found.how[row], deviation=found.deviation[row], error=found.error[row])


@dataclass(frozen=True, eq=False)
class Values:
    """One measure of one run under one strategy: a value per topic, NaN where there is none.

    Expected values say how they were found, with the standard deviation over orders and the standard error of each.
    """

    run: str
    ties: str
    measure: Measure
    names: Sequence[str] | pl.Series
    values: Floats
    how: str = ""
    deviation: Floats = field(default_factory=lambda: np.zeros(0))
    error: Floats = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def topics(self) -> pl.Series:
        """The topics, one for each value."""
        return _series(self.names)

    @property
    def undefined(self) -> Bools:
        """Tell which topics have no value."""
        return np.isnan(self.values)

    @property
    def mean(self) -> float:
        """The aggregate of the topics that have a value: the mean, or the sum or geometric mean."""
        return aggregate(self.measure.aggregate, self.values)

    @property
    def standard_error(self) -> float:
        """The standard error of the aggregate of expected values, 0 where they are exact."""
        total, known = float(np.sqrt(np.nansum(self.error**2))), int((~self.undefined).sum())
        return total if self.measure.aggregate == "sum" or not known else total / known

    def to_dict(self) -> dict[str, float]:
        """Return `{topic: value}`."""
        return dict(zip(self.names, self.values.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Matrix:
    """One measure of several runs under one strategy, on the topics they share: a row per run, a column per topic."""

    measure: Measure
    runs: list[str]
    topics: pl.Series
    values: Floats

    def __getitem__(self, run: str) -> Floats:
        own: Floats = self.values[self.runs.index(_only("run", run, self.runs))]
        return own


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
    """The result of an evaluation.

    `blocks` hold what was asked for; `beside` what was computed besides: other strategies, other measures. `facts` is
    what else was noted of each run, by its name, `remarks` is what to know about the files, and `every` are the names
    of all topics with a relevant document.
    """

    measures: tuple[Measure, ...]
    blocks: tuple[Block, ...]
    beside: tuple[Block, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    every: Sequence[str] | pl.Series = ()
    _matrices: dict[tuple[str, str], Matrix] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def evaluated(self) -> pl.Series:
        """All topics with a relevant document; of scores made by hand, all there are."""
        if not len(self.every) and self.blocks:
            return pl.concat([block.topics for block in self.blocks]).unique(maintain_order=True)
        return _series(self.every)

    @cached_property
    def runs(self) -> list[str]:
        """Names of the runs, in the order they were given."""
        return list(dict.fromkeys(block.run for block in self.blocks))

    @cached_property
    def ties(self) -> list[str]:
        """The strategies, in the order they were asked for; the first is the one that counts."""
        return list(dict.fromkeys(block.ties for block in self.blocks))

    def __getitem__(self, key: tuple[str, str, str | Measure]) -> Values:
        """Return the topics and values of `scores[run, ties, measure]`."""
        if not isinstance(key, tuple) or len(key) != 3:
            raise BadParameter(f"Scores are found by run, ties and measure: scores[run, ties, measure]. Got {key!r}.")
        run, ties, measure = key
        name = measure if isinstance(measure, str) else measure.name
        found = self._rows.get((run, ties, name)) or self._rows.get((run, ties, parse_measure(measure).name))
        if found is None:
            self._refuse(run, ties, parse_measure(measure))
        block, row = found
        return block.row(row)

    def __contains__(self, key: tuple[str, str, str | Measure]) -> bool:
        try:
            self[key]
        except UsageError:
            return False
        return True

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], tuple[Block, int]]:
        return {
            (block.run, block.ties, measure.name): (block, row)
            for block in (*self.beside, *self.blocks)
            for row, measure in enumerate(block.measures)
        }

    def _refuse(self, run: str, ties: str, measure: Measure) -> NoReturn:
        for what, given, known in (
            ("run", run, self.runs),
            ("ties", ties, self.ties),
            ("measure", measure.name, [each.name for each in self.measures]),
        ):
            if given not in known:
                hint = did_you_mean(given, known) or f"; there are {listed(known, 20)}."
                raise BadParameter(f"These scores have no {what} {given!r}{hint}")
        raise BadParameter(f"These scores have no {measure} of {run} under {ties} ties.")

    def matrix(self, measure: str | Measure, ties: str | None = None) -> Matrix:
        """Return runs × topics, for the topics where every run has a value, whichever the strategy."""
        parsed, chosen = parse_measure(measure), ties or self.ties[0]
        if chosen not in self.ties:
            self._refuse(self.runs[0], chosen, parsed)
        if (parsed.name, chosen) not in self._matrices:
            self._fill(parsed)
        return self._matrices[parsed.name, chosen]

    @cached_property
    def shared(self) -> pl.Series:
        """The topics that every run has."""
        topics = self.blocks[0].topics
        if all(block.topics is topics or block.topics.equals(topics) for block in self.blocks):
            return topics
        known = set(topics).intersection(*(block.topics for block in self.blocks))
        return topics.filter(topics.is_in(list(known)))

    def _fill(self, measure: Measure) -> None:
        """Put the values of a measure together, for each strategy, on the topics all of them share."""
        table = np.stack([_at(self[run, ties, measure], self.shared) for ties in self.ties for run in self.runs])
        known = ~np.isnan(table).any(axis=0)
        own = self.shared.filter(pl.Series(known))
        for ties, rows in zip(self.ties, np.split(table[:, known], len(self.ties)), strict=True):
            self._matrices[measure.name, ties] = Matrix(measure, self.runs, own, rows)

    def only(self, *, measures: Sequence[Measure] | None = None, topics: pl.Series | None = None) -> Scores:
        """Return the same with these measures, or these topics, alone; what stands beside keeps its measures."""
        kept = self.measures if measures is None else tuple(measures)
        blocks, beside = self.blocks, self.beside
        if topics is not None:
            blocks, beside = (
                tuple(block.part(_places(block.topics, topics)) for block in each) for each in (blocks, beside)
            )
        if measures is not None:
            blocks = tuple(_with_measures(block, kept) for block in blocks)
        return replace(self, measures=kept, blocks=blocks, beside=beside)

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
        rows = [(run, ties, ALL, measure, mean) for (run, ties, measure), mean in self._mean_of.items()]
        return pl.DataFrame(rows, schema=[*COLUMNS[:-1], ("value", pl.Float64)], orient="row")

    def _asked(self) -> Iterator[Values]:
        return (block.row(at) for block in self.blocks for at in range(len(block.measures)))

    @cached_property
    def tie_effects(self) -> tuple[TieEffect, ...]:
        """The aggregates that ties change, where the three strategies that tell were computed."""
        effects = []
        for run in self.runs:
            for measure in self.measures:
                if not all((run, ties, measure.name) in self._rows for ties in INTERVAL):
                    continue
                low, middle, high = (self[run, ties, measure] for ties in INTERVAL)
                changed = (low.values != middle.values) | (middle.values != high.values)
                changed &= ~(low.undefined & middle.undefined & high.undefined)
                if changed.any():
                    effects.append(TieEffect(run, measure, low.mean, middle.mean, high.mean, int(changed.sum())))
        return tuple(effects)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What to know before reading the scores: remarks on the files, and where a measure has no value."""
        files = {each["name"]: each["file"] for each in self.inputs.get("runs", ())}
        undefined: list[str] = []
        partial = any(each.definition.undefined for block in self.blocks for each in block.measures)
        for values in self._asked() if partial else ():
            why = values.measure.definition.undefined
            if why and values.undefined.any():
                without = values.topics.filter(pl.Series(values.undefined))
                plain = Measure(values.measure.definition, values.measure.params).name
                what = f"{plain} undefined in {len(without):,} of {count(len(values.topics), 'topic')}"
                name = files.get(values.run, values.run)
                undefined.append(f"{name}: {what}, left out of its mean ({why}): {listed(without.to_list())}")
        return (*self.remarks, *dict.fromkeys(undefined))

    @property
    def expectations(self) -> list[dict[str, Any]]:
        """How each expected value was found, with the standard error of the mean, 0 where it is exact."""
        return [
            {
                "run": each.run,
                "measure": each.measure.name,
                "how": each.how + (" of each topic" if each.measure.aggregate == "gm" else ""),
                "standard_error": each.standard_error,
            }
            for each in self._asked()
            if each.how
        ]

    def mean(self, measure: str | Measure, *, run: str | None = None, ties: str | None = None) -> float:
        """Return one aggregate; the run and the strategy may be left out where there is only one."""
        one = _only("run", run, self.runs), _only("ties", ties, self.ties)
        return self._mean_of[*one, _only("measure", parse_measure(measure).name, [each.name for each in self.measures])]

    @cached_property
    def _mean_of(self) -> dict[tuple[str, str, str], float]:
        rows = ((block, *row) for block in self.blocks for row in zip(block.measures, block.values, strict=True))
        return {(block.run, block.ties, each.name): aggregate(each.aggregate, own) for block, each, own in rows}

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
                topic: dict(zip(names, values, strict=True)) for topic, values in zip(block.names, lists, strict=True)
            }
        return result

    def __repr__(self) -> str:
        from exaequo.scores.formats import text_table

        return text_table(self)

    def _repr_html_(self) -> str:
        from exaequo.scores.formats import html_table

        return html_table(self)


def _places(own: pl.Series, topics: pl.Series) -> Ints:
    """Return where these topics, all of which are there, stand among its own."""
    place = {topic: at for at, topic in enumerate(own)}
    return np.array([place[topic] for topic in topics], dtype=np.int64)


def _at(values: Values, topics: pl.Series) -> Floats:
    """Return the values of these topics, in their order."""
    if values.topics is topics or values.topics.equals(topics):
        return values.values
    own: Floats = values.values[_places(values.topics, topics)]
    return own


def _with_measures(block: Block, measures: tuple[Measure, ...]) -> Block:
    rows = [block.measures.index(measure) for measure in measures]
    expected = block.expected and block.expected.rows(rows)
    return Block(block.run, block.ties, measures, block.names, block.values[rows], expected)


def _only(what: str, given: str | None, known: Sequence[str]) -> str:
    if given is None and len(known) == 1:
        return known[0]
    if given is None or given not in known:
        got = "nothing" if given is None else repr(given)
        raise BadParameter(f"{what} must be one of {', '.join(known)}. Got {got} instead.")
    return given
