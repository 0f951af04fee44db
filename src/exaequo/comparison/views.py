"""Views of a comparison: rankings under measures and strategies, curves, topics, robustness, collections, judges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.arrays import Floats
from exaequo.comparison.values import CURVE, ROBUST, besides_of, means, oriented, shared_measures
from exaequo.measures import Measure
from exaequo.read import Qrels
from exaequo.scores import Scores
from exaequo.stats.agreement import cohen, kendall, krippendorff, pearson, rbo_of_scores, tau_ap_b
from exaequo.stats.equality import differences
from exaequo.text import count, listed

#: How many topics on which two systems differ most.
MOST_CONTRASTS = 5
_AGREEMENT = ("tau_b", "p", "tau_ap", "r", "rbo")


def _agreement(one: Floats, two: Floats) -> tuple[float, ...]:
    return *kendall(one, two), tau_ap_b(one, two), pearson(one, two), rbo_of_scores(one, two, ties="b")


def _frame(rows: Sequence[tuple[Any, ...]], texts: Sequence[str], numbers: Sequence[str] = ()) -> pl.DataFrame:
    """Return a frame of these rows: columns of texts, then of numbers."""
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def correlations(scores: Scores) -> pl.DataFrame:
    """Compare the rankings of systems by two measures, and by one measure under two strategies."""
    rows: list[tuple[Any, ...]] = []
    for one, two in combinations(scores.measures, 2):
        figures = _agreement(oriented(scores, one), oriented(scores, two))
        rows.append(("measures", one.name, two.name, scores.ties[0], *figures))
    for measure in scores.measures:
        for first, second in combinations(scores.ties, 2):
            figures = _agreement(oriented(scores, measure, first), oriented(scores, measure, second))
            rows.append(("strategies", first, second, measure.name, *figures))
    return _frame(rows, ("between", "one", "two", "under"), _AGREEMENT)


def taus(scores: Scores) -> pl.DataFrame:
    """Return Kendall's τ-b between the rankings of systems by each two measures, as a square."""
    found = [oriented(scores, measure) for measure in scores.measures]
    names = [measure.name for measure in scores.measures]
    square = [[1.0 if a == b else kendall(found[a], found[b])[0] for b in range(len(names))] for a in range(len(names))]
    return pl.DataFrame({"measure": names, **dict(zip(names, square, strict=True))})


def _opposite(runs: Sequence[str], one: Floats, two: Floats) -> Iterator[tuple[str, str]]:
    """Yield the pairs of runs that two sets of figures put in opposite order: the better by the first, the worse."""
    for a, b in combinations(range(len(runs)), 2):
        if (one[a] - one[b]) * (two[a] - two[b]) < 0:
            yield (runs[a], runs[b]) if one[a] > one[b] else (runs[b], runs[a])


def inversions(scores: Scores) -> pl.DataFrame:
    """Return the pairs of systems that two measures put in opposite order."""
    rows = [
        (one.name, two.name, *pair)
        for one, two in combinations(scores.measures, 2)
        for pair in _opposite(scores.runs, oriented(scores, one), oriented(scores, two))
    ]
    return _frame(rows, ("by", "but_by", "better", "worse"))


def extremes(scores: Scores) -> pl.DataFrame:
    """Return the best and the worst system of each measure."""
    rows = []
    for measure in scores.measures:
        order, values = oriented(scores, measure), means(scores, measure)
        best, worst = int(np.argmax(order)), int(np.argmin(order))
        rows.append((measure.name, scores.runs[best], scores.runs[worst], values[best], values[worst]))
    frame = _frame(rows, ("measure", "best", "worst"), ("best_score", "worst_score"))
    return frame.select("measure", "best", "best_score", "worst", "worst_score")


def _mean_curves(scores: Scores) -> Floats:
    """Return interpolated precision, averaged over topics: a row per level, a column per run."""
    return np.stack([besides_of(scores, level).mean(axis=1) for level in CURVE])


def curves(scores: Scores) -> pl.DataFrame:
    """Return the interpolated curve of each system, averaged over topics."""
    levels = (level.removeprefix("IPrec@") for level in CURVE)
    return pl.DataFrame({"run": scores.runs, **dict(zip(levels, _mean_curves(scores), strict=True))})


def dominance(scores: Scores) -> pl.DataFrame:
    """Say for each two systems whether the curve of one is never below that of the other, and somewhere above."""
    found = dict(zip(scores.runs, _mean_curves(scores).T, strict=True))
    rows = []
    for one, two in combinations(scores.runs, 2):
        gap = differences(found[two][None, :], found[one][None, :])
        above, below = bool((gap > 0).any()), bool((gap < 0).any())
        better = one if above else two
        rows.append((one, two, "same curve" if not (above or below) else "neither" if above and below else better))
    return _frame(rows, ("one", "two", "dominates"))


