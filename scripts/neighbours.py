"""Run clients of other evaluators on the originals and on the drop-ins, count, compare, time; write docs/neighbours.md.

A client is one record of `CLIENTS`: what to install, what to run, and why a test of its own is known to fail. Tests of
others are fetched and run where they lie, and kept nowhere else.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "neighbours.md"
BEGIN, END = "<!-- made by scripts/neighbours: -->\n", "<!-- end -->\n"
GITHUB, PYPI = "https://github.com", "https://pypi.org"
#: Seconds to wait for a site, for an archive, and for one run of tests.
GREETING, PATIENCE, LONGEST = 5, 30, 1200

#: What every program begins with: a collection full of ties, the same each time, as dicts and as files.
COLLECTION = """
import json, random, time
source = random.Random(1)
names = [f"d{number:04}" for number in range(2000)]
qrels = {f"q{t:03}": {name: source.randint(0, 2) for name in source.sample(names, 60)} for t in range(200)}
run = {topic: {name: source.randint(0, 900) / 8 for name in source.sample(names, 500)} for topic in qrels}
other = {topic: {name: source.randint(0, 900) / 8 for name in source.sample(names, 500)} for topic in qrels}
lines = {"qrels": "{} 0 {} {}", "run": "{} Q0 {} 0 {} a", "other": "{} Q0 {} 0 {} b"}
for name, lists in {"qrels": qrels, "run": run, "other": other}.items():
    with open(name + ".txt", "w") as file:
        for topic, each in lists.items():
            file.writelines(lines[name].format(topic, *pair) + "\\n" for pair in each.items())
"""
#: And ends with: once to warm up, then the quickest of five, for whatever else is at work makes it longer.
TIMED = """
figures, taken = work(), float("inf")
for _ in range(5):
    begun = time.perf_counter()
    figures = work()
    taken = min(taken, time.perf_counter() - begun)
print(json.dumps({"taken": taken, "figures": {str(name): float(value) for name, value in figures.items()}}))
"""
ON_DROP_INS = ("-m", "exaequo.compat")


@dataclass(frozen=True)
class Client:
    """What to install and to run: a program whose `work()` returns figures, and tests, if it has any."""

    name: str
    packages: tuple[str, ...]
    program: str
    repository: str = ""
    tests: tuple[str, ...] = ()
    #: Programs that come with it and print the same on both: words for Python, `*.txt` being files of the collection.
    examples: tuple[str, ...] = ()
    #: Install these without what they ask for: it is large, and none of it evaluates.
    bare: tuple[str, ...] = ()
    #: What Python is started with to have exaequo compute, or what the program begins with then.
    start: tuple[str, ...] = ON_DROP_INS
    first: str = ""
    #: Tests that are known to fail, with the reason.
    known: Mapping[str, str] = field(default_factory=dict)


CLIENTS = (
    Client(
        "pytrec_eval",
        ("pytrec_eval-terrier",),
        """
import pytrec_eval
def work():
    found = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_nicknames["official"]).evaluate(run)
    return {name: sum(each[name] for each in found.values()) for name in found["q000"]}
""",
        repository="terrierteam/pytrec_eval",
        tests=("tests/pytrec_eval_tests.py",),
        examples=(
            *("examples/simple.py", "examples/simple_cut.py", "examples/trec_eval.py qrels.txt run.txt"),
            "examples/statistical_significance.py qrels.txt run.txt other.txt --measure map",
        ),
    ),
    Client(
        "ir_measures",
        ("ir_measures", "pytrec_eval-terrier", "cwl-eval", "pyndeval", "ranx", "trectools", "pandas"),
        """
import ir_measures
from ir_measures import AP, P, R, RR, Rprec, nDCG
def work():
    return ir_measures.calc_aggregate([AP, AP(rel=2), P @ 10, R @ 100, RR, Rprec, nDCG @ 10], qrels, run)
""",
        repository="terrierteam/ir_measures",
        tests=("tests",),
        known={
            "test_qrels_converter": "compares an error message word for word",
            "test_run_converter": "compares an error message word for word",
        },
    ),
    Client(
        "ir_measures, with the provider",
        (),
        """
import ir_measures
from ir_measures import AP, P, R, RR, Rprec, nDCG
def work():
    return ir_measures.calc_aggregate([AP, AP(rel=2), P @ 10, R @ 100, RR, Rprec, nDCG @ 10], qrels, run)
