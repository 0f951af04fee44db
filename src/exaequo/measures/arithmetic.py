"""Arithmetic on arrays of all topics at once: quotients, and sums and products along each list."""

from __future__ import annotations

import numpy as np

from exaequo.judge import Floats, Ints


def ratio(above: Floats | Ints, below: Floats | Ints) -> Floats:
    """Divide; 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below != 0)


def sums_so_far(values: Floats, topic: Ints) -> Floats:
    """Return for each entry the sum of the entries of its topic up to it, untouched by other topics."""
    total, step = values.copy(), 1
    while step < len(total):
        same = topic[step:] == topic[:-step]
        if not same.any():
            break
        total[step:] = total[step:] + np.where(same, total[:-step], 0.0)
        step *= 2
    return total


def products_before(factors: Floats, topic: Ints) -> Floats:
    """Return for each entry the product of the entries of its topic before it.

    By doubling: after step s each entry holds the product of up to 2^s entries, so all lists advance together.
    """
    first = np.concatenate(([True], topic[1:] != topic[:-1])) if len(topic) else np.zeros(0, dtype=bool)
    product = np.where(first, 1.0, np.roll(factors, 1))
    step = 1
    while step < len(topic):
        same = topic[step:] == topic[:-step]
        if not same.any():
            break
        shifted = product[step:] * np.where(same, product[:-step], 1.0)
        product = np.concatenate((product[:step], shifted))
        step *= 2
    return product
