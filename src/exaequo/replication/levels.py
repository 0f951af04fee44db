"""The levels at which two experiments are compared: orders, scores, effects, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Bools, Floats
from exaequo.errors import ExaequoError
from exaequo.measures import Measure
from exaequo.read.metadata import parse_metadata
from exaequo.replication.experiments import Experiments
from exaequo.stats.equality import TOLERANCE, differences, slack_of
from exaequo.stats.lists import Lists, overlap, tau_of_union
from exaequo.stats.tests import student

#: What an experiment is made of, in the order of its letters.
PRIMAD = ("platform", "research goal", "implementation", "method", "actor", "data")


def orders_of(both: Experiments, p: float, cutoffs: Sequence[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare the lists of each pair; return means over topics, whole and cut, and each topic, with differences."""
    rows: list[dict[str, Any]] = []
    topics: list[pl.DataFrame] = []
    evaluated = both.scores[0].evaluated
    left_out = ~evaluated.is_in(both.shared.implode()).to_numpy()
    for at, (original, reproduced) in enumerate(both.pairs()):
        names = {"original": original, "reproduced": reproduced}
        one, two = (each[at].lists for each in both.facts)
        for cutoff in (None, *cutoffs):
            found = _agreement(_cut(one, cutoff), _cut(two, cutoff), len(evaluated), p)
            found = {name: np.where(left_out, np.nan, values) for name, values in found.items()}
            compared = _compared(one, two, found["tau"], left_out)
            means = {name: _mean(values[compared]) for name, values in found.items()}
            rows.append({**names, "cutoff": cutoff, "topics": int(compared.sum()), **means})
            if cutoff is None:
                every = {name: pl.repeat(each, len(evaluated), eager=True) for name, each in names.items()}
                whole = pl.DataFrame({**every, "topic": evaluated, **found})
                topics.append(_with_differences(whole, both, at))
    schema = {"original": pl.String, "reproduced": pl.String, "cutoff": pl.Int64, "topics": pl.Int64}
    return pl.DataFrame(rows, schema={**schema, **dict.fromkeys(found, pl.Float64)}), pl.concat(topics)


def _compared(one: pl.DataFrame, two: pl.DataFrame, tau: Floats, left_out: Bools) -> Bools:
    """Tell which topics are averaged: both runs have a list, and one that τ is defined on, if there are any."""
    lists = [np.bincount(each["topic"].to_numpy(), minlength=len(tau)) > 0 for each in (one, two)]
    both: Bools = lists[0] & lists[1] & ~left_out
    ordered: Bools = both & ~np.isnan(tau)
    return ordered if ordered.any() else both


def _with_differences(topics: pl.DataFrame, both: Experiments, at: int) -> pl.DataFrame:
    """Add what each measure of a reproduction is above that of the original, topic by topic."""
    for measure in both.scores[0].measures:
        one, two, own = both.values(measure)
        more = pl.DataFrame({"topic": own, measure.name: two[at] - one[at]})
        topics = topics.join(more, on="topic", how="left", maintain_order="left")
    return topics


def _cut(lists: pl.DataFrame, cutoff: int | None) -> pl.DataFrame:
    if cutoff is None:
        return lists
    return lists.filter(pl.col("rank") <= cutoff).with_columns(pl.col("last").clip(upper_bound=cutoff))


def _agreement(one: pl.DataFrame, two: pl.DataFrame, n_topics: int, p: float) -> dict[str, Floats]:
    """Return, for each topic, τ of the union, RBO, and RBO that takes ties as ties."""
    at = one.select("topic", "docno", pl.col("rank").alias("other"), pl.int_range(pl.len()).alias("mine"))
    joined = two.join(at, on=("topic", "docno"), how="left", maintain_order="left")
    both = joined.with_row_index("theirs").filter(pl.col("mine").is_not_null()).sort("mine")
    mine, theirs = (both[name].to_numpy().astype(np.int64) for name in ("mine", "theirs"))
    first, second = (
        Lists(*(each[name].to_numpy() for name in ("topic", "rank", "first", "last"))) for each in (one, two)
    )
    lengths = [np.bincount(each.topic, minlength=n_topics) for each in (first, second)]
    other = joined["other"].fill_null(0).to_numpy()
    return {
        "tau": tau_of_union(second.topic, second.rank, other, np.minimum(*lengths)),
        "rbo": overlap(first.untied(), second.untied(), mine, theirs, n_topics, p),
        "rbo_ties": overlap(first, second, mine, theirs, n_topics, p),
    }


