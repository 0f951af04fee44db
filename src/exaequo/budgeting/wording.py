"""Sentences of a budget: what leaves most open, and what would shrink it. In: its rows. Out: text for people."""

from __future__ import annotations

import numpy as np
import polars as pl

from exaequo.budgeting.intervals import JUDGES, TIES, TOGETHER, UNJUDGED, largest
from exaequo.language import number, say, word
from exaequo.stats.equality import TOLERANCE
from exaequo.tabular import fixed
from exaequo.text import signed


def of_run(rows: pl.DataFrame, remedies: pl.DataFrame) -> str:
    """Say of a run what leaves most open, and what would shrink it."""
    most = largest(rows)
    said = {"run": rows["run"][0], "width": fixed(most["width"])}
    if not most["width"]:
        return say("{run}: nothing is left open", **said)
    if most["source"] == JUDGES:
        return say("{run}: judges leave most open, {width}", **said)
    row = remedies.filter(pl.col("source") == most["source"]).row(0, named=True)
    said |= {"n": int(row["n"]) if np.isfinite(row["n"]) else row["n"], "then": fixed(row["then"])}
    if most["source"] == TIES:
        return say("{run}: ties leave most open, {width}; break those of {n:,} documents", **said)
    if most["source"] == UNJUDGED:
        return say("{run}: unjudged documents leave most open, {width}; {n:,} judged leave {then}", **said)
    return say("{run}: topics leave most open, {width}; {n:,} topics leave {then}", **said)


def of_pair(rows: pl.DataFrame) -> str:
    """Say of a pair whether all that is left open leaves its sign, and if not, what leaves most open."""
    row = rows.filter(pl.col("source") == TOGETHER).row(0, named=True)
    said = {name: number(signed(row[name])) for name in ("score", "low", "high")}
    said |= {"one": row["one"], "two": row["two"], "source": word(largest(rows)["source"])}
    if row["low"] > TOLERANCE or row["high"] < -TOLERANCE:
        return say("{two} − {one}: {score}, {low} to {high}: the sign holds", **said)
    return say("{two} − {one}: {score}, {low} to {high}: sign open, most by {source}", **said)
