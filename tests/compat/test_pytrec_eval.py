"""The drop-in for pytrec_eval: same arguments, same keys, same values."""

from __future__ import annotations

import gc
import io
import math
from typing import Any

import numpy as np
import pytest
import pytrec_eval as original
from hypothesis import given
from hypothesis import strategies as st

from exaequo.compat import pytrec_eval as ours
from helpers import Grades, Sims, collections

MEASURES = st.sets(
    st.sampled_from(
        [
            *sorted(original.supported_measures),
            *("P_5", "P.1,3", "ndcg_cut_10", "recall.2,7", "map_cut_3", "success_2", "relative_P.4", "set_F_0.5"),
            *("iprec_at_recall_0.30", "Rprec_mult_0.50", "official", "all_trec", "set"),
        ]
    ),
    min_size=1,
    max_size=5,
)


def test_names() -> None:
    assert ours.supported_measures == original.supported_measures
    assert {name: set(group) for name, group in ours.supported_nicknames.items()} == {
        name: set(group) for name, group in original.supported_nicknames.items()
    }


@given(collections(), MEASURES, st.integers(1, 3), st.booleans())
def test_same_values(collection: tuple[Grades, Sims], measures: set[str], level: int, judged_only: bool) -> None:
    qrels, run = collection
    # Where all judgments of a topic are below 0, or below the level, the original reads memory it has not set.
    whole = {
        topic: {docno: int(grade) for docno, grade in judged.items()}
        for topic, judged in qrels.items()
        if max(judged.values()) >= level
    }
    expected = original.RelevanceEvaluator(whole, measures, level, judged_only).evaluate(run)
    found = ours.RelevanceEvaluator(whole, measures, level, judged_only).evaluate(run)
    assert set(found) == set(expected)
    for topic, figures in expected.items():
        assert list(found[topic]) == list(figures)
        assert found[topic] == pytest.approx(figures, abs=1e-12, nan_ok=True)


def test_more_than_the_original_takes() -> None:
    qrels: dict[int, dict[int, Any]] = {1: {10: np.int64(1), 11: 0.5}, 2: {10: 1}}
    run: dict[int, dict[int, Any]] = {1: {10: np.float32(0.5), 11: 1}, 3: {10: 1.0}}
    found = ours.RelevanceEvaluator(qrels, {"map", "ndcg"}).evaluate(run)
    assert found["1"]["map"] == 0.5
    assert found["1"]["ndcg"] == pytest.approx((0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3)))
    assert set(found) == {"1"}


def test_fair_ties() -> None:
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.0, "b": 1.0}}
    values = {
        ties: ours.RelevanceEvaluator(qrels, {"recip_rank"}, ties=ties).evaluate(run)["1"]["recip_rank"]
        for ties in ("conventional", "realistic", "optimistic")
    }
    assert values == {"conventional": 0.5, "realistic": 0.5, "optimistic": 1.0}


def test_nothing_to_evaluate() -> None:
    assert ours.RelevanceEvaluator({"1": {"a": 1}}, {"map"}).evaluate({}) == {}
    assert ours.RelevanceEvaluator({}, {"map"}).evaluate({"1": {"a": 1.0}}) == {}
    with pytest.raises(ValueError, match="unsupported measure nosuch"):
        ours.RelevanceEvaluator({"1": {"a": 1}}, {"nosuch"})


def test_topics_with_nothing_returned_count() -> None:
    qrels = {"1": {"a": 1}, "2": {"d": 1}}
    run: dict[str, dict[str, float]] = {"1": {}, "2": {"d": 1.0}}
    nothing: dict[str, dict[str, float]] = {"1": {}}
    for scores in (run, nothing):
        expected = original.RelevanceEvaluator(qrels, {"map", "num_ret", "P_5"}).evaluate(scores)
        assert ours.RelevanceEvaluator(qrels, {"map", "num_ret", "P_5"}).evaluate(scores) == expected
    assert ours.RelevanceEvaluator(qrels, set()).evaluate(run) == {"1": {}, "2": {}}
    with pytest.raises(TypeError, match="positive"):
        ours.RelevanceEvaluator(qrels, {"map"}, relevance_level=0)


def test_nothing_is_kept_of_what_was_evaluated() -> None:
    """A training loop evaluates again and again, and Python looks for circles of objects but now and then."""
    qrels, run = {"1": {"a": 1, "b": 0, "c": 2}}, {"1": {"a": 0.5, "c": 0.5, "d": 0.1}}
    for _ in range(2):
        gc.collect()
        gc.disable()
        try:
            ours.RelevanceEvaluator(qrels, {"all_trec"}).evaluate(run)
            left = gc.collect()
        finally:
            gc.enable()
    assert not left


def test_parsing() -> None:
    run = "1 Q0 a 1 0.5 r\n2 Q0 b 1 1e-5 r\n1 Q0 c 2 0.25 r\n"
    qrel = "1 0 a 1\n1 0 b 0\n2 0 a 2\n"
    in_order = "1 Q0 a 1 0.5 r\n1 Q0 c 2 0.25 r\n2 Q0 b 1 1e-5 r\n"
    for text in (run, in_order, run.replace(" ", "\t"), in_order.replace("a", "é")):
        assert ours.parse_run(io.StringIO(text)) == dict(original.parse_run(io.StringIO(text)))
        assert ours.parse_run(text.splitlines()) == dict(original.parse_run(text.splitlines()))
    parsed = ours.parse_qrel(io.StringIO(qrel))
    assert parsed == dict(original.parse_qrel(io.StringIO(qrel)))
    assert all(type(value) is int for judged in parsed.values() for value in judged.values())
    beyond = "1 0 a 1\n1 0 b 10000000000000000000\n"  # integers of NumPy end before
    assert ours.parse_qrel(io.StringIO(beyond)) == dict(original.parse_qrel(io.StringIO(beyond)))
    assert ours.parse_qrel(io.StringIO("1 0 a 0.5\n1 0 b 1\n")) == {"1": {"a": 0.5, "b": 1}}
    assert ours.parse_run(io.StringIO("")) == {}
    assert ours.parse_run(io.StringIO(run))["new"] == {}
    with pytest.raises(ValueError, match="2 fields"):
        ours.parse_run(["1 Q0"])


@pytest.mark.parametrize("measure", ["map", "num_ret", "gm_map"])
def test_aggregates(measure: str) -> None:
    values = [0.5, -0.25, 1.0, 0.125]
    expected = original.compute_aggregated_measure(measure, values)
    assert ours.compute_aggregated_measure(measure, values) == pytest.approx(expected, abs=1e-15)
