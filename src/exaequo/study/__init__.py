"""The study of a whole archive: what ties did to every run of every edition.

`archive` finds the files, `work` evaluates them one by one, `results` keeps what was found, `tables` and `stuffing`
make tables of it, edition by edition (`editions`); `sentences`, `pictures` and `pages` say, draw and write what they
hold. The same archive gives the same bytes, however often the work was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from exaequo.choices import ALPHA, INTERVAL, STUDY_DEPTH, STUDY_MEASURES, TOP
from exaequo.errors import BadParameter, ExaequoError, Problem, bad_input
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options, Relevance, check_alpha, keywords
from exaequo.scores import Scores
from exaequo.scores.formats import versions
from exaequo.study import tables
from exaequo.study.archive import Edition, find
from exaequo.study.results import read_again, together
from exaequo.study.work import Done, Task, escaped, run_all
from exaequo.tabular import Tabled
from exaequo.writing import alone, sweep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Where results of single runs are kept, inside the folder of the study.
STORE = "work"
#: Who holds the folder of a study.
WHO = "another study"


@dataclass(frozen=True, eq=False, repr=False)
class Study(Tabled):
    """The tables of a study by name, what could not be evaluated, and how it was done."""

    frames: dict[str, pl.DataFrame]
    broken: list[Done]
    about: dict[str, Any]

    shown = (
        "ties: track edition runs lists tied_mean_percent per_score_mean",
        "gains: track edition measure realistic conventional optimistic c_over_r_percent",
        "conclusions: track edition measure pairs wrong wrong_percent",
    )

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables by name."""
        return self.frames


def study(
    archive: str | Path,
    out: str | Path,
    *,
    tracks: Sequence[str] = (),
    editions: Sequence[str] = (),
    measures: Sequence[str] | str = STUDY_MEASURES,
    depth: int | None = STUDY_DEPTH,
    top: int = TOP,
    alpha: float = ALPHA,
    jobs: int = 1,
    spark: SparkSession | None = None,
    strict: bool = False,
    mend: bool = False,
    progress: Callable[[Done, int, int], None] | None = None,
    **relevance: Unpack[Relevance],
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
        jobs: processes to use.
        spark: a session to evaluate runs on, in the place of processes; workers see the archive under the same paths.
        strict: stop at the first file that cannot be evaluated.
        mend: put right what is wrong with files where that is safe; the table of remarks says what was done.
        progress: called after each run with what was done, how many are, and how many there are.
        relevance: `rel_level` and `max_grade`, as for `evaluate`.
    """
    check_alpha(alpha)
    if top < 0:
        raise BadParameter(f"top must be a whole number ≥ 0. Got {top} instead.")
    _, known = keywords("study", relevance, Relevance.__annotations__)
    options, parsed = Options(ties=INTERVAL, depth=depth, **known), parse_measures(measures)
    names = tuple(measure.name for measure in parsed)
    chosen = find(archive, tracks, editions)
    with _held(out) as store:
        tasks = [Task(each, run, names, options, store, mend) for each in chosen if each.qrels for run in each.runs]
        done = []
        run = partial(run_all, jobs=jobs) if spark is None else partial(_on, spark)
        for each in _done(chosen, tasks, run, progress):
            if strict and each.problem:
                raise ExaequoError(each.problem)
            done.append(each)
        done.sort(key=_place)
        sound, broken = [each for each in done if not each.problem], [each for each in done if each.problem]
        if not sound:
            raise bad_input(str(archive), "not one run could be evaluated", "at least one", broken[0].problem)
        scores = _editions(sound, parsed)
    asked = {
        "measures": list(names),
        "depth": depth,
        "top": top,
        "alpha": alpha,
        "rel_level": options.rel_level,
        "max_grade": options.max_grade,
        **({"mend": True} if mend else {}),
    }
    made = tables.all_tables(scores, parsed, top=top, alpha=alpha)
    return Study(made | _said(sound, broken), broken, {"options": asked, **_about(sound, broken)})


@contextmanager
def _held(out: str | Path) -> Iterator[str]:
    """Hold the folder of a study against others, and yield the one inside where results are kept."""
    store = Path(out) / STORE
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExaequoError(f"{out}: cannot be the folder of a study ({error.strerror or error}).") from None
    with alone(out, WHO):
        sweep(store)
        yield str(store)


def _on(spark: SparkSession, tasks: Sequence[Task]) -> Iterator[Done]:
    from exaequo.study.cluster import run_on

    return run_on(spark, tasks)


def _done(
    chosen: Sequence[Edition],
    tasks: Sequence[Task],
    run: Callable[[Sequence[Task]], Iterator[Done]],
    progress: Callable[[Done, int, int], None] | None,
) -> Iterator[Done]:
    """Yield what is wrong with incomplete editions, then all runs of the others, as they are done."""
    yield from (_incomplete(edition) for edition in chosen if not (edition.qrels and edition.runs))
    for number, each in enumerate(run(tasks), 1):
        yield each
        if progress is not None:
            progress(each, number, len(tasks))


def _about(sound: Sequence[Done], broken: Sequence[Done]) -> dict[str, Any]:
    """Return how large the archive is, and what it was studied with."""
    return {
        "archive": {
            "editions": len({each.edition for each in sound}),
            "runs": len(sound),
            "broken": len(broken),
            "lines": sum(each.lines for each in sound),
        },
        "versions": versions(),
    }


def _incomplete(edition: Edition) -> Done:
    """Return what is wrong with an edition that lacks judgments or runs."""
    folder = str(Path((edition.qrels or edition.runs)[0]).parent)
    what = "runs" if edition.qrels else "qrels"
    problem = Problem(escaped(folder), None, f"there are no {what}", "qrels* and runs/*", "Add them.")
    return Done(edition, folder, problem=str(problem))


def _place(done: Done) -> tuple[str, str, str]:
    return done.edition.track, done.edition.name, done.run


def _editions(done: Sequence[Done], measures: Sequence[Measure]) -> dict[tuple[str, str], Scores]:
    """Put the results of all runs together, edition by edition."""
    editions = {}
    for edition, group in groupby(done, key=attrgetter("edition")):
        kept = [(read_again(Path(each.result)), escaped(each.run)) for each in group]
        editions[edition.track, edition.name] = together(kept, measures)
    return editions


def _said(sound: Sequence[Done], broken: Sequence[Done]) -> dict[str, pl.DataFrame]:
    """Return what could not be evaluated, and what there is to say about the rest."""
    problems = [(each.edition, each.run, each.problem) for each in broken]
    remarks = dict.fromkeys((each.edition, _file_of(each, text), text) for each in sound for text in each.remarks)
    frames = {}
    for name, column, said in (("broken", "problem", problems), ("remarks", "remark", remarks)):
        rows = [(edition.track, edition.name, escaped(file), text) for edition, file, text in said]
        schema = dict.fromkeys(("track", "edition", "file", column), pl.String)
        frames[name] = pl.DataFrame(rows, schema=schema, orient="row")
    return frames


def _file_of(done: Done, remark: str) -> str:
    """Return the file a remark is about: one on judgments comes with every run, and names them."""
    return next((path for path in done.edition.qrels if remark.startswith(f"{path}:")), done.run)
