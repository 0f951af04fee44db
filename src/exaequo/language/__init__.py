"""The language of results: English, or one that has a file here. In: English with its numbers. Out: text for people.

English stands in the code, `say("{n:,} {n:topic|topics}", n=3)`, and is the key of what another language says; what
that lacks is said in English. Help, errors, warnings and data for programs are English always. A language is spoken
inside `with speaking("fr"):` and nowhere else; no file is read for English.
"""

from __future__ import annotations

import os
import string
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from numbers import Number
from pathlib import Path
from typing import Any

from exaequo.errors import BadParameter

ENGLISH = "en"
_HOME = Path(__file__).parent
#: One file each; English first.
LANGUAGES = tuple(sorted((path.stem for path in _HOME.glob("*.toml")), key=lambda name: (name != ENGLISH, name)))
_SPOKEN: ContextVar[str] = ContextVar("language", default=ENGLISH)


@contextmanager
def speaking(lang: str) -> Iterator[None]:
    """Say results in a language, as long as the context lasts."""
    token = _SPOKEN.set(known(lang))
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def spoken() -> str:
    """Return the language spoken now."""
    return _SPOKEN.get()


def known(lang: str) -> str:
    """Return a language, if there is one of this name."""
    if lang not in LANGUAGES:
        raise BadParameter(f"lang must be one of {', '.join(LANGUAGES)}. Got {lang!r} instead.")
    return lang


def of_locale() -> str:
    """Return the language of the user, as the environment says; English if there is no file of it."""
    named = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    lang = named[:2].lower()
    return lang if lang in LANGUAGES and named[2:3] in ("", "_", ".", "@", "-") else ENGLISH


@lru_cache(maxsize=8)
def sentences(lang: str) -> dict[str, dict[str, Any]]:
    """Return all that the file of a language says; what it lacks is English."""
    import tomllib

    own = tomllib.loads((_HOME / f"{known(lang)}.toml").read_text(encoding="utf-8"))
    if lang == ENGLISH:
        return own
    english = sentences(ENGLISH)
    return {part: {**english.get(part, {}), **own.get(part, {})} for part in {**english, **own}}


def plural(value: float, forms: str, lang: str) -> str:
    """Return the one of two forms, `topic|topics`, that a number takes."""
    one, many = forms.split("|")
    if lang == ENGLISH:
        return one if abs(value) == 1 else many
    grammar = sentences(lang)["grammar"]
    return one if abs(value) in grammar["one"] or abs(value) < grammar["below"] else many


def number(text: str, lang: str | None = None) -> str:
    """Write a number, as Python writes it, with the marks of the language spoken, or of another."""
    return text.translate(dict(zip(map(ord, ".,"), marks(lang), strict=True)))


def marks(lang: str | None = None) -> tuple[str, str]:
    """Return the marks of decimals and of thousands."""
    lang = spoken() if lang is None else lang
    if lang == ENGLISH:
        return ".", ","
    grammar = sentences(lang)["grammar"]
    return grammar["decimal"], grammar["thousands"]


class _Speaker(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a number in the language, choose a form by it, and leave all else as it is."""
        if "|" in format_spec:
            return plural(value, format_spec, spoken())
        text = format(value, format_spec)
        return number(text) if isinstance(value, Number) else text


_SPEAKER = _Speaker()


def say(english: str, /, **values: Any) -> str:
    """Return a sentence in the language spoken, its values in their places: `{n:,}`, or `{n:topic|topics}`."""
    return _SPEAKER.vformat(template(english), (), values)


def template(english: str) -> str:
    """Return a sentence in the language spoken, with the places of its values open."""
    return _found(("message", "word", "head"), english)


def word(english: str) -> str:
    """Return a word of ours that stands alone: the head of a column, a verdict."""
    return _found(("word", "head"), english)


def strategy(name: str) -> str:
    """Return the name of a tie strategy."""
    return _found(("strategy",), name)


def _found(parts: Sequence[str], english: str) -> str:
    """Return what the first of these parts of the file has for it."""
    lang = spoken()
    if lang == ENGLISH:
        return english
    words = sentences(lang)
    found: str = next((words[part][english] for part in parts if english in words.get(part, ())), english)
    return found
