"""What others call our measures: trec_eval, ranx, BEIR, MTEB, MARCO, ndeval, NTCIREVAL. In: a name. Out: our notation.

Names of trec_eval stand beside each measure (`official`); capitals do not matter, nor whether a cutoff follows `@`,
`_`, `_at_` or a dot, nor zeros before it. What can mean several things is refused, with what these are.
"""

from __future__ import annotations

import re

from exaequo.errors import UnknownMeasure
from exaequo.measures.registry import catalogue, from_official, known

#: Names that are neither ours nor trec_eval's, in small letters with _ for -; {} is where a cutoff goes.
SPELLINGS = {
    "mean_average_precision": "AP{}",
    "average_precision": "AP{}",
    "recip_rank": "RR{}",
    "reciprocal_rank": "RR{}",
    "mean_reciprocal_rank": "RR{}",
    "prec": "P{}",
    "f1": "F{}",
    "hit_rate": "Success{}",
    "hit": "Success{}",
    "r_prec": "Rprec",
    "r_precision": "Rprec",
    "ndcg_burges": "nDCG(dcg='exp-log2'){}",
    "dcg_burges": "DCG(dcg='exp-log2'){}",
    "alpha_ndcg": "alpha_nDCG{}",
    "strec": "StRecall{}",
}
#: What can mean several things, and these; `@` is a cutoff.
AMBIGUOUS = {
    "ndcg": "nDCG (the whole list, as in trec_eval), nDCG@10, or nDCG(dcg='exp-log2')@10 (gains 2^grade − 1)",
    "dcg": "DCG (the whole list), DCG@10, or DCG(dcg='exp-log2')@10 (gains 2^grade − 1)",
    "precision": "SetP (the whole list) or P@10",
    "recall": "SetR (the whole list) or R@1000",
    "f1": "SetF (the whole list) or F@10",
    "hits": "NumRelRet (how many) or Success@10 (whether any)",
    "hits@": "NumRelRet with a depth of {k} (how many) or Success@{k} (whether any)",
    "accuracy@": "Success@{k} (whether one is relevant) or ir_measures' Accuracy@{k}, of pairs, which is not here",
    "msndcg@0": "nDCG@{k} (gains are the grades), or that with gains= as NTCIREVAL was given them",
    "ndcg@0": "nDCG@{k}, or nDCG(dcg='jk')@{k} with gains= as NTCIREVAL was given them",
    "rbp@": "RBP@{k} (the first {k} documents) or RBP(p=0.{k})",
    "rbp": "RBP(p=0.8), RBP(p=0.95), …: how patient the reader is",
    "iprec_at_recall@": "IPrec@{k}, exactly that recall, or trec_eval's (`exaequo trec_eval`), which rounds it",
    "11pt_avg": "IPrec11, at exactly 0, 0.1, … 1, or trec_eval's (`exaequo trec_eval`), which rounds recall",
    "utility": "Utility(u_rel=…,u_nonrel=…), of what a threshold selects, or trec_eval's, of the whole list",
}
_NAME = re.compile(
    r"(?P<name>[a-z0-9]+[#♯]?(?:[_-][a-z]+)*?)(?:(?:_at_|[@._])(?P<zeros>0+(?=[1-9]))?(?P<at>[0-9]+(?:\.[0-9]+)?))?",
    re.IGNORECASE,
)
_PATIENCE = re.compile(r"rbp\.(?P<decimals>[0-9]+)", re.IGNORECASE)


def ours(text: str, *, complete: bool = True) -> str | None:
    """Return a text in our notation if it is a name that others use, None if it is not; refuse what is ambiguous.

    Where a measure need not be `complete`, a name alone says enough.
    """
    if patience := _PATIENCE.fullmatch(text):
        return f"RBP(p=0.{patience['decimals']})"
    found = _NAME.fullmatch(text)
    # What is not known is looked for in other packages, which takes a while: not before it has to be.
    if found is None or (text == f"{found['name']}@{found['at']}" and known(found["name"])) or known(text):
        return None
    name, at = found["name"].casefold().replace("-", "_").replace("#", "sharp").replace("♯", "sharp"), found["at"]
    several = (AMBIGUOUS.get(f"{name}@0") if found["zeros"] else None) or AMBIGUOUS.get(f"{name}@" if at else name)
    if several and complete:
        raise UnknownMeasure(f"{text!r} can mean {several.format(k=at)}; say which.")
    pattern = SPELLINGS.get(name) or _folded(name)
    if pattern is None or (at and "{}" not in pattern):
        return from_official(text)
    return from_official(text) or pattern.format(f"@{at}" if at else "")


def _folded(name: str) -> str | None:
    """Return the one measure of that name in other capitals."""
    each = [(own, about.name) for about in catalogue().values() for own in (about.name, *about.aliases)]
    found = {measure for own, measure in each if own.casefold() == name}
    return f"{found.pop()}{{}}" if len(found) == 1 else None
