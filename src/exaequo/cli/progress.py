"""Progress: what a command is doing, once it takes long. In: what is done now. Out: a bar on a terminal, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, Timer
from typing import Any

from exaequo.text import on_one_line

#: Seconds before there is anything to see.
PATIENCE = 2.0


@dataclass
class _Bar:
    """What is being done, how far it is, and the bar, if it is there yet."""

    text: str
    done: int = 0
    total: int | None = None
    over: bool = False
    drawn: Any = None
    lock: Any = field(default_factory=Lock)

    def draw(self) -> None:
        """Begin to draw; rich takes a while to import, and is not needed before."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
        bar = Progress(
            *columns,
            BarColumn(20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        with self.lock:
            if not self.over:
                bar.add_task(self.text, completed=self.done, total=self.total)
                self.drawn = bar
                bar.start()

    def tell(self, text: str, done: int, total: int | None) -> None:
        """Say what is done now."""
        with self.lock:
            self.text, self.done, self.total = on_one_line(text), done, total
            if self.drawn is not None:
                self.drawn.tasks[0].total = total  # an update cannot forget a total
                self.drawn.update(self.drawn.task_ids[0], description=self.text, completed=done)

    def above(self, line: str) -> bool:
        """Print a line above the bar, which stays; tell whether there is one."""
        with self.lock:
            there = self.drawn is not None and not self.over
            if there:
                self.drawn.console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)
            return there

    def hide(self) -> None:
        """Leave the terminal to the results."""
        with self.lock:
            self.over = True
            if self.drawn is not None:
                self.drawn.stop()


_bar: _Bar | None = None


@contextmanager
def shown(text: str) -> Iterator[None]:
    """Show on a terminal what is being done, if it takes long."""
    global _bar
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    _bar = bar = _Bar(on_one_line(text))
    timer = Timer(PATIENCE, bar.draw)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        bar.hide()
        _bar = None


def doing(text: str, done: int = 0, total: int | None = None) -> None:
    """Say what is being done now, and how far it is."""
    if _bar is not None:
        _bar.tell(text, done, total)


def above(line: str) -> bool:
    """Print a line to standard error above the bar, if there is one; tell whether there is."""
    return _bar is not None and _bar.above(line)


def hide() -> None:
    """Take the bar away before results are printed; it does not come back."""
    if _bar is not None:
        _bar.hide()


def over(paths: Sequence[str], what: str) -> Iterator[str]:
    """Go through files, and say which one it is."""
    for at, path in enumerate(paths):
        doing(f"{what} {path}", at, len(paths))
        yield path
    doing("computing")