""",
        start=(),
        first="import exaequo.ir_measures_provider\n",
    ),
    Client(
        "ranx",
        ("ranx",),
        """
import ranx
def work():
    names = ["map", "ndcg@10", "mrr", "precision@5", "recall@100"]
    return ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names)
""",
        repository="AmenRa/ranx",
        tests=tuple(f"tests/unit/ranx/{each}" for each in ("metrics", "metrics_test.py", "meta", "data_structures")),
    ),
    Client(
        "PyTerrier",
        ("python-terrier", "pandas"),
        """
import pandas as pd
import pyterrier as pt
from ir_measures import AP, P, nDCG
rows = [(t, d, g) for t, each in qrels.items() for d, g in each.items()]
judged = pd.DataFrame(rows, columns=["qid", "docno", "label"])
topics = pd.DataFrame({"qid": list(qrels), "query": list(qrels)})
def frame(lists):
    rows = [(t, d, s) for t, each in lists.items() for d, s in each.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"]).assign(rank=0)
runs = [frame(run), frame(other)]
def work():
    table = pt.Experiment(runs, topics, judged, [AP, nDCG @ 10, P @ 5, "recip_rank"], names=["a", "b"], baseline=0)
    row = table[table["name"] == "b"].iloc[0]
    return {name: row[name] for name in sorted(table.columns) if name != "name"}
""",
    ),
    Client(
        "BEIR",
        (),
        """
from beir.retrieval.evaluation import EvaluateRetrieval
def work():
    return {k: v for part in EvaluateRetrieval.evaluate(qrels, run, [1, 10, 100]) for k, v in part.items()}
""",
        bare=("beir",),
    ),
    Client(
        "repro_eval",
        ("repro_eval",),
        """
from repro_eval.Evaluator import RpdEvaluator
def work():
    runs = {"run_b_orig_path": "run.txt", "run_a_orig_path": "other.txt", "run_b_rep_path": "other.txt"}
    each = RpdEvaluator(qrels_orig_path="qrels.txt", run_a_rep_path="run.txt", **runs)
    each.trim()
    each.evaluate()
    of_runs = {"rmse": each.rmse(), "nrmse": each.nrmse(), "ttest": each.ttest()}
    rows = {(how, who): row for how, found in of_runs.items() for who, row in found.items()} | {"er": each.er()}
    return {(which, name): value for which, row in rows.items() for name, value in row.items()}
""",
        examples=("-m repro_eval -t rpd -q qrels.txt -r run.txt other.txt other.txt run.txt",),
    ),
    Client(
        "MTEB",
        ("scikit-learn", "pandas", "pydantic"),
        """
import sys, types
from importlib.util import find_spec
for name in ("mteb", "mteb._evaluators"):  # the packages themselves load models, which evaluate nothing
    package = types.ModuleType(name)
    package.__path__ = find_spec(name).submodule_search_locations
    sys.modules[name] = package
from mteb._evaluators import retrieval_metrics
def work():
    found = retrieval_metrics.calculate_retrieval_scores(run, qrels, [1, 10, 100])
    return {(k, name): value for k, each in enumerate(found[1:]) for name, value in each.items()}
""",
        bare=("mteb",),
    ),
)


@dataclass(frozen=True)
class Ran:
    """What came of a client: figures and time of its program; examples and tests, how many, and which tests fail."""

    client: Client
    same: str
    ratio: float
    why: str = ""
    examples: str = ""
    passed: tuple[str, str] = ("", "")
    #: Tests that do not pass on the drop-in, with the reason, if it is known.
    failed: Mapping[str, str] = field(default_factory=dict)


def say(text: str) -> None:
    """Tell what is going on."""
    sys.stderr.write(f"{text}\n")


def python(*words: str, where: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run Python with these words; the other end may fail."""
    # -P: a folder of the sources may be called like a package; the seed: some print sets.
    command, environment = [sys.executable, "-P", *words], {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(  # noqa: S603
        command, cwd=where, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
    )


def installed(client: Client) -> str:
    """Install what the client needs; return what went wrong."""
    for packages, more in ((client.packages, ()), (client.bare, ("--no-deps",))):
        if packages:
            words = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *more, "pytest", *packages)
            done = python(*words)
            if done.returncode:
                return f"{' '.join(packages)} cannot be installed: {done.stderr.strip().splitlines()[-1]}"
    return ""


def opened(address: str, patience: float = PATIENCE) -> Any:
    """Open an address of the web."""
    return urllib.request.urlopen(address, timeout=patience)  # noqa: S310 - all addresses are https


@cache
def answers(site: str) -> bool:
    """Tell whether a site answers at all; it is asked once, so that one out of reach costs little time."""
    try:
        opened(site, GREETING).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        say(f"  {site} is out of reach")
        return False
    return True


def archives(client: Client) -> Iterator[str]:
    """Yield where archives of the sources are: on GitHub, which has all, and on PyPI, which may lack the tests."""
    if client.repository and answers(GITHUB):
        yield f"{GITHUB}/{client.repository}/archive/HEAD.tar.gz"
    if answers(PYPI):
        about = f"{PYPI}/pypi/{client.packages[0]}/json"
        with opened(about) as answer:
            files = json.load(answer)["urls"]
        # Mirrors may give addresses that are relative.
        yield from (urljoin(about, each["url"]) for each in files if each["filename"].endswith(".tar.gz"))


def sources(client: Client, given: Path | None, folder: Path) -> Path | None:
    """Return where the sources of a client lie: unpacked already, from GitHub, or from PyPI; None if nowhere."""
    name = client.repository.rpartition("/")[2]
    if given and (given / name).is_dir():
        return given / name
    target = folder / "sources"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    try:
        for address in archives(client):
            with opened(address) as answer:
                packed = io.BytesIO(answer.read())
            with tarfile.open(fileobj=packed) as archive:
                archive.extractall(target, filter="data")
            return next(each for each in sorted(target.iterdir()) if each.is_dir())
    except OSError as error:
        say(f"  no sources: {error}")
    return None


def examples(client: Client, where: Path, folder: Path) -> str:
    """Run the examples of a client on both; return how many print the same lines, in whatever order."""
    good = 0
    for each in client.examples:
        words = [str(folder / word) if word.endswith(".txt") else word for word in each.split()]
        theirs, ours = (python(*start, *words, where=where) for start in ((), client.start))
        lines = [sorted(done.stdout.splitlines()) for done in (theirs, ours)]
        good += theirs.returncode == ours.returncode == 0 and lines[0] == lines[1] != []
    return f"{good} of {len(client.examples)}"


def tested(client: Client, where: Path, start: tuple[str, ...]) -> dict[str, bool]:
    """Run the tests of a client; return which of them passed."""
    report = where / "report.xml"
    report.unlink(missing_ok=True)
    options = ("-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", f"--junitxml={report}")
    done = python(*start, "-m", "pytest", *options, *client.tests, where=where)
    if not report.exists():
        say(done.stdout[-2000:] + done.stderr[-2000:])
        return {}
    cases = ET.parse(report).iter("testcase")  # noqa: S314 - pytest has just written it
    found: dict[str, bool] = {}
    for case in cases:
        name = f"{case.get('classname')}::{case.get('name')}"
        bad = case.find("failure") is not None or case.find("error") is not None
        found[name] = found.get(name, True) and not bad
    return found


def figures(client: Client, folder: Path, ours: bool) -> dict[str, Any]:
    """Run the program of a client; return its figures, and how long they took, or why there are none."""
    program = folder / "program.py"
    code = (client.first if ours else "") + COLLECTION + client.program + TIMED
    program.write_text(code, encoding="utf-8")
    done = python(*(client.start if ours else ()), str(program), where=folder)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"why": (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]}
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def compared(theirs: Mapping[str, float], ours: Mapping[str, float]) -> str:
    """Say in words how far the figures agree."""
    if theirs.keys() != ours.keys():
        return f"other names: {', '.join(sorted(theirs.keys() ^ ours.keys()))}"
    both = [(value, ours[name]) for name, value in theirs.items()]
    off = max(0.0 if math.isnan(a) and math.isnan(b) else abs(a - b) / max(1.0, abs(a)) for a, b in both)
    return f"{len(both)} of {len(both)}" if off <= 1e-9 else f"up to {off:.2g} apart"


