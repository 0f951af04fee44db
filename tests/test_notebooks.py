"""The notebooks run from end to end, and show what they were committed with."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
#: The last cells of a row of an experiment: seconds, memory, queries per second.
COSTS = re.compile(r"(?:<t[dh] class=\"n\">[^<]*</t[dh]>){3}</tr>")


def text(kind: str, shown: Any) -> str:
    """Return what is shown, without what differs between machines: costs, and the last digits of pictures."""
    if kind.endswith("json"):
        rounded = json.loads(json.dumps(shown), parse_float=lambda number: round(float(number), 6))
        return json.dumps(rounded, sort_keys=True)
    return COSTS.sub("</tr>", shown) if "queries/s" in shown or "requêtes/s" in shown else str(shown)


def outputs(notebook: Any) -> Iterator[tuple[str, str, str]]:
    """Return cell, kind and text of all that is shown; drawings are in the specification beside them."""
    for cell in notebook.cells:
        for each in cell.get("outputs", ()):
            data = each["data"] if "data" in each else {each["name"]: each["text"]}
            yield from (
                (cell["id"], kind, text(kind, shown)) for kind, shown in sorted(data.items()) if "image" not in kind
            )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_was_committed_with(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    executed = runpy.run_path(str(ROOT / "scripts" / "notebooks.py"))["executed"](path, tmp_path)
    committed = list(outputs(nbformat.read(path, as_version=4)))
    assert list(outputs(executed)) == committed, "run ./scripts/notebooks"
    assert not [kind for _, kind, _ in committed if kind == "stderr"]


def test_the_two_lessons_go_step_by_step_together_and_are_small() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["experience", "experiment"]
    assert all(path.stat().st_size < 600_000 for path in NOTEBOOKS)
    lessons = [nbformat.read(path, as_version=4).cells for path in NOTEBOOKS]
    for french, english in zip(*lessons, strict=True):
        assert french["cell_type"] == english["cell_type"]
        for cell in (french, english):
            assert cell["cell_type"] == "markdown" or cell["outputs"], "run ./scripts/notebooks"
            drawn = [each.get("data", {}).get("image/svg+xml", "") for each in cell.get("outputs", ())]
            assert all(len(picture) < 100_000 for picture in drawn)
