"""Every command in every format it offers: valid, and safe from names that would like to be more than names."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from exaequo.choices import SCORE_FORMATS, TABLE_FORMATS
from exaequo.cli import app, run
from exaequo.cli.budget import TABLES as BUDGETED
from exaequo.cli.compare import TABLES as COMPARED
from exaequo.cli.pool import TABLES as POOLED
from exaequo.cli.replicate import TABLES as REPLICATED
from exaequo.cli.ties import TABLES as AUDITED
from exaequo.cli.unjudged import TABLES as OPEN
from helpers import Tags

#: Names of documents, topics and files.
NASTY = "a|b\\<b>x&amp;\n\x1b[31m_*$"
SHOWN = r"a|b\<b>x&amp;\n\x1b[31m_*$"
FOR_PEOPLE = [name for name in TABLE_FORMATS if name not in ("csv", "json")]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two runs and judgments whose topics, documents and file names are nasty."""
    monkeypatch.chdir(tmp_path)
    topics = [f"{NASTY}{number}" for number in range(3)]
    judged = [{"qid": topic, "docno": f"{NASTY}{at}", "rel": at % 2} for topic in topics for at in range(4)]
    names = ["qrels.jsonl", f"{NASTY}.jsonl", "other.jsonl"]
    write(Path(names[0]), judged)
    for name, scores in zip(names[1:], ([3, 2, 2, 0], [1, 3, 0, 0]), strict=True):
        ranked = [
            {"qid": topic, "docno": f"{NASTY}{at}", "score": sim / 4}
            for topic in topics
            for at, sim in enumerate(scores)
        ]
        write(Path(name), ranked)
    write(
        Path("people.jsonl"), [{"judge": NASTY, "system": Path(name).stem, "rank": at} for at, name in enumerate(names)]
    )
    Path("teams.csv").write_text(f'run,team\n"{NASTY}","{NASTY}"\n', encoding="utf-8")
    return names


