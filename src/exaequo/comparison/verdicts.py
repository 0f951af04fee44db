"""When *better* is said: where the orders of ties agree. In: what each strategy says. Out: outcomes and sentences.

Under one order alone noise pays: a run whose ties are broken at random gains over the same run at its worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from exaequo.choices import COMPARED, ROBUST
from exaequo.comparison.plan import Plan
from exaequo.judge import Ints
from exaequo.language import number, say, strategy, word
from exaequo.measures import Measure
from exaequo.scores import Scores

OUTCOMES = BETTER, WORSE, NONE, EQUIVALENT, TIES = "better", "worse", "none", "equivalent", "ties decide"
_WORDS = {">": "better", "<": "worse", "=": "no difference"}
_SHOWN = {
    BETTER: "{two} is better than {one} on {measure}{odd}: ",
    WORSE: "{two} is worse than {one} on {measure}{odd}: ",
}
#: By the sides of the test.
_NOT_SHOWN = {
    1: "{two} is not shown to be better than {one} on {measure}: ",
    2: "no difference shown between {two} and {one} on {measure}: ",
}


def agreed(says: Sequence[Ints]) -> Any:
    """Return the outcome of each pair: what all strategies say, or that ties decide."""
    first = np.asarray(says[0])
    word = np.select([first > 0, first < 0], [BETTER, WORSE], NONE)
    return np.where(np.logical_and.reduce([first == each for each in says]), word, TIES)


def robust(at_worst: Ints, at_best: Ints) -> Any:
    """Return the outcome of each pair from what is said with the second run at its worst, and at its best.

    Better even at its worst, worse even at its best; no difference if neither extreme shows one.
    """
    quiet = (at_worst == 0) & (at_best == 0)
    return np.select([at_worst > 0, at_best < 0, quiet], [BETTER, WORSE, NONE], TIES)


def p_text(p: float) -> str:
    """Write a p."""
    return f"p {number('< 0.0001' if p < 0.0001 else f'= {p:.4f}')}"


def sentence(pair: dict[str, Any], measure: Measure, plan: Plan, heard: Sequence[str], level: float) -> str:
    """Say in a sentence which is better, by how much, and how sure that is."""
    one, two, outcome = pair["one"], pair["two"], pair["outcome"]
    share = "" if pair["gain_percent"] != pair["gain_percent"] else say(" ({gain:+.1f} %)", gain=pair["gain_percent"])
    gap = number(f"{pair['difference']:+.4f}")
    size = f"{gap}{share}, {_sure(pair, plan, level)}"
    known = f"{p_text(pair['corrected_p'])} ({plan.name})"
    names = {"one": one, "two": two, "measure": measure}
    if outcome == TIES:
        text = say("ties decide between {two} and {one} on {measure}: {heard}", **names, heard=_heard(pair, heard))
    elif not (pair["wins"] or pair["losses"]):
        text = say("no difference between {two} and {one} on {measure}: equal on every topic", **names)
    elif outcome in (BETTER, WORSE):
        mean_better = (pair["difference"] > 0) == measure.definition.higher_is_better
        odd = "" if mean_better == (outcome == BETTER) else say(", though its mean says otherwise")
        text = say(_SHOWN[outcome], **names, odd=odd) + f"{size}, {known}"
    elif outcome == EQUIVALENT:
        close = {"margin": number(str(plan.margin)), "p": p_text(pair["equivalent_p"])}
        near = say("within {margin} either way, {p} (two one-sided t-tests)", **close)
        text = say("{two} and {one} are equivalent on {measure}: {size}; {near}", **names, size=size, near=near)
    else:
        text = say(_NOT_SHOWN[plan.sides], **names) + f"{size}, {known}{_more(pair, plan)}"
    return text + (say("; caution: {cautions}", cautions=pair["cautions"]) if pair["cautions"] else "")


def _sure(pair: dict[str, Any], plan: Plan, level: float) -> str:
    """Say the interval, and for how many pairs it holds."""
    together, ends = level < plan.alpha, {"low": pair["low"], "high": pair["high"], "sure": 100 * (1 - plan.alpha)}
    if together:
        text = say("simultaneous {sure:g} % interval {low:+.4f} to {high:+.4f}", **ends)
    elif plan.single and plan.correction != "none":
        text = say("{sure:g} % interval of this pair alone {low:+.4f} to {high:+.4f}", **ends)
    else:
        text = say("{sure:g} % interval {low:+.4f} to {high:+.4f}", **ends)
    wider = together and pair["outcome"] in (BETTER, WORSE) and pair["low"] <= 0 <= pair["high"]
    return text + (_wider(plan) if wider and not plan.joint else "")


def _wider(plan: Plan) -> str:
    return say(", wider than the steps of {correction}", correction=plan.correction)


def _more(pair: dict[str, Any], plan: Plan) -> str:
    """Say how many topics would show a difference of this size, at the level that it is tested at."""
    need = pair["topics_needed"]
    if not np.isfinite(need) or need <= pair["topics"] or (plan.sides == 1 and pair["better"] <= 0):
        return ""
    return say("; {need:,.0f} topics would show it", need=need)


def _heard(pair: dict[str, Any], heard: Sequence[str]) -> str:
    """Say what each strategy says, and what all orders leave open."""
    said = []
    for ties in heard:
        gap = pair[f"difference_{ties}"] if f"difference_{ties}" in pair else pair["difference"]
        name = strategy(ties) if ties in COMPARED else word(f"at its {ties}")
        said.append(f"{name} {word(_WORDS[pair[ties]])} ({number(f'{gap:+.4f}')})")
    ends = {"low": pair.get("open_low"), "high": pair.get("open_high")}
    return ", ".join(said) + (say("; over all orders {low:+.4f} to {high:+.4f}", **ends) if "open_low" in pair else "")


def method(plan: Plan, scores: Scores) -> list[str]:
    """Say how verdicts are found: topics, ties, the test, its sides and its family, in lines."""
    topics, runs, measures = len(scores.shared), len(scores.runs), len(scores.measures)
    pairs = runs - 1 if plan.baseline is not None else runs * (runs - 1) // 2
    random = say(", {samples:,} samples, seed {seed}", samples=plan.samples, seed=str(plan.seed))
    sides = word("two-sided") if plan.sides == 2 else word("one-sided")
    family = say("{n:,} {n:pair|pairs}", n=pairs * (measures if plan.jointly else 1))
    if measures > 1 and plan.jointly:
        family += say(" of all measures")
    elif measures > 1:
        family += say(" of each measure; measures are not corrected jointly")
    test = plan.name.removesuffix(f", {word('one-sided')}")
    seen = say("{n:,} {n:topic|topics}, {ties} ties; ", n=topics, ties=strategy(scores.ties[0]))
    level = say("alpha {alpha:g}", alpha=plan.alpha)
    lines = [
        seen + _rule(plan, scores),
        f"{test}, {sides}, {level}{random if plan.drawn(topics) else ''}{word('; ')}{family}",
    ]
    if pairs > 1 and not (plan.single or plan.correction == "none"):
        alike = plan.joint or plan.correction in ("bonferroni", "sidak")
        lines.append(say("intervals hold for all pairs together") + ("" if alike else _wider(plan)))
    return lines


def _rule(plan: Plan, scores: Scores) -> str:
    """Say when better or worse is said."""
    if plan.ties == ROBUST:
        return say("better or worse where it holds with one run at its worst and the other at its best")
    decides = [strategy(each) for each in plan.decides(scores.ties)]
    if len(decides) == 1:
        return say("verdicts by {ties} ties alone", ties=decides[0])
    return say("better or worse where {some} and {last} agree", some=", ".join(decides[:-1]), last=decides[-1])
