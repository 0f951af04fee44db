"""JSON text: the outermost values and their lines. In: bytes, one value or an object a line. Out: `Values`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from exaequo.errors import InputError, Problem, bad_input
from exaequo.read.foreign import text_of
from exaequo.read.trec import quoted

_SPACE = re.compile(r"[ \t\n\r]*")
_UNREADABLE = "no value that can be read: too deep, a number of too many digits, or half a character"
_TWICE = "Delete one, or put their values into one."


class Values(NamedTuple):
    """What stands in a JSON object, by its keys, or in a list, without; and the line in which each value begins."""

    keys: Sequence[str] | None
    values: list[Any]
    lines: list[int]

    def whole(self) -> Mapping[str, Any] | list[Any]:
        """Return all of it."""
        return self.values if self.keys is None else dict(zip(self.keys, self.values, strict=True))


class _Refused(ValueError):
    """What JSON allows, or Python, but not here."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _Refused(f"{quoted(Counter(key for key, _ in pairs).most_common(1)[0][0])} is here twice")
    return made


def _constant(name: str) -> None:  # NaN and Infinity are Python's, not JSON's
    raise _Refused(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def of_json(data: bytes, name: str) -> Values:
    """Read a JSON object or list, value by value."""
    text = text_of(data, name)
    scanner = _Scanner(text, name)
    by_key = scanner.take("{")
    if not by_key and not scanner.take("["):
        scanner.refuse("this is no JSON object or list")
    scanned = [*scanner.inside("}" if by_key else "]", by_key=by_key)]
    lines, line, counted = [], 1, 0
    for _, _, start in scanned:
        line, counted = line + text.count("\n", counted, start), start
        lines.append(line)
    keys = [key for key, _, _ in scanned]
    if by_key and len({*keys}) < len(keys):
        key, times = Counter(keys).most_common(1)[0]
        last = max(at for at, each in enumerate(keys) if each == key)
        raise bad_input(name, f"{quoted(key)} is here {times} times", "each key once", _TWICE, line=lines[last])
    return Values(keys if by_key else None, [value for _, value, _ in scanned], lines)


class _Scanner:
    """A place in JSON text that moves on value by value."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.at = _after_space(text, 0)

    def take(self, sign: str) -> bool:
        """Tell whether this sign is here; if so, go on behind it and the space that follows."""
        here = self.text.startswith(sign, self.at)
        if here:
            self.at = _after_space(self.text, self.at + len(sign))
        return here

    def inside(self, closing: str, *, by_key: bool) -> Iterator[tuple[str, Any, int]]:
        """Yield key, if there are any, value, and where it begins, up to the closing bracket, which ends the text."""
        ended = self.take(closing)
        while not ended:
            start, key = self.at, self.value() if by_key else ""
            if not isinstance(key, str) or (by_key and not self.take(":")):
                self.refuse("no key and value here")
            yield key, self.value(), start
            ended = self.take(closing)
            if not ended and not self.take(","):
                self.refuse(f"neither a comma nor {closing} here")
        if self.at < len(self.text):
            self.refuse("there is more after the end")

    def value(self) -> Any:
        """Return the value that is here, and go on behind it."""
        try:
            value, end = _DECODER.raw_decode(self.text, self.at)
            _refuse_halves(value, self.text[self.at : end])
        except json.JSONDecodeError as error:
            self.at = error.pos
            self.refuse(f"no JSON ({error.msg})")
        except (ValueError, RecursionError) as error:
            self.refuse(_why(error))
        self.at = _after_space(self.text, end)
        return value

    def refuse(self, found: str) -> NoReturn:
        """Raise InputError with the line of this place."""
        line = self.text.count("\n", 0, self.at) + 1
        here = quoted(self.text[self.at : self.at + 40].partition("\n")[0])
        raise bad_input(self.name, f"{found} ({here})", "a JSON object or list", "Mend the line.", line=line)


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _refuse_halves(value: Any, text: str) -> None:
    """Raise ValueError if strings of a value hold half of a pair of surrogates, which no text can."""
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()


def _why(error: Exception) -> str:
    """Return what is wrong with a value, if not its syntax."""
    return str(error) if isinstance(error, _Refused) else _UNREADABLE


def first_line(data: bytes) -> Any:
    """Return the first value of JSON lines; None if it is none."""
    start = data.lstrip()
    try:
        return json.loads(start[: start.find(b"\n")] if b"\n" in start else start)
    except (ValueError, RecursionError):
        return None


def of_lines(data: bytes, name: str) -> Values:
    """Read JSON lines; raise InputError with every line that is no object."""
    found = Values(None, [], [])
    problems = []
    for number, line in enumerate(text_of(data, name).split("\n"), 1):
        if not line.strip():
            continue
        try:
            value, why = _DECODER.decode(line), ""
            _refuse_halves(value, line)
        except json.JSONDecodeError:
            value, why = None, "not a JSON object"
        except (ValueError, RecursionError) as error:
            value, why = None, _why(error)
        if not isinstance(value, dict):
            what = f"{why or 'not a JSON object'} ({quoted(line)})"
            problems.append(Problem(name, number, what, "one object a line", "Mend the line."))
        found.values.append(value)
        found.lines.append(number)
    if problems:
        raise InputError(problems)
    return found
