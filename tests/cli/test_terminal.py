"""Whatever names and files hold, a terminal gets text: no escape sequence, no turned direction, no bell."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from exaequo.cli import output, progress, run
from exaequo.text import on_screen
from waiting import soon

#: A title for the window, a bell, an 8-bit sequence, a turned direction, a hidden letter, a line that is rubbed out.
EVIL = "\x1b]0;owned\x07\x9b31m\u202egpj.x\u2066\u200b\x7f\b\r"
#: What a terminal may be sent besides text: line ends, and the bold letters of tables.
OBEYED = re.compile(r"\x1b\[[01]m|\r\n|[\n\t]")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Judgments and two runs; topics, documents, run ids and a file name are evil."""
    monkeypatch.chdir(tmp_path)
    evil = EVIL.replace("\r", "")  # a line of a TREC file ends there
    ids = [f"{evil}{at}" for at in range(3)]
    Path("qrels").write_text("".join(f"{qid} 0 {docno} {docno[-1]}\n" for qid in ids for docno in ids), "utf-8")
    names = ["one", f"two{evil}".replace("\x00", "")]
    for row, name in enumerate(names):
        lines = [f"{q} Q0 {d} 0 {(at + row) // 2} {evil}{row}\n" for q in ids for at, d in enumerate(ids)]
        Path(name).write_text("".join(lines) + f"{evil}9 Q0 x 0 1 {evil}{row}\n", encoding="utf-8")
    Path("broken").write_text(f"{evil} Q0 {evil} 1 {evil} {evil}\n", encoding="utf-8")
    return ["qrels", *names]


def on_terminal(*arguments: str) -> str:
    """Run a command whose output goes to a terminal of its own; return what was sent there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "exaequo", *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        sent = b""
        try:
            while part := os.read(ours, 65_536):
                sent += part
        except OSError:  # so the end is told on Linux
            pass
        process.wait(60)
    os.close(ours)
    return sent.decode()


def harmless(text: str) -> bool:
    return OBEYED.sub("", text).isprintable()


COMMANDS: dict[str, list[str]] = {
    "eval": ["-q", "-m", "AP"],
    "compare": ["-m", "AP", "--full"],
    "ties": ["-m", "AP", "--full"],
    "explain": ["-m", "AP"],
    "check": ["broken"],
    "order": [],
    "unjudged": ["-m", "AP"],
    "budget": ["-m", "AP"],
    "gate": ["-m", "AP"],
    "trec_eval": ["-q"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_name_commands_the_terminal(name: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    given = files[:2] if name in ("explain", "order", "trec_eval") else files
    run([name, *COMMANDS[name], *given] if name == "trec_eval" else [name, *given, *COMMANDS[name]])
    said = capfd.readouterr()
    shown = said.err if name in ("order", "trec_eval") else said.out + said.err  # those two write data
    assert harmless(shown), repr(shown)
    assert name in ("order", "trec_eval") or "owned" in shown


def test_data_on_a_terminal_are_escaped(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """As `ls` does it: a pipe gets what there is, a terminal what can be shown."""
    evaluation = ["eval", *files, "-m", "AP", "--format", "csv"]
    assert run(evaluation) == 0
    assert "\x1b]0;owned" in capfd.readouterr().out
    for command in (evaluation, [*evaluation[:-1], "json"], ["order", *files[:2]]):
        sent = on_terminal(*command)
        assert harmless(sent), repr(sent)
        assert "owned" in sent


def test_what_is_asked_for_is_not_sent_back(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    for asked in (["eval", *files, f"--{EVIL}"], [EVIL], ["eval", f"{EVIL}.txt", "one"], ["plot", EVIL, *files]):
        assert run(asked) in (1, 2)
        assert harmless(capfd.readouterr().err)


def test_unexpected_errors(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(EVIL)

    monkeypatch.setattr("exaequo.cli.app.main", fails)
    assert run(["eval"]) == 1
    said = capfd.readouterr().err
    assert "unexpected OSError" in said
    assert harmless(said)


def test_screens_progress_and_asides(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    output.show_text(f"\x1b[1mbold\x1b[0m à\xa0: {EVIL}")
    output.aside(EVIL)
    output.warn(EVIL)
    said = capfd.readouterr()
    assert harmless(said.out.replace("\xa0", "")), said.out
    assert harmless(said.err), said.err
    assert on_screen("a\xa0: \x1b[1mb\x1b[0m\x1b[2J") == "a\xa0: \x1b[1mb\x1b[0m\\x1b[2J"

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with progress.shown(f"exaequo {EVIL}"):
        progress.doing(f"evaluating {EVIL}", 1, 2)
        assert soon(lambda: "evaluating" in stream.getvalue())
    assert "\x1b]0" not in stream.getvalue()
    assert not {"\x07", "\x9b", "\u202e"} & set(stream.getvalue())


def test_every_line_of_commands_goes_through_one_door() -> None:
    """What is printed is printed by `output`, which escapes; help and usage are click's own, made of our words."""
    source = Path(output.__file__).parent
    doors = re.compile(r"\bclick\.(?:echo|secho|echo_via_pager)\(|\bprint\(|\bstd(?:out|err)\.write\(")
    found = {path.name for path in source.glob("*.py") if doors.search(path.read_text(encoding="utf-8"))}
    assert found == {"output.py", "progress.py"}  # the bar prints above itself what `output` gives it
