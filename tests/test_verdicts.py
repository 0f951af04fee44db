"""Verdicts: only where the orders of ties agree; intervals, power and sentences go with the same correction as p."""

from __future__ import annotations

import itertools
import re
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import exaequo
from exaequo import BadParameter
from exaequo.choices import COMPARED
from exaequo.comparison import Comparison, compare_scores
from exaequo.comparison.margin import Margin
from exaequo.comparison.plan import Plan, tie_rule
from exaequo.comparison.verdicts import agreed, robust
from exaequo.measures import parse_measure
from exaequo.scores import Block, Scores
from helpers import Grades, Sims

SAMPLE = exaequo.sample()


def compare(qrels: object, runs: object, measures: str = "AP", **options: Any) -> Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.compare(qrels, runs, measures, **options)  # type: ignore[arg-type]


def made(values: dict[str, np.ndarray[Any, Any]], measure: str = "AP") -> Scores:
    """Scores of a program: by strategy, runs × topics."""
    what = parse_measure(measure)
    topics = pl.Series([f"{at:03}" for at in range(next(iter(values.values())).shape[1])])
    blocks = [
        Block(f"r{at}", ties, (what,), topics, row[None, :])
        for ties, rows in values.items()
        for at, row in enumerate(rows)
    ]
    return Scores(measures=(what,), blocks=tuple(blocks))


def three(low: np.ndarray[Any, Any], middle: np.ndarray[Any, Any], high: np.ndarray[Any, Any]) -> Scores:
    return made({"realistic": low, "expected": middle, "optimistic": high})


# ---------------------------------------------------------------------------------------------------------- the rule


def test_agreement_is_a_verdict_and_anything_else_is_not() -> None:
    for says in itertools.product((1, -1, 0), repeat=3):
        expected = {1: "better", -1: "worse", 0: "none"}[says[0]] if len({*says}) == 1 else "ties decide"
        assert agreed([np.array([each]) for each in says])[0] == expected
    for worst, best in itertools.product((1, -1, 0), repeat=2):
        expected = "better" if worst > 0 else "worse" if best < 0 else "none" if worst == best == 0 else "ties decide"
        assert robust([np.array([worst]), np.array([best])])[0] == expected


def test_what_decides() -> None:
    assert tie_rule("fair") == (COMPARED, "fair")
    assert tie_rule(["robust"]) == (COMPARED, "robust")
    assert tie_rule("conventional") == (("conventional",), "agree")
    assert tie_rule("all") == (("realistic", "conventional", "optimistic"), "agree")
    assert Plan().decides(COMPARED) == ["realistic", "expected", "optimistic"]
    assert Plan().decides(["conventional"]) == ["conventional"]
    assert Plan(ties="agree").decides(["input", "rank"]) == ["input", "rank"]
    with pytest.raises(BadParameter, match="Robust verdicts need scores under"):
        Plan(ties="robust").decides(["realistic"])
    with pytest.raises(BadParameter, match="ties must be one of"):
        compare(SAMPLE.qrels, SAMPLE.runs, ties="fairly")


def tied(seed: int, topics: int = 30) -> tuple[Grades, Sims]:
    """Thirty topics of a run with three distinct scores."""
    source = np.random.Generator(np.random.PCG64(seed))
    names = [f"d{at:03}" for at in range(60)]
    qrels: Grades = {str(t): {name: float(source.random() < 0.25) for name in names} for t in range(topics)}
    run: Sims = {
        t: {name: float(np.clip(round(1 + 0.4 * qrels[t][name] + source.normal(0, 0.5)), 0, 2)) for name in names}
        for t in qrels
    }
    return qrels, run


def with_noise(run: Sims, seed: int, kept: float = 1.0) -> Sims:
    """The same scores, ties broken at random by less than the gap between scores; perhaps not all documents."""
    source = np.random.Generator(np.random.PCG64(seed))
    return {
        t: {name: sim + 0.4 * source.random() for name, sim in docs.items() if source.random() < kept}
        for t, docs in run.items()
    }


