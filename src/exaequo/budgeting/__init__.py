"""How far a score can be trusted: what ties, unjudged documents, judges, topics leave open. In: runs. Out: a `Budget`.

`ends` has the worst cases of a run, `pairs` those of a difference, `worlds` other judgments of the same lists,
`intervals` draws topics and puts sources together, `remedies` says what would shrink an interval.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Unpack

import numpy as np
import polars as pl

from exaequo.arrays import Ints
from exaequo.budgeting.ends import Ends, Listed, listed, relevant_grade
from exaequo.budgeting.intervals import SCHEMA, Drawing, interval_rows
from exaequo.budgeting.pairs import difference
from exaequo.budgeting.remedies import Aims, remedies
from exaequo.budgeting.wording import of_pair, of_run
from exaequo.choices import ALPHA, BUDGET_MEASURES, HIGHEST_GRADE, LEAST_TOPICS, PATTERNS, TO_JUDGE
from exaequo.comparison.values import refuse_geometric
from exaequo.errors import BadParameter, bad_input
from exaequo.evaluation import Judged, judged_runs, warn
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options, Reading, check_alpha, keywords
from exaequo.read import Qrels, QrelsLike, Run, RunsLike, read_qrels, read_runs, unique_names
from exaequo.stats.equality import TOLERANCE, settled
from exaequo.stats.tests import Setting
from exaequo.tabular import Tabled, plain
from exaequo.text import count, did_you_mean
from exaequo.text import listed as some

#: Runs that are spoken about, best first, and pairs.
SAID, SAID_PAIRS = 5, 3
RUN_COLUMNS = {"run": pl.String, "measure": pl.String, **SCHEMA}
PAIR_COLUMNS = {"one": pl.String, "two": pl.String, "measure": pl.String, **SCHEMA}
REMEDY_COLUMNS = {
    **dict.fromkeys(("run", "measure", "source"), pl.String),
    **dict.fromkeys(("n", "width", "then"), pl.Float64),
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a budget is asked for beyond an evaluation."""

    baseline: str | None = None
    grade: float | None = None
    to_judge: int = TO_JUDGE
    alpha: float = ALPHA
    samples: int = PATTERNS

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if self.to_judge < 1:
            raise BadParameter(f"to_judge must be a whole number ≥ 1. Got {self.to_judge} instead.")


@dataclass(frozen=True, eq=False)
class Budget(Tabled):
    """What each source leaves open; each table is a Polars frame.

    - `runs`: for each run, measure and source (tied, unjudged, judges, topics, together) the score as it stands and
      between which values the source leaves it; `how` says whether these are bounds, scenarios, a range over judges or
      a bootstrap; `t_low` and `t_high` are Student's; `estimate` takes unjudged documents at the rate of judged ones.
    - `pairs`: the same for differences two − one, of the best two and from the baseline; where bounds are not tight,
      `reached_low` and `reached_high` are the least and the greatest found.
    - `remedies`: for the best runs, what would shrink a source, and to which width.
    - `documents`: the unjudged documents whose judgment moves the first measure of these runs most.
    """

    runs: pl.DataFrame
    pairs: pl.DataFrame
    remedies: pl.DataFrame
    documents: pl.DataFrame
    topics: int
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    shown = ("runs: run measure source score low high width", "pairs: one two measure source score low high width")

    def __repr__(self) -> str:
        """Say of what it is."""
        runs = count(self.runs["run"].n_unique(), "run")
        return f"<Budget: {runs}, {', '.join(self.options['measures'])}, {count(self.topics, 'topic')}>"

    @property
    def sentences(self) -> list[str]:
        """Of the best runs, and of pairs, on the first measure: what leaves most open, and what would shrink it."""
        measure = pl.col("measure") == self.options["measures"][0]
        said = self.remedies["run"].unique(maintain_order=True)
        runs = [
            of_run(self.runs.filter(pl.col("run") == run, measure), self.remedies.filter(pl.col("run") == run))
            for run in said
        ]
        pairs = self.pairs.filter(measure).partition_by("one", "two", maintain_order=True)
        return [*runs, *map(of_pair, pairs[:SAID_PAIRS])]


