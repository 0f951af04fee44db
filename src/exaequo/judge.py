"""Judging: run ⟕ qrels on (qid, docno). In: a `Run` and the prepared `Judgments`. Out: a `JudgedRun`, flat arrays.

Judged 0, judged below 0 and not judged at all stay apart: a document nobody judged has grade 0 and `judged` False.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from exaequo.choices import HIGHEST_GRADE
from exaequo.read.keys import Index
from exaequo.read.records import KEY, Qrels, Run, starts

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Judgments by subtopic: the `place` of the document in `Judgments`, ascending, the `subtopic`, and the `grade`.

    Subtopics are numbered over all topics; `topic` says whose each is, `name` what the file calls it.
    """

    place: Ints
    subtopic: Ints
    grade: Floats
    topic: Ints
    name: pl.Series


@dataclass(frozen=True, eq=False)
class Judgments:
    """The qrels, prepared once for all runs.

    Evaluated are the topics with at least one relevant document, in the byte order of their names; `topic` and
    `grade` hold their judgments, normalised, in the order of the file, and `row` their place in the file. `merged`
    counts the judgments of subtopics beyond the first of a document, which has the highest grade of all of them.
    """

    qrels: Qrels
    topics: pl.Series
    topic: Ints
    grade: Floats
    row: Ints
    level: float | None
    highest: float
    nothing_relevant: list[str]
    too_high: int
    merged: int
    _counted: dict[float | None, Ints] = field(default_factory=dict, init=False, repr=False)
    _kept: dict[Hashable, Floats] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_topics(self) -> int:
        """How many topics are evaluated."""
        return len(self.topics)

    @cached_property
    def index(self) -> Index:
        """The keys of the judgments of evaluated topics, by their place in `topic` and `grade`."""
        return Index(self.qrels.frame[KEY].to_numpy()[self.row])

    @cached_property
    def ideal(self) -> tuple[Ints, Ints, Floats]:
        """The ideal list of each topic, all grades above 0, best first: topic, rank from 1, grade."""
        above = self.grade > 0
        topic, grade = self.topic[above], self.grade[above]
        order = np.lexsort((-grade, topic))
        topic = topic[order]
        return topic, np.arange(len(topic)) - np.searchsorted(topic, topic) + 1, grade[order]

    @cached_property
    def subtopics(self) -> Subtopics:
        """The judgments by subtopic; where the file tells none apart, each topic has one."""
        table = self.qrels.subtopics
        if table is None:
            return Subtopics(np.arange(len(self.topic)), self.topic, self.grade, np.arange(self.n_topics), self.topics)
        places = np.full(self.qrels.frame.height, -1)
        places[self.row] = np.arange(len(self.row))
        place = places[table["row"].to_numpy()]
        kept = place >= 0
        names = table["subtopic"].unique().sort()
        name = topic_codes(table["subtopic"], names)
        number, subtopic = np.unique(self.topic[place[kept]] * len(names) + name[kept], return_inverse=True)
        rel = table["rel"].to_numpy()[kept]
        order = np.lexsort((subtopic, place[kept]))
        grade = np.where(rel > self.highest, 0.0, rel)
        own = names[number % len(names)]
        return Subtopics(place[kept][order], subtopic[order], grade[order], number // len(names), own)

    def relevant(self, grade: Floats, level: float | None = None) -> Bools:
        """Tell which grades are relevant: at least `level`, or the level of this evaluation, or above 0."""
        level = self.level if level is None else level
        return grade > 0 if level is None else grade >= level

    def counted(self, level: float | None = None) -> Ints:
        """Return the number of relevant documents of each topic."""
        if level not in self._counted:
            topic = self.topic[self.relevant(self.grade, level)]
            self._counted[level] = np.bincount(topic, minlength=self.n_topics)
        return self._counted[level]

    def kept(self, key: Hashable, compute: Callable[[], Floats]) -> Floats:
        """Return what was computed under this key, or compute it: figures that depend on the judgments alone."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    def nonrelevant(self, level: float | None = None) -> Ints:
        """Return the number of documents of each topic judged, at 0 or above, and not relevant."""
        judged = (self.grade >= 0) & ~self.relevant(self.grade, level)
        return np.bincount(self.topic[judged], minlength=self.n_topics)


def prepare(
    qrels: Qrels, *, level: float | None = None, highest: float = HIGHEST_GRADE, every: bool = False
) -> Judgments:
    """Normalise grades and choose the topics to evaluate.

    `level` is the least grade that counts as relevant (default: any above 0). A grade above `highest` counts as 0.
    `every` evaluates topics with nothing relevant too.
    """
    frame = qrels.frame
    known = frame["qid"][starts(frame["qid"])].unique().sort()
    code = topic_codes(frame["qid"], known)
    rel = frame["rel"].to_numpy()
    grade = np.where(rel > highest, 0.0, rel)
    every_rel, every_row = rel, np.arange(len(rel))
    if qrels.subtopics is not None:
        every_rel, every_row = qrels.subtopics["rel"].to_numpy(), qrels.subtopics["row"].to_numpy()
        grade = np.full(len(rel), -np.inf)
        np.maximum.at(grade, every_row, np.where(every_rel > highest, 0.0, every_rel))
    relevant = grade > 0 if level is None else grade >= level
    evaluated = np.bincount(code[relevant], minlength=len(known)) > 0
    if every:
        evaluated[:] = True
    kept = evaluated[code]
    return Judgments(
        qrels=qrels,
        topics=known.filter(pl.Series(evaluated)),
        topic=(np.cumsum(evaluated) - 1)[code[kept]],
        grade=grade[kept],
        row=np.flatnonzero(kept),
        level=level,
        highest=highest,
        nothing_relevant=known.filter(pl.Series(~evaluated)).to_list(),
        too_high=int(np.sum(every_rel > highest)),
        merged=len(every_rel) - len(rel),
    )


def topic_codes(qids: pl.Series, topics: pl.Series) -> Ints:
    """Return the place of each qid in `topics`, -1 where it is not there."""
    start = starts(qids)
    codes = qids[start].cast(pl.Enum(topics), strict=False).to_physical().cast(pl.Int64).fill_null(-1)
    return np.repeat(codes.to_numpy(), np.diff(start, append=len(qids)))


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """The lines of a run whose topics are evaluated: `topic`, `sim`, `grade`, `judged`, and their `row` in the run.

    `place` is where the judgment of a line stands in `judgments`, -1 if there is none.
    """

    run: Run
    judgments: Judgments
    topic: Ints
    sim: Floats
    grade: Floats
    judged: Bools
    row: Ints
    place: Ints

    def part(self, kept: Bools) -> JudgedRun:
        """Return these lines only."""
        columns = {name: getattr(self, name)[kept] for name in ("topic", "sim", "grade", "judged", "row", "place")}
        return JudgedRun(self.run, self.judgments, **columns)

    @cached_property
    def returned(self) -> Ints:
        """Number of documents the run returned for each evaluated topic."""
        return np.bincount(self.topic, minlength=self.judgments.n_topics)

    @cached_property
    def as_judged(self) -> Floats:
        """The grade of each line as the judgments have it, also where it is too high to count; 0 if there is none."""
        if not self.judgments.too_high:
            return self.grade
        grades = self.judgments.qrels.frame["rel"].to_numpy()[self.judgments.row]
        return np.where(self.judged, grades[self.place], self.grade)

    @property
    def missing(self) -> list[str]:
        """Evaluated topics the run has no line for."""
        return self.judgments.topics.filter(pl.Series(self.returned == 0)).to_list()

    @cached_property
    def stray(self) -> list[str]:
        """Topics of the run that nobody judged."""
        if len(self.row) == self.run.frame.height:
            return []
        judged = self.judgments.qrels.frame["qid"].unique()
        mine = self.run.frame["qid"].unique()
        return mine.filter(~mine.is_in(judged.implode())).sort().to_list()


def judge(run: Run, judgments: Judgments) -> JudgedRun:
    """Join one run to the judgments."""
    topic = topic_codes(run.frame["qid"], judgments.topics)
    frame, row = run.frame, np.arange(run.frame.height)
    kept = topic >= 0
    if not kept.all():
        frame, row, topic = frame.filter(kept), row[kept], topic[kept]
    at, place = _look_up(frame, topic, judgments)
    grade, places = np.zeros(len(row)), np.full(len(row), -1)
    grade[at] = judgments.grade[place]
    places[at] = place
    return JudgedRun(run, judgments, topic, frame["sim"].to_numpy(), grade, places >= 0, row, places)


def _look_up(run: pl.DataFrame, topic: Ints, judgments: Judgments) -> tuple[Ints, Ints]:
    """Return which lines of the run are judged, and the place of the judgment of each.

    Looking up one 64-bit key is several times as fast as two strings. It stays exact: every pair of lines whose keys
    agree is compared by topic and by name.
    """
    at, place = judgments.index.find(run[KEY].to_numpy())
    same_name = run["docno"][at] == judgments.qrels.frame["docno"][judgments.row[place]]
    same = same_name.to_numpy() & (topic[at] == judgments.topic[place])
    return at[same], place[same]
