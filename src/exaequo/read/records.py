"""What reading gives: a `Run` and a `Qrels`, checked: plain lines, or a Polars frame of known columns, ids as text."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from exaequo.arrays import Floats
from exaequo.frames import pl
from exaequo.read.keys import are_different
from exaequo.read.plain import Plain
from exaequo.read.source import Source

#: Column of the 64-bit hash of (qid, docno): finds duplicates and joins run to qrels (see `judge`).
KEY = "key"
#: What a line of sampled judgments says besides.
SAMPLED = ("stratum", "prob")


@dataclass(frozen=True, eq=False)
class Latency:
    """What queries took: `qid, seconds`."""

    frame: pl.DataFrame

    @property
    def median(self) -> float:
        """The median, in seconds."""
        return float(np.median(self.frame["seconds"].to_numpy()))

    @property
    def p95(self) -> float:
        """The seconds in which 95 of 100 queries were answered."""
        return float(np.quantile(self.frame["seconds"].to_numpy(), 0.95, method="inverted_cdf"))

    def __repr__(self) -> str:
        return f"<Latency: median {self.median * 1000:.3g} ms, p95 {self.p95 * 1000:.3g} ms>"


class _Lines:
    """What a run and judgments share: lines, in a frame, or plain, of which the frame is made when it is asked for."""

    number: ClassVar[str]
    frame: pl.DataFrame
    plain: Plain | None = None

    @classmethod
    def of(cls, plain: Plain, **about: Any) -> Self:
        """Make one of plain lines."""
        made = object.__new__(cls)
        vars(made).update(about, plain=plain)
        return made

    if not TYPE_CHECKING:  # type checkers see the field

        def __getattr__(self, name: str) -> Any:
            if name != "frame" or self.plain is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            vars(self)["frame"] = with_keys(self.plain.frame(self.number))
            return vars(self)["frame"]

    @property
    def height(self) -> int:
        """How many lines there are."""
        return self.frame.height if self.plain is None else len(self.plain.value)

    @property
    def numbers(self) -> Floats:
        """The number of each line."""
        return self.frame[self.number].to_numpy() if self.plain is None else self.plain.value

    @property
    def topics(self) -> list[str]:
        """The topics, in the order of their names."""
        if self.plain is not None:
            return sorted(self.plain.topics)
        qids = self.frame["qid"]
        return qids[starts(qids)].unique().sort().to_list()


@dataclass(frozen=True, eq=False)
class Run(_Lines):
    """What one system returned: `qid, docno, sim, key`, in file order, and `rank` as the file had it, if it did.

    `n_names` counts the different run ids of the file; `name` is the first. `latency` is what each query took, if
    exaequo asked them.
    """

    number: ClassVar[str] = "sim"
    name: str
    frame: pl.DataFrame
    source: Source
    n_names: int = 1
    latency: Latency | None = None
    plain: Plain | None = field(default=None, init=False)

    def named(self, name: str) -> Run:
        """Return the same run under another name."""
        made = copy(self)
        vars(made)["name"] = name
        return made

    def parts(self, lines: int) -> Iterator[Run]:
        """Yield the same run in parts of about so many plain lines, each of whole topics."""
        for each in () if self.plain is None else self.plain.parts(lines):
            yield Run.of(each, name=self.name, source=self.source)

    def __repr__(self) -> str:
        return f"<Run {self.name!r}: {self.height:,} lines, {len(self.topics):,} topics>"


@dataclass(frozen=True, eq=False)
class Qrels(_Lines):
    """What people judged: `qid, docno, rel, key`; of a sample also the `stratum`, or the chance to be drawn, `prob`.

    Where the iteration field tells subtopics apart, `subtopics` holds every judgment: the `row` of its document in
    `frame`, its `subtopic` and its `rel`. A document that was judged for several stands once in `frame`, with the
    highest of its grades.
    """

    number: ClassVar[str] = "rel"
    frame: pl.DataFrame
    source: Source
    subtopics: pl.DataFrame | None = None
    plain: Plain | None = field(default=None, init=False)

    def __repr__(self) -> str:
        return f"<Qrels: {self.height:,} judgments, {len(self.topics):,} topics>"


def with_keys(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the hash of (qid, docno). Equal pairs have equal keys; unequal pairs nearly always have unequal ones."""
    return frame.with_columns((pl.col("qid").hash(seed=1) ^ pl.col("docno").hash(seed=2)).alias(KEY))


def starts(qids: pl.Series) -> npt.NDArray[np.int64]:
    """Return where each stretch of lines of one topic begins."""
    return np.flatnonzero((qids != qids.shift()).fill_null(value=True).to_numpy())


def _may_repeat(frame: pl.DataFrame) -> bool:
    """Tell whether a key is there twice; where every topic is in one piece, by some topics at a time."""
    start = starts(frame["qid"])
    in_pieces = frame["qid"][start].n_unique() == len(start)
    return not are_different(frame[KEY].to_numpy(), start if in_pieces else None)


def repeated(frame: pl.DataFrame, *, subtopics: bool = False) -> pl.DataFrame | None:
    """Return the rows whose (qid, docno) occurs more than once, with their `row`, or None if there are none.

    With `subtopics`, a document may occur once for each value of the iteration field.
    """
    if not _may_repeat(frame):
        return None
    once = ["qid", "docno", *(["iter"] if subtopics and "iter" in frame.columns else [])]
    again = frame.with_row_index("row").filter(pl.struct(once).is_duplicated())
    return again.sort(*once, "row") if again.height else None


def by_subtopic(frame: pl.DataFrame, source: Source) -> Qrels:
    """Make judgments of lines with an iteration field, which holds the subtopic if it is not always the same."""
    lines = frame.select("qid", "docno", "rel", KEY, *(name for name in SAMPLED if name in frame.columns))
    if "iter" not in frame.columns or (frame["iter"].fill_null("") == (frame["iter"].first() or "")).all():
        return Qrels(lines, source)
    row = np.arange(frame.height)
    if _may_repeat(frame):
        first = lines.with_row_index("at").select(pl.col("at").first().over("qid", "docno")).to_series()
        kept, row = np.unique(first.to_numpy(), return_inverse=True)
        best = lines.select(pl.col("rel").max().over("qid", "docno")).to_series()
        lines = lines.with_columns(best)[kept]
    subtopics = frame.select(pl.Series("row", row), pl.col("iter").fill_null("").alias("subtopic"), "rel")
    return Qrels(lines, source, subtopics)
