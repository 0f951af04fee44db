"""A drop-in for ir_measures: the same measure objects, functions and figures, on one ranking for all measures.

    from exaequo.compat import ir_measures
    from exaequo.compat.ir_measures import AP, nDCG, P, RR

Every function takes `ties=` besides what the original's takes; the default is the conventional order, as in the
original. Figures are those of the original's default provider, which for most measures is pytrec_eval. So here, unlike
in exaequo's own catalogue, all judged topics count, whether they have a relevant document or not; `beta` of SetF is the
square of the textbooks' β; IPrec rounds as release 9 of trec_eval does.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from exaequo.compat.pytrec_eval import combined, content
from exaequo.errors import UnknownMeasure
from exaequo.judge import Floats
from exaequo.measures import Definition, counts, gain, incomplete, notation, ranks, registry, sets
from exaequo.options import one_strategy
from exaequo.read import QrelsLike, Run, RunLike, read_qrels, read_run, trec
from exaequo.read.source import load
from exaequo.text import did_you_mean
from exaequo.trec_eval import measures as official
from exaequo.trec_eval.catalogue import BY_NAME, NICKNAMES
from exaequo.trec_eval.lists import Lists, all_topics, build, empty_run, judged_documents


class Qrel(NamedTuple):
    """One judgment."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """One returned document."""

    query_id: str
    doc_id: str
    score: float


class Metric(NamedTuple):
    """The value of a measure for a topic."""

    query_id: str
    measure: Measure
    value: float


class CalcResults(NamedTuple):
    """Aggregates, and the values they were made of."""

    aggregated: dict[Measure, float] | float
    per_query: list[Metric]


class Measure(registry.Measure):
    """A measure as in ir_measures: `AP`, `P(rel=2)@5`; it can evaluate by itself."""

    #: What a topic scores that the run lacks.
    DEFAULT = 0.0

    @property
    def NAME(self) -> str:  # noqa: N802 - the original's name for it
        """The name without parameters."""
        return self.definition.name

    def __getitem__(self, parameter: str) -> Any:
        """Return a parameter, or its default: `AP["rel"]`."""
        return self.params.get(parameter, self.definition.defaults[parameter])

    @property
    def name(self) -> str:
        """The notation as ir_measures prints it: parameters in the order they were given, reals as reals."""
        at, defaults = self.definition.at, self.definition.defaults
        shown = [f"{k}={_shown(v)}" for k, v in self.params.items() if k != at and v != defaults[k]]
        name = self.definition.name + (f"({','.join(shown)})" if shown else "")
        return f"{name}@{self.params[at]}" if at in self.params else name

    def calc_aggregate(self, qrels: QrelsLike, run: RunLike, *, ties: str = "conventional") -> float:
        """Return the aggregate over topics."""
        return calc_aggregate([self], qrels, run, ties=ties)[self]

    def iter_calc(self, qrels: QrelsLike, run: RunLike, *, ties: str = "conventional") -> Iterator[Metric]:
        """Return the value of each topic."""
        return iter_calc([self], qrels, run, ties=ties)

    def calc(self, qrels: QrelsLike, run: RunLike, *, ties: str = "conventional") -> CalcResults:
        """Return both; the aggregate is a number, as there is one measure."""
        both = calc([self], qrels, run, ties=ties)
        return CalcResults(both.aggregated[self], both.per_query)  # type: ignore[index]

    def evaluator(self, qrels: QrelsLike, *, ties: str = "conventional") -> Evaluator:
        """Return an evaluator for many runs."""
        return evaluator([self], qrels, ties=ties)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{v}" for k, v in sorted(value.items()) if k != v) + "}"
    return repr(value)


class Evaluator:
    """Measures and judgments, to evaluate any number of runs."""

    def __init__(self, measures: Iterable[Measure | str], qrels: QrelsLike, *, ties: str = "conventional") -> None:
        """Prepare the judgments."""
        self.measures = list(dict.fromkeys(parse_measure(measure).complete for measure in measures))
        # Topics without a single judgment count too: everything scores 0 on them.
        bare = qrels.items() if isinstance(qrels, Mapping) else ()
        self._unjudged = sorted(str(topic) for topic, documents in bare if not documents)
        judged = {t: d for t, d in qrels.items() if d} if isinstance(qrels, Mapping) else qrels
        self._judgments = all_topics(read_qrels(judged), 1)
        self._ties = one_strategy(ties)

    def iter_calc(self, run: RunLike) -> Iterator[Metric]:
        """Yield a metric per topic and measure; topics the run lacks have 0."""
        topics, values = self._values(run)
        for at, topic in enumerate(topics):
            for measure, column in zip(self.measures, values, strict=True):
                yield Metric(topic, measure, float(column[at]))

    def calc_aggregate(self, run: RunLike) -> dict[Measure, float]:
        """Return the mean over all judged topics, or the sum of counts."""
        _, values = self._values(run)
        return {m: _aggregate(m, column) for m, column in zip(self.measures, values, strict=True)}

    def calc(self, run: RunLike) -> CalcResults:
        """Return aggregates and single values."""
        metrics = list(self.iter_calc(run))
        values = [metric.value for metric in metrics]
        columns = {m: np.array(values[at :: len(self.measures)]) for at, m in enumerate(self.measures)}
        return CalcResults({m: _aggregate(m, column) for m, column in columns.items()}, metrics)

    def _values(self, run: RunLike) -> tuple[list[str], list[Floats]]:
        lists = build(self._judgments, _read(run), release=9, ties=self._ties)
        judged = judged_documents(lists) if any(m.params.get("judged_only") for m in self.measures) else lists
        values = []
        for measure in self.measures:
            params = {name: value for name, value in measure.params.items() if name != "judged_only"}
            chosen = judged if measure.params.get("judged_only") else lists
            figures = measure.definition.function(chosen, **params)
            known = np.where(lists.present, figures, 0.0)
            values.append(np.concatenate((known, np.zeros(len(self._unjudged)))))
        return [*self._judgments.names, *self._unjudged], values


def _read(run: RunLike) -> Run:
    """Read a run; one without a document is allowed here."""
    if isinstance(run, Iterator):
        run = list(run)
    if isinstance(run, Mapping):
        empty = not sum(map(len, run.values()))
    else:
        empty = isinstance(run, Sized) and not isinstance(run, str) and not len(run)
    return empty_run() if empty else read_run(run)


def _aggregate(measure: Measure, values: Floats) -> float:
    total = float(np.sum(values))
    return total if measure.definition.aggregate == "sum" else total / len(values)


# --------------------------------------------------------------------------------------------------------- measures

_CATALOGUE: dict[str, Measure] = {}
_BY_TREC_NAME: dict[str, Measure] = {}


def _define(
    name: str,
    function: Callable[..., Floats],
    *aliases: str,
    trec_names: str = "",
    rel: int | None = 1,
    judged_only: bool = False,
    **about: Any,
) -> Measure:
    """Add a measure with the parameters of a function after the lists, `rel` at this default.

    `judged_only` is one more parameter, for it chooses the lists; `trec_names` are what trec_eval calls the measure.
    """
    parameters = list(inspect.signature(function).parameters.values())[1:]
    defaults = {parameter.name: parameter.default for parameter in parameters}
    if "rel" in defaults:
        defaults["rel"] = rel
    if judged_only:
        defaults["judged_only"] = False
    about = {"title": name, "formula": "", "source": "ir_measures", "example": name, **about}
    measure = Measure(Definition(name, function, defaults=defaults, **about))
    _CATALOGUE.update(dict.fromkeys((name, *aliases), measure))
    _BY_TREC_NAME.update(dict.fromkeys(trec_names.split(), measure))
    return measure


def _set_p(lists: Lists, rel: int = 1, relative: bool = False) -> Floats:
    return official.set_relative_precision(lists, rel) if relative else sets.set_precision(lists, rel)


def _set_f(lists: Lists, rel: int = 1, beta: float = 1.0) -> Floats:
    return official.set_f(lists, (beta,), rel)


def _set_ap(lists: Lists, rel: int = 1) -> Floats:
    return sets.set_precision(lists, rel) * sets.set_recall(lists, rel)


def _err(lists: Lists, cutoff: int | None = None) -> Floats:
    return gain.expected_reciprocal_rank(lists, cutoff)


P = Precision = _define("P", sets.precision, "Precision", trec_names="P", judged_only=True, example="P@10")
R = Recall = _define("R", sets.recall, "Recall", trec_names="recall", judged_only=True, example="R@1000")
RR = MRR = _define("RR", ranks.reciprocal_rank, "MRR", trec_names="recip_rank", judged_only=True)
AP = MAP = _define("AP", ranks.average_precision, "MAP", trec_names="map map_cut", judged_only=True)
Rprec = RPrec = _define("Rprec", ranks.r_precision, "RPrec", trec_names="Rprec", judged_only=True)
nDCG = NDCG = _define("nDCG", gain.ndcg, "NDCG", trec_names="ndcg ndcg_cut", judged_only=True)
ERR = _define("ERR", _err, example="ERR@20")
RBP = _define("RBP", ranks.rank_biased_precision, rel=None)
Bpref = BPref = _define("Bpref", incomplete.bpref, "BPref", trec_names="bpref")
infAP = _define("infAP", incomplete.inferred_ap, trec_names="infAP")
Judged = _define("Judged", incomplete.judged, example="Judged@10")
Success = _define("Success", sets.success, trec_names="success", judged_only=True, example="Success@5")
IPrec = _define(
    "IPrec", official.interpolated, trec_names="iprec_at_recall", judged_only=True, at="recall", example="IPrec@0.1"
)
SetP = _define("SetP", _set_p, trec_names="set_P", judged_only=True)
SetRelP = SetP(relative=True)
SetR = _define("SetR", sets.set_recall, trec_names="set_recall")
SetF = _define("SetF", _set_f, trec_names="set_F", judged_only=True)
SetAP = _define("SetAP", _set_ap, trec_names="set_map", judged_only=True)
NumQ = _define("NumQ", counts.topics, trec_names="num_q", aggregate="sum")
NumRel = _define("NumRel", counts.relevant, trec_names="num_rel", aggregate="sum")
NumRet = _define("NumRet", counts.returned, trec_names="num_ret", rel=None, aggregate="sum")
NumRelRet = NumRet(rel=1)
_CATALOGUE |= {"SetRelP": SetRelP, "NumRelRet": NumRelRet}
_BY_TREC_NAME |= {"set_relative_P": SetRelP, "num_rel_ret": NumRelRet}


def parse_measure(measure: str | registry.Measure | object) -> Measure:
    """Read a measure from its notation, or from an object that prints in it."""
    if isinstance(measure, Measure):
        return measure
    parsed = notation.parse_measure(str(measure), _find, complete=False)
    return Measure(parsed.definition, parsed.params, parsed.aggregate)


def _find(name: str) -> Measure:
    if name not in _CATALOGUE:
        raise UnknownMeasure(f"There is no measure {name!r}{did_you_mean(name, _CATALOGUE) or '.'}")
    return _CATALOGUE[name]


def parse_trec_measure(measure: str) -> list[Measure]:
    """Read a name of trec_eval: `P.5,10`, `P_5`, `ndcg_cut`, or a nickname. Measures ir_measures lacks are left out."""
    if measure in NICKNAMES:
        names = sorted(name for name in NICKNAMES[measure] if name in _BY_TREC_NAME)
        return [parsed for name in names for parsed in parse_trec_measure(name)]
    (form,) = combined([measure])
    name, _, given = form.partition(".")
    if name not in _BY_TREC_NAME:
        raise ValueError(f"measure {measure} is not one of ir_measures'")
    found, about = _BY_TREC_NAME[name], BY_NAME[name]
    if about.takes in ("", "pairs"):
        return [found]
    parameter = "beta" if found is SetF else found.definition.at
    texts = re.findall(r"[0-9]+(?:\.[0-9]+)?", measure[len(name) :]) if given else []
    values = [int(text) if about.takes == "cut" else float(text) for text in texts] or about.default
    return [found(**{parameter: value}) for value in values]


# -------------------------------------------------------------------------------------------------------- functions


def evaluator(measures: Iterable[Measure | str], qrels: QrelsLike, *, ties: str = "conventional") -> Evaluator:
    """Return an evaluator for these measures and judgments."""
    return Evaluator(measures, qrels, ties=ties)


def iter_calc(
    measures: Iterable[Measure | str], qrels: QrelsLike, run: RunLike, *, ties: str = "conventional"
) -> Iterator[Metric]:
    """Yield a metric per topic and measure."""
    return evaluator(measures, qrels, ties=ties).iter_calc(run)


def calc_aggregate(
    measures: Iterable[Measure | str], qrels: QrelsLike, run: RunLike, *, ties: str = "conventional"
) -> dict[Measure, float]:
    """Return the aggregate of each measure."""
    return evaluator(measures, qrels, ties=ties).calc_aggregate(run)


def calc(
    measures: Iterable[Measure | str], qrels: QrelsLike, run: RunLike, *, ties: str = "conventional"
) -> CalcResults:
    """Return aggregates and single values."""
    return evaluator(measures, qrels, ties=ties).calc(run)


def read_trec_qrels(file: Any) -> Iterator[Qrel]:
    """Yield judgments from a path, an open file, or text."""
    for query_id, iteration, doc_id, relevance in _rows(file, trec.QRELS):
        yield Qrel(query_id, doc_id, int(relevance) if float(relevance).is_integer() else relevance, iteration)


def read_trec_run(file: Any) -> Iterator[ScoredDoc]:
    """Yield returned documents from a path, an open file, or text."""
    for query_id, _, doc_id, _, score, _ in _rows(file, trec.RUN):
        yield ScoredDoc(query_id, doc_id, score)


def _rows(file: Any, layout: trec.Layout) -> Iterator[tuple[Any, ...]]:
    name = str(getattr(file, "name", layout.what))
    if isinstance(file, str | Path) and "\n" not in str(file):
        data, source = load(str(file))
        name = source.name
    else:
        data = content([file] if isinstance(file, str) else file)
    if not data.strip():
        return
    yield from trec.parse(data, layout, name, repeats=True).select(layout.fields).iter_rows()
