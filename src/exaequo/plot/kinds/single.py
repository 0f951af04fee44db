"""MOR, PRES and RR against the rank of a single relevant document."""

from __future__ import annotations

from typing import Unpack

from exaequo.measures import parse_measure
from exaequo.plot.chart import Appearance, Canvas, Chart
from exaequo.plot.data import at_least_one, read
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, Row, lines, ranks_axis

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
    rows: list[Row] = [
        {"run": name, "rank": at, "value": float(value)}
        for name in names
        for at, value in enumerate(parse_measure(name).values(ranking), 1)
    ]
    canvas = Canvas.of(look, "One relevant document", f"a reader who looks at {cutoff}")
    whole = ranks_axis(1, 2 * cutoff, canvas)
    axes = Axes("rank", "value", "Rank of the only relevant document", "Value", (0, 2 * cutoff), (0, 1), whole)
    marked = [row for row in rows if cutoff <= MOST_MARKS or row["rank"] in whole["values"]]
    return lines(rows, axes, canvas, marked=marked)
