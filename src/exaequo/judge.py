"""Judging: run ⟕ qrels on (qid, docno). In: a `Run` and the prepared `Judgments`. Out: a `JudgedRun`, flat arrays.

Judged 0, judged below 0 and not judged at all stay apart: a document nobody judged has grade 0 and `judged` False.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat

import numpy as np

from exaequo.arrays import Bools, Floats, Ints, Words
from exaequo.choices import HIGHEST_GRADE
from exaequo.frames import pl
from exaequo.lots import of_names
from exaequo.read.keys import Index
from exaequo.read.records import KEY, Qrels, Run, starts


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

    Evaluated are the topics with at least one relevant document, in the byte order of their `names`; `topic` and
    `grade` hold their judgments, normalised, in the order of the file, and `row` their place in the file. `merged`
    counts the judgments of subtopics beyond the first of a document, which has the highest grade of all of them.
    """

    qrels: Qrels
    names: list[str]
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
        return len(self.names)

    @cached_property
    def topics(self) -> pl.Series:
        """The names of the topics that are evaluated."""
        return pl.Series("qid", self.names, dtype=pl.String)

    @cached_property
    def number(self) -> dict[str, int]:
        """The place of each topic among the `names`."""
        return dict(zip(self.names, range(len(self.names)), strict=True))

    @cached_property
    def lots(self) -> Words:
        """What the lots of each topic are drawn by: its name."""
        return of_names(self.names)

    @cached_property
    def place(self) -> Ints:
        """The place in `topic` and `grade` of each line of the file, -1 if its topic is not evaluated."""
        if len(self.row) == self.qrels.height:
            return self.row
        places = np.full(self.qrels.height, -1)
        places[self.row] = np.arange(len(self.row))
        return places

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
        place = self.place[table["row"].to_numpy()]
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

    def missing(self, there: Bools) -> list[str]:
        """Return the evaluated topics that are not `there`."""
        return [self.names[at] for at in np.flatnonzero(~there).tolist()]

    def stray(self, topics: Iterable[str]) -> list[str]:
        """Return those topics that nobody judged, in the order of their names."""
        return sorted({*topics} - {*self.names, *self.nothing_relevant})

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
    known, rel = qrels.topics, qrels.numbers
    number = dict(zip(known, range(len(known)), strict=True))
    code = _coded(qrels, number)
    grade = np.where(rel > highest, 0.0, rel)
    row = np.arange(len(rel))
    every_rel = rel
    if qrels.subtopics is not None:
        every_rel, every_row = qrels.subtopics["rel"].to_numpy(), qrels.subtopics["row"].to_numpy()
        grade = np.full(len(rel), -np.inf)
        np.maximum.at(grade, every_row, np.where(every_rel > highest, 0.0, every_rel))
    relevant = grade > 0 if level is None else grade >= level
    evaluated = np.bincount(code[relevant], minlength=len(known)) > 0
    names, nothing_relevant = known, []
    if not every and not evaluated.all():
        names = [name for name, there in zip(known, evaluated.tolist(), strict=True) if there]
        nothing_relevant = [name for name, there in zip(known, evaluated.tolist(), strict=True) if not there]
        row = evaluated[code].nonzero()[0]
        code, grade = (evaluated.cumsum() - 1)[code[row]], grade[row]
    made = Judgments(
        qrels=qrels,
        names=names,
        topic=code,
        grade=grade,
        row=row,
        level=level,
        highest=highest,
        nothing_relevant=nothing_relevant,
        too_high=int(np.count_nonzero(every_rel > highest)),
        merged=len(every_rel) - len(rel),
    )
    if names is known:
        vars(made)["number"] = number  # it need not be made again
    return made


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
        grades = self.judgments.qrels.numbers[self.judgments.row]
        return np.where(self.judged, grades[self.place], self.grade)

    @property
    def missing(self) -> list[str]:
        """Evaluated topics the run has no line for."""
        return self.judgments.missing(self.returned > 0)

    @cached_property
    def stray(self) -> list[str]:
        """Topics of the run that nobody judged."""
        return [] if len(self.row) == self.run.height else self.judgments.stray(self.run.topics)


def _coded(lines: Run | Qrels, number: Mapping[str, int]) -> Ints:
    """Return the number of the topic of each line, -1 if it has none."""
    if lines.plain is not None:
        topics = lines.plain.topics
        return np.fromiter(map(number.get, topics, repeat(-1)), np.int64, len(topics)).repeat(lines.plain.sizes)
    return topic_codes(lines.frame["qid"], pl.Series(list(number), dtype=pl.String))


def judge(run: Run, judgments: Judgments) -> JudgedRun:
    """Join one run to the judgments."""
    topic, sim = _coded(run, judgments.number), run.numbers
    at, place = _look_up(run, topic, judgments)
    grade, places, row = np.zeros(len(topic)), np.full(len(topic), -1), np.arange(len(topic))
    grade[at] = judgments.grade[place]
    places[at] = place
    judged = JudgedRun(run, judgments, topic, sim, grade, places >= 0, row, places)
    return judged if (topic >= 0).all() else judged.part(topic >= 0)


def _look_up(run: Run, topic: Ints, judgments: Judgments) -> tuple[Ints, Ints]:
    """Return which lines of the run are judged, and the place of the judgment of each.

    Looking up one 64-bit key is several times as fast as two strings. It stays exact: every pair of lines whose keys
    agree is compared by topic and by name.
    """
    plain = judgments.qrels.plain
    if run.plain is None or plain is None:
        at, place = judgments.index.find(run.frame[KEY].to_numpy())
        same = (run.frame["docno"][at] == judgments.qrels.frame["docno"][judgments.row[place]]).to_numpy()
        at, place = at[same], place[same]
    else:
        at, row = plain.found(run.plain)
        place = row
        if len(judgments.row) < judgments.qrels.height:
            evaluated = judgments.place[row] >= 0
            at = at[evaluated]
            place = judgments.place[row[evaluated]]
    same = topic[at] == judgments.topic[place]
    return at[same], place[same]
