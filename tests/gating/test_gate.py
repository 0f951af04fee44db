"""The gate: three states from p alone, bounds that agree with them, what it refuses, what it cautions about."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import exaequo
from exaequo import BadParameter
from exaequo.arrays import Floats
from exaequo.choices import COMPARED, GATE_TESTS
from exaequo.comparison.verdicts import BEST, WORST
from exaequo.gating import GateResult, gate_scores
from exaequo.gating.asking import Asking
from exaequo.gating.bounds import PASSED, UNDECIDED, WORSE, Level, answer, bound
from exaequo.gating.rule import Rule, bars
from exaequo.gating.verdicts import Gate, needed, sentence
from exaequo.stats.power import topics_needed
from exaequo.stats.tests import Setting, randomization
from helpers import Grades, Sims, evaluate

SAMPLE = exaequo.sample()
RUNS = {run.name: run for run in SAMPLE.runs}


def gate(*arguments: Any, **options: Any) -> GateResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.gate(*arguments, **options)


def p10(found: list[int]) -> Sims:
    """A run that finds so many of ten relevant documents in the first ten of each topic."""
    return {
        f"{topic:03}": {f"r{i}": 20.0 - i for i in range(number)} | {f"x{i}": 9.0 - i for i in range(10 - number)}
        for topic, number in enumerate(found)
    }


def tens(topics: int) -> Grades:
    return {f"{topic:03}": {f"r{i}": 1.0 for i in range(10)} for topic in range(topics)}


def drawn(topics: int, lost: float, seed: int = 2) -> tuple[list[int], list[int]]:
    """How many each of two runs finds; the second loses a document on so many topics."""
    random = np.random.Generator(np.random.PCG64(seed))
    base = random.integers(4, 9, size=topics)
    return base.tolist(), (base - (random.random(topics) < lost)).tolist()


# ----------------------------------------------------------------------------------------------------- three states


@pytest.mark.parametrize("test", GATE_TESTS)
def test_three_states(test: str) -> None:
    base, candidate = drawn(40, 0.5)
    asked: dict[str, Any] = {"test": test, "samples": 1000}
    found = {
        drop: gate(tens(40), p10(base), p10(candidate), "P@10", max_drop=drop, **asked) for drop in (0.1, 0.05, 0.01)
    }
    assert [each.state for each in found.values()] == [PASSED, UNDECIDED, WORSE]
    assert [each.passed for each in found.values()] == [True, False, False]
    (undecided,) = found[0.05].gates
    assert undecided.reason == "topics"
    assert "these topics cannot tell" in undecided.sentence
    assert "loses more than allowed" in found[0.01].gates[0].sentence
    assert gate(tens(40), p10(candidate), p10(base), "P@10", max_drop=0, **asked).passed


def test_the_usual_margin_is_a_share_of_the_baseline() -> None:
    base, candidate = drawn(40, 0.1)
    found = gate(tens(40), p10(base), p10(candidate), "P@10").gates[0]
    assert found.max_drop == "5%"
    assert found.allowed == pytest.approx(-0.05 * np.mean(base) / 10)
    gaps = np.subtract(candidate, base) / 10
    assert found.p == pytest.approx(stats.ttest_1samp(gaps, found.allowed, alternative="greater").pvalue)
    assert found.p_worse == pytest.approx(stats.ttest_1samp(gaps, found.allowed, alternative="less").pvalue)
    interval = stats.ttest_1samp(gaps, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("test", GATE_TESTS)
@pytest.mark.parametrize("topics", [1, 2, 4, 30])
@pytest.mark.parametrize("ties", ["fair", "robust", "realistic"])
def test_a_run_passes_against_itself(test: str, topics: int, ties: str) -> None:
    run = {topic: {**own, "y": 20.0} for topic, own in p10([5] * topics).items()}  # with a tie at the top
    found = gate(tens(topics), run, dict(run), "P@10 RR", test=test, ties=ties, max_drop=0, samples=200)
    assert found.passed
    assert all("the two runs are the same" in each.sentence for each in found.gates)
    assert found.gates[0].by_ties == {}
    assert gate(tens(topics), run, run, "AP", equivalence=True, slices={"a": ["000"]}, strict=True).passed


def test_a_single_topic_decides_nothing() -> None:
    found = gate(tens(1), p10([5]), p10([9]), "P@10")
    assert (found.state, found.gates[0].topics) == (UNDECIDED, 1)
    assert "only 1 topic; at least 5 are needed" in found.gates[0].sentence


def test_few_topics_decide_nothing() -> None:
    base, candidate = [5, 5, 6, 7], [9, 8, 9, 9]
    held = gate(tens(4), p10(base), p10(candidate), "P@10")
    assert (held.state, held.gates[0].reason, held.gates[0].topics_needed) == (UNDECIDED, "topics", 5)
    assert "at least 5 topics are needed" in held.gates[0].sentence
    assert gate(tens(4), p10(base), p10(candidate), "P@10", min_topics=4).passed
    few = gate(tens(8), p10(base * 2), p10(candidate * 2), "P@10", test="bootstrap", min_topics=2)
    assert few.state == UNDECIDED
    assert "at least 10 topics are needed" in few.gates[0].sentence


@pytest.mark.parametrize("test", GATE_TESTS)
def test_all_differences_alike_are_signs(test: str) -> None:
    for base in range(2, 11):
        alike = gate(tens(12), p10([base] * 12), p10([base - 1] * 12), "P@10", max_drop=0.1, test=test)
        assert alike.passed  # a drop of just the margin
        assert alike.gates[0].p == 0.5**12
        assert gate(tens(12), p10([base] * 12), p10([base - 1] * 12), "P@10", max_drop=0.09, test=test).state == WORSE
    few = gate(tens(4), p10([5] * 4), p10([5, 5, 5, 5]) | {"000": {"r0": 1.0}}, "RR", min_topics=4, test="t")
    assert (few.state, few.gates[0].p) == (UNDECIDED, 0.0625)  # equal, but not the same run


def test_differences_that_hardly_vary_are_cautioned_about() -> None:
    qrels: Grades = {str(t): {"a": 1.0} for t in range(40)}
    base: Sims = {str(t): {"a": 1.0} for t in range(40)}
    later: Sims = {str(t): {**{f"x{i}": 9.0 for i in range(200 + t % 2)}, "a": 1.0} for t in range(40)}
    found = gate(qrels, base, later, "RR", ties="realistic").gates[0]
    assert found.state == WORSE
    assert "hardly vary" in found.sentence


# ---------------------------------------------------------------------- p, state and bounds never contradict each other


def values(topics: int, seed: int, kind: int) -> Floats:
    random = np.random.Generator(np.random.PCG64(seed))
    base = random.integers(0, 11, size=topics) / 10 if kind % 2 else random.random(topics)
    gap = {
        0: random.normal(0, 0.1, topics),
        1: random.integers(-2, 3, topics) / 10,
        2: np.where(random.random(topics) < 0.8, 0.0, random.normal(0, 0.3, topics)),
        3: np.full(topics, random.integers(-2, 3) / 10),
    }[kind]
    return np.stack([base, base + gap])


@given(
    st.sampled_from(GATE_TESTS),
    st.integers(2, 30),
    st.integers(0, 10_000),
    st.integers(0, 3),
    st.sampled_from([0.0, 0.02, 0.1]),
    st.sampled_from([0.05, 0.01]),
    st.sampled_from([1, 3]),
)
def test_p_state_and_bounds_agree(
    test: str, topics: int, seed: int, kind: int, margin: float, alpha: float, fails: int
) -> None:
    rule = Rule(test=test, samples=200)
    found = answer(values(topics, seed, kind), margin, rule, Level(alpha, alpha / fails))
    assert (found.state == PASSED) == (found.p <= alpha)
    assert (found.state == WORSE) == (found.p_worse <= alpha / fails and found.p > alpha)
    assert 0 <= found.p <= 1
    assert 0 <= found.p_worse <= 1
    assert found.low <= found.difference + 1e-9 or test == "bootstrap"
    assert found.low <= found.high + 1e-9
    assert (found.low >= -margin - 1e-12) if found.state == PASSED else (found.low < -margin)
    assert (found.high <= -margin + 1e-12) if found.state == WORSE else (found.high >= -margin - 1e-12)


def test_the_bootstrap_passes_where_its_bound_does() -> None:
    """Few topics, where other p of the bootstrap say something else than its interval."""
    passed = 0
    for seed in range(120):
        found = answer(values(6, seed, 0), 0.05, Rule(test="bootstrap", samples=300), Level(0.05, 0.05))
        assert (found.state == PASSED) == (found.low >= -0.05), seed
        passed += found.state == PASSED
    assert 20 < passed < 100


@given(st.sampled_from(["t", "randomization"]), st.integers(2, 15), st.integers(0, 10_000), st.integers(0, 2))
def test_either_way_round(test: str, topics: int, seed: int, kind: int) -> None:
    """Turned round, with no margin, what passes is worse, and what is worse passes."""
    both = values(topics, seed, kind)
    there, back = (answer(each, 0.0, Rule(test=test), Level(0.05, 0.05)) for each in (both, both[::-1]))
    if test == "t" or kind == 0:
        assert (there.p, there.p_worse) == pytest.approx((back.p_worse, back.p)) or np.ptp(both[1] - both[0]) < 1e-9
    assert there.p <= back.p_worse + 1e-9  # what lies just at the margin is allowed
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_the_bound_of_the_randomization_test() -> None:
    """At the bound the test is just not rejected, above it it is."""
    random = np.random.Generator(np.random.PCG64(6))
    for topics in (8, 30):
        gaps = random.normal(0.1, 0.3, size=(1, topics))
        low = bound(gaps, "randomization", 0.05, Setting(samples=2000))
        side = Setting(samples=2000, alternative="greater")
        assert randomization(gaps - (low - 1e-6), side)[0] <= 0.05 < randomization(gaps - (low + 1e-6), side)[0]


def test_bounds_of_all_tests_are_near_each_other() -> None:
    gaps = np.random.Generator(np.random.PCG64(3)).normal(0.1, 0.3, size=(1, 40))
    expected = stats.ttest_1samp(gaps[0], 0).confidence_interval(0.9)
    for test, near in (("t", 1e-9), ("randomization", 0.02), ("bootstrap", 0.02)):
        found = bound(gaps, test, 0.05, Setting()), -bound(-gaps, test, 0.05, Setting())
        assert found == pytest.approx((expected.low, expected.high), abs=near)


def test_equivalence_is_two_tests() -> None:
    from statsmodels.stats.weightstats import ttost_paired

    for seed, kind in ((1, 0), (2, 0), (5, 2), (9, 1)):
        both = values(25, seed, kind)
        found = answer(both, 0.05, Rule(equivalence=True), Level(0.05, 0.05))
        p, _, _ = ttost_paired(both[1], both[0], -0.05, 0.05)
        assert found.p == pytest.approx(p)
        assert (found.state == PASSED) == (p <= 0.05)
    base, candidate = drawn(40, 1)
    more = gate(tens(40), p10(candidate), p10(base), "P@10 Noise@10", equivalence=True)
    assert [each.state for each in more.gates] == ["different"] * 2
    assert (more.state, more.passed) == ("different", False)
    assert "gains more than allowed: +0.1000" in more.gates[0].sentence
    assert "gains at least 0.1000, p < 0.0001" in more.gates[0].sentence
    assert gate(tens(40), p10(candidate), p10(base), "P@10").passed
    near = gate(tens(40), p10(base), p10(drawn(40, 0.1)[1]), "P@10", equivalence=True, max_drop=0.1).gates[0]
    assert "the two are equivalent" in near.sentence
    assert near.high is not None
    assert "gains no more than" in near.sentence or "and at least" in near.sentence


def test_topics_needed_are_of_the_level_and_the_question() -> None:
    base, candidate = drawn(40, 0.5)
    arguments = (tens(40), p10(base), p10(candidate), "P@10")
    gaps = np.subtract(candidate, base) / 10
    one = gate(*arguments, max_drop=0.05).gates[0]
    effect = np.array([(0.05 + gaps.mean()) / gaps.std(ddof=1)])
    assert one.topics_needed == topics_needed(effect, 0.05, sides=1)[0] > 40
    assert f"about {one.topics_needed:,.0f} could" in one.sentence
    slices = {name: [f"{t:03}" for t in range(40)] for name in "ab"}
    half = gate(*arguments, max_drop=0.05, slices=slices).gates[1]
    assert (half.slice, half.alpha) == ("a", 0.025)
    assert half.topics_needed == topics_needed(effect, 0.025, sides=1)[0]  # half the level needs more
    back = gate(tens(40), p10(candidate), p10(base), "P@10", max_drop=0.05, equivalence=True).gates[0]
    assert (back.state, back.topics_needed) == (UNDECIDED, one.topics_needed)  # a gain is as near to its margin


# ------------------------------------------------------------------------------------------- directions, floors, slices


def test_where_less_is_better_everything_is_turned_round() -> None:
    base, candidate = drawn(40, 0.5)
    up = gate(tens(40), p10(base), p10(candidate), "P@10", max_drop=0.1, ties="robust").gates[0]
    down = gate(tens(40), p10(base), p10(candidate), "Noise@10", max_drop=0.1, ties="robust").gates[0]
    assert up.state == down.state == PASSED
    assert None not in (up.low, up.high, up.allowed, up.difference, up.open)
    assert (down.low, down.high) == pytest.approx((-(up.high or 0), -(up.low or 0)))
    assert (down.allowed, down.difference) == pytest.approx((-(up.allowed or 0), -(up.difference or 0)))
    for ties, each in up.by_ties.items():
        assert down.by_ties[ties]["low"] == pytest.approx(-each["high"])
        assert down.by_ties[ties]["difference"] == pytest.approx(-each["difference"])
    assert down.open == pytest.approx((-(up.open or (0, 0))[1], -(up.open or (0, 0))[0]))
    assert "loses no more than" in down.sentence


def test_floors() -> None:
    base, candidate = drawn(40, 0)
    arguments = (tens(40), p10(base), p10([*candidate[:-1], candidate[-1] - 1]))
    found = gate(*arguments, "P@10", floors=["P@10 >= 0.3", "Noise@10 <= 0.1"])
    assert [(each.measure, each.kind, each.state) for each in found.gates] == [
        ("P@10", "drop", PASSED),
        ("Noise@10", "drop", PASSED),
        ("P@10", "floor", PASSED),
        ("Noise@10", "floor", WORSE),
    ]
    assert found.state == WORSE
    mean = float(np.mean([sum(docno[0] == "r" for docno in own) / 10 for own in arguments[2].values()]))
    assert gate(*arguments, {"P@10": {"floor": mean}}).passed  # reached, to the last bit
    tied: Sims = {str(t): {"a": 1.0, "b": 1.0} for t in range(10)}
    qrels: Grades = {str(t): {"a": 1.0} for t in range(10)}
    assert gate(qrels, tied, tied, floors="RR >= 0.7").state == UNDECIDED  # 0.5, 0.75 or 1
    assert gate(qrels, tied, tied, floors="RR >= 0.5").passed


def test_each_measure_may_have_its_own_drop() -> None:
    base, candidate = drawn(40, 0.5)
    found = gate(tens(40), p10(base), p10(candidate), {"P@10": "50%", "Noise@10": 0.01, "AP": {}}, max_drop=0.3)
    assert [(each.measure, each.max_drop) for each in found.gates] == [
        ("P@10", "50%"),
        ("Noise@10", "0.01"),
        ("AP", "0.3"),
    ]
    assert [each.state for each in found.gates] == [PASSED, WORSE, PASSED]
    with pytest.raises(BadParameter, match="Got 'drop'"):
        gate(tens(40), p10(base), p10(candidate), {"P@10": {"drop": 1}})


def test_slices_hold_together() -> None:
    base = [7] * 40
    candidate = [7, 8] * 10 + [6, 5] * 10
    slices = {"good": [f"{t:03}" for t in range(20)], "bad": [f"{t:03}" for t in range(20, 40)], "few": ["000"]}
    arguments = (tens(40), p10(base), p10(candidate), "P@10")
    found = gate(*arguments, max_drop=0.1, slices=slices)
    states = {each.slice: each.state for each in found.gates}
    assert states == {None: PASSED, "good": PASSED, "bad": WORSE, "few": UNDECIDED}
    assert found.state == WORSE
    assert {each.alpha for each in found.gates if each.slice} == {0.025}  # two that have enough topics
    kept = gate(*arguments, max_drop=0.1, slices={"good": slices["good"], "few": ["000"]})
    assert kept.passed  # an undecided slice does not count,
    assert (
        gate(*arguments, max_drop=0.1, slices={"few": ["000"]}, strict=True).state == UNDECIDED
    )  # unless all must pass
    for wrong in ({"a": "000"}, {"a": 3}, ["000"]):
        with pytest.raises(BadParameter, match="slice"):
            gate(*arguments, slices=wrong)


def test_topics_that_lost_most() -> None:
    base, candidate = [7] * 10, [7, 6, 7, 2, 7, 5, 9, 4, 3, 1]
    found = gate(tens(10), p10(base), p10(candidate), "P@10 Noise@10")
    assert found.losses.filter(measure="P@10")["topic"].to_list() == ["009", "003", "008", "007", "005"]
    assert found.losses.filter(measure="Noise@10")["difference"].to_list() == pytest.approx([0.6, 0.5, 0.4, 0.3, 0.2])


# ------------------------------------------------------------------------------------------------------------- cautions


def test_a_run_that_lacks_topics_is_in_the_verdict() -> None:
    base, candidate = drawn(40, 0)
    part = dict(list(p10(candidate).items())[:30])
    zero = gate(tens(40), p10(base), part, "P@10", floors=["P@10 >= 0.1"])
    assert zero.state == WORSE
    assert "caution: the candidate lacks 10 of 40 topics, which score as empty lists" in zero.gates[0].sentence
    assert "lacks 10 of 40 topics" in zero.gates[1].sentence
    skip = gate(tens(40), p10(base), part, "P@10", missing="skip")
    assert skip.gates[0].topics == 30
    assert "which are left out" in skip.gates[0].sentence
    assert "the baseline lacks" in gate(tens(40), part, p10(base), "P@10").gates[0].sentence


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_empty_lists_of_the_baseline_pass_nothing(missing: str) -> None:
    half = dict(list(p10([8] * 40).items())[:20])
    same = gate(tens(40), half, p10([8, 9] * 20), "P@10", missing=missing)
    assert same.state == PASSED
    worse = gate(tens(40), half, p10([7] * 40), "P@10", missing=missing, slices={"all": [*p10([8] * 40)]})
    assert worse.state == (UNDECIDED if missing == "zero" else WORSE)
    if missing == "zero":
        assert [each.reason for each in worse.gates] == ["undefined"] * 2
        assert "undecided: +0.3000" in worse.gates[0].sentence
        assert "it does not pass on the topics the baseline has" in worse.gates[0].sentence
        few = gate(tens(40), dict(list(half.items())[:1]), p10([8] * 40), "P@10")
        assert few.state == UNDECIDED


def test_few_that_differ_and_few_topics_are_cautioned_about() -> None:
    base = [7] * 40
    found = gate(tens(40), p10(base), p10([7] * 38 + [8, 8]), "P@10").gates[0]
    assert found.state == PASSED
    assert "only 2 of 40 topics differ; a loss on 7% of topics may be unseen" in found.sentence
    many = gate(tens(40), p10(base), p10([8, 7] * 20), "P@10").gates[0]
    assert (many.state, many.cautions) == (PASSED, ())
    few = gate(tens(12), p10(base[:12]), p10([8, 7] * 6), "P@10").gates[0]
    assert "with 12 topics" in few.cautions[0]


def test_a_margin_that_allows_everything_is_cautioned_about() -> None:
    base, candidate = drawn(40, 1)
    found = gate(tens(40), p10(base), p10(candidate), "P@10", max_drop=5).gates[0]
    assert "a loss of everything would be allowed" in found.sentence
    assert "everything" not in gate(tens(40), p10(base), p10(candidate), "P@10", max_drop=0.3).gates[0].sentence


def test_too_few_samples_for_the_level() -> None:
    base, candidate = drawn(40, 0.1)
    slices = {str(part): [f"{t:03}" for t in range(40)] for part in range(8)}
    options: dict[str, Any] = {"test": "randomization", "slices": slices, "max_drop": 0.5}
    low = gate(tens(40), p10(base), p10(candidate), "P@10", samples=100, **options).gates[1]
    assert low.state == UNDECIDED
    assert low.low is None
    assert "too few samples" in low.sentence
    assert "nothing can be decided" in low.sentence
    assert gate(tens(40), p10(base), p10(candidate), "P@10", samples=1000, **options).passed


# ----------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_drop": -1}, "drop"),
        ({"max_drop": "x"}, "drop"),
        ({"max_drop": None}, "drop"),
        ({"alpha": 0.7}, "alpha"),
        ({"alpha": "x"}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"samples": "x"}, "samples"),
        ({"samples": 99}, "samples"),
        ({"samples": 150.5}, "samples"),
        ({"min_topics": 2.5}, "min_topics"),
        ({"min_topics": 1}, "min_topics"),
        ({"min_topics": True}, "min_topics"),
        ({"test": "sign"}, "test"),
        ({"test": 3}, "test"),
        ({"ties": "lucky"}, "ties"),
        ({"ties": 5}, "ties"),
        ({"seed": "x"}, "seed"),
        ({"floors": ["P@10 > 0.3"]}, "floor"),
        ({"floors": ["P@10 <= 0.3"]}, "written with >="),
        ({"floors": [3]}, "floor"),
    ],
)
def test_what_is_no_parameter(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        gate(tens(5), p10([5] * 5), p10([5] * 5), "P@10", **options)


def test_a_measure_without_values_is_refused() -> None:
    for measures in ("PDoc(doc='nothere') AP", "AP PDoc(doc='nothere')", "PDoc(doc='nothere')"):
        with pytest.raises(BadParameter, match="has a value for 0 topics only"):
            gate(SAMPLE.qrels, RUNS["bm25"], RUNS["hybrid"], measures)
    with pytest.raises(BadParameter, match="has a value for 0 topics only"):
        gate(tens(1), p10([5]), p10([6]), "PDoc(doc='nothere')")
    with pytest.raises(BadParameter, match="one number per run"):
        gate(SAMPLE.qrels, RUNS["bm25"], RUNS["hybrid"], "gm(AP)")


def test_scores_of_a_program_are_gated_as_files_are() -> None:
    pair = [RUNS["bm25"], RUNS["hybrid"]]
    two = evaluate(SAMPLE.qrels, pair, "AP", ties=COMPARED)
    assert gate_scores(two, Rule()).gates == gate(SAMPLE.qrels, *pair, "AP").gates
    with pytest.raises(BadParameter, match="one number per run"):
        gate_scores(evaluate(SAMPLE.qrels, pair, "gm(AP)"), Rule())
    with pytest.raises(BadParameter, match="Got 3"):
        gate_scores(evaluate(SAMPLE.qrels, list(SAMPLE.runs)[:3], "AP"), Rule())


@given(st.integers(0, 10_000), st.sampled_from(["fair", "robust", "conventional"]), st.booleans())
def test_nothing_is_negative_nothing(seed: int, ties: str, equivalence: bool) -> None:
    """No -0.0, no NaN and no infinity, in numbers and in sentences."""
    random = np.random.Generator(np.random.PCG64(seed))
    base = random.integers(0, 11, size=8)
    other = random.permutation(base) if seed % 2 else np.minimum(base + random.integers(0, 2, size=8), 10)
    result = gate(
        tens(8), p10(base.tolist()), p10(other.tolist()), "P@10 Noise@10 RR", ties=ties, equivalence=equivalence,
        slices={"a": ["000", "001"], "b": ["007"]},
    )  # fmt: skip
    text = json.dumps(result.as_dict(), allow_nan=False)
    assert "-0.0," not in text
    assert "-0.0}" not in text
    assert not any(sign in text + result.markdown() for sign in ("-0.0000", "(-0.0 %)", " nan"))
    assert all(each.p is None or math.isfinite(each.p) for each in result.gates)


# ------------------------------------------------------------------------- what holds over measures, orders and topics


def test_a_measure_may_have_a_floor_alone_and_the_strictest_counts() -> None:
    (bar,) = bars((), "5%", ["AP >= 0.4"])
    assert (bar.measure.name, str(bar.max_drop), bar.floor) == ("AP", "5%", 0.4)
    for floors in (["AP >= 0.4", "AP >= 0.2"], ["AP >= 0.2", "AP >= 0.4"]):
        assert bars("AP", "5%", floors)[0].floor == 0.4
        assert bars({"AP": {"floor": 0.3}}, "5%", floors)[0].floor == 0.4
    assert bars({"AP": {"floor": 0.5}}, "5%", floors)[0].floor == 0.5
    assert bars({"Noise@10": {"floor": 0.3}}, "5%", ["Noise@10 <= 0.4", "Noise@10 <= 0.35"])[0].floor == 0.3
    with pytest.raises(BadParameter, match="Got 'zz'"):
        bars({"AP": {"zz": 1, "aa": 2, "floor": 3}})


def test_a_floor_is_reached_but_for_rounding() -> None:
    base, candidate = drawn(40, 0)
    mean = float(np.mean(candidate)) / 10
    for least, state in ((mean * (1 + 1e-12), PASSED), (mean * (1 + 1e-6), WORSE)):
        assert gate(tens(40), p10(base), p10(candidate), "P@10", floors=[f"P@10 >= {least!r}"]).state == state


def test_what_stands_at_the_top_holds_whatever_the_order() -> None:
    for ties in ("fair", "robust"):
        for one, two in (("logprob", "bm25"), ("bm25", "llm-judge"), ("hybrid", "llm-judge"), ("llm-judge", "hybrid")):
            for found in gate(SAMPLE.qrels, RUNS[one], RUNS[two], "AP Noise@10", ties=ties).gates:
                up = found.upward
                orders = [found.by_ties[each] for each in ((WORST, BEST) if ties == "robust" else found.by_ties)]
                ends = {(each["low"], each["high"]) for each in orders}
                low, high = (found.low, found.high) if up > 0 else (found.high, found.low)
                assert low == up * min(up * each[0 if up > 0 else 1] for each in ends)
                assert high == up * max(up * each[1 if up > 0 else 0] for each in ends)
                if ties == "fair":
                    assert found.p == max(each["p"] for each in orders)
                    assert found.p_worse == max(each["p_worse"] for each in orders)
                assert found.passed == ((found.p or 0) <= 0.05) == (up * (low or 0) >= up * (found.allowed or 0))
                assert (found.state == WORSE) == ((found.p_worse or 0) <= 0.025)
    found = gate(SAMPLE.qrels, RUNS["logprob"], RUNS["bm25"], "AP", max_drop=0.02).gates[0]
    assert "loses no more than 0.0802, whatever the order of ties, p = 0.9348" in found.sentence
    assert found.reason == "sides"
    assert "point to both sides, more topics cannot decide" in found.sentence
    alone = gate(SAMPLE.qrels, RUNS["logprob"], RUNS["bm25"], "AP", max_drop=0.02, ties="realistic").gates[0]
    assert "whatever" not in alone.sentence
    assert alone.topics_needed is not None


def orders(*gaps: float, n: int = 10) -> dict[str, Floats]:
    """Two rows for each order: differences of this mean that vary by ±0.1."""
    vary = 0.5 + 0.1 * (-1.0) ** np.arange(n)
    return {str(at): np.stack([np.full(n, 0.5), vary + gap]) for at, gap in enumerate(gaps)}


def test_how_many_topics_could_decide() -> None:
    rule, level = Rule(), Level(0.05, 0.01)
    spread = orders(0.0)["0"][1].std(ddof=1)

    def at(mean: float, alpha: float) -> float:
        return float(topics_needed(np.array([(0.05 + mean) / spread]), alpha, sides=1)[0])

    def asked(low: dict[str, Floats], high: dict[str, Floats] | None = None, rule: Rule = rule) -> float | None:
        return needed(low, high or low, 0.05, rule, level)

    assert asked(orders(0.0, -0.02)) == at(-0.02, 0.05) > at(0.0, 0.05)
    assert asked(orders(-0.08, -0.1)) == at(-0.08, 0.01)
    assert asked(orders(-0.08, 0.0)) is None
    assert asked(orders(-0.05)) == math.inf
    assert asked(orders(-0.02), orders(0.3)) == at(-0.02, 0.05)  # robust: what must pass is the worst,
    assert asked(orders(-0.2), orders(-0.08)) == at(-0.08, 0.01)  # what must be worse the best
    both = Rule(equivalence=True)
    assert asked(orders(-0.02), orders(0.3), both) is None
    assert asked(orders(0.08), orders(0.3), both) == at(-0.08, 0.01)
    assert asked(orders(0.02, -0.01), rule=both) == at(-0.02, 0.05)
    noise = np.stack([np.full(12, 0.1), np.full(12, 0.2) + 1e-16 * np.arange(12)])
    assert asked({"": noise}) == 5  # no spread but noise: as for signs


def test_to_be_worse_is_corrected_over_measures() -> None:
    base, candidate = drawn(40, 0.5)
    arguments = (tens(40), p10(base), p10(candidate))
    gaps = np.subtract(candidate, base) / 10
    for drop in np.linspace(0.02, 0.05, 31):
        alone = gate(*arguments, "P@10", max_drop=drop).gates[0]
        if alone.state == WORSE and (alone.p_worse or 0) > 0.03:
            break
    assert alone.alpha_worse == 0.05
    found = gate(*arguments, "P@10 RR", max_drop=drop).gates[0]
    assert (found.state, found.alpha, found.alpha_worse) == (UNDECIDED, 0.05, 0.025)
    assert found.p_worse == alone.p_worse
    assert found.low == alone.low
    expected = stats.ttest_1samp(gaps, 0).confidence_interval(0.95).high
    assert found.high == pytest.approx(expected)
    slices = {name: [f"{t:03}" for t in range(40)] for name in "ab"}
    part = gate(*arguments, "P@10 RR", slices=slices).gates[-1]
    assert (part.alpha, part.alpha_worse) == (0.025, 0.0125)
    worse = gate(*arguments, "P@10 RR", max_drop=0.01).gates[0]
    assert f"97.5 % sure that it loses at least {-expected:.4f}" in worse.sentence


def lost(topics: int, without: int, other: int = 0) -> tuple[Grades, Sims, Sims]:
    """A document that the candidate lacks on some topics, and the baseline on others."""
    qrels: Grades = {str(t): {"d1": 1.0} for t in range(topics)}
    both = [{str(t): {"x": 2.0, **({} if t in range(*gone) else {"d1": 3.0 - 2 * which})} for t in range(topics)}
            for which, gone in ((1, (topics - other, topics)), (0, (0, without)))]  # fmt: skip
    return qrels, both[0], both[1]


def test_a_candidate_without_a_value_does_not_pass_on_the_rest() -> None:
    found = gate(*lost(30, 24), "PDoc(doc='d1')", floors=["PDoc(doc='d1') >= 0.1"])
    drop, floor = found.gates
    assert (found.state, drop.reason, drop.topics) == (UNDECIDED, "undefined", 6)
    assert "24 of 30 topics have a value for the baseline only" in drop.sentence
    assert (floor.state, floor.reason) == (UNDECIDED, "undefined")
    assert "undecided, 24 of 30 topics have a value for the baseline only" in floor.sentence
    one = gate(*lost(30, 1), "PDoc(doc='d1')", slices={"a": [*map(str, range(10))], "b": [*map(str, range(10, 30))]})
    assert "1 of 30 topics has a value for the baseline only" in one.gates[0].sentence
    assert [each.state for each in one.gates] == [UNDECIDED, UNDECIDED, PASSED]
    assert "1 of 10 topics has" in one.gates[1].sentence
    back = gate(*lost(30, 0, 4), "PDoc(doc='d1')").gates[0]
    assert back.state == PASSED
    assert "caution: 4 of 30 topics have a value for the candidate only" in back.sentence
    qrels, better, worse = lost(30, 0, 4)
    shown = gate(qrels, worse, better, "PDoc(doc='d1')").gates[0]
    assert shown.state == WORSE
    assert "caution: 4 of 30 topics have a value for the baseline only" in shown.sentence


def test_what_is_just_at_the_margin_is_allowed() -> None:
    base = [7] * 12
    asked: dict[str, Any] = {"max_drop": 0, "test": "randomization"}
    gains = gate(tens(12), p10(base), p10([8] * 2 + [7] * 10), "P@10", **asked).gates[0]
    assert (gains.state, gains.low, gains.p) == (PASSED, 0.0, 0.5**12)
    assert gate(tens(12), p10(base), p10([8] * 2 + [7] * 9 + [6]), "P@10", **asked).state == UNDECIDED
    assert gate(tens(25), p10(base + [7] * 13), p10([8] * 2 + [7] * 23), "P@10", **asked).passed
    both = np.stack([np.full(12, 0.7), np.full(12, 0.7) + 0.1 * (np.arange(12) < 1)])
    open_ = answer(both, 0.0, Rule(test="bootstrap"), Level(0.05, 0.05))  # many samples lie just at the margin
    assert (open_.state, -1e-300 < open_.low < 0) == (UNDECIDED, True)
    just = gate(tens(5), p10([7] * 5), p10([8] * 5), "P@10", alpha=0.5**5)
    assert (just.state, just.gates[0].p) == (PASSED, 0.5**5)  # p may be alpha itself
    assert gate(tens(5), p10([8] * 5), p10([6] * 5), "P@10", alpha=0.5**5).state == WORSE


def test_the_slack_is_that_of_the_margin_too() -> None:
    """Differences of tiny scores and a large margin: what lies at the margin but for its rounding lies at it."""
    both = np.stack([np.zeros(12), -0.3 + 1e-12 * (-1.0) ** np.arange(12)])
    found = answer(both, 0.3, Rule(), Level(0.05, 0.05))
    assert (found.state, found.p) == (PASSED, 0.5**12)
    tiny = np.stack([np.full(12, 1e-13), 1e-13 + 1e-14 * np.arange(12)])
    assert answer(tiny, 0.3, Rule(), Level(0.05, 0.05)).p == 0.5**12


def test_no_topic_loses_more_than_allowed() -> None:
    held = gate(tens(6), p10([2] * 6), p10([2, 2, 2, 2, 2, 10]), "P@10", max_drop=0.01).gates[0]
    assert (held.state, held.largest_loss) == (UNDECIDED, 0.0)
    assert "; no topic loses more than allowed; these topics cannot tell, about" in held.sentence
    some = gate(tens(6), p10([2] * 6), p10([1, 2, 2, 2, 2, 10]), "P@10 Noise@10", max_drop=0.01)
    for each, loss in zip(some.gates, (-0.1, 0.1), strict=True):
        assert "no topic loses" not in each.sentence
        assert each.largest_loss == pytest.approx(loss)


def told(low: float, high: float, state: str = PASSED, **more: Any) -> str:
    made = Gate(
        measure="AP", state=state, topics=30, baseline=0.5, candidate=0.5, difference=0.0, low=low, high=high,
        allowed=-0.02, max_drop="0.02", p=0.01, p_worse=0.02, alpha=0.05, alpha_worse=0.05, **more,
    )  # fmt: skip
    return sentence(made, Rule(equivalence=more.get("by_ties") is None))


def test_bounds_in_words() -> None:
    assert "gains at least 0.0100, and no more than 0.0150, p = 0.01" in told(0.01, 0.015)
    assert "loses no more than 0.0100, and gains no more than 0.0150, p = 0.01" in told(-0.01, 0.015)
    assert "loses no more than 0.0100, and at least 0.0050, p = 0.01" in told(-0.01, -0.005)
    assert "loses no more than 0.0000, and gains no more than 0.0100" in told(3e-5, 0.01)  # what rounds to nothing
    assert "gains at least 0.0000, p = 0.02" in told(-1e-17, 0.01, "different")
    assert "loses no more than 0.0100, p = 0.01" in told(-0.01, 0.01, by_ties={})
    few = Gate(measure="AP", state=UNDECIDED, reason="topics", topics=4, difference=0.0, alpha=0.05, alpha_worse=0.05)
    assert "too few topics to be 95 % sure" in sentence(few, Rule(test="bootstrap"))
    rare = replace(few, alpha=0.001)
    assert "too few samples to be 99.9 % sure" in sentence(rare, Rule(test="bootstrap", samples=100))


def test_strategies_are_named_as_they_are() -> None:
    qrels: Grades = {str(topic): {"z": 1.0} for topic in range(20)}
    steady: Sims = {str(topic): {"z": 2.0, "a": 1.0} for topic in range(20)}
    lucky: Sims = {str(topic): {"z": 1.0, "a": 1.0} for topic in range(20)}
    found = gate(qrels, steady, lucky, "RR", ties=["input", "realistic"]).gates[0]
    assert "ties decide: input passed (+0.0000), realistic worse" in found.sentence
    assert "at its worst worse" in gate(qrels, steady, lucky, "RR", ties="robust").gates[0].sentence


def extreme(low: float, high: float, wide: float = 0.001, **asked: Any) -> tuple[str, str]:
    """The verdict on a candidate with so large a difference at its worst, and at its best."""
    rule = Rule(ties="robust", **asked)
    noise = (-1.0) ** np.arange(30)
    found = {
        name: answer(np.stack([np.full(30, 0.5), 0.5 + gap + vary * noise]), 0.05, rule, Level(0.05, 0.05))
        for name, gap, vary in (("realistic", 0.0, 0.001), (WORST, low, 0.001), (BEST, high, wide))
    }
    asking = Asking(evaluate(SAMPLE.qrels, [RUNS["bm25"]], "AP", ties=COMPARED), rule, False, ())
    return asking._state(found, 30)


def test_verdicts_at_the_extremes() -> None:
    assert extreme(0.0, 0.2) == extreme(0.0, 0.2, wide=3) == (PASSED, "")  # at its worst is enough
    assert extreme(0.0, 0.2, equivalence=True) == (UNDECIDED, "ties")
    assert extreme(0.0, 0.01, equivalence=True) == (PASSED, "")
    assert extreme(0.1, 0.2, equivalence=True) == ("different", "")
    assert extreme(0.0, 0.2, equivalence=True)[0] != "different"
    assert extreme(-0.2, -0.1) == extreme(-0.2, -0.1, equivalence=True) == (WORSE, "")
    assert extreme(-0.2, 0.0) == (UNDECIDED, "ties")
    assert extreme(-0.2, 0.2, equivalence=True) == (UNDECIDED, "ties")


def test_bounds_are_within_what_a_measure_can_reach() -> None:
    base, candidate = [10] * 3 + [0] * 3, [0] * 3 + [10] * 3
    for measure in ("P@10", "Noise@10"):
        found = gate(tens(6), p10(base), p10(candidate), measure, max_drop=0.1, alpha=0.01).gates[0]
        assert (found.low, found.high) == (-1.0, 1.0)
    less = gate(tens(6), p10([5] * 6), p10([4, 5] * 3), "Noise@10", max_drop=0.5).gates[0]
    assert "a loss of everything would be allowed" in less.sentence
    assert "everything" not in gate(tens(6), p10([5] * 6), p10([4, 5] * 3), "Noise@10", max_drop=0.4).gates[0].sentence


def test_slices_do_not_repeat_what_a_run_lacks() -> None:
    base, candidate = drawn(40, 0)
    part = dict(list(p10(candidate).items())[:30])
    found = gate(tens(40), p10(base), part, "P@10", slices={"a": [f"{t:03}" for t in range(20)]})
    assert "lacks" in found.gates[0].sentence
    assert "lacks" not in found.gates[1].sentence


def test_half_of_a_few_topics_may_differ() -> None:
    some = gate(tens(12), p10([7] * 12), p10([8] * 6 + [7] * 6), "P@10").gates[0]
    assert not any("differ;" in each for each in some.cautions)  # six of twelve: fewer than 10, but half
    few = gate(tens(12), p10([7] * 12), p10([8] * 5 + [7] * 7), "P@10").gates[0]
    assert any("only 5 of 12 topics differ;" in each for each in few.cautions)


def test_noise_is_no_loss() -> None:
    qrels: Grades = {str(t): {f"r{i}": 1.0 for i in range(7)} for t in range(6)}
    scores = evaluate(qrels, [{str(t): {"r0": 1.0} for t in range(6)}] * 2, "AP", ties=COMPARED)
    blocks = tuple(replace(each, values=each.values - 1e-16 * (each.run == scores.runs[1])) for each in scores.blocks)
    assert gate_scores(replace(scores, blocks=blocks), Rule()).losses.height == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 10_000_001}, "from 100 to 10,000,000"),
        ({"max_drop": 1e308}, "from 0 to 1e9"),
        ({"max_drop": "1e12%"}, "from 0 to 1e9"),
        ({"slices": {"a": ["000", 1.5]}}, "text or whole numbers. Got 1.5"),
        ({"slices": {"a": [True]}}, "text or whole numbers"),
    ],
)
def test_what_is_too_much(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        gate(tens(5), p10([5] * 5), p10([5] * 5), "P@10", **options)
