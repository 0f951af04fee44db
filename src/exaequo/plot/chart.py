"""A chart: a Vega-Lite specification as a plain dict, which draws itself in a notebook and saves itself to a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exaequo.errors import BadParameter, ExaequoError
from exaequo.writing import write_whole

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
VERSION = "5.21"
FORMATS = ("svg", "png", "pdf", "html", "json")
SIZES = {"column": (320, 220, 10), "page": (560, 340, 12), "slide": (900, 500, 18)}
#: Okabe and Ito: told apart by people who do not see all colours.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
ON_DARK = ("#56B4E9", "#E69F00", "#2BC49A", "#E6A0C4", "#F0E442", "#8CC8F0", "#FFFFFF", "#C9A66B")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 3], [10, 4], [6, 2, 1, 2, 1, 2])


class Chart(dict[str, Any]):
    """A Vega-Lite specification; `save` draws it, offline."""

    def save(self, path: str | Path, *, scale: float = 2.0) -> None:
        """Write to a file; its ending says how: svg, png, pdf, html or json."""
        kind = Path(path).suffix.lower().lstrip(".")
        if kind not in FORMATS:
            raise BadParameter(f"A picture is one of {', '.join('.' + each for each in FORMATS)}. Got {str(path)!r}.")
        write_whole(path, self.drawn(kind, scale=scale))

    def drawn(self, kind: str, *, scale: float = 2.0) -> bytes:
        """Return the picture."""
        if kind == "json":
            return (json.dumps(self, indent=1, ensure_ascii=False) + "\n").encode()
        try:
            import vl_convert
        except ImportError:
            raise ExaequoError("Drawing needs vl-convert-python: pip install 'exaequo[plot]'") from None
        spec = dict(self)
        if kind == "svg":
            return str(vl_convert.vegalite_to_svg(spec, vl_version=VERSION)).encode()
        if kind == "html":
            return str(vl_convert.vegalite_to_html(spec, vl_version=VERSION, bundle=True)).encode()
        if kind == "pdf":
            return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=VERSION))
        return bytes(vl_convert.vegalite_to_png(spec, vl_version=VERSION, scale=scale))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": dict(self), "image/svg+xml": self.drawn("svg").decode()}


def chart(
    layers: Sequence[dict[str, Any]] | dict[str, Any],
    *,
    title: str = "",
    note: str = "",
    size: str = "page",
    dark: bool = False,
    height: float | None = None,
) -> Chart:
    """Put layers together, with readable defaults: sizes for a paper column, a page or a slide; light or dark."""
    if size not in SIZES:
        raise BadParameter(f"size must be one of {', '.join(SIZES)}. Got {size!r} instead.")
    width, usual, font = SIZES[size]
    ink, paper, faint = ("#EEEEEE", "#1B1B1F", "#55555E") if dark else ("#222222", "#FFFFFF", "#DDDDDD")
    spec: dict[str, Any] = {
        "$schema": SCHEMA,
        "width": width,
        "height": height or usual,
        "background": paper,
        "padding": 8,
        "title": {
            "text": title,
            "subtitle": note,
            "anchor": "start",
            "fontSize": font * 1.15,
            "subtitleFontSize": font,
        },
        "config": {
            "font": "DejaVu Sans, Helvetica, Arial, sans-serif",
            "title": {"color": ink, "subtitleColor": ink, "subtitlePadding": 4, "offset": 10},
            "axis": {
                "labelFontSize": font,
                "titleFontSize": font,
                "labelColor": ink,
                "titleColor": ink,
                "gridColor": faint,
                "domainColor": ink,
                "tickColor": ink,
                "titlePadding": 8,
                "labelLimit": 260,
            },
            "legend": {"labelFontSize": font, "titleFontSize": font, "labelColor": ink, "titleColor": ink},
            "text": {"fontSize": font, "color": ink},
            "rule": {"color": ink},
            "view": {"stroke": None},
            "header": {"labelFontSize": font, "labelColor": ink, "titleColor": ink},
        },
    }
    if isinstance(layers, dict):
        spec.update(layers)
    else:
        spec["layer"] = list(layers)
    return Chart(spec)


def channels(names: Sequence[str], dark: bool) -> dict[str, dict[str, Any]]:
    """Return colour, shape and dash of each name, so that none is told by colour alone; lines have labels."""
    colours = ON_DARK if dark else COLOURS
    domain = list(names)

    def scale(values: Sequence[Any]) -> dict[str, Any]:
        return {"domain": domain, "range": [values[at % len(values)] for at in range(len(domain))]}

    return {
        "color": {"field": "run", "type": "nominal", "scale": scale(colours), "legend": None},
        "shape": {"field": "run", "type": "nominal", "scale": scale(SHAPES), "legend": None},
        "strokeDash": {"field": "run", "type": "nominal", "scale": scale(DASHES), "legend": None},
    }


def apart(values: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Move labels up or down so that each has room: at least so far apart, inside the picture, in the same order."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    placed = [0.0] * len(values)
    before = low - least
    for at in order:
        placed[at] = before = max(values[at], before + least)
    after = high + least
    for at in reversed(order):
        placed[at] = after = min(placed[at], after - least)
    return placed
