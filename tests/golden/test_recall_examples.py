"""The worked examples of the paper on MOR: five systems, four relevant documents, a reader who looks at 100."""

from __future__ import annotations

from typing import Any

import pytest

from exaequo import read_qrels, read_run
from exaequo.judge import judge, prepare
from exaequo.measures.recall import mor_parts
from exaequo.order import Ordering, Ranking
from helpers import EXAMPLES, evaluate, values

SYSTEMS = {1: [1, 2, 3, 4], 2: [50, 51, 53, 54], 3: [1, 98, 99, 100], 4: [1, 54], 5: [1]}
COLUMNS = {
    "AP": "AP",
    "R": "R@100",
    "F1": "F@100",
    "Fp1": "FAP",
    "Fp4": "FAP(beta=4)",
    "PRES": "PRES@100",
    "MOR": "MOR@100",
}


def lists(relevant: list[int], n_rel: int, length: int) -> tuple[dict[str, Any], dict[str, Any]]:
    qrels = {f"d{rank}": 1 for rank in relevant} | {f"missing{i}": 1 for i in range(n_rel - len(relevant))}
    return {"t": qrels}, {"t": {f"d{rank}": -float(rank) for rank in range(1, length + 1)}}


def ranking(relevant: list[int], n_rel: int, length: int) -> Ranking:
    qrels, run = lists(relevant, n_rel, length)
    return Ordering(judge(read_run(run), prepare(read_qrels(qrels)))).ranking()


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name.startswith("s001-table")])
def test_tables_of_the_paper(name: str) -> None:
    example = EXAMPLES[name]
    column = COLUMNS[name.split("-")[2]]
    pair = lists(example["inputs"]["relevant_ranks"], 4, 100)
    assert values(*pair, column)["t"] == pytest.approx(example["computed"], abs=1e-14)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name.startswith("s001-AP0AP1-sys")])
def test_what_mor_is_made_of(name: str) -> None:
    example = EXAMPLES[name]
    parts = mor_parts(ranking(example["inputs"]["relevant_ranks"], 4, 100), 100)
    found = {"h": parts.h, "w": parts.w, "AP0": parts.ap0, "AP1": parts.ap1, "AP": parts.ap, "MOR": parts.mor}
    expected = {**example["parameters"], **example["computed"]}
    for key, value in found.items():
        assert value[0] == pytest.approx(expected[key], abs=1e-14), key


def test_the_five_systems_in_the_order_of_each_measure() -> None:
    """MOR alone puts them in the order the authors ask for without leaving any two tied."""
    qrels = {"t": {f"r{i}": 1 for i in range(4)}}
    runs = {
        str(system): {
            "t": {**{f"x{rank}": -float(rank) for rank in range(1, 101) if rank not in ranks}}
            | {f"r{i}": -float(rank) for i, rank in enumerate(ranks)}
        }
        for system, ranks in SYSTEMS.items()
    }
    scores = evaluate(qrels, runs, list(COLUMNS.values()))
    names = {"AP": "AP", "R": "R@100", "F1": "F@100", "F'1": "FAP", "F'4": "FAP(beta=4)", "PRES": "PRES@100"}
    for theirs, ours in {**names, "MOR": "MOR@100"}.items():
        order = sorted(SYSTEMS, key=lambda system: -scores.mean(ours, run=str(system)))
        assert order == EXAMPLES["s001-order"]["computed"][theirs], ours
    assert len({round(scores.mean("MOR@100", run=str(system)), 12) for system in SYSTEMS}) == 5


def test_a_single_relevant_document() -> None:
    for row in EXAMPLES["s001-fig7"]["computed"]:
        pair = lists([row["rank"]], 1, 12)
        assert values(*pair, "MOR@10")["t"] == pytest.approx(row["MOR"], abs=1e-15)
        assert values(*pair, "PRES@10")["t"] == pytest.approx(row["PRES"], abs=1e-15)
        assert values(*pair, "RR")["t"] == pytest.approx(row["RR"], abs=1e-15)


def test_other_claims() -> None:
    multikey = EXAMPLES["s001-52-multikey"]
    for key in ("a", "b"):
        pair = lists(multikey["inputs"][key], 4, 100)
        assert values(*pair, "MOR@100")["t"] == pytest.approx(multikey["computed"][f"MOR_{key}"], abs=1e-15)
    best = EXAMPLES["s001-c4-check"]["computed"]
    assert values(*lists([1, 2, 3, 4], 4, 10), "MOR@10")["t"] == best["n=4,Nmax=10"]
    assert values(*lists([1, 2, 3, 4, 5, 6], 8, 6), "MOR@6")["t"] == pytest.approx(best["n=8,Nmax=6"])
    for system, expected in EXAMPLES["s001-Rprec"]["computed"].items():
        assert values(*lists(SYSTEMS[int(system[-1])], 4, 100), "Rprec")["t"] == expected


def test_interpolated_average_precision_of_the_course() -> None:
    example = EXAMPLES["s002-AP-interp"]
    pair = lists(example["inputs"]["relevant_ranks"], 6, 14)
    assert values(*pair, "IAP")["t"] == pytest.approx(example["computed"], abs=1e-15)
