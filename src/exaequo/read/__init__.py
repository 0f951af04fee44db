"""Reading: text or tables in, `Run` and `Qrels` out. Bad input stops here, with file and line."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from exaequo.choices import READERS
from exaequo.errors import BadParameter, InputError, bad_input
from exaequo.frames import pl
from exaequo.read import datasets, golden, objects, tables, trec
from exaequo.read.few import of_lists
from exaequo.read.foreign import refuse_foreign
from exaequo.read.metadata import header_of, read_metadata, write_metadata
from exaequo.read.oddities import oddities
from exaequo.read.places import Place
from exaequo.read.plain import Plain, of_text
from exaequo.read.records import Qrels, Run, by_subtopic, repeated
from exaequo.read.source import Mend, Source, is_packed, load
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
    mend: bool = False,
) -> Run:
    """Read a run from a path (`-` is standard input) or from an object.

    `name` replaces the name the run gives itself. `reader` says what a file is when its name does not (`"trec"`,
    `"csv"`, `"tsv"`, `"jsonl"`, `"json"`, `"parquet"`). `columns` maps `qid`, `docno`, `sim`, `rank`, `run_id` to the
    names that a table, or a record, has. `digest` asks for the SHA-256 of the file. `mend` puts right what can be
    without a guess, as `run.source.mended` says: lines of column names, documents that are there again, …
    """
    if isinstance(data, Run):
        return data if name is None else data.named(name)
    frame, source = _read(data, trec.RUN, name or "run", _Asked(reader, columns, digest, mend))
    if isinstance(frame, Plain):
        its_own = frame.label or getattr(data, "name", None)
        name = name or (its_own if isinstance(its_own, str) and its_own else source.stem)
        return Run.of(frame, name=name, source=source)
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
    mend: bool = False,
) -> Qrels:
    """Read judgments from a path (`-` is standard input) or from an object; parameters as for `read_run`.

    `ir:DATASET` are those of a collection that ir_datasets knows.
    """
    if isinstance(data, Qrels):
        return data
    frame, source = _read(data, trec.QRELS, "qrels", _Asked(reader, columns, digest, mend))
    if isinstance(frame, Plain):
        return Qrels.of(frame, source=source)
    return by_subtopic(frame, source)


def read_runs(
    runs: RunsLike, *, columns: Mapping[str, str] | None = None, digest: bool = False, mend: bool = False
) -> Iterator[Run]:
    """Read one run or many, one after the other."""
    for name, run in each_run(runs):
        yield read_run(run, name=name, columns=columns, digest=digest, mend=mend)


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


def read_qrels_files(paths: Sequence[str], *, mend: bool = False) -> Qrels:
    """Read judgments that lie in several files, as if they were one."""
    if len(paths) == 1:
        return read_qrels(paths[0], mend=mend)
    read = [_read(path, trec.QRELS, "qrels", _Asked(mend=mend, plain=False)) for path in paths]
    frame = pl.concat([frame for frame, _ in read if isinstance(frame, pl.DataFrame)], how="diagonal")
    again = repeated(frame, subtopics=True)
    if again is not None:
        qid, docno = again.select("qid", "docno").row(0)
        found = f"document {docno!r} of topic {qid!r} is judged in more than one file"
        raise bad_input(paths[0], found, "each document once", "Delete one of the judgments.")
    remarks, mended = (tuple(chain(*(getattr(each, what) for _, each in read))) for what in ("remarks", "mended"))
    first = replace(read[0][1], remarks=remarks, mended=mended)
    return by_subtopic(frame, first)


class _Asked(NamedTuple):
    """How something is to be read, as `read_run` says; `plain` allows for lines that are no table."""

    reader: str | None = None
    columns: Mapping[str, str] | None = None
    digest: bool = False
    mend: bool = False
    plain: bool = True


def _read(data: object, layout: trec.Layout, name: str, asked: _Asked) -> tuple[pl.DataFrame | Plain, Source]:
    reader, columns = asked.reader, asked.columns
    if reader is not None and reader not in READERS:
        raise BadParameter(f"reader must be one of {', '.join(READERS)}. Got {reader!r} instead.")
    for ours in columns or ():
        if ours not in tables.ALIASES:
            hint = did_you_mean(ours, tables.ALIASES) or "."
            raise BadParameter(f"columns names {', '.join(tables.ALIASES)}. Got {ours!r} instead{hint}")
    if not isinstance(data, str | os.PathLike):
        try:
            return _read_object(data, layout, name, asked)
        except UnicodeEncodeError as error:  # as JSON that was cut has it
            raise bad_input(name, f"{error.object!r:.40} holds half a character", "text", "Mend the text.") from None
    path = os.fspath(data)
    if layout is trec.QRELS and datasets.is_named(path):
        return _parsed(*datasets.judgments(path, digest=asked.digest), "trec", layout, None, plain=asked.plain)
    content, source = load(path, digest=asked.digest, marked=asked.mend)
    kind = _kind_of(path, content, layout, reader)
    try:
        return _parsed(content, source, kind, layout, columns, plain=asked.plain)
    except InputError:
        if not asked.mend:
            raise
    from exaequo.read.mends import mended

    content, now, done = mended(content, kind, layout, source, columns)
    columns = columns if now == kind else None
    return _parsed(content, replace(source, mended=done), now, layout, columns, plain=asked.plain)


def _kind_of(path: str, content: bytes, layout: trec.Layout, reader: str | None) -> str:
    """Return what a file is: TREC text may have the name of a table."""
    kind = reader or tables.kind_of(path, "trec")
    return "trec" if reader is None and kind in ("csv", "tsv") and trec.is_text(content, layout) else kind


def mended_file(
    path: str, *, judgments: bool, reader: str | None = None, columns: Mapping[str, str] | None = None
) -> tuple[str, bytes]:
    """Return a file of judgments, or a run, as `mend` puts it right, and a name for it: that of a table is .csv."""
    from exaequo.read.mends import mended

    layout = trec.QRELS if judgments else trec.RUN
    content, source = load(path, marked=True)
    kind = _kind_of(path, content, layout, reader)
    content, now, _ = mended(content, kind, layout, source, columns)
    name = Path(source.name)
    if now != "trec":
        return f"{source.stem}.{now}", content
    return name.stem if is_packed(path) else name.name, re.sub(rb"\n\s*\n", b"\n", content).lstrip()


def _parsed(
    content: bytes, source: Source, kind: str, layout: trec.Layout, columns: Mapping[str, str] | None, *, plain: bool
) -> tuple[pl.DataFrame | Plain, Source]:
    """Read a whole file of this kind."""
    if kind == "trec":
        return _read_text(content, layout, source, plain=plain)
    frame, odd = tables.parse(content, kind, layout, source.name, columns)
    return frame, replace(source, remarks=(*odd, *oddities(frame, layout, source.name, content)))


def _read_text(
    content: bytes, layout: trec.Layout, source: Source, *, plain: bool
) -> tuple[pl.DataFrame | Plain, Source]:
    header, start = header_of(content, source.name)
    source = replace(source, header=header)
    layout = trec.layout_of(content, start) if layout is trec.QRELS else layout
    refuse_foreign(content, source.name, layout.what)
    lines = of_text(content[start:], layout) if plain and layout in (trec.RUN, trec.QRELS) else None
    if lines is not None:
        return lines, source
    unused = ("iter",) if layout is trec.RUN else ()
    frame = trec.parse(content, layout, source.name, subtopics=layout is trec.QRELS, start=start, unused=unused)
    remarks = oddities(frame, layout, source.name, content, table=False)
    return trec.with_chances(frame), replace(source, remarks=(*remarks,))


def _read_object(data: object, layout: trec.Layout, name: str, asked: _Asked) -> tuple[pl.DataFrame | Plain, Source]:
    if isinstance(data, Iterator):
        data = list(data)
    records = objects.records_of(data)
    lists = golden.found_in(records, layout, name, asked.columns or {})
    if lists is not None:
        plain = of_lists(lists, layout.number)
    else:
        table, no_text = objects.to_table(records, name)
        plain = None if no_text else tables.plain(table, layout, name, asked.columns)
    if plain is not None:
        return plain, Source(name)

    def parsed(*, repeats: bool) -> tuple[pl.DataFrame, tuple[str, ...]]:
        if lists is not None:
            return tables.from_lists(lists, layout, name, repeats=repeats)
        return tables.normalise(table, Place(name, no_text=no_text), layout, asked.columns, repeats=repeats), ()

    done: tuple[Mend, ...] = ()
    try:
        frame, odd = parsed(repeats=False)
    except InputError:
        if not asked.mend:
            raise
        from exaequo.read.mends import once

        frame, odd = parsed(repeats=True)
        frame, done = once(frame, layout, name)
        if repeated(frame, subtopics=True) is not None:
            raise
    return frame, Source(name, remarks=(*odd, *oddities(frame, layout, name)), mended=done)


def unique_names(named: Sequence[tuple[str, str]]) -> list[str]:
    """Make the names of (name, file) pairs unique: shared ones add the file's name, or its path if that is shared."""
    if len({name for name, _ in named}) == len(named):
        return [name for name, _ in named]
    names = Counter(name for name, _ in named)
    files = Counter((name, Path(file).name) for name, file in named)
    unique: dict[str, None] = {}
    last: Counter[str] = Counter()
    for name, file in named:
        label = Path(file).name
        if files[name, label] > 1:
            label = file
        own = whole = name if names[name] == 1 or file == name else f"{name} ({label})"
        while own in unique:
            last[whole] += 1
            own = f"{whole} #{last[whole] + 1}"
        unique[own] = None
    return [*unique]
