"""Procedures over all pairs: printed critical values, SciPy, sums by hand, error rates and intervals."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from exaequo import BadParameter, ExaequoError
from exaequo.arrays import Floats, Ints
from exaequo.choices import JOINT, LIBRARY_CORRECTIONS
from exaequo.stats import corrections, joint
from exaequo.stats.anova import blocked_error
from exaequo.stats.tests import Setting, student

RANDOM = np.random.Generator(np.random.PCG64(31))
SETTING = Setting(samples=2000)
#: Corrections that estimate how many differences there are: where these are many, p may go down.
ADAPTIVE = ("fdr_tsbh", "fdr_tsbky", "fdr_gbs")
BY_HAND = np.array([[1.0, 2, 3, 6], [2, 4, 4, 6], [3, 6, 8, 9]])


def pairs_of(procedure: str, k: int) -> tuple[Ints, Ints]:
    if procedure == "dunnett":
        return np.zeros(k - 1, dtype=np.int64), np.arange(1, k)
    first, second = np.triu_indices(k, 1)
    return first.astype(np.int64), second.astype(np.int64)


def run(name: str, values: Floats, alpha: float = 0.05, setting: Setting = SETTING) -> joint.Joint:
    return joint.PROCEDURES[name](values, *pairs_of(name, len(values)), alpha, setting)


def test_names() -> None:
    assert tuple(joint.PROCEDURES) == JOINT


# ------------------------------------------------------------------------------------------------ printed and by hand


def test_tukey_by_hand() -> None:
    """Residual variance 2/3 with 6 degrees of freedom, 4 topics: q of 3.5 is 3.5 / √(1/6)."""
    found = run("tukey", BY_HAND)
    assert found.p[1] == pytest.approx(float(stats.studentized_range.sf(3.5 * np.sqrt(6), 3, 6)))
    assert (found.high - found.low) / 2 == pytest.approx([4.339 / np.sqrt(6)] * 3, rel=2e-4)  # 4.339 in every table
    assert (found.high + found.low) / 2 == pytest.approx([1, 3.5, 2.5])
    assert found.level == pytest.approx(2 * stats.t.sf(4.339 / np.sqrt(2), 6), rel=1e-3)


def test_nemenyi_printed() -> None:
    """Critical values q.05 of Demšar's table 5, and his critical difference of 1.25 for 4 systems on 14 data sets."""
    printed = dict(zip(range(2, 11), (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164), strict=True))
    for k, q in printed.items():
        level = run("nemenyi", RANDOM.random((k, 14))).level
        assert stats.norm.isf(level / 2) == pytest.approx(q, abs=1.1e-3)
    assert printed[4] * np.sqrt(4 * 5 / (6 * 14)) == pytest.approx(1.25, abs=5e-3)


def test_nemenyi_by_hand() -> None:
    """Ranks of the systems: 1, 1, 1, 1.5; 2, 2, 2, 1.5; 3 always. So 1.125, 1.875, 3, over √(3 · 4 / (6 · 4))."""
    found = run("nemenyi", BY_HAND)
    q = np.array([0.75, 1.875, 1.125]) / np.sqrt(0.5)
    assert found.p == pytest.approx(stats.studentized_range.sf(q * np.sqrt(2), 3, np.inf), rel=1e-6)
    for row, low, high in zip((BY_HAND[1] - BY_HAND[0],), found.low, found.high, strict=False):
        expected = stats.ttest_1samp(row, 0).confidence_interval(1 - 0.05 / 3)
        assert (low, high) == pytest.approx((expected.low, expected.high))


def test_nemenyi_of_two_is_normal() -> None:
    values = RANDOM.random((2, 11))
    wins = int((values[1] > values[0]).sum())
    z = abs(2 * wins - 11) / np.sqrt(11)
    assert run("nemenyi", values).p[0] == pytest.approx(2 * stats.norm.sf(z), abs=1e-7)


@pytest.mark.parametrize(
    ("sides", "others", "df", "printed"),
    [
        # C. W. Dunnett 1955, one-sided at .05
        *[(1, 2, 5, 2.44), (1, 5, 5, 2.98), (1, 3, 10, 2.34), (1, 8, 12, 2.69), (1, 5, 20, 2.39), (1, 20, 40, 2.75)],
        *[(1, 2, 60, 1.95), (1, 12, 120, 2.53), (1, 20, 24, 2.83), (1, 20, 5, 3.72)],
        # C. W. Dunnett 1964, two-sided at .05
        *[(2, 1, 20, 2.09), (2, 2, 20, 2.38), (2, 3, 20, 2.54), (2, 4, 20, 2.65), (2, 5, 20, 2.73), (2, 3, 12, 2.68)],
    ],
)
def test_dunnett_printed(sides: int, others: int, df: int, printed: float) -> None:
    assert joint.dunnett_limit(0.05, others, df, sides) == pytest.approx(printed, abs=0.006)


