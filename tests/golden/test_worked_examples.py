"""The worked examples of the papers on ties and of the course, recomputed exactly: what exaequo has to give."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exaequo
from exaequo.measures.interpolated import best_from_here
from helpers import EXAMPLES, evaluate, some, values

STRATEGIES = {"R": "realistic", "C": "conventional", "O": "optimistic"}


def number(text: float | str) -> float:
    return float(Fraction(text)) if isinstance(text, str) else float(text)


def from_docs(docs: list[list[Any]], n_rel: int | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Documents as [docno, sim, judgment]; more relevant ones nobody returned, up to n_rel."""
    judged = {docno: rel for docno, _, rel in docs if rel is not None}
    returned = sum(0 < rel < 128 for rel in judged.values())
    judged |= {f"unfound{i}": 1 for i in range((n_rel or returned) - returned)}
    return {"t": judged}, {"t": {docno: sim for docno, sim, _ in docs}}


def from_ranks(relevant: list[int], n_rel: int, length: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A list without ties with relevant documents at these ranks."""
    docs = [[f"d{rank:04}", -rank, int(rank in relevant)] for rank in range(1, length + 1)]
    return from_docs(docs, n_rel)


def one(pair: tuple[dict[str, Any], dict[str, Any]], measure: str, ties: str = "realistic") -> float:
    return values(*pair, measure, ties=ties)["t"]


@pytest.mark.parametrize("name", some("s000-fig1", "s000-fig2", "s003-fig1"))
def test_a_name_decides(name: str) -> None:
    example = EXAMPLES[name]
    pair = from_docs(example["inputs"]["docs_docno_sim_rel"], n_rel=5)
    assert one(pair, "RR", "conventional") == number(example["computed"]["RR"])
    assert one(pair, "AP", "conventional") == pytest.approx(number(example["computed"]["AP"]), abs=1e-15)
    for rank, expected in enumerate(example["computed"]["P_at_each_doc"], 1):
        assert one(pair, f"P@{rank}", "conventional") == pytest.approx(number(expected), abs=1e-15)
    assert order_of(pair, "conventional") == example["computed"]["order"]


def order_of(pair: tuple[dict[str, Any], dict[str, Any]], ties: str) -> list[str]:
    from exaequo import read_qrels, read_run
    from exaequo.judge import judge, prepare
    from exaequo.order import Ordering

    run = read_run(pair[1])
    ranking = Ordering(judge(run, prepare(read_qrels(pair[0])))).ranking(ties)
    return run.frame["docno"].gather(ranking.row).to_list()


@pytest.mark.parametrize("name", some("s003-fig2-orders", "s000-fig3"))
def test_three_orders(name: str) -> None:
    example = EXAMPLES[name]
    pair = from_docs(example["inputs"]["docs_docno_sim_rel"])
    assert {letter: order_of(pair, ties) for letter, ties in STRATEGIES.items()} == example["computed"]


def test_three_orders_measured() -> None:
    example = EXAMPLES["s003-fig2-measures"]
    pair = from_docs(example["inputs"]["docs_docno_sim_rel"], n_rel=2)
    for letter, expected in example["computed"].items():
        ties = STRATEGIES[letter]
        assert one(pair, "RR", ties) == number(expected["RR"])
        assert one(pair, "AP", ties) == pytest.approx(number(expected["AP_if_n_rel=2"]), abs=1e-15)
        assert one(pair, "P@2", ties) == pytest.approx(number(expected["P@2"]), abs=1e-15)
        assert one(pair, "P@3", ties) == pytest.approx(number(expected["P@3"]), abs=1e-15)


@pytest.mark.parametrize("name", some("s000-real-opt-mini", "s003-real-opt-mini"))
def test_realistic_and_optimistic(name: str) -> None:
    example = EXAMPLES[name]
    kinds = {f"{kind}{i}": kind for i, kind in enumerate(example["inputs"]["tied_group"])}
    pair = from_docs([[docno, 1.0, int(kind == "P")] for docno, kind in kinds.items()])
    for ties, expected in example["computed"].items():
        assert [kinds[docno] for docno in order_of(pair, ties)] == expected


def test_grades_are_normalised_before_they_sort() -> None:
    """Sorted by its raw value, a judgment of 200 would stand before the relevant document under optimistic."""
    example = EXAMPLES["s000-order-cx1"]
    pair = from_docs(example["inputs"]["docs_docno_sim_rel"])
    found = [one(pair, "RR", ties) for ties in STRATEGIES.values()]
    assert found == [0.5, 1.0, 1.0]
    assert found != list(example["computed"].values())


def test_ideal_gain_comes_from_the_judgments() -> None:
    example = EXAMPLES["s000-order-cx2"]
    pair = from_docs(example["inputs"]["docs_docno_sim_gain"])
    for letter, expected in example["computed"]["qrels IDCG"].items():
        assert one(pair, "nDCG(dcg='jk')@3", STRATEGIES[letter]) == pytest.approx(expected, abs=1e-15)


def test_inferred_ap_breaks_the_chain() -> None:
    example = EXAMPLES["s000-order-cx4"]
    pair = from_docs(example["inputs"]["docs_docno_sim_rel"])
    for letter, expected in example["computed"].items():
        assert one(pair, "infAP", STRATEGIES[letter]) == pytest.approx(expected, abs=1e-12)


def single_relevant(ranks: list[int], n_rel: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A list whose one relevant document stands at these ranks under realistic, conventional and optimistic."""
    last, by_name, first = ranks
    docs: list[list[Any]] = [[f"above{i:04}", 2.0 - i / 1e4, 0] for i in range(1, first)]
    # Names go down from z9999: the relevant document is the (by_name - first + 1)-th of its tie.
    names = [f"z{9999 - i}" for i in range(last - first + 1)]
    docs += [[name, 1.0, int(i == by_name - first)] for i, name in enumerate(names)]
    return from_docs(docs, n_rel)


@pytest.mark.parametrize("name", some("s000-table3-", "s003-table2-"))
def test_lucky_reciprocal_ranks(name: str) -> None:
    example = EXAMPLES[name]
    ranks = example["inputs"]["ranks_R_C_O"]
    pair = single_relevant(ranks, 1)
    for ties, expected in zip(STRATEGIES.values(), example["computed"]["RR"], strict=True):
        assert one(pair, "RR", ties) == expected


@pytest.mark.parametrize("name", [n for n in some("s000-recon-") if "AP_R_C_O" in EXAMPLES[n]["computed"]])
def test_reconstructed_lists_with_one_relevant_document(name: str) -> None:
    example = EXAMPLES[name]
    pair = single_relevant(example["inputs"]["rank_R_C_O"], example["parameters"]["n_rel"])
    for ties, expected in zip(STRATEGIES.values(), example["computed"]["AP_R_C_O"], strict=True):
        assert one(pair, "AP", ties) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", [n for n in some("s000-recon-") if "AP_O" in EXAMPLES[n]["computed"]])
def test_reconstructed_lists_of_a_thousand_ties(name: str) -> None:
    example = EXAMPLES[name]
    first, last = example["inputs"]["optimistic_ranks"]
    docs: list[list[Any]] = [[f"above{i}", 2.0 - i / 10, 0] for i in range(1, first)]
    docs += [[f"tied{i:04}", 1.0, int(i < last - first + 1)] for i in range(1001 - first)]
    pair = from_docs(docs, example["parameters"]["n_rel"])
    assert one(pair, "AP", "realistic") == pytest.approx(example["computed"]["AP_R"], rel=1e-13)
    assert one(pair, "AP", "optimistic") == pytest.approx(example["computed"]["AP_O"], rel=1e-13)


@pytest.mark.parametrize("name", some("s002-exAB-"))
def test_precision_and_recall_of_a_set(name: str) -> None:
    example = EXAMPLES[name]
    returned, relevant = example["inputs"]["returned"], example["inputs"]["relevant"]
    pair = ({"t": dict.fromkeys(relevant, 1)}, {"t": {docno: -i for i, docno in enumerate(returned)}})
    assert one(pair, "SetP" if "-P-" in name else "SetR") == pytest.approx(example["computed"], abs=1e-15)


@pytest.mark.parametrize("name", some("s002-prog-"))
def test_progressive_precision_and_recall(name: str) -> None:
    example = EXAMPLES[name]
    pair = from_ranks(example["inputs"]["relevant_ranks"], 6, 14)
    measure = "R" if name.startswith("s002-prog-R") else "P"
    assert one(pair, f"{measure}@{example['inputs']['rank']}") == pytest.approx(example["computed"], abs=1e-15)


def test_recall_with_a_relevant_document_missing() -> None:
    example = EXAMPLES["s002-IV1-missing"]
    assert one(from_ranks(example["inputs"]["relevant_ranks"], 6, 14), "SetR") == pytest.approx(example["computed"])


def test_average_precision_and_eleven_points_of_the_course() -> None:
    pair = from_ranks([1, 2, 4, 6, 13, 14], 6, 14)
    assert one(pair, "AP") == pytest.approx(EXAMPLES["s002-AP"]["computed"], abs=1e-14)
    eleven = EXAMPLES["s002-11pt-of-IV4"]["computed"]
    for tenth, expected in enumerate(eleven["levels"]):
        assert one(pair, f"IPrec@{tenth / 10}") == pytest.approx(expected, abs=1e-15)
    assert one(pair, "IPrec11") == pytest.approx(eleven["mean"], abs=1e-15)


@pytest.mark.parametrize("name", some("s002-map-q"))
def test_precision_at_each_relevant_document(name: str) -> None:
    example = EXAMPLES[name]
    pair = from_ranks(example["inputs"]["relevant_ranks_inferred"], 8, 14)
    assert one(pair, f"P@{example['inputs']['rank']}") == pytest.approx(example["computed"], abs=1e-15)


def test_map_divides_by_all_relevant_documents() -> None:
    lists = EXAMPLES["s002-map-MAP"]["inputs"]
    pairs = {topic: from_ranks(ranks, 8, 14) for topic, ranks in lists.items()}
    qrels = {topic: pair[0]["t"] for topic, pair in pairs.items()}
    run = {topic: pair[1]["t"] for topic, pair in pairs.items()}
    assert values(qrels, run, "AP") == pytest.approx(
        {
            "q1": EXAMPLES["s002-map-AP1"]["computed"]["seed_formula_IV.4 (/8)"],
            "q2": EXAMPLES["s002-map-AP2"]["computed"]["seed_formula_IV.4 (/8)"],
        },
        abs=1e-15,
    )
    expected = EXAMPLES["s002-map-MAP"]["computed"]["seed_formula (/8)"]
    assert evaluate(qrels, run, "AP").mean("AP") == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("s002-P@5", "P@5"),
        ("s002-P@10", "P@10"),
        ("s002-P@15", "P@15"),
        ("s002-Rprec", "Rprec"),
        ("s002-RR", "RR"),
        ("s002-AP-of-V", "AP"),
    ],
)
def test_high_precision_measures_of_the_course(name: str, measure: str) -> None:
    pair = from_ranks(EXAMPLES[name]["inputs"]["relevant_ranks"], 8, 15)
    assert one(pair, measure) == pytest.approx(EXAMPLES[name]["computed"], abs=1e-15)


