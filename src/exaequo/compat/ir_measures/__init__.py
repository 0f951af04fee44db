"""A drop-in for ir_measures: the same measure objects, functions and figures, on one ranking for all measures.

    from exaequo.compat import ir_measures
    from exaequo.compat.ir_measures import AP, nDCG, P, RR

Every function takes `ties=` besides what the original's takes; the default is the conventional order, as in the
original. Figures are those of the original's default provider, which for most measures is pytrec_eval. So here, unlike
in exaequo's own catalogue, all judged topics count, whether they have a relevant document or not; `beta` of SetF is the
square of the textbooks' β; IPrec rounds as release 9 of trec_eval does.
"""

from __future__ import annotations

from exaequo.compat.ir_measures import lazylibs as lazylibs
from exaequo.compat.ir_measures import measures as measures
from exaequo.compat.ir_measures import providers as providers
from exaequo.compat.ir_measures import util as util
from exaequo.compat.ir_measures.measures import (
    Accuracy,
    AP,
    AP_IA,
    BPM,
    BaseMeasure,
    Bpref,
    BPref,
    Compat,
    ERR,
    ERR_IA,
    INSQ,
    INST,
    IPrec,
    Judged,
    MAP,
    MAP_IA,
    MRR,
    MeanAgg,
    Measure,
    NDCG,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    NRBP,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    P_IA,
    ParamInfo,
    Precision,
    R,
    RBP,
    RPrec,
    RR,
    Recall,
    Rprec,
    SDCG,
    SetAP,
    SetF,
    SetP,
    SetR,
    SetRelP,
    StRecall,
    Success,
    SumAgg,
    alpha_DCG,
    alpha_nDCG,
    infAP,
    nDCG,
    nERR_IA,
    nNRBP,
    α_DCG,
    α_nDCG,
)
from exaequo.compat.ir_measures.providers import DefaultPipeline, Evaluator, Provider, define, define_byquery
from exaequo.compat.ir_measures.providers import registry as _providers
from exaequo.compat.ir_measures.records import CwlMetric
from exaequo.compat.ir_measures.util import (
    CalcResults,
    GenericQrel,
    GenericScoredDoc,
    Metric,
    Qrel,
    ScoredDoc,
    convert_trec_name,
    parse_measure,
    parse_trec_measure,
    parse_trec_qrels,
    parse_trec_run,
    read_trec_qrels,
    read_trec_run,
)

#: The release whose functions these are.
__version__ = "0.4.3"

accuracy = _providers["accuracy"]
compat = _providers["compat"]
cwl_eval = _providers["cwl_eval"]
gdeval = _providers["gdeval"]
judged = _providers["judged"]
msmarco = _providers["msmarco"]
pyndeval = _providers["pyndeval"]
pytrec_eval = _providers["pytrec_eval"]
ranx = _providers["ranx"]
runtime = _providers["runtime"]
trectools = _providers["trectools"]

evaluator = DefaultPipeline.evaluator
iter_calc = DefaultPipeline.iter_calc
calc_aggregate = DefaultPipeline.calc_aggregate
calc = DefaultPipeline.calc
calc_ctxt = DefaultPipeline.calc_ctxt
run_inputs = DefaultPipeline.run_inputs
qrel_inputs = DefaultPipeline.qrel_inputs

__all__ = [
    *("Accuracy", "AP", "AP_IA", "BPM", "BaseMeasure", "Bpref", "BPref", "Compat", "ERR", "ERR_IA"),
    *("INSQ", "INST", "IPrec", "Judged", "MAP", "MAP_IA", "MRR", "MeanAgg", "Measure", "NDCG", "NERR8"),
    *("NERR9", "NERR10", "NERR11", "NRBP", "NumQ", "NumRel", "NumRelRet", "NumRet", "P", "P_IA"),
    *("ParamInfo", "Precision", "R", "RBP", "RPrec", "RR", "Recall", "Rprec", "SDCG", "SetAP", "SetF"),
    *("SetP", "SetR", "SetRelP", "StRecall", "Success", "SumAgg", "alpha_DCG", "alpha_nDCG", "infAP"),
    *("nDCG", "nERR_IA", "nNRBP", "α_DCG", "α_nDCG", "CalcResults", "GenericQrel", "GenericScoredDoc"),
    *("Metric", "Qrel", "ScoredDoc", "convert_trec_name", "parse_measure", "parse_trec_measure"),
    *("parse_trec_qrels", "parse_trec_run", "read_trec_qrels", "read_trec_run", "DefaultPipeline"),
    *("Evaluator", "Provider", "CwlMetric", "define", "define_byquery", "evaluator", "iter_calc"),
    *("calc_aggregate", "calc", "calc_ctxt", "run_inputs", "qrel_inputs", "accuracy", "compat"),
    *("cwl_eval", "gdeval", "judged", "msmarco", "pyndeval", "pytrec_eval", "ranx", "runtime"),
    *("trectools", "lazylibs", "measures", "providers", "util", "__version__"),
]
