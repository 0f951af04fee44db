"""One list as an explanation sees it: the documents of a topic with ranks, judgments and ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from exaequo.judge import Bools, Floats, Ints
from exaequo.listing import table
from exaequo.order import Ranking


@dataclass(frozen=True, eq=False)
class View:
    """The list of one topic inside a ranking of all of them."""

    ranking: Ranking
    topic: int

    @cached_property
    def at(self) -> Ints:
        """Places of the list in the ranking."""
        return np.flatnonzero(self.ranking.topic == self.topic)

    @cached_property
    def docno(self) -> list[str]:
        """Names of the documents, in order."""
        return self.ranking.lines.run.frame["docno"][self.ranking.row[self.at]].to_list()

    @property
    def rank(self) -> Ints:
        """Ranks, from 1."""
        return self.ranking.rank[self.at]

    @property
    def grade(self) -> Floats:
        """Grades, 0 where nobody judged."""
        return self.ranking.grade[self.at]

    @property
    def judged(self) -> Bools:
        """Which documents were judged."""
        return self.ranking.judged[self.at]

    def relevant(self, rel: float | None = None) -> Bools:
        """Which documents are relevant."""
        return self.ranking.relevant(rel)[self.at]

    def n_rel(self, rel: float | None = None) -> int:
        """All relevant documents of the topic, returned or not."""
        return int(self.ranking.n_rel(rel)[self.topic])

    def of(self, values: Floats | float) -> float:
        """Return the value of this topic, where there is one for each."""
        return float(values[self.topic]) if isinstance(values, np.ndarray) else float(values)

    @cached_property
    def ideal(self) -> Floats:
        """Grades above 0 of the topic, best first."""
        topic, _, grade = self.ranking.judgments.ideal
        own: Floats = grade[topic == self.topic]
        return own

    def listing(self, rel: float | None = None) -> pl.DataFrame:
        """The list with precision and recall at each document, at the level of relevance of a measure."""
        return table(self.ranking.part(self.at), rel)
