"""What is in the page: everything computed, as tables, sentences, pictures, and the data the script works on."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import polars as pl

from exaequo import tabular
from exaequo.choices import PAGE_DOCUMENTS, PAGE_TEXT
from exaequo.comparison import Comparison, compare_runs
from exaequo.comparison.pages import for_a_paper
from exaequo.comparison.pairs import open_means
from exaequo.comparison.plan import Plan
from exaequo.comparison.values import pick
from exaequo.comparison.verdicts import BETTER, TIES, WORSE
from exaequo.evaluation import Judged
from exaequo.language import ENGLISH, number, say, speaking, strategy, word
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.plot.kinds.systems import written_out
from exaequo.reporting.answers import answers_of, gaps_of
from exaequo.reporting.data import data_of, scale_of
from exaequo.reporting.facts import FIRST, noting
from exaequo.reporting.lists import Shown, explained, lists_of
from exaequo.reporting.paths import shortened
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
from exaequo.reporting.texts import Texts, document_texts, topic_texts
from exaequo.reporting.trust import Kept, trust_of
from exaequo.reporting.words import measures_of, notes_of
from exaequo.scores import Scores
from exaequo.tabular import cell_text

#: Runs up to which the matrix of pairs has figures without a script; of more it has signs.
MOST_FIGURES = 15
#: Topics whose lists stand in the page without a script.
STATIC_TOPICS = 3
#: Verdicts that depend on ties which are written out.
MOST_CHANGES = 30
#: Documents without a judgment that are named.
MOST_UNJUDGED = 100


@dataclass(frozen=True, eq=False)
class Content:
    """What is said at once, and all the page shows, by the names its template has for it."""

    verdict: str
    warnings: tuple[str, ...]
    shown: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is wanted of the page: documents of each list, title, texts, whole paths, and how it was asked for."""

    documents: int = PAGE_DOCUMENTS
    title: str = ""
    texts: Texts = field(default_factory=Texts)
    paths: bool = False
    command: str = ""


def content_of(
    runs: Iterable[Judged], measures: Sequence[Measure], options: Options, plan: Plan, wanted: Wanted
) -> Content:
    """Compute everything in one pass."""
    kept = Kept(measures[0], plan.baseline)
    note = noting(measures, options, wanted.documents)
    result = compare_runs(kept.passing(runs), measures, options, plan, least=1, facts=note)
    trust, budget = trust_of(result, kept, options)
    name = shortened(result.scores.inputs, whole=wanted.paths)
    texts = _texts(result, wanted)
    shown = _shown(result, options, wanted, name) | _topics(result, options, wanted, texts) | {"trust": trust}
    latex = tabular.latex(for_a_paper(result)) if len(result.scores.runs) > 1 else ""
    with speaking(ENGLISH):  # programs read it
        about = _about(result, options, wanted, name, shown)
        data = data_of(result, options, leaders(result))
        data |= {"latex": latex, "depth": wanted.documents, "qrels": name(result.scores.inputs["qrels"]["file"])}
        data |= {"about": about, "texts": texts, "budget": budget}
        names = {plan.name: shown["test"], **dict(zip(result.scores.ties, shown["strategies"], strict=True))}
    return Content(verdict_of(result, *leaders(result)), result.warnings, shown | {"data": data, "names": names})


