"""What is left open of scores and differences: by hand, by all orders and outcomes of small lists, and properties."""

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
from exaequo.arrays import Floats
from exaequo.budgeting import Budget
from exaequo.budgeting.ends import LOOSE, TIGHT, Ends
from exaequo.budgeting.intervals import TOGETHER, Drawing, drawn
from exaequo.cli import run as command
from exaequo.residuals import BOUNDS, SCENARIOS
from exaequo.stats.tests import Setting
from helpers import evaluate

Grades = dict[str, float]
#: Two topics: a tie in the first, an unjudged document, x, in the second.
QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
ONE = {"1": {"a": 1.0, "b": 1.0}, "2": {"x": 2.0, "c": 1.0}}
TWO = {"1": {"a": 1.0, "b": 0.5}, "2": {"c": 2.0, "x": 1.0}}


def budget(*arguments: Any, **options: Any) -> Budget:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.budget(*arguments, **{"samples": 200, **options})


def ends(frame: pl.DataFrame, source: str, **keys: str) -> tuple[float, float]:
    row = frame.filter(pl.col("source") == source, **keys).row(0, named=True)
    return row["low"], row["high"]


# ---------------------------------------------------------------------------------------------------------- by hand


def test_two_topics_by_hand() -> None:
    found = budget(QRELS, {"one": ONE}, "P@1 AP").runs
    for measure, score, ties, unjudged, together in (
        ("P@1", 0.0, (0, 0.5), (0, 0.5), (0, 1)),  # b first, or a; x is relevant, or not
        ("AP", 0.5, (0.5, 0.75), (0.5, 0.75), (0.5, 1)),
    ):
        assert set(found.filter(measure=measure)["score"]) == {score}
        assert ends(found, "tied", measure=measure) == ties
        assert ends(found, "unjudged", measure=measure) == unjudged
        assert ends(found, "topics", measure=measure) == (score, score)  # both topics have it
        assert ends(found, TOGETHER, measure=measure) == together


def test_a_difference_by_hand() -> None:
    """One document, unjudged, in both lists: at P@2 it moves them together, at P@1 only the run that has it first."""
    found = budget(QRELS, {"one": ONE, "two": TWO}, "P@1 P@2").pairs
    assert found.select("one", "two").unique().rows() == [("one", "two")]
    assert set(found.filter(measure="P@1")["score"]) == {1.0}
    assert ends(found, "tied", measure="P@1") == (0.5, 1)
    assert ends(found, "unjudged", measure="P@1") == (0.5, 1)
    assert ends(found, TOGETHER, measure="P@1") == (0, 1)
    assert ends(found, "unjudged", measure="P@2") == (0, 0)
    assert set(found.filter(source="unjudged")["how"]) == {TIGHT}


def test_the_document_to_judge_by_hand() -> None:
    """To judge x closes what it leaves open; half a point of one topic is a quarter of the mean of two."""
    found = budget(QRELS, {"one": ONE}, "AP", to_judge=3)
    assert found.documents.rows() == [("one", "AP", "2", "x", 1, 0.25)]
    unjudged = found.remedies.filter(source="unjudged").row(0, named=True)
    assert (unjudged["n"], unjudged["width"], unjudged["then"]) == (1, 0.25, 0)
    ties = found.remedies.filter(source="tied").row(0, named=True)
    assert (ties["n"], ties["width"], ties["then"]) == (2, 0.25, 0)


def test_an_estimate_by_hand() -> None:
    """All judged documents at ranks 1 to 10 are relevant: so is the unjudged one; or none is, and neither is it."""
    every = budget({"1": {"a": 1}, "2": {"c": 1}}, {"1": {"a": 1.0}, "2": {"x": 2.0, "c": 1.0}}, "P@1").runs
    assert every.filter(source="unjudged")["estimate"].to_list() == [1.0]
    none = budget({"1": {"a": 0, "l": 1}, "2": {"c": 0, "l": 1}}, {"1": {"a": 1.0}, "2": {"x": 2.0, "c": 1.0}}, "P@1")
    assert none.runs.filter(source="unjudged")["estimate"].to_list() == [0.0]


