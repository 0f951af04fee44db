"""Tables of filters: at a threshold, at all of them, over time. In: `Filter`s and a `Setting`. Out: `Shown`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from exaequo.choices import THRESHOLD, UTILITIES
from exaequo.errors import InputError
from exaequo.filtering.figures import KNOWN, RAW, averages, figures_of, mean_of_themes, means_over
from exaequo.filtering.filters import GRID, Filter
from exaequo.filtering.learning import Learnt
from exaequo.filtering.streams import stream_of
from exaequo.language import ENGLISH, say, speaking, word
from exaequo.measures.selection import T9_TARGET, Tables
from exaequo.tabular import Column, Table, head
from exaequo.text import count

Row = dict[str, Any]
#: Columns whose whole numbers are written as such.
_COUNTS = {*"abcd", "relevant", "N", "documents", "utility", "best_utility", "beats_nothing", "chosen_utility", "time"}
_COUNTS |= {"window_documents", "window_utility"}
#: Over how many themes a mean goes.
_MEANS = {"run": pl.String, "figure": pl.String, "themes": pl.Int64, "of": pl.Int64}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the figures depend on, and which of them are shown; `by` says what thresholds were learnt by."""

    threshold: float | None = None
    docs: int | None = None
    beta: float = 1.0
    utility: tuple[float, ...] = UTILITIES["LF1"]
    hull: float | None = None
    target: float = T9_TARGET
    average: str | None = None
    per_theme: bool = False
    window: int | None = None
    by: str = "f"

    @property
    def at(self) -> float:
        """The threshold, the usual one if none is given."""
        return THRESHOLD if self.threshold is None else self.threshold

    def figures(self, tables: Tables) -> dict[str, Any]:
        """Return all figures."""
        return figures_of(tables, self.beta, self.utility, target=self.target, hull=self.hull)

    def collection(self, filters: Sequence[Filter]) -> str:
        """Say what the collection is."""
        if self.docs is not None:
            return say("{n:,} documents for each theme", n=self.docs)
        if len(filters) == 1:
            return say("the documents judged or scored for the theme")
        return say("the documents judged or scored for the theme by any of the {n} filters", n=len(filters))


@dataclass(frozen=True, eq=False)
class Shown:
    """A table, over how many themes the means go that leave some out, what there is to say, and what stands below."""

    rows: pl.DataFrame
    means: pl.DataFrame
    said: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class _Pages:
    """Rows, means and remarks, as they come together filter by filter."""

    def __init__(self, *said: str) -> None:
        self.rows: list[Row] = []
        self.means: list[Row] = []
        self.said = list(said)

    def add(self, one: Filter, themes: Sequence[str], figures: Mapping[str, Any]) -> list[Row]:
        """Add a row per theme, with the value each figure has in its place."""
        rows = [
            {"run": one.name, "theme": theme, **{name: float(values[at]) for name, values in figures.items()}}
            for at, theme in enumerate(themes)
        ]
        self.rows += rows
        return rows

    def add_means(self, one: Filter, figures: Mapping[str, Any]) -> None:
        """Add the macro-averages, and say over how many themes they go."""
        self.add(one, ["macro"], {name: [value] for name, value in averages(figures).items()})
        self.note_means(one, figures)

    def note_means(self, one: Filter, figures: Mapping[str, Any]) -> None:
        """Say over how many themes the means go that leave some out."""
        of, known = len(one.themes), means_over(figures)
        self.means += [{"run": one.name, "figure": name, "themes": themes, "of": of} for name, themes in known.items()]
        for themes in sorted(set(known.values()), reverse=True):
            with speaking(ENGLISH):  # as all warnings are
                names = ", ".join(head(name) for name, each in known.items() if each == themes)
            over = f"means over {themes:,} of {count(of, 'theme')}, undefined for the others"
            self.said.append(f"{one.name}: {names}: {over}")

    def shown(self, *after: str) -> Shown:
        """Return what came together."""
        rows = pl.DataFrame(self.rows, infer_schema_length=None)
        return Shown(rows, pl.DataFrame(self.means, schema=_MEANS), tuple(self.said), after)


def _begun(filters: Sequence[Filter], setting: Setting) -> _Pages:
    """Begin where utilities may be averaged: then that is said."""
    averaged = setting.average != "micro" and len(filters[0].themes) > 1
    return _Pages(RAW) if averaged else _Pages()


