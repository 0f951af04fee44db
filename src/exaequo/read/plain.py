"""Plain lines, which need no table: arrays, and a key for each line. In: dicts, or small clean text. Out: `Plain`.

Ids are visible ASCII, each topic stands in one piece, each document once in it, and numbers are finite. What is not so
is read as a table, which also says what is wrong with it; so is what has anything odd about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from exaequo.frames import pl
from exaequo.read.mending import finite

if TYPE_CHECKING:
    from exaequo.read.lists import Lists
    from exaequo.read.trec import Layout

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]

#: From here on, doubles do not tell all whole numbers apart.
LARGE = 2.0**53
#: Bytes of text that are read here: more are sooner read by Polars, for all the time that takes to load.
_MOST = 8_000_000
#: Bytes of the longest field, in words of eight.
_LONGEST = 64
#: Bits of a key that hold the number of its line, and the last of them there is room for.
_BITS, _LINE = np.uint64(20), np.uint64(2**20 - 1)
_MIXER, _HALF = np.uint64(0xFF51AFD7ED558CCD), np.uint64(32)
#: What is kept of each word of a field of so many bytes.
_KEPT = np.array(
    [[256 ** min(max(size - 8 * at, 0), 8) - 1 for size in range(_LONGEST + 1)] for at in range(_LONGEST // 8)],
    dtype=np.uint64,
)
#: Numbers of so many digits, and these powers, are doubles without rounding: their quotient is rounded once.
_DIGITS = 15
_POWERS = 10.0 ** np.arange(_DIGITS + 1)


@dataclass(frozen=True, eq=False)
class Plain:
    """Lines, topic after topic: `topics`, how many lines each has, and of each line `docno` and `value`.

    `keys` are hashes of topic and document, no two alike, in ascending order, each with its line in the last bits.
    `rank` reads the ranks that a text has, `label` is what it calls itself.
    """

    topics: list[str]
    sizes: Ints
    docno: npt.NDArray[np.bytes_]
    value: Floats
    keys: Words
    rank: Callable[[], Words] | None = None
    label: str | None = None

    def frame(self, number: str) -> pl.DataFrame:
        """Return the lines as a frame without keys."""
        qid = pl.Series("qid", self.topics, dtype=pl.String).gather(np.repeat(np.arange(len(self.sizes)), self.sizes))
        columns = [qid, _text("docno", self.docno), pl.Series(number, self.value)]
        return pl.DataFrame(columns if self.rank is None else [*columns, _text("rank", _bytes(self.rank()))])


def _text(name: str, values: npt.NDArray[np.bytes_]) -> pl.Series:
    return pl.Series(name, values.tolist(), dtype=pl.Binary).cast(pl.String)


def shared(one: Plain, two: Plain) -> tuple[Ints, Ints]:
    """Return the lines of one that are lines of two, as far as their documents tell, and their places there."""
    own, other = one.keys >> _BITS, two.keys >> _BITS
    at = np.minimum(np.searchsorted(other, own), len(other) - 1)
    there = other[at] == own
    mine, its = ((each & _LINE).astype(np.int64) for each in (one.keys[there], two.keys[at[there]]))
    same = one.docno[mine] == two.docno[its]
    return mine[same], its[same]


def of_lists(lists: Lists, number: str) -> Plain | None:
    """Return the lines of dicts of numbers by docno, topic by topic."""
    held = lists.documents
    if lists.numbers is not None or lists.remarks or any(type(each) is not dict for each in held):
        return None
    sizes = [len(each) for each in held]
    values = _numbers(chain.from_iterable(each.values() for each in held), sum(sizes))
    words = _column(chain(lists.topics, _joined(held)), len(sizes) + sum(sizes))
    if words is None or values is None:
        return None
    return _made(words[: len(sizes)].repeat(sizes, axis=0), words[len(sizes) :], values, number)


def _joined(held: Iterable[Any]) -> Iterator[str]:
    """Join the names of each list first: that goes through memory in short stretches."""
    for each in held:
        if each:
            yield "\n".join(each)


def of_text(data: bytes, layout: Layout) -> Plain | None:
    """Return the lines of TREC text with one separator; the name of a run, or the iteration of qrels, is one."""
    data = data if data.endswith(b"\n") else data + b"\n"
    width = len(layout.fields)
    parts = _parts(data) if len(data) <= _MOST else None
    if parts is None or len(parts[0]) % width:
        return None
    start, size, after = parts[0].reshape(-1, width), parts[1].reshape(-1, width), parts[2].reshape(-1, width)
    between = after[0, 0]
    if between not in b" \t" or not (after == [between] * (width - 1) + [ord("\n")]).all():
        return None
    if layout.comments and (np.frombuffer(data, np.uint8)[start[:, 0]] == ord("#")).any():
        return None
    padded = data + bytes(_LONGEST)

    def field(name: str) -> Words:
        at = layout.fields.index(name)
        return _words(padded, start[:, at], size[:, at])

    is_run = layout.number == "sim"
    always, value = field("run_id" if is_run else "iter"), _decimals(field(layout.number))
    if value is None or (always[1:] != always[:-1]).any():
        return None
    plain = _made(field("qid"), field("docno"), value, layout.number)
    if plain is None or not is_run:
        return plain
    return replace(plain, rank=lambda: field("rank"), label=_bytes(always[:1])[0].decode())


def _made(topic: Words, docno: Words, value: Floats, number: str) -> Plain | None:
    """Return lines, unless a topic is in two pieces, two lines have one key, or a number has something about it."""
    if not 0 < len(value) <= _LINE or not (np.abs(value) < (LARGE if number == "sim" else np.inf)).all():
        return None
    first = np.flatnonzero(np.append(True, (topic[1:] != topic[:-1]).any(axis=1)))
    topics = [each.decode() for each in _bytes(topic[first]).tolist()]
    key = np.zeros(len(topic), dtype=np.uint64)
    for word in (*topic.T, *docno.T):
        mixed = (key ^ word) * _MIXER
        key = np.where(word, mixed ^ (mixed >> _HALF), key)  # so that shorter names do not depend on longer ones
    keys = np.sort((key & ~_LINE) | np.arange(len(key), dtype=np.uint64))
    hashes = keys >> _BITS
    if len({*topics}) < len(topics) or (hashes[1:] == hashes[:-1]).any():
        return None
    return Plain(topics, np.diff(first, append=len(topic)), _bytes(docno), value, keys)


def _numbers(values: Iterable[Any], count: int) -> Floats | None:
    """Return numbers, Python's or NumPy's, as doubles; None if there is anything else."""
    try:
        return np.fromiter(values, dtype=np.float64, count=count)
    except (TypeError, ValueError, OverflowError):
        return None


def _column(texts: Iterable[Any], count: int) -> Words | None:
    """Return texts as words; None if one of them is no text, or has anything in it but visible ASCII."""
    try:
        data = "\n".join(chain(texts, ("",))).encode()
    except (TypeError, UnicodeEncodeError):
        return None
    parts = _parts(data)
    if parts is None or len(parts[0]) != count or not (parts[2] == ord("\n")).all():
        return None
    return _words(data + bytes(_LONGEST), parts[0], parts[1])


def _parts(data: bytes) -> tuple[Ints, Ints, npt.NDArray[np.uint8]] | None:
    """Return where fields start, their sizes and what follows each; None if a byte is odd, or a field long or empty."""
    if not data.isascii() or b"\x7f" in data:
        return None
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters <= ord(" "))
    start = np.append(0, ends[:-1] + 1)
    size, after = ends - start, letters[ends]
    return (start, size, after) if len(ends) and size.min() > 0 and size.max() <= _LONGEST else None


def _words(padded: bytes, start: Ints, size: Ints) -> Words:
    """Return the bytes of a field of each line, eight in a word, with zeros behind."""
    every = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    words = np.empty((len(start), (int(size.max()) + 7) // 8), dtype="<u8")
    for at in range(words.shape[1]):
        words[:, at] = every[start + 8 * at] & _KEPT[at][size]
    return words


def _bytes(words: Words) -> npt.NDArray[np.bytes_]:
    return words.view(f"S{8 * words.shape[1]}").ravel()


def _decimals(words: Words) -> Floats | None:
    """Read decimal numbers; those of few digits, which most are, all at once. None if one is no finite number."""
    letters = words.view(np.uint8).reshape(len(words), -1)
    whole, digits, places = (np.zeros(len(words), dtype=np.int64) for _ in range(3))
    point = np.zeros(len(words), dtype=bool)
    minus = letters[:, 0] == ord("-")
    simple = np.ones(len(words), dtype=bool)
    for at in range(letters.shape[1]):
        letter = letters[:, at]
        if not letter.any():
            break
        digit = (letter - np.uint8(ord("0"))).astype(np.int64)
        is_digit, is_point = digit < 10, letter == ord(".")
        simple &= is_digit | (is_point & ~point) | (letter == 0) | (minus if at == 0 else False)
        whole = np.where(is_digit & (digits < _DIGITS), whole * 10 + digit, whole)
        digits += is_digit
        places += is_digit & point
        point |= is_point
    simple &= (digits > 0) & (digits <= _DIGITS)
    value = whole / _POWERS[np.minimum(places, _DIGITS)]
    value = np.where(minus, -value, value)
    if not simple.all():
        rest = [finite(each.decode()) for each in _bytes(words[~simple]).tolist()]
        if None in rest:
            return None
        value[~simple] = rest
    return value