@pytest.mark.parametrize("seed", range(5))
def test_noise_wins_nothing(seed: int) -> None:
    """Under realistic ties alone noise is significantly better, and a quarter of the documents can be lost unseen."""
    qrels, run = tied(seed)
    noisy, poorer = with_noise(run, seed + 10), with_noise(run, seed + 20, kept=0.75)
    for other in (noisy, poorer):
        alone = compare(qrels, {"base": run, "other": other}, "AP", ties="realistic").pairs.row(0, named=True)
        assert alone["outcome"] == "better" if other is noisy else alone["outcome"] in ("better", "none")
        for rule in ("fair", "robust"):
            found = compare(qrels, {"base": run, "other": other}, "AP nDCG@10", ties=rule)
            for pair in found.pairs.iter_rows(named=True):
                assert pair["outcome"] not in ("better", "equivalent")
                assert pair["verdict"].startswith("ties decide between other and base")
    pair = compare(qrels, {"base": run, "other": noisy}, "AP").pairs.row(0, named=True)
    assert pair["difference"] >= 0 >= pair["difference_optimistic"]
    assert pair["open_high"] == pytest.approx(pair["difference"])
    assert pair["open_low"] == pytest.approx(pair["difference_optimistic"])
    assert f"over all orders {pair['open_low']:+.4f} to {pair['open_high']:+.4f}" in pair["verdict"]


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_noise_changes_no_verdict_beyond_the_interval_of_ties(seed: int) -> None:
    """Whatever order noise gives to the ties of one run, its difference from another stays in what ties leave open."""
    qrels, run = tied(seed, topics=8)
    _, other = tied(seed + 1, topics=8)
    pair = compare(qrels, {"one": other, "two": run}, "AP").pairs.row(0, named=True)
    noisy = compare(qrels, {"one": with_noise(other, seed), "two": with_noise(run, seed + 1)}, "AP")
    assert pair["open_low"] - 1e-12 <= noisy.pairs["difference"].item() <= pair["open_high"] + 1e-12
    assert noisy.pairs["open_low"].item() == pytest.approx(noisy.pairs["open_high"].item())
    against = compare(qrels, {"base": run, "same": with_noise(run, seed)}, "AP").pairs.row(0, named=True)
    assert against["outcome"] in ("none", "ties decide")


def test_a_verdict_under_one_strategy_alone_and_at_the_extremes() -> None:
    source = np.random.Generator(np.random.PCG64(5))
    base = source.random(40) * 0.3 + 0.2
    low = np.stack([base, base + 0.05 + 0.02 * source.random(40)])

    def raised(one: float, two: float) -> np.ndarray[Any, Any]:
        return np.asarray(low + np.array([[one], [two]]))

    scores = three(low, raised(0.01, 0), raised(0.02, 0))
    assert compare_scores(scores, Plan()).pairs["outcome"].item() == "better"
    assert compare_scores(scores, Plan(ties="robust")).pairs["outcome"].item() == "better"
    wide = three(low, raised(0.03, 0.1), raised(0.2, 0.2))
    assert compare_scores(wide, Plan()).pairs["outcome"].item() == "better"  # each order says so
    pair = compare_scores(wide, Plan(ties="robust")).pairs.row(0, named=True)
    assert pair["outcome"] == "ties decide"  # but not the worst of one against the best of the other
    assert (pair["worst"], pair["best"]) == ("<", ">")
    assert pair["difference_worst"] == pytest.approx((low[1] - low[0] - 0.2).mean())
    assert pair["open_low"] == pytest.approx(pair["difference_worst"])
    assert "at its worst worse" in pair["verdict"]


def test_less_is_better_at_the_extremes() -> None:
    """For a measure where less is better the worst of a run is its highest value."""
    source = np.random.Generator(np.random.PCG64(6))
    high = np.stack([source.random(30) * 0.2 + 0.5, source.random(30) * 0.2 + 0.3])
    scores = made({"realistic": high, "expected": high - 0.01, "optimistic": high - 0.02}, "Noise@10")
    pair = compare_scores(scores, Plan(ties="robust")).pairs.row(0, named=True)
    assert (pair["outcome"], pair["worst"], pair["best"]) == ("better", ">", ">")
    assert pair["difference_worst"] == pytest.approx((high[1] - high[0]).mean() + 0.02)
    assert (pair["open_low"], pair["open_high"]) == pytest.approx(
        ((high[1] - high[0]).mean() - 0.02, (high[1] - high[0]).mean() + 0.02)
    )


