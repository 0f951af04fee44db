"""A kind is a file: the command, Python and type checkers know it by the name of the file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from exaequo import plot
from exaequo.cli import app
from exaequo.plot import kinds

FILES = sorted(path.stem for path in Path(kinds.__file__).parent.glob("[a-z]*.py"))


def test_kinds_are_the_files() -> None:
    assert [name.replace("-", "_") for name in plot.KINDS] == FILES
    assert len(FILES) == len(plot.KINDS) >= 11
    assert all(getattr(plot, name) is plot.KINDS[name.replace("_", "-")] for name in FILES)
    assert set(dir(plot)) == {*FILES, "FORMATS", "KINDS", "SIZES", "Chart"}
    for name in ("nothing", "tie-groups", "chart2"):
        with pytest.raises(AttributeError, match="has no attribute"):
            getattr(plot, name)


def test_type_checkers_see_every_kind() -> None:
    tree = ast.parse(Path(plot.__file__).read_text(encoding="utf-8"))
    seen = [
        (node.module, name.name, name.asname)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{kinds.__name__}.")
        for name in node.names
    ]
    assert seen == [(f"{kinds.__name__}.{name}", name, name) for name in FILES]


def test_the_command_has_the_options_of_every_kind() -> None:
    given = {parameter.name for parameter in app.commands["plot"].params}
    for name, draw in plot.KINDS.items():
        assert set(kinds.options_of(draw)) - {"qrels", "runs", "measure"} <= given, name


def test_options_are_those_of_the_signature() -> None:
    assert kinds.options_of(plot.single) == ("cutoff", "dark", "size")
    common = ("columns", "dark", "max_grade", "mend", "rel_level", "size")
    assert kinds.options_of(plot.at_k) == ("qrels", "runs", "measure", "ranks", "ties", *common)


def test_help_says_what_each_kind_shows() -> None:
    text = app.commands["plot"].get_help(click.Context(app.commands["plot"], info_name="plot"))
    for name in plot.KINDS:
        module = import_module(f"{kinds.__name__}.{name.replace('-', '_')}")
        assert plot.KINDS.about(name) == str(module.__doc__).partition("\n")[0]
        assert re.search(rf"^  {name} +{re.escape(plot.KINDS.about(name))}$", text, re.MULTILINE), name


def test_help_is_quick() -> None:
    """Neither a kind nor what it needs is loaded to say what there is."""
    code = (
        "import sys; from exaequo.cli import run; run(['plot', '--help']);"
        "loaded = [name for name in sys.modules if name.startswith('exaequo.plot.kinds.')];"
        "print(sorted({'polars', 'scipy', 'numpy', 'rich'} & set(sys.modules)), loaded, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr.strip() == b"[] []"
    assert b"tie-groups" in done.stdout


def test_every_kind_is_in_the_table_of_the_docs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "plots.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w-]+)`", row)} == set(plot.KINDS)
