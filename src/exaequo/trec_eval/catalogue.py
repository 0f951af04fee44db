"""The official program's measures: what each computes, its name, parameters, order, summary."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from exaequo.aggregate import GM_FLOOR
from exaequo.arrays import Floats
from exaequo.measures import counts, gain, incomplete, ranks, sets
from exaequo.text import did_you_mean
from exaequo.trec_eval import OfficialError as OfficialError
from exaequo.trec_eval import measures
from exaequo.trec_eval.lists import Lists
from exaequo.trec_eval.preferences import COUNTS, SHARES

#: How the figure of all topics is made. "none" is not printed at all, "last" is the run's name.
Summary = Literal["mean", "sum", "geometric", "topics", "relevant", "last", "none"]
#: cut: one figure per cutoff. levels: the same with real cutoffs. numbers: a list. pairs: name=number.
Takes = Literal["", "cut", "levels", "numbers", "pairs"]

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(i / 10 for i in range(11))
FIFTHS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


@dataclass(frozen=True)
class Official:
    """One measure of the official program. Its function takes what is ranked, and parameters as `takes` says."""

    name: str
    function: Callable[..., npt.NDArray[Any]]
    takes: Takes = ""
    default: tuple[Any, ...] = ()
    summary: Summary = "mean"
    whole: bool = False
    per_topic: bool = True
    judgments: str = "qrels"
    since: int = 9


@dataclass(frozen=True)
class Request:
    """A measure with its parameters, as asked for on the command line."""

    official: Official
    values: tuple[Any, ...]
    given: str | None = None

    @property
    def names(self) -> list[str]:
        """The names its figures are printed under."""
        name = self.official.name
        if self.official.takes == "cut":
            return [f"{name}_{cutoff}" for cutoff in self.values]
        if self.official.takes == "levels":
            return [f"{name}_{f'{level:3.2f}'[:8]}" for level in self.values]  # there is room for eight characters
        return [name if self.given is None else f"{name}_{self.given}"]

    def figures(self, ranked: Any) -> list[npt.NDArray[Any]]:
        """Return a value per topic for each of the names; `ranked` are `Lists`, or the `Topics` of preferences."""
        function = self.official.function
        if self.official.takes in ("cut", "levels"):
            return [function(ranked, value) for value in self.values]
        return [function(ranked, self.values) if self.official.takes else function(ranked)]


def _geometric(name: str, function: Callable[..., Floats]) -> Official:
    """Return a measure whose values are the logarithms of another's, for a geometric mean."""

    def logarithm(lists: Lists) -> Floats:
        return np.log(np.maximum(function(lists), GM_FLOOR))

    return Official(name, logarithm, summary="geometric", per_topic=False)


#: In the order they are printed, whatever the order of the -m options.
MEASURES: tuple[Official, ...] = (
    Official("runid", counts.topics, summary="last", per_topic=False, judgments=""),
    Official("num_q", counts.topics, summary="topics", whole=True, per_topic=False, judgments=""),
    Official("num_ret", counts.returned, summary="sum", whole=True),
    Official("num_rel", counts.relevant, summary="relevant", whole=True),
    Official("num_rel_ret", counts.relevant_returned, summary="sum", whole=True),
    Official("map", ranks.average_precision),
    _geometric("gm_map", ranks.average_precision),
    Official("Rprec", ranks.r_precision),
    Official("bpref", incomplete.bpref),
    Official("recip_rank", ranks.reciprocal_rank),
    Official("iprec_at_recall", measures.interpolated, "levels", TENTHS),
    Official("P", sets.precision, "cut", CUTOFFS),
    Official("relstring", measures.relstrings, "numbers", (10.0,), summary="none"),
    Official("recall", sets.recall, "cut", CUTOFFS),
    Official("infAP", incomplete.inferred_ap),
    _geometric("gm_bpref", incomplete.bpref),
    Official("Rprec_mult", measures.precision_at_multiple, "levels", FIFTHS),
    Official("utility", measures.utility, "numbers", (1.0, -1.0, 0.0, 0.0)),
    Official("11pt_avg", measures.eleven_points, "numbers", TENTHS),
    Official("binG", measures.bin_g),
    Official("G", measures.g, "pairs"),
    Official("dcg", measures.dcg, "pairs", since=10),
    Official("ideal_dcg", measures.ideal_dcg, "pairs", since=10),
    Official("ndcg", measures.ndcg, "pairs"),
    Official("ndcg_rel", measures.ndcg_rel, "pairs"),
    Official("Rndcg", measures.rndcg, "pairs"),
    Official("ndcg_cut", gain.ndcg, "cut", CUTOFFS),
    Official("map_cut", ranks.average_precision, "cut", CUTOFFS),
    Official("relative_P", measures.relative_precision, "cut", CUTOFFS),
    Official("success", sets.success, "cut", (1, 5, 10)),
    Official("set_P", sets.set_precision),
    Official("set_relative_P", measures.set_relative_precision),
    Official("set_recall", sets.set_recall),
    Official("set_map", measures.set_ap),
    Official("set_F", measures.set_f, "numbers", (1.0,)),
    Official("num_nonrel_judged_ret", measures.judged_nonrelevant, summary="sum", whole=True),
    *(Official(name, function, summary="sum", whole=True, judgments="prefs") for name, function in COUNTS.items()),
    *(Official(name, function, judgments="prefs") for name, function in SHARES.items()),
    Official("map_avgjg", ranks.average_precision, judgments="qrels_jg"),
    Official("P_avgjg", sets.precision, "cut", CUTOFFS, judgments="qrels_jg"),
    Official("Rprec_mult_avgjg", measures.precision_at_multiple, "levels", FIFTHS, judgments="qrels_jg"),
    Official("yaap", measures.yaap),
    Official("rbp", measures.rbp, "pairs", since=10),
    Official("rbp_resid", measures.rbp_resid, "pairs", since=10),
    Official("unj", measures.unjudged, "cut", (5, 10, 20), since=10),
)
BY_NAME = {official.name: official for official in MEASURES}

