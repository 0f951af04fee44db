"""Fields of clean text: bytes in; where the fields of each line are, and their letters in words, out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from exaequo.arrays import Ints, Words
from exaequo.read.decimals import KEPT, LONGEST

Letters = npt.NDArray[np.uint8]

#: Bytes that are sooner compared one by one than in words.
_SHORT = 6
#: All bytes of text, but those that nobody sees.
_KNOWN = bytes((*b" \t\n\r\v\f", *range(ord("!"), 0x7F)))


class Column:
    """A field of each line: where it starts, and its size."""

    def __init__(self, text: Words, start: Ints, size: Ints) -> None:
        self._text, self.start, self.size = text, start, size
        self.longest = int(size.max())

    def words(self) -> Words:
        """Return the bytes of the field, eight in a word, with zeros behind."""
        if self.longest == 1:
            return self._text.view(np.uint8).take(self.start).astype(np.uint64)[:, None]
        width = (self.longest + 7) // 8
        anywhere = np.ndarray(self._text.nbytes - 8 * width, f"V{8 * width}", self._text, strides=(1,))
        words = anywhere[self.start].view(np.uint64).reshape(-1, width)
        words &= KEPT[:, :width].take(self.size, axis=0)
        return words


class Fields:
    """Text cut into lines of fields of these names: where each starts, one after the other, and its size."""

    def __init__(self, data: bytes, names: Sequence[str], starts: Ints, sizes: Ints) -> None:
        self._text = padded(data)
        self._names, self._starts, self._sizes = names, starts, sizes

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
    """Cut lines of such fields, with blanks between them; None if a byte is odd, or a line has other fields."""
    if not data.isascii() or b"\x7f" in data:
        return None
    data = data if data.endswith(b"\n") else data + b"\n"
    letters, width = np.frombuffer(data, np.uint8), len(names)
    blank = letters <= ord(" ")
    ends = blank.nonzero()[0]  # if one blank stands behind each field
    starts = np.empty_like(ends)
    starts[0] = 0
    np.add(ends[:-1], 1, out=starts[1:])
    sizes = ends - starts
    fine = sizes.min() > 0 and _are_lines(letters, ends, width)
    if not fine and not data.translate(None, _KNOWN):
        edges = (blank[1:] != blank[:-1]).nonzero()[0] + 1
        edges = edges if blank[0] else np.concatenate(([0], edges))
        starts, ends = edges[::2], edges[1::2]
        sizes = ends - starts
        fine = _fill_lines(letters, starts, width)
    return Fields(data, names, starts, sizes) if fine else None


def _are_lines(letters: Letters, ends: Ints, width: int) -> bool:
    """Tell whether so many fields stand in each line, with one and the same blank behind each, but the last."""
    lines, blank = len(ends) // width, letters[ends[0]]
    return bool(
        lines * width == len(ends)
        and blank in b" \t"
        and (letters[ends[width - 1 :: width]] == ord("\n")).all()
        and np.count_nonzero(letters == blank) == len(ends) - lines
    )


def _fill_lines(letters: Letters, starts: Ints, width: int) -> bool:
    """Tell whether so many fields stand in each line that is not blank, and there is one."""
    if not len(starts) or len(starts) % width:
        return False
    line = np.cumsum((letters == ord("\n")) | (letters == ord("\r")), dtype=np.int32)[starts].reshape(-1, width)
    return bool((line == line[:, :1]).all() and (line[1:, 0] > line[:-1, 0]).all())
