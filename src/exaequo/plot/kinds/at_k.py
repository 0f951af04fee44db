"""A measure against its cutoff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Unpack

import numpy as np

from exaequo.errors import BadParameter
from exaequo.language import say
from exaequo.measures import Measure, parse_measure
from exaequo.order import Ranking
from exaequo.plot.chart import Canvas, Chart, Common
from exaequo.plot.data import at_least_one, by_topic, defined, read
from exaequo.plot.kinds import kind
from exaequo.plot.marks import Axes, from_zero, lines, ranks_axis
from exaequo.read import QrelsLike

#: Ranks that have a mark.
MARKED = (1, 5, 10, 20, 50, 100, 200, 500, 1000)


@kind
def at_k(
    qrels: QrelsLike,
    runs: Any,
    *,
    measure: str = "nDCG",
    ranks: int = 50,
    ties: str = "realistic",
    **common: Unpack[Common],
) -> Chart:
    """A measure against its cutoff."""
    at_least_one(ranks=ranks)
    lists = read(qrels, runs, common)
    ks = cutoffs(ranks)
    found = {name: means_at(ranking, measure, ks) for name, ranking in lists.rankings(ties)}
    name = without_cutoff(measure).name
    title = say("{measure} against the cutoff", measure=name)
    return cutoff_lines(found, ks, name, Canvas.of(common, title, lists.about(ties)))


def without_cutoff(measure: str) -> Measure:
    """Return a measure as it is called without its cutoff; raise if it has none."""
    parsed = by_topic(measure, complete=False)
    if parsed.definition.at != "cutoff":
        raise BadParameter(f"{parsed.definition.name} takes no cutoff.")
    bare = parsed @ 1
    return Measure(bare.definition, {name: value for name, value in bare.params.items() if name != "cutoff"})


def cutoffs(ranks: int) -> list[int]:
    """Return the cutoffs to draw: all of the first, then fewer, and the last."""
    grid = (*range(1, 21), *range(25, 101, 5), *range(120, 1001, 20), *range(1100, 10001, 100))
    return sorted({k for k in grid if k < ranks} | {ranks})


def means_at(ranking: Ranking, measure: str, ks: Sequence[int]) -> list[float]:
    """Return the mean of a measure at each cutoff."""
    bare = without_cutoff(measure)
    return [float(np.nanmean(defined(bare @ k, (bare @ k).values(ranking)))) for k in ks]


def cutoff_lines(found: Mapping[str, Sequence[float]], ks: Sequence[int], name: str, canvas: Canvas) -> Chart:
    """Draw the mean of each run at each cutoff."""
    ends = (ks[0], ks[-1]) if len(ks) > 1 else (0, 2)
    whole = ranks_axis(1, ends[1], canvas)
    upward = parse_measure(f"{name}@1").upward
    what = f"{name}@k" if upward > 0 else f"{name}@k, {say('less is better')}"
    axes = Axes("k", "value", say("Cutoff k"), what, ends, from_zero(chain(*found.values())), whole)
    rank = {run: upward * values[-1] for run, values in found.items()}
    points = {run: list(zip(ks, values, strict=True)) for run, values in found.items()}
    marked = {run: [point for point in line if point[0] in (*MARKED, ks[-1])] for run, line in points.items()}
    return lines(points, axes, canvas, marked=marked, rank=rank)
