"""What unjudged documents leave open: all outcomes and all orders of ties of small lists, by brute force."""

from __future__ import annotations

import json
import warnings
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo.cli import run as command
from exaequo.measures import Measure, catalogue, parse_measures
from exaequo.residuals import BOUNDS, CORNERS, CUT, ENDS, FIRST_OR_LAST, SCENARIOS, Residuals
from helpers import evaluate, instances

#: Every measure whose values are said to be bounds, in several settings.
LISTED = [
    each for each in instances() if each.definition.name in ENDS | CUT | FIRST_OR_LAST and "gains" not in each.params
]
#: A few of them, for many lists.
BRIEF = parse_measures("P@2 R@1 R@3 F@2 AP AP@2 nDCG@1 nDCG@3 nDCG NCG@2 ERR SetF Silence@2")
Grades = dict[str, float]


def unjudged(*arguments: Any, **options: Any) -> Residuals:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.unjudged(*arguments, **options)


def collection(random: np.random.Generator, docs: int = 6) -> tuple[Grades, Grades]:
    """Draw judgments, some of which are of documents not found, and a list with ties and up to four unknown."""
    names = [f"d{at}" for at in range(docs)]
    judged = {name: float(random.choice([0, 0, 1, 2])) for name in names if random.random() < 0.5}
    for name in [name for name in names if name not in judged][4:]:
        judged[name] = 0.0
    if random.random() < 0.3 and len(judged) < docs:
        judged[next(name for name in names if name not in judged)] = -1.0  # pooled, not judged
    judged |= {f"lost{at}": float(random.choice([1, 2])) for at in range(random.integers(1, 4))}
    run = {name: float(random.integers(0, 4)) for name in names}
    return judged, run


def outcomes(judged: Grades, run: Grades, grade: float) -> tuple[dict[str, Grades], dict[str, Grades]]:
    """Return each outcome of the unknown in each order of ties as a topic: judgments and runs without ties."""
    unknown = [name for name in run if judged.get(name, -1) < 0]
    ties = [[name for name in run if run[name] == sim] for sim in sorted(set(run.values()), reverse=True)]
    orders = [[name for tie in each for name in tie] for each in product(*map(permutations, ties))]
    qrels, runs = {}, {}
    for at, (order, grades) in enumerate(product(orders, product((0.0, grade), repeat=len(unknown)))):
        qrels[f"{at:06}"] = {**judged, **dict(zip(unknown, grades, strict=True))}
        runs[f"{at:06}"] = {name: -float(rank) for rank, name in enumerate(order)}
    return qrels, runs


