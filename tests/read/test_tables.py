"""Tables and objects: the columns of other tools, and the same table from all of them."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import ranx

from exaequo import BadParameter, InputError, evaluate, read_qrels, read_run
from exaequo.choices import TABLE_READERS
from exaequo.read import unique_names
from exaequo.read.objects import records_of
from exaequo.read.tables import KINDS

pytestmark = pytest.mark.ranx
RUN = {"007": {"FT8": 0.8, "LA12": 0.5}, "x": {"FT8": -3.0}}
QRELS = {"007": {"FT8": 1, "ZF1": 0}, "x": {"LA12": 2}}
ROWS = [(qid, docno, sim) for qid, docs in RUN.items() for docno, sim in docs.items()]
JUDGED = [(qid, docno, rel) for qid, docs in QRELS.items() for docno, rel in docs.items()]
NAMES = [
    ("query_id", "doc_id", "score", "relevance"),
    ("qid", "docno", "score", "label"),
    ("q_id", "doc_id", "score", "score"),
    ("query", "docid", "score", "rel"),
]


def same_run(data: Any, **options: Any) -> None:
    assert sorted(read_run(data, **options).frame.select("qid", "docno", "sim").rows()) == sorted(ROWS)


def same_qrels(data: Any, **options: Any) -> None:
    assert sorted(read_qrels(data, **options).frame.select("qid", "docno", "rel").rows()) == sorted(JUDGED)


@pytest.mark.parametrize("names", NAMES, ids=["ir_measures", "PyTerrier", "ranx", "trectools"])
def test_frames_and_files(names: tuple[str, str, str, str], tmp_path: Path) -> None:
    qid, docno, score, label = names
    run = pl.DataFrame(ROWS, schema=[qid, docno, score], orient="row")
    qrels = pl.DataFrame(JUDGED, schema=[qid, docno, label], orient="row")
    for frame, same in ((run, same_run), (qrels, same_qrels)):
        same(frame)
        same(frame.lazy())
        same(pd.DataFrame(frame.to_dict(as_series=False)))
        same(pa.table(frame.to_dict(as_series=False)))
        frame.write_csv(tmp_path / "t.csv")
        frame.write_csv(tmp_path / "t.tsv", separator="\t")
        frame.write_ndjson(tmp_path / "t.jsonl")
        frame.write_parquet(tmp_path / "t.parquet")
        for ending in ("csv", "tsv", "jsonl", "parquet"):
            same(tmp_path / f"t.{ending}")
        (tmp_path / "table").write_bytes((tmp_path / "t.csv").read_bytes())
        same(tmp_path / "table", reader="csv")


def test_every_kind_of_table_has_a_reader_and_an_ending() -> None:
    assert list(KINDS) == list(TABLE_READERS)
    assert all(ending.startswith(".") for endings in TABLE_READERS.values() for ending in endings)


def test_names_given_by_the_user() -> None:
    frame = pl.DataFrame(ROWS, schema=["Frage", "Dokument", "Wert"], orient="row")
    same_run(frame, columns={"qid": "Frage", "docno": "Dokument", "sim": "Wert"})


def test_objects_of_other_libraries() -> None:
    same_run(RUN)
    same_qrels(QRELS)
    same_run(ir_measures.ScoredDoc(*row) for row in ROWS)
    same_qrels([ir_measures.Qrel(*row) for row in JUDGED])
    same_run(ranx.Run(RUN, name="r"))
    assert read_run(ranx.Run(RUN, name="mine")).name == "mine"
    kept = ranx.Qrels({"007": {"FT8": 1}, "x": {"LA12": 2}})
    assert sorted(read_qrels(kept).frame.select("qid", "docno", "rel").rows()) == [("007", "FT8", 1), ("x", "LA12", 2)]


def test_objects_of_ranx_are_what_they_say_they_are() -> None:
    run = ranx.Run({"q2": {"d1": 1.5, "dé": 2.5}, "q1": {"a_longer_name": 0.25}})
    grown = ranx.Run()  # its dicts are of another kind
    for topic, document, score in (("q1", "d1", 2), ("q1", "d2", 3), ("x", "d1", 1)):
        grown.add_score(topic, document, score)
    for each in (run, grown):
        assert records_of(each) == each.to_dict()
        assert [*records_of(each)["q1"]] == [*each.to_dict()["q1"]]
        assert read_run(each).frame.equals(read_run(each.to_dict()).frame)
    qrels = ranx.Qrels({"q1": {"d1": 1, "d2": 0}})
    assert records_of(qrels) == qrels.to_dict()
    with pytest.raises(InputError, match="expected a path, a frame"):
        read_run(type("Report", (), {"__module__": "ranx.data_structures.report"})())


def test_numpy_scalars_and_integer_ids() -> None:
    run = {np.int64(7): {11: np.float32(0.5), 12: np.int8(2)}}
    assert read_run(run).frame.select("qid", "docno", "sim").rows() == [("7", "11", 0.5), ("7", "12", 2.0)]
    frame = pd.DataFrame({"qid": [1, 1], "docno": [11, 12], "label": np.array([1, 0], dtype=np.int8)})
    assert read_qrels(frame).frame.select("qid", "docno", "rel").rows() == [("1", "11", 1.0), ("1", "12", 0.0)]


def test_pyterrier_frame_with_the_text_of_the_query() -> None:
    frame = pd.DataFrame(
        {"qid": ["1"], "query": ["black bear attacks"], "docid": [5], "docno": ["FT8"], "score": [0.5], "rank": [0]}
    )
    assert read_run(frame).frame.select("qid", "docno", "sim", "rank").rows() == [("1", "FT8", 0.5, "0")]


def test_csv_keeps_ids_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('qid,docno,score\n007,"a, b",1\n\n08,1e3,2\n', encoding="utf-8")
    assert read_run(path).frame.select("qid", "docno", "sim").rows() == [("007", "a, b", 1.0), ("08", "1e3", 2.0)]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("qid,docno,score\n1,a,1\n1,b\n", 3, "score is missing"),
        ("qid,docno,score\n1,a,one\n", 2, "score is 'one'"),
        ("qid,docno,score\n1,a,NaN\n", 2, "score is 'NaN'"),
        ("qid,docno,score\n1,a,inf\n", 2, "score is 'inf'"),
        ("qid,docno,score\n,a,1\n", 2, "no qid"),
        ("qid,docno,score\n1,a,1\n2,a,1\n1,a,2\n", 4, "document 'a' of topic '1' is here and in line 2"),
        ("qid,docno,score\n\n1,a,1\n\n\n1,a,2\n", 6, "document 'a' of topic '1' is here and in line 3"),
        ("qid,docno,scor\n1,a,1\n", 1, "no column for sim among qid, docno, scor"),
        ("1,a,1\n1,b,2\n", 1, "no column for qid"),
        ("qid,docno,score\n", None, "there are no rows"),
        ("", None, "empty"),
    ],
)
def test_a_bad_csv(tmp_path: Path, text: str, line: int | None, found: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_run(path)
    assert raised.value.problems[0].line == line
    assert found in raised.value.problems[0].found


def test_other_bad_tables(tmp_path: Path) -> None:
    lines = tmp_path / "r.jsonl"
    lines.write_text('{"qid": "1", "docno": "a", "score": 1}\n{"qid": "1", \n', encoding="utf-8")
    with pytest.raises(InputError, match=r"r.jsonl:2: not a JSON object"):
        read_run(lines)
    parquet = tmp_path / "r.parquet"
    buffer = io.BytesIO()
    pl.DataFrame(ROWS, schema=["qid", "docno", "score"], orient="row").write_parquet(buffer)
    parquet.write_bytes(buffer.getvalue()[:-20])
    with pytest.raises(InputError, match=r"cannot be read as parquet"):
        read_run(parquet)
    latin = tmp_path / "r.csv"
    latin.write_bytes(b"qid,docno,score\n1,caf\xe9,1\n")
    with pytest.raises(InputError, match=r"r.csv:2: byte 0xe9 is not UTF-8"):
        read_run(latin)


@pytest.mark.parametrize(
    "data",
    [
        {"1": {"a": "high"}},
        {"1": {"a": None}},
        {"1": {"a": float("nan")}},
        {"1": 5},
        {},
        {"1": {}},
        [("1", "a", 1.0)],
        17,
        pd.DataFrame({"qid": [1.5], "docno": ["a"], "score": [1.0]}),
        pd.DataFrame({"qid": ["1", None], "docno": ["a", "b"], "score": [1.0, 2.0]}),
        {None: {"a": 1.0}},
        {"1": {b"a": 1.0}},
        pl.DataFrame({"qid": ["1"], "docno": ["a"], "score": [[1.0]]}),
        pl.DataFrame({"qid": ["1"], "docno": ["a"], "score": [datetime.date(2020, 1, 1)]}),
        pd.DataFrame([["1", "a", 1.0, 2.0]], columns=["qid", "docno", "score", "score"]),
        pd.Series([1.0]),
        pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "a"], "score": [1.0, 2.0]}),
    ],
    ids=lambda data: str(data)[:20],
)
def test_bad_objects(data: Any) -> None:
    with pytest.raises(InputError):
        read_run(data)


def test_lines_are_counted_where_they_stand(tmp_path: Path) -> None:
    lines = tmp_path / "r.jsonl"
    lines.write_text('{"qid":"1","docno":"a","score":1}\n\n\n{"qid":"1","docno":"b","score":"x"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"r.jsonl:4: score is 'x'"):
        read_run(lines)
    lines.write_text('{"qid":"1","docno":"a","score":NaN}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"r.jsonl:1: not a JSON object"):
        read_run(lines)
    table = tmp_path / "r.csv"
    table.write_text('qid,docno,score\n1,"a\nb",1\n1,b,x\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"r.csv: row 1: score is 'x'"):
        read_run(table)
    table.write_text("qid,docno,score\n1,a,1\n1,b,2,3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"r.csv:3: 4 fields; expected 3"):
        read_run(table)


def test_quotes_are_letters_in_tsv(tmp_path: Path) -> None:
    path = tmp_path / "r.tsv"
    path.write_text('qid\tdocno\tscore\n1\ta\t0.1\n1\t"c\t0.5\n1\tb\t0.4\n1\td"\t0.3\n', encoding="utf-8")
    assert read_run(path).frame["docno"].to_list() == ["a", '"c', "b", 'd"']


def test_columns_that_exaequo_does_not_know() -> None:
    with pytest.raises(BadParameter, match=r"Got 'score' instead"):
        read_run(pl.DataFrame(ROWS, schema=["qid", "docno", "score"], orient="row"), columns={"score": "x"})


def test_mixed_columns_of_pandas() -> None:
    frame = pd.DataFrame({"qid": ["1", 1], "docno": ["a", 5], "score": ["0.5", 0.4]}, dtype=object)
    assert read_run(frame).frame.select("qid", "docno", "sim").rows() == [("1", "a", 0.5), ("1", "5", 0.4)]
    missing = pd.DataFrame({"qid": pd.array([1, pd.NA], dtype="Int64"), "docno": ["a", "b"], "score": [1.0, 2.0]})
    with pytest.raises(InputError, match="row 1: no qid"):
        read_run(missing)


def test_jsonl_with_integer_ids(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(json.dumps({"qid": 7, "docno": i, "score": i}) for i in range(3)), encoding="utf-8")
    assert read_run(path).frame["docno"].to_list() == ["0", "1", "2"]


def test_runs_are_told_apart() -> None:
    frame = pl.DataFrame(ROWS, schema=["qid", "docno", "score"], orient="row")
    tuples = [ir_measures.ScoredDoc(*row) for row in ROWS]
    cases: list[tuple[Any, list[str]]] = [
        (RUN, ["run"]),
        (frame, ["run"]),
        (tuples, ["run"]),
        ({"a": RUN, "b": frame}, ["a", "b"]),
        ({"a": frame}, ["a"]),
        ([RUN, frame, tuples], ["run", "run #2", "run #3"]),
    ]
    for runs, names in cases:
        assert evaluate(QRELS, runs, "AP").runs == names


def test_runs_that_share_a_name_add_their_file() -> None:
    pairs = [("bm25", "a/x.txt"), ("bm25", "a/y.txt"), ("dense", "b/x.txt"), ("sys", "a/z.txt"), ("sys", "b/z.txt")]
    assert unique_names(pairs) == ["bm25 (x.txt)", "bm25 (y.txt)", "dense", "sys (a/z.txt)", "sys (b/z.txt)"]
    assert unique_names([("s", "f.txt"), ("s", "f.txt")]) == ["s (f.txt)", "s (f.txt) #2"]
    taken = [("s #3", "s"), *[("s", "s")] * 3, ("s #2", "s")]
    assert unique_names(taken) == ["s #3", "s", "s #2", "s #4", "s #2 #2"]
    many = unique_names([("run", "run")] * 10_000)  # of which each once tried all names before its own
    assert (len({*many}), many[-1]) == (10_000, "run #10000")
