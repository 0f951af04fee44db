"""What is kept of a run of a study: its values and its ties, list by list, under a seal. In: `Scores`. Out: bytes.

A file that was damaged, in whichever bit, does not match its seal, and counts as not there.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from exaequo.arrays import Floats
from exaequo.choices import INTERVAL
from exaequo.errors import ExaequoError
from exaequo.measures import Measure
from exaequo.read import unique_names
from exaequo.scores import Block, Scores
from exaequo.tiestats import TieStatistics

#: Changes when results of an earlier release cannot be used any more.
FORMAT = 4
COUNTS = ("documents", "tied", "scores", "largest", "stuffed")
_SEAL = hashlib.sha256().digest_size


@dataclass(frozen=True, eq=False)
class RunFacts(TieStatistics):
    """The ties of a run; if it fills up lists, its values without that, by strategy and measure, topic by topic."""

    unstuffed: dict[tuple[str, Measure], Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """One run as it is kept: a row per topic, its name, the lines of its file, and what there is to say about it."""

    name: str
    lines: int
    remarks: tuple[str, ...]
    topics: pl.DataFrame


def kept_of(scores: Scores) -> Kept:
    """Return what is kept of the scores of one run, with its `RunFacts`."""
    (run,), (about,) = scores.runs, scores.inputs["runs"]
    facts: RunFacts = scores.facts[run]
    columns = {name: getattr(facts, name) for name in COUNTS}
    cells = ((measure, ties) for ties in INTERVAL for measure in scores.measures)
    columns |= {f"{measure.name} {ties}": scores[run, ties, measure].values for measure, ties in cells}
    columns |= {_unstuffed(measure, ties): values for (ties, measure), values in facts.unstuffed.items()}
    remarks = tuple(remark.removeprefix(f"{about['file']}: ") for remark in scores.remarks)
    return Kept(run, about["lines"], remarks, pl.DataFrame({"topic": scores.evaluated, **columns}))


def _unstuffed(measure: Measure, ties: str) -> str:
    return f"{measure.name} {ties} unstuffed"


def packed(kept: Kept) -> bytes:
    """Return what is kept of a run as bytes under a seal."""
    about = {"run": kept.name, "lines": kept.lines, "remarks": "\n".join(kept.remarks)}
    buffer = io.BytesIO()
    kept.topics.with_columns(pl.lit(value).alias(name) for name, value in about.items()).write_parquet(buffer)
    content = buffer.getvalue()
    return hashlib.sha256(content).digest() + content


def unpacked(path: Path) -> Kept | None:
    """Return what a file keeps; None if it is not there, or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    seal, content = data[:_SEAL], data[_SEAL:]
    if hashlib.sha256(content).digest() != seal:
        return None
    frame = pl.read_parquet(io.BytesIO(content))
    name, lines, remarks = frame.select("run", "lines", "remarks").row(0)
    kept = frame.drop("run", "lines", "remarks").cast(dict.fromkeys(COUNTS, pl.Int64))
    return Kept(name, lines, tuple(filter(None, remarks.split("\n"))), kept)


def read_again(path: Path) -> Kept:
    """Return what a file keeps that was written just now."""
    kept = unpacked(path)
    if kept is None:
        raise ExaequoError(f"{path}: damaged since it was written; the same command does it again.")
    return kept


def together(kept: Sequence[tuple[Kept, str]], measures: Sequence[Measure]) -> Scores:
    """Put the runs of an edition together, told apart by their files, with their `RunFacts`."""
    names = unique_names([(each.name, file) for each, file in kept])
    blocks, facts = [], {}
    for run, (each, _) in zip(names, kept, strict=True):
        topics = each.topics["topic"]
        for ties in INTERVAL:
            values = np.stack([each.topics[f"{measure.name} {ties}"].to_numpy() for measure in measures])
            blocks.append(Block(run, ties, tuple(measures), topics, values))
        counts = {name: each.topics[name].to_numpy() for name in COUNTS}
        cells = [(ties, measure) for ties in INTERVAL for measure in measures]
        unstuffed = {
            (ties, measure): each.topics[_unstuffed(measure, ties)].to_numpy()
            for ties, measure in (cells if counts["stuffed"].any() else [])
        }
        none = np.zeros(len(topics), dtype=np.int64)
        facts[run] = RunFacts(**counts, single=none, crossing={}, unstuffed=unstuffed)
    return Scores(tuple(measures), tuple(blocks), facts=facts, every=blocks[0].names)
