"""The kernel: a list has the same value, to the last bit, in whichever block it is and however its rows are ordered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

import exaequo
from drawing import STRATEGIES, Drawn, drawn, same, whole
from exaequo.engine import kernel
from exaequo.engine.kernel import Rows, Work, bad, counted, scored
from exaequo.lots import drawn as lots
from exaequo.lots import of_names
from exaequo.options import Options

#: Spark and blocks are tried on these, too.
USUAL = ("grades", "fractions")
KINDS = {"grades": {}, "fractions": {"fractions": True}, "subtopics": {"subtopics": True}, "sampled": {"sampled": True}}


def in_blocks(data: Drawn, lines: pl.DataFrame, qrels: pl.DataFrame, blocks: Sequence[Sequence[str]]) -> pl.DataFrame:
    work = Work(tuple(data.measures), data.options)
    parts = []
    for topics in blocks:
        own = (each.filter(pl.col("qid").is_in(topics)) for each in (data.lists, lines, qrels))
        parts.append(scored(Rows(*own), work))
    return pl.concat(parts)


@pytest.mark.parametrize(
    "kind", [*(pytest.param(each, marks=pytest.mark.soak) for each in USUAL), "subtopics", "sampled"]
)
def test_every_measure_in_any_block_and_any_order(kind: str) -> None:
    data = drawn(7, **KINDS[kind])
    expected = whole(data)
    topics = data.qrels["qid"].unique().sort().to_list()
    same(in_blocks(data, data.lines, data.qrels, [topics[:1], topics[1:4], topics[4:]]), expected)
    lines, qrels = (each.sample(fraction=1, shuffle=True, seed=3) for each in (data.lines, data.qrels))
    found = in_blocks(data, lines, qrels, [topics[::2], topics[1::2]])
    same(found.filter(pl.col("ties") != "input"), expected.filter(pl.col("ties") != "input"))


def test_copies_of_judgments_are_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block may have a list of each of many runs: each needs a copy of the judgments of its topic."""
    data, judged, copies = drawn(7, topics=12, runs=9), kernel.judged, list[tuple[int, int]]()

    def noted(block: Rows, options: Options) -> kernel.Lists | None:
        copies.append((block.lists.height, block.lists.join(block.qrels, on="qid").height))
        return judged(block, options)

    monkeypatch.setattr(kernel, "judged", noted)
    block, work = Rows(data.lists, data.lines, data.qrels), Work((exaequo.parse_measure("AP"),), data.options)
    found = scored(block, work), counted(block, work, (3,))
    assert len(copies) == 2
    monkeypatch.setattr(kernel, "_COPIES", 100)
    same(scored(block, work), found[0])
    assert counted(block, work, (3,)).sort("run", "topic").equals(found[1].sort("run", "topic"))
    assert len(copies) > 10
    assert all(size < 200 or number == 1 for number, size in copies[2:])


def test_a_topic_with_one_subtopic_among_others_with_other_ones() -> None:
    """That there is one alone could be computed in another way, with another last digit."""
    base = drawn(7)
    qrels = base.qrels.with_columns(iter=pl.col("qid"), rel=pl.lit(1.0))
    measures = list(map(exaequo.parse_measure, ("alpha_nDCG(alpha=0.1)@20", "nERR_IA(alpha=0.6)@20")))
    data = Drawn(base.lines, qrels, measures, Options())
    topics = qrels["qid"].unique().to_list()
    same(in_blocks(data, data.lines, qrels, [[topic] for topic in topics]), whole(data))


def test_lots_by_hand_and_evenly() -> None:
    """The first number of SplitMix64 for the seed 0 is known; lots are even, and those of other draws differ."""
    zero = np.zeros(1, dtype=np.uint64)
    found = lots(0, zero ^ of_names(["0 0"]), np.array([1]))  # what is mixed is then 0 + 1 step
    assert found[0] == (0xE220A8397B1DCDAF >> 11) * 2.0**-53
    place = np.arange(100_000)
    many = lots(1, np.repeat(of_names(["t"]), len(place)), place)
    assert abs(many.mean() - 0.5) < 0.005
    assert abs(np.corrcoef(many[1:], many[:-1])[0, 1]) < 0.02
    other = lots(1, np.repeat(of_names(["t"]), len(place)), place, 1)
    assert abs(np.corrcoef(many, other)[0, 1]) < 0.02
    assert of_names([]).shape == (0,)


