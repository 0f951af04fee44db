"""The worked examples of the chapter on filters, recomputed exactly, and every command of the page about it."""

from __future__ import annotations

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exaequo.cli import run as command
from exaequo.filtering import Sweep, Tables, from_arrays
from exaequo.measures import catalogue
from helpers import EXAMPLES, values

PAGE = Path(__file__).parents[2] / "docs" / "sources" / "004-filters.md"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The page, in a folder with the files it writes."""
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(code, {})  # noqa: S102 - our own documentation
    return text


def rows(capfd: pytest.CaptureFixture[str], *words: str) -> dict[Any, dict[str, Any]]:
    """The rows of `exaequo filter … --json`, by run and theme."""
    assert command(["filter", *words, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)["rows"]
    return {(row["run"], row["theme"]): row for row in found}


def example(name: str) -> Any:
    return EXAMPLES[name]["computed"]


def test_commands_print_what_is_shown(page: str, capfd: pytest.CaptureFixture[str]) -> None:
    shown = re.findall(r"^```\n\$ exaequo (.*?)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(shown) >= 14
    for line, printed in shown:
        assert command(shlex.split(line)) == 0, line
        assert capfd.readouterr().out == printed, line
    assert {"figure-4.5.svg", "figure-4.6.svg"} <= {path.name for path in Path().glob("*.svg")}


def test_every_section_is_there(page: str) -> None:
    sections = "4.1.1 4.1.2 4.2.1 4.2.2 4.3.1 4.3.2 4.3.3 4.4 4.5 4.6.1 4.6.2 4.7".split()
    for section in (*sections, *(f"igure 4.{number}" for number in (1, 5, 6, 7))):
        assert section in page, section
    assert "figures 4.2 to 4.4" in page


def test_edges(page: str, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001 - its files
    nothing = rows(capfd, "nothing.csv", "--docs", "100")["nothing", "macro"]
    everything = rows(capfd, "everything.csv", "--docs", "100")["everything", "macro"]
    assert (nothing["precision"], nothing["recall"], nothing["utility"]) == (1, 0, example("s004-utility-zero"))
    assert everything["recall"] == 1
    assert everything["precision"] == everything["density"] == 0.05


def test_averages(page: str, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001 - its files
    expected = example("s004-macro-micro-ex")
    cells = EXAMPLES["s004-macro-micro-ex"]["inputs"]["topics_abcd"]
    found = rows(capfd, "two.csv", "--docs", "100", "-q")
    for theme, table in zip(("large", "small"), cells, strict=True):
        assert [found["two", theme][cell] for cell in "abcd"] == table
    for average in ("macro", "micro"):
        figures = [found["two", average][name] for name in ("precision", "recall", "F")]
        assert figures == pytest.approx(expected[f"{average}_P_R_F"])
    p, r, f = expected["macro_P_R_F"]
    assert 2 * p * r / (p + r) == pytest.approx(expected["F_of_macro_P_R"]) != f


def test_f(page: str, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001 - its files
    equal = rows(capfd, "equal.csv", "-q")
    given = EXAMPLES["s004-F-identity"]["inputs"]["P=R"]
    for theme, same, f in zip(("x1", "x5", "x9"), given, example("s004-F-identity"), strict=True):
        row = equal["equal", theme]
        assert (row["precision"], row["recall"], row["F"]) == pytest.approx((same, same, f))
    grid = rows(capfd, "grid.csv", "--sweep")["grid", "macro"]
    expected = example("s004-Fopt")
    assert (grid["f_optimal"], grid["best_f"]) == pytest.approx((expected["grid_max"], expected["true_max"]))


def test_break_even(page: str, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001 - its files
    found = rows(capfd, "meeting.csv", "--sweep")["meeting", "macro"]
    assert found["break_even"] == pytest.approx(example("s004-bep-ex"))
    assert command(["filter", "meeting.csv", "--curve", "raw", "--json"]) == 0
    points = json.loads(capfd.readouterr().out)["rows"]
    inputs = EXAMPLES["s004-bep-ex"]["inputs"]
    for row, point in zip(points, (inputs["point1_R_P"], inputs["point2_R_P"]), strict=False):
        assert (row["recall"], row["precision"]) == pytest.approx(tuple(point))


def test_the_formula_of_the_break_even_point() -> None:
    """(R2·P1 − R1·P2) / (R2 − R1 + P1 − P2), for random pairs of thresholds around it, in exact fractions."""
    assert example("s004-bep") is True
    random, seen = np.random.default_rng(4), 0
    while seen < 200:
        n = int(random.integers(2, 30))
        a = sorted(int(each) for each in random.integers(1, n + 1, 2))
        b = sorted(int(each) for each in random.integers(0, 40, 2))
        (r1, r2), (p1, p2) = ([Fraction(x, n) for x in a], [Fraction(x, x + y) for x, y in zip(a, b, strict=True)])
        if not (p1 > r1 and p2 < r2):
            continue
        seen += 1
        one, other = np.array(a, dtype=float), np.array(b, dtype=float)
        tables = Tables(one, other, n - one, np.zeros(2))
        found = Sweep(np.zeros(2, dtype=np.int64), np.array([0.9, 0.5]), tables, np.array([n])).break_even[0]
        assert found == pytest.approx(float((r2 * p1 - r1 * p2) / (r2 - r1 + p1 - p2)))


def test_without_ties_the_break_even_point_is_r_precision() -> None:
    assert "R-precision" in example("s004-bep-rprec")
    random = np.random.default_rng(2)
    for _ in range(30):
        truth = random.random(20) < 0.4
        if not truth[: truth.sum()].any():
            continue
        scores = random.permutation(20).astype(float)
        one = from_arrays({"t": (truth, scores)})
        qrels = {"t": {f"d{at}": int(rel) for at, rel in enumerate(truth)}}
        run = {"t": {f"d{at}": score for at, score in enumerate(scores)}}
        expected = values(qrels, run, "Rprec")["t"]
        if expected:
            assert one.sweep.break_even[0] == pytest.approx(expected)


def test_uninterpolated_average_precision(page: str, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    found = rows(capfd, "ranking.csv", "--sweep")["ranking", "macro"]
    assert found["UAP"] == pytest.approx(example("s004-UAP"), abs=1e-15)
    assert command(["filter", "ranking.csv", "--curve", "raw", "--json"]) == 0
    points = json.loads(capfd.readouterr().out)["rows"]
    for name in ("s004-UAP-P1", "s004-UAP-P2", "s004-UAP-P3"):
        assert points[EXAMPLES[name]["inputs"]["rank"] - 1]["precision"] == pytest.approx(example(name))


@pytest.mark.parametrize("name", ["U(3,-2)", "U(3,-1)"])
def test_utility(name: str, page: str, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001 - its files
    worth = name.removeprefix("U(").removesuffix(")")
    useless = rows(capfd, "hundred.csv", "one.csv", "--utility", worth, "--average", "micro")
    found = [useless[file, "micro"]["utility"] for file in ("hundred", "one")]
    assert found == example("s004-utility-ex")[name]
    assert [useless[file, "micro"]["precision"] for file in ("hundred", "one")] == [0, 0]
    paradox = rows(capfd, "X.csv", "Y.csv", "--utility", worth, "--average", "micro")
    expected = example("s004-utility-paradox")
    for short, figure in (("P", "precision"), ("R", "recall"), (name, "utility")):
        assert [paradox[file, "micro"][figure] for file in "XY"] == pytest.approx(expected[short])


def test_measures_of_the_chapter_are_in_the_catalogue() -> None:
    assert {"SelP", "SelR", "SelF", "SelE", "Utility", "NUtility", "HullU", "T11SU", "T9P"} <= set(catalogue())
