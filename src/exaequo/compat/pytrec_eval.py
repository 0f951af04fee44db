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
from typing import Any

import numpy as np
import polars as pl

from exaequo.options import strategies
from exaequo.read import read_qrels, read_run, trec
from exaequo.trec_eval.catalogue import BY_NAME, MEASURES, NICKNAMES, Request, requests
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

RELEASE = 9
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"

#: Names of the measures.
supported_measures = set(NICKNAMES["all_trec"]) - {official.name for official in MEASURES if official.since > 9}
#: Groups of measures by nickname.
supported_nicknames = {
    nickname: {name for name in names if BY_NAME[name].since <= RELEASE} for nickname, names in NICKNAMES.items()
}


class RelevanceEvaluator:
    """Judgments and measures, to evaluate any number of runs."""

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, float]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
        *,
        ties: str = "conventional",
        seed: int = 0,
    ) -> None:
        """Prepare the judgments. Measures are names such as `map`, `P_10`, `ndcg_cut.5,10`, or nicknames."""
        if isinstance(relevance_level, bool) or not isinstance(relevance_level, int) or relevance_level < 1:
            raise TypeError(f"relevance_level should be a positive whole number, not {relevance_level!r}")
        self.measures = combined(measures)
        self._requests = requests(sorted(self.measures), RELEASE) if self.measures else []
        self._judged_only = bool(judged_docs_only_flag)
        (self._ties,) = strategies(ties)
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
            depth=None,
            judged_only=self._judged_only,
            complete=False,
            collection_size=0,
            seed=self._seed,
        )
        columns = computed(lists, self._requests)
        names = [_key(column.request, column.name) for column in columns]
        table = np.stack([np.zeros(lists.n_topics), *(column.values for column in columns)], axis=1)[:, 1:]
        for at, column in enumerate(columns):
            if column.request.official.name in ("runid", "relstring"):
                table[:, at] = 0.0
        place = {topic: at for at, topic in enumerate(lists.ranking.judgments.topics)}
        rows = table.tolist()
        return {
            topic: dict(zip(names, rows[place[topic]], strict=True)) for topic in map(str, scores) if topic in place
        }


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
    content = lines.read() if hasattr(lines, "read") else "\n".join(line.rstrip("\n") for line in lines)
    data = content if isinstance(content, bytes) else content.encode()
    nested: dict[str, dict[str, float]] = defaultdict(dict)
    if not data.strip():
        return nested
    frame = trec.parse(data, layout, getattr(lines, "name", layout.what))
    numbers = frame[layout.number]
    if layout is trec.QRELS and (numbers == numbers.floor()).all():
        numbers = numbers.cast(pl.Int64)
    docnos, values = frame["docno"].to_list(), numbers.to_list()
    start = 0
    for piece in frame["qid"].rle():
        end = start + piece["len"]
        nested[piece["value"]].update(zip(docnos[start:end], values[start:end], strict=True))
        start = end
    return nested


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Make one figure of the values of all topics: a sum of counts, a geometric mean of logarithms, or the mean."""
    total = float(np.sum(values))
    if measure.startswith("num_"):
        return total
    if not len(values):
        return math.nan
    return math.exp(total / len(values)) if measure.startswith("gm_") else float(np.mean(values))