def ran(client: Client, given: Path | None, folder: Path) -> Ran:
    """Do all there is to do with a client."""
    say(f"{client.name}:")
    folder.mkdir(parents=True, exist_ok=True)
    wrong = installed(client)
    pair: list[dict[str, Any]] = [{"why": wrong} if wrong else figures(client, folder, ours) for ours in (False, True)]
    theirs, ours = pair
    why = theirs.get("why") or ours.get("why") or ""
    same = "" if why else compared(theirs["figures"], ours["figures"])
    ratio = math.nan if why else ours["taken"] / theirs["taken"]
    say(f"  {why or f'{same} figures the same, {ratio:.2f} of the time'}")
    return replace(with_sources(client, given, folder, bool(wrong)), same=same, ratio=ratio, why=why)


def with_sources(client: Client, given: Path | None, folder: Path, wrong: bool) -> Ran:
    """Run the examples and tests of a client on the original and on the drop-in, as far as its sources have them."""
    result = Ran(client, "", math.nan)
    where = None if wrong or not (client.tests or client.examples) else sources(client, given, folder)
    if where is None:
        return result
    if client.examples:
        result = replace(result, examples=examples(client, where, folder))
        say(f"  {result.examples} examples print the same")
    if not all((where / each).exists() for each in client.tests):
        say(f"  no tests in {where.name}: unpack {client.repository} into a folder, and name that with --sources")
    elif client.tests:
        before, after = tested(client, where, ()), tested(client, where, client.start)
        counts = [f"{sum(each.values())} of {len(each)}" for each in (before, after)]
        say(f"  tests passed: original {counts[0]}, drop-in {counts[1]}")
        failed = {name: reason(client, name, before) for name, good in after.items() if not good}
        result = replace(result, passed=(counts[0], counts[1]), failed=failed)
    return result