def test_letters_and_marks_follow_the_verdicts() -> None:
    found = compare(SAMPLE.qrels, SAMPLE.runs, "AP", baseline="bm25")
    mark = dict(found.systems.select("run", "mark").rows())
    for two, outcome in found.pairs.select("two", "outcome").rows():
        assert mark[two] == {"better": "▲", "worse": "▼"}.get(outcome, "")
    assert "ties decide" in found.pairs["outcome"].to_list()


# ------------------------------------------------------------------------------------- intervals, power and sentences


CORRECTIONS = ("none", "bonferroni", "holm", "bh", "by", "sidak", "holm-sidak", "tukey", "randomised-tukey")


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_sentences_do_not_contradict_themselves(correction: str) -> None:
    """No interval without 0 where no difference is shown, and never fewer topics needed than there are."""
    source = np.random.Generator(np.random.PCG64(11))
    rows = source.random((9, 25)) * 0.4 + np.linspace(0, 0.25, 9)[:, None]
    found = compare_scores(made({"realistic": rows}), Plan(correction=correction, ties="agree", samples=4000))
    assert {"better", "none"} & {*found.pairs["outcome"]}
    for pair in found.pairs.iter_rows(named=True):
        if pair["outcome"] == "none":
            assert pair["low"] <= 0 <= pair["high"], pair["verdict"]
            assert pair["topics_needed"] > pair["topics"], pair["verdict"]
        assert pair["low"] <= pair["difference"] <= pair["high"]
    if correction in ("none", "bonferroni", "sidak", "tukey", "randomised-tukey"):  # p and interval say the same
        outside = (found.pairs["low"] > 0) | (found.pairs["high"] < 0)
        assert outside.equals(found.pairs["significant"], check_names=False) or correction == "randomised-tukey"


def test_simultaneous_and_single_intervals() -> None:
    source = np.random.Generator(np.random.PCG64(12))
    rows = source.random((5, 30)) * 0.5
    scores = made({"realistic": rows})

    def first(**plan: Any) -> dict[str, Any]:
        return compare_scores(scores, Plan(ties="agree", **plan)).pairs.row(0, named=True)

    gap = rows[1] - rows[0]
    for pairs, plan in ((10, {}), (1, {"single": True}), (1, {"correction": "none"}), (4, {"baseline": "r0"})):
        expected = stats.ttest_1samp(gap, 0).confidence_interval(1 - 0.05 / pairs)
        found = first(**plan)
        assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high))
        assert ("simultaneous" in found["verdict"]) == (pairs > 1)
    assert "interval of this pair alone" in first(single=True)["verdict"]
    sidak = stats.ttest_1samp(gap, 0).confidence_interval(0.95 ** (1 / 10))
    assert first(correction="sidak")["low"] == pytest.approx(sidak.low)
    rest = rows - rows.mean(axis=0) - rows.mean(axis=1, keepdims=True) + rows.mean()
    error = (rest**2).sum() / (4 * 29)
    half = stats.studentized_range.ppf(0.95, 5, 4 * 29) * np.sqrt(error / 30)
    tukey = first(correction="tukey")
    assert (tukey["low"], tukey["high"]) == pytest.approx((gap.mean() - half, gap.mean() + half), rel=1e-6)


def test_one_sided_has_one_bound_and_its_own_power() -> None:
    source = np.random.Generator(np.random.PCG64(13))
    rows = np.stack([source.random(30) * 0.4, source.random(30) * 0.4 + 0.05])
    scores = made({"realistic": rows})
    found = compare_scores(scores, Plan(baseline="r0", alternative="greater", ties="agree")).pairs.row(0, named=True)
    expected = stats.ttest_1samp(rows[1] - rows[0], 0, alternative="greater").confidence_interval(0.95)
    assert (found["low"], found["high"]) == (pytest.approx(expected.low), 1.0)
    two = compare_scores(scores, Plan(baseline="r0", ties="agree")).pairs.row(0, named=True)
    assert found["topics_needed"] < two["topics_needed"]


