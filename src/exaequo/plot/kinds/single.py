"""MOR, PRES and RR against the rank of a single relevant document."""

from __future__ import annotations

from typing import Unpack

from exaequo.language import say
from exaequo.measures import parse_measure
from exaequo.plot.chart import Appearance, Canvas, Chart
from exaequo.plot.data import at_least_one, read
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, lines, ranks_axis

#: Cutoffs up to which each rank has a mark.
MOST_MARKS = 15


@kind
def single(*, cutoff: int = 10, **look: Unpack[Appearance]) -> Chart:
    """MOR, PRES and RR against the rank of a single relevant document, up to twice the cutoff."""
    at_least_one(cutoff=cutoff)
    names = [f"MOR@{cutoff}", f"PRES@{cutoff}", "RR"]
    topics = [f"{rank:05}" for rank in range(1, 2 * cutoff + 1)]
    qrels = {topic: {"the one": 1} for topic in topics}
    run = {}
    for rank, topic in enumerate(topics, 1):
        run[topic] = {("the one" if at == rank else f"d{at}"): -float(at) for at in range(1, 2 * cutoff + 1)}
    ((_, ranking),) = read(qrels, run, {}).rankings("realistic")
    found = {name: list(enumerate(parse_measure(name).values(ranking).tolist(), 1)) for name in names}
    canvas = Canvas.of(look, say("One relevant document"), say("a reader who looks at {n}", n=cutoff))
    whole = ranks_axis(1, 2 * cutoff, canvas)
    axes = Axes(
        "rank", "value", say("Rank of the only relevant document"), say("Value"), (0, 2 * cutoff), (0, 1), whole
    )
    ticks = {name: [point for point in line if point[0] in whole["values"]] for name, line in found.items()}
    return lines(found, axes, canvas, marked=found if cutoff <= MOST_MARKS else ticks)
