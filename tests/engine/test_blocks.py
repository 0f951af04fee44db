"""Blocks: the same scores as in memory, whatever the file and however small its pieces."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import json
import lzma
import os
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest

from drawing import Drawn, drawn, same, whole
from exaequo.cli import run as command
from exaequo.engine import blocks, groups, pieces, store
from exaequo.engine.blocks import evaluate_blocks
from exaequo.engine.pieces import Reading
from exaequo.errors import ExaequoError, InputError
from exaequo.evaluation import evaluate_runs, judged_runs
from exaequo.measures import parse_measures
from exaequo.options import Options
from exaequo.read import read_qrels, read_run
from helpers import evaluate

zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
SKIPPED = b"\x5a\x2a\x4d\x18\x03\x00\x00\x00abc"  # a frame of zstd that holds no data
MEASURES = parse_measures("AP nDCG@10 infAP gm(AP) NumRet")
OPTIONS = Options.of(["realistic", "random", "input", "rank", "expected"], samples=5)
QRELS = "".join(f"{qid} 0 {docno} {rel:g}\n" for qid, docno, rel in drawn(7).qrels.rows())
FRAME = drawn(7).lines.filter(run="run 0").drop("run")


def lines(frame: pl.DataFrame) -> str:
    return "".join(f"{qid} Q0 {docno} {rank} {sim!r} mine\n" for qid, docno, sim, rank, _ in frame.rows())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Pieces of a few lines, blocks of a few lists."""
    monkeypatch.setattr(pieces, "BYTES", 700)
    monkeypatch.setattr(pieces, "ROWS", 23)
    monkeypatch.setattr(groups.blocks, "__defaults__", (40,))
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


def scattered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sample(fraction=1, shuffle=True, seed=4)


