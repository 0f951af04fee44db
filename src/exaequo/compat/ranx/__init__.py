"""A drop-in for what ranx evaluates: `Qrels`, `Run`, `evaluate`, `compare`, its metrics and its report.

    from exaequo.compat.ranx import Qrels, Run, evaluate, compare

Figures are those of the original, the order of ties included; `ties="realistic"` makes them fair. Fusion and
normalisation make runs and are not here: use ranx for them, and give its runs to `evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from typing import Any, NoReturn

import numpy as np

from exaequo.arrays import Floats
from exaequo.compat import default_ties
from exaequo.compat.ranx import metrics as metrics
from exaequo.compat.ranx.metrics import parsed, values
from exaequo.compat.ranx.records import Qrels, Run
from exaequo.compat.ranx.report import TESTS, Pairs, Report
from exaequo.errors import BadParameter, ExaequoError
from exaequo.options import check_choice
from exaequo.stats.joint import range_tail
from exaequo.stats.tests import MOST_EXACT, Setting, randomization, student

__all__ = ["Qrels", "Report", "Run", "compare", "evaluate", "fuse", "normalize", "optimize_fusion", "plot"]


def evaluate(
    qrels: Any,
    run: Any,
    metrics: Sequence[str] | str,
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,  # noqa: ARG001 - there is nothing to share out
    save_results_in_run: bool = True,
    make_comparable: bool = False,
    *,
    ties: str | None = None,
) -> Any:
    """Return the mean of a metric, or a dict of several; without `return_mean`, arrays of one value per topic."""
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if make_comparable and isinstance(qrels, Qrels) and isinstance(run, Run):
        run.make_comparable(qrels)
    ties = default_ties("input") if ties is None else ties
    found = dict(zip(names, values(qrels, run, list(map(parsed, names)), ties), strict=True))
    if isinstance(run, Run) and save_results_in_run:
        for name, each in found.items():
            run.mean_scores[name] = float(np.mean(each))
            run.scores[name].update(zip(run.keys(), each, strict=True))
            if return_std and return_mean:
                run.std_scores[name] = float(np.std(each))
    summed = {name: _mean(each, return_std) if return_mean else each for name, each in found.items()}
    return summed[names[0]] if len(names) == 1 else summed


def _mean(each: Floats, return_std: bool) -> Any:
    return {"mean": np.mean(each), "std": np.std(each)} if return_std else np.mean(each)


def compare(
    qrels: Qrels,
    runs: Sequence[Run],
    metrics: Sequence[str] | str,
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    make_comparable: bool = False,
    *,
    ties: str | None = None,
) -> Report:
    """Evaluate runs, test all pairs, and return a report."""
    check_choice("stat_test", stat_test, [*TESTS])
    asked = [metrics] if isinstance(metrics, str) else list(metrics)
    names = [run.name if run.name is not None else f"run_{at}" for at, run in enumerate(runs, 1)]
    if len(set(names)) < len(names):
        raise BadParameter(f"Runs need different names. Got {', '.join(names)} instead; set run.name.")
    found: dict[str, dict[str, Floats]] = {}
    for name, run in zip(names, runs, strict=True):
        each = evaluate(qrels, run, asked, False, threads=threads, make_comparable=make_comparable, ties=ties)
        found[name] = {asked[0]: each} if len(asked) == 1 else each
    tables = {metric: np.stack([found[name][metric] for name in names]) for metric in asked}
    setting = Setting(samples=n_permutations, seed=random_seed)
    p_values = {metric: _TESTED[stat_test](table, setting) for metric, table in tables.items()}
    tested = Pairs()
    for at, pair in enumerate(combinations(names, 2)):
        own = {metric: float(p[at]) for metric, p in p_values.items()}
        tested[frozenset(pair)] = {metric: {"p_value": p, "significant": p <= max_p} for metric, p in own.items()}
    wins = {
        (one, two): {metric: _wins(found[one][metric] - found[two][metric]) for metric in asked}
        for one, two in permutations(names, 2)
    }
    means = {name: {metric: float(np.mean(found[name][metric])) for metric in asked} for name in names}
    return Report(names, means, tested, asked, max_p, wins, rounding_digits, show_percentages, stat_test)


def _wins(gaps: Floats) -> dict[str, int]:
    return {"W": int((gaps > 0).sum()), "T": int((gaps == 0).sum()), "L": int((gaps < 0).sum())}


def _gaps(table: Floats) -> Floats:
    """Return the differences of all pairs, a row each."""
    first, second = np.triu_indices(len(table), 1)
    return np.asarray(table[first] - table[second])


def _fisher(table: Floats, setting: Setting) -> Floats:
    """Return the share of permutations that go as far, as ranx has it: the observed one is not among those drawn."""
    p = randomization(_gaps(table), setting)
    drawn = setting.samples
    return p if table.shape[1] <= MOST_EXACT else (p * (drawn + 1) - 1) / drawn


def _tukey(table: Floats, setting: Setting) -> Floats:  # noqa: ARG001 - nothing is drawn
    """Return Tukey's HSD of one way, as ranx has it: topics are taken as independent samples, not as blocks."""
    models, n = table.shape
    error = np.sqrt(table.var(axis=1, ddof=1).mean() / n)
    apart = np.abs(_gaps(table).mean(axis=1))
    tails = [range_tail(gap / error, models, models * (n - 1)) if error else float(gap == 0) for gap in apart]
    return np.array(tails)


_TESTED: dict[str, Callable[[Floats, Setting], Floats]] = {
    "student": lambda table, setting: student(_gaps(table), setting),
    "fisher": _fisher,
    "tukey": _tukey,
}


def _refuse(name: str, instead: str) -> Callable[..., NoReturn]:
    def refused(*_: Any, **__: Any) -> NoReturn:
        raise ExaequoError(f"exaequo evaluates runs and has no {name}: {instead}")

    return refused


_RANX = "make the run with ranx.{}, and evaluate it here; a ranx.Run is taken as it is."
fuse = _refuse("fuse", _RANX.format("fuse"))
normalize = _refuse("normalize", _RANX.format("normalize"))
optimize_fusion = _refuse("optimize_fusion", _RANX.format("optimize_fusion"))
plot = _refuse("plot of ranx", "exaequo.plot.curve draws precision at recall.")
