"""Groups that lie next to each other, put together. In: frames, one after the other. Out: blocks of whole groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from exaequo.frames import pl

#: Rows of a block, more or less: enough for arrays, few enough for memory.
ROWS = 400_000


def blocks(frames: Iterable[pl.DataFrame], key: Sequence[str], rows: int = ROWS) -> Iterator[pl.DataFrame]:
    """Yield blocks of so many rows or more, each of whole groups; a group is a stretch of rows with one key."""
    ready: list[pl.DataFrame] = []
    group: list[pl.DataFrame] = []
    size = 0
    for frame in frames:
        if not frame.height:
            continue
        start = _start_of_last(frame, key)
        if start or (group and not _same(group[-1], frame, key)):
            ready += [*group, frame[:start]] if start else group
            group = []
        group.append(frame[start:])
        size += frame.height
        if size >= rows and ready:
            yield pl.concat(ready, how="diagonal")  # columns that may be there may be so in some frames only
            ready, size = [], sum(each.height for each in group)
    if ready or group:
        yield pl.concat([*ready, *group], how="diagonal")


def _start_of_last(frame: pl.DataFrame, key: Sequence[str]) -> int:
    """Return the row in which the last group begins."""
    other = frame.select(pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).last()) for name in key)).to_series()
    at = other.arg_true()
    return int(at[-1]) + 1 if len(at) else 0


def _same(one: pl.DataFrame, two: pl.DataFrame, key: Sequence[str]) -> bool:
    return one.select(key).row(-1) == two.select(key).row(0)
