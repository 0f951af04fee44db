"""Evaluating: runs × strategies × measures → `Scores`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.choices import EXPECTED, HIGHEST_GRADE, INTERVAL, ORDERS_SAMPLED
from exaequo.errors import BadParameter, DataWarning, InputError, MissingTopics, Problem
from exaequo.expected import Expected, expected_values
from exaequo.judge import Floats, JudgedRun, Judgments, judge, prepare
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options, one_strategy
from exaequo.order import Ordering
from exaequo.read import Qrels, QrelsLike, Run, RunLike, read_qrels, read_run, unique_names
from exaequo.scores import ALL, Block, Scores, TieEffect
from exaequo.text import count, listed


def evaluate(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure] | str | Measure,
    ties: str | Sequence[str] = "realistic",
    *,
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    depth: int | None = None,
    missing: str = "zero",
    precision: str = "double",
    seed: int = 0,
    samples: int = ORDERS_SAMPLED,
    interval: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Scores:
    """Evaluate one run or many against judgments.

    Args:
        qrels: a path, a frame, a dict of dicts, or named tuples.
        runs: one run, a list of runs, or a dict of runs by name; each a path, a frame, a dict of dicts, …
        measures: names such as `"AP"`, `"nDCG@10"`, `"P(rel=2)@5"`, or measure objects.
        ties: one strategy or several: realistic, conventional, optimistic, rank, input, random, or `"expected"`, the
            mean over all orders of the ties; `"all"` is the first three.
        rel_level: the least grade that is relevant, for measures that do not say; by default any above 0.
        max_grade: a grade above this counts as 0.
        depth: cut each list here, after ordering.
        missing: a judged topic the run lacks scores `"zero"`, is left out (`"skip"`), or is an `"error"`.
        precision: compare scores as `"double"` or as `"single"`.
        seed: for ties="random" and for sampled expected values.
        samples: orders of ties to sample where the expected value has no closed form and there are too many orders.
        interval: also find the aggregates that ties change (`Scores.tie_effects`).
        columns: the names of `qid`, `docno`, `sim`, `rel` in tables, where they are not the usual ones.
    """
    options = Options.of(
        ties,
        rel_level=rel_level,
        max_grade=max_grade,
        depth=depth,
        missing=missing,
        precision=precision,
        seed=seed,
        samples=samples,
    )
    parsed = parse_measures(measures)
    judged = read_qrels(qrels, columns=columns)
    read = (read_run(run, name=name, columns=columns) for name, run in each_run(runs))
    scores = evaluate_runs(judged, read, parsed, options, interval=interval)
    for warning in scores.warnings:
        warnings.warn(warning, DataWarning, stacklevel=2)
    return scores


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

    order = one_strategy(ties)
    judgments = prepare(read_qrels(qrels), level=rel_level)
    first, second = (Ordering(judge(read_run(run), judgments)).ranking(order, seed=seed) for run in (one, two))
    return dict(zip(judgments.topics.to_list(), lexicographic_recall(first, second).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _Result:
    """What is kept of a run: its lines are let go before the next one is read."""

    name: str
    file: str
    topics: pl.Series
    values: dict[str, Floats]
    expected: Expected | None
    about: dict[str, Any]


def evaluate_runs(
    qrels: Qrels,
    runs: Iterable[Run],
    measures: Sequence[Measure],
    options: Options,
    *,
    interval: bool = False,
) -> Scores:
    """Evaluate runs one after the other, as they are read; warnings are collected, not given."""
    judgments = prepare(qrels, level=options.rel_level, highest=options.max_grade)
    notes = notes_on_judgments(judgments, measures)
    orders = tuple(dict.fromkeys((*options.ties, *(INTERVAL if interval else ()))))
    results = []
    for run in runs:
        judged = judge(run, judgments)
        notes += notes_on_run(judged, options)
        results.append(_evaluate_run(judged, measures, orders, options))
        notes += _notes_on_undefined(results[-1], measures, options)
    if not results:
        raise BadParameter("No run is given.")
    names = unique_names([(result.name, result.file) for result in results])
    named = list(zip(names, results, strict=True))
    return Scores(
        measures=tuple(measures),
        blocks=tuple(
            Block(name, ties, result.topics, result.values[ties], result.expected if ties == EXPECTED else None)
            for name, result in named
            for ties in options.ties
        ),
        tie_effects=tuple(
            effect for name, result in named if interval for effect in _tie_effects(name, measures, result.values)
        ),
        warnings=tuple(notes),
        options=asdict(options),
        inputs={
            "qrels": _described(qrels),
            "runs": [{"name": name, **result.about} for name, result in named],
        },
    )


def _evaluate_run(judged: JudgedRun, measures: Sequence[Measure], orders: Sequence[str], options: Options) -> _Result:
    ordering = Ordering(judged, options.precision)
    values = values_by_order(ordering, [ties for ties in orders if ties != EXPECTED], measures, options)
    expected = None
    if EXPECTED in orders:
        depth, seed, samples = options.depth, options.seed, options.samples
        expected = expected_values(ordering, measures, depth=depth, seed=seed, samples=samples)
        values[EXPECTED] = expected.values
    topics = judged.judgments.topics
    if options.missing == "skip":
        kept = judged.returned > 0
        if not kept.any():
            found = "none of its topics has a relevant document"
            raise InputError(Problem(judged.run.source.name, None, found, "at least one", "Choose --missing zero."))
        topics = topics.filter(pl.Series(kept))
        values = {ties: each[:, kept] for ties, each in values.items()}
        expected = expected.part(kept) if expected else None
    about = {**_described(judged.run), "tied": ordering.n_tied}
    return _Result(judged.run.name, judged.run.source.name, topics, values, expected, about)


def values_by_order(
    ordering: Ordering, orders: Sequence[str], measures: Sequence[Measure], options: Options
) -> dict[str, Floats]:
    """Compute all measures under each strategy; where nothing is tied, the strategies are one."""
    result: dict[str, Floats] = {}
    for ties in orders:
        if result and not ordering.n_tied:
            result[ties] = next(iter(result.values()))
            continue
        ranking = ordering.ranking(ties, seed=options.seed, depth=options.depth)
        result[ties] = np.stack([measure.values(ranking) for measure in measures])
    return result


def _tie_effects(run: str, measures: Sequence[Measure], values: Mapping[str, Floats]) -> list[TieEffect]:
    effects = []
    low, middle, high = (values[ties] for ties in INTERVAL)
    changed = ((low != middle) | (middle != high)) & ~(np.isnan(low) & np.isnan(middle) & np.isnan(high))
    for row, measure in enumerate(measures):
        if changed[row].any():
            bottom, names, top = (aggregate(measure.aggregate, each[row]) for each in (low, middle, high))
            effects.append(TieEffect(run, measure, bottom, names, top, int(changed[row].sum())))
    return effects


def _notes_on_undefined(result: _Result, measures: Sequence[Measure], options: Options) -> list[str]:
    """Say where a measure has no value; its mean is that of the other topics."""
    notes: list[str] = []
    for row, measure in enumerate(measures):
        why = measure.definition.undefined
        for ties in options.ties if why else ():
            values = result.values[ties][row]
            without = result.topics.filter(pl.Series(np.isnan(values))).to_list()
            if without:
                plain = Measure(measure.definition, measure.params).name
                what = f"{plain} undefined in {len(without):,} of {count(len(values), 'topic')}"
                notes.append(f"{result.file}: {what}, left out of its mean ({why}): {listed(without)}")
    return list(dict.fromkeys(notes))


def each_run(runs: Any) -> list[tuple[str | None, Any]]:
    """Tell one run from many: a dict is one run if its values map documents to numbers."""
    if isinstance(runs, Mapping):
        inner = next((value for value in runs.values() if not isinstance(value, Mapping) or value), None)
        if not isinstance(inner, Mapping) or isinstance(next(iter(inner.values())), Mapping):
            return [(str(name), run) for name, run in runs.items()]
        return [(None, runs)]
    if isinstance(runs, Iterator):
        runs = list(runs)
    many = isinstance(runs, list | tuple) and not (runs and hasattr(runs[0], "_fields"))  # one run, as named tuples
    return [(None, run) for run in runs] if many else [(None, runs)]


def _described(data: Run | Qrels) -> dict[str, Any]:
    return {"file": data.source.name, "sha256": data.source.sha256, "lines": data.frame.height}


def notes_on_judgments(judgments: Judgments, measures: Sequence[Measure]) -> list[str]:
    """Say what about the judgments changes how scores should be read; raise if there is nothing to evaluate."""
    notes = []
    name = judgments.qrels.source.name
    if not judgments.n_topics:
        found = f"no relevant document in {count(len(judgments.nothing_relevant), 'topic')}"
        mend = "Check the judgments, --rel-level and --max-grade."
        raise InputError(Problem(name, None, found, "at least one", mend))
    if ALL in judgments.topics:
        notes.append(f"{name}: a topic is called {ALL!r}; in CSV and trec output so are the figures of all topics")
    if judgments.nothing_relevant:
        topics = judgments.nothing_relevant
        notes.append(
            f"{name}: {count(len(topics), 'topic')} with nothing relevant left out of all averages: {listed(topics)}"
        )
    notes += notes_on_grades(judgments)
    for level in sorted({m.params["rel"] for m in measures if m.params.get("rel") is not None}):
        empty = int((judgments.counted(level) == 0).sum())
        if empty:
            what = f"{count(empty, 'topic')} with nothing relevant at rel={level:g}"
            notes.append(f"{name}: {what}, scored there like lists that find nothing")
    return notes


def notes_on_grades(judgments: Judgments) -> list[str]:
    """Say which judgments are not taken as they stand."""
    notes = []
    name = judgments.qrels.source.name
    if judgments.too_high:
        notes.append(
            f"{name}: {count(judgments.too_high, 'judgment')} above {judgments.highest:g} taken as not relevant "
            "(--max-grade, max_grade= changes that)"
        )
    if judgments.merged:
        notes.append(
            f"{name}: {count(judgments.merged, 'document')} judged again for another subtopic (the iteration field); "
            "measures without subtopics take the highest grade"
        )
    return notes


def notes_on_run(judged: JudgedRun, options: Options) -> list[str]:
    """Say what about a run changes how its scores should be read; raise if it cannot be evaluated at all."""
    notes = []
    run, stray, missing = judged.run, judged.stray, judged.missing
    if stray and len(stray) == run.frame["qid"].n_unique():
        examples = listed(judged.judgments.topics.to_list(), 3)
        found = f"none of its {count(len(stray), 'topic')} is judged ({listed(stray, 3)})"
        mend = "Check that the run and the qrels are of the same collection."
        raise InputError(Problem(run.source.name, None, found, f"topics such as {examples}", mend))
    if run.n_names > 1:
        notes.append(f"{run.source.name}: {run.n_names} different run ids; taken as one run, called {run.name}")
    if options.precision == "single" and np.abs(judged.sim).max(initial=0) > np.finfo(np.float32).max:
        notes.append(f"{run.source.name}: scores too large for single precision are all tied")
    if stray:
        notes.append(f"{run.source.name}: {count(len(stray), 'topic')} nobody judged, ignored: {listed(stray)}")
    if missing:
        what = f"{len(missing):,} of {judged.judgments.n_topics:,} evaluated topics missing: {listed(missing)}"
        if options.missing == "error":
            raise MissingTopics(f"{run.source.name}: {what}. Add them, or choose --missing zero or skip.")
        notes.append(
            f"{run.source.name}: {what}; " + ("scored as empty lists" if options.missing == "zero" else "left out")
        )
    return notes
