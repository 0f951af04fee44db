"""What files are called in the page. In: whole paths. Out: as much of their ends as tells them apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any


def shortened(inputs: dict[str, Any], *, whole: bool) -> Callable[[str], str]:
    """Return what writes a text with the names of files instead of their paths, unless whole paths are wanted."""
    paths = [inputs["qrels"]["file"], *(each["file"] for each in inputs["runs"])]
    names = {path: name for path, name in short_paths(paths).items() if path != name}
    if whole or not names:
        return lambda text: text
    known = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
    return lambda text: known.sub(lambda found: names[found[0]], text)


def short_paths(paths: Iterable[str]) -> dict[str, str]:
    """Return the name of each file, with as many of its folders as tell it apart from the others."""
    parts = {path: path.replace("\\", "/").split("/") for path in paths}
    names: dict[str, str] = {}
    for depth in range(1, max(map(len, parts.values()), default=1) + 1):
        ends = {path: "/".join(each[-depth:]) for path, each in parts.items() if path not in names}
        counted = list(ends.values())
        names |= {path: end for path, end in ends.items() if counted.count(end) == 1}
    return {path: names.get(path, path) for path in parts}
