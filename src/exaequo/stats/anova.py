"""Systems × topics as a whole: Friedman's test, the analysis of variance, and its mixed model.

In: scores, systems × topics, without NaN. Out: numbers; NaN where the data leave them undefined, which each says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from exaequo.arrays import Floats
from exaequo.stats.equality import TOLERANCE, slack_of


def ranks_within(values: Floats) -> Floats:
    """Return the rank of each system within each topic, 1 for the lowest; equal scores share the mean of theirs."""
    from scipy.stats import rankdata

    order = np.argsort(values, axis=0, kind="stable")
    steps = np.diff(np.take_along_axis(values, order, axis=0), axis=0, prepend=-np.inf) > slack_of(values)
    groups = np.empty(values.shape)
    np.put_along_axis(groups, order, np.cumsum(steps, axis=0).astype(np.float64), axis=0)
    return np.asarray(rankdata(groups, axis=0), dtype=np.float64)


class Friedman(NamedTuple):
    """Friedman's test: χ² corrected for equal scores, its p, Kendall's W, and the F of Iman and Davenport."""

    statistic: float
    df: int
    p: float
    w: float
    f: float
    f_p: float


def friedman(values: Floats) -> Friedman:
    """Return Friedman's test of systems × topics; NaN if there is one system, or no topic that orders any two.

    R. L. Iman, J. M. Davenport: Approximations of the critical region of the Friedman statistic, 1980.
    """
    from scipy.stats import chi2, f

    k, n = values.shape
    ranks = ranks_within(values)
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())
    if not spread:
        return Friedman(float("nan"), k - 1, *[float("nan")] * 4)
    w = float(((ranks.sum(axis=1) - n * (k + 1) / 2) ** 2).sum()) / (n * spread)
    statistic = n * (k - 1) * w
    ratio = (n - 1) * w / (1 - w) if w < 1 - TOLERANCE else float("inf")
    tail = float(f.sf(ratio, k - 1, (k - 1) * (n - 1))) if n > 1 else float("nan")
    return Friedman(statistic, k - 1, float(chi2.sf(statistic, k - 1)), w, ratio if n > 1 else float("nan"), tail)


class Effect(NamedTuple):
    """A line of an analysis of variance; F, p and the partial η² and ω² (0 where it would be negative) of an effect."""

    squares: float
    df: int
    mean: float
    f: float = float("nan")
    p: float = float("nan")
    eta2: float = float("nan")
    omega2: float = float("nan")


class Anova(NamedTuple):
    """The two-way analysis of variance without interaction."""

    systems: Effect
    topics: Effect
    residual: Effect

    @property
    def total(self) -> float:
        """The sum of squares around the mean of all scores."""
        return self.systems.squares + self.topics.squares + self.residual.squares


def anova(values: Floats) -> Anova:
    """Return the analysis of variance of systems × topics, a score each.

    Without any residual F is infinite and p 0 for what varies at all, and both are undefined for what does not. Of one
    system, or one topic, F, p and the mean square of the residual are undefined.
    """
    k, n = values.shape
    by_system, by_topic = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    least = values.size * slack_of(values) ** 2  # sums of squares that are rounding
    parts = (by_system - values.mean(), by_topic - values.mean(), values - by_system - by_topic + values.mean())
    sums = [float((np.broadcast_to(part, values.shape) ** 2).sum()) for part in parts]
    systems, topics, rest = (each if each > least else 0.0 for each in sums)
    df = (k - 1) * (n - 1)
    error = rest / df if df else float("nan")
    return Anova(
        _effect(systems, k - 1, rest, df, k * n), _effect(topics, n - 1, rest, df, k * n), Effect(rest, df, error)
    )


def _effect(squares: float, own: int, rest: float, df: int, size: int) -> Effect:
    """Return the line of an effect with so many degrees of freedom, against the residual."""
    from scipy.stats import f

    mean = squares / own if own else float("nan")
    if not own or not df or not squares + rest:
        return Effect(squares, own, mean)
    error = rest / df
    ratio = mean / error if error else float("inf")
    omega = (squares - own * error) / (squares + (size - own) * error)
    return Effect(squares, own, mean, ratio, float(f.sf(ratio, own, df)), squares / (squares + rest), max(omega, 0.0))


def blocked_error(values: Floats) -> float:
    """Return the residual variance of systems × topics once the effects of both are taken out; NaN of one of either."""
    k, n = values.shape
    rest = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    return float((rest**2).sum() / ((k - 1) * (n - 1))) if k > 1 and n > 1 else float("nan")


def within_error(values: Floats) -> float:
    """Return the variance of scores around the mean of their system, pooled over systems; NaN of one topic."""
    return float(values.var(axis=1, ddof=1).mean()) if values.shape[1] > 1 else float("nan")


class Estimate(NamedTuple):
    """A figure with its interval."""

    value: float
    low: float
    high: float


class Mixed(NamedTuple):
    """The mixed model: systems are fixed, topics a sample of many.

    - `topics`, `residual`: components of variance; `icc`: the share of topics in their sum.
    - `means` of the systems with intervals `low` to `high`, their standard `error` and its degrees of freedom `df`.
    - `half`: half the interval of the difference of any two means, not corrected for the number of pairs.
    """

    topics: Estimate
    residual: Estimate
    icc: Estimate
    means: Floats
    low: Floats
    high: Floats
    error: float
    df: float
    half: float


def mixed(values: Floats, alpha: float) -> Mixed:
    """Return the mixed model of systems × topics by restricted maximum likelihood, with intervals at 1 − alpha.

    The table is balanced, so there is a closed form. A component of topics that would be negative is 0, and what it
    would be made of goes to the residual. Degrees of freedom of means are Satterthwaite's; the interval of the topics'
    component is that of Williams and Tukey, the one of the intraclass correlation exact. Without any residual the
    intraclass correlation is 1, or undefined if nothing varies by topic either; of one system or one topic, all but
    the means are undefined.
    """
    from scipy.special import stdtrit

    k, n = values.shape
    table = anova(values)
    means = values.mean(axis=1)
    if k < 2 or n < 2:
        nothing, unknown = Estimate(*[float("nan")] * 3), np.full(k, np.nan)
        return Mixed(nothing, nothing, nothing, means, unknown, unknown, float("nan"), float("nan"), float("nan"))
    between, noise, df = table.topics.mean, table.residual.mean, float(table.residual.df)
    if between > noise:
        whole = (between + (k - 1) * noise) / k
        freedom = (k * whole) ** 2 / (between**2 / (n - 1) + (k - 1) * noise**2 / (n - 1))
    else:
        df = freedom = float(k * (n - 1))
        whole = noise = (table.topics.squares + table.residual.squares) / df
    error = float(np.sqrt(whole / n))
    room = error * float(stdtrit(freedom, 1 - alpha / 2))
    half = float(np.sqrt(2 * noise / n) * stdtrit(df, 1 - alpha / 2))
    topics, icc = _between(table, k, n, alpha)
    return Mixed(topics, _chi(noise, df, alpha), icc, means, means - room, means + room, error, freedom, half)


def _chi(variance: float, df: float, alpha: float) -> Estimate:
    from scipy.stats import chi2

    return Estimate(variance, *(float(df * variance / chi2.ppf(share, df)) for share in (1 - alpha / 2, alpha / 2)))


def _between(table: Anova, k: int, n: int, alpha: float) -> tuple[Estimate, Estimate]:
    """Return the component of topics, and the intraclass correlation, with their intervals."""
    from scipy.stats import chi2, f

    between, noise, df = table.topics.mean, table.residual.mean, table.residual.df
    component = max(between - noise, 0.0) / k
    if not between + noise:
        return Estimate(0.0, 0.0, 0.0), Estimate(*[float("nan")] * 3)
    ends = []
    for share in (1 - alpha / 2, alpha / 2):
        limit = float(f.ppf(share, n - 1, df))
        variance = (n - 1) * (between - limit * noise) / (k * float(chi2.ppf(share, n - 1)))
        ratio = between / limit
        ends.append((max(variance, 0.0), max((ratio - noise) / (ratio + (k - 1) * noise), 0.0)))
    (low, least), (high, most) = ends
    share = component / (component + (noise if between > noise else 1.0))
    return Estimate(component, low, high), Estimate(share, least, most)
