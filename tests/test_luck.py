"""Tie statistics and the arithmetic of luck, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from exaequo import luck, parse_measure, read_qrels, read_run
from exaequo.judge import judge, prepare
from exaequo.luck import (
    changes,
    earnings,
    first_rank,
    from_nothing,
    gain,
    gains_of_lists,
    gains_of_runs,
    luckiest,
    share,
    which_is_better,
)
from exaequo.order import Ordering
from exaequo.tiestats import TieStatistics, frame_of, per_score_at, stuffing, tie_statistics, values_without_stuffing
from helpers import Sims, evaluate

#: Topic 1: a b | c | d e f, topic 2: g, topic 3 is missing, topic 4: one tie of two, topic 5: two scores, two ties.
QRELS = {topic: {"a": 1, "d": 1} for topic in "12345"}
RUN: Sims = {
    "1": {"a": 3.0, "b": 3.0, "c": 2.0, "d": 0.0, "e": 0.0, "f": -0.0},
    "2": {"g": 0.0},
    "4": {"a": -1.0, "b": -1.0},
    "5": {"a": 1.0 + 2**-40, "b": 1.0 + 2**-40, "c": 1.0, "d": 1.0},
}
NAN = float("nan")


def ordering(run: Sims = RUN, precision: str = "double") -> Ordering:
    return Ordering(judge(read_run(run), prepare(read_qrels(QRELS))), precision)


def statistics(**options: object) -> TieStatistics:
    return tie_statistics(ordering(), (1, 2, 3, 4, 6), **options)  # type: ignore[arg-type]


def test_figures_of_each_list() -> None:
    found = statistics()
    assert found.documents.tolist() == [6, 1, 0, 2, 4]
    assert found.tied.tolist() == [5, 0, 0, 2, 4]
    assert found.scores.tolist() == [3, 1, 0, 1, 2]
    assert found.largest.tolist() == [3, 0, 0, 2, 2]
    assert found.single.tolist() == [0, 0, 0, 0, 0]  # all were tied before
    assert found.stuffed.tolist() == [3, 0, 0, 0, 0]
    assert {cutoff: lists.tolist() for cutoff, lists in found.crossing.items()} == {
        1: [True, False, False, True, True],
        2: [False] * 5,
        3: [False, False, False, False, True],
        4: [True, False, False, False, False],
        6: [False] * 5,
    }
    assert found.share.tolist() == pytest.approx([500 / 6, 0, NAN, 100, 100], nan_ok=True)
    assert found.per_score.tolist() == pytest.approx([2, 1, NAN, 2, 2], nan_ok=True)
    assert found.all_tied.tolist() == [False, False, False, True, True]
    assert found.one_tie.tolist() == [False, False, False, True, False]
    assert found.no_tie.tolist() == [False, True, False, False, False]


def test_figures_of_a_run() -> None:
    found = statistics().summary()
    shares = {"tied_percent": pytest.approx((500 / 6 + 200) / 4), "per_score": 1.75}
    counts = {"lists": 4, "documents": 13, "largest_tie": 3, "all_tied": 2, "one_tie": 1, "no_tie": 1}
    counts |= {"only_in_single": 0, "stuffed_lists": 1, "stuffed": 3}
    assert found == shares | counts | {"across_1": 3, "across_2": 0, "across_3": 1, "across_4": 1, "across_6": 0}
    nothing = tie_statistics(ordering({"9": {"a": 1.0}})).summary()
    one = tie_statistics(ordering({"1": {"a": 1.0, "b": 0.0}})).summary()
    assert (one["stuffed_lists"], one["stuffed"], one["largest_tie"]) == (1, 1, 0)
    assert np.isnan(nothing["tied_percent"]) and np.isnan(nothing["per_score"]) and nothing["largest_tie"] == 0


def test_ties_of_single_precision() -> None:
    run = {"1": {"a": 1.0, "b": 1.0 + 2**-40, "c": 3.0}, "2": {"d": 1.0 + 2**-40, "e": 5.0, "f": 5.0}}
    assert tie_statistics(ordering(run)).single.tolist() == [2, 0, 0, 0, 0]
    assert tie_statistics(ordering(run), single=False).single.tolist() == [0] * 5
    coarse = tie_statistics(ordering(run, "single"))
    assert (coarse.tied.tolist(), coarse.single.tolist()) == ([2, 2, 0, 0, 0], [0] * 5)
    assert tie_statistics(ordering({"1": {"a": 1e300, "b": 1e301}})).single.tolist() == [2, 0, 0, 0, 0]
    second = {"1": {"a": 1.0, "b": 1 + 1e-12}, "2": {"a": 1 + 1e-12, "b": 1.0, "c": 1 + 2e-12}}
    assert tie_statistics(ordering(second)).single.tolist() == [2, 3, 0, 0, 0]


def test_lists_that_are_cut() -> None:
    found = tie_statistics(ordering(), depth=4)
    assert found.documents.tolist() == [4, 1, 0, 2, 4]
    assert found.tied.tolist() == [2, 0, 0, 2, 4]
    assert found.largest.tolist() == [2, 0, 0, 2, 2]


@pytest.mark.parametrize(
    ("sims", "stuffed"),
    [
        ((2, 1, 0, 0), 2),
        ((2, 0, -1), 0),  # something is below
        ((0, 0), 0),  # nothing is above
        ((0, -1), 0),
        ((1, 0), 1),
        ((2, 1), 0),
    ],
)
def test_what_fills_up_a_list(sims: tuple[float, ...], stuffed: int) -> None:
    found = ordering({"1": {"abcd"[at]: float(sim) for at, sim in enumerate(sims)}, "2": {"a": 1.0}})
    assert stuffing(found.ranking()).sum() == stuffed


def test_values_without_what_fills_up() -> None:
    run = {"1": {"b": 2.0, "d": 0.0, "a": 0.0}}
    ranking, measures = ordering(run).ranking("conventional"), [parse_measure("P@2"), parse_measure("R@5")]
    assert [each[0] for each in values_without_stuffing(ranking, measures)] == [0, 0]
    kept = ordering({"1": {"b": 2.0, "d": 1.0, "a": 0.5}}).ranking("conventional")
    assert [each[0] for each in values_without_stuffing(kept, measures, 2)] == [0.5, 0.5]
    assert [each[0] for each in values_without_stuffing(kept, measures)] == [0.5, 1]


def test_documents_per_score_are_averaged_at_three_levels() -> None:
    other = tie_statistics(ordering({"1": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}}))
    lists = frame_of({"x": tie_statistics(ordering()), "y": other}, pl.Series(list("12345")))
    rows = [("x", "1", 2.0), ("x", "2", 1.0), ("x", "4", 2.0), ("x", "5", 2.0), ("y", "1", 4.0)]
    assert lists.select("run", "topic", "per_score").rows() == rows
    # by list 2 1 2 2 4, by run 1.75 4, by topic 3 1 2 2
    for level, (of, least, mean, most, deviation) in {
        "list": (5, 1, 2.2, 4, 1.2**0.5),
        "run": (2, 1.75, 2.875, 4, 2.25 / 2**0.5),
        "topic": (4, 1, 2, 3, (2 / 3) ** 0.5),
    }.items():
        (row,) = per_score_at(level, lists).rows()
        assert row == (level, of, least, pytest.approx(mean), most, pytest.approx(deviation))
    years = [str(year) for year in range(50, 0, -1)]
    long = pl.DataFrame({"year": years, "run": ["x"] * 50, "topic": ["1"] * 50, "per_score": [1.0] * 50})
    assert per_score_at("list", long, ["year"])["year"].to_list() == years
    alone = frame_of({"y": other}, pl.Series(list("12345")))
    assert alone.select("run", "topic", "documents").rows() == [("y", "1", 4)]
    by_year = per_score_at("list", lists.with_columns(year=pl.col("run")), ["year"])
    assert by_year.select("year", "of", "mean").rows() == [("x", 4, 1.75), ("y", 1, 4.0)]


def test_gains_and_shares() -> None:
    assert gain(np.array([3.0, 0, 1, -1]), np.array([2.0, 0, 0, -2])).tolist() == pytest.approx(
        [50, 0, NAN, 50], nan_ok=True
    )
    assert first_rank(np.array([1.0, 1 / 3, 0.0])).tolist() == pytest.approx([1, 3, NAN], nan_ok=True)
    assert [share(1, 4), share(1, -4), share(0, 0), share(-1, 4)] == [25, 25, 0, -25]
    assert np.isnan(share(1, 0))
    full = {"realistic": 0.5, "conventional": 0.8, "optimistic": 1.0}
    without = {"realistic": 0.5, "conventional": 0.6, "optimistic": 0.0}
    assert earnings(full, without) == pytest.approx(
        {"earned_realistic": 0, "earned_conventional": 0.2, "earned_optimistic": 1}
        | {"share_realistic_percent": 0, "share_conventional_percent": 25, "share_optimistic_percent": 100}
    )


def test_gains_of_lists_and_runs_by_hand() -> None:
    # topic 1: the relevant one of two is last or first, by name first; topic 2: of three, by name second
    qrels = {"1": {"b": 1}, "2": {"b": 1}}
    run = {"1": {"a": 1.0, "b": 1.0}, "2": {"a": 1.0, "b": 1.0, "c": 1.0}}
    scores = evaluate(qrels, run, ["RR", "E@1", "AP"], ties="all")
    later = {"1": {"x": 1.0, "b": 0.0, "c": 0.0}}  # third or second, by name third
    (row,) = gains_of_lists(evaluate(qrels | {"2": {}}, later, ["RR"], ties="all")).rows(named=True)
    assert (row["first_realistic"], row["first_conventional"], row["first_optimistic"]) == (3, 3, 2)
    assert (row["ranks_gained"], row["luck"]) == (0, 0)
    rows = gains_of_lists(scores).filter(pl.col("measure") == "RR").drop("run", "measure").rows()
    assert rows[0] == ("1", 0.5, 1.0, 1.0, 100.0, 100.0, 0.0, 2, 1, 1, 1, 1.0)
    assert rows[1] == ("2", *map(pytest.approx, (1 / 3, 0.5, 1.0, 50.0, 200.0, 100.0)), 3, 2, 1, 1, 1.0)
    lists = gains_of_lists(scores)
    assert lists.filter(measure="E@1", topic="1").select("realistic", "conventional", "luck").row(0) == (1, 0, 100)
    assert lists.filter(measure="AP", topic="2").select("first_realistic", "luck").row(0) == (None, pytest.approx(50))
    runs = gains_of_runs(scores)
    assert "topic" not in runs.columns
    row = runs.filter(measure="RR").row(0, named=True)
    assert (row["realistic"], row["conventional"], row["optimistic"]) == pytest.approx((5 / 12, 0.75, 1))
    assert (row["luck"], row["first_realistic"]) == (pytest.approx(80), None)
    assert gains_of_runs(scores, 2).filter(measure="RR")["realistic"].to_list() == [0.42]


def test_the_luckiest_of_each_measure() -> None:
    gains = pl.DataFrame({"measure": list("yxxxxy"), "topic": list("123456"), "luck": [1.0, 0.0, 5.0, 9.0, 5.0, NAN]})
    assert luckiest(gains, 2).rows() == [("x", "4", 9.0), ("x", "3", 5.0), ("y", "1", 1.0)]
    assert luckiest(gains, 9)["topic"].to_list() == list("4351")
    many = pl.DataFrame({"measure": ["x"] * 500, "topic": range(500), "luck": [1.0, 2.0] * 250})
    assert luckiest(many, 300)["topic"].to_list() == [*range(1, 500, 2), *range(0, 100, 2)]  # of equals the first


def test_lifted_from_nothing() -> None:
    measures = [parse_measure("AP"), parse_measure("E@1")]
    gains = pl.DataFrame(
        {"measure": ["AP", "AP", "AP", "E@1"], "realistic": [0.0, 0.0, 0.1, 0.0], "conventional": [0.2, 0.0, 0.3, 0.2]}
    )
    assert from_nothing(gains, measures).rows() == [("AP", 0.0, 0.2)]
    assert luck.testable([*measures, parse_measure("gm(AP)")]) == measures


def test_verdicts_of_three_rows() -> None:
    better, p = which_is_better(np.array([[1.0, 0.5, 0.9], [0.0, 0.1, 0.2], [1.0, 0.5, 0.9]]), 1)
    assert better.tolist() == [1, 0, -1]
    assert p[1] == 1 and p[0] == pytest.approx(p[2])
    assert which_is_better(np.array([[0.5, 0.25]]), 1)[0].tolist() == []
    better, p = which_is_better(np.zeros((3, 0)), 1)
    assert better.tolist() == [0, 0, 0] and p.tolist() == pytest.approx([NAN] * 3, nan_ok=True)
    assert np.isnan(which_is_better(np.array([[1.0], [0.0], [0.5]]), 1)[1]).all()
    assert not np.isnan(which_is_better(np.array([[1.0, 0.5], [0.0, 0.2]]), 1)[1]).any()
    verdicts = [np.array([1, 0, 1, 1]), np.array([1, 0, 0, 1]), np.array([1, 1, 1, 1])]
    assert changes(verdicts).tolist() == [False, True, True, False]
    assert changes(verdicts[:1]).tolist() == [False] * 4
