"""A binary filter on the board: the list with the line at the threshold, the table, and what is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import polars as pl

from exaequo import tabular
from exaequo.choices import HIGHEST_GRADE, THRESHOLD, UTILITIES
from exaequo.errors import BadParameter
from exaequo.evaluation import judged_runs, prepared
from exaequo.explanation.wording import Told, Wording, plain_steps, wrapped
from exaequo.filtering import Filter, filter_of, from_table
from exaequo.judge import JudgedRun
from exaequo.language import speaking
from exaequo.measures import PARAMETERS
from exaequo.measures.filters import (
    f_step,
    normalised_step,
    precision_step,
    recall_step,
    share_step,
    t11su_step,
    utility_step,
)
from exaequo.measures.steps import Given, Row, Step, crosstab
from exaequo.measures.view import place_of
from exaequo.options import Options, Reading, keywords
from exaequo.read import QrelsLike, RunLike, read_qrels, read_run
from exaequo.read.decisions import Decisions, read_decisions
from exaequo.remarks import remarks_on_grades
from exaequo.text import did_you_mean


@dataclass(frozen=True, eq=False, repr=False)
class FilterExplanation(Told):
    """How the figures of a filter for one theme came about; those that are undefined are NaN."""

    run: str
    theme: str
    threshold: float
    listing: pl.DataFrame
    steps: tuple[Step, ...]
    figures: dict[str, float]
    warnings: tuple[str, ...] = ()

    def text(
        self, lang: str = "en", *, rows: int = 30, markdown: bool = False, full: bool = False, width: int = 0
    ) -> str:
        """Write the explanation out; `full` has all terms of sums, and no sentence is wider than a `width`."""
        words = Wording(lang, markdown=markdown, full=full)
        title = words.title("filter title", run=self.run, theme=self.theme, threshold=self.threshold)
        with speaking(lang):
            figures = [
                {"figure": words.word(name), "value": words.word(tabular.cell_text(_whole(name, value)))}
                for name, value in self.figures.items()
            ]
        parts = [title, *self._list(words, rows), *words.steps(self.steps, rows)]
        return wrapped([*parts, words.said("filter values"), words.table(figures)], width)

    def _list(self, words: Wording, rows: int) -> list[str]:
        """Return the list, the line drawn in it; of a long list what is nearest to the line."""
        if not self.listing.height:
            return [words.said("filter empty", run=self.run, theme=self.theme)]
        lines, line = self.listing.to_dicts(), int(self.listing["selected"].sum())
        first = max(0, min(line - rows // 2, len(lines) - rows))
        last = min(first + rows, len(lines))
        rule = {"document": words.said("filter line", threshold=self.threshold)}
        shown = [*lines[first:line], dict.fromkeys(self.listing.columns) | rule, *lines[line:last]]
        notes = [words.said(key, left=left) for key, left in (("above", first), ("below", len(lines) - last)) if left]
        table = words.table(shown, apart=[self.threshold])
        return [words.said("filter list", documents=len(lines)), table, *notes]

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """Return plain data, for JSON; sentences in a language."""
        return {
            "run": self.run,
            "theme": self.theme,
            "threshold": tabular.plain(self.threshold),
            "figures": tabular.plain(self.figures),
            "list": tabular.rows(self.listing),
            "steps": plain_steps(self.steps, Wording(lang)),
        }


def explain_filter(
    qrels: QrelsLike,
    run: RunLike | None,
    topic: str,
    threshold: float = THRESHOLD,
    *,
    utility: tuple[float, ...] = UTILITIES["LF1"],
    beta: float = 1.0,
    docs: int | None = None,
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    reader: str | None = None,
    **files: Unpack[Reading],
) -> FilterExplanation:
    """Explain the figures of a filter for one theme: documents scored at least `threshold` are selected.

    Without a run, `qrels` is a table of decisions: theme, truth, and a score or a decision. `utility` is what
    documents of the cells a and b are worth, or of all four; `docs` the size of the collection; `columns` and `mend`
    are as for `evaluate`.
    """
    if not PARAMETERS["beta"].accepts(beta):
        raise BadParameter(f"beta must be {PARAMETERS['beta'].expected}. Got {beta!r} instead.")
    if not isinstance(threshold, int | float) or threshold != threshold:
        raise BadParameter(f"The threshold must be a number. Got {threshold!r} instead.")
    reading, _ = keywords("explain_filter", files, Reading.__annotations__)
    said: list[str] = []
    if run is None:
        table = read_decisions(qrels, reader=reader, columns=reading.get("columns"))
        one, listing = from_table(table, docs=docs), _rows_of_table(table, str(topic))
        at = _theme(str(topic), one)
    else:
        options = Options(rel_level=rel_level, max_grade=max_grade)
        judgments = prepared(read_qrels(qrels, reader=reader, **reading), options, every=True)
        at = place_of(str(topic), judgments)
        read = read_run(run, reader=reader, **reading)
        said = [*remarks_on_grades(judgments), *map(str, read.source.mended)]
        ((ordering, _),) = judged_runs(judgments, [read], options)
        one, listing = filter_of(ordering, docs=docs), _rows_of_run(ordering.judged_run, at)
    threshold = Given(threshold)
    listing = _drawn(listing, threshold)
    tables = one.at(threshold)
    a, b, c, d = (int(each[at]) for each in (tables.a, tables.b, tables.c, tables.d))
    size = "docs" if docs is not None else "table" if run is None else "known"
    steps = _steps((a, b, c, d), threshold, listing, size, beta, utility)
    found = ((step.numbers["figure"], step.result) for step in steps if "figure" in step.numbers)
    figures = {str(name): np.nan if value is None else value for name, value in found}
    return FilterExplanation(one.name, str(topic), threshold, listing, tuple(steps), figures, tuple(said))


def _whole(name: str, value: float) -> float:
    """Return a utility that is a whole number as one."""
    return int(value) if name == "utility" and value.is_integer() else value


def _theme(topic: str, one: Filter) -> int:
    if topic in one.themes:
        return one.themes.index(topic)
    hint = did_you_mean(topic, one.themes) or "."
    raise BadParameter(f"Theme {topic!r} cannot be explained: it is not in the table{hint}")


def _rows_of_run(run: JudgedRun, topic: int) -> pl.DataFrame:
    """Return the documents of a theme with their judgments."""
    own = run.part(run.topic == topic)
    return pl.DataFrame(
        {
            "document": own.run.frame["docno"][own.row],
            "sim": own.sim,
            "judgment": pl.Series(own.grade).set(pl.Series(~own.judged), None),
            "relevant": own.judged & own.judgments.relevant(own.grade),
        }
    )


def _rows_of_table(table: Decisions, topic: str) -> pl.DataFrame:
    """Return the documents of a theme; one without a name is called by its row."""
    at = np.flatnonzero((table.theme == topic).to_numpy())
    names = [f"#{row + 1}" for row in at] if table.document is None else table.document[at]
    return pl.DataFrame(
        {"document": names, "sim": table.score[at], "relevant": table.truth[at] > 0},
        schema_overrides={"document": pl.String},
    )


def _drawn(listing: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Sort the list, best score first, and say which documents are selected."""
    ordered = listing.sort("sim", descending=True, maintain_order=True)
    rank = pl.int_range(1, pl.len() + 1).alias("rank")
    return ordered.select(rank, pl.all(), (pl.col("sim") >= threshold).alias("selected"))


