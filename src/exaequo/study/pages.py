"""Writing a study: every table as CSV, Parquet and LaTeX, and one page with all of them. Same study, same bytes.

The page speaks the language spoken; all other files are English. It is readable without scripts; with them, the
rankings of systems can be searched. Figures have the digits they have in the papers on ties.
"""

from __future__ import annotations

import html
import io
import json
import math
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from exaequo import tabular
from exaequo.errors import ExaequoError
from exaequo.language import ENGLISH, number, say, speaking, spoken, word
from exaequo.luck import GAINS, RANKS
from exaequo.plot.page import policy
from exaequo.study import WHO, Study
from exaequo.study.editions import ALL, EDITION, SUMS, of_runs
from exaequo.study.sentences import summary
from exaequo.study.tables import DIGITS, STAR
from exaequo.tabular import Column, Table
from exaequo.tiestats import LEVELS
from exaequo.writing import alone, make_folder, write_whole

#: Tables in the order of the page: what they are called, and what they say.
TITLES = {
    "ties": (
        "Tied documents",
        "Share of documents of a list that are tied with another, and documents per different score: least, mean, "
        "greatest, standard deviation. Lists in which every document is tied (all tied), all in one tie (one tie), or "
        "none is (no tie).",
    ),
    "per_score": (
        "Documents per score",
        "Over lists, over the means of runs, and over the means of topics: averages come before least and greatest.",
    ),
    "lucky_lists": ("The luckiest lists", "Those that the names of documents help most."),
    "lucky_runs": ("The luckiest runs", "By the mean over topics."),
    "differences": (
        "Conventional against realistic scores",
        "δ: mean difference, in percent of the highest possible value; * p < 0.001. Relative: in percent of the mean. "
        "Pearson's r. p of one-tailed paired tests that conventional is better: Student's t, bootstrap, randomization; "
        "a difference is significant where p < {alpha:g}.",
    ),
    "gains": ("Gains by edition", "Means over runs, and what they gain in percent of the lower one."),
    "rankings": (
        "Rankings compared",
        "Kendall's τ-b between strategies (R realistic, C conventional, O optimistic) with its p; systems whose rank "
        "differs between R and C, of all and without the worst quarter.",
    ),
    "conclusions": (
        "Wrong conclusions",
        "Pairs of systems for which a two-sided paired t-test (p < {alpha:g}) says one thing with conventional ties, "
        "another with realistic ones: significant with conventional ties only, with realistic ones only, or opposite.",
    ),
    "stuffing": ("Stuffing", "Systems that fill up lists with documents of score 0 below positive ones."),
    "stuffing_scores": (
        "What stuffing earns",
        "Earned: the score less that of the lists without these documents, a mean over the systems that stuff; its "
        "share of their scores, and of the scores of all systems.",
    ),
    "systems": ("Systems", "Rank and score in each edition beside the share of tied documents."),
    "stuffed_runs": ("Systems that stuff", "What it earns each of them."),
    "all_tied": ("Lists of tied documents only", "Every document shares its score with another."),
    "one_tie": ("Lists that are one single tie", "All documents have the same score."),
    "from_nothing": ("Lists that names lift from 0", "A gain in percent is undefined for them."),
    "remarks": ("Remarks", "What to know about runs that were evaluated."),
    "broken": ("Files that could not be evaluated", "They are left out of everything above."),
}
#: Rows of a table that the page shows, but for the rankings of systems, which are whole; the files have all.
MOST_ROWS = 200
#: Rows from which on a table is folded.
LONG = 60
#: Digits, where they are not one for percent and four for the rest.
_DIGITS = {
    **dict.fromkeys(GAINS, 0),
    **dict.fromkeys(("difference_percent", "relative_percent", "r", "tau_rc", "tau_ro", "tau_co"), 2),
    **dict.fromkeys((*(f"per_score_{part}" for part in ("min", "mean", "max", "sd")), "per_score"), 1),
    **dict.fromkeys(("min", "mean", "max", "sd"), 1),
}
_P = ("p", "p_bootstrap", "p_randomization", "p_rc", "p_ro", "p_co")
_HEADS = {"difference_percent": "δ %", "of": "means of", "p_bootstrap": "bootstrap", "p_randomization": "randomization"}
#: Tables about runs, where AP is MAP.
_OF_RUNS = ("lucky_runs", "gains", "rankings", "conclusions", "stuffing_scores", "stuffed_runs", "systems")


