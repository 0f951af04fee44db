"""The order that ranx gives tied documents. In: scores. Out: places, the best first.

It sorts by a quicksort that is not stable: up to 15 scores stay as they came where they are equal; of more, the median
of three is the pivot, and scores equal to it change sides. So the order of ties depends on that of the lines.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Stretches up to this length are sorted as they came.
_SHORT = 15


def ascending(values: Sequence[float]) -> list[int]:
    """Return the places of values, the least first, equal ones where the quicksort leaves them."""
    order = list(range(len(values)))
    if len(set(values)) == len(values):
        return sorted(order, key=values.__getitem__)
    stretches = [(0, len(values))]
    while stretches:
        start, end = stretches.pop()
        if end - start <= _SHORT:
            order[start:end] = sorted(order[start:end], key=values.__getitem__)
        else:
            middle = _parted(order, values, start, end - 1)
            stretches += [(start, middle), (middle + 1, end)]
    return order


def _parted(order: list[int], values: Sequence[float], first: int, last: int) -> int:
    """Bring what is below a pivot before it and what is above behind it; return where the pivot stands."""
    centre = (first + last) // 2
    for one, two in ((first, centre), (centre, last), (first, centre)):
        if values[order[two]] < values[order[one]]:
            order[one], order[two] = order[two], order[one]
    pivot = values[order[centre]]
    order[centre], order[last] = order[last], order[centre]
    left, right = first, last - 1
    while True:
        while left < last and values[order[left]] < pivot:
            left += 1
        while right >= first and values[order[right]] > pivot:
            right -= 1
        if left >= right:
            break
        order[left], order[right] = order[right], order[left]
        left, right = left + 1, right - 1
    order[left], order[last] = order[last], order[left]
    return left


def of_records(values: Sequence[float]) -> list[int]:
    """Return the order of a `Run` or a `Qrels`."""
    return ascending([-value for value in values])


def of_dicts(values: Sequence[float]) -> list[int]:
    """Return the order of a plain dict: the other way round, so that ties are too."""
    return ascending(values)[::-1]
