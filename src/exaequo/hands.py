"""Many hands: other processes that share work with this one. In: a function and its arguments. Out: results.

Threads would not help: arrays of one run are done sooner than a thread that waits for Python's lock wakes up. A hand is
a process that imports exaequo alone, not the caller's program, so that scripts need no `if __name__ == "__main__"`; it
waits a minute for more work, and ends with this process. What a hand cannot do is done here, and fails here.
"""

from __future__ import annotations

import atexit
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Lock, Thread, Timer
from typing import Any, TypeVar

from exaequo import __version__, memory
from exaequo.errors import BadParameter, ExaequoError

U = TypeVar("U")
V = TypeVar("V")
Tell = Callable[[int, int], None]

#: How many processes share work, this one included, where that is not left to the machine.
VARIABLE = "EXAEQUO_PROCESSES"
#: More than that gain little, and each takes the memory of a Python.
_MOST = 8
#: Bytes of files for which one more is asked for help: one that is there, and one that has to start first.
_WORTH, _WORTH_STARTING = 8_000_000, 48_000_000
#: Seconds that a hand waits for work.
_PATIENCE = 60.0
#: Seconds between two looks whether the caller is still there.
_PAUSE = 0.5
_START = "import sys; sys.path[:] = {path!r}; from exaequo.hands import serve; serve({version!r})"
#: Errors of work itself; where hands have ended, there may be more memory.
_OURS = (ExaequoError, MemoryError)
_ONE_THREAD = ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def helpers(size: int) -> int:
    """Return how many hands help with files of so many bytes."""
    named = os.environ.get(VARIABLE, "")
    if named and not (named.isdecimal() and int(named)):
        raise BadParameter(f"{VARIABLE} must be a whole number ≥ 1. Got {named!r} instead.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = min(int(named or cores), _MOST)
    processes = sys.modules.get("multiprocessing.process")
    if memory.given() is not None or (processes is not None and processes.parent_process() is not None):
        return 0  # a limit is that of one process; one of many has its share of the cores already
    is_python = Path(sys.executable or "").name.lower().startswith("python")
    there = sum(hand.alive for hand in _hands)
    return max(0, min(most - 1, max(size // _WORTH_STARTING, min(there, size // _WORTH)))) if is_python else 0


def shared(work: Callable[[U], V], units: Sequence[U], hands: int, tell: Tell = lambda _, __: None) -> Iterator[V]:
    """Do the work to each unit, with so many hands, and yield what comes of each; `tell` is told how far it is.

    What a hand failed at, or one of our own errors stopped here, is done again here, in its turn, and raises what it
    raises. Any other error ends all at once: a signal may have raised it, such as that of a caller's limit of time.
    """
    hands = min(hands, len(units) - 1)
    message = _message(work) if hands > 0 else None
    helping = [] if message is None else _asked(hands)
    if message is None or not helping:
        for at, unit in enumerate(units, 1):
            found = work(unit)
            tell(at, len(units))
            yield found
        return
    lot = _Lot(units)
    _done_together(work, lot, message, helping, tell)
    for unit, (done, result) in zip(units, lot.found, strict=True):
        yield result if done else work(unit)


def _done_together(work: Callable[[U], V], lot: _Lot, message: bytes, helping: list[_Hand], tell: Tell) -> None:
    """Do all units of a lot, or those before the first that fails."""
    idle = [*helping]
    try:
        with suppress(RuntimeError):  # no more threads are to be had
            for hand in helping:
                Thread(target=hand.help, args=(message, lot, len(helping)), daemon=True).start()
                idle.remove(hand)
        while not lot.over():  # one that ended gives back what it had
            if at := lot.take(1):
                lot.give(at, [_tried(work, lot.units[at[0]], _OURS)])
            tell(lot.done, len(lot.units))
    except BaseException:
        for hand in helping:
            hand.end()
        raise
    finally:
        for hand in idle:
            hand.rest()


def _message(work: Callable[[U], V]) -> bytes | None:
    """Return what hands are told, with the folder in which paths mean what they mean here; None if it cannot be."""
    try:
        return pickle.dumps((str(Path.cwd()), work))
    except (OSError, pickle.PicklingError, TypeError, AttributeError):  # a folder that is gone, a function without name
        return None


def _tried(work: Callable[[U], V], unit: U, errors: tuple[type[Exception], ...] = (Exception,)) -> tuple[bool, Any]:
    try:
        return True, work(unit)
    except errors:  # it is done again, in its turn
        return False, None


class _Lot:
    """Units of work in their order, of which each helper takes some; none is taken after one has failed.

    `found` says of each whether it is done, and what came of it.
    """

    def __init__(self, units: Sequence[Any]) -> None:
        self.units = units
        self.found: list[tuple[bool, Any]] = [(False, None)] * len(units)
        self._waiting = deque(range(len(units)))
        self._under_way = 0
        self._changed = Condition()

    @property
    def done(self) -> int:
        """How many units wait no longer and are not under way."""
        return len(self.units) - len(self._waiting) - self._under_way

    def take(self, number: int) -> list[int]:
        """Take the next units, so many of them if there are."""
        with self._changed:
            taken = [self._waiting.popleft() for _ in range(min(number, len(self._waiting)))]
            self._under_way += len(taken)
            return taken

    def some(self, helpers: int) -> list[int]:
        """Take units for a while: many at first, one at a time at the end."""
        return self.take(max(1, len(self._waiting) // (2 * helpers + 2)))

    def give(self, at: Sequence[int], found: Sequence[tuple[bool, Any]]) -> None:
        """Give what came of units; nothing if others have to do them."""
        with self._changed:
            if not found:
                self._waiting.extendleft(reversed(at))
            for place, each in zip(at, found, strict=False):
                self.found[place] = each
            if not all(done for done, _ in found):
                self._waiting.clear()
            self._under_way -= len(at)
            self._changed.notify_all()

    def over(self) -> bool:
        """Tell whether no unit waits or is under way, once one waits, none is under way, or a while has passed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._under_way, _PAUSE)
            return not (self._waiting or self._under_way)


class _Hand:
    """Another process, and the pipes to it. One that is `busy` has a thread here, which alone uses them."""

    def __init__(self) -> None:
        from subprocess import DEVNULL, PIPE, Popen

        alone = dict.fromkeys((VARIABLE, *_ONE_THREAD), "1")
        path = [each for each in sys.path if isinstance(each, str)]  # imports pass over what else is there
        alike = ["-I"] if sys.flags.isolated else []
        command = [sys.executable, *alike, "-c", _START.format(path=path, version=__version__)]
        self.process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={**os.environ, **alone})  # noqa: S603
        self.pipes: Any = self.process.stdin, self.process.stdout
        self.busy = False

    @property
    def alive(self) -> bool:
        """Tell whether it is there."""
        return self.process.poll() is None

    def help(self, message: bytes, lot: _Lot, helpers: int) -> None:
        """Do units of a lot until there are none."""
        at: list[int] = []
        try:
            self._send(message)
            self._answer()
            while at := lot.some(helpers):
                self._send(pickle.dumps([lot.units[place] for place in at]))
                lot.give(at, self._answer())
                at = []
        except Exception:  # noqa: BLE001 - it has gone, or cannot be told: others do what it had
            self.end()
            lot.give(at, [])
        finally:
            self.rest()

    def _send(self, message: bytes) -> None:
        pickle.dump(message, self.pipes[0])
        self.pipes[0].flush()

    def _answer(self) -> Any:
        return pickle.load(self.pipes[1])  # noqa: S301 - of a process of ours

    def rest(self) -> None:
        """Have nothing to do."""
        self.busy = False
        if not self.alive:
            self.close()

    def end(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Close the pipes of one that has ended."""
        for pipe in self.pipes:
            with suppress(OSError):
                pipe.close()


_hands: list[_Hand] = []
_asking = Lock()


def _asked(number: int) -> list[_Hand]:
    """Return hands that are free, so many if there can be; new ones are made."""
    with _asking:
        if not _hands:
            atexit.register(dismiss)
        for hand in [each for each in _hands if not each.busy and not each.alive]:
            hand.close()
            _hands.remove(hand)
        with suppress(OSError):  # no more processes are to be had
            while len(_hands) < number:
                _hands.append(_Hand())
        found = [hand for hand in _hands if not hand.busy][:number]
        for hand in found:
            hand.busy = True
        return found


def dismiss() -> None:
    """End all hands."""
    while _hands:
        hand = _hands.pop()
        hand.end()
        if not hand.busy:  # else its thread does
            hand.close()


def _leave_to_the_parent() -> None:
    """In a process that was forked: the hands are those of another."""
    global _asking
    nowhere = os.open(os.devnull, os.O_RDWR)
    while _hands:
        hand = _hands.pop()
        hand.process.returncode = 0  # it is not ours to wait for
        for pipe in hand.pipes:
            with suppress(OSError, ValueError):  # it is closed
                # What was being sent at that moment is sent by the parent alone.
                os.dup2(nowhere, pipe.fileno(), inheritable=False)
    os.close(nowhere)
    _asking = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)


def _follow(caller: int) -> None:
    """End when the caller has, however that was."""
    while os.getppid() == caller:
        time.sleep(_PAUSE)
    os._exit(0)


def serve(version: str) -> None:
    """Do what comes on standard input, and answer on standard output; end where that ends, or nothing comes.

    Also where the caller has another release, which was replaced since it began: both may measure differently.
    """
    import signal

    if version != __version__:
        os._exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # those are for the caller
    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing else is said there
    Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    work: Any = None
    while True:
        patience = Timer(_PATIENCE, os._exit, (0,))
        patience.daemon = True
        patience.start()
        try:
            message = pickle.loads(pickle.load(source))  # noqa: S301 - of a process of ours
        except (EOFError, OSError):
            os._exit(0)
        patience.cancel()
        if isinstance(message, list):
            answer: Any = [_tried(work, unit) for unit in message]
        else:
            (folder, work), answer = message, True
            os.chdir(folder)
        pickle.dump(answer, target)
        target.flush()
