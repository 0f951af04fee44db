"""Preferences between documents (`-R prefs`, `-R qrels_prefs`): judgment groups, counts, and the measures on them.

A group is one person's judgments of a topic. Within a subgroup, a document is preferred to every document of a lower
level; with several subgroups, what follows from chaining them counts too. Documents are numbered by their rank among
the judged ones that were returned; those never returned come after, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

from exaequo.arrays import Floats, Ints
from exaequo.frames import pl
from exaequo.read import Run
from exaequo.trec_eval import OfficialError

Line = tuple[str, str, float, str]  # group, subgroup, level, docno
Count = Callable[["Group"], int]


@dataclass(frozen=True, eq=False)
class Group:
    """One group of a topic. `first` is preferred to `second`, pair by pair; `level` is by document, -1 if unknown."""

    first: Ints
    second: Ints
    level: Floats
    classes: list[Ints] | None
    returned: int

    def possible(self) -> int:
        """Count all preferences."""
        return len(self.first)

    def possible_ret(self) -> int:
        """Count those with both documents returned."""
        return int(np.count_nonzero((self.first < self.returned) & (self.second < self.returned)))

    def possible_imp(self) -> int:
        """Count those with one document returned, or both."""
        return int(np.count_nonzero((self.first < self.returned) | (self.second < self.returned)))

    def fulfilled(self) -> int:
        """Count those with the preferred document returned, and the other one after it or not at all."""
        return int(np.count_nonzero((self.first < self.second) & (self.first < self.returned)))

    def fulfilled_ret(self) -> int:
        """Count those with both returned, in the right order."""
        return int(np.count_nonzero((self.first < self.second) & (self.second < self.returned)))

    def relevant(self, *, returned: bool) -> int:
        """Count documents above level 0."""
        return int(np.count_nonzero(self._levels(returned) > 0))

    def nonrelevant(self, *, returned: bool) -> int:
        """Count documents at level 0, or at any not above it where the group has no subgroups."""
        levels = self._levels(returned)
        return int(np.count_nonzero(levels <= 0 if self.classes else levels == 0))

    def _levels(self, returned: bool) -> Floats:
        ranks = np.arange(len(self.level)) if self.classes is None else np.concatenate(self.classes)
        return self.level[ranks[ranks < self.returned] if returned else ranks]

    def balanced(self, *, returned: bool) -> float:
        """Fulfilled over possible, with as many nonrelevant as relevant documents: some are added, or some left out."""
        more = self.relevant(returned=returned) - self.nonrelevant(returned=returned)
        if more >= 0:
            fulfilled = self.fulfilled_ret() if returned else self.fulfilled()
            fulfilled += self.relevant(returned=True) * more
            possible = self.possible_ret() if returned else self.possible()
            possible += self.relevant(returned=False) * more
        else:
            fulfilled, possible = self.with_fewer_nonrelevant(returned=returned)
        return fulfilled / possible if possible else float("nan")

    def with_fewer_nonrelevant(self, *, returned: bool) -> tuple[int, int]:
        """Count anew with as many nonrelevant documents as there are relevant ones: fulfilled and possible."""
        if self.classes is not None:
            return self._fewer_in_classes(returned)
        limit = self.returned if returned else len(self.level)
        zeros = np.flatnonzero(self.level[:limit] == 0)
        n_rel = self.relevant(returned=False)
        end = int(zeros[n_rel]) if len(zeros) > n_rel else limit
        kept = ~((np.arange(len(self.level)) >= end) & (self.level == 0))
        both = kept[self.first] & kept[self.second]
        if returned:
            both &= (self.first < limit) & (self.second < limit)
        a, b = self.first[both], self.second[both]
        return int(np.count_nonzero((a < b) & (a < self.returned))), len(a)

    def _fewer_in_classes(self, returned: bool) -> tuple[int, int]:
        """The last class, cut, is compared with every class, itself included, as the official program does."""
        classes = self.classes or []
        last = classes[-1][: self.relevant(returned=returned)]
        pairs = [(one, two) for at, one in enumerate(classes) for two in classes[at + 1 : -1]]
        pairs += [(one, last) for one in classes]
        fulfilled = possible = 0
        for one, two in pairs:
            if returned:
                one, two = one[one < self.returned], two[two < self.returned]
            good = (one[:, None] < two) & (one[:, None] < self.returned)
            fulfilled += int(np.count_nonzero(good))
            possible += good.size
        return fulfilled, possible


@dataclass(frozen=True, eq=False)
class Topic:
    """All groups of a topic, and how many of its judged documents were returned."""

    groups: list[Group]
    judged: int
    returned: int

    def total(self, count: Count) -> int:
        """Add up a count of all groups."""
        return sum(count(group) for group in self.groups)

    def averaged(self, share: Callable[[Group], float]) -> float:
        """Average a share over the groups, added one by one as a loop would."""
        total = 0.0
        for group in self.groups:
            total += share(group)
        return total / len(self.groups) if total > 0 else 0.0

    def pairs(self, *, implied: bool, absent: bool) -> float:
        """Average the share of groups that agree with the order, over pairs some group has an opinion on."""
        ours, n = np.zeros((self.judged, self.judged), dtype=np.int64), self.returned
        for group in self.groups:
            np.add.at(ours, (group.first, group.second), 1)
        upper = np.triu(np.ones_like(ours, dtype=bool), 1)
        either = (ours + ours.T > 0) & upper
        inside = np.zeros_like(either)
        inside[:n, : self.judged if implied else n] = True
        scored = either & inside
        shares = ours[scored] / (ours + ours.T)[scored]
        total = np.count_nonzero(scored) + (np.count_nonzero(either[n:, n:]) if absent else 0)
        return float(np.cumsum(shares)[-1]) / total if len(shares) else 0.0


class Topics(list[Topic]):
    """All topics."""

    @property
    def n_topics(self) -> int:
        """How many topics are evaluated."""
        return len(self)


def read_topics(judged: pl.DataFrame, run: Run, depth: int | None, *, single: bool) -> Topics:
    """Put judgments and a run together; each line of plain qrels is a judgment of its group's only subgroup."""
    if "jsg" not in judged.columns:
        judged = judged.rename({"iter": "jg"}).with_columns(jsg=pl.lit("0"))
    ranked = rank_by_name(run, depth, single=single)
    by_topic = judged.group_by("qid").agg("jg", "jsg", "rel", "docno").sort("qid")
    return Topics(read_topic(qid, zip(*lines, strict=True), ranked.get(qid, [])) for qid, *lines in by_topic.rows())


