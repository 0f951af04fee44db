"""What is equal: decided here, once, for tests, wins and losses, ranks and means alike.

Scores are sums of fractions, so 2/3 − 1/3 and 1/3 − 0 are two numbers to a computer. Two scores, or two differences of
scores, count as equal if they lie within `TOLERANCE` times the largest score they are made of.
"""

from __future__ import annotations

import numpy as np

from exaequo.arrays import Floats

#: Far above the noise of adding up a thousand fractions (1e-13), far below what chance brings two differences to.
TOLERANCE = 1e-10


def differences(one: Floats, two: Floats) -> Floats:
    """Return two − one, pairs × topics: no difference is exactly 0, equal magnitudes are exactly equal."""
    largest = np.maximum(np.abs(one), np.abs(two)).max(axis=1, initial=0.0)
    return settled(two - one, TOLERANCE * largest)


def slack_of(values: Floats) -> float:
    """Return the difference below which scores of a table are equal."""
    return TOLERANCE * float(np.abs(values).max(initial=0.0))


def settled_means(values: Floats) -> Floats:
    """Return the mean of each row; equal means are exactly equal."""
    means: Floats = settled(values.mean(axis=1)[None, :], np.array([slack_of(values)]))[0]
    return means


def settled(numbers: Floats, slack: Floats) -> Floats:
    """Return the numbers with magnitudes that are equal, within the slack of their row, made exactly so."""
    size = np.abs(numbers)
    order = np.argsort(size, axis=1, kind="stable")
    ordered = np.take_along_axis(size, order, axis=1)
    new = np.diff(ordered, axis=1, prepend=0.0) > slack[:, None]
    begins = np.maximum.accumulate(np.where(new, np.arange(size.shape[1]), -1), axis=1)
    ordered = np.where(begins < 0, 0.0, np.take_along_axis(ordered, np.maximum(begins, 0), axis=1))
    result = np.empty_like(ordered)
    np.put_along_axis(result, order, ordered, axis=1)
    return np.where(numbers < 0, -result, result)


def balanced(numbers: Floats) -> Floats:
    """Return the sum of each row, exactly 0 where it is the noise of adding up."""
    total = numbers.sum(axis=1)
    return np.where(np.abs(total) <= TOLERANCE * np.abs(numbers).max(axis=1, initial=0.0), 0.0, total)
