"""Mended files: what is put right, what is told of it, and what is refused all the same."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exaequo
from exaequo.cli import run as command
from exaequo.errors import InputError
from exaequo.read import read_qrels, read_run
from exaequo.read.mends import again
from exaequo.read.trec import QRELS, RUN, parse
from exaequo.study import study

HEADER = "TOPIC_ID INTERACTION PID RANK SCORE RUN_ID\n"
RUN_LINES = "1 Q0 a 1 3 s\n1 Q0 b 2 2 s\n"
QRELS_LINES = "1 0 a 1\n1 0 b 0\n"

Files = Callable[..., str]


@pytest.fixture
def file(tmp_path: Path) -> Files:
    def made(content: str | bytes, name: str = "run.txt") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return made


def rows(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return frame.select(columns).rows()


@pytest.mark.parametrize(
    ("content", "expected", "done", "line"),
    [
        (HEADER + RUN_LINES, [("a", 3.0), ("b", 2.0)], "1 line of column names dropped", 1),
        (RUN_LINES + HEADER + "2 Q0 c 1 1 s\n", [("a", 3.0), ("b", 2.0), ("c", 1.0)], "1 line of column names", 3),
        (RUN_LINES + "1 Q0 a 3 9 s\n", [("b", 2.0), ("a", 9.0)], "1 line with a document of the topic again", 1),
        (RUN_LINES + "1 Q0 a 3 1 s\n", [("a", 3.0), ("b", 2.0)], "its best score is kept", 3),
        (RUN_LINES + "1 Q0 a 3 3 s\n1 Q0 a 4 3 s\n", [("a", 3.0), ("b", 2.0)], "2 lines with a document", 3),
        (RUN_LINES + "\x1a\r\n", [("a", 3.0), ("b", 2.0)], "end-of-file mark dropped", None),
        ("1 Q0 a 1 3\n1 Q0 b 2 2\n", [("a", 3.0), ("b", 2.0)], "2 lines given the name of the file as run id", 1),
        (RUN_LINES.encode("utf-16"), [("a", 3.0), ("b", 2.0)], "read as UTF-16", None),
        (RUN_LINES.encode("utf-32"), [("a", 3.0), ("b", 2.0)], "read as UTF-32", None),
    ],
)
def test_a_run_is_mended(file: Files, content: str | bytes, expected: list[Any], done: str, line: int | None) -> None:
    path = file(content)
    with pytest.raises(InputError):
        read_run(path)
    run = read_run(path, mend=True)
    assert rows(run.frame, "docno", "sim") == expected
    (mend,) = run.source.mended
    assert done in mend.done
    assert mend.line == line
    assert str(mend).startswith(path)


@pytest.mark.parametrize(
    ("content", "expected", "done"),
    [
        ("qid iter docno rel\n" + QRELS_LINES, [("a", 1.0), ("b", 0.0)], "1 line of column names dropped"),
        ("query-id corpus-id score\n1 a 1\n", [("a", 1.0)], "1 line of column names dropped"),
        (QRELS_LINES + "1 0 a 1.0\n", [("a", 1.0), ("b", 0.0)], "1 line with the same judgment again dropped"),
        ("1 0 a 1 # sure\n1 0 b 0\n", [("a", 1.0), ("b", 0.0)], "1 line cut after the judgment"),
        ("1 a 1\n1 b 0\n", [("a", 1.0), ("b", 0.0)], "2 lines given an iteration, 0"),
        ("qid iter docno stratum rel\n1 0 a 1 1\n1 0 b 2 0\n", [("a", 1.0), ("b", 0.0)], "1 line of column names"),
    ],
)
def test_judgments_are_mended(file: Files, content: str, expected: list[Any], done: str) -> None:
    path = file(content)
    with pytest.raises(InputError):
        read_qrels(path)
    qrels = read_qrels(path, mend=True)
    assert rows(qrels.frame, "docno", "rel") == expected
    assert done in qrels.source.mended[0].done
    assert ("stratum" in qrels.frame.columns) == ("stratum" in content)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (QRELS_LINES + "1 0 a 0\n", ":3: document 'a' of topic '1' is here and in line 1"),
        ("qid iter docno rel\n1 0 a 1\n1 0 a 2\n", ":3: document 'a'"),
        ("1 Q0 a 1 3 s\n", "6 fields"),
        ("1 0 a 1 2\n1 0 b 1\n", "5 fields"),
        ("1 0 17\n", "3 fields"),
        ("1 7 1\n", "3 fields"),
        ("1 0 a\n", "3 fields"),
        ("qid iter docno rel\n", "a header line"),
    ],
)
def test_what_is_not_plain_in_judgments_is_refused(file: Files, content: str, found: str) -> None:
    with pytest.raises(InputError, match=found):
        read_qrels(file(content), mend=True)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("1 a 1 3 s\n", "5 fields"),
        ("1 a 1 12.5 1\n", "5 fields"),
        ("1 Q0 a first 12.5\n", "5 fields"),
        (RUN_LINES + "1 Q0 c 3 nan s\n", "score is 'nan'"),
        (HEADER + RUN_LINES + "1 Q0 c", ":4: 3 fields"),
        (RUN_LINES + "1 Q0 c 3 1 s\0\0", "null bytes"),
        (RUN_LINES.encode() + b"1 Q0 \xff 3 1 s\n", "not UTF-8"),
        (RUN_LINES.encode("utf-16")[:-1], "UTF-16"),
    ],
)
def test_what_is_not_plain_in_runs_is_refused(file: Files, content: str | bytes, found: str) -> None:
    with pytest.raises(InputError, match=found):
        read_run(file(content), mend=True)


def test_a_clean_file_is_not_mended(file: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exaequo.read.mends.mended", lambda *_: pytest.fail("a clean file is mended"))
    assert read_run(file(RUN_LINES), mend=True).source.mended == ()


SCORED = (("a", 1), ("b", 2), ("a", 3))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.csv", "qid,docno,score\n1,a,1\n1,b,2\n1,a,3\n"),
        ("run.tsv", "qid\tdocno\tscore\n1\ta\t1\n1\tb\t2\n1\ta\t3\n"),
        (
            "run.jsonl",
            "".join(json.dumps({"qid": "1", "docno": d, "score": s}) + "\n" for d, s in SCORED),
        ),
        ("run.json", json.dumps({"1": [["a", 1], ["b", 2], ["a", 3]]})),
    ],
)
def test_tables_are_mended_where_a_document_is_there_again(file: Files, name: str, content: str) -> None:
    run = read_run(file(content, name), mend=True)
    assert rows(run.frame, "docno", "sim") == [("b", 2.0), ("a", 3.0)]
    assert run.source.mended[0].done == "1 row with a document of the topic again dropped; its best score is kept"


def test_tables_of_conflicting_judgments_are_refused_at_their_lines(file: Files) -> None:
    with pytest.raises(InputError, match=r"q\.csv:4: document 'a' of topic '1' is here and in line 2"):
        read_qrels(file("qid,docno,rel\n1,a,1\n1,b,1\n1,a,2\n", "q.csv"), mend=True)
    assert read_qrels(file("qid,docno,rel\n1,a,1\n1,a,1\n", "q.csv"), mend=True).frame.height == 1
    with pytest.raises(InputError, match=r"q\.csv:5: document 'a' of topic '1' is here and in line 4"):
        read_qrels(file("qid,docno,rel\n1,b,1\n1,b,1\n1,a,1\n1,a,2\n", "q.csv"), mend=True)


def test_objects_are_mended() -> None:
    frame = pl.DataFrame({"qid": ["1", "1"], "docno": ["a", "a"], "sim": [1.0, 2.0]})
    run = read_run(frame, mend=True)
    assert rows(run.frame, "docno", "sim") == [("a", 2.0)]
    assert run.source.mended[0].count == 1
    assert read_run({"1": ["a", "b", "a"]}, mend=True).frame["docno"].to_list() == ["a", "b"]
    with pytest.raises(InputError, match="is here and in row 0"):
        read_qrels(frame.rename({"sim": "rel"}), mend=True)
    with pytest.raises(InputError, match="no docno"):
        read_run(frame.with_columns(docno=pl.lit("")), mend=True)


LINES = st.lists(st.tuples(st.sampled_from("12"), st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=12)


@given(LINES)
def test_the_best_place_is_kept(lines: list[tuple[str, str, int]]) -> None:
    frame = parse("".join(f"{q} Q0 {d} 1 {s} s\n" for q, d, s in lines).encode(), RUN, "run", repeats=True)
    best: dict[tuple[str, str], int] = {}
    for row, (qid, docno, sim) in enumerate(lines):
        known = best.setdefault((qid, docno), row)
        if sim > lines[known][2]:
            best[qid, docno] = row
    assert again(frame, RUN) == sorted({*range(len(lines))} - {*best.values()})


@given(LINES)
def test_judgments_that_agree_are_kept_once(lines: list[tuple[str, str, int]]) -> None:
    frame = parse("".join(f"{q} 0 {d} {s}\n" for q, d, s in lines).encode(), QRELS, "qrels", repeats=True)
    assert again(frame, QRELS) == [row for row, line in enumerate(lines) if line in lines[:row]]


def test_evaluate_tells_what_was_mended(file: Files) -> None:
    qrels, run = file("qid iter docno rel\n" + QRELS_LINES, "qrels.txt"), file(HEADER + RUN_LINES)
    with pytest.warns(exaequo.DataWarning, match="mended: 1 line of column names dropped"):
        scores = exaequo.evaluate(qrels, run, "AP", mend=True)
    assert [text.rpartition("/")[2] for text in scores.warnings] == [
        "qrels.txt:1: mended: 1 line of column names dropped",
        "run.txt:1: mended: 1 line of column names dropped",
    ]


MENDING: dict[str, Callable[..., Any]] = {
    "evaluate": lambda qrels, runs, **more: exaequo.evaluate(qrels, runs, "AP", **more),
    "compare": lambda qrels, runs, **more: exaequo.compare(qrels, runs, "AP", **more),
    "gate": lambda qrels, runs, **more: exaequo.gate(qrels, runs[0], runs[1], "AP", **more),
    "report": lambda qrels, runs, **more: exaequo.report(qrels, runs, None, ["AP"], **more),
    "explain": lambda qrels, runs, **more: exaequo.explain(qrels, runs[0], "AP", "1", **more),
    "explain_filter": lambda qrels, runs, **more: exaequo.explain_filter(qrels, runs[0], "1", 2.5, **more),
    "audit_ties": lambda qrels, runs, **more: exaequo.audit_ties(qrels, runs, "AP", **more),
    "replicate": lambda qrels, runs, **more: exaequo.replicate(qrels, runs[0], runs[1], "AP", **more),
    "pool": lambda qrels, runs, **more: exaequo.pool(runs, 2, qrels=qrels, leave_out=True, measures="AP", **more),
    "unjudged": lambda qrels, runs, **more: exaequo.unjudged(qrels, runs, "AP", **more),
    "budget": lambda qrels, runs, **more: exaequo.budget(qrels, runs, "AP", **more),
    "design": lambda qrels, runs, **more: exaequo.design(qrels, runs, "AP", **more),
    "plot.curve": lambda qrels, runs, **more: exaequo.plot.curve(qrels, runs, **more),
    "plot.ties": lambda qrels, runs, **more: exaequo.plot.ties(qrels, runs, **more),
    "plot.systems": lambda qrels, runs, **more: exaequo.plot.systems(qrels, runs, **more),
    "plot.budget": lambda qrels, runs, **more: exaequo.plot.budget(qrels, runs, **more),
}


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.parametrize("name", MENDING)
def test_every_function_mends_if_asked_and_tells_it_once(file: Files, name: str) -> None:
    topics = range(1, 5)
    qrels = file("qid iter docno rel\n" + "".join(f"{t} 0 a 1\n{t} 0 b 0\n" for t in topics), "qrels.txt")
    lists = [
        "".join(f"{t} Q0 a 1 {a + t % 2} {n}\n{t} Q0 b 2 2.5 {n}\n" for t in topics) for a, n in ((2, "x"), (1, "y"))
    ]
    runs = [file(HEADER + each, f"{name}.txt") for each, name in zip(lists, ("one", "two"), strict=True)]
    work = MENDING[name]
    with pytest.raises(InputError, match="a header line"):
        work(qrels, runs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = work(qrels, runs, mend=True)
    said = [str(each.message) for each in caught] or [*found.warnings]
    mended = [text.rpartition("/")[2].partition(":")[0] for text in said if "mended: 1 line of column names" in text]
    assert sorted(mended) == ["one.txt", "qrels.txt", *(() if name.startswith("explain") else ("two.txt",))]
    with pytest.raises((TypeError, exaequo.BadParameter), match=r"mended.*did you mean 'mend'"):
        work(qrels, runs, mended=True)


@pytest.mark.parametrize("name", ["run.tsv", "run.csv", "run.tsv.gz", "run.CSV"])
def test_trec_text_may_have_the_name_of_a_table(file: Files, name: str) -> None:
    run = read_run(file(RUN_LINES.replace(" ", "\t") if "tsv" in name else RUN_LINES, name))
    assert rows(run.frame, "docno", "sim") == [("a", 3.0), ("b", 2.0)]
    qrels = read_qrels(file("# judged by hand\n" + QRELS_LINES.replace(" ", "\t"), "q.tsv"))
    assert rows(qrels.frame, "docno", "rel") == [("a", 1.0), ("b", 0.0)]


def test_a_table_stays_a_table(file: Files) -> None:
    named = "qid\tdocno\tsim\trank\t2019\t2020\n1\ta\t0.5\t1\tx\ty\n"  # the fifth name is a number
    assert rows(read_run(file(named, "run.tsv")).frame, "docno", "sim") == [("a", 0.5)]
    with pytest.raises(InputError, match="no column for qid"):
        read_run(file("1 Q0 a,b 1 3 s\n", "run.csv"))
    with pytest.raises(InputError, match="no column for qid"):
        read_run(file(RUN_LINES, "run.csv"), reader="csv")
    with pytest.raises(InputError, match="no column for qid"):
        read_run(file(QRELS_LINES, "run.csv"))


def test_check_writes_mended_copies(
    file: Files, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file(QRELS_LINES, "qrels.txt")
    file(HEADER + "# a comment\n" + RUN_LINES + "1 Q0 a 3 9 s\n", "one.txt")
    file("qid,docno,score\n1,a,1\n1,a,3\n", "two.csv")
    assert command(["check", "qrels.txt", "one.txt", "two.csv", "--mend", "-o", "new", "--json"]) == 0
    out, err = capfd.readouterr()
    assert err.splitlines() == [
        "exaequo: one.txt:1: mended: 1 line of column names dropped",
        "exaequo: one.txt:3: mended: 1 line with a document of the topic again dropped; its best score is kept",
        "exaequo: two.csv: mended: 1 row with a document of the topic again dropped; its best score is kept",
    ]
    told = json.loads(out)
    assert told["copies"] == [str(Path("new", "one.txt")), str(Path("new", "two.csv"))]
    assert told["mended"][0] == {
        "file": "one.txt",
        "count": 1,
        "done": "1 line of column names dropped",
        "line": 1,
    }
    assert Path("new/one.txt").read_text() == "# a comment\n1 Q0 b 2 2 s\n1 Q0 a 3 9 s\n"
    assert Path("new/two.csv").read_text() == "qid,docno,sim\n1,a,3.0\n"
    assert command(["check", "qrels.txt", "new/one.txt", "new/two.csv"]) == 0
    assert command(["check", "qrels.txt", "one.txt", "--mend", "-o", "."]) == 2
    assert "one.txt would be written over" in capfd.readouterr().err
    assert command(["check", "qrels.txt", "-", "--mend", "-o", "new"]) == 2
    Path("sub").mkdir()
    Path("sub/one.txt").write_text(HEADER + RUN_LINES)
    assert command(["check", "qrels.txt", "one.txt", "sub/one.txt", "--mend", "-o", "new"]) == 2
    assert "Two mended copies would be new/one.txt" in capfd.readouterr().err


@pytest.mark.parametrize("asked", [["eval", "--format", "json"], ["ties", "--json"], ["trec_eval", "-m", "map"]])
def test_commands_mend_and_say_so(file: Files, capfd: pytest.CaptureFixture[str], asked: list[str]) -> None:
    name, *rest = asked
    paths = [file(QRELS_LINES, "qrels.txt"), file(RUN_LINES + "1 Q0 a 3 9 s\n")]
    assert command([name, *rest, *paths]) > 0
    capfd.readouterr()
    assert command([name, *rest, "--mend", *paths]) == 0
    out, err = capfd.readouterr()
    assert err.count("mended: 1 line with a document of the topic again dropped") == 1
    assert ('"mended": [' in out) == (name != "trec_eval")


def test_a_study_mends_if_asked(tmp_path: Path) -> None:
    runs = tmp_path / "archive" / "track" / "one" / "runs"
    runs.mkdir(parents=True)
    (runs.parent / "qrels.txt").write_text("qid iter docno rel\n" + QRELS_LINES)
    for name in ("a.txt", "b.txt"):
        (runs / name).write_text(HEADER + RUN_LINES)
    for _ in range(2):  # the second time, results come from where they are kept
        remarks = study(tmp_path / "archive", tmp_path / "out", mend=True).tables["remarks"]
        mended = remarks.filter(pl.col("remark").str.contains("mended: 1 line of column names dropped"))
        # Judgments are read with every run, and told of once.
        assert [Path(file).name for file in mended["file"]] == ["qrels.txt", "a.txt", "b.txt"]
    with pytest.raises(InputError, match="a header line"):
        study(tmp_path / "archive", tmp_path / "out")
