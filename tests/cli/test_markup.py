"""Names that would like to be LaTeX or Markdown: no command lets them be more than text."""

from __future__ import annotations

import json
import re
import warnings
from itertools import groupby
from pathlib import Path

import pytest

from exaequo.cli import app, run

ATTACKS = (
    r"\input{/etc/passwd}",
    "a|b||c",
    r"\\end{tabular}\write18{id}%",
    "[x](javascript:PWN)",
    "<script>PWN=1</script>",
    "`x`` y```",
    "![x](http://x.test/y.png)",
    "a\n\n# b\n| c |",
    "^^5cinput{x}",
    "$x$ & y_z # ~",
    "%\r\n\\openin",
)
#: All that LaTeX is ever told to do.
LATEX = {
    *("begin", "end", "toprule", "midrule", "bottomrule", "multicolumn", "textbf", "textbackslash", "textasciitilde"),
    *("textasciicircum", "textless", "textgreater", "textbar", "tau", "Delta", "kappa", "alpha", "eta", "omega"),
    *("blacktriangle", "blacktriangledown"),
}
CALLS = {
    "budget": "qrels.jsonl one.jsonl two.jsonl -m AP --samples 100",
    "compare": "qrels.jsonl one.jsonl two.jsonl -m AP --full",
    "design": "qrels.jsonl one.jsonl two.jsonl -m AP --samples 100",
    "eval": "qrels.jsonl one.jsonl two.jsonl -m AP -q",
    "explain": "qrels.jsonl one.jsonl -m AP",
    "filter": "qrels.jsonl one.jsonl --threshold 1 --full",
    "gate": "qrels.jsonl one.jsonl two.jsonl -m AP --max-drop 0",
    "order": "qrels.jsonl one.jsonl",
    "pool": "one.jsonl two.jsonl --depth 5",
    "replicate": "qrels.jsonl one.jsonl --with two.jsonl -m AP",
    "ties": "qrels.jsonl one.jsonl two.jsonl -m AP --full",
    "unjudged": "qrels.jsonl one.jsonl two.jsonl -m AP",
}
#: Their tables are about collections and judges, and come from the same writers.
OTHERS = {"collection", "experiment", "judge"}


def formats(name: str) -> set[str]:
    choices = [each.type for each in app.commands[name].params if each.name == "format_"]
    return {"latex", "markdown"} & {each for choice in choices for each in getattr(choice, "choices", ())}


def test_every_command_that_writes_markup_is_attacked() -> None:
    assert {name for name in app.commands if formats(name)} == {*CALLS} | OTHERS


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of hostile names: topics, documents, runs."""
    folder = tmp_path_factory.mktemp("attacked")
    pairs = [(topic, docno, at) for topic in ATTACKS for at, docno in enumerate(ATTACKS)]
    rows = {"qrels": [{"qid": topic, "docno": docno, "rel": at % 2} for topic, docno, at in pairs]}
    for name, tag in (("one", ATTACKS[0] + ATTACKS[1]), ("two", ATTACKS[3] + ATTACKS[7])):
        sims = [(3 * at + len(tag) * len(topic)) % 4 for topic, _, at in pairs]
        rows[name] = [
            {"qid": topic, "docno": docno, "sim": sim, "run_id": tag}
            for (topic, docno, _), sim in zip(pairs, sims, strict=True)
        ]
    for name, lines in rows.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


def written(name: str, form: str, place: Path, capfd: pytest.CaptureFixture[str]) -> str:
    words = [str(place / word) if word.endswith(".jsonl") else word for word in CALLS[name].split()]
    with warnings.catch_warnings(action="ignore"):
        assert run([name, *words, "--format", form]) in (0, 3, 4), capfd.readouterr().err
    return capfd.readouterr().out


def is_tame(latex: str) -> None:
    """No command but ours, no line that is not of a table, no sign that LaTeX takes for itself."""
    lines = [line for line in latex.splitlines() if line and not line.startswith("%")]
    code = "\n".join(lines)
    assert set(re.findall(r"\\([a-zA-Z]+)", code)) <= LATEX
    assert set(re.findall(r"\\([^a-zA-Z])", code)) <= set("\\&%$#_{}")
    frame = r"\\(begin\{tabular\}\{[lr]+\}|end\{tabular\}|(top|mid|bottom)rule)"
    assert not [line for line in lines if not line.endswith(r" \\") and not re.fullmatch(frame, line)]
    plain = re.sub(r"\$\^?\{?(\\[a-zA-Z]+|[a-z0-9]+)?\}?\$", "", re.sub(r"\\[^a-zA-Z]", "", code))
    assert not set("%#$~^|<>") & set(plain)


@pytest.mark.parametrize("name", [name for name in CALLS if "latex" in formats(name)])
def test_latex_prints_names(name: str, attacked: Path, capfd: pytest.CaptureFixture[str]) -> None:
    is_tame(written(name, "latex", attacked, capfd))


def test_latex_of_a_study_prints_names(attacked: Path, tmp_path: Path) -> None:
    edition = tmp_path / "archive" / ATTACKS[6].replace("/", ":") / ATTACKS[9]
    (edition / "runs").mkdir(parents=True)
    (edition / "qrels.jsonl").symlink_to(attacked / "qrels.jsonl")
    for at, name in enumerate(("one", "two")):
        (edition / "runs" / f"{ATTACKS[at + 7]}.jsonl").symlink_to(attacked / f"{name}.jsonl")
    assert run(["study", str(tmp_path / "archive"), "-o", str(tmp_path / "out"), "-m", "AP", "--jobs", "1"]) == 0
    tables = list((tmp_path / "out").rglob("*.tex"))
    assert len(tables) > 3
    for path in tables:
        is_tame(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in CALLS if "markdown" in formats(name)])
def test_markdown_prints_names(name: str, attacked: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plain = re.sub(r"\\[!-/:-@\[-`{-~]", "", written(name, "markdown", attacked, capfd))
    assert not re.search(r"[`<>\[\]~&]", re.sub(r"</?sup>", "", plain))
    for table, rows in groupby(plain.splitlines(), lambda line: line.startswith("|")):
        assert len({row.count("|") for row in rows}) == 1 or not table
    assert not [line for line in plain.splitlines() if "|" in line and not line.startswith("|")]
    assert not [line for line in plain.splitlines() if line.startswith("#") and not line.startswith("## ")]
