"""Small work, and the command from a cold start: ratios of runs that alternate, each the median of many.

Usage: python bench/small.py [--repeats N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from tools import PAIRS, files_of
from works import Shape, write

Lists = dict[str, dict[str, Any]]
Call = Callable[[], object]
TEN = ["AP", "nDCG", "nDCG@10", "P@10", "P@30", "RR", "R@100", "R@1000", "Rprec", "Success@5"]
#: What ranx calls the same.
RANX = ["map", "ndcg", "precision@10", "mrr", "recall@1000", "bpref"]


def in_dicts(topics: int, documents: int, judged: int, seed: int = 1) -> tuple[Lists, Lists]:
    """Return judgments and a run in dicts; a tenth of the judgments is relevant, and one document of each list."""
    source = random.Random(seed)
    qrels, run = {}, {}
    for number in range(301, 301 + topics):
        pool = [f"FBIS{n // 1000}-{n % 1000:05d}" for n in source.sample(range(1_000_000), documents + judged)]
        run[str(number)] = {docno: round(source.random() * 20, 3) for docno in pool[:documents]}
        grades = source.choices((0, 1, 2), weights=(18, 1, 1), k=judged)
        qrels[str(number)] = {**dict(zip(source.sample(pool, judged), grades, strict=True)), pool[0]: 1}
    return qrels, run


def on_disk(folder: str, topics: int, documents: int, judged: int) -> tuple[Path, Path]:
    """Write such a collection; return the files of judgments and of the run."""
    qrels, runs = files_of(write(Path(folder), Shape(topics, documents, judged)))
    return qrels, runs[0]


def seconds(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def alternating(ours: Call, theirs: Call, repeats: int) -> dict[str, float]:
    """Return the medians of both in ms, and the median of how many times the other's time ours is."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats + 1)][1:]  # the first round warms up
    return {
        "ours ms": round(median(mine for mine, _ in pairs) * 1000, 2),
        "theirs ms": round(median(its for _, its in pairs) * 1000, 2),
        "ratio": round(median(mine / its for mine, its in pairs), 2),
    }


def in_memory(topics: int, documents: int, judged: int, repeats: int) -> dict[str, dict[str, float]]:
    """Construct and evaluate, beside pytrec_eval: the library, and both drop-ins."""
    import pytrec_eval

    import exaequo
    from exaequo.compat import ir_measures
    from exaequo.compat import pytrec_eval as drop_in

    qrels, run = in_dicts(topics, documents, judged)
    names, every = set(PAIRS.values()), pytrec_eval.supported_measures
    parsed = [ir_measures.parse_measure(each) for each in PAIRS]

    def theirs() -> object:
        return pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)

    calls: dict[str, tuple[Call, Call]] = {
        "evaluate": (lambda: exaequo.evaluate(qrels, run, list(PAIRS)), theirs),
        "pytrec_eval": (lambda: drop_in.RelevanceEvaluator(qrels, names).evaluate(run), theirs),
        "ir_measures": (lambda: ir_measures.calc_aggregate(parsed, qrels, run), theirs),
        "pytrec_eval, all measures": (
            lambda: drop_in.RelevanceEvaluator(qrels, every).evaluate(run),
            lambda: pytrec_eval.RelevanceEvaluator(qrels, every).evaluate(run),
        ),
    }
    return {f"{name}, {topics} x {documents}": alternating(*both, repeats) for name, both in calls.items()}


def kept(topics: int, documents: int, judged: int, repeats: int) -> dict[str, dict[str, float]]:
    """Evaluate again and again what is in memory already, beside ranx."""
    import ranx

    import exaequo
    from exaequo.compat import ranx as drop_in

    dicts = in_dicts(topics, documents, judged)
    qrels, run = exaequo.read_qrels(dicts[0]), exaequo.read_run(dicts[1])
    original, ours = ((each.Qrels(dicts[0]), each.Run(dicts[1])) for each in (ranx, drop_in))

    def theirs() -> object:
        return ranx.evaluate(*original, RANX)

    return {
        "kept, evaluate beside ranx": alternating(lambda: exaequo.evaluate(qrels, run, list(PAIRS)), theirs, repeats),
        "kept, drop-in beside ranx": alternating(lambda: drop_in.evaluate(*ours, RANX), theirs, repeats),
    }


def strategies(topics: int, documents: int, judged: int, repeats: int) -> dict[str, dict[str, float]]:
    """Three strategies beside one, and ten measures beside one, of files."""
    import exaequo

    with tempfile.TemporaryDirectory() as folder:
        qrels, run = on_disk(folder, topics, documents, judged)

        def evaluated(measures: list[str], ties: str) -> Call:
            return lambda: exaequo.evaluate(qrels, run, measures, ties).warnings

        conventional = evaluated(TEN, "conventional")
        return {
            "three strategies beside one": alternating(evaluated(TEN, "all"), conventional, repeats),
            "ten measures beside one": alternating(conventional, evaluated(TEN[:1], "conventional"), repeats),
        }


def cold(topics: int, documents: int, judged: int, repeats: int) -> dict[str, dict[str, float]]:
    """Start commands, beside a Python that imports NumPy; compiled files are kept, as for what is installed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def started(*arguments: str) -> Call:
        command = [sys.executable, *arguments]
        return lambda: subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603

    with tempfile.TemporaryDirectory() as folder:
        files = [*map(str, on_disk(folder, topics, documents, judged))]
        commands = {
            "exaequo --help": ["--help"],
            "exaequo trec_eval -m map": ["trec_eval", "-m", "map", *files],
            "exaequo eval": ["eval", *files],
        }
        numpy = started("-c", "import numpy")
        return {
            f"{name} beside import numpy": alternating(started("-m", "exaequo", *asked), numpy, repeats)
            for name, asked in commands.items()
        }


def small(repeats: int) -> dict[str, dict[str, float]]:
    """Return all figures."""
    return {
        **in_memory(3, 10, 10, 20 * repeats),
        **in_memory(50, 1000, 1500, repeats),
        **kept(50, 1000, 1500, repeats),
        **strategies(50, 1000, 1500, repeats),
        **cold(50, 1000, 1500, repeats),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = small(options.repeats)
    if options.json:
        print(json.dumps({"format": 1, "results": results}, indent=1))
        return
    for name, figures in results.items():
        print(f"{name}: " + ", ".join(f"{label} {value:,}" for label, value in figures.items()))


if __name__ == "__main__":
    main()
