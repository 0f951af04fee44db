"""Many comparisons at once: corrected p's, and groups that cannot be told apart."""

from __future__ import annotations

import string
from collections.abc import Callable
from functools import partial
from itertools import compress

import numpy as np

from exaequo.arrays import Bools, Floats
from exaequo.choices import LIBRARY_CORRECTIONS
from exaequo.errors import ExaequoError
from exaequo.options import check_choice


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


def corrected(name: str, p: Floats, alpha: float) -> Floats:
    """Return p corrected by one of ours or of statsmodels; alpha counts for those that estimate from it."""
    if name in CORRECTIONS:
        return CORRECTIONS[name](p)
    check_choice("correction", name, (*CORRECTIONS, *LIBRARY_CORRECTIONS))
    try:
        from statsmodels.stats.multitest import multipletests
    except ImportError:
        raise ExaequoError(f"The correction {name} needs statsmodels: pip install 'exaequo[stats]'") from None
    return np.asarray(multipletests(p, alpha, method=name)[1], dtype=np.float64) if len(p) else p


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
