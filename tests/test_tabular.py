"""Any table in any format: heads, digits, parts that fit, and names that would like to be more than names."""

from __future__ import annotations

import csv
import html
import io
import json
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import exaequo
from exaequo import tabular
from exaequo.choices import TABLE_FORMATS
from exaequo.language import speaking
from exaequo.read.collection.overview import overview
from exaequo.tabular import Column, Table, Tabled, head
from helpers import Tags

NASTY = "a|b\\c<b>d</b>&e\nf\x1b[1m_g*h*$i%"
SMALL = pl.DataFrame({"run": ["one", NASTY], "gain_percent": [1.25, None], "mean_one": [0.00005, float("nan")]})


@pytest.mark.parametrize(
    ("column", "read"),
    [
        *[(f"{one}_over_{two}_percent".lower(), f"{one} over {two} %") for one, two in ("CR", "OR", "OC")],
        *[(f"tau_{pair}", f"τ {pair.upper()}") for pair in ("rc", "ro", "co")],
        *[(f"p_{pair}", f"p {pair.upper()}") for pair in ("rc", "ro", "co")],
        *[("chance_error", "give or take"), ("noticeable", "5 % rule"), ("tau_b", "τ-b"), ("tau_ap", "τ_AP")],
        *[("rbo", "RBO"), ("best_score", "its score"), ("worst_score", "its own"), ("gm_ap", "gm(AP)")],
        *[("nothing_in_10_percent", "nothing in 10 %"), ("area_of_worst_quarter", "area of the worst quarter")],
        *[("kappa_relevant", "κ relevant"), ("kappa_grades", "κ grades")],
        *[("alpha_nominal", "α nominal"), ("alpha_ordinal", "α ordinal")],
        *[("eleven_points", "11 points"), ("break_even", "break-even"), ("best_f", "best F"), ("best_f_at", "F at")],
        *[("best_utility_at", "utility at"), ("f_optimal_at", "grid at"), ("f_optimal", "F_optimal")],
        *[("tied_mean_percent", "tied mean %"), ("gain_percent", "gain %"), ("corrected_p", "corrected p")],
        *[("one_beats_two", "one beats two"), ("rank_realistic", "rank realistic"), ("p_expected", "p expected")],
        # about a measure, or one itself
        *[("AP_realistic", "AP realistic"), ("nDCG@10_expected", "nDCG@10 expected"), ("tau_AP", "τ AP")],
        *[("alpha_nDCG@10", "alpha_nDCG@10"), ("alpha_nDCG@10_optimistic", "alpha_nDCG@10 optimistic")],
        *[
            ("tau_alpha_nDCG@10", "τ alpha_nDCG@10"),
            ("ERR_IA", "ERR_IA"),
            ("ERR_IA_conventional", "ERR_IA conventional"),
        ],
        *[("gm(AP)", "gm(AP)"), ("P(rel=2, judged_only=True)@5", "P(rel=2, judged_only=True)@5"), ("0.1", "0.1")],
        *[(name, name) for name in ("a", "N", "F", "UAP", "T11SU", "gain %", "", "two words")],
    ],
)
def test_heads(column: str, read: str) -> None:
    assert head(column) == read


def test_own_measures_keep_their_names() -> None:
    names = {"my_measure", "my_expected"}
    for column, read in (
        ("my_measure", "my_measure"),
        ("my_measure_realistic", "my_measure realistic"),
        ("tau_my_measure", "τ my_measure"),
        ("my_expected", "my_expected"),
        ("my_other", "my other"),
    ):
        assert head(column, names) == read
    assert head("rbo", {"rbo"}) == "rbo"


def test_columns_of_percentages_have_one_digit() -> None:
    frame = pl.DataFrame({"tied_percent": [12.25], "old %": [12.25], "share": [12.25], "few": [12.25]})
    text = tabular.text(Table.of(frame, digits={"few": 2}))
    assert text.splitlines() == ["tied %  old %    share    few", "  12.3   12.3  12.2500  12.25"]
    assert tabular.text(Table.of(frame, digits={"tied_percent": 3})).splitlines()[1].startswith("12.250")


def test_people_read_words_and_programs_read_names() -> None:
    table = Table.of(SMALL, "Title", brief=SMALL.select("run", "gain_percent"))
    for write in (tabular.text, tabular.markdown, tabular.latex, tabular.html):
        assert "gain" in write(table)
        assert "gain_percent" not in write(table)
        assert "mean" not in write(table)
    assert next(csv.reader(io.StringIO(tabular.csv(table)))) == ["run", "gain_percent", "mean_one"]
    assert tabular.rows(table.frame)[1] == {"run": NASTY, "gain_percent": None, "mean_one": None}


