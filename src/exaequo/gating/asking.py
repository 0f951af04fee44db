"""What a gate asks of two runs: of each measure, each floor and each slice. In: `Scores` and a `Rule`. Out: `Gate`s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Floats
from exaequo.choices import INTERVAL, ROBUST
from exaequo.comparison.pairs import extremes, open_means
from exaequo.comparison.plan import Plan, tie_rule
from exaequo.comparison.verdicts import BEST, WORST
from exaequo.gating.bounds import DIFFERENT, PASSED, UNDECIDED, WORSE, Answer, Level, answer
from exaequo.gating.rule import Bar, Rule
from exaequo.gating.verdicts import Gate, cautions_of, ends, needed, sentence, sentence_of_floor
from exaequo.language import say
from exaequo.measures import Measure
from exaequo.scores import Scores
from exaequo.stats.equality import differences


@dataclass(frozen=True)
class Asking:
    """Two runs on the topics they share, and what is asked of them.

    `lacking` says which run lacks topics, and `absent` are those the baseline lacks, which score as empty lists.
    """

    scores: Scores
    rule: Rule
    identical: bool
    lacking: tuple[str, ...]
    absent: tuple[str, ...] = ()

    def gate(self, bar: Bar, label: str | None = None, family: int = 1) -> Gate:
        """Ask whether a measure lost more than allowed, on all topics or on those of a slice.

        All slices of a family hold together; all measures must pass, and so need no correction, but one is enough to
        fail, so they have one there.
        """
        rule, measure = self.rule, bar.measure
        values = self.scores.matrix(measure).values
        topics, alpha = values.shape[1], rule.alpha / family
        found = Gate(
            measure=measure.name, upward=measure.upward, slice=label, state=UNDECIDED, reason="topics", topics=topics,
            alpha=alpha, alpha_worse=alpha / len(rule.bars), max_drop=str(bar.max_drop),
        )  # fmt: skip
        if self.identical and topics:
            found = replace(found, state=PASSED, reason="", low=0.0, high=0.0, open=(0.0, 0.0))
        if topics >= 2 or found.passed:
            one, two = (float(row.mean()) for row in values)
            margin = float(bar.max_drop.at(one))
            found = replace(
                found, baseline=one, candidate=two, difference=0.0, allowed=-measure.upward * margin + 0.0,
                cautions=() if label else self.lacking,
            )  # fmt: skip
            found = found if self.identical else self._defined(self._asked(found, measure, margin), measure)
            found = self._held(found, bar, label, family)
        return replace(found, sentence=sentence(found, rule))

    def _asked(self, found: Gate, measure: Measure, margin: float) -> Gate:
        """Return the record with what the topics say."""
        level = Level(found.alpha or 0.0, found.alpha_worse or 0.0)
        orders = self._orders(measure)
        answers = {ties: answer(each, margin, self.rule, level) for ties, each in orders.items()}
        low, high = ({ties: orders[ties] for ties in each} for each in ends(orders))
        state, reason = self._state(answers, found.topics)
        could = None
        if reason == "topics":
            could = needed(low, high, margin, self.rule, level)
            reason = reason if could or found.topics < self.rule.least else "sides"
        values = self.scores.matrix(measure).values
        cautions = cautions_of(values, measure, margin, self.rule, level, state)
        by_ties = {ties: _as_measured(each, measure) for ties, each in answers.items()}
        worst = _worst(answers, self.rule.equivalence)
        loss = min(float(differences(each[:1], each[1:]).min()) for each in low.values())
        return replace(
            found,
            state=state,
            reason=reason,
            **{name: each for name, each in _as_measured(worst, measure).items() if name != "state"},
            largest_loss=measure.upward * min(loss, 0.0) + 0.0,
            topics_needed=could if could and np.isfinite(could) else None,
            by_ties=by_ties,
            open=self._open(measure),
            cautions=(*found.cautions, *cautions),
        )

    def _orders(self, measure: Measure) -> dict[str, Floats]:
        """Return the values of both runs, turned upward, under each strategy that decides, what counts first."""
        scores, kind = self.scores, Plan(ties=tie_rule(self.rule.ties)[1])
        asked = {ties: scores.matrix(measure, ties).values for ties in kind.decides(scores.ties)}
        if kind.ties == ROBUST:
            low, high = extremes(scores, measure)
            asked |= {WORST: np.stack([high[0], low[1]]), BEST: np.stack([low[0], high[1]])}
        return {ties: measure.upward * each for ties, each in asked.items()}

    def _state(self, answers: Mapping[str, Answer], topics: int) -> tuple[str, str]:
        """Return the verdict, and why it is undecided."""
        if topics < self.rule.least:
            return UNDECIDED, "topics"
        low, high = ({answers[ties].state for ties in each} for each in ends(answers))
        if low | (high if self.rule.equivalence else low) == {PASSED}:
            return PASSED, ""
        if high == {WORSE}:  # whatever the order, even at its best
            return WORSE, ""
        if low == {DIFFERENT}:
            return DIFFERENT, ""
        return UNDECIDED, "topics" if low | high == {UNDECIDED} else "ties"

    def _defined(self, found: Gate, measure: Measure) -> Gate:
        """Return the record as it is if every topic has a value for both; what only the baseline has does not pass."""
        one, two = (self._known(run, measure) for run in self.scores.runs)
        topics, cautions = len(self.scores.shared), found.cautions
        if new := len(two - one):
            more = say(
                "{k} of {n:,} {n:topic|topics} {k:has|have} a value for the candidate only, and count for nothing",
                k=new,
                n=topics,
            )
            cautions += (more,)
        if not one - two:
            return replace(found, cautions=cautions)
        lost = say(
            "{k} of {n:,} {n:topic|topics} {k:has|have} a value for the baseline only", k=len(one - two), n=topics
        )
        if found.state in (PASSED, UNDECIDED):
            return replace(
                found, state=UNDECIDED, reason="undefined", undefined=lost, topics_needed=None, cautions=cautions
            )
        return replace(found, cautions=(*cautions, lost))

    def _held(self, found: Gate, bar: Bar, label: str | None, family: int) -> Gate:
        """Return the record as it is if the topics the baseline has say the same; a pass by the others is none."""
        topics = self.scores.shared
        there = topics.filter(~topics.is_in([*self.absent]))
        if not found.passed or len(there) == len(topics):
            return found
        part = replace(self, scores=self.scores.only(topics=there), absent=())
        if part.gate(bar, label, family).passed:
            return found
        why = say("it does not pass on the topics the baseline has")
        return replace(found, state=UNDECIDED, reason="undefined", undefined=why)

    def _known(self, run: str, measure: Measure) -> set[str]:
        """Return the topics, of those both runs have, on which a run has a value under every strategy."""
        found = {*self.scores.shared}
        for ties in self.scores.ties:
            own = self.scores[run, ties, measure]
            found -= {*own.topics.filter(pl.Series(own.undefined))}
        return found

    def _open(self, measure: Measure) -> tuple[float, float] | None:
        """Return between which values the difference can lie, whatever the order of ties."""
        if not {INTERVAL[0], INTERVAL[-1]} <= {*self.scores.ties}:
            return None
        low, high = open_means(self.scores, measure)
        return float(low[1] - high[0]) + 0.0, float(high[1] - low[0]) + 0.0

    def floor(self, bar: Bar) -> Gate:
        """Ask whether the candidate's mean reaches its floor, whatever the order of ties that decides."""
        measure, scores, least = bar.measure, self.scores, bar.floor or 0.0
        ties = Plan(ties=tie_rule(self.rule.ties)[1]).decides(scores.ties)
        means = {each: scores.matrix(measure, each).values.mean(axis=1).tolist() for each in ties}
        slack = 1e-10 * abs(least)
        reach = {each: bool(measure.upward * (both[1] - least) >= -slack) for each, both in means.items()}
        state = PASSED if all(reach.values()) else UNDECIDED if any(reach.values()) else WORSE
        one, two = means[ties[0]]
        found = Gate(
            measure=measure.name,
            upward=measure.upward,
            kind="floor",
            state=state,
            reason="ties" if state == UNDECIDED else "",
            baseline=one,
            candidate=two,
            difference=two - one,
            floor=least,
            topics=len(scores.matrix(measure).topics),
            by_ties={each: {"state": PASSED if reach[each] else WORSE, "candidate": means[each][1]} for each in ties},
            cautions=self.lacking,
        )
        found = found if self.identical else self._defined(found, measure)
        return replace(found, sentence=sentence_of_floor(found))

    def slices(self, labels: Mapping[str, Sequence[str]]) -> Iterator[Gate]:
        """Gate each slice of the topics; those of a measure that have enough topics hold together."""
        topics = self.scores.shared
        parts = {label: topics.filter(topics.is_in([*own])) for label, own in labels.items()}
        family = max(1, sum(len(own) >= self.rule.least for own in parts.values()))
        for bar in self.rule.bars:
            for label, own in parts.items():
                yield replace(self, scores=self.scores.only(topics=own)).gate(bar, label, family)


def _worst(answers: Mapping[str, Answer], equivalence: bool) -> Answer:
    """Return what holds whatever the order of ties: the widest bounds, the largest p; the difference that counts."""
    low, high = ([answers[ties] for ties in each] for each in ends(answers))
    first = next(iter(answers.values()))
    return first._replace(
        low=min(each.low for each in low),
        high=max(each.high for each in high),
        p=max(each.p for each in (*low, *(high if equivalence else ()))),
        p_worse=max(each.p_worse for each in high),
        p_more=max(each.p_more for each in low),
    )


def _as_measured(found: Answer, measure: Measure) -> dict[str, Any]:
    """Return an answer in the direction of the measure, within what it can reach; a bound there is none of is None."""
    upward, reach = measure.upward, measure.definition.highest - measure.definition.lowest
    low, high = sorted((upward * found.low, upward * found.high))
    bounds = {
        name: None if np.isinf(end) else float(np.clip(end, -reach, reach)) + 0.0
        for name, end in (("low", low), ("high", high))
    }
    either = min(found.p_worse, found.p_more)
    return {
        "state": found.state,
        "difference": upward * found.difference + 0.0,
        **bounds,
        "p": found.p,
        "p_worse": either,
    }
