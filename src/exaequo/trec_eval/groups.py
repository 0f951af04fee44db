"""Judgment groups (`-R qrels_jg`): each group of a topic is evaluated like a topic of its own, then averaged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.frames import pl
from exaequo.judge import topic_codes
from exaequo.read import Qrels, Run
from exaequo.read.records import with_keys

#: Stands between topic and group; sorts before every other character, so groups stay with their topic.
_BETWEEN = "\x01"


def whole(qrels: Qrels) -> Qrels:
    """Return judgments cut to whole numbers, towards 0."""
    if qrels.plain is not None:
        return Qrels.of(replace(qrels.plain, value=np.trunc(qrels.plain.value), table=None), source=qrels.source)
    rel = pl.Series("rel", np.trunc(qrels.numbers))
    return Qrels(qrels.frame.with_columns(rel), qrels.source)


def one_topic_each(qrels: Qrels, run: Run) -> tuple[Qrels, Run, Ints]:
    """Give every group a topic of its own and a copy of the topic's list; also return whose group it is."""
    pair = pl.concat_str("qid", "iter", separator=_BETWEEN).alias("pair")
    judged = whole(qrels).frame.with_columns(pair)
    known = judged.select("qid", "pair").unique().sort("pair")
    copies = run.frame.drop("key").join(known, on="qid").drop("qid").rename({"pair": "qid"})
    pairs = judged.select(pl.col("pair").alias("qid"), "docno", "rel")
    topics = known["qid"].unique().sort()
    owner = topic_codes(known["qid"], topics)
    copies = copies.select("qid", "docno", "sim", "rank")
    return Qrels(with_keys(pairs), qrels.source), Run(run.name, with_keys(copies), run.source), owner


def averaged(values: Floats, owner: Ints) -> Floats:
    """Average the values of the groups of each topic."""
    return np.bincount(owner, weights=values) / np.bincount(owner)
