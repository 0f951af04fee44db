"""How much of a score is luck: the tie audit of one run or a few. In: files. Out: a `TieAudit`, six tables."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.choices import COMPARED, EXPECTED, HIGHEST_GRADE, INTERVAL, ORDERS_SAMPLED, TIES_MEASURES
from exaequo.errors import BadParameter, DataWarning
from exaequo.evaluation import each_run, notes_on_judgments, notes_on_run, values_by_order
from exaequo.expected import Expected, Orders, expected_values
from exaequo.judge import Floats, Judgments, judge, prepare
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options, check_alpha
from exaequo.order import Ordering
from exaequo.read import Qrels, QrelsLike, Run, RunLike, read_qrels, read_run, unique_names
from exaequo.stats.tests import student
from exaequo.tiestats import TieStatistics, stuffing, tie_statistics

#: Means that differ by less are equal: the rest is rounding.
NOISE = 1e-12
#: With up to so many runs, the chances that one beats another are estimated unasked.
MOST_CHANCES = 4


@dataclass(frozen=True, eq=False)
class TieAudit:
    """What ties do to some runs.

    - `runs`: tie statistics of each run; `lists`: of each result-list.
    - `scores`: each aggregate under each strategy, its span and gains in percent, undefined where they divide by 0.
    - `lucky`, `lucky_runs`: what gains most from the order of names; `from_nothing`: lists that gain from 0.
    - `conclusions`: for each pair of runs the verdict under each strategy, and whether it changes.
    - `stuffing`: what documents of score 0 at the end of lists earn.
    """

    runs: pl.DataFrame
    lists: pl.DataFrame
    scores: pl.DataFrame
    lucky: pl.DataFrame
    lucky_runs: pl.DataFrame
    from_nothing: pl.DataFrame
    conclusions: pl.DataFrame
    stuffing: pl.DataFrame
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables by name."""
        names = ("runs", "scores", "lucky", "lucky_runs", "from_nothing", "conclusions", "stuffing", "lists")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class _Audited:
    """What is kept of a run."""

    name: str
    file: str
    statistics: TieStatistics
    values: dict[str, Floats]
    expected: Expected
    stuffed: dict[str, Floats]
    samples: Floats


def audit_ties(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure] | str | Measure = TIES_MEASURES,
    *,
    top: int = 5,
    alpha: float = 0.05,
    depth: int | None = None,
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    seed: int = 0,
    samples: int = ORDERS_SAMPLED,
    chances: bool | None = None,
    columns: Mapping[str, str] | None = None,
) -> TieAudit:
    """Audit the ties of one run or many; inputs and options as for `evaluate`.

    Args:
        qrels: as for `evaluate`.
        runs: as for `evaluate`.
        measures: as for `evaluate`.
        top: how many of the luckiest result-lists to keep for each measure.
        alpha: level of the tests between runs.
        depth: cut each list here, after ordering; statistics are of whole lists.
        rel_level: as for `evaluate`.
        max_grade: as for `evaluate`.
        seed: for sampled orders.
        samples: orders to sample where they are too many.
        chances: estimate how likely each run is to beat each other; by default with up to four runs.
        columns: as for `evaluate`.
    """
    options = Options(ties=COMPARED, rel_level=rel_level, max_grade=max_grade, depth=depth, seed=seed, samples=samples)
    judged = read_qrels(qrels, columns=columns)
    given = each_run(runs)
    read = (read_run(run, name=name, columns=columns) for name, run in given)
    chances = 1 < len(given) <= MOST_CHANCES if chances is None else chances
    result = audit_runs(judged, read, parse_measures(measures), options, top=top, alpha=alpha, chances=chances)
    for warning in result.warnings:
        warnings.warn(warning, DataWarning, stacklevel=2)
    return result


