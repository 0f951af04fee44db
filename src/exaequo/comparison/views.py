"""Views of a comparison: rankings under measures and strategies, curves, topics, robustness, collections, judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from exaequo.aggregate import aggregate
from exaequo.comparison.values import CURVE, Values
from exaequo.judge import Floats
from exaequo.read import Qrels
from exaequo.stats.agreement import cohen, kendall, krippendorff, pearson, rbo_of_scores, tau_ap_b

#: How many topics on which two systems differ most.
MOST_CONTRASTS = 5


def _oriented(values: Values, row: int, ties: str | None = None) -> Floats:
    """Means, turned round where less is better, so that the best is always the highest."""
    return values.upward(row) * values.means(row, ties)


def _agreement(one: Floats, two: Floats) -> dict[str, float]:
    tau, p = kendall(one, two)
    return {"τ-b": tau, "p": p, "τ_AP": tau_ap_b(one, two), "r": pearson(one, two), "RBO": rbo_of_scores(one, two)}


def correlations(values: Values) -> pl.DataFrame:
    """Compare the rankings of systems by two measures, and by one measure under two strategies."""
    rows: list[dict[str, Any]] = []
    for (at, one), (place, two) in combinations(enumerate(values.measures), 2):
        names = {"between": "measures", "one": one.name, "two": two.name, "under": values.ties[0]}
        rows.append(names | _agreement(_oriented(values, at), _oriented(values, place)))
    for row, measure in enumerate(values.measures):
        for first, second in combinations(values.ties, 2):
            names = {"between": "strategies", "one": first, "two": second, "under": measure.name}
            rows.append(names | _agreement(_oriented(values, row, first), _oriented(values, row, second)))
    kinds: dict[str, Any] = dict.fromkeys(("between", "one", "two", "under"), pl.String)
    return pl.DataFrame(rows, schema=kinds | dict.fromkeys(("τ-b", "p", "τ_AP", "r", "RBO"), pl.Float64))


def taus(values: Values) -> pl.DataFrame:
    """Return Kendall's τ-b between the rankings of systems by each two measures, as a square."""
    means = [_oriented(values, row) for row in range(len(values.measures))]
    names = [measure.name for measure in values.measures]
    square = [[1.0 if a == b else kendall(means[a], means[b])[0] for b in range(len(names))] for a in range(len(names))]
    return pl.DataFrame({"measure": names, **dict(zip(names, square, strict=True))})


def inversions(values: Values) -> pl.DataFrame:
    """Return the pairs of systems that two measures put in opposite order."""
    rows = []
    for (at, one), (place, two) in combinations(enumerate(values.measures), 2):
        first, second = _oriented(values, at), _oriented(values, place)
        for a, b in combinations(range(len(values.systems)), 2):
            if (first[a] - first[b]) * (second[a] - second[b]) < 0:
                better, worse = (a, b) if first[a] > first[b] else (b, a)
                rows.append((one.name, two.name, values.systems[better], values.systems[worse]))
    schema = ["by", "but by", "better", "worse"]
    return pl.DataFrame(rows, schema=dict.fromkeys(schema, pl.String), orient="row")


def extremes(values: Values) -> pl.DataFrame:
    """Return the best and the worst system of each measure."""
    rows = []
    for row, measure in enumerate(values.measures):
        order, means = _oriented(values, row), values.means(row)
        best, worst = int(np.argmax(order)), int(np.argmin(order))
        rows.append(
            {
                "measure": measure.name,
                "best": values.systems[best],
                "its score": float(means[best]),
                "worst": values.systems[worst],
                "its own": float(means[worst]),
            }
        )
    return pl.DataFrame(rows)


def curves(values: Values) -> pl.DataFrame:
    """Return the interpolated curve of each system, averaged over topics."""
    means = values.extra[: len(CURVE)].mean(axis=2)
    return pl.DataFrame({"run": values.systems, **{f"{level / 10:g}": means[level] for level in range(len(CURVE))}})


