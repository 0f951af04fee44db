"""Plots: golden specifications of every kind on the sample data, numbers that are those of eval, and every format."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo import BadParameter, plot
from exaequo.cli import run as command
from exaequo.plot.chart import Canvas, Chart
from exaequo.plot.marks import apart, beside_points, short_names
from helpers import evaluate

QRELS, RUNS = exaequo.sample()
BY_NAME = {run.name: run for run in RUNS}
ALL = list(RUNS)
GOLDEN = Path(__file__).parent / "golden"
#: Decisions that come one after the other; nothing is relevant for the second theme.
STREAM = pl.DataFrame(
    [
        (theme, f"d{time}", time, truth, score)
        for theme, lines in (("a", ((1, 0.9), (0, 0.8), (1, 0.2), (1, 0.7))), ("b", ((0, 0.9), (0, 0.1))))
        for time, (truth, score) in enumerate(lines)
    ],
    schema=["theme", "docno", "time", "y_true", "y_score"],
    orient="row",
)
TWO_STREAMS = {"one": STREAM, "two": STREAM.with_columns(y_score=1 - pl.col("y_score"))}
#: Each kind with all runs, unless it is listed; made again by deleting the file and running the tests.
PICTURES: dict[str, Callable[[], Chart]] = {name: partial(draw, QRELS, ALL) for name, draw in plot.KINDS.items()} | {
    "curve": lambda: plot.curve(QRELS, ALL, f_lines=True),
    "curve-topic": lambda: plot.curve(QRELS, [BY_NAME["bm25"], BY_NAME["hybrid"]], topic="401"),
    "curve-one": lambda: plot.curve(QRELS, [BY_NAME["hybrid"]], dark=True),
    "recall": lambda: plot.recall(QRELS, [BY_NAME["bm25"]], topic="402", cutoff=50),
    "recall-rnorm": lambda: plot.recall(QRELS, [BY_NAME["bm25"]], topic="402", measure="RNorm(docs=200)"),
    "recall-mor": lambda: plot.recall(QRELS, [BY_NAME["bm25"]], topic="402", measure="MOR@50"),
    "recall-two": lambda: plot.recall(QRELS, [BY_NAME["bm25"], BY_NAME["hybrid"]], topic="402", cutoff=50),
    "single": plot.single,
    "tie-groups": lambda: plot.tie_groups(QRELS, [BY_NAME["llm-judge"]]),
    "topics": lambda: plot.topics(QRELS, [BY_NAME["bm25"], BY_NAME["llm-judge"]]),
    "scatter": lambda: plot.scatter(QRELS, [BY_NAME["bm25"], BY_NAME["hybrid"]], size="slide"),
    "threshold": lambda: plot.threshold(QRELS, [BY_NAME["hybrid"]]),
    "threshold-two": lambda: plot.threshold(QRELS, [BY_NAME["bm25"], BY_NAME["boolean"]]),
    "filters": lambda: plot.filters(QRELS, [BY_NAME["bm25"], BY_NAME["boolean"]], threshold=5.0),
    "stream": lambda: plot.stream(STREAM),
    "stream-two": lambda: plot.stream(TWO_STREAMS, measure="T9P(target=3)", window=2),
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


def test_no_picture_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(PICTURES)


def layer(chart: Chart, field: str) -> list[dict[str, Any]]:
    """The data of the first layer that has this field."""
    layers = chart.get("layer", [chart])
    data: list[dict[str, Any]] = next(each["data"]["values"] for each in layers if field in each["data"]["values"][0])
    return data


def test_the_numbers_are_those_of_eval() -> None:
    scores = evaluate(QRELS, ALL, "AP", ties=["realistic", "conventional", "optimistic", "expected"])
    for point in layer(PICTURES["ties"](), "strategy"):
        strategies = [point["strategy"]] if point["strategy"] != "all (nearly) alike" else scores.ties
        for ties in strategies:
            assert point["value"] == pytest.approx(scores.mean("AP", run=point["run"], ties=ties), abs=1e-12)
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
        (lambda: plot.recall(QRELS, ALL, measure="MOR"), "give one"),
        (lambda: plot.recall(QRELS, ALL, measure="AP"), "shows PRES, RNorm, MOR"),
        (lambda: plot.recall(QRELS, ALL, measure="RNorm(docs=3)"), "size of the collection"),
        (lambda: plot.measures(QRELS, [RUNS[0]]), "two runs or more"),
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
    rows = layer(plot.topics(QRELS, [BY_NAME["bm25"], BY_NAME["hybrid"]], measure="Noise@10"), "gap")
    signs = {-1: "hybrid better", 1: "bm25 better", 0: "equal"}
    assert all(row["sign"] == signs[(row["gap"] > 0) - (row["gap"] < 0)] for row in rows)
    title = plot.topics(QRELS, [BY_NAME["bm25"], BY_NAME["hybrid"]], one="hybrid")["title"]["text"]
    assert title == "bm25 against hybrid"
    with pytest.raises(BadParameter, match="with itself"):
        plot.topics(QRELS, ALL, one="bm25", other="bm25")
    assert plot.at_k(QRELS, ALL, measure="P@5")["title"]["text"] == "P against the cutoff"
    low = plot.scatter(QRELS, ALL, measure="WSS@0.95")["layer"][1]["encoding"]["x"]["scale"]["domain"][0]
    assert low < 0


def area(rows: list[dict[str, Any]]) -> float:
    """The area between two staircases."""
    return float(sum((a["high"] - a["low"]) * (b["rank"] - a["rank"]) for a, b in pairwise(rows)))


@given(
    ranks=st.sets(st.integers(1, 30), min_size=0, max_size=8),
    more=st.integers(0, 3),
    cutoff=st.integers(1, 40),
    docs=st.integers(40, 60),
)
@settings(max_examples=60, deadline=None)
def test_areas_are_the_measures(ranks: set[int], more: int, cutoff: int, docs: int) -> None:
    """PRES and RNorm are the share of the area between best and worst case under the line, as drawn."""
    names = {rank: f"r{rank}" for rank in ranks} | {0 - at: f"m{at}" for at in range(1, more + 1)}
    if not names:
        return
    qrels = {"1": dict.fromkeys(names.values(), 1)}
    run = {"1": {names.get(rank, f"d{rank}"): -float(rank) for rank in range(1, 31)}}
    for measure in (f"PRES@{cutoff}", f"RNorm(docs={docs})"):
        picture = plot.recall(qrels, {"x": run}, measure=measure)
        lost, won = (area(each["data"]["values"]) for each in picture["layer"] if each["mark"]["type"] == "area")
        value = evaluate(qrels, {"x": run}, measure).mean(measure, run="x")
        assert won / (lost + won) == pytest.approx(value, abs=1e-9)
        assert f"= {value:.4f}" in picture["title"]["subtitle"]


def test_height_and_width() -> None:
    """Systems 2 and 4 of the paper: h, w and the cases of lists with the same h and w."""
    for ranks, figures in (
        ([50, 51, 53, 54], "h = 4 of n = 4, w = 54, AP 0.0475 between AP0 0.0472 (dotted) and AP1 0.7685 (dashed)"),
        ([1, 54], "h = 2 of n = 4, w = 54, AP 0.2593 between AP0 0.0140 (dotted) and AP1 0.2593 (dashed)"),
    ):
        names = {rank: f"r{rank}" for rank in ranks}
        qrels = {"1": dict.fromkeys([*names.values(), *(f"m{at}" for at in range(4 - len(ranks)))], 1)}
        run = {"1": {names.get(rank, f"d{rank}"): -float(rank) for rank in range(1, 101)}}
        picture = plot.recall(qrels, {"x": run}, measure="MOR@100", size="slide")
        said = picture["title"]["subtitle"]
        assert figures in (said if isinstance(said, str) else " ".join(said))
        between = next(each for each in picture["layer"] if each["mark"]["type"] == "area")["data"]["values"]
        assert all(row["low"] <= row["high"] for row in between)
        assert {"rank": 54, "low": len(ranks), "high": len(ranks)} in between
    nothing = plot.recall({"1": {"a": 1}}, {"x": {"1": {"b": 1.0}}}, measure="MOR@10")
    assert "nothing relevant in the first 10" in nothing["title"]["subtitle"]


def test_names_that_are_long_stay_different() -> None:
    long = [f"a-long-name-of-an-organisation-and-{at:02}-bm25-with-everything-on-top" for at in range(20)]
    shown = short_names(long)
    assert len(set(shown.values())) == 20
    assert shown[long[7]] == "a-long…07…on-top"
    assert short_names(["bm25", "x" * 50]) == {"bm25": "bm25", "x" * 50: f"{'x' * 16}…{'x' * 15}"}
    assert short_names(["short", "names"]) == {"short": "short", "names": "names"}


@given(st.lists(st.tuples(st.floats(0, 320), st.floats(0, 220)), min_size=1, max_size=6, unique=True))
@settings(max_examples=60, deadline=None)
def test_names_beside_points_do_not_cover_each_other(points: list[tuple[float, float]]) -> None:
    canvas = Canvas.of({"size": "column"})
    labels = [("401", [point]) for point in points]
    boxes = []
    for _, x, y, align, _ in beside_points(labels, points, canvas):
        left = {"left": x, "right": x - canvas.span("401"), "center": x - canvas.span("401") / 2}[align]
        boxes.append((left, y - canvas.font / 2, left + canvas.span("401"), y + canvas.font / 2))
    for at, one in enumerate(boxes):
        for two in boxes[:at]:
            assert one[0] >= two[2] or one[2] <= two[0] or one[1] >= two[3] or one[3] <= two[1]


def text_boxes(svg: str) -> list[tuple[str, float, float, float, float]]:
    """The upright texts of a picture with the places they take."""
    boxes = []
    shift = re.search(r'viewBox="[^"]*"><rect[^>]*><g[^>]*transform="translate\(([-\d.]+),([-\d.]+)\)"', svg)
    assert shift
    for element in re.findall(r"<text ([^>]*)>([^<]*)</text>", svg):
        attributes, text = element
        place = re.search(r'translate\(([-\d.]+),([-\d.]+)\)"', attributes)
        size = re.search(r'font-size="([\d.]+)px"', attributes)
        if not text or place is None or size is None:
            continue
        width, height = 0.55 * float(size[1]) * len(text), float(size[1])
        anchor = re.search(r'text-anchor="(\w+)"', attributes)
        left = float(place[1]) - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor[1] if anchor else "start"] * width
        boxes.append((text, left, float(place[2]) - 0.8 * height, left + width, float(place[2]) + 0.1 * height))
    return boxes


def test_many_lines_have_names_that_do_not_cover_each_other() -> None:
    topics = QRELS.frame["qid"].unique(maintain_order=True).to_list()
    frame = BY_NAME["bm25"].frame
    base = {
        topic: dict(frame.filter(frame["qid"] == topic).select("docno", "sim").head(30).iter_rows()) for topic in topics
    }
    for count in (10, 20):
        runs = {f"copy-{at}": base for at in range(count)}  # all alike: all lines end at one place
        for picture in (plot.curve(QRELS, runs), plot.curve(QRELS, runs, topic="401"), plot.at_k(QRELS, runs)):
            names = [box for box in text_boxes(picture.drawn("svg").decode()) if box[0].startswith("copy-")]
            assert len(names) == (10 if count == 10 else 8)
            tops = sorted(box[2] for box in names)
            assert all(after - before >= 11 for before, after in pairwise(tops))
        if count == 20:
            assert "the best 8 of 20 are named" in str(plot.curve(QRELS, runs)["title"]["subtitle"])


def test_nothing_to_draw_is_said() -> None:
    nowhere = "PDoc(doc='nowhere')"
    for draw in (plot.ties, plot.topics, plot.scatter):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exaequo.DataWarning)
            with pytest.raises(BadParameter, match="no value on any topic"):
                draw(QRELS, ALL, measure=nowhere)


def test_what_is_missing_is_said() -> None:
    with pytest.warns(exaequo.DataWarning, match="24 of 25 evaluated topics missing"):
        plot.curve(QRELS, {"x": {"401": {"d": 1.0}}})


def test_intervals_stay_where_values_can_be() -> None:
    qrels = {str(topic): {"a": 1} for topic in range(4)}
    runs = {
        "x": {str(t): {"a": 1.0} if t else {"b": 1.0} for t in range(4)},
        "y": {str(t): {"a": 2.0} for t in range(4)},
    }
    for row in layer(plot.systems(qrels, runs, measure="RR"), "low"):
        assert 0 <= row["low"] <= row["mean"] <= row["high"] <= 1


def test_levels_of_relevance_reach_every_kind() -> None:
    strict = plot.ties(QRELS, ALL, rel_level=2)
    scores = evaluate(QRELS, ALL, "AP", rel_level=2)
    for point in layer(strict, "strategy"):
        if point["strategy"] == "realistic":
            assert point["value"] == scores.mean("AP", run=point["run"])
    assert plot.curve(QRELS, ALL, rel_level=2) != plot.curve(QRELS, ALL)
    assert plot.threshold(QRELS, [RUNS[0]], rel_level=2) != plot.threshold(QRELS, [RUNS[0]])


def test_topics_beyond_those_with_names() -> None:
    qrels = {str(topic): {"a": 1, "b": 1} for topic in range(80)}
    one = {str(topic): {"a": 2.0, "b": 1.0} for topic in range(80)}
    two = {str(topic): {"a": 2.0, **{f"x{at}": 1.5 for at in range(topic % 9)}, "b": 1.0} for topic in range(80)}
    picture = plot.topics(qrels, {"one": one, "two": two})
    assert picture["layer"][0]["encoding"]["x"]["axis"]["labels"] is False
    said = " ".join(picture["title"]["subtitle"])
    assert "lowest: " in said
    assert said.count("−") == 5


def ticks(chart: Chart, channel: str = "x") -> list[float]:
    found: list[float] = next(
        each["encoding"][channel]["axis"]["values"]
        for each in chart["layer"]
        if "axis" in each["encoding"].get(channel, {})
    )
    return found


def test_ranks_are_whole_numbers() -> None:
    assert ticks(plot.single(cutoff=1)) == [1, 2]
    assert ticks(plot.at_k(QRELS, ALL, ranks=3)) == [1, 2, 3]
    assert ticks(plot.at_k(QRELS, ALL, ranks=1)) == [1, 2]
    assert ticks(plot.tie_groups(QRELS, [BY_NAME["llm-judge"]], ranks=5)) == [1, 2, 3, 4, 5]
    assert ticks(plot.recall(QRELS, [RUNS[0]], measure="MOR@2")) == [0, 1, 2]


def test_an_axis_of_equal_values_is_true() -> None:
    """A single value stands inside its axis, whose ticks have the digits to say so."""
    for draw in (plot.ties, plot.systems):
        runs = [BY_NAME["hybrid"]] if draw is plot.ties else {"x": BY_NAME["hybrid"], "y": BY_NAME["hybrid"]}
        svg = draw(QRELS, runs).drawn("svg").decode()
        labels = [float(text) for text in re.findall(r"<text [^>]*>(0\.\d+)</text>", svg)]
        assert min(labels) < 0.6603 < max(labels)


def test_thresholds_are_those_of_the_filter() -> None:
    """What is drawn at a threshold is what the filter says there, also if not every threshold is drawn."""
    from exaequo.filtering import read_filter

    run = BY_NAME["hybrid"]
    rows = layer(plot.threshold(QRELS, [run]), "threshold")
    one = read_filter(QRELS, run)
    cuts = sorted({row["threshold"] for row in rows})
    assert len(cuts) < len(set(one.score.tolist()))
    for row in rows[:: len(rows) // 50]:
        tables = one.at(row["threshold"])
        figures = {"precision": tables.precision, "recall": tables.recall, "F": tables.f()}
        if row["run"] in figures:
            assert row["value"] == pytest.approx(figures[row["run"]].mean(), abs=1e-12)
    near = 0.61  # far up, where there are few scores: the line between two thresholds is close to the truth
    below, above = max(cut for cut in cuts if cut <= near), min(cut for cut in cuts if cut >= near)
    recalls = {row["threshold"]: row["value"] for row in rows if row["run"] == "recall"}
    assert recalls[above] - 1e-9 <= one.at(near).recall.mean() <= recalls[below] + 1e-9
    assert recalls[below] - recalls[above] < 0.01
    few = plot.threshold({"1": {"a": 1, "b": 0}}, {"mine": {"1": {"a": 2.0, "b": 1.0}}})
    assert [row["value"] for row in layer(few, "threshold") if row["run"] == "precision"] == [0.5, 1.0]


def test_pictures_of_tables_are_those_of_the_filter(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The lines are the figures of `filter`: over time, at thresholds, and at levels of recall, named with their F."""
    table = tmp_path / "t.csv"
    STREAM.write_csv(table)
    assert command(["filter", str(table), "--stream", "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    drawn = layer(plot.stream(table), "documents")
    for name in ("precision", "recall", "F"):
        points = [(row["documents"], row["value"]) for row in drawn if row["run"] == name]
        assert points == [(row["documents"], pytest.approx(row[name])) for row in rows if row[name] is not None]
    assert command(["filter", str(table), "--curve", "interpolated", "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    curve = layer(plot.filters({"one": table, "two": table}), "recall")
    assert {row["run"] for row in curve} == {"one (F 0.667)", "two (F 0.667)"}
    assert [row["precision"] for row in curve[:11]] == pytest.approx([row["precision"] for row in rows])
    lines = layer(plot.threshold(table, measure="SelP"), "threshold")
    assert [row["value"] for row in lines] == pytest.approx([0.375, 0.375, 1 / 3, 0.25, 0.5])
    for kind in ("threshold", "filters", "stream"):
        assert command(["plot", kind, str(table), str(table), "-o", str(tmp_path / "x.svg")]) == 0
    assert command(["plot", "curve", str(table), "-o", str(tmp_path / "x.svg")]) == 2
    with pytest.raises(BadParameter, match="not a measure of a selection"):
        plot.threshold(table, measure="AP")
    with pytest.raises(BadParameter, match="Nothing is relevant"):
        plot.filters(table, topic="b")


def test_options_are_known() -> None:
    wrong: list[tuple[Callable[..., Chart], dict[str, Any]]] = [
        (plot.topics, {"measur": "RR"}),
        (plot.curve, {"sise": "slide"}),
        (plot.single, {"rel_level": 3}),
    ]
    for draw, options in wrong:
        arguments = () if draw is plot.single else (QRELS, ALL)
        with pytest.raises(BadParameter, match="has no option"):
            draw(*arguments, **options)
    for name, options in (("recall", {"measure": "PRES@50", "cutoff": 5}), ("at-k", {"measure": "gm(AP)"})):
        with pytest.raises(BadParameter):
            plot.KINDS[name](QRELS, ALL[:1], **options)
    for name, options in (("tie-groups", {"ranks": 0}), ("at-k", {"ranks": 0}), ("topics", {"measure": "gm(AP)"})):
        with pytest.raises(BadParameter):
            plot.KINDS[name](QRELS, ALL, **options)
    with pytest.raises(BadParameter, match="≥ 1"):
        plot.single(cutoff=0)
    with pytest.raises(BadParameter, match="beta must be"):
        plot.threshold(QRELS, [RUNS[0]], beta=-1)


def test_agreement_that_is_not_defined() -> None:
    rows = plot.measures(QRELS, ALL, measures=["AP", "NumRet"])["layer"][1]["data"]["values"]
    assert {(row["one"], row["two"]): row["text"] for row in rows}["NumRet", "NumRet"] == "–"
    assert "all runs have the same value" in str(plot.measures(QRELS, ALL, measures=["AP", "NumRet"])["title"])


def test_a_notebook_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    shown = plot.single()._repr_mimebundle_()
    assert list(shown) == ["application/vnd.vegalite.v5+json", "text/plain"]


def test_what_counts_as_relevant_is_said() -> None:
    assert "relevant: grade ≥ 2" in str(plot.curve(QRELS, ALL, rel_level=2)["title"]["subtitle"])
    assert "relevant" not in str(plot.curve(QRELS, ALL)["title"]["subtitle"])


def test_pictures_of_one_size_are_about_as_wide() -> None:
    """A column of a paper is 240 points; whatever stands beside the frame is inside that width."""
    for name, draw in PICTURES.items():
        if name.startswith(("measures", "scatter")):
            continue
        spec = draw()
        width = float(re.findall(r'<svg [^>]*width="([\d.]+)"', spec.drawn("svg").decode())[0])
        total = 250 if name == "systems" else 640
        assert 0.75 * total < width < 1.12 * total, (name, width)


def test_many_topics_behind_a_mean_are_bands() -> None:
    qrels = {str(topic): {"a": 1, "b": topic % 2} for topic in range(150)}
    run = {str(topic): {"x": 1.5 + topic % 3, "a": 2.0, "b": 1.0} for topic in range(150)}
    picture = plot.curve(qrels, {"x": run})
    assert sum(each["mark"]["type"] == "area" for each in picture["layer"]) == 2
    assert "80 %" in str(picture["title"]["subtitle"])


def test_sums_and_the_way_of_a_measure_are_said() -> None:
    x = plot.ties(QRELS, ALL, measure="NumQ")["layer"][1]["encoding"]["x"]
    assert x["title"] == "NumQ, sum over topics"
    assert x["scale"]["domain"][0] < 25 < x["scale"]["domain"][1]
    for picture in (plot.systems(QRELS, ALL, measure="Silence@10"), plot.at_k(QRELS, ALL, measure="Silence")):
        assert "less is better" in json.dumps(picture)
    with pytest.raises(BadParameter, match="IPrec takes no cutoff"):
        plot.at_k(QRELS, ALL, measure="IPrec")


def test_thresholds_of_scores_that_are_far_apart() -> None:
    qrels = {"1": {f"d{at}": at % 2 for at in range(100)}}
    for low, scale in ((1.0, "log"), (-1.0, "symlog")):
        run = {"1": {f"d{at}": low + at / 100 if at < 99 else 1e9 for at in range(100)}}
        picture = plot.threshold(qrels, {"x": run})
        assert picture["layer"][0]["encoding"]["x"]["scale"]["type"] == scale
        assert picture.drawn("svg").startswith(b"<svg")
    assert "type" not in plot.threshold(QRELS, [RUNS[0]])["layer"][0]["encoding"]["x"]["scale"]


def test_many_runs_have_rows_for_the_best() -> None:
    qrels: dict[str, dict[str, int]] = {str(topic): {"a": 1} for topic in range(3)}
    runs = {
        f"r{at:02}": {str(t): {**{f"x{k}": 2.0 for k in range(at)}, "a": 1.0} for t in range(3)} for at in range(45)
    }
    for picture in (plot.ties(qrels, runs, measure="RR"), plot.systems(qrels, runs, measure="RR")):
        names = {row["run"] for each in picture["layer"] for row in each["data"]["values"]}
        assert len(names) == 40 and "r00" in names and "r44" not in names
        assert "the best 40 of 45 runs" in str(picture["title"]["subtitle"])


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_control_characters_in_names_are_drawn_as_pictures(kind: str) -> None:
    """A raw one ended the whole process, or made an SVG that is no XML."""
    qrels = {topic: {"a": 1} for topic in ("1", "t\x1b[31m", "\x00\x9b")}
    run = {topic: {"a": 1.0, "b": 1.0} for topic in qrels}
    for chart in (
        plot.scatter(qrels, {"A\x1b[31m": run, "B\x07\x85": run}),
        plot.tie_groups(qrels, {"A\x1b[31m": run}),
        plot.ties(qrels, {"A\x00": run}),
    ):
        drawn = chart.drawn(kind)
        if kind == "svg":
            ElementTree.fromstring(drawn)  # noqa: S314 - our own
            assert not re.search(rb"[\x00-\x08\x0b-\x1f]", drawn)


def test_of_many_runs_the_widest_intervals_are_drawn_too() -> None:
    qrels = {str(topic): {"a": 1} for topic in range(3)}
    runs = {
        f"r{at:02}": {str(t): {**{f"x{k}": 2.0 for k in range(at)}, "a": 2.0 if at == 44 else 1.0} for t in range(3)}
        for at in range(45)
    }
    picture = plot.ties(qrels, runs, measure="RR")
    names = {row["run"] for each in picture["layer"] for row in each["data"]["values"]}
    assert names == {f"r{at:02}" for at in (*range(39), 44)}
    assert "the best 39 of 45 runs; and the 1 of the others" in " ".join(picture["title"]["subtitle"])


def test_the_best_against_the_second_and_the_topic_that_differs_most() -> None:
    scores = evaluate(QRELS, ALL, "AP")
    first, second, third = sorted(scores.runs, key=lambda run: -scores.mean("AP", run=run))[:3]
    for picture in (plot.topics(QRELS, ALL), plot.scatter(QRELS, ALL)):
        assert picture["title"]["text"] == f"{first} against {second}"
        assert "the best of 6 runs against the second" in str(picture["title"]["subtitle"])
    named = plot.topics(QRELS, ALL, one=first)
    assert named["title"]["text"] == f"{second} against {first}"
    assert f"{second} is the best of the others" in str(named["title"]["subtitle"])
    both = plot.topics(QRELS, ALL, one=third, other=first)
    assert (both["title"]["text"], "best" in str(both["title"]["subtitle"])) == (f"{first} against {third}", False)
    pres = evaluate(QRELS, ALL, "PRES@100").matrix("PRES@100")
    topic = pres.topics[int(np.ptp(pres.values, axis=0).argmax())]
    picture = plot.recall(QRELS, ALL)
    assert picture["title"]["text"].endswith(f"topic {topic}")
    assert "the topic on which they differ most" in " ".join(picture["title"]["subtitle"])


def test_rows_without_a_label_are_said() -> None:
    qrels = {str(topic): {"a": 1} for topic in range(200)}
    picture = plot.tie_groups(qrels, {"r": {str(topic): {"a": 1.0, "b": 1.0} for topic in range(200)}})
    assert "one row in 3 has its label" in " ".join(picture["title"]["subtitle"])
    assert len(picture["layer"][0]["encoding"]["y"]["axis"]["values"]) == 67
    few = plot.tie_groups(QRELS, ALL)
    assert "label" not in str(few["title"]["subtitle"])


def test_scales_go_as_far_as_the_data() -> None:
    pair = plot.scatter(QRELS, ALL)
    low, high = pair["layer"][0]["encoding"]["x"]["scale"]["domain"]
    values = [row[side] for row in pair["layer"][1]["data"]["values"] for side in ("one", "two")]
    assert low < min(values) and max(values) < high and high - low < 1.1 * (max(values) - min(values))
    tau = plot.measures(QRELS, ALL)["layer"][0]
    least = min(row["tau"] for row in tau["data"]["values"])
    start, end = tau["encoding"]["color"]["scale"]["domain"]
    assert (end, 0 <= least - start < 0.1) == (1, True)


def test_of_many_filters_the_best_are_named() -> None:
    """The better a filter, the fewer documents it selects wrongly; the best come last."""
    qrels = {"1": {"a": 1, "b": 1, "z": 0}}
    runs = {f"r{at:02}": {"1": {"a": 2.0, "b": 1.5, **{f"x{k}": 3.0 for k in range(20 - at)}}} for at in range(20)}
    for picture in (plot.stream(qrels, runs), plot.threshold(qrels, runs)):
        named = {
            row["run"] for each in picture["layer"] if each["mark"]["type"] == "text" for row in each["data"]["values"]
        }
        assert named == {f"r{at:02}" for at in range(12, 20)}
        assert "the best 8 of 20" in str(picture["title"]["subtitle"])


def test_names_of_lines_that_end_together_are_where_they_are_apart() -> None:
    """Names of curves stand inside; with too little room there, dots lead to them from one level of recall."""
    inside = plot.curve(QRELS, ALL)
    names = {row["name"]: row for each in inside["layer"] for row in each["data"]["values"] if "name" in row}
    assert set(names) == {run.name for run in ALL}
    assert all(0 < row["recall"] < 1 for row in names.values())
    narrow = plot.curve(QRELS, ALL, size="column")
    leads = [row for each in narrow["layer"] if each["mark"]["type"] == "rule" for row in each["data"]["values"]]
    assert {row["recall"] for row in leads} == {0.5}


def test_pairs_told_apart_stand_beside_each_measure() -> None:
    result = exaequo.design(QRELS, ALL)
    shown = json.dumps(plot.asl(QRELS, ALL))
    for row in result.measures.to_dicts():
        assert f"{row['measure']} ({round(15 * row['told_apart_percent'] / 100)})" in shown
