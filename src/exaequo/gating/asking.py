"""What a gate asks of two runs: of each measure, each floor and each slice. In: `Scores` and a `Rule`. Out: `Gate`s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from exaequo.choices import ROBUST
from exaequo.comparison.pairs import extremes
from exaequo.comparison.plan import Plan, tie_rule
from exaequo.gating.bounds import DIFFERENT, PASSED, UNDECIDED, WORSE, Answer, answer
from exaequo.gating.rule import Bar, Rule
from exaequo.gating.verdicts import Gate, cautions_of, needed, sentence, sentence_of_floor
from exaequo.judge import Floats
from exaequo.measures import Measure
from exaequo.scores import Scores


@dataclass(frozen=True)
class Asking:
    """Two runs on the topics they share, and what is asked of them; `lacking` says which topics a run lacks."""

    scores: Scores
    rule: Rule
    identical: bool
    lacking: tuple[str, ...]

    def gate(self, bar: Bar, label: str | None = None, family: int = 1) -> Gate:
        """Ask whether a measure lost more than allowed, on all topics or on those of a slice."""
        rule, measure = self.rule, bar.measure
        values = self.scores.matrix(measure).values
        topics, alpha = values.shape[1], rule.alpha / family
        found = Gate(
            measure=measure.name, slice=label, state=UNDECIDED, reason="topics", topics=topics, alpha=alpha,
            max_drop=str(bar.max_drop),
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
            found = found if self.identical else self._asked(found, measure, values, margin)
        return replace(found, sentence=sentence(found, measure, rule))

    def _asked(self, found: Gate, measure: Measure, values: Floats, margin: float) -> Gate:
        """Return the record with what the topics say."""
        answers = self._answers(measure, margin, found.alpha or 0.0)
        state, reason = self._state(answers, found.topics)
        cautions = cautions_of(values, measure.upward, margin, self.rule, found.alpha or 0.0, state)
        by_ties = {ties: _as_measured(each, measure.upward) for ties, each in answers.items()}
        counts = next(iter(by_ties.values()))
        could = needed(values, measure.upward, margin, self.rule, found.alpha or 0.0) if reason == "topics" else None
        return replace(
            found,
            state=state,
            reason=reason,
            **{name: counts[name] for name in ("difference", "low", "high", "p", "p_worse")},
            topics_needed=could,
            by_ties=by_ties,
            open=self._open(measure),
            cautions=(*found.cautions, *cautions),
        )

    def _answers(self, measure: Measure, margin: float, alpha: float) -> dict[str, Answer]:
        """Return what the topics say under each strategy that decides, the one that counts first."""
        scores, rule = self.scores, self.rule
        kind = Plan(ties=tie_rule(rule.ties)[1])
        asked = {ties: scores.matrix(measure, ties).values for ties in kind.decides(scores.ties)}
        if kind.ties == ROBUST:
            low, high = extremes(scores, measure)
            asked |= {"worst": np.stack([high[0], low[1]]), "best": np.stack([low[0], high[1]])}
        return {ties: answer(measure.upward * each, margin, rule, alpha) for ties, each in asked.items()}

    def _state(self, answers: Mapping[str, Answer], topics: int) -> tuple[str, str]:
        """Return the verdict, and why it is undecided."""
        if topics < self.rule.least:
            return UNDECIDED, "topics"
        states = [each.state for each in answers.values()]
        if "worst" in answers:  # it must hold at the extremes
            worst, best = answers["worst"].state, answers["best"].state
            either = {worst, best}
            if worst == PASSED and (best == PASSED or not self.rule.equivalence):
                return PASSED, ""
            if best == WORSE or either == {DIFFERENT}:
                return best, ""
            return UNDECIDED, "topics" if either == {UNDECIDED} else "ties"
        if len({*states}) == 1:
            return states[0], "topics" if states[0] == UNDECIDED else ""
        return UNDECIDED, "ties"

    def _open(self, measure: Measure) -> tuple[float, float] | None:
        """Return between which values the difference can lie, whatever the order of ties."""
        if not {"realistic", "optimistic"} <= {*self.scores.ties}:
            return None
        low, high = np.sort(np.stack([each.mean(axis=1) for each in extremes(self.scores, measure)]), axis=0)
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
        return replace(found, sentence=sentence_of_floor(found, measure))

    def slices(self, labels: Mapping[str, Sequence[str]]) -> Iterator[Gate]:
        """Gate each slice of the topics; those of a measure that have enough topics hold together."""
        topics = self.scores.shared
        parts = {label: topics.filter(topics.is_in([*own])) for label, own in labels.items()}
        family = max(1, sum(len(own) >= self.rule.least for own in parts.values()))
        for bar in self.rule.bars:
            for label, own in parts.items():
                yield replace(self, scores=self.scores.only(topics=own)).gate(bar, label, family)


def _as_measured(found: Answer, upward: int) -> dict[str, Any]:
    """Return an answer in the direction of the measure; a bound there is none of is None."""
    low, high = sorted((upward * found.low, upward * found.high))
    bounds = {name: None if np.isinf(end) else end + 0.0 for name, end in (("low", low), ("high", high))}
    return {**found._asdict(), "difference": upward * found.difference + 0.0, **bounds}
