"""The page in a real browser: nothing leaves it, everything works, names are text, and scripts are not needed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from playwright.sync_api import Browser, Page

import exaequo
from browsing import Opened, accessibility, order, write
from exaequo import plot
from exaequo.budgeting.wording import widths
from exaequo.cli import run as command
from exaequo.tabular import cell_text
from helpers import Grades, Sims, evaluate

NASTY = (
    'x aria-label="y"',
    "<script>alert(1)</script>",
    '"onload="alert(2)',
    "</script><img src=x onerror=alert(3)>",
    "a & b < c",
)
#: Names that would run as scripts, or end them, wherever they were not taken as text.
HOSTILE = (
    "</script><img src=x onerror=PWN=1>",
    "</script><img/src/onerror=PWN=1>",
    "<!--<script>",
    "]]></style></title></textarea><svg onload=PWN=1>",
    "\u2028PWN=1\u2029",
    '"+(PWN=1)+"',
    "'+(PWN=1)+'",
    "`${PWN=1}`",
    "\\",
    '\\"};PWN=1//',
    "javascript:PWN=1",
    "&lt;img src=x onerror=PWN=1&gt;",
    "datum['PWN']",
)


def test_sorting_and_filtering(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    assert order(page)[0] == "hybrid"
    assert page.get_attribute('#scores th[data-key="0"]', "aria-sort") == "descending"
    page.click('#scores th[data-key="run"] button')
    assert order(page) == sorted(order(page))
    page.click('#scores th[data-key="run"] button')
    assert order(page) == sorted(order(page), reverse=True)
    page.click('#scores th[data-key="2"] button')
    scores = evaluate(*_sample(), "P@10")
    best = max(scores.runs, key=lambda run: scores.mean("P@10", run=run))
    assert order(page)[0] == best
    assert page.get_attribute('#scores th[data-key="2"]', "aria-sort") == "descending"
    page.fill("#filter", "BM")
    assert order(page) == ["bm25"]
    assert page.text_content("#shown") == "1 of 6 runs"
    page.fill("#filter", "judge LLM, bm")
    assert set(order(page)) == {"llm-judge", "bm25"}


def _sample() -> tuple[Any, Any]:
    data = exaequo.sample()
    return data.qrels, list(data.runs)


def test_pinning_a_baseline(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.select_option("#baseline", "bm25")
    text = page.text_content('#scores tr[data-run="hybrid"] td:nth-child(4) .against') or ""
    assert text.startswith("+0.2223, +0.")
    assert text.endswith("p < 0.0001 ▲")
    assert page.locator("#scores sup").first.is_hidden()  # letters are about all pairs
    assert page.text_content('#scores tr[data-run="bm25"] td:nth-child(4) .against') == ""


def test_topics_and_lists(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.select_option("#one", label="bm25")
    page.select_option("#two", label="llm-judge")
    assert page.locator("#bars .bar").count() == 25
    assert page.locator("#cloud circle").count() == 0  # what is folded is not drawn
    page.click("#scatter summary")
    page.wait_for_selector("#cloud circle")
    assert page.locator("#cloud circle").count() == 25
    assert "AP of llm-judge over bm25" in (page.text_content("#bars-text") or "")
    page.locator("#bars .bar").first.click()
    topic = page.eval_on_selector("#topic", "select => select.selectedOptions[0].textContent")
    assert f"topic {topic}" in (page.text_content("#lists table caption") or "")
    assert page.locator("#lists table").count() == 2
    assert page.locator("#lists table tbody tr:not(.gap)").count() == 20
    assert page.locator("#lists tr.tied").count() > 0
    page.locator("#bars .bar").first.focus()
    for key in ("ArrowRight", "End", "Enter"):
        page.keyboard.press(key)
    other = page.eval_on_selector("#topic", "select => select.selectedOptions[0].textContent")
    assert other != topic
    assert page.get_attribute("#bars .chosen", "aria-label") == page.get_attribute("#bars .bar >> nth=-1", "aria-label")
    page.locator("#cloud circle").nth(3).dispatch_event("click")
    assert page.input_value("#topic") == page.get_attribute("#cloud .chosen", "data-topic")
    page.click("#contrasts button")
    assert page.locator("#contrasts button").count() == 5
    page.select_option("#one", "-1")
    assert page.locator("#lists table").count() == 1
    assert page.locator("#cloud circle").count() == 0
    assert (page.text_content("#bars-text") or "").startswith("AP of llm-judge: mean 0.3737")


def test_matrix(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.select_option("#pair-measure", label="P@10")
    assert page.text_content("#matrix caption") == "P@10"
    cell = page.locator("#matrix tbody tr").nth(0).locator("td").nth(2)  # hybrid over bm25
    assert (cell.text_content() or "").startswith("+0.2240 ▲p < 0.0001")


def test_a_link_shows_what_one_saw(sample: Path, opened: Opened, browser: Browser) -> None:
    page = opened.open(sample)
    page.click('#scores th[data-key="run"] button')
    page.fill("#filter", "l")
    page.select_option("#baseline", "logprob")
    page.select_option("#topic", label="410")
    page.select_option("#ties-measure", label="P@10")
    page.select_option("#pair-measure", label="nDCG@10")
    page.click('nav a[href="#glossary"]')
    fragment = page.evaluate("location.hash")
    assert all(part in fragment for part in ("sort=run", "filter=l", "section=glossary", "pairs=nDCG%4010"))
    page.fill("#filter", "lo")
    assert "section=runs" in page.evaluate("location.hash")
    page.fill("#filter", "l")
    again = browser.new_page()
    again.goto(sample.as_uri())
    again.evaluate("hash => { location.hash = hash }", fragment)  # a link inside a page that is open
    again.wait_for_function("document.querySelector('#filter').value === 'l'")
    assert order(again) == order(page)
    assert again.input_value("#baseline") == "logprob"
    assert "topic 410" in (again.text_content("#lists table caption") or "")
    assert again.text_content("#intervals caption") == "P@10"
    assert again.text_content("#matrix caption") == "nDCG@10"
    assert again.evaluate("document.activeElement.id") == "glossary"
    again.close()


def test_back_and_forward(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.select_option("#baseline", "logprob")
    page.select_option("#topic", label="410")
    page.go_back()
    assert "topic 402" in (page.text_content("#lists table caption") or "")
    assert page.input_value("#baseline") == "logprob"
    page.go_back()
    assert page.input_value("#baseline") == ""
    page.go_forward()
    assert page.input_value("#baseline") == "logprob"


def test_the_topic_that_is_shown_is_in_the_link(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.select_option("#one", label="bm25")
    page.select_option("#two", label="boolean")
    caption = page.text_content("#lists table caption")
    page.reload()
    assert page.text_content("#lists table caption") == caption


def test_a_section_by_its_name(sample: Path, opened: Opened) -> None:
    page = opened.open(sample, "#pairs")
    assert page.evaluate("scrollY") > 500


def test_a_baseline_nobody_was_tested_against(tmp_path: Path, opened: Opened) -> None:
    data = exaequo.sample()
    page = opened.open(write(tmp_path / "x.html", data.qrels, data.runs, baseline="bm25"))
    assert page.input_value("#baseline") == "bm25"
    assert page.text_content("#pinned") == ""
    page.select_option("#baseline", "boolean")
    assert "have no p: the tests were made against bm25" in (page.text_content("#pinned") or "")
    page.select_option("#baseline", "")
    page.reload()
    assert page.input_value("#baseline") == ""


def test_figures_on_dark_paper(sample: Path, browser: Browser) -> None:
    found = {}
    for scheme in ("light", "dark"):
        page = browser.new_context(color_scheme=scheme).new_page()
        page.goto(sample.as_uri())
        colour = "element => getComputedStyle(element).fill"
        found[scheme] = [
            page.eval_on_selector(selector, colour)
            for selector in ("#figure-tie-groups .mark-rect path", "#figure-curves text", "#figure-curves rect")
        ]
        page.close()
    assert found["light"] == ["rgb(213, 94, 0)", "rgb(34, 34, 34)", "rgb(255, 255, 255)"]
    assert found["dark"] == ["rgb(230, 159, 0)", "rgb(238, 238, 238)", "rgb(27, 27, 31)"]


def test_scores_are_those_of_the_file(tmp_path: Path, opened: Opened) -> None:
    """Topics nobody judged, and topics without a relevant document, stand before the others in the file."""
    qrels: Grades = {"1": {"a": 0.0}, "2": {"a": 1.0, "b": 0.0}, "3": {"a": 1.0}, "4": {"b": 1.0}}
    run: Sims = {topic: {name: 10.0 * int(topic) + at for at, name in enumerate("abc")} for topic in "012345"}
    page = opened.open(write(tmp_path / "x.html", qrels, {"one": run, "two": run | {"2": {"a": 7.5}}}))
    page.select_option("#topic", label="3")
    own = page.locator("#lists table", has_text="two, topic")
    assert own.locator("td:nth-child(4)").all_text_contents() == ["32", "31", "30"]
    page.select_option("#topic", label="2")
    assert own.locator("td:nth-child(4)").all_text_contents() == ["7.5"]


def test_judgments_are_those_of_the_file(tmp_path: Path, opened: Opened) -> None:
    """A grade that is too high to count is shown as it is, and not as relevant."""
    qrels: Grades = {str(topic): {"a": 3.0, "b": 2.0, "c": 0.0} for topic in range(3)}
    run: Sims = {str(topic): {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0} for topic in range(3)}
    path = write(tmp_path / "x.html", qrels, {"one": run, "two": run}, max_grade=2.0)
    page = opened.open(path)
    wanted = ["3", "2 ✓", "0", "not judged"]
    for selector in ("#lists table", ".static table"):
        assert page.locator(selector).first.locator("td:nth-child(3)").all_text_contents() == wanted


@pytest.mark.parametrize("names", [("constructor", "toString"), ("a\nb", "\u202eevil"), ("x" * 300, "x" * 299 + "y")])
def test_names_that_are_odd(tmp_path: Path, browser: Browser, names: tuple[str, str]) -> None:
    qrels: Grades = {f"{names[0]}{at}" if at else names[0]: {"a": 1.0, "b": 0.0, names[1]: 1.0} for at in range(3)}
    runs: dict[str, Sims] = {
        name: {topic: {"a": 1.0, "b": 1.0, names[1]: float(at)} for topic in qrels} for at, name in enumerate(names)
    }
    path = write(tmp_path / "x.html", qrels, runs)
    for width in (1280, 400):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(path.as_uri())
        assert page.locator("#lists table").count() == 2
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        serious = accessibility(page)
        assert serious == []
        page.close()


def test_topics_a_run_lacks_are_counted_where_they_count(tmp_path: Path, opened: Opened) -> None:
    """Left out for all, they are in no mean of the page but those against the cutoff, whose figure says so."""
    qrels: Grades = {str(topic): {"a": 1.0} for topic in range(6)}
    run: Sims = {str(topic): {"a": 1.0 + topic % 2, "b": 1.5} for topic in range(6)}
    part = {topic: run[topic] for topic in list(run)[:4]}
    page = opened.open(write(tmp_path / "x.html", qrels, {"full": run, "part": part}, "RR P@1", missing="skip"))
    assert "over 4 topics" in (page.text_content(".exact") or "")
    assert "4 topics" in (page.text_content("#figure-curves svg") or "")
    assert "6 topics" in (page.text_content("#figure-at-k svg") or "")


def test_no_lists(tmp_path: Path, opened: Opened) -> None:
    data = exaequo.sample()
    page = opened.open(write(tmp_path / "x.html", data.qrels, data.runs, documents=0))
    assert page.locator("#lists table").count() == 0
    assert "no documents of them" in (page.text_content("#topics") or "")


def test_which_verdicts_ties_change(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    rows = page.locator("#changes tbody tr").all_text_contents()
    assert len(rows) == 20
    assert "APbm25llm-judgebm25llm-judgellm-judgellm-judge" in rows


def test_the_best_is_named_whatever_the_order(tmp_path: Path) -> None:
    data = exaequo.sample()
    by_name = {run.name: run for run in data.runs}
    starts = set()
    for names in (("hybrid", "bm25", "dense-fp16"), ("bm25", "dense-fp16", "hybrid")):
        text = write(tmp_path / "x.html", data.qrels, [by_name[name] for name in names]).read_text(encoding="utf-8")
        starts.add(text.partition('<p class="exact">')[2].partition("</p>")[0])
    assert len(starts) == 1
    assert next(iter(starts)).startswith(
        "hybrid has the highest mean AP, 0.6603, over 25 topics: +0.1248 (+23.3 %) over"
    )


@pytest.mark.parametrize("measures", ["AP", "AP nDCG@10 P@10 RR R@100 nDCG ERR@10 Rprec Bpref Success@5"])
def test_paper(tmp_path: Path, browser: Browser, measures: str) -> None:
    """On paper no table is wider than the page."""
    data = exaequo.sample()
    path = write(tmp_path / "x.html", data.qrels, data.runs, measures)
    page = browser.new_page(viewport={"width": 1040, "height": 1400})
    page.emulate_media(media="print")
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 1040
    assert page.locator("#provenance table").is_visible()
    assert page.locator(".static table").first.is_visible()
    page.close()


def test_one_run(tmp_path: Path, opened: Opened) -> None:
    data = exaequo.sample()
    page = opened.open(write(tmp_path / "one.html", data.qrels, [data.runs[0]]))
    verdict = page.text_content(".verdict") or ""
    assert verdict.startswith(f"{data.runs[0].name} has a mean AP of ")
    assert page.locator("#pairs").count() == 0
    assert page.locator("#bars .bar").count() == 25
    assert page.locator("figure").count() >= 2
    assert page.locator(".static table").count() == 3
    assert page.locator("[data-answer]").count() == 4


def test_measures_and_lists_that_are_not_there(tmp_path: Path, opened: Opened) -> None:
    """A measure without values is left out, and said; a topic one run lacks has an empty list."""
    qrels: Grades = {str(topic): {"a": 1.0, "b": 0.0, "c": 2.0} for topic in range(5)}
    full: Sims = {str(topic): {"a": 1.0, "b": 1.0, "c": float(topic)} for topic in range(5)}
    part: Sims = {str(topic): {"b": 3.0, "c": 2.0} for topic in range(4)}
    path = write(tmp_path / "x.html", qrels, {"full": full, "part": part}, "AP PDoc(doc='z') NumRet", documents=2)
    page = opened.open(path)
    assert "PDoc(doc='z') is left out" in (page.text_content("#health") or "")
    assert page.locator("#scores thead th[data-key]").count() == 3 + 2 + 3
    page.select_option("#topic", label="4")
    assert "nothing returned" in (page.text_content("#lists") or "")


@pytest.mark.parametrize("size", [3, 20])
def test_the_matrix_without_scripts(tmp_path: Path, browser: Browser, size: int) -> None:
    qrels: Grades = {str(topic): {"a": 1.0} for topic in range(24)}
    runs: dict[str, Sims] = {
        f"r{at:02}": {str(t): {**{f"x{k}": 2.0 for k in range(at)}, "a": 1.0} for t in range(24)} for at in range(size)
    }
    path = write(tmp_path / "x.html", qrels, runs, "RR")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("#matrix tbody tr").count() == size
    cell = (page.locator("#matrix tbody tr").nth(0).locator("td").nth(1).text_content() or "").strip()
    assert cell == ("+0.5000 ▲p < 0.0001" if size == 3 else "▲")
    context.close()


def test_downloads(sample: Path, opened: Opened, tmp_path: Path) -> None:
    page = opened.open(sample)
    for button, name in (("#csv", "values.csv"), ("#latex", "means.tex"), ("#json", "report.json")):
        with page.expect_download() as waiting:
            page.click(button)
        assert waiting.value.suggested_filename == name
        waiting.value.save_as(tmp_path / name)
    lines = (tmp_path / "values.csv").read_text().splitlines()
    assert lines[0] == "run,topic,measure,value"
    assert len(lines) == 1 + 6 * 25 * 3
    assert json.loads((tmp_path / "report.json").read_text())["format"] == 1
    assert r"\textbf{0.6603}$^{a}$" in (tmp_path / "means.tex").read_text()
    inside = json.loads((tmp_path / "report.json").read_text())
    assert {"provenance", "inputs", "health", "remarks", "glossary"} == set(inside["about"])
    assert len(inside["systems"]) == 18
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    pictures = page.locator("button.download:visible, button.chart:visible").count()
    for at in range(pictures):
        if at % 5 == 0:  # the browser asks before it lets a page save very many
            page.reload()
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        page.wait_for_selector("#cloud svg")
        with page.expect_download() as waiting:
            page.locator("button.download:visible, button.chart:visible").nth(at).click()
        waiting.value.save_as(tmp_path / "x.svg")
        root = ElementTree.parse(tmp_path / "x.svg").getroot()  # noqa: S314 - our own
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in (tmp_path / "x.svg").read_text()


def test_without_scripts(sample: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(sample.as_uri())
    assert page.locator("#scores tbody tr").count() == 6
    assert page.locator("#matrix table tbody tr").count() == 6
    names = page.eval_on_selector_all("figure", "all => all.map(each => each.id)")
    kinds = ("budget", "curves", "at-k", "measures", "tie-groups", "topics", "recall")
    assert names == [f"figure-{name}" for name in kinds]
    assert page.locator("figure svg").count() == len(names)
    assert page.locator("div.static table.list").count() == 6
    assert page.locator("div.static table.list").first.is_visible()
    assert page.locator("#filter").is_hidden()
    assert page.locator("noscript").count() == 2
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(sample: Path, browser: Browser, scheme: Any) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(sample.as_uri())
    assert accessibility(page) == []
    context.close()


def test_names_are_text(tmp_path: Path, opened: Opened) -> None:
    topics = [NASTY[at % 4] + str(at) for at in range(6)]
    qrels: Grades = {topic: dict.fromkeys(NASTY, 1.0) for topic in topics}
    runs: dict[str, Sims] = {
        name: {
            topic: {doc: float((at + place) % 5) for at, doc in enumerate((*NASTY, "x"))}
            for place, topic in enumerate(topics)
        }
        for name in NASTY
    }
    path = write(tmp_path / "nasty.html", qrels, runs, title=NASTY[0])
    page = opened.open(path)
    assert page.text_content("h1") == NASTY[0]
    assert set(order(page)) == set(NASTY)
    assert page.locator("img").count() == 0
    drawn = "".join(page.locator("figure svg").all_text_contents())
    assert NASTY[0] in drawn and NASTY[4] in drawn
    assert page.evaluate("document.scripts.length") == 3
    page.select_option("#baseline", NASTY[2])
    page.locator("#bars .bar").first.click()


def test_provenance_and_verdict(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    verdict = page.text_content(".exact") or ""
    assert verdict.startswith("hybrid has the highest mean AP, 0.6603, over 25 topics")
    assert "pairs ties decide which run is better: no verdict is given there" in (page.text_content("#ties") or "")
    heads, *rows = (row.locator("th, td").all_text_contents() for row in page.locator("#each-run tr").all())
    assert heads[-3:] == ["lists of tied documents only", "lists that are one tie", "lists without ties"]
    assert {run: counts[-3:] for run, *counts in rows} == {
        "bm25": ["0", "0", "25"],
        "boolean": ["16", "0", "0"],
        "dense-fp16": ["0", "0", "0"],
        "hybrid": ["0", "0", "25"],
        "llm-judge": ["12", "0", "0"],
        "logprob": ["0", "0", "0"],
    }


def test_how_far_the_scores_can_be_trusted(sample: Path, opened: Opened, tmp_path: Path) -> None:
    """Sentences, table and file are those of a budget of the same files."""
    budget = exaequo.budget(*_sample(), "AP")
    wide = widths(budget.runs)
    page = opened.open(sample)
    page.click('nav a[href="#budget"]')
    section = page.locator("#budget")
    said = section.locator("p").first.text_content() or ""
    assert budget.sentences[0] in said and budget.sentences[-1] in said
    together = budget.runs.filter(source="together").row(0, named=True)
    assert f"may be anything from {together['low']:.4f} to {together['high']:.4f}" in said
    rows = [row.locator("th, td").all_text_contents() for row in section.locator("#open tbody tr").all()]
    assert [row[:-1] for row in rows] == [[cell_text(cell) for cell in row] for row in wide.rows()]
    assert rows[0][-1] == f"10 documents judged leave {budget.remedies.filter(source='unjudged')['then'][0]:.4f}"
    assert section.locator("figure svg").count() == 1
    page.click("#open + details + #to-judge summary")
    assert section.locator("#to-judge tbody tr").count() == budget.documents.filter(pl.col("moves") > 0).height
    with page.expect_download() as waiting:
        page.click("#budget-csv")
    waiting.value.save_as(tmp_path / "budget.csv")
    assert pl.read_csv(tmp_path / "budget.csv").equals(pl.read_csv(budget.runs.write_csv().encode()))
    page.click("#budget button.term")
    assert page.locator("#note-budget").is_visible()


def test_the_best_runs_and_the_baseline_are_trusted(tmp_path: Path, opened: Opened) -> None:
    """Of more runs than the picture has rows for, the best and the baseline are there, as if all were."""
    qrels: Grades = {str(topic): {"a": 1.0, "b": 0.0} for topic in range(6)}
    runs: dict[str, Sims] = {
        f"r{at:02}": {str(t): {**{f"x{k}": 2.0 + k % 2 for k in range((at + t) % 30)}, "a": 1.0} for t in range(6)}
        for at in range(30)
    }
    page = opened.open(write(tmp_path / "x.html", qrels, runs, "RR", baseline="r23"))
    shown = page.locator("#open tbody tr").evaluate_all("all => all.map(row => row.cells[0].textContent.trim())")
    budget = exaequo.budget(qrels, runs, "RR", baseline="r23")
    ranked = budget.runs["run"].unique(maintain_order=True).to_list()
    assert ranked.index("r23") > 25
    assert shown == [*ranked[:24], "r23"]
    found = json.loads(page.text_content("#data") or "")["budget"]
    assert found["runs"] == budget.runs.filter(pl.col("run").is_in(shown)).to_dicts()
    assert found["pairs"] == budget.pairs.filter(pl.col("two").is_in(shown)).to_dicts()


@pytest.mark.parametrize(
    ("options", "measure", "lines", "why"),
    [
        ({"depth": 5}, "RR", 100, "whole lists"),
        ({"missing": "skip"}, "RR", 100, "whole lists"),
        ({}, "RR", 9, "too long"),
        ({}, "StRecall@5", 100, "nobody knows those of an unjudged document"),
    ],
)
def test_scores_whose_trust_is_not_told(
    tmp_path: Path,
    opened: Opened,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    measure: str,
    lines: int,
    why: str,
) -> None:
    monkeypatch.setattr("exaequo.reporting.trust.MOST_LINES", lines)
    (tmp_path / "qrels").write_text("".join(f"{topic} {part} a 1\n" for topic in range(5) for part in (1, 2)))
    run: Sims = {str(topic): {"b": 2.0, "a": 1.0} for topic in range(5)}
    page = opened.open(write(tmp_path / "x.html", tmp_path / "qrels", {"one": run}, measure, **options))
    assert why in (page.text_content("#budget") or "")
    assert page.locator("#budget table, #budget-csv, .answers a[href='#budget']").count() == 0


@pytest.mark.speed
def test_a_campaign_fits(tmp_path: Path, browser: Browser) -> None:
    """130 runs, 50 topics, 10 measures: under 10 MB, open in under 3 seconds."""
    import random

    source = random.Random(1)
    topics = [str(topic) for topic in range(301, 351)]
    documents = [f"DOC-{number:05}" for number in range(60)]
    qrels = {topic: {name: source.choice((0, 0, 1, 2)) for name in documents[:40]} for topic in topics}
    runs = {
        f"system-{at:03}": {topic: {name: source.random() for name in source.sample(documents, 20)} for topic in topics}
        for at in range(130)
    }
    measures = "AP nDCG@10 P@10 RR R@20 nDCG ERR@10 Rprec Bpref Success@5"
    path = write(tmp_path / "campaign.html", qrels, runs, measures)
    assert path.stat().st_size < 10_000_000
    page = browser.new_page()
    start = time.monotonic()
    page.goto(path.as_uri())
    page.wait_for_selector("#bars .bar")
    assert time.monotonic() - start < 3
    assert page.locator("#scores tbody tr").count() == 130
    assert page.eval_on_selector("#scores", "table => table.scrollWidth") < 1600
    page.close()


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    exaequo.sample().save(tmp_path)
    monkeypatch.chdir(tmp_path)
    runs = ["runs/bm25.txt", "runs/hybrid.txt", "runs/boolean.txt"]
    asked = ["--baseline", "runs/bm25.txt", "--show", "3"]
    assert command(["report", "qrels.txt", *runs, "-o", "page.html", *asked]) == 0
    assert capfd.readouterr().out.startswith("hybrid has the highest mean AP")
    text = Path("page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<title>3 runs, 25 topics</title>" in text
    assert command(["report", "qrels.txt", runs[0], "-o", "one.html"]) == 0
    assert "There is no run to compare it with" in capfd.readouterr().out
    assert command(["report", "qrels.txt", "runs/bm25.txt", "runs/logprob.txt", "-o", "two.html"]) == 0
    said = " ".join(capfd.readouterr().out.split())
    assert said.endswith("(t, holm): ties decide: realistic no difference, expected no difference, optimistic worse.")
    assert command(["report", "qrels.txt"]) == 2
    before = Path(runs[0]).read_bytes()
    capfd.readouterr()
    assert command(["report", "qrels.txt", *runs, "-o", runs[0]]) == 2
    assert "would be written over" in capfd.readouterr().err
    assert Path(runs[0]).read_bytes() == before
    assert command(["report", "qrels.txt", *runs, "-o", "nowhere/page.html"]) == 1
    assert "no such folder" in capfd.readouterr().err


def test_a_baseline_that_is_best_and_less_is_better(tmp_path: Path, opened: Opened, browser: Browser) -> None:
    data = exaequo.sample()
    path = write(tmp_path / "noise.html", data.qrels, data.runs, "Noise@10 AP", baseline="hybrid")
    page = opened.open(path, "#view?sort=9&pairs=9")  # a link from another page breaks nothing
    verdict = page.text_content(".exact") or ""
    assert verdict.startswith(
        "hybrid, the baseline, has the lowest mean Noise@10, 0.1400, over 25 topics. dense-fp16, the best of"
    )
    assert page.input_value("#baseline") == "hybrid"
    cells = page.eval_on_selector_all("#matrix td", "cells => cells.map(cell => cell.textContent.trim())")
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto(path.as_uri())
    static = [(each or "").strip().replace("-", "−") for each in still.locator("#matrix td").all_text_contents()]
    assert [set(each) & set("▲▼–") for each in cells] == [set(each) & set("▲▼–") for each in static]
    assert any("▲" in each for each in static)
    context.close()


def hostile() -> tuple[Grades, dict[str, Sims]]:
    """Judgments and runs all of whose names are hostile; scores are tied here and there."""
    qrels: Grades = {topic: {doc: float(at % 3) for at, doc in enumerate(HOSTILE)} for topic in HOSTILE}
    runs: dict[str, Sims] = {
        name: {
            topic: {doc: float((at * 7 + place * 3 + row) % 5) for at, doc in enumerate(HOSTILE)}
            for place, topic in enumerate(HOSTILE)
        }
        for row, name in enumerate(HOSTILE)
    }
    return qrels, runs


def policy_of(page: Page) -> dict[str, str]:
    """What the policy of a page allows, by directive."""
    (text,) = page.eval_on_selector_all(
        'head > meta[http-equiv="Content-Security-Policy"]', "all => all.map(each => each.content)"
    )
    return {name: value for name, _, value in (part.strip().partition(" ") for part in text.split(";"))}


def nothing_ran(page: Page) -> None:
    assert page.evaluate("typeof window.PWN") == "undefined"
    assert page.locator("img").count() == 0
    policy = policy_of(page)
    assert (policy["default-src"], policy["base-uri"], policy["form-action"]) == ("'none'",) * 3
    allowed = policy["script-src"].split()
    assert allowed and all(each.startswith("'sha256-") for each in allowed)


def test_hostile_names_in_the_page(tmp_path: Path, opened: Opened) -> None:
    qrels, runs = hostile()
    page = opened.open(
        write(tmp_path / "hostile.html", qrels, runs, title=HOSTILE[0], baseline=HOSTILE[1], documents=20)
    )
    assert page.text_content("h1") == HOSTILE[0]
    assert set(order(page)) == set(HOSTILE)
    for control in ("one", "two", "topic", "baseline"):
        for at in range(len(HOSTILE)):
            page.select_option(f"#{control}", index=at)
    page.locator("#bars .bar").first.click()
    assert set(HOSTILE) == set(page.locator("#lists table").first.locator("td:nth-child(2)").all_text_contents())
    assert page.evaluate("document.scripts.length") == 3
    nothing_ran(page)


def test_enter_in_a_form_leaves_the_page_as_it_is(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.fill("#filter", "bm")
    page.press("#filter", "Enter")
    assert order(page) == ["bm25"]
    assert "?" not in page.url.partition("#")[0]


def test_the_policy_of_the_page_holds(sample: Path, browser: Browser) -> None:
    page = browser.new_page()
    one = Opened(page)
    one.open(sample)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=PWN=1><b onclick=PWN=2>b</b>')")
    page.locator("b").last.click()
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'PWN=3'}))")
    assert page.evaluate("typeof window.PWN") == "undefined"
    assert len(one.complaints) >= 3
    assert all("Content Security Policy" in each for each in one.complaints)
    page.close()


def picture(opened: Opened, path: Path) -> Page:
    """Open a picture; that Vega-Lite names another release of Vega than the one it comes with is no complaint."""
    page = opened.open(path)
    page.wait_for_selector("#chart svg", timeout=10_000)
    opened.complaints[:] = [each for each in opened.complaints if not each.startswith("The compiled spec uses Vega")]
    return page


@pytest.mark.parametrize("kind", [each for each in plot.KINDS if each != "single"])
def test_hostile_names_in_a_picture(tmp_path: Path, opened: Opened, kind: str) -> None:
    qrels, runs = hostile()
    path = tmp_path / "picture.html"
    few = dict(list(runs.items())[: 1 if kind in ("tie-groups", "threshold") else 2])
    options = {"topic": HOSTILE[0]} if kind == "recall" else {}
    getattr(plot, kind.replace("-", "_"))(qrels, few, **options).save(path)
    page = picture(opened, path)
    drawn = "".join(page.locator("#chart svg").all_text_contents())
    assert kind in ("asl", "measures", "reversals") or "onerror=PWN=1>" in drawn
    assert page.evaluate("document.scripts.length") == 3
    nothing_ran(page)


def test_a_picture_is_saved_from_its_page(tmp_path: Path, opened: Opened) -> None:
    qrels, runs = hostile()
    plot.ties(qrels, runs).save(tmp_path / "picture.html")
    page = picture(opened, tmp_path / "picture.html")
    page.click("#chart summary")
    menu = page.locator("#chart .vega-actions a")
    assert menu.all_text_contents() == ["Save as SVG", "Save as PNG"]  # what shows the source does not escape it
    for at, start in enumerate((b"<svg", b"\x89PNG")):
        with page.expect_download() as waiting:
            menu.nth(at).click()
        waiting.value.save_as(tmp_path / "saved")
        assert (tmp_path / "saved").read_bytes().startswith(start)
    nothing_ran(page)
