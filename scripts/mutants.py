"""Mutants: small faults put into the code, one at a time. In: modules. Out: which of them no test sees; exit 1 if any.

Tests are collected once; what each of them runs is found once, line by line. Then every mutant has a process of its
own, forked from there, whose functions get the code of the mutant, and runs the tests that come to its line, quickest
first, until one fails. Code outside functions is not mutated. Mutants that change nothing are in `tests/mutants.toml`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import importlib
import os
import pickle
import random
import resource
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

#: How to come to a node from the module: field by field, with the place in it if it is a list.
Way = tuple[tuple[str, int | None], ...]
ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "exaequo"
EQUIVALENT = ROOT / "tests" / "mutants.toml"

#: The tests that are to see faults in a module, by the beginning of its name.
TESTS = {
    "order": "test_order.py test_judge.py golden contract test_evaluate.py test_audit.py pooling test_residuals.py",
    "judge": "test_judge.py test_order.py golden test_evaluate.py measures/test_users_and_subtopics.py",
    "tiestats": "test_luck.py test_audit.py golden",
    "luck": "test_luck.py test_audit.py golden test_study_tables.py",
    "expected": "test_expected.py test_explain.py test_audit.py",
    "measures": "measures golden contract test_expected.py test_explain.py test_metamorphic.py test_filtering.py "
    "test_axioms.py test_filters_together.py test_filters_at_the_edges.py test_residuals.py",
    "comparison": "test_compare.py test_verdicts.py test_orders.py cli/test_screens.py",
    "stats": "stats test_compare.py test_verdicts.py test_replication.py test_designs.py",
}
#: Functions to which the order of two arguments is nothing.
SYMMETRIC = {"max", "min", "np.maximum", "np.minimum", "np.isclose", "np.array_equal"}
#: What an operator becomes, by the names of `ast`.
_OPERATORS = """
    Lt LtE GtE, LtE Lt Gt, Gt GtE LtE, GtE Gt Lt, Eq NotEq, NotEq Eq, Is IsNot, IsNot Is, In NotIn, NotIn In, And Or,
    Or And, BitAnd BitOr, BitOr BitAnd, Add Sub, Sub Add, Mult Div, Div Mult, FloorDiv Div, Mod Mult, Pow Mult
