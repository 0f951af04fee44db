"""What a gate says: the record of a verdict, its sentence, and what to be careful about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exaequo.comparison.pairs import HARDLY
from exaequo.comparison.verdicts import BEST, WORST
from exaequo.gating.bounds import DIFFERENT, PASSED, UNDECIDED, WORSE, Level
from exaequo.gating.rule import Rule
from exaequo.judge import Floats
from exaequo.luck import gain
from exaequo.measures import Measure
from exaequo.stats.equality import TOLERANCE, balanced, differences
from exaequo.stats.power import topics_needed
from exaequo.stats.tests import steady
from exaequo.text import count, p_text, signed

#: Of fewer topics that differ, a loss on a few of the others may have been missed (docs/gate.md has the figures).
FEW_DIFFER = 10
#: With fewer topics, and a few that lose much, more than twice as many losses pass as should.
RELIABLE = 25


@dataclass(frozen=True, kw_only=True)
class Gate:
    """The verdict on one measure, on all topics or on a slice: a loss (`kind` drop) or a floor.

    `allowed` is the least difference that passes. `low` and `high` bound it whatever the order of ties that decides,
    and so do `p`, that of *not worse than allowed* (equivalence: nor better), and `p_worse`, that of *worse*
    (equivalence: or *better*, whichever is the smaller one). It passes if `p` is at most `alpha`, which is how sure the
    bound is that passes it; it is worse, or different, if `p_worse` is at most `alpha_worse`, a share of it for each
    measure, which is how sure the other is. `reason` says why it is undecided: the `topics` cannot tell, the `ties`
    decide, the orders of ties point to both `sides` of the margin, or the candidate has no value where the baseline has
    one (`undefined`). `largest_loss` is that of a single topic; `by_ties` is what each strategy says, `open` what all
    orders leave open. `upward` is -1 where less is better.
    """

    measure: str
    state: str
    topics: int
    upward: int = 1
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
    alpha_worse: float | None = None
    largest_loss: float | None = None
    undefined: str = ""
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

    @property
    def name(self) -> str:
        """What it is about: the measure, with its slice or its floor."""
        return self.what if self.kind != "floor" else f"{self.what} {'>=' if self.upward > 0 else '<='} {self.floor:g}"


def ends(orders: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return which orders must pass, and which must be worse: the two extremes if these decide, else all."""
    every = [*orders]
    return ([WORST], [BEST]) if WORST in every else (every, every)


def needed(
    low: Mapping[str, Floats], high: Mapping[str, Floats], margin: float, rule: Rule, level: Level
) -> float | None:
    """Return how many topics could decide, if differences are as large as they seem; infinity if at the margin.

    `low` are the orders that must pass, `high` those that must be worse. None if they point to both sides of the
    margin, where no number of topics decides.
    """
    rooms = [[_room(each, margin, rule) for each in orders.values()] for orders in (low, high)]
    for where, found, alpha in (
        ("below", rooms[1], level.fails),
        ("above", rooms[0], level.fails),
        ("within", rooms[0] + (rooms[1] if rule.equivalence else []), level.passes),
    ):
        if all(side == where for side, _ in found):
            return max(float(rule.least), *(_topics(effect, alpha) for _, effect in found))
    return None


def _room(values: Floats, margin: float, rule: Rule) -> tuple[str, float]:
    """Return on which side of the margin the mean difference lies, and how far, in standard deviations."""
    gaps = differences(values[:1], values[1:])
    mean = float(balanced(gaps)[0]) / gaps.shape[1]
    room = min(margin + mean, margin - mean) if rule.equivalence else margin + mean
    room = 0.0 if abs(room) <= TOLERANCE * max(margin, abs(mean)) else room
    side = "within" if room >= 0 else "below" if mean < 0 else "above"
    return side, np.inf if steady(gaps)[0] else room / float(gaps.std(ddof=1))


def _topics(effect: float, alpha: float) -> float:
    """Return how many topics show an effect; where all differ alike, as for signs."""
    if np.isinf(effect):
        return float(np.ceil(-np.log2(alpha)))
    return float(topics_needed(np.array([effect]), alpha, sides=1)[0])


def cautions_of(values: Floats, measure: Measure, margin: float, rule: Rule, level: Level, state: str) -> Iterator[str]:
    """Say why a verdict may promise more than the topics can hold, or less."""
    alpha = level.passes
    if rule.drawn(values.shape[1]) and 1 / (rule.samples + 1) > level.fails:
        what = "decided" if 1 / (rule.samples + 1) > alpha else "shown to be worse"
        yield f"with {rule.samples:,} samples nothing can be {what} at {level.fails:.2g}: take more"
    worst = measure.definition.lowest if measure.upward > 0 else measure.definition.highest
    if margin >= measure.upward * (float(values[0].mean()) - worst) > 0:
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
    elif spread < HARDLY * abs(float(gaps.mean())):
        yield "the differences hardly vary, so p says little about other topics"


