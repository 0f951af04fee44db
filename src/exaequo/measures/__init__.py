"""Measures: one small pure function each, from a `Ranking` to one value per topic, with all there is to say about it.

`exaequo.measures.AP`, `exaequo.measures.nDCG @ 10` and so on are measures; `parse_measure("nDCG@10")` reads the
notation; `define` adds one.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from exaequo.errors import UnknownMeasure
from exaequo.measures.notation import parse_measure, parse_measures
from exaequo.measures.parameters import PARAMETERS, Parameter
from exaequo.measures.registry import FAMILIES, Definition, Measure, catalogue, define, get

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


def __getattr__(name: str) -> Any:
    """Give every measure as an attribute, and every family, which is a module."""
    if name in (*FAMILIES, "moments", "steps"):
        return import_module(f"{__name__}.{name}")
    try:
        return get(name)
    except UnknownMeasure as error:
        raise AttributeError(str(error)) from None