"""
FLIPPED = {
    getattr(ast, was): [getattr(ast, each) for each in becomes]
    for was, *becomes in map(str.split, _OPERATORS.split(","))
}


def say(text: str) -> None:
    """Tell how far it is."""
    (sys.__stderr__ or sys.stderr).write(f"{text}\n")


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node may be mutated to."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=right):
            yield from (ast.Compare(left, [other()], right) for other in FLIPPED[type(op)])
        case ast.BinOp(left=left, op=op, right=after) if type(op) in FLIPPED:
            yield from (ast.BinOp(left, other(), after) for other in FLIPPED[type(op)])
        case ast.BoolOp(op=op, values=values):
            yield from (ast.BoolOp(other(), values) for other in FLIPPED[type(op)])
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.IfExp(test=test, body=body, orelse=orelse) if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.If(test=test, body=body, orelse=orelse) if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Call(func=func, args=args, keywords=keywords):
            plain = not any(isinstance(each, ast.Starred) for each in args)
            plain = plain and ast.unparse(func) not in SYMMETRIC
            if len(args) > 1 and plain and ast.dump(args[0]) != ast.dump(args[1]):
                yield ast.Call(func, [args[1], args[0], *args[2:]], keywords)
            for at, keyword in enumerate(keywords):
                if keyword.arg not in (None, "strict"):
                    yield ast.Call(func, args, keywords[:at] + keywords[at + 1 :])


@dataclass(frozen=True)
class Mutant:
    """One fault: where it stands, and the expression around it as it was and as it becomes."""

    module: str
    lines: range
    function: str
    was: str
    becomes: str
    way: Way = field(repr=False)
    node: ast.AST = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.module}:{self.lines.start} {self.function}\n  - {self.was}\n  + {self.becomes}"


#: A node inside a function: the way to it, the function, and its statement.
Place = tuple[Way, str, ast.stmt]


def places(node: ast.AST, way: Way = (), function: str = "", at: ast.stmt | None = None) -> Iterator[Place]:
    """Yield every node inside a function that could be mutated: no annotations, messages, defaults, no `strict=`."""
    untouched = ast.Raise | ast.JoinedStr | ast.arguments | ast.Import | ast.ImportFrom
    if isinstance(node, untouched) or (isinstance(node, ast.keyword) and node.arg == "strict"):
        return
    at = node if isinstance(node, ast.stmt) else at
    if function and at and not isinstance(node, ast.FunctionDef):
        yield way, function, at
    fields: Iterable[str] = node._fields
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".") if isinstance(node, ast.FunctionDef) else ""
        fields = ("body",)
    elif isinstance(node, ast.Lambda) and not function:
        function, fields = "lambda", ("body",)
    for name in (each for each in fields if each not in ("annotation", "type_comment")):
        value = getattr(node, name, None)
        for number, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield from places(child, (*way, (name, number)), function, at)


def follow(node: ast.AST, way: Way) -> list[ast.AST]:
    """Return the nodes on the way, the module first."""
    met = [node]
    for name, number in way:
        value = getattr(met[-1], name)
        met.append(value if number is None else value[number])
    return met


def head(node: ast.AST) -> str:
    """Return a node as one line of source; of a block its first."""
    return ast.unparse(node).split("\n")[0]


def replaced(tree: ast.AST, way: Way, new: ast.AST) -> ast.AST:
    """Put a node at the end of the way, in place; return the one that was there."""
    name, number = way[-1]
    *_, parent, old = follow(tree, way)
    if number is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[number] = new
    return old


def mutants(module: str) -> Iterator[Mutant]:
    """Yield all mutants of a module; each shows the widest expression around it that still fits on a line."""
    tree = ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))
    for way, function, statement in list(places(tree)):
        met = follow(tree, way)
        fits = (at for at, node in enumerate(met) if isinstance(node, ast.expr) and len(ast.unparse(node)) <= 100)
        top = way[: next(fits, len(way))]
        was, body = head(follow(tree, top)[-1]), getattr(statement, "body", None)
        end = body[0].lineno if isinstance(body, list) else (statement.end_lineno or statement.lineno) + 1
        lines = range(statement.lineno, max(end, statement.lineno + 1))
        for variant in variants(met[-1]):
            new = ast.copy_location(copy.deepcopy(variant), met[-1])
            old = replaced(tree, way, new)
            becomes = head(follow(tree, top)[-1])
            replaced(tree, way, old)
            yield Mutant(module, lines, function, was, becomes, way, new)


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes(each)


def put(mutant: Mutant) -> bool:
    """Give the functions of this process the code of a mutant; tell whether there was one to change."""
    path = str(SOURCE / f"{mutant.module}.py")
    importlib.import_module(".".join(("exaequo", *mutant.module.removesuffix("/__init__").split("/"))))
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    before = compile(tree, path, "exec", dont_inherit=True)
    replaced(tree, mutant.way, mutant.node)
    mutated = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
    after = {(each.co_qualname, each.co_firstlineno): each for each in codes(mutated)}
    changed = {each: after.get((each.co_qualname, each.co_firstlineno), each) for each in codes(before)}
    done = False
    for function in [each for each in gc.get_objects() if type(each) is FunctionType]:
        code = function.__code__
        if code.co_filename == path and changed.get(code, code) != code:
            function.__code__ = changed[code]
            done = True
    return done


class Run:
    """A plugin of pytest: what runs instead of the tests it has collected."""

    def __init__(self, chosen: list[Mutant], jobs: int, budget: float) -> None:
        """Take the mutants, how many processes run at once, and the seconds of tests that each may cost."""
        self.chosen, self.jobs, self.budget = chosen, jobs, budget
        self.outcome: dict[int, str] = {}

    def pytest_collection(self) -> None:
        """Let hypothesis draw the same examples each time and shrink nothing."""
        from hypothesis import HealthCheck, Phase, settings

        quick = settings(deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate])
        settings.register_profile("mutants", quick, suppress_health_check=list(HealthCheck))
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: object) -> bool:
        """Find what each test runs, then try the mutants."""
        self.items = session.items  # type: ignore[attr-defined]
        seconds, reached = self.traced()
        say(f"{len(self.items)} tests, {sum(seconds):.0f} s; {len(self.chosen)} mutants")
        self.control(sorted(set().union(*reached.values()), key=lambda test: seconds[test]), seconds)
        waiting = list(enumerate(self.chosen))
        running: dict[int, tuple[int, float]] = {}
        while waiting or running:
            while waiting and len(running) < self.jobs:
                number, mutant = waiting.pop(0)
                tests = {test for line in mutant.lines for test in reached.get((mutant.module, line), ())}
                if not tests:
                    self.outcome[number] = "no test"
                    continue
                order = sorted(tests, key=lambda test: seconds[test])
                if not (pid := os.fork()):
                    self.child(mutant, order, seconds)
                running[pid] = number, time.monotonic()
            self.wait(running)
        return True

    def control(self, order: list[int], seconds: list[float]) -> None:
        """End it all if tests fail without a mutant where they are run as for one: every mutant would be killed."""
        if not (pid := os.fork()):
            self.child(None, order, seconds)
        if code := os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
            sys.exit(f"the tests end with {code} where nothing is changed; leave out those that do (--tests)")

    def wait(self, running: dict[int, tuple[int, float]]) -> None:
        """Wait until a process ends; one that takes minutes is ended."""
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            number, _ = running.pop(pid)
            result = {0: "survived", 3: "nothing to change"}.get(os.waitstatus_to_exitcode(status), "killed")
            self.outcome[number] = result
            say(f"{len(self.outcome)} of {len(self.chosen)}: {result} {self.chosen[number]}")
            return
        for each, (_, begun) in running.items():
            if time.monotonic() - begun > 30 * self.budget:
                os.kill(each, 9)
        time.sleep(0.01)

    def child(self, mutant: Mutant | None, order: list[int], seconds: list[float]) -> None:
        """Become the mutant, run tests until one fails, and end: 0 survived, 1 killed, 3 nothing was changed."""
        code = 1
        try:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            limit = int(5 * (self.budget if mutant else sum(seconds))) + 10
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))  # what draws pictures reserves more
            code = self.verdict(mutant, order, seconds)
        finally:
            os._exit(code)

    def verdict(self, mutant: Mutant | None, order: list[int], seconds: list[float]) -> int:
        """Return the exit code of a mutant, or of none."""
        from _pytest.runner import runtestprotocol

        if mutant and not put(mutant):
            return 3
        spent = 0.0
        for test in order:
            if mutant and spent > self.budget:
                break
            spent += seconds[test]
            if any(report.failed for report in runtestprotocol(self.items[test], log=False, nextitem=None)):
                return 1
        return 0

    def traced(self) -> tuple[list[float], dict[tuple[str, int], set[int]]]:
        """Run all tests in a process of their own: the seconds of each, and the tests that come to each line."""
        with tempfile.NamedTemporaryFile() as file:
            if not (pid := os.fork()):
                try:
                    Path(file.name).write_bytes(pickle.dumps(self.trace()))
                finally:
                    os._exit(0)
            os.waitpid(pid, 0)
            seconds, reached, failed = pickle.loads(Path(file.name).read_bytes())  # noqa: S301 - our own
        for test in failed:
            say(f"left out, fails without a mutant: {self.items[test].nodeid}")
        return seconds, {line: tests - failed for line, tests in reached.items()}

    def trace(self) -> tuple[list[float], dict[tuple[str, int], set[int]], set[int]]:
        """Run all tests here, and watch."""
        from _pytest.runner import runtestprotocol

        names = {str(SOURCE / f"{each}.py"): each for each in {mutant.module for mutant in self.chosen}}
        reached: dict[tuple[str, int], set[int]] = defaultdict(set)
        seconds: list[float] = []
        failed: set[int] = set()

        def line(frame: FrameType, event: str, _: object) -> Any:
            name = names.get(frame.f_code.co_filename)
            if name is None:
                return None
            if event == "line":
                reached[name, frame.f_lineno].add(len(seconds))
            return line

        for number, item in enumerate(self.items):
            begun = time.process_time()
            sys.settrace(line)
            reports = runtestprotocol(item, log=False, nextitem=None)
            sys.settrace(None)
            if any(report.failed for report in reports):
                failed.add(number)
            seconds.append(time.process_time() - begun)
        return seconds, dict(reached), failed


def equivalents() -> list[dict[str, str]]:
    """Return the mutants that change nothing, each with its reason."""
    listed: list[dict[str, str]] = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    return listed


def modules(names: list[str]) -> list[str]:
    """Return the modules of these names; a package stands for all its modules."""
    found = []
    for name in names:
        inside = sorted((SOURCE / name).glob("*.py")) if (SOURCE / name).is_dir() else [SOURCE / f"{name}.py"]
        found += [path.relative_to(SOURCE).with_suffix("").as_posix() for path in inside]
    return found


def report(chosen: list[Mutant], outcome: dict[int, str]) -> int:
    """Print the mutants that survived, and what came of all, module by module; return how many survived."""
    known = {(each["module"], each["function"], each["was"], each["becomes"]) for each in equivalents()}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number, mutant in enumerate(chosen):
        result = outcome[number]
        if result in ("survived", "no test"):
            alive = (mutant.module, mutant.function, mutant.was, mutant.becomes) not in known
            result = "survived" if alive else "equivalent"
            sys.stdout.write(f"{mutant}   ({outcome[number]})\n" if alive else "")
        counts[mutant.module][result] += 1
    counts["all"] = sum(counts.values(), Counter())
    for name, count in counts.items():
        share = 100 * count["killed"] / max(count["killed"] + count["survived"], 1)
        figures = "".join(f"{count[each]:5} {each}" for each in ("killed", "survived", "equivalent"))
        sys.stdout.write(f"{name:28} {figures} {share:6.1f} %\n")
    return counts["all"]["survived"]


def main() -> int:
    """Try mutants of the modules named; return 1 if one survives that is not listed."""
    parser = argparse.ArgumentParser(prog="./scripts/mutants", description="Which faults in the code do tests not see?")
    parser.add_argument("module", nargs="*", default=list(TESTS), help="order, measures/ranks, stats; all if none")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N mutants of each module")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--tests", nargs="+", help="these tests instead of those of the table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--budget", type=float, default=20, help="seconds of tests that a mutant may cost")
    asked = parser.parse_args()
    source, chosen = random.Random(asked.seed), []
    for module in modules(asked.module):
        found = list(mutants(module))
        if asked.sample and len(found) > asked.sample:
            found = [found[at] for at in sorted(source.sample(range(len(found)), asked.sample))]
        chosen += found
    tests = asked.tests or sorted({f"tests/{t}" for m in modules(asked.module) for t in TESTS[m.split("/")[0]].split()})
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ[name] = "1"
    import pytest

    run = Run(chosen, asked.jobs, asked.budget)
    options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    pytest.main([*options, "-m", "not search and not speed and not soak", *tests], plugins=[run])
    return int(bool(report(chosen, run.outcome))) if len(run.outcome) == len(chosen) else 2  # it was said why


if __name__ == "__main__":
    sys.exit(main())
