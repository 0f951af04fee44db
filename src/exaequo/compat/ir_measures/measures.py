"""The measures of ir_measures, with its names, parameters and defaults; their figures are those of the catalogue."""

from __future__ import annotations

from typing import Any

import numpy as np

from exaequo.arrays import Floats
from exaequo.compat.ir_measures import cwl
from exaequo.compat.ir_measures.base import NOT_PROVIDED as NOT_PROVIDED
from exaequo.compat.ir_measures.base import MeanAgg as MeanAgg
from exaequo.compat.ir_measures.base import Measure as Measure
from exaequo.compat.ir_measures.base import ParamInfo as ParamInfo
from exaequo.compat.ir_measures.base import SumAgg as SumAgg
from exaequo.compat.ir_measures.base import made
from exaequo.compat.ir_measures.base import register as register
from exaequo.compat.ir_measures.base import registry as registry
from exaequo.measures import counts, gain, incomplete, ranks, sets, subtopics
from exaequo.measures.arithmetic import ratio
from exaequo.measures.parameters import PARAMETERS, Parameter
from exaequo.measures.registry import REQUIRED
from exaequo.trec_eval import measures as official
from exaequo.trec_eval.lists import Lists

BaseMeasure = Measure


def _set_p(lists: Lists, rel: int = 1, relative: bool = False) -> Floats:
    return official.set_relative_precision(lists, rel) if relative else sets.set_precision(lists, rel)


def _set_f(lists: Lists, rel: int = 1, beta: float = 1.0) -> Floats:
    return official.set_f(lists, (beta,), rel)


def _set_ap(lists: Lists, rel: int = 1) -> Floats:
    return sets.set_precision(lists, rel) * sets.set_recall(lists, rel)


def _err(lists: Lists, cutoff: int | None = None) -> Floats:
    return gain.expected_reciprocal_rank(lists, cutoff)


def _nrbp(lists: Lists, alpha: float = 0.5, beta: float = 0.5, rel: int = 1) -> Floats:
    return subtopics.nrbp(lists, beta, alpha, rel)


def _n_nrbp(lists: Lists, alpha: float = 0.5, beta: float = 0.5, rel: int = 1) -> Floats:
    return subtopics.n_nrbp(lists, beta, alpha, rel)


def _accuracy(lists: Lists, cutoff: int | None = None, rel: int = 1) -> Floats:
    """Return the share of pairs, a relevant document and another, in the right order; NaN where there is no pair."""
    hits = lists.hits(rel, cutoff)
    length = lists.returned if cutoff is None else np.minimum(lists.returned, cutoff)
    found = lists.total(hits.topic)
    pairs = found * (length - found)
    wrong = ratio(lists.total(hits.topic, (hits.rank - hits.nth).astype(np.float64)), pairs)
    return np.where(pairs > 0, 1 - wrong, np.nan)


def _reader(name: str, example: str, rules: dict[str, Parameter] | None = None, **defaults: Any) -> Measure:
    """Add a measure of a reader who goes on with a chance; gains lie on the scale from `min_rel` to `max_rel`."""
    return made(
        name,
        lambda lists, **given: cwl.expected(lists, name, given).utility,
        defaults={**defaults, "min_rel": 0, "max_rel": REQUIRED},
        parameters=rules or {},
        example=example,
    )


P = Precision = made("P", sets.precision, "Precision", judged_only=True, example="P@10")
R = Recall = made("R", sets.recall, "Recall", judged_only=True, example="R@1000")
RR = MRR = made("RR", ranks.reciprocal_rank, "MRR", judged_only=True)
AP = MAP = made("AP", ranks.average_precision, "MAP", judged_only=True)
Rprec = RPrec = made("Rprec", ranks.r_precision, "RPrec", judged_only=True)
nDCG = NDCG = made("nDCG", gain.ndcg, "NDCG", judged_only=True)
ERR = made("ERR", _err, example="ERR@20")
RBP = made("RBP", ranks.rank_biased_precision, rel=None)
Bpref = BPref = made("Bpref", incomplete.bpref, "BPref")
infAP = made("infAP", incomplete.inferred_ap)
Judged = made("Judged", incomplete.judged, example="Judged@10")
Success = made("Success", sets.success, judged_only=True, example="Success@5")
IPrec = made("IPrec", official.interpolated, judged_only=True, at="recall", example="IPrec@0.1")
SetP = made("SetP", _set_p, judged_only=True)
SetRelP = SetP(relative=True)
SetR = made("SetR", sets.set_recall)
SetF = made("SetF", _set_f, judged_only=True)
SetAP = made("SetAP", _set_ap, judged_only=True)
NumQ = made("NumQ", counts.topics, aggregate="sum")
NumRel = made("NumRel", counts.relevant, aggregate="sum")
NumRet = made("NumRet", counts.returned, rel=None, aggregate="sum")
NumRelRet = NumRet(rel=1)
register(SetRelP, name="SetRelP")
register(NumRelRet, name="NumRelRet")
Accuracy = made("Accuracy", _accuracy, undefined="it has no pair of a relevant document and another")
Compat = made("Compat", gain.compatibility)

alpha_DCG = α_DCG = made("alpha_DCG", subtopics.alpha_dcg, "α_DCG", judged_only=True, example="alpha_DCG@10")
alpha_nDCG = α_nDCG = made("alpha_nDCG", subtopics.alpha_ndcg, "α_nDCG", judged_only=True, example="alpha_nDCG@10")
ERR_IA = made("ERR_IA", subtopics.err_ia, judged_only=True, example="ERR_IA@20")
nERR_IA = made("nERR_IA", subtopics.n_err_ia, judged_only=True, example="nERR_IA@20")
NRBP = made("NRBP", _nrbp, parameters={"beta": PARAMETERS["p"]})
nNRBP = made("nNRBP", _n_nrbp, parameters={"beta": PARAMETERS["p"]})
AP_IA = MAP_IA = made("AP_IA", subtopics.map_ia, "MAP_IA", judged_only=True)
P_IA = made("P_IA", subtopics.p_ia, judged_only=True, example="P_IA@10")
StRecall = made("StRecall", subtopics.subtopic_recall, example="StRecall@10")

_ENOUGH = Parameter("the gain a reader wants", lambda v: isinstance(v, int | float) and v >= 0.5, "a number ≥ 0.5")
BPM = _reader("BPM", "BPM(max_rel=4)@10", cutoff=REQUIRED, T=1.0)
SDCG = _reader("SDCG", "SDCG(max_rel=4)@10", cutoff=REQUIRED, dcg="log2")
NERR8 = _reader("NERR8", "NERR8(max_rel=4)@10", cutoff=REQUIRED)
NERR9 = _reader("NERR9", "NERR9(max_rel=4)@10", cutoff=REQUIRED)
NERR10 = _reader("NERR10", "NERR10(max_rel=4)", p=0.9)
NERR11 = _reader("NERR11", "NERR11(max_rel=4)", T=1.0)
INST = _reader("INST", "INST(max_rel=4)", {"T": _ENOUGH}, T=1.0)
INSQ = _reader("INSQ", "INSQ(max_rel=4)", T=1.0)

__all__ = [
    *("NOT_PROVIDED", "BaseMeasure", "MeanAgg", "Measure", "ParamInfo", "SumAgg", "register", "registry"),
    *registry,
]
