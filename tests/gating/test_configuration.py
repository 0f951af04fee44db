"""What a project asks of its gate, in files: found, checked with file and line, beaten by the command line."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import exaequo
from exaequo import InputError
from exaequo.cli import run as command
from exaequo.cli.gate import gate
from exaequo.gating.configuration import _KEYS, configuration
from exaequo.gating.slices import read_slices

WHOLE = """
[gate]
qrels = "qrels.txt"
baseline = "runs/bm25.txt"
candidate = "runs/hybrid.txt"
max-drop = "2%"
floors = ["AP >= 0.2"]
strict-slices = true
min-topics = 7
test = "randomization"
alpha = 0.01
samples = 500
seed = 3
ties = ["realistic", "optimistic"]
equivalence = false
depth = 50
missing = "skip"
rel-level = 2
max-grade = inf
precision = "single"

[gate.measures]
"nDCG@10" = "1%"
P@10 = 1

[gate.slices]
early = ["401", "402", "403", "404", "405", "406", "407", "408"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    exaequo.sample().save(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(text: str, name: str = "exaequo.toml") -> None:
    Path(name).write_text(text, encoding="utf-8")


def asked(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert command(["gate", *arguments, "--json"]) in (0, 3, 4)
    document: dict[str, Any] = json.loads(capfd.readouterr().out)
    return document


@pytest.mark.usefixtures("folder")
def test_everything_can_stand_in_the_file(capfd: pytest.CaptureFixture[str]) -> None:
    written(WHOLE.replace("P@10 = 1", '"P@10" = {max-drop = 0.01, floor = 0.5}'))
    document = asked(capfd)
    assert document["options"] == {
        "config": "exaequo.toml",
        "test": "randomization",
        "alpha": 0.01,
        "samples": 500,
        "seed": 3,
        "min_topics": 7,
        "ties": ["realistic", "optimistic"],
        "equivalence": False,
        "strict": True,
        "measures": {
            "nDCG@10": {"max_drop": "1%", "floor": None},
            "P@10": {"max_drop": "0.01", "floor": 0.5},
            "AP": {"max_drop": "2%", "floor": 0.2},
        },
        "missing": "skip",
        "rel_level": 2,
        "max_grade": None,
        "depth": 50,
        "precision": "single",
    }
    assert [each["slice"] for each in document["measures"]][-3:] == ["early"] * 3


def test_every_option_has_its_key() -> None:
    """What the command can do can stand in the file, but for how files are read and what is written."""
    aside = {
        "given",
        "config",
        "format_",
        "json",
        "markdown",
        "path",
        "reader",
        "qrels_reader",
        "run_reader",
        "columns",
        "mend",
        "lang",
    }
    options = {each.name for each in gate.params} - aside
    named = {key.option or name.replace("-", "_") for name, key in _KEYS.items()}
    assert named == {*options, "qrels", "baseline", "candidate"} | {"measures"}


@pytest.mark.usefixtures("folder")
def test_the_command_line_counts_more(capfd: pytest.CaptureFixture[str]) -> None:
    written(
        '[gate]\nqrels = "qrels.txt"\nbaseline = "runs/bm25.txt"\nmeasures = {AP = {max-drop = 0.1, floor = 0.2}}\n'
    )
    assert command(["gate"]) == 2
    assert "There is no candidate" in capfd.readouterr().err
    one = asked(capfd, "runs/hybrid.txt")  # one file is the candidate
    assert one["state"] == "passed"
    assert one["options"]["measures"] == {"AP": {"max_drop": "0.1", "floor": 0.2}}
    two = asked(capfd, "runs/hybrid.txt", "runs/bm25.txt")
    assert two["measures"][0]["baseline"] == one["measures"][0]["candidate"]
    assert asked(capfd, "runs/hybrid.txt", "-m", "P@10")["options"]["measures"] == {
        "P@10": {"max_drop": "5%", "floor": None}
    }
    own = {"max_drop": "0.1", "floor": 0.2}
    chosen = asked(capfd, "runs/hybrid.txt", "-m", "AP", "-m", "P@10")["options"]["measures"]
    assert chosen == {"AP": own, "P@10": {"max_drop": "5%", "floor": None}}  # -m keeps what the table says
    assert asked(capfd, "runs/hybrid.txt", "-m", "AP", "--max-drop", "3%")["options"]["measures"] == {
        "AP": {"max_drop": "3%", "floor": 0.2}
    }
    strict = asked(capfd, "runs/hybrid.txt", "--floor", "AP >= 0.1", "--floor", "AP >= 0.3")["options"]["measures"]
    assert strict == {"AP": {"max_drop": "0.1", "floor": 0.3}}
    drop = asked(capfd, "runs/hybrid.txt", "--max-drop", "3%", "--alpha", "0.01")["options"]
    assert (drop["measures"], drop["alpha"]) == ({"AP": {"max_drop": "3%", "floor": 0.2}}, 0.01)
    assert command(["gate", "a", "b", "c", "d"]) == 2


def test_paths_are_relative_to_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("slices.txt").write_text("401 a\n", encoding="utf-8")
    written(
        '[gate]\nqrels = "qrels.txt"\nbaseline = "runs/bm25.txt"\ncandidate = "runs/hybrid.txt"\n'
        'slices = "slices.txt"\n'
    )
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    assert asked(capfd, "--config", "../exaequo.toml")["measures"][1]["slice"] == "a"
    assert command(["gate"]) == 2  # there is none here


@pytest.mark.usefixtures("folder")
def test_pyproject(capfd: pytest.CaptureFixture[str]) -> None:
    written("[project\n", "pyproject.toml")  # another's, and broken
    files = ["qrels.txt", "runs/bm25.txt", "runs/hybrid.txt"]
    assert asked(capfd, *files)["options"]["config"] is None
    written('[tool.exaequo.gate]\nmeasures = ["AP"]\n', "pyproject.toml")
    assert asked(capfd, *files)["options"]["measures"] == {"AP": {"max_drop": "5%", "floor": None}}
    written('[gate]\nmeasures = ["RR"]\n')
    both = asked(capfd, *files)
    assert list(both["options"]["measures"]) == ["RR"]
    assert both["warnings"][0] == "both exaequo.toml and pyproject.toml ask for a gate; exaequo.toml counts"
    assert list(asked(capfd, *files, "--config", "pyproject.toml")["options"]["measures"]) == ["AP"]
    written("[other]\n")
    assert list(asked(capfd, *files)["options"]["measures"]) == ["AP"]
    assert command(["gate", *files, "--config", "exaequo.toml"]) == 1
    assert "no table for a gate; expected [gate]" in capfd.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "where", "said"),
    [
        ('qrel = "x"', 4, "unknown key 'qrel'; expected one of qrels, .*Did you mean 'qrels'?"),
        ("zzz = 1", 4, "unknown key 'zzz'.*Delete it"),
        ('alpha = "x"', 4, "alpha = 'x'; expected a number between 0 and 0.5"),
        ("alpha = 0.7", 4, "alpha = 0.7; expected"),
        ("alpha = true", 4, "alpha = True; expected"),
        ("min-topics = 2.5", 4, "expected a whole number ≥ 2"),
        ("samples = 10", 4, "expected a whole number from 100 to 10,000,000"),
        ("depth = 0", 4, "expected a whole number ≥ 1"),
        ("equivalence = 1", 4, "expected true or false"),
        ('test = "tt"', 4, "expected t, randomization or bootstrap"),
        ('ties = ["fair", "x"]', 4, "expected fair, robust"),
        ("ties = [1]", 4, "expected fair, robust"),
        ('measures = ["nDCGG"]', 4, "no measure 'nDCGG'; did you mean 'nDCG'"),
        ("measures = []", 4, "expected names"),
        ('measures = {AP = "x"}', 4, "expected names.*A drop"),
        ("[gate.measures]\nAP = true", 4, "expected names"),
        ('floors = ["AP > 3"]', 4, "expected conditions"),
        ("max-drop = -1", 4, "expected the loss allowed"),
        ('slices = {a = "401"}', 4, "expected a path, or a table of labels"),
        ("[gate.slices]\na = 1", 4, "expected a path, or a table of labels"),
        ("[gate.slices]\na = [401, 1.5]", 4, "must be text or whole numbers. Got 1.5"),
        ("[gate.slices]\na = [true]", 4, "must be text or whole numbers. Got True"),
        ("samples = 10000001", 4, "expected a whole number from 100 to 10,000,000"),
        ("measures = {AP = {zz = 1, aa = 2}}", 4, "Got 'zz'"),
        ("seed = [", 4, "not TOML"),
        ("max-drop = 1%", 4, "not TOML"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(
    line: str, where: int, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    written(f'# ours\n[gate]\nqrels = "qrels.txt"\n{line}\n')
    assert command(["gate"]) == 1
    error = capfd.readouterr().err
    assert error.startswith(f"exaequo: exaequo.toml:{where}: ")
    assert re.search(said, error)


@pytest.mark.usefixtures("folder")
def test_what_is_no_table_and_no_file() -> None:
    written("gate = 3\n")
    with pytest.raises(InputError, match=r"exaequo.toml:1: gate = 3; expected a table \[gate\]"):
        configuration()
    with pytest.raises(InputError, match="there is no such file"):
        configuration("nowhere.toml")
    Path("exaequo.toml").write_bytes(b"[gate]\nqrels = '\xff'\n")
    with pytest.raises(InputError, match="not TOML"):
        configuration()
    written("[tool.other]\nalpha = 3\n[gate]\nalpha = 3\n")
    with pytest.raises(InputError, match=r"exaequo\.toml:4: alpha"):
        configuration()


# --------------------------------------------------------------------------------------------------------------- slices


@pytest.mark.usefixtures("folder")
def test_slices_are_read() -> None:
    expected = {"long": ["401", "402"], "rare": ["401"], "two words": ["403"]}
    lines = "# ours\n401 long\n402\tlong\n\n401  rare\n401 rare\n403\ttwo words\n"
    Path("s.txt").write_text(lines, encoding="utf-8")
    Path("s.gz").write_bytes(gzip.compress(lines.encode()))
    Path("s.csv").write_text('label,topic\nlong,401\nlong,402\nrare,401\n"two words",403\n', encoding="utf-8")
    Path("s.tsv.gz").write_bytes(
        gzip.compress(b"qid\tnote\tslice\r\n401\tx\tlong\r\n402\tx\tlong\r\n401\tx\trare\r\n403\tx\ttwo words\r\n")
    )
    for name in ("s.txt", "s.gz", "s.csv", "s.tsv.gz"):
        assert read_slices(name) == expected, name


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("s.txt", "401 a\n402\n", "s.txt:2: 1 field; expected 2: topic label"),
        ("s.txt", "401 0 AP1 1\n", "s.txt:1: 4 fields; expected 2"),
        ("s.txt", "401\t\n", "s.txt:1: 1 field"),
        ("s.txt", "# nothing\n", "s.txt: there is no slice"),
        ("s.csv", "a,b\n401,x\n", "s.csv:1: columns a, b; expected topic and label"),
        ("s.csv", "topic,label\n401,x\n402\n", "s.csv:3: 1 field"),
        ("s.csv", "", "s.csv:1: columns none"),
    ],
)
def test_bad_slices(name: str, text: str, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path(name).write_text(text, encoding="utf-8")
    assert command(["gate", "qrels.txt", "runs/bm25.txt", "runs/hybrid.txt", "--slices", name]) == 1
    assert capfd.readouterr().err.startswith(f"exaequo: {said}")


@pytest.mark.usefixtures("folder")
def test_slices_that_are_not_utf8(capfd: pytest.CaptureFixture[str]) -> None:
    Path("s.txt").write_bytes(b"401 a\n402 \xff\n")
    assert command(["gate", "qrels.txt", "runs/bm25.txt", "runs/hybrid.txt", "--slices", "s.txt"]) == 1
    assert capfd.readouterr().err.startswith("exaequo: s.txt:2: not UTF-8")


@pytest.mark.usefixtures("folder")
def test_labels_without_topics_and_topics_without_labels(capfd: pytest.CaptureFixture[str]) -> None:
    Path("s.txt").write_text("".join(f"{topic} early\n" for topic in range(401, 411)) + "x none\n", encoding="utf-8")
    files = ["qrels.txt", "runs/bm25.txt", "runs/hybrid.txt", "--slices", "s.txt"]
    document = asked(capfd, *files)
    assert document["warnings"] == [
        "the slice none has no evaluated topic",
        "15 topics in no slice: 411, 412, 413, 414, 415 and 10 more",
    ]
    assert [(each["slice"], each["state"]) for each in document["measures"]] == [
        (None, "passed"),
        ("early", "passed"),
        ("none", "undecided"),
    ]
    assert document["state"] == "passed"
    assert asked(capfd, *files, "--strict-slices")["state"] == "undecided"


@pytest.mark.usefixtures("folder")
def test_a_floor_alone_is_enough(capfd: pytest.CaptureFixture[str]) -> None:
    files = ["qrels.txt", "runs/bm25.txt", "runs/hybrid.txt"]
    alone = asked(capfd, *files, "--floor", "AP >= 0.4")
    assert alone["options"]["measures"] == {"AP": {"max_drop": "5%", "floor": 0.4}}
    assert [each["kind"] for each in alone["measures"]] == ["drop", "floor"]
    assert command(["gate", *files, "--samples", "10000001"]) == 2
    assert "100<=x<=10000000" in capfd.readouterr().err
