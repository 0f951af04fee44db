"""The figure of a whole run: the values of its topics, and what is made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from exaequo.aggregate import GM_FLOOR
from exaequo.choices import COMPARED
from exaequo.evaluation import Judged, evaluate_runs
from exaequo.explanation.wording import Told, Wording, figure_of, plain_steps, wrapped
from exaequo.measures import Measure
from exaequo.measures.steps import Given, Row, Step, column, listed, summed, summed_over
from exaequo.options import Options
from exaequo.tabular import plain


@dataclass(frozen=True, eq=False, repr=False)
class MeanExplanation(Told):
    """How the figure of a run came about: a value for each topic, and the sum, the mean or the geometric mean."""

    measure: Measure
    run: str
    ties: str
    value: float
    steps: tuple[Step, ...]
    others: dict[str, float]
    warnings: tuple[str, ...] = ()

    @property
    def figure(self) -> str:
        """The value as `eval` prints it."""
        return figure_of(self.measure, self.value)

    def text(
        self, lang: str = "en", *, rows: int = 30, markdown: bool = False, full: bool = False, width: int = 0
    ) -> str:
        """Write the explanation out; `full` has all terms of sums, and no sentence is wider than a `width`."""
        words = Wording(lang, markdown=markdown, full=full)
        names = {"measure": self.measure.name, "run": self.run, "ties": words.word(self.ties)}
        parts = [words.title("mean title", **names), words.said(f"by {self.ties}"), *words.steps(self.steps, rows)]
        parts.append(words.said("value", measure=self.measure.name, value=self.figure))
        parts += words.others(self.measure, self.others)
        return wrapped([*parts, words.said("mean topic")], width)

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """Return plain data, for JSON; sentences in a language."""
        return {
            "measure": self.measure.name,
            "run": self.run,
            "ties": self.ties,
            "value": plain(self.value),
            "figure": self.figure,
            "steps": plain_steps(self.steps, Wording(lang)),
            "others": plain(self.others),
        }


def explain_mean(run: Judged, measure: Measure, options: Options) -> MeanExplanation:
    """Explain the figure of a run over all its topics."""
    (ties,) = options.ties
    chosen = tuple(dict.fromkeys((ties, *COMPARED)))
    scores = evaluate_runs([run], [measure], replace(options, ties=chosen))
    (name,) = scores.runs
    own = scores[name, ties, measure]
    steps = _steps(measure, [{"topic": topic, "value": value} for topic, value in own.to_dict().items()])
    others = {each: scores[name, each, measure].mean for each in chosen if each != ties}
    return MeanExplanation(measure, name, ties, own.mean, tuple(steps), others, scores.warnings)


def _steps(measure: Measure, rows: list[Row]) -> list[Step]:
    """Return the values of topics, and what is made of those that have one."""
    known = [row for row in rows if not math.isnan(row["value"])]
    left = len(rows) - len(known)
    table = listed("topic values", known, {"topics": len(known)}, "no topic values")
    steps = [table, *([Step("topics left out", {"left": left})] if left else [])]
    if measure.aggregate == "sum":
        return [*steps, summed(column(known, "value"), last=True)]
    if measure.aggregate == "mean":
        return [*steps, *summed_over("over topics", column(known, "value"), len(known))]
    together = summed([math.log(max(row["value"], GM_FLOOR)) for row in known])
    total = together.numbers["total"]
    numbers = {"total": total, "topics": len(known), "result": math.exp(total / len(known)) if known else math.nan}
    return [*steps, Step("logarithms", {"floor": Given(GM_FLOOR)}), together, Step("geometric", numbers)]
