"""Rank correlations and agreement of judges against values their authors published, and SciPy and scikit-learn."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from exaequo import BadParameter
from exaequo.stats.agreement import (
    cohen,
    kendall,
    krippendorff,
    pearson,
    rbo,
    rbo_of_scores,
    tau_ap,
    tau_ap_b,
    weighted_cohen,
)

#: The example of the R package ircor, by the authors of τ_AP,b.
X = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
Y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])


def test_tau_ap_published() -> None:
    assert tau_ap(X, Y) == pytest.approx(0.7491182, abs=5e-8)
    assert tau_ap_b(np.round(X * 5) / 5, np.round(Y * 5) / 5) == pytest.approx(0.6269841, abs=5e-8)
    assert kendall(X, Y)[0] == pytest.approx(0.7777778, abs=5e-8)
    assert kendall(np.round(X * 5) / 5, np.round(Y * 5) / 5)[0] == pytest.approx(0.75)


def test_tau_ap_by_hand() -> None:
    # Estimated order b a c, true order a b c: at rank 2 nothing above is right, at rank 3 both are.
    assert tau_ap(np.array([3.0, 2.0, 1.0]), np.array([2.0, 3.0, 1.0])) == pytest.approx(2 / 2 * (0 / 1 + 2 / 2) - 1)
    assert tau_ap(X, X) == 1
    assert tau_ap(X, -X) == -1
    with pytest.raises(BadParameter, match="without ties"):
        tau_ap(np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    assert np.isnan(tau_ap_b(np.ones(3), np.arange(3.0)))
    assert tau_ap_b(np.arange(4.0), np.array([2.0, 0.0, 3.0, 1.0])) == 0


def test_rbo_published() -> None:
    """The example of the authors' own implementation (sigir2024-rbo)."""
    one: list[Any] = ["red", {"blue", "green"}, "yellow", "pink"]
    two: list[Any] = [{"blue", "red"}, "white", {"yellow", "black", "purple"}, "green"]
    for ties, expected in (("a", 0.6922853), ("w", 0.7068257), ("b", 0.7207131)):
        assert rbo(one, two, 0.95, ties) == pytest.approx(expected, abs=5e-8)
        assert rbo(two, one, 0.95, ties) == pytest.approx(expected, abs=5e-8)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=5), st.lists(st.integers(0, 3), min_size=2, max_size=5))
def test_rbo_a_is_the_mean_over_all_orders(one: list[int], two: list[int]) -> None:
    size = min(len(one), len(two))
    first, second = np.array(one[:size], dtype=float), np.array(two[:size], dtype=float)

    def orders(scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[list[int]]:
        groups = [np.flatnonzero(scores == score).tolist() for score in np.unique(scores)[::-1]]
        return [[item for group in order for item in group] for order in product(*map(permutations, groups))]

    values = [rbo(a, b, 0.8) for a in orders(first) for b in orders(second)]
    assert rbo_of_scores(first, second, 0.8) == pytest.approx(np.mean(values), abs=1e-12)
    assert rbo_of_scores(first, first, 0.8, "b") == pytest.approx(1)
    assert rbo_of_scores(first, first, 0.8, "w") == pytest.approx(1)


def test_rbo_refuses() -> None:
    wrong: list[tuple[tuple[Any, ...], str]] = [
        ((["a"], ["a"], 1.0), "between 0 and 1"),
        ((["a"], ["a"], 0.9, "x"), "w, a or b"),
        ((["a", "a"], ["a"]), "twice"),
        (([], ["a"]), "at least one"),
    ]
    for arguments, message in wrong:
        with pytest.raises(BadParameter, match=message):
            rbo(*arguments)


def test_krippendorff_published() -> None:
    """The examples of Krippendorff (2011): two observers of ten units, four observers of twelve with gaps."""
    two = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    assert krippendorff(two) == pytest.approx(0.095, abs=5e-4)
    gap = float("nan")
    four = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
        [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
    ]
    for level, expected in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)):
        assert krippendorff(four, level) == pytest.approx(expected, abs=5e-4)
    assert np.isnan(krippendorff([[1, 1], [1, 1]]))
    with pytest.raises(BadParameter, match="level"):
        krippendorff(two, "cardinal")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_cohen_as_in_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    one, two = (np.array(column) for column in zip(*pairs, strict=True))
    found = cohen(one, two)
    if len(set(one.tolist()) | set(two.tolist())) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(cohen_kappa_score(one, two))


def test_weighted_cohen_by_hand() -> None:
    # Grades 0 0 1 2 against 0 1 1 0. Seen: one disagreement of 1, one of 2. By chance, of 16 pairs of grades: those of
    # distance 1 are 2·2 + 1·2 + 1·2 = 8, those of distance 2 are 1·2 = 2 (the second never says 2).
    one, two = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0])
    assert weighted_cohen(one, two) == pytest.approx(1 - (3 / 4) / ((8 + 2 * 2) / 16))
    assert weighted_cohen(one, two, 2) == pytest.approx(1 - (5 / 4) / ((8 + 4 * 2) / 16))
    assert np.isnan(weighted_cohen(np.ones(3), np.ones(3)))
    assert weighted_cohen(np.array([0, 3]), np.array([0, 3])) == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_weighted_cohen_as_in_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    one, two = (np.array(column) for column in zip(*pairs, strict=True))
    if len(set(one.tolist()) | set(two.tolist())) > 1:
        for power, name in ((1, "linear"), (2, "quadratic")):
            expected = cohen_kappa_score(one, two, labels=range(4), weights=name)
            assert weighted_cohen(one, two, power) == pytest.approx(expected)
            assert weighted_cohen(two, one, power) == pytest.approx(expected)
            assert weighted_cohen(3 * one + 1, 3 * two + 1, power) == pytest.approx(expected)
        good, fine = (one > 1).astype(np.int64), (two > 1).astype(np.int64)
        assert weighted_cohen(good, fine) == pytest.approx(cohen(good, fine), nan_ok=True)


def test_others_as_in_scipy() -> None:
    random = np.random.Generator(np.random.PCG64(1))
    one, two = np.round(random.random((2, 20)), 1)
    assert pearson(one, two) == pytest.approx(stats.pearsonr(one, two).statistic)
    assert kendall(one, two) == pytest.approx(tuple(stats.kendalltau(one, two)))
    assert np.isnan(pearson(np.ones(3), np.arange(3.0)))
    assert np.isnan(kendall(np.ones(3), np.arange(3.0))[0])
