"""What is equal is so to every test: p, wins and losses against exact fractions, for scores as measures make them."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from exaequo import Measure
from exaequo.comparison import compare_scores
from exaequo.comparison.plan import Plan
from exaequo.measures import parse_measure
from exaequo.scores import Block, Scores
from exaequo.stats.equality import TOLERANCE, balanced, differences, settled_means
from exaequo.stats.tests import MOST_EXACT, TESTS, Setting, randomization

SIDES = ("two-sided", "greater", "less")
KINDS = ("recall", "precision", "average precision")


def scores(kind: str, n: int, source: random.Random) -> tuple[list[Fraction], list[Fraction]]:
    """Draw the exact scores of two runs on n topics, with thirds, sixths, sevenths and tenths among them."""

    def draw() -> Fraction:
        if kind == "recall":
            relevant = source.choice((3, 6, 7))
            return Fraction(source.randint(0, relevant), relevant)
        if kind == "precision":
            return Fraction(source.randint(0, 10), 10)
        relevant = source.choice((2, 3, 7))
        ranks = sorted(source.sample(range(1, 13), relevant))
        return sum((Fraction(at + 1, rank) for at, rank in enumerate(ranks)), Fraction(0)) / relevant

    return [draw() for _ in range(n)], [draw() for _ in range(n)]


def as_computed(value: Fraction) -> float:
    """Return the value as adding up would give it: not always the nearest double."""
    return value.numerator * (1.0 / value.denominator)


def chance(counts: Counter[Fraction], observed: Fraction, side: str) -> Fraction:
    """Return the share of a symmetric distribution around 0 that goes as far as the observed one."""

    def reached(each: Fraction) -> bool:
        if side == "two-sided":
            return abs(each) >= abs(observed)
        return each >= observed if side == "greater" else each <= observed

    return Fraction(sum(number for each, number in counts.items() if reached(each)), sum(counts.values()))


def signed_sums(sizes: list[Fraction]) -> Counter[Fraction]:
    """Return all sums of ±sizes with how many patterns of signs give each."""
    counts: Counter[Fraction] = Counter({Fraction(0): 1})
    for size in sizes:
        following: Counter[Fraction] = Counter()
        for total, number in counts.items():
            following[total + size] += number
            following[total - size] += number
        counts = following
    return counts


def exact_p(test: str, gaps: list[Fraction], side: str) -> Fraction:
    """Return p in fractions, straight from the definition of the test."""
    other = [gap for gap in gaps if gap]
    if not other:
        return Fraction(1)
    if test == "randomization":
        return chance(signed_sums([abs(gap) for gap in gaps]), sum(gaps, Fraction(0)), side)
    if test == "sign":
        wins = sum(gap > 0 for gap in other)
        counts = Counter({Fraction(2 * k - len(other)): comb(len(other), k) for k in range(len(other) + 1)})
        return chance(counts, Fraction(2 * wins - len(other)), side)
    sizes = [abs(gap) for gap in other]
    rank = {
        size: Fraction(1 + sum(each < size for each in sizes) + sum(each <= size for each in sizes), 2)
        for size in sizes
    }
    observed = sum((rank[abs(gap)] * (1 if gap > 0 else -1) for gap in other), Fraction(0))
    return chance(signed_sums([rank[size] for size in sizes]), observed, side)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("test", ["wilcoxon", "sign", "randomization"])
def test_p_is_that_of_exact_fractions(test: str, kind: str) -> None:
    source = random.Random(f"{test} {kind}")
    sizes = (
        range(2, 31)
        if test != "randomization"
        else range(2, 13)
        if kind == "average precision"
        else [*range(2, 15), 20]
    )
    for n in sizes:
        one, two = scores(kind, n, source)
        rows = [np.array([[as_computed(value) for value in run]]) for run in (one, two)]
        gaps, exact = differences(*rows), [b - a for a, b in zip(one, two, strict=True)]
        assert [np.sign(gap) for gap in gaps[0]] == [(gap > 0) - (gap < 0) for gap in exact]
        assert len({*np.abs(gaps[0])}) == len({abs(gap) for gap in exact})
        for side in SIDES:
            found = TESTS[test](gaps, Setting(alternative=side))[0]
            assert found == pytest.approx(float(exact_p(test, exact, side)), rel=1e-9), (n, side)


def test_sampled_patterns_count_equal_sums_too() -> None:
    source = random.Random(3)
    for n in (21, 30):
        one, two = scores("recall", n, source)
        rows = [np.array([[as_computed(value) for value in run]]) for run in (one, two)]
        exact = float(exact_p("randomization", [b - a for a, b in zip(one, two, strict=True)], "two-sided"))
        found = randomization(differences(*rows), Setting(samples=200_000))[0]
        assert n > MOST_EXACT
        assert found == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 200_000))


def test_ten_thirds() -> None:
    """Seven gains of a third, made in different ways, and three losses: the signed-rank test sees ten equal ranks."""
    one = np.array([[1 / 3, 0, 2 / 3, 1 / 3, 0, 2 / 3, 1 / 3, 2 / 3, 1 / 3, 1.0]])
    two = np.array([[2 / 3, 1 / 3, 1.0, 2 / 3, 1 / 3, 1.0, 2 / 3, 1 / 3, 0, 2 / 3]])
    gaps = differences(one, two)
    assert len({*np.abs(gaps[0])}) == 1
    for test in ("wilcoxon", "sign", "randomization"):
        assert TESTS[test](gaps, Setting())[0] == pytest.approx(0.34375, abs=1e-12)
    assert len({*np.abs(two - one)[0]}) > 1  # to a computer they differ


def made(one: list[float], two: list[float]) -> Scores:
    import polars as pl

    measure: Measure = parse_measure("AP")
    topics = pl.Series([str(at) for at in range(len(one))])
    blocks = [Block(name, "realistic", (measure,), topics, np.array([row])) for name, row in (("a", one), ("b", two))]
    return Scores(measures=(measure,), blocks=tuple(blocks))


def test_wins_and_losses_see_what_the_tests_see() -> None:
    found = compare_scores(made([0.1 + 0.2, 0.3, 0.5, 0.2], [0.3, 0.1 + 0.2, 0.4, 0.6]), Plan()).pairs.row(
        0, named=True
    )
    assert (found["wins"], found["ties"], found["losses"]) == (1, 2, 1)


def test_the_tolerance_is_relative_to_the_scores() -> None:
    """Times a thousand, or a millionth, the same is equal; what differs by more than the tolerance is not."""
    one, two = np.array([[1 / 3, 0.0, 0.5]]), np.array([[2 / 3, 1 / 3, 0.9]])
    for factor in (1e-6, 1.0, 1e3, 1e9):
        gaps = differences(factor * one, factor * two)[0]
        assert gaps[0] == gaps[1] != gaps[2]
        apart = differences(factor * one, factor * (two + np.array([[0, 3 * TOLERANCE, 0]])))[0]
        assert apart[0] != apart[1]
        near = differences(factor * one, factor * (two + np.array([[0, TOLERANCE / 3, 0]])))[0]
        assert near[0] == near[1]


def test_a_pair_does_not_depend_on_the_others() -> None:
    """What is equal between two runs is not changed by a third with large scores."""
    source = np.random.Generator(np.random.PCG64(3))
    rows = source.integers(0, 7, size=(3, 12)) / 7
    rows[2] *= 1e6
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    together = differences(rows[first], rows[second])
    assert np.array_equal(together[0], differences(rows[:1], rows[1:2])[0])


def test_sums_that_are_nothing_but_noise() -> None:
    gaps = np.array([[0.1, 0.2, -0.3], [0.1, 0.2, -0.2]])
    assert gaps.sum(axis=1)[0] != 0
    assert balanced(gaps).tolist() == [0.0, pytest.approx(0.1)]


def test_equal_means_are_equal() -> None:
    means = settled_means(np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2 + 1e-5]]))
    assert means[0] == means[1] < means[2]


def test_the_larger_of_two_scores_says_how_large_noise_is() -> None:
    """Against a run that finds nothing the other's scores count, whichever of the two it is."""
    scores_ = np.array([[1 / 3, 1 - 2 / 3, 0.5]])
    for one, two in ((np.zeros((1, 3)), scores_), (scores_, np.zeros((1, 3)))):
        gaps = np.abs(differences(one, two))[0]
        assert gaps[0] == gaps[1] != gaps[2]
