"""Experiments: systems of all kinds, what they cost, what goes wrong, the command, the demonstration."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import exaequo
from exaequo.cli import run
from exaequo.errors import BadParameter, DataWarning, ExaequoError, InputError
from exaequo.searching.experiments import Experiment
from helpers import little
from waiting import PATIENCE, soon

LITTLE = little()
#: A system that copies the first words of each query into its answer.
PROGRAM = """
import sys, json
documents, queries, topics, run = sys.argv[1:]
docnos = [json.loads(line)["docno"] for line in open(documents, encoding="utf-8")]
assert open(topics, encoding="utf-8").read().count("<num> Number: ") == 9
with open(run, "w") as out:
    for line in open(queries, encoding="utf-8"):
        qid, text = line.rstrip("\\n").split("\\t")
        assert len(text.split()) == 2
        for rank, docno in enumerate(docnos[int(qid):int(qid) + 5]):
            print(qid, "Q0", docno, rank, -rank, "mine", file=out)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("exaequo.read.collection.read_collection", lambda _: LITTLE, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my system.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def python(code: str, places: str = "{run}") -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} {places}"


def by_words(query: str) -> dict[str, float]:
    """Count the words in common."""
    found = {
        docno: float(sum(word in text.split() for word in query.split()))
        for docno, text in LITTLE.documents.select("docno", "text").rows()
    }
    return {docno: sim for docno, sim in found.items() if sim}


def result_of(**systems: Any) -> Experiment:
    return exaequo.experiment(LITTLE, systems, ["AP", "P@5"])


def test_systems_of_all_kinds(place: Path) -> None:
    command = f"{shlex.quote(sys.executable)} 'my system.py' {{documents}} {{queries}} {{topics}} {{run}}"
    result = result_of(counted="coordination", program=command, function=by_words)
    assert list(result.runs) == ["counted", "program", "function"]
    for ties in ("realistic", "conventional", "optimistic"):
        one, two = (result.scores.mean("AP", run=name, ties=ties) for name in ("counted", "function"))
        assert one == two > 0
    directly = exaequo.evaluate(LITTLE.qrels, exaequo.search(LITTLE, "coordination"), "AP", ties="all")
    assert result.systems["AP_optimistic"][0] == directly.mean("AP", ties="optimistic")
    assert set(result.tables) == {"costs", "queries", "systems"}
    costs = result.costs.rows_by_key("system", named=True, unique=True)
    assert 20 < costs["counted"]["memory_mb"] < 2000
    assert costs["function"]["memory_mb"] is None
    for cost in costs.values():
        assert cost["queries_per_second"] == pytest.approx(9 / cost["seconds"])
        assert cost["cpu_seconds"] >= 0
    assert list(place.iterdir()) == [place / "my system.py"]  # what nobody asked to keep is gone
    assert {each["file"] for each in result.scores.inputs["runs"]} == set(result.runs)


@pytest.mark.filterwarnings("ignore::exaequo.errors.DataWarning")  # most topics are missing
def test_memory_is_that_of_the_program_alone() -> None:
    ballast = np.ones(40_000_000)  # 320 MB here must not count as memory of a program
    write = "import sys; open(sys.argv[1], 'w').write('1 Q0 D00 1 1 x')"
    costs = result_of(small=python(write), large=python("x = b'1' * 200_000_000;" + write)).costs
    small, large = costs["memory_mb"]
    assert small < 60
    assert 200 < large < 280
    assert ballast.sum() > 0


