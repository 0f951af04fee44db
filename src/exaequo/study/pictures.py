"""The pictures of a study: ties and gains by edition, ranks against ranks. In: its tables. Out: charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from exaequo.language import say
from exaequo.plot.chart import SHAPES, Canvas, Chart
from exaequo.plot.marks import Axes, Row, by_name, layer, nominal, quantity, ranks_axis, short_names
from exaequo.study.editions import SUMS, of_runs

_SHARE: Row = {"scale": {"domain": [0, 100], "nice": False}}


class Picture(NamedTuple):
    """A chart, and words for those who do not see it."""

    name: str
    chart: Chart
    text: str


def pictures(tables: dict[str, pl.DataFrame], measures: Sequence[str]) -> Iterator[Picture]:
    """Yield what there is to draw."""
    ties = tables["ties"].filter(~pl.col("edition").is_in(SUMS))
    yield Picture("share-tied", share_tied(ties), say("The figures are in the first table."))
    gains = tables["gains"].filter(~pl.col("edition").is_in(SUMS))
    yield Picture("gains", gains_by_edition(gains, measures), say("The figures are in the table of gains."))
    measure = "AP" if "AP" in measures else measures[-1]
    systems = tables["systems"].filter(pl.col("measure") == measure).drop_nulls(["rank_realistic", "rank_conventional"])
    if systems.height:
        chart = ranks(systems, measure)
        yield Picture("ranks", chart, say("A system below the line owes ranks to the names of documents."))


def share_tied(editions: pl.DataFrame) -> Chart:
    """Draw the mean share of tied documents of each edition, and one standard deviation on both sides."""
    names = _names(editions)
    note = say("mean over the lists of an edition; line: standard deviation")
    canvas = Canvas.of({}, say("Tied documents of a list, %"), note)
    canvas = canvas.beside(left=max(map(canvas.span, names))).rows(len(names))
    rows: list[Row] = [
        {"edition": name, "share": mean, "low": max(0.0, mean - (sd or 0.0)), "high": min(100.0, mean + (sd or 0.0))}
        for name, mean, sd in zip(names, editions["tied_mean_percent"], editions["tied_sd_percent"], strict=True)
    ]
    y = nominal("edition", sort=names)
    bars = {"y": y, "x": quantity("share", say("Tied, %"), **_SHARE)}
    spread = {"y": y, "x": quantity("low", **_SHARE), "x2": {"field": "high"}}
    layers = [
        layer(rows, "bar", bars, color=canvas.colours[0], opacity=0.6, height={"band": 0.6}),
        layer(rows, "rule", spread, strokeWidth=canvas.px(1.5)),
    ]
    return canvas.chart(layers)


def gains_by_edition(gains: pl.DataFrame, measures: Sequence[str]) -> Chart:
    """Draw what conventional ties gain over realistic ones in each edition, for each measure."""
    names = short_names([of_runs(measure) for measure in measures])
    shown = {measure: names[of_runs(measure)] for measure in measures}
    own = _names(gains)
    note = say("mean over the runs of an edition, conventional over realistic ties")
    canvas = Canvas.of({}, say("What the names of documents gain, %"), note)
    editions = list(dict.fromkeys(own))
    canvas = canvas.beside(left=max(map(canvas.span, editions))).rows(len(editions))
    known = zip(own, gains["measure"], gains["c_over_r_percent"], strict=True)
    rows = [{"edition": edition, "measure": shown[name], "gain": gain} for edition, name, gain in known if gain == gain]
    legend = {"title": None, "orient": "top"}
    looks = [each[at % len(each)] for each in (canvas.colours, SHAPES) for at in range(len(shown))]
    encoding = {
        "y": nominal("edition", sort=editions),
        "x": quantity("gain", say("Gain, %")),
        "color": by_name("measure", list(shown.values()), looks[: len(shown)], legend),
        "shape": by_name("measure", list(shown.values()), looks[len(shown) :], legend),
    }
    return canvas.chart([layer(rows, "point", encoding, filled=True, size=canvas.area(70), opacity=0.9)])


def ranks(systems: pl.DataFrame, measure: str) -> Chart:
    """Draw the rank of each system in its edition, by conventional against realistic ties."""
    title = say("Ranks of systems by {measure}", measure=of_runs(measure))
    canvas = Canvas.of({}, title, say("each system in its edition; on the line: no change"))
    side = max(canvas.height, 0.7 * canvas.width)
    canvas = canvas.high(side).wide(side)
    pairs = systems.select("rank_realistic", "rank_conventional").rows()
    top = max(max(pair) for pair in pairs) + 0.5
    whole = ranks_axis(1, top, canvas)
    titles = say("Rank with realistic ties"), say("Rank with conventional ties")
    encoding = Axes("fair", "names", *titles, (0.5, top), (0.5, top), whole, whole).encoding()
    rows = [{"fair": fair, "names": names} for fair, names in pairs]
    line = [{"fair": end, "names": end} for end in (0.5, top)]
    layers = [
        layer(line, "line", encoding, color=canvas.quiet, strokeDash=[4, 4]),
        layer(rows, "point", encoding, filled=True, opacity=0.5, size=canvas.area(50), color=canvas.colours[0]),
    ]
    return canvas.chart(layers)


def _names(editions: pl.DataFrame) -> list[str]:
    """Return what rows of editions are called: with their track if there are several."""
    alone = editions["track"].n_unique() == 1
    names = [
        edition if alone else f"{track} {edition}" for track, edition in editions.select("track", "edition").rows()
    ]
    shown = short_names(list(dict.fromkeys(names)))
    return [shown[name] for name in names]
