"""The work of a study, run by run: each result is a small file of its own, named by what it was made of.

A run is done once: the name of its result is a hash of the bytes of the run and of the judgments, and of the options.
Stopped at any moment and started again, a study finds what is done; a file that changed has another name.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl

from exaequo.choices import HIGHEST_GRADE, INTERVAL
from exaequo.errors import ExaequoError, InputError, Problem
from exaequo.evaluation import notes_on_run
from exaequo.judge import Judgments, judge, prepare
from exaequo.measures import parse_measures
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.read import Qrels, read_qrels, read_run
from exaequo.read.records import repeated
from exaequo.study.archive import Edition
from exaequo.tiestats import tie_statistics
from exaequo.writing import write_whole

#: Changes when results of an earlier release cannot be used any more.
FORMAT = 2
COUNTS = ("documents", "tied", "scores", "largest", "stuffed")


@dataclass(frozen=True)
class Settings:
    """What changes a result."""

    measures: tuple[str, ...]
    depth: int | None
    rel_level: float | None = None
    max_grade: float = HIGHEST_GRADE


@dataclass(frozen=True)
class Task:
    """One run to be evaluated."""

    edition: Edition
    run: str
    settings: Settings
    store: str


@dataclass(frozen=True)
class Done:
    """Where the result of a run is; or, if the run is broken, what is wrong with it."""

    edition: Edition
    run: str
    result: str = ""
    lines: int = 0
    problem: str = ""
    remarks: tuple[str, ...] = ()


def key_of(hashes: Sequence[str], settings: Settings) -> str:
    """Return the name of the result of these files under these settings."""
    content = json.dumps([FORMAT, list(hashes), asdict(settings)], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


@lru_cache(maxsize=65536)
def _hash_of(path: str, size: int, changed: int) -> str:
    del size, changed  # part of the key: a file that was written to is read again
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_of(path: str) -> str:
    """Return the SHA-256 of a file as it lies on disk."""
    try:
        about = Path(path).stat()
        return _hash_of(path, about.st_size, about.st_mtime_ns)
    except OSError as error:
        found = f"cannot be read ({error.strerror or error})"
        raise InputError(Problem(path, None, found, "a readable file", "Check the file.")) from None


def work(task: Task) -> Done:
    """Evaluate one run, unless that was done before. What is wrong with the data is a result too."""
    done = Done(task.edition, task.run)
    try:
        qrels = tuple(map(hash_of, task.edition.qrels))
        # The name of the file may be the name of the run.
        key = key_of([*qrels, hash_of(task.run), shown(Path(task.run).name)], task.settings)
        path = Path(task.store) / f"{key}.parquet"
        about = _about(path)
        if about is None:
            judgments = _judgments(task.edition.qrels, qrels, task.settings)
            write_whole(str(path), _evaluate(task, judgments))
            about = _about(path) or (0, "")
        return replace(done, result=str(path), lines=about[0], remarks=tuple(filter(None, about[1].split("\n"))))
    except ExaequoError as error:
        return replace(done, problem=shown(str(error)))


def _about(path: Path) -> tuple[int, str] | None:
    """Return the number of lines of a run and what is to be said about it; None if it is not done, or damaged."""
    try:
        row = pl.scan_parquet(path).select(pl.first("lines"), pl.first("remarks")).collect().row(0)
    except (OSError, pl.exceptions.PolarsError):
        return None
    return int(row[0]), str(row[1])


def shown(text: str) -> str:
    """Make a path or a message printable, whatever bytes a file's name has."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


@lru_cache(maxsize=2)
def _judgments(paths: tuple[str, ...], hashes: tuple[str, ...], settings: Settings) -> Judgments:
    del hashes  # part of the key: files may change while a study runs
    parts = [read_qrels(path) for path in paths]
    qrels = parts[0]
    if len(parts) > 1:
        frame = pl.concat([part.frame for part in parts])
        again = repeated(frame)
        if again is not None:
            qid, docno = again.row(0)[1:3]
            found = f"document {docno!r} of topic {qid!r} is judged in more than one file"
            raise InputError(Problem(paths[0], None, found, "each document once", "Delete one of the judgments."))
        qrels = Qrels(frame, parts[0].source)
    judgments = prepare(qrels, level=settings.rel_level, highest=settings.max_grade)
    if not judgments.n_topics:
        raise InputError(Problem(paths[0], None, "no relevant document", "at least one", "Check the judgments."))
    return judgments


def _evaluate(task: Task, judgments: Judgments) -> bytes:
    """Return the result of a run as Parquet: a row per topic, ties and values under each strategy."""
    run = read_run(task.run)
    lines = judge(run, judgments)
    remarks = notes_on_run(lines, Options())
    if not len(lines.row):
        found = "none of its topics has a relevant document"
        mend = "Check that the run and the qrels are of the same edition."
        raise InputError(Problem(task.run, None, found, "at least one", mend))
    ordering = Ordering(lines)
    statistics = tie_statistics(ordering, depth=task.settings.depth, single=False)
    measures = parse_measures(task.settings.measures)
    columns = {name: getattr(statistics, name) for name in COUNTS}
    values: dict[str, list[np.ndarray[tuple[int], np.dtype[np.float64]]]] = {}
    for ties in INTERVAL:
        if not values or ordering.n_tied:
            ranking = ordering.ranking(ties, depth=task.settings.depth)
            values[ties] = [measure.values(ranking) for measure in measures]
        else:
            values[ties] = values[INTERVAL[0]]
        columns |= {f"{measure.name} {ties}": each for measure, each in zip(measures, values[ties], strict=True)}
    frame = pl.DataFrame({"topic": judgments.topics, **columns}).with_columns(
        pl.lit(run.name).alias("run"),
        pl.lit(run.frame.height).alias("lines"),
        pl.lit("\n".join(remark.removeprefix(f"{run.source.name}: ") for remark in remarks)).alias("remarks"),
    )
    import io

    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _follow_the_parent() -> None:
    """Leave interrupts to the parent, and end when it ends, however that was."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_all(tasks: Sequence[Task], jobs: int) -> Iterator[Done]:
    """Do all tasks, in any order, with so many processes; yield each as it is done."""
    if jobs == 1 or len(tasks) == 1:
        yield from map(work, tasks)
        return
    # A forked process would share the threads of Polars, which it cannot; and each needs only one of its own.
    context = multiprocessing.get_context("spawn")
    before = os.environ.get("POLARS_MAX_THREADS")
    os.environ["POLARS_MAX_THREADS"] = "1"
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context, initializer=_follow_the_parent)
    try:
        waiting = iter(tasks)
        under_way = {pool.submit(work, task) for task in islice(waiting, 4 * jobs)}
        while under_way:
            ready, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for each in ready:
                task = next(waiting, None)
                if task is not None:
                    under_way.add(pool.submit(work, task))
                yield each.result()
    except BrokenProcessPool:
        message = "a process of the study was ended from outside, perhaps for want of memory"
        raise ExaequoError(f"{message}; the same command goes on from here, --jobs 1 needs the least.") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        if before is None:
            del os.environ["POLARS_MAX_THREADS"]
        else:
            os.environ["POLARS_MAX_THREADS"] = before
