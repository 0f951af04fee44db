"""Plain lines, which need no table: arrays, and a key for each line. In: dicts, or small clean text. Out: `Plain`.

Ids are visible ASCII, each topic stands in one piece, each document once in it, and numbers are finite. What is not so
is read as a table, which also says what is wrong with it; so is what has anything odd about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
_MIXERS = np.array([0x9E3779B97F4A7C15, 0xFF51AFD7ED558CCD], dtype=np.uint64)
_HALF = np.uint64(32)
#: What is kept of a word of which so many bytes belong to a field.
_KEPT = np.array([256**size - 1 for size in range(9)], dtype=np.uint64)
#: Numbers of so many digits, and these powers, are doubles without rounding: their quotient is rounded once.
_DIGITS = 15
_POWERS = 10.0 ** np.arange(_DIGITS + 1)


@dataclass(frozen=True, eq=False)
class Plain:
    """Lines, topic after topic: `topics`, how many lines each has, and of each line `docno`, `value` and `key`.

    Keys are hashes of topic and document, no two alike; `order` sorts them. Those of text and of objects are made in
    different ways. `rank` reads the ranks that a text has, `label` is what it calls itself.
    """

    topics: list[str]
    sizes: Ints
    docno: list[str] | npt.NDArray[np.bytes_]
    value: Floats
    key: Words
    order: Ints
    rank: Callable[[], npt.NDArray[np.bytes_]] | None = None
    label: str | None = None

    def names(self, rows: Ints) -> list[Any]:
        """Return the documents of some lines: strings, or bytes if they are those of a text."""
        if isinstance(self.docno, list):
            return [self.docno[row] for row in rows.tolist()]
        return list(self.docno[rows].tolist())

    def frame(self, number: str) -> pl.DataFrame:
        """Return the lines as a frame without keys."""
        qid = pl.Series("qid", self.topics, dtype=pl.String).gather(np.repeat(np.arange(len(self.sizes)), self.sizes))
        columns = [qid, _text("docno", self.docno), pl.Series(number, self.value)]
        return pl.DataFrame(columns if self.rank is None else [*columns, _text("rank", self.rank())])


def _text(name: str, values: list[str] | npt.NDArray[np.bytes_]) -> pl.Series:
    texts = values if isinstance(values, list) else values.astype(np.str_).tolist()
    return pl.Series(name, texts, dtype=pl.String)


def alike(one: Plain | None, two: Plain | None) -> tuple[Plain, Plain] | None:
    """Return both if their keys were made in one way, so that lines of one are found in the other; else None."""
    if one is None or two is None or type(one.docno) is not type(two.docno):
        return None
    return one, two


def shared(one: Plain, two: Plain) -> tuple[Ints, Ints]:
    """Return the lines of one whose keys are in two, and their lines there."""
    own, other = one.key[one.order], two.key[two.order]
    at = np.minimum(np.searchsorted(other, own), len(other) - 1)
    there = other[at] == own
    return one.order[there], two.order[at[there]]


def _made(
    topics: list[str], sizes: Ints, docno: Any, value: Floats, key: Words, number: str, **more: Any
) -> Plain | None:
    """Return the lines, unless two of them have one key, or a number has something about it."""
    if not (np.abs(value) < (LARGE if number == "sim" else np.inf)).all():
        return None
    order = np.argsort(key)
    ordered = key[order]
    if len({*topics}) < len(topics) or (ordered[1:] == ordered[:-1]).any():
        return None
    return Plain(topics, sizes, docno, value, key, order, **more)


def of_lists(lists: Lists, layout: Layout) -> Plain | None:
    """Return the lines of dicts of numbers by docno, topic by topic."""
    if lists.numbers is not None or lists.remarks or any(type(each) is not dict for each in lists.documents):
        return None
    held = [(topic, each) for topic, each in zip(lists.topics, lists.documents, strict=True) if each]
    topics, docno = [topic for topic, _ in held], [*chain.from_iterable(each for _, each in held)]
    value = _numbers([*chain.from_iterable(each.values() for _, each in held)])
    if value is None or {*map(type, topics), *map(type, docno)} != {str} or not (all(docno) and all(topics)):
        return None
    text = "".join(chain(topics, docno))
    if " " in text or not text.isascii() or not text.isprintable():
        return None
    sizes = np.array([len(each) for _, each in held])
    key = np.fromiter(map(hash, docno), dtype=np.int64, count=len(docno)).view(np.uint64)
    own = np.fromiter(map(hash, topics), dtype=np.int64, count=len(topics)).view(np.uint64)
    return _made(topics, sizes, docno, value, np.repeat(own * _MIXERS[0], sizes) ^ key, layout.number)


def _numbers(values: Sequence[Any]) -> Floats | None:
    """Return numbers, Python's or NumPy's, as doubles; None if there is anything else."""
    kinds = {*map(type, values)}
    if bool in kinds or not all(issubclass(kind, float | int | np.floating | np.integer) for kind in kinds):
        return None
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        return None


def of_text(data: bytes, layout: Layout) -> Plain | None:
    """Return the lines of TREC text with one separator; a field of a run, its name, or of qrels, is always the same."""
    width = len(layout.fields)
    if len(data) > _MOST or not data.isascii() or b"\x7f" in data:
        return None
    data = data if data.endswith(b"\n") else data + b"\n"
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters <= ord(" "))
    starts = np.append(0, ends[:-1] + 1)
    between = letters[ends[: width - 1]]
    if len(ends) % width or len({*between.tolist()}) != 1 or between[0] not in b" \t" or not (ends > starts).all():
        return None
    if not (letters[ends].reshape(-1, width) == np.append(between, ord("\n"))).all():
        return None
    if layout.comments and (letters[starts[::width]] == ord("#")).any():
        return None
    start, sizes = starts.reshape(-1, width), (ends - starts).reshape(-1, width)
    if sizes.max() > _LONGEST:
        return None
    padded = data + bytes(_LONGEST)

    def field(name: str) -> Words:
        at = layout.fields.index(name)
        return _words(padded, start[:, at], sizes[:, at])

    return _of_fields(field, layout)


def _words(padded: bytes, start: Ints, size: Ints) -> Words:
    """Return the bytes of a field of each line, eight in a word, with zeros behind."""
    count = (int(size.max()) + 7) // 8
    every = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    words = np.empty((len(start), count), dtype="<u8")
    for at in range(count):
        words[:, at] = every[start + 8 * at] & _KEPT[np.clip(size - 8 * at, 0, 8)]
    return words


def _bytes(words: Words) -> npt.NDArray[np.bytes_]:
    return words.view(f"S{8 * words.shape[1]}").ravel()


def _of_fields(field: Callable[[str], Words], layout: Layout) -> Plain | None:
    is_run = layout.number == "sim"
    always, value = field("run_id" if is_run else "iter"), _decimals(field(layout.number))
    if value is None or (always[1:] != always[:-1]).any():
        return None
    topic, docno = field("qid"), field("docno")
    first = np.flatnonzero(np.append(True, (topic[1:] != topic[:-1]).any(axis=1)))
    topics = [each.decode() for each in _bytes(topic[first]).tolist()]
    key = np.zeros(len(topic), dtype=np.uint64)
    for word in (*topic.T, *docno.T):
        key = (key ^ word) * _MIXERS[1]
        key ^= key >> _HALF
    more = {"rank": lambda: _bytes(field("rank")), "label": _bytes(always[:1])[0].decode()} if is_run else {}
    return _made(topics, np.diff(first, append=len(topic)), _bytes(docno), value, key, layout.number, **more)


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
