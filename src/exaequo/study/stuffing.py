"""What documents of score 0 at the end of lists earn, over an archive. In: `Scores` with `RunFacts`. Out: frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from exaequo.aggregate import aggregate
from exaequo.choices import INTERVAL
from exaequo.luck import EARNED, earnings
from exaequo.measures import Measure
from exaequo.study.editions import EDITION, Editions, with_totals

_RUN = [*EDITION, "run", "measure"]


def stuffing(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the share of systems that fill up lists with documents of score 0, by edition, track and in all."""
    stuffs = (pl.col("stuffed_lists") > 0).sum().cast(pl.Int64).alias("stuffing")
    table = with_totals(runs, [pl.len().cast(pl.Int64).alias("systems"), stuffs])
    return table.with_columns((100 * pl.col("stuffing") / pl.col("systems")).alias("stuffing_percent"))


def stuffed_runs(editions: Editions, measures: Sequence[Measure], digits: int) -> pl.DataFrame:
    """Return what stuffing earns each run that has any, M(full) − M(without), and its share of the score."""
    rows: list[dict[str, Any]] = []
    for (track, edition), scores in editions.items():
        for run, facts in scores.facts.items():
            for measure in measures if facts.unstuffed else ():
                kind = measure.aggregate
                full = {ties: round(scores[run, ties, measure].mean, digits) for ties in INTERVAL}
                without = {ties: round(aggregate(kind, facts.unstuffed[ties, measure]), digits) for ties in INTERVAL}
                labels = {"track": track, "edition": edition, "run": run, "measure": measure.name}
                counts = {"lists": int((facts.stuffed > 0).sum()), "documents": int(facts.stuffed.sum())}
                rows.append({**labels, **counts, **earnings(full, without)})
    schema: dict[str, Any] = dict.fromkeys(_RUN, pl.String) | dict.fromkeys(("lists", "documents"), pl.Int64)
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(EARNED, pl.Float64)).sort(_RUN)


def stuffing_scores(runs: pl.DataFrame, stuffed: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """Return what stuffing earns by edition, track and in all: the mean of systems that stuff, and shares of scores.

    `share` is that of the scores of these systems, `of_all` that of the scores of all systems.
    """
    both = runs.join(stuffed.select(*_RUN, *EARNED[: len(INTERVAL)]), on=_RUN, how="left", maintain_order="left")
    stuffs = pl.col("earned_realistic").is_not_null()
    figures = [pl.len().cast(pl.Int64).alias("systems"), stuffs.sum().cast(pl.Int64).alias("stuffing")]
    figures += [pl.col(f"earned_{ties}").mean() for ties in INTERVAL]
    for name, whole in (("share_{}_percent", stuffs), ("of_all_{}_percent", pl.lit(True))):
        figures += [
            (100 * pl.col(f"earned_{ties}").sum() / pl.col(ties).filter(whole).sum()).alias(name.format(ties))
            for ties in INTERVAL
        ]
    known = both.filter(pl.col(ties).is_not_nan() for ties in INTERVAL)
    parts = [
        with_totals(known.filter(pl.col("measure") == measure.name), figures).select(
            *EDITION, pl.lit(measure.name).alias("measure"), pl.exclude(EDITION)
        )
        for measure in measures
    ]
    return pl.concat(parts).fill_nan(None)
