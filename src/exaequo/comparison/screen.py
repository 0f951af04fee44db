"""The first screen of a comparison: who is first, how sure that is, and what ties decide. In: a `Comparison`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from exaequo.comparison import Comparison
from exaequo.comparison.values import pick
from exaequo.comparison.verdicts import BETTER, EQUIVALENT, NONE, TIES, WORSE
from exaequo.language import number, say, strategy, word
from exaequo.measures import Measure
from exaequo.screens import Screen, names, ranks, sorted_by
from exaequo.tabular import Column, Table, fixed
from exaequo.text import p_text, signed

#: With up to so many runs beside the baseline each has its sentence.
MOST_SENTENCES = 8
#: Measures that have their sentence; all are in the table.
MOST_MEASURES = 4
#: More runs than these are counted, not named.
MOST_NAMES = 4
#: Longer letters of groups are not read by anyone.
MOST_LETTERS = 5
MARKS = {BETTER: "▲", WORSE: "▼", NONE: "=", EQUIVALENT: "≈", TIES: "◊"}
_TURNED = {BETTER: WORSE, WORSE: BETTER}
#: What the test says of the first run and the second.
_FIRST = {
    BETTER: "{measure}: {best} is first, {mean}; better than {second} by {gap} ({low} to {high}, {p})",
    WORSE: "{measure}: {best} is first, {mean}, but worse than {second} by the test: {gap} ({low} to {high}, {p})",
    NONE: "{measure}: {best} is first, {mean}; not shown to be better than {second}: {gap} ({low} to {high}, {p})",
    EQUIVALENT: "{measure}: {best} is first, {mean}; equivalent to {second}: {gap} ({low} to {high}, {p})",
    TIES: "{measure}: {best} is first, {mean}; ties decide between it and {second}: {gap} ({low} to {high}, {p})",
}
#: What marks mean.
_MEANING = {
    BETTER: "better",
    WORSE: "worse",
    NONE: "no difference shown",
    EQUIVALENT: "equivalent",
    TIES: "ties decide",
}
#: What the test says of a run against the baseline, and on which measures.
_AGAINST = {
    BETTER: "better on {measures}",
    WORSE: "worse on {measures}",
    NONE: "no difference shown on {measures}",
    EQUIVALENT: "equivalent on {measures}",
    TIES: "ties decide on {measures}",
}


def screen(result: Comparison, *, sort: str | None = None, top: int | None = None) -> Screen:
    """Return what a comparison says: sentences by measure, or by run against the baseline, and one table."""
    by = sorted_by(sort, result.scores.measures)
    every = [_Own(result, measure) for measure in result.scores.measures]
    ranked = next((own for own in every if own.measure == by), every[0])
    order = sorted(ranked.runs) if by is None else list(ranked.runs)
    last = ranked.runs[order[-1]]
    return Screen(
        [*_sentences(result, every), *_ties(result, every)],
        list(_tables(every, order, ranked)),
        len(order),
        lambda rows: say(
            "… {n:,} more, down to {run} {figure}", n=len(order) - rows, run=order[-1], figure=fixed(last["mean"])
        ),
        [_rest(result)],
        top,
        aside=[say("How: {how}", how=word("; ").join(result.method))],
    )


@dataclass(frozen=True)
class _Own:
    """What there is on one measure."""

    result: Comparison
    measure: Measure

    @cached_property
    def runs(self) -> dict[str, dict[str, Any]]:
        """The row of each run, the best first."""
        return {row["run"]: row for row in pick(self.result.systems, self.measure).to_dicts()}

    @cached_property
    def pairs(self) -> pl.DataFrame:
        return pick(self.result.pairs, self.measure)

    @property
    def verdicts(self) -> dict[str, str]:
        """The sentence of each pair by its second run: of the last one, where there are several."""
        return dict(self.pairs.select("two", "verdict").iter_rows())

    def against(self, run: str) -> dict[str, dict[str, Any]]:
        """Return how a run stands against each run it was compared with: gap, interval and outcome are its own."""
        rows = self.pairs.filter((pl.col("one") == run) | (pl.col("two") == run)).to_dicts()
        return {row["one"] if row["two"] == run else row["two"]: _seen_from(run, row) for row in rows}

    def count(self, *outcomes: str) -> int:
        """Return how many pairs have one of these outcomes."""
        return int(self.pairs["outcome"].is_in(outcomes).sum())

    @cached_property
    def lettered(self) -> bool:
        """Tell whether the letters of groups are few enough to read."""
        return max(map(len, self.result.systems["group"])) <= MOST_LETTERS

    @cached_property
    def marks(self) -> dict[str, str]:
        """What stands beside each run: its mark against the baseline, its letters, or its mark against the first."""
        if self.result.plan.baseline is not None:
            outcomes = dict(self.pairs.select("two", "outcome").iter_rows())
            return {run: MARKS.get(outcomes.get(run, ""), "") for run in self.runs}
        if self.lettered:
            widest = max(len(row["group"]) for row in self.runs.values()) if self.tied else 0
            return {
                run: f"{row['group']:<{widest}}{' ◊' if run in self.tied else ''}" for run, row in self.runs.items()
            }
        against = self.against(next(iter(self.runs)))
        signs = {NONE: "≈", EQUIVALENT: "≈", TIES: "◊"}
        return {run: signs.get(against[run]["outcome"], "") if run in against else "" for run in self.runs}

    @cached_property
    def tied(self) -> list[str]:
        """Runs with ties such that each pair that ties decide has one of them, most pairs first."""
        open_ = self.pairs.filter(pl.col("outcome") == TIES)
        left = {frozenset(pair) for pair in open_.select("one", "two").iter_rows()}
        spans = {run: _span(row, self.result.scores.ties) for run, row in self.runs.items()}
        found: list[str] = []
        while left:
            of = {run: sum(run in pair for pair in left) for run in self.runs if spans[run] > 0}
            most = max(of, key=lambda run: (of[run], spans[run]), default="")
            if not of.get(most):
                break
            found.append(most)
            left = {pair for pair in left if most not in pair}
        return found


def _seen_from(run: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return a pair with the run as the second of the two."""
    if row["two"] == run:
        return row
    turned = {"low": -row["high"], "high": -row["low"], "difference": -row["difference"]}
    return {**row, **turned, "outcome": _TURNED.get(row["outcome"], row["outcome"])}


