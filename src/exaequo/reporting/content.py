"""What is in the page: everything computed, as tables, sentences, pictures, and the data the script works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from exaequo import tabular
from exaequo.choices import PAGE_DOCUMENTS
from exaequo.comparison import Comparison, compare_runs
from exaequo.comparison.pages import for_a_paper
from exaequo.comparison.plan import Plan
from exaequo.comparison.values import pick
from exaequo.comparison.verdicts import BETTER, TIES, WORSE
from exaequo.evaluation import Judged
from exaequo.explanation.wording import Wording
from exaequo.language import ENGLISH, number, say, speaking, spoken, strategy, word
from exaequo.measures import Measure, parse_measure
from exaequo.options import Options
from exaequo.plot.kinds.systems import written_out
from exaequo.reporting.data import data_of
from exaequo.reporting.facts import DEEPEST_HIT, noting
from exaequo.reporting.pictures import figures
from exaequo.reporting.sentences import (
    leaders,
    legend_of,
    means_by_ties,
    p_text,
    provenance_of,
    ranked_runs,
    sentence_on_ties,
    signed,
    verdict_of,
)
from exaequo.scores import Scores
from exaequo.tabular import cell_text

#: Runs up to which the matrix of pairs has figures without a script; of more it has signs.
MOST_FIGURES = 15
#: Topics whose lists stand in the page without a script.
STATIC_TOPICS = 3
#: Verdicts that depend on ties which are written out.
MOST_CHANGES = 30


@dataclass(frozen=True, eq=False)
class Content:
    """What is said at once, and all the page shows, by the names its template has for it."""

    verdict: str
    warnings: tuple[str, ...]
    shown: dict[str, Any] = field(repr=False)


def content_of(
    runs: Iterable[Judged],
    measures: Sequence[Measure],
    options: Options,
    plan: Plan,
    *,
    documents: int = PAGE_DOCUMENTS,
    title: str = "",
    command: str = "",
) -> Content:
    """Compute everything in one pass; `command` is how the page was asked for, if it was in the shell."""
    result = compare_runs(runs, measures, options, plan, least=1, facts=noting(measures, options, documents))
    scores = result.scores
    pair, ranked, changes = leaders(result), ranked_runs(result), _changes(result)
    verdict = verdict_of(result, *pair)
    shown: dict[str, Any] = {
        "title": title or say("{n:,} {n:run|runs}, {m:,} {m:topic|topics}", n=len(scores.runs), m=len(scores.shared)),
        "verdict": verdict,
        "test": plan.name,
        "provenance": _provenance(result, options, command),
        "inputs": [
            {"run": each["name"], "file": each["file"], "sha256": each["sha256"] or "", "lines": each["lines"]}
            for each in scores.inputs["runs"]
        ],
        "ties_sentence": sentence_on_ties(result),
        "strategies": [strategy(ties) for ties in scores.ties],
        "ties": _ties(scores, ranked),
        "changes": changes[:MOST_CHANGES],
        "more_changes": max(0, len(changes) - MOST_CHANGES),
        "health": [{"run": run, **facts.health} for run, facts in scores.facts.items()],
        "warnings": result.warnings,
        "measures": [measure.name for measure in scores.measures],
        "less": [measure.name for measure in scores.measures if measure.upward < 0],
        "legend": legend_of(result),
        "rows": _rows(result),
        "matrix": _matrix(result, ranked) if len(ranked) > 1 else [],
        "signs_only": len(ranked) > MOST_FIGURES,
        "systems": ranked,
        "contrasts": _contrasts(result, pair[0]),
        "lists": _lists(scores, options, *pair) if documents else [],
        "depth": documents,
        "pictures": list(figures(result, *pair)),
        "glossary": _glossary(result),
    }
    latex = tabular.latex(for_a_paper(result)) if len(ranked) > 1 else ""
    with speaking(ENGLISH):  # programs read it
        about = _about(result, options, command, shown)
        data = data_of(result, options, pair) | {"latex": latex, "depth": documents, "about": about}
        names = {plan.name: shown["test"], **dict(zip(scores.ties, shown["strategies"], strict=True))}
    return Content(verdict, result.warnings, shown | {"data": data, "names": names})


def _about(result: Comparison, options: Options, command: str, shown: dict[str, Any]) -> dict[str, Any]:
    """Return what the data say of themselves."""
    return {
        "provenance": dict(_provenance(result, options, command)),
        **{name: shown[name] for name in ("inputs", "health", "warnings")},
        "glossary": _glossary(result),
    }


def _provenance(result: Comparison, options: Options, command: str) -> list[tuple[str, str]]:
    return [*provenance_of(result, options), *([(say("command"), command)] if command else [])]


def _glossary(result: Comparison) -> list[dict[str, str]]:
    """Explain the measures the page shows: those asked for, and what is drawn besides."""
    words = Wording(spoken())
    asked, also = list(result.scores.measures), parse_measure(f"PRES@{DEEPEST_HIT}")
    if len(result.scores.runs) > 1 and also not in asked:
        asked.append(also)
    return [
        {
            "name": measure.name,
            "title": about["title"],
            "formula": about["formula"],
            "source": measure.definition.source,
            "note": "" if measure.definition.higher_is_better else say("Less is better."),
        }
        for measure, about in ((measure, words.about(measure)) for measure in asked)
    ]


def _ties(scores: Scores, ranked: list[str]) -> list[dict[str, Any]]:
    """Return a row per run: how much is tied, and the mean of the first measure under each strategy."""
    return [
        {
            "run": run,
            "tied": number(f"{scores.facts[run].health['tied']:.1f}"),
            "means": [cell_text(mean) for mean in found.values()],
            "span": cell_text(abs(found["optimistic"] - found["realistic"])),
        }
        for run, found in means_by_ties(scores, ranked).items()
    ]


def _changes(result: Comparison) -> list[dict[str, Any]]:
    """Return the pairs where ties decide: who is better under each strategy."""
    rows = result.pairs.filter(outcome=TIES).select("measure", "one", "two", *result.scores.ties)
    return [
        {
            **row,
            "verdicts": [
                {">": row["two"], "<": row["one"], "=": word("neither")}[row[ties]] for ties in result.scores.ties
            ],
        }
        for row in rows.iter_rows(named=True)
    ]


def _rows(result: Comparison) -> list[dict[str, Any]]:
    """Return a row per run: a cell per measure with the mean, its interval, the letter of its group or its mark."""
    by_run: dict[str, dict[str, Any]] = {name: {} for name in result.scores.runs}
    rows = result.systems.to_dicts()
    few = written_out(row.get("group", "") for row in rows)
    for row in rows:
        by_run[row["run"]][row["measure"]] = {
            "value": row["mean"],
            "text": cell_text(row["mean"]),
            "low": cell_text(row["low"]),
            "high": cell_text(row["high"]),
            "mark": _mark(row, few) if result.pairs.height else "",
            "best": row["rank"] == 1,
        }
    return [{"run": name, "cells": by_run[name]} for name in ranked_runs(result)]


def _mark(row: dict[str, Any], few: bool) -> str:
    """Return the letters of a group, unless there are too many to read, or the mark against the baseline."""
    if "group" not in row:
        return str(row["mark"])
    return str(row["group"]) if few else "≈" if row["group"].startswith("a") and row["rank"] > 1 else ""


def _matrix(result: Comparison, names: list[str]) -> list[dict[str, Any]]:
    """Return the pairs of the first measure as a square: the difference of the row over the column, and its verdict."""
    own = pick(result.pairs, result.scores.measures[0])
    short = len(names) > MOST_FIGURES
    cells: dict[tuple[str, str], dict[str, str]] = {}
    back = {BETTER: WORSE, WORSE: BETTER}
    for pair in own.select("one", "two", "difference", "outcome", "corrected_p").to_dicts():
        outcome = pair["outcome"]
        for row, column, side in ((pair["two"], pair["one"], 1), (pair["one"], pair["two"], -1)):
            word = outcome if side > 0 else back.get(outcome, outcome)
            mark = {BETTER: "▲", WORSE: "▼", TIES: "◇"}.get(word, "·" if short else "")
            text = mark if short else f"{signed(side * pair['difference'])} {mark}".strip()
            cells[row, column] = {"text": text, "p": p_text(pair["corrected_p"]), "kind": word.replace(" ", "-")}
    return [{"run": name, "cells": [cells.get((name, other)) for other in names]} for name in names]


def _contrasts(result: Comparison, best: str) -> list[dict[str, Any]]:
    """Return the topics on which two runs differ most, for each measure: the best two, or the best and the baseline."""
    rows = result.contrasts
    if result.plan.baseline is not None:
        rows = rows.filter(pl.col("two") == best)
    written = {"value_one": cell_text, "value_two": cell_text, "difference": signed}
    return [row | {name: write(row[name]) for name, write in written.items()} for row in rows.to_dicts()]


def _lists(scores: Scores, options: Options, best: str, second: str | None) -> list[dict[str, Any]]:
    """Return the lists of the two runs of the verdict, for the topics on which they differ most."""
    first = scores.measures[0]
    own, topics = scores.matrix(first), scores.matrix(first).topics
    runs = [run for run in (second, best) if run is not None]
    gap = np.abs(own[runs[-1]] - own[runs[0]])
    gap = gap if second is not None else -first.upward * own[best]  # of one run, the hardest topics

    def side(run: str, at: int) -> dict[str, Any]:
        top = scores.facts[run].tops[scores.evaluated.index_of(topics[at])]
        return {"run": run, "value": cell_text(float(own[run][at])), "documents": _documents(top, options)}

    chosen = np.argsort(-gap, kind="stable")[:STATIC_TOPICS].tolist()
    return [{"topic": topics[at], "lists": [side(run, at) for run in runs]} for at in chosen]


def _documents(top: Sequence[Sequence[Any]], options: Options) -> list[dict[str, Any]]:
    """Return the documents of a list: rank, with = if tied, name, judgment, with ✓ if relevant, and score."""
    rows = []
    for at, (name, grade, tied, score) in enumerate(top):
        equal = tied or (at > 0 and top[at - 1][2])
        enough = grade is not None and (grade > 0 if options.rel_level is None else grade >= options.rel_level)
        relevant = enough and grade <= options.max_grade
        judgment = word("not judged") if grade is None else f"{number(f'{grade:g}')}{' ✓' if relevant else ''}"
        kind = " ".join(filter(None, ("tied" if tied else "", "in-tie" if equal else "")))
        row = {"rank": f"{at + 1}{' =' if equal else ''}", "name": name, "judgment": judgment, "score": number(score)}
        rows.append({**row, "kind": kind, "relevant": relevant})
    return rows
