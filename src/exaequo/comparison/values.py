"""What is compared: scores on the topics all runs share, runs × topics for each measure and strategy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Floats
from exaequo.errors import BadParameter, bad_input
from exaequo.measures import Measure, parse_measures
from exaequo.options import first_order
from exaequo.scores import Scores
from exaequo.stats.equality import settled_means
from exaequo.tabular import plain
from exaequo.text import count, listed

#: What the views of curves and of robustness are made of, besides the measures asked for.
CURVE = tuple(f"IPrec@{tenth / 10:g}" for tenth in range(11))
ROBUST = ("AP", "Success@10")


@cache
def besides() -> tuple[Measure, ...]:
    """Return the measures that are computed besides those asked for."""
    return tuple(parse_measures((*CURVE, *ROBUST)))


def means(scores: Scores, measure: Measure, ties: str | None = None) -> Floats:
    """Return the mean of each run; equal means are exactly equal."""
    return settled_means(scores.matrix(measure, ties).values)


def oriented(scores: Scores, measure: Measure, ties: str | None = None) -> Floats:
    """Means, turned round where less is better, so that the best is always the highest."""
    return measure.upward * means(scores, measure, ties)


def reported(scores: Scores) -> dict[str, Any]:
    """Return the options of the evaluation that are reported with verdicts, as plain data."""
    return {
        name: plain(scores.options.get(name)) for name in ("missing", "rel_level", "max_grade", "depth", "precision")
    }


def has_besides(scores: Scores) -> bool:
    """Tell whether those measures were computed."""
    return all((run, first_order(scores.ties), measure) in scores for run in scores.runs for measure in besides())


def besides_of(scores: Scores, measure: str) -> Floats:
    """Return runs × topics of a measure that was computed besides, under the first order."""
    return np.stack([scores[run, first_order(scores.ties), measure].values for run in scores.runs])


def refuse_geometric(measures: Sequence[Measure], instead: str) -> None:
    """Refuse a geometric mean, which is one number per run."""
    for measure in measures:
        if measure.aggregate == "gm":
            plain = Measure(measure.definition, measure.params)
            raise BadParameter(f"{measure} is one number per run{instead.format(plain=plain)}")


def comparable(scores: Scores, *, least: int = 2) -> tuple[Scores, list[str]]:
    """Return the scores of the topics that all runs have, and the measures that can be compared; and what to say."""
    if len(scores.runs) < least:
        raise BadParameter("A comparison needs at least two runs.")
    notes: list[str] = []
    shared = scores.shared
    if len(shared) < len(scores.evaluated):
        without = scores.evaluated.filter(~scores.evaluated.is_in(shared.to_list())).to_list()
        notes.append(f"{count(len(without), 'topic')} that a run lacks left out for all of them: {listed(without)}")
        scores = scores.only(topics=shared)
    if len(shared) < 2:
        name = scores.inputs.get("qrels", {}).get("file", "scores")
        what, why = f"only {count(len(shared), 'topic')}", "Statistics over topics need several."
        raise bad_input(name, what, "at least two", why)
    usable = []
    for measure in scores.measures:
        known, why = len(scores.matrix(measure).topics), measure.definition.undefined
        if known < 2:
            notes.append(f"{measure} is left out: fewer than two topics have a value for every run ({why})")
            continue
        usable.append(measure)
        if known < len(shared):
            what = count(len(shared) - known, "topic")
            notes.append(f"{measure}: {what} left out, where a run has no value ({why})")
    if not usable:
        refuse_undefined(scores, scores.measures[0])
    return scores.only(measures=usable), notes


def refuse_undefined(scores: Scores, measure: Measure) -> None:
    """Refuse a measure that has a value for fewer than two topics."""
    known = len(scores.matrix(measure).topics)
    if known < 2:
        raise BadParameter(f"{measure} has a value for {known} topics only; a test needs at least two.")


def shared_measures(one: Scores, two: Scores) -> list[Measure]:
    """Return the measures both can be compared on."""
    return [measure for measure in one.measures if measure in two.measures]


def pick(frame: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Return the rows of one measure."""
    return frame.filter(pl.col("measure") == measure.name)
