"""Soak: random commands on random files for minutes, interrupted at random. Out: a report; exit 1 on any difference.

A command gives the same bytes in a fresh process and in one that has done hundreds before it; interrupted, it ends
soon, with the exit code of the signal, leaves no unfinished file, and its output is whole or not there. The process
that lives on must not grow by more than a bound once it is warm.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Commands that warm the process that lives on; seconds to end after a signal, on a machine that has other work.
WARM, SOON = 40, 10.0
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "86400", "LC_ALL": "C.UTF-8"}


def collection(source: random.Random, folder: Path) -> list[str]:
    """Write random judgments and three runs full of ties; return the paths, judgments first."""
    topics, depth = source.randint(2, 30), source.randint(5, 200)
    docnos = [f"D{number:04}" for number in range(2 * depth)]
    grades = [f"{topic} 0 {docno} {source.randint(0, 2)}\n" for topic in range(topics) for docno in docnos[::3]]
    (folder / "qrels.txt").write_text("".join(grades))
    for name in "abc":
        lists = [(topic, docno) for topic in range(topics) for docno in source.sample(docnos, depth)]
        lines = [f"{topic} Q0 {docno} 0 {source.randint(0, depth // 2)} {name}\n" for topic, docno in lists]
        (folder / f"{name}.txt").write_text("".join(lines))
    return [str(folder / f"{name}.txt") for name in ("qrels", "a", "b", "c")]


def command(source: random.Random, files: list[str]) -> list[str]:
    """Return a random command on these files; it writes where `-o`, which is added, says."""
    qrels, *runs = files
    some = source.sample(runs, source.randint(2, 3))
    measure = source.choice(["AP", "nDCG@10", "P@5", "RR", "RBP"])
    return source.choice(
        [
            ["eval", qrels, *some, "-m", measure, "--format", source.choice(["json", "csv", "table"])],
            ["eval", qrels, *some, "-m", measure, "--ties", "expected", "--format", "csv"],
            ["compare", qrels, *some, "-m", measure, "--format", "json"],
            ["ties", qrels, *some, "-m", measure, "--format", "json"],
            ["gate", qrels, *some[:2], "-m", measure, "--format", "json"],
            ["pool", *some, "--depth", "10"],
            ["order", some[0], "--ties", "conventional"],
            ["budget", qrels, *some, "-m", "AP", "--format", "json"],
        ]
    )


def lives_on() -> None:
    """Run the commands that come as lines of JSON, one after the other; answer exit code and bytes in use."""
    from exaequo.cli import run
    from exaequo.memory import used

    answers, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO())
    for line in sys.stdin:
        with contextlib.redirect_stderr(io.StringIO()):
            code = run(json.loads(line))
        answers.write(json.dumps([code, used()]) + "\n")
        answers.flush()


@dataclass
class Soak:
    """What was done and found."""

    place: Path
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0
    used: list[int] = field(default_factory=list)
    known: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def fresh(self, words: list[str]) -> tuple[int, bytes]:
        """Return exit code and output of a command in a process of its own; done once."""
        key = json.dumps(words)
        if key not in self.known:
            out = self.place / "fresh"
            out.unlink(missing_ok=True)
            asked = [sys.executable, "-m", "exaequo", *words, "-o", str(out)]
            ended = subprocess.run(asked, env=ENVIRONMENT, capture_output=True, check=False)  # noqa: S603
            self.known[key] = ended.returncode, out.read_bytes() if out.exists() else b""
            if b"Traceback" in ended.stderr or b"unexpected" in ended.stderr:
                self.wrong.append(f"{' '.join(words)}: {ended.stderr.decode()[-300:]}")
            self.counts["commands in a fresh process"] += 1
        return self.known[key]

    def again(self, words: list[str], old: subprocess.Popen[bytes]) -> None:
        """Do the same in the process that lives on, and compare."""
        assert old.stdin and old.stdout  # noqa: S101 - they are pipes
        out = self.place / "again"
        out.unlink(missing_ok=True)
        old.stdin.write(json.dumps([*words, "-o", str(out)]).encode() + b"\n")
        old.stdin.flush()
        code, used = json.loads(old.stdout.readline())
        self.used.append(used)
        self.counts["commands in the process that lives on"] += 1
        if (code, out.read_bytes() if out.exists() else b"") != self.fresh(words):
            self.wrong.append(f"{' '.join(words)}: not as in a fresh process (exit code {code})")

    def interrupted(self, words: list[str], number: signal.Signals, after: float) -> None:
        """Interrupt the same, and look at what is left."""
        out = self.place / "interrupted"
        out.write_bytes(b"before")
        asked = [sys.executable, "-m", "exaequo", *words, "-o", str(out)]
        process = subprocess.Popen(asked, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603
        time.sleep(after)
        start = time.monotonic()
        process.send_signal(number)
        said = process.communicate()[1]
        took = time.monotonic() - start
        code, whole = self.fresh(words)
        by_it = process.returncode == 128 + number
        self.slowest = max(self.slowest, took if by_it else 0.0)
        self.counts[f"{number.name}: {'ended by it' if by_it else 'too late or too early'}"] += 1
        # A signal may come before the interpreter can hear it, or after the work is done.
        fine = process.returncode in (code, 128 + number, -number) and out.read_bytes() in (b"before", whole)
        about = f"{' '.join(words)}: {number.name} after {after:.2f} s"
        if not fine or (by_it and b"Traceback" in said) or took > SOON:
            tail = said.decode(errors="replace")[-300:]
            self.wrong.append(f"{about}: exit code {process.returncode}, {took:.1f} s: {tail}")
        for left in self.place.rglob(".exaequo-*"):
            self.wrong.append(f"{about} left {left.name}")
            left.unlink()

    def report(self, seed: int, minutes: float, bound: float) -> list[str]:
        """Return what there is to say."""
        grown = (max(self.used[WARM:]) - max(self.used[:WARM])) / 1e6 if len(self.used) > WARM else 0.0
        if grown > bound:
            self.wrong.append(f"the process that lives on grew by {grown:.0f} MB")
        ends = f"{self.used[0] / 1e6:.0f} MB at first, {self.used[-1] / 1e6:.0f} MB at last" if self.used else "none"
        return [
            f"soak: {minutes:g} minutes, seed {seed}",
            *(f"  {number:6,} {what}" for what, number in sorted(self.counts.items())),
            f"  slowest end after a signal: {self.slowest:.2f} s",
            f"  memory of the process that lives on: {ends}",
            f"  it grew by {grown:+.1f} MB after its first {WARM} commands (bound {bound:g} MB)",
            *(f"  WRONG {each}" for each in self.wrong),
            "all is well" if not self.wrong else f"{len(self.wrong)} wrong",
        ]


def soak(minutes: float, seed: int, bound: float) -> int:
    """Go on for so many minutes; print the report and return the exit code."""
    source, end = random.Random(seed), time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder:
        done = Soak(Path(folder))
        asked = [sys.executable, __file__, "--lives-on"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": ENVIRONMENT}
        with subprocess.Popen(asked, **pipes) as old:  # noqa: S603
            while time.monotonic() < end:
                files = collection(source, Path(folder))
                done.known.clear()
                for _ in range(3):
                    words = command(source, files)
                    for _ in range(source.randint(1, 6)):
                        done.again(words, old)
                    number = source.choice([signal.SIGINT, signal.SIGTERM])
                    done.interrupted(words, number, source.uniform(0.05, 1.5))
            assert old.stdin  # noqa: S101 - it is a pipe
            old.stdin.close()
        sys.stdout.write("\n".join(done.report(seed, minutes, bound)) + "\n")
        return int(bool(done.wrong))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where it is ignored, programs would ignore it too
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--bound", type=float, default=64.0, help="megabytes the process may grow by")
    parser.add_argument("--lives-on", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.lives_on:
        lives_on()
    else:
        sys.exit(soak(given.minutes, given.seed, given.bound))
