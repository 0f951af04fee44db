"""Binary filters: classifiers that select documents per theme, by a score and a threshold, or by plain decisions.

A document is selected if its score is at least the threshold. The table of a theme counts

=============  ==================  =====================
               relevant            not relevant
=============  ==================  =====================
selected       a                   b
not selected   c                   d
=============  ==================  =====================

Documents nobody judged count as not relevant. `docs` is the size of the collection; without it, the collection of a
theme is what was judged or scored for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from exaequo.choices import HIGHEST_GRADE
from exaequo.errors import BadParameter, bad_input
from exaequo.evaluation import judged_runs
from exaequo.judge import Bools, Floats, Ints
from exaequo.measures.interpolated import best_from_here, least_found
from exaequo.measures.parameters import MOST_DOCUMENTS
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.read import QrelsLike, RunLike, read_qrels, read_run
from exaequo.read.decisions import Decisions, read_decisions

#: Thresholds of F_optimal, as the source defines it.
GRID = tuple(tenth / 10 for tenth in range(11))
#: Below this share of the best utility, T11SU counts nothing (TREC 2002 filtering track).
T11_FLOOR = -0.5


@dataclass(frozen=True, eq=False)
class Tables:
    """Contingency tables, one per theme, or one for all of them."""

    a: Floats
    b: Floats
    c: Floats
    d: Floats

    @property
    def precision(self) -> Floats:
        """Relevant among the selected; 1 if nothing is selected."""
        selected = self.a + self.b
        return np.divide(self.a, selected, out=np.ones_like(selected), where=selected > 0)

    @property
    def recall(self) -> Floats:
        """Selected among the relevant."""
        return _share(self.a, self.a + self.c)

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
        return _share(self.a + self.c, self.a + self.b + self.c + self.d)

    @property
    def fallout(self) -> Floats:
        """Selected among the documents that are not relevant."""
        return _share(self.b, self.b + self.d)

    @property
    def accuracy(self) -> Floats:
        """Right decisions among all."""
        return _share(self.a + self.d, self.a + self.b + self.c + self.d)

    def f(self, beta: float = 1.0) -> Floats:
        """F(β) of precision and recall; 0 if both are. Made of the counts, so that equal F's are equal numbers."""
        weighted = (1 + beta**2) * self.a
        return _share(weighted, weighted + beta**2 * self.c + self.b)

    def e(self, beta: float = 1.0) -> Floats:
        """1 − F(β): lower is better."""
        return 1 - self.f(beta)

    def utility(
        self, relevant: float = 3.0, nonrelevant: float = -2.0, missed: float = 0.0, passed: float = 0.0
    ) -> Floats:
        """What the selection is worth: so much a relevant document, so much another.

        Documents that are not selected may be worth something too: relevant ones `missed`, others rightly `passed`.
        """
        return relevant * self.a + nonrelevant * self.b + missed * self.c + passed * self.d

    def normalised_utility(
        self, relevant: float = 3.0, nonrelevant: float = -2.0, missed: float = 0.0, passed: float = 0.0
    ) -> Floats:
        """Utility over the best there can be: all relevant documents, and no other."""
        if not relevant > 0:
            raise BadParameter(f"A relevant document must be worth more than 0. Got {relevant} instead.")
        return _share(self.utility(relevant, nonrelevant, missed, passed), self.best_utility(relevant, passed))

    def scaled_utility(self, relevant: float = 2.0, nonrelevant: float = -1.0, floor: float = T11_FLOOR) -> Floats:
        """Normalised utility, cut at a floor and brought to [0, 1]; T11SU with the defaults."""
        if not floor < 0:
            raise BadParameter(f"The floor of a scaled utility must be below 0. Got {floor} instead.")
        return (np.maximum(self.normalised_utility(relevant, nonrelevant), floor) - floor) / (1 - floor)

    def best_utility(self, relevant: float = 3.0, passed: float = 0.0) -> Floats:
        """Utility of selecting all relevant documents and no other."""
        return relevant * (self.a + self.c) + passed * (self.b + self.d)

    def idle_utility(self, missed: float = 0.0, passed: float = 0.0) -> Floats:
        """Utility of selecting nothing: 0, unless documents that are not selected are worth something."""
        return missed * (self.a + self.c) + passed * (self.b + self.d)

    def total(self) -> Tables:
        """Add the tables of all themes: what micro-averages are made of."""
        return Tables(*(np.array([column.sum()]) for column in (self.a, self.b, self.c, self.d)))


