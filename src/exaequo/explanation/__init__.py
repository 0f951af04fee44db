"""Explain: how a value came about, step by step. In: judgments, a run, a topic, a measure. Out: an `Explanation`.

`view` is one list, `steps` has an explainer per measure, the sentences are in `en.toml`, `fr.toml`.
"""

from __future__ import annotations

import math
import string
import tomllib
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from exaequo import tabular
from exaequo.errors import BadParameter, did_you_mean
from exaequo.evaluation import Options
from exaequo.expected import EXPECTED, expected_values
from exaequo.explanation.steps import Step, steps_of
from exaequo.explanation.view import View
from exaequo.formats import figure
from exaequo.judge import HIGHEST_GRADE, judge, prepare
from exaequo.measures import Measure, parse_measure
from exaequo.order import INTERVAL, Ordering, one_strategy
from exaequo.read import Qrels, QrelsLike, Run, RunLike, read_qrels, read_run

#: One file each; English first.
LANGUAGES = tuple(
    sorted((path.stem for path in Path(__file__).parent.glob("*.toml")), key=lambda name: (name != "en", name))
)
#: Rows of the list that are shown unless more are asked for.
MOST_ROWS = 30


@dataclass(frozen=True, eq=False)
class Explanation:
    """How one value came about: the list, the steps, the value, and what other strategies give."""

    measure: Measure
    run: str
    topic: str
    ties: str
    value: float
    listing: pl.DataFrame
    steps: tuple[Step, ...]
    others: dict[str, float]

    @property
    def figure(self) -> str:
        """The value as `eval` prints it."""
        return figure(self.measure, self.value)

    def text(self, lang: str = "en", *, rows: int = MOST_ROWS, markdown: bool = False) -> str:
        """Write the explanation out."""
        words = sentences(lang)
        about = self.measure.definition

        def said(key: str, **numbers: Any) -> str:
            return _Words().format(words["text"][key], **numbers)

        names = {"measure": self.measure.name, "run": self.run, "topic": self.topic, "ties": self.ties}
        title = said("title", **names)
        parts = [f"## {title}" if markdown else title]
        if about.formula:
            parts.append(said("formula", formula=about.formula))
        shown = self.listing.drop("topic").rename({"docno": "document"})
        more = f"… {self.listing.height - rows}" if self.listing.height > rows else ""
        parts += [said("list", documents=self.listing.height), _table(shown.head(rows), words, markdown), more]
        for step in self.steps:
            parts.append(_Words().format(words["step"][step.key], **step.numbers))
            if step.table:
                parts.append(_table(pl.DataFrame(step.table, infer_schema_length=None), words, markdown))
        if not self.steps:
            parts.append(said("nothing", **names))
        if math.isnan(self.value):
            parts.append(said("undefined", **names, why=about.undefined))
        else:
            parts.append(said("value", **names, value=self.figure))
        figures = [figure(self.measure, value) for value in self.others.values()]
        others = pl.DataFrame({"strategy": list(self.others), "value": figures})
        if others.height:
            parts += [said("others"), _table(others, words, markdown)]
        return "\n\n".join(part for part in parts if part)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "measure": self.measure.name,
            "run": self.run,
            "topic": self.topic,
            "ties": self.ties,
            "value": None if math.isnan(self.value) else self.value,
            "figure": self.figure,
            "formula": self.measure.definition.formula,
            "list": tabular.rows(self.listing),
            "steps": _plain([asdict(step) for step in self.steps]),
            "others": _plain(self.others),
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
    seed: int = 0,
) -> Explanation:
    """Explain the value of a measure for one topic of a run; options as for `evaluate`."""
    options = Options((one_strategy(ties),), rel_level, max_grade, depth, seed=seed)
    return explain_list(read_qrels(qrels), read_run(run), str(topic), parse_measure(measure), options)


def explain_list(qrels: Qrels, run: Run, topic: str, measure: Measure, options: Options) -> Explanation:
    """Explain the value of a measure for one topic of a run that has been read."""
    judgments = prepare(qrels, level=options.rel_level, highest=options.max_grade)
    if topic not in judgments.topics:
        known = judgments.topics.to_list()
        why = "it has no relevant document" if topic in judgments.nothing_relevant else "it is not judged"
        raise BadParameter(f"Topic {topic!r} cannot be explained: {why}{did_you_mean(topic, known) or '.'}")
    at = known_at(judgments.topics, topic)
    ordering = Ordering(judge(run, judgments), options.precision)
    (ties,) = options.ties
    ranking = ordering.ranking(ties, seed=options.seed, depth=options.depth)
    view = View(ranking, at)
    plain = Measure(measure.definition, measure.params)
    others = {}
    for other in INTERVAL:
        if other != ties:
            others[other] = float(plain.values(ordering.ranking(other, depth=options.depth))[at])
    expected = expected_values(ordering, [plain], depth=options.depth, seed=options.seed)
    others[EXPECTED] = float(expected.values[0, at])
    value = float(plain.values(ranking)[at])
    listing = view.listing(plain.params.get("rel"))
    return Explanation(plain, run.name, topic, ties, value, listing, tuple(steps_of(plain, view)), others)


def known_at(topics: pl.Series, topic: str) -> int:
    """Return the place of a topic among those evaluated."""
    return int(np.flatnonzero((topics == topic).to_numpy())[0])


@lru_cache(maxsize=len(LANGUAGES))
def sentences(lang: str) -> dict[str, dict[str, str]]:
    """Return all sentences of a language."""
    if lang not in LANGUAGES:
        raise BadParameter(f"lang must be one of {', '.join(LANGUAGES)}. Got {lang!r} instead.")
    return tomllib.loads(files(__package__).joinpath(f"{lang}.toml").read_text(encoding="utf-8"))


class _Words(string.Formatter):
    """Numbers as a teacher writes them: whole ones whole, others with up to six digits; nothing where there is none."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ARG002 - given by the library
        if value is None:
            return "–"
        if isinstance(value, float):
            return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
        return tabular.on_one_line(str(value)) if isinstance(value, str) else str(value)


def _table(frame: pl.DataFrame, words: dict[str, dict[str, str]], markdown: bool) -> str:
    said = words["word"]
    frame = frame.with_columns(
        pl.when(pl.col(name)).then(pl.lit(said["yes"])).otherwise(pl.lit(said["no"])).alias(name)
        for name, kind in frame.schema.items()
        if kind == pl.Boolean
    ).rename({name: words["head"].get(name, name) for name in frame.columns})
    return tabular.markdown(frame) if markdown else tabular.text(frame)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
