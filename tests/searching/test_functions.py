"""A retriever itself: asked, timed, cut, and read whatever it returns."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace as Thing
from typing import Any

import polars as pl
import pytest

import exaequo
from exaequo import BadParameter, DataWarning, InputError, evaluate, gate

GOLDEN = [{"id": 1, "query": "red shoes", "relevant": ["a"]}, {"id": 2, "query": "tea", "relevant": ["b"]}]


def shop(query: str) -> list[str]:
    return ["b", "a"] if query == "tea" else ["a", "b"]


class Retriever:
    def invoke(self, query: str) -> list[Any]:
        return [Thing(id=each, page_content=query, metadata={}) for each in shop(query)]


QUERIES: dict[str, Any] = {
    "golden": GOLDEN,
    "ids": {"1": "red shoes", 2: "tea"},
    "frame": pl.DataFrame(GOLDEN),
    "evaluator": Thing(queries={"1": "red shoes", "2": "tea"}),
    "held": {"queries": {"1": "red shoes", "2": "tea"}, "corpus": {}},
    "side by side": {"id": [1, 2], "query": ["red shoes", "tea"], "relevant": [["a"], ["b"]]},
}


@pytest.mark.parametrize("shape", QUERIES)
def test_queries(shape: str) -> None:
    run = exaequo.run(shop, QUERIES[shape])
    assert run.name == "shop"
    assert evaluate(GOLDEN, run, "RR").mean("RR") == 1


def test_texts_are_ids() -> None:
    run = exaequo.run(shop, ["tea", "red shoes", "tea"], name="mine")
    assert run.frame["qid"].unique(maintain_order=True).to_list() == ["tea", "red shoes", "tea #2"]
    assert run.name == "mine"


def test_files_of_queries_and_of_runs(tmp_path: Path) -> None:
    golden = tmp_path / "golden.jsonl"
    pl.DataFrame(GOLDEN).write_ndjson(golden)
    run = exaequo.run(shop, golden)
    run.frame.write_ndjson(tmp_path / "baseline.jsonl")
    assert gate(golden, tmp_path / "baseline.jsonl", run, "RR").state in ("passed", "undecided")
    assert evaluate(golden, tmp_path / "baseline.jsonl", "RR").mean("RR") == 1


@pytest.mark.parametrize(
    "search",
    [
        shop,
        Retriever(),
        Thing(
            retrieve=lambda query: [Thing(node=Thing(node_id=each), score=-at) for at, each in enumerate(shop(query))]
        ),
        lambda query: {"documents": [Thing(id=each, score=None) for each in shop(query)]},
        lambda query: iter(shop(query)),
        lambda query: {each: -at for at, each in enumerate(shop(query))},
        lambda query: [{"id": each, "score": -at} for at, each in enumerate(shop(query))],
        lambda query: [(Thing(id=each), 0.5 - at) for at, each in enumerate(shop(query))],
    ],
)
def test_answers(search: Any) -> None:
    assert evaluate(GOLDEN, exaequo.run(search, GOLDEN), "RR").mean("RR") == 1


def test_time_is_taken() -> None:
    def slow(query: str) -> list[str]:
        time.sleep(0.03 if query == "tea" else 0)
        return ["a"]

    latency = exaequo.run(slow, GOLDEN).latency
    assert latency is not None
    assert latency.frame["qid"].to_list() == ["1", "2"]
    assert latency.frame["seconds"][1] >= 0.03
    assert latency.p95 == latency.frame["seconds"].max()
    assert latency.median == pytest.approx(latency.frame["seconds"].mean())
    assert "p95" in repr(latency)


def test_lists_are_cut() -> None:
    def found(_: str, k: int) -> list[tuple[str, float]]:
        return [(f"d{at}", -float(at)) for at in range(k + 1)][::-1]

    assert exaequo.run(found, ["a"], k=2).frame["docno"].to_list() == ["d1", "d0"]
    assert exaequo.run(lambda _: ["c", "b", "a"], ["q"], k=2).frame["docno"].to_list() == ["c", "b"]
    with pytest.warns(DataWarning, match="tied: 1 list cut inside a tie at k=2"):
        tied = exaequo.run(lambda query: [("a", 2), ("b", 1), ("c", query == "q")], ["q", "r"], k=2, name="tied")
    assert tied.frame["docno"].to_list() == ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("search", "queries", "said"),
    [
        (lambda _: None, ["q"], "lambda: for topic 'q' it returned None; expected docnos"),
        (lambda _: [], ["q"], "it found nothing for any topic"),
        (lambda _: ["a", "a"], ["q"], "topic 'q', document 2: document 'a'"),
        (shop, [], "queries: there is no query"),
        (shop, {"q": 1}, "queries: query 'q' is int 1"),
        (shop, [{"id": 1}], "queries: record 1: no text of a query among id"),
        (shop, [3], "queries: record 1: no text of a query among 3"),
    ],
)
def test_what_is_refused(search: Any, queries: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        exaequo.run(search, queries)


def test_what_is_no_retriever() -> None:
    with pytest.raises(BadParameter, match="search must be a function, or have invoke"):
        exaequo.run(3, ["q"])
    with pytest.raises(BadParameter, match="k must be a whole number ≥ 1"):
        exaequo.run(shop, ["q"], k=0)
    with pytest.raises(ZeroDivisionError) as caught:
        exaequo.run(lambda _: 1 / 0, ["q"], name="mine")
    assert caught.value.__notes__ == ["mine was asked topic q: q"]
