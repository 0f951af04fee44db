"""Explanations agree with evaluations, their steps with their values, and both languages say the same things."""

from __future__ import annotations

import json
import math
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo import BadParameter
from exaequo.cli import run as command
from exaequo.explanation import LANGUAGES, Explanation, explain, sentences
from exaequo.explanation.steps import EXPLAINERS, Step
from exaequo.measures import Measure, catalogue
from helpers import Grades, Sims, collections, instances, values

ALL = instances()
#: What the last step of an explanation says, as a number.
RESULTS: dict[str, Callable[[dict[str, Any]], float]] = {
    "sum": lambda n: n["total"],
    "scaled": lambda n: n["scale"] * n["total"],
    "scaled with offset": lambda n: n["offset"] + n["scale"] * n["total"],
    "over n": lambda n: n["total"] / n["n"] if n["n"] else 0.0,
    "first relevant": lambda n: 1 / n["rank"],
    "none relevant": lambda _: 0.0,
    "found in first": lambda n: float(n["found"] > 0),
    "at level": lambda n: n["best"],
    "eleven": lambda n: n["total"] / 11,
    "search length": lambda n: n["wanted"] / (n["wanted"] + n["read"]),
    "not reached": lambda _: 0.0,
    "pres": lambda n: 1 - (n["total"] / n["n"] - n["best"]) / n["cutoff"] if n["n"] else 0.0,
    "mor": lambda n: (n["h"] + n["g_h"]) / (n["best"] + 1),
    "fap": lambda n: n["f"],
    "at document": lambda n: n["found"] / n["rank"],
    "per document": lambda n: n["found"] / n["stop"],
    "ideal": lambda n: n["total"],
}


@settings(max_examples=60)
@given(collections(), st.sets(st.sampled_from(ALL), min_size=12, max_size=12))
def test_the_value_is_that_of_eval_and_the_steps_lead_to_it(
    collection: tuple[Grades, Sims], chosen: set[Measure]
) -> None:
    qrels, run = collection
    for measure in chosen:
        for topic, value in values(qrels, run, measure, ties="conventional").items():
            found = explain(qrels, run, topic, measure, ties="conventional")
            assert found.value == value or (math.isnan(value) and math.isnan(found.value)), measure
            check(found)


def check(found: Explanation) -> None:
    for lang in LANGUAGES:
        assert found.text(lang)
    json.dumps(found.as_dict(), allow_nan=False)
    last = found.steps[-1] if found.steps else Step("")
    if last.key in RESULTS and not math.isnan(found.value):
        assert RESULTS[last.key](last.numbers) == pytest.approx(found.value, abs=1e-9), (found.measure, last)


def test_every_measure_has_an_explanation() -> None:
    for name, about in catalogue().items():
        assert name in EXPLAINERS or about.linear, name


def test_languages_say_the_same_things() -> None:
    first = sentences(LANGUAGES[0])
    for lang in LANGUAGES[1:]:
        other = sentences(lang)
        for section, entries in first.items():
            assert set(entries) == set(other[section])
            for key, text in entries.items():
                assert fields(text) == fields(other[section][key]), key
    with pytest.raises(BadParameter, match="lang"):
        sentences("xx")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_ap_on_the_board() -> None:
    found = explain({"t": {"a": 1, "c": 1}}, {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}, "t", "AP")
    text = found.text()
    assert "Divided by the number of all relevant documents: 1.66667 / 2" in text
    assert "So AP = 0.8333" in text
    assert found.figure == "0.8333"
    french = found.text("fr")
    assert "Donc AP = 0.8333" in french
    assert "précision" in french


def test_other_strategies_are_there() -> None:
    found = explain({"t": {"z": 1}}, {"t": {"a": 1.0, "z": 1.0}}, "t", "RR")
    assert found.others == {"conventional": 1.0, "optimistic": 1.0, "expected": 0.75}


def test_topics_that_cannot_be_explained() -> None:
    qrels, run = {"t": {"a": 1}, "u": {"a": 0}}, {"t": {"a": 1.0}}
    with pytest.raises(BadParameter, match="no relevant document"):
        explain(qrels, run, "u", "AP")
    with pytest.raises(BadParameter, match="not judged"):
        explain(qrels, run, "v", "AP")


def test_a_measure_of_ones_own() -> None:
    import numpy as np

    from exaequo.measures import registry

    try:
        mine = exaequo.define("Ones", lambda ranking: np.ones(ranking.n_topics))
        text = explain({"t": {"a": 1}}, {"t": {"a": 1.0}}, "t", mine).text()
        assert "nothing more to say" in text
    finally:
        registry._DEFINITIONS.pop("Ones")


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    exaequo.sample().save(tmp_path)
    monkeypatch.chdir(tmp_path)
    base = ["explain", "qrels.txt", "runs/llm-judge.txt", "--topic", "401"]
    assert command([*base, "-m", "AP nDCG@10"]) == 0
    assert "So nDCG@10 = " in capfd.readouterr().out
    assert command([*base, "--lang", "fr", "--format", "markdown"]) == 0
    assert capfd.readouterr().out.startswith("## AP de llm-judge sur le topic 401")
    assert command([*base, "--format", "json", "-m", "MOR@100"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert {"h", "w", "ap0", "ap1", "g_hw", "g_h"} <= set(document["explanations"][0]["steps"][1]["numbers"])
    assert command(["explain", "qrels.txt", "runs/bm25.txt", "--topic", "999"]) == 2
