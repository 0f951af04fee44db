"""Plain lines, which need no table: arrays, and a key for each line. In: dicts, or clean text. Out: `Plain`.

Ids are visible ASCII, each topic stands in one piece, each document once in it, and numbers are finite. What is not so
is read as a table, which also says what is wrong with it; so is what has anything odd about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from exaequo.frames import pl
from exaequo.read.decimals import KEPT, LONGEST, Words, decimals
from exaequo.read.keys import Index, are_different

if TYPE_CHECKING:
    from exaequo.read.lists import Lists
    from exaequo.read.trec import Layout

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: From here on, doubles do not tell all whole numbers apart.
LARGE = 2.0**53
#: Bytes of text that are read together: what is made of them stays near the processor. Of a text that is large there
#: are larger pieces, side by side.
_PIECE, _LARGE_PIECE, _LARGE = 1 << 19, 1 << 21, 1 << 24
#: Texts that become a column of a frame together.
_AT_ONCE = 1 << 18
_MIXER, _HALF = np.uint64(0xFF51AFD7ED558CCD), np.uint64(32)
_SHIFT, _BITS = np.uint64(3), np.uint64(64)


@dataclass(frozen=True, eq=False)
class Plain:
    """Lines, topic after topic: `topics`, how many lines each has, and of each line `value` and `words`, its docno.

    `keys` are hashes of topic and document, no two alike; an `index` of judgments finds them. `rank` reads the ranks
    that a text has, `label` is what it calls itself.
    """

    topics: list[str]
    sizes: Ints
    words: Words
    value: Floats
    keys: Words
    rank: Callable[[], npt.NDArray[np.bytes_]] | None = None
    label: str | None = None
    index: Index | None = None

    @property
    def docno(self) -> npt.NDArray[np.bytes_]:
        """The document of each line."""
        return _bytes(self.words)

    def frame(self, number: str) -> pl.DataFrame:
        """Return the lines as a frame without keys."""
        qid = pl.Series("qid", self.topics, dtype=pl.String).gather(np.repeat(np.arange(len(self.sizes)), self.sizes))
        columns = [qid, _text("docno", self.docno), pl.Series(number, self.value)]
        return pl.DataFrame(columns if self.rank is None else [*columns, _text("rank", self.rank())])


def same_documents(one: Plain, at: Ints, two: Plain, place: Ints) -> Bools:
    """Tell which lines of two have the same documents, pair by pair."""
    same = np.ones(len(at), dtype=bool)
    for mine, its in zip_longest(one.words.T, two.words.T):
        same &= (0 if mine is None else mine[at]) == (0 if its is None else its[place])
    return same


def _text(name: str, values: npt.NDArray[np.bytes_]) -> pl.Series:
    """Return text as a column, some of it at a time: Python's objects take several times the memory."""
    parts = [values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE)]
    return pl.concat([pl.Series(name, part.tolist(), dtype=pl.Binary).cast(pl.String) for part in parts], rechunk=True)


class _Lines(NamedTuple):
    """Lines read together: where stretches of one topic start, its name; docno, value and key; what is always there.

    `size` is that of their text.
    """

    start: Ints
    topic: list[str]
    docno: Words
    value: Floats
    key: Words
    always: bytes = b""
    size: int = 1


# ------------------------------------------------------------------------------------------------------------ dicts


def of_lists(lists: Lists, number: str) -> Plain | None:
    """Return the lines of dicts of numbers by docno, topic by topic."""
    held = lists.documents
    if lists.numbers is not None or lists.remarks or any(type(each) is not dict for each in held):
        return None
    held = [each for each in held if each]
    topics = [topic for topic, each in zip(lists.topics, lists.documents, strict=True) if each]
    sizes = np.array([len(each) for each in held], dtype=np.int64)
    value = _numbers(chain.from_iterable(each.values() for each in held), int(sizes.sum()))
    words = _column(chain(topics, _joined(held)), len(topics) + int(sizes.sum()))
    if words is None or value is None:
        return None
    topic, docno = words[: len(topics)], words[len(topics) :]
    key = _mixed(_mixed(np.zeros(len(topic), np.uint64), topic).repeat(sizes), docno)
    lines = _Lines(np.cumsum(sizes) - sizes, topics, docno, value, key)
    gathered = _Gathered(lines, 1)
    gathered.add(lines)
    return gathered.made(number)


def _joined(held: Iterable[Any]) -> Iterator[str]:
    """Join the names of each list first: that goes through memory in short stretches."""
    for each in held:
        yield "\n".join(each)


def _numbers(values: Iterable[Any], count: int) -> Floats | None:
    """Return numbers, Python's or NumPy's, as doubles; None if there is anything else."""
    try:
        return np.fromiter(values, dtype=np.float64, count=count)
    except (TypeError, ValueError, OverflowError):
        return None


