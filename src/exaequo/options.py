"""The options of an evaluation: one record, checked where it is made. In: what was asked for. Out: `Options`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from exaequo.choices import (
    ALL_TIES,
    EXPECTED,
    HIGHEST_GRADE,
    INTERVAL,
    MISSING,
    ORDERS_SAMPLED,
    PRECISIONS,
    STRATEGIES,
)
from exaequo.errors import BadParameter
from exaequo.text import did_you_mean

_WHOLE = ("depth", "seed", "samples")


class Relevance(TypedDict, total=False):
    """What counts as relevant.

    - `rel_level`: the least grade that is relevant, for measures that do not say; by default any above 0.
    - `max_grade`: a grade above this counts as 0.
    """

    rel_level: float | None
    max_grade: float


class Reading(TypedDict, total=False):
    """How files and tables are read.

    - `columns`: the names of `qid`, `docno`, `sim`, `rel` in tables, where they are not the usual ones.
    - `mend`: put right what is wrong with files where that is safe; warnings say what was done.
    """

    columns: Mapping[str, str] | None
    mend: bool


class Scoring(Relevance, total=False):
    """How lists are evaluated, besides what counts as relevant and how ties are ordered.

    - `depth`: cut each list here, after ordering.
    - `missing`: a judged topic the run lacks scores `"zero"`, is left out (`"skip"`), or is an `"error"`.
    - `precision`: compare scores as `"double"` or as `"single"`.
    - `seed`: for all that is random.
    """

    depth: int | None
    missing: str
    precision: str
    seed: int


class Evaluation(Scoring, Reading, total=False):
    """How files are read, and lists evaluated."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to evaluate; every field can change a score, so all of them are reported with it."""

    ties: tuple[str, ...] = ("realistic",)
    rel_level: float | None = None
    max_grade: float = HIGHEST_GRADE
    depth: int | None = None
    missing: str = "zero"
    precision: str = "double"
    seed: int = 0
    samples: int = ORDERS_SAMPLED

    @classmethod
    def of(cls, ties: str | Sequence[str] = "realistic", **given: Any) -> Options:
        """Return the options asked for; `ties` is a strategy or several, `all` stands for three."""
        return cls(ties=strategies(ties), **given)

    def __post_init__(self) -> None:
        for name in ("rel_level", "max_grade", *_WHOLE):
            value = getattr(self, name)
            whole = name in _WHOLE
            if value is None and name in ("rel_level", "depth"):
                continue
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
                raise BadParameter(f"{name} must be a {'whole ' if whole else ''}number. Got {value!r} instead.")
        if self.seed < 0:
            raise BadParameter(f"The seed must be a whole number ≥ 0. Got {self.seed} instead.")
        for name, value in (("relevance level", self.rel_level), ("highest grade", self.max_grade)):
            if value is not None and not value > 0:
                raise BadParameter(f"The {name} must be a number above 0. Got {value} instead.")
        if self.samples < 2:
            raise BadParameter(f"The number of samples must be a whole number ≥ 2. Got {self.samples} instead.")
        if self.depth is not None and self.depth < 1:
            raise BadParameter(f"The depth must be a whole number ≥ 1. Got {self.depth} instead.")
        check_choice("missing", self.missing, MISSING)
        check_choice("precision", self.precision, PRECISIONS)


def first_order(ties: Iterable[str]) -> str:
    """Return the first strategy that is an order, or realistic if none is."""
    return next((each for each in ties if each != EXPECTED), INTERVAL[0])


def keywords(
    function: str, given: Mapping[str, Any], known: Collection[str] = tuple(Evaluation.__annotations__)
) -> tuple[Reading, dict[str, Any]]:
    """Return the keywords of a public function, those about reading apart; refuse, as Python does, what it lacks."""
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"; it has {', '.join(known)} and those it names."
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
    reading: Any = {name: value for name, value in given.items() if name in Reading.__annotations__}
    return reading, {name: value for name, value in given.items() if name not in reading}


def strategies(ties: str | Sequence[str], known: Sequence[str] = (*STRATEGIES, EXPECTED)) -> tuple[str, ...]:
    """Return the strategies asked for, each once; `all` stands for realistic, conventional and optimistic."""
    if not isinstance(ties, str | Iterable | None):
        raise BadParameter(f"ties must be a strategy or several. Got {ties!r} instead.")
    asked = (ties,) if isinstance(ties, str) else tuple(ties or ())
    chosen = tuple(dict.fromkeys(name for each in asked for name in (INTERVAL if each == ALL_TIES else (each,))))
    if not chosen:
        raise BadParameter(f"No tie strategy is given; there are {', '.join(known)}.")
    for name in chosen:
        check_choice("ties", name, known)
    return chosen


def one_strategy(ties: str) -> str:
    """Return the order asked for, where there can be only one."""
    chosen = strategies(ties, STRATEGIES)
    if len(chosen) != 1:
        raise BadParameter(f"ties must be one of {', '.join(STRATEGIES)}. Got {ties!r} instead.")
    return chosen[0]


def check_choice(parameter: str, value: str, known: Sequence[str]) -> None:
    """Refuse a value that is not one of the known ones, and name the nearest."""
    if value not in known:
        hint = did_you_mean(str(value), known)
        raise BadParameter(f"{parameter} must be one of {', '.join(known)}. Got {value!r} instead{hint or '.'}")


def check_alpha(alpha: float, most: float = 1) -> None:
    """Refuse a level that is none."""
    if not 0 < alpha < most:
        raise BadParameter(f"alpha must be a number between 0 and {most:g}. Got {alpha} instead.")
