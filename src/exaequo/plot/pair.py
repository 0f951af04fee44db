"""Two systems, topic by topic: what the pictures of `topics` and `scatter` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exaequo.arrays import Floats
from exaequo.errors import BadParameter
from exaequo.language import say, strategy
from exaequo.measures import Measure
from exaequo.plot.chart import Common, notes
from exaequo.plot.data import by_topic, defined, read
from exaequo.plot.marks import short_names
from exaequo.read import QrelsLike
from exaequo.text import did_you_mean

#: Topics named in a picture of many.
NAMED = 5


@dataclass(frozen=True, eq=False)
class Pair:
    """Two systems, topic by topic, where both have a value."""

    measure: Measure
    names: tuple[str, str]
    topics: Sequence[str]
    first: Floats
    second: Floats
    #: What there is to say about it.
    note: str = ""

    @property
    def gap(self) -> Floats:
        """What the second has over the first."""
        return self.second - self.first

    @property
    def title(self) -> str:
        """Who against whom."""
        shown = short_names(self.names)
        return say("{two} against {one}", two=shown[self.names[1]], one=shown[self.names[0]])


class PairOptions(Common, total=False):
    """Which two systems: of what measure, under which strategy, and which runs; by default the best two."""

    measure: str
    ties: str
    one: str | None
    other: str | None


def pair_of(qrels: QrelsLike, runs: Any, options: PairOptions) -> Pair:
    """Read two runs; keep the topics where both have a value."""
    lists = read(qrels, runs, options)
    what = by_topic(options.get("measure", "AP"))
    chosen = options.get("ties", "realistic")
    table = np.array([what.values(ranking) for _, ranking in lists.rankings(chosen)])
    means = np.nan_to_num(what.upward * _means(table), nan=-np.inf)
    first, second, why = _two(lists.names, options.get("one"), options.get("other"), means)
    values = table[[first, second]]
    known = ~np.isnan(values[0]) & ~np.isnan(values[1])
    defined(what, np.where(known, values[0], np.nan))
    topics = [topic for topic, kept in zip(lists.judgments.topics, known, strict=True) if kept]
    missing = {"n": int((~known).sum()), "why": what.definition.undefined}
    left = "" if known.all() else say("{n:,} {n:topic|topics} left out ({why})", **missing)
    note = notes(why, say("{ties} ties", ties=strategy(chosen)), left, lists.level)
    return Pair(what, (lists.names[first], lists.names[second]), topics, values[0][known], values[1][known], note)


def _means(table: Floats) -> Floats:
    """Return the mean of each row over the topics that have a value; NaN where there is none."""
    known = ~np.isnan(table)
    total, none = np.where(known, table, 0).sum(axis=1), np.full(len(table), np.nan)
    means: Floats = np.divide(total, known.sum(axis=1), out=none, where=known.any(axis=1))
    return means


def _two(names: Sequence[str], first: str | None, second: str | None, means: Floats) -> tuple[int, int, str]:
    """Return which two runs are compared, and why: those named, of two the second against the first, else the best."""
    if len(names) < 2:
        raise BadParameter("This picture compares two runs; give two.")
    for asked in (first, second):
        if asked is not None and asked not in names:
            raise BadParameter(f"There is no run {asked!r}{did_you_mean(asked, names) or '.'}")
    if first is not None and first == second:
        raise BadParameter(f"{first!r} cannot be compared with itself; name another run.")
    ranked = [names[at] for at in np.argsort(-means, kind="stable").tolist()]
    if len(names) == 2:
        one = first or next(name for name in names if name != second)
        return names.index(one), names.index(second or next(name for name in names if name != one)), ""
    if first is None and second is None:
        best, next_best = ranked[:2]
        return names.index(next_best), names.index(best), say("the best of {n} runs against the second", n=len(names))
    other = next(name for name in ranked if name not in (first, second))
    why = say("{run} is the best of the others", run=other) if None in (first, second) else ""
    return names.index(first or other), names.index(second or other), why
