"""What a gate says: the record of a verdict, its sentence, and what to be careful about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exaequo.choices import COMPARED
from exaequo.gating.bounds import DIFFERENT, PASSED, UNDECIDED, WORSE
from exaequo.gating.rule import Rule
from exaequo.judge import Floats
from exaequo.luck import gain
from exaequo.measures import Measure
from exaequo.stats.equality import differences
from exaequo.stats.power import topics_needed
from exaequo.text import count, p_text, signed

#: Of fewer topics that differ, a loss on a few of the others may have been missed (docs/gate.md has the figures).
FEW_DIFFER = 10
#: With fewer topics, and a few that lose much, more than twice as many losses pass as should.
RELIABLE = 25


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


def needed(values: Floats, upward: int, margin: float, rule: Rule, alpha: float) -> float | None:
    """Return how many topics could decide, if the difference is as large as it seems; None if no number could."""
    gaps = upward * (values[1] - values[0])
    mean, spread = float(gaps.mean()), float(gaps.std(ddof=1))
    room = min(margin + mean, margin - mean) if rule.equivalence else margin + mean
    effect = np.array([0.0 if spread == 0 else room / spread])
    found = float(topics_needed(effect, alpha, sides=1)[0])
    if spread == 0:  # as for signs
        found = float(np.ceil(-np.log2(alpha)))
    return max(found, float(rule.least)) if np.isfinite(found) else None


def cautions_of(values: Floats, upward: int, margin: float, rule: Rule, alpha: float, state: str) -> Iterator[str]:
    """Say why a verdict may promise more than the topics can hold, or less."""
    if rule.drawn(values.shape[1]) and 1 / (rule.samples + 1) > alpha:
        yield f"with {rule.samples:,} samples nothing can be decided at {alpha:.2g}: take more"
    if upward > 0 and margin >= float(values[0].mean()) > 0:
        yield "a loss of everything would be allowed"
    if state == UNDECIDED:
        return
    gaps, topics = differences(values[:1], values[1:])[0], values.shape[1]
    differ, spread = int((gaps != 0).sum()), float(gaps.std(ddof=1))
    if topics < RELIABLE:
        yield f"with {count(topics, 'topic')}, of which a few may differ much, it errs more often than {alpha:.2g}"
    if differ < min(FEW_DIFFER, topics / 2):
        unseen = 1 - alpha ** (1 / topics)
        yield f"only {differ} of {count(topics, 'topic')} differ; a loss on {unseen:.0%} of topics may be unseen"
    elif spread < 0.01 * abs(float(gaps.mean())):
        yield "the differences hardly vary, so p says little about other topics"


def sentence(gate: Gate, measure: Measure, rule: Rule) -> str:
    """Say the verdict on a loss, with what it rests on."""
    if gate.difference is None:
        return f"{gate.what}: undecided: only {count(gate.topics, 'topic')}; at least {rule.least} are needed."
    how = f"allowed is {_allowed(gate)} ({_test(gate, rule)}, {count(gate.topics, 'topic')})"
    text = f"{gate.what}: {_WORDS[rule.equivalence][gate.state]}: {_gap(gate)}"
    if gate.state == PASSED and gate.p is None:
        text += ", the two runs are the same"
    elif gate.reason == "ties":
        text += f"; ties decide: {_by_ties(gate)}; {how}"
    elif gate.state == UNDECIDED:
        text += f", {_sure(gate, measure, rule)}; {how}; {_why(gate, rule)}"
    else:
        text += f", {_sure(gate, measure, rule)}; {how}"
    return text + _cautions(gate) + "."


def _cautions(gate: Gate) -> str:
    return "".join(f"; caution: {each}" for each in gate.cautions)


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
    return signed(gate.difference or 0.0) + ("" if share != share else f" ({signed(share, 1)} %)")


def _allowed(gate: Gate) -> str:
    size = abs(gate.allowed or 0.0)
    return f"{gate.max_drop.replace('%', ' %')} = {size:.4f}" if gate.max_drop.endswith("%") else f"{size:g}"


def _test(gate: Gate, rule: Rule) -> str:
    return rule.test + (f", {rule.samples:,} samples, seed {rule.seed}" if rule.drawn(gate.topics) else "")


def _sure(gate: Gate, measure: Measure, rule: Rule) -> str:
    """Say what is known about the loss: the bound that decides."""
    confidence = f"{100 * (1 - (gate.alpha or 0)):.4g} % sure"
    low, high = (gate.low, gate.high) if measure.upward > 0 else (_turned(gate.high), _turned(gate.low))
    if low is None or high is None:
        return f"too few {'samples' if rule.drawn(gate.topics) else 'topics'} to be {confidence} of any bound"
    if gate.state == WORSE:
        return f"{confidence} that it loses at least {abs(high):.4f}, {p_text(gate.p_worse or 0.0)}"
    if gate.state == DIFFERENT:
        return f"{confidence} that it gains at least {low:.4f}, {p_text(gate.p_worse or 0.0)}"
    bound = f"gains at least {low:.4f}" if low > 5e-5 else f"loses no more than {abs(min(low, 0.0)):.4f}"
    if rule.equivalence and low <= 5e-5:
        bound += f", and gains no more than {max(high, 0.0):.4f}" if high > -5e-5 else f", and at least {-high:.4f}"
    return f"{confidence} that it {bound}{_lower(gate, measure, low)}, {p_text(gate.p or 0.0)}"


def _lower(gate: Gate, measure: Measure, low: float) -> str:
    """Say under which order the bound is worst, if it is not the one that counts."""
    ends = {ties: each["low"] if measure.upward > 0 else _turned(each["high"]) for ties, each in gate.by_ties.items()}
    known = {ties: end for ties, end in ends.items() if end is not None}
    worst = min(known, key=lambda ties: known[ties])
    name = f"under {worst} ties" if worst in COMPARED else f"at its {worst}"
    return f" ({signed(known[worst])} {name})" if known[worst] < low - 5e-5 else ""


def _turned(bound: float | None) -> float | None:
    return None if bound is None else -bound


def _why(gate: Gate, rule: Rule) -> str:
    """Say why the topics cannot tell, and how many could."""
    if gate.topics < rule.least:
        return f"at least {rule.least} topics are needed"
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
        gap = f" ({signed(found['difference'])})" if "difference" in found else f" ({found['candidate']:.4f})"
        said.append(f"{name} {found['state']}{gap}")
    left = "" if gate.open is None else f"; over all orders {signed(gate.open[0])} to {signed(gate.open[1])}"
    return ", ".join(said) + left


def sentence_of_floor(gate: Gate, measure: Measure) -> str:
    """Say the verdict on a floor."""
    sign = ">=" if measure.upward > 0 else "<="
    state = {PASSED: "passed, it is", WORSE: "worse, it is not", UNDECIDED: "undecided, ties decide"}[gate.state]
    ties = f" ({_by_ties(gate)})" if gate.state == UNDECIDED else ""
    return f"{measure} {sign} {gate.floor:g}: {state}: {gate.candidate:.4f}{ties}{_cautions(gate)}."
