"""Joining a run to its judgments."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given

from exaequo import Qrels, Run, read_qrels, read_run
from exaequo.judge import JudgedRun, judge, prepare
from helpers import Grades, Sims, collections

QRELS = {"1": {"rel": 2, "zero": 0, "below": -1, "high": 200}, "2": {"x": 0}, "3": {"y": 1}}
RUN = {"1": {"rel": 1.0, "zero": 1.0, "below": 1.0, "high": 1.0, "new": 1.0}, "9": {"rel": 1.0}}


def test_three_kinds_of_nothing_stay_apart() -> None:
    judged = judge(read_run(RUN), prepare(read_qrels(QRELS)))
    assert judged.grade.tolist() == [2, 0, -1, 0, 0]
    assert judged.judged.tolist() == [True, True, True, True, False]
    assert (judged.missing, judged.stray) == (["3"], ["9"])


def test_prepare_chooses_topics() -> None:
    judgments = prepare(read_qrels(QRELS))
    assert judgments.topics.to_list() == ["1", "3"]
    assert judgments.nothing_relevant == ["2"]
    assert judgments.too_high == 1
    assert judgments.counted().tolist() == [1, 1]
    assert judgments.counted(3).tolist() == [0, 0]
    assert judgments.nonrelevant().tolist() == [2, 0]  # "high" was judged, and counts as 0


def test_level_and_highest_grade() -> None:
    judgments = prepare(read_qrels(QRELS), level=2, highest=float("inf"))
    assert judgments.topics.to_list() == ["1"]
    assert judgments.counted().tolist() == [2]
    assert prepare(read_qrels(QRELS), every=True).topics.to_list() == ["1", "2", "3"]


def test_the_highest_grade_counts_and_what_is_above_does_not() -> None:
    judgments = prepare(read_qrels({"1": {"a": 127, "b": 127.5, "c": 128}}))
    assert judgments.grade.tolist() == [127, 0, 0]
    assert judgments.too_high == 2
    lines = {"qid": ["1"] * 3, "iter": ["1", "2", "2"], "docno": ["a", "a", "b"], "rel": [127, 128, 127]}
    judgments = prepare(read_qrels(pl.DataFrame(lines)))
    assert judgments.grade.tolist() == [127, 127]
    assert judgments.subtopics.grade.tolist() == [127, 0, 127]
    assert (judgments.too_high, judgments.merged) == (1, 1)


def test_real_grades_are_relevant_above_zero() -> None:
    judgments = prepare(read_qrels({"1": {"a": 0.2, "b": 0.0, "c": -0.5}}))
    assert judgments.counted().tolist() == [1]
    assert judgments.counted(0.3).tolist() == [0]


def with_weak_keys(judged: Run | Qrels, keys: int) -> pl.DataFrame:
    return judged.frame.with_columns(pl.col("key") % keys)


@given(collections())
def test_colliding_keys_change_nothing(collection: tuple[Grades, Sims]) -> None:
    """Keys are hashes: with very weak ones, every line collides with lines of other topics and documents."""
    qrels, run = read_qrels(collection[0]), read_run(collection[1])
    expected = judge(run, prepare(qrels))
    for keys in (1, 3, 64):
        weak_qrels = Qrels(with_weak_keys(qrels, keys), qrels.source)
        weak_run = Run(run.name, with_weak_keys(run, keys), run.source)
        same(judge(weak_run, prepare(weak_qrels)), expected)
    # Distinct in the qrels, wrong for the run: each match has to be compared by name.
    first = qrels.frame["key"][0]
    same(judge(Run("r", run.frame.with_columns(key=pl.lit(first)), run.source), prepare(qrels)), expected, first)


def same(found: JudgedRun, expected: JudgedRun, only: int | None = None) -> None:
    if only is None:
        assert np.array_equal(found.grade, expected.grade)
        assert np.array_equal(found.judged, expected.judged)
        return
    own = expected.run.frame["key"].to_numpy()[expected.row] == only
    assert np.array_equal(found.judged, expected.judged & own)