def _share(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)


@dataclass(frozen=True, eq=False)
class Sweep:
    """All distinct thresholds of all themes, highest first: `theme`, `threshold`, and the tables there."""

    theme: Ints
    threshold: Floats
    tables: Tables
    n_themes: int

    def interpolated(self, levels: Sequence[float] = GRID) -> Floats:
        """Best precision at each recall level or beyond: a row per theme, a column per level."""
        best = best_from_here(self.tables.precision, self.theme)
        n_rel = (self.tables.a + self.tables.c).astype(np.int64)
        table = np.zeros((self.n_themes, len(levels)))
        for column, level in enumerate(levels):
            reached = np.flatnonzero(self.tables.a >= least_found(level, n_rel))[::-1]
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
        return self._best(self.tables.f(beta))

    def _best(self, values: Floats) -> tuple[Floats, Floats]:
        """The best value above 0 of each theme, and the lowest threshold that has it."""
        best, at = np.zeros(self.n_themes), np.full(self.n_themes, np.inf)
        np.maximum.at(best, self.theme, values)
        winners = np.flatnonzero((values == best[self.theme]) & (values > 0))
        np.minimum.at(at, self.theme[winners], self.threshold[winners])
        return best, at


@dataclass(frozen=True, eq=False)
class Filter:
    """One system: every theme's documents, best score first."""

    name: str
    themes: list[str]
    theme: Ints
    score: Floats
    relevant: Bools
    n_rel: Ints
    n_docs: Ints
    #: Themes that were left out, because they have no relevant document.
    left_out: tuple[str, ...] = ()

    def at(self, threshold: float) -> Tables:
        """Return the tables at a threshold."""
        each = self.at_each(np.array([threshold]))
        return Tables(*(cells[:, 0] for cells in (each.a, each.b, each.c, each.d)))

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
        return total / self.n_rel

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
        return Sweep(theme, self.score[at], tables, len(self.themes))

    def f_optimal(self, beta: float = 1.0) -> tuple[Floats, Floats]:
        """The best F on the grid 0, 0.1, … 1, and its threshold, the lowest of equals. Scores must lie in [0, 1]."""
        if len(self.score) and (self.score.min() < 0 or self.score.max() > 1):
            odd = float(self.score.min() if self.score.min() < 0 else self.score.max())
            found = f"a score of {odd:g}"
            mend = "Scale the scores; the best F over all thresholds needs no scale."
            raise bad_input(self.name, found, "scores from 0 to 1 for F_optimal", mend)
        table = self.at_each(np.array(GRID)).f(beta)
        return table.max(axis=1), np.array(GRID)[table.argmax(axis=1)]


def read_filter(
    qrels: QrelsLike,
    run: RunLike,
    *,
    docs: int | None = None,
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
) -> Filter:
    """Make a filter of judgments and a run; themes without a relevant document are left out."""
    options = Options(rel_level=rel_level, max_grade=max_grade)
    ((ordering, _),) = judged_runs(read_qrels(qrels), [read_run(run)], options)
    return filter_of(ordering, docs=docs)


