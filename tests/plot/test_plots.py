"""Plots: golden specifications of every kind on the sample data, numbers that are those of eval, and every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import exaequo
from exaequo import BadParameter, plot
from exaequo.cli import run as command
from exaequo.plot.chart import Chart, apart
from helpers import evaluate

QRELS, RUNS = exaequo.sample()
BY_NAME = {run.name: run for run in RUNS}
ALL = list(RUNS)
GOLDEN = Path(__file__).parent / "golden"
#: One of each kind; made again by deleting the file and running the tests.
PICTURES: dict[str, Callable[[], Chart]] = {
    "curve": lambda: plot.curve(QRELS, ALL, f_lines=True),
    "curve-topic": lambda: plot.curve(QRELS, [BY_NAME["bm25"], BY_NAME["hybrid"]], topic="401"),
    "curve-one": lambda: plot.curve(QRELS, [BY_NAME["hybrid"]], dark=True),
    "recall": lambda: plot.recall(QRELS, [BY_NAME["bm25"]], topic="402", cutoff=50),
    "single": plot.single,
    "ties": lambda: plot.ties(QRELS, ALL),
    "tie-groups": lambda: plot.tie_groups(QRELS, [BY_NAME["llm-judge"]]),
    "topics": lambda: plot.topics(QRELS, [BY_NAME["bm25"], BY_NAME["llm-judge"]]),
    "scatter": lambda: plot.scatter(QRELS, [BY_NAME["bm25"], BY_NAME["hybrid"]], size="slide"),
    "measures": lambda: plot.measures(QRELS, ALL),
    "at-k": lambda: plot.at_k(QRELS, ALL),
    "threshold": lambda: plot.threshold(QRELS, [BY_NAME["hybrid"]]),
    "systems": lambda: plot.systems(QRELS, ALL, size="column"),
}


def rounded(value: Any) -> Any:
    """Numbers to ten digits: the last ones may differ between machines."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", PICTURES)
def test_golden(name: str) -> None:
    found = rounded(PICTURES[name]())
    path = GOLDEN / f"{name}.json"
    if not path.exists():
        path.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
        pytest.fail(f"{path.name} was not there and has been written; look at the picture, then run the tests again")
    assert found == json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PICTURES)
def test_is_drawn(name: str) -> None:
    svg = PICTURES[name]().drawn("svg").decode()
    assert svg.startswith("<svg")
    assert "NaN" not in svg
    assert "undefined" not in svg


def test_every_kind_is_there() -> None:
    assert set(plot.KINDS) == {name.partition("-topic")[0].partition("-one")[0] for name in PICTURES}


def layer(chart: Chart, field: str) -> list[dict[str, Any]]:
    """The data of the first layer that has this field."""
    layers = chart.get("layer", [chart])
    data: list[dict[str, Any]] = next(each["data"]["values"] for each in layers if field in each["data"]["values"][0])
    return data


def test_the_numbers_are_those_of_eval() -> None:
    scores = evaluate(QRELS, ALL, "AP", ties=["realistic", "conventional", "optimistic", "expected"])
    for point in layer(PICTURES["ties"](), "strategy"):
        assert point["value"] == scores.mean("AP", run=point["run"], ties=point["strategy"])
    levels = evaluate(QRELS, ALL, "IPrec@0.3")
    for point in layer(PICTURES["curve"](), "order"):
        if point["recall"] == 0.3:
            assert point["precision"] == pytest.approx(levels.mean("IPrec@0.3", run=point["run"]))
    for point in layer(PICTURES["at-k"](), "k"):
        if point["k"] == 10:
            assert point["value"] == pytest.approx(evaluate(QRELS, ALL, "nDCG@10").mean("nDCG@10", run=point["run"]))


def test_one_relevant_document() -> None:
    """The figure of the paper on MOR: all are 1 at rank 1; beyond the cutoff only RR is above 0."""
    values = {(each["run"], each["rank"]): each["value"] for each in layer(plot.single(cutoff=10), "rank")}
    assert values["MOR@10", 1] == values["PRES@10", 1] == values["RR", 1] == 1
    assert values["PRES@10", 10] == pytest.approx(0.1)
    assert values["MOR@10", 11] == values["PRES@10", 11] == 0 < values["RR", 11]


