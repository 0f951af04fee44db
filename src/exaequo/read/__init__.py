"""Reading: text or tables in, `Run` and `Qrels` out. Bad input stops here, with file and line."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from exaequo.choices import READERS
from exaequo.errors import BadParameter, bad_input
from exaequo.read import golden, objects, tables, trec
from exaequo.read.metadata import header_of, read_metadata, write_metadata
from exaequo.read.oddities import oddities
from exaequo.read.places import Place
from exaequo.read.records import Qrels, Run, by_subtopic, repeated
from exaequo.read.source import Source, load
from exaequo.text import did_you_mean

__all__ = [
    "Qrels",
    "QrelsLike",
    "Run",
    "RunLike",
    "RunsLike",
    "Source",
    "each_run",
    "read_metadata",
    "read_qrels",
    "read_qrels_files",
    "read_run",
    "read_runs",
    "unique_names",
    "write_metadata",
]

#: What can be read as a run or as qrels: a path, a frame, a dict of dicts or of lists, an iterable of records.
RunLike: TypeAlias = "Run | str | os.PathLike[str] | Mapping[Any, Any] | pl.DataFrame | Iterable[Any] | Any"
RunsLike: TypeAlias = "RunLike | Sequence[RunLike] | Mapping[str, RunLike]"
QrelsLike: TypeAlias = "Qrels | str | os.PathLike[str] | Mapping[Any, Any] | pl.DataFrame | Iterable[Any] | Any"


def read_run(
    data: RunLike,
    *,
    name: str | None = None,
    reader: str | None = None,
    columns: Mapping[str, str] | None = None,
    digest: bool = False,
) -> Run:
    """Read a run from a path (`-` is standard input) or from an object.

    `name` replaces the name the run gives itself. `reader` says what a file is when its name does not (`"trec"`,
    `"csv"`, `"tsv"`, `"jsonl"`, `"json"`, `"parquet"`). `columns` maps `qid`, `docno`, `sim`, `rank`, `run_id` to the
    names that a table, or a record, has. `digest` asks for the SHA-256 of the file.
    """
    if isinstance(data, Run):
        return data if name is None else replace(data, name=name)
    frame, source = _read(data, trec.RUN, name or "run", reader, columns, digest)
    ids = frame["run_id"].fill_null("") if "run_id" in frame.columns else None
    n_names = 1 if ids is None or (ids == ids[0]).all() else ids.n_unique()
    if name is None:
        its_own = ids[0] if ids is not None else getattr(data, "name", None)
        name = str(its_own) if isinstance(its_own, str) and its_own else source.stem
    kept = [column for column in ("qid", "docno", "sim", "rank", "key") if column in frame.columns]
    return Run(name, frame.select(kept), source, n_names)


def read_qrels(
    data: QrelsLike,
    *,
    reader: str | None = None,
    columns: Mapping[str, str] | None = None,
    digest: bool = False,
) -> Qrels:
    """Read judgments from a path (`-` is standard input) or from an object; parameters as for `read_run`."""
    if isinstance(data, Qrels):
        return data
    frame, source = _read(data, trec.QRELS, "qrels", reader, columns, digest)
    return by_subtopic(frame, source)


def read_runs(runs: RunsLike, *, columns: Mapping[str, str] | None = None, digest: bool = False) -> Iterator[Run]:
    """Read one run or many, one after the other."""
    for name, run in each_run(runs):
        yield read_run(run, name=name, columns=columns, digest=digest)


def each_run(runs: Any) -> list[tuple[str | None, RunLike]]:
    """Tell one run from many: a dict is one run if its values are documents, a list is one if it has records."""
    if isinstance(runs, Mapping):
        one = golden.is_one(runs)
        return [(None, runs)] if one else [(str(name), run) for name, run in runs.items()]
    if isinstance(runs, Iterator):
        runs = list(runs)
    if not isinstance(runs, list | tuple) or (runs and (hasattr(runs[0], "_fields") or golden.is_record(runs[0]))):
        return [(None, runs)]
    return [(None, run) for run in runs]


def read_qrels_files(paths: Sequence[str]) -> Qrels:
    """Read judgments that lie in several files, as if they were one."""
    if len(paths) == 1:
        return read_qrels(paths[0])
    read = [_read(path, trec.QRELS, "qrels", None, None, False) for path in paths]
    frame = pl.concat([frame for frame, _ in read], how="diagonal")
    again = repeated(frame, subtopics=True)
    if again is not None:
        qid, docno = again.select("qid", "docno").row(0)
        found = f"document {docno!r} of topic {qid!r} is judged in more than one file"
        raise bad_input(paths[0], found, "each document once", "Delete one of the judgments.")
    first = replace(read[0][1], remarks=tuple(remark for _, source in read for remark in source.remarks))
    return by_subtopic(frame, first)


def _read(
    data: object,
    layout: trec.Layout,
    name: str,
    reader: str | None,
    columns: Mapping[str, str] | None,
    digest: bool,
) -> tuple[pl.DataFrame, Source]:
    if reader is not None and reader not in READERS:
        raise BadParameter(f"reader must be one of {', '.join(READERS)}. Got {reader!r} instead.")
    for ours in columns or ():
        if ours not in tables.ALIASES:
            hint = did_you_mean(ours, tables.ALIASES) or "."
            raise BadParameter(f"columns names {', '.join(tables.ALIASES)}. Got {ours!r} instead{hint}")
    if not isinstance(data, str | os.PathLike):
        frame, odd = _read_object(data, layout, name, columns)
        return frame, Source(name, remarks=(*odd, *oddities(frame, layout, name)))
    path = os.fspath(data)
    kind = reader or tables.kind_of(path, "trec")
    content, source = load(path, digest=digest)
    if kind == "trec":
        header, start = header_of(content, source.name)
        layout = trec.layout_of(content, start) if layout is trec.QRELS else layout
        unused = ("iter",) if layout is trec.RUN else ()
        frame = trec.parse(content, layout, source.name, subtopics=layout is trec.QRELS, start=start, unused=unused)
        remarks = oddities(frame, layout, source.name, content, table=False)
        return trec.with_chances(frame), replace(source, header=header, remarks=(*remarks,))
    frame, odd = tables.parse(content, kind, layout, source.name, columns)
    return frame, replace(source, remarks=(*odd, *oddities(frame, layout, source.name, content)))


def _read_object(
    data: object, layout: trec.Layout, name: str, columns: Mapping[str, str] | None
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    if isinstance(data, Iterator):
        data = list(data)
    lists = golden.found_in(objects.records_of(data), layout, name, columns or {})
    if lists is not None:
        return tables.from_lists(lists, layout, name)
    table, no_text = objects.to_table(data, layout, name)
    return tables.normalise(table, Place(name, no_text=no_text), layout, columns), ()


def unique_names(named: Sequence[tuple[str, str]]) -> list[str]:
    """Make the names of (name, file) pairs unique: shared ones add the file's name, or its path if that is shared."""
    names = Counter(name for name, _ in named)
    files = Counter((name, Path(file).name) for name, file in named)
    unique: list[str] = []
    for name, file in named:
        label = Path(file).name
        if files[name, label] > 1:
            label = file
        whole = name if names[name] == 1 or file == name else f"{name} ({label})"
        numbered = (f"{whole} #{number}" for number in count(2))
        unique.append(next(each for each in chain([whole], numbered) if each not in unique))
    return unique
