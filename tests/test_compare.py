"""Comparing systems: the tables against direct calculations, the verdicts, the gate, the commands."""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import exaequo
from exaequo import BadParameter, InputError, Measure, Qrels, Run, Scores
from exaequo.choices import COMPARED
from exaequo.cli import run as command
from exaequo.comparison import Comparison, compare_scores
from exaequo.comparison.plan import Plan
from exaequo.comparison.values import comparable, means
from exaequo.comparison.views import across_collections, inverted_between, judges
from exaequo.evaluation import evaluate_runs, judged_runs
from exaequo.gating import gate_scores
from exaequo.gating.rule import Rule
from exaequo.measures import parse_measures
from exaequo.options import Options
from helpers import Grades, Sims, evaluate, sampled


def compare(qrels: object, runs: object, measures: str = "AP P@10", **options: Any) -> Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.compare(qrels, runs, measures, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result() -> Comparison:
    return compare(sampled().qrels, sampled().runs, "AP nDCG@10 P@10")


def values(measure: str, ties: str = "realistic") -> dict[str, list[float]]:
    scores = evaluate(sampled().qrels, list(sampled().runs), measure, ties=ties)
    return {run: [topic[measure] for topic in by[ties].values()] for run, by in scores.to_dict().items()}


def scored(qrels: Qrels, runs: list[Run], measures: list[Measure], options: Options) -> Scores:
    scores, _ = comparable(evaluate_runs(judged_runs(qrels, runs, options), measures, options))
    return scores


def row(frame: pl.DataFrame, **wanted: object) -> dict[str, Any]:
    return frame.filter(*(pl.col(name) == value for name, value in wanted.items())).row(0, named=True)


def test_a_pair(result: Comparison) -> None:
    table = values("AP")
    one, two = np.array(table["bm25"]), np.array(table["hybrid"])
    found = row(result.pairs, measure="AP", one="bm25", two="hybrid")
    test = stats.ttest_rel(two, one)
    interval = test.confidence_interval(1 - 0.05 / 15)  # fifteen pairs hold together
    gap = two - one
    assert (found["mean_one"], found["mean_two"]) == pytest.approx((one.mean(), two.mean()))
    assert found["difference"] == pytest.approx(gap.mean())
    assert (found["low"], found["high"]) == pytest.approx((interval.low, interval.high))
    assert found["p"] == pytest.approx(test.pvalue, rel=1e-10)
    assert found["d"] == pytest.approx(gap.mean() / gap.std(ddof=1))
    assert (found["wins"], found["ties"], found["losses"]) == ((gap > 0).sum(), (gap == 0).sum(), (gap < 0).sum())
    assert found["gain_percent"] == pytest.approx(100 * (two.mean() / one.mean() - 1))
    assert found["noticeable"]
    start = "hybrid is better than bm25 on AP: +0.2223 (+50.8 %), simultaneous 95 % interval +0.1630 to +0.2816"
    assert found["verdict"].startswith(start)


def test_corrected_for_all_pairs(result: Comparison) -> None:
    own = result.pairs.filter(pl.col("measure") == "AP")
    p = own["p"].to_numpy()
    assert len(p) == 15
    order = np.argsort(p)
    expected = np.minimum(np.maximum.accumulate(p[order] * np.arange(15, 0, -1)), 1)
    assert own["corrected_p"].to_numpy()[order] == pytest.approx(expected)
    against = compare(sampled().qrels, sampled().runs, "AP", baseline="bm25", correction="bonferroni").pairs
    assert against["one"].unique().to_list() == ["bm25"]
    assert against["corrected_p"].to_list() == pytest.approx(np.minimum(against["p"].to_numpy() * 5, 1).tolist())


def test_verdicts_that_change_with_ties(result: Comparison) -> None:
    found = row(result.pairs, measure="AP", one="bm25", two="llm-judge")
    assert (found["realistic"], found["conventional"], found["changes"]) == ("<", ">", True)
    assert found["outcome"] == "ties decide"
    assert found["verdict"].startswith("ties decide between llm-judge and bm25 on AP: realistic worse (-0.0643), exp")
    steady = row(result.pairs, measure="AP", one="bm25", two="hybrid")
    assert (steady["changes"], steady["outcome"]) == (False, "better")
    alone = compare(sampled().qrels, sampled().runs, "AP", ties="realistic")
    assert not alone.pairs["changes"].any()


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomization", "bootstrap"])
def test_every_test(test: str) -> None:
    found = compare(sampled().qrels, sampled().runs[:3], "AP", test=test, samples=500, ties="realistic")
    assert found.pairs["p"].is_between(0, 1).all()
    again = compare(sampled().qrels, sampled().runs[:3], "AP", test=test, samples=500, ties="realistic")
    assert found.pairs.equals(again.pairs)


@pytest.mark.parametrize("correction", ["tukey", "randomised-tukey"])
def test_all_pairs_at_once(correction: str) -> None:
    found = compare(sampled().qrels, sampled().runs, "AP", correction=correction, samples=2000, ties="realistic")
    assert found.pairs["corrected_p"].equals(found.pairs["p"].alias("corrected_p"))
    assert row(found.pairs, one="boolean", two="hybrid")["significant"]
    with pytest.raises(BadParameter, match="leave the baseline out"):
        compare(sampled().qrels, sampled().runs, "AP", correction=correction, baseline="bm25")


def test_letters_follow_the_pairs(result: Comparison) -> None:
    for measure in ("AP", "nDCG@10", "P@10"):
        group = dict(result.systems.filter(pl.col("measure") == measure).select("run", "group").rows())
        for pair in result.pairs.filter(pl.col("measure") == measure).to_dicts():
            assert bool(set(group[pair["one"]]) & set(group[pair["two"]])) != (pair["outcome"] in ("better", "worse"))
    assert row(result.systems, measure="AP", run="hybrid")["group"] == "a"


def test_identical_runs_and_few_topics() -> None:
    qrels: Grades = {"1": {"a": 1}, "2": {"a": 1}}
    run: Sims = {"1": {"a": 1.0}, "2": {"a": 1.0}}
    found = compare(qrels, {"x": run, "y": run}, "AP").pairs.row(0, named=True)
    assert (found["p"], found["significant"], found["d"]) == (1.0, False, 0.0)
    assert found["verdict"] == "no difference between y and x on AP: equal on every topic"
    with pytest.raises(InputError, match="only 1 topic; expected at least two"):
        compare({"1": {"a": 1}}, {"x": run, "y": run}, "AP")
    with pytest.raises(BadParameter, match="at least two runs"):
        compare(qrels, {"x": run}, "AP")
    with pytest.raises(BadParameter, match="no run 'z' to be the baseline"):
        compare(qrels, {"x": run, "y": run}, "AP", baseline="z")


def test_topics_are_aligned_by_name() -> None:
    qrels: Grades = {str(topic): {"a": 1} for topic in range(4)}
    full: Sims = {str(topic): {"x": 2.0, "a": 1.0} for topic in range(4)}
    part: Sims = {str(topic): {"a": 1.0} for topic in (3, 1)}
    zero = compare(qrels, {"full": full, "part": part}, "RR").pairs.row(0, named=True)
    assert (zero["mean_one"], zero["mean_two"], zero["topics"]) == (0.5, 0.5, 4)
    skip = compare(qrels, {"full": full, "part": part}, "RR", missing="skip")
    assert (skip.pairs["mean_two"].item(), skip.pairs["topics"].item()) == (1.0, 2)
    assert skip.scores.shared.to_list() == ["1", "3"]
    assert any("left out for all of them: 0, 2" in note for note in skip.warnings)
    with pytest.raises(exaequo.MissingTopics):
        compare(qrels, {"full": full, "part": part}, "RR", missing="error")


def test_nothing_undefined_enters_a_test() -> None:
    qrels: Grades = {"1": {"a": 1, "b": 1, "c": 1}, "2": {"a": 1}, "3": {"a": 1}, "4": {"b": 1}}
    one: Sims = {"1": {"a": 1.0}, "2": {"a": 1.0}, "3": {"b": 2.0, "a": 1.0}, "4": {"b": 1.0}}
    two: Sims = {"1": {"a": 1.0, "b": 0.5, "c": 0.2}, "2": {"a": 1.0}, "3": {"a": 1.0}, "4": {"c": 2.0, "b": 1.0}}
    found = compare(qrels, {"one": one, "two": two}, "BreakEven")
    assert found.pairs["topics"].item() == 3
    assert not np.isnan(found.pairs["p"].item())
    assert any("1 topic left out" in note for note in found.warnings)
    with pytest.raises(BadParameter, match="one number per run"):
        compare(qrels, {"one": one, "two": two}, "gm(AP)")


def test_lower_is_better() -> None:
    found = compare(sampled().qrels, sampled().runs, "Noise@10", ties="realistic")
    assert row(found.extremes, measure="Noise@10")["best"] == "hybrid"
    pair = row(found.pairs, one="boolean", two="hybrid")
    assert pair["difference"] < 0
    assert pair["verdict"].startswith("hybrid is better than boolean on Noise@10")


def test_curves_and_dominance(result: Comparison) -> None:
    level = evaluate(sampled().qrels, list(sampled().runs), "IPrec@0.3")
    for run, value in result.curves.select("run", "0.3").rows():
        assert value == pytest.approx(level.mean("IPrec@0.3", run=run))
    assert row(result.dominance, one="bm25", two="hybrid")["dominates"] == "hybrid"
    assert row(result.dominance, one="bm25", two="llm-judge")["dominates"] == "neither"


def test_rankings_between_measures(result: Comparison) -> None:
    means = {m: [np.mean(each) for each in values(m).values()] for m in ("AP", "P@10")}
    found = row(result.correlations, one="AP", two="P@10")
    assert found["tau_b"] == pytest.approx(stats.kendalltau(*means.values()).statistic)
    assert found["r"] == pytest.approx(stats.pearsonr(*means.values()).statistic)
    inverted = result.inversions.filter((pl.col("by") == "AP") & (pl.col("but_by") == "P@10"))
    gaps = {name: np.subtract.outer(each, each) for name, each in means.items()}
    discordant = int((np.triu(gaps["AP"] * gaps["P@10"]) < 0).sum())
    assert inverted.height == discordant > 0


def test_topics_and_robustness(result: Comparison) -> None:
    table = values("AP")
    hardest = result.topics.filter(pl.col("measure") == "AP").row(0, named=True)
    means = np.mean(list(table.values()), axis=0)
    assert hardest["mean"] == pytest.approx(means.min())
    robust = row(result.robustness, run="boolean")
    ap = np.sort(table["boolean"])
    assert robust["gm_ap"] == pytest.approx(np.exp(np.log(np.maximum(ap, 1e-5)).mean()))
    assert robust["area_of_worst_quarter"] == pytest.approx(np.mean([ap[:x].mean() for x in range(1, 7)]))
    assert robust["nothing_in_10"] == sum(value == 0 for value in values("Success@10")["boolean"])
    contrast = result.contrasts.filter(pl.col("measure") == "AP").row(0, named=True)
    gap = np.array(table[contrast["two"]]) - np.array(table[contrast["one"]])
    assert abs(contrast["difference"]) == pytest.approx(np.abs(gap).max())


def test_other_collections_and_other_judges() -> None:
    measures = parse_measures("AP")
    options = Options()
    other = exaequo.sample(seed=5)
    sets = {name: scored(data.qrels, data.runs, measures, options) for name, data in (("a", sampled()), ("b", other))}
    found = across_collections(sets).row(0, named=True)
    by_run = (dict(zip(each.runs, means(each, measures[0]), strict=True)) for each in sets.values())
    first, second = ([each[run] for run in sets["a"].runs] for each in by_run)
    assert found["tau_b"] == pytest.approx(stats.kendalltau(first, second).statistic)
    assert found["pairs"] == 15
    assert (
        inverted_between(sets).height
        == found["inverted"]
        == sum((first[a] - first[b]) * (second[a] - second[b]) < 0 for a in range(6) for b in range(a))
    )
    strict = exaequo.read_qrels(
        sampled()
        .qrels.frame.with_columns(pl.when(pl.col("rel") >= 2).then("rel").otherwise(0).alias("rel"))
        .drop("key")
    )
    table, notes = judges(
        [("a", sampled().qrels), ("b", strict)],
        {"a": sets["a"], "b": scored(strict, sampled().runs, measures, options)},
    )
    agreed = table.row(0, named=True)
    assert not notes
    assert agreed["documents"] == sampled().qrels.frame.height
    assert 0 < agreed["kappa_relevant"] < 1
    assert agreed["alpha_ordinal"] > agreed["alpha_nominal"]


def part(topics: Sequence[str]) -> Qrels:
    """Return the judgments of some topics of the sample."""
    return exaequo.read_qrels(sampled().qrels.frame.filter(pl.col("qid").is_in(topics)).drop("key"))


def judged(*sets: Sequence[str], measures: str = "AP P@10") -> tuple[pl.DataFrame, list[str]]:
    """Compare judges that say the same of the topics they have."""
    files = [(f"j{at}", part(topics)) for at, topics in enumerate(sets)]
    parsed = parse_measures(measures)
    return judges(files, {name: scored(qrels, sampled().runs, parsed, Options()) for name, qrels in files})


def test_judges_are_compared_on_the_topics_of_all() -> None:
    """Who says the same of fewer topics ranks systems the same: means over other topics are no disagreement."""
    every = sampled().qrels.frame["qid"].unique(maintain_order=True).to_list()
    table, notes = judged(every, every[:9], every[7:])
    assert table.filter(pl.col("one") != "all").select("tau_AP", "tau_P@10").to_numpy() == pytest.approx(1)
    assert table["topics_of_both"].to_list() == [9, 18, 2, None]
    (note,) = notes  # one for both measures
    assert "compared on 2 topics; 23 without a value" in note
    assert "401, 402" in note
    assert note.endswith("(AP, P@10)")
    alone = [
        means(scored(part(every[:n]), sampled().runs, parse_measures("AP"), Options()), parse_measures("AP")[0])
        for n in (9, 25)
    ]
    assert stats.kendalltau(*alone).statistic < 1  # on its own topics each has another ranking


def test_judges_without_topics_in_common() -> None:
    every = sampled().qrels.frame["qid"].unique(maintain_order=True).to_list()
    for second, said in ((every[9:], "no topic has"), (every[8:], "only 1 topic has")):
        table, notes = judged(every[:9], second)
        assert [note.startswith(said) and "nothing to compare (AP, P@10)" in note for note in notes] == [True]
        assert not [name for name in table.columns if name.startswith("tau")]
        assert table["topics_of_both"].to_list() == [int("1" in said)]


def test_measures_that_one_of_two_lacks() -> None:
    """A measure without values, for a judge or on a collection, is no measure to compare them by."""
    qrels: Grades = {str(topic): {"a": 0.0, "b": 1.0, "x": 1.0} for topic in range(3)}
    lists: list[Sims] = [{topic: {d: 1.0 + (d in best) for d in "abx"} for topic in qrels} for best in ("a", "xb", "")]
    other: list[Sims] = [
        {topic: {d: sim for d, sim in sims.items() if d != "x"} for topic, sims in run.items()} for run in lists
    ]
    parsed = parse_measures("PDoc(doc='x') AP")
    read = exaequo.read_qrels(qrels)
    sets = {
        place: evaluate(qrels, dict(zip("rst", runs, strict=True)), ["PDoc(doc='x')", "AP"])
        for place, runs in (("here", lists), ("there", other))
    }
    assert across_collections(sets)["measure"].to_list() == ["AP"]
    assert judges([("here", read), ("there", read)], sets)[0].columns[-1] == "tau_AP"
    three, notes = judges([(name, read) for name in ("here", "there", "again")], sets | {"again": sets["here"]})
    taus = [row(three, one=one, two=two)["tau_PDoc(doc='x')"] for one, two in (("here", "again"), ("here", "there"))]
    assert (taus, notes) == ([pytest.approx(1), None], [])  # the two who have it are compared all the same
    nothing = {name: each.only(measures=parsed[:1]) for name, each in sets.items()}
    assert across_collections(nothing).is_empty()
    assert across_collections(nothing).columns == across_collections(sets).columns
    assert inverted_between(nothing).is_empty()


def test_equal_rankings_with_ties_overlap_wholly() -> None:
    """τ-b and RBO-b are both 1 where two measures tie the same systems."""
    qrels: Grades = {"1": {"a": 1.0, "b": 0.0}, "2": {"a": 1.0, "b": 0.0}}
    runs: dict[str, Sims] = {
        name: {topic: {"a": float(name == "best"), "b": 0.5} for topic in qrels} for name in ("best", "one", "other")
    }
    found = row(compare(qrels, runs, "AP RR").correlations, one="AP", two="RR")
    assert (found["tau_b"], found["rbo"]) == (pytest.approx(1), pytest.approx(1, abs=1e-12))


# ------------------------------------------------------------------------------------------------------------ commands


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    sampled().save(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.mark.usefixtures("files")
def test_compare_command(capfd: pytest.CaptureFixture[str]) -> None:
    runs = ["runs/bm25.txt", "runs/hybrid.txt", "runs/llm-judge.txt"]
    assert command(["compare", "qrels.txt", *runs, "--full"]) == 0
    text = capfd.readouterr().out
    assert text.startswith(
        "25 topics, realistic ties; better or worse where realistic, expected and optimistic agree\n"
    )
    assert "hybrid is better than bm25 on AP" in text
    assert command(["compare", "qrels.txt", *runs, "--json", "--test", "randomization", "--seed", "7"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert (document["format"], document["options"]["seed"]) == (1, 7)
    assert {"pairs", "systems", "correlations", "robustness"} <= set(document)
    assert command(["compare", "qrels.txt", *runs, "--table", "pairs", "--format", "csv"]) == 0
    assert len(pl.read_csv(capfd.readouterr().out.encode())) == 15
    assert command(["compare", "qrels.txt", *runs, "--baseline", "runs/bm25.txt", "--format", "latex"]) == 0
    text = capfd.readouterr().out
    assert r"\textbf{0.6603}$^{\blacktriangle}$" in text
    assert command(["compare", "qrels.txt", *runs, "--format", "latex"]) == 0
    assert r"\textbf{0.6603}$^{a}$" in capfd.readouterr().out
    assert command(["compare", "qrels.txt", *runs, "--format", "markdown", "--ties", "realistic"]) == 0
    assert "| AP | hybrid |" in capfd.readouterr().out
    assert command(["compare", "qrels.txt", *runs, "--format", "csv"]) == 2
    assert command(["compare", "qrels.txt", runs[0]]) == 2
    assert command(["compare", "qrels.txt", *runs, "--table", "judges"]) == 2


def test_compare_command_with_more(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = files / "other"
    exaequo.sample(seed=9).save(other)
    runs = ["runs/bm25.txt", "runs/hybrid.txt", "runs/boolean.txt"]
    more = ["--also", str(other), "--judges", str(other / "qrels.txt")]
    assert command(["compare", "qrels.txt", *runs, *more, "--json", "-m", "AP"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["collections"][0]["systems"] == 3
    assert "kappa_relevant" in document["judges"][0]
    assert command(["compare", "qrels.txt", *runs, "--also", "nowhere"]) == 1


#: Measures with odd values: none for some lists, or for all; sums; the less the better; the same for every run.
ODD = ("PDoc(doc='x')", "PDoc(doc='nowhere')", "BreakEven", "NumQ", "Noise@2", "NumRel")


def save(folder: Path, qrels: Grades, runs: dict[str, Sims]) -> list[str]:
    """Write a collection; return its files."""
    (folder / "runs").mkdir(parents=True)
    text = "".join(f"{topic} 0 {docno} {grade:g}\n" for topic, own in qrels.items() for docno, grade in own.items())
    (folder / "qrels.txt").write_text(text)
    for name, run in runs.items():
        lines = (f"{topic} Q0 {docno} 1 {sim} {name}\n" for topic, own in run.items() for docno, sim in own.items())
        (folder / "runs" / name).write_text("".join(lines))
    return [str(folder / "qrels.txt"), *(str(folder / "runs" / name) for name in runs)]


def test_compare_command_with_odd_measures(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What is undefined here, there, or under one strategy is left out with a sentence; what is left is compared."""
    qrels: Grades = {str(topic): {"a": 1.0, "b": float(topic > 1), "x": 1.0} for topic in range(4)}
    runs: dict[str, Sims] = {
        name: {topic: {d: 1.0 + (d in best) for d in "abx"} for topic in qrels}
        for name, best in (("r", "a"), ("s", "bx"))
    }
    here = save(tmp_path / "here", qrels, runs)
    without = {
        name: {t: {d: s for d, s in own.items() if d != "x"} for t, own in run.items()} for name, run in runs.items()
    }
    there = tmp_path / "there"
    save(there, qrels, without)
    fewer = tmp_path / "fewer.txt"
    fewer.write_text("0 0 a 1\n1 0 b 1\n1 0 a 0\n")
    more = ["--also", str(there), "--judges", str(fewer), "--format", "json"]
    for measure in ODD:
        codes = (0, 2) if measure.startswith(("PDoc", "BreakEven")) else (0,)  # nothing is left of it alone
        for depth in ("1", "2", "3"):
            for extra in ([], ["-m", "AP"]):
                code = command(["compare", *here, "-m", measure, *extra, "--depth", depth, *more])
                captured = capfd.readouterr()
                assert code in ((0,) if extra else codes)
                assert "Traceback" not in captured.err
                if not code:
                    assert json.loads(captured.out)["judges"][0]["topics_of_both"] == 2
    assert command(["compare", *here, "-m", "PDoc(doc='x')", *more]) == 0
    captured = capfd.readouterr()
    assert f"with {there}: no two topics have a value for every run, nothing to compare (PDoc(doc='x'))" in captured.err
    assert "compared on 2 topics; 2 without a value under each of them left out: 2, 3 (PDoc(doc='x'))" in captured.err
    assert json.loads(captured.out)["collections"] == []


def p10(found: list[int]) -> Sims:
    """A run that finds so many of ten relevant documents in the first ten of each topic."""
    return {
        f"{topic:03}": {f"r{i}": 20.0 - i for i in range(number)} | {f"x{i}": 9.0 - i for i in range(10 - number)}
        for topic, number in enumerate(found)
    }


def tens(topics: int) -> Grades:
    return {f"{topic:03}": {f"r{i}": 1.0 for i in range(10)} for topic in range(topics)}


def test_the_direction_is_that_of_the_test() -> None:
    """17 small wins and 3 large losses: the sign test says better, the mean says worse, and the sentence says both."""
    runs = {"b": p10([5] * 17 + [9] * 3), "c": p10([6] * 17 + [0] * 3)}
    found = compare(tens(20), runs, "P@10", ties="realistic", test="sign").pairs.row(0, named=True)
    assert found["verdict"].startswith("c is better than b on P@10, though its mean says otherwise")
    assert (found["realistic"], found["wins"]) == (">", 17)


def test_one_sided() -> None:
    runs = {"base": p10([5] * 10 + [6] * 10), "up": p10([7] * 20), "down": p10([3] * 20)}
    found = compare(tens(20), runs, "P@10 Noise@10", baseline="base", alternative="greater", ties="realistic")
    for measure in ("P@10", "Noise@10"):  # better is better, whichever way the measure counts
        assert row(found.pairs, measure=measure, two="up")["significant"]
        down = row(found.pairs, measure=measure, two="down")
        assert not down["significant"]
        assert "is not shown to be better" in down["verdict"]
        assert "would show it" not in down["verdict"]
        assert "one-sided" in down["verdict"]
    with pytest.raises(BadParameter, match="needs a baseline"):
        compare(tens(20), runs, "P@10", alternative="greater")


def test_less_is_better_is_shown_the_right_way_round() -> None:
    runs = {"worse": p10([4, 5, 4, 6, 5, 4]), "better": p10([8, 8, 9, 8, 7, 9])}
    found = compare(tens(6), runs, "Noise@10", baseline="worse")
    pair = found.pairs.row(0, named=True)
    assert (pair["wins"], pair["losses"], pair["realistic"]) == (6, 0, ">")
    assert row(found.systems, run="better")["mark"] == "▲"


def test_rounding_is_no_difference() -> None:
    """A drop of exactly 0.1 on every topic is a constant, whatever the last bits say."""
    runs = {"b": p10(list(range(3, 11))), "c": p10(list(range(2, 10)))}
    found = compare(tens(8), runs, "P@10", ties="realistic").pairs.row(0, named=True)
    assert found["d"] == -np.inf
    assert found["topics_needed"] == 2
    assert found["p"] == 2 / 2**8  # that of the sign test: never 0
    assert "no spread to go by" in found["cautions"]
    values_ = np.random.Generator(np.random.PCG64(1)).integers(0, 11, size=40).tolist()
    same = compare(tens(40), {"b": p10(values_), "c": p10(values_[::-1])}, "P@10", ties="realistic")
    assert same.systems["rank"].to_list() == [1, 1]
    rule = compare(tens(2), {"b": p10([4, 4]), "c": p10([4, 4])}, "P@10").pairs.row(0, named=True)
    assert not rule["noticeable"]
    assert rule["gain_percent"] == 0


def test_too_coarse_a_test_is_warned_about() -> None:
    found = compare(sampled().qrels, sampled().runs, "AP", test="randomization", samples=200, ties="realistic")
    assert any("nothing can be significant: take more --samples than 300" in note for note in found.warnings)
    fine = compare(sampled().qrels, sampled().runs, "AP", test="randomization", samples=2000, ties="realistic")
    assert not any("significant" in note for note in fine.warnings)


@pytest.mark.speed
def test_many_systems_get_their_letters() -> None:
    random = np.random.Generator(np.random.PCG64(4))
    runs = {f"s{at:03}": p10(random.binomial(10, 0.3 + 0.4 * at / 90, size=25).tolist()) for at in range(90)}
    start = time.monotonic()
    found = compare(tens(25), runs, "P@10", ties="realistic")
    assert time.monotonic() - start < 30
    group = dict(found.systems.select("run", "group").rows())
    for pair in found.pairs.select("one", "two", "significant").rows():
        letters = [set(re.findall(r"[a-z]|\(\d+\)", group[name])) for name in pair[:2]]
        assert bool(letters[0] & letters[1]) != pair[2]


def test_a_measure_undefined_under_another_strategy() -> None:
    qrels: Grades = {str(t): {"a": 1, "b": 0} for t in range(4)}
    one: Sims = {str(t): {"a": 1.0, "b": 1.0} for t in range(4)}
    two: Sims = {str(t): ({"a": 2.0, "b": 1.0} if t % 2 else {"b": 2.0, "a": 1.0}) for t in range(4)}
    with pytest.raises(BadParameter, match="at least two"):
        compare(qrels, {"one": one, "two": two}, "PDoc(doc='b')", depth=1)


def test_names_in_sentences_are_escaped(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = exaequo.sample()
    data.save(tmp_path)
    odd = tmp_path / "odd.txt"
    odd.write_text((tmp_path / "runs" / "bm25.txt").read_text().replace("bm25", "a_b*c<b>|x"))
    runs = [str(odd), str(tmp_path / "runs" / "hybrid.txt")]
    assert command(["compare", str(tmp_path / "qrels.txt"), *runs, "--format", "markdown", "-m", "AP"]) == 0
    assert r"a\_b\*c\<b\>\|x" in capfd.readouterr().out
    twice = [str(odd), str(odd), runs[1]]
    assert (
        command(["compare", str(tmp_path / "qrels.txt"), *twice, "--baseline", f"{tmp_path}/./odd.txt", "-m", "AP"])
        == 0
    )


def test_intervals_of_three_kinds_and_the_square_of_taus(result: Comparison) -> None:
    found = {
        kind: compare(sampled().qrels, sampled().runs[:2], "AP", interval=kind, ties="realistic").pairs.row(
            0, named=True
        )
        for kind in ("t", "bca", "percentile", "auto")
    }
    assert found["auto"]["low"] == found["t"]["low"]
    assert len({each["low"] for each in found.values()}) == 3
    assert found["bca"]["low"] == pytest.approx(found["t"]["low"], abs=0.01)
    square = result.taus
    assert square["measure"].to_list() == ["AP", "nDCG@10", "P@10"]
    assert square["AP"].to_list()[2] == pytest.approx(row(result.correlations, one="AP", two="P@10")["tau_b"])


def test_three_judges_together() -> None:
    measures, options = parse_measures("AP"), Options()
    values_ = {name: scored(sampled().qrels, sampled().runs, measures, options) for name in "abc"}
    table, _ = judges([(name, sampled().qrels) for name in "abc"], values_)
    assert table.height == 4
    assert row(table, one="all")["alpha_nominal"] == 1


# ------------------------------------------------------------------------------------------ measures without a value


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two collections with two runs each; the document z is in no list of the second one."""
    monkeypatch.chdir(tmp_path)
    lists = {"one": "x 3 y 2 z 1", "two": "y 3 z 2 x 2"}
    for place, other in ((tmp_path, "z"), (tmp_path / "also", "w")):
        (place / "runs").mkdir(parents=True)
        (place / "qrels.txt").write_text("".join(f"{t} 0 x 1\n{t} 0 y 0\n" for t in range(6)), encoding="utf-8")
        for name, text in lists.items():
            words = text.replace("z", other).split()
            lines = [
                f"{t} Q0 {d} 0 {s} {name}\n" for t in range(6) for d, s in zip(words[::2], words[1::2], strict=True)
            ]
            (place / "runs" / name).write_text("".join(lines), encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_topic_that_one_strategy_leaves_undefined(capfd: pytest.CaptureFixture[str]) -> None:
    """Under some strategies the cut takes x out of the lists of `two`, under others it does not."""
    assert (
        command(["compare", "qrels.txt", "runs/one", "runs/two", "-m", "PDoc(doc='x')", "-m", "AP", "--depth", "2"])
        == 0
    )
    captured = capfd.readouterr()
    assert "PDoc(doc='x') is left out: fewer than two topics have a value for every run" in captured.err
    assert "PDoc" not in captured.out
    assert "6 topics" in captured.out


@pytest.mark.usefixtures("folder")
def test_another_collection_may_lack_a_measure(capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["-m", "PDoc(doc='z')", "-m", "AP", "--also", "also", "--json"]
    assert command(["compare", "qrels.txt", "runs/one", "runs/two", *asked]) == 0
    captured = capfd.readouterr()
    assert "with also: PDoc(doc='z') is left out" in captured.err
    document = json.loads(captured.out)
    assert [row["measure"] for row in document["collections"]] == ["AP"]
    assert {row["measure"] for row in document["inverted"]} <= {"AP"}
    assert [row["measure"] for row in document["extremes"]] == ["PDoc(doc='z')", "AP"]


@pytest.mark.usefixtures("folder")
def test_other_judges_may_lack_a_measure(capfd: pytest.CaptureFixture[str]) -> None:
    Path("other.txt").write_text("".join(f"{t} 0 y 1\n{t} 0 q 2\n" for t in range(6)), encoding="utf-8")
    Path("fewer.txt").write_text("0 0 x 1\n1 0 x 1\n2 0 q 1\n", encoding="utf-8")
    measures = ["-m", "Silence(rel=2)@1", "-m", "AP"]
    asked = ["--judges", "other.txt", "--judges", "fewer.txt", "--json"]
    assert command(["compare", "qrels.txt", "runs/one", "runs/two", *measures, *asked]) == 0
    rows = json.loads(capfd.readouterr().out)["judges"]
    assert [row["one"] for row in rows] == ["qrels.txt", "qrels.txt", "other.txt", "all"]
    assert "tau_AP" in rows[0]


def test_scores_of_a_program_are_compared_as_files_are(result: Comparison) -> None:
    """A function of the table alone; what the table lacks is empty, and all else is the same."""
    scores = evaluate(sampled().qrels, list(sampled().runs), "AP nDCG@10 P@10", ties=COMPARED)
    found = compare_scores(scores, Plan())
    for name, frame in result.tables.items():
        if name in ("curves", "dominance", "robustness"):
            assert found.tables[name].is_empty()
        else:
            assert frame.equals(found.tables[name]), name
    pair = [next(run for run in sampled().runs if run.name == name) for name in ("bm25", "hybrid")]
    two = evaluate(sampled().qrels, pair, "AP")
    alone = exaequo.gate(sampled().qrels, pair[0], pair[1], "AP", ties="realistic")
    assert gate_scores(two, Rule()).gates == alone.gates
    with pytest.raises(BadParameter, match="one number per run"):
        compare_scores(evaluate(sampled().qrels, pair, "gm(AP)"), Plan())
    with pytest.raises(BadParameter, match="one number per run"):
        gate_scores(evaluate(sampled().qrels, pair, "gm(AP)"), Rule())
