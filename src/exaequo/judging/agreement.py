"""How far assessors agree: the grades that stand in, tables and open disagreements out."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from exaequo.arrays import Floats
from exaequo.stats.agreement import cohen, krippendorff, weighted_cohen

Pair = tuple[str, str]


def grades_of(judged: pl.DataFrame, names: Sequence[str]) -> Floats:
    """Return assessors × documents, NaN where an assessor has no grade."""
    row = {name: at for at, name in enumerate(names)}
    chosen = judged.filter(pl.col("assessor").is_in(list(names)))
    document = chosen.select(pl.struct("qid", "docno").rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    table = np.full((len(names), int(document.max(initial=-1)) + 1), np.nan)
    table[[row[name] for name in chosen["assessor"]], document] = chosen["grade"].to_numpy()
    return table


def agreement(judged: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return for each two assessors, and for all where there are more, κ and α on the documents both judged."""
    table = grades_of(judged, names)
    rows: list[dict[str, Any]] = []
    for (one, first), (two, second) in combinations(zip(names, table, strict=True), 2):
        both = ~np.isnan(first) & ~np.isnan(second)
        row: dict[str, Any] = {"one": one, "two": two, "documents": int(both.sum())}
        rows.append(row | (_agreement_of_two(first[both], second[both]) if both.any() else {}))
    if len(names) > 2:
        shared = int(((~np.isnan(table)).sum(axis=0) > 1).sum())
        rows.append({"one": "all", "two": "all", "documents": shared, **_alphas(table)})
    return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA = {
    "one": pl.String,
    "two": pl.String,
    "documents": pl.Int64,
    "same_percent": pl.Float64,
    **dict.fromkeys("kappa_relevant kappa_grades kappa_linear kappa_quadratic".split(), pl.Float64),
    **dict.fromkeys("alpha_nominal alpha_ordinal".split(), pl.Float64),
}


def _agreement_of_two(one: Floats, two: Floats) -> dict[str, float]:
    return {
        "same_percent": 100 * float(np.mean(one == two)),
        "kappa_relevant": cohen((one > 0).astype(np.int64), (two > 0).astype(np.int64)),
        "kappa_grades": cohen(one, two),
        "kappa_linear": weighted_cohen(one, two),
        "kappa_quadratic": weighted_cohen(one, two, 2),
        **_alphas(np.stack((one, two))),
    }


def _alphas(table: Floats) -> dict[str, float]:
    return {f"alpha_{level}": krippendorff(table, level) for level in ("nominal", "ordinal")}


def confusion(judged: pl.DataFrame, names: Sequence[str], grades: Sequence[int]) -> pl.DataFrame:
    """Return for each two assessors how many documents one gave `grade`, and the other the grade of each column."""
    table = grades_of(judged, names)
    rows = [
        (one, two, mine, *(int(((first == mine) & (second == other)).sum()) for other in grades))
        for (one, first), (two, second) in combinations(zip(names, table, strict=True), 2)
        for mine in grades
    ]
    text, whole = pl.String, pl.Int64
    schema = {"one": text, "two": text, "grade": whole, **{str(grade): whole for grade in grades}}
    return pl.DataFrame(rows, schema=schema, orient="row")


def disagreements(judged: pl.DataFrame, settled: Mapping[Pair, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the documents that assessors gave different grades, the widest apart first, with what was settled."""
    apart = pl.col("grade").max() - pl.col("grade").min()
    grouped = judged.group_by("qid", "docno", maintain_order=True).agg(
        "assessor", "grade", "note", apart.alias("apart")
    )
    return [
        {
            "qid": row["qid"],
            "docno": row["docno"],
            "grades": [
                {"assessor": name, "grade": grade, "note": note}
                for name, grade, note in zip(row["assessor"], row["grade"], row["note"], strict=True)
            ],
            "settled": settled.get((row["qid"], row["docno"])),
        }
        for row in grouped.filter(pl.col("apart") > 0)
        .sort("apart", descending=True, maintain_order=True)
        .iter_rows(named=True)
    ]


def seen_by(open_: Sequence[dict[str, Any]], own: Container[Pair]) -> list[dict[str, Any]]:
    """Return the disagreements about documents an assessor has judged: to see others' grades before is to copy them."""
    return [each for each in open_ if (each["qid"], each["docno"]) in own]