def sentence(gate: Gate, rule: Rule) -> str:
    """Say the verdict on a loss, with what it rests on."""
    if gate.difference is None:
        return f"{gate.what}: undecided: only {count(gate.topics, 'topic')}; at least {rule.least} are needed."
    how = f"allowed is {_allowed(gate)} ({rule.how(gate.topics)}, {count(gate.topics, 'topic')})"
    text = f"{gate.what}: {_WORDS[rule.equivalence][gate.state]}: {_gap(gate)}"
    if gate.state == PASSED and gate.p is None:
        text += ", the two runs are the same"
    elif gate.reason == "ties":
        text += f"; ties decide: {_by_ties(gate)}; {how}"
    elif gate.state == UNDECIDED:
        text += f", {_sure(gate, rule)}; {how}; {_why(gate, rule)}"
    else:
        text += f", {_sure(gate, rule)}; {how}"
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


#: What rounds to nothing in a sentence.
_NOTHING = 5e-5


def _sure(gate: Gate, rule: Rule) -> str:
    """Say what is known about the loss: the bound that decides, or both."""
    shown = gate.state in (WORSE, DIFFERENT)
    alpha = (gate.alpha_worse if shown else gate.alpha) or 0.0
    confidence, p = f"{100 * (1 - alpha):.4g} % sure", gate.p_worse if shown else gate.p
    low, high = (gate.low, gate.high) if gate.upward > 0 else (_turned(gate.high), _turned(gate.low))
    both = rule.equivalence and not shown
    if (high if gate.state == WORSE else low) is None or (both and high is None):
        samples = rule.drawn(gate.topics) and 1 / (rule.samples + 1) > alpha
        return f"too few {'samples' if samples else 'topics'} to be {confidence} of any bound"
    bound = _bounds(gate, low or 0.0, high or 0.0, both)
    return f"{confidence} that it {bound}{_whatever(gate)}, {p_text(p or 0.0)}"


def _bounds(gate: Gate, low: float, high: float, both: bool) -> str:
    if gate.state == WORSE:
        return f"loses at least {abs(high):.4f}"
    if gate.state == DIFFERENT:
        return f"gains at least {abs(low):.4f}"
    if low > _NOTHING:
        return f"gains at least {low:.4f}" + (f", and no more than {high:.4f}" if both else "")
    bound = f"loses no more than {abs(min(low, 0.0)):.4f}"
    if both:
        bound += f", and gains no more than {abs(high):.4f}" if high > -_NOTHING else f", and at least {-high:.4f}"
    return bound


def _whatever(gate: Gate) -> str:
    """Say that the bounds are those of all orders that decide, where these have not the same."""
    bounds = {tuple(round(each[end] or 0.0, 4) for end in ("low", "high")) for each in gate.by_ties.values()}
    return ", whatever the order of ties" if len(bounds) > 1 else ""


def _turned(bound: float | None) -> float | None:
    return None if bound is None else -bound


def _why(gate: Gate, rule: Rule) -> str:
    """Say why the topics cannot tell, and how many could."""
    if gate.reason == "undefined":
        return gate.undefined
    if gate.topics < rule.least:
        return f"at least {rule.least} topics are needed"
    if gate.reason == "sides":
        return "the orders of ties point to both sides, more topics cannot decide"
    room = gate.upward * ((gate.largest_loss or 0.0) - (gate.allowed or 0.0))
    none = "no topic loses more than allowed; " if room >= -TOLERANCE * abs(gate.allowed or 0.0) else ""
    if gate.topics_needed is None:
        return none + "the difference lies at the margin, where no number of topics decides"
    if gate.topics_needed <= gate.topics:
        return none + "these topics cannot tell"
    return none + f"these topics cannot tell, about {gate.topics_needed:,.0f} could"


def _by_ties(gate: Gate) -> str:
    """Say what each strategy says, and what all orders leave open."""
    said = []
    for ties, found in gate.by_ties.items():
        name = f"at its {ties}" if ties in (WORST, BEST) else ties
        gap = f" ({signed(found['difference'])})" if "difference" in found else f" ({found['candidate']:.4f})"
        said.append(f"{name} {found['state']}{gap}")
    left = "" if gate.open is None else f"; over all orders {signed(gate.open[0])} to {signed(gate.open[1])}"
    return ", ".join(said) + left


def sentence_of_floor(gate: Gate) -> str:
    """Say the verdict on a floor."""
    state = {PASSED: "passed, it is", WORSE: "worse, it is not", UNDECIDED: "undecided, ties decide"}[gate.state]
    if gate.reason == "undefined":
        state = f"undecided, {gate.undefined}"
    ties = f" ({_by_ties(gate)})" if gate.reason == "ties" else ""
    return f"{gate.name}: {state}: {gate.candidate:.4f}{ties}{_cautions(gate)}."
