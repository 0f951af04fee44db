"""TREC text: three ways to one table, and a message for everything that is not one."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exaequo import InputError, read_qrels, read_run
from exaequo.read import trec
from exaequo.read.trec import QRELS, RUN

CLEAN = b"301 Q0 FT8 1 0.8 sys\n301 Q0 LA12 2 0.5 sys\n007 Q0 FT8 1 -3 sys\n"


def rows(data: bytes, layout: trec.Layout = RUN) -> list[tuple[object, ...]]:
    columns = ("qid", "docno", layout.number)
    return trec.parse(data, layout, "file").select(columns).rows()


EXPECTED = [("301", "FT8", 0.8), ("301", "LA12", 0.5), ("007", "FT8", -3.0)]


@pytest.mark.parametrize(
    "data",
    [
        CLEAN,
        CLEAN.rstrip(b"\n"),
        CLEAN.replace(b" ", b"\t"),
        CLEAN.replace(b" ", b" \t  "),
        CLEAN.replace(b"\n", b"\r\n"),
        CLEAN.replace(b"\n", b"\r"),
        CLEAN.replace(b"\n", b" \n"),
        CLEAN.replace(b"\n", b"\n\n  \n"),
        CLEAN.replace(b"sys", b"sys and more fields"),
        CLEAN.replace(b"Q0 ", b"Q0\t").replace(b"sys", b"my sys\tv2"),
        b"# made by hand\n" + CLEAN,
        b"  # made by hand\n\n" + CLEAN + b"# the end",
        b"  " + CLEAN.replace(b"\n", b"\n   "),
        CLEAN.replace(b"-3", b"-3e0"),
        CLEAN.replace(b" ", b"\v").replace(b"\n", b"\f\n"),
    ],
)
def test_one_table_whatever_the_blanks(data: bytes) -> None:
    assert rows(data) == EXPECTED


def test_a_mark_at_the_start_and_packing(tmp_path: Path) -> None:
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    packs: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
        "zst": zstd.compress,
        "txt": bytes,
    }
    for ending, pack in packs.items():
        path = tmp_path / f"sys.{ending}"
        path.write_bytes(pack(b"\xef\xbb\xbf" + CLEAN))
        run = read_run(path)
        assert run.frame.select("qid", "docno", "sim").rows() == EXPECTED
        assert run.name == "sys"


def test_standard_input_may_be_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(gzip.compress(CLEAN))

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert read_run("-").frame.height == 3


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8).filter(
    lambda word: not word.startswith("#") and word.casefold() not in trec._HEADER
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["+1", ".5", "5.", "1E5", "-0.0", "1e-400", "00012", "4238", "1e-5"]),
)
BLANK = st.sampled_from([" ", "\t", "  ", " \t ", "\v", "\f"])
END = st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n# x y\n", "\n \t\n"])


@st.composite
def files(draw: st.DrawFn, layout: trec.Layout) -> bytes:
    """Draw a file: clean ones with one separator, untidy ones with all there is."""
    untidy = draw(st.booleans())
    separator = draw(st.sampled_from([" ", "\t"]))
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        fields = [draw(NUMBERS) if field == layout.number else draw(WORDS) for field in layout.fields]
        fields += draw(st.lists(WORDS, max_size=2)) if layout.more else []
        text = draw(st.sampled_from(["", " ", "\t  "])) + fields[0] if untidy else fields[0]
        for field in fields[1:]:
            text += (draw(BLANK) if untidy else separator) + field
        lines.append(text + (draw(END) if untidy else "\n"))
    return "".join(lines).encode()


@given(st.sampled_from([RUN, QRELS]).flatmap(lambda layout: st.tuples(st.just(layout), files(layout))))
def test_fast_and_slow_ways_agree(case: tuple[trec.Layout, bytes]) -> None:
    layout, data = case
    slow, problems = trec.line_by_line(data, layout, "file")
    if problems:
        assert all("is here and in line" in problem.found for problem in problems)
        with pytest.raises(InputError) as raised:
            trec.parse(data, layout, "file")
        assert list(raised.value.problems) == problems
        return
    tidied = trec.parse_clean(trec.tidy(data, layout), layout)
    assert tidied is not None
    assert tidied.equals(slow)
    clean = trec.parse_clean(data, layout)
    assert clean is None or clean.equals(slow)
    assert trec.parse(data, layout, "file").drop("key").equals(slow)


def test_clean_files_take_the_fast_way() -> None:
    assert trec.parse_clean(CLEAN, RUN) is not None
    assert trec.parse_clean(CLEAN.replace(b" ", b"\t"), RUN) is not None
    assert trec.parse_clean(CLEAN.replace(b"FT8", b"FT#8"), RUN) is not None


LINE = b"301 Q0 FT8 1 0.8 sys\n"


@pytest.mark.parametrize(
    ("data", "line", "found", "mend"),
    [
        (LINE + b"301 Q0 LA12 2 0.5\n", 2, "5 fields", "Add the name of the run"),
        (LINE + b"\n# c\n301 Q0 LA12\n", 4, "3 fields", "Mend"),
        (LINE + b"301 0 LA12 1\n", 2, "4 fields", "line of qrels"),
        (LINE + b"301,LA12,0.5\n", 2, "1 field", ".csv"),
        (LINE + b"301 Q0 LA12 2 nan sys\n", 2, "score is 'nan'", "give it a score"),
        (LINE + b"301 Q0 LA12 2 -inf sys\n", 2, "score is '-inf'", "give it a score"),
        (LINE + b"301 Q0 LA12 2 1e999 sys\n", 2, "score is '1e999'", "Scale the numbers"),
        (LINE + b"301 Q0 LA12 2 1_0 sys\n", 2, "score is '1_0'", "Write it like"),
        (LINE + b"301 Q0 LA12 2 0x1p3 sys\n", 2, "score is '0x1p3'", "Write it like"),
        (LINE + "301 Q0 LA12 2 ٣ sys\n".encode(), 2, "score is '٣'", "Write it like"),
        (LINE + b"302 Q0 X 1 0.1 sys\n" + LINE, 3, "document 'FT8' of topic '301' is here and in line 1", "Delete"),
        (b"qid iter docno rank sim run_id\n" + LINE, 1, "a header line", ".tsv"),
        (LINE + b"TOPIC Q0 DOCID RANK SCORE RUN\n", 2, "a header line", "Delete"),
        (LINE + b"301 Q0 caf\xe9 2 0.5 sys\n", 2, "byte 0xe9 is not UTF-8", "iconv"),
    ],
)
def test_a_bad_line_of_a_run(data: bytes, line: int, found: str, mend: str) -> None:
    with pytest.raises(InputError) as raised:
        trec.parse(data, RUN, "runs/sys.txt")
    (problem,) = raised.value.problems
    assert problem.line == line
    assert found in problem.found
    assert mend in problem.mend
    assert str(raised.value).startswith(f"runs/sys.txt:{line}: ")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"301 0 FT8 yes\n", "judgment is 'yes'"),
        (b"301 0 FT8\n", "3 fields"),
        (b"301 Q0 FT8 1 0.8 sys\n", "6 fields"),
        (b"301 0 FT8 1 extra\n", "5 fields"),
        (b"301 0 FT8 1\n301 0 FT8 1\n", "document 'FT8' of topic '301' is here and in line 1"),
    ],
)
def test_a_bad_line_of_qrels(data: bytes, found: str) -> None:
    with pytest.raises(InputError, match=r"qrels.txt:") as raised:
        trec.parse(data, QRELS, "qrels.txt")
    assert found in raised.value.problems[0].found


def test_all_problems_are_found() -> None:
    data = LINE + b"x\n" + LINE.replace(b"0.8", b"?") + LINE
    with pytest.raises(InputError, match=r"2 more in this input") as raised:
        trec.parse(data, RUN, "f")
    assert [problem.line for problem in raised.value.problems] == [2, 3, 4]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# nothing\n", b"\xef\xbb\xbf"])
def test_an_empty_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "empty.txt"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"empty|only comments"):
        read_run(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_run(tmp_path / "nothing.txt")
    with pytest.raises(InputError, match="a folder"):
        read_qrels(tmp_path)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(CLEAN)[:-9])
    with pytest.raises(InputError, match=r"cut.gz: the gzip archive is damaged or cut short"):
        read_run(cut)
    wide = tmp_path / "wide.txt"
    wide.write_bytes(CLEAN.decode().encode("utf-16"))
    with pytest.raises(InputError, match="UTF-16"):
        read_run(wide)


def test_a_topic_called_like_an_archive() -> None:
    assert trec.parse(b"BZh91 0 d 1\n", QRELS, "f").height == 1


def test_a_run_called_run_is_not_all_headers() -> None:
    data = b"1 Q0 a 1 0.5 run\n1 Q0 b 2 0.4 run\n2 Q0 a 1 nan run\n"
    with pytest.raises(InputError) as raised:
        trec.parse(data, RUN, "f")
    assert [problem.line for problem in raised.value.problems] == [3]


def test_a_picture_is_not_a_run() -> None:
    with pytest.raises(InputError, match=r"f:1: the file is not text \(it holds null bytes\); expected a run"):
        trec.parse(b"1 Q0 a\0x 1 0.5 t\n", RUN, "f")
    with pytest.raises(InputError, match="this is a picture"):
        trec.parse(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\n", RUN, "f")


def test_digest(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(CLEAN))
    assert read_run(path, digest=True).source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read_run(path).source.sha256 is None


def test_fields_that_are_ignored_may_be_no_text(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(b"1 Q0 a 1 2 me \x9c\n1 Q0 b 2 1 me\n")
    assert read_run(path).source.remarks == (
        f"{path}:1: fields after the sixth are ignored, as in '1 Q0 a 1 2 me \ufffd'",
    )
