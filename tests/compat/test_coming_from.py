"""What docs/coming-from.md says of other tools, held against the tools themselves."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
import ranx
from pyNTCIREVAL import metrics

import exaequo
from exaequo import InputError
from exaequo.compat import ir_measures as ours

pytestmark = pytest.mark.ranx
PAGE = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")
NAMES = {"map": "AP", "map@20": "AP@20", "mrr": "RR", "ndcg@10": "nDCG@10", "ndcg_burges": "nDCG(dcg='exp-log2')"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("sample")
    exaequo.sample().save(folder)
    return str(folder / "qrels.txt"), str(folder / "runs" / "llm-judge.txt")


@pytest.fixture
def theirs(files: tuple[str, str]) -> tuple[Any, Any]:
    return ranx.Qrels.from_file(files[0], kind="trec"), ranx.Run.from_file(files[1], kind="trec")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def mean(qrels: Any, run: Any, measure: str, ties: str) -> float:
    return exaequo.evaluate(qrels, run, measure, ties=ties).mean(measure)


def test_average_precision_of_the_sample_as_shown(files: tuple[str, str], theirs: tuple[Any, Any]) -> None:
    qrels = {topic: {docno: int(grade) for docno, grade in docs.items()} for topic, docs in theirs[0].to_dict().items()}
    run = theirs[1].to_dict()
    trec = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    found = {
        "exaequo": exaequo.evaluate(*files, "AP").mean("AP"),
        "trec_eval, pytrec_eval, ir_measures": float(np.mean([values["map"] for values in trec.values()])),
        "ranx": ranx.evaluate(*theirs, "map"),
    }
    assert found == pytest.approx(
        {"exaequo": 0.3737, "trec_eval, pytrec_eval, ir_measures": 0.5169, "ranx": 0.5255}, abs=5e-5
    )
    for who, value in found.items():
        (row,) = re.findall(rf"^\| {re.escape(who)} \| ([\d.]+) \| `ties=\"(\w+)\"`", PAGE, re.MULTILINE)
        assert row[0] == f"{value:.4f}"
        assert mean(*theirs, "AP", row[1]) == pytest.approx(value, abs=1e-12)
    ir = ir_measures.calc_aggregate([ir_measures.AP], qrels, run)[ir_measures.AP]
    assert ir == pytest.approx(mean(*files, "AP", "conventional"), abs=1e-12)


@pytest.mark.parametrize(("name", "measure"), NAMES.items())
def test_the_order_of_a_ranx_run_is_the_one_ranx_scores(theirs: tuple[Any, Any], name: str, measure: str) -> None:
    assert mean(*theirs, measure, "input") == pytest.approx(ranx.evaluate(*theirs, name), abs=1e-12)
    again = ranx.evaluate(*theirs, name, make_comparable=True)
    assert mean(*theirs, measure, "input") == pytest.approx(again, abs=1e-12)


def test_no_strategy_gives_the_number_of_ranx_from_a_file(files: tuple[str, str], theirs: tuple[Any, Any]) -> None:
    target = ranx.evaluate(*theirs, "map")
    for ties in ("realistic", "conventional", "optimistic", "rank", "input", "expected"):
        assert abs(mean(*files, "AP", ties) - target) > 1e-4
    assert f"{mean(*files, 'AP', 'input'):.4f} from the file" in PAGE
    assert ranx.evaluate(*theirs, "map", make_comparable=True) != pytest.approx(target, abs=1e-6)


def test_ranx_scores_dicts_in_another_order(theirs: tuple[Any, Any], files: tuple[str, str]) -> None:
    run = exaequo.read_run(files[1]).frame
    lists: dict[str, dict[str, float]] = {}
    for qid, docno, sim in run.select("qid", "docno", "sim").iter_rows():
        lists.setdefault(qid, {})[docno] = sim
    found = ranx.evaluate({topic: theirs[0].to_dict()[topic] for topic in lists}, lists, "map")
    assert f"{found:.7f} where names give {mean(*files, 'AP', 'conventional'):.7f}" in PAGE
    assert ranx.evaluate(theirs[0], ranx.Run(lists), "map") == ranx.evaluate(*theirs, "map")


@pytest.mark.parametrize("n", [15, 16])
def test_ranx_keeps_up_to_15_tied_documents_as_they_came(n: int) -> None:
    names = [f"d{at}" for at in range(n)]
    kept = [*ranx.Run({"1": dict.fromkeys(names, 1.0)}).to_dict()["1"]] == names
    assert kept is (n <= 15)


def test_rank_biased_precision_of_ranx_adds_up_grades(theirs: tuple[Any, Any]) -> None:
    found = ranx.evaluate(*theirs, "rbp.95")
    by_grade = [mean(*theirs, f"RBP(p=0.95,rel={grade})", "input") for grade in (1, 2, 3)]
    assert found == pytest.approx(sum(by_grade), abs=1e-12)
    assert found > 1
    assert found == pytest.approx(mean(*theirs, "RBP(p=0.95,graded=True)", "input"), abs=1e-12)
    assert f"{found:.4f} for `llm-judge`" in PAGE
    assert f"{by_grade[0]:.4f} in the same order" in PAGE


def test_reciprocal_ranks_of_ir_measures(files: tuple[str, str]) -> None:
    original: Any = ir_measures
    data = [*original.read_trec_qrels(files[0])], [*original.read_trec_run(files[1])]
    theirs = ir_measures.calc_aggregate([ir_measures.RR, ir_measures.RR @ 10], *data)
    mine = ours.calc_aggregate([ours.RR, ours.RR @ 10], *data)
    shown = f"RR is {theirs[ir_measures.RR]:.4f}, RR@10 {theirs[ir_measures.RR @ 10]:.4f}"
    assert f"{shown} | one ranking for all measures: both {mine[ours.RR]:.4f}" in PAGE
    assert mine[ours.RR] == mine[ours.RR @ 10]


def test_empty_judgments() -> None:
    run = {"1": {"a": 1.0}}
    nothing: list[Any] = [{}, pd.DataFrame({"query_id": [], "doc_id": [], "relevance": []})]
    for qrels in nothing:
        assert np.isnan(ir_measures.calc_aggregate([ir_measures.AP], qrels, run)[ir_measures.AP])
        assert np.isnan(ours.calc_aggregate([ours.AP], qrels, run)[ours.AP])
    assert ir_measures.calc_aggregate([ir_measures.AP], {"1": {}}, run)[ir_measures.AP] == 0
    assert ours.calc_aggregate([ours.AP], {"1": {}}, run)[ours.AP] == 0
    for qrels in [*nothing, {"1": {}}]:
        with pytest.raises(InputError):
            exaequo.evaluate(qrels, run, "AP")


def test_topics_that_ranx_counts_as_zero() -> None:
    qrels, run = {"1": {"a": 1}, "2": {"b": 0}}, {"1": {"a": 1.0}, "2": {"b": 1.0}}
    assert ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "map") == 0.5
    assert mean(qrels, run, "AP", "input") == 1
    lacking = ranx.Qrels({"1": {"a": 1}, "2": {"b": 1}}), ranx.Run({"1": {"a": 1.0}})
    with pytest.raises(AssertionError):
        ranx.evaluate(*lacking, "map")
    assert mean(*lacking, "AP", "input") == ranx.evaluate(*lacking, "map", make_comparable=True) == 0.5


def test_average_precision_divided_by_at_most_k(theirs: tuple[Any, Any]) -> None:
    (code,) = re.findall(
        r"^```python\n(import exaequo\n\nqrels, run = .*?relative.*?)^```", PAGE, re.MULTILINE | re.DOTALL
    )
    qrels, run = (each.to_dict() for each in theirs)
    expected = {}
    for topic, grades in qrels.items():
        relevant = {docno for docno, grade in grades.items() if grade > 0}
        ranked = sorted(run[topic], key=lambda docno: (run[topic][docno], docno), reverse=True)[:5]
        hits = [rank for rank, docno in enumerate(ranked, 1) if docno in relevant]
        expected[topic] = sum(nth / rank for nth, rank in enumerate(hits, 1)) / min(5, len(relevant))
    measure = "AP(relative=True)@5"
    found = exaequo.evaluate(qrels, run, measure, ties="conventional")
    assert found["run", "conventional", measure].to_dict() == pytest.approx(expected)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own documentation
    shown = exaequo.evaluate(names["qrels"], names["run"], ["AP@2", "AP(relative=True)@2"])
    assert [shown.mean(each) for each in shown.measures] == pytest.approx((2 / 3, 1))


def test_relevant_and_understood() -> None:
    code = PAGE.partition("## Relevant and understood")[2].partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own documentation
    assert names["scores"].mean("RBP(p=0.8,graded=True)") == pytest.approx(0.2 * (0.4 + 0.64))


def test_every_measure_of_the_table_of_names_is_one() -> None:
    section = PAGE.partition("## One name, several numbers")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]
    ours_said = [cell.strip("`") for *_, cell in rows[2:] if cell != "–"]
    assert len(ours_said) > 10
    for measure in ours_said:
        assert str(exaequo.parse_measure(measure)) == measure
    understood = {"Hit@0010": "Success@10", "map@100": "AP@100", "ndcg@10": "nDCG@10", "MRR@10": "RR@10"}
    for name, measure in understood.items():
        assert f"`{name}`" in section
        assert str(exaequo.parse_measure(name)) == measure


@pytest.mark.parametrize("k", [3, 10])
def test_ndcg_of_ntcireval(k: int) -> None:
    grades = {"a": 2, "b": 1, "c": 1, "d": 0, "e": 2}
    qrels, run = {"1": grades}, {"1": {name: -float(at) for at, name in enumerate("bxadce")}}
    ranked, counts = [(name, grades.get(name, 0)) for name in "bxadce"], [1, 2, 2]
    found = exaequo.evaluate(qrels, run, [f"nDCG(gains={{1:1,2:3}})@{k}", f"nDCG(dcg='jk',gains={{1:1,2:3}})@{k}"])
    theirs = metrics.MSnDCG(counts, [1, 3], k).compute(ranked), metrics.nDCG(counts, [1, 3], 2, k).compute(ranked)
    assert [found.mean(measure) for measure in found.measures] == pytest.approx(theirs, abs=1e-12)
