"""The mutants: faults are what they should be, reach running functions, and those left alone have a reason."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from exaequo import luck

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "scripts" / "mutants.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("code", "mutated"),
    [
        ("a < b", {"a <= b", "a >= b"}),
        ("a == b", {"a != b"}),
        ("a + b", {"a - b"}),
        ("a and b", {"a or b"}),
        ("not a", {"a"}),
        ("-a", {"a"}),
        ("7", {"8", "6"}),
        ("True", {"False"}),
        ("f(a, b, c=d)", {"f(b, a, c=d)", "f(a, b)"}),
        ("f(a, a)", set()),
        ("max(a, b)", set()),
        ("zip(a, b, strict=True)", {"zip(b, a, strict=True)"}),
        ("a if b else c", {"a if not b else c"}),
        ("'text'", set()),
    ],
)
def test_faults(script: ModuleType, code: str, mutated: set[str]) -> None:
    assert {ast.unparse(each) for each in script.variants(ast.parse(code, mode="eval").body)} == mutated


def test_a_call_alone_is_dropped(script: ModuleType) -> None:
    (statement,) = ast.parse("f(a)").body
    assert [ast.unparse(each) for each in script.variants(statement)] == ["pass"]


def test_a_mutant_is_put_into_running_functions(script: ModuleType) -> None:
    mutant = next(each for each in script.mutants("luck") if each.becomes.startswith("101 * part"))
    code = luck.share.__code__
    try:
        assert luck.share(1, 4) == 25
        assert script.put(mutant)
        assert luck.share(1, 4) == 25.25
    finally:
        luck.share.__code__ = code


def test_what_is_listed_exists_and_has_a_reason(script: ModuleType) -> None:
    listed = script.equivalents()
    modules = {each["module"] for each in listed}
    there = {(m.module, m.function, m.was, m.becomes) for module in modules for m in script.mutants(module)}
    for each in listed:
        assert (each["module"], each["function"], each["was"], each["becomes"]) in there, each
        assert len(each["reason"]) > 10


def test_every_module_of_the_table_is_there(script: ModuleType) -> None:
    for name, tests in script.TESTS.items():
        assert all((script.SOURCE / f"{each}.py").is_file() for each in script.modules([name]))
        assert all((ROOT / "tests" / each).exists() for each in tests.split())
