"""The tables of a study: those of an audit, edition by edition, and over tracks. In: `Scores` of editions. Out: frames.

Lists and runs are frames with a row per list or run and measure: `track, edition, run(, topic), measure`, the value
under each strategy, and its gains. The facts of a list are how many of its documents are tied.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Bools, Floats, Ints
from exaequo.choices import INTERVAL
from exaequo.luck import (
    GAINS,
    RANKS,
    from_nothing,
    gain,
    gains_of_lists,
    gains_of_runs,
    luckiest,
    testable,
    which_is_better,
)
from exaequo.measures import Measure
from exaequo.stats.agreement import competition_ranks, kendall, pearson
from exaequo.stats.tests import Setting, bootstrap_of_many, randomization, student
from exaequo.study.editions import (
    ALL,
    EDITION,
    MAXIMUM,
    PLAIN,
    WEIGHTED,
    Editions,
    by_track,
    labelled,
    with_totals,
)
from exaequo.study.stuffing import stuffed_runs, stuffing, stuffing_scores
from exaequo.tiestats import COUNTED, LEVELS, frame_of, per_score_at, spread

#: How a conclusion can be wrong: significant with the order of names alone, with fair ties alone, or the other way.
WAYS = ("only_conventional", "only_realistic", "opposite")
#: Random samples of the bootstrap test: lists are many.
SAMPLES = 2_000
#: Below this p a track gets a star, as in the papers.
STAR = 0.001
#: Share of the systems with the lowest conventional means that is left out where the papers do.
WORST = 0.25
#: Means are rounded to so many digits: what differs beyond is the order of adding up.
DIGITS = 12


def all_tables(editions: Editions, measures: Sequence[Measure], *, top: int, alpha: float) -> dict[str, pl.DataFrame]:
    """Return every table by name."""
    facts, runs = facts_of(editions), runs_of(editions)
    lists, stuffed = lists_of(editions, facts), stuffed_runs(editions, measures, DIGITS)
    of_list, of_run = [*EDITION, "run", "topic"], [*EDITION, "run"]
    frames = {
        measure: [frame.filter(pl.col("measure") == measure.name) for frame in (lists, runs)] for measure in measures
    }
    nowhere = pl.lit("").alias("topic")
    return {
        "ties": tie_statistics(facts),
        "per_score": per_score(facts),
        "differences": pl.concat(
            differences(frame, measure, of)
            for measure, both in frames.items()
            for frame, of in zip(both, ("lists", "runs"), strict=True)
        ),
        "lucky_lists": _lucky([own for own, _ in frames.values()], top, of_list),
        "lucky_runs": _lucky([own for _, own in frames.values()], top, of_run),
        "from_nothing": pl.concat(
            from_nothing(frame, measures).select("measure", *of_list, *INTERVAL).sort(of_list)
            for own, whole in frames.values()
            for frame in (own, whole.with_columns(nowhere))
        ),
        "gains": pl.concat(gains(whole, measure) for measure, (_, whole) in frames.items()),
        "rankings": pl.concat(rankings(whole, measure) for measure, (_, whole) in frames.items()),
        "conclusions": pl.concat(conclusions(editions, measure, alpha) for measure in testable(measures)),
        "systems": pl.concat(systems(whole, measure) for measure, (_, whole) in frames.items()),
        "stuffing": stuffing(runs.unique(of_run, maintain_order=True)),
        "stuffing_scores": stuffing_scores(runs, stuffed, measures),
        "stuffed_runs": stuffed,
        **{name: tied_lists(facts, name) for name in ("all_tied", "one_tie")},
    }


def facts_of(editions: Editions) -> pl.DataFrame:
    """Return a row per list that has documents, with how many of them are tied."""
    return pl.concat(labelled(label, frame_of(scores.facts, scores.evaluated)) for label, scores in editions.items())


def lists_of(editions: Editions, facts: pl.DataFrame) -> pl.DataFrame:
    """Return every list that has documents, and each measure, with its gains."""
    whole = pl.concat(labelled(label, gains_of_lists(scores)) for label, scores in editions.items())
    return whole.join(facts, on=[*EDITION, "run", "topic"], how="semi", maintain_order="left")


def runs_of(editions: Editions) -> pl.DataFrame:
    """Return every run and measure with its gains, and the ties of the run."""
    parts = []
    for label, scores in editions.items():
        ties = pl.DataFrame([{"run": run, **facts.summary()} for run, facts in scores.facts.items()])
        whole = gains_of_runs(scores, digits=DIGITS).join(ties, on="run", maintain_order="left")
        parts.append(labelled(label, whole))
    return pl.concat(parts).sort([*EDITION, "run"], maintain_order=True)


def _lucky(frames: Sequence[pl.DataFrame], top: int, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows of each track that names help most; of equals the first by name."""
    table = pl.concat(luckiest(frame.sort(names), top, ["track"]) for frame in frames)
    ranks = RANKS if table["ranks_gained"].count() else ()
    return table.select("measure", *names, *INTERVAL, *ranks, *GAINS)