def _today() -> str:
    """Return the date; SOURCE_DATE_EPOCH, if it is set, makes the same page on every day and in every time zone."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return (datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else date.today()).strftime("%Y-%m-%d")


def _shown(result: Comparison, options: Options, wanted: Wanted, name: Callable[[str], str]) -> dict[str, Any]:
    """Return all the page shows but the data of its script."""
    scores, pair, ranked, changes = result.scores, leaders(result), ranked_runs(result), _changes(result)
    first, *others = answers_of(result)
    size = say("{n:,} {n:run|runs}, {m:,} {m:topic|topics}", n=len(scores.runs), m=len(scores.shared))
    return {
        "title": wanted.title or size,
        "date": _today(),
        "size": size,
        "best": first,
        "answers": others,
        "verdict": verdict_of(result, *pair),
        "test": result.plan.name,
        "provenance": _provenance(result, options, wanted, name),
        "inputs": [
            {"run": each["name"], "file": name(each["file"]), "sha256": each["sha256"] or "", "lines": each["lines"]}
            for each in scores.inputs["runs"]
        ],
        "ties_sentence": sentence_on_ties(result),
        "strategies": [strategy(ties) for ties in scores.ties],
        "ties": _ties(scores, ranked),
        "changes": changes[:MOST_CHANGES],
        "more_changes": max(0, len(changes) - MOST_CHANGES),
        "health": [{"run": run, **facts.health} for run, facts in scores.facts.items()],
        "remarks": _remarks(result, name),
        **_unjudged(scores),
        "measures": [measure.name for measure in scores.measures],
        "less": [measure.name for measure in scores.measures if measure.upward < 0],
        "legend": legend_of(result),
        **_rows(result, ranked),
        "matrix": _matrix(result, ranked) if len(ranked) > 1 else [],
        "signs_only": len(ranked) > MOST_FIGURES,
        "systems": ranked,
        "pictures": list(figures(result, *pair)),
        "notes": notes_of(result),
        "glossary": measures_of(result),
    }


def _topics(result: Comparison, options: Options, wanted: Wanted, texts: Shown) -> dict[str, Any]:
    """Return what the page shows of single topics: where runs differ most, their lists, and how values come about."""
    pair = leaders(result)
    topics, gaps = gaps_of(result, *pair)
    telling = [topics[at] for at in np.argsort(-np.abs(gaps) if pair[1] else gaps, kind="stable")[:STATIC_TOPICS]]
    steps = explained(result, ranked_runs(result), pair)
    return {
        "contrasts": _contrasts(result, pair[0]),
        "lists": lists_of(result.scores, options, pair, telling, texts, steps) if wanted.documents else [],
        "steps": {f"{run},{topic}": text for (run, topic), text in steps.items()},
        "depth": wanted.documents,
        "cut": PAGE_TEXT if texts["documents"] else 0,
    }


def _texts(result: Comparison, wanted: Wanted) -> Shown:
    """Return the texts of the topics, and of the documents that are shown."""
    scores = result.scores
    names = (line[0] for facts in scores.facts.values() for top in facts.tops for line in top)
    documents = document_texts(wanted.texts, names) if wanted.documents else {}
    return {"topics": topic_texts(wanted.texts, scores.shared.to_list()), "documents": documents}


def _about(
    result: Comparison, options: Options, wanted: Wanted, name: Callable[[str], str], shown: dict[str, Any]
) -> dict[str, Any]:
    """Return what the data say of themselves."""
    return {
        "provenance": dict(_provenance(result, options, wanted, name)),
        **{part: shown[part] for part in ("inputs", "health", "remarks")},
        "glossary": measures_of(result),
    }


def _provenance(
    result: Comparison, options: Options, wanted: Wanted, name: Callable[[str], str]
) -> list[tuple[str, str]]:
    command = [(say("command"), wanted.command)] if wanted.command else []
    made = [(say("made on"), _today())]
    return [(what, name(text)) for what, text in [*provenance_of(result, options), *made, *command]]


def _remarks(result: Comparison, name: Callable[[str], str]) -> list[str]:
    """Return what `exaequo check` remarks, and what there is to say of the comparison."""
    own = [remark for facts in result.scores.facts.values() for remark in facts.remarks]
    return [name(remark) for remark in dict.fromkeys([*own, *result.warnings])]


def _unjudged(scores: Scores) -> dict[str, Any]:
    """Return the documents of the first ranks that nobody judged: those that most runs return first."""
    runs: Counter[tuple[int, str]] = Counter()
    ranks: dict[tuple[int, str], int] = {}
    for facts in scores.facts.values():
        for topic, found in enumerate(facts.unjudged):
            for docno, rank in found:
                runs[topic, docno] += 1
                ranks[topic, docno] = min(rank, ranks.get((topic, docno), FIRST))
    order = sorted(runs, key=lambda each: (-runs[each], ranks[each], each[0]))
    topics = scores.evaluated.to_list()
    rows = [
        {"topic": topics[topic], "document": docno, "runs": runs[topic, docno], "rank": ranks[topic, docno]}
        for topic, docno in order[:MOST_UNJUDGED]
    ]
    return {"unjudged": rows, "more_unjudged": max(0, len(order) - MOST_UNJUDGED), "first": FIRST}


def _ties(scores: Scores, ranked: list[str]) -> list[dict[str, Any]]:
    """Return a row per run: how much is tied, and the mean of the first measure under each strategy; widest first."""
    found = means_by_ties(scores, ranked)
    span = {run: abs(means["optimistic"] - means["realistic"]) for run, means in found.items()}
    return [
        {
            "run": run,
            "tied": number(f"{scores.facts[run].health['tied']:.1f}"),
            "means": [cell_text(mean) for mean in found[run].values()],
            "span": cell_text(span[run]),
        }
        for run in sorted(ranked, key=lambda run: -span[run])
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


def _rows(result: Comparison, ranked: list[str]) -> dict[str, Any]:
    """Return a row per run, drawn on one scale: rank, interval, what ties leave open, and a cell per measure."""
    scores, first = result.scores, result.scores.measures[0]
    cells: dict[str, dict[str, Any]] = {name: {} for name in scores.runs}
    rows = result.systems.to_dicts()
    few = written_out(row.get("group", "") for row in rows)
    for row in rows:
        mark = _mark(row, few) if result.pairs.height else ""
        best = row["rank"] == 1
        cells[row["run"]][row["measure"]] = {
            "value": row["mean"],
            "text": cell_text(row["mean"]),
            "mark": mark,
            "best": best,
        }
    scale = scale_of(result, first)
    own = {row["run"]: row for row in pick(result.systems, first).to_dicts()}
    open_ = dict(zip(scores.runs, zip(*open_means(scores, first), strict=True), strict=True))

    def row_of(run: str) -> dict[str, Any]:
        ends = {"low": own[run]["low"], "high": own[run]["high"], "least": open_[run][0], "most": open_[run][1]}
        drawn = {name: scale.place(value) for name, value in {**ends, "mean": own[run]["mean"]}.items()}
        texts = {name: cell_text(value) for name, value in ends.items()}
        tied = number(f"{scores.facts[run].health['tied']:.0f}")
        return {"run": run, "rank": own[run]["rank"], "drawn": drawn, **texts, "tied": tied, "cells": cells[run]}

    axis = [{"at": scale.place(each), "text": number(f"{each:g}")} for each in scale.ticks]
    return {"rows": [row_of(run) for run in ranked], "axis": axis}


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
