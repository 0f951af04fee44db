"""Verdicts: only where the orders of ties agree; intervals, power and sentences go with the same correction as p."""

from __future__ import annotations

import itertools
import re
import warnings
from dataclasses import replace
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
from exaequo.comparison import Comparison, compare_runs, compare_scores
from exaequo.comparison.margin import Margin
from exaequo.comparison.pages import for_a_paper
from exaequo.comparison.plan import Plan, tie_rule
from exaequo.comparison.screen import screen
from exaequo.comparison.values import comparable, refuse_undefined
from exaequo.comparison.verdicts import Known, _sure, agreed, robust
from exaequo.evaluation import judged_runs
from exaequo.measures import parse_measure, parse_measures
from exaequo.options import Options
from exaequo.scores import Block, Scores
from helpers import Grades, Sims, sampled


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
        compare(sampled().qrels, sampled().runs, ties="fairly")


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
    found = compare(sampled().qrels, sampled().runs, "AP", baseline="bm25")
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
    qrels, runs = sampled()
    apart = compare(qrels, runs[:3], "AP P@10", ties="realistic", correction="bonferroni")
    jointly = compare(qrels, runs[:3], "AP P@10", ties="realistic", correction="bonferroni", jointly=True)
    assert jointly.pairs["corrected_p"].to_list() == pytest.approx(
        np.minimum(2 * apart.pairs["corrected_p"].to_numpy(), 1).tolist()
    )
    assert (jointly.pairs["high"] > apart.pairs["high"]).all()
    assert "3 pairs of each measure; measures are not corrected jointly" in apart.method[1]
    assert "6 pairs of all measures" in jointly.method[1]
    tukey = [
        compare(qrels, runs[:3], "AP P@10", ties="realistic", correction="tukey", jointly=each).pairs["p"]
        for each in (False, True)
    ]
    assert tukey[1].to_list() == pytest.approx(np.minimum(2 * tukey[0].to_numpy(), 1).tolist())