def audit_runs(
    qrels: Qrels,
    runs: Iterable[Run],
    measures: Sequence[Measure],
    options: Options,
    *,
    top: int,
    alpha: float,
    chances: bool = True,
) -> TieAudit:
    """Audit runs one after the other, as they are read; warnings are collected, not given.

    `chances` asks how likely each run is to beat each other if ties are broken at random.
    """
    check_alpha(alpha)
    judgments = prepare(qrels, level=options.rel_level, highest=options.max_grade)
    notes = notes_on_judgments(judgments, measures)
    audited = []
    for at, run in enumerate(runs):
        lines = judge(run, judgments)
        notes += notes_on_run(lines, options)
        audited.append(_audit(run, Ordering(lines, options.precision), measures, options, at, chances))
    if not audited:
        raise BadParameter("No run is given.")
    names = unique_names([(each.name, each.file) for each in audited])
    named = dict(zip(names, audited, strict=True))
    luck = _lists_by_luck(named, judgments, measures)
    gained = luck.filter(pl.col("conventional") != pl.col("realistic"))
    order = pl.col("luck").rank("ordinal", descending=True).over("measure")
    scores = _scores(named, measures)
    return TieAudit(
        runs=pl.DataFrame([{"run": name, **each.statistics.summary()} for name, each in named.items()]),
        lists=pl.concat(_lists(name, each, judgments, measures) for name, each in named.items()),
        scores=scores,
        lucky_runs=_lucky_runs(scores, measures, top),
        lucky=(
            gained.filter(pl.col("luck").is_not_nan())
            .filter(order <= top)
            .sort("measure", "luck", descending=[False, True], maintain_order=True)
        ),
        from_nothing=gained.filter(pl.col("luck").is_nan() & (pl.col("realistic") == 0)).drop("luck"),
        conclusions=_conclusions(named, measures, alpha),
        stuffing=_stuffing(named, measures),
        warnings=tuple(notes),
        options={"top": top, "alpha": alpha, "depth": options.depth, "seed": options.seed, "samples": options.samples},
    )


def _audit(
    run: Run, ordering: Ordering, measures: Sequence[Measure], options: Options, at: int, chances: bool
) -> _Audited:
    values = values_by_order(ordering, INTERVAL, measures, options)
    depth, seed, samples = options.depth, options.seed, options.samples
    expected = expected_values(ordering, measures, depth=depth, seed=seed, samples=samples)
    cutoffs = sorted({m.params["cutoff"] for m in measures if m.params.get("cutoff")})
    statistics = tie_statistics(ordering, cutoffs)
    return _Audited(
        run.name,
        run.source.name,
        statistics,
        {**values, EXPECTED: expected.values},
        expected,
        _without_stuffing(ordering, measures, options) if statistics.stuffed.any() else {},
        _sampled_means(ordering, measures, options, at) if chances else np.zeros((0, len(measures))),
    )


def _without_stuffing(ordering: Ordering, measures: Sequence[Measure], options: Options) -> dict[str, Floats]:
    """Evaluate the lists without the documents they are filled up with."""
    values = {}
    for ties in INTERVAL:
        whole = ordering.ranking(ties)
        kept = ~stuffing(whole) if options.depth is None else ~stuffing(whole) & (whole.rank <= options.depth)
        values[ties] = np.stack([measure.values(whole.part(kept)) for measure in measures])
    return values


def _sampled_means(ordering: Ordering, measures: Sequence[Measure], options: Options, at: int) -> Floats:
    """Return the aggregates under random orders: orders × measures, one order if nothing is tied.

    Each run has random numbers of its own.
    """
    every = np.ones(ordering.judged_run.judgments.n_topics, dtype=bool)
    seed = int(np.random.SeedSequence([options.seed, at]).generate_state(1)[0])
    most = 0 if ordering.n_tied else 1
    orders = Orders(ordering.ranking(), every, depth=options.depth, seed=seed, samples=options.samples, most=most)
    return np.array(
        [
            [aggregate(measure.aggregate, measure.values(ranking)) for measure in measures]
            for ranking in orders.rankings()
        ]
    )


