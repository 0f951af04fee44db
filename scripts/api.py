"""Write the reference of the package, docs/api.md, from the signatures and docstrings of what it offers."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import exaequo

TARGET = Path(__file__).parent.parent / "docs" / "api.md"
WIDTH = 100


class _Word:
    """Prints as it is: an annotation without quotes, a function by its name instead of its address."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __repr__(self) -> str:
        return self.word


def call(name: str, thing: Any) -> str:
    """Return how a function or a class is called, a line for each parameter if one line is not enough."""
    found = inspect.signature(thing)
    given = [each for each in found.parameters.values() if each.name not in ("self", "cls")]
    words = [str(each.replace(annotation=_bare(each.annotation), default=_same(each.default))) for each in given]
    stars = [at for at, each in enumerate(given) if each.kind is each.KEYWORD_ONLY]
    if stars and not any(each.kind is each.VAR_POSITIONAL for each in given):
        words.insert(stars[0], "*")
    out = "" if inspect.isclass(thing) or found.return_annotation is found.empty else f" -> {found.return_annotation}"
    line = f"{name}({', '.join(words)}){out}"
    return line if len(line) <= WIDTH else "\n".join([f"{name}(", *(f"    {word}," for word in words), f"){out}"])


def _bare(annotation: Any) -> Any:
    """Return an annotation that prints without quotes."""
    return _Word(annotation) if isinstance(annotation, str) else annotation


def _same(default: Any) -> Any:
    """Return a default that prints the same on every machine."""
    return _Word(default.__name__) if inspect.isfunction(default) else default


def prose(thing: Any) -> Iterator[str]:
    """Yield the paragraphs of a docstring; arguments become a list, what is indented a block."""
    for paragraph in (inspect.getdoc(thing) or "").split("\n\n"):
        head, _, rest = paragraph.partition("\n")
        if head == "Args:":
            named = re.split(r"\n {4}(?=\S)", "\n" + rest)[1:]
            yield "\n".join("- `{}`:{}".format(*" ".join(each.split()).partition(":")[::2]) for each in named)
        elif paragraph.startswith((" ", "=")):
            yield f"```\n{paragraph}\n```"
        elif paragraph:
            yield paragraph


def first(thing: Any) -> str:
    """Return the first paragraph of a docstring, in one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def function(name: str, thing: Any) -> Iterator[str]:
    """Yield what there is to say about a function."""
    yield f"### {name}"
    yield f"```\n{call(name, thing)}\n```"
    yield from prose(thing)


def klass(name: str, thing: type) -> Iterator[str]:
    """Yield what there is to say about a class: how it is made, its attributes, its methods."""
    yield f"### {name}"
    bases = ", ".join(base.__name__ for base in thing.__bases__ if base is not object)
    yield f"```\nclass {name}({bases})\n```" if bases else f"```\nclass {name}\n```"
    yield from prose(thing)
    for heading, lines in (("Attributes:", [*attributes(thing)]), ("Methods:", [*methods(thing)])):
        if lines:
            yield heading
            yield "\n".join(lines)


def members(thing: type) -> dict[str, Any]:
    """Return the public names of a class and of what it is made from, if that is ours."""
    ours = [each for each in reversed(thing.__mro__) if each.__module__.startswith("exaequo")]
    return {name: value for each in ours for name, value in vars(each).items() if not name.startswith("_")}


def attributes(thing: type) -> Iterator[str]:
    """Yield a line for each field and property."""
    for each in dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ():
        if not each.name.startswith("_"):
            yield f"- `{each.name}: {each.type}`"
    for name in getattr(thing, "_fields", ()):
        yield f"- `{name}`"
    for name, value in members(thing).items():
        if isinstance(value, (property, cached_property)):
            yield f"- `{name}`: {first(value)}"


def methods(thing: type) -> Iterator[str]:
    """Yield a line for each method."""
    for name, value in members(thing).items():
        if isinstance(value, (classmethod, staticmethod)) or inspect.isfunction(value):
            plain: Any = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            yield f"- `{' '.join(call(name, plain).split())}`: {first(plain)}"


def module(name: str, thing: ModuleType) -> Iterator[str]:
    """Yield what a module is for, a line for each function and class it offers, and for its modules if they are it."""
    yield f"### {name}"
    yield first(thing)
    listed = getattr(thing, "__all__", None)
    offered = {each: getattr(thing, each) for each in listed or vars(thing) if not each.startswith("_")}
    lines = [
        f"- `{each}`: {first(value)}"
        for each, value in offered.items()
        if inspect.isroutine(value) or inspect.isclass(value)
        if listed or value.__module__ == thing.__name__
    ]
    if not lines or name == "compat":
        parts = [import_module(f"{thing.__name__}.{each.name}") for each in iter_modules(thing.__path__)]
        lines = [f"- `{each.__name__}`: {first(each)}" for each in parts if "._" not in each.__name__] + lines
    yield "\n".join(lines)


def results(functions: dict[str, Any]) -> dict[str, type]:
    """Return the classes that functions return and the package does not name itself."""
    found: dict[str, type] = {}
    for thing in functions.values():
        for word in re.findall(r"\w+", str(inspect.signature(thing).return_annotation)):
            value = getattr(sys.modules[thing.__module__], word, None)
            if inspect.isclass(value) and value.__module__.startswith("exaequo") and word not in exaequo.__all__:
                found[word] = value
    return dict(sorted(found.items()))


def text() -> str:
    """Return the whole reference."""
    names = {name: getattr(exaequo, name) for name in exaequo.__all__ if name != "__version__"}
    functions = {name: thing for name, thing in names.items() if inspect.isfunction(thing)}
    classes = {name: thing for name, thing in names.items() if inspect.isclass(thing)}
    errors = {name: thing for name, thing in classes.items() if issubclass(thing, Exception)}
    sections: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("Functions", function, functions),
        ("What they return", klass, results(functions)),
        ("Classes", klass, {name: thing for name, thing in classes.items() if name not in errors}),
        ("Errors and warnings", klass, errors),
        ("Modules", module, {name: thing for name, thing in names.items() if inspect.ismodule(thing)}),
    )
    parts = ["# Package", "Made from the docstrings by `scripts/docs`: all that `import exaequo` offers."]
    for title, describe, things in sections:
        parts.append(f"## {title}")
        for name, thing in things.items():
            parts.extend(describe(name, thing))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
