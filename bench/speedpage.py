"""The page about speed: figures in, text, Markdown and a picture out."""

from __future__ import annotations

import os
import platform
import shlex
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from exaequo.plot import Chart

_PACKAGES = ("exaequo", "polars", "numpy", "pytrec-eval-terrier", "ir-measures", "ranx", "scikit-learn", "scipy")


def described(arguments: list[str], before: list[str]) -> dict[str, Any]:
    """Return the date, the machine, the versions and the commands, after those before."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in _lines(info) if line.startswith("model name")]
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "versions": found,
        "commands": [*before, shlex.join(["python", "bench/speed.py", *arguments])],
    }


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def seconds(value: float) -> str:
    return f"{value:,.2f} s" if value >= 1 else f"{value * 1000:,.1f} ms"


def printed(name: str, work: dict[str, Any]) -> str:
    """Return a work as lines for a terminal."""
    lines = [f"{name}: {work['title']}, {work['rounds']} rounds{', quick' if work['quick'] else ''}"]
    for tool, each in work["tools"].items():
        took = f"{seconds(each['seconds'])} ({seconds(each['least'])} to {seconds(each['most'])})"
        spread = f"{each['times']:.2f} x ({each['times least']:.2f} to {each['times most']:.2f})"
        lines.append(f"  {tool:18} {took:44} {spread:28} {seconds(each['cpu']):>10} CPU  {each['peak MB']:,} MB")
    return "\n".join(lines)


def page(found: dict[str, Any]) -> str:
    """Return docs/speed.md."""
    about, loads = found["about"], [work["load"] for work in found["works"].values()] or [0]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    text = [
        "# Speed\n",
        "Time and memory of exaequo beside other tools. All do the same work in turns, each in a process of its own, "
        "imported and warmed up; values that should agree were compared, and did. Times are medians, in brackets the "
        "least and the most; “times” is the time over that of the first row, round by round. CPU is the time of "
        "processors, of all threads and of programs that were called. Memory is the most that a process held.\n",
        f"Made by {', '.join(f'`{each}`' for each in about['commands'])} on {about['date']}, {about['machine']}, "
        f"Python {about['python']}; {versions}. The load of the machine was {min(loads)} to {max(loads)}: the more it "
        "is above the number of cores, the wider are spreads, and the less is gained by working on two cores.\n",
        "| work | tool | time | times | CPU | memory |",
        "|---|---|---|---|---|---|",
    ]
    for work in found["works"].values():
        title = work["title"] + (" (quick: smaller data)" if work["quick"] else "")
        for tool, each in work["tools"].items():
            took = f"{seconds(each['seconds'])} ({seconds(each['least'])} – {seconds(each['most'])})"
            times = f"{each['times']:.2f} ({each['times least']:.2f} – {each['times most']:.2f})"
            text.append(f"| {title} | {tool} | {took} | {times} | {seconds(each['cpu'])} | {each['peak MB']:,} MB |")
            title = ""
    text += ["", *_lost(found["works"]), *_beside(found)]
    return "\n".join(text) + "\n"


def _lost(works: dict[str, Any]) -> list[str]:
    """Say where a peer takes less time, of the clock or of processors, or less memory. The C scan is no peer."""
    lines = []
    for work in works.values():
        ours = work["tools"].get("exaequo")
        for tool, each in work["tools"].items() if ours else ():
            if tool in ("exaequo", "C scan"):
                continue
            less = [f"{1 / each['times']:.1f} times as fast"] if each["times"] < 1 else []
            less += [f"CPU {seconds(each['cpu'])} against {seconds(ours['cpu'])}"] if each["cpu"] < ours["cpu"] else []
            if each["peak MB"] < ours["peak MB"]:
                less.append(f"memory {each['peak MB']:,} MB against {ours['peak MB']:,}")
            lines += [f"- {tool} at “{work['title']}”: {', '.join(less)}."] if less else []
    return ["## Where others win\n", *lines, ""] if lines else []


def _beside(found: dict[str, Any]) -> list[str]:
    """Say how time and memory grow, and what the study of an archive takes."""
    lines = []
    if "archive" in found:
        figures = ", ".join(
            f"{name} {value:,}" if isinstance(value, int | float) else f"{name} {value}"
            for name, value in found["archive"].items()
        )
        lines += ["## The study of an archive\n", f"`exaequo study`, two processes: {figures}.\n"]
    if "growth" in found:
        lines += [
            "## Growth\n",
            "| with | CPU ~ size to the power of | memory above the least ~ size to the power of |",
            "|---|---|---|",
        ]
        lines += [
            f"| {what} | {each['time exponent']} | {each['memory exponent']} |"
            for what, each in found["growth"].items()
        ]
        lines += ["", "![Time against size, both on logarithmic scales](speed.svg)"]
    return lines


def picture(growth: dict[str, Any]) -> Chart:
    """Draw CPU time against size."""
    rows = [
        {"with": what, "size": p["size"], "ms": p["cpu"] * 1000}
        for what, each in growth.items()
        for p in each["points"]
    ]
    axis = {"type": "quantitative", "scale": {"type": "log"}}
    return Chart(
        {
            "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
            "title": "CPU time of one evaluation against its size",
            "width": 480,
            "height": 300,
            "data": {"values": rows},
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "size", "title": "lines, topics or runs", **axis},
                "y": {"field": "ms", "title": "milliseconds", **axis},
                "color": {"field": "with", "title": "growing with"},
            },
        }
    )
