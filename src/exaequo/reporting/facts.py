"""What the page needs of each run besides its scores: noted while the run is at hand. In: an `Ordering`. Out: facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exaequo.explanation.steps import steps_of
from exaequo.measures import Measure
from exaequo.measures.steps import Step
from exaequo.measures.view import View
from exaequo.options import Options
from exaequo.order import Ordering, Ranking
from exaequo.plot.kinds.at_k import cutoffs, means_at
from exaequo.plot.kinds.tie_groups import tie_bars
from exaequo.remarks import remarks_on_lines
from exaequo.tiestats import COUNTED, tie_statistics

#: Ranks in the pictures of cutoffs, of ties, and of relevant documents found.
DEEPEST_CUTOFF, DEEPEST_TIE, DEEPEST_HIT = 50, 50, 100
CUTOFFS = cutoffs(DEEPEST_CUTOFF)
#: Ranks within which it is told what nobody judged.
FIRST = 10
#: Topics up to which it is noted how values come about.
MOST_EXPLAINED = 200


@dataclass(frozen=True)
class PageFacts:
    """What was noted of one run; lists are by topic."""

    health: dict[str, Any]
    #: Relevant documents there are.
    n_rel: list[int]
    #: The first documents: name, grade (none if nobody judged), whether tied with the next, score.
    tops: list[list[Any]]
    #: How long its lists are.
    lengths: list[int]
    #: Where its ties are.
    ties: list[list[dict[str, Any]]]
    #: Ranks of relevant documents.
    hits: list[list[int]]
    #: The mean of a measure at each cutoff.
    at_k: list[float]
    #: What there is to say about its lines.
    remarks: list[str]
    #: Documents of the first ranks that nobody judged, with their ranks.
    unjudged: list[list[tuple[str, int]]]
    #: How the values of the first measure come about; none of long files or cut lists.
    steps: list[list[Step]]


def noting(measures: Sequence[Measure], options: Options, documents: int) -> Callable[[Ordering], PageFacts]:
    """Return what notes the facts of a run, so many documents of each list among them."""
    cut = first_cut(measures)

    def note(ordering: Ordering) -> PageFacts:
        ranking = ordering.ranking("realistic", depth=options.depth)
        top = ranking.part(ranking.rank <= DEEPEST_CUTOFF)
        return PageFacts(
            health=_health(ordering, ranking),
            n_rel=ordering.judgments.counted(None).tolist(),
            tops=_tops(ranking, documents),
            lengths=ranking.returned.tolist(),
            ties=tie_bars(ranking, DEEPEST_TIE),
            hits=_hits(ranking),
            at_k=means_at(top, cut.name, CUTOFFS) if cut is not None else [],
            remarks=remarks_on_lines(ordering.run),
            unjudged=_unjudged(ranking),
            steps=_steps(ranking, measures[0]) if options.depth is None else [],
        )

    return note


def first_cut(measures: Sequence[Measure]) -> Measure | None:
    """Return the first measure that has a cutoff, which is drawn against it."""
    return next((each for each in measures if "cutoff" in each.params), None)


def _health(ordering: Ordering, ranking: Ranking) -> dict[str, Any]:
    summary, lines = tie_statistics(ordering).summary(), ordering.judged_run
    top = ranking.rank <= FIRST
    return {
        "missing": len(lines.missing),
        "stray": len(lines.stray),
        "unjudged": 100 * float((~ranking.judged[top]).mean()) if top.any() else 0.0,
        "stuffed": summary["stuffed"],
        "tied": summary["tied_percent"],
        **{name: summary[name] for name in COUNTED},
    }


def _tops(ranking: Ranking, documents: int) -> list[list[Any]]:
    part = ranking.part(ranking.rank <= documents + 1)
    names = part.lines.run.frame["docno"][part.row].to_list()
    result: list[list[Any]] = [[] for _ in range(part.n_topics)]
    followed = np.zeros(len(part.tie), dtype=bool)
    followed[:-1] = part.tie[1:] == part.tie[:-1]
    scores = part.lines.sim[part.line]
    grades = part.lines.as_judged[part.line]
    columns = zip(part.topic, part.rank, names, part.judged, grades, followed, scores, strict=True)
    for topic, rank, name, judged, grade, tied, score in columns:
        if rank <= documents:
            result[int(topic)].append([name, float(grade) if judged else None, int(tied), f"{score:.6g}"])
    return result


def _steps(ranking: Ranking, measure: Measure) -> list[list[Step]]:
    few = ranking.n_topics <= MOST_EXPLAINED
    return [steps_of(measure, View(ranking, at)) for at in range(ranking.n_topics)] if few else []


def _unjudged(ranking: Ranking) -> list[list[tuple[str, int]]]:
    part = ranking.part((ranking.rank <= FIRST) & ~ranking.judged)
    result: list[list[tuple[str, int]]] = [[] for _ in range(part.n_topics)]
    names = part.lines.run.frame["docno"][part.row]
    for topic, name, rank in zip(part.topic.tolist(), names, part.rank.tolist(), strict=True):
        result[topic].append((name, rank))
    return result


def _hits(ranking: Ranking) -> list[list[int]]:
    hits = ranking.hits(None, DEEPEST_HIT)
    starts = np.searchsorted(hits.topic, np.arange(1, ranking.n_topics))
    return [ranks.tolist() for ranks in np.split(hits.rank, starts)]
