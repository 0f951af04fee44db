"""Spark, a real one on this machine: the same numbers to the last bit, wherever rows lie and whoever dies."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import exaequo
from drawing import Drawn, drawn, same, whole, write_archive
from exaequo import spark as on_spark
from exaequo.cli import run as command
from exaequo.engine.blocks import judgments_of
from exaequo.engine.store import read as read_table
from exaequo.evaluation import evaluate_runs, judged_runs
from exaequo.options import Options
from exaequo.spark.files import read_qrels, read_runs
from exaequo.spark.plan import _is_small
from exaequo.spark.session import in_our_words, refuse_there
from exaequo.study import cluster, study
from exaequo.tiestats import frame_of, tie_statistics
from exaequo.writing import write_whole
from waiting import QUICK_JAVA

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
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3", "spark.log.level": "ERROR"}
    # To plan and to compile takes longer than such small data do; and all of these would be in one task.
    settings |= dict.fromkeys(("spark.sql.adaptive.enabled", "spark.sql.codegen.wholeStage"), "false")
    settings |= {"spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    settings |= dict.fromkeys(("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"), QUICK_JAVA)
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
    return spark.createDataFrame(rows.to_arrow())


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


@pytest.fixture
def few(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """Rows of runs, some of them bad, and judgments."""
    rows: list[tuple[Any, ...]]
    rows = [("r", 1, "a", "2.0"), ("r", 1, "b", None), ("r", 1, "c", "NaN"), ("r", 2, "d", "x"), ("r", 2, "e", "1")]
    rows += [("r", 2, "f", "9.5f"), ("r", 2, "e", "5"), ("s", 2, "e", "1"), ("s", 9, "z", None), ("s", None, "e", "1")]
    lines = spark.createDataFrame(rows, "system string, topic int, docid string, score string")
    qrels = spark.createDataFrame([("1", "a", 1), ("2", "e", 1)], "query_id string, doc_id string, relevance int")
    return lines, qrels


def test_bad_rows_are_found_named_and_dropped(spark: SparkSession, few: tuple[DataFrame, DataFrame]) -> None:
    lines, qrels = few
    wrong = back(on_spark.bad_rows(lines, qrels)).sort("topic", "docno", nulls_last=True)
    found = wrong.select("run", "topic", "docno", "problem", "rows").rows()
    again = ("r", "2", "e", "there again", 1)
    expected = [
        ("r", "1", "b", "no sim", 1),
        ("r", "1", "c", "sim is not finite", 1),
        ("r", "2", "d", "no sim", 1),
        again,
        ("r", "2", "f", "no sim", 1),
    ]
    assert found == [*expected, ("s", "9", "z", "no sim", 1), ("s", None, "e", "no id", 1)]
    other = lines.selectExpr("*", "'of no use' as line")
    kept = back(on_spark.evaluate(other, qrels, "RR", errors="drop")).sort("run", "topic")
    assert kept.select("run", "topic", "value").rows() == [("r", "1", 1), ("r", "2", 1), ("s", "1", 0), ("s", "2", 1)]
    with pytest.raises(exaequo.ExaequoError, match=r"^run ('r', topic '[12]'|'s', topic (None|'9')): "), in_our_words():
        on_spark.evaluate(lines, qrels, "RR").collect()
    with pytest.raises(exaequo.ExaequoError, match=r"^run 's', topic None: no id"), in_our_words():
        one = frame(spark, pl.DataFrame({"qid": ["1"], "docno": ["a"], "rel": [1.0]}))
        assert _is_small(one)  # so that lines of other topics do not travel
        on_spark.evaluate(lines.filter("topic is null or docid = 'a'"), one, "RR").collect()
    header = frame(
        spark, pl.DataFrame({"run": ["r", "tag"], "qid": ["1", "topic"], "docno": "a", "sim": ["2", "score"]})
    )
    for judged in (qrels, one):
        with pytest.raises(exaequo.ExaequoError, match=r"^run 'tag', topic 'topic': no sim"), in_our_words():
            on_spark.evaluate(header, judged, "RR").collect()
        assert {row["run"] for row in on_spark.evaluate(header, judged, "RR", errors="drop").collect()} == {"r"}
    drawn_by = one.selectExpr("*", "1.5 as prob")
    assert (
        back(on_spark.bad_rows(header, drawn_by).filter("input = 'qrels'"))["problem"].item().startswith("prob is no")
    )
    with (
        pytest.raises(
            exaequo.ExaequoError, match=r"^judgments, topic '1': prob is 1.5 .* expected a chance from 0 to 1"
        ),
        in_our_words(),
    ):
        on_spark.evaluate(header.limit(1), drawn_by, "RR").collect()


def test_what_is_dropped_makes_no_list(spark: SparkSession) -> None:
    rows = [("r", "q1", "d1", 2.0), ("s", "q1", "d1", float("nan"))]
    lines = spark.createDataFrame(rows, "Run string, QID string, docno string, sim double")  # as Spark knows names
    qrels = spark.createDataFrame([("q1", "d1", 1), ("q2", "d1", 1)], "qid string, docno string, rel int")
    for names, columns in ((None, {"qid": "Qid"}), (iter(["r"]), None)):
        how: dict[str, Any] = {"names": names, "columns": columns}
        found = back(on_spark.evaluate(lines, qrels, "AP", errors="drop", **how)).sort("topic")
        assert found.select("run", "topic", "value").rows() == [("r", "q1", 1.0), ("r", "q2", 0.0)]


def test_of_equal_rows_the_same_is_kept_wherever_they_lie(spark: SparkSession) -> None:
    rows = [("r", "q", "d1", 2.0, 1), ("r", "q", "d1", 2.0, 3), ("r", "q", "d2", 2.0, 2)]
    qrels = spark.createDataFrame([("q", "d1", 1)], "qid string, docno string, rel int")
    for order in (rows, rows[::-1]):
        lines = spark.createDataFrame(order, "run string, qid string, docno string, sim double, rank int")
        found = on_spark.evaluate(lines.coalesce(1), qrels, "RR", ties="rank", errors="drop")
        assert [row["value"] for row in found.collect()] == [1.0]


def test_what_is_asked_wrongly_is_refused(few: tuple[DataFrame, DataFrame]) -> None:
    lines, qrels = few
    with pytest.raises(exaequo.InputError, match="runs: no column docno, only system, topic; expected one of docno"):
        on_spark.evaluate(lines.select("system", "topic"), qrels, "RR")
    with pytest.raises(exaequo.InputError, match="no column line; expected one, for ties='input'"):
        on_spark.evaluate(lines, qrels, "RR", ties="input")
    wrong_ones: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"salts": 0}, exaequo.BadParameter, "salts must be a whole number"),
        ({"errors": "ignore"}, exaequo.BadParameter, "errors must be one of raise, drop"),
        ({"columns": {"run": "name"}}, exaequo.InputError, "no column run, only system, topic"),
        ({"columns": {"run_id": "name"}}, exaequo.InputError, "no column run, only system, topic"),
        ({"columns": {"name": "system"}}, exaequo.BadParameter, r"^columns names qid, .*, prob\. Got 'name' instead"),
        ({"sample": 3}, TypeError, "unexpected keyword argument 'sample'; did you mean 'samples'"),
        ({"measures": []}, exaequo.UsageError, "measure"),
    ]
    for given, kind, said in wrong_ones:
        with pytest.raises(kind, match=said):
            on_spark.evaluate(lines, qrels, **{"measures": "RR", **given})
        with pytest.raises(kind, match=said):
            on_spark.append("nowhere", lines, qrels, **{"measures": "RR", **given})
    odd: list[Any] = ["r", [], iter([]), ["r", None]]
    for names in odd:
        with pytest.raises(exaequo.BadParameter, match="names must be those of some runs"):
            on_spark.evaluate(lines, qrels, "RR", names=names)
    with pytest.raises(exaequo.BadParameter, match=r"cutoffs must be whole numbers ≥ 1\. Got 0"):
        on_spark.ties(lines, qrels, [10, 0])


def test_frames_that_are_none_are_refused(spark: SparkSession, few: tuple[DataFrame, DataFrame]) -> None:
    lines, qrels = few
    stream = spark.readStream.format("rate").load().selectExpr("'1' qid", "'a' docno", "1.0 sim")
    odd: list[tuple[Any, str]] = [
        (stream, "runs: a stream, which has no end; expected a frame"),
        ({"1": {"a": 1}}, "runs: a dict; expected a frame of Spark"),
        (lines.selectExpr("topic", "docid", "current_timestamp() score"), "column score holds timestamp values"),
        (lines.selectExpr("topic", "docid", "array(score) score"), "column score holds array values"),
        (lines.selectExpr("array(system) run", "topic", "docid", "score"), "column run holds array values"),
    ]
    for frame_, said in odd:
        with pytest.raises(exaequo.InputError, match=said):
            on_spark.evaluate(frame_, qrels, "RR")
    twice = lines.filter("system = 's'").selectExpr("system", "2 topic", "docid", "1 score", "1 line")
    with pytest.raises(exaequo.ExaequoError, match=r"^run 's', topic '2': line is 1 \("), in_our_words():
        on_spark.evaluate(twice, qrels, "RR", ties="input").collect()
    with pytest.raises(TypeError, match="unexpected keyword argument 'samples'"):
        on_spark.ties(lines, qrels, samples=3)  # type: ignore[call-arg]
    with pytest.raises(exaequo.InputError, match="column docid holds double values"):
        on_spark.evaluate(lines.withColumn("docid", lines["score"].try_cast("double")), qrels, "RR")


def test_what_workers_lack_is_told(spark: SparkSession) -> None:
    def lacks(batches: Any) -> Any:
        import_module("nowhere")
        yield from batches

    said = "^Spark: a worker: ModuleNotFoundError: No module named 'nowhere' \\(workers need exaequo, Polars"
    with pytest.raises(exaequo.ExaequoError, match=said), in_our_words():
        spark.range(1).mapInArrow(lacks, "id bigint").collect()


def test_a_measure_of_the_caller_goes_along(spark: SparkSession) -> None:
    with exaequo.measures.registry.temporary():
        mine = exaequo.define("Mine", lambda ranking: ranking.returned * 2.0)
        data = Drawn(drawn(7).lines, drawn(7).qrels, [mine], Options())
        found, expected = scores(spark, data), whole(data)
        same(back(found), expected)
        mean = back(on_spark.means(found, [mine])).filter(run="run 0")["value"].item()
    assert mean == expected.filter(run="run 0")["value"].mean()


def test_a_table_grows_by_what_is_new(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    data, table = drawn(7), str(tmp_path / "scores")
    measures = list(map(exaequo.parse_measure, ("AP", "nDCG@10")))
    small = Drawn(data.lines, data.qrels, measures, Options())
    lines, qrels = frame(spark, data.lines), frame(spark, data.qrels)
    every = whole(small)["topic"].n_unique()
    with ThreadPoolExecutor(2) as both:  # at a time
        parts = [lines.filter(f"run = 'run {number}'") for number in range(2)]
        assert list(both.map(lambda part: on_spark.append(table, part, qrels, measures), parts)) == [every, every]
    (tmp_path / "scores" / "notes.txt").write_text("not of the table")
    assert on_spark.append(table, lines, qrels, measures) == every  # the third run
    same(read_table(table), whole(small))
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
    judged = qrels.unionByName(frame(spark, pl.DataFrame({"qid": ["t1"], "docno": ["new"], "rel": [1.0]})))
    nobody = lines.unionByName(lines.limit(1).withColumn("qid", F.lit(None).cast("string")))
    with pytest.raises(exaequo.ExaequoError, match="topic None: no id"), in_our_words():
        on_spark.append(table, nobody, judged, measures)
    assert on_spark.append(table, lines, judged, measures) == 3  # a topic of three runs
    with pytest.raises(exaequo.ExaequoError, match="topic None: no id"), in_our_words():  # where no list is new
        on_spark.append(table, nobody, judged, measures)
    with pytest.raises(exaequo.UsageError, match="made with other measures or options"):
        on_spark.append(table, lines, qrels, "RR")
    for name, said in (("none", "none: there is no table of scores"), ("qrels", "qrels: there is no table of scores")):
        (tmp_path / "qrels").mkdir(exist_ok=True)  # as a job leaves it that failed
        with pytest.raises(exaequo.ExaequoError, match=said):
            on_spark.table(spark, str(tmp_path / name))
    (tmp_path / "file").write_text("")
    with pytest.raises(exaequo.InputError, match="file: a file; expected a folder"):
        on_spark.append(str(tmp_path / "file"), lines, qrels, measures)
    header = frame(spark, pl.DataFrame({"run": ["tag"], "qid": ["t1"], "docno": ["docno"], "sim": [float("nan")]}))
    nan = frame(spark, pl.DataFrame({"qid": ["new"], "docno": ["a"], "rel": [float("nan")]}))
    # What is dropped makes no list.
    given = parts[0].select(header.columns).unionByName(header), qrels.unionByName(nan)
    dropped = f"{table} [a]{{b}}*?"  # a folder, no pattern
    assert [on_spark.append(dropped, *given, measures, errors="drop") for _ in range(2)] == [every, 0]
    same(back(on_spark.table(spark, dropped)), whole(small).filter(run="run 0"))
    (tmp_path / "other").mkdir()
    data.lines.write_parquet(tmp_path / "other" / "lines.parquet")
    with pytest.raises(exaequo.ExaequoError, match=r"no table of scores \(it has no column inputs"):
        on_spark.append(str(tmp_path / "other"), lines, qrels, measures)


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
    spark.conf.set("spark.sql.adaptive.enabled", "true")  # as it is by default
    assert command([*common, str(tmp_path / "runs.txt"), "-q", "--format", "parquet", "-o", out]) == 0
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    assert len([*Path(out).glob("*.parquet")]) == 2  # of topics, of means: small data are in one task
    same(pl.read_parquet(f"{out}/*.parquet"), expected)
    assert command([*common, str(tmp_path / "runs.txt"), "--format", "parquet", "-o", out]) == 1
    assert f"{out}: it is there already. Name another folder" in capfd.readouterr().err
    with pytest.raises(exaequo.ExaequoError, match="it is there already"):
        refuse_there(spark, str(Path(out).rename(tmp_path / "scores [1]")))
    counted = ["ties", str(tmp_path / "qrels.txt"), "-m", "AP P(rel=2)@5", "--table", "lists", "--format", "csv"]
    assert command([*counted, str(tmp_path / "runs.txt"), "--engine", "spark", "-o", str(tmp_path / "lists")]) == 0
    lists = pl.read_csv(f"{tmp_path}/lists/*.csv", schema_overrides={"topic": pl.String}).sort("run", "topic")
    assert command([*counted[:-4], str(tmp_path / "runs.txt"), "--engine", "spark"]) == 2
    names = sorted({line.split()[-1] for line in text.splitlines()[1:]})
    for name in names:
        own = [line for line in text.splitlines() if line.endswith(f" {name}")]
        (tmp_path / f"{name}.txt").write_text("\n".join(own))
    capfd.readouterr()
    assert command([*counted, *(str(tmp_path / f"{name}.txt") for name in names)]) == 0
    here = pl.read_csv(capfd.readouterr().out.encode(), schema_overrides={"topic": pl.String}).sort("run", "topic")
    assert lists.equals(here)
    asked = ["eval", str(tmp_path / "qrels.txt"), "-m", "AP gm(AP) NumRet", "--missing", "skip"]
    shown = []
    for where in ([str(tmp_path / f"{name}.txt") for name in names], [str(tmp_path / "runs.txt"), *common[-2:]]):
        for style in (["--sort", "AP", "--top", "2"], ["--ties", "all", "--full"], ["--format", "trec"]):
            assert command([*asked, *where, *style]) == 0
            shown.append(capfd.readouterr().out)
    assert shown[:3] == shown[3:]
    assert "Ties decide" in shown[0]
    assert command([*asked, str(tmp_path / "runs.txt"), *common[-2:], "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert [each["name"] for each in document["inputs"]["runs"]] == names
    assert {each["measure"] for each in document["ties"]} == {"AP", "gm(AP)"}
    every = expected["topic"].n_unique() - 1
    for missing, done in (("zero", "scored as empty lists"), ("skip", "left out")):
        few = [*common, str(tmp_path / "few.txt"), "--missing", missing]
        (tmp_path / "few.txt").write_text("t0 Q0 d 1 1 few\n")
        assert command(few) == 0
        assert f"run 'few': {every - 1} of {every} evaluated topics missing; {done}" in capfd.readouterr().err
        (tmp_path / "few.txt").write_text("other Q0 d 1 1 few\n")
        assert command([*few, str(tmp_path / "runs.txt")]) == 1
        assert "run 'few': none of its topics is judged; expected topics of the qrels" in capfd.readouterr().err
    (tmp_path / "bad.txt").write_text(text + "t0 Q0 d99 1 nan run0\n")
    assert command([*common, str(tmp_path / "bad.txt"), "--errors", "drop", "--format", "csv"]) == 0
    assert "runs: 1 row dropped: sim is not finite" in capfd.readouterr().err
    assert command([*common, str(tmp_path / "bad.txt")]) == 1
    error = capfd.readouterr().err
    assert "exaequo: run 'run0', topic 't0': sim is NaN (document 'd99'); expected a finite number." in error
    assert command([*common, str(tmp_path / "runs.txt"), "-q"]) == 2
    assert spark.range(3).count() == 3  # a session that was there goes on


def test_text_and_tables_are_read_as_here(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, text in (
        ("run.txt", "1 Q0\ta 1 2 r\n1\vQ0\fb 2 1.5 r x\n1 Q0 c 3 1\n1 Q0 d 3 1d r\n"),
        ("qrels.txt", "1 0 a 1\n1 0 b 1 1\n1 0 c\n"),
        ("run.csv", 'run,qid,docno,sim\nr,1,"a ""b""\\",2\n'),
        ("other.csv", "qid,run,docno,sim\n1,r,c,2\n"),
        ("run.xz", "packed"),
        ("nothing.txt", "# nothing\n"),
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.txt").write_bytes(b"1 Q0 \xe9t\xe9 1 2 r\n")

    def read(*names: str) -> list[Any]:
        with in_our_words():
            return read_runs(spark, [str(tmp_path / name) for name in names]).collect()

    found = sorted((each["docno"], each["sim"]) for each in read("run.txt"))
    assert found == [("a", 2.0), ("b", 1.5), ("c", None), ("d", None)]  # of five fields, and a number of Java alone
    judged = [each["rel"] for each in read_qrels(spark, str(tmp_path / "qrels.txt")).orderBy("docno").collect()]
    assert judged == [1.0, None, None]
    assert read("run.csv")[0]["docno"] == 'a "b"\\'
    for name, document in (("bm25.csv", "a"), ("dense.csv", "b")):
        (tmp_path / name).write_text(f"qid,docno,sim\n1,{document},2\n")
    (tmp_path / "all.csv").mkdir()
    (tmp_path / "all.csv" / "part.csv").write_text("qid,docno,sim\n1,c,2\n")
    mixed = {(each["run"], each["docno"]) for each in read("bm25.csv", "dense.csv", "all.csv/", "run.txt")}
    assert {("all", "c"), ("bm25", "a"), ("dense", "b"), ("r", "a")} < mixed  # names, as here, where no column has them
    assert read("bm*.csv")[0]["run"] == "run"
    with pytest.raises(exaequo.ExaequoError, match=r"header does not conform .* Expected: run but found: qid CSV file"):
        read("run.csv", "other.csv")
    with pytest.raises(exaequo.ExaequoError, match=r"^Spark: .{120} \(text is UTF-8; a table is called .parquet"):
        read("latin.txt")
    with pytest.raises(exaequo.InputError, match=r"Spark does not unpack \.xz"):
        read("run.xz")
    asked = ["eval", str(tmp_path / "run.csv"), str(tmp_path / "nothing.txt"), "--columns", "rel=sim"]
    assert command([*asked, "--engine", "spark"]) == 1
    assert capfd.readouterr().err.endswith("There are no scores: the runs have no rows, or no judgment is relevant.\n")


SAMPLES = {
    "chances": "1 a 1 1 0.25\n1 b 0 0 0.5\n2 c 2 2 0.125\n2 d 1 1 NA\n3 e 1 0 0.5\n",
    "strata": "1 0 a 1 1\n1 0 b 2 0\n2 0 c 1 2\n",
    "subtopics": "1 0 a 1\n1 1 a 2\n",
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_judgments_are_read_as_here(spark: SparkSession, kind: str, tmp_path: Path) -> None:
    """Some methods are certain, whatever chance stands there."""
    (tmp_path / "qrels.txt").write_text(SAMPLES[kind])
    found = back(read_qrels(spark, str(tmp_path / "qrels.txt")))
    expected = judgments_of(exaequo.read_qrels(tmp_path / "qrels.txt"))
    columns = [name for name in expected.columns if name in found.columns]
    assert {"qid", "docno", "rel"} < {*columns}
    assert found.select(columns).rows() == expected.select(columns).rows()


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An archive under a relative path; workers began elsewhere."""
    write_archive(tmp_path / "archive")
    monkeypatch.chdir(tmp_path)
    return "archive"


