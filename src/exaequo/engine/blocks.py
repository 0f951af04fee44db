"""Blocks: runs larger than memory, topic block by topic block. In: judgments, and paths of runs. Out: `Scores`.

A list must be whole before it is evaluated. Files whose topics stand in one piece are read once; others are sorted into
files of some topics each first, in a folder that goes away again.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from exaequo.arrays import Floats
from exaequo.choices import EXPECTED
from exaequo.engine.groups import blocks
from exaequo.engine.kernel import Rows, Work, bad, judged, sound, values, wrong
from exaequo.engine.pieces import Reading, pieces
from exaequo.errors import BadParameter, ExaequoError, bad_input
from exaequo.evaluation import FileWork, prepared
from exaequo.expected import CLOSED, Expected, filled
from exaequo.frames import pl
from exaequo.judge import Judgments
from exaequo.measures import Measure
from exaequo.measures.arithmetic import spread
from exaequo.measuring import Evaluated, assembled, kept, orders_of
from exaequo.options import Options
from exaequo.read.records import SAMPLED as DRAWN
from exaequo.read.records import Qrels, starts
from exaequo.read.source import Source, called, readable, refuse_changed, unpacked_size_of, version_of
from exaequo.remarks import refuse_unjudged, remark_on_names, remarks_on_judgments, remarks_on_topics
from exaequo.scores import Scores
from exaequo.text import count

#: Files that lines are sorted into where topics are scattered, at least; and bytes of a run for which there is one.
_FILES, _PER_FILE = 64, 1 << 25
#: Bytes that say how long what follows is.
_SIZE = 8
#: Run ids that are counted.
_IDS = 1000
#: Lists that the run lacks, evaluated at a time.
_EMPTY = 20_000


class _Scattered(Exception):
    """A topic goes on after another has begun."""


def evaluate_blocks(
    qrels: Qrels,
    paths: Iterable[str],
    measures: Sequence[Measure],
    options: Options,
    *,
    reading: Reading | None = None,
    interval: bool = False,
    progress: Callable[[str, str], None] = lambda _, __: None,
) -> Scores:
    """Evaluate runs one after the other, as `evaluate_runs` does, in the memory of some blocks.

    `progress` is told the path and how much of it is done. Judgments are in memory; runs are not. Large files of clean
    TREC text are evaluated in stretches.
    """
    reading = reading or Reading()
    judgments = prepared(qrels, options)
    remarks = remarks_on_judgments(judgments, measures)
    whole = replace(options, ties=tuple(orders_of(options, interval=interval)))
    work = Work(tuple(measures), whole, reading.errors)
    clean = FileWork(
        judgments, tuple(measures), options, interval, {"reader": reading.reader, "digest": reading.digest}
    )
    topics, evaluated = cache(lambda: _Topics(qrels)), []
    for path in paths:
        tell = partial(progress, path)
        found = clean.in_stretches(path, tell)
        if found is None:
            table = _Table(judgments, topics(), work, called(path), tell)
            table.fill(path, reading)
            said = table.remarks(options)
            found = table.evaluated(options), said
        evaluated.append(found[0])
        remarks += found[1]
    if not evaluated:
        raise BadParameter("No run is given.")
    return assembled(evaluated, judgments, measures, options, remarks)


def judgments_of(qrels: Qrels) -> pl.DataFrame:
    """Return judgments as the kernel takes them: a row for each, also for each subtopic."""
    frame, more = qrels.frame, [name for name in DRAWN if name in qrels.frame.columns]
    if qrels.subtopics is None:
        return frame.select("qid", "docno", "rel", *more)
    table = qrels.subtopics
    return frame.select("qid", "docno", *more)[table["row"]].with_columns(table["subtopic"].alias("iter"), table["rel"])


class _Topics:
    """The judgments, topic after topic, so that those of some topics are found at once."""

    def __init__(self, qrels: Qrels) -> None:
        self._frame = judgments_of(qrels).sort("qid", maintain_order=True)
        self._start = starts(self._frame["qid"])
        self._size = np.diff(self._start, append=self._frame.height)
        names = self._frame["qid"][self._start]
        self._number = {name: at for at, name in enumerate(names)}

    def known(self, topics: Iterable[str]) -> list[str]:
        """Return those that are judged."""
        return [topic for topic in topics if topic in self._number]

    def of(self, topics: Sequence[str]) -> pl.DataFrame:
        """Return the judgments of topics that are judged."""
        at = np.array([self._number[topic] for topic in topics], dtype=np.int64)
        return self._frame[spread(self._start[at], self._size[at])]


class _Table:
    """The values of one run, filled in block by block."""

    def __init__(
        self, judgments: Judgments, topics: _Topics, work: Work, name: str, progress: Callable[[str], None]
    ) -> None:
        self._judgments, self._topics, self._work = judgments, topics, work
        self._source, self._progress = Source(name), progress
        self._begin()

    def _begin(self) -> None:
        shape = (len(self._work.measures), self._judgments.n_topics)
        self._values: list[Floats | Expected] = [
            Expected(np.zeros(shape), np.zeros(shape), np.zeros(shape), (CLOSED,) * shape[0])
            if ties == EXPECTED
            else np.zeros(shape)
            for ties in self._work.options.ties
        ]
        self._seen: set[str] = set()
        self._there = np.zeros(shape[1], dtype=bool)
        self._name, self._ids, self._lines, self._tied, self._dropped = "", set[str](), 0, 0, 0
        self._judged, self._document = False, ""

    def fill(self, path: str, reading: Reading) -> None:
        """Evaluate a whole file."""
        with readable(self._source.name):
            before = version_of(path)
        try:
            self._fill(blocks(self._noted(pieces(path, reading, self._hashed)), ("qid",)))
        except _Scattered:
            if not unpacked_size_of(path):  # it can be read but once
                found = "a topic goes on after another has begun"
                raise bad_input(
                    self._source.name, found, "each topic in one piece", "Sort it, or name a file."
                ) from None
            self._begin()
            with tempfile.TemporaryDirectory(prefix="exaequo-") as folder:
                files = max(_FILES, unpacked_size_of(path) // _PER_FILE)
                self._fill(_sorted(self._noted(pieces(path, reading, self._hashed)), Path(folder), files))
        with readable(self._source.name):
            refuse_changed(path, self._source.name, before)
        lacking = np.flatnonzero(~self._there)
        nothing = pl.DataFrame(schema={"qid": pl.String, "docno": pl.String, "sim": pl.Float64})
        for start in range(0, len(lacking), _EMPTY) if self._work.options.missing != "skip" else ():
            topics = [self._judgments.names[at] for at in lacking[start : start + _EMPTY].tolist()]
            self._evaluate(topics, nothing)

    def _hashed(self, sha256: str) -> None:
        self._source = replace(self._source, sha256=sha256)

    def _noted(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Note what a run calls itself, and pass its lines on; where bad rows are dropped, those with id and number."""
        for frame in frames:
            if "run_id" in frame.columns:
                ids = frame["run_id"].fill_null("").unique(maintain_order=True).to_list()
                self._name = self._name or ids[0]
                if len(self._ids) <= _IDS:
                    self._ids.update(ids)
                frame = frame.drop("run_id")
            if self._work.errors == "drop":
                whole, frame = frame.height, frame.filter(wrong("sim", frame.columns).is_null())
                self._dropped += whole - frame.height
            yield frame

    def _fill(self, parts: Iterable[pl.DataFrame]) -> None:
        for block in parts:
            topics = block["qid"].unique(maintain_order=True).to_list()
            if not self._seen.isdisjoint(topics) or len(topics) < len(starts(block["qid"])):
                raise _Scattered
            self._seen.update(topics)
            self._lines += block.height
            known = self._topics.known(topics)
            if len(known) < len(topics):
                own = pl.col("qid").is_in(known)
                if self._work.errors == "drop":  # counted in all lists, as on Spark
                    self._dropped += bad(block.filter(~own), "sim").height
                block = block.filter(own)
            self._evaluate(known, block)
            self._progress(f"{self._lines:,} lines")

    def _evaluate(self, topics: Sequence[str], lines: pl.DataFrame) -> None:
        if not topics:
            return
        run = pl.lit(self._source.name).alias("run")
        lists = pl.DataFrame({"qid": topics}, schema={"qid": pl.String}).with_columns(run)
        work = replace(self._work, options=replace(self._work.options, missing="zero"))
        rows = sound(Rows(lists, lines.with_columns(run), self._topics.of(topics)), work)
        self._dropped += lines.height - rows.lines.height
        found = judged(rows, work.options)
        if found is None:
            return
        at = np.array([self._judgments.number[name] for name in found.frame["qid"]])
        self._tied += found.ordering.n_tied
        mine = found.ordering.judged_run
        self._judged |= bool(mine.judged.any())
        if not self._document and len(mine.row):
            self._document = mine.run.frame["docno"][int(mine.row[0])]
        self._there[at[mine.returned > 0]] = True
        new = values(found, self._work)
        self._values = [filled(mine, at, its) for mine, its in zip(self._values, new, strict=True)]

    def remarks(self, options: Options) -> list[str]:
        """Say what about the run changes how its scores should be read; raise if it cannot be evaluated at all."""
        name, names = self._source.name, self._judgments.names
        if not (self._seen or self._dropped):
            raise bad_input(name, "there are no rows", "a run", "Check how it was made.")
        stray = self._judgments.stray(self._seen)
        if stray:
            refuse_unjudged(name, self._seen, self._judgments.qrels)
        said = []
        if self._document and not self._judged:
            judged = self._judgments.qrels.frame["docno"][int(self._judgments.row[0])]
            said.append(remark_on_names(name, self._document, judged))
        if len(self._ids) > 1:
            ids = f"{len(self._ids)} different" if len(self._ids) <= _IDS else f"more than {_IDS:,}"
            said.append(f"{name}: {ids} run ids; taken as one run, called {self._called}")
        if self._dropped:
            why = "no id or finite number, or a document that is there again"
            said.append(f"{name}: {count(self._dropped, 'row')} dropped: {why}")
        return said + remarks_on_topics(name, stray, self._judgments.missing(self._there), len(names), options)

    @property
    def _called(self) -> str:
        return self._name or self._source.stem

    def evaluated(self, options: Options) -> Evaluated:
        """Return what is kept of the run, as the options ask."""
        known, measures, orders = self._judgments, self._work.measures, self._work.options.ties
        counts = {"lines": self._lines, "tied": self._tied}
        values, there = self._values, self._there
        return kept(self._called, self._source, known, measures, orders, values, there, options, **counts)


def _sorted(frames: Iterable[pl.DataFrame], folder: Path, files: int) -> Iterator[pl.DataFrame]:
    """Sort lines into so many files of some topics each; yield them, topic after topic."""
    for frame in frames:
        number = (pl.col("qid").hash(seed=3) % files).alias("file")
        for (which,), part in frame.with_columns(number).partition_by("file", include_key=False, as_dict=True).items():
            part.write_ipc(packed := io.BytesIO())
            try:
                with (folder / str(which)).open("ab") as file:
                    file.write(packed.tell().to_bytes(_SIZE) + packed.getbuffer())
            except OSError as error:
                why = f"cannot write ({error.strerror}); lines are sorted there, as topics of the run are in pieces"
                raise ExaequoError(f"{folder.parent}: {why}. Name another folder: TMPDIR=FOLDER.") from None
    for path in sorted(folder.iterdir()):
        whole = pl.concat(_parts(path), how="diagonal")
        yield from blocks([whole.sort("qid", maintain_order=True)], ("qid",))


def _parts(path: Path) -> Iterator[pl.DataFrame]:
    with path.open("rb") as file:
        while size := int.from_bytes(file.read(_SIZE)):
            yield pl.read_ipc(io.BytesIO(file.read(size)))