def write(study: Study, folder: str | Path) -> list[Path]:
    """Write all tables and the page; return the files."""
    place = Path(folder) / "tables"
    make_folder(place)
    found: dict[Path, bytes] = {}
    for name, frame in study.tables.items():
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        found[place / f"{name}.csv"] = frame.write_csv().encode()
        found[place / f"{name}.parquet"] = buffer.getvalue()
        with speaking(ENGLISH):
            found[place / f"{name}.tex"] = (tabular.latex(Table.of(frame)) + "\n").encode()
    found[Path(folder) / "study.json"] = (json.dumps(study.about, indent=1, ensure_ascii=False) + "\n").encode()
    found[Path(folder) / "index.html"] = page(study).encode()
    with alone(folder, WHO):  # so that all are of one study
        for path, data in found.items():
            write_whole(path, data)
    return list(found)


def page(study: Study) -> str:
    """Return the page: one file, nothing from elsewhere, and one script, which its policy names."""
    from exaequo.reporting import dark_figures

    style, script = (files(__package__).joinpath(f"page.{part}").read_text(encoding="utf-8") for part in ("css", "js"))
    script = script.replace("${total} found", say("{n} found", n="${total}"))
    ordered = [name for name in TITLES if study.tables[name].height]
    contents = "".join(f'<li><a href="#{name}">{html.escape(say(TITLES[name][0]))}</a></li>' for name in ordered)
    alpha = study.about["options"]["alpha"]
    parts = [_section(name, _once(study.tables[name]), alpha) for name in ordered]
    options, versions = (", ".join(_settings(study.about[part])) for part in ("options", "versions"))
    made = html.escape(say("Options: {options}. Versions: {versions}.", options=options, versions=versions))
    said = "".join(f"<p>{html.escape(line)}</p>" for line in summary(study))
    return f"""<!doctype html>
<html lang="{spoken()}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy(script)}">
<title>{say("Ties of an archive")}</title>
<style>{style}{dark_figures()}</style>
</head>
<body>
<main>
<h1>{say("Ties of an archive")}</h1>
{said}
<nav aria-label="{say("Tables")}"><ul>{contents}</ul></nav>
{"".join(_figures(study))}
{"".join(parts)}
</main>
<footer><p>{made}</p></footer>
<script>{script}</script>
</body>
</html>
"""


def _settings(given: dict[str, Any]) -> Iterator[str]:
    """Yield what was asked for, or used, as name and value; what was left open is left out."""
    for name, value in given.items():
        if value is not None:
            text = " ".join(value) if isinstance(value, list) else f"{value:g}" if isinstance(value, float) else value
            yield f"{name} {text}"


def _figures(study: Study) -> Iterator[str]:
    """Yield the pictures, or what is missing to draw them."""
    from exaequo.study.pictures import pictures

    try:
        for name, chart, text in pictures(study.tables, study.about["options"]["measures"]):
            # Inside a page, a picture needs no names of its language.
            svg = chart.drawn("svg").decode().replace(' xmlns="http://www.w3.org/2000/svg"', "")
            svg = svg.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
            title = chart["title"]["text"]
            label = html.escape(title if isinstance(title, str) else " ".join(title))
            shown = f'<div class="scroll" role="img" aria-label="{label}">{svg}</div>'
            yield f'<figure id="{name}">{shown}<figcaption>{html.escape(text)}</figcaption></figure>\n'
    except ExaequoError as error:
        yield f"<p>{html.escape(str(error))}</p>\n"