def budget(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: Iterable[str | Measure] | str | Measure = BUDGET_MEASURES,
    *,
    baseline: str | None = None,
    judges: Sequence[QrelsLike] = (),
    grade: float | None = None,
    to_judge: int = TO_JUDGE,
    alpha: float = ALPHA,
    samples: int = PATTERNS,
    seed: int = 0,
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    precision: str = "double",
    **files: Unpack[Reading],
) -> Budget:
    """Tell what ties, unjudged documents, judges and topics leave open of scores, and of differences of runs.

    Args:
        qrels: as for `evaluate`.
        runs: as for `evaluate`.
        measures: as for `evaluate`; the first is spoken about.
        baseline: the name or the file of a run all others are compared with, besides the best two.
        judges: other judgments of the same topics.
        grade: what an unjudged document has if it is relevant; by default the highest grade of the judgments.
        to_judge: how many documents to name whose judgment would shrink the interval most.
        alpha: 0.05 asks for intervals of 95 % over topics.
        samples: samples of topics to draw.
        seed: for all that is random.
        rel_level, max_grade, precision: as for `evaluate`.
        files: `columns` and `mend`, as for `evaluate`.
    """
    options = Options(rel_level=rel_level, max_grade=max_grade, precision=precision, seed=seed)
    asked = Asked(baseline=baseline, grade=grade, to_judge=to_judge, alpha=alpha, samples=samples)
    reading, _ = keywords("budget", files, Reading.__annotations__)
    judged = [read_qrels(each, **reading) for each in (qrels, *judges)]
    result = budget_runs(judged, list(read_runs(runs, **reading)), parse_measures(measures), options, asked)
    warn(result.warnings)
    return result


@dataclass(frozen=True, eq=False)
class _World:
    """All runs as one judge sees them, on the topics at these `places`, which all judges have."""

    runs: list[Listed]
    topics: pl.Series
    grade: float
    remarks: list[str]
    places: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def ends(self, run: int, measure: int) -> Ends:
        return self.runs[run].ends[measure].at(self.places)


def budget_runs(
    qrels: Sequence[Qrels], runs: Sequence[Run], measures: Sequence[Measure], options: Options, asked: Asked
) -> Budget:
    """Do so for what has been read; warnings are collected, not given. Scores stand by the first of the judgments."""
    if not runs:
        raise BadParameter("No run is given.")
    names = unique_names([(run.name, run.source.name) for run in runs])
    worlds = [list(judged_runs(each, runs, options, measures)) for each in qrels]
    return budget_judged(worlds, names, measures, options, asked)


def budget_judged(
    judges: Sequence[Sequence[Judged]],
    names: Sequence[str],
    measures: Sequence[Measure],
    options: Options,
    asked: Asked,
) -> Budget:
    """Do so for runs as each judge sees them, under these names."""
    refuse_geometric(measures, "; ask for {plain}.")
    first = [ordering for ordering, _ in judges[0]]
    base = _place(asked.baseline, names, [ordering.run for ordering in first])
    qrels = [runs[0][0].judgments.qrels for runs in judges]
    worlds, notes = _shared([_world(runs, measures, options, asked) for runs in judges], qrels[0])
    order = _best_first(worlds[0], measures[0], names)
    drawing = Drawing(asked.alpha, Setting(asked.samples, options.seed))
    rows = _of_runs(worlds, order, names, measures, drawing)
    said = [_remedied(worlds[0], rows, at, names[at], measures[0], options, asked) for at in _spoken(order, base)]
    others = [note for world in worlds[1:] for note in world.remarks if note not in worlds[0].remarks]
    plan = {name: plain(getattr(options, name)) for name in ("rel_level", "max_grade", "precision", "seed")}
    return Budget(
        runs=pl.DataFrame(rows, schema=RUN_COLUMNS),
        pairs=pl.DataFrame(_of_pairs(worlds, order, base, names, measures, options, drawing), schema=PAIR_COLUMNS),
        remedies=pl.DataFrame([row for own, _ in said for row in own], schema=REMEDY_COLUMNS),
        documents=pl.concat([frame for _, frame in said]),
        topics=len(worlds[0].places),
        warnings=(*worlds[0].remarks, *others, *notes),
        options={
            "measures": [each.name for each in measures],
            **plain({**asdict(asked), "grade": worlds[0].grade}),
            "baseline": None if base is None else names[base],
            "judges": [each.source.name for each in qrels],
            **plan,
        },
    )


def _place(baseline: str | None, names: Sequence[str], runs: Sequence[Run]) -> int | None:
    """Return which run is the baseline; its file stands for it too."""
    if baseline is None:
        return None
    known = {os.path.normpath(run.source.name): at for at, run in reversed([*enumerate(runs)])}
    known |= {name: at for at, name in enumerate(names)}
    at = known.get(baseline, known.get(os.path.normpath(baseline)))
    if at is None:
        hint = did_you_mean(baseline, names) or f"; there are {', '.join(names)}."
        raise BadParameter(f"There is no run {baseline!r} to be the baseline{hint}")
    return at


def _world(runs: Iterable[Judged], measures: Sequence[Measure], options: Options, asked: Asked) -> _World:
    """Find the ends of all runs as one judge sees them."""
    found, remarks, grade = [], [], 0.0
    for ordering, said in runs:
        grade = relevant_grade(ordering, asked.grade)
        remarks += said
        found.append(listed(ordering, measures, options, grade))
    return _World(found, found[0].ordering.judgments.topics, grade, remarks)


