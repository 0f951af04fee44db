"""The command, as users meet it: output, errors, exit codes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import exaequo
from exaequo.cli import run

QRELS = "1 0 a 1\n1 0 b 2\n1 0 c 0\n2 0 a 1\n2 0 z 1\n"
RUN = "1 Q0 a 1 3 sys\n1 Q0 c 2 2 sys\n1 Q0 b 3 2 sys\n2 Q0 x 1 1 sys\n2 Q0 a 2 1 sys\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (tmp_path / "sys.txt").write_text(RUN, encoding="utf-8")
    (tmp_path / "other.txt").write_text(
        RUN.replace("sys", "other").replace("1 Q0 a 1 3", "1 Q0 a 1 0"), encoding="utf-8"
    )
    return tmp_path


def out(capfd: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert run(arguments) == code
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err
    return captured.out, captured.err


@pytest.mark.usefixtures("files")
class TestReplicate:
    def test_summary_and_tables(self, capfd: pytest.CaptureFixture[str]) -> None:
        text, err = out(capfd, "replicate", "qrels.txt", "sys.txt", "--with", "other.txt", "-m", "AP", "--at", "2")
        lines = text.splitlines()
        assert lines[0] == "2 topics, realistic ties, paired t-test, RBO with p 0.95"
        # Topic 1: a c b and c b a, two of three pairs turned, overlap 0, 1/2, 1; topic 2 is the same.
        assert lines[1].startswith("other for sys: τ 0.3333, RBO 0.7415; ")
        assert "; AP 0.5417 → 0.4167 (RMSE 0.1768, p 0.5000)" in lines[1]
        assert [line.partition(":")[0] for line in lines if line.startswith(("Lists", "Scores", "Effects"))] == [
            "Scores"
        ]
        assert lines[-1] == "More: --table orders, topics"
        assert err == ""

    def test_words_after_with_are_reproductions(self, capfd: pytest.CaptureFixture[str]) -> None:
        one = ["replicate", "qrels.txt", "sys.txt", "other.txt", "--with", "other.txt", "sys.txt", "-m", "AP", "--json"]
        two = [
            "replicate",
            "--with",
            "other.txt",
            "--with",
            "sys.txt",
            "--json",
            "-mAP",
            "qrels.txt",
            "sys.txt",
            "other.txt",
        ]
        text, _ = out(capfd, *one)
        assert text == out(capfd, *two)[0]
        document = json.loads(text)
        assert list(document) == ["format", "options", "orders", "runs", "effects", "headers", "warnings"]
        assert document["effects"][0]["effect_ratio"] == pytest.approx(-1)
        assert len(document["runs"]) == 2
        (row,) = csv.DictReader(io.StringIO(out(capfd, *one[:-1], "--table", "effects", "--format", "csv")[0]))
        assert float(row["delta_ri"]) == document["effects"][0]["delta_ri"]

    def test_another_collection(self, capfd: pytest.CaptureFixture[str]) -> None:
        given = ["replicate", "qrels.txt", "sys.txt", "--with", "other.txt", "--with-qrels", "qrels.txt", "-m", "AP"]
        text, _ = out(capfd, *given)
        assert text.startswith("2 topics, realistic ties, unpaired t-test, equal variances\nother for sys: AP 0.5417")
        _, err = out(capfd, *given, "--table", "topics", code=2)
        assert "There is no table topics with --with-qrels" in err

    def test_refused(self, capfd: pytest.CaptureFixture[str]) -> None:
        _, err = out(capfd, "replicate", "qrels.txt", "sys.txt", "--with", "other.txt", "sys.txt", code=2)
        assert "Each original has one reproduction, in the same order. Got 1 and 2." in err
        _, err = out(capfd, "replicate", "qrels.txt", "sys.txt", code=2)
        assert "--with" in err

    def test_headers(self, files: Path, capfd: pytest.CaptureFixture[str]) -> None:
        head = "# ir_metadata.start\n# tag: {0}\n# method: {0}\n# actor: {{name: me}}\n# ir_metadata.end\n"
        for name in ("sys", "other"):
            path = files / f"{name}.txt"
            path.write_text(head.format(name) + path.read_text(encoding="utf-8"), encoding="utf-8")
        given = ["replicate", "qrels.txt", "sys.txt", "--with", "other.txt", "-m", "AP", "--table", "headers"]
        (row,) = csv.reader(io.StringIO(out(capfd, *given, "--format", "csv")[0].partition("\n")[2]))
        assert row == ["sys", "other", "sys", "other", "priMad", "method"]
        path.write_text(path.read_text(encoding="utf-8").replace("{name", "{{name"), encoding="utf-8")
        _, err = out(capfd, *given)
        assert "warning: metadata left out: other.txt:" in err


@pytest.mark.usefixtures("files")
class TestEval:
    def test_table(self, capfd: pytest.CaptureFixture[str]) -> None:
        asked = ["eval", "qrels.txt", "sys.txt", "other.txt", "-m", "AP P@2", "-m", "NumQ", "--full"]
        text, err = out(capfd, *asked)
        assert text.splitlines() == [
            "ties: realistic · 2 topics · relevant: grade > 0 · * best of its column",
            "",
            "run        AP      P@2   NumQ",
            "sys    0.5417*  0.5000*     2",
            "other  0.4167   0.5000*     2",
            "",
            "ties decide sys P@2: realistic 0.5000, conventional 0.5000, optimistic 0.7500",
            "ties decide other AP: realistic 0.4167, conventional 0.4167, optimistic 0.6667",
            "ties decide sys AP: realistic 0.5417, conventional 0.5417, optimistic 0.7500",
        ]
        assert err == ""

    def test_csv_has_full_precision(self, capfd: pytest.CaptureFixture[str]) -> None:
        text, err = out(capfd, "eval", "qrels.txt", "sys.txt", "-m", "AP", "--format", "csv", "-q", "--ties", "all")
        rows = list(csv.DictReader(io.StringIO(text)))
        assert list(rows[0]) == ["run", "ties", "topic", "measure", "value"]
        assert {row["topic"] for row in rows} == {"1", "2", "all"}
        scores = exaequo.evaluate("qrels.txt", "sys.txt", "AP", ties="all")
        for row in rows:
            if row["topic"] == "all":
                assert float(row["value"]) == scores.mean("AP", ties=row["ties"])
        assert err == ""

    def test_json(self, files: Path, capfd: pytest.CaptureFixture[str]) -> None:
        text, _ = out(capfd, "eval", "qrels.txt", "sys.txt", "-m", "AP", "--json", "-q")
        document = json.loads(text)
        assert document["format"] == 1
        assert document["inputs"]["qrels"]["sha256"] == hashlib.sha256((files / "qrels.txt").read_bytes()).hexdigest()
        assert document["inputs"]["runs"][0]["sha256"] == hashlib.sha256((files / "sys.txt").read_bytes()).hexdigest()
        assert document["options"]["ties"] == ["realistic"]
        assert document["versions"]["exaequo"] == exaequo.__version__
        assert {row["topic"] for row in document["topics"]} == {"1", "2"}
        assert document["ties"][0]["optimistic"] == 0.75

    def test_markdown_latex_trec(self, capfd: pytest.CaptureFixture[str]) -> None:
        text, err = out(capfd, "eval", "qrels.txt", "sys.txt", "other.txt", "-m", "AP", "--format", "markdown")
        assert text.splitlines()[0] == "| run | AP |"
        assert "**0.5417**" in text
        assert "ties decide" in err
        text, _ = out(
            capfd, "eval", "qrels.txt", "sys.txt", "other.txt", "-m", "AP", "--format", "latex", "--ties", "all"
        )
        assert r"\multicolumn{3}{c}{AP}" in text
        assert r"\textbf{0.7500}" in text
        text, _ = out(capfd, "eval", "qrels.txt", "sys.txt", "-m", "AP NumRet", "--format", "trec", "-q")
        assert text.splitlines()[:3] == [
            "runid                 \tall\tsys",
            "AP                    \t1\t0.8333",
            "NumRet                \t1\t3",
        ]

    def test_parquet_to_a_file(self, files: Path, capfd: pytest.CaptureFixture[str]) -> None:
        text, _ = out(capfd, "eval", "qrels.txt", "sys.txt", "-m", "AP", "--format", "parquet", "-o", "s.parquet")
        assert text == ""
        assert pl.read_parquet(files / "s.parquet")["value"].to_list() == [pytest.approx(13 / 24)]
        assert sorted(path.name for path in files.iterdir()) == ["other.txt", "qrels.txt", "s.parquet", "sys.txt"]

    def test_output_appears_whole_or_not_at_all(self, files: Path, capfd: pytest.CaptureFixture[str]) -> None:
        (files / "out.csv").write_text("old", encoding="utf-8")
        (files / "sys.txt").write_text(RUN + "bad line\n", encoding="utf-8")
        out(capfd, "eval", "qrels.txt", "sys.txt", "--format", "csv", "-o", "out.csv", code=1)
        assert (files / "out.csv").read_text(encoding="utf-8") == "old"
        _, err = out(capfd, "eval", "qrels.txt", "other.txt", "--format", "csv", "-o", "no/such/folder.csv", code=1)
        assert "no/such/folder.csv: cannot write" in err

    def test_options(self, capfd: pytest.CaptureFixture[str]) -> None:
        text, _ = out(capfd, "eval", "qrels.txt", "sys.txt", "-m", "AP", "--rel-level", "2", "--depth", "2")
        assert "1 topic · relevant: grade ≥ 2 · depth 2" in text
        assert "0.0000" in text
        text, _ = out(capfd, "eval", "qrels.txt", "sys.txt", "-m", "RR", "--ties", "input", "--precision", "single")
        assert "ties: input" in text
        assert "single precision" in text
        one, _ = out(
            capfd, "eval", "qrels.txt", "sys.txt", "-m", "AP", "--ties", "random", "--seed", "1", "--format", "csv"
        )
        two, _ = out(
            capfd, "eval", "qrels.txt", "sys.txt", "-m", "AP", "--ties", "random", "--seed", "1", "--format", "csv"
        )
        assert one == two

    def test_warnings_go_to_standard_error(self, files: Path, capfd: pytest.CaptureFixture[str]) -> None:
        (files / "part.txt").write_text("1 Q0 a 1 3 part\n9 Q0 a 1 3 part\n", encoding="utf-8")
        text, err = out(capfd, "eval", "qrels.txt", "part.txt", "-m", "AP", "--format", "csv")
        assert "warning" not in text
        assert "exaequo: warning: part.txt: 1 topic nobody judged, ignored: 9" in err
        assert "exaequo: warning: part.txt: 1 of 2 evaluated topics missing: 2; scored as empty lists" in err
        _, err = out(capfd, "eval", "qrels.txt", "part.txt", "--missing", "error", code=1)
        assert "1 of 2 evaluated topics missing: 2" in err

    def test_tables_with_unusual_columns(self, files: Path, capfd: pytest.CaptureFixture[str]) -> None:
        (files / "run.csv").write_text("frage,text,wert\n1,a,3\n1,b,2\n", encoding="utf-8")
        (files / "q.csv").write_text("frage,text,rel\n1,a,1\n", encoding="utf-8")
        columns = "qid=frage,docno=text,sim=wert"
        text, _ = out(capfd, "eval", "q.csv", "run.csv", "-m", "AP", "--columns", columns)
        assert "1.0000" in text
        out(capfd, "eval", "q.csv", "run.csv", "--columns", "frage", code=2)

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (["eval", "qrels.txt", "none.txt"], 1, "none.txt: there is no such file"),
            (["eval", "qrels.txt", "qrels.txt"], 1, "qrels.txt:1: 4 fields"),
            (["eval", "sys.txt", "sys.txt"], 1, "sys.txt:1: 6 fields"),
            (["eval", "qrels.txt", "sys.txt", "-m", "ndcg"], 2, "'ndcg' can mean nDCG (the whole list"),
            (["eval", "qrels.txt", "sys.txt", "--ties", "fair"], 2, "realistic"),
            (["eval", "qrels.txt"], 2, "RUN"),
            (["eval", "-", "-"], 2, "Standard input (-) can stand for one file only"),
            (["eval", "qrels.txt", "sys.txt", "--depth", "0"], 2, "0"),
            (["evaluate"], 2, "No such command"),
        ],
    )
    def test_errors(self, arguments: list[str], code: int, message: str, capfd: pytest.CaptureFixture[str]) -> None:
        text, err = out(capfd, *arguments, code=code)
        assert text == ""
        assert message in err


def test_names_cannot_harm_the_terminal(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    evil = RUN.replace("sys", "\x1b[31mred|<b>&_%$")
    (files / "evil.txt").write_text(evil, encoding="utf-8")
    text, err = out(capfd, "eval", "qrels.txt", "evil.txt", "sys.txt", "-m", "AP")
    assert "\x1b" not in text + err
    assert r"\x1b[31mred" in text
    text, err = out(capfd, "eval", "qrels.txt", "evil.txt", "-m", "AP", "--format", "latex")
    assert r"\&\_\%\$" in text
    text, err = out(capfd, "eval", "qrels.txt", "evil.txt", "-m", "AP", "--format", "markdown")
    assert r"\|\<b\>" in text
    assert "\x1b" not in text + err


def test_terminal_stays_safe_in_messages(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "esc.txt").write_text(RUN + "\x1b[31mX Q0 a 1 1 sys\n", encoding="utf-8")
    assert "\x1b" not in out(capfd, "eval", "qrels.txt", "esc.txt", "-m", "AP")[1]
    assert "\x1b" not in out(capfd, "check", "qrels.txt", "esc.txt")[0]
    assert "\x1b" not in out(capfd, "eval", "qrels.txt", "\x1b[31m.txt", code=1)[1]


def test_output_follows_links_and_writes_to_pipes(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "target.csv").write_text("old", encoding="utf-8")
    (files / "link.csv").symlink_to("target.csv")
    out(capfd, "eval", "qrels.txt", "sys.txt", "-m", "AP", "--format", "csv", "-o", "link.csv")
    assert (files / "link.csv").is_symlink()
    assert (files / "target.csv").read_text(encoding="utf-8").startswith("run,ties")
    out(capfd, "eval", "qrels.txt", "sys.txt", "-m", "AP", "--format", "csv", "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.usefixtures("files")
def test_table_from_standard_input_beside_a_trec_file() -> None:
    table = "qid,docno,score\n1,a,3\n"
    done = command("eval", "qrels.txt", "-", "--run-reader", "csv", "-m", "RR", "--format", "csv", stdin=table.encode())
    assert done.returncode == 0, done.stderr
    assert b",RR,0.5" in done.stdout


def test_ties_that_show_in_topics_only(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    topics = range(30_000)
    (files / "q").write_text("".join(f"{t} 0 a 1\n" for t in topics), encoding="utf-8")
    (files / "r").write_text("".join(f"{t} Q0 a 1 1 s\n" for t in topics) + "7 Q0 b 2 1 s\n", encoding="utf-8")
    assert "ies decide" not in out(capfd, "eval", "q", "r", "-m", "RR")[0]
    assert "ies decide" not in out(capfd, "eval", "q", "r", "-m", "RR", "--full")[0]
    assert (
        "conventional 0.99998, optimistic 1.00000; 1 topic changed" in out(capfd, "eval", "q", "r", "-m", "RR", "-q")[0]
    )
    assert "ties decide" in out(capfd, "eval", "q", "r", "-m", "RR", "--format", "csv")[1]


def test_very_large_figures(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "q").write_text("1 0 a 120\n", encoding="utf-8")
    assert "1.329e+36" in out(capfd, "eval", "q", "sys.txt", "-m", "DCG(dcg='exp-log2')")[0]


def test_check_refuses_what_eval_refuses(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "none.txt").write_text("1 0 a 0\n", encoding="utf-8")
    assert "no relevant document in 1 topic" in out(capfd, "check", "none.txt", "sys.txt", code=1)[0]
    (files / "two.txt").write_text("1 Q0 a 1 1 A\n2 Q0 a 1 1 B\n", encoding="utf-8")
    assert "2 different run ids; taken as one run, called A" in out(capfd, "check", "qrels.txt", "two.txt")[0]


def test_check(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, err = out(capfd, "check", "qrels.txt", "sys.txt")
    assert text.splitlines() == [
        "remark: sys.txt: 4 documents tied with another (80.0 % of the run)",
        "2 files: 0 problems, 1 remark",
    ]
    assert err == ""
    (files / "bad.txt").write_text(RUN + "x\n1 Q0 a 1 3 sys\n1 Q0 d 1 inf sys\n", encoding="utf-8")
    (files / "badq.txt").write_text(QRELS + "1 0 d one\n", encoding="utf-8")
    text, _ = out(capfd, "check", "badq.txt", "bad.txt", "sys.txt", code=1)
    places = [line.split(": ")[0] for line in text.splitlines()[:4]]
    assert places == ["badq.txt:6", "bad.txt:6", "bad.txt:7", "bad.txt:8"]
    assert text.splitlines()[-1] == "3 files: 4 problems, 1 remark"
    document = json.loads(out(capfd, "check", "badq.txt", "bad.txt", "--json", code=1)[0])
    assert document["format"] == 1
    assert [problem["line"] for problem in document["problems"]] == [6, 6, 7, 8]


def test_check_tells_the_first_of_a_kind(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "odd.txt").write_text("1 a\n" * 30 + "1 0 a x\n", encoding="utf-8")
    assert run(["check", str(files / "odd.txt")]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert [line.split(":")[1] for line in lines[:20]] == [str(at) for at in range(1, 21)]
    assert lines[20].endswith("odd.txt: 10 more like these; expected 4 fields: qid iter docno rel. --json lists all.")
    assert "odd.txt:31:" in lines[21]
    assert lines[22] == "1 file: 31 problems, 0 remarks"
    assert run(["check", str(files / "odd.txt"), "--json"]) == 1
    assert len(json.loads(capfd.readouterr().out)["problems"]) == 31


def test_check_remarks(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "odd.txt").write_text("1 Q0 a 2 3 r\n1 Q0 b 1 2 r\n7 Q0 b 1 2 r\n", encoding="utf-8")
    (files / "q.txt").write_text(QRELS + "3 0 a 0\n3 0 b 300\n", encoding="utf-8")
    text, _ = out(capfd, "check", "q.txt", "odd.txt")
    for remark in (
        "odd.txt: ranks contradict scores in 1 list",
        "odd.txt: 1 topic nobody judged, ignored: 7",
        "q.txt: 1 topic with nothing relevant",
        "q.txt: 1 judgment above 127",
    ):
        assert remark in text


def test_measures(capfd: pytest.CaptureFixture[str]) -> None:
    text, _ = out(capfd, "measures")
    for name in exaequo.measures.catalogue():
        assert f"  {name}" in text
    text, _ = out(capfd, "measures", "nDCG")
    assert "Järvelin" in text
    assert "'exp-log2'" in text
    text, _ = out(capfd, "measures", "P@10", "--json")
    assert json.loads(text)["measures"][0]["parameters"]["cutoff"]["required"] is True
    assert out(capfd, "measures", "map")[0] == out(capfd, "measures", "AP")[0]
    assert "did you mean" in out(capfd, "measures", "mapp", code=2)[1]


def test_sample_files(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out(capfd, "demo", "--save", "sample")
    names = [run.name for run in exaequo.sample().runs]
    assert sorted(path.stem for path in (files / "sample" / "runs").iterdir()) == sorted(names)
    _, err = out(capfd, "demo", "--save", "sample", code=1)
    assert "already" in err
    paths = [str(path) for path in sorted((files / "sample" / "runs").iterdir())]
    text, _ = out(capfd, "eval", "sample/qrels.txt", *paths, "-m", "AP", "--format", "csv")
    qrels, runs = exaequo.sample()
    expected = exaequo.evaluate(qrels, runs, "AP")
    for row in csv.DictReader(io.StringIO(text)):
        assert float(row["value"]) == expected.mean("AP", run=row["run"])


# --------------------------------------------------------------------------------------- in a process of its own


def command(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "exaequo", *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.usefixtures("files")
def test_standard_input() -> None:
    done = command("eval", "qrels.txt", "-", "-m", "AP", "--json", stdin=RUN.encode())
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["inputs"]["runs"][0]["file"] == "<stdin>"
    assert document["inputs"]["runs"][0]["sha256"] == hashlib.sha256(RUN.encode()).hexdigest()


@pytest.mark.usefixtures("files")
def test_a_terminal_that_speaks_ascii() -> None:
    done = command("eval", "qrels.txt", "sys.txt", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


def test_help_is_quick() -> None:
    """Neither Polars nor SciPy nor NumPy is imported to print the help."""
    code = (
        "import sys; from exaequo.cli import run; run(['--help']);"
        "print(sorted({'polars', 'scipy', 'numpy', 'rich', 'pandas'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr.strip() == b"[]"
    assert b"eval" in done.stdout


@pytest.mark.usefixtures("files")
def test_a_reader_that_stops_early() -> None:
    pipe = f"{sys.executable} -m exaequo eval qrels.txt sys.txt -q --format csv | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", pipe], capture_output=True, check=False)  # noqa: S607
    assert done.stdout == b"run,ties,topic,measure,value\n"
    assert b"Traceback" not in done.stderr


@pytest.mark.usefixtures("files")
def test_debug_shows_the_traceback() -> None:
    assert b"Traceback" in command("--debug", "eval", "qrels.txt", "none.txt").stderr
    assert b"Traceback" in command("eval", "qrels.txt", "none.txt", "--debug").stderr
    done = command("eval", "qrels.txt", "none.txt")
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("exaequo.sampledata.sample", interrupt)
    assert run(["demo", "--save", "sample"]) == 130


def test_an_unexpected_error_has_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("exaequo.sampledata.sample", fail)
    _, err = out(capfd, "demo", "--save", "sample", code=1)
    assert "unexpected ZeroDivisionError: oops" in err
