"""Files evaluated where they lie: in stretches, with other processes, as in one piece to the last bit."""

from __future__ import annotations

import gzip
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import exaequo
import handwork
from drawing import STRATEGIES, drawn, same
from exaequo import evaluation, hands, memory
from exaequo.cli import run as command
from exaequo.errors import ExaequoError
from exaequo.options import Options
from exaequo.read import read_qrels, read_run, stretches
from exaequo.read.source import digest_of, sha256_of, size_of
from exaequo.read.stretches import Stretch, read_stretch
from waiting import PATIENCE

DATA = drawn(7, topics=16)
QRELS = "".join(f"{qid} 0 {docno} {rel:g}\n" for qid, docno, rel in DATA.qrels.rows())
FRAME = DATA.lines.filter(run="run 0").drop("run")


def lines(frame: pl.DataFrame, name: str = "mine") -> str:
    return "".join(f"{qid} Q0 {docno} {rank} {sim!r} {name}\n" for qid, docno, sim, rank, _ in frame.rows())


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Stretches of a few lists."""
    monkeypatch.setattr(evaluation, "SIZE", 1000)
    monkeypatch.setattr(evaluation, "PER_TOPIC", 0)
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Other processes help with anything."""
    monkeypatch.setattr(hands, "_WORTH_STARTING", 1)
    monkeypatch.setenv(hands.VARIABLE, "2")
    yield
    hands.dismiss()


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """Return what each call of a method of the work will have given."""
    made, method = list[Any](), getattr(evaluation.FileWork, name)

    def noted(*given: Any, **more: Any) -> Any:
        made.append(method(*given, **more))
        return made[-1]

    monkeypatch.setattr(evaluation.FileWork, name, noted)
    return made


def in_one_piece(folder: Path, *files: str, measures: Any = DATA.measures, **more: Any) -> exaequo.Scores:
    runs = [read_run(str(folder / file)) for file in files]
    return exaequo.evaluate(read_qrels(str(folder / "qrels.txt")), runs, measures, **more)


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
def test_every_measure_under_every_strategy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "run.txt").write_text(lines(FRAME))
    assert len(stretches.stretches(str(folder / "run.txt"), 1000)) > 4
    more: dict[str, Any] = {"ties": STRATEGIES, "samples": 5}
    made = counted(monkeypatch, "_stretch")
    found = exaequo.evaluate(folder / "qrels.txt", folder / "run.txt", DATA.measures, **more)
    assert len(made) > 4
    assert None not in made
    expected = in_one_piece(folder, "run.txt", **more)
    same(found.to_polars(means=False), expected.to_polars(means=False))
    assert found.warnings == expected.warnings
    assert found.inputs["runs"] == expected.inputs["runs"]
    how = [[scores["mine", "expected", measure].how for measure in DATA.measures] for scores in (found, expected)]
    assert how[0] == how[1]
    assert {*how[0]} == {"closed form", "sampled"}


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.parametrize("lines_of_a_part", [1, 10, 64])
def test_packed_files_in_parts(folder: Path, monkeypatch: pytest.MonkeyPatch, lines_of_a_part: int) -> None:
    (folder / "run.gz").write_bytes(gzip.compress(lines(FRAME).encode()))
    more: dict[str, Any] = {"ties": STRATEGIES, "samples": 5, "measures": "AP nDCG@10 infAP RBP"}
    expected = exaequo.evaluate(folder / "qrels.txt", folder / "run.gz", **more)
    monkeypatch.setattr(evaluation, "LINES", lines_of_a_part)
    made = counted(monkeypatch, "_part")
    found = exaequo.evaluate(folder / "qrels.txt", folder / "run.gz", **more)
    assert len(made) > 1
    same(found.to_polars(means=False), expected.to_polars(means=False))
    assert found.warnings == expected.warnings
    assert found.inputs["runs"] == expected.inputs["runs"]
    parts = [*read_run(str(folder / "run.gz")).parts(lines_of_a_part)]
    assert len(parts) == {1: FRAME["qid"].n_unique()}.get(lines_of_a_part, len(parts)) > 1
    assert sum(part.height for part in parts) == FRAME.height


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_topics_that_lack_and_topics_nobody_judged(folder: Path, missing: str) -> None:
    stray = "zz1 Q0 d1 1 1 mine\nzz0 Q0 d1 1 1 mine\n"
    (folder / "run.txt").write_text(stray + lines(FRAME.filter(pl.col("qid") != "t5")))
    found = exaequo.evaluate(folder / "qrels.txt", folder / "run.txt", "AP nDCG", missing=missing, interval=True)
    expected = in_one_piece(folder, "run.txt", measures="AP nDCG", missing=missing, interval=True)
    same(found.to_polars(means=False), expected.to_polars(means=False))
    assert found.warnings == expected.warnings
    assert any("2 topics nobody judged, ignored: zz0, zz1" in each for each in found.warnings)
    assert found.tie_effects == expected.tie_effects
    assert ("t5" in found["mine", "realistic", "AP"].to_dict()) == (missing == "zero")


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
def test_expected_values_went_the_hardest_way_of_all_stretches(folder: Path) -> None:
    apart = [(f"t{topic}", f"d{at}", float(-at)) for topic in (0, 1, 2) for at in range(40)]
    tied = [("t4", f"d{at}", 1.0) for at in range(40)]
    rows = (f"{qid} Q0 {docno} 1 {sim} mine\n" for qid, docno, sim in apart + tied)
    (folder / "run.txt").write_text("".join(rows))
    assert len(stretches.stretches(str(folder / "run.txt"), 1000)) > 1
    found = exaequo.evaluate(folder / "qrels.txt", folder / "run.txt", DATA.measures, "expected", samples=5)
    expected = in_one_piece(folder, "run.txt", ties="expected", samples=5)
    how = [[scores["mine", "expected", each].how for each in DATA.measures] for scores in (found, expected)]
    assert how[0] == how[1]
    assert {*how[0]} == {"closed form", "sampled"}


