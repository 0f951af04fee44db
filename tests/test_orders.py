"""Systems sorted by several keys, and ordered by people: against tuples of fractions sorted in plain Python."""

from __future__ import annotations

import json
import random
import warnings
from fractions import Fraction
from itertools import combinations
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exaequo
from exaequo.cli import run as command
from exaequo.comparison import Comparison
from exaequo.comparison.orders import CONSENSUS, orders, places, sorts, sorts_of
from exaequo.errors import BadParameter, InputError
from exaequo.read.orderings import Preference, read_orderings
from helpers import EXAMPLES, evaluate, sampled

N = 10
KEYS = f"R@{N},Width@{N},AP@{N}"
Lists = dict[str, dict[str, list[int]]]


def drawn(seed: int, topics: int = 6, systems: int = 7) -> tuple[Lists, dict[str, int]]:
    """Return the ranks of relevant documents, system by system and topic by topic, and how many there are in all."""
    source = random.Random(seed)
    relevant = {f"t{at}": source.randint(1, 4) for at in range(topics)}
    lists = {
        f"s{at}": {topic: sorted(source.sample(range(1, N + 3), source.randint(0, n))) for topic, n in relevant.items()}
        for at in range(systems)
    }
    return lists, relevant


def files(lists: Lists, relevant: dict[str, int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgments and runs with relevant documents at these ranks, none of them tied."""
    qrels = {topic: {f"r{at}": 1 for at in range(n)} for topic, n in relevant.items()}
    runs: dict[str, Any] = {}
    for system, found in lists.items():
        runs[system] = {}
        for topic, ranks in found.items():
            at = {rank: f"r{number}" for number, rank in enumerate(ranks)}
            runs[system][topic] = {at.get(rank, f"x{rank}"): -float(rank) for rank in range(1, N + 3)}
    return qrels, runs


def keys(ranks: list[int], n: int) -> tuple[Fraction, Fraction, Fraction]:
    """Return recall, width (turned round) and AP of the first N, exactly."""
    found = [rank for rank in ranks if rank <= N]
    ap = sum((Fraction(at, rank) for at, rank in enumerate(found, 1)), Fraction(0)) / n
    return Fraction(len(found), n), -Fraction(max(found, default=N + 1)), ap


def mor(ranks: list[int], n: int) -> Fraction:
    """Return MOR@N by the formula of the paper, exactly."""
    found = [rank for rank in ranks if rank <= N]
    if not found:
        return Fraction(0)
    h, w, ap = len(found), max(found), keys(ranks, n)[2]
    worst = sum((Fraction(at, w - h + at) for at in range(1, h + 1)), Fraction(0)) / n
    best = (h - 1 + Fraction(h, w)) / n
    inner = ap if worst == best else (ap - worst) / (best - worst)
    return (h + (N - w + inner) / (N - h + 1)) / (min(n, N) + 1)


def ranked(figures: list[Any]) -> list[int]:
    return [1 + sum(other > each for other in figures) for each in figures]


def means(lists: Lists, relevant: dict[str, int]) -> list[tuple[Fraction, ...]]:
    """Return the mean keys of each system."""
    return [
        tuple(
            sum(column) / len(relevant)
            for column in zip(*(keys(found[t], n) for t, n in relevant.items()), strict=True)
        )
        for found in lists.values()
    ]


@pytest.mark.parametrize("seed", range(8))
def test_ranks_are_those_of_sorted_fractions(seed: int) -> None:
    lists, relevant = drawn(seed)
    lists["twin"] = lists["s0"]
    lists["s1"] = {topic: ranks[:1] for topic, ranks in lists["s2"].items()}
    scores = evaluate(*files(lists, relevant), [f"MOR@{N}", *KEYS.split(",")])
    table = orders(scores, sorts_of(KEYS))
    found = dict(zip(table["run"], table[KEYS.replace(",", ", ")], strict=True))
    assert found == dict(zip(lists, ranked(means(lists, relevant)), strict=True))
    assert found["twin"] == found["s0"]
    assert table["run"].to_list() == sorted(lists, key=lambda name: found[name])
    by_mor = dict(zip(table["run"], table[f"MOR@{N}"], strict=True))
    exact = [sum(mor(own[topic], n) for topic, n in relevant.items()) for own in lists.values()]
    assert by_mor == dict(zip(lists, ranked(exact), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_topic_by_topic(seed: int) -> None:
    """The paper: in one topic, MOR sorts as (recall, w, AP) does. Never the other way round; it ties some."""
    lists, relevant = drawn(seed, topics=12)
    lists["late"] = {topic: [4, 5][:n] for topic, n in relevant.items()}
    lists["early"] = {topic: [1, 6][:n] for topic, n in relevant.items()}
    scores = evaluate(*files(lists, relevant), [f"MOR@{N}", *KEYS.split(",")])
    (row,) = sorts(scores, sorts_of(KEYS)).filter(measure=f"MOR@{N}").to_dicts()
    pairs = same = opposite = alike = 0
    for topic, n in relevant.items():
        by_keys = [keys(own[topic], n) for own in lists.values()]
        by_mor = [mor(own[topic], n) for own in lists.values()]
        alike += ranked(by_keys) == ranked(by_mor)
        for a, b in combinations(range(len(lists)), 2):
            up, other = by_keys[a] > by_keys[b], by_mor[a] > by_mor[b]
            told = by_keys[a] != by_keys[b]
            pairs += told
            same += told and by_mor[a] != by_mor[b] and up == other
            opposite += told and by_mor[a] != by_mor[b] and up != other
    assert (row["topics"], row["pairs"], row["same"], row["opposite"]) == (12, pairs, same, opposite)
    assert row["same_order_percent"] == pytest.approx(100 * alike / 12)
    assert row["opposite"] == 0


def tau_b(one: list[Any], two: list[Any]) -> float:
    signs = [
        (int(a > b) - int(a < b), int(c > d) - int(c < d))
        for (a, c), (b, d) in combinations(zip(one, two, strict=True), 2)
    ]
    told = [sum(each != 0 for each in side) for side in zip(*signs, strict=True)]
    return sum(x * y for x, y in signs) / (told[0] * told[1]) ** 0.5 if all(told) else float("nan")


def test_agreement_with_a_sort() -> None:
    lists, relevant = drawn(5)
    scores = evaluate(*files(lists, relevant), ["AP", *KEYS.split(",")])
    (row,) = sorts(scores, sorts_of(KEYS)).filter(measure="AP").to_dicts()
    ap = [
        sum(sum(Fraction(i, r) for i, r in enumerate(own[t], 1)) / n for t, n in relevant.items())
        for own in lists.values()
    ]
    assert row["tau_b"] == pytest.approx(tau_b(means(lists, relevant), ap))
    inside = [
        tau_b(
            [keys(own[t], n) for own in lists.values()],
            [sum((Fraction(i, r) for i, r in enumerate(own[t], 1)), Fraction(0)) for own in lists.values()],
        )
        for t, n in relevant.items()
    ]
    assert row["topic_tau_b"] == pytest.approx(np.mean([each for each in inside if not isnan(each)]))
    (own,) = sorts(scores, sorts_of("AP")).filter(measure="AP").to_dicts()
    assert [own[name] for name in ("tau_b", "tau_ap", "rbo", "topic_tau_b")] == pytest.approx([1, 1, 1, 1])
    assert own["same_order_percent"] == 100


def test_noise_is_no_difference() -> None:
    """1/3 + 2/3 and 0.5 + 0.5 over two topics are one mean, and the next key decides."""
    assert places([np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, 5.0])]).tolist() == [1, 2, 0]
    relevant = {"t1": 6, "t2": 6, "t3": 6}
    lists = {
        "a": {"t1": [1], "t2": [1, 2], "t3": [1, 2, 3]},
        "b": {"t1": [1, 2], "t2": [2, 3], "t3": [4, 5]},
    }
    scores = evaluate(*files(lists, relevant), [f"R@{N}", f"Width@{N}"])
    table = orders(scores, sorts_of([f"R@{N},Width@{N}", f"R@{N}"]))
    assert table.sort("run")[f"R@{N}"].to_list() == [1, 1]
    assert table.sort("run")[f"R@{N}, Width@{N}"].to_list() == [1, 2]


def test_noise_is_no_difference_in_a_topic() -> None:
    """1/1 + 2/2 and 1/1 + 2/3 + 3/9 are both 2, but not to a computer."""
    scores = evaluate(*files({"a": {"t": [1, 2]}, "b": {"t": [1, 3, 9]}}, {"t": 4}), ["AP", "R@10"])
    (row,) = sorts(scores, sorts_of("AP,R@10")).filter(measure="R@10").to_dicts()
    assert (row["pairs"], row["same"], row["topic_tau_b"]) == (1, 1, 1)
    (row,) = sorts(scores, sorts_of("R@10")).filter(measure="AP").to_dicts()
    assert (row["pairs"], row["same"], row["opposite"]) == (1, 0, 0)


def test_the_tie_of_the_worked_example() -> None:
    example = EXAMPLES["s001-52-multikey"]["inputs"]
    found = files({"a": {"t": example["a"]}, "b": {"t": example["b"]}}, {"t": 4})
    scores = evaluate(*found, ["MOR@10", *KEYS.split(",")])
    table = orders(scores, sorts_of(KEYS))
    assert table.rows() == [("a", 1, 1, 1, 2, 1), ("b", 1, 1, 2, 1, 2)]
    (row,) = sorts(scores, sorts_of(KEYS)).filter(measure="MOR@10").to_dicts()
    assert (row["pairs"], row["same"], row["opposite"], row["same_order_percent"]) == (1, 0, 0, 0)


def test_keys_besides_the_measures_change_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = exaequo.compare(*sampled(), "MOR@50 AP")
        more = exaequo.compare(*sampled(), "MOR@50 AP", rank_by="R@50,Width@50,AP@50")
        all_in = exaequo.compare(*sampled(), "MOR@50 AP R@50 Width@50 AP@50", rank_by="R@50,Width@50,AP@50")
    assert (plain.orders, plain.sorts, plain.orderings) == (None, None, None)
    assert all(frame.equals(more.tables[name]) for name, frame in plain.tables.items())
    assert set(more.tables) - set(plain.tables) == {"orders", "sorts"}
    assert more.orders is not None and all_in.orders is not None
    assert more.orders.equals(all_in.orders.select(more.orders.columns))
    with pytest.raises(BadParameter, match=r"sort by AP\."):
        sorts_of("R@50,gm(AP)")


JUDGES = {
    "ann": {"hybrid": 1, "dense-fp16": 2, "bm25": 2, "logprob": 4, "boolean": 5, "llm-judge": 6},
    "bob": {"hybrid": 1, "bm25": 2, "dense-fp16": 3, "llm-judge": 4, "boolean": 5},
    "cyn": {"bm25": 1, "hybrid": 2, "logprob": 3, "dense-fp16": 4, "llm-judge": 5, "boolean": 6},
}


def people(**options: Any) -> Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return exaequo.compare(*sampled(), "AP R@50 E@10", **options)


def test_people_against_measures() -> None:
    result = people(orderings=JUDGES)
    assert result.orderings is not None
    scores = result.scores
    for measure, turned in (("AP", 1), ("R@50", 1), ("E@10", -1)):
        mean = {name: turned * scores.matrix(measure)[name].mean() for name in scores.runs}
        for judge, ranks in JUDGES.items():
            (row,) = result.orderings.filter(between="measure", one=measure, two=judge).to_dicts()
            told = [(a, b) for a in ranks for b in ranks if ranks[a] < ranks[b]]
            same = sum(mean[a] > mean[b] for a, b in told)
            assert (row["systems"], row["pairs"], row["same"]) == (len(ranks), len(told), same)
            assert row["opposite"] == sum(mean[a] < mean[b] for a, b in told)
            assert row["same_percent"] == pytest.approx(100 * same / len(told))
            assert row["tau_b"] == pytest.approx(tau_b([-ranks[a] for a in ranks], [mean[a] for a in ranks]))
            assert row["low_percent"] <= row["same_percent"] <= row["high_percent"]
            best, worst = max(ranks, key=mean.__getitem__), min(ranks, key=mean.__getitem__)
            assert row["same_best"] == (ranks[best] == min(ranks.values()))
            assert row["same_worst"] == (ranks[worst] == max(ranks.values()))


def test_the_consensus_is_the_mean_rank() -> None:
    result = people(orderings=JUDGES)
    assert result.orderings is not None
    shared = list(JUDGES["bob"])
    borda = []
    for system in shared:
        ranks = [
            Fraction(2 * sum(own[o] < own[system] for o in shared) + sum(own[o] == own[system] for o in shared) + 1, 2)
            for own in JUDGES.values()
        ]
        borda.append(-sum(ranks, Fraction(0)))
    mean = [result.scores.matrix("AP")[name].mean() for name in shared]
    (row,) = result.orderings.filter(one="AP", two=CONSENSUS).to_dicts()
    assert row["systems"] == 5
    assert row["tau_b"] == pytest.approx(tau_b(borda, mean))


def test_tied_systems_share_the_mean_of_their_ranks() -> None:
    """2, 2, 2, 4 and 2, 3, 4, 1 add up to 4, 5, 6, 5; with the lowest of shared ranks they would be 3, 4, 5, 5."""
    judges = {"a": {"x": 1, "y": 1, "z": 1, "w": 2}, "b": {"w": 1, "x": 2, "y": 3, "z": 4}}
    qrels = {"t1": {"r": 1}, "t2": {"r": 1}}
    runs = {
        name: {topic: {"r": 0.0} | {f"d{at}": 1.0 + at for at in range(above)} for topic in qrels}
        for above, name in enumerate("xwyz")
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = exaequo.compare(qrels, runs, "AP", orderings=judges)
    assert result.orderings is not None
    (row,) = result.orderings.filter(two=CONSENSUS).to_dicts()
    assert (row["pairs"], row["same"], row["opposite"]) == (5, 5, 0)


def test_an_order_with_ties_agrees_with_itself() -> None:
    same = {"x": 1, "y": 1, "z": 2}
    qrels = {"t1": {"r": 1}, "t2": {"r": 1}}
    runs = {name: {topic: {"r": 1.0, "d": float(name == "z") * 2} for topic in qrels} for name in "xyz"}
    result = exaequo.compare(qrels, runs, "AP", orderings={"a": same, "b": same})
    assert result.orderings is not None
    assert result.orderings["rbo"].to_list() == pytest.approx([1.0] * result.orderings.height)


def test_people_against_people() -> None:
    result = people(orderings=JUDGES)
    assert result.orderings is not None
    rows = result.orderings.filter(between="judges").to_dicts()
    assert [(row["one"], row["two"]) for row in rows] == [
        ("ann", "bob"),
        ("ann", "cyn"),
        ("bob", "cyn"),
        ("all", "all"),
    ]
    assert rows[1]["tau_b"] == pytest.approx(
        tau_b([*JUDGES["ann"].values()], [JUDGES["cyn"][a] for a in JUDGES["ann"]])
    )
    twice = people(orderings={"a": JUDGES["ann"], "b": {name: 10 * rank for name, rank in JUDGES["ann"].items()}})
    assert twice.orderings is not None
    (row,) = twice.orderings.filter(between="judges").to_dicts()
    assert [row[name] for name in ("tau_b", "alpha_ordinal", "same_percent")] == pytest.approx([1, 1, 100])
    assert row["same_best"] and row["same_worst"]


def test_alpha_of_two_orders_turned_round() -> None:
    """By hand: ranks 1, 2, 3 against 3, 2, 1. Ordinal distances of 1, 2, 3, each there twice, are 4, 4 and 16."""
    three = ("bm25", "hybrid", "boolean")
    judges = {"a": dict(zip(three, (1, 2, 3), strict=True)), "b": dict(zip(three, (3, 2, 1), strict=True))}
    result = people(orderings=judges)
    assert result.orderings is not None
    (row,) = result.orderings.filter(between="judges").to_dicts()
    seen, expected = 4 * 16, 2 * (4 * 4 + 4 * 4 + 4 * 16)
    assert row["alpha_ordinal"] == pytest.approx(1 - 5 * seen / expected)
    assert row["tau_b"] == pytest.approx(-1)


def test_systems_on_one_side_only_are_told() -> None:
    result = people(orderings={"ann": {**JUDGES["ann"], "elsewhere": 7}, "bob": JUDGES["bob"]})
    told = [note for note in result.warnings if note.startswith("orderings")]
    assert told == [
        "orderings: ann ranks what is no run here, left out: elsewhere",
        "orderings: bob does not rank 1 run: logprob",
    ]
    with pytest.raises(InputError, match=r"judge 'ann' ranks 1 run of these .*two or more of bm25"):
        people(orderings={"ann": {"bm25": 1, "elsewhere": 2}})


def test_the_interval_is_that_of_topics() -> None:
    """A judge who orders two systems that differ on every topic alike is followed in every sample."""
    qrels = {f"t{at}": {"r": 1} for at in range(10)}
    up, down = ({topic: {"r": rel, "x": 1.0} for topic in qrels} for rel in (2.0, 0.5))
    mixed = {topic: {"r": 2.0 if at < 6 else 0.5, "x": 1.0} for at, topic in enumerate(qrels)}
    other = {topic: {"r": 0.5 if at < 6 else 2.0, "x": 1.0} for at, topic in enumerate(qrels)}
    sure = exaequo.compare(qrels, {"up": up, "down": down}, "AP", orderings={"j": {"up": 1, "down": 2}})
    open_ = exaequo.compare(qrels, {"up": mixed, "down": other}, "AP", orderings={"j": {"up": 1, "down": 2}})
    assert sure.orderings is not None and open_.orderings is not None
    shares = ("same_percent", "low_percent", "high_percent")
    assert sure.orderings.select(shares).row(0) == (100, 100, 100)
    assert open_.orderings.select(shares).row(0) == (100, 0, 100)


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_files_of_orderings(tmp_path: Path) -> None:
    lines = written(tmp_path / "ann.txt", "# best first\nhybrid 1\n\nbm25\t2\nboolean 2\n")
    both = written(tmp_path / "both.txt", "ann hybrid 1\nann bm25 2\nbob bm25 1\nbob hybrid 2.5\n")
    table = written(tmp_path / "more.csv", "rank,run,user\n1,a run,cyn\n2,bm25,cyn\n")
    single = written(tmp_path / "dan.tsv", "system\trank\nhybrid\t1\nbm25\t1\n")
    assert read_orderings(lines) == [Preference("ann", lines, {"hybrid": 1, "bm25": 2, "boolean": 2})]
    found = read_orderings([lines, both, table, single])
    assert [each.judge for each in found] == ["ann (ann.txt)", "ann (both.txt)", "bob", "cyn", "dan"]
    assert found[2].ranks == {"bm25": 1, "hybrid": 2.5}
    assert found[3].ranks == {"a run": 1, "bm25": 2}
    assert read_orderings(()) == []


@pytest.mark.parametrize(
    ("name", "text", "where", "said"),
    [
        ("a.txt", "x 1\ny\n", "a.txt:2", "1 field ('y'); expected 2 fields, as above"),
        ("a.txt", "x y z 1\n", "a.txt:1", "4 fields ('x y z 1'); expected 2 or 3 fields: judge system rank"),
        ("a.txt", "x 1\nann y 2\n", "a.txt:2", "3 fields ('ann y 2'); expected 2 fields"),
        ("a.txt", "x 1\n\ny first\n", "a.txt:3", "the rank is 'first'; expected a finite number, 1 for the best"),
        ("a.txt", "x 1\ny nan\n", "a.txt:2", "the rank is 'nan'"),
        ("a.txt", "x 1\n# y\nx 2\n", "a.txt:3", "system 'x' of judge 'a' is here and in line 1"),
        ("a.txt", "", "a.txt", "the file is empty"),
        ("a.txt", "# nothing\n", "a.txt", "there are only comments"),
        ("a.csv", "system,rank\nx,1\ny,\n", "a.csv:3", "the rank is missing"),
        ("a.csv", "system,rank\nx,1\n,2\n", "a.csv:3", "the system is missing"),
        ("a.csv", "system,score\nx,1\n", "a.csv:1", "no column for the rank among system, score; expected rank or"),
        ("a.csv", "system,rank,rank\nx,1,2\n", "a.csv:1", "'rank' is here twice"),
        ("a.csv", "system,rank\n", "a.csv", "there are no rows"),
    ],
)
def test_bad_orderings(
    name: str, text: str, where: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / name, text)
    with pytest.raises(InputError) as caught:
        read_orderings(name)
    assert str(caught.value).startswith(f"{where}: {said}")


def test_all_problems_of_orderings_are_said(tmp_path: Path) -> None:
    """`exaequo check` does not read orderings: nobody is sent there."""
    for name, text in (("a.txt", "x first\ny 2\ny 3\n"), ("a.csv", "system,rank\nx,first\ny,2\ny,3\n")):
        with pytest.raises(InputError) as caught:
            read_orderings(written(tmp_path / name, text))
        first, second = str(caught.value).splitlines()
        assert "the rank is 'first'" in first
        assert "system 'y' of judge 'a'" in second
    with pytest.raises(InputError) as caught:
        read_orderings(written(tmp_path / "long.txt", "x first\n" * 30))
    assert len(caught.value.problems) == 30
    assert str(caught.value).splitlines()[20:] == ["(10 more in this input; `.problems` lists them)"]


def test_no_judge_is_taken_for_the_consensus() -> None:
    with pytest.raises(InputError, match="a judge is called 'consensus'; expected another name"):
        people(orderings={"ann": {"bm25": 1, "hybrid": 2}, "consensus": {"bm25": 2, "hybrid": 1}})
    alone = people(orderings={"consensus": {"bm25": 2, "hybrid": 1}}).orderings
    assert alone is not None
    assert {*alone["two"]} == {"consensus"}


def test_who_tells_nothing_apart_has_no_best() -> None:
    table = people(orderings={"ann": dict.fromkeys(JUDGES["ann"], 1), "bob": JUDGES["bob"]}).orderings
    assert table is not None
    ends = table.select("same_best", "same_worst")
    apart = (table["two"] != "ann") & (table["one"] != "ann")
    assert all(row == (None, None) for row in ends.filter(~apart).rows())
    assert None not in ends.filter(apart)["same_best"]


def test_orderings_are_files_or_ranks() -> None:
    for wrong in ({"hybrid": 1}, [3]):
        with pytest.raises(BadParameter, match="orderings are files"):
            read_orderings(wrong)  # type: ignore[arg-type]


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    sampled().save(tmp_path)
    runs = sorted(map(str, Path("runs").glob("*")))
    for judge, ranks in JUDGES.items():
        written(tmp_path / f"{judge}.txt", "".join(f"{system} {rank}\n" for system, rank in ranks.items()))
    asked = ["compare", "qrels.txt", *runs, "-m", "MOR@50", "-m", "AP", "--rank-by", "R@50,Width@50,AP@50"]
    asked += [word for judge in JUDGES for word in ("--orderings", f"{judge}.txt")]
    assert command([*asked, "--rank-by", "AP", "--json"]) == 0
    captured = capfd.readouterr()
    document = json.loads(captured.out)
    assert [row["sort"] for row in document["sorts"]] == ["R@50, Width@50, AP@50"] * 2 + ["AP"] * 2
    assert document["orders"][0] == {"run": "hybrid", "MOR@50": 1, "AP": 1, "R@50, Width@50, AP@50": 1}
    assert {row["two"] for row in document["orderings"]} == {*JUDGES, CONSENSUS, "all"}
    assert "bob.txt: bob does not rank 1 run: logprob" in captured.err
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = exaequo.compare("qrels.txt", runs, "MOR@50 AP", orderings=[f"{judge}.txt" for judge in JUDGES])
    assert same.orderings is not None
    assert [row["same"] for row in document["orderings"]] == same.orderings["same"].to_list()
    assert command([*asked, "--table", "orders"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[2].split("  ")[0] == "run"
    assert "R@50, Width@50, AP@50" in lines[2]
    for table, option in (
        ("orders", "rank-by"),
        ("sorts", "rank-by"),
        ("orderings", "orderings"),
        ("inverted", "also"),
    ):
        assert command(["compare", "qrels.txt", *runs, "--table", table]) == 2
        assert f"There is no table {table} without --{option}." in capfd.readouterr().err
    written(tmp_path / "bad.txt", "hybrid 1\nbm25\n")
    assert command([*asked, "--orderings", "bad.txt"]) == 1
    assert "bad.txt:2: 1 field ('bm25')" in capfd.readouterr().err
