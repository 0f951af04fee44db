"""The registry: a `Definition` says all about a measure in one place; a `Measure` is one with its parameters set.

Adding a measure is one decorated function::

    @define("P", title="Precision", formula="…", source="…", example="P(rel=2)@10")
    def precision(ranking: Ranking, cutoff: int, rel: float | None = None) -> Floats: ...

Its keyword parameters are the measure's; what they mean is in `PARAMETERS`, or under `parameters=`. A closed
form (`moments.closed`, `moments.linear`) and an explainer (`steps.explains`) may stand right below it.
"""

from __future__ import annotations

import copyreg
import importlib
import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

import numpy as np

from exaequo.aggregate import AGGREGATES
from exaequo.arrays import Floats
from exaequo.errors import BadParameter, DataWarning, UnknownMeasure
from exaequo.measures.parameters import PARAMETERS, Parameter
from exaequo.order import Ranking
from exaequo.text import did_you_mean, listed

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: How a measure moves from the realistic to the optimistic order: up, down, or no promise.
Chain = Literal["holds", "reversed", "not guaranteed"]
#: What a measure may look at besides ranks and judgments: names of documents or what else tells those of one grade
#: apart; the length of the list; ties, which it then takes as a whole, in no order; the scores themselves.
Sight = Literal["names", "length", "ties", "scores"]
Function = Callable[..., Floats]
F = TypeVar("F", bound=Function)
REQUIRED: Any = inspect.Parameter.empty