def topics(scores: Scores) -> pl.DataFrame:
    """Return how hard each topic is, by the mean over systems; hardest first."""
    parts = []
    for measure in scores.measures:
        known, own = scores.matrix(measure).topics, scores.matrix(measure).values
        frame = pl.DataFrame(
            {
                "measure": pl.repeat(measure.name, len(known), eager=True, dtype=pl.String),
                "topic": known,
                "mean": own.mean(axis=0),
                "sd": own.std(axis=0, ddof=min(1, len(own) - 1)),
                "best": [scores.runs[int(at)] for at in (measure.upward * own).argmax(axis=0)],
                "worst": [scores.runs[int(at)] for at in (measure.upward * own).argmin(axis=0)],
            }
        )
        parts.append(frame.sort("mean", descending=measure.upward < 0, maintain_order=True))
    return pl.concat(parts)


def contrasts(scores: Scores, baseline: str | None) -> pl.DataFrame:
    """Return the topics on which systems differ most: from the baseline, or the best from the second best."""
    rows = []
    for measure in scores.measures if len(scores.runs) > 1 else ():
        own, known = scores.matrix(measure), scores.matrix(measure).topics
        ranked = [scores.runs[at] for at in np.argsort(-oriented(scores, measure), kind="stable")]
        base = ranked[1] if baseline is None else baseline
        for other in ranked[:1] if baseline is None else [run for run in scores.runs if run != base]:
            gap = differences(own[base][None, :], own[other][None, :])[0]
            farthest = np.argsort(-np.abs(gap), kind="stable")[:MOST_CONTRASTS]
            rows += [
                (measure.name, base, other, known[int(at)], own[base][at], own[other][at], gap[at])
                for at in farthest
                if gap[at]
            ]
    return _frame(rows, ("measure", "one", "two", "topic"), ("value_one", "value_two", "difference"))


def difficulty(scores: Scores) -> pl.DataFrame:
    """Return how much the difficulty of topics (mean over systems) depends on the strategy."""
    rows = []
    for measure in scores.measures:
        for one, two in combinations(scores.ties, 2):
            both = [scores.matrix(measure, ties).values.mean(axis=0) for ties in (one, two)]
            rows.append((measure.name, one, two, pearson(*both), kendall(*both)[0]))
    return _frame(rows, ("measure", "one", "two"), ("r", "tau_b"))


