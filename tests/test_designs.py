"""Designs: figures against the statistics they come from, the command, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import exaequo
from exaequo import BadParameter, plot
from exaequo.choices import MEASURES
from exaequo.cli import run
from exaequo.designs import Aims, Design, design_scores, sizes
from exaequo.stats.power import topics_needed
from helpers import evaluate, sampled


@pytest.fixture(scope="module")
def result() -> Design:
    return exaequo.design(*sampled(), differences=[0.05, 0.1], samples=2000)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("design")
    assert run(["demo", "--save", str(folder)]) == 0
    return [str(folder / "qrels.txt"), *sorted(map(str, (folder / "runs").iterdir()))]


def one(frame: pl.DataFrame, **where: Any) -> dict[str, Any]:
    (row,) = frame.filter(**where).to_dicts()
    return row


def matrix(measure: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return evaluate(*sampled(), measure).matrix(measure).values


@pytest.mark.parametrize("measure", MEASURES)
def test_figures_of_a_measure(result: Design, measure: str) -> None:
    values = matrix(measure)
    found = one(result.measures, measure=measure)
    assert found["friedman_p"] == pytest.approx(stats.friedmanchisquare(*values).pvalue)
    assert found["within_variance"] == pytest.approx(np.mean([row.var(ddof=1) for row in values]))
    # Over all pairs, half the mean variance of a difference is the residual variance.
    pairs = [(values[a] - values[b]).var(ddof=1) for a in range(6) for b in range(a)]
    assert found["residual_variance"] == pytest.approx(np.mean(pairs) / 2)
    lines = result.anova.filter(measure=measure)
    assert lines["squares"].sum() == pytest.approx(float(((values - values.mean()) ** 2).sum()))
    assert found["systems_percent"] == pytest.approx(100 * lines["squares"][0] / lines["squares"].sum())
    assert found["f"] == pytest.approx(lines["mean"][0] / found["residual_variance"])
    levels = result.asl.filter(measure=measure)["p"]
    assert found["told_apart_percent"] == pytest.approx(100 * (levels < 0.05).sum() / 15)
    means = values.mean(axis=1)
    far = [abs(means[a] - means[b]) > found["least_significant"] for a in range(6) for b in range(a)]
    assert sum(far) == (levels < 0.05).sum()


def test_what_half_of_the_pairs_cost(result: Design) -> None:
    values = matrix("nDCG@10").mean(axis=1)
    found = one(result.measures, measure="nDCG@10")
    gaps = sorted(abs(values[a] - values[b]) for a in range(6) for b in range(a))
    effect = gaps[7] / np.sqrt(2 * found["residual_variance"])  # of 15: seven are smaller, seven larger
    assert found["topics_for_half"] == topics_needed(np.array([effect]), 0.05)[0]
    assert (found["depth"], found["documents"]) == (10, 10 * found["topics_for_half"])
    whole = one(result.measures, measure="AP")
    assert (whole["depth"], whole["documents"]) == (None, None)
    cut = exaequo.design(*sampled(), ["AP", "nDCG@10"], depth=5, samples=100).measures
    assert cut["depth"].to_list() == [5, 5]


def test_sizes(result: Design) -> None:
    """For nDCG@10 and 0.1: by the variance above, from tables of the noncentral distributions."""
    found = one(result.sizes, measure="nDCG@10", difference=0.1)
    variance = one(result.measures, measure="nDCG@10")["residual_variance"]
    assert (found["variance"], found["systems"]) == (variance, 6)
    for n, enough in ((found["f_test"], True), (found["f_test"] - 1, False)):
        limit = stats.f.isf(0.05, 5, 5 * (n - 1))
        assert (stats.ncf.sf(limit, 5, 5 * (n - 1), n * 0.1**2 / (2 * variance)) >= 0.8) == enough
    assert found["t_test"] == topics_needed(np.array([0.1 / np.sqrt(2 * variance)]), 0.05)[0]
    assert found["t_test"] < found["f_test"]
    for row in result.sizes.filter(difference=0.05).to_dicts():
        larger = one(result.sizes, measure=row["measure"], difference=0.1)
        assert all(row[name] > larger[name] for name in ("t_test", "f_test", "interval"))


def test_sizes_without_files() -> None:
    found = sizes(0.25, Aims(differences=(0.5, 1e-7), unpaired=True), systems=3).to_dicts()
    assert {name: found[0][name] for name in ("systems", "t_test", "f_test")} == {
        "systems": 3,
        "t_test": 17,
        "f_test": 21,
    }
    assert found[1]["t_test"] is found[1]["f_test"] is found[1]["interval"] is None
    assert sizes(0.25, Aims(differences=(0.5,), systems=8), systems=3)["systems"].to_list() == [8]


def test_unpaired_takes_the_variance_within_systems(result: Design) -> None:
    other = exaequo.design(*sampled(), "AP", unpaired=True, samples=100)
    assert other.sizes["variance"][0] == one(other.measures, measure="AP")["within_variance"]
    assert other.sizes["t_test"][0] > one(result.sizes, measure="AP", difference=0.05)["t_test"]


def test_means_of_the_mixed_model(result: Design) -> None:
    rows = result.mixed.filter(measure="AP")
    scores = evaluate(*sampled(), "AP")
    for row in rows.to_dicts():
        assert row["mean"] == pytest.approx(scores.mean("AP", run=row["run"]))
        assert row["low"] < row["mean"] < row["high"]
    assert rows["mean"].is_sorted(descending=True)
    parts = result.variances.filter(measure="AP")
    topics, residual, icc = parts["value"].to_list()
    assert icc == pytest.approx(topics / (topics + residual))
    assert rows["standard_error"][0] ** 2 == pytest.approx((topics + residual) / 25)


def test_curves_of_levels(result: Design) -> None:
    for measure in MEASURES:
        curve = result.asl.filter(measure=measure)
        assert curve["place"].to_list() == list(range(1, 16))
        assert curve["p"].is_sorted(descending=True)
        assert len({frozenset(pair) for pair in curve.select("one", "two").rows()}) == 15
    picture = plot.asl(*sampled(), measures="AP")
    points = [row for each in picture["layer"] for row in each["data"]["values"] if "order" in row]
    expected = exaequo.design(*sampled(), "AP").asl.select("place", "p").rows()
    assert [(row["place"], row["p"]) for row in points] == expected


def test_less_is_better() -> None:
    noise, precision = (exaequo.design(*sampled(), measure, samples=100) for measure in ("Noise@10", "P@10"))
    assert noise.mixed["run"].to_list() == precision.mixed["run"].to_list()
    assert noise.mixed["mean"].is_sorted()
    assert noise.asl["p"].to_list() == pytest.approx(precision.asl["p"].to_list())


def test_equal_runs() -> None:
    found = exaequo.design(sampled().qrels, {"a": sampled().runs[0], "b": sampled().runs[0]}, "AP", samples=100)
    assert found.summary[2:] == ["the runs differ alike on every topic on AP, so its sizes say nothing"]
    row = one(found.measures)
    assert (row["told_apart_percent"], row["topics_for_half"]) == (0, None)
    assert np.isnan(row["f"])
    assert np.isnan(row["friedman_p"])
    assert found.asl["p"].to_list() == [1.0]
    assert found.sizes["t_test"].to_list() == [2]


def test_what_is_no_share_has_no_difference_of_a_share() -> None:
    found = exaequo.design(*sampled(), "AP DCG@10", samples=100).summary
    assert "DCG@10" in found[2]  # pairs told apart are pairs on any scale
    assert found[4] == "AP shows a difference of 0.05 between two with 28 topics"


def test_scores_of_a_program(result: Design) -> None:
    again = design_scores(evaluate(*sampled(), list(MEASURES)), result.aims)
    for name, table in result.tables.items():
        assert again.tables[name].equals(table)


def test_command(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["design", *files, "-m", "AP", "-m", "nDCG@10", "--samples", "500"]) == 0
    text = capfd.readouterr().out
    assert text.startswith("6 runs, 25 topics, realistic ties, randomised Tukey HSD, 500 samples, seed 0\n")
    assert max(map(len, text.splitlines())) <= 105
    assert "AP shows a difference of 0.05 between two with 28 topics, nDCG@10 100\n" in text
    assert run(["design", *files, "-m", "AP", "--json", "--samples", "500", "--difference", "0.1"]) == 0
    content = json.loads(capfd.readouterr().out)
    names = {"measures", "sizes", "anova", "variances", "mixed", "asl"}
    assert names | {"options", "warnings", "format"} == set(content)
    assert content["sizes"][0]["difference"] == 0.1
    for name in sorted(names):
        assert run(["design", *files, "-m", "AP", "--samples", "100", "--table", name, "--format", "csv"]) == 0
        assert capfd.readouterr().out.startswith("measure,")


def test_the_docs_show_what_is_printed(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parent.parent / "docs" / "designs.md").read_text(encoding="utf-8")
    assert run(["design", *files]) == 0
    assert capfd.readouterr().out in page


def test_command_without_files(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["design", "--variance", "0.25", "--systems", "3", "--difference", "0.5", "--unpaired"]
    assert run([*asked, "--format", "csv"]) == 0
    assert capfd.readouterr().out.splitlines()[1].startswith("0.5,0.25,3,17,21,")
    assert run(asked) == 0
    assert capfd.readouterr().out.startswith("alpha 0.05, power 0.8, each system has topics of its own\n")
    assert run([*asked, "-o", str(tmp_path / "sizes.json"), "--json"]) == 0
    assert json.loads((tmp_path / "sizes.json").read_text())["options"]["unpaired"] is True


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--variance", "0.1"], "--systems"),
        (["--variance", "0.1", "--systems", "3", "qrels", "run"], "takes the place"),
        (["--variance", "0.1", "--systems", "3", "--table", "asl"], "sizes alone"),
        (["--variance", "-1", "--systems", "3"], "variance must be"),
        (["--variance", "1", "--systems", "3", "-m", "AP"], "--measure says how runs are evaluated"),
        (["--variance", "1", "--systems", "3", "--depth", "5"], "--depth says"),
        (["--variance", "1", "--systems", "3", "--ties", "realistic"], "--ties says"),
        (["--variance", "1", "--systems", "3", "--samples", "500"], "--samples says"),
        (["qrels", "run"], "at least two RUNs"),
        ([], "at least two RUNs"),
        (["--difference", "0"], "difference must be"),
        (["--alpha", "2"], "alpha"),
        (["--power", "1"], "power"),
        (["a", "b", "c", "--format", "csv"], "--table"),
        (["--systems", "1"], "systems"),
    ],
)
def test_bad_requests(words: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["design", *words]) == 2
    assert message in capfd.readouterr().err


def test_bad_calls() -> None:
    with pytest.raises(BadParameter, match="No difference"):
        exaequo.design(*sampled(), differences=())
    with pytest.raises(BadParameter, match="systems"):
        exaequo.design(*sampled(), systems=1)
    with pytest.raises(BadParameter, match="samples"):
        exaequo.design(*sampled(), samples=10)
    with pytest.raises(BadParameter, match="design with AP"):
        exaequo.design(*sampled(), "gm(AP)")
    with pytest.raises(BadParameter, match="two runs"):
        exaequo.design(sampled().qrels, sampled().runs[:1])
    with pytest.raises(TypeError, match="unexpected keyword"):
        exaequo.design(*sampled(), depht=3)  # type: ignore[call-arg]
