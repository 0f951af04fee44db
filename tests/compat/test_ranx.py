"""The drop-in for ranx against ranx itself."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import ranx
from ranx.utils import descending_sort

import exaequo
from exaequo import ExaequoError
from exaequo.compat import ranx as ours
from exaequo.compat.ranx import metrics
from exaequo.compat.ranx.ordering import of_dicts, of_records
from exaequo.errors import BadParameter

#: numba's remark on ranx' own code.
pytestmark = [pytest.mark.ranx, pytest.mark.filterwarnings("ignore:unsafe cast")]

Lists = dict[str, dict[str, float]]
METRICS = (
    "hits hits@5 hits-l2 hit_rate hit_rate@3 precision precision@7 precision@5-l2 recall recall@20 f1 f1@10 "
    "r-precision "
    "mrr mrr@2 map map@20 map-l2 dcg@10 dcg_burges@5-l3 ndcg ndcg@10 ndcg@10-l2 ndcg_burges bpref "
    "rbp.95 rbp.5-l2 rbp@8"
).split()


def collection(seed: int, *, distinct: int) -> tuple[dict[str, dict[str, int]], Lists]:
    """Graded judgments, and lists with many ties, of up to 60 documents."""
    draw = random.Random(seed)
    names = [f"d{at}" for at in range(80)]
    qrels, run = {}, {}
    for topic in ("q10", "q2", "q1", "q7"):
        judged = draw.sample(names, 30)
        qrels[topic] = {docno: draw.choice([0, 0, 1, 2, 3]) for docno in judged} | {judged[0]: 3, judged[1]: 0}
        run[topic] = {docno: float(draw.randrange(distinct)) for docno in draw.sample(names, draw.choice([12, 60]))}
    return qrels, run


@pytest.mark.parametrize("n", [1, 15, 16, 17, 40, 333])
@pytest.mark.parametrize("distinct", [1, 3, 40, 10**6])
def test_ties_stand_where_ranx_leaves_them(n: int, distinct: int) -> None:
    draw = random.Random(n * distinct)
    scores = [float(draw.randrange(distinct)) for _ in range(n)]
    original = ranx.Run({"q": {str(at): score for at, score in enumerate(scores)}})
    assert [str(at) for at in of_records(scores)] == list(original.to_dict()["q"])
    array = np.array([[at, score] for at, score in enumerate(scores)], dtype=np.float64)
    assert of_dicts(scores) == descending_sort(array)[:, 0].astype(int).tolist()


@pytest.mark.parametrize("distinct", [4, 10**6])
def test_every_metric_gives_the_number_of_ranx(distinct: int) -> None:
    qrels, run = collection(distinct, distinct=distinct)
    theirs = ranx.Qrels(qrels), ranx.Run(run)
    mine = ours.Qrels(qrels), ours.Run(run)
    expected = ranx.evaluate(*theirs, METRICS, return_mean=False)
    found = ours.evaluate(*mine, METRICS, return_mean=False)
    for metric in METRICS:
        assert found[metric] == pytest.approx(expected[metric], abs=1e-12), metric
    assert list(mine[1].scores["map"]) == list(theirs[1].scores["map"]) == ["q1", "q10", "q2", "q7"]
    assert ours.evaluate(*theirs, "map") == pytest.approx(ranx.evaluate(*theirs, "map"), abs=1e-12)
    same_order = {topic: qrels[topic] for topic in run}
    assert ours.evaluate(same_order, run, "map") == pytest.approx(ranx.evaluate(same_order, run, "map"), abs=1e-12)


def test_by_hand() -> None:
    qrels, run = {"q": {"a": 3, "b": 1, "c": 2}}, {"q": {"x": 5.0, "a": 4.0, "c": 3.0, "y": 2.0}}
    found = ours.evaluate(ours.Qrels(qrels), ours.Run(run), ["rbp.5", "rbp.5-l3", "map@2", "map-l2", "ndcg@2-l3"])
    assert found == pytest.approx(
        {"rbp.5": 0.5 * (3 / 2 + 2 / 4), "rbp.5-l3": 0.75, "map@2": 1 / 6, "map-l2": (1 / 2 + 2 / 3) / 2}
        | {"ndcg@2-l3": 1 / np.log2(3)}
    )


def test_what_evaluate_returns_and_leaves_behind() -> None:
    qrels, run = collection(1, distinct=9)
    mine, theirs = (ours.Qrels(qrels), ours.Run(run, "one")), (ranx.Qrels(qrels), ranx.Run(run, "one"))
    choices: list[dict[str, Any]] = [{}, {"return_std": True}, {"return_mean": False}]
    for asked in (*choices, {"return_mean": False, "return_std": True}):
        for names in ("map", ["map", "mrr"]):
            found: Any = ours.evaluate(*mine, names, **asked)
            expected: Any = ranx.evaluate(*theirs, names, **asked)
            assert type(found) is type(expected)
            assert json.dumps(found, default=list, sort_keys=True)[:12] == json.dumps(expected, default=list)[:12]
    assert mine[1].mean_scores == pytest.approx(theirs[1].mean_scores)
    assert mine[1].std_scores == pytest.approx(theirs[1].std_scores)
    fresh = ours.Run(run)
    ours.evaluate(mine[0], fresh, "map", save_results_in_run=False, threads=2)
    assert not fresh.mean_scores
    assert not fresh.scores


def test_ties_can_be_fair() -> None:
    qrels, run = collection(3, distinct=3)
    for ties in ("realistic", "conventional", "optimistic"):
        fair = exaequo.evaluate(qrels, run, "AP", ties=ties).mean("AP")
        assert ours.evaluate(ours.Qrels(qrels), ours.Run(run), "map", ties=ties) == pytest.approx(fair, abs=1e-12)


def test_topics_that_one_side_lacks() -> None:
    qrels = ours.Qrels({"1": {"a": 1}, "2": {"b": 1}, "4": {"c": 0}})
    run = ours.Run({"1": {"a": 1.0}, "3": {"a": 1.0}, "4": {"c": 1.0}})
    with pytest.raises(BadParameter, match=r"not so: 2, 3\."):
        ours.evaluate(qrels, run, "map")
    assert ours.evaluate(qrels, run, "map", return_mean=False, make_comparable=True).tolist() == [1, 0, 0]
    assert run.run == {"1": {"a": 1.0}, "2": {}, "4": {"c": 1.0}}
    assert ours.evaluate({"1": {}}, {"1": {"a": 1.0}}, "map") == 0
    assert ours.evaluate({"1": {"a": 1}}, {"1": {}}, ["map", "precision"]) == {"map": 0, "precision": 0}


def test_arrays_are_taken_as_they_stand() -> None:
    qrels, run = [np.array([[1, 1], [4, 2]])], [np.array([[9, 1], [4, 7], [9, 1], [1, 8]])]
    assert metrics.reciprocal_rank(qrels, run).tolist() == [0.5]
    assert metrics.hits(qrels, run, 2, 2).tolist() == [1]
    assert metrics.rank_biased_precision(qrels, run, 0.5).tolist() == [0.5 * (2 / 2 + 1 / 8)]
    many = [np.array([[at, 1]]) for at in range(11)]
    assert metrics.recall(many, [*many[:10], np.array([[0, 1]])]).tolist() == [1.0] * 10 + [0.0]
    records = ours.Qrels({"q": {"a": 1}}).to_typed_list(), ours.Run({"q": {"b": 2.0, "a": 1.0}}).to_typed_list()
    assert ours.evaluate(*records, "mrr") == 0.5


@pytest.mark.parametrize("test", ["student", "tukey", "fisher"])
def test_reports_are_those_of_ranx(test: str, tmp_path: Path) -> None:
    qrels, _ = collection(0, distinct=9)
    lists = [collection(seed, distinct=10**6)[1] for seed in range(3)]
    good = {
        topic: {docno: float(grade) + at / 1000 for at, (docno, grade) in enumerate(each.items())}
        for topic, each in qrels.items()
    }
    asked: dict[str, Any] = {"metrics": ["map", "ndcg@10-l2"], "stat_test": test, "max_p": 0.05}
    reports: list[Any] = []
    for library in (ranx, ours):
        runs = [library.Run(each, f"model_{at}") for at, each in enumerate([*lists, good])]
        reports.append(library.compare(library.Qrels(qrels), runs, **asked))
    theirs, mine = reports
    slack = 0.06 if test == "fisher" else 1e-9
    for model in mine.model_names:
        assert mine.to_dict()[model]["scores"] == pytest.approx(theirs.to_dict()[model]["scores"])
        assert mine.to_dict()[model]["win_tie_loss"] == theirs.to_dict()[model]["win_tie_loss"]
        for other, p in mine.to_dict()[model]["comparisons"].items():
            assert p == pytest.approx(theirs.to_dict()[model]["comparisons"][other], abs=slack)
            assert mine.comparisons[{model, other}] is mine.comparisons[other, model]
    assert list(mine.to_dict()) == list(theirs.to_dict())
    pd.testing.assert_frame_equal(mine.to_dataframe(), theirs.to_dataframe())
    assert str(mine).splitlines()[0].split() == str(theirs).splitlines()[0].split()
    if test == "student":
        assert "ᵃ" in str(mine)
        assert str(mine) == str(theirs)
        assert r"\textbf{1.000}$^{abc}$" in mine.to_latex()
    assert mine.get_stat_test_label(test) == theirs.get_stat_test_label(test)
    assert mine.get_stat_test_label(test) in mine.to_latex()
    mine.save(str(tmp_path / "report.json"))
    assert json.loads((tmp_path / "report.json").read_text()) == mine.to_dict()


def test_a_report_in_percent() -> None:
    runs = [ours.Run({"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0}}, name) for name in ("one", "two")]
    report = ours.compare(ours.Qrels({"q": {"b": 1}, "r": {"a": 1}}), runs, "mrr", show_percentages=True)
    assert str(report).splitlines()[2:] == ["a    one       75.0", "b    two       75.0"]
    with pytest.raises(BadParameter, match="different names"):
        ours.compare(ours.Qrels({"q": {"b": 1}}), [runs[0], runs[0]], "mrr")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # ranx leaves its files open
@pytest.mark.parametrize("kind", ["json", "trec", "parquet", "lz4"])
def test_files_go_to_and_fro(kind: str, tmp_path: Path) -> None:
    qrels, run = collection(5, distinct=5)
    mine, theirs = ours.Run(run, "one"), ranx.Run(run, "one")
    path = str(tmp_path / f"run.{kind}")
    for written, library in ((mine, ranx), (theirs, ours), (mine, ours)):
        if kind == "parquet" and library is ranx:
            continue  # which takes no strings of pandas 3
        written.save(path)
        again: Any = library.Run.from_file(path, name="one")
        assert list(again.to_dict()) == list(mine.to_dict())
        assert again.to_dict() == mine.to_dict()
        assert again.name == "one"
    if kind != "lz4":
        path = str(tmp_path / f"qrels.{kind}")
        ours.Qrels(qrels).save(path)
        assert ours.Qrels.from_file(path).to_dict() == qrels
    if kind in ("json", "trec"):
        assert ranx.Qrels.from_file(path).to_dict() == qrels


def test_frames_and_single_additions() -> None:
    frame = pd.DataFrame({"q_id": ["1", "1"], "doc_id": ["a", "b"], "score": [1.0, 2.0]})
    assert list(ours.Run.from_df(frame, name="n").run["1"]) == ["b", "a"]
    assert ours.Run.from_df(frame).name is None
    renamed = pl.DataFrame({"t": [1, 1], "d": ["a", "b"], "g": [1, 2]})
    qrels = ours.Qrels.from_df(renamed, "t", "d", "g")
    assert qrels.qrels == {"1": {"b": 2, "a": 1}}
    qrels.add_score("0", "z", 3)
    assert not qrels.sorted
    assert list(qrels.lists()) == ["0", "1"]
    qrels.add("2", ["x"], [2])
    qrels.set_relevance_level(2)
    assert qrels.to_dict() == {"0": {"z": 2}, "1": {"b": 1, "a": 0}, "2": {"x": 1}}
    assert (qrels.size, len(qrels), qrels["2"]) == (3, 3, {"x": 1})
    pd.testing.assert_frame_equal(
        ours.Run.from_df(frame).to_dataframe(), ranx.Run.from_df(_of_objects(frame)).to_dataframe()
    )


def _of_objects(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype({"q_id": object, "doc_id": object})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: metrics.parsed("ndgc@10"), "did you mean 'ndcg'"),
        (lambda: metrics.parsed("rbp"), "There is no metric 'rbp'"),
        (lambda: metrics.parsed("rbp.0"), "above 0"),
        (lambda: metrics.parsed(3), "Got 3"),  # type: ignore[arg-type]
        (lambda: ours.Qrels({"q": {"a": 0.5}}), "Topic 'q': Qrels has {document: rel}"),
        (lambda: ours.Run({"q": {"a": "high"}}), "Topic 'q': Run has {document: sim}"),
        (lambda: ours.Run.from_file("run.csv"), "run.csv: the kind of file must be one of json, trec"),
        (lambda: ours.Run({"q": {"a b": 1.0}}).save("run.trec"), "Names with blanks"),
        (lambda: ours.Run.from_ranxhub("x"), "downloads nothing"),
        (lambda: ours.fuse([]), r"has no fuse: make the run with ranx\.fuse"),
        (lambda: ours.normalize(1), "has no normalize"),
        (lambda: ours.plot(), r"exaequo\.plot\.curve"),
        (lambda: ours.compare(ours.Qrels(), [], "map", stat_test="sign"), "stat_test must be"),
    ],
)
def test_refusals_say_why(wrong: Any, words: str) -> None:
    with pytest.raises(ExaequoError, match=words):
        wrong()


def test_a_broken_file_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_text("1 Q0 a 1 2.0 x\n1 Q0 b 2\n")
    with pytest.raises(exaequo.InputError, match=r"run\.trec:2: 4 fields"):
        ours.Run.from_file(str(tmp_path / "run.trec"))
