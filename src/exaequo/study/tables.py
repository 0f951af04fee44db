"""The tables of a study: those of an audit, edition by edition, and over tracks. In: `Scores` of editions. Out: frames.

Lists and runs are frames with a row per list or run and measure: `track, edition, run(, topic), measure`, the value
under each strategy, and its gains. The facts of a list are how many of its documents are tied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from exaequo.choices import INTERVAL
from exaequo.judge import Bools, Floats, Ints
from exaequo.luck import (
    GAINS,
    changes,
    from_nothing,
    gain,
    gains_of_lists,
    gains_of_runs,
    luckiest,
    testable,
    which_is_better,
)
from exaequo.measures import Measure
from exaequo.scores import Scores
from exaequo.stats.agreement import kendall, pearson
from exaequo.stats.tests import Setting, student
from exaequo.tiestats import frame_of

EDITION = ["track", "edition"]
#: What stands for all tracks, and for the averages of editions.
ALL, PLAIN, WEIGHTED, MAXIMUM = "(all)", "(average)", "(average by runs)", "(maximum)"
#: Below this p a track gets a star, as in the papers.
STAR = 0.001
#: Share of the systems with the lowest conventional means that is left out where the papers do.
WORST = 0.25
#: Means are rounded to so many digits: what differs beyond is the order of adding up.
DIGITS = 12

Editions = Mapping[tuple[str, str], Scores]


def all_tables(editions: Editions, measures: Sequence[Measure], *, top: int, alpha: float) -> dict[str, pl.DataFrame]:
    """Return every table by name."""
    facts, runs = facts_of(editions), runs_of(editions)
    lists = lists_of(editions, facts)
    of_list, of_run = [*EDITION, "run", "topic"], [*EDITION, "run"]
    frames = {
        measure: [frame.filter(pl.col("measure") == measure.name) for frame in (lists, runs)] for measure in measures
    }
    nowhere = pl.lit("").alias("topic")
    return {
        "ties": tie_statistics(facts),
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
        "rankings": pl.concat(rankings(whole, measure) for measure, (_, whole) in frames.items()),
        "conclusions": pl.concat(conclusions(editions, measure, alpha) for measure in testable(measures)),
        "systems": pl.concat(systems(whole, measure) for measure, (_, whole) in frames.items()),
        "stuffing": stuffing(runs.unique(of_run, maintain_order=True)),
        "one_tie": one_tie(facts),
    }


def _labelled(label: tuple[str, str], frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(*(pl.lit(text).alias(name) for name, text in zip(EDITION, label, strict=True)), pl.all())


def facts_of(editions: Editions) -> pl.DataFrame:
    """Return a row per list that has documents, with how many of them are tied."""
    return pl.concat(_labelled(label, frame_of(scores.facts, scores.evaluated)) for label, scores in editions.items())


def lists_of(editions: Editions, facts: pl.DataFrame) -> pl.DataFrame:
    """Return every list that has documents, and each measure, with its gains."""
    whole = pl.concat(_labelled(label, gains_of_lists(scores)) for label, scores in editions.items())
    return whole.join(facts, on=[*EDITION, "run", "topic"], how="semi", maintain_order="left")


def runs_of(editions: Editions) -> pl.DataFrame:
    """Return every run and measure with its gains, and the ties of the run."""
    parts = []
    for label, scores in editions.items():
        ties = pl.DataFrame([{"run": run, **facts.summary()} for run, facts in scores.facts.items()])
        whole = gains_of_runs(scores, digits=DIGITS).join(ties, on="run", maintain_order="left")
        parts.append(_labelled(label, whole))
    return pl.concat(parts).sort([*EDITION, "run"], maintain_order=True)


def _lucky(frames: Sequence[pl.DataFrame], top: int, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows of each track that names help most; of equals the first by name."""
    table = pl.concat(luckiest(frame.sort(names), top, ["track"]) for frame in frames)
    ranks = ["ranks_gained"] if table["ranks_gained"].count() else []
    return table.select("measure", *names, *INTERVAL, *ranks, *GAINS)


def tie_statistics(facts: pl.DataFrame) -> pl.DataFrame:
    """Return both statistics of each edition over its lists; averages of tracks and of all, plain and by runs."""
    figures = [
        getattr(pl.col(column), how)().alias(name.format(short))
        for column, name in (("tied_percent", "tied_{}_percent"), ("per_score", "per_score_{}"))
        for short, how in (("min", "min"), ("mean", "mean"), ("max", "max"), ("sd", "std"))
    ]
    counts = [pl.col("run").n_unique().cast(pl.Int64).alias("runs"), pl.len().cast(pl.Int64).alias("lists")]
    return averaged(facts.group_by(EDITION).agg(*counts, *figures).sort(EDITION))


