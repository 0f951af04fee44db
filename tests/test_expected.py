"""Expected values against all permutations, and what they promise: bounds, names, files, untied lists."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo import expected
from exaequo.arrays import Floats
from exaequo.judge import judge, prepare
from exaequo.measures import Measure, catalogue, parse_measures
from exaequo.order import Ordering
from helpers import COMPLETE, OPEN, Grades, Sims, evaluate, every_order, instances

ALL = [measure for measure in instances() if "gains" not in measure.params]
ALL += parse_measures("DCG(gains={1:3,2:0.5}) nDCG(gains={0:1,1:3}) RBP(p=0.5)@2 ERR(max_rel=8) alpha_nDCG(alpha=0)@4")
#: Measures of ordered lists: all but those that take a tie as a whole.
ORDERED = [measure for measure in ALL if "ties" not in measure.definition.sees]
Line = namedtuple("Line", "qid docno rel iteration")


@st.composite
def small(draw: st.DrawFn) -> tuple[Grades, Sims]:
    """A topic with ties of up to 4 documents, graded, judged or not, with relevant documents that are not returned."""
    documents = [f"d{number}" for number in range(7)]
    run = {docno: float(draw(st.integers(0, 2))) for docno in documents[: draw(st.integers(1, 6))]}
    judged = {
        docno: draw(st.sampled_from([-1.0, 0.0, 1.0, 1.0, 2.0, 3.0])) for docno in documents if draw(st.booleans())
    }
    judged["d0" if draw(st.booleans()) else "unseen"] = 1
    return {"t": judged}, {"t": run}


def brute_force(qrels: object, run: dict[str, float], measures: list[Measure], depth: int | None = None) -> Floats:
    """Values of all orders: orders × measures. Each order is a topic of its own."""
    orders = every_order(run)
    names = [f"{at:05}" for at in range(len(orders))]
    if isinstance(qrels, dict):
        judged: object = dict.fromkeys(names, qrels["t"])
    else:
        judged = [line._replace(qid=name) for name in names for line in qrels]  # type: ignore[attr-defined]
    block = evaluate(judged, dict(zip(names, orders, strict=True)), measures, depth=depth).blocks[0]
    return block.values.T


def means(qrels: object, run: Sims, measures: list[Measure], **options: object) -> tuple[Floats, expected.Expected]:
    block = evaluate(qrels, run, measures, ties="expected", **options).blocks[0]
    assert block.expected is not None
    return block.values[:, 0], block.expected


CASES: dict[str, tuple[Grades, Sims]] = {
    "several grades, one document nobody judged, two relevant ones missed": (
        {"t": {"AP1": 1, "d1": 0, "d2": 3, "d3": -1, "d4": 2, "missed": 2, "d9": 1}},
        {"t": {"d0": 3.0, "d1": 2.0, "AP1": 2.0, "d2": 2.0, "d3": 1.0, "d4": 1.0, "d5": 0.0}},
    ),
    "one found before three among five, and a tie of relevant ones": (
        {"t": {"d0": 1, "AP1": 1, "d2": 3, "d3": 2, "d4": 0, "d6": 1, "d7": 3}},
        {"t": {"d0": 9.0, "AP1": 5.0, "d2": 5.0, "d3": 5.0, "d4": 5.0, "d5": 5.0, "d6": 1.0, "d7": 1.0}},
    ),
    "one relevant document, and none at a higher level": (
        {"t": {"AP1": 1, "d2": 0, "d3": 0}},
        {"t": {"d0": 1.0, "AP1": 1.0, "d3": 1.0, "d2": 0.0}},
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", list(catalogue()))
def test_small_cases(name: str, case: str) -> None:
    qrels, run = CASES[case]
    measures = [measure for measure in ORDERED if measure.definition.name == name]
    for depth in (None, 2, 5) if measures else ():
        orders = brute_force(qrels, run["t"], measures, depth)
        found, about = means(qrels, run, measures, depth=depth)
        assert found == pytest.approx(orders.mean(axis=0), abs=1e-12, nan_ok=True)
        known = ~np.isnan(about.deviation[:, 0] + found)
        if depth is None:
            assert about.deviation[known, 0] == pytest.approx(orders.std(axis=0)[known], abs=2e-7)


@settings(max_examples=30)
@given(small())
def test_brute_force(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    orders = brute_force(qrels, run["t"], ORDERED)
    found, about = means(qrels, run, ORDERED)
    assert found == pytest.approx(orders.mean(axis=0), abs=1e-12, nan_ok=True)
    known = ~np.isnan(about.deviation[:, 0]) & ~np.isnan(found)
    assert about.deviation[known, 0] == pytest.approx(orders.std(axis=0)[known], abs=2e-7)
    assert not about.error.any()
    for measure, how, spread in zip(ORDERED, about.how, np.ptp(orders, axis=0), strict=True):
        if measure.definition.moments:
            assert how == expected.CLOSED, measure
        elif spread > 0:
            assert how == expected.ALL_ORDERS, measure


@settings(max_examples=30)
@given(small(), st.integers(1, 4))
def test_brute_force_of_lists_cut_through_ties(collection: tuple[Grades, Sims], depth: int) -> None:
    check_means(collection, depth)


@pytest.mark.soak
@settings(max_examples=500)
@given(small(), st.none() | st.integers(1, 4))
def test_brute_force_at_length(collection: tuple[Grades, Sims], depth: int | None) -> None:
    check_means(collection, depth)


def check_means(collection: tuple[Grades, Sims], depth: int | None) -> None:
    qrels, run = collection
    orders = brute_force(qrels, run["t"], ORDERED, depth)
    found, _ = means(qrels, run, ORDERED, depth=depth)
    assert found == pytest.approx(orders.mean(axis=0), abs=1e-12, nan_ok=True)


#: Lists of five documents that are cut at 3: where their ties lie. The last one's begins where nothing is left.
CUT = {
    "untied": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0},
    "above": {"a": 5.0, "b": 5.0, "c": 3.0, "d": 2.0, "e": 1.0},
    "just above": {"a": 5.0, "b": 3.0, "c": 3.0, "d": 2.0, "e": 1.0},
    "through": {"a": 5.0, "b": 4.0, "c": 2.0, "d": 2.0, "e": 2.0},
    "below": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 1.0, "e": 1.0},
}


def test_topics_beside_each_other_are_as_if_alone() -> None:
    grades = {"a": 1.0, "b": 0.0, "c": 2.0, "d": 1.0, "unseen": 1.0}
    measures = parse_measures("AP nDCG@2 IPrec11 SetP")
    block = evaluate(dict.fromkeys(CUT, grades), CUT, measures, ties="expected", depth=3).blocks[0]
    orders = {topic: brute_force({"t": grades}, CUT[topic], measures, 3) for topic in sorted(CUT)}
    assert block.expected is not None
    found, deviation = block.values.T, block.expected.deviation.T
    assert found == pytest.approx(np.stack([each.mean(axis=0) for each in orders.values()]), abs=1e-12)
    assert deviation == pytest.approx(np.stack([each.std(axis=0) for each in orders.values()]), abs=2e-8)
    assert [bool(row.any()) for row in deviation] == [True, False, True, True, False]
    assert block.expected.how == (expected.CLOSED, expected.CLOSED, expected.ALL_ORDERS, expected.ALL_ORDERS)


def test_where_no_tie_reaches_the_list_there_is_nothing_to_average() -> None:
    lists = {topic: CUT[topic] for topic in ("untied", "below")}
    grades = {topic: {"a": 1.0, "d": 1.0} for topic in lists}
    block = evaluate(grades, lists, parse_measures("IPrec11 SetP"), ties="expected", depth=3).blocks[0]
    assert block.expected is not None
    assert block.expected.how == (expected.CLOSED, expected.CLOSED)
    whole = evaluate(grades, lists, parse_measures("IPrec11 SetP"), ties="expected").blocks[0]
    assert whole.expected is not None
    assert whole.expected.how == (expected.ALL_ORDERS, expected.CLOSED)
    _, about = means({"t": grades["below"]}, {"t": CUT["above"]}, parse_measures("IPrec11 SetP"), depth=3)
    assert about.how == (expected.ALL_ORDERS, expected.CLOSED)  # no tie is cut, so the form for whole lists holds


def test_names_matter_to_measures_that_see_them() -> None:
    lines = [Line("t", docno, 1, sub) for docno, sub in zip("abcd", "xyxz", strict=True)]
    run, measures = dict.fromkeys("abc", 1.0), parse_measures("alpha_nDCG@9 IPrec11")
    found, about = means(lines, {"t": run}, measures, depth=2)
    assert found == pytest.approx(brute_force(lines, run, measures, 2).mean(axis=0), abs=1e-12)
    assert about.how == (expected.ALL_ORDERS, expected.ALL_ORDERS)


def test_orders_that_are_counted() -> None:
    grades = {"a": 1.0, "b": 0.0, "c": 2.0, "d": 0.0, "e": 0.0}
    ordering = Ordering(judge(exaequo.read_run(CUT), prepare(exaequo.read_qrels(dict.fromkeys(CUT, grades)))))
    every = np.ones(5, dtype=bool)  # above, below, just above, through, untied
    assert expected.Orders(ordering.ranking(), every).count.tolist() == [2, 1, 2, 3, 1]
    assert expected.Orders(ordering.ranking(), every, by_name=True).count.tolist() == [2, 2, 2, 6, 1]
    assert expected.Orders(ordering.ranking(), every, by_name=True, depth=3).count.tolist() == [2, 1, 2, 6, 1]
    few = expected.Orders(ordering.ranking(), every, samples=7, most=2)
    assert few.count.tolist() == [2, 1, 2, 7, 1]
    assert few.sampled.tolist() == [False, False, False, True, False]
    for many, sampled in ((150, False), (151, True)):  # one relevant document among many
        run = {"1": {f"d{at}": 1.0 for at in range(many)}}
        whole = Ordering(judge(exaequo.read_run(run), prepare(exaequo.read_qrels({"1": {"d0": 1.0}})))).ranking()
        orders = expected.Orders(whole, np.ones(1, dtype=bool), samples=9)
        assert (orders.sampled[0], orders.count[0]) == (sampled, 9 if sampled else many)


def test_more_documents_of_one_kind_than_floats_can_count_the_choices_of() -> None:
    names = [f"d{at}" for at in range(1200)]
    both = evaluate(
        {"1": dict.fromkeys(names, 1.0)}, {"1": dict.fromkeys(names, 1.0)}, "ERR", ties=["realistic", "expected"]
    )
    assert [block.values[0, 0] for block in both.blocks] == pytest.approx([both.blocks[0].values[0, 0]] * 2)


def test_some_topics_and_some_measures() -> None:
    values, deviation, error = np.arange(18.0).reshape(3, 2, 3)
    every = expected.Expected(values, deviation, error, ("one", "other"))
    part, rows = every.part(np.array([2, 0])), every.rows([1])
    for name in ("values", "deviation", "error"):
        assert np.array_equal(getattr(part, name), getattr(every, name)[:, [2, 0]])
        assert np.array_equal(getattr(rows, name), getattr(every, name)[[1]])
    assert (part.how, rows.how) == (("one", "other"), ("other",))


@settings(max_examples=30)
@given(st.data())
def test_brute_force_with_subtopics(data: st.DataObject) -> None:
    documents = [f"d{number}" for number in range(5)]
    run = {docno: float(data.draw(st.integers(0, 1))) for docno in documents}
    pairs = data.draw(st.sets(st.tuples(st.sampled_from([*documents, "x"]), st.sampled_from("abc")), min_size=1))
    lines = [Line("t", docno, data.draw(st.sampled_from([0, 1, 2])), sub) for docno, sub in sorted(pairs)]
    lines.append(Line("t", "x", 1, "d"))
    measures = parse_measures(
        "alpha_nDCG@2 alpha_nDCG(alpha=0.3)@9 alpha_nDCG(alpha=0)@3 ERR_IA@3 StRecall@1 StRecall@3 alpha_DCG@2 "
        "nERR_IA@3 NRBP NRBP(p=0.9,alpha=0) nNRBP(p=0.8,alpha=0.3) MAP_IA MAP_IA(rel=2) P_IA@1 P_IA(rel=2)@3 "
        "D_nDCG@2 D_nDCG@5 D_Q@2 D_Q(beta=3)@4 Dsharp_nDCG@3 Dsharp_Q(gamma=0.3)@2"
    )
    orders = brute_force(lines, run, measures)
    for depth in (None, 2):
        found, _ = means(lines, {"t": run}, measures, depth=depth)
        if depth:
            orders = brute_force(lines, run, measures, depth)
        assert found == pytest.approx(orders.mean(axis=0), abs=1e-12)


@given(small())
def test_linear_forms_are_the_measures(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    ranking = Ordering(judge(exaequo.read_run(run), prepare(exaequo.read_qrels(qrels)))).ranking("conventional")
    for measure in ALL:
        form = measure.definition.linear
        if form:
            assert form(ranking, **measure.params).value(ranking) == pytest.approx(measure.values(ranking), abs=1e-12)


def test_no_closed_form_gets_lost() -> None:
    assert {name for name in COMPLETE if catalogue()[name].moments is None} <= OPEN
    assert [name for name in COMPLETE if "ties" in catalogue()[name].sees] == ["BreakEven", "Precall"]


@settings(max_examples=40)
@given(small())
def test_between_realistic_and_optimistic(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    low, high, mean = (
        block.values for block in evaluate(qrels, run, ALL, ties=["realistic", "optimistic", "expected"]).blocks
    )
    for row, measure in enumerate(ALL):
        if measure.definition.chain != "not guaranteed" and "gains" not in measure.params:
            bottom, top = sorted((low[row, 0], high[row, 0]))
            assert np.isnan(mean[row, 0]) or bottom - 1e-12 <= mean[row, 0] <= top + 1e-12, measure


@given(small())
def test_untied_lists_have_their_value(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    untied = {"t": {docno: float(at) for at, docno in enumerate(run["t"])}}
    one, two = (block.values for block in evaluate(qrels, untied, ALL, ties=["conventional", "expected"]).blocks)
    assert np.array_equal(one, two, equal_nan=True)


def large(*, other_names: bool = False) -> tuple[Grades, Sims]:
    """Lists with ties of many documents, of many grades; the other names are in another order."""
    random = np.random.Generator(np.random.PCG64(5))
    qrels: Grades = {}
    run: Sims = {}
    for topic in ("1", "2", "3"):
        sims = random.integers(0, 6, size=200)
        grades = random.choice([0, 0, 0, 1, 2, 3], size=200)
        names = [f"d{at * (7919 if other_names else 7907) % 1000:03}" for at in range(200)]
        run[topic] = {name: float(sim) for name, sim in zip(names, sims, strict=True)}
        qrels[topic] = {name: float(g) for name, g in zip(names, grades, strict=True) if random.random() < 0.6}
        qrels[topic]["unseen"] = 2.0
    return qrels, run


def test_closed_forms_agree_with_samples() -> None:
    qrels, run = large()
    measures = [m(docs=500) if "docs" in m.params else m for m in ALL if m.definition.moments and "doc" not in m.params]
    ordering = Ordering(judge(exaequo.read_run(run), prepare(exaequo.read_qrels(qrels))))
    closed = expected.expected_values(ordering, measures)
    orders = expected.Orders(ordering.ranking(), np.ones(3, dtype=bool), samples=400)
    assert orders.sampled.all()
    base = np.stack([measure.values(ordering.ranking()) for measure in measures])
    mean, spread, error = orders.averages(measures, base)
    off = np.abs(mean - closed.values) / np.maximum(error, 1e-12)
    assert np.all((off < 4.5) | (np.abs(mean - closed.values) < 1e-10)), [
        (str(measures[row]), off[row]) for row in np.flatnonzero((off >= 4.5).any(axis=1))
    ]
    steady = np.array([bool(measure.definition.linear) for measure in measures])[:, None]
    known = steady & (closed.deviation > 0.01)
    assert np.all(np.abs(spread[known] / closed.deviation[known] - 1) < 0.25)


def test_the_error_of_a_sample_is_that_of_its_mean() -> None:
    qrels, run = large()
    measure = parse_measures("IPrec11")[0]
    ranking = Ordering(judge(exaequo.read_run(run), prepare(exaequo.read_qrels(qrels)))).ranking()
    both = [expected.Orders(ranking, np.ones(3, dtype=bool), samples=4) for _ in range(2)]
    drawn = np.stack([measure.values(each) for each in both[0].rankings()])
    mean, deviation, error = both[1].averages([measure], measure.values(ranking)[None, :])
    assert mean[0] == pytest.approx(drawn.mean(axis=0))
    assert deviation[0] == pytest.approx(drawn.std(axis=0))
    assert error[0] == pytest.approx(drawn.std(axis=0, ddof=1) / np.sqrt(4))
    assert (error > 0).all()


@pytest.mark.parametrize(("grades", "how"), [(6, expected.ALL_ORDERS), (7, expected.SAMPLED)])
def test_lists_of_up_to_720_orders_are_averaged_over_all(grades: int, how: str) -> None:
    names = "abcdefg"[:grades]
    qrels: Grades = {"1": {name: float(grade) for grade, name in enumerate(names)}}
    _, about = means(qrels, {"1": dict.fromkeys(names, 1.0)}, parse_measures("IPrec11 MOR@5"), samples=20)
    assert about.how == (how, how)
    assert (about.error > 0).all() == (how == expected.SAMPLED)


def test_samples_repeat_and_know_no_names() -> None:
    qrels, run = large()
    options: dict[str, Any] = {"measures": ["IPrec11", "MOR@50"], "ties": "expected", "samples": 50}
    first = evaluate(qrels, run, **options).blocks[0]
    assert first.expected is not None
    assert first.expected.how == ("sampled", "sampled")
    assert (first.expected.error > 0).all()
    again, renamed = (
        evaluate(qrels, run, **options),
        evaluate(*large(other_names=True), **options),
    )
    assert np.array_equal(first.values, again.blocks[0].values)
    assert np.array_equal(first.values, renamed.blocks[0].values)
    other = evaluate(qrels, run, seed=1, **options).blocks[0]
    assert not np.array_equal(first.values, other.values)
    gap = np.abs(first.values - other.values)
    assert np.all(gap < 5 * np.hypot(first.expected.error, other.expected.error))  # type: ignore[union-attr]


def test_the_orders_of_a_topic_are_the_same_whatever_else_is_asked() -> None:
    ranking = Ordering(judge(exaequo.read_run(large()[1]), prepare(exaequo.read_qrels(large()[0])))).ranking()
    both = [expected.Orders(ranking, np.array(topics), samples=3) for topics in ([True] * 3, [False, True, False])]
    for every, one in zip(*(each.rankings() for each in both), strict=True):
        assert np.array_equal(every.line[every.topic == 1], one.line)


def test_ties_are_shuffled_without_regard_to_each_other() -> None:
    sims = {"a": 9.0, "b": 9.0, "c": 8.0, "d": 7.0, "e": 7.0, "f": 6.0, "g": 6.0, "h": 6.0}
    grades = {docno: float(grade) for grade, docno in enumerate(sims)}
    ranking = Ordering(judge(exaequo.read_run({"1": sims}), prepare(exaequo.read_qrels({"1": grades})))).ranking()
    orders = expected.Orders(ranking, np.ones(1, dtype=bool), samples=2000, most=1)
    drawn = np.array([each.grade for each in orders.rankings()])
    assert {*drawn[:, 2]} == {2.0}
    pairs = np.bincount(2 * (drawn[:, 0] > 0.5) + (drawn[:, 3] > 3.5), minlength=4)
    assert pairs == pytest.approx([500] * 4, abs=80)
    for column in (5, 6, 7):
        assert np.bincount(drawn[:, column].astype(int))[5:] == pytest.approx([667] * 3, abs=80)


def test_precall_by_hand() -> None:
    # Ranks 1: +; then a tie of 2 relevant and 3 others; then one other and one relevant.
    sims = {"a": 9.0, **dict.fromkeys("bcdef", 5.0), "g": 2.0, "h": 1.0}
    qrels = {"t": dict.fromkeys("abch", 1)}
    table = (
        evaluate(qrels, {"t": sims}, "Precall@0.25 Precall@0.5 Precall@0.75 Precall@1 Precall@0").blocks[0].values[:, 0]
    )
    # N = 1: nothing read in vain. N = 2: 1·3/(2+1) = 1 read in vain. N = 3: 2·3/3 = 2. N = 4: 3 + 1 = 4.
    assert table == pytest.approx([1, 2 / 3, 3 / 5, 4 / 8, 1])
    qrels["t"]["never"] = 1
    assert evaluate(qrels, {"t": sims}, "Precall@1").blocks[0].values[0, 0] == 0


def test_precall_is_the_expected_search_length_of_all_orders() -> None:
    qrels, run = {"t": dict.fromkeys("bdf", 1)}, dict.fromkeys("abcdef", 1.0)
    lengths = []
    for order in every_order(run):
        ranked = sorted(order, key=order.__getitem__, reverse=True)
        second = [at for at, docno in enumerate(ranked) if docno in qrels["t"]][1]
        lengths.append(second - 1)  # not relevant, read before the second relevant one
    found = evaluate(qrels, {"t": run}, "Precall@0.66").blocks[0].values[0, 0]
    assert found == pytest.approx(2 / (2 + np.mean(lengths)))


def test_a_cut_keeps_closed_forms_where_they_hold() -> None:
    qrels, run = large()
    names = "P@10 P@100 R@200 RR AP AP@50 nDCG nDCG@10 DCG ERR RBP Rprec Success@5 F@60 NCG@90 Judged@5 PRES@40"
    found, about = means(qrels, run, parse_measures(names), depth=50)
    assert set(about.how) == {expected.CLOSED}
    assert not np.isnan(found).any()
    _, about = means(qrels, run, parse_measures("PRES@100 RNorm(docs=900) SetP"), depth=50, samples=5)
    assert set(about.how) == {expected.SAMPLED}


def test_samples_of_a_topic_do_not_depend_on_other_measures() -> None:
    qrels, run = large()
    alone = evaluate(qrels, run, ["IPrec11"], ties="expected", samples=20).blocks[0].values[0]
    beside = evaluate(qrels, run, ["IPrec11", "MOR@30", "SetP"], ties="expected", samples=20, depth=150).blocks[0]
    less = evaluate(qrels, {"2": run["2"]}, ["IPrec11"], ties="expected", samples=20).blocks[0].values[0]
    again = evaluate(qrels, run, ["IPrec11", "MOR@30"], ties="expected", samples=20).blocks[0].values[0]
    assert np.array_equal(alone, again)
    assert len(beside.values) == 3
    assert less[1] == pytest.approx(alone[1], abs=0.05)
