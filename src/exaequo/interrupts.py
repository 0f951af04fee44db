"""Interrupts: steps that end before one is heard of. In: a step. Out: the interrupt, once the step is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hear of an interrupt at the end, of a second one at once.

    What has just been started and loses who started it leaves things behind, or tells at length what it lacks.
    """
    names = ("SIGINT", "SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {each: handler for each in known if (handler := signal.getsignal(each)) is not signal.SIG_IGN}
    came: list[int] = []

    def hear(which: int, _: object) -> None:
        came.append(which)
        if len(came) > 1:
            told()

    def told() -> None:
        for each, handler in before.items():  # Spark has its own for one of them
            signal.signal(each, handler)
        if before:
            signal.set_wakeup_fd(listener, warn_on_full_buffer=False)
        for each in came[:1]:
            came.clear()
            signal.raise_signal(each)

    listener = signal.set_wakeup_fd(-1) if before else -1  # who listens there would end the process
    for each in before:
        signal.signal(each, hear)
    try:
        yield
    finally:
        told()
