"""`exaequo study`: what ties did to a whole archive."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from exaequo.choices import STUDY_DEPTH, STUDY_MEASURES, TOP
from exaequo.cli import output, progress
from exaequo.cli.engines import engine_option, refuse_master, tell_tasks
from exaequo.cli.files import DIR, MEND, within_memory
from exaequo.cli.options import evaluates, measure_option, speaks
from exaequo.errors import UsageError
from exaequo.language import say

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from exaequo.study.work import Done

#: Seconds between two lines of progress where there is no terminal.
PAUSE = 10.0


@click.command()
@click.argument("archive")
@click.option("-o", "--output", "out", type=DIR, default="study", show_default=True, help="Where to write.")
@click.option("--tracks", multiple=True, metavar="TRACK", help="Only these tracks; may be repeated, or with commas.")
@click.option("--editions", multiple=True, metavar="EDITION", help="Only these editions.")
@measure_option(usual=STUDY_MEASURES)
@click.option("--top", type=click.IntRange(0), default=TOP, show_default=True, help="How many of the luckiest.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the tests between systems.")
@evaluates(depth=STUDY_DEPTH)
@engine_option("Where to evaluate: in processes here; on Spark, whose workers see ARCHIVE under the same path.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes.  [default: one per core]")
@MEND
@click.option("--strict", is_flag=True, help="Stop at the first file that cannot be evaluated.")
@within_memory
@speaks
def study(
    archive: str,
    out: str,
    tracks: tuple[str, ...],
    editions: tuple[str, ...],
    measures: tuple[str, ...],
    top: int,
    alpha: float,
    options: dict[str, Any],
    engine: str,
    master: str | None,
    jobs: int | None,
    mend: bool,
    strict: bool,
) -> int:
    """Study ARCHIVE: a folder TRACK/EDITION/{qrels*, runs/*}, or a manifest in TOML.

    Writes tables (CSV, Parquet, LaTeX) and one page into DIR. Interrupted at any moment and started again, it goes on
    where it was; a file that changed is done again. Files that cannot be read are reported and left out;
    the exit code is 1 then.
    """
    from exaequo.screens import wrapped
    from exaequo.spreadsheets import formulas
    from exaequo.study import study as study_archive
    from exaequo.study.pages import write
    from exaequo.study.sentences import summary

    def split(names: tuple[str, ...]) -> list[str]:
        return [name for each in names for name in each.split(",") if name]

    refuse_master(engine, master)
    if jobs and engine == "spark":
        raise UsageError("--jobs is for --engine local; on Spark, --master says how many, as local[4].")
    try:
        with _session(engine, master) as spark:
            result = study_archive(
                archive,
                out,
                tracks=split(tracks),
                editions=split(editions),
                measures=list(measures) or STUDY_MEASURES,
                top=top,
                alpha=alpha,
                jobs=jobs or os.cpu_count() or 1,
                spark=spark,
                strict=strict,
                mend=mend,
                progress=_progress(),
                **options,
            )
    except KeyboardInterrupt:
        output.aside("exaequo: stopped; the same command goes on from here")
        raise
    output.warn(*(f"left out: {each.problem}" for each in result.broken))
    remarks = result.tables["remarks"].height
    if remarks:
        output.warn(f"{remarks:,} remarks on runs are in {out}/tables/remarks.csv")
    files = write(result, out)
    output.warn(*(f"{out}/tables: {each}" for each in formulas(*result.tables.values())))
    output.show_text("\n".join(wrapped(summary(result), output.room()[0])))
    seen = {"n": len(files), "size": sum(each.stat().st_size for each in files) // 1000, "out": out}
    output.aside(say("{n} files ({size:,} kB) in {out}; {out}/index.html shows all of them", **seen))
    return int(bool(result.broken))


@contextmanager
def _session(engine: str, master: str | None) -> Iterator[SparkSession | None]:
    """Give a session of Spark if that is the engine, and tell how far its tasks are."""
    if engine == "local":
        yield None
        return
    from exaequo.spark.session import session, watched

    with session(master) as own, watched(own, tell_tasks):
        yield own


def _progress() -> Callable[[Done, int, int], None]:
    """Return what shows how far the work is: a bar on a terminal, a line now and then elsewhere."""
    if sys.stderr is not None and sys.stderr.isatty():
        return lambda done, at, total: progress.doing(done.edition.label, at, total)
    start = last = time.monotonic()
    lines = 0

    def line(done: Done, number: int, total: int) -> None:
        nonlocal last, lines
        lines += done.lines
        now = time.monotonic()
        if now - last >= PAUSE and number < total:
            last = now
            left = (now - start) / number * (total - number)
            seen = {"number": number, "total": total, "lines": lines, "left": left}
            far = say("{number:,} of {total:,} runs, {lines:,} lines, about {left:.0f} s left", **seen)
            output.aside(far)

    return line
