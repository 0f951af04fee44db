"""What a colleague asks: which is best, is it real, luck, why. In: a `Comparison`. Out: answers in plain words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from exaequo.comparison import Comparison
from exaequo.comparison.pairs import open_means
from exaequo.comparison.values import pick
from exaequo.comparison.verdicts import BETTER, EQUIVALENT, NONE, TIES, WORSE
from exaequo.language import number, say, strategy, word
from exaequo.reporting.facts import FIRST
from exaequo.reporting.sentences import leaders, p_text, signed
from exaequo.tabular import cell_text
from exaequo.text import on_one_line

#: Topics that are named.
MOST_NAMED = 3
Answer = dict[str, Any]


def answers_of(result: Comparison) -> list[Answer]:
    """Return the answers in the order of the questions, each with the words it needs explained, the verdict first."""
    best, second = leaders(result)
    pair = None if second is None else _pair(result, best, second)
    found = [
        _answer("best", say("Which is best?"), _best(result, best, second), "measure"),
        *([] if pair is None else [_answer("real", say("Is it real?"), _real(result, pair), "interval p correction")]),
        _answer("luck", say("Is it luck?"), _luck(result), "tie"),
        _answer("why", say("Why?"), _why(result, best, second), "") | {"topics": _telling(result, best, second)},
        _answer("missing", say("Not judged?"), _missing(result), "judged"),
    ]
    if pair is not None:
        found.append(_answer("change", say("What changes it?"), _change(result, pair), ""))
    return found


def _answer(key: str, question: str, text: str, terms: str) -> Answer:
    return {"key": key, "question": question, "text": on_one_line(text), "terms": terms.split(), "topics": []}


def _named(runs: list[str]) -> str:
    """Return the first names, and how many more there are."""
    some = ", ".join(runs[:MOST_NAMED])
    left = len(runs) - MOST_NAMED
    return say("{some} and {n:,} more", some=some, n=left) if left > 0 else some


def _pair(result: Comparison, best: str, second: str) -> dict[str, Any]:
    """Return the pair of the verdict, seen from the best run."""
    one, two = pl.col("one"), pl.col("two")
    either = ((one == best) & (two == second)) | ((one == second) & (two == best))
    pair = pick(result.pairs, result.scores.measures[0]).filter(either).row(0, named=True)
    side = 1 if pair["two"] == best else -1
    low, high = sorted((side * pair["low"], side * pair["high"]))
    back = {BETTER: WORSE, WORSE: BETTER}
    outcome = pair["outcome"] if side > 0 else back.get(pair["outcome"], pair["outcome"])
    signs = {">": side, "<": -side, "=": 0}
    heard = {ties: signs[pair[ties]] for ties in result.plan.decides(result.scores.ties)}
    seen = {"gap": side * pair["difference"], "low": low, "high": high, "outcome": outcome, "heard": heard}
    return pair | seen | {"best": best, "second": second}


def _best(result: Comparison, best: str, second: str | None) -> str:
    """Say which runs share the top, or how many are better than the baseline."""
    first = result.scores.measures[0]
    own = dict(pick(result.systems, first).select("run", "mean").iter_rows())
    if second is None:
        figures = {"run": best, "measure": first.name, "mean": cell_text(own[best])}
        return say("{run} has a mean {measure} of {mean}; there is no other run to compare it with.", **figures)
    pairs = pick(result.pairs, first)
    if result.plan.baseline is not None:
        counted = [(pairs["outcome"] == outcome).sum() for outcome in (BETTER, WORSE)]
        return say(
            "Of {n:,} {n:run|runs}, {better:,} {better:is|are} better in {measure} than {base} ({mean}), the baseline, "
            "and {worse:,} {worse:is|are} worse; {best} has {top}.",
            n=pairs.height,
            better=counted[0],
            worse=counted[1],
            measure=first.name,
            base=second,
            mean=cell_text(own[second]),
            best=best,
            top=cell_text(own[best]),
        )
    beside = pairs.filter((pl.col("one") == best) | (pl.col("two") == best))
    others = {two if one == best else one: each for one, two, each in beside.select("one", "two", "outcome").rows()}
    shared = [run for run in own if others.get(run) in (NONE, EQUIVALENT)]
    open_ = [run for run in own if others.get(run) == TIES]
    names = {"best": best, "measure": first.name, "mean": cell_text(own[best])}
    if not shared:
        gap = cell_text(abs(own[best] - own[second]))
        ahead = {"second": second, "other": cell_text(own[second]), "gap": gap}
        unless = say("; ties decide between it and {open}", open=_named(open_)) if open_ else ""
        return (
            say("{best} is best: {measure} {mean}, ahead of {second} ({other}) by {gap}", **names, **ahead)
            + f"{unless}."
        )
    return say(
        "{best} has the highest {measure}, {mean}, but shares the top with {n:,} {n:other|others}: {shared}."
        if first.upward > 0
        else "{best} has the lowest {measure}, {mean}, but shares the top with {n:,} {n:other|others}: {shared}.",
        **names,
        n=len(shared),
        shared=_named(shared),
    )


def _real(result: Comparison, pair: dict[str, Any]) -> str:
    """Say how sure the difference between the two runs of the verdict is."""
    figures = {
        "best": pair["best"],
        "second": pair["second"],
        "gap": signed(pair["gap"]),
        "low": signed(pair["low"]),
        "high": signed(pair["high"]),
        "p": p_text(pair["corrected_p"]),
        "sure": 100 * (1 - result.plan.alpha),
        "n": len(result.scores.shared),
    }
    if pair["outcome"] == TIES:
        said = {1: "better", -1: "worse", 0: "no difference"}
        each = ", ".join(f"{strategy(ties)} {word(said[side])}" for ties, side in pair["heard"].items())
        return say("Open: ties decide between {best} and {second} ({each}).", each=each, **figures)
    if pair["outcome"] == EQUIVALENT:
        margin = number(str(result.plan.margin))
        return say("No: {best} and {second} are equivalent within {margin}.", margin=margin, **figures)
    if pair["outcome"] == NONE:
        return say(
            "Not shown: {best} over {second} is {gap}, {low} to {high} with {sure:g} % confidence; on {n:,} topics "
            "that may be chance ({p}).",
            **figures,
        )
    return say(
        "Yes: {best} over {second} is {gap}, {low} to {high} with {sure:g} % confidence; chance would hardly give that "
        "({p}, {n:,} topics).",
        **figures,
    )


def _luck(result: Comparison) -> str:
    """Say how far ties could move a run, and how many comparisons depend on them."""
    first, runs = result.scores.measures[0], result.scores.runs
    low, high = open_means(result.scores, first)
    at = int(np.argmax(high - low))
    figures = {"run": runs[at], "measure": first.name, "low": cell_text(low[at]), "high": cell_text(high[at])}
    moved = (
        say("The order of tied documents could move {run} from {low} to {high} {measure}", **figures)
        if figures["low"] != figures["high"]
        else say("No order of tied documents moves a mean of {measure}", measure=first.name)
    )
    if not result.pairs.height:
        return moved + "."
    deciding = int((result.pairs["outcome"] == TIES).sum())
    count = {"deciding": deciding, "n": result.pairs.height}
    return moved + say("; ties decide {deciding:,} of {n:,} {n:comparison|comparisons}.", **count)


def gaps_of(result: Comparison, best: str, second: str | None) -> tuple[list[str], Any]:
    """Return topics, and by how much the best run is better on each; of one run, its values."""
    first = result.scores.measures[0]
    own = result.scores.matrix(first)
    return own.topics.to_list(), first.upward * (own[best] - (own[second] if second is not None else 0.0))


def _why(result: Comparison, best: str, second: str | None) -> str:
    """Say on how many topics the best run is better."""
    _, gaps = gaps_of(result, best, second)
    if second is None:
        return say("Its hardest topics:")
    wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    return say(
        "{best} does better than {second} on {wins:,} of {n:,} topics, worse on {losses:,}. Where most:",
        best=best,
        second=second,
        wins=wins,
        losses=losses,
        n=len(gaps),
    )


def _telling(result: Comparison, best: str, second: str | None) -> list[dict[str, str]]:
    """Return the topics that were won by most, and the one that was lost by most; of one run, the hardest."""
    first = result.scores.measures[0]
    topics, gaps = gaps_of(result, best, second)
    if second is None:
        order = np.argsort(gaps, kind="stable")[:MOST_NAMED].tolist()
        return [{"topic": topics[at], "gap": cell_text(abs(float(gaps[at])))} for at in order]
    order = np.argsort(-gaps, kind="stable").tolist()
    named = [at for at in order[:MOST_NAMED] if gaps[at] > 0] + [at for at in order[-1:] if gaps[at] < 0]
    return [{"topic": topics[at], "gap": signed(first.upward * float(gaps[at]))} for at in named]


def _missing(result: Comparison) -> str:
    """Say what nobody judged among the first documents, and whose they are."""
    facts = result.scores.facts
    documents = {
        (topic, name) for each in facts.values() for topic, found in enumerate(each.unjudged) for name, _ in found
    }
    if not documents:
        return say("Nothing in the first {first} ranks: every document there has a judgment.", first=FIRST)
    run = max(facts, key=lambda name: facts[name].health["unjudged"])
    return say(
        "{n:,} {n:document|documents} in the first {first} ranks {n:has|have} no judgment and {n:counts|count} as not "
        "relevant; {run} has the largest share ({share:.0f} % of its first {first}).",
        n=len(documents),
        first=FIRST,
        run=run,
        share=facts[run].health["unjudged"],
    )


def _change(result: Comparison, pair: dict[str, Any]) -> str:
    """Say what would have to be otherwise for another verdict."""
    reasons = []
    need, topics = pair["topics_needed"], len(result.scores.shared)
    if pair["outcome"] == NONE and math.isfinite(need) and need > topics:
        reasons.append(say("about {need:,.0f} topics instead of {n:,} would show this difference", need=need, n=topics))
    if pair["outcome"] == TIES:
        reasons.append(say("finer scores, which leave fewer documents tied, would decide it"))
    if any(found for each in result.scores.facts.values() for found in each.unjudged):
        reasons.append(say("judging what is not judged may move every mean"))
    if pair["outcome"] in (BETTER, WORSE):
        two = {"best": pair["best"], "second": pair["second"]}
        reasons.append(say("no order of ties that was tried puts {second} before {best}, other topics might", **two))
    text = word("; ").join(reasons) or say("other topics, or more of them")
    return text[:1].upper() + text[1:] + "."
