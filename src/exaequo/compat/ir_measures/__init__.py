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
    AP,
    AP_IA,
    BPM,
    ERR,
    ERR_IA,
    INSQ,
    INST,
    MAP,
    MAP_IA,
    MRR,
    NDCG,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    NRBP,
    P_IA,
    RBP,
    RR,
    SDCG,
    Accuracy,
    BaseMeasure,
    BPref,
    Bpref,
    Compat,
    IPrec,
    Judged,
    MeanAgg,
    Measure,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    ParamInfo,
    Precision,
    R,
    Recall,
    RPrec,
    Rprec,
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
    "AP",
    "AP_IA",
    "BPM",
    "ERR",
    "ERR_IA",
    "INSQ",
    "INST",
    "MAP",
    "MAP_IA",
    "MRR",
    "NDCG",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "NRBP",
    "P_IA",
    "RBP",
    "RR",
    "SDCG",
    "Accuracy",
    "BPref",
    "BaseMeasure",
    "Bpref",
    "CalcResults",
    "Compat",
    "CwlMetric",
    "DefaultPipeline",
    "Evaluator",
    "GenericQrel",
    "GenericScoredDoc",
    "IPrec",
    "Judged",
    "MeanAgg",
    "Measure",
    "Metric",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "ParamInfo",
    "Precision",
    "Provider",
    "Qrel",
    "R",
    "RPrec",
    "Recall",
    "Rprec",
    "ScoredDoc",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "StRecall",
    "Success",
    "SumAgg",
    "__version__",
    "accuracy",
    "alpha_DCG",
    "alpha_nDCG",
    "calc",
    "calc_aggregate",
    "calc_ctxt",
    "compat",
    "convert_trec_name",
    "cwl_eval",
    "define",
    "define_byquery",
    "evaluator",
    "gdeval",
    "infAP",
    "iter_calc",
    "judged",
    "lazylibs",
    "measures",
    "msmarco",
    "nDCG",
    "nERR_IA",
    "nNRBP",
    "parse_measure",
    "parse_trec_measure",
    "parse_trec_qrels",
    "parse_trec_run",
    "providers",
    "pyndeval",
    "pytrec_eval",
    "qrel_inputs",
    "ranx",
    "read_trec_qrels",
    "read_trec_run",
    "run_inputs",
    "runtime",
    "trectools",
    "util",
    "α_DCG",
    "α_nDCG",
]
