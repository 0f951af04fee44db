"""Models of readers, compatibility, subtopics, and measures that are undefined for some topics, against references."""

from __future__ import annotations

from collections import namedtuple
from fractions import Fraction
from pathlib import Path

import ir_measures
import numpy as np
import pyndeval
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo.errors import BadParameter, InputError
from helpers import Grades, Sims, collections, evaluate, values

SubtopicQrel = namedtuple("SubtopicQrel", "query_id doc_id relevance iteration")
#: judgments by (topic, subtopic, document)
Diverse = dict[tuple[str, str, str], int]


def untied(run: Sims) -> Sims:
    """The same documents with scores that differ, all above 0."""
    return {topic: {docno: 100.0 - at for at, docno in enumerate(docs)} for topic, docs in run.items()}


@given(collections(grades=(-1, 0, 1, 2, 3, 4)))
def test_readers_as_in_cwl_eval(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection[0], untied(collection[1])
    whole = {topic: {docno: int(grade) for docno, grade in docs.items()} for topic, docs in qrels.items()}
    pairs = {
        "INST": ir_measures.INST(T=1.0, max_rel=4),
        "INST(T=3)": ir_measures.INST(T=3.0, max_rel=4),
        "BPM@5": ir_measures.BPM(T=1.0, max_rel=4) @ 5,
        "BPM(T=2)@20": ir_measures.BPM(T=2.0, max_rel=4) @ 20,
        "SDCG@3": ir_measures.SDCG(max_rel=4) @ 3,
        "SDCG@20": ir_measures.SDCG(max_rel=4) @ 20,
        "INSQ": ir_measures.INSQ(T=1.0, max_rel=4),
        "INSQ(T=0.3)": ir_measures.INSQ(T=0.3, max_rel=4),
        "NERR8@3": ir_measures.NERR8(max_rel=4) @ 3,
        "NERR8@1200": ir_measures.NERR8(max_rel=4) @ 1200,
        "NERR9@5": ir_measures.NERR9(max_rel=4) @ 5,
        "NERR10": ir_measures.NERR10(p=0.9, max_rel=4),
        "NERR10(p=0.5)": ir_measures.NERR10(p=0.5, max_rel=4),
        "NERR11(T=2)": ir_measures.NERR11(T=2.0, max_rel=4),
        "Compat": ir_measures.Compat(p=0.95),
        "Compat(p=0.5)": ir_measures.Compat(p=0.5),
        "Compat(p=0.8,normalize=False)": ir_measures.Compat(p=0.8, normalize=False),
    }
    expected = {
        (metric.query_id, str(metric.measure)): metric.value
        for metric in ir_measures.iter_calc(list(pairs.values()), whole, run)
    }
    table = evaluate(qrels, run, list(pairs)).to_dict()["run"]["realistic"]
    for topic in set(table) & set(run):
        for ours, theirs in pairs.items():
            assert table[topic][ours] == pytest.approx(expected[topic, str(theirs)], rel=1e-9, abs=1e-12), ours


def test_inst_by_hand() -> None:
    # T = 1, one document of full gain: C(1) = ((1 + 1 + 0 − 1) / (1 + 1 + 0))² = 1/4, then (2/3)², (3/4)² …,
    # so that the weights are 1, 1/4, 1/9, … and their sum over 1000 ranks is that of the inverse squares.
    expected = 1 / sum(1 / rank**2 for rank in range(1, 1001))
    assert values({"t": {"a": 1}}, {"t": {"a": 1.0}}, "INST(max_rel=1)")["t"] == pytest.approx(expected, rel=1e-14)
    with pytest.raises(BadParameter, match=r"T ≥ 0\.5"):
        values({"t": {"a": 1}}, {"t": {"a": 1.0}}, "INST(T=0.1)")


def test_inst_looks_at_a_thousand() -> None:
    long = {"t": {f"d{rank}": -float(rank) for rank in range(1, 1500)}}
    qrels = {"t": {"d3": 1, "d999": 1, "d1200": 1}}
    with_tail = values(qrels, long, "INST(max_rel=1)")["t"]
    cut = {"t": {docno: sim for docno, sim in long["t"].items() if sim >= -1000}}
    assert values(qrels, cut, "INST(max_rel=1)")["t"] == pytest.approx(with_tail, rel=1e-12)
    assert ir_measures.calc_aggregate([ir_measures.INST(T=1.0, max_rel=1)], qrels, long)[
        ir_measures.INST(T=1.0, max_rel=1)
    ] == pytest.approx(with_tail, rel=1e-9)


def test_nearly_err_by_hand() -> None:
    # Gains 1/2, 0, 1/2: weights 1, 1/2, 1/2 times what the rank alone gives.
    qrels, run = {"t": {"a": 1, "c": 1}}, {"t": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    bases: dict[str, list[float]] = {
        "NERR8(max_rel=2)@4": [1, 1, 1, 1],
        "NERR9(max_rel=2)@3": [1, 1 / 2, 1 / 3],
        "NERR10(p=0.1,max_rel=2)": [0.1**i for i in range(20)],
        "NERR11(max_rel=2)": [(2 / (i + 2)) ** 2 for i in range(1000)],
    }
    for measure, base in bases.items():
        weights = [w * each for w, each in zip([1, 1 / 2, 1 / 2] + [1 / 4] * 997, base, strict=False)]
        expected = (weights[0] + weights[2]) / 2 / sum(weights)
        assert values(qrels, run, measure)["t"] == pytest.approx(expected, rel=1e-12), measure
    assert values(qrels, run, "INSQ(T=0.5,max_rel=2)")["t"] == pytest.approx(
        (1 + 1 / 9) / 2 / sum(1 / i**2 for i in range(1, 1001))
    )


def test_bpm_by_hand() -> None:
    qrels = {"t": {"d0": 2, "d1": 1, "d2": 0, "d3": 1, "d4": 0}}
    run = {"t": {"d0": 0.0, "d1": 0.0, "d2": 1.0, "d3": 2.0, "d4": 1.0}}
    scores = evaluate(qrels, run, ["BPM(max_rel=3)@5"], ties=["realistic", "optimistic"])
    realistic, optimistic = (block.values[0, 0] for block in scores.blocks)
    assert realistic == pytest.approx(4 / 3 / 5)  # grades 1 0 0 1 2: three thirds are reached at the fifth
    assert optimistic == pytest.approx(3 / 3 / 4)  # grades 1 0 0 2: reached at the fourth


@st.composite
def diverse(draw: st.DrawFn) -> tuple[Diverse, Sims]:
    documents = [f"d{number}" for number in range(9)]
    keys = st.tuples(st.sampled_from(["1", "2"]), st.sampled_from(["a", "b", "c"]), st.sampled_from(documents))
    judged = draw(st.dictionaries(keys, st.sampled_from([-2, 0, 1, 1, 2]), min_size=3, max_size=25))
    judged["1", "a", "d0"] = 1
    lists = st.lists(st.sampled_from([*documents, "new"]), unique=True, min_size=1)
    order = {topic: draw(lists) for topic in ("1", "2")}
    return judged, {topic: {docno: 50.0 - at for at, docno in enumerate(docs)} for topic, docs in order.items()}


def as_tuples(judged: Diverse) -> list[SubtopicQrel]:
    return [SubtopicQrel(topic, docno, rel, subtopic) for (topic, subtopic, docno), rel in judged.items()]


@given(diverse(), st.sampled_from([0.5, 0.25]), st.sampled_from([1, 2]), st.booleans())
def test_subtopics_as_in_ndeval(collection: tuple[Diverse, Sims], alpha: float, level: int, only_one: bool) -> None:
    judged, run = collection
    judged = {key: rel for key, rel in judged.items() if key[1] == "a" or not only_one}
    theirs = [pyndeval.SubtopicQrel(topic, sub, docno, rel) for (topic, sub, docno), rel in judged.items()]
    scored = [pyndeval.ScoredDoc(topic, docno, sim) for topic, docs in run.items() for docno, sim in docs.items()]
    names = [
        "alpha-nDCG@2",
        "alpha-nDCG@10",
        "ERR-IA@3",
        "ERR-IA@20",
        "strec@1",
        "strec@5",
        "alpha-DCG@2",
        "alpha-DCG@10",
    ]
    names += ["nERR-IA@1", "nERR-IA@10", "P-IA@1", "P-IA@10", "NRBP", "nNRBP", "MAP-IA"]
    expected = pyndeval.RelevanceEvaluator(theirs, names, relevance_level=level, alpha=alpha).evaluate(scored)
    ours = [
        *(f"alpha_nDCG(alpha={alpha},rel={level})@{k}" for k in (2, 10)),
        *(f"ERR_IA(alpha={alpha},rel={level})@{k}" for k in (3, 20)),
        *(f"StRecall(rel={level})@{k}" for k in (1, 5)),
        *(f"alpha_DCG(alpha={alpha},rel={level})@{k}" for k in (2, 10)),
        *(f"nERR_IA(alpha={alpha},rel={level})@{k}" for k in (1, 10)),
        *(f"P_IA(rel={level})@{k}" for k in (1, 10)),
        *(f"{name}(alpha={alpha},rel={level})" for name in ("NRBP", "nNRBP")),
        f"MAP_IA(rel={level})",
    ]
    table = evaluate(as_tuples(judged), run, ours).blocks[0]
    for column, topic in enumerate(table.topics):
        if any(rel >= level for (mine, *_), rel in judged.items() if mine == topic):
            for row, name in enumerate(names):
                assert table.values[row, column] == pytest.approx(expected[topic][name], rel=1e-12), (topic, name)


def test_intents_by_hand() -> None:
    # a is relevant to x, b to x and y, c to y; the list is c a b.
    judged = [SubtopicQrel("t", docno, 1, sub) for docno, sub in ("ax", "bx", "by", "cy")]
    run = {"t": {"c": 3.0, "a": 2.0, "b": 1.0}}
    x, y = (1 / 2 + 2 / 3) / 2, (1 + 2 / 3) / 2
    assert values(judged, run, "MAP_IA")["t"] == pytest.approx((x + y) / 2)
    assert values(judged, run, "P_IA@3")["t"] == pytest.approx(4 / 6)
    novel = 1 + 1 / 2 + (1 / 2 + 1 / 2) / 4  # y, then x, then both for the second time
    assert values(judged, run, "NRBP")["t"] == pytest.approx((1 - 1 / 4) / 2 * novel)
    assert values(judged, run, "nNRBP")["t"] == pytest.approx(novel / (2 + 1 / 2 / 2 + 1 / 2 / 4))  # b c a
    assert values(judged, run, "nERR_IA@2")["t"] == pytest.approx((1 + 1 / 2) / (2 + 1 / 2 / 2))
    assert values(judged, run, "alpha_DCG@1")["t"] == pytest.approx(1 / 2)


@given(collections())
def test_one_subtopic_is_a_topic(collection: tuple[Grades, Sims]) -> None:
    pairs = {"MAP_IA": "AP", "P_IA@5": "P@5", "NRBP(p=0.8,alpha=0)": "RBP"}
    for figures in evaluate(*collection, [*pairs, *pairs.values()]).to_dict()["run"]["realistic"].values():
        for one, other in pairs.items():
            assert figures[one] == pytest.approx(figures[other], abs=1e-12), one


def test_subtopics_from_files(tmp_path: Path) -> None:
    qrels = tmp_path / "diversity.qrels"
    qrels.write_text("1 1 a 1\n1 2 a 2\n1 2 b 1\n1 3 c 0\n2 1 a 1\n")
    run = tmp_path / "run"
    run.write_text("1 Q0 b 1 3 me\n1 Q0 a 2 2 me\n2 Q0 a 1 1 me\n")
    read = exaequo.read_qrels(qrels)
    assert read.frame.select("qid", "docno", "rel").rows() == [
        ("1", "a", 2.0),
        ("1", "b", 1.0),
        ("1", "c", 0.0),
        ("2", "a", 1.0),
    ]
    with pytest.warns(exaequo.DataWarning, match="1 document judged again for another subtopic"):
        table = exaequo.evaluate(qrels, run, "StRecall@1 StRecall@2 nDCG P@2").to_dict()["me"]["realistic"]
    assert (table["1"]["StRecall@1"], table["1"]["StRecall@2"]) == (0.5, 1.0)
    assert table["1"]["P@2"] == 1.0
    # As a table, the same; and the same line twice is still refused.
    (tmp_path / "q.csv").write_text("qid,iteration,docno,rel\n1,1,a,1\n1,2,a,2\n1,2,b,1\n1,3,c,0\n2,1,a,1\n")
    assert exaequo.read_qrels(tmp_path / "q.csv").frame.equals(read.frame)
    qrels.write_text("1 1 a 1\n1 2 a 2\n1 2 a 1\n")
    with pytest.raises(InputError, match="line 2"):
        exaequo.read_qrels(qrels)


def test_names_of_subtopics_change_nothing() -> None:
    random = np.random.Generator(np.random.PCG64(3))
    for _ in range(40):
        pairs = random.random((30, 6)) < 0.3
        found = []
        for names in ("abcdef", "fbdace", "cadbef"):
            lines = [SubtopicQrel("t", f"d{i:02}", 1, names[j]) for i, j in zip(*np.nonzero(pairs), strict=True)]
            found.append(
                values(lines, {"t": {f"d{i:02}": -float(i) for i in range(30)}}, "alpha_nDCG(alpha=0.3)@20")["t"]
            )
        assert found[1:] == pytest.approx([found[0]] * 2, rel=1e-12)


def test_grades_too_high_of_one_subtopic() -> None:
    judged = [SubtopicQrel("1", "a", 200, "x"), SubtopicQrel("1", "a", 1, "y"), SubtopicQrel("1", "b", 1, "x")]
    assert values(judged, {"1": {"a": 2.0, "b": 1.0}}, "P@1")["1"] == 1
    assert values(judged, {"1": {"a": 2.0, "b": 1.0}}, "StRecall@1")["1"] == 0.5


def slow_break_even(judged: dict[str, float], run: dict[str, float]) -> Fraction | None:
    """Walk down the distinct scores with exact fractions."""
    n = sum(grade > 0 for grade in judged.values())
    points = []
    for sim in sorted(set(run.values()), reverse=True):
        above = [docno for docno, own in run.items() if own >= sim]
        found = sum(judged.get(docno, 0) > 0 for docno in above)
        points.append((Fraction(found, len(above)), Fraction(found, n)))
    for at, (p, r) in enumerate(points):
        if p == r > 0:
            return p
        if at + 1 < len(points):
            (p2, r2), gap = points[at + 1], p - r
            if gap * (p2 - r2) < 0:
                return (r2 * p - r * p2) / (r2 - r + p - p2)  # the formula of the source
    return Fraction(0) if any(p == r for p, r in points) else None


@settings(max_examples=150)
@given(collections())
def test_break_even_score_by_score(collection: tuple[Grades, Sims]) -> None:
    check_break_even(*collection)


@pytest.mark.soak
@settings(max_examples=3000)
@given(collections())
def test_break_even_score_by_score_at_length(collection: tuple[Grades, Sims]) -> None:
    check_break_even(*collection)


def check_break_even(qrels: Grades, run: Sims) -> None:
    for topic, value in values(qrels, run, "BreakEven").items():
        if topic in run:
            expected = slow_break_even(qrels[topic], run[topic])
            assert np.isnan(value) if expected is None else value == pytest.approx(float(expected), abs=1e-12)


@given(collections())
def test_break_even_is_r_precision_without_ties(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection[0], untied(collection[1])
    table = evaluate(qrels, run, ["BreakEven", "Rprec"]).to_dict()["run"]["realistic"]
    for topic, figures in table.items():
        n = sum(grade > 0 for grade in qrels[topic].values())
        if topic in run and len(run[topic]) >= n and figures["Rprec"] > 0:
            assert figures["BreakEven"] == figures["Rprec"]


def test_undefined_topics_are_left_out_and_reported() -> None:
    qrels = {"1": {"a": 1, "b": 1, "c": 1}, "2": {"a": 1}, "3": {"a": 1, "x": 0}}
    run = {"1": {"a": 1.0}, "2": {"a": 1.0}, "3": {"a": 1.0, "x": 2.0, "y": 0.5}}
    with pytest.warns(exaequo.DataWarning, match="BreakEven undefined in 1 of 3 topics, left out of its mean"):
        exaequo.evaluate(qrels, run, "BreakEven")
    scores = evaluate(qrels, run, ["BreakEven", "gm(BreakEven)"], interval=True)
    assert np.isnan(scores.to_dict()["run"]["realistic"]["1"]["BreakEven"])
    assert scores.mean("BreakEven") == pytest.approx(0.5)  # 1 and 0
    assert scores.mean("gm(BreakEven)") == pytest.approx(1e-5**0.5)
    assert scores.tie_effects == ()
    with pytest.warns(exaequo.DataWarning, match="undefined in 3 of 3"):
        assert np.isnan(exaequo.evaluate(qrels, run, "PDoc(doc='nowhere')").mean("PDoc(doc='nowhere')"))


def test_precision_at_a_document() -> None:
    qrels = {"t": {"a": 1, "c": 1}}
    run = {"t": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    expected = {"a": 1, "b": 1 / 2, "c": 2 / 3, "d": 2 / 4}
    for docno, value in expected.items():
        assert values(qrels, run, f"PDoc(doc={docno!r})")["t"] == value
