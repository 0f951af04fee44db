"""`exaequo measures`: the catalogue, or all about one measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from exaequo.axioms import Finding
    from exaequo.measures import Definition

FORMAT = 1


@click.command()
@click.argument("name", required=False)
@click.option("--axioms", is_flag=True, help="Try axioms on all short lists; say which hold.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def measures(name: str | None, axioms: bool, as_json: bool) -> None:
    """List the measures, or explain one: formula, range, parameters, source."""
    from exaequo.measures import catalogue, parse_measure
    from exaequo.measures.registry import get

    if axioms:
        if name is None:
            raise click.UsageError("--axioms needs the NAME of a measure.")
        _print_axioms(name, as_json)
        return
    if name is None:
        chosen = list(catalogue().values())
    else:
        chosen = [get(name).definition if name.isidentifier() else parse_measure(name).definition]
    if as_json:
        _print_json({"measures": [_facts(definition) for definition in chosen]})
    elif name is None:
        _list(chosen)
    else:
        _explain(chosen[0])


def _print_axioms(name: str, as_json: bool) -> None:
    from exaequo.axioms import LENGTH, MOST_RELEVANT, check
    from exaequo.measures import parse_measure
    from exaequo.measures.registry import REQUIRED, get

    if name.isidentifier():  # what has no default is set to what fits the short lists, whose grades are 0 and 1
        bare = get(name)
        fits = {"recall": 0.5, "docs": 2 * LENGTH, "doc": "d1", "cutoff": LENGTH, "max_rel": 1}
        known = bare.definition.defaults
        given = {**parse_measure(bare.definition.example, complete=False).params, **fits}
        needs = [key for key, default in known.items() if default is REQUIRED or key == "max_rel"]
        measure = bare(**{key: given[key] for key in needs if key in given}).complete
    else:
        measure = parse_measure(name)
    findings = check(measure)
    if as_json:
        _print_json({"measure": measure.name, "axioms": [_finding(each) for each in findings]})
        return
    click.echo(f"{measure}, on all lists of up to {LENGTH} documents with up to {MOST_RELEVANT} relevant ones\n")
    for finding in findings:
        verdict = "holds" if finding.holds else "fails"
        click.echo(f"  {verdict}  {finding.axiom.name:<14}{finding.axiom.says}")
        if finding.pair and finding.values:
            (one, two), (high, low) = finding.pair, finding.values
            click.echo(f"         {one}: {high:.6g}, but {two}: {low:.6g}")
        if finding.undefined:
            click.echo(f"         {finding.undefined:,} pairs not compared: undefined for one of the two")


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "axiom": finding.axiom.name,
        "says": finding.axiom.says,
        "holds": finding.holds,
        "lists": [str(each) for each in finding.pair or ()],
        "values": list(finding.values or ()),
        "undefined": finding.undefined,
    }


def _print_json(content: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps({"format": FORMAT, **content}, indent=1, ensure_ascii=False))


def _list(chosen: list[Definition]) -> None:
    width = max(len(definition.example) for definition in chosen)
    family = ""
    for definition in chosen:
        if definition.family != family:
            family = definition.family
            click.echo(f"\n{family}" if definition is not chosen[0] else family)
        click.echo(f"  {definition.example:<{width}}  {definition.title}")
    click.echo("\ngm(MEASURE) is the geometric mean over topics. `exaequo measures NAME` says more about one.")


def _explain(definition: Definition) -> None:
    facts = _facts(definition)
    click.echo(f"{definition.name}: {definition.title}\n")
    click.echo(f"  {definition.formula}\n")
    for label, text in (
        ("example", definition.example),
        ("also", ", ".join(definition.aliases)),
        ("range", f"{definition.lowest:g} to {definition.highest:g}, {facts['direction']} is better"),
        ("over topics", definition.aggregate),
        ("ties", f"realistic ≤ conventional ≤ optimistic: {definition.chain}"),
        ("undefined", definition.undefined and f"where {definition.undefined}; such topics are left out of the mean"),
        ("note", definition.note),
        ("source", definition.source),
    ):
        if text:
            click.echo(f"  {label:<12}{text}")
    if definition.defaults:
        click.echo("\n  parameters")
    for name, default in definition.defaults.items():
        rule = definition.rule(name)
        at = f" (after the @: {definition.name}@…)" if name == definition.at else ""
        given = facts["parameters"][name]["default"]
        shown = "required" if facts["parameters"][name]["required"] else f"default {given!r}"
        meaning = f"{rule.meaning}; {rule.expected}" if rule else ""
        click.echo(f"    {name:<10}{meaning}{at}" + (f"; {shown}" if default is not None else ""))


def _facts(definition: Definition) -> dict[str, Any]:
    import math

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
        "aliases": list(definition.aliases),
        "lowest": definition.lowest,
        "highest": definition.highest if math.isfinite(definition.highest) else None,
        "direction": "higher" if definition.higher_is_better else "lower",
        "aggregate": definition.aggregate,
        "chain": definition.chain,
        "undefined": definition.undefined,
        "note": definition.note,
        "parameters": parameters,
    }