@pytest.mark.parametrize(
    "found",
    [
        lambda _: ["D03", "D01"],
        lambda _: [("D03", 2.5), ("D01", 1)],
        lambda _: {"D01": 1, "D03": 2},
        lambda _: (docno for docno in ("D03", "D01")),
    ],
)
def test_what_a_function_may_return(found: Callable[[str], Any]) -> None:
    frame = result_of(mine=found).runs["mine"].frame
    assert frame.filter(qid="4").sort("sim", descending=True)["docno"].to_list() == ["D03", "D01"]


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (lambda _: [1, 2.5], "mine: topic '1': 2.5 is no id"),
        (lambda _: None, "it returned None; expected docnos, pairs"),
        (lambda _: 3, "it returned 3; expected docnos, pairs"),
        (lambda _: "D01", "it returned 'D01'; expected docnos, pairs"),
        (lambda _: ["D1", "D1"], "document 'D1' of topic '1' is here and in topic '1', document 1"),
        (lambda _: [], "it found nothing for any topic"),
        (lambda _: {"D1": float("nan")}, "mine"),
        (python("import sys; open(sys.argv[1], 'w')"), "found nothing for any topic"),
        (python("pass"), r"^mine\.txt: mine ended without writing it; expected a run"),
        (
            python("import sys; open(sys.argv[1], 'w').write('1 Q0 D1 1 1 x\\n1 Q0 D2 2 high x\\n')"),
            r"^mine\.txt:2: .*-o DIR",
        ),
    ],
)
def test_a_bad_run_is_refused(system: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        result_of(mine=system)


def test_a_bad_run_that_is_kept_is_where_the_message_says(tmp_path: Path) -> None:
    bad = python("import sys; open(sys.argv[1], 'w').write('1 Q0 D1 1 high x\\n')")
    with pytest.raises(InputError, match="high") as refused:
        exaequo.experiment(LITTLE, {"mine": bad}, folder=tmp_path)
    assert Path(refused.value.problems[0].file) == tmp_path / "runs" / "mine.txt"
    assert (tmp_path / "runs" / "mine.txt").exists()


def test_a_function_that_fails_says_at_which_topic() -> None:
    with pytest.raises(ZeroDivisionError) as failed:
        result_of(mine=lambda _: 1 / 0)
    assert failed.value.__notes__ == ["mine was asked topic 1: bridge engine"]


def test_a_program_that_fails() -> None:
    code = "import sys; print('\\n'.join(f'line {n}' for n in range(20)), file=sys.stderr); sys.exit(3)"
    with pytest.raises(ExaequoError, match=r"mine ended with exit code 3\. It said:\n  line 12\n(.*\n)*  line 19$"):
        result_of(mine=python(code))
    with pytest.raises(ExaequoError, match="mine was ended by signal 9"):
        result_of(mine=python("import os; os.kill(os.getpid(), 9)"))
    with pytest.raises(ExaequoError, match=r"mine cannot be started \(No such file or directory\): ./nothing"):
        result_of(mine="./nothing {run}")


def test_a_program_that_takes_too_long(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    child = f"import time; time.sleep(3); open({str(mark)!r}, 'w')"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    with pytest.raises(ExaequoError, match=r"mine took more than 0\.8 seconds and was ended"):
        exaequo.experiment(LITTLE, {"mine": python(code)}, timeout=0.8)
    time.sleep(3)
    assert not mark.exists()  # what it started was ended too


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_program_ends_with_the_one_who_waits(tmp_path: Path, stop: signal.Signals, code: int) -> None:
    write = "import os, sys, time; open(sys.argv[1], 'w').write('half'); open('pid', 'w').write(f'{os.getpid()}.')"
    command = python(f"{write}; time.sleep(60)")
    # Tests may run where interrupts are ignored, which programs inherit.
    main = "import signal, exaequo.cli; signal.signal(2, signal.default_int_handler); exaequo.cli.main()"
    words = [sys.executable, "-c", main, "experiment", "crossings", "--system", f"mine={command}", "-o", "out"]
    with subprocess.Popen(words, cwd=tmp_path, start_new_session=True) as process:
        pid = tmp_path / "pid"
        assert soon(lambda: pid.exists() and pid.read_text().endswith("."))
        process.send_signal(stop)
        assert process.wait(PATIENCE) == code
    assert soon(lambda: not Path(f"/proc/{pid.read_text()[:-1]}").exists() if Path("/proc").exists() else True)
    if stop == signal.SIGINT:  # nobody can tidy up after the other
        assert not list((tmp_path / "out" / "runs").iterdir())


@pytest.mark.filterwarnings("ignore::exaequo.errors.DataWarning")  # most topics are missing
def test_no_shell_reads_a_command(tmp_path: Path) -> None:
    write = "import sys; open(sys.argv[1], 'w').write('1 Q0 D00 1 1 x')"
    result_of(mine=python(write, f"{{run}} ; touch {tmp_path}/touched '$(touch {tmp_path}/touched)'"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ({}, "No system is given"),
        ({"a/b": "bm25"}, "The name of a system is that of a file"),
        ({"..": "bm25"}, "The name of a system is that of a file"),
        ({"x": "bm52"}, "did you mean 'bm25'"),
        ({"x": "./mine {queries}"}, "put {run} there"),
        ({"x": "'./mine {run}"}, "Cannot read the command of x"),
        ({"x": 3}, "must be a model, a command or a function"),
    ],
)
def test_what_is_no_system_is_refused_before_the_work(systems: dict[str, Any], said: str) -> None:
    with pytest.raises(BadParameter, match=re.escape(said)):
        exaequo.experiment(LITTLE, {"first": lambda _: pytest.fail("asked")} | systems if systems else systems)


def test_a_time_that_is_none_is_refused() -> None:
    timeouts: tuple[Any, ...] = (-1, float("nan"), float("inf"), "ten")
    for timeout in timeouts:
        with pytest.raises(BadParameter, match="timeout must be a number of seconds, 0 to 31,536,000"):
            exaequo.experiment(LITTLE, ["bm25"], timeout=timeout)
    with pytest.raises(BadParameter, match="depth must be a whole number"):
        exaequo.experiment(LITTLE, ["bm25"], depth=0)


def test_systems_without_names() -> None:
    assert list(exaequo.experiment(LITTLE, "bm25-stem", "AP").runs) == ["bm25-stem"]
    functions: Any = [by_words]
    with pytest.raises(BadParameter, match="A system is named as bm25-stem is; functions go by name"):
        exaequo.experiment(LITTLE, functions)


def test_what_there_is_to_say() -> None:
    with pytest.warns(DataWarning) as given:
        result = exaequo.experiment(
            replace(LITTLE, remarks=("an odd file",)), {"mine": lambda q: ["XX"] * ("ship" in q)}
        )
    said = [str(each.message) for each in given]
    assert said == list(result.warnings)
    assert said[:2] == ["an odd file", "mine: 1 document that the collection does not have: XX"]
    with pytest.raises(InputError, match="little: there are no judgments"):
        exaequo.experiment(replace(LITTLE, qrels=None), ["bm25"])


def test_comparison_and_files(tmp_path: Path) -> None:
    result = result_of(words=by_words, first=lambda _: ["D00", "D01"])
    assert result.compare(baseline="words").pairs["one"].unique().to_list() == ["words"]
    paths, missing = result.save(tmp_path / "made")
    assert not missing
    names = ["qrels.txt", "queries.tsv", "runs/words.txt", "runs/first.txt", "report.html", "curves.svg"]
    assert paths == [tmp_path / "made" / name for name in names]
    again = exaequo.evaluate(paths[0], paths[2:4], ["AP", "P@5"], ties="all")
    for name in result.runs:
        assert again.mean("AP", run=name, ties="realistic") == result.scores.mean("AP", run=name, ties="realistic")
    assert paths[1].read_text(encoding="utf-8").splitlines()[0] == "1\tbridge engine"
    assert "<svg" in paths[5].read_text(encoding="utf-8")
    page = paths[4].read_text(encoding="utf-8")
    for path in (paths[0], *paths[2:4]):  # the page says which files it is about
        assert hashlib.sha256(path.read_bytes()).hexdigest() in page
    (paths[2].parent / "older.txt").write_text("1 Q0 D00 1 1 x\n", encoding="utf-8")
    assert result.save(tmp_path / "made")[1] == [f"{paths[2].parent}: older.txt not of this experiment"]


@pytest.mark.filterwarnings("ignore::exaequo.errors.DataWarning")  # documents are judged for two subtopics
def test_judgments_are_kept_as_they_are(tmp_path: Path) -> None:
    judged = "1 1 D00 1\n1 2 D00 0\n1 2 D01 0.123456789\n"
    path = tmp_path / "subtopics.txt"
    path.write_text(judged, encoding="utf-8")
    result = exaequo.experiment(replace(LITTLE, qrels=exaequo.read_qrels(path)), {"words": by_words}, "AP")
    result.save(tmp_path)
    assert sorted((tmp_path / "qrels.txt").read_text(encoding="utf-8").splitlines()) == sorted(judged.splitlines())


def test_without_a_library_that_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = result_of(words=by_words)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    paths, missing = result.save(tmp_path)
    assert tmp_path / "curves.svg" not in paths
    assert "pip install 'exaequo[plot]'" in missing[-1]


# -------------------------------------------------------------------------------------------------------- the commands


def test_the_command(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write = "import sys; open(sys.argv[1], 'w').write('1 Q0 D00 1 1 x')"
    asked = ["experiment", "little", "--model", "bm25-stem", "--system", f"mine={python(write)}", "-m", "AP"]
    assert run([*asked, "-o", "out"]) == 0
    shown = capfd.readouterr()
    assert re.search(r"^bm25-stem +0\.\d{4}\* +0\.\d{4}\* +0\.\d{4}\* +\d+\.\d\d +\d+ +\d+$", shown.out, re.MULTILINE)
    assert "mine.txt: 8 of 9 evaluated topics missing" in shown.err
    assert shown.err.splitlines()[-1] == "out/curves.svg"
    assert sorted(path.name for path in (place / "out").iterdir()) == sorted(
        ["runs", "qrels.txt", "queries.tsv", "report.html", "curves.svg"]
    )
    assert run([*asked, "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert [each["system"] for each in document["systems"]] == ["bm25-stem", "mine"]
    assert document["systems"][0]["AP_realistic"] > 0.5
    assert document["options"]["depth"] == 1000


@pytest.mark.usefixtures("place")
def test_what_the_command_refuses(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments, code, said in (
        ([], 2, "Name a system"),
        (["--model", "bm25", "--model", "bm25()"], 2, "two systems called bm25"),
        (["--system", "x"], 2, "--system takes NAME="),
        (["--system", "x=./mine {queries}"], 2, "--system takes NAME="),
        (["--system", f"x={python('raise SystemExit(4)')}"], 1, "x ended with exit code 4"),
    ):
        assert run(["experiment", "little", *arguments]) == code
        assert said in capfd.readouterr().err


def test_the_demonstration(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "little"]) == 0
    shown = capfd.readouterr()
    lines = shown.out.splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines if " search " not in line) <= 100  # where there is a path
    assert lines[0] == "little: 60 documents, 9 topics, 60 judgments, 45 of them relevant."
    assert len(re.findall(r"^\S+ +(?:0\.\d{4}\*? +){3}\d", shown.out, re.MULTILINE)) == 8
    assert "bm25-stem is better than bm25 on AP" in shown.out
    assert "ties decide between coordination and bm25 on AP" in shown.out
    assert (place / "exaequo-demo" / "curves.svg").exists()
    assert len(list((place / "exaequo-demo" / "runs").iterdir())) == 8
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("  exaequo ")]
    assert [words[0] for words in commands] == ["search", "eval", "compare", "plot", "pool"]
    pool = exaequo.pool(sorted((place / "exaequo-demo" / "runs").iterdir()), 10, qrels=LITTLE.qrels)
    assert re.search(rf"^Pool at depth 10: {pool.frame.height} documents, {pool.more_by_ties} by", shown.out, re.M)
    before = (place / "exaequo-demo" / "runs" / "bm25-stem.txt").read_bytes()
    (place / "exaequo-demo" / "curves.svg").unlink()
    for words in commands:
        with pytest.MonkeyPatch.context() as inside:
            inside.chdir(place / "exaequo-demo")
            globbed = [each for word in words for each in (map(str, Path().glob(word)) if "*" in word else [word])]
            assert run(globbed) == 0
    assert (place / "exaequo-demo" / "curves.svg").exists()
    assert (place / "exaequo-demo" / "runs" / "bm25-stem.txt").read_bytes() == before


@pytest.mark.usefixtures("place")
def test_the_demonstration_fits_a_terminal(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exaequo.cli.output.width", lambda: 80)
    Path("crossings").mkdir()  # which is another collection, ./crossings
    assert run(["demo", "crossings"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert "  exaequo search crossings --model bm25 --stem -o runs/bm25-stem.txt" in lines
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 40
    monkeypatch.setattr("exaequo.searching.experiments.perform", lambda *_, **__: pytest.fail("worked"))
    assert run(["demo", "little", "-o", "my system.py"]) == 1
    assert capfd.readouterr().err == "exaequo: my system.py: cannot write (File exists).\n"


@pytest.mark.filterwarnings("ignore::exaequo.errors.DataWarning")  # one topic is missing
def test_an_empty_query_keeps_its_place() -> None:
    topics = LITTLE.topics.with_columns(title=pl.when(qid="2").then(pl.lit("")).otherwise("title"))
    result = exaequo.experiment(replace(LITTLE, topics=topics), ["coordination"], "AP")
    assert result.warnings == ("coordination: 1 of 9 evaluated topics missing: 2; scored as empty lists",)
    assert result.scores["coordination", "realistic", "AP"].values[1] == 0
