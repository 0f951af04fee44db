"""Orders of systems: by several keys in turn and by people, beside those of measures. In: `Scores`. Out: frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Floats
from exaequo.comparison.values import besides_of, refuse_geometric
from exaequo.errors import BadParameter, bad_input
from exaequo.measures import Measure, parse_measures
from exaequo.read.orderings import Preference
from exaequo.scores import Scores
from exaequo.stats.agreement import competition_ranks, kendall, krippendorff, rbo_of_scores, tau_ap_b
from exaequo.stats.equality import settled, settled_means, slack_of
from exaequo.text import count, listed

#: What sorts systems: the first measure, and the next where that leaves two of them equal.
Sort = tuple[Measure, ...]
#: Samples of topics for the interval of a share.
SAMPLES = 1000
CONSENSUS = "consensus"


def sorts_of(rank_by: str | Iterable[Any]) -> list[Sort]:
    """Read what to sort by: "R@100,Width@100,AP@100", or several such."""
    sorts = [tuple(parse_measures(each)) for each in ([rank_by] if isinstance(rank_by, str) else rank_by)]
    refuse_geometric([key for sort in sorts for key in sort], "; sort by {plain}.")
    return sorts


def keys_of(sorts: Iterable[Sort], measures: Sequence[Measure]) -> list[Measure]:
    """Return the keys that are not among the measures, each once."""
    return list(dict.fromkeys(key for sort in sorts for key in sort if key not in measures))


def named(sort: Sort) -> str:
    """Return the name of a sort: its keys."""
    return ", ".join(key.name for key in sort)


def _table(scores: Scores, measure: Measure) -> tuple[pl.Series, Floats]:
    """Return topics, and runs × topics turned so that the best is the highest; keys may have been computed besides."""
    if measure in scores.measures:
        own = scores.matrix(measure)
        topics, values = own.topics, own.values
    else:
        values = besides_of(scores, measure.name)
        known = ~np.isnan(values).any(axis=0)
        topics, values = scores.shared.filter(pl.Series(known)), values[:, known]
    if not len(topics):
        raise BadParameter(f"{measure} has a value for no topic; there is nothing to sort by.")
    return topics, measure.upward * values


def _mean(scores: Scores, measure: Measure) -> Floats:
    return settled_means(_table(scores, measure)[1])


def _by_topic(scores: Scores, measure: Measure) -> dict[str, Floats]:
    """Return the values of all runs for each topic; equal ones are exactly equal."""
    topics, values = _table(scores, measure)
    return dict(zip(topics, settled(values.T, np.full(len(topics), slack_of(values))), strict=True))


def places(keys: Sequence[Floats]) -> Floats:
    """Return where systems stand by these keys, the first first: the best highest, equal where all keys are."""
    order = np.lexsort(keys[::-1])
    differ = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    place = np.zeros(len(order))
    place[order[1:]] = np.cumsum(differ)
    return place


def orders(scores: Scores, sorts: Sequence[Sort]) -> pl.DataFrame:
    """Return the rank of each system by each measure and by each sort of the means, in the order of the first sort."""
    found = {measure.name: competition_ranks(_mean(scores, measure)) for measure in scores.measures}
    found |= {named(sort): competition_ranks(places([_mean(scores, key) for key in sort])) for sort in sorts}
    return pl.DataFrame({"run": scores.runs, **found}).sort(named(sorts[0]), maintain_order=True)


def _pairs(one: Floats, two: Floats) -> tuple[int, int, int]:
    """Return the pairs that the first tells apart, those that the second orders alike, and the other way round."""
    first, second = (np.sign(each[:, None] - each[None, :]) for each in (one, two))
    both = first * second
    return tuple(int(each.sum()) // 2 for each in (first != 0, both > 0, both < 0))  # type: ignore[return-value]


def sorts(scores: Scores, by: Sequence[Sort]) -> pl.DataFrame:
    """Return how far each measure orders systems as each sort does: by their means, and topic by topic.

    A topic has no τ where all systems are equal by the measure or by the sort.
    """
    rows = []
    for sort in by:
        keys, inside = [_mean(scores, key) for key in sort], [_by_topic(scores, key) for key in sort]
        for measure in scores.measures:
            figures = _agreement(places(keys), _mean(scores, measure))
            rows.append((named(sort), measure.name, *figures, *_topic_by_topic(inside, _by_topic(scores, measure))))
    whole = ("topics", "pairs", "same", "opposite")
    texts, numbers = ("sort", "measure"), (*_AGREEMENT, "topics", "topic_tau_b", "same_order_percent", *whole[1:])
    return _frame(rows, texts, numbers, whole)


_AGREEMENT = ("tau_b", "p", "tau_ap", "rbo")


def _agreement(one: Floats, two: Floats) -> tuple[float, ...]:
    return *kendall(one, two), tau_ap_b(one, two), rbo_of_scores(one, two, ties="b")


def _frame(
    rows: Sequence[tuple[Any, ...]], texts: Sequence[str], numbers: Sequence[str], whole: Sequence[str]
) -> pl.DataFrame:
    """Return a frame of these rows: columns of texts, then of numbers, some of them whole."""
    schema = dict.fromkeys(texts, pl.String) | {name: pl.Int64 if name in whole else pl.Float64 for name in numbers}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _topic_by_topic(keys: Sequence[dict[str, Floats]], values: dict[str, Floats]) -> tuple[float, ...]:
    """Compare the order of systems in each topic with that of the keys: topics, mean τ-b, share alike, pairs."""
    topics = [topic for topic in values if all(topic in key for key in keys)]
    both = [(places([key[topic] for key in keys]), places([values[topic]])) for topic in topics]
    taus = np.array([kendall(*each)[0] for each in both])
    alike = 100 * float(np.mean([np.array_equal(*each) for each in both])) if both else float("nan")
    pairs = np.array([_pairs(*each) for each in both], dtype=np.int64).reshape(-1, 3).sum(axis=0).tolist()
    known = taus[~np.isnan(taus)]
    return len(topics), float(known.mean()) if len(known) else float("nan"), alike, *pairs


# ------------------------------------------------------------------------------------------------------------- people


def orderings(
    scores: Scores, judges: Sequence[Preference], *, seed: int = 0, alpha: float = 0.05
) -> tuple[pl.DataFrame, list[str]]:
    """Return how far measures order systems as people do, and people as each other; and what to say.

    The consensus is the mean rank, on the systems that all judges rank. An interval is that of the share over samples
    of topics.
    """
    known, notes = _ranked(scores, judges)
    shared = [run for run in scores.runs if all(run in ranks for ranks in known.values())]
    people = dict(known)
    if len(known) > 1 and len(shared) > 1:
        total = np.sum([_midranks(ranks, shared) for ranks in known.values()], axis=0)
        people[CONSENSUS] = dict(zip(shared, total.tolist(), strict=True))
    rows: list[tuple[Any, ...]] = []
    for measure in scores.measures:
        values = _table(scores, measure)[1]
        for judge, ranks in people.items():
            own = values[[scores.runs.index(run) for run in ranks]]
            theirs = -np.array(list(ranks.values()))
            both, source = (theirs, settled_means(own)), np.random.default_rng(seed)
            interval = _interval(theirs, own, source, alpha)
            rows.append(("measure", measure.name, judge, *_compared(*both), *interval, *_ends(*both), None))
    rows += _between(known, scores.runs)
    if len(known) > 2 and len(shared) > 1:
        rows.append(("judges", "all", "all", len(shared), *[None] * 12, _alpha(known.values(), shared)))
    whole = ("systems", "pairs", "same", "opposite")
    shares, ends = ("same_percent", "low_percent", "high_percent"), ("same_best", "same_worst")
    numbers = ("systems", *_AGREEMENT, *whole[1:], *shares, *ends, "alpha_ordinal")
    frame = _frame(rows, ("between", "one", "two"), numbers, whole)
    return frame.with_columns(pl.col(*ends).cast(pl.Boolean)), notes


def _ranked(scores: Scores, judges: Sequence[Preference]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return the ranks of the runs by each judge, in the order of the runs; and which systems are left out."""
    known: dict[str, dict[str, float]] = {}
    notes = []
    for each in judges:
        strange = [system for system in each.ranks if system not in scores.runs]
        without = [run for run in scores.runs if run not in each.ranks]
        own = {run: each.ranks[run] for run in scores.runs if run in each.ranks}
        if each.judge == CONSENSUS and len(judges) > 1:
            found, expected = f"a judge is called {CONSENSUS!r}", "another name: this is the mean rank of all judges"
            raise bad_input(each.file, found, expected, "Rename the judge, or the file.")
        if len(own) < 2:
            found = f"judge {each.judge!r} ranks {count(len(own), 'run')} of these ({listed(list(each.ranks))})"
            expected = f"two or more of {listed(scores.runs)}"
            raise bad_input(each.file, found, expected, "Name the systems as the runs are named.")
        if strange:
            notes.append(f"{each.file}: {each.judge} ranks what is no run here, left out: {listed(strange)}")
        if without:
            notes.append(f"{each.file}: {each.judge} does not rank {count(len(without), 'run')}: {listed(without)}")
        known[each.judge] = own
    return known, notes


