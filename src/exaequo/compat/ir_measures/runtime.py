"""Measures made at run time. In: a function of two frames of pandas. Out: a measure like the others.

The function sees a run sorted by topic and score; tied documents stay as they came, whatever the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from exaequo.compat.ir_measures.base import Measure
from exaequo.compat.ir_measures.evaluators import Evaluator
from exaequo.compat.ir_measures.records import CwlMetric, Metric
from exaequo.compat.ir_measures.util import QrelsConverter, RunConverter
from exaequo.errors import BadParameter
from exaequo.measures import Definition


class RuntimeMeasure(Measure):
    """A measure made at run time; equal is one of the same name, parameters and function."""

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, RuntimeMeasure) and self.definition.function is other.definition.function
        return same and super().__eq__(other)

    __hash__ = Measure.__hash__

    def runtime_impl(self, qrels: Any, run: Any) -> Iterator[Metric]:
        """Yield the value of each topic, from sorted frames."""
        if self.params.get("cutoff") is not None:
            run = run.groupby("query_id").head(self.params["cutoff"]).reset_index(drop=True)
        yield from (Metric(topic, self, value) for topic, value in self.definition.function(qrels, run))


class RuntimeEvaluator(Evaluator):
    """Measures made at run time, and judgments: whatever columns the functions look at."""

    def __init__(self, measures: list[RuntimeMeasure], qrels: Any) -> None:
        self._qrels = _sorted(QrelsConverter(qrels, strict=False), {"doc_id": True})
        super().__init__(measures, self._qrels["query_id"].unique())

    def _iter_calc(self, run: Any) -> Iterator[Metric | CwlMetric]:
        frame = _sorted(RunConverter(run, strict=False), {"score": False})
        for measure in self.measures:
            yield from measure.runtime_impl(self._qrels, frame)  # type: ignore[attr-defined]


def _sorted(data: QrelsConverter | RunConverter, then: dict[str, bool]) -> Any:
    """Return a frame by topic, and by further columns it may have, upwards or not."""
    frame = data.as_pd_dataframe()
    if "query_id" not in frame.columns:
        raise BadParameter(
            f"There is no column query_id in the {data.what}, only {', '.join(map(str, frame.columns))}."
        )
    order = {"query_id": True, **{name: up for name, up in then.items() if name in frame.columns}}
    return frame.sort_values(by=list(order), ascending=list(order.values()))


def define(
    impl: Callable[[Any, Any], Iterable[tuple[str, float]]],
    name: str | None = None,
    support_cutoff: bool = True,
    *,
    run_inputs: Iterable[str] | None = None,
    qrel_inputs: Iterable[str] | None = None,
    pretty_name: str | None = None,
    short_desc: str | None = None,
) -> RuntimeMeasure:
    """Make a measure of a function that takes qrels and run, frames of pandas, and returns pairs of topic and value.

    `run_inputs` and `qrel_inputs` are the columns it looks at, where they are not those of all measures.
    """

    class Made(RuntimeMeasure):
        """A measure made at run time."""

        RUN_INPUTS = Measure.RUN_INPUTS if run_inputs is None else tuple(run_inputs)
        QREL_INPUTS = Measure.QREL_INPUTS if qrel_inputs is None else tuple(qrel_inputs)

    name = name or getattr(impl, "__name__", None) or repr(impl)
    about: dict[str, Any] = {"title": pretty_name or name, "formula": short_desc or "", "source": "", "example": name}
    return Made(Definition(name, cast("Any", impl), defaults={"cutoff": None} if support_cutoff else {}, **about))


def define_byquery(
    impl: Callable[[Any, Any], float], name: str | None = None, support_cutoff: bool = True, **about: Any
) -> RuntimeMeasure:
    """Make a measure of a function that takes the qrels and the run of one topic, and returns its value.

    `about` is what `define` takes besides.
    """

    def of_all(qrels: Any, run: Any) -> Iterator[tuple[str, float]]:
        for topic, returned in run.groupby("query_id"):
            yield topic, impl(qrels[qrels["query_id"] == topic], returned)

    return define(of_all, name or getattr(impl, "__name__", None) or repr(impl), support_cutoff, **about)