def tie_statistics(facts: pl.DataFrame) -> pl.DataFrame:
    """Return both statistics of each edition over its lists; averages of tracks and of all, plain and by runs."""
    figures = [*spread("tied_percent", "tied_{}_percent"), *spread("per_score", "per_score_{}")]
    counts = [pl.col("run").n_unique().cast(pl.Int64).alias("runs"), pl.len().cast(pl.Int64).alias("lists")]
    counts += [pl.col(name).sum().cast(pl.Int64) for name in COUNTED]
    table = averaged(facts.group_by(EDITION).agg(*counts, *figures).sort(EDITION))
    return table.select(pl.exclude(COUNTED), *COUNTED)


def per_score(facts: pl.DataFrame) -> pl.DataFrame:
    """Return documents per score over lists, over the means of runs and of topics, of each edition, and averages."""
    runs = facts.group_by(EDITION).agg(pl.col("run").n_unique().cast(pl.Int64).alias("runs"))
    parts = []
    for level in LEVELS:
        own = per_score_at(level, facts, EDITION).join(runs, on=EDITION).sort(EDITION)
        table = averaged(own.select(*EDITION, "runs", "of", pl.exclude(*EDITION, "runs", "of", "by")))
        parts.append(table.select(*EDITION, pl.lit(level).alias("by"), pl.exclude(EDITION)))
    return pl.concat(parts)


def averaged(editions: pl.DataFrame) -> pl.DataFrame:
    """Add to a table of editions the averages of each track and of all of them: unweighted, and weighted by runs."""
    added = ("runs", "lists", "of", *COUNTED)
    figures = [name for name in editions.columns if name not in (*EDITION, *added)]
    counts = [pl.col(name).sum() for name in editions.columns if name in added]
    parts = []
    for track, rows in by_track(editions):
        if track is not None:
            parts.append(rows)
        for label in (PLAIN, WEIGHTED):
            share = pl.col("runs") if label == WEIGHTED else pl.lit(1)
            weights = {name: pl.when(pl.col(name).is_not_null()).then(share) for name in figures}
            means = [((pl.col(name) * weight).sum() / weight.sum()).alias(name) for name, weight in weights.items()]
            labels = pl.lit(track or ALL).alias("track"), pl.lit(label).alias("edition")
            parts.append(rows.select(*labels, *counts, *means))
    return pl.concat(parts)


def differences(frame: pl.DataFrame, measure: Measure, of: str) -> pl.DataFrame:
    """Compare conventional with realistic scores, track by track: difference, correlation, one-tailed paired tests.

    A difference in percent is one of proportions; other measures have none.
    """
    proportion = measure.definition.highest == 1 and measure.aggregate != "sum"
    rows = []
    for track, part in by_track(frame):
        low, middle = (part[ties].to_numpy() for ties in INTERVAL[:2])
        known = ~np.isnan(low) & ~np.isnan(middle)
        low, middle = low[known], middle[known]
        p = one_tailed(measure.upward * (middle - low))
        means = [float(each.mean()) if len(each) else float("nan") for each in (low, middle)]
        rows.append(
            {
                "track": track or ALL,
                "measure": measure.name,
                "of": of,
                "pairs": len(low),
                "difference": means[1] - means[0],
                "difference_percent": 100 * (means[1] - means[0]) if proportion else None,
                "relative_percent": float(gain(means[1], means[0])),
                "r": pearson(low, middle),
                **p,
                "star": "*" if p["p"] < STAR else "",
            }
        )
    return pl.DataFrame(rows, schema_overrides={"difference_percent": pl.Float64})


def one_tailed(gap: Floats) -> dict[str, float]:
    """Return p of paired tests that the mean difference is above 0; 1 where there is no difference at all.

    Swapping labels where there is no difference changes nothing; where all others are above 0, the one pattern that
    reaches their sum is that of no swap.
    """
    if len(gap) < 2:
        return {"p": 1.0, "p_bootstrap": 1.0, "p_randomization": 1.0}
    setting, moved = Setting(SAMPLES, alternative="greater"), gap[gap != 0]
    above = not len(moved) or moved.min() > 0
    return {
        "p": float(student(gap[None, :], setting)[0]),
        "p_bootstrap": bootstrap_of_many(gap, setting),
        "p_randomization": 0.5 ** len(moved) if above else float(randomization(moved[None, :], setting)[0]),
    }


