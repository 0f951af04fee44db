"""Fuzzing, guided by coverage: `python bench/fuzz.py [TARGET]... [--seconds N]`; see `fuzzing.TARGETS`.

What breaks a promise is kept under `.fuzz/found`, the smallest input of each kind; then the exit code is 1. The target
`trec_eval` is another thing: random evaluations beside those of the official program.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

KEPT = Path(".fuzz")
OFFICIAL = "trec_eval"
#: Of so many executions one is tried at length as well.
STRETCHED = 1000


def main() -> int:
    """Run each target in a process of its own, and say how often it was executed and what broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        return inside(asked.targets[0], asked.seconds)
    import fuzzing

    known = (*fuzzing.TARGETS, OFFICIAL)
    if unknown := {*asked.targets} - {*known}:
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(known)}")
    ways = [(target, beside if target == OFFICIAL else outside) for target in asked.targets or known]
    counts = [way(target, asked.seconds) for target, way in ways]
    runs, broken = map(sum, zip(*counts, strict=True))
    print(f"{'in all':20} {runs:>10,} executions, {broken} broken")
    return int(broken > 0)


def outside(target: str, seconds: int) -> tuple[int, int]:
    """Fuzz one target in a process of its own; return how often it was executed, and in how many ways it broke."""
    arguments = [sys.executable, __file__, target, "--seconds", str(seconds), "--inside"]
    ended = subprocess.run(arguments, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    # A process that was ended, by memory that Polars cannot have, tells no sum.
    counts = re.findall(r"^(?:Done |#)(\d+)", ended.stderr, re.MULTILINE)
    found = sorted((KEPT / "found").glob(f"{target}-*.txt"))
    runs, broken = max(map(int, counts), default=0), len(found) + (ended.returncode != 0)
    print(f"{target:20} {runs:>10,} executions, {broken} broken", flush=True)
    for each in found:
        print(f"    {each}: {each.read_text(errors='replace').splitlines()[-1][:160]}", flush=True)
    if ended.returncode:
        print(f"    ended with {ended.returncode}; the input is in {KEPT / 'found'}", flush=True)
    return runs, broken


def beside(target: str, seconds: int) -> tuple[int, int]:
    """Evaluate at random, as the official program does; return how many topics, and how many values differ."""
    from against_trec_eval import searched

    topics, values, differ = 0, 0, 0
    for more, compared, different in searched(seconds, seed=int.from_bytes(os.urandom(4))):
        topics, values, differ = topics + more, values + compared, differ + len(different)
        for each in different[:3]:
            print(f"    {each}", flush=True)
    print(f"{target:20} {topics:>10,} topics, {values:,} values, {differ} different", flush=True)
    return topics, differ


def inside(target: str, seconds: int) -> int:
    """Fuzz one target in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=["exaequo", "yaml", "tomllib"], enable_loader_override=False):
        import fuzzing
    corpus = KEPT / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    (KEPT / "found").mkdir(exist_ok=True)
    for number, seed in enumerate(fuzzing.TARGETS[target].seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    counter = 0

    def once(data: bytes) -> None:
        nonlocal counter
        counter += 1
        tried = [data]
        if counter % STRETCHED == 0 and len(data) > 4:
            at = counter % len(data)
            tried.append(fuzzing.stretched(data, at, at + 1 + counter % 7))
        for each in tried:
            try:
                fuzzing.check(target, each)
            except BaseException as error:  # a panic of Polars is not even an Exception
                if isinstance(error, KeyboardInterrupt):
                    raise
                _keep(target, each, error)

    limits = [f"-max_total_time={seconds}", "-max_len=3000", "-timeout=60", "-rss_limit_mb=4000"]
    atheris.Setup([sys.argv[0], str(corpus), f"-artifact_prefix={KEPT}/found/{target}-", *limits], once)
    atheris.Fuzz()
    return 0


def _keep(target: str, data: bytes, error: BaseException) -> None:
    """Write an input that broke a promise and how, unless a smaller one did the same."""
    last: Any = traceback.extract_tb(error.__traceback__)
    ours = [f"{Path(each.filename).stem}{each.lineno}" for each in last if "exaequo" in each.filename]
    kind = f"{target}-{type(error).__name__}-{''.join(ours[-1:])}"
    path = KEPT / "found" / kind
    if not path.exists() or path.stat().st_size > len(data):
        path.write_bytes(data)
        told = "".join(traceback.format_exception(error))
        path.with_suffix(".txt").write_text(f"{data[:300]!r}\n{told}", encoding="utf-8", errors="replace")


if __name__ == "__main__":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    sys.exit(main())
