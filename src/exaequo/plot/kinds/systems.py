"""Means with their intervals; which systems are not told apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from exaequo.comparison import compare
from exaequo.language import say
from exaequo.measures import Measure, parse_measure
from exaequo.plot.chart import Canvas, Chart, Common, notes
from exaequo.plot.data import cautioned, evaluation, level_of
from exaequo.plot.kinds import kind
from exaequo.plot.marks import axis_name, best_rows, layer, nominal, padded, quantity, short_names
from exaequo.read import QrelsLike

#: Letters of groups that are written out.
MOST_LETTERS = 8


@kind
def systems(
    qrels: QrelsLike, runs: Any, *, measure: str = "AP", alpha: float = 0.05, **common: Unpack[Common]
) -> Chart:
    """Means with their intervals; systems that share a letter are not told apart."""
    what = parse_measure(measure)
    result = compare(qrels, runs, what, alpha=alpha, ties="realistic", **evaluation(common))
    rows = result.systems.select("run", "mean", "low", "high", "group").to_dicts()
    kept, some = best_rows([row["run"] for row in rows])
    rows = rows[: len(kept)]
    sure = say("{sure:g} % intervals", sure=100 * (1 - alpha))
    note = notes(sure, letters_mean(rows), result.plan.name, cautioned(what), some, level_of(common))
    return means(rows, what, Canvas.of(common, say("Means of {measure}", measure=what.name), note))


def written_out(groups: Iterable[str]) -> bool:
    """Tell whether the letters of groups are few enough to read."""
    return max(map(len, groups)) <= MOST_LETTERS


def letters_mean(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say what the letters beside the intervals mean."""
    few = written_out(row["group"] for row in rows)
    return say("those that share a letter are not told apart") if few else say("≈: not told apart from the best")


def means(rows: Sequence[Mapping[str, Any]], measure: Measure, canvas: Canvas) -> Chart:
    """Draw means with their intervals, as far as values can go, and the letters of groups."""
    about = measure.definition
    shown = short_names([row["run"] for row in rows])
    canvas = canvas.beside(left=max(map(canvas.span, shown.values())), right=2 * canvas.font).rows(len(rows))
    few = written_out(row["group"] for row in rows)
    rows = [
        {
            **row,
            "group": row["group"] if few else "≈" if row["group"].startswith("a") else "",
            "run": shown[row["run"]],
            "low": max(row["low"], about.lowest) if row["low"] is not None else row["mean"],
            "high": min(row["high"], about.highest) if row["high"] is not None else row["mean"],
        }
        for row in rows
    ]
    y = nominal("run", sort=list(shown.values()))
    look = {"color": canvas.colours[0]}
    domain = padded((row[end] for row in rows for end in ("low", "high")), about.lowest, about.highest)
    scale = {"domain": domain, "zero": False, "nice": True}
    across = {"y": y, "x": quantity("low", axis_name(measure), scale=scale), "x2": {"field": "high"}}
    letters = {"y": y, "x": quantity("high"), "text": {"field": "group"}}
    layers = [
        layer(rows, "rule", across, strokeWidth=canvas.px(3), **look),
        layer(rows, "point", {"y": y, "x": quantity("mean")}, filled=True, size=canvas.area(80), opacity=1, **look),
        layer(rows, "text", letters, align="left", dx=8, fontWeight="bold"),
    ]
    return canvas.chart(layers)
