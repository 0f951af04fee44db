"""Collections drawn at random for all engines: ties of all sizes, lists that lack, every measure there is."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from exaequo.choices import EXPECTED
from exaequo.choices import STRATEGIES as ORDERS
from exaequo.errors import BadParameter
from exaequo.evaluation import evaluate_runs, judged_runs
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.read.records import Qrels, Run, by_subtopic, with_keys
from exaequo.read.source import Source
from helpers import instances

STRATEGIES = (*ORDERS, EXPECTED)
KEY = ["run", "ties", "topic", "measure"]


@dataclass(frozen=True)
class Drawn:
    """Rows of runs and judgments, and the same as records; the measures that take such judgments."""

    lines: pl.DataFrame
    qrels: pl.DataFrame
    measures: list[Measure]
    options: Options

    @property
    def judged(self) -> Qrels:
        return by_subtopic(with_keys(self.qrels), Source("qrels"))

    @property
    def runs(self) -> list[Run]:
        own = self.lines.drop("line").partition_by("run", as_dict=True, include_key=False, maintain_order=True)
        return [Run(str(name), with_keys(frame), Source(str(name))) for (name,), frame in own.items()]

    @property
    def lists(self) -> pl.DataFrame:
        return self.lines.select("run").unique().join(self.qrels.select("qid").unique(), how="cross")


@cache
def drawn(
    seed: int,
    *,
    fractions: bool = False,
    subtopics: bool = False,
    sampled: bool = False,
    topics: int = 8,
    runs: int = 3,
) -> Drawn:
    """Draw a collection; a list in ten is missing."""
    source = np.random.default_rng(seed)
    documents = [f"d{number}" for number in range(60)]
    grades = [0, 0.1, 0.2, 0.3, 0.7, 1.3] if fractions else [-1, 0, 0, 1, 1, 2, 3]
    judged, lines = [], []
    for topic in (f"t{number}" for number in range(topics)):
        for document in source.choice(documents, source.integers(3, 30), replace=False):
            grade = float(source.choice(grades))
            own = source.choice(["1", "2", "3"], source.integers(1, 4), replace=False) if subtopics else ["0"]
            sample = str(source.integers(1, 4)), float(source.choice([0.1, 0.3, 0.7, 1]))
            judged += [(topic, str(document), grade, str(each), *sample) for each in own]
        for run in (f"run {number}" for number in range(runs)):
            if source.random() < 0.1:
                continue
            levels = source.choice([2, 12, 10**6])
            found = source.choice(documents, source.integers(1, 50), replace=False)
            lines += [
                (run, topic, str(each), source.integers(levels) / 7, str(at), at) for at, each in enumerate(found, 1)
            ]
    columns = ["qid", "docno", "rel", "iter", "stratum", "prob"]
    qrels = pl.DataFrame(judged, schema=columns, orient="row").sample(fraction=1, shuffle=True, seed=1)
    unused = [*([] if subtopics else ["iter"]), *([] if sampled else ["stratum", "prob"])]
    columns = ["run", "qid", "docno", "sim", "rank", "line"]
    options = Options.of(STRATEGIES, samples=5)
    data = Drawn(pl.DataFrame(lines, schema=columns, orient="row"), qrels.drop(unused), [], options)
    return Drawn(data.lines, data.qrels, [each for each in instances() if _takes(each, data)], options)


def _takes(measure: Measure, data: Drawn) -> bool:
    try:
        evaluate_runs(judged_runs(data.judged, data.runs, Options()), [measure], Options())
    except BadParameter:  # a collection of fewer documents than there are, a scale that ends too soon
        return False
    return True


def whole(data: Drawn) -> pl.DataFrame:
    """Return the scores of the engine in memory."""
    judged = judged_runs(data.judged, data.runs, data.options)
    return evaluate_runs(judged, data.measures, data.options).to_polars(means=False)


def same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Assert that two tables of scores are the same, to the last bit; NaN is NaN."""
    one, two = found.sort(KEY), expected.sort(KEY)
    assert one.select(KEY).equals(two.select(KEY))
    bits = [
        each["value"].to_numpy().view(np.uint64) for each in (one.fill_nan(float("nan")), two.fill_nan(float("nan")))
    ]
    there = ~(one["value"].is_nan() & two["value"].is_nan()).to_numpy()
    differ = np.flatnonzero((bits[0] != bits[1]) & there)
    assert not len(differ), one.with_columns(two["value"].alias("expected"))[differ]


def write_archive(folder: Path) -> None:
    """Write two editions of four runs each; one run is packed, one is broken."""
    for edition, seed in (("1999", 7), ("2000", 9)):
        data = drawn(seed, runs=4)
        runs = folder / "adhoc" / edition / "runs"
        runs.mkdir(parents=True)
        judged = "".join(f"{qid} 0 {docno} {rel:g}\n" for qid, docno, rel in data.qrels.rows())
        (runs.parent / "qrels.txt").write_text(judged)
        for (name,), own in data.lines.partition_by("run", as_dict=True).items():
            text = "".join(f"{q} Q0 {d} {r} {s!r} {str(n)[-1]}\n" for n, q, d, s, r, _ in own.rows())
            file = runs / str(name).replace(" ", "")
            if name == "run 1":
                Path(f"{file}.gz").write_bytes(gzip.compress(text.encode()))
            else:
                file.write_text(text + ("t1 Q0 d 1 nan 3\n" if (name, edition) == ("run 3", "2000") else ""))
