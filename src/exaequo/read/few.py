"""Few lines: so few that to find documents by name takes less time than to make keys. In: dicts. Out: plain lines.

What is not few is read as `plain` reads it. Words and keys are made when something else than few lines is looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain, count, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from exaequo.arrays import Floats, Ints, Words
from exaequo.read.decimals import LONGEST
from exaequo.read.keys import Index
from exaequo.read.lists import Documents, Lists
from exaequo.read.plain import LARGE, Plain, numbers_of, of_dicts

#: Documents of few lines, at most.
_MOST = 500


class Few(Plain):
    """Plain lines that keep the names of the documents of each topic."""

    def __init__(self, topics: list[str], names: list[list[str]], value: Floats, number: str) -> None:
        sizes = np.array([*map(len, names)], dtype=np.int64)
        vars(self).update(topics=topics, sizes=sizes, value=value, names=names, number=number)

    names: list[list[str]]
    number: str

    @property
    def lists(self) -> Iterator[tuple[str, list[str]]]:
        """The names of the documents by topic."""
        return zip(self.topics, self.names, strict=True)

    def found(self, run: Plain) -> tuple[Ints, Ints]:
        """Return which lines of a run are here, and where."""
        if not isinstance(run, Few):
            return super().found(run)
        rows = (map(self._rows.get(topic, {}).get, names, repeat(-1)) for topic, names in run.lists)
        row = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=len(run.value))
        at = (row >= 0).nonzero()[0]
        return at, row[at]

    @cached_property
    def _rows(self) -> dict[str, dict[str, int]]:
        row = count()
        return {topic: dict(zip(names, row, strict=False)) for topic, names in self.lists}

    @cached_property
    def _arrays(self) -> Plain:
        value = iter(self.value.tolist())
        held = [dict(zip(names, value, strict=False)) for names in self.names]
        made = of_dicts(self.topics, held, self.number, few=True)
        assert made is not None  # noqa: S101 - for the type checker: few lines are plain
        return made

    @property
    def docno(self) -> npt.NDArray[np.bytes_]:
        """The document of each line."""
        return np.array([*chain.from_iterable(self.names)], dtype=np.bytes_)

    @property
    def words(self) -> Words:
        """The documents, in words."""
        return self._arrays.words

    @property
    def keys(self) -> Words:
        """The keys of the lines."""
        return self._arrays.keys

    @property
    def index(self) -> Index | None:
        """Where the keys stand."""
        return self._arrays.index


def of_lists(lists: Lists, number: str) -> Plain | None:
    """Return the lines of dicts of numbers by docno, topic by topic."""
    if lists.numbers is not None or lists.remarks or {*map(type, lists.documents)} not in ({dict}, {Documents}):
        return None
    topics = [topic for topic, each in zip(lists.topics, lists.documents, strict=True) if each]
    held = [each for each in lists.documents if each]
    few = _few(topics, held, number) if 0 < sum(map(len, held)) <= _MOST else None
    return few or of_dicts(topics, held, number)


def _few(topics: list[Any], held: list[Mapping[Any, Any]], number: str) -> Few | None:
    """Return lines; None if one of them has anything about it."""
    names = [[*each] for each in held]
    ids = [*topics, *chain.from_iterable(names)]
    if {*map(type, ids)} != {str} or len({*topics}) < len(topics):
        return None
    text = "".join(ids)
    visible = text.isascii() and text.isprintable() and " " not in text
    if not visible or not all(ids) or max(map(len, ids)) > LONGEST:
        return None
    value = numbers_of(held, len(ids) - len(topics))
    if value is None or not np.abs(value).max() < (LARGE if number == "sim" else np.inf):
        return None
    return Few(topics, names, value, number)