def _span(row: dict[str, Any], ties: Sequence[str]) -> float:
    """Return how far the strategies lie apart, as far as digits show it."""
    found = [row["mean"], *(row[each] for each in ties[1:])]
    return float(round(max(found) - min(found), 10))


# ------------------------------------------------------------------------------------------------------- sentences


def _sentences(result: Comparison, every: Sequence[_Own]) -> list[str]:
    """Say the verdicts: of each pair where there is one, of each run against the baseline, or of the first runs."""
    pairs = every[0].pairs.height
    told = every[:MOST_MEASURES]
    if pairs == 1 or (result.plan.baseline is not None and len(every) == 1 and pairs <= MOST_SENTENCES):
        said = [own.verdicts[run] for own in told for run in own.runs if run in own.verdicts]
    elif result.plan.baseline is None:
        said = [*map(_first, told), _counts(told)]
    elif pairs <= MOST_SENTENCES:
        return [_of_run(run, result.plan.baseline, every) for run in every[0].runs if run != result.plan.baseline]
    else:
        said = [_beaten(own, result.plan.baseline) for own in told]
    return said + _left(len(every) - len(told))


def _left(measures: int) -> list[str]:
    """Say how many measures are left out, if any."""
    return [say("… and {n:,} more {n:measure|measures}: --full", n=measures)] if measures else []


