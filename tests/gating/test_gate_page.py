"""The page about the gate: its files, tried as a new user would, print what it shows."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from exaequo.cli import run

PAGE = (Path(__file__).parent.parent.parent / "docs" / "gate.md").read_text(encoding="utf-8")


def test_from_nothing_to_a_red_pull_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    shown = re.findall(r"^```\n\$ exaequo (.*?)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert [line.split()[0] for line, _ in shown] == ["demo", "gate", "gate", "gate"]
    assert run(shlex.split(shown[0][0])) == 0
    own = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    Path("exaequo.toml").write_text(own[0], encoding="utf-8")
    steps = re.findall(r"- run: (.*?)(?: +#.*)?\n", PAGE)
    assert [step.split()[0] for step in steps] == ["pip", "cp", "exaequo"]
    shutil.copy(*steps[1].split()[1:])
    capfd.readouterr()
    assert run(steps[2].split()[1:]) == 3
    assert capfd.readouterr().out == shown[1][1]
    assert "Topics that lost most" in Path("summary.md").read_text(encoding="utf-8")
    assert run(shlex.split(shown[2][0])) == 3
    assert capfd.readouterr().out == shown[2][1]
    Path("exaequo.toml").unlink()
    assert run(shlex.split(shown[3][0])) == 4
    assert capfd.readouterr().out == shown[3][1]
    Path("exaequo.toml").write_text(own[0] + own[1], encoding="utf-8")
    assert run(["gate"]) == 3
    assert "nDCG@10 on long" in capfd.readouterr().out


def test_the_table_of_gamed_candidates_is_what_the_code_says() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)  # noqa: S102 - our own documentation
    import exaequo

    for candidate in (names["noise"], names["fewer"]):
        (found,) = exaequo.gate(names["qrels"], names["grades"], candidate).gates
        row = " | ".join(f"{each['difference']:+.4f} {each['state']}" for each in found.by_ties.values())
        assert f"| {row} | undecided |" in PAGE