def test_random_orders_depend_on_the_list_alone() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 1, "d": 0}}
    run = {"1": dict.fromkeys("abcdef", 1.0), "2": dict.fromkeys("abcdef", 1.0)}
    for seed in range(20):
        both = exaequo.evaluate(qrels, run, "RR", ties="random", seed=seed)["run", "random", "RR"].to_dict()
        alone = exaequo.evaluate({"2": qrels["2"]}, {"2": run["2"]}, "RR", ties="random", seed=seed)
        assert alone["run", "random", "RR"].to_dict()["2"] == both["2"]


@pytest.mark.parametrize("size", [11, 19, 30])
def test_what_stops_every_reader_is_computed_tie_by_tie(size: int) -> None:
    """A document at the end of a scale of 60 grades lets nobody pass; one of grade 3, in another list, lets many."""
    documents = dict.fromkeys((f"d{at}" for at in range(size)), 1.0)
    qrels = {"1": dict.fromkeys(("d1", "d2", "d3"), 60), "2": {"d1": 3, "d2": 60}}

    def found(measure: str, *topics: str) -> dict[str, float]:
        judged, run = {topic: qrels[topic] for topic in topics}, dict.fromkeys(topics, documents)
        return exaequo.evaluate(judged, run, measure, ties="expected")["run", "expected", measure].to_dict()

    measure = "ERR(max_rel=60)"
    assert found(measure, "1", "2") == {**found(measure, "1"), **found(measure, "2")}
    assert found(measure, "1") == found("RR", "1")


ROWS = [("r", "1", "a", 1.0), ("r", "1", "b", None), ("r", "1", "c", float("nan")), ("r", "1", "d", float("inf"))]
ROWS += [("r", "1", "e", 1.0), ("r", "1", "e", 3.0), ("r", "1", "", 1.0), ("s", "1", "e", 1.0)]


def test_bad_rows_are_named_or_dropped() -> None:
    lines = pl.DataFrame(ROWS, schema=["run", "qid", "docno", "sim"], orient="row")
    found = bad(lines, "sim").select("docno", "problem").rows()
    no_id = ("", "no id")
    assert found == [("b", "no sim"), ("c", "sim is NaN"), ("d", "sim is inf"), ("e", "there again"), no_id]
    qrels = pl.DataFrame({"qid": ["1", "1"], "docno": ["e", "a"], "rel": [1.0, 0.0]})
    lists = pl.DataFrame({"run": ["r", "s"], "qid": ["1", "1"]})
    work = Work((exaequo.parse_measure("RR"),), Options())
    with pytest.raises(
        exaequo.InputError, match=r"run 'r', topic '1': no sim \(document 'b'\); expected a finite number"
    ) as error:
        scored(Rows(lists, lines, qrels), work)
    assert "document 'e' is there again" in str(error.value)
    kept = scored(Rows(lists, lines, qrels), Work(work.measures, Options(), "drop"))
    assert kept.select("run", "value").rows() == [("r", 1.0), ("s", 1.0)]  # of e, the best score is kept
    with pytest.raises(exaequo.BadParameter, match="errors must be one of raise, drop"):
        Work(work.measures, Options(), "ignore")


def test_missing_lists() -> None:
    lines = pl.DataFrame({"run": ["r"], "qid": ["1"], "docno": ["a"], "sim": [1.0]})
    qrels = pl.DataFrame({"qid": ["1", "2", "3"], "docno": ["a", "b", "c"], "rel": [1.0, 1.0, 0.0]})
    lists = pl.DataFrame({"run": ["r"] * 3, "qid": ["1", "2", "3"]})
    measures = (exaequo.parse_measure("AP"),)

    def found(missing: str) -> list[tuple[str, float]]:
        return (
            scored(Rows(lists, lines, qrels), Work(measures, Options(missing=missing))).select("topic", "value").rows()
        )

    assert found("zero") == [("1", 1.0), ("2", 0.0)]
    assert found("skip") == [("1", 1.0)]
    with pytest.raises(exaequo.MissingTopics, match="run 'r': 1 evaluated topics missing, such as '2'"):
        found("error")


def test_tie_statistics_are_those_of_the_audit() -> None:
    from exaequo.evaluation import judged_runs
    from exaequo.tiestats import frame_of, tie_statistics

    data = drawn(9)
    found = counted(Rows(data.lists, data.lines, data.qrels), Work((), Options()), (3,)).sort("run", "topic")
    orderings = [ordering for ordering, _ in judged_runs(data.judged, data.runs, Options())]
    each = {ordering.run.name: tie_statistics(ordering, (3,)) for ordering in orderings}
    expected = frame_of(each, orderings[0].judgments.topics).sort("run", "topic")
    assert found.equals(expected)
    assert set(STRATEGIES) == {*data.options.ties}