def gains(runs: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Return the mean over runs under each strategy, and its gains, for each edition, each track, and all."""
    figures = [pl.len().cast(pl.Int64).alias("runs"), *(pl.col(ties).mean() for ties in INTERVAL)]
    known = runs.filter(pl.col(ties).is_not_nan() for ties in INTERVAL)
    table = with_totals(known, figures)
    low, middle, high = (table[ties].to_numpy() for ties in INTERVAL)
    found = dict(zip(GAINS, (gain(middle, low), gain(high, low), gain(high, middle)), strict=True))
    return table.select(*EDITION, pl.lit(measure.name).alias("measure"), pl.exclude(EDITION)).with_columns(
        pl.Series(name, values) for name, values in found.items()
    )


def rankings(runs: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Compare the rankings of systems under the strategies, edition by edition: τ-b with its p, systems that move."""
    rows: list[dict[str, Any]] = []
    moves = []
    for (track, edition), whole in runs.group_by(EDITION, maintain_order=True):
        part = whole.filter(pl.col(ties).is_not_nan() for ties in INTERVAL)
        means = {ties: measure.upward * part[ties].to_numpy() for ties in INTERVAL}
        row: dict[str, Any] = {"track": track, "edition": edition, "measure": measure.name, "systems": part.height}
        for one, two in combinations(INTERVAL, 2):
            pair = f"{one[0]}{two[0]}"
            row[f"tau_{pair}"], row[f"p_{pair}"] = kendall(means[one], means[two])
        moves.append(_moves(means))
        rows.append(row | _shares(*moves[-1]))
    moved, kept = map(np.concatenate, zip(*moves, strict=True))
    everything = {"track": ALL, "edition": ALL, "measure": measure.name, "systems": len(moved)}
    rows.append(everything | _shares(moved, kept))
    return pl.DataFrame(rows, infer_schema_length=None)


def _shares(moved: Bools, kept: Bools) -> dict[str, float]:
    """Return how many systems move, of all and of those that are kept."""
    percent, of_kept = (100 * float(each.mean()) if len(each) else float("nan") for each in (moved, kept))
    return {"moved": moved.sum(), "moved_percent": percent, "kept": len(kept), "moved_of_kept_percent": of_kept}


def _moves(means: dict[str, Floats]) -> tuple[Bools, Bools]:
    """Tell whose rank differs between realistic and conventional, and the same without the worst quarter."""
    low, middle = means["realistic"], means["conventional"]
    moved = competition_ranks(low) != competition_ranks(middle)
    worst = int(WORST * len(low))
    kept = np.sort(np.argsort(middle, kind="stable")[worst:])
    return moved, competition_ranks(low[kept]) != competition_ranks(middle[kept])


def conclusions(editions: Editions, measure: Measure, alpha: float) -> pl.DataFrame:
    """Return for each edition how many pairs of systems get another verdict from names than from fair ties.

    The verdict is that of a two-sided paired t-test over topics: better, worse, or no difference.
    """
    rows: list[dict[str, Any]] = []
    for (track, edition), scores in editions.items():
        both = (which_is_better(scores.matrix(measure, ties).values, measure.upward) for ties in INTERVAL[:2])
        fair, by_names = (better * (p < alpha) for better, p in both)
        counted = {"pairs": len(fair), **{name: int(lists.sum()) for name, lists in _ways(fair, by_names).items()}}
        rows.append({"track": track, "edition": edition, **counted})
    whole = {name: sum(row[name] for row in rows) for name in ("pairs", *WAYS)}
    rows.append({"track": ALL, "edition": ALL, **whole})
    for row in rows:
        row["wrong"] = sum(row[name] for name in WAYS)
        row["wrong_percent"] = 100 * row["wrong"] / row["pairs"] if row["pairs"] else float("nan")
    most = max((row["wrong_percent"] for row in rows[:-1] if row["pairs"]), default=float("nan"))
    rows.append({"track": ALL, "edition": MAXIMUM, "wrong_percent": most})
    order = ["track", "edition", "measure", "pairs", "wrong", "wrong_percent", *WAYS]
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(measure=pl.lit(measure.name)).select(order)


def _ways(fair: Ints, by_names: Ints) -> dict[str, Bools]:
    """Tell in which way a conclusion is wrong, from what realistic and conventional ties say: 1, -1, or 0."""
    found = (fair == 0) & (by_names != 0), (fair != 0) & (by_names == 0), fair * by_names < 0
    return dict(zip(WAYS, found, strict=True))


def systems(runs: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Return each run with its ranks under realistic and conventional ties beside its share of tied documents."""
    better = measure.upward > 0
    ranks = [
        pl.col(ties).fill_nan(None).rank("min", descending=better).over(EDITION).cast(pl.Int64).alias(f"rank_{ties}")
        for ties in INTERVAL[:2]
    ]
    table = runs.select(*EDITION, "measure", "run", *ranks, *INTERVAL, "tied_percent", "per_score", *COUNTED)
    return table.sort([*EDITION, "rank_realistic", "run"])


def tied_lists(facts: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return the lists of one kind: in which every document is tied, or which are one single tie."""
    names = [*EDITION, "run", "topic"]
    return facts.filter(kind).select(*names, "documents", "scores", "largest_tie").sort(names)
