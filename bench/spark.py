"""Time and memory of the engines, on made-up runs of so many million lines.

Usage: python bench/spark.py [--lines 1 10 70] [--engines local 'local .gz' ...] [--master local[2]] [--save]
       python bench/spark.py --tasks [2 20 200] [--save]
One run of lists of 1,000 documents, 50 judged in each topic, as TREC text, or packed; `exaequo eval` reads it, file to
means. Packed, `local` needs all of it in memory, and refuses what is too large.
Memory is the peak of each process: the command, its JVM, the largest of Spark's Python workers. `--save` writes
docs/spark.json and the table of docs/spark.md. Needs 45 bytes of disk a line. `--tasks` evaluates a million lines in so
many tasks of Spark, in a session that is warm: the slope of the time over the tasks is the overhead of one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).parent.parent
DEPTH, JUDGED, PAUSE = 1000, 50, 0.1
STORE, PAGE = ROOT / "docs" / "spark.json", ROOT / "docs" / "spark.md"
BEGIN, END = "<!-- made by bench/spark.py: -->\n", "<!-- end -->\n"
BEGIN_TASKS = "<!-- made by bench/spark.py --tasks: -->\n"
ENGINES = ["local", "local .gz", "blocks .gz", "spark"]
MEASURES = "AP nDCG@10 RR P@10 R@1000"


def write(folder: Path, lines: int) -> None:
    """Write a run of so many lines, one in twenty tied, and its judgments; some hundred topics at a time."""
    source = np.random.default_rng(1)
    topics = max(lines // DEPTH, 1)
    with (folder / "run.txt").open("wb") as run, (folder / "qrels.txt").open("wb") as qrels:
        for start in range(0, topics, 1000):
            number = min(1000, topics - start)
            topic = np.repeat(np.arange(start, start + number), DEPTH)
            rank = np.tile(np.arange(1, DEPTH + 1), number)
            docno = rank * 7919 % 10_007 + source.integers(0, 100, number).repeat(DEPTH) * 10_007
            sim = np.round(30 - rank * 0.02 - source.integers(0, 2, len(rank)) * 0.02, 4)
            frame = pl.DataFrame({"qid": topic, "iter": "Q0", "docno": docno, "rank": rank, "sim": sim, "id": "made"})
            _text(frame.with_columns(pl.format("D{}", "docno").alias("docno")), run)
            judged = np.sort(source.choice(DEPTH, (number, JUDGED)), axis=1)
            at = (np.arange(number)[:, None] * DEPTH + judged).ravel()
            rel = source.integers(0, 3, len(at))
            some = frame[at].select("qid", pl.lit(0).alias("iter"), pl.format("D{}", "docno"), pl.Series("rel", rel))
            _text(some.unique(["qid", "docno"], keep="first", maintain_order=True), qrels)


def _text(frame: pl.DataFrame, file: object) -> None:
    frame.write_csv(file, separator=" ", include_header=False)  # type: ignore[call-overload]


def measured(folder: Path, engine: str, master: str, digits: dict[str, str]) -> dict[str, float]:
    """Run the command; return seconds, and the peak of memory of each kind of process in MB."""
    kind, _, packed = engine.partition(" ")
    command = [sys.executable, "-m", "exaequo", "eval", folder / "qrels.txt", folder / f"run.txt{packed}"]
    command += [
        "-m",
        MEASURES,
        "--engine",
        kind,
        "--format",
        "csv",
        *(["--master", master] if engine == "spark" else []),
    ]
    start = time.perf_counter()
    with subprocess.Popen(  # noqa: S603 - our own command
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        peaks: dict[str, float] = {}
        while process.poll() is None:
            for kind, size in _sizes(process.pid):
                peaks[kind] = max(peaks.get(kind, 0.0), size)
            time.sleep(PAUSE)
        took = time.perf_counter() - start
        out, said = process.communicate()
    if process.returncode:
        raise SystemExit(f"{engine}: {said}")
    digits[engine] = "\n".join(sorted(line for line in out.splitlines() if ",realistic," in line))
    return {"seconds": took, **peaks}


def _sizes(root: int) -> list[tuple[str, float]]:
    """Return kind and peak of memory, in MB, of a process and of all it started."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
    found, mine = [], {root}
    for _ in range(6):
        mine |= {pid for pid, parent in parents.items() if parent in mine}
    for pid in mine:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024
            java = status.startswith("Name:\tjava")
        except (OSError, StopIteration):
            continue
        found.append(("command" if pid == root else "jvm" if java else "worker", peak))
    return found