def dominance(values: Values) -> pl.DataFrame:
    """Say for each two systems whether the curve of one is never below that of the other, and somewhere above."""
    means = values.extra[: len(CURVE)].mean(axis=2).T
    rows = []
    for a, b in combinations(range(len(values.systems)), 2):
        above, below = bool((means[a] > means[b]).any()), bool((means[a] < means[b]).any())
        better = values.systems[a if above else b]
        which = "same curve" if not (above or below) else "neither" if above and below else better
        rows.append((values.systems[a], values.systems[b], which))
    return pl.DataFrame(rows, schema=dict.fromkeys(("one", "two", "dominates"), pl.String), orient="row")


def topics(values: Values) -> pl.DataFrame:
    """Return how hard each topic is, by the mean over systems; hardest first."""
    parts = []
    for row, measure in enumerate(values.measures):
        table = values.by_ties[values.ties[0]][row]
        known = values.topics.filter(pl.Series(~np.isnan(table).any(axis=0)))
        own, _ = values.of(row)
        upward = measure.definition.higher_is_better
        frame = pl.DataFrame(
            {
                "measure": pl.repeat(measure.name, len(known), eager=True, dtype=pl.String),
                "topic": known,
                "mean": own.mean(axis=0),
                "sd": own.std(axis=0, ddof=min(1, len(own) - 1)),
                "best": [values.systems[int(at)] for at in (own if upward else -own).argmax(axis=0)],
                "worst": [values.systems[int(at)] for at in (own if upward else -own).argmin(axis=0)],
            }
        )
        parts.append(frame.sort("mean", descending=not upward, maintain_order=True))
    return pl.concat(parts)


