"""Evaluators: measures and judgments, to evaluate any number of runs. In: a run. Out: metrics, aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np

from exaequo.arrays import Floats
from exaequo.compat import default_ties
from exaequo.compat.ir_measures import cwl
from exaequo.compat.ir_measures.base import Measure
from exaequo.compat.ir_measures.records import CalcResults, CwlMetric, Metric
from exaequo.options import one_strategy
from exaequo.read import QrelsLike, Run, RunLike, read_qrels, read_run
from exaequo.trec_eval.lists import Lists, all_topics, build, empty_run, judged_documents


class Evaluator:
    """Measures and the topics that are judged; `_iter_calc` is for those who write one."""

    def __init__(self, measures: Iterable[Measure], qrel_qids: Iterable[str]) -> None:
        self.measures, self.qrel_qids = list(measures), list(qrel_qids)

    def _iter_calc(self, run: Any) -> Iterator[Metric | CwlMetric]:
        raise NotImplementedError(f"{type(self).__name__} has no _iter_calc(run).")

    def iter_calc(self, run: RunLike) -> Iterator[Metric | CwlMetric]:
        """Yield a metric per topic and measure; a judged topic without one has what the measure has by default."""
        missing = {(measure, topic): None for measure in self.measures for topic in self.qrel_qids}
        for metric in self._iter_calc(run):
            missing.pop((metric.measure, metric.query_id), None)
            yield metric
        yield from (Metric(topic, measure, measure.DEFAULT) for measure, topic in missing)

    def calc_aggregate(self, run: RunLike) -> dict[Measure, float]:
        """Return the mean over all judged topics, or the sum of counts."""
        aggregated: Any = self.calc(run).aggregated
        return dict(aggregated)

    def calc(self, run: RunLike) -> CalcResults:
        """Return aggregates and single values."""
        metrics = list(self.iter_calc(run))
        together = {measure: measure.aggregator() for measure in self.measures}
        for metric in metrics:
            together[metric.measure].add(metric.value)
        return CalcResults({measure: each.result() for measure, each in together.items()}, metrics)


class FallbackEvaluator(Evaluator):
    """The evaluators of several providers together."""

    def __init__(self, measures: Iterable[Measure], evaluators: Sequence[Evaluator]) -> None:
        super().__init__(measures, evaluators[0].qrel_qids)
        self.evaluators = evaluators

    def iter_calc(self, run: RunLike) -> Iterator[Metric | CwlMetric]:
        """Yield what each of them yields."""
        once = list(run) if isinstance(run, Iterator) else run
        for each in self.evaluators:
            yield from each.iter_calc(once)


class _Column(NamedTuple):
    """The values of a measure for all topics, NaN for those left out, and what else its reader can expect."""

    measure: Measure
    values: Floats
    more: Floats | None


class ListsEvaluator(Evaluator):
    """Measures, each with the one that is computed for it, and judgments; all see one ranking."""

    def __init__(
        self,
        computed: Sequence[tuple[Measure, Measure]],
        qrels: QrelsLike,
        *,
        readers: frozenset[str] = frozenset(),
        digits: int | None = None,
        ties: str | None = None,
    ) -> None:
        """Prepare the judgments."""
        self._computed, self._readers, self._digits = list(computed), readers, digits
        self._ties = one_strategy(default_ties() if ties is None else ties)
        # Topics without a single judgment count too: everything scores 0 on them.
        bare = qrels.items() if isinstance(qrels, Mapping) else ()
        unjudged = sorted(str(topic) for topic, documents in bare if not documents)
        judged = {t: d for t, d in qrels.items() if d} if isinstance(qrels, Mapping) else _held(qrels)
        self._judgments = None if _empty(judged) else all_topics(read_qrels(judged), 1)
        known = [] if self._judgments is None else list(self._judgments.names)
        super().__init__([measure for measure, _ in computed], [*known, *unjudged])

    def iter_calc(self, run: RunLike) -> Iterator[Metric | CwlMetric]:
        """Yield a metric per topic and measure; topics the run lacks have 0, or are left out."""
        present, columns = self._columns(run)
        for at, topic in enumerate(self.qrel_qids):
            for measure, values, more in columns:
                if values[at] != values[at]:  # NaN: it has no value there
                    continue
                if more is None or not present[at]:
                    yield Metric(topic, measure, float(values[at]))
                else:
                    yield CwlMetric(topic, measure, float(values[at]), *map(float, more[at]))

    def calc_aggregate(self, run: RunLike) -> dict[Measure, float]:
        """Return the mean over all judged topics, or the sum of counts."""
        return {column.measure: _aggregate(column) for column in self._columns(run)[1]}

    def calc(self, run: RunLike) -> CalcResults:
        """Return aggregates and single values."""
        metrics = list(self.iter_calc(run))
        values: dict[Measure, list[float]] = {measure: [] for measure in self.measures}
        for metric in metrics:
            values[metric.measure].append(metric.value)
        columns = (_Column(measure, np.array(each), None) for measure, each in values.items())
        return CalcResults({column.measure: _aggregate(column) for column in columns}, metrics)

    def _columns(self, run: RunLike) -> tuple[list[bool], list[_Column]]:
        if self._judgments is None:
            n_topics = len(self.qrel_qids)
            return [], [_Column(each, np.full(n_topics, each.DEFAULT), None) for each in self.measures]
        lists = build(self._judgments, _read(run), release=9, ties=self._ties)
        only = any(of.params.get("judged_only") for _, of in self._computed)
        judged = judged_documents(lists) if only else lists
        n_bare = len(self.qrel_qids) - lists.n_topics
        columns = []
        for measure, of in self._computed:
            values, more = self._figures(judged if of.params.get("judged_only") else lists, of)
            known = np.where(lists.present, values, measure.DEFAULT)
            whole = np.append(known, np.full(n_bare, measure.DEFAULT)) if n_bare else known
            columns.append(_Column(measure, whole, more))
        return [*lists.present.tolist(), *[False] * n_bare], columns

    def _figures(self, lists: Lists, measure: Measure) -> tuple[Floats, Floats | None]:
        given = {name: value for name, value in measure.params.items() if name != "judged_only"}
        if measure.NAME in self._readers and not (measure.NAME == "RBP" and given.get("cutoff")):
            expected = cwl.expected(lists, measure.NAME, {**measure.definition.defaults, **given})
            return expected.utility, np.stack(expected[1:], axis=1)
        values = measure.definition.function(lists, **given)
        return values if self._digits is None else np.round(values, self._digits), None


def _aggregate(column: _Column) -> float:
    values = column.values
    total = float(values.sum())
    if total != total:  # NaN: there are topics without a value
        values = values[~np.isnan(values)]
        total = float(values.sum())
    if column.measure.definition.aggregate == "sum":
        return total
    return total / len(values) if len(values) else float("nan")


def _held(data: Any) -> Any:
    return list(data) if isinstance(data, Iterator) else data


def _empty(data: Any) -> bool:
    """Tell whether there is not one record."""
    if isinstance(data, Mapping):
        return not sum(map(len, data.values()))
    return isinstance(data, Sized) and not isinstance(data, str) and not len(data)


def _read(run: RunLike) -> Run:
    """Read a run; one without a document is allowed here."""
    run = _held(run)
    return empty_run() if _empty(run) else read_run(run)
