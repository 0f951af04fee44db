"""Spark Connect: a server and its client on this machine, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import exaequo
from waiting import PATIENCE, QUICK_JAVA

HERE = Path(__file__).parent


def test_evaluate_means_ties_bad_rows_and_tables(tmp_path: Path) -> None:
    paths = os.pathsep.join([str(Path(exaequo.__file__).parent.parent), str(HERE.parent)])
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": paths, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["JDK_JAVA_OPTIONS"] = QUICK_JAVA
    environment["SPARK_TESTING"] = "1"  # a port of its own: another may test here at the same time
    done = subprocess.run(
        [sys.executable, HERE / "connected.py", tmp_path],
        env=environment,
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.strip().endswith("the same")
