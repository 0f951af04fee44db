"""The work of a study on Spark: runs are evaluated where workers are. In: a session, tasks. Out: results in the store.

Workers read run and judgments under the paths that the driver knows, so these lie where all of them see them. They
evaluate a run as a process here does, and return its result, packed; the driver keeps it. Results that it has already
are not made again, and a task whose worker was lost is done by another, as Spark does with any task.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exaequo.errors import ExaequoError
from exaequo.spark.asking import check_spark
from exaequo.spark.session import in_our_words
from exaequo.study.results import packed, read_again, unpacked
from exaequo.study.work import RESULT, Done, Task, done, escaped, evaluated, named
from exaequo.writing import write_whole

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Runs that are evaluated before their results are kept, and tasks of Spark they are spread over, at most.
_WAVE, _PARTS = 5000, 500


def run_on(spark: SparkSession, tasks: Sequence[Task]) -> Iterator[Done]:
    """Do all tasks on Spark, in any order; yield each once its result is kept."""
    check_spark()
    there = (path for store in {task.store for task in tasks} for path in Path(store).glob(f"*{RESULT}"))
    known = frozenset(path.name for path in there if unpacked(path) is not None)
    for start in range(0, len(tasks), _WAVE):
        own = tasks[start : start + _WAVE]
        rows = spark.range(0, len(own), 1, min(len(own), _PARTS))
        with in_our_words():
            made = rows.mapInArrow(partial(_made, tuple(own), known, str(Path.cwd())), _SCHEMA).collect()
        for number, name, result, problem in made:
            task = own[number]
            if problem:
                yield Done(task.edition, task.run, problem=problem)
                continue
            path = Path(task.store) / name
            if result is not None:
                write_whole(str(path), bytes(result))
            yield done(task, path, read_again(path))


_SCHEMA = "number bigint, name string, result binary, problem string"


def _made(tasks: Sequence[Task], known: frozenset[str], folder: str, batches: Iterable[Any]) -> Iterator[Any]:
    """On a worker: evaluate the tasks of these numbers. In and out: record batches of Arrow."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # as many tasks as cores are at work already
    import pyarrow as pa

    kinds = pa.schema(
        [("number", pa.int64()), ("name", pa.string()), ("result", pa.binary()), ("problem", pa.string())]
    )
    # Paths, and messages that name them, may be relative to where the study began.
    with chdir(folder) if Path(folder).is_dir() else nullcontext():
        for batch in batches:
            for number in batch.column(0).to_pylist():
                row = dict(zip(kinds.names, (number, *_one(tasks[number], known)), strict=True))
                yield pa.RecordBatch.from_pylist([row], schema=kinds)


def _one(task: Task, known: frozenset[str]) -> tuple[str | None, bytes | None, str | None]:
    """Return the name of the result of a run, the result unless it is known, and what is wrong with the run."""
    try:
        name, qrels = named(task)
        return name, None if name in known else packed(evaluated(task, qrels)), None
    except ExaequoError as error:
        return None, None, escaped(str(error))
