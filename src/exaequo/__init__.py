"""exaequo: fair evaluation of ranked retrieval.

    >>> import exaequo
    >>> qrels, runs = exaequo.sample()
    >>> scores = exaequo.evaluate(qrels, runs, ["AP", "nDCG@10"], ties="all")

The names below load on first use, so that importing the package, or asking the command for help, costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from exaequo import audit, axioms, compat, filtering, measures, plot, spark, stats, study
    from exaequo.audit import audit_ties
    from exaequo.budgeting import budget
    from exaequo.comparison import compare
    from exaequo.designs import design
    from exaequo.errors import (
        BadParameter,
        DataWarning,
        ExaequoError,
        InputError,
        MissingTopics,
        Problem,
        UnknownMeasure,
        UsageError,
    )
    from exaequo.evaluation import evaluate, lexirecall
    from exaequo.explanation import explain, explain_filter
    from exaequo.gating import gate
    from exaequo.logs import log
    from exaequo.measures import Measure, define, parse_measure
    from exaequo.order import Ranking
    from exaequo.pooling import pool
    from exaequo.read import Qrels, Run, read_metadata, read_qrels, read_run, write_metadata
    from exaequo.read.collection import Collection, read_collection, read_documents, read_topics
    from exaequo.replication import replicate
    from exaequo.reporting import report
    from exaequo.residuals import unjudged
    from exaequo.sampledata import sample
    from exaequo.scores import Scores
    from exaequo.searching import search
    from exaequo.searching.experiments import experiment
    from exaequo.searching.functions import run

__all__ = [
    "BadParameter",
    "Collection",
    "DataWarning",
    "ExaequoError",
    "InputError",
    "Measure",
    "MissingTopics",
    "Problem",
    "Qrels",
    "Ranking",
    "Run",
    "Scores",
    "UnknownMeasure",
    "UsageError",
    "__version__",
    "audit",
    "audit_ties",
    "axioms",
    "budget",
    "compare",
    "compat",
    "define",
    "design",
    "evaluate",
    "experiment",
    "explain",
    "explain_filter",
    "filtering",
    "gate",
    "lexirecall",
    "log",
    "measures",
    "parse_measure",
    "plot",
    "pool",
    "read_collection",
    "read_documents",
    "read_metadata",
    "read_qrels",
    "read_run",
    "read_topics",
    "replicate",
    "report",
    "run",
    "sample",
    "search",
    "spark",
    "stats",
    "study",
    "unjudged",
    "write_metadata",
]

#: Where each public name is at home; the test of the package holds the two lists above to it.
_HOMES = {
    "audit": "audit_ties",
    "budgeting": "budget",
    "comparison": "compare",
    "designs": "design",
    "gating": "gate",
    "errors": "BadParameter DataWarning ExaequoError InputError MissingTopics Problem UnknownMeasure UsageError",
    "evaluation": "evaluate lexirecall",
    "explanation": "explain explain_filter",
    "logs": "log",
    "measures": "Measure define parse_measure",
    "order": "Ranking",
    "pooling": "pool",
    "read": "Qrels Run read_metadata read_qrels read_run write_metadata",
    "read.collection": "Collection read_collection read_documents read_topics",
    "replication": "replicate",
    "reporting": "report",
    "sampledata": "sample",
    "scores": "Scores",
    "residuals": "unjudged",
    "searching": "search",
    "searching.experiments": "experiment",
    "searching.functions": "run",
}
_MODULES = "audit axioms compat filtering measures plot spark stats study".split()
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # type checkers see the imports above, and that there are no other names

    def __getattr__(name: str) -> object:
        """Load a public name on first use."""
        if name in _MODULES:
            return import_module(f"exaequo.{name}")
        if name not in _HOME_OF:
            raise AttributeError(f"module 'exaequo' has no attribute {name!r}")
        value = getattr(import_module(f"exaequo.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
