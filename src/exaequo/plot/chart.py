"""A chart: a Vega-Lite specification as a plain dict, which draws itself in a notebook and saves itself to a file."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from exaequo.choices import PICTURE_FORMATS, PICTURE_SIZES
from exaequo.errors import BadParameter, ExaequoError
from exaequo.language import ENGLISH, marks, spoken, word
from exaequo.options import Reading, Relevance
from exaequo.plot.page import page
from exaequo.writing import write_whole

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
VERSION = "5.21"
#: Width of the whole picture, height of its frame, size of letters, in points: a column of a paper, a page, a slide.
SIZES = dict(zip(PICTURE_SIZES, ((250.0, 150.0, 8.0), (640.0, 340.0, 12.0), (1060.0, 520.0, 18.0)), strict=True))
#: Okabe and Ito: told apart by people who do not see all colours. Each has its partner on dark paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
ON_DARK = ("#56B4E9", "#E69F00", "#2BC49A", "#E6A0C4", "#F0E442", "#FF8A66", "#FFFFFF", "#C9A66B")
#: What is not data: text, paper, grid, and things said quietly; on light and on dark paper.
INK, PAPER = ("#222222", "#EEEEEE"), ("#FFFFFF", "#1B1B1F")
FAINT, QUIET = ("#DDDDDD", "#55555E"), ("#757575", "#A0A0AA")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 3], [10, 4], [6, 2, 1, 2, 1, 2])
#: The width of a letter, of the size of its font: an average, for leaving room.
LETTER = 0.6


class Appearance(TypedDict, total=False):
    """How a picture looks: `size` is column, page or slide."""

    size: str
    dark: bool


class Common(Appearance, Relevance, Reading, total=False):
    """What every kind takes: how it looks, what counts as relevant and how files are read, as for `evaluate`."""


class Chart(dict[str, Any]):
    """A Vega-Lite specification; `save` draws it, offline."""

    def save(self, path: str | Path, *, scale: float = 2.0) -> None:
        """Write to a file; its ending says how: svg, png, pdf, html or json."""
        write_whole(path, self.drawn(refuse_unknown_format(path), scale=scale))

    def drawn(self, kind: str, *, scale: float = 2.0) -> bytes:
        """Return the picture."""
        refuse_unknown_format(f"picture.{kind}")
        spec = _printable(self)
        if kind == "json":
            return (json.dumps(spec, indent=1, ensure_ascii=False) + "\n").encode()
        try:
            import vl_convert
        except ImportError:
            raise ExaequoError("Drawing needs vl-convert-python: pip install 'exaequo[plot]'") from None
        if kind == "svg":
            return str(vl_convert.vegalite_to_svg(spec, vl_version=VERSION)).encode()
        if kind == "html":
            library = vl_convert.javascript_bundle(vl_version=VERSION)  # type: ignore[call-arg]  # it has a default
            return page(spec, str(library)).encode()
        if kind == "pdf":
            return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=VERSION))
        return bytes(vl_convert.vegalite_to_png(spec, vl_version=VERSION, scale=scale))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        shown: dict[str, Any] = {"application/vnd.vegalite.v5+json": _printable(self), "text/plain": "<Chart>"}
        try:
            return shown | {"image/svg+xml": self.drawn("svg").decode()}
        except ExaequoError:  # nothing to draw with; a notebook may know Vega-Lite itself
            return shown


#: Control characters as Unicode draws them: ␛ for ESC.
_PICTURES = {
    **{code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"},
    0x7F: "␡",
    **dict.fromkeys(range(0x80, 0xA0), "\N{REPLACEMENT CHARACTER}"),
}


def _printable(value: Any) -> Any:
    """Return a specification whose texts have no control characters, which would end the program that draws them."""
    if isinstance(value, str):
        return value.translate(_PICTURES)
    if isinstance(value, dict):
        plain = {_printable(key): _printable(inner) for key, inner in value.items()}
        if isinstance(plain.get("title"), str):  # Vega reads titles of axes as code, where a backslash begins an escape
            plain["title"] = plain["title"].replace("\\", "\N{SET MINUS}")
        return plain
    return [_printable(inner) for inner in value] if isinstance(value, list | tuple) else value


def refuse_unknown_format(path: str | Path) -> str:
    """Return the format of a file, which its ending tells."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in PICTURE_FORMATS:
        known = ", ".join(f".{each}" for each in PICTURE_FORMATS)
        raise BadParameter(f"A picture is one of {known}. Got {str(path)!r}.")
    return kind


def notes(*parts: str) -> str:
    """Put together what there is to say."""
    return word("; ").join(part for part in parts if part)


