"""When *better* is said: where the orders of ties agree. In: what each strategy says. Out: outcomes and sentences.

Under one order alone noise pays: a run whose ties are broken at random gains over the same run at its worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from exaequo.choices import ROBUST
from exaequo.comparison.plan import Plan
from exaequo.judge import Ints
from exaequo.measures import Measure
from exaequo.scores import Scores
from exaequo.text import count, p_text, signed

OUTCOMES = BETTER, WORSE, NONE, EQUIVALENT, TIES = "better", "worse", "none", "equivalent", "ties decide"
#: What the two extremes of ties are called among the strategies: the second run at its worst, and at its best.
EXTREMES = WORST, BEST = "worst", "best"
_WORDS = {">": "better", "<": "worse", "=": "no difference"}


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
    share = "" if pair["gain_percent"] != pair["gain_percent"] else f" ({signed(pair['gain_percent'], 1)} %)"
    size = f"{signed(pair['difference'])}{share}, {_sure(pair, known)}"
    sure = f"{p_text(pair['corrected_p'])} ({plan.name})"
    if outcome == TIES:
        text = f"ties decide between {two} and {one} on {measure}: {_heard(pair, known.heard)}"
    elif equal:
        fewer = pair["topics"] < known.topics
        where = f"the {pair['topics']:,} topics where both have a value" if fewer else "every topic"
        text = f"no difference between {two} and {one} on {measure}: equal on {where}"
    elif outcome in (BETTER, WORSE):
        toward = measure.upward * pair["difference"] * (1 if outcome == BETTER else -1)
        odd = (
            ", though its mean says otherwise" if toward < 0 else ", though its mean is the same" if not toward else ""
        )
        text = f"{two} is {outcome} than {one} on {measure}{odd}: {size}, {sure}"
    elif outcome == EQUIVALENT:
        near = f"within {plan.margin} either way, {p_text(pair['equivalent_p'])} (two one-sided t-tests)"
        text = f"{two} and {one} are equivalent on {measure}: {size}; {near}"
    else:
        asked = plan.sides == 1
        shown = (
            f"{two} is not shown to be better than {one}" if asked else f"no difference shown between {two} and {one}"
        )
        text = f"{shown} on {measure}: {size}, {sure}{_more(pair, plan)}"
    return text + (f"; caution: {pair['cautions']}" if pair["cautions"] else "")


#: Corrections that go step by step, so that some pairs are held to less than Bonferroni's level.
_STEPS = ("holm", "bh", "holm-sidak", "simes-hochberg", "hommel", "fdr_bh", "fdr_tsbh", "fdr_tsbky", "fdr_gbs")


def _sure(pair: dict[str, Any], known: Known) -> str:
    """Say the interval, for how many pairs it holds, and why it does not agree with p where it does not."""
    plan, together = known.plan, known.plan.simultaneous(known.family)
    kind = "simultaneous " if together else ""
    own = (
        "" if plan.own_intervals else {"t": "Student ", "bca": "BCa ", "percentile": "percentile "}[plan.interval_kind]
    )
    alone = " of this pair alone" if plan.single and known.family > 1 else ""
    text = f"{kind}{100 * (1 - plan.alpha):g} % {own}interval{alone} {signed(pair['low'])} to {signed(pair['high'])}"
    outside = pair["low"] > 0 or pair["high"] < 0
    if outside == pair["significant"] or alone:
        return text
    return text + (
        f", wider than the steps of {plan.correction}" if plan.own_intervals else ", which p need not follow"
    )


def _more(pair: dict[str, Any], plan: Plan) -> str:
    """Say how many topics would show a difference of this size, at the level that it is tested at."""
    need = pair["topics_needed"]
    if not np.isfinite(need) or need <= pair["topics"] or (plan.sides == 1 and pair["better"] <= 0):
        return ""
    return f"; {need:,.0f} topics would show it"


def _heard(pair: dict[str, Any], heard: Sequence[str]) -> str:
    """Say what each strategy says, and what all orders leave open."""
    said = []
    for ties in heard:
        gap = pair[f"difference_{ties}"] if f"difference_{ties}" in pair else pair["difference"]
        name = f"at its {ties}" if ties in EXTREMES else ties
        said.append(f"{name} {_WORDS[pair[ties]]} ({signed(gap)})")
    open_ = f"; over all orders {signed(pair['open_low'])} to {signed(pair['open_high'])}" if "open_low" in pair else ""
    return ", ".join(said) + open_


def method(plan: Plan, scores: Scores, family: int) -> list[str]:
    """Say how verdicts are found: topics, ties, the test, its sides and its family, in lines."""
    topics, measures = len(scores.shared), len(scores.measures)
    random = f", {plan.samples:,} samples, seed {plan.seed}" if plan.drawn(topics) else ""
    sides = "two-sided" if plan.sides == 2 else "one-sided"
    pairs = count(family, "pair")
    if measures > 1:
        pairs += " of all measures" if plan.jointly else " of each measure; measures are not corrected jointly"
    test = plan.name.removesuffix(", one-sided")
    lines = [
        f"{count(topics, 'topic')}, {scores.ties[0]} ties; {_rule(plan, scores)}",
        f"{test}, {sides}, alpha {plan.alpha:g}{random}; {pairs}",
    ]
    about = ["intervals hold for all pairs together"] if plan.simultaneous(family) else []
    if about and plan.own_intervals and plan.correction in _STEPS:
        about.append(f"wider than the steps of {plan.correction}")
    if not plan.own_intervals and family:
        kind = {"t": "Student's", "bca": "BCa", "percentile": "of percentiles"}[plan.interval_kind]
        about = [*(about or ["intervals"]), f"{kind} of the mean: p is of another procedure and need not follow them"]
    return [*lines, *([", ".join(about).replace("intervals, ", "intervals are ")] if about else [])]


def _rule(plan: Plan, scores: Scores) -> str:
    """Say when better or worse is said."""
    if plan.ties == ROBUST:
        return "better or worse where it holds with one run at its worst and the other at its best"
    decides = plan.decides(scores.ties)
    if len(decides) == 1:
        return f"verdicts by {decides[0]} ties alone"
    return f"better or worse where {', '.join(decides[:-1])} and {decides[-1]} agree"
