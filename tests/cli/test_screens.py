"""One screen that answers: eval, compare and ties fit the room there is, and say how to get the rest."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import exaequo
from exaequo.audit import audit_ties
from exaequo.audit.screen import BETWEEN, LEFT, MEAN, RIGHT
from exaequo.audit.screen import screen as tie_screen
from exaequo.cli import run as command
from exaequo.cli.options import Target
from exaequo.cli.output import show_text
from exaequo.cli.view import View
from exaequo.comparison.screen import _Own
from exaequo.comparison.screen import screen as comparison_screen
from exaequo.comparison.verdicts import TIES
from exaequo.errors import BadParameter, UsageError
from exaequo.measures import parse_measures
from exaequo.scores import TieEffect
from exaequo.scores.formats import tie_lines
from exaequo.screens import Screen, middle, names, narrowed, page, picked, ranks, settled, shown, sorted_by
from exaequo.tabular import Column, Table
from helpers import sampled

COMMANDS = [
    ["eval"],
    ["eval", "--ties", "all"],
    ["eval", "--ties", "all", "--ties", "expected"],
    ["eval", "--sort", "name"],
    ["compare"],
    ["compare", "--baseline", "bm25"],
    ["compare", "--sort", "P@10"],
    ["ties"],
    ["ties", "--sort", "RR"],
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the sample as files, and no terminal."""
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    qrels, *runs = sampled().save(tmp_path)
    return [str(qrels), *map(str, runs)]


@pytest.fixture
def many(files: list[str], tmp_path: Path) -> list[str]:
    """Return fifty runs: hybrid cut at fewer and fewer documents, with one tie from rank 6 on in every third."""
    lines = [line.split() for line in Path(files[4]).read_text(encoding="utf-8").splitlines()]
    assert lines[0][-1] == "hybrid"
    paths = [tmp_path / f"system-{at:02}.txt" for at in range(50)]
    for at, path in enumerate(paths):
        rows = [line for line in lines if int(line[3]) <= 100 - 2 * at]
        score = {line[3]: "0" for line in rows if at % 3 == 0 and int(line[3]) > 5}
        text = (f"{q} Q0 {doc} {rank} {score.get(rank, sim)} s{at:02}\n" for q, _, doc, rank, sim, _ in rows)
        path.write_text("".join(text), encoding="utf-8")
    return [files[0], *map(str, paths)]


