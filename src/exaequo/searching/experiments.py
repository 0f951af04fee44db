"""Experiments: a `Collection` and systems in, an `Experiment` out: runs, scores under three strategies, costs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from exaequo.choices import INTERVAL, MEASURES, SEARCH_DEPTH, TIMEOUT, TOPIC_FIELDS
from exaequo.comparison import Comparison, compare
from exaequo.errors import BadParameter, DataWarning, ExaequoError, bad_input
from exaequo.evaluation import evaluate_runs, judged_runs, warn
from exaequo.language import say, word
from exaequo.listing import run_text
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options
from exaequo.plot.kinds.curve import curve
from exaequo.read import Qrels, Run, Source
from exaequo.read.collection import Collection
from exaequo.read.collection.saving import trec_qrels
from exaequo.reporting import report
from exaequo.scores import Scores
from exaequo.scores.formats import grid, summary
from exaequo.searching.notation import System
from exaequo.searching.retrieval import check_depth, collection_of, queries_of
from exaequo.searching.systems import SystemLike, Task, outcome, queries_text, refuse
from exaequo.tabular import Column, Table, Tabled, html, text
from exaequo.text import listed
from exaequo.writing import make_folder, same_file, scratch, write_whole

#: A year, in seconds.
LONGEST = 31_536_000


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Tabled):
    """The result of an experiment.

    - `runs`: what each system returned, by its name; `scores`: its scores, ties realistic, conventional, optimistic.
    - `costs`: `system, seconds, cpu_seconds, memory_mb, queries_per_second`, from the start of a program to its end.
    - `systems`: means and costs side by side. `queries`: `qid, text`, as systems were asked.
    """

    collection: Collection
    queries: pl.DataFrame
    runs: dict[str, Run]
    scores: Scores
    costs: pl.DataFrame
    systems: pl.DataFrame
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def qrels(self) -> Qrels:
        """The judgments."""
        return _judgments(self.collection)

    def table(self, measures: Iterable[str] | str | None = None, *, speed: bool = True) -> Table:
        """Return scores, of all measures or these, and costs for reading, with queries by seconds or not."""
        shown = grid(self.scores if measures is None else self.scores.only(measures=parse_measures(measures)))
        costs = [
            Column(word("seconds"), self.costs["seconds"], digits=2),
            Column(word("MB"), self.costs["memory_mb"], digits=0),
            *([Column(word("queries/s"), self.costs["queries_per_second"], digits=0)] if speed else []),
        ]
        return Table(summary(self.scores), [*shown.columns, *costs], data=self.systems)

    def text(self, measures: Iterable[str] | str | None = None, width: int = 0, *, speed: bool = True) -> str:
        """Return the same as text, in parts if a `width` says so."""
        return text(replace(self.table(measures, speed=speed), lines=[say("* best of its column")]), width=width)

    def _repr_html_(self) -> str:
        return html(self.table())

    def compare(self, **options: Any) -> Comparison:
        """Compare the systems; options as for `exaequo.compare`."""
        return compare(self.qrels, list(self.runs.values()), self.scores.measures, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write the page about the systems; options as for `exaequo.report`."""
        texts = {"topics": self.collection.topics, "docs": self.collection.documents}
        given = {"title": self.collection.name, **texts, **options}
        return report(self.qrels, list(self.runs.values()), path, list(self.scores.measures), **given)

    def save(self, folder: str | Path, *, curves: Iterable[str] | None = None) -> tuple[list[Path], list[str]]:
        """Write runs, judgments, queries, the page and a picture; return the files, and what there is to say.

        That is why a file is missing, and which runs in the folder are not of this experiment. `curves` are the
        systems of the picture; by default all.
        """
        folder = Path(folder)
        make_folder(folder / "runs")
        files = {name: folder / "runs" / f"{name}.txt" for name in self.runs}
        texts = {folder / "qrels.txt": trec_qrels(self.qrels), folder / "queries.tsv": queries_text(self.queries)}
        for name, run in self.runs.items():
            lines = run.frame if "rank" in run.frame.columns else ranked(run.frame)
            texts[files[name]] = run_text(lines, name, name)
        for path, content in texts.items():
            write_whole(path, content.encode())
        others = sorted(path.name for path in set((folder / "runs").iterdir()) - set(files.values()))
        remarks = [f"{folder / 'runs'}: {listed(others)} not of this experiment"] if others else []
        drawn = [self.runs[name] for name in (self.runs if curves is None else curves)]
        measures, title = list(self.scores.measures), self.collection.name
        for path, draw in (
            # From the files, so that the page says which they are, and their hashes.
            (folder / "report.html", lambda path: report(folder / "qrels.txt", files, path, measures, title=title)),
            (folder / "curves.svg", lambda path: curve(self.qrels, drawn).save(path)),
        ):
            try:
                with warnings.catch_warnings(action="ignore", category=DataWarning):  # the experiment has given them
                    draw(path)
                texts[path] = ""
            except ExaequoError as error:  # a library that draws may not be there; the figures are
                remarks.append(f"{path}: {error}")
        return list(texts), remarks