def test_judges_by_hand() -> None:
    """Another judge finds b relevant, not a: P@1 of the second run is 1 or 1/2; together goes as far as either."""
    other = {"1": {"a": 0, "b": 1}, "2": {"c": 1}}
    found = budget(QRELS, {"two": TWO}, "P@1", judges=[other]).runs
    assert ends(found, "judges") == (0.5, 1)
    assert ends(found, TOGETHER) == (0, 1)  # of the second judge, both topics may be the first
    assert budget(QRELS, {"two": TWO}, "P@1").runs.filter(source="judges").is_empty()


# ----------------------------------------------------------------------------------------------------- brute force

MEASURES = "P@2 AP AP@3 nDCG@3 RBP@3 R@2 RR F@2 DCG@4 ERR"


def drawn_lists(random: np.random.Generator) -> tuple[Grades, Grades, Grades]:
    """Draw judgments and two lists with ties; some documents are in one alone, some unjudged."""
    names = [f"d{at}" for at in range(6)]
    judged = {name: float(random.choice([0, 1, 2])) for name in random.permutation(names)[: random.integers(2, 5)]}
    judged["lost"] = 2.0
    lists = [
        {name: float(random.integers(0, 5)) for name in random.permutation(names)[: random.integers(4, 6)]}
        for _ in range(2)
    ]
    return judged, lists[0], lists[1]


def standing(judged: Grades, run: Grades) -> list[str]:
    """Return the list in realistic order: within a tie unjudged first, then by grade, then names backwards."""
    by_name = sorted(run, reverse=True)
    return sorted(by_name, key=lambda name: (-run[name], judged.get(name, -np.inf)))


def orders(run: Grades) -> list[list[str]]:
    ties = [[name for name in run if run[name] == sim] for sim in sorted(set(run.values()), reverse=True)]
    return [[name for tie in each for name in tie] for each in product(*map(permutations, ties))]


def values(worlds: list[Grades], lists: list[list[str]]) -> Floats:
    """Return measures × outcomes × orders: every list under every outcome."""
    pairs = list(product(worlds, lists))
    qrels = {f"{at:06}": world for at, (world, _) in enumerate(pairs)}
    runs = {f"{at:06}": {n: -float(rank) for rank, n in enumerate(own)} for at, (_, own) in enumerate(pairs)}
    scores = evaluate(qrels, {"run": runs}, MEASURES)
    found = [scores["run", "realistic", measure].values for measure in scores.measures]
    return np.array(found).reshape(len(found), len(worlds), len(lists))


def worlds_of(judged: Grades, *runs: Grades) -> list[Grades]:
    unknown = sorted({name for run in runs for name in run if name not in judged})
    return [{**judged, **dict(zip(unknown, each, strict=True))} for each in product((0.0, 2.0), repeat=len(unknown))]


def as_found(frame: pl.DataFrame, source: str) -> Floats:
    return frame.filter(source=source).select("low", "high").to_numpy()


def whole(frame: pl.DataFrame) -> Floats:
    """Return the ends of all together where both topics are the same: nothing is left to topics."""
    return as_found(frame, TOGETHER)


@pytest.mark.parametrize("seed", range(25))
def test_ends_are_those_of_all_orders_and_outcomes(seed: int) -> None:
    judged, run, _ = drawn_lists(np.random.default_rng(seed))
    found = budget({"1": judged, "2": judged}, {"run": {"1": run, "2": run}}, MEASURES).runs
    assert set(found.filter(source="unjudged")["how"]) == {BOUNDS}
    every = values(worlds_of(judged, run), orders(run))
    stands = values(worlds_of(judged, run), [standing(judged, run)])
    ties = every[:, :1]  # the first outcome: none is relevant
    for source, of in (("tied", ties), ("unjudged", stands), (TOGETHER, every)):
        expected = np.stack((of.min(axis=(1, 2)), of.max(axis=(1, 2))), axis=1)
        np.testing.assert_allclose(as_found(found, source), expected, atol=1e-12, err_msg=source)


