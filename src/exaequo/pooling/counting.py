"""Counting a pool: its size by topic and by depth, and who contributed what. In: `Lists`. Out: frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl

from exaequo.arrays import Ints
from exaequo.pooling.lists import Lists

_JUDGED = (pl.col("place") >= 0).alias("judged")


def first(lists: Lists, depth: int, team: Sequence[int]) -> pl.DataFrame:
    """Return the rows of lists that come into a pool, each with the `team` of its run, and whether a tie brought it."""
    teams = pl.col("run").replace_strict(dict(enumerate(team)), return_dtype=pl.Int32)
    top = lists.frame.filter(pl.col("rank") <= depth)
    return top.with_columns(teams.alias("team"), (pl.col("strict") > depth).alias("by_tie"))


def pooled(top: pl.DataFrame) -> pl.DataFrame:
    """Return the pool, a row per document: who found it, in how many runs and teams, its best rank, its judgment."""
    return (
        top.group_by("topic", "docno")
        .agg(
            pl.len().alias("runs"),
            pl.col("rank").min().alias("best_rank"),
            pl.col("by_tie").all(),
            pl.col("place", "relevant", "run", "team").first(),
            (pl.col("team").min() == pl.col("team").max()).alias("one_team"),
        )
        .sort("topic", "docno")
    )


def frame_of(found: pl.DataFrame, lists: Lists) -> pl.DataFrame:
    """Return the pool as it is written, by topic and name, so that the order tells nothing."""
    topic = lists.judgments.topics.gather(found["topic"]).alias("qid")
    frame = found.select(topic, "docno", pl.col("runs", "best_rank").cast(pl.Int64))
    if not lists.judged:
        return frame
    grade = pl.Series(lists.judgments.grade[found["place"].to_numpy()])
    return frame.with_columns(pl.when(found["place"] >= 0).then(grade).alias("judgment"))


def topics_of(found: pl.DataFrame, lists: Lists) -> pl.DataFrame:
    """Count the documents of each topic that a run has: all, found by every run, by one alone."""
    by_all, by_one = pl.col("runs") == len(lists.names), pl.col("runs") == 1
    counts = found.group_by("topic", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("documents"),
        by_all.sum().cast(pl.Int64).alias("by_all"),
        by_one.sum().cast(pl.Int64).alias("by_one"),
        *(each.sum().cast(pl.Int64) for each in ((_JUDGED, pl.col("relevant")) if lists.judged else ())),
    )
    return counts.with_columns(lists.judgments.topics.gather(counts["topic"]).alias("topic"))


def runs_of(top: pl.DataFrame, found: pl.DataFrame, lists: Lists, teams: Sequence[str]) -> pl.DataFrame:
    """Count what each run contributed, what of that no other run did, and how much of it a tie brought along."""
    n = len(lists.names)
    shares, relevant = _shares(top, found.filter(pl.col("runs") == 1), "run", n)
    by_tie = pl.Series("by_tie", _counted(top.filter("by_tie")["run"], n))
    frame = pl.DataFrame({"run": lists.names, "team": teams})
    return frame.with_columns(*shares, by_tie, *(relevant if lists.judged else ()))


def teams_of(top: pl.DataFrame, found: pl.DataFrame, lists: Lists, teams: Sequence[str]) -> pl.DataFrame:
    """Count the same for teams, whose runs contribute together."""
    frame = pl.DataFrame(list(Counter(teams).items()), schema={"team": pl.String, "runs": pl.Int64}, orient="row")
    own = top.unique(("topic", "docno", "team"))
    shares, relevant = _shares(own, found.filter("one_team"), "team", frame.height)
    return frame.with_columns(*shares, *(relevant if lists.judged else ()))


def _shares(own: pl.DataFrame, single: pl.DataFrame, who: str, n: int) -> tuple[list[pl.Series], list[pl.Series]]:
    """Count all documents and those of one alone, in number and percent; and the relevant ones among either."""
    documents, unique = _counted(own[who], n), _counted(single[who], n)
    shares = {"documents": documents, "unique": unique, "unique_percent": 100 * unique / np.maximum(documents, 1)}
    relevant = {
        "relevant": _counted(own.filter("relevant")[who], n),
        "unique_relevant": _counted(single.filter("relevant")[who], n),
    }
    return [pl.Series(*each) for each in shares.items()], [pl.Series(*each) for each in relevant.items()]


def _counted(who: pl.Series, n: int) -> Ints:
    return np.bincount(who.to_numpy(), minlength=n)


def depths_of(lists: Lists, depth: int) -> list[int]:
    """Return 10, 20, 50, 100, …, or from 1 where lists or the pool are not so deep, up to the longest list."""
    longest = int(lists.frame["strict"].max() or 0)  # type: ignore[arg-type]
    steps = [digit * 10**power for power in range(len(str(longest)) + 1) for digit in (1, 2, 5)]
    least = 1 if min(depth, longest) < 10 else 10
    return sorted({step for step in steps if least <= step < longest} | {depth, longest})


def curve_of(lists: Lists, depths: Sequence[int]) -> pl.DataFrame:
    """Count the documents of a pool of each depth: all, the least, median and most of a topic, what it adds."""
    best = lists.frame.group_by("topic", "docno").agg(pl.col("rank").min(), pl.col("relevant").first())
    topic, rank = best["topic"].to_numpy(), best["rank"].to_numpy()
    there = np.unique(topic)
    sizes = np.stack([np.bincount(topic[rank <= depth], minlength=len(lists.judgments.topics)) for depth in depths])
    documents = sizes.sum(axis=1)
    frame = pl.DataFrame(
        {
            "depth": pl.Series(depths, dtype=pl.Int64),
            "documents": documents,
            "added": np.diff(documents, prepend=0),
            "least": sizes[:, there].min(axis=1),
            "median": np.median(sizes[:, there], axis=1),
            "most": sizes[:, there].max(axis=1),
        }
    )
    if not lists.judged:
        return frame
    relevant = best["relevant"].to_numpy()
    found = np.array([int(relevant[rank <= depth].sum()) for depth in depths])
    known = int(lists.judgments.counted().sum())
    return frame.with_columns(relevant=pl.Series(found), relevant_percent=pl.Series(100 * found / max(known, 1)))
