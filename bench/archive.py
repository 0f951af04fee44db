"""An archive like that of the papers on ties, to time a study: 4 tracks, 22 editions, 1,360 runs, 68 million lines.

Usage: python bench/archive.py FOLDER [--scale 0.1]     writes it
       python bench/archive.py FOLDER --study           writes it, studies it, and reports speed and memory
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

#: Editions of each track, and runs in all of them together.
TRACKS = {"adhoc": (7, 474), "filtering": (5, 235), "routing": (5, 185), "web": (5, 466)}
TOPICS, DEPTH, POOL, RELEVANT = 50, 1000, 3000, 60


def write_archive(folder: Path, scale: float = 1.0, seed: int = 1) -> int:
    """Write the archive, with a share of its runs; return the number of lines."""
    lines = 0
    for number, (track, (editions, runs)) in enumerate(TRACKS.items()):
        shares = np.diff(np.linspace(0, max(editions, round(runs * scale)), editions + 1).astype(int))
        for edition, share in enumerate(shares):
            source = np.random.Generator(np.random.PCG64([seed, number, edition]))
            lines += _write_edition(folder / track / str(1993 + edition), int(share), source)
    return lines


def _write_edition(folder: Path, runs: int, source: np.random.Generator) -> int:
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    topics = np.repeat(np.arange(301, 301 + TOPICS), POOL)
    names = np.array([f"{'AP FT LA WSJ ZF'.split()[n % 5]}{n:06d}" for n in range(20 * POOL)])
    pool = np.concatenate([source.choice(len(names), POOL, replace=False) for _ in range(TOPICS)])
    quality = source.random(len(pool))
    relevant = quality > 1 - RELEVANT / POOL * source.random(len(pool)) * 2
    judged = relevant | (source.random(len(pool)) < 0.4)
    qrels = pl.DataFrame({"qid": topics[judged], "iter": 0, "docno": names[pool[judged]], "rel": relevant[judged] * 1})
    qrels.write_csv(folder / "qrels.txt", include_header=False, separator=" ")
    for run in range(runs):
        frame = _run(topics, names[pool], quality, source).with_columns(pl.lit(f"sys{run:03d}").alias("run_id"))
        frame.write_csv(folder / "runs" / f"input.sys{run:03d}", include_header=False, separator=" ")
    return runs * TOPICS * DEPTH


def _run(topics: Any, names: Any, quality: Any, source: np.random.Generator) -> pl.DataFrame:
    """A system of some skill; a third keep few different scores, some fill their lists with 0."""
    skill = source.uniform(0.1, 0.6)
    score = (skill * quality + (1 - skill) * source.random(len(quality))).reshape(TOPICS, POOL)
    best = np.argsort(-score, axis=1)[:, :DEPTH] + np.arange(TOPICS)[:, None] * POOL
    best = best.ravel()
    sim = score.ravel()[best] * 20
    kind = source.random()
    digits = 1 if kind < 0.07 else 2 if kind < 0.25 else 6
    sim = np.round(sim, digits)
    if source.random() < 0.1:
        rank = np.tile(np.arange(DEPTH), TOPICS)
        sim = np.where(rank >= source.integers(300, 900), 0.0, sim)
    rank = np.tile(np.arange(1, DEPTH + 1), TOPICS)
    return pl.DataFrame({"qid": topics[best], "iter": "Q0", "docno": names[best], "rank": rank, "sim": sim})


def timed_study(folder: Path, out: Path, jobs: int) -> dict[str, Any]:
    """Study an archive in a process of its own; return seconds and the peak memory of the largest process."""
    command = [sys.executable, "-m", "exaequo", "study", str(folder), "-o", str(out), "--jobs", str(jobs)]
    start = time.perf_counter()
    _, status, used = os.wait4(subprocess.Popen(command).pid, 0)  # noqa: S603 - our own command
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit("the study failed; its message stands above")
    archive = json.loads((out / "study.json").read_text())["archive"]
    return {
        **archive,
        "seconds": round(seconds, 1),
        "lines per second": round(archive["lines"] / seconds),
        "peak MB of a process": round(used.ru_maxrss / 1024),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--study", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    if not options.folder.exists():
        lines = write_archive(options.folder, options.scale)
        print(f"{lines:,} lines written in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    if options.study:
        print(
            json.dumps(
                timed_study(options.folder, options.folder.with_name(options.folder.name + "-study"), options.jobs)
            )
        )


if __name__ == "__main__":
    main()