# ------------------------------------------------------------------------------------------------------------- SciPy


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_dunnett_as_in_scipy(side: str) -> None:
    """Their test is not blocked: it gets independent samples, ours the same statistics and degrees of freedom."""
    samples = [RANDOM.normal(0.3 * at, 1, 8) for at in range(5)]
    theirs = stats.dunnett(*samples[1:], control=samples[0], alternative=side, rng=np.random.default_rng(1))
    turn = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[side](theirs.statistic)
    ours = [joint.dunnett_tail(each, 4, 35, 2 if side == "two-sided" else 1) for each in turn]
    assert ours == pytest.approx(theirs.pvalue, abs=3e-4)


@pytest.mark.parametrize(("others", "df"), [(2, 3), (3, 10), (6, 98), (10, 500)])
def test_dunnett_is_a_multivariate_t(others: int, df: int) -> None:
    shape = np.full((others, others), 0.5) + 0.5 * np.eye(others)
    theirs = stats.multivariate_t(shape=shape, df=df, seed=3)
    for at in (0.3, 1.5, 2.6):
        two = 1 - theirs.cdf(np.full(others, at), lower_limit=np.full(others, -at), maxpts=200_000)
        assert joint.dunnett_tail(at, others, df) == pytest.approx(float(two), abs=2e-4)
        one = 1 - theirs.cdf(np.full(others, at), maxpts=200_000)
        assert joint.dunnett_tail(at, others, df, 1) == pytest.approx(float(one), abs=2e-4)


@pytest.mark.parametrize("df", [1, 2, 5, 30, 1000, 200_000])
def test_dunnett_of_one_is_student(df: int) -> None:
    for at in (0.0, 0.5, 2.0, 5.0):
        assert joint.dunnett_tail(at, 1, df) == pytest.approx(2 * stats.t.sf(at, df), abs=1e-8)
        assert joint.dunnett_tail(-at, 1, df, 1) == pytest.approx(stats.t.cdf(at, df), abs=1e-8)


def test_dunnett_of_two_by_quadrature() -> None:
    """The largest of two ratios with a known error: a double integral of the normal density, to 1e-6 and beyond."""
    for at in (0.7, 2.0):
        inside = stats.multivariate_normal(cov=np.array([[1, 0.5], [0.5, 1]])).cdf(
            np.full(2, at), lower_limit=np.full(2, -at)
        )
        assert joint.dunnett_tail(at, 2, 1e7) == pytest.approx(1 - float(inside), abs=2e-6)


@pytest.mark.parametrize(("k", "df"), [(2, 1), (3, 2), (3, 10), (10, 98), (60, 500), (300, 9000), (5, np.inf)])
def test_studentized_range_as_in_scipy(k: int, df: float) -> None:
    ratios = np.array([0.0, 0.3, 2.0, 3.5, 6.0, 9.0])
    ours = [joint.range_tail(each, k, df) for each in ratios]
    assert ours == pytest.approx(stats.studentized_range.sf(ratios, k, df), abs=1e-8)
    limit = joint.range_limit(0.05, k, df)
    assert joint.range_tail(limit, k, df) == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize(
    ("k", "df", "printed"), [(2, 5, 3.64), (3, 10, 3.88), (4, 20, 3.96), (5, 60, 3.98), (10, 30, 4.82), (20, 120, 5.13)]
)
def test_studentized_range_printed(k: int, df: int, printed: float) -> None:
    """Percentage points at 5 %, as every textbook has them."""
    assert joint.range_limit(0.05, k, df) == pytest.approx(printed, abs=0.0051)


@pytest.mark.parametrize("name", JOINT)
def test_two_systems(name: str) -> None:
    """Of one pair, procedures on scores are a paired t-test, or near to it."""
    values = RANDOM.random((2, 25)) + np.array([[0.0], [0.2]])
    found = run(name, values, setting=Setting(samples=20_000))
    expected = stats.ttest_rel(values[1], values[0])
    if name in ("tukey", "dunnett"):
        assert found.p[0] == pytest.approx(expected.pvalue, rel=1e-6)
        low, high = expected.confidence_interval()
        assert (found.low[0], found.high[0]) == pytest.approx((low, high))
    if name != "randomised-tukey":
        assert found.level == pytest.approx(0.05, rel=1e-6)
    else:
        assert found.p[0] == pytest.approx(expected.pvalue, abs=0.02)


