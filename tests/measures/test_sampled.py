"""Sampled judgments: xinfAP and statAP by hand, line by line, and what their qrels may look like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo.errors import InputError
from exaequo.measures import parse_measures
from exaequo.read import Qrels
from helpers import Grades, Sims, collections, evaluate, every_order, values


def sample(grades: dict[str, float], **columns: list[object]) -> Qrels:
    """Judgments of topic t with more columns."""
    plain = exaequo.read_qrels({"t": grades})
    return replace(plain, frame=plain.frame.with_columns(**{name: pl.Series(each) for name, each in columns.items()}))


def ranked(*docnos: str) -> Sims:
    return {"t": {docno: -float(at) for at, docno in enumerate(docnos)}}


def test_strata_by_hand(tmp_path: Path) -> None:
    # Stratum 1 is judged whole (a, b); of the four in stratum 2 two are judged (c, d), each standing for two.
    qrels = tmp_path / "qrels"
    qrels.write_text("t 0 a 1 1\nt 0 b 1 0\nt 0 c 2 1\nt 0 d 2 0\nt 0 e 2 -1\nt 0 f 2 -1\n")
    first = 1.0  # a at rank 1
    above = 2 * (1 + 1e-5) / (2 + 3e-5) + 2 * 1e-5 / (1 + 3e-5)  # a b, and d e of which d is judged
    last = (1 + above) / 6  # c at rank 6, after a document of no stratum
    found = values(qrels, ranked("a", "b", "d", "e", "new", "c"), "xinfAP")["t"]
    assert found == pytest.approx((first + 2 * last) / 3, rel=1e-12)


def test_chances_by_hand(tmp_path: Path) -> None:
    qrels = tmp_path / "prels"
    # b was certain (method 2), whatever its chance; nobody knows the chance of d, which is left out.
    qrels.write_text("t a 1 1 0.5\nt b 1 2 0.1\nt c 0 1 0.5\nt d 1 2 NA\nt e 2 1 1e-1\n")
    found = values(qrels, ranked("c", "a", "d", "b"), "statAP")["t"]
    assert found == pytest.approx((2 * 1 / 2 + 1 * (1 + 2) / 4) / (2 + 1 + 10), rel=1e-12)


def slowly(lines: list[tuple[str, str, float]], order: list[str]) -> float:
    """xinfAP of documents with stratum and grade, one after the other."""
    of = {docno: (stratum, grade) for docno, stratum, grade in lines}
    strata = {stratum for _, stratum, _ in lines}

    def stands_for(stratum: str) -> float:
        own = [grade for _, mine, grade in lines if mine == stratum]
        return len(own) / sum(grade >= 0 for grade in own)

    total = 0.0
    for at, docno in enumerate(order):
        if docno in of and of[docno][1] > 0:
            above = 0.0
            for stratum in strata:
                seen = [of[each][1] for each in order[:at] if each in of and of[each][0] == stratum]
                found, judged = sum(grade > 0 for grade in seen), sum(grade >= 0 for grade in seen)
                above += len(seen) * (found + 1e-5) / (judged + 3e-5)
            total += stands_for(of[docno][0]) * (1 + above) / (at + 1)
    return total / sum(stands_for(stratum) for _, stratum, grade in lines if grade > 0)


@given(st.data())
def test_strata_one_after_the_other(data: st.DataObject) -> None:
    documents = [f"d{number}" for number in range(8)]
    kinds = st.tuples(st.sampled_from(["1", "2", "3"]), st.sampled_from([-1.0, 0.0, 1.0, 2.0]))
    lines = [(docno, *data.draw(kinds)) for docno in documents] + [("d8", "1", 1.0)]
    order = data.draw(st.lists(st.sampled_from([*documents, "d8", "new"]), unique=True, min_size=1))
    qrels = sample({docno: grade for docno, _, grade in lines}, stratum=[stratum for _, stratum, _ in lines])
    assert values(qrels, ranked(*order), "xinfAP")["t"] == pytest.approx(slowly(lines, order), abs=1e-12)


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.5, 1.0]), st.integers(0, 2), st.integers(0, 1)), min_size=5, max_size=5)
)
def test_the_mean_over_all_orders(drawn: list[tuple[float, int, int]]) -> None:
    names = [f"d{at}" for at in range(5)]
    qrels = sample(
        {**dict(zip(names, [float(grade) for _, grade, _ in drawn], strict=True)), "x": 1.0},
        prob=[*(chance for chance, _, _ in drawn), 0.3],
        stratum=[*(str(sim) for _, _, sim in drawn), "1"],
    )
    run = {"t": dict(zip(names, [float(sim) for _, _, sim in drawn], strict=True))}
    measures = parse_measures("statAP xinfAP")
    block = evaluate(qrels, run, measures, ties="expected").blocks[0]
    orders = [evaluate(qrels, {"t": order}, measures).blocks[0].values[:, 0] for order in every_order(run["t"])]
    assert block.values[:, 0] == pytest.approx(sum(orders) / len(orders), abs=1e-12)


@given(collections(grades=(0, 0, 1, 2)))
def test_a_whole_sample_is_no_sample(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    judged = {topic: {docno: run.get(topic, {}).get(docno, -9.0) for docno in docs} for topic, docs in qrels.items()}
    for figures in evaluate(qrels, judged, "AP statAP xinfAP").to_dict()["run"]["realistic"].values():
        assert figures["statAP"] == pytest.approx(figures["AP"], abs=1e-12)
        assert figures["xinfAP"] == pytest.approx(figures["AP"], abs=1e-4)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("1 0 a 1 1\n1 0 b 2 x\n", ":2: judgment is 'x'; expected a finite number"),
        (
            "1 0 a 1 1\n1 0 b 2.5 0\n1 0 c 1 1\n",
            ":2: stratum is '2.5'; expected a whole number. Mend or drop the line.",
        ),
        ("1 0 a 1 1\n1 0 b 1\n1 0 c 1 1\n", ":2: 4 fields .*; expected 5 fields: qid iter docno stratum rel. Mend"),
        ("1 0 a 1 1\n1 0 a 2 0\n", ":2: document 'a' of topic '1' is here and in line 1"),
        ("1 a 1 1 0.5\n1 b 0 1 1.5\n1 c 0 1 0.2\n", ":2: prob is '1.5'; expected a chance from 0 to 1, or NA"),
        ("1 a 1 1 0.5\n1 b 0 1 5e-0\n", ":2: prob is '5e-0'"),
        ("1 0 a 1\n1 0 b c 1\n", ":2: 5 fields .*; expected 4 fields: qid iter docno rel"),
        ("1 0 my doc 1\n1 0 his doc 0\n", ":1: 5 fields .*; expected 4 fields"),
        ("1 0 a 1 yes\n1 0 b 1 no\n", ":1: 5 fields .*; expected 4 fields"),
    ],
)
def test_what_is_no_sample_is_refused(lines: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text(lines)
    with pytest.raises(InputError, match=said):
        exaequo.read_qrels(path)


def test_other_measures_say_what_they_do(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("# drawn\n\nt\t0\ta\t1\t1\nt\t0\tb\t2\t-1\n")
    with pytest.warns(exaequo.DataWarning, match="a sample, with strata; xinfAP estimates from it, all other measures"):
        assert exaequo.evaluate(path, ranked("a", "b"), "AP").mean("AP") == 1
