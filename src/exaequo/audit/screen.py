"""The first screen of a tie audit: what ties leave open of each run, and what they decide. In: a `TieAudit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Floats
from exaequo.audit import TieAudit
from exaequo.choices import COMPARED, EXPECTED
from exaequo.language import number, say, word
from exaequo.measures import Measure, parse_measure
from exaequo.screens import Screen, ranks, sorted_by
from exaequo.tabular import Column, Table, cell_text, fixed, head

#: What the drawings are made of: the ends, what lies between, the mean over all orders, the order of names.
LEFT, BETWEEN, RIGHT, MEAN, NAMES = "├─┤●×"
#: How wide drawings are where there is room, and where there is less.
WIDTHS = range(36, 9, -2)
#: What is left out of the table where there is no room, step by step, and how narrow drawings get before that.
LEFT_OUT = ((20, ()), (12, ("average", "largest")), (10, ("average", "largest", "tied", "gain")))
#: A number is written as 0 below this.
NOTHING = 1e-10


def screen(audit: TieAudit, *, sort: str | None = None, top: int | None = None) -> Screen:
    """Return runs by what ties leave open of their first measure; or ranked by a measure, or by their names."""
    measures = [parse_measure(name) for name in audit.scores["measure"].unique(maintain_order=True)]
    by = sorted_by(sort, measures)
    measure = by or measures[0]
    rows = _rows(audit, measure)
    keys: dict[str | None, Any] = {None: lambda row: -row["open"], "name": lambda row: row["run"]}
    rows.sort(key=keys.get(sort, lambda row: row["rank"]))
    said = [_documents(audit), _widest(rows, measure), *_others(audit, measure, measures), *_ranks(rows, measure)]
    return Screen(
        [*said, *_conclusions(audit), *_chances(audit, measure), *_stuffing(audit, measure)],
        list(_tables(rows, measure)),
        len(rows),
        lambda many: _more(rows[many:], sort),
        [say("More: --table runs, lists, lucky, …; --full; -m MEASURE; exaequo plot ties")],
        top,
    )


def _rows(audit: TieAudit, measure: Measure) -> list[dict[str, Any]]:
    """Return what there is to say of each run on a measure: its figures, what is open, and its ranks."""
    own = audit.scores.filter(pl.col("measure") == measure.name).join(
        audit.runs.select("run", "tied_percent", "largest_tie"), on="run", maintain_order="left"
    )
    figures = measure.upward * own.select(COMPARED).to_numpy().astype(np.float64)
    low, high = np.round(np.nanmin(_known(figures), axis=1), 12), np.round(np.nanmax(_known(figures), axis=1), 12)
    found = {
        "open": np.where(high - low > NOTHING, high - low, 0.0),
        "low": low,
        "high": high,
        "rank": ranks(figures[:, 0]),
        "by_name": ranks(figures[:, 1]),
        "first": [1 + int((low > each).sum()) for each in high],
        "last": [1 + int((high > each).sum()) - int(own_high > each) for each, own_high in zip(low, high, strict=True)],
        "middle": figures[:, COMPARED.index(EXPECTED)],
        "names": figures[:, COMPARED.index("conventional")],
    }
    return own.with_columns(pl.Series(name, values) for name, values in found.items()).to_dicts()


def _known(figures: Floats) -> Floats:
    """Return figures with 0 for those of runs that have no value at all."""
    return np.where(np.isnan(figures).all(axis=1, keepdims=True), 0.0, figures)


# ------------------------------------------------------------------------------------------------------- sentences


def _documents(audit: TieAudit) -> str:
    """Say what was audited, and how much of it is tied."""
    documents, tied = (int(audit.lists[name].sum()) for name in ("documents", "tied"))
    return " · ".join(
        [
            say("{n:,} {n:run|runs}", n=audit.runs.height),
            say("{n:,} {n:topic|topics}", n=audit.lists["topic"].n_unique()),
            say(
                "{n:,} {n:document|documents}, {share:.1f} % of them tied",
                n=documents,
                share=100 * tied / documents if documents else 0.0,
            ),
        ]
    )


def _widest(rows: Sequence[dict[str, Any]], measure: Measure) -> str:
    """Say what ties leave open of the run they move most, and what trec_eval would say of it."""
    row = max(rows, key=lambda each: float(each["open"]))
    if not row["open"]:
        return say("Ties change no {measure}.", measure=measure)
    gain = row["c_over_r_percent"]
    return say(
        "Ties move {run} most: its {measure} is {worst} at worst, {best} at best and {mean} on average; trec_eval, "
        "which orders ties by name, says {names}{gain}.",
        run=row["run"],
        measure=measure,
        worst=_figure(row["realistic"], measure),
        best=_figure(row["optimistic"], measure),
        mean=_figure(row[EXPECTED], measure),
        names=_figure(row["conventional"], measure),
        gain="" if gain is None or np.isnan(gain) else say(" ({gain:+.1f} %)", gain=gain),
    )


def _figure(value: float, measure: Measure) -> str:
    count = measure.definition.highest != 1 and value.is_integer()
    return cell_text(int(value)) if count else fixed(value)


def _others(audit: TieAudit, measure: Measure, measures: Sequence[Measure]) -> list[str]:
    """Say how far ties move runs on the other measures."""
    said = []
    for other in measures:
        own = audit.scores.filter((pl.col("measure") == other.name) & (pl.col("span").abs() > NOTHING))
        if other != measure and own.height:
            row = own.sort(pl.col("span").abs(), descending=True, maintain_order=True).row(0, named=True)
            said.append(f"{other} {_figure(abs(row['span']), other)} ({row['run']})")
    return [say("The widest span on other measures: {said}.", said=", ".join(said))] if said else []


def _ranks(rows: Sequence[dict[str, Any]], measure: Measure) -> list[str]:
    """Say how many runs have another rank by names, and how many could."""
    moved = sum(row["rank"] != row["by_name"] for row in rows)
    could = sum(row["first"] != row["last"] for row in rows)
    if not could:
        return []
    return [
        say(
            "By names, {moved:,} of {runs:,} {runs:run|runs} change rank on {measure}; {could:,} could.",
            moved=moved,
            runs=len(rows),
            measure=measure,
            could=could,
        )
    ]


def _conclusions(audit: TieAudit) -> list[str]:
    """Say how many conclusions between two runs ties change, and how that is counted."""
    changing, every = int(audit.conclusions["changes"].sum()), audit.conclusions.height
    if not every:
        return []
    if not changing:
        return [say("No conclusion between two runs depends on how ties are broken ({pairs} compared).", pairs=every)]
    counted = audit.conclusions.group_by("measure", maintain_order=True).agg(pl.col("changes").sum())
    return [
        say(
            "{n:,} of {pairs:,} conclusions between two runs depend on ties ({counted}): which is better, or whether "
            "p < {alpha:g}, each test by itself; exaequo compare corrects p for their number.",
            n=changing,
            pairs=every,
            counted=", ".join(f"{name} {number(f'{n:,}')}" for name, n in counted.iter_rows()),
            alpha=audit.options["alpha"],
        )
    ]


def _chances(audit: TieAudit, measure: Measure) -> list[str]:
    """Say of two runs how often one beats the other if ties are broken at random."""
    rows = audit.conclusions.filter((pl.col("measure") == measure.name) & pl.col("win_percent").is_not_null())
    if audit.runs.height != 2 or not rows.height:
        return []
    row = rows.row(0, named=True)
    return [
        say(
            "With ties broken at random {one} beats {two} on {measure} in {win:.1f} % of orders and loses in "
            "{loss:.1f} %.",
            one=row["one"],
            two=row["two"],
            measure=measure,
            win=row["win_percent"],
            loss=row["loss_percent"],
        )
    ]


def _stuffing(audit: TieAudit, measure: Measure) -> list[str]:
    """Say which run earns most by documents of score 0 at the end of its lists."""
    rows = audit.stuffing.filter(pl.col("measure") == measure.name).to_dicts()
    if not rows:
        return []
    row = max(rows, key=lambda each: abs(each["earned_optimistic"]))
    ends = {"low": _figure(row["earned_realistic"], measure), "high": _figure(row["earned_optimistic"], measure)}
    earned = say("{low} to {high}", **ends)
    more = say("; {n:,} more {n:run does|runs do} so", n=len(rows) - 1) if len(rows) > 1 else ""
    return [
        say(
            "{run} fills its lists with {n:,} {n:document|documents} of score 0, worth {earned} of its {measure}"
            "{more}.",
            run=row["run"],
            n=row["documents"],
            earned=earned if abs(row["earned_optimistic"]) > NOTHING else say("nothing"),
            measure=measure,
            more=more,
        )
    ]


def _more(rows: Sequence[dict[str, Any]], sort: str | None) -> str:
    """Say what is left out."""
    most = max(float(row["open"]) for row in rows)
    if sort is None:
        return say("… {n:,} more, that ties move by {most} at most", n=len(rows), most=fixed(most))
    return say("… {n:,} more", n=len(rows))


# ----------------------------------------------------------------------------------------------------------- table


def _tables(rows: Sequence[dict[str, Any]], measure: Measure) -> Iterator[Table]:
    """Yield the forms of the table: all columns, then fewer, with narrower drawings."""
    counts = [measure.definition.highest != 1] * len(rows)
    for least, left_out in LEFT_OUT:
        for width in (each for each in WIDTHS if each >= least):
            out = {*left_out, *(("rank", "ranks") if len(rows) == 1 else ())}
            columns = {name: column for name, column in _columns(rows, measure, width).items() if name not in out}
            legend = [text for name, text in _legend().items() if name in columns]
            yield Table(columns=list(columns.values()), lines=[" · ".join(legend)]).whole(counts)


def _columns(rows: Sequence[dict[str, Any]], measure: Measure, width: int) -> dict[str, Column]:
    """Return all columns by name."""

    def of(name: str) -> list[Any]:
        return [row[name] for row in rows]

    gains = [None if gain is None or np.isnan(gain) else gain for gain in of("c_over_r_percent")]
    open_ = [str(row["first"]) if row["first"] == row["last"] else f"{row['first']}–{row['last']}" for row in rows]
    return {
        "rank": Column(word("rank"), of("rank")),
        "run": Column(word("run"), of("run"), right=False),
        "tied": Column(head("tied_percent"), of("tied_percent"), digits=1),
        "largest": Column(head("largest_tie"), of("largest_tie")),
        "worst": Column(word("worst"), of("realistic")),
        "drawing": Column(measure.name.ljust(width), _drawn(rows, width)),
        "best": Column(word("best"), of("optimistic")),
        "average": Column(word("average"), of(EXPECTED)),
        "trec_eval": Column("trec_eval", of("conventional")),
        "gain": Column(head("gain_percent"), gains, digits=1),
        "ranks": Column(word("ranks"), open_),
    }


def _drawn(rows: Sequence[dict[str, Any]], width: int) -> list[str]:
    """Return a line for each run, worse figures to the left: the ends, the mean over all orders, the order of names."""
    least, most = min(row["low"] for row in rows), max(row["high"] for row in rows)

    def at(figure: float) -> int:
        if np.isnan(figure) or most == least:
            return 0
        return round(float((min(max(figure, least), most) - least) / (most - least)) * (width - 1))

    drawn = []
    for row in rows:
        cells = [" "] * width
        low, high = at(row["low"]), at(row["high"])
        cells[low : high + 1] = [BETWEEN] * (high + 1 - low)
        cells[low], cells[high] = LEFT, RIGHT
        if row["open"]:
            cells[at(row["names"])] = NAMES
        cells[at(row["middle"])] = MEAN
        drawn.append("".join(cells))
    return drawn


def _legend() -> dict[str, str]:
    """Say what each column is that does not say so itself."""
    return {
        "tied": say("tied %: documents that share their score with another of their list"),
        "largest": say("largest tie: its documents"),
        "worst": say("worst, best: realistic and optimistic ties"),
        "drawing": say("● average over all orders, × by name"),
        "trec_eval": say("trec_eval: ties by name"),
        "gain": say("gain %: that over the worst"),
        "ranks": say("ranks: those that some order of ties gives"),
    }
