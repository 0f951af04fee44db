"""Differences between two systems, topic by topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from exaequo.language import number, say, word
from exaequo.plot.chart import Canvas, Chart, notes
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Row, axis_name, by_name, layer, nominal, quantity, short_names
from exaequo.plot.pair import NAMED, Pair, PairOptions, pair_of
from exaequo.read import QrelsLike

#: Bars have names as long as their letters are not smaller than that share of the usual size.
LEAST_LETTERS = 0.6


@kind
def topics(qrels: QrelsLike, runs: Any, **options: Unpack[PairOptions]) -> Chart:
    """Differences between two systems, topic by topic, sorted."""
    pair = pair_of(qrels, runs, options)
    higher, lower, equal = (int(each.sum()) for each in (pair.gap > 0, pair.gap < 0, pair.gap == 0))
    counts = {"higher": higher, "lower": lower, "equal": equal}
    seen = say("higher on {higher:,} {higher:topic|topics}, lower on {lower}, equal on {equal}", **counts)
    return gap_bars(pair, Canvas.of(options, pair.title, notes(seen, pair.note)))


def gap_bars(pair: Pair, canvas: Canvas) -> Chart:
    """Draw the differences of the second over the first, sorted; of many topics only the farthest are named."""
    shown = short_names(pair.names)
    first, second = (shown[name] for name in pair.names)
    topics = short_names(pair.topics, 16)
    gaps = sorted(zip(topics.values(), pair.gap.tolist(), strict=True), key=lambda each: -each[1])
    side = pair.measure.upward
    better = {1: say("{run} better", run=second), -1: say("{run} better", run=first), 0: word("equal")}
    rows = [{"topic": topic, "gap": gap, "sign": better[int(np.sign(side * gap))]} for topic, gap in gaps]
    tints = dict(zip(better.values(), (canvas.colours[0], canvas.colours[1], canvas.quiet), strict=True))
    there = [name for name in tints if any(row["sign"] == name for row in rows)]
    narrow = canvas.span("".join(there)) + 9 * canvas.font > canvas.width
    legend = {"title": None, "orient": "top", "columns": 1 if narrow else 3}
    letters = min(canvas.font, 0.95 * canvas.width / len(rows))
    many = letters < LEAST_LETTERS * canvas.font
    upright = max(map(canvas.span, topics.values())) < 0.9 * canvas.width / len(rows)
    axis = {"labels": not many, "ticks": not many, "labelAngle": 0 if upright else -90, "labelFontSize": letters}
    bars = {
        "x": nominal("topic", title=say("Topic"), axis=axis),
        "y": quantity("gap", say("Difference in {measure}", measure=axis_name(pair.measure))),
        "color": by_name("sign", there, [tints[name] for name in there], legend),
    }
    return canvas.chart([layer(rows, "bar", bars)], *(_extremes(rows) if many else ()))


def _extremes(rows: Sequence[Row]) -> list[str]:
    """Say which topics are farthest to either side."""
    up = [row for row in rows[:NAMED] if row["gap"] > 0]
    down = [row for row in rows[::-1][:NAMED] if row["gap"] < 0]
    said = []
    for name, chosen in (("highest", up), ("lowest", down)):
        gaps = [(row["topic"], number(f"{row['gap']:+.4f}")) for row in chosen]
        far = ", ".join(f"{topic} {gap}".replace("-", "−") for topic, gap in gaps)
        said.append(f"{word(name)}{say(':')} {far}" if far else "")
    return said