def ranked(frame: pl.DataFrame) -> pl.DataFrame:
    """Add ranks by score to a run that has none; ties in the order of its lines."""
    rank = pl.col("sim").rank("ordinal", descending=True).over("qid").cast(pl.String)
    return frame.with_columns(rank.alias("rank"))


def _judgments(collection: Collection) -> Qrels:
    if collection.qrels is None:
        raise bad_input(collection.name, "there are no judgments", "qrels", "Choose a collection that has some.")
    return collection.qrels


def experiment(
    collection: Collection | str | os.PathLike[str],
    systems: Mapping[str, SystemLike] | Iterable[str],
    measures: Iterable[str | Measure] | str | Measure = MEASURES,
    *,
    depth: int = SEARCH_DEPTH,
    fields: str = TOPIC_FIELDS[0],
    timeout: float = TIMEOUT,
    folder: str | Path | None = None,
) -> Experiment:
    """Run systems on a collection, evaluate what they return, and note what they cost.

    Args:
        collection: a `Collection`, or what `read_collection` reads: a folder, or a shipped name.
        systems: by name: a built-in system such as `"bm25(k1=0.9)-stem"`; a command such as
            `"./mine {queries} {run}"`, which may also ask for `{topics}` and `{documents}`; or a function from a query
            to docnos, to pairs (docno, score), to `{docno: score}`, or to documents as for `run`. A list of
            built-in systems, too.
        measures: as for `evaluate`.
        depth: the most documents of a list of a built-in system.
        fields: what of a topic is the query: title, description, or all.
        timeout: seconds a program may take; 0: as long as it likes.
        folder: where the runs of programs are kept, in `runs/`; by default they are deleted.
    """
    result = perform(collection, systems, measures, depth=depth, fields=fields, timeout=timeout, folder=folder)
    warn(result.warnings)
    return result


def perform(
    collection: Collection | str | os.PathLike[str],
    systems: Mapping[str, SystemLike] | Iterable[str],
    measures: Iterable[str | Measure] | str | Measure,
    *,
    depth: int = SEARCH_DEPTH,
    fields: str = TOPIC_FIELDS[0],
    timeout: float = TIMEOUT,
    folder: str | Path | None = None,
) -> Experiment:
    """Do the same; warnings are collected, not given."""
    if isinstance(systems, str):
        systems = [systems]
    named = dict(systems) if isinstance(systems, Mapping) else {System.of(each).name: each for each in systems}
    if not named:
        raise BadParameter("No system is given; for example: bm25, bm25-stem, coordination.")
    check_depth(depth)
    if not isinstance(timeout, int | float) or not 0 <= timeout <= LONGEST:
        raise BadParameter(f"timeout must be a number of seconds, 0 to {LONGEST:,}. Got {timeout!r} instead.")
    for name, system in named.items():
        refuse(name, system)
    if alike := same_file(named):
        raise BadParameter(f"Two systems have names that are one file on some systems: {alike[0]!r} and {alike[1]!r}.")
    parsed, options = parse_measures(measures), Options(ties=INTERVAL)
    read = collection_of(collection)
    qrels, queries = _judgments(read), queries_of(read, fields)
    with scratch() as place:
        kept = None if folder is None else Path(folder) / "runs"
        make_folder(kept or place)
        task = Task(read, queries, depth, timeout, inputs=place, kept=kept)
        done = {name: outcome(name, system, task) for name, system in named.items()}
    # A file that is deleted is no place to send anybody to.
    runs = {name: each.run if folder else replace(each.run, source=Source(name)) for name, each in done.items()}
    scores = evaluate_runs(judged_runs(qrels, runs.values(), options, parsed), parsed, options)
    costs = _costs({name: each.cost._asdict() for name, each in done.items()}, queries.height)
    remarks = [remark for each in done.values() for remark in each.remarks]
    return Experiment(
        collection=read,
        queries=queries,
        runs=runs,
        scores=scores,
        costs=costs,
        systems=_systems(scores, costs),
        warnings=(*read.remarks, *remarks, *scores.remarks),
        options={"collection": read.name, "depth": depth, "fields": fields, "timeout": timeout},
    )


def _costs(costs: Mapping[str, Mapping[str, float | None]], queries: int) -> pl.DataFrame:
    rows = [{"system": name, **cost} for name, cost in costs.items()]
    schema = {"system": pl.String, **dict.fromkeys(("seconds", "cpu_seconds", "memory_mb"), pl.Float64)}
    rate = pl.when(pl.col("seconds") > 0).then(queries / pl.col("seconds"))
    return pl.DataFrame(rows, schema=schema).with_columns(rate.alias("queries_per_second"))


def _systems(scores: Scores, costs: pl.DataFrame) -> pl.DataFrame:
    means = {
        f"{measure}_{ties}": [scores.mean(measure, run=run, ties=ties) for run in scores.runs]
        for measure in scores.measures
        for ties in scores.ties
    }
    return costs.select("system").hstack(pl.DataFrame(means)).hstack(costs.drop("system"))
