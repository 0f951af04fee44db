"""The kinds of pictures: a function each, registered under the name the command knows."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from exaequo.errors import BadParameter
from exaequo.plot.chart import Chart
from exaequo.text import did_you_mean

P = ParamSpec("P")
KINDS: dict[str, Callable[..., Chart]] = {}
#: What each kind takes, by name.
OPTIONS: dict[str, tuple[str, ...]] = {}


def kind(shape: Any) -> Callable[[Callable[P, Chart]], Callable[P, Chart]]:
    """Register a kind, whose keywords beyond its own have this shape.

    An option it does not know is refused; warnings point at who asked for the picture.
    """

    def decorate(function: Callable[P, Chart]) -> Callable[P, Chart]:
        name = function.__name__.replace("_", "-")
        own = [each.name for each in inspect.signature(function).parameters.values() if each.kind != each.VAR_KEYWORD]
        known = OPTIONS[name] = (*own, *sorted(shape.__optional_keys__))

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

        KINDS[name] = draw
        return draw

    return decorate
