"""One list as an explainer sees it: the documents of a topic with ranks, judgments and ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from exaequo.arrays import Ints
from exaequo.errors import BadParameter
from exaequo.judge import Judgments
from exaequo.order import Ranking
from exaequo.text import did_you_mean


class Line(NamedTuple):
    """A document of the list; its grade is 0 where nobody judged it."""

    rank: int
    document: str
    grade: float
    judged: bool
    relevant: bool

    def row(self, **more: Any) -> dict[str, Any]:
        """Return the row of the document in a table."""
        return {"rank": self.rank, "document": self.document, **more}


@dataclass(frozen=True, eq=False)
class View:
    """The list of one topic inside a ranking of all of them; `docs` is the size of the collection, if it is known."""

    ranking: Ranking
    topic: int
    docs: int | None = None

    @cached_property
    def at(self) -> Ints:
        """Places of the list in the ranking."""
        return np.flatnonzero(self.ranking.topic == self.topic)

    @cached_property
    def docno(self) -> list[str]:
        """Names of the documents, in order."""
        return self.ranking.lines.run.frame["docno"][self.ranking.row[self.at]].to_list()

    def lines(self, cutoff: int | None = None, rel: float | None = None) -> list[Line]:
        """Return the documents up to a rank."""
        ranking, at = self.ranking, self.at[:cutoff]
        columns = (
            ranking.rank[at].tolist(),
            self.docno[:cutoff],
            ranking.grade[at].tolist(),
            ranking.judged[at].tolist(),
            ranking.relevant(rel)[at].tolist(),
        )
        return [Line(*line) for line in zip(*columns, strict=True)]

    def n_rel(self, rel: float | None = None) -> int:
        """All relevant documents of the topic, returned or not."""
        return int(self.ranking.n_rel(rel)[self.topic])

    @cached_property
    def judged(self) -> list[tuple[float, str]]:
        """All judged documents of the topic with their grades, best first."""
        judgments = self.ranking.judgments
        own = np.flatnonzero(judgments.topic == self.topic)
        names = judgments.qrels.frame["docno"][judgments.row[own]].to_list()
        return sorted(zip(judgments.grade[own].tolist(), names, strict=True), reverse=True)


def place_of(topic: str, judgments: Judgments) -> int:
    """Return the place of a topic among those evaluated."""
    if topic not in judgments.number:
        known = judgments.names
        why = "it has no relevant document" if topic in judgments.nothing_relevant else "it is not judged"
        raise BadParameter(f"Topic {topic!r} cannot be explained: {why}{did_you_mean(topic, known) or '.'}")
    return judgments.number[topic]
