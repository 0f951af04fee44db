"""The same words mean the same in every command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from exaequo import sample
from exaequo.choices import MEASURES
from exaequo.cli import SECTIONS, app, run

COMMANDS = sorted(app.commands)
#: Commands of one measure, and those that measure something else.
OTHERS = {"budget": "AP", "explain": "AP", "gate": "nDCG@10", "study": "RR, AP", "plot": None, "filter": None}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    sample().save(".")
    return ["qrels.txt", "runs/bm25.txt"]


def help_of(capfd: pytest.CaptureFixture[str], *command: str) -> str:
    assert run([*command, "--help"]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=lambda command: " ".join(command))
def test_help_fits_a_terminal(
    command: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, help_of(capfd, *command).splitlines())) < 80


def test_every_command_is_in_a_section_with_a_whole_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    listed = {name: about for commands in SECTIONS.values() for name, about in commands.items()}
    assert set(listed) <= set(COMMANDS)
    shown = help_of(capfd)
    assert "..." not in shown.partition("Score:")[2]
    for name, about in listed.items():
        assert about.endswith(".")
        assert re.search(rf"^  {name} +{re.escape(about)}$", shown, re.MULTILINE), name
    assert all(re.search(rf"^  {name} ", shown, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_mean_the_same(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    known = {option: each for each in app.commands[command].params for option in each.opts}
    shown = " ".join(help_of(capfd, command).split())
    if "--measure" in known:
        usual = OTHERS.get(command, ", ".join(MEASURES))
        assert {"-m", "--measure", "--measures"} <= set(known)
        assert usual is None or f"may be repeated. [default: {usual}]" in shown
    if "--depth" in known:
        assert "--depth N Cut each list to its first N documents" in shown
    if "--ties" in known:
        assert re.search(r"--ties \S+ How tied documents are ordered", shown)
    chosen = known["--format"].type if "--format" in known else None
    if isinstance(chosen, click.Choice) and command != "experiment":  # -o is a folder there
        for name in ("json", "markdown"):
            assert (f"--{name}" in known) == (name in chosen.choices)


def test_several_strategies_with_commas(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    apart = ["--ties", "realistic", "--ties", "optimistic"]
    both = []
    for ties in (apart, ["--ties", "realistic,optimistic"]):
        assert run(["eval", *files, *ties, "--format", "csv"]) == 0
        both.append(capfd.readouterr().out)
    assert both[0] == both[1]
    assert "optimistic" in both[0]
    assert run(["eval", *files, "--ties", "realistic,worst"]) == 2


def test_several_strategies_must_agree(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    both = []
    for ties in (["--ties", "realistic", "--ties", "optimistic"], ["--ties", "realistic,optimistic"]):
        for command in (["compare"], ["gate"]):
            assert run([*command, *files, "runs/llm-judge.txt", "-m", "AP", *ties, "--json"]) in (0, 3, 4)
            both.append(capfd.readouterr().out)
    assert both[:2] == both[2:]
    assert json.loads(both[1])["options"]["ties"] == ["realistic", "optimistic"]
    assert run(["compare", *files, "runs/llm-judge.txt", "--ties", "fair,realistic"]) == 2


def test_order_shows_so_many_documents(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    given = ["order", files[0], "runs/boolean.txt", "--topic", "401"]

    def ranks(*more: str) -> list[str]:
        assert run([*given, *more]) == 0
        return re.findall(r"^401 +(\d+)  ", capfd.readouterr().out, re.MULTILINE)

    assert ranks("--format", "table", "--show", "3") == ["1", "2", "3"]
    assert len(ranks("--format", "table")) == 100
    assert run([*given, "--format", "csv", "--show", "3"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 101
    document = Path("runs/boolean.txt").read_text(encoding="utf-8").split()[2]
    renamed = ranks("--rename", f"{document}=zzz", "--show", "2")
    assert renamed[:2] == ["1", "2"]
    assert 5 <= len(renamed) <= 6  # of both lists the first two, and the renamed one where it is below


def test_show_is_what_rows_was(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    texts = []
    for option in ("--show", "--rows"):
        assert run(["explain", *files, "--topic", "401", option, "3"]) == 0
        texts.append(capfd.readouterr().out)
    assert texts[0] == texts[1]
    assert run(["explain", *files, "--topic", "401"]) == 0
    assert len(capfd.readouterr().out) > len(texts[0])


@pytest.mark.parametrize("command", ["eval", "compare", "ties", "report"])
def test_a_run_that_cannot_be_read_is_left_out(
    command: str, files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    Path("bad.txt").write_text("1 2 3\n", encoding="utf-8")
    given = [command, *files, "bad.txt", "none.txt", "runs/hybrid.txt"]
    there = [] if command == "report" else ["--json"]
    assert run([*given, *there]) == 1
    assert capfd.readouterr().out == ""
    assert run([*given, *there, "--keep-going"]) == 1
    out, err = capfd.readouterr()
    assert "warning: left out: bad.txt:1: 3 fields" in err
    assert "warning: left out: none.txt: there is no such file" in err
    without = [command, *files, "runs/hybrid.txt", *there, "--keep-going"]
    assert run(without) == 0
    alone = capfd.readouterr().out
    if command == "report":
        assert out == alone
        return
    found = json.loads(out)
    assert [each["file"] for each in found.pop("left_out")] == ["bad.txt", "none.txt"]
    assert found == json.loads(alone)


def test_where_no_run_can_be_read_there_is_nothing_to_keep(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", files[0], "none.txt", "--keep-going"]) == 1
    assert "exaequo: none.txt: there is no such file" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["eval", "compare", "ties", "report", "plot ties"])
def test_a_run_of_other_topics_is_left_out(command: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    Path("other.txt").write_text("q1 Q0 d1 1 1.0 other\n", encoding="utf-8")
    given = [*command.split(), *files, "other.txt", "runs/hybrid.txt", "-o", "out.json", "-m", "AP"]
    assert run(given) == 1
    assert not Path("out.json").exists()
    assert "exaequo: other.txt: its only topic is not judged" in capfd.readouterr().err
    assert run([*given, "--keep-going"]) == 1
    assert Path("out.json").exists()
    said = capfd.readouterr().err
    assert "left out: other.txt: its only topic is not judged (q1); expected topics such as 401" in said


def test_what_was_written_is_said(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["report", *files, "-o", "page.html"]) == 0
    assert re.search(r"^page\.html: \d+ kB, one page: 1 run, 25 topics; AP, nDCG@10", capfd.readouterr().err, re.M)
    assert run(["report", *files, "-o", "-"]) == 0
    assert "kB" not in capfd.readouterr().err
    assert run(["plot", "ties", *files, "-o", "ties.json", "--lang", "fr"]) == 0
    assert re.search(r"^ties\.json : \d+ ko, Ce que les ex", capfd.readouterr().err, re.M)
