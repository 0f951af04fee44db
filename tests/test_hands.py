"""Many hands: results in their order, errors as without them, and no process left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import handwork
from exaequo import hands, memory
from exaequo.hands import helpers


def shared(work: Any, units: Any, number: int, *more: Any) -> list[Any]:
    return [*hands.shared(work, units, number, *more)]


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    hands.dismiss()
    yield
    hands.dismiss()


def started() -> None:
    """Wait until a hand is there, so that it takes part."""
    shared(handwork.where, range(40), 1)


def test_results_in_order_from_several_processes() -> None:
    started()
    found = shared(handwork.where, range(30), 1)
    assert [unit for unit, _ in found] == list(range(30))
    processes = {process for _, process in found}
    assert os.getpid() in processes
    assert len(processes) == 2
    again = {process for _, process in shared(handwork.where, range(30), 1)}
    assert again == processes  # the same hand


def test_progress_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    for number in (0, 1):
        told: list[tuple[int, int]] = []
        assert shared(handwork.loud, range(12), number, lambda done, every: told.append((done, every))) == [*range(12)]  # noqa: B023
        assert told == sorted(told)
        assert {every for _, every in told} == {12}
    assert "noise" in capfd.readouterr().out  # of this process


def test_the_first_error_is_raised_whoever_met_it() -> None:
    started()
    for bad in (0, 3, 17, 29):
        units = [str(number) if number != bad and number != bad + 1 else f"bad{number}" for number in range(30)]
        with pytest.raises(ValueError, match=f"'bad{bad}'"):
            shared(handwork.number, units, 1)
    assert shared(handwork.number, ["1", "2", "3"], 1) == [1, 2, 3]
    told: list[int] = []
    with pytest.raises(ValueError, match="bad"):
        shared(handwork.number, ["bad", *map(str, range(200))], 1, lambda done, _: told.append(done))
    assert len(told) < 60  # nothing is begun after that


def test_a_hand_that_ends_loses_nothing() -> None:
    started()
    units = [(number, os.getpid()) for number in range(20)]
    assert shared(handwork.hard, units, 1) == list(range(20))
    found = {process for _, process in shared(handwork.where, range(60), 1)}
    assert found >= {os.getpid()}  # a new one is made


def test_an_interrupt_ends_hands() -> None:
    started()

    def interrupt(done: int, _: int) -> None:
        if done > 2:
            raise KeyboardInterrupt

    process = hands._hands[0].process
    with pytest.raises(KeyboardInterrupt):
        shared(handwork.where, range(1000), 1, interrupt)
    assert process.poll() is not None


def test_hands_end_with_a_caller_that_was_killed() -> None:
    code = (
        "import handwork, sys, time; from exaequo import hands; list(hands.shared(handwork.where, range(40), 1));"
        "print(hands._hands[0].process.pid, flush=True); time.sleep(60)"
    )
    folder = str(Path(__file__).parent)
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r}); {code}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdout is not None
        hand = int(caller.stdout.readline())
        os.kill(hand, 0)
        caller.kill()
    for _ in range(100):
        time.sleep(0.05)
        try:
            os.kill(hand, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{hand}/stat").read_text().split()[2] == "Z":
            return
    raise AssertionError


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("busy", [False, True])
def test_a_fork_leaves_the_hands_to_its_parent(busy: bool) -> None:
    """The fork has hands of its own, and ends, whatever the others do."""
    started()
    thread = threading.Thread(target=shared, args=(handwork.where, range(60), 1))
    if busy:
        thread.start()
        time.sleep(0.1)
    theirs = hands._hands[0].process.pid
    child = os.fork()
    if not child:
        found = {process for _, process in shared(handwork.where, range(60), 1)}
        code = 1 if theirs in found or len(found) != 2 else 0
        hands.dismiss()
        os._exit(code)
    for _ in range(200):
        time.sleep(0.05)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        raise AssertionError
    if busy:
        thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert theirs in {process for _, process in shared(handwork.where, range(40), 1)}


def test_a_thread_that_does_not_start_leaves_hands_free(monkeypatch: pytest.MonkeyPatch) -> None:
    started()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            shared(handwork.where, range(4), 1)
    assert {unit for unit, _ in shared(handwork.where, range(40), 1)} == {*range(40)}


def test_where_no_threads_are_to_be_had_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    assert {process for _, process in shared(handwork.where, range(4), 1)} == {os.getpid()}
    assert [hand.busy for hand in hands._hands] == [False]


def test_a_path_of_imports_may_hold_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [Path("odd"), b"odd", *sys.path])
    started()
    assert len({process for _, process in shared(handwork.where, range(30), 1)}) == 2


def test_units_that_cannot_be_sent_are_done_here() -> None:
    class Local(str):
        __slots__ = ()

    started()
    assert shared(handwork.number, [Local(number) for number in range(30)], 1) == [*range(30)]


def test_paths_mean_what_they_mean_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hand that was started elsewhere reads the files of where its caller is now."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "number").write_text(folder)
        monkeypatch.chdir(tmp_path / folder)
        for _ in range(2):
            assert {*shared(handwork.read, ["number"] * 30, 1)} == {folder}


def test_what_cannot_be_sent_is_done_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shared(lambda unit: unit + 1, [1, 2], 1) == [2, 3]
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    assert shared(handwork.number, ["1", "2"], 1) == [1, 2]
    assert not hands._hands


def test_how_many_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(hands.VARIABLE, "4")
    assert [helpers(size) for size in (0, 47_999_999, 48_000_000, 100_000_000, 10**12)] == [0, 0, 1, 2, 3]
    started()
    assert [helpers(size) for size in (7_999_999, 8_000_000, 47_999_999, 96_000_000)] == [0, 1, 1, 2]
    for odd in ("²", "many", "", "-1"):
        monkeypatch.setenv(hands.VARIABLE, odd)
        assert helpers(10**12) == min(len(os.sched_getaffinity(0)), 8) - 1
    monkeypatch.setenv(hands.VARIABLE, "1")
    assert helpers(10**12) == 0
    monkeypatch.setenv(hands.VARIABLE, "100")
    assert helpers(10**12) == 7
    with memory.limited(10**9, lambda: None):
        assert helpers(10**12) == 0
    monkeypatch.setattr(sys, "executable", "/opt/some program")
    assert helpers(10**12) == 0
    monkeypatch.setattr(sys, "executable", None)
    assert helpers(10**12) == 0


def test_no_program_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert shared(handwork.number, ["4", "5"], 1) == [4, 5]


def test_a_script_needs_no_guard_and_leaves_no_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import glob, json, os
        import exaequo
        from exaequo import hands

        hands._WORTH_STARTING = 1
        folder = os.path.dirname(__file__)
        runs = sorted(glob.glob(folder + "/run*.txt"))
        for _ in range(3):
            scores = exaequo.evaluate(folder + "/qrels.txt", runs, "AP P@10")
        print(json.dumps([len(scores.runs), [hand.process.pid for hand in hands._hands]]))
        """)
    )
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 d{topic} 1\n" for topic in range(200)))
    for run in range(40):
        lines = (f"{topic} Q0 d{topic + at} {at} {9 - at} run{run}\n" for topic in range(200) for at in range(9))
        (tmp_path / f"run{run:02}.txt").write_text("".join(lines))
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, hands.VARIABLE: "3"}, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    number, processes = json.loads(done.stdout)
    assert number == 40
    assert len(processes) == 2
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
