"""Side by side with pytrec_eval in one process: files to six measures, and the memory of a large run.

Timings are ratios of runs that alternate, because machines are noisy. Usage: scripts/bench [--repeats N] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

PAIRS = {
    "AP": "map",
    "nDCG": "ndcg",
    "P@10": "P_10",
    "RR": "recip_rank",
    "R@1000": "recall_1000",
    "Bpref": "bpref",
}


def write_collection(folder: Path, topics: int, depth: int, judged: int, seed: int = 1) -> tuple[Path, Path]:
    """Write a run of topics × depth lines and topics × judged judgments, with a tenth of them relevant."""
    source = random.Random(seed)
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    with qrels.open("w") as judgments, run.open("w") as lines:
        for topic in range(301, 301 + topics):
            pool = [f"FBIS{n // 1000}-{n % 1000:05d}" for n in source.sample(range(1_000_000), depth + judged)]
            sims = sorted((round(source.random() * 20, 3) for _ in range(depth)), reverse=True)
            lines.writelines(
                f"{topic} Q0 {docno} {rank} {sim} sys\n"
                for rank, (docno, sim) in enumerate(zip(pool[:depth], sims, strict=True), 1)
            )
            grades = source.choices((0, 1, 2), weights=(18, 1, 1), k=judged)
            chosen = source.sample(pool, judged)
            judgments.writelines(f"{topic} 0 {d} {g}\n" for d, g in zip(chosen, grades, strict=True))
    return qrels, run


def with_exaequo(qrels: Path, run: Path) -> float:
    import exaequo

    scores = exaequo.evaluate(qrels, run, list(PAIRS), ties="conventional", precision="single")
    return scores.mean("AP")


def with_pytrec_eval(qrels: Path, run: Path) -> float:
    import pytrec_eval

    return _script(pytrec_eval, qrels, run)


def with_drop_in(qrels: Path, run: Path) -> float:
    from exaequo.compat import pytrec_eval

    return _script(pytrec_eval, qrels, run)


def _script(pytrec_eval: Any, qrels: Path, run: Path) -> float:
    """The script of every user of pytrec_eval."""
    with qrels.open() as judgments, run.open() as lines:
        parsed = pytrec_eval.parse_qrel(judgments), pytrec_eval.parse_run(lines)
    result = pytrec_eval.RelevanceEvaluator(parsed[0], set(PAIRS.values())).evaluate(parsed[1])
    total: float = sum(values["map"] for values in result.values()) / len(result)
    return total


def seconds(call: Callable[[Path, Path], float], qrels: Path, run: Path) -> tuple[float, float]:
    start = time.perf_counter()
    value = call(qrels, run)
    return time.perf_counter() - start, value


def compare(
    topics: int, depth: int, judged: int, repeats: int, ours_is: Callable[[Path, Path], float] = with_exaequo
) -> dict[str, float]:
    """Alternate the two; return the median of each, and the median of their ratios."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_collection(Path(folder), topics, depth, judged)
        ours, theirs = [], []
        for _ in range(repeats + 1):  # the first round warms up and is not counted
            mine, one = seconds(ours_is, *paths)
            other, two = seconds(with_pytrec_eval, *paths)
            if abs(one - two) > 1e-12:
                raise ValueError(f"the two disagree: {one} and {two}")
            ours.append(mine)
            theirs.append(other)
    ratios = [other / mine for mine, other in zip(ours[1:], theirs[1:], strict=True)]
    return {
        "run lines": topics * depth,
        "judgments": topics * judged,
        "exaequo ms": round(median(ours[1:]) * 1000, 1),
        "pytrec_eval ms": round(median(theirs[1:]) * 1000, 1),
        "times as fast": round(median(ratios), 2),
        "at worst": round(min(ratios), 2),
    }


#: The command, then the most memory it held. What the system counts for a child may include its parent's.
_WATCHED = """
import re, resource, sys
from pathlib import Path
from exaequo.cli import run
code = run(sys.argv[1:])
status = Path("/proc/self/status")
found = re.search(r"VmHWM:\\s+(\\d+)", status.read_text()) if status.exists() else None
print(found[1] if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def peak_memory(topics: int, depth: int, judged: int) -> dict[str, float]:
    """Evaluate in a process of its own; return its peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = write_collection(Path(folder), topics, depth, judged)
        command = [sys.executable, "-c", _WATCHED, "eval", str(qrels), str(run), "--ties", "all", "--format", "csv"]
        start = time.perf_counter()
        done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603
        took = time.perf_counter() - start
    peak = int(done.stderr.split()[-1]) / 1024
    return {
        "run lines": topics * depth,
        "judgments": topics * judged,
        "seconds": round(took, 2),
        "peak MB": round(peak),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = {
        "files to six measures": compare(50, 1000, 1500, options.repeats),
        "files to six measures, large": compare(500, 1000, 250, max(3, options.repeats // 3)),
        "drop-in for pytrec_eval": compare(50, 1000, 1500, options.repeats, with_drop_in),
        "command, all strategies": peak_memory(1000, 1000, 250),
    }
    if options.json:
        print(json.dumps({"format": 1, "results": results}, indent=1))
        return
    for name, figures in results.items():
        print(f"{name}: " + ", ".join(f"{label} {value:,}" for label, value in figures.items()))


if __name__ == "__main__":
    main()
