"""Lists of documents, topic by topic: ranked ids, relevant ids, pairs, records. Out: a frame as from a table.

A list without scores is in order: the first of n gets n, the last 1, and nothing is tied. Relevant ids without grades
have grade 1. No library is imported to recognise its documents: they have an id, perhaps a score, under a known name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, NoReturn

import numpy as np

from exaequo.errors import InputError, bad_input
from exaequo.frames import pl
from exaequo.read.places import IDS, Place
from exaequo.read.trec import RUN, Layout
from exaequo.text import count, listed

#: What documents call their ids and numbers: ours, those of records, of LangChain, LlamaIndex, Haystack; where they are
#: wrapped, what holds them.
DOCNOS = ("docno", "doc_id", "docid", "document_id", "corpus-id", "corpus_id")
_DOC_IDS = (*DOCNOS, "node_id", "chunk_id", "id", "_id", "id_")
_DOC_NUMBERS = {"sim": ("sim", "score", "similarity"), "rel": ("rel", "relevance", "grade", "label", "score")}
_HOLDERS = ("node", "document", "doc", "metadata", "meta")
_ALIKE = "Write all of them in the same way."


@dataclass(frozen=True)
class Lists:
    """Topics, the documents of each, perhaps numbers beside them; what topics are called, and their lines."""

    topics: list[Any]
    documents: list[Any]
    numbers: list[Any] | None
    label: Callable[[int], str]
    lines: Sequence[int] = ()
    #: What the documents, and the numbers, are called.
    field: str = ""
    other: str = ""
    remarks: tuple[str, ...] = ()

    def refuse(self, name: str, at: int, found: str, expected: str, mend: str) -> NoReturn:
        """Raise InputError at a topic."""
        line = self.lines[at] if self.lines else None
        raise bad_input(name, f"{self.label(at)}: {found}", expected, mend, line=line)


class Documents(Mapping[str, float]):
    """Documents and their numbers, side by side: to make a dict of them takes as long as to evaluate them."""

    def __init__(self, names: list[str], numbers: list[float]) -> None:
        self._names, self._numbers = names, numbers

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getitem__(self, name: str) -> float:
        return dict(zip(self._names, self._numbers, strict=True))[name]

    def values(self) -> Any:
        """Return the numbers."""
        return self._numbers


def by_topic(data: Mapping[Any, Any], lines: Sequence[int] = ()) -> Lists:
    """Return the lists of `{qid: documents}`."""
    topics = list(data)
    return Lists(topics, list(data.values()), None, lambda at: f"topic {topics[at]!r}", lines)


def flat(lists: Lists, layout: Layout, name: str) -> tuple[pl.DataFrame, Place]:
    """Return a row per document, `qid, docno`, the number and, of ranked lists, `rank`; and how rows are called."""
    held = _held(lists, layout, name)
    sizes = [len(each) for each in held]
    ends = np.cumsum(sizes)
    place = _place(lists, name, ends, ranked=not _by_docno(held))
    topics = ids(lists.topics, "topic", Place(name, lines=lists.lines, label=lists.label if lists.field else None))
    found, values = _columns(lists, held, layout, name)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    columns = [topics[owner].rename("qid"), ids(found, "document", place).rename("docno")]
    if _by_docno(held):
        return pl.DataFrame([*columns, floats(values or [], layout.number)]), place
    rank = np.arange(len(owner)) - (ends - sizes)[owner] + 1
    if values is None:
        given = (np.array(sizes)[owner] - rank + 1).astype(np.float64) if layout is RUN else np.ones(len(owner))
        columns.append(pl.Series(layout.number, given, dtype=pl.Float64))
    else:
        columns.append(floats(values, layout.number))
    if layout is RUN:
        columns.append(pl.Series("rank", rank).cast(pl.String))
    return pl.DataFrame(columns), place


def _by_docno(held: Sequence[Any]) -> bool:
    """Tell whether lists are numbers by docno; all are alike, but for empty ones."""
    return all(isinstance(each, Mapping) for each in held if each) and any(isinstance(each, Mapping) for each in held)


def _place(lists: Lists, name: str, ends: np.ndarray[Any, Any], *, ranked: bool) -> Place:
    """Return how documents are called: by topic or record and their place in the list."""

    def label(row: int) -> str:
        at = int(np.searchsorted(ends, row, side="right"))
        return f"{lists.label(at)}, document {row - (int(ends[at - 1]) if at else 0) + 1}"

    sizes = np.diff(ends, prepend=0)
    lines = np.repeat(np.array(lists.lines, dtype=np.int64), sizes).tolist() if lists.lines else ()
    return Place(name, lines=lines, label=label if ranked or lists.lines else None, remarks=lists.remarks)


def _held(lists: Lists, layout: Layout, name: str) -> list[Collection[Any]]:
    """Return documents as dicts or lists; refuse what is neither, and a mixture."""
    held: list[Collection[Any]] = []
    first: int | None = None
    for at, each in enumerate(lists.documents):
        documents = as_list(each)
        if documents is None or (layout is RUN and isinstance(documents, Set)):
            what = "null" if each is None else f"{type(each).__name__} {each!r:.40}"
            why = ", which has no order" if isinstance(each, Set) else ""
            mend = "Write [] if there is none." if each is None else "Give a list, or a dict with numbers."
            lists.refuse(name, at, f"{lists.field or 'it'} is {what}{why}", _expected(layout), mend)
        if len(documents):
            first = at if first is None else first
            if isinstance(documents, Mapping) != isinstance(held[first] if first < at else documents, Mapping):
                here, there = (
                    ("numbers by id", "a list") if isinstance(documents, Mapping) else ("a list", "numbers by id")
                )
                found = f"{here} here, {there} in {lists.label(first)}"
                lists.refuse(name, at, found, "lists, or dicts, in all of them", _ALIKE)
        held.append(documents)
    return held


def _expected(layout: Layout) -> str:
    return f"a list of ids, of pairs (id, {layout.number}), or {{id: {layout.number}}}"


def as_list(documents: Any) -> Collection[Any] | None:
    """Return what stands for documents as a dict, a set or a list; None if it is none."""
    if isinstance(documents, Mapping | list | tuple | Set):
        return documents
    for convert in ("tolist", "to_list"):  # arrays and columns
        if hasattr(documents, convert):
            made: Any = getattr(documents, convert)()
            return made if isinstance(made, list) else None
    other = isinstance(documents, str | bytes) or hasattr(documents, "columns")  # a frame is one of columns
    return list(documents) if isinstance(documents, Iterable) and not other else None


def _columns(
    lists: Lists, held: Sequence[Collection[Any]], layout: Layout, name: str
) -> tuple[list[Any], list[Any] | None]:
    """Return the ids of all documents and their numbers, None if they have none."""
    items = list(chain.from_iterable(held))
    if _by_docno(held):
        return items, list(chain.from_iterable(each.values() for each in held if isinstance(each, Mapping)))
    kinds = {kind: _shape(kind) for kind in set(map(type, items))}
    if len({*kinds.values()}) > 1:
        _refuse_mixture(lists, held, kinds, name)
    shape = next(iter(kinds.values()), _ID)
    numbers: list[Any] | None = None
    if shape == _OTHER:
        at = next(at for at, each in enumerate(held) if each)
        lists.refuse(name, at, f"document {items[0]!r} is {type(items[0]).__name__}", IDS, "Convert the ids.")
    if shape == _PAIR:
        if {*map(len, items)} != {2}:
            at, odd = next((at, it) for at, each in enumerate(held) for it in each if len(it) != 2)
            what = f"{odd!r:.40} has {count(len(odd), 'part')}"
            lists.refuse(name, at, what, f"pairs (id, {layout.number})", "Give two to each.")
        items, numbers = [pair[0] for pair in items], [pair[1] for pair in items]
        shape = _DOCUMENT if items and _shape(type(items[0])) == _DOCUMENT else _ID
    if shape == _DOCUMENT:
        try:
            items, its_own = _parts(items, layout)
        except (LookupError, AttributeError, TypeError):
            _refuse_nameless(lists, held, name)
        numbers = its_own if numbers is None else numbers
    return items, numbers if lists.numbers is None else _beside(lists, held, numbers, name)


def _beside(lists: Lists, held: Sequence[Collection[Any]], own: list[Any] | None, name: str) -> list[Any]:
    """Return the numbers that stand in lists beside those of the documents."""
    beside = [as_list(each) for each in lists.numbers or ()]
    for at, (documents, numbers) in enumerate(zip(held, beside, strict=True)):
        if numbers is None or isinstance(numbers, Mapping | Set):
            lists.refuse(name, at, f"{lists.other} is no list", "a number for each document", "Give a list of numbers.")
        if len(numbers) != len(documents):
            found = (
                f"{lists.field} has {count(len(documents), 'document')}, {lists.other} {count(len(numbers), 'number')}"
            )
            lists.refuse(name, at, found, "as many of both", "Mend one of the lists.")
    if own is not None:
        lists.refuse(name, 0, f"numbers both in {lists.field} and in {lists.other}", "one of them", "Leave out one.")
    return list(chain.from_iterable(each for each in beside if each is not None))


_ID, _PAIR, _DOCUMENT, _OTHER = "an id", "a pair", "a document", "no id"


def _shape(kind: type) -> str:
    """Return what objects of a type are in a list of documents."""
    if issubclass(kind, str | int | np.integer) and kind is not bool:
        return _ID
    if issubclass(kind, tuple | list) and not hasattr(kind, "_fields"):
        return _PAIR
    plain = issubclass(kind, bytes | bool | float | complex | np.generic | Set) or kind is type(None)
    return _OTHER if plain else _DOCUMENT


def _refuse_mixture(lists: Lists, held: Sequence[Collection[Any]], kinds: Mapping[type, str], name: str) -> NoReturn:
    """Refuse the first document that is not like the first one."""
    shapes = [(at, each) for at, documents in enumerate(held) for each in documents]
    first = kinds[type(shapes[0][1])]
    at, odd = next((at, each) for at, each in shapes if kinds[type(each)] != first)
    found = f"{odd!r:.40} is {kinds[type(odd)]}, the first of all lists {first}"
    lists.refuse(name, at, found, "ids, or pairs, or records, in all of them", _ALIKE)


def _refuse_nameless(lists: Lists, held: Sequence[Collection[Any]], name: str) -> NoReturn:
    """Refuse the first document that has no id where the first of all has it, or none at all."""
    items = [(at, each[0] if isinstance(each, tuple | list) else each) for at, docs in enumerate(held) for each in docs]
    getter = _getter(items[0][1], _DOC_IDS)
    for at, each in items:
        try:
            lacking = getter is None or getter(each) is None
        except (LookupError, AttributeError, TypeError):
            lacking = True
        if lacking:
            has = f", only {listed(list(each), 6)}" if isinstance(each, Mapping) else ""
            found = f"a {type(each).__name__} without an id{has}"
            lists.refuse(name, at, found, listed(list(_DOC_IDS), len(_DOC_IDS)), "Give ids.")
    raise AssertionError  # pragma: no cover - one of them was the reason to look


def _parts(items: list[Any], layout: Layout) -> tuple[list[Any], list[Any] | None]:
    """Return ids and numbers of documents that are records or objects: under the names that the first has."""
    getter = _getter(items[0], _DOC_IDS)
    if getter is None:
        raise LookupError
    number = _getter(items[0], _DOC_NUMBERS[layout.number])
    found = list(map(getter, items))
    if None in found:
        raise LookupError
    return found, None if number is None else list(map(number, items))


def _getter(item: Any, names: Sequence[str], holders: Sequence[str] = _HOLDERS) -> Callable[[Any], Any] | None:
    """Return what gets the first of these fields that an item, or what it holds, has; None if it has none."""
    inside = isinstance(item, Mapping)
    for field in names:
        if (item.get(field) if inside else getattr(item, field, None)) is not None:
            return itemgetter(field) if inside else attrgetter(field)
    for holder in holders:
        held = item.get(holder) if inside else getattr(item, holder, None)
        if held is None or isinstance(held, str | int | float):
            continue
        inner, outer = _getter(held, names, ()), itemgetter(holder) if inside else attrgetter(holder)
        if inner is not None:
            return _composed(outer, inner)
    return None


def _composed(outer: Callable[[Any], Any], inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda each: inner(outer(each))


def ids(given: list[Any], what: str, place: Place) -> pl.Series:
    """Return ids as strings; None, bytes and reals are none."""
    try:
        series = pl.Series(given, dtype=pl.String)  # refuses all that is not text
        if not series.null_count():
            return series
    except (TypeError, OverflowError):
        pass
    for row, each in enumerate(given):
        if not isinstance(each, str | int | np.integer):
            found = f"{what} {each!r} is {type(each).__name__}"
            if place.label is None:
                raise bad_input(place.name, found, IDS, "Convert the ids.")
            raise InputError(place.problem(row, found, IDS, "Convert the ids."))
    return pl.Series([str(each) for each in given], dtype=pl.String)


def is_missing(value: Any) -> bool:
    """Tell None, NaN and pandas' NA, none of which can be told by comparing."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def floats(values: list[Any], name: str) -> pl.Series:
    """Numbers of any kind (Python's, NumPy's) as doubles; what is not a number stays text and is refused later."""
    try:
        if set(map(type, values)) <= {float, int}:
            numbers = pl.Series(name, np.array(values, dtype=np.float64))
            return numbers.fill_nan(None) if numbers.is_nan().any() else numbers
        return pl.Series(name, [None if is_missing(value) else float(value) for value in values], dtype=pl.Float64)
    except (TypeError, ValueError, OverflowError):
        return pl.Series(name, [None if is_missing(value) else str(value) for value in values], dtype=pl.String)
