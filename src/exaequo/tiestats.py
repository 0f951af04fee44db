"""Tie statistics of a run: how many documents are tied, list by list. In: an `Ordering`. Out: `TieStatistics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from exaequo.arrays import Bools, Floats, Ints
from exaequo.frames import pl
from exaequo.measures import Measure
from exaequo.order import Groups, Ordering, Ranking

#: Lists that are counted: every document shares its score with another; all have one score; all scores differ.
COUNTED = ("all_tied", "one_tie", "no_tie")
#: What documents per score are averaged over before least, mean, greatest and deviation are taken.
LEVELS = {"list": ("run", "topic"), "run": ("run",), "topic": ("topic",)}


@dataclass(frozen=True, eq=False)
class TieStatistics:
    """One figure per list of a run, in the order of topics; lists the run lacks have no documents.

    `tied` documents share their score with another; there are `scores` different ones; the `largest` tie has so many
    documents; `single` more are tied if scores are kept in single precision; `crossing` counts, for each cutoff asked
    for, the lists in which a tie lies across it; `stuffed` documents of score exactly 0 close a list whose other
    scores are all positive.
    """

    documents: Ints
    tied: Ints
    scores: Ints
    largest: Ints
    single: Ints
    stuffed: Ints
    crossing: dict[int, Bools]

    @property
    def share(self) -> Floats:
        """Share of tied documents in each list, in percent; NaN for a list without documents."""
        return _ratio(self.tied * np.float64(100), self.documents)

    @property
    def per_score(self) -> Floats:
        """Documents per different score in each list; NaN for a list without documents."""
        return _ratio(self.documents.astype(np.float64), self.scores)

    @property
    def there(self) -> Bools:
        """Lists that have documents."""
        return self.documents > 0

    @property
    def all_tied(self) -> Bools:
        """Lists in which every document shares its score with another."""
        whole: Bools = self.there & (self.tied == self.documents)
        return whole

    @property
    def one_tie(self) -> Bools:
        """Lists of two or more documents that are one single tie."""
        whole: Bools = self.all_tied & (self.scores == 1)
        return whole

    @property
    def no_tie(self) -> Bools:
        """Lists that have documents, none of them tied."""
        free: Bools = self.there & (self.tied == 0)
        return free

    def columns(self) -> dict[str, Ints | Floats | Bools]:
        """Return the figures of each list."""
        return {
            "documents": self.documents,
            "tied": self.tied,
            "tied_percent": self.share,
            "scores": self.scores,
            "per_score": self.per_score,
            "largest_tie": self.largest,
            **{name: getattr(self, name) for name in COUNTED},
            "only_in_single": self.single,
            "stuffed": self.stuffed,
            **{f"tie_across_{cutoff}": lists for cutoff, lists in self.crossing.items()},
        }

    def summary(self) -> dict[str, float | int]:
        """Return the figures of the run: shares are means over lists."""
        there = self.there
        share, per_score = self.share[there], self.per_score[there]
        return {
            "lists": int(there.sum()),
            "documents": int(self.documents.sum()),
            "tied_percent": float(share.mean()) if len(share) else float("nan"),
            "per_score": float(per_score.mean()) if len(share) else float("nan"),
            "largest_tie": int(self.largest.max(initial=0)),
            **{name: int(getattr(self, name).sum()) for name in COUNTED},
            "only_in_single": int(self.single.sum()),
            "stuffed_lists": int((self.stuffed > 0).sum()),
            "stuffed": int(self.stuffed.sum()),
            **{f"across_{cutoff}": int(lists.sum()) for cutoff, lists in self.crossing.items()},
        }


def frame_of(statistics: Mapping[str, TieStatistics], topics: pl.Series) -> pl.DataFrame:
    """Return a row per list that has documents, run after run; topics are the same for all."""
    every = [each.columns() for each in statistics.values()]
    figures = {name: np.concatenate([each[name] for each in every]) for name in every[0]}
    runs = pl.Series(list(statistics), dtype=pl.String)[np.repeat(np.arange(len(statistics)), len(topics))]
    frame = pl.DataFrame({"run": runs, "topic": pl.concat([topics] * len(statistics)), **figures})
    return frame.filter(pl.col("documents") > 0)


def spread(column: str, name: str = "{}") -> list[pl.Expr]:
    """Return least, mean, greatest and standard deviation (n − 1) of a column, under these names."""
    figures = {"min": "min", "mean": "mean", "max": "max", "sd": "std"}
    return [getattr(pl.col(column), how)().alias(name.format(short)) for short, how in figures.items()]


def per_score_at(level: str, lists: pl.DataFrame, within: Sequence[str] = ()) -> pl.DataFrame:
    """Return the spread of documents per score over lists, or over the means of each run or topic.

    In: a row per list, as of `frame_of`. Out: a row for each group of `within`, or one for all of them.
    """
    means = lists.group_by([*within, *LEVELS[level]], maintain_order=True).agg(pl.col("per_score").mean())
    figures = [pl.lit(level).alias("by"), pl.len().cast(pl.Int64).alias("of"), *spread("per_score")]
    return means.group_by(within, maintain_order=True).agg(*figures) if within else means.select(*figures)


def tie_statistics(
    ordering: Ordering, cutoffs: Sequence[int] = (), *, depth: int | None = None, single: bool = True
) -> TieStatistics:
    """Count the ties of each list, cut at `depth`; `single` also counts those of single precision.

    The order inside a tie is nothing to them; the realistic one is needed anyway. Only in single precision tied
    documents have scores that differ, which stay in the order of the file.
    """
    ranking = ordering.ranking("input" if ordering.precision == "single" else "realistic", depth=depth)
    groups = ranking.groups
    tied = _tied(ranking, groups)
    more = _tied(ranking, _groups_in_single(ranking)) - tied if single else np.zeros_like(tied)
    scores = np.bincount(groups.topic, minlength=ranking.n_topics)
    largest, ties = np.zeros_like(tied), groups.size > 1
    np.maximum.at(largest, groups.topic[ties], groups.size[ties])
    crossing = {}
    for cutoff in cutoffs:
        across = (groups.before < cutoff) & (groups.before + groups.size > cutoff)
        crossing[cutoff] = np.bincount(groups.topic[across], minlength=ranking.n_topics) > 0
    stuffed = np.bincount(ranking.topic[stuffing(ranking)], minlength=ranking.n_topics)
    return TieStatistics(ranking.returned, tied, scores, largest, np.maximum(more, 0), stuffed, crossing)


def _groups_in_single(ranking: Ranking) -> Groups:
    """Return the ties that single precision makes; scores in order stay in order when they lose digits."""
    with np.errstate(over="ignore"):
        sim = ranking.lines.sim[ranking.line].astype(np.float32)
    new = np.ones(len(sim), dtype=bool)
    new[1:] = (sim[1:] != sim[:-1]) | (ranking.topic[1:] != ranking.topic[:-1])
    return replace(ranking, tie=np.cumsum(new)).groups


def _tied(ranking: Ranking, groups: Groups) -> Ints:
    """Count the tied documents of each list."""
    ties = groups.size > 1
    counted = np.bincount(groups.topic[ties], groups.size[ties], minlength=ranking.n_topics)
    return counted.astype(np.int64)


def stuffing(ranking: Ranking) -> Bools:
    """Tell which documents fill up their list: score exactly 0, below positive scores, with nothing below them."""
    sim = ranking.lines.sim[ranking.line]
    first = ranking.rank == 1
    last = ranking.rank == ranking.returned[ranking.topic]
    ends_with_zero, begins_positive = np.zeros((2, ranking.n_topics), dtype=bool)
    ends_with_zero[ranking.topic[last]] = sim[last] == 0
    begins_positive[ranking.topic[first]] = sim[first] > 0
    filled: Bools = (sim == 0) & (ends_with_zero & begins_positive)[ranking.topic]
    return filled


def values_without_stuffing(ranking: Ranking, measures: Sequence[Measure], depth: int | None = None) -> list[Floats]:
    """Return the values of each measure for lists without what fills them up, cut at `depth`."""
    kept = ~stuffing(ranking) if depth is None else ~stuffing(ranking) & (ranking.rank <= depth)
    part = ranking.part(kept)
    return [measure.values(part) for measure in measures]


def _ratio(above: Floats, below: Ints) -> Floats:
    result: Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return result
