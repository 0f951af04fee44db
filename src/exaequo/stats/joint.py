"""All pairs of a family at once. In: scores, systems × topics, and pairs. Out: p and intervals that hold together.

Each procedure has the form of `Procedure`; the difference of a pair is second − first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.errors import BadParameter
from exaequo.stats.anova import blocked_error, ranks_within
from exaequo.stats.equality import slack_of
from exaequo.stats.tests import Setting, t_interval

_CHUNK = 1 << 22
#: So many studentized ranges are computed one by one; beyond `FARTHEST` their tail is as good as nothing.
MOST_RANGES, FARTHEST = 300, 30.0
#: Points at which integrals over a mean and over a standard error are taken, and the tail of the latter left out.
_POINTS, _LEFT_OUT = 160, 1e-15
_NORMAL = np.linspace(-8.5, 8.5, _POINTS)
_NORMAL_WEIGHT = np.exp(-(_NORMAL**2) / 2) / np.exp(-(_NORMAL**2) / 2).sum()


@dataclass(frozen=True, eq=False)
class Joint:
    """What a procedure says of each pair: p, and the interval of its mean difference, all of them right at once.

    `level` is that of a test of one pair alone, with as many sides, which has the critical value of the family.
    """

    p: Floats
    low: Floats
    high: Floats
    level: float


Procedure = Callable[[Floats, Ints, Ints, float, Setting], Joint]


def tukey(values: Floats, first: Ints, second: Ints, alpha: float, setting: Setting) -> Joint:  # noqa: ARG001
    """Tukey's honestly significant difference, blocked by topic (two-way, no interaction)."""
    from scipy.special import stdtr

    k = len(values)
    difference, error, df = _differences(values, first, second)
    limit = range_limit(alpha, k, df)
    half = limit * error / np.sqrt(2)
    level = 2 * float(stdtr(df, -limit / np.sqrt(2)))
    if not error > 0:
        p = np.where(difference == 0, 1.0, 2 * 0.5 ** values.shape[1])  # no spread to go by: as for signs
    else:
        p = np.where(difference == 0, 1.0, _range_tails(np.abs(difference) / error * np.sqrt(2), k, df))
    return Joint(p, difference - half, difference + half, level)


def randomised_tukey(values: Floats, first: Ints, second: Ints, alpha: float, setting: Setting) -> Joint:
    """The randomised HSD: scores of a topic are dealt to the systems anew.

    p is how often the largest difference between any two means reaches that of the pair (Carterette, ACM TOIS 30(1),
    2012); an interval is as wide as the least difference whose p would not be below alpha, so it holds 0 if and only
    if p is not below alpha. Without limit if there are too few samples for any p to be.
    """
    from scipy.special import stdtr

    means = values.mean(axis=1)
    gap = means[second] - means[first]
    largest = largest_ranges(values, setting)
    slack = 1e-12 * np.abs(values).max(initial=0)
    reached = setting.samples - np.searchsorted(largest, np.abs(gap) - slack)
    p = np.where(gap == 0, 1.0, (reached + 1) / (setting.samples + 1))
    allowed = int(np.ceil(alpha * (setting.samples + 1) - 1e-9)) - 2  # draws that may reach a difference
    half = float(largest[-1 - allowed]) if allowed >= 0 else float("inf")
    _, error, df = _differences(values, first, second)
    level = 2 * float(stdtr(df, -half / error)) if error > 0 else alpha
    return Joint(p, gap - half, gap + half, level)


