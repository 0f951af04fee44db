"""Two experiments, run by run: what is kept of each run, and how the two are aligned."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import chain

import polars as pl

from exaequo.arrays import Floats
from exaequo.errors import BadParameter
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.read import unique_names
from exaequo.scores import Scores
from exaequo.text import did_you_mean


@dataclass(frozen=True, eq=False)
class Facts:
    """What is kept of a run: its own name, its file, its header, and its lists, if they are compared."""

    name: str
    file: str
    header: str
    lists: pl.DataFrame


@dataclass(frozen=True, eq=False)
class Experiments:
    """Both experiments: scores and facts of the runs of each, and the names of runs as they are shown."""

    scores: tuple[Scores, Scores]
    facts: tuple[list[Facts], list[Facts]]
    names: tuple[list[str], list[str]]
    same: bool

    def values(self, measure: Measure) -> tuple[Floats, Floats, pl.Series]:
        """Return runs × topics of both; of the same collection for the topics where all runs have a value."""
        one, two = (each.matrix(measure) for each in self.scores)
        if not self.same or one.topics.equals(two.topics):
            return one.values, two.values, one.topics
        shared = one.topics.filter(one.topics.is_in(two.topics.implode()))
        first, second = (each.values[:, each.topics.is_in(shared.implode()).to_numpy()] for each in (one, two))
        return first, second, shared

    @property
    def shared(self) -> pl.Series:
        """The topics that every run of both has."""
        one, two = (each.shared for each in self.scores)
        return one.filter(one.is_in(two.implode()))

    def pairs(self) -> list[tuple[str, str]]:
        """Return the names of the runs of each pair."""
        return list(zip(*self.names, strict=True))


def noted(ordering: Ordering, *, options: Options, lists: bool) -> Facts:
    """Return what is kept of a run, with its lists as they are ordered, if they are compared."""
    run, frame = ordering.run, pl.DataFrame()
    if lists:
        ranking = ordering.ranking(options.ties[0], seed=options.seed, depth=options.depth)
        groups = ranking.groups
        first = groups.before[groups.of] + 1
        frame = pl.DataFrame(
            {
                "topic": ranking.topic,
                "docno": run.frame["docno"][ranking.row],
                "rank": ranking.rank,
                "first": first,
                "last": first + groups.size[groups.of] - 1,
            }
        )
    return Facts(run.name, run.source.name, run.source.header, frame)


def both_of(first: Scores, second: Scores, *, same: bool) -> Experiments:
    """Put both together; refuse unequal numbers of runs."""
    facts = [[scores.facts[run] for run in scores.runs] for scores in (first, second)]
    n, m = map(len, facts)
    if n != m:
        raise BadParameter(f"Each original has one reproduction, in the same order. Got {n} and {m}.")
    names = unique_names([(each.name, each.file) for each in chain(*facts)])
    return Experiments((first, second), (facts[0], facts[1]), (names[:n], names[n:]), same)


def baseline_of(asked: str | None, both: Experiments) -> int:
    """Return which original is the baseline: by its name, as shown or as in the file, or by its file."""
    if asked is None:
        return 0
    ways = (
        both.names[0],
        [each.name for each in both.facts[0]],
        [os.path.normpath(each.file) for each in both.facts[0]],
    )
    for known, wanted in zip(ways, (asked, asked, os.path.normpath(asked)), strict=True):
        if wanted in known:
            return known.index(wanted)
    hint = did_you_mean(asked, both.names[0]) or f"; there are {', '.join(both.names[0])}."
    raise BadParameter(f"There is no original {asked!r} to be the baseline{hint}")
