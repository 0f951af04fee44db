"""The one table of scores: found by name, aligned by name, and one pass over each run, whatever the command."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exaequo
from exaequo import BadParameter, DataWarning, Run, Scores, evaluation
from exaequo.choices import COMPARED, INTERVAL
from exaequo.cli import run as command
from exaequo.evaluation import evaluate_runs, judged_runs
from exaequo.expected import Expected
from exaequo.judge import JudgedRun, Judgments, judge
from exaequo.measures import parse_measures
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.read import unique_names
from exaequo.scores import Block, Matrix
from helpers import Grades, Sims, collections, evaluate

SOURCE = Path(exaequo.__file__).parent
SAMPLE = exaequo.sample()
#: Topic 2 has no break-even point for `two`, and `two` lacks topic 3.
QRELS = {"1": {"a": 1, "b": 1}, "2": {"a": 1, "b": 1, "c": 1}, "3": {"a": 1}, "4": {"b": 2}}
ONE = {"1": {"a": 2.0, "x": 1.0, "b": 0.0}, "2": {"a": 3.0, "b": 2.0, "c": 1.0}, "3": {"a": 1.0}, "4": {"b": 1.0}}
TWO = {"1": {"x": 2.0, "a": 2.0}, "2": {"a": 3.0}, "4": {"x": 1.0, "b": 0.5}}


def scored(measures: str = "AP BreakEven", **options: Any) -> Scores:
    return evaluate(QRELS, {"one": ONE, "two": TWO}, measures, ties=INTERVAL, **options)


# ------------------------------------------------------------------------------------------------------- by name


def test_values_are_found_by_name() -> None:
    scores = scored()
    found = scores["two", "optimistic", "AP"]
    assert found.to_dict() == {"1": 0.5, "2": pytest.approx(1 / 3), "3": 0.0, "4": 0.5}
    assert found.mean == scores.mean("AP", run="two", ties="optimistic") == pytest.approx((0.5 + 1 / 3 + 0.5) / 4)
    assert scores["two", "realistic", "AP"].to_dict()["1"] == 0.25
    assert scores["one", "realistic", exaequo.parse_measure("AP")].measure.name == "AP"
    assert scores["two", "realistic", "BreakEven"].undefined.tolist() == [False, True, False, False]
    assert ("one", "realistic", "AP") in scores
    assert ("one", "realistic", "P@10") not in scores


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (("on", "realistic", "AP"), "no run 'on'; did you mean 'one'"),
        (("one", "realistc", "AP"), "no ties 'realistc'; did you mean 'realistic'"),
        (("one", "realistic", "P@10"), "no measure 'P@10'"),
    ],
)
def test_a_name_that_is_not_there(key: tuple[str, str, str], says: str) -> None:
    with pytest.raises(BadParameter, match=says):
        scored()[key]


def test_a_matrix_has_the_topics_all_runs_have_a_value_for() -> None:
    whole = scored().matrix("BreakEven")
    assert isinstance(whole, Matrix)
    assert (whole.runs, whole.topics.to_list(), whole.values.shape) == (["one", "two"], ["1", "3", "4"], (2, 3))
    skip = scored(missing="skip")
    assert skip["two", "realistic", "AP"].topics.to_list() == ["1", "2", "4"]
    assert skip.shared.to_list() == skip.matrix("AP").topics.to_list() == ["1", "2", "4"]
    assert skip.matrix("AP")["one"].tolist() == [skip["one", "realistic", "AP"].to_dict()[t] for t in ("1", "2", "4")]


def test_a_topic_undefined_under_one_strategy_is_left_out_under_all() -> None:
    """The cut of depth 2 goes through a tie, so the document is in the list or not."""
    qrels = {topic: {"x": 1, "y": 1, "z": 0} for topic in "123"}
    run = {"1": {"x": 1.0, "y": 1.0, "z": 1.0}, "2": {"x": 2.0, "y": 1.0}, "3": {"x": 2.0, "y": 1.0}}
    scores = evaluate(qrels, run, "PDoc(doc='z') PDoc(doc='x')", ties=INTERVAL, depth=2)
    undefined = {ties: int(scores["run", ties, "PDoc(doc='x')"].undefined.sum()) for ties in INTERVAL}
    assert len(set(undefined.values())) > 1
    shapes = {ties: scores.matrix("PDoc(doc='x')", ties).values.shape for ties in INTERVAL}
    assert len(set(shapes.values())) == 1


def test_part_of_a_table() -> None:
    scores = scored("AP P@1 BreakEven")
    less = scores.only(measures=parse_measures("P@1"), topics=pl.Series(["1", "4"]))
    assert [measure.name for measure in less.measures] == ["P@1"]
    assert less["two", "optimistic", "P@1"].to_dict() == {"1": 1.0, "4": 0.0}
    assert scores["two", "optimistic", "P@1"].topics.to_list() == ["1", "2", "3", "4"]
    expected = evaluate(QRELS, TWO, "AP infAP", ties="expected").only(measures=parse_measures("infAP"))
    assert [each["measure"] for each in expected.expectations] == ["infAP"]


def test_other_strategies_and_measures_stand_beside() -> None:
    options, measures = Options(), parse_measures("AP")
    runs = judged_runs(SAMPLE.qrels, SAMPLE.runs, options)
    scores = evaluate_runs(runs, measures, options, interval=True, also=parse_measures("P@5"), facts=lambda each: each)
    assert scores.ties == ["realistic"]
    assert scores.means.height == 6
    assert scores["boolean", "optimistic", "AP"].mean > scores["boolean", "realistic", "AP"].mean
    assert scores["boolean", "realistic", "P@5"].mean == evaluate(*_one("boolean"), "P@5").mean("P@5")
    assert {effect.run for effect in scores.tie_effects} <= set(scores.runs)
    assert isinstance(scores.facts["bm25"], Ordering)


def _one(name: str) -> tuple[exaequo.Qrels, Run]:
    return SAMPLE.qrels, next(run for run in SAMPLE.runs if run.name == name)


@given(collections())
def test_the_table_and_the_tidy_table_agree(collection: tuple[Grades, Sims]) -> None:
    qrels, run = collection
    scores = evaluate(qrels, {"a": run, "b": run}, "AP nDCG@3 BreakEven", ties=COMPARED, samples=5)
    for run_name, ties, topic, measure, value in scores.topics.rows():
        assert scores[run_name, ties, measure].to_dict()[topic] == pytest.approx(value, nan_ok=True, abs=0)
    for run_name, ties, _, measure, value in scores.means.rows():
        assert scores[run_name, ties, measure].mean == pytest.approx(value, nan_ok=True, abs=0)


def test_topics_are_aligned_by_name_whatever_their_order() -> None:
    measures = tuple(parse_measures("AP P@1"))
    table = np.array([[0.1, 0.2, 0.3], [1.0, 0.0, np.nan]])
    blocks = (
        Block("one", "realistic", measures, pl.Series(["a", "b", "c"]), table),
        Block("two", "realistic", measures, pl.Series(["c", "b", "a"]), table[:, ::-1]),
        Block("three", "realistic", measures, pl.Series(["x", "c", "a", "b"]), table[:, [0, 2, 0, 1]]),
    )
    scores = Scores(measures, blocks)
    assert scores.evaluated.to_list() == ["a", "b", "c", "x"]
    whole = scores.matrix("AP")
    assert whole.topics.to_list() == ["a", "b", "c"]
    assert np.array_equal(whole.values, np.tile([0.1, 0.2, 0.3], (3, 1)))
    assert np.array_equal(scores.matrix("P@1").values, np.tile([1.0, 0.0], (3, 1)))
    part = scores.only(topics=pl.Series(["b", "a"]))
    assert all(part[run, "realistic", "AP"].to_dict() == {"b": 0.2, "a": 0.1} for run in scores.runs)
    with pytest.raises(BadParameter, match="no ties 'optimistic'"):
        scores.matrix("AP", "optimistic")


def test_the_error_of_an_estimate_is_that_of_the_topics_it_has() -> None:
    measures = tuple(parse_measures("infAP NumRet"))
    values, error = np.array([[0.5, np.nan, np.nan], [1.0, 2.0, 3.0]]), np.array([[0.3, 0.0, 0.0], [3.0, 4.0, 0.0]])
    found = Expected(values, error, error, ("sampled", "sampled"))
    scores = Scores(measures, (Block("r", "expected", measures, pl.Series(["1", "2", "3"]), values, found),))
    assert scores["r", "expected", "infAP"].standard_error == pytest.approx(0.3)
    assert scores["r", "expected", "NumRet"].standard_error == pytest.approx(5.0)  # of a sum
    assert [each["standard_error"] for each in scores.expectations] == pytest.approx([0.3, 5.0])


@given(st.lists(st.tuples(st.sampled_from(["a", "a #2", "a (f)", "b"]), st.sampled_from(["f", "x/f", "y/f", "a"]))))
def test_names_of_runs_are_unique(named: list[tuple[str, str]]) -> None:
    assert len(set(unique_names(named))) == len(named)


# ------------------------------------------------------------------------------------------------------ one pass


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what is judged and sorted, by the name of the run, and the rankings that are made of it."""
    seen: Counter[str] = Counter()
    sort, make = Ordering.__init__, Ordering._ranking
    read: list[Ordering] = []

    def judged(run: Run, judgments: Judgments) -> JudgedRun:
        seen[f"judged {run.name}"] += 1
        return judge(run, judgments)

    def ordered(self: Ordering, lines: JudgedRun, precision: str = "double") -> None:
        whole = len(lines.row) == lines.run.frame.height
        if np.array_equal(lines.sim, lines.run.frame["sim"].to_numpy()[lines.row]):  # other scores are other data
            read.append(self)
            seen[f"{'sorted' if whole else 'part of'} {lines.run.name}"] += 1
        sort(self, lines, precision)

    def ranked(self: Ordering, ties: str, seed: int, depth: int | None) -> Any:
        if any(self is each for each in read):  # with other judgments, they are other data
            seen[f"{ties} {depth} {len(self.judged_run.row)} lines of {self.run.name}"] += 1
        return make(self, ties, seed, depth)

    monkeypatch.setattr(evaluation, "judge", judged)
    monkeypatch.setattr(Ordering, "__init__", ordered)
    monkeypatch.setattr(Ordering, "_ranking", ranked)
    return seen


