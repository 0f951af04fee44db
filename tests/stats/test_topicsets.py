"""Topic set sizes: printed figures, other implementations, simulations, and how sizes depend on each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import FTestAnovaPower, TTestIndPower, TTestPower

from exaequo import BadParameter
from exaequo.stats import topicsets


def test_printed_sizes() -> None:
    # The textbook example of paired data, effect 0.5: power .795 with 33 topics, .808 with 34.
    assert topicsets.for_t_test(0.5, 0.5) == 34
    # Snow tires, in Kutner et al., Applied Linear Statistical Models: 4 brands, range 3, σ = 2, 90 %: 14 of each.
    assert topicsets.for_anova(3.0, 4.0, 4, 0.05, 0.9, unpaired=True) == 14
    # Vidakovic, Statistics for Bioengineering Sciences, example 11.8: 4 groups, Σ α² = σ² / 4, 90 %: 58 of each.
    assert topicsets.for_anova(np.sqrt(0.5), 1.0, 4, 0.05, 0.9, unpaired=True) == 58
    assert topicsets.anova_power(np.sqrt(0.5), 1.0, 4, 60, 0.05, unpaired=True) == pytest.approx(0.9122, abs=5e-5)


def test_a_linear_formula() -> None:
    """At α = .05 and 80 % the noncentrality is about 4.860 + 3.584 √φ, for many systems."""
    for systems in (10, 20, 50, 100):
        rough = 2 * 0.05 / 0.1**2 * (4.860 + 3.584 * np.sqrt(systems - 1))
        assert topicsets.for_anova(0.1, 0.05, systems, unpaired=True) == pytest.approx(rough, rel=0.015)


def test_an_interval_costs_what_ten_systems_cost() -> None:
    """At α = .05 and 80 %: 4 · 1.96² · 2σ² / c² = 30.7 σ² / c² topics, against 2 · 15.65 σ² / c²."""
    for variance, width in ((0.05, 0.1), (0.1, 0.05), (0.2, 0.2)):
        needed = topicsets.for_anova(width, variance, 10, unpaired=True)
        assert topicsets.for_interval(width, variance) == pytest.approx(needed, rel=0.03)


def test_as_in_statsmodels() -> None:
    for difference, variance in ((0.05, 0.02), (0.1, 0.05), (0.3, 0.1)):
        one = TTestPower().solve_power(difference / np.sqrt(2 * variance), alpha=0.05, power=0.8)
        assert topicsets.for_t_test(difference, variance) == np.ceil(float(one))
        two = TTestIndPower().solve_power(difference / np.sqrt(variance), alpha=0.05, power=0.8)
        assert topicsets.for_t_test(difference, variance, unpaired=True) == np.ceil(float(two))
        for systems in (2, 3, 8):
            size = difference / np.sqrt(2 * variance * systems)  # f of two at the ends, the others halfway
            whole = FTestAnovaPower().solve_power(size, alpha=0.05, power=0.9, k_groups=systems)
            found = topicsets.for_anova(difference, variance, systems, 0.05, 0.9, unpaired=True)
            assert found == np.ceil(float(whole) / systems)


def test_two_blocked_systems_are_a_paired_t_test() -> None:
    for difference, variance, alpha, power in ((0.05, 0.02, 0.05, 0.8), (0.2, 0.03, 0.01, 0.95), (0.4, 0.03, 0.1, 0.5)):
        one = topicsets.for_t_test(difference, variance, alpha, power)
        assert topicsets.for_anova(difference, variance, 2, alpha, power) == one


def test_power_in_a_simulation() -> None:
    random = np.random.Generator(np.random.PCG64(5))
    difference, variance, systems, tries = 0.1, 0.02, 4, 4000
    topics = int(topicsets.for_anova(difference, variance, systems))
    means = np.array([0.0, difference / 2, difference / 2, difference])
    drawn = random.normal(0, np.sqrt(variance), size=(tries, systems, topics)) + means[:, None]
    drawn += random.normal(0, 0.3, size=(tries, 1, topics))  # how hard a topic is plays no part
    rest = drawn - drawn.mean(axis=1, keepdims=True) - drawn.mean(axis=2, keepdims=True)
    rest += drawn.mean(axis=(1, 2), keepdims=True)
    df = (systems - 1) * (topics - 1)
    error = (rest**2).sum(axis=(1, 2)) / df
    ratio = topics * drawn.mean(axis=2).var(axis=1, ddof=1) / error
    seen = float((stats.f.sf(ratio, systems - 1, df) < 0.05).mean())
    expected = topicsets.anova_power(difference, variance, systems, topics)
    assert seen == pytest.approx(expected, abs=4 * np.sqrt(0.16 / tries))
    assert expected >= 0.8 > topicsets.anova_power(difference, variance, systems, topics - 1)


@pytest.mark.parametrize("unpaired", [False, True])
def test_width_in_a_simulation(unpaired: bool) -> None:
    random = np.random.Generator(np.random.PCG64(7))
    tries, topics, variance = 20_000, 6, 0.04
    one, two = random.normal(0, np.sqrt(variance), size=(2, tries, topics))
    if unpaired:
        found = stats.ttest_ind(one, two, axis=1).confidence_interval(0.9)
    else:
        found = stats.ttest_rel(one, two, axis=1).confidence_interval(0.9)
    expected = topicsets.interval_width(variance, topics, 0.1, unpaired=unpaired)
    assert float((found.high - found.low).mean()) == pytest.approx(expected, rel=0.02)


def test_width_by_hand() -> None:
    """Variance of differences .5, n = 33: 2 · 2.0369 · 0.99222 · √(.5 / 33) = 0.4976, the first below .5."""
    assert topicsets.interval_width(0.25, 33) == pytest.approx(0.4976, abs=5e-5)
    assert topicsets.for_interval(0.5, 0.25) == 33


@given(st.floats(0.01, 0.5), st.floats(0.001, 0.3), st.integers(2, 30), st.booleans())
@settings(max_examples=40, deadline=None)
def test_sizes_depend_as_they_should(difference: float, variance: float, systems: int, unpaired: bool) -> None:
    topics = topicsets.for_anova(difference, variance, systems, unpaired=unpaired)
    assert topics >= 2
    assert topicsets.for_anova(difference, 2 * variance, systems, unpaired=unpaired) >= topics
    assert topicsets.for_anova(1.5 * difference, variance, systems, unpaired=unpaired) <= topics
    assert topicsets.for_anova(difference, variance, systems, power=0.9, unpaired=unpaired) >= topics
    assert topicsets.for_anova(difference, variance, systems, alpha=0.01, unpaired=unpaired) >= topics
    wide = topicsets.for_interval(difference, variance, unpaired=unpaired)
    assert topicsets.for_interval(difference / 2, variance, unpaired=unpaired) >= wide
    # What counts is the difference in standard deviations.
    assert topicsets.for_anova(2 * difference, 4 * variance, systems, unpaired=unpaired) == pytest.approx(topics, abs=1)


def test_ends() -> None:
    assert topicsets.for_t_test(0.1, 0.0) == topicsets.for_anova(0.1, 0.0, 3) == topicsets.for_interval(0.1, 0.0) == 2
    assert topicsets.for_t_test(1e-6, 0.1) == topicsets.for_anova(1e-6, 0.1, 3) == np.inf
    assert topicsets.for_interval(1e-6, 0.1) == np.inf
    assert topicsets.for_anova(1e6, 1e-9, 50) == 2


def test_pooled() -> None:
    """Two collections of 11 and 31 topics: (10 · 0.02 + 30 · 0.06) / 40."""
    assert topicsets.pooled([0.02, 0.06], [11, 31]) == pytest.approx(0.05)
    assert topicsets.pooled([0.07], [2]) == pytest.approx(0.07)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: topicsets.for_t_test(0.0, 0.1), "difference"),
        (lambda: topicsets.for_t_test(0.1, -0.1), "variance"),
        (lambda: topicsets.for_anova(0.1, float("nan"), 3), "variance"),
        (lambda: topicsets.for_anova(0.1, 0.1, 1), "systems"),
        (lambda: topicsets.for_anova(0.1, 0.1, 3, power=1.0), "power"),
        (lambda: topicsets.for_anova(0.1, 0.1, 3, power=0.01), "power"),
        (lambda: topicsets.for_interval(0.1, 0.1, alpha=1.0), "alpha"),
        (lambda: topicsets.pooled([0.1], [1]), "topics"),
        (lambda: topicsets.pooled([0.1], [5, 5]), "topics"),
    ],
)
def test_bad_figures(call: object, word: str) -> None:
    assert callable(call)
    with pytest.raises(BadParameter, match=word):
        call()
