"""Parameters that give the numbers of other tools: AP divided by at most k, RBP of grades."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
import ranx
from hypothesis import given

import exaequo
from exaequo.measures import parse_measure
from helpers import Grades, Sims, collections, evaluate

pytestmark = pytest.mark.ranx

QRELS, RUN = {"1": {"a": 1, "b": 3, "c": 1}}, {"1": {"a": 3.0, "b": 2.0, "x": 1.0}}


def test_average_precision_over_at_most_k_by_hand() -> None:
    scores = exaequo.evaluate(QRELS, RUN, ["AP@2", "AP(relative=True)@2", "AP(relative=True)@5", "AP(relative=True)"])
    assert [scores.mean(measure) for measure in scores.measures] == pytest.approx([2 / 3, 1, 2 / 3, 2 / 3])


def test_rank_biased_precision_of_grades_by_hand() -> None:
    scores = exaequo.evaluate(QRELS, RUN, ["RBP(p=0.5)", "RBP(p=0.5,graded=True)", "RBP(p=0.5,rel=2,graded=True)@2"])
    assert [scores.mean(measure) for measure in scores.measures] == pytest.approx([0.75, 0.5 * (1 + 3 / 2), 0.75])


@given(collections())
def test_average_precision_over_at_most_k_is_never_lower(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    plain, relative = evaluate(qrels, run, ["AP@3", "AP(relative=True)@3"]).blocks[0].values
    assert np.all(relative >= plain)
    topics = [sum(grade > 0 for grade in qrels[topic].values()) for topic in sorted(qrels)]
    few = np.array([n <= 3 for n in topics if n])
    assert np.array_equal(relative[few], plain[few])


@pytest.mark.filterwarnings("ignore:unsafe cast")  # of Numba, when it is compiled
def test_rank_biased_precision_of_grades_is_that_of_ranx() -> None:
    draw = random.Random(1)
    names = [f"d{at}" for at in range(50)]
    qrels = {topic: {docno: draw.choice([0, 1, 2, 3]) for docno in draw.sample(names, 20)} for topic in "12345"}
    run = {topic: {docno: draw.random() for docno in draw.sample(names, 40)} for topic in "12345"}
    found = exaequo.evaluate(qrels, run, "RBP(p=0.95,graded=True)").mean("RBP(p=0.95,graded=True)")
    assert found == pytest.approx(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "rbp.95"), abs=1e-12)


def test_grades_have_no_upper_end() -> None:
    assert parse_measure("RBP").definition.highest == 1
    assert parse_measure("RBP(graded=True)").definition.highest == float("inf")
    topics = [str(at) for at in range(6)]
    runs = {
        "one": {topic: {"b": 2.0, "a": 1.0} for topic in topics},
        "two": {topic: {"a": 1.0 + at} for at, topic in enumerate(topics)},
    }
    qrels = {topic: {"b": 9 + at, "a": 1} for at, topic in enumerate(topics)}
    compared = exaequo.compare(qrels, runs, "RBP(p=0.5,graded=True)")
    first = compared.systems.row(0, named=True)
    assert first["mean"] == pytest.approx(0.5 * (11.5 + 0.5))
    assert first["high"] > first["mean"]


def test_what_nobody_judged_may_be_worth_a_grade() -> None:
    measure = "RBP(p=0.5,graded=True)"
    (row,) = exaequo.unjudged({"1": {"a": 3, "b": 1}}, {"1": {"a": 2.0, "x": 1.0}}, measure).scores.to_dicts()
    assert (row["low"], row["high"]) == pytest.approx((1.5, 0.5 * (3 + 3 / 2) + 3 / 4))


@pytest.mark.parametrize("cutoff", [1, 2, 3, 5])
def test_bounds_of_average_precision_over_at_most_k(cutoff: int) -> None:
    measure, run = f"AP(relative=True)@{cutoff}", {"1": {name: -float(at) for at, name in enumerate("uavbwxy")}}
    judged = {"a": 1, "b": 0, "c": 1}
    (row,) = exaequo.unjudged({"1": judged}, run, measure).scores.to_dicts()
    values = []
    for grades in product((0, 1), repeat=5):
        qrels = {"1": judged | dict(zip("uvwxy", grades, strict=True))}
        values.append(exaequo.evaluate(qrels, run, measure).mean(measure))
    assert row["how"] == "bounds"
    assert (row["low"], row["high"]) == pytest.approx((min(values), max(values)))
