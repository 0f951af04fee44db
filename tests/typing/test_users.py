"""Code of users: type checkers know every public name, and what it returns is what they were told."""

from __future__ import annotations

import ast
import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import exaequo

USERS = Path(__file__).parent / "users.py"
ROOT = USERS.parent.parent.parent


def checked(*paths: Path) -> subprocess.CompletedProcess[str]:
    """Run `mypy --strict` as a user would, who has exaequo installed and no settings of ours."""
    cache = ROOT / ".mypy_cache" / "users"
    options = ["--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={cache}"]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, *paths],
        cwd=paths[-1].parent,
        env={**os.environ, "MYPYPATH": str(Path(exaequo.__file__).parent.parent)},
        capture_output=True,
        text=True,
    )


def test_code_of_users_has_types(tmp_path: Path) -> None:
    bare = tmp_path / "bare.py"  # nothing else imported, which could make a module known
    bare.write_text("import exaequo\n" + "".join(f"print(exaequo.{name})\n" for name in exaequo.__all__))
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import exaequo\nexaequo.plott\nexaequo.sample(seed='one')\nx: int = exaequo.parse_measure('AP')\n"
    )
    found = checked(USERS, bare, wrong)
    lines = found.stdout.splitlines()[:-1]
    assert {line.partition(":")[0] for line in lines} == {"wrong.py"}, found.stdout + found.stderr
    assert [line.rpartition(" ")[2] for line in lines] == ["[attr-defined]", "[arg-type]", "[assignment]"]


def test_every_public_name_is_used() -> None:
    nodes = list(ast.walk(ast.parse(USERS.read_text(encoding="utf-8"))))
    by_attribute = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "exaequo"
    }
    by_import = {
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "exaequo"
        for alias in node.names
    }
    assert by_attribute | by_import == set(exaequo.__all__)


def test_code_of_users_runs(tmp_path: Path) -> None:
    users = runpy.run_path(str(USERS))
    qrels, run = users["reading"](tmp_path / "sample")
    scores = users["scoring"](qrels, run)
    assert scores.mean("P@1", run="one", ties="optimistic") == pytest.approx(2 / 3)
    with warnings.catch_warnings(action="ignore", category=exaequo.DataWarning):  # three topics are few
        assert users["comparing"](qrels, run).pairs.height == 1
    assert all(users["explaining"](qrels, run))
    assert all(path.stat().st_size for path in users["drawing"](qrels, run, tmp_path))
    assert users["judging_filters"](qrels, run).at(0.6).recall.shape == (3,)
    assert users["studying"](tmp_path).tables
    assert users["experimenting"](tmp_path).documents.height == 240
    assert 0 < users["statistics"]() < 1
    assert users["promises"]()
    assert users["dropping_in"]()["1"]["map"] > 0
    with warnings.catch_warnings():
        assert len(users["failing"](qrels, run)) == 5