def test_every_format_has_its_writer() -> None:
    assert set(tabular.WRITERS) == set(TABLE_FORMATS) - {"json"}


SCORES = Table(
    "Title",
    [
        Column("run", ["x", NASTY], right=False),
        Column("realistic", ["0.5000", "0.2500"], group="AP", best=[0], marks=["a", ""]),
        Column("optimistic", ["0.7500", "undefined"], group="AP", best=[0], marks=["a", "▲"]),
        Column("realistic", ["7", "10"], group="NumRet", best=[]),
        Column("optimistic", ["7", "10"], group="NumRet", best=[]),
    ],
    ["A sentence."],
)
SHOWN = r"a|b\c<b>d</b>&e\nf\x1b[1m_g*h*$i%"


def test_text() -> None:
    table = replace(SCORES, columns=[Column("run", ["x", "y"], right=False), *SCORES.columns[1:]])
    assert tabular.text(table).splitlines() == [
        "Title",
        "",
        "run         AP                    NumRet",
        "     realistic    optimistic   realistic   optimistic",
        "x     0.5000* a     0.7500* a          7            7",
        "y       0.2500   undefined  ▲         10           10",
        "",
        "A sentence.",
    ]
    assert SHOWN in tabular.text(SCORES)
    assert "\x1b" not in tabular.text(replace(SCORES, title=NASTY, lines=[NASTY]))


def test_text_in_parts() -> None:
    plain = Table(columns=[Column("run", ["x", "y"], right=False), *SCORES.columns[1:]])
    whole = tabular.text(plain)
    parts = tabular.text(plain, width=40).split("\n\n")
    assert len(parts) == 2
    assert [part.splitlines()[0].split() for part in parts] == [["run", "AP"], ["run", "NumRet"]]
    assert all(part.splitlines()[1].split() == ["realistic", "optimistic"] for part in parts)
    assert max(map(len, "\n".join(parts).splitlines())) <= 40 < max(map(len, whole.splitlines()))
    assert tabular.text(plain, width=1).split("\n\n") == parts  # a group is never broken
    bold = tabular.text(plain, colour=True)
    assert bold.count("\x1b[1m") == bold.count("\x1b[0m") == 2
    assert bold.replace("\x1b[1m", "").replace("\x1b[0m", "") == whole


def test_markdown() -> None:
    nasty = r"a\|b\\c\<b\>d\</b\>\&e\\nf\\x1b\[1m\_g\*h\*$i%"
    assert tabular.markdown(SCORES).splitlines() == [
        "## Title",
        "",
        "| run | AP realistic | AP optimistic | NumRet realistic | NumRet optimistic |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| x | **0.5000**<sup>a</sup> | **0.7500**<sup>a</sup> | 7 | 7 |",
        f"| {nasty} | 0.2500 | undefined<sup>▲</sup> | 10 | 10 |",
        "",
        "A sentence.",
    ]
    assert tabular.markdown(Table(lines=["one", "<b> * & *x* [y](z)"])).splitlines() == [
        "- one",
        r"- \<b\> * \& \*x* \[y\](z)",
    ]


def test_latex() -> None:
    nasty = (
        r"a\textbar{}b\textbackslash{}c\textless{}b\textgreater{}d\textless{}/b\textgreater{}\&e\textbackslash{}nf"
        r"\textbackslash{}x1b[1m\_g*h*\$i\%"
    )
    assert tabular.latex(SCORES).splitlines() == [
        "% Title",
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        r" & \multicolumn{2}{c}{AP} & \multicolumn{2}{c}{NumRet} \\",
        r"run & realistic & optimistic & realistic & optimistic \\",
        r"\midrule",
        r"x & \textbf{0.5000}$^{a}$ & \textbf{0.7500}$^{a}$ & 7 & 7 \\",
        rf"{nasty} & 0.2500 & undefined$^{{\blacktriangle}}$ & 10 & 10 \\",
        r"\bottomrule",
        r"\end{tabular}",
        "% A sentence.",
    ]
    assert "\n" not in tabular.latex(Table(NASTY))


def test_latex_takes_nothing_after_a_line_end_for_itself() -> None:
    table = tabular.latex(Table(columns=(Column("run", ["[1cm]", "*", "a[*"]),)))
    assert table.splitlines()[3:-2] == [r"\midrule", r"{}[1cm] \\", r"{}* \\", r"a[* \\"]


def test_html() -> None:
    tags = Tags(tabular.html(SCORES))
    assert SHOWN in tags.texts
    assert tags.seen.count("b") == 2  # the best, not what a name asks for
    assert tags.seen.count("td") == 2 * len(SCORES.columns)
    assert tags.seen.count("caption") == tags.seen.count("p") == 1
    assert '<td class="n"><b>0.5000</b><sup>a</sup></td>' in tabular.html(SCORES)
    assert "<b>d" not in tabular.html(Table(NASTY, lines=[NASTY]))