def test_labels_are_moved_apart() -> None:
    assert apart([0.5, 0.5, 0.5], 0.1, 0, 1) == pytest.approx([0.5, 0.6, 0.7])
    assert apart([0.99, 1.0], 0.1, 0, 1) == pytest.approx([0.9, 1.0])
    assert apart([0.2, 0.9], 0.1, 0, 1) == [0.2, 0.9]


def test_every_format(tmp_path: Path) -> None:
    chart = PICTURES["ties"]()
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "json": b"{", "html": b"<!DOCTYPE html>"}
    for kind, start in starts.items():
        chart.save(tmp_path / f"x.{kind}")
        assert (tmp_path / f"x.{kind}").read_bytes().lstrip().startswith(start), kind
    assert b"cdn" not in (tmp_path / "x.svg").read_bytes()
    with pytest.raises(BadParameter, match="A picture is one of"):
        chart.save(tmp_path / "x.gif")
    assert "image/svg+xml" in chart._repr_mimebundle_()


def test_requests_that_cannot_be() -> None:
    wrong: list[tuple[Callable[[], Chart], str]] = [
        (lambda: plot.curve(QRELS, ALL, topic="999"), "no evaluated topic"),
        (lambda: plot.topics(QRELS, [RUNS[0]]), "give two"),
        (lambda: plot.topics(QRELS, ALL, one="bm26"), "did you mean 'bm25'"),
        (lambda: plot.recall(QRELS, ALL), "give one"),
        (lambda: plot.ties(QRELS, ALL, size="huge"), "size must be"),
    ]
    for draw, message in wrong:
        with pytest.raises(BadParameter, match=message):
            draw()


def test_names_are_text() -> None:
    bad = "<script>alert(1)</script>"
    run = {topic: {"d": 1.0} for topic in QRELS.frame["qid"].unique().to_list()}
    svg = plot.systems(QRELS, {bad: run, "y": BY_NAME["bm25"]}).drawn("svg").decode()
    assert "<script" not in svg


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    exaequo.sample().save(tmp_path)
    monkeypatch.chdir(tmp_path)
    runs = ["runs/bm25.txt", "runs/hybrid.txt"]
    assert command(["plot", "topics", "qrels.txt", *runs, "-m", "nDCG@10", "-o", "x.svg"]) == 0
    assert Path("x.svg").exists()
    assert command(["plot", "single", "-o", "y.json", "--cutoff", "5"]) == 0
    assert command(["plot", "measures", "qrels.txt", *runs, "-m", "AP", "-m", "RR", "-o", "z.png", "--dark"]) == 0
    capfd.readouterr()
    assert command(["plot", "ties", "qrels.txt", *runs, "--topic", "401", "-o", "x.svg"]) == 2
    assert "'ties' has no option --topic" in capfd.readouterr().err
    assert command(["plot", "ties", "qrels.txt", "-o", "x.svg"]) == 2
    assert command(["plot", "ties", "qrels.txt", *runs, "-o", "x.bmp"]) == 2


def test_less_is_better_and_one_named_run() -> None:
    rows = plot.topics(QRELS, [BY_NAME["bm25"], BY_NAME["hybrid"]], measure="Noise@10")["data"]["values"]
    assert all(row["sign"] == ("hybrid" if row["gap"] < 0 else "bm25" if row["gap"] > 0 else "equal") for row in rows)
    title = plot.topics(QRELS, [BY_NAME["bm25"], BY_NAME["hybrid"]], one="hybrid")["title"]["text"]
    assert title == "bm25 against hybrid"
    with pytest.raises(BadParameter, match="with itself"):
        plot.topics(QRELS, ALL, one="bm25", other="bm25")
    assert plot.at_k(QRELS, ALL, measure="P@5")["title"]["text"] == "P against the cutoff"
    low = plot.scatter(QRELS, ALL, measure="WSS@0.95")["layer"][1]["encoding"]["x"]["scale"]["domain"][0]
    assert low < 0
