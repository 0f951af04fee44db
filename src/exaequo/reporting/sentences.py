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
from exaequo.options import Options
from exaequo.plot.kinds.systems import written_out
from exaequo.scores import Scores
from exaequo.tabular import cell_text
from exaequo.text import count, on_one_line


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
    text = cell_text(abs(value)) if abs(value) >= 0.00005 else "0.0000"
    return text if text == "0.0000" else f"{'−' if value < 0 else '+'}{text}"


def p_text(p: float) -> str:
    """Write a p."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


def verdict_of(result: Comparison, best: str, second: str | None) -> str:
    """Say which system is best, by how much over which other, and how sure that is."""
    first_measure, plan = result.scores.measures[0], result.plan
    measure = first_measure.name
    systems = pick(result.systems, first_measure)
    own = dict(systems.select("run", "mean").iter_rows())
    over = f"over {count(len(result.scores.shared), 'topic')}"
    sure = f"{100 * (1 - plan.alpha):g} % interval"
    simultaneous = "simultaneous " if plan.simultaneous(result.family) else ""
    if second is None:
        top = systems.row(0, named=True)
        sentence = f"{best} has a mean {measure} of {cell_text(top['mean'])} {over}, {sure} {cell_text(top['low'])} to "
        return on_one_line(f"{sentence}{cell_text(top['high'])}. There is no run to compare it with.")
    first = systems["run"][0]
    most = "highest" if first_measure.upward > 0 else "lowest"
    baseline = ", the baseline," if first == plan.baseline else ""
    start = f"{first}{baseline} has the {most} mean {measure}, {cell_text(own[first])}, {over}"
    next_best = f". {best}, the best of the others, is" if first == second else ":"
    one, two = pl.col("one"), pl.col("two")
    either = ((one == best) & (two == second)) | ((one == second) & (two == best))
    pair = pick(result.pairs, first_measure).filter(either).row(0, named=True)
    side = 1 if pair["two"] == best else -1
    low, high = sorted((side * pair["low"], side * pair["high"]))
    share = (own[best] - own[second]) / own[second] if own[second] else math.nan
    gain = "" if math.isnan(share) else f" ({100 * share:+.1f} %)".replace("-", "−")
    interval = f"{simultaneous}{sure} {signed(low)} to {signed(high)}"
    size = f"{signed(side * pair['difference'])}{gain} over {second}, {interval}"
    known = f"{p_text(pair['corrected_p'])} ({plan.name})"
    return on_one_line(f"{start}{next_best} {size}, {known}: {_outcome(pair, side, result)}.")


def _outcome(pair: dict[str, Any], side: int, result: Comparison) -> str:
    """Say what holds of the best run: whatever the order of ties, or what each order says."""
    word = {(BETTER, 1): "better", (WORSE, -1): "better", (WORSE, 1): "worse", (BETTER, -1): "worse"}
    if pair["outcome"] == TIES:
        signs = {">": side, "<": -side, "=": 0}
        said = {1: "better", -1: "worse", 0: "no difference"}
        decides = result.plan.decides(result.scores.ties)
        return "ties decide: " + ", ".join(f"{each} {said[signs[pair[each]]]}" for each in decides)
    if pair["outcome"] == EQUIVALENT:
        return f"equivalent within {result.plan.margin}"
    found = word.get((pair["outcome"], side))
    return f"significantly {found}" if found else "no difference shown"


def provenance_of(result: Comparison, options: Options) -> list[tuple[str, str]]:
    """Say what was compared, and how."""
    plan, scores, judged = result.plan, result.scores, result.scores.inputs["qrels"]
    level = "above 0" if options.rel_level is None else f"≥ {options.rel_level:g}"
    topics = count(len(scores.shared), "topic")
    lacking = {"zero": "score 0", "skip": "left out for all"}.get(options.missing, options.missing)
    return [
        ("judgments", f"{judged['file']} ({judged['lines']:,} judgments)"),
        ("sha256 of the judgments", judged["sha256"] or "–"),
        ("ties", f"{scores.ties[0]}; also {', '.join(scores.ties[1:])}"),
        ("relevant", f"grade {level}, and up to {options.max_grade:g}"),
        ("topics", f"{topics} with a relevant document; those a run lacks: {lacking}"),
        ("compared", f"all with {plan.baseline}" if plan.baseline is not None else "all pairs"),
        ("test", f"{plan.name}, alpha {plan.alpha:g}, seed {plan.seed}"),
        (
            "intervals",
            f"{100 * (1 - plan.alpha):g} %; of means each by itself, of differences "
            + ("for all pairs together" if plan.simultaneous(result.family) else "too"),
        ),
        ("versions", f"exaequo {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"),
    ]


def sentence_on_ties(result: Comparison) -> str:
    """Say whether any verdict depends on ties."""
    if not result.pairs.height:
        return ""
    deciding = int((result.pairs["outcome"] == TIES).sum())
    if not deciding:
        return f"Between no two runs do ties decide ({count(result.pairs.height, 'pair')} compared)."
    what = count(result.pairs.height, "pair")
    return f"In {deciding:,} of {what} ties decide which run is better: no verdict is given there."


def legend_of(result: Comparison) -> str:
    """Say what the signs in the table of runs mean."""
    if result.plan.baseline is not None:
        return f"▲ and ▼: significantly better and worse than {result.plan.baseline}, the baseline."
    if not result.pairs.height:
        return ""
    few = written_out(result.systems["group"])
    return "Letters: runs that share one are not told apart." if few else "≈: not told apart from the best."
