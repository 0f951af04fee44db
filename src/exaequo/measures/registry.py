"""The registry: a `Definition` says all about a measure in one place; a `Measure` is one with its parameters set.

Adding a measure is one decorated function::

    @define("P", title="Precision", formula="…", source="…", example="P(rel=2)@10")
    def precision(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats: ...

Its keyword parameters are the measure's; their meaning and range are in `PARAMETERS`, shared by all measures.
"""

from __future__ import annotations

import importlib
import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeVar, overload

import numpy as np

from exaequo.aggregate import AGGREGATES
from exaequo.errors import BadParameter, DataWarning, UnknownMeasure
from exaequo.judge import Floats
from exaequo.order import Ranking
from exaequo.text import did_you_mean

#: How a measure moves from the realistic to the optimistic order: up, down, or no promise.
Chain = Literal["holds", "reversed", "not guaranteed"]
Function = Callable[..., Floats]
F = TypeVar("F", bound=Function)
REQUIRED: Any = inspect.Parameter.empty

ENTRY_POINTS = "exaequo.measures"
FAMILIES = ("sets", "ranks", "recall", "interpolated", "gain", "users", "subtopics", "incomplete", "counts")


@dataclass(frozen=True)
class Parameter:
    """What a parameter means, and which values it takes."""

    meaning: str
    accepts: Callable[[Any], bool]
    expected: str


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


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