def files(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file()}


def test_a_study_is_the_same_and_done_once(
    spark: SparkSession, archive: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    said = []
    for engine, jobs in (("local", ["--jobs", "1"]), ("spark", [])):
        assert command(["study", archive, "-o", engine, "--engine", engine, *jobs]) == 1  # one run is broken
        out, err = capfd.readouterr()
        said.append((out, [line for line in err.splitlines() if "left out: " in line]))
    assert said[0] == said[1]
    assert "archive/adhoc/2000/runs/run3:" in said[1][1][0]
    made = files(Path("spark"))
    assert made == files(Path("local"))
    results = sorted(Path("spark/work").glob("*.result"))
    assert len(results) == 7
    results[0].write_bytes(results[0].read_bytes()[:-1])  # a damaged result counts as not there
    written: list[str] = []

    def noted(path: str, data: bytes) -> None:
        written.append(path)
        write_whole(path, data)

    monkeypatch.setattr(cluster, "write_whole", noted)
    monkeypatch.setattr(cluster, "_WAVE", 3)
    assert command(["study", archive, "-o", "spark", "--engine", "spark"]) == 1
    assert written == [str(results[0])]
    assert files(Path("spark")) == made
    capfd.readouterr()
    for wrong in (["--engine", "spark", "--jobs", "2"], ["--master", "local"]):
        assert command(["study", archive, "-o", "wrong", *wrong]) == 2
    assert spark.range(3).count() == 3
    capfd.readouterr()


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


def test_a_worker_that_is_killed_changes_nothing(archive: str) -> None:
    """Two executors of their own; one is killed while they evaluate, and one while they study."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    more = {"spark.executor.memory": "512m", "spark.task.maxFailures": "8", "spark.shuffle.io.retryWait": "500ms"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = started("local-cluster[2,1,1024]", **more)
    try:
        data = skewed()
        with one_killed():
            same(back(scores(session, data, parts=4)), whole(data))
        with one_killed():
            found = study(archive, "there", spark=session)
        expected = study(archive, "here")
        assert found.tables.keys() == expected.tables.keys()
        assert all(found.tables[name].equals(each) for name, each in expected.tables.items())
        assert found.about == expected.about
    finally:
        session.stop()


@contextmanager
def one_killed() -> Iterator[None]:
    victims: list[int] = []
    killer = threading.Thread(target=_kill_one, args=(victims,))
    killer.start()
    yield
    killer.join()
    assert victims


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
