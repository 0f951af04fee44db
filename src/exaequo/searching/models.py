"""Models: how well a document answers a query. In: counts of terms. Out: scores, queries × documents, sparse.

Adding a model is one decorated function: from documents × terms and its parameters to a function that scores queries.
What it does not score is not returned.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exaequo.arrays import Floats
from exaequo.errors import ExaequoError
from exaequo.measures.parameters import Parameter
from exaequo.searching.counts import Matrix

#: Queries × terms in, queries × documents out.
Scoring = Callable[[Matrix], Matrix]
Function = Callable[..., Scoring]


@dataclass(frozen=True)
class Model:
    """All there is to say about a model."""

    name: str
    function: Function
    what: str
    formula: str
    source: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def defaults(self) -> dict[str, Any]:
        """The value of each parameter unless told otherwise."""
        signature = list(inspect.signature(self.function).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in signature}


#: Every model by name.
MODELS: dict[str, Model] = {}


def _model(name: str, **about: Any) -> Callable[[Function], Function]:
    def decorate(function: Function) -> Function:
        MODELS[name] = Model(name, function, **about)
        return function

    return decorate


def _between(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: type(value) in (int, float) and low <= value <= high


_LARGEST = 1e6


@_model(
    "boolean",
    what="documents with all terms of the query, or with any; all tied",
    formula="1 if d has every term of q (operator='and'), or one of them (operator='or')",
    source="Salton and McGill 1983, ch. 2",
    parameters={"operator": Parameter("how terms are joined", lambda v: v in ("and", "or"), "'and' or 'or'")},
)
def boolean(documents: Matrix, operator: str = "and") -> Scoring:
    """Return documents that match, without order."""
    count = coordination(documents)

    def scoring(queries: Matrix) -> Matrix:
        matched = count(queries)
        least = np.diff(queries.indptr) if operator == "and" else np.ones(queries.shape[0])
        matched.data = (matched.data >= least[_rows(matched)]).astype(np.float64)
        return _positive(matched)

    return scoring


@_model(
    "coordination",
    what="the number of different terms of the query that the document has",
    formula="Σ_{t ∈ q ∩ d} 1",
    source="Cleverdon 1967: coordination level",
)
def coordination(documents: Matrix) -> Scoring:
    """Count the terms in common."""
    has = (documents > 0).astype(np.float64).T.tocsr()
    return lambda queries: (queries > 0).astype(np.float64) @ has


@_model(
    "tfidf",
    what="the cosine of weighted vectors, lnc.ltc",
    formula="Σ_t w_d(t) w_q(t) / (|w_d| |w_q|); w_d = 1 + ln tf; w_q = (1 + ln qtf) · ln(N / df)",
    source="Salton and Buckley 1988; Manning et al. 2008, § 6.4.3, in the notation of SMART",
)
def tfidf(documents: Matrix) -> Scoring:
    """Return cosines."""
    weights = _normed(_logarithmic(documents)).T.tocsr()
    df = _df(documents)
    idf = np.log(documents.shape[0] / np.maximum(df, 1)) * (df > 0)

    def scoring(queries: Matrix) -> Matrix:
        asked = _logarithmic(queries)
        asked.data *= idf[asked.indices]
        return _positive(_normed(asked) @ weights)

    return scoring


@_model(
    "bm25",
    what="Okapi's probabilistic weights, as Lucene has them (computed by bm25s)",
    formula="Σ_t qtf · ln(1 + (N − df + ½)/(df + ½)) · tf / (tf + k1 (1 − b + b |d| / mean |d|))",
    source="Robertson et al. 1994 (TREC-3); Kamphuis et al. 2020 on its variants; Lù 2024 (bm25s)",
    parameters={
        "k1": Parameter("how soon more occurrences stop counting", _between(0, _LARGEST), "a number ≥ 0"),
        "b": Parameter("how much long documents lose", _between(0, 1), "a number from 0 to 1"),
    },
)
def bm25(documents: Matrix, k1: float = 1.2, b: float = 0.75) -> Scoring:
    """Return sums of weights that bm25s computes."""
    try:
        with warnings.catch_warnings(action="ignore"):  # in a notebook its bars of progress ask for widgets
            import bm25s
    except ImportError:
        raise ExaequoError("The model bm25 needs bm25s: pip install 'exaequo[search]'") from None
    from scipy.sparse import csc_array

    terms = np.repeat(documents.indices, documents.data.astype(np.int64))
    ends = np.cumsum(_lengths(documents)).astype(np.int64)
    texts = [part.tolist() for part in np.split(terms, ends[:-1])]
    index = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
    made = index.build_index_from_ids(list(range(documents.shape[1])), texts, show_progress=False)
    columns = (made["data"], made["indices"], made["indptr"])
    weights = csc_array(columns, shape=documents.shape).T.tocsr()
    return lambda queries: _positive(queries @ weights)


@_model(
    "ql-dirichlet",
    what="the likelihood of the query in the language of the document, smoothed by Dirichlet's prior",
    formula="Σ_t qtf · ln((tf + mu · cf/|C|) / (|d| + mu)); terms that no document has are left out",
    source="Zhai and Lafferty 2004",
    parameters={"mu": Parameter("words borrowed from the collection", _between(1e-6, 1e9), "a number > 0")},
)
def ql_dirichlet(documents: Matrix, mu: float = 1000.0) -> Scoring:
    """Return log likelihoods, of documents that share a term with the query."""
    chance, length = _chances(documents), _lengths(documents)
    weights = documents.copy()
    weights.data = np.log1p(weights.data / (mu * chance[weights.indices]))
    return _likelihood(weights, np.log(mu / (length + mu)), chance)


@_model(
    "ql-jm",
    what="the likelihood of the query in the language of the document, mixed with that of the collection",
    formula="Σ_t qtf · ln((1 − lam) · tf/|d| + lam · cf/|C|); terms that no document has are left out",
    source="Jelinek and Mercer 1980; Zhai and Lafferty 2004",
    parameters={
        "lam": Parameter("share of the collection's language", _between(1e-9, 1 - 1e-9), "a number between 0 and 1")
    },
)
def ql_jm(documents: Matrix, lam: float = 0.1) -> Scoring:
    """Return log likelihoods, of documents that share a term with the query."""
    chance, length = _chances(documents), _lengths(documents)
    weights = documents.copy()
    share = (1 - lam) * weights.data / length[_rows(weights)]
    weights.data = np.log1p(share / (lam * chance[weights.indices]))
    return _likelihood(weights, np.full(documents.shape[0], np.log(lam)), chance)


def _likelihood(weights: Matrix, unseen: Floats, chance: Floats) -> Scoring:
    """Score by what terms that occur add to what a document gives to every term, and `chance` to each of them."""
    terms = weights.T.tocsr()
    known = chance > 0
    base = np.log(np.where(known, chance, 1.0))

    def scoring(queries: Matrix) -> Matrix:
        scores = queries @ terms
        rows = _rows(scores)
        scores.data += (queries @ known.astype(np.float64))[rows] * unseen[scores.indices] + (queries @ base)[rows]
        return scores

    return scoring


def _rows(matrix: Matrix) -> Any:
    """Return the row of each entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _positive(matrix: Matrix) -> Matrix:
    """Leave out scores that are nothing."""
    matrix.eliminate_zeros()
    return matrix


def _logarithmic(matrix: Matrix) -> Matrix:
    weights = matrix.copy()
    weights.data = 1 + np.log(weights.data)
    return weights


def _normed(matrix: Matrix) -> Matrix:
    """Make rows as long as 1; those of nothing stay."""
    size = np.sqrt(_lengths(matrix.multiply(matrix).tocsr()))
    normed = matrix.copy()
    normed.data /= np.where(size > 0, size, 1.0)[_rows(matrix)]
    return normed


def _lengths(matrix: Matrix) -> Floats:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64)


def _df(documents: Matrix) -> Floats:
    return np.bincount(documents.indices, minlength=documents.shape[1]).astype(np.float64)


def _chances(documents: Matrix) -> Floats:
    """Return the share of each term in all words."""
    cf = np.bincount(documents.indices, weights=documents.data, minlength=documents.shape[1])
    return np.asarray(cf / max(cf.sum(), 1.0))
