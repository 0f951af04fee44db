"""Ties and the gate: what only the order of tied documents gains is no gain, and what hides behind it does not pass."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exaequo
from exaequo.gating import GateResult
from exaequo.gating.bounds import PASSED, UNDECIDED, WORSE
from helpers import Grades, Sims, evaluate

SAMPLE = exaequo.sample()


def gate(qrels: object, baseline: Sims, candidate: Sims, ties: str = "fair", measures: str = "nDCG@10") -> GateResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.gate(qrels, baseline, candidate, measures, ties=ties)


def coarse() -> Sims:
    """The grades, 0 to 4, of the sample run that a language model made."""
    (run,) = (run for run in SAMPLE.runs if run.name == "llm-judge")
    found: Sims = {}
    for qid, docno, sim in run.frame.select("qid", "docno", "sim").rows():
        found.setdefault(qid, {})[docno] = sim
    return found


def with_noise(run: Sims, random: np.random.Generator) -> Sims:
    """Break all ties at random; the gap between two grades is 1."""
    return {topic: {docno: sim + 0.5 * random.random() for docno, sim in own.items()} for topic, own in run.items()}


def without_a_quarter(run: Sims, random: np.random.Generator) -> Sims:
    return {topic: {docno: sim for docno, sim in own.items() if random.random() >= 0.25} for topic, own in run.items()}


@pytest.mark.parametrize("seed", range(5))
def test_a_gamed_candidate_does_not_pass(seed: int) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    baseline = coarse()
    noise = with_noise(baseline, random)
    for candidate in (noise, without_a_quarter(noise, random)):
        alone = gate(SAMPLE.qrels, baseline, candidate, "realistic").gates[0]
        assert alone.state == PASSED  # by realistic ties alone, noise pays
        assert alone.low is not None
        assert alone.low > 0
        for ties in ("fair", "robust"):
            (held,) = gate(SAMPLE.qrels, baseline, candidate, ties).gates
            assert (held.state, held.reason) == (UNDECIDED, "ties")
            assert "ties decide: realistic passed" in held.sentence


@given(st.integers(0, 10_000), st.sampled_from(["nDCG@10", "AP", "P@5", "Noise@5", "RR"]))
def test_noise_below_the_gap_stays_within_what_ties_leave_open(seed: int, measure: str) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    names = [f"d{number}" for number in range(12)]
    qrels: Grades = {
        str(t): {name: float(random.integers(0, 3)) for name in names[:8]} | {"d0": 1.0} for t in range(12)
    }
    levels = int(random.integers(1, 5))
    baseline: Sims = {str(t): {name: float(random.integers(0, levels)) for name in names} for t in range(12)}
    candidate = with_noise(baseline, random)
    (fair,), (robust,) = (gate(qrels, baseline, candidate, ties, measure).gates for ties in ("fair", "robust"))
    assert fair.open is not None
    for found in fair.by_ties.values():
        assert fair.open[0] - 1e-12 <= found["difference"] <= fair.open[1] + 1e-12
    upward = exaequo.parse_measure(measure).upward
    assert upward * robust.by_ties["worst"]["difference"] <= 1e-12  # at its worst it gains nothing,
    assert upward * robust.by_ties["best"]["difference"] >= -1e-12  # at its best it loses nothing
    assert robust.state != WORSE
    for verdict in (fair, robust):  # and never is it a gain that every order agrees on
        least = min(upward * each["difference"] for each in verdict.by_ties.values())
        assert verdict.state != PASSED or least <= 1e-12


def test_a_lucky_order_passes_no_release() -> None:
    qrels: Grades = {str(topic): {"z": 1.0} for topic in range(20)}
    steady: Sims = {str(topic): {"z": 2.0, "a": 1.0} for topic in range(20)}
    lucky: Sims = {str(topic): {"z": 1.0, "a": 1.0} for topic in range(20)}
    assert evaluate(qrels, lucky, "RR", ties="conventional").mean("RR") == 1
    assert gate(qrels, steady, lucky, "conventional", "RR").state == PASSED
    assert gate(qrels, steady, lucky, "realistic", "RR").state == WORSE
    assert gate(qrels, steady, lucky, "fair", "RR").state == UNDECIDED
    (found,) = gate(qrels, steady, lucky, "robust", "RR").gates
    assert (found.state, found.reason) == (UNDECIDED, "ties")
    assert found.by_ties["worst"]["difference"] == -0.5
    assert found.by_ties["best"]["difference"] == 0


def test_robust_verdicts_are_fair_ones() -> None:
    """What holds at the extremes holds in between; a gain larger than ties leave open passes both ways."""
    runs = {run.name: run for run in SAMPLE.runs}
    for one, two in (("boolean", "hybrid"), ("hybrid", "boolean"), ("llm-judge", "bm25"), ("logprob", "dense-fp16")):
        fair, robust = (
            exaequo.gate(SAMPLE.qrels, runs[one], runs[two], ties=ties).state for ties in ("fair", "robust")
        )
        assert robust in (fair, UNDECIDED)
    assert exaequo.gate(SAMPLE.qrels, runs["boolean"], runs["hybrid"], ties="robust").state == PASSED
    assert exaequo.gate(SAMPLE.qrels, runs["hybrid"], runs["boolean"], ties="robust").state == WORSE
