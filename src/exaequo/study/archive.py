"""The archive: tracks of editions, each with judgments and runs. In: a folder or a manifest. Out: `Edition`s.

A folder holds `TRACK/EDITION/qrels*` and `TRACK/EDITION/runs/*`, packed or not. A manifest is TOML::

    [[edition]]
    track = "adhoc"
    edition = "1999"
    qrels = "qrels.401-450.gz"          # or several
    runs = ["runs/*.gz"]                # paths and patterns, from the manifest's own folder
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exaequo.errors import InputError, Problem, UsageError
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


#: Endings of what editors and backups leave behind.
_LEFTOVERS = ("~", ".bak", ".orig", ".swp")


def find(archive: str | Path, tracks: Sequence[str] = (), editions: Sequence[str] = ()) -> list[Edition]:
    """Return the editions of an archive, those asked for if any are; an incomplete one has no qrels, or no runs."""
    path = Path(archive)
    if not path.exists():
        raise InputError(Problem(str(path), None, "there is no such file or folder", "an archive", "Check the path."))
    found = _from_manifest(path) if path.is_file() else _from_folder(path)
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
        runs = [
            str(each) for each in sorted(place.glob("runs/*")) if _is_data(each) or each.is_dir() or each.is_symlink()
        ]
        if qrels or runs:
            editions.append(Edition(place.parent.name, place.name, tuple(qrels), tuple(runs)))
    if not any(edition.qrels and edition.runs for edition in editions):
        found = "there is no edition in this folder"
        expected = "TRACK/EDITION/qrels* and TRACK/EDITION/runs/*"
        raise InputError(Problem(str(folder), None, found, expected, "Arrange the files so, or write a manifest."))
    return editions


def _from_manifest(path: Path) -> list[Edition]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(Problem(str(path), None, f"not TOML ({error})", "a manifest", "Mend it.")) from None
    entries = content.get("edition")
    if not isinstance(entries, list) or not entries:
        raise InputError(Problem(str(path), None, "there is no [[edition]]", "one or more", "Add them."))
    editions = [_edition(path, number, entry) for number, entry in enumerate(entries, 1)]
    seen: set[tuple[str, str]] = set()
    for edition in editions:
        if (edition.track, edition.name) in seen:
            found = f"{edition.label} is there twice"
            raise InputError(Problem(str(path), None, found, "each edition once", "Delete one, or rename it."))
        seen.add((edition.track, edition.name))
    return sorted(editions, key=lambda edition: (edition.track, edition.name))


def _edition(path: Path, number: int, entry: Any) -> Edition:
    def refuse(found: str, expected: str) -> InputError:
        return InputError(Problem(str(path), None, f"edition {number}: {found}", expected, "Mend the manifest."))

    if not isinstance(entry, dict):
        raise refuse("not a table", "track, edition, qrels, runs")
    texts: dict[str, str] = {}
    for name in ("track", "edition"):
        value = entry.get(name)
        if not isinstance(value, str | int) or value == "":
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
    except ValueError as error:
        found = f"the pattern {pattern!r} cannot be read ({error})"
        raise InputError(Problem(str(folder), None, found, "a path or a pattern", "Mend the manifest.")) from None


def _is_data(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".") and not path.name.endswith(_LEFTOVERS)
