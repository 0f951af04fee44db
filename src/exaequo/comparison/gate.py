"""Gate a release: is the candidate worse than the baseline by more than a margin? In: `Scores`. Out: `GateResult`.

Ties are realistic on both sides, unless a program gives scores of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np

from exaequo.choices import ALPHA, GATE_MEASURES, GATE_TESTS, PATTERNS
from exaequo.comparison.values import DIGITS, comparable, refuse_geometric, refuse_undefined, table
from exaequo.errors import BadParameter
from exaequo.evaluation import Judged, evaluate_runs, judged_runs, warn
from exaequo.judge import Floats
from exaequo.luck import gain
from exaequo.measures import Measure, parse_measures
from exaequo.options import Evaluation, Options, check_alpha, check_choice, keywords
from exaequo.read import QrelsLike, RunLike, read_qrels, read_runs
from exaequo.scores import Scores
from exaequo.stats.tests import DEFAULT, NOISE, TESTS, Setting, bootstrap_interval, randomization_bound, t_interval


@dataclass(frozen=True)
class Gate:
    """The verdict on one measure: passed if the lower end of the interval of the loss stays above the margin."""

    measure: str
    baseline: float
    candidate: float
    difference: float
    worst_case: float | None
    allowed: float
    p: float
    topics: int
    test: str
    alpha: float
    passed: bool
    sentence: str


@dataclass(frozen=True)
class GateResult:
    """The verdicts on all measures; it passes if each of them does."""

    gates: tuple[Gate, ...]
    warnings: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Tell whether the release may go on."""
        return all(gate.passed for gate in self.gates)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        gates = [asdict(gate) for gate in self.gates]
        return {"passed": self.passed, "measures": gates, "warnings": list(self.warnings)}

    def markdown(self) -> str:
        """Return a summary for a pull request."""
        head = "## Search quality: " + _passed(self.passed)
        rows = [
            f"| {gate.measure} | {gate.baseline:.4f} | {gate.candidate:.4f} | {gate.difference:+.4f} | "
            f"{'none' if gate.worst_case is None else f'{gate.worst_case:+.4f}'} | {gate.allowed + 0.0:+.4f} | "
            f"{_passed(gate.passed)} |"
            for gate in self.gates
        ]
        names = "| measure | baseline | candidate | difference | worst case | allowed | |"
        rule = "|---|---:|---:|---:|---:|---:|---|"
        return "\n".join([head, "", names, rule, *rows, "", *(f"- {gate.sentence}" for gate in self.gates)]) + "\n"


def _passed(passed: bool) -> str:
    return "passed" if passed else "**not passed**"


def gate(
    qrels: QrelsLike,
    baseline: RunLike,
    candidate: RunLike,
    measures: Iterable[str | Measure] | str | Measure = GATE_MEASURES,
    *,
    max_drop: float = 0.0,
    test: str = "t",
    alpha: float = ALPHA,
    samples: int = PATTERNS,
    **options: Unpack[Evaluation],
) -> GateResult:
    """Tell whether a candidate is not worse than the baseline by more than `max_drop`, on each measure."""
    chosen, parsed = Options(**keywords("gate", options)), parse_measures(measures)
    rule = Rule(max_drop=max_drop, test=test, alpha=alpha, samples=samples, seed=chosen.seed)
    runs = judged_runs(read_qrels(qrels), read_runs([baseline, candidate]), chosen, parsed)
    result = gate_runs(runs, parsed, chosen, rule)
    warn(result.warnings)
    return result


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What passes a gate."""

    max_drop: float = 0.0
    test: str = "t"
    alpha: float = ALPHA
    samples: int = PATTERNS
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("test", self.test, GATE_TESTS)
        if not (np.isfinite(self.max_drop) and self.max_drop >= 0):
            raise BadParameter(f"The drop allowed must be a number ≥ 0. Got {self.max_drop} instead.")
        check_alpha(self.alpha, 0.5)
        self.setting  # noqa: B018 - checks the rest

    @property
    def setting(self) -> Setting:
        """What the tests need to know."""
        return Setting(self.samples, self.seed, "greater")


_GEOMETRIC = " and has no interval; gate on the measure itself."


def gate_runs(runs: Iterable[Judged], measures: Sequence[Measure], options: Options, rule: Rule) -> GateResult:
    """Gate the second of two runs against the first; warnings are collected, not given."""
    refuse_geometric(measures, _GEOMETRIC)  # before the work
    return gate_scores(evaluate_runs(runs, measures, options), rule)


def gate_scores(scores: Scores, rule: Rule) -> GateResult:
    """Gate the second of two runs against the first; a measure that cannot be tested is an error, never a pass."""
    refuse_geometric(scores.measures, _GEOMETRIC)
    if len(scores.runs) != 2:
        raise BadParameter(f"A gate compares two runs, baseline and candidate. Got {len(scores.runs)}.")
    shared, notes = comparable(scores)
    for measure in scores.measures:
        refuse_undefined(scores, measure)
    gates = tuple(_gate(shared, measure, rule) for measure in shared.measures)
    return GateResult(gates, (*scores.remarks, *notes))


def _gate(scores: Scores, measure: Measure, rule: Rule) -> Gate:
    values, upward = table(scores, measure), measure.upward
    topics = values.shape[1]
    better = np.round(upward * (values[1] - values[0]), DIGITS)[None, :]
    low = lower_end(better, rule.test, rule.alpha, rule.setting)
    passed = bool(low >= -rule.max_drop - NOISE)
    margin = np.round(better + rule.max_drop, DIGITS)
    p = float(TESTS[rule.test](margin, rule.setting)[0]) if margin.any() else 0.5
    one, two = (float(row.mean()) for row in values)
    share = float(gain(two, one))
    gap = f"{two - one:+.4f}" + ("" if share != share else f" ({share:+.1f} %)")
    verdict = "is not worse than allowed" if passed else "may be worse than allowed"
    random = "" if rule.test == "t" else f", {rule.samples:,} samples, seed {rule.seed}"
    how = f"allowed is {rule.max_drop:g} ({rule.test}{random}, {topics} topics)"
    return Gate(
        measure=measure.name,
        baseline=one,
        candidate=two,
        difference=two - one,
        worst_case=None if np.isinf(low) else upward * low,
        allowed=upward * -rule.max_drop,
        p=p,
        topics=topics,
        test=rule.test,
        alpha=rule.alpha,
        passed=passed,
        sentence=f"{measure}: the candidate {verdict}: {gap}, {_sure(low, rule.alpha)}; {how}.",
    )


def _sure(low: float, alpha: float) -> str:
    """Say what is known about the loss."""
    if np.isinf(low):
        return f"too few topics to be {100 * (1 - alpha):g} % sure of any bound"
    sure = f"{100 * (1 - alpha):g} % sure that it"
    return f"{sure} gains at least {low:.4f}" if low > 5e-5 else f"{sure} loses no more than {abs(min(low, 0.0)):.4f}"


def lower_end(gaps: Floats, test: str, alpha: float, setting: Setting = DEFAULT) -> float:
    """Return the lower end of the one-sided interval of a mean difference, with confidence 1 − alpha; -inf if none."""
    confidence = 1 - 2 * alpha  # of the two-sided interval with the same lower end
    if test == "randomization":
        return randomization_bound(gaps, alpha, setting)
    if np.ptp(gaps) < NOISE:
        return float(gaps.mean())
    if test == "t":
        return float(t_interval(gaps, confidence)[0][0])
    return float(bootstrap_interval(gaps, confidence, setting)[0][0])
