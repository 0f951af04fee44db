"""Functions as systems: a function and queries in, a `Run` out, with what each query took."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import polars as pl

from exaequo.errors import BadParameter, bad_input
from exaequo.evaluation import warn
from exaequo.read import Run, read_run
from exaequo.read.golden import DOCUMENTS
from exaequo.read.lists import as_list
from exaequo.read.queries import read_queries
from exaequo.read.records import Latency
from exaequo.read.trec import RUN
from exaequo.text import count

#: A function from a query to what it finds: ids, best first; pairs of id and score; scores by id; documents that have
#: an id, and perhaps a score.
Ranker: TypeAlias = Callable[[str], Iterable[Any] | Mapping[Any, float]]
#: How retrievers are asked that are no functions.
_METHODS = ("invoke", "retrieve", "search")
_EXPECTED = "docnos, pairs (docno, score), {docno: score}, or documents with an id"


def run(search: Any, queries: Any, k: int = 100, *, name: str | None = None) -> Run:
    """Return what a function finds for queries, and in `latency` what each took.

    Args:
        search: a function from the text of a query to ids, best first, pairs (id, score), `{id: score}`, or documents
            with an id and perhaps a score, as dicts or objects; or a retriever with a method `invoke`, `retrieve` or
            `search`. One that has a parameter `k` is told.
        queries: `{qid: text}`, texts, a golden set, or a file of it. A query without an id goes by its text.
        k: the most documents of a list; where that cuts a tie, the order of the answer decides, which is a warning.
        name: what the run is called; by default as the function.
    """
    if type(k) is not int or k < 1:
        raise BadParameter(f"k must be a whole number ≥ 1. Got {k!r} instead.")
    function = (
        search if callable(search) else next(filter(callable, (getattr(search, m, None) for m in _METHODS)), None)
    )
    if function is None:
        raise BadParameter(f"search must be a function, or have {', '.join(_METHODS)}. Got {search!r:.60} instead.")
    called = name or getattr(search, "__name__", type(search).__name__).strip("<>")
    asked = ask(called, _told(function, k), read_queries(queries))
    place = pl.col("sim").rank("ordinal", descending=True).over("qid")
    if cut := _cut_ties(asked.frame.with_columns(place.alias("place")), k):
        what = f"{called}: {count(cut, 'list')} cut inside a tie at k={k:,}, where the order of the answer decides"
        warn([f"{what}; a larger k= keeps them all"])
    return replace(asked, frame=asked.frame.filter(place <= k))


def _cut_ties(frame: pl.DataFrame, k: int) -> int:
    """Count the lists in which the documents at places k and k + 1 are tied."""
    edge = frame.filter(pl.col("place").is_between(k, k + 1))
    return int(edge.select(pl.struct("qid", "sim").is_duplicated().sum()).item()) // 2


def _told(function: Callable[..., Any], k: int) -> Ranker:
    """Return a function of a query alone; one that can be told how many documents to find is told."""
    try:
        knows = "k" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        knows = False
    return (lambda query: function(query, k=k)) if knows else function


def ask(name: str, search: Ranker, queries: pl.DataFrame) -> Run:
    """Ask a function every query (`qid, text`), and keep the time each takes."""
    found: dict[str, Any] = {}
    seconds = []
    for qid, text in queries.rows():
        start = time.perf_counter()
        try:
            answer = search(text)
            found[qid] = list(answer) if isinstance(answer, Iterator) else answer
        except Exception as error:
            error.add_note(f"{name} was asked topic {qid}: {text}")
            raise
        seconds.append(time.perf_counter() - start)
        found[qid] = _documents(found[qid], name, qid)
    if not any(map(len, found.values())):
        raise bad_input(name, "it found nothing for any topic", "documents", "Check the queries and the function.")
    latency = Latency(
        pl.DataFrame({"qid": queries["qid"], "seconds": seconds}, schema_overrides={"seconds": pl.Float64})
    )
    return replace(read_run(found, name=name), latency=latency)


def _documents(answer: Any, name: str, qid: str) -> Any:
    """Return the documents of an answer, taken out of the dict that some retrievers put them in."""
    if isinstance(answer, Mapping):
        held = [answer[field] for field in DOCUMENTS[RUN] if isinstance(answer.get(field), list)]
        return held[0] if held else answer
    documents = as_list(answer)
    if documents is None:
        found = f"for topic {qid!r} it returned {answer!r:.60}"
        raise bad_input(name, found, _EXPECTED, "Change what it returns.")
    return documents
