"""Paired tests, corrections and power against SciPy, statsmodels and slow direct versions; size and power."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from exaequo import BadParameter
from exaequo.arrays import Floats
from exaequo.stats import corrections, joint
from exaequo.stats.anova import blocked_error
from exaequo.stats.equality import differences
from exaequo.stats.power import detectable_effect, power_of, topics_needed
from exaequo.stats.tests import (
    DEFAULT,
    TESTS,
    Setting,
    _share_below,
    bootstrap,
    bootstrap_bound,
    bootstrap_interval,
    bootstrap_of_many,
    bootstrap_tail,
    direction,
    randomization,
    sign,
    student,
    t_interval,
    wilcoxon,
)

RANDOM = np.random.Generator(np.random.PCG64(11))
SIDES = ("two-sided", "greater", "less")


@pytest.mark.parametrize("side", SIDES)
def test_as_in_scipy(side: str) -> None:
    gaps = RANDOM.normal(0.1, 1, size=(60, 23))
    setting = Setting(alternative=side)
    for found, expected in (
        (student(gaps, setting), [stats.ttest_1samp(row, 0, alternative=side).pvalue for row in gaps]),
        (wilcoxon(gaps, setting), [stats.wilcoxon(row, alternative=side).pvalue for row in gaps]),
        (
            sign(gaps, setting),
            [stats.binomtest(int((row > 0).sum()), len(row), alternative=side).pvalue for row in gaps],
        ),
    ):
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("side", SIDES)
def test_exact_randomization(side: str) -> None:
    """All sign patterns, one by one; also where sums are equal."""
    for n in (2, 5, 9):
        gaps = np.round(RANDOM.normal(0.3, 1, size=(8, n)), 1)
        found = randomization(gaps, Setting(alternative=side))
        for row, p in zip(gaps, found, strict=True):
            sums = [sum(a * b for a, b in zip(signs, row, strict=True)) for signs in product((1, -1), repeat=n)]
            own = row.sum()
            reached = {
                "two-sided": [abs(each) >= abs(own) - 1e-9 for each in sums],
                "greater": [each >= own - 1e-9 for each in sums],
                "less": [each <= own + 1e-9 for each in sums],
            }[side]
            assert p == pytest.approx(np.mean(reached) if row.any() else 1.0, abs=1e-15)


def test_randomization_as_in_scipy() -> None:
    gaps = RANDOM.normal(0.3, 1, size=(3, 12))
    for row, p in zip(gaps, randomization(gaps), strict=True):
        expected = stats.permutation_test(
            (row,),
            lambda x, axis: np.mean(x, axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        ).pvalue
        assert p == pytest.approx(expected, rel=1e-10)


def test_sampled_randomization_comes_near_the_exact_one() -> None:
    gaps = RANDOM.normal(0.2, 1, size=(5, 20))
    exact = randomization(gaps)
    wide = np.concatenate([gaps, np.zeros((5, 1))], axis=1)  # one topic more, so that patterns are sampled
    sampled = randomization(wide, Setting(samples=40_000))
    assert sampled == pytest.approx(exact, abs=4 * 0.5 / np.sqrt(40_000))
    assert np.array_equal(sampled, randomization(wide, Setting(samples=40_000)))  # to the last bit
    assert not np.array_equal(sampled, randomization(wide, Setting(samples=40_000, seed=1)))


@pytest.mark.parametrize("name", TESTS)
def test_no_difference_is_no_difference(name: str) -> None:
    gaps = np.array([[0.0] * 25, [0.1] * 25, [-0.1] * 25])
    p = TESTS[name](gaps, Setting(samples=999))
    assert p[0] == 1
    assert np.all(p[1:] < 0.01)
    assert not np.isnan(p).any()


@pytest.mark.parametrize("name", TESTS)
def test_size_under_the_null(name: str) -> None:
    """With no difference, one in twenty is called significant, or fewer where the test cannot do that exactly."""
    random = np.random.Generator(np.random.PCG64(17))
    gaps = random.normal(0, 1, size=(1000, 30))
    rate = float((TESTS[name](gaps, Setting(samples=2000)) < 0.05).mean())
    error = np.sqrt(0.05 * 0.95 / 1000)
    assert rate < 0.05 + 3.5 * error
    assert rate > (0.02 if name == "sign" else 0.05 - 3.5 * error)


@pytest.mark.parametrize("name", TESTS)
def test_power_grows_with_the_difference(name: str) -> None:
    random = np.random.Generator(np.random.PCG64(19))
    noise = random.normal(0, 1, size=(300, 30))
    rates = [float((TESTS[name](noise + gap, Setting(samples=1000)) < 0.05).mean()) for gap in (0, 0.3, 0.6, 0.9)]
    assert rates == sorted(rates)
    assert rates[-1] > 0.9


def test_intervals() -> None:
    gaps = RANDOM.normal(0.2, 1, size=(4, 30))
    low, high = t_interval(gaps, 0.9)
    for row, bottom, top in zip(gaps, low, high, strict=True):
        expected = stats.ttest_1samp(row, 0).confidence_interval(0.9)
        assert (bottom, top) == pytest.approx((expected.low, expected.high))
    for corrected, method in ((True, "BCa"), (False, "percentile")):
        skewed = RANDOM.exponential(1, size=(3, 40)) ** 2
        low, high = bootstrap_interval(skewed, 0.95, Setting(samples=20_000), corrected=corrected)
        for row, bottom, top in zip(skewed, low, high, strict=True):
            expected = stats.bootstrap(
                (row,), np.mean, n_resamples=20_000, method=method, rng=np.random.default_rng(1)
            ).confidence_interval
            width = expected.high - expected.low
            assert bottom == pytest.approx(expected.low, abs=0.04 * width)
            assert top == pytest.approx(expected.high, abs=0.04 * width)


def test_intervals_cover() -> None:
    random = np.random.Generator(np.random.PCG64(23))
    gaps = random.normal(0.5, 1, size=(1000, 25))
    for low, high in (t_interval(gaps, 0.95), bootstrap_interval(gaps, 0.95, Setting(samples=1000))):
        covered = float(((low <= 0.5) & (high >= 0.5)).mean())
        assert 0.9 < covered < 0.98


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=30, deadline=None)
def test_corrections_as_in_statsmodels(values: list[float]) -> None:
    p = np.array(values)
    for ours, theirs in (("bonferroni", "bonferroni"), ("holm", "holm"), ("bh", "fdr_bh"), ("by", "fdr_by")):
        with patch("gc.collect"):  # of everything that is here, which takes longer than all the rest
            expected = multipletests(p, method=theirs)[1]
        assert corrections.CORRECTIONS[ours](p) == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(corrections.CORRECTIONS["none"](p), p)


def all_pairs(procedure: joint.Procedure, values: Floats, setting: Setting = DEFAULT) -> Floats:
    first, second = np.triu_indices(len(values), 1)
    return procedure(values, first, second, 0.05, setting).p


def test_blocked_tukey() -> None:
    """The error is that of a repeated-measures analysis of variance; p is the studentized range of SciPy."""
    import pandas as pd

    values = RANDOM.random((4, 15)) + np.arange(4)[:, None] * 0.1
    table = pd.DataFrame(
        [(topic, system, values[system, topic]) for system in range(4) for topic in range(15)],
        columns=["topic", "system", "value"],
    )
    anova = AnovaRM(table, "value", "topic", within=["system"]).fit().anova_table
    between = 15 * ((values.mean(axis=1) - values.mean()) ** 2).sum() / 3
    assert between / blocked_error(values) == pytest.approx(float(anova["F Value"].iloc[0]))
    p = all_pairs(joint.tukey, values)
    gap = abs(values[0].mean() - values[3].mean())
    expected = stats.studentized_range.sf(gap / np.sqrt(blocked_error(values) / 15), 4, 3 * 14)
    assert p[2] == pytest.approx(expected, rel=1e-10)


def test_many_studentized_ranges() -> None:
    values = RANDOM.random((26, 12)) + np.arange(26)[:, None] * 0.02
    found = all_pairs(joint.tukey, values)
    first, second = np.triu_indices(26, 1)
    error = np.sqrt(blocked_error(values) / 12)
    for at in (0, 5, 100, 250, 320):
        gap = abs(values[first[at]].mean() - values[second[at]].mean())
        assert found[at] == pytest.approx(float(stats.studentized_range.sf(gap / error, 26, 25 * 11)), abs=1e-6)


def test_randomised_tukey_against_a_slow_one() -> None:
    values = np.round(RANDOM.random((3, 5)) + np.array([[0], [0.1], [0.5]]), 2)
    found = all_pairs(joint.randomised_tukey, values, Setting(samples=60_000))
    from itertools import permutations

    largest = []
    for orders in product(permutations(range(3)), repeat=5):  # every way to deal the scores of five topics
        dealt = np.array([values[list(order), topic] for topic, order in enumerate(orders)]).T
        largest.append(np.ptp(dealt.mean(axis=1)))
    for (a, b), p in zip(((0, 1), (0, 2), (1, 2)), found, strict=True):
        gap = abs(values[a].mean() - values[b].mean())
        assert p == pytest.approx(np.mean(np.array(largest) >= gap - 1e-12), abs=4 * 0.5 / np.sqrt(60_000))


def test_tukey_of_equal_systems() -> None:
    same = np.tile(np.linspace(0, 1, 10), (3, 1))
    assert np.array_equal(all_pairs(joint.tukey, same), np.ones(3))
    assert np.array_equal(all_pairs(joint.randomised_tukey, same, Setting(samples=100)), np.ones(3))


def test_size_of_hsd_over_all_pairs() -> None:
    """With k equal systems, some pair is called different one time in twenty."""
    random = np.random.Generator(np.random.PCG64(29))
    rejected = {"tukey": 0, "randomised": 0}
    for _ in range(200):
        values = random.normal(0, 1, size=(4, 20)) + random.normal(0, 1, size=20)
        rejected["tukey"] += bool((all_pairs(joint.tukey, values) < 0.05).any())
        rejected["randomised"] += bool((all_pairs(joint.randomised_tukey, values, Setting(samples=400)) < 0.05).any())
    for number in rejected.values():
        assert number / 200 > 0.005
        assert number / 200 < 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 200)


@given(
    st.integers(2, 9).flatmap(lambda k: st.tuples(st.just(k), st.lists(st.booleans(), min_size=k * k, max_size=k * k)))
)
def test_letters(drawn: tuple[int, list[bool]]) -> None:
    """Two systems share a letter if and only if they are not told apart."""
    k, flags = drawn
    different = np.array(flags).reshape(k, k)
    different = np.triu(different, 1) | np.triu(different, 1).T
    given_ = corrections.letters(np.arange(k, 0, -1.0), different)
    for a in range(k):
        for b in range(a + 1, k):
            assert bool(set(given_[a]) & set(given_[b])) == (not different[a, b]), (a, b, given_)
    assert given_[0].startswith("a")


@pytest.mark.parametrize(("sides", "alternative"), [(2, "two-sided"), (1, "larger")])
def test_power_as_in_statsmodels(sides: int, alternative: str) -> None:
    theirs = TTestPower()
    for n in (5, 25, 50, 250):
        for alpha in (0.05, 0.01):
            expected = theirs.solve_power(nobs=n, alpha=alpha, power=0.8, alternative=alternative)
            assert detectable_effect(n, alpha, sides=sides) == pytest.approx(float(expected), rel=1e-4)
    for effect in (0.1, 0.25, 0.5, 1.0, 2.0):
        for topics in (2, 10, 40):
            expected = theirs.power(effect, topics, 0.05, alternative=alternative)
            assert power_of(np.array([-effect]), np.array([topics]), 0.05, sides=sides) == pytest.approx(expected)
        needed = float(topics_needed(np.array([effect]), 0.05, sides=sides)[0])
        assert theirs.power(effect, needed, 0.05, alternative=alternative) >= 0.8
        assert needed == 2 or theirs.power(effect, needed - 1, 0.05, alternative=alternative) < 0.8
    assert topics_needed(np.array([0.0, np.nan, 1e-9]), 0.05, sides=sides).tolist() == [np.inf] * 3


@pytest.mark.parametrize("sides", [1, 2])
def test_power_at_several_levels(sides: int) -> None:
    """One level for each pair is what each level gives by itself."""
    effects, levels = np.array([0.3, 0.3, -0.1, 1.0, 0.0]), np.array([0.05, 0.005, 0.025, 0.05, 0.01])
    alone = [float(topics_needed(np.array([e]), a, sides=sides)[0]) for e, a in zip(effects, levels, strict=True)]
    assert topics_needed(effects, levels, sides=sides).tolist() == alone
    assert alone[0] < alone[1]
    found = detectable_effect(30, levels, sides=sides)
    assert found.tolist() == [detectable_effect(30, float(level), sides=sides) for level in levels]
    assert detectable_effect(1, levels, sides=sides).tolist() == [np.inf] * 5
    assert detectable_effect(30, np.zeros(0), sides=sides).shape == (0,)


def test_settings_are_checked() -> None:
    with pytest.raises(BadParameter, match="alternative"):
        Setting(alternative="both")
    with pytest.raises(BadParameter, match="samples"):
        Setting(samples=10)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_student_sees_no_difference_in_the_last_bits(alternative: str) -> None:
    """What is left of sums that were added up in another order, the same on every topic or not."""
    noise = np.array([np.full(6, 1e-17), np.full(6, -3e-17), [1e-17, -1e-17, 2e-17, 0, 0, 1e-17], np.zeros(6)])
    assert student(differences(np.ones((4, 6)), 1 + noise), Setting(alternative=alternative)).tolist() == [1.0] * 4


@pytest.mark.parametrize("test", ["t", "bootstrap", "randomization", "sign"])
def test_a_constant_difference_is_as_certain_as_its_signs(test: str) -> None:
    """Without spread there is nothing to go by but that all topics say the same; no p is 0."""
    for n in (2, 6, 12):
        gaps = np.array([np.full(n, 0.25), np.full(n, -0.25)])
        assert TESTS[test](gaps, Setting()).tolist() == [2 / 2**n] * 2
        assert TESTS[test](gaps, Setting(alternative="greater")).tolist() == [1 / 2**n, 1.0]


def test_the_direction_of_ranks_leaves_out_what_does_not_differ() -> None:
    gaps = np.array(
        [[0.0, 0.0, 0.0, 0.1, -0.3, 0.2], [0.0, 0.0, 0.0, -0.1, 0.3, -0.1], [0.2, -0.2, 0.0, 0.0, 0.0, 0.0]]
    )
    assert direction(gaps, "wilcoxon").tolist() == [0.0, 0.0, 0.0]
    assert direction(np.array([[0.0, 0.1, -0.3, 0.4], [0.0, -0.1, 0.3, -0.4]]), "wilcoxon").tolist() == [1.0, -1.0]


def test_bootstrap_of_many_topics() -> None:
    """Differences of which most are 0: the same test, drawn another way."""
    source = np.random.Generator(np.random.PCG64(9))
    for size in (0.02, 0.3):
        gaps = np.where(source.random(120) < 0.1, source.normal(size, 0.5, 120), 0.0)
        for alternative in ("two-sided", "greater", "less"):
            setting = Setting(20_000, alternative=alternative)
            expected = float(bootstrap(gaps[None, :], setting)[0])
            assert bootstrap_of_many(gaps, setting) == pytest.approx(expected, abs=0.015)
    few = np.zeros(300)  # how many of them are drawn is what matters
    few[:4] = (0.9, 1.0, 1.05, 1.1)
    setting = Setting(20_000, alternative="greater")
    assert 0.03 < bootstrap_of_many(few, setting) < 0.07
    assert bootstrap_of_many(few, setting) == pytest.approx(float(bootstrap(few[None, :], setting)[0]), abs=0.01)
    assert bootstrap_of_many(np.zeros(50)) == 1.0
    assert bootstrap_of_many(np.full(10, 0.1)) == pytest.approx(2 * 0.5**10)


def test_a_tail_ends_where_the_interval_does() -> None:
    """Skewed either way: at the end of the BCa interval its tail is the level, and the bound is that end."""
    random = np.random.Generator(np.random.PCG64(5))
    for gaps in (random.exponential(size=(1, 15)), -random.exponential(size=(1, 15))):
        low, high = bootstrap_interval(gaps, 0.9, Setting(samples=20_000))
        tail = bootstrap_tail(np.concatenate([gaps - low, gaps - high]), Setting(samples=20_000))
        assert tail == pytest.approx([0.05, 0.95], abs=1e-3)
        assert bootstrap_bound(gaps, 0.05, Setting(samples=20_000)) == pytest.approx(low[0], abs=1e-3)


def test_equal_samples_count_half_in_the_bias() -> None:
    """Differences alike on both sides have an interval that is too, though many samples have the mean itself."""
    gaps = np.array([[-0.1, 0.1, -0.1, 0.1, 0.0, 0.0, 0.3 - 0.2, 0.2 - 0.3]])
    low, high = bootstrap_interval(gaps, 0.95, Setting(samples=20_000))
    assert low == pytest.approx(-high, abs=1e-9)


def test_a_tail_is_what_lies_below() -> None:
    gaps = np.array([[0.1] * 2 + [0.0] * 10])
    means = np.array([[0.0], [1.0], [1.0 + 1e-15], [2.0]])
    assert _share_below(means, np.ones(1), np.full(1, 1e-12)).tolist() == [0.5]  # equal ones are half below
    assert bootstrap_bound(gaps, 0.05, Setting(samples=1000)) == 0
    assert bootstrap_bound(gaps, 1e-9, Setting(samples=1000)) == -np.inf