def robustness(scores: Scores) -> pl.DataFrame:
    """Return the summary of the TREC robust track: gm(AP), topics with nothing in the first 10, the worst quarter.

    The area is the mean, over X = 1 … a quarter of the topics, of the mean AP of the X worst topics of the run
    (E. M. Voorhees: Overview of the TREC 2003 robust retrieval track).
    """
    ap, found = (besides_of(scores, measure) for measure in ROBUST)
    quarter = max(1, ap.shape[1] // 4)
    worst = np.sort(ap, axis=1)[:, :quarter]
    area = (np.cumsum(worst, axis=1) / np.arange(1, quarter + 1)).mean(axis=1)
    return pl.DataFrame(
        {
            "run": scores.runs,
            "gm_ap": [aggregate("gm", row) for row in ap],
            "nothing_in_10": (found == 0).sum(axis=1),
            "nothing_in_10_percent": 100 * (found == 0).mean(axis=1),
            "area_of_worst_quarter": area,
        }
    )


#: The views that need nothing but scores, and those that need what is computed besides; each is the table of its name.
OF_SCORES = (extremes, correlations, taus, inversions, topics, difficulty)
OF_BESIDES = (dominance, curves, robustness)


# ---------------------------------------------------------------------------------------- several collections, judges


def _of_runs(scores: Scores, measure: Measure, runs: Sequence[str]) -> Floats:
    """Return the oriented means of these runs."""
    found = dict(zip(scores.runs, oriented(scores, measure), strict=True))
    return np.array([found[run] for run in runs])


def _two_by_two(
    collections: Mapping[str, Scores],
) -> Iterator[tuple[tuple[str, str, str], list[str], Floats, Floats]]:
    """Yield each measure of each two collections: the names, the runs they share, and the means of those in both."""
    for (one, first), (two, second) in combinations(collections.items(), 2):
        runs = [name for name in first.runs if name in second.runs]
        for measure in shared_measures(first, second):
            if not all(len(each.matrix(measure).topics) for each in (first, second)):
                continue
            both = (_of_runs(first, measure, runs), _of_runs(second, measure, runs))
            yield (measure.name, one, two), runs, *both


def across_collections(collections: Mapping[str, Scores]) -> pl.DataFrame:
    """Return for each two collections how far they agree on the systems they share, and how many pairs invert."""
    rows: list[tuple[Any, ...]] = []
    for names, runs, one, two in _two_by_two(collections):
        pairs, inverted = len(runs) * (len(runs) - 1) // 2, sum(1 for _ in _opposite(runs, one, two))
        figures = (100 * inverted / pairs, *_agreement(one, two)) if pairs else (None,) * (1 + len(_AGREEMENT))
        rows.append((*names, len(runs), pairs, inverted, *figures))
    whole = ("systems", "pairs", "inverted")
    frame = _frame(rows, ("measure", "one", "two"), (*whole, "inverted_percent", *_AGREEMENT))
    return frame.with_columns(pl.col(*whole).cast(pl.Int64))


def inverted_between(collections: Mapping[str, Scores]) -> pl.DataFrame:
    """Return the pairs of systems that two collections put in opposite order."""
    rows = [(*names, *pair) for names, runs, one, two in _two_by_two(collections) for pair in _opposite(runs, one, two)]
    return _frame(rows, ("measure", "on", "but_on", "better", "worse"))


def judges(
    qrels: Sequence[tuple[str, Qrels]], scores: Mapping[str, Scores], rel_level: float | None = None
) -> tuple[pl.DataFrame, list[str]]:
    """Return how far each two sets of judgments agree, on the documents both judged, and on the ranking of systems.

    Systems are ranked on the topics for which all judges have a value; what there is to say about these comes second.
    """
    rankings, notes = _by_judge(scores)
    rows: list[dict[str, Any]] = []
    for (one, first), (two, second) in combinations(qrels, 2):
        both = first.frame.select("qid", "docno", "rel").join(second.frame, on=["qid", "docno"], suffix=" two")
        grades = [both[name].to_numpy() for name in ("rel", "rel two")]
        relevant = [(each > 0 if rel_level is None else each >= rel_level).astype(np.int64) for each in grades]
        topics = len(set(scores[one].shared) & set(scores[two].shared))
        row: dict[str, Any] = {"one": one, "two": two, "documents": both.height, "topics_of_both": topics}
        if both.height:
            row |= {
                "kappa_relevant": cohen(*relevant),
                "kappa_grades": cohen(*grades),
                "alpha_nominal": krippendorff(np.stack(grades)),
                "alpha_ordinal": krippendorff(np.stack(grades), "ordinal"),
            }
        for measure, figures in rankings.items():
            if one in figures and two in figures:
                row[f"tau_{measure}"] = kendall(figures[one], figures[two])[0]
        rows.append(row)
    if len(qrels) > 2:
        rows.append(_all_judges(qrels))
    return pl.DataFrame(rows, infer_schema_length=None), notes


def _by_judge(scores: Mapping[str, Scores]) -> tuple[dict[str, dict[str, Floats]], list[str]]:
    """Return for each measure the means of runs under each judge who has it, on the topics of all; and what to say."""
    found: dict[str, dict[str, Floats]] = {}
    said: dict[str, list[str]] = {}
    runs = next(iter(scores.values())).runs
    for measure in dict.fromkeys(measure for each in scores.values() for measure in each.measures):
        own = {name: each.matrix(measure).topics for name, each in scores.items() if measure in each.measures}
        own = {name: known for name, known in own.items() if len(known)}
        every = list(dict.fromkeys(topic for known in own.values() for topic in known))
        shared = set(every).intersection(*own.values())
        if len(own) > 1 and len(shared) < max(2, len(every)):
            said.setdefault(_left_out(every, shared), []).append(measure.name)
        if len(own) > 1 and len(shared) > 1:
            kept = pl.Series([topic for topic in every if topic in shared], dtype=pl.String)
            found[measure.name] = {name: _of_runs(scores[name].only(topics=kept), measure, runs) for name in own}
    return found, [f"{what} ({listed(names)})" for what, names in said.items()]


def _left_out(every: Sequence[str], shared: Collection[str]) -> str:
    """Say which of these topics are not those of all judges."""
    if len(shared) < 2:
        known = f"only {count(len(shared), 'topic')} has" if shared else "no topic has"
        return f"{known} a value under every judge; rankings of systems need two, nothing to compare"
    without = [topic for topic in every if topic not in shared]
    where = f"rankings of systems under the judges are compared on {count(len(shared), 'topic')}"
    return f"{where}; {len(without):,} without a value under each of them left out: {listed(without)}"


def _all_judges(qrels: Sequence[tuple[str, Qrels]]) -> dict[str, Any]:
    """Return how far all judges agree, on the documents that at least two judged."""
    frames = [each.frame.select("qid", "docno", pl.col("rel").alias(str(at))) for at, (_, each) in enumerate(qrels)]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.join(frame, on=["qid", "docno"], how="full", coalesce=True)
    grades = whole.drop("qid", "docno").cast(pl.Float64).fill_null(float("nan")).to_numpy().T
    alpha = {"alpha_nominal": krippendorff(grades), "alpha_ordinal": krippendorff(grades, "ordinal")}
    return {"one": "all", "two": "all", "documents": whole.height, **alpha}