def test_sentences_alone() -> None:
    said = Table(lines=["A sentence."])
    assert tabular.text(said) == tabular.markdown(said) == "A sentence."
    assert tabular.latex(said) == "% A sentence."
    assert tabular.html(said) == "<p>A sentence.</p>"
    assert {write(Table()) for write in (tabular.text, tabular.markdown, tabular.latex, tabular.html)} == {""}


def test_plain_data_are_json() -> None:
    data = {"a": [1.0, float("inf"), (float("nan"), {"b": None, "c": "x", "d": True})]}
    assert (
        json.dumps(tabular.plain(data), allow_nan=False)
        == '{"a": [1.0, null, [null, {"b": null, "c": "x", "d": true}]]}'
    )


@dataclass(frozen=True, repr=False)
class Result(Tabled):
    """A result with a long table, one that is not shown, one that is not there, and sentences."""

    shown = ("long: run gain_percent nowhere", "small", "empty", "missing")
    long: pl.DataFrame
    hidden: pl.DataFrame
    small: pl.DataFrame
    empty: pl.DataFrame
    missing: pl.DataFrame | None = None
    sentences: tuple[str, ...] = ()


def test_results_in_a_notebook() -> None:
    long = pl.DataFrame({"run": [f"run {at}" for at in range(20)], "gain_percent": 1.25, "other": 0.5})
    said = tuple(f"{NASTY} {at}" for at in range(17))
    result = Result(long, SMALL, pl.DataFrame({"run": [NASTY]}), pl.DataFrame(), sentences=said)
    assert repr(result) == "<Result: long 20 × 3, hidden 2 × 3, small 1 × 1>"
    with speaking("fr"):
        french = result._repr_html_()
    shown = result._repr_html_()
    assert shown.count("<table>") == 2
    assert [name for name in ("long", "hidden", "small", "empty") if f"<caption>{name}</caption>" in shown] == [
        "long",
        "small",
    ]
    assert '<th>run</th><th class="n">gain %</th></tr>' in shown
    assert "run 15" in shown
    assert "run 16" not in shown
    assert (shown.count("… and 4 more."), shown.count("… and 1 more.")) == (1, 1)
    assert "… et 4 de plus." in french
    assert "<b>d</b>" not in shown
    assert "other" not in shown


def test_every_result_shows_tables_that_it_has(tmp_path: Path) -> None:
    qrels, every = exaequo.sample()
    exaequo.sample().save(tmp_path / "archive" / "track" / "2000")
    runs = every[:3]
    with warnings.catch_warnings(action="ignore"):
        results: list[Any] = [
            exaequo.compare(qrels, runs, "AP"),
            exaequo.pool(runs, 10, qrels=qrels, leave_out=True, measures="AP"),
            exaequo.unjudged(qrels, runs, "AP"),
            exaequo.audit_ties(qrels, runs, "AP"),
            exaequo.design(qrels, runs, "AP", samples=100),
            exaequo.replicate(qrels, runs[:2], runs[1:], "AP"),
            overview(exaequo.read_collection("crossings")),
            exaequo.budget(qrels, runs, "AP", samples=100),
            exaequo.filtering.read_filter(qrels, runs[0]),
            exaequo.study.study(tmp_path / "archive", tmp_path / "out"),
        ]
    for result in results:
        for name, _, columns in (each.partition(": ") for each in result.shown):
            assert set(columns.split()) <= set(result.tables[name].columns), (type(result).__name__, name)
        shown = result._repr_html_()
        assert shown.count("<table>") >= 1
        assert len(repr(result)) < 400
        for sentence in getattr(result, "sentences", [])[:16]:
            assert html.escape(sentence) in shown


def test_a_gate_in_a_notebook() -> None:
    qrels, runs = exaequo.sample()
    gate = exaequo.gate(qrels, runs["bm25"], runs["hybrid"], "AP")
    assert repr(gate) == "<GateResult: passed; AP passed>"
    assert gate._repr_markdown_() == gate.markdown()


def test_explanations_are_told_in_the_language_spoken() -> None:
    qrels, runs = exaequo.sample()
    for told in (exaequo.explain(qrels, runs[0], "401", "P@10"), exaequo.explain(qrels, runs[0], None, "P@10")):
        assert repr(told) == told.text()
        assert told._repr_markdown_() == told.text(markdown=True)
        with speaking("fr"):
            assert told._repr_markdown_() == told.text("fr", markdown=True)
