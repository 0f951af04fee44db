"""Judgment groups (`-R qrels_jg`): each group of a topic is evaluated like a topic of its own, then averaged."""

from __future__ import annotations

import numpy as np
import polars as pl

from exaequo.judge import Floats, Ints
from exaequo.read import Run

#: The measures on groups, and the measure each averages.
SAME_AS = {"map_avgjg": "map", "P_avgjg": "P", "Rprec_mult_avgjg": "Rprec_mult"}
#: Stands between topic and group; sorts before every other character, so groups stay with their topic.
_BETWEEN = "\x01"


def one_topic_each(judged: pl.DataFrame, run: Run) -> tuple[pl.DataFrame, pl.DataFrame, Ints]:
    """Give every group a topic of its own and a copy of the topic's list; also return whose group it is."""
    pair = pl.concat_str("qid", "iter", separator=_BETWEEN).alias("pair")
    judged = judged.with_columns(pair)
    known = judged.select("qid", "pair").unique().sort("pair")
    copies = run.frame.drop("key").join(known, on="qid").drop("qid").rename({"pair": "qid"})
    pairs = judged.select(pl.col("pair").alias("qid"), "docno", whole("rel"))
    topics = known["qid"].unique().sort()
    owner = known["qid"].cast(pl.Enum(topics)).to_physical().to_numpy().astype(np.int64)
    return pairs, copies.select("qid", "docno", "sim", "rank"), owner


def whole(column: str) -> pl.Expr:
    """Cut judgments to whole numbers, towards 0."""
    number = pl.col(column)
    return pl.when(number < 0).then(number.ceil()).otherwise(number.floor())


def averaged(values: Floats, owner: Ints) -> Floats:
    """Average the values of the groups of each topic."""
    return np.bincount(owner, weights=values) / np.bincount(owner)
