"""What the page says in words: the verdict, what it is based on, and what ties change."""

from __future__ import annotations

import math
import platform
from typing import Any

import numpy as np
import polars as pl

from exaequo import __version__
from exaequo.comparison import Comparison
from exaequo.comparison.values import means, pick
from exaequo.comparison.verdicts import BETTER, EQUIVALENT, TIES, WORSE
from exaequo.language import number, say, strategy, word
from exaequo.options import Options
from exaequo.plot.kinds.systems import written_out
from exaequo.scores import Scores
from exaequo.tabular import cell_text
from exaequo.text import on_one_line


def ranked_runs(result: Comparison) -> list[str]:
    """Return all runs, the best by the first measure first."""
    return pick(result.systems, result.scores.measures[0])["run"].to_list()


def means_by_ties(scores: Scores, runs: list[str]) -> dict[str, dict[str, float]]:
    """Return the mean of the first measure of these runs under each strategy."""
    found = {
        ties: dict(zip(scores.runs, means(scores, scores.measures[0], ties).tolist(), strict=True))
        for ties in scores.ties
    }
    return {run: {ties: by_run[run] for ties, by_run in found.items()} for run in runs}


def leaders(result: Comparison) -> tuple[str, str | None]:
    """Return the best system by the first measure, and what it is compared with: the baseline, or the second best."""
    ranked, baseline = ranked_runs(result), result.plan.baseline
    if len(ranked) == 1:
        return ranked[0], None
    best = next(name for name in ranked if name != baseline)
    return best, baseline if baseline is not None else ranked[1]


def signed(value: float) -> str:
    """Write a difference: always with a sign, and a real minus."""
    if abs(value) < 0.00005:
        return number("0.0000")
    return f"{'−' if value < 0 else '+'}{cell_text(abs(value))}"


def p_text(p: float) -> str:
    """Write a p."""
    return number("p < 0.0001" if p < 0.0001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}")


def verdict_of(result: Comparison, best: str, second: str | None) -> str:
    """Say which system is best, by how much over which other, and how sure that is."""
    first_measure, plan = result.scores.measures[0], result.plan
    measure = first_measure.name
    systems = pick(result.systems, first_measure)
    own = dict(systems.select("run", "mean").iter_rows())
    over = say("over {n:,} {n:topic|topics}", n=len(result.scores.shared))
    sure = say("{sure:g} % interval", sure=100 * (1 - plan.alpha))
    if second is None:
        top = systems.row(0, named=True)
        figures = {name: cell_text(top[name]) for name in ("mean", "low", "high")}
        alone = say(
            "{run} has a mean {measure} of {mean} {over}, {sure} {low} to {high}. There is no run to compare it with.",
            **{"run": best, "measure": measure, "over": over, "sure": sure, **figures},
        )
        return on_one_line(alone)
    first = systems["run"][0]
    baseline = say(", the baseline,") if first == plan.baseline else ""
    start = say(
        "{run}{baseline} has the highest mean {measure}, {mean}, {over}"
        if first_measure.upward > 0
        else "{run}{baseline} has the lowest mean {measure}, {mean}, {over}",
        run=first,
        baseline=baseline,
        measure=measure,
        mean=cell_text(own[first]),
        over=over,
    )
    next_best = say(". {run}, the best of the others, is", run=best) if first == second else say(":")
    one, two = pl.col("one"), pl.col("two")
    either = ((one == best) & (two == second)) | ((one == second) & (two == best))
    pair = pick(result.pairs, first_measure).filter(either).row(0, named=True)
    side = 1 if pair["two"] == best else -1
    low, high = sorted((side * pair["low"], side * pair["high"]))
    share = (own[best] - own[second]) / own[second] if own[second] else math.nan
    gain = "" if math.isnan(share) else say(" ({gain:+.1f} %)", gain=100 * share).replace("-", "−")
    if plan.simultaneous(result.family):
        sure = say("simultaneous {sure:g} % interval", sure=100 * (1 - plan.alpha))
    interval = say("{sure} {low} to {high}", sure=sure, low=signed(low), high=signed(high))
    size = signed(side * pair["difference"]) + gain + say(" over {run}, ", run=second) + interval
    known = f"{p_text(pair['corrected_p'])} ({plan.name})"
    return on_one_line(f"{start}{next_best} {size}, {known}{say(':')} {_outcome(pair, side, result)}.")