def _steps(
    counts: tuple[int, int, int, int],
    threshold: float,
    listing: pl.DataFrame,
    size: str,
    beta: float,
    utility: tuple[float, ...],
) -> list[Step]:
    if len(utility) not in (2, 4) or not all(np.isfinite(utility)) or not utility[0] > 0:
        raise BadParameter(f"utility takes two or four finite numbers, the first above 0. Got {utility!r} instead.")
    a, b, c, d = counts
    cells = {"a": a, "b": b, "c": c, "d": d}
    unseen = a + c - int(listing["relevant"].sum())
    selected = {"selected": a + b, "threshold": threshold, "unseen": unseen}
    table: list[Row] = crosstab(a, b, c, d, ("selected", "not selected"))
    worth = utility_step(utility, counts)
    return [
        Step("selection and missing" if unseen else "selection", selected),
        Step(f"filter table {size}", {**cells, "size": a + b + c + d}, table),
        precision_step(a, b, c),
        recall_step(a, b, c),
        f_step(a, b, c, beta),
        share_step("filter fallout", "fallout", b, b + d, cells, None),
        share_step("filter accuracy", "accuracy", a + d, a + b + c + d, cells, None),
        worth,
        normalised_step(worth.numbers["result"], utility, counts),
        t11su_step(a, b, c),
    ]
