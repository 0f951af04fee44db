"""Collections by name, with a stand-in for ir_datasets: no test fetches anything."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from exaequo import ExaequoError, read_collection, read_documents, read_qrels, read_topics
from exaequo.cli import run as command
from exaequo.errors import InputError


class Judgment(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "Q0"


class Subtopic(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    subtopic_id: str


class Sampled(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    method: int
    iprob: float


class Plain(NamedTuple):
    doc_id: str
    text: str


class Parsed(NamedTuple):
    doc_id: str
    title: str
    body: str


class Page(NamedTuple):
    doc_id: str
    url: str
    body: bytes

    def default_text(self) -> str:
        return self.body.decode()


class Fields(NamedTuple):
    doc_id: str
    abstract: str
    notes: str


class Query(NamedTuple):
    query_id: str
    text: str


class Topic(NamedTuple):
    query_id: str
    title: str
    description: str
    narrative: str


class Dataset:
    """What ir_datasets calls a data set, of lists."""

    def __init__(self, docs: Any = None, queries: Any = None, qrels: Any = None) -> None:
        for name, part in (("docs", docs), ("queries", queries), ("qrels", qrels)):
            setattr(self, f"has_{name}", lambda part=part: part is not None)
            setattr(self, f"{name}_iter", lambda part=part: iter(part))


def broken() -> Iterator[Judgment]:
    yield Judgment("1", "a", 1)
    raise RuntimeError("All download sources failed")


DOCS = [Plain("a", "red shoes"), Parsed("b", "Tea", "green tea"), Page("c", "x", b"blue"), Fields("d", "one", "two")]
QUERIES = [Query("1", "shoes"), Topic("2", "tea", "about tea", "all of it")]
KNOWN = {
    "toy": Dataset(DOCS, QUERIES, [Judgment("1", "a", 2), Judgment("2", "b", 1)]),
    "texts": Dataset(DOCS, QUERIES),
    "subtopics": Dataset(qrels=[Subtopic("1", "a", 1, "1"), Subtopic("1", "a", 2, "2"), Subtopic("1", "b", 0, "1")]),
    "sampled": Dataset(qrels=[Sampled("1", "a", 1, 1, 0.5), Sampled("1", "b", 0, 2, 0.25)]),
    "broken": Dataset(qrels=broken()),
    "twice": Dataset(qrels=[Judgment("1", "a", 1), Judgment("1", "a", 0)]),
}


@pytest.fixture(autouse=True)
def ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("ir_datasets")
    module.load, module.registry = KNOWN.__getitem__, [*KNOWN]
    monkeypatch.setitem(sys.modules, "ir_datasets", module)


@pytest.mark.parametrize("prefix", ["ir:", "irds:"])
def test_judgments(prefix: str) -> None:
    qrels = read_qrels(f"{prefix}toy", digest=True)
    assert qrels.frame.select("qid", "docno", "rel").rows() == [("1", "a", 2.0), ("2", "b", 1.0)]
    assert qrels.source.name == f"{prefix}toy"
    assert len(qrels.source.sha256 or "") == 64


def test_judgments_of_subtopics_and_of_a_sample() -> None:
    qrels = read_qrels("ir:subtopics")
    assert qrels.frame.select("docno", "rel").rows() == [("a", 2.0), ("b", 0.0)]
    assert qrels.subtopics is not None
    assert qrels.subtopics["subtopic"].to_list() == ["1", "2", "1"]
    assert read_qrels("ir:sampled").frame["prob"].to_list() == [0.5, 1.0]  # the second was certain to be judged


def test_documents_and_topics() -> None:
    texts = [("a", "", "red shoes"), ("b", "Tea", "green tea"), ("c", "", "blue"), ("d", "", "one\ntwo")]
    assert read_documents("ir:toy").rows() == texts
    assert read_topics("ir:toy").rows() == [("1", "shoes", "", ""), ("2", "tea", "about tea", "all of it")]


def test_collections() -> None:
    found = read_collection("ir:toy")
    assert repr(found) == "<Collection 'ir:toy': 4 documents, 2 topics>"
    assert found.qrels is not None
    assert found.qrels.frame.height == 2
    assert found.remarks == ()
    assert read_collection("ir:texts").qrels is None
    assert read_collection("ir:texts").remarks == ("no judgments",)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("toyy", "ir:toyy: there is no data set 'toyy'; expected a name of ir_datasets. Check it; did you mean 'toy'?"),
        ("texts", "ir:texts: it has no judgments, but documents, topics; expected judgments."),
        ("broken", r"ir:broken: the data cannot be had \(All download sources failed\); expected judgments. Check the"),
        ("twice", "ir:twice:2: document 'a' of topic '1' is here and in line 1"),
    ],
)
def test_what_cannot_be_had(name: str, found: str) -> None:
    with pytest.raises(InputError, match=found.replace("?", r"\?")):
        read_qrels(f"ir:{name}")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(ExaequoError, match=r"ir:toy: .* need ir_datasets: pip install 'exaequo\[datasets\]'"):
        read_qrels("ir:toy")


def test_a_file_of_such_a_name_is_named_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ir:own").write_text("1 0 a 1\n")
    assert read_qrels("./ir:own").frame.height == 1


def test_commands(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run.txt"
    run.write_text("1 Q0 a 1 2 s\n2 Q0 c 1 2 s\n")
    assert command(["eval", "ir:toy", str(run), "-m", "AP", "--format", "trec"]) == 0
    assert capfd.readouterr().out == f"{'runid':<22}\tall\ts\n{'AP':<22}\tall\t0.5000\n"
    assert command(["trec_eval", "-m", "map", "ir:toy", str(run)]) == 0
    assert capfd.readouterr().out == f"{'map':<22}\tall\t0.5000\n"
    assert command(["collection", "irds:toy"]) == 0
    assert "irds:toy: a collection in the format of ir_datasets" in capfd.readouterr().out
