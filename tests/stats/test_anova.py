"""Friedman's test, the analysis of variance and the mixed model against SciPy, statsmodels and sums by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.formula.api import mixedlm, ols
from statsmodels.stats.anova import anova_lm

from exaequo.arrays import Floats
from exaequo.stats.anova import anova, blocked_error, friedman, mixed, ranks_within, within_error

RANDOM = np.random.Generator(np.random.PCG64(13))
#: Means 3, 4, 6.5 of systems and 2, 4, 5, 7 of topics: squares 26 + 39 + 4 = 69.
BY_HAND = np.array([[1.0, 2, 3, 6], [2, 4, 4, 6], [3, 6, 8, 9]])
TABLES = {
    "random": RANDOM.random((5, 23)),
    "blocked": RANDOM.normal(0, 0.05, (4, 30)) + RANDOM.random(30) + 0.03 * np.arange(4)[:, None],
    "tied": RANDOM.integers(0, 3, (6, 15)) / 2,
    "two systems": RANDOM.random((2, 9)),
    "two topics": RANDOM.random((4, 2)),
}


def frame_of(values: Floats) -> pd.DataFrame:
    k, n = values.shape
    at = {"system": np.repeat(np.arange(k), n).astype(str), "topic": np.tile(np.arange(n), k).astype(str)}
    return pd.DataFrame({**at, "value": values.ravel()})


def test_ranks() -> None:
    values = np.array([[0.3, 1.0], [0.1 + 0.2, 0.0], [0.1, 0.5]])
    assert values[0, 0] != values[1, 0]  # in the last bit alone
    assert ranks_within(values).tolist() == [[2.5, 3.0], [2.5, 1.0], [1.0, 2.0]]


def test_friedman_printed() -> None:
    """Nine algorithms on two data sets: χ² = 11.733, p = 0.1635; corrected F = 2.75, p = 0.08697 (scmamp for R)."""
    found = friedman(np.array([[1, 8, 6, 4, 7, 2, 5, 3, 9], [1, 6, 3, 9, 7, 2, 8, 4, 5]], dtype=np.float64).T)
    assert (found.statistic, found.p) == pytest.approx((11.733, 0.1635), abs=5e-4)
    assert (found.f, found.f_p, found.df) == pytest.approx((2.75, 0.08697, 8), abs=5e-6)


@pytest.mark.parametrize("name", ["random", "blocked", "tied", "two topics"])
def test_friedman_as_in_scipy(name: str) -> None:
    found, expected = friedman(TABLES[name]), stats.friedmanchisquare(*TABLES[name])
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-12)


def test_iman_and_davenport_is_the_f_of_ranks() -> None:
    for name in ("random", "tied"):
        found, of_ranks = friedman(TABLES[name]), anova(ranks_within(TABLES[name])).systems
        assert (found.f, found.f_p) == pytest.approx((of_ranks.f, of_ranks.p), rel=1e-9)


def test_w_is_agreement() -> None:
    """Kendall's W: 1 where all topics agree; and the mean of Spearman's ρ between topics, turned."""
    order = np.array([[0.1, 0.2, 0.0], [0.5, 0.4, 0.3], [0.6, 0.9, 0.7]])
    whole = friedman(order)
    assert (whole.w, whole.f, whole.f_p) == (1.0, np.inf, 0.0)
    values = TABLES["random"]
    n = values.shape[1]
    rho = stats.spearmanr(values).statistic
    mean = (rho.sum() - n) / (n * (n - 1))
    assert friedman(values).w == pytest.approx((1 + (n - 1) * mean) / n)


def test_friedman_undefined() -> None:
    for values in (np.ones((3, 4)), RANDOM.random((1, 5)), np.tile(RANDOM.random(6), (3, 1))):
        found = friedman(values)
        assert np.isnan([found.statistic, found.p, found.w, found.f, found.f_p]).all()
    one_topic = friedman(np.array([[0.1], [0.2], [0.4]]))
    assert one_topic.w == 1
    assert np.isnan(one_topic.f)


def test_anova_by_hand() -> None:
    found = anova(BY_HAND)
    assert [(each.squares, each.df) for each in found] == [(26, 2), (39, 3), (4, 6)]
    assert found.total == 69
    assert (found.systems.f, found.topics.f, found.residual.mean) == pytest.approx((19.5, 19.5, 2 / 3))
    assert (found.systems.eta2, found.topics.eta2) == pytest.approx((26 / 30, 39 / 43))
    assert found.systems.omega2 == pytest.approx((26 - 4 / 3) / (26 + 10 * 2 / 3))
    assert blocked_error(BY_HAND) == pytest.approx(2 / 3)
    assert within_error(BY_HAND) == pytest.approx(43 / 9)


@pytest.mark.parametrize("name", TABLES)
def test_anova_as_in_statsmodels(name: str) -> None:
    found = anova(TABLES[name])
    expected = anova_lm(ols("value ~ C(system) + C(topic)", frame_of(TABLES[name])).fit())
    for own, row in zip(found, ("C(system)", "C(topic)", "Residual"), strict=True):
        theirs = expected.loc[row]
        assert (own.squares, own.df, own.mean) == pytest.approx(tuple(theirs[["sum_sq", "df", "mean_sq"]]), rel=1e-9)
        if row != "Residual":
            assert (own.f, own.p) == pytest.approx(tuple(theirs[["F", "PR(>F)"]]), rel=1e-8)


def test_anova_of_data_without_noise() -> None:
    steady = anova(np.linspace(0, 1, 7) + np.array([[0.1], [0.25], [0.3]]))
    assert (steady.residual.squares, steady.systems.f, steady.systems.p, steady.systems.eta2) == (0, np.inf, 0, 1)
    same = anova(np.tile(np.linspace(0, 1, 7) / 3, (3, 1)))
    assert (same.topics.f, same.topics.p) == (np.inf, 0)
    assert np.isnan([same.systems.f, same.systems.p, same.systems.eta2, same.systems.omega2]).all()
    equal = anova(np.full((3, 4), 0.1))
    assert equal.total == 0
    assert np.isnan([equal.systems.f, equal.topics.f]).all()
    for values in (RANDOM.random((1, 5)), RANDOM.random((5, 1))):
        assert np.isnan([anova(values).systems.f, anova(values).topics.f, anova(values).residual.mean]).all()


@given(st.floats(-5, 5), st.floats(0.01, 100))
@settings(max_examples=20, deadline=None)
def test_shift_and_scale_change_nothing(shift: float, scale: float) -> None:
    values = TABLES["blocked"]
    before, after = anova(values), anova(scale * values + shift)
    assert after.systems.f == pytest.approx(before.systems.f, rel=1e-6)
    assert after.topics.omega2 == pytest.approx(before.topics.omega2, rel=1e-6)
    one, two = mixed(values, 0.05), mixed(scale * values + shift, 0.05)
    assert two.icc == pytest.approx(one.icc, rel=1e-6)
    assert two.half == pytest.approx(scale * one.half, rel=1e-6)


@pytest.mark.parametrize("name", ["random", "blocked", "two systems"])
def test_mixed_as_in_statsmodels(name: str) -> None:
    values = TABLES[name]
    if anova(values).topics.mean <= blocked_error(values):  # their search stops short of an end
        values = values + 0.4 * RANDOM.random(values.shape[1])
    frame = frame_of(values)
    theirs = mixedlm("value ~ 0 + C(system)", frame, groups=frame["topic"]).fit(reml=True, method=["bfgs", "lbfgs"])
    ours = mixed(values, 0.05)
    assert ours.means == pytest.approx(theirs.fe_params.to_numpy(), rel=1e-8)
    assert ours.residual.value == pytest.approx(theirs.scale, rel=1e-4)
    assert ours.topics.value == pytest.approx(float(theirs.cov_re.iloc[0, 0]), rel=1e-3)
    assert np.full(len(values), ours.error) == pytest.approx(theirs.bse_fe.to_numpy(), rel=1e-3)


def restricted(values: Floats, between: float, noise: float) -> float:
    """Minus twice the restricted likelihood, from the matrices, up to a constant."""
    k, n = values.shape
    inverse = np.linalg.inv(noise * np.eye(k) + between)
    gaps = values - values.mean(axis=1, keepdims=True)
    return float((n - 1) * -np.linalg.slogdet(inverse)[1] + np.einsum("in,ij,jn->", gaps, inverse, gaps))


@pytest.mark.parametrize("name", TABLES)
def test_mixed_has_the_highest_restricted_likelihood(name: str) -> None:
    """Also at the end, where the component of topics is 0."""
    values = TABLES[name]
    found = mixed(values, 0.05)
    best = restricted(values, found.topics.value, found.residual.value)
    for up in (0.97, 1.0, 1.03):
        for more in (0.0, 1e-3 * found.residual.value, 0.03 * found.topics.value, -0.03 * found.topics.value):
            assert restricted(values, found.topics.value + more, up * found.residual.value) >= best - 1e-9


def test_mixed_by_hand() -> None:
    """σ² of topics (13 − 2/3) / 3, of the rest 2/3; the mean of a system has the variance of their sum over 4."""
    found = mixed(BY_HAND, 0.05)
    assert (found.topics.value, found.residual.value) == pytest.approx((37 / 9, 2 / 3))
    assert found.icc.value == pytest.approx(37 / 43)
    assert found.error**2 == pytest.approx((37 / 9 + 6 / 9) / 4)
    df = (13 + 4 / 3) ** 2 / (13**2 / 3 + (4 / 3) ** 2 / 6)
    assert found.df == pytest.approx(df)
    assert found.means.tolist() == [3, 4, 6.5]
    assert found.high - found.means == pytest.approx([stats.t.ppf(0.975, df) * found.error] * 3)
    assert found.half == pytest.approx(stats.t.ppf(0.975, 6) * np.sqrt(2 * 2 / 3 / 4))
    assert (found.residual.low, found.residual.high) == pytest.approx((4 / stats.chi2.ppf([0.975, 0.025], 6)).tolist())


def test_mixed_of_data_without_noise() -> None:
    steady = mixed(np.linspace(0, 1, 7) + np.array([[0.1], [0.25], [0.3]]), 0.05)
    assert [*steady.icc] == [1, 1, 1]
    assert [*steady.residual] == [0, 0, 0]
    assert steady.half == 0
    equal = mixed(np.full((3, 4), 0.5), 0.05)
    assert [*equal.topics, *equal.residual] == [0] * 6
    assert np.isnan(equal.icc).all()
    assert equal.low.tolist() == equal.high.tolist() == [0.5] * 3
    assert np.isnan(mixed(RANDOM.random((1, 5)), 0.05).df)


def test_intervals_of_the_mixed_model_cover() -> None:
    random = np.random.Generator(np.random.PCG64(3))
    between, noise, tries = 0.04, 0.02, 1500
    covered = np.zeros(5)
    for _ in range(tries):
        values = random.normal(0, np.sqrt(noise), (3, 12)) + random.normal(0, np.sqrt(between), 12)
        found = mixed(values, 0.1)
        difference = found.means[1] - found.means[0]
        covered += [
            found.topics.low <= between <= found.topics.high,
            found.residual.low <= noise <= found.residual.high,
            found.icc.low <= between / (between + noise) <= found.icc.high,
            found.low[0] <= 0 <= found.high[0],
            abs(difference) <= found.half,
        ]
    assert covered / tries == pytest.approx(np.full(5, 0.9), abs=4 * np.sqrt(0.09 / tries))
