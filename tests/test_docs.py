"""What the README and the docs say is what happens."""

from __future__ import annotations

import re
import shlex
import warnings
from fractions import Fraction
from pathlib import Path

import pytest

import exaequo
from exaequo.cli import run
from exaequo.measures import catalogue, parse_measure
from exaequo.measures.registry import temporary
from helpers import COMPLETE

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page: Path) -> None:
    with temporary(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in blocks(page, "python"):
            exec(code, {})  # noqa: S102 - our own documentation


def test_shell_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [line for block in blocks(ROOT / "README.md", "sh")[1:] for line in block.splitlines()]
    assert len(commands) >= 9
    for line in commands:
        if " < " not in line:
            words = shlex.split(line, comments=True)[1:]
            globbed = [p for word in words for p in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]
            assert run(globbed) == 0, line
    capfd.readouterr()
    (shown,) = re.findall(r"^\$ exaequo (.*?)\n(.*?)^```", PAGES[0].read_text(encoding="utf-8"), re.M | re.S)
    assert run(shlex.split(shown[0])) == 0
    assert capfd.readouterr().out == shown[1]


def test_the_five_systems_are_printed_as_shown(capsys: pytest.CaptureFixture[str]) -> None:
    page = ROOT / "docs" / "measures.md"
    (code,) = (block for block in blocks(page, "python") if "systems" in block)
    exec(code, {})  # noqa: S102 - our own documentation
    table = "\n".join(capsys.readouterr().out.splitlines()[2:])
    assert f"```\n{table}\n```" in page.read_text(encoding="utf-8")


def test_measures_are_in_the_table_of_the_docs() -> None:
    text = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    written = {parse_measure(found).definition.name for row in rows for found in re.findall(r"`([^`]+)`", row)}
    assert set(COMPLETE) <= written <= set(catalogue())


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("name", ["catalogue", "commands", "api"])
def test_references_are_those_of_the_code(name: str) -> None:
    import runpy

    made = runpy.run_path(str(ROOT / "scripts" / f"{name}.py"))["text"]()
    written = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert made == written, "run ./scripts/docs"


def test_references_are_complete() -> None:
    from exaequo.cli import app

    for page, names in (("commands", set(app.commands)), ("api", set(exaequo.__all__) - {"__version__"})):
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        assert names <= set(re.findall(r"^### (\w+)$", text, re.MULTILINE))


def test_the_worked_example_of_ties() -> None:
    scores = {"CT5": 0.9, "AP5": 0.7, "WSJ9": 0.7, "AP8": 0.7, "FT12": 0.6}
    qrels = {"1": {"CT5": 1, "AP8": 1}}
    found = exaequo.evaluate(qrels, {"1": scores}, "AP", ties="all")
    text = (ROOT / "docs" / "ties.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| \| AP \| (.*) \|$", text, re.MULTILINE)
    for ties, figure in zip(("realistic", "conventional", "optimistic"), row.split(" | "), strict=True):
        assert found.mean("AP", ties=ties) == pytest.approx(float(Fraction(figure)))


def test_every_promise_has_its_tests() -> None:
    text, _, _ = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8").partition("## Faults that tests see")
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) > 40
    for row in rows:
        kept = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert kept and row.count("::") == len(kept), row
        for path, name in kept:
            source = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^ *(?:async )?def {name}\(", source, re.MULTILINE), f"{path}::{name}"


def test_every_picture_is_drawn_and_shown() -> None:
    import runpy

    made = set(runpy.run_path(str(ROOT / "scripts" / "pictures.py"))["pictures"]())
    assert {path.stem for path in (ROOT / "docs" / "pictures").glob("*.svg")} == made, "run ./scripts/docs"
    text = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(pictures/([\w-]+)\.svg\)", text)) == made


def test_every_command_has_its_page() -> None:
    from exaequo.cli import app

    text = "".join(page.read_text(encoding="utf-8") for page in PAGES[1:])
    for name in app.commands:
        assert re.search(rf"^(?:\$ )?exaequo {name}\b", text, re.MULTILINE), name


def test_the_site_builds(tmp_path: Path) -> None:
    import subprocess
    import sys

    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    for name in ("index.html", "tutorial.html", "catalogue.html", "errata.html", "site.css"):
        assert (tmp_path / "site" / name).exists()


@pytest.mark.parametrize(("name", "number"), [("explain", 5), ("for-engineers", 5)])
def test_commands_print_what_is_shown(
    name: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = [block.partition("\n") for block in blocks(ROOT / "docs" / f"{name}.md", "") if block.startswith("$ ")]
    shown = [(line, printed) for line, _, printed in parts if printed and not printed.startswith("$ ")]
    for line, whole in shown:
        words = shlex.split(line.removeprefix("$ "))
        printed, _, code = whole.partition("$ echo $?\n")
        if words[0] == "cat":
            Path(words[1]).write_text(printed, encoding="utf-8")
        else:
            assert run(words[1:]) == int(code or 0), line
            assert capfd.readouterr().out == printed, line
    assert len(shown) == number


@pytest.mark.parametrize(
    ("name", "least"),
    [
        *[("tutorial", 7), ("evaluate", 5), ("plots", 15), ("report", 2), ("replicate", 7), ("pooling", 8)],
        *[("for-students", 6), ("for-organisers", 8), ("for-engineers", 6), ("for-teachers", 6)],
    ],
)
def test_commands_of_the_docs_run(
    name: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if name != "tutorial":  # which begins with that
        exaequo.sample().save(tmp_path / "sample")
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for file, content in re.findall(r"^```\n\$ cat (\S+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        Path(file).write_text(content, encoding="utf-8")
    shown = (block.partition("$ echo $?\n") for block in blocks(ROOT / "docs" / f"{name}.md", ""))
    codes = {block.partition("\n")[0].removeprefix("$ exaequo "): int(code) for block, _, code in shown if code}
    commands = re.findall(r"^\$ exaequo (.*)$", text, re.MULTILINE)
    assert len(commands) >= least
    for line in commands:
        words = shlex.split(line, comments=True)
        globbed = [p for word in words for p in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]
        assert run(globbed) == codes.get(line, 0), line
    assert "Traceback" not in capfd.readouterr().err
