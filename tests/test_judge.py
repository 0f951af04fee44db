"""Joining a run to its judgments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import given

from exaequo import Qrels, Run, read_qrels, read_run
from exaequo.arrays import Floats
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


SUBTOPICS = "1 s2 a 1\n1 s1 a 2\n1 s1 b 0\n2 s1 x 0\n3 s3 c 200\n3 s1 c 1\n3 s1 d -1\n"


def test_subtopics_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(SUBTOPICS, encoding="utf-8")
    judgments = prepare(read_qrels(path))
    assert judgments.topics.to_list() == ["1", "3"]
    assert (judgments.topic.tolist(), judgments.grade.tolist()) == ([0, 0, 1, 1], [2, 0, 1, -1])
    assert judgments.qrels.frame["docno"][judgments.row].to_list() == list("abcd")
    assert (judgments.merged, judgments.too_high, judgments.nothing_relevant) == (2, 1, ["2"])
    found = judgments.subtopics
    assert found.place.tolist() == [0, 0, 1, 2, 2, 3]
    assert found.name.to_list() == ["s1", "s2", "s1", "s3"]
    assert found.topic.tolist() == [0, 0, 1, 1]
    assert found.subtopic.tolist() == [0, 1, 0, 2, 3, 2]
    assert found.grade.tolist() == [2, 1, 0, 1, 0, -1]  # 200 is too high


def test_grades_of_subtopics_that_are_too_high(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("1 s1 a 128\n1 s2 a 0\n1 s1 b 127\n1 s2 b 1\n1 s1 c 128\n1 s2 c -2\n", encoding="utf-8")
    judgments = prepare(read_qrels(path))
    assert (judgments.grade.tolist(), judgments.too_high) == ([0, 127, 0], 2)
    assert judgments.subtopics.grade.tolist() == [0, 0, 127, 1, 0, -2]


def test_a_topic_whose_best_grade_is_the_level_is_evaluated() -> None:
    assert prepare(read_qrels({"1": {"a": 2}, "2": {"b": 1.5}}), level=2).topics.to_list() == ["1"]


def test_lines_of_equal_keys_are_told_apart_by_topic_and_name() -> None:
    qrels, run = (
        read_qrels({"1": {"a": 1, "b": 2}, "2": {"a": 3}}),
        read_run({"1": {"b": 1.0}, "2": {"a": 1.0, "b": 2.0}}),
    )
    weak = Qrels(qrels.frame.with_columns(key=pl.lit(7, pl.UInt64)), qrels.source)
    judged = judge(Run("r", run.frame.with_columns(key=pl.lit(7, pl.UInt64)), run.source), prepare(weak))
    assert (judged.grade.tolist(), judged.judged.tolist()) == ([2, 3, 0], [True, True, False])


def test_without_subtopics_each_topic_has_one() -> None:
    judgments = prepare(read_qrels(QRELS))
    found = judgments.subtopics
    assert (found.place.tolist(), found.subtopic.tolist()) == ([0, 1, 2, 3, 4], [0, 0, 0, 0, 1])
    assert (found.topic.tolist(), found.name.to_list()) == ([0, 1], ["1", "3"])
    assert found.grade.tolist() == judgments.grade.tolist() == [2, 0, -1, 0, 1]


def test_the_ideal_list_by_hand() -> None:
    judgments = prepare(read_qrels({"1": {"a": 1, "b": 3, "c": 0, "d": -1, "e": 2}, "2": {"x": 0.5, "y": 1}}))
    topic, rank, grade = judgments.ideal
    assert topic.tolist() == [0, 0, 0, 1, 1]
    assert rank.tolist() == [1, 2, 3, 1, 2]
    assert grade.tolist() == [3, 2, 1, 1, 0.5]


def test_levels_and_limits_are_reached_at_equality() -> None:
    qrels = read_qrels({"1": {"a": 127, "b": 128, "c": 2, "d": 0, "e": -1}})
    judgments = prepare(qrels, level=2)
    assert judgments.grade.tolist() == [127, 0, 2, 0, -1]
    assert (judgments.too_high, judgments.counted().tolist(), judgments.counted(0).tolist()) == (1, [2], [4])
    assert judgments.nonrelevant().tolist() == [2]
    assert judgments.nonrelevant(127).tolist() == [3]
    assert judgments.relevant(np.array([1.0, 2.0]), 1).tolist() == [True, True]
    nothing = prepare(read_qrels({"1": {"a": 1}, "2": {"b": 0}}), every=True)
    assert (nothing.counted().tolist(), nothing.nonrelevant().tolist()) == ([1, 0], [0, 1])
    assert nothing.nothing_relevant == []


def test_grades_as_they_were_judged() -> None:
    judged = judge(read_run(RUN), prepare(read_qrels(QRELS)))
    assert judged.as_judged.tolist() == [2, 0, -1, 200, 0]
    assert judged.place.tolist() == [0, 1, 2, 3, -1]
    assert judged.returned.tolist() == [5, 0]
    plain = judge(read_run(RUN), prepare(read_qrels(QRELS), highest=float("inf")))
    assert plain.as_judged is plain.grade
    part = judged.part(judged.grade == 0)
    assert (part.row.tolist(), part.place.tolist(), part.judged.tolist()) == (
        [1, 3, 4],
        [1, 3, -1],
        [True, True, False],
    )


def test_stray_topics_are_those_nobody_judged() -> None:
    qrels = read_qrels(QRELS)
    stray = judge(read_run({"9": {"a": 1.0}, "1": {"rel": 1.0}, "8": {"a": 1.0}, "2": {"x": 1.0}}), prepare(qrels))
    assert (stray.stray, stray.missing, stray.row.tolist()) == (["8", "9"], ["3"], [1])
    assert judge(read_run({"1": {"rel": 1.0}}), prepare(qrels)).stray == []


def test_what_depends_on_judgments_alone_is_computed_once() -> None:
    judgments, calls = prepare(read_qrels(QRELS)), []

    def compute() -> Floats:
        calls.append(1)
        return np.ones(2)

    assert judgments.kept("a", compute) is judgments.kept("a", compute)
    assert len(calls) == 1
