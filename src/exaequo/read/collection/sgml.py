"""TREC documents and topics: text with tags in, an `Entry` each out. No parser of XML: tags are cut, entities few."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from exaequo.errors import InputError, bad_input
from exaequo.read.collection.records import Entry

_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_TAG = re.compile(r"<[/!?]?[A-Za-z\-][^<>]*>")
_TITLES = ("title", "headline", "head", "hl", "ti", "h3")
_NUMBER = re.compile(r"""\bnumber\s*+=\s*+["']?+\s*+([^\s"'>]+)""", re.IGNORECASE)
#: The tags of each field of a topic.
_FIELDS = {
    "num": "num",
    "title": "title",
    "query": "title",
    "desc": "description",
    "description": "description",
    "question": "description",
    "narr": "narrative",
    "narrative": "narrative",
}
#: Old topics begin fields with their names.
_PREFIX = re.compile(r"\s*(?:Number|Topic|Description|Narrative)\s*:", re.IGNORECASE)


def documents(text: str, name: str) -> Iterator[Entry]:
    """Read `<DOC><DOCNO>…</DOCNO>…</DOC>`.

    The title is what usual tags hold; the text what `<TEXT>` holds, or else all but name and title.
    """
    for line, _, inner in _elements(text, "doc", name):
        docno, rest = _taken(inner, "docno")
        _, rest = _taken(rest, "dochdr")
        title, rest = _taken(rest, *_TITLES)
        body, _ = _taken(rest, "text")
        yield Entry(plain(docno).strip(), line, plain(title), plain(body if body.strip() else rest))


def topics(text: str, name: str) -> Iterator[Entry]:
    """Read `<top><num>…<title>…<desc>…<narr>…</top>`, tags closed or not, and `<topic number="1"><query>…`."""
    for line, attributes, inner in _elements(text, "top(?:ic)?", name):
        number = _NUMBER.search(attributes)
        fields = {"num": number[1] if number else ""}
        parts = re.split(r"<(/?[A-Za-z]\w*+)[^<>]*>", inner)
        for tag, content in zip(parts[1::2], parts[2::2], strict=True):
            field = _FIELDS.get(tag.lower())
            if field and content.strip():
                fields[field] = plain(_PREFIX.sub("", content, count=1)).strip()
        yield Entry(fields.pop("num"), line, **fields)


def plain(text: str) -> str:
    """Return text without tags, and the characters that entities stand for: & < > " and those with numbers."""
    return _ENTITY.sub(lambda found: html.unescape(found[0]), _TAG.sub(" ", text))


def _elements(text: str, tag: str, name: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, attributes and content of each element; raise InputError if one has a beginning or an end alone."""
    line, at, opened = 1, 0, None
    for found in re.finditer(rf"<(/?){tag}(\s[^<>]*)?>", text, re.IGNORECASE):
        before, line, at = line, line + text.count("\n", at, found.start()), found.start()
        if opened and found[1]:
            yield before, opened[2] or "", text[opened.end() : found.start()]
            opened = None
        elif opened or found[1]:
            raise _alone(opened or found, before if opened else line, name)
        else:
            opened = found
    if opened:
        raise _alone(opened, line, name)


def _alone(tag: re.Match[str], line: int, name: str) -> InputError:
    found = f"{tag[0]} without its {'beginning' if tag[1] else 'end'}"
    return bad_input(name, found, "both tags of each element", "Add the other: is the file whole?", line=line)


def _taken(text: str, *tags: str) -> tuple[str, str]:
    """Return what elements of these names hold, and the text without them."""
    names = "|".join(tags)
    pieces = re.split(rf"<(/?)(?:{names})(?:\s[^<>]*)?>", text, flags=re.IGNORECASE)
    inside, outside = list[str](), [pieces[0]]
    for end, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        (outside if end else inside).append(piece)
    return "\n".join(inside), "\n".join(outside)
