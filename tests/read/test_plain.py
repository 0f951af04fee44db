"""Plain lines: the same frame, judgments and values as those of a table, or none at all; and no Polars without need."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exaequo.errors import InputError
from exaequo.evaluation import evaluate
from exaequo.read import Qrels, Run, Source, read_qrels, read_run, tables, trec
from exaequo.read.few import Few, of_lists
from exaequo.read.lists import by_topic
from exaequo.read.places import Place
from exaequo.read.plain import of_dicts, of_text, same_documents

#: Names of one word of eight bytes and of more, some of them the beginning of others.
NAMES = st.text("aZ9-", min_size=1, max_size=20)
NUMBERS = st.one_of(
    st.decimals(-1000, 1000, places=3).map(str),
    st.floats(-1e9, 1e9).map(repr),
    st.sampled_from(
        ["0", "-0", "-0.0", "1.", ".5", "+3", "7e2", "1e-320", "123456789012345678", "0.1234567890123456789"]
    ),
)
Texts = dict[str, dict[str, str]]


def lines(numbers: st.SearchStrategy[str], least: int) -> st.SearchStrategy[Texts]:
    return st.dictionaries(NAMES, st.dictionaries(NAMES, numbers, min_size=1, max_size=12), min_size=least, max_size=4)


LINES, FEW = lines(NUMBERS, 1), lines(st.sampled_from(["1", "2", "2.5", "-1"]), 0)


def run_text(lists: Texts, end: str = "\n") -> bytes:
    each_line = [f"{q} Q0 {d} {n} {sim} me" for q, each in lists.items() for n, (d, sim) in enumerate(each.items())]
    return ("\n".join(each_line) + end).encode()


def qrels_text(lists: dict[str, dict[str, int]]) -> bytes:
    return "".join(f"{q}\t0\t{d}\t{grade}\n" for q, each in lists.items() for d, grade in each.items()).encode()


@given(LINES, st.sampled_from(["\n", ""]))
def test_text_is_read_as_by_a_table(lists: Texts, end: str) -> None:
    text = run_text(lists, end)
    plain, frame = of_text(text, trec.RUN), trec.parse(text, trec.RUN, "run")
    if any(abs(float(value)) >= 2**53 for each in lists.values() for value in each.values()):
        assert plain is None
        return
    assert plain is not None
    assert plain.label == "me"
    assert Run.of(plain, name="me", source=Source("run")).frame.equals(
        frame.select("qid", "docno", "sim", "rank", "key")
    )
    signs = np.signbit(plain.value), np.signbit(frame["sim"].to_numpy())
    assert np.array_equal(*signs)


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@given(LINES, FEW, st.sampled_from(["realistic", "conventional", "optimistic", "rank", "input", "random"]))
def test_lines_are_judged_as_by_a_table(judged: Texts, returned: Texts, ties: str) -> None:
    """Documents are shared, their names of any length, and the lines of either may be those of text or of dicts."""
    for topic, each in judged.items():
        returned[topic] = {**returned.get(topic, {}), **dict.fromkeys(list(each)[::2], "2")}
    sims = {topic: {docno: float(sim) for docno, sim in each.items()} for topic, each in returned.items()}
    grades = {topic: {"found": 1} | {docno: len(docno) % 3 for docno in each} for topic, each in judged.items()}
    of_qrels, of_run = of_text(qrels_text(grades), trec.QRELS), of_text(run_text(returned), trec.RUN)
    assert of_qrels is not None
    assert of_run is not None
    in_text = Qrels.of(of_qrels, source=Source("qrels")), Run.of(of_run, name="run", source=Source("run"))
    in_dicts = read_qrels(grades), read_run(sims)
    measures = ["AP", "nDCG", "Bpref", "NumRet"]
    tables = [replace(each, frame=each.frame) for each in in_text]
    expected = evaluate(tables[0], tables[1], measures, ties)
    for qrels in (in_text[0], in_dicts[0]):
        for run in in_text[1:] if ties == "rank" else (in_text[1], in_dicts[1]):
            assert qrels.plain is not None
            assert run.plain is not None
            found = evaluate(qrels, run, measures, ties)
            assert found.to_dict() == expected.to_dict()
            assert found.warnings == expected.warnings


def test_equal_keys_are_not_enough() -> None:
    """Documents are compared by name, whatever their lengths."""
    one, two = (of_text(text, trec.QRELS) for text in (b"1 0 a 1\n2 0 a 1\n", b"1 0 a2345678bc 1\n2 0 a 1\n"))
    assert one is not None
    assert two is not None
    at, place = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert same_documents(one, at, one, place).tolist() == [True] * 4
    assert same_documents(one, at, two, place).tolist() == [False, True, False, True]
    assert same_documents(two, place, one, at).tolist() == [False, True, False, True]


SOUND = b"1 Q0 a 1 2.5 me\n1 Q0 b 2 1.5 me\n2 Q0 a 1 1 me\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Q0 b", b"Q0 a"),  # a document twice
        (b"2 Q0 a 1 1 me\n", b"2 Q0 a 1 1 me\n1 Q0 c 1 1 me\n"),  # a topic in two pieces
        (b"1.5", b"nan"),
        (b"1.5", b"1e400"),
        (b"1.5", b"1_5"),
        (b"1.5", b"1.5.0"),
        (b"1.5", b"--1"),
        (b"1.5", b"-"),
        (b"1.5", b"9007199254740992"),  # others tied with it may have been told apart
        (b"1.5 me", b"1.5 you"),
        (b"Q0 b", b"Q0 \xc3\xa9"),
        (b"Q0 b", b"Q0 b\x7f"),
        (b"Q0 b", b"Q0 b\x01"),
        (b"Q0 b", b"Q0 " + b"b" * 65),
        (b"2.5 me\n", b"2.5 me more\n"),
        (b"2.5 me\n", b"2.5 me\n1 Q0 c "),
        (b"2.5 me\n", b"2.5 me\r1 Q0\r"),
        (b"1 Q0 b", b" #1 Q0 b"),
        (SOUND, b""),
        (SOUND, b"\n"),
    ],
)
def test_what_is_not_plain(old: bytes, new: bytes) -> None:
    assert of_text(SOUND, trec.RUN) is not None
    assert old in SOUND
    assert of_text(SOUND.replace(old, new, 1), trec.RUN) is None


#: What may stand for a blank, for the end of a line, and before a line.
BLANKS, ENDS = st.text(" \t\v\f", min_size=1, max_size=3), st.sampled_from(["\n", "\r\n", "\r", " \n", "\n\n", "\n \n"])
BEFORE = st.sampled_from(["", " ", "\t", "# said\n", "#1 Q0 a 1 1 me\n", "\n"])


@given(LINES, st.data())
def test_blanks_line_ends_and_comments_are_as_by_a_table(lists: Texts, data: st.DataObject) -> None:
    text = ""
    for line in run_text(lists, "").decode().split("\n"):
        fields = line.split()
        text += data.draw(BEFORE) if not text or text.endswith("\n") else ""
        text += "".join(field + data.draw(BLANKS) for field in fields[:-1]) + fields[-1] + data.draw(ENDS)
    plain = of_text(text.encode(), trec.RUN)
    frame = trec.parse(text.encode(), trec.RUN, "run").select("qid", "docno", "sim", "rank", "key")
    clean = of_text(run_text(lists), trec.RUN)
    assert plain is None if clean is None else plain is not None
    assert plain is None or Run.of(plain, name="me", source=Source("run")).frame.equals(frame)


LETTERS = st.text("a1 \t\n\r#.\x00\x1c\xa0é", min_size=1, max_size=80)
PARTS = st.lists(st.sampled_from(["1 0 a 1", "1 0 b 1", "2 0 a 1", "\n", "\r", "\r\n", "#", "# said", " "]), min_size=1)


@given(st.one_of(LETTERS, PARTS.map("".join)), st.booleans())
@example("1 0 a 1\n# said\r1 0 b 1\n2 0 a 1\n", True)
def test_whatever_is_plain_is_so_line_by_line(text: str, comments: bool) -> None:
    """Text of any shape: what is cut where it should not be would be lines that are not there."""
    layout = replace(trec.QRELS, comments=comments)
    plain = of_text(text.encode(), layout)
    if plain is not None:
        frame, problems = trec.line_by_line(text.encode(), layout, "qrels")
        assert not problems
        assert plain.frame("rel").rows() == frame.select("qid", "docno", "rel").rows()


@pytest.mark.parametrize(
    "lists",
    [
        {"1": {"a b": 1}},
        {"1": {"é": 1}},
        {"1": {"a\nb": 1}},
        {"1": {7: 1}},
        {7: {"a": 1}},
        {"1": {"a": 2**60}},
        {"1": ["a", "b"]},
    ],
)
@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
def test_what_is_not_plain_in_dicts(lists: dict[Any, Any]) -> None:
    assert read_run(lists).plain is None


def test_a_dict_that_changes_later_changes_nothing() -> None:
    lists = {"1": {"a": 1.0, "b": 2.0}, "2": {}}
    run = read_run(lists)
    lists["1"]["c"] = 3.0
    assert run.plain is not None
    assert (run.height, run.topics) == (2, ["1"])
    assert run.frame.select("qid", "docno", "sim").rows() == [("1", "a", 1.0), ("1", "b", 2.0)]
    assert run.named("other").plain is run.plain
    assert (run.named("other").name, run.name) == ("other", "run")


@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        (["--help"], {"polars", "numpy"}),
        (["eval"], {"polars", "hashlib"}),
        (["trec_eval", "-m", "map"], {"polars", "hashlib", "shutil", "lzma"}),
    ],
)
def test_small_clean_files_need_no_polars(command: list[str], heavy: set[str], tmp_path: Path) -> None:
    """Nor anything else that takes a while to load and is not needed."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    run.write_bytes(SOUND)
    qrels.write_bytes(b"1 0 a 1\n2 0 a 0\n2 0 b 1\n")
    files = [] if command == ["--help"] else [str(qrels), str(run)]
    code = (
        f"import sys; from exaequo.cli import run; code = run({[*command, *files]!r}); "
        f"sys.exit(code or not sys.modules.keys().isdisjoint({heavy!r}))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@given(LINES, st.integers(20, 90))
def test_pieces_are_put_together(lists: Texts, size: int) -> None:
    """In short pieces, one after the other: topics go on from piece to piece, names become longer."""
    text = run_text(lists)
    whole = of_text(text, trec.RUN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exaequo.read.plain._PIECE", size)
        pieces = of_text(text, trec.RUN)
        if whole is None or max(map(len, text.splitlines())) >= size:
            assert whole is not None or pieces is None
            return
        assert pieces is not None
        assert whole.frame("sim").equals(pieces.frame("sim"))
    assert pieces.keys.tolist() == whole.keys.tolist()
    assert (pieces.label, pieces.topics) == (whole.label, whole.topics)


@given(LINES, st.integers(1, 12))
def test_dicts_in_pieces_are_put_together(lists: Texts, documents: int) -> None:
    """Some lists at a time, none of them apart: the same lines and keys as of all at once, and as of text."""
    run = {topic: {docno: float(value) for docno, value in each.items()} for topic, each in lists.items()}
    text = of_text(run_text(lists), trec.RUN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exaequo.read.few._MOST", 0)
        whole = of_lists(by_topic({**run, "empty": {}}), "sim")
        patch.setattr("exaequo.read.plain._DOCUMENTS", documents)
        pieces = of_dicts([*run], [*run.values()], "sim")
    if whole is None or pieces is None or text is None:
        assert whole is pieces is text
        return
    for each in (whole, text):
        assert (pieces.topics, pieces.sizes.tolist()) == (each.topics, each.sizes.tolist())
        assert (pieces.value.tolist(), pieces.docno.tolist()) == (each.value.tolist(), each.docno.tolist())
        assert pieces.keys.tolist() == each.keys.tolist()


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@given(LINES, FEW, st.sampled_from(["realistic", "conventional", "input"]))
def test_few_lines_are_found_by_name(judged: Texts, returned: Texts, ties: str) -> None:
    """As by keys, and by keys where the others are not few."""
    qrels, run = (
        {topic: {docno: float(value) for docno, value in each.items()} for topic, each in lists.items()}
        for lists in (judged, {**returned, next(iter(judged)): {**next(iter(judged.values())), "other": "0"}})
    )
    qrels[next(iter(qrels))]["relevant"] = 1.0
    few = read_qrels(qrels), read_run(run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exaequo.read.few._MOST", 0)
        many = read_qrels(qrels), read_run(run)
    assert not any(isinstance(each.plain, Few) for each in many)
    expected = evaluate(*many, ["AP", "nDCG", "Bpref"], ties)
    for one in few, many:
        for other in few, many:
            found = evaluate(one[0], other[1], ["AP", "nDCG", "Bpref"], ties)
            assert found.to_dict() == expected.to_dict()
            assert found.warnings == expected.warnings
            assert one[0].frame.equals(many[0].frame)


class Name(str):
    """A name that is not found as the text it is."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 7


def test_what_is_few() -> None:
    sound = {"1": {"a": 1, "b": 2}, "2": {"a": 1}}
    assert isinstance(read_run(sound).plain, Few)
    assert isinstance(read_run({**sound, "3": {}}).plain, Few)
    for odd in (
        {Name("a"): 1},
        {"é": 1},
        {"b" * 65: 1},
        {"": 1},
        {"a b": 1},
        {"a": 2**60},
        {"a": "x"},
        {"a": [1]},
        {"a": np.nan},
    ):
        assert not isinstance(of_lists(by_topic({**sound, "3": odd}), "sim"), Few)
    assert not isinstance(of_lists(by_topic({**sound, Name("3"): {"a": 1}}), "sim"), Few)
    assert not isinstance(read_run({"1": dict.fromkeys(map(str, range(501)), 1.0)}).plain, Few)
    assert evaluate({"1": {"a": 1}}, {"1": {Name("a"): 1.0}}, "AP").mean("AP") == 1


@given(LINES, st.integers(1, 12))
def test_frames_are_read_as_by_a_table(lists: Texts, documents: int) -> None:
    rows = [(topic, docno, float(value)) for topic, each in lists.items() for docno, value in each.items()]
    frame = pl.DataFrame(rows, schema=["qid", "docno", "score"], orient="row")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exaequo.read.plain._DOCUMENTS", documents)
        run = read_run(frame)
    expected = tables.normalise(frame, Place("run"), trec.RUN)
    assert run.frame.equals(expected)
    if any(abs(value) >= 2**53 for *_, value in rows):
        assert run.plain is None
        return
    text = of_text(run_text(lists), trec.RUN)
    assert run.plain is not None
    assert text is not None
    assert (run.plain.topics, run.plain.sizes.tolist()) == (text.topics, text.sizes.tolist())
    assert (run.plain.docno.tolist(), run.plain.keys.tolist()) == (text.docno.tolist(), text.keys.tolist())


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt8, pl.Int32])
def test_whole_numbers_are_ids(kind: Any) -> None:
    frame = pl.DataFrame({"qid": [7, 7, 12], "docno": [100, 20, 100], "sim": [2, 1, 1]})
    frame = frame.cast({"qid": kind, "docno": kind if kind == pl.UInt8 else pl.String})
    run = read_run(frame)
    assert run.plain is not None
    assert run.frame.equals(tables.normalise(frame, Place("run"), trec.RUN))


@pytest.mark.parametrize(
    "changed",
    [
        {"docno": ["a", "b c", "a"]},
        {"docno": ["a", "b\nc", "a"]},
        {"docno": ["a", "é", "a"]},
        {"docno": ["a", "b" * 65, "a"]},
        {"qid": ["1", "2", "1"], "docno": ["a", "b", "c"]},  # a topic in two pieces
        {"sim": [2.0, 1.0, 2.0**60]},
        {"sim": ["2", "1", "1"]},
        {"rank": [1, 2, 1]},
        {"tag": ["me", "me", "me"]},
    ],
)
@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
def test_what_is_not_plain_in_frames(changed: dict[str, list[Any]]) -> None:
    sound = {"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "sim": [2, 1, 1], "other": [None, None, None]}
    assert read_run(pl.DataFrame(sound)).plain is not None
    assert read_run(pl.LazyFrame(sound)).plain is not None
    assert read_run(pl.DataFrame({**sound, **changed})).plain is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"docno": ["a", "a", "a"]}, "is here and in"),
        ({"docno": ["a", "", "a"]}, "no docno"),
        ({"docno": ["a", None, "a"]}, "no docno"),
        ({"sim": [2.0, float("nan"), 1.0]}, "finite"),
        ({"sim": [2, None, 1]}, "missing"),
    ],
)
def test_frames_are_refused_as_by_a_table(changed: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_run(pl.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "sim": [2, 1, 1], **changed}))


def test_a_later_dict_is_not_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exaequo.read.plain._DOCUMENTS", 1)
    assert of_dicts(["1", "2"], [{"a": 1.0}, {"b": 1.0}], "sim") is not None
    assert of_dicts(["1", "2"], [{"a": 1.0}, {"b": 2.0**60}], "sim") is None
    assert of_dicts(["1", "2"], [{"a": 1.0}, {7: 1.0}], "sim") is None
    assert of_dicts(["1", "2"], [{"a": 1.0}, {"b": "x"}], "sim") is None


@pytest.mark.parametrize("odd", [b"2 Q0 a 1 1 you\n", b"1 Q0 a 9 1 me\n", b"2 Q0 a 1 nan me\n", b"2 Q0 a 1 1\n"])
def test_a_later_piece_is_not_plain(odd: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exaequo.read.plain._PIECE", 20)
    assert of_text(SOUND, trec.RUN) is not None
    assert of_text(SOUND.replace(b"2 Q0 a 1 1 me\n", odd), trec.RUN) is None
    assert of_text(SOUND + odd, trec.RUN) is None


def test_dicts_whose_keys_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names tell few judgments apart; of many, each would be compared with all documents that have its key."""
    qrels = {f"t{topic}": {f"d{at}": at % 3 for at in range(topic, topic + 9)} for topic in range(4)}
    run = {f"t{topic}": {f"d{at}": float(-at) for at in range(3, 600)} for topic in range(4)}
    expected = evaluate(qrels, run, "AP nDCG").to_polars()
    monkeypatch.setattr("exaequo.read.plain.keys_of", lambda topic, _: topic & np.uint64(1))
    for most, plain in ((500, True), (0, False)):
        monkeypatch.setattr("exaequo.read.few._MOST", most)
        assert (read_qrels(qrels).plain is not None) == plain
        returned = read_run(run).plain
        assert returned is not None
        assert len({*returned.keys.tolist()}) <= 2
        assert evaluate(qrels, run, "AP nDCG").to_polars().equals(expected)