def gain(above: Floats | float, below: Floats | float) -> Floats:
    """Return the gain of one value over another in percent; NaN where it divides by 0, 0 where both are 0."""
    high, low = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    result = np.full(np.broadcast(high, low).shape, np.nan)
    np.divide(100 * (high - low), np.abs(low), out=result, where=low != 0)
    return np.where((low == 0) & (high == 0), 0.0, result)


def _scores(named: Mapping[str, _Audited], measures: Sequence[Measure]) -> pl.DataFrame:
    rows = []
    for name, run in named.items():
        for row, measure in enumerate(measures):
            low, middle, high, mean = (aggregate(measure.aggregate, run.values[ties][row]) for ties in COMPARED)
            topics = len(run.values[EXPECTED][row])
            plain_mean = measure.aggregate == "mean"
            rows.append(
                {
                    "run": name,
                    "measure": measure.name,
                    "realistic": low,
                    "conventional": middle,
                    "optimistic": high,
                    "expected": mean,
                    "sd": _deviation(run, row, plain_mean),
                    "how": run.expected.how[row],
                    "error": float(np.sqrt(np.nansum(run.expected.error[row] ** 2)) / topics),
                    "span": high - low,
                    "C over R %": float(gain(middle, low)),
                    "O over R %": float(gain(high, low)),
                    "O over C %": float(gain(high, middle)),
                }
            )
    return pl.DataFrame(rows)


def _deviation(run: _Audited, row: int, plain_mean: bool) -> float | None:
    """Return the standard deviation of an aggregate over orders: exact if there is a closed form, else from samples."""
    exact = float(np.sqrt(np.sum(run.expected.deviation[row] ** 2)) / run.expected.deviation.shape[1])
    if plain_mean and not np.isnan(exact):
        return exact
    return float(np.std(run.samples[:, row], ddof=1)) if len(run.samples) > 1 else None


def _lists_by_luck(named: Mapping[str, _Audited], judgments: Judgments, measures: Sequence[Measure]) -> pl.DataFrame:
    """Return every list and measure with its gains; luck is the gain C over R, or for RR the ranks gained."""
    parts = []
    for name, run in named.items():
        for row, measure in enumerate(measures):
            low, middle, high = (run.values[ties][row] for ties in INTERVAL)
            frame = pl.DataFrame(
                {
                    "run": pl.repeat(name, len(low), eager=True, dtype=pl.String),
                    "topic": judgments.topics,
                    "measure": pl.repeat(measure.name, len(low), eager=True, dtype=pl.String),
                    "realistic": low,
                    "conventional": middle,
                    "optimistic": high,
                    "C over R %": gain(middle, low),
                    "O over R %": gain(high, low),
                    "O over C %": gain(high, middle),
                    "ranks gained": rank_gain(low, middle),
                }
            )
            is_rr = measure.definition.name == "RR"
            frame = frame if is_rr else frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("ranks gained"))
            luck = pl.col("ranks gained" if is_rr else "C over R %") * measure.upward
            parts.append(frame.with_columns(luck.alias("luck")))
    return pl.concat(parts)


def _lists(name: str, run: _Audited, judgments: Judgments, measures: Sequence[Measure]) -> pl.DataFrame:
    """Return ties and scores of each list."""
    there = pl.Series(run.statistics.there)
    values = {
        f"{measure.name} {ties}": run.values[ties][row] for row, measure in enumerate(measures) for ties in COMPARED
    }
    scores = pl.DataFrame(values).filter(there)
    return run.statistics.frame(judgments.topics).select(pl.lit(name).alias("run"), pl.all()).hstack(scores)


def _lucky_runs(scores: pl.DataFrame, measures: Sequence[Measure], top: int) -> pl.DataFrame:
    """Return the runs whose aggregates the order of names helps most."""
    signs = {measure.name: measure.upward for measure in measures}
    luck = pl.col("C over R %") * pl.col("measure").replace_strict(signs, return_dtype=pl.Int64)
    names = ("measure", "run", *INTERVAL, "C over R %", "O over R %", "O over C %")
    table = scores.with_columns(luck.alias("luck")).filter(pl.col("luck").is_not_nan() & (pl.col("luck") > 0))
    order = pl.col("luck").rank("ordinal", descending=True).over("measure")
    return (
        table.filter(order <= top).sort("measure", "luck", descending=[False, True], maintain_order=True).select(names)
    )


