"""What is in the page: everything computed, as tables, sentences, pictures, and the data the script works on."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

import exaequo
from exaequo.comparison import Comparison, compare_runs
from exaequo.comparison.pairs import Plan
from exaequo.errors import ExaequoError, count
from exaequo.evaluation import Options
from exaequo.measures import Measure
from exaequo.read import Qrels, Run
from exaequo.reporting.pictures import Figure, figures
from exaequo.reporting.recorder import Recorder
from exaequo.tabular import shown

#: Documents of each list that go into the page.
DEPTH = 10
#: Runs up to which the matrix of pairs has figures without a script; of more it has signs.
MOST_FIGURES = 15
#: Topics whose lists stand in the page without a script.
STATIC_TOPICS = 3


@dataclass(frozen=True)
class Picture:
    """A figure of the page: its SVG, a title, and what to say to those who do not see it."""

    name: str
    title: str
    text: str
    svg: str


@dataclass(frozen=True, eq=False)
class Content:
    """All the page shows."""

    title: str
    verdict: str
    provenance: list[tuple[str, str]]
    inputs: list[dict[str, Any]]
    ties_sentence: str
    strategies: tuple[str, ...]
    ties: list[dict[str, Any]]
    health: list[dict[str, Any]]
    warnings: tuple[str, ...]
    measures: list[str]
    legend: str
    rows: list[dict[str, Any]]
    matrix: list[dict[str, Any]]
    systems: list[str]
    contrasts: list[dict[str, Any]]
    lists: list[dict[str, Any]]
    topics: list[str]
    pictures: list[Picture]
    glossary: list[dict[str, str]]
    data: dict[str, Any] = field(repr=False)


def content_of(
    qrels: Qrels,
    runs: Iterable[Run],
    measures: Sequence[Measure],
    options: Options,
    plan: Plan,
    *,
    depth: int = DEPTH,
    title: str = "",
    command: str = "",
) -> Content:
    """Compute everything; `command` is how the page was asked for, if it was in the shell."""
    recorder = Recorder(qrels, measures, options, depth)
    result = compare_runs(qrels, recorder.watch(runs), measures, options, plan, least=1)
    names, looks = result.values.systems, recorder.looks
    pair = _leaders(result)
    return Content(
        title=title or f"{count(len(names), 'run')}, {count(len(result.values.topics), 'topic')}",
        verdict=_verdict(result, *pair),
        provenance=[*_provenance(qrels, result, options), *([("command", command)] if command else [])],
        inputs=[
            {"run": name, "file": look.file, "sha256": look.sha256, "lines": look.lines}
            for name, look in zip(names, looks, strict=True)
        ],
        ties_sentence=_ties_sentence(result),
        strategies=result.values.ties,
        ties=_ties(result, recorder),
        health=[{"run": name, **look.health} for name, look in zip(names, looks, strict=True)],
        warnings=result.warnings,
        measures=[measure.name for measure in result.values.measures],
        legend=_legend(result),
        rows=_rows(result),
        matrix=_matrix(result) if len(names) > 1 else [],
        systems=names,
        contrasts=_contrasts(result, pair[0]),
        lists=_lists(result, recorder, *pair) if depth else [],
        topics=result.values.topics.to_list(),
        pictures=[_drawn(each) for each in figures(result, recorder, *pair)],
        glossary=[_explained(measure) for measure in result.values.measures],
        data=_data(result, recorder, options, pair),
    )


def _drawn(figure: Figure) -> Picture:
    svg = figure.chart.drawn("svg").decode()
    if not svg.startswith("<svg"):
        raise ExaequoError(f"The figure {figure.name} could not be drawn.")
    return Picture(figure.name, figure.title, figure.text, svg)


def _explained(measure: Measure) -> dict[str, str]:
    about = measure.definition
    return {
        "name": measure.name,
        "title": about.title,
        "formula": about.formula,
        "source": about.source,
        "note": "" if about.higher_is_better else "Less is better.",
    }


def _leaders(result: Comparison) -> tuple[str, str | None]:
    """Return the best system by the first measure, and what it is compared with: the baseline, or the second best."""
    first = result.systems.filter(pl.col("measure") == result.values.measures[0].name)["run"].to_list()
    if len(first) == 1:
        return first[0], None
    if result.plan.baseline is not None:
        best = next((name for name in first if name != result.plan.baseline), first[0])
        return best, result.plan.baseline
    return first[0], first[1]


def _verdict(result: Comparison, best: str, second: str | None) -> str:
    """Say which system is best, by how much, and how sure that is."""
    measure = result.values.measures[0].name
    top = result.systems.filter((pl.col("measure") == measure) & (pl.col("run") == best)).row(0, named=True)
    over = f"over {count(len(result.values.topics), 'topic')}"
    if second is None:
        sure = f"{100 * (1 - result.plan.alpha):g} % interval {top['low']:.4f} to {top['high']:.4f}"
        return f"{best} has a mean {measure} of {top['mean']:.4f} {over}, {sure}. There is no run to compare it with."
    one, two = pl.col("one"), pl.col("two")
    either = ((one == best) & (two == second)) | ((one == second) & (two == best))
    pair = result.pairs.filter((pl.col("measure") == measure) & either)
    most = "highest" if result.values.upward(0) > 0 else "lowest"
    who = f"{best} has the {most}" if top["rank"] == 1 else f"Of the runs other than {second}, {best} has the {most}"
    sentence = f"{who} mean {measure}, {top['mean']:.4f}, {over}"
    return f"{sentence}; {pair['verdict'].item()}." if pair.height else f"{sentence}."


def _provenance(qrels: Qrels, result: Comparison, options: Options) -> list[tuple[str, str]]:
    plan = result.plan
    level = "above 0" if options.rel_level is None else f"≥ {options.rel_level:g}"
    topics = f"{count(len(result.values.topics), 'topic')} with a relevant document"
    return [
        ("judgments", f"{qrels.source.name} ({qrels.frame.height:,} judgments)"),
        ("sha256 of the judgments", qrels.source.sha256 or "–"),
        ("ties", f"{result.values.ties[0]}; also {', '.join(result.values.ties[1:])}"),
        ("relevant", f"grade {level}"),
        ("topics", topics),
        ("topics a run lacks", {"zero": "score 0", "skip": "left out for all"}.get(options.missing, options.missing)),
        ("test", f"{plan.name}, alpha {plan.alpha:g}, seed {plan.seed}"),
        ("versions", f"exaequo {exaequo.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"),
    ]


def _ties_sentence(result: Comparison) -> str:
    if not result.pairs.height:
        return ""
    changing = int(result.pairs["changes"].sum())
    if not changing:
        return f"No verdict between two runs depends on how ties are broken ({result.pairs.height:,} compared)."
    return f"{changing:,} of {count(result.pairs.height, 'verdict')} between two runs depend on how ties are broken."


def _ties(result: Comparison, recorder: Recorder) -> list[dict[str, Any]]:
    """Return a row per run: how much is tied, and the mean of the first measure under each strategy."""
    means = {ties: result.values.means(0, ties) for ties in result.values.ties}
    return [
        {
            "run": name,
            "tied": f"{recorder.looks[at].health['tied']:.1f}",
            "means": [shown(float(values[at])) for values in means.values()],
            "span": shown(float(abs(means["optimistic"][at] - means["realistic"][at]))),
        }
        for at, name in enumerate(result.values.systems)
    ]


def _legend(result: Comparison) -> str:
    """Say what the signs in the table of runs mean."""
    if result.plan.baseline is not None:
        return f"▲ and ▼: significantly better and worse than {result.plan.baseline}, the baseline."
    return "Letters: runs that share one are not told apart." if result.pairs.height else ""


def _rows(result: Comparison) -> list[dict[str, Any]]:
    """Return a row per run: a cell per measure with the mean, its interval, the letter of its group or its mark."""
    by_run: dict[str, dict[str, Any]] = {name: {} for name in result.values.systems}
    for row in result.systems.to_dicts():
        by_run[row["run"]][row["measure"]] = {
            "value": row["mean"],
            "text": shown(row["mean"]),
            "low": shown(row["low"]),
            "high": shown(row["high"]),
            "mark": row.get("group", row.get("mark", "")) if result.pairs.height else "",
            "best": row["rank"] == 1,
        }
    first = result.systems.filter(pl.col("measure") == result.values.measures[0].name)["run"].to_list()
    return [{"run": name, "cells": by_run[name]} for name in first]


def _matrix(result: Comparison) -> list[dict[str, Any]]:
    """Return the pairs of the first measure as a square: the difference of the row over the column, and its verdict."""
    own = result.pairs.filter(pl.col("measure") == result.values.measures[0].name)
    names = result.values.systems
    short = len(names) > MOST_FIGURES
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for pair in own.select("one", "two", "difference", "better", "significant", "corrected p").to_dicts():
        for row, column, side in ((pair["two"], pair["one"], 1), (pair["one"], pair["two"], -1)):
            word = ("better" if side * pair["better"] > 0 else "worse") if pair["significant"] else "alike"
            mark = {"better": "▲", "worse": "▼", "alike": "·" if short else ""}[word]
            text = "" if short else f"{side * pair['difference']:+.4f} ".replace("-", "−")
            cells[row, column] = {"text": text + mark, "p": shown(pair["corrected p"]), "kind": word}
    return [{"run": name, "cells": [cells.get((name, other)) for other in names]} for name in names]


def _contrasts(result: Comparison, best: str) -> list[dict[str, Any]]:
    """Return the topics on which two runs differ most, for each measure: the best two, or the best and the baseline."""
    rows = result.contrasts
    if result.plan.baseline is not None:
        rows = rows.filter(pl.col("two") == best)
    return [
        {**row, **{key: shown(row[key]) for key in ("value one", "value two", "difference")}} for row in rows.to_dicts()
    ]


def _lists(result: Comparison, recorder: Recorder, best: str, second: str | None) -> list[dict[str, Any]]:
    """Return the lists of the two runs of the verdict, for the topics on which they differ most."""
    values = result.values
    table, known = values.of(0)
    topics = values.topics.filter(pl.Series(known)).to_list()
    runs = [(name, values.systems.index(name)) for name in (second, best) if name is not None]
    gap = np.abs(table[runs[-1][1]] - table[runs[0][1]])
    gap = gap if second is not None else -values.upward(0) * table[0]  # of one run, the hardest topics

    def side(name: str, row: int, at: int) -> dict[str, Any]:
        top = recorder.looks[row].tops[recorder.topics.index(topics[at])]
        return {"run": name, "value": shown(float(table[row, at])), "documents": _documents(top)}

    chosen = np.argsort(-gap, kind="stable")[:STATIC_TOPICS].tolist()
    return [{"topic": topics[at], "lists": [side(name, row, at) for name, row in runs]} for at in chosen]


def _documents(top: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the documents of a list: rank, with = if tied, name, judgment, score."""
    rows = []
    for at, (name, grade, tied, score) in enumerate(top):
        equal = tied or (at > 0 and top[at - 1][2])
        judgment = "not judged" if grade is None else f"{grade:g}"
        rows.append({"rank": f"{at + 1}{' =' if equal else ''}", "name": name, "judgment": judgment, "score": score})
    return rows


