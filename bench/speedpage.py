"""The page about speed: figures in, text, Markdown and a picture out."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from works import AIMS, ALONE, MOST, WORKS, Aim

from exaequo.plot import Chart
from exaequo.plot.chart import COLOURS, SCHEMA

_LOG = {"type": "quantitative", "scale": {"type": "log"}}
_PACKAGES = ("exaequo", "polars", "numpy", "pytrec-eval-terrier", "ir-measures", "ranx", "scikit-learn", "scipy")


def machine() -> str:
    """Return what this machine is called."""
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in _lines(info) if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def described(arguments: list[str], before: list[str], built: str) -> dict[str, Any]:
    """Return the date, the versions and the commands, after those before; `built` is how trec_eval is."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    if program := shutil.which("trec_eval"):
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
        found["trec_eval"] = " ".join([*(said.stdout + said.stderr).split()[-1:], *([f"({built})"] if built else [])])
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
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
        lines.append(f"  {tool:24} {took:44} {spread:28} {seconds(each['cpu']):>10} CPU  {each['peak MB']:,} MB")
    return "\n".join(lines)


def page(found: dict[str, Any], others: list[dict[str, Any]]) -> str:
    """Return docs/speed.md: what was found here, and on other machines."""
    about, loads = found["about"], [work["load"] for work in found["works"].values()] or [0]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    text = [
        "# Speed\n",
        "Time and memory of exaequo beside other tools. They do the same work in turns, each in a process of its own, "
        "imported and warmed up; values that should agree were compared, and did. Times are medians, with the least "
        "and the most in brackets; “times” is the time over that of the first row, round by round. CPU is the time of "
        "processors: of all threads, of programs that are called, and of processes that help. Memory is the most that "
        "a process held, and those that help it; of programs, theirs. Files of 48 MB and more are shared with one more "
        "process here; “one process” is without. Sets have the same order in all processes (PYTHONHASHSEED=0): by the "
        "order of its measures, a set, pytrec_eval takes 0.05 to 0.13 ms for three topics of ten documents. Names of "
        "measures are remembered: in small work again and again that counts.\n",
        "The C scan is a plain program that reads all bytes, hashes topic and document of each line and looks it up "
        "among the judgments, in one process; it reads no numbers and computes nothing. “Columns alone” is Polars "
        "reading names and numbers, on all cores, and nothing else. Neither is a peer: they tell what reading takes.\n",
        f"Made by {', '.join(f'`{each}`' for each in about['commands'])} on {about['date']}, {about['machine']}, "
        f"Python {about['python']}; {versions}. The load of the machine was {min(loads)} to {max(loads)}: the more it "
        "is above the number of cores, the wider are the brackets, and the less do other processes help.\n",
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
    text += ["", "![Time and memory beside those of exaequo, and how its own grow with size](speed.svg)", ""]
    text += [*_aims([found, *others]), *_lost(found["works"]), *_beside(found)]
    return "\n".join(text) + "\n"


#: What README shows: works, and the tools beside ours.
_SHOWN = ("one", "hundred", "large", "objects", "tiny", "cold")
_PEERS = ("pytrec_eval", "ir_measures", "trec_eval", "ranx")


def brief(found: dict[str, Any]) -> str:
    """Return the table of README: our time, and how many times that others take."""
    about, text = found["about"], ["| | exaequo | " + " | ".join(_PEERS) + " |", "|---|---|" + "---|" * len(_PEERS)]
    for work in (found["works"][name] for name in _SHOWN if name in found["works"]):
        first = next(iter(work["tools"].values()))
        others = [work["tools"].get(peer) for peer in _PEERS]
        cells = ["" if each is None else f"{each['times']:.1f} ×" for each in others]
        text.append(f"| {work['title']} | {seconds(first['seconds'])} | {' | '.join(cells)} |")
    shown = (*_PACKAGES[3:6], "trec_eval")
    versions = ", ".join(f"{name} {about['versions'][name]}" for name in shown if name in about["versions"])
    made = f"{about['date']}, {about['machine']}, Python {about['python']}, {versions}"
    text += ["", f"{made}: medians, in turns, made by `./scripts/bench --save`.{_alone(found['works'])}"]
    return "\n".join(text) + "\n"


def _alone(works: dict[str, Any]) -> str:
    """Say what it is without the processes that help."""
    parts = [
        f"{work['tools']['pytrec_eval']['times'] / work['tools'][ALONE]['times']:.1f} × in {work['title']}"
        for work in (works[name] for name in _SHOWN if name in works)
        if ALONE in work["tools"]
    ]
    helped = "Two processes share files of 48 MB and more; in one, pytrec_eval takes "
    return f" {helped}{', '.join(parts)}." if parts else ""


def _aims(machines: list[dict[str, Any]]) -> list[str]:
    """Say what was aimed at, and what was found on each machine."""
    rows = []
    for aim in AIMS:
        quick = aim.least >= 1
        wanted = f"at least {aim.least:g} times as fast" if quick else f"at most {1 / aim.least:g} times the time"
        found = [_beside_ours(each["works"].get(aim.work, {}).get("tools", {}), aim) for each in machines]
        cells = [_cell(ratio if quick else 1 / ratio, ratio >= aim.least) if ratio else "" for ratio in found]
        rows.append((f"{WORKS[aim.work].title}: {aim.ours} beside {aim.other}", wanted, *cells))
    for work, most in MOST.items():
        peaks = [each["works"].get(work, {}).get("tools", {}).get("exaequo", {}).get("peak MB") for each in machines]
        cells = [_cell(peak, peak <= most) if peak else "" for peak in peaks]
        rows.append((f"{WORKS[work].title}: memory", f"at most {most:,} MB", *cells))
    heads = [f"{each['about']['machine']}, {each['about']['date']}" for each in machines]
    lines = [f"| {' | '.join(row)} |" for row in [("work", "aim", *heads), ["---"] * (2 + len(heads)), *rows]]
    return ["## What was aimed at\n", *lines, ""]


def _beside_ours(tools: dict[str, Any], aim: Aim) -> float:
    """Return how many times the time of ours the other takes; 0 if it was not measured."""
    there = aim.ours in tools and aim.other in tools
    return float(tools[aim.other]["times"] / tools[aim.ours]["times"]) if there else 0.0


def _cell(value: float, enough: bool) -> str:
    shown = f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
    return shown if enough else f"{shown}, **not reached**"


#: What does a part of the work: it only reads.
_NO_PEERS = ("C scan", "columns alone", "import numpy")


def _lost(works: dict[str, Any]) -> list[str]:
    """Say where a peer takes less time, of the clock or of processors, or less memory."""
    lines = []
    for work in works.values():
        first = next(iter(work["tools"]))
        ours = work["tools"][first]
        for tool, each in work["tools"].items() if first.startswith("exaequo") else ():
            if tool.startswith("exaequo") or tool in _NO_PEERS:
                continue
            less = [f"{1 / each['times']:.2f} times as fast"] if each["times"] < 1 else []
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
            "How CPU and memory above the least grow: the exponent that fits all sizes, 1 being in proportion, and "
            "that of the last step alone. Memory stops growing with lines where files are read in stretches.\n",
            "| with | sizes | CPU | last step | memory | last step |",
            "|---|---|---|---|---|---|",
        ]
        for what, each in found["growth"].items():
            sizes = f"{each['points'][0]['size']:,} – {each['points'][-1]['size']:,}"
            exponents = [each[f"{of} {which}"] for of in ("time", "memory") for which in ("exponent", "last step")]
            lines.append(f"| {what} | {sizes} | {' | '.join(f'{exponent:.2f}' for exponent in exponents)} |")
    return lines


