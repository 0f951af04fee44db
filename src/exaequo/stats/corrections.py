"""Many comparisons at once: corrected p's, the two forms of Tukey's HSD, and groups that cannot be told apart."""

from __future__ import annotations

import string
from collections.abc import Callable
from functools import partial
from itertools import compress

import numpy as np

from exaequo.judge import Bools, Floats
from exaequo.stats.tests import Setting

_CHUNK = 1 << 22
#: So many studentized ranges are computed one by one; beyond `FARTHEST` their tail is as good as nothing.
MOST_RANGES, FARTHEST = 300, 30.0


def none(p: Floats) -> Floats:
    """Return p as it is."""
    return p


def bonferroni(p: Floats) -> Floats:
    """Return p times the number of comparisons."""
    return np.minimum(p * len(p), 1.0)


def holm(p: Floats) -> Floats:
    """Return p corrected step by step, the smallest first."""
    order = np.argsort(p, kind="stable")
    stepped: Floats = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return stepped[np.argsort(order)]


def _false_discoveries(p: Floats, method: str) -> Floats:
    """Return p for a bound on the share of false discoveries."""
    from scipy.stats import false_discovery_control

    result: Floats = false_discovery_control(p, method=method) if len(p) else p
    return result


#: Where tests are independent or go together; and whatever they depend on.
benjamini_hochberg = partial(_false_discoveries, method="bh")
benjamini_yekutieli = partial(_false_discoveries, method="by")

CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "none": none,
    "bonferroni": bonferroni,
    "holm": holm,
    "bh": benjamini_hochberg,
    "by": benjamini_yekutieli,
}


def blocked_error(values: Floats) -> float:
    """Return the residual variance of systems × topics once the effects of both are taken out."""
    k, n = values.shape
    rest = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    return float((rest**2).sum() / ((k - 1) * (n - 1))) if k > 1 and n > 1 else float("nan")


def tukey(values: Floats) -> Floats:
    """Return p of each pair by Tukey's honestly significant difference, blocked by topic (two-way, no interaction)."""
    from scipy.stats import studentized_range

    k, n = values.shape
    first, second = np.triu_indices(k, 1)
    gap = np.abs(values.mean(axis=1)[first] - values.mean(axis=1)[second])
    error = np.sqrt(blocked_error(values) / n)
    if not error > 0:
        return np.where(gap == 0, 1.0, 0.0)
    ratios = gap / error
    freedom = (k - 1) * (n - 1)
    if len(ratios) <= MOST_RANGES:
        p = studentized_range.sf(ratios, k, freedom)
    else:  # the library takes a hundredth of a second for each: a spline through some of them is good to 1e-6
        from scipy.interpolate import CubicSpline

        some = np.linspace(0.0, min(float(ratios.max()), FARTHEST), MOST_RANGES)
        p = CubicSpline(some, studentized_range.sf(some, k, freedom))(np.minimum(ratios, FARTHEST))
    return np.where(gap == 0, 1.0, np.clip(p, 0.0, 1.0))


def randomised_tukey(values: Floats, setting: Setting) -> Floats:
    """Return p of each pair by the randomised HSD: scores of a topic are dealt to the systems anew.

    p is how often the largest difference between any two means reaches that of the pair (Carterette, ACM TOIS 30(1),
    2012).
    """
    k, n = values.shape
    first, second = np.triu_indices(k, 1)
    means = values.mean(axis=1)
    gap = np.abs(means[first] - means[second])
    source = np.random.Generator(np.random.PCG64(setting.seed))
    largest = np.empty(setting.samples)
    rows = max(1, _CHUNK // values.size)
    for start in range(0, setting.samples, rows):
        size = min(rows, setting.samples - start)
        dealt = source.permuted(np.broadcast_to(values, (size, k, n)), axis=1).mean(axis=2)
        largest[start : start + size] = np.ptp(dealt, axis=1)
    largest.sort()
    reached = setting.samples - np.searchsorted(largest, gap - 1e-12 * np.abs(values).max(initial=0))
    return np.where(gap == 0, 1.0, (reached + 1) / (setting.samples + 1))


def letters(means: Floats, different: Bools) -> list[str]:
    """Return letters for each system so that two systems share one if and only if they are not told apart.

    `different` is systems × systems. Each letter is a largest group that holds a pair not covered yet and no two
    systems that differ; the best system has an `a`.
    """
    order = np.argsort(-means, kind="stable")
    alike = ~different
    covered = np.zeros_like(different)
    columns: list[Bools] = []
    for place, one in enumerate(order):
        for two in order[place:]:
            if not alike[one, two] or covered[one, two]:
                continue
            group = np.zeros(len(means), dtype=bool)
            group[[one, two]] = True
            fitting = alike[one] & alike[two]
            for other in order:
                if fitting[other] and not group[other]:
                    group[other] = True
                    fitting &= alike[other]
            covered |= np.outer(group, group)
            columns.append(group)
    columns.sort(key=lambda column: int(np.flatnonzero(column[order])[0]))
    names = [*string.ascii_lowercase, *(f"({at + 1})" for at in range(26, len(columns)))]
    return ["".join(compress(names, (column[system] for column in columns))) for system in range(len(means))]
