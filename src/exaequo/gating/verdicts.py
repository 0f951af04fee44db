"""What a gate says: the record of a verdict, its sentence, and what to be careful about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exaequo.choices import COMPARED
from exaequo.comparison.verdicts import p_text
from exaequo.gating.bounds import DIFFERENT, PASSED, UNDECIDED, WORSE
from exaequo.gating.rule import Rule
from exaequo.judge import Floats
from exaequo.luck import gain
from exaequo.measures import Measure
from exaequo.stats.equality import differences
from exaequo.stats.power import topics_needed
from exaequo.text import count

#: Of fewer topics that differ at all, a rare loss may have been missed.
FEW_DIFFER = 5
#: Tests whose promise was seen to fail with fewer topics (docs/gate.md has the figures).
RELIABLE = {"t": 10, "randomization": 10, "bootstrap": 25}


@dataclass(frozen=True, kw_only=True)
class Gate:
    """The verdict on one measure, on all topics or on a slice: a loss (`kind` drop) or a floor.

    `low` and `high` bound the difference, each with confidence 1 − alpha; `allowed` is the least one that passes;
    `p` is that of *not worse than allowed*, `p_worse` that of *worse than allowed*. `reason` says why it is undecided:
    the topics cannot tell, or ties decide. `by_ties` is what each strategy says, `open` what all orders leave open.
    """

    measure: str
    state: str
    topics: int
    kind: str = "drop"
    slice: str | None = None
    reason: str = ""
    baseline: float | None = None
    candidate: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    allowed: float | None = None
    max_drop: str = ""
    floor: float | None = None
    p: float | None = None
    p_worse: float | None = None
    alpha: float | None = None
    topics_needed: float | None = None
    by_ties: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    open: tuple[float, float] | None = None
    cautions: tuple[str, ...] = ()
    sentence: str = ""

    @property
    def passed(self) -> bool:
        """Tell whether nothing stands against it."""
        return self.state == PASSED

    @property
    def what(self) -> str:
        """The measure, and the slice if it is one."""
        return self.measure if self.slice is None else f"{self.measure} on {self.slice}"


def needed(values: Floats, upward: int, margin: float, rule: Rule) -> float | None:
    """Return how many topics could decide, if the difference is as large as it seems; None if no number could."""
    room = upward * (values[1] - values[0]) + margin
    spread = float(room.std(ddof=1))
    effect = np.array([0.0 if spread == 0 else room.mean() / spread])
    found = float(topics_needed(effect, rule.alpha, sides=1)[0])
    return max(found, float(rule.min_topics)) if np.isfinite(found) else None


def cautions_of(values: Floats, rule: Rule, identical: bool) -> list[str]:
    """Say why a verdict may promise more than the topics can hold."""
    gaps, topics = differences(values[:1], values[1:])[0], values.shape[1]
    differ, spread = int((gaps != 0).sum()), float(gaps.std(ddof=1))
    if identical:
        return []
    found = []
    if topics < RELIABLE[rule.test]:
        found.append(f"with {count(topics, 'topic')} the {rule.test} test may pass more often than it should")
    if differ < min(FEW_DIFFER, topics):
        unseen = 1 - rule.alpha ** (1 / topics)
        found.append(
            f"only {differ} of {count(topics, 'topic')} differ; a loss on {unseen:.0%} of topics may be unseen"
        )
    elif spread < 0.01 * abs(float(gaps.mean())):
        found.append("the differences hardly vary, so p says little about other topics")
    return found


def sentence(gate: Gate, measure: Measure, rule: Rule) -> str:
    """Say the verdict on a loss, with what it rests on."""
    if gate.difference is None:
        return f"{gate.what}: undecided: only {count(gate.topics, 'topic')}; at least {rule.min_topics} are needed."
    same = gate.state == PASSED and gate.p is None
    how = f"allowed is {_allowed(gate)} ({_test(gate, rule)}, {count(gate.topics, 'topic')})"
    text = f"{gate.what}: {_WORDS[rule.equivalence][gate.state]}: {_gap(gate)}"
    if same:
        text += ", the two runs are the same"
    elif gate.reason == "ties":
        text += f"; ties decide: {_by_ties(gate)}; {how}"
    elif gate.state == UNDECIDED:
        text += f", {_sure(gate, measure)}; {how}; {_why(gate, rule)}"
    else:
        text += f", {_sure(gate, measure)}; {how}"
    return text + "".join(f"; caution: {each}" for each in gate.cautions) + "."


_WORDS: dict[bool, dict[str, str]] = {
    False: {
        PASSED: "passed, the candidate is not worse than allowed",
        WORSE: "worse, the candidate loses more than allowed",
        UNDECIDED: "undecided",
    },
    True: {
        PASSED: "passed, the two are equivalent",
        WORSE: "worse, the candidate loses more than allowed",
        DIFFERENT: "different, the candidate gains more than allowed",
        UNDECIDED: "undecided",
    },
}


def _gap(gate: Gate) -> str:
    share = float(gain(gate.candidate or 0.0, gate.baseline or 0.0))
    return f"{gate.difference:+.4f}" + ("" if share != share else f" ({share:+.1f} %)")


def _allowed(gate: Gate) -> str:
    size = abs(gate.allowed or 0.0)
    return f"{gate.max_drop.replace('%', ' %')} = {size:.4f}" if gate.max_drop.endswith("%") else f"{size:g}"


def _test(gate: Gate, rule: Rule) -> str:
    from exaequo.stats.tests import MOST_EXACT

    drawn = rule.test == "bootstrap" or (rule.test == "randomization" and gate.topics > MOST_EXACT)
    return rule.test + (f", {rule.samples:,} samples, seed {rule.seed}" if drawn else "")


def _sure(gate: Gate, measure: Measure) -> str:
    """Say what is known about the loss: the bound that decides."""
    sure = f"{100 * (1 - (gate.alpha or 0)):.4g} % sure that it"
    low, high = (gate.low, gate.high) if measure.upward > 0 else (_turned(gate.high), _turned(gate.low))
    if gate.state == WORSE:
        return f"{sure} loses at least {abs(high or 0.0):.4f}, {p_text(gate.p_worse or 0.0)}"
    if low is None:
        return f"too few topics to be {100 * (1 - (gate.alpha or 0)):.4g} % sure of any bound"
    bound = f"gains at least {low:.4f}" if low > 5e-5 else f"loses no more than {abs(min(low, 0.0)):.4f}"
    return f"{sure} {bound}, {p_text(gate.p or 0.0)}"


def _turned(bound: float | None) -> float | None:
    return None if bound is None else -bound


def _why(gate: Gate, rule: Rule) -> str:
    """Say why the topics cannot tell, and how many could."""
    if gate.topics < rule.min_topics:
        return f"at least {rule.min_topics} topics are needed"
    if gate.topics_needed is None:
        return "the difference lies at the margin, where no number of topics decides"
    if gate.topics_needed <= gate.topics:
        return "these topics cannot tell"
    return f"these topics cannot tell, about {gate.topics_needed:,.0f} could"


def _by_ties(gate: Gate) -> str:
    """Say what each strategy says, and what all orders leave open."""
    said = []
    for ties, found in gate.by_ties.items():
        name = ties if ties in COMPARED else f"at its {ties}"
        gap = f" ({found['difference']:+.4f})" if "difference" in found else f" ({found['candidate']:.4f})"
        said.append(f"{name} {found['state']}{gap}")
    left = "" if gate.open is None else f"; over all orders {gate.open[0]:+.4f} to {gate.open[1]:+.4f}"
    return ", ".join(said) + left


def sentence_of_floor(gate: Gate, measure: Measure) -> str:
    """Say the verdict on a floor."""
    sign = ">=" if measure.upward > 0 else "<="
    state = {PASSED: "passed, it is", WORSE: "worse, it is not", UNDECIDED: "undecided, ties decide"}[gate.state]
    ties = f" ({_by_ties(gate)})" if gate.state == UNDECIDED else ""
    return f"{measure} {sign} {gate.floor:g}: {state}: {gate.candidate:.4f}{ties}."