def _midranks(ranks: dict[str, float], runs: Sequence[str]) -> Floats:
    """Return the ranks of these runs among themselves; equal ones share the mean of theirs."""
    from scipy.stats import rankdata

    return np.asarray(rankdata([ranks[run] for run in runs]), dtype=np.float64)


def _alpha(judges: Iterable[dict[str, float]], runs: Sequence[str]) -> float:
    return krippendorff(np.stack([_midranks(ranks, runs) for ranks in judges]), "ordinal")


def _compared(theirs: Floats, found: Floats) -> tuple[Any, ...]:
    """Compare an order with that of a judge: systems, agreement, pairs told apart, alike, the other way round."""
    told, same, opposite = _pairs(theirs, found)
    return len(theirs), *_agreement(theirs, found), told, same, opposite, 100 * same / told if told else float("nan")


def _ends(theirs: Floats, found: Floats) -> list[bool] | list[None]:
    """Tell whether the best, and the worst, of an order are among those of the judge, if there are any."""
    if np.ptp(theirs) == 0 or np.ptp(found) == 0:
        return [None, None]
    return [bool(np.all(theirs[found == end(found)] == end(theirs))) for end in (np.max, np.min)]


def _interval(theirs: Floats, values: Floats, source: np.random.Generator, alpha: float) -> tuple[float, float]:
    """Return the interval, over samples of topics, of the share of pairs that the means order as the judge does."""
    n, slack = values.shape[1], slack_of(values)
    told = int((theirs[:, None] > theirs[None, :]).sum())
    if not told:
        return float("nan"), float("nan")
    means = values @ source.multinomial(n, np.full(n, 1 / n), size=SAMPLES).T / n
    same = np.zeros(SAMPLES)
    for at, own in enumerate(theirs):
        same += (means[at] - means[own > theirs] > slack).sum(axis=0)
    low, high = np.quantile(100 * same / told, (alpha / 2, 1 - alpha / 2))
    return float(low), float(high)


def _between(judges: dict[str, dict[str, float]], runs: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield how far each two judges agree, on the systems both rank."""
    for (one, first), (two, second) in combinations(judges.items(), 2):
        both = [run for run in runs if run in first and run in second]
        if len(both) > 1:
            mine, theirs = (-_midranks(ranks, both) for ranks in (first, second))
            agreement = _compared(theirs, mine), (None, None), _ends(theirs, mine)
            yield "judges", one, two, *chain(*agreement), _alpha((first, second), both)
