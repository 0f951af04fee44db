"""Names of files that are made from names of systems: one file in its folder, on every system, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import exaequo
from exaequo.errors import BadParameter, ExaequoError
from exaequo.read.collection.saving import save
from exaequo.writing import LONGEST_NAME, same_file, write_whole, wrong_name
from helpers import little

BAD = [
    *("", ".", "..", "../../x", "/etc/passwd", "a/b", "a\\b", "..\\x", "C:x", "x:stream", ".hidden", "x.", "x ", "x\n"),
    *("CON", "nul.txt", "Com1", "lpt9.run.txt", "aux .txt".replace(" ", ""), "COM¹", "a\x00b", "\x1b[2J", "a\u202eb"),
    *("x" * 300, "é" * 101, "a*b", "a?b", "<x>", "a|b", 'a"b'),
]
GOOD = ["bm25", "bm25(k1=0.9,b=0.4)-stem", "console", "null", "com", "com10", "été", "a b", "x.y", "x" * LONGEST_NAME]


@pytest.mark.parametrize("name", BAD)
def test_bad_names_are_refused(name: str, tmp_path: Path) -> None:
    assert wrong_name(name)
    with pytest.raises(BadParameter, match="name of a system is that of a file"):
        exaequo.experiment(little(), {name: lambda _: ["D00"]}, folder=tmp_path / "inner")
    with pytest.raises(BadParameter, match="split is the name of a file"):
        save(little(), tmp_path / "inner", split=name)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("name", GOOD)
def test_good_names_are_written(name: str, tmp_path: Path) -> None:
    assert wrong_name(name) == ""
    write_whole(tmp_path / f"{name}.txt", b"x")
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.txt"]


def test_names_that_differ_in_capitals_only() -> None:
    assert same_file(["bm25", "BM25"]) == ("bm25", "BM25")
    assert same_file(["é", "e\u0301"]) == ("é", "e\u0301")
    assert same_file(["bm25", "bm25-stem", "tfidf"]) is None
    with pytest.raises(BadParameter, match="one file on some systems: 'a' and 'A'"):
        exaequo.experiment(little(), {"a": lambda _: ["D00"], "A": lambda _: ["D01"]})


def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "kept").write_text("before")
    monkeypatch.setattr("os.replace", fails)
    for name in ("kept", "new"):
        with pytest.raises(ExaequoError, match=f"{name}: cannot write"):
            write_whole(tmp_path / name, b"whole")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("kept", "before")]


def test_the_longest_name_a_system_takes_can_be_written(tmp_path: Path) -> None:
    write_whole(tmp_path / ("x" * 255), b"whole")
    assert (tmp_path / ("x" * 255)).read_bytes() == b"whole"