def test_the_header_says_how() -> None:
    found = compare(sampled().qrels, sampled().runs[:3], "AP", test="randomization", samples=1000, seed=4)
    assert found.method == [
        "25 topics, realistic ties; better or worse where realistic, expected and optimistic agree",
        "randomization, holm, two-sided, alpha 0.05, 1,000 samples, seed 4; 3 pairs",
        "intervals hold for all pairs together, Student's of the mean: "
        "p is of another procedure and need not follow them",
    ]
    t = compare(sampled().qrels, sampled().runs[:3], "AP")
    assert t.method[-1] == "intervals hold for all pairs together, wider than the steps of holm"
    few: Grades = {str(t): {"a": 1.0} for t in range(12)}
    runs: dict[str, Sims] = {"x": {t: {"a": 1.0, "b": 0.5} for t in few}, "y": {t: {"a": 0.2, "b": 0.5} for t in few}}
    exact = compare(few, runs, "RR", test="randomization", ties="realistic", baseline="x", alternative="greater")
    assert exact.method == [
        "12 topics, realistic ties; verdicts by realistic ties alone",
        "randomization, holm, one-sided, alpha 0.05; 1 pair",
        "intervals are Student's of the mean: p is of another procedure and need not follow them",
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
    assert not compare(sampled().qrels, sampled().runs[:2], "AP").pairs["cautions"].item()


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
        with pytest.raises(BadParameter, match="must be a number from 0 to 1e9"):
            Margin.of(bad)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------- procedures that replace the test


def test_dunnett_and_nemenyi_among_the_corrections() -> None:
    found = compare(sampled().qrels, sampled().runs, "AP", correction="dunnett", baseline="bm25", ties="realistic")
    assert found.pairs.filter(two="hybrid")["outcome"].item() == "better"
    assert "Dunnett" in found.pairs["verdict"][0]
    worse = compare(
        sampled().qrels,
        sampled().runs,
        "Noise@10",
        correction="dunnett",
        baseline="bm25",
        alternative="greater",
        ties="realistic",
    ).pairs.filter(two="hybrid")
    assert worse["outcome"].item() == "better"  # less is better
    assert worse["high"].item() < 0
    ranks = compare(sampled().qrels, sampled().runs, "AP", correction="nemenyi", ties="realistic")
    assert "Nemenyi" in ranks.pairs["verdict"][0]
    for wrong, message in (
        ({"correction": "dunnett"}, "with a baseline"),
        ({"correction": "nemenyi", "baseline": "bm25"}, "leave the baseline out"),
        ({"correction": "tukey", "ties": "robust"}, "robust verdicts need a test of pairs"),
        ({"correction": "hom"}, "correction must be one of"),
    ):
        with pytest.raises(BadParameter, match=message):
            compare(sampled().qrels, sampled().runs, "AP", **wrong)


def test_sentences_never_print_a_p_of_nothing() -> None:
    found = compare(sampled().qrels, sampled().runs, "AP nDCG@10 P@10")
    for verdict in found.verdicts:
        assert not re.search(r"p = 0\.0000|[-+]?nan|-0\.0000", verdict), verdict


# ----------------------------------------------------------------------------------------- what was wrong, or might be


def alone(rows: object, measure: str = "AP", **plan: Any) -> dict[str, Any]:
    """Compare two runs, or the first pair of several, under one order."""
    scores = made({"realistic": np.asarray(rows, dtype=np.float64)}, measure)
    return compare_scores(scores, Plan(**{"ties": "agree", **plan})).pairs.row(0, named=True)


def test_nemenyi_names_the_run_with_the_better_ranks() -> None:
    """Ranks lower on 26 of 30 topics, the mean higher: worse by what the test sees."""
    one = np.random.Generator(np.random.PCG64(1)).uniform(0.4, 0.5, 30)
    two = one - 0.01
    two[:4] = 1
    found = alone([one, two], correction="nemenyi")
    assert found["outcome"] == "worse"
    assert "though its mean says otherwise" in found["verdict"]
    assert alone([one, two], "Noise@10", correction="nemenyi")["outcome"] == "better"


def test_a_mean_of_nothing_is_said() -> None:
    """Many small wins and one large loss: the sign test sees a winner, the mean none."""
    one, gains = np.full(11, 0.5), np.array([0.01] * 10 + [-0.1])
    assert "though its mean is the same" in alone([one, one + gains], test="sign")["verdict"]
    assert "though its mean is the same" in alone([one + gains, one], test="sign")["verdict"]


@pytest.mark.parametrize("correction", ["by", "fdr_by"])
def test_the_stricter_correction_has_the_wider_interval(correction: str) -> None:
    source = np.random.Generator(np.random.PCG64(8))
    base = source.random(30) * 0.3 + 0.3
    rows = np.stack([base, *(base + source.normal(0.03, 0.06, 30) for _ in range(5))])
    found = compare_scores(made({"realistic": rows}), Plan(ties="agree", correction=correction, baseline="r0")).pairs
    level = 0.05 / (5 * sum(1 / at for at in range(1, 6)))
    expected = stats.ttest_1samp(rows[1] - rows[0], 0).confidence_interval(1 - level)
    assert found["low"][0] == pytest.approx(expected.low)
    for pair in found.filter(outcome="none").iter_rows(named=True):
        assert pair["low"] <= 0 <= pair["high"]


def test_tests_of_something_else_say_that_p_need_not_follow_the_interval() -> None:
    gap = np.array([0.2] * 8 + [-0.005] * 6)  # the mean is far from 0, the signs are not
    found = alone([np.full(14, 0.4), 0.4 + gap], test="sign")
    assert found["low"] > 0
    assert found["outcome"] == "none"
    assert "Student interval" in found["verdict"]
    assert "which p need not follow" in found["verdict"]
    assert "which p need not follow" not in alone([np.full(14, 0.4), 0.4 + gap])["verdict"]


def test_no_spread_and_few_topics_leave_no_interval() -> None:
    few = np.array([0.1, 0.3, 0.5])
    for plan in ({}, {"test": "bootstrap"}, {"correction": "tukey"}):
        found = alone([few, few + 0.1], **plan)
        assert (found["low"], found["high"], found["outcome"]) == (-1.0, 1.0, "none")
    many = np.linspace(0.1, 0.5, 12)
    assert alone([many, many + 0.1])["low"] == pytest.approx(0.1)
    one_sided = alone([few, few + 0.1], baseline="r0", alternative="greater")
    assert one_sided["low"] == -1


def test_one_sided_dunnett_is_held_to_its_own_level() -> None:
    """Of one pair, Dunnett's test is the t-test: level, power and bounds are those of one side."""
    source = np.random.Generator(np.random.PCG64(4))
    base = source.random(20) * 0.3 + 0.3
    rows = [base, base + source.normal(0.05, 0.1, 20)]
    asked: dict[str, Any] = {"baseline": "r0", "alternative": "greater"}
    plain, joint = alone(rows, correction="none", **asked), alone(rows, correction="dunnett", **asked)
    assert joint["p"] == pytest.approx(plain["p"])
    assert joint["low"] == pytest.approx(plain["low"])
    assert joint["topics_needed"] == plain["topics_needed"]
    assert joint["smallest_difference"] == pytest.approx(plain["smallest_difference"])
    both = alone(rows, correction="none", baseline="r0")
    assert both["smallest_difference"] > plain["smallest_difference"]


def test_single_intervals_change_no_verdict_and_no_power() -> None:
    source = np.random.Generator(np.random.PCG64(21))
    base = source.random(40) * 0.5 + 0.2
    rows = np.stack([base, *(base + source.normal(0.004, 0.03, 40) for _ in range(6))])
    scores = made({"realistic": rows})
    for margin in (0.0105, 0.012, 0.014, 0.016):
        both = [
            compare_scores(scores, Plan(ties="agree", baseline="r0", margin=Margin.of(margin), single=each)).pairs
            for each in (False, True)
        ]
        assert both[0]["outcome"].equals(both[1]["outcome"])
        assert both[0]["topics_needed"].equals(both[1]["topics_needed"])
        assert (both[0]["high"] > both[1]["high"]).all()
        level = 0.05 / 6
        alike = (both[0]["equivalent_p"] < level) & (both[0]["corrected_p"] >= 0.05)
        assert (both[0]["outcome"] == "equivalent").equals(alike)
    tukey = [
        compare_scores(scores, Plan(ties="agree", correction="tukey", single=each)).pairs for each in (False, True)
    ]
    assert (tukey[0]["high"] > tukey[1]["high"]).all()
    expected = stats.ttest_1samp(rows[1] - rows[0], 0).confidence_interval(0.95)
    assert tukey[1]["high"][0] == pytest.approx(expected.high)
    assert tukey[0]["topics_needed"].equals(tukey[1]["topics_needed"])


def test_jointly_takes_its_share_in_procedures_over_all_pairs() -> None:
    plans = [Plan(ties="agree", correction="tukey", jointly=each) for each in (False, True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        scores = exaequo.evaluate(sampled().qrels, sampled().runs[:3], "AP P@10")
    apart, jointly = (compare_scores(scores, plan).pairs for plan in plans)
    table = scores.matrix("AP").values
    rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    error, df = (rest**2).sum() / (2 * 24), 2 * 24
    for pairs, alpha in ((apart, 0.05), (jointly, 0.025)):
        half = stats.studentized_range.ppf(1 - alpha, 3, df) * np.sqrt(error / 25)
        assert pairs["high"][0] - pairs["difference"][0] == pytest.approx(half, rel=1e-6)
    two = compare(sampled().qrels, sampled().runs[:2], "AP P@10", ties="realistic", jointly=True)
    assert two.method[-1].startswith("intervals hold for all pairs together")
    assert "simultaneous" in two.verdicts[0]
    assert "simultaneous" not in compare(sampled().qrels, sampled().runs[:2], "AP", correction="nemenyi").verdicts[0]


def test_a_procedure_that_draws_says_what_it_needs() -> None:
    assert Plan(correction="randomised-tukey", samples=100, alpha=0.02).weakness(3, 25) is None
    coarse = Plan(correction="randomised-tukey", samples=100, alpha=0.02, jointly=True).weakness(3, 25, 3)
    assert coarse is not None
    assert "take more --samples than 150" in coarse
    assert "with 1 pair the" in (Plan(test="sign").weakness(1, 4) or "")
    assert Plan(test="sign", baseline="a", alternative="greater", correction="none").weakness(1, 5) is None
    assert Plan(test="sign", correction="none").weakness(1, 5)
    assert Plan(test="wilcoxon", alpha=1e-16).weakness(1, 51) is None  # no longer counted
    assert Plan(test="wilcoxon", alpha=1e-16).weakness(1, 50)


def test_orders_that_point_both_ways_need_no_more_topics() -> None:
    source = np.random.Generator(np.random.PCG64(5))
    base = source.random(25) * 0.3 + 0.3
    noise = source.normal(0, 0.1, 25)
    low = np.stack([base, base + noise - noise.mean() - 0.02])
    shift = np.array([[0.0], [0.02]])
    found = compare_scores(three(low, low + shift, low + 2 * shift), Plan()).pairs.row(0, named=True)
    assert found["outcome"] == "none"
    assert found["topics_needed"] == np.inf
    assert "would show it" not in found["verdict"]
    near = compare_scores(three(low, low + shift / 10, low + shift / 5), Plan()).pairs.row(0, named=True)
    first = compare_scores(made({"realistic": low}), Plan()).pairs.row(0, named=True)
    assert near["topics_needed"] > first["topics_needed"]  # the order that shows least counts


def test_equal_is_said_where_it_is_so() -> None:
    same = np.tile(np.linspace(0.1, 0.9, 10), (2, 1))
    high = same.copy()
    high[1, 0] += 0.3
    found = compare_scores(three(same, same, high), Plan()).pairs.row(0, named=True)
    assert "equal on" not in found["verdict"]
    assert compare_scores(three(same, same, same), Plan()).verdicts[0].endswith("equal on every topic")
    assert "equal on every topic" in alone(same, margin=Margin.of(0.1))["verdict"]
    qrels: Grades = {str(t): {"d": 1.0} for t in range(8)}
    lists: Sims = {t: {"d": 2.0, "x": 1.0} for t in qrels}
    fewer: Sims = {t: {"d": 2.0, "x": 1.0} if int(t) < 5 else {"x": 1.0} for t in qrels}
    part = compare(qrels, {"a": lists, "b": fewer}, "PDoc(doc='d')")
    assert part.verdicts[0].endswith("equal on the 5 topics where both have a value")


def test_equivalent_in_every_order_although_some_see_a_difference() -> None:
    base = np.random.Generator(np.random.PCG64(3)).random(60) * 0.5 + 0.2
    noise = np.random.Generator(np.random.PCG64(4)).normal(0, 0.002, 60)
    rows = [np.stack([base, base + noise + shift]) for shift in (0.0, 0.001, 0.002)]
    found = compare_scores(three(*rows), Plan(margin=Margin.of(0.01))).pairs.row(0, named=True)
    assert len({found["realistic"], found["optimistic"]}) == 2
    assert found["outcome"] == "equivalent"
    assert compare_scores(three(*rows), Plan()).pairs["outcome"].item() == "ties decide"


def test_chances_are_those_of_better_where_less_is_better() -> None:
    source = np.random.Generator(np.random.PCG64(9))
    base = source.random(40) * 0.3 + 0.3
    found = alone([base, base - 0.05 + source.normal(0, 0.02, 40)], "Noise@10", margin=Margin.of(0.01))
    assert found["outcome"] == "better"
    assert found["chance_better"] > 0.99 > found["chance_worse"]


def test_a_margin_that_is_met_exactly_is_met_whatever_the_bits() -> None:
    for start in (0.1, 0.2, 0.4, 0.7):
        rows = np.full((2, 12), start)
        rows[1] += 0.1
        assert alone(rows, margin=Margin.of(0.1))["equivalent_p"] == pytest.approx(0.5**12)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomization", "bootstrap"])
@pytest.mark.parametrize("correction", ["none", "holm", "by", "sidak", "tukey", "randomised-tukey", "nemenyi"])
def test_one_run_has_no_pairs_whatever_the_plan(test: str, correction: str) -> None:
    one = made({"realistic": np.random.Generator(np.random.PCG64(1)).random((1, 8))})
    found = compare_scores(one, Plan(test=test, correction=correction, samples=100), least=1)
    assert found.pairs.is_empty()
    assert {"outcome", "verdict", "low", "topics_needed"} <= {*found.pairs.columns}


def test_extreme_levels_leave_no_nonsense() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = alone([[0.1, 0.1], [0.2, 0.2]], alpha=1e-6)
        assert found["smallest_difference"] == 0
        coarse = alone(np.array([[0.1] * 6, [0.3] * 6]), correction="randomised-tukey", samples=100, alpha=0.005)
        assert coarse["smallest_difference"] == 0


def test_tukey_stays_tukey_with_a_test_beside_it() -> None:
    rows = np.random.Generator(np.random.PCG64(2)).random((3, 15))
    tables = [
        compare_scores(made({"realistic": rows}), Plan(ties="agree", correction="tukey", test=test)).pairs
        for test in ("t", "bootstrap")
    ]
    assert tables[0].equals(tables[1])


def test_warnings_go_with_what_is_passed_on(tmp_path: Any, capfd: pytest.CaptureFixture[str]) -> None:
    from exaequo.cli import run as command

    sampled().save(tmp_path)
    runs = [str(tmp_path / "runs" / name) for name in ("bm25.txt", "hybrid.txt")]
    short = tmp_path / "short.txt"
    lines = (tmp_path / "runs" / "bm25.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    short.write_text("".join(line for line in lines if line.startswith("401")), encoding="utf-8")
    asked = ["compare", str(tmp_path / "qrels.txt"), str(short), runs[1], "-m", "AP"]
    assert command([*asked, "--format", "markdown"]) == 0
    assert "24 of 25 evaluated topics missing" in capfd.readouterr().out
    assert command(asked) == 0
    both = capfd.readouterr()
    assert "topics missing" not in both.out
    assert "topics missing" in both.err


# ------------------------------------------------------------------------------------------------------------- edges


def plain(*rows: list[float]) -> Scores:
    return made({"realistic": np.array(rows)})


def test_a_table_for_a_paper() -> None:
    table = for_a_paper(compare_scores(plain([0.1, 0.3, 0.1, 0.3], [0.5, 0.7, 0.5, 0.9]), Plan()), "Title")
    assert (table.title, [each.head for each in table.columns]) == ("Title", ["run", "AP"])
    assert [list(each.values) for each in table.columns] == [["r1", "r0"], pytest.approx([0.65, 0.2])]
    assert [(each.right, each.best) for each in table.columns] == [(False, None), (False, [0])]
    assert "4 topics, realistic ties; letters" in table.lines[0]


def test_equal_runs_keep_their_order() -> None:
    found = compare_scores(plain(*([[0.25, 0.5]] * 40)), Plan())
    assert list(for_a_paper(found).columns[0].values) == [f"r{at}" for at in range(40)]
    assert found.sentences == [*found.method, *found.pairs["verdict"]]


def test_levels_that_are_just_reached() -> None:
    """Of n equal differences, p is 2 / 2ⁿ: a quarter with three topics."""
    plan = Plan(alpha=0.25, correction="none", test="sign")
    assert [plan.weakness(1, topics) is None for topics in (2, 3, 4)] == [False, False, True]
    row = compare_scores(plain([0.0] * 3, [0.5] * 3), replace(plan, test="t")).pairs.row(0, named=True)
    assert (row["low"], row["high"]) == (0.5, 0.5)
    assert Margin.of(1e9).size == 1e9
    with pytest.raises(BadParameter, match="from 0 to 1e9"):
        Margin.of(1e9 + 1)


def test_less_has_no_lower_end() -> None:
    """But for that of the measure."""
    plan = Plan(baseline="r0", alternative="less")
    row = compare_scores(plain([0.1, 0.2, 0.4], [0.5, 0.3, 0.9]), plan).pairs.row(0, named=True)
    assert row["low"] == -1
    assert 0.3 < row["high"] < 1


def test_what_stays_open_needs_both_ends() -> None:
    rows = np.array([[0.1, 0.2, 0.4], [0.5, 0.3, 0.9]])
    assert "open_low" not in compare_scores(made({"realistic": rows, "expected": rows}), Plan()).pairs.columns
    assert not [each for each in compare_scores(plain(*rows.tolist()), Plan()).pairs.columns if "difference_" in each]
    assert "open_low" in compare_scores(three(rows, rows, rows), Plan()).pairs.columns


def test_what_is_refused_before_the_work_and_one_run() -> None:
    qrels, run = exaequo.read_qrels({"1": {"a": 1}, "2": {"b": 1}}), exaequo.read_run({"1": {"a": 1.0}}, name="x")
    measures = parse_measures("AP")
    with pytest.raises(BadParameter, match="one number per run"):
        compare_runs(iter(lambda: pytest.fail("a run was judged"), None), parse_measures("gm(AP)"), Options(), Plan())
    judged = judged_runs(qrels, [run], Options(), measures)
    assert compare_runs(judged, measures, Options(), Plan(), least=1).pairs.is_empty()


def test_columns_are_named_for_runs_too() -> None:
    lines = pl.DataFrame({"t": ["1", "2"], "docno": ["a", "b"], "s": [2.0, 1.0]})
    qrels = pl.DataFrame({"t": ["1", "2"], "docno": ["a", "b"], "rel": [1, 1]})
    found = compare(qrels, {"x": lines, "y": lines}, columns={"qid": "t", "sim": "s"})
    assert found.pairs["outcome"].to_list() == ["none"]


def test_the_last_of_those_not_shown() -> None:
    found = compare_scores(plain([0.1, 0.3], [0.5, 0.7], [0.3, 0.5]), Plan())
    assert "… 2 more, down to r0 0.2000" in screen(found).more(1)


def test_measures_with_few_values() -> None:
    """Two topics are enough, one is not; the first measure of those left out is named where none is left."""
    nan = float("nan")
    what = tuple(parse_measures("AP P@5 RR"))
    rows = np.array([[0.1, nan, nan], [0.2, 0.4, nan], [nan, nan, 0.5]])
    blocks = [Block(run, "realistic", what, pl.Series(["1", "2", "3"]), rows) for run in ("x", "y")]
    scores = Scores(measures=what, blocks=tuple(blocks))
    left, notes = comparable(scores)
    assert [each.name for each in left.measures] == ["P@5"]
    assert [note.partition(":")[0] for note in notes] == ["AP is left out", "P@5", "RR is left out"]
    assert "1 topic left out" in notes[1]
    refuse_undefined(scores, what[1])
    with pytest.raises(BadParameter, match="AP has a value for 1 topics only"):
        comparable(scores.only(measures=[what[0], what[2]]))
    with pytest.raises(exaequo.InputError, match=r"^scores: only 1 topic; expected at least two"):
        comparable(plain([0.5], [0.5]))


def test_what_sentences_say_of_intervals() -> None:
    rows = [0.0, 0.0, 0.0], [0.5, 0.5, 0.6], [0.2, 0.4, 0.1]
    together = compare_scores(plain(*rows), Plan()).pairs.sort("one", "two")["verdict"]
    single = compare_scores(plain(*rows), Plan(single=True)).pairs.sort("one", "two")["verdict"]
    assert [("of this pair alone" in each) for each in (*together, *single)] == [False] * 3 + [True] * 3
    assert [bool(re.search(r"\([+-][\d.]+ %\)", each)) for each in together] == [False, False, True]  # a share of 0
    known = Known(parse_measure("AP"), Plan(), ["realistic"], 1, 3)
    for low, high in ((0.0, 0.5), (-0.5, 0.0), (-0.5, 0.5)):  # each holds 0
        assert _sure({"low": low, "high": high, "significant": False}, known).endswith(f"{low:+.4f} to {high:+.4f}")


def test_the_hardest_topic_is_first() -> None:
    rows = np.array([[0.9, 0.1, 0.5], [0.7, 0.3, 0.5]])
    for measure, order in (("AP", ["001", "002", "000"]), ("Noise@5", ["000", "002", "001"])):
        assert compare_scores(made({"realistic": rows}, measure), Plan()).topics["topic"].to_list() == order
