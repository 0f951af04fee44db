"""Measuring: an `Ordering` in, the values of all measures under each strategy out; of many, `Scores`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from exaequo.arrays import Bools, Floats
from exaequo.choices import EXPECTED, INTERVAL
from exaequo.errors import bad_input
from exaequo.expected import Expected, expected_values
from exaequo.judge import Judgments
from exaequo.measures import Measure
from exaequo.options import Options, first_order
from exaequo.order import Ordering
from exaequo.read import Source, unique_names
from exaequo.remarks import cautions
from exaequo.scores import Block, Scores


@dataclass(frozen=True, eq=False)
class Evaluated:
    """What is kept of a run: its lines are let go before the next one is read."""

    name: str
    blocks: list[Block]
    beside: list[Block]
    about: dict[str, Any]
    facts: Any = None


def evaluated(
    ordering: Ordering,
    measures: Sequence[Measure],
    also: Sequence[Measure],
    options: Options,
    *,
    interval: bool,
    facts: Callable[[Ordering], Any] | None = None,
) -> Evaluated:
    """Measure one run, and keep what came of it."""
    run, there = ordering.run, ordering.judged_run.returned > 0

    def of(measures: Sequence[Measure], orders: Sequence[str]) -> Evaluated:
        values = measured(ordering, measures, orders, options)
        counts = {"lines": run.height, "tied": ordering.n_tied}
        return kept(run.name, run.source, ordering.judgments, measures, orders, values, there, options, **counts)

    made = of(measures, orders_of(options, interval=interval))
    beside = of(also, [first_order(options.ties)]).blocks if also else []
    noted = facts(ordering) if facts is not None else None
    return replace(made, beside=made.beside + beside, facts=noted)


def kept(
    name: str,
    source: Source,
    judgments: Judgments,
    measures: Sequence[Measure],
    orders: Sequence[str],
    values: Sequence[Floats | Expected],
    there: Bools,
    options: Options,
    **counts: int,
) -> Evaluated:
    """Return what is kept of a run with these values under each order; without topics that are not `there`, if asked.

    Orders beyond those that the options ask for stand beside them.
    """
    both = zip(orders, values, strict=True)
    blocks = [Block.of(name, ties, tuple(measures), judgments.names, each) for ties, each in both]
    if options.missing == "skip":
        if not there.any():
            found = "none of its topics has a relevant document"
            raise bad_input(source.name, found, "at least one", "Choose --missing zero.")
        blocks = [block.part(np.flatnonzero(there)) for block in blocks]
    about = {"file": source.name, "sha256": source.sha256, **counts}
    asked = len(options.ties)
    return Evaluated(name, blocks[:asked], blocks[asked:], about)


def assembled(
    runs: Sequence[Evaluated],
    qrels: Judgments,
    measures: Sequence[Measure],
    options: Options,
    remarks: Sequence[str],
) -> Scores:
    """Put together what was kept of all runs."""
    source = qrels.qrels.source
    names = unique_names([(each.name, each.about["file"]) for each in runs])
    named = list(zip(names, runs, strict=True))
    return Scores(
        measures=tuple(measures),
        blocks=tuple(block.named(name) for name, each in named for block in each.blocks),
        beside=tuple(block.named(name) for name, each in named for block in each.beside),
        facts={name: each.facts for name, each in named},
        remarks=(*remarks, *cautions(measures, qrels.n_topics)),
        options=dict(vars(options)),
        inputs={
            "qrels": {"file": source.name, "sha256": source.sha256, "lines": qrels.qrels.height},
            "runs": [{"name": name, **each.about} for name, each in named],
        },
        every=qrels.names,
    )


def orders_of(options: Options, *, interval: bool) -> list[str]:
    """Return the strategies asked for, and with `interval` those that tell what ties decide."""
    return [*options.ties, *(ties for ties in (INTERVAL if interval else ()) if ties not in options.ties)]


def measured(
    ordering: Ordering, measures: Sequence[Measure], ties: Iterable[str], options: Options
) -> list[Floats | Expected]:
    """Return the values of all measures under each strategy, a row per measure; without ties, the orders are one."""
    found: list[Floats | Expected] = []
    values: Floats | None = None
    for each in ties:
        if each == EXPECTED:
            depth, seed, samples = options.depth, options.seed, options.samples
            found.append(expected_values(ordering, measures, depth=depth, seed=seed, samples=samples))
            continue
        if values is None or ordering.n_tied:
            ranking = ordering.ranking(each, seed=options.seed, depth=options.depth)
            values = np.array([measure.values(ranking) for measure in measures])
        found.append(values)
    return found
