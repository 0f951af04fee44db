"""Corrections, letters, power and margins on figures small enough for paper, or from printed tables."""

from __future__ import annotations

import numpy as np
import pytest

from exaequo import BadParameter
from exaequo.stats.agreement import competition_ranks, pearson, rbo
from exaequo.stats.corrections import bonferroni, corrected, holm, letters
from exaequo.stats.equality import TOLERANCE, balanced, differences, settled, settled_means, slack_of
from exaequo.stats.joint import randomised_tukey
from exaequo.stats.power import MOST_TOPICS, detectable_effect, power_of, topics_needed
from exaequo.stats.practical import practical
from exaequo.stats.reversals import _said
from exaequo.stats.tests import Setting, randomization
from exaequo.stats.topicsets import anova_power

P = np.array([0.01, 0.04, 0.03, 0.9])


def test_corrections() -> None:
    assert bonferroni(P).tolist() == pytest.approx([0.04, 0.16, 0.12, 1])
    assert holm(P).tolist() == pytest.approx([0.04, 0.09, 0.09, 0.9])
    assert corrected("bh", P, 0.05).tolist() == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.9])
    assert corrected("none", P, 0.05) is P
    assert corrected("bh", P[:0], 0.05).tolist() == corrected("hommel", P[:0], 0.05).tolist() == []


def of_pairs(k: int, *pairs: tuple[int, int]) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    different = np.zeros((k, k), dtype=bool)
    for one, two in pairs:
        different[one, two] = different[two, one] = True
    return different


def test_letters() -> None:
    assert letters(np.array([3.0, 2, 1]), of_pairs(3, (0, 2))) == ["a", "ab", "b"]
    assert letters(np.array([3.0, 2, 1]), of_pairs(3)) == ["a", "a", "a"]
    assert letters(np.array([1.0, 2, 3]), of_pairs(3, (0, 1), (0, 2), (1, 2))) == ["c", "b", "a"]
    # alike: 0-1, 0-2, 1-2, 2-3; the groups are 0 1 2 and 2 3
    assert letters(np.array([4.0, 3, 2, 1]), of_pairs(4, (0, 3), (1, 3))) == ["a", "a", "ab", "b"]
    # alike: 0-1, 1-2, 2-3, 3-0: a ring has no three that are alike
    assert letters(np.array([4.0, 3, 2, 1]), of_pairs(4, (0, 2), (1, 3))) == ["ab", "ac", "cd", "bd"]
    every = of_pairs(28, *((one, two) for one in range(28) for two in range(one)))
    assert letters(-np.arange(28.0), every)[24:] == ["y", "z", "(27)", "(28)"]


def test_power_printed() -> None:
    """Effects of 0.2, 0.5 and 0.8, as in any table of the paired t-test: 199, 34, 15; one-sided 156, 27, 12."""
    effects = np.array([0.2, -0.5, 0.8])
    assert topics_needed(effects, 0.05).tolist() == [199, 34, 15]
    assert topics_needed(effects, 0.05, sides=1).tolist() == [156, 27, 12]
    assert topics_needed(np.array([0.5, 0.5]), np.array([0.05, 0.01])).tolist() == [34, 51]
    assert topics_needed(np.array([0.0, np.nan, 1e-9]), 0.05).tolist() == [np.inf] * 3
    assert topics_needed(np.array([1e6]), 0.05).tolist() == [2]
    assert MOST_TOPICS == 1_000_000
    for topics, effect in ((34, 0.5), (199, 0.2)):
        now, fewer = power_of(np.array([effect] * 2), np.array([topics, topics - 1]), 0.05)
        assert now >= 0.8 > fewer
        assert detectable_effect(topics, 0.05) <= effect < detectable_effect(topics - 1, 0.05)
    (level,) = power_of(np.array([0.0]), np.array([20]), 0.05)
    assert level == pytest.approx(0.05)  # no effect is seen as often as the level says
    (level,) = power_of(np.array([0.0]), np.array([20]), 0.05, sides=1)
    assert level == pytest.approx(0.05)
    assert detectable_effect(1, 0.05) == np.inf
    assert detectable_effect(2, 0.05) < np.inf
    assert detectable_effect(20, 0.05, 0.04) == 0  # less power than the level gives for nothing
    assert detectable_effect(20, np.array([0.05, 0.01, 0.05])).tolist() == [
        *map(pytest.approx, [detectable_effect(20, level) for level in (0.05, 0.01, 0.05)])
    ]
    assert detectable_effect(1, 0.05) == float("inf")


def test_margins_of_constant_differences() -> None:
    gaps, margin = np.full((3, 4), [[0.01], [0.05], [0.2]]), np.full(3, 0.05)
    found = practical(gaps, margin)
    assert found.below.tolist() == [1 / 16] * 3
    assert found.above.tolist() == [1 / 16, 1 / 16, 15 / 16]
    assert found.within.tolist() == pytest.approx([14 / 16, 14 / 16, 0])
    assert found.p.tolist() == [1 / 16, 1 / 16, 15 / 16]
    assert practical(gaps[2:, :3], margin[2:]).above.tolist() == [7 / 8]


