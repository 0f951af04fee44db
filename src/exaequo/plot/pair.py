"""Two systems, topic by topic: what the pictures of `topics` and `scatter` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exaequo.errors import BadParameter
from exaequo.judge import Floats
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
    """Which two systems: of what measure, under which strategy, and which runs; by default the first two."""

    measure: str
    ties: str
    one: str | None
    other: str | None


def pair_of(qrels: QrelsLike, runs: Any, options: PairOptions) -> Pair:
    """Read two runs; keep the topics where both have a value."""
    lists = read(qrels, runs, options)
    first, second = _two(lists.names, options.get("one"), options.get("other"))
    what = by_topic(options.get("measure", "AP"))
    chosen = options.get("ties", "realistic")
    values = [what.values(lists.orderings[at].ranking(chosen)) for at in (first, second)]
    known = ~np.isnan(values[0]) & ~np.isnan(values[1])
    defined(what, np.where(known, values[0], np.nan))
    topics = [topic for topic, kept in zip(lists.judgments.topics, known, strict=True) if kept]
    missing = {"n": int((~known).sum()), "why": what.definition.undefined}
    left = "" if known.all() else say("{n:,} {n:topic|topics} left out ({why})", **missing)
    note = notes(say("{ties} ties", ties=strategy(chosen)), left, lists.level)
    return Pair(what, (lists.names[first], lists.names[second]), topics, values[0][known], values[1][known], note)


def _two(names: Sequence[str], first: str | None, second: str | None) -> tuple[int, int]:
    """Return which two runs are compared: those named, or the first two."""
    if len(names) < 2:
        raise BadParameter("This picture compares two runs; give two.")
    for asked in (first, second):
        if asked is not None and asked not in names:
            raise BadParameter(f"There is no run {asked!r}{did_you_mean(asked, names) or '.'}")
    if first is not None and first == second:
        raise BadParameter(f"{first!r} cannot be compared with itself; name another run.")
    one = names.index(first) if first is not None else int(second == names[0])
    return one, names.index(second) if second is not None else int(one != 1)
