"""The package as a whole: its public names, its sample data, its layers."""

from __future__ import annotations

import ast
import hashlib
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

import exaequo
from exaequo import choices
from exaequo.cli.options import _EVALUATION, _PLAN
from exaequo.judge import judge, prepare
from exaequo.options import Evaluation, Options, Reading
from exaequo.order import Ordering
from exaequo.read.tables import KINDS

SOURCE = Path(exaequo.__file__).parent
ROOT = Path(__file__).parent.parent

#: Imports against the order of layers. To be mended; nothing may be added.
KNOWN: set[str] = set()


def layers() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / "layers.py"))


def test_public_names_are_the_same_at_run_time_and_for_types() -> None:
    homes = {name: f"exaequo.{home}" for name, home in exaequo._HOME_OF.items()}
    homes |= dict.fromkeys(exaequo._MODULES, "exaequo")
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    (for_types,) = (node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    typed = [node for node in for_types.body if isinstance(node, ast.ImportFrom)]
    assert {alias.name: node.module for node in typed for alias in node.names} == homes
    assert set(exaequo.__all__) == {*homes, "__version__"}
    assert dir(exaequo) == sorted(exaequo.__all__)


def test_public_names_lead_somewhere() -> None:
    for name in exaequo.__all__:
        assert getattr(exaequo, name) is not None
        assert isinstance(getattr(exaequo, name), ModuleType) == (name in exaequo._MODULES), name
    with pytest.raises(AttributeError):
        exaequo.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_importing_costs_nothing() -> None:
    code = "import sys, exaequo; print('polars' in sys.modules, 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False False\n"


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and layer of everything a module takes from exaequo, at its top or late, for types or for work."""
    nodes = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute)
    ]
    taken = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    package = {"exaequo", *(alias.asname for alias in taken if alias.name == "exaequo")}
    for node in nodes:
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write the whole name of the module"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in package:
            names = [f"exaequo.{node.attr}"]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "exaequo" and rest not in ("", "__version__"):
                first = rest.partition(".")[0]
                yield node.lineno, exaequo._HOME_OF.get(first, first).partition(".")[0]


def test_nothing_imports_from_a_later_layer() -> None:
    order = {name: place for place, name in enumerate([*layers()["LAYERS"], "__main__"])}
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE)
        layer = file.parts[0].removesuffix(".py")
        if layer == "__init__":  # the public names, from anywhere
            continue
        assert layer in order, f"{file} has no place in scripts/layers.py"
        for line, used in imports(path):
            assert used in order, f"{file}:{line}: exaequo.{used} has no place in scripts/layers.py"
            if order[used] > order[layer]:
                found.add(f"{file} imports {used}")
    assert found == KNOWN


def test_the_layers_are_those_of_the_docs() -> None:
    script = layers()
    assert {path.name.removesuffix(".py") for path in SOURCE.iterdir() if _is_module(path)} == set(script["LAYERS"])
    assert script["text"]() == script["TARGET"].read_text(encoding="utf-8"), "run ./scripts/docs"


def _is_module(path: Path) -> bool:
    return (path / "__init__.py").exists() or (path.suffix == ".py" and not path.stem.startswith("__"))


def test_late_and_typed_imports_are_seen(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "import exaequo as e\nfrom exaequo import __version__, gate\nimport exaequo.read.trec\n"
        "if TYPE_CHECKING:\n    from exaequo import tabular\n"
        "def late():\n    from exaequo.plot.chart import Chart\n    return e.evaluate, e.__version__\n"
    )
    expected = [(2, "gating"), (3, "read"), (5, "tabular"), (7, "plot"), (8, "evaluation")]
    assert sorted(imports(module)) == expected


def test_long_searches_and_limits_of_time_are_marked() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                marks = {ast.unparse(each) for each in node.decorator_list}
                code = ast.unparse(node)
                examples = [int(number) for number in re.findall(r"max_examples=(\d+)", code)]
                where = f"{path}:{node.lineno}: {node.name}"
                assert max(examples, default=0) < 1000 or marks & {"pytest.mark.search", "pytest.mark.soak"}, where
                timed = re.search(r"\b(monotonic|perf_counter)\(", code) and re.search(r"assert .*[<>]", code)
                assert not timed or "pytest.mark.speed" in marks, where


def test_every_test_is_in_one_part() -> None:
    scripts = "".join((ROOT / "scripts" / name).read_text(encoding="utf-8") for name in ("test", "soak"))
    parts = re.findall(r'^pytest .*-m "([a-z ]+)"', scripts, re.M)
    for given in product((False, True), repeat=4):
        marks = dict(zip(("search", "ranx", "speed", "soak"), given, strict=True))
        assert [eval(part, marks) for part in parts].count(True) == 1, marks  # noqa: S307 - our own script
    for path in (ROOT / "tests").rglob("test_*.py"):
        code = path.read_text(encoding="utf-8")
        assert "\nimport ranx\n" not in code or "mark.ranx" in code, path
    for path in (ROOT / "tests").rglob("*.toml"):  # where ./scripts/test looks for tests of speed, tables are not read
        assert 'mark = "speed"' not in path.read_text(encoding="utf-8"), path


def test_what_runs_elsewhere_runs_the_scripts() -> None:
    def written(path: str, line: str) -> list[str]:
        return re.findall(line, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)

    assert written(".github/workflows/test.yml", r"^ *- run: (.*)$") == ["./scripts/test"]
    assert written(".pre-commit-config.yaml", r"^ *entry: (.*)$") == ["./scripts/check"]
    (versions,) = written(".github/workflows/test.yml", r"^ *python: (\[.*\])$")
    promised = written("pyproject.toml", r"Python :: (3\.\d+)")
    assert ast.literal_eval(versions) == promised
    assert written("pyproject.toml", r'^requires-python = ">=(.*)"$') == promised[:1]


def test_the_changelog_keeps_its_shape() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert releases[0].startswith("[Unreleased]\n")
    for release in releases:
        for section in re.split(r"^### ", release, flags=re.MULTILINE)[1:]:
            kind, _, changes = section.partition("\n\n")
            assert kind in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
            assert changes.startswith("- "), f"{kind} is empty"


def test_sample_is_the_same_everywhere(tmp_path: Path) -> None:
    data = exaequo.sample()
    digest = hashlib.sha256()
    for path in data.save(tmp_path):
        digest.update(path.read_bytes())
    assert digest.hexdigest() == "52b78791de7d33ea5f941221fb335f9425dc8f81d98203d5e3b73f11c9f2172d"
    assert exaequo.sample(seed=1).qrels.frame.height != 0
    again = exaequo.read_qrels(tmp_path / "qrels.txt")
    assert again.frame.equals(data.qrels.frame)
    for run in data.runs:
        assert exaequo.read_run(tmp_path / "runs" / f"{run.name}.txt").frame.equals(run.frame)


def test_sample_has_what_it_is_for() -> None:
    qrels, runs = exaequo.sample()
    judgments = prepare(qrels)
    assert (judgments.n_topics, len(runs)) == (25, 6)
    assert set(np.unique(judgments.grade)) == {0, 1, 2, 3}
    by_name = {run.name: run.frame for run in runs}
    whole = by_name["llm-judge"]["sim"]
    assert set(whole.unique()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    filled = by_name["boolean"].group_by("qid").agg((pl.col("sim") == 0).sum().alias("zeros"))
    assert filled["zeros"].min() > 0  # type: ignore[operator]
    tied = {run.name: Ordering(judge(run, judgments)).n_tied for run in runs}
    assert tied["bm25"] < 10 < tied["dense-fp16"]


def test_the_largest_modules_stay_readable() -> None:
    for path in SOURCE.rglob("*.py"):
        assert path.read_text(encoding="utf-8").count("\n") <= 400, path


def test_the_walk_through_the_house_is_true() -> None:
    """Every file and function that docs/design.md names is there."""
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    steps = re.findall(r"\*\*`([\w/]+)\.py`, `([\w.]+)`\*\*", text)
    assert len(steps) >= 7
    for file, name in steps:
        module = import_module(f"exaequo.{file.replace('/', '.').removesuffix('.__init__')}")
        assert hasattr(module, name.partition(".")[0]), (file, name)
    walk = text[text.index("## One run") : text.index("## Choices")]
    for file in re.findall(r"`((?:\w+/)*\w+\.py|\w+/)`", walk):
        assert (SOURCE / file).exists() or (ROOT / file).exists(), file
    known = {
        node.name
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for name in re.findall(r"`@?_?([A-Za-z]\w+)`", walk):
        assert name in known or f"_{name}" in known or name in _OTHER_WORDS, name


#: Words of the walk in code letters that are neither functions nor classes of ours.
_OTHER_WORDS = {"expected", "facts", "views", "corrected_p", "eval", "ties"}


def test_what_can_be_chosen_is_what_there_is() -> None:
    """The lists that `--help` reads name just what the code has, and the record of options what its keywords are."""
    from exaequo.comparison.plan import Plan
    from exaequo.language import LANGUAGES
    from exaequo.scores.formats import _DATA
    from exaequo.stats.corrections import CORRECTIONS
    from exaequo.stats.joint import PROCEDURES
    from exaequo.stats.tests import TESTS
    from exaequo.tabular import WRITERS

    assert set(choices.TABLE_FORMATS) == {*WRITERS, "json"}
    assert set(choices.SCORE_FORMATS) == {*WRITERS, *_DATA, "json"}
    assert set(choices.TESTS) == set(TESTS)
    assert set(choices.GATE_TESTS) < set(TESTS)
    assert set(choices.CORRECTIONS) == {*CORRECTIONS, *choices.JOINT}
    assert set(choices.JOINT) == set(PROCEDURES)
    assert set(choices.READERS) == {"trec", *KINDS}
    assert set(LANGUAGES) == {path.stem for path in (SOURCE / "language").glob("*.toml")}
    record = {each.name for each in fields(Options)}
    assert record == {*Evaluation.__annotations__, "ties", "samples"} - {*Reading.__annotations__}
    assert set(_EVALUATION) == record - {"ties"}
    assert set(_PLAN) <= {each.name for each in fields(Plan)}
    for name, option in _EVALUATION.items():
        assert option.default == getattr(Options(), name), name


def test_runs_of_the_sample_by_name_and_by_number() -> None:
    runs = exaequo.sample().runs
    assert runs["hybrid"] is runs[3]
    assert [run.name for run in runs[:2]] == ["bm25", "boolean"]
    with pytest.raises(exaequo.BadParameter, match="There is no run 'bm26'; did you mean 'bm25'"):
        runs["bm26"]
