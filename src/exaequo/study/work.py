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
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from exaequo import __version__
from exaequo.arrays import Floats
from exaequo.choices import INTERVAL
from exaequo.errors import ExaequoError, Problem, bad_input
from exaequo.evaluation import evaluate_runs, judged_runs, prepared
from exaequo.interrupts import undisturbed
from exaequo.judge import Judgments
from exaequo.measures import Measure, parse_measures
from exaequo.memory import at_once, keep, share
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.read import read_qrels_files, read_run
from exaequo.read.source import digest_of
from exaequo.study.archive import Edition
from exaequo.study.results import FORMAT, Kept, RunFacts, kept_of, packed, unpacked
from exaequo.tiestats import tie_statistics, values_without_stuffing
from exaequo.writing import tidy, write_whole

T = TypeVar("T")
#: How files of results end.
RESULT = ".result"


@dataclass(frozen=True)
class Task:
    """One run to be evaluated; its result is kept in the store."""

    edition: Edition
    run: str
    measures: tuple[str, ...]
    options: Options
    store: str
    mend: bool = False


@dataclass(frozen=True)
class Done:
    """Where the result of a run is; or, if the run is broken, what is wrong with it."""

    edition: Edition
    run: str
    result: str = ""
    lines: int = 0
    problem: str = ""
    remarks: tuple[str, ...] = ()


@lru_cache(maxsize=65536)
def _hash_of(path: str, size: int, changed: int) -> str:
    del size, changed  # part of the key: a file that was written to is read again
    return digest_of(path)


def hash_of(path: str) -> str:
    """Return the SHA-256 of a file as it lies on disk."""
    try:
        about = Path(path).stat()
        return _hash_of(path, about.st_size, about.st_mtime_ns)
    except OSError as error:
        found = f"cannot be read ({error.strerror or error})"
        raise bad_input(path, found, "a readable file", "Check the file.") from None


def work(task: Task) -> Done:
    """Evaluate one run, unless that was done before. What is wrong with the data is a result too."""
    try:
        name, qrels = named(task)
        path = Path(task.store) / name
        kept = unpacked(path)
        if kept is None:
            kept = evaluated(task, qrels)
            write_whole(str(path), packed(kept))
    except ExaequoError as error:
        return Done(task.edition, task.run, problem=escaped(str(error)))
    return done(task, path, kept)


def done(task: Task, path: Path, kept: Kept) -> Done:
    """Return what was done of a task whose result is kept there."""
    return Done(task.edition, task.run, str(path), kept.lines, remarks=kept.remarks)


def named(task: Task) -> tuple[str, tuple[str, ...]]:
    """Return the name of the result of a task, and the hashes of the judgments."""
    qrels = tuple(map(hash_of, task.edition.qrels))
    # The name of the file may be the name of the run.
    files = [*qrels, hash_of(task.run), escaped(Path(task.run).name)]
    content = [__version__, FORMAT, files, {"measures": task.measures, "options": asdict(task.options)}, task.mend]
    return f"{hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}{RESULT}", qrels


def escaped(text: str) -> str:
    """Make a path or a message printable, whatever bytes a file's name has."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


@lru_cache(maxsize=2)
def _judgments(paths: tuple[str, ...], hashes: tuple[str, ...], options: Options, mend: bool) -> Judgments:
    del hashes  # part of the key: files may change while a study runs
    judgments = prepared(read_qrels_files(paths, mend=mend), options)
    if not judgments.n_topics:
        raise bad_input(paths[0], "no relevant document", "at least one", "Check the judgments.")
    return judgments


def evaluated(task: Task, hashes: tuple[str, ...]) -> Kept:
    """Return the result of a run: ties and values under each strategy, list by list."""
    judgments = _judgments(task.edition.qrels, hashes, task.options, task.mend)
    measures = parse_measures(task.measures)
    mended = list(map(str, judgments.qrels.source.mended))
    judged = judged_runs(judgments, [read_run(task.run, mend=task.mend)], task.options)
    runs = ((ordering, [*mended, *said]) for ordering, said in judged)
    noting = partial(_facts, measures=measures, depth=task.options.depth)
    scores = evaluate_runs(runs, measures, task.options, facts=noting)
    if not any(facts.documents.any() for facts in scores.facts.values()):
        found = "none of its topics has a relevant document"
        mend = "Check that the run and the qrels are of the same edition."
        raise bad_input(task.run, found, "at least one", mend)
    return kept_of(scores)


def _facts(ordering: Ordering, measures: Sequence[Measure], depth: int | None) -> RunFacts:
    """Return the ties of a run, and its values without stuffing if there is any."""
    statistics = tie_statistics(ordering, depth=depth, single=False)
    unstuffed: dict[tuple[str, Measure], Floats] = {}
    for ties in INTERVAL if statistics.stuffed.any() else ():
        values = values_without_stuffing(ordering.ranking(ties, depth=depth), measures)
        unstuffed |= {(ties, measure): own for measure, own in zip(measures, values, strict=True)}
    return RunFacts(**vars(statistics), unstuffed=unstuffed)


def _follow_the_parent(memory: int | None) -> None:
    """Leave interrupts to the parent, end when it ends, however that was, and keep to so much memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _end())
    keep(memory, _end)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            _end()

    threading.Thread(target=watch, daemon=True).start()


