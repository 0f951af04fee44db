"""Pools against loops in Python, leaving out against judgments edited by hand, and what must hold for all runs."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo.cli import run as command
from exaequo.pooling import Pool
from helpers import DOCNOS, SIMS, TOPICS, evaluate

Lists = dict[str, dict[str, float]]


def pool(*arguments: Any, **options: Any) -> Pool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.pool(*arguments, **options)


@st.composite
def campaigns(draw: st.DrawFn, least: int = 1) -> dict[str, Lists]:
    """Draw a few runs, with many ties; each has a topic."""
    lists = st.dictionaries(TOPICS, st.dictionaries(DOCNOS, SIMS, min_size=1, max_size=9), min_size=1, max_size=3)
    return {f"r{at}": draw(lists) for at in range(draw(st.integers(least, 4)))}


def first(docs: dict[str, float], depth: int, ties: str) -> dict[str, int]:
    """Return the documents of a list that come into a pool, with their ranks."""
    if ties == "all":
        ranks = {name: 1 + sum(other > sim for other in docs.values()) for name, sim in docs.items()}
    else:
        order = sorted(docs, key=lambda name: (docs[name], name.encode()), reverse=True)
        ranks = {name: rank for rank, name in enumerate(order, 1)}
    return {name: rank for name, rank in ranks.items() if rank <= depth}


def by_hand(runs: dict[str, Lists], depth: int, ties: str) -> dict[tuple[str, str], dict[str, int]]:
    """Return the pool: for each topic and document the runs that found it, and its rank there."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for run, lists in runs.items():
        for topic, docs in lists.items():
            for name, rank in first(docs, depth, ties).items():
                found.setdefault((topic, name), {})[run] = rank
    return found


@settings(max_examples=80)
@given(campaigns(), st.integers(1, 6), st.sampled_from(["all", "conventional"]))
def test_the_pool_is_the_union_of_the_first_documents(runs: dict[str, Lists], depth: int, ties: str) -> None:
    expected, strict = by_hand(runs, depth, ties), by_hand(runs, depth, "conventional")
    found = pool(runs, depth, ties_at_depth=ties)
    rows = [(*key, len(ranks), min(ranks.values())) for key, ranks in expected.items()]
    assert found.frame.rows() == sorted(rows, key=lambda row: (row[0].encode(), row[1].encode()))
    assert found.more_by_ties == len(expected.keys() - strict.keys())
    for row in found.runs.to_dicts():
        own = [ranks for ranks in expected.values() if row["run"] in ranks]
        assert (row["documents"], row["unique"]) == (len(own), sum(len(ranks) == 1 for ranks in own))
        before = sum(row["run"] in ranks for ranks in strict.values())
        assert row["by_tie"] == len(own) - before
    for depth_, documents in found.curve.select("depth", "documents").rows():
        assert documents == len(by_hand(runs, depth_, ties))
    sizes = [sum(topic == each for each, _ in expected) for topic in {topic for topic, _ in expected}]
    at_depth = found.curve.filter(pl.col("depth") == depth).row(0, named=True)
    assert (at_depth["least"], at_depth["median"], at_depth["most"]) == (min(sizes), np.median(sizes), max(sizes))


@settings(max_examples=40)
@given(campaigns(least=2), st.integers(1, 6), st.sampled_from(["all", "conventional", "random"]))
def test_deeper_is_larger_and_the_order_of_runs_is_nothing(runs: dict[str, Lists], depth: int, ties: str) -> None:
    found = pool(runs, depth, ties_at_depth=ties)
    assert pool(dict(reversed(runs.items())), depth, ties_at_depth=ties).frame.equals(found.frame)
    deeper = pool(runs, depth + 1, ties_at_depth=ties).frame
    assert set(found.frame.select("qid", "docno").rows()) <= set(deeper.select("qid", "docno").rows())
    assert found.curve["documents"].is_sorted()