def read_topic(name: str, lines: Iterable[Line], ranked: list[str]) -> Topic:
    """Number the documents of a topic and form its groups."""
    ordered = sorted(lines, key=lambda line: (line[0].encode(), line[1].encode(), -line[2]))
    known = {line[3] for line in ordered}
    found = [docno for docno in ranked if docno in known]
    rest = sorted(known - set(found), key=str.encode)
    number = {docno: at for at, docno in enumerate(found + rest)}
    groups = [_group(name, list(own), number, len(found)) for _, own in groupby(ordered, key=itemgetter(0))]
    return Topic(groups, len(number), len(found))


def _group(topic: str, lines: list[Line], number: dict[str, int], returned: int) -> Group:
    level = np.full(len(number), -1.0)
    subgroups = [list(own) for _, own in groupby(lines, key=itemgetter(1))]
    if len(subgroups) == 1:
        _refuse_two_levels(topic, lines)
        ranks, levels, first, second = _preferred(lines, number)
        level[ranks] = levels
        classes = [np.sort(ranks[levels == one]) for one in sorted(set(levels.tolist()), reverse=True)]
        return Group(first, second, level, classes, returned)
    table = np.eye(len(number), dtype=bool)
    for own in subgroups:
        ranks, levels, first, second = _preferred(own, number)
        for rank, value in zip(ranks, levels, strict=True):
            if level[rank] >= 0 and (level[rank] > 0) != (value > 0):
                raise OfficialError(4, f"topic {topic!r}: a document is both at level 0 and above in one group.")
            level[rank] = value
        table[first, second] = True
    while True:
        chained = (table.astype(np.uint8) @ table.astype(np.uint8)) > 0
        if np.array_equal(chained, table):
            break
        table = chained
    np.fill_diagonal(table, val=False)
    if np.any(table & table.T):
        raise OfficialError(4, f"topic {topic!r}: group {lines[0][0]!r} prefers two documents to each other.")
    first, second = np.nonzero(table)
    return Group(first, second, level, None, returned)


