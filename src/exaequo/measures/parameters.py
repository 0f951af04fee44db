"""The parameters that measures share: what each means, and which values it takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """What a parameter means, and which values it takes."""

    meaning: str
    accepts: Callable[[Any], bool]
    expected: str


def _number(value: object) -> bool:
    most = sys.float_info.max
    return isinstance(value, int | float) and not isinstance(value, bool) and -most <= value <= most


def _gains(value: object) -> bool:
    return isinstance(value, Mapping) and all(_number(n) for pair in value.items() for n in pair)


#: Longer lists and larger collections there are none; beyond, sums would lose digits or fill the memory.
MOST_RANKS, MOST_DOCUMENTS = 10**7, 10**12

PARAMETERS: dict[str, Parameter] = {
    "cutoff": Parameter(
        "look at ranks up to this one",
        lambda v: type(v) is int and 1 <= v <= MOST_RANKS,
        f"a whole number ≥ 1, up to {MOST_RANKS:,}",
    ),
    "rel": Parameter(
        "least grade that counts as relevant (default: any above 0)",
        lambda v: v is None or (_number(v) and v > 0),
        "a number > 0",
    ),
    "beta": Parameter(
        "weight of recall against precision", lambda v: _number(v) and 0 <= v <= 1e6, "a number ≥ 0, up to 1,000,000"
    ),
    "p": Parameter(
        "persistence: the chance to look at the next document",
        lambda v: _number(v) and 0 < v < 1,
        "a number between 0 and 1",
    ),
    "recall": Parameter("recall level", lambda v: _number(v) and 0 <= v <= 1, "a number from 0 to 1"),
    "dcg": Parameter(
        "'log2': grade over log2(rank+1); 'jk': grade over log2(rank) from rank 2 (Järvelin and Kekäläinen); "
        "'exp-log2': 2^grade − 1 over log2(rank+1)",
        lambda v: v in ("log2", "jk", "exp-log2"),
        "'log2', 'jk' or 'exp-log2'",
    ),
    "gains": Parameter(
        "gain for a grade, where it differs from the grade",
        lambda v: v is None or _gains(v),
        "{grade: gain, …}",
    ),
    "judged_only": Parameter(
        "leave documents nobody judged out of the list", lambda v: isinstance(v, bool), "True or False"
    ),
    "relative": Parameter("divide by the best there can be", lambda v: isinstance(v, bool), "True or False"),
    "graded": Parameter(
        "count a relevant document as its grade, not as 1", lambda v: isinstance(v, bool), "True or False"
    ),
    "docs": Parameter(
        "size of the collection", lambda v: type(v) is int and 1 <= v <= MOST_DOCUMENTS, "a whole number ≥ 1"
    ),
    "alpha": Parameter(
        "how much less a subtopic is worth each time it is seen again",
        lambda v: _number(v) and 0 <= v < 1,
        "a number from 0 to below 1",
    ),
    "T": Parameter(
        "the gain a reader wants", lambda v: _number(v) and 0 < v <= 1e6, "a number > 0 and up to 1,000,000"
    ),
    "normalize": Parameter("divide by the best there can be", lambda v: isinstance(v, bool), "True or False"),
    "doc": Parameter("the name of a document", lambda v: isinstance(v, str) and v != "", "a name in quotes"),
    "max_rel": Parameter(
        "highest grade of the scale", lambda v: _number(v) and 0 < v <= 1000, "a number > 0, up to 1000"
    ),
}