def _first(own: _Own) -> str:
    """Say who is first, against whom that is shown, and how many pairs are told apart."""
    best, second, *_ = own.runs
    others = own.against(best)
    pair = others[second]
    text = say(
        _FIRST[pair["outcome"]],
        measure=own.measure,
        best=best,
        second=second,
        mean=fixed(own.runs[best]["mean"]),
        gap=_gap(pair["difference"]),
        low=_gap(pair["low"]),
        high=_gap(pair["high"]),
        p=number(p_text(pair["corrected_p"])),
    )
    alike = [run for run in own.runs if run not in (best, second) and others[run]["outcome"] in (NONE, EQUIVALENT)]
    open_ = [run for run in own.runs if run not in (best, second) and others[run]["outcome"] == TIES]
    text += say("; not told apart: {names}", names=_few(alike)) if alike else ""
    return text + (say("; ties decide: {names}", names=_few(open_)) if open_ else "")


def _few(them: Sequence[str]) -> str:
    """Return a few names, or how many there are: the table marks them."""
    return names(them) if len(them) <= MOST_NAMES else say("{n:,} more", n=len(them))


def _counts(every: Sequence[_Own]) -> str:
    """Say how many pairs are told apart on each measure, are not, and are decided by ties."""
    counted = (
        say(
            "{measure} {differ:,} / {alike:,} / {ties:,}",
            measure=own.measure,
            differ=own.count(BETTER, WORSE),
            alike=own.count(NONE, EQUIVALENT),
            ties=own.count(TIES),
        )
        for own in every
    )
    return say(
        "Of {pairs:,} pairs told apart / not / decided by ties: {counted}",
        pairs=every[0].pairs.height,
        counted=", ".join(counted),
    )


def _of_run(run: str, baseline: str, every: Sequence[_Own]) -> str:
    """Say on which measures a run is better, worse, neither, or decided by ties."""
    outcomes = {own.measure.name: own.against(run)[baseline]["outcome"] for own in every}
    said = []
    for outcome in _AGAINST:
        on = [name for name, found in outcomes.items() if found == outcome]
        if on:
            every_one = len(on) == len(outcomes) > 2
            which = say("all {n:,} measures", n=len(on)) if every_one else names(on, len(on))
            said.append(say(_AGAINST[outcome], measures=which))
    return say("{run}: {said}", run=run, said=word("; ").join(said))


def _beaten(own: _Own, baseline: str) -> str:
    """Say how many runs are better than the baseline, worse, neither, or decided by ties; and the best of them."""
    best = next(run for run in own.runs if run != baseline)
    return say(
        "{measure}: {better:,} better than {baseline}, {worse:,} worse, {alike:,} not told apart, ties decide "
        "{ties:,}; first is {best}, {gap}",
        measure=own.measure,
        better=own.count(BETTER),
        baseline=baseline,
        worse=own.count(WORSE),
        alike=own.count(NONE, EQUIVALENT),
        ties=own.count(TIES),
        best=best,
        gap=_gap(own.against(best)[baseline]["difference"]),
    )


def _ties(result: Comparison, every: Sequence[_Own]) -> list[str]:
    """Say how many verdicts ties decide, between which runs, and whom they move farthest."""
    decided = sum(own.count(TIES) for own in every)
    if not decided:
        return []
    tied = list(dict.fromkeys(run for own in every for run in own.tied))
    text = say("Ties decide {n:,} of {all:,} comparisons", n=decided, all=result.pairs.height)
    text += say(", all with {names}", names=_any_of(tied)) if 0 < len(tied) < len(every[0].runs) - 1 else ""
    return [text + _moved(result, every[0]) + "."]


def _any_of(them: Sequence[str]) -> str:
    if len(them) in (2, 3, 4):
        return say("{names} or {last}", names=", ".join(them[:-1]), last=them[-1])
    return names(them)


