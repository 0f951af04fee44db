"""Ordering: a `JudgedRun` in, a `Ranking` out. A tie strategy is nothing but its last sort keys.

==============  =====================================================================================
conventional    sim↓, docno↓: the names of documents decide, as in trec_eval
realistic       sim↓, judgment↑, docno↓: a system that cannot tell documents apart gets no credit for it
optimistic      sim↓, judgment↓, docno↓: the best the tied documents could have done
rank            sim↓, the rank in the file↑, docno↓
input           sim↓, the place in the file
random          sim↓, a random number that depends on the seed and the names alone
==============  =====================================================================================

Judgments sort by normalised grade, and below all grades come the documents nobody judged. So under `realistic` and
`optimistic` the documents that docno still has to order are alike to every measure, and names decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from exaequo.arrays import Bools, Floats, Ints
from exaequo.choices import PRECISIONS, STRATEGIES
from exaequo.errors import bad_input
from exaequo.frames import pl
from exaequo.judge import JudgedRun, Judgments
from exaequo.lots import drawn
from exaequo.options import check_choice
from exaequo.read.records import Run


@dataclass(frozen=True, eq=False)
class Hits:
    """The relevant documents of a ranking: their topic, rank, grade, and which of their topic's they are, from 1."""

    topic: Ints
    rank: Ints
    nth: Ints
    grade: Floats


@dataclass(frozen=True, eq=False)
class Groups:
    """The ties of a ranking, a single document being a tie of one: `topic`, documents `before` it in the list, `size`.

    `of` is the number of the tie of each document.
    """

    start: Ints
    topic: Ints
    before: Ints
    size: Ints
    of: Ints

    def sums(self, values: Floats) -> Floats:
        """Add up the values of the documents of each tie."""
        total: Floats = np.bincount(self.of, weights=values, minlength=len(self.size))  # type: ignore[assignment]
        return total

    def counts(self, marked: Bools) -> tuple[Ints, Ints]:
        """Return how many marked documents each tie has, and how many stand before it in its list."""
        inside = np.bincount(self.of[marked], minlength=len(self.size))
        so_far = np.cumsum(inside) - inside
        return inside, so_far - so_far[np.searchsorted(self.topic, self.topic)]


@dataclass(frozen=True, eq=False)
class Ranking:
    """All lists of one run under one strategy, topic after topic: what every measure sees.

    `topic`, `rank` (from 1), `grade` and `judged` have one entry per document; `line` is its place in the judged run
    it comes from, and `tie` the number of its score: documents of one number are tied. Topics the run has nothing for
    are empty stretches.
    """

    lines: JudgedRun
    topic: Ints
    rank: Ints
    grade: Floats
    judged: Bools
    line: Ints
    tie: Ints
    _hits: dict[tuple[float | None, int | None], Hits] = field(default_factory=dict, init=False, repr=False)

    @property
    def judgments(self) -> Judgments:
        """The judgments of all topics."""
        return self.lines.judgments

    @cached_property
    def n_topics(self) -> int:
        """How many topics are evaluated."""
        return self.judgments.n_topics

    @property
    def row(self) -> Ints:
        """Place of each document in the run's frame."""
        return self.lines.row[self.line]

    @cached_property
    def returned(self) -> Ints:
        """Length of each topic's list."""
        return np.bincount(self.topic, minlength=self.n_topics)

    @cached_property
    def groups(self) -> Groups:
        """The ties."""
        first = np.ones(len(self.tie), dtype=bool)
        first[1:] = self.tie[1:] != self.tie[:-1]
        start = np.flatnonzero(first)
        size = np.diff(start, append=len(self.tie))
        return Groups(start, self.topic[start], self.rank[start] - 1, size, np.cumsum(first) - 1)

    @cached_property
    def gainful(self) -> Ints:
        """Places of the documents judged above 0."""
        return np.flatnonzero(self.judged & (self.grade > 0))

    def part(self, kept: Bools | Ints) -> Ranking:
        """Return a ranking of these places only; ranks stay what they are."""
        columns = self.grade[kept], self.judged[kept], self.line[kept], self.tie[kept]
        return Ranking(self.lines, self.topic[kept], self.rank[kept], *columns)

    def reordered(self, line: Ints) -> Ranking:
        """Return a ranking with the same places but these documents in them."""
        return replace(self, grade=self.lines.grade[line], judged=self.lines.judged[line], line=line)

    def relevant(self, level: float | None = None) -> Bools:
        """Tell which documents are relevant at this level."""
        return self.judged & self.judgments.relevant(self.grade, level)

    def n_rel(self, level: float | None = None) -> Ints:
        """Return the number of relevant documents of each topic, returned or not."""
        return self.judgments.counted(level)

    def hits(self, level: float | None = None, cutoff: int | None = None) -> Hits:
        """Return the relevant documents of all lists, up to rank `cutoff`."""
        if (level, cutoff) not in self._hits:
            self._hits[level, cutoff] = self._found(level) if cutoff is None else self._up_to(cutoff, self.hits(level))
        return self._hits[level, cutoff]

    def _found(self, level: float | None) -> Hits:
        at = self.relevant(level).nonzero()[0]
        topic = self.topic[at]
        before = topic.searchsorted(np.arange(self.n_topics))
        nth = np.arange(len(at)) - before[topic] + 1
        return Hits(topic, self.rank[at], nth, self.grade[at])

    def _up_to(self, cutoff: int, hits: Hits) -> Hits:
        top = hits.rank <= cutoff
        return Hits(hits.topic[top], hits.rank[top], hits.nth[top], hits.grade[top])

    def total(self, topic: Ints, values: Floats | None = None) -> Floats:
        """Sum values over topics, or count entries if there are no values."""
        return np.bincount(topic, weights=values, minlength=self.n_topics).astype(np.float64)