def picture(found: dict[str, Any]) -> Chart:
    """Draw time and memory of peers beside ours, and how ours grow with size."""
    parts = [_ratios(found["works"])]
    if "growth" in found:
        parts.append(_growing(found["growth"]))
    apart = {"scale": {"color": "independent", "shape": "independent"}}
    return Chart({"$schema": SCHEMA, "vconcat": parts, "spacing": 30, "resolve": apart})


def _ratios(works: dict[str, Any]) -> dict[str, Any]:
    rows = [
        {"work": work["title"], "tool": tool, "time": each["times"], "memory": each["peak MB"] / ours["peak MB"]}
        for work in works.values()
        for first, ours in (next(iter(work["tools"].items())),)
        for tool, each in work["tools"].items()
        if first.startswith("exaequo") and not tool.startswith(("exaequo", "import"))
    ]
    titles = [work["title"] for work in works.values()]
    mark = {"type": "point", "filled": True, "size": 60, "opacity": 0.8}
    line = {"data": {"values": [{}]}, "mark": {"type": "rule", "strokeWidth": 2}, "encoding": {"x": {"datum": 1}}}

    def panel(what: str, *, labels: bool) -> dict[str, Any]:
        axis = {"labels": labels, "title": None, "labelLimit": 300, "grid": True}
        encoding = {
            "x": {"field": what, "title": f"{what}, times that of exaequo", **_LOG},
            "y": {"field": "work", "type": "nominal", "sort": titles, "axis": axis},
            "color": {"field": "tool", "title": None, "sort": None, "scale": {"range": COLOURS}},
            "shape": {"field": "tool", "title": None, "sort": None},
        }
        points = {"data": {"values": rows}, "mark": mark, "encoding": encoding}
        return {"width": 260, "height": 330, "layer": [points, line]}

    return {
        "title": "Right of the line exaequo wins",
        "hconcat": [panel("time", labels=True), panel("memory", labels=False)],
    }


def _growing(growth: dict[str, Any]) -> dict[str, Any]:
    rows = [
        {"with": what, "size": p["size"], "ms": p["cpu"] * 1000, "MB": p["peak MB"]}
        for what, each in growth.items()
        for p in each["points"]
    ]

    def panel(what: str, title: str) -> dict[str, Any]:
        return {
            "width": 330,
            "height": 240,
            "data": {"values": rows},
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "size", "title": "lines, topics, runs or measures", **_LOG},
                "y": {"field": what, "title": title, **_LOG},
                "color": {"field": "with", "title": "growing with", "scale": {"range": COLOURS}},
            },
        }

    panels = [panel("ms", "time of processors, ms"), panel("MB", "memory, MB")]
    return {"title": "One evaluation of exaequo against its size", "hconcat": panels}