def _preferred(lines: list[Line], number: dict[str, int]) -> tuple[Ints, Floats, Ints, Ints]:
    """Return the ranks and levels of a subgroup's documents, and its preferences, pair by pair."""
    ranks = np.array([number[line[3]] for line in lines])
    levels = np.array([line[2] for line in lines])
    above, below = np.nonzero(levels[:, None] > levels)
    return ranks, levels, ranks[above], ranks[below]


def _refuse_two_levels(topic: str, lines: list[Line]) -> None:
    levels: dict[str, float] = {}
    for *_, value, docno in lines:
        if levels.setdefault(docno, value) != value:
            raise OfficialError(4, f"topic {topic!r}: document {docno!r} is at two levels of one group.")


def rank_by_name(run: Run, depth: int | None, *, single: bool) -> dict[str, list[str]]:
    """Return the documents of each topic, best first. Preferences order ties by name, ascending: a quirk of theirs."""
    sim = pl.col("sim").cast(pl.Float32) if single else pl.col("sim")
    ordered = run.frame.select("qid", "docno", sim).sort("qid", "sim", "docno", descending=[False, True, False])
    if depth is not None:
        ordered = ordered.group_by("qid", maintain_order=True).head(depth)
    by_topic = ordered.group_by("qid", maintain_order=True).agg("docno")
    return dict(by_topic.rows())


def _share(above: int, below: int) -> float:
    return above / below if below else 0.0


def _each(figure: Callable[[Topic], float]) -> Callable[[Topics], Floats]:
    return lambda topics: np.array([figure(topic) for topic in topics], dtype=np.float64)


def _simple(above: Count, below: Count) -> Callable[[Topics], Floats]:
    """One share of all groups together."""
    return _each(lambda topic: _share(topic.total(above), topic.total(below)))


def _averaged(above: Count, below: Count) -> Callable[[Topics], Floats]:
    """The mean of the shares of the groups."""
    return _each(lambda topic: topic.averaged(lambda group: _share(above(group), below(group))))


def _balanced(*, returned: bool) -> Callable[[Topics], Floats]:
    return _each(lambda topic: topic.averaged(lambda group: group.balanced(returned=returned)))


#: The measures on preferences, in the order they are printed: counts, then shares.
COUNTS = {
    "prefs_num_prefs_poss": _each(lambda topic: topic.total(Group.possible)),
    "prefs_num_prefs_ful": _each(lambda topic: topic.total(Group.fulfilled)),
    "prefs_num_prefs_ful_ret": _each(lambda topic: topic.total(Group.fulfilled_ret)),
}
SHARES = {
    "prefs_simp": _simple(Group.fulfilled, Group.possible),
    "prefs_pair": _each(lambda topic: topic.pairs(implied=True, absent=True)),
    "prefs_avgjg": _averaged(Group.fulfilled, Group.possible),
    "prefs_avgjg_Rnonrel": _balanced(returned=False),
    "prefs_simp_ret": _simple(Group.fulfilled_ret, Group.possible_ret),
    "prefs_pair_ret": _each(lambda topic: topic.pairs(implied=False, absent=False)),
    "prefs_avgjg_ret": _averaged(Group.fulfilled_ret, Group.possible_ret),
    "prefs_avgjg_Rnonrel_ret": _balanced(returned=True),
    "prefs_simp_imp": _simple(Group.fulfilled, Group.possible_imp),
    "prefs_pair_imp": _each(lambda topic: topic.pairs(implied=True, absent=False)),
    "prefs_avgjg_imp": _averaged(Group.fulfilled, Group.possible_imp),
}