def out(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert command(list(arguments)) == 0, capfd.readouterr().err
    return capfd.readouterr().out


# ------------------------------------------------------------------------------------------------------- as they look


def test_scores_at_a_glance(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert out(capfd, "eval", *files, "-m", "AP P@10") == (
        """\
ties: realistic · 25 topics · relevant: grade > 0

rank  run             AP     P@10
   1  hybrid      0.6603*  0.8600*
   2  dense-fp16  0.5355   0.7320
   3  bm25        0.4380   0.6360
   4  logprob     0.4267   0.5640
   5  llm-judge   0.3737   0.6800
   6  boolean     0.2046   0.2360

Ties decide 8 of 12 figures; realistic / conventional / optimistic:
  llm-judge AP 0.3737 / 0.5169 / 0.8304
  boolean P@10 0.2360 / 0.4240 / 0.6360
  llm-judge P@10 0.6800 / 0.7720 / 0.9160
  boolean AP 0.2046 / 0.2804 / 0.4265
  logprob P@10 0.5640 / 0.5920 / 0.6680
… and 3 more figures; --ties all shows all of them
* best of its column. More: --sort MEASURE or name, --top N, --full; -q: topics
"""
    )


def test_strategies_are_stacked_where_they_do_not_fit(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    text = out(capfd, "eval", *files, "--ties", "all", "--top", "2")
    assert text.splitlines()[2:10] == [
        "rank  run         ties              AP   nDCG@10       RR     P@10   R@1000",
        "   1  hybrid      realistic     0.6603*   0.8032*  1.0000*  0.8600*  0.9202*",
        "   1              conventional  0.6603*   0.8032*  1.0000*  0.8600*  0.9202*",
        "   2              optimistic    0.6603    0.8032   1.0000*  0.8600   0.9202*",
        "   2  dense-fp16  realistic     0.5355    0.6904   1.0000*  0.7320   0.8855",
        "   2              conventional  0.5442    0.6958   1.0000*  0.7440   0.8855",
        "   3              optimistic    0.5541    0.7082   1.0000*  0.7600   0.8855",
        "… 4 more, down to boolean 0.2046",
    ]
    one = out(capfd, "eval", *files, "--ties", "all", "-m", "AP")
    assert "realistic   conventional   optimistic" in one  # side by side where there is room


def test_a_comparison_at_a_glance(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    text = out(capfd, "compare", *files, "-m", "AP P@10")
    assert text.startswith(
        """\
AP: hybrid is first, 0.6603; better than dense-fp16 by +0.1248 (+0.0515 to
  +0.1980, p < 0.0001); ties decide: llm-judge
P@10: hybrid is first, 0.8600; better than dense-fp16 by +0.1280 (+0.0241 to
  +0.2319, p = 0.0031); ties decide: llm-judge
Of 15 pairs told apart / not / decided by ties: AP 9 / 0 / 6, P@10 8 / 1 / 6
Ties decide 12 of 30 comparisons, all with llm-judge, boolean or logprob; on AP
  llm-judge is number 5 with realistic ties, number 1 with optimistic ones.

rank  run             AP                  P@10
                    mean      ±           mean      ±
   1  hybrid      0.6603  0.036  a      0.8600  0.064  a
   2  dense-fp16  0.5355  0.042  b      0.7320  0.087  b
   3  bm25        0.4380  0.042  cd     0.6360  0.080  cd
   4  logprob     0.4267  0.042  c   ◊  0.5640  0.075  cd
   5  llm-judge   0.3737  0.039  abc ◊  0.6800  0.072  abc ◊
   6  boolean     0.2046  0.033  d   ◊  0.2360  0.082  d   ◊

Runs with a letter in common are not told apart · ◊ ties decide verdicts with it
"""
    )
    assert "± half of the 95 % interval of the mean" in " ".join(text.split())


def test_a_baseline_at_a_glance(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert out(capfd, "compare", *files, "-m", "AP P@10", "--baseline", "bm25").startswith(
        """\
hybrid: better on AP and P@10
dense-fp16: better on AP and P@10
logprob: no difference shown on P@10; ties decide on AP
llm-judge: ties decide on AP and P@10
boolean: ties decide on AP and P@10
Ties decide 5 of 10 comparisons, all with llm-judge, boolean or logprob; on AP
  llm-judge is number 5 with realistic ties, number 1 with optimistic ones.

rank  run             AP                P@10
                    mean        Δ       mean        Δ
   1  hybrid      0.6603  +0.2223  ▲  0.8600  +0.2240  ▲
   2  dense-fp16  0.5355  +0.0975  ▲  0.7320  +0.0960  ▲
   3  bm25        0.4380              0.6360
   4  logprob     0.4267  -0.0113  ◊  0.5640  -0.0720  =
   5  llm-judge   0.3737  -0.0643  ◊  0.6800  +0.0440  ◊
   6  boolean     0.2046  -0.2333  ◊  0.2360  -0.4000  ◊

Δ against bm25 · ▲ better · = no difference shown · ◊ ties decide
"""
    )


def test_ties_at_a_glance(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert out(capfd, "ties", *files) == (
        """\
6 runs · 25 topics · 15,000 documents, 63.7 % of them tied
Ties move llm-judge most: its AP is 0.3737 at worst, 0.8304 at best and 0.5270
  on average; trec_eval, which orders ties by name, says 0.5169 (+38.3 %).
The widest span on other measures: nDCG@10 0.4141 (llm-judge), RR 0.2710
  (boolean), P@10 0.4000 (boolean).
By names, 2 of 6 runs change rank on AP; 6 could.
29 of 75 conclusions between two runs depend on ties (AP 6, nDCG@10 7, RR 10,
  P@10 6, R@1000 0): which is better, or whether p < 0.05, each test by itself;
  exaequo compare corrects p for their number.
boolean fills its lists with 1,665 documents of score 0, worth 0.0566 to 0.1365
  of its AP.

rank  run         tied %   worst  AP              best  trec_eval  gain %  ranks
   5  llm-judge     99.4  0.3737     ├─×●────┤  0.8304     0.5169    38.3    1–6
   6  boolean       99.6  0.2046  ├●──┤         0.4265     0.2804    37.0    5–6
   4  logprob       97.2  0.4267      ●┤        0.4867     0.4539     6.4    3–5
   2  dense-fp16    85.8  0.5355        ●       0.5541     0.5442     1.6    2–3
   3  bm25           0.0  0.4380      ●         0.4380     0.4380     0.0    3–5
   1  hybrid         0.0  0.6603          ●     0.6603     0.6603     0.0    1–2

tied %: documents that share their score with another of their list · worst,
  best: realistic and optimistic ties · ● average over all orders, × by name ·
  trec_eval: ties by name · gain %: that over the worst · ranks: those that some
  order of ties gives
More: --table runs, lists, lucky, …; --full; -m MEASURE; exaequo plot ties
"""
    )


@pytest.mark.parametrize("page", ["compare", "ties"])
def test_the_screens_of_the_docs(page: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / f"{page}.md").read_text(encoding="utf-8")
    ((options, screen),) = re.findall(
        rf"^\$ exaequo {page} sample/qrels.txt sample/runs/\*(.*)\n((?:.+\n|\n)*?)```", text, re.M
    )
    assert out(capfd, page, *files, *options.split()) == screen


# --------------------------------------------------------------------------------------------------------- the room


@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_everything_fits(
    arguments: list[str], lang: str, files: list[str], many: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    name, *options = arguments
    for given in files, many:
        if "bm25" in options and given is many:
            options = ["--baseline", "s07"]
        lines = out(capfd, name, *given, *options, "--lang", lang).splitlines()
        assert len(lines) <= 40
        assert max(map(len, lines)) <= 80
        left = [line for line in lines if line.startswith("… ") and not re.search("figures|valeurs|mea?sure", line)]
        assert any(left) == (given is many)


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (100, 30), (200, 60)])
def test_a_terminal_says_how_much_fits(
    columns: int, lines: int, many: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", str(lines))
    for name in ("eval", "compare", "ties"):
        text = out(capfd, name, *many).splitlines()
        assert len(text) <= min(lines, 41)
        assert max(map(len, text)) <= columns


def test_as_many_as_are_asked_for(many: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("eval", "compare", "ties"):
        found = [int(row) for row in re.findall(r"^ *(\d+)  s\d\d ", out(capfd, name, *many, "--top", "45"), re.M)]
        assert len(found) == 45
        assert (found == sorted(found)) == (name != "ties")  # which begins with what ties move most
    assert "… 47 more, down to s49 " in out(capfd, "eval", *many, "--sort", "name", "--top", "3")
    assert "… 47 more\n" in out(capfd, "ties", *many, "--sort", "name", "--top", "3")


def test_a_long_name_is_shortened_in_the_middle(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    name = "bm25-" + "x" * 100 + "-stem"
    text = Path(files[1]).read_text(encoding="utf-8").replace(" bm25", f" {name}")
    Path("long.txt").write_text(text, encoding="utf-8")
    given = ["eval", files[0], "long.txt", *files[2:], "-m", "AP,P@10"]
    screen = out(capfd, *given, "--top", "9")
    table = screen.split("\n\n")[1]
    assert table.count("\nrank") == 0  # one part
    assert max(map(len, table.splitlines())) <= 80
    (short,) = (word for word in table.split() if "…" in word)
    assert len(short) > 40
    begin, end = short.split("…")
    assert name.startswith(begin)
    assert name.endswith(end)
    assert name in out(capfd, *given, "--full")
    assert name in out(capfd, *given, "--format", "csv")


@pytest.mark.parametrize("words", ["design", "unjudged", "budget", "filter", "replicate --with", "explain"])
def test_what_is_piped_fits_a_page(words: str, files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    command, *option = words.split()
    runs = [*files[1:3], *option, *files[3:5]] if option else files[1:2] if command == "explain" else files[1:]
    lines = out(capfd, command, files[0], *runs).splitlines()
    assert max(map(len, lines)) <= 80
    assert 12 <= len(lines) <= 40


def test_shortened_names_stay_apart() -> None:
    names = [f"{'a' * 40}{each}{'b' * 40}" for each in ("one", "two")]
    table = Table.of(pl.DataFrame({"run": [*names, "short"], "what": ["x " * 40] * 3, "score": [1.0, 2.0, 3.0]}))
    for columns in (40, 60, 120, 200):
        values = list(narrowed(table, columns).columns[0].values)
        assert len({*values}) == 3
        assert values[2] == "short"
        assert list(narrowed(table, columns).columns[1].values) == ["x " * 40] * 3  # sentences are no names
    assert narrowed(table, 200) == table
    assert middle("abcdefghij", 5) == "ab…ij"
    assert middle("abcde", 5) == "abcde"


def test_a_page_has_room_for_what_is_first() -> None:
    table = Table.of(pl.DataFrame({"run": [f"r{at}" for at in range(90)], "score": [0.5] * 90}), "Scores " * 20)
    said = [f"Sentence {at} of many, and as long as they are." for at in range(30)]
    text = page(said, {"scores": table}, ["More: --table topics"], 60, 30, "--table {table}")
    assert text.count("\n") < 30
    assert max(map(len, text.splitlines())) <= 60
    found = re.findall(r"^r\d+ ", text, re.MULTILINE)
    assert found == [f"r{at} " for at in range(len(found))]
    assert len(found) >= 3
    assert f"… and {90 - len(found)} more; --table scores has all" in text
    assert re.search(r"^… and \d+ more\.$", text, re.MULTILINE)
    assert text.endswith("More: --table topics")


# -------------------------------------------------------------------------------------------------- what is asked for


def test_the_rest_is_there_when_asked_for(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    full = out(capfd, "compare", *files, "--full")
    assert "Pairs: the second against the first" in full
    assert "2.2e-16" not in full  # bm25 and boolean: P@10 can be equal
    out(capfd, "compare", *files, "-o", "all.txt")
    assert Path("all.txt").read_text(encoding="utf-8") == full
    assert out(capfd, "compare", *files, "--judges", files[0]).count("Other judgments of the same topics") == 1
    assert "span: optimistic less realistic" in out(capfd, "ties", *files, "--table", "scores")
    assert "span:" not in out(capfd, "ties", *files, "--table", "scores", "--format", "markdown")
    assert "share a letter" in full
    full = out(capfd, "compare", *files, "--full", "--baseline", "bm25")
    assert "share a letter" not in full
    assert "Systems (▲ better, ▼ worse than the baseline)" in full


@pytest.mark.parametrize("more", [["--full"], ["--format", "csv"], ["-o", "x"], ["-q"]])
def test_an_order_is_for_the_screen(more: list[str], files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    for name, value in ("sort", "AP"), ("top", "3"):
        assert command(["eval", *files, f"--{name}", value, *more]) == 2
        assert f"--{name} is for the first screen" in capfd.readouterr().err


def test_the_luckiest_lists_have_a_top_too(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    lucky = out(capfd, "ties", *files, "-m", "AP", "--table", "lucky", "--top", "2", "--format", "csv")
    assert len(lucky.splitlines()) == 3


def test_an_order_that_is_not_there(files: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("eval", "compare", "ties"):
        assert command([name, *files, "-m", "AP P@10", "--sort", "P@1"]) == 2
        assert "--sort takes name or a measure that is shown. Got 'P@1'; did you mean 'P@10'" in capfd.readouterr().err


def test_the_choice_of_a_view() -> None:
    assert View(None, None, False).first(Target("table", None))
    assert not View(None, None, True).first(Target("table", None))
    assert not View(None, None, False).first(Target("markdown", None))
    assert not View(None, None, False).first(Target("table", "x"))
    assert not View(None, None, False).first(Target("table", None), other=True)
    with pytest.raises(UsageError):
        View("AP", None, False).first(Target("json", None))


def test_a_terminal_without_unicode(
    files: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = out(capfd, "ties", *files)
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    show_text(text)
    plain = terminal.buffer.getvalue().decode().splitlines()
    assert "   5  llm-judge     99.4  0.3737     |-xo----|  0.8304     0.5169    38.3    1-6" in plain
    assert not any("\\u" in line for line in plain)


# ------------------------------------------------------------------------------------------------------- what is said


def test_marks_and_counts_are_those_of_the_pairs() -> None:
    result = exaequo.compare(*sampled(), "AP nDCG@10 P@10")
    text = " ".join(comparison_screen(result).before)
    ties = result.pairs.filter(pl.col("outcome") == TIES)
    assert f"Ties decide {ties.height} of {result.pairs.height} comparisons" in text
    for measure in result.scores.measures:
        own = _Own(result, measure)
        pairs = ties.filter(pl.col("measure") == measure.name).select("one", "two").rows()
        assert all({*pair} & {*own.tied} for pair in pairs)
        assert "hybrid" not in own.tied  # it has no ties
        counts = [own.count("better", "worse"), own.count("none", "equivalent"), own.count(TIES)]
        assert " / ".join(map(str, counts)) in text
        assert sum(counts) == own.pairs.height


def test_a_pair_is_seen_from_either_run() -> None:
    own = _Own(exaequo.compare(*sampled(), "AP"), parse_measures("AP")[0])
    here, there = own.against("hybrid")["bm25"], own.against("bm25")["hybrid"]
    assert (here["outcome"], there["outcome"]) == ("better", "worse")
    assert here["difference"] == -there["difference"] > 0
    assert (here["low"], here["high"]) == (-there["high"], -there["low"])
    assert 0 < here["low"] < here["difference"] < here["high"]


def test_two_runs_have_their_verdicts() -> None:
    qrels, runs = sampled()
    result = exaequo.compare(qrels, runs[:2], "AP P@10")
    assert [*comparison_screen(result).before[:2]] == result.verdicts
    assert (
        exaequo.compare(qrels, runs, "AP", baseline="bm25").verdicts[2]
        in comparison_screen(exaequo.compare(qrels, runs, "AP", baseline="bm25")).before
    )


def test_ranks_that_ties_leave_open_hold_those_of_every_strategy() -> None:
    audit = audit_ties(*sampled(), "AP Noise@10")
    for name, upward in ("AP", 1), ("Noise@10", -1):
        columns = {each.head: list(each.values) for each in tie_screen(audit, sort=name).tables[0].columns}
        own = audit.scores.filter(pl.col("measure") == name)
        for strategy in ("realistic", "conventional", "optimistic", "expected"):
            places = dict(zip(own["run"], ranks(upward * own[strategy].to_numpy()), strict=True))
            for run, open_ in zip(columns["run"], columns["ranks"], strict=True):
                first, _, last = open_.partition("–")
                assert int(first) <= places[run] <= int(last or first)
        for run, drawn in zip(columns["run"], columns[name.ljust(36)], strict=True):
            tied = run not in ("bm25", "hybrid")
            assert len(drawn) == 36
            assert drawn.count(MEAN) == 1
            assert re.fullmatch(rf" *[{LEFT}{MEAN}][{BETWEEN}{MEAN}×]*[{RIGHT}{MEAN}]? *", drawn)
            assert tied or drawn.strip() == MEAN


def test_the_worst_is_to_the_left() -> None:
    audit = audit_ties(*sampled(), "Noise@10")
    columns = {each.head.strip(): list(each.values) for each in tie_screen(audit).tables[0].columns}
    drawn = dict(zip(columns["run"], columns["Noise@10"], strict=True))
    assert drawn["boolean"].index(LEFT) == 0  # most noise of all
    assert drawn["hybrid"].index(MEAN) > drawn["bm25"].index(MEAN)


# ----------------------------------------------------------------------------------------------------------- the parts


def test_rows_are_picked_with_their_marks() -> None:
    table = Table(columns=[Column("x", [1, 2, 3], best=[0, 2], marks=["a", "b", "c"]), Column("y", iter("pqr"))])
    one, two = picked(table, [2, 1]).columns
    assert (one.values, one.best, one.marks) == ([3, 2], [0], ["c", "b"])
    assert two.values == ["r", "q"]


def test_what_stands_aside_gives_way() -> None:
    table = Table(columns=[Column("x", list(range(20)))], lines=["what x is"])
    screen = Screen(["first"], [table], 20, "{} shown".format, ["last"], aside=["aside"])
    assert shown(screen, 80, 40).splitlines()[-3:] == ["what x is", "aside", "last"]
    short = shown(screen, 80, 10).splitlines()
    assert "3 shown" in short
    assert "aside" not in short


def test_lines_do_not_end_between_a_number_and_its_sign() -> None:
    table = Table(columns=[Column("x", [1])])
    for width in range(20, 60):
        text = shown(Screen(["so that p < 0.05 in 12.5 % of the cases, or a / b"], [table], 1, str), width, 40)
        assert not re.search(r"\n *[%<=/]|[<=/]$", text, re.MULTILINE)


@pytest.mark.parametrize(("more", "said"), [(1e-13, False), (1e-6, True)])
def test_ties_decide_what_digits_show(more: float, said: bool) -> None:
    (measure,) = parse_measures("AP")
    scores = exaequo.evaluate(*sampled(), measure)
    effect = TieEffect("r", measure, 0.0167, 0.0167, 0.0167 + more, 1)
    object.__setattr__(scores, "tie_effects", (effect,))
    assert bool(tie_lines(scores, exact=True)) == bool(tie_lines(scores, per_topic=True)) == said
    assert not tie_lines(scores)


def test_ranks_names_and_orders() -> None:
    assert ranks(np.array([0.3, 0.5, 0.3 + 1e-15, np.nan])).tolist() == [2, 1, 2, 4]
    few = [names(list("abcdef"[:n])) for n in (1, 2, 4, 5)]
    assert few == ["a", "a and b", "a, b, c and d", "a, b, c and 2 more"]
    measures = parse_measures("AP P@10")
    assert sorted_by(None, measures) == measures[0]
    assert sorted_by("P@10", measures) == measures[1]
    assert sorted_by("name", measures) is None
    with pytest.raises(BadParameter, match="--sort takes name or"):
        sorted_by("nonsense", measures)


def test_what_is_zero_is_settled() -> None:
    frame = pl.DataFrame({"a": [2.2e-16, -2.2e-16, 0.5, float("inf"), None, float("nan")], "p": [1e-20] * 6})
    found = settled(frame, "a", "absent")
    assert str(found["a"].to_list()) == "[0.0, 0.0, 0.5, inf, None, nan]"
    assert found["p"].to_list() == [1e-20] * 6
