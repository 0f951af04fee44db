"""The command in a process of its own: what Java says stays away from the screen, and an interrupt is quiet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import exaequo
from waiting import soon

SOURCE = str(Path(exaequo.__file__).parent.parent)


def begun(folder: Path, master: str, **more: str) -> subprocess.Popen[str]:
    (folder / "qrels.txt").write_text("1 0 a 1\n")
    (folder / "run.txt").write_text("1 Q0 a 1 nan mine\n")
    given = [str(folder / "qrels.txt"), str(folder / "run.txt"), "--engine", "spark", "--master", master]
    command = [sys.executable, "-m", "exaequo", "eval", *given]
    own: dict[str, Any] = {"env": {**os.environ, "PYTHONPATH": SOURCE, **more}, "start_new_session": True}
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
    code, said = ended(begun(tmp_path, "nowhere"))
    why = "Master must either be yarn or start with spark, k8s, or local"
    assert (code, said) == (
        1,
        f"exaequo: Spark does not start: {why} (it needs Java 17 or later, and a --master there is)\n",
    )


def test_an_interrupt_is_quiet(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    process = begun(tmp_path, "local[1]", EXAEQUO_SPARK_LOG=str(log))
    assert soon(lambda: log.exists() and log.stat().st_size > 0)  # Java has begun
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    code, said = ended(process)
    assert (code, said.strip()) == (130, "")
