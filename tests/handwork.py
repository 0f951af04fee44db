"""Work for other processes: they import it by its name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from exaequo.errors import BadParameter
from waiting import soon


def where(unit: int) -> tuple[int, int]:
    """Return the unit and the process that did it, after a while."""
    time.sleep(0.02)
    return unit, os.getpid()


def met(folder: str) -> int:
    """Return the process that does this, once another does it too: so none of them does all."""
    (Path(folder) / str(os.getpid())).touch()
    assert soon(lambda: len([*Path(folder).iterdir()]) > 1), "no other process came"
    return os.getpid()


def loud(folder: str) -> int:
    """Print, which must not disturb the answers."""
    print("noise", flush=True)
    os.write(1, b"more noise\n")
    return met(folder)


def read(folder: str) -> str:
    """Read a file of this name, wherever that is."""
    met(folder)
    return Path("name").read_text()


def hard(unit: tuple[str, int]) -> int:
    """End the process, unless it is the one that the unit names; that waits until another has."""
    folder, process = unit
    mark = Path(folder) / "ended"
    if os.getpid() != process:
        mark.touch()
        os._exit(3)
    assert soon(mark.exists), "no other process came"
    return process


def number(unit: str) -> int:
    """Read a number; fail where it is none."""
    if not unit.isdecimal():
        raise BadParameter(f"no number: {unit!r}")
    return int(unit)


def late(unit: tuple[str, int]) -> int:
    """Fail once in the process that the unit names, as where a signal says that time is up."""
    folder, process = unit
    mark = Path(folder) / "late"
    met(folder)
    if os.getpid() == process and not mark.exists():
        mark.touch()
        raise TimeoutError
    return os.getpid()


def returned(ranking: Any) -> Any:
    """Count documents: a measure of one's own."""
    return ranking.total(ranking.topic)
