"""The archive: tracks of editions, each with judgments and runs. In: a folder or a manifest. Out: `Edition`s.

A folder holds `TRACK/EDITION/qrels*` and `TRACK/EDITION/runs/*`, packed or not. A manifest is TOML::

    [[edition]]
    track = "adhoc"
    edition = "1999"
    qrels = "qrels.401-450.gz"          # or several
    runs = ["runs/*.gz"]                # paths and patterns, from the manifest's own folder
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exaequo.errors import InputError, UsageError, bad_input
from exaequo.read.source import load
from exaequo.read.trec import quoted
from exaequo.study.editions import SUMS
from exaequo.text import did_you_mean


@dataclass(frozen=True)
class Edition:
    """One edition of a track: its judgments, in one file or several, and its runs."""

    track: str
    name: str
    qrels: tuple[str, ...]
    runs: tuple[str, ...]

    @property
    def label(self) -> str:
        """How the edition is called in messages."""
        return f"{self.track} {self.name}"


_KEYS = ("track", "edition", "qrels", "runs")
#: Endings of what editors and backups leave behind.
_LEFTOVERS = ("~", ".bak", ".orig", ".swp")


def _refused(path: Path, found: str, expected: str, mend: str) -> InputError:
    return bad_input(str(path), found, expected, mend)


def find(archive: str | Path, tracks: Sequence[str] = (), editions: Sequence[str] = ()) -> list[Edition]:
    """Return the editions of an archive, those asked for if any are; an incomplete one has no qrels, or no runs."""
    path = Path(archive)
    if not os.access(path, os.F_OK):
        raise _refused(path, "there is no such file or folder", "an archive", "Check the path.")
    found = _from_manifest(path) if path.is_file() else _from_folder(path)
    for edition in found:
        if {edition.track, edition.name} & {*SUMS}:
            expected = f"other names than {', '.join(SUMS)}, as sums are called"
            raise _refused(path, f"there is {edition.label}", expected, "Rename it.")
    for what, asked, known in (
        ("track", tracks, {edition.track for edition in found}),
        ("edition", editions, {edition.name for edition in found}),
    ):
        for name in asked:
            if name not in known:
                hint = did_you_mean(name, known) or f"; there are {', '.join(sorted(known))}."
                raise UsageError(f"There is no {what} {name!r} in {path}{hint}")
    return [
        edition
        for edition in found
        if (not tracks or edition.track in tracks) and (not editions or edition.name in editions)
    ]


def _from_folder(folder: Path) -> list[Edition]:
    editions = []
    for place in sorted(folder.glob("*/*")):
        if place.name.startswith(".") or place.parent.name.startswith("."):
            continue
        qrels = [str(each) for each in sorted(place.glob("qrels*")) if _is_data(each)]
        inside = sorted(place.glob("runs/*"))
        runs = [str(each) for each in inside if _is_data(each) or each.is_dir() or each.is_symlink()]
        if qrels or runs:
            editions.append(Edition(place.parent.name, place.name, tuple(qrels), tuple(runs)))
    if not any(edition.qrels and edition.runs for edition in editions):
        expected, mend = "TRACK/EDITION/qrels* and TRACK/EDITION/runs/*", "Arrange the files so, or write a manifest."
        raise _refused(folder, "there is no edition in this folder", expected, mend)
    return editions


def _from_manifest(path: Path) -> list[Edition]:
    try:
        content = tomllib.loads(load(str(path))[0].decode())
        repr(content)  # a number of thousands of digits cannot be written
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"not TOML ({error})", "a manifest", "Mend it.") from None
    entries = content.get("edition")
    if not isinstance(entries, list) or not entries:
        raise _refused(path, "there is no [[edition]]", "one or more", "Add them.")
    places: dict[tuple[str, str], Edition] = {}
    for edition in [_edition(path, number, entry) for number, entry in enumerate(entries, 1)]:
        if places.setdefault((edition.track, edition.name), edition) is not edition:
            raise _refused(path, f"{edition.label} is there twice", "each edition once", "Delete one, or rename it.")
    return [places[place] for place in sorted(places)]


def _edition(path: Path, number: int, entry: Any) -> Edition:
    def refuse(found: str, expected: str) -> InputError:
        return _refused(path, f"edition {number}: {found}", expected, "Mend the manifest.")

    if not isinstance(entry, dict):
        raise refuse("not a table", ", ".join(_KEYS))
    for key in entry:
        if key not in _KEYS:
            raise refuse(f"unknown key {key!r}", f"only {', '.join(_KEYS)}")
    texts: dict[str, str] = {}
    for name in ("track", "edition"):
        value = entry.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise refuse(f"no {name}" if value is None else f"{name} is {value!r}", "a name")
        texts[name] = str(value)
    files: dict[str, tuple[str, ...]] = {}
    for name in ("qrels", "runs"):
        patterns = [entry[name]] if isinstance(entry.get(name), str) else entry.get(name)
        if not isinstance(patterns, list) or not all(isinstance(each, str) for each in patterns):
            raise refuse(f"no {name}", "a path or a list of paths")
        matched = {str(each) for pattern in patterns for each in _matching(path.parent, pattern)}
        if not matched:
            raise refuse(f"no file matches {name} = {patterns}", "at least one")
        files[name] = tuple(sorted(matched))
    return Edition(texts["track"], texts["edition"], files["qrels"], files["runs"])


def _matching(folder: Path, pattern: str) -> list[Path]:
    whole = Path(pattern)
    base = Path(whole.anchor) if whole.is_absolute() else folder
    try:
        return [each for each in base.glob(str(whole.relative_to(whole.anchor))) if _is_data(each)]
    except (ValueError, LookupError, RecursionError, OSError) as error:  # as many kinds as there are odd patterns
        found = f"the pattern {quoted(pattern)} cannot be read ({quoted(str(error))})"
        raise _refused(folder, found, "a path or a pattern", "Mend the manifest.") from None


def _is_data(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".") and not path.name.endswith(_LEFTOVERS)
