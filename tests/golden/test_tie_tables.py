"""The statistics, gains and average rows of the papers on ties."""

from __future__ import annotations

import polars as pl
import pytest

import exaequo
from exaequo.luck import gain
from exaequo.study.tables import averaged
from helpers import EXAMPLES, evaluate, some


@pytest.mark.parametrize("name", some("s000-tied-pct", "s003-tied-pct", "s000-docs-per-sim", "s003-docs-per-sim"))
def test_statistics_of_five_documents(name: str) -> None:
    sims = EXAMPLES[name]["inputs"]["sims"]
    audit = exaequo.audit_ties({"t": {"d0": 1}}, {"t": {f"d{at}": sim for at, sim in enumerate(sims)}}, "AP")
    row = audit.lists.row(0, named=True)
    found = row["tied_percent"] / 100 if "tied" in name else row["per_score"]
    assert found == pytest.approx(EXAMPLES[name]["computed"])


@pytest.mark.parametrize("name", some("s000-table5-", "s000-table6-", "s003-table3-", "s003-table4-"))
def test_gains(name: str) -> None:
    """The gains of the printed scores lie in the interval that their rounding leaves."""
    inputs = EXAMPLES[name]["inputs"]
    kind = "AP" if "AP_R" in inputs else "MAP"
    low, middle, high = (inputs[f"{kind}_{strategy}"] for strategy in "RCO")
    intervals = EXAMPLES[name]["computed"]["interval_from_4-digit_inputs"]
    for label, found in (
        ("gain_OR", gain(high, low)),
        ("gain_CR", gain(middle, low)),
        ("gain_CO", gain(high, middle)),
    ):
        bottom, top = intervals[label]
        if top is None:  # the score that it divides by is printed as 0: undefined
            assert float(found) != float(found)
        else:
            assert bottom - 0.1 <= float(found) <= top + 0.1


def test_gains_in_the_text() -> None:
    computed = EXAMPLES["s000-text-37"]["computed"]
    assert [float(gain(0.1448, 0.106)), float(gain(0.2967, 0.106)), float(gain(0.2967, 0.1448))] == pytest.approx(
        computed
    )
    twice = EXAMPLES["s000-diff200"]["computed"]
    assert float(gain(0.2, 0.1)) == pytest.approx(twice["gain_percent_(A-B)/B"])
    assert float(gain(0.1, 0.2)) == pytest.approx(twice["gain_percent_(B-A)/A"])


TABLE = EXAMPLES["s000-table2"]["inputs"]["rows"]
COLUMNS = ("min%", "avg%", "max%", "sd%", "min_docs_per_sim", "avg_docs_per_sim", "max_docs_per_sim", "sd_docs_per_sim")


def test_average_rows() -> None:
    """All five average rows are plain means of editions, not weighted by runs."""
    editions = pl.DataFrame(
        [
            {"track": row["track"], "edition": str(row["year"]), "runs": row["runs"]}
            | {name: row[name] for name in COLUMNS}
            for row in TABLE
        ]
    )
    assert (editions.height, editions["runs"].sum()) == (22, 1360)
    table = averaged(editions)
    for track in ("adhoc", "filtering", "routing", "web", "ALL"):
        example = EXAMPLES[f"s000-table2-avg-{track}"]
        row = table.filter((pl.col("track") == track.replace("ALL", "(all)")) & (pl.col("edition") == "(average)"))
        assert row.select(COLUMNS).row(0) == pytest.approx(example["computed"], abs=6e-5)
    weighted = table.filter((pl.col("track") == "adhoc") & (pl.col("edition") == "(average by runs)"))
    assert weighted["avg%"].item() == pytest.approx(22.2, abs=0.06)
    assert weighted["runs"].item() == sum(row["runs"] for row in TABLE if row["track"] == "adhoc")


def test_precision_at_a_document_breaks_the_chain() -> None:
    example = EXAMPLES["s000-order-cx3"]
    documents = example["inputs"]["docs_docno_sim_rel"]
    qrels = {"t": {docno: rel for docno, _, rel in documents}}
    run = {"t": {docno: float(sim) for docno, sim, _ in documents}}
    found = [block.values[0, 0] for block in evaluate(qrels, run, "PDoc(doc='M')", ties="all").blocks]
    assert found == pytest.approx([2 / 3, 1 / 2, 1])
