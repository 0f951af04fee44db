"""Nothing is lost or taken in silence: archives, first bytes, ids and names given twice, numbers beyond doubles."""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import lzma
import sys
import tarfile
import warnings
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from exaequo import BadParameter, DataWarning, InputError, evaluate, parse_measure, read_run
from exaequo.cli import run as command
from exaequo.read import source
from exaequo.read.collection.files import files_of
from exaequo.read.decisions import read_decisions
from exaequo.read.orderings import read_orderings
from exaequo.searching.notation import System
from exaequo.searching.systems import read_queries

zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
PACKS: dict[str, Any] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}
NAMES = ("a.txt", "b.txt", "c.txt")


def tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as packed:
        for name in NAMES:
            about, data = tarfile.TarInfo(name), name.encode() * 20
            about.size = len(data)
            packed.addfile(about, io.BytesIO(data))
    return buffer.getvalue()


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in NAMES:
            packed.writestr(name, name * 20)
    return buffer.getvalue()


@pytest.mark.parametrize("make", [tar, zipped])
def test_no_member_is_lost(make: Any, tmp_path: Path) -> None:
    """Changes of one bit after the first bytes, which say what it is, and cuts, at many places."""
    data, path = make(), tmp_path / "archive"
    known = 512 if make is tar else 4
    path.write_bytes(data)
    assert [Path(file.name).name for file in files_of(str(path))] == list(NAMES)
    last = min(len(data), 6 * 512)
    places = range(known, last, max(1, last // 300))
    damaged = [data[:at] for at in places]
    damaged += [data[:at] + bytes((data[at] ^ flip,)) + data[at + 1 :] for at in places for flip in (0x01, 0x80)]
    refused = 0
    for each in damaged:
        path.write_bytes(each)
        try:
            assert len(files_of(str(path))) == len(NAMES)
        except InputError:
            refused += 1
    assert refused > len(damaged) / 3


@pytest.mark.parametrize("kind", PACKS)
def test_unpacking_has_a_bound(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_ALWAYS", 1 << 20)
    path = tmp_path / "run"
    path.write_bytes(PACKS[kind](b"1" * (1 << 20)))
    assert len(source.load(str(path))[0]) == 1 << 20
    path.write_bytes(PACKS[kind](b"1" * ((1 << 20) + 1)))
    with pytest.raises(InputError, match=r"run: it unpacks to more than 1 MB, over 100 times its size; expected"):
        source.load(str(path))
    path.write_bytes(PACKS[kind](b"1" * (1 << 19)) * 3)
    with pytest.raises(InputError, match="it unpacks to more than"):
        source.load(str(path))


def test_a_zip_archive_has_the_same_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_ALWAYS", 1 << 20)
    for size, name in ((1 << 19, "small"), ((1 << 20) + 1, "large")):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("docs.txt", "1" * size)
    assert len(files_of(str(tmp_path / "small.zip"))) == 1
    with pytest.raises(InputError, match=r"large.zip: it unpacks to more than 1 MB"):
        files_of(str(tmp_path / "large.zip"))


def test_what_unpacks_to_many_times_its_size_may_if_it_is_short() -> None:
    assert source.most_unpacked(1) == 1 << 26
    assert source.most_unpacked(1 << 30) == 100 << 30


@pytest.mark.parametrize("topic", ["x^2", "x\x01", "x", "(", "BZh9", "BZh91AY&SY", "BZh91AY&SYxyz"])
def test_topics_that_begin_as_packed_files_do(topic: str, tmp_path: Path) -> None:
    """Polars unpacks what begins as zlib, gzip or zstd do."""
    for text in (f"{topic} Q0 a 1 2 s\n{topic} Q0 b 2 1 s\n", f" {topic}  Q0 a 1 2 s\r\n{topic} Q0 b 2 1 s\n"):
        (tmp_path / "run.txt").write_bytes(text.encode())
        assert read_run(tmp_path / "run.txt").frame["qid"].to_list() == [topic, topic]
    (tmp_path / "run.csv").write_bytes(f"{topic},qid,docno,sim\n1,{topic},a,1\n".encode())
    assert read_run(tmp_path / "run.csv").frame["qid"].to_list() == [topic]
    (tmp_path / "queries.tsv").write_bytes(f"{topic}\tbears\n".encode())
    assert read_queries(tmp_path / "queries.tsv").rows() == [(topic, "bears")]


def test_a_mark_that_is_not_the_first_thing_of_a_file_is_part_of_an_id(tmp_path: Path) -> None:
    """Polars drops what it reads first, which may stand behind comments."""
    (tmp_path / "run.txt").write_text("# said\n\ufeff1 Q0 a 1 2 s\n2 Q0 b 1 1 s\n", encoding="utf-8")
    run = read_run(tmp_path / "run.txt")
    assert run.topics == ["2", "\ufeff1"]
    assert "holds U+FEFF" in run.source.remarks[0]


@pytest.mark.parametrize("first", [b"(\xb5/\xfd", b"\x1f\x8b", b"x\x9c"])
def test_what_looks_packed_after_blanks_is_no_text(first: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_bytes(b" " + first + b" Q0 a 1 1 s\n")
    with pytest.raises(InputError, match=r"run.txt:1: byte 0x.. is not UTF-8"):
        read_run(tmp_path / "run.txt")


@pytest.mark.parametrize("value", ["1.5", "1.0", "true", '["b"]', '{"b": 1}'])
@pytest.mark.parametrize("column", ["qid", "docno"])
def test_ids_in_json_that_are_neither_text_nor_whole(column: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    row = {"qid": '"1"', "docno": '"b"', "sim": "2"} | {column: value}
    second = ", ".join(f'"{key}": {each}' for key, each in row.items())
    path.write_text(f'{{"qid": "1", "docno": "a", "sim": 1}}\n\n{{{second}}}\n')
    with pytest.raises(InputError, match=rf"run.jsonl:3: {column} is .*; expected strings or whole numbers as ids"):
        read_run(path)
    path.write_text(path.read_text().replace(value, "7"))
    assert read_run(path).frame[column].to_list()[1] == "7"


def test_names_in_json_that_are_neither_text_nor_whole(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text('{"theme": "a", "truth": 1, "score": 1}\n{"theme": 1.5, "truth": 1, "score": 1}\n')
    with pytest.raises(InputError, match=r"table.jsonl:2: theme is '1.5'"):
        read_decisions(path)
    path.write_text('{"system": "a", "rank": 1}\n{"system": 1.5, "rank": 2}\n')
    with pytest.raises(InputError, match=r"table.jsonl:2: system is '1.5'"):
        read_orderings(path)


@pytest.mark.parametrize("value", [1.5, 1.0, np.float32(0.5), True, b"b", datetime.date(2020, 1, 1)])
@pytest.mark.parametrize("column", ["qid", "docno"])
def test_ids_of_objects_that_are_neither_text_nor_whole(column: str, value: object) -> None:
    rows = [{"qid": "1", "docno": "a", "sim": 1.0}, {"qid": "1", "docno": "b", "sim": "0.5"} | {column: value}]
    frame = pd.DataFrame(rows, dtype=object)
    for data in (frame, list(frame.itertuples(index=False))):
        with pytest.raises(InputError, match=rf"run: row 1: {column} is .*; expected strings or whole numbers as ids"):
            read_run(data)
    frame.loc[1, column] = 7
    assert read_run(frame).frame.select(column, "sim").row(1) == ("7", 0.5)
    decisions = pd.DataFrame({"theme": ["a", value], "truth": [1, 0], "score": [1, 2]}, dtype=object)
    with pytest.raises(InputError, match="table: row 1: theme is"):
        read_decisions(decisions)


def test_keys_of_json_that_stand_twice_in_other_letters(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for text in (
        '{"qid":1,"docno":"a","sim":1,"s\\u0069m":2}\n',
        '{"qid":1,"docno":"a","sim":1,"sim":2}\n{"qid":1,"docno":"b"}\n',
        '{"qid":1,"docno":"a","sim":1,"rank":2,"rank":1}\n{"qid":1,"docno":"b","sim":1}\n',
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=r"run.jsonl:1: '(sim|rank)' is here twice"):
            read_run(path)


def test_numbers_that_no_double_holds() -> None:
    with pytest.raises(InputError, match="score is '1000000000"):
        read_run({"1": {"a": 10**400, "b": 1}})
    assert read_run({10**30: {"a": 1}}).frame["qid"].to_list() == ["1" + "0" * 30]


@pytest.mark.parametrize(("scores", "tied"), [((2**53, 2**53 + 1), 2), ((2**53, 2**53 + 2), 0), ((7, 7), 0)])
def test_whole_numbers_that_become_ties(scores: tuple[int, int], tied: int, tmp_path: Path) -> None:
    one, two = scores
    (tmp_path / "run.txt").write_text(f"1 Q0 a 1 {one} s\n1 Q0 b 2 {two} s\n2 Q0 a 1 {one} s\n")
    qrels = {"1": {"a": 1}, "2": {"a": 1}}
    for run in ({"1": {"a": one, "b": two}, "2": {"a": one}}, tmp_path / "run.txt"):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", DataWarning)
            evaluate(qrels, run, "AP")
        assert [str(each.message).partition(": ")[2][:50] for each in said if "2^53" in str(each.message)] == (
            ["2 scores of 9,007,199,254,740,992 (2^53) or more t"] if tied else []
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AP(rel=1,rel=2)", "'rel' parameter of AP is given twice: 1 and 2"),
        ("P(cutoff=5)@10", "gives 'cutoff' twice"),
        ("nDCG(gains={1:2,1:3})@5", "'gains' parameter of nDCG gives a key twice"),
        ("gm(AP(rel=1,rel=1))", "given twice"),
    ],
)
def test_parameters_given_twice(text: str, said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        parse_measure(text)


def test_other_things_given_twice(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadParameter, match="'k1' parameter of bm25 is given twice: 1 and 2"):
        System.of("bm25(k1=1,k1=2)")
    assert command(["eval", "q", "r", "--columns", "qid=a", "--columns", "qid=b"]) == 2
    assert "--columns names qid twice: 'a' and 'b'" in capsys.readouterr().err


def test_many_short_streams_take_no_longer_than_their_bytes(tmp_path: Path) -> None:
    """What follows a stream is copied: with a whole mebibyte each, these would take minutes."""
    path = tmp_path / "f"
    for pack, count in ((gzip.compress, 20_000), (bz2.compress, 10_000), (lzma.compress, 10_000)):
        path.write_bytes(pack(b"1") * count)
        assert source.load(str(path))[0] == b"1" * count
