"""The tables of a study, from the results of its runs: pure functions from frames to frames.

`lists` has a row per result-list: `track, edition, run, topic`, the counts of ties, and for each measure
`MEASURE realistic`, `MEASURE conventional`, `MEASURE optimistic`. Topics a run lacks are rows without documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from exaequo.aggregate import GM_FLOOR
from exaequo.audit import gain, rank_gain
from exaequo.choices import INTERVAL
from exaequo.judge import Bools, Floats, Ints
from exaequo.measures import Measure
from exaequo.stats.agreement import kendall, pearson
from exaequo.stats.tests import Setting, student

EDITION = ["track", "edition"]
#: What stands for all tracks, and for the averages of editions.
ALL, PLAIN, WEIGHTED, MAXIMUM = "(all)", "(average)", "(average by runs)", "(maximum)"
#: Below this p a track gets a star, as in the papers.
STAR = 0.001
#: Share of the systems with the lowest conventional means that is left out where the papers do.
WORST = 0.25
#: Means are rounded to so many digits: what differs beyond is the order of adding up.
DIGITS = 12


def there(lists: pl.DataFrame) -> pl.DataFrame:
    """Return the result-lists that have documents, with their two statistics."""
    return lists.filter(pl.col("documents") > 0).with_columns(
        (100 * pl.col("tied") / pl.col("documents")).alias("tied %"),
        (pl.col("documents") / pl.col("scores")).alias("per score"),
    )


def tie_statistics(lists: pl.DataFrame) -> pl.DataFrame:
    """Return both statistics of each edition over its lists; averages of tracks and of all, plain and by runs."""
    both = {"tied %": "tied", "per score": "per score"}
    figures = [
        getattr(pl.col(column), how)().alias(f"{label} {short}{' %' if column == 'tied %' else ''}")
        for column, label in both.items()
        for short, how in (("min", "min"), ("mean", "mean"), ("max", "max"), ("sd", "std"))
    ]
    editions = (
        there(lists)
        .group_by(EDITION)
        .agg(pl.col("run").n_unique().alias("runs"), pl.len().alias("lists"), *figures)
        .sort(EDITION)
        .cast({"runs": pl.Int64, "lists": pl.Int64})
    )
    return averaged(editions)


def averaged(editions: pl.DataFrame) -> pl.DataFrame:
    """Add to a table of editions the averages of each track and of all of them: unweighted, and weighted by runs."""
    figures = [name for name in editions.columns if name not in (*EDITION, "runs", "lists")]
    counts = [pl.col(name).sum() for name in ("runs", "lists") if name in editions.columns]
    parts = []
    for track, rows in [*_by_track(editions), (None, editions)]:
        if track is not None:
            parts.append(rows)
        for label in (PLAIN, WEIGHTED):
            share = pl.col("runs") if label == WEIGHTED else pl.lit(1)
            weights = {name: pl.when(pl.col(name).is_not_null()).then(share) for name in figures}
            means = [((pl.col(name) * weight).sum() / weight.sum()).alias(name) for name, weight in weights.items()]
            row = rows.select(pl.lit(track or ALL).alias("track"), pl.lit(label).alias("edition"), *counts, *means)
            parts.append(row.head(1))
    return pl.concat(parts)


def _by_track(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (track,), rows in frame.group_by(["track"], maintain_order=True):
        yield str(track), rows


def _aggregate(measure: Measure, ties: str) -> pl.Expr:
    """Return the aggregate of a measure over the topics that have a value; rounded, so that equal means are equal."""
    values = pl.col(f"{measure.name} {ties}").drop_nans()
    if measure.aggregate == "gm":
        return values.clip(lower_bound=GM_FLOOR).log().mean().exp().round(DIGITS)
    return (values.sum() if measure.aggregate == "sum" else values.mean()).round(DIGITS)


def runs_of(lists: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """Return a row per run: its aggregate of each measure under each strategy, and its ties."""
    means = [
        _aggregate(measure, ties).alias(f"{measure.name} {ties}").fill_null(float("nan"))
        for measure in measures
        for ties in INTERVAL
    ]
    values = lists.group_by([*EDITION, "run"]).agg(*means)
    ties = (
        there(lists)
        .group_by([*EDITION, "run"])
        .agg(
            pl.len().cast(pl.Int64).alias("lists"),
            pl.col("tied %").mean(),
            pl.col("per score").mean(),
            ((pl.col("documents") > 1) & (pl.col("scores") == 1)).sum().cast(pl.Int64).alias("one tie"),
            (pl.col("stuffed") > 0).sum().cast(pl.Int64).alias("stuffed lists"),
        )
    )
    return ties.join(values, on=[*EDITION, "run"]).sort([*EDITION, "run"])


def lucky(frame: pl.DataFrame, measure: Measure, top: int, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows of each track that names help most: scores, gains, and for RR the ranks gained.

    Rows whose realistic score is 0 have no gain in percent and are left to `from_nothing`.
    """
    low, middle, high = (frame[f"{measure.name} {ties}"].to_numpy() for ties in INTERVAL)
    in_ranks = measure.definition.name == "RR" and "topic" in names
    columns = {
        "realistic": low,
        "conventional": middle,
        "optimistic": high,
        **({"ranks gained": rank_gain(low, middle)} if in_ranks else {}),
        "C over R %": gain(middle, low),
        "O over R %": gain(high, low),
        "O over C %": gain(high, middle),
    }
    table = frame.select(pl.lit(measure.name).alias("measure"), *names).with_columns(
        pl.Series(name, values) for name, values in columns.items()
    )
    luck = pl.col("ranks gained" if in_ranks else "C over R %") * measure.upward
    table = table.with_columns(luck.alias("luck")).filter(pl.col("luck").is_not_nan() & (pl.col("luck") > 0))
    order = ["track", "luck", *names[1:]]
    table = table.sort(order, descending=[name == "luck" for name in order]).drop("luck")
    return table.group_by("track", maintain_order=True).head(top).select(*table.columns)


