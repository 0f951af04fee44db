"""How much of a score is luck: the tie audit of one run or a few. In: `Scores` with facts. Out: a `TieAudit`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations, count
from typing import Any, Unpack

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.arrays import Floats
from exaequo.choices import ALPHA, COMPARED, EXPECTED, INTERVAL, MEASURES, ORDERS_SAMPLED, TOP
from exaequo.errors import BadParameter
from exaequo.evaluation import Judged, evaluate_runs, judged_runs, warn
from exaequo.expected import Orders
from exaequo.luck import (
    EARNED,
    GAINS,
    changes,
    earnings,
    from_nothing,
    gains_of_lists,
    gains_of_runs,
    luckiest,
    testable,
    which_is_better,
)
from exaequo.measures import Measure, parse_measures
from exaequo.options import Evaluation, Options, check_alpha, keywords
from exaequo.order import Ordering
from exaequo.read import QrelsLike, RunsLike, each_run, read_qrels, read_run
from exaequo.scores import Scores, Values
from exaequo.stats.reversals import reversals
from exaequo.tabular import Tabled, plain
from exaequo.tiestats import LEVELS, TieStatistics, frame_of, per_score_at, tie_statistics, values_without_stuffing

#: If ties are broken at random: the chance that the first is better, its error, and how often it wins, draws, loses.
CHANCES = ("one_beats_two", "chance_error", "win_percent", "draw_percent", "loss_percent")
#: With up to so many runs, the chances that one beats another are estimated unasked.
MOST_CHANCES = 4


@dataclass(frozen=True, eq=False, repr=False)
class TieAudit(Tabled):
    """What ties do to some runs.

    - `runs`: tie statistics of each run; `lists`: of each result-list; `per_score`: documents per different score, by
      list, run and topic.
    - `scores`: each aggregate under each strategy, its span and gains in percent, undefined where they divide by 0.
    - `lucky`, `lucky_runs`: what gains most from the order of names; `from_nothing`: lists that gain from 0.
    - `conclusions`: for each pair of runs the verdict under each strategy, and whether it changes.
    - `stuffing`: what documents of score 0 at the end of lists earn.
    - `reversals`: how often conclusions from some topics are reversed on as many others, if that was asked for.
    """

    shown = (
        "runs: run lists documents tied_percent largest_tie all_tied no_tie",
        "scores: run measure realistic conventional optimistic expected span",
        "conclusions: measure one two realistic conventional optimistic expected changes",
    )
    runs: pl.DataFrame
    per_score: pl.DataFrame
    scores: pl.DataFrame
    lucky: pl.DataFrame
    lucky_runs: pl.DataFrame
    from_nothing: pl.DataFrame
    conclusions: pl.DataFrame
    stuffing: pl.DataFrame
    reversals: pl.DataFrame
    lists: pl.DataFrame
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class TieFacts:
    """What an audit notes of a run: its ties; by strategy and measure its aggregates without stuffing, if there is any;
    by measure its aggregates under random orders, if they were asked for.
    """

    statistics: TieStatistics
    stuffed: dict[tuple[str, Measure], float]
    samples: dict[Measure, Floats]


def audit_ties(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: Iterable[str | Measure] | str | Measure = MEASURES,
    *,
    top: int = TOP,
    alpha: float = ALPHA,
    samples: int = ORDERS_SAMPLED,
    chances: bool | None = None,
    splits: int = 0,
    **options: Unpack[Evaluation],
) -> TieAudit:
    """Audit the ties of one run or many; inputs and options as for `evaluate`.

    Args:
        qrels: as for `evaluate`.
        runs: as for `evaluate`.
        measures: as for `evaluate`.
        top: how many of the luckiest result-lists to keep for each measure.
        alpha: level of the tests between runs.
        samples: orders to sample where they are too many.
        chances: estimate how likely each run is to beat each other; by default with up to four runs.
        splits: into so many random halves the topics are split to see how often conclusions are reversed; 0: not.
        options: as for `evaluate`, but missing topics are never skipped; tie statistics are of whole lists.
    """
    reading, given = keywords("audit_ties", options)
    chosen = Options(ties=COMPARED, samples=samples, **given)
    parsed, named = parse_measures(measures), each_run(runs)
    chances = 1 < len(named) <= MOST_CHANCES if chances is None else chances
    read = (read_run(run, name=name, **reading) for name, run in named)
    judged = judged_runs(read_qrels(qrels, **reading), read, chosen, parsed)
    result = audit_runs(judged, parsed, chosen, top=top, alpha=alpha, chances=chances, splits=splits)
    warn(result.warnings)
    return result


def audit_runs(
    runs: Iterable[Judged],
    measures: list[Measure],
    options: Options,
    *,
    top: int = TOP,
    alpha: float = ALPHA,
    chances: bool = True,
    splits: int = 0,
) -> TieAudit:
    """Audit runs one after the other, as they are judged; warnings are collected, not given.

    `chances` asks how likely each run is to beat each other if ties are broken at random, `splits` how often
    conclusions are reversed on other topics.
    """
    check_alpha(alpha)
    if options.missing == "skip":
        raise BadParameter("An audit compares runs on the same topics: missing must be 'zero' or 'error'.")
    scores = evaluate_runs(runs, measures, options, facts=_facts(measures, options, chances))
    return audit_scores(scores, top=top, alpha=alpha, splits=splits)


def audit_scores(scores: Scores, *, top: int, alpha: float, splits: int = 0) -> TieAudit:
    """Make the tables of an audit of scores under the four strategies, with their facts."""
    lists, means = gains_of_lists(scores), gains_of_runs(scores)
    ties = frame_of({run: facts.statistics for run, facts in scores.facts.items()}, scores.evaluated)
    lucky_runs = luckiest(means, top).select("measure", "run", *INTERVAL, *GAINS)
    return TieAudit(
        runs=pl.DataFrame([{"run": run, **facts.statistics.summary()} for run, facts in scores.facts.items()]),
        per_score=pl.concat(per_score_at(level, ties) for level in LEVELS),
        lists=pl.concat(_lists(scores, run) for run in scores.runs),
        scores=_scores(scores, means),
        lucky_runs=lucky_runs,
        lucky=luckiest(lists, top),
        from_nothing=from_nothing(lists, scores.measures).drop("luck"),
        conclusions=_conclusions(scores, alpha),
        stuffing=_stuffing(scores),
        reversals=reversal_rates(scores, alpha, splits),
        warnings=scores.warnings,
        options={"top": top, "alpha": alpha, **{name: plain(value) for name, value in scores.options.items()}},
    )


# ----------------------------------------------------------------------------------------------------------- facts


def cutoffs_of(measures: Iterable[Measure]) -> list[int]:
    """Return where measures cut lists."""
    return sorted({measure.params["cutoff"] for measure in measures if measure.params.get("cutoff")})


def _facts(measures: list[Measure], options: Options, chances: bool) -> Callable[[Ordering], TieFacts]:
    """Return what notes the facts of a run; each run has random numbers of its own."""
    cutoffs, numbers = cutoffs_of(measures), count()

    def note(ordering: Ordering) -> TieFacts:
        statistics, number = tie_statistics(ordering, cutoffs), next(numbers)
        return TieFacts(
            statistics,
            _without_stuffing(ordering, measures, options) if statistics.stuffed.any() else {},
            _sampled_means(ordering, measures, options, number) if chances else {},
        )

    return note


def _without_stuffing(
    ordering: Ordering, measures: list[Measure], options: Options
) -> dict[tuple[str, Measure], float]:
    """Evaluate the lists without the documents they are filled up with."""
    found = {ties: values_without_stuffing(ordering.ranking(ties), measures, options.depth) for ties in INTERVAL}
    return {
        (ties, measure): aggregate(measure.aggregate, values)
        for ties, by_measure in found.items()
        for measure, values in zip(measures, by_measure, strict=True)
    }


def _sampled_means(ordering: Ordering, measures: list[Measure], options: Options, number: int) -> dict[Measure, Floats]:
    """Return the aggregates of each measure under random orders, one order if nothing is tied."""
    every = np.ones(ordering.judgments.n_topics, dtype=bool)
    seed = int(np.random.SeedSequence([options.seed, number]).generate_state(1)[0])
    most = 0 if ordering.n_tied else 1
    orders = Orders(ordering.ranking(), every, depth=options.depth, seed=seed, samples=options.samples, most=most)
    rows = [
        [aggregate(measure.aggregate, measure.values(ranking)) for measure in measures] for ranking in orders.rankings()
    ]
    return dict(zip(measures, np.array(rows).T, strict=True))


# ---------------------------------------------------------------------------------------------------------- tables


def _scores(scores: Scores, gains: pl.DataFrame) -> pl.DataFrame:
    """Return each aggregate under each strategy, how the expected one was found, the span, and the gains."""
    expected = [scores[run, EXPECTED, measure] for run in scores.runs for measure in scores.measures]
    found = {
        EXPECTED: [each.mean for each in expected],
        "sd": [_deviation(each, scores.facts[each.run].samples.get(each.measure)) for each in expected],
        "how": [each.how for each in expected],
        "error": [each.standard_error for each in expected],
    }
    span = (pl.col("optimistic") - pl.col("realistic")).alias("span")
    table = gains.hstack(pl.DataFrame(found, schema_overrides={"sd": pl.Float64}))
    return table.select("run", "measure", *COMPARED, "sd", "how", "error", span, *GAINS)


def _deviation(expected: Values, samples: Floats | None) -> float | None:
    """Return the standard deviation of an aggregate over orders: exact if there is a closed form, else from samples."""
    known = expected.deviation[~expected.undefined]
    exact = float(np.sqrt(np.sum(known**2)) / len(known)) if len(known) else float("nan")
    if expected.measure.aggregate == "mean" and not np.isnan(exact):
        return exact
    return float(np.std(samples, ddof=1)) if samples is not None and len(samples) > 1 else None


def _lists(scores: Scores, run: str) -> pl.DataFrame:
    """Return ties and scores of each list."""
    ties = frame_of({run: scores.facts[run].statistics}, scores.evaluated)
    own = {(measure, each): scores[run, each, measure] for measure in scores.measures for each in COMPARED}
    columns = {f"{measure.name}_{each}": values.values for (measure, each), values in own.items()}
    values = pl.DataFrame({"topic": next(iter(own.values())).topics, **columns})
    return ties.join(values, on="topic", how="left", maintain_order="left")


def _conclusions(scores: Scores, alpha: float) -> pl.DataFrame:
    """Compare each pair of runs under each strategy by a paired t-test over topics; geometric means have none."""
    pairs = list(combinations(scores.runs, 2))
    tested = testable(scores.measures) if pairs else []
    found = {
        measure: {ties: which_is_better(scores.matrix(measure, ties).values, measure.upward) for ties in COMPARED}
        for measure in tested
    }
    changing = {
        measure: changes([3 * better + (p < alpha) for better, p in by_ties.values()])
        for measure, by_ties in found.items()
    }
    rows = [
        {
            "measure": measure.name,
            "one": one,
            "two": two,
            **{ties: _verdict(better[at], p[at], alpha) for ties, (better, p) in found[measure].items()},
            "changes": bool(changing[measure][at]),
            **_chance(scores.facts[one], scores.facts[two], measure),
            **{f"p_{ties}": float(p[at]) for ties, (_, p) in found[measure].items()},
        }
        for at, (one, two) in enumerate(pairs)
        for measure in tested
    ]
    schema: dict[str, Any] = dict.fromkeys(("measure", "one", "two", *COMPARED), pl.String)
    schema |= {"changes": pl.Boolean} | dict.fromkeys(CHANCES, pl.Float64)
    schema |= {f"p_{ties}": pl.Float64 for ties in COMPARED}
    return pl.DataFrame(rows, schema=schema)


def _verdict(better: int, p: float, alpha: float) -> str:
    sign = {1: ">", -1: "<", 0: "="}[int(better)]
    return f"{sign} *" if p < alpha else sign


def _chance(first: TieFacts, second: TieFacts, measure: Measure) -> dict[str, float | None]:
    """Return how often the first beats the second if ties are broken at random, with its error; a draw counts half.

    How often it wins, draws and loses stands beside it, in percent.
    """
    found = (facts.samples.get(measure, np.zeros(0)) for facts in (first, second))
    one, two = (measure.upward * np.round(each[~np.isnan(each)], 12) for each in found)
    two = np.sort(two)
    below, not_above = np.searchsorted(two, one, side="left"), np.searchsorted(two, one, side="right")
    pairs = len(one) * len(two)
    if not pairs:
        return dict.fromkeys(CHANCES)
    win, draw = float(below.sum()) / pairs, float((not_above - below).sum()) / pairs
    chance = float(np.sum(below + not_above)) / 2 / pairs
    fewest = min(len(each) for each in (one, two) if len(each) > 1) if max(len(one), len(two)) > 1 else 0
    error = float(np.sqrt(chance * (1 - chance) / fewest)) if fewest else 0.0
    loss = float((len(two) - not_above).sum()) / pairs
    return dict(zip(CHANCES, (chance, error, 100 * win, 100 * draw, 100 * loss), strict=True))


def _stuffing(scores: Scores) -> pl.DataFrame:
    """Return what stuffing earns each run that has any: M(full) − M(without), and its share of the score."""
    rows: list[dict[str, Any]] = []
    for run, facts in scores.facts.items():
        for measure in scores.measures if facts.stuffed else ():
            full = {ties: scores[run, ties, measure].mean for ties in INTERVAL}
            without = {ties: facts.stuffed[ties, measure] for ties in INTERVAL}
            stuffed = int(facts.statistics.stuffed.sum())
            rows.append({"run": run, "measure": measure.name, "documents": stuffed, **earnings(full, without)})
    schema: dict[str, Any] = {"run": pl.String, "measure": pl.String, "documents": pl.Int64}
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(EARNED, pl.Float64))


def reversal_rates(scores: Scores, alpha: float, splits: int) -> pl.DataFrame:
    """Return under each strategy how often what n topics say is reversed on n others; nothing without splits."""
    several = testable(scores.measures) if splits and len(scores.runs) > 1 else []
    names = ("differ", "reversed", "significant", "significant_reversed")
    rates = {f"{name}_percent": name for name in names}
    counts = dict.fromkeys(("topics", "splits"), pl.Int64)
    parts = [
        pl.DataFrame(schema={"measure": pl.String, "ties": pl.String, **counts} | dict.fromkeys(rates, pl.Float64))
    ]
    for measure in several:
        for ties in scores.ties:
            values = scores.matrix(measure, ties).values
            found = reversals(values, alpha, splits=splits, seed=scores.options.get("seed", 0))
            labels = pl.lit(measure.name).alias("measure"), pl.lit(ties).alias("ties")
            figures = {name: getattr(found, name) for name in counts}
            figures |= {column: getattr(found, name) for column, name in rates.items()}
            parts.append(pl.DataFrame(figures).select(*labels, pl.all()).fill_nan(None))
    return pl.concat(parts)
