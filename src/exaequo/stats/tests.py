"""Paired tests over topics, many pairs at once. In: differences, pairs × topics. Out: a p, or an interval, per pair.

No NaN may come in, and what is equal must be exactly equal (`stats.equality`). Pairs without any difference have p = 1.
Where all differences are the same one there is no spread to go by: tests that need one give what the sign test does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from exaequo.arrays import Bools, Floats, Ints
from exaequo.choices import PATTERNS
from exaequo.errors import BadParameter
from exaequo.stats.equality import balanced
from exaequo.stats.signedrank import rank_sums, signed_rank_p

#: Up to so many topics all sign patterns are tried: 2^20 of them.
MOST_EXACT = 20
#: Entries of the largest array made at a time.
_CHUNK = 1 << 23
_BLOCK = 4096
#: What turns a figure so that the higher it is, the more it speaks for the alternative.
_TURNED = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}


@dataclass(frozen=True)
class Setting:
    """How tests draw random numbers, and which side they look at."""

    samples: int = PATTERNS
    seed: int = 0
    alternative: str = "two-sided"

    def __post_init__(self) -> None:
        if self.alternative not in _TURNED:
            raise BadParameter(f"alternative must be two-sided, greater or less. Got {self.alternative!r} instead.")
        if self.samples < 100:
            raise BadParameter(f"samples must be at least 100. Got {self.samples} instead.")


DEFAULT = Setting()


def student(gaps: Floats, setting: Setting = DEFAULT) -> Floats:
    """Student's t-test."""
    from scipy.special import stdtr  # the same distribution as in scipy.stats, which takes half a second to load

    n, same = gaps.shape[1], steady(gaps)
    error = gaps.std(axis=1, ddof=1) / np.sqrt(n)
    ratio = np.divide(balanced(gaps) / n, error, out=np.zeros(len(gaps)), where=~same)
    sides = 2 if setting.alternative == "two-sided" else 1
    p: Floats = np.asarray(sides * stdtr(n - 1, -_TURNED[setting.alternative](ratio)))
    return np.where(same, _of_steady(gaps, setting), p)


def steady(gaps: Floats) -> Bools:
    """Tell which pairs have the same difference on every topic."""
    same: Bools = np.ptp(gaps, axis=1) == 0
    return same


def _of_steady(gaps: Floats, setting: Setting) -> Floats:
    """Return p of pairs whose differences are all the same: how likely so many signs agree by chance."""
    one, sides = gaps[:, 0], 2 if setting.alternative == "two-sided" else 1
    p = np.where(_TURNED[setting.alternative](one) > 0, sides * 0.5 ** gaps.shape[1], 1.0)
    return np.where(one == 0, 1.0, p)


def wilcoxon(gaps: Floats, setting: Setting = DEFAULT) -> Floats:
    """The signed-rank test of Wilcoxon; topics without a difference are left out."""
    return np.where(gaps.any(axis=1), signed_rank_p(gaps, setting.alternative), 1.0)


def sign(gaps: Floats, setting: Setting = DEFAULT) -> Floats:
    """The sign test: wins and losses alone; topics without a difference are left out."""
    from scipy.stats import binom

    wins, losses = (gaps > 0).sum(axis=1), (gaps < 0).sum(axis=1)
    n = wins + losses
    p = {
        "two-sided": lambda: 2 * binom.cdf(np.minimum(wins, losses), n, 0.5),
        "greater": lambda: binom.sf(wins - 1, n, 0.5),
        "less": lambda: binom.cdf(wins, n, 0.5),
    }[setting.alternative]()
    return np.where(n > 0, np.minimum(p, 1.0), 1.0)


def randomization(gaps: Floats, setting: Setting = DEFAULT) -> Floats:
    """Fisher's randomization test: the labels of the two systems are swapped topic by topic.

    All 2^n ways up to 20 topics, else a sample of them, the same for all pairs, as one matrix product.
    """
    pairs, n = gaps.shape
    slack = 1e-12 * np.abs(gaps).sum(axis=1)  # sums that differ by rounding are equal
    sums = (signs @ gaps.T for signs in _signs(n, setting, pairs))
    reached, total = _reached(sums, gaps.sum(axis=1), slack, setting)
    p = reached / total if n <= MOST_EXACT else (reached + 1) / (total + 1)
    return np.where(gaps.any(axis=1), p, 1.0)


