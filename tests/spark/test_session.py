"""The command in a process of its own: what Java says stays away from the screen, and an interrupt is quiet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import exaequo
from exaequo.interrupts import undisturbed
from exaequo.spark import session
from waiting import PATIENCE, QUICK_JAVA, soon

SOURCE = str(Path(exaequo.__file__).parent.parent)


def begun(folder: Path, master: str, **more: str) -> subprocess.Popen[str]:
    (folder / "qrels.txt").write_text("1 0 a 1\n")
    (folder / "run.txt").write_text("1 Q0 a 1 nan mine\n")
    given = [str(folder / "qrels.txt"), str(folder / "run.txt"), "--engine", "spark", "--master", master]
    command = [sys.executable, "-m", "exaequo", "eval", *given]
    own: dict[str, Any] = {
        "env": {**os.environ, "PYTHONPATH": SOURCE, "JDK_JAVA_OPTIONS": QUICK_JAVA, **more},
        "start_new_session": True,
    }
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **own)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=120)
    assert not out
    return process.returncode, err


def test_what_is_wrong_is_a_line(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    code, said = ended(begun(tmp_path, "local[1]", EXAEQUO_SPARK_LOG=str(log)))
    expected = (
        "run 'mine', topic '1': sim is NaN (document 'a'); expected a finite number. Drop the row or give it a number."
    )
    assert (code, said) == (1, f"exaequo: {expected}\n")
    assert "ERROR TaskSetManager" in log.read_text()
    with log.open("a") as file:
        file.write('Exception in thread "main" java.lang.Error: of another time\n')
    code, said = ended(begun(tmp_path, "nowhere", EXAEQUO_SPARK_LOG=str(log)))
    why = "Master must either be yarn or start with spark, k8s, or local"
    assert (code, said) == (
        1,
        f"exaequo: Spark does not start: {why} (it needs Java 17 or later, and a --master there is)\n",
    )
    code, said = ended(begun(tmp_path, "local[1]", EXAEQUO_SPARK_LOG=str(tmp_path / "none" / "log")))
    why = "cannot write (No such file or directory), as EXAEQUO_SPARK_LOG asks."
    assert (code, said) == (1, f"exaequo: {tmp_path}/none/log: {why}\n")


def test_folders_that_name_topics_name_them_as_text(tmp_path: Path) -> None:
    (tmp_path / "run.parquet" / "qid=007").mkdir(parents=True)
    table = pl.DataFrame({"run": ["mine"], "docno": ["a"], "sim": [1.0]})
    table.write_parquet(tmp_path / "run.parquet" / "qid=007" / "part.parquet")
    (tmp_path / "qrels.txt").write_text("007 0 a 1\n7 0 b 1\n")
    words = ["eval", str(tmp_path / "qrels.txt"), str(tmp_path / "run.parquet"), "--engine", "spark", "-m", "RR"]
    done = subprocess.run(
        [sys.executable, "-m", "exaequo", *words, "--master", "local[1]", "--format", "csv"],
        env={**os.environ, "PYTHONPATH": SOURCE, "JDK_JAVA_OPTIONS": QUICK_JAVA},
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
    )
    assert done.stdout.splitlines()[1:] == ["mine,realistic,all,RR,0.5"], done.stderr
    assert "1 of 2 evaluated topics missing" in done.stderr


def test_an_interrupt_is_quiet_and_leaves_nothing_behind(tmp_path: Path) -> None:
    log, left = tmp_path / "spark.log", tmp_path / "left"
    left.mkdir()
    process = begun(tmp_path, "local[1]", EXAEQUO_SPARK_LOG=str(log), TMPDIR=str(left))
    assert soon(lambda: log.exists() and log.stat().st_size > 0)  # Java has begun
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    code, said = ended(process)
    assert (code, said.strip()) == (130, "")
    assert soon(lambda: not [*left.iterdir()])


def test_a_second_interrupt_does_not_wait() -> None:
    before = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before[1])
    with pytest.raises(KeyboardInterrupt), undisturbed():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise KeyboardInterrupt
    assert (signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(before[1])) == before
    with pytest.raises(KeyboardInterrupt), undisturbed():
        signal.raise_signal(signal.SIGINT)


def test_java_that_has_gone_is_not_told_by_who_looks_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = threading.Event()

    def gone() -> None:
        looked.set()
        raise ConnectionRefusedError

    monkeypatch.setattr(session, "_PAUSE", 0.001)
    tracker = SimpleNamespace(getActiveStageIds=gone)
    context = SimpleNamespace(statusTracker=lambda: tracker)
    with session.watched(SimpleNamespace(_jsparkSession=None, sparkContext=context), print):  # type: ignore[arg-type]
        assert looked.wait(PATIENCE)
        assert soon(lambda: not any("look" in each.name for each in threading.enumerate()))
