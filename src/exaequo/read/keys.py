"""Keys: 64-bit hashes, found many at a time. In: arrays of keys. Out: which stand where, and whether one is repeated.

A table has a slot for some bits of a key. Keys that share a slot with another leave it to one of them and wait for the
next table, which takes other bits and has room for those that wait; three or four tables hold them all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from exaequo.arrays import Ints, Words

#: Places in tables: half the memory of the usual whole numbers.
Places = npt.NDArray[np.int32]

#: Bits of the slots of the smallest table.
_LEAST = 12
#: Keys that are looked at together, more or less: their tables stay near the processor.
_AT_ONCE = 1 << 15
#: An odd number: what a key is multiplied by, table after table, so that other bits come first.
_OTHER = np.uint64(0x9E3779B97F4A7C15)
_MIXER, _HALF = np.uint64(0xFF51AFD7ED558CCD), np.uint64(32)


class Index:
    """Where keys stand. One that is there twice is found at both places, but not where all should be `different`."""

    def __init__(self, keys: Words, *, different: bool = False) -> None:
        """Put the keys into tables; where they should be different, only until one is seen to be there twice."""
        self._keys = keys.astype(np.uint64, copy=False)
        self._tables: list[Places] = []
        #: Whether no key is there twice.
        self.different = True
        for table, waiting, instead in _tables(self._keys):
            self._tables.append(table)
            self.different &= not (len(waiting) and (self._keys[waiting] == self._keys[instead]).any())
            if different and not self.different:  # a key that is there often takes as many tables
                break

    def find(self, keys: Words) -> tuple[Ints, Ints]:
        """Return which of these keys are there, and the place of each, pair by pair."""
        keys = keys.astype(np.uint64, copy=False)
        cuts = range(0, max(len(keys), 1), _AT_ONCE)
        pairs = [(at + cut, place) for cut in cuts for at, place in self._find(keys[cut : cut + _AT_ONCE])]
        if len(pairs) == 1:
            return pairs[0]
        return np.concatenate([at for at, _ in pairs]), np.concatenate([place for _, place in pairs])

    def _find(self, keys: Words) -> Iterator[tuple[Ints, Ints]]:
        at, mixed = np.arange(len(keys)), keys
        for table in self._tables:
            place = table[_slots(mixed, len(table))]
            # Where a slot is empty, nothing waits for the next table either.
            taken = (place >= 0).nonzero()[0]
            at, place = at[taken], place[taken]
            same = self._keys[place] == keys[at]
            yield at[same], place[same].astype(np.int64)
            mixed = mixed[taken] * _OTHER


def are_different(keys: Words, starts: Ints | None = None) -> bool:
    """Tell whether no key is there twice; or only in stretches of different `starts`, which are looked at by and by."""
    parts = [keys]
    if starts is not None and len(keys) > _AT_ONCE:
        first = np.searchsorted(starts, np.arange(0, starts[-1] + 1, _AT_ONCE))
        parts = np.split(keys, starts[first[np.append(True, first[1:] != first[:-1])]][1:])
    return not any(
        len(waiting) and (part[waiting] == part[instead]).any()
        for part in parts
        for _, waiting, instead in _tables(part, empty=False)
    )


def _tables(keys: Words, *, empty: bool = True) -> Iterator[tuple[Places, Places, Places]]:
    """Yield tables of places, with the places that have to wait for the next, and which stand there instead.

    An `empty` place of a table is -1, or anything.
    """
    here: Places = np.arange(len(keys), dtype=np.int32)
    mixed = keys
    while True:
        table = np.empty(1 << max(_LEAST, (2 * len(here)).bit_length()), dtype=np.int32)
        if empty:
            table.fill(-1)
        slot = _slots(mixed, len(table))
        table[slot] = here
        held = table[slot]
        waits = (held != here).nonzero()[0]
        yield table, here[waits], held[waits]
        if not len(waits):
            return
        here, mixed = here[waits], mixed[waits] * _OTHER


def _slots(mixed: Words, size: int) -> Ints:
    """Return the slots of keys: their first bits."""
    return (mixed >> np.uint64(65 - size.bit_length())).view(np.int64)


def mixed(words: Words) -> Words:
    """Return a hash of each row; zeros behind it change nothing, so that shorter texts do not depend on longer ones."""
    first, *more = words.T
    key = _scattered(first)
    for word in more:
        key = np.where(word, _scattered(key ^ word), key)
    return key


def _scattered(words: Words) -> Words:
    scattered = words * _MIXER
    scattered ^= scattered >> _HALF
    return scattered


def keys_of(topic: Words, docno: Words) -> Words:
    """Return keys of topic and document, pair by pair, from the hashes of both."""
    return topic * _OTHER + docno
