"""Gate a release: is the candidate worse than the baseline by more than allowed? In: `Scores`. Out: a `GateResult`.

Each measure, and each slice of the topics, is passed, worse where a loss beyond the margin is shown, or undecided where
topics or ties cannot tell. `rule` says what passes, `asking` asks it of each measure and slice, `bounds` of the topics;
`verdicts` words it, `writers` write it, `configuration` and `slices` read what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import polars as pl

from exaequo.choices import ALPHA, FAIR, GATE_MEASURES, LEAST_TOPICS, MAX_DROP, PATTERNS
from exaequo.comparison.plan import tie_rule
from exaequo.comparison.values import comparable, refuse_geometric, refuse_undefined, reported
from exaequo.errors import BadParameter
from exaequo.evaluation import Judged, evaluate_runs, judged_runs, warn
from exaequo.gating.asking import Asking
from exaequo.gating.bounds import DIFFERENT, PASSED, UNDECIDED, WORSE
from exaequo.gating.rule import Rule, bars
from exaequo.gating.slices import checked, remarks
from exaequo.gating.verdicts import Gate
from exaequo.language import say
from exaequo.measures import Measure
from exaequo.options import Evaluation, Options, keywords
from exaequo.order import Ordering
from exaequo.read import QrelsLike, RunLike, read_qrels, read_runs
from exaequo.scores import Scores
from exaequo.stats.equality import differences
from exaequo.tabular import plain

#: Topics that lost most, of each measure.
MOST_LOSSES = 5


@dataclass(frozen=True, repr=False)
class GateResult:
    """The verdicts on all measures, floors and slices; the gate passes if nothing stands against it.

    `losses` are the topics that lost most on each measure.
    """

    gates: tuple[Gate, ...]
    warnings: tuple[str, ...]
    losses: pl.DataFrame
    options: dict[str, Any]

    def __repr__(self) -> str:
        return f"<GateResult: {self.state}; {', '.join(f'{gate.measure} {gate.state}' for gate in self.gates)}>"

    def _repr_markdown_(self) -> str:
        return self.markdown()

    @cached_property
    def state(self) -> str:
        """What holds of the whole: worse or different if anything is, undecided if what counts is, else passed."""
        states = {gate.state for gate in self.gates}
        must = {gate.state for gate in self.gates if self.counts(gate)}
        against = [state for state in (WORSE, DIFFERENT) if state in states]
        return against[0] if against else UNDECIDED if UNDECIDED in must else PASSED

    def counts(self, gate: Gate) -> bool:
        """Tell whether the gate must pass; a slice need not, unless all must, it must only not be worse."""
        return gate.slice is None or bool(self.options["strict"])

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
    reading, given = keywords("gate", options)
    chosen = Options(ties=tie_rule(ties)[0], **given)
    both = read_runs([baseline, candidate], **reading)
    runs = judged_runs(read_qrels(qrels, **reading), both, chosen, rule.measures)
    result = gate_runs(runs, chosen, rule, slices)
    warn(result.warnings)
    return result


_GEOMETRIC = " and has no interval; gate on the measure itself."


@dataclass(frozen=True, eq=False)
class _Facts:
    """What a gate notes of a run: its lines, and the topics it lacks."""

    lines: pl.DataFrame
    lacks: tuple[str, ...]


def _facts(ordering: Ordering) -> _Facts:
    return _Facts(ordering.run.frame.select("qid", "docno", "sim"), tuple(ordering.judged_run.missing))


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
    labels = checked(slices or {})
    refuse_geometric(rule.measures, _GEOMETRIC)
    if len(scores.runs) != 2:
        raise BadParameter(f"A gate compares two runs, baseline and candidate. Got {len(scores.runs)}.")
    single = len(scores.shared) == 1  # too few to decide, but not to say so
    shared, notes = (scores.only(topics=scores.shared), []) if single else comparable(scores)
    for measure in rule.measures:
        if not (single and len(scores.matrix(measure).topics)):
            refuse_undefined(scores, measure)
    facts = scores.facts.get(scores.runs[0])
    absent = facts.lacks if isinstance(facts, _Facts) else ()
    asking = Asking(shared, rule, _identical(scores), tuple(_lacking(scores)), absent)
    gates = [asking.gate(bar) for bar in rule.bars]
    gates += [asking.floor(bar) for bar in rule.bars if bar.floor is not None]
    gates += asking.slices(labels)
    warnings = (*scores.remarks, *notes, *remarks(labels, shared.shared.to_list()))
    return GateResult(tuple(gates), warnings, _losses(shared, rule), _options(scores, rule))


def _options(scores: Scores, rule: Rule) -> dict[str, Any]:
    """Return what was asked for, as plain data."""
    asked = {name: value for name, value in asdict(replace(rule, bars=())).items() if name != "bars"}
    return {
        **asked,
        "ties": rule.ties if isinstance(rule.ties, str) else list(rule.ties),
        "measures": {bar.measure.name: {"max_drop": str(bar.max_drop), "floor": bar.floor} for bar in rule.bars},
        **reported(scores),
    }


def _identical(scores: Scores) -> bool:
    """Tell whether the two runs are one: the same documents with the same scores."""
    facts = [scores.facts.get(run) for run in scores.runs]
    one, two = (each.lines.sort("qid", "docno") if isinstance(each, _Facts) else None for each in facts)
    return one is not None and two is not None and one.equals(two)


_LACKS = {
    "baseline": "the baseline lacks {k} of {n:,} {n:topic|topics}, {done}",
    "candidate": "the candidate lacks {k} of {n:,} {n:topic|topics}, {done}",
}
_DONE = {"zero": "which score as empty lists", "skip": "which are left out"}


def _lacking(scores: Scores) -> Iterator[str]:
    """Say which run lacks topics, and what that does to the verdict."""
    missing = scores.options.get("missing", "")
    for who, run in zip(_LACKS, scores.runs, strict=True):
        facts = scores.facts.get(run)
        if isinstance(facts, _Facts) and facts.lacks:
            lacks = len(facts.lacks)
            done = say(_DONE[missing], k=lacks) if missing in _DONE else ""
            yield say(_LACKS[who], k=lacks, n=len(scores.evaluated), done=done)


def _losses(scores: Scores, rule: Rule) -> pl.DataFrame:
    """Return the topics on which the candidate lost most, for each measure, worst first."""
    rows = []
    for measure in rule.measures:
        table = scores.matrix(measure)
        gap = differences(table.values[:1], table.values[1:])[0]
        worst = np.argsort(measure.upward * gap, kind="stable")[:MOST_LOSSES]
        rows += [
            (measure.name, table.topics[int(at)], *table.values[:, at].tolist(), float(gap[at]))
            for at in worst
            if measure.upward * gap[at] < 0
        ]
    numbers = dict.fromkeys(("baseline", "candidate", "difference"), pl.Float64)
    return pl.DataFrame(rows, schema={"measure": pl.String, "topic": pl.String, **numbers}, orient="row")