def extremes(judged: Grades, run: Grades, grade: float, measures: list[Measure]) -> list[tuple[float, float]]:
    scores = evaluate(*outcomes(judged, run, grade), measures)
    return [
        (float(np.nanmin(values)), float(np.nanmax(values)))
        for values in (scores[scores.runs[0], "realistic", each].values for each in measures)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_the_extremes_of_all_outcomes_and_orders(seed: int) -> None:
    judged, run = collection(np.random.default_rng(seed))
    grade = 1.0 + seed % 2
    found = unjudged({"1": judged}, {"1": run}, LISTED, grade=grade)
    assert set(found.scores["how"]) == {BOUNDS}
    expected = extremes(judged, run, grade, LISTED)
    for (low, high), measure, row in zip(expected, LISTED, found.topics.to_dicts(), strict=True):
        if measure.definition.name == "RBP":  # whose bound counts what may stand beyond the end
            high += max(0.8 ** len(run) - 0.8 ** measure.params.get("cutoff", np.inf), 0.0)
        assert row["low"] == pytest.approx(low, abs=1e-12), measure
        assert row["high"] == pytest.approx(high, abs=1e-12), measure


@settings(max_examples=50)
@given(st.integers(0, 10**9))
def test_bounds_of_many_lists(seed: int) -> None:
    judged, run = collection(np.random.default_rng(seed), 5)
    found = unjudged({"1": judged}, {"1": run}, BRIEF, grade=2.0).topics
    expected = np.array(extremes(judged, run, 2.0, BRIEF))
    np.testing.assert_allclose(found.select("low", "high").to_numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_average_precision_of_long_lists(seed: int) -> None:
    """Where a few relevant documents stand first, some of many unknown do more harm than none or all."""
    random = np.random.default_rng(seed)
    names = [f"d{at}" for at in range(10)]
    judged = {name: float(random.integers(0, 3)) for name in [names[0], *random.choice(names[1:], 2, replace=False)]}
    judged["lost"] = 2.0
    run = {name: -float(at) for at, name in enumerate(names)}
    measures = parse_measures("AP AP@3 AP@7 AP(rel=2) nDCG nDCG@4 nDCG(dcg='jk')@5")
    found = unjudged({"1": judged}, {"1": run}, measures, grade=2.0).topics
    expected = np.array(extremes(judged, run, 2.0, measures))
    np.testing.assert_allclose(found.select("low", "high").to_numpy(), expected, atol=1e-12)


def test_elsewhere_the_extremes_are_not_where_none_or_all_are_relevant() -> None:
    """Each measure left out of `ENDS` for a reason: some small list has its extremes elsewhere."""
    beyond = set()
    others = parse_measures("AP R@2 nDCG@3 NCG@3 F@2 Rprec Bpref PRES@3 infAP IPrec11 Compat")
    for seed in range(25):
        judged, run = collection(np.random.default_rng(seed), 5)
        found = unjudged({"1": judged}, {"1": run}, others, grade=2.0).topics
        corners = found.select(CORNERS).to_numpy()
        for (low, high), own, name in zip(extremes(judged, run, 2.0, others), corners, found["measure"], strict=True):
            if low < own.min() - 1e-9 or high > own.max() + 1e-9:
                beyond.add(name)
    assert beyond >= {"R@2", "nDCG@3", "NCG@3", "F@2", "Rprec", "Bpref", "PRES@3", "Compat"}


def test_lists_name_measures_there_are() -> None:
    assert set(catalogue()) >= ENDS | CUT | FIRST_OR_LAST
    assert not (ENDS & CUT or CUT & FIRST_OR_LAST or ENDS & FIRST_OR_LAST)


# ---------------------------------------------------------------------------------------------------------- by hand


def test_average_precision_by_hand() -> None:
    """A relevant document at rank 1, then two unknown: a second relevant one at rank 3 costs more than at rank 2."""
    (row,) = unjudged({"1": {"a": 1}}, {"1": {"a": 3.0, "x": 2.0, "y": 1.0}}, "AP").scores.to_dicts()
    assert row["realistic_none"] == 1
    assert row["realistic_all"] == 1
    assert row["low"] == pytest.approx((1 + 2 / 3) / 2)  # y alone is relevant
    assert (row["high"], row["how"]) == (1, BOUNDS)


def test_recall_by_hand() -> None:
    """One of two relevant documents found; unknown at rank 2 and 3."""
    qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": 3.0, "x": 2.0, "y": 1.0}}
    (row,) = unjudged(qrels, run, "R@2").scores.to_dicts()
    assert (row["realistic_none"], row["realistic_all"]) == (1 / 2, 2 / 4)
    assert (row["low"], row["high"]) == (1 / 3, 2 / 3)
    assert row["by_both"] == row["by_judgments"] == pytest.approx(1 / 3)
    assert row["by_ties"] == 0


def test_ties_and_judgments_together() -> None:
    """A relevant and an unknown document tie at rank 1: P@1 is anything."""
    (row,) = unjudged({"1": {"a": 1, "n": 0}}, {"1": {"a": 1.0, "x": 1.0, "n": 1.0}}, "P@1").scores.to_dicts()
    assert [row[name] for name in CORNERS] == [0, 1, 0, 1]
    assert (row["by_ties"], row["by_judgments"], row["by_both"]) == (1, 0, 1)
    qrels, run = {"1": {"a": 1, "n": 0}, "2": {"a": 1}}, {"1": {"a": 1.0, "n": 1.0}, "2": {"x": 1.0}}
    (row,) = unjudged(qrels, run, "P@1").scores.to_dicts()
    assert (row["by_ties"], row["by_judgments"], row["by_both"]) == (0.5, 0.5, 1)
    (row,) = unjudged({"1": {"a": 1}}, {"1": {"a": 1.0, "x": 1.0}}, "P@1").scores.to_dicts()
    assert [row[name] for name in CORNERS] == [0, 1, 1, 1]


@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_the_residual_of_rank_biased_precision(p: float) -> None:
    qrels = {"1": {"a": 1, "b": 0, "g": -1}, "2": {"a": 1}}
    run = {"1": {"a": 6.0, "x": 5.0, "b": 4.0, "g": 3.0, "y": 2.0}, "2": {"z": 3.0, "a": 2.0}}
    found = unjudged(qrels, run, f"RBP(p={p})").topics
    residual = evaluate(qrels, run, f"RBPRes(p={p})")
    expected = residual[residual.runs[0], "realistic", f"RBPRes(p={p})"].values
    assert (found["high"] - found["low"]).to_list() == pytest.approx(expected.tolist(), abs=1e-15)
    assert expected[1] == pytest.approx((1 - p) + p**2)  # z at rank 1, and all beyond rank 2


def test_the_share_of_judged_documents() -> None:
    qrels = {"1": {"a": 1, "b": 0, "p": -1}, "2": {"a": 1}, "3": {"a": 1}}
    run = {"1": {"a": 3.0, "x": 2.0, "b": 2.0, "p": 1.0}, "2": {"a": 1.0}}
    found = unjudged(qrels, run, "AP", cutoffs=(2,)).judged
    assert found.drop("run").rows() == [(2, 75.0, 100.0), (None, 75.0, 75.0)]  # topic 3 has no list
    assert unjudged(qrels, run, "AP", cutoffs=(2, 2)).judged.equals(found)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(exaequo.BadParameter, match="cutoffs must be whole numbers ≥ 1"):
            unjudged(qrels, run, "AP", cutoffs=(2, wrong))


def test_grade_and_level() -> None:
    qrels, run = {"1": {"a": 3}}, {"1": {"x": 2.0, "a": 1.0}}
    high = [unjudged(qrels, run, "DCG", grade=grade).scores["high"][0] for grade in (None, 1)]
    none = 3 / np.log2(3)
    assert high == pytest.approx([3 + none, 1 + none])
    with pytest.raises(exaequo.BadParameter, match="The grade must be of at least 2, and at most 127"):
        unjudged(qrels, run, "DCG", grade=1, rel_level=2)


def test_what_other_runs_found_is_nothing_to_a_run() -> None:
    qrels, runs = {"1": {"a": 1}}, {"one": {"1": {"a": 2.0, "x": 1.0}}, "two": {"1": {"y": 3.0, "z": 2.0, "a": 1.0}}}
    both = unjudged(qrels, runs, "AP nDCG@10 R@1").scores
    alone = [unjudged(qrels, {name: run}, "AP nDCG@10 R@1").scores for name, run in runs.items()]
    assert both.equals(pl.concat(alone))


def test_all_judged_leaves_nothing_open() -> None:
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"b": 2.0, "a": 1.0}}
    found = unjudged(qrels, run, "AP nDCG nDCG@10 P@1 R@1 Rprec").scores
    assert found["by_both"].to_list() == [0] * 6
    expected = evaluate(qrels, run, "AP nDCG nDCG@10 P@1 R@1 Rprec").means["value"]
    assert found["low"].to_list() == pytest.approx(expected.to_list())