class Ordering:
    """One run sorted by topic and score, once; each strategy then touches only the tied documents.

    Rankings are remembered, and with them what measures ask of them; where nothing is tied, all strategies have one.
    """

    def __init__(self, judged: JudgedRun, precision: str = "double") -> None:
        """Sort. Scores are compared as doubles, or as singles on request; `-0.0` equals `0.0`."""
        check_choice("precision", precision, PRECISIONS)
        self.judged_run = judged
        self.precision = precision
        sim: npt.NDArray[np.floating[Any]] = judged.sim
        if precision == "single":
            with np.errstate(over="ignore"):
                sim = sim.astype(np.float32)
        returned = judged.returned
        self._rank = np.arange(1, len(sim) + 1)
        self._rank -= (returned.cumsum() - returned).repeat(returned)
        self._order = order = _sorted_order(judged.topic, sim, returned, self._rank)
        self._topic = judged.topic[order]
        sim = sim[order]
        same = (sim[1:] == sim[:-1]) & (self._topic[1:] == self._topic[:-1])
        tied = np.zeros(len(order), dtype=bool)
        tied[1:] = same
        #: The number of the tie of each document; places of tied documents, and the number of the tie of each.
        self._group = (~tied).cumsum()
        tied[:-1] |= same
        self._places = tied.nonzero()[0]
        self._tie = self._group[self._places]
        self._rankings: dict[tuple[str, int, int | None], Ranking] = {}
        self._alone: dict[int, Ordering] = {}

    @property
    def run(self) -> Run:
        """The run that was sorted."""
        return self.judged_run.run

    @property
    def judgments(self) -> Judgments:
        """The judgments it was put to."""
        return self.judged_run.judgments

    @property
    def n_tied(self) -> int:
        """How many documents share their score with another of their list."""
        return len(self._places)

    def ranking(self, ties: str = "realistic", *, seed: int = 0, depth: int | None = None) -> Ranking:
        """Order the ties by a strategy, then cut the lists at `depth`."""
        check_choice("ties", ties, STRATEGIES)
        key = (ties if self.n_tied else "input", seed if ties == "random" else 0, depth)
        if key not in self._rankings:
            self._rankings[key] = self._ranking(*key)
        return self._rankings[key]

    def _ranking(self, ties: str, seed: int, depth: int | None) -> Ranking:
        judged, order = self.judged_run, self._order
        if ties != "input":
            order = order.copy()
            order[self._places] = self._order[self._places][self._permutation(ties, seed)]
        topic, rank, tie = self._topic, self._rank, self._group
        if depth is not None:
            top = rank <= depth
            order, topic, rank, tie = order[top], topic[top], rank[top], tie[top]
        return Ranking(judged, topic, rank, judged.grade[order], judged.judged[order], order, tie)

    def of_topic(self, topic: int) -> Ordering:
        """Return the list of one topic alone; all other lists are empty."""
        if topic not in self._alone:
            self._alone[topic] = Ordering(self.judged_run.part(self.judged_run.topic == topic), self.precision)
        return self._alone[topic]

    def rejudged(self, lines: JudgedRun, kept: Bools | None = None) -> Ordering:
        """Return the same lines in the same order, judged otherwise; or those kept: heads of lists, in whole ties."""
        by_name = self._by_name  # found once for all judgments
        other = copy(self)
        other.judged_run, other._rankings, other._alone = lines, {}, {}
        if kept is None:
            return other
        there = kept[self._order]
        tied = there[self._places]
        vars(other).pop("_file_ranks", None)
        vars(other)["_by_name"] = (np.cumsum(tied) - 1)[by_name[tied[by_name]]]
        other.judged_run = lines.part(kept)
        other._order = (np.cumsum(kept) - 1)[self._order[there]]
        other._topic, other._rank, other._group = self._topic[there], self._rank[there], self._group[there]
        other._places = (np.cumsum(there) - 1)[self._places[tied]]
        other._tie = self._tie[tied]
        return other

    def standing(self) -> Ordering:
        """Return the same lists without ties: the realistic order is kept."""
        if not self.n_tied:
            return self
        ranking, lines = self.ranking("realistic"), self.judged_run
        sim = np.empty(len(lines.sim))
        sim[ranking.line] = -ranking.rank.astype(np.float64)
        return Ordering(replace(lines, sim=sim))

    def _permutation(self, ties: str, seed: int) -> Ints:
        """Return the order of the tied documents. Every strategy starts from names, so none depends on file order."""
        by_name = self._by_name
        if ties not in KEYS:
            return by_name
        return by_name[np.lexsort((KEYS[ties](Tied(self, by_name, seed)), self._tie))]

    @cached_property
    def _by_name(self) -> Ints:
        """Tied documents by docno, descending, in the order of bytes."""
        if (plain := self.run.plain) is not None:
            names = plain.docno[self.judged_run.row[self._order[self._places]]]
            order = np.argsort(names)[::-1]
            return order[np.argsort(self._tie[order], kind="stable")]
        tied = pl.DataFrame({"tie": self._tie, "docno": self._tied_column("docno")})
        by_name = tied.select(pl.arg_sort_by("tie", "docno", descending=[False, True])).to_series()
        return by_name.to_numpy().astype(np.int64)

    @cached_property
    def _file_ranks(self) -> Floats:
        run = self.judged_run.run
        if "rank" not in run.frame.columns:
            raise bad_input(self._called(0)[0], "there is no rank", "a rank column", "Use another --ties.")
        text = self._tied_column("rank")
        rank = text.cast(pl.Float64, strict=False)
        bad = (rank.is_null() | ~rank.is_finite()).arg_true()
        if len(bad):
            at = bad[0]
            name, topic = self._called(at)
            where = f"document {self._tied_column('docno')[at]!r} of topic {topic!r}"
            raise bad_input(name, f"the rank of {where} is {text[at]!r}", "a number", "Use another --ties.")
        return rank.to_numpy()

    def _called(self, at: int) -> tuple[str, str]:
        """Return what messages call the run and the topic of a tied document."""
        return self.run.source.name, self._tied_column("qid")[at]

    def _tied_column(self, name: str) -> pl.Series:
        return self.judged_run.run.frame[name][self.judged_run.row[self._order[self._places]]]