_OFFICIAL = "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
NICKNAMES: dict[str, tuple[str, ...]] = {
    nickname: tuple(names.split())
    for nickname, names in {
        "official": _OFFICIAL,
        "set": "runid num_q num_ret num_rel num_rel_ret utility set_P set_recall set_relative_P set_map set_F",
        "all_trec": _OFFICIAL + " relstring recall unj rbp rbp_resid infAP gm_bpref utility 11pt_avg ndcg relative_P "
        "Rprec_mult success map_cut ndcg_cut ndcg_rel Rndcg binG G set_P set_recall set_relative_P set_map set_F "
        "num_nonrel_judged_ret",
        "all_prefs": "runid num_q " + " ".join(m.name for m in MEASURES if m.judgments == "prefs"),
        "prefs": "runid num_q prefs_num_prefs_poss prefs_num_prefs_ful prefs_num_prefs_ful_ret prefs_simp prefs_pair "
        "prefs_avgjg",
        "qrels_jg": "runid num_q map_avgjg P_avgjg Rprec_mult_avgjg",
    }.items()
}


def requests(asked: Sequence[str], release: int = 10) -> list[Request]:
    """Read the -m options: `P`, `P.5,10`, `ndcg.1=3,2=9`, nicknames. Of two parameter lists the first counts."""
    marked: set[str] = set()
    given: dict[str, str] = {}
    known = {official.name for official in MEASURES if official.since <= release}
    for text in asked or ("official",):
        name, dot, parameters = text.partition(".")
        if name not in known and name not in NICKNAMES:
            raise OfficialError(1, _unknown(name, known))
        if dot and not parameters:
            raise OfficialError(1, f"measure {text!r}: there is nothing after the dot; expected parameters.")
        if dot:
            given.setdefault(name, parameters)
        marked.update(NICKNAMES.get(name, (name,)))
    chosen = [official for official in MEASURES if official.name in marked & known]
    return [_request(official, given.get(official.name)) for official in chosen]


def _unknown(name: str, known: set[str]) -> str:
    if name in BY_NAME:
        return f"illegal measure {name!r}: release 9 does not have it; --release 10 does."
    if name == "judged":
        return f"illegal measure {name!r}: it is Anserini's and Pyserini's own; unj is what it lacks to 1."
    return f"illegal measure {name!r}{did_you_mean(name, (*known, *NICKNAMES)) or '; -h lists them.'}"


def _request(official: Official, text: str | None) -> Request:
    if text is None or not official.takes:
        return Request(official, official.default)
    if official.takes == "pairs":
        return Request(official, _pairs(official.name, text), text)
    if official.takes == "numbers":
        return Request(official, tuple(atof(piece) for piece in text.split(",")), text)
    convert = atol if official.takes == "cut" else atof
    values = sorted(convert(piece) for piece in text.split(","))
    if official.takes == "cut" and values[0] <= 0:
        raise OfficialError(2, f"measure {official.name}.{text}: cutoff {values[0]}; expected whole numbers ≥ 1.")
    if len(set(values)) < len(values):
        raise OfficialError(2, f"measure {official.name}.{text}: a cutoff stands twice; expected each once.")
    return Request(official, tuple(values), text)


def _pairs(name: str, text: str) -> tuple[tuple[str, float], ...]:
    pairs = [piece.split("=") for piece in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise OfficialError(2, f"measure {name}.{text}: malformed; expected name=number pairs, such as 1=3.5,2=9.")
    return tuple((level, atof(value)) for level, value in pairs)


def atol(text: str) -> int:
    """Read the whole number a text starts with, 0 if there is none, as C does."""
    match = re.match(r"\s*([+-]?)0*([0-9]{0,20})", text)
    return max(-(2**63), min(int(f"{match[1]}0{match[2]}"), 2**63 - 1)) if match else 0


def atof(text: str) -> float:
    """Read the number a text starts with, 0 if there is none, as C does."""
    match = re.match(r"\s*[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
    return float(match[0]) if match else 0.0
