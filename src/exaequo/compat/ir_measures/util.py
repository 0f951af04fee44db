"""Records of ir_measures, read from files and turned from one form into another: dicts, frames, named tuples."""

from __future__ import annotations

import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, tee
from pathlib import Path
from typing import Any, ClassVar

from exaequo.compat.ir_measures import lazylibs
from exaequo.compat.ir_measures.notation import convert_trec_name, parse_measure, parse_trec_measure
from exaequo.compat.ir_measures.records import (
    CalcResults,
    GenericQrel,
    GenericScoredDoc,
    Metric,
    Qrel,
    ScoredDoc,
)
from exaequo.compat.pytrec_eval import content
from exaequo.errors import BadParameter
from exaequo.read import trec
from exaequo.read.source import load

__all__ = [
    "CalcResults",
    "GenericQrel",
    "GenericScoredDoc",
    "Metric",
    "Qrel",
    "QrelsConverter",
    "RunConverter",
    "ScoredDoc",
    "convert_trec_name",
    "parse_measure",
    "parse_trec_measure",
    "parse_trec_qrels",
    "parse_trec_run",
    "read_trec_qrels",
    "read_trec_run",
]


def read_trec_qrels(file: Any) -> Iterator[Qrel]:
    """Yield judgments from a path, an open file, or text."""
    for query_id, iteration, doc_id, relevance in _rows(file, trec.QRELS):
        yield Qrel(query_id, doc_id, int(relevance) if float(relevance).is_integer() else relevance, iteration)


def read_trec_run(file: Any) -> Iterator[ScoredDoc]:
    """Yield returned documents from a path, an open file, or text."""
    for query_id, _, doc_id, _, score, _ in _rows(file, trec.RUN):
        yield ScoredDoc(query_id, doc_id, score)


def _rows(file: Any, layout: trec.Layout) -> Iterator[tuple[Any, ...]]:
    name = str(getattr(file, "name", layout.what))
    if isinstance(file, str | Path) and "\n" not in str(file):
        data, source = load(str(file))
        name = source.name
    else:
        data = content([file] if isinstance(file, str) else file)
    if not data.strip():
        return
    yield from trec.parse(data, layout, name, repeats=True).select(layout.fields).iter_rows()


def parse_trec_qrels(file: Any) -> Iterator[Qrel]:
    """Yield judgments: the old name of `read_trec_qrels`."""
    warnings.warn("parse_trec_qrels is called read_trec_qrels now.", DeprecationWarning, stacklevel=2)
    return read_trec_qrels(file)


def parse_trec_run(file: Any) -> Iterator[ScoredDoc]:
    """Yield returned documents: the old name of `read_trec_run`."""
    warnings.warn("parse_trec_run is called read_trec_run now.", DeprecationWarning, stacklevel=2)
    return read_trec_run(file)


class _Converter:
    """Records in one form, to have them in another: `predict_type` tells which it is."""

    record: ClassVar[Any]
    what: ClassVar[str]

    def __init__(self, data: Any, strict: bool = True) -> None:
        self._data, self.strict = data, strict

    def predict_type(self) -> tuple[str, str | None]:
        """Return the form, and what is wrong with the records."""
        data, needed = self._data, [f for f in self.record._fields if f not in self.record._field_defaults]
        if isinstance(data, Mapping):
            return "dict_of_dict", None
        if hasattr(data, "itertuples"):
            kind, has = "pd_dataframe", list(data.columns)
        elif isinstance(data, Iterable):
            kind, has = "namedtuple_iter", self._fields()
        else:
            return "UNKNOWN", f"{type(data).__name__} is neither a dict of dicts, nor a frame, nor records"
        missing = [name for name in needed if name not in has]
        if missing and (self.strict or kind != "pd_dataframe"):
            return "UNKNOWN", f"{', '.join(missing)} missing; there are {', '.join(map(str, has)) or 'no fields'}"
        return kind, None

    def _fields(self) -> list[str]:
        """Look at the first record, and put it back."""
        rest = iter(self._data)
        first = list(next(zip(rest, strict=False), ()))
        self._data = chain(first, rest) if isinstance(self._data, Iterator) else self._data
        return list(getattr(first[0], "_fields", ())) if first else list(self.record._fields)

    def tee(self, count: int) -> list[Any]:
        """Return as many converters, each for all records."""
        if not isinstance(self._data, Iterator):
            return [self] * count
        return [type(self)(each, self.strict) for each in tee(self._data, count)]

    def as_namedtuple_iter(self) -> Iterator[Any]:
        """Yield the records."""
        kind, error = self.predict_type()
        if kind == "UNKNOWN":
            raise BadParameter(f"Cannot read the {self.what}: {error}.")
        if kind == "dict_of_dict":
            for topic, documents in self._data.items():
                yield from (self.record(topic, docno, value) for docno, value in documents.items())
        elif kind == "pd_dataframe":
            names = [name for name in self.record._fields if name in self._data.columns]
            yield from (self.record(*row) for row in self._data[names].itertuples(index=False))
        else:
            yield from self._data

    def as_dict_of_dict(self) -> dict[str, dict[str, Any]]:
        """Return `{topic: {docno: value}}`; of a document that is there twice the last counts."""
        if isinstance(self._data, dict):
            return self._data
        nested: dict[str, dict[str, Any]] = {}
        for each in self.as_namedtuple_iter():
            nested.setdefault(each.query_id, {})[each.doc_id] = getattr(each, self.record._fields[2])
        return nested

    def as_pd_dataframe(self) -> Any:
        """Return a frame of pandas."""
        if hasattr(self._data, "itertuples") and self.predict_type()[1] is None:
            lacking = self.record._field_defaults.keys() - set(self._data.columns)
            return self._data.assign(**{name: self.record._field_defaults[name] for name in lacking})
        return lazylibs.pandas().DataFrame(self.as_namedtuple_iter(), columns=list(self.record._fields))

    @contextmanager
    def as_tmp_file(self) -> Iterator[Any]:
        """Write a file in the format of TREC, for as long as it is used."""
        with tempfile.NamedTemporaryFile(mode="w+t", encoding="utf-8") as file:
            file.writelines(map(self._line, self.as_namedtuple_iter()))
            file.flush()
            file.seek(0)
            yield file

    def _line(self, record: Any) -> str:
        raise NotImplementedError


class QrelsConverter(_Converter):
    """Judgments in one form, to have them in another."""

    record, what = Qrel, "qrels"

    @property
    def qrels(self) -> Any:
        """The judgments as they are."""
        return self._data

    def _line(self, record: Any) -> str:
        return f"{record.query_id} 0 {record.doc_id} {record.relevance}\n"


class RunConverter(_Converter):
    """A run in one form, to have it in another."""

    record, what = ScoredDoc, "run"

    @property
    def run(self) -> Any:
        """The run as it is."""
        return self._data

    def as_sorteddict(self) -> dict[str, list[Any]]:
        """Return the list of each topic, best score first, ties as they came."""
        lists: dict[str, list[Any]] = defaultdict(list)
        for each in self.as_namedtuple_iter():
            lists[each.query_id].append(each)
        return {topic: sorted(each, key=lambda doc: -doc.score) for topic, each in lists.items()}

    def as_sorted_namedtuple_iter(self) -> Iterator[Any]:
        """Yield the same, list after list."""
        return chain.from_iterable(self.as_sorteddict().values())

    def _line(self, record: Any) -> str:
        return f"{record.query_id} Q0 {record.doc_id} 0 {record.score} run\n"
