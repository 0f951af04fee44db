"""Names that spreadsheets would compute: CSV keeps them and says so, --safe-csv makes them text; nothing is lost."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exaequo.cli import run
from exaequo.spreadsheets import as_text, formulas

COMPUTED = ["=cmd|'/C calc'!A0", "@SUM(1+1)", "+1+1", "-1+1", "\t=1", "\r=1", "＝1+1", "'=1", "''+x", "=\n1"]
PLAIN = ["bm25", "-1", "+2.5e-3", "a=b", "", "'quoted'", "1-1", "=", "-", "é@b", "a;=1", " =1"]


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_names_that_are_computed_are_marked_and_no_others() -> None:
    frame = pl.DataFrame({"run": [*COMPUTED, *PLAIN], "=value": [-1.5] * len([*COMPUTED, *PLAIN])})
    heads, *rows = read(as_text(frame))
    assert heads == ["run", "'=value"]
    assert [row[0] for row in rows] == ["'" + name for name in COMPUTED] + PLAIN
    assert {row[1] for row in rows} == {"-1.5"}  # numbers stay numbers
    (warning,) = formulas(frame)
    assert warning.startswith(f"{len(COMPUTED) + 1} names a spreadsheet would compute: ")
    assert formulas(frame.filter(pl.col("run").is_in(PLAIN)).select("run")) == []
    assert formulas(pl.DataFrame()) == []


def test_a_name_with_the_separator_of_another_country_stays_in_quotes() -> None:
    assert as_text(pl.DataFrame({"run": ["a;=1"], "n": [1]})) == '"run","n"\n"a;=1",1\n'


@given(st.lists(st.text(alphabet="'=+-@\t\r\n ab1;,\"＝é"), min_size=1))
def test_taking_one_apostrophe_away_gives_the_names_again(names: list[str]) -> None:
    _, *rows = read(as_text(pl.DataFrame({"name": names, "n": 1})))
    marked = re.compile(r"'+(?:[=+\-@＝＋－＠].|[\t\r\n])", re.DOTALL)
    assert [row[0][1:] if marked.match(row[0]) else row[0] for row in rows] == names
    assert formulas(pl.DataFrame({"name": [row[0] for row in rows if not row[0].startswith("'")]})) == []


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("1 0 a 1\n=T() 0 a 1\n", encoding="utf-8")
    for name in ("=cmd|x", "bm25"):
        Path(name[1:4]).write_text(f"1 Q0 a 1 2 {name}\n=T() Q0 a 1 1 {name}\n", encoding="utf-8")
    asked = ["eval", "qrels", "cmd", "m25", "-m", "AP", "-q"]
    assert run([*asked, "--format", "csv", "-o", "as-is.csv"]) == 0
    assert "2 names a spreadsheet would compute: '=cmd|x', '=T()'. Import the" in capfd.readouterr().err
    assert set(pl.read_csv("as-is.csv")["run"]) == {"=cmd|x", "bm25"}  # programs read the names that there are
    assert run([*asked, "--safe-csv"]) == 0
    said = capfd.readouterr()
    assert "spreadsheet" not in said.err
    assert '"\'=cmd|x","realistic","\'=T()","AP",1.0\n' in said.out
    assert run(["compare", *asked[1:4], "-m", "AP", "--table", "systems", "--safe-csv"]) == 0
    assert '"\'=cmd|x"' in capfd.readouterr().out
    assert run(["compare", *asked[1:4], "--safe-csv"]) == 2  # one table, as for any CSV
    assert "--table" in capfd.readouterr().err
    assert run(["pool", "cmd", "m25", "--depth", "1", "-o", "pool.tsv"]) == 0
    assert "pool.tsv: 1 name a spreadsheet would compute: '=T()'. Import" in capfd.readouterr().err