def _shared(worlds: Sequence[_World], qrels: Qrels) -> tuple[list[_World], list[str]]:
    """Keep the topics that all judges have, and say which are left out; refuse fewer than two."""
    every = pl.concat([world.topics for world in worlds]).unique(maintain_order=True)
    shared = set(every).intersection(*(world.topics for world in worlds))
    notes = []
    if len(shared) < len(every):
        without = [topic for topic in every if topic not in shared]
        notes.append(f"{count(len(without), 'topic')} that a judge lacks left out for all of them: {some(without)}")
    if len(shared) < 2:
        what, why = f"only {count(len(shared), 'topic')}", "Intervals over topics need several."
        raise bad_input(qrels.source.name, what, "at least two", why)
    if len(shared) < LEAST_TOPICS:
        notes.append(f"{count(len(shared), 'topic')} only: intervals over topics say little")
    places = [np.array([at for at, topic in enumerate(world.topics) if topic in shared]) for world in worlds]
    return [replace(world, places=own) for world, own in zip(worlds, places, strict=True)], notes


def _known(ends: Ends, measure: Measure, *names: str) -> Ends:
    """Return the ends; refuse those that have a value on fewer than two topics."""
    known = int((~np.isnan(ends.both.sum(axis=0))).sum())
    if known < 2:
        have = f"{' and '.join(names)}: {measure} has a value for {count(known, 'topic')} only"
        raise BadParameter(f"{have}; intervals over topics need at least two. Leave out the measure, or the run.")
    return ends


def _best_first(world: _World, measure: Measure, names: Sequence[str]) -> list[int]:
    """Return the runs, those with the best scores on the first measure first."""
    means = [float(np.nanmean(_known(world.ends(run, 0), measure, name).score)) for run, name in enumerate(names)]
    equal = settled(np.array([means]), np.array([TOLERANCE]))[0]
    return [int(at) for at in np.argsort(-measure.upward * equal, kind="stable")]


def _spoken(order: Sequence[int], base: int | None) -> list[int]:
    """Return the runs that are spoken about: the best few, and the baseline."""
    return list(dict.fromkeys((*order[:SAID], *([] if base is None else [base]))))


def _of_runs(
    worlds: Sequence[_World], order: Sequence[int], names: Sequence[str], measures: Sequence[Measure], drawing: Drawing
) -> list[dict[str, Any]]:
    """Return a row for each run, measure and source."""
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for at, measure in enumerate(measures):
        judges = [[_known(world.ends(run, at), measure, names[run]) for run in order] for world in worlds]
        limits = measure.definition.lowest, measure.definition.highest
        for run, rows in zip(order, interval_rows(judges, measure, drawing, limits), strict=True):
            found[run, at] = [{"run": names[run], "measure": measure.name, **row} for row in rows]
    return [row for run in order for at in range(len(measures)) for row in found[run, at]]


def _of_pairs(
    worlds: Sequence[_World],
    order: Sequence[int],
    base: int | None,
    names: Sequence[str],
    measures: Sequence[Measure],
    options: Options,
    drawing: Drawing,
) -> list[dict[str, Any]]:
    """Return a row for each pair, measure and source: the best two, and all against the baseline."""
    best = [(order[1], order[0])] if len(order) > 1 else []
    pairs = list(dict.fromkeys((*best, *((base, run) for run in order if base is not None and run != base))))
    ends = [
        [difference(world.runs[one], world.runs[two], measures, options, world.grade) for one, two in pairs]
        for world in worlds
    ]
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for at, measure in enumerate(measures) if pairs else ():
        judges = [
            [
                _known(each[at].at(world.places), measure, names[one], names[two])
                for each, (one, two) in zip(own, pairs, strict=True)
            ]
            for world, own in zip(worlds, ends, strict=True)
        ]
        most = measure.definition.highest - measure.definition.lowest
        for pair, rows in enumerate(interval_rows(judges, measure, drawing, (-most, most))):
            one, two = pairs[pair]
            found[pair, at] = [{"one": names[one], "two": names[two], "measure": measure.name, **row} for row in rows]
    return [row for pair in range(len(pairs)) for at in range(len(measures)) for row in found[pair, at]]


def _remedied(
    world: _World,
    rows: Sequence[dict[str, Any]],
    run: int,
    name: str,
    measure: Measure,
    options: Options,
    asked: Asked,
) -> tuple[list[dict[str, Any]], pl.DataFrame]:
    """Return what would shrink the interval of a run on the first measure, and the documents to judge."""
    widths = {row["source"]: row["width"] for row in rows if (row["run"], row["measure"]) == (name, measure.name)}
    aims = Aims(measure, world.places, world.grade, asked.alpha, asked.to_judge)
    found, documents = remedies(world.runs[run], widths, aims, options)
    first = {"run": name, "measure": measure.name}
    return [{**first, **row} for row in found], documents.select(
        *(pl.lit(each).alias(key) for key, each in first.items()), pl.all()
    )
