"""What a study found, in a few sentences. In: a `Study`. Out: lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from exaequo.language import number, say
from exaequo.study import Study
from exaequo.study.editions import ALL, PLAIN, of_runs
from exaequo.study.tables import STAR


def summary(study: Study) -> list[str]:
    """Say in a few sentences what the study found."""
    archive, tables = study.about["archive"], study.tables
    alpha = study.about["options"]["alpha"]
    lines = [_of_ties(archive, tables["ties"])]
    of_all = (pl.col("track") == ALL) & (pl.col("of") == "runs")
    lines += [_of_differences(row, alpha) for row in tables["differences"].filter(of_all).to_dicts()]
    lines += [*_of_rankings(tables["rankings"]), *_of_conclusions(tables["conclusions"]), *_of_stuffing(tables)]
    if archive["broken"]:
        wrong = say(
            "{n:,} {n:file|files} could not be evaluated; what is wrong is in the table `broken`.", n=archive["broken"]
        )
        lines.append(wrong)
    return lines


def _of_ties(archive: dict[str, Any], table: pl.DataFrame) -> str:
    ties = table.filter((pl.col("track") == ALL) & (pl.col("edition") == PLAIN)).row(0, named=True)
    return say(
        "{editions:,} {editions:edition|editions}, {runs:,} {runs:run|runs}, {lines:,} lines: on average "
        "{tied_mean_percent:.1f} % of the documents of a list are tied, with {per_score_mean:.1f} documents per score. "
        "Of {lists:,} {lists:list|lists}, {all_tied:,} {all_tied:consists|consist} of tied documents only ({one_tie:,} "
        "of one single tie), {no_tie:,} {no_tie:has|have} no tie.",
        **{**ties, **archive},
    )


def _of_differences(row: dict[str, Any], alpha: float) -> str:
    """Say what the order of names does to a mean, and whether that is significant, at the level of the study."""
    name = of_runs(row["measure"])
    if row["difference"] == 0:
        return say("The order of names does not change {measure} on average.", measure=name)
    share = row["relative_percent"]
    change = {
        "measure": name,
        "difference": row["difference"],
        "share": say(" ({share:+.2f} %)", share=share) if abs(share) >= 0.005 else "",
    }
    if row["pairs"] < 2:
        return say("The order of names changes {measure} by {difference:+.5f}{share} in the only run.", **change)
    verdict = say(
        "significant at {alpha:g} ({p})" if row["p"] < alpha else "not significant at {alpha:g} ({p})",
        alpha=alpha,
        p=number(f"p < {STAR}" if row["p"] < STAR else f"p = {row['p']:.3f}"),
    )
    return say(
        "The order of names changes {measure} by {difference:+.5f}{share} on average, {verdict}{r}.",
        **change,
        verdict=verdict,
        r=say("; r = {r:.2f}", r=row["r"]) if row["r"] == row["r"] else "",
    )


def _of_rankings(table: pl.DataFrame) -> Iterator[str]:
    for row in table.filter((pl.col("track") == ALL) & (pl.col("moved") > 0)).to_dicts():
        yield say(
            "{share:.1f} % of the systems have another rank by {measure} with conventional ties than with realistic "
            "ones, {kept:.1f} % without the worst quarter.",
            share=row["moved_percent"],
            measure=of_runs(row["measure"]),
            kept=row["moved_of_kept_percent"],
        )


def _of_conclusions(table: pl.DataFrame) -> Iterator[str]:
    single = pl.col("wrong_percent").is_not_nan() & (pl.col("track") != ALL)
    wrong = table.filter(single).sort("wrong_percent", descending=True, maintain_order=True)
    if wrong.height:
        worst = wrong.row(0, named=True)
        yield say(
            "With conventional ties, up to {wrong_percent:.1f} % of the conclusions between two systems of an edition "
            "are wrong ({track} {edition}, {measure})."
            if worst["wrong"]
            else "No conclusion between two systems of an edition depends on the order of names.",
            **{**worst, "measure": of_runs(worst["measure"])},
        )


def _of_stuffing(tables: dict[str, pl.DataFrame]) -> Iterator[str]:
    systems = tables["stuffing"].filter(pl.col("track") == ALL).row(0, named=True)
    if not systems["stuffing"]:
        return
    earned = tables["stuffing_scores"].filter(pl.col("track") == ALL).select("measure", "share_conventional_percent")
    shares = [
        say("{share:.2f} % of their {measure}", share=share, measure=of_runs(measure))
        for measure, share in earned.drop_nulls().rows()
    ]
    yield say(
        "{share:.1f} % of the systems fill up lists with documents of score 0{earns}.",
        share=systems["stuffing_percent"],
        earns=say(", which earns them {shares}", shares=", ".join(shares)) if shares else "",
    )
