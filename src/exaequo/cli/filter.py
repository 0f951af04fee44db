"""`exaequo filter`: contingency tables, thresholds and utility of classifiers that select documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import TABLE_FORMATS, THRESHOLD, UTILITIES
from exaequo.cli import output
from exaequo.cli.options import Files, Target, evaluates, reads_files, speaks, writes
from exaequo.errors import UsageError

if TYPE_CHECKING:
    from exaequo.filtering import Filter, Tables

Row = dict[str, Any]
_SHARES = ("precision", "recall", "noise", "silence", "fallout", "density", "accuracy")


@click.command("filter")
@click.argument("qrels", metavar="QRELS|TABLE")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option("--threshold", type=float, metavar="T", help="Scores from here on are selected.  [default: 0.5]")
@click.option("--sweep", is_flag=True, help="Try every threshold: 11 points, UAP, break-even, best F and utility.")
@click.option(
    "--curve",
    type=click.Choice(["raw", "interpolated"]),
    help="Give the recall-precision curve: at every threshold, or at recall 0, 0.1, ... 1.",
)
@click.option("--docs", type=click.IntRange(1), metavar="N", help="Size of the collection.  [default: what is known]")
@click.option("--beta", type=click.FloatRange(0), default=1.0, show_default=True, help="Weight of recall in F and E.")
@click.option("--utility", default="LF1", show_default=True, metavar="A,B", help="LF1, LF2, T11U, or 2 or 4 numbers.")
@evaluates()
@click.option("--average", type=click.Choice(["macro", "micro", "both"]), help="[default: both]")
@click.option("-q", "--per-theme", is_flag=True, help="Also give the figures of each theme.")
@writes(*TABLE_FORMATS)
@reads_files
@speaks
def filter_(
    qrels: str,
    runs: tuple[str, ...],
    threshold: float | None,
    sweep: bool,
    curve: str | None,
    docs: int | None,
    beta: float,
    utility: str,
    options: dict[str, Any],
    average: str | None,
    per_theme: bool,
    target: Target,
    files: Files,
) -> None:
    """Judge RUNs as filters: a document is selected for a theme if its score is at least the threshold.

    A single TABLE may stand for both: columns theme, y_true, and y_score or decision.
    """
    output.check_paths((qrels, *runs), target.path)
    coefficients = coefficients_of(utility)
    if sweep and len(coefficients) > 2:
        raise UsageError("--sweep takes a utility of two numbers.")
    _refuse(threshold, sweep, curve, beta, average)
    filters = list(_filters(qrels, runs, docs, files, options))
    from exaequo.read import unique_names

    rows: list[Row] = []
    for name, each in zip(unique_names([(each.name, file) for each, file in filters]), filters, strict=True):
        one = replace(each[0], name=name)
        if curve:
            rows += _curve(one, curve, beta, coefficients, per_theme)
        elif sweep:
            rows += _swept(one, beta, coefficients, per_theme)
        else:
            rows += _at_threshold(
                one, THRESHOLD if threshold is None else threshold, beta, coefficients, per_theme, average or "both"
            )
    _show(rows, target)


def _refuse(threshold: float | None, sweep: bool, curve: str | None, beta: float, average: str | None) -> None:
    """Refuse what cannot be, or would be ignored."""
    from exaequo.measures import PARAMETERS

    whole = "--curve" if curve else "--sweep"
    if sweep and curve:
        raise UsageError("--sweep and --curve are two different tables; ask for one.")
    if (sweep or curve) and threshold is not None:
        raise UsageError(f"{whole} tries every threshold; leave --threshold out.")
    if (sweep or curve) and average == "micro":
        raise UsageError(f"{whole} has no micro-average: curves, UAP and break-even of themes cannot be added up.")
    if threshold is not None and threshold != threshold:
        raise UsageError("--threshold must be a number.")
    if not PARAMETERS["beta"].accepts(beta):
        raise UsageError(f"--beta must be {PARAMETERS['beta'].expected}. Got {beta}.")


def _filters(
    qrels: str, runs: tuple[str, ...], docs: int | None, files: Files, judging: Mapping[str, Any]
) -> Iterator[tuple[Filter, str]]:
    """Yield each filter with the name of its file; say what was left out."""
    from exaequo.evaluation import judged_runs, prepared, remarks_on_judgments
    from exaequo.filtering import filter_of, from_table
    from exaequo.options import Options
    from exaequo.text import count, listed

    if not runs:
        one = from_table(qrels, docs=docs, reader=files.qrels_reader, columns=files.columns)
        if one.left_out:
            what = count(len(one.left_out), "theme")
            output.warn(f"{qrels}: {what} with nothing relevant left out of all averages: {listed(one.left_out)}")
        yield one, qrels
        return
    options = Options(**judging)
    judgments = prepared(files.qrels(qrels), options)
    for theme in {"macro", "micro"} & set(judgments.topics):
        output.warn(f"{qrels}: a theme is called {theme!r}, like the average")
    for note in remarks_on_judgments(judgments):
        output.warn(note)
    for ordering, said in judged_runs(judgments, files.runs(runs), options):
        for note in said:
            output.warn(note)
        yield filter_of(ordering, docs=docs), ordering.run.source.name


def _curve(one: Filter, kind: str, beta: float, coefficients: tuple[float, ...], per_theme: bool) -> list[Row]:
    """Return the points of the curve: of each theme, or interpolated of all of them together."""
    from exaequo.filtering import GRID

    sweep = one.sweep
    if kind == "interpolated":
        table = sweep.interpolated()
        lines = dict(zip(one.themes, table, strict=True)) if per_theme else {}
        return [
            row
            for theme, line in (*lines.items(), ("macro", table.mean(axis=0)))
            for row in _rows(one, [theme] * len(GRID), {"recall": GRID, "precision": line})
        ]
    figures = {
        "threshold": sweep.threshold,
        "recall": sweep.tables.recall,
        "precision": sweep.tables.precision,
        "F": sweep.tables.f(beta),
        "utility": sweep.tables.utility(*coefficients),
    }
    return _rows(one, [one.themes[theme] for theme in sweep.theme], figures)


def coefficients_of(text: str) -> tuple[float, ...]:
    """Read a utility: its name, or what documents of a and b are worth, and perhaps those of c and d."""
    wrong = f"--utility takes {', '.join(UTILITIES)}, or two or four numbers such as 3,-2. Got {text!r}."
    try:
        numbers = UTILITIES[text] if text in UTILITIES else tuple(map(float, text.split(",")))
    except ValueError:
        raise UsageError(wrong) from None
    if len(numbers) not in (2, 4):
        raise UsageError(wrong)
    if not (all(map(isfinite, numbers)) and numbers[0] > 0):
        raise UsageError(f"--utility takes finite numbers, the first above 0. Got {text!r}.")
    return numbers


def _at_threshold(
    one: Filter, threshold: float, beta: float, coefficients: tuple[float, ...], per_theme: bool, average: str
) -> list[Row]:
    tables = one.at(threshold)
    figures = _figures(tables, beta, coefficients)
    rows = _rows(one, one.themes if per_theme else [], figures)
    if average != "micro":
        rows += _rows(one, ["macro"], {name: [values.mean()] for name, values in figures.items()})
    if average != "macro":
        rows += _rows(one, ["micro"], _figures(tables.total(), beta, coefficients))
    return rows


def _figures(tables: Tables, beta: float, coefficients: tuple[float, ...]) -> dict[str, Any]:
    return {
        **{name: getattr(tables, name) for name in ("a", "b", "c", "d")},
        "relevant": tables.a + tables.c,
        "N": tables.a + tables.b + tables.c + tables.d,
        **{name: getattr(tables, name) for name in _SHARES},
        "F": tables.f(beta),
        "E": tables.e(beta),
        "utility": tables.utility(*coefficients),
        "best_utility": tables.best_utility(coefficients[0], *coefficients[3:]),
        "normalised": tables.normalised_utility(*coefficients),
        "beats_nothing": (tables.utility(*coefficients) > tables.idle_utility(*coefficients[2:])).astype(float),
        "T11SU": tables.scaled_utility(),
    }


def _swept(one: Filter, beta: float, coefficients: tuple[float, ...], per_theme: bool) -> list[Row]:
    import numpy as np

    from exaequo.aggregate import aggregate
    from exaequo.errors import InputError

    sweep = one.sweep
    best, at = sweep.best_f(beta)
    worth, worth_at = sweep.best_utility(*coefficients)
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
        figures |= dict(zip(("f_optimal", "f_optimal_at"), one.f_optimal(beta), strict=True))
    except InputError as error:
        output.warn(str(error))
    undefined = int(np.isnan(sweep.break_even).sum())
    if undefined:
        output.warn(f"{one.name}: {undefined} themes without a break-even point, left out of its mean")
    means = {name: [aggregate("mean", values)] for name, values in figures.items() if not name.endswith("_at")}
    return [*_rows(one, one.themes if per_theme else [], figures), *_rows(one, ["macro"], means)]


def _rows(one: Filter, themes: Sequence[str], figures: Mapping[str, Any]) -> list[Row]:
    """Return a row per theme, with the value each figure has in its place."""
    return [
        {"run": one.name, "theme": theme, **{name: float(values[at]) for name, values in figures.items()}}
        for at, theme in enumerate(themes)
    ]


def _show(rows: list[Row], target: Target) -> None:
    import polars as pl

    from exaequo.tabular import Table

    frame = pl.DataFrame(rows, infer_schema_length=None)
    whole = [
        name
        for name in ("a", "b", "c", "d", "relevant", "N", "beats_nothing")
        if name in frame.columns and (frame[name] == frame[name].floor()).all()
    ]
    target.show({"rows": Table.of(frame, brief=frame.with_columns(pl.col(whole).cast(pl.Int64)))})
