"""The record of judging: decisions in, an SQLite file that only grows, and what stands by it out.

Each row says what stood after it: grade, note, whether the document was put off. The latest row of an assessor and a
document counts. A row is on disk before its writer hears of it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from exaequo.errors import BadParameter, InputError, bad_input

PERSON, PROGRAM = "person", "program"
#: What marks a file as ours, and its form; it counts up when that changes.
_MARK, _FORM = 0x45584151, 1
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS start (id INTEGER PRIMARY KEY, at TEXT NOT NULL, facts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS decision (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, assessor TEXT NOT NULL, kind TEXT NOT NULL, action TEXT NOT NULL,
    qid TEXT NOT NULL, docno TEXT NOT NULL, grade INTEGER, changed_from INTEGER, note TEXT NOT NULL,
    skipped INTEGER NOT NULL, seconds REAL NOT NULL, undoes INTEGER
);
CREATE INDEX IF NOT EXISTS of_assessor ON decision (assessor, qid, docno, action);
CREATE INDEX IF NOT EXISTS of_settled ON decision (qid, docno) WHERE action = 'settle';
CREATE VIEW IF NOT EXISTS standing AS SELECT * FROM decision WHERE id IN
    (SELECT max(id) FROM decision WHERE action != 'settle' GROUP BY assessor, qid, docno);
CREATE VIEW IF NOT EXISTS settled AS SELECT * FROM decision WHERE id IN
    (SELECT max(id) FROM decision WHERE action = 'settle' GROUP BY qid, docno) AND grade IS NOT NULL;
CREATE TRIGGER IF NOT EXISTS no_change BEFORE UPDATE ON decision
    BEGIN SELECT RAISE(ABORT, 'decisions are only added'); END;
CREATE TRIGGER IF NOT EXISTS no_loss BEFORE DELETE ON decision
    BEGIN SELECT RAISE(ABORT, 'decisions are only added'); END;
PRAGMA application_id = {_MARK};
PRAGMA user_version = {_FORM};
COMMIT;
"""  # noqa: S608 - two numbers of ours
_GRADES = {
    "assessor": pl.String,
    "kind": pl.String,
    "qid": pl.String,
    "docno": pl.String,
    "grade": pl.Int64,
    "note": pl.String,
}


@dataclass(frozen=True)
class State:
    """What an assessor has decided about a document; without a grade, nothing yet."""

    grade: int | None = None
    note: str = ""
    skipped: bool = False


