"""Explain: how a value came about, step by step. In: judgments, a run, a topic, a measure. Out: an `Explanation`.

`view` is one list, `steps` has an explainer per measure, `luck` says what ties decide, `filters` explains a binary
filter, and `wording` puts it all into words, which are in one file per language.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from exaequo import tabular
from exaequo.errors import BadParameter
from exaequo.evaluation import Options
from exaequo.explanation.filters import FilterExplanation, explain_filter
from exaequo.explanation.luck import other_values, what_ties_decide
from exaequo.explanation.steps import Step, steps_of
from exaequo.explanation.view import View, place_of
from exaequo.explanation.wording import LANGUAGES, Wording, plain, plain_steps, sentences
from exaequo.formats import figure
from exaequo.judge import HIGHEST_GRADE, judge, prepare
from exaequo.measures import Measure, parse_measure
from exaequo.order import Ordering, one_strategy
from exaequo.read import Qrels, QrelsLike, Run, RunLike, read_qrels, read_run

__all__ = ["LANGUAGES", "Explanation", "FilterExplanation", "explain", "explain_filter", "explain_list", "sentences"]

#: Rows of a table that are shown unless more are asked for.
MOST_ROWS = 30


@dataclass(frozen=True, eq=False)
class Explanation:
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

    @property
    def figure(self) -> str:
        """The value as `eval` prints it."""
        return figure(self.measure, self.value)

    def text(self, lang: str = "en", *, rows: int = MOST_ROWS, markdown: bool = False) -> str:
        """Write the explanation out."""
        words = Wording(lang, markdown=markdown)
        title = words.said("title", **self._names(words))
        about = words.about(self.measure.definition)
        parts = [f"## {title}" if markdown else title]
        if about["formula"]:
            parts.append(words.said("formula", **about))
        parts += self._list(words, rows)
        parts += words.steps(self.steps, rows) or [words.said("nothing", **self._names(words))]
        parts.append(self._so(words, about["reason"]))
        figures = [words.word(figure(self.measure, value)) for value in self.others.values()]
        strategies = [words.word(name) for name in self.others]
        parts += [words.said("others"), words.table(pl.DataFrame({"strategy": strategies, "value": figures}))]
        return "\n\n".join([*parts, words.step(self.verdict)])

    def _names(self, words: Wording) -> dict[str, str]:
        names = {"measure": self.measure.name, "run": self.run, "topic": self.topic}
        return {**names, "ties": words.word(self.ties)}

    def _list(self, words: Wording, rows: int) -> list[str]:
        if not self.listing.height:
            return [words.said("empty list", **self._names(words))]
        shown = self.listing.drop("topic").rename({"docno": "document"})
        return [words.said("list", documents=self.listing.height), *words.shortened(shown, rows)]

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
            "value": plain(self.value),
            "figure": self.figure,
            **words.about(self.measure.definition),
            "list": tabular.rows(self.listing),
            "steps": plain_steps(self.steps, words),
            "others": plain(self.others),
            "ties decide": plain_steps([self.verdict], words)[0],
        }


def explain(
    qrels: QrelsLike,
    run: RunLike,
    topic: str,
    measure: str | Measure,
    *,
    ties: str = "realistic",
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    depth: int | None = None,
    precision: str = "double",
    seed: int = 0,
    docs: int | None = None,
) -> Explanation:
    """Explain the value of a measure for one topic of a run; options as for `evaluate`.

    With `docs`, the size of the collection, tables of relevant and returned documents have all their cells.
    """
    options = Options((one_strategy(ties),), rel_level, max_grade, depth, precision=precision, seed=seed)
    return explain_list(read_qrels(qrels), read_run(run), str(topic), parse_measure(measure), options, docs=docs)


def explain_list(
    qrels: Qrels, run: Run, topic: str, measure: Measure, options: Options, *, docs: int | None = None
) -> Explanation:
    """Explain the value of a measure for one topic of a run that has been read."""
    judgments = prepare(qrels, level=options.rel_level, highest=options.max_grade)
    at = place_of(topic, judgments)
    ordering = Ordering(judge(run, judgments), options.precision)
    (ties,) = options.ties
    ranking = ordering.ranking(ties, seed=options.seed, depth=options.depth)
    view = View(ranking, at, docs)
    _check_size(view, docs)
    plain = Measure(measure.definition, measure.params)
    value = float(plain.values(ranking)[at])
    others = other_values(ordering, plain, at, ties, depth=options.depth, seed=options.seed)
    whole = view if options.depth is None else View(ordering.ranking(ties, seed=options.seed), at)
    verdict = what_ties_decide(whole, plain, {ties: value, **others})
    listing = view.listing(plain.params.get("rel"))
    return Explanation(plain, run.name, topic, ties, value, listing, tuple(steps_of(plain, view)), others, verdict)


def _check_size(view: View, docs: int | None) -> None:
    """Refuse a collection smaller than what is known of it."""
    lines, judged = view.lines(), len(view.grades)
    known = judged + sum(not line.judged for line in lines)
    if docs is not None and (isinstance(docs, bool) or not isinstance(docs, int) or docs < known):
        raise BadParameter(
            f"docs must be a whole number, at least the {known} documents known here. Got {docs!r} instead."
        )
