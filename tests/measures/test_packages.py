"""Packages that add measures: listed without being loaded, and kept off if so told. One here leaves a trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A package whose code writes a file when it is loaded, and defines a measure."""
    about = tmp_path / "site" / "Odd_Measures-1.5.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: Odd_Measures\nVersion: 1.5\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[exaequo.measures]\nodd = odd_measures:add\n", encoding="utf-8")
    (tmp_path / "site" / "odd_measures.py").write_text(
        "import pathlib, numpy\nfrom exaequo import define\n"
        f"pathlib.Path({str(tmp_path / 'trace')!r}).write_text('loaded')\n"
        "add = define('Odd', lambda ranking: numpy.ones(ranking.n_topics))\n",
        encoding="utf-8",
    )
    return tmp_path


def asked(installed: Path, plugins: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, (str(installed / "site"), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths}
    environment.pop("EXAEQUO_PLUGINS", None)
    environment |= {} if plugins is None else {"EXAEQUO_PLUGINS": plugins}
    command = [sys.executable, "-m", "exaequo", "measures", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("plugins", [None, "1", "other,odd.measures", "0", "", "other", "none"])
def test_a_package_that_leaves_a_trace(installed: Path, plugins: str | None) -> None:
    may = plugins in (None, "1", "other,odd.measures")
    shown = asked(installed, plugins, "--packages")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[0] == "Odd_Measures 1.5  odd = odd_measures:add" + ("" if may else "  (off)")
    assert not (installed / "trace").exists()  # listed, not loaded
    found = asked(installed, plugins, "Odd")
    assert (found.returncode == 0, (installed / "trace").exists()) == (may, may)
    if not may:
        assert "There is no measure 'Odd'" in found.stderr
        assert "EXAEQUO_PLUGINS keeps Odd_Measures from adding any." in found.stderr


def test_listing_for_programs(installed: Path) -> None:
    (package,) = json.loads(asked(installed, "0", "--packages", "--json").stdout)["packages"]
    assert package == {
        "package": "Odd_Measures",
        "version": "1.5",
        "name": "odd",
        "code": "odd_measures:add",
        "loaded": False,
    }