@pytest.mark.parametrize("seed", range(40))
def test_differences_are_within_those_of_all_orders_and_outcomes(seed: int) -> None:
    """Tight ends are the extremes; others hold them, and what is said to be reached is inside."""
    judged, one, two = drawn_lists(np.random.default_rng(seed))
    runs = {"one": {"1": one, "2": one}, "two": {"1": two, "2": two}}
    frame = budget({"1": judged, "2": judged}, runs, MEASURES, baseline="one").pairs.filter(one="one", two="two")
    worlds = worlds_of(judged, one, two)
    lists = [(orders(run), [standing(judged, run)]) for run in (one, two)]
    for source, at, first in (("tied", 0, True), ("unjudged", 1, False), (TOGETHER, 0, False)):
        own = [values(worlds[:1] if first else worlds, each[at]) for each in lists]
        low = (own[1].min(axis=2) - own[0].max(axis=2)).min(axis=1)
        high = (own[1].max(axis=2) - own[0].min(axis=2)).max(axis=1)
        rows = frame.filter(source=source).to_dicts()
        for row, least, greatest in zip(rows, low, high, strict=True):
            about = (seed, source, row["measure"], row["how"])
            if row["how"] == TIGHT:
                assert (row["low"], row["high"]) == pytest.approx((least, greatest), abs=1e-12), about
            assert row["low"] <= least + 1e-12, about
            assert row["high"] >= greatest - 1e-12, about
            if row["reached_low"] is not None:
                assert row["reached_low"] >= least - 1e-12, about
                assert row["reached_high"] <= greatest + 1e-12, about
    sums = frame.filter(pl.col("measure").is_in(["P@2", "RBP@3", "DCG@4"]), source="unjudged")
    assert set(sums["how"]) == {TIGHT}


def test_what_is_not_tight_says_so() -> None:
    hows = set()
    for seed in range(10):
        judged, one, two = drawn_lists(np.random.default_rng(seed))
        runs = {"one": {"1": one, "2": one}, "two": {"1": two, "2": two}}
        hows |= set(budget({"1": judged, "2": judged}, runs, "AP Rprec").pairs.select("measure", "how").rows())
    assert {("AP", LOOSE), ("Rprec", SCENARIOS), ("AP", TIGHT)} <= hows


# ------------------------------------------------------------------------------------------------------ properties


def sample(random: np.random.Generator, topics: int = 6) -> tuple[dict[str, Grades], dict[str, dict[str, Grades]]]:
    qrels: dict[str, Grades] = {}
    runs: dict[str, dict[str, Grades]] = {"one": {}, "two": {}}
    for at in range(topics):
        qrels[str(at)], runs["one"][str(at)], runs["two"][str(at)] = drawn_lists(random)
    return qrels, runs


def renamed(lists: dict[str, Grades], names: dict[str, str]) -> dict[str, Grades]:
    return {topic: {names[name]: value for name, value in own.items()} for topic, own in lists.items()}


def figures(frame: pl.DataFrame, *sources: str) -> Floats:
    rows = frame.filter(pl.col("source").is_in(sources)) if sources else frame
    return rows.select(pl.col(pl.Float64)).to_numpy()


@settings(max_examples=15)
@given(st.integers(0, 10**9))
def test_names_and_the_order_of_the_file_decide_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    qrels, runs = sample(random)
    found = budget(qrels, runs, "AP P@2")
    shuffled = {
        run: {t: dict(random.permutation(list(own.items()), axis=0).tolist()) for t, own in lists.items()}
        for run, lists in runs.items()
    }
    moved = {
        run: {t: {n: float(s) for n, s in own.items()} for t, own in lists.items()} for run, lists in shuffled.items()
    }
    again = budget(qrels, moved, "AP P@2")
    for name, table in found.tables.items():
        assert table.equals(again.tables[name]), name
    every = [*(f"d{at}" for at in range(6)), "lost"]
    names = dict(zip(every, random.permutation(every).tolist(), strict=True))
    other = budget(renamed(qrels, names), {run: renamed(lists, names) for run, lists in runs.items()}, "AP P@2")
    steady = ("tied", "topics", TOGETHER)
    np.testing.assert_allclose(figures(found.runs), figures(other.runs), atol=1e-12)
    np.testing.assert_allclose(figures(found.pairs, *steady), figures(other.pairs, *steady), atol=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 10**9))
def test_together_holds_every_source(seed: int) -> None:
    qrels, runs = sample(np.random.default_rng(seed))
    found = budget(qrels, runs, "AP P@2 nDCG@3", baseline="one", judges=[sample(np.random.default_rng(seed + 1))[0]])
    for frame, keys in ((found.runs, ["run", "measure"]), (found.pairs, ["one", "two", "measure"])):
        for own in frame.partition_by(keys):
            low, high = ends(own, TOGETHER)
            for row in own.to_dicts():
                assert low - 1e-12 <= row["low"] <= row["high"] <= high + 1e-12, row
                if row["source"] != TOGETHER:
                    assert row["low"] - 1e-12 <= row["score"] <= row["high"] + 1e-12, row


