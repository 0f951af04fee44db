"""Works on arrays: lists that are judged throughout, and tests over all pairs. Out: calls, as those of `tools`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tools import Call

# ------------------------------------------------------------------------------------------- lists judged throughout


def _matrix() -> tuple[Any, Any]:
    random = np.random.Generator(np.random.PCG64(1))
    return random.integers(0, 3, (1000, 100)), random.permuted(np.tile(np.arange(100.0), (1000, 1)), axis=1)


def sklearn_matrix(_: Path) -> Call:
    from sklearn.metrics import ndcg_score

    grades, scores = _matrix()
    return lambda: {"nDCG": float(ndcg_score(grades, scores))}


def ours_matrix(_: Path) -> Call:
    import polars as pl

    import exaequo

    grades, scores = _matrix()
    topics, documents = (np.arange(size) for size in grades.shape)

    def call() -> dict[str, float]:
        ids = {"qid": topics.repeat(len(documents)), "docno": np.tile(documents, len(topics))}
        qrels, run = pl.DataFrame({**ids, "rel": grades.ravel()}), pl.DataFrame({**ids, "sim": scores.ravel()})
        return {"nDCG": exaequo.evaluate(qrels, run, "nDCG").mean("nDCG")}

    return call


# ---------------------------------------------------------------------------------------------- tests over all pairs


def _differences() -> Any:
    values = np.random.Generator(np.random.PCG64(1)).random((10, 50))
    first, second = np.triu_indices(len(values), 1)
    return values[second] - values[first]


def ours_permutation(_: Path) -> Call:
    from exaequo.stats.tests import Setting, randomization

    differences = _differences()
    return lambda: {"p": float(np.mean(randomization(differences, Setting(samples=10_000))))}


def scipy_permutation(_: Path) -> Call:
    from scipy.stats import permutation_test

    differences, how = _differences(), {"permutation_type": "samples", "n_resamples": 10_000, "vectorized": True}

    def call() -> dict[str, float]:
        found = permutation_test((differences,), np.mean, **how, axis=-1, batch=500, rng=1)
        return {"p": float(np.mean(found.pvalue))}

    return call
