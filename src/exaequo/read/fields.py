"""Fields of clean text: bytes in; where the fields of each line are, and their letters in words, out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exaequo.read.decimals import KEPT, LONGEST, Ints, Words

#: Bytes that are sooner compared one by one than in words.
_SHORT = 6


class Column:
    """A field of each line: where it starts, and its size."""

    def __init__(self, text: Words, start: Ints, size: Ints) -> None:
        self._text, self.start, self.size = text, start, size
        self.longest = int(size.max())

    def words(self) -> Words:
        """Return the bytes of the field, eight in a word, with zeros behind."""
        width = (self.longest + 7) // 8
        anywhere = np.ndarray(self._text.nbytes - 8 * width, f"V{8 * width}", self._text, strides=(1,))
        words = anywhere[self.start].view(np.uint64).reshape(-1, width)
        words &= KEPT[:, :width].take(self.size, axis=0)
        return words


class Fields:
    """Text cut into lines of fields of these names: where each starts, one after the other, and its size."""

    def __init__(self, data: bytes, names: Sequence[str], starts: Ints, sizes: Ints, between: int) -> None:
        self._text = padded(data)
        self._names, self._starts, self._sizes, self.between = names, starts, sizes, between

    def __len__(self) -> int:
        return len(self._starts) // len(self._names)

    def column(self, name: str) -> Column:
        """Return a field of each line."""
        at, every = self._names.index(name), len(self._names)
        return Column(self._text, self._starts[at::every], self._sizes[at::every])

    def begin_with(self, letter: str) -> bool:
        """Tell whether a line begins with this letter."""
        return bool((self._text.view(np.uint8)[self.column(self._names[0]).start] == ord(letter)).any())

    def always(self, name: str) -> bytes | None:
        """Return what a field is in all lines, if it is always the same."""
        column = self.column(name)
        size, letters, start = column.longest, self._text.view(np.uint8), np.ascontiguousarray(column.start)
        first = letters[start[0] : start[0] + size].tobytes()
        if size > LONGEST or size != column.size.min():
            return None
        if size > _SHORT:
            words = column.words()
            return first if (words == words[0]).all() else None
        return first if all((letters.take(start + nth) == first[nth]).all() for nth in range(size)) else None


def padded(data: bytes) -> Words:
    """Return text in words, with room behind for what begins at its end."""
    return np.frombuffer(data + bytes(LONGEST + 16 - len(data) % 8), dtype="<u8")


def cut(data: bytes, names: Sequence[str]) -> Fields | None:
    """Cut lines of such fields; None if a byte is odd, a field is empty, or lines are not all alike."""
    if not data.isascii() or b"\x7f" in data:
        return None
    data = data if data.endswith(b"\n") else data + b"\n"
    letters, width = np.frombuffer(data, np.uint8), len(names)
    ends = (letters <= ord(" ")).nonzero()[0]
    if not len(ends) or len(ends) % width:
        return None
    starts = np.zeros_like(ends)
    np.add(ends[:-1], 1, out=starts[1:])
    sizes = ends - starts
    between, last = int(letters[ends[0]]), letters[ends[width - 1 :: width]]
    # Where lines end as they should and the others are as many as they should, all others are such.
    alike = (last == ord("\n")).all() and np.count_nonzero(letters == between) == len(ends) - len(last)
    return Fields(data, names, starts, sizes, between) if alike and between in b" \t" and sizes.min() else None