@settings(max_examples=25)
@given(st.integers(0, 10**9))
def test_without_ties_and_with_all_judged_topics_alone_remain(seed: int) -> None:
    random = np.random.default_rng(seed)
    qrels, runs = sample(random)
    judged = {topic: {**{f"d{at}": 0.0 for at in range(6)}, **own} for topic, own in qrels.items()}
    apart = {
        run: {t: {n: -float(at) for at, n in enumerate(own)} for t, own in lists.items()} for run, lists in runs.items()
    }
    found = budget(judged, apart, "AP P@2")
    for frame in (found.runs, found.pairs):
        assert set(frame.filter(pl.col("source").is_in(["tied", "unjudged"]))["width"]) == {0.0}
        np.testing.assert_array_equal(as_found(frame, TOGETHER), as_found(frame, "topics"))
    assert found.documents.is_empty()
    assert set(found.remedies["source"]) <= {"topics"}


@settings(max_examples=20)
@given(st.integers(0, 10**9))
def test_more_sources_are_wider(seed: int) -> None:
    """To break ties as scores stand, and to judge what counts as not relevant, leaves scores, and less open."""
    qrels, runs = sample(np.random.default_rng(seed))
    broken = {
        run: {t: {n: -float(at) for at, n in enumerate(standing(qrels[t], own))} for t, own in lists.items()}
        for run, lists in runs.items()
    }
    judged = {topic: {**{f"d{at}": 0.0 for at in range(6)}, **own} for topic, own in qrels.items()}
    wide = budget(qrels, runs, "AP P@2").runs
    for narrow in (budget(qrels, broken, "AP P@2").runs, budget(judged, runs, "AP P@2").runs):
        both = wide.join(narrow, on=["run", "measure", "source"])
        together = both.filter(source=TOGETHER)
        np.testing.assert_allclose(together["score"], together["score_right"], atol=1e-12)
        assert (together["low"] <= together["low_right"] + 1e-12).all()
        assert (together["high"] >= together["high_right"] - 1e-12).all()


@pytest.mark.parametrize("where", [0.0, 0.5, 1.0])
def test_together_covers_the_truth_wherever_it_lies(where: float) -> None:
    """400 collections of 40 topics: a value lies between its ends, in the same place in each, and its mean is known."""
    random = np.random.default_rng(7)
    low = random.beta(1, 2, (400, 40)) / 2
    width = random.beta(2, 5, (400, 40)) / 2
    truth = 0.5 / 3 + where * 2 / 14
    rows = [
        Ends(own, *(np.stack((own, own + more)),) * 3, (BOUNDS,) * 3, own) for own, more in zip(low, width, strict=True)
    ]
    found = drawn(rows, Drawing(0.05, Setting(samples=500))).together
    covered = np.mean((found[0] <= truth) & (truth <= found[1]))
    assert covered >= 0.93
    assert where == 0.5 or covered < 0.995  # and at its ends it is no wider than need be


# ------------------------------------------------------------------------------------------------ results, messages


def test_scores_and_ties_are_those_of_the_evaluation() -> None:
    qrels, runs = exaequo.sample()
    found, scores = budget(qrels, runs, "AP P@10"), evaluate(qrels, runs, "AP P@10", ties="all")
    for row in found.runs.filter(source="tied").to_dicts():
        ends = [scores.mean(row["measure"], run=row["run"], ties=ties) for ties in ("realistic", "optimistic")]
        assert [row["score"], row["low"], row["high"]] == pytest.approx([ends[0], *ends], abs=1e-12)


def test_topics_for_half_the_width() -> None:
    qrels, runs = exaequo.sample()
    found = exaequo.budget(qrels, runs, samples=200).remedies.filter(source="topics")
    assert set(found["n"]) == {95.0}  # four times 25, less what Student's t gains
    np.testing.assert_allclose(found["then"], found["width"] / 2)


