"""Stopping: Ctrl-C, or a request to end, in; the end of the command within a second out, with nothing left behind.

Python hears of a signal between two steps of its own, and a library may take long over one. So a thread hears of it
too, and ends the process if the command has not ended by then.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

#: Seconds a command has to end by itself.
GRACE = 0.6
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
#: The signals heard; the first counts.
_heard: list[int] = []


def heard() -> int:
    """Return the exit code of a command that was told to end, as shells count them; 0 if it was not."""
    return 128 + _heard[0] if _heard else 0


def listen() -> None:
    """From now on, end at Ctrl-C, and when the system or the terminal asks for it; what is ignored stays ignored."""
    for number in _known():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    sys.unraisablehook = _quietly
    next_heard, far = _pair()
    signal.set_wakeup_fd(far, warn_on_full_buffer=False)
    threading.Thread(target=_end, args=(next_heard,), daemon=True).start()


def _pair() -> tuple[Callable[[], bytes], int]:
    """Return what waits for the number of a signal, and what it is written to."""
    if sys.platform == "win32":
        import socket  # no other file will do there

        one, other = socket.socketpair()
        other.setblocking(False)
        return lambda: one.recv(1), other.detach()
    near, far = os.pipe()
    os.set_blocking(far, False)
    return lambda: os.read(near, 1), far


def _stop(number: int, _: FrameType | None) -> None:
    _heard.append(number)
    if len(_heard) == 1:  # once: what is tidied up now is not disturbed
        if logging := sys.modules.get("logging"):
            logging.disable()  # libraries tell at length that they were interrupted
        raise KeyboardInterrupt


def _quietly(what: Any) -> None:
    """Say nothing of an interrupt that came where Python cannot raise it; the thread ends the process."""
    if not (_heard and what.exc_type is KeyboardInterrupt):
        sys.__unraisablehook__(what)


def _known() -> list[int]:
    return [number for name in _NAMES if (number := getattr(signal, name, None)) is not None]


def _end(next_heard: Callable[[], bytes]) -> None:
    while (number := next_heard()[0]) not in _known():
        pass
    time.sleep(GRACE)
    _heard.append(number)
    leave(0)


def out_of_memory() -> NoReturn:
    """End the process at once: it has more in use than is allowed, and there was no way to tell before."""
    from exaequo.writing import tidy

    tidy()
    with contextlib.suppress(OSError):
        said = b"exaequo: more memory is in use than allowed; the command was ended. Allow more, with --memory SIZE.\n"
        os.write(2, said)
    os._exit(1)


@contextlib.contextmanager
def left_to_others() -> Iterator[None]:
    """Leave signals to a server, which ends in its own way."""
    handle = signal.set_wakeup_fd(-1)
    before = signal.getsignal(signal.SIGINT)
    if before is _stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        signal.set_wakeup_fd(handle, warn_on_full_buffer=False)


def leave(code: int) -> NoReturn:
    """End the process: with this code, or at once with that of the signal, and then not even waiting for others."""
    if not _heard:
        for number in _known():
            if signal.getsignal(number) is _stop:
                signal.signal(number, lambda *_: None)  # the work is done; the thread goes on listening
        sys.exit(code)
    from exaequo.writing import tidy

    tidy()
    if processes := sys.modules.get("multiprocessing.util"):
        processes._run_finalizers(0)  # else a process of Python's tells of semaphores that are left
    os._exit(heard())  # what is still to be printed may wait for a reader that never comes
