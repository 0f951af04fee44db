"""Programs that run unchanged: drop-ins in the place of the originals, and the provider for ir_measures itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from exaequo import UsageError, compat
from exaequo.compat import ir_measures, pytrec_eval, ranx

QRELS, RUN = {"1": {"a": 1}}, {"1": {"a": 1.0, "b": 1.0}}
SCRIPT = """
import sys
import ir_measures, pytrec_eval, ranx
from ir_measures.measures.accuracy import Accuracy
from ir_measures.providers.base import Provider
from ranx.data_structures.run import get_file_kind
from ranx.metrics.bpref import bpref
qrels, run = {"1": {"a": 1}}, {"1": {"b": 1.0, "a": 1.0}}
print(ir_measures.__name__, sys.argv[1:], get_file_kind("x.lz4"))
print(ir_measures.RR.calc_aggregate(qrels, run), pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run))
print(ranx.evaluate(qrels, run, "mrr"), ranx.compare(ranx.Qrels(qrels), [ranx.Run(run)], ["mrr"]).to_dict()["metrics"])
"""


def python(*words: str, ties: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != compat.VARIABLE}
    environment |= {} if ties is None else {compat.VARIABLE: ties}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=120, env=environment, check=False
    )


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    return str(tmp_path / "script.py")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "qrels").write_text("1 0 a 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("1 Q0 b 1 1 r\n1 Q0 a 2 1 r\n", encoding="utf-8")
    return str(tmp_path / "qrels"), str(tmp_path / "run")


@pytest.fixture
def unchosen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(compat.VARIABLE, raising=False)
    yield
    compat.choose_ties(None)


@pytest.mark.parametrize(("ties", "found"), [(None, "0.5"), ("optimistic", "1.0")])
def test_a_program_unchanged(script: str, ties: str | None, found: str) -> None:
    done = python("-m", "exaequo.compat", script, "--one", "two", ties=ties)
    assert done.stdout.splitlines()[0] == "exaequo.compat.ir_measures ['--one', 'two'] lz4", done.stderr
    assert done.stdout.splitlines()[1] == f"{found} {{'1': {{'recip_rank': {found}}}}}"
    assert done.stdout.splitlines()[2] == f"{found if ties else '1.0'} ['mrr']"


def test_a_module_unchanged() -> None:
    done = python(
        "-m",
        "exaequo.compat",
        "-m",
        "timeit",
        "-n1",
        "-r1",
        "-s",
        "import ir_measures as i",
        "i.providers.ExaequoProvider",
    )
    assert "1 loop" in done.stdout, done.stderr


def test_a_module_beside_a_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "timeit.py").write_text("print('here')\n", encoding="utf-8")
    words = ("-m", "exaequo.compat", "-m", "timeit", "-n1", "-r1", "pass")
    assert python(*words).stdout == "here\n"
    # Where Python is asked not to look beside the program, neither does this.
    assert "1 loop" in python("-P", *words).stdout


def test_nothing_to_run(tmp_path: Path) -> None:
    assert python("-m", "exaequo.compat").returncode == 2
    done = python("-m", "exaequo.compat", str(tmp_path / "none.py"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "none.py: no such file; expected a script" in done.stderr


def test_only_drop_ins_stand_in() -> None:
    with pytest.raises(UsageError, match=r"install must be one of pytrec_eval, ir_measures, ranx\. Got 'rank'"):
        compat.install("rank")


@pytest.mark.usefixtures("unchosen")
def test_ties_chosen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[float]:
        by_pytrec_eval = pytrec_eval.RelevanceEvaluator(QRELS, {"recip_rank"}).evaluate(RUN)
        by_ranx = ranx.evaluate(ranx.Qrels(QRELS), ranx.Run({"1": {"b": 1.0, "a": 1.0}}), "mrr")
        return [by_pytrec_eval["1"]["recip_rank"], ir_measures.RR.calc_aggregate(QRELS, RUN), by_ranx]

    assert found() == [0.5, 0.5, 0.5]
    compat.choose_ties("optimistic")
    assert found() == [1.0, 1.0, 1.0]
    monkeypatch.setenv(compat.VARIABLE, "realistic")
    assert found() == [1.0, 1.0, 1.0]
    assert ir_measures.RR.calc_aggregate(QRELS, RUN, ties="realistic") == 0.5
    compat.choose_ties(None)
    assert found() == [0.5, 0.5, 0.5]
    monkeypatch.setenv(compat.VARIABLE, "realistc")
    with pytest.raises(UsageError, match=r"EXAEQUO_TIES must be one of .* did you mean 'realistic'"):
        found()
    with pytest.raises(UsageError, match="optimist"):
        compat.choose_ties("optimist")


@pytest.mark.parametrize(("ties", "found"), [(None, "0.5000"), ("optimistic", "1.0000")])
def test_the_command_of_ir_measures_on_the_provider(files: tuple[str, str], ties: str | None, found: str) -> None:
    for more in ((), ("--provider", "exaequo")):
        done = python("-m", "exaequo.ir_measures_provider", *files, "RR", "RR@10", "INST(max_rel=1)", *more, ties=ties)
        assert done.stdout.splitlines()[:2] == [f"RR\t{found}", f"RR@10\t{found}"], done.stderr
    wrong = python("-m", "exaequo.ir_measures_provider", *files, "RR", ties="lucky")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)


def test_the_provider_in_a_program(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import exaequo.ir_measures_provider as p, ir_measures as i\n"
        "p.choose_ties('optimistic')\n"
        "own = i.define_byquery(lambda q, r: len(r), name='Own')\n"
        f"found = i.calc_aggregate([i.RR @ 5, own, i.NumRet], {QRELS}, {{'1': {{'b': 1.0, 'a': 1.0}}}})\n"
        "print(i.__file__ != 'exaequo', sorted((str(m), v) for m, v in found.items()))\n"
        f"print(sorted(type(m).__name__ for m in i.iter_calc([i.RBP(rel=1), i.AP], {QRELS}, {RUN})))\n"
        "print(p.provider.supports(i.AP), p.provider.supports(own), p.provider.supports(i.P))\n",
        encoding="utf-8",
    )
    done = python(str(tmp_path / "program.py"))
    assert done.stdout.splitlines() == [
        "True [('NumRet', 2.0), ('Own', 2.0), ('RR@5', 1.0)]",
        "['CwlMetric', 'Metric']",
        "True False False",
    ], done.stderr
