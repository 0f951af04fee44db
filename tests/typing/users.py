"""What users write, with types: every public name of exaequo, checked with `mypy --strict` and run."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
import numpy.typing as npt
import polars as pl

import exaequo
from exaequo import axioms, filtering, measures, plot, study
from exaequo.comparison import Comparison
from exaequo.compat import ir_measures, pytrec_eval
from exaequo.plot import Chart
from exaequo.reporting import Page
from exaequo.stats import agreement, corrections, power, tests

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1}, "3": {"b": 1, "c": 0}}
RUN = {"1": {"a": 0.9, "b": 0.9, "c": 0.5}, "2": {"b": 1.0, "a": 1.0}, "3": {"c": 2.0, "b": 1.0}}
OTHER = {"1": {"c": 3.0, "a": 2.0, "b": 1.0}, "2": {"a": 1.0, "b": 0.5}, "3": {"c": 2.0, "b": 1.0}}


def reading(folder: Path) -> tuple[exaequo.Qrels, exaequo.Run]:
    qrels, runs = exaequo.sample(seed=1)
    assert_type(qrels, exaequo.Qrels)
    assert_type(runs[:2], list[exaequo.Run])
    assert_type(runs["bm25"], exaequo.Run)
    files = exaequo.sample(seed=1).save(folder)
    assert_type(exaequo.read_qrels(files[0]), exaequo.Qrels)
    exaequo.write_metadata(files[1], {"tag": "one"}, folder / "with-header.txt")
    assert_type(exaequo.read_metadata(folder / "with-header.txt"), dict[str, Any])
    run = exaequo.read_run(files[1], name="first")
    assert_type(run.frame, pl.DataFrame)
    assert_type(run.name, str)
    return exaequo.read_qrels(QRELS), exaequo.read_run(RUN, name="one")


def scoring(qrels: exaequo.Qrels, run: exaequo.Run) -> exaequo.Scores:
    ten: exaequo.Measure = measures.AP @ 10
    parsed = exaequo.parse_measure("nDCG(dcg='exp-log2')@10")
    assert_type(parsed, exaequo.Measure)
    scores = exaequo.evaluate(qrels, {"one": run, "other": OTHER}, [ten, parsed, "P@1"], ties="all", depth=100)
    assert_type(scores, exaequo.Scores)
    assert_type(scores.mean("P@1", run="one", ties="realistic"), float)
    assert_type(scores.mean(ten, run="other", ties="optimistic"), float)
    assert_type(scores.means, pl.DataFrame)
    assert_type(scores.topics, pl.DataFrame)
    assert_type(scores.to_polars(means=False), pl.DataFrame)
    assert_type(scores.to_dict()["one"]["realistic"]["1"]["P@1"], float)
    assert_type(scores.runs, list[str])
    assert_type(scores.ties, list[str])
    assert_type(scores.warnings, tuple[str, ...])
    assert_type(exaequo.lexirecall(qrels, run, OTHER), dict[str, int])
    return scores


def own_measure() -> None:
    def part_relevant(ranking: exaequo.Ranking, cutoff: int) -> npt.NDArray[np.float64]:
        return ranking.total(ranking.hits(None, cutoff).topic) / cutoff

    exaequo.define("PartRelevant", part_relevant, title="Part of the first k that is relevant")


def comparing(qrels: exaequo.Qrels, run: exaequo.Run) -> Comparison:
    comparison = exaequo.compare(qrels, {"one": run, "other": OTHER}, "AP", baseline="one", correction="holm")
    assert_type(comparison.pairs, pl.DataFrame)
    assert_type(comparison.systems, pl.DataFrame)
    gate = exaequo.gate(qrels, run, OTHER, "AP", max_drop=0.5)
    assert_type(gate.passed, bool)
    assert_type(gate.markdown(), str)
    assert_type(gate.as_dict(), dict[str, Any])
    plan = exaequo.design(qrels, [run, OTHER], "AP", differences=0.1, samples=100)
    assert_type(plan.sizes, pl.DataFrame)
    assert_type(plan.summary, list[str])
    again = exaequo.replicate(qrels, [run], [OTHER], "AP")
    assert_type(again.runs, pl.DataFrame)
    assert_type(again.sentences, list[str])
    pool = exaequo.pool([run, OTHER], 10, qrels=qrels, leave_out=True, measures="AP", teams={"both": [run.name]})
    assert_type(pool.frame, pl.DataFrame)
    assert_type(pool.text("qrels"), str)
    unknown = exaequo.unjudged(qrels, [run, OTHER], "AP nDCG@10", grade=1)
    assert_type(unknown.tables, dict[str, pl.DataFrame])
    budget = exaequo.budget(qrels, [run, OTHER], "AP P@10", baseline=run.name, judges=[qrels], samples=100)
    assert_type(budget.runs, pl.DataFrame)
    assert_type(budget.sentences, list[str])
    audit = exaequo.audit_ties(qrels, [run], "AP")
    assert_type(audit, exaequo.audit.TieAudit)
    assert_type(audit.scores, pl.DataFrame)
    return comparison


def explaining(qrels: exaequo.Qrels, run: exaequo.Run) -> list[str]:
    one = exaequo.explain(qrels, run, "AP", "1", ties="conventional")
    assert_type(one.text("fr"), str)
    assert_type(one.as_dict(), dict[str, Any])
    return [
        one.text(),
        exaequo.explain_filter(qrels, run, "1", 0.6).text(),
        exaequo.explain(qrels, run, None, "AP").figure,
    ]


def drawing(qrels: exaequo.Qrels, run: exaequo.Run, folder: Path) -> list[Path]:
    chart: Chart = plot.ties(qrels, {"one": run})
    chart.save(folder / "ties.json")
    exaequo.plot.curve(qrels, [run], topic="1").save(folder / "curve.json", scale=1.0)
    assert_type(plot.at_k(qrels, [run], measure="P", ranks=3).drawn("json"), bytes)
    page = exaequo.report(qrels, [run, exaequo.read_run(OTHER, name="other")], folder / "page.html", "AP", title="Mine")
    assert_type(page, Path)
    assert_type(exaequo.report(qrels, [run], measures="AP", paths=True), Page)
    return [folder / "ties.json", folder / "curve.json", page]


def judging_filters(qrels: exaequo.Qrels, run: exaequo.Run) -> filtering.Filter:
    judged = exaequo.filtering.read_filter(qrels, run, docs=10)
    tables = judged.at(0.6)
    assert_type(tables, filtering.Tables)
    assert_type(judged.sweep, filtering.Sweep)
    return judged


def studying(folder: Path) -> study.Study:
    runs = folder / "archive" / "track" / "2020" / "runs"
    runs.mkdir(parents=True)
    (runs.parent / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n")
    (runs / "one.txt").write_text("1 Q0 a 1 0.5 one\n1 Q0 b 2 0.5 one\n")
    found = exaequo.study.study(folder / "archive", folder / "out", measures=["AP"])
    assert_type(found.tables, dict[str, pl.DataFrame])
    return found


def statistics() -> float:
    gaps = np.array([0.1, 0.2, -0.05, 0.3])
    assert_type(agreement.kendall(gaps, -gaps), tuple[float, float])
    assert_type(power.detectable_effect(50, 0.05), float)
    assert exaequo.stats.__name__ == "exaequo.stats"
    assert corrections.__name__ == "exaequo.stats.corrections"
    return float(tests.student(gaps[None, :])[0])


def experimenting(folder: Path) -> exaequo.Collection:
    crossings = exaequo.read_collection("crossings")
    assert_type(exaequo.search(crossings, "tfidf"), exaequo.Run)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "ties", "text": "A tie."}\n')
    (folder / "topics.tsv").write_text("1\tties\n")
    assert_type(exaequo.read_documents(folder / "corpus.jsonl"), pl.DataFrame)
    assert_type(exaequo.read_topics(folder / "topics.tsv"), pl.DataFrame)
    found = exaequo.experiment(crossings, {"first": lambda _: ["CE1002"]}, "P@1")
    assert_type(found.scores, exaequo.Scores)
    return crossings


def promises() -> list[str]:
    findings = exaequo.axioms.check(exaequo.parse_measure("P@1"))
    assert_type(findings, list[axioms.Finding])
    return [finding.axiom.name for finding in findings if finding.holds]


def dropping_in() -> dict[str, dict[str, float]]:
    assert exaequo.compat.__name__ == "exaequo.compat"
    assert ir_measures.calc_aggregate([ir_measures.parse_measure("AP")], QRELS, RUN)
    return pytrec_eval.RelevanceEvaluator(QRELS, {"map"}).evaluate(RUN)


def asking(queries: dict[str, str]) -> exaequo.Run:
    """Ask a retriever of one's own, and keep the figures where they are looked at."""
    run = exaequo.run(lambda query: [query[:1], "a"], queries, k=10)
    exaequo.log(exaequo.evaluate(QRELS, run, "AP"), to=print)
    return run


def on_a_cluster(runs: DataFrame, qrels: DataFrame) -> DataFrame:
    scores = exaequo.spark.evaluate(runs, qrels, ["AP", "nDCG@10"], ties=["realistic", "expected"], depth=1000)
    return exaequo.spark.means(scores)


def failing(qrels: exaequo.Qrels, run: exaequo.Run) -> list[str]:
    said: list[str] = []
    try:
        exaequo.read_run({"1": {"a": float("nan")}})
    except exaequo.InputError as error:
        problem: exaequo.Problem = error.problems[0]
        said.append(problem.where)
    try:
        exaequo.evaluate(qrels, run, "nDGC")
    except exaequo.UnknownMeasure as error:
        said.append(str(error))
    try:
        exaequo.evaluate(qrels, run, "P@0")
    except exaequo.BadParameter as error:
        said.append(str(error))
    except exaequo.UsageError as error:
        assert_type(error.exit_code, int)
    try:
        exaequo.evaluate(qrels, {"1": {"a": 1.0}}, "AP", missing="error")
    except exaequo.MissingTopics as error:
        said.append(str(error))
    except exaequo.ExaequoError:
        raise
    warnings.simplefilter("ignore", exaequo.DataWarning)
    return [*said, exaequo.__version__]
