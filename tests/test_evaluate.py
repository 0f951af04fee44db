"""Evaluating: policies, warnings, and the table that comes out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

import exaequo
from exaequo import BadParameter, DataWarning, InputError, MissingTopics, UnknownMeasure, evaluate

QRELS = {"1": {"a": 1, "b": 2}, "2": {"a": 1}, "3": {"a": 0}}
RUN = {"1": {"a": 2.0, "x": 1.0, "b": 1.0}}


def test_missing_topics_score_zero_and_are_reported() -> None:
    with pytest.warns(DataWarning) as caught:
        scores = evaluate(QRELS, RUN, "AP", ties="all")
    text = "\n".join(str(warning.message) for warning in caught)
    assert "1 topic with nothing relevant left out of all averages: 3" in text
    assert "1 of 2 evaluated topics missing: 2; scored as empty lists" in text
    assert scores.mean("AP", ties="optimistic") == 0.5
    assert scores.mean("AP", ties="realistic") == pytest.approx((1 + 2 / 3) / 4)
    assert scores.topics["topic"].to_list() == ["1", "2"] * 3


def test_missing_topics_may_be_skipped_or_refused() -> None:
    with pytest.warns(DataWarning, match="left out"):
        scores = evaluate(QRELS, RUN, ["AP", "NumQ"], missing="skip", ties="optimistic")
    assert (scores.mean("AP"), scores.mean("NumQ")) == (1.0, 1.0)
    with pytest.raises(MissingTopics, match="1 of 2 evaluated topics missing: 2"):
        evaluate(QRELS, RUN, "AP", missing="error")


def test_other_warnings() -> None:
    with pytest.warns(DataWarning) as caught:
        evaluate({"1": {"a": 200, "b": 1}}, {"1": {"a": 1.0}, "zz": {"a": 1.0}}, ["AP", "P(rel=2)@5"])
    text = "\n".join(str(warning.message) for warning in caught)
    assert "1 judgment above 127 taken as not relevant" in text
    assert "1 topic nobody judged, ignored: zz" in text
    assert "1 topic with nothing relevant at rel=2, scored there like lists that find nothing" in text
    assert evaluate({"1": {"a": 200}}, {"1": {"a": 1.0}}, "AP", max_grade=math.inf).mean("AP") == 1


def test_a_run_of_another_collection_is_refused() -> None:
    with pytest.raises(InputError, match=r"its only topic is not judged \(q1\); expected topics such as 1"):
        evaluate({"1": {"a": 1}}, {"q1": {"a": 1.0}}, "AP")


def test_nothing_relevant_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="no relevant document in 1 topic"):
        evaluate({"1": {"a": 0}}, {"1": {"a": 1.0}}, "AP")
    with pytest.raises(InputError, match="no relevant document in 1 topic"):
        evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, "AP", rel_level=2)


def test_the_tidy_table() -> None:
    qrels, runs = exaequo.sample()
    scores = evaluate(qrels, runs, ["AP", "P@10"], ties=["realistic", "conventional"])
    table = scores.to_polars()
    assert table.columns == ["run", "ties", "topic", "measure", "value"]
    assert table.schema == {**dict.fromkeys(table.columns, pl.String), "value": pl.Float64}
    assert table.height == 6 * 2 * 2 * 26
    assert scores.means.height == 6 * 2 * 2
    assert scores.to_polars(means=False).equals(scores.topics)
    assert isinstance(scores.to_pandas(), pd.DataFrame)
    assert scores.to_pandas().shape == table.shape
    nested = scores.to_dict()
    for run, ties, topic, measure, value in scores.topics.rows():
        assert nested[run][ties][topic][measure] == value
    by_hand = scores.topics.group_by("run", "ties", "measure").agg(pl.col("value").mean())
    joined = scores.means.join(by_hand, on=["run", "ties", "measure"])
    assert joined.height == scores.means.height
    assert (joined["value"] - joined["value_right"]).abs().max() < 1e-15  # type: ignore[operator]


def test_mean_asks_for_what_is_open() -> None:
    qrels, runs = exaequo.sample()
    scores = evaluate(qrels, runs, ["AP", "P@10"])
    assert scores.mean("MAP", run="bm25") == scores.mean(exaequo.measures.AP, run="bm25", ties="realistic")
    with pytest.raises(BadParameter, match=r"run must be one of bm25, .* Got nothing"):
        scores.mean("AP")
    with pytest.raises(BadParameter, match="measure must be one of AP, P@10"):
        scores.mean("P@5", run="bm25")


def test_strategies_that_ties_change() -> None:
    qrels, runs = exaequo.sample()
    scores = evaluate(qrels, runs, ["AP", "NumRet"], interval=True)
    assert {effect.run for effect in scores.tie_effects} == {"boolean", "dense-fp16", "llm-judge", "logprob"}
    for effect in scores.tie_effects:
        assert effect.realistic <= effect.conventional <= effect.optimistic
        for ties in ("realistic", "conventional", "optimistic"):
            other = evaluate(qrels, runs, "AP", ties=ties).mean("AP", run=effect.run)
            assert getattr(effect, ties) == other


def test_display() -> None:
    qrels, runs = exaequo.sample()
    scores = evaluate(qrels, runs[:2], ["AP"])
    assert "ties: realistic · 25 topics" in repr(scores)
    assert "<table>" in scores._repr_html_()
    named = evaluate(qrels, {"<script>": runs[0]}, "AP")
    assert "<script>" not in named._repr_html_()


@pytest.mark.parametrize("ties", ["fair", ["realistic", "fair"], []])
def test_bad_requests(ties: str | list[str]) -> None:
    with pytest.raises(BadParameter):
        evaluate(QRELS, RUN, "AP", ties=ties)


def test_requests_of_the_wrong_type() -> None:
    bad: list[dict[str, Any]] = [
        {"depth": "10"},
        {"depth": 1.5},
        {"depth": True},
        {"rel_level": "2"},
        {"max_grade": None},
        {"seed": -1},
        {"seed": 1.5},
        {"ties": None},
        {"measures": None},
        {"measures": 5},
    ]
    for options in bad:
        with pytest.raises(BadParameter):
            evaluate(QRELS, RUN, **{"measures": "AP", **options})


def test_skipping_every_topic_is_refused() -> None:
    with pytest.raises(InputError, match="none of its topics has a relevant document"):
        evaluate({"1": {"a": 1}, "2": {"a": 0}}, {"2": {"a": 1.0}}, "AP", missing="skip")


def test_more_warnings() -> None:
    with pytest.warns(DataWarning, match="a topic is called 'all'"):
        evaluate({"all": {"a": 1}}, {"all": {"a": 1.0}}, "AP")
    with pytest.warns(DataWarning, match="too large for single precision"):
        evaluate({"1": {"a": 1}}, {"1": {"a": 1e300, "b": 1e301}}, "AP", precision="single")


def test_a_generator_of_runs() -> None:
    qrels, runs = exaequo.sample()
    assert evaluate(qrels, (run for run in runs), "AP").runs == [run.name for run in runs]


def test_more_bad_requests() -> None:
    with pytest.raises(BadParameter, match="No measure"):
        evaluate(QRELS, RUN, [])
    with pytest.raises(UnknownMeasure):
        evaluate(QRELS, RUN, "Foo")
    with pytest.raises(BadParameter, match="No run"):
        evaluate(QRELS, [], "AP")
    bad: list[dict[str, Any]] = [{"rel_level": 0.0}, {"rel_level": float("nan")}, {"max_grade": 0.0}]
    for options in bad:
        with pytest.raises(BadParameter, match="must be a number above 0"):
            evaluate(QRELS, RUN, "AP", **options)
    with pytest.raises(BadParameter, match=r"depth must be a whole number ≥ 1. Got 0"):
        evaluate(QRELS, RUN, "AP", depth=0)
    with pytest.raises(BadParameter, match="missing must be one of"):
        evaluate(QRELS, RUN, "AP", missing="maybe")


def test_three_documents_of_the_readme() -> None:
    qrels = {"031": {"WSJ5": 1, "other1": 1, "other2": 1, "other3": 1, "other4": 1}}
    before = {"031": {"LA12": 0.8, "WSJ5": 0.8, "FT8": 0.5}}
    named = {"031": {"AP8": 1, "other1": 1, "other2": 1, "other3": 1, "other4": 1}}
    after = {"031": {"LA12": 0.8, "AP8": 0.8, "FT8": 0.5}}
    assert evaluate(qrels, before, "AP", ties="conventional").mean("AP") == pytest.approx(0.2)
    assert evaluate(named, after, "AP", ties="conventional").mean("AP") == pytest.approx(0.1)
    assert evaluate(qrels, before, "AP").mean("AP") == evaluate(named, after, "AP").mean("AP") == pytest.approx(0.1)


FEW = ({"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"b": 1.0, "a": 0.5}})


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda **more: exaequo.evaluate(*FEW, "AP", **more), "evaluate"),
        (lambda **more: exaequo.compare(FEW[0], [FEW[1]] * 2, "AP", **more), "compare"),
        (lambda **more: exaequo.gate(FEW[0], FEW[1], FEW[1], "AP", **more), "gate"),
        (lambda **more: exaequo.audit_ties(*FEW, "AP", **more), "audit_ties"),
        (lambda **more: exaequo.explain(*FEW, "1", "AP", **more), "explain"),
        (lambda **more: exaequo.report(*FEW, "x.html", **more), "report"),
        (lambda **more: exaequo.study.study("nowhere", "x", **more), "study"),
    ],
)
def test_a_keyword_that_does_not_exist(call: Callable[..., object], name: str) -> None:
    """Nothing that is not offered gets through to the record of options: strategies least of all."""
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'max_grad'; did you mean"):
        call(max_grad=3)
    if name in ("audit_ties", "report", "study"):
        with pytest.raises(TypeError, match="'ties'"):
            call(ties=("optimistic",))
