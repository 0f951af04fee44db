"""Collections by name: `ir:DATASET` of ir_datasets, which fetches and keeps them. Out: TREC judgments, and texts.

Nothing of it is imported before a name is asked for; it is not needed otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from exaequo.errors import ExaequoError, bad_input
from exaequo.read.source import Source, sha256_of
from exaequo.text import did_you_mean, listed

#: What a name begins with; the second is what others write.
PREFIXES = ("ir:", "irds:")
#: What a data set may have, as ir_datasets and people call it.
_PARTS = {"docs": "documents", "queries": "topics", "qrels": "judgments"}


def is_named(path: str) -> bool:
    """Tell whether this names a collection, not a file; `./ir:x` is a file."""
    return path.startswith(PREFIXES)


def has(name: str, part: str) -> bool:
    """Tell whether a collection has `docs`, `queries` or `qrels`."""
    return bool(getattr(_dataset(name), f"has_{part}")())


def judgments(name: str, *, digest: bool = False) -> tuple[bytes, Source]:
    """Return the judgments of a collection as lines of TREC qrels, those of a sample with their chances."""
    text = "".join(f"{line}\n" for line in map(_line, _all(name, "qrels"))).encode()
    return text, Source(name, sha256_of(text) if digest else None)


def _line(judgment: Any) -> str:
    """Return a judgment as a line; the iteration, or the subtopic, is 0 if there is none."""
    j = judgment
    if hasattr(j, "iprob"):
        return f"{j.query_id} {j.doc_id} {j.relevance} {j.method} {j.iprob}"
    iteration = getattr(j, "subtopic_id", None) or getattr(j, "iteration", None) or "0"
    return f"{j.query_id} {iteration} {j.doc_id} {j.relevance}"


def documents(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the documents of a collection: name, title, text."""
    for each in _all(name, "docs"):
        yield each.doc_id, getattr(each, "title", None) or "", _text(each)


def _text(document: Any) -> str:
    """Return the text of a document, which may be in several fields, or in bytes that its library reads."""
    whole = (getattr(document, field, None) for field in ("text", "body"))
    if (text := next((each for each in whole if isinstance(each, str)), None)) is not None:
        return text
    if hasattr(document, "default_text"):
        return str(document.default_text())
    return "\n".join(each for each in document[1:] if isinstance(each, str))


def topics(name: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the topics of a collection: name, title, description, narrative."""
    for each in _all(name, "queries"):
        title, description, narrative = (getattr(each, field, None) or "" for field in _FIELDS)
        first = title or getattr(each, "text", None) or getattr(each, "query", None) or each[1]
        yield each.query_id, str(first), description, narrative


_FIELDS = ("title", "description", "narrative")


def _all(name: str, part: str) -> Iterable[Any]:
    """Return all of a part, fetched if need be; refuse a collection that has none, or whose data cannot be had."""
    dataset = _dataset(name)
    if not has(name, part):
        there = [noun for each, noun in _PARTS.items() if has(name, each)]
        found = f"it has no {_PARTS[part]}, but {listed(there) or 'nothing'}"
        raise bad_input(name, found, _PARTS[part], "Name a part of it, as in ir:beir/scifact/test.")
    try:
        return list(getattr(dataset, f"{part}_iter")())
    except Exception as error:  # noqa: BLE001 - each data set is fetched its own way, with errors of its own
        said = " ".join(str(error).split())[:120] or type(error).__name__
        mend = "Check the network; some data are given out by their owners only: https://ir-datasets.com says how."
        raise bad_input(name, f"the data cannot be had ({said})", _PARTS[part], mend) from None


def _dataset(name: str) -> Any:
    """Return the data set of this name."""
    try:
        import ir_datasets
    except ImportError:
        raise ExaequoError(f"{name}: collections by name need ir_datasets: pip install 'exaequo[datasets]'") from None
    own = name.partition(":")[2]
    try:
        return ir_datasets.load(own)
    except KeyError:
        hint = did_you_mean(own, list(ir_datasets.registry)) or ": https://ir-datasets.com lists them."
        raise bad_input(name, f"there is no data set {own!r}", "a name of ir_datasets", f"Check it{hint}") from None
