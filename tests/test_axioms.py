"""Axioms tried on all short lists: what the literature says about well-known measures comes out."""

from __future__ import annotations

import json

import pytest

from exaequo import parse_measure
from exaequo.axioms import AXIOMS, check
from exaequo.cli import run


def verdicts(measure: str) -> dict[str, bool]:
    return {finding.axiom.name: finding.holds for finding in check(parse_measure(measure))}


def test_recall_oriented_measure() -> None:
    """All but c2 hold for MOR, and c2 fails by equality only, never by inversion."""
    found = check(parse_measure("MOR@6"))
    assert {finding.axiom.name for finding in found if not finding.holds} == {"c2"}
    (broken,) = (finding for finding in found if not finding.holds)
    assert broken.values is not None
    assert broken.values[0] == pytest.approx(broken.values[1])


def test_average_precision() -> None:
    found = verdicts("AP")
    assert not found["c1"]
    assert not found["B1"]  # one document at the top is worth more than two at the end
    assert found["B2"]
    assert found["swap strictly"]


def test_others() -> None:
    assert verdicts("RR")["add"]
    assert not verdicts("RR")["swap strictly"]
    assert verdicts("R@6")["B1"]
    assert not verdicts("R@6")["swap strictly"]
    assert not verdicts("PRES@6")["c1"]
    assert verdicts("PRES@6")["B2"]
    assert verdicts("nDCG")["swap strictly"]
    assert verdicts("SetP")["deepen"]
    for lower in ("Noise@3", "E@3", "Silence@3"):
        assert verdicts(lower)["swap"], lower


def test_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["measures", "AP", "--axioms"]) == 0
    text = capfd.readouterr().out
    assert all(f" {axiom.name} " in text for axiom in AXIOMS)
    assert "·+·+ (2 of 2): 0.5, but +··· (1 of 2): 0.5" in text
    for name in ("P", "IPrec", "RNorm", "P@3"):
        assert run(["measures", name, "--axioms"]) == 0
    assert run(["measures", "--axioms"]) == 2


def test_finding_all_is_best_is_more_than_a_perfect_list() -> None:
    assert not verdicts("AP")["c4"]  # all three at the end are worth less than two at the top
    assert verdicts("MOR@6")["c4"]
    assert not verdicts("BPM(max_rel=1)@6")["c1"]


def test_as_json_and_undefined(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["measures", "BreakEven", "--axioms", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["measure"] == "BreakEven"
    assert len(document["axioms"]) == len(AXIOMS)
    assert any(axiom["undefined"] for axiom in document["axioms"])
