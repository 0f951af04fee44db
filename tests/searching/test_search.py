"""Runs of built-in systems: what is asked, what is returned, how it is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import exaequo
from exaequo.cli import run
from exaequo.errors import BadParameter, DataWarning, InputError
from exaequo.listing import run_text
from exaequo.read.collection import Collection
from exaequo.searching.models import MODELS
from exaequo.searching.retrieval import queries_of
from helpers import little

LITTLE = little()


def lists(made: exaequo.Run) -> dict[str, list[tuple[str, float]]]:
    return {
        str(qid): list(zip(frame["docno"], frame["sim"], strict=True))
        for (qid,), frame in made.frame.partition_by("qid", as_dict=True).items()
    }


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("exaequo.read.collection.read_collection", lambda _: LITTLE, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_of_a_topic_is_the_query() -> None:
    rows = [
        ("1", "old  bridges", "What are they\nmade of?", "No tunnels."),
        ("2", "", "", "Only this"),
        ("3", "", "", ""),
    ]
    topics = pl.DataFrame(rows, schema=["qid", "title", "description", "narrative"], orient="row")
    collection = replace(LITTLE, topics=topics)
    asked = {field: queries_of(collection, field)["text"].to_list() for field in ("title", "description", "all")}
    assert asked == {
        "title": ["old bridges", "Only this", ""],
        "description": ["What are they made of?", "Only this", ""],
        "all": ["old bridges What are they made of? No tunnels.", "Only this", ""],
    }
    with pytest.raises(BadParameter, match="fields must be one of title, description, all"):
        queries_of(collection, "narrative")


@pytest.mark.parametrize("model", MODELS)
def test_lists_are_in_order_and_read_back(model: str, tmp_path: Path) -> None:
    made = exaequo.search(LITTLE, model, stem=True)
    assert made.name == f"{model}-stem"
    for found in lists(made).values():
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
    path = tmp_path / "run.txt"
    path.write_text(run_text(made.frame, made.name, "run"), encoding="utf-8")
    read = exaequo.read_run(path)
    assert read.name == made.name
    assert read.frame.select("qid", "docno", "sim").rows() == made.frame.select("qid", "docno", "sim").rows()
    from_disk, from_memory = (exaequo.evaluate(LITTLE.qrels, each, "AP", ties="all") for each in (read, made))
    assert from_disk.mean("AP", ties="realistic") == from_memory.mean("AP", ties="realistic") > 0


def test_stemming_finds_other_numbers() -> None:
    plain, stemmed = (exaequo.search(LITTLE, "boolean", stem=stem) for stem in (False, True))
    assert set(plain.frame["key"]) < set(stemmed.frame["key"])
    assert set(stemmed.frame["sim"]) == {1.0}


def test_a_system_can_be_said_in_its_name() -> None:
    assert exaequo.search(LITTLE, "bm25-stem-nostop").name == exaequo.search(LITTLE, stem=True, stop=False).name
    assert lists(exaequo.search(LITTLE, "bm25-stem")) == lists(exaequo.search(LITTLE, stem=True))
    assert lists(exaequo.search(LITTLE, "bm25(k1=0.9)")) != lists(exaequo.search(LITTLE))


@pytest.mark.parametrize("model", ["coordination", "bm25"])
def test_depth(model: str) -> None:
    whole = lists(exaequo.search(LITTLE, model))
    with pytest.warns(DataWarning, match=f"{model}: . lists? cut inside a tie at depth 5, where names decide"):
        short = lists(exaequo.search(LITTLE, model, depth=5))
    assert short == {qid: found[:5] for qid, found in whole.items()}
    with pytest.raises(BadParameter, match="depth must be a whole number ≥ 1"):
        exaequo.search(LITTLE, depth=0)


@pytest.mark.filterwarnings("ignore::exaequo.errors.DataWarning")  # lists are cut inside ties
def test_the_order_of_documents_changes_nothing() -> None:
    backwards = replace(LITTLE, documents=LITTLE.documents.reverse())
    for model in MODELS:
        one, two = (exaequo.search(each, model, depth=7).frame.rows() for each in (LITTLE, backwards))
        assert one == two


def test_names_of_documents_change_nothing_but_names() -> None:
    names = {docno: f"Z{99 - at}" for at, docno in enumerate(LITTLE.documents["docno"])}
    renamed = replace(LITTLE, documents=LITTLE.documents.with_columns(pl.col("docno").replace(names)))
    for model in MODELS:
        before, after = lists(exaequo.search(LITTLE, model)), lists(exaequo.search(renamed, model))
        assert {qid: {(names[docno], sim) for docno, sim in found} for qid, found in before.items()} == {
            qid: set(found) for qid, found in after.items()
        }


def test_many_queries_are_asked_in_parts() -> None:
    topics = pl.concat([LITTLE.topics.with_columns(pl.col("qid") + f"-{copy}") for copy in range(20)])
    found = lists(exaequo.search(replace(LITTLE, topics=topics), "tfidf"))
    once = lists(exaequo.search(LITTLE, "tfidf"))
    assert len(found) == 20 * len(once)
    assert all(each == once[qid.partition("-")[0]] for qid, each in found.items())


def test_nothing_to_find() -> None:
    topics = LITTLE.topics.with_columns(title=pl.when(qid="2").then(pl.lit("of the")).otherwise("title"))
    with pytest.warns(DataWarning, match="bm25: nothing found for 1 topic: 2"):
        assert "2" not in lists(exaequo.search(replace(LITTLE, topics=topics)))
    with pytest.raises(InputError, match="documents: there is none; expected at least one"):
        exaequo.search(replace(LITTLE, documents=LITTLE.documents[:0]))
    no_topics = exaequo.search(replace(LITTLE, topics=LITTLE.topics[:0]))
    assert no_topics.frame.height == 0


def test_a_name_with_a_blank_is_no_name_in_a_run() -> None:
    odd = replace(LITTLE, documents=LITTLE.documents.with_columns(pl.col("docno") + " b"))
    made = exaequo.search(odd)
    with pytest.raises(InputError, match=r"x: the docno '.* b' has a blank; expected none in a run file\. Give it"):
        run_text(made.frame, made.name, "x")


def test_the_language_is_that_of_the_collection() -> None:
    texts = {"docno": ["a", "b"], "title": ["L’eau", "Les eaux"], "text": ["", ""]}
    topics = {"qid": ["1"], "title": ["de l'eau"], "description": [""], "narrative": [""]}
    french = Collection("x", pl.DataFrame(texts), pl.DataFrame(topics), language="fr")
    assert [docno for docno, _ in lists(exaequo.search(french))["1"]] == ["a"]
    assert [docno for docno, _ in lists(exaequo.search(french, stem=True))["1"]] == ["a", "b"]


def test_the_command(shipped: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["search", "little", "--model", "bm25(b=0.4)", "--stem", "--depth", "3"]
    assert run(asked) == 0
    text = capfd.readouterr().out
    assert run([*asked, "-o", "run.txt"]) == 0
    assert (shipped / "run.txt").read_text(encoding="utf-8") == text
    with pytest.warns(DataWarning):
        made = exaequo.search(LITTLE, "bm25(b=0.4)-stem", depth=3)
    assert [line.split()[:5] for line in text.splitlines()] == [
        [qid, "Q0", docno, rank, repr(sim)]
        for qid, docno, sim, rank in made.frame.select("qid", "docno", "sim", "rank").rows()
    ]
    assert {line.split()[5] for line in text.splitlines()} == {"bm25(b=0.4)-stem"}


@pytest.mark.usefixtures("shipped")
def test_what_the_command_refuses(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments, code, said in (
        (["--model", "bm52"], 2, "did you mean 'bm25'"),
        (["-o", "no/such/run.txt"], 1, "no such folder"),
        (["--depth", "0"], 2, "--depth"),
    ):
        assert run(["search", "little", *arguments]) == code
        assert said in capfd.readouterr().err
