"""The arithmetic of luck: what the order of names gains over fair orders, and decides. In: `Scores`. Out: frames.

R, C and O are the realistic, conventional and optimistic orders. A gain in percent is undefined where it divides by 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from exaequo.arrays import Bools, Floats, Ints
from exaequo.choices import INTERVAL
from exaequo.measures import Measure
from exaequo.scores import Scores, Values
from exaequo.stats.equality import balanced, differences
from exaequo.stats.tests import student

#: For RR: the rank of the first relevant document under each strategy, and by how many ranks names move it up.
RANKS = (*(f"first_{ties}" for ties in INTERVAL), "ranks_gained")
#: What documents of score 0 at the end of lists earn, and its share of the score.
EARNED = tuple(name.format(ties) for name in ("earned_{}", "share_{}_percent") for ties in INTERVAL)
GAINS = ("c_over_r_percent", "o_over_r_percent", "o_over_c_percent")


def gain(above: Floats | float, below: Floats | float) -> Floats:
    """Return the gain of one value over another in percent; NaN where it divides by 0, 0 where both are 0."""
    high, low = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    result = np.full(np.broadcast(high, low).shape, np.nan)
    np.divide(100 * (high - low), np.abs(low), out=result, where=low != 0)
    return np.where((low == 0) & (high == 0), 0.0, result)


def first_rank(values: Floats) -> Floats:
    """Return the rank of the first relevant document, 1/RR, a whole number; NaN where RR is 0."""
    ranks: Floats = np.rint(np.divide(1, values, out=np.full(len(values), np.nan), where=values > 0))
    return ranks


def rank_gain(low: Floats, middle: Floats) -> Floats:
    """Return by how many ranks names move the first relevant document up: 1/RR_R − 1/RR_C; NaN where RR is 0."""
    gained: Floats = first_rank(low) - first_rank(middle)
    return gained


def earnings(full: Mapping[str, float], without: Mapping[str, float]) -> dict[str, float]:
    """Return what stuffing earns under each strategy, and which share of the score that is, in percent."""
    earned = {f"earned_{ties}": full[ties] - without[ties] for ties in INTERVAL}
    return earned | {f"share_{ties}_percent": share(full[ties] - without[ties], full[ties]) for ties in INTERVAL}


def share(part: float, whole: float) -> float:
    """Return a share in percent; NaN where it divides by 0, 0 where both are 0."""
    return 100 * part / abs(whole) if whole else 0.0 if part == 0 else float("nan")


def gains_of_lists(scores: Scores) -> pl.DataFrame:
    """Return every list and measure with its gains; its luck is the gain C over R, or for RR the ranks gained."""
    own = [[scores[run, ties, measure] for ties in INTERVAL] for run in scores.runs for measure in scores.measures]
    topics = pl.concat([first.topics for first, *_ in own])
    return _gains(own, [[each.values for each in three] for three in own], topics)


def gains_of_runs(scores: Scores, digits: int | None = None) -> pl.DataFrame:
    """Return every run and measure with the gains of its aggregate, perhaps rounded; C over R is its luck."""
    own = [[scores[run, ties, measure] for ties in INTERVAL] for run in scores.runs for measure in scores.measures]
    means = np.array([[[each.mean] for each in three] for three in own])
    return _gains(own, means if digits is None else np.round(means, digits))


def _gains(
    own: Sequence[Sequence[Values]], figures: Sequence[Sequence[Floats]] | Floats, topics: pl.Series | None = None
) -> pl.DataFrame:
    """Return the figures of each run and measure under R, C and O, one below the other, with their gains."""
    low, middle, high = (np.concatenate([three[at] for three in figures]) for at in range(len(INTERVAL)))
    sizes = [len(three[0]) for three in figures]
    upward = np.repeat([first.measure.upward for first, *_ in own], sizes)
    in_ranks = np.repeat([topics is not None and first.measure.definition.name == "RR" for first, *_ in own], sizes)
    gains = (gain(middle, low), gain(high, low), gain(high, middle))
    ranks = [*map(first_rank, (low, middle, high)), rank_gain(low, middle)]
    at = np.repeat(np.arange(len(own)), sizes)
    return pl.DataFrame(
        {
            "run": pl.Series([first.run for first, *_ in own], dtype=pl.String)[at],
            **({} if topics is None else {"topic": topics}),
            "measure": pl.Series([first.measure.name for first, *_ in own], dtype=pl.String)[at],
            **dict(zip(INTERVAL, (low, middle, high), strict=True)),
            **dict(zip(GAINS, gains, strict=True)),
            **{name: _whole(np.where(in_ranks, each, np.nan)) for name, each in zip(RANKS, ranks, strict=True)},
            "luck": upward * np.where(in_ranks, ranks[-1], gains[0]),
        }
    )


def _whole(numbers: Floats) -> pl.Series:
    """Return whole numbers as such; null for NaN."""
    return pl.Series(numbers).fill_nan(None).cast(pl.Int64)


def luckiest(gains: pl.DataFrame, top: int, within: Sequence[str] = ("measure",)) -> pl.DataFrame:
    """Return the rows that the order of names helps most, so many of each group; of equals the first."""
    lucky = gains.filter(pl.col("luck").is_not_nan() & (pl.col("luck") > 0))
    lucky = lucky.sort("luck", descending=True, maintain_order=True)
    chosen = lucky.filter(pl.int_range(pl.len()).over(within) < top)
    order = [*within, "luck"]
    return chosen.sort(order, descending=[name == "luck" for name in order], maintain_order=True).select(gains.columns)


def from_nothing(gains: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """Return the rows that names lift from 0, where a gain in percent is undefined."""
    better = pl.col("measure").is_in([measure.name for measure in measures if measure.upward > 0])
    return gains.filter(better & (pl.col("realistic") == 0) & (pl.col("conventional") > 0))


def testable(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that runs can be tested on: a geometric mean is one number per run."""
    return [measure for measure in measures if measure.aggregate != "gm"]


def which_is_better(table: Floats, upward: int) -> tuple[Ints, Floats]:
    """Compare each two rows of runs × topics: 1 the first is better, -1 the second, 0 neither; and p of a t-test.

    The test is paired and two-sided; p is NaN for fewer than two topics.
    """
    first, second = np.triu_indices(len(table), 1)
    gaps = differences(table[second], table[first])
    if not gaps.shape[1]:
        return np.zeros(len(first), dtype=np.int64), np.full(len(first), np.nan)
    p = student(gaps) if gaps.shape[1] > 1 and len(gaps) else np.full(len(first), np.nan)
    return (upward * np.sign(balanced(gaps))).astype(np.int64), p


def changes(verdicts: Sequence[Ints | Floats]) -> Bools:
    """Tell which verdicts are not the same under all strategies."""
    every = np.stack(verdicts)
    differ: Bools = (every != every[0]).any(axis=0)
    return differ
