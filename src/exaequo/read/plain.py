"""Plain lines, which need no table: arrays, and a key for each line. In: dicts, columns, clean text. Out: `Plain`.

Ids are visible ASCII, each topic stands in one piece, each document once in it, and numbers are finite. What is not so
is read as a table, which also says what is wrong with it; so is what has anything odd about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate, chain, pairwise, zip_longest
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from exaequo.arrays import Bools, Floats, Ints, Words
from exaequo.frames import pl
from exaequo.read.decimals import LONGEST, decimals
from exaequo.read.fields import Column, Fields, cut, padded
from exaequo.read.keys import Index, are_different, keys_of, mixed

if TYPE_CHECKING:
    from exaequo.read.trec import Layout

#: From here on, doubles do not tell all whole numbers apart.
LARGE = 2.0**53
#: Bytes of text that are read together: what is made of them stays near the processor.
_PIECE = 1 << 19
#: Bytes of a block; the C library looks at none above 32 MB.
_KEPT_BLOCK = 31 << 20
#: Texts that become a column of a frame together.
_AT_ONCE = 1 << 18
#: Whole lines, of one end or another.
_COMMENTS = re.compile(rb"^#[^\r\n]*(?:\r?\n|\Z)", re.MULTILINE)
#: Documents of dicts that become lines together, at least.
_DOCUMENTS = 1 << 16


@dataclass(frozen=True, eq=False)
class Plain:
    """Lines, topic after topic: `topics`, how many lines each has, and of each line `value` and `words`, its docno.

    `keys` are hashes of topic and document; an `index` of judgments finds them. `rank` reads the ranks
    that a text has, `label` is what it calls itself. `table` is the frame that they were read from.
    """

    topics: list[str]
    sizes: Ints
    words: Words
    value: Floats
    keys: Words
    rank: Callable[[], npt.NDArray[np.bytes_]] | None = None
    label: str | None = None
    index: Index | None = None
    table: pl.DataFrame | None = None

    @property
    def docno(self) -> npt.NDArray[np.bytes_]:
        """The document of each line."""
        return _bytes(self.words)

    def parts(self, lines: int) -> Iterator[Plain]:
        """Yield the same lines in parts of about so many, each of whole topics."""
        ends = np.cumsum(self.sizes)
        cuts = np.unique(np.append(np.searchsorted(ends, np.arange(lines, ends[-1], lines)) + 1, len(ends)))
        ranks = None if self.rank is None else cache(self.rank)
        for start, end in pairwise([0, *cuts.tolist()]):
            own = slice(ends[start] - self.sizes[start], ends[end - 1])
            columns = self.words[own], self.value[own], self.keys[own]
            rank = None if ranks is None else partial(_some_of, ranks, own)
            yield Plain(self.topics[start:end], self.sizes[start:end], *columns, rank, self.label)

    def found(self, run: Plain) -> tuple[Ints, Ints]:
        """Return which lines of a run are here, and where: those with the same key, if they have the same document."""
        at, row = (self.index or Index(self.keys)).find(run.keys)
        same = same_documents(run, at, self, row)
        return at[same], row[same]

    def frame(self, number: str) -> pl.DataFrame:
        """Return the lines as a frame without keys."""
        if self.table is not None:
            return self.table
        qid = pl.Series("qid", self.topics, dtype=pl.String).gather(np.repeat(np.arange(len(self.sizes)), self.sizes))
        columns = [qid, _text("docno", self.docno), pl.Series(number, self.value)]
        return pl.DataFrame(columns if self.rank is None else [*columns, _text("rank", self.rank())])


def _some_of(ranks: Callable[[], npt.NDArray[np.bytes_]], own: slice) -> npt.NDArray[np.bytes_]:
    return ranks()[own]


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
    """Lines read together: where stretches of one topic start, its name; docno, value and key; what is always there."""

    start: Ints
    topic: list[str]
    docno: Words
    value: Floats
    key: Words
    always: bytes = b""


# ------------------------------------------------------------------------------------------------------------ dicts


def of_dicts(topics: list[Any], held: Sequence[Mapping[Any, Any]], number: str, *, few: bool = False) -> Plain | None:
    """Return the lines of dicts of numbers by docno, topic by topic, none of them empty."""
    sizes = [*map(len, held)]

    def lines_of(each: slice) -> _Lines | None:
        value = numbers_of(held[each], sum(sizes[each]))
        # The names of each list are joined first: that goes through memory in short stretches.
        return None if value is None else _listed(topics[each], map("\n".join, held[each]), sizes[each], value)

    # Many judgments with one key, as a stranger could name documents, would all be looked at for each document of it.
    return _together(sizes, number, lines_of, once=few or number == "sim")


def numbers_of(held: Iterable[Mapping[Any, Any]], count: int) -> Floats | None:
    """Return so many numbers of dicts; None if one of them is no number, neither Python's nor NumPy's."""
    try:
        return np.fromiter(chain.from_iterable(map(methodcaller("values"), held)), dtype=np.float64, count=count)
    except (TypeError, ValueError, OverflowError):
        return None


def of_columns(topics: list[str], sizes: list[int], table: pl.DataFrame) -> Plain | None:
    """Return the lines of columns `docno` and of numbers, topic by topic."""
    docno, number = table["docno"], table.columns[-1]
    value, ends = table[number].to_numpy(), [0, *accumulate(sizes)]

    def listed(each: slice) -> _Lines | None:
        lines = slice(ends[each.start], ends[each.stop])
        return _listed(topics[each], docno[lines].str.join("\n"), sizes[each], value[lines])

    plain = _together(sizes, number, listed)
    return None if plain is None else replace(plain, table=table)


def _together(
    sizes: list[int], number: str, lines_of: Callable[[slice], _Lines | None], *, once: bool = False
) -> Plain | None:
    """Return the lines of lists, made of some of them at a time; `once` if two of them may have one key."""
    return _put_together(map(lines_of, _some(sizes)), number, once=once)


def _some(sizes: list[int]) -> Iterator[slice]:
    start = documents = 0
    for at, size in enumerate(sizes, 1):
        documents += size
        if documents >= _DOCUMENTS or at == len(sizes):
            yield slice(start, at)
            start, documents = at, 0


def _listed(topics: list[Any], names: Iterable[str], sizes: list[int], value: Floats) -> _Lines | None:
    """Return the lines of some lists, whose names are joined; None if they are not plain."""
    words = _column(chain(topics, names), len(topics) + len(value))
    if words is None:
        return None
    hashes = mixed(words)
    key = keys_of(hashes[: len(topics)].repeat(sizes), hashes[len(topics) :])
    start = np.array([0, *accumulate(sizes[:-1])])
    return _Lines(start, topics, words[len(topics) :], value, key)


def _column(texts: Iterable[Any], count: int) -> Words | None:
    """Return texts as words; None if one of them is no text, or has anything in it but visible ASCII."""
    try:
        data = "\n".join(chain(texts, ("",))).encode()
    except (TypeError, UnicodeEncodeError):
        return None
    ends = (np.frombuffer(data, np.uint8) <= ord(" ")).nonzero()[0]
    if not data.isascii() or b"\x7f" in data or not len(ends) == data.count(b"\n") == count:
        return None
    start = np.zeros(count, dtype=np.int64)
    np.add(ends[:-1], 1, out=start[1:])
    column = Column(padded(data), start, ends - start)
    return column.words() if column.size.min() and column.longest <= LONGEST else None


# ------------------------------------------------------------------------------------------------------------- text


def of_text(data: bytes, layout: Layout) -> Plain | None:
    """Return the lines of TREC text; the name of a run, or the iteration of qrels, is one."""
    rank = (lambda: _column_of(data, layout, "rank")) if layout.number == "sim" else None
    return _put_together(map(partial(_lines, layout=layout), _pieces(data)), layout.number, rank)


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yield whole lines, some at a time."""
    start = 0
    while len(data) - start > _PIECE:
        end = data.rfind(b"\n", start, start + _PIECE) + 1
        if not end:  # a line that long is not plain
            break
        yield data[start:end]
        start = end
    yield data[start:]