@settings(max_examples=40)
@given(campaigns(), st.integers(1, 4))
def test_names_decide_nothing_where_whole_ties_come_in(runs: dict[str, Lists], depth: int) -> None:
    def turned(name: str) -> str:
        return "".join(chr(0x2FF - ord(each)) for each in name)

    other = {run: {t: {turned(d): s for d, s in docs.items()} for t, docs in own.items()} for run, own in runs.items()}
    one, two = pool(runs, depth).frame, pool(other, depth).frame
    assert {(t, turned(d), *rest) for t, d, *rest in one.rows()} == set(two.rows())


def test_other_orders_at_the_depth() -> None:
    rows = [("1", "a", 2.0, 3), ("1", "b", 2.0, 1), ("1", "c", 2.0, 2)]
    run = pl.DataFrame(rows, schema=["qid", "docno", "sim", "rank"], orient="row")
    chosen = {ties: pool(run, 1, ties_at_depth=ties).frame["docno"].to_list() for ties in ("rank", "input", "all")}
    assert chosen == {"rank": ["b"], "input": ["a"], "all": ["a", "b", "c"]}
    assert pool(run, 1, ties_at_depth="conventional").frame["docno"].to_list() == ["c"]
    assert pool(run, 1).more_by_ties == 2


# ---------------------------------------------------------------------------------------------------------- by hand

ONE = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"x": 2.0, "y": 1.0}}
TWO = {"1": {"b": 3.0, "d": 2.0, "a": 1.0}, "2": {"x": 1.0}}
THREE = {"1": {"e": 3.0, "d": 2.0, "a": 1.0}, "2": {"z": 2.0, "x": 1.0}}
QRELS = {"1": {"a": 1, "b": 0, "d": 1, "e": 2}, "2": {"x": 1, "z": 1, "q": 1}}
RUNS = {"one": ONE, "two": TWO, "three": THREE}


def test_two_documents_of_three_runs() -> None:
    found = pool(RUNS, 2, qrels=QRELS, teams={"T": ["one", "two"]})
    # Topic 1: a b, b d, e d.  Topic 2: x y, x, z x.
    assert found.frame.rows() == [
        ("1", "a", 1, 1, 1.0),
        ("1", "b", 2, 1, 0.0),
        ("1", "d", 2, 2, 1.0),
        ("1", "e", 1, 1, 2.0),
        ("2", "x", 3, 1, 1.0),
        ("2", "y", 1, 2, None),
        ("2", "z", 1, 1, 1.0),
    ]
    assert found.runs.drop("unique_percent").rows() == [
        ("one", "T", 4, 2, 0, 2, 1),  # a b x y: a and y alone, a relevant
        ("two", "T", 3, 0, 0, 2, 0),  # b d x
        ("three", "three", 4, 2, 0, 4, 2),  # e d z x
    ]
    assert found.teams.drop("unique_percent").rows() == [("T", 2, 5, 3, 3, 1), ("three", 1, 4, 2, 4, 2)]
    assert found.topics.rows() == [("1", 4, 0, 2, 4, 3), ("2", 3, 1, 2, 2, 2)]
    assert found.curve.select("depth", "documents", "added", "relevant").rows() == [
        (1, 5, 5, 4),
        (2, 7, 2, 5),
        (3, 8, 1, 5),
    ]
    assert found.curve["relevant_percent"].to_list() == pytest.approx([400 / 6, 500 / 6, 500 / 6])
    assert found.sentences == [
        "7 documents to judge: the first 2 of 3 runs, 2 topics; 3 to 4 a topic, median 3.5",
        "1 found by every run, 4 by one alone",
        "Ties that straddle the depth come in whole: 0 documents more",
        "6 are judged already, 5 of them relevant",
    ]