def test_intervals_stay_inside_what_a_measure_can_reach() -> None:
    rows = np.array([[1.0, 1.0, 1.0, 0.2], [0.0, 0.0, 0.0, 0.9]])
    found = compare_scores(made({"realistic": rows}), Plan(ties="agree"))
    assert found.pairs.select("low", "high").row(0)[0] == -1
    assert found.systems["high"].max() == 1
    assert found.systems["low"].min() == 0
    unbounded = compare_scores(made({"realistic": 30 * rows}, "DCG@10"), Plan(ties="agree"))
    assert unbounded.systems["high"].max() > 30  # type: ignore[operator]


def test_all_measures_corrected_jointly() -> None:
    apart = compare(SAMPLE.qrels, SAMPLE.runs[:3], "AP P@10", ties="realistic", correction="bonferroni")
    jointly = compare(SAMPLE.qrels, SAMPLE.runs[:3], "AP P@10", ties="realistic", correction="bonferroni", jointly=True)
    assert jointly.pairs["corrected_p"].to_list() == pytest.approx(
        np.minimum(2 * apart.pairs["corrected_p"].to_numpy(), 1).tolist()
    )
    assert (jointly.pairs["high"] > apart.pairs["high"]).all()
    assert "3 pairs of each measure; measures are not corrected jointly" in apart.method[1]
    assert "6 pairs of all measures" in jointly.method[1]
    tukey = [
        compare(SAMPLE.qrels, SAMPLE.runs[:3], "AP P@10", ties="realistic", correction="tukey", jointly=each).pairs["p"]
        for each in (False, True)
    ]
    assert tukey[1].to_list() == pytest.approx(np.minimum(2 * tukey[0].to_numpy(), 1).tolist())


def test_the_header_says_how() -> None:
    found = compare(SAMPLE.qrels, SAMPLE.runs[:3], "AP", test="randomization", samples=1000, seed=4)
    assert found.method == [
        "25 topics, realistic ties; better or worse where realistic, expected and optimistic agree",
        "randomization, holm, two-sided, alpha 0.05, 1,000 samples, seed 4; 3 pairs",
        "intervals hold for all pairs together, wider than the steps of holm",
    ]
    few: Grades = {str(t): {"a": 1.0} for t in range(12)}
    runs: dict[str, Sims] = {"x": {t: {"a": 1.0, "b": 0.5} for t in few}, "y": {t: {"a": 0.2, "b": 0.5} for t in few}}
    exact = compare(few, runs, "RR", test="randomization", ties="realistic", baseline="x", alternative="greater")
    assert exact.method == [
        "12 topics, realistic ties; verdicts by realistic ties alone",
        "randomization, holm, one-sided, alpha 0.05; 1 pair",
    ]


def test_what_can_never_be_significant_is_said_for_every_test() -> None:
    rows = np.random.Generator(np.random.PCG64(2)).random((6, 5))
    scores = made({"realistic": rows})
    for test, correction in itertools.product(("sign", "wilcoxon", "randomization"), ("none", "holm", "bh", "by")):
        found = compare_scores(scores, Plan(test=test, correction=correction, ties="agree"))
        assert any("nothing can be significant: more topics are needed" in each for each in found.warnings), test
    assert not compare_scores(scores, Plan(ties="agree")).warnings
    for test in ("sign", "wilcoxon", "randomization"):
        fine = made({"realistic": np.random.Generator(np.random.PCG64(2)).random((3, 12))})
        assert not compare_scores(fine, Plan(test=test, correction="by", ties="agree")).warnings


# ------------------------------------------------------------------------------------------------------------ cautions


def test_few_topics_and_no_spread_are_said_in_the_verdict() -> None:
    few = compare_scores(made({"realistic": np.array([[0.1, 0.1, 0.2], [0.5, 0.6, 0.5]])}), Plan(ties="agree"))
    assert "caution: 3 topics only" in few.pairs["verdict"].item()
    two = compare_scores(made({"realistic": np.array([[0.1, 0.2], [0.4, 0.5]])}), Plan(ties="agree")).pairs
    assert (two["p"].item(), two["outcome"].item()) == (0.5, "none")
    assert "leaves no spread to go by" in two["verdict"].item()
    near = np.array([[0.1] * 12, 0.4 + 1e-5 * np.arange(12)])
    found = compare_scores(made({"realistic": near}), Plan(ties="agree")).pairs
    assert found["outcome"].item() == "better"
    assert "the differences hardly vary" in found["verdict"].item()
    assert not compare(SAMPLE.qrels, SAMPLE.runs[:2], "AP").pairs["cautions"].item()


