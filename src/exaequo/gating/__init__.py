"""Gate a release: is the candidate worse than the baseline by more than allowed? In: `Scores`. Out: a `GateResult`.

Each measure, and each slice of the topics, is passed, worse where a loss beyond the margin is shown, or undecided where
topics or ties cannot tell. `rule` says what passes, `bounds` asks the topics, `verdicts` words it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import polars as pl

from exaequo.choices import ALPHA, FAIR, GATE_MEASURES, LEAST_TOPICS, MAX_DROP, PATTERNS, ROBUST
from exaequo.comparison.pairs import extremes
from exaequo.comparison.plan import Plan, tie_rule
from exaequo.comparison.values import comparable, refuse_geometric, refuse_undefined
from exaequo.errors import BadParameter
from exaequo.evaluation import Judged, evaluate_runs, judged_runs, warn
from exaequo.gating.bounds import DIFFERENT, PASSED, UNDECIDED, WORSE, Answer, answer
from exaequo.gating.rule import Bar, Rule, bars
from exaequo.gating.verdicts import Gate, cautions_of, needed, sentence, sentence_of_floor
from exaequo.measures import Measure
from exaequo.options import Evaluation, Options, keywords
from exaequo.order import Ordering
from exaequo.read import QrelsLike, RunLike, read_qrels, read_runs
from exaequo.scores import Scores
from exaequo.tabular import plain
from exaequo.text import count

#: Topics that lost most, of each measure.
MOST_LOSSES = 5


@dataclass(frozen=True)
class GateResult:
    """The verdicts on all measures, floors and slices; the gate passes if nothing stands against it.

    `losses` are the topics that lost most on each measure.
    """

    gates: tuple[Gate, ...]
    warnings: tuple[str, ...]
    losses: pl.DataFrame
    options: dict[str, Any]

    @cached_property
    def state(self) -> str:
        """What holds of the whole: worse if anything is, undecided if anything that must pass is, else passed."""
        states = [gate.state for gate in self.gates]
        if any(state in (WORSE, DIFFERENT) for state in states):
            return WORSE
        must = [gate.state for gate in self.gates if gate.slice is None or self.options["strict"]]
        return UNDECIDED if UNDECIDED in must else PASSED

    @property
    def passed(self) -> bool:
        """Tell whether the release may go on."""
        return self.state == PASSED

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        gates = [{**asdict(gate), "passed": gate.passed} for gate in self.gates]
        return {
            "state": self.state,
            "passed": self.passed,
            "options": self.options,
            "measures": plain(gates),
            "losses": self.losses.to_dicts(),
            "warnings": list(self.warnings),
        }

    def markdown(self) -> str:
        """Return a summary for a pull request."""
        from exaequo.gating.writers import markdown

        return markdown(self)


def gate(
    qrels: QrelsLike,
    baseline: RunLike,
    candidate: RunLike,
    measures: Iterable[str | Measure] | str | Measure | Mapping[str, Any] = GATE_MEASURES,
    *,
    max_drop: str | float = MAX_DROP,
    floors: Iterable[str] = (),
    slices: Mapping[str, Sequence[str]] | None = None,
    test: str = "t",
    alpha: float = ALPHA,
    samples: int = PATTERNS,
    min_topics: int = LEAST_TOPICS,
    ties: str | Sequence[str] = FAIR,
    equivalence: bool = False,
    strict: bool = False,
    **options: Unpack[Evaluation],
) -> GateResult:
    """Tell whether a candidate is not worse than the baseline by more than allowed, on each measure.

    Args:
        qrels: as for `evaluate`.
        baseline: what the candidate is compared with; as a run for `evaluate`.
        candidate: what is to be released.
        measures: as for `evaluate`; or a mapping of names to the drop each may have, or to `max_drop` and `floor`.
        max_drop: the loss that is allowed, as 0.01, or "1%" of the mean of the baseline.
        floors: conditions on the candidate's means, such as "nDCG@10 >= 0.45".
        slices: topics by label; each label has a verdict of its own, all slices of a measure corrected together.
        test: t, randomization or bootstrap.
        alpha: 1 − alpha is how sure to be.
        samples: random patterns for randomization and bootstrap.
        min_topics: with fewer topics nothing is decided.
        ties: when a verdict counts; as for `compare`.
        equivalence: a gain beyond the margin does not pass either.
        strict: every slice must pass; otherwise none may be worse.
        options: as for `evaluate`.
    """
    rule = Rule(
        bars=bars(measures, max_drop, floors),
        test=test,
        alpha=alpha,
        samples=samples,
        seed=options.get("seed", 0),
        min_topics=min_topics,
        ties=ties,
        equivalence=equivalence,
        strict=strict,
    )
    chosen = Options(ties=tie_rule(ties)[0], **keywords("gate", options))
    runs = judged_runs(read_qrels(qrels), read_runs([baseline, candidate]), chosen, rule.measures)
    result = gate_runs(runs, chosen, rule, slices)
    warn(result.warnings)
    return result


_GEOMETRIC = " and has no interval; gate on the measure itself."


@dataclass(frozen=True, eq=False)
class _Facts:
    """What a gate notes of a run: its lines, and how many topics it lacks."""

    lines: pl.DataFrame
    lacks: int


def _facts(ordering: Ordering) -> _Facts:
    return _Facts(ordering.run.frame.select("qid", "docno", "sim"), len(ordering.judged_run.missing))


def gate_runs(
    runs: Iterable[Judged], options: Options, rule: Rule, slices: Mapping[str, Sequence[str]] | None = None
) -> GateResult:
    """Gate the second of two runs against the first; warnings are collected, not given."""
    refuse_geometric(rule.measures, _GEOMETRIC)  # before the work
    return gate_scores(evaluate_runs(runs, rule.measures, options, facts=_facts), rule, slices)


def gate_scores(scores: Scores, rule: Rule, slices: Mapping[str, Sequence[str]] | None = None) -> GateResult:
    """Gate the second of two runs against the first; a measure that cannot be tested is an error, never a pass.

    A rule without bars asks for the usual drop of each measure the scores have.
    """
    rule = rule if rule.bars else replace(rule, bars=bars(scores.measures))
    refuse_geometric(rule.measures, _GEOMETRIC)
    if len(scores.runs) != 2:
        raise BadParameter(f"A gate compares two runs, baseline and candidate. Got {len(scores.runs)}.")
    shared, notes = comparable(scores)
    for measure in rule.measures:
        refuse_undefined(scores, measure)
    gating = _Gating(shared, rule, _identical(scores), tuple(_lacking(scores)))
    gates = [gating.gate(bar) for bar in rule.bars]
    gates += [gating.floor(bar) for bar in rule.bars if bar.floor is not None]
    gates += [each for bar in rule.bars for each in gating.slices(bar, slices or {})]
    options = {
        **{name: value for name, value in asdict(replace(rule, bars=())).items() if name != "bars"},
        "ties": rule.ties if isinstance(rule.ties, str) else list(rule.ties),
        "measures": {bar.measure.name: {"max_drop": str(bar.max_drop), "floor": bar.floor} for bar in rule.bars},
        **{
            name: plain(scores.options.get(name))
            for name in ("missing", "rel_level", "max_grade", "depth", "precision")
        },
    }
    return GateResult(tuple(gates), (*scores.remarks, *notes), _losses(shared, rule), options)


def _identical(scores: Scores) -> bool:
    """Tell whether the two runs are one: the same documents with the same scores."""
    facts = [scores.facts.get(run) for run in scores.runs]
    one, two = (each.lines.sort("qid", "docno") if isinstance(each, _Facts) else None for each in facts)
    return one is not None and two is not None and one.equals(two)


def _lacking(scores: Scores) -> Iterator[str]:
    """Say which run lacks topics, and what that does to the verdict."""
    done = {"zero": "which score as empty lists", "skip": "which are left out"}.get(
        scores.options.get("missing", ""), ""
    )
    for who, run in zip(("baseline", "candidate"), scores.runs, strict=True):
        facts = scores.facts.get(run)
        if isinstance(facts, _Facts) and facts.lacks:
            yield f"the {who} lacks {facts.lacks} of {count(len(scores.evaluated), 'topic')}, {done}"


def _losses(scores: Scores, rule: Rule) -> pl.DataFrame:
    """Return the topics on which the candidate lost most, for each measure, worst first."""
    rows = []
    for measure in rule.measures:
        table = scores.matrix(measure)
        gap = table.values[1] - table.values[0]
        worst = np.argsort(measure.upward * gap, kind="stable")[:MOST_LOSSES]
        rows += [
            (measure.name, table.topics[int(at)], *table.values[:, at].tolist(), float(gap[at]))
            for at in worst
            if measure.upward * gap[at] < 0
        ]
    numbers = dict.fromkeys(("baseline", "candidate", "difference"), pl.Float64)
    return pl.DataFrame(rows, schema={"measure": pl.String, "topic": pl.String, **numbers}, orient="row")


@dataclass(frozen=True)
class _Gating:
    """Two runs on the topics they share, and what is asked of them."""

    scores: Scores
    rule: Rule
    identical: bool
    lacking: tuple[str, ...]

    def gate(self, bar: Bar, label: str | None = None, family: int = 1) -> Gate:
        """Ask whether a measure lost more than allowed, on all topics or on those of a slice."""
        scores, rule, measure = self.scores, self.rule, bar.measure
        values = scores.matrix(measure).values
        one, two = (float(row.mean()) for row in values)
        margin = float(bar.max_drop.at(one))
        answers = self._answers(measure, margin, rule.alpha / family)
        counting, topics = next(iter(answers.values())), values.shape[1]
        state, reason = self._state(answers, topics)
        found = Gate(
            measure=measure.name,
            slice=label,
            state=state,
            reason=reason,
            baseline=one,
            candidate=two,
            difference=two - one,
            low=(bounds := _as_measured(counting, measure.upward))["low"],
            high=bounds["high"],
            allowed=-measure.upward * margin + 0.0,
            max_drop=str(bar.max_drop),
            p=None if self.identical else counting.p,
            p_worse=None if self.identical else counting.p_worse,
            topics=topics,
            topics_needed=None if state != UNDECIDED else needed(values, measure.upward, margin, rule),
            alpha=rule.alpha / family,
            by_ties={ties: _as_measured(each, measure.upward) for ties, each in answers.items()},
            open=self._open(measure),
            cautions=(*self.lacking, *cautions_of(values, rule, self.identical)),
        )
        return replace(found, sentence=sentence(found, measure, rule))

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
        if self.identical:
            return PASSED, ""
        if topics < self.rule.min_topics:
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
        return float(low[1] - high[0]), float(high[1] - low[0])

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
        )
        return replace(found, sentence=sentence_of_floor(found, measure))

    def slices(self, bar: Bar, labels: Mapping[str, Sequence[str]]) -> Iterator[Gate]:
        """Gate each slice of the topics; all slices of a measure hold together."""
        known = {*self.scores.shared}
        for label, topics in labels.items():
            own = self.scores.shared.filter(self.scores.shared.is_in([each for each in topics if each in known]))
            part = replace(self, scores=self.scores.only(topics=own)) if len(own) else None
            if part is None or len(part.scores.matrix(bar.measure).topics) < 2:
                yield _too_few(bar, label, len(own), self.rule)
            else:
                yield part.gate(bar, label, len(labels))


def _too_few(bar: Bar, label: str, topics: int, rule: Rule) -> Gate:
    """Return the verdict on a slice with fewer than two topics."""
    found = Gate(measure=bar.measure.name, slice=label, state=UNDECIDED, reason="topics", topics=topics)
    return replace(found, max_drop=str(bar.max_drop), sentence=sentence(found, bar.measure, rule))


def _as_measured(found: Answer, upward: int) -> dict[str, Any]:
    """Return an answer in the direction of the measure; a bound there is none of is None."""
    low, high = sorted((upward * found.low, upward * found.high))
    bounds = {name: None if np.isinf(end) else end for name, end in (("low", low), ("high", high))}
    return {**found._asdict(), "difference": upward * found.difference, **bounds}
