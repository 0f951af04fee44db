"""Plain lines: the same frame, judgments and values as those of a table, or none at all; and no Polars without need."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exaequo.evaluation import evaluate
from exaequo.read import Qrels, Run, Source, read_qrels, read_run, trec
from exaequo.read.plain import of_text, same_documents

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
        (b"Q0 b", b"Q0  b"),
        (b"Q0 b", b"Q0\tb"),
        (b"Q0 b", b"Q0 " + b"b" * 65),
        (b"2.5 me\n", b"2.5 me\r\n"),
        (b"2.5 me\n", b"2.5 me more\n"),
        (b"2.5 me\n", b"2.5 me\n\n"),
        (b"1 Q0 b", b"#1 Q0 b"),
        (SOUND, b""),
        (SOUND, b"\n"),
    ],
)
def test_what_is_not_plain(old: bytes, new: bytes) -> None:
    assert of_text(SOUND, trec.RUN) is not None
    assert old in SOUND
    assert of_text(SOUND.replace(old, new, 1), trec.RUN) is None


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


@pytest.mark.parametrize("command", [["--help"], ["eval"], ["trec_eval", "-m", "map"]])
def test_small_clean_files_need_no_polars(command: list[str], tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    run.write_bytes(SOUND)
    qrels.write_bytes(b"1 0 a 1\n2 0 a 0\n2 0 b 1\n")
    files = [] if command == ["--help"] else [str(qrels), str(run)]
    code = f"import sys; from exaequo.cli import run; sys.exit(run({[*command, *files]!r}) or 'polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@given(LINES, st.integers(20, 90), st.booleans())
def test_pieces_are_put_together(lists: Texts, size: int, large: bool) -> None:
    """In short pieces, one after the other or side by side: topics go on from piece to piece, names become longer."""
    text = run_text(lists)
    whole = of_text(text, trec.RUN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exaequo.read.plain._PIECE", size)
        patch.setattr("exaequo.read.plain._LARGE_PIECE", size)
        patch.setattr("exaequo.read.plain._LARGE", 0 if large else 1 << 24)
        pieces = of_text(text, trec.RUN)
        if whole is None or max(map(len, text.splitlines())) >= size:
            assert whole is not None or pieces is None
            return
        assert pieces is not None
        assert whole.frame("sim").equals(pieces.frame("sim"))
    assert pieces.keys.tolist() == whole.keys.tolist()
    assert (pieces.label, pieces.topics) == (whole.label, whole.topics)


@pytest.mark.parametrize(
    "odd", [b"2 Q0 a 1 1 you\n", b"1 Q0 a 9 1 me\n", b"2\tQ0\ta\t1\t1\tme\n", b"2 Q0 a 1 nan me\n", b"2 Q0 a 1 1\n"]
)
@pytest.mark.parametrize("large", [False, True])
def test_a_later_piece_is_not_plain(odd: bytes, large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exaequo.read.plain._PIECE", 20)
    monkeypatch.setattr("exaequo.read.plain._LARGE_PIECE", 20)
    monkeypatch.setattr("exaequo.read.plain._LARGE", 0 if large else 1 << 24)
    assert of_text(SOUND, trec.RUN) is not None
    assert of_text(SOUND.replace(b"2 Q0 a 1 1 me\n", odd), trec.RUN) is None
    assert of_text(SOUND + odd, trec.RUN) is None
