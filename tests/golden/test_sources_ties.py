"""The pages about the two papers on ties: what they show is what is printed, and what the worked examples say."""

from __future__ import annotations

import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import exaequo
from exaequo.cli import run
from exaequo.study import study
from helpers import EXAMPLES, some

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"s000": DOCS / "sources" / "000-ties-fr.md", "s003": DOCS / "sources" / "003-ties.md"}
STRATEGIES = {"R": "realistic", "C": "conventional", "O": "optimistic"}


def blocks(page: Path) -> list[tuple[str, str]]:
    """Commands with what they print."""
    found = re.findall(r"^```\n\$ (.*?)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [(line, printed) for line, printed in found]


@pytest.mark.parametrize("source", PAGES)
def test_what_is_shown_is_printed(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exaequo.sample().save(tmp_path / "sample")
    exaequo.sample().save(tmp_path / "archive" / "track" / "2000")
    compared = 0
    for first, printed in blocks(PAGES[source]):
        if first.startswith("cat "):
            Path(first.removeprefix("cat ")).write_text(printed, encoding="utf-8")
            continue
        lines = [first, *(line.removeprefix("$ ") for line in printed.splitlines() if line.startswith("$ "))]
        for line in lines:
            words = [
                path
                for word in shlex.split(line)[1:]
                for path in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
            ]
            assert run(words) == 0, line
            out = capfd.readouterr().out
            if printed and not printed.startswith("$ "):
                assert out == printed, line
                compared += 1
    assert compared == 5


@pytest.mark.parametrize("source", PAGES)
def test_links_lead_somewhere(source: str) -> None:
    page = PAGES[source]
    for target, _, place in re.findall(r"\]\(([^)#]*)(#([^)]*))?\)", page.read_text(encoding="utf-8")):
        other = page.parent / target if target else page
        assert other.exists(), target
        heads = re.findall(r"^#+ (.*)$", other.read_text(encoding="utf-8"), re.MULTILINE) if place else []
        assert not place or place in {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}, place


def figure(source: str, name: str, folder: Path) -> tuple[str, str]:
    """Write judgments and run of a figure as they stand on the page; return their paths."""
    paths = [folder / f"{name}.{kind}" for kind in ("qrels", "run")]
    for line, text in blocks(PAGES[source]):
        if line.startswith(f"cat {name}."):
            (folder / line.removeprefix("cat ")).write_text(text, encoding="utf-8")
    return str(paths[0]), str(paths[1])


def ordered(capfd: pytest.CaptureFixture[str], qrels: str, lines: str, ties: str, *more: str) -> pl.DataFrame:
    assert run(["order", qrels, lines, "--ties", ties, "--format", "csv", *more]) == 0
    return pl.read_csv(capfd.readouterr().out.encode())


@pytest.mark.parametrize(
    ("source", "before", "after"), [("s000", "s000-fig1", "s000-fig2"), ("s003", "s003-fig1ab", "s003-fig1cd")]
)
def test_a_name_decides(
    source: str, before: str, after: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    qrels, lines = figure(source, "fig1", tmp_path)
    for name, rename in ((before, []), (after, ["--rename", "WSJ5=AP8"])):
        computed = EXAMPLES[name]["computed"]
        table = ordered(capfd, qrels, lines, "conventional", *rename)
        assert table["docno"].to_list() == computed["order"]
        assert table["precision"].to_list() == pytest.approx([float(Fraction(p)) for p in computed["P_at_each_doc"]])


@pytest.mark.parametrize(("source", "name"), [("s000", "s000-fig3"), ("s003", "s003-fig2-orders")])
def test_three_orders(source: str, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    qrels, lines = figure(source, "fig2", tmp_path)
    for letter, order in EXAMPLES[name]["computed"].items():
        assert ordered(capfd, qrels, lines, STRATEGIES[letter])["docno"].to_list() == order
    audit = exaequo.audit_ties(qrels, lines, "AP")
    found = audit.lists.row(0, named=True)
    assert found["tied_percent"] / 100 == pytest.approx(EXAMPLES[f"{source}-tied-pct"]["computed"])
    assert found["per_score"] == pytest.approx(EXAMPLES[f"{source}-docs-per-sim"]["computed"])


def lists_with_these_ranks(rows: list[dict[str, Any]], folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Write an archive of lists whose one relevant document has the ranks of each row; return the row of each list."""
    found = {}
    for number, row in enumerate(rows):
        last, by_name, first = row["inputs"]["ranks_R_C_O"]
        track = row["inputs"]["track"].replace(" ", "")
        place = folder / track / "1999"
        (place / "runs").mkdir(parents=True, exist_ok=True)
        tied = [f"z{9999 - at}" for at in range(last - first + 1)]
        documents = [(f"above{at}", 2 - at / 1e4) for at in range(1, first)] + [(name, 1.0) for name in tied]
        with (place / "qrels").open("a") as file:
            file.write(f"{number} 0 {tied[by_name - first]} 1\n")
        (place / "runs" / f"run{number}").write_text(
            "".join(f"{number} Q0 {name} 0 {sim} run{number}\n" for name, sim in documents)
        )
        found[track, number] = row
    return found


@pytest.mark.parametrize(("prefix", "top"), [("s000-table3-", 5), ("s003-table2-", 3)])
def test_the_luckiest_lists_by_reciprocal_rank(prefix: str, top: int, tmp_path: Path) -> None:
    """The study, given lists with the ranks of the table, prints the table."""
    rows = lists_with_these_ranks([EXAMPLES[name] for name in some(prefix)], tmp_path / "archive")
    table = study(tmp_path / "archive", tmp_path / "out", top=top).tables["lucky_lists"].filter(measure="RR")
    assert table.height == 4 * top == len(rows)
    for row in table.to_dicts():
        example = rows[row["track"], int(row["topic"])]
        ranks = example["inputs"]["ranks_R_C_O"]
        assert [row[f"first_{ties}"] for ties in STRATEGIES.values()] == ranks
        assert row["ranks_gained"] == example["computed"]["delta_RC"]
        assert [row[ties] for ties in STRATEGIES.values()] == pytest.approx(example["computed"]["RR"], rel=1e-15)
    for track, own in table.group_by("track"):
        assert own["ranks_gained"].is_sorted(descending=True), track


def test_columns_that_are_named_are_there(tmp_path: Path) -> None:
    """The tables that lay the paper and ours side by side name columns of ours."""
    exaequo.sample().save(tmp_path / "archive" / "track" / "2000")
    tables = study(tmp_path / "archive", tmp_path / "out").tables
    text = PAGES["s003"].read_text(encoding="utf-8")
    parts = re.findall(r"^\| paper \| tables? ([^|]*) \|\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    values = {"run", "topic", "list", "per_score"}  # of the column `by`, and a table
    for names, rows in parts:
        known = {column for name in (*re.findall(r"`(\w+)`", names), "per_score") for column in tables[name].columns}
        cells = [row.split(" | ")[1] for row in rows.splitlines()[1:]]
        named = {column for cell in cells for column in re.findall(r"`([a-z_]+)`", cell)}
        assert named - values <= known
        assert len(named) >= 5
    assert [names for names, _ in parts] == ["`ties`", "`lucky_lists`", "`lucky_lists`, `lucky_runs`", "`differences`"]