def test_files(tmp_path: Path) -> None:
    found = pool(RUNS, 1, qrels={"1": {"a": 2, "b": -1, "e": 0.5}, "2": {"x": 1}})
    found.save(tmp_path / "p.qrels")
    lines = (tmp_path / "p.qrels").read_text(encoding="utf-8").splitlines()
    assert lines == ["1 0 a 2", "1 0 b -1", "1 0 e 0.5", "2 0 x 1", "2 0 z -1"]
    assert exaequo.read_qrels(tmp_path / "p.qrels").frame.height == 5
    found.save(tmp_path / "p.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[1] == {"qid": "1", "docno": "b", "runs": 1, "best_rank": 1, "judgment": None}
    found.save(tmp_path / "p.txt")
    assert (tmp_path / "p.txt").read_text(encoding="utf-8").splitlines()[:2] == [
        "qid\tdocno\truns\tbest_rank\tjudgment",
        "1\ta\t1\t1\t2.0",
    ]
    assert pool(RUNS, 1).text("qrels").splitlines()[0] == "1 0 a -1"
    found.save(tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text(encoding="utf-8").splitlines()[1] == "1,a,1,1,2.0"
    for name, kind, what in (("d 1", "qrels", "blank"), ("d\t1", "tsv", "tab or line end")):
        with pytest.raises(exaequo.InputError, match=f"has a {what}; expected none in {kind}"):
            pool({"1": {name: 1.0}}).text(kind)


def test_names_and_grades_are_written_as_they_are() -> None:
    """Tables with tabs are read without quotes; no grade is too large."""
    found = pool({"1": {'a"b': 2.0, '"c"': 1.0}}, qrels={"1": {'a"b': 1e20}}, max_grade=1e30)
    assert found.text("tsv").splitlines()[1:] == ['1\t"c"\t1\t2\t', '1\ta"b\t1\t1\t1e+20']
    assert found.text("qrels").splitlines() == ['1 0 "c" -1', '1 0 a"b 1e+20']


def test_sentences_in_the_singular() -> None:
    found = pool({"1": {"a": 2.0}, "2": {"b": 1.0}}, qrels={"1": {"a": 1}})
    assert found.sentences[0] == "2 documents to judge: the first 100 of 1 run, 2 topics; 1 a topic"
    assert found.sentences[-1] == "1 is judged already, 1 of them relevant"


# ------------------------------------------------------------------------------------------------------- leaving out


def campaign(seed: int, ties: bool) -> tuple[Lists, dict[str, Lists]]:
    random = np.random.default_rng(seed)
    qrels: Lists = {f"t{at}": {f"d{doc:02}": float(random.integers(0, 3)) for doc in range(24)} for at in range(4)}
    runs: dict[str, Lists] = {}
    for name in "abcde":
        runs[name] = {}
        for topic in qrels:
            docs = random.permutation(40)[:15]
            sims = random.integers(0, 8, 15) if ties else random.permutation(15)
            runs[name][topic] = {f"d{doc:02}": float(sim) for doc, sim in zip(docs, sims, strict=True)}
    return qrels, runs


@pytest.mark.parametrize(("seed", "ties"), [(1, False), (2, True), (3, True)])
@pytest.mark.parametrize("teams", [{}, {"T": ["a", "c"]}])
def test_leaving_out_is_editing_the_judgments(seed: int, ties: bool, teams: dict[str, list[str]]) -> None:
    qrels, runs = campaign(seed, ties)
    measures = ["AP", "nDCG@10", "Bpref", "Noise@5"]
    found = pool(runs, 5, qrels=qrels, leave_out=True, measures=measures, teams=teams)
    team = {run: next((name for name, own in teams.items() if run in own), run) for run in runs}
    pooled = by_hand(runs, 5, "all")
    full = evaluate(qrels, runs, measures)
    for row in found.left_out.to_dicts():
        own = team[row["run"]]
        lost = {key for key, ranks in pooled.items() if {team[run] for run in ranks} == {own}}
        edited = {t: {d: rel for d, rel in docs.items() if (t, d) not in lost} for t, docs in qrels.items()}
        after = evaluate(edited, runs, measures)
        lower = row["measure"] == "Noise@5"
        for name, scores in (("before", full), ("after", after)):
            means = {run: scores.mean(row["measure"], run=run) for run in runs}
            assert row[name] == pytest.approx(means[row["run"]], abs=1e-12)
            mine = means[row["run"]]
            better = sum(m < mine - 1e-9 if lower else m > mine + 1e-9 for m in means.values())
            assert row[f"rank_{name}"] == 1 + better
        assert row["difference"] == row["after"] - row["before"]
        assert row["difference_percent"] == pytest.approx(100 * row["difference"] / row["before"])
        assert row["team"] == own
    changed = np.abs(found.left_out.filter(pl.col("measure") == "AP")["difference_percent"].to_numpy())
    summed = found.overview.row(0, named=True)
    assert summed["mean_percent"] == pytest.approx(changed.mean())
    assert abs(summed["largest_percent"]) == pytest.approx(changed.max())
    assert changed.max() > 0


def test_lots_are_those_of_all_judgments() -> None:
    """Only a judgment of 0 is lost, in one topic: no order changes, random or not."""
    runs = {name: {t: dict.fromkeys("abcdef", 1.0) for t in "12"} for name in ("one", "two")}
    runs["one"]["2"]["own"] = 2.0
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "own": 0, "c": 0}}
    for seed in range(5):
        found = pool(runs, 3, qrels=qrels, leave_out=True, measures="AP", ties="random", seed=seed)
        assert found.left_out["difference"].to_list() == [0, 0]


