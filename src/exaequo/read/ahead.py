"""Reading ahead: runs as they are read in, the same runs out, the next of them read while one is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import copy_context
from threading import Thread

from exaequo.read.records import Run

#: Lines of runs after which the next is read at once: with fewer a thread gains nothing, with more two runs are too
#: much for memory.
_LEAST, _MOST = 10_000, 1_000_000


class _Reading(Thread):
    """The next run, on its way."""

    def __init__(self, runs: Iterator[Run]) -> None:
        super().__init__(name="reading", daemon=True)
        self._runs, self._context = runs, copy_context()  # has the limit of memory
        self._run: Run | None = None
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Read it."""
        try:
            self._run = self._context.run(next, self._runs, None)
        except BaseException as error:  # noqa: BLE001 - raised in its turn
            self._error = error

    def result(self) -> Run | None:
        """Wait for the run; raise what was wrong with it."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._run


def ahead(runs: Iterator[Run]) -> Iterator[Run]:
    """Yield runs in their order; what is wrong with one is raised in its turn."""
    run = next(runs, None)
    while run is not None:
        following = _Reading(runs) if _LEAST <= run.height <= _MOST else None
        yield run
        run = None  # let go before the next is read
        run = next(runs, None) if following is None else following.result()
