"""What people read of a budget: what leaves most open, and what would shrink it. In: its rows. Out: text, a table."""

from __future__ import annotations

import numpy as np
import polars as pl

from exaequo.budgeting.intervals import JUDGES, SOURCES, TIES, TOGETHER, UNJUDGED, largest
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


def remedy(rows: pl.DataFrame, remedies: pl.DataFrame) -> str:
    """Say of a run what would shrink the source that leaves most open; nothing if none of the remedies does."""
    source = largest(rows)["source"]
    found = remedies.filter(pl.col("source") == source)
    if not found.height or not np.isfinite(found["n"][0]):
        return ""
    said = {"n": int(found["n"][0]), "then": fixed(found["then"][0])}
    if source == TIES:
        return say("{n:,} documents told apart leave {then}", **said)
    if source == UNJUDGED:
        return say("{n:,} {n:document|documents} judged {n:leaves|leave} {then}", **said)
    return say("{n:,} topics leave {then}", **said)


def of_pair(rows: pl.DataFrame) -> str:
    """Say of a pair whether all that is left open leaves its sign, and if not, what leaves most open."""
    row = rows.filter(pl.col("source") == TOGETHER).row(0, named=True)
    said = {name: number(signed(row[name])) for name in ("score", "low", "high")}
    said |= {"one": row["one"], "two": row["two"], "source": word(largest(rows)["source"])}
    if row["low"] > TOLERANCE or row["high"] < -TOLERANCE:
        return say("{two} − {one}: {score}, {low} to {high}: the sign holds", **said)
    return say("{two} − {one}: {score}, {low} to {high}: sign open, most by {source}", **said)


def widths(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a row per run or pair and measure: the score, the width of each source, and the interval of all.

    One measure alone is named above.
    """
    keys = [name for name in ("one", "two", "run", "measure") if name in frame.columns]
    alone = frame.filter(pl.col("source") != TOGETHER)
    wide = alone.pivot("source", index=keys, values="width", maintain_order=True)
    there = [source for source in SOURCES if source in wide.columns]
    most = alone.group_by(keys, maintain_order=True).agg(largest=pl.col("source").get(pl.col("width").arg_max()))
    together = frame.filter(pl.col("source") == TOGETHER).select(*keys, "score", "low", "high")
    rows = together.join(wide, on=keys, maintain_order="left").join(most, on=keys, maintain_order="left")
    spoken = rows.with_columns(pl.col("largest").replace({source: word(source) for source in there}))
    named = [name for name in keys if name != "measure" or frame["measure"].n_unique() > 1]
    most_open = ["largest"] if "run" in keys and "judges" not in there else []  # of four sources, sentences say it
    return spoken.select(*named, "score", *there, "low", "high", *most_open)
