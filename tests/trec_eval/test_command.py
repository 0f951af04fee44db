"""The drop-in command beyond the golden files: its options, its quirks, its errors, its speed."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tools import files_of
from works import ONE, write

from exaequo.cli import run
from exaequo.trec_eval.catalogue import MEASURES, NICKNAMES, Official, OfficialError, requests
from exaequo.trec_eval.command import evaluate, main, written
from exaequo.trec_eval.gains import merge_sorted
from exaequo.trec_eval.options import parse

QRELS = "1 0 a 1\n1 0 b 3\n1 0 c 0\n2 0 a 1\n2 0 z 1\n"
RUN = "1 Q0 a 1 3 sys\n1 Q0 c 2 2 sys\n1 Q0 b 3 2 sys\n2 Q0 x 1 1 sys\n2 Q0 a 2 1 last\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text(QRELS, encoding="utf-8")
    (tmp_path / "r").write_text(RUN, encoding="utf-8")
    return tmp_path


def figures(*arguments: str) -> dict[tuple[str, str], str]:
    lines = [line.split("\t") for line in main([*arguments, "q", "r"]).splitlines()]
    return {(name.strip(), topic): value for name, topic, value in lines}


def test_all_measures_are_there() -> None:
    assert len(MEASURES) == 57
    assert set(NICKNAMES) == {"official", "all_trec", "set", "prefs", "all_prefs", "qrels_jg"}
    assert sum(official.since > 9 for official in MEASURES) == 5


@pytest.mark.parametrize(
    "arguments",
    [
        ["-l2", "-q", "-m", "P.2", "-m", "map"],
        ["-l", "2", "-qm", "P.2", "-mmap"],
        ["-ql2", "-mmap", "-mP.2"],
        ["--level_for_rel=2", "--query_eval_wanted", "--measure", "P.2", "--meas=map"],
        ["q", "-l2", "-q", "r", "-m", "P.2", "-m", "map"],
    ],
)
def test_options_in_any_form(arguments: list[str]) -> None:
    files = [] if "q" in arguments else ["q", "r"]
    assert main([*arguments, *files]) == main(["-q", "-l2", "-mmap", "-mP.2", "q", "r"])


def test_script_of_every_user() -> None:
    line = f"{sys.executable} -m exaequo trec_eval -q -m ndcg_cut.2 -m recall.1000 q r | grep all | awk '{{print $3}}'"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)  # noqa: S607
    text = main(["-q", "-mndcg_cut.2", "-mrecall.1000", "q", "r"])
    assert done.stdout.decode().split() == [line.split()[2] for line in text.splitlines() if "all" in line]
    broken = f"{sys.executable} -m exaequo trec_eval -q -m all_trec q r | head -n 1"
    done = subprocess.run(["bash", "-c", broken], capture_output=True, check=True)  # noqa: S607
    assert done.stderr == b""


def test_standard_input() -> None:
    line = f"{sys.executable} -m exaequo trec_eval -m map q - < r"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)  # noqa: S607
    assert done.stdout.decode() == main(["-mmap", "q", "r"])


def test_fair_ties_with_one_flag() -> None:
    assert figures("-mmap")["map", "all"] == "0.5417"
    assert figures("-mmap", "--ties", "realistic")["map", "all"] == "0.5417"
    assert figures("-mmap", "--ties", "optimistic")["map", "all"] == "0.7500"


def test_the_first_parameter_list_counts() -> None:
    assert set(figures("-mP.2", "-mP.3", "-mP")) == {("P_2", "all")}


def test_level_does_not_touch_gains() -> None:
    assert figures("-l3", "-mndcg")["ndcg", "all"] == figures("-mndcg")["ndcg", "all"]
    assert figures("-l3", "-mmap")["map", "all"] != figures("-mmap")["map", "all"]


def test_cut_comes_before_dropping_the_unjudged(files: Path) -> None:
    (files / "r").write_text("1 Q0 x 1 3 s\n1 Q0 a 2 2 s\n2 Q0 a 1 1 s\n", encoding="utf-8")
    assert figures("-q", "-M1", "-J", "-mnum_ret")["num_ret", "1"] == "0"
    assert figures("-q", "-M1", "-J", "-m11pt_avg")["11pt_avg", "1"].strip() in ("-nan", "nan")


def test_rank_biased_precision_by_hand() -> None:
    """Topic 1: judged 1, 0, 3, so gains 1/3, 0, 1. Topic 2: an unjudged document, then judged 1, not scaled."""
    values = figures("-q", "-mrbp.p=0.5", "-mrbp_resid.p=0.5")
    assert values["rbp_p=0.5", "1"] == f"{0.5 * (1 / 3 + 0.25):6.4f}"
    assert values["rbp_p=0.5", "2"] == f"{0.5 * 0.5:6.4f}"
    assert values["rbp_resid_p=0.5", "2"] == f"{0.25 + 0.5:6.4f}"
    assert values["rbp_resid_p=0.5", "1"] == "0.0000"


def test_a_comment_may_be_the_last_line(files: Path) -> None:
    (files / "q").write_text(QRELS + "# end", encoding="utf-8")
    assert figures("-mmap")["map", "all"] == "0.5417"
    with pytest.raises(OfficialError, match=r"q:6: 2 fields \('# end'\)"):  # release 9 knows no comments
        main(["--release", "9", "-mmap", "q", "r"])


def test_high_judgments_are_relevant_and_reals_are_cut(files: Path) -> None:
    (files / "q").write_text("1 0 a 200\n1 0 b 1.9\n2 0 a 0.9\n2 0 z 1\n", encoding="utf-8")
    assert figures("-q", "-mnum_rel")["num_rel", "1"] == "2"
    assert figures("-q", "-mnum_rel")["num_rel", "2"] == "1"
    (files / "q").write_text("1 0 a 1e300\n2 0 a -1e300\n2 0 z 1\n", encoding="utf-8")
    assert figures("-q", "-c", "-mnum_rel")["num_rel", "all"] == "2"


def test_missing_topics(files: Path) -> None:
    (files / "r").write_text("1 Q0 a 1 3 sys\n", encoding="utf-8")
    with pytest.raises(OfficialError, match="no result for judged topic '2'") as raised:
        main(["q", "r"])
    assert raised.value.exit_code == 4
    assert figures("--release", "9", "-mnum_q")["num_q", "all"] == "1"
    ten, nine = figures("-c", "-q", "-mmap"), figures("-c", "-q", "-mmap", "--release", "9")
    assert ten["map", "all"] == nine["map", "all"] == "0.2500"
    assert ("map", "2") in ten
    assert ("map", "2") not in nine


def test_repeats_matter_only_where_they_are_evaluated(files: Path) -> None:
    (files / "r").write_text(RUN + "9 Q0 a 1 1 s\n9 Q0 a 2 1 s\n", encoding="utf-8")
    assert figures("-mmap")["map", "all"] == "0.5417"
    (files / "r").write_text(RUN + "1 Q0 a 1 1 s\n", encoding="utf-8")
    with pytest.raises(OfficialError, match=r"document 'a' is returned twice for topic '1'"):
        main(["q", "r"])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["q"], 1, "1 file; expected two"),
        (["-x", "q", "r"], 1, "usage: exaequo trec_eval"),
        (["-", "-"], 1, "can stand for one file only"),
        (["-m", "mpa", "q", "r"], 1, "did you mean 'map'"),
        (["-m", "P.", "q", "r"], 1, "nothing after the dot"),
        (["-m", "P.0", "q", "r"], 2, "expected whole numbers ≥ 1"),
        (["-m", "P.5,5", "q", "r"], 2, "stands twice"),
        (["-m", "ndcg.1", "q", "r"], 2, "name=number"),
        (["-m", "utility.1", "q", "r"], 4, "expected 4"),
        (["-m", "prefs_simp", "q", "r"], 4, "needs -R prefs"),
        (["-R", "what", "q", "r"], 2, "qrels_jg"),
        (["-T", "what", "q", "r"], 2, "trec_results"),
        (["--release", "8", "q", "r"], 1, "expected 9 or 10"),
        (["--ties", "fair", "q", "r"], 1, "expected one of"),
        (["-Z", "none", "q", "r"], 255, "no such file"),
        (["-l", "-1", "q", "r"], 1, "expected a whole number ≥ 0"),
        (["-D", "0.", "q", "r"], 7, "no topic is both"),
        (["-D", "0.99", "q", "r"], 7, "no topic is both"),
    ],
)
def test_errors(arguments: list[str], code: int, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["trec_eval", *arguments]) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err


def test_help_and_version(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["trec_eval", "-h"]) == 0
    out = capfd.readouterr().out
    assert all(official.name in out for official in MEASURES)
    assert run(["trec_eval", "-v"]) == 0
    assert "trec_eval version 10.0" in capfd.readouterr().out.splitlines()


@pytest.mark.parametrize("official", MEASURES, ids=lambda official: official.name)
def test_every_measure_is_described(official: Official) -> None:
    release = ["--release", "9"] if official.since == 9 else []
    name, *lines = main([*release, "-h", "-m", official.name]).splitlines()
    told = " ".join(map(str.strip, lines))
    assert name == official.name
    assert told.endswith(".")
    assert ("-R prefs" in told) == (official.judgments == "prefs")
    assert ("The default is -m" in told) == bool(official.default)
    assert ("Parameters: " in told) == bool(official.takes)


def test_help_describes_each_measure_that_is_asked_for() -> None:
    heads = [line for line in main(["-h", "-m", "set", "-m", "map"]).splitlines() if line and line[0] != " "]
    assert heads == [request.official.name for request in requests(["set", "map"])]


@pytest.mark.parametrize(
    ("asked", "said"),
    [("-a", "all measures are -m all_trec since release 9"), ("-m judged.20", "unj is what it lacks to 1")],
)
def test_what_other_programs_have_is_named(asked: str, said: str) -> None:
    with pytest.raises(OfficialError, match=said):
        main([*asked.split(), "qrels", "run"])


def test_a_long_name_may_be_cut_short_beside_ours() -> None:
    assert parse(["--m", "map", "--mend"]).measures == ["map"]
    assert parse(["--m", "map", "--mend"]).mend
    assert not parse(["--m", "map"]).mend


def test_one_topic_of_interest() -> None:
    assert {topic for _, topic in figures("-q", "-D", "0.2", "-mmap")} == {"2", "all"}


def test_levels_out_of_order_are_never_met() -> None:
    """Read from the last: 0.1 is met, 0.9 is passed by then, so it gets the precision at the top of the list."""
    assert figures("-q", "-m11pt_avg.0.1,0.9")["11pt_avg_0.1,0.9", "1"] == "0.8333"
    assert figures("-q", "-m11pt_avg.0.9,0.1")["11pt_avg_0.9,0.1", "1"] == "1.0000"


def test_names_have_room_for_eight_characters() -> None:
    assert ("Rprec_mult_100000.0", "all") in figures("-mRprec_mult.100000")
    assert ("P_9223372036854775807", "all") in figures("-mP.9999999999999999999")
    assert figures("-q", "-mrelstring.1e19")["relstring_1e19", "1"] == "'103'"


def test_the_long_form_of_the_obsolete_option_takes_a_value() -> None:
    assert main(["--Output_old_results_format", "x", "-mmap", "q", "r"]) == main(["-o", "-mmap", "q", "r"])


def test_counts_of_topics_do_not_look_at_documents(files: Path) -> None:
    (files / "q").write_text(QRELS + "1 0 a 1\n", encoding="utf-8")
    assert figures("-mnum_q", "-mrunid")["num_q", "all"] == "2"


def test_comparison_of_gains_cuts_differences() -> None:
    """Gains less than 1 apart count as equal, so 0.3 stays before 0.1."""
    assert merge_sorted([0.3, 2.0, 0.1], lambda one, two: int(one - two)) == [0.3, 0.1, 2.0]


@pytest.mark.speed
def test_printing_is_cheap(files: Path) -> None:
    """Printing all figures of 50 topics takes at most twice as long as computing them."""
    qrels, (lines,) = files_of(write(files / "big", ONE))
    options = parse(["-q", "-m", "all_trec", str(qrels), str(lines)])

    ratios = []
    for _ in range(5):
        start = time.perf_counter()
        table = evaluate(options, requests(options.measures))
        middle = time.perf_counter()
        text = written(table, options)
        ratios.append((time.perf_counter() - start) / (middle - start))
    assert text.count("\n") > 4000
    assert min(ratios) < 3
    assert math.isfinite(min(ratios))
