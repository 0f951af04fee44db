"""Measures: one small pure function each, from a `Ranking` to one value per topic, with all there is to say about it.

`exaequo.measures.AP`, `exaequo.measures.nDCG @ 10` and so on are measures; `parse_measure("nDCG@10")` reads the
notation; `define` adds one.
"""

from __future__ import annotations

from exaequo.errors import UnknownMeasure
from exaequo.measures.notation import parse_measure, parse_measures
from exaequo.measures.registry import PARAMETERS, Definition, Measure, Parameter, catalogue, define, get

__all__ = [
    "PARAMETERS",
    "Definition",
    "Measure",
    "Parameter",
    "catalogue",
    "define",
    "get",
    "parse_measure",
    "parse_measures",
]


def __getattr__(name: str) -> Measure:
    """Give every measure as an attribute."""
    try:
        return get(name)
    except UnknownMeasure as error:
        raise AttributeError(str(error)) from None
