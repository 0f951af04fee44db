"""A judge that is a program: pairs in as lines of JSON, its grades out, into the record. Nothing is made up.

A process gets one line at a time and answers it with one line before it gets the next.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from exaequo.errors import ExaequoError
from exaequo.judging.pool import Pair, Work
from exaequo.judging.record import PROGRAM, Record

#: An answer is no longer than this; a program that fails this often in a row from the start will not do better.
_LONGEST, _HOPELESS = 1_000_000, 5


@dataclass
class Asked:
    """What came of it: grades given, and the documents without one, by what was wrong with the answer."""

    graded: int = 0
    before: int = 0
    wrong: dict[str, list[Pair]] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many documents have no grade."""
        return sum(map(len, self.wrong.values()))


class _BadAnswer(Exception):
    """An answer that is no grade."""


def ask(
    record: Record,
    work: Work,
    command: Sequence[str],
    name: str,
    *,
    jobs: int = 2,
    timeout: float = 60.0,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Asked:
    """Let a program judge all pairs it has not judged yet; each grade is kept at once.

    `progress` is called for each pair that is done.
    """
    known = {pair for pair, state in record.states(name).items() if state.grade is not None}
    left = [pair for pair in work.order(name, seed) if pair not in known]
    asked = Asked(before=work.size - len(left))
    for _ in range(asked.before):
        progress()
    team = _Team(record, work, command, name, timeout, iter(left), asked, progress)
    try:
        asyncio.run(team.work_off(min(jobs, len(left))))
    except* ExaequoError as group:
        raise group.exceptions[0] from None
    return asked


@dataclass(frozen=True)
class _Team:
    """Several processes that share a queue."""

    record: Record
    work: Work
    command: Sequence[str]
    name: str
    timeout: float
    queue: Iterator[Pair]
    asked: Asked
    progress: Callable[[], None]
    running: set[asyncio.subprocess.Process] = field(default_factory=set)

    async def work_off(self, jobs: int) -> None:
        """Ask about all pairs."""
        patience = 0.2  # of those who wait for the end
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(jobs):
                    group.create_task(self._one_by_one())
            patience = 1.0
        finally:  # here, where no other worker that fails can interrupt it
            await asyncio.gather(*(_end(process, patience) for process in self.running))

    async def _one_by_one(self) -> None:
        """Ask about one pair after the other; a process that does not answer in time, or ends, is replaced."""
        process: asyncio.subprocess.Process | None = None
        for pair in self.queue:
            begun = monotonic()
            try:
                if process is None:
                    process = await _started(self.command)
                    self.running.add(process)
                question = _question(self.work, pair, self.record.grades)
                grade, note = _answer(await _told(process, question, self.timeout), self.record.grades)
            except _BadAnswer as error:
                why = str(error)
                self.asked.wrong.setdefault(why, []).append(pair)
                if process is not None and why in _REPLACED:
                    await _end(process, patience=0)
                    self.running.discard(process)
                    process = None
                    if not self.asked.graded and self.asked.failed >= _HOPELESS:
                        raise _hopeless(self.command, why) from None
            else:
                seconds = round(monotonic() - begun, 3)
                self.record.decide(self.name, pair, grade=grade, note=note, kind=PROGRAM, seconds=seconds)
                self.asked.graded += 1
            self.progress()


_TIMEOUT, _ENDED, _LONG = "no answer in time", "the program ended", "an answer too long"
#: After these the process is no longer in step with the questions.
_REPLACED = (_TIMEOUT, _ENDED, _LONG)


def _hopeless(command: Sequence[str], why: str) -> ExaequoError:
    return ExaequoError(
        f"{command[0]}: {why}, {_HOPELESS} times in a row and never a grade; expected a line of JSON for each line. "
        "Try the program by hand with one line, and mend it."
    )


async def _started(command: Sequence[str]) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LONGEST,
            start_new_session=True,  # so that what it starts itself ends with it
        )
    except OSError as error:
        raise ExaequoError(
            f"--assessor: {command[0]!r} cannot be started ({error.strerror}); expected a program. Check its path."
        ) from None


def _question(work: Work, pair: Pair, grades: Sequence[int]) -> bytes:
    qid, docno = pair
    document = work.documents[docno]
    about = {"docno": docno, "document_title": document["title"], "text": document["text"]}
    asked = {**work.topics[qid], **about, "grades": list(grades)}
    return json.dumps(asked, ensure_ascii=False).encode(errors="replace") + b"\n"


async def _told(process: asyncio.subprocess.Process, line: bytes, timeout: float) -> bytes:
    """Write a line and return the one it is answered with."""
    if process.stdin is None or process.stdout is None:
        raise _BadAnswer(_ENDED)
    try:
        async with asyncio.timeout(timeout):
            process.stdin.write(line)
            await process.stdin.drain()
            answer = await process.stdout.readline()
    except TimeoutError:
        raise _BadAnswer(_TIMEOUT) from None
    except (ConnectionError, OSError):
        raise _BadAnswer(_ENDED) from None
    except ValueError:
        raise _BadAnswer(_LONG) from None
    if not answer.endswith(b"\n"):
        raise _BadAnswer(_ENDED)
    return answer


def _answer(line: bytes, grades: Sequence[int]) -> tuple[int, str]:
    """Return the grade and the note of an answer, or say what is wrong with it."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise _BadAnswer("no JSON") from None
    given = found if isinstance(found, dict) else {"grade": found}
    if given.get("grade") is None:
        raise _BadAnswer("no grade")
    grade, note = given["grade"], given.get("note") or ""
    if isinstance(grade, bool) or not isinstance(grade, int | float) or grade not in grades:
        raise _BadAnswer("a grade outside the scale")
    return int(grade), note if isinstance(note, str) else json.dumps(note, ensure_ascii=False)


async def _end(process: asyncio.subprocess.Process, patience: float) -> None:
    """Let a process end: it sees the end of its input, and is killed if that does not help."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(patience):
            await process.wait()
    except TimeoutError:
        _kill(process)
        await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def complaints(asked: Asked, most: int = 3) -> list[str]:
    """Return what was wrong with answers, each with how often and the first documents."""
    counts = Counter({why: len(pairs) for why, pairs in asked.wrong.items()})
    return [
        f"{why}: {number:,} without a grade ("
        + ", ".join(f"{docno} of topic {qid}" for qid, docno in asked.wrong[why][:most])
        + (", …)" if number > most else ")")
        for why, number in counts.most_common()
    ]