@dataclass(frozen=True)
class Definition:
    """All there is to say about a measure."""

    name: str
    function: Function
    title: str
    formula: str
    source: str
    example: str
    lowest: float = 0.0
    highest: float = 1.0
    higher_is_better: bool = True
    chain: Chain = "holds"
    aggregate: str = "mean"
    at: str = "cutoff"
    aliases: tuple[str, ...] = ()
    note: str = ""
    #: When a topic has no value; empty if every topic has one.
    undefined: str = ""
    #: Mean and variance over all orders of tied documents, where there is a closed form: takes what `function` takes.
    moments: Callable[..., Any] | None = None
    #: The form gain × weight of a measure that has one.
    linear: Callable[..., Any] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ours(self) -> bool:
        """Tell whether the measure comes with exaequo."""
        return (self.function.__module__ or "").rpartition(".")[0] == __package__

    @property
    def family(self) -> str:
        """The module the measure is defined in."""
        return (self.function.__module__ or "").rpartition(".")[2]


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure with its parameters: `AP`, `P(rel=2)@10`, `gm(AP)`. Two are equal if they print alike."""

    definition: Definition
    params: Mapping[str, Any] = field(default_factory=dict)
    aggregate: str = ""

    def __post_init__(self) -> None:
        """Check the parameters that are given; those still missing are an error only when it comes to computing."""
        if not self.aggregate:
            object.__setattr__(self, "aggregate", self.definition.aggregate)
        known = self.definition.defaults
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in self.params.items()}
        object.__setattr__(self, "params", plain)
        for name, value in plain.items():
            if name not in known:
                has = f"it has {', '.join(known)}" if known else "it has none"
                hint = did_you_mean(name, known)
                raise BadParameter(f"{self.definition.name} has no parameter {name!r}{hint or f'; {has}.'}")
            rule = PARAMETERS.get(name)
            optional = value is None and known[name] is None
            if rule is not None and not optional and not rule.accepts(value):
                raise BadParameter(
                    f"The {name!r} parameter of {self.definition.name} must be {rule.expected}. Got {value!r} instead."
                )

    @property
    def name(self) -> str:
        """The canonical notation: parameters in order, without those at their default."""
        at = self.definition.at
        shown = [
            f"{name}={_literal(self.params[name])}"
            for name, default in self.definition.defaults.items()
            if name != at and name in self.params and self.params[name] != default
        ]
        name = self.definition.name + (f"({','.join(shown)})" if shown else "")
        if self.params.get(at) is not None:
            name += f"@{_literal(self.params[at])}"
        return name if self.aggregate == self.definition.aggregate else f"{self.aggregate}({name})"

    @property
    def upward(self) -> int:
        """Return 1, or -1 where less is better: what turns values so that the best is the highest."""
        return 1 if self.definition.higher_is_better else -1

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __call__(self, **params: Any) -> Self:
        """Return the measure with these parameters set too: `AP(rel=2)`."""
        return type(self)(self.definition, {**self.params, **params}, self.aggregate)

    def __matmul__(self, value: float) -> Self:
        """Return the measure at a cutoff, or at a recall level: `nDCG @ 10`."""
        at = self.definition.at
        if at not in self.definition.defaults:
            raise BadParameter(f"{self.definition.name} takes no cutoff: {self.definition.name}@{value} means nothing.")
        return type(self)(self.definition, {**self.params, at: value}, self.aggregate)

    @property
    def complete(self) -> Self:
        """This measure, if nothing is missing; BadParameter if a parameter without default is not set."""
        for name, default in self.definition.defaults.items():
            if default is REQUIRED and name not in self.params:
                raise BadParameter(f"{self.definition.name} needs {name}, as in {self.definition.example}.")
        return self

    def values(self, ranking: Ranking) -> Floats:
        """Compute one value per topic."""
        values = np.asarray(self.complete.definition.function(ranking, **self.params), dtype=np.float64)
        if values.shape != (ranking.n_topics,):
            raise BadParameter(
                f"{self.definition.name} gave {values.shape} values for {ranking.n_topics} topics; "
                "a measure returns one value per topic."
            )
        return values


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_literal(k)}:{_literal(v)}" for k, v in sorted(value.items())) + "}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value)) if abs(value) < 1e15 else repr(value)
    return repr(value)


_DEFINITIONS: dict[str, Definition] = {}
_ALIASES: dict[str, str] = {}
_loaded = False


@overload
def define(name: str, function: None = None, **about: Any) -> Callable[[F], F]: ...
@overload
def define(name: str, function: Function, **about: Any) -> Measure: ...
def define(name: str, function: Function | None = None, **about: Any) -> Any:
    """Register a measure: as a decorator, or at run time with a function.

    The function takes a `Ranking` and the measure's parameters by keyword, and returns one value per topic. `about`
    are the fields of `Definition`; only `title`, `formula`, `source` and `example` are needed, and at run time not
    even those.
    """
    if function is None:

        def decorate(decorated: F) -> F:
            define(name, decorated, **about)
            return decorated

        return decorate
    if not name.isidentifier() or name in AGGREGATES:
        raise BadParameter(f"A measure's name must be letters, digits and _, not starting with a digit. Got {name!r}.")
    parameters = list(inspect.signature(function).parameters.values())[1:]
    defaults = {parameter.name: parameter.default for parameter in parameters}
    about = {"title": name, "formula": "", "source": "", "example": name, **about}
    definition = Definition(name, function, defaults=defaults, **about)
    if not definition.ours:
        catalogue()  # ours come first, so that none of them is shadowed
    for taken in (name, *definition.aliases):
        known = _DEFINITIONS.get(_ALIASES.get(taken, taken))
        # One's own measure may be defined again, as when a notebook cell is run twice.
        if known and (known.name != name or known.ours):
            raise BadParameter(f"There is a measure called {taken} already.")
    _DEFINITIONS[name] = definition
    _ALIASES.update(dict.fromkeys(definition.aliases, name))
    return Measure(definition)


def add_moments(name: str, moments: Callable[..., Any], linear: Callable[..., Any] | None = None) -> None:
    """Give a measure its closed form."""
    _DEFINITIONS[name] = replace(_DEFINITIONS[name], moments=moments, linear=linear)


def catalogue_so_far() -> dict[str, Definition]:
    """Return the measures defined so far, without loading any."""
    return _DEFINITIONS


def catalogue() -> dict[str, Definition]:
    """Return every measure by name: ours, those of installed packages, those defined so far."""
    global _loaded
    if not _loaded:
        _loaded = True  # at once, because packages that define measures come back here
        for family in FAMILIES:
            importlib.import_module(f"{__package__}.{family}")
        importlib.import_module(f"{__package__}.expectations")
        _load_packages()
    order = {family: at for at, family in enumerate(FAMILIES)}
    return dict(sorted(_DEFINITIONS.items(), key=lambda item: order.get(item[1].family, len(order))))


def _load_packages() -> None:
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS):
        try:
            entry.load()
        except Exception as error:  # noqa: BLE001 - someone else's package must not break ours
            warnings.warn(f"measures of {entry.name} ({entry.value}) not loaded: {error}", DataWarning, stacklevel=2)


def get(name: str) -> Measure:
    """Return the measure of that name or alias, without parameters."""
    known = catalogue()
    definition = known.get(_ALIASES.get(name, name))
    if definition is None:
        from exaequo.measures.notation import from_trec_name

        meant = from_trec_name(name)
        hint = f"; did you mean {meant!r}?" if meant else did_you_mean(name, (*known, *_ALIASES))
        raise UnknownMeasure(f"There is no measure {name!r}{hint or '; `exaequo measures` lists them.'}")
    return Measure(definition)
