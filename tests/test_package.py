"""The package as a whole: its public names, its sample data, its layers."""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import exaequo
from exaequo.judge import judge, prepare
from exaequo.order import Ordering

SOURCE = Path(exaequo.__file__).parent


def test_public_names() -> None:
    assert set(exaequo.__all__) == {
        *("BadParameter", "DataWarning", "ExaequoError", "InputError", "Measure", "MissingTopics", "Problem", "Qrels"),
        *("Ranking", "Run", "Scores", "UnknownMeasure", "UsageError", "__version__", "define", "evaluate", "measures"),
        *(
            "audit_ties",
            "compare",
            "explain",
            "explain_filter",
            "gate",
            "lexirecall",
            "parse_measure",
            "read_qrels",
            "read_run",
            "report",
            "sample",
        ),
    }
    for name in exaequo.__all__:
        assert getattr(exaequo, name) is not None
    assert all(callable(each) for each in (exaequo.evaluate, exaequo.compare, exaequo.explain, exaequo.report))
    with pytest.raises(AttributeError):
        exaequo.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_importing_costs_nothing() -> None:
    code = "import sys, exaequo; print('polars' in sys.modules, 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False False\n"


#: Each module may use the ones before it. `errors` stands below all, `cli` on top of all.
LAYERS = (
    "errors choices text options writing tabular read judge order stats aggregate measures expected tiestats scores "
    "evaluation listing audit comparison axioms filtering sampledata explanation plot reporting study "
    "trec_eval compat cli"
).split()


def test_nothing_imports_from_a_later_stage() -> None:
    for path in SOURCE.rglob("*.py"):
        stage = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if stage not in LAYERS:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("exaequo."):
                used = str(node.module).split(".")[1]
                assert LAYERS.index(used) <= LAYERS.index(stage), f"{path.name} imports {node.module}"


def test_sample_is_the_same_everywhere(tmp_path: Path) -> None:
    data = exaequo.sample()
    digest = hashlib.sha256()
    for path in data.save(tmp_path):
        digest.update(path.read_bytes())
    assert digest.hexdigest() == "52b78791de7d33ea5f941221fb335f9425dc8f81d98203d5e3b73f11c9f2172d"
    assert exaequo.sample(seed=1).qrels.frame.height != 0
    again = exaequo.read_qrels(tmp_path / "qrels.txt")
    assert again.frame.equals(data.qrels.frame)
    for run in data.runs:
        assert exaequo.read_run(tmp_path / "runs" / f"{run.name}.txt").frame.equals(run.frame)


def test_sample_has_what_it_is_for() -> None:
    qrels, runs = exaequo.sample()
    judgments = prepare(qrels)
    assert (judgments.n_topics, len(runs)) == (25, 6)
    assert set(np.unique(judgments.grade)) == {0, 1, 2, 3}
    by_name = {run.name: run.frame for run in runs}
    whole = by_name["llm-judge"]["sim"]
    assert set(whole.unique()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    filled = by_name["boolean"].group_by("qid").agg((pl.col("sim") == 0).sum().alias("zeros"))
    assert filled["zeros"].min() > 0  # type: ignore[operator]
    tied = {run.name: Ordering(judge(run, judgments)).n_tied for run in runs}
    assert tied["bm25"] < 10 < tied["dense-fp16"]


def test_the_largest_modules_stay_readable() -> None:
    for path in SOURCE.rglob("*.py"):
        assert path.read_text(encoding="utf-8").count("\n") <= 400, path
