"""Recall-oriented measures against slow implementations of their definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo import BadParameter
from exaequo.judge import judge, prepare
from exaequo.measures.recall import mor_parts
from exaequo.order import Ordering
from helpers import Grades, Sims, collections, evaluate, values

RANKS = st.sets(st.integers(1, 14), max_size=8).map(sorted)


def pres(ranks: list[int], n: int, most: int) -> Fraction:
    inside = [rank for rank in ranks if rank <= most]
    all_ranks = inside + [most + i for i in range(len(inside) + 1, n + 1)]
    return 1 - (Fraction(sum(all_ranks), n) - Fraction(n + 1, 2)) / most


def average_precision(ranks: list[int], n: int) -> Fraction:
    return sum((Fraction(i, rank) for i, rank in enumerate(sorted(ranks), 1)), Fraction(0)) / n


def mor(ranks: list[int], n: int, most: int) -> Fraction:
    inside = [rank for rank in ranks if rank <= most]
    if not inside:
        return Fraction(0)
    h, w = len(inside), max(inside)
    worst = average_precision(list(range(w - h + 1, w + 1)), n)
    best = average_precision([*range(1, h), w], n)
    ap = average_precision(inside, n)
    g_hw = (ap - worst) / (best - worst) if best != worst else ap
    return (h + (most - w + g_hw) / (most - h + 1)) / (min(n, most) + 1)


def normalised_recall(ranks: list[int], n: int, docs: int) -> Fraction:
    missing = n - len(ranks)
    all_ranks = list(ranks) + list(range(docs - missing + 1, docs + 1))
    return 1 - (Fraction(sum(all_ranks)) - Fraction(n * (n + 1), 2)) / (n * (docs - n)) if n < docs else Fraction(1)


@settings(max_examples=200)
@given(RANKS, st.integers(0, 3), st.integers(1, 12))
def test_definitions(ranks: list[int], missing: int, most: int) -> None:
    check_definitions(ranks, missing, most)


@pytest.mark.soak
@settings(max_examples=3000)
@given(RANKS, st.integers(0, 3), st.integers(1, 12))
def test_definitions_at_length(ranks: list[int], missing: int, most: int) -> None:
    check_definitions(ranks, missing, most)


def check_definitions(ranks: list[int], missing: int, most: int) -> None:
    n = len(ranks) + missing
    if not n:
        return
    qrels = {"t": {f"d{rank}": 1 for rank in ranks} | {f"missing{i}": 1 for i in range(missing)}}
    run = {"t": {f"d{rank}": -float(rank) for rank in range(1, 15)}}
    names = [f"PRES@{most}", f"MOR@{most}", "RNorm(docs=20)", "IAP", "FAP(beta=2)"]
    found = evaluate(qrels, run, names).to_dict()["run"]["realistic"]["t"]
    points = [Fraction(i, rank) for i, rank in enumerate(ranks, 1)]
    ap, recall = average_precision(ranks, n), Fraction(len(ranks), n)
    below = 4 * ap + recall
    expected = {
        f"PRES@{most}": pres(ranks, n, most),
        f"MOR@{most}": mor(ranks, n, most),
        "RNorm(docs=20)": normalised_recall(ranks, n, 20),
        "IAP": sum((max(points[i:]) for i in range(len(points))), Fraction(0)) / n,
        "FAP(beta=2)": 5 * ap * recall / below if below else Fraction(0),
    }
    assert found == pytest.approx({name: float(value) for name, value in expected.items()}, abs=1e-12)


@given(collections())
def test_opposites_and_relatives(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    names = ["P@3", "Noise@3", "R@3", "Silence@3", "F(beta=2)@3", "E(beta=2)@3", "DCG@3", "IDCG@3", "nDCG@3", "NCG@3"]
    for topic, found in evaluate(qrels, run, names).to_dict()["run"]["realistic"].items():
        assert found["Noise@3"] == 1 - found["P@3"]
        assert found["Silence@3"] == 1 - found["R@3"]
        assert found["E(beta=2)@3"] == 1 - found["F(beta=2)@3"]
        assert found["DCG@3"] == pytest.approx(found["nDCG@3"] * found["IDCG@3"])
        best = sum(sorted((max(grade, 0) for grade in qrels[topic].values()), reverse=True)[:3])
        assert found["NCG@3"] <= 1 + 1e-12
        assert math.isclose(found["NCG@3"] * best, round(found["NCG@3"] * best), abs_tol=1e-9)


@given(RANKS, st.integers(0, 3), st.sampled_from([0, 0.3, 0.5, 0.95, 1]))
def test_work_saved_and_last_relevant(ranks: list[int], missing: int, recall: float) -> None:
    n = len(ranks) + missing
    if not n:
        return
    qrels = {"t": {f"d{rank}": 1 for rank in ranks} | {f"missing{i}": 1 for i in range(missing)}}
    run = {"t": {f"d{rank}": -float(rank) for rank in range(1, 15)}}
    needed = math.ceil(Fraction(str(recall)) * n)
    for docs, size in ((None, 14), (40, 40)):
        stop = 0 if not needed else ranks[needed - 1] if needed <= len(ranks) else size
        name = f"WSS@{recall}" if docs is None else f"WSS(docs={docs})@{recall}"
        assert values(qrels, run, name)["t"] == pytest.approx((size - stop) / size - (1 - recall), abs=1e-12)
    assert values(qrels, run, "LastRel(docs=40)")["t"] == (40 if missing else max(ranks))


@given(collections(), st.sampled_from([0.5, 0.7]))
def test_residual_is_what_the_unknown_could_add(collection: tuple[Grades, Sims], p: float) -> None:
    """If all unjudged documents were relevant, and all that follow, RBP would rise by the residual."""
    qrels, run = collection
    found = evaluate(qrels, run, [f"RBP(p={p})", f"RBPRes(p={p})"], ties="conventional").to_dict()["run"][
        "conventional"
    ]
    for topic, figures in found.items():
        returned = sorted(run.get(topic, {}).items(), key=lambda pair: (pair[1] + 0.0, pair[0].encode()), reverse=True)
        best = [qrels[topic].get(docno, -1) != 0 for docno, _ in returned]
        highest = (1 - p) * sum(p**i for i, good in enumerate(best) if good) + p ** len(best)
        assert figures[f"RBP(p={p})"] + figures[f"RBPRes(p={p})"] == pytest.approx(highest, abs=1e-12)


@given(collections(grades=(0, 1, 2, 4)))
def test_scaled_gain(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    best = sum(1 / math.log2(rank + 1) for rank in range(1, 6))
    for found in evaluate(qrels, run, ["DCG@5", "SDCG@5", "SDCG(max_rel=8)@5"]).to_dict()["run"]["realistic"].values():
        assert found["SDCG@5"] == pytest.approx(found["DCG@5"] / 4 / best)
        assert found["SDCG(max_rel=8)@5"] == pytest.approx(found["SDCG@5"] / 2)
    with pytest.raises(BadParameter, match=r"say SDCG\(max_rel=5\)"):
        values({"t": {"a": 5}}, {"t": {"a": 1.0}}, "SDCG@5")


@given(RANKS, RANKS, st.integers(0, 2))
def test_lexicographic_recall(one: list[int], two: list[int], missing: int) -> None:
    n = max(len(one), len(two)) + missing
    if not n:
        return
    qrels = {"t": {f"r{i}": 1 for i in range(n)}}
    runs = []
    for ranks in (one, two):
        found = {rank: f"r{i}" for i, rank in enumerate(ranks)}
        runs.append({"t": {found.get(rank, f"x{rank}"): -float(rank) for rank in range(1, 15)}})
    padded = [sorted(ranks) + [99] * (n - len(ranks)) for ranks in (one, two)]
    first, second = (tuple(reversed(ranks)) for ranks in padded)
    expected = 0 if first == second else 1 if first < second else -1
    assert exaequo.lexirecall(qrels, *runs) == {"t": expected}
    assert exaequo.lexirecall(qrels, *reversed(runs)) == {"t": -expected}


def test_lexicographic_recall_under_ties() -> None:
    qrels, tied, clear = {"t": {"a": 1}}, {"t": {"a": 1.0, "b": 1.0}}, {"t": {"a": 2.0, "b": 1.0}}
    assert exaequo.lexirecall(qrels, clear, tied) == {"t": 1}
    assert exaequo.lexirecall(qrels, clear, tied, ties="optimistic") == {"t": 0}


def test_normalised_recall_needs_the_size_of_the_collection() -> None:
    with pytest.raises(BadParameter, match=r"RNorm needs docs, as in RNorm\(docs=1000\)"):
        values({"t": {"a": 1}}, {"t": {"a": 1.0}}, "RNorm")
    with pytest.raises(BadParameter, match=r"RNorm\(docs=1\): a topic has 2 documents"):
        values({"t": {"a": 1}}, {"t": {"a": 1.0, "b": 0.5}}, "RNorm(docs=1)")


@given(st.data())
def test_mor_follows_found_then_last_then_ap(data: st.DataObject) -> None:
    """Whatever the two lists: more found is better; then an earlier last one; then a higher AP. Never the reverse."""
    n = data.draw(st.integers(1, 8))
    ranks = [data.draw(st.sets(st.integers(1, 20), max_size=n), label="ranks") for _ in range(2)]
    qrels = {topic: {f"r{i}": 1 for i in range(n)} for topic in "01"}
    run = {}
    for topic, own in zip("01", ranks, strict=True):
        named = {rank: f"r{i}" for i, rank in enumerate(sorted(own))}
        run[topic] = {named.get(rank, f"x{rank}"): -float(rank) for rank in range(1, 21)}
    parts = mor_parts(Ordering(judge(exaequo.read_run(run), prepare(exaequo.read_qrels(qrels)))).ranking(), 20)
    keys = [(parts.h[at], -parts.w[at], round(parts.ap[at], 12)) for at in range(2)]
    better = int(keys[1] > keys[0])
    assert parts.mor[better] >= parts.mor[1 - better] - 1e-12


def test_nothing_relevant_at_a_level_is_the_worst_there_is() -> None:
    qrels, run = {"t": {"a": 1}, "u": {"a": 2}}, {"t": {"a": 3.0, "b": 2.0}, "u": {"a": 2.0, "b": 1.0}}
    table = evaluate(qrels, run, ["WSS(rel=2)@0.95", "LastRel(docs=10,rel=2)", "WSS@0"]).to_dict()["run"]["realistic"]
    assert table["t"]["WSS(rel=2)@0.95"] == pytest.approx(-0.05)
    assert table["t"]["LastRel(docs=10,rel=2)"] == 10
    missing = evaluate(qrels, {"t": {"a": 1.0}}, ["WSS@0"]).to_dict()["run"]["realistic"]
    assert missing["t"] == missing["u"] == {"WSS@0": 0.0}


@pytest.mark.parametrize("measure", ["RNorm(docs=9)", "LastRel(docs=9)", "WSS(docs=9)@1"])
def test_a_collection_holds_what_was_returned_and_what_was_missed(measure: str) -> None:
    qrels, run = {"t": {f"r{i}": 1 for i in range(5)}}, {"t": {f"x{i}": 1.0 for i in range(5)}}
    with pytest.raises(BadParameter, match="a topic has 10 documents"):
        values(qrels, run, measure)
    assert values(qrels, run, measure.replace("9", "10", 1))["t"] <= 10


def test_fractions_of_other_topics_change_nothing() -> None:
    own = {"b": {"w": 0.2, "x": 0.1, "y": 0.7, "z": 0.2}}
    run = {"b": {"w": 4.0, "x": 3.0, "y": 2.0, "z": 1.0}}
    others = {"a": {"w": 0.1, "x": 0.2}}
    for measure in ("BPM(max_rel=1)@4", "INST(max_rel=1)"):
        alone = values(own, run, measure)["b"]
        assert values(others | own, {"a": {"w": 2.0, "x": 1.0}} | run, measure)["b"] == alone
    assert values(own, run, "BPM(max_rel=1)@4")["b"] == pytest.approx(1 / 3)  # one unit after the third


def test_width_is_the_rank_of_the_last_one_found() -> None:
    qrels, run = {"t": {"a": 1, "c": 1, "e": 2, "z": 1}}, {"t": {name: -float(at) for at, name in enumerate("abcde")}}
    found = evaluate(qrels, run, ["Width@1", "Width@4", "Width@5", "Width(rel=2)@4"]).to_dict()["run"]["realistic"]["t"]
    assert found == {"Width@1": 1, "Width@4": 3, "Width@5": 5, "Width(rel=2)@4": 5}