def averaged(editions: pl.DataFrame) -> pl.DataFrame:
    """Add to a table of editions the averages of each track and of all of them: unweighted, and weighted by runs."""
    figures = [name for name in editions.columns if name not in (*EDITION, "runs", "lists")]
    counts = [pl.col(name).sum() for name in ("runs", "lists") if name in editions.columns]
    parts = []
    for track, rows in _by_track(editions):
        if track is not None:
            parts.append(rows)
        for label in (PLAIN, WEIGHTED):
            share = pl.col("runs") if label == WEIGHTED else pl.lit(1)
            weights = {name: pl.when(pl.col(name).is_not_null()).then(share) for name in figures}
            means = [((pl.col(name) * weight).sum() / weight.sum()).alias(name) for name, weight in weights.items()]
            labels = pl.lit(track or ALL).alias("track"), pl.lit(label).alias("edition")
            parts.append(rows.select(*labels, *counts, *means))
    return pl.concat(parts)


def _by_track(frame: pl.DataFrame) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """Yield each track with its rows, then all rows, under no name."""
    for (track,), rows in frame.group_by(["track"], maintain_order=True):
        yield str(track), rows
    yield None, frame


def differences(frame: pl.DataFrame, measure: Measure, of: str) -> pl.DataFrame:
    """Compare conventional with realistic scores, track by track: difference, correlation, one-tailed paired t-test."""
    rows = []
    for track, part in _by_track(frame):
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
                "difference_percent": 100 * (means[1] - means[0]),
                "relative_percent": float(gain(means[1], means[0])),
                "r": pearson(low, middle),
                "p": p,
                "star": "*" if p < STAR else "",
            }
        )
    return pl.DataFrame(rows)


def one_tailed(gap: Floats) -> float:
    """Return p of the paired t-test that the mean difference is above 0; 1 where there is no difference at all."""
    return float(student(gap[None, :], Setting(alternative="greater"))[0]) if len(gap) > 1 else 1.0


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


def competition_ranks(values: Floats) -> Ints:
    """Return ranks, best first; equal values share the best of their ranks, as in 1, 2, 2, 4."""
    return np.searchsorted(np.sort(-values), -values) + 1


def conclusions(editions: Editions, measure: Measure, alpha: float) -> pl.DataFrame:
    """Return for each edition how many pairs of systems get another verdict from names than from fair ties.

    The verdict is that of a two-sided paired t-test over topics: better, worse, or no difference.
    """
    rows: list[dict[str, Any]] = []
    for (track, edition), scores in editions.items():
        both = (which_is_better(scores.matrix(measure, ties).values, measure.upward) for ties in INTERVAL[:2])
        verdicts = [better * (p < alpha) for better, p in both]
        pairs, wrong = len(verdicts[0]), int(changes(verdicts).sum())
        share = 100 * wrong / pairs if pairs else float("nan")
        labels = {"track": track, "edition": edition, "measure": measure.name}
        rows.append({**labels, "pairs": pairs, "wrong": wrong, "wrong_percent": share})
    pairs, wrong = (sum(row[name] for row in rows) for name in ("pairs", "wrong"))
    shares = [row["wrong_percent"] for row in rows if row["pairs"]] or [float("nan")]
    whole = {"track": ALL, "measure": measure.name, "pairs": pairs, "wrong": wrong}
    rows.append(whole | {"edition": ALL, "wrong_percent": 100 * wrong / pairs if pairs else float("nan")})
    rows.append(whole | {"edition": MAXIMUM, "pairs": None, "wrong": None, "wrong_percent": max(shares)})
    return pl.DataFrame(rows, infer_schema_length=None)


def systems(runs: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Return each run with its ranks under realistic and conventional ties beside its share of tied documents."""
    better = measure.upward > 0
    ranks = [
        pl.col(ties).fill_nan(None).rank("min", descending=better).over(EDITION).cast(pl.Int64).alias(f"rank_{ties}")
        for ties in INTERVAL[:2]
    ]
    table = runs.select(*EDITION, "measure", "run", *ranks, *INTERVAL, "tied_percent", "per_score", "one_tie")
    return table.sort([*EDITION, "rank_realistic", "run"])


def stuffing(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the share of systems that fill up lists with documents of score 0, by edition, track and in all."""
    stuffs = (pl.col("stuffed_lists") > 0).sum().cast(pl.Int64).alias("stuffing")
    figures = [pl.len().cast(pl.Int64).alias("systems"), stuffs]
    parts = []
    for track, rows in _by_track(runs):
        if track is not None:
            parts.append(rows.group_by(EDITION).agg(*figures).sort(EDITION))
        parts.append(rows.select(pl.lit(track or ALL).alias("track"), pl.lit(ALL).alias("edition"), *figures))
    return pl.concat(parts).with_columns((100 * pl.col("stuffing") / pl.col("systems")).alias("stuffing_percent"))


def one_tie(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the lists that are one single tie."""
    whole = facts.filter((pl.col("documents") > 1) & (pl.col("scores") == 1))
    return whole.select(*EDITION, "run", "topic", "documents").sort([*EDITION, "run", "topic"])
