"""Sentences of a budget: what leaves most open, and what would shrink it. In: its rows. Out: text for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from exaequo.budgeting.intervals import JUDGES, TIES, UNJUDGED, largest
from exaequo.language import number, say
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


def of_pair(row: Mapping[str, Any]) -> str:
    """Say of a pair whether all that is left open leaves its sign."""
    said = {name: number(signed(row[name])) for name in ("score", "low", "high")}
    said |= {"one": row["one"], "two": row["two"]}
    if row["low"] > TOLERANCE or row["high"] < -TOLERANCE:
        return say("{two} − {one}: {score}, {low} to {high} whatever is left open", **said)
    return say("{two} − {one}: {score}, {low} to {high}: what is left open decides", **said)
