"""Leaving out: what scores and ranks would be had a team not been pooled. In: `Lists`, a pool. Out: frames.

What only this team contributed becomes unjudged; all runs are then scored anew, and ranked.

J. Zobel: How reliable are the results of large-scale information retrieval experiments?, SIGIR 1998. C. Buckley,
D. Dimmick, I. Soboroff, E. Voorhees: Bias and the limits of pooling for large collections, Information Retrieval 10(6),
2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.arrays import Bools, Floats, Ints
from exaequo.judge import JudgedRun, Judgments
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.pooling.lists import Lists
from exaequo.stats.agreement import kendall
from exaequo.stats.equality import settled, slack_of


def left_out(
    found: pl.DataFrame, lists: Lists, team: Sequence[int], measures: Sequence[Measure], options: Options
) -> pl.DataFrame:
    """Score each run with and without what only its team contributed; a row per run and measure."""
    evaluated = lists.judgments.counted() > 0
    before = np.stack([_values(each, measures, options) for each in lists.orderings])
    rows: list[dict[str, Any]] = []
    for own in range(max(team) + 1):
        unique = found.filter(pl.col("one_team") & (pl.col("team") == own) & (pl.col("place") >= 0))
        after = _without(unique["place"].to_numpy(), lists.orderings, before, measures, options)
        rows += _changes(np.flatnonzero(np.asarray(team) == own), before, after, measures, evaluated)
    rows.sort(key=lambda row: row["run"])
    return pl.DataFrame([{**row, "run": lists.names[row["run"]]} for row in rows], infer_schema_length=None)


def _values(ordering: Ordering, measures: Sequence[Measure], options: Options) -> Floats:
    """Return measures × topics."""
    ranking = ordering.ranking(options.ties[0], seed=options.seed, depth=options.depth)
    return np.stack([measure.values(ranking) for measure in measures])


def _without(
    places: Ints, orderings: Sequence[Ordering], before: Floats, measures: Sequence[Measure], options: Options
) -> Floats:
    """Return runs × measures × topics, without these judgments; topics that lose none are not scored anew."""
    if not len(places):
        return before
    judgments = orderings[0].judgments
    kept = np.ones(len(judgments.topic), dtype=bool)
    kept[places] = False
    touched = np.zeros(judgments.n_topics, dtype=bool)
    touched[judgments.topic[places]] = True
    fewer = replace(judgments, topic=judgments.topic[kept], grade=judgments.grade[kept], row=judgments.row[kept])
    after = before.copy()
    for run, each in enumerate(orderings):
        lines = _rejudged(each.judged_run, fewer, kept)
        # Lots are drawn for a run as a whole; of a part they would be others.
        part = each.rejudged(lines, None if options.ties[0] == "random" else touched[lines.topic])
        after[run][:, touched] = _values(part, measures, options)[:, touched]
    return after


def _rejudged(lines: JudgedRun, judgments: Judgments, kept: Bools) -> JudgedRun:
    """Put lines to the judgments that are left."""
    judged = lines.judged & kept[lines.place]
    place = np.where(judged, (np.cumsum(kept) - 1)[lines.place], -1)
    return replace(lines, judgments=judgments, judged=judged, place=place, grade=np.where(judged, lines.grade, 0.0))


def _changes(
    own: Ints, before: Floats, after: Floats, measures: Sequence[Measure], evaluated: Bools
) -> list[dict[str, Any]]:
    """Return for each run of the team and measure both scores, both ranks, and τ of the rankings of all runs."""
    rows = []
    for at, measure in enumerate(measures):
        scores = [
            np.array([aggregate(measure.aggregate, run[at][evaluated]) for run in each]) for each in (before, after)
        ]
        ranks = [_ranks(measure.upward * each) for each in scores]
        tau, _ = kendall(*ranks)
        for run in own.tolist():
            one, two = (float(each[run]) for each in scores)
            percent = 100 * (two - one) / one if one else np.nan
            change = {"before": one, "after": two, "difference": two - one, "difference_percent": percent}
            places = {"rank_before": int(ranks[0][run]), "rank_after": int(ranks[1][run])}
            rows.append({"run": run, "measure": measure.name, **change, **places, "tau_b": tau})
    return rows


def _ranks(scores: Floats) -> Floats:
    """Return the rank of each score, the highest first; equal ones share the first of theirs."""
    equal = settled(scores[None, :], np.array([slack_of(scores)]))[0]
    ranks: Floats = 1.0 + (equal[None, :] > equal[:, None]).sum(axis=1)
    return ranks


def overview(left: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """Sum up leaving out by measure: mean and largest change of scores and ranks, and how rankings agree."""
    rows = []
    for measure in measures:
        own = left.filter(pl.col("measure") == measure.name)
        percent, places = own["difference_percent"].to_numpy(), (own["rank_after"] - own["rank_before"]).abs()
        known = np.abs(percent[~np.isnan(percent)])
        most = own[int(np.argmax(np.nan_to_num(np.abs(percent), nan=-1.0)))]
        scores = [measure.upward * own[name].to_numpy() for name in ("before", "after")]
        rows.append(
            {
                "measure": measure.name,
                "mean_percent": float(known.mean()) if len(known) else np.nan,
                "largest_percent": float(most["difference_percent"].item()),
                "largest_of": str(most["run"].item()),
                "ranks_mean": float(places.to_numpy().mean()),
                "ranks_most": int(places.to_numpy().max()),
                "tau_b": kendall(*(_ranks(each) for each in scores))[0],
                "least_tau": float(np.nan_to_num(own["tau_b"].to_numpy(), nan=1.0).min()),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)
