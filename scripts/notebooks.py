"""Execute the notebooks of examples/ and rewrite them in place, with what their cells show."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from exaequo.writing import write_whole

HOME = Path(__file__).parent.parent / "examples"
#: Seconds a cell may take.
PATIENCE = 120


def executed(path: Path, folder: Path) -> Any:
    """Return a notebook, executed in a folder by this interpreter; an error in a cell is an error."""
    notebook = nbformat.read(path, as_version=4)
    # What an editor, or another machine, left behind would differ from one run to the next.
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for cell in notebook.cells:
        cell.metadata = {}
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3", record_timing=False, resources=place).execute()
    notebook.metadata.pop("language_info", None)
    return notebook


if __name__ == "__main__":
    for path in sorted(HOME.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            text = nbformat.writes(executed(path, Path(folder)))
        write_whole(path, (text.rstrip("\n") + "\n").encode())
