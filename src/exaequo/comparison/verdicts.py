"""When *better* is said: where the orders of ties agree. In: what each strategy says. Out: outcomes and sentences.

Under one order alone noise pays: a run whose ties are broken at random gains over the same run at its worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from exaequo.arrays import Ints
from exaequo.choices import ROBUST
from exaequo.comparison.plan import Plan
from exaequo.language import number, say, strategy, word
from exaequo.measures import Measure
from exaequo.scores import Scores
from exaequo.text import p_text, signed

OUTCOMES = BETTER, WORSE, NONE, EQUIVALENT, TIES = "better", "worse", "none", "equivalent", "ties decide"
#: What the two extremes of ties are called among the strategies: the second run at its worst, and at its best.
EXTREMES = WORST, BEST = "worst", "best"
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


def robust(says: Sequence[Ints]) -> Any:
    """Return the outcome of each pair from what is said with the second run at its worst, and at its best.

    Better even at its worst, worse even at its best; no difference if neither extreme shows one.
    """
    at_worst, at_best = says
    quiet = (at_worst == 0) & (at_best == 0)
    return np.select([at_worst > 0, at_best < 0, quiet], [BETTER, WORSE, NONE], TIES)


class Known(NamedTuple):
    """What sentences on the pairs of a measure need to know: the orders heard, pairs corrected for together, topics."""

    measure: Measure
    plan: Plan
    heard: Sequence[str]
    family: int
    topics: int


def sentence(pair: dict[str, Any], known: Known, *, equal: bool) -> str:
    """Say in a sentence which is better, by how much, and how sure that is; `equal`: on every topic, in every order."""
    measure, plan = known.measure, known.plan
    one, two, outcome = pair["one"], pair["two"], pair["outcome"]
    share = "" if pair["gain_percent"] != pair["gain_percent"] else f" ({_gap(pair['gain_percent'], 1)}{word(' %')})"
    size = f"{_gap(pair['difference'])}{share}, {_sure(pair, known)}"
    sure = f"{number(p_text(pair['corrected_p']))} ({plan.name})"
    names = {"one": one, "two": two, "measure": measure}
    if outcome == TIES:
        heard = _heard(pair, known.heard)
        text = say("ties decide between {two} and {one} on {measure}: {heard}", **names, heard=heard)
    elif equal and pair["topics"] < known.topics:
        text = say(
            "no difference between {two} and {one} on {measure}: equal on the {n:,} topics where both have a value",
            **names,
            n=pair["topics"],
        )
    elif equal:
        text = say("no difference between {two} and {one} on {measure}: equal on every topic", **names)
    elif outcome in (BETTER, WORSE):
        text = say(_SHOWN[outcome], **names, odd=_odd(pair, measure)) + f"{size}, {sure}"
    elif outcome == EQUIVALENT:
        close = {"margin": number(str(plan.margin)), "p": number(p_text(pair["equivalent_p"]))}
        near = say("within {margin} either way, {p} (two one-sided t-tests)", **close)
        text = say("{two} and {one} are equivalent on {measure}: {size}; {near}", **names, size=size, near=near)
    else:
        text = say(_NOT_SHOWN[plan.sides], **names) + f"{size}, {sure}{_more(pair, plan)}"
    return text + (say("; caution: {cautions}", cautions=pair["cautions"]) if pair["cautions"] else "")


def _gap(value: float, digits: int = 4) -> str:
    return number(signed(value, digits))


def _odd(pair: dict[str, Any], measure: Measure) -> str:
    """Say that the means do not go the way of the verdict, where they do not."""
    toward = measure.upward * pair["difference"] * (1 if pair["outcome"] == BETTER else -1)
    if toward < 0:
        return say(", though its mean says otherwise")
    return "" if toward else say(", though its mean is the same")


#: Corrections that go step by step, so that some pairs are held to less than Bonferroni's level.
_STEPS = ("holm", "bh", "holm-sidak", "simes-hochberg", "hommel", "fdr_bh", "fdr_tsbh", "fdr_tsbky", "fdr_gbs")
#: Intervals by their kinds: of a pair, and of all of them.
_KINDS = {"t": "Student ", "bca": "BCa ", "percentile": "percentile "}
_OF_ALL = {"t": "Student's", "bca": "BCa", "percentile": "of percentiles"}


def _sure(pair: dict[str, Any], known: Known) -> str:
    """Say the interval, for how many pairs it holds, and why it does not agree with p where it does not."""
    plan, alone = known.plan, known.plan.single and known.family > 1
    text = say(
        "{kind}{sure:g} % {own}interval{alone} {low} to {high}",
        kind=say("simultaneous ") if plan.simultaneous(known.family) else "",
        sure=100 * (1 - plan.alpha),
        own="" if plan.own_intervals else say(_KINDS[plan.interval_kind]),
        alone=say(" of this pair alone") if alone else "",
        low=_gap(pair["low"]),
        high=_gap(pair["high"]),
    )
    outside = pair["low"] > 0 or pair["high"] < 0
    if outside == pair["significant"] or alone:
        return text
    return text + (_wider(plan) if plan.own_intervals else say(", which p need not follow"))


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
        name = word(f"at its {ties}") if ties in EXTREMES else strategy(ties)
        said.append(f"{name} {word(_WORDS[pair[ties]])} ({_gap(gap)})")
    if "open_low" not in pair:
        return ", ".join(said)
    ends = {"low": _gap(pair["open_low"]), "high": _gap(pair["open_high"])}
    return ", ".join(said) + say("; over all orders {low} to {high}", **ends)


def method(plan: Plan, scores: Scores, family: int) -> list[str]:
    """Say how verdicts are found: topics, ties, the test, its sides and its family, in lines."""
    topics, measures = len(scores.shared), len(scores.measures)
    random = say(", {samples:,} samples, seed {seed}", samples=plan.samples, seed=str(plan.seed))
    sides = word("two-sided") if plan.sides == 2 else word("one-sided")
    pairs = say("{n:,} {n:pair|pairs}", n=family)
    if measures > 1 and plan.jointly:
        pairs += say(" of all measures")
    elif measures > 1:
        pairs += say(" of each measure; measures are not corrected jointly")
    test = plan.name.removesuffix(f", {word('one-sided')}")
    seen = say("{n:,} {n:topic|topics}, {ties} ties; ", n=topics, ties=strategy(scores.ties[0])) + _rule(plan, scores)
    whole = all("ties" in measure.definition.sees for measure in scores.measures)
    if whole and scores.options.get("depth") is None:  # a cut may go through a tie
        seen = say("{n:,} {n:topic|topics}; ties decide nothing: each is taken as a whole", n=topics)
    level = say("alpha {alpha:g}", alpha=plan.alpha)
    return [
        seen,
        f"{test}, {sides}, {level}{random if plan.drawn(topics) else ''}{word('; ')}{pairs}",
        *filter(None, [_intervals(plan, family)]),
    ]


def _intervals(plan: Plan, family: int) -> str:
    """Say for how many pairs intervals hold, and where p does not follow them."""
    text = say("intervals hold for all pairs together") if plan.simultaneous(family) else ""
    if plan.own_intervals or not family:
        return text + (_wider(plan) if text and plan.own_intervals and plan.correction in _STEPS else "")
    kind = say(_OF_ALL[plan.interval_kind])
    about = say("{kind} of the mean: p is of another procedure and need not follow them", kind=kind)
    return f"{text}, {about}" if text else say("intervals are ") + about


def _rule(plan: Plan, scores: Scores) -> str:
    """Say when better or worse is said."""
    if plan.ties == ROBUST:
        return say("better or worse where it holds with one run at its worst and the other at its best")
    decides = [strategy(each) for each in plan.decides(scores.ties)]
    if len(decides) == 1:
        return say("verdicts by {ties} ties alone", ties=decides[0])
    return say("better or worse where {some} and {last} agree", some=", ".join(decides[:-1]), last=decides[-1])