class Record:
    """The decisions in a file; `Record(path)` opens it, and makes it if `new` allows."""

    def __init__(self, path: str | Path, *, new: bool = False) -> None:
        self.path = str(path)
        if not new and not Path(path).is_file():
            raise bad_input(self.path, "there is no such file", "a record of judging", "Check the path.")
        try:
            self._db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
            self._db.row_factory = sqlite3.Row
            if not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._db.executescript(_SCHEMA)
            elif self._value("PRAGMA application_id") != _MARK:
                raise sqlite3.DatabaseError("it is something else")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            mend = "Name the file that --db wrote, and check its permissions; to judge, name POOL and COLLECTION."
            raise bad_input(self.path, f"cannot be opened ({error})", "a record of judging", mend) from None
        if (form := self._value("PRAGMA user_version")) != _FORM:
            raise bad_input(self.path, f"its form is {form}", f"form {_FORM}", "Use the release that wrote it.")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """Return all rows of a query; a file that was damaged after it was opened is refused here."""
        try:
            return self._db.execute(query, values).fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._damaged(error) from None

    def _value(self, query: str, *values: Any) -> Any:
        rows = self._rows(query, *values)
        return rows[0][0] if rows else None

    def _damaged(self, error: Exception) -> InputError:
        mend = "Take a copy from before it was damaged."
        return bad_input(self.path, f"cannot be read ({error})", "a whole record of judging", mend)

    def _facts(self, text: Any) -> dict[str, Any]:
        """Return what judging began with, the scale among it."""
        try:
            facts = json.loads(text)
            if all(type(grade) is int for grade in facts["grades"]):
                return {**facts}
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise self._damaged(error) from None
        raise self._damaged(ValueError(f"the scale is {facts['grades']!r:.60}"))

    def _frame(self, rows: Sequence[sqlite3.Row], schema: Mapping[str, Any]) -> pl.DataFrame:
        try:
            return pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
        except (pl.exceptions.PolarsError, TypeError) as error:
            raise self._damaged(error) from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Write as one: what is read inside stays true until it is on disk, or nothing is written."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # ---------------------------------------------------------------------------------------------------------- writing

    def start(self, grades: Sequence[int], **facts: Any) -> None:
        """Note that judging begins, and with what; the scale is that of the first time."""
        with self._alone():
            if (known := self.grades) and tuple(grades) != known:
                scale = ",".join(map(str, known))
                raise BadParameter(
                    f"{self.path} was begun with --grades {scale}. Go on with these, or give a new --db."
                )
            text = json.dumps({"grades": list(grades), **facts}, ensure_ascii=False)
            self._db.execute("INSERT INTO start (at, facts) VALUES (?, ?)", (_now(), text))

    def decide(
        self,
        assessor: str,
        pair: tuple[str, str],
        *,
        grade: int | None = None,
        note: str | None = None,
        skip: bool = False,
        kind: str = PERSON,
        seconds: float = 0.0,
    ) -> State:
        """Add a decision about (qid, docno): a grade, a note, or to put it off; what is not given stays as it was."""
        with self._alone():
            self._same_kind(assessor, kind)
            before = self.state(assessor, pair)
            action = "grade" if grade is not None else "skip" if skip else "note"
            kept = before.grade if grade is None else grade
            after = State(kept, before.note if note is None else note, kept is None and (skip or before.skipped))
            self._add(assessor, kind, action, pair, before.grade, after, seconds)
        return after

    def undo(self, assessor: str, seconds: float = 0.0) -> tuple[str, str] | None:
        """Take the last decision of an assessor back, that before it next time; return its document."""
        last = """SELECT * FROM decision WHERE assessor = ? AND action NOT IN ('undo', 'settle') AND id NOT IN
            (SELECT undoes FROM decision WHERE assessor = ? AND undoes IS NOT NULL) ORDER BY id DESC LIMIT 1"""
        with self._alone():
            row = self._db.execute(last, (assessor, assessor)).fetchone()
            if row is None:
                return None
            pair = (row["qid"], row["docno"])
            back, now = self.state(assessor, pair, below=row["id"]), self.state(assessor, pair)
            self._add(assessor, row["kind"], "undo", pair, now.grade, back, seconds, row["id"])
        return pair

    def settle(self, by: str, pair: tuple[str, str], grade: int | None, note: str = "") -> None:
        """Add what assessors who disagreed have settled on, or None to open it again."""
        with self._alone():
            self._same_kind(by, PERSON)
            before = self._value("SELECT grade FROM settled WHERE qid = ? AND docno = ?", *pair)
            self._add(by, PERSON, "settle", pair, before, State(grade, note), 0.0)

    def _same_kind(self, assessor: str, kind: str) -> None:
        known = self._value("SELECT kind FROM decision WHERE assessor = ? LIMIT 1", assessor)
        if known not in (None, kind):
            raise BadParameter(f"{assessor!r} is the name of a {known} in {self.path}. Choose another name.")

    def _add(
        self,
        assessor: str,
        kind: str,
        action: str,
        pair: tuple[str, str],
        before: int | None,
        after: State,
        seconds: float,
        undoes: int | None = None,
    ) -> None:
        row = (_now(), assessor, kind, action, *pair, after.grade, before, after.note, after.skipped, seconds, undoes)
        self._db.execute(f"INSERT INTO decision VALUES (NULL{', ?' * len(row)})", row)  # noqa: S608 - question marks

    # ---------------------------------------------------------------------------------------------------------- reading

    @property
    def starts(self) -> list[dict[str, Any]]:
        """When judging began, and with what, each time."""
        return [{"at": at, **self._facts(facts)} for at, facts in self._rows("SELECT at, facts FROM start ORDER BY id")]

    @property
    def grades(self) -> tuple[int, ...]:
        """The scale; empty if judging has not begun."""
        first = self._value("SELECT facts FROM start ORDER BY id LIMIT 1")
        return tuple(self._facts(first)["grades"]) if first else ()

    def state(self, assessor: str, pair: tuple[str, str], below: int | None = None) -> State:
        """Return what stands for an assessor and a document, or stood before a row."""
        query = """SELECT grade, note, skipped FROM decision WHERE assessor = ? AND qid = ? AND docno = ?
            AND action != 'settle' AND id < ? ORDER BY id DESC LIMIT 1"""
        rows = self._rows(query, assessor, *pair, 2**62 if below is None else below)
        return State(rows[0]["grade"], rows[0]["note"], bool(rows[0]["skipped"])) if rows else State()

    def states(self, assessor: str) -> dict[tuple[str, str], State]:
        """Return all that stands for an assessor, by document."""
        query = """SELECT qid, docno, grade, note, skipped FROM decision WHERE id IN
            (SELECT max(id) FROM decision WHERE assessor = ? AND action != 'settle' GROUP BY qid, docno)"""
        rows = self._rows(query, assessor)
        return {(qid, docno): State(grade, note, bool(skipped)) for qid, docno, grade, note, skipped in rows}

    def kinds(self) -> dict[str, str]:
        """Return the assessors, with what each is: a person or a program."""
        query = "SELECT assessor, kind FROM decision WHERE action != 'settle' GROUP BY assessor ORDER BY min(id)"
        return dict(map(tuple, self._rows(query)))

    def judged(self) -> pl.DataFrame:
        """Return the grades that stand: `assessor, kind, qid, docno, grade, note`."""
        query = f"SELECT {', '.join(_GRADES)} FROM standing WHERE grade IS NOT NULL ORDER BY id"  # noqa: S608
        return self._frame(self._rows(query), _GRADES)

    def settled(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Return what was settled, by document: `grade`, `by`, `at`, `note`."""
        rows = self._rows("SELECT qid, docno, grade, assessor AS by, at, note FROM settled ORDER BY id")
        return {(row["qid"], row["docno"]): {key: row[key] for key in ("grade", "by", "at", "note")} for row in rows}

    def work(self) -> pl.DataFrame:
        """Return what each assessor did: `assessor, kind, judged, skipped, changed, undone, seconds, first, last`.

        `seconds` is the mean time from seeing a document to its grade.
        """
        query = """SELECT assessor, kind,
            (SELECT count(*) FROM standing s WHERE s.assessor = d.assessor AND s.grade IS NOT NULL) AS judged,
            (SELECT count(*) FROM standing s WHERE s.assessor = d.assessor AND s.skipped) AS skipped,
            sum(action = 'grade' AND changed_from IS NOT NULL AND changed_from != grade) AS changed,
            sum(action = 'undo') AS undone, avg(CASE WHEN action = 'grade' THEN seconds END) AS seconds,
            min(at) AS first, max(at) AS last
            FROM decision d WHERE action != 'settle' GROUP BY assessor ORDER BY min(id)"""
        text, whole = pl.String, pl.Int64
        schema = dict(zip("assessor kind judged skipped changed undone".split(), [text] * 2 + [whole] * 4, strict=True))
        return self._frame(self._rows(query), {**schema, "seconds": pl.Float64, "first": text, "last": text})

    def pace(self, assessor: str) -> float | None:
        """Return the mean seconds an assessor takes for a grade."""
        found: float | None = self._value(
            "SELECT avg(seconds) FROM decision WHERE assessor = ? AND action = 'grade'", assessor
        )
        return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
