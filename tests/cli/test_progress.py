"""Long work shows on a terminal what it is doing; short work, and work that is piped, shows nothing."""

from __future__ import annotations

import io
import time

import pytest

from exaequo.cli import progress
from exaequo.cli.output import warn


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, seconds: float) -> str:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", "100")
    with progress.shown("exaequo eval"):
        for path in progress.over(["one.txt", "two [b].txt"], "evaluating"):
            time.sleep(seconds if path == "two [b].txt" else 0)
        progress.hide()
        progress.doing("printing")
    return stream.getvalue()


def test_long_work_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, Terminal(), 1.5)
    assert "evaluating two [b].txt" in text
    assert "1/2" in text
    assert "printing" not in text


def test_a_warning_stands_above_the_bar_which_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", "60")
    with progress.shown("exaequo eval"):
        progress.doing("evaluating one.txt", 0, 2)
        time.sleep(1)
        warn("left out: [b]one.txt[/b] " + "word " * 19 + "end")
        progress.doing("evaluating two.txt", 1, 2)
        time.sleep(0.5)
        before = stream.getvalue()
        progress.hide()
        warn("late")
    assert "exaequo: warning: left out: [b]one.txt[/b] " + "word " * 19 + "end" in before
    assert before.index("warning") < before.index("evaluating two.txt")
    assert stream.getvalue().endswith("exaequo: warning: late\n")


def test_short_work_and_pipes_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, Terminal(), 0.0) == ""
    assert shown(monkeypatch, io.StringIO(), 0.3) == ""
