"""Counting: texts of documents and queries in, how often each has each term out, as sparse matrices."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from exaequo.searching.analysis import Analysis

#: A sparse matrix in rows (`scipy.sparse.csr_array`).
Matrix: TypeAlias = Any


class Counts(NamedTuple):
    """How often a text has a term: documents × terms, queries × terms; terms in the order of their letters."""

    terms: pl.Series
    documents: Matrix
    queries: Matrix


def counted(documents: pl.Series, queries: pl.Series, analysis: Analysis) -> Counts:
    """Count terms. Those of queries that no document has are counted too: a query asked for them."""
    found = [analysis.terms(texts) for texts in (documents, queries)]
    # Sorted, so that sums over terms do not depend on the order of documents, not even in their last bit.
    terms = pl.concat([frame["term"] for frame in found]).unique().sort()
    sizes = (len(documents), len(queries))
    return Counts(terms, *(_matrix(frame, terms, rows) for frame, rows in zip(found, sizes, strict=True)))


def _matrix(frame: pl.DataFrame, terms: pl.Series, rows: int) -> Matrix:
    from scipy.sparse import csr_array

    term = frame["term"].cast(pl.Enum(terms)).to_physical()
    places = (frame["row"].to_numpy(), term.to_numpy())
    return csr_array((np.ones(frame.height), places), shape=(rows, len(terms)))  # which adds up what is repeated