def runs_of(both: Experiments) -> pl.DataFrame:
    """Compare the scores of each pair under each measure; root mean squares only where topics are the same."""
    rows: list[dict[str, Any]] = []
    for at, (original, reproduced) in enumerate(both.pairs()):
        for measure in both.scores[0].measures:
            one, two, _ = both.values(measure)
            means = _mean(one[at]), _mean(two[at])
            row: dict[str, Any] = {"original": original, "reproduced": reproduced, "measure": measure.name}
            row |= {"mean": means[0], "mean_reproduced": means[1], "difference": means[1] - means[0]}
            if both.same:
                row |= _errors(one[at], two[at], measure)
            rows.append({**row, "p": paired(one[at], two[at]) if both.same else unpaired(one[at], two[at])})
    return pl.DataFrame(rows, infer_schema_length=None)


def _errors(one: Floats, two: Floats, measure: Measure) -> dict[str, float]:
    """Return the root mean square of the differences, and what it is of the greatest one possible, from 0 to 1."""
    rmse = np.sqrt(_mean((two - one) ** 2))
    bounded = (measure.definition.lowest, measure.definition.highest) == (0, 1)
    greatest = np.sqrt(_mean(np.maximum(one, 1 - one) ** 2)) if bounded else np.nan
    return {"rmse": float(rmse), "nrmse": float(rmse / greatest)}


def paired(one: Floats, two: Floats) -> float:
    """Return p of Student's paired two-sided t-test; NaN for fewer than two topics."""
    return float(student(differences(one[None, :], two[None, :]))[0]) if len(one) > 1 else np.nan


def unpaired(one: Floats, two: Floats) -> float:
    """Return p of Student's two-sided t-test of two samples of equal variance; NaN where there are too few topics."""
    from scipy.special import stdtr

    free = len(one) + len(two) - 2
    if free < 1 or not (len(one) and len(two)):
        return np.nan
    gap = two.mean() - one.mean()
    squares = ((one - one.mean()) ** 2).sum() + ((two - two.mean()) ** 2).sum()
    error = np.sqrt(squares / free * (1 / len(one) + 1 / len(two)))
    least = slack_of(np.concatenate([one, two]))
    if error <= least:
        return 1.0 if abs(gap) <= least else np.nan  # a difference, and nothing to measure it by
    return float(2 * stdtr(free, -abs(gap) / error))


def effects_of(both: Experiments, baseline: int) -> pl.DataFrame:
    """Compare how much each other run improves on the baseline, in both experiments; where less is better, by less."""
    rows: list[dict[str, Any]] = []
    for at in range(len(both.pairs())):
        for measure in both.scores[0].measures if at != baseline else ():
            low, high = ([_mean(each[run]) for each in both.values(measure)[:2]] for run in (baseline, at))
            first, second = (measure.upward * (above - below) + 0.0 for above, below in zip(high, low, strict=True))
            before, after = (_ratio(gain, below) for gain, below in zip((first, second), low, strict=True))
            rows.append(
                {
                    "baseline": both.names[0][baseline],
                    "advanced": both.names[0][at],
                    "measure": measure.name,
                    "improvement": first,
                    "improvement_reproduced": second,
                    "effect_ratio": _ratio(second, first),
                    "ri": before,
                    "ri_reproduced": after,
                    "delta_ri": before - after,
                }
            )
    names, figures = ("baseline", "advanced", "measure"), ("improvement", "improvement_reproduced", "effect_ratio")
    schema = dict.fromkeys(names, pl.String) | dict.fromkeys((*figures, "ri", "ri_reproduced", "delta_ri"), pl.Float64)
    return pl.DataFrame(rows, schema=schema)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else np.nan


def _ratio(above: float, below: float) -> float:
    """Divide; NaN where there is nothing to divide by."""
    return above / below if abs(below) > TOLERANCE else np.nan


def headers_of(both: Experiments) -> tuple[pl.DataFrame, list[str]]:
    """Say which parts of an experiment differ by the metadata of each pair, in capital letters; and what went wrong."""
    rows: list[dict[str, Any]] = []
    remarks: list[str] = []
    for at, (original, reproduced) in enumerate(both.pairs()):
        facts = [each[at] for each in both.facts]
        if not all(each.header for each in facts):
            continue
        try:
            one, two = (parse_metadata(each.header, each.file) for each in facts)
        except ExaequoError as error:
            remarks.append(f"metadata left out: {error}")
            continue
        letters = "".join(part[0].upper() if one.get(part) != two.get(part) else part[0] for part in PRIMAD)
        differ = ", ".join(part for part in PRIMAD if one.get(part) != two.get(part))
        tags = {
            f"tag{end}": None if each.get("tag") is None else str(each["tag"])
            for end, each in (("", one), ("_reproduced", two))
        }
        rows.append({"original": original, "reproduced": reproduced, **tags, "primad": letters, "differ": differ})
    columns = ("original", "reproduced", "tag", "tag_reproduced", "primad", "differ")
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String)), list(dict.fromkeys(remarks))
