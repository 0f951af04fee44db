"""What a gate says: the record of a verdict, its sentence, and what to be careful about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exaequo.arrays import Floats
from exaequo.comparison.pairs import HARDLY
from exaequo.comparison.verdicts import BEST, WORST
from exaequo.gating.bounds import DIFFERENT, PASSED, UNDECIDED, WORSE, Level
from exaequo.gating.rule import Rule
from exaequo.language import number, say, strategy, word
from exaequo.luck import gain
from exaequo.measures import Measure
from exaequo.stats.equality import TOLERANCE, balanced, differences
from exaequo.stats.power import topics_needed
from exaequo.stats.tests import steady
from exaequo.text import p_text, signed

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
    one, or passes by topics the baseline lacks alone (`undefined`). `largest_loss` is that of a single topic; `by_ties`
    is what each strategy says, `open` what all orders leave open. `upward` is -1 where less is better.
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
        if self.slice is None:
            return self.measure
        return say("{measure} on {slice}", measure=self.measure, slice=self.slice)

    @property
    def name(self) -> str:
        """What it is about: the measure, with its slice or its floor."""
        if self.kind != "floor":
            return self.what
        return f"{self.what} {'>=' if self.upward > 0 else '<='} {number(f'{self.floor:g}')}"


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
        yield say(
            "with {samples:,} samples nothing can be decided at {level:.2g}: take more"
            if 1 / (rule.samples + 1) > alpha
            else "with {samples:,} samples nothing can be shown to be worse at {level:.2g}: take more",
            samples=rule.samples,
            level=level.fails,
        )
    worst = measure.definition.lowest if measure.upward > 0 else measure.definition.highest
    if margin >= measure.upward * (float(values[0].mean()) - worst) > 0:
        yield say("a loss of everything would be allowed")
    if state == UNDECIDED:
        return
    gaps, topics = differences(values[:1], values[1:])[0], values.shape[1]
    differ, spread = int((gaps != 0).sum()), float(gaps.std(ddof=1))
    if topics < RELIABLE:
        yield say(
            "with {n:,} {n:topic|topics}, of which a few may differ much, it errs more often than {alpha:.2g}",
            n=topics,
            alpha=alpha,
        )
    if differ < min(FEW_DIFFER, topics / 2):
        yield say(
            "only {differ} of {n:,} {n:topic|topics} differ; a loss on {unseen:.0f}% of topics may be unseen",
            differ=differ,
            n=topics,
            unseen=100 * (1 - alpha ** (1 / topics)),
        )
    elif spread < HARDLY * abs(float(gaps.mean())):
        yield say("the differences hardly vary, so p says little about other topics")


def sentence(gate: Gate, rule: Rule) -> str:
    """Say the verdict on a loss, with what it rests on."""
    if gate.difference is None:
        return say(
            "{what}: undecided: only {n:,} {n:topic|topics}; at least {least} are needed.",
            what=gate.what,
            n=gate.topics,
            least=rule.least,
        )
    how = say(
        "allowed is {allowed} ({how}, {n:,} {n:topic|topics})",
        allowed=_allowed(gate),
        how=rule.how(gate.topics),
        n=gate.topics,
    )
    text = say(_WORDS[rule.equivalence][gate.state], what=gate.what, gap=_gap(gate))
    if gate.state == PASSED and gate.p is None:
        text += say(", the two runs are the same")
    elif gate.reason == "ties":
        text += say("; ties decide: {each}; {how}", each=_by_ties(gate), how=how)
    else:
        text += f", {_sure(gate, rule)}{word('; ')}{how}"
        text += f"{word('; ')}{_why(gate, rule)}" if gate.state == UNDECIDED else ""
    return text + _cautions(gate) + "."


def _cautions(gate: Gate) -> str:
    return "".join(say("; caution: {cautions}", cautions=each) for each in gate.cautions)


#: Whether equivalence is asked for, and the state.
_WORDS = {
    False: {
        PASSED: "{what}: passed, the candidate is not worse than allowed: {gap}",
        WORSE: "{what}: worse, the candidate loses more than allowed: {gap}",
        UNDECIDED: "{what}: undecided: {gap}",
    },
    True: {
        PASSED: "{what}: passed, the two are equivalent: {gap}",
        WORSE: "{what}: worse, the candidate loses more than allowed: {gap}",
        DIFFERENT: "{what}: different, the candidate gains more than allowed: {gap}",
        UNDECIDED: "{what}: undecided: {gap}",
    },
}


def _gap(gate: Gate) -> str:
    share = float(gain(gate.candidate or 0.0, gate.baseline or 0.0))
    return _signed(gate.difference or 0.0) + ("" if share != share else f" ({_signed(share, 1)}{word(' %')})")


def _signed(value: float, digits: int = 4) -> str:
    return number(signed(value, digits))


def _allowed(gate: Gate) -> str:
    size = abs(gate.allowed or 0.0)
    if not gate.max_drop.endswith("%"):
        return number(f"{size:g}")
    return f"{number(gate.max_drop.removesuffix('%'))}{word(' %')} = {number(f'{size:.4f}')}"


#: What rounds to nothing in a sentence.
_NOTHING = 5e-5


def _sure(gate: Gate, rule: Rule) -> str:
    """Say what is known about the loss: the bound that decides, or both."""
    shown = gate.state in (WORSE, DIFFERENT)
    alpha = (gate.alpha_worse if shown else gate.alpha) or 0.0
    sure, p = 100 * (1 - alpha), gate.p_worse if shown else gate.p
    low, high = (gate.low, gate.high) if gate.upward > 0 else (_turned(gate.high), _turned(gate.low))
    both = rule.equivalence and not shown
    if (high if gate.state == WORSE else low) is None or (both and high is None):
        return say(
            "too few samples to be {sure:.4g} % sure of any bound"
            if rule.drawn(gate.topics) and 1 / (rule.samples + 1) > alpha
            else "too few topics to be {sure:.4g} % sure of any bound",
            sure=sure,
        )
    bound = _bounds(gate, low or 0.0, high or 0.0, both) + _whatever(gate)
    return say("{sure:.4g} % sure that it {bound}, {p}", sure=sure, bound=bound, p=number(p_text(p or 0.0)))


def _bounds(gate: Gate, low: float, high: float, both: bool) -> str:
    if gate.state == WORSE:
        return say("loses at least {bound:.4f}", bound=abs(high))
    if gate.state == DIFFERENT:
        return say("gains at least {bound:.4f}", bound=abs(low))
    if low > _NOTHING:
        more = say(", and no more than {bound:.4f}", bound=high) if both else ""
        return say("gains at least {bound:.4f}", bound=low) + more
    bound = say("loses no more than {bound:.4f}", bound=abs(min(low, 0.0)))
    if both and high > -_NOTHING:
        bound += say(", and gains no more than {bound:.4f}", bound=abs(high))
    elif both:
        bound += say(", and at least {bound:.4f}", bound=-high)
    return bound


def _whatever(gate: Gate) -> str:
    """Say that the bounds are those of all orders that decide, where these have not the same."""
    bounds = {tuple(round(each[end] or 0.0, 4) for end in ("low", "high")) for each in gate.by_ties.values()}
    return say(", whatever the order of ties") if len(bounds) > 1 else ""


def _turned(bound: float | None) -> float | None:
    return None if bound is None else -bound


def _why(gate: Gate, rule: Rule) -> str:
    """Say why the topics cannot tell, and how many could."""
    if gate.reason == "undefined":
        return gate.undefined
    if gate.topics < rule.least:
        return say("at least {least} topics are needed", least=rule.least)
    if gate.reason == "sides":
        return say("the orders of ties point to both sides, more topics cannot decide")
    room = gate.upward * ((gate.largest_loss or 0.0) - (gate.allowed or 0.0))
    none = say("no topic loses more than allowed; ") if room >= -TOLERANCE * abs(gate.allowed or 0.0) else ""
    if gate.topics_needed is None:
        return none + say("the difference lies at the margin, where no number of topics decides")
    if gate.topics_needed <= gate.topics:
        return none + say("these topics cannot tell")
    return none + say("these topics cannot tell, about {need:,.0f} could", need=gate.topics_needed)


def _by_ties(gate: Gate) -> str:
    """Say what each strategy says, and what all orders leave open."""
    said = []
    for ties, found in gate.by_ties.items():
        name = word(f"at its {ties}") if ties in (WORST, BEST) else strategy(ties)
        gap = _signed(found["difference"]) if "difference" in found else number(f"{found['candidate']:.4f}")
        said.append(f"{name} {word(found['state'])} ({gap})")
    if gate.open is None:
        return ", ".join(said)
    low, high = map(_signed, gate.open)
    return ", ".join(said) + say("; over all orders {low} to {high}", low=low, high=high)


_FLOORS = {
    PASSED: "{name}: passed, it is: {mean:.4f}",
    WORSE: "{name}: worse, it is not: {mean:.4f}",
    UNDECIDED: "{name}: undecided, ties decide: {mean:.4f}",
}


def sentence_of_floor(gate: Gate) -> str:
    """Say the verdict on a floor."""
    if gate.reason == "undefined":
        text = say("{name}: undecided, {why}: {mean:.4f}", name=gate.name, why=gate.undefined, mean=gate.candidate)
    else:
        text = say(_FLOORS[gate.state], name=gate.name, mean=gate.candidate)
    ties = f" ({_by_ties(gate)})" if gate.reason == "ties" else ""
    return f"{text}{ties}{_cautions(gate)}."
