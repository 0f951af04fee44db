"""What `exaequo gate` says of candidates whose true loss is known: how often it passes, decides, and is wrong.

Usage: python bench/gate.py [TRIALS]. Prints two tables in Markdown; the same numbers every time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np

from exaequo.arrays import Floats
from exaequo.gating.bounds import tails
from exaequo.stats.tests import Setting

Random = np.random.Generator
BASELINE, SHARE, ALPHA = 0.5, 0.05, 0.05
MARGIN = SHARE * BASELINE
#: The random patterns of a test: fewer than a gate draws, which changes nothing to see here.
SETTING = Setting(samples=2000, alternative="greater")
_CHUNK = 1000


def normal(random: Random, size: tuple[int, int]) -> Floats:
    """Differences of mean 0 and deviation 1."""
    return random.normal(size=size)


def few_lose(random: Random, size: tuple[int, int]) -> Floats:
    """A few topics lose much: 1 − an exponential."""
    return 1 - random.exponential(size=size)


def few_gain(random: Random, size: tuple[int, int]) -> Floats:
    """A few topics gain much."""
    return random.exponential(size=size) - 1


def changed(random: Random, size: tuple[int, int]) -> Floats:
    """A third of the topics are as they were, the others normal, of deviation 1 in all."""
    return np.where(random.random(size) < 1 / 3, 0.0, random.normal(scale=np.sqrt(1.5), size=size))


def tenths(random: Random, size: tuple[int, int]) -> Floats:
    """Multiples of 0.1, as of P@10: a document lost on 3 of 8 topics, gained on 1 of 8; the mean is −0.025."""
    return random.choice([-0.1, 0.0, 0.1], p=[0.375, 0.5, 0.125], size=size)


def rare(random: Random, size: tuple[int, int]) -> Floats:
    """Everything is lost on one topic of twenty; the mean is −0.05."""
    return -(random.random(size) < 0.05).astype(np.float64)


#: Name, differences with a mean of exactly minus the margin, and that margin.
AT_THE_MARGIN: dict[str, tuple[Callable[[Random, tuple[int, int]], Floats], float]] = {
    "normal": (lambda random, size: 0.1 * normal(random, size) - MARGIN, MARGIN),
    "a few gain much": (lambda random, size: 0.1 * few_gain(random, size) - MARGIN, MARGIN),
    "a few lose much": (lambda random, size: 0.1 * few_lose(random, size) - MARGIN, MARGIN),
    "tenths": (tenths, MARGIN),
    "rare": (rare, 0.05),
}


def states(gaps: Floats, margin: float | Floats, test: str) -> tuple[float, float]:
    """Return how often rows of differences pass, and how often they are worse."""
    room = np.round(gaps + margin, 12)  # what is equal is exactly equal
    found = [tails(room[at : at + _CHUNK], test, SETTING) for at in range(0, len(room), _CHUNK)]
    p, p_worse = (np.concatenate(each) for each in zip(*found, strict=True))
    return float((p <= ALPHA).mean()), float((p_worse <= ALPHA).mean())


def verdicts(trials: int) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the first table: what the gate says with its usual margin."""
    for spread in (0.05, 0.1):
        for topics in (25, 50, 200):
            row = [f"{spread:g}", str(topics)]
            for loss in (0, MARGIN / 2, MARGIN, 2 * MARGIN):
                random = np.random.Generator(np.random.PCG64(1))
                gaps = spread * changed(random, (trials, topics)) - loss
                # The margin is a share of the mean that the baseline has on these topics.
                baseline = BASELINE + 0.25 * random.normal(size=(trials, topics))
                passed, worse = states(gaps, SHARE * baseline.mean(axis=1, keepdims=True), "t")
                row.append(f"{100 * passed:.0f} / {100 * (1 - passed - worse):.0f} / {100 * worse:.0f}")
            yield tuple(row)


def false_passes(trials: int) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the second table: how often a loss of just the margin passes."""
    for name, (draw, margin) in AT_THE_MARGIN.items():
        for test in ("t", "randomization", "bootstrap"):
            row = [name, test]
            for topics in (3, 5, 10, 25, 50):
                few = trials if test == "t" or topics > 3 else 2 * _CHUNK
                gaps = draw(np.random.Generator(np.random.PCG64(2)), (few, topics))
                row.append(f"{100 * states(gaps, margin, test)[0]:.1f}")
            yield tuple(row)


def table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    rule = tuple("---" if at < 2 else "---:" for at in range(len(heads)))
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rows))


def main(trials: int = 10_000) -> None:
    print(table(("deviation", "topics", "equal", "half the margin", "the margin", "twice"), verdicts(trials)))
    print()
    print(table(("differences", "test", "3", "5", "10", "25", "50"), false_passes(trials)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
