"""What a gate writes: every form says the verdict, its cautions and its warnings, whatever the names are."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

import exaequo
from exaequo.cli import run as command
from exaequo.gating import GateResult
from exaequo.gating.rule import Rule
from exaequo.gating.writers import github, junit, markdown, text
from exaequo.text import on_one_line

SAMPLE = exaequo.sample()
RUNS = {run.name: run for run in SAMPLE.runs}
ODD = "a|b<img src=x>\x00\x1b&\n::error::,%"


def gated(two: str, label: str = "some", **options: object) -> GateResult:
    topics = [str(401 + number) for number in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        found = exaequo.gate(
            SAMPLE.qrels,
            RUNS["bm25"],
            RUNS[two],
            "nDCG@10 Noise@10",
            slices={label: topics},
            floors=["AP >= 0.9"],
            **options,  # type: ignore[arg-type]
        )
    assert [each.slice for each in found.gates] == [None, None, None, None, *[label] * 3]
    return found


def test_text_fits_and_says_all() -> None:
    found = gated("llm-judge")
    lines = text(found, 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "95 % sure, t, fair ties, 25 topics"
    assert lines[2].split() == "measure baseline candidate difference at worst allowed verdict".split()
    assert lines[3].split() == "nDCG@10 0.5606 0.4912 -0.0694 -0.1326 -0.0280 undecided".split()
    assert lines[-1] == found.state == "worse"  # the floor
    whole = " ".join(" ".join(lines).split())
    for each in found.gates:
        assert each.passed or each.sentence in whole
    assert "warning: 21 topics in no slice: 405, 406, 407, 408, 409 and 16 more" in whole
    assert all(each.sentence in text(found).splitlines() for each in found.gates if not each.passed)


def test_the_worst_bound_is_that_of_all_orders_that_decide() -> None:
    found = gated("llm-judge", ties="robust").gates[1]
    worst = found.by_ties["worst"]["high"]
    assert found.measure == "Noise@10"
    assert found.high is not None
    assert worst >= found.high
    assert re.search(rf"^Noise@10 .*\+{worst:.4f} +\+0.0182  undecided$", text(gated("llm-judge", ties="robust")), re.M)


def test_markdown_says_all_and_escapes() -> None:
    found = gated("llm-judge", ODD)
    page = markdown(found)
    assert page.startswith("## Search quality: worse\n\n| measure | baseline |")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    columns = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert columns == {8, 6}  # two tables, and no name makes another column
    assert "<img" not in page.replace("\\<img", "")
    assert "\x1b" not in page
    assert "\x00" not in page
    assert "- warning: 21 topics in no slice" in page
    assert "ties decide: realistic undecided (-0.0694)" in page
    assert "Topics that lost most:\n\n| measure | topic |" in page
    assert "| nDCG@10 | 419 | 0.5613 | 0.1520 | -0.4092 |" in page


def test_junit_is_read_back() -> None:
    found = gated("llm-judge", ODD)
    suites = Xml.fromstring(junit(found).encode())  # noqa: S314 - our own
    (suite,) = suites
    cases = suite.findall("testcase")
    assert suite.attrib == {"name": "exaequo gate", "tests": "7", "failures": "1", "errors": "3", "skipped": "3"}
    kinds = [[each.tag for each in case] for case in cases]
    assert kinds == [["error"], ["error"], ["error"], ["failure"], ["skipped"], ["skipped"], ["skipped"]]
    for case, gate in zip(cases, found.gates, strict=True):
        assert case[0].attrib["message"] == on_one_line(gate.sentence)
    assert cases[4].attrib["name"] == "nDCG@10 on a|b<img src=x>\\x00\\x1b&\\n::error::,%"
    assert cases[3].attrib["name"] == "AP >= 0.9"
    assert "21 topics in no slice" in (suite.findtext("system-out") or "")
    good = Xml.fromstring(junit(gated("hybrid")).encode())[0]  # noqa: S314 - our own
    assert (good.attrib["errors"], good.findall("testcase")[0].findtext("system-out")) == (
        "0",
        gated("hybrid").gates[0].sentence,
    )
    strict = Xml.fromstring(junit(gated("llm-judge", strict=True)).encode())[0]  # noqa: S314 - our own
    assert (strict.attrib["errors"], strict.attrib["skipped"]) == ("6", "0")


def test_annotations_are_one_line_each_and_escaped() -> None:
    found = gated("llm-judge", ODD)
    lines = github(found).splitlines()
    kinds = [re.match(r"::(\w+) title=([^:,]*)::(.*)$", line) for line in lines]
    assert None not in kinds
    assert [each[1] for each in kinds if each] == ["error"] * 4 + ["warning"] * 3 + ["warning", "notice"]
    assert "%" not in re.sub("%25|%3A|%2C", "", "".join(lines))
    assert kinds[4] is not None
    assert kinds[4][2] == "nDCG@10 on a|b<img src=x>\\x00\\x1b&\\n%3A%3Aerror%3A%3A%2C%25%3A undecided"
    (first, *_) = lines
    assert first.startswith("::error title=nDCG@10%3A undecided::nDCG@10: undecided: -0.0694 (-12.4 %25); ties decide")
    good = github(gated("hybrid", strict=True)).splitlines()
    assert good[-1].startswith("::notice title=Search quality%3A worse::passed: nDCG@10, Noise@10, AP")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    SAMPLE.save(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return ["gate", "qrels.txt", "runs/bm25.txt", "runs/llm-judge.txt", "-m", "nDCG@10"]


@pytest.mark.parametrize("form", ["table", "json", "markdown", "junit", "github"])
def test_every_form_goes_to_a_file(form: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert command([*files, "--format", form]) == 4
    shown = capfd.readouterr().out
    assert shown.count("undecided") >= 1
    assert "ties decide" in shown or form == "json"
    assert command([*files, "--format", form, "-o", "said"]) == 4
    assert Path("said").read_text(encoding="utf-8") == shown


def test_warnings_are_in_the_verdict(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    lines = Path("runs/llm-judge.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("runs/llm-judge.txt").write_text("".join(line for line in lines if line[:3] < "420"), encoding="utf-8")
    for form in ("table", "json", "markdown", "junit", "github"):
        assert command([*files, "--format", form]) == 4
        captured = capfd.readouterr()
        said = captured.out
        assert "the candidate lacks 6 of 25 topics" in said, form
        warning = json.loads(said)["warnings"][0] if form == "json" else ""
        assert warning or "warning" in said, form
        assert ("warning" in captured.err) == (form != "table"), form  # where people see it, it is said once


def test_the_summary_of_github(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("before\n", encoding="utf-8")
    assert command([*files, "--format", "github"]) == 4
    assert Path("summary.md").read_text(encoding="utf-8").startswith("before\n## Search quality: undecided\n")
    assert command([*files, "--format", "table"]) == 4
    assert Path("summary.md").read_text(encoding="utf-8").count("Search quality") == 1
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "nowhere/summary.md")
    capfd.readouterr()
    assert command([*files, "--format", "github"]) == 4  # the verdict counts more
    assert "nowhere/summary.md: cannot write the summary" in capfd.readouterr().err


def test_the_head_says_what_was_drawn() -> None:
    drawn = gated("hybrid", test="bootstrap", samples=500, seed=3)
    assert text(drawn).startswith("95 % sure, bootstrap, 500 samples, seed 3, fair ties, 25 topics\n")
    rule = Rule(test="randomization", samples=500, seed=3)
    assert [rule.how(topics) for topics in (20, 21)] == ["randomization", "randomization, 500 samples, seed 3"]
    one = exaequo.gate({"1": {"a": 1}}, {"1": {"a": 1.0}}, {"1": {"a": 1.0}}, "AP")
    assert text(one).startswith("95 % sure, t, fair ties, 1 topic\n")
