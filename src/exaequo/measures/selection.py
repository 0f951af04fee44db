"""Tables of relevant against selected documents, and the figures made of them. In: four counts. Out: figures.

=============  ==================  =====================
               relevant            not relevant
=============  ==================  =====================
selected       a                   b
not selected   c                   d
=============  ==================  =====================

A figure that divides by nothing is undefined, NaN: recall where nothing is relevant, and what is made of it. Precision,
where nothing is selected, is 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.errors import BadParameter

#: Below this share of the best utility, T11SU counts nothing (TREC 2002 filtering track).
T11_FLOOR = -0.5
#: Documents a filter should select for each theme (TREC-9 filtering track).
T9_TARGET = 50


@dataclass(frozen=True, eq=False)
class Tables:
    """Contingency tables, one per theme, or one for all of them."""

    a: Floats
    b: Floats
    c: Floats
    d: Floats

    @property
    def selected(self) -> Floats:
        """Number of documents selected."""
        return self.a + self.b

    @property
    def relevant(self) -> Floats:
        """Number of relevant documents."""
        return self.a + self.c

    @property
    def documents(self) -> Floats:
        """Number of documents there are."""
        return self.a + self.b + self.c + self.d

    @property
    def precision(self) -> Floats:
        """Relevant among the selected; 1 if nothing is selected."""
        return np.divide(self.a, self.selected, out=np.ones_like(self.a), where=self.selected > 0)

    @property
    def recall(self) -> Floats:
        """Selected among the relevant."""
        return share_of(self.a, self.relevant)

    @property
    def noise(self) -> Floats:
        """1 − precision."""
        return 1 - self.precision

    @property
    def silence(self) -> Floats:
        """1 − recall."""
        return 1 - self.recall

    @property
    def density(self) -> Floats:
        """Relevant among all documents: the precision of a filter that selects everything."""
        return share_of(self.relevant, self.documents)

    @property
    def fallout(self) -> Floats:
        """Selected among the documents that are not relevant."""
        return share_of(self.b, self.b + self.d)

    @property
    def accuracy(self) -> Floats:
        """Right decisions among all."""
        return share_of(self.a + self.d, self.documents)

    def f(self, beta: float = 1.0) -> Floats:
        """F(β) of precision and recall; 0 if both are. Made of the counts, so that equal F's are equal numbers."""
        weighted = (1 + beta**2) * self.a
        below = weighted + beta**2 * self.c + self.b
        value = np.divide(weighted, below, out=np.zeros_like(below), where=below != 0)
        return np.where(self.relevant > 0, value, np.nan)

    def e(self, beta: float = 1.0) -> Floats:
        """1 − F(β): lower is better."""
        return 1 - self.f(beta)

    def utility(
        self, relevant: float = 3.0, nonrelevant: float = -2.0, missed: float = 0.0, passed: float = 0.0
    ) -> Floats:
        """What the selection is worth: so much a relevant document, so much another.

        Documents that are not selected may be worth something too: relevant ones `missed`, others rightly `passed`.
        """
        worth = relevant * self.a + nonrelevant * self.b
        return worth + missed * self.c + passed * self.d if missed or passed else worth

    def normalised_utility(
        self, relevant: float = 3.0, nonrelevant: float = -2.0, missed: float = 0.0, passed: float = 0.0
    ) -> Floats:
        """Utility over the best there can be: all relevant documents, and no other."""
        if not relevant > 0:
            raise BadParameter(f"A relevant document must be worth more than 0. Got {relevant} instead.")
        return share_of(self.utility(relevant, nonrelevant, missed, passed), self.best_utility(relevant, passed))

    def scaled_utility(self, relevant: float = 2.0, nonrelevant: float = -1.0, floor: float = T11_FLOOR) -> Floats:
        """Normalised utility, cut at a floor and brought to [0, 1]; T11SU with the defaults."""
        if not floor < 0:
            raise BadParameter(f"The floor of a scaled utility must be below 0. Got {floor} instead.")
        return (np.maximum(self.normalised_utility(relevant, nonrelevant), floor) - floor) / (1 - floor)

    def hull_utility(self, s: float, relevant: float = 3.0, nonrelevant: float = -2.0) -> Floats:
        """Hull's scaled utility: cut at what `s` documents wrongly selected are worth, and brought to [0, 1].

        It has a value where nothing is relevant too: 1 if nothing is selected.
        """
        if not (s > 0 and relevant > 0 and nonrelevant < 0):
            wanted = "s and what a relevant document is worth must be above 0, what another is worth below 0"
            raise BadParameter(f"Of Hull's utility, {wanted}. Got {s}, {relevant} and {nonrelevant} instead.")
        floor = nonrelevant * s
        worth = np.maximum(self.utility(relevant, nonrelevant), floor)
        return (worth - floor) / (self.best_utility(relevant) - floor)

    def t9p(self, target: float = T9_TARGET) -> Floats:
        """Precision of so many documents: those that are not selected, though they should be, count as wrong."""
        if not target > 0:
            raise BadParameter(f"The target of T9P must be above 0. Got {target} instead.")
        return self.a / np.maximum(self.selected, target)

    def best_utility(self, relevant: float = 3.0, passed: float = 0.0) -> Floats:
        """Utility of selecting all relevant documents and no other."""
        best = relevant * self.relevant
        return best + passed * (self.b + self.d) if passed else best

    def idle_utility(self, missed: float = 0.0, passed: float = 0.0) -> Floats:
        """Utility of selecting nothing: 0, unless documents that are not selected are worth something."""
        return missed * self.relevant + passed * (self.b + self.d)

    def total(self) -> Tables:
        """Add the tables of all themes: what micro-averages are made of."""
        return Tables(*(np.array([column.sum()]) for column in (self.a, self.b, self.c, self.d)))


def share_of(above: Floats | Ints, below: Floats | Ints) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    shares: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return shares
