"""The drop-in for ir_measures: same objects, same figures, one ranking."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import ir_measures as original
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exaequo import UsageError
from exaequo.compat import ir_measures as ours
from exaequo.compat.ir_measures import AP, RR, P, nDCG
from helpers import Grades, Sims, collections

NAMES = [
    *("AP", "AP@3", "AP(rel=2)@10", "AP(judged_only=True)", "P@1", "P(rel=2)@5", "P(judged_only=True)@5", "R@5"),
    *("R(rel=2)@100", "RR", "RR(rel=2)", "Rprec", "nDCG", "nDCG@3", "nDCG(gains={1:3,2:9})@5", "Bpref", "infAP"),
    *("Success@1", "Success(rel=2)@5", "IPrec@0.5", "IPrec@1.0", "SetP", "SetR", "SetF", "SetF(beta=2.0)", "SetAP"),
    *("SetP(relative=True)", "NumQ", "NumRel", "NumRet", "NumRet(rel=1)", "NumRet(rel=2)"),
]


def whole(qrels: Grades) -> dict[str, dict[str, int]]:
    """Judgments that pytrec_eval, the default provider, does not read beyond."""
    return {t: {d: int(g) for d, g in docs.items()} for t, docs in qrels.items() if max(docs.values()) >= 2}


@given(collections(), st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
def test_same_values(collection: tuple[Grades, Sims], names: list[str]) -> None:
    qrels, run = whole(collection[0]), collection[1]
    # One at a time: beside a judged_only measure the original's NumRet counts judged documents only.
    theirs = [original.parse_measure(name) for name in names]
    expected = {(m.query_id, str(m.measure)): m.value for t in theirs for m in original.iter_calc([t], qrels, run)}
    found = {(m.query_id, str(m.measure)): m.value for m in ours.iter_calc(names, qrels, run)}
    assert found == pytest.approx(expected, abs=1e-12)
    aggregated = {str(m): v for t in theirs for m, v in original.calc_aggregate([t], qrels, run).items()}
    got = {str(m): v for m, v in ours.calc_aggregate(names, qrels, run).items()}
    assert got == pytest.approx(aggregated, abs=1e-12)


@given(collections(grades=(0, 1, 2, 3, 4)))
def test_same_values_without_ties(collection: tuple[Grades, Sims]) -> None:
    """RR@k and Judged@k come from other providers, which order ties differently: compared where nothing is tied."""
    qrels, lists = whole(collection[0]), collection[1]
    run = {topic: {docno: float(at) for at, docno in enumerate(docs)} for topic, docs in lists.items()}
    names = ["RR@1", "RR@5", "RR(rel=2)@3", "Judged@2", "Judged@10"]
    theirs = [original.parse_measure(name) for name in names]
    expected = {(m.query_id, str(m.measure)): m.value for m in original.iter_calc(theirs, qrels, run)}
    found = {(m.query_id, str(m.measure)): m.value for m in ours.iter_calc(names, qrels, run)}
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", [*NAMES, "nDCG(dcg='exp-log2')@10", "RBP(p=0.9,rel=2)", "ERR@20", "Judged@10"])
def test_same_notation(name: str) -> None:
    assert str(ours.parse_measure(name)) == str(original.parse_measure(name))
    assert ours.parse_measure(original.parse_measure(name)) == ours.parse_measure(name)


@pytest.mark.parametrize(
    "name", ["P.5,10", "P.10,5", "P_5", "ndcg_cut", "map", "official", "set_F.0.5", "iprec_at_recall.0.2"]
)
def test_names_of_trec_eval(name: str) -> None:
    expected = [str(measure) for measure in original.parse_trec_measure(name)]
    assert [str(measure) for measure in ours.parse_trec_measure(name)] == expected


def test_one_ranking_for_all_measures() -> None:
    qrels, run = {"1": {"a": 1}}, {"1": dict.fromkeys("edcba", 1.0)}
    found = ours.calc_aggregate([RR, RR @ 10], qrels, run)
    assert found[RR] == found[RR @ 10] == 0.2
    assert RR.calc_aggregate(qrels, run, ties="optimistic") == 1.0


def test_objects() -> None:
    qrels = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [1, 0]})
    run = [ours.ScoredDoc("1", "b", 2.0), ours.ScoredDoc("1", "a", 1.0)]
    assert AP.calc_aggregate(qrels, run) == 0.5
    assert [metric.value for metric in (P @ 2).iter_calc(qrels, run)] == [0.5]
    assert (nDCG @ 1).calc(qrels, run).aggregated == 0.0
    assert (AP["rel"], AP.NAME, (P @ 5)["cutoff"]) == (1, "AP", 5)
    assert len(list(ours.iter_calc([AP, AP], qrels, run))) == 1
    evaluator = ours.evaluator([AP, P @ 1], qrels)
    assert evaluator.calc_aggregate({"1": {"a": 1.0}}) == {AP: 1.0, P @ 1: 1.0}
    assert AP.evaluator(qrels).calc_aggregate(run) == {AP: 0.5}
    with pytest.raises(UsageError, match="did you mean 'nDCG'"):
        ours.parse_measure("ndcg@10")


def test_expected_reciprocal_rank_and_rank_biased_precision() -> None:
    qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"a": 2.0, "x": 1.5, "b": 1.0}}
    assert (ours.ERR @ 20).calc_aggregate(qrels, run) == pytest.approx(3 / 16 + 13 / 16 * (1 / 16) / 3)
    assert ours.RBP(p=0.5, rel=1).calc_aggregate(qrels, run) == pytest.approx(0.5 * (1 + 0.25))


def test_nothing_returned_and_nothing_judged() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 1}, "5": {}}
    nothing: list[Any] = [{}, [], {"1": {}}]
    for run in nothing:
        assert ours.calc_aggregate([AP, RR @ 10], qrels, run) == {AP: 0.0, RR @ 10: 0.0}
    theirs = original.calc_aggregate([original.AP], qrels, {"1": {"a": 1.0}})
    assert list(ours.calc_aggregate([AP], qrels, {"1": {"a": 1.0}}).values()) == pytest.approx(list(theirs.values()))


def test_reading(tmp_path: Path) -> None:
    theirs: Any = original
    qrels, run = "1 0 a 1\n1 s b 2\n", "1 Q0 a 1 0.5 r\n1 Q0 b 2 0.25 r\n"
    (tmp_path / "q").write_text(qrels, encoding="utf-8")
    for source in (qrels, io.StringIO(qrels), str(tmp_path / "q")):
        again = io.StringIO(qrels) if isinstance(source, io.StringIO) else source
        assert [tuple(q) for q in ours.read_trec_qrels(source)] == [tuple(q) for q in theirs.read_trec_qrels(again)]
    assert [tuple(d) for d in ours.read_trec_run(run)] == [tuple(d) for d in theirs.read_trec_run(run)]
