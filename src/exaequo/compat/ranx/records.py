"""`Qrels` and `Run` as in ranx: topics by name, documents best first. In: dicts, frames, files. Out: the same."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from exaequo.arrays import Floats
from exaequo.compat.ranx.ordering import of_records
from exaequo.errors import BadParameter, ExaequoError
from exaequo.frames import pl
from exaequo.read import read_qrels, read_run
from exaequo.writing import write_whole

if TYPE_CHECKING:
    import pandas as pd

Number = TypeVar("Number", int, float)
Lists = dict[str, dict[str, Number]]
#: What the endings of files mean, and what `kind` can be.
_KINDS = {"json": "json", "trec": "trec", "txt": "trec", "gz": "gz", "parquet": "parquet", "parq": "parquet"}


def needed(package: str, what: str) -> Any:
    """Import a package that only this needs; say so if it is missing."""
    try:
        return import_module(package)
    except ImportError:
        raise ExaequoError(f"{what} needs {package}: pip install {package.partition('.')[0]}") from None


class Records(Generic[Number]):
    """What `Qrels` and `Run` share: `{topic: {document: number}}`."""

    #: What the number is called in exaequo, how it is read, and which kinds of files there are.
    number: ClassVar[str]
    kinds: ClassVar[Mapping[str, str]] = _KINDS

    def __init__(self, lists: Mapping[Any, Mapping[Any, Any]] | None, name: str | None) -> None:
        self.name = name
        self.sorted = False
        self._lists: Lists[Number] = {}
        if lists is not None:
            self._lists = {str(topic): self._checked(topic, each.items()) for topic, each in lists.items()}
            self.sort()

    @classmethod
    def _checked(cls, topic: object, pairs: Iterable[tuple[Any, Any]]) -> dict[str, Number]:
        try:
            return {str(docno): cls._number(value) for docno, value in pairs}
        except (TypeError, ValueError):
            raise BadParameter(f"Topic {str(topic)!r}: {cls.__name__} has {{document: {cls.number}}}.") from None

    @staticmethod
    def _number(value: Any) -> Number:
        raise NotImplementedError

    def keys(self) -> KeysView[str]:
        """Return the topics."""
        return self._lists.keys()

    def get_query_ids(self) -> list[str]:
        """Return the topics in a list."""
        return list(self._lists)

    def get_doc_ids_and_scores(self) -> list[dict[str, Number]]:
        """Return the documents of each topic."""
        return list(self._lists.values())

    @property
    def size(self) -> int:
        """How many topics there are."""
        return len(self._lists)

    def __len__(self) -> int:
        return len(self._lists)

    def __getitem__(self, q_id: str) -> dict[str, Number]:
        return dict(self._lists[q_id])

    def __repr__(self) -> str:
        return repr(self._lists)

    def add_score(self, q_id: str, doc_id: str, score: float) -> None:
        """Add a document, or change its number."""
        self._lists.setdefault(str(q_id), {}).update(self._checked(q_id, [(doc_id, score)]))
        self.sorted = False

    def add(self, q_id: str, doc_ids: Sequence[str], scores: Sequence[float]) -> None:
        """Add a topic with its documents."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(
        self, q_ids: Sequence[str], doc_ids: Sequence[Sequence[str]], scores: Sequence[Sequence[float]]
    ) -> None:
        """Add topics with their documents; those that are there are replaced."""
        for topic, docnos, values in zip(q_ids, doc_ids, scores, strict=True):
            self._lists[str(topic)] = self._checked(topic, zip(docnos, values, strict=True))
        self.sort()

    def sort(self) -> None:
        """Sort topics by name and documents by number, ties as ranx does."""
        self._lists = {topic: _ordered(self._lists[topic]) for topic in sorted(self._lists)}
        self.sorted = True

    def lists(self) -> Lists[Number]:
        """Return all lists, sorted."""
        if not self.sorted:
            self.sort()
        return self._lists

    def to_typed_list(self) -> list[Floats]:
        """Return an array for each topic: the hash of each document, and its number."""
        return [
            np.array([(hash(docno), value) for docno, value in each.items()], dtype=np.float64).reshape(-1, 2)
            for each in self.lists().values()
        ]

    def to_dict(self) -> dict[str, dict[str, Number]]:
        """Return `{topic: {document: number}}`."""
        return defaultdict(dict, {topic: dict(each) for topic, each in self._lists.items()})

    def _columns(self) -> dict[str, list[Any]]:
        rows = [(topic, docno, value) for topic, each in self._lists.items() for docno, value in each.items()]
        return {name: [row[at] for row in rows] for at, name in enumerate(("q_id", "doc_id", "score"))}

    def to_dataframe(self) -> pd.DataFrame:
        """Return a pandas frame: `q_id`, `doc_id`, `score`."""
        frame: pd.DataFrame = needed("pandas", "to_dataframe()").DataFrame(self._columns())
        return frame

    def save(self, path: str, kind: str | None = None) -> None:
        """Write a file: JSON, TREC, Parquet, or LZ4 for a run; its ending says which, or `kind` does."""
        self.lists()
        write_whole(path, _WRITERS[file_kind(path, kind, self.kinds)](self))

    def lines(self) -> Iterable[Sequence[object]]:
        """Yield the fields of each line of a TREC file."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, d: Mapping[Any, Mapping[Any, Any]], name: str | None = None) -> Self:
        """Make one of `{topic: {document: number}}`."""
        made = cls(None, None)
        Records.__init__(made, d, name)
        return made

    @classmethod
    def _read(cls, data: Any, name: str | None = None, **asked: Any) -> Self:
        """Read whatever exaequo reads, with its checks."""
        read = read_run(data, **asked) if cls.number == "sim" else read_qrels(data, **asked)
        by_topic = read.frame.group_by("qid", maintain_order=True).agg("docno", cls.number)
        lists = {topic: dict(zip(docnos, values, strict=True)) for topic, docnos, values in by_topic.rows()}
        return cls.from_dict(lists, name or getattr(read, "name", None))

    @classmethod
    def from_file(cls, path: str, kind: str | None = None, name: str | None = None) -> Self:
        """Read a file: JSON, TREC (also packed), Parquet, or LZ4 for a run; its ending says which, or `kind` does."""
        chosen = file_kind(path, kind, cls.kinds)
        if chosen == "json":
            return cls.from_dict(json.loads(Path(path).read_bytes()), name)
        if chosen == "lz4":
            pack, cbor = needed("lz4.frame", "An .lz4 file"), needed("cbor2", "An .lz4 file")
            return cls.from_dict(cbor.loads(pack.decompress(pack.decompress(Path(path).read_bytes()))), name)
        return cls.from_parquet(path, name=name) if chosen == "parquet" else cls._read(path, name, reader="trec")

    @classmethod
    def from_df(
        cls,
        df: Any,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        name: str | None = None,
    ) -> Self:
        """Make one of a frame, of pandas or Polars; ids may be numbers."""
        made = cls._read(df, name, columns={"qid": q_id_col, "docno": doc_id_col, cls.number: score_col})
        made.name = name
        return made

    @classmethod
    def from_parquet(
        cls,
        path: str,
        q_id_col: str = "q_id",
        doc_id_col: str = "doc_id",
        score_col: str = "score",
        pd_kwargs: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """Read a Parquet file; with `pd_kwargs`, as pandas reads it."""
        data = needed("pandas", "pd_kwargs").read_parquet(path, **pd_kwargs) if pd_kwargs else pl.read_parquet(path)
        return cls.from_df(data, q_id_col, doc_id_col, score_col, name)


def _ordered(documents: dict[str, Number]) -> dict[str, Number]:
    names, values = list(documents), list(documents.values())
    return {names[at]: values[at] for at in of_records(values)}


def file_kind(path: str, kind: str | None, kinds: Mapping[str, str] = _KINDS) -> str:
    """Return what kind of file this is: what was said, or what its ending says."""
    chosen = kind or kinds.get(Path(path).suffix[1:], "another ending")
    if chosen not in kinds.values():
        known = ", ".join(dict.fromkeys(kinds.values()))
        raise BadParameter(f"{path}: the kind of file must be one of {known}. Got {chosen} instead.")
    return chosen


def _trec(records: Records[Any]) -> bytes:
    lines = [[str(field) for field in fields] for fields in records.lines()]
    for fields in lines:
        if any(field.split() != [field] for field in fields):
            raise BadParameter(f"Names with blanks have no place in a TREC file: {' | '.join(fields)}. Save as JSON.")
    return "".join(f"{' '.join(fields)}\n" for fields in lines).encode()


def _parquet(records: Records[Any]) -> bytes:
    from io import BytesIO

    file = BytesIO()
    pl.DataFrame(records._columns()).write_parquet(file)
    return file.getvalue()


def _gzip(records: Records[Any]) -> bytes:
    import gzip

    return gzip.compress(_trec(records))


def _lz4(records: Records[Any]) -> bytes:
    pack, cbor = needed("lz4.frame", "An .lz4 file"), needed("cbor2", "An .lz4 file")
    packed: bytes = pack.compress(pack.compress(cbor.dumps(records.to_dict())))
    return packed


_WRITERS: dict[str, Callable[[Records[Any]], bytes]] = {
    "json": lambda records: json.dumps(records.to_dict(), indent=2, ensure_ascii=False).encode(),
    "trec": _trec,
    "gz": _gzip,
    "parquet": _parquet,
    "lz4": _lz4,
}


class Qrels(Records[int]):
    """Judgments: `Qrels({"q1": {"d1": 2}})`. Grades are whole numbers."""

    number = "rel"

    def __init__(self, qrels: Mapping[Any, Mapping[Any, Any]] | None = None, name: str | None = None) -> None:
        """Sort judgments, or begin without any."""
        super().__init__(qrels, name)

    @staticmethod
    def _number(value: Any) -> int:
        if int(value) != float(value):
            raise ValueError
        return int(value)

    @property
    def qrels(self) -> Lists[int]:
        """The judgments, topic by topic."""
        return self._lists

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Lower all grades so that this one becomes 1."""
        lowered = {topic: {d: grade - (rel_lvl - 1) for d, grade in each.items()} for topic, each in self.qrels.items()}
        self._lists = lowered

    def save(self, path: str = "qrels.json", kind: str | None = None) -> None:
        """Write a file: JSON, TREC or Parquet."""
        super().save(path, kind)

    def lines(self) -> Iterable[Sequence[object]]:
        """Yield the fields of each line of a TREC file."""
        return ((topic, 0, docno, grade) for topic, each in self.qrels.items() for docno, grade in each.items())

    @staticmethod
    def from_ir_datasets(dataset_id: str) -> Qrels:
        """Load the judgments of a dataset; what is missing, ir_datasets downloads."""
        loaded = needed("ir_datasets", "from_ir_datasets()").load(dataset_id)
        return Qrels.from_dict(loaded.qrels_dict(), dataset_id)


