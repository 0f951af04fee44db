"""A measure as ir_measures has it: an object that prints as its notation, and can evaluate by itself."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from exaequo.arrays import Floats
from exaequo.compat.ir_measures.records import CalcResults, CwlMetric, Metric
from exaequo.errors import BadParameter
from exaequo.measures import Definition
from exaequo.measures import registry as ours
from exaequo.read import QrelsLike, RunLike

if TYPE_CHECKING:
    from exaequo.compat.ir_measures.providers import Evaluator, FallbackProvider

#: What a parameter is that nobody gave, and that has no default.
NOT_PROVIDED: Any = None


@dataclass(frozen=True)
class ParamInfo:
    """What there is to know of a parameter."""

    dtype: type | None = None
    required: bool = False
    choices: Any = NOT_PROVIDED
    default: Any = NOT_PROVIDED
    desc: str | None = None

    def validate(self, value: object) -> bool:
        """Tell whether a value may be given."""
        if value is NOT_PROVIDED:
            return not self.required
        known = self.choices is NOT_PROVIDED or value in self.choices
        return known and (self.dtype is None or isinstance(value, self.dtype))


class MeanAgg:
    """The mean of the values that are added, or `default` if there is none."""

    def __init__(self, default: float = math.nan) -> None:
        self.sum, self.count, self.default = 0.0, 0, default

    def add(self, value: float) -> None:
        """Take one more value."""
        self.sum += value
        self.count += 1

    def result(self) -> float:
        """Return the mean."""
        return self.sum / self.count if self.count else self.default


class SumAgg:
    """The sum of the values that are added."""

    def __init__(self) -> None:
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Take one more value."""
        self.sum += value

    def result(self) -> float:
        """Return the sum."""
        return self.sum


