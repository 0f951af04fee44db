"""The blended ratio, normalised ERR, and global gain over intents: by hand, against NTCIREVAL, and promises."""

from __future__ import annotations

from collections import namedtuple
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyNTCIREVAL import metrics

import exaequo
from exaequo.errors import BadParameter
from helpers import Grades, Sims, collections, evaluate, values

Line = namedtuple("Line", "qid docno rel iteration")


def untied(run: Sims) -> Sims:
    return {topic: {docno: -float(at) for at, docno in enumerate(docs)} for topic, docs in run.items()}


def test_q_by_hand() -> None:
    # Grades 1 0 2 in the list, 2 1 1 in the ideal one, which gain 2 3 4.
    qrels, run = {"t": {"a": 1, "b": 0, "c": 2, "d": 1}}, {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}
    first, second = (1 + 1) / (1 + 2), (2 + 3) / (3 + 4)
    assert values(qrels, run, "Q")["t"] == pytest.approx((first + second) / 3)
    assert values(qrels, run, "Q@2")["t"] == pytest.approx(first / 2)  # room for two
    assert values(qrels, run, "Q(beta=10)@1")["t"] == pytest.approx(11 / 21)


def test_normalised_err_by_hand() -> None:
    # A reader of a scale up to 2 stops with 1/4 at grade 1, with 3/4 at grade 2.
    qrels, run = {"t": {"a": 1, "c": 2}}, {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}
    own, ideal = 1 / 4 + 3 / 4 * 3 / 4 / 3, 3 / 4 + 1 / 4 * 1 / 4 / 2
    assert values(qrels, run, "nERR(max_rel=2)")["t"] == pytest.approx(own / ideal)
    assert values(qrels, run, "nERR(max_rel=2)@1")["t"] == pytest.approx(1 / 3)
    with pytest.raises(BadParameter, match="above max_rel=1"):
        values(qrels, run, "nERR(max_rel=1)")


def test_global_gain_by_hand() -> None:
    # Two intents, x and y: a has 2 for x, b has 1 for both, c 1 for y; z has no document above 0, and does not count.
    judged = [Line("t", *each) for each in (("a", 2, "x"), ("b", 1, "x"), ("b", 1, "y"), ("c", 1, "y"), ("d", 0, "z"))]
    run = {"t": {"c": 3.0, "a": 2.0}}  # global gains 1/2 and 1; at best 1, 1, 1/2
    gain = (1 / 2 + 1 / log2(3)) / (1 + 1 / log2(3))
    ratio = ((1 + 1 / 2) / (1 + 1) + (2 + 3 / 2) / (2 + 2)) / 2
    assert values(judged, run, "D_nDCG@2")["t"] == pytest.approx(gain)
    assert values(judged, run, "D_Q@2")["t"] == pytest.approx(ratio)
    assert values(judged, run, "Dsharp_nDCG@2")["t"] == pytest.approx((1 + gain) / 2)
    assert values(judged, run, "Dsharp_nDCG@1")["t"] == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert values(judged, run, "Dsharp_Q(gamma=0.25)@2")["t"] == pytest.approx(0.25 + 0.75 * ratio)


@given(collections())
def test_what_they_are_made_of(collection: tuple[Grades, Sims]) -> None:
    same = {
        "Q(beta=0)": "AP",
        "D_nDCG@3": "nDCG@3",
        "D_Q(beta=2)@3": "Q(beta=2)@3",
        "Dsharp_Q(gamma=1)@5": "StRecall@5",
    }
    for figures in evaluate(*collection, [*same, *same.values()]).to_dict()["run"]["realistic"].values():
        for one, other in same.items():
            assert figures[one] == pytest.approx(figures[other], abs=1e-12), one
    qrels, _ = collection
    n = sum(any(grade > 0 for grade in docs.values()) for docs in qrels.values())
    best = {topic: {docno: grade for docno, grade in docs.items() if grade > 0} for topic, docs in qrels.items()}
    for measure in ("Q", "Q@3", "nERR", "nERR@2", "Dsharp_nDCG@40", "D_Q@4"):
        assert [*values(qrels, best, measure).values()] == pytest.approx([1.0] * n), measure


@given(collections(grades=(-1, 0, 0, 1, 2, 3)), st.sampled_from([0.5, 1, 10]), st.sampled_from([1, 4, 20]))
def test_as_in_ntcireval(collection: tuple[Grades, Sims], beta: float, cutoff: int) -> None:
    qrels, run = collection[0], untied(collection[1])
    ours = [f"Q(beta={beta})", f"Q(beta={beta})@{cutoff}", f"nERR(max_rel=3)@{cutoff}", f"MSnDCG@{cutoff}"]
    table = evaluate(qrels, run, ours).to_dict()["run"]["realistic"]
    for topic in set(table) & set(run):
        grades = {docno: max(int(grade), 0) for docno, grade in qrels[topic].items()}
        number = [list(grades.values()).count(level) for level in range(4)]
        labelled = [(docno, grades.get(docno)) for docno in run[topic]]
        theirs = [
            metrics.QMeasure(number, [1, 2, 3], beta),
            metrics.QMeasure(number, [1, 2, 3], beta, cutoff),
            metrics.nERR(number, [1, 3, 7], cutoff),
            metrics.MSnDCG(number, [1, 2, 3], cutoff),
        ]
        expected = [metric.compute(labelled) for metric in theirs]
        assert [*table[topic].values()] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.data())
def test_global_gain_as_in_ntcireval(data: st.DataObject) -> None:
    documents = [f"d{number}" for number in range(7)]
    pairs = st.tuples(st.sampled_from(documents), st.sampled_from("abc"))
    judged = data.draw(st.dictionaries(pairs, st.sampled_from([0, 1, 2, 3]), max_size=15)) | {("d0", "a"): 1}
    order = data.draw(st.lists(st.sampled_from([*documents, "new"]), unique=True, min_size=1))
    intents = {intent for (_, intent), grade in judged.items() if grade > 0}
    gain = dict.fromkeys((docno for docno, _ in judged), 0.0)
    for (docno, _), grade in judged.items():
        gain[docno] += grade / len(intents)
    levels = sorted({round(each, 9) for each in gain.values()} | {0.0})
    level = {docno: levels.index(round(each, 9)) for docno, each in gain.items()}
    number = [list(level.values()).count(each) for each in range(len(levels))]
    labelled = [(docno, level.get(docno)) for docno in order]
    lines = [Line("t", docno, grade, intent) for (docno, intent), grade in judged.items()]
    run = {"t": {docno: -float(at) for at, docno in enumerate(order)}}
    for cutoff in (1, 3, 10):
        d_ndcg = metrics.MSnDCG(number, levels[1:], cutoff).compute(labelled)
        d_q = metrics.QMeasure(number, levels[1:], 1, cutoff).compute(labelled)
        assert values(lines, run, f"D_nDCG@{cutoff}")["t"] == pytest.approx(d_ndcg, rel=1e-7)
        assert values(lines, run, f"D_Q@{cutoff}")["t"] == pytest.approx(d_q, rel=1e-7)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("Q-measure@10", "Q@10"),
        ("MSnDCG@10", "nDCG@10"),
        ("I-rec@10", "StRecall@10"),
        ("D-nDCG@10", "D_nDCG@10"),
        ("D#-nDCG@10", "Dsharp_nDCG@10"),
        ("D♯-Q@10", "Dsharp_Q@10"),
        ("MAP-IA", "MAP_IA"),
    ],
)
def test_names_of_ntcireval(theirs: str, ours: str) -> None:
    assert str(exaequo.parse_measure(theirs)) == ours
