"""The simulation of the docs, in short: the gate keeps its promise where they say so, and they say what it prints."""

from __future__ import annotations

from pathlib import Path

import gate
import numpy as np
import pytest

from exaequo.gating.rule import FEWEST
from exaequo.gating.verdicts import FEW_DIFFER, RELIABLE

ROOT = Path(__file__).parent.parent.parent


def passes(name: str, test: str, topics: int, trials: int = 2000) -> float:
    draw, margin = gate.AT_THE_MARGIN[name]
    return gate.states(draw(np.random.Generator(np.random.PCG64(7)), (trials, topics)), margin, test)[0]


@pytest.mark.parametrize("name", gate.AT_THE_MARGIN)
def test_differences_are_at_the_margin(name: str) -> None:
    draw, margin = gate.AT_THE_MARGIN[name]
    drawn = draw(np.random.Generator(np.random.PCG64(1)), (1000, 1000))
    assert drawn.mean() == pytest.approx(-margin, abs=5 * drawn.std() / 1000)


def test_the_promise_holds_for_differences_without_skew() -> None:
    for test in ("t", "randomization"):
        for topics in (5, 10, 25):
            assert passes("normal", test, topics) <= 0.05 + 0.016  # three standard errors
    assert passes("normal", "bootstrap", RELIABLE) <= 0.07


def test_where_it_does_not_hold_the_gate_says_so() -> None:
    assert passes("normal", "bootstrap", 5) > 0.08
    assert FEWEST["bootstrap"] > 5
    for test in ("t", "bootstrap"):
        assert passes("a few lose much", test, 10) > 0.1
        assert passes("a few lose much", test, RELIABLE) < 0.13
    assert passes("rare", "t", 25) > 0.2  # none of 25 topics has lost anything, nor differs
    assert passes("rare", "t", 50) > 0.05  # with 50 too, of which fewer than so many differ
    lost = gate.rare(np.random.Generator(np.random.PCG64(7)), (2000, 50)).sum(axis=1)
    assert (lost > -FEW_DIFFER).mean() > 0.99


def test_the_tables_are_those_of_the_docs() -> None:
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    heads = [line for line in page.splitlines() if line.startswith(("| deviation |", "| differences |"))]
    assert len(heads) == 2
    row = next(line for line in page.splitlines() if line.startswith("| 0.1 | 25 |"))
    (own,) = [each for each in gate.verdicts(400) if each[:2] == ("0.1", "25")]
    shown = [[float(part) for part in cell.split("/")] for cell in row.strip("| ").split(" | ")[2:]]
    found = [[float(part) for part in cell.split("/")] for cell in own[2:]]
    assert np.abs(np.subtract(shown, found)).max() <= 8  # in percent, of 400 trials