class Measure(ours.Measure):
    """A measure as in ir_measures: `AP`, `P(rel=2)@5`; it can evaluate by itself."""

    #: A cutoff where there is none, as in `SetP@5`: part of the name, and nothing to the value.
    overlooked: float | None = None

    RUN_INPUTS: ClassVar[tuple[str, ...]] = ("query_id", "doc_id", "score")
    QREL_INPUTS: ClassVar[tuple[str, ...]] = ("query_id", "doc_id", "relevance")

    @property
    def NAME(self) -> str:  # noqa: N802 - the original's name for it
        """The name without parameters."""
        return self.definition.name

    __name__ = NAME

    @property
    def PRETTY_NAME(self) -> str:  # noqa: N802 - as above
        """The name in words."""
        return self.definition.title

    @property
    def SHORT_DESC(self) -> str:  # noqa: N802 - as above
        """What it is, in one line."""
        return self.definition.formula or self.definition.title

    @property
    def AT_PARAM(self) -> str:  # noqa: N802 - as above
        """The parameter that `@` sets."""
        return self.definition.at

    @property
    def DEFAULT(self) -> float:  # noqa: N802 - as above
        """What a topic scores that the run lacks; NaN if it is left out."""
        return math.nan if self.definition.undefined else 0.0

    @property
    def SUPPORTED_PARAMS(self) -> dict[str, ParamInfo]:  # noqa: N802 - as above
        """What there is to know of each parameter."""
        return {name: self._info(name, default) for name, default in self.definition.defaults.items()}

    def _info(self, name: str, default: Any) -> ParamInfo:
        rule, required = self.definition.rule(name), default is ours.REQUIRED
        plain = NOT_PROVIDED if required else default
        # Cutoffs and levels have no default that would tell.
        dtype = {"cutoff": int, "rel": int, "min_rel": int, "max_rel": int, "recall": float, "gains": dict}.get(name)
        return ParamInfo(dtype or type(plain), required, NOT_PROVIDED, plain, rule.meaning if rule else None)

    def validate_params(self) -> None:
        """Raise BadParameter if one is missing, or a cutoff means nothing; wrong ones are refused when given."""
        _ = self.complete if self.overlooked is None else super().__matmul__(self.overlooked)

    def __call__(self, **params: Any) -> Self:
        """Return the measure with these parameters set too."""
        made = super().__call__(**params)
        object.__setattr__(made, "overlooked", self.overlooked)
        return made

    def __matmul__(self, value: float) -> Self:
        """Return the measure at a cutoff; one that means nothing is overlooked or refused when it computes."""
        if self.definition.at in self.definition.defaults:
            return super().__matmul__(value)
        made = super().__call__()
        object.__setattr__(made, "overlooked", value)
        return made

    def __getitem__(self, parameter: str) -> Any:
        """Return a parameter, or its default: `AP["rel"]`."""
        default = self.definition.defaults[parameter]
        return self.params.get(parameter, NOT_PROVIDED if default is ours.REQUIRED else default)

    @cached_property
    def name(self) -> str:
        """The notation as ir_measures prints it: parameters in the order they were given, reals as reals."""
        at, defaults = self.definition.at, self.definition.defaults
        shown = [f"{k}={_shown(v)}" for k, v in self.params.items() if k != at and v != defaults[k]]
        name = self.definition.name + (f"({','.join(shown)})" if shown else "")
        if self.overlooked is not None:
            return f"{name}@{self.overlooked}"
        return f"{name}@{self.params[at]}" if at in self.params else name

    def aggregator(self) -> MeanAgg | SumAgg:
        """Return what makes one figure of the values of all topics."""
        return SumAgg() if self.definition.aggregate == "sum" else MeanAgg()

    def calc_aggregate(self, qrels: QrelsLike, run: RunLike, *, ties: str | None = None) -> float:
        """Return the aggregate over topics."""
        return _pipeline().calc_aggregate([self], qrels, run, ties=ties)[self]

    def iter_calc(self, qrels: QrelsLike, run: RunLike, *, ties: str | None = None) -> Iterator[Metric | CwlMetric]:
        """Return the value of each topic."""
        return _pipeline().iter_calc([self], qrels, run, ties=ties)

    def calc(self, qrels: QrelsLike, run: RunLike, *, ties: str | None = None) -> CalcResults:
        """Return both; the aggregate is a number, as there is one measure."""
        both = _pipeline().calc([self], qrels, run, ties=ties)
        return CalcResults(both.aggregated[self], both.per_query)  # type: ignore[index]

    def evaluator(self, qrels: QrelsLike, *, ties: str | None = None) -> Evaluator:
        """Return an evaluator for many runs."""
        return _pipeline().evaluator([self], qrels, ties=ties)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{v}" for k, v in sorted(value.items()) if k != v) + "}"
    return repr(value)


def _pipeline() -> FallbackProvider:
    # Providers know measures; a measure that evaluates by itself asks them, and so only then.
    from exaequo.compat.ir_measures.providers import DefaultPipeline

    return DefaultPipeline


#: Every measure by name and alias.
registry: dict[str, Measure] = {}


def register(measure: Measure, aliases: Iterable[str] = (), name: str | None = None) -> dict[str, Measure]:
    """Make a measure known under its name, or this one, and aliases; return all that are known."""
    names = (name or measure.NAME, *aliases)
    taken = [each for each in names if each in registry]
    if taken:
        raise BadParameter(f"There is a measure called {taken[0]} already.")
    registry.update(dict.fromkeys(names, measure))
    return registry


def made(
    name: str,
    function: Callable[..., Floats],
    *aliases: str,
    rel: int | None = 1,
    judged_only: bool = False,
    defaults: dict[str, Any] | None = None,
    **about: Any,
) -> Measure:
    """Add a measure with the parameters of a function after the lists, or these; `rel` at this default.

    `judged_only` is one more parameter, for it chooses the lists.
    """
    if defaults is None:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        defaults = {parameter.name: parameter.default for parameter in parameters}
    if "rel" in defaults:
        defaults["rel"] = rel
    if judged_only:
        defaults["judged_only"] = False
    about = {"title": name, "formula": "", "source": "ir_measures", "example": name, **about}
    measure = Measure(Definition(name, function, defaults=defaults, **about))
    register(measure, aliases)
    return measure
