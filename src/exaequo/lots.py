"""Lots: random numbers of documents. In: a seed, the names of topics, places in lists. Out: numbers from 0 to 1.

A lot depends on nothing else, so a list is ordered alike whichever lists it is evaluated with, and wherever.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from exaequo.arrays import Floats, Ints, Words

#: The steps and the multipliers of SplitMix64: Steele, Lea, Flood, OOPSLA 2014.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
#: Bits that a double has no room for.
_BEYOND = np.uint64(11)


def of_names(names: Iterable[str]) -> Words:
    """Return a number for each name, the same on every machine."""
    from hashlib import blake2b  # takes a while to load, and few orders are random

    hashed = (blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest() for name in names)
    return np.frombuffer(b"".join(hashed), dtype="<u8").astype(np.uint64)


def drawn(seed: int, topic: Words, place: Ints, number: int = 0) -> Floats:
    """Return the lot of each place of the lists of these topics, as `of_names` gives them, in the draw of a number."""
    lists = _mixed(topic ^ of_names([f"{seed} {number}"]))
    return (_mixed(lists + place.astype(np.uint64) * _STEP) >> _BEYOND).astype(np.float64) * 2.0**-53


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))