def write(path: Path, rows: Sequence[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def out(capfd: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    found = run(arguments)
    captured = capfd.readouterr()
    assert found == code, captured.err
    return captured.out


def commands(files: list[str]) -> dict[str, list[str]]:
    qrels, one, two = files
    compare = ["compare", *files, "-m", "AP", "-m", "P@2", "-m", "Success@1", "--judges", qrels]
    compare += ["--samples", "100", "--seed", "1", "--rank-by", "P@2,AP", "--orderings", "people.jsonl"]
    return {
        "eval": ["eval", *files, "-m", "AP", "-m", "NumRet"],
        "eval -q": ["eval", *files, "-q", "--ties", "all", "-m", "AP", "-m", "P(rel=1)@2"],
        **{
            f"compare {name}": [*compare, "--table", name]
            for name in COMPARED
            if name not in ("collections", "inverted")
        },
        **{f"ties {name}": ["ties", *files, "-m", "AP", "--table", name] for name in AUDITED},
        **{
            f"replicate {name}": ["replicate", *files, "--with", two, one, "-m", "AP", "--table", name]
            for name in REPLICATED
        },
        **{
            f"pool {name}": ["pool", one, two, "--qrels", qrels, "--leave-out", "--teams", "teams.csv", "--table", name]
            for name in POOLED
        },
        **{f"budget {name}": ["budget", *files, "-m", "AP", "--samples", "100", "--table", name] for name in BUDGETED},
        **{f"unjudged {name}": ["unjudged", *files, "-m", "AP", "--table", name] for name in OPEN},
        "filter": ["filter", qrels, one, two, "-q"],
        "filter --sweep": ["filter", qrels, one, two, "--sweep", "-q"],
        "filter --curve": ["filter", qrels, one, two, "--curve", "raw"],
        "filter --stream": ["filter", qrels, one, two, "--stream", "--window", "2", "-q"],
        "order": ["order", qrels, one],
        "order --rename": ["order", qrels, one, "--rename", f"{NASTY}1=z"],
    }


NAMES = list(commands(["q", "a", "b"]))


def columns(line: str) -> int:
    return len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))


@pytest.mark.parametrize("name", NAMES)
def test_json_is_valid(name: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    text = out(capfd, *commands(files)[name], "--json")
    document = json.loads(text, parse_constant=refuse)
    assert next(iter(document)) == "format"
    assert document["format"] == 1
    if " " in name and name.split()[1] in (*COMPARED, *AUDITED, *REPLICATED, *POOLED, *OPEN):
        assert list(document) == ["format", "options", name.split()[1], "warnings"]
    assert text == out(capfd, *commands(files)[name], "--format", "json")


@pytest.mark.parametrize("name", NAMES)
def test_csv_is_one_table(name: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    heads, *rows = csv.reader(io.StringIO(out(capfd, *commands(files)[name], "--format", "csv"), newline=""))
    assert len(set(heads)) == len(heads)
    assert {len(row) for row in rows} <= {len(heads)}
    if name.startswith("filter"):
        assert all(re.fullmatch(r"\w+", head) for head in heads), heads
    if "run" in heads and rows and "lucky" not in name:
        assert NASTY in {row[heads.index("run")] for row in rows}


@pytest.mark.parametrize("name", NAMES)
def test_text_and_markdown_are_safe(name: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    text = out(capfd, *commands(files)[name], "--format", "table")
    assert "\x1b" not in text
    written = out(capfd, *commands(files)[name], "--format", "markdown")
    assert "\x1b" not in written
    assert not re.search(r"(?<!\\)<|(?<!\\)&", written)
    tables = [part.splitlines() for part in written.split("\n\n") if part.startswith("|")]
    for table in tables:
        assert len({columns(line) for line in table}) == 1, table
    body = sum(len(table) for table in tables)
    assert body == sum("|" in line.replace(r"\|", "") for line in written.splitlines())  # no name breaks a line


@pytest.mark.parametrize("name", NAMES)
def test_latex_is_safe(name: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    lines = out(capfd, *commands(files)[name], "--format", "latex").splitlines()
    assert sum(line.startswith(r"\begin{tabular}") for line in lines) == lines.count(r"\end{tabular}")
    width = 0
    for line in lines:
        if line.startswith(r"\begin{tabular}"):
            width = len(line.removeprefix(r"\begin{tabular}{").removesuffix("}"))
        elif line and not line.startswith(("%", r"\toprule", r"\midrule", r"\bottomrule", r"\end")):
            assert line.endswith(r" \\"), line
            spans = re.findall(r"\\multicolumn\{(\d+)\}", line)
            cells = len(re.findall(r"(?<!\\)&", line)) + 1
            assert cells - len(spans) + sum(map(int, spans)) == width, line
            assert not re.search(r"(?<!\\)[%#]|\x1b", line)


@pytest.mark.parametrize("name", NAMES)
def test_html_is_safe(name: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    text = out(capfd, *commands(files)[name], "--format", "html")
    tags = Tags(text)
    assert not tags.open
    assert set(tags.seen) <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "p"}
    assert "<b>x" not in text
    assert "\x1b" not in text
    if name in ("eval", "order", "filter", "ties runs", "compare systems"):
        assert any(SHOWN in each for each in tags.texts)


@pytest.mark.parametrize("format_", FOR_PEOPLE)
@pytest.mark.parametrize("command", ["compare", "ties"])
def test_all_tables_with_titles_and_sentences(
    command: str, format_: str, files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    text = out(capfd, command, *files, "-m", "AP", "--format", format_, "--full")
    title = {"compare": "Pairs: the second against the first", "ties": "Ties of each run"}[command]
    said = {"compare": "3 topics, realistic ties", "ties": "conclusion"}[command]
    before = {"table": "", "markdown": "## ", "latex": "% ", "html": "<caption>"}[format_]
    assert f"\n{before}{title}" in f"\n{text}"
    mark = (
        {"compare": "- ", "ties": ""}[command]
        if format_ == "markdown"
        else {"latex": "% ", "html": "<p>"}.get(format_, "")
    )
    lines = text.splitlines()
    assert said in (lines[0] if command == "compare" else lines[-1])
    assert (lines[0] if command == "compare" else lines[-1]).startswith(mark)


@pytest.mark.usefixtures("files")
def test_no_title_over_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    Path("q").write_text("1 0 a 1\n2 0 a 1\n", encoding="utf-8")
    Path("r").write_text("1 Q0 a 1 2 s\n1 Q0 b 2 1 s\n2 Q0 a 2 1 s\n", encoding="utf-8")
    for name in FOR_PEOPLE:
        assert "score 0" not in out(capfd, "ties", "q", "r", "--format", name)
        nothing = out(capfd, "ties", "q", "r", "--table", "stuffing", "--format", name)
        assert nothing == "\n" or (name == "table" and nothing.endswith(": none\n"))
    assert json.loads(out(capfd, "ties", "q", "r", "--json"))["stuffing"] == []
    heads = out(capfd, "ties", "q", "r", "--table", "stuffing", "--format", "csv")
    assert heads.startswith("run,measure,documents,")
    assert heads.count("\n") == 1


@pytest.mark.parametrize("command", ["compare", "ties", "replicate", "pool", "unjudged", "budget"])
def test_csv_of_several_tables_is_refused(command: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    more = ["--with", *files[1:]] if command == "replicate" else []
    assert out(capfd, command, *files, *more, "--format", "csv", code=2) == ""


def test_gate(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    gate = ["gate", *files, "-m", "AP", "--max-drop", "1", "--min-topics", "2", "--alpha", "0.2"]
    assert out(capfd, *gate).splitlines()[-1] == "passed"
    for name in ("json", "markdown"):
        assert out(capfd, *gate, "--format", name) == out(capfd, *gate, f"--{name}")
    assert list(json.loads(out(capfd, *gate, "--json"))) == [
        *("format", "state", "passed", "options", "measures", "losses", "warnings")
    ]
    assert out(capfd, *gate, "--markdown").startswith("## Search quality: passed\n\n| measure |")
    out(capfd, *gate, "--format", "json", "-o", "gate.json")
    assert json.loads(Path("gate.json").read_text(encoding="utf-8"))["passed"] is True


def test_what_is_no_table(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Commands that say something else than tables write it the same ways: to a file, as JSON."""
    for command in (
        ["check", *files],
        ["measures"],
        ["measures", "nDCG"],
        ["measures", "AP", "--axioms"],
        ["explain", *files[:2]],
    ):
        text = out(capfd, *command)
        assert "\x1b" not in text
        out(capfd, *command, "-o", "said.txt")
        assert Path("said.txt").read_text(encoding="utf-8").split() == text.split()  # on a screen, sentences wrap
        document = json.loads(out(capfd, *command, "--json"))
        assert document["format"] == 1
        assert document == json.loads(out(capfd, *command, "--format", "json"))


@pytest.mark.usefixtures("files")
def test_order(capfd: pytest.CaptureFixture[str]) -> None:
    Path("q").write_text("1 0 a 1\n1 0 b 0\n", encoding="utf-8")
    Path("r").write_text("1 Q0 a 1 1 s\n1 Q0 b 2 1 s\n", encoding="utf-8")
    assert out(capfd, "order", "q", "r") == "1 Q0 b 1 1.0 s\n1 Q0 a 2 1.0 s\n"
    renamed = ["order", "q", "r", "--ties", "conventional", "--rename", "b=0"]
    assert out(capfd, *renamed).splitlines()[0] == "topic  measure  before   after"
    assert out(capfd, *renamed) == out(capfd, *renamed, "--format", "table")
    assert out(capfd, *renamed, "--format", "run") == "1 Q0 a 1 1.0 s\n1 Q0 0 2 1.0 s\n"
    assert [row["docno"] for row in json.loads(out(capfd, *renamed, "--json"))["documents"]] == ["a", "0"]
    assert "## After: b is called 0\n\n| topic |" in out(capfd, *renamed, "--format", "markdown")


def test_every_command_offers_what_others_do() -> None:
    offered = {
        name: tuple(option.type.choices)
        for name, command in app.commands.items()
        for option in command.params
        if "--format" in option.opts and isinstance(option.type, click.Choice) and name not in ("plot",)
    }
    assert offered == {
        "eval": SCORE_FORMATS,
        **dict.fromkeys(("compare", "design", "ties", "filter", "replicate"), TABLE_FORMATS),
        **dict.fromkeys(("collection", "experiment", "judge", "pool", "unjudged", "budget"), TABLE_FORMATS),
        "metadata": ("yaml", "json"),
        "order": ("run", *TABLE_FORMATS),
        "gate": ("table", "json", "markdown", "junit", "github"),
        "explain": ("text", "markdown", "json"),
        **dict.fromkeys(("check", "measures"), ("text", "json")),
    }