def _moved(result: Comparison, own: _Own) -> str:
    """Say which run has the most different ranks on the first measure, if any."""
    rows, ties = list(own.runs.values()), result.scores.ties
    places = {each: ranks(own.measure.upward * np.array([row[each] for row in rows])) for each in ties[1:]}
    places[ties[0]] = np.array([row["rank"] for row in rows])
    moves = {each: np.abs(place - places[ties[0]]) for each, place in places.items()}
    farthest = max(moves, key=lambda each: int(moves[each].max()))
    at = int(np.argmax(moves[farthest]))
    if not moves[farthest][at]:
        return ""
    return say(
        "; on {measure} {run} is number {rank} with {first} ties, number {other} with {ties} ones",
        measure=own.measure,
        run=rows[at]["run"],
        rank=int(places[ties[0]][at]),
        first=strategy(ties[0]),
        other=int(places[farthest][at]),
        ties=strategy(farthest),
    )


def _gap(value: float) -> str:
    return number(signed(value))


# ----------------------------------------------------------------------------------------------------------- table


def _tables(every: Sequence[_Own], order: Sequence[str], ranked: _Own) -> Iterator[Table]:
    """Yield the forms of the table: with intervals, without, with fewer digits, with fewer measures."""
    stub = [
        Column(word("rank"), [ranked.runs[run]["rank"] for run in order]),
        Column(word("run"), order, right=False),
    ]
    plan = ranked.result.plan
    half = say("± half of the {sure:g} % interval of the mean", sure=100 * (1 - plan.alpha))
    fewer = [(False, 3, count) for count in range(len(every), 0, -1)]
    for wide, digits, count in ((plan.baseline is None, 4, len(every)), (False, 4, len(every)), *fewer):
        left = _left(len(every) - count) if plan.baseline is not None else []
        lines = [*_legend(every), *([half] if wide else []), *left]
        some = every if count == len(every) else [ranked, *(own for own in every if own is not ranked)][:count]
        columns = [column for own in some for column in _columns(own, order, digits, wide)]
        yield Table(columns=[*stub, *columns], lines=[" · ".join(lines)])


def _columns(own: _Own, order: Sequence[str], digits: int, wide: bool) -> Iterator[Column]:
    """Yield the mean of each run; its interval, or its difference from the baseline; letters or marks."""
    name, rows = own.measure.name, [own.runs[run] for run in order]
    yield Column(word("mean"), [row["mean"] for row in rows], digits=digits, group=name)
    if own.result.plan.baseline is not None:
        gaps = {row["two"]: number(signed(row["difference"], digits)) for row in own.pairs.to_dicts()}
        yield Column("Δ", [gaps.get(run, "") for run in order], group=name)
    elif wide:
        half = [max(row["mean"] - row["low"], row["high"] - row["mean"]) for row in rows]
        yield Column("±", half, digits=digits - 1, group=name)
    marks = own.marks
    widest = max(map(len, marks.values()))
    yield Column("", [marks[run].ljust(widest) for run in order], group=name)


def _legend(every: Sequence[_Own]) -> list[str]:
    """Say what letters and marks mean, those alone that are there."""
    plan = every[0].result.plan
    there = "".join(mark for own in every for mark in own.marks.values())
    if plan.baseline is not None:
        return [
            say("Δ against {baseline}", baseline=plan.baseline),
            *(f"{mark} {word(_MEANING[outcome])}" for outcome, mark in MARKS.items() if mark in there),
        ]
    if every[0].lettered:
        said = [say("Runs with a letter in common are not told apart")]
        return said + ([say("◊ ties decide verdicts with it")] if "◊" in there else [])
    said = [say("≈ not told apart from the first")] if "≈" in there else []
    return said + ([say("◊ ties decide between it and the first")] if "◊" in there else [])


def _rest(result: Comparison) -> str:
    """Say what else there is."""
    one = "" if result.plan.baseline is not None or len(result.scores.runs) == 2 else word("; ") + "--baseline RUN"
    return say("More: --table pairs, contrasts, …; --full{one}; exaequo report", one=one)
