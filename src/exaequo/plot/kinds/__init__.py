"""The kinds of pictures: one file each, found by its name and loaded when it is drawn.

The first line of a file is what the help of the command says of the kind; its function has the name of the file.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, get_args

from exaequo.errors import BadParameter
from exaequo.text import did_you_mean

if TYPE_CHECKING:
    from exaequo.plot.chart import Chart

P = ParamSpec("P")


class Kinds(Mapping[str, "Callable[..., Chart]"]):
    """The function of each kind, by the name the command knows; nothing is loaded before it is asked for."""

    def __init__(self, home: Path) -> None:
        self._files = {path.stem.replace("_", "-"): path for path in sorted(home.glob("[a-z]*.py"))}

    def __getitem__(self, name: str) -> Callable[..., Chart]:
        function = self._files[name].stem
        draw: Callable[..., Chart] = getattr(import_module(f"{__name__}.{function}"), function)
        return draw

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def about(self, name: str) -> str:
        """Return what a kind shows, from the first line of its file."""
        with self._files[name].open(encoding="utf-8") as file:
            return file.readline().strip().strip('"')


def options_of(function: Callable[..., Chart]) -> tuple[str, ...]:
    """Return the names a kind takes: its parameters, and the keys of `**options: Unpack[...]`."""
    known: list[str] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.kind == parameter.VAR_KEYWORD:
            (shape,) = get_args(parameter.annotation)
            known += sorted(shape.__optional_keys__)
        else:
            known.append(parameter.name)
    return tuple(known)


def takes_decisions(function: Callable[..., Chart]) -> bool:
    """Tell whether a kind can be drawn from tables of decisions, in place of judgments and runs."""
    runs = inspect.signature(function).parameters.get("runs")
    return runs is not None and runs.default is None


KINDS = Kinds(Path(__file__).parent)


def kind(function: Callable[P, Chart]) -> Callable[P, Chart]:
    """Make a function a kind.

    An option it does not know is refused; warnings point at who asked for the picture.
    """
    name = function.__name__.replace("_", "-")
    known = options_of(function)

    @wraps(function)
    def draw(*arguments: P.args, **options: P.kwargs) -> Chart:
        for given in options:
            if given not in known:
                hint = did_you_mean(given, known) or f"; it has {', '.join(known)}."
                raise BadParameter(f"The picture {name} has no option {given!r}{hint}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            chart = function(*arguments, **options)
        for warning in caught:
            warnings.warn(warning.message, warning.category, stacklevel=2)
        return chart

    return draw
