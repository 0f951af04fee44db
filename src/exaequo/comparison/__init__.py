"""Is A really better than B: systems compared over topics. In: files. Out: a `Comparison`, a set of tables.

`values` evaluates, `pairs` tests, `views` looks at rankings, curves, topics and judges; the statistics are in `stats`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from exaequo.choices import COMPARE_MEASURES, COMPARED, HIGHEST_GRADE, PATTERNS
from exaequo.comparison import views
from exaequo.comparison.pairs import Plan, compare_pairs, systems_table
from exaequo.comparison.values import Values, collect
from exaequo.errors import BadParameter, DataWarning
from exaequo.evaluation import each_run
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.read import Qrels, QrelsLike, Run, RunLike, read_qrels, read_run
from exaequo.text import did_you_mean


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of a comparison; each table is a Polars frame.

    - `pairs`: for each measure and pair the difference with its interval, p, effect sizes, power, and the verdict.
    - `systems`: means with intervals, ranks, and letters: systems that share one cannot be told apart.
    - `correlations`: rankings of systems under two measures, or two strategies; `taus`: τ-b of measures as a square.
    - `inversions`: pairs that two measures put in opposite order. `extremes`: best and worst system of each measure.
    - `curves`: interpolated curves; `dominance`: which of two is never below the other.
    - `topics`: difficulty of each topic; `contrasts`: topics on which two systems differ most; `difficulty`: how much
      it depends on ties. `robustness`: how systems do on their worst topics.
    """

    values: Values
    plan: Plan
    pairs: pl.DataFrame
    systems: pl.DataFrame
    correlations: pl.DataFrame
    taus: pl.DataFrame
    inversions: pl.DataFrame
    extremes: pl.DataFrame
    curves: pl.DataFrame
    dominance: pl.DataFrame
    topics: pl.DataFrame
    contrasts: pl.DataFrame
    difficulty: pl.DataFrame
    robustness: pl.DataFrame
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables by name."""
        names = (
            "systems pairs extremes correlations taus inversions dominance curves topics contrasts difficulty".split()
        )
        return {name: getattr(self, name) for name in (*names, "robustness")}

    @property
    def verdicts(self) -> list[str]:
        """The verdict of each pair in a sentence."""
        return self.pairs["verdict"].to_list()


def compare(
    qrels: QrelsLike,
    runs: Sequence[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure] | str | Measure = COMPARE_MEASURES,
    *,
    baseline: str | None = None,
    test: str = "t",
    correction: str = "holm",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    ties: str | Sequence[str] = COMPARED,
    samples: int = PATTERNS,
    seed: int = 0,
    interval: str = "auto",
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    depth: int | None = None,
    missing: str = "zero",
    columns: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare runs over the topics of one collection.

    Args:
        qrels: as for `evaluate`.
        runs: two or more.
        measures: as for `evaluate`.
        baseline: the name or the file of the run all others are compared with; without it, all pairs.
        test: t, wilcoxon, sign, randomization or bootstrap.
        correction: none, bonferroni, holm, bh, by; or tukey, randomised-tukey, which replace the test.
        alternative: "two-sided", or "greater" to ask only whether a run is better than the baseline ("less": worse).
        alpha: level of the tests, after correction.
        ties: the strategies; the first counts, the others say whether a verdict depends on ties.
        samples: random patterns for randomization, bootstrap and randomised-tukey.
        seed: for all that is random.
        interval: t, bca or percentile; by default BCa with the bootstrap test, else Student's.
        rel_level: as for `evaluate`.
        max_grade: as for `evaluate`.
        depth: as for `evaluate`.
        missing: as for `evaluate`; "skip" leaves a topic that one run lacks out for all.
        columns: as for `evaluate`.
    """
    plan = Plan(baseline, test, correction, alternative, alpha, samples, seed, interval)
    options = Options.of(ties, rel_level=rel_level, max_grade=max_grade, depth=depth, missing=missing, seed=seed)
    judged = read_qrels(qrels, columns=columns)
    read = (read_run(run, name=name, columns=columns) for name, run in each_run(runs))
    result = compare_runs(judged, read, parse_measures(measures), options, plan)
    for warning in result.warnings:
        warnings.warn(warning, DataWarning, stacklevel=2)
    return result


def compare_runs(
    qrels: Qrels,
    runs: Iterable[Run],
    measures: Sequence[Measure],
    options: Options,
    plan: Plan,
    *,
    least: int = 2,
    watch: Callable[[Ordering], None] | None = None,
) -> Comparison:
    """Compare runs as they are read; warnings are collected, not given.

    With `least` 1, one run alone has no pairs. `watch` sees each run once it is sorted.
    """
    for measure in measures:
        if measure.aggregate == "gm":
            plain = Measure(measure.definition, measure.params)
            raise BadParameter(f"{measure} is one number per run; compare {plain}, and see the table `robustness`.")
    values = collect(qrels, runs, measures, options, least, watch)
    if plan.baseline is not None:
        plan = replace(plan, baseline=_named(plan.baseline, values))
    pairs = compare_pairs(values, plan)
    weak = plan.weakness(pairs.height // len(values.measures), len(values.topics))
    return Comparison(
        values=values,
        plan=plan,
        pairs=pairs,
        systems=systems_table(values, pairs, plan),
        correlations=views.correlations(values),
        taus=views.taus(values),
        inversions=views.inversions(values),
        extremes=views.extremes(values),
        curves=views.curves(values),
        dominance=views.dominance(values),
        topics=views.topics(values),
        contrasts=views.contrasts(values, plan.baseline),
        difficulty=views.difficulty(values),
        robustness=views.robustness(values),
        warnings=(*values.notes, *([weak] if weak else [])),
        options={
            **plan.as_dict(),
            "measures": [measure.name for measure in values.measures],
            "ties": list(values.ties),
            "topics": len(values.topics),
            "missing": options.missing,
            "rel_level": options.rel_level,
            "max_grade": None if options.max_grade == float("inf") else options.max_grade,
            "depth": options.depth,
        },
    )


def _named(baseline: str, values: Values) -> str:
    """Return the name of the run that is meant; its file stands for it too."""
    if baseline in values.systems:
        return baseline
    files = [os.path.normpath(file) for file in values.files]
    if os.path.normpath(baseline) in files:
        return values.systems[files.index(os.path.normpath(baseline))]
    hint = did_you_mean(baseline, values.systems) or f"; there are {', '.join(values.systems)}."
    raise BadParameter(f"There is no run {baseline!r} to be the baseline{hint}")
