"""Is a difference large enough to matter: equivalence by two one-sided tests, and the same question to Bayes.

With Jeffreys' prior the mean of normal differences has a posterior of Student's form around the observed mean, so the
chance that it lies below −margin is also p of the test that it does not: one calculation answers both schools.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from exaequo.arrays import Floats
from exaequo.stats.equality import TOLERANCE
from exaequo.stats.tests import steady


class Practical(NamedTuple):
    """For each pair the chances that the mean difference lies below −margin, within ±margin, above the margin."""

    below: Floats
    within: Floats
    above: Floats

    @property
    def p(self) -> Floats:
        """P of equivalence (TOST): the larger of the two one-sided p's."""
        return np.maximum(self.below, self.above)


def practical(gaps: Floats, margin: Floats) -> Practical:
    """Compare the mean of differences, pairs × topics, with a margin per pair.

    Where all n differences are the same, a tail is 2^-n (as for the sign test) instead of nothing.
    """
    from scipy.special import stdtr

    n, same = gaps.shape[1], steady(gaps)
    mean, error = gaps.mean(axis=1), gaps.std(axis=1, ddof=1) / np.sqrt(n)
    safe = np.where(same, 1.0, error)
    tails = []
    for apart in (mean + margin, margin - mean):  # how far inside the region each end lies
        certain = np.where(apart >= -TOLERANCE * margin, 0.5**n, 1 - 0.5**n)
        tails.append(np.where(same, certain, stdtr(n - 1, -apart / safe)))
    below, above = tails
    return Practical(below, np.maximum(1 - below - above, 0.0), above)
