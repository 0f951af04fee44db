"""Write the catalogue of measures, docs/catalogue.md, from the registry."""

from __future__ import annotations

from pathlib import Path

from exaequo.measures import Definition, catalogue
from exaequo.measures.registry import FAMILIES, REQUIRED

TARGET = Path(__file__).parent.parent / "docs" / "catalogue.md"


def entry(about: Definition) -> str:
    """Return what there is to say about a measure."""
    direction = "higher" if about.higher_is_better else "lower"
    lowest, highest = (f"{end:g}".replace("-inf", "−∞").replace("inf", "∞") for end in (about.lowest, about.highest))
    expected = "closed form" if about.moments else "all orders, or a sample"
    lines = [
        f"### {about.name}",
        "",
        f"{about.title}. {about.formula}",
        "",
        f"- example: `{about.example}`" + (f"; also {', '.join(about.aliases)}" if about.aliases else ""),
        f"- from {lowest} to {highest}, {direction} is better; over topics: {about.aggregate}",
        f"- realistic ≤ conventional ≤ optimistic: {about.chain}; expected value: {expected}",
        *([f"- undefined where {about.undefined}"] if about.undefined else []),
        *([f"- caution: {about.caution}"] if about.caution else []),
        *([f"- {about.note}"] if about.note else []),
        *(_parameter(about, name) for name in about.defaults),
        f"- source: {about.source}",
    ]
    return "\n".join(lines)


def _parameter(about: Definition, name: str) -> str:
    rule, default = about.rule(name), about.defaults[name]
    usual = "required" if default is REQUIRED else "" if default is None else f"default {default!r}"
    return f"- `{name}`: {rule.meaning if rule else ''}" + (f"; {usual}" if usual else "")


def text() -> str:
    """Return the whole catalogue."""
    parts = [
        "# Catalogue of measures",
        "Made from the registry by `scripts/docs`; `exaequo measures NAME` says it too.",
    ]
    family = ""
    for about in catalogue().values():
        if about.family != family:
            family = about.family
            parts.append(f"## {FAMILIES.get(family, family)}")
        parts.append(entry(about))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
