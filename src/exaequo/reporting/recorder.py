"""What the page needs of each run besides its values: looked at as the run goes by, so that none is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exaequo.measures import Measure
from exaequo.order import Ordering, Ranking
from exaequo.plot.kinds.at_k import cutoffs, means_at
from exaequo.plot.kinds.tie_groups import tie_bars
from exaequo.tiestats import tie_statistics

#: Ranks in the pictures of cutoffs, of ties, and of relevant documents found.
DEEPEST_CUTOFF, DEEPEST_TIE, DEEPEST_HIT = 50, 50, 100


@dataclass(frozen=True)
class Look:
    """What was seen of one run; lists are by topic."""

    file: str
    sha256: str
    lines: int
    health: dict[str, Any]
    #: The first documents: name, grade (none if nobody judged), whether tied with the next, score.
    tops: list[list[Any]]
    #: How long its lists are.
    lengths: list[int]
    #: Where its ties are.
    ties: list[list[dict[str, Any]]]
    #: Ranks of relevant documents.
    hits: list[list[int]]
    #: The mean of a measure at each cutoff.
    at_k: list[float]


class Recorder:
    """Looks at each run as it goes by."""

    def __init__(self, measures: Sequence[Measure], depth: int) -> None:
        self.cut = next((each for each in measures if "cutoff" in each.params), None)
        self.cutoffs = cutoffs(DEEPEST_CUTOFF)
        self.looks: list[Look] = []
        self.topics: list[str] = []
        self.n_rel: list[int] = []
        self._depth = depth

    def see(self, ordering: Ordering) -> None:
        """Look at a run."""
        judgments = ordering.judged_run.judgments
        self.topics = judgments.topics.to_list()
        self.n_rel = judgments.counted(None).tolist()
        self.looks.append(self._look(ordering))

    def _look(self, ordering: Ordering) -> Look:
        lines = ordering.judged_run
        run = lines.run
        ranking = ordering.ranking("realistic")
        statistics = tie_statistics(ordering)
        top = ranking.rank <= 10
        return Look(
            file=run.source.name,
            sha256=run.source.sha256 or "",
            lines=run.frame.height,
            health={
                "missing": len(lines.missing),
                "stray": len(lines.stray),
                "unjudged": 100 * float((~ranking.judged[top]).mean()) if top.any() else 0.0,
                "stuffed": int(statistics.stuffed.sum()),
                "tied": statistics.summary()["tied %"],
                "one_tie": int(statistics.one_tie.sum()),
            },
            tops=self._tops(ranking),
            lengths=ranking.returned.tolist(),
            ties=tie_bars(ranking, DEEPEST_TIE),
            hits=_hits(ranking),
            at_k=self._at_k(ranking),
        )

    def _tops(self, ranking: Ranking) -> list[list[Any]]:
        part = ranking.part(ranking.rank <= self._depth + 1)
        names = part.lines.run.frame["docno"][part.row].to_list()
        result: list[list[Any]] = [[] for _ in range(part.n_topics)]
        followed = np.zeros(len(part.tie), dtype=bool)
        followed[:-1] = part.tie[1:] == part.tie[:-1]
        scores = part.lines.sim[part.line]
        grades = part.lines.as_judged[part.line]
        columns = zip(part.topic, part.rank, names, part.judged, grades, followed, scores, strict=True)
        for topic, rank, name, judged, grade, tied, score in columns:
            if rank <= self._depth:
                result[int(topic)].append([name, float(grade) if judged else None, int(tied), f"{score:.6g}"])
        return result

    def _at_k(self, ranking: Ranking) -> list[float]:
        """Return the mean of the first measure that has a cutoff at each of several; of none, if there is none."""
        if self.cut is None:
            return []
        return means_at(ranking.part(ranking.rank <= DEEPEST_CUTOFF), self.cut.name, self.cutoffs)


def _hits(ranking: Ranking) -> list[list[int]]:
    hits = ranking.hits(None, DEEPEST_HIT)
    result: list[list[int]] = [[] for _ in range(ranking.n_topics)]
    for topic, rank in zip(hits.topic.tolist(), hits.rank.tolist(), strict=True):
        result[topic].append(rank)
    return result