class Run(Records[float]):
    """What a system returned: `Run({"q1": {"d1": 0.7}}, name="bm25")`; `evaluate` leaves its scores here."""

    number = "sim"
    kinds: ClassVar[Mapping[str, str]] = {**_KINDS, "lz4": "lz4"}

    def __init__(self, run: Mapping[Any, Mapping[Any, Any]] | None = None, name: str | None = None) -> None:
        """Sort lists, or begin without any."""
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: dict[str, dict[str, float]] = defaultdict(dict)
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}

    @staticmethod
    def _number(value: Any) -> float:
        return float(value)

    @property
    def run(self) -> Lists[float]:
        """The lists, topic by topic."""
        return self._lists

    def make_comparable(self, qrels: Qrels) -> Run:
        """Keep the judged topics, add empty lists for those that are missing, sort again."""
        self._lists = {topic: self._lists.get(topic, {}) for topic in qrels.qrels}
        self.sort()
        return self

    def save(self, path: str = "run.json", kind: str | None = None) -> None:
        """Write a file: JSON, TREC, Parquet or LZ4."""
        super().save(path, kind)

    def lines(self) -> Iterable[Sequence[object]]:
        """Yield the fields of each line of a TREC file."""
        for topic, each in self.run.items():
            for rank, (docno, score) in enumerate(each.items(), 1):
                yield topic, "Q0", docno, rank, score, self.name or "run"

    @staticmethod
    def from_ranxhub(id: str) -> Run:  # noqa: A002 - the original's name for it
        """Refuse: nothing is downloaded here."""
        raise ExaequoError(f"exaequo downloads nothing; get {id!r} with ranx.Run.from_ranxhub, and save it.")


def get_file_kind(path: str, kind: str | None = None) -> str:
    """Return what kind of file this is, as `ranx.data_structures` tells it."""
    return file_kind(path, kind, Run.kinds)