#: What is not plain throughout, of all kinds: it is looked at as a whole.
ODD = {
    "scattered": lines(FRAME.sample(fraction=1, shuffle=True, seed=4)),
    "twice": lines(FRAME) + lines(FRAME[:2]),
    "names": lines(FRAME[:-2]) + lines(FRAME[-2:], "other"),
    "names of lists": "".join(f"t{topic} Q0 d{at} {at} {-at} run{topic}\n" for topic in (1, 2) for at in range(60)),
    "single": "".join(f"t{topic} Q0 d{at} {at} {1 + at / 1e9:.9f} mine\n" for topic in range(9) for at in range(40)),
    "signs": "%PDF-1.4 Q0 d1 1 1 mine\n" + lines(FRAME),
    "letters": lines(FRAME).replace("d17 ", "dé17 "),
    "nan": lines(FRAME)[:-20] + "\nt1 Q0 x 1 nan mine\n",
    "short": lines(FRAME) + "t1 Q0\n",
    "header": "# ir_metadata.start\n# research goal: x\n# ir_metadata.end\n" + lines(FRAME),
    "comment": lines(FRAME) + "# the end\n",
    "blanks": lines(FRAME).replace("\n", "  \r\n\n"),
    "tabs": lines(FRAME).replace(" ", "\t"),
    "large": lines(FRAME).replace(" 0.0 ", " 1e300 "),
    "end": lines(FRAME) + "\x1a",
    "no end": lines(FRAME).rstrip(),
    "one topic": "".join(f"t1 Q0 x{at} {at} {-at} mine\n" for at in range(500)),
    "unjudged": lines(FRAME).replace("\nt", "\nu").replace("t", "u", 1),
    "documents": lines(FRAME).replace(" d", " x"),
    "foreign": "%PDF-1.4\n" + lines(FRAME),
    "binary": lines(FRAME) + "\0",
    "nothing": " \n" * 2000,
}


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning", "ignore::UserWarning")
@pytest.mark.parametrize("kind", ODD)
def test_odd_files_are_looked_at_as_a_whole(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "run.txt").write_text(ODD[kind])
    try:
        expected = in_one_piece(folder, "run.txt", measures="AP nDCG@10", precision="single")
    except ExaequoError as error:
        with pytest.raises(type(error)) as raised:
            exaequo.evaluate(folder / "qrels.txt", folder / "run.txt", "AP nDCG@10", precision="single")
        assert str(raised.value) == str(error)
        return
    seen = list[Stretch]()

    def looked(stretch: Stretch) -> Any:
        seen.append(stretch)
        return read_stretch(stretch)

    monkeypatch.setattr(evaluation, "read_stretch", looked)
    found = exaequo.evaluate(folder / "qrels.txt", folder / "run.txt", "AP nDCG@10", precision="single")
    if kind == "scattered":
        assert len(seen) == 1  # others need no look
    same(found.to_polars(means=False), expected.to_polars(means=False))
    assert found.warnings == expected.warnings
    assert found.inputs["runs"] == expected.inputs["runs"]