#: More than a piece, in which there is nothing.
NOTES = "# a remark\n\n" * 200
#: Another stream, and zeros behind it.
TWO = lzma.compress(lines(FRAME[9:]).encode()) + bytes(8)
WRITERS: dict[str, Callable[[Path], object]] = {
    "run.txt": lambda path: path.write_text(lines(FRAME)),
    "comments.txt": lambda path: path.write_text("# first\n" + lines(FRAME).replace("\n", "\r\n\n", 5)),
    "remarks.txt": lambda path: path.write_text(lines(FRAME[:40]) + NOTES + lines(FRAME[40:]) + "# end"),
    "strange.txt": lambda path: path.write_text(lines(FRAME.with_columns(docno="x" + pl.col("docno")))),
    "scattered.txt": lambda path: path.write_text(lines(scattered(FRAME))),
    "run.gz": lambda path: path.write_bytes(gzip.compress(lines(FRAME).encode())),
    "run.bz2": lambda path: path.write_bytes(bz2.compress(lines(FRAME).encode())),
    "misnamed.txt": lambda path: path.write_bytes(bz2.compress(lines(FRAME).encode())),
    "run.zst": lambda path: path.write_bytes(SKIPPED + zstd.compress(lines(FRAME).encode())),
    "run.xz": lambda path: path.write_bytes(lzma.compress(lines(FRAME).encode())),
    "two.xz": lambda path: path.write_bytes(lzma.compress(lines(FRAME[:9]).encode()) + TWO),
    "named.txt": lambda path: path.write_bytes(bz2.compress(lines(FRAME).encode())),
    "old.txt": lambda path: path.write_bytes(lines(FRAME).replace("\n", "\r").encode() + b"\x1a"),
    "blank.csv": lambda path: path.write_text("\n\n" + FRAME.drop("line").write_csv()),
    "texts.csv": lambda path: FRAME.with_columns(text=pl.lit('a "text"\nof\nlines')).drop("line").write_csv(path),
    "run.csv": lambda path: FRAME.drop("line").write_csv(path),
    "run.tsv": lambda path: FRAME.drop("line").write_csv(path, separator="\t"),
    "run.jsonl": lambda path: FRAME.drop("line").write_ndjson(path),
    "run.parquet": lambda path: FRAME.drop("line").write_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_the_same_as_in_memory(small: Path, name: str, missing: str) -> None:
    WRITERS[name](small / name)
    qrels = read_qrels(small / "qrels.txt")
    options = Options(**{**vars(OPTIONS), "missing": missing})
    reading = Reading(digest=True)
    found = evaluate_blocks(qrels, [str(small / name)], MEASURES, options, reading=reading, interval=True)
    run = read_run(str(small / name), digest=True)
    expected = evaluate_runs(judged_runs(qrels, [run], options), MEASURES, options, interval=True)
    same(found.to_polars(), expected.to_polars())
    assert found.tie_effects == expected.tie_effects
    assert found.expectations == expected.expectations
    assert found.warnings == expected.warnings
    assert found.inputs["runs"] == expected.inputs["runs"]


def test_the_command_says_the_same(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (small / "run.txt").write_text(lines(FRAME))
    said = []
    for engine in ("local", "blocks"):
        arguments = ["eval", str(small / "qrels.txt"), str(small / "run.txt"), "-q", "--ties", "all,expected"]
        assert command([*arguments, "--engine", engine]) == 0
        said.append(capfd.readouterr())
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t0 Q0 a 1 2 x\nt0 Q0 b 1 nan x\n", "run.txt:2: score is 'nan'"),
        (lines(FRAME) + "t0 Q0 b\n", f"run.txt:{FRAME.height + 1}: 3 fields"),
        (NOTES + "t0 Q0 b\n", f"run.txt:{NOTES.count(chr(10)) + 1}: 3 fields"),
        (NOTES + "# end", "run.txt: the file has only comments and blank lines; expected lines of 6 fields"),
        ("# ir_metadata.start\nt0 Q0 a 1 2 x\n", "run.txt:2: the header that begins in line 1 has no end"),
        ("t0 Q0 a 1 2 x\nt0 Q0 a 2 1 x\n", "topic 't0': document 'a' is there again"),
        ("t0 Q0 a 1 2 x\nt0 Q0 a 2 1 x\n", '; errors="drop", --errors drop, keeps the best score.'),
        ("t0 Q0 a 1 2\n", ", or read it with --engine local --mend."),
        ("zz Q0 a 1 2 x\n", "its only topic is not judged (zz)"),
        (" \n\n", "only comments and blank lines"),
        ("", "the file is empty"),
    ],
)
def test_bad_files(small: Path, text: str, expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    (small / "run.txt").write_text(text)
    assert command(["eval", str(small / "qrels.txt"), str(small / "run.txt"), "--engine", "blocks"]) == 1
    error = capfd.readouterr().err
    assert expected in error
    assert "Traceback" not in error


def test_files_that_cannot_be_read(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = []
    for engine in ("local", "blocks"):
        for name in ("none.txt", "."):
            assert command(["eval", str(small / "qrels.txt"), str(small / name), "--engine", engine]) == 1
        said.append(capfd.readouterr().err)
    assert "there is no such file" in said[0]
    assert "this is a folder" in said[0]
    assert said[1] == said[0]


def test_what_is_read_but_once_is_not_begun_again(small: Path) -> None:
    fifo = small / "run"
    os.mkfifo(fifo)

    def write() -> None:
        for _ in range(2):
            fifo.write_text(lines(scattered(FRAME)))

    Thread(target=write, daemon=True).start()
    with pytest.raises(InputError, match="a topic goes on after another has begun"):
        evaluate_blocks(read_qrels(small / "qrels.txt"), [str(fifo)], MEASURES, Options())


def test_no_room_for_sorted_lines(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WRITERS["scattered.txt"](small / "run.txt")
    monkeypatch.setattr(tempfile, "tempdir", str(small))
    opened = Path.open

    def full(path: Path, mode: str = "r", **how: Any) -> Any:
        if mode == "ab":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(path, mode, **how)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ExaequoError, match=f"{small}: cannot write .No space left on device.; lines are sorted there"):
        evaluate_blocks(read_qrels(small / "qrels.txt"), [str(small / "run.txt")], MEASURES, Options())
    assert not [*small.glob("exaequo-*")]


@pytest.mark.parametrize("name", ["run.csv", "scattered.txt"])
def test_a_file_that_changes_meanwhile_is_refused(small: Path, name: str) -> None:
    path = small / name
    WRITERS[name](path)

    def change(*_: object) -> None:
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**9))

    with pytest.raises(InputError, match=f"{name}: the file changed while it was read"):
        evaluate_blocks(read_qrels(small / "qrels.txt"), [str(path)], MEASURES, Options(), progress=change)


