"""What a gate writes: text, Markdown for a pull request, JUnit XML, annotations for GitHub. In: a `GateResult`.

Every form holds what to be careful about: cautions stand in the sentences, warnings beside them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

from exaequo import tabular
from exaequo.gating.bounds import PASSED, UNDECIDED
from exaequo.gating.rule import Rule
from exaequo.gating.verdicts import Gate
from exaequo.language import number, say, strategy, word
from exaequo.tabular import Column, Table
from exaequo.text import on_one_line, signed

if TYPE_CHECKING:
    from exaequo.gating import GateResult


def _table(result: GateResult) -> Table:
    """Return what answers at a glance: `at worst` is how bad it may be, `allowed` how bad that may be."""

    def column(head: str, write: Callable[[Gate], str | None], right: bool = True) -> Column:
        return Column(word(head), [write(gate) for gate in result.gates], right)

    def mean(value: float | None) -> str | None:
        return None if value is None else number(f"{value:.4f}")

    def gap(value: float | None) -> str | None:
        return None if value is None else number(signed(value))

    return Table(
        columns=[
            column("measure", lambda gate: gate.name, right=False),
            column("baseline", lambda gate: mean(gate.baseline)),
            column("candidate", lambda gate: mean(gate.candidate)),
            column("difference", lambda gate: gap(gate.difference)),
            column("at worst", lambda gate: gap(gate.low if gate.upward > 0 else gate.high)),
            column("allowed", lambda gate: gap(gate.allowed)),
            column("verdict", lambda gate: word(gate.state), right=False),
        ]
    )


def _told(result: GateResult) -> list[Gate]:
    """Return what a table does not tell: what did not pass, and what passed with a caution."""
    return [gate for gate in result.gates if not gate.passed or gate.cautions]


def _how(result: GateResult) -> str:
    """Say how verdicts are found."""
    asked = result.options
    ties = [asked["ties"]] if isinstance(asked["ties"], str) else asked["ties"]
    topics = max((gate.topics for gate in result.gates), default=0)
    file = say(", as {file} says", file=asked["config"]) if asked.get("config") else ""
    test = Rule(**{name: asked[name] for name in ("test", "samples", "seed")}).how(topics)
    return say(
        "{sure:g} % sure, {test}, {ties} ties, {n:,} {n:topic|topics}{file}",
        sure=100 * (1 - asked["alpha"]),
        test=test,
        ties=", ".join(map(strategy, ties)),
        n=topics,
        file=file,
    )


def _said(result: GateResult) -> list[str]:
    """Return the sentences on what did not just pass, and the warnings."""
    return [
        *(gate.sentence for gate in _told(result)),
        *(say("warning: {text}", text=each) for each in result.warnings),
    ]


def text(result: GateResult, width: int = 0) -> str:
    """Return lines for people: a table, sentences on what did not just pass, the state; as wide as told."""
    lines = [
        textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False) if width else line
        for line in map(on_one_line, _said(result))
    ]
    return "\n\n".join(filter(None, [_how(result), tabular.text(_table(result)), "\n".join(lines), word(result.state)]))


def markdown(result: GateResult) -> str:
    """Return a summary for a pull request: the state, the table, what to know, and the topics that lost most."""
    parts = [
        "## " + say("Search quality: {state}", state=word(result.state)),
        tabular.markdown(_table(result)),
        tabular.markdown(Table(lines=[_how(result)])),
        tabular.markdown(Table(lines=_said(result))),
    ]
    if result.losses.height:
        parts += [say("Topics that lost most:"), tabular.markdown(Table.of(result.losses))]
    return "\n\n".join(filter(None, parts)) + "\n"


def junit(result: GateResult) -> str:
    """Return JUnit XML: worse is a failure, undecided an error, or skipped where it does not count."""
    kinds = [_kind(result, gate) for gate in result.gates]
    counts = {"tests": len(kinds), **{f"{kind}s": kinds.count(kind) for kind in ("failure", "error")}}
    counts["skipped"] = kinds.count("skipped")
    suite = Xml.Element("testsuite", {"name": "exaequo gate", **{name: str(many) for name, many in counts.items()}})
    for gate, kind in zip(result.gates, kinds, strict=True):
        case = Xml.SubElement(suite, "testcase", classname="exaequo.gate", name=on_one_line(gate.name), time="0")
        said = on_one_line(gate.sentence)
        if kind:
            Xml.SubElement(case, kind, {"message": said, **({} if kind == "skipped" else {"type": gate.state})})
        else:
            Xml.SubElement(case, "system-out").text = said
    if result.warnings:
        Xml.SubElement(suite, "system-out").text = "\n".join(
            f"warning: {on_one_line(each)}" for each in result.warnings
        )
    whole = Xml.Element("testsuites")
    whole.append(suite)
    Xml.indent(whole)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(whole, encoding="unicode") + "\n"


def _kind(result: GateResult, gate: Gate) -> str:
    """Return what a verdict is to JUnit; nothing if it passed."""
    if gate.state == PASSED:
        return ""
    if gate.state == UNDECIDED:
        return "error" if result.counts(gate) else "skipped"
    return "failure"


def github(result: GateResult) -> str:
    """Return annotations for GitHub Actions: an error for what holds the release, warnings, and one notice."""
    return "".join(f"{line}\n" for line in _annotations(result))


def _annotations(result: GateResult) -> Iterator[str]:
    def annotation(kind: str, title: str, message: str) -> str:
        safe = on_one_line(message).replace("%", "%25")
        head = on_one_line(title).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
        return f"::{kind} title={head}::{safe}"

    for gate in result.gates:
        kind = _kind(result, gate)
        if kind:
            level = "warning" if kind == "skipped" else "error"
            yield annotation(level, f"{gate.name}: {gate.state}", gate.sentence)
        elif gate.cautions:
            yield annotation("warning", f"{gate.name}: caution", "; ".join(gate.cautions))
    for each in result.warnings:
        yield annotation("warning", "Search quality: warning", each)
    passed = [gate.name for gate in result.gates if gate.passed]
    yield annotation("notice", f"Search quality: {result.state}", f"passed: {', '.join(passed) or 'nothing'}")


#: A function for each form that is no table and no JSON.
FORMS: dict[str, Callable[[GateResult], str]] = {"markdown": markdown, "junit": junit, "github": github}
