"""Write the list of modules in docs/design.md: the layers in their order, each with the first line of its docstring."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "exaequo"
TARGET = ROOT / "docs" / "design.md"
BEGIN, END = "<!-- made by scripts/docs: -->\n", "<!-- end -->\n"

#: Each module may use the ones before it: `errors` stands below all, `cli` on top of all.
LAYERS = (
    "errors choices frames text language options writing memory interrupts arrays lots tabular spreadsheets read "
    "judge order stats aggregate measures expected tiestats screens scores logs hands remarks measuring evaluation "
    "engine spark luck listing comparison gating designs replication pooling residuals audit budgeting axioms "
    "filtering sampledata explanation plot reporting searching judging study trec_eval compat ir_measures_provider "
    "cli"
).split()


def listed() -> str:
    """Return the list, layer by layer."""
    files = [f"{name}/" if (SOURCE / name).is_dir() else f"{name}.py" for name in LAYERS]
    lines = [f"  {file:<14}  {_first_line(SOURCE / file)}" for file in files]
    return "\n".join(["```", "src/exaequo/", *lines, "```"]) + "\n"


def _first_line(path: Path) -> str:
    code = (path / "__init__.py" if path.is_dir() else path).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(code)) or "").partition("\n")[0]


def text() -> str:
    """Return the page with the list as it is now."""
    before, _, rest = TARGET.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + listed() + END + rest.partition(END)[2]


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
