"""`exaequo filter`: contingency tables, thresholds and utility of classifiers that select documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from exaequo.cli import output
from exaequo.cli.eval import readers_of, with_input_options

if TYPE_CHECKING:
    from exaequo.filtering import Filter, Tables

FORMAT = 1


@click.command("filter")
@click.argument("qrels", metavar="QRELS|TABLE")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option("--threshold", type=float, default=0.5, show_default=True, help="Scores from here on are selected.")
@click.option("--sweep", is_flag=True, help="Try every threshold: 11 points, break-even, best F, F_optimal.")
@click.option(
    "--curve",
    type=click.Choice(["raw", "interpolated"]),
    help="Give the recall-precision curve: at every threshold, or at recall 0, 0.1, ... 1.",
)
@click.option("--docs", type=click.IntRange(1), metavar="N", help="Size of the collection.  [default: what is known]")
@click.option("--beta", type=click.FloatRange(0), default=1.0, show_default=True, help="Weight of recall in F and E.")
@click.option("--utility", default="LF1", show_default=True, metavar="A,B", help="LF1, LF2, T11U, or two numbers.")
@click.option("--average", type=click.Choice(["macro", "micro", "both"]), default="both", show_default=True)
@click.option("-q", "--per-theme", is_flag=True, help="Also give the figures of each theme.")
@click.option("--format", "format_", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("-o", "--output", "path", metavar="FILE", help="Write there instead of to standard output.")
@with_input_options
def filter_(
    qrels: str,
    runs: tuple[str, ...],
    threshold: float,
    sweep: bool,
    curve: str | None,
    docs: int | None,
    beta: float,
    utility: str,
    average: str,
    per_theme: bool,
    format_: str,
    as_json: bool,
    path: str | None,
    columns: tuple[str, ...],
    **kinds: str | None,
) -> None:
    """Judge RUNs as filters: a document is selected for a theme if its score is at least the threshold.

    A single TABLE may stand for both: columns theme, y_true, and y_score or decision.
    """
    output.refuse_two_stdins((qrels, *runs))
    names, readers = output.parse_columns(columns), readers_of(kinds)
    coefficients = _coefficients(utility)
    rows: list[dict[str, Any]] = []
    for one in _filters(qrels, runs, docs, readers, names):
        if curve:
            rows += _curve(one, curve, beta, coefficients, per_theme)
        elif sweep:
            rows += _swept(one, beta, per_theme, average)
        else:
            rows += _at_threshold(one, threshold, beta, coefficients, per_theme, average)
    _show(rows, "json" if as_json else format_, path)


def _filters(
    qrels: str,
    runs: tuple[str, ...],
    docs: int | None,
    readers: tuple[str | None, str | None],
    names: Mapping[str, str] | None,
) -> Iterator[Filter]:
    from exaequo.evaluation import Options, notes_on_judgments, notes_on_run
    from exaequo.filtering import filter_of, from_table
    from exaequo.judge import judge, prepare
    from exaequo.read import read_qrels, read_run

    if not runs:
        yield from_table(qrels, docs=docs, reader=readers[0], columns=names)
        return
    judgments = prepare(read_qrels(qrels, reader=readers[0], columns=names))
    for note in notes_on_judgments(judgments, []):
        output.warn(note)
    for each in output.with_progress(runs):
        judged = judge(read_run(each, reader=readers[1], columns=names), judgments)
        for note in notes_on_run(judged, Options()):
            output.warn(note)
        yield filter_of(judged, docs=docs)


def _curve(
    one: Filter, kind: str, beta: float, coefficients: tuple[float, float], per_theme: bool
) -> list[dict[str, Any]]:
    """Return the points of the curve: of each theme, or interpolated of all of them together."""
    from exaequo.filtering import GRID

    if kind == "interpolated":
        table = one.sweep.interpolated()
        names = [*(one.themes if per_theme else ()), "macro"]
        lines = [*(table if per_theme else ()), table.mean(axis=0)]
        return [
            {"run": one.name, "theme": name, "recall": level, "precision": float(value)}
            for name, line in zip(names, lines, strict=True)
            for level, value in zip(GRID, line, strict=True)
        ]
    sweep = one.sweep
    columns = {
        "threshold": sweep.threshold,
        "recall": sweep.tables.recall,
        "precision": sweep.tables.precision,
        "F": sweep.tables.f(beta),
        "utility": sweep.tables.utility(*coefficients),
    }
    return [
        {"run": one.name, "theme": one.themes[theme], **{name: float(values[at]) for name, values in columns.items()}}
        for at, theme in enumerate(sweep.theme)
    ]


def _coefficients(text: str) -> tuple[float, float]:
    from exaequo.errors import UsageError
    from exaequo.filtering import UTILITIES

    try:
        relevant, nonrelevant = UTILITIES[text] if text in UTILITIES else map(float, text.split(","))
    except ValueError:
        raise UsageError(f"--utility takes {', '.join(UTILITIES)} or two numbers such as 3,-2. Got {text!r}.") from None
    return relevant, nonrelevant


def _at_threshold(
    one: Filter, threshold: float, beta: float, coefficients: tuple[float, float], per_theme: bool, average: str
) -> list[dict[str, Any]]:
    tables = one.at(threshold)
    figures = _figures(tables, beta, coefficients)
    rows = _theme_rows(one, figures) if per_theme else []
    if average != "micro":
        rows.append({"run": one.name, "theme": "macro", **{name: float(v.mean()) for name, v in figures.items()}})
    if average != "macro":
        total = _figures(tables.total(), beta, coefficients)
        rows.append({"run": one.name, "theme": "micro", **{name: float(v[0]) for name, v in total.items()}})
    return rows


def _figures(tables: Tables, beta: float, coefficients: tuple[float, float]) -> dict[str, Any]:
    return {
        **{name: getattr(tables, name) for name in ("a", "b", "c", "d")},
        **{name: getattr(tables, name) for name in ("precision", "recall", "noise", "silence", "density", "accuracy")},
        "F": tables.f(beta),
        "E": tables.e(beta),
        "utility": tables.utility(*coefficients),
        "normalised": tables.normalised_utility(*coefficients),
        "T11SU": tables.scaled_utility(),
    }


def _swept(one: Filter, beta: float, per_theme: bool, average: str) -> list[dict[str, Any]]:
    import numpy as np

    from exaequo.errors import InputError

    if average == "micro":
        from exaequo.errors import UsageError

        raise UsageError("--sweep has no micro-average: curves and break-even points of themes cannot be added up.")
    sweep = one.sweep
    best, at = sweep.best_f(beta)
    figures: dict[str, Any] = {
        "11 points": sweep.eleven_points,
        "break-even": sweep.break_even,
        "best F": best,
        "at": at,
    }
    try:
        figures |= dict(zip(("F_optimal", "on grid at"), one.f_optimal(beta), strict=True))
    except InputError as error:
        output.warn(str(error))
    rows = _theme_rows(one, figures) if per_theme else []
    undefined = int(np.isnan(sweep.break_even).sum())
    if undefined:
        output.warn(f"{one.name}: {undefined} themes without a break-even point, left out of its mean")
    means = {
        name: float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else float("nan")
        for name, values in figures.items()
        if name not in ("at", "on grid at")
    }
    return [*rows, {"run": one.name, "theme": "macro", **means}]


def _theme_rows(one: Filter, figures: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"run": one.name, "theme": theme, **{name: float(values[at]) for name, values in figures.items()}}
        for at, theme in enumerate(one.themes)
    ]


def _show(rows: list[dict[str, Any]], format_: str, path: str | None) -> None:
    import json

    import polars as pl

    from exaequo import tabular

    frame = pl.DataFrame(rows, infer_schema_length=None)
    if format_ == "json":
        document = {"format": FORMAT, "rows": tabular.rows(frame)}
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    elif format_ == "csv":
        text = frame.write_csv()
    else:
        whole = [name for name in "abcd" if name in frame.columns and (frame[name] == frame[name].floor()).all()]
        text = tabular.text(frame.with_columns(pl.col(whole).cast(pl.Int64))) + "\n"
    if path is None and format_ == "table":
        output.show_text(text.rstrip("\n"))
    else:
        output.write(text, path)