def test_a_stretch_of_a_file_that_changes_is_none(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(lines(FRAME))
    first, *_, last = stretches.stretches(str(path), 1000)
    assert first.start == 0
    assert last.end == path.stat().st_size
    assert read_stretch(first) is not None
    assert read_stretch(Stretch(first.path, first.start, first.end, (1, 2))) is None


def test_stretches_begin_with_a_topic_and_cover_all(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(lines(FRAME))
    text = path.read_text()
    for size in (1, 10, 100, 1000, len(text) // 2):
        cuts = stretches.stretches(str(path), size)
        assert [each.start for each in cuts] == [0, *(each.end for each in cuts[:-1])]
        parts = [text[each.start : each.end] for each in cuts]
        assert "".join(parts) == text
        topics = [{line.split()[0] for line in part.splitlines()} for part in parts]
        assert sum(map(len, topics)) == len({topic for each in topics for topic in each})
    assert stretches.stretches(str(path), len(text) // 2 + 1) == []
    path.write_text("".join(f"{topic} Q0 d 1 1 x\n" for topic in ("a(", "a.", "ab", "[x", "[", "\\d", "1", "10", "1")))
    cuts = stretches.stretches(str(path), 1)
    assert [path.read_text()[each.start : each.end].split()[0] for each in cuts] == [
        *("a(", "a.", "ab", "[x", "[", "\\d", "1", "10", "1"),
    ]
    path.write_text(text)
    assert stretches.stretches(str(tmp_path / "none.txt"), 1) == []
    assert stretches.stretches(str(tmp_path), 0) == []
    path.rename(tmp_path / "run.csv")
    assert stretches.stretches(str(tmp_path / "run.csv"), 1) == []


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.usefixtures("helped")
def test_many_files_of_all_kinds_with_other_processes(folder: Path) -> None:
    names = []
    for number, own in enumerate(DATA.lines.partition_by("run", include_key=False, maintain_order=True) * 4):
        names.append(f"run{number}.txt.gz" if number % 5 == 1 else f"run{number}.txt")
        text = lines(own, f"system{number % 7}").encode()
        (folder / names[-1]).write_bytes(gzip.compress(text) if number % 5 == 1 else text)
    paths = [folder / name for name in names]
    measures = "AP nDCG@10 infAP gm(AP) RBP Compat"
    for _ in range(2):
        found = exaequo.evaluate(folder / "qrels.txt", paths, measures, ["realistic", "expected"], samples=5)
        (hand,) = hands._hands
        assert hand.alive  # it did what it was asked to, and is there for more
    expected = in_one_piece(folder, *names, measures=measures, ties=["realistic", "expected"], samples=5)
    same(found.to_polars(means=False), expected.to_polars(means=False))
    assert found.warnings == expected.warnings
    assert found.inputs["runs"] == expected.inputs["runs"]
    (folder / names[3]).write_text("t1 Q0 d1 1 oops x\n")
    (folder / names[5]).write_text("t1 Q0\n")
    with pytest.raises(exaequo.InputError, match=r"run3\.txt:1: .*'oops'"):
        exaequo.evaluate(folder / "qrels.txt", paths, "AP")


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.usefixtures("helped")
def test_a_hand_does_files_and_stretches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them but what is begun here, which waits until the hand has done the rest."""
    (folder / "run.txt").write_text(lines(FRAME))
    (folder / "run.gz").write_bytes(gzip.compress(lines(FRAME, "packed").encode()))
    here, units = list[Any](), list[Any]()
    begin, give, evaluate = hands._Lot.__init__, hands._Lot.give, evaluation.FileWork.__call__
    others = threading.Event()

    def begun(lot: Any, given: Any) -> None:
        units.extend(given)
        begin(lot, given)

    def given(lot: Any, at: Any, found: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            others.set()
        give(lot, at, found)

    def slowly(work: Any, unit: Any) -> Any:
        here.append(unit)
        assert others.wait(PATIENCE)
        return evaluate(work, unit)

    monkeypatch.setattr(hands._Lot, "__init__", begun)
    monkeypatch.setattr(hands._Lot, "give", given)
    monkeypatch.setattr(evaluation.FileWork, "__call__", slowly)
    paths = [folder / "run.txt", folder / "run.gz"] * 4
    found = exaequo.evaluate(folder / "qrels.txt", paths, "AP nDCG@10 RBP", "expected")
    assert len(here) < len(units) > 20
    assert {unit.stretch is None for unit in units} == {True, False}
    monkeypatch.undo()
    expected = in_one_piece(folder, *[path.name for path in paths], measures="AP nDCG@10 RBP", ties="expected")
    same(found.to_polars(means=False), expected.to_polars(means=False))


def test_no_more_hands_than_there_is_memory_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may have a whole file in memory; stretches need next to nothing, what is packed ten times its size."""
    monkeypatch.setenv(hands.VARIABLE, "8")
    monkeypatch.setattr(hands, "_WORTH_STARTING", 1)
    work = evaluation.FileWork(
        evaluation.prepared(read_qrels(str(folder / "qrels.txt")), Options()), (), Options(), False, {}
    )
    (folder / "run.txt").write_text(lines(FRAME))
    (folder / "table.csv").write_bytes(bytes(10_000_000))
    (folder / "table.csv.gz").write_bytes(bytes(1_000_000))
    large, table, packed = (
        work.units(None, str(folder / name))[0] for name in ("run.txt", "table.csv", "table.csv.gz")
    )
    assert large.stretch is not None
    for free, expected in ((None, [7, 7, 7]), (10**12, [7, 7, 7]), (600_000_000, [7, 3, 3]), (300_000_000, [7, 0, 0])):
        monkeypatch.setattr(memory, "available", lambda free=free: free)
        assert [work.helpers([each] * 3) for each in (large, table, packed)] == expected


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.usefixtures("helped")
def test_measures_of_ones_own_stay_here(folder: Path) -> None:
    (folder / "run.txt").write_text(lines(FRAME.filter(pl.col("qid") != "t3")))
    mine = exaequo.define("Mine", lambda ranking: ranking.total(ranking.topic))
    try:
        found = exaequo.evaluate(folder / "qrels.txt", [folder / "run.txt"] * 3, ["NumRet", mine])
        for run in found.runs:
            assert found.mean("Mine", run=run) * len(found.evaluated) == FRAME.filter(pl.col("qid") != "t3").height
        exaequo.evaluate(folder / "qrels.txt", [folder / "run.txt"] * 3, exaequo.define("Other", handwork.returned))
        assert not hands._hands
    finally:
        exaequo.measures.registry._DEFINITIONS.pop("Other", None)
        exaequo.measures.registry._DEFINITIONS.pop("Mine")


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.parametrize("packed", [False, True])
def test_measures_of_ones_own_see_all_lists(folder: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    monkeypatch.setattr(evaluation, "LINES", 20)
    text = "".join(f"t{topic} Q0 d{at} 1 {-at} mine\n" for topic in range(9) for at in range(40 + topic)).encode()
    (folder / "run.txt").write_bytes(gzip.compress(text) if packed else text)
    share = exaequo.define("Share", lambda ranking: ranking.returned / ranking.rank.max())
    try:
        found = exaequo.evaluate({"t1": {"d1": 1}, "t8": {"d1": 1}}, folder / "run.txt", share)
    finally:
        exaequo.measures.registry._DEFINITIONS.pop("Share")
    assert found["mine", "realistic", "Share"].to_dict() == {"t1": 41 / 48, "t8": 1.0}


@pytest.mark.usefixtures("helped")
def test_the_command_is_the_same_with_stretches_and_hashes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "run.txt").write_text(lines(FRAME))
    shown = []
    for size in (1000, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evaluation, "SIZE", size)
            assert command(["eval", str(folder / "qrels.txt"), str(folder / "run.txt"), "--json", "-q"]) == 0
        shown.append(capsys.readouterr())
    assert shown[0] == shown[1]
    assert '"sha256": "' in shown[0].out


def test_files_that_are_others_to_other_processes(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("some text")
    (tmp_path / "link").symlink_to("run.txt")
    (tmp_path / "stdin").symlink_to("/dev/stdin")
    (tmp_path / "again").symlink_to("stdin")
    assert [size_of(str(tmp_path / name)) for name in ("run.txt", "link", "stdin", "again", "none", "")] == [
        9,
        9,
        0,
        0,
        0,
        0,
    ]
    with path.open() as file:
        for name in (f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}", f"/proc/../dev/fd/{file.fileno()}"):
            assert size_of(name) == 0


def test_a_file_that_goes_away_is_told_as_ever(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "run.txt"
    path.write_text(lines(FRAME))
    first = stretches.stretches(str(path), 1000)[0]
    path.unlink()
    assert read_stretch(first) is None
    path.write_text(lines(FRAME))

    def seen_last(*given: Any) -> list[Stretch]:
        found = stretches.stretches(*given)
        path.unlink()
        return found

    monkeypatch.setattr(evaluation, "stretches", seen_last)
    with pytest.raises(exaequo.InputError, match="there is no such file"):
        exaequo.evaluate(folder / "qrels.txt", path, "AP")


@pytest.mark.parametrize("gone", [True, False])
def test_a_file_that_changes_before_it_is_hashed_is_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], gone: bool
) -> None:
    path = folder / "run.txt"
    path.write_text(lines(FRAME))

    def late(name: str) -> str:
        path.unlink() if gone else path.write_text(lines(FRAME, "another"))
        return digest_of(name)

    monkeypatch.setattr(stretches, "digest_of", late)
    code = command(["eval", str(folder / "qrels.txt"), str(path), "--json"])
    shown = capsys.readouterr()
    if gone:
        assert (code, shown.err) == (
            1,
            f"exaequo: {path}: there is no such file; expected a readable file. Check the path.\n",
        )
        return
    (run,) = json.loads(shown.out)["inputs"]["runs"]
    assert (run["name"], run["sha256"]) == ("another", sha256_of(path.read_bytes()))


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
def test_a_file_called_like_standard_input_is_not_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "-").write_text(lines(FRAME, "file"))
    monkeypatch.chdir(folder)
    assert size_of("-") == 0
    for engine in ("local", "blocks"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(lines(FRAME, "told").encode()))))
        assert command(["eval", "qrels.txt", "-", "--engine", engine, "--json", "-o", f"{engine}.json"]) == 0
        (run,) = json.loads((folder / f"{engine}.json").read_text())["inputs"]["runs"]
        assert (run["name"], run["file"]) == ("told", "<stdin>")


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.parametrize("last", ["t1 Q0\n", "t1 Q0 x 1 1 mine\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_of_what_is_wrong_in_several_stretches_the_same_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, last: str, packed: bool
) -> None:
    """Ranks that are no numbers are told where there is nothing else, those of the first topic by name first."""
    ranks = "".join(f"t{9 - at % 9} Q0 d{at} x{at} 1 mine\n" for at in sorted(range(400), key=lambda at: at % 9))
    text = (ranks + last).encode()
    (folder / "run.txt").write_bytes(gzip.compress(text) if packed else text)
    with pytest.raises(exaequo.InputError) as expected:
        in_one_piece(folder, "run.txt", measures="AP", ties="rank")
    monkeypatch.setattr(evaluation, "LINES", 20)
    with pytest.raises(exaequo.InputError) as raised:
        exaequo.evaluate(folder / "qrels.txt", folder / "run.txt", "AP", "rank")
    assert str(raised.value) == str(expected.value)


@pytest.mark.filterwarnings("ignore::exaequo.DataWarning")
@pytest.mark.parametrize("number", [1, 2])
def test_the_first_file_that_is_wrong_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Also where it is large, and is looked at as a whole last."""
    monkeypatch.setattr(hands, "_WORTH_STARTING", 1)
    monkeypatch.setenv(hands.VARIABLE, str(number))
    (folder / "large.txt").write_text(lines(FRAME) + "t1 Q0\n")
    (folder / "small.txt").write_text("t1 Q0 d1 1 oops x\n")
    with pytest.raises(exaequo.InputError, match=r"large\.txt:"):
        exaequo.evaluate(folder / "qrels.txt", [folder / "large.txt", folder / "small.txt"], "AP")
    hands.dismiss()


@pytest.mark.parametrize("line", ["\0", "{'id': 7, 'text': 'x'}\n", "t1 Q0 d 1 1 mine\n"])
def test_a_large_file_without_a_place_to_cut_is_refused_unread(folder: Path, line: str) -> None:
    path = folder / "corpus.txt"
    path.write_text(line * (12_000_000 // len(line)))
    with memory.limited(300_000_000, lambda: None), pytest.raises(exaequo.InputError, match="12 MB of data or more"):
        exaequo.evaluate(folder / "qrels.txt", path, "AP")
    assert stretches.stretches(str(path), 1000) == []


@pytest.mark.parametrize("window", [1, 7, 64, 1 << 16])
def test_cuts_are_the_same_however_much_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    path = tmp_path / "run.txt"
    path.write_text(lines(FRAME))
    expected = [[each.start for each in stretches.stretches(str(path), size)] for size in (1, 50, 300, 1000)]
    monkeypatch.setattr(stretches, "_WINDOW", max(window, 10))
    assert [[each.start for each in stretches.stretches(str(path), size)] for size in (1, 50, 300, 1000)] == expected
    path.write_text("x" * 3000 + "\n" + lines(FRAME))
    assert stretches.stretches(str(path), 1500) == []
