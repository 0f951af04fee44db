"""What programs do with the data of a work, each in its own process. In: its folder. Out: a call, as in `tools`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from tools import PAIRS, Call, averaged, by_our_names, files_of

#: Seconds that a program took by its own account, where starting it is no part of the work.
SECONDS = "seconds"
#: The most memory that a program held, where this process does no work.
PEAK = "peak"


def held_by(pid: object) -> float:
    """Return the most memory that a process held so far, in MB; 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def peak_of(line: Sequence[Any]) -> dict[str, float]:
    """Return the most memory that a program holds, looking at it as long as it runs.

    What the system says of a child once it has ended begins with what its parent held.
    """
    most = 0.0
    for _ in range(3):  # one that ends soon may do so unseen
        with subprocess.Popen([*map(str, line)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603
            while process.poll() is None:
                with suppress(OSError):  # it ended meanwhile
                    most = max(most, held_by(process.pid))
    return {PEAK: most}


def program(*asked: str) -> Callable[[Path], Call]:
    """The official program, called once per run."""

    def prepare(folder: Path) -> Call:
        qrels, runs = files_of(folder)
        line = [shutil.which("trec_eval") or "trec_eval", *chain(*(("-m", name) for name in asked)), str(qrels)]
        peak = peak_of([*line, str(runs[0])])

        def call() -> dict[str, float]:
            means = []
            for run in runs:
                text = subprocess.run([*line, str(run)], check=True, capture_output=True, text=True)  # noqa: S603
                rows = [line.split() for line in text.stdout.splitlines()]
                means.append(by_our_names({row[0]: float(row[2]) for row in rows if row[0] in PAIRS.values()}))
            return {**averaged(means), **peak}

        return call

    return prepare


def scan(folder: Path) -> Call:
    """A scan in C, which says itself how long it took, and how many lines it matched."""
    qrels, runs = files_of(folder)
    built = Path(tempfile.mkdtemp()) / "scan"
    compiler = shutil.which("cc") or "cc"
    subprocess.run([compiler, "-O2", "-o", str(built), str(Path(__file__).parent / "scan.c")], check=True)  # noqa: S603
    peak, judged = peak_of([built, qrels, *runs]), _judged(qrels, runs)

    def call() -> dict[str, float]:
        done = subprocess.run([built, qrels, *runs], check=True, capture_output=True, text=True)  # noqa: S603
        matched, milliseconds = done.stdout.split()
        if int(matched) != judged:
            raise SystemExit(f"the C scan matched {matched} lines of {judged} that are judged")
        return {SECONDS: float(milliseconds) / 1000, **peak}

    return call


def _judged(qrels: Path, runs: Sequence[Path]) -> int:
    """Return how many lines of all runs are judged."""

    def pairs(path: Path) -> Iterator[tuple[bytes, bytes]]:
        with path.open("rb") as lines:
            for line in lines:
                topic, _, docno, *_ = line.split()
                yield topic, docno

    known = {*pairs(qrels)}
    return sum(pair in known for run in runs for pair in pairs(run))


def command(*words: str) -> Callable[[Path], Call]:
    """A command line, from its start to its end. QRELS and RUN stand for the files. Compiled files are kept, as for
    what is installed.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def prepare(folder: Path) -> Call:
        qrels, runs = files_of(folder)
        own = Path(sys.executable).parent / "exaequo"
        names = {"QRELS": str(qrels), "RUN": str(runs[0]), "PYTHON": sys.executable, "EXAEQUO": str(own)}
        line = [names.get(word, word) for word in words]
        peak = peak_of(line)

        def call() -> dict[str, float]:
            subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)  # noqa: S603
            return {**peak}

        return call

    return prepare


#: The script of `pytrec_eval`, for the cold command line.
COLD = """
import sys, pytrec_eval
with open(sys.argv[1]) as q, open(sys.argv[2]) as r:
    qrels, run = pytrec_eval.parse_qrel(q), pytrec_eval.parse_run(r)
found = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg", "P_10"}).evaluate(run)
print(sum(each["map"] for each in found.values()) / len(found))
"""
