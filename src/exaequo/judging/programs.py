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
from typing import Any

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
    queue = iter(left)
    for _ in range(asked.before):
        progress()

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(jobs, len(left))):
                group.create_task(_worker(record, work, command, name, timeout, queue, asked, progress))

    try:
        asyncio.run(all_of_them())
    except* ExaequoError as group:
        raise group.exceptions[0] from None
    return asked


async def _worker(
    record: Record,
    work: Work,
    command: Sequence[str],
    name: str,
    timeout: float,
    queue: Iterator[Pair],
    asked: Asked,
    progress: Callable[[], None],
) -> None:
    """Ask about one pair after the other; a process that does not answer in time, or ends, is replaced."""
    process: asyncio.subprocess.Process | None = None
    try:
        for pair in queue:
            begun = monotonic()
            try:
                process = process or await _started(command)
                line = json.dumps(_question(work, pair, record.grades), ensure_ascii=False).encode(errors="replace")
                grade, note = _answer(await _told(process, line + b"\n", timeout), record.grades)
            except _BadAnswer as error:
                asked.wrong.setdefault(str(error), []).append(pair)
                if str(error) in _REPLACED or process is None or process.returncode is not None:
                    await _end(process, patience=0)
                    process = None
                if not asked.graded and asked.failed >= _HOPELESS and str(error) in _REPLACED:
                    raise _hopeless(command, str(error)) from None
            else:
                seconds = monotonic() - begun
                record.decide(name, pair, grade=grade, note=note, kind=PROGRAM, seconds=round(seconds, 3))
                asked.graded += 1
            progress()
    finally:
        await _end(process)


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


def _question(work: Work, pair: Pair, grades: Sequence[int]) -> dict[str, Any]:
    qid, docno = pair
    document = work.documents[docno]
    about = {"docno": docno, "document_title": document["title"], "text": document["text"]}
    return {**work.topics[qid], **about, "grades": list(grades)}


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


async def _end(process: asyncio.subprocess.Process | None, patience: float = 1) -> None:
    """Let a process end: it sees the end of its input, and is killed if that does not help."""
    if process is None:
        return
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