def _outcome(pair: dict[str, Any], side: int, result: Comparison) -> str:
    """Say what holds of the best run: whatever the order of ties, or what each order says."""
    better, worse = say("significantly better"), say("significantly worse")
    shown = {(BETTER, 1): better, (WORSE, -1): better, (WORSE, 1): worse, (BETTER, -1): worse}
    if pair["outcome"] == TIES:
        signs = {">": side, "<": -side, "=": 0}
        said = {1: "better", -1: "worse", 0: "no difference"}
        decides = result.plan.decides(result.scores.ties)
        each = ", ".join(f"{strategy(ties)} {word(said[signs[pair[ties]]])}" for ties in decides)
        return say("ties decide: {each}", each=each)
    if pair["outcome"] == EQUIVALENT:
        return say("equivalent within {margin}", margin=number(str(result.plan.margin)))
    return shown.get((pair["outcome"], side)) or say("no difference shown")


def provenance_of(result: Comparison, options: Options) -> list[tuple[str, str]]:
    """Say what was compared, and how."""
    plan, scores, judged = result.plan, result.scores, result.scores.inputs["qrels"]
    level = say("above 0") if options.rel_level is None else f"≥ {number(f'{options.rel_level:g}')}"
    first, *others = map(strategy, scores.ties)
    lacking = {"zero": say("score 0"), "skip": say("left out for all")}.get(options.missing, options.missing)
    chance = say("alpha {alpha:g}, seed {seed}", alpha=plan.alpha, seed=str(plan.seed))
    return [
        (say("judgments"), say("{file} ({n:,} judgments)", file=judged["file"], n=judged["lines"])),
        (say("sha256 of the judgments"), judged["sha256"] or "–"),
        (say("ties"), say("{first}; also {others}", first=first, others=", ".join(others))),
        (say("relevant"), say("grade {level}, and up to {most:g}", level=level, most=options.max_grade)),
        (
            say("topics"),
            say(
                "{n:,} {n:topic|topics} with a relevant document; those a run lacks: {lacking}",
                n=len(scores.shared),
                lacking=lacking,
            ),
        ),
        (
            say("compared"),
            say("all with {run}", run=plan.baseline) if plan.baseline is not None else say("all pairs"),
        ),
        (say("test"), f"{plan.name}, {chance}"),
        (
            say("intervals"),
            say(
                "{sure:g} %; of means each by itself, of differences for all pairs together"
                if plan.simultaneous(result.family)
                else "{sure:g} %; of means each by itself, of differences too",
                sure=100 * (1 - plan.alpha),
            ),
        ),
        (say("versions"), f"exaequo {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"),
    ]


def sentence_on_ties(result: Comparison) -> str:
    """Say whether any verdict depends on ties."""
    if not result.pairs.height:
        return ""
    deciding = int((result.pairs["outcome"] == TIES).sum())
    if not deciding:
        return say("Between no two runs do ties decide ({n:,} {n:pair|pairs} compared).", n=result.pairs.height)
    return say(
        "In {deciding:,} of {n:,} {n:pair|pairs} ties decide which run is better: no verdict is given there.",
        deciding=deciding,
        n=result.pairs.height,
    )


def legend_of(result: Comparison) -> str:
    """Say what the signs in the table of runs mean."""
    if result.plan.baseline is not None:
        return say("▲ and ▼: significantly better and worse than {run}, the baseline.", run=result.plan.baseline)
    if not result.pairs.height:
        return ""
    few = written_out(result.systems["group"])
    return say("Letters: runs that share one are not told apart.") if few else say("≈: not told apart from the best.")
