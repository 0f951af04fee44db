"""Blocks: the same scores as in memory, whatever the file and however small its pieces."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from drawing import drawn, same
from exaequo.cli import run as command
from exaequo.engine import groups, pieces
from exaequo.engine.blocks import Reading, evaluate_blocks
from exaequo.evaluation import evaluate_runs, judged_runs
from exaequo.measures import parse_measures
from exaequo.options import Options
from exaequo.read import read_qrels, read_run
from helpers import evaluate

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


WRITERS: dict[str, Callable[[Path], object]] = {
    "run.txt": lambda path: path.write_text(lines(FRAME)),
    "comments.txt": lambda path: path.write_text("# first\n" + lines(FRAME).replace("\n", "\r\n\n", 5)),
    "scattered.txt": lambda path: path.write_text(lines(scattered(FRAME))),
    "run.gz": lambda path: path.write_bytes(gzip.compress(lines(FRAME).encode())),
    "run.bz2": lambda path: path.write_bytes(bz2.compress(lines(FRAME).encode())),
    "run.xz": lambda path: path.write_bytes(lzma.compress(lines(FRAME).encode())),
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
    found = evaluate_blocks(qrels, [str(small / name)], MEASURES, options, interval=True)
    run = read_run(str(small / name))
    expected = evaluate_runs(judged_runs(qrels, [run], options), MEASURES, options, interval=True)
    same(found.to_polars(), expected.to_polars())
    assert found.tie_effects == expected.tie_effects
    assert found.expectations == expected.expectations
    assert found.warnings == expected.warnings
    told = [{**each["runs"][0], "sha256": None} for each in (found.inputs, expected.inputs)]
    assert told[0] == told[1]


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
        ("t0 Q0 a 1 2 x\nt0 Q0 a 2 1 x\n", "topic 't0': document 'a' is there again"),
        ("zz Q0 a 1 2 x\n", "none of its 1 topic is judged (zz)"),
        ("", "the file is empty"),
    ],
)
def test_bad_files(small: Path, text: str, expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    (small / "run.txt").write_text(text)
    assert command(["eval", str(small / "qrels.txt"), str(small / "run.txt"), "--engine", "blocks"]) == 1
    error = capfd.readouterr().err
    assert expected in error
    assert "Traceback" not in error


def test_documents_there_again_are_dropped_if_asked(small: Path) -> None:
    (small / "run.txt").write_text(lines(FRAME) + lines(FRAME[-1:].with_columns(pl.col("sim") - 1)))
    qrels = read_qrels(small / "qrels.txt")
    found = evaluate_blocks(qrels, [str(small / "run.txt")], MEASURES, Options(), reading=Reading(errors="drop"))
    (small / "once.txt").write_text(lines(FRAME))
    same(found.to_polars(), evaluate_blocks(qrels, [str(small / "once.txt")], MEASURES, Options()).to_polars())
    assert found.warnings[-1].endswith(
        "run.txt: 1 row dropped: no id or finite number, or a document that is there again"
    )


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
        return err.splitlines()[-1].removeprefix(f"{table}: ")

    found: list[str] = []
    topics = len(evaluate(qrels, runs[0], "AP")["run0", "realistic", "AP"].values)
    assert grown(*runs[:2]) == f"{2 * topics} lists evaluated and appended, 0 were there"
    assert grown(*runs) == f"{topics} lists evaluated and appended, {2 * topics} were there"
    expected = evaluate(qrels, runs, "AP").means
    assert found[-1] == expected.write_csv()
    judged = (small / "qrels.txt").read_text()
    (small / "qrels.txt").write_text(judged + "t0 0 new 1\n")  # one topic changes, in all runs
    assert grown(*runs) == f"3 lists evaluated and appended, {3 * topics - 3} were there"
    assert found[-1] == evaluate(qrels, runs, "AP").means.write_csv()
    (small / "qrels.txt").write_text(judged)  # and back: the last scores count
    assert grown(*runs) == f"3 lists evaluated and appended, {3 * topics - 3} were there"
    assert found[-1] == expected.write_csv()
    assert command(["eval", qrels, *runs, "-m", "RR", "--append", table]) == 2
    assert "was made with other measures or options" in capfd.readouterr().err