def test_long_lists_have_scenarios_of_ndcg_and_bounds_of_ap() -> None:
    run = {f"d{at}": -float(at) for at in range(150)}
    how = unjudged({"1": {"d0": 1}}, {"1": run}, "AP nDCG nDCG@100 nDCG@101 Rprec").scores["how"].to_list()
    assert how == [BOUNDS, SCENARIOS, BOUNDS, SCENARIOS, SCENARIOS]


def test_subtopics_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("1 1 a 1\n1 2 b 1\n", encoding="utf-8")
    with pytest.raises(exaequo.BadParameter, match="nobody knows those of an unjudged document"):
        unjudged(path, {"1": {"a": 1.0, "x": 0.5}}, "alpha_nDCG@5")


def test_what_ties_and_judgments_leave_adds_up() -> None:
    """bm25 and hybrid have no ties: all that is open is left by judgments."""
    data = exaequo.sample()
    found = unjudged(data.qrels, data.runs, "AP nDCG@10 R@20 Noise@10 RBP Rprec").scores
    both = (found["by_ties"] + found["by_judgments"]).to_list()
    assert both == pytest.approx(found["by_both"].to_list())
    assert both == pytest.approx((found["high"] - found["low"]).to_list())
    assert found["by_judgments"].min() >= 0  # type: ignore[operator]
    without = found.filter(pl.col("run").is_in(["bm25", "hybrid"]))
    assert without["by_ties"].to_list() == pytest.approx([0] * 12)
    assert without["by_judgments"].min() > 0  # type: ignore[operator]


def test_the_first_screen_of_eight_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A table of runs by the first of five measures, on one screen; programs get all."""
    (tmp_path / "q").write_text("1 0 a 1\n", encoding="utf-8")
    paths = [str(tmp_path / f"r{at}") for at in range(8)]
    for path in paths:
        Path(path).write_text(f"1 Q0 a 1 3 system-{path[-1]}\n1 Q0 x 2 2 system-{path[-1]}\n", encoding="utf-8")
    assert command(["unjudged", str(tmp_path / "q"), *paths]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[5:13]] == [[f"system-{at}", "AP"] for at in range(8)]
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert command(["unjudged", str(tmp_path / "q"), *paths, "--json"]) == 0
    assert len(json.loads(capfd.readouterr().out)["scores"]) == 40


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 0\n", encoding="utf-8")
    (tmp_path / "r").write_text("1 Q0 a 1 3 s\n1 Q0 x 2 2 s\n1 Q0 b 3 2 s\n", encoding="utf-8")
    asked = ["unjudged", str(tmp_path / "q"), str(tmp_path / "r"), "-m", "AP", "-m", "Rprec", "--at", "2"]
    assert command(asked) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "Scores if unjudged documents are not relevant, or of grade 1; ties in any order"
    assert lines[4].split() == "run measure score low high by ties by judgments".split()
    assert [line.split()[1] for line in lines[5:7]] == ["AP", "Rprec"]
    assert lines[8:] == [
        "No bounds, but scenarios: Rprec; their extremes may lie elsewhere",
        "AP may fall even if all are relevant: each is one more to find",
        "More: --table scores, judged, topics",
    ]
    assert command([*asked, "--table", "judged"]) == 0
    assert capfd.readouterr().out.splitlines()[-1].split() == ["s", "50.0–100.0", "66.7"]
    assert command([*asked, "--table", "scores"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[4].endswith("by ties  by judgments  by both  how")
    assert lines[-1].startswith("AP may fall")
    assert command([*asked, "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert list(document) == ["format", "options", "scores", "judged", "topics", "warnings"]
    assert document["options"]["grade"] == 1
    assert command([*asked, "--grade", "0"]) == 2
    assert "The grade must be above 0" in capfd.readouterr().err
