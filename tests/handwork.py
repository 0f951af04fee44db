"""Work for other processes: they import it by its name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any


def where(unit: int) -> tuple[int, int]:
    """Return the unit and the process that did it; take long enough for others to help."""
    time.sleep(0.02)
    return unit, os.getpid()


def hard(unit: tuple[int, int]) -> int:
    """End the process, unless it is the one that the unit names."""
    number, process = unit
    time.sleep(0.02)
    if os.getpid() != process:
        os._exit(3)
    return number


def number(unit: str) -> int:
    """Read a number; fail where it is none."""
    time.sleep(0.02)
    return int(unit)


def read(path: str) -> str:
    """Read a file."""
    time.sleep(0.02)
    return Path(path).read_text()


def loud(unit: int) -> int:
    """Print, which must not disturb the answers."""
    print("noise", flush=True)
    os.write(1, b"more noise\n")
    time.sleep(0.02)
    return unit


def returned(ranking: Any) -> Any:
    """Count documents: a measure of one's own."""
    return ranking.total(ranking.topic)
