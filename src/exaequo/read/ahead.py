"""Reading ahead: runs as they are read in, the same runs out, the next of them read while one is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context

from exaequo.read.records import Run

#: Lines of runs after which the next is read at once: with fewer a thread gains nothing, with more two runs are too
#: much for memory.
_LEAST, _MOST = 10_000, 1_000_000


def ahead(runs: Iterator[Run]) -> Iterator[Run]:
    """Yield runs in their order; what is wrong with one is raised in its turn."""
    context = copy_context()  # has the limit of memory
    with ThreadPoolExecutor(1, "reading") as reader:
        run = next(runs, None)
        while run is not None:
            following: Future[Run | None] | None = None
            if _LEAST <= run.height <= _MOST:
                following = reader.submit(lambda: context.run(next, runs, None))
            yield run
            run = None  # let go before the next is read
            run = next(runs, None) if following is None else following.result()