ENTRY_POINTS = "exaequo.measures"
#: The variable that says which packages may add measures: their names with commas between, 0 for none; unset, all.
ALLOWED = "EXAEQUO_PLUGINS"
#: The modules of measures, in the order of the catalogue, with their headings there.
FAMILIES = {
    "sets": "Sets: the first k, or the whole list",
    "ranks": "Ranks of relevant documents",
    "recall": "Recall-oriented",
    "interpolated": "Interpolated precision, break-even, Precall",
    "gain": "Graded gain",
    "users": "Readers who stop",
    "subtopics": "Subtopics",
    "ntcir": "Blended ratio, and global gain over intents",
    "incomplete": "Incomplete judgments",
    "sampled": "Sampled judgments",
    "filters": "Selections: filters with a threshold",
    "counts": "Counts",
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
    #: Why its values of several topics should not be averaged; empty if they may be.
    caution: str = ""
    #: Its names in trec_eval, as P_{cutoff} or iprec_at_recall_{recall}.
    official: tuple[str, ...] = ()
    sees: tuple[Sight, ...] = ()
    #: Mean and variance over all orders of tied documents, where there is a closed form: takes what `function` takes.
    moments: Callable[..., Any] | None = None
    #: The form gain × weight of a measure that has one.
    linear: Callable[..., Any] | None = None
    #: Whether the closed form of the whole list tells that of one cut inside a tie: weights are 0 below the cut, or,
    #: if the form is not linear, the cut is a cutoff.
    cut: bool = False
    #: The steps that lead to a value, for explanations: takes a `View` in place of the ranking.
    explain: Callable[..., Any] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: The parameter with which values may go beyond `highest`.
    unbounded: str = ""
    #: What its parameters mean, where `PARAMETERS` does not say it, or says something else.
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    def rule(self, name: str) -> Parameter | None:
        """Return what a parameter means, if that is said."""
        return self.parameters.get(name, PARAMETERS.get(name))

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
            rule = self.definition.rule(name)
            optional = value is None and known[name] is None
            if rule is not None and not optional and not rule.accepts(value):
                raise BadParameter(
                    f"The {name!r} parameter of {self.definition.name} must be {rule.expected}. Got {value!r} instead."
                )

        if plain.get(self.definition.unbounded):
            object.__setattr__(self, "definition", replace(self.definition, highest=float("inf")))

    @cached_property
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

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to other processes by name, where the measure comes with exaequo; else as it is."""
        if type(self) is Measure and self.definition.ours:
            return _by_name, (self.name,)
        return copyreg.__newobj__, (type(self),), vars(self)  # type: ignore[attr-defined]

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


def _by_name(name: str) -> Measure:
    from exaequo.measures.notation import parse_measure

    return parse_measure(name, complete=False)


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_literal(k)}:{_literal(v)}" for k, v in sorted(value.items())) + "}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value)) if abs(value) < 1e15 else repr(value)
    return repr(value)


_DEFINITIONS: dict[str, Definition] = {}
_ALIASES: dict[str, str] = {}
#: Measures by the texts they were read from, until one is added; small work does little but read them.
READ: dict[str, Measure] = {}
_looked = False


@overload
def define(name: str, function: None = None, **about: Any) -> Callable[[F], F]: ...
@overload
def define(name: str, function: Function, **about: Any) -> Measure: ...
def define(name: str, function: Function | None = None, **about: Any) -> Any:
    """Register a measure: as a decorator, or at run time with a function.

    The function takes a `Ranking` and the measure's parameters by keyword, and returns one value per topic. `about`
    are the fields of `Definition`; only `title`, `formula` and `source` are needed, and at run time not even those.
    The `example` is the name, unless something else is said.
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
    named = ("names",) if "doc" in defaults else ()
    about = {"title": name, "formula": "", "source": "", "example": name, "sees": named, **about}
    definition = Definition(name, function, defaults=defaults, **about)
    if not definition.ours:
        catalogue()  # ours come first, so that none of them is shadowed
    for taken in (name, *definition.aliases):
        known = _DEFINITIONS.get(_ALIASES.get(taken, taken))
        # One's own measure may be defined again, as when a notebook cell is run twice.
        if known and (known.name != name or known.ours):
            raise BadParameter(f"There is a measure called {taken} already.")
    _DEFINITIONS[name] = definition
    READ.clear()
    _ALIASES.update(dict.fromkeys(definition.aliases, name))
    return Measure(definition)


#: What is attached to a measure, in words.
_PARTS = {"moments": "a closed form", "linear": "a linear form", "explain": "an explainer"}


def attach(measure: Measure | Function, **parts: Any) -> None:
    """Give a measure, or the measure of a function, fields of `Definition` it does not have yet: its `_PARTS`."""
    found = (each for each in _DEFINITIONS.values() if each.function is measure)
    definition = measure.definition if isinstance(measure, Measure) else next(found, None)
    if definition is None:
        name = getattr(measure, "__name__", repr(measure))
        raise BadParameter(f"{name} is not the function of a measure; put @define(…) above it.")
    for part, value in parts.items():
        if part in _PARTS and getattr(definition, part) is not None:
            raise BadParameter(f"{definition.name} has {_PARTS[part]} already.")
        object.__setattr__(definition, part, value)  # in place: measures made before have it too


@contextmanager
def temporary() -> Iterator[None]:
    """Forget at the end what is defined inside."""
    catalogue()
    tables: tuple[dict[str, Any], ...] = (_DEFINITIONS, _ALIASES)
    before = [table.copy() for table in tables]
    try:
        yield
    finally:
        for table, kept in zip(tables, before, strict=True):
            table.clear()
            table.update(kept)
        READ.clear()


def catalogue() -> dict[str, Definition]:
    """Return every measure by name: ours, those of installed packages, those defined so far."""
    _load()
    order = {family: at for at, family in enumerate(FAMILIES)}
    return dict(sorted(_DEFINITIONS.items(), key=lambda item: order.get(item[1].family, len(order))))


def _load() -> None:
    global _looked
    _load_ours()
    if not _looked:
        _looked = True  # at once, because packages that define measures come back here
        _load_packages()


@cache
def _load_ours() -> None:
    for family in FAMILIES:
        importlib.import_module(f"{__package__}.{family}")


def packages() -> list[tuple[str, EntryPoint, bool]]:
    """Return what installed packages would add, and whether it may: the package, its entry point. Nothing is loaded."""
    from importlib.metadata import entry_points

    allowed = os.environ.get(ALLOWED)
    names = None if allowed in (None, "1") else {_canonical(each) for each in str(allowed).split(",")}
    found = [(entry.dist.name if entry.dist else "", entry) for entry in entry_points(group=ENTRY_POINTS)]
    return [(name, entry, names is None or _canonical(name) in names) for name, entry in found]


def _canonical(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package.strip()).lower()


def _load_packages() -> None:
    """Load what installed packages define, of those that may; looking for them takes a while."""
    for _, entry, allowed in packages():
        if not allowed:
            continue
        try:
            entry.load()
        except Exception as error:  # noqa: BLE001 - someone else's package must not break ours
            warnings.warn(f"measures of {entry.name} ({entry.value}) not loaded: {error}", DataWarning, stacklevel=2)


def known(name: str) -> Definition | None:
    """Return what there is to say about the measure of that name or alias, if there is one."""
    _load_ours()
    if _ALIASES.get(name, name) not in _DEFINITIONS:
        _load()
    return _DEFINITIONS.get(_ALIASES.get(name, name))


def get(name: str) -> Measure:
    """Return the measure of that name or alias, without parameters."""
    definition = known(name)
    if definition is None:
        meant = from_official(name)
        hint = f"; did you mean {meant!r}?" if meant else did_you_mean(name, (*_DEFINITIONS, *_ALIASES))
        off = listed(sorted({package for package, _, allowed in packages() if not allowed}))
        kept = f" {ALLOWED} keeps {off} from adding any." if off else ""
        raise UnknownMeasure(f"There is no measure {name!r}{hint or '; `exaequo measures` lists them.'}{kept}")
    return Measure(definition)


def from_official(name: str) -> str | None:
    """Return our notation for a name of trec_eval, for hints."""
    bare = name.removeprefix("gm_")
    for about in catalogue().values():
        for pattern in map(re.escape, about.official):
            pattern = pattern.replace(r"_\{cutoff\}", r"[._](\d+)").replace(r"_\{recall\}", r"[._](\d\.\d\d?)")
            match = re.fullmatch(pattern, bare)
            if match:
                ours = "@".join((about.name, *match.groups()))
                return ours if bare == name else f"gm({ours})"
    return None