def _column_of(data: bytes, layout: Layout, name: str) -> npt.NDArray[np.bytes_]:
    """Return a field of all lines, of text that has been read."""
    pieces = map(partial(_cut, layout=layout), _pieces(data))
    return np.concatenate([_bytes(each.column(name).words()) for each in pieces if each])


def _cut(piece: bytes, layout: Layout) -> Fields | None:
    """Cut whole lines, without comments; None if they are not plain."""
    fields = cut(piece, layout.fields)
    if layout.comments and b"#" in piece and (fields is None or fields.begin_with("#")):
        fields = cut(_COMMENTS.sub(b"", piece), layout.fields)
        return None if fields is None or fields.begin_with("#") else fields
    return fields


def _lines(piece: bytes, layout: Layout) -> _Lines | None:
    """Read whole lines; None if they are not plain."""
    fields = _cut(piece, layout)
    if fields is None:
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
    key = keys_of(mixed(topic).repeat(_sizes(start, len(fields))), mixed(words))
    topics = b"\n".join(_bytes(topic).tolist()).decode().split("\n")
    return _Lines(start, topics, words, value, key, always)


# ----------------------------------------------------------------------------------------------------- put together


@cache
def _keep_memory() -> None:
    """Let the process keep some of what it frees: memory that is new costs as much as what is done with it here.

    The C library of Linux keeps blocks as large as the largest that was freed, which this one is; it is never touched.
    """
    np.empty(_KEPT_BLOCK, np.uint8)