def largest_ranges(values: Floats, setting: Setting) -> Floats:
    """Return, in order, the largest difference between two means each time the scores of topics are dealt anew."""
    k, n = values.shape
    source = np.random.Generator(np.random.PCG64(setting.seed))
    largest = np.empty(setting.samples)
    rows = max(1, _CHUNK // values.size)
    for start in range(0, setting.samples, rows):
        size = min(rows, setting.samples - start)
        dealt = source.permuted(np.broadcast_to(values, (size, k, n)), axis=1).mean(axis=2)
        largest[start : start + size] = np.ptp(dealt, axis=1)
    largest.sort()
    return largest


def nemenyi(values: Floats, first: Ints, second: Ints, alpha: float, setting: Setting) -> Joint:  # noqa: ARG001
    """Nemenyi's test of mean ranks within topics, after Friedman's; intervals are Student's, widened by Bonferroni.

    J. Demšar: Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006.
    """
    from scipy.special import ndtr

    k, n = values.shape
    ranks = ranks_within(values).mean(axis=1)
    ratio = np.abs(ranks[second] - ranks[first]) / np.sqrt(k * (k + 1) / (12 * n))
    p = np.where(ratio < 1e-9, 1.0, _range_tails(ratio, k, float("inf")))
    low, high = t_interval(values[second] - values[first], 1 - alpha / max(len(first), 1))
    return Joint(p, low, high, 2 * float(ndtr(-range_limit(alpha, k, float("inf")) / np.sqrt(2))))


def dunnett(values: Floats, first: Ints, second: Ints, alpha: float, setting: Setting) -> Joint:
    """Dunnett's test of all others against one baseline, blocked by topic; one-sided if the setting says so.

    The differences, over a common error, follow a multivariate t distribution with correlations of 1/2. One-sided
    intervals have one end. C. W. Dunnett: A multiple comparison procedure for comparing several treatments with a
    control, JASA 50, 1955.
    """
    from scipy.special import stdtr

    if len(np.unique(first)) > 1:
        raise BadParameter("Dunnett's test compares all others with one baseline; got pairs with several.")
    difference, error, df = _differences(values, first, second)
    turn, sides = (-1.0 if setting.alternative == "less" else 1.0), 2 if setting.alternative == "two-sided" else 1
    limit = dunnett_limit(alpha, len(first), df, sides)
    toward = np.abs(difference) if sides == 2 else turn * difference
    if error > 0:
        p = np.array([dunnett_tail(each, len(first), df, sides) for each in toward / error])
    else:
        p = np.where(toward > 0, sides * 0.5 ** values.shape[1], 1.0)
    low, high = difference - limit * error, difference + limit * error
    if sides == 1:
        low, high = (low, np.full_like(high, np.inf)) if turn > 0 else (np.full_like(low, -np.inf), high)
    return Joint(p, low, high, sides * float(stdtr(df, -limit)))


def dunnett_tail(ratio: float, others: int, df: float, sides: int = 2) -> float:
    """Return how likely the largest of so many ratios, correlated by 1/2 over a common error, is at least this one."""
    from scipy.special import ndtr

    error, error_weight = _errors(df)
    away = np.sqrt(2) * ratio * error[:, None]
    outside = ndtr(-_NORMAL - away) + (
        ndtr(_NORMAL - away) if sides == 2 else 0.0
    )  # of one, given the baseline's share
    with np.errstate(divide="ignore"):
        some = -np.expm1(others * np.log1p(-np.minimum(outside, 1.0)))
    return float(np.clip(error_weight @ some @ _NORMAL_WEIGHT, 0.0, 1.0))


def range_tail(ratio: float, k: int, df: float) -> float:
    """Return how likely the range of k means over a common error, the studentized range, is at least this ratio."""
    from scipy.special import ndtr

    error, error_weight = _errors(df)
    above = ndtr(-_NORMAL)  # of one mean, given the lowest
    inside = above - ndtr(-_NORMAL - ratio * error[:, None])
    return float(np.clip(error_weight @ (above ** (k - 1) - inside ** (k - 1)) @ (k * _NORMAL_WEIGHT), 0.0, 1.0))


@lru_cache(maxsize=8)
def _errors(df: float) -> tuple[Floats, Floats]:
    """Return standard errors over the true one, evenly spaced by logarithm, with their weights."""
    from scipy.stats import chi2

    if df == float("inf"):
        return np.ones(1), np.ones(1)
    low, high = np.log([chi2.ppf(_LEFT_OUT, df) / df, chi2.isf(_LEFT_OUT, df) / df]) / 2
    logarithm = np.linspace(low, high, _POINTS)
    density = df * logarithm - df * np.exp(2 * logarithm) / 2
    weight = np.exp(density - density.max())
    return np.exp(logarithm), weight / weight.sum()


@lru_cache(maxsize=64)
def dunnett_limit(alpha: float, others: int, df: float, sides: int = 2) -> float:
    """Return the critical value of Dunnett's test."""
    return _limit(lambda ratio: dunnett_tail(ratio, others, df, sides) - alpha, 0.0 if sides == 2 else -9.0)


@lru_cache(maxsize=64)
def range_limit(alpha: float, k: int, df: float) -> float:
    """Return the critical value of the studentized range."""
    return _limit(lambda ratio: range_tail(ratio, k, df) - alpha, 0.0)


def _limit(beyond: Callable[[float], float], low: float) -> float:
    """Return where a function that falls is 0, from `low` on."""
    from scipy.optimize import brentq

    high = 4.0
    while beyond(high) > 0:
        high *= 2
    return float(brentq(beyond, low, high, xtol=1e-10)) if beyond(low) > 0 else low


def _differences(values: Floats, first: Ints, second: Ints) -> tuple[Floats, float, int]:
    """Return mean differences, their standard error from all systems, and its degrees of freedom; rounding is 0."""
    k, n = values.shape
    least, means = slack_of(values), values.mean(axis=1)
    difference = means[second] - means[first]
    error = float(np.sqrt(2 * blocked_error(values) / n))
    return np.where(np.abs(difference) <= least, 0.0, difference), error if error > least else 0.0, (k - 1) * (n - 1)


def _range_tails(ratios: Floats, k: int, df: float) -> Floats:
    """Return how likely the studentized range is at least each of these."""
    if len(ratios) <= MOST_RANGES:
        return np.array([range_tail(ratio, k, df) for ratio in ratios])
    from scipy.interpolate import CubicSpline  # through some of them: good to 1e-6

    some = np.linspace(0.0, min(float(ratios.max()), FARTHEST), MOST_RANGES)
    p = CubicSpline(some, [range_tail(ratio, k, df) for ratio in some])(np.minimum(ratios, FARTHEST))
    return np.asarray(np.clip(p, 0.0, 1.0), dtype=np.float64)


PROCEDURES: dict[str, Procedure] = {
    "tukey": tukey,
    "randomised-tukey": randomised_tukey,
    "nemenyi": nemenyi,
    "dunnett": dunnett,
}