_COMMANDS = [
    "eval qrels.txt RUNS --ties all --ties expected",
    "compare qrels.txt RUNS --baseline bm25",
    "compare qrels.txt RUNS --depth 5",
    "ties qrels.txt RUNS --depth 20",
    "ties qrels.txt RUNS --chances",
    "gate qrels.txt runs/bm25.txt runs/hybrid.txt -m AP -m P@10",
    "report qrels.txt RUNS -o page.html",
    "check qrels.txt RUNS",
    "filter qrels.txt RUNS",
    "order qrels.txt runs/bm25.txt",
    "explain qrels.txt runs/llm-judge.txt -m AP -m nDCG@10 -m RR",
    "explain qrels.txt runs/llm-judge.txt --topic 401 -m AP -m nDCG@10",
    "explain qrels.txt runs/hybrid.txt --topic 401 --threshold 0.4",
    *(f"plot {kind} qrels.txt RUNS -o x.json" for kind in ("curve", "at-k", "ties", "systems", "topics", "measures")),
    "plot threshold qrels.txt runs/hybrid.txt -o x.json",
    "plot recall qrels.txt runs/bm25.txt -o x.json",
    "plot tie-groups qrels.txt runs/boolean.txt -o x.json",
    "study archive -o out --jobs 1",
]