def _put_together(
    pieces: Iterable[_Lines | None],
    number: str,
    rank: Callable[[], npt.NDArray[np.bytes_]] | None = None,
    *,
    once: bool = False,
) -> Plain | None:
    """Return lines, unless a piece is not plain, or not like the others, or a number has something about it.

    Nor may a topic be in two pieces, or a key be there twice; but where each document is there `once`, names tell it
    from others.
    """
    _keep_memory()
    topics: list[str] = []
    columns: tuple[list[Any], ...] = [], [], [], []
    always, height = b"", 0
    for lines in pieces:
        if lines is None or (topics and lines.always != always):
            return None
        goes_on = bool(topics) and lines.topic[0] == topics[-1]
        topics += lines.topic[goes_on:]
        own = lines.start[goes_on:] + height, lines.docno, lines.value, lines.key
        for column, piece in zip(columns, own, strict=True):
            column.append(piece)
        always, height = lines.always, height + len(lines.value)
    if len({*topics}) < max(len(topics), 1):
        return None
    start, words, value, key = map(_whole, columns)
    most = LARGE if number == "sim" else np.inf
    index = None if number == "sim" else Index(key, different=not once)
    repeated = not once and not (are_different(key, start) if index is None else index.different)
    if repeated or not (-most < value.min() and value.max() < most):
        return None
    label = always.decode() if number == "sim" and always else None
    return Plain(topics, _sizes(start, height), words, value, key, rank, label, index)


def _whole(column: list[Any]) -> Any:
    """Put pieces of a column together and let them go; words become as wide as the widest."""
    shapes = {each.shape[1:] for each in column}
    if len(shapes) == 1:
        whole = np.concatenate(column)
    else:
        whole = np.zeros((sum(map(len, column)), max(shapes)[0]), np.uint64)
        start = 0
        for each in column:
            whole[start : start + len(each), : each.shape[1]] = each
            start += len(each)
    column.clear()
    return whole


def _sizes(starts: Ints, end: int) -> Ints:
    """Return how many lines each stretch has."""
    return np.concatenate((starts[1:], (end,))) - starts


def _bytes(words: Words) -> npt.NDArray[np.bytes_]:
    return words.view(f"S{8 * words.shape[1]}").ravel()
