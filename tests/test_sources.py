"""The sources, page by page: what the pages say is what happens, and their numbers are those of the worked examples."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exaequo.cli import run
from helpers import EXAMPLES, some

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "docs" / "sources" / f"{name}.md" for name in ("001-recall", "002-course")]
RECALL, COURSE = PAGES


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the language and text of each block of code."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a block, and what is shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        yield line, shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_is_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    done = 0
    for language, block in blocks(page):
        if language == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(block, names)  # noqa: S102 - our own documentation
            continue
        for line, shown in commands(block):
            words = shlex.split(line)
            if words[0] == "cat":
                Path(words[1]).write_text(shown, encoding="utf-8")
                continue
            globbed = [
                p for word in words[1:] for p in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
            ]
            capfd.readouterr()
            assert run(globbed) == 0, line
            printed = capfd.readouterr().out
            assert not shown or printed == shown, line
            assert "-o" not in words or Path(words[words.index("-o") + 1]).stat().st_size, line
            done += 1
    assert done >= 15


def table(page: Path, command: str) -> dict[str, dict[str, float]]:
    """Return the figures that are shown below a command, by row, or topic, and column."""
    (shown,) = (shown for _, block in blocks(page) for line, shown in commands(block) if command in line)
    head, *rows = (
        re.split(r" +", line.strip()) for line in shown.splitlines() if re.match(r" *(run|list|[A-Bs]|rank|\d)", line)
    )
    first = head.index("topic") if "topic" in head else 0
    return {
        row[first]: dict(zip(head[first + 1 :], (float(cell.strip("*")) for cell in row[first + 1 :]), strict=True))
        for row in rows
    }


def near(number: float) -> Any:
    """Four digits are shown."""
    return pytest.approx(number, abs=5.1e-5)


OF_TABLE = {
    "table1": "AP R@100 F@100 FAP@100 FAP(beta=4)@100",
    "table2": "AP R@100 F@100 FAP(beta=4)@100 PRES@100",
    "table5": "AP R@100 FAP(beta=4)@100 PRES@100 MOR@100",
}
COLUMNS = {
    "AP": "AP",
    "R": "R@100",
    "F1": "F@100",
    "Fp1": "FAP@100",
    "Fp4": "FAP(beta=4)@100",
    "PRES": "PRES@100",
    "MOR": "MOR@100",
}


@pytest.mark.parametrize("name", some("s001-table"))
def test_tables_of_the_paper(name: str) -> None:
    _, which, column, system = name.split("-")
    shown = table(RECALL, f'-m "{OF_TABLE[which]}"')
    assert shown[system.replace("sys", "system")][COLUMNS[column]] == near(EXAMPLES[name]["computed"])


def test_text_of_the_paper() -> None:
    one, usual = table(RECALL, OF_TABLE["table1"]), table(RECALL, "gm(AP) RR nDCG@100 Rprec")
    for system, expected in EXAMPLES["s001-Rprec"]["computed"].items():
        assert usual[system.replace("sys", "system")]["Rprec"] == near(expected)
    assert one["system5"]["AP"] / one["system2"]["AP"] == pytest.approx(5.27, abs=0.01)
    assert all(one["system4"][name] > one["system2"][name] for name in ("FAP@100", "FAP(beta=4)@100"))
    pres = {name: row["PRES@100"] for name, row in table(RECALL, OF_TABLE["table2"]).items()}
    assert pres["system2"] > pres["system4"] > pres["system3"]
    parts = table(RECALL, "NumRelRet R@100 Width@100 AP@100")
    for name in some("s001-AP0AP1-sys"):
        row = parts[f"system{name[-1]}"]
        assert (row["NumRelRet"], row["Width@100"]) == tuple(EXAMPLES[name]["parameters"][each] for each in "hw")
        assert row["AP@100"] == near(EXAMPLES[name]["computed"]["AP"])


def test_orders_of_the_paper() -> None:
    five = table(RECALL, OF_TABLE["table5"])
    for theirs, ours in (("AP", "AP"), ("F'4", "FAP(beta=4)@100"), ("PRES", "PRES@100"), ("MOR", "MOR@100")):
        ordered = sorted(five, key=lambda system, ours=ours: -five[system][ours])  # type: ignore[misc]
        assert [int(system[-1]) for system in ordered] == EXAMPLES["s001-order"]["computed"][theirs]


def test_sets_of_the_course() -> None:
    shown = table(COURSE, '-m "SetR SetP"')
    for name in some("s002-exAB-"):
        _, _, measure, system = name.split("-")
        assert shown[system][f"Set{measure}"] == near(EXAMPLES[name]["computed"])


def test_progress_of_the_course() -> None:
    text = COURSE.read_text(encoding="utf-8")
    rows = re.findall(r"^ +(\d+)  d\d+ .* (\d\.\d{4})  (\d\.\d{4})$", text, re.MULTILINE)
    shown = {int(rank): {"P": float(p), "R": float(r)} for rank, p, r in rows}
    assert len(shown) == 14
    for name in some("s002-prog-"):
        rank, measure = EXAMPLES[name]["inputs"]["rank"], name[len("s002-prog-")]
        if rank < 14:  # the last relevant document is missing from the first version
            assert shown[rank][measure] == near(EXAMPLES[name]["computed"])
    assert shown[14]["R"] == near(EXAMPLES["s002-IV1-missing"]["computed"])


def test_averages_of_the_course() -> None:
    shown = table(COURSE, '-m "AP IAP IPrec11"')
    assert shown["IV.4"]["AP"] == near(EXAMPLES["s002-AP"]["computed"])
    assert shown["IV.4"]["IAP"] == near(EXAMPLES["s002-AP-interp"]["computed"])
    assert shown["IV.4"]["IPrec11"] == near(EXAMPLES["s002-11pt-of-IV4"]["computed"]["mean"])
    assert shown["V"]["AP"] == near(EXAMPLES["s002-AP-of-V"]["computed"])
    both = [shown[f"IV.7-{number}"]["AP"] for number in (1, 2)]
    assert both == [near(EXAMPLES[f"s002-map-AP{number}"]["computed"]["seed_formula_IV.4 (/8)"]) for number in (1, 2)]
    assert sum(both) / 2 == near(EXAMPLES["s002-map-MAP"]["computed"]["seed_formula (/8)"])


def test_the_mean_of_two_topics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lists, *others = [block for language, block in blocks(COURSE) if language == "python"]
    (mean,) = (block for block in others if "polars" in block)
    exec(lists, {})  # noqa: S102 - our own documentation
    (line,) = (line for _, block in blocks(COURSE) for line, _ in commands(block) if "ap.csv" in line)
    assert run(shlex.split(line)[1:]) == 0
    exec(mean, {})  # noqa: S102 - our own documentation
    assert float(capfd.readouterr().out) == pytest.approx(EXAMPLES["s002-map-MAP"]["computed"]["seed_formula (/8)"])


def test_the_top_of_the_course() -> None:
    shown = table(COURSE, "P@5 P@10 P@15 Rprec RR")["V"]
    for measure, found in shown.items():
        assert found == near(EXAMPLES[f"s002-{measure}"]["computed"])


def test_gains_of_the_course() -> None:
    shown = table(COURSE, "IDCG(dcg='jk')@10")["A"]
    for name in ("s002-dcg10", "s002-dcg10-nDCGslide"):
        assert shown["DCG(dcg='jk')@10"] == near(EXAMPLES[name]["computed"])
    assert shown["IDCG(dcg='jk')@10"] == near(EXAMPLES["s002-idcg-slide1"]["computed"])
    assert shown["IDCG(dcg='jk')@10"] == near(EXAMPLES["s002-idcg-slide2"]["computed"]["seed formula"])
    expected = EXAMPLES["s002-ndcg"]["computed"]
    assert shown["nDCG(dcg='jk')@10"] == near(expected["seed formula"])
    assert shown["nDCG@10"] == near(expected["log2(i+1) variant"])


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"