def contrasts(values: Values, baseline: str | None) -> pl.DataFrame:
    """Return the topics on which systems differ most: from the baseline, or the best from the second best."""
    rows = []
    for row, measure in enumerate(values.measures if len(values.systems) > 1 else ()):
        own, known = values.of(row)
        names = values.topics.filter(pl.Series(known))
        order = np.argsort(-_oriented(values, row), kind="stable")
        base = values.systems.index(baseline) if baseline is not None else int(order[1])
        others = [at for at in range(len(own)) if at != base] if baseline is not None else [int(order[0])]
        for other in others:
            gap = own[other] - own[base]
            for at in np.argsort(-np.abs(gap), kind="stable")[:MOST_CONTRASTS]:
                if gap[at]:
                    pair = (values.systems[base], values.systems[other])
                    rows.append((measure.name, *pair, names[int(at)], own[base, at], own[other, at], gap[at]))
    schema: dict[str, Any] = dict.fromkeys(("measure", "one", "two", "topic"), pl.String)
    schema |= dict.fromkeys(("value one", "value two", "difference"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def difficulty(values: Values) -> pl.DataFrame:
    """Return how much the difficulty of topics (mean over systems) depends on the strategy."""
    rows = []
    for row, measure in enumerate(values.measures):
        for one, two in combinations(values.ties, 2):
            both = [values.by_ties[ties][row] for ties in (one, two)]
            known = ~np.isnan(np.concatenate(both)).any(axis=0)
            means = [each[:, known].mean(axis=0) for each in both]
            tau, _ = kendall(*means)
            rows.append((measure.name, one, two, pearson(*means), tau))
    schema: dict[str, Any] = dict.fromkeys(("measure", "one", "two"), pl.String)
    return pl.DataFrame(rows, schema=schema | {"r": pl.Float64, "τ-b": pl.Float64}, orient="row")


def robustness(values: Values) -> pl.DataFrame:
    """Return the summary of the TREC robust track: gm(AP), topics with nothing in the first 10, the worst quarter.

    The area is the mean, over X = 1 … a quarter of the topics, of the mean AP of the X worst topics of the run
    (E. M. Voorhees: Overview of the TREC 2003 robust retrieval track).
    """
    ap, found = values.extra[len(CURVE)], values.extra[len(CURVE) + 1]
    quarter = max(1, ap.shape[1] // 4)
    worst = np.sort(ap, axis=1)[:, :quarter]
    area = (np.cumsum(worst, axis=1) / np.arange(1, quarter + 1)).mean(axis=1)
    return pl.DataFrame(
        {
            "run": values.systems,
            "gm(AP)": [aggregate("gm", row) for row in ap],
            "nothing in 10": (found == 0).sum(axis=1),
            "nothing in 10 %": 100 * (found == 0).mean(axis=1),
            "area of the worst quarter": area,
        }
    )


# ---------------------------------------------------------------------------------------- several collections, judges


def across_collections(collections: Mapping[str, Values]) -> pl.DataFrame:
    """Return for each two collections how far they agree on the systems they share, and how many pairs invert."""
    rows: list[dict[str, Any]] = []
    for (one, first), (two, second) in combinations(collections.items(), 2):
        shared = [name for name in first.systems if name in second.systems]
        for row, measure in enumerate(first.measures):
            scores = [_oriented(each, row)[[each.systems.index(name) for name in shared]] for each in (first, second)]
            gaps = [each[:, None] - each[None, :] for each in scores]
            upper = np.triu_indices(len(shared), 1)
            inverted = int((gaps[0][upper] * gaps[1][upper] < 0).sum())
            row_of = {"measure": measure.name, "one": one, "two": two, "systems": len(shared), "pairs": len(upper[0])}
            row_of |= {"inverted": inverted, "inverted %": 100 * inverted / len(upper[0]) if len(upper[0]) else None}
            rows.append(row_of | (_agreement(*scores) if len(shared) > 1 else {}))
    return pl.DataFrame(rows, infer_schema_length=None)


def inverted_between(collections: Mapping[str, Values]) -> pl.DataFrame:
    """Return the pairs of systems that two collections put in opposite order."""
    rows = []
    for (one, first), (two, second) in combinations(collections.items(), 2):
        shared = [name for name in first.systems if name in second.systems]
        for row, measure in enumerate(first.measures):
            scores = [_oriented(each, row)[[each.systems.index(name) for name in shared]] for each in (first, second)]
            for a, b in combinations(range(len(shared)), 2):
                if (scores[0][a] - scores[0][b]) * (scores[1][a] - scores[1][b]) < 0:
                    better, worse = (a, b) if scores[0][a] > scores[0][b] else (b, a)
                    rows.append((measure.name, one, two, shared[better], shared[worse]))
    schema = ("measure", "on", "but on", "better", "worse")
    return pl.DataFrame(rows, schema=dict.fromkeys(schema, pl.String), orient="row")


def judges(
    qrels: Sequence[tuple[str, Qrels]], values: Mapping[str, Values], rel_level: float | None = None
) -> pl.DataFrame:
    """Return how far each two sets of judgments agree, on the documents both judged, and on the ranking of systems."""
    rows: list[dict[str, Any]] = []
    for (one, first), (two, second) in combinations(qrels, 2):
        both = first.frame.select("qid", "docno", "rel").join(second.frame, on=["qid", "docno"], suffix=" two")
        grades = [both[name].to_numpy() for name in ("rel", "rel two")]
        relevant = [(each > 0 if rel_level is None else each >= rel_level).astype(np.int64) for each in grades]
        topics = len(set(values[one].topics) & set(values[two].topics))
        row: dict[str, Any] = {"one": one, "two": two, "documents": both.height, "topics of both": topics}
        if both.height:
            row |= {
                "κ relevant": cohen(*relevant),
                "κ grades": cohen(*grades),
                "α nominal": krippendorff(np.stack(grades)),
                "α ordinal": krippendorff(np.stack(grades), "ordinal"),
            }
        for at, measure in enumerate(values[one].measures):
            row[f"τ {measure}"] = kendall(_oriented(values[one], at), _oriented(values[two], at))[0]
        rows.append(row)
    if len(qrels) > 2:  # all judges together, documents that at least two judged
        frames = [each.frame.select("qid", "docno", pl.col("rel").alias(str(at))) for at, (_, each) in enumerate(qrels)]
        whole = frames[0]
        for frame in frames[1:]:
            whole = whole.join(frame, on=["qid", "docno"], how="full", coalesce=True)
        table = whole.drop("qid", "docno").cast(pl.Float64).fill_null(float("nan")).to_numpy().T
        alpha = {"α nominal": krippendorff(table), "α ordinal": krippendorff(table, "ordinal")}
        rows.append({"one": "all", "two": "all", "documents": whole.height, **alpha})
    return pl.DataFrame(rows, infer_schema_length=None)
