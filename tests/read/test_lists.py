"""Ranked lists, relevant ids, golden sets and logs: the same table from all shapes, and the place of what is wrong."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace as Thing
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exaequo import InputError, evaluate, read_qrels, read_run
from exaequo.choices import STRATEGIES
from exaequo.read import each_run

RANKED = [("1", "d3", 2.0, "1"), ("1", "d1", 1.0, "2"), ("2", "d4", 1.0, "1")]
JUDGED = [("1", "d1", 1.0), ("1", "d9", 1.0), ("2", "d4", 1.0)]


def rows(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return frame.select(columns).rows()


def ranked(data: Any, **options: Any) -> list[tuple[Any, ...]]:
    return rows(read_run(data, **options).frame, "qid", "docno", "sim", "rank")


def judged(data: Any, **options: Any) -> list[tuple[Any, ...]]:
    return rows(read_qrels(data, **options).frame, "qid", "docno", "rel")


def records(query: str, field: str, lists: Iterable[Any]) -> list[dict[str, Any]]:
    return [{query: at, field: each} for at, each in enumerate(lists, 1)]


RUNS: dict[str, Any] = {
    "lists": {"1": ["d3", "d1"], "2": ["d4"]},
    "tuples": {1: ("d3", "d1"), 2: ("d4",)},
    "arrays": {"1": np.array(["d3", "d1"]), "2": np.array(["d4"])},
    "columns of Polars": {"1": pl.Series(["d3", "d1"]), "2": pl.Series(["d4"])},
    "pairs": {"1": [("d3", 2), ("d1", 1)], "2": [["d4", 1.0]]},
    "dicts": {"1": [{"id": "d3"}, {"id": "d1"}], "2": [{"id": "d4"}]},
    "dicts with scores": {
        "1": [{"doc_id": "d3", "score": 2}, {"doc_id": "d1", "score": 1}],
        "2": [{"doc_id": "d4", "score": 1}],
    },
    "Haystack": {"1": [Thing(id="d3", score=None), Thing(id="d1", score=None)], "2": [Thing(id="d4", score=None)]},
    "LangChain": {"1": [Thing(id=None, metadata={"id": "d3"}), Thing(id=None, metadata={"id": "d1"})], "2": []},
    "LlamaIndex": {
        "1": [Thing(node=Thing(node_id="d3"), score=2.0), Thing(node=Thing(node_id="d1"), score=1.0)],
        "2": [],
    },
    "pairs of documents": {"1": [(Thing(id="d3"), 2.0), (Thing(id="d1"), 1.0)], "2": [(Thing(id="d4"), 1)]},
    "records": records("qid", "retrieved_ids", [["d3", "d1"], ["d4"]]),
    "ragas": records("id", "retrieved_context_ids", [["d3", "d1"], ["d4"]]),
    "objects": [Thing(query_id="1", retrieved_ids=["d3", "d1"]), Thing(query_id="2", retrieved_ids=["d4"])],
    "held": {"samples": records("_id", "retrieved", [["d3", "d1"], ["d4"]])},
    "side by side": {"question": ["1", "2"], "retrieved_documents": [["d3", "d1"], ["d4"]]},
    "numbers beside": [
        {"id": 1, "retrieved_ids": ["d3", "d1"], "scores": [2, 1]},
        {"id": 2, "retrieved_ids": ["d4"], "scores": np.array([1.0])},
    ],
    "Polars": pl.DataFrame(records("qid", "retrieved", [["d3", "d1"], ["d4"]])),
    "pandas": pd.DataFrame(records("qid", "retrieved", [["d3", "d1"], ["d4"]])),
}
QRELS: dict[str, Any] = {
    "lists": {"1": ["d1", "d9"], "2": ["d4"]},
    "dicts": {"1": {"d1": 1, "d9": 1}, "2": {"d4": 1}},
    "frozen sets": {1: frozenset({"d1", "d9"}), 2: {"d4"}},
    "pairs": {"1": [("d1", 1), ("d9", 1)], "2": [("d4", 1)]},
    "golden": records("id", "relevant", [["d1", "d9"], ["d4"]]),
    "LlamaIndex": records("query_id", "expected_ids", [["d1", "d9"], ["d4"]]),
    "graded": records("id", "relevant", [{"d1": 1, "d9": 1}, {"d4": 1}]),
    "records of documents": records(
        "id", "relevant", [[{"id": "d1", "grade": 1}, {"id": "d9", "grade": 1}], [{"id": "d4", "grade": 1}]]
    ),
    "grades beside": [
        {"id": 1, "relevant": ["d1", "d9"], "grades": [1, 1]},
        {"id": 2, "relevant": ["d4"], "grades": [1]},
    ],
    "an evaluator": Thing(queries={}, corpus={}, relevant_docs={"1": ["d1", "d9"], "2": {"d4"}}),
    "sentence-transformers": {"queries": {"1": "a"}, "corpus": {}, "relevant_docs": {"1": ["d1", "d9"], "2": ["d4"]}},
    "BEIR": [
        {"query-id": "1", "corpus-id": "d1", "score": 1},
        {"query-id": "1", "corpus-id": "d9", "score": 1},
        {"query-id": "2", "corpus-id": "d4", "score": 1},
    ],
}


@pytest.mark.parametrize("shape", RUNS)
def test_runs(shape: str) -> None:
    one = [line for line in RANKED if line[0] == "1"]
    assert ranked(RUNS[shape]) == (one if shape in ("LangChain", "LlamaIndex") else RANKED)
    assert each_run(RUNS[shape]) == [(None, RUNS[shape])] or shape in ("Polars", "pandas")
    assert [name for name, _ in each_run({"a": RUNS[shape], "b": RUNS[shape]})] == ["a", "b"]


@pytest.mark.parametrize("shape", QRELS)
def test_qrels(shape: str) -> None:
    assert sorted(judged(QRELS[shape])) == JUDGED


@pytest.mark.parametrize("ending", ["json", "jsonl", "json.gz", "jsonl.gz", "parquet"])
@pytest.mark.parametrize("shape", ["records", "lists", "pairs", "dicts", "held", "side by side", "ragas"])
def test_files(shape: str, ending: str, tmp_path: Path) -> None:
    data, path = RUNS[shape], tmp_path / f"mine.{ending}"
    if ending == "parquet" and shape in ("records", "ragas"):
        pl.DataFrame(data).write_parquet(path)
    elif ending.startswith("json") and (isinstance(data, list) or "l" not in ending):
        text = "\n".join(map(json.dumps, data)) if "l" in ending else json.dumps(data, indent=1)
        path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    else:
        return
    assert ranked(path) == RANKED
    assert read_run(str(path)).name == "mine"


def test_rows_in_json(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(
        '[{"qid": "007", "docno": 5, "sim": 0.5, "meta": {"a": [1]}}, {"qid": "x", "docno": "a", "sim": 1}]'
    )
    assert rows(read_run(path).frame, "qid", "docno", "sim") == [("007", "5", 0.5), ("x", "a", 1.0)]


def test_a_list_has_no_ties() -> None:
    lists = {"q": ["z", "b", "a", "c"]}
    scores = evaluate({"q": ["b"]}, lists, "RR", ties=[*STRATEGIES, "expected"])
    assert {scores.mean("RR", ties=ties) for ties in scores.ties} == {0.5}


@pytest.mark.filterwarnings("ignore:.*none of its documents is judged")
@given(st.lists(st.integers(0, 999), unique=True, min_size=1), st.sets(st.integers(0, 999), min_size=1))
def test_a_list_is_worth_what_falling_scores_are(found: list[int], relevant: set[int]) -> None:
    falling = {"q": {docno: -at for at, docno in enumerate(found)}}
    for measure in ("AP", "nDCG@5", "RR"):
        ours = evaluate({"q": relevant}, {"q": found}, measure).mean(measure)
        assert ours == evaluate({"q": dict.fromkeys(relevant, 1)}, falling, measure).mean(measure)


def test_pairs_keep_their_ties() -> None:
    tied = {"q": [("b", 0.5), ("a", 0.5)]}
    scores = evaluate({"q": ["b"]}, tied, "RR", ties=["realistic", "optimistic", "input", "rank"])
    assert [scores.mean("RR", ties=ties) for ties in scores.ties] == [0.5, 1.0, 1.0, 1.0]


def test_one_file_is_both(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    both = [
        {"user_input": "How  to?", "retrieved_context_ids": ["b", "a"], "reference_context_ids": ["a"]},
        {"user_input": "Why?", "retrieved_context_ids": [1, 2], "reference_context_ids": [1]},
    ]
    path.write_text("\n".join(map(json.dumps, both)), encoding="utf-8")
    scores = evaluate(path, path, "RR")
    assert scores.mean("RR") == 0.75
    assert list(scores.evaluated) == ["How to?", "Why?"]


def test_queries_without_ids_that_are_there_again() -> None:
    texts = ["a", "b", "a", "a #2"]
    golden = [{"query": text, "relevant": [at]} for at, text in enumerate(texts)]
    qrels = read_qrels(golden)
    assert qrels.frame["qid"].to_list() == ["a", "b", "a #3", "a #2"]
    assert "the query 'a' is there 2 times, without ids" in qrels.source.remarks[0]
    run = [{"query": text, "retrieved": [at]} for at, text in enumerate(texts)]
    run.insert(0, run.pop(1))  # another order of other queries is nothing
    with pytest.warns(match="told apart by order"):
        assert evaluate(golden, run, "RR").mean("RR") == 1


def test_a_field_of_both_is_named() -> None:
    golden = [{"id": 7, "query": "why not", "relevant": ["a"]}]
    run = [{"query": "why not", "retrieved": ["a"]}]
    with pytest.raises(InputError, match=r"its only topic is not judged .*--columns qid=NAME"):
        evaluate(golden, run, "RR")
    assert evaluate(golden, run, "RR", columns={"qid": "query"}).mean("RR") == 1
    mine = [{"query": "why not", "found": ["b", "a"], "relevant": ["a"]}]
    assert evaluate(golden, mine, "RR", columns={"qid": "query", "docno": "found"}).mean("RR") == 0.5


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"1": {"a", "b"}}, r"topic '1': it is set .*, which has no order; expected a list of ids"),
        ({"1": ["a", ("b", 1)]}, r"topic '1': \('b', 1\) is a pair, the first of all lists an id"),
        ({"1": ["a"], "2": {"b": 1}}, "topic '2': numbers by id here, a list in topic '1'"),
        ({"1": ["a"], "2": "b"}, "topic '2': it is str 'b'"),
        ({"1": ["a"], "2": pd.DataFrame({"a": [1]})}, "topic '2': it is DataFrame"),
        (
            {"1": ["a", "b", "a"]},
            "topic '1', document 3: document 'a' of topic '1' is here and in topic '1', document 1",
        ),
        ({"1": ["a"], "2": ["a", None]}, "topic '2': None is no id"),
        ({"1": [True]}, "topic '1': document True is bool"),
        ({"1": [0.5]}, "topic '1': document 0.5 is float"),
        ({"1": [("a", 1), ("b",)]}, r"topic '1': \('b',\) has 1 part; expected pairs"),
        ({"1": [("a", 1), ("b", "x")]}, "topic '1', document 2: score is 'x'"),
        ({"1": [{"id": "a"}, {"name": "b"}]}, "topic '1': a dict without an id, only name"),
        ({"1": [Thing(text="b")]}, "topic '1': a SimpleNamespace without an id"),
        ({"1": []}, "there are no rows"),
        ({"1": ["a\ud800"]}, r"'a\\ud800' holds half a character; expected text"),
        ({"\ud800": {"a": 1}}, r"'\\ud800' holds half a character"),
        ([{"qid": "1", "docno": "\udcff", "sim": 1}], r"'\\udcff' holds half a character"),
        ([{"id": 1, "retrieved": ["a"]}, {"id": 1, "retrieved": ["b"]}], "record 2: query '1' is here and in record 1"),
        ([{"id": 1, "retrieved": ["a"]}, {"id": None, "retrieved": ["b"]}], "record 2: id is null"),
        ([{"id": 1, "retrieved": ["a"]}, {"retrieved": ["b"]}], "record 2: no id, but retrieved; expected id, as in"),
        ([{"id": 1, "retrieved": ["a"]}, {"id": 2, "retrieved": None}], r"record 2: retrieved is null; .*Write \[\]"),
        ([{"id": 1, "retrieved": ["a"], "scores": [1, 2]}], "record 1: retrieved has 1 document, scores 2 numbers"),
        ([{"id": 1, "retrieved": [("a", 1)], "scores": [1]}], "numbers both in retrieved and in scores"),
        ([{"id": 1, "relevant": ["a"]}], "no field for retrieved documents among id, relevant.*qrels come first"),
        ([{"retrieved": ["a"]}], "no field for the query among retrieved"),
        ({"query": ["a", "b"], "retrieved": [["a"]]}, "columns of different lengths: query 2, retrieved 1"),
    ],
)
def test_what_is_refused(data: Any, said: str) -> None:
    with pytest.raises(InputError, match=f"^run: .*{said}"):
        read_run(data)


@pytest.mark.parametrize(
    ("ending", "text", "said"),
    [
        ("json", '{"1": ["a"],\n "2": ["b", "b"]}', r":2: topic '2', document 2: document 'b'"),
        ("json", '[{"id": 1, "relevant": ["a"]},\n\n {"id": 2, "relevant": "a"}]', ":3: record 2: relevant is str 'a'"),
        ("jsonl", '{"id": 1, "relevant": ["a"]}\n\n{"id": 2}\n', ":3: record 2: no relevant, but id"),
        ("jsonl", '{"id": 1, "relevant": ["a"]}\nx\n[]\n', r":2: not a JSON object \('x'\)"),
        ("jsonl", '{"id": 1, "relevant": ["a"], "id": 2}', ":1: 'id' is here twice"),
        ("jsonl", '{"qid": 1, "docno": "a", "rel": 1}\n{"id": 1, "relevant": ["a"]}\n', ":2: no qid"),
        ("json", '{"1": ["a"],\n"1": ["b"]}', ":2: '1' is here 2 times"),
        ("json", '{"1": {"a": 1, "a": 2}}', ":1: 'a' is here twice"),
        ("json", '{"1": ["a"]', r":1: neither a comma nor \} here"),
        ("json", '{"1": ["a"]} 2', ":1: there is more after the end"),
        ("json", '{"1": {"a": NaN}}', ":1: NaN is no JSON"),
        ("json", '{"1": [["a", 1],\n ["b" 2]]}', ":2: no JSON"),
        ("json", '["a", "b"]', ":1: no row .*Name the query of each"),
        ("json", '[{"qid": 1, "docno": "a", "rel": 1},\n{"qid": 1, "docno": true, "rel": 2}]', ":2: docno is 'true'"),
        ("json", '[{"id": "\\ud800", "relevant": ["a"]}]', ":1: no value that can be read"),
        ("json", "[" * 100_000, ":1: no value that can be read"),
        ("json", "[]", ": there are no rows"),
        ("json", "7", ":1: this is no JSON object or list"),
    ],
)
def test_what_is_refused_in_files(ending: str, text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / f"golden.{ending}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"golden\.{ending}{said}"):
        read_qrels(path)
