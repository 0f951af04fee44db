"""All pairs of 130 systems on 50 topics by the randomization test with 100,000 samples: seconds and memory.

Usage: python bench/comparison.py
"""

from __future__ import annotations

import json
import resource
import time

import numpy as np

from exaequo.stats.tests import Setting, randomization


def all_pairs(systems: int = 130, topics: int = 50, samples: int = 100_000) -> dict[str, float]:
    """Test all pairs of systems whose values are drawn at random; return seconds and peak memory."""
    source = np.random.Generator(np.random.PCG64(1))
    values = (
        source.random((systems, 1)) * 0.2 + source.random((1, topics)) * 0.5 + source.random((systems, topics)) * 0.3
    )
    first, second = np.triu_indices(systems, 1)
    start = time.perf_counter()
    p = randomization(values[second] - values[first], Setting(samples=samples))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"pairs": len(p), "seconds": round(seconds, 1), "peak MB": round(peak)}


if __name__ == "__main__":
    print(json.dumps(all_pairs()))
