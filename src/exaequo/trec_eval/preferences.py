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
import numpy.typing as npt
import polars as pl

from exaequo.judge import Bools, Floats, Ints
from exaequo.read import Run
from exaequo.trec_eval.catalogue import OfficialError

Line = tuple[str, str, float, str]  # group, subgroup, level, docno


@dataclass(frozen=True, eq=False)
class Group:
    """One group of a topic. `first` is preferred to `second`, pair by pair; `level` is by document, -1 if unknown."""

    first: Ints
    second: Ints
    level: Floats
    classes: list[Ints] | None
    returned: int

    def count(self, chosen: Callable[[Ints, Ints], Bools]) -> int:
        """Count the preferences of some kind."""
        return int(np.count_nonzero(chosen(self.first, self.second)))

    @property
    def fulfilled_ret(self) -> int:
        """Both returned, in the right order."""
        return self.count(lambda a, b: (a < b) & (b < self.returned))

    @property
    def fulfilled_imp(self) -> int:
        """Only the preferred one returned."""
        return self.count(lambda a, b: (a < self.returned) & (b >= self.returned))

    @property
    def possible_ret(self) -> int:
        """Both returned."""
        return self.count(lambda a, b: (a < self.returned) & (b < self.returned))

    @property
    def possible_imp(self) -> int:
        """One of the two returned."""
        return self.count(lambda a, b: (a < self.returned) != (b < self.returned))

    @property
    def possible(self) -> int:
        """All of them."""
        return len(self.first)

    def relevant(self, *, returned: bool) -> int:
        """Count documents above level 0."""
        return self._of_level(lambda level: level > 0, returned)

    def nonrelevant(self, *, returned: bool) -> int:
        """Count documents at level 0, or at any not above it where the group has no subgroups."""
        return self._of_level(lambda level: level <= 0 if self.classes else level == 0, returned)

    def _of_level(self, chosen: Callable[[Floats], Bools], returned: bool) -> int:
        if self.classes is not None:
            ranks = np.concatenate(self.classes)
            levels = self.level[ranks]
            return int(np.count_nonzero(chosen(levels) & ((ranks < self.returned) | (not returned))))
        level = self.level[: self.returned] if returned else self.level
        return int(np.count_nonzero(chosen(level)))

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

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many groups prefer document i to document j."""
        table = np.zeros((self.judged, self.judged), dtype=np.int64)
        for group in self.groups:
            np.add.at(table, (group.first, group.second), 1)
        return table

    def pairs(self, *, implied: bool, absent: bool) -> float:
        """Average the share of groups that agree with the order, over pairs some group has an opinion on."""
        ours, n = self.counts, self.returned
        upper = np.triu(np.ones_like(ours, dtype=bool), 1)
        either = (ours + ours.T > 0) & upper
        inside = np.zeros_like(either)
        inside[:n, : self.judged if implied else n] = True
        scored = either & inside
        shares = ours[scored] / (ours + ours.T)[scored]
        total = np.count_nonzero(scored) + (np.count_nonzero(either[n:, n:]) if absent else 0)
        return float(np.cumsum(shares)[-1]) / total if len(shares) else 0.0


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
        ranks = np.array([number[line[3]] for line in lines])
        levels = np.array([line[2] for line in lines])
        _refuse_two_levels(topic, lines)
        level[ranks] = levels
        above, below = np.nonzero(levels[:, None] > levels)
        classes = [np.sort(ranks[levels == one]) for one in sorted(set(levels.tolist()), reverse=True)]
        return Group(ranks[above], ranks[below], level, classes, returned)
    table = np.eye(len(number), dtype=bool)
    for own in subgroups:
        ranks = np.array([number[line[3]] for line in own])
        levels = np.array([line[2] for line in own])
        for rank, value in zip(ranks, levels, strict=True):
            if level[rank] >= 0 and (level[rank] > 0) != (value > 0):
                raise OfficialError(4, f"topic {topic!r}: a document is both at level 0 and above in one group.")
            level[rank] = value
        above, below = np.nonzero(levels[:, None] > levels)
        table[ranks[above], ranks[below]] = True
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


def _averaged(topic: Topic, share: Callable[[Group], float]) -> float:
    total = 0.0
    for group in topic.groups:
        total += share(group)
    return total / len(topic.groups) if total > 0 else 0.0


def _balanced(group: Group, *, returned: bool) -> float:
    """Fulfilled over possible, with as many nonrelevant as relevant documents: some are added, or some left out."""
    n_rel, n_non = group.relevant(returned=returned), group.nonrelevant(returned=returned)
    if n_rel >= n_non:
        more = n_rel - n_non
        fulfilled = group.fulfilled_ret + (0 if returned else group.fulfilled_imp)
        fulfilled += group.relevant(returned=True) * more
        possible = (group.possible_ret if returned else group.possible) + group.relevant(returned=False) * more
    else:
        fulfilled, possible = group.with_fewer_nonrelevant(returned=returned)
    return fulfilled / possible if possible else float("nan")


def _sum(topic: Topic, count: Callable[[Group], int]) -> int:
    return sum(count(group) for group in topic.groups)


def _ful(group: Group) -> int:
    return group.fulfilled_ret + group.fulfilled_imp


def _occurring(group: Group) -> int:
    return group.possible_ret + group.possible_imp


CALCULATIONS: dict[str, Callable[[Topic], float]] = {
    "prefs_num_prefs_poss": lambda t: _sum(t, lambda g: g.possible),
    "prefs_num_prefs_ful": lambda t: _sum(t, _ful),
    "prefs_num_prefs_ful_ret": lambda t: _sum(t, lambda g: g.fulfilled_ret),
    "prefs_simp": lambda t: _share(_sum(t, _ful), _sum(t, lambda g: g.possible)),
    "prefs_simp_ret": lambda t: _share(_sum(t, lambda g: g.fulfilled_ret), _sum(t, lambda g: g.possible_ret)),
    "prefs_simp_imp": lambda t: _share(_sum(t, _ful), _sum(t, _occurring)),
    "prefs_pair": lambda t: t.pairs(implied=True, absent=True),
    "prefs_pair_ret": lambda t: t.pairs(implied=False, absent=False),
    "prefs_pair_imp": lambda t: t.pairs(implied=True, absent=False),
    "prefs_avgjg": lambda t: _averaged(t, lambda g: _share(_ful(g), g.possible)),
    "prefs_avgjg_ret": lambda t: _averaged(t, lambda g: _share(g.fulfilled_ret, g.possible_ret)),
    "prefs_avgjg_imp": lambda t: _averaged(t, lambda g: _share(_ful(g), _occurring(g))),
    "prefs_avgjg_Rnonrel": lambda t: _averaged(t, lambda g: _balanced(g, returned=False)),
    "prefs_avgjg_Rnonrel_ret": lambda t: _averaged(t, lambda g: _balanced(g, returned=True)),
}
