"""What the grades of each assessor do to systems: grades and runs in, rankings compared and changed verdicts out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

import polars as pl

from exaequo.comparison import Comparison, compare_runs
from exaequo.comparison.plan import Plan
from exaequo.comparison.views import judges
from exaequo.errors import ExaequoError
from exaequo.evaluation import judged_runs
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.read import Qrels, Run, read_qrels

_OUTCOME = ["measure", "one", "two"]


@dataclass(frozen=True, eq=False)
class Effects:
    """`rankings`: τ between the rankings of systems by two assessors; `verdicts`: those that not all agree on.

    `pairs` counts the verdicts there are; `shared` the documents all assessors judged, by which systems are scored.
    """

    rankings: pl.DataFrame = field(default_factory=pl.DataFrame)
    verdicts: pl.DataFrame = field(default_factory=pl.DataFrame)
    pairs: int = 0
    changed: int = 0
    shared: int = 0
    warnings: tuple[str, ...] = ()


def effects(
    judged: pl.DataFrame,
    names: Sequence[str],
    runs: Sequence[Run],
    measures: Sequence[Measure],
    options: Options,
    plan: Plan,
) -> Effects:
    """Compare runs by the grades of each assessor, on the documents that all of them judged."""
    said: list[str] = []
    results: dict[str, Comparison] = {}
    qrels = _shared(judged, names)
    for name, one in qrels.items():
        try:
            results[name] = compare_runs(judged_runs(one, runs, options, measures), measures, options, plan)
        except ExaequoError as error:  # the others can still be compared
            said.append(f"with the grades of {name}: {error}")
    said += [f"with the grades of {name}: {note}" for name, each in results.items() for note in each.warnings]
    shared = next(iter(qrels.values())).frame.height if qrels else 0
    if len(results) < 2:
        return Effects(shared=shared, warnings=(*said, "rankings of systems need two assessors who judged the same."))
    scores = {name: each.scores for name, each in results.items()}
    table, notes = judges([(name, qrels[name]) for name in results], scores, options.rel_level)
    rankings = table.filter(pl.col("one") != "all") if len(results) > 2 else table
    kept = ["one", "two", "topics_of_both", *(each for each in rankings.columns if each.startswith("tau_"))]
    outcomes = pl.concat(
        each.pairs.select(*_OUTCOME, pl.lit(name).alias("assessor"), "outcome", "difference", "corrected_p")
        for name, each in results.items()
    )
    number = outcomes.select(pl.struct(_OUTCOME).n_unique()).item()
    verdicts = outcomes.filter(pl.col("outcome").n_unique().over(_OUTCOME) > 1).sort(_OUTCOME, maintain_order=True)
    changed = verdicts.select(pl.struct(_OUTCOME).n_unique()).item()
    return Effects(rankings.select(kept), verdicts, number, changed, shared, (*said, *notes))


def _shared(judged: pl.DataFrame, names: Sequence[str]) -> dict[str, Qrels]:
    """Return the judgments of each assessor, of the documents that all of them judged."""
    own = {name: judged.filter(pl.col("assessor") == name).select("qid", "docno", rel="grade") for name in names}
    pairs = reduce(lambda one, two: one.join(two, on=["qid", "docno"], how="semi"), own.values())
    if not pairs.height:
        return {}
    return {
        name: read_qrels(pairs.select("qid", "docno").join(each, on=["qid", "docno"], maintain_order="left"))
        for name, each in own.items()
    }
