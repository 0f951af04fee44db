"""The notation of systems: `bm25`, `bm25-stem`, `ql-dirichlet(mu=500)-stem-nostop`. In: text. Out: a `System`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from exaequo.errors import BadParameter
from exaequo.measures.notation import named_values
from exaequo.searching.models import MODELS, Model
from exaequo.text import did_you_mean

_SYSTEM = re.compile(r"([a-z0-9-]+?)\s*(?:\((.*)\))?(-stem)?(-nostop)?", re.DOTALL)


@dataclass(frozen=True)
class System:
    """A model with its parameters, and how texts become terms for it. Two with one name are the same."""

    model: Model
    params: Mapping[str, Any] = field(default_factory=dict)
    stem: bool = False
    stop: bool = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        known = self.model.parameters
        for name, value in self.params.items():
            if name not in known:
                has = f"it has {', '.join(known)}" if known else "it has none"
                hint = did_you_mean(name, known) or f"; {has}."
                raise BadParameter(f"{self.model.name} has no parameter {name!r}{hint}")
            if not known[name].accepts(value):
                expected = known[name].expected
                raise BadParameter(
                    f"The {name!r} parameter of {self.model.name} must be {expected}. Got {value!r} instead."
                )

    @classmethod
    def of(cls, text: str, *, stem: bool = False, stop: bool = True) -> System:
        """Read a system; `stem` and `stop` say the same as `-stem`, and the contrary of `-nostop`."""
        if not isinstance(text, str):
            raise BadParameter(f"A system is named as bm25-stem is; functions go by name. Got {text!r:.60}.")
        match = _SYSTEM.fullmatch(text.strip())
        if match is None or match[1] not in MODELS:
            hint = did_you_mean(text.partition("(")[0].strip(), MODELS) or f"; there are {', '.join(MODELS)}."
            raise BadParameter(f"There is no model {text!r}{hint}")
        name, inside, stemmed, kept = match.groups()
        return cls(MODELS[name], _values(name, inside or ""), stem or bool(stemmed), stop and not kept)

    @property
    def name(self) -> str:
        """The notation, without parameters at their default and without blanks."""
        given = {name: self.params[name] for name, usual in self.model.defaults.items() if name in self.params}
        shown = [f"{name}={value!r}" for name, value in given.items() if value != self.model.defaults[name]]
        inside = f"({','.join(shown)})" if shown else ""
        return self.model.name + inside + "-stem" * self.stem + "-nostop" * (not self.stop)


def _values(name: str, inside: str) -> dict[str, Any]:
    """Read `k1=0.9, b=0.4`."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if isinstance(call, ast.Call) and not call.args and all(keyword.arg for keyword in call.keywords):
            return named_values(name, call.keywords)
    except BadParameter:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    usual = ",".join(f"{each}={value!r}" for each, value in MODELS[name].defaults.items())
    example = f"{name}({usual})" if usual else name
    raise BadParameter(f"Cannot read the parameters of {name}: ({inside:.60}). Write {example}.")