def test_margins_of_two_topics() -> None:
    """With one degree of freedom Student's distribution is Cauchy's: a quarter lies beyond 1."""
    found = practical(np.array([[-1.0, 1.0]]), np.array([1.0]))  # mean 0, error 1
    assert (found.below[0], found.within[0], found.above[0]) == pytest.approx((0.25, 0.5, 0.25))
    found = practical(np.array([[0.0, 2.0]]), np.array([2.0]))  # mean 1, error 1: 3 from one end, 1 from the other
    assert found.above[0] == pytest.approx(0.25)
    assert found.below[0] == pytest.approx(0.5 - np.arctan(3) / np.pi)


def test_margins_of_several_pairs() -> None:
    """Each pair has its own error: 1, and 2 with twice the margin, are the same question."""
    found = practical(np.array([[-1.0, 1.0], [-2.0, 2.0]]), np.array([1.0, 2.0]))
    assert found.below.tolist() == found.above.tolist() == pytest.approx([0.25, 0.25])


def test_a_correction_of_the_library() -> None:
    assert corrected("sidak", P, 0.05).tolist() == pytest.approx((1 - (1 - P) ** 4).tolist())
    with pytest.raises(BadParameter, match="correction"):
        corrected("bonferoni", P, 0.05)


def test_what_is_equal() -> None:
    third = 1 / 3
    gaps = differences(np.array([[third, 0.0, 0.5]]), np.array([[2 * third, -third, 0.5 + 1e-14]]))
    assert gaps[0, 0] == -gaps[0, 1] and gaps[0, 2] == 0
    assert differences(np.array([[1.0, 1.0]]), np.array([[1.0 + 1e-9, 1.0]]))[0, 0] != 0
    assert settled(np.array([[3.0, -1.0, 1.05, 2.0]]), np.array([0.1])).tolist() == [[3, -1, 1, 2]]
    assert settled(np.array([[0.05, -0.04, 1.0]]), np.array([0.1])).tolist() == [[0, 0, 1]]
    assert settled(np.zeros((2, 0)), np.zeros(2)).shape == (2, 0)
    assert balanced(np.array([[0.1, 0.2, -0.3], [1.0, 1.0, -1.0]])).tolist() == [0, 1]
    assert slack_of(np.array([[-4.0, 2.0]])) == 4 * TOLERANCE
    assert slack_of(np.array([[-0.25, 0.125]])) == TOLERANCE / 4
    assert np.signbit(settled(np.array([[0.0, -1.0]]), np.array([0.1]))).tolist() == [[False, True]]
    assert len(set(settled_means(np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.3, 0.3, 0.1]])).tolist())) == 2


def test_agreement_by_hand() -> None:
    assert pearson(np.array([0.0, 1.0]), np.array([3.0, 2.0])) == pytest.approx(-1)
    assert np.isnan(pearson(np.array([1.0]), np.array([2.0]))) and np.isnan(pearson(np.ones(3), np.arange(3.0)))
    assert competition_ranks(np.array([2.0, 5.0, 2.0, 1.0])).tolist() == [2, 1, 2, 4]


def test_two_systems_are_a_pair() -> None:
    """The F-test of two systems is the t-test of their differences, whose variance is twice that of one."""
    for topics in (3, 8, 30):
        seen = power_of(np.array([0.3 / np.sqrt(2 * 0.04)]), np.array([topics]), 0.05)
        assert anova_power(0.3, 0.04, 2, topics) == pytest.approx(float(seen[0]), abs=1e-6)


def test_what_is_drawn_is_counted() -> None:
    """Differences that no pattern of signs but their own reaches; two topics of which any deal goes as far."""
    (p,) = randomization(np.ones((1, 60)), Setting(samples=199))
    assert p == 1 / 200
    values, pair = np.array([[0.0, 0.0], [0.0, 1.0]]), (np.array([0]), np.array([1]))
    assert randomised_tukey(values, *pair, 0.05, Setting(samples=100)).p.tolist() == [1]


def test_what_a_half_says() -> None:
    """A pair has its own measure of noise; of n equal differences, p is 2 / 2ⁿ."""
    gaps = np.array([[1.0, 1.0, 1.0], [1e-12, 1e-12, 1e-12]])
    for half, sure in (([0, 1], False), ([0, 1, 2], True)):
        sign, certain = _said(gaps, np.array([half]), len(half), 0.5)
        assert (sign.tolist(), certain.tolist()) == ([[1, 1]], [[sure, sure]])


def test_overlap_beyond_the_shorter_ranking() -> None:
    """Agreement is 1, then (1 + 1 · ½) / 2, b and c being there by half, then 1: ½ + ¾ / 4 + ⅛, and ⅛ for the rest."""
    assert rbo(["a"], ["a", {"b", "c"}], 0.5) == pytest.approx(15 / 16)