@pytest.mark.parametrize("line", _COMMANDS)
def test_each_run_is_judged_and_sorted_once(
    line: str, counted: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SAMPLE.save(tmp_path / "archive" / "a" / "1")
    monkeypatch.chdir(tmp_path / "archive" / "a" / "1")
    if line.startswith("study"):
        monkeypatch.chdir(tmp_path)
    runs = sorted(str(path) for path in Path("runs").glob("*")) if not line.startswith("study") else []
    words = [word for each in line.split() for word in (runs if each == "RUNS" else [each])]
    assert command(words) in (0, 3)
    assert counted
    assert {what: number for what, number in counted.items() if number > 1} == {}


def test_nothing_else_prepares_judges_and_sorts() -> None:
    """`evaluation` does it for all; the drop-in for the official program ranks lists its own way, the kernel of the
    engines those of many runs together.
    """
    allowed = {"evaluation.py", "trec_eval/lists.py", "order.py", "engine/kernel.py"}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        calls = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert name in allowed or not calls & {"prepare", "judge", "Ordering"}, name


def test_runs_are_let_go_before_the_next_is_read() -> None:
    alive: list[Callable[[], object]] = []

    def read() -> Iterator[Run]:
        import gc
        import weakref

        for number in range(4):
            gc.collect()
            assert all(each() is None for each in alive[:-1])
            run = exaequo.read_run({"1": {"a": 1.0, "b": 1.0}}, name=str(number))
            alive.append(weakref.ref(run))
            yield run
            del run

    options = Options(ties=COMPARED)
    qrels = exaequo.read_qrels({"1": {"a": 1}, "2": {"a": 1}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        scores = evaluate_runs(judged_runs(qrels, read(), options), parse_measures("AP"), options)
    assert scores.runs == ["0", "1", "2", "3"]


def test_rankings_are_remembered() -> None:
    ((ordering, _),) = judged_runs(SAMPLE.qrels, [_one("llm-judge")[1]], Options())
    assert ordering.ranking("realistic") is ordering.ranking("realistic")
    assert ordering.ranking("random", seed=1) is not ordering.ranking("random", seed=2)
    assert ordering.ranking("realistic", depth=5) is not ordering.ranking("realistic")
    ((steady, _),) = judged_runs(SAMPLE.qrels, [_untied()], Options())
    assert steady.n_tied == 0
    assert steady.ranking("optimistic") is steady.ranking("realistic") is steady.ranking("rank")


def _untied() -> Run:
    topics = SAMPLE.qrels.frame["qid"].unique().sort()
    return exaequo.read_run({topic: {"a": 2.0, "b": 1.0} for topic in topics})


def test_one_topic_alone() -> None:
    ((ordering, _),) = judged_runs(SAMPLE.qrels, [_one("boolean")[1]], Options())
    for at in (0, 7):
        alone = ordering.of_topic(at)
        for ties in INTERVAL:
            whole, part = ordering.ranking(ties), alone.ranking(ties)
            own = whole.topic == at
            assert np.array_equal(part.row, whole.row[own])
            assert np.array_equal(part.rank, whole.rank[own])
