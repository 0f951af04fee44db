"""What a gate writes: Markdown for a pull request. In: a `GateResult`. Out: text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exaequo.gating import GateResult


def markdown(result: GateResult) -> str:
    """Return a summary for a pull request."""
    lines = [f"## Search quality: {result.state}", "", *(f"- {gate.sentence}" for gate in result.gates)]
    return "\n".join([*lines, *(f"- warning: {each}" for each in result.warnings)]) + "\n"
