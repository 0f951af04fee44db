"""The same numbers as other implementations: pytrec_eval, scikit-learn, ir_measures, and formulas written out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from sklearn import metrics

import exaequo
from helpers import Grades, Sims, collections, evaluate, values

PAIRS = {
    "AP": "map",
    "AP@3": "map_cut_3",
    "AP@10": "map_cut_10",
    "nDCG": "ndcg",
    "nDCG@3": "ndcg_cut_3",
    "nDCG@10": "ndcg_cut_10",
    "P@1": "P_1",
    "P@5": "P_5",
    "P@20": "P_20",
    "R@1": "recall_1",
    "R@5": "recall_5",
    "R@100": "recall_100",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Success@1": "success_1",
    "Success@5": "success_5",
    "Bpref": "bpref",
    "infAP": "infAP",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF": "set_F",
    "IPrec@0": "iprec_at_recall_0.00",
    "IPrec@0.5": "iprec_at_recall_0.50",
    "IPrec@1": "iprec_at_recall_1.00",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
}
LEVELLED = [ours for ours in PAIRS if ours.partition("@")[0] not in ("nDCG", "NumRet", "NumRel")]


def whole(qrels: Grades) -> dict[str, dict[str, int]]:
    """Judgments as pytrec_eval takes them. Where all of a topic are below 0 it reads memory it has not set."""
    return {
        topic: {docno: int(grade) for docno, grade in judged.items()}
        for topic, judged in qrels.items()
        if max(judged.values()) >= 0
    }


def with_pytrec_eval(qrels: Grades, run: Sims, level: int = 1) -> dict[str, dict[str, float]]:
    evaluator = pytrec_eval.RelevanceEvaluator(whole(qrels), set(PAIRS.values()), relevance_level=level)
    result: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return result


@given(collections())
def test_pytrec_eval(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    expected = with_pytrec_eval(qrels, run)
    scores = evaluate(qrels, run, list(PAIRS), ties="conventional", precision="single")
    table = scores.to_dict()["run"]["conventional"]
    compared = set(table) & set(expected)
    assert compared
    for topic in compared:
        for ours, theirs in PAIRS.items():
            assert table[topic][ours] == pytest.approx(expected[topic][theirs], abs=1e-12), (topic, ours)


@given(collections(grades=(0, 1, 2, 3)))
def test_pytrec_eval_at_level_two(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    expected = with_pytrec_eval(qrels, run, level=2)
    by_option = evaluate(qrels, run, LEVELLED, ties="conventional", precision="single", rel_level=2)
    by_measure = evaluate(qrels, run, [at_level_two(m) for m in LEVELLED], ties="conventional", precision="single")
    tables = [scores.to_dict()["run"]["conventional"] for scores in (by_option, by_measure)]
    for ours in LEVELLED:
        for table, name in zip(tables, (ours, at_level_two(ours)), strict=True):
            for topic in set(table) & set(expected):
                if any(grade >= 2 for grade in qrels[topic].values()):
                    assert table[topic][name] == pytest.approx(expected[topic][PAIRS[ours]], abs=1e-12), name


def at_level_two(measure: str) -> str:
    name, at, cutoff = measure.partition("@")
    return f"{name}(rel=2){at}{cutoff}"


@given(collections())
def test_set_f_of_trec_eval_takes_beta_squared(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    expected = pytrec_eval.RelevanceEvaluator(whole(qrels), {"set_F_0.25"}).evaluate(run)
    for topic, value in values(qrels, run, "SetF(beta=0.5)").items():
        if topic in expected:
            assert value == pytest.approx(expected[topic]["set_F"], abs=1e-12)


def untied(seed: int, n: int = 40) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    grades = random.integers(0, 4, n)
    grades[random.integers(n)] = 3
    return grades, random.permutation(n).astype(float)


@pytest.mark.parametrize("seed", range(20))
def test_scikit_learn(seed: int) -> None:
    grades, sims = untied(seed)
    qrels = {"t": {f"d{i}": int(grade) for i, grade in enumerate(grades)}}
    run = {"t": {f"d{i}": sim for i, sim in enumerate(sims)}}
    found = {m: values(qrels, run, m)["t"] for m in ("AP", "DCG", "DCG@7", "nDCG", "nDCG@7", "P@5", "R@5", "F@5")}
    top = sims >= np.sort(sims)[-5]
    assert found["AP"] == pytest.approx(metrics.average_precision_score(grades > 0, sims), abs=1e-12)
    assert found["DCG"] == pytest.approx(metrics.dcg_score([grades], [sims]), abs=1e-12)
    assert found["DCG@7"] == pytest.approx(metrics.dcg_score([grades], [sims], k=7), abs=1e-12)
    assert found["nDCG"] == pytest.approx(metrics.ndcg_score([grades], [sims]), abs=1e-12)
    assert found["nDCG@7"] == pytest.approx(metrics.ndcg_score([grades], [sims], k=7), abs=1e-12)
    assert found["P@5"] == pytest.approx(metrics.precision_score(grades > 0, top), abs=1e-12)
    assert found["R@5"] == pytest.approx(metrics.recall_score(grades > 0, top), abs=1e-12)
    assert found["F@5"] == pytest.approx(metrics.f1_score(grades > 0, top), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_ir_measures_judged(seed: int) -> None:
    grades, sims = untied(seed)
    qrels = {"t": {f"d{i}": int(grade) for i, grade in enumerate(grades) if i % 3}}
    run = {"t": {f"d{i}": sim for i, sim in enumerate(sims)}}
    for measure in ("Judged@10", "Judged@100", "Judged"):
        parsed = ir_measures.parse_measure(measure)
        expected = next(iter(ir_measures.judged.iter_calc([parsed], qrels, run))).value
        assert values(qrels, run, measure)["t"] == pytest.approx(expected, abs=1e-12)


# ------------------------------------------------------------------------------- formulas written out, list by list


def _err(grades: list[float], k: int) -> float:
    value, looking = 0.0, 1.0
    for rank, grade in enumerate(grades[:k], 1):
        stops = (2 ** max(grade, 0) - 1) / 16
        value += looking * stops / rank
        looking *= 1 - stops
    return value


def _rbp(grades: list[float], p: float) -> float:
    return (1 - p) * sum(p ** (rank - 1) for rank, grade in enumerate(grades, 1) if grade > 0)


def _iprec(grades: list[float], tenth: int, n_rel: int) -> float:
    best, found = 0.0, 0
    for rank, grade in enumerate(grades, 1):
        found += grade > 0
        if 10 * found >= tenth * n_rel:
            best = max(best, found / rank)
    return best if found else 0.0


def _dcg(grades: list[float], gain: Callable[[float], float], discount: Callable[[int], float]) -> float:
    return sum(gain(max(grade, 0)) / discount(rank) for rank, grade in enumerate(grades, 1))


OTHER_GAINS = {1.0: 9.0, 2.0: 5.0}


@given(collections())
def test_formulas_written_out(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    names = ["ERR@5", "RBP(p=0.6)", "IPrec11", "IPrec@0.3", "IPrec@0.7", "DCG(dcg='jk')", "DCG(dcg='exp-log2')@4"]
    names += ["nDCG(dcg='exp-log2')@4", "nDCG(gains={1:9,2:5})@4", "F(beta=2)@4", "RR@3"]
    table = evaluate(qrels, run, names, ties="conventional").to_dict()["run"]["conventional"]
    for topic, found in table.items():
        judged = qrels[topic]
        in_order = sorted(run.get(topic, {}).items(), key=lambda pair: (pair[1] + 0.0, pair[0].encode()), reverse=True)
        grades = [judged.get(docno, 0.0) for docno, _ in in_order]
        n_rel = sum(grade > 0 for grade in judged.values())
        hits = sum(grade > 0 for grade in grades[:4])
        first = next((rank for rank, grade in enumerate(grades, 1) if grade > 0), None)
        ideal_exp = _dcg(sorted(judged.values(), reverse=True)[:4], lambda g: 2**g - 1, lambda r: math.log2(r + 1))
        mapped = sorted((OTHER_GAINS.get(grade, max(grade, 0)) for grade in judged.values()), reverse=True)
        expected = {
            "ERR@5": _err(grades, 5),
            "RBP(p=0.6)": _rbp(grades, 0.6),
            "IPrec11": sum(_iprec(grades, tenth, n_rel) for tenth in range(11)) / 11,
            "IPrec@0.3": _iprec(grades, 3, n_rel),
            "IPrec@0.7": _iprec(grades, 7, n_rel),
            "DCG(dcg='jk')": _dcg(grades, lambda g: g, lambda r: math.log2(max(r, 2))),
            "DCG(dcg='exp-log2')@4": _dcg(grades[:4], lambda g: 2**g - 1, lambda r: math.log2(r + 1)),
            "nDCG(dcg='exp-log2')@4": _dcg(grades[:4], lambda g: 2**g - 1, lambda r: math.log2(r + 1)) / ideal_exp,
            "nDCG(gains={1:9,2:5})@4": _dcg(grades[:4], lambda g: OTHER_GAINS.get(g, g), lambda r: math.log2(r + 1))
            / _dcg(mapped[:4], lambda g: g, lambda r: math.log2(r + 1)),
            "F(beta=2)@4": 5 * hits / (4 * n_rel + 4),
            "RR@3": 1 / first if first and first <= 3 else 0.0,
        }
        assert found == pytest.approx(expected, abs=1e-12), topic


def test_recall_levels_are_compared_as_whole_numbers() -> None:
    """3 of 10 is a recall of 0.3, although 3 * 0.1 > 0.3 in floating point."""
    qrels = {"t": {f"d{i}": 1 for i in range(10)}}
    run = {"t": {f"d{i}": 10.0 - i for i in range(3)} | {"x": 20.0}}
    assert values(qrels, run, "IPrec@0.3")["t"] == 3 / 4


def test_recall_levels_with_many_digits() -> None:
    qrels = {"1": {f"d{i}": 1 for i in range(3000)}}
    found = [f"d{i}" for i in range(1100)] + [f"x{i}" for i in range(3000)] + [f"d{i}" for i in range(1100, 3000)]
    run = {"1": {docno: float(-at) for at, docno in enumerate(found)}}
    for level in (2 / 3, 0.6666, 0.4000000000000001):
        assert values(qrels, run, f"IPrec@{level}")["1"] == 0.5
    assert values(qrels, run, "IPrec@1e-20")["1"] == 1.0
    qrels, run = {"1": dict.fromkeys("abc", 1)}, {"1": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}}
    for level, expected in ((0.33, 1.0), (0.34, 0.75), (0.66, 0.75), (0.67, 0.75), (1, 0.75)):  # 1.02 of 3 is 2
        assert values(qrels, run, f"IPrec@{level}")["1"] == expected, level
        assert exaequo.explain(qrels, run, f"IPrec@{level}", "1").steps[-1].numbers["result"] == expected


def test_err_scale() -> None:
    qrels, run = {"t": {"a": 5}}, {"t": {"a": 1.0}}
    assert values(qrels, run, "ERR(max_rel=5)@20")["t"] == 31 / 32
    with pytest.raises(Exception, match=r"judgments of 5, above max_rel=4"):
        values(qrels, run, "ERR@20")


def test_geometric_mean_has_a_floor() -> None:
    qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}
    run = {"1": {"a": 1.0}, "2": {"b": 2.0, "a": 1.0}, "3": {"b": 1.0}}
    scores = evaluate(qrels, run, ["AP", "gm(AP)", "NumQ", "NumRelRet"])
    assert scores.mean("gm(AP)") == pytest.approx((1 * 0.5 * 1e-5) ** (1 / 3), rel=1e-12)
    assert scores.mean("AP") == pytest.approx(0.5)
    assert (scores.mean("NumQ"), scores.mean("NumRelRet")) == (3, 2)
