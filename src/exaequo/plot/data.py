"""What the kinds share: files read, judged and ordered; a topic found; names of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from exaequo.arrays import Floats
from exaequo.choices import HIGHEST_GRADE
from exaequo.errors import BadParameter
from exaequo.evaluation import judged_runs, warn
from exaequo.filtering import Filter, absent, from_tables, judged_filters
from exaequo.judge import Judgments
from exaequo.language import say, strategy
from exaequo.measures import Measure, parse_measure
from exaequo.options import Options, Reading, Relevance, keywords
from exaequo.order import Ordering, Ranking
from exaequo.plot.chart import Common, notes
from exaequo.read import QrelsLike, read_qrels, read_runs, unique_names
from exaequo.text import did_you_mean


@dataclass(frozen=True, eq=False)
class RankedRuns:
    """The rankings of some runs."""

    judgments: Judgments
    names: list[str]
    orderings: list[Ordering]
    #: What counts as relevant, if that is not the usual.
    level: str = ""

    def rankings(self, ties: str) -> list[tuple[str, Ranking]]:
        """Return each run under a strategy."""
        return [(name, each.ranking(ties)) for name, each in zip(self.names, self.orderings, strict=True)]

    def topic(self, name: str | None) -> int:
        """Return the place of a topic; the first one if none is named."""
        if name is None:
            return 0
        known = self.judgments.topics.to_list()
        if str(name) not in known:
            raise BadParameter(f"There is no evaluated topic {name!r}{did_you_mean(str(name), known) or '.'}")
        return known.index(str(name))

    def about(self, ties: str) -> str:
        """Say what the values of all topics are."""
        seen = {"n": self.judgments.n_topics, "ties": strategy(ties)}
        return notes(say("mean over {n:,} {n:topic|topics}, {ties} ties", **seen), self.level)

    def only(self) -> str:
        """Return the name of the only run there is."""
        if len(self.names) != 1:
            raise BadParameter("This picture shows one run; give one.")
        return self.names[0]


def read(qrels: QrelsLike, runs: Any, common: Common) -> RankedRuns:
    """Read, judge and sort; what changes how the picture should be read is said as a warning."""
    reading, given = keywords("plot", evaluation(common))
    found = list(judged_runs(read_qrels(qrels, **reading), read_runs(runs, **reading), Options(**given)))
    warn(note for _, said in found for note in said)
    orderings = [ordering for ordering, _ in found]
    names = unique_names([(each.run.name, each.run.source.name) for each in orderings])
    return RankedRuns(orderings[0].judgments, names, orderings, level_of(common))


def read_filters(qrels: Any, runs: Any, common: Common, docs: int | None = None) -> tuple[list[Filter], str]:
    """Read filters, of judgments and runs, or without runs of tables of decisions; and say what counts as relevant."""
    if runs is None:
        one = isinstance(qrels, list | tuple) and bool(qrels) and hasattr(qrels[0], "_fields")  # named tuples
        several = isinstance(qrels, Mapping | list | tuple) and not one
        filters = from_tables(qrels if several else [qrels], docs=docs)
        warn(absent(filters))
        return filters, ""
    reading, given = keywords("plot", evaluation(common))
    judgments, read = read_qrels(qrels, **reading), read_runs(runs, **reading)
    filters, said = judged_filters(judgments, read, Options(**given), docs=docs)
    warn(said)
    return filters, level_of(common)


def of_selections(measure: str) -> Measure:
    """Return a measure of what a filter selects."""
    parsed = by_topic(measure)
    if parsed.definition.family != "filters":
        raise BadParameter(f"{measure} is not a measure of a selection, such as SelF or T9P.")
    return parsed


def cautioned(measure: Measure, topics: int = 2) -> str:
    """Say that values of so many topics are averaged that should not be, if they are."""
    averaged = measure.definition.caution and topics > 1
    return say("raw utilities, which are not to be averaged over themes") if averaged else ""


def level_of(common: Common) -> str:
    """Say what counts as relevant, if that is not any grade above 0."""
    level, most = common.get("rel_level"), common.get("max_grade", HIGHEST_GRADE)
    if level is None and most == HIGHEST_GRADE:
        return ""
    least = say("grade > 0") if level is None else say("grade ≥ {level:g}", level=level)
    highest = "" if most == HIGHEST_GRADE else say(" up to {most:g}", most=most)
    return say("relevant: {grades}", grades=least + highest)


def evaluation(common: Common) -> dict[str, Any]:
    """Return those of the options that `evaluate` and `compare` take."""
    known = Relevance.__optional_keys__ | Reading.__optional_keys__
    return {name: value for name, value in common.items() if name in known}


def relevant_ranks(ranking: Ranking, topic: int, rel: float | None = None) -> list[int]:
    """Return the ranks of the relevant documents of a topic."""
    hits = ranking.hits(rel)
    return [int(rank) for rank in hits.rank[hits.topic == topic]]


def by_topic(measure: str, *, complete: bool = True) -> Measure:
    """Return a measure that has a value for each topic."""
    parsed = parse_measure(measure, complete=complete)
    if parsed.aggregate == "gm":
        plain = Measure(parsed.definition, parsed.params).name
        raise BadParameter(f"{measure} is one number per run; draw {plain}.")
    return parsed


def at_least_one(**numbers: int | None) -> None:
    """Refuse ranks below 1."""
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise BadParameter(f"{name} must be a whole number ≥ 1. Got {value!r} instead.")


def defined(measure: Measure, values: Floats) -> Floats:
    """Return the values, if there is one at all."""
    if np.isnan(values).all():
        why = measure.definition.undefined
        raise BadParameter(f"{measure.name} has no value on any topic, so there is nothing to draw: {why}.")
    return values