def table(results: list[dict[str, object]]) -> str:
    """Return the table of the page."""
    rows = ["| lines | engine | seconds | command, MB | JVM, MB | a worker, MB |", "|---:|---|---:|---:|---:|---:|"]
    for each in results:
        sizes = " | ".join(f"{each[kind]:,.0f}" if kind in each else "" for kind in ("command", "jvm", "worker"))
        engine = f"Spark, {each['master']}" if each["engine"] == "spark" else str(each["engine"]).replace(" ", ", ")
        rows.append(f"| {each['lines']:,} | {engine} | {each['seconds']:.1f} | {sizes} |")
    loads = sorted(float(str(each["load"])) for each in results)
    note = f"{os.cpu_count()} cores; the load of the machine at the start of each: {loads[0]:.1f} to {loads[-1]:.1f}."
    return "\n".join(rows) + f"\n\n{note}\n"


def by_tasks(folder: Path, numbers: list[int], master: str, times: int = 3) -> str:
    """Evaluate the same lines in so many tasks, the quickest of some times; return a table and the slope."""
    from exaequo import spark as on_spark
    from exaequo.spark.files import read_qrels, read_runs
    from exaequo.spark.session import session

    def took(own: SparkSession, tasks: int, frame: DataFrame | None) -> float:
        own.conf.set("spark.sql.shuffle.partitions", str(tasks))
        start = time.perf_counter()
        found = own.range(0, tasks, 1, tasks).mapInArrow(_as_they_are, "id bigint") if frame is None else frame
        found.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - start

    with session(master) as own:
        own.conf.set("spark.sql.adaptive.enabled", "false")  # which would put small tasks together
        lines = read_runs(own, [str(folder / "run.txt")]).persist()
        qrels = read_qrels(own, str(folder / "qrels.txt")).persist()
        rows = {}
        for name, ours in (("evaluated", True), ("passed through", False)):
            best = []
            for tasks in numbers:
                frame = on_spark.evaluate(lines, qrels, MEASURES.split(), names=["made"]) if ours else None
                best.append(min(took(own, tasks, frame) for _ in range(times)))
            rows[name] = best
    head = f"| a million lines, seconds with tasks: | {' | '.join(map(str, numbers))} | ms a task |"
    made = [head, "|---|" + "---:|" * (len(numbers) + 1)]
    for name, best in rows.items():
        slope = float(np.polyfit(numbers, best, 1)[0]) * 1000
        made.append(f"| {name} | {' | '.join(f'{each:.2f}' for each in best)} | {slope:.1f} |")
    return "\n".join(made) + "\n"


def _as_they_are(batches: Iterator[object]) -> Iterator[object]:
    return batches


def _write(begin: str, made: str) -> None:
    """Write what was made into the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    PAGE.write_text(before + begin + made + END + rest.partition(END)[2], encoding="utf-8")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--lines", type=float, nargs="+", default=[1, 10, 70], metavar="MILLION")
    asked.add_argument("--engines", nargs="+", default=ENGINES)
    asked.add_argument("--master", default="local[2]")
    asked.add_argument("--tasks", type=int, nargs="*", metavar="N")
    asked.add_argument("--save", action="store_true")
    given = asked.parse_args()
    if given.tasks is not None:
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), 1_000_000)
            load = os.getloadavg()[0]
            made = by_tasks(Path(name), given.tasks or [2, 20, 200], given.master)
        made += f"\n{given.master}; {os.cpu_count()} cores; the load of the machine at the start: {load:.1f}.\n"
        print(made)
        if given.save:
            _write(BEGIN_TASKS, made)
        return
    results: list[dict[str, object]] = []
    for million in given.lines:
        with tempfile.TemporaryDirectory() as name:
            folder, digits = Path(name), dict[str, str]()
            write(folder, int(million * 1e6))
            if any(engine.endswith(".gz") for engine in given.engines):
                with (folder / "run.txt").open("rb") as run, gzip.open(folder / "run.txt.gz", "wb", 1) as packed:
                    shutil.copyfileobj(run, packed)
            for engine in given.engines:
                load = os.getloadavg()[0]
                found = measured(folder, engine, given.master, digits)
                about = {"lines": int(million * 1e6), "engine": engine, "load": round(load, 1), "master": given.master}
                results.append({**about, **{key: round(value, 1) for key, value in found.items()}})
                print(json.dumps(results[-1]), flush=True)
            if len({*digits.values()}) != 1:
                raise SystemExit(f"the engines disagree: {digits}")
    new = {(each["lines"], each["engine"]) for each in results}
    if given.save and STORE.exists():  # what was not measured now keeps its figures
        old = (each for each in json.loads(STORE.read_text()) if each["engine"] in ENGINES)
        results += [each for each in old if (each["lines"], each["engine"]) not in new]
        results.sort(key=lambda each: (each["lines"], ENGINES.index(str(each["engine"]))))
    print(table(results))
    if given.save:
        STORE.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        _write(BEGIN, table(results))


if __name__ == "__main__":
    main()
