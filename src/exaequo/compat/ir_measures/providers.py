"""Providers: what evaluates. In: measures, judgments, a run. Out: a metric for each topic and measure, or aggregates.

All that come with this compute on one ranking, ties included. Those that bear the name of a program have its measures
and its peculiarities: the digits it prints, parameters it overlooks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, ClassVar

from exaequo.compat.ir_measures.base import NOT_PROVIDED, Measure
from exaequo.compat.ir_measures.base import registry as every
from exaequo.compat.ir_measures.evaluators import Evaluator, FallbackEvaluator, ListsEvaluator
from exaequo.compat.ir_measures.notation import parse_measure
from exaequo.compat.ir_measures.records import CalcResults, CwlMetric, Metric
from exaequo.compat.ir_measures.runtime import RuntimeEvaluator, RuntimeMeasure, define, define_byquery
from exaequo.errors import BadParameter
from exaequo.read import QrelsLike, RunLike

__all__ = [
    "NOT_PROVIDED",
    "AccuracyProvider",
    "CompatProvider",
    "CwlEvalProvider",
    "CwlMetric",
    "DefaultPipeline",
    "Evaluator",
    "FallbackProvider",
    "GdevalProvider",
    "JudgedProvider",
    "MsMarcoProvider",
    "Provider",
    "PyNdEvalProvider",
    "PytrecEvalProvider",
    "RanxProvider",
    "RuntimeProvider",
    "TrectoolsProvider",
    "define",
    "define_byquery",
    "register",
    "registry",
]

Measures = Iterable[Measure | str]


class Provider:
    """What evaluates some measures: `_evaluator` makes an `Evaluator` for them."""

    NAME: str = ""
    SUPPORTED_MEASURES: ClassVar[list[Measure]] = []

    def _evaluator(self, measures: Any, qrels: Any, **options: Any) -> Evaluator:
        raise NotImplementedError(f"{type(self).__name__} has no _evaluator(measures, qrels).")

    def evaluator(self, measures: Measures, qrels: QrelsLike, *, ties: str | None = None) -> Evaluator:
        """Return an evaluator for these measures and judgments."""
        wanted = list(dict.fromkeys(parse_measure(measure).complete for measure in measures))
        return self._evaluator(wanted, qrels, **({} if ties is None else {"ties": ties}))

    def iter_calc(
        self, measures: Measures, qrels: QrelsLike, run: RunLike, *, ties: str | None = None
    ) -> Iterator[Metric | CwlMetric]:
        """Yield a metric per topic and measure."""
        return self.evaluator(measures, qrels, ties=ties).iter_calc(run)

    def calc_aggregate(
        self, measures: Measures, qrels: QrelsLike, run: RunLike, *, ties: str | None = None
    ) -> dict[Measure, float]:
        """Return the aggregate of each measure."""
        return self.evaluator(measures, qrels, ties=ties).calc_aggregate(run)

    def calc(self, measures: Measures, qrels: QrelsLike, run: RunLike, *, ties: str | None = None) -> CalcResults:
        """Return aggregates and single values."""
        return self.evaluator(measures, qrels, ties=ties).calc(run)

    @contextmanager
    def calc_ctxt(self, measures: Measures, qrels: QrelsLike) -> Iterator[Callable[[RunLike], Iterator[Any]]]:
        """Give a function that evaluates runs: the old form of `evaluator`."""
        warnings.warn("calc_ctxt is called evaluator now.", DeprecationWarning, stacklevel=3)
        yield self.evaluator(measures, qrels).iter_calc

    def supports(self, measure: Measure) -> bool:
        """Tell whether this has the measure, with its parameters."""
        measure.validate_params()
        return any(
            each.definition is measure.definition and all(measure[name] == value for name, value in each.params.items())
            for each in self.SUPPORTED_MEASURES
        )

    def is_available(self) -> bool:
        """Tell whether all is there that this needs."""
        return True

    def run_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Return the columns of a run that the measures look at."""
        return sorted(set(chain.from_iterable(measure.RUN_INPUTS for measure in measures)))

    def qrel_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Return the columns of judgments that the measures look at."""
        return sorted(set(chain.from_iterable(measure.QREL_INPUTS for measure in measures)))


class _OnLists(Provider):
    """Evaluates on exaequo's ranking; a parameter that is set in a supported measure is set in all of that name."""

    #: Measures of readers who go on with a chance, which tell more than a value.
    READERS: ClassVar[frozenset[str]] = frozenset()
    #: Digits after the point, where the program prints figures and no more.
    DIGITS: ClassVar[int | None] = None

    def _evaluator(self, measures: list[Measure], qrels: QrelsLike, **options: Any) -> Evaluator:
        computed = [(measure, self._as_here(measure)) for measure in measures]
        return ListsEvaluator(computed, qrels, readers=self.READERS, digits=self.DIGITS, **options)

    def _as_here(self, measure: Measure) -> Measure:
        for each in self.SUPPORTED_MEASURES:
            if each.definition is measure.definition:
                return measure(**each.params) if each.params else measure
        has = ", ".join(sorted({each.NAME for each in self.SUPPORTED_MEASURES}))
        raise BadParameter(f"{self.NAME} does not have {measure}; it has {has}.")


def _listed(text: str) -> list[Measure]:
    return [parse_measure(each) for each in text.split()]


class ExaequoProvider(_OnLists):
    """All measures, on one ranking: what is asked unless a provider is named."""

    NAME = "exaequo"
    SUPPORTED_MEASURES: ClassVar[list[Measure]] = list(every.values())
    READERS = frozenset("RBP BPM SDCG NERR8 NERR9 NERR10 NERR11 INST INSQ".split())

    def _as_here(self, measure: Measure) -> Measure:
        measure.validate_params()
        return super()._as_here(measure)


