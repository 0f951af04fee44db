"""`exaequo measures`: the catalogue, or all about one measure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from exaequo.cli import output
from exaequo.cli.options import Target, writes

if TYPE_CHECKING:
    from exaequo.axioms import Finding
    from exaequo.measures import Definition


@click.command()
@click.argument("name", required=False)
@click.option("--axioms", is_flag=True, help="Try axioms on all short lists; say which hold.")
@click.option("--packages", is_flag=True, help="List the packages that add measures, and load none of them.")
@writes("text", "json")
def measures(name: str | None, axioms: bool, packages: bool, target: Target) -> None:
    """List the measures, or explain one: formula, range, parameters, source."""
    from exaequo.measures import catalogue, parse_measure

    if packages:
        _show_packages(target)
        return
    if axioms:
        if name is None:
            raise click.UsageError("--axioms needs the NAME of a measure.")
        _show_axioms(name, target)
        return
    if name is None:
        chosen = list(catalogue().values())
    else:
        chosen = [parse_measure(name, complete=not name.isidentifier()).definition]
    lines = _listed(chosen) if name is None else _explained(chosen[0])
    target.tell(_wrapped(lines), measures=[_facts(definition) for definition in chosen])


def _wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Break long lines, what follows under the text of their first one."""
    for line in lines:
        label = re.match(r" *(\S+( \S+)? {2,})*", line)
        under = " " * (label.end() if label else 0)
        yield textwrap.fill(line, output.room()[0], subsequent_indent=under, break_on_hyphens=False)


def _show_packages(target: Target) -> None:
    from exaequo.measures.registry import ALLOWED, packages

    found = [
        {
            "package": name,
            "version": entry.dist.version if entry.dist else "",
            "name": entry.name,
            "code": entry.value,
            "loaded": allowed,
        }
        for name, entry, allowed in packages()
    ]
    lines = [
        f"{each['package']} {each['version']}  {each['name']} = {each['code']}" + ("" if each["loaded"] else "  (off)")
        for each in found
    ]
    told = f"{ALLOWED}=0 keeps all of them off, {ALLOWED}=NAME,NAME all others."
    target.tell([*lines, "", told] if lines else ["No package adds measures."], packages=found)


def _show_axioms(name: str, target: Target) -> None:
    from exaequo.axioms import LENGTH, MOST_RELEVANT, check
    from exaequo.measures import parse_measure
    from exaequo.measures.registry import REQUIRED, get

    if name.isidentifier():  # what has no default is set to what fits the short lists, whose grades are 0 and 1
        bare = get(name)
        fits = {"recall": 0.5, "docs": 2 * LENGTH, "doc": "d1", "cutoff": LENGTH, "max_rel": 1}
        given = {**parse_measure(bare.definition.example, complete=False).params, **fits}
        needs = [key for key, default in bare.definition.defaults.items() if default is REQUIRED or key == "max_rel"]
        measure = bare(**{key: given[key] for key in needs if key in given}).complete
    else:
        measure = parse_measure(name)
    findings = check(measure)
    lines = [f"{measure}, on all lists of up to {LENGTH} documents with up to {MOST_RELEVANT} relevant ones", ""]
    for finding in findings:
        verdict = "holds" if finding.holds else "fails"
        lines.append(f"  {verdict}  {finding.axiom.name:<14}{finding.axiom.says}")
        if finding.pair and finding.values:
            (one, two), (high, low) = finding.pair, finding.values
            lines.append(f"         {one}: {high:.6g}, but {two}: {low:.6g}")
        if finding.undefined:
            lines.append(f"         {finding.undefined:,} pairs not compared: undefined for one of the two")
    target.tell(_wrapped(lines), measure=measure.name, axioms=[_finding(each) for each in findings])


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "axiom": finding.axiom.name,
        "says": finding.axiom.says,
        "holds": finding.holds,
        "lists": [str(each) for each in finding.pair or ()],
        "values": finding.values or (),
        "undefined": finding.undefined,
    }


def _listed(chosen: list[Definition]) -> list[str]:
    width = max(len(definition.example) for definition in chosen)
    family, lines = "", []
    for definition in chosen:
        if definition.family != family:
            family = definition.family
            lines += [family] if definition is chosen[0] else ["", family]
        lines.append(f"  {definition.example:<{width}}  {definition.title}")
    return [*lines, "", "gm(MEASURE) is the geometric mean over topics. `exaequo measures NAME` says more about one."]


def _explained(definition: Definition) -> list[str]:
    facts = _facts(definition)
    lines = [f"{definition.name}: {definition.title}", "", f"  {definition.formula}", ""]
    for label, text in (
        ("example", definition.example),
        ("also", ", ".join(definition.aliases)),
        ("range", f"{definition.lowest:g} to {definition.highest:g}, {facts['direction']} is better"),
        ("over topics", definition.aggregate),
        ("ties", f"realistic ≤ conventional ≤ optimistic: {definition.chain}"),
        ("undefined", definition.undefined and f"where {definition.undefined}; such topics are left out of the mean"),
        ("caution", definition.caution),
        ("note", definition.note),
        ("source", definition.source),
    ):
        if text:
            lines.append(f"  {label:<12}{text}")
    lines += ["", "  parameters"] if definition.defaults else []
    for name, default in definition.defaults.items():
        rule = definition.rule(name)
        at = f" (after the @: {definition.name}@…)" if name == definition.at else ""
        given = facts["parameters"][name]["default"]
        shown = "required" if facts["parameters"][name]["required"] else f"default {given!r}"
        meaning = f"{rule.meaning}; {rule.expected}" if rule else ""
        lines.append(f"    {name:<10}{meaning}{at}" + (f"; {shown}" if default is not None else ""))
    return lines


def _facts(definition: Definition) -> dict[str, Any]:
    from exaequo.measures.registry import REQUIRED

    parameters = {
        name: {
            "meaning": rule.meaning if (rule := definition.rule(name)) else "",
            "required": default is REQUIRED,
            "default": None if default is REQUIRED else default,
        }
        for name, default in definition.defaults.items()
    }
    return {
        "name": definition.name,
        "title": definition.title,
        "formula": definition.formula,
        "source": definition.source,
        "example": definition.example,
        "aliases": definition.aliases,
        "lowest": definition.lowest,
        "highest": definition.highest,
        "direction": "higher" if definition.higher_is_better else "lower",
        "aggregate": definition.aggregate,
        "chain": definition.chain,
        "undefined": definition.undefined,
        "note": definition.note,
        "parameters": parameters,
    }
