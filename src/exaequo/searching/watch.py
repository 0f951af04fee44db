"""Run a command and say what it cost: seconds to wait and the command in, a line of JSON on standard output out.

A program of its own that imports next to nothing: systems count the memory of a process from the one that started it,
and a large one would make all look large. When the end of standard input says that nobody waits any more, because the
one who did was ended, it ends the command and all that it has started.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
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
    late = threading.Event()

    def stop() -> None:
        late.set()
        _kill(process)

    def guard() -> None:
        os.read(0, 1)  # nothing is ever sent: this returns when the one who waits is gone
        stop()

    threading.Thread(target=guard, daemon=True).start()
    timer = threading.Timer(timeout, stop)
    timer.daemon = True
    if timeout:
        timer.start()
    try:
        code, cpu, memory = _ended(process)
    except BaseException:
        _kill(process)
        raise
    timer.cancel()
    if late.is_set():
        return {"timeout": timeout}
    return {"code": code, "seconds": time.perf_counter() - start, "cpu_seconds": cpu, "memory_mb": memory}


def _ended(process: subprocess.Popen[bytes]) -> tuple[int, float | None, float | None]:
    """Wait for the end; only Unix tells what a single process used."""
    if sys.platform == "win32":
        return process.wait(), None, None
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all it started."""
    with contextlib.suppress(ProcessLookupError):  # it may have ended just now
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(watched(sys.argv[2:], float(sys.argv[1]))))