@pytest.mark.parametrize("measure", ["P@3", "AP", "nDCG@3"])
def test_what_documents_leave_once_judged(measure: str) -> None:
    """As said, so it is when they are judged: none relevant, or all; of a sum, each closes what it moves."""
    qrels, runs = sample(np.random.default_rng(5))
    apart = {"one": {t: {n: -float(at) for at, n in enumerate(own)} for t, own in runs["one"].items()}}
    found = budget(qrels, apart, measure, to_judge=4)
    row = found.remedies.filter(source="unjudged").row(0, named=True)
    widths = []
    for grade in (0.0, 2.0):
        judged = {topic: dict(own) for topic, own in qrels.items()}
        for topic, docno in found.documents.select("topic", "docno").rows():
            judged[topic][docno] = grade
        widths.append(budget(judged, apart, measure).runs.filter(source="unjudged")["width"][0])
    assert row["then"] == pytest.approx(max(widths))
    assert row["then"] < row["width"]
    if measure == "P@3":
        assert row["then"] == pytest.approx(row["width"] - found.documents["moves"].sum())
        assert found.documents["moves"].to_list() == pytest.approx([1 / 3 / 6] * 4)
    else:
        assert widths[0] != pytest.approx(widths[1])


def test_judging_all_leaves_nothing() -> None:
    found = budget(*sample(np.random.default_rng(3)), "nDCG@3", to_judge=1000)
    assert set(found.remedies.filter(source="unjudged")["then"]) <= {0.0}


def test_a_short_repr_and_tables() -> None:
    found = budget(QRELS, {"one": ONE, "two": TWO}, "AP P@1")
    assert repr(found) == "<Budget: 2 runs, AP, P@1, 2 topics>"
    assert list(found.tables) == ["runs", "pairs", "remedies", "documents"]
    assert budget(QRELS, {"one": ONE}, "AP").pairs.columns == found.pairs.columns


def test_sums_are_those_of_all_topics() -> None:
    found = budget(QRELS, {"one": ONE, "two": TWO}, "NumRelRet").runs
    assert set(found["score"]) == {2.0}
    assert ends(found, "unjudged") == (2, 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"baseline": "ono"}, "did you mean 'one'"),
        ({"alpha": 1.5}, "alpha must be"),
        ({"to_judge": 0}, "to_judge must be"),
        ({"grade": -1}, "The grade must be"),
        ({"measures": "gm(AP)"}, "ask for AP"),
        ({"samples": 5}, "samples must be"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(exaequo.BadParameter, match=said.replace("(", r"\(")):
        budget(QRELS, {"one": ONE, "two": TWO}, **options)


def test_runs_without_topics_in_common_are_refused() -> None:
    qrels = {str(at): {"a": 1, "b": 0} for at in range(4)}
    found, lost = {"a": 2.0, "b": 1.0}, {"b": 1.0}
    one, two = ({str(at): found if at // 2 == half else lost for at in range(4)} for half in range(2))
    assert budget(qrels, {"one": one}, "PDoc(doc='a')").topics == 4
    with pytest.raises(exaequo.BadParameter, match=r"two and one: PDoc.* 0 topics only"):
        budget(qrels, {"one": one, "two": two}, "PDoc(doc='a')")


def test_one_topic_is_refused_with_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1 0 a 1\n")
    run.write_text("1 Q0 a 1 1 one\n")
    assert command(["budget", str(qrels), str(run)]) == 1
    assert f"{qrels}: only 1 topic" in capsys.readouterr().err


def test_a_judge_without_some_topics_is_told() -> None:
    found = budget({**QRELS, "3": {"a": 1}}, {"one": ONE}, "AP", judges=[QRELS])
    assert "1 topic that a judge lacks left out for all of them: 3" in found.warnings
    assert found.topics == 2
    assert set(found.runs["score"]) == {0.5}


def test_the_first_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, *runs = map(str, exaequo.sample().save(tmp_path))
    assert command(["budget", qrels, *runs, "--baseline", "bm25", "--judges", qrels, "--samples", "200"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 84
    assert command(["budget", qrels, *runs, "--json", "--samples", "200"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert {"runs", "pairs", "remedies", "documents", "options"} <= set(content)
    found = exaequo.budget(qrels, runs, samples=200)
    assert [row["low"] for row in content["runs"]] == found.runs["low"].to_list()
