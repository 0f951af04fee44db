"""Tables that are damaged or say something twice: each is refused in words, or read as what it still is."""

from __future__ import annotations

import io
import random
import signal
import subprocess
import sys
import warnings
from collections import Counter
from datetime import date, time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from exaequo import InputError, read_qrels, read_run
from exaequo.cli import run as command
from exaequo.read.decisions import read_decisions

TABLE = pl.DataFrame(
    {"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "score": [0.5, 0.25, 3.0], "run_id": ["s", "s", "s"]}
)
#: Reads every file that differs from a sound one in one byte, and says what came of it.
EVERY_BYTE = """
import sys
from pathlib import Path
from exaequo import InputError, read_run
sound, path, start = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2]), int(sys.argv[3])
before = read_run(sys.argv[1]).frame
for number in range(start, 2 * len(sound)):
    at, flip = number // 2, (0x01, 0x80)[number % 2]
    path.write_bytes(sound[:at] + bytes((sound[at] ^ flip,)) + sound[at + 1 :])
    print(number, "read", flush=True)
    try:
        word = "same" if read_run(path).frame.equals(before) else "other"
    except InputError as error:
        word = "refused"
    except BaseException as error:
        word = type(error).__name__
    print(number, word, flush=True)
"""


@pytest.mark.soak
def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    """Where a page counts its values below 0, Polars ends the process, which nothing in Python can stop."""
    TABLE.write_parquet(tmp_path / "sound.parquet")
    size = 2 * (tmp_path / "sound.parquet").stat().st_size
    outcomes: Counter[str] = Counter()
    start = 0
    while start < size:
        arguments = [str(tmp_path / "sound.parquet"), str(tmp_path / "damaged.parquet"), str(start)]
        done = subprocess.run(
            [sys.executable, "-c", EVERY_BYTE, *arguments], capture_output=True, text=True, check=False, timeout=120
        )
        words = [line.split() for line in done.stdout.splitlines()]
        outcomes.update(word for _, word in words if word != "read")
        assert done.returncode in (0, -signal.SIGABRT), done.stderr
        outcomes["ended"] += done.returncode != 0
        start = int(words[-1][0]) + 1
    assert set(outcomes) == {"same", "other", "refused", "ended"}
    assert outcomes.total() == size
    assert outcomes["refused"] > size / 3
    assert outcomes["ended"] <= TABLE.width
    assert outcomes["other"] < size / 20  # Polars neither writes nor looks at the checksums of pages


@pytest.mark.parametrize(
    ("kind", "function"),
    [("csv", "read_csv"), ("tsv", "read_csv"), ("jsonl", "read_ndjson"), ("parquet", "read_parquet")],
)
def test_a_panic_is_an_input_error(kind: str, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panics(*_: Any, **__: Any) -> None:
        raise pl.exceptions.PanicException("index out of\nbounds")

    monkeypatch.setattr(pl, function, panics)
    path = tmp_path / f"run.{kind}"
    path.write_text('{"qid": 1}\n')
    for read in (read_run, read_qrels, read_decisions):
        with pytest.raises(
            InputError, match=rf"run.{kind}: cannot be read as {kind} \(index out of bounds\); expected a"
        ):
            read(path)
    if kind == "csv":  # TREC text is read the slow way then
        (tmp_path / "run.txt").write_text("1 Q0 a 1 0.5 s\n")
        assert read_run(tmp_path / "run.txt").frame["docno"].to_list() == ["a"]


def test_the_command_refuses_a_damaged_parquet_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, qrels = tmp_path / "run.parquet", tmp_path / "qrels.txt"
    qrels.write_text("1 0 a 1\n")
    buffer = io.BytesIO()
    TABLE.write_parquet(buffer)
    path.write_bytes(buffer.getvalue()[:40] + bytes(40) + buffer.getvalue()[80:])
    for name in ("eval", "check"):
        assert command([name, str(qrels), str(path)]) == 1
        assert "run.parquet: cannot be read as parquet (" in "".join(capfd.readouterr())


@pytest.mark.parametrize("kind", ["csv", "jsonl", "tsv"])
def test_damaged_text_is_refused_or_read(kind: str, tmp_path: Path) -> None:
    """Whatever is done to a file, there is no other exception and no warning."""
    path = tmp_path / f"run.{kind}"
    sound = {
        "csv": TABLE.write_csv().replace("b", '"b, c"'),
        "tsv": TABLE.write_csv(separator="\t"),
        "jsonl": TABLE.write_ndjson(),
    }[kind].encode()
    pieces = [b'"', b",", b"\n", b"\r", b"{", b"}", b"[", b"]", b":", b"\0", b"\\", b"\t", b"null", b"NaN", b"1e999"]
    pieces += [b"\xff", "\u2028".encode(), b'"qid":1,', b"9" * 400, b"[" * 9999, b'{"a":[{"b":1}]}']
    source = random.Random(1)
    refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(400):
            data = bytearray(sound)
            for _ in range(source.choice((1, 1, 2, 4))):
                at = source.randrange(len(data))
                data[at : at + source.choice((0, 0, 1, 8))] = source.choice(pieces)
            path.write_bytes(data)
            try:
                read_run(path)
            except InputError:
                refused += 1
    assert refused > 100


@pytest.mark.parametrize("first", ["", None])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_the_first_run_id_is_empty(kind: str, first: str | None, tmp_path: Path) -> None:
    path = tmp_path / f"mine.{kind}"
    for ids, count in (([first, "s", "s"], 2), ([first] * 3, 1), (["s", first, "s"], 2)):
        table = TABLE.with_columns(pl.Series("run_id", ids, dtype=pl.String))
        if kind == "parquet":
            table.write_parquet(path)
        elif kind == "jsonl":
            table.write_ndjson(path)
        else:
            table.write_csv(path, separator="," if kind == "csv" else "\t", quote_style="never")
        run = read_run(path)
        assert (run.name, run.n_names) == ("s" if ids[0] else "mine", count)
        assert run.frame["docno"].to_list() == ["a", "b", "a"]
    assert read_run(path, name="given").name == "given"


@pytest.mark.parametrize(
    ("ending", "text", "line", "found"),
    [
        ("csv", "qid,docno,sim,sim\n1,a,1,2\n", 1, "'sim' is here twice"),
        ("csv", 'qid,docno,"sim",sim\n1,a,1,2\n', 1, "'sim' is here twice"),
        ("tsv", "qid\tqid\tdocno\tsim\n1\t2\ta\t1\n", 1, "'qid' is here twice"),
        ("csv", "qid,docno,sim\n1,a,1\n1,b\0,2\n", 3, "null bytes"),
        ("jsonl", '{"qid":1,"docno":"a","sim":1}\n\n{"qid":1,"docno":"b","sim":1,"sim":2}\n', 3, "'sim' is here twice"),
        ("jsonl", '{"qid":1,"docno":"a","sim":1}\n{"qid":1,"docno":"b\0","sim":1}\n', 2, "null bytes"),
        ("jsonl", '{"qid":1,"docno":"a","sim":' + "[" * 9999 + "]" * 9999 + "}\n", 1, "not a JSON object"),
    ],
)
def test_what_was_taken_in_silence(tmp_path: Path, ending: str, text: str, line: int, found: str) -> None:
    path = tmp_path / f"run.{ending}"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        read_run(path)
    assert raised.value.problems[0].line == line
    assert found in raised.value.problems[0].found
    theirs = {"theme": "qid", "truth": "sim", "score": "sim"}
    with pytest.raises(InputError, match=r"is here twice|null bytes|not a JSON object"):
        read_decisions(path, columns=theirs)


def test_names_that_stand_twice_where_nobody_looks(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("qid,docno,sim,note,note,,\n1,a,1,x,y,,\n")
    assert read_run(path).frame["sim"].to_list() == [1.0]
    lines = tmp_path / "run.jsonl"
    lines.write_text('{"qid":"sim","docno":"sim","sim":1,"note":1,"note":2}\n')
    assert read_run(lines).frame["docno"].to_list() == ["sim"]


def test_columns_that_are_no_text() -> None:
    lists = TABLE.with_columns(pl.Series("run_id", [[b"1"], [], []]))
    binary = TABLE.with_columns(pl.Series("run_id", [b"\xff", b"", b""]))
    structs = TABLE.with_columns(pl.Series("run_id", [{"a": 1}, {"a": 2}, None]))
    for table in (lists, binary, structs):
        with pytest.raises(InputError, match=r"run: column run_id holds .* values; expected text or numbers"):
            read_run(table)
    decisions = pl.DataFrame({"theme": [b"\xff"], "truth": [1], "score": [0.5]})
    with pytest.raises(InputError, match=r"column theme holds Binary values"):
        read_decisions(decisions)


def test_dates_are_no_ranks(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    for values in ([date(2020, 1, 3), date(2020, 1, 2), None], [time(1), time(2), time(3)]):
        TABLE.with_columns(pl.Series("rank", values)).write_parquet(path)
        with pytest.raises(InputError, match=r"run\.parquet: column rank holds (Date|Time) values; expected numbers\."):
            read_run(path)
    TABLE.with_columns(pl.Series("rank", [3, 1, None]), pl.Series("run_id", [date(2020, 1, 2)] * 3)).write_parquet(path)
    assert read_run(path).frame["rank"].to_list() == ["3", "1", None]
    assert read_run(path).name == "2020-01-02"
