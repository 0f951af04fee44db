"""Long work shows on a terminal what it is doing; short work, and work that is piped, shows nothing."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from exaequo.cli import progress
from exaequo.cli.output import warn
from waiting import PATIENCE, soon


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, patience: float, until: Callable[[], bool] = lambda: True
) -> str:
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", "100")
    with progress.shown("exaequo eval"):
        for path in progress.over(["one.txt", "two [b].txt"], "evaluating"):
            assert path == "one.txt" or soon(until)
        progress.hide()
        progress.doing("printing")
    return stream.getvalue()


def test_long_work_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    text = shown(monkeypatch, stream, 0, lambda: "evaluating two [b].txt" in stream.getvalue())
    assert "1/2" in text
    assert "printing" not in text


def test_a_warning_stands_above_the_bar_which_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", "60")
    with progress.shown("exaequo eval"):
        progress.doing("evaluating one.txt", 0, 2)
        assert soon(lambda: "evaluating one.txt" in stream.getvalue())
        warn("left out: [b]one.txt[/b] " + "word " * 19 + "end")
        progress.doing("evaluating two.txt", 1, 2)
        assert soon(lambda: "evaluating two.txt" in stream.getvalue())
        before = stream.getvalue()
        progress.hide()
        warn("late")
    assert "exaequo: warning: left out: [b]one.txt[/b] " + "word " * 19 + "end" in before
    assert before.index("warning") < before.index("evaluating two.txt")
    assert stream.getvalue().endswith("exaequo: warning: late\n")


def test_short_work_and_pipes_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, Terminal(), PATIENCE) == ""
    assert shown(monkeypatch, io.StringIO(), 0) == ""