def test_one_side() -> None:
    values = RANDOM.random((4, 25)) + np.array([[0.0], [0.2], [0.1], [-0.2]])
    two, up, down = (
        run("dunnett", values, setting=Setting(alternative=side)) for side in ("two-sided", "greater", "less")
    )
    assert up.p[0] < two.p[0] < down.p[0]
    assert down.p[2] < two.p[2] < up.p[2]
    assert np.isposinf(up.high).all()
    assert np.isneginf(down.low).all()
    assert (up.low > two.low).all()
    assert (down.high < two.high).all()
    assert ((up.low > 0) == (up.p < 0.05)).all()
    assert ((down.high < 0) == (down.p < 0.05)).all()
    assert run("dunnett", -values, setting=Setting(alternative="greater")).p == pytest.approx(down.p)


def test_dunnett_wants_one_baseline() -> None:
    with pytest.raises(BadParameter, match="one baseline"):
        joint.dunnett(BY_HAND, np.array([0, 1]), np.array([1, 2]), 0.05, SETTING)


# --------------------------------------------------------------------------------------------------------- properties


def test_randomised_tukey_against_every_deal() -> None:
    values = np.round(RANDOM.random((3, 5)) + np.array([[0], [0.1], [0.5]]), 2)
    largest = []
    for orders in product(permutations(range(3)), repeat=5):
        dealt = np.array([values[list(order), topic] for topic, order in enumerate(orders)]).T
        largest.append(np.ptp(dealt.mean(axis=1)))
    found = run("randomised-tukey", values, setting=Setting(samples=60_000))
    means = values.mean(axis=1)
    for (a, b), p in zip(((0, 1), (0, 2), (1, 2)), found.p, strict=True):
        expected = np.mean(np.array(largest) >= abs(means[a] - means[b]) - 1e-12)
        assert p == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(60_000))
    steps = np.unique(np.round(largest, 9))
    half = (found.high - found.low)[0] / 2
    below, above = (
        np.mean(np.array(largest) >= steps[np.searchsorted(steps, half - 1e-6) + at] - 1e-9) for at in (0, 1)
    )
    slack = 4 * 0.22 / np.sqrt(60_000)
    assert above - slack < 0.05 <= below + slack


@pytest.mark.parametrize("name", ["tukey", "randomised-tukey", "dunnett"])
def test_an_interval_holds_nothing_if_and_only_if_p_is_high(name: str) -> None:
    for alpha in (0.01, 0.05, 0.2):
        for _ in range(5):
            values = RANDOM.random((5, 12)) + RANDOM.random((5, 1))
            found = run(name, values, alpha)
            assert (((found.low > 0) | (found.high < 0)) == (found.p < alpha)).all()
            # Just at the end of its interval a difference has a p of alpha.
            assert found.level < alpha


def test_too_few_samples_for_an_interval() -> None:
    found = run("randomised-tukey", RANDOM.random((3, 9)), 0.005, Setting(samples=100))
    assert np.isposinf(found.high).all()
    assert found.level == 0


@pytest.mark.parametrize("name", ["tukey", "randomised-tukey", "dunnett"])
def test_level(name: str) -> None:
    """A pair alone, tested at that level, is significant if and only if its interval does not hold 0."""
    values = RANDOM.random((5, 16)) + RANDOM.random((5, 1)) / 2
    first, second = pairs_of(name, 5)
    found = run(name, values)
    error = np.sqrt(2 * blocked_error(values) / 16)
    alone = 2 * stats.t.sf(np.abs(values.mean(axis=1)[second] - values.mean(axis=1)[first]) / error, 4 * 15)
    assert ((alone < found.level) == ((found.low > 0) | (found.high < 0))).all()
    assert 0 < found.level < 0.05
    assert found.level > 0.05 / len(first) or name == "randomised-tukey"


@pytest.mark.parametrize("name", JOINT)
def test_equal_systems_and_data_without_noise(name: str) -> None:
    same = np.tile(np.linspace(0, 1, 10) / 3, (3, 1))
    found = run(name, same)
    assert found.p.tolist() == [1.0] * len(found.p)
    steady = same + np.array([[0.1], [0.1], [0.4]])
    found = run(name, steady, setting=Setting(samples=4000))
    assert found.p[0] == 1
    assert found.p[1] < 0.05
    assert not np.isnan([*found.p, *found.low, *found.high, found.level]).any()
    if name in ("tukey", "dunnett"):
        assert (found.low[1], found.high[1]) == pytest.approx((0.3, 0.3))