def _once(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out sums and averages that say again what the only edition of a track, or the only track, says."""
    if "track" not in frame.columns:
        return frame
    alone = frame.filter(pl.col("track") != ALL)["track"].n_unique() == 1
    own = [name for name in frame.columns if name != "edition" and not (alone and name == "track")]
    label = "edition" if "edition" in frame.columns else "track"
    figures = pl.struct(pl.col(name).round(DIGITS) if frame[name].dtype.is_float() else pl.col(name) for name in own)
    return frame.filter(~pl.col(label).is_in(SUMS) | figures.is_first_distinct())


def _section(name: str, frame: pl.DataFrame, alpha: float) -> str:
    """Return a table, in parts where it has some, with what it is called and what it says."""
    title, what = html.escape(say(TITLES[name][0])), say(TITLES[name][1], alpha=alpha)
    if name in _OF_RUNS and "measure" in frame.columns:
        frame = _renamed(frame, pl.lit(True))
    if name == "differences":
        frame = _renamed(frame, pl.col("of") == "runs").drop("of", "difference")
    body = {"systems": _systems, "lucky_lists": _by_measure, "lucky_runs": _by_measure}.get(name, _whole)(frame)
    more = frame.height - MOST_ROWS if name != "systems" else 0
    if more > 0:
        seen = {"most": MOST_ROWS, "n": frame.height, "name": name}
        what += say(" The first {most} of {n:,} rows; all are in tables/{name}.csv.", **seen)
    text = html.escape(what)
    return f'<section id="{name}"><h2>{title}</h2><p class="what">{text}</p>{body}</section>\n'


def _renamed(frame: pl.DataFrame, where: pl.Expr) -> pl.DataFrame:
    """Call measures as their means are called, where they are means."""
    names = {name: of_runs(name) for name in frame["measure"].unique()}
    measure = pl.col("measure")
    return frame.with_columns(measure=pl.when(where).then(measure.replace(names)).otherwise(measure))


def _whole(frame: pl.DataFrame) -> str:
    """Return a table in one piece, folded if it is long."""
    shown = _scroll(_table(frame.head(MOST_ROWS)))
    rows = say("{n:,} rows", n=frame.height)
    return shown if frame.height <= LONG else f"<details><summary>{rows}</summary>{shown}</details>"


def _by_measure(frame: pl.DataFrame) -> str:
    """Return a table for each measure, with the columns that say something of it."""
    parts = []
    for (measure,), own in frame.group_by("measure", maintain_order=True):
        in_ranks = "ranks_gained" in own.columns and own["ranks_gained"].count() > 0
        own = own.drop("measure", *(GAINS if in_ranks else RANKS), strict=False)
        parts.append(f"<h3>{html.escape(str(measure))}</h3>{_scroll(_table(own))}")
    return "".join(parts)


def _systems(frame: pl.DataFrame) -> str:
    """Return the ranking of each edition by each measure, folded, below the box that searches them."""
    parts = [
        f'<label hidden>{say("Search runs: ")}<input id="filter" type="search" placeholder="{say("name, rank, …")}"> '
        '<span id="found" role="status"></span></label>'
    ]
    for (measure,), own in frame.group_by("measure", maintain_order=True):
        parts.append(f"<h3>{html.escape(str(measure))}</h3>")
        for label, rows in own.group_by(EDITION, maintain_order=True):
            title = html.escape(
                say("{edition}: {n:,} {n:system|systems}", edition=" ".join(map(str, label)), n=rows.height)
            )
            table = _scroll(_table(rows.drop(*EDITION, "measure")))
            parts.append(f"<details><summary>{title}</summary>{table}</details>\n")
    return "".join(parts)


def _scroll(table: Table) -> str:
    return f'<div class="scroll" tabindex="0">{tabular.html(table)}</div>'


def _table(frame: pl.DataFrame) -> Table:
    """Return a table with the digits of the papers, and their star beside the difference."""
    columns = []
    for column in frame.drop("star", strict=False):
        above = word(_HEADS[column.name]) if column.name in _HEADS else tabular.head(column.name)
        digits = _DIGITS.get(column.name, 1 if above.endswith("%") else 4)
        digits = 0 if digits == 4 and _counts(column) else digits
        starred = column.name == "difference_percent" and "star" in frame.columns
        figure = _p if column.name in _P else partial(_figure, digits=digits)
        values = list(map(figure, column)) if column.dtype.is_float() else _in_words(column)
        marks = frame["star"].to_list() if starred else ()
        columns.append(Column(above, values, column.dtype.is_numeric(), marks=marks))
    return Table(columns=columns, data=frame)


def _in_words(column: pl.Series) -> list[Any]:
    """Return values with words of ours in the language spoken; names stay."""
    ours = {*SUMS} if column.name in EDITION else {*LEVELS} if column.name == "by" else ()
    return [word(value) if value in ours else value for value in column]


def _counts(column: pl.Series) -> bool:
    """Tell whether a column has whole numbers, some of them above 1."""
    if not column.dtype.is_float():
        return False
    known = column.drop_nulls().drop_nans()
    return bool((known % 1 == 0).all() and (known > 1).any())


def _p(value: float | None) -> str:
    return number(f"< {STAR}") if value is not None and value < STAR else _figure(value, 3)


def _figure(value: float | None, digits: int) -> str:
    """Write a number with so many digits, never a number that is not 0 as if it were."""
    if value is None or not math.isfinite(value):
        return "" if value is None else word(tabular.UNDEFINED)
    least = 10.0**-digits
    if 0 < abs(value) < least / 2:
        return number(f"< {least:.{digits}f}" if value > 0 else f"> −{least:.{digits}f}")
    return number(f"{float(tabular.rounded(value, digits)):,.{digits}f}")
