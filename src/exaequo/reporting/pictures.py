"""The figures of the page, drawn from what has been computed already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from exaequo.comparison import Comparison
from exaequo.comparison.values import means as mean_values
from exaequo.errors import ExaequoError
from exaequo.language import number, say, strategy
from exaequo.measures import parse_measure
from exaequo.plot.chart import Canvas, Chart
from exaequo.plot.kinds.at_k import cutoff_lines, without_cutoff
from exaequo.plot.kinds.curve import mean_curves
from exaequo.plot.kinds.measures import agreement
from exaequo.plot.kinds.recall import areas, scene_of
from exaequo.plot.kinds.tie_groups import tie_rows
from exaequo.plot.kinds.topics import gap_bars
from exaequo.plot.marks import Row, short_names
from exaequo.plot.pair import Pair
from exaequo.reporting.facts import CUTOFFS, DEEPEST_HIT, DEEPEST_TIE, first_cut
from exaequo.reporting.sentences import means_by_ties, ranked_runs
from exaequo.scores import Scores
from exaequo.tabular import cell_text

#: What Vega says of its marks to screen readers; it stands in tags, where a name cannot be.
_TAG, _ROLES = re.compile(r"<[^<>]+>"), re.compile(r' (?:role|aria-roledescription|aria-label)="[^"]*"')


def figures(result: Comparison, best: str, second: str | None) -> Iterator[Row]:
    """Draw everything the page shows; the pair is what its verdict is about."""
    ranked = ranked_runs(result)
    found = means_by_ties(result.scores, ranked)
    about = _seen(len(result.scores.shared), result.scores.ties[0])
    yield from _of_lines(result, ranked, about)
    yield from _of_ties(result.scores, found)
    if second is not None:
        yield from _of_pair(result.scores, best, second)


def _seen(topics: int, ties: str) -> str:
    return say("{n:,} {n:topic|topics}, {ties} ties", n=topics, ties=strategy(ties))


def figure_of(name: str, title: str, text: str, chart: Chart, cells: Sequence[Sequence[str]] = ()) -> Row:
    """Return a figure, words for those who do not see it, and its cells, heads first, if they stand nowhere else."""
    svg = chart.drawn("svg").decode()
    if not svg.startswith("<svg"):
        raise ExaequoError(f"The figure {name} could not be drawn.")
    quiet = _TAG.sub(lambda tag: _ROLES.sub("", tag[0]), svg)  # the page says what it shows
    return {"name": name, "title": title, "text": text, "svg": quiet, "table": cells}


def _of_lines(result: Comparison, ranked: list[str], about: str) -> Iterator[Row]:
    """All runs: precision against recall, a measure against its cutoff, and how far measures agree on them."""
    scores = result.scores
    levels = [name for name in result.curves.columns if name != "run"]
    by_run = {run: values for run, *values in result.curves.select("run", *levels).rows()}
    curves = {run: by_run[run] for run in ranked}
    title = say("Interpolated precision")
    chart = mean_curves(curves, Canvas.of({}, title, about))
    text = say("Precision at recall 0 to 1, averaged over topics.")
    yield figure_of("curves", title, text, chart, _cells(map(number, levels), curves))
    cut = first_cut(scores.measures)
    if cut is not None:
        name = without_cutoff(cut.name).name
        at_k = {run: scores.facts[run].at_k for run in ranked}
        title = say("{measure} against the cutoff", measure=name)
        every = _seen(len(scores.evaluated), scores.ties[0])
        chart = cutoff_lines(at_k, CUTOFFS, name, Canvas.of({}, title, every))
        yield figure_of("at-k", title, say("Means over all judged topics."), chart, _cells(map(str, CUTOFFS), at_k))
    if len(scores.measures) > 1 and len(ranked) > 2:
        title = say("Agreement of measures")
        text = say("Kendall's τ-b between the rankings of the runs by each two measures.")
        by_measure = [mean_values(scores, measure) for measure in scores.measures]
        chart = agreement(scores.measures, by_measure, Canvas.of({}, title, about))
        cells = [
            [say("measure"), *result.taus.columns[1:]],
            *([cell_text(cell) for cell in row] for row in result.taus.rows()),
        ]
        yield figure_of("measures", title, text, chart, cells)


def _cells(heads: Iterable[str], by_run: Mapping[str, Sequence[float]]) -> list[list[str]]:
    return [[say("run"), *heads], *([run, *map(cell_text, values)] for run, values in by_run.items())]


def _of_ties(scores: Scores, found: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Where the ties are of the run whose score depends most on them."""
    run = max(found, key=lambda each: abs(found[each]["optimistic"] - found[each]["realistic"]))
    facts, topics = scores.facts[run], scores.evaluated.to_list()
    if not any(facts.ties):
        return
    labels = [say("topic {topic}", topic=name) for name in short_names(topics, 20).values()]
    rows, lengths = dict(zip(labels, facts.ties, strict=True)), dict(zip(labels, facts.lengths, strict=True))
    text = say(
        "Of all runs, {run} depends most on how ties are broken. A bar goes from the first to the last rank of a tie.",
        run=run,
    )
    title = say("Ties of {run}", run=run)
    chart = tie_rows(rows, lengths, DEEPEST_TIE, Canvas.of({}, title))
    cells = [[say("topic"), say("ranks of ties that are mixed"), say("ranks of other ties")]]
    cells += [[topic, *_ranges(bars)] for topic, bars in zip(topics, facts.ties, strict=True)]
    yield figure_of("tie-groups", title, text, chart, cells)


