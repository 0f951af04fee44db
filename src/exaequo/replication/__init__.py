"""How far a reproduction agrees with the original: orders, scores, effects. In: judgments, runs. Out: a `Replication`.

T. Breuer, N. Ferro, N. Fuhr, M. Maistro, T. Sakai, P. Schaer, I. Soboroff: How to measure the reproducibility of
system-oriented IR experiments, SIGIR 2020. Runs are compared pair by pair, in the order they are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Unpack

import numpy as np
import polars as pl

from exaequo.choices import MEASURES, RBO_P
from exaequo.comparison.values import refuse_geometric
from exaequo.errors import BadParameter
from exaequo.evaluation import evaluate_runs, judged_runs, prepared, warn
from exaequo.language import say, word
from exaequo.measures import Measure, parse_measures
from exaequo.options import Evaluation, Options, keywords, one_strategy
from exaequo.read import Qrels, QrelsLike, Run, RunsLike, read_qrels, read_runs
from exaequo.remarks import remarks_on_judgments
from exaequo.replication.experiments import Experiments, baseline_of, both_of, noted
from exaequo.replication.levels import effects_of, headers_of, orders_of, runs_of
from exaequo.stats.equality import TOLERANCE
from exaequo.tabular import Tabled, cell_text, plain
from exaequo.text import count


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """What is compared with what: the baseline among the originals, p of rank-biased overlap, cut-offs of lists."""

    baseline: str | None = None
    p: float = RBO_P
    cutoffs: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise BadParameter(f"p must be a number between 0 and 1. Got {self.p} instead.")
        if any(isinstance(each, bool) or not isinstance(each, int) or each < 1 for each in self.cutoffs):
            raise BadParameter(f"cutoffs must be whole numbers ≥ 1. Got {self.cutoffs} instead.")


@dataclass(frozen=True, eq=False, repr=False)
class Replication(Tabled):
    """What became of an experiment; each table is a Polars frame. One on other judgments has no `orders` and `topics`.

    - `orders`: for each pair of runs Kendall's τ and rank-biased overlap of their lists, means over topics, for whole
      lists (`cutoff` null) and each cut-off; `topics` is how many: those where both have a list that τ is defined on.
    - `runs`: for each pair and measure both means, RMSE and nRMSE over topics, and p of a t-test.
    - `effects`: for each advanced run and measure its mean improvement over the baseline in both experiments, the
      effect ratio ER, both relative improvements and their difference ΔRI; better is above 0.
    - `topics`: for each pair and topic τ, RBO, and the difference of each measure.
    - `headers`: for each pair whose files have metadata, what differs: a capital letter of `primad`.
    """

    shown = ("runs", "orders", "effects")
    runs: pl.DataFrame
    orders: pl.DataFrame
    effects: pl.DataFrame
    topics: pl.DataFrame
    headers: pl.DataFrame
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """What there is to say about each pair, then about each effect."""
        orders = {row["original"]: row for row in self.orders.to_dicts() if row["cutoff"] is None}
        said = []
        for (original, reproduced), rows in self.runs.group_by("original", "reproduced", maintain_order=True):
            order = orders.get(str(original))
            parts = [] if order is None else [f"τ {cell_text(order['tau'])}, RBO {cell_text(order['rbo'])}"]
            parts += map(_scores_in_words, rows.to_dicts())
            what = {"reproduced": reproduced, "original": original, "figures": word("; ").join(parts)}
            said.append(say("{reproduced} for {original}: {figures}", **what))
        return [*said, *map(_effect_in_words, self.effects.to_dicts())]


def _scores_in_words(row: Mapping[str, Any]) -> str:
    means = f"{row['measure']} {cell_text(row['mean'])} → {cell_text(row['mean_reproduced'])}"
    rmse = f"RMSE {cell_text(row['rmse'])}, " if "rmse" in row else ""
    return f"{means} ({rmse}p {cell_text(row['p'])})"


def _effect_in_words(row: Mapping[str, Any]) -> str:
    ratio = row["effect_ratio"]
    verdict = say("there was none to begin with")
    if not np.isnan(ratio):
        names = (
            (ratio <= 0, say("it is gone")),
            (ratio < 1 - TOLERANCE, say("it is smaller")),
            (ratio > 1 + TOLERANCE, say("it is larger")),
        )
        verdict = next((words for holds, words in names if holds), say("it is the same"))
    return say(
        "{advanced} over {baseline}, {measure}: improvement {gains}, effect ratio {ratio}, ΔRI {delta}: {verdict}",
        advanced=row["advanced"],
        baseline=row["baseline"],
        measure=row["measure"],
        gains=f"{cell_text(row['improvement'])} → {cell_text(row['improvement_reproduced'])}",
        ratio=cell_text(ratio),
        delta=cell_text(row["delta_ri"]),
        verdict=verdict,
    )


def replicate(
    qrels: QrelsLike,
    originals: RunsLike,
    reproductions: RunsLike,
    measures: Iterable[str | Measure] | str | Measure = MEASURES,
    *,
    with_qrels: QrelsLike | None = None,
    baseline: str | None = None,
    ties: str = "realistic",
    p: float = RBO_P,
    cutoffs: Sequence[int] = (),
    **options: Unpack[Evaluation],
) -> Replication:
    """Tell how far runs agree with those they reproduce, the first with the first, the second with the second, ….

    Args:
        qrels: as for `evaluate`.
        originals: one run or more.
        reproductions: as many.
        measures: as for `evaluate`.
        with_qrels: judgments of the reproductions, where they are of another collection; then scores and effects are
            compared, but no lists and no topics.
        baseline: the name or the file of the original that the others improve on; by default the first.
        ties: the strategy that orders tied documents.
        p: how far down rank-biased overlap looks.
        cutoffs: also compare lists cut at these ranks.
        options: as for `evaluate`.
    """
    plan = Comparing(baseline=baseline, p=p, cutoffs=tuple(cutoffs))
    reading, given = keywords("replicate", options)
    chosen, parsed = Options.of(one_strategy(ties), **given), parse_measures(measures)
    judgments = [read_qrels(each, **reading) for each in (qrels, with_qrels) if each is not None]
    runs = [read_runs(each, **reading) for each in (originals, reproductions)]
    result = replicate_runs(judgments, runs, parsed, chosen, plan)
    warn(result.warnings)
    return result


def replicate_runs(
    judgments: Sequence[Qrels],
    runs: Sequence[Iterable[Run]],
    measures: Sequence[Measure],
    options: Options,
    plan: Comparing,
) -> Replication:
    """Compare original runs and reproductions, as they are read; warnings are collected, not given.

    `judgments` are of both experiments, or of each.
    """
    refuse_geometric(measures, "; take {plain}.")
    same = len(judgments) == 1
    ready = [prepared(each, options) for each in judgments]
    remarks = [said for each in ready for said in remarks_on_judgments(each, measures)]
    note = partial(noted, options=options, lists=same)
    first, second = (
        evaluate_runs(judged_runs(each, own, options), measures, options, facts=note)
        for each, own in zip((ready * 2)[:2], runs, strict=True)
    )
    both = both_of(first, second, same=same)
    for scores in (first, second):
        remarks += scores.warnings
    orders, topics = orders_of(both, plan.p, plan.cutoffs) if same else (pl.DataFrame(), pl.DataFrame())
    headers, said = headers_of(both)
    return Replication(
        runs=runs_of(both),
        orders=orders,
        effects=effects_of(both, baseline_of(plan.baseline, both)),
        topics=topics,
        headers=headers,
        warnings=(*dict.fromkeys(remarks), *_left_out(both), *said),
        options={
            **asdict(plan),
            "same_collection": same,
            "test": "paired t-test" if same else "unpaired t-test, equal variances",
            "measures": [measure.name for measure in measures],
            "topics": [len(both.shared)] * 2 if same else [len(each.shared) for each in (first, second)],
            **{name: plain(value) for name, value in asdict(options).items() if name != "samples"},
            "ties": options.ties[0],
        },
    )


def _left_out(both: Experiments) -> list[str]:
    """Say which measures have fewer topics than there are, because a run has no value."""
    if not both.same:
        return []
    here = len(both.scores[0].evaluated)
    known = {measure: len(both.values(measure)[2]) for measure in both.scores[0].measures}
    return [
        f"{measure}: {count(here - topics, 'topic')} left out for all runs, where one has no value"
        for measure, topics in known.items()
        if topics < here
    ]