def filter_of(ordering: Ordering, *, docs: int | None = None) -> Filter:
    """Make a filter of a run that has been judged and sorted."""
    judgments, run, lists = ordering.judgments, ordering.run, ordering.ranking("input")
    n_judged = np.bincount(judgments.topic, minlength=judgments.n_topics)
    unjudged = np.bincount(lists.topic[~lists.judged], minlength=judgments.n_topics)
    return Filter(
        run.name,
        judgments.topics.to_list(),
        lists.topic,
        lists.lines.sim[lists.line],
        lists.relevant(),
        judgments.counted(),
        _sizes(n_judged + unjudged, docs, run.source.name),
        tuple(judgments.nothing_relevant),
    )


def from_arrays(
    themes: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]], *, docs: int | None = None, name: str = "filter"
) -> Filter:
    """Make a filter of `{theme: (y_true, y_score)}`; decisions are scores of 0 and 1.

    Themes without a relevant document are left out, as everywhere; `left_out` names them.
    """
    checked = {theme: _checked(name, theme, *pair) for theme, pair in themes.items()}
    left_out = tuple(theme for theme, (truth, _) in checked.items() if not truth.any())
    kept = {theme: pair for theme, pair in checked.items() if theme not in left_out}
    if not kept:
        raise bad_input(name, "no theme has a relevant document", "at least one", "Check the truth.")
    names = list(kept)
    relevant, score = (np.concatenate(column) for column in zip(*kept.values(), strict=True))
    owner = np.repeat(np.arange(len(names)), [len(truth) for truth, _ in kept.values()])
    order = np.lexsort((-score, owner))
    n_rel = np.bincount(owner[relevant], minlength=len(names))
    n_docs = _sizes(np.bincount(owner, minlength=len(names)), docs, name)
    return Filter(name, names, owner[order], score[order], relevant[order], n_rel, n_docs, left_out)


def _checked(name: str, theme: str, y_true: npt.ArrayLike, y_score: npt.ArrayLike) -> tuple[Bools, Floats]:
    """Return which documents are relevant, and their scores; refuse what is no such pair of lists."""
    truth, score = np.asarray(y_true, dtype=np.float64), np.asarray(y_score, dtype=np.float64)
    if not np.isfinite(truth).all():
        problem = (f"theme {theme!r} has a truth that is not finite", "numbers", "Mend it.")
    elif truth.shape != score.shape or score.ndim != 1:
        found = f"theme {theme!r} has arrays of shapes {truth.shape} and {score.shape}"
        problem = (found, "two lists of one length", "Mend the arrays.")
    elif not np.isfinite(score).all():
        problem = (f"theme {theme!r} has a score that is not finite", "numbers", "Mend it.")
    else:
        return truth > 0, score
    raise bad_input(name, *problem)


def from_table(
    data: Any, *, docs: int | None = None, reader: str | None = None, columns: Mapping[str, str] | None = None
) -> Filter:
    """Make a filter of a table with a row per theme and document: `theme`, `y_true`, and `y_score` or a decision.

    Themes without a relevant document are left out, as everywhere.
    """
    return from_decisions(read_decisions(data, reader=reader, columns=columns), docs=docs)


def from_decisions(table: Decisions, *, docs: int | None = None) -> Filter:
    """Make a filter of a table that has been read."""
    rows = pl.DataFrame({"theme": table.theme, "truth": table.truth, "score": table.score})
    parts = rows.partition_by("theme", as_dict=True)
    themes = {str(theme): (part["truth"].to_numpy(), part["score"].to_numpy()) for (theme,), part in parts.items()}
    return from_arrays(themes, docs=docs, name=table.name)


def _sizes(known: Ints, docs: int | None, name: str) -> Ints:
    if docs is not None and (type(docs) is not int or not 1 <= docs <= MOST_DOCUMENTS):
        raise BadParameter(f"docs must be a whole number from 1 to {MOST_DOCUMENTS:,}. Got {docs!r} instead.")
    if docs is not None and docs < known.max(initial=0):
        found = f"a theme has {known.max():,} documents"
        raise bad_input(name, found, f"at most the {docs:,} of the collection", "Check --docs.")
    return known if docs is None else np.full(len(known), docs)
