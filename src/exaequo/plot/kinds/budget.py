"""What ties, unjudged documents, judges and topics leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from exaequo.budgeting import budget as budgeted
from exaequo.budgeting.intervals import SOURCES, TOGETHER
from exaequo.language import say, word
from exaequo.measures import Measure, parse_measure
from exaequo.plot.chart import DASHES, Canvas, Chart, Common, notes
from exaequo.plot.data import cautioned, evaluation, level_of
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Row, axis_name, best_rows, by_name, layer, nominal, padded, quantity, short_names
from exaequo.read import QrelsLike

#: Runs that have a row.
MOST = 25


@kind
def budget(
    qrels: QrelsLike,
    runs: Any,
    *,
    measure: str = "AP",
    judges: Sequence[QrelsLike] = (),
    alpha: float = 0.05,
    **common: Unpack[Common],
) -> Chart:
    """For each run the score, the interval of each source in a line of its own, and behind them that of all."""
    what = parse_measure(measure)
    result = budgeted(qrels, runs, what, judges=judges, alpha=alpha, to_judge=1, **evaluation(common))
    order, some = best_rows(result.runs["run"].unique(maintain_order=True).to_list(), MOST)
    rows = [row for row in result.runs.to_dicts() if row["run"] in order]
    sure = say("{sure:g} % over topics", sure=100 * (1 - alpha))
    note = notes(say("mark: the score; band: all together"), sure, cautioned(what), some, level_of(common))
    return intervals(rows, what, Canvas.of(common, say("What is left open: {measure}", measure=what.name), note))


def intervals(found: Sequence[Mapping[str, Any]], measure: Measure, canvas: Canvas) -> Chart:
    """Draw the intervals of each run, its sources one below the other."""
    shown = short_names(list(dict.fromkeys(row["run"] for row in found)))
    sources = [name for name in SOURCES if any(row["source"] == name for row in found)]
    canvas = canvas.beside(left=max(map(canvas.span, shown.values()))).rows(len(shown))
    about, total = measure.definition, measure.aggregate != "mean"
    bounds = (-float("inf"), float("inf")) if total else (about.lowest, about.highest)
    domain = padded((row[end] for row in found for end in ("low", "high")), *bounds)
    rows: list[Row] = [
        {**{name: row[name] for name in ("score", "low", "high")}, "run": shown[row["run"]], "source": row["source"]}
        for row in found
    ]
    whole = [row for row in rows if row["source"] == TOGETHER]
    lines = [{**row, "source": word(row["source"])} for row in rows if row["source"] != TOGETHER]
    y = nominal("run", sort=list(shown.values()), scale={"type": "band", "paddingInner": 0.25, "paddingOuter": 0.1})
    scale = {"domain": domain, "zero": False, "nice": True}
    across = {"y": y, "x": quantity("low", axis_name(measure, measure.aggregate), scale=scale), "x2": {"field": "high"}}
    layers = [
        layer(whole, "bar", across, color=canvas.faint),
        layer(lines, "rule", across | _looks(sources, canvas), strokeWidth=canvas.px(3)),
        layer(whole, "tick", {"y": y, "x": quantity("score")}, color=canvas.ink, thickness=canvas.px(2)),
    ]
    return canvas.chart(layers)


def _looks(sources: Sequence[str], canvas: Canvas) -> dict[str, Row]:
    """Return place, colour and dash of each source, the same in all pictures: none is told by colour alone."""
    legend = {"title": None, "orient": "top", "symbolType": "stroke", "symbolSize": canvas.area(500)}
    names, own = [word(name) for name in sources], [SOURCES.index(name) for name in sources]
    dashes = [[canvas.px(part) for part in DASHES[at]] for at in own]
    return {
        "yOffset": {"field": "source", "type": "nominal", "scale": {"domain": names, "paddingOuter": 0.3}},
        "color": by_name("source", names, [canvas.colours[at] for at in own], legend),
        "strokeDash": by_name("source", names, dashes, legend),
    }
