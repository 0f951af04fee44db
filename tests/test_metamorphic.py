"""Laws that tie evaluations to one another: what is changed in the files, and what must not change in any measure.

`LAWS` is the table: each law, the strategies it holds under, and the measures it does not hold for, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from exaequo.arrays import Floats
from exaequo.choices import EXPECTED, INTERVAL, STRATEGIES
from exaequo.cli import run as command
from exaequo.measures import Measure, catalogue
from exaequo.scores import Scores
from helpers import COMPLETE, Grades, Sims, evaluate, instances

ALL = instances()
ORDERED = tuple(name for name in STRATEGIES if name != "rank")
FAIR = ("realistic", "optimistic", EXPECTED)
TIES = (*INTERVAL, EXPECTED)
#: Exactly representable, and so are 8 times each and 3 more; two are one in single precision; zeros of both signs.
SCORES = (0.0, -0.0, 0.25, 1.0, 1.0 + 2**-30, 2.0, 3.5, -1.5, 4096.0)
NAMES = [f"{name}{number}" for name in ("AP", "FT", "LA", "zé") for number in range(1, 5)]

_NAMED = {"PDoc": "asks for a document by its name"}
_THRESHOLD = "a document is selected by its score"
_SELECTING = dict.fromkeys("SelP SelR SelF SelE Utility NUtility HullU T11SU T9P".split(), _THRESHOLD)
_LENGTH = {
    "SetP": "divides by all documents returned",
    "SetF": "is made of SetP",
    "BreakEven": "looks for a rank as long as the list goes on",
    "Compat": "a longer list overlaps less with the ideal one",
    "Judged": "asks how many documents of the list are judged",
    "NumRet": "counts the documents returned",
}


class Case(NamedTuple):
    """Judgments and a run, and the topic of the first case that each of its topics was."""

    qrels: Grades
    run: Sims
    was: dict[str, str]


class Law(NamedTuple):
    """What is done to a case, under which strategies it changes nothing, and for which measures it may."""

    change: Callable[[Case, Random], Case]
    ties: tuple[str, ...]
    but: Mapping[str, str] = {}


def drawn(seed: int, topics: int = 20) -> Case:
    """Draw topics of few documents, so that all orders of their ties can be tried; each has a relevant one."""
    random = Random(seed)
    qrels, run = Grades(), Sims()
    for topic in map(str, range(topics)):
        docnos = random.sample(NAMES, 7)
        judged = {docno: random.choice((-1, 0, 0, 1, 2, 3)) for docno in docnos[: random.randint(1, 6)]}
        qrels[topic] = {**judged, random.choice(docnos): random.choice((1, 3))}
        scores = random.sample(SCORES, random.randint(1, 5))
        run[topic] = {docno: random.choice(scores) for docno in random.sample(docnos, random.randint(1, 6))}
    return Case(qrels, run, {topic: topic for topic in qrels})


def mapped(nested: Grades, topic: Callable[[str], str], docno: Callable[[str], str]) -> Grades:
    return {topic(qid): {docno(name): number for name, number in docs.items()} for qid, docs in nested.items()}


def renamed(case: Case, topic: Callable[[str], str] = str, docno: Callable[[str], str] = str) -> Case:
    was = {topic(qid): before for qid, before in case.was.items()}
    return Case(mapped(case.qrels, topic, docno), mapped(case.run, topic, docno), was)


def shuffled(case: Case, random: Random) -> Case:
    def mixed(nested: Grades) -> Grades:
        topics = random.sample([*nested.items()], len(nested))
        return {topic: dict(random.sample([*docs.items()], len(docs))) for topic, docs in topics}

    return Case(mixed(case.qrels), mixed(case.run), case.was)


def other_names(case: Case, random: Random) -> Case:
    new = dict(zip(NAMES, random.sample([f"x{number}" for number in range(99)], len(NAMES)), strict=True))
    return renamed(case, docno=new.__getitem__)


def names_in_order(case: Case, random: Random) -> Case:  # noqa: ARG001 - a law has its random numbers
    new = {name: f"{place:03}-{name}" for place, name in enumerate(sorted(NAMES, key=str.encode))}
    return renamed(case, docno=new.__getitem__)


def other_topics(case: Case, random: Random) -> Case:
    new = dict(zip(case.was, random.sample([f"t{number}" for number in range(999)], len(case.was)), strict=True))
    return renamed(case, topic=new.__getitem__)


def twice(case: Case, random: Random) -> Case:  # noqa: ARG001
    again = renamed(case, topic="again {}".format)
    return Case(case.qrels | again.qrels, case.run | again.run, case.was | again.was)


def half(case: Case, random: Random) -> Case:
    kept = random.sample([*case.was], len(case.was) // 2)
    return Case(
        {each: case.qrels[each] for each in kept}, {each: case.run[each] for each in kept}, {e: e for e in kept}
    )


def rescaled(case: Case, random: Random) -> Case:
    by, more = random.choice((0.5, 2.0, 8.0)), random.choice((-1.0, 0.0, 3.0))
    scaled = {qid: {docno: sim * by + more for docno, sim in docs.items()} for qid, docs in case.run.items()}
    return Case(case.qrels, scaled, case.was)


def longer(case: Case, random: Random) -> Case:
    more = {f"new{number}": -1e9 - number for number in range(random.randint(1, 5))}
    return Case(case.qrels, {qid: docs | more for qid, docs in case.run.items()}, case.was)


LAWS: dict[str, Law] = {
    "lines in another order": Law(shuffled, (*(each for each in ORDERED if each != "input"), EXPECTED)),
    "other names of documents": Law(other_names, FAIR, _NAMED),
    "other names of documents, in the same order": Law(names_in_order, TIES, _NAMED),
    "other names of topics": Law(other_topics, (*TIES, "input")),
    "every topic twice": Law(twice, (*TIES, "input")),
    "half of the topics": Law(half, (*TIES, "input")),
    "scores times a number and more": Law(rescaled, (*ORDERED, EXPECTED), _SELECTING),
    "unjudged documents at the end": Law(longer, (*TIES, "input"), _LENGTH),
}


def table(case: Case, ties: tuple[str, ...]) -> dict[str, tuple[list[str], Floats]]:
    """Evaluate all measures: topics, and an array of measures × topics, for each strategy."""
    return {
        block.ties: (list(block.topics), block.values)
        for block in evaluate(case.qrels, case.run, ALL, ties=ties).blocks
    }


def close(one: Floats, two: Floats) -> bool:
    return bool(np.allclose(one, two, rtol=1e-12, atol=1e-12, equal_nan=True))


def held(law: Law, seed: int) -> set[tuple[str, str]]:
    """Return the measures, with the strategy, whose values a law changes."""
    case = drawn(seed)
    changed = law.change(case, Random(seed))
    before, after = table(case, law.ties), table(changed, law.ties)
    differ = set()
    for ties in law.ties:
        topics, values = before[ties]
        again, found = after[ties]
        places = [topics.index(changed.was[topic]) for topic in again]
        for measure, one, two in zip(ALL, values[:, places], found, strict=True):
            if not close(one, two):
                differ.add((measure.definition.name, ties))
    return differ


@pytest.mark.parametrize("name", LAWS)
def test_law(name: str) -> None:
    law = LAWS[name]
    changed = {measure for seed in (1, 2) for measure, _ in held(law, seed)}
    assert changed <= {*law.but}, "not said in the table"
    assert changed & {*COMPLETE} == {*law.but} & {*COMPLETE}, "said in the table for nothing"


def test_the_table_says_what_measures_say_of_themselves() -> None:
    sees = {name: catalogue()[name].sees for name in COMPLETE}
    assert {name for name, each in sees.items() if "length" in each} == {*_LENGTH} & {*COMPLETE}
    assert {name for name, about in catalogue().items() if "scores" in about.sees} == {*_SELECTING}


@pytest.mark.soak
@pytest.mark.parametrize("name", LAWS)
def test_law_at_length(name: str) -> None:
    law = LAWS[name]
    assert {measure for seed in range(10, 30) for measure, _ in held(law, seed)} <= {*law.but}


def means(scores: Scores, ties: str, measure: Measure) -> tuple[float, int]:
    values = next(iter(block for block in scores.blocks if block.ties == ties))
    row = values.values[ALL.index(measure)]
    return scores[values.run, ties, measure].mean, int(np.isfinite(row).sum())


def test_means_of_parts_combine_and_copies_do_not_count() -> None:
    case = drawn(3)
    first = half(case, Random(3))
    rest = [topic for topic in case.was if topic not in first.was]
    second = Case({each: case.qrels[each] for each in rest}, {each: case.run[each] for each in rest}, {})
    whole, one, two, copied = (
        evaluate(each.qrels, each.run, ALL, ties=TIES) for each in (case, first, second, twice(case, Random(3)))
    )
    for measure in ALL:
        for ties in TIES:
            (mean, n), (a, n_a), (b, n_b), (again, _) = (
                means(each, ties, measure) for each in (whole, one, two, copied)
            )
            if not n or measure.aggregate != "mean":
                continue
            assert n == n_a + n_b
            parts = sum(value * size for value, size in ((a, n_a), (b, n_b)) if size)
            assert close(np.array([mean, mean]), np.array([parts / n, again])), (measure, ties)


def test_another_run_changes_nothing() -> None:
    one, other = drawn(4), drawn(5)
    ties = (*ORDERED, EXPECTED)
    alone = {block.ties: block.values for block in evaluate(one.qrels, {"a": one.run}, ALL, ties=ties).blocks}
    both = evaluate(one.qrels, {"b": other.run, "a": one.run}, ALL, ties=ties)
    for block in both.blocks:
        if block.run == "a":
            assert np.array_equal(block.values, alone[block.ties], equal_nan=True), block.ties


# --------------------------------------------------------------------------------------------------------- commands


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str, Callable[[list[str]], list[str]]], Path]:
    """Write a campaign of two runs into a folder, lines as a function puts them."""

    def write(folder: str, lines: Callable[[list[str]], list[str]]) -> Path:
        case, other = drawn(6, topics=12), drawn(7, topics=12)
        place = tmp_path / folder / "track" / "1"
        (place / "runs").mkdir(parents=True)
        judged = [f"{qid} 0 {docno} {rel}\n" for qid, docs in case.qrels.items() for docno, rel in docs.items()]
        (place / "qrels.txt").write_text("".join(lines(judged)), encoding="utf-8")
        for name, each in (("a", case), ("b", other)):
            run = [
                f"{qid} Q0 {docno} 1 {sim} {name}\n" for qid, docs in each.run.items() for docno, sim in docs.items()
            ]
            (place / "runs" / f"{name}.txt").write_text("".join(lines(run)), encoding="utf-8")
        return place

    return write


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "qrels.txt", "runs/a.txt", "runs/b.txt", "--ties", "all", "--format", "csv"),
        ("eval", "qrels.txt", "runs/a.txt", "--ties", "expected"),
        ("compare", "qrels.txt", "runs/a.txt", "runs/b.txt"),
        ("ties", "qrels.txt", "runs/a.txt", "runs/b.txt"),
        ("explain", "qrels.txt", "runs/a.txt", "--topic", "3"),
        ("filter", "qrels.txt", "runs/a.txt"),
        ("unjudged", "qrels.txt", "runs/a.txt", "runs/b.txt"),
    ],
    ids=" ".join,
)
def test_commands_do_not_see_the_order_of_lines(
    words: tuple[str, ...],
    written: Callable[[str, Callable[[list[str]], list[str]]], Path],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    said = []
    for folder, lines in (("one", list), ("two", lambda lines: Random(1).sample(lines, len(lines)))):
        monkeypatch.chdir(written(folder, lines))
        assert command(list(words)) == 0
        said.append(capfd.readouterr().out)
    assert said[0] == said[1]
    assert len(said[0]) > 80


def test_studies_do_not_see_the_order_of_lines(
    written: Callable[[str, Callable[[list[str]], list[str]]], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = []
    for folder, lines in (("one", list), ("two", lambda lines: Random(1).sample(lines, len(lines)))):
        archive = written(folder, lines).parents[1]
        monkeypatch.chdir(tmp_path)
        assert command(["study", str(archive), "-o", f"out-{folder}"]) == 0
        found = sorted((tmp_path / f"out-{folder}").rglob("*.csv"))
        assert found
        tables.append({each.name: each.read_text(encoding="utf-8") for each in found})
    assert tables[0] == tables[1]