def test_no_effect_is_0_where_the_other_is_infinite() -> None:
    steady = compare_scores(made({"realistic": np.array([[0.1] * 6, [0.4] * 6])}), Plan(ties="agree")).pairs
    assert steady["d"].item() == steady["blocked_d"].item() == np.inf


# ----------------------------------------------------------------------------------- what is practically no difference


def test_equivalence_and_bayes() -> None:
    source = np.random.Generator(np.random.PCG64(21))
    base = source.random(60) * 0.5 + 0.2
    rows = np.stack([base, base + source.normal(0, 0.01, 60), base + source.normal(0.2, 0.05, 60)])
    found = compare_scores(made({"realistic": rows}), Plan(ties="agree", margin=Margin.of(0.02)))
    from statsmodels.stats.weightstats import ttost_paired

    for at, (one, two) in enumerate(((0, 1), (0, 2), (1, 2))):
        pair = found.pairs.row(at, named=True)
        assert pair["equivalent_p"] == pytest.approx(ttost_paired(rows[two], rows[one], -0.02, 0.02)[0], abs=1e-12)
        gap = rows[two] - rows[one]
        drawn = source.standard_t(59, 400_000) * gap.std(ddof=1) / np.sqrt(60) + gap.mean()  # the posterior
        chances = ((drawn < -0.02).mean(), (np.abs(drawn) <= 0.02).mean(), (drawn > 0.02).mean())
        own = (pair["chance_worse"], pair["chance_equivalent"], pair["chance_better"])
        assert own == pytest.approx(chances, abs=0.005)
        assert sum(own) == pytest.approx(1)
    assert found.pairs["outcome"].to_list() == ["equivalent", "better", "better"]
    assert "are equivalent on AP" in found.pairs["verdict"][0]
    plain = compare_scores(made({"realistic": rows}), Plan(ties="agree"))
    assert "equivalent_p" not in plain.pairs.columns


def test_margins() -> None:
    assert Margin.of("1%").at(0.5) == pytest.approx(0.005)
    assert Margin.of(0.01).at(np.array([0.5, 0.2])).tolist() == [0.01, 0.01]
    assert [str(Margin.of(each)) for each in ("2.5%", 0.01, "0")] == ["2.5%", "0.01", "0"]
    for bad in ("x", -1, "nan", "inf%", "", True, None):
        with pytest.raises(BadParameter, match="must be a number ≥ 0"):
            Margin.of(bad)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------- procedures that replace the test


def test_dunnett_and_nemenyi_among_the_corrections() -> None:
    found = compare(SAMPLE.qrels, SAMPLE.runs, "AP", correction="dunnett", baseline="bm25", ties="realistic")
    assert found.pairs.filter(two="hybrid")["outcome"].item() == "better"
    assert "Dunnett" in found.pairs["verdict"][0]
    worse = compare(
        SAMPLE.qrels,
        SAMPLE.runs,
        "Noise@10",
        correction="dunnett",
        baseline="bm25",
        alternative="greater",
        ties="realistic",
    ).pairs.filter(two="hybrid")
    assert worse["outcome"].item() == "better"  # less is better
    assert worse["high"].item() < 0
    ranks = compare(SAMPLE.qrels, SAMPLE.runs, "AP", correction="nemenyi", ties="realistic")
    assert "Nemenyi" in ranks.pairs["verdict"][0]
    for wrong, message in (
        ({"correction": "dunnett"}, "with a baseline"),
        ({"correction": "nemenyi", "baseline": "bm25"}, "leave the baseline out"),
        ({"correction": "tukey", "ties": "robust"}, "robust verdicts need a test of pairs"),
        ({"correction": "hom"}, "correction must be one of"),
    ):
        with pytest.raises(BadParameter, match=message):
            compare(SAMPLE.qrels, SAMPLE.runs, "AP", **wrong)


def test_sentences_never_print_a_p_of_nothing() -> None:
    found = compare(SAMPLE.qrels, SAMPLE.runs, "AP nDCG@10 P@10")
    for verdict in found.verdicts:
        assert not re.search(r"p = 0\.0000|[-+]?nan|-0\.0000", verdict), verdict