@pytest.mark.parametrize("name", ["run.gz", "run.bz2", "run.zst", "run.xz"])
def test_damaged_archives(small: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    WRITERS[name](small / name)
    whole = (small / name).read_bytes()
    for damaged in (whole[:-9], whole[:31] + b"xxxx" + whole[35:]):
        (small / name).write_bytes(damaged)
        assert command(["eval", str(small / "qrels.txt"), str(small / name), "--engine", "blocks"]) == 1
        assert "archive is damaged or cut short" in capfd.readouterr().err


WHOLE = lines(FRAME).encode()
DAMAGED: dict[str, bytes] = {
    "gzip": gzip.compress(WHOLE)[:200] + b"what is no stream" + gzip.compress(WHOLE)[217:],
    "zstd": zstd.compress(WHOLE)[:-4] + b"abcd",
    "bzip2": bz2.compress(WHOLE) + b"what is no stream",
    "xz": lzma.compress(WHOLE) + bytes(2),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_archives_that_do_not_unpack_to_the_last_byte(small: Path, kind: str) -> None:
    (small / "run").write_bytes(DAMAGED[kind])
    with pytest.raises(InputError, match=f"run: the {kind} archive is damaged or cut short"):
        evaluate_blocks(read_qrels(small / "qrels.txt"), [str(small / "run")], MEASURES, Options())


NOTHING: dict[str, Callable[[Path], object]] = {
    "run.csv": lambda path: FRAME.clear().write_csv(path),
    "run.parquet": lambda path: FRAME.clear().write_parquet(path),
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_run_without_rows(small: Path, name: str) -> None:
    NOTHING[name](small / name)
    with pytest.raises(InputError, match=f"{name}: there are no rows"):
        evaluate_blocks(read_qrels(small / "qrels.txt"), [str(small / name)], MEASURES, Options())


def test_ranks_that_are_not_everywhere(small: Path) -> None:
    """Fields of JSON may lack, and so may a column in a piece; who has no rank is called as people call it."""
    rows = FRAME.drop("line").with_columns(sim=pl.lit(1.0)).to_dicts()
    for row in rows[40:]:
        del row["rank"]
    (small / "run.jsonl").write_text("\n".join(map(json.dumps, rows)))
    qrels, run = read_qrels(small / "qrels.txt"), read_run(str(small / "run.jsonl"))
    found = evaluate_blocks(qrels, [str(small / "run.jsonl")], MEASURES, Options())
    same(found.to_polars(), evaluate_runs(judged_runs(qrels, [run], Options()), MEASURES, Options()).to_polars())
    where = rf"run '.*run\.jsonl': the rank of document 'd\d+' of topic '{rows[40]['qid']}' is None"
    with pytest.raises(InputError, match=where):
        evaluate_blocks(qrels, [str(small / "run.jsonl")], MEASURES, Options(ties=("rank",)))


def test_rows_of_a_table_are_counted_from_its_start(small: Path) -> None:
    FRAME.with_columns(sim=pl.when(pl.int_range(pl.len()) != 50).then("sim")).write_parquet(small / "run.parquet")
    with pytest.raises(InputError, match=r"run\.parquet: row 50: score is missing"):
        evaluate_blocks(read_qrels(small / "qrels.txt"), [str(small / "run.parquet")], MEASURES, Options())


def test_lists_that_lack_are_evaluated_in_blocks_too(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an empty list scores is not always 0."""
    monkeypatch.setattr(blocks, "_EMPTY", 2)
    (small / "run.txt").write_text(lines(FRAME.filter(qid="t1")))
    qrels, measures = read_qrels(small / "qrels.txt"), parse_measures("Width@10 E@10 AP")
    found = evaluate_blocks(qrels, [str(small / "run.txt")], measures, Options())
    same(found.to_polars(), evaluate(str(small / "qrels.txt"), str(small / "run.txt"), measures).to_polars())


#: No id, no number, not finite, there again in a judged list and in another.
BAD = [
    ("t0", "x", "nan"),
    ("t0", "y", "1e999"),
    ("t1", "z", "x"),
    ("zz", "a", "inf"),
    ("zz", "b", "1"),
    ("zz", "b", "2"),
]


def _with_bad(path: Path) -> int:
    """Write a run with bad rows among the others; return how many."""
    again = [(qid, docno, repr(sim - 1)) for qid, docno, sim, *_ in FRAME[-1:].rows()]
    rows: list[tuple[str | None, ...]] = [
        *((qid, docno, repr(sim)) for qid, docno, sim, *_ in FRAME.rows()),
        *again,
        *BAD,
    ]
    if path.suffix == ".txt":
        path.write_text("".join(f"{qid} Q0 {docno} 1 {sim} mine\n" for qid, docno, sim in rows))
        return 6
    rows += [("t0", None, "1"), (None, "a", "1"), ("", "b", "1"), ("t2", "c", None)]
    frame = pl.DataFrame(rows, schema=["qid", "docno", "sim"], orient="row")
    if path.suffix == ".parquet":
        frame.with_columns(pl.col("sim").cast(pl.Float64, strict=False)).write_parquet(path)
    elif path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_ndjson(path)
    return 10


@pytest.mark.parametrize("name", ["run.txt", "run.csv", "run.jsonl", "run.parquet"])
def test_bad_rows_are_dropped_and_counted_if_asked(small: Path, name: str) -> None:
    bad = _with_bad(small / name)
    qrels = read_qrels(small / "qrels.txt")
    found = evaluate_blocks(qrels, [str(small / name)], MEASURES, Options(), reading=Reading(errors="drop"))
    (small / "once.txt").write_text(lines(FRAME))
    expected = evaluate_blocks(qrels, [str(small / "once.txt")], MEASURES, Options()).to_polars()
    same(found.to_polars().with_columns(run=pl.lit("mine")), expected)
    why = "no id or finite number, or a document that is there again"
    assert f"{name}: {bad} rows dropped: {why}" in "\n".join(found.warnings)
    assert not any("None" in each for each in found.warnings)
    with pytest.raises(InputError):
        evaluate_blocks(qrels, [str(small / name)], MEASURES, Options())


def test_what_is_no_line_is_not_dropped(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (small / "run.txt").write_text("t0 Q0 a 1 nan x\nt0 Q0 b\n")
    asked = ["eval", str(small / "qrels.txt"), str(small / "run.txt"), "--engine", "blocks", "--errors", "drop"]
    assert command(asked) == 1
    assert "run.txt:2: 3 fields" in capfd.readouterr().err


def test_json_has_the_hashes_of_files(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (small / "run.gz").write_bytes(gzip.compress(lines(scattered(FRAME)).encode()))
    said = []
    for engine in ("local", "blocks"):
        asked = ["eval", str(small / "qrels.txt"), str(small / "run.gz"), "--engine", engine, "--format", "json"]
        assert command(asked) == 0
        said.append(json.loads(capfd.readouterr().out)["inputs"])
    assert said[0] == said[1]
    assert said[0]["runs"][0]["sha256"] == hashlib.sha256((small / "run.gz").read_bytes()).hexdigest()


def test_standard_input_and_what_cannot_be_read_in_blocks(
    small: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (small / "run.txt").write_text(lines(scattered(FRAME)))
    (small / "run.json").write_text("[]")
    with (small / "run.txt").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert command(["eval", str(small / "qrels.txt"), "-", "--engine", "blocks"]) == 1
    assert "<stdin>: a topic goes on after another has begun" in capfd.readouterr().err
    assert command(["eval", str(small / "qrels.txt"), str(small / "run.json"), "--engine", "blocks"]) == 1
    assert "--engine local" in capfd.readouterr().err
    for name in ("lists.jsonl", "pairs.jsonl", "lists.parquet"):
        record = {"query_id": "t0", "results": [["a", 0.5], ["b", 0.25]] if name == "pairs.jsonl" else ["a", "b"]}
        if name == "lists.parquet":
            pl.DataFrame([record]).write_parquet(small / name)
        else:
            (small / name).write_text(json.dumps(record))
        assert command(["eval", str(small / "qrels.txt"), str(small / name), "--engine", "blocks"]) == 1
        assert f"{name}: records hold lists of documents; expected text" in capfd.readouterr().err
    for wrong in (["--master", "local"], ["--errors", "drop"], ["--engine", "blocks", "--mend"]):
        assert command(["eval", str(small / "qrels.txt"), str(small / "run.txt"), *wrong]) == 2
    capfd.readouterr()


def test_groups_are_whole() -> None:
    frame = pl.DataFrame({"qid": list("aaabbcccccdde"), "at": range(13)})
    for size in range(1, 14):
        parts = [frame[start : start + size] for start in range(0, 13, size)]
        for rows in (1, 4, 100):
            found = list(groups.blocks(parts, ["qid"], rows))
            assert pl.concat(found).equals(frame)
            topics = [set(each["qid"]) for each in found]
            assert sum(map(len, topics)) == len(set.union(*topics))
    assert len(list(groups.blocks(frame.partition_by("qid"), ["qid"], 1))) == 5  # none waits for more than the next


def test_a_table_of_scores_grows_by_what_is_new(small: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    qrels, table = str(small / "qrels.txt"), str(tmp_path / "table")
    for number in range(3):
        own = drawn(7).lines.filter(run=f"run {number}").drop("run")
        (small / f"{number}.txt").write_text(lines(own).replace("mine", f"run{number}"))
    runs = [str(small / f"{number}.txt") for number in range(3)]

    def grown(*which: str) -> str:
        assert command(["eval", qrels, *which, "-m", "AP", "--append", table, "--format", "csv"]) == 0
        out, err = capfd.readouterr()
        found.append(out)
        return next(line for line in err.splitlines() if line.startswith(table)).removeprefix(f"{table}: ")

    found: list[str] = []
    topics = len(evaluate(qrels, runs[0], "AP")["run0", "realistic", "AP"].values)
    assert grown(*runs[:2]) == f"{2 * topics} lists evaluated and appended, 0 there before"
    assert grown(*runs) == f"{topics} lists evaluated and appended, {2 * topics} there before"
    expected = evaluate(qrels, runs, "AP").means
    assert found[-1] == expected.write_csv()
    judged = (small / "qrels.txt").read_text()
    (small / "qrels.txt").write_text(judged + "t0 0 new 1\n")  # one topic changes, in all runs
    assert grown(*runs) == f"3 lists evaluated and appended, {3 * topics - 3} there before"
    assert found[-1] == evaluate(qrels, runs, "AP").means.write_csv()
    (small / "qrels.txt").write_text(judged)  # and back: the last scores count
    assert grown(*runs) == f"3 lists evaluated and appended, {3 * topics - 3} there before"
    assert found[-1] == expected.write_csv()
    asked = ["eval", qrels, *runs, "-m", "AP", "--sort", "name"]
    assert command([*asked, "--append", table]) == command(asked) == 0
    grew, local = capfd.readouterr().out.split("ties: ")[1:]
    assert (
        grew == local.partition("Ties decide")[0] + "* best of its column" + local.partition("* best of its column")[2]
    )
    assert command([*asked[:-2], "--append", table, "-q"]) == 2
    assert "the topics are in the files of" in capfd.readouterr().err
    assert command([*asked[:-2], "--append", qrels]) == 1
    assert capfd.readouterr().err.endswith(f"exaequo: {qrels}: cannot write (File exists).\n")
    assert command(["eval", qrels, *runs, "-m", "RR", "--append", table]) == 2
    assert "was made with other measures or options" in capfd.readouterr().err
    (small / "few.txt").write_text("t0 Q0 d 1 1 few\n")
    assert command(["eval", qrels, str(small / "few.txt"), "-m", "AP", "--append", table]) == 0
    assert f"few.txt: {topics - 1} of {topics} evaluated topics missing: t1" in capfd.readouterr().err
    (small / "few.txt").write_text("other Q0 d 1 1 few\n")
    assert command(["eval", qrels, str(small / "few.txt"), "-m", "AP", "--append", table]) == 1
    assert "few.txt: its only topic is not judged (other)" in capfd.readouterr().err
    (small / "twin.txt").write_text((small / "1.txt").read_text())
    assert command(["eval", qrels, runs[1], str(small / "twin.txt"), "-m", "AP", "--append", table]) == 1
    assert "twin.txt: another run called 'run1'; expected a name for each" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["subtopics", "sampled"])
def test_a_table_of_other_judgments_to_which_nothing_is_new(tmp_path: Path, kind: str) -> None:
    data = drawn(8, **{kind: True}, topics=6)
    for new in (True, False):
        done, there, _ = store.append(str(tmp_path), data.judged, data.runs, MEASURES, Options())
        assert (done > 0, there > 0) == (new, not new)
        same(store.read(str(tmp_path)), whole(Drawn(data.lines, data.qrels, MEASURES, Options())))


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.parametrize("end", ["\n\x1a", "\x1a"])
def test_the_end_of_text_of_old_programs_is_no_line(small: Path, end: str) -> None:
    (small / "run.txt").write_text(lines(FRAME).rstrip("\n") + end)
    qrels = read_qrels(str(small / "qrels.txt"))
    found = evaluate_blocks(qrels, [str(small / "run.txt")], MEASURES, OPTIONS)
    expected = evaluate_runs(judged_runs(qrels, [read_run(str(small / "run.txt"))], OPTIONS), MEASURES, OPTIONS)
    same(found.to_polars(means=False), expected.to_polars(means=False))
    assert not [each for each in found.warnings if "run ids" in each]


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
def test_large_clean_text_is_evaluated_in_stretches(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a frame of it; what is not clean throughout is evaluated in blocks."""
    monkeypatch.setattr("exaequo.evaluation.SIZE", 500)
    monkeypatch.setattr("exaequo.evaluation.PER_TOPIC", 0)
    told: list[str] = []
    for name, in_blocks in (("clean", False), ("scattered", True)):
        path = small / f"{name}.txt"
        path.write_text(lines(FRAME if name == "clean" else scattered(FRAME)))
        qrels = read_qrels(str(small / "qrels.txt"))
        found = evaluate_blocks(qrels, [str(path)], MEASURES, OPTIONS, progress=lambda _, done: told.append(done))
        same(
            found.to_polars(means=False),
            evaluate_runs(judged_runs(qrels, [read_run(str(path))], OPTIONS), MEASURES, OPTIONS).to_polars(means=False),
        )
        assert any("stretches" in each for each in told)
        assert any("lines" in each for each in told) == in_blocks
