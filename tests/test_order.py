"""Tie strategies: sort keys and nothing else."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exaequo import BadParameter, InputError, Run, read_qrels, read_run
from exaequo.choices import STRATEGIES
from exaequo.judge import judge, prepare
from exaequo.order import KEYS, Ordering, Ranking
from helpers import Grades, Sims, collections


def ordering(qrels: object, run: object, precision: str = "double") -> Ordering:
    return Ordering(judge(read_run(run), prepare(read_qrels(qrels))), precision)


def docnos(found: Ordering, ties: str, **options: int) -> list[str]:
    run: Run = found.judged_run.run
    return run.frame["docno"].gather(found.ranking(ties, **options).row).to_list()


QRELS = {"1": {"b": 1, "c": 2, "d": 0, "e": -1, "f": 200}}
TIED = {"1": dict.fromkeys("dcbaef", 1.0)}


def test_each_strategy() -> None:
    found = ordering(QRELS, TIED)
    assert docnos(found, "conventional") == list("fedcba")
    # not judged, judged below 0, judged 0 (also above 127), grade 1, grade 2; names descend among equals
    assert docnos(found, "realistic") == list("aefdbc")
    assert docnos(found, "optimistic") == list("cbfdea")
    assert docnos(found, "input") == list("dcbaef")
    assert sorted(docnos(found, "random", seed=1)) == list("abcdef")
    assert docnos(found, "random", seed=1) == docnos(found, "random", seed=1)
    assert len({tuple(docnos(found, "random", seed=seed)) for seed in range(20)}) > 10


def test_random_is_uniform() -> None:
    found = ordering({"1": {"a": 1}}, {"1": {"a": 1.0, "b": 1.0, "c": 1.0}})
    seen = [tuple(docnos(found, "random", seed=seed)) for seed in range(600)]
    for order in itertools.permutations("abc"):
        assert 60 < seen.count(order) < 140


def test_rank_of_the_file() -> None:
    lines = "".join(
        f"1 Q0 {docno} {rank} {sim} r\n" for docno, rank, sim in zip("abc", (3, 1, 10), (1, 1, 2), strict=True)
    )
    found = ordering({"1": {"a": 1}}, _file(lines))
    assert docnos(found, "rank") == list("cba")  # scores come first, whatever the ranks say
    broken = ordering({"1": {"a": 1}}, _file(lines.replace(" 3 ", " third ")))
    with pytest.raises(InputError, match=r"the rank of document 'a' of topic '1' is 'third'"):
        broken.ranking("rank")
    for rank in ("inf", "-inf", "nan", "1e999"):
        with pytest.raises(InputError, match=rf"the rank of document 'a' of topic '1' is '{rank}'; expected a number"):
            ordering({"1": {"a": 1}}, _file(lines.replace(" 3 ", f" {rank} "))).ranking("rank")
    with pytest.raises(InputError, match="there is no rank"):
        ordering({"1": {"a": 1}}, {"1": {"a": 1.0, "b": 1.0}}).ranking("rank")


def _file(text: str) -> Run:
    from exaequo.read import Source
    from exaequo.read.trec import RUN, parse

    return Run("r", parse(text.encode(), RUN, "r.txt"), Source("r.txt"))


def test_topics_that_take_turns() -> None:
    """Each list is out of order, which no two lines that stand together show."""
    lines = "1 Q0 a 1 1 r\n2 Q0 c 1 1 r\n1 Q0 b 2 2 r\n2 Q0 d 2 2 r\n"
    found = ordering({"1": {"a": 1}, "2": {"c": 1}}, _file(lines))
    assert docnos(found, "conventional") == list("badc")


def test_names_compare_as_bytes() -> None:
    found = ordering({"1": {"a": 1}}, {"1": dict.fromkeys(("a", "B", "é", "10", "9", "𝔸", "Ａ"), 0.0)})
    names = docnos(found, "conventional")
    assert [name.encode() for name in names] == sorted((name.encode() for name in names), reverse=True)


def test_equal_scores() -> None:
    run = {"1": {"a": 0.0, "b": -0.0, "c": 2.0000000001, "d": 2.0}}
    assert ordering({"1": {"a": 1}}, run).n_tied == 2
    assert docnos(ordering({"1": {"a": 1}}, run), "conventional") == list("cdba")
    single = ordering({"1": {"a": 1}}, run, "single")
    assert single.n_tied == 4
    assert docnos(single, "conventional") == list("dcba")


def test_depth_cuts_after_ordering() -> None:
    found = ordering(QRELS, TIED)
    assert docnos(found, "optimistic", depth=2) == list("cb")
    assert docnos(found, "realistic", depth=2) == list("ae")


def test_unknown_strategy() -> None:
    with pytest.raises(BadParameter, match=r"did you mean 'realistic'\?"):
        ordering(QRELS, TIED).ranking("realist")
    with pytest.raises(BadParameter, match="double, single"):
        ordering(QRELS, TIED, "half")


@given(collections(), st.sampled_from(STRATEGIES[:3]), st.sampled_from(["double", "single"]))
def test_the_same_as_one_plain_sort(collection: tuple[Grades, Sims], ties: str, precision: str) -> None:
    """Sorting by score once and touching only ties gives what sorting by all keys gives."""
    qrels, run = collection
    found = ordering(qrels, run, precision)
    ranking = found.ranking(ties)
    frame = found.judged_run.run.frame
    topics = found.judged_run.judgments.topics.to_list()
    expected = []
    for topic in topics:
        keyed = []
        for docno, sim in run.get(topic, {}).items():
            grade = qrels[topic].get(docno, float("-inf"))
            key = {"conventional": 0.0, "realistic": -grade, "optimistic": grade}[ties]
            keyed.append((float(np.float32(sim)) + 0.0 if precision == "single" else sim + 0.0, key, docno.encode()))
        expected += [(topic, docno.decode()) for _, _, docno in sorted(keyed, reverse=True)]
    pairs = zip(ranking.topic, frame["docno"].gather(ranking.row), strict=True)
    assert [(topics[code], docno) for code, docno in pairs] == expected
    assert ranking.rank.tolist() == [rank for topic in topics for rank in range(1, len(run.get(topic, {})) + 1)]


def test_every_strategy_has_its_key() -> None:
    assert set(STRATEGIES) == {"conventional", "input", *KEYS}  # names, and the file as it is, need none


@given(collections(), st.sampled_from([name for name in STRATEGIES if name != "rank"]), st.integers(1, 6))
def test_what_is_kept_is_ordered_as_in_the_whole(collection: tuple[Grades, Sims], ties: str, depth: int) -> None:
    """Lists cut after a tie, and judged otherwise, are what sorting these lines anew gives."""
    qrels, run = collection
    lines = judge(read_run(run), prepare(read_qrels(qrels)))
    found = Ordering(lines)
    base = found.ranking("input")
    groups = base.groups
    kept = np.zeros(len(lines.row), dtype=bool)
    kept[base.line] = (groups.before < depth)[groups.of] & (base.topic != 1)
    other = replace(lines, grade=lines.grade[::-1].copy(), judged=lines.judged[::-1].copy())
    for chosen in (None, kept):
        anew = Ordering(other if chosen is None else other.part(chosen))
        again = found.rejudged(other, chosen)
        one, two = anew.ranking(ties, seed=3), again.ranking(ties, seed=3)
        for name in ("topic", "rank", "grade", "judged", "line"):
            assert np.array_equal(getattr(one, name), getattr(two, name)), name
        assert np.array_equal(one.groups.size, two.groups.size)


def small(depth: int | None = None) -> Ranking:
    """Three topics, the second of which the run lacks: a2 b2 | c1 d1 e1 f0 in topic 1, g5 | h4 i4 in topic 3."""
    qrels = {"1": {"a": 1, "c": 2, "e": 0, "f": 3}, "2": {"z": 1}, "3": {"h": 1, "i": -1}}
    run = {"1": dict(zip("abcdef", (2.0, 2, 1, 1, 1, 0), strict=True)), "3": {"h": 4.0, "g": 5.0, "i": 4.0}}
    return ordering(qrels, run).ranking("optimistic", depth=depth)


def test_what_measures_see_by_hand() -> None:
    ranking = small()
    assert ranking.topic.tolist() == [0] * 6 + [2] * 3
    assert ranking.rank.tolist() == [1, 2, 3, 4, 5, 6, 1, 2, 3]
    assert ranking.grade.tolist() == [1, 0, 2, 0, 0, 3, 0, 1, -1]
    assert ranking.judged.tolist() == [True, False, True, True, False, True, False, True, True]
    assert ranking.returned.tolist() == [6, 0, 3]
    assert ranking.gainful.tolist() == [0, 2, 5, 7]
    assert ranking.n_rel().tolist() == [3, 1, 1]
    hits = ranking.hits()
    assert (hits.topic.tolist(), hits.rank.tolist(), hits.nth.tolist(), hits.grade.tolist()) == (
        [0, 0, 0, 2],
        [1, 3, 6, 2],
        [1, 2, 3, 1],
        [1, 2, 3, 1],
    )
    top = ranking.hits(2, 3)
    assert [column.tolist() for column in (top.topic, top.rank, top.nth, top.grade)] == [[0], [3], [1], [2]]
    assert ranking.total(hits.topic).tolist() == [3, 0, 1]
    assert ranking.total(hits.topic[:2], hits.grade[:2]).tolist() == [3, 0, 0]
    assert small(depth=2).returned.tolist() == [2, 0, 2]


def test_ties_by_hand() -> None:
    groups = small().groups
    assert groups.start.tolist() == [0, 2, 5, 6, 7]
    assert groups.topic.tolist() == [0, 0, 0, 2, 2]
    assert groups.before.tolist() == [0, 2, 5, 0, 1]
    assert groups.size.tolist() == [2, 3, 1, 1, 2]
    assert groups.of.tolist() == [0, 0, 1, 1, 1, 2, 3, 4, 4]
    assert groups.sums(small().grade).tolist() == [1, 2, 3, 0, 0]
    inside, before = groups.counts(small().relevant())
    assert (inside.tolist(), before.tolist()) == ([1, 1, 1, 0, 1], [0, 1, 2, 0, 0])
    inside, before = groups.counts(small().topic < 0)
    assert (inside.tolist(), before.tolist()) == ([0] * 5, [0] * 5)
    assert small().part(small().rank > 2).rank.tolist() == [3, 4, 5, 6, 3]


@pytest.mark.parametrize(
    ("run", "order"),
    [
        ({"1": {"a": 1.0, "b": 2.0}, "2": {"c": 0.0}}, "bac"),
        ({"1": {"a": 1.0, "b": 2.0}, "2": {"c": 0.0, "d": -1.0, "e": 3.0}}, "baecd"),
        ({"2": {"c": 5.0}, "1": {"a": 2.0, "b": 1.0}}, "abc"),
        ({"1": {"a": 2.0, "b": 3.0}}, "ba"),
        ({"2": {"e": 1.0, "d": 1.0, "c": 2.0}, "1": {"a": 0.0, "b": 0.0, "f": -1.0}}, "abfced"),
        ({"2": {"c": 1.0}, "1": {"f": 0.0, "a": 2.0, "e": 0.0, "d": 2.0, "b": 3.0}}, "badfec"),  # too uneven for rows
    ],
)
def test_lists_that_are_not_in_order(run: Sims, order: str) -> None:
    assert docnos(ordering({"1": {"a": 1}, "2": {"c": 1}}, run), "input") == list(order)


def test_a_list_in_pieces_is_one() -> None:
    lines = [("1", "a", 1.0), ("2", "c", 1.0), ("1", "b", 2.0), ("2", "d", 0.5), ("1", "e", 0.1)]
    found = ordering(
        {"1": {"a": 1}, "2": {"c": 1}}, _file("".join(f"{qid} Q0 {docno} 0 {sim} r\n" for qid, docno, sim in lines))
    )
    assert docnos(found, "input") == list("baecd")
    assert found.ranking().rank.tolist() == [1, 2, 3, 1, 2]


def test_a_list_that_goes_on_after_another() -> None:
    lines = [("1", "a", 3.0), ("1", "b", 2.0), ("2", "c", 6.0), ("1", "d", 5.0)]
    for some, order in ((lines, "dabc"), (lines[1:], "dbc")):
        text = "".join(f"{qid} Q0 {docno} 0 {sim} r\n" for qid, docno, sim in some)
        assert docnos(ordering({"1": {"a": 1}, "2": {"c": 1}}, _file(text)), "input") == list(order)


def test_long_lists_in_order_stay_as_they_are() -> None:
    run = {topic: {f"{topic}-{at}": -float(at // 9) for at in range(200)} for topic in ("3", "1", "2")}
    found = docnos(ordering({topic: {"x": 1} for topic in "123"}, run), "input")
    assert found == [f"{topic}-{at}" for topic in "123" for at in range(200)]


def test_other_documents_in_the_same_places() -> None:
    ranking = small()
    turned = ranking.reordered(ranking.line[::-1])
    assert turned.rank.tolist() == ranking.rank.tolist()
    for name in ("grade", "judged", "line"):
        assert getattr(turned, name).tolist() == getattr(ranking, name)[::-1].tolist()


def test_nothing_returned_is_nothing_tied() -> None:
    found = ordering({"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 1.0, "x": 1.0}}).of_topic(1)
    assert (found.n_tied, len(found.ranking().rank), found.ranking().returned.tolist()) == (0, 0, [0, 0])
    assert len(found.ranking().groups.size) == 0


def test_ranks_of_the_file_follow_what_is_kept() -> None:
    lines = "".join(
        f"1 Q0 {docno} {rank} {sim} r\n" for docno, rank, sim in zip("abcd", (1, 2, 2, 1), (2, 2, 1, 1), strict=True)
    )
    found = ordering({"1": {"a": 1}}, _file(lines))
    assert docnos(found, "rank") == list("abdc")
    kept = np.array([False, False, True, True])
    again = found.rejudged(found.judged_run, kept)
    assert docnos(again, "rank") == list("dc")
    assert (again.n_tied, again.ranking().rank.tolist()) == (2, [3, 4])


def test_standing_lists_have_the_realistic_order_and_no_ties() -> None:
    found = ordering(QRELS, TIED)
    still = found.standing()
    assert still.n_tied == 0
    assert all(docnos(still, ties) == docnos(found, "realistic") for ties in STRATEGIES if ties != "rank")
    assert still.standing() is still


def test_a_ranking_is_remembered_by_what_it_depends_on() -> None:
    found = ordering(QRELS, TIED)
    assert found.ranking("realistic", seed=1) is found.ranking("realistic", seed=2)
    assert found.ranking("random", seed=1) is not found.ranking("random", seed=2)
    assert found.ranking(depth=2) is not found.ranking()
    free = ordering({"1": {"a": 1}}, {"1": {"a": 2.0, "b": 1.0}})
    assert free.ranking("optimistic") is free.ranking("conventional")
