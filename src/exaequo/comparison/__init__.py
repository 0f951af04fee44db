"""Is A really better than B: systems compared over topics. In: `Scores`. Out: a `Comparison`, a set of tables.

`plan` says how, `values` what is compared, `pairs` tests, `verdicts` says when *better* is said, `views` looks at
rankings, curves, topics and judges, `orders` at sorts by several keys and at what people prefer; the statistics are in
`stats`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Unpack

import polars as pl

from exaequo.choices import ALPHA, FAIR, MEASURES, PATTERNS
from exaequo.comparison import orders, views
from exaequo.comparison.margin import Margin
from exaequo.comparison.pairs import compare_pairs, systems_table
from exaequo.comparison.plan import Plan, tie_rule
from exaequo.comparison.values import besides, comparable, has_besides, refuse_geometric, reported
from exaequo.comparison.verdicts import method
from exaequo.errors import BadParameter
from exaequo.evaluation import Judged, evaluate_runs, judged_runs, warn
from exaequo.measures import Measure, parse_measures
from exaequo.options import Evaluation, Options, keywords
from exaequo.order import Ordering
from exaequo.read import QrelsLike, RunLike, read_qrels, read_runs
from exaequo.read.orderings import OrderingsLike, Preference, read_orderings
from exaequo.scores import Scores
from exaequo.tabular import Tabled
from exaequo.text import did_you_mean


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabled):
    """The result of a comparison; each table is a Polars frame.

    - `pairs`: for each measure and pair the outcome, the difference with its interval, p, effect sizes, power, what
      each strategy says, and the verdict in a sentence.
    - `systems`: means with intervals, ranks, and letters: systems that share one cannot be told apart.
    - `correlations`: rankings of systems under two measures, or two strategies; `taus`: τ-b of measures as a square.
    - `inversions`: pairs that two measures put in opposite order. `extremes`: best and worst system of each measure.
    - `curves`: interpolated curves; `dominance`: which of two is never below the other.
    - `topics`: difficulty of each topic; `contrasts`: topics on which two systems differ most; `difficulty`: how much
      it depends on ties. `robustness`: how systems do on their worst topics.
    - where asked for, `orders`: ranks by each measure and by each sort; `sorts`: how far measures order systems as a
      sort does; `orderings`: how far they do as people do.
    """

    shown = ("systems",)
    scores: Scores
    plan: Plan
    systems: pl.DataFrame
    pairs: pl.DataFrame
    extremes: pl.DataFrame
    correlations: pl.DataFrame
    taus: pl.DataFrame
    inversions: pl.DataFrame
    dominance: pl.DataFrame
    curves: pl.DataFrame
    topics: pl.DataFrame
    contrasts: pl.DataFrame
    difficulty: pl.DataFrame
    robustness: pl.DataFrame
    orders: pl.DataFrame | None = None
    sorts: pl.DataFrame | None = None
    orderings: pl.DataFrame | None = None
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> int:
        """How many pairs are corrected for together."""
        return self.pairs.height // (1 if self.plan.jointly else len(self.scores.measures))

    @cached_property
    def method(self) -> list[str]:
        """How the verdicts were found, in lines."""
        return method(self.plan, self.scores, self.family)

    @property
    def sentences(self) -> list[str]:
        """How the verdicts were found, and these, the smallest p first."""
        return [*self.method, *self.pairs.sort("corrected_p", maintain_order=True)["verdict"]]

    @property
    def verdicts(self) -> list[str]:
        """The verdict of each pair in a sentence."""
        return self.pairs["verdict"].to_list()


def compare(
    qrels: QrelsLike,
    runs: Sequence[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure] | str | Measure = MEASURES,
    *,
    ties: str | Sequence[str] = FAIR,
    baseline: str | None = None,
    test: str = "t",
    correction: str = "holm",
    alternative: str = "two-sided",
    alpha: float = ALPHA,
    samples: int = PATTERNS,
    interval: str = "auto",
    single: bool = False,
    jointly: bool = False,
    margin: str | float | None = None,
    rank_by: str | Iterable[Any] = (),
    orderings: OrderingsLike = (),
    **options: Unpack[Evaluation],
) -> Comparison:
    """Compare runs over the topics of one collection.

    Args:
        qrels: as for `evaluate`.
        runs: two or more.
        measures: as for `evaluate`.
        ties: when a run is called better or worse. "fair": where realistic, expected and optimistic orders agree,
            else ties decide. "robust": where it holds with one run at its worst and the other at its best. A strategy:
            by that alone; several: where they agree. Means are realistic, or those of the first strategy.
        baseline: the name or the file of the run all others are compared with; without it, all pairs.
        test: t, wilcoxon, sign, randomization or bootstrap.
        correction: none, bonferroni, holm, bh, by, or a method of statsmodels' `multipletests`; or tukey,
            randomised-tukey, nemenyi, dunnett (against a baseline), which replace the test.
        alternative: "two-sided", or "greater" to ask only whether a run is better than the baseline ("less": worse).
        alpha: level of the tests, after correction.
        samples: random patterns for randomization, bootstrap and randomised-tukey.
        interval: t, bca or percentile; by default BCa with the bootstrap test, else Student's.
        single: intervals of each pair by itself; by default all hold together, as p is corrected.
        jointly: correct over all measures together; by default each measure is a family of its own.
        margin: what is practically no difference, as 0.01 or "1%" of the first run: adds a test of equivalence and the
            chances, after Bayes, that a run is worse, equivalent, better.
        rank_by: keys to sort systems by, as "R@100,Width@100,AP@100", or several such; adds `orders` and `sorts`.
        orderings: orders people put the systems in, as files or `{judge: {system: rank}}`; adds `orderings`.
        options: as for `evaluate`; `missing="skip"` leaves a topic that one run lacks out for all.
    """
    asked, rule = tie_rule(ties)
    plan = Plan(
        baseline=baseline,
        test=test,
        correction=correction,
        alternative=alternative,
        alpha=alpha,
        samples=samples,
        seed=options.get("seed", 0),
        interval=interval,
        ties=rule,
        single=single,
        jointly=jointly,
        margin=None if margin is None else Margin.of(margin),
    )
    reading, given = keywords("compare", options)
    chosen, parsed = Options(ties=asked, **given), parse_measures(measures)
    by, people = orders.sorts_of(rank_by), read_orderings(orderings)
    judged = judged_runs(read_qrels(qrels, **reading), read_runs(runs, **reading), chosen, parsed)
    result = with_orders(compare_runs(judged, parsed, chosen, plan, also=orders.keys_of(by, parsed)), by, people)
    warn(result.warnings)
    return result


_GEOMETRIC = "; compare {plain}, and see the table `robustness`."


def compare_runs(
    runs: Iterable[Judged],
    measures: Sequence[Measure],
    options: Options,
    plan: Plan,
    *,
    least: int = 2,
    also: Sequence[Measure] = (),
    facts: Callable[[Ordering], Any] | None = None,
) -> Comparison:
    """Compare runs as they are judged; warnings are collected, not given; with `least` 1 one run has no pairs.

    `also` are measures to compute besides.
    """
    refuse_geometric(measures, _GEOMETRIC)  # before the work
    more = tuple(dict.fromkeys((*besides(), *also)))
    return compare_scores(evaluate_runs(runs, measures, options, also=more, facts=facts), plan, least=least)


def with_orders(result: Comparison, by: Sequence[orders.Sort], people: Sequence[Preference]) -> Comparison:
    """Add how systems stand by several keys in turn, and how people order them, if any are given."""
    if by:
        result = replace(result, orders=orders.orders(result.scores, by), sorts=orders.sorts(result.scores, by))
    if people:
        plan = result.plan
        table, notes = orders.orderings(result.scores, people, seed=plan.seed, alpha=plan.alpha)
        result = replace(result, orderings=table, warnings=(*result.warnings, *notes))
    return result


def compare_scores(scores: Scores, plan: Plan, *, least: int = 2) -> Comparison:
    """Compare what has been evaluated; curves and robustness are empty without the measures of `values.besides`."""
    refuse_geometric(scores.measures, _GEOMETRIC)
    scores, notes = comparable(scores, least=least)
    if plan.baseline is not None:
        plan = replace(plan, baseline=_named(plan.baseline, scores))
    pairs = compare_pairs(scores, plan)
    weak = plan.weakness(pairs.height // len(scores.measures), len(scores.shared), len(scores.measures))
    whole = has_besides(scores)
    return Comparison(
        scores=scores,
        plan=plan,
        pairs=pairs,
        systems=systems_table(scores, pairs, plan),
        contrasts=views.contrasts(scores, plan.baseline),
        **{view.__name__: view(scores) for view in views.OF_SCORES},
        **{view.__name__: view(scores) if whole else pl.DataFrame() for view in views.OF_BESIDES},
        warnings=(*scores.remarks, *notes, *([weak] if weak else [])),
        options={
            **asdict(plan),
            "margin": None if plan.margin is None else str(plan.margin),
            "verdicts": plan.ties,
            "measures": [measure.name for measure in scores.measures],
            "ties": scores.ties,
            "topics": len(scores.shared),
            **reported(scores),
        },
    )


def _named(baseline: str, scores: Scores) -> str:
    """Return the name of the run that is meant; its file stands for it too."""
    if baseline in scores.runs:
        return baseline
    files = {os.path.normpath(each["file"]): each["name"] for each in reversed(scores.inputs.get("runs", ()))}
    if os.path.normpath(baseline) in files:
        return str(files[os.path.normpath(baseline)])
    hint = did_you_mean(baseline, scores.runs) or f"; there are {', '.join(scores.runs)}."
    raise BadParameter(f"There is no run {baseline!r} to be the baseline{hint}")