@dataclass(frozen=True)
class Canvas:
    """Where marks go: the size of the frame, of letters, the colours, and what is written above."""

    width: float
    height: float
    font: float
    #: Width of the whole picture.
    total: float
    #: Colours of data, of text, of what is behind, of the grid, and of what is not the point.
    colours: tuple[str, ...]
    ink: str
    paper: str
    faint: str
    quiet: str
    title: str
    note: str

    @classmethod
    def of(cls, look: Appearance, title: str = "", note: str = "") -> Canvas:
        """Return the canvas of a look: sizes for a paper column, a page or a slide; light or dark."""
        size = look.get("size", "page")
        if size not in SIZES:
            raise BadParameter(f"size must be one of {', '.join(SIZES)}. Got {size!r} instead.")
        total, height, font = SIZES[size]
        dark = look.get("dark", False)
        colours = ON_DARK if dark else COLOURS, INK[dark], PAPER[dark], FAINT[dark], QUIET[dark]
        return cls(total, height, font, total, *colours, title, note).beside()

    def beside(self, left: float = 0.0, right: float = 0.0) -> Canvas:
        """Return the same with a frame that leaves room for labels: at the left, at the right, and for the axis.

        Where labels are very long, the picture gets wider instead.
        """
        axis = max(left, 3 * self.font) + 2.2 * self.font
        return replace(self, width=round(max(0.45 * self.total, self.total - axis - right - 16)))

    def high(self, height: float) -> Canvas:
        """Return the same with another height."""
        return replace(self, height=round(height))

    def wide(self, width: float) -> Canvas:
        """Return the same with another width."""
        return replace(self, width=round(width))

    def rows(self, count: int) -> Canvas:
        """Return the same with room for so many rows of text; many stand closer together."""
        return self.high(max(5 * self.font, (2.5 if count <= 40 else 1.5) * self.font * count))

    def px(self, size: float) -> float:
        """Return a length that grows with letters: lines of a slide are thicker."""
        return round(size * self.font / 12, 2)

    def area(self, size: float) -> float:
        """Return the size of a symbol that grows with letters."""
        return round(size * (self.font / 12) ** 2, 1)

    @property
    def line(self) -> float:
        """The height of a line of text."""
        return 1.25 * self.font

    def span(self, text: str) -> float:
        """Return about how wide a text is."""
        return LETTER * self.font * len(text)

    def wrapped(self, text: str, size: float = 1.0) -> str | list[str]:
        """Break a text of letters of this size so that it is not wider than the picture."""
        lines = textwrap.wrap(text, max(20, int(max(self.total, self.width) / (0.56 * size * self.font))))
        return lines if len(lines) > 1 else text

    def chart(self, layers: Sequence[dict[str, Any]], *said: str) -> Chart:
        """Put layers together, with readable defaults; what is said besides goes after the note."""
        spec = {
            "$schema": SCHEMA,
            "width": self.width,
            "height": self.height,
            "background": self.paper,
            "padding": 8,
            "title": {
                "text": self.wrapped(self.title, 1.25),
                "subtitle": self.wrapped(notes(self.note, *said)),
                "anchor": "start",
                "frame": "bounds",
                "fontSize": self.font * 1.15,
                "subtitleFontSize": self.font,
            },
            "config": self._config(),
            "layer": list(layers),
        }
        return Chart(spec)

    def _config(self) -> dict[str, Any]:
        ink, letters = self.ink, {"labelFontSize": self.font, "titleFontSize": self.font}
        words = {"labelColor": ink, "titleColor": ink}
        lines = {"gridColor": self.faint, "domainColor": ink, "tickColor": ink}
        return {
            "font": "DejaVu Sans, Helvetica, Arial, sans-serif",
            "title": {"color": ink, "subtitleColor": ink, "subtitlePadding": 4, "offset": 10},
            "axis": {**letters, **words, **lines, "titlePadding": 6, "labelLimit": 0, "labelFlush": False},
            "axisX": {"titleLimit": max(self.total, self.width)},
            "axisY": {"titleLimit": self.height},
            "axisXQuantitative": {"tickCount": round(self.width / (5 * self.font)), "labelOverlap": True},
            "axisYQuantitative": {"tickCount": round(self.height / (2.8 * self.font))},
            "legend": {**letters, **words, "labelLimit": 0},
            "text": {"fontSize": self.font, "color": ink},
            "rule": {"color": ink},
            "view": {"stroke": None},
            **_marks_of_numbers(),
        }


def _marks_of_numbers() -> dict[str, Any]:
    """Return how the language spoken writes numbers, as Vega wants it; English is what Vega speaks."""
    if spoken() == ENGLISH:
        return {}
    decimal, thousands = marks()
    number = {"decimal": decimal, "thousands": thousands, "grouping": [3], "currency": ["", ""]}
    return {"locale": {"number": number}}
