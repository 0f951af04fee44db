"""What a project asks of its gate: `exaequo.toml`, or its table in `pyproject.toml`. Out: a `Configuration`, checked.

The table is `[gate]`, in pyproject.toml `[tool.exaequo.gate]`; its keys are the options of the command.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from exaequo.choices import STDIN
from exaequo.comparison.margin import Margin
from exaequo.errors import InputError, UsageError, bad_input
from exaequo.gating.rule import Rule, bars, floor_of
from exaequo.gating.slices import checked
from exaequo.measures import parse_measures
from exaequo.options import Options
from exaequo.read.source import load
from exaequo.text import did_you_mean

OWN, SHARED = "exaequo.toml", "pyproject.toml"
_FILES = ("qrels", "baseline", "candidate")


@dataclass(frozen=True)
class Configuration:
    """What a file says: the three files, options by their names in the command, measures, slices; empty if none."""

    path: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    slices: Mapping[str, list[str]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class _Key(NamedTuple):
    """What a key may hold: types, in words, and a check that raises a UsageError."""

    types: tuple[type, ...]
    expected: str
    check: Callable[[Any], object] = lambda value: value
    option: str = ""


def _rule(name: str) -> Callable[[Any], object]:
    return lambda value: Rule(**{name: value})


def _evaluation(name: str) -> Callable[[Any], object]:
    return lambda value: Options(**{name: value})


def _measures(value: Any) -> object:
    return bars(value) if isinstance(value, Mapping) else parse_measures(value)


_NUMBER, _WHOLE, _FLAG = (int, float), (int,), _Key((bool,), "true or false")
_KEYS = {
    **dict.fromkeys(_FILES, _Key((str,), "a path")),
    "measures": _Key((list, dict), 'names, as ["nDCG@10", "AP"], or a table of drops', _measures),
    "max-drop": _Key((str, *_NUMBER), 'the loss allowed, as 0.01 or "1%"', Margin.of),
    "floors": _Key((list,), 'conditions, as ["nDCG@10 >= 0.45"]', lambda value: [*map(floor_of, value)]),
    "slices": _Key((str, dict), "a path, or a table of labels with their topics"),
    "strict-slices": _FLAG._replace(option="strict"),
    "min-topics": _Key(_WHOLE, "a whole number ≥ 2", _rule("min_topics")),
    "test": _Key((str,), "t, randomization or bootstrap", _rule("test")),
    "alpha": _Key(_NUMBER, "a number between 0 and 0.5", _rule("alpha")),
    "samples": _Key(_WHOLE, "a whole number from 100 to 10,000,000", _rule("samples")),
    "seed": _Key(_WHOLE, "a whole number ≥ 0", _evaluation("seed")),
    "ties": _Key((str, list), "fair, robust, a strategy, or several", _rule("ties")),
    "equivalence": _FLAG,
    "depth": _Key(_WHOLE, "a whole number ≥ 1", _evaluation("depth")),
    "missing": _Key((str,), "zero, skip or error", _evaluation("missing")),
    "rel-level": _Key(_NUMBER, "a number above 0", _evaluation("rel_level")),
    "max-grade": _Key(_NUMBER, "a number above 0", _evaluation("max_grade")),
    "precision": _Key((str,), "double or single", _evaluation("precision")),
}


def configuration(path: str | None = None) -> Configuration:
    """Return what a file says, or what one in the current folder does; nothing if there is none."""
    if path is not None:
        found = _read(path)
        if found is None:
            raise bad_input(path, "no table for a gate", f"[{_table(path)}]", "Add it, or name another file.")
        return found
    there = [found for name in (OWN, SHARED) if Path(name).is_file() and (found := _read(name)) is not None]
    if len(there) == 2:
        note = f"both {OWN} and {SHARED} ask for a gate; {OWN} counts"
        return replace(there[0], warnings=(note,))
    return there[0] if there else Configuration()


def _table(path: str) -> str:
    return "tool.exaequo.gate" if Path(path).name == SHARED else "gate"


def _read(path: str) -> Configuration | None:
    """Read a file; None if it does not speak of a gate."""
    data, source = load(path)
    if Path(path).name == SHARED and b"exaequo" not in data:  # whatever else is in it
        return None
    try:
        text = data.decode()
        content: Any = tomllib.loads(text)
        repr(content)  # a number of thousands of digits cannot be written
    except (ValueError, RecursionError) as error:
        at = re.search(r"\(at line (\d+)", str(error))
        line = int(at[1]) if at else data.rstrip().count(b"\n") + 1
        raise bad_input(source.name, f"not TOML ({error})", "TOML", "Mend it there.", line=line) from None
    for part in _table(path).split("."):
        content = content.get(part) if isinstance(content, dict) else None
    if content is None:
        return None
    return _File(source.name, text, _table(path)).configuration(content)


@dataclass(frozen=True)
class _File:
    """A file, its text for the lines of messages, and the name of its table."""

    name: str
    text: str
    table: str

    def configuration(self, content: Any) -> Configuration:
        """Check every key; return what they say."""
        if not isinstance(content, dict):
            raise self._bad("gate", f"{self.table} = {content!r}", f"a table [{self.table}]", "Make it one.")
        for key, value in content.items():
            self._check(key, value)
        rest = {key: value for key, value in content.items() if key not in (*_FILES, "measures", "slices")}
        options = {_KEYS[key].option or key.replace("-", "_"): value for key, value in rest.items()}
        if isinstance(options.get("ties"), str):
            options["ties"] = [options["ties"]]
        measures, slices = content.get("measures", {}), content.get("slices", {})
        if isinstance(measures, list):
            options["measures"] = measures
        if isinstance(slices, str):
            options["slices"] = self._path(slices)
        return Configuration(
            self.name,
            {key: self._path(content[key]) for key in _FILES if key in content},
            options,
            measures if isinstance(measures, dict) else {},
            checked(slices) if isinstance(slices, dict) else {},
        )

    def _path(self, path: str) -> str:
        """Paths are relative to the file."""
        return path if path == STDIN else str(Path(self.name).parent / path)

    def _check(self, key: str, value: Any) -> None:
        known = _KEYS.get(key)
        if known is None:
            mend = did_you_mean(key, _KEYS).removeprefix("; ").capitalize() or "Delete it."
            raise self._bad(key, f"unknown key {key!r}", f"one of {', '.join(_KEYS)}", mend)
        found, mend = f"{key} = {value!r}", "Mend it there."
        wrong = isinstance(value, bool) != (known.types == (bool,)) or not isinstance(value, known.types)
        if isinstance(value, list) and not all(isinstance(each, str) for each in value):
            wrong = True
        if wrong or value in ("", [], {}):
            raise self._bad(key, found, known.expected, mend)
        try:
            known.check(checked(value) if key == "slices" and isinstance(value, dict) else value)
        except UsageError as error:
            raise self._bad(key, found, known.expected, str(error)) from None

    def _bad(self, key: str, found: str, expected: str, mend: str) -> InputError:
        return bad_input(self.name, found, expected, mend, line=self._line(key))

    def _line(self, key: str) -> int | None:
        """Return the line a key stands in, after the head of its table if it has one."""
        quoted = f"[\"']?{re.escape(key)}[\"']?"
        head = re.search(rf"^[ \t]*\[[ \t]*{re.escape(self.table)}[ \t]*\]", self.text, re.MULTILINE)
        inside = rf"\[[ \t]*{re.escape(self.table)}\.{quoted}[ \t]*[].]"
        own = re.compile(rf"^[ \t]*(?:{quoted}[ \t]*[=.]|{inside})", re.MULTILINE)
        found = own.search(self.text, head.end() if head else 0) or own.search(self.text)
        return None if found is None else self.text.count("\n", 0, found.end()) + 1
