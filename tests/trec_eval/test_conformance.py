"""What the official program prints, releases 10.0 and 9.0.8: byte for byte, except `rbp`, which 10.0 leaves undefined.

The files in `conformance/` were printed by the official programs; they are never renewed from exaequo's own output.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exaequo.cli import run

FOLDER = Path(__file__).parent / "conformance"
CASES: list[dict[str, Any]] = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))


def comparable(output: str) -> list[str]:
    return [line for line in output.splitlines(keepends=True) if line.split("\t")[0].split("_p=")[0].strip() != "rbp"]


#: What the message has to name, where the original's starts like this.
PROBLEMS = {
    "trec_eval: result qid 'missing'": ["'missing'"],
    "trec_eval.get_results: Malformed line 2": ["short.run:2"],
    "trec_eval.get_results: Malformed line 1": ["spaced.run:1"],
    "trec_eval.get_qrels: Malformed line 1": ["short.qrels:1"],
    "trec_eval.form_res_qrels: duplicate docs d1": ["twice.run", "'d1'", "twice"],
    "trec_eval.form_res_rels: duplicate docs d1": ["twice.qrels", "'d1'", "twice"],
    "trec_eval.get_results: Cannot read": ["empty.run", "is empty"],
    "trec_eval.get_qrels: Cannot read": ["absent.qrels", "no such file"],
    "trec_eval: illegal measure": ["illegal measure"],
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['version']} {' '.join(case['argv'])[:60]}")
def test_official_output(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FOLDER)
    release = case["version"].partition(".")[0]
    assert run(["trec_eval", "--release", release, *case["argv"]]) == case["exit"]
    out, err = capfd.readouterr()
    if case["exit"] == 0:
        assert comparable(out) == comparable((FOLDER / case["stdout"]).read_text(encoding="utf-8"))
        assert err == ""
        return
    assert out == ""
    (expected,) = (words for start, words in PROBLEMS.items() if case["stderr"].startswith(start))
    for word in expected:
        assert word in err


def test_every_case_is_here() -> None:
    assert len(CASES) == 152
    assert sum(case["exit"] == 0 for case in CASES) == 122
