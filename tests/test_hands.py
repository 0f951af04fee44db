"""Many hands: results in their order, errors as without them, and no process left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest

import handwork
from exaequo import BadParameter, hands, memory
from exaequo.hands import helpers
from waiting import PATIENCE, soon


def shared(work: Any, units: Any, number: int = 1, *more: Any) -> list[Any]:
    """Share work; with a hand that is free, which it is soon after its last answer."""
    assert soon(lambda: not any(hand.busy for hand in hands._hands))
    return [*hands.shared(work, units, number, *more)]


def together(work: Any = handwork.met) -> list[Any]:
    """Return what comes of work that a hand takes part in for certain."""
    with TemporaryDirectory() as folder:
        return shared(work, [folder] * 30)


def gone(process: int) -> bool:
    """Tell whether a process has ended, also if nobody has asked yet how."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    hands.dismiss()
    yield
    hands.dismiss()


def test_results_in_order_from_several_processes() -> None:
    processes = {*together()}
    assert os.getpid() in processes
    assert len(processes) == 2
    assert {*together()} == processes  # the same hand
    assert [unit for unit, _ in shared(handwork.where, range(30))] == list(range(30))


def test_progress_is_told() -> None:
    for number in (0, 1):
        told: list[tuple[int, int]] = []
        units = [*map(str, range(12))]
        assert shared(handwork.number, units, number, lambda done, every: told.append((done, every))) == [*range(12)]  # noqa: B023
        assert told == sorted(told)
        assert {every for _, every in told} == {12}


def test_what_is_printed_disturbs_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert len({*together(handwork.loud)}) == 2
    assert "noise" in capfd.readouterr().out  # of this process


def test_the_first_error_is_raised_whoever_met_it() -> None:
    together()
    for bad in (0, 3, 17, 29):
        units = [str(number) if number != bad and number != bad + 1 else f"bad{number}" for number in range(30)]
        with pytest.raises(ValueError, match=f"'bad{bad}'"):
            shared(handwork.number, units)
    assert shared(handwork.number, ["1", "2", "3"]) == [1, 2, 3]


def test_an_error_from_outside_ends_all_at_once(tmp_path: Path) -> None:
    """It is not lost, though the same work would succeed if it were done again."""
    with pytest.raises(TimeoutError):
        shared(handwork.late, [(str(tmp_path), os.getpid())] * 30)
    assert not any(hand.alive for hand in hands._hands)
    assert len({*together()}) == 2


def test_nothing_is_begun_after_an_error_and_what_is_given_back_is_next() -> None:
    lot = hands._Lot(range(9))
    first, second = lot.take(3), lot.some(1)
    assert (first, second) == ([0, 1, 2], [3])
    lot.give(first, [])
    assert lot.take(2) == [0, 1]
    lot.give([0, 1], [(True, "a"), (False, None)])
    assert not lot.over()  # after a while: the second is under way
    lot.give(second, [(True, "b")])
    assert lot.over()
    assert [done for done, _ in lot.found] == [True, False, False, True, *[False] * 5]


def test_a_hand_that_ends_loses_nothing(tmp_path: Path) -> None:
    assert {*shared(handwork.hard, [(str(tmp_path), os.getpid())] * 20)} == {os.getpid()}
    assert len({*together()}) == 2  # a new one is made


def test_an_interrupt_ends_hands() -> None:
    together()

    def interrupt(done: int, _: int) -> None:
        if done > 2:
            raise KeyboardInterrupt

    process = hands._hands[0].process
    with pytest.raises(KeyboardInterrupt):
        shared(handwork.where, range(1000), 1, interrupt)
    assert process.poll() is not None


