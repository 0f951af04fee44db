"""Collections in every format: the same three documents, two topics and judgments, whatever they are written in."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest

import exaequo
from exaequo.read.collection import DOCUMENTS, SHIPPED, TOPICS, Collection, read_collection, read_documents, read_topics
from exaequo.read.collection.tongue import language_of

Files = dict[str, str | bytes]

SMART: Files = {
    "toy.all": ".I 1\n.T\nBees of\nthe north\n.A\nAda Hill\n.W\nThe bees fly.  \nThey sting.\n.X\n1\t5\t1\n"
    ".I 2\n.T\nWasps\n.W\nWasps build nests.\n.A\nBo Nest\n.K\nnests, paper\n.B\nJournal 3\n.I 3\n.W\nAnts\n",
    "toy.qry": ".I 1\n.W\nwho flies\nand stings?\n.N\nasked by Ada\n.I 2\n.T\nnests\n.W\nnests of\npaper\n",
    "toy.rel": "1 1 1\n1 2 1\n2 2 1\n",
}
TIME: Files = {
    "TIME.ALL": "*TEXT 1 01/04/63 PAGE 020\n\n BEES FLY .\n\n*TEXT 2 01/04/63 PAGE 021\n\n WASPS BUILD\n\n NESTS .\n\n"
    "*TEXT 3 01/11/63 PAGE 002\n\n ANTS .\n\n*STOP\n",
    "TIME.QUE": "*FIND     1\n\n WHO FLIES\n\n AND STINGS .\n\n*FIND     2\n\n NESTS\n\n*STOP\n",
    "TIME.REL": "1  1 2\n\n2  2\n",
}
LISA: Files = {
    "LISA0.001": "Document    1\nBEES\nOF THE NORTH.\n     \nTHE BEES FLY.\n*********************\n"
    "Document    2\nWASPS.\n\nNESTS OF PAPER.\n*********************\n",
    "LISA0.501": "Document 3\nANTS.\n\nANTS RUN.\n*********************\n",
    "LISA.QUE": "1\nWHO FLIES,\nAND STINGS? #\n2\nNESTS. #\n",
    "LISA.REL": "Query 1\n2 Relevant Refs:\n1 2 -1\n\nQuery 2\n1 Relevant Refs:\n2 -1\n",
}
NPL: Files = {
    "doc-text": "1\nbees fly\n   /\n2\nwasps build\nnests\n   /\n3\nants\n   /\n",
    "query-text": "1\nWHO FLIES\n/\n2\nNESTS\n/\n",
    "rlv-ass": "1\n 1 2\n   /\n2\n 2\n   /\n",
}
TREC: Files = {
    "docs/a.sgml": "<DOC>\n<DOCNO> 1 </DOCNO>\n<HEADLINE>Bees &amp; co</HEADLINE>\n<TEXT>\n"
    "<P>The bees fly &lt;high&gt;, 3 < 4.</P>\n"
    "&eacute;&#233;&#x41;</TEXT>\n<DATE>1999</DATE>\n</DOC>\n<DOC>\n<DOCNO>2</DOCNO>\nWasps\n</DOC>\n",
    "docs/b.sgml": "<doc><docno>3</docno><title>Ants</title>ants run</doc>",
    "topics.txt": "<top>\n\n<num> Number: 1\n<title> Topic: Who flies\n\n<desc> Description:\n"
    "Animals that\nfly &amp; sting.\n\n"
    "<narr> Narrative:\nNo planes.\n\n</top>\n<top><num>2</num><title>nests</title><desc></desc></top>\n",
    "qrels.txt": "1 0 1 1\n1 0 2 1\n1 0 3 0\n2 0 2 1\n",
}
BEIR: Files = {
    "corpus.jsonl": '{"_id": "1", "title": "Bees", "text": "The bees fly.\\nThey sting."}\n'
    '{"_id": "2", "text": "Wasps"}\n\n{"_id": "3", "title": null, "text": "Ants", "metadata": {"url": "x"}}\n',
    "queries.jsonl": '{"_id": "1", "text": "who flies", "metadata": '
    '{"description": "Animals that fly.", "narrative": "No planes."}}\n'
    '{"_id": "2", "text": "nests", "metadata": {}}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\t1\t1\n1\t2\t1\n2\t2\t1\n",
    "qrels/dev.tsv": "query-id\tcorpus-id\tscore\n2\t3\t2\n",
}
TSV: Files = {
    "collection.tsv": "1\tThe bees fly.\n2\tWasps build nests.\n3\tAnts.\n",
    "queries.test.tsv": "1\twho flies\n2\tnests\n",
    "queries.dev.tsv": "7\tants\n",
    "qrels.test.tsv": "1\t0\t1\t1\n1\t0\t2\t1\n2\t0\t2\t1\n",
    "qrels.dev.tsv": "7\t0\t3\t1\n",
}
ALL = {"SMART": SMART, "TIME": TIME, "LISA": LISA, "NPL": NPL, "TREC": TREC, "BEIR": BEIR, "TSV": TSV}


def folder(where: Path, files: Files) -> Path:
    for name, content in files.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return where


def relevant(collection: Collection) -> set[tuple[str, str]]:
    assert collection.qrels is not None
    return set(collection.qrels.frame.filter(pl.col("rel") > 0).select("qid", "docno").rows())


@pytest.mark.parametrize("kind", ALL)
def test_every_format_is_recognised(kind: str, tmp_path: Path) -> None:
    read = read_collection(folder(tmp_path / "toy", ALL[kind]))
    assert (read.name, read.kind, read.language) == ("toy", kind, "en")
    assert tuple(read.documents.columns) == DOCUMENTS
    assert tuple(read.topics.columns) == TOPICS
    assert read.documents["docno"].to_list() == ["1", "2", "3"]
    assert read.topics["qid"].to_list() == ["1", "2"]
    assert relevant(read) == {("1", "1"), ("1", "2"), ("2", "2")}
    assert not [remark for remark in read.remarks if "not used" not in remark]
    assert repr(read) == "<Collection 'toy': 3 documents, 2 topics>"


def test_smart_fields(tmp_path: Path) -> None:
    read = read_collection(folder(tmp_path, SMART))
    assert read.documents.rows() == [
        ("1", "Bees of the north", "The bees fly.\nThey sting.\nAda Hill"),
        ("2", "Wasps", "Wasps build nests.\nBo Nest\nnests, paper"),
        ("3", "", "Ants"),
    ]
    assert read.topics.rows() == [("1", "who flies and stings?", "", ""), ("2", "nests", "nests of paper", "")]


def test_time_and_lisa_texts(tmp_path: Path) -> None:
    assert read_documents(folder(tmp_path / "t", {"TIME.ALL": TIME["TIME.ALL"]}))["text"].to_list() == [
        "BEES FLY .",
        "WASPS BUILD\n NESTS .",
        "ANTS .",
    ]
    read = read_collection(folder(tmp_path / "l", LISA))
    assert read.documents.row(0) == ("1", "BEES OF THE NORTH.", "THE BEES FLY.")
    assert read.topics["title"].to_list() == ["WHO FLIES, AND STINGS?", "NESTS."]


def test_trec_entities_tags_and_both_styles_of_topics(tmp_path: Path) -> None:
    read = read_collection(folder(tmp_path, TREC))
    assert read.documents.rows() == [
        ("1", "Bees & co", "The bees fly <high>, 3 < 4.\n&eacute;éA"),
        ("2", "", "Wasps"),
        ("3", "Ants", "ants run"),
    ]
    assert read.topics.row(0) == ("1", "Who flies", "Animals that fly & sting.", "No planes.")
    assert read.topics.row(1) == ("2", "nests", "", "")


def test_no_entity_is_ever_looked_up(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    text = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>\n<DOC><DOCNO>1</DOCNO>&e; &#xD800;</DOC>'
    path = tmp_path / "d.xml"
    path.write_text(text, encoding="utf-8")
    assert read_documents(path)["text"].to_list() == ["&e; �"]


def test_topics_with_numbers_as_attributes(tmp_path: Path) -> None:
    inner = "<query>bees</query>\n<question>who?</question>"
    text = f'<?xml version="1.0"?>\n<topics>\n<topic number="51" type="x">\n{inner}\n</topic></topics>'
    path = tmp_path / "topics.xml"
    path.write_text(text, encoding="utf-8")
    assert read_topics(path).rows() == [("51", "bees", "who?", "")]


def test_beir_fields_and_splits(tmp_path: Path) -> None:
    where = folder(tmp_path, BEIR)
    read = read_collection(where)
    assert read.documents.row(0) == ("1", "Bees", "The bees fly.\nThey sting.")
    assert read.topics.row(0) == ("1", "who flies", "Animals that fly.", "No planes.")
    assert relevant(read_collection(where, split="dev")) == {("2", "3")}
    with pytest.raises(exaequo.InputError, match=r"files of judgments: dev.tsv, test.tsv; expected .*split 'train'"):
        read_collection(where, split="train")


def test_a_split_that_is_not_there_is_refused_even_if_there_is_one_alone(tmp_path: Path) -> None:
    where = folder(tmp_path, {name: text for name, text in BEIR.items() if "test" not in name})
    with pytest.raises(exaequo.InputError, match=r"dev.tsv.*'test'"):
        read_collection(where)


def test_tsv_splits_and_columns(tmp_path: Path) -> None:
    where = folder(tmp_path, TSV)
    read = read_collection(where, split="dev")
    assert (read.topics["qid"].to_list(), relevant(read)) == (["7"], {("7", "3")})
    (tmp_path / "docs.tsv").write_text("D1\thttp://x\tA title\tA body\n", encoding="utf-8")
    assert read_documents(tmp_path / "docs.tsv").rows() == [("D1", "A title", "A body")]


def test_single_files_are_recognised_whatever_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"" if not isinstance(text := SMART["toy.qry"], str) else text.encode())
    assert read_documents(tmp_path / "a")["docno"].to_list() == ["1", "2"]
    assert read_topics(tmp_path / "a")["title"].to_list() == ["who flies and stings?", "nests"]


def test_documents_of_a_folder_are_not_its_topics(tmp_path: Path) -> None:
    for kind in ("SMART", "BEIR", "LISA"):
        where = folder(tmp_path / kind, ALL[kind])
        assert read_documents(where)["docno"].to_list() == ["1", "2", "3"]
        assert read_topics(where)["qid"].to_list() == ["1", "2"]


def test_without_names_the_smaller_file_has_the_topics(tmp_path: Path) -> None:
    renamed = dict(zip(("x", "y", "z"), SMART.values(), strict=True))
    assert read_collection(folder(tmp_path, renamed)).topics.height == 2


def test_packed_files_and_archives(tmp_path: Path) -> None:
    plain = read_collection(folder(tmp_path / "plain", SMART))
    packed = folder(
        tmp_path / "packed", {f"{name}.gz": gzip.compress(str(text).encode()) for name, text in SMART.items()}
    )
    tar, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        archive.add(tmp_path / "plain", "toy")
    with zipfile.ZipFile(zipped, "w") as files:
        for name, text in (*SMART.items(), ("__MACOSX/._toy.all", SMART["toy.all"])):
            files.writestr(name, text)
    (tmp_path / "toy.tgz").write_bytes(tar.getvalue())
    (tmp_path / "toy.zip").write_bytes(zipped.getvalue())
    for where in (packed, tmp_path / "toy.tgz", tmp_path / "toy.zip"):
        read = read_collection(where)
        assert read.documents.equals(plain.documents)
        assert read.topics.equals(plain.topics)
        assert relevant(read) == relevant(plain)
    (tmp_path / "cut.zip").write_bytes(zipped.getvalue()[:-30])
    with pytest.raises(exaequo.InputError, match="archive is damaged"):
        read_collection(tmp_path / "cut.zip")


def test_documents_one_to_a_file_stand_in_the_order_of_numbers(tmp_path: Path) -> None:
    documents = {f"docs/{n}.tim": f"*TEXT {n + 100} 01/04/63\n\n WORD{n}\n" for n in range(1, 12)}
    where = folder(tmp_path, {**documents, "TIME.QUE": TIME["TIME.QUE"], "TIME.REL": "1 2 10\n\n2 11\n"})
    read = read_collection(where)
    assert read.documents["text"].to_list() == [f"WORD{n}" for n in range(1, 12)]
    assert read.documents["docno"][9] == "10"


def test_language() -> None:
    assert language_of(["Who is the author of this?", "which of the two"]) == "en"
    assert language_of(["Le chat est dans la rue", "les rues des villes"]) == "fr"
    assert language_of(["Der Hund und die Katze", "ein Haus mit Garten"]) == "de"
    assert language_of([]) == "en"


@pytest.mark.skipif(not SHIPPED["crossings"].exists(), reason="the texts are not there")
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_collections(name: str) -> None:
    read = exaequo.read_collection(name)
    assert (read.name, read.kind) == (name, "BEIR")
    assert read.language == ("fr" if name.endswith("fr") else "en")
    assert not read.remarks
    assert read.qrels is not None
    assert set(read.qrels.frame["qid"]) == set(read.topics["qid"])
    assert set(read.qrels.frame["docno"]) <= set(read.documents["docno"])
    assert (read.topics["description"] != "").all()
    assert (read.topics["narrative"] != "").all()


def test_a_folder_of_the_shape_of_shipped_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SHIPPED, "crossings", folder(tmp_path, BEIR))
    read = read_collection("crossings")
    assert (read.name, read.documents.height, read.topics.height) == ("crossings", 3, 2)
    assert not read.remarks
