"""What passes a gate: for each measure the loss allowed and a floor, and how sure to be. In: choices. Out: a `Rule`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from exaequo.choices import ALPHA, FAIR, GATE_MEASURES, GATE_TESTS, LEAST_TOPICS, MAX_DROP, PATTERNS
from exaequo.comparison.margin import Margin
from exaequo.comparison.plan import tie_rule
from exaequo.errors import BadParameter
from exaequo.language import say, word
from exaequo.measures import Measure, parse_measure, parse_measures
from exaequo.options import check_alpha, check_choice
from exaequo.stats.tests import MOST_EXACT, Setting

#: The bootstrap passes too much with fewer topics (docs/gate.md has the figures).
FEWEST = {"bootstrap": 10}
#: More take minutes, and more memory than there may be.
MOST_SAMPLES = 10_000_000
_FLOOR = re.compile(r"\s*(.+?)\s*(>=|≥|<=|≤)\s*(\S+)\s*")


@dataclass(frozen=True)
class Bar:
    """What one measure must clear: the loss that is allowed, and the least mean (the most, where less is better)."""

    measure: Measure
    max_drop: Margin
    floor: float | None = None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What passes a gate.

    `ties` is a rule of verdicts or strategies, as for `compare`; with `equivalence` a gain beyond the margin does not
    pass either; `strict` asks that every slice passes, where otherwise none may be worse.
    """

    bars: tuple[Bar, ...] = ()
    test: str = "t"
    alpha: float = ALPHA
    samples: int = PATTERNS
    seed: int = 0
    min_topics: int = LEAST_TOPICS
    ties: str | Sequence[str] = FAIR
    equivalence: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        check_choice("test", self.test, GATE_TESTS)
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, int | float):
            raise BadParameter(f"alpha must be a number between 0 and 0.5. Got {self.alpha!r} instead.")
        check_alpha(self.alpha, 0.5)
        for name, least, most in (("min_topics", 2, None), ("samples", 100, MOST_SAMPLES)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= (most or value):
                meant = f"≥ {least}" if most is None else f"from {least} to {most:,}"
                raise BadParameter(f"{name} must be a whole number {meant}. Got {value!r} instead.")
        if not isinstance(self.ties, str | Sequence):
            raise BadParameter(f"ties must be a rule or strategies, as names. Got {self.ties!r} instead.")
        tie_rule(self.ties)  # checks it
        self.setting  # noqa: B018 - checks the rest

    @property
    def setting(self) -> Setting:
        """What the tests need to know."""
        return Setting(self.samples, self.seed, "greater")

    @property
    def least(self) -> int:
        """With fewer topics nothing is decided."""
        return max(self.min_topics, FEWEST.get(self.test, 0))

    def drawn(self, topics: int) -> bool:
        """Tell whether the test draws random patterns, with so many topics."""
        return self.test == "bootstrap" or (self.test == "randomization" and topics > MOST_EXACT)

    def how(self, topics: int) -> str:
        """Name the test, with what it draws."""
        random = say(", {samples:,} samples, seed {seed}", samples=self.samples, seed=str(self.seed))
        return word(self.test) + (random if self.drawn(topics) else "")

    @property
    def measures(self) -> list[Measure]:
        """What is to be evaluated."""
        return [bar.measure for bar in self.bars]


def bars(
    measures: Iterable[str | Measure] | str | Measure | Mapping[str, Any] = (),
    max_drop: str | float | Margin = MAX_DROP,
    floors: Iterable[str] = (),
) -> tuple[Bar, ...]:
    """Return what each measure must clear; a mapping gives each measure its own drop, or a table of drop and floor.

    `floors` are conditions such as `nDCG@10 >= 0.45`; a measure that only has a floor is gated too, and of several
    floors the strictest counts.
    """
    usual, own = Margin.of(max_drop), dict(measures) if isinstance(measures, Mapping) else {}
    least = [*map(floor_of, (floors,) if isinstance(floors, str) else floors)]
    named = [*own] if own else measures or (() if least else GATE_MEASURES)
    asked = parse_measures(named) if named else []
    found = {measure: Bar(measure, usual) for measure in (*asked, *(measure for measure, _ in least))}
    for name, given in own.items():
        measure = parse_measure(name)
        found[measure] = _bar(measure, given, usual)
    for measure, floor in least:
        known = [each for each in (found[measure].floor, floor) if each is not None]
        found[measure] = replace(found[measure], floor=measure.upward * max(measure.upward * each for each in known))
    return tuple(found.values())


def _bar(measure: Measure, given: Any, usual: Margin) -> Bar:
    """Read what a mapping says of a measure: a drop, or a table with `max-drop` and `floor`."""
    if not isinstance(given, Mapping):
        return Bar(measure, Margin.of(given))
    table = {str(key).replace("-", "_"): value for key, value in given.items()}
    for key in [key for key in table if key not in ("max_drop", "floor")][:1]:
        raise BadParameter(f"{measure}: a gate has max-drop and floor for each measure. Got {key.replace('_', '-')!r}.")
    floor = table.get("floor")
    return Bar(measure, Margin.of(table.get("max_drop", usual)), None if floor is None else _number(floor, measure))


def floor_of(text: str) -> tuple[Measure, float]:
    """Read `nDCG@10 >= 0.45`, or `Noise@10 <= 0.3` where less is better."""
    found = _FLOOR.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise BadParameter(f"A floor is written as nDCG@10 >= 0.45. Got {text!r} instead.")
    measure = parse_measure(found[1])
    if (found[2] in (">=", "≥")) != (measure.upward > 0):
        sign = ">=" if measure.upward > 0 else "<="
        raise BadParameter(f"A floor of {measure} is written with {sign}: {measure} {sign} {found[3]}. Got {text!r}.")
    return measure, _number(found[3], measure)


def _number(text: Any, measure: Measure) -> float:
    try:
        number = float(text)
    except (TypeError, ValueError):
        number = float("nan")
    if isinstance(text, bool) or not np.isfinite(number):
        raise BadParameter(f"The floor of {measure} must be a number. Got {text!r} instead.")
    return number
