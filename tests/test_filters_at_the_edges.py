"""Filters at the edges: files as they come, options that would be ignored, and what is said beside the figures."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from exaequo.cli import run as command
from exaequo.errors import InputError
from exaequo.filtering import from_arrays, from_table

HEAD = "theme,docno,y_true,y_score\n"
ONE = "a,x,1,0.9\na,y,0,0.7\nb,x,1,0.4\nb,y,0,0.2\nc,x,0,0.9\n"
TWO = "a,x,1,0.4\na,y,0,0.1\nb,x,1,0.9\nb,y,0,0.8\nc,x,0,0.1\n"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two filters; the third theme has nothing relevant."""
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text(HEAD + ONE)
    Path("two.csv").write_text(HEAD + TWO)
    return ["one.csv", "two.csv"]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The same filters as judgments and runs."""
    monkeypatch.chdir(tmp_path)
    rows = {name: [line.split(",") for line in text.split()] for name, text in (("one", ONE), ("two", TWO))}
    Path("q").write_text("".join(f"{theme} 0 {doc} {rel}\n" for theme, doc, rel, _ in rows["one"]))
    for name, lines in rows.items():
        Path(name).write_text("".join(f"{theme} 0 {doc} 1 {score} {name}\n" for theme, doc, _, score in lines))
    return ["q", "one", "two"]


def test_a_sweep_of_nothing_relevant(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "t.csv"
    table.write_text(HEAD + "a,x,0,0.9\n")
    assert command(["filter", str(table), "--sweep", "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["rows"]
    assert (row["UAP"], row["break_even"], row["best_utility"]) == (None, None, 0)
    assert from_arrays({"a": ([0], [1])}).average_precision.tolist() != [0]


# ------------------------------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (("1", "nan"), r":3: the time is 'nan'; expected a finite number"),
        (("1", "inf"), r":3: the time is 'inf'"),
        (("2", "yes"), r":3: the time is 'yes'"),
        (("9", "10", "now"), r":4: the time is 'now'; expected a finite number, as others are"),
        (("31/01/2026", "01/02/2026"), r":2: the time is '31/01/2026'; expected .*as 2026-01-31"),
        (("2026-01-31", "2026-2-01"), r":3: the time is '2026-2-01'"),
        (("2026-01-31", "2026-02-1"), r":3: the time is '2026-02-1'"),
        (("2026-01-31", ""), r":3: the time is missing"),
    ],
)
def test_times_without_an_order(tmp_path: Path, times: tuple[str, ...], message: str) -> None:
    table = tmp_path / "t.csv"
    table.write_text("theme,time,y_true,y_score\n" + "".join(f"a,{time},1,1\n" for time in times))
    with pytest.raises(InputError, match=message):
        from_table(table)


@pytest.mark.parametrize("times", ["10 9", "2026-01-31 2025-12-31T10:00", "w2 w1", "1e3 -5"])
def test_times_with_an_order(tmp_path: Path, times: str) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "theme,time,y_true,y_score\n" + "".join(f"a,{time},1,{at}\n" for at, time in enumerate(times.split()))
    )
    assert from_table(table).moment.tolist() == [0, 1]  # best score first, which came last in the file


def test_documents_without_a_name(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(HEAD + "a,,1,0.9\na,,1,0.9\n")
    with pytest.raises(InputError, match=r":2: the document is missing; expected a name"):
        from_table(table)


def test_check_of_tables(tables: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Every problem, in the order of the lines, and what the tables are together."""
    Path("bad.csv").write_text(HEAD + "a,x,1,\na,y,maybe,1\n")
    assert command(["check", *tables, "bad.csv"]) == 1
    found = capfd.readouterr().out
    assert found.index("bad.csv:2: the score is missing") < found.index("bad.csv:3: the truth is 'maybe'")
    Path("less.csv").write_text(HEAD + "a,x,1,0.9\n")
    assert command(["check", *tables, "less.csv"]) == 0
    assert "less: 2 of 3 themes missing: b, c" in capfd.readouterr().out
    Path("other.csv").write_text(HEAD + "a,x,0,0.9\n")
    assert command(["check", *tables, "other.csv"]) == 1
    assert "expected one truth" in capfd.readouterr().out
    assert command(["check", "nowhere.csv", "--json"]) == 1
    assert json.loads(capfd.readouterr().out)["problems"][0]["file"] == "nowhere.csv"


def test_standard_input_first(
    tables: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO((HEAD + ONE).encode())))
    assert command(["filter", "-", tables[1], "--average", "micro", "--json"]) == 0
    assert [row["a"] for row in json.loads(capfd.readouterr().out)["rows"]] == [1, 1]


