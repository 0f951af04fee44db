"""Arithmetic on arrays of all topics at once: quotients, and sums and products along each list."""

from __future__ import annotations

import numpy as np

from exaequo.arrays import Bools, Floats, Ints


def ratio(above: Floats | Ints, below: Floats | Ints) -> Floats:
    """Divide; 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below != 0)


def spread(start: Ints, size: Ints) -> Ints:
    """Return start, start + 1, … for each stretch of a size, one after the other."""
    return np.arange(int(size.sum())) + np.repeat(start - np.cumsum(size) + size, size)


def begins(topic: Ints) -> Bools:
    """Tell which entries are the first of their topic."""
    first = np.ones(len(topic), dtype=bool)
    first[1:] = topic[1:] != topic[:-1]
    return first


def sums_so_far(values: Floats, topic: Ints) -> Floats:
    """Return for each entry the sum of the entries of its topic up to it, untouched by other topics."""
    return so_far(np.add, 0.0, values, topic)


def products_before(factors: Floats, topic: Ints) -> Floats:
    """Return for each entry the product of the entries of its topic before it."""
    return so_far(np.multiply, 1.0, np.where(begins(topic), 1.0, np.roll(factors, 1)), topic)


def so_far(combine: np.ufunc, neutral: float, values: Floats, topic: Ints) -> Floats:
    """Return each entry combined with those of its topic before it; what is `neutral` changes nothing.

    By doubling: after step s each entry holds up to 2^s entries, so all lists advance together.
    """
    result, step = values.copy(), 1
    while step < len(result):
        same = topic[step:] == topic[:-step]
        if not same.any():
            break
        combine(result[step:], np.where(same, result[:-step], neutral), out=result[step:])
        step *= 2
    return result
