"""The header of a run: read, skipped, written; what is refused, and at which line."""

from __future__ import annotations

import builtins
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exaequo
from exaequo.cli import run
from exaequo.read.metadata import LONGEST, header_of, parse_metadata, with_header
from exaequo.read.trec import RUN, parse

LINES = b"1 Q0 a 1 3 sys\n1 Q0 b 2 2 sys\n"
HEADER = b"""# ir_metadata.start
# schema-version: 0.1
# tag: sys
# platform:
#   hardware:
#     ram: 32 GB
# actor:
#   fields:
#   - ir
#   - nlp
# ir_metadata.end
"""
SAYS = {
    "schema-version": 0.1,
    "tag": "sys",
    "platform": {"hardware": {"ram": "32 GB"}},
    "actor": {"fields": ["ir", "nlp"]},
}
#: PyYAML itself loses what it calls a line end.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x85"))


def file(folder: Path, data: bytes, name: str = "run.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


class TestReading:
    @pytest.mark.parametrize(
        "header",
        [
            HEADER,
            HEADER.replace(b"\n", b"\r\n"),
            HEADER.replace(b"\n", b" \n"),  # as repro_eval writes it
            HEADER.replace(b"# ", b"#"),
            b"\xef\xbb\xbf" + HEADER,
            HEADER.replace(b"# tag", b"\n# tag"),
        ],
    )
    def test_header(self, header: bytes, tmp_path: Path) -> None:
        path = file(tmp_path, header + LINES)
        assert exaequo.read_metadata(path) == SAYS
        plain = exaequo.read_run(file(tmp_path, LINES, "plain"))
        assert exaequo.read_run(path).frame.equals(plain.frame)
        packed = file(tmp_path, gzip.compress(header + LINES), "run.gz")
        assert exaequo.read_metadata(packed) == SAYS
        assert exaequo.read_run(packed).frame.equals(plain.frame)

    def test_repro_eval_reads_and_writes_the_same(self, tmp_path: Path) -> None:
        """Its reader, by its own rule: all lines between the two, without their #."""
        exaequo.write_metadata(file(tmp_path, LINES), SAYS, tmp_path / "out.txt")
        lines = (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()
        assert lines[0] == "# ir_metadata.start"
        inner = lines[1 : lines.index("# ir_metadata.end")]
        assert parse_metadata("\n".join(line.strip("#") for line in inner), "x") == SAYS

    @pytest.mark.parametrize("data", [LINES, b"# a comment\n" + LINES, LINES + HEADER, b""])
    def test_no_header(self, data: bytes, tmp_path: Path) -> None:
        assert exaequo.read_metadata(file(tmp_path, data)) == {}

    def test_line_numbers_are_those_of_the_file(self, tmp_path: Path) -> None:
        with pytest.raises(exaequo.InputError, match=r"run\.txt:14: score is 'nan'"):
            exaequo.read_run(file(tmp_path, HEADER + LINES + b"1 Q0 c 3 nan sys\n"))

    def test_messy_lines_below(self, tmp_path: Path) -> None:
        messy = b"\n1  Q0\ta 1 3 sys\r\n# more\n1 Q0 b 2 2 sys"
        plain = exaequo.read_run(file(tmp_path, LINES, "plain"))
        assert exaequo.read_run(file(tmp_path, HEADER + messy)).frame.equals(plain.frame)

    def test_the_clean_way_is_taken(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("exaequo.read.trec.tidy", lambda *_: pytest.fail("tidied"))
        assert exaequo.read_run(file(tmp_path, HEADER + LINES)).source.header.startswith("schema-version: 0.1\ntag")

    def test_the_official_reader_knows_comments_only(self) -> None:
        unended = HEADER.replace(b"# ir_metadata.end\n", b"")
        assert parse(unended + LINES, RUN, "run", repeats=True).height == 2


class TestRefused:
    @pytest.mark.parametrize(
        ("data", "line"),
        [
            (HEADER.replace(b"# ir_metadata.end\n", b"") + LINES, 11),
            (b"# ir_metadata.start\n# tag: x\n" + LINES + b"# ir_metadata.end\n", 3),
            (b"# ir_metadata.start\n# tag: x", 2),
        ],
    )
    def test_no_end(self, data: bytes, line: int, tmp_path: Path) -> None:
        path = file(tmp_path, data)
        for read in (exaequo.read_run, exaequo.read_metadata):
            with pytest.raises(exaequo.InputError, match=rf"run\.txt:{line}: the header .* has no end") as error:
                read(path)
            assert "expected '# ir_metadata.end'. Add that line" in str(error.value)

    def test_too_long(self, tmp_path: Path) -> None:
        data = b"# ir_metadata.start\n" + b"# x\n" * (LONGEST // 4) + b"# ir_metadata.end\n" + LINES
        with pytest.raises(exaequo.InputError, match="more than 1,000,000 bytes"):
            exaequo.read_run(file(tmp_path, data))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a: 1\nb: [", r"run:3: the header is no plain YAML"),
            ("a: 1\nb: !!python/object/apply:os.getcwd []", r"run:3: .*python/object"),
            ("a: &x [1]\nb: *x", r"run:3: .*an alias"),
            ("a: 1\nb: 2\na: 3", r"run:4: .*'a' is here twice"),
            ("a:\n  b: 1\n  b: 2", r"run:4: .*'b' is here twice"),
            ("- a", "the header is list; expected keys and values"),
            ("[" * 100_000, "no plain YAML"),
            ("a: \x07", "no plain YAML"),
            ("a: 2001-99-99", "no plain YAML"),
        ],
    )
    def test_yaml(self, text: str, message: str) -> None:
        with pytest.raises(exaequo.InputError, match=message):
            parse_metadata(text, "run")

    def test_without_yaml(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        original = builtins.__import__

        def missing(name: str, *rest: Any, **more: Any) -> Any:
            if name == "yaml":
                raise ImportError
            return original(name, *rest, **more)

        monkeypatch.setattr(builtins, "__import__", missing)
        path = file(tmp_path, HEADER + LINES)
        assert exaequo.read_run(path).frame.height == 2
        with pytest.raises(exaequo.ExaequoError, match=r"pip install 'exaequo\[metadata\]'"):
            exaequo.read_metadata(path)


class TestWriting:
    @pytest.mark.parametrize("lines", [LINES, LINES.replace(b"\n", b"\r\n"), b"1\tQ0 a 1 3 sys", b"# c\n\n" + LINES])
    def test_lines_stay(self, lines: bytes, tmp_path: Path) -> None:
        for before in (b"", HEADER):
            exaequo.write_metadata(
                file(tmp_path, before + lines), {"tag": "é", "n": [1, {"x": None}]}, tmp_path / "out"
            )
            written = (tmp_path / "out").read_bytes()
            assert written[header_of(written, "out")[1] :] == lines
            assert exaequo.read_metadata(tmp_path / "out") == {"tag": "é", "n": [1, {"x": None}]}

    def test_no_line_escapes_the_comments(self, tmp_path: Path) -> None:
        exaequo.write_metadata(file(tmp_path, LINES), "a: 1\rb: 2\r\nc: 3\n", tmp_path / "out")
        assert exaequo.read_run(tmp_path / "out").frame.height == 2
        assert exaequo.read_metadata(tmp_path / "out") == {"a": 1, "b": 2, "c": 3}

    def test_refused(self, tmp_path: Path) -> None:
        path = file(tmp_path, LINES)
        with pytest.raises(exaequo.BadParameter, match=r"leave out the last ending"):
            exaequo.write_metadata(path, {}, tmp_path / "out.gz")
        with pytest.raises(exaequo.BadParameter, match=r"plain values only"):
            exaequo.write_metadata(path, {"a": object()}, tmp_path / "out")
        with pytest.raises(exaequo.BadParameter, match=r"cannot have a line 'ir_metadata.end'"):
            exaequo.write_metadata(path, "a: |\n  b\n\n  ir_metadata.end\nir_metadata.end: 1\n", tmp_path / "out")
        assert not (tmp_path / "out").exists()

    @given(st.dictionaries(TEXT, st.none() | st.booleans() | st.integers() | TEXT | st.lists(TEXT)))
    def test_all_texts_come_back(self, metadata: dict[str, Any]) -> None:
        written = with_header(LINES, metadata, "run")
        text, end = header_of(written, "run")
        assert written[end:] == LINES
        assert parse_metadata(text, "run") == metadata
        assert parse(written, RUN, "run").height == 2


class TestCommand:
    def test_show(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        path = str(file(tmp_path, HEADER.replace(b"tag: sys", b"tag: 2020-01-02") + LINES))
        assert run(["metadata", path]) == 0
        assert capfd.readouterr().out.startswith("schema-version: 0.1\ntag: 2020-01-02\nplatform:\n  hardware:\n")
        assert run(["metadata", path, "--json"]) == 0
        assert json.loads(capfd.readouterr().out) == {"format": 1, "metadata": {**SAYS, "tag": "2020-01-02"}}
        assert run(["metadata", str(file(tmp_path, LINES, "plain"))]) == 1
        assert "plain: there is no header; expected '# ir_metadata.start'" in capfd.readouterr().err

    def test_write(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        path, yaml = str(file(tmp_path, LINES)), str(file(tmp_path, b"tag: mine  # so\nrun-version: 1.10\n", "m.yaml"))
        out = tmp_path / "out.txt"
        assert run(["metadata", path, "--with", yaml, "-o", str(out)]) == 0
        head = b"# ir_metadata.start\n# tag: mine  # so\n# run-version: 1.10\n# ir_metadata.end\n"
        assert out.read_bytes() == head + LINES
        assert run(["metadata", str(out), "--fill", "-o", str(tmp_path / "more.txt")]) == 0
        assert exaequo.read_metadata(tmp_path / "more.txt") == {
            "schema-version": 0.1,
            "tag": "mine",
            "run-version": 1.1,
        }
        assert run(["metadata", path, "--fill", "-o", "-"]) == 0
        assert "# schema-version: 0.1\n# tag: sys\n" in capfd.readouterr().out
        assert run(["metadata", path, "--fill"]) == 2
        assert "name its file with -o" in capfd.readouterr().err
        assert run(["metadata", path, "--with", yaml, "-o", path]) == 2
        assert Path(path).read_bytes() == LINES

    def test_check_says_so(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        qrels, path = str(file(tmp_path, b"1 0 a 1\n", "qrels")), str(file(tmp_path, HEADER + LINES))
        assert run(["check", qrels, path]) == 0
        assert f"remark: {path}: begins with a header of metadata (9 lines" in capfd.readouterr().out
        broken = str(file(tmp_path, HEADER.replace(b"end", b"und") + LINES, "broken"))
        assert run(["check", qrels, broken]) == 1
        assert "broken:12: the header that begins in line 1 has no end" in capfd.readouterr().out


def test_a_header_that_is_no_yaml_is_not_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = file(tmp_path, b"# ir_metadata.start\n# tag: [x\n# ir_metadata.end\n" + LINES)
    for asked in ([], ["--json"]):
        assert run(["metadata", str(path), *asked]) == 1
        both = capfd.readouterr()
        assert both.out == ""
        assert "run.txt:3: the header is no plain YAML" in both.err
