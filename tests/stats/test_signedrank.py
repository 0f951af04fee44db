"""The signed-rank test against all sign patterns in exact fractions, and against SciPy where that is exact."""

from __future__ import annotations

import subprocess
import sys
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from exaequo import BadParameter
from exaequo.stats.signedrank import MOST_COUNTED, signed_rank_p

RANDOM = np.random.Generator(np.random.PCG64(17))
SIDES = ("two-sided", "greater", "less")


def by_brute_force(gaps: list[Fraction], alternative: str) -> Fraction:
    """Return the share of all sign patterns whose sum of ranks goes as far, in fractions."""
    known = [gap for gap in gaps if gap]
    sizes = [abs(gap) for gap in known]
    ranks = [2 * sum(s < size for s in sizes) + 1 + sum(s == size for s in sizes) for size in sizes]  # twice the mean
    own = sum(rank for rank, gap in zip(ranks, known, strict=True) if gap > 0)
    sums = [sum(rank for rank, up in zip(ranks, ups, strict=True) if up) for ups in product((0, 1), repeat=len(ranks))]
    less = Fraction(sum(each <= own for each in sums), len(sums))
    greater = Fraction(sum(each >= own for each in sums), len(sums))
    return {"less": less, "greater": greater, "two-sided": min(2 * min(less, greater), Fraction(1))}[alternative]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("n", range(1, 13))
def test_as_all_sign_patterns(n: int, side: str) -> None:
    """Few distinct differences, so that ties and zeros abound; p is the fraction itself, to the last bit."""
    for parts in (3, 6, 7, 100):
        drawn = RANDOM.integers(-parts, parts + 1, size=(3, n))
        found = signed_rank_p(drawn / parts, side)
        for row, p in zip(drawn.tolist(), found.tolist(), strict=True):
            assert Fraction(p) == by_brute_force([Fraction(each, parts) for each in row], side), (row, parts)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=6, max_size=6), max_size=6), st.sampled_from(SIDES))
def test_any_small_differences(rows: list[list[int]], side: str) -> None:
    found = signed_rank_p(np.array(rows, dtype=np.float64).reshape(-1, 6), side)
    assert found.tolist() == [float(by_brute_force([Fraction(each) for each in row], side)) for row in rows]


@pytest.mark.parametrize("side", SIDES)
def test_as_in_scipy(side: str) -> None:
    """Exact there without ties up to 50 differences, with ties up to 13; normal beyond 50."""
    for n in (1, 2, 7, 20, 35, 49, 50, 51, 60, 200):
        gaps = RANDOM.normal(0.1, 1, size=(20, n))
        expected = [stats.wilcoxon(row, alternative=side, method="auto").pvalue for row in gaps]
        assert signed_rank_p(gaps, side) == pytest.approx(expected, rel=1e-12, abs=0)
    for n in (6, 13, 51, 90):
        gaps = RANDOM.integers(-4, 5, size=(2, n)).astype(np.float64)
        gaps[:, 0] = 5
        if n > MOST_COUNTED:
            gaps[gaps == 0] = 2
        expected = [stats.wilcoxon(row, alternative=side, method="auto").pvalue for row in gaps]
        assert signed_rank_p(gaps, side) == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_limit_counts_differences_not_zeros() -> None:
    gaps = RANDOM.normal(0.2, 1, size=(5, MOST_COUNTED))
    padded = np.hstack((np.zeros((5, 30)), gaps, -np.zeros((5, 4))))
    for side in SIDES:
        assert signed_rank_p(padded, side).tolist() == signed_rank_p(gaps, side).tolist()


def test_fifty_ties() -> None:
    """All differences of one size are a sign test: counts near 2^50 lose nothing."""
    for wins in (0, 1, 20, 25, 26, 49, 50):
        gaps = np.where(np.arange(50) < wins, 0.1, -0.1)[None, :]
        for side in SIDES:
            expected = stats.binomtest(wins, 50, alternative=side).pvalue
            assert signed_rank_p(gaps, side)[0] == pytest.approx(expected, rel=1e-12)


def test_sides_mirror() -> None:
    gaps = RANDOM.integers(-6, 9, size=(30, 40)) / 7
    assert signed_rank_p(gaps, "greater").tolist() == signed_rank_p(-gaps, "less").tolist()
    assert signed_rank_p(gaps, "two-sided").tolist() == signed_rank_p(-gaps, "two-sided").tolist()
    assert signed_rank_p(np.zeros((2, 60)), "two-sided").tolist() == [1, 1]
    assert signed_rank_p(np.zeros((0, 5)), "less").shape == (0,)
    with pytest.raises(BadParameter, match="alternative"):
        signed_rank_p(gaps, "both")


@pytest.mark.speed
def test_quick() -> None:
    gaps = np.round(np.random.Generator(np.random.PCG64(1)).normal(0.1, 0.3, size=(7875, 50)), 2)
    start = time.process_time()
    signed_rank_p(gaps, "two-sided")
    assert time.process_time() - start < 3
    took = []
    for _ in range(5):
        start = time.process_time()
        signed_rank_p(gaps[:1], "two-sided")
        took.append(time.process_time() - start)
    assert min(took) < 0.01


def test_without_scipy_stats() -> None:
    """`scipy.stats` takes half a second to load."""
    code = "import sys, numpy as np; from exaequo.stats.signedrank import signed_rank_p as p; "
    code += "p(np.ones((1, 60)), 'less'); p(np.ones((1, 6)), 'less'); sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
