"""The tie audit against direct calculations, and lists as a strategy orders them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from scipy import stats

import exaequo
from exaequo import BadParameter, tabular
from exaequo.audit import TieAudit
from exaequo.choices import COMPARED
from exaequo.cli import run as command
from exaequo.luck import gain, rank_gain, which_is_better
from exaequo.stats.reversals import reversals
from helpers import Grades, Sims, collections, evaluate

QRELS = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 2, "x": 0}, "3": {"b": 1}}
RUN = {
    "1": {"a": 2.0, "b": 2.0, "d": 2.0, "c": 1.0},
    "2": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0},
    "3": {"a": 3.0, "b": 2.0, "c": 1.0},
}


def audit(qrels: object = QRELS, runs: object = RUN, measures: str = "AP RR P@2", **options: object) -> TieAudit:
    return exaequo.audit_ties(qrels, runs, measures, **options)  # type: ignore[arg-type]


def test_statistics_of_each_list() -> None:
    rows = {row["topic"]: row for row in audit().lists.to_dicts()}
    assert [rows["1"][name] for name in ("documents", "tied", "scores", "largest_tie")] == [4, 3, 2, 3]
    assert [rows["2"][name] for name in ("documents", "tied", "scores", "largest_tie")] == [4, 4, 1, 4]
    assert [rows["3"][name] for name in ("documents", "tied", "scores", "largest_tie")] == [3, 0, 3, 0]
    assert [rows[topic]["tie_across_2"] for topic in "123"] == [True, True, False]
    summary = audit().runs.row(0, named=True)
    assert (summary["one_tie"], summary["no_tie"], summary["across_2"], summary["largest_tie"]) == (1, 1, 2, 4)
    assert summary["tied_percent"] == pytest.approx((75 + 100 + 0) / 3)
    assert summary["per_score"] == pytest.approx((2 + 4 + 1) / 3)


def test_tied_documents_only_is_not_one_tie() -> None:
    run = {
        "1": {"a": 2.0, "b": 2.0, "c": 1.0, "d": 1.0},
        "2": {"a": 1.0, "b": 1.0, "c": 1.0},
        "3": {"a": 1.0},
    }
    found = audit(QRELS, run)
    kinds = ("all_tied", "one_tie", "no_tie")
    assert found.lists.select(kinds).rows() == [(True, False, False), (True, True, False), (False, False, True)]
    assert found.runs.select(kinds).row(0) == (2, 1, 1)


def test_documents_per_score_at_three_levels() -> None:
    other = {"1": {"a": 1.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}}
    with pytest.warns(exaequo.DataWarning, match="1 of 3 evaluated topics missing"):
        found = audit(QRELS, {"one": RUN, "two": other}).per_score
    assert found["by"].to_list() == ["list", "run", "topic"]
    assert found["of"].to_list() == [5, 2, 3]
    levels = [np.array(each) for each in ([2, 4, 1, 2, 1], [7 / 3, 1.5], [2, 2.5, 1])]
    for row, figures in zip(found.select("min", "mean", "max", "sd").rows(), levels, strict=True):
        assert row == pytest.approx((figures.min(), figures.mean(), figures.max(), figures.std(ddof=1)))


def test_wins_draws_and_losses() -> None:
    """The relevant one of two comes first half of the time: two such runs win, draw and lose 1/4, 1/2, 1/4."""
    run = {"1": {"a": 1.0, "x": 1.0}}
    found = audit({"1": {"a": 1}}, {"one": run, "two": run}, "P@1", samples=4000).conclusions.row(0, named=True)
    chances = [found[f"{name}_percent"] for name in ("win", "draw", "loss")]
    assert chances == pytest.approx([25, 50, 25], abs=3)
    assert sum(chances) == pytest.approx(100)
    assert found["one_beats_two"] == pytest.approx((chances[0] + chances[1] / 2) / 100)
    sure = audit({"1": {"a": 1}}, {"one": {"1": {"a": 2.0, "x": 1.0}}, "two": {"1": {"a": 1.0, "x": 2.0}}}, "P@1")
    assert sure.conclusions.select("win_percent", "draw_percent", "loss_percent").row(0) == (100, 0, 0)


def test_reversals_under_each_strategy() -> None:
    data = exaequo.sample()
    found = exaequo.audit_ties(data.qrels, data.runs, "AP", chances=False, splits=50).reversals
    assert found["ties"].unique(maintain_order=True).to_list() == list(COMPARED)
    scores = evaluate(data.qrels, data.runs, "AP", ties=list(COMPARED))
    for ties in COMPARED:
        own = found.filter(ties=ties)
        expected = reversals(scores.matrix("AP", ties).values, 0.05, splits=50)
        assert own["topics"].to_list() == list(range(1, 13))
        assert own["reversed_percent"].to_list() == expected.reversed.tolist()
        assert own["significant_reversed_percent"].to_list()[1:] == expected.significant_reversed.tolist()[1:]
        assert own["significant_reversed_percent"][0] is None  # of one topic nothing is significant
    assert found["reversed_percent"].n_unique() > 24  # ties matter
    assert exaequo.audit_ties(data.qrels, data.runs, "AP", chances=False).reversals.height == 0
    assert audit(splits=10).reversals.height == 0  # one run


def test_ties_of_single_precision() -> None:
    near = {"1": {"a": 1.0, "b": 1.0 + 1e-12, "c": 5.0, "d": 5.0}}
    row = audit({"1": {"a": 1}}, near).lists.row(0, named=True)
    assert (row["tied"], row["only_in_single"]) == (2, 2)


def test_scores_under_all_strategies() -> None:
    found = audit().scores.filter(pl.col("measure") == "AP").row(0, named=True)
    scores = evaluate(QRELS, RUN, "AP", ties=["realistic", "conventional", "optimistic", "expected"])
    for ties in ("realistic", "conventional", "optimistic", "expected"):
        assert found[ties] == scores.mean("AP", ties=ties)
    assert found["span"] == found["optimistic"] - found["realistic"]
    assert found["c_over_r_percent"] == pytest.approx(100 * (found["conventional"] / found["realistic"] - 1))
    assert found["how"] == "closed form"


def test_gains_that_divide_by_nothing() -> None:
    qrels, run = {"1": {"z": 1}, "2": {"z": 1}}, {"1": {"a": 1.0, "z": 1.0}, "2": {"z": 1.0}}
    found = audit(qrels, run, "P@1 RR")
    assert found.from_nothing.select("topic", "measure", "conventional").rows() == [("1", "P@1", 1.0)]
    assert found.lucky.select("topic", "measure", "ranks_gained").rows() == [("1", "RR", 1)]
    assert found.lucky.select("first_realistic", "first_conventional", "first_optimistic").rows() == [(2, 1, 1)]
    assert np.isnan(gain(1.0, 0.0))
    assert gain(0.0, 0.5) == -100
    assert np.array_equal(rank_gain(np.array([0.1, 0.0]), np.array([0.5, 1.0])), [8.0, np.nan], equal_nan=True)


def test_the_luckiest_come_first() -> None:
    qrels = {str(topic): {"z": 1} for topic in range(9)}
    run = {str(topic): {f"d{i}": 1.0 for i in range(topic)} | {"z": 1.0} for topic in range(9)}
    found = audit(qrels, run, "RR", top=3).lucky
    assert found["topic"].to_list() == ["8", "7", "6"]
    assert found["ranks_gained"].to_list() == [8.0, 7.0, 6.0]
    assert audit(qrels, run, "RR", top=0).lucky.height == 0


def test_conclusions_that_ties_decide() -> None:
    topics = [str(topic) for topic in range(8)]
    qrels = {topic: {"z": 1, "y": 1} for topic in topics}
    lucky = {topic: {"a": 1.0, "b": 1.0, "z": 1.0, "y": 1.0} for topic in topics}
    steady = {topic: {"a": 3.0, "z": 2.0, "b": 1.0} for topic in topics}
    found = audit(qrels, {"lucky": lucky, "steady": steady}, "AP").conclusions.row(0, named=True)
    assert (found["realistic"], found["conventional"], found["optimistic"]) == ("> *", "> *", "> *")
    found = audit(qrels, {"lucky": lucky, "steady": steady}, "P@1").conclusions.row(0, named=True)
    assert (found["realistic"], found["conventional"], found["changes"]) == ("=", "> *", True)
    assert found["one_beats_two"] == pytest.approx(1, abs=0.01)  # at least one of eight first places is relevant
    same = audit(qrels, {"a": steady, "b": steady}, "AP").conclusions.row(0, named=True)
    assert (same["realistic"], same["p_realistic"], same["changes"], same["one_beats_two"]) == ("=", 1.0, False, 0.5)


def test_which_is_better() -> None:
    random = np.random.Generator(np.random.PCG64(1))
    for _ in range(20):
        one, two = random.random((2, 12))
        for upward in (1, -1):
            better, p = which_is_better(np.stack([one, two]), upward)
            assert p == pytest.approx(stats.ttest_rel(one, two).pvalue, rel=1e-12)
            assert better == upward * np.sign(one.mean() - two.mean())

    def of(*rows: list[float]) -> tuple[list[int], list[float]]:
        better, p = which_is_better(np.array(rows), 1)
        return better.tolist(), p.tolist()

    assert of([0.5] * 5, [0.5] * 5, [0.0] * 5) == ([0, 1, 1], [1, 1 / 16, 1 / 16])  # a constant: by signs
    better, p = which_is_better(np.array([[1.0], [0.0]]), 1)
    assert better.tolist() == [1]
    assert np.isnan(p).all()  # one topic proves nothing
    assert which_is_better(np.zeros((2, 0)), 1)[0].tolist() == [0]


def test_stuffing() -> None:
    qrels = {"1": {"c": 1, "a": 1}, "2": {"c": 1}, "3": {"a": 1}}
    run = {
        "1": {"a": 5.0, "b": 0.0, "c": 0.0},  # stuffed with two, of which one is relevant
        "2": {"a": 0.0, "b": -1.0, "c": -2.0},  # log-probabilities
        "3": {"a": 2.0, "b": 0.0, "c": -1.0},  # 0 is not the end
    }
    found = audit(qrels, run, "R@3 P@1")
    assert found.lists["stuffed"].to_list() == [2, 0, 0]
    row = found.stuffing.filter(pl.col("measure") == "R@3").row(0, named=True)
    assert row["documents"] == 2
    assert row["earned_realistic"] == pytest.approx(0.5 / 3)
    assert row["share_realistic_percent"] == pytest.approx(100 * 0.5 / 3)  # of 1
    assert found.stuffing.filter(pl.col("measure") == "P@1")["earned_optimistic"].item() == 0
    assert audit().stuffing.height == 0


@given(collections())
def test_an_audit_of_anything(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        found = audit(qrels, {"a": run, "b": run}, "AP nDCG@3 IPrec11", samples=5)
    for name, frame in found.tables.items():
        assert tabular.text(tabular.Table.of(frame)), name
        json.dumps(tabular.rows(frame), allow_nan=False)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("q").write_text("3 0 WSJ5 1\n3 0 LA12 0\n3 0 FT8 0\n4 0 X 1\n", encoding="utf-8")
    Path("r").write_text("3 Q0 LA12 1 0.8 s\n3 Q0 WSJ5 2 0.8 s\n3 Q0 FT8 3 0.5 s\n4 Q0 X 1 1 s\n", encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("files")
def test_ties_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert command(["ties", "q", "r", "--full"]) == 0
    text = capfd.readouterr().out
    assert "Lists that the names of documents help most" in text
    assert "Ties change" in text
    assert command(["ties", "q", "r", "r", "--json", "-q"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["format"] == 1
    assert {"runs", "scores", "lucky", "conclusions", "lists"} <= set(document)
    assert command(["ties", "q", "r", "--table", "scores", "--format", "csv"]) == 0
    assert capfd.readouterr().out.startswith("run,measure,realistic,")
    assert command(["ties", "q", "r", "--format", "csv"]) == 2
    assert command(["ties", "q", "r", "--alpha", "2"]) == 2
    assert command(["ties", "q", "r", "--format", "markdown"]) == 0
    assert capfd.readouterr().out.startswith("## Ties of each run")


@pytest.mark.usefixtures("files")
def test_a_table_of_nothing_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    assert command(["ties", "q", "r", "--table", "reversals"]) == 0
    assert capfd.readouterr().out == "How often what n topics say of two runs is reversed on n others: none\n"
    assert command(["ties", "q", "r", "--table", "stuffing", "--lang", "fr"]) == 0
    assert capfd.readouterr().out.endswith(" : néant\n")


@pytest.mark.usefixtures("files")
def test_whole_numbers_are_whole(capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["ties", "q", "r", "-m", "NumRet", "-m", "LastRel(docs=10)", "-m", "RR"]
    assert command(asked) == 0
    assert re.search(r"^s +33\.3 +4 +● +4 +4 +0\.0$", capfd.readouterr().out, re.MULTILINE)
    assert command([*asked, "--full"]) == 0
    text = capfd.readouterr().out
    rows = [line.split() for line in text.splitlines()]
    assert ["s", "NumRet", "4", "4", "4", "4"] in [row[:6] for row in rows]
    assert ["s", "3", "LastRel(docs=10)", "2", "1", "1"] in [row[:6] for row in rows]
    (lucky,) = (row for row in rows if row[:3] == ["s", "3", "RR"])
    assert lucky[-4:] == ["2", "1", "1", "1"]
    assert command(["order", "q", "r", "--format", "table", "--topic", "3"]) == 0
    assert " 1  yes" in capfd.readouterr().out
    assert command(["ties", "q", "r", "r", "--table", "reversals", "--splits", "5", "--format", "csv"]) == 0
    assert capfd.readouterr().out.startswith("measure,ties,topics,splits,differ_percent,reversed_percent")


@pytest.mark.usefixtures("files")
def test_order_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert command(["order", "q", "r"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines == ["3 Q0 LA12 1 0.8 s", "3 Q0 WSJ5 2 0.8 s", "3 Q0 FT8 3 0.5 s", "4 Q0 X 1 1.0 s"]
    assert command(["order", "q", "r", "--ties", "conventional", "--topic", "3", "--format", "csv"]) == 0
    rows = pl.read_csv(capfd.readouterr().out.encode())
    assert rows["docno"].to_list() == ["WSJ5", "LA12", "FT8"]
    assert rows["precision"].to_list() == pytest.approx([1, 1 / 2, 1 / 3])
    assert rows["tie"].to_list() == [1, 1, None]


@pytest.mark.usefixtures("files")
def test_a_name_halves_a_score(capfd: pytest.CaptureFixture[str]) -> None:
    """Figures 1 and 2 of the papers: WSJ5 called AP8 comes after LA12."""
    assert command(["order", "q", "r", "--ties", "conventional", "--rename", "WSJ5=AP8", "-m", "RR,AP"]) == 0
    text = capfd.readouterr().out
    assert [line.split() for line in text.splitlines()[1:3]] == [
        ["3", "RR", "1.0000", "0.5000"],
        ["3", "AP", "1.0000", "0.5000"],
    ]
    assert command(["order", "q", "r", "--rename", "WSJ5=AP8", "-m", "RR,AP"]) == 0  # realistic: nothing changes
    assert capfd.readouterr().out.splitlines()[2].split() == ["3", "AP", "0.5000", "0.5000"]
    assert command(["order", "q", "r", "--rename", "WSJ5=LA12"]) == 2
    assert command(["order", "q", "r", "--rename", "nothing=x"]) == 2
    assert command(["order", "q", "r", "--rename", "WSJ5"]) == 2
    assert command(["order", "q", "r", "--topic", "5"]) == 2


def test_alpha_is_checked() -> None:
    with pytest.raises(BadParameter, match="alpha"):
        audit(alpha=0.0)


def test_an_ordered_run_reads_back_the_same(files: Path) -> None:
    data = exaequo.sample()
    paths = data.save(files)
    run = next(str(path) for path in paths if "llm-judge" in path.name)
    assert command(["order", "qrels.txt", run, "--ties", "optimistic", "-o", "best.txt"]) == 0
    one = evaluate("qrels.txt", "best.txt", "AP nDCG@10", ties="input")
    two = evaluate("qrels.txt", run, "AP nDCG@10", ties="optimistic")
    assert np.array_equal(one.blocks[0].values, two.blocks[0].values)


def test_rounding_is_no_verdict() -> None:
    """Equal on every topic, but added up in another order: neither is better, and ties change nothing."""
    names = [f"d{number}" for number in range(11)]
    qrels = {str(topic): dict.fromkeys(names, 1) for topic in range(6)}
    steady = {topic: {name: float(11 - at) for at, name in enumerate(names)} for topic in qrels}
    alike = {topic: {name: float((11 - at) // 3) for at, name in enumerate(names)} for topic in qrels}
    both = evaluate(qrels, {"steady": steady, "alike": alike}, "nDCG", ties="expected").matrix("nDCG")
    assert 0 < np.abs(both["steady"] - both["alike"]).max() < 1e-15  # or there is nothing to see here
    found = audit(qrels, {"steady": steady, "alike": alike}, "nDCG Bpref ERR@10 AP").conclusions
    for row in found.to_dicts():
        assert {row[ties] for ties in COMPARED} == {"="}, row
        assert not row["changes"]
        assert {row[f"p_{ties}"] for ties in COMPARED} == {1.0}


def test_a_geometric_mean_has_no_conclusion() -> None:
    found = audit(QRELS, {"a": RUN, "b": RUN}, "AP gm(AP)")
    assert found.conclusions["measure"].to_list() == ["AP"]
    assert found.scores["measure"].to_list() == ["AP", "gm(AP)", "AP", "gm(AP)"]


def test_an_audit_compares_the_same_topics_and_says_what_is_undefined() -> None:
    with pytest.raises(BadParameter, match="missing must be 'zero' or 'error'"):
        audit(missing="skip")
    with pytest.warns(exaequo.DataWarning, match="BreakEven undefined in 1 of 2 topics"):
        exaequo.audit_ties(
            {"1": {"a": 1, "b": 1, "c": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}}, "BreakEven"
        )