class PytrecEvalProvider(_OnLists):
    """The measures of trec_eval."""

    NAME = "pytrec_eval"
    SUPPORTED_MEASURES = _listed(
        "P RR(cutoff=None) Rprec AP nDCG(dcg='log2') R Bpref NumRet NumQ NumRel(rel=1) SetAP SetF SetP SetR "
        "Success IPrec infAP"
    )


class CwlEvalProvider(_OnLists):
    """The measures of readers who go on with a chance; average precision is that of the documents returned."""

    NAME = "cwl_eval"
    SUPPORTED_MEASURES = _listed(
        "P(judged_only=False) RR(cutoff=None,judged_only=False) AP(cutoff=None,judged_only=False) RBP(cutoff=None) BPM "
        "SDCG NERR8 NERR9 NERR10 NERR11 INST INSQ"
    )
    READERS = frozenset(measure.NAME for measure in SUPPORTED_MEASURES)


class PyNdEvalProvider(_OnLists):
    """The measures of diversity."""

    NAME = "pyndeval"
    SUPPORTED_MEASURES = _listed("ERR_IA nERR_IA alpha_DCG alpha_nDCG NRBP nNRBP AP_IA P_IA StRecall")


class CompatProvider(_OnLists):
    """Compatibility."""

    NAME = "compat"
    SUPPORTED_MEASURES = _listed("Compat")


class JudgedProvider(_OnLists):
    """The share of judged documents."""

    NAME = "judged"
    SUPPORTED_MEASURES = _listed("Judged")


class MsMarcoProvider(_OnLists):
    """The reciprocal rank."""

    NAME = "msmarco"
    SUPPORTED_MEASURES = _listed("RR(judged_only=False)")


class GdevalProvider(_OnLists):
    """The measures of graded gain of the TREC Web tracks, with five digits."""

    NAME = "gdeval"
    SUPPORTED_MEASURES = _listed("nDCG(dcg='exp-log2',gains=None,judged_only=False) ERR")
    DIGITS = 5


class AccuracyProvider(_OnLists):
    """The share of pairs in the right order."""

    NAME = "accuracy"
    SUPPORTED_MEASURES = _listed("Accuracy")


class _Cut(_OnLists):
    """Does not say that it has RR@k, but computes it if it is asked."""

    def _as_here(self, measure: Measure) -> Measure:
        cutoff = {name: value for name, value in measure.params.items() if name == "cutoff"}
        return super()._as_here(measure)(**cutoff)


class RanxProvider(_Cut):
    """Measures that ranx has too; tied documents are ordered as everywhere here."""

    NAME = "ranx"
    SUPPORTED_MEASURES = _listed(
        "P(judged_only=False) SetP(judged_only=False) RR(cutoff=None,judged_only=False) Rprec(judged_only=False) "
        "AP(judged_only=False) nDCG(gains=None,judged_only=False) R(judged_only=False) SetR NumRet "
        "Success(judged_only=False)"
    )


class TrectoolsProvider(_Cut):
    """Measures that trectools has too."""

    NAME = "trectools"
    SUPPORTED_MEASURES = _listed(
        "P(rel=1,judged_only=False) RR(cutoff=None,rel=1,judged_only=False) Rprec(rel=1,judged_only=False) "
        "AP(rel=1,judged_only=False) nDCG(gains=None,judged_only=False) Bpref(rel=1) RBP"
    )


class RuntimeProvider(Provider):
    """Measures made with `define` and `define_byquery`."""

    NAME = "runtime"

    def _evaluator(self, measures: list[Any], qrels: Any, **_: Any) -> Evaluator:
        return RuntimeEvaluator(measures, qrels)

    def supports(self, measure: Measure) -> bool:
        """Tell whether it is such a measure."""
        return isinstance(measure, RuntimeMeasure)


class FallbackProvider(Provider):
    """Several providers: each measure comes from the first that has it."""

    def __init__(self, providers: Iterable[Provider]) -> None:
        self.providers = list(providers)

    def _evaluator(self, measures: list[Measure], qrels: Any, **options: Any) -> Evaluator:
        shares: dict[int, list[Measure]] = {}
        for measure in measures:
            able = (at for at, each in enumerate(self.providers) if each.is_available() and each.supports(measure))
            at = next(able, None)
            if at is None:
                raise BadParameter(
                    f"No provider has {measure}; asked were {', '.join(p.NAME for p in self.providers)}."
                )
            shares.setdefault(at, []).append(measure)
        once = list(qrels) if isinstance(qrels, Iterator) else qrels
        evaluators = [self.providers[at].evaluator(share, once, **options) for at, share in shares.items()]
        return evaluators[0] if len(evaluators) == 1 else FallbackEvaluator(measures, evaluators)

    def supports(self, measure: Measure) -> bool:
        """Tell whether one of them has the measure."""
        return any(each.is_available() and each.supports(measure) for each in self.providers)


#: Every provider by name.
registry: dict[str, Provider] = {}


def register(provider: Provider) -> Provider:
    """Make a provider known under its name."""
    registry[provider.NAME] = provider
    return provider


for _each in (
    *(AccuracyProvider, CompatProvider, CwlEvalProvider, PyNdEvalProvider, PytrecEvalProvider, JudgedProvider),
    *(GdevalProvider, TrectoolsProvider, MsMarcoProvider, RanxProvider, RuntimeProvider, ExaequoProvider),
):
    register(_each())
DefaultPipeline = FallbackProvider([registry["runtime"], registry["exaequo"]])
