"""What a measure promises: axioms tried on every short list. In: a `Measure`. Out: which hold, and where one fails.

The lists are all ways to place some of n relevant documents among the first ranks. Each is a topic of one large
evaluation, so that a measure is computed once. An axiom compares two lists; the first pair that breaks it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from operator import le

import numpy as np

from exaequo.arrays import Floats
from exaequo.errors import BadParameter
from exaequo.evaluation import judged_runs
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.read import read_qrels, read_run

#: Lists are this long, with up to so many relevant documents.
LENGTH, MOST_RELEVANT = 6, 3
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Listing:
    """A list by the ranks of its relevant documents, how many there are in all, and how long it is."""

    ranks: tuple[int, ...]
    n_rel: int
    length: int

    @property
    def found(self) -> int:
        """Relevant documents in the list."""
        return len(self.ranks)

    @property
    def last(self) -> int:
        """Rank of the last of them."""
        return max(self.ranks, default=0)

    @property
    def ap(self) -> float:
        """Average precision."""
        return sum(i / rank for i, rank in enumerate(self.ranks, 1)) / self.n_rel

    def __str__(self) -> str:
        marks = "".join("+" if rank in self.ranks else "·" for rank in range(1, self.length + 1))
        return f"{marks} ({self.found} of {self.n_rel})"


@dataclass(frozen=True)
class Axiom:
    """A rule for two lists: where `better` says the first is better, its value must be higher, or not lower.

    Where lists are `alike` they are of one length, and as many documents are relevant.
    """

    name: str
    says: str
    better: Callable[[Listing, Listing], bool]
    strict: bool
    alike: bool = True


@dataclass(frozen=True)
class Finding:
    """Whether an axiom holds for a measure, and a smallest pair that breaks it.

    `undefined` pairs could not be compared, because the measure has no value for one of the two.
    """

    axiom: Axiom
    pair: tuple[Listing, Listing] | None
    values: tuple[float, float] | None
    undefined: int = 0

    @property
    def holds(self) -> bool:
        """Tell whether no pair breaks the axiom."""
        return self.pair is None


def _one_up(one: Listing, two: Listing) -> bool:
    """One relevant document of the second stands one rank higher in the first."""
    moved = [a - b for a, b in zip(one.ranks, two.ranks, strict=False) if a != b]
    return one.found == two.found and moved == [-1]


AXIOMS = (
    Axiom("c1", "more relevant documents found are better", lambda a, b: a.found > b.found, strict=True),
    Axiom(
        "c2",
        "with as many found, an earlier last one is better",
        lambda a, b: a.found == b.found and a.last < b.last,
        strict=True,
    ),
    Axiom(
        "c3",
        "with as many found and the same last one, a higher AP is better",
        lambda a, b: a.found == b.found and a.last == b.last and a.ap > b.ap + _TOLERANCE,
        strict=True,
    ),
    Axiom(
        "c4",
        "finding all is best, finding none is worst",
        lambda a, b: a.found == a.n_rel > b.found or a.found > b.found == 0,
        strict=True,
    ),
    Axiom(
        "c5",
        "with as many found, none is better than all at the top, none worse than the last one at the end",
        lambda a, b: a.found == b.found and a.last < b.last and (a.last == a.found or b.last == b.length),
        strict=False,
    ),
    Axiom(
        "c6",
        "with as many found and the same last one, all others at the top are best, all others just before it worst",
        lambda a, b: (
            a.found == b.found > 1
            and a.last == b.last
            and a != b
            and (a.ranks[:-1] == tuple(range(1, a.found)) or b.ranks[0] == b.last - b.found + 1)
        ),
        strict=True,
    ),
    Axiom("B1", "a list with more relevant documents is preferred", lambda a, b: a.found > b.found, strict=False),
    Axiom(
        "B2",
        "with as many found, each as early or earlier is preferred",
        lambda a, b: a.found == b.found and a != b and all(map(le, a.ranks, b.ranks)),
        strict=False,
    ),
    Axiom(
        "add",
        "one more relevant document in the place of another does not hurt",
        lambda a, b: a.found == b.found + 1 and set(b.ranks) < set(a.ranks),
        strict=False,
    ),
    Axiom("swap", "a relevant document one rank higher does not hurt", _one_up, strict=False),
    Axiom("swap strictly", "a relevant document one rank higher helps", _one_up, strict=True),
    Axiom(
        "deepen",
        "one more document that is not relevant, at the end, does not help",
        lambda a, b: a.ranks == b.ranks and a.n_rel == b.n_rel and a.length == b.length - 1,
        strict=False,
        alike=False,
    ),
)


def check(measure: Measure) -> list[Finding]:
    """Try all axioms on all short lists; counter-examples are the smallest there are."""
    if "scores" in measure.definition.sees:
        raise BadParameter(f"{measure} looks at scores; axioms are about ranks.")
    lists = sorted(_lists(), key=lambda each: (each.length, each.n_rel, each.found, each.ranks))
    values = _values(measure, lists)
    return [_try(axiom, lists, values, measure.upward) for axiom in AXIOMS]


def _lists() -> Iterator[Listing]:
    for length in range(1, LENGTH + 1):
        for n_rel in range(1, MOST_RELEVANT + 1):
            for found in range(min(n_rel, length) + 1):
                for ranks in combinations(range(1, length + 1), found):
                    yield Listing(ranks, n_rel, length)


def _values(measure: Measure, lists: list[Listing]) -> Floats:
    """Evaluate every list as a topic of one run; what is not relevant was judged so."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for at, each in enumerate(lists):
        topic = f"{at:06}"
        run[topic] = {f"d{rank}": -float(rank) for rank in range(1, each.length + 1)}
        qrels[topic] = {f"d{rank}": int(rank in each.ranks) for rank in range(1, each.length + 1)}
        qrels[topic] |= {f"m{i}": 1 for i in range(each.n_rel - each.found)}
    ((ordering, _),) = judged_runs(read_qrels(qrels), [read_run(run)], Options())
    return measure.values(ordering.ranking())


def _try(axiom: Axiom, lists: list[Listing], values: Floats, upward: int) -> Finding:
    undefined = 0
    for (two, below), (one, above) in product(zip(lists, values, strict=True), repeat=2):
        alike = one.n_rel == two.n_rel and one.length == two.length
        if (alike or not axiom.alike) and axiom.better(one, two):
            gain = upward * (above - below)
            undefined += int(np.isnan(gain))
            if gain < -_TOLERANCE or (axiom.strict and gain <= _TOLERANCE):
                return Finding(axiom, (one, two), (float(above), float(below)))
    return Finding(axiom, None, None, undefined)
