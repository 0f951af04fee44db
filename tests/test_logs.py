"""Scores logged to tools of experiments: what they are called, and who is asked to write them."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

import exaequo
from exaequo import BadParameter, ExaequoError

QRELS = {"1": {"a": 2, "b": 1}, "2": {"c": 2}}
RUN = {"1": {"a": 2.0, "b": 2.0}, "2": {"x": 3.0, "c": 1.0}}


def scores(**asked: Any) -> exaequo.Scores:
    return exaequo.evaluate(QRELS, RUN, ["RR", "P(rel=2)@1", "nDCG(dcg='exp-log2')@10"], **asked)


class Loggers:
    """One of each kind, and what they were given."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @property
    def mlflow(self) -> Any:
        module: Any = ModuleType("mlflow")
        module.log_metrics = lambda numbers, step=None: self.seen.append((numbers, step))
        module.log = None  # never asked
        return module

    @property
    def wandb(self) -> Any:
        module: Any = ModuleType("wandb")
        module.log = lambda numbers, step=None: self.seen.append((numbers, step))
        return module

    def add_scalar(self, tag: str, value: float, global_step: int | None) -> None:
        self.seen.append(({tag: value}, global_step))


EXPECTED = {
    "RR": 0.75,
    "P_rel_2_at_1": 0.0,
    "nDCG_dcg_exp-log2_at_10": pytest.approx((2.892789 / 3.630930 + 0.630930) / 2, abs=1e-5),
}


@pytest.mark.parametrize("tool", ["mlflow", "wandb"])
def test_tools_by_name(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loggers = Loggers()
    monkeypatch.setitem(sys.modules, tool, getattr(loggers, tool))
    logged = exaequo.log(scores(), to=tool, step=3)
    assert loggers.seen == [(logged, 3)]
    assert logged == EXPECTED


def test_writers_and_functions() -> None:
    loggers = Loggers()
    given: list[dict[str, float]] = []
    logged = exaequo.log(scores(), to=loggers, prefix="test/", step=1)
    assert loggers.seen == [({name: value}, 1) for name, value in logged.items()]
    assert logged == {f"test/{name}": value for name, value in EXPECTED.items()}
    exaequo.log(scores(), to=given.append)
    assert given == [EXPECTED]


def test_several_runs_and_strategies_stand_before_the_measure() -> None:
    both = exaequo.evaluate(QRELS, {"bm25 (2)": RUN, "dense": RUN}, "AP", ties=["realistic", "optimistic"])
    names = list(exaequo.log(both, to=dict))
    assert names == ["bm25_2/realistic/AP", "bm25_2/optimistic/AP", "dense/realistic/AP", "dense/optimistic/AP"]


def test_names_that_become_one_are_refused() -> None:
    with pytest.raises(BadParameter, match="both be logged as 'a_b/AP'"):
        exaequo.log(exaequo.evaluate(QRELS, {"a b": RUN, "a_b": RUN}, "AP"), to=print)


@pytest.mark.filterwarnings("ignore:.*undefined")
def test_what_is_undefined_is_left_out() -> None:
    undefined = exaequo.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, ["PDoc(doc='z')", "AP"])
    assert exaequo.log(undefined, to=dict) == {"AP": 1.0}


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ExaequoError, match="needs mlflow: pip install mlflow"):
        exaequo.log(scores(), to="mlflow")
    for wrong in ("tensorboard", 3):
        with pytest.raises(BadParameter, match="to must be mlflow or wandb, a logger or a function"):
            exaequo.log(scores(), to=wrong)
