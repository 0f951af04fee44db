"""Waiting for what other threads and processes do in their own time, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds that are more than enough for anything that does happen.
PATIENCE = 60.0
#: Options of a Java that is soon there: what runs for a minute need not be compiled twice.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def soon(done: Callable[[], bool]) -> bool:
    """Wait for something to be so; tell whether it is."""
    end = time.monotonic() + PATIENCE
    while not done() and time.monotonic() < end:
        time.sleep(0.02)
    return done()
