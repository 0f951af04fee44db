"""A session of Spark for commands. In: a master. Out: a session, how far it is, and its errors in our words."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from exaequo.errors import BadParameter, ExaequoError, MissingTopics
from exaequo.interrupts import undisturbed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Names a file for what Java logs, for those who look for what is wrong with a cluster.
LOG = "EXAEQUO_SPARK_LOG"
#: Why Java ended before it was asked anything.
_MAIN = re.compile(r'^Exception in thread "main" [\w.$]+: (.*)', re.MULTILINE)
#: Seconds between two looks at how far the work is.
_PAUSE = 0.5
#: Our errors in the words of a worker: the kind, and what it says up to the end of the worker's story.
_OURS = re.compile(
    r"exaequo\.errors\.(InputError|MissingTopics|BadParameter): (.*?)(?:\n\s*\n|\n\s+at |\n\nJVM|\Z)", re.DOTALL
)
#: A cause in a story of Java: what it says, up to where it happened.
_CAUSE = re.compile(r"^(?:Caused by)?: (?:[\w.$]+: )?(.*(?:\n(?!\s+at |\s+\.\.\. |Caused by).+)*)", re.MULTILINE)

#: Letters of a line that is no text.
_SHOWN = 120
#: What Python raised on a worker, after the story of where it happened.
_RAISED = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\w.*)", re.MULTILINE)


@contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """Give a session: of this master, a server of Spark Connect (`sc://`), or as the environment says."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ExaequoError("--engine spark needs Spark 4: pip install 'exaequo[spark]'") from None
    # PySpark has opinions about pandas, which nothing here uses.
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers of another Python know no exaequo
    there = SparkSession.getActiveSession()
    if there is not None:  # it is not ours to stop
        yield there
        return
    builder: Any = SparkSession.builder.appName("exaequo")
    # The folder `qid=007` is the topic 007, not 7.
    builder = builder.config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    if master and master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
        builder = builder.master(master) if master else builder
    spark = _started(builder)
    try:
        yield spark
    except KeyboardInterrupt:  # what was interrupted answers no more; Java ends with this process
        raise
    except BaseException:
        spark.stop()
        raise
    spark.stop()


def _started(builder: Any) -> SparkSession:
    """Start a session; what Java says on standard error goes into a file."""
    log = os.environ.get(LOG)
    try:
        opened: IO[bytes] = Path(log).open("ab+") if log else tempfile.TemporaryFile()  # noqa: SIM115 - right below
    except OSError as error:
        raise ExaequoError(f"{log}: cannot write ({error.strerror}), as {LOG} asks.") from None
    with opened as file:
        begun = file.seek(0, os.SEEK_END)
        try:
            with _said_in(file), undisturbed():
                spark: SparkSession = builder.getOrCreate()
                return spark
        except Exception as error:  # noqa: BLE001 - whatever keeps Java or a cluster from starting
            file.seek(begun)
            said = _MAIN.findall(file.read().decode(errors="replace"))
            why = said[-1] if said else _why(str(error))
            raise ExaequoError(
                f"Spark does not start: {why} (it needs Java 17 or later, and a --master there is)"
            ) from None


@contextmanager
def _said_in(file: IO[bytes]) -> Iterator[None]:
    """Let programs that are started meanwhile write into a file what they would write on standard error."""
    try:
        before = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def literal(path: str) -> str:
    """Return the pattern that this path alone fits."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def refuse_there(spark: SparkSession, folder: str) -> None:
    """Refuse a folder that is there: Spark would do so when all is evaluated."""
    from pyspark.errors import AnalysisException

    with suppress(AnalysisException):
        _ = spark.read.text(literal(folder)).schema
        raise ExaequoError(f"{folder}: it is there already. Name another folder, or delete it.")


@contextmanager
def in_our_words() -> Iterator[None]:
    """Raise what a worker found wrong with the data as if it had been found here."""
    try:
        yield
    except ExaequoError:
        raise
    except Exception as error:
        found = _OURS.search(str(error))
        if found is None:
            if type(error).__module__.startswith(("pyspark", "py4j")):
                raise ExaequoError(f"Spark: {_why(str(error))}") from error
            raise
        kind: type[ExaequoError] = {"MissingTopics": MissingTopics, "BadParameter": BadParameter}.get(
            found[1], ExaequoError
        )
        raise kind(found[2].strip()) from None


def _why(story: str) -> str:
    """Return what Python raised on a worker, else the last cause that a story of Java names, else its first line."""
    raised = _RAISED.findall(story)
    if raised:
        lacks = raised[-1].startswith("ModuleNotFoundError")
        return f"a worker: {raised[-1]}" + (" (workers need exaequo, Polars and NumPy, too)" if lacks else "")
    causes = [each for each in _CAUSE.findall(story) if not each.startswith("[CIRCULAR REFERENCE")]
    why = " ".join(causes[-1].split()) if causes else story.strip().partition("\n")[0]
    if "INVALID_UTF8_STRING" in why:
        why = f"{why[:_SHOWN]} (text is UTF-8; a table is called .parquet or .csv, or is told: --run-reader parquet)"
    return why


@contextmanager
def watched(spark: SparkSession, tell: Callable[[int, int], None]) -> Iterator[None]:
    """Tell again and again how many tasks are done, and of how many; Spark Connect does not say."""
    ended = threading.Event()

    def look(tracker: Any) -> None:
        with suppress(Exception):  # Java has gone: who waits for its answer says so
            while not ended.wait(_PAUSE):
                stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
                known = [each for each in stages if each is not None]
                if known:
                    tell(sum(each.numCompletedTasks for each in known), sum(each.numTasks for each in known))

    if hasattr(spark, "_jsparkSession"):
        threading.Thread(target=look, args=(spark.sparkContext.statusTracker(),), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
