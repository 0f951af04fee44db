"""Reading ahead: the order, the errors and the memory of reading one run after the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest

from exaequo import memory
from exaequo.errors import bad_input
from exaequo.read import Run, Source
from exaequo.read.ahead import ahead

LONG, SHORT = 20_000, 2


def runs_of(heights: list[int], log: list[str]) -> Iterator[Run]:
    for number, height in enumerate(heights):
        log.append(f"read {number} {'here' if threading.current_thread() is threading.main_thread() else 'aside'}")
        if height < 0:
            raise bad_input(f"run {number}", "something", "something else", "Mend it.")
        assert memory.given() == 5_000_000
        yield Run(str(number), pl.DataFrame({"sim": np.zeros(height)}), Source("f"))


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    token = memory._GIVEN.set(5_000_000)
    yield
    memory._GIVEN.reset(token)


def test_long_runs_are_read_while_others_are_evaluated() -> None:
    log: list[str] = []
    names = [run.name for run in ahead(runs_of([LONG, LONG, SHORT, SHORT, LONG], log))]
    assert names == ["0", "1", "2", "3", "4"]
    assert [each.split()[2] for each in log] == ["here", "aside", "aside", "here", "here"]


def test_what_is_wrong_is_raised_in_its_turn() -> None:
    found = ahead(runs_of([LONG, -1], []))
    assert next(found).name == "0"
    with pytest.raises(Exception, match="run 1"):
        next(found)


def test_of_runs_that_fill_the_memory_there_is_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exaequo.read.ahead._MOST", LONG - 1)
    log: list[str] = []
    found = ahead(runs_of([LONG, LONG], log))
    next(found)
    assert log == ["read 0 here"]
    next(found)
    assert log == ["read 0 here", "read 1 here"]


def test_no_runs() -> None:
    assert list(ahead(iter([]))) == []