def at_threshold(filters: Sequence[Filter], learnt: Mapping[str, Learnt], setting: Setting) -> Shown:
    """Return the figures at the threshold, or at those that were learnt, with what the best on the test would be."""
    pages, average = _begun(filters, setting), setting.average or "both"
    for one in filters:
        own = learnt.get(one.name)
        tables = one.at(setting.at if own is None else own.thresholds)
        best = None if own is None else one.at(own.chosen)
        figures = setting.figures(tables) | _beside(tables, best, setting)
        rows = pages.add(one, one.themes if setting.per_theme else [], figures)
        if own is not None:
            for row, threshold, chosen in zip(rows, own.thresholds, own.chosen, strict=False):
                row |= {"threshold": float(threshold), "chosen_threshold": float(chosen)}
        if average != "micro":
            pages.add_means(one, figures)
        if average != "macro":
            total = tables.total()
            pages.add(one, ["micro"], setting.figures(total) | _beside(total, best and best.total(), setting))
    return pages.shown(say("N: {collection}", collection=setting.collection(filters)))


def _beside(tables: Tables, best: Tables | None, setting: Setting) -> dict[str, Any]:
    """Return the figure thresholds were learnt by, if chosen on the test itself, and how much more it is."""
    if best is None:
        return {}
    if setting.by == "utility":
        own, chosen = tables.utility(*setting.utility), best.utility(*setting.utility)
        return {"chosen_utility": chosen, "optimism": chosen - own}
    own, chosen = tables.f(setting.beta), best.f(setting.beta)
    return {"chosen_F": chosen, "optimism": chosen - own}


def raw_curves(filters: Sequence[Filter], setting: Setting) -> Shown:
    """Return recall, precision, F and utility of each theme at every threshold."""
    pages = _Pages()
    for one in filters:
        sweep = one.sweep
        figures = {
            "threshold": sweep.threshold,
            "recall": sweep.tables.recall,
            "precision": sweep.tables.precision,
            "F": sweep.tables.f(setting.beta),
            "utility": sweep.tables.utility(*setting.utility),
        }
        pages.add(one, [one.themes[theme] for theme in sweep.theme], figures)
    return pages.shown()


def interpolated_curves(filters: Sequence[Filter], setting: Setting) -> Shown:
    """Return the interpolated precision at recall 0, 0.1, … 1: the mean of all themes, and that of each."""
    pages = _Pages()
    for one in filters:
        table = one.sweep.interpolated()
        lines = dict(zip(one.themes, table, strict=True)) if setting.per_theme else {}
        for theme, line in (*lines.items(), ("macro", mean_of_themes(table))):
            pages.add(one, [theme] * len(GRID), {"recall": GRID, "precision": line})
        pages.note_means(one, {"interpolated precision": table[:, 0]})
    return pages.shown()


def swept(filters: Sequence[Filter], setting: Setting) -> Shown:
    """Return what is made of all thresholds."""
    pages = _begun(filters, setting)
    for one in filters:
        sweep = one.sweep
        best, at = sweep.best_f(setting.beta)
        worth, worth_at = sweep.best_utility(*setting.utility[:2])
        figures: dict[str, Any] = {
            "eleven_points": sweep.eleven_points,
            "UAP": one.average_precision,
            "break_even": sweep.break_even,
            "best_f": best,
            "best_f_at": at,
            "best_utility": worth,
            "best_utility_at": worth_at,
        }
        try:
            figures |= dict(zip(("f_optimal", "f_optimal_at"), one.f_optimal(setting.beta), strict=True))
        except InputError as error:
            pages.said.append(str(error))
        pages.add(one, one.themes if setting.per_theme else [], figures)
        pages.add_means(one, {name: values for name, values in figures.items() if not name.endswith("_at")})
    return pages.shown()


def over_time(filters: Sequence[Filter], learnt: Mapping[str, Learnt], setting: Setting) -> Shown:
    """Return the figures after each moment: of each theme, and of all tables added up."""
    frames: list[pl.DataFrame] = []
    said: list[str] = []
    for one in filters:
        threshold = learnt[one.name].thresholds if learnt else setting.at
        for theme in (*(one.themes if setting.per_theme else ()), None):
            stream = stream_of(one, threshold, theme=theme, window=setting.window)
            frames.append(stream.frame(setting.beta, setting.utility, setting.target))
        never = int(one.n_rel.sum() - one.relevant.sum())
        if never:
            said.append(f"{one.name}: {count(never, 'relevant document')} that never came, not counted in recall and F")
    if len({frame["time"].dtype for frame in frames}) > 1:
        frames = [frame.with_columns(pl.col("time").cast(pl.String)) for frame in frames]
    after = say(
        "A filter that is told of what it selected alone knows {names} itself; recall and F it cannot know.",
        names=", ".join(map(word, KNOWN)),
    )
    return Shown(pl.concat(frames), pl.DataFrame(schema=_MEANS), tuple(said), (after,))


def table_of(frame: pl.DataFrame) -> Table:
    """Return a table whose counts are written as whole numbers wherever they are whole."""

    def written(column: pl.Series) -> list[Any]:
        if column.name not in _COUNTS or not column.dtype.is_float():
            return column.to_list()
        return [int(value) if value is not None and value.is_integer() else value for value in column]

    columns = [Column(head(each.name), written(each), each.dtype.is_numeric()) for each in frame]
    return Table(columns=columns, data=frame)
