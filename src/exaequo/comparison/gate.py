"""Gate a release: is the candidate worse than the baseline by more than a margin? Ties are realistic on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from exaequo.audit import gain
from exaequo.choices import GATE_TESTS, HIGHEST_GRADE, PATTERNS
from exaequo.comparison.values import DIGITS, collect
from exaequo.errors import BadParameter, DataWarning
from exaequo.judge import Floats
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options
from exaequo.read import Qrels, QrelsLike, Run, RunLike, read_qrels, read_run
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
        return {
            "passed": self.passed,
            "measures": [asdict(gate) for gate in self.gates],
            "warnings": list(self.warnings),
        }

    def markdown(self) -> str:
        """Return a summary for a pull request."""
        head = "## Search quality: " + ("passed" if self.passed else "**not passed**")
        rows = [
            f"| {gate.measure} | {gate.baseline:.4f} | {gate.candidate:.4f} | {gate.difference:+.4f} | "
            f"{'none' if gate.worst_case is None else f'{gate.worst_case:+.4f}'} | {gate.allowed + 0.0:+.4f} | "
            f"{'passed' if gate.passed else '**not passed**'} |"
            for gate in self.gates
        ]
        table = [
            "| measure | baseline | candidate | difference | worst case | allowed | |",
            "|---|---:|---:|---:|---:|---:|---|",
            *rows,
        ]
        return "\n".join([head, "", *table, "", *(f"- {gate.sentence}" for gate in self.gates)]) + "\n"


def gate(
    qrels: QrelsLike,
    baseline: RunLike,
    candidate: RunLike,
    measures: Iterable[str | Measure] | str | Measure = "nDCG@10",
    *,
    max_drop: float = 0.0,
    test: str = "t",
    alpha: float = 0.05,
    samples: int = PATTERNS,
    seed: int = 0,
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    depth: int | None = None,
    missing: str = "zero",
) -> GateResult:
    """Tell whether a candidate is not worse than the baseline by more than `max_drop`, on each measure."""
    import warnings

    runs = [read_run(baseline), read_run(candidate)]
    result = gate_runs(
        read_qrels(qrels),
        runs,
        parse_measures(measures),
        max_drop=max_drop,
        test=test,
        alpha=alpha,
        samples=samples,
        seed=seed,
        options=Options(rel_level=rel_level, max_grade=max_grade, depth=depth, missing=missing),
    )
    for warning in result.warnings:
        warnings.warn(warning, DataWarning, stacklevel=2)
    return result


def gate_runs(
    qrels: Qrels,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    *,
    max_drop: float,
    test: str,
    alpha: float,
    samples: int,
    seed: int,
    options: Options | None = None,
) -> GateResult:
    """Gate the second of two runs against the first; warnings are collected, not given."""
    if test not in GATE_TESTS:
        raise BadParameter(f"test must be one of {', '.join(GATE_TESTS)}. Got {test!r} instead.")
    if not (np.isfinite(max_drop) and max_drop >= 0):
        raise BadParameter(f"The drop allowed must be a number ≥ 0. Got {max_drop} instead.")
    if not 0 < alpha < 0.5:
        raise BadParameter(f"alpha must be a number between 0 and 0.5. Got {alpha} instead.")
    for measure in measures:
        if measure.aggregate == "gm":
            raise BadParameter(f"{measure} is one number per run and has no interval; gate on the measure itself.")
    values = collect(qrels, runs, measures, options or Options())
    setting = Setting(samples, seed, "greater")
    gates = [_gate(values.of(row)[0], measure, max_drop, test, alpha, setting) for row, measure in enumerate(measures)]
    return GateResult(tuple(gates), values.notes)


def _gate(table: Floats, measure: Measure, max_drop: float, test: str, alpha: float, setting: Setting) -> Gate:
    topics = table.shape[1]
    if topics < 2:
        raise BadParameter(f"{measure} has a value for {topics} topics only; a test needs at least two.")
    upward = measure.upward
    better = np.round(upward * (table[1] - table[0]), DIGITS)[None, :]
    low = lower_end(better, test, alpha, setting)
    passed = bool(low >= -max_drop - NOISE)
    margin = np.round(better + max_drop, DIGITS)
    p = float(TESTS[test](margin, setting)[0]) if margin.any() else 0.5
    one, two = (float(row.mean()) for row in table)
    share = float(gain(two, one))
    gap = f"{two - one:+.4f}" + ("" if share != share else f" ({share:+.1f} %)")
    verdict = "is not worse than allowed" if passed else "may be worse than allowed"
    how = f"allowed is {max_drop:g} ({test}{_random(test, setting)}, {topics} topics)"
    sentence = f"{measure}: the candidate {verdict}: {gap}, {_sure(low, alpha)}; {how}."
    bound = None if np.isinf(low) else upward * low
    return Gate(measure.name, one, two, two - one, bound, upward * -max_drop, p, topics, test, alpha, passed, sentence)


def _random(test: str, setting: Setting) -> str:
    return "" if test == "t" else f", {setting.samples:,} samples, seed {setting.seed}"


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
