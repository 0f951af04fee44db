"""Searching: baseline systems and experiments. In: a `Collection`. Out: a `Run`, or an `Experiment` with its costs.

`analysis` makes terms of texts, `counts` matrices of terms, `models` has one small function for each model, `notation`
reads systems, `retrieval` makes runs; `systems` runs programs and notes what they cost, `experiments` evaluates them.
"""

from __future__ import annotations

import os

from exaequo.choices import SEARCH_DEPTH, TOPIC_FIELDS
from exaequo.evaluation import warn
from exaequo.read import Run
from exaequo.read.collection import Collection
from exaequo.searching.models import MODELS, Model
from exaequo.searching.notation import System
from exaequo.searching.retrieval import collection_of, search_collection

__all__ = ["MODELS", "Model", "System", "search"]


def search(
    collection: Collection | str | os.PathLike[str],
    model: str = "bm25",
    *,
    stem: bool = False,
    stop: bool = True,
    depth: int = SEARCH_DEPTH,
    fields: str = TOPIC_FIELDS[0],
) -> Run:
    """Return what a built-in system finds for the topics of a collection.

    Args:
        collection: a `Collection`, or what `read_collection` reads: a folder, or a shipped name.
        model: boolean, coordination, tfidf, bm25, ql-dirichlet, ql-jm, with parameters as in `"bm25(k1=0.9,b=0.4)"`.
        stem: whether words are stemmed; the same as `"bm25-stem"`.
        stop: whether stop words are left out; the contrary of `"bm25-nostop"`.
        depth: the most documents of a list; where it cuts a tie, names decide, which is a warning.
        fields: what of a topic is the query: title, description, or all.
    """
    system = System.of(model, stem=stem, stop=stop)
    run, remarks = search_collection(collection_of(collection), system, fields, depth)
    warn(remarks)
    return run