def test_cumulative_gain_of_the_course() -> None:
    gains = EXAMPLES["s002-dcg10"]["inputs"]["gains"]
    pair = from_docs([[f"d{i}", -i, gain] for i, gain in enumerate(gains)])
    ideal = from_docs([[f"d{i}", -i, gain] for i, gain in enumerate(sorted(gains, reverse=True))])
    assert one(pair, "DCG(dcg='jk')@10") == pytest.approx(EXAMPLES["s002-dcg10"]["computed"], abs=1e-15)
    assert one(ideal, "DCG(dcg='jk')@10") == pytest.approx(EXAMPLES["s002-idcg-slide1"]["computed"], abs=1e-15)
    expected = EXAMPLES["s002-ndcg"]["computed"]
    assert one(pair, "nDCG(dcg='jk')@10") == pytest.approx(expected["seed formula"], abs=1e-15)
    assert one(pair, "nDCG@10") == pytest.approx(expected["log2(i+1) variant"], abs=1e-15)


def test_terms_of_the_course() -> None:
    """s002-dcg-term1 … 9: gain over log2(rank), none at rank 1."""
    terms = {1: (0.3, 0.3), 2: (0.2, 0.2), 3: (0.3, 0.18927892607143723), 6: (0.4, 0.15474112289381664)}
    terms |= {7: (0.5, 0.1781035935540111), 9: (0.3, 0.09463946303571862)}
    for rank, (gain, computed) in terms.items():
        run = {"t": {f"d{at}": -float(at) for at in range(1, rank + 1)}}
        found = exaequo.evaluate({"t": {f"d{rank}": gain}}, run, "DCG(dcg='jk')").mean("DCG(dcg='jk')")
        assert found == pytest.approx(computed, abs=1e-15)


def test_interpolation_table_of_the_course() -> None:
    """s002-interp-table: the points are no ranking's, so the rule is tried by itself, recall in whole hundredths."""
    recall = [7, 13, 20, 27, 33, 40, 47, 53, 60, 67, 90]
    precision = np.array([1, 0.5, 0.75, 0.67, 0.71, 0.67, 0.64, 0.67, 0.64, 0.67, 0.01])
    best = best_from_here(precision, np.zeros(11, dtype=np.int64))
    found = [next((float(best[i]) for i, r in enumerate(recall) if r >= level), 0.0) for level in range(0, 101, 10)]
    assert found == [1, 0.75, 0.75, 0.71, 0.67, 0.67, 0.67, 0.01, 0.01, 0.01, 0]