def _column(texts: Iterable[Any], count: int) -> Words | None:
    """Return texts as words; None if one of them is no text, or has anything in it but visible ASCII."""
    try:
        fields = _cut("\n".join(chain(texts, ("",))).encode(), ("",))
    except (TypeError, UnicodeEncodeError):
        return None
    if fields is None or len(fields) != count:
        return None
    column = fields.column("")
    return column.words() if column.longest <= LONGEST else None


# ------------------------------------------------------------------------------------------------------------- text


def of_text(data: bytes, layout: Layout) -> Plain | None:
    """Return the lines of TREC text with one separator; the name of a run, or the iteration of qrels, is one."""
    gathered: _Gathered | None = None
    for lines in _each_piece(data, partial(_lines, layout=layout)):
        if lines is None or (gathered is not None and lines.always != gathered.always):
            return None
        gathered = gathered or _Gathered(lines, len(data) / lines.size)
        gathered.add(lines)
    if gathered is None:
        return None
    if layout.number != "sim":
        return gathered.made(layout.number)
    return gathered.made(layout.number, lambda: _column_of(data, layout, "rank"), gathered.always[1:].decode())


def _each_piece(data: bytes, read: Callable[[bytes], Any]) -> Iterator[Any]:
    """Read text in pieces of whole lines; many of them side by side, which NumPy lets them."""
    if len(data) <= _LARGE:
        yield from (read(data[start:end]) for start, end in _pieces(data, _PIECE))
        return
    import os
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        try:
            yield from workers.map(lambda piece: read(data[piece[0] : piece[1]]), _pieces(data, _LARGE_PIECE))
        finally:
            workers.shutdown(cancel_futures=True)


def _pieces(data: bytes, size: int) -> list[tuple[int, int]]:
    """Return where pieces of whole lines begin and end, each of at most so many bytes."""
    cuts = [0]
    while len(data) - cuts[-1] > size:
        end = data.rfind(b"\n", cuts[-1], cuts[-1] + size) + 1
        if not end:  # a line that long is not plain
            break
        cuts.append(end)
    return [*pairwise(cuts), (cuts[-1], len(data))]


def _column_of(data: bytes, layout: Layout, name: str) -> npt.NDArray[np.bytes_]:
    """Return a field of all lines, of text that has been read."""
    cut = [*_each_piece(data, partial(_cut, names=layout.fields))]
    return np.concatenate([_bytes(each.column(name).words()) for each in cut])


def _lines(piece: bytes, layout: Layout) -> _Lines | None:
    """Read whole lines; None if they are not plain."""
    fields = _cut(piece, layout.fields)
    if fields is None or (layout.comments and b"#" in piece and fields.begin_with("#")):
        return None
    is_run = layout.number == "sim"
    always = fields.always("run_id" if is_run else "iter")
    qid, docno, number = (fields.column(name) for name in ("qid", "docno", layout.number))
    longest = max(each.longest for each in (qid, docno, number, *([fields.column("rank")] if is_run else [])))
    if always is None or longest > LONGEST:
        return None
    value = decimals(number.words(), number.size)
    if value is None:
        return None
    topic, words = qid.words(), docno.words()
    start = np.flatnonzero(np.append(True, (topic[1:] != topic[:-1]).any(axis=1)))
    topic = topic[start]
    key = _mixed(np.zeros(len(start), np.uint64), topic).repeat(np.diff(start, append=len(fields)))
    topics = [each.decode() for each in _bytes(topic).tolist()]
    name = bytes((fields.between,)) + always
    return _Lines(start, topics, words, value, _mixed(key, words), name, len(piece))


