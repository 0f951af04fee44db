"""What is wrong with the files of collections: what is mended is remarked on, what cannot be is refused at its line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo.read.collection import Collection, read_collection, read_documents, read_topics
from exaequo.read.collection.files import File
from exaequo.read.collection.relevance import judgments

DOCUMENTS = "".join(f".I {n}\n.T\ntitle {n}\n.W\nwords of the document {n}\n" for n in range(1, 6))
TOPICS = "".join(f".I {n}\n.W\ntopic {n}\n" for n in range(1, 4))
FULL = "1 1 1\n2 2 1\n3 3 1\n"


def read(
    where: Path, rel: str = FULL, *, name: str = "toy.rel", all_: str = DOCUMENTS, qry: str = TOPICS
) -> Collection:
    for file, text in (("toy.all", all_), ("toy.qry", qry), (name, rel)):
        (where / file).write_text(text, encoding="utf-8")
    return read_collection(where)


def grades(collection: Collection) -> dict[tuple[str, str], float]:
    assert collection.qrels is not None
    return {(qid, docno): rel for qid, docno, rel in collection.qrels.frame.select("qid", "docno", "rel").iter_rows()}


def table(text: str, name: str = "toy.rel") -> list[tuple[str, str, float]]:
    frame, _ = judgments(File(name, text.encode()))
    return frame.select("qid", "docno", "rel").rows()


@pytest.mark.parametrize(
    "text",
    ["1 4\n1 5\n2 4\n", "1 4 1\n1 5 1\n2 4 1\n", "1 4 0 0.000\n1 5 0 0.0\n2 4 0 0\n", "1 0 4 1\n1 0 5 1\n2 0 4 1\n"],
)
def test_shapes_of_judgments(text: str) -> None:
    expected = [("1", "4", 1.0), ("1", "5", 1.0), ("2", "4", 1.0)]
    assert table(text) == expected
    assert table(text.replace("\n", "\r\n").replace(" ", "\t")) == expected


def test_lists_of_judgments() -> None:
    assert table("1  4 5\n\n2 4 5 6\n") == [("1", "4", 1), ("1", "5", 1), ("2", "4", 1), ("2", "5", 1), ("2", "6", 1)]
    assert table("1 14 25\n2 14 26\n") == [("1", "14", 1), ("1", "25", 1), ("2", "14", 1), ("2", "26", 1)]
    assert table("1\n 14\n25 /\n2\n14\n/\n") == [("1", "14", 1), ("1", "25", 1), ("2", "14", 1)]


def test_judgments_that_are_all_0(tmp_path: Path) -> None:
    found = read(tmp_path, "1 1 0 0\n2 2 0 0\n3 3 0 0\n")
    assert found.remarks == ("all 3 judgments are 0; the file lists relevant documents: taken as 1",)
    assert set(grades(found).values()) == {1.0}
    assert table("1 0 4 0\n2 0 4 0\n") == [("1", "4", 0), ("2", "4", 0)]  # TREC means what it says


def test_grades_of_cranfield_are_turned(tmp_path: Path) -> None:
    found = read(tmp_path, "1 1 1\n1 2 2\n1 3 3\n1 4 4\n2 1 5\n3 5 -1\n", name="cranqrel")
    assert grades(found) == {("1", "1"): 4, ("1", "2"): 3, ("1", "3"): 2, ("1", "4"): 1, ("2", "1"): 0, ("3", "5"): 1}
    assert found.remarks == (
        "grades run from 1 (best) to 4 or 5: turned, so that 4 is the best and 1 the least",
        "1 judgment of -1, taken for the paper a question came from: relevant, with the least grade, 1",
    )
    (tmp_path / "cranqrel").unlink()
    assert grades(read(tmp_path, "1 1 1\n2 2 2\n3 3 3\n"))["3", "3"] == 3


def test_topics_that_judgments_count(tmp_path: Path) -> None:
    found = read(tmp_path, qry=TOPICS.replace(".I 2", ".I 004").replace(".I 3", ".I 008"))
    assert found.topics.rows()[1][:2] == ("2", "topic 2")
    assert found.remarks == ("judgments count topics instead of naming them: topic 008 is called 3",)


def test_documents_that_judgments_count(tmp_path: Path) -> None:
    found = read(tmp_path, all_="".join(f".I {n * 7}\n.W\nword{n}\n" for n in range(1, 6)))
    assert found.documents.rows()[2] == ("3", "", "word3")
    assert "document 35 is called 5" in found.remarks[0]


def test_time_counts_two_documents_it_does_not_have(tmp_path: Path) -> None:
    texts = "".join(f"*TEXT {n + 20:03} 01/04/63 PAGE 020\n\n WORD{n}\n\n" for n in range(1, 424))
    (tmp_path / "TIME.ALL").write_text(texts + "*STOP\n", encoding="utf-8")
    (tmp_path / "TIME.QUE").write_text("*FIND 1\n\n A\n\n*FIND 2\n\n B\n\n*STOP\n", encoding="utf-8")
    (tmp_path / "TIME.REL").write_text("1 1 2 3 370\n\n2 425 378\n", encoding="utf-8")
    found = read_collection(tmp_path)
    words = dict(found.documents.select("docno", "text").rows())
    assert [words[docno] for docno in ("1", "370", "378", "425")] == ["WORD1", "WORD370", "WORD376", "WORD423"]
    assert "judgments count two documents that are not there, near the 374th" in found.remarks
    (tmp_path / "TIME.REL").write_text("1 1 2 3 370\n\n2 423 378\n", encoding="utf-8")
    assert read_collection(tmp_path).documents["docno"].to_list() == [str(n) for n in range(1, 424)]


def test_zeros_before_numbers(tmp_path: Path) -> None:
    found = read(tmp_path, "01 0001 1\n02 2 1\n3 3 1\n")
    assert set(grades(found)) == {("1", "1"), ("2", "2"), ("3", "3")}
    assert found.remarks == (
        "numbers of documents have zeros before them in some files: 0001 is 1",
        "numbers of topics have zeros before them in some files: 01 is 1",
    )


def test_one_missing_document_does_not_make_numbers_places(tmp_path: Path) -> None:
    documents = "".join(f".I {n}\n.W\nword{n}\n" for n in range(1, 52) if n != 7)
    judged = "".join(f"{n % 3 + 1} {n} 1\n" for n in range(1, 31))
    found = read(tmp_path, judged, all_=documents)
    assert found.remarks == ("1 document judged but not in the collection: 7",)
    assert dict(found.documents.select("docno", "text").rows())["51"] == "word51"


def test_documents_and_topics_that_are_not_there(tmp_path: Path) -> None:
    found = read(tmp_path, "1 1 1\n1 99 1\n8 2 1\n")
    assert found.remarks == (
        "1 document judged but not in the collection: 99",
        "1 topic judged but not in the collection: 8",
        "2 topics without judgments: 2, 3",
    )
    assert len(grades(found)) == 3


def test_judgments_made_twice(tmp_path: Path) -> None:
    found = read(tmp_path, FULL + "1 1 1\n2 2 2\n")
    assert found.remarks == (
        "2 judgments of a document judged before, 1 document with different grades: the highest counts",
    )
    assert grades(found)["2", "2"] == 2


def test_lists_of_lisa_that_are_cut(tmp_path: Path) -> None:
    found = read(
        tmp_path, "Query 1\n3 Relevant Refs:\n1 2\n1 Relevant Refs:\n5 -1\n" + 2 * "\nQuery 3\n1 Relevant Refs:\n3 -1\n"
    )
    assert set(grades(found)) == {("1", "1"), ("1", "2"), ("3", "3")}
    assert found.remarks == (
        "1 list of relevant documents cut short: 1 (2 of 3)",
        "1 judgment of no topic, left out",
        "1 judgment of a document judged before",
        "1 topic without judgments: 2",
    )


def test_what_is_empty(tmp_path: Path) -> None:
    found = read(tmp_path, all_=DOCUMENTS + ".I 6\n.T\n.W\n", qry=TOPICS + ".I 0\n")
    assert found.remarks == ("1 document without a word: 6", "1 topic without a word, left out: 0")
    assert (found.documents.height, found.topics.height) == (6, 3)


def test_titles_that_begin_the_text_too(tmp_path: Path) -> None:
    found = read(tmp_path, all_=DOCUMENTS.replace("words of", "title"))
    assert found.remarks == ()
    found = read(tmp_path, all_="".join(f".I {n}\n.T\na title\n.W\na\ntitle {n}\n" for n in range(1, 6)))
    assert found.remarks == ("5 documents with the title once more at the beginning of the text",)


def test_without_judgments(tmp_path: Path) -> None:
    (tmp_path / "toy.all").write_text(DOCUMENTS, encoding="utf-8")
    (tmp_path / "toy.qry").write_text(TOPICS, encoding="utf-8")
    found = read_collection(tmp_path)
    assert (found.qrels, found.remarks) == (None, ("no file of judgments",))


def test_files_of_no_use_are_named(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("What a collection!\n", encoding="utf-8")
    (tmp_path / "picture").write_bytes(b"\0\1\2")
    (tmp_path / ".hidden").write_text(DOCUMENTS, encoding="utf-8")
    (tmp_path / "toy.rel.old").write_text("1 1 0 0\n1 2 0 0\n", encoding="utf-8")
    assert read(tmp_path).remarks == ("3 files not used: README, picture, toy.rel.old",)


def test_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "toy.all").write_bytes(DOCUMENTS.encode() + b".I 6\n.W\ncaf\xe9\n")
    assert read_documents(tmp_path / "toy.all")["text"][-1] == "café"
    (tmp_path / "toy.qry").write_text(TOPICS, encoding="utf-8")
    (tmp_path / "toy.rel").write_text(FULL, encoding="utf-8")
    (remark,) = read_collection(tmp_path).remarks
    assert remark == f"{tmp_path}/toy.all:28: byte 0xe9 is not UTF-8; read as Latin-1"
    (tmp_path / "toy.rel").write_bytes(b"1 1 1\n1 caf\xe9 1\n")
    with pytest.raises(exaequo.InputError, match=r"toy.rel: the file is not UTF-8"):
        read_collection(tmp_path)


BAD = [
    ("d.all", ".I 1\n.W\na\n.I\n.W\nb\n", "d.all:4: a document without a name; expected one word"),
    ("d.all", ".I 1\n.W\na\n.I 1\n.W\nb\n", "d.all:4: document '1' is here and in line 1; expected each document once"),
    ("d.all", ".I 1 2\n.W\na\n", "d.all:1: the name of a document is '1 2'; expected one word"),
    ("d.jsonl", '{"_id": "1", "text": "a"}\n{"_id": \n', "d.jsonl:2: no JSON object"),
    ("d.jsonl", '{"_id": "1", "text": "a"}\n[1]\n', "d.jsonl:2: no JSON object"),
    ("d.jsonl", '{"_id": "1", "text": "\\ud800"}\n', "d.jsonl:1: no JSON object"),
    (
        "d.jsonl",
        '{"_id": "1", "text": "a"}\n{"_id": "2", "text": "a", "text": "b"}\n',
        "d.jsonl:2: 'text' is here twice",
    ),
    ("d.jsonl", '{"_id": "1", "metadata": {"title": "a", "title": "b"}}\n', "d.jsonl:1: 'title' is here twice"),
    ("d.jsonl", '{"_id": "1", "text": "a"}\n{"text": "a"}\n', "d.jsonl:2: a document without a name"),
    ("d.tsv", "1\ta\n" * 1 + "".join(f"{n}\tword\n" for n in range(2, 3000)) + "oops\n", "d.tsv:3000: no tab"),
    ("d.sgml", "<DOC>\n<DOCNO>1</DOCNO>\n<DOC>\n", "d.sgml:1: <DOC> without its end"),
    ("d.sgml", "<DOC>\n<DOCNO>1</DOCNO></DOC>\n</DOC>\n", "d.sgml:3: </DOC> without its beginning"),
    ("d.sgml", "\n<DOC>\n<DOCNO>1</DOCNO>\n", "d.sgml:2: <DOC> without its end"),
    ("d.sgml", "<DOC>\nwords\n</DOC>\n", "d.sgml:1: a document without a name"),
    ("d", "Once upon a time\n", "d: there are no documents; expected documents and topics"),
    ("d", "", "d: there are no documents"),
]


def test_keys_that_stand_twice_where_nobody_looks(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"_id": "1", "text": "a", "url": "b", "url": "c"}\n', encoding="utf-8")
    assert read_documents(tmp_path / "d.jsonl")["text"].to_list() == ["a"]


@pytest.mark.parametrize(("name", "text", "message"), BAD)
def test_bad_documents(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(exaequo.InputError) as error:
        read_documents(tmp_path / name)
    assert str(error.value).removeprefix(f"{tmp_path}/").startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1 1\n1 2\n", "toy.rel:2: 2 fields ('1 2'); expected 3 fields"),
        ("1 1 1\n\n1 2 .\n", "toy.rel:3: judgment is '.'; expected a finite number"),
        ("1 2 3 4 5\n" * 2, "toy.rel:1: 5 fields ('1 2 3 4 5'); expected 3 fields"),
        ("query-id\tcorpus-id\tscore\n1\t1\tx\n", "toy.rel:2: judgment is 'x'; expected a finite number"),
        ("1 1 x\n1 2 1\n", "toy.rel:1: judgment is 'x'; expected a finite number"),
        ("1 2 x 1\n" * 2 + "1\n", "toy.rel:3: 1 field ('1'); expected 4 fields"),
    ],
)
def test_bad_judgments(text: str, message: str) -> None:
    with pytest.raises(exaequo.InputError) as error:
        table(text)
    assert str(error.value).startswith(message)


def test_bad_folders(tmp_path: Path) -> None:
    with pytest.raises(exaequo.InputError, match=r"there is no such folder.*did you mean 'crossings'"):
        read_collection("crosings")
    for name in ("b.pdf", "a.pdf"):
        (tmp_path / name).write_bytes(b"%PDF-1.4\n\0")
    with pytest.raises(exaequo.InputError, match=r"there are no documents in 2 files: a\.pdf, b\.pdf; expected"):
        read_collection(tmp_path)
    (tmp_path / "toy.all").write_text(DOCUMENTS, encoding="utf-8")
    with pytest.raises(exaequo.InputError, match="there are no topics"):
        read_collection(tmp_path)
    (tmp_path / "toy.qry").write_text(".I 1\n.W\n.I 2\n.W\n", encoding="utf-8")
    with pytest.raises(exaequo.InputError, match="all topics are empty"):
        read_topics(tmp_path)
    (tmp_path / "toy.qry").write_text(TOPICS, encoding="utf-8")
    (tmp_path / "more.qry").write_text(TOPICS, encoding="utf-8")
    with pytest.raises(exaequo.InputError, match=r"files of topics: more.qry, toy.qry; expected one"):
        read_collection(tmp_path)
    (tmp_path / "more.qry").rename(tmp_path / "more.all")
    with pytest.raises(exaequo.InputError, match=r"toy.all:1: document '1' is here and in .*more.all"):
        read_collection(tmp_path)


PIECES = st.sampled_from(
    [
        *(
            b".I 1\n",
            b".I 2\n",
            b".I\n",
            b".W\n",
            b".T\n",
            b"words\n",
            b"\n",
            b"\r\n",
            b"\xff",
            b"\0",
            b"\x1a",
            b"1 1 1\n",
        ),
        *(b"1 0 1 1\n", b"1 2 0 0\n", b"1 -1\n", b"-1\n", b"*TEXT 017\n", b"*FIND 1\n", b"*STOP\n", b"Document 1\n"),
        *(
            b"Query 1\n",
            b"2 Relevant Refs:\n",
            b"/\n",
            b"#\n",
            b"1\n",
            b"<DOC>",
            b"</DOC>",
            b"<DOCNO>1</DOCNO>",
            b"<top>",
        ),
        *(
            b"<num>1",
            b"<title>t",
            b"</top>",
            b"&#55296;",
            b'{"_id": "1", "text": "a"}\n',
            b'{"_id": 2}\n',
            b"{",
            b"a\tb\n",
        ),
        *(b"query-id\tcorpus-id\tscore\n", b"99999999999999999999 1 1\n", b"1e999 1 1e999\n", "é٣ ٣ ٣\n".encode()),
    ]
)
CONTENT = st.one_of(st.lists(PIECES, max_size=8).map(b"".join), st.binary(max_size=60))
NAMES = st.sampled_from(
    ["toy.all", "toy.qry", "toy.rel", "cranqrel", "corpus.jsonl", "queries.tsv", "qrels/test.tsv", "x.gz"]
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(NAMES, CONTENT, max_size=4))
def test_whatever_is_in_the_files(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    where = tmp_path_factory.mktemp("any")
    for name, content in files.items():
        (where / name).parent.mkdir(exist_ok=True)
        (where / name).write_bytes(content)
    try:
        found = read_collection(where)
    except exaequo.ExaequoError as error:
        assert str(error)
    else:
        assert found.documents["docno"].is_unique().all()
        assert found.topics.height
        assert found.qrels is None or found.qrels.frame["rel"].is_finite().all()
        assert pl.String in set(found.documents.dtypes)