def rank_gain(low: Floats, middle: Floats) -> Floats:
    """Return by how many ranks names move the first relevant document up: 1/RR_R − 1/RR_C; NaN where RR is 0."""
    both = (low > 0) & (middle > 0)
    result = np.full(len(low), np.nan)
    result[both] = 1 / low[both] - 1 / middle[both]
    return result


def _conclusions(named: Mapping[str, _Audited], measures: Sequence[Measure], alpha: float) -> pl.DataFrame:
    """Compare each pair of runs under each strategy by a paired t-test over topics."""
    rows: list[dict[str, Any]] = []
    for (one, first), (two, second) in combinations(named.items(), 2):
        for row, measure in enumerate(measures):
            verdicts: dict[str, Any] = {}
            chances: dict[str, Any] = {}
            for ties in COMPARED:
                gap = first.values[ties][row] - second.values[ties][row]
                gap = gap[~np.isnan(gap)]
                p = paired_t(gap)
                mean = measure.upward * float(gap.mean()) if len(gap) else 0.0
                sign = "=" if abs(mean) < NOISE else ">" if mean > 0 else "<"
                verdicts[ties] = f"{sign} *" if p < alpha else sign
                chances[f"p {ties}"] = p
            rows.append(
                {
                    "measure": measure.name,
                    "one": one,
                    "two": two,
                    **verdicts,
                    "changes": len(set(verdicts.values())) > 1,
                    **_chance(first, second, row, measure.upward),
                    **chances,
                }
            )
    schema: dict[str, Any] = dict.fromkeys(("measure", "one", "two", *COMPARED), pl.String)
    schema |= {"changes": pl.Boolean, "one beats two": pl.Float64, "give or take": pl.Float64}
    schema |= {f"p {ties}": pl.Float64 for ties in COMPARED}
    return pl.DataFrame(rows, schema=schema)


def paired_t(gap: Floats) -> float:
    """Return the two-sided p of a paired t-test; 1 where all differences are 0, NaN for fewer than two topics."""
    return float(student(gap[None, :])[0]) if len(gap) > 1 else float("nan")


def _chance(first: _Audited, second: _Audited, row: int, upward: int) -> dict[str, float | None]:
    """Return the chance that the first is better if ties are broken at random, a draw counting half, and its error."""
    one, two = (upward * np.round(each.samples[:, row], 12) for each in (first, second))
    two = np.sort(two[~np.isnan(two)])
    one = one[~np.isnan(one)]
    below, not_above = np.searchsorted(two, one, side="left"), np.searchsorted(two, one, side="right")
    pairs = len(one) * len(two)
    if not pairs:
        return {"one beats two": None, "give or take": None}
    chance = float(np.sum(below + not_above)) / 2 / pairs
    fewest = min(len(each) for each in (one, two) if len(each) > 1) if max(len(one), len(two)) > 1 else 0
    error = float(np.sqrt(chance * (1 - chance) / fewest)) if fewest else 0.0
    return {"one beats two": chance, "give or take": error}


def _stuffing(named: Mapping[str, _Audited], measures: Sequence[Measure]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for name, run in named.items():
        for row, measure in enumerate(measures if run.stuffed else ()):
            parts: dict[str, Any] = {}
            for ties in INTERVAL:
                with_them = aggregate(measure.aggregate, run.values[ties][row])
                without = aggregate(measure.aggregate, run.stuffed[ties][row])
                parts[f"earned {ties}"] = with_them - without
            stuffed = int(run.statistics.stuffed.sum())
            rows.append({"run": name, "measure": measure.name, "documents": stuffed, **parts})
    schema: dict[str, Any] = {"run": pl.String, "measure": pl.String, "documents": pl.Int64}
    return pl.DataFrame(rows, schema=schema | {f"earned {ties}": pl.Float64 for ties in INTERVAL})
