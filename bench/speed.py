"""Time and memory of works, beside peers. Every tool has a process of its own; they take turns, round by round.

Usage: scripts/bench [WORK]... [--quick] [--rounds N] [--save]
`--save` writes docs/speed.md, docs/speed.json and docs/speed.svg; works not named keep their last figures, and so do
other machines.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from programs import PEAK, SECONDS, held_by
from speedpage import brief, described, machine, page, picture, printed
from tools import CALLS
from works import WORKS, Shape, Work, present, tolerance, write

ROOT = Path(__file__).parent.parent
STORE = ROOT / "docs" / "speed.json"


def serve(work: str, tool: str, tiny: Path, folder: Path) -> None:
    """Do a work whenever a line comes in; say how long it took, what came out, and at the end the most memory held."""
    warnings.simplefilter("ignore")
    does = WORKS[work].does[tool]
    values = does(tiny)()  # imports, and what is compiled on first use
    for figure in (CALLS, PEAK, SECONDS):
        values.pop(figure, None)
    call, peak = does(folder), None
    print(json.dumps(values), flush=True)
    for _ in sys.stdin:
        start, used = perf_counter(), _used()
        values = call()
        took, cpu, calls = perf_counter() - start, _used() - used, values.pop(CALLS, 1)
        peak = values.pop(PEAK, None)
        took = values.pop(SECONDS, took / calls)
        print(json.dumps({"seconds": took, "cpu": cpu / calls, "values": values}), flush=True)
    print(json.dumps(_peak() if peak is None else peak))


def _used() -> float:
    """Return the seconds of processors that this process, those it started and those that help it have used."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    helping = chain(*(Path(f"/proc/{pid}/task").glob("*/schedstat") for pid in _helping()))
    return sum(each.ru_utime + each.ru_stime for each in both) + sum(
        int(each.read_text().split()[0]) / 1e9 for each in helping
    )


def _peak() -> float:
    """Return the most memory that this process and those that help it held, in MB."""
    held = [held_by(pid) for pid in ("self", *_helping())]
    return (held[0] and sum(held)) or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _helping() -> list[int]:
    """Return the processes that help this one."""
    hands = sys.modules.get("exaequo.hands")
    return [hand.process.pid for hand in hands._hands if hand.alive] if hands else []


class Worker:
    """A tool in a process of its own."""

    def __init__(self, work: str, tool: str, tiny: Path, folder: Path) -> None:
        words = [sys.executable, __file__, "--serve", work, tool, str(tiny), str(folder)]
        # The time of pytrec_eval for few documents depends on the order of its measures, a set.
        same = {**os.environ, "PYTHONHASHSEED": "0"}
        self.process = subprocess.Popen(  # noqa: S603
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=same
        )
        ready = self.read()
        if not ready:
            raise SystemExit(f"{tool} cannot do the work {work!r}; its message stands above")
        self.values: dict[str, float] = json.loads(ready)

    def read(self) -> str:
        assert self.process.stdout is not None  # noqa: S101 - for the type checker
        return self.process.stdout.readline().strip()

    def go(self) -> dict[str, Any]:
        """Do the work once."""
        assert self.process.stdin is not None  # noqa: S101
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.read())
        return answer

    def end(self) -> float:
        """End the process; return the most memory it held, in MB."""
        with self.process as process:
            assert process.stdin is not None  # noqa: S101
            process.stdin.close()
            return float(self.read())


def measured(name: str, work: Work, rounds: int, quick: bool) -> dict[str, Any]:
    """Let the tools take turns at a work; return seconds, ratios and memory of each."""
    with tempfile.TemporaryDirectory() as place:
        tiny = write(Path(place) / "tiny", Shape(3, 20, 20))
        folder = write(Path(place) / "data", work.quick if quick else work.shape)
        workers = {tool: Worker(name, tool, tiny, folder) for tool in present(work)}
        refuse_disagreement(name, {tool: worker.values for tool, worker in workers.items()}, ties=False)
        answers = [{tool: worker.go() for tool, worker in workers.items()} for _ in range(rounds + 1)][1:]
        peaks = {tool: worker.end() for tool, worker in workers.items()}
    first = next(iter(workers))
    refuse_disagreement(name, {tool: answer["values"] for tool, answer in answers[0].items()})
    tools = {}
    for tool in workers:
        times = [each[tool]["seconds"] for each in answers]
        ratios = [each[tool]["seconds"] / each[first]["seconds"] for each in answers]
        tools[tool] = {
            "seconds": median(times),
            "least": min(times),
            "most": max(times),
            "times": median(ratios),
            "times least": min(ratios),
            "times most": max(ratios),
            "cpu": median(each[tool]["cpu"] for each in answers),
            "peak MB": round(peaks[tool]),
        }
    load = round(os.getloadavg()[0], 1)
    return {"title": work.title, "rounds": rounds, "quick": quick, "load": load, "tools": tools}


