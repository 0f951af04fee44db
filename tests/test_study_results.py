"""What a study keeps of each run: sealed, and the same from judgments in one file or in several."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import exaequo
from exaequo.choices import INTERVAL
from exaequo.measures import parse_measures
from exaequo.study import study
from exaequo.study.results import together, unpacked
from helpers import evaluate

SAMPLE = exaequo.sample()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    SAMPLE.save(tmp_path / "archive" / "track" / "2000")
    for name in ("bm25", "dense-fp16", "hybrid", "logprob"):
        (tmp_path / "archive" / "track" / "2000" / "runs" / f"{name}.txt").unlink()
    return tmp_path / "archive"


def results(folder: Path) -> list[Path]:
    return sorted((folder / "work").iterdir())


def test_what_is_kept_is_what_was_computed(archive: Path, tmp_path: Path) -> None:
    study(archive, tmp_path / "out", measures="AP BreakEven")
    kept = [unpacked(path) for path in results(tmp_path / "out")]
    scores = together([(each, each.name) for each in kept if each], parse_measures("AP BreakEven"))
    for name in ("boolean", "llm-judge"):
        run = next(each for each in SAMPLE.runs if each.name == name)
        whole = evaluate(SAMPLE.qrels, run, "AP BreakEven", ties="all", depth=1000)
        for ties in INTERVAL:
            for measure in ("AP", "BreakEven"):
                expected = whole[name, ties, measure].to_dict()
                assert scores[name, ties, measure].to_dict() == pytest.approx(expected, nan_ok=True, abs=0)
    assert scores.facts["boolean"].documents.tolist() == [100] * 25


def test_a_flipped_bit_is_seen_and_done_again(archive: Path, tmp_path: Path) -> None:
    whole = study(archive, tmp_path / "out").tables
    path = results(tmp_path / "out")[0]
    data = path.read_bytes()
    for bit in range(0, 8 * len(data), 37):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        assert unpacked(path) is None, bit
    for content in (b"", data[:10], data[:-1], data + b"\0"):
        path.write_bytes(content)
        assert unpacked(path) is None
    again = study(archive, tmp_path / "out").tables
    assert path.read_bytes() == data
    assert all(frame.equals(again[name]) for name, frame in whole.items())


def test_other_judgments_are_other_results(tmp_path: Path) -> None:
    place = tmp_path / "a" / "t" / "1"
    (place / "runs").mkdir(parents=True)
    (place / "runs" / "r").write_text("1 Q0 a 0 2 r\n1 Q0 b 0 1 r\n2 Q0 a 0 1 r\n", encoding="utf-8")
    for judged, expected in (("1 0 a 1\n2 0 a 1\n", 1.0), ("1 0 b 1\n2 0 a 1\n", 0.75), ("1 0 a 1\n2 0 a 1\n", 1.0)):
        (place / "qrels").write_text(judged, encoding="utf-8")
        found = study(tmp_path / "a", tmp_path / "out", measures="AP").tables["systems"]
        assert found["realistic"].item() == expected
    assert len(results(tmp_path / "out")) == 2


def test_judgments_in_several_files_keep_their_subtopics(tmp_path: Path) -> None:
    lines = ["1 1 a 1", "1 2 b 1", "1 3 c 1", "2 1 a 1", "2 2 a 1", "2 1 b 0", "3 5 a 1"]
    run = "".join(f"{t} Q0 {d} 0 {9 - at} r\n" for t in "123" for at, d in enumerate("abc"))
    parts = {"one": [lines], "two": [lines[:3], lines[3:]], "three": [lines[:1], lines[1:5], lines[5:]]}
    found = {}
    for name, files in parts.items():
        place = tmp_path / name / "track" / "1"
        (place / "runs").mkdir(parents=True)
        (place / "runs" / "r").write_text(run, encoding="utf-8")
        for at, part in enumerate(files):
            (place / f"qrels{at}").write_text("\n".join(part) + "\n", encoding="utf-8")
        tables = study(tmp_path / name, tmp_path / f"out-{name}", measures="StRecall@2 ERR_IA@3").tables
        found[name] = dict(tables["systems"].select("measure", "realistic").rows())
    alone = evaluate(tmp_path / "one" / "track" / "1" / "qrels0", {"r": _dicts(run)}, "StRecall@2 ERR_IA@3")
    for name in parts:
        for measure, value in found[name].items():
            assert value == pytest.approx(alone.mean(measure), abs=1e-12), name


def _dicts(run: str) -> dict[str, dict[str, float]]:
    rows = [line.split() for line in run.splitlines()]
    return {topic: {row[2]: float(row[4]) for row in rows if row[0] == topic} for topic in {row[0] for row in rows}}


def test_a_judgment_in_two_files_is_told(tmp_path: Path) -> None:
    place = tmp_path / "a" / "t" / "1"
    (place / "runs").mkdir(parents=True)
    (place / "runs" / "r").write_text("1 Q0 a 0 1 r\n", encoding="utf-8")
    for at in (0, 1):
        (place / f"qrels{at}").write_text("1 0 a 1\n", encoding="utf-8")
    with pytest.raises(exaequo.InputError, match="document 'a' of topic '1' is judged in more than one file"):
        study(tmp_path / "a", tmp_path / "out")


def test_tables_of_a_study_are_those_of_an_audit(archive: Path, tmp_path: Path) -> None:
    """One edition, seen by `study` and by `audit_ties`."""
    found = study(archive, tmp_path / "out", measures="AP RR", depth=None).tables
    place = archive / "track" / "2000"
    audit = exaequo.audit_ties(place / "qrels.txt", sorted(map(str, (place / "runs").iterdir())), "AP RR")
    same = ["run", "topic", "measure", *INTERVAL, "c_over_r_percent", "o_over_r_percent", "o_over_c_percent"]
    for measure in ("AP", "RR"):
        one, two = (table.filter(pl.col("measure") == measure) for table in (found["lucky_lists"], audit.lucky))
        assert one.select(same).rows() == two.select(same).rows()
    same.remove("topic")
    lucky = found["lucky_runs"].select(same).sort("measure", "run")
    assert lucky.rows() == [pytest.approx(row) for row in audit.lucky_runs.select(same).sort("measure", "run").rows()]
    wrong = audit.conclusions.filter(pl.col("realistic") != pl.col("conventional"))
    assert found["conclusions"].row(0, named=True)["wrong"] == wrong.filter(pl.col("measure") == "AP").height


def test_a_run_without_a_value_has_no_rank(tmp_path: Path) -> None:
    place = tmp_path / "a" / "t" / "1"
    (place / "runs").mkdir(parents=True)
    (place / "qrels").write_text("1 0 a 1\n2 0 a 1\n", encoding="utf-8")
    (place / "runs" / "with").write_text("1 Q0 a 0 2 with\n1 Q0 z 0 1 with\n2 Q0 a 0 1 with\n", encoding="utf-8")
    (place / "runs" / "without").write_text("1 Q0 a 0 2 without\n2 Q0 a 0 1 without\n", encoding="utf-8")
    found = study(tmp_path / "a", tmp_path / "out", measures="PDoc(doc='z')").tables["systems"]
    assert dict(found.select("run", "rank_realistic").rows()) == {"with": 1, "without": None}