def test_hands_end_with_a_caller_that_was_killed(tmp_path: Path) -> None:
    code = """
import sys, time
folder, met = sys.argv[1:]
sys.path.insert(0, folder)
import handwork
from exaequo import hands
list(hands.shared(handwork.met, [met] * 9, 1))
print(hands._hands[0].process.pid, flush=True)
time.sleep(600)
"""
    command = [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdout is not None
        hand = int(caller.stdout.readline())
        assert not gone(hand)
        caller.kill()
    assert soon(lambda: gone(hand))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("busy", [False, True])
def test_a_fork_leaves_the_hands_to_its_parent(busy: bool) -> None:
    """The fork has hands of its own, and ends, whatever the others do."""
    together()
    thread = threading.Thread(target=shared, args=(handwork.where, range(60)))
    if busy:
        thread.start()
        assert soon(lambda: hands._hands[0].busy or not thread.is_alive())
    theirs = hands._hands[0].process.pid
    child = os.fork()
    if not child:
        code = 1
        with suppress(BaseException):
            found = {*together()}
            code = 1 if theirs in found or len(found) != 2 else 0
            hands.dismiss()
        os._exit(code)
    ended = soon(lambda: gone(child))
    os.kill(child, 9)
    status = os.waitpid(child, 0)[1]
    if busy:
        thread.join()
    assert ended
    assert os.waitstatus_to_exitcode(status) == 0
    assert theirs in together()


def test_a_thread_that_does_not_start_leaves_hands_free(monkeypatch: pytest.MonkeyPatch) -> None:
    together()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            shared(handwork.number, ["1", "2"])
    assert not any(hand.busy for hand in hands._hands)
    assert len({*together()}) == 2


def test_where_no_threads_are_to_be_had_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    assert {process for _, process in shared(handwork.where, range(4), 1)} == {os.getpid()}
    assert [hand.busy for hand in hands._hands] == [False]


def test_a_path_of_imports_may_hold_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [Path("odd"), b"odd", *sys.path])
    assert len({*together()}) == 2


def test_what_is_isolated_has_hands_that_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `python -I` passes over, they pass over too."""
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'loaded')!r}, 'w')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for isolated in (1, 0):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "flags", SimpleNamespace(isolated=isolated))
            assert len({*together()}) == 2
        assert (tmp_path / "loaded").exists() != isolated
        hands.dismiss()


def test_another_release_does_not_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been installed since this process began."""
    monkeypatch.setattr(hands, "__version__", "0")
    (hand,) = hands._asked(1)
    assert hand.process.wait(PATIENCE) == 0
    hand.rest()
    assert shared(handwork.number, ["1", "2"]) == [1, 2]


def test_units_that_cannot_be_sent_are_done_here() -> None:
    class Local(str):
        __slots__ = ()

    together()
    assert shared(handwork.number, [Local(number) for number in range(30)], 1) == [*range(30)]


def test_paths_mean_what_they_mean_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hand that was started elsewhere reads the files of where its caller is now."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "name").write_text(folder)
        monkeypatch.chdir(tmp_path / folder)
        for _ in range(2):
            assert {*together(handwork.read)} == {folder}


def test_what_cannot_be_sent_is_done_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shared(lambda unit: unit + 1, [1, 2], 1) == [2, 3]
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    assert shared(handwork.number, ["1", "2"], 1) == [1, 2]
    assert not hands._hands


def test_how_many_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(hands.VARIABLE, "4")
    assert [helpers(size) for size in (0, 47_999_999, 48_000_000, 100_000_000, 10**12)] == [0, 0, 1, 2, 3]
    together()
    assert [helpers(size) for size in (7_999_999, 8_000_000, 47_999_999, 96_000_000)] == [0, 1, 1, 2]
    for odd in ("²", "many", "0", "-1"):
        monkeypatch.setenv(hands.VARIABLE, odd)
        with pytest.raises(BadParameter, match="EXAEQUO_PROCESSES must be a whole number ≥ 1"):
            helpers(10**12)
    monkeypatch.setenv(hands.VARIABLE, "")
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
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, hands.VARIABLE: "3"},
        timeout=5 * PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    number, processes = json.loads(done.stdout)
    assert number == 40
    assert len(processes) == 2
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