@dataclass(frozen=True, eq=False)
class Tied:
    """The tied documents of a run by name, tie after tie: what a strategy can order them by."""

    ordering: Ordering
    by_name: Ints
    seed: int

    @property
    def judgment(self) -> Floats:
        """Their grades; what nobody judged is below all grades."""
        judged_run = self.ordering.judged_run
        lines = self.ordering._order[self.ordering._places][self.by_name]
        return np.where(judged_run.judged[lines], judged_run.grade[lines], -np.inf)

    @property
    def file_rank(self) -> Floats:
        """Their ranks as the file has them."""
        return self.ordering._file_ranks[self.by_name]

    @property
    def lot(self) -> Floats:
        """A random number for each, which depends on the seed, the topic and the names of what is tied."""
        ordering, places = self.ordering, self.ordering._places
        return drawn(self.seed, ordering.judgments.lots[ordering._topic[places]], ordering._rank[places])


#: How many times as large as all lists the matrix may be in which each of them is a row.
_PADDED = 2

#: The last sort key of each strategy; names order the rest, and all of it where a strategy has no key.
KEYS: dict[str, Callable[[Tied], Floats]] = {
    "realistic": lambda tied: tied.judgment,
    "optimistic": lambda tied: -tied.judgment,
    "rank": lambda tied: tied.file_rank,
    "random": lambda tied: tied.lot,
}


def _sorted_order(topic: Ints, sim: npt.NDArray[np.floating[Any]], returned: Ints, rank: Ints) -> Ints:
    """Return the order by topic, then by score, best first, then as in the file; each place in it has its `rank`."""
    other_topic = topic[1:] != topic[:-1]
    start = np.append(0, other_topic.nonzero()[0] + 1)
    sizes = returned[returned > 0]
    if len(start) == len(sizes):  # each list is in one piece
        first: Ints = start[topic[start].argsort()].repeat(sizes)
        whole = first + (rank - 1)
        if ((sim[1:] <= sim[:-1]) | other_topic).all():
            # The usual file: each list is in order, so only the topics have to be sorted.
            return whole
        if len(sizes) * sizes.max() <= _PADDED * len(topic):
            return first + _sorted_rows(-sim[whole], sizes)
    by_sim = np.argsort(-sim, kind="stable")
    # NumPy sorts small whole numbers by counting.
    own = topic[by_sim]
    return by_sim[np.argsort(own.astype(np.uint16) if own.max(initial=0) < 2**16 else own, kind="stable")]


def _sorted_rows(values: npt.NDArray[np.floating[Any]], sizes: Ints) -> Ints:
    """Return the order inside each of lists that follow each other: rows of a matrix, which stay near the processor."""
    shape = len(sizes), sizes.max()
    if sizes.min() == shape[1]:
        return values.reshape(shape).argsort(axis=1, kind="stable").ravel()
    there = np.arange(shape[1]) < sizes[:, None]
    rows = np.full(shape, np.inf, dtype=values.dtype)
    rows[there] = values
    return rows.argsort(axis=1, kind="stable")[there]
