"""One filter: its tables at a threshold, and at all of them. In: themes, scores, what is relevant. Out: `Tables`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from exaequo.arrays import Bools, Floats, Ints
from exaequo.errors import BadParameter, bad_input
from exaequo.measures.interpolated import best_from_here, least_found
from exaequo.measures.selection import Tables, share_of
from exaequo.tabular import Tabled

#: Thresholds of F_optimal, as the source defines it.
GRID = tuple(tenth / 10 for tenth in range(11))


@dataclass(frozen=True, eq=False)
class Sweep:
    """All distinct thresholds of all themes, highest first: `theme`, `threshold`, and the tables there.

    Where nothing is relevant, what is made of recall or F is undefined, NaN.
    """

    theme: Ints
    threshold: Floats
    tables: Tables
    n_rel: Ints

    @property
    def n_themes(self) -> int:
        """How many themes there are."""
        return len(self.n_rel)

    def interpolated(self, levels: Sequence[float] = GRID) -> Floats:
        """Best precision at each recall level or beyond: a row per theme, a column per level."""
        best = best_from_here(self.tables.precision, self.theme)
        n_rel = (self.tables.a + self.tables.c).astype(np.int64)
        table = np.zeros((self.n_themes, len(levels)))
        table[self.n_rel == 0] = np.nan
        for column, level in enumerate(levels):
            reached = np.flatnonzero((self.tables.a >= least_found(level, n_rel)) & (n_rel > 0))[::-1]
            table[self.theme[reached], column] = best[reached]  # the highest threshold is written last
        return table

    @property
    def eleven_points(self) -> Floats:
        """Mean of the interpolated precision at 0, 0.1, … 1."""
        mean: Floats = self.interpolated().mean(axis=1)
        return mean

    @property
    def break_even(self) -> Floats:
        """Where precision and recall meet, on the line between the two thresholds around it; NaN if they do not.

        Of several meetings the one at the highest threshold counts; both being 0 counts only if there is no other.
        """
        p, r = self.tables.precision, self.tables.recall
        gap = p - r
        result = np.full(self.n_themes, np.nan)
        equal = gap == 0
        next_in_theme = np.concatenate((self.theme[1:] == self.theme[:-1], [False]))
        after = np.concatenate((gap[1:], [0.0]))
        crossing = next_in_theme & (gap * after < 0)
        share = np.divide(gap, gap - after, out=np.zeros_like(gap), where=crossing)
        p_after = np.concatenate((p[1:], [0.0]))
        value = np.where(crossing, p + share * (p_after - p), p)
        for chosen in (equal & (p == 0), crossing | (equal & (p > 0))):  # the better kind overwrites the other
            at = np.flatnonzero(chosen)[::-1]  # the highest threshold is written last
            result[self.theme[at]] = value[at]
        return result

    def best_utility(self, relevant: float = 3.0, nonrelevant: float = -2.0) -> tuple[Floats, Floats]:
        """The best utility over all thresholds, and the threshold; infinity means selecting nothing is best."""
        return self._best(self.tables.utility(relevant, nonrelevant))

    def best_f(self, beta: float = 1.0) -> tuple[Floats, Floats]:
        """The best F over all thresholds, and the threshold; infinity means selecting nothing is best."""
        best, at = self._best(np.nan_to_num(self.tables.f(beta)))
        return np.where(self.n_rel > 0, best, np.nan), np.where(self.n_rel > 0, at, np.nan)

    def _best(self, values: Floats) -> tuple[Floats, Floats]:
        """The best value above 0 of each theme, and the lowest threshold that has it."""
        best, at = np.zeros(self.n_themes), np.full(self.n_themes, np.inf)
        np.maximum.at(best, self.theme, values)
        winners = np.flatnonzero((values == best[self.theme]) & (values > 0))
        np.minimum.at(at, self.theme[winners], self.threshold[winners])
        return best, at


@dataclass(frozen=True, eq=False, repr=False)
class Filter(Tabled):
    """One system: every theme's documents, best score first.

    `moment` is when each document came, a place in `moments`: the times a table has, or the place in the list.
    """

    name: str
    themes: list[str]
    theme: Ints
    score: Floats
    relevant: Bools
    n_rel: Ints
    n_docs: Ints
    moment: Ints
    moments: pl.Series
    file: str = ""

    shown = ("themes",)

    def __repr__(self) -> str:
        return f"<Filter {self.name!r}: {len(self.themes):,} themes, {len(self.score):,} scored documents>"

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The themes: documents with a score, relevant ones, and all there are."""
        scored = np.bincount(self.theme, minlength=len(self.themes))
        counts = {"theme": self.themes, "documents": scored, "relevant": self.n_rel, "N": self.n_docs}
        return {"themes": pl.DataFrame(counts)}

    def at(self, threshold: float | Floats) -> Tables:
        """Return the tables at a threshold, or with a threshold for each theme."""
        selected = self.selects(threshold)
        a, b = (
            np.bincount(self.theme[selected & kind], minlength=len(self.themes)).astype(np.float64)
            for kind in (self.relevant, ~self.relevant)
        )
        return Tables(a, b, self.n_rel - a, self.n_docs - self.n_rel - b)

    def selects(self, threshold: float | Floats) -> Bools:
        """Tell which documents are selected at a threshold, or with a threshold for each theme."""
        each: Floats = np.broadcast_to(np.asarray(threshold, dtype=np.float64), len(self.themes))
        if np.ndim(threshold) == 0 and np.isnan(each).any():  # of a theme without relevant ones, nothing is learnt
            raise BadParameter("The threshold must be a number. Got nan instead.")
        return self.score >= each[self.theme]

    def pooled(self) -> Filter:
        """Return the filter of all themes taken as one, whose table is the sum of theirs."""
        order = np.argsort(-self.score, kind="stable")
        n_rel, n_docs = (np.array([each.sum()]) for each in (self.n_rel, self.n_docs))
        own = self.score[order], self.relevant[order], n_rel, n_docs, self.moment[order]
        return Filter(self.name, ["all"], np.zeros_like(self.theme), *own, self.moments)

    def at_each(self, thresholds: Floats) -> Tables:
        """Return the tables at many thresholds in ascending order: a row per theme, a column per threshold."""
        below = np.searchsorted(thresholds, self.score, side="right")  # so many of the thresholds are reached
        shape = (len(self.themes), len(thresholds) + 1)

        def selected(chosen: Bools) -> Floats:
            place = self.theme[chosen] * shape[1] + below[chosen]
            reached = np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)
            return np.cumsum(reached[:, ::-1], axis=1)[:, ::-1][:, 1:].astype(np.float64)

        a, b = selected(self.relevant), selected(~self.relevant)
        n_rel, n_docs = self.n_rel[:, None], self.n_docs[:, None]
        return Tables(a, b, n_rel - a, n_docs - n_rel - b)

    @cached_property
    def average_precision(self) -> Floats:
        """Uninterpolated average precision (UAP) of the whole ranking, realistic where scores are tied."""
        order = np.lexsort((self.relevant, -self.score, self.theme))
        theme, relevant = self.theme[order], self.relevant[order]
        start = np.searchsorted(theme, theme)
        so_far = np.concatenate(([0], np.cumsum(relevant)))
        found = so_far[1:] - so_far[start]
        rank = np.arange(len(theme)) - start + 1
        total = np.bincount(theme[relevant], (found / rank)[relevant], minlength=len(self.themes))
        return share_of(total, self.n_rel)

    @cached_property
    def sweep(self) -> Sweep:
        """Return the tables at every distinct score; documents tied in score are selected together."""
        last = np.ones(len(self.theme), dtype=bool)
        last[:-1] = (self.theme[1:] != self.theme[:-1]) | (self.score[1:] != self.score[:-1])
        at = np.flatnonzero(last)
        start = np.searchsorted(self.theme, self.theme[at])
        so_far = np.concatenate(([0], np.cumsum(self.relevant)))
        a = (so_far[at + 1] - so_far[start]).astype(np.float64)
        b = at + 1 - start - a
        theme = self.theme[at]
        tables = Tables(a, b, self.n_rel[theme] - a, (self.n_docs - self.n_rel)[theme] - b)
        return Sweep(theme, self.score[at], tables, self.n_rel)

    def f_optimal(self, beta: float = 1.0) -> tuple[Floats, Floats]:
        """The best F on the grid 0, 0.1, … 1, and its threshold, the lowest of equals. Scores must lie in [0, 1]."""
        if len(self.score) and (self.score.min() < 0 or self.score.max() > 1):
            odd = float(self.score.min() if self.score.min() < 0 else self.score.max())
            found = f"a score of {odd:g}"
            mend = "Scale the scores; the best F over all thresholds needs no scale."
            raise bad_input(self.name, found, "scores from 0 to 1 for F_optimal", mend)
        table = self.at_each(np.array(GRID)).f(beta)
        return table.max(axis=1), np.where(self.n_rel > 0, np.array(GRID)[table.argmax(axis=1)], np.nan)
