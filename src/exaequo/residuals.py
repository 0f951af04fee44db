"""Unjudged documents: how far scores depend on what nobody judged. In: judgments, runs. Out: `Residuals`, frames.

Unknown are the documents of a list that have no judgment, or one below 0. Each may turn out not relevant, grade 0, or
relevant, of one grade; with it grows the number of relevant documents of the topic. What other runs found, and nobody
judged, is taken as not relevant: the figures of a run do not depend on the runs beside it.

How the least and the greatest value over all these outcomes, and all orders of ties, are found depends on the measure:

- `ENDS`: a relevant document more never hurts, so they lie where none and where all of the unknown are relevant.
- `CUT`: a document more helps in the first k and hurts below, so they lie where those on one side of k are relevant.
- `FIRST_OR_LAST`: of so many relevant documents more, the first m of the unknown are the best and the last m the worst
  (to swap a relevant document with one above it that is not never hurts); all m are tried.

Of all other measures, the values are scenarios, not bounds. Tests compare each list with all outcomes and orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.arrays import Bools, Floats, Ints
from exaequo.choices import HIGHEST_GRADE, JUDGED_AT, MEASURES
from exaequo.errors import BadParameter
from exaequo.evaluation import Judged, judged_runs, warn
from exaequo.judge import JudgedRun
from exaequo.language import say
from exaequo.measures import Measure, parse_measures
from exaequo.measures.arithmetic import ratio, sums_so_far
from exaequo.options import Options, Reading, keywords
from exaequo.order import Ordering, Ranking
from exaequo.read import QrelsLike, RunsLike, read_qrels, read_runs, unique_names
from exaequo.tabular import Tabled, plain

ENDS = frozenset("P Noise RR Success SetP SetR SetF RBP DCG IDCG SDCG ERR NumRet NumRel NumRelRet".split())
CUT = frozenset("R F E Silence".split())
FIRST_OR_LAST = frozenset("AP nDCG NCG".split())
#: Of AP all m are looked at in one go. Other measures take an evaluation for each m up to k, or to the number of the
#: unknown of a list; where these are more, their values are scenarios.
MOST_STEPS = 100
BOUNDS, SCENARIOS = "bounds", "scenarios"
#: Orders of ties × what the unknown are.
CORNERS = ("realistic_none", "optimistic_none", "realistic_all", "optimistic_all")


@dataclass(frozen=True, eq=False, repr=False)
class Residuals(Tabled):
    """What unjudged documents, and ties, leave open; each table is a Polars frame.

    - `scores`: for each run and measure its aggregate where none and where all of the unknown documents are relevant,
      under realistic and optimistic ties; `low` and `high` over all outcomes and orders where `how` is "bounds", over
      these four where it is "scenarios"; and how far apart ties put it (`by_ties`: none relevant), what judgments add
      to that (`by_judgments`), and the sum of both (`by_both`: from `low` to `high`).
    - `judged`: for each run and cutoff (null: the whole list) the share of its documents that are judged, mean over its
      topics: the least and the most that an order of ties leaves.
    - `topics`: the same values for each topic.
    """

    shown = ("scores: run measure realistic_none low high by_ties by_judgments by_both how", "judged")
    scores: pl.DataFrame
    judged: pl.DataFrame
    topics: pl.DataFrame
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """What there is to say: what relevant means here; which values are no bounds, and which may fall."""
        said = [
            say(
                "Scores if unjudged documents are not relevant, or of grade {grade:g}; ties in any order",
                grade=self.options["grade"],
            )
        ]
        loose = self.scores.filter(pl.col("how") == SCENARIOS)["measure"].unique(maintain_order=True).to_list()
        if loose:
            names = ", ".join(loose)
            said.append(say("No bounds, but scenarios: {names}; their extremes may lie elsewhere", names=names))
        asked = parse_measures(self.options["measures"])
        if grown := [each.name for each in asked if each.definition.name in CUT | FIRST_OR_LAST]:
            more = say("{names} may fall even if all are relevant: each is one more to find", names=", ".join(grown))
            said.append(more)
        return said


def unjudged(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: Iterable[str | Measure] | str | Measure = MEASURES,
    *,
    grade: float | None = None,
    cutoffs: Sequence[int] = JUDGED_AT,
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    precision: str = "double",
    **files: Unpack[Reading],
) -> Residuals:
    """Tell how far the scores of runs depend on documents nobody judged, and on ties.

    Args:
        qrels: as for `evaluate`.
        runs: as for `evaluate`.
        measures: as for `evaluate`.
        grade: what an unjudged document has if it is relevant; by default the highest grade of the judgments.
        cutoffs: ranks down to which the share of judged documents is told, besides the whole list.
        rel_level, max_grade, precision: as for `evaluate`.
        files: `columns` and `mend`, as for `evaluate`.
    """
    options = Options(rel_level=rel_level, max_grade=max_grade, precision=precision)
    parsed = parse_measures(measures)
    reading, _ = keywords("unjudged", files, Reading.__annotations__)
    judged = judged_runs(read_qrels(qrels, **reading), read_runs(runs, **reading), options, parsed)
    result = unjudged_in(judged, parsed, options, grade=grade, cutoffs=cutoffs)
    warn(result.warnings)
    return result


def unjudged_in(
    runs: Iterable[Judged],
    measures: Sequence[Measure],
    options: Options,
    *,
    grade: float | None = None,
    cutoffs: Sequence[int] = JUDGED_AT,
) -> Residuals:
    """Do so for runs as they are judged; warnings are collected, not given."""
    for each in cutoffs:
        if isinstance(each, bool) or not isinstance(each, int) or each < 1:
            raise BadParameter(f"cutoffs must be whole numbers ≥ 1. Got {each!r} instead.")
    named: list[tuple[str, str]] = []
    remarks: list[str] = []
    topics, shares = [], []
    relevant = 0.0
    for ordering, said in runs:
        remarks += said
        _refuse_subtopics(measures, ordering)
        relevant = _grade(grade, ordering)
        unknown = Unknown.of(ordering, relevant)
        topics.append([_topics(measure, unknown) for measure in measures])
        shares.append(_shares(unknown, cutoffs))
        named.append((ordering.run.name, ordering.run.source.name))
    if not named:
        raise BadParameter("No run is given.")
    names = unique_names(named)
    every = [_named(frame, name) for name, own in zip(names, topics, strict=True) for frame in own]
    asked = {name: plain(getattr(options, name)) for name in ("rel_level", "max_grade", "precision")}
    return Residuals(
        scores=pl.DataFrame(list(map(_score, every, [*measures] * len(names)))),
        judged=pl.concat(map(_named, shares, names)),
        topics=pl.concat(every),
        warnings=tuple(remarks),
        options={"measures": [each.name for each in measures], "grade": relevant, "cutoffs": list(cutoffs), **asked},
    )


def _named(frame: pl.DataFrame, name: str, column: str = "run") -> pl.DataFrame:
    return frame.insert_column(0, pl.repeat(name, frame.height, eager=True, dtype=pl.String).alias(column))


def _refuse_subtopics(measures: Sequence[Measure], ordering: Ordering) -> None:
    for measure in measures:
        about = measure.definition
        by_subtopic = about.family in ("subtopics", "ntcir") and "names" in about.sees
        if by_subtopic and ordering.judgments.qrels.subtopics is not None:
            raise BadParameter(f"{measure} asks for subtopics, and nobody knows those of an unjudged document.")


def _grade(asked: float | None, ordering: Ordering) -> float:
    """Return the grade of an unknown document that is relevant."""
    judgments = ordering.judgments
    if asked is None:
        return float(judgments.grade.max())
    if not judgments.relevant(np.array([asked]))[0] or asked > judgments.highest:
        least = "above 0" if judgments.level is None else f"of at least {judgments.level:g}"
        raise BadParameter(f"The grade must be {least}, and at most {judgments.highest:g}. Got {asked} instead.")
    return asked


# ------------------------------------------------------------------------------------------------------- outcomes


@dataclass(frozen=True, eq=False)
class Unknown:
    """A run whose `unknown` lines have places among the judgments, and the grade they have if they are relevant.

    `nth` numbers the unknown of each topic by their scores, from 1.
    """

    lines: JudgedRun
    unknown: Bools
    grade: float
    ordering: Ordering
    nth: Ints

    @property
    def base(self) -> Ranking:
        """The lines by topic and score, ties as in the file."""
        return self.ordering.ranking("input")

    @classmethod
    def of(cls, ordering: Ordering, grade: float) -> Unknown:
        """Give each unknown document of a run a place among the judgments."""
        lines, judgments = ordering.judged_run, ordering.judgments
        unknown = ~lines.judged | (lines.grade < 0)
        new = unknown & ~lines.judged
        more = replace(
            judgments,
            topic=np.concatenate((judgments.topic, lines.topic[new])),
            grade=np.concatenate((judgments.grade, np.zeros(int(new.sum())))),
            row=np.concatenate((judgments.row, np.full(int(new.sum()), -1))),
        )
        place = lines.place.copy()
        place[new] = len(judgments.topic) + np.arange(int(new.sum()))
        base = ordering.ranking("input")
        marked = unknown[base.line]
        nth = np.zeros(len(place), dtype=np.int64)
        nth[base.line] = np.where(marked, sums_so_far(marked.astype(np.float64), base.topic), 0)
        judged = replace(lines, judgments=more, judged=np.ones(len(place), dtype=bool), place=place)
        return cls(judged, unknown, grade, ordering, nth)

    def values(self, measure: Measure, relevant: Bools, ties: str, kept: Bools | None = None) -> Floats:
        """Measure the run where these of the unknown lines are relevant; only lines that are kept are looked at."""
        given = np.where(relevant, self.grade, 0.0)[self.unknown]
        grade, own = self.lines.judgments.grade.copy(), self.lines.grade.copy()
        grade[self.lines.place[self.unknown]] = given
        own[self.unknown] = given
        lines = replace(self.lines, grade=own, judgments=replace(self.lines.judgments, grade=grade))
        return measure.values(self.ordering.rejudged(lines, kept).ranking(ties))

    def sorted_by(self, key: Floats) -> Ints:
        """Return the lines by topic and score, ties by this key."""
        order: Ints = self.base.line[np.lexsort((key[self.base.line], self.base.tie))]
        return order

    def between(self, level: float | None) -> Floats:
        """Return a key that puts the unknown above what is not relevant and below what is."""
        known = self.lines.judgments.relevant(self.lines.grade, level) & ~self.unknown
        return np.where(known, 1.0, np.where(self.unknown, 0.5, 0.0))


def _topics(measure: Measure, unknown: Unknown) -> pl.DataFrame:
    """Return the values of one measure, topic by topic: in the four corners, and the least and the greatest."""
    outcomes = np.zeros(len(unknown.unknown), dtype=bool), unknown.unknown
    corners = [unknown.values(measure, each, ties) for each in outcomes for ties in ("realistic", "optimistic")]
    tail = _tail(measure, unknown.base.returned) * (unknown.grade if measure.params.get("graded") else 1.0)
    corners = [*corners[:2], *(each + tail for each in corners[2:])]
    how, extremes = _extremes(measure, unknown)
    together = np.stack([*extremes, *corners])
    low, high = together.min(axis=0), together.max(axis=0)
    frame = pl.DataFrame({"topic": unknown.lines.judgments.topics, **dict(zip(CORNERS, corners, strict=True))})
    frame = frame.with_columns(low=pl.Series(low), high=pl.Series(high), how=pl.lit(how))
    return _named(frame, measure.name, "measure")


def _tail(measure: Measure, returned: Ints) -> Floats:
    """Return what documents beyond the end of the list would add to rank-biased precision; its residual counts them."""
    if measure.definition.name != "RBP":
        return np.zeros(len(returned))
    p, cutoff = measure.params.get("p", measure.definition.defaults["p"]), measure.params.get("cutoff")
    beyond = np.power(p, returned.astype(np.float64)) - (0.0 if cutoff is None else p**cutoff)
    return np.asarray(np.maximum(beyond, 0.0))


def _extremes(measure: Measure, unknown: Unknown) -> tuple[str, list[Floats]]:
    """Return whether the values found are bounds, and those that the corners do not show."""
    name, cutoff = measure.definition.name, measure.params.get("cutoff")
    growing = measure.params.get("gains") is None  # gains= need not grow with the grade
    if name in ENDS and growing:
        return BOUNDS, []
    if name in CUT:
        return BOUNDS, _cut(measure, unknown, measure.params["cutoff"])
    if name == "AP" and not measure.params.get("relative"):
        return BOUNDS, _first_or_last(measure, unknown, cutoff)
    steps = min(cutoff or np.inf, int(unknown.nth.max(initial=0)))
    if name in FIRST_OR_LAST and growing and steps <= MOST_STEPS:
        return BOUNDS, _tried(measure, unknown, cutoff or np.inf)
    return SCENARIOS, []


def _cut(measure: Measure, unknown: Unknown, cutoff: int) -> list[Floats]:
    """Return the values where the unknown are relevant below the cutoff alone, and above it alone."""
    key, values = unknown.between(measure.params.get("rel")), []
    for sign, ties in ((1, "realistic"), (-1, "optimistic")):
        rank = np.zeros(len(key), dtype=np.int64)
        rank[unknown.sorted_by(sign * key)] = unknown.base.rank
        values.append(unknown.values(measure, unknown.unknown & ((rank > cutoff) == (sign > 0)), ties))
    return values


def _first_or_last(measure: Measure, unknown: Unknown, cutoff: int | None) -> list[Floats]:
    """Return the least and the greatest average precision: the last, or the first, m of the unknown are relevant."""
    base, level, values = unknown.base, measure.params.get("rel"), []
    key, n = unknown.between(level), base.n_rel(level)
    for sign, ties in ((-1, "realistic"), (1, "optimistic")):
        order = unknown.sorted_by(-sign * key)
        hit, more = (key[order] == 1).astype(np.float64), unknown.unknown[order].astype(np.float64)
        start, added = _added(base, hit, more, cutoff, last=sign < 0)
        total, m = (sums_so_far(each[::sign], base.topic[::sign])[::sign] for each in (added, more))
        value = sign * ratio(start[base.topic] + total, n[base.topic] + m)
        relevant = np.zeros(len(order), dtype=bool)
        relevant[order] = (more > 0) & (m <= _best(base.topic, more > 0, m, value, sign * ratio(start, n))[base.topic])
        values.append(unknown.values(measure, relevant, ties))
    return values


def _added(base: Ranking, hit: Floats, more: Floats, cutoff: int | None, *, last: bool) -> tuple[Floats, Floats]:
    """Return the sum of precisions that a list begins with, and what each document more adds to it, in their turn.

    That is the precision at its rank, and 1 / rank for each relevant document below: if the `last` come first, those
    that were unknown too.
    """
    inside = np.where(base.rank <= (cutoff or np.inf), 1 / base.rank, 0.0)
    before = sums_so_far(hit, base.topic)
    above = before + 1 if last else before + sums_so_far(more, base.topic)
    weight = (hit + more if last else hit) * inside
    below = base.total(base.topic, weight)[base.topic] - sums_so_far(weight, base.topic)
    return base.total(base.topic, hit * inside * before), more * (inside * above + below)


def _best(topic: Ints, more: Bools, m: Floats, value: Floats, without: Floats) -> Floats:
    """Return for each topic the number m of documents more that has the highest value, 0 if it is best without."""
    at, best = np.flatnonzero(more), without.copy()
    np.maximum.at(best, topic[at], value[at])
    chosen = np.where(without >= best, 0.0, np.inf)
    reached = at[value[at] >= best[topic[at]]]
    np.minimum.at(chosen, topic[reached], m[reached])
    return chosen


def _tried(measure: Measure, unknown: Unknown, cutoff: float) -> list[Floats]:
    """Return the least and the greatest value of a measure cut at k: of the unknown, up to k decide it."""
    groups, kept = unknown.base.groups, np.zeros(len(unknown.nth), dtype=bool)
    kept[unknown.base.line] = (groups.before < cutoff)[groups.of]
    steps = range(int(min(cutoff, unknown.nth.max(initial=0))) + 1)
    last = [unknown.values(measure, unknown.unknown & (unknown.nth > m), "realistic", kept) for m in steps]
    first = [unknown.values(measure, unknown.unknown & (unknown.nth <= m), "optimistic", kept) for m in steps]
    return [np.minimum.reduce(last), np.maximum.reduce(first)]


# -------------------------------------------------------------------------------------------------------- summing up


def _score(topics: pl.DataFrame, measure: Measure) -> dict[str, Any]:
    """Return the row of one run and measure: aggregates over topics, and what is left open by what."""
    means = {name: aggregate(measure.aggregate, topics[name].to_numpy()) for name in (*CORNERS, "low", "high")}
    ties, both = abs(means["optimistic_none"] - means["realistic_none"]), means["high"] - means["low"]
    return {
        "run": topics["run"][0],
        "measure": measure.name,
        **means,
        "by_ties": ties,
        "by_judgments": both - ties,
        "by_both": both,
        "how": topics["how"][0],
    }


def _shares(unknown: Unknown, cutoffs: Sequence[int]) -> pl.DataFrame:
    """Return which part of the first k documents is judged, the least and the most that ties leave."""
    base, known = unknown.base, (~unknown.unknown).astype(np.float64)
    returned = base.returned > 0
    rows = []
    for cutoff in (*dict.fromkeys(cutoffs), None):
        top = base.rank <= (cutoff or np.inf)
        size = base.total(base.topic[top])[returned]
        orders = (unknown.sorted_by(sign * known)[top] for sign in (1, -1))
        found = [base.total(base.topic[top], known[order])[returned] for order in orders]
        least, most = (100 * float(np.mean(each / size)) if len(size) else np.nan for each in found)
        rows.append({"cutoff": cutoff, "least_percent": least, "most_percent": most})
    return pl.DataFrame(rows, schema={"cutoff": pl.Int64, "least_percent": pl.Float64, "most_percent": pl.Float64})
