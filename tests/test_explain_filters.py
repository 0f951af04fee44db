"""A filter on the board: the figures are those of `exaequo filter`, and each is the fraction that is written."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo import BadParameter, explain_filter
from exaequo.cli import run as command
from exaequo.filtering import read_filter
from helpers import Grades, Sims, collections

QRELS = {"t": {"a": 1, "b": 2, "c": 1, "x": 0}, "u": {"a": 0}}
RUN = {"t": {"a": 0.9, "x": 0.6, "b": 0.5, "y": 0.4999999}}


@settings(max_examples=30)
@given(
    collections(),
    st.sampled_from([-2.0, 0.0, 1.0, 2.0, 5000.0]),
    st.sampled_from([0.0, 1.0, 2.5]),
    st.sampled_from([(3.0, -2.0), (2.0, -1.0), (1.0, -1.0, -2.0, 0.5)]),
)
def test_figures_are_those_of_the_filter(
    collection: tuple[Grades, Sims], threshold: float, beta: float, utility: tuple[float, ...]
) -> None:
    qrels, run = collection
    one = read_filter(qrels, run, docs=100)
    tables = one.at(threshold)
    expected = {
        **{name: getattr(tables, name) for name in ("precision", "recall", "fallout", "accuracy")},
        "F": tables.f(beta),
        "utility": tables.utility(*utility),
        "normalised": tables.normalised_utility(*utility),
        "T11SU": tables.scaled_utility(),
    }
    for at, theme in enumerate(one.themes):
        found = explain_filter(qrels, run, theme, threshold, beta=beta, utility=utility, docs=100)
        assert set(found.figures) == set(expected)
        for name, value in found.figures.items():
            assert value == pytest.approx(expected[name][at], abs=1e-12, nan_ok=True), name
        for lang in ("en", "fr"):
            assert found.text(lang, rows=3) and found.text(lang, markdown=True)
        json.dumps(found.as_dict(), allow_nan=False)


def test_on_the_board() -> None:
    found = explain_filter(QRELS, RUN, "t", 0.5, docs=10, beta=2)
    text = found.text()
    assert found.steps[1].table == [
        {"part": "selected", "relevant": 2, "not relevant": 1, "total": 3},
        {"part": "not selected", "relevant": 1, "not relevant": 6, "total": 7},
        {"part": "total", "relevant": 3, "not relevant": 7, "total": 10},
    ]
    for line in (
        "1 relevant document is not in the list, and so not selected.",
        "Precision a / (a + b) = 2 / (2 + 1) = 0.666667; noise 1 − 0.666667 = 0.333333",
        "Recall a / (a + c) = 2 / (2 + 1) = 0.666667; silence 1 − 0.666667 = 0.333333",
        "(1 + 2²) × 2 / ((1 + 2²) × 2 + 2² × 1 + 1) = 0.666667",
        "Fallout b / (b + d) = 1 / (1 + 6) = 0.142857",
        "Accuracy (a + d) / N = (2 + 6) / 10 = 0.8",
        "Utility 3 × 2 + (−2) × 1 = 4",
        "4 / (3 × 3) = 4 / 9 = 0.444444",
    ):
        assert line in text
    rows = text.splitlines()
    (at,) = (place for place, row in enumerate(rows) if "──── 0.5 ────" in row)
    assert " b " in rows[at - 1] and "0.4999999" in rows[at + 1]
    assert "not judged" in rows[at + 1]
    assert "Précision a / (a + b) = 2 / (2 + 1) = 0,666667 ; bruit" in found.text("fr")
    assert not re.search(
        r"\b(selected|precision|recall|threshold|not|judged|rows?|score of)\b", found.text("fr", rows=2)
    )


def test_the_size_of_the_collection() -> None:
    found = explain_filter(QRELS, RUN, "t", 0.5)
    assert "5 documents judged or scored for the theme, as the size of the collection is not given" in found.text()
    assert {"fallout", "accuracy"} <= set(found.figures)
    with pytest.raises(exaequo.InputError, match="at most the 4"):
        explain_filter(QRELS, RUN, "t", 0.5, docs=4)


def test_nothing_selected_and_nothing_scored() -> None:
    found = explain_filter(QRELS, RUN, "t", 7)
    assert "Nothing is selected, so nothing selected is wrong: precision 1, noise 0" in found.text()
    assert "nothing to divide by" not in found.text() and found.figures["F"] == 0
    empty = explain_filter({**QRELS, "v": {"a": 1}}, RUN, "v", 0.5)
    assert "scored nothing for theme v: the list is empty" in empty.text()
    assert "la liste est vide" in empty.text("fr")


def test_a_threshold_has_all_its_digits() -> None:
    assert "threshold 0.4999999\n" in explain_filter(QRELS, RUN, "t", 0.4999999).text()
    assert json.dumps(explain_filter(QRELS, RUN, "t", float("inf")).as_dict(), allow_nan=False)


def test_long_lists_are_cut_around_the_line() -> None:
    run = {"t": {f"d{at:02}": 1 - at / 50 for at in range(50)}}
    text = explain_filter({"t": {"d01": 1}}, run, "t", 0.5).text(rows=4)
    assert [row.split()[1] for row in text.splitlines() if re.match(r" +\d+  d", row)] == ["d24", "d25", "d26", "d27"]
    assert "… 24 rows above are left out." in text and "… 22 rows below are left out." in text


def test_decisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "t,a,1,yes\nt,b,0,yes\nt,c,1,no\nu,d,1,no\nw,d,0,no\n"
    Path("named.csv").write_text("theme,docno,y_true,decision\n" + rows)
    Path("bare.csv").write_text("theme,y_true,decision\n" + re.sub(r",[abcd],", ",", rows))
    assert command(["explain", "named.csv", "--topic", "t"]) == 0
    text = capfd.readouterr().out
    assert "named as a filter for theme t, threshold 0.5" in text
    assert "The table of the 3 documents looked at: a = 1, b = 1, c = 1, d = 0" in text
    assert "Accuracy (a + d) / N = (1 + 0) / 3 = 0.333333" in text
    assert explain_filter("bare.csv", None, "t").listing["document"].to_list() == ["#1", "#2", "#3"]
    with pytest.raises(BadParameter, match="cannot be explained"):
        explain_filter("bare.csv", None, "z")
    nothing = explain_filter("bare.csv", None, "w")
    assert {name for name, value in nothing.figures.items() if value != value} == {"recall", "F", "normalised", "T11SU"}
    assert "Nothing is relevant: recall and silence are not defined" in nothing.text()
    assert "Rien n'est pertinent : T11SU n'est pas défini" in nothing.text("fr")
    assert nothing.as_dict()["figures"]["recall"] is None


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    exaequo.sample().save(tmp_path)
    monkeypatch.chdir(tmp_path)
    files = ["qrels.txt", "runs/llm-judge.txt"]
    for extra in (
        ["--docs", "1000", "--utility", "T11U"],
        ["--docs", "500", "--beta", "2", "--utility", "3,-1,-1,0.5"],
    ):
        options = ["--threshold", "2", *extra]
        assert command(["explain", *files, "--topic", "401", *options, "--format", "json", "--lang", "fr"]) == 0
        (found,) = json.loads(capfd.readouterr().out)["explanations"]
        assert command(["filter", *files, "-q", *options, "--format", "csv"]) == 0
        rows = csv.DictReader(io.StringIO(capfd.readouterr().out))
        (row,) = (each for each in rows if each["theme"] == "401")
        for name in ("precision", "recall", "F", "accuracy", "utility", "normalised", "T11SU"):
            assert found["figures"][name] == pytest.approx(float(row[name]), abs=1e-12), name
        cells = found["steps"][1]["numbers"]
        assert all(cells[name] == float(row[name]) for name in "abcd")
    assert (
        command(["explain", *files, "--topic", "401", "--threshold", "2", "--format", "markdown", "--lang", "fr"]) == 0
    )
    assert "| sélectionné |" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "AP", "--threshold", "1"], "one at a time"),
        (["--beta", "2"], "--beta explains a filter; give --threshold too."),
        (["--threshold", "1", "--ties", "random"], "--ties explains a measure, not a filter."),
        (["--threshold", "nan"], "threshold must be a number"),
        (["--threshold", "1", "--utility", "1,2,3"], "two or four numbers"),
        (["--threshold", "1", "--docs", "3"], "Check --docs"),
        (["--threshold", "1", "--topic", "999"], "Topic '999' cannot be explained: it is not judged"),
    ],
)
def test_bad_requests(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    exaequo.sample().save(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert command(["explain", "qrels.txt", "runs/bm25.txt", "--topic", "401", *options]) in (1, 2)
    error = capfd.readouterr().err
    assert said in error and "Traceback" not in error