def test_learning_from_nothing(tables: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    Path("none.csv").write_text(HEAD + "a,x,0,0.9\n")
    assert command(["filter", tables[0], "--train", "none.csv"]) == 1
    assert "none.csv: no relevant document has a score" in capfd.readouterr().err


def test_names_of_themes(tables: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """A theme called like an average, one that is too large, and one a plot does not find in a table."""
    Path("macro.csv").write_text(HEAD + "macro,x,1,0.9\n")
    assert command(["filter", "macro.csv"]) == 0
    assert "macro.csv: a theme is called 'macro', like the average" in capfd.readouterr().err
    assert command(["filter", *tables, "--docs", "1"]) == 1
    assert "one.csv: theme 'a' has 2 documents; expected at most the 1" in capfd.readouterr().err
    assert command(["plot", "filters", tables[0], "macro.csv", "-o", "p.json"]) == 0
    assert "macro: 3 of 4 themes missing: a, b, c" in capfd.readouterr().err


# ----------------------------------------------------------------------------------------------------------- comparing


def test_all_tables_of_a_comparison(tables: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    Path("less.csv").write_text(HEAD + "a,x,1,0.9\na,y,0,0.9\nb,x,1,0.9\n")
    assert command(["filter", *tables, "less.csv", "--compare", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert {"systems", "pairs", "topics"} <= {*document}
    assert not {"dominance", "curves", "robustness", "judges"} & {*document}  # made of rankings
    assert "less: 1 of 3 themes missing: c; nothing is selected for them" in document["warnings"]
    for name in document.keys() - {"format", "options", "warnings"}:
        assert command(["filter", *tables, "--compare", "--table", name]) == 0


def test_options_count_for_measures_that_do_not_say_otherwise(
    tables: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    options = ["--threshold", "0.75", "--beta", "2", "--utility", "LF2", "--hull", "5", "--target", "3"]
    names = ["-m", "SelF, SelP(t=0.1)", "-m", "NUtility(u_rel=4)", "-m", "HullU", "-m", "T9P"]
    assert command(["filter", *tables, "--compare", *names, *options, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["options"]["measures"] == [
        "SelF(t=0.75,beta=2)",
        "SelP(t=0.1)",
        "NUtility(t=0.75,u_rel=4,u_nonrel=-1)",
        "HullU(s=5,t=0.75,u_nonrel=-1)",
        "T9P(t=0.75,target=3)",
    ]
    learnt = ["--train", tables[0], "--train", tables[1]]
    assert command(["filter", *tables, "--compare", *learnt, "-m", "SelF(t=0.3)"]) == 2
    assert "leave t out of SelF(t=0.3)" in capfd.readouterr().err
    assert command(["filter", *tables, "--compare", *learnt, "--by", "utility", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["options"]["by"] == "utility"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--baseline", "one"], "--baseline is of --compare; give --compare too"),
        (["--sweep", "--hull", "3"], "--sweep takes no --hull; leave --hull out"),
        (["--curve", "raw", "--target", "3"], "--curve takes no --target"),
        (["--stream", "--average", "macro"], "--stream takes no --average"),
        (["--sweep", "--average", "both"], "--sweep has no micro-average"),
        (["--curve", "raw", "--average", "macro"], "--curve raw is of each theme"),
        (["--compare", "-q"], "--compare takes no --per-theme"),
        (["--compare", "--table", "curves"], "is not one of"),
    ],
)
def test_options_that_would_be_ignored(
    tables: list[str], capfd: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert command(["filter", *tables, *options]) == 2
    assert message in capfd.readouterr().err


def test_ties_decide_nothing(tables: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert command(["filter", *tables, "--compare"]) == 0
    assert capfd.readouterr().out.startswith("3 topics; ties decide nothing: each is taken as a whole\n")
    assert command(["filter", *tables, "--compare", "--lang", "fr"]) == 0
    assert capfd.readouterr().out.startswith("3 thèmes ; les ex aequo ne décident de rien")


def test_a_cut_through_a_tie_decides(runs: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    for options, said in (([], "ties decide nothing"), (["--depth", "1"], "realistic ties; better or worse")):
        assert command(["compare", *runs, "-m", "SelF", "--full", *options]) == 0
        assert said in capfd.readouterr().out.partition("\n")[0]
    assert command(["compare", *runs, "-m", "SelF", "-m", "AP", "--full"]) == 0
    assert "2 topics, realistic ties" in capfd.readouterr().out.partition("\n")[0]


# ---------------------------------------------------------------------------------------------------- what is left out


@pytest.mark.parametrize("name", ["eval", "compare", "gate"])
def test_what_is_left_out_is_said(runs: list[str], capfd: pytest.CaptureFixture[str], name: str) -> None:
    said = "1 topic with nothing relevant left out of all averages: c"
    command([name, *runs, "-m", "SelP", "-m", "SelF", "-m", "Utility"])
    captured = capfd.readouterr()
    more = "; SelP, Utility would have a value there, and `exaequo filter --compare` counts it\n"
    assert said + more in captured.out + captured.err
    command([name, *runs, "-m", "SelF", "-m", "AP"])
    captured = capfd.readouterr()
    assert f"{said}\n" in captured.out + captured.err


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_raw_utilities_are_warned_of(tables: list[str], capfd: pytest.CaptureFixture[str], form: str) -> None:
    """Wherever averages of them are passed on: the warning stands beside them."""
    assert command(["filter", *tables, "--format", form]) == 0
    assert "not to be averaged (macro)" in capfd.readouterr().out
    assert command(["filter", *tables, "--format", form, "--average", "micro"]) == 0
    assert "not to be averaged" not in capfd.readouterr().out


@pytest.mark.parametrize("kind", ["systems", "ties", "threshold"])
def test_raw_utilities_are_warned_of_in_pictures(runs: list[str], kind: str) -> None:
    for measure, warned in (("Utility", True), ("NUtility", False)):
        assert command(["plot", kind, *runs, "-m", measure, "-o", "p.json"]) == 0
        assert ("not to be averaged over themes" in Path("p.json").read_text()) == warned


def test_what_pictures_say(runs: list[str], tables: list[str]) -> None:
    """The name of the only filter; themes are left out only where a figure is undefined."""
    for measure, left in (("Utility", False), ("SelF", True)):
        assert command(["plot", "threshold", *runs, "-m", measure, "-o", "p.json"]) == 0
        assert ("1 theme with nothing relevant left out" in Path("p.json").read_text()) == left
    assert command(["plot", "stream", tables[0], "-m", "Utility", "-o", "p.json"]) == 0
    assert "one over time" in Path("p.json").read_text()
