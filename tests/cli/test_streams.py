"""What stands around a command: interrupts while modules load, closed and full output, empty names, odd manifests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import exaequo
from exaequo.cli import app
from exaequo.cli import run as command
from exaequo.study import study

#: Runs the command, and is interrupted when it looks for a module.
INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            del sys.meta_path[0]
            os.kill(os.getpid(), signal.SIGINT)
wanted = sys.argv.pop(1)
sys.meta_path.insert(0, Finder())
from exaequo.__main__ import main
main()
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    exaequo.sample().save(tmp_path)
    return [str(tmp_path / "qrels.txt"), str(tmp_path / "runs" / "bm25.txt")]


@pytest.mark.parametrize("module", ["click", "exaequo.cli", "exaequo.cli.eval", "numpy", "exaequo.evaluation"])
def test_an_interrupt_while_modules_load(module: str, files: list[str]) -> None:
    arguments = [sys.executable, "-c", INTERRUPTED, module, "eval", *files]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("name", ["eval", "check", "measures", "order", "--help"])
def test_output_that_is_full_or_closed(name: str, files: list[str]) -> None:
    asked = [sys.executable, "-m", "exaequo", name, *(files if name not in ("measures", "--help") else [])]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(asked, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "exaequo: standard output: cannot write (No space left on device)."
    shell = ["/bin/sh", "-c", '"$@" >&-', "sh", *asked]
    done = subprocess.run(shell, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr.splitlines()[-1:] == (["exaequo: standard output is closed."] if name != "--help" else [])
    assert done.returncode == (name != "--help")


def test_a_text_that_nobody_foresaw_is_printable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise AttributeError("\x1b[2J")

    monkeypatch.setattr(app.commands["measures"], "callback", fails)
    assert command(["measures"]) == 1
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["eval", "study", "report", "demo", "order", "plot ties", "ties"])
def test_a_place_without_a_name(name: str, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    given = {"study": ["."], "demo": []}.get(name, files)
    assert command([*name.split(), *given, "--save" if name == "demo" else "-o", ""]) == 2
    assert "an empty name." in capsys.readouterr().err


def test_a_name_that_is_too_long(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["eval", *files, "-o", "a" * 300]) == 1
    assert "cannot write (File name too long)" in capsys.readouterr().err
    assert command(["study", "a" * 300]) == 1
    assert "there is no such file or folder" in capsys.readouterr().err


def test_a_scale_or_threshold_that_is_no_number(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for asked in (["ties", *files, "--scale", "nan"], ["stream", *files, "--threshold", "nan"]):
        assert command(["plot", *asked, "-o", "x.png"]) == 2
        assert "must be a number" in capsys.readouterr().err
    assert not Path("x.png").exists()


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ('track = "a"->track = true', "track is True; expected a name"),
        ('runs = "runs/*"->runs = ""', "the pattern '' cannot be read"),
        ('runs = "runs/*"->runs = "."', "the pattern '.' cannot be read"),
        (f'runs = "runs/*"->runs = "{"a" * 5000}"', "the pattern 'aaaa"),
        (f'runs = "runs/*"->runs = "{"*/" * 2500}"', "the pattern '"),
        ('runs = "runs/*"->runs = "runs/*"\nrun = "x"', "unknown key 'run'; expected only track, edition"),
        (f'runs = "runs/*"->x = {"[" * 5000}{"]" * 5000}', "not TOML"),
    ],
)
def test_odd_manifests(changed: str, found: str, files: list[str], tmp_path: Path) -> None:
    assert files
    old, _, new = changed.partition("->")
    text = '[[edition]]\ntrack = "a"\nedition = "b"\nqrels = "qrels.txt"\nruns = "runs/*"\n'
    (tmp_path / "m.toml").write_text(text.replace(old, new))
    with pytest.raises(exaequo.InputError) as raised:
        study(tmp_path / "m.toml", tmp_path / "out")
    assert found in str(raised.value)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("import atexit; atexit.register(print, 'at exit')", "at exit"),
        ("import threading; threading.Timer(0.5, print, ['in a thread']).start()", "in a thread"),
        ("import sys; sys.setprofile(lambda *_: None); import atexit; atexit.register(print, 'watched')", "watched"),
    ],
)
def test_a_command_ends_at_once_but_not_before_others(before: str, said: str) -> None:
    code = f"import sys; sys.argv[1:] = ['--version']; {before}; import exaequo.__main__ as m; m.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, said, "")
