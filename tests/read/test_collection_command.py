"""`exaequo collection`, and collections written to files: what is written can be read, and is the same."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import exaequo
from exaequo.cli import run
from exaequo.read.collection import Collection, read_collection
from exaequo.read.collection.overview import overview
from exaequo.read.collection.saving import save, trec_qrels, trec_topics, tsv_topics

FILES = {
    "toy.all": ".I 1\n.T\nBees\n.W\nThe bees of the north fly.\n"
    ".I 2\n.W\nWasps build nests.\n.I 3\n.W\nAnts <run> & run\n",
    "toy.qry": ".I 1\n.W\nwho flies & stings?\n.I 2\n.T\nnests\n.W\nnests of <paper>\n.I 3\n.W\nants\n",
    "cranqrel": "1 1 2\n1 2 -1\n1 3 5\n2 2 1\n",
}
SHOWN = """\
toy: a collection in the format of SMART, language en

what                       number  counted    total  min  median  mean  max
documents                       3  words         13    3       3   4.3    7
topics                          3  words          8    1       3   2.7    4
judged topics                   2  judgments      4    1       2     2    3
topics with relevant ones       2  relevant       3    1     1.5   1.5    2

Grades

grade  judgments  topics
    0          1       1
    1          1       1
    3          1       1
    4          1       1

remark: grades run from 1 (best) to 4 or 5: turned, so that 4 is the best and 1
  the least
remark: 1 judgment of -1, taken for the paper a question came from: relevant,
  with the least grade, 1
remark: 1 topic without judgments: 3
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collection:
    monkeypatch.chdir(tmp_path)
    Path("toy").mkdir()
    for name, text in FILES.items():
        Path("toy", name).write_text(text, encoding="utf-8")
    return read_collection("toy")


def out(capfd: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert run(["collection", *arguments]) == code
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err
    return captured.out, captured.err


@pytest.mark.usefixtures("toy")
def test_what_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert out(capfd, "toy") == (SHOWN, "")


@pytest.mark.usefixtures("toy")
def test_formats(capfd: pytest.CaptureFixture[str]) -> None:
    document = json.loads(out(capfd, "toy", "--json")[0])
    assert list(document) == ["format", "name", "kind", "language", "remarks", "sizes", "grades"]
    assert list(document["sizes"][3].values()) == [
        *("topics with relevant documents", 2, "relevant documents", 3),
        *(1.0, 1.5, 1.5, 2.0),
    ]
    text, _ = out(capfd, "toy", "--format", "csv", "--table", "grades")
    assert text == "grade,judgments,topics\n0.0,1,1\n1.0,1,1\n3.0,1,1\n4.0,1,1\n"
    assert "choose it with --table" in out(capfd, "toy", "--format", "csv", code=2)[1]
    assert "| documents | 3 |" in out(capfd, "toy", "--format", "markdown")[0]


def test_judgments_and_topics_as_text(toy: Collection, capfd: pytest.CaptureFixture[str]) -> None:
    out(capfd, "toy", "--qrels", "q.txt", "--topics", "t.txt")
    assert Path("q.txt").read_text(encoding="utf-8") == "1 0 1 3\n1 0 2 1\n1 0 3 0\n2 0 2 4\n"
    assert exaequo.read_topics("t.txt").equals(toy.topics)
    assert "<num> Number: 1\n<title> who flies &amp; stings?\n" in Path("t.txt").read_text(encoding="utf-8")
    out(capfd, "toy", "--topics", "t.tsv")
    assert exaequo.read_topics("t.tsv").rows()[1] == ("2", "nests", "", "")
    for option, file in (("--qrels", "q.txt"), ("--topics", "t.txt")):
        assert f"{file}: there is such a file already" in out(capfd, "toy", option, file, code=1)[1]


def test_the_layout_of_beir(toy: Collection, capfd: pytest.CaptureFixture[str]) -> None:
    out(capfd, "toy", "--save", "new/deep", "--split", "dev")
    again = read_collection("new/deep", split="dev")
    assert again.documents.equals(toy.documents)
    assert again.topics.equals(toy.topics)
    assert again.qrels is not None
    assert toy.qrels is not None
    assert again.qrels.frame.equals(toy.qrels.frame)
    assert again.kind == "BEIR"
    _, err = out(capfd, "toy", "--save", "new/deep", code=1)
    assert "corpus.jsonl: there is such a file already" in err
    assert not Path("new/deep/qrels/test.tsv").exists()
    assert "cannot write" in out(capfd, "toy", "--save", "toy/toy.all", code=1)[1]


@pytest.mark.usefixtures("toy")
def test_what_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert "there is no such folder" in out(capfd, "nowhere", code=1)[1]
    Path("toy/cranqrel").unlink()
    assert "--qrels writes judgments; this collection has none" in out(capfd, "toy", "--qrels", "q.txt", code=2)[1]
    assert "remark: no file of judgments" in out(capfd, "toy")[0]
    Path("toy/toy.all").write_text(".I 1\n.W\n.I 1\n.W\n", encoding="utf-8")
    assert "toy/toy.all:3: document '1' is here and in line 1" in out(capfd, "toy", code=1)[1]


def test_subtopics_and_half_grades_stay(tmp_path: Path) -> None:
    for name, text in {"d.all": FILES["toy.all"], "d.qry": FILES["toy.qry"]}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    text = "1 a 1 1\n1 b 1 0.5\n2 a 3 2\n"
    (tmp_path / "qrels").write_text(text, encoding="utf-8")
    qrels = read_collection(tmp_path).qrels
    assert qrels is not None
    assert qrels.subtopics is not None
    assert qrels.frame.height == 2
    assert trec_qrels(qrels) == text


def test_the_overview_is_made_of_tables(toy: Collection) -> None:
    assert list(overview(toy).tables) == ["sizes", "grades"]
    without = Collection("x", toy.documents, toy.topics)
    assert overview(without).sizes["what"].to_list() == ["documents", "topics"]
    assert overview(without).grades.is_empty()


def test_nothing_is_lost_in_names_and_texts(tmp_path: Path) -> None:
    texts = ["a\tb", "c\nd", "</title>", "&amp;", '"', "x\u2028y", "é"]
    documents = pl.DataFrame({"docno": [f"d/{n}" for n in range(7)], "title": [""] * 7, "text": texts})
    topics = pl.DataFrame({"qid": [*"1234567"], "title": texts, "description": [""] * 7, "narrative": [""] * 7})
    save(Collection("x", documents, topics), tmp_path)
    again = read_collection(tmp_path)
    assert again.documents.equals(documents)
    assert again.topics["title"].to_list() == [" ".join(text.split()) for text in texts]
    assert trec_topics(topics).count("<title>") == 7
    assert tsv_topics(topics).count("\n") == 7
