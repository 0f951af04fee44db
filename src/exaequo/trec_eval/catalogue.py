"""The official program's measures: their names, parameters, order, summaries. What each computes is in `measures`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from exaequo.errors import ExaequoError
from exaequo.text import did_you_mean

#: How the figure of all topics is made. "none" is not printed at all, "last" is the run's name.
Summary = Literal["mean", "sum", "geometric", "topics", "relevant", "last", "none"]
#: cut: one figure per cutoff. levels: the same with real cutoffs. numbers: a list. pairs: name=number.
Takes = Literal["", "cut", "levels", "numbers", "pairs"]

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(i / 10 for i in range(11))
FIFTHS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


class OfficialError(ExaequoError):
    """An error with the exit code the official program has for it."""

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Official:
    """One measure of the official program."""

    name: str
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
    given: str | None = field(default=None)

    @property
    def names(self) -> list[str]:
        """The names its figures are printed under."""
        name = self.official.name
        if self.official.takes == "cut":
            return [f"{name}_{cutoff}" for cutoff in self.values]
        if self.official.takes == "levels":
            return [f"{name}_{f'{level:3.2f}'[:8]}" for level in self.values]  # there is room for eight characters
        return [name if self.given is None else f"{name}_{self.given}"]


def _prefs(name: str, **about: Any) -> Official:
    return Official(f"prefs_{name}", judgments="prefs", **about)


#: In the order they are printed, whatever the order of the -m options.
MEASURES: tuple[Official, ...] = (
    Official("runid", summary="last", per_topic=False, judgments=""),
    Official("num_q", summary="topics", whole=True, per_topic=False, judgments=""),
    Official("num_ret", summary="sum", whole=True),
    Official("num_rel", summary="relevant", whole=True),
    Official("num_rel_ret", summary="sum", whole=True),
    Official("map"),
    Official("gm_map", summary="geometric", per_topic=False),
    Official("Rprec"),
    Official("bpref"),
    Official("recip_rank"),
    Official("iprec_at_recall", "levels", TENTHS),
    Official("P", "cut", CUTOFFS),
    Official("relstring", "numbers", (10.0,), summary="none"),
    Official("recall", "cut", CUTOFFS),
    Official("infAP"),
    Official("gm_bpref", summary="geometric", per_topic=False),
    Official("Rprec_mult", "levels", FIFTHS),
    Official("utility", "numbers", (1.0, -1.0, 0.0, 0.0)),
    Official("11pt_avg", "numbers", TENTHS),
    Official("binG"),
    Official("G", "pairs"),
    Official("dcg", "pairs", since=10),
    Official("ideal_dcg", "pairs", since=10),
    Official("ndcg", "pairs"),
    Official("ndcg_rel", "pairs"),
    Official("Rndcg", "pairs"),
    Official("ndcg_cut", "cut", CUTOFFS),
    Official("map_cut", "cut", CUTOFFS),
    Official("relative_P", "cut", CUTOFFS),
    Official("success", "cut", (1, 5, 10)),
    Official("set_P"),
    Official("set_relative_P"),
    Official("set_recall"),
    Official("set_map"),
    Official("set_F", "numbers", (1.0,)),
    Official("num_nonrel_judged_ret", summary="sum", whole=True),
    _prefs("num_prefs_poss", summary="sum", whole=True),
    _prefs("num_prefs_ful", summary="sum", whole=True),
    _prefs("num_prefs_ful_ret", summary="sum", whole=True),
    _prefs("simp"),
    _prefs("pair"),
    _prefs("avgjg"),
    _prefs("avgjg_Rnonrel"),
    _prefs("simp_ret"),
    _prefs("pair_ret"),
    _prefs("avgjg_ret"),
    _prefs("avgjg_Rnonrel_ret"),
    _prefs("simp_imp"),
    _prefs("pair_imp"),
    _prefs("avgjg_imp"),
    Official("map_avgjg", judgments="qrels_jg"),
    Official("P_avgjg", "cut", CUTOFFS, judgments="qrels_jg"),
    Official("Rprec_mult_avgjg", "levels", FIFTHS, judgments="qrels_jg"),
    Official("yaap"),
    Official("rbp", "pairs", since=10),
    Official("rbp_resid", "pairs", since=10),
    Official("unj", "cut", (5, 10, 20), since=10),
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
    match = re.match(r"\s*[+-]?[0-9]+", text)
    return max(-(2**63), min(int(match[0]), 2**63 - 1)) if match else 0


def atof(text: str) -> float:
    """Read the number a text starts with, 0 if there is none, as C does."""
    match = re.match(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
    return float(match[0]) if match else 0.0
