"""Explain: how a value came about, step by step. In: judgments, a run, a topic, a measure. Out: an `Explanation`.

`steps` asks the explainer of the measure, `luck` says what ties decide, `filters` explains a binary filter, and
`wording` puts it all into words, which are in the file of a language.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack, overload

import polars as pl

from exaequo import tabular
from exaequo.choices import HIGHEST_GRADE
from exaequo.errors import BadParameter, UsageError
from exaequo.evaluation import judged_runs, prepared, warn
from exaequo.explanation.filters import FilterExplanation, explain_filter
from exaequo.explanation.luck import other_orders, other_values, what_ties_decide
from exaequo.explanation.means import MeanExplanation, explain_mean
from exaequo.explanation.steps import steps_of
from exaequo.explanation.wording import Told, Wording, figure_of, plain_steps, wrapped
from exaequo.language import LANGUAGES, sentences
from exaequo.listing import table
from exaequo.measures import Measure, parse_measure
from exaequo.measures.steps import CUT, Given, Step
from exaequo.measures.view import View, place_of
from exaequo.options import Options, Reading, Relevance, keywords, one_strategy
from exaequo.order import Ordering
from exaequo.read import Qrels, QrelsLike, Run, RunLike, read_qrels, read_run
from exaequo.remarks import remarks_on_grades

__all__ = [
    "LANGUAGES",
    "Explanation",
    "FilterExplanation",
    "MeanExplanation",
    "explain",
    "explain_filter",
    "explain_run",
    "sentences",
]

#: Options that an explanation keeps.
RECORDED = ("rel_level", "max_grade", "depth", "precision", "seed")
#: Rows of a table that are shown unless more are asked for.
MOST_ROWS = 30


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Told):
    """How one value came about: the list, the steps, the value, what other strategies give, and what ties decide."""

    measure: Measure
    run: str
    topic: str
    ties: str
    value: float
    listing: pl.DataFrame
    steps: tuple[Step, ...]
    others: dict[str, float]
    verdict: Step
    #: The documents that other strategies put elsewhere: their names at each rank.
    orders: tuple[dict[str, Any], ...] = ()
    #: The standard error of the mean over all orders, where that is an estimate.
    error: float = 0.0
    #: What changes the value and is not as usual.
    settings: tuple[Step, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def figure(self) -> str:
        """The value as `eval` prints it."""
        return figure_of(self.measure, self.value)

    def text(
        self, lang: str = "en", *, rows: int = MOST_ROWS, markdown: bool = False, full: bool = False, width: int = 0
    ) -> str:
        """Write the explanation out; `full` has all terms and columns, and no sentence is wider than a `width`."""
        words = Wording(lang, markdown=markdown, full=full)
        about = words.about(self.measure)
        parts = [words.title("title", **self._names(words)), words.said(f"by {self.ties}")]
        if about["formula"]:
            parts.append(words.said("formula", **about))
        parts += words.steps(self.settings, rows)
        parts += self._list(words, rows)
        parts += words.steps(self.steps, rows) or [words.said("nothing", **self._names(words))]
        parts.append(self._so(words, about["reason"]))
        parts += words.others(self.measure, self.others)
        if self.error:
            parts.append(words.said("estimated", error=float(f"{self.error:.2g}")))
        parts.append(words.step(self.verdict))
        if self.orders:
            parts += [words.said("orders"), *words.shortened(self.orders, rows)]
        return wrapped(parts, width)

    def _names(self, words: Wording) -> dict[str, str]:
        names = {"measure": self.measure.name, "run": self.run, "topic": self.topic}
        return {**names, "ties": words.word(self.ties)}

    def _list(self, words: Wording, rows: int) -> list[str]:
        if not self.listing.height:
            return [words.said("empty list", **self._names(words))]
        shown = self.listing.drop("topic", *([] if words.full else self._beside_the_point())).rename(
            {"docno": "document"}
        )
        return [words.said("list", documents=self.listing.height), *words.shortened(shown, rows)]

    def _beside_the_point(self) -> list[str]:
        """Return the columns of the list that the measure does not use: it knows grades, or no table has them."""
        if not self.steps:
            return []
        used = {name for step in self.steps for row in step.table[:1] for name in row}
        graded = [] if "rel" in self.measure.definition.defaults else ["relevant"]
        return [*graded, *(name for name in ("precision", "recall") if name not in used)]

    def _so(self, words: Wording, why: str) -> str:
        if math.isnan(self.value):
            return words.said("undefined", **self._names(words), why=why)
        return words.said("value", **self._names(words), value=self.figure)

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """Return plain data, for JSON; sentences in a language."""
        words = Wording(lang)
        return {
            "measure": self.measure.name,
            "run": self.run,
            "topic": self.topic,
            "ties": self.ties,
            "value": tabular.plain(self.value),
            "figure": self.figure,
            **words.about(self.measure),
            "options": tabular.plain(self.options),
            "list": tabular.rows(self.listing),
            "steps": plain_steps(self.steps, words),
            "others": tabular.plain(self.others),
            "error of expected": tabular.plain(self.error),
            "orders": tabular.plain(list(self.orders)),
            "ties decide": plain_steps([self.verdict], words)[0],
        }


class ExplainOptions(Relevance, Reading, total=False):
    """The options of `explain`: those of `evaluate`, one strategy, and `docs`, the size of the collection."""

    ties: str
    depth: int | None
    precision: str
    seed: int
    docs: int | None


@overload
def explain(
    qrels: QrelsLike, run: RunLike, measure: str | Measure, topic: str | Measure, **options: Unpack[ExplainOptions]
) -> Explanation: ...


@overload
def explain(
    qrels: QrelsLike, run: RunLike, measure: str | Measure, topic: None = None, **options: Unpack[ExplainOptions]
) -> MeanExplanation: ...


@overload
def explain(
    qrels: QrelsLike, run: RunLike, measure: None, topic: str | Measure, **options: Unpack[ExplainOptions]
) -> MeanExplanation: ...


def explain(
    qrels: QrelsLike,
    run: RunLike,
    measure: str | Measure | None,
    topic: str | Measure | None = None,
    *,
    ties: str = "realistic",
    docs: int | None = None,
    **options: Any,
) -> Explanation | MeanExplanation:
    """Explain the value of a measure for one topic of a run, or that of all topics if it is None.

    Options are those of `evaluate`. With `docs`, the size of the collection, tables of relevant and returned documents
    have all their cells. Topic and measure may also stand the other way round.
    """
    reading, given = keywords("explain", options, ExplainOptions.__annotations__)
    chosen = Options(ties=(one_strategy(ties),), **given)
    judged = read_qrels(qrels, **reading)
    parsed, asked = _in_order(measure, topic, judged)
    (found,) = explain_run(judged, read_run(run, **reading), asked, [parsed], chosen, docs=docs)
    warn(found.warnings)
    return found


def _in_order(first: object, second: object, judged: Qrels) -> tuple[Measure, str | None]:
    """Return which of the two is the measure and which the topic: by default in this order, if that can be."""
    measures = [_measure_of(each) for each in (first, second)]
    topics = [each is None or bool((judged.frame["qid"] == str(each)).any()) for each in (first, second)]
    turned = measures[1] is not None and (measures[0] is None or (topics[0] and not topics[1]))
    what, topic = (measures[1], first) if turned else (measures[0] or parse_measure(first), second)
    return what or parse_measure(second), None if topic is None else str(topic)


def _measure_of(text: object) -> Measure | None:
    """Return the measure, if it is one."""
    try:
        return None if text is None else parse_measure(text)
    except UsageError:
        return None


def explain_run(
    qrels: Qrels, run: Run, topic: str | None, measures: Sequence[Measure], options: Options, *, docs: int | None = None
) -> list[Explanation] | list[MeanExplanation]:
    """Explain measures for one topic of a run that has been read, or for all topics if it is None."""
    if topic is None:
        (whole,) = judged_runs(qrels, [run], options, measures)
        return [explain_mean(whole, each, options) for each in measures]
    judgments = prepared(qrels, options)
    place_of(str(topic), judgments)  # before the run is looked at
    ((ordering, _),) = judged_runs(judgments, [run], options)
    return [explain_list(ordering, str(topic), each, options, docs=docs) for each in measures]


def explain_list(
    ordering: Ordering, topic: str, measure: Measure, options: Options, *, docs: int | None = None
) -> Explanation:
    """Explain the value of a measure for one topic of a run that has been judged and sorted."""
    if measure.aggregate == "gm":
        raise BadParameter(f"{measure} is one number per run: leave the topic out.")
    judgments, run = ordering.judgments, ordering.run
    at = place_of(topic, judgments)
    (ties,) = options.ties
    ranking = ordering.ranking(ties, seed=options.seed, depth=options.depth)
    view = View(ranking, at, docs)
    _check_size(view, docs)
    value = float(measure.values(ranking)[at])
    alone = ordering.of_topic(at)  # other lists say nothing about this one
    others, error = other_values(alone, measure, at, ties, depth=options.depth, seed=options.seed)
    whole = view if options.depth is None else View(ordering.ranking(ties, seed=options.seed), at)
    rel = measure.params.get("rel")
    return Explanation(
        measure=measure,
        run=run.name,
        topic=topic,
        ties=ties,
        value=value,
        listing=table(ranking.part(view.at), rel),
        steps=tuple(_within(steps_of(measure, view), options.depth)),
        others=others,
        verdict=what_ties_decide(whole, measure, {ties: value, **others}, options.depth),
        orders=tuple(other_orders(alone, at, rel, options.depth)),
        error=error,
        settings=tuple(_settings(options)),
        options={**{name: getattr(options, name) for name in RECORDED}, "docs": docs},
        warnings=(*remarks_on_grades(judgments), *map(str, run.source.mended)),
    )


def _within(steps: list[Step], depth: int | None) -> list[Step]:
    """Let sentences about the first documents speak of no more than the list was cut to."""
    if depth is None:
        return steps
    about_first = {f"{key} at" for key in CUT}
    return [
        replace(step, numbers={**step.numbers, "cutoff": min(depth, step.numbers["cutoff"])})
        if step.key in about_first
        else step
        for step in steps
    ]


def _settings(options: Options) -> list[Step]:
    """Return what is not as usual and changes values."""
    said = []
    if options.rel_level is not None:
        said.append(Step("setting level", {"level": Given(options.rel_level)}))
    if options.max_grade != HIGHEST_GRADE:
        said.append(Step("setting highest", {"highest": Given(options.max_grade)}))
    if options.depth is not None:
        said.append(Step("setting depth", {"depth": options.depth}))
    if options.precision == "single":
        said.append(Step("setting single"))
    return said


def _check_size(view: View, docs: int | None) -> None:
    """Refuse a collection smaller than what is known of it."""
    known = len(view.judged) + sum(not line.judged for line in view.lines())
    if docs is not None and (isinstance(docs, bool) or not isinstance(docs, int) or docs < known):
        raise BadParameter(
            f"docs must be a whole number, at least the {known} documents known here. Got {docs!r} instead."
        )