class _Column:
    """A field of each line: where it starts, and its size."""

    def __init__(self, text: Words, start: Ints, size: Ints) -> None:
        self._text, self._start, self.size = text, start, size
        self.longest = int(size.max())

    def words(self) -> Words:
        """Return the bytes of the field, eight in a word, with zeros behind."""
        # Words that begin anywhere are put together from those that memory is made of: these are found faster.
        place, low = self._start >> 3, (self._start & 7).astype(np.uint64) << _SHIFT
        words, part = np.empty((len(place), (self.longest + 7) // 8), dtype=np.uint64), self._text[place]
        for nth in range(words.shape[1]):
            following = self._text[place + (nth + 1)]
            np.bitwise_and(part >> low | following << (_BITS - low), KEPT[nth][self.size], out=words[:, nth])
            part = following
        return words


class _Fields:
    """Text cut into lines of fields of these names: where each ends, line by line, and what separates them."""

    def __init__(self, data: bytes, names: Sequence[str], ends: Ints, between: int) -> None:
        self._text = np.frombuffer(data + bytes(LONGEST + 16 - len(data) % 8), dtype="<u8")
        self._names, self._ends, self.between = names, ends, between

    def __len__(self) -> int:
        return len(self._ends)

    def column(self, name: str) -> _Column:
        """Return a field of each line."""
        at = self._names.index(name)
        if at:
            start = self._ends[:, at - 1] + 1
        else:
            start = np.zeros(len(self), dtype=np.int64)
            np.add(self._ends[:-1, -1], 1, out=start[1:])
        return _Column(self._text, start, self._ends[:, at] - start)

    def begin_with(self, letter: str) -> bool:
        """Tell whether a line begins with this letter."""
        return bool((self._text.view(np.uint8)[self.column(self._names[0])._start] == ord(letter)).any())

    def always(self, name: str) -> bytes | None:
        """Return what a field is in all lines, if it is always the same."""
        column = self.column(name)
        letters, start, size = self._text.view(np.uint8), column._start, column.longest
        first = letters[start[0] : start[0] + size].tobytes()
        if size > LONGEST or size != column.size.min():
            return None
        return first if all((letters[start + nth] == first[nth]).all() for nth in range(size)) else None


def _cut(data: bytes, names: Sequence[str]) -> _Fields | None:
    """Cut lines of such fields; None if a byte is odd, a field is empty, or lines are not all alike."""
    if not data.isascii() or b"\x7f" in data:
        return None
    data = data if data.endswith(b"\n") else data + b"\n"
    letters, width = np.frombuffer(data, np.uint8), len(names)
    blank = letters <= ord(" ")
    ends = np.flatnonzero(blank)
    if not len(ends) or len(ends) % width or blank[0] or (blank[1:] & blank[:-1]).any():
        return None
    after = letters[ends].reshape(-1, width)
    between = int(after[0, 0])
    alike = np.array([between] * (width - 1) + [ord("\n")], dtype=np.uint8)
    if after.tobytes() != alike.tobytes() * len(after) or (width > 1 and between not in b" \t"):
        return None
    return _Fields(data, names, ends.reshape(-1, width), between)


# ----------------------------------------------------------------------------------------------------- put together


class _Gathered:
    """Lines, one piece after the other, in arrays with room for about so many times the first."""

    def __init__(self, first: _Lines, times: float) -> None:
        self.always = first.always
        self._topics: list[str] = []
        self._starts: list[Ints] = []
        self._height = 0
        room = len(first.value) if times == 1 else int(len(first.value) * times * 1.02)
        self._columns = (np.zeros((room, first.docno.shape[1]), np.uint64), np.empty(room), np.empty(room, np.uint64))

    def add(self, lines: _Lines) -> None:
        """Add lines that follow."""
        goes_on = bool(self._topics) and lines.topic[0] == self._topics[-1]
        self._topics += lines.topic[goes_on:]
        self._starts.append(lines.start[goes_on:] + self._height)
        start, self._height = self._height, self._height + len(lines.value)
        self._make_room(lines.docno.shape[1])
        words, value, key = self._columns
        words[start : self._height, : lines.docno.shape[1]] = lines.docno
        value[start : self._height], key[start : self._height] = lines.value, lines.key

    def _make_room(self, width: int) -> None:
        words, value, key = self._columns
        if self._height <= len(value) and width <= words.shape[1]:
            return
        more = max(0, self._height - len(value)) * 2
        wider = np.zeros((len(words) + more, max(width, words.shape[1])), np.uint64)
        wider[: len(words), : words.shape[1]] = words
        self._columns = (wider, np.append(value, np.empty(more)), np.append(key, np.empty(more, np.uint64)))

    def made(
        self, number: str, rank: Callable[[], npt.NDArray[np.bytes_]] | None = None, label: str | None = None
    ) -> Plain | None:
        """Return lines, unless a topic is in two pieces, two lines have one key, or a number has something about it."""
        words, value, keys = self._columns
        words, value, keys = words[: self._height], value[: self._height], keys[: self._height]
        if not (np.abs(value) < (LARGE if number == "sim" else np.inf)).all():
            return None
        starts = np.concatenate(self._starts)
        index = None if number == "sim" else Index(keys)
        different = are_different(keys, starts) if index is None else index.different
        if len({*self._topics}) < len(self._topics) or not different:
            return None
        return Plain(self._topics, np.diff(starts, append=len(value)), words, value, keys, rank, label, index)


def _mixed(key: Words, words: Words) -> Words:
    """Mix texts into keys; zeros behind a text change nothing, so that shorter ones do not depend on longer ones."""
    for word in words.T:
        mixed = (key ^ word) * _MIXER
        key = np.where(word, mixed ^ (mixed >> _HALF), key)
    return key


def _bytes(words: Words) -> npt.NDArray[np.bytes_]:
    return words.view(f"S{8 * words.shape[1]}").ravel()
