"""Run a command and say what it cost: seconds to wait and the command in, a line of JSON on standard output out.

A program of its own that imports next to nothing: systems count the memory of a process from the one that started it,
and a large one would make all look large.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any


def watched(command: list[str], timeout: float) -> dict[str, Any]:
    """Return the exit code, seconds, seconds of the processor and megabytes at the most; None where unknown."""
    start = time.perf_counter()
    try:
        # What a program prints is no result: that is in its run.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True)  # noqa: S603
    except OSError as error:
        return {"failed": error.strerror or str(error)}
    try:
        code, cpu, memory = _ended(process, timeout)
    except BaseException as stop:
        _kill(process)
        if isinstance(stop, TimeoutError | subprocess.TimeoutExpired):
            return {"timeout": timeout}
        raise
    return {"code": code, "seconds": time.perf_counter() - start, "cpu_seconds": cpu, "memory_mb": memory}


def _ended(process: subprocess.Popen[bytes], timeout: float) -> tuple[int, float | None, float | None]:
    """Wait for the end; only Unix tells what a single process used."""
    if sys.platform == "win32":
        return process.wait(timeout or None), None, None
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    _, status, used = os.wait4(process.pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6


def _late(*_: Any) -> None:
    raise TimeoutError


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):  # it may have ended just now
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(watched(sys.argv[2:], float(sys.argv[1]))))