def test_a_topic_that_loses_all_its_relevant_documents_scores_nothing() -> None:
    runs = {"one": {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}, "two": {"1": {"b": 1.0}, "2": {"c": 1.0}}}
    found = pool(runs, 2, qrels={"1": {"a": 1}, "2": {"c": 1}}, leave_out=True, measures="AP").left_out
    assert found.select("before", "after", "rank_before", "rank_after").rows() == [(1.0, 0.5, 1, 1), (0.5, 0.5, 2, 2)]


def test_runs_that_say_the_same_lose_nothing() -> None:
    qrels, runs = campaign(4, ties=True)
    found = pool({"a": runs["a"], "b": runs["a"]}, 5, qrels=qrels, leave_out=True)
    assert found.left_out["difference"].to_list() == [0.0] * 10
    assert found.overview["ranks_most"].to_list() == [0] * 5


# -------------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    lines = [f"{topic} 0 {doc} {rel}\n" for topic, docs in QRELS.items() for doc, rel in docs.items()]
    Path("qrels").write_text("".join(lines), encoding="utf-8")
    for name, run in RUNS.items():
        rows = [f"{topic} Q0 {doc} 1 {sim} {name}\n" for topic, docs in run.items() for doc, sim in docs.items()]
        Path(name).write_text("".join(rows), encoding="utf-8")
    return list(RUNS)


