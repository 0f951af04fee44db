"""Blocks: runs larger than memory, topic block by topic block. In: judgments, and paths of runs. Out: `Scores`.

A list must be whole before it is evaluated. Files whose topics stand in one piece are read once; others are sorted into
files of some topics each first, in a folder that goes away again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from exaequo.choices import INTERVAL, STDIN
from exaequo.engine.groups import blocks
from exaequo.engine.kernel import Lists, Rows, Work, judged, sound, values
from exaequo.engine.pieces import pieces
from exaequo.errors import BadParameter, bad_input
from exaequo.evaluation import Evaluated, assembled, prepared, remarks_on_judgments, remarks_on_topics
from exaequo.expected import ALL_ORDERS, CLOSED, SAMPLED, Expected
from exaequo.frames import pl
from exaequo.judge import Floats, Ints, Judgments
from exaequo.measures import Measure
from exaequo.measures.arithmetic import spread
from exaequo.options import Options
from exaequo.read.records import SAMPLED as DRAWN
from exaequo.read.records import Qrels, starts
from exaequo.read.source import Source, called
from exaequo.scores import Block, Scores
from exaequo.text import count, listed

#: Files that lines are sorted into where topics are scattered.
_FILES = 64
#: Lists that the run lacks, evaluated at a time.
_EMPTY = 20_000


@dataclass(frozen=True)
class Reading:
    """How runs are read: see `read_run`; `errors` says what becomes of documents that are there again."""

    reader: str | None = None
    columns: Mapping[str, str] | None = None
    errors: str = "raise"


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
    progress: Callable[[str, int], None] = lambda _, __: None,
) -> Scores:
    """Evaluate runs one after the other, as `evaluate_runs` does, in the memory of some blocks.

    `progress` is told the path and how many lines of it are done. Judgments are in memory; runs are not.
    """
    reading = reading or Reading()
    judgments = prepared(qrels, options)
    remarks = remarks_on_judgments(judgments, measures)
    more = [ties for ties in (INTERVAL if interval else ()) if ties not in options.ties]
    work = Work(tuple(measures), replace(options, ties=(*options.ties, *more)), reading.errors)
    judged_topics, evaluated = _Topics(qrels), []
    for path in paths:
        table = _Table(judgments, judged_topics, work, called(path), partial(progress, path))
        table.fill(path, reading)
        remarks += table.remarks(options)
        evaluated.append(table.evaluated(len(options.ties)))
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
        self, judgments: Judgments, topics: _Topics, work: Work, name: str, progress: Callable[[int], None]
    ) -> None:
        self._judgments, self._topics, self._work = judgments, topics, work
        self._source, self._progress = Source(name), progress
        self._begin()

    def _begin(self) -> None:
        shape = (len(self._work.measures), self._judgments.n_topics)
        self._values: list[Floats | Expected] = [
            Expected(np.zeros(shape), np.zeros(shape), np.zeros(shape), (CLOSED,) * shape[0])
            if ties == "expected"
            else np.zeros(shape)
            for ties in self._work.options.ties
        ]
        self._seen: set[str] = set()
        self._there = np.zeros(shape[1], dtype=bool)
        self._name, self._ids, self._lines, self._tied, self._dropped = "", set[str](), 0, 0, 0

    def fill(self, path: str, reading: Reading) -> None:
        """Evaluate a whole file."""
        try:
            self._fill(blocks(self._noted(pieces(path, reading.reader, reading.columns)), ("qid",)))
        except _Scattered:
            if path == STDIN:
                found = "a topic goes on after another has begun"
                raise bad_input(
                    self._source.name, found, "each topic in one piece", "Sort it, or name a file."
                ) from None
            self._begin()
            with tempfile.TemporaryDirectory(prefix="exaequo-") as folder:
                self._fill(_sorted(self._noted(pieces(path, reading.reader, reading.columns)), Path(folder)))
        lacking = np.flatnonzero(~self._there)
        nothing = pl.DataFrame(schema={"qid": pl.String, "docno": pl.String, "sim": pl.Float64})
        for start in range(0, len(lacking), _EMPTY) if self._work.options.missing != "skip" else ():
            topics = [self._judgments.names[at] for at in lacking[start : start + _EMPTY].tolist()]
            self._evaluate(topics, nothing)

    def _noted(self, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Note what a run calls itself, and pass its lines on."""
        for frame in frames:
            if "run_id" in frame.columns:
                ids = frame["run_id"].fill_null("").unique(maintain_order=True).to_list()
                self._name = self._name or ids[0]
                if len(self._ids) <= 1000:
                    self._ids.update(ids)
                frame = frame.drop("run_id")
            yield frame

    def _fill(self, parts: Iterable[pl.DataFrame]) -> None:
        for block in parts:
            topics = block["qid"].unique(maintain_order=True).to_list()
            if not self._seen.isdisjoint(topics) or len(topics) < len(starts(block["qid"])):
                raise _Scattered
            self._seen.update(topics)
            self._lines += block.height
            known = self._topics.known(topics)
            self._evaluate(known, block if len(known) == len(topics) else block.filter(pl.col("qid").is_in(known)))
            self._progress(self._lines)

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
        self._there[at[found.ordering.judged_run.returned > 0]] = True
        self._keep(at, found)

    def _keep(self, at: Ints, found: Lists) -> None:
        for number, new in enumerate(values(found, self._work)):
            old = self._values[number]
            if isinstance(old, Expected) and isinstance(new, Expected):
                for name in ("values", "deviation", "error"):
                    getattr(old, name)[:, at] = getattr(new, name)
                how = tuple(max(pair, key=_HARD.index) for pair in zip(old.how, new.how, strict=True))
                self._values[number] = replace(old, how=how)
            elif not isinstance(old, Expected) and not isinstance(new, Expected):
                old[:, at] = new

    def remarks(self, options: Options) -> list[str]:
        """Say what about the run changes how its scores should be read; raise if it cannot be evaluated at all."""
        name, names = self._source.name, self._judgments.names
        stray = sorted(self._seen - {*names, *self._judgments.nothing_relevant})
        if stray and len(stray) == len(self._seen):
            found = f"none of its {count(len(stray), 'topic')} is judged ({listed(stray, 3)})"
            mend = "Check that the run and the qrels are of the same collection."
            raise bad_input(name, found, f"topics such as {listed(names, 3)}", mend)
        said = []
        if len(self._ids) > 1:
            said.append(f"{name}: {len(self._ids)} different run ids; taken as one run, called {self._called}")
        if self._dropped:
            why = "no id or finite number, or a document that is there again"
            said.append(f"{name}: {count(self._dropped, 'row')} dropped: {why}")
        missing = [names[at] for at in np.flatnonzero(~self._there).tolist()]
        return said + remarks_on_topics(name, stray, missing, len(names), options)

    @property
    def _called(self) -> str:
        return self._name or self._source.stem

    def evaluated(self, asked: int) -> Evaluated:
        """Return what is kept of the run; of the strategies, so many were asked for."""
        made = []
        for ties, each in zip(self._work.options.ties, self._values, strict=True):
            numbers, expected = (each.values, each) if isinstance(each, Expected) else (each, None)
            made.append(Block(self._called, ties, self._work.measures, self._judgments.names, numbers, expected))
        if self._work.options.missing == "skip":
            kept = np.flatnonzero(self._there)
            if not len(kept):
                found = "none of its topics has a relevant document"
                raise bad_input(self._source.name, found, "at least one", "Choose --missing zero.")
            made = [block.part(kept) for block in made]
        about = {"file": self._source.name, "sha256": None, "lines": self._lines, "tied": self._tied}
        return Evaluated(self._called, self._source.name, made[:asked], made[asked:], about, None)


#: How expected values came about, the hardest way last.
_HARD = (CLOSED, ALL_ORDERS, SAMPLED)


def _sorted(frames: Iterable[pl.DataFrame], folder: Path) -> Iterator[pl.DataFrame]:
    """Sort lines into files of some topics each; yield them, topic after topic."""
    for number, frame in enumerate(frames):
        file = (pl.col("qid").hash(seed=3) % _FILES).alias("file")
        for (which,), part in frame.with_columns(file).partition_by("file", include_key=False, as_dict=True).items():
            part.write_ipc(folder / f"{which}-{number:06}.arrow")
    for which in range(_FILES):
        parts = sorted(folder.glob(f"{which}-*.arrow"))
        if parts:
            whole = pl.concat([pl.read_ipc(part) for part in parts])
            yield from blocks([whole.sort("qid", maintain_order=True)], ("qid",))
