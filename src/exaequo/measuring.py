"""Measuring: an `Ordering` in, the values of all measures under each strategy out; of many, `Scores`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exaequo.choices import EXPECTED, INTERVAL
from exaequo.errors import bad_input
from exaequo.expected import Expected, expected_values
from exaequo.judge import Bools, Floats, Judgments
from exaequo.measures import Measure
from exaequo.options import Options, first_order
from exaequo.order import Ordering
from exaequo.read import Qrels, Run, unique_names
from exaequo.remarks import cautions
from exaequo.scores import Block, Scores


@dataclass(frozen=True, eq=False)
class Evaluated:
    """What is kept of a run: its lines are let go before the next one is read."""

    name: str
    file: str
    blocks: list[Block]
    beside: list[Block]
    about: dict[str, Any]
    facts: Any


def evaluated(
    ordering: Ordering,
    measures: Sequence[Measure],
    also: Sequence[Measure],
    options: Options,
    *,
    interval: bool,
    facts: Callable[[Ordering], Any] | None = None,
) -> Evaluated:
    """Measure one run, or a stretch of one, and keep what came of it."""
    blocks = _blocks(ordering, measures, orders_of(options, interval=interval), options)
    blocks, beside = blocks[: len(options.ties)], blocks[len(options.ties) :]
    beside += _blocks(ordering, also, [first_order(options.ties)], options) if also else []
    about = {**_described(ordering.run), "tied": ordering.n_tied}
    noted = facts(ordering) if facts is not None else None
    return Evaluated(ordering.run.name, ordering.run.source.name, blocks, beside, about, noted)


def assembled(
    runs: Sequence[Evaluated],
    qrels: Judgments,
    measures: Sequence[Measure],
    options: Options,
    remarks: Sequence[str],
) -> Scores:
    """Put together what was kept of all runs."""
    remarks = [*remarks, *cautions(measures, qrels.n_topics)]
    names = unique_names([(each.name, each.file) for each in runs])
    named = list(zip(names, runs, strict=True))
    return Scores(
        measures=tuple(measures),
        blocks=tuple(block.named(name) for name, each in named for block in each.blocks),
        beside=tuple(block.named(name) for name, each in named for block in each.beside),
        facts={name: each.facts for name, each in named},
        remarks=tuple(remarks),
        options=dict(vars(options)),
        inputs={
            "qrels": _described(qrels.qrels),
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


def _blocks(ordering: Ordering, measures: Sequence[Measure], ties: Sequence[str], options: Options) -> list[Block]:
    """Return the values of a run under each strategy; where that is asked for, without the topics that it lacks."""
    run, names = ordering.run, ordering.judgments.names
    values = measured(ordering, measures, ties, options)
    blocks = [Block.of(run.name, each, tuple(measures), names, own) for each, own in zip(ties, values, strict=True)]
    return returned(blocks, ordering.judged_run.returned > 0, run.source.name) if options.missing == "skip" else blocks


def returned(blocks: Sequence[Block], there: Bools, file: str) -> list[Block]:
    """Leave out the topics that a run lacks."""
    if not there.any():
        raise bad_input(file, "none of its topics has a relevant document", "at least one", "Choose --missing zero.")
    return [block.part(np.flatnonzero(there)) for block in blocks]


def _described(data: Run | Qrels) -> dict[str, Any]:
    return {"file": data.source.name, "sha256": data.source.sha256, "lines": data.height}
