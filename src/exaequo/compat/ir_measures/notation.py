"""The notations of ir_measures and trec_eval. In: text. Out: measures of ir_measures."""

from __future__ import annotations

import ast
import re
import warnings

from exaequo.compat.ir_measures import measures as known
from exaequo.compat.ir_measures.base import Measure, registry
from exaequo.compat.pytrec_eval import combined
from exaequo.errors import UnknownMeasure
from exaequo.measures import notation
from exaequo.text import did_you_mean
from exaequo.trec_eval.catalogue import BY_NAME, NICKNAMES

#: What trec_eval calls the measures.
_BY_TREC_NAME: dict[str, Measure] = {
    "P": known.P,
    "recall": known.R,
    "recip_rank": known.RR,
    "map": known.AP,
    "map_cut": known.AP,
    "Rprec": known.Rprec,
    "ndcg": known.nDCG,
    "ndcg_cut": known.nDCG,
    "bpref": known.Bpref,
    "infAP": known.infAP,
    "success": known.Success,
    "iprec_at_recall": known.IPrec,
    "set_P": known.SetP,
    "set_recall": known.SetR,
    "set_F": known.SetF,
    "set_map": known.SetAP,
    "set_relative_P": known.SetRelP,
    "num_q": known.NumQ,
    "num_rel": known.NumRel,
    "num_ret": known.NumRet,
    "num_rel_ret": known.NumRelRet,
}


class NoMeasure(UnknownMeasure, NameError, ValueError):
    """Not a measure: an error of the kinds that the original raises, and of ours."""


def parse_measure(measure: str | Measure | object) -> Measure:
    """Read a measure from its notation, or from an object that prints in it; of two cutoffs that after `@` counts."""
    if isinstance(measure, Measure):
        return measure
    try:
        parsed = notation.parse_measure(_one_cutoff(str(measure)), _find, complete=False)
    except UnknownMeasure as error:
        raise NoMeasure(str(error)) from None
    return parsed if isinstance(parsed, Measure) else Measure(parsed.definition, parsed.params, parsed.aggregate)


def _one_cutoff(text: str) -> str:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return text
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Call) and isinstance(node.left.func, ast.Name):
        at = _find(node.left.func.id).definition.at
        node.left.keywords = [each for each in node.left.keywords if each.arg != at]
        return ast.unparse(node)
    return text


def _find(name: str) -> Measure:
    if name not in registry:
        raise NoMeasure(f"There is no measure {name!r}{did_you_mean(name, registry) or '.'}")
    return registry[name]


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
    parameter = "beta" if found is known.SetF else found.definition.at
    texts = re.findall(r"[0-9]+(?:\.[0-9]+)?", measure[len(name) :]) if given else []
    values = [int(text) if about.takes == "cut" else float(text) for text in texts] or about.default
    return [found(**{parameter: value}) for value in values]


def convert_trec_name(measure: str) -> list[Measure]:
    """Read a name of trec_eval: the old name of `parse_trec_measure`."""
    warnings.warn("convert_trec_name is called parse_trec_measure now.", DeprecationWarning, stacklevel=2)
    return parse_trec_measure(measure)
