"""Spark Connect on this machine: what `exaequo.spark` finds there is what is found in memory, to the last bit.

Usage: python tests/spark/connected.py FOLDER. A session of Connect and a classic one do not share a process, so the
tests start this in one of its own.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import polars as pl
from pyspark.sql import SparkSession

import exaequo
from drawing import Drawn, drawn, same, whole, write_archive
from exaequo import spark as on_spark
from exaequo.engine.kernel import averaged
from exaequo.evaluation import judged_runs
from exaequo.options import Options
from exaequo.study import study
from exaequo.tiestats import frame_of, tie_statistics

MEASURES = list(map(exaequo.parse_measure, ("AP", "nDCG@10", "ERR@20", "gm(AP)", "infAP")))


def back(found: Any) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(found.toArrow()))


def check(spark: Any, folder: str) -> None:
    data = Drawn(drawn(7).lines, drawn(7).qrels, MEASURES, drawn(7).options)
    for name, rows in (("runs", data.lines), ("qrels", data.qrels)):
        rows.write_parquet(f"{folder}/{name}.parquet")
    lines, qrels = (spark.read.parquet(f"{folder}/{name}.parquet") for name in ("runs", "qrels"))
    expected = whole(data)
    scores = on_spark.evaluate(lines, qrels, MEASURES, data.options.ties, samples=data.options.samples)
    same(back(scores), expected)
    same(back(on_spark.means(scores)), averaged(expected).drop("topics", "zeros"))
    counted = back(on_spark.ties(lines, qrels, [10])).sort("run", "topic")
    orderings = [ordering for ordering, _ in judged_runs(data.judged, data.runs, Options())]
    each = {ordering.run.name: tie_statistics(ordering, (10,)) for ordering in orderings}
    assert counted.equals(frame_of(each, orderings[0].judgments.topics).sort("run", "topic"))
    again = lines.unionByName(lines.filter("run = 'run 0' and qid = 't1'"))
    wrong = back(on_spark.bad_rows(again, qrels))
    twice = data.lines.filter(run="run 0", qid="t1")["docno"].sort().to_list()
    assert wrong.sort("docno").select("run", "topic", "docno", "problem", "rows").rows() == [
        ("run 0", "t1", docno, "there again", 1) for docno in twice
    ]
    usual = Drawn(data.lines, data.qrels, MEASURES, Options())
    table, lists = f"{folder}/scores", whole(usual).select("run", "topic").n_unique()
    assert on_spark.append(table, lines.filter("run = 'run 1'"), qrels, MEASURES) == lists // 3
    assert on_spark.append(table, lines, qrels, MEASURES) == lists - lists // 3
    assert on_spark.append(table, lines, qrels, MEASURES) == 0
    same(back(on_spark.table(spark, table)), whole(usual))
    write_archive(Path(folder) / "archive")
    here, there = (study(f"{folder}/archive", f"{folder}/{own is spark}", spark=own) for own in (None, spark))
    assert all(there.tables[name].equals(each) for name, each in here.tables.items())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    builder: Any = SparkSession.builder
    session = builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        assert not hasattr(session, "_jsparkSession"), "not a session of Connect"
        check(session, sys.argv[1])
        print("the same")
    finally:
        session.stop()