def _ranges(bars: list[Row]) -> list[str]:
    """Return the ranks of ties that hold relevant and other documents, and of those that do not."""
    by_kind: dict[str, list[str]] = {"mixed": [], "all alike": []}
    for bar in bars:
        by_kind[bar["kind"]].append(f"{int(bar['first'] + 0.5)}–{int(bar['last'] - 0.5)}")
    return [", ".join(ranges) for ranges in by_kind.values()]


def _of_pair(scores: Scores, best: str, second: str) -> Iterator[Row]:
    """The two runs of the verdict: on all topics, and where they differ most."""
    first = scores.measures[0]
    own = scores.matrix(first)
    topics = own.topics.to_list()
    pair, name = Pair(first, (second, best), topics, own[second], own[best]), first.name
    columns = (values.tolist() for values in (pair.first, pair.second, pair.gap))
    rows = sorted(zip(topics, *columns, strict=True), key=lambda row: -row[-1])
    cells = [[say("topic"), second, best, say("difference")]]
    cells += [[topic, *map(cell_text, values)] for topic, *values in rows]
    canvas = Canvas.of({}, pair.title, say("{ties} ties", ties=strategy(scores.ties[0])))
    title = say("{pair}, topic by topic", pair=pair.title)
    text = say("Differences in {measure}, sorted.", measure=name)
    yield figure_of("topics", title, text, gap_bars(pair, canvas), cells)
    topic = topics[int(np.argmax(np.abs(pair.gap)))]
    at = scores.evaluated.index_of(topic)
    hits = {run: scores.facts[run].hits[at] for run in (best, second)}
    what = parse_measure(f"PRES@{DEEPEST_HIT}")
    scene = scene_of(what, hits, scores.facts[best].n_rel[at])
    chart = areas(
        scene,
        Canvas.of({}, say("{measure}, topic {topic}", measure=what.name, topic=topic)),
        say("relevant documents against rank"),
    )
    text = say(
        "The topic on which {best} and {second} differ most in {measure}: relevant documents found up to each rank. "
        "The area under a line, as a share of that between best and worst case, is {drawn}.",
        best=best,
        second=second,
        measure=name,
        drawn=what.name,
    )
    ranks = [[run, str(len(found)), ", ".join(map(str, found))] for run, found in hits.items()]
    heads = [say("run"), say("found in the first {n}", n=DEEPEST_HIT), say("ranks of relevant documents")]
    title = say("Relevant documents found, topic {topic}", topic=topic)
    yield figure_of("recall", title, text, chart, [heads, *ranks])
