"""What every registered measure promises, whatever its formula."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import exaequo
from exaequo.arrays import Floats
from exaequo.measures import Measure, catalogue
from helpers import COMPLETE, Grades, Sims, collections, evaluate, instances

ALL = instances()
Line = namedtuple("Line", "qid docno rel iteration")
STRATEGIES = ("realistic", "conventional", "optimistic")


def table(qrels: Grades, run: Sims, ties: tuple[str, ...] = STRATEGIES, seed: int = 0) -> dict[str, Floats]:
    """Evaluate all measures: an array of topics × measures per strategy."""
    scores = evaluate(qrels, run, ALL, ties=ties, seed=seed)
    return {block.ties: block.values.T for block in scores.blocks}


def test_there_are_enough() -> None:
    assert set(COMPLETE) <= set(catalogue())


@pytest.mark.parametrize("name", list(catalogue()))
def test_says_all_about_itself(name: str) -> None:
    definition = catalogue()[name]
    assert definition.title
    assert definition.formula.startswith(name)
    assert len(definition.source) >= 9
    example = exaequo.parse_measure(definition.example)
    assert example.definition is definition
    assert str(example) == definition.example
    assert set(definition.sees) <= {"names", "length", "ties", "scores"}


@given(collections())
def test_bounds(collection: tuple[Grades, Sims]) -> None:
    for values in table(*collection).values():
        for measure, column in zip(ALL, values.T, strict=True):
            unknown = np.isnan(column)
            assert measure.definition.undefined or not unknown.any(), measure
            assert np.all((column >= measure.definition.lowest) | unknown), measure
            assert np.all((column <= measure.definition.highest + 1e-12) | unknown), measure


@given(collections())
def test_conventional_between_realistic_and_optimistic(collection: tuple[Grades, Sims]) -> None:
    values = table(*collection, ties=(*STRATEGIES, "random"))
    for at, measure in enumerate(ALL):
        if measure.definition.chain == "not guaranteed":
            continue
        low, high = values["realistic"][:, at], values["optimistic"][:, at]
        if measure.definition.chain == "reversed":
            low, high = high, low
        if "gains" in measure.params:
            continue  # gains need not grow with the grade
        for ties in ("conventional", "random"):
            unknown = np.isnan(values[ties][:, at])
            assert np.array_equal(unknown, np.isnan(low)), (measure, ties)
            assert np.all((low <= values[ties][:, at] + 1e-12) | unknown), (measure, ties)
            assert np.all((values[ties][:, at] <= high + 1e-12) | unknown), (measure, ties)


_TWO_TOPICS = [Line("t", "a", 2, "1"), Line("t", "b", 1, "1"), Line("t", "b", 1, "2"), Line("t", "b", 1, "3")]


def _drawn(grades: dict[str, float], chances: list[float]) -> exaequo.Qrels:
    qrels = exaequo.read_qrels({"t": grades})
    return replace(qrels, frame=qrels.frame.with_columns(prob=pl.Series(chances)))


#: For each measure without a promise, judgments and a run that show why there is none.
BROKEN_CHAINS: dict[str, tuple[str, object, Sims]] = {
    "infAP": ("infAP", {"t": {"d1": -1, "d3": 1, "d0": 1}}, {"t": {"d0": 0.0, "d1": 0.0, "d2": 1.0, "d3": 1.0}}),
    "xinfAP": ("xinfAP", {"t": {"d1": -1, "d3": 1, "d0": 1}}, {"t": {"d0": 0.0, "d1": 0.0, "d2": 1.0, "d3": 1.0}}),
    "statAP": ("statAP", partial(_drawn, {"a": 2, "b": 1}, [1.0, 0.1]), {"t": {"a": 1.0, "b": 1.0}}),
    "BPM": (
        "BPM(max_rel=3)@5",
        {"t": {"d0": 2, "d1": 1, "d2": 0, "d3": 1, "d4": 0}},
        {"t": {"d0": 0.0, "d1": 0.0, "d2": 1.0, "d3": 2.0, "d4": 1.0}},
    ),
    "PDoc": ("PDoc(doc='d')", {"t": {"z": 1, "c": 0}}, {"t": {"c": 1.0, "d": 1.0, "z": 1.0}}),
    **{
        name: (example, _TWO_TOPICS, {"t": {"a": 1.0, "b": 1.0}})
        for name, example in {
            **{
                name: f"{name}@1"
                for name in "alpha_nDCG alpha_DCG ERR_IA nERR_IA StRecall P_IA D_nDCG D_Q Dsharp_nDCG Dsharp_Q".split()
            },
            **{name: name for name in "NRBP nNRBP MAP_IA".split()},
        }.items()
    },
}


def test_measures_without_a_promise_have_a_counter_example() -> None:
    without = {name for name in COMPLETE if catalogue()[name].chain == "not guaranteed"}
    assert set(BROKEN_CHAINS) == without
    for measure, judged, run in BROKEN_CHAINS.values():
        qrels = judged() if callable(judged) else judged
        low, middle, high = (block.values[0, 0] for block in evaluate(qrels, run, measure, ties="all").blocks)
        assert not low - 1e-9 <= middle <= high + 1e-9, measure


def test_the_length_counts_where_it_is_said_to_count() -> None:
    qrels: Grades = {"t": {"a": 1, "b": 1}}
    before, after = table(qrels, {"t": {"a": 9.0}}), table(qrels, {"t": {"a": 9.0, "x": 1.0, "y": 0.0}})
    changed = {
        measure.definition.name
        for at, measure in enumerate(ALL)
        if not np.array_equal(before["realistic"][:, at], after["realistic"][:, at], equal_nan=True)
    }
    assert changed >= {name for name in COMPLETE if "length" in catalogue()[name].sees}


@given(collections())
def test_without_ties_all_strategies_are_one(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    untied = {topic: {docno: float(at) for at, docno in enumerate(docs)} for topic, docs in run.items()}
    scores = evaluate(qrels, untied, ALL, ties=("realistic", "conventional", "optimistic", "input", "random"))
    for block in scores.blocks[1:]:
        assert np.array_equal(block.values, scores.blocks[0].values, equal_nan=True)


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_a_missing_topic_scores_the_least(measure: Measure) -> None:
    qrels = {"1": {"a": 1, "b": 2}, "2": {"a": 2}}
    run = {"2": {"a": 1.0}}
    lists = (run, {**run, "1": {"a": 3.0, "b": 2.0}})
    value, best = (evaluate(qrels, each, [measure]).to_dict()["run"]["realistic"]["1"][str(measure)] for each in lists)
    assert not value * measure.upward > best * measure.upward
    if measure.definition.name in ("IDCG", "PDoc") or measure.definition.name not in COMPLETE:
        return  # the one does not look at the run, the other has no value
    worst = 0 if measure.definition.higher_is_better else measure.params.get("docs", measure.definition.highest)
    if measure.definition.name == "WSS":
        worst = measure.params["recall"] - 1 if measure.params["recall"] else 0
    expected = {"NumQ": 1, "NumRel": 1 if measure.params.get("rel") else 2}.get(measure.definition.name, worst)
    assert value == pytest.approx(expected, abs=1e-15)