@pytest.mark.parametrize("name", JOINT)
def test_errors_of_the_whole_family(name: str) -> None:
    """With equal systems some pair is called different one time in twenty; and all intervals hold 0 else."""
    random = np.random.Generator(np.random.PCG64(37))
    tries, called, missed = 150, 0, 0
    for _ in range(tries):
        values = random.normal(0, 1, (4, 20)) + random.normal(0, 1, 20)
        found = run(name, values, setting=Setting(samples=400))
        called += bool((found.p < 0.05).any())
        missed += bool(((found.low > 0) | (found.high < 0)).any())
    for number in (called, missed):
        assert 0.01 < number / tries < 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / tries)


def test_procedures_gain_on_bonferroni() -> None:
    values = RANDOM.random((6, 30)) + np.arange(6)[:, None] * 0.04
    for name in ("tukey", "dunnett"):
        found = run(name, values)
        first, second = pairs_of(name, 6)
        ratio = np.abs(values.mean(axis=1)[second] - values.mean(axis=1)[first])
        alone = 2 * stats.t.sf(ratio / np.sqrt(2 * blocked_error(values) / 30), 5 * 29)
        assert (found.p <= np.minimum(1, alone * len(first)) + 1e-9).all()
        assert (found.p >= alone - 1e-9).all()


def test_permuted_topics_and_systems() -> None:
    values = RANDOM.random((4, 10))
    order, topics = RANDOM.permutation(4), RANDOM.permutation(10)
    first, second = pairs_of("tukey", 4)
    for name in ("tukey", "nemenyi"):
        before = joint.PROCEDURES[name](values, order[first], order[second], 0.05, SETTING)
        after = joint.PROCEDURES[name](values[order][:, topics], first, second, 0.05, SETTING)
        assert after.p == pytest.approx(before.p, rel=1e-9)
        assert after.low == pytest.approx(before.low)


# -------------------------------------------------------------------------------------------------------- corrections


@pytest.mark.parametrize("name", LIBRARY_CORRECTIONS)
def test_corrections_of_the_library(name: str) -> None:
    p = student(RANDOM.normal(0.4, 1, (12, 20)))
    for alpha in (0.05, 0.2):
        reject, expected = multipletests(p, alpha, method=name)[:2]
        found = corrections.corrected(name, p, alpha)
        assert found == pytest.approx(expected, abs=1e-15)
        assert ((found < alpha) == reject).all()
        assert (found >= p - 1e-12).all() or name in ADAPTIVE
    assert corrections.corrected(name, p[:0], 0.05).size == 0


def test_corrections_by_hand() -> None:
    """Šidák: 1 − (1 − p)^3; Hochberg: the largest as it is, then twice the next, then three times, never rising."""
    p = np.array([0.01, 0.04, 0.03])
    assert corrections.corrected("sidak", p, 0.05) == pytest.approx(1 - (1 - p) ** 3)
    assert corrections.corrected("simes-hochberg", p, 0.05) == pytest.approx([0.03, 0.04, 0.04])
    assert corrections.corrected("fdr_bh", p, 0.05) == pytest.approx(corrections.corrected("bh", p, 0.05))
    assert corrections.corrected("holm", p, 0.05) == pytest.approx([0.03, 0.06, 0.06])


def test_corrections_unknown_or_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadParameter, match="did you mean 'hommel'"):
        corrections.corrected("homel", np.array([0.1]), 0.05)
    monkeypatch.setitem(__import__("sys").modules, "statsmodels.stats.multitest", None)
    with pytest.raises(ExaequoError, match=r"exaequo\[stats\]"):
        corrections.corrected("hommel", np.array([0.1]), 0.05)
    assert corrections.corrected("holm", np.array([0.1]), 0.05) == pytest.approx([0.1])


def test_without_spread_p_is_that_of_signs() -> None:
    rows = np.stack([np.linspace(0.1, 0.5, 8), np.linspace(0.1, 0.5, 8) + 0.2])
    first, second = np.array([0]), np.array([1])
    assert joint.tukey(rows, first, second, 0.05, Setting()).p.tolist() == [2 / 2**8]
    assert joint.dunnett(rows, first, second, 0.05, Setting()).p.tolist() == [2 / 2**8]
    greater, less = (Setting(alternative=side) for side in ("greater", "less"))
    assert joint.dunnett(rows, first, second, 0.05, greater).p.tolist() == [1 / 2**8]
    assert joint.dunnett(rows, first, second, 0.05, less).p.tolist() == [1.0]


def test_what_is_rounding_is_no_difference() -> None:
    rows = np.array([[0.1, 0.2, 0.3, 0.6], [0.3, 0.6, 0.1, 0.2]])
    rows[1] += 1e-17
    moved = np.stack([rows[0], rows[1] + np.array([1e-13, 0, 0, 0])])
    for procedure in (joint.tukey, joint.dunnett):
        assert procedure(moved, np.array([0]), np.array([1]), 0.05, Setting()).p[0] == pytest.approx(1)
