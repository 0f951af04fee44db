"""What a study found, in a few sentences. In: a `Study`. Out: lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from exaequo.study import Study
from exaequo.study.editions import ALL, of_runs
from exaequo.study.tables import PLAIN, STAR
from exaequo.text import count


def summary(study: Study) -> list[str]:
    """Say in a few sentences what the study found."""
    archive, tables = study.about["archive"], study.tables
    alpha = study.about["options"]["alpha"]
    lines = [_of_ties(archive, tables["ties"])]
    of_all = (pl.col("track") == ALL) & (pl.col("of") == "runs")
    lines += [_of_differences(row, alpha) for row in tables["differences"].filter(of_all).to_dicts()]
    lines += [*_of_rankings(tables["rankings"]), *_of_conclusions(tables["conclusions"]), *_of_stuffing(tables)]
    if archive["broken"]:
        files = count(archive["broken"], "file")
        lines.append(f"{files} could not be evaluated; what is wrong is in the table `broken`.")
    return lines


def _of_ties(archive: dict[str, Any], table: pl.DataFrame) -> str:
    ties = table.filter((pl.col("track") == ALL) & (pl.col("edition") == PLAIN)).row(0, named=True)
    return (
        f"{count(archive['editions'], 'edition')}, {count(archive['runs'], 'run')}, {archive['lines']:,} lines: on "
        f"average {ties['tied_mean_percent']:.1f} % of the documents of a list are tied, with "
        f"{ties['per_score_mean']:.1f} documents per score. Of {count(ties['lists'], 'list')}, {ties['all_tied']:,} "
        f"consist of tied documents only ({ties['one_tie']:,} of one single tie), {ties['no_tie']:,} have no tie."
    )


def _of_differences(row: dict[str, Any], alpha: float) -> str:
    """Say what the order of names does to a mean, and whether that is significant, at the level of the study."""
    name = of_runs(row["measure"])
    if row["difference"] == 0:
        return f"The order of names does not change {name} on average."
    p = f"p < {STAR}" if row["p"] < STAR else f"p = {row['p']:.3f}"
    verdict = f"{'' if row['p'] < alpha else 'not '}significant at {alpha:g} ({p})"
    share = f" ({row['relative_percent']:+.2f} %)" if abs(row["relative_percent"]) >= 0.005 else ""
    r = f"; r = {row['r']:.2f}" if row["r"] == row["r"] else ""
    return f"The order of names changes {name} by {row['difference']:+.5f}{share} on average, {verdict}{r}."


def _of_rankings(table: pl.DataFrame) -> Iterator[str]:
    for row in table.filter((pl.col("track") == ALL) & (pl.col("moved") > 0)).to_dicts():
        share, kept = row["moved_percent"], row["moved_of_kept_percent"]
        yield (
            f"{share:.1f} % of the systems have another rank by {of_runs(row['measure'])} with conventional ties than "
            f"with realistic ones, {kept:.1f} % without the worst quarter."
        )


def _of_conclusions(table: pl.DataFrame) -> Iterator[str]:
    single = pl.col("wrong_percent").is_not_nan() & (pl.col("track") != ALL)
    wrong = table.filter(single).sort("wrong_percent", descending=True, maintain_order=True)
    if wrong.height:
        worst = wrong.row(0, named=True)
        yield (
            f"With conventional ties, up to {worst['wrong_percent']:.1f} % of the conclusions between two systems of "
            f"an edition are wrong ({worst['track']} {worst['edition']}, {of_runs(worst['measure'])})."
            if worst["wrong"]
            else "No conclusion between two systems of an edition depends on the order of names."
        )


def _of_stuffing(tables: dict[str, pl.DataFrame]) -> Iterator[str]:
    systems = tables["stuffing"].filter(pl.col("track") == ALL).row(0, named=True)
    if not systems["stuffing"]:
        return
    earned = tables["stuffing_scores"].filter(pl.col("track") == ALL).select("measure", "share_conventional_percent")
    shares = [f"{share:.2f} % of their {of_runs(measure)}" for measure, share in earned.drop_nulls().rows()]
    earns = f", which earns them {', '.join(shares)}" if shares else ""
    yield f"{systems['stuffing_percent']:.1f} % of the systems fill up lists with documents of score 0{earns}."
