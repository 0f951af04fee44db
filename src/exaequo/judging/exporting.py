"""Qrels from a record: one grade for each document in the open: what was settled, else what a rule makes of all grades.

A person's word comes before a program's: programs count only where they are asked for, or nobody else has judged.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from exaequo.choices import JUDGING_RULES
from exaequo.errors import BadParameter, ExaequoError
from exaequo.judging.record import PERSON, Record
from exaequo.options import check_choice
from exaequo.scores.formats import versions
from exaequo.text import did_you_mean
from exaequo.writing import write_whole

#: What each rule does, as provenance says it.
_RULES = {
    "majority": "the grade most assessors gave; of grades given equally often, the highest",
    "highest": "the highest grade any assessor gave",
    "mean": "the mean grade, rounded to the nearest of the scale, halves up",
}


@dataclass(frozen=True)
class Judgment:
    """One line of qrels, and where it comes from: `how` is settled, single, agreed, tied, or the name of a rule."""

    qid: str
    docno: str
    grade: int
    how: str
    by: dict[str, int]
    settled_by: str | None = None


def chosen(record: Record, by: Sequence[str] = ()) -> list[str]:
    """Return the assessors who count: those named, else all people, else, if there are none, all programs."""
    kinds = record.kinds()
    for name in by:
        if name not in kinds:
            raise BadParameter(f"{record.path} has no assessor {name!r}{did_you_mean(name, kinds) or '.'}")
    people = [name for name, kind in kinds.items() if kind == PERSON]
    return list(dict.fromkeys(by)) or people or list(kinds)


def judgments(record: Record, rule: str = JUDGING_RULES[0], by: Sequence[str] = ()) -> list[Judgment]:
    """Return one judgment for each document that was judged or settled, topic by topic."""
    check_choice("rule", rule, JUDGING_RULES)
    names, settled = set(chosen(record, by)), record.settled()
    given: dict[tuple[str, str], dict[str, int]] = {pair: {} for pair in settled}
    for row in record.judged().iter_rows(named=True):
        if row["assessor"] in names:
            given.setdefault((row["qid"], row["docno"]), {})[row["assessor"]] = row["grade"]
    place = {qid: at for at, qid in enumerate(dict.fromkeys(qid for qid, _ in given))}
    found = []
    for qid, docno in sorted(given, key=lambda pair: (place[pair[0]], pair[1])):
        votes, word = given[qid, docno], settled.get((qid, docno))
        if word is not None:
            found.append(Judgment(qid, docno, word["grade"], "settled", votes, word["by"]))
        else:
            found.append(Judgment(qid, docno, *_decided(list(votes.values()), rule, record.grades), votes))
    return found


def _decided(votes: Sequence[int], rule: str, grades: Sequence[int]) -> tuple[int, str]:
    """Return the grade that a rule makes of several, and how."""
    if len(set(votes)) == 1:
        return votes[0], "single" if len(votes) == 1 else "agreed"
    if rule == "highest":
        return max(votes), rule
    if rule == "mean":
        scale = np.array(sorted(grades, reverse=True))
        return int(scale[np.argmin(np.abs(scale * len(votes) - sum(votes)))]), rule
    counts = Counter(votes)
    most = [grade for grade, number in counts.items() if number == max(counts.values())]
    return max(most), rule if len(most) == 1 else "tied"


def write_qrels(record: Record, path: str, rule: str = JUDGING_RULES[0], by: Sequence[str] = ()) -> list[Judgment]:
    """Write TREC qrels, and beside them, as `path.json`, who judged what, when and with what."""
    found = judgments(record, rule, by)
    if not found:
        raise ExaequoError(f"{record.path}: nothing has been judged yet; there are no qrels to write.")
    text = "".join(_lines(found)).encode()
    document = {**provenance(record, found, rule, by), "qrels": {"file": path, "sha256": _sha256(text)}}
    beside = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    write_whole(path, text)
    write_whole(f"{path}.json", beside)
    return found


def _lines(found: Iterable[Judgment]) -> Iterator[str]:
    return (f"{each.qid} 0 {each.docno} {each.grade}\n" for each in found)


def provenance(record: Record, found: Sequence[Judgment], rule: str, by: Sequence[str] = ()) -> dict[str, Any]:
    """Return where qrels come from, as plain data."""
    counted = chosen(record, by)
    return {
        "format": 1,
        "versions": versions(),
        "record": record.path,
        "grades": list(record.grades),
        "rule": {"name": rule, "means": f"what was settled, else {_RULES[rule]}"},
        "counted": counted,
        "assessors": record.work().to_dicts(),
        "starts": record.starts,
        "how": dict(Counter(each.how for each in found)),
        "judgments": [asdict(each) for each in found],
    }


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