def _reached(drawn: Iterable[Floats], observed: Floats, slack: Floats, setting: Setting) -> tuple[Ints, int]:
    """Count for each pair the drawn figures that go as far as the observed one; return also how many were drawn."""
    turned = _TURNED[setting.alternative]
    reached, total, least = np.zeros(len(observed), dtype=np.int64), 0, turned(observed) - slack
    for figures in drawn:
        reached += (turned(figures, out=figures) >= least).sum(axis=0)
        total += len(figures)
    return reached, total


def _signs(n: int, setting: Setting, pairs: int) -> Iterator[Floats]:
    """Yield patterns of ±1, a row each, as many rows at a time as fit."""
    rows = max(1, _CHUNK // max(pairs, n))
    if n <= MOST_EXACT:
        bits = np.arange(n)
        for start in range(0, 2**n, rows):
            numbers = np.arange(start, min(start + rows, 2**n))[:, None]
            yield 1.0 - 2.0 * ((numbers >> bits) & 1).astype(np.float64)
        return
    source = np.random.Generator(np.random.PCG64(setting.seed))
    for start in range(0, setting.samples, _BLOCK):  # drawn in blocks of one size, whatever the number of pairs
        size = min(_BLOCK, setting.samples - start)
        block = 1.0 - 2.0 * source.integers(0, 2, size=(_BLOCK, n), dtype=np.int8).astype(np.float64)[:size]
        for first in range(0, size, rows):
            yield block[first : first + rows]


def bootstrap(gaps: Floats, setting: Setting = DEFAULT) -> Floats:
    """The bootstrap test: topics drawn with replacement from differences that are shifted to a mean of 0."""
    mean = gaps.mean(axis=1)
    slack = 1e-12 * np.abs(gaps).mean(axis=1)
    moved = (weights @ gaps.T - mean for weights in _draws(gaps.shape[1], setting, len(gaps)))
    reached, total = _reached(moved, mean, slack, setting)
    return np.where(steady(gaps), _of_steady(gaps, setting), (reached + 1) / (total + 1))


def _draws(n: int, setting: Setting, pairs: int) -> Iterator[Floats]:
    """Yield weights of topics in samples with replacement, a row each."""
    rows = max(1, _CHUNK // max(pairs, n))
    source = np.random.Generator(np.random.PCG64(setting.seed))
    for start in range(0, setting.samples, rows):
        size = min(rows, setting.samples - start)
        yield source.multinomial(n, np.full(n, 1 / n), size=size) / n


def bootstrap_of_many(gaps: Floats, setting: Setting = DEFAULT) -> float:
    """Return p of the bootstrap test of one pair on very many topics, most of them without a difference.

    How many of the drawn topics have a difference is drawn first, then those alone.
    """
    moved, n = gaps[gaps != 0], len(gaps)
    if not len(moved) or np.ptp(gaps) == 0:
        return float(bootstrap(gaps[None, :], setting)[0])
    source = np.random.Generator(np.random.PCG64(setting.seed))
    sizes = source.binomial(n, len(moved) / n, size=setting.samples)
    drawn = np.array([moved[source.integers(0, len(moved), size)].sum() for size in sizes])
    reached, total = _reached([drawn[:, None] / n - gaps.mean()], gaps.mean(keepdims=True), np.zeros(1), setting)
    return float((reached[0] + 1) / (total + 1))


TESTS: dict[str, Callable[[Floats, Setting], Floats]] = {
    "t": student,
    "wilcoxon": wilcoxon,
    "sign": sign,
    "randomization": randomization,
    "bootstrap": bootstrap,
}


def direction(gaps: Floats, test: str) -> Floats:
    """Return which way a test sees each difference: 1, -1 or 0. That need not be the sign of the mean."""
    if test == "sign":
        score = (gaps > 0).sum(axis=1) - (gaps < 0).sum(axis=1)
    elif test == "wilcoxon":
        above, below = rank_sums(gaps)
        score = above - below
    else:
        score = balanced(gaps)
    return np.asarray(np.sign(score), dtype=np.float64)


def randomization_bound(gaps: Floats, alpha: float, setting: Setting = DEFAULT) -> float:
    """Return the lower end of the one-sided interval that the randomization test of one pair gives; -inf if none.

    The test of "the mean is above θ" counts the patterns whose sum, for differences less θ, reaches the observed one.
    Each pattern begins to do so at a θ of its own, so the end is one of these.
    """
    n, total, always = gaps.shape[1], 0, 0
    starts = []
    for signs in _signs(n, setting, 1):
        sums, count = signs @ gaps[0], signs.sum(axis=1)
        below = count < n
        always += int((~below).sum())
        total += len(signs)
        starts.append((gaps[0].sum() - sums[below]) / (n - count[below]))
    extra = 0 if n <= MOST_EXACT else 1
    most = int(np.floor(alpha * (total + extra) - extra + 1e-9)) - always
    return float(np.sort(np.concatenate(starts))[most]) if most >= 0 else float("-inf")


def t_interval(gaps: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the interval of Student for each mean difference."""
    from scipy.special import stdtrit

    n = gaps.shape[1]
    half = stdtrit(n - 1, (1 + confidence) / 2) * gaps.std(axis=1, ddof=1) / np.sqrt(n)
    return gaps.mean(axis=1) - half, gaps.mean(axis=1) + half


def bootstrap_interval(
    gaps: Floats, confidence: float, setting: Setting = DEFAULT, *, corrected: bool = True
) -> tuple[Floats, Floats]:
    """Return the bootstrap interval of each mean: bias-corrected and accelerated (BCa), or of percentiles."""
    from scipy.special import ndtr, ndtri

    n = gaps.shape[1]
    most = max(1, 4 * _CHUNK // setting.samples)
    if len(gaps) > most:  # some pairs at a time; the draws are the same for all of them
        parts = [gaps[start : start + most] for start in range(0, len(gaps), most)]
        found = [bootstrap_interval(part, confidence, setting, corrected=corrected) for part in parts]
        return np.concatenate([low for low, _ in found]), np.concatenate([high for _, high in found])
    means = np.concatenate([weights @ gaps.T for weights in _draws(n, setting, most)])
    ends = np.tile([(1 - confidence) / 2, (1 + confidence) / 2], (len(gaps), 1))
    if corrected:
        bias, speed = (each[:, None] for each in _bias_and_speed(gaps, means))
        z = bias + ndtri(ends)
        ends = ndtr(bias + z / (1 - speed * z))
    result = np.array([np.quantile(column, own) for column, own in zip(means.T, ends, strict=True)]).reshape(-1, 2)
    same = steady(gaps)
    result[same] = gaps[same, :1]
    return result[:, 0], result[:, 1]


def bootstrap_bound(gaps: Floats, alpha: float, setting: Setting = DEFAULT) -> float:
    """Return the lower end of the one-sided BCa interval of one pair: the largest its tail allows; -inf if none."""
    means = np.concatenate([weights @ gaps[0] for weights in _draws(gaps.shape[1], setting, 1)])
    bias, speed = _bias_and_speed(gaps, means[:, None])
    levels = _level(_inside(np.arange(len(means)), len(means)), bias, speed)
    known = int(np.searchsorted(levels, alpha, side="right"))
    return float(np.sort(means)[known - 1]) if known else float("-inf")


def _bias_and_speed(gaps: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Return the two corrections of BCa for each pair, from the means of the samples drawn, samples × pairs."""
    from scipy.special import ndtri

    mean = gaps.mean(axis=1)
    bias = ndtri(_share_below(means, mean, _noise(gaps)))
    apart = gaps - mean[:, None]  # what leaving a topic out takes off the mean, times n − 1
    cubes, squares = (apart**3).sum(axis=1), (apart**2).sum(axis=1)
    return bias, np.divide(cubes, 6 * squares**1.5, out=np.zeros(len(gaps)), where=squares > 0)


def _noise(gaps: Floats) -> Floats:
    """Return by how much means may differ that are equal but for rounding."""
    noise: Floats = 1e-12 * np.abs(gaps).mean(axis=1)
    return noise


def _share_below(means: Floats, least: Floats, slack: Floats) -> Floats:
    """Return the share of samples below a figure, equal ones as half; never quite 0 or 1."""
    below, same = means < least - slack, np.abs(means - least) <= slack
    return _inside(below.sum(axis=0) + 0.5 * same.sum(axis=0), len(means))


def _inside(below: Floats | Ints, samples: int) -> Floats:
    return np.asarray(np.clip(below / samples, 0.5 / samples, 1 - 0.5 / samples), dtype=np.float64)


def bootstrap_tail(gaps: Floats, setting: Setting = DEFAULT) -> Floats:
    """Return at which level the BCa interval of each mean ends at 0: p of the test that the mean is not below 0."""
    means = np.concatenate([weights @ gaps.T for weights in _draws(gaps.shape[1], setting, len(gaps))])
    return _level(_share_below(means, np.zeros(len(gaps)), _noise(gaps)), *_bias_and_speed(gaps, means))


def _level(share: Floats, bias: Floats, speed: Floats) -> Floats:
    """Return the level of the BCa interval that ends where such a share of samples lies below."""
    from scipy.special import ndtr, ndtri

    turned = ndtri(share) - bias
    level: Floats = np.round(ndtr(turned / (1 + speed * turned) - bias), 12)  # the same for a tail and a bound
    return level