def _data(result: Comparison, recorder: Recorder, options: Options, pair: tuple[str, str | None]) -> dict[str, Any]:
    """Return what the script works on: plain numbers, rounded, null where there is none."""
    values = result.values

    def plain(table: Any) -> Any:
        return [[None if np.isnan(v) else round(float(v), 6) for v in row] for row in table]

    place = {name: at for at, name in enumerate(values.systems)}
    pairs = []
    for measure in values.measures:
        own = result.pairs.filter(pl.col("measure") == measure.name)
        pairs.append(
            [
                [place[one], place[two], round(gap, 6), float(f"{p:.3g}")]
                for one, two, gap, p in own.select("one", "two", "difference", "corrected p").rows()
            ]
        )
    return {
        "format": 1,
        "runs": values.systems,
        "topics": values.topics.to_list(),
        "measures": [{"name": m.name, "up": m.definition.higher_is_better} for m in values.measures],
        "alpha": result.plan.alpha,
        "test": result.plan.name,
        "baseline": result.plan.baseline or "",
        "leaders": [place[name] if name is not None else -1 for name in (pair[1], pair[0])],
        "level": options.rel_level,
        "tied": [round(look.health["tied"], 1) for look in recorder.looks],
        "values": [plain(values.by_ties[values.ties[0]][row]) for row in range(len(values.measures))],
        "means": {
            ties: [[round(float(v), 6) for v in values.means(row, ties)] for row in range(len(values.measures))]
            for ties in values.ties
        },
        "pairs": pairs,
        "order": [recorder.topics.index(topic) for topic in values.topics],
        "lists": [look.tops for look in recorder.looks],
    }
