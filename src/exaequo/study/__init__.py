"""The study of a whole archive: what ties did to every run of every edition.

`archive` finds the files, `work` evaluates them one by one and keeps the results, `tables` makes tables of the results,
`pages` writes them. The same archive gives the same bytes, however often the work was interrupted.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import exaequo
from exaequo.choices import HIGHEST_GRADE, STUDY_DEPTH, STUDY_MEASURES
from exaequo.errors import BadParameter, ExaequoError, InputError, Problem
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options, check_alpha
from exaequo.read import unique_names
from exaequo.study import tables
from exaequo.study.archive import Edition, find
from exaequo.study.work import COUNTS, Done, Settings, Task, run_all, shown

#: Where results of single runs are kept, inside the folder of the study.
STORE = "work"


@dataclass(frozen=True, eq=False)
class Study:
    """The tables of a study by name, what could not be evaluated, and how it was done."""

    tables: dict[str, pl.DataFrame]
    broken: list[Done]
    about: dict[str, Any]


def study(
    archive: str | Path,
    out: str | Path,
    *,
    tracks: Sequence[str] = (),
    editions: Sequence[str] = (),
    measures: Sequence[str] | str = STUDY_MEASURES,
    depth: int | None = STUDY_DEPTH,
    top: int = 5,
    alpha: float = 0.05,
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    jobs: int = 1,
    strict: bool = False,
    progress: Callable[[Done, int, int], None] | None = None,
) -> Study:
    """Study an archive; results of single runs are kept under `out` and used again.

    Args:
        archive: a folder `TRACK/EDITION/{qrels*, runs/*}`, or a manifest in TOML.
        out: the folder of the study.
        tracks: only these tracks.
        editions: only these editions.
        measures: what to compare; RR and AP as in the papers.
        depth: cut each list here, after ordering.
        top: how many of the luckiest lists and runs of a track.
        alpha: level of the tests between systems.
        rel_level: least grade that is relevant.
        max_grade: a grade above this counts as 0.
        jobs: processes to use.
        strict: stop at the first file that cannot be evaluated.
        progress: called after each run with what was done, how many are, and how many there are.
    """
    check_alpha(alpha)
    if top < 0:
        raise BadParameter(f"top must be a whole number ≥ 0. Got {top} instead.")
    Options(rel_level=rel_level, max_grade=max_grade, depth=depth)  # which checks them
    parsed = parse_measures(measures)
    names = tuple(measure.name for measure in parsed)
    settings = Settings(names, depth, rel_level, max_grade)
    chosen = find(archive, tracks, editions)
    done = _done(chosen, settings, _store(out), jobs, strict, progress)
    sound = sorted((each for each in done if not each.problem), key=_place)
    broken = sorted((each for each in done if each.problem), key=_place)
    if not sound:
        found, mend = "not one run could be evaluated", broken[0].problem
        raise InputError(Problem(str(archive), None, found, "at least one", mend))
    options = {
        "measures": list(names),
        "depth": depth,
        "top": top,
        "alpha": alpha,
        "rel_level": rel_level,
        "max_grade": max_grade,
    }
    remarks = [
        (each.edition.track, each.edition.name, shown(each.run), text) for each in sound for text in each.remarks
    ]
    made = _tables(_lists(sound), parsed, top, alpha, broken, remarks)
    return Study(made, broken, {"options": options, **_about(sound, broken)})


def _store(out: str | Path) -> Path:
    """Return the folder where results are kept, which is made if it is not there."""
    store = Path(out) / STORE
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExaequoError(f"{out}: cannot be the folder of a study ({error.strerror or error}).") from None
    return store


def _done(
    chosen: Sequence[Edition],
    settings: Settings,
    store: Path,
    jobs: int,
    strict: bool,
    progress: Callable[[Done, int, int], None] | None,
) -> list[Done]:
    """Evaluate all runs of all editions, or stop at the first that cannot be, if strict."""
    done = [_incomplete(edition) for edition in chosen if not (edition.qrels and edition.runs)]
    if strict and done:
        raise ExaequoError(done[0].problem)
    whole = [edition for edition in chosen if edition.qrels and edition.runs]
    tasks = [Task(edition, run, settings, str(store)) for edition in whole for run in edition.runs]
    for number, each in enumerate(run_all(tasks, jobs), 1):
        if strict and each.problem:
            raise ExaequoError(each.problem)
        done.append(each)
        if progress is not None:
            progress(each, number, len(tasks))
    return done


def _about(sound: Sequence[Done], broken: Sequence[Done]) -> dict[str, Any]:
    """Return how large the archive is, and what it was studied with."""
    return {
        "archive": {
            "editions": len({each.edition for each in sound}),
            "runs": len(sound),
            "broken": len(broken),
            "lines": sum(each.lines for each in sound),
        },
        "versions": {
            "exaequo": exaequo.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "polars": pl.__version__,
        },
    }


def _incomplete(edition: Edition) -> Done:
    """Return what is wrong with an edition that lacks judgments or runs."""
    folder = str(Path((edition.qrels or edition.runs)[0]).parent)
    what = "runs" if edition.qrels else "qrels"
    problem = Problem(shown(folder), None, f"there are no {what}", "qrels* and runs/*", "Add them.")
    return Done(edition, folder, problem=str(problem))


def _place(done: Done) -> tuple[str, str, str]:
    return done.edition.track, done.edition.name, done.run


def _lists(done: Sequence[Done]) -> pl.DataFrame:
    """Put the results of all runs together; runs of one name in an edition are told apart by their files."""
    parts = []
    by_edition: dict[Edition, list[Done]] = {}
    for each in done:
        by_edition.setdefault(each.edition, []).append(each)
    for edition, group in by_edition.items():
        frames = [pl.read_parquet(each.result) for each in group]
        names = unique_names(
            [(str(frame["run"][0]), shown(each.run)) for frame, each in zip(frames, group, strict=True)]
        )
        for frame, name in zip(frames, names, strict=True):
            labels = {"track": edition.track, "edition": edition.name, "run": name}
            figures = frame.drop("run", "lines", "remarks")
            parts.append(figures.select(*(pl.lit(v).alias(k) for k, v in labels.items()), pl.all()))
    return pl.concat(parts).cast(dict.fromkeys(COUNTS, pl.Int64))


def _tables(
    lists: pl.DataFrame,
    measures: Sequence[Measure],
    top: int,
    alpha: float,
    broken: Sequence[Done],
    remarks: Sequence[tuple[str, str, str, str]],
) -> dict[str, pl.DataFrame]:
    runs, real = tables.runs_of(lists, measures), tables.there(lists)
    of_lists, of_runs = ("track", "edition", "run", "topic"), ("track", "edition", "run")
    kept = {
        "ties": tables.tie_statistics(lists),
        "differences": pl.concat(
            tables.differences(frame, measure, of)
            for measure in measures
            for frame, of in ((real, "lists"), (runs, "runs"))
        ),
        "lucky_lists": _joined(tables.lucky(real, measure, top, of_lists) for measure in measures),
        "lucky_runs": _joined(tables.lucky(runs, measure, top, of_runs) for measure in measures),
        "from_nothing": pl.concat(
            tables.from_nothing(frame, measure, of_lists) for measure in measures for frame in (real, runs)
        ),
        "rankings": pl.concat(tables.rankings(runs, measure) for measure in measures),
        "conclusions": pl.concat(tables.conclusions(lists, measure, alpha) for measure in measures),
        "systems": pl.concat(tables.systems(runs, measure) for measure in measures),
        "stuffing": tables.stuffing(runs),
        "one_tie": tables.one_tie(lists),
    }
    schema = dict.fromkeys(("track", "edition", "file", "problem"), pl.String)
    rows = [(each.edition.track, each.edition.name, shown(each.run), each.problem) for each in broken]
    said = dict.fromkeys(("track", "edition", "file", "remark"), pl.String)
    return kept | {
        "broken": pl.DataFrame(rows, schema=schema, orient="row"),
        "remarks": pl.DataFrame(list(remarks), schema=said, orient="row"),
    }


def _joined(parts: Any) -> pl.DataFrame:
    whole: pl.DataFrame = pl.concat(parts, how="diagonal")
    return whole
