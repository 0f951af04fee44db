"""The record of judging, the pool, qrels with provenance, and the report on assessors."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exaequo
from exaequo.cli import run
from exaequo.errors import BadParameter, InputError, UsageError
from exaequo.judging import Record, judgments, work_of, write_qrels
from exaequo.judging.agreement import agreement, confusion, disagreements, grades_of, seen_by
from exaequo.judging.exporting import _decided
from exaequo.judging.pool import read_pool
from exaequo.judging.record import PROGRAM, State
from exaequo.pooling import pool
from serving import POOL, sample

PAIR = ("1", "d1")


@pytest.fixture
def record(tmp_path: Path) -> Record:
    one = Record(tmp_path / "judged.db", new=True)
    one.start((0, 1, 2, 3), pool="pool.tsv")
    return one


# ---------------------------------------------------------------------------------------------------------- the record


def test_every_row_says_what_changed(record: Record) -> None:
    assert record.decide("ann", PAIR, grade=1, seconds=2.0) == State(1)
    assert record.decide("ann", PAIR, grade=3, note="looked again", seconds=4.0) == State(3, "looked again")
    assert record.decide("ann", PAIR, note="") == State(3)
    db = sqlite3.connect(record.path)
    rows = db.execute("SELECT assessor, kind, action, grade, changed_from, note, seconds FROM decision").fetchall()
    assert rows == [
        ("ann", "person", "grade", 1, None, "", 2.0),
        ("ann", "person", "grade", 3, 1, "looked again", 4.0),
        ("ann", "person", "note", 3, 3, "", 0.0),
    ]
    for change in ("UPDATE decision SET grade = 0", "DELETE FROM decision"):
        with pytest.raises(sqlite3.IntegrityError, match="only added"):
            db.execute(change)
    db.close()
    assert record.pace("ann") == 3.0
    assert record.work().select("judged", "changed", "undone", "seconds").row(0) == (1, 1, 0, 3.0)


def test_it_is_synchronous(record: Record) -> None:
    """What is acknowledged is on disk: full sync, whatever the journal."""
    assert record._value("PRAGMA synchronous") == 2
    assert record._value("PRAGMA journal_mode") == "wal"


ACTIONS = st.tuples(
    st.sampled_from(["ann", "ben"]), st.sampled_from(["d1", "d2"]), st.sampled_from([0, 1, 2, "skip", "note", "undo"])
)


@given(st.lists(ACTIONS, max_size=25))
def test_undo_walks_back_through_all_decisions(actions: list[tuple[str, str, Any]]) -> None:
    """Against a plain stack of states: whatever was done, undo gives what stood before, step by step, to nothing."""
    record = Record(":memory:", new=True)
    record.start((0, 1, 2))
    states: dict[tuple[str, str], State] = {}
    done: dict[str, list[tuple[str, State]]] = {"ann": [], "ben": []}

    def undo(name: str) -> None:
        found = record.undo(name)
        if done[name]:
            docno, before = done[name].pop()
            assert found == ("1", docno)
            states[name, docno] = before
        else:
            assert found is None

    for name, docno, action in actions:
        if action == "undo":
            undo(name)
            continue
        before = states.get((name, docno), State())
        done[name].append((docno, before))
        given = {"skip": True} if action == "skip" else {"note": "x"} if action == "note" else {"grade": action}
        states[name, docno] = record.decide(name, ("1", docno), **given)
    for name, docno in product(("ann", "ben"), ("d1", "d2")):
        assert record.state(name, ("1", docno)) == states.get((name, docno), State())
    for name in ("ann", "ben"):
        for _ in range(len(done[name]) + 1):
            undo(name)
        assert set(record.states(name).values()) <= {State()}
    record.close()


def test_names_and_scales_stay_what_they_are(record: Record, tmp_path: Path) -> None:
    record.decide("bot", PAIR, grade=1, kind=PROGRAM)
    with pytest.raises(BadParameter, match="'bot' is the name of a program"):
        record.decide("bot", PAIR, grade=2)
    with pytest.raises(BadParameter, match="begun with --grades 0,1,2,3"):
        record.start((0, 1))
    assert (len(record.starts), record.judged().height) == (1, 1)
    (tmp_path / "text").write_text("qid docno\n" * 100)
    stranger = sqlite3.connect(tmp_path / "stranger.db")
    stranger.execute("CREATE TABLE t (a)")
    stranger.close()
    for name in ("text", "stranger.db", "nothing.db"):
        with pytest.raises(InputError, match="expected a record of judging"):
            Record(tmp_path / name)
    assert not (tmp_path / "nothing.db").exists()


# ------------------------------------------------------------------------------------------------------------ the pool


def test_pools_of_all_kinds_are_the_same(tmp_path: Path) -> None:
    pairs = [("1", "d1"), ("1", "d2"), ("2", "d2")]
    texts = {
        "table.tsv": "rank\tdocno\tqid\n" + "".join(f"1\t{docno}\t{qid}\r\n" for qid, docno in [*pairs, pairs[0]]),
        "qrels.txt": "".join(f"{qid} 0 {docno} 1\n" for qid, docno in pairs),
        "run.txt": "".join(f"{qid} Q0 {docno} 1 {at} r\n" for at, (qid, docno) in enumerate(pairs)),
        "pool.tsv": pool({"1": {"d1": 2.0, "d2": 1.0}, "2": {"d2": 1.0}}).text(),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        frame, sha256 = read_pool(str(tmp_path / name))
        assert frame.select("qid", "docno").rows() == pairs
        assert sha256 == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "pool: the file is empty"),
        ("\n\n", "pool: the file is empty"),
        ("qid\tdocno\n", "no line below the head"),
        ("qid\tdocno\n1\td1\n\n1\n", "pool:4: qid and docno are '1' and None"),
        ("qid\tdocno\n1\td 1\n", "pool:2: qid and docno are '1' and 'd 1'"),
        ("topic\tdoc\n1\td1\n", "pool:1: 'topic\\\\tdoc'; expected a table"),
        ("qid\tdocno\n1\td1\n9\td1\n", r"pool:3: topic '9' is not in the collection c; .*"),
        ("qid\tdocno\n1\td1\n1\tx\n2\ty\n2\tx\n", r"pool:3: document 'x' is not in the collection c \(1 more\)"),
        ("\n1 0 d1 1\n1 0 zz 1\n", "pool:3: document 'zz' is not in"),
        ("1 0 d1 1\n1 0 d2\n", "pool:2: "),
    ],
)
def test_bad_pools(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pool").write_text(text)
    with pytest.raises(InputError, match=message):
        work_of(str(tmp_path / "pool"), sample("c"))


def test_orders_are_of_each_assessor_and_tell_no_system(tmp_path: Path) -> None:
    (tmp_path / "pool.tsv").write_text(POOL)
    work = work_of(str(tmp_path / "pool.tsv"), sample("c"))
    assert work.order("ann") == work.order("ann") != work.order("ben")
    assert work.order("ann") != work.order("ann", seed=1)
    assert [qid for qid, _ in work.order("ann")] == list("1111122")
    first = [work.order(f"assessor {at}")[0][1] for at in range(1000)]
    assert all(150 < first.count(f"d{at}") < 250 for at in range(1, 6))  # each of five about as often as any other
    (tmp_path / "pool.tsv").write_text(POOL + "1\td6\tx\n")
    larger = work_of(str(tmp_path / "pool.tsv"), sample("c")).order("ann")
    assert [pair for pair in larger if pair != ("1", "d6")] == work.order("ann")  # a larger pool shuffles nothing anew


# --------------------------------------------------------------------------------------------------------------- qrels


@pytest.mark.parametrize(
    ("votes", "majority", "highest", "mean"),
    [
        ([1], (1, "single"), (1, "single"), (1, "single")),
        ([2, 2], (2, "agreed"), (2, "agreed"), (2, "agreed")),
        ([0, 0, 3], (0, "majority"), (3, "highest"), (1, "mean")),
        ([0, 1], (1, "tied"), (1, "highest"), (1, "mean")),
        ([0, 0, 3, 3, 1], (3, "tied"), (3, "highest"), (1, "mean")),
        ([0, 0, 1], (0, "majority"), (1, "highest"), (0, "mean")),
    ],
)
def test_rules(votes: list[int], majority: Any, highest: Any, mean: Any) -> None:
    for rule, expected in (("majority", majority), ("highest", highest), ("mean", mean)):
        assert _decided(votes, rule, (0, 1, 2, 3)) == expected


def judged(record: Record) -> None:
    """Two people and a program judge three documents; the people settle one of them."""
    for name, grades in (("ann", (0, 2, 3)), ("ben", (0, 1, 3)), ("bot", (1, 1, 1))):
        for at, grade in enumerate(grades):
            record.decide(name, ("1", f"d{at}"), grade=grade, kind=PROGRAM if name == "bot" else "person", seconds=at)
    record.settle("ann", ("1", "d1"), 3)
    record.settle("ben", ("1", "d1"), 0)


def test_qrels_say_where_they_come_from(record: Record, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    judged(record)
    path = str(tmp_path / "new.qrels")
    write_qrels(record, path)
    assert Path(path).read_text() == "1 0 d0 0\n1 0 d1 0\n1 0 d2 3\n"
    beside = json.loads(Path(f"{path}.json").read_text())
    assert beside["qrels"]["sha256"] == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert beside["counted"] == ["ann", "ben"]
    assert {each["assessor"]: each["kind"] for each in beside["assessors"]}["bot"] == "program"
    assert beside["rule"]["means"].startswith("what was settled, else the grade most")
    assert beside["how"] == {"agreed": 2, "settled": 1}
    assert beside["judgments"][1] == {
        "qid": "1",
        "docno": "d1",
        "grade": 0,
        "how": "settled",
        "by": {"ann": 2, "ben": 1},
        "settled_by": "ben",
    }
    assert beside["versions"]["exaequo"] == exaequo.__version__
    record.settle("ann", ("1", "d1"), None)
    assert [each.how for each in judgments(record)] == ["agreed", "tied", "agreed"]
    assert [each.grade for each in judgments(record, by=["bot"])] == [1, 1, 1]
    with pytest.raises(BadParameter, match="has no assessor 'bob'; did you mean 'bot'"):
        judgments(record, by=["bob"])
    record.close()
    assert run(["judge", record.path, "-o", path, "--by", "ann", "--by", "bot", "--rule", "highest"]) == 0
    assert Path(path).read_text() == "1 0 d0 1\n1 0 d1 2\n1 0 d2 3\n"
    assert "the grades of ben are not counted" in capfd.readouterr().err
    assert run(["judge", record.path, "-o", path]) == 0
    assert "1 document with as many votes" in capfd.readouterr().err


# ------------------------------------------------------------------------------------------------------------ assessors


def test_agreement_by_hand(record: Record) -> None:
    judged(record)
    found = agreement(record.judged(), ["ann", "ben", "bot"])
    first = found.row(0, named=True)
    assert (first["one"], first["two"], first["documents"]) == ("ann", "ben", 3)
    assert first["same_percent"] == pytest.approx(200 / 3)
    assert first["kappa_relevant"] == 1
    assert first["kappa_grades"] == pytest.approx((2 / 3 - 2 / 9) / (1 - 2 / 9))
    # |grade − grade|: seen 1 in 3; by chance (0+1+3 + 2+1+1 + 3+2+0) in 9.
    assert first["kappa_linear"] == pytest.approx(1 - (1 / 3) / (13 / 9))
    assert found.row(3)[:2] == ("all", "all")
    assert math.isfinite(found["alpha_ordinal"][3])
    table = confusion(record.judged(), ["ann", "bot"], (0, 1, 2, 3))
    assert table.drop("one", "two").rows() == [(0, 0, 1, 0, 0), (1, 0, 0, 0, 0), (2, 0, 1, 0, 0), (3, 0, 1, 0, 0)]


def test_disagreements_are_seen_by_those_who_judged(record: Record) -> None:
    judged(record)
    found = disagreements(record.judged(), record.settled())
    assert [each["docno"] for each in found] == ["d2", "d0", "d1"]
    assert found[2]["settled"]["by"] == "ben"
    assert seen_by(found, {("1", "d0")}) == [found[1]]
    assert grades_of(record.judged().clear(), ["ann"]).shape == (1, 0)
    assert agreement(record.judged().clear(), ["ann"]).height == 0


@pytest.fixture(scope="module")
def assessors(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str]]:
    """Let three assessors judge the sample: one as it is, one the same, one with every grade turned round."""
    path = tmp_path_factory.mktemp("assessors")
    qrels, *runs = exaequo.sample().save(path)
    record = Record(path / "judged.db", new=True)
    record.start((0, 1, 2, 3))
    record._db.execute("PRAGMA synchronous = OFF")
    frame = exaequo.read_qrels(qrels).frame
    kept = frame.filter(pl.col("qid").is_in(frame["qid"].unique(maintain_order=True).head(8).implode()))
    for qid, docno, rel in kept.select("qid", "docno", pl.col("rel").cast(pl.Int64)).iter_rows():
        for name, grade in (("ann", rel), ("ben", rel), ("bot", 3 - rel)):
            record.decide(name, (qid, docno), grade=grade, kind=PROGRAM if name == "bot" else "person")
    record.close()
    return record.path, list(map(str, runs[:3]))


def test_the_report(assessors: tuple[str, list[str]], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    db, runs = assessors
    assert run(["judge", db, "--report", "-m", "AP", "--json", "--runs", *runs]) == 0
    found = json.loads(capfd.readouterr().out)
    same, other, _, every = found["agreement"]
    assert (same["kappa_grades"], same["kappa_quadratic"], same["alpha_nominal"]) == (1, 1, 1)
    assert other["kappa_linear"] < 0
    assert every["one"] == "all"
    assert {each["two"]: each["tau_AP"] for each in found["rankings"] if each["one"] == "ann"}["ben"] == 1
    assert {each["assessor"] for each in found["verdicts"]} == {"ann", "ben", "bot"}
    # The same as the comparison says, told of these judgments alone.
    kept = tmp_path / "kept.qrels"
    assert run(["judge", db, "-o", str(kept)]) == 0
    assert run(["compare", str(kept), *runs, "-m", "AP", "--json"]) == 0
    pairs = {(each["one"], each["two"]): each for each in json.loads(capfd.readouterr().out)["pairs"]}
    told = [each for each in found["verdicts"] if each["assessor"] == "ann"]
    assert told
    for each in told:
        other = pairs[each["one"], each["two"]]
        assert (each["outcome"], each["difference"]) == (other["outcome"], pytest.approx(other["difference"]))


def test_the_report_for_people(assessors: tuple[str, list[str]], capfd: pytest.CaptureFixture[str]) -> None:
    db, runs = assessors
    assert run(["judge", db, "--report", "--by", "ann", "--by", "bot", "--runs", *runs, "--lang", "fr"]) == 0
    text = capfd.readouterr().out
    assert "Accord des juges deux à deux" in text
    assert "programme" in text
    assert "avec le juge." in text
    assert "ben" not in text
    assert run(["judge", db, "--report", "--table", "confusion", "--format", "csv"]) == 0
    assert capfd.readouterr().out.startswith("one,two,grade,0,1,2,3\nann,ben,0,")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b", "c"], "Name a POOL and a COLLECTION"),
        (["db"], "Give -o QRELS to write judgments, or --report"),
        (["pool", "c", "--report"], "--report takes the DB alone"),
        (["db", "--report", "-m", "AP"], "give --runs too"),
        (["db", "-o", "x", "--runs", "r"], "are of --report"),
        (["db", "--assessor", "x", "-o", "y"], "--assessor needs a POOL"),
        (["pool", "c", "--assessor", "x", "--open"], "--open is of the page"),
        (["pool", "c", "--grades", "0,10"], "different digits"),
        (["pool", "c", "--grades", "1,1"], "different digits"),
        (["pool", "c", "--grades", "0"], "different digits"),
        (["pool", "c", "--assessor", " "], "--assessor is empty"),
        (["pool", "c", "--assessor", "a 'b"], "No closing quotation"),
    ],
)
def test_wrong_requests(words: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", *words]) == UsageError.exit_code
    assert message in capfd.readouterr().err
