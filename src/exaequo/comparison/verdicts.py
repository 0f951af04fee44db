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
from exaequo.measures import Measure
from exaequo.scores import Scores
from exaequo.text import count, p_text, signed

OUTCOMES = BETTER, WORSE, NONE, EQUIVALENT, TIES = "better", "worse", "none", "equivalent", "ties decide"
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


def sentence(pair: dict[str, Any], measure: Measure, plan: Plan, heard: Sequence[str], level: float) -> str:
    """Say in a sentence which is better, by how much, and how sure that is."""
    one, two, outcome = pair["one"], pair["two"], pair["outcome"]
    share = "" if pair["gain_percent"] != pair["gain_percent"] else f" ({signed(pair['gain_percent'], 1)} %)"
    size = f"{signed(pair['difference'])}{share}, {_sure(pair, plan, level)}"
    known = f"{p_text(pair['corrected_p'])} ({plan.name})"
    if outcome == TIES:
        text = f"ties decide between {two} and {one} on {measure}: {_heard(pair, heard)}"
    elif not (pair["wins"] or pair["losses"]):
        text = f"no difference between {two} and {one} on {measure}: equal on every topic"
    elif outcome in (BETTER, WORSE):
        mean_better = (pair["difference"] > 0) == measure.definition.higher_is_better
        odd = "" if mean_better == (outcome == BETTER) else ", though its mean says otherwise"
        text = f"{two} is {outcome} than {one} on {measure}{odd}: {size}, {known}"
    elif outcome == EQUIVALENT:
        near = f"within {plan.margin} either way, {p_text(pair['equivalent_p'])} (two one-sided t-tests)"
        text = f"{two} and {one} are equivalent on {measure}: {size}; {near}"
    else:
        asked = plan.sides == 1
        shown = (
            f"{two} is not shown to be better than {one}" if asked else f"no difference shown between {two} and {one}"
        )
        text = f"{shown} on {measure}: {size}, {known}{_more(pair, plan)}"
    return text + (f"; caution: {pair['cautions']}" if pair["cautions"] else "")


def _sure(pair: dict[str, Any], plan: Plan, level: float) -> str:
    """Say the interval, and for how many pairs it holds."""
    kind = "simultaneous " if level < plan.alpha else ""
    alone = " of this pair alone" if plan.single and plan.correction != "none" else ""
    text = f"{kind}{100 * (1 - plan.alpha):g} % interval{alone} {signed(pair['low'])} to {signed(pair['high'])}"
    wider = kind and pair["outcome"] in (BETTER, WORSE) and pair["low"] <= 0 <= pair["high"]
    return text + (f", wider than the steps of {plan.correction}" if wider and not plan.joint else "")


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
        name = ties if ties in COMPARED else f"at its {ties}"
        said.append(f"{name} {_WORDS[pair[ties]]} ({signed(gap)})")
    open_ = f"; over all orders {signed(pair['open_low'])} to {signed(pair['open_high'])}" if "open_low" in pair else ""
    return ", ".join(said) + open_


def method(plan: Plan, scores: Scores) -> list[str]:
    """Say how verdicts are found: topics, ties, the test, its sides and its family, in lines."""
    topics, runs, measures = len(scores.shared), len(scores.runs), len(scores.measures)
    pairs = runs - 1 if plan.baseline is not None else runs * (runs - 1) // 2
    random = f", {plan.samples:,} samples, seed {plan.seed}" if plan.drawn(topics) else ""
    sides = "two-sided" if plan.sides == 2 else "one-sided"
    family = count(pairs * (measures if plan.jointly else 1), "pair")
    if measures > 1:
        family += " of all measures" if plan.jointly else " of each measure; measures are not corrected jointly"
    test = plan.name.removesuffix(", one-sided")
    lines = [
        f"{count(topics, 'topic')}, {scores.ties[0]} ties; {_rule(plan, scores)}",
        f"{test}, {sides}, alpha {plan.alpha:g}{random}; {family}",
    ]
    if pairs > 1 and not (plan.single or plan.correction == "none"):
        wider = (
            ""
            if plan.joint or plan.correction in ("bonferroni", "sidak")
            else f", wider than the steps of {plan.correction}"
        )
        lines.append(f"intervals hold for all pairs together{wider}")
    return lines


def _rule(plan: Plan, scores: Scores) -> str:
    """Say when better or worse is said."""
    if plan.ties == ROBUST:
        return "better or worse where it holds with one run at its worst and the other at its best"
    decides = plan.decides(scores.ties)
    if len(decides) == 1:
        return f"verdicts by {decides[0]} ties alone"
    return f"better or worse where {', '.join(decides[:-1])} and {decides[-1]} agree"
