"""The figures of the page, drawn from what has been computed already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from exaequo.comparison import Comparison
from exaequo.comparison.values import means as mean_values
from exaequo.comparison.values import table
from exaequo.measures import parse_measure
from exaequo.plot.chart import Canvas, Chart
from exaequo.plot.kinds.at_k import cutoff_lines, without_cutoff
from exaequo.plot.kinds.curve import mean_curves
from exaequo.plot.kinds.measures import agreement
from exaequo.plot.kinds.recall import areas, scene_of
from exaequo.plot.kinds.scatter import cloud
from exaequo.plot.kinds.systems import letters_mean, means
from exaequo.plot.kinds.tie_groups import tie_rows
from exaequo.plot.kinds.ties import intervals
from exaequo.plot.kinds.topics import gap_bars
from exaequo.plot.marks import MOST_ROWS, notes, short_names
from exaequo.plot.pair import Pair
from exaequo.reporting.facts import CUTOFFS, DEEPEST_HIT, DEEPEST_TIE, first_cut
from exaequo.reporting.sentences import means_by_ties
from exaequo.scores import Scores
from exaequo.tabular import cell_text
from exaequo.text import count

_CANVAS = Canvas.of({})


@dataclass(frozen=True)
class Figure:
    """A figure: its name, its title, what to say to those who do not see it, and how it is drawn."""

    name: str
    title: str
    text: str
    chart: Chart
    #: The same as a table, heads first, where no other table of the page has it.
    table: list[list[str]] = field(default_factory=list)


def figures(result: Comparison, best: str, second: str | None) -> Iterator[Figure]:
    """Draw everything the page shows; the pair is what its verdict is about."""
    scores = result.scores
    first = scores.measures[0]
    own = result.systems.filter(pl.col("measure") == first.name)
    ranked = own["run"].to_list()
    top = ranked[:MOST_ROWS]
    best_of = f" The best {MOST_ROWS} runs." if len(ranked) > MOST_ROWS else ""
    about = f"{count(len(scores.shared), 'topic')}, {scores.ties[0]} ties"
    found = means_by_ties(scores, ranked)
    yield Figure(
        "ties",
        f"What ties leave open: {first.name}",
        f"Intervals from realistic to optimistic scores, as in the table of ties.{best_of}",
        intervals(found, top, first, _CANVAS, title=f"What ties leave open: {first.name}", note=about),
    )
    group = "group" if "group" in own.columns else "mark"
    rows = own.filter(pl.col("run").is_in(top)).select("run", "mean", "low", "high", pl.col(group).alias("group"))
    letters = letters_mean(rows.to_dicts()) if group == "group" and len(ranked) > 1 else ""
    yield Figure(
        "systems",
        f"Means of {first.name}",
        f"Means with their intervals, as in the table of runs.{best_of}",
        means(rows.to_dicts(), first, _CANVAS, title=f"Means of {first.name}", note=notes(about, letters)),
    )
    levels = [name for name in result.curves.columns if name != "run"]
    curves = {row["run"]: [row[level] for level in levels] for row in result.curves.to_dicts()}
    yield Figure(
        "curves",
        "Interpolated precision",
        "Precision at recall 0 to 1, averaged over topics.",
        mean_curves({run: curves[run] for run in ranked}, _CANVAS, title="Interpolated precision", note=about),
        [["run", *levels], *([run, *map(cell_text, curves[run])] for run in ranked)],
    )
    cut = first_cut(scores.measures)
    if cut is not None:
        name = without_cutoff(cut.name).name
        at_k = {run: scores.facts[run].at_k for run in ranked}
        title = f"{name} against the cutoff"
        every = f"{count(len(scores.evaluated), 'topic')}, {scores.ties[0]} ties"
        chart = cutoff_lines(at_k, CUTOFFS, name, _CANVAS, title=title, note=every)
        heads = ["run", *map(str, CUTOFFS)]
        cells = [heads, *([run, *map(cell_text, at_k[run])] for run in ranked)]
        yield Figure("at-k", title, "Means over all judged topics.", chart, cells)
    if len(scores.measures) > 1 and len(ranked) > 2:
        figures_of = [mean_values(scores, measure) for measure in scores.measures]
        text = "Kendall's τ-b between the rankings of the runs by each two measures."
        taus = result.taus
        square = agreement(scores.measures, figures_of, _CANVAS, title="Agreement of measures", note=about)
        cells = [list(taus.columns), *([cell_text(cell) for cell in row] for row in taus.rows())]
        yield Figure("measures", "Agreement of measures", text, square, cells)
    yield from _of_ties(scores, found)
    if second is not None:
        yield from _of_pair(scores, best, second)


def _of_ties(scores: Scores, found: dict[str, dict[str, float]]) -> Iterator[Figure]:
    """Where the ties are of the run whose score depends most on them."""
    run = max(found, key=lambda each: abs(found[each]["optimistic"] - found[each]["realistic"]))
    facts, topics = scores.facts[run], scores.evaluated.to_list()
    if not any(facts.ties):
        return
    labels = [f"topic {name}" for name in short_names(topics, 20).values()]
    rows, lengths = dict(zip(labels, facts.ties, strict=True)), dict(zip(labels, facts.lengths, strict=True))
    text = (
        f"Of all runs, {run} depends most on how ties are broken. A bar goes from the first to the last rank of a tie."
    )
    chart = tie_rows(rows, lengths, DEEPEST_TIE, _CANVAS, title=f"Ties of {run}")
    cells = [["topic", "ranks of ties that are mixed", "ranks of other ties"]]
    cells += [[topic, *_ranges(bars)] for topic, bars in zip(topics, facts.ties, strict=True)]
    yield Figure("tie-groups", f"Ties of {run}", text, chart, cells)


def _ranges(bars: list[dict[str, Any]]) -> list[str]:
    """Return the ranks of ties that hold relevant and other documents, and of those that do not."""
    by_kind: dict[str, list[str]] = {"mixed": [], "all alike": []}
    for bar in bars:
        by_kind[bar["kind"]].append(f"{int(bar['first'] + 0.5)}–{int(bar['last'] - 0.5)}")
    return [", ".join(ranges) for ranges in by_kind.values()]


def _of_pair(scores: Scores, best: str, second: str) -> Iterator[Figure]:
    """The two runs of the verdict: on all topics, and where they differ most."""
    first = scores.measures[0]
    topics, own = scores.matrix(first).topics.to_list(), dict(zip(scores.runs, table(scores, first), strict=True))
    one, two = own[second], own[best]
    pair, name = Pair(first, (second, best), topics, one, two), first.name
    values_of = zip(topics, one.tolist(), two.tolist(), pair.gap.tolist(), strict=True)
    cells = [["topic", second, best, "difference"]]
    cells += [
        [topic, cell_text(a), cell_text(b), cell_text(gap)]
        for topic, a, b, gap in sorted(values_of, key=lambda each: -each[3])
    ]
    text = f"Differences in {name}, sorted."
    chart = gap_bars(pair, _CANVAS, title=pair.title, note=f"{scores.ties[0]} ties")
    yield Figure("topics", f"{pair.title}, topic by topic", text, chart, cells)
    chart = cloud(pair, _CANVAS, title=pair.title, note=f"{scores.ties[0]} ties")
    yield Figure("scatter", f"{best} and {second}", f"{name} of both, topic by topic, as in the table above.", chart)
    topic = topics[int(np.argmax(np.abs(pair.gap)))]
    at = scores.evaluated.index_of(topic)
    hits = {run: scores.facts[run].hits[at] for run in (best, second)}
    what = parse_measure(f"PRES@{DEEPEST_HIT}")
    scene = scene_of(what, hits, scores.facts[best].n_rel[at], topic, "relevant documents against rank")
    text = (
        f"The topic on which {best} and {second} differ most in {name}: relevant documents found up to each rank. "
        f"The area under a line, as a share of that between best and worst case, is {what.name}."
    )
    ranks = [[run, str(len(found)), ", ".join(map(str, found))] for run, found in hits.items()]
    cells = [["run", f"found in the first {DEEPEST_HIT}", "ranks of relevant documents"], *ranks]
    yield Figure("recall", f"Relevant documents found, topic {topic}", text, areas(scene, _CANVAS), cells)