def reason(client: Client, test: str, before: Mapping[str, bool]) -> str:
    """Return why a test is known to fail, or nothing."""
    known = next((why for part, why in client.known.items() if part in test), "")
    return known or ("" if before.get(test, True) else "does not pass on the original either")


def tables(results: list[Ran]) -> Iterator[str]:
    """Yield the lines of the two tables: what works, and which tests do not pass."""
    yield "| client | figures the same | its examples | time against the original | its tests there | on exaequo |"
    yield "|---|---|---:|---:|---:|---:|"
    for each in results:
        time = "" if math.isnan(each.ratio) else f"{each.ratio:.2f}"
        cells = (each.same or each.why, each.examples, time, *each.passed)
        yield f"| {each.client.name} | {' | '.join(cell or '–' for cell in cells)} |"
    failed = [(each.client.name, *pair) for each in results for pair in each.failed.items()]
    if failed:
        yield "\n| test that does not pass | why |\n|---|---|"
        yield from (f"| {name}: `{test.rpartition('.')[2]}` | {why or 'not known'} |" for name, test, why in failed)


def main() -> int:
    """Run the clients that are named, or all, and write the page; 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("client", nargs="*", help="these alone; nothing is written then")
    parser.add_argument("--sources", type=Path, help="a folder with unpacked repositories, by name")
    parser.add_argument("--folder", type=Path, default=ROOT / ".neighbours", help="where to work")
    given = parser.parse_args()
    unheard = set(given.client) - {each.name for each in CLIENTS}
    if unheard:
        parser.error(f"no client {sorted(unheard)[0]!r}; there are {', '.join(each.name for each in CLIENTS)}")
    if not (Path(sys.prefix) / ".installed-neighbours").exists():
        parser.error("packages are installed for this: start ./scripts/neighbours, which has an environment of its own")
    source = given.sources.resolve() if given.sources else None
    asked = [each for each in CLIENTS if not given.client or each.name in given.client]
    results = [ran(each, source, given.folder.resolve() / each.name.replace(" ", "-")) for each in asked]
    made = "\n".join(tables(results)) + "\n"
    if given.client:
        say(made)
    else:
        before, _, rest = TARGET.read_text(encoding="utf-8").partition(BEGIN)
        TARGET.write_text(before + BEGIN + made + END + rest.partition(END)[2], encoding="utf-8")
    unknown = [test for each in results for test, why in each.failed.items() if not why]
    wrong = [each.client.name for each in results if each.why or " of " not in each.same]
    if unknown or wrong:
        say(f"not as it should be: {', '.join([*wrong, *unknown])}")
    return 1 if unknown or wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
