"""Spark, a real one on this machine: the same numbers to the last bit, wherever rows lie and whoever dies."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import exaequo
from drawing import Drawn, drawn, same, whole
from exaequo import spark as on_spark
from exaequo.cli import run as command
from exaequo.evaluation import evaluate_runs, judged_runs
from exaequo.options import Options
from exaequo.spark.session import in_our_words
from exaequo.tiestats import frame_of, tie_statistics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)
#: The library itself is where workers find it, installed or not.
SOURCE = str(Path(exaequo.__file__).parent.parent)
ROOT = Path(__file__).parent.parent.parent


def started(master: str, **more: str) -> SparkSession:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder: Any = SparkSession.builder.master(master).appName("tests")
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4", "spark.log.level": "ERROR"}
    settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    settings |= {"spark.executorEnv.PYTHONPATH": SOURCE, "spark.ui.showConsoleProgress": "false", **more}
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    return session


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = started("local[2]")
    yield session
    session.stop()


def frame(spark: SparkSession, rows: pl.DataFrame) -> DataFrame:
    kinds = {pl.String: "string", pl.Float64: "double", pl.Int64: "bigint"}
    schema = ", ".join(f"`{name}` {kinds[type(kind)]}" for name, kind in rows.schema.items())
    return spark.createDataFrame(rows.rows(), schema)


def back(found: DataFrame) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(found.toArrow()))


def scores(spark: SparkSession, data: Drawn, *, parts: int = 0, **more: Any) -> DataFrame:
    lines, qrels = frame(spark, data.lines), frame(spark, data.qrels)
    if parts:  # rows at random, in so many partitions
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        lines, qrels = lines.repartition(parts, F.rand(parts)), qrels.repartition(parts, F.rand(1))
    return on_spark.evaluate(lines, qrels, data.measures, data.options.ties, samples=data.options.samples, **more)


def test_every_measure_and_strategy_and_the_means(spark: SparkSession) -> None:
    data = drawn(7)
    found = scores(spark, data).persist()
    same(back(found), whole(data))
    expected = evaluate_runs(judged_runs(data.judged, data.runs, data.options), data.measures, data.options).means
    same(back(on_spark.means(found)), expected)
    found.unpersist()


@pytest.mark.parametrize("kind", ["fractions", "subtopics", "sampled"])
def test_other_judgments_in_other_partitions(spark: SparkSession, kind: str) -> None:
    data = drawn(8, **{kind: True}, topics=6)
    same(back(scores(spark, data, parts=5, salts=3)), whole(data))


def skewed() -> Drawn:
    """One topic with most of the rows, many topics with few; more runs than salts."""
    base, extra = drawn(3, topics=30, runs=4), []
    for run in range(4):
        extra += [(f"run {run}", "t0", f"x{at}", float(at % 977), "1", 1000 + at) for at in range(15_000)]
    lines = pl.concat([base.lines, pl.DataFrame(extra, schema=base.lines.schema, orient="row")])
    return Drawn(lines, base.qrels, list(map(exaequo.parse_measure, ("AP", "nDCG@10", "RR", "gm(AP)"))), base.options)


def test_skew_lists_that_lack_and_tie_statistics(spark: SparkSession) -> None:
    data = skewed()
    same(back(scores(spark, data, salts=2)), whole(data))
    names = ["run 1", "run 3"]
    expected = whole(data)
    same(back(scores(spark, data, names=names)), expected.filter(pl.col("run").is_in(names)))
    lines, qrels = frame(spark, data.lines), frame(spark, data.qrels)
    skipped = on_spark.evaluate(lines, qrels, "AP", missing="skip")
    options = Options(missing="skip")
    measures = [exaequo.parse_measure("AP")]
    same(back(skipped), evaluate_runs(judged_runs(data.judged, data.runs, options), measures, options).topics)
    counted = back(on_spark.ties(lines, qrels, [10])).sort("run", "topic")
    orderings = [ordering for ordering, _ in judged_runs(data.judged, data.runs, Options())]
    each = {ordering.run.name: tie_statistics(ordering, (10,)) for ordering in orderings}
    assert counted.equals(frame_of(each, orderings[0].judgments.topics).sort("run", "topic"))


def test_bad_rows_are_found_named_and_dropped(spark: SparkSession) -> None:
    rows: list[tuple[Any, ...]]
    rows = [("r", 1, "a", "2.0"), ("r", 1, "b", None), ("r", 1, "c", "NaN"), ("r", 2, "d", "x"), ("r", 2, "e", "1")]
    rows += [("r", 2, "e", "5"), ("s", 2, "e", "1"), ("s", 9, "z", None), ("s", None, "e", "1")]
    lines = spark.createDataFrame(rows, "system string, topic int, docid string, score string")
    qrels = spark.createDataFrame([("1", "a", 1), ("2", "e", 1)], "query_id string, doc_id string, relevance int")
    wrong = back(on_spark.bad_rows(lines, qrels)).sort("topic", "docno", nulls_last=True)
    found = wrong.select("run", "topic", "docno", "problem", "rows").rows()
    again = ("r", "2", "e", "there again", 1)
    expected = [
        ("r", "1", "b", "no sim", 1),
        ("r", "1", "c", "sim is not finite", 1),
        ("r", "2", "d", "no sim", 1),
        again,
    ]
    assert found == [*expected, ("s", "9", "z", "no sim", 1), ("s", None, "e", "no id", 1)]
    kept = back(on_spark.evaluate(lines, qrels, "RR", errors="drop")).sort("run", "topic")
    assert kept.select("run", "topic", "value").rows() == [("r", "1", 1), ("r", "2", 1), ("s", "1", 0), ("s", "2", 1)]
    with pytest.raises(exaequo.ExaequoError, match=r"^(run 'r', topic '[12]'|run 's', topic None): "), in_our_words():
        on_spark.evaluate(lines, qrels, "RR").collect()
    with pytest.raises(exaequo.InputError, match="runs: no column docno, only system, topic; expected one of docno"):
        on_spark.evaluate(lines.select("system", "topic"), qrels, "RR")
    with pytest.raises(exaequo.InputError, match="no column line; expected one, for ties='input'"):
        on_spark.evaluate(lines, qrels, "RR", ties="input")
    with pytest.raises(exaequo.InputError, match="column docid holds double values"):
        on_spark.evaluate(lines.withColumn("docid", lines["score"].try_cast("double")), qrels, "RR")


def test_a_measure_of_the_caller_goes_along(spark: SparkSession) -> None:
    with exaequo.measures.registry.temporary():
        mine = exaequo.define("Mine", lambda ranking: ranking.returned * 2.0)
        data = Drawn(drawn(7).lines, drawn(7).qrels, [mine], Options())
        found, expected = scores(spark, data), whole(data)
        same(back(found), expected)
        mean = back(on_spark.means(found, [mine])).filter(run="run 0")["value"].item()
    assert mean == expected.filter(run="run 0")["value"].mean()


def test_a_table_grows_by_what_is_new(spark: SparkSession, tmp_path: Path) -> None:
    data, table = drawn(7), str(tmp_path / "scores")
    measures = list(map(exaequo.parse_measure, ("AP", "nDCG@10")))
    small = Drawn(data.lines, data.qrels, measures, Options())
    lines, qrels = frame(spark, data.lines), frame(spark, data.qrels)
    every = whole(small)["topic"].n_unique()
    assert on_spark.append(table, lines.filter("run != 'run 2'"), qrels, measures) == 2 * every
    assert on_spark.append(table, lines, qrels, measures) == every  # the third run
    same(back(on_spark.table(spark, table)), whole(small))
    assert on_spark.append(table, lines, qrels, measures) == 0
    other = "if(run = 'run 0' and qid = 't1', -sim, sim) as sim"
    changed = lines.selectExpr("run", "qid", "docno", other, "rank", "line")
    assert on_spark.append(table, changed, qrels, measures) == 1
    differs = back(on_spark.table(spark, table)).sort("run", "topic", "measure")
    now = data.lines.with_columns(
        pl.when((pl.col("run") == "run 0") & (pl.col("qid") == "t1")).then(-pl.col("sim")).otherwise("sim").alias("sim")
    )
    same(differs, whole(Drawn(now, data.qrels, measures, Options())))
    assert on_spark.append(table, lines, qrels, measures) == 1  # as it was: the last ones count
    same(back(on_spark.table(spark, table)), whole(small))
    with pytest.raises(exaequo.UsageError, match="made with other measures or options"):
        on_spark.append(table, lines, qrels, "RR")


def test_the_command_reads_and_writes_where_spark_does(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = drawn(7)
    judged = "".join(f"{qid} 0 {docno} {rel:g}\n" for qid, docno, rel in data.qrels.rows())
    (tmp_path / "qrels.txt").write_text(judged)
    text = "# made\n" + "".join(
        f"{q} Q0\t{d} {r} {s!r} {n.replace(' ', '')}\n" for n, q, d, s, r, _ in data.lines.rows()
    )
    (tmp_path / "runs.txt").write_text(text)
    data.lines.with_columns(pl.col("run").str.replace(" ", "")).write_parquet(tmp_path / "runs.parquet")
    measures = list(map(exaequo.parse_measure, ("AP", "nDCG@10")))
    expected = evaluate_runs(judged_runs(data.judged, data.runs, Options()), measures, Options()).to_polars()
    expected = expected.with_columns(pl.col("run").str.replace(" ", ""))
    common = ["eval", str(tmp_path / "qrels.txt"), "-m", "AP nDCG@10", "--engine", "spark"]
    for name in ("runs.txt", "runs.parquet"):
        assert command([*common, str(tmp_path / name), "--format", "csv"]) == 0
        found = pl.read_csv(capfd.readouterr().out.encode(), schema_overrides={"topic": pl.String})
        same(found, expected.filter(topic="all"))
    out = str(tmp_path / "scores")
    assert command([*common, str(tmp_path / "runs.txt"), "-q", "--format", "parquet", "-o", out]) == 0
    same(pl.read_parquet(f"{out}/*.parquet"), expected)
    (tmp_path / "bad.txt").write_text(text + "t0 Q0 d99 1 nan run0\n")
    assert command([*common, str(tmp_path / "bad.txt"), "--errors", "drop", "--format", "csv"]) == 0
    assert "runs: 1 rows dropped: sim is not finite" in capfd.readouterr().err
    assert command([*common, str(tmp_path / "bad.txt")]) == 1
    error = capfd.readouterr().err
    assert "exaequo: run 'run0', topic 't0': sim is NaN (document 'd99'); expected a finite number." in error
    assert command([*common, str(tmp_path / "runs.txt"), "-q"]) == 2
    assert spark.range(3).count() == 3  # a session that was there goes on


@pytest.mark.parametrize("page", ["README.md", "docs/spark.md"])
def test_the_lines_to_copy_run(
    spark: SparkSession, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"^```py\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for name, rows in (("runs", drawn(7).lines), ("qrels", drawn(7).qrels)):
        rows.write_parquet(tmp_path / f"{name}.parquet")
        code = code.replace(f'"{name}"', repr(str(tmp_path / f"{name}.parquet")))
    exec(code, {"spark": spark})  # noqa: S102 - our own documentation
    assert "|run 0|" in capfd.readouterr().out


def test_a_worker_that_is_killed_changes_nothing() -> None:
    """Two executors of their own; one is killed while it works."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    more = {"spark.executor.memory": "512m", "spark.task.maxFailures": "8"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = started("local-cluster[2,1,1024]", **more)
    try:
        data = skewed()
        expected = whole(data)
        victims: list[int] = []
        killer = threading.Thread(target=_kill_one, args=(victims,))
        killer.start()
        for _ in range(2):  # the first is disturbed, the second has what is left
            same(back(scores(session, data, parts=4)), expected)
        killer.join()
        assert victims
    finally:
        session.stop()


def _kill_one(victims: list[int]) -> None:
    """Kill an executor of ours as soon as one has a Python worker, that is, when it is at work."""
    ours = os.getpid()
    for _ in range(600):
        processes = {}
        for entry in Path("/proc").iterdir():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                processes[int(entry.name)] = parent, (entry / "cmdline").read_bytes()
            except (OSError, ValueError, IndexError):
                continue
        for executor, line in processes.values():
            if b"pyspark/daemon" in line or b"pyspark.daemon" in line:
                above = executor
                while above in processes and above != ours:
                    above = processes[above][0]
                if above == ours and b"CoarseGrainedExecutorBackend" in processes[executor][1]:
                    os.kill(executor, signal.SIGKILL)
                    victims.append(executor)
                    return
        time.sleep(0.2)
