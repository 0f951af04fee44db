"""Designing a collection from a pilot: how many topics, and which measure tells systems apart at which cost.

In: judgments and runs, or a variance. Out: a `Design`, a set of tables; the statistics are in `stats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Unpack

import numpy as np
import polars as pl

from exaequo.arrays import Floats
from exaequo.choices import ALPHA, MEASURES, PATTERNS
from exaequo.comparison.values import comparable, refuse_geometric
from exaequo.errors import BadParameter
from exaequo.evaluation import Judged, evaluate_runs, judged_runs, warn
from exaequo.language import say, strategy
from exaequo.measures import Measure, parse_measures
from exaequo.options import Evaluation, Options, keywords
from exaequo.read import QrelsLike, RunLike, read_qrels, read_runs
from exaequo.scores import Scores
from exaequo.stats import topicsets
from exaequo.stats.anova import Anova, Mixed, anova, friedman, mixed, within_error
from exaequo.stats.joint import Joint, randomised_tukey
from exaequo.stats.power import POWER
from exaequo.stats.tests import Setting
from exaequo.tabular import Tabled

#: The difference between two means that a collection is to show, unless told otherwise.
DIFFERENCES = (0.05,)


@dataclass(frozen=True, kw_only=True)
class Aims:
    """What a collection is to show, and how sure.

    `systems` is how many will be compared, by default as many as in the pilot; `unpaired` means that each has topics of
    its own.
    """

    differences: tuple[float, ...] = DIFFERENCES
    systems: int | None = None
    alpha: float = ALPHA
    power: float = POWER
    unpaired: bool = False
    samples: int = PATTERNS
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.differences:
            raise BadParameter("No difference is given; 0.05 is usual.")
        for difference in self.differences:
            topicsets.check(difference, 0.0, self.alpha, self.power, 2 if self.systems is None else self.systems)
        Setting(self.samples, self.seed)

    def __str__(self) -> str:
        """Say how sure, and whether systems share their topics."""
        shared = say("each system has topics of its own") if self.unpaired else say("systems share their topics")
        return say("alpha {alpha:g}, power {power:g}, {shared}", alpha=self.alpha, power=self.power, shared=shared)


@dataclass(frozen=True, eq=False, repr=False)
class Design(Tabled):
    """What a pilot says of a collection to come; each table is a Polars frame.

    - `measures`: for each the variance of scores, what share of it are systems and topics, whether systems differ
      (F, Friedman), how many pairs it tells apart, and the topics and documents that takes.
    - `sizes`: topics needed for each difference: by a t-test of two systems, by the F-test of several whose best and
      worst are so far apart, and for an interval so wide.
    - `anova`: systems × topics. `variances`: components of the mixed model; `mixed`: its means of systems.
    - `asl`: p of each pair by the randomised HSD, highest first: the curve of achieved significance levels.
    """

    shown = ("measures: measure f_p friedman_p told_apart_percent topics_for_half depth documents", "sizes")
    scores: Scores
    aims: Aims
    measures: pl.DataFrame
    sizes: pl.DataFrame
    anova: pl.DataFrame
    variances: pl.DataFrame
    mixed: pl.DataFrame
    asl: pl.DataFrame
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> list[str]:
        """What was looked at, and which measures tell most apart, for the least."""
        aims, runs = self.aims, len(self.scores.runs)
        seen = say(
            "{runs:,} {runs:run|runs}, {topics:,} {topics:topic|topics}, {ties} ties",
            runs=runs,
            topics=len(self.scores.shared),
            ties=strategy(self.scores.ties[0]),
        )
        how = say("randomised Tukey HSD, {samples:,} samples, seed {seed}", samples=aims.samples, seed=str(aims.seed))
        lines = [f"{seen}, {how}", str(aims)]
        steady = self.sizes.filter(pl.col("variance") == 0)["measure"].unique(maintain_order=True)
        vary = ~pl.col("measure").is_in([*steady])
        apart = self.measures.filter(vary).sort("told_apart_percent", descending=True, maintain_order=True)
        lines += _ends(apart, "told_apart_percent", pairs=runs * (runs - 1) // 2)
        cheap = apart.drop_nulls("topics_for_half").sort("topics_for_half", maintain_order=True)
        lines += _ends(cheap, "topics_for_half")
        shares = [measure.name for measure in self.scores.measures if measure.definition.highest == 1]
        first = self.sizes.filter(vary, pl.col("measure").is_in(shares), pl.col("difference") == aims.differences[0])
        first = first.drop_nulls("t_test").sort("t_test", maintain_order=True)
        lines += _ends(first, "t_test", gap=aims.differences[0])
        return lines + [
            say("the runs differ alike on every topic on {measure}, so its sizes say nothing", measure=name)
            for name in steady
        ]

    sentences = summary


#: What is said of the first measure, and of the last.
_ENDS = {
    "told_apart_percent": ("{one} tells {most:.1f} % of {pairs:,} {pairs:pair|pairs} apart", ", {other} {least:.1f} %"),
    "topics_for_half": ("{one} would show half of them with {most:,} topics", ", {other} {least:,}"),
    "t_test": ("{one} shows a difference of {gap:g} between two with {most:,} topics", ", {other} {least:,}"),
}


def _ends(rows: pl.DataFrame, column: str, **more: float) -> list[str]:
    """Say what the first and the last of some measures do; nothing if there are none."""
    if not rows.height:
        return []
    (one, most), (other, least) = (rows.select("measure", column).row(at) for at in (0, -1))
    said = say(_ENDS[column][0], one=one, most=most, **more)
    return [said + (say(_ENDS[column][1], other=other, least=least) if rows.height > 1 else "")]


def design(
    qrels: QrelsLike,
    runs: Sequence[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure] | str | Measure = MEASURES,
    *,
    ties: str = "realistic",
    differences: float | Sequence[float] = DIFFERENCES,
    systems: int | None = None,
    alpha: float = ALPHA,
    power: float = POWER,
    unpaired: bool = False,
    samples: int = PATTERNS,
    **options: Unpack[Evaluation],
) -> Design:
    """Learn from pilot runs how many topics a collection needs, and which measures tell systems apart.

    Args:
        qrels: as for `evaluate`.
        runs: two or more.
        measures: as for `evaluate`.
        ties: the strategy.
        differences: what is to be shown: one or several differences between means.
        systems: how many will be compared; by default as many as there are runs.
        alpha: level of the tests, and 1 − that of the intervals.
        power: how often a difference that is there is to be shown.
        unpaired: whether each system will have topics of its own.
        samples: random deals of the randomised HSD.
        options: as for `evaluate`.
    """
    wanted = (differences,) if isinstance(differences, int | float) else tuple(differences)
    reading, given = keywords("design", options)
    chosen, parsed = Options.of(ties, **given), parse_measures(measures)
    aims = Aims(
        differences=wanted,
        systems=systems,
        alpha=alpha,
        power=power,
        unpaired=unpaired,
        samples=samples,
        seed=chosen.seed,
    )
    judged = judged_runs(read_qrels(qrels, **reading), read_runs(runs, **reading), chosen, parsed)
    result = design_runs(judged, parsed, chosen, aims)
    warn(result.warnings)
    return result


def design_runs(runs: Iterable[Judged], measures: Sequence[Measure], options: Options, aims: Aims) -> Design:
    """Learn from runs as they are judged; warnings are collected, not given."""
    refuse_geometric(measures, "; design with {plain}.")  # before the work
    return design_scores(evaluate_runs(runs, measures, options), aims)


def design_scores(scores: Scores, aims: Aims) -> Design:
    """Learn from what has been evaluated, under the first strategy."""
    refuse_geometric(scores.measures, "; design with {plain}.")
    scores, notes = comparable(scores)
    looks = [_look(measure, scores, aims) for measure in scores.measures]
    tables = {name: pl.concat([look[name] for look in looks], how="vertical_relaxed") for name in looks[0]}
    return Design(
        scores=scores,
        aims=aims,
        **tables,
        warnings=(*scores.remarks, *notes),
        options={
            **asdict(aims),
            "measures": [measure.name for measure in scores.measures],
            "ties": scores.ties[0],
            "topics": len(scores.shared),
        },
    )


def sizes(variance: float, aims: Aims, *, systems: int) -> pl.DataFrame:
    """Return the topics needed for each difference, given the variance of scores; null for more than a million.

    With topics in common that is the residual variance of systems × topics, else the variance within a system.
    """
    several = systems if aims.systems is None else aims.systems
    rows = []
    for difference in aims.differences:
        alpha, power, unpaired = aims.alpha, aims.power, aims.unpaired
        needed = (
            topicsets.for_t_test(difference, variance, alpha, power, unpaired=unpaired),
            topicsets.for_anova(difference, variance, several, alpha, power, unpaired=unpaired),
            topicsets.for_interval(difference, variance, alpha, unpaired=unpaired),
        )
        rows.append((difference, variance, several, *map(_whole, needed)))
    whole = dict.fromkeys(("systems", "t_test", "f_test", "interval"), pl.Int64)
    schema = {"difference": pl.Float64, "variance": pl.Float64, **whole}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _whole(topics: float) -> int | None:
    return int(topics) if np.isfinite(topics) else None


def _look(measure: Measure, scores: Scores, aims: Aims) -> dict[str, pl.DataFrame]:
    """Return the rows of one measure in each table."""
    values = scores.matrix(measure).values
    table = anova(values)
    first, second = (each.astype(np.int64) for each in np.triu_indices(len(values), 1))
    pairs = randomised_tukey(values, first, second, aims.alpha, Setting(aims.samples, aims.seed))
    variance = within_error(values) if aims.unpaired else table.residual.mean
    order = np.argsort(-pairs.p, kind="stable")
    names = np.array(scores.runs, dtype=object)
    asl = {"place": np.arange(1, len(order) + 1), "one": names[first[order]], "two": names[second[order]]}
    gaps = np.sort(np.abs(values.mean(axis=1)[second] - values.mean(axis=1)[first]))
    cost = _cost(measure, scores, float(gaps[len(gaps) // 2]), variance, aims)
    model = mixed(values, aims.alpha)
    frames = {
        "measures": pl.DataFrame([_figures(values, table, pairs, aims)]).hstack(cost),
        "sizes": sizes(variance, aims, systems=len(values)),
        "anova": _effects(table),
        "variances": _variances(model),
        "mixed": _means(model, scores.runs).sort("mean", descending=measure.upward > 0, maintain_order=True),
        "asl": pl.DataFrame({**asl, "p": pairs.p[order]}, schema_overrides={"one": pl.String, "two": pl.String}),
    }
    name = pl.lit(measure.name).alias("measure")
    return {table: frame.select(name, pl.all()) for table, frame in frames.items()}


def _figures(values: Floats, table: Anova, pairs: Joint, aims: Aims) -> dict[str, Any]:
    """Return what one measure sees."""
    ranks = friedman(values)
    total, least = table.total or float("nan"), float((pairs.high - pairs.low)[0] / 2)
    return {
        "topics": values.shape[1],
        "residual_variance": table.residual.mean,
        "within_variance": within_error(values),
        "systems_percent": 100 * table.systems.squares / total,
        "topics_percent": 100 * table.topics.squares / total,
        "f": table.systems.f,
        "f_p": table.systems.p,
        "friedman_p": ranks.p,
        "w": ranks.w,
        "told_apart_percent": 100 * float((pairs.p < aims.alpha).mean()),
        "least_significant": least,
    }


def _cost(measure: Measure, scores: Scores, half: float, variance: float, aims: Aims) -> pl.DataFrame:
    """Return what it takes to show the half of the pairs that differ by this or more, and how deep a measure looks."""
    topics = None
    if half > 0:
        topics = _whole(topicsets.for_t_test(half, variance, aims.alpha, aims.power, unpaired=aims.unpaired))
    cutoff = measure.params.get("cutoff") if measure.definition.at == "cutoff" else None
    cuts = [cut for cut in (cutoff, scores.options.get("depth")) if cut is not None]
    depth = min(cuts) if cuts else None
    found = {"topics_for_half": topics, "depth": depth, "documents": topics * depth if topics and depth else None}
    return pl.DataFrame([found], schema=dict.fromkeys(found, pl.Int64))


def _effects(table: Anova) -> pl.DataFrame:
    """Return the lines of an analysis of variance; the residual has no F."""
    effects = [{"source": source, **line._asdict()} for source, line in table._asdict().items()]
    tested = pl.when(pl.col("source") != "residual").then(pl.col("f", "p", "eta2", "omega2"))
    return pl.DataFrame(effects).with_columns(tested)


def _variances(model: Mixed) -> pl.DataFrame:
    """Return the components of the mixed model, and the share of topics in their sum."""
    parts = {"topics": model.topics, "residual": model.residual, "intraclass correlation": model.icc}
    return pl.DataFrame([{"what": what, **estimate._asdict()} for what, estimate in parts.items()])


def _means(model: Mixed, runs: Sequence[str]) -> pl.DataFrame:
    """Return the means of the mixed model; what differs by less than the last column may not differ."""
    columns = {"run": runs, "mean": model.means, "low": model.low, "high": model.high}
    alike = {"standard_error": model.error, "df": model.df, "half_of_difference": model.half}
    return pl.DataFrame(columns).with_columns(**{name: pl.lit(value) for name, value in alike.items()})
