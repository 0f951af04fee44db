"""A drop-in for pytrec_eval: same names, same keys, same values, and `ties=` if you want them fair.

    from exaequo.compat import pytrec_eval

What the original takes is taken, and NumPy numbers, integer ids and real-valued judgments as well. Scores are compared
in single precision and figures are those of release 9 of trec_eval, as in the original.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from exaequo.compat import default_ties
from exaequo.options import strategies
from exaequo.read import read_qrels, read_run, trec
from exaequo.read.plain import LARGE, of_text
from exaequo.trec_eval.catalogue import BY_NAME, NICKNAMES, Request, requests
from exaequo.trec_eval.command import computed
from exaequo.trec_eval.lists import all_topics, build, empty_run

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

#: The release whose functions these are.
__version__ = "0.5.11"

RELEASE = 9
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"

#: Groups of measures by nickname.
supported_nicknames = {
    nickname: {name for name in names if BY_NAME[name].since <= RELEASE} for nickname, names in NICKNAMES.items()
}
#: Names of the measures.
supported_measures = supported_nicknames["all_trec"].copy()


class RelevanceEvaluator:
    """Judgments and measures, to evaluate any number of runs."""

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, float]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
        *,
        ties: str | None = None,
        seed: int = 0,
    ) -> None:
        """Prepare the judgments. Measures are names such as `map`, `P_10`, `ndcg_cut.5,10`, or nicknames."""
        if isinstance(relevance_level, bool) or not isinstance(relevance_level, int) or relevance_level < 1:
            raise TypeError(f"relevance_level should be a positive whole number, not {relevance_level!r}")
        asked, self._requests = _asked(frozenset(measures))
        self.measures = {*asked}
        self._judged_only = bool(judged_docs_only_flag)
        (self._ties,) = strategies(default_ties() if ties is None else ties)
        self._seed = seed
        judged = {topic: documents for topic, documents in query_relevance.items() if documents}
        self._judgments = all_topics(read_qrels(judged), relevance_level) if judged else None

    def evaluate(self, scores: Mapping[Any, Mapping[Any, float]]) -> dict[str, dict[str, float]]:
        """Return `{topic: {measure: value}}` for the topics of the run that are judged."""
        if not scores or self._judgments is None:
            return {}
        returned = {topic: documents for topic, documents in scores.items() if documents}
        lists = build(
            self._judgments,
            read_run(returned) if returned else empty_run(),
            release=RELEASE,
            ties=self._ties,
            seed=self._seed,
            judged_only=self._judged_only,
        )
        figures: dict[str, list[float]] = {}
        for column in computed(lists, self._requests):
            unknown = column.request.official.name in ("runid", "relstring")
            values = np.zeros(lists.n_topics) if unknown else column.values
            figures[_key(column.request, column.name)] = values.tolist()
        place = lists.judgments.number
        return {
            topic: {name: values[place[topic]] for name, values in figures.items()}
            for topic in map(str, scores)
            if topic in place
        }


@lru_cache(256)
def _asked(measures: frozenset[str]) -> tuple[frozenset[str], list[Request]]:
    """Return measures in the form of trec_eval, and as they are computed; a loop asks for the same again and again."""
    together = combined(measures)
    return frozenset(together), requests(sorted(together), RELEASE) if together else []


def _key(request: Request, name: str) -> str:
    """The original leaves parameters out of a name, unless they are cutoffs."""
    return name if request.official.takes in ("cut", "levels") else request.official.name


def combined(measures: Iterable[str]) -> set[str]:
    """Bring measures to the form of trec_eval, `P.5,10`: nicknames spelt out, `P_5` and `P.10` together."""
    asked: set[str] = set()
    for measure in measures:
        asked |= supported_nicknames.get(measure, {measure})
    parameters: dict[str, set[str]] = defaultdict(set)
    for measure in asked:
        if measure in supported_measures:
            parameters[measure] |= set()
            continue
        for name in supported_measures:
            given = re.match(rf"{re.escape(name)}[._]({_NUMBER}(?:,{_NUMBER})*)", measure)
            if given:
                parameters[name].update(given[1].split(","))
                break
        else:
            raise ValueError(f"unsupported measure {measure}")
    return {f"{name}.{','.join(sorted(given))}" if given else name for name, given in parameters.items()}


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read a run: an open file, or lines."""
    return _nested(f_run, trec.RUN)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read judgments: an open file, or lines. Whole numbers, unless one of them is not."""
    return _nested(f_qrel, trec.QRELS)  # type: ignore[return-value]  # reals are beyond the original


def _nested(lines: Any, layout: trec.Layout) -> dict[str, dict[str, float]]:
    data = content(lines)
    nested: dict[str, dict[str, float]] = defaultdict(dict)
    if not data.strip():
        return nested
    topics, sizes, names, number = _lists(data, layout, getattr(lines, "name", layout.what))
    if layout is trec.QRELS and (number == np.floor(number)).all() and np.abs(number).max() < LARGE:
        number = number.astype(np.int64)
    documents, values = iter(names), iter(number.tolist())
    for topic, size in zip(topics, sizes, strict=True):
        nested[topic] = dict(zip(islice(documents, size), islice(values, size), strict=True))
    return nested


def _lists(data: bytes, layout: trec.Layout, name: str) -> tuple[list[str], list[int], list[str], Any]:
    """Return topics, how many lines each has, and the documents and numbers of the lines, topic after topic."""
    plain = of_text(data, layout)
    if plain is not None:
        return plain.topics, plain.sizes.tolist(), b"\n".join(plain.docno.tolist()).decode().split("\n"), plain.value
    frame = trec.parse(data, layout, name)
    by_topic = frame.group_by("qid", maintain_order=True).agg("docno", layout.number)
    names, number = (by_topic[column].explode() for column in ("docno", layout.number))
    return by_topic["qid"].to_list(), by_topic["docno"].list.len().to_list(), names.to_list(), number.to_numpy()


def content(lines: Any) -> bytes:
    """Read an open file, or lines."""
    read = lines.read() if hasattr(lines, "read") else "\n".join(line.rstrip("\n") for line in lines)
    return read if isinstance(read, bytes) else read.encode()


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Make one figure of the values of all topics: a sum of counts, a geometric mean of logarithms, or the mean."""
    total = float(np.sum(values))
    if measure.startswith("num_"):
        return total
    if not len(values):
        return math.nan
    return math.exp(total / len(values)) if measure.startswith("gm_") else float(np.mean(values))