def from_nothing(frame: pl.DataFrame, measure: Measure, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows that names lift from 0, where a gain in percent is undefined."""
    values = [pl.col(f"{measure.name} {ties}").alias(ties) for ties in INTERVAL]
    what = [name if name in frame.columns else pl.lit("").alias(name) for name in names]
    table = frame.select(pl.lit(measure.name).alias("measure"), *what, *values)
    better = measure.upward > 0
    return table.filter((pl.col("realistic") == 0) & (pl.col("conventional") > 0) & better).sort(names)


def differences(frame: pl.DataFrame, measure: Measure, of: str) -> pl.DataFrame:
    """Compare conventional with realistic scores, track by track: difference, correlation, one-tailed paired t-test."""
    rows = []
    for track, part in [*_by_track(frame), (None, frame)]:
        low, middle = (part[f"{measure.name} {ties}"].to_numpy() for ties in INTERVAL[:2])
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
                "difference %": 100 * (means[1] - means[0]),
                "relative %": float(gain(means[1], means[0])),
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
    all_moved, all_kept = [], []
    for (track, edition), whole in runs.group_by(EDITION, maintain_order=True):
        known = pl.all_horizontal(pl.col(f"{measure.name} {ties}").is_not_nan() for ties in INTERVAL)
        part = whole.filter(known)
        means = {ties: measure.upward * part[f"{measure.name} {ties}"].to_numpy() for ties in INTERVAL}
        row: dict[str, Any] = {"track": track, "edition": edition, "measure": measure.name, "systems": part.height}
        for one, two in combinations(INTERVAL, 2):
            tau, p = kendall(means[one], means[two])
            pair = f"{one[0]}{two[0]}".upper()
            row |= {f"τ {pair}": tau, f"p {pair}": p}
        moved, kept = _moves(means)
        row |= {"moved": moved.sum(), "moved %": _percent(moved), "kept": len(kept), "moved of kept %": _percent(kept)}
        rows.append(row)
        all_moved.append(moved)
        all_kept.append(kept)
    moved, kept = np.concatenate(all_moved), np.concatenate(all_kept)
    rows.append({"track": ALL, "edition": ALL, "measure": measure.name, "systems": len(moved)})
    rows[-1] |= {"moved": moved.sum(), "moved %": _percent(moved), "kept": len(kept), "moved of kept %": _percent(kept)}
    return pl.DataFrame(rows, infer_schema_length=None)


def _percent(marked: Bools) -> float:
    return float(100 * marked.mean()) if len(marked) else float("nan")


def _moves(means: dict[str, Floats]) -> tuple[Bools, Bools]:
    """Tell whose rank differs between realistic and conventional, and the same without the worst quarter."""
    low, middle = means["realistic"], means["conventional"]
    moved = competition_ranks(low) != competition_ranks(middle)
    worst = int(WORST * len(low))
    kept = np.sort(np.argsort(middle, kind="stable")[worst:])
    return moved, competition_ranks(low[kept]) != competition_ranks(middle[kept])


def competition_ranks(values: Floats) -> Ints:
    """Return ranks, best first; equal values share the best of their ranks, as in 1, 2, 2, 4."""
    ordered = np.sort(-values)
    return np.searchsorted(ordered, -values) + 1


def conclusions(lists: pl.DataFrame, measure: Measure, alpha: float) -> pl.DataFrame:
    """Return for each edition how many pairs of systems get another verdict from names than from fair ties.

    The verdict is that of a two-sided paired t-test over topics: better, worse, or no difference.
    """
    rows: list[dict[str, Any]] = []
    for (track, edition), part in lists.group_by(EDITION, maintain_order=True):
        both = [_matrix(part, f"{measure.name} {ties}") for ties in INTERVAL[:2]]
        known = ~np.isnan(np.concatenate(both)).any(axis=0)  # topics where every system has a value
        one, two = (verdicts(each[:, known], alpha) for each in both)
        wrong = int((one != two).sum())
        rows.append(
            {
                "track": track,
                "edition": edition,
                "measure": measure.name,
                "pairs": len(one),
                "wrong": wrong,
                "wrong %": 100 * wrong / len(one) if len(one) else float("nan"),
            }
        )
    pairs, wrong = (sum(row[name] for row in rows) for name in ("pairs", "wrong"))
    shares = [row["wrong %"] for row in rows if row["pairs"]] or [float("nan")]
    whole = {"track": ALL, "measure": measure.name, "pairs": pairs, "wrong": wrong}
    rows.append(whole | {"edition": ALL, "wrong %": 100 * wrong / pairs if pairs else float("nan")})
    rows.append(whole | {"edition": MAXIMUM, "pairs": None, "wrong": None, "wrong %": max(shares)})
    return pl.DataFrame(rows, infer_schema_length=None)


def _matrix(part: pl.DataFrame, column: str) -> Floats:
    """Return systems × topics, both in the order of their names."""
    ordered = part.sort("run", "topic")
    return ordered[column].to_numpy().reshape(part["run"].n_unique(), -1)


def verdicts(values: Floats, alpha: float) -> Floats:
    """Return for each pair of systems, rows of values, 1, -1 or 0: better, worse, or no significant difference."""
    first, second = np.triu_indices(len(values), 1)
    if values.shape[1] < 2:
        return np.zeros(len(first))
    gaps = values[first] - values[second]
    result: Floats = np.sign(gaps.mean(axis=1)) * (student(gaps) < alpha)
    return result


def systems(runs: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Return each run with its ranks under realistic and conventional ties beside its share of tied documents."""
    better = measure.upward > 0
    ranks = [
        pl.col(f"{measure.name} {ties}")
        .rank("min", descending=better)
        .over(EDITION)
        .cast(pl.Int64)
        .alias(f"rank {ties}")
        for ties in INTERVAL[:2]
    ]
    values = [pl.col(f"{measure.name} {ties}").alias(ties) for ties in INTERVAL]
    table = runs.select(
        *EDITION, pl.lit(measure.name).alias("measure"), "run", *ranks, *values, "tied %", "per score", "one tie"
    )
    return table.sort([*EDITION, "rank realistic", "run"])


def stuffing(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the share of systems that fill up lists with documents of score 0, by edition, track and in all."""
    stuffs = (pl.col("stuffed lists") > 0).sum().cast(pl.Int64).alias("stuffing")
    figures = [pl.len().cast(pl.Int64).alias("systems"), stuffs]
    parts = []
    for track, rows in [*_by_track(runs), (None, runs)]:
        if track is not None:
            parts.append(rows.group_by(EDITION).agg(*figures).sort(EDITION))
        parts.append(rows.select(pl.lit(track or ALL).alias("track"), pl.lit(ALL).alias("edition"), *figures))
    return pl.concat(parts).with_columns((100 * pl.col("stuffing") / pl.col("systems")).alias("stuffing %"))


def one_tie(lists: pl.DataFrame) -> pl.DataFrame:
    """Return the lists that are one single tie."""
    whole = lists.filter((pl.col("documents") > 1) & (pl.col("scores") == 1))
    return whole.select(*EDITION, "run", "topic", "documents").sort([*EDITION, "run", "topic"])
