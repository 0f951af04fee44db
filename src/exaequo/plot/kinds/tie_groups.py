"""Where in the ranking the ties are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from exaequo.language import say, word
from exaequo.order import Ranking
from exaequo.plot.chart import Canvas, Chart, Common
from exaequo.plot.data import at_least_one, read
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Row, by_name, layer, nominal, quantity, ranks_axis, short_names
from exaequo.read import QrelsLike

#: Rows up to which each has a label.
MOST_LABELS = 60


@kind
def tie_groups(
    qrels: QrelsLike,
    runs: Any,
    *,
    topic: str | None = None,
    ranks: int = 100,
    **common: Unpack[Common],
) -> Chart:
    """Where in the ranking the ties are: a bar from the first to the last rank of each, a row per topic, or per run."""
    at_least_one(ranks=ranks)
    lists = read(qrels, runs, common)
    several = len(lists.names) > 1
    rows: dict[str, list[Row]] = {}
    length: dict[str, int] = {}
    topics = short_names(lists.judgments.topics.to_list(), 20)
    shown = short_names(lists.names)
    chosen = [lists.topic(topic)] if topic is not None or several else _in_order(lists.judgments.topics.to_list())
    for name, ranking in lists.rankings("realistic"):
        bars = tie_bars(ranking, ranks)
        for at in chosen:
            label = shown[name] if several else say("topic {topic}", topic=topics[lists.judgments.topics[at]])
            rows[label], length[label] = bars[at], int(ranking.returned[at])
    title = say("Ties of {run}", run=lists.names[0])
    if several:
        title = say("Ties of topic {topic}", topic=lists.judgments.topics[lists.topic(topic)])
    why = say("the first topic") if several and topic is None else ""
    return tie_rows(rows, length, ranks, Canvas.of(common, title, why), lists.level)


def _in_order(topics: list[str]) -> list[int]:
    """Return topics in the order of their numbers, if they are numbers."""
    places = range(len(topics))
    return sorted(places, key=lambda at: int(topics[at])) if all(map(str.isdecimal, topics)) else list(places)


def tie_bars(ranking: Ranking, ranks: int) -> list[list[Row]]:
    """Return the ties of each topic that begin in the first ranks: from where to where, and whether they are mixed."""
    groups = ranking.groups
    inside, _ = groups.counts(ranking.relevant())
    bars: list[list[Row]] = [[] for _ in range(ranking.n_topics)]
    for tie in np.flatnonzero((groups.size > 1) & (groups.before < ranks)).tolist():
        first, last = int(groups.before[tie]), min(int(groups.before[tie] + groups.size[tie]), ranks)
        kind = "mixed" if 0 < inside[tie] < groups.size[tie] else "all alike"
        bars[int(groups.topic[tie])].append({"first": first + 0.5, "last": last + 0.5, "kind": kind})
    return bars


def tie_rows(
    rows: Mapping[str, list[Row]], length: Mapping[str, int], ranks: int, canvas: Canvas, level: str = ""
) -> Chart:
    """Draw a row of ties for each label, and where its list ends; bars differ in height too, not in colour alone."""
    labels = list(rows)
    many = len(labels) > MOST_LABELS
    canvas = canvas.beside(left=max(map(canvas.span, labels)))
    canvas = canvas.high(max(5 * canvas.font, 90 * canvas.font if many else 1.5 * canvas.font * len(labels)))
    ranks = max(1, min(ranks, max(length.values())))
    scale = {"domain": [0.5, ranks + 0.5], "nice": False}
    across = quantity("first", say("Rank"), scale=scale, axis=ranks_axis(1, ranks, canvas))
    every = math.ceil(1.1 * canvas.font * len(labels) / canvas.height)  # one in so many has room for its label
    down = nominal("row", scale={"domain": labels}, axis={"values": labels[::every], "ticks": not many})
    legend = {"title": None, "orient": "top", "symbolType": "square"}
    tints = by_name("kind", (word("mixed"), word("all alike")), (canvas.colours[1], canvas.quiet), legend)
    encoding = {"x": across, "x2": {"field": "last"}, "y": down, "color": tints}
    layers = []
    for kind_, band in (("mixed", 0.8), ("all alike", 0.35)):
        bars = [
            {"row": label, **bar, "kind": word(kind_)}
            for label, row in rows.items()
            for bar in row
            if bar["kind"] == kind_
        ]
        look = {"height": {"band": band}, "stroke": canvas.paper, "strokeWidth": 0 if many else canvas.px(1)}
        layers.append(layer(bars, "bar", encoding, **look))
    ends = [{"row": label, "first": length[label] + 0.5} for label in labels if length[label] < ranks]
    end = {"thickness": canvas.px(2), "height": {"band": 0.9}, "color": canvas.ink}
    layers.append(layer(ends, "tick", {"x": across, "y": down}, **end))
    said = say("mixed ties hold relevant and other documents: their order changes scores")
    none = "" if any(rows.values()) else say("no tie in the first {n}", n=ranks)
    stop = say("a stroke is the end of a list") if ends else ""
    some = say("one row in {n} has its label, from the first on", n=every) if every > 1 else ""
    return canvas.chart(layers, none or said, stop, some, level)
