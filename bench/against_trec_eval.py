"""Small random evaluations, value by value beside those of trec_eval as pytrec_eval runs it. Out: how many agree.

Both the drop-in, `exaequo.compat.pytrec_eval`, and `exaequo.evaluate(..., ties="conventional", precision="single")`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from time import monotonic
from typing import NamedTuple

import numpy as np
import pytrec_eval

import exaequo
from exaequo.arrays import Floats
from exaequo.compat import pytrec_eval as ours
from exaequo.measures.registry import from_official

Judged = dict[str, dict[str, int]]
Returned = dict[str, dict[str, float]]

#: Levels of recall. Our IPrec compares whole numbers, where trec_eval rounds level times all: docs/coming-from.md.
LEVELS = ("0.00", "0.10", "0.25", "0.33", "0.35", "0.50", "0.70", "0.75", "1.00")
TENTHS = tuple(f"{tenth / 10:.2f}" for tenth in range(11))
#: All that trec_eval has, at cutoffs that short lists reach and at those they do not.
CUTOFFS = "1,2,3,4,5,7,10"
MEASURES = {
    *pytrec_eval.supported_measures,
    *(f"{name}.{CUTOFFS}" for name in ("P", "recall", "map_cut", "ndcg_cut", "success", "relative_P")),
    f"iprec_at_recall.{','.join(LEVELS)}",
    "Rprec_mult.0.2,0.5,1.0,1.5",
} - {"runid", "relstring"}
#: Few scores, so that ties abound; some are one in single precision, as 1 and 1 + 1e-9 are; zeros with both signs.
SCORES = np.array([0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 + 2e-7, 2.0, 3.5, -1.5, 1e-40, 1e30, 16777216.0, 16777217.0])
#: Names whose order as text is neither that of numbers nor that of letters.
NAMES = np.array(["d1", "d10", "d2", "D3", "a", "é", "zz", "中", "~", "-", "d", "d11"])
GRADES = np.arange(-2, 5)
CLOSE = 1e-12


class Difference(NamedTuple):
    """A value that is not the official one."""

    way: str
    measure: str
    expected: float
    found: float
    qrels: dict[str, int]
    run: dict[str, float]


def drawn(random: np.random.Generator, topics: int) -> tuple[Judged, Returned]:
    """Draw so many topics of 0 to 8 documents; some have no judgments, some no documents, few are in one file only."""
    qrels, run = Judged(), Returned()
    for number in range(topics):
        names = random.permutation(NAMES)
        n_judged, n_returned, shared = random.integers(0, 9, 3).tolist()
        scores = random.choice(SCORES, size=random.integers(1, 6))
        if random.random() > 0.02:
            judged = zip(names[:n_judged].tolist(), random.choice(GRADES, n_judged).tolist(), strict=True)
            qrels[str(number)] = dict(judged)
        if random.random() > 0.02:
            some = names[min(shared, len(names) - n_returned) :][:n_returned].tolist()
            run[str(number)] = dict(zip(some, random.choice(scores, n_returned).tolist(), strict=True))
    return qrels, run


def compared(qrels: Judged, run: Returned, level: int = 1, judged_only: bool = False) -> tuple[int, list[Difference]]:
    """Return how many values were compared, and those that differ."""
    # Where all judgments of a topic are below 0, or below the level, the original reads memory it has not set; a list
    # without documents ends it now and then.
    known = {topic: judged for topic, judged in qrels.items() if judged and max(judged.values()) >= level}
    run = {topic: documents for topic, documents in run.items() if documents}
    expected = pytrec_eval.RelevanceEvaluator(known, MEASURES, level, judged_only).evaluate(run)
    found = ours.RelevanceEvaluator(known, MEASURES, level, judged_only).evaluate(run)
    if [*map(list, found.values())] != [*map(list, expected.values())] or set(found) != set(expected):
        raise AssertionError("other topics, or other names of figures")
    pairs = [("compat.pytrec_eval", name, name) for name in next(iter(expected.values()), {})]
    tables = {"compat.pytrec_eval": found}
    if not judged_only and expected:
        # What a geometric mean is made of are logarithms there, and the values themselves here.
        meant = {name: from_official(name) for _, name, _ in pairs if not name.startswith("gm_")}
        official = {name: str(exaequo.parse_measure(mine)) for name, mine in meant.items() if mine}
        pairs += [("evaluate", *each) for each in official.items()]
        tables["evaluate"] = _by_catalogue(known, run, [*official.values()], level)
    count, differ = 0, list[Difference]()
    for way, theirs, mine in pairs:
        topics = [topic for topic in expected if topic in tables[way]]
        if way == "evaluate" and theirs.startswith(("iprec", "11pt")):
            topics = [topic for topic in topics if _rounds_the_same(theirs, known[topic], level)]
        right = np.array([expected[topic][theirs] for topic in topics])
        got = np.array([tables[way][topic][mine] for topic in topics])
        count += len(topics)
        for at in np.flatnonzero(~_equal(right, got)).tolist():
            topic = topics[at]
            differ.append(Difference(way, theirs, right[at], got[at], qrels[topic], run[topic]))
    return count, differ


def _rounds_the_same(measure: str, judged: dict[str, int], level: int) -> bool:
    """Tell whether trec_eval finds as many relevant documents as a level of recall asks for."""
    n_relevant = sum(grade >= level for grade in judged.values())
    levels = TENTHS if measure == "11pt_avg" else (measure.rpartition("_")[2],)
    return all(int(float(each) * n_relevant + 0.9) == ceil(Fraction(each) * n_relevant) for each in levels)


def _equal(one: Floats, two: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.isclose(one, two, rtol=0, atol=CLOSE, equal_nan=True)


def _by_catalogue(qrels: Judged, run: Returned, measures: list[str], level: int) -> dict[str, dict[str, float]]:
    """Evaluate by our own catalogue, as trec_eval ranks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        scores = exaequo.evaluate(
            qrels, run, measures, ties="conventional", precision="single", rel_level=level, missing="skip"
        )
    return scores.to_dict()["run"]["conventional"]


def searched(seconds: float, seed: int = 0, topics: int = 2000) -> Iterator[tuple[int, int, list[Difference]]]:
    """Yield topics and values compared, and what differs, batch after batch, for so many seconds."""
    random, end = np.random.default_rng(seed), monotonic() + seconds
    while monotonic() < end:
        level, judged_only = int(random.choice([1, 1, 2, 3])), bool(random.random() < 0.2)
        count, differ = compared(*drawn(random, topics), level, judged_only)
        yield topics, count, differ