def refuse_disagreement(name: str, values: dict[str, dict[str, float]], *, ties: bool = True) -> None:
    """Stop if a tool returns other values than the first one, where it returns the same measures."""
    ours = next(iter(values.values()))
    for tool, found in values.items():
        for measure in found.keys() & ours.keys():
            if abs(found[measure] - ours[measure]) > tolerance(tool, ties=ties):
                raise SystemExit(f"{name}: {measure} is {ours[measure]} here, {found[measure]} with {tool}")


#: What grows, and the shapes by which it does.
GROWTH = {
    "lines": [Shape(topics, 1000, 100) for topics in (25, 50, 100, 200, 400, 800)],
    "topics": [Shape(topics, 10, 10) for topics in (1000, 2000, 4000, 8000, 16_000, 32_000)],
    "runs": [Shape(50, 200, 100, runs) for runs in (2, 4, 8, 16, 32)],
}


def growth(quick: bool) -> dict[str, Any]:
    """Return time and memory against size, and the exponents that fit CPU and memory: 1 is in proportion."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others wait busily for a while: CPU of small work would be theirs
    found: dict[str, Any] = {}
    for what, shapes in GROWTH.items():
        points = []
        for shape in shapes[:4] if quick else shapes:
            figures = measured("one", replace(WORKS["one"], shape=shape, does=_ours("one")), 3, quick=False)
            size = {"lines": shape.topics * shape.depth, "topics": shape.topics, "runs": shape.runs}[what]
            points.append({"size": size, **figures["tools"]["exaequo"]})
        found[what] = {"points": points, **_exponents(points)}
    counts = measured("measures", WORKS["measures"], 5, quick=quick)["tools"].values()
    points = [{"size": size, **each} for size, each in zip((1, 2, 5, 10), counts, strict=True)]
    return {**found, "measures": {"points": points, **_exponents(points)}}


def _ours(work: str) -> dict[str, Any]:
    return {tool: does for tool, does in WORKS[work].does.items() if tool == "exaequo"}


def _exponents(points: list[dict[str, float]]) -> dict[str, float]:
    import numpy as np

    size = np.log([each["size"] for each in points])
    base = min(each["peak MB"] for each in points) * 0.999  # what the process takes whatever it reads
    spent, grown = [each["cpu"] for each in points], [max(each["peak MB"] - base, 1) for each in points[1:]]
    found = {}
    for of, at, values in (("time", size, np.log(spent)), ("memory", size[1:], np.log(grown))):
        found[f"{of} exponent"] = round(float(np.polyfit(at, values, 1)[0]), 2)
        found[f"{of} last step"] = round(float(np.polyfit(at[-2:], values[-2:], 1)[0]), 2)
    return found


def archive(quick: bool) -> dict[str, Any]:
    """Return seconds and memory of the study of an archive like that of the papers on ties."""
    from archive import timed_study, write_archive

    with tempfile.TemporaryDirectory() as place:
        write_archive(Path(place) / "archive", 0.02 if quick else 0.2)
        return timed_study(Path(place) / "archive", Path(place) / "study", 2)


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"some of {', '.join(WORKS)}, archive, growth")
    parser.add_argument("--quick", action="store_true", help="small data, few rounds: about a minute")
    parser.add_argument("--rounds", type=int, help="how often each work is done by each tool")
    parser.add_argument("--built", default="", help="how trec_eval was compiled, to be said on the page: 'gcc -O3'")
    parser.add_argument("--save", action="store_true", help="write the page, the figures and the picture")
    options = parser.parse_args()
    unknown = {*options.works} - {*WORKS, "archive", "growth"}
    if unknown:
        parser.error(f"no work is called {', '.join(sorted(unknown))}; there are {', '.join(WORKS)}, archive, growth")
    stored = json.loads(STORE.read_text()) if options.save and STORE.exists() else {}
    found = stored.pop(machine(), {"works": {}})
    if not options.works:
        found = {"works": {}}
    commands = found.get("about", {}).get("commands", [])
    found["about"] = described(sys.argv[1:], commands, options.built)
    for name in options.works or [*WORKS, "archive", "growth"]:
        if name in WORKS:
            rounds = options.rounds or (3 if options.quick else WORKS[name].rounds)
            found["works"][name] = measured(name, WORKS[name], rounds, options.quick)
            print(printed(name, found["works"][name]), flush=True)
        else:
            found[name] = archive(options.quick) if name == "archive" else growth(options.quick)
            print(json.dumps({name: found[name]}), flush=True)
    if options.save:
        STORE.write_text(json.dumps({found["about"]["machine"]: found, **stored}, indent=1) + "\n")
        (ROOT / "docs" / "speed.md").write_text(page(found, [*stored.values()]))
        readme = ROOT / "README.md"
        before, begin, rest = readme.read_text().partition("<!-- made by scripts/bench: -->\n")
        after = rest[rest.index("<!-- end -->") :]
        readme.write_text(before + begin + brief(found) + after)
        picture(found).save(ROOT / "docs" / "speed.svg")


if __name__ == "__main__":
    main()