def out(capfd: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert command(arguments) == code
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err
    return captured.out, captured.err


def test_the_command(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    text, _ = out(capfd, "pool", *files, "--depth", "2", "-o", "pool.tsv")
    assert text.startswith("7 documents to judge: the first 2 of 3 runs")
    assert Path("pool.tsv").read_text(encoding="utf-8") == exaequo.pool(RUNS, 2).text()
    written, _ = out(capfd, "pool", *files, "--depth", "2", "-o", "-", "--as", "qrels")
    assert written.splitlines()[0] == "1 0 a -1"
    Path("teams.csv").write_text("run,team\none,T\ntwo,T\n", encoding="utf-8")
    given = ["pool", *files, "--depth", "2", "--qrels", "qrels", "--leave-out", "-m", "AP", "--json"]
    one, _ = out(capfd, *given, "--teams", "teams.csv")
    assert one == out(capfd, *given, "--team", "T=one,two")[0]
    document = json.loads(one)
    assert list(document) == [
        *("format", "options", "curve", "runs", "teams", "topics", "overview", "left_out", "warnings"),
    ]
    assert [row["team"] for row in document["left_out"]] == ["T", "T", "three"]


@pytest.mark.parametrize(
    ("more", "heads", "others"),
    [
        ([], "depth documents", "runs, topics, frame"),
        (["--team", "T=one,two"], "team runs", "curve, runs, topics, frame"),
        (["--leave-out"], "measure mean %", "curve, runs, topics, left_out, frame"),
        (["--leave-out", "--team", "T=one,two"], "measure mean %", "curve, runs, teams, topics, left_out, frame"),
    ],
)
def test_the_first_screen_has_one_table(
    more: list[str], heads: str, others: str, files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    text, _ = out(capfd, "pool", *files, "--depth", "2", "--qrels", "qrels", *more)
    said, _title, table, after = text.strip().split("\n\n")
    assert sum(not line.startswith(" ") for line in said.splitlines()) == 4
    assert " ".join(table.splitlines()[0].split()).startswith(heads)
    assert after == f"More: --table {others}"
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "--table" not in out(capfd, "pool", *files, "--depth", "2", "--format", "markdown")[0]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--leave-out"], 2, "--leave-out scores runs: give --qrels."),
        (["-m", "AP"], 2, "-m says what runs are scored by with --leave-out."),
        (["--as", "qrels"], 2, "--as says what the pool is written as: give -o FILE."),
        (["--table", "teams"], 2, "The table teams needs --team or --teams."),
        (["--team", "T"], 2, "--team takes NAME=RUN,RUN. Got 'T'."),
        (["--team", "T=onne"], 2, "There is no run 'onne' to be in the team T; did you mean 'one'?"),
        (["--team", "T=one", "--team", "S=one"], 2, "The run one is in two teams, T and S."),
        (["--team", "two=one"], 2, "two is the name of a team and of a run that is not in it; rename the team."),
        (["--teams", "bad.csv"], 1, "bad.csv:1: columns a, b; expected run and team. Name them in the first line."),
        (["--teams", "bad.txt"], 1, "bad.txt:2: 1 field; expected 2: run team."),
        (
            ["--teams", "none.txt"],
            1,
            "none.txt:2: there is no run 'onne'; expected one of one, two, three. Give it too",
        ),
        (["--teams", "both.csv"], 1, "both.csv:3: the run one is in two teams, T and S; expected one team. Delete one"),
        (["-o", "one"], 2, "one would be written over; it is one of the files to read."),
    ],
)
def test_what_is_refused(
    arguments: list[str], code: int, said: str, files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    Path("bad.csv").write_text("a,b\none,T\n", encoding="utf-8")
    Path("bad.txt").write_text("one T\ntwo\n", encoding="utf-8")
    Path("none.txt").write_text("one T\nonne T\n", encoding="utf-8")
    Path("both.csv").write_text("run,team\none,T\none,S\n", encoding="utf-8")
    text, err = out(capfd, "pool", *files, *arguments, code=code)
    assert said in err
    assert text == ""


def test_judgments_of_something_else() -> None:
    with pytest.raises(exaequo.InputError, match="no document of the pool is judged; expected some"):
        pool(RUNS, 2, qrels={"9": {"a": 1}})
    with pytest.raises(exaequo.InputError, match="no relevant document; expected at least one"):
        pool(RUNS, 2, qrels={"1": {"a": 0}}, leave_out=True)


def test_runs_that_lack_topics_or_are_the_same_are_told() -> None:
    runs = {"one": ONE, "two": {"1": TWO["1"]}, "again": ONE}
    with pytest.warns(exaequo.DataWarning) as told:
        exaequo.pool(runs, 1)
    assert [str(each.message) for each in told] == [
        "two: 1 of 2 topics missing, to which it contributes nothing",
        "one and again have the same lists; drop one, or make them one team",
    ]
    assert exaequo.pool(RUNS | {"again": ONE}, 1, teams={"T": ["one", "again"]}).warnings == ()
    assert exaequo.pool({"a": {"1": {"x": 1.0, "y": 1.0}}, "b": {"1": {"x": 2.0, "y": 1.0}}}, 1).warnings == ()


def test_bad_parameters() -> None:
    for wrong, said in (
        ({"depth": 0}, "depth of a pool must be a whole number"),
        ({"ties_at_depth": "realistic"}, "ties_at_depth must be one of all, conventional"),
        ({"leave_out": True}, "Leaving runs out takes judgments"),
        ({"teams": {"T": "one"}}, "must be a list of runs"),
    ):
        with pytest.raises(exaequo.BadParameter, match=said):
            pool(RUNS, **wrong)
