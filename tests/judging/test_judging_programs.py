"""A judge that is a program: good answers are kept, bad ones are named, no grade is made up, nothing is asked twice."""

from __future__ import annotations

import gc
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from exaequo import cli
from exaequo.judging import Record
from exaequo.read import collection
from serving import POOL, TEXTS, sample

#: A program that answers each line by `answer(asked)`, and notes what it was asked.
PROGRAM = """
import json, os, sys, time
def answer(asked):
    {answer}
for line in sys.stdin:
    asked = json.loads(line)
    with open("asked.txt", "a") as log:
        print(os.getpid(), asked["qid"], asked["docno"], file=log)
    print(answer(asked), flush=True)
time.sleep(0.2)
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(collection, "read_collection", sample, raising=False)
    Path("pool.tsv").write_text(POOL)
    yield
    gc.collect()  # a process that was left alone complains now, not in another test


def judge(answer: str, *options: str) -> int:
    """Run the command with a program that answers so."""
    Path("program.py").write_text(PROGRAM.format(answer=answer.replace("\n", "\n    ")))
    command = shlex.join([sys.executable, "program.py"])
    return cli.run(["judge", "pool.tsv", "c", "--assessor", command, "--name", "bot", *options])


def grades() -> dict[tuple[str, str], int]:
    record = Record("pool.judged.db")
    rows = record.judged().filter(assessor="bot")
    assert set(rows["kind"]) <= {"program"}
    record.close()
    return {(qid, docno): grade for qid, docno, grade in rows.select("qid", "docno", "grade").iter_rows()}


def test_all_documents_are_judged(capfd: pytest.CaptureFixture[str]) -> None:
    answer = 'return json.dumps({"grade": int(asked["docno"][1]) % 4, "note": asked["title"][:5]})'
    assert judge(answer, "-o", "bot.qrels") == 0
    assert grades() == {pair: int(pair[1][1]) % 4 for pair in grades()}
    assert len(grades()) == 7
    assert "bot: 7 grades given; kept in pool.judged.db" in capfd.readouterr().err
    assert Path("bot.qrels").read_text().splitlines()[0] == "1 0 d1 1"
    provenance = json.loads(Path("bot.qrels.json").read_text())
    assert "program.py" in provenance["starts"][0]["command"]
    assert provenance["assessors"][0]["kind"] == "program"
    asked = Path("asked.txt").read_text().splitlines()
    assert len(asked) == 7
    assert len({line.split()[0] for line in asked}) <= 2  # no more processes than jobs
    assert judge(answer) == 0  # nothing is left to ask
    assert len(Path("asked.txt").read_text().splitlines()) == 7


def test_it_is_told_all_there_is(capfd: pytest.CaptureFixture[str]) -> None:
    assert judge("open(asked['docno'] + asked['qid'], 'w').write(json.dumps(asked))\nreturn 2", "--jobs", "1") == 0
    assert set(grades().values()) == {2}  # a bare number is an answer
    asked = json.loads(Path("d31").read_text())
    assert list(asked) == "qid title description narrative docno document_title text grades".split()
    assert (asked["document_title"], asked["text"]) == TEXTS["d3"]
    assert asked["grades"] == [0, 1, 2, 3]
    assert json.loads(Path("d51").read_text())["text"] == TEXTS["d5"][1]
    capfd.readouterr()


BAD = """by = {"1 d1": "", "1 d2": "{", "1 d3": '{"grade": 9}', "1 d4": '{"note": "?"}', "2 d6": "true", "2 d2": '"2"'}
return by.get(asked["qid"] + " " + asked["docno"], "2.0")"""


def test_bad_answers_are_named_and_no_grade_is_made_up(capfd: pytest.CaptureFixture[str]) -> None:
    assert judge(BAD) == 1
    assert grades() == {("1", "d5"): 2}
    said = capfd.readouterr().err
    assert "bot: no JSON: 2 without a grade" in said
    assert "d1 of topic 1" in said
    assert "bot: a grade outside the scale: 3 without a grade" in said
    assert "bot: no grade: 1 without a grade (d4 of topic 1)" in said
    assert "6 documents without a grade. Run the command again" in said
    assert judge("return 1") == 0
    assert grades() == {**dict.fromkeys(grades(), 1), ("1", "d5"): 2}
    assert "6 grades given, 1 before" in capfd.readouterr().err
    assert Path("asked.txt").read_text().count("1 d5") == 1


def test_silence_and_death_cost_one_answer_each(capfd: pytest.CaptureFixture[str]) -> None:
    answer = """if asked["docno"] == "d1": time.sleep(60)
if asked["docno"] == "d4": os._exit(3)
if asked["docno"] == "d3": return "x" * 2_000_000
return 0"""
    assert judge(answer, "--timeout", "8", "--jobs", "1") == 1
    assert grades() == dict.fromkeys([("1", "d2"), ("1", "d5"), ("2", "d6"), ("2", "d2")], 0)
    said = capfd.readouterr().err
    assert "no answer in time: 1 without a grade (d1 of topic 1)" in said
    assert "the program ended: 1 without a grade (d4 of topic 1)" in said
    assert "an answer too long: 1 without a grade (d3 of topic 1)" in said


def test_programs_that_cannot_work(capfd: pytest.CaptureFixture[str]) -> None:
    assert judge("sys.exit('broken')") == 1
    assert "the program ended, 5 times in a row and never a grade" in capfd.readouterr().err
    assert cli.run(["judge", "pool.tsv", "c", "--assessor", "./no-such-program"]) == 1
    assert "'./no-such-program' cannot be started" in capfd.readouterr().err
    record = Record("pool.judged.db")
    record.decide("bot", ("1", "d1"), grade=1)
    record.close()
    assert judge("return 1") == 2
    assert "'bot' is the name of a person" in capfd.readouterr().err