def _end() -> None:
    tidy()
    os._exit(1)


def run_all(tasks: Sequence[Task], jobs: int) -> Iterator[Done]:
    """Do all tasks, in any order, with so many processes; yield each as it is done."""
    jobs = at_once(min(jobs, len(tasks)))
    if jobs <= 1:
        yield from map(work, tasks)
        return
    before = os.environ.get("POLARS_MAX_THREADS")
    os.environ["POLARS_MAX_THREADS"] = "1"  # of each process
    try:
        waiting = deque(tasks)
        while waiting:
            lost = yield from _side_by_side(waiting, jobs)
            yield from map(_alone, lost)
    finally:
        if before is None:
            del os.environ["POLARS_MAX_THREADS"]
        else:
            os.environ["POLARS_MAX_THREADS"] = before


@contextmanager
def _processes(number: int) -> Iterator[ProcessPoolExecutor]:
    """Make processes, and end them: those that are done, and at an error those that are not."""
    before = multiprocessing.active_children()
    # A forked process would share the threads of Polars, which it cannot.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(number, context, _follow_the_parent, (share(number),))
    try:
        yield pool
    except BaseException:
        for each in set(multiprocessing.active_children()) - {*before}:
            each.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begun(pool: ProcessPoolExecutor, function: Callable[..., T], *given: Any) -> Future[T]:
    """Submit to processes; one that starts now never hears of an interrupt, not even while its modules load.

    It inherits what is masked here. Here an interrupt is heard of afterwards, for a signal that another thread takes,
    which masks nothing, is raised in this one, and the process would wait in vain for what it is to do.
    """
    if sys.platform == "win32":
        return pool.submit(function, *given)
    with undisturbed():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return pool.submit(function, *given)
        except (OSError, ValueError):
            # A process died meanwhile, and the pool closed what this one was to inherit; asked again it says so.
            pool.submit(os.getpid)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _side_by_side(waiting: deque[Task], jobs: int) -> Generator[Done, None, list[Task]]:
    """Do tasks until none is waiting, or a process dies; return those that were under way then."""
    under_way = dict[Future[Done], Task]()
    with suppress(BrokenProcessPool), _processes(jobs) as pool:
        while waiting or under_way:
            while waiting and len(under_way) < 4 * jobs:
                future = _begun(pool, work, waiting[0])
                under_way[future] = waiting.popleft()
            for each in wait(under_way, return_when=FIRST_COMPLETED).done:
                done = each.result()
                del under_way[each]
                yield done
    return list(under_way.values())


def _alone(task: Task) -> Done:
    """Do a task in a process of its own; if that dies too, the run is broken."""
    with suppress(BrokenProcessPool), _processes(1) as pool:
        begun = _begun(pool, os.getpid)
        return _begun(pool, work, task).result()
    if begun.exception() is not None:
        raise ExaequoError(
            "a process of the study ended before it began, perhaps for want of memory, or because a script "
            "does not ask `if __name__ == '__main__'`; the same with one job needs no other process."
        )
    found = "the process that evaluated it ended, perhaps because the file is damaged or memory ran out"
    mend = "Mend the file or free memory; the same command goes on from here."
    problem = Problem(task.run, None, found, "a sound file, and memory for it", mend)
    return Done(task.edition, task.run, problem=escaped(str(problem)))
