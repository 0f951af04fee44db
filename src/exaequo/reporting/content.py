"""What is in the page: everything computed, as tables, sentences, pictures, and the data the script works on."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

import exaequo
from exaequo.comparison import Comparison, compare_runs
from exaequo.comparison.pairs import Plan
from exaequo.errors import ExaequoError, count
from exaequo.evaluation import Options
from exaequo.judge import judge, prepare
from exaequo.measures import Measure
from exaequo.order import Ordering
from exaequo.plot.chart import Chart
from exaequo.read import Qrels, Run
from exaequo.reporting import pictures
from exaequo.tabular import shown
from exaequo.tiestats import tie_statistics

#: Documents of each list that go into the page.
DEPTH = 10
#: Systems up to which the page has the matrix of pairs without a script.
MOST_STATIC = 15


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
    ties: list[dict[str, Any]]
    health: list[dict[str, Any]]
    warnings: tuple[str, ...]
    measures: list[str]
    rows: list[dict[str, Any]]
    matrix: list[dict[str, Any]]
    systems: list[str]
    contrasts: list[dict[str, Any]]
    topics: list[str]
    pictures: list[Picture]
    glossary: list[dict[str, str]]
    data: dict[str, Any] = field(repr=False)


class _Recorder:
    """Looks at each run as it goes by: its ties, its health, the top of its lists."""

    def __init__(self, qrels: Qrels, options: Options, depth: int) -> None:
        self._judgments = prepare(qrels, level=options.rel_level, highest=options.max_grade)
        self._options, self._depth = options, depth
        self.health: list[dict[str, Any]] = []
        self.inputs: list[dict[str, Any]] = []
        self.topics = self._judgments.topics.to_list()
        self.lists: list[list[list[Any]]] = []

    def watch(self, runs: Iterable[Run]) -> Iterator[Run]:
        """Look at each run and hand it on."""
        for run in runs:
            self._look(run)
            yield run

    def _look(self, run: Run) -> None:
        lines = judge(run, self._judgments)
        ordering = Ordering(lines, self._options.precision)
        ranking = ordering.ranking("realistic")
        statistics = tie_statistics(ordering)
        top = ranking.rank <= 10
        self.inputs.append({"file": run.source.name, "sha256": run.source.sha256 or "", "lines": run.frame.height})
        self.health.append(
            {
                "missing": len(lines.missing),
                "stray": len(lines.stray),
                "unjudged": 100 * float((~ranking.judged[top]).mean()) if top.any() else 0.0,
                "stuffed": int(statistics.stuffed.sum()),
                "tied": statistics.summary()["tied %"],
                "one_tie": int(statistics.one_tie.sum()),
            }
        )
        self.lists.append(self._tops(ranking))

    def _tops(self, ranking: Any) -> list[list[Any]]:
        """Return the first documents of each topic: name, grade (none if nobody judged), whether tied with the next."""
        part = ranking.part(ranking.rank <= self._depth + 1)
        names = part.lines.run.frame["docno"][part.row].to_list()
        result: list[list[Any]] = [[] for _ in range(part.n_topics)]
        followed = np.zeros(len(part.tie), dtype=bool)
        followed[:-1] = part.tie[1:] == part.tie[:-1]
        columns = zip(part.topic, part.rank, names, part.judged, part.grade, followed, strict=True)
        for topic, rank, name, judged, grade, tied in columns:
            if rank <= self._depth:
                result[int(topic)].append([name, float(grade) if judged else None, int(tied)])
        return result


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
    recorder = _Recorder(qrels, options, depth)
    result = compare_runs(qrels, recorder.watch(runs), measures, options, plan)
    names = result.values.systems
    health = [{"run": name, **each} for name, each in zip(names, recorder.health, strict=True)]
    best, second = _leaders(result)
    return Content(
        title=title or f"{count(len(names), 'run')}, {count(len(result.values.topics), 'topic')}",
        verdict=_verdict(result, best, second),
        provenance=[*_provenance(qrels, result, options), *([("command", command)] if command else [])],
        inputs=[{"run": name, **each} for name, each in zip(names, recorder.inputs, strict=True)],
        ties_sentence=_ties_sentence(result),
        ties=_ties(result, health),
        health=health,
        warnings=result.warnings,
        measures=[measure.name for measure in measures],
        rows=_rows(result),
        matrix=_matrix(result) if len(names) <= MOST_STATIC else [],
        systems=names,
        contrasts=[
            {**row, **{key: shown(row[key]) for key in ("value one", "value two", "difference")}}
            for row in result.contrasts.to_dicts()
        ],
        topics=result.values.topics.to_list(),
        pictures=[_drawn(*each) for each in pictures.of(result, best, second)],
        glossary=[
            {
                "name": measure.name,
                "title": measure.definition.title,
                "formula": measure.definition.formula,
                "source": measure.definition.source,
            }
            for measure in measures
        ],
        data=_data(result, recorder),
    )


def _drawn(name: str, title: str, text: str, picture: Chart) -> Picture:
    svg = picture.drawn("svg").decode()
    if not svg.startswith("<svg"):
        raise ExaequoError(f"The figure {name} could not be drawn.")
    return Picture(name, title, text, svg)


def _leaders(result: Comparison) -> tuple[str, str]:
    """Return the best system by the first measure, and what it is compared with: the baseline, or the second best."""
    first = result.systems.filter(pl.col("measure") == result.values.measures[0].name)["run"].to_list()
    if result.plan.baseline is not None:
        best = next((name for name in first if name != result.plan.baseline), first[0])
        return best, result.plan.baseline
    return first[0], first[1]


def _verdict(result: Comparison, best: str, second: str) -> str:
    """Say which system is best, by how much, and how sure that is."""
    measure = result.values.measures[0].name
    pair = result.pairs.filter(
        (pl.col("measure") == measure)
        & (
            ((pl.col("one") == best) & (pl.col("two") == second))
            | ((pl.col("one") == second) & (pl.col("two") == best))
        )
    )
    top = result.systems.filter((pl.col("measure") == measure) & (pl.col("run") == best)).row(0, named=True)
    most = "highest" if result.values.upward(0) > 0 else "lowest"
    who = f"{best} has the {most}" if top["rank"] == 1 else f"Of the runs other than {second}, {best} has the {most}"
    sentence = f"{who} mean {measure}, {top['mean']:.4f}, over {len(result.values.topics)} topics"
    return f"{sentence}; {pair['verdict'].item()}." if pair.height else f"{sentence}."


def _provenance(qrels: Qrels, result: Comparison, options: Options) -> list[tuple[str, str]]:
    plan = result.plan
    level = "above 0" if options.rel_level is None else f"≥ {options.rel_level:g}"
    return [
        ("judgments", f"{qrels.source.name} ({qrels.frame.height:,} judgments)"),
        ("sha256 of the judgments", qrels.source.sha256 or "–"),
        ("ties", f"{result.values.ties[0]}; also {', '.join(result.values.ties[1:])}"),
        ("relevant", f"grade {level}"),
        ("topics a run lacks", {"zero": "score 0", "skip": "left out for all"}.get(options.missing, options.missing)),
        ("test", f"{plan.name}, alpha {plan.alpha:g}, seed {plan.seed}"),
        ("versions", f"exaequo {exaequo.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"),
    ]


def _ties_sentence(result: Comparison) -> str:
    changing = int(result.pairs["changes"].sum())
    if not changing:
        return f"No verdict between two runs depends on how ties are broken ({result.pairs.height} compared)."
    return f"{changing} of {count(result.pairs.height, 'verdict')} between two runs depend on how ties are broken."


def _ties(result: Comparison, health: list[dict[str, Any]]) -> list[dict[str, Any]]:
    measure = result.values.measures[0]
    means = {ties: result.values.means(0, ties) for ties in result.values.ties}
    return [
        {
            "run": name,
            "tied": f"{health[at]['tied']:.1f}",
            "measure": measure.name,
            **{ties: shown(float(values[at])) for ties, values in means.items()},
            "span": shown(float(abs(means["optimistic"][at] - means["realistic"][at]))),
        }
        for at, name in enumerate(result.values.systems)
    ]


def _rows(result: Comparison) -> list[dict[str, Any]]:
    """Return a row per run: a cell per measure with the mean, its interval, the letter of its group or its mark."""
    by_run: dict[str, dict[str, Any]] = {name: {} for name in result.values.systems}
    for row in result.systems.to_dicts():
        by_run[row["run"]][row["measure"]] = {
            "value": row["mean"],
            "text": shown(row["mean"]),
            "low": shown(row["low"]),
            "high": shown(row["high"]),
            "mark": row.get("group", row.get("mark", "")),
            "best": row["rank"] == 1,
        }
    first = result.systems.filter(pl.col("measure") == result.values.measures[0].name)["run"].to_list()
    return [{"run": name, "cells": by_run[name]} for name in first]


def _matrix(result: Comparison) -> list[dict[str, Any]]:
    """Return the pairs of the first measure as a square: the difference of the row over the column, and its verdict."""
    own = result.pairs.filter(pl.col("measure") == result.values.measures[0].name)
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for pair in own.to_dicts():
        for row, column, side in ((pair["two"], pair["one"], 1), (pair["one"], pair["two"], -1)):
            gap = side * pair["difference"]
            word = ("better" if side * pair["better"] > 0 else "worse") if pair["significant"] else "alike"
            mark = {"better": "▲", "worse": "▼", "alike": ""}[word]
            cells[row, column] = {"text": f"{gap:+.4f}", "mark": mark, "p": shown(pair["corrected p"]), "kind": word}
    names = result.values.systems
    return [{"run": name, "cells": [cells.get((name, other)) for other in names]} for name in names]


def _data(result: Comparison, recorder: _Recorder) -> dict[str, Any]:
    """Return what the script works on: plain numbers, rounded, null where there is none."""
    values = result.values

    def plain(table: Any) -> Any:
        return [[None if np.isnan(v) else round(float(v), 6) for v in row] for row in table]

    pairs = []
    for measure in values.measures:
        own = result.pairs.filter(pl.col("measure") == measure.name)
        pairs.append(
            [
                [values.systems.index(row[0]), values.systems.index(row[1]), round(row[2], 6), float(f"{row[3]:.3g}")]
                for row in own.select("one", "two", "difference", "corrected p").rows()
            ]
        )
    return {
        "format": 1,
        "runs": values.systems,
        "topics": values.topics.to_list(),
        "measures": [{"name": m.name, "up": m.definition.higher_is_better} for m in values.measures],
        "alpha": result.plan.alpha,
        "baseline": result.plan.baseline or "",
        "values": [plain(values.by_ties[values.ties[0]][row]) for row in range(len(values.measures))],
        "means": {
            ties: [[round(float(v), 6) for v in values.means(row, ties)] for row in range(len(values.measures))]
            for ties in values.ties
        },
        "pairs": pairs,
        "order": [recorder.topics.index(topic) for topic in values.topics],
        "lists": recorder.lists,
    }
