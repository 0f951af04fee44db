"""Evaluating: judgments and runs → `Ordering`s, one after the other → `Scores`.

`judged_runs` is the one loop that judges and sorts runs as they are read; `evaluate_runs` measures what it yields, and
notes what else is asked of each run while it is at hand. `evaluate_files` does both for files, many of them at a time,
large ones in stretches. Everything after works on the `Scores`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, Unpack

import numpy as np

from exaequo import memory
from exaequo.arrays import Bools, Floats
from exaequo.choices import ORDERS_SAMPLED, STDIN
from exaequo.errors import BadParameter, DataWarning, InputError
from exaequo.expected import Expected, filled
from exaequo.hands import helpers, shared
from exaequo.judge import Judgments, judge, prepare
from exaequo.measures import Measure, parse_measures
from exaequo.measuring import Evaluated, assembled, evaluated, kept, measured, orders_of
from exaequo.options import Evaluation, Options, keywords, one_strategy
from exaequo.order import Ordering
from exaequo.read import Qrels, QrelsLike, Run, RunLike, RunsLike, each_run, read_qrels, read_run
from exaequo.read.source import Source, called, size_of, unpacked_size_of
from exaequo.read.stretches import A_LINE, LINES, PER_TOPIC, SIZE, Stretch, digest_of_all, read_stretch, stretches
from exaequo.remarks import remarks_on_judgments, remarks_on_run, remarks_on_topics
from exaequo.scores import Scores

#: A run that was judged and sorted, with what there is to say about it.
Judged = tuple[Ordering, list[str]]


def evaluate(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: Iterable[str | Measure] | str | Measure,
    ties: str | Sequence[str] = "realistic",
    *,
    samples: int = ORDERS_SAMPLED,
    interval: bool = False,
    **options: Unpack[Evaluation],
) -> Scores:
    """Evaluate one run or many against judgments.

    Args:
        qrels: a path, a frame, a dict of dicts, or named tuples.
        runs: one run, a list of runs, or a dict of runs by name; each a path, a frame, a dict of dicts, …
        measures: names such as `"AP"`, `"nDCG@10"`, `"P(rel=2)@5"`, or measure objects.
        ties: one strategy or several: realistic, conventional, optimistic, rank, input, random, or `"expected"`, the
            mean over all orders of the ties; `"all"` is the first three.
        samples: orders of ties to sample where the expected value has no closed form and there are too many orders.
        interval: also find the aggregates that ties change (`Scores.tie_effects`).
        options: `rel_level`, the least grade that is relevant, for measures that do not say, by default any above 0;
            `max_grade`, above which a grade counts as 0; `depth`, where each list is cut, after ordering; `missing`:
            a judged topic the run lacks scores `"zero"`, is left out (`"skip"`), or is an `"error"`; `precision`, in
            which scores are compared, `"double"` or `"single"`; `seed`, for all that is random; `columns`, the names of
            `qid`, `docno`, `sim`, `rel` in tables, where they are not the usual ones; `mend`, to put right what is
            wrong with files where that is safe, as `Scores.warnings` then say.
    """
    reading, given = keywords("evaluate", options)
    chosen = Options.of(ties, samples=samples, **given)
    parsed = parse_measures(measures)
    judgments, named = read_qrels(qrels, **reading), each_run(runs)
    files = [(name, os.fspath(run)) for name, run in named if isinstance(run, str | os.PathLike) and run != STDIN]
    if named and len(files) == len(named):
        scores = evaluate_files(judgments, files, parsed, chosen, interval=interval, reading=reading)
    else:
        read = (read_run(run, name=name, **reading) for name, run in named)
        scores = evaluate_runs(judged_runs(judgments, read, chosen, parsed), parsed, chosen, interval=interval)
    warn(scores.warnings)
    return scores


def warn(messages: Iterable[str]) -> None:
    """Give warnings that point at the line that called the public function."""
    for message in messages:
        warnings.warn(message, DataWarning, stacklevel=3)


def lexirecall(
    qrels: QrelsLike,
    one: RunLike,
    two: RunLike,
    *,
    ties: str = "realistic",
    rel_level: float | None = None,
    seed: int = 0,
) -> dict[str, int]:
    """Compare two runs by lexicographic recall: per topic 1 if the first is preferred, -1 the second, else 0."""
    from exaequo.measures.recall import lexicographic_recall

    options = Options(ties=(one_strategy(ties),), rel_level=rel_level, seed=seed)
    both = list(judged_runs(read_qrels(qrels), (read_run(run) for run in (one, two)), options))
    first, second = (ordering.ranking(ties, seed=seed) for ordering, _ in both)
    return dict(zip(first.judgments.names, lexicographic_recall(first, second).tolist(), strict=True))


# ---------------------------------------------------------------------------------------------------- the one loop


def prepared(qrels: Qrels, options: Options, *, every: bool = False) -> Judgments:
    """Prepare judgments as the options say; `every` evaluates topics with nothing relevant too."""
    return prepare(qrels, level=options.rel_level, highest=options.max_grade, every=every)


def judged_runs(
    qrels: Qrels | Judgments, runs: Iterable[Run], options: Options, measures: Sequence[Measure] = ()
) -> Iterator[Judged]:
    """Judge and sort runs, one after the other as they are read, each once; with each comes what there is to say.

    What there is to say about the judgments comes with the first, unless they have been prepared already.
    """
    judgments = qrels if isinstance(qrels, Judgments) else prepared(qrels, options)
    remarks: list[str] = [] if judgments is qrels else remarks_on_judgments(judgments, measures)
    for run in runs:
        judged = judge(run, judgments)
        remarks += remarks_on_run(judged, options)
        yield Ordering(judged, options.precision), remarks
        remarks = []


def evaluate_runs(
    runs: Iterable[Judged],
    measures: Sequence[Measure],
    options: Options,
    *,
    interval: bool = False,
    also: Sequence[Measure] = (),
    facts: Callable[[Ordering], Any] | None = None,
) -> Scores:
    """Measure runs one after the other; warnings are collected, not given.

    With `interval`, what the three strategies give that tell what ties decide stands beside what was asked for; `also`
    are measures that do so under the first order. `facts` notes what else is wanted of a run, for `Scores.facts`.
    """
    made: list[Evaluated] = []
    remarks: list[str] = []
    qrels: Judgments | None = None
    for ordering, said in runs:
        qrels = ordering.judgments
        remarks += said
        made.append(evaluated(ordering, measures, also, options, interval=interval, facts=facts))
    if qrels is None:
        raise BadParameter("No run is given.")
    return assembled(made, qrels, measures, options, remarks)


# ----------------------------------------------------------------------------------------------------------- files


class _Unit(NamedTuple):
    """What is done at once: a file, with the name its run is given, if it is; or a stretch of it."""

    name: str | None
    path: str
    stretch: Stretch | None = None


class _Part(NamedTuple):
    """What came of a stretch: values under each strategy, of the topics that are `there`; of the first, of all topics.

    `topics` are what all its topics are called; `judged` says whether any line is.
    """

    name: str
    lines: int
    tied: int
    values: list[Floats | Expected]
    there: Bools
    topics: list[str]
    judged: bool


#: What came of a file, and what there is to say about it.
_Whole = tuple[Evaluated, list[str]]


def evaluate_files(
    qrels: Qrels,
    named: Sequence[tuple[str | None, str]],
    measures: Sequence[Measure],
    options: Options,
    *,
    interval: bool = False,
    reading: Mapping[str, Any] | None = None,
    tell: Callable[[int, int], None] = lambda _, __: None,
) -> Scores:
    """Read and evaluate files, each with the name its run is given, or None, as `evaluate_runs` does runs.

    Other processes help with many of them; large ones are evaluated stretch by stretch, in little memory. `reading`
    has keywords of `read_run`; `tell` is told how many of how many units of work are done.
    """
    judgments = prepared(qrels, options)
    remarks = remarks_on_judgments(judgments, measures)
    work = FileWork(judgments, tuple(measures), options, interval, reading or {})
    units = [work.units(name, path) for name, path in named]
    found = shared(work, [*chain(*units)], work.helpers([own[0] for own in units]), tell)
    runs = []
    for own in units:
        run, said = work.joined(own[0], [next(found) for _ in own]) or work.whole(own[0])
        runs.append(run)
        remarks += said
    return assembled(runs, judgments, measures, options, remarks)


@dataclass(frozen=True, eq=False)
class FileWork:
    """How files are evaluated: what other processes are told."""

    judgments: Judgments
    measures: tuple[Measure, ...]
    options: Options
    interval: bool
    reading: Mapping[str, Any]
    #: Files of which a stretch was not plain: others of them need no look.
    odd: set[str] = field(default_factory=set)

    def in_stretches(self, path: str, tell: Callable[[str], None]) -> _Whole | None:
        """Evaluate a large file of clean TREC text in little memory; None if it is none; `tell` how far it is."""
        units = self.units(None, path)
        if units[0].stretch is None:
            return None
        told = shared(
            self, units, self.helpers(units[:1]), lambda done, every: tell(f"{done:,} of {every:,} stretches")
        )
        return self.joined(units[0], [*told])

    def helpers(self, files: Sequence[_Unit]) -> int:
        """Return how many processes help with files, each of which its first unit stands for.

        None with files that can be read but once, or measures they do not know; and as many as there is memory for
        where each of them reads a file as a whole.
        """
        sizes = [size_of(each.path) for each in files]
        number = helpers(sum(sizes)) if all(sizes) and self._ours else 0
        whole = [unpacked_size_of(each.path) for each in files if each.stretch is None]
        room = memory.room() if number and whole else None
        return number if room is None else max(0, min(number, room // max(whole) - 1))

    @property
    def _ours(self) -> bool:
        """Whether all measures come with exaequo: one's own may look at all lists together."""
        return all(measure.definition.ours for measure in self.measures)

    def units(self, name: str | None, path: str) -> list[_Unit]:
        """Return a file, or stretches of a large one, long enough for what each of them needs for all topics."""
        clean = self._ours and self.reading.get("reader") in (None, "trec")
        cut = stretches(path, max(SIZE, PER_TOPIC * self.judgments.n_topics)) if clean else []
        return [_Unit(name, path, each) for each in cut] or [_Unit(name, path)]

    def __call__(self, unit: _Unit) -> _Whole | _Part | None:
        """Evaluate a file, or a stretch: nothing comes of one that is not plain."""
        return self.whole(unit) if unit.stretch is None else self._stretch(unit.stretch)

    def whole(self, unit: _Unit) -> _Whole:
        """Evaluate a file that is read as a whole."""
        run = read_run(unit.path, name=unit.name, **self.reading)
        parts = self._parts(run)
        if any(part.judged for part in parts):
            return self._put_together(run.name, run.source, parts)
        ((ordering, remarks),) = judged_runs(self.judgments, [run], self.options)
        return evaluated(ordering, self.measures, (), self.options, interval=self.interval), remarks

    def _parts(self, run: Run) -> list[_Part]:
        """Evaluate a large run, packed mostly, in parts; none comes of one that is not plain, or has errors to tell."""
        lines = max(LINES, PER_TOPIC // A_LINE * self.judgments.n_topics)
        if run.plain is None or run.height <= 2 * lines or not self._ours:
            return []
        try:
            return [self._part(each, first=not at) for at, each in enumerate(run.parts(lines))]
        except InputError:  # another part may have what is told first
            return []

    def _stretch(self, stretch: Stretch) -> _Part | None:
        run = None if stretch.path in self.odd else read_stretch(stretch)
        try:
            if run is not None:
                return self._part(run, first=not stretch.start)
        except InputError:  # another stretch may have what is told first
            pass
        self.odd.add(stretch.path)
        return None

    def _part(self, run: Run, *, first: bool) -> _Part:
        """Evaluate some lists of a run; the first of them have values for all topics, for those that the run lacks."""
        judged = judge(run, self.judgments)
        ordering = Ordering(judged, self.options.precision)
        found = measured(ordering, self.measures, orders_of(self.options, interval=self.interval), self.options)
        there = judged.returned > 0
        at = np.flatnonzero(there | first)
        values = [each.part(at) if isinstance(each, Expected) else each[:, at] for each in found]
        return _Part(run.name, run.height, ordering.n_tied, values, there, run.topics, bool(judged.judged.any()))

    def joined(self, unit: _Unit, parts: Sequence[Any]) -> _Whole | None:
        """Return what came of a file, or of its stretches; None if it is not plain throughout."""
        if unit.stretch is None:
            whole: _Whole = parts[0]
            return whole
        topics = [name for part in parts if part for name in part.topics]
        plain = all(parts) and len({part.name for part in parts}) == 1 and len({*topics}) == len(topics)
        if not plain or not any(part.judged for part in parts):
            return None
        digest = None
        if self.reading.get("digest") and (digest := digest_of_all(unit.stretch)) is None:
            return None
        return self._put_together(unit.name or parts[0].name, Source(called(unit.path), digest), parts)

    def _put_together(self, name: str, source: Source, parts: Sequence[_Part]) -> _Whole:
        known, values = self.judgments, parts[0].values
        for part in parts[1:]:
            at = np.flatnonzero(part.there)
            values = [filled(old, at, new) for old, new in zip(values, part.values, strict=True)]
        there = np.logical_or.reduce([part.there for part in parts])
        orders = orders_of(self.options, interval=self.interval)
        counts = {"lines": sum(part.lines for part in parts), "tied": sum(part.tied for part in parts)}
        found = kept(name, source, known, self.measures, orders, values, there, self.options, **counts)
        stray = known.stray(chain.from_iterable(part.topics for part in parts))
        said = [*map(str, source.mended), *source.remarks]
        said += remarks_on_topics(source.name, stray, known.missing(there), known.n_topics, self.options)
        return found, said
