"""How often the interval of all together covers the truth: the table of docs/budget.md, from simulated collections.

Usage: python bench/covering.py
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from exaequo.budgeting.ends import Ends
from exaequo.budgeting.intervals import Drawing, drawn
from exaequo.residuals import BOUNDS
from exaequo.stats.tests import Setting

COLLECTIONS, SAMPLES = 2000, 1000
TOPICS = (10, 25, 50, 100)
#: How far apart the ends of a topic are at most; 2/7 of it on average.
OPEN = (0.0, 0.1, 0.5)


def covered(topics: int, most: float) -> Iterator[str]:
    """Yield how often, in percent, bootstrap and Student cover a truth at the least values, between, at the most."""
    random = np.random.default_rng(topics)
    low = random.beta(0.6, 1.2, (COLLECTIONS, topics)) / 2
    wide = random.beta(2, 5, (COLLECTIONS, topics)) * most
    rows = [
        Ends(own, *(np.stack((own, own + more)),) * 3, (BOUNDS,) * 3, own) for own, more in zip(low, wide, strict=True)
    ]
    found = drawn(rows, Drawing(0.05, Setting(samples=SAMPLES)))
    for where in (0.0, 0.5, 1.0) if most else (0.0,):
        truth = 0.5 / 3 + where * most * 2 / 7
        both = [np.mean((ends[0] <= truth) & (truth <= ends[1])) for ends in (found.together, found.wide_student)]
        yield " / ".join(f"{100 * share:.1f}" for share in both)


if __name__ == "__main__":
    for topics in TOPICS:
        print("|", " | ".join([str(topics), *(figure for most in OPEN for figure in covered(topics, most))]), "|")
