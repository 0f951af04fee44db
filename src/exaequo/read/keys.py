"""Keys: 64-bit hashes, found many at a time. In: arrays of keys. Out: which stand where, and whether one is repeated.

A table has a slot for some bits of a key. Keys that share a slot with another leave it to one of them and wait for the
next table, which takes other bits and has room for those that wait; three or four tables hold them all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
#: Places in tables: half the memory of the usual whole numbers.
Places = npt.NDArray[np.int32]

#: Bits of the slots of the smallest table.
_LEAST = 12
#: Keys that are looked at together, more or less: their tables stay near the processor.
_AT_ONCE = 1 << 15
#: An odd number: what a key is multiplied by, table after table, so that other bits come first.
_OTHER = np.uint64(0x9E3779B97F4A7C15)


class Index:
    """Where keys stand. One that is there twice is found at both places."""

    def __init__(self, keys: Keys) -> None:
        """Put the keys into tables."""
        self._keys = keys.astype(np.uint64, copy=False)
        self._tables: list[Places] = []
        #: Whether no key is there twice.
        self.different = True
        for table, waiting, instead in _tables(self._keys):
            self._tables.append(table)
            self.different &= not (self._keys[waiting] == self._keys[instead]).any()

    def find(self, keys: Keys) -> tuple[Ints, Ints]:
        """Return which of these keys are there, and the place of each, pair by pair."""
        keys = keys.astype(np.uint64, copy=False)
        cuts = range(0, max(len(keys), 1), _AT_ONCE)
        pairs = [(at + cut, place) for cut in cuts for at, place in self._find(keys[cut : cut + _AT_ONCE])]
        return np.concatenate([at for at, _ in pairs]), np.concatenate([place for _, place in pairs])

    def _find(self, keys: Keys) -> Iterator[tuple[Ints, Ints]]:
        at, mixed = np.arange(len(keys)), keys
        for table in self._tables:
            place = table[_slots(mixed, len(table))]
            # Where a slot is empty, nothing waits for the next table either.
            taken = np.flatnonzero(place >= 0)
            at, place = at[taken], place[taken]
            same = self._keys[place] == keys[at]
            yield at[same], place[same].astype(np.int64)
            mixed = mixed[taken] * _OTHER


def are_different(keys: Keys, starts: Ints | None = None) -> bool:
    """Tell whether no key is there twice; or only in stretches of different `starts`, which are looked at by and by."""
    cuts = np.array([0])
    if starts is not None and len(keys) > _AT_ONCE:
        first = np.searchsorted(starts, np.arange(0, starts[-1] + 1, _AT_ONCE))
        cuts = starts[first[np.append(True, first[1:] != first[:-1])]]
    return not any(
        (part[waiting] == part[instead]).any()
        for part in np.split(keys, cuts[1:])
        for _, waiting, instead in _tables(part, empty=False)
    )


def _tables(keys: Keys, *, empty: bool = True) -> Iterator[tuple[Places, Places, Places]]:
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
        waits = np.flatnonzero(held != here)
        yield table, here[waits], held[waits]
        if not len(waits):
            return
        here, mixed = here[waits], mixed[waits] * _OTHER


def _slots(mixed: Keys, size: int) -> Ints:
    """Return the slots of keys: their first bits."""
    return (mixed >> np.uint64(65 - size.bit_length())).astype(np.int64)
