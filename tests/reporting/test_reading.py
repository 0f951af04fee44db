"""What a colleague reads: the answers on the first screen, the table that is a picture, notes, texts, steps, keys."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page

import exaequo
from browsing import Opened, accessibility, order, write
from exaequo.cli import run as command
from exaequo.reporting.paths import short_paths
from helpers import Grades, Sims

SCREEN: Any = {"width": 1280, "height": 900}


def unjudged() -> set[tuple[str, str]]:
    """What nobody judged in the first 10 of the sample's runs, the worst first among equals, found the slow way."""
    data = exaequo.sample()
    grades = {(row["qid"], row["docno"]): row["rel"] for row in data.qrels.frame.iter_rows(named=True)}
    found = set()
    for run in data.runs:
        for (topic,), lines in run.frame.group_by("qid"):
            rows = sorted(
                lines.sort("docno", descending=True).iter_rows(named=True),
                key=lambda row: (-row["sim"], grades.get((row["qid"], row["docno"]), -1)),
            )
            if any(grade > 0 for (qid, _), grade in grades.items() if qid == topic):
                found |= {(str(topic), row["docno"]) for row in rows[:10] if (topic, row["docno"]) not in grades}
    return found


QUESTIONS = {
    "best": "hybrid is best: AP 0.6603, ahead of dense-fp16 (0.5355) by 0.1248; ties decide between it and llm-judge.",
    "real": "Yes: hybrid over dense-fp16 is +0.1248, +0.0515 to +0.1980 with 95 % confidence; chance would hardly",
    "luck": "could move llm-judge from 0.3737 to 0.8304 AP; ties decide 20 of 45 comparisons.",
    "why": "hybrid does better than dense-fp16 on 22 of 25 topics, worse on 3. Where most: 402 (+0.3944)",
    "missing": "in the first 10 ranks have no judgment and count as not relevant; boolean has the largest share",
    "change": "no order of ties that was tried puts dense-fp16 before hybrid",
}


def test_the_first_screen_answers(sample: Path, browser: Browser) -> None:
    page = browser.new_page(viewport=SCREEN)
    page.goto(sample.as_uri())
    for question, answer in QUESTIONS.items():
        element = page.locator(f'[data-answer="{question}"]')
        assert answer in re.sub(r"\s+", " ", element.text_content() or ""), question
    boxes = [page.locator(f'[data-answer="{question}"]').bounding_box() for question in QUESTIONS]
    boxes += [page.locator(place).bounding_box() for place in ("h1", "time", "nav", "#scores", ".legend")]
    assert all(box is not None and box["y"] >= 0 and box["y"] + box["height"] <= 900 for box in boxes)
    assert page.evaluate("scrollY") == 0
    page.close()


def test_what_is_not_judged(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    wanted = unjudged()
    assert f"{len(wanted)} documents in the first 10" in (page.text_content('[data-answer="missing"]') or "")
    page.click('[data-answer="missing"] a')
    rows = page.locator("#unjudged tbody tr").all()
    shown = {tuple(row.locator("td").all_text_contents()[:2]) for row in rows}
    assert page.locator("#unjudged table").is_visible()
    assert shown <= wanted
    assert len(shown) == min(100, len(wanted))


def test_runs_that_share_the_top(tmp_path: Path, opened: Opened) -> None:
    qrels: Grades = {str(topic): {"a": 1.0, "b": 0.0} for topic in range(20)}
    above: Sims = {str(topic): {"a": 2.0, "b": 1.0} for topic in range(20)}
    below: Sims = {str(topic): {"a": 1.0, "b": 2.0} for topic in range(20)}
    runs = {"one": above, "two": above | {"3": below["3"]}, "last": below}
    page = opened.open(write(tmp_path / "x.html", qrels, runs, "RR"))
    assert "one has the highest RR, 1.0000, but shares the top with 1 other: two." in (
        page.text_content(".verdict") or ""
    )
    assert "that may be chance" in (page.text_content('[data-answer="real"]') or "")
    assert "every document there has a judgment" in (page.text_content('[data-answer="missing"]') or "")
    assert "No order of tied documents moves a mean of RR" in (page.text_content('[data-answer="luck"]') or "")


def places(page: Page, run: str) -> dict[str, float]:
    """Where marks of a run stand, as values of its axis."""
    found: dict[str, float] = page.evaluate(
        """run => {
          const row = [...document.querySelectorAll("#scores tbody tr")].find(each => each.dataset.run === run);
          const ticks = [...document.querySelectorAll("#scores thead .axis i")].map(each => {
            const box = each.getBoundingClientRect();
            return [Number(each.textContent), box.x + box.width / 2];
          });
          const [first, last] = [ticks[0], ticks.at(-1)];
          const value = x => first[0] + (x - first[1]) / (last[1] - first[1]) * (last[0] - first[0]);
          const box = selector => row.querySelector(selector).getBoundingClientRect();
          const [mean, open, sure] = [box("circle"), box(".open"), box("line.sure")];
          return {mean: value(mean.x + mean.width / 2), least: value(open.x), most: value(open.right),
                  low: value(sure.x), high: value(sure.right)};
        }""",
        run,
    )
    return found


@pytest.mark.parametrize("scripts", [True, False])
def test_the_table_is_a_picture(sample: Path, browser: Browser, scripts: bool) -> None:
    context = browser.new_context(viewport=SCREEN, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(sample.as_uri())
    known = {"mean": 0.3737, "low": 0.3345, "high": 0.4129, "least": 0.3737, "most": 0.8304}
    found = places(page, "llm-judge")
    assert found == {name: pytest.approx(value, abs=0.006) for name, value in known.items()}
    context.close()


def test_another_measure_is_drawn_and_ranked(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.select_option("#drawn", label="P@10")
    assert order(page)[:3] == ["hybrid", "dense-fp16", "llm-judge"]
    ranks = page.eval_on_selector_all("#scores tbody .rank", "all => all.map(each => each.textContent)")
    assert ranks == ["1", "2", "3", "4", "5", "6"]
    assert places(page, "hybrid")["mean"] == pytest.approx(0.86, abs=0.006)
    page.reload()
    assert page.input_value("#drawn") == "2"


def test_columns_are_chosen(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    head = page.locator('#scores th[data-key="interval"]')
    assert head.is_hidden()
    page.click("#runs .choose summary")
    page.check("#runs .choose label:has-text('interval')")
    assert head.is_visible()
    page.uncheck("#runs .choose label:has-text('nDCG@10')")
    assert page.locator('#scores th[data-key="1"]').is_hidden()


def test_many_runs(tmp_path: Path, opened: Opened) -> None:
    qrels: Grades = {str(topic): {"a": 1.0} for topic in range(12)}
    runs: dict[str, Sims] = {
        f"r{at:02}": {str(t): {**{f"x{k}": 2.0 for k in range(at)}, "a": 1.0} for t in range(12)} for at in range(20)
    }
    page = opened.open(write(tmp_path / "x.html", qrels, runs, "RR"))
    assert page.locator("#scores tbody tr:visible").count() == 15
    page.select_option("#baseline", "r19")
    assert page.locator("#scores tbody tr:visible").count() == 16
    page.click("#runs .all")
    assert page.locator("#scores tbody tr:visible").count() == 20
    topics = page.locator("#topic option").all_text_contents()
    assert topics == [str(topic) for topic in range(12)]  # as numbers, not as texts
    page.click("#intervals th:nth-child(1) button")
    assert page.locator("#intervals tbody th").first.text_content() == "r00"


def test_ties_the_widest_first(sample: Path, opened: Opened, browser: Browser) -> None:
    page = opened.open(sample)
    wanted = ["llm-judge", "boolean", "logprob", "dense-fp16"]
    assert page.locator("#intervals tbody th").all_text_contents()[:4] == wanted
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto(sample.as_uri())
    assert still.locator("#intervals tbody th").all_text_contents()[:4] == wanted
    context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_notes_open_at_the_word(sample: Path, browser: Browser, scripts: bool) -> None:
    context = browser.new_context(viewport=SCREEN, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(sample.as_uri())
    note = page.locator("#note-tie")
    assert note.is_hidden()
    button = page.locator('[data-answer="luck"] .term')
    button.focus()
    page.keyboard.press("Enter")
    assert note.is_visible()
    near, far = button.bounding_box(), note.bounding_box()
    assert near is not None and far is not None
    assert 0 <= far["y"] - near["y"] < 60
    page.keyboard.press("Escape")
    assert note.is_hidden()
    for word in ("realistic", "conventional", "expected", "optimistic", "interval", "p", "Holm", "tie"):
        assert page.locator("#glossary dt", has_text=re.compile(f"^{word}$")).count() == 1
        assert page.locator(".term", has_text=re.compile(f"^{word}$")).count() >= 1
    context.close()


def test_keys(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("?")
    before = page.input_value("#topic")
    page.keyboard.press("ArrowRight")
    after = page.input_value("#topic")
    assert after != before
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#topic") == before
    page.keyboard.press("/")
    page.keyboard.type("bm?")
    assert page.input_value("#filter") == "bm?"
    assert page.locator("#keys").is_hidden()


def test_a_topic_of_the_answer_is_shown(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.click('[data-answer="why"] a >> text=421')
    assert "topic 421" in (page.text_content("#lists table caption") or "")
    assert page.evaluate("scrollY") > 300


@pytest.mark.parametrize("scripts", [True, False])
def test_shared_documents_stand_on_one_line(tmp_path: Path, browser: Browser, scripts: bool) -> None:
    qrels: Grades = {str(topic): {"a": 1.0, "b": 1.0, "c": 0.0} for topic in range(3)}
    one: Sims = {str(topic): {"a": 9.0, "b": 8.0, "c": 7.0, "d": 7.0} for topic in range(3)}
    two: Sims = {str(topic): {"x": 9.0, "y": 8.0, "a": 7.0, "c": 6.0, "b": 5.0} for topic in range(3)}
    context = browser.new_context(viewport=SCREEN, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(write(tmp_path / "x.html", qrels, {"one": one, "two": two}, "AP").as_uri())
    tables = page.locator("#lists table" if scripts else ".static .side:first-of-type table").all()[:2]
    heights = []
    for table in tables:
        row = table.locator("tbody tr", has=page.locator("td", has_text=re.compile("^a$")))
        box = row.bounding_box()
        heights.append(box["y"] if box else None)
        assert "shared" in (row.get_attribute("class") or "")
    assert heights[0] == pytest.approx(heights[1], abs=1)
    ranks = {
        table.locator("td", has_text=re.compile("^a$")).locator("xpath=../td[5]").text_content() for table in tables
    }
    assert ranks == {"3", "1"}  # the rank there
    context.close()


def texts() -> dict[str, pl.DataFrame]:
    data = exaequo.sample()
    names = {name for run in data.runs for name in run.frame["docno"]}
    long = "<script>alert(1)</script> & word " * 40
    rows = [(name, f"Title of {name}", long) for name in sorted(names)]
    documents = pl.DataFrame(rows, schema=["docno", "title", "text"], orient="row")
    topics = [(topic, f"Need {topic}", "What <b>is</b> it?", "") for topic in data.qrels.frame["qid"].unique().sort()]
    return {
        "topics": pl.DataFrame(topics, schema=["qid", "title", "description", "narrative"], orient="row"),
        "docs": documents,
    }


def beside(page: Page) -> int:
    """How many documents of both lists stand at the same height."""
    found: int = page.evaluate(
        """() => {
          const top = each => [each.textContent, each.closest("tr").offsetTop];
          const [one, two] = [...document.querySelectorAll("#lists tbody")].map(
            body => new Map([...body.querySelectorAll(".shared summary")].map(top)));
          return [...one].filter(([name, top]) => Math.abs(two.get(name) - top) < 2).length;
        }"""
    )
    return found


def test_texts_of_topics_and_documents(tmp_path: Path, opened: Opened, browser: Browser) -> None:
    data = exaequo.sample()
    path = write(tmp_path / "x.html", data.qrels, data.runs, "AP nDCG@10 P@10", **texts())
    page = opened.open(path)
    assert page.locator("#topic-text p").all_text_contents() == ["Need 402", "What <b>is</b> it?"]
    assert beside(page) > 0
    page.locator("#lists summary").first.click()
    page.wait_for_timeout(100)
    assert beside(page) > 0
    text = page.locator("#lists details").first.text_content() or ""
    assert re.match(r"(\S+) Title of \1", text)
    assert text.endswith(" …")
    assert accessibility(page) == []
    inside = json.loads(page.text_content("#data") or "")
    shown = {line[0] for run in inside["lists"] for top in run for line in top}
    assert set(inside["texts"]["documents"]) == shown
    assert all(len(body) <= 502 for _, body in inside["texts"]["documents"].values())
    still = browser.new_context(java_script_enabled=False).new_page()
    still.goto(path.as_uri())
    assert still.locator(".static p.text").first.text_content() == "Need 402"
    assert "Title of" in (still.locator(".static details").first.text_content() or "")
    still.close()


def test_texts_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    data = exaequo.sample()
    data.save(tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("topics.tsv").write_text("402\tbridges\n")
    docs = [{"_id": name, "title": "", "text": "words"} for name in data.runs[0].frame["docno"].head(50)]
    Path("docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in docs))
    Path("other.tsv").write_text("q1\tbridges\n")
    asked = ["report", "qrels.txt", "runs/bm25.txt", "runs/hybrid.txt", "-m", "AP", "-o", "x.html"]
    assert command([*asked, "--topics", "topics.tsv", "--docs", "docs.jsonl"]) == 0
    assert "bridges" in Path("x.html").read_text(encoding="utf-8")
    capfd.readouterr()
    assert command([*asked, "--topics", "other.tsv"]) == 1
    assert re.search(r"other.tsv: .*none of the 25 shown .*qid such as 401", capfd.readouterr().err, re.DOTALL)


def test_how_a_value_comes_about(sample: Path, opened: Opened) -> None:
    page = opened.open(sample)
    page.select_option("#one", label="bm25")
    page.select_option("#topic", label="410")
    data = exaequo.sample()
    run = next(each for each in data.runs if each.name == "bm25")
    known = exaequo.explain(data.qrels, run, "410", "AP")
    steps = page.locator("#lists .steps").first
    assert steps.locator("pre").is_hidden()
    steps.locator("summary").click()
    text = steps.locator("pre").text_content() or ""
    assert text.endswith(f"So AP = {known.figure}")
    assert "Divided by the number of all relevant documents" in text
    page.select_option("#measure", label="P@10")
    code = page.locator("#lists .steps code").first.text_content() or ""
    assert re.fullmatch(r"exaequo explain '?\S+ ?.*--topic 410 -m P@10", code)


def test_files_are_named_without_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exaequo.sample().save(tmp_path / "secret")
    monkeypatch.chdir(tmp_path)
    files = ["secret/qrels.txt", "secret/runs/bm25.txt", "secret/runs/boolean.txt"]
    monkeypatch.setattr("sys.argv", ["exaequo", "report", *files])
    assert command(["report", *files, "-o", "x.html"]) == 0
    text = Path("x.html").read_text(encoding="utf-8")
    assert "boolean.txt" in text and "secret" not in text
    assert command(["report", *files, "-o", "x.html", "--paths"]) == 0
    assert "secret/runs/boolean.txt" in Path("x.html").read_text(encoding="utf-8")
    assert short_paths(["a/x/r", "b/x/r", "b/s"]) == {"a/x/r": "a/x/r", "b/x/r": "b/x/r", "b/s": "s"}


def test_remarks_are_those_of_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opened, capfd: pytest.CaptureFixture[str]
) -> None:
    exaequo.sample().save(tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = Path("runs/bm25.txt").read_text().splitlines(keepends=True)
    Path("runs/bm25.txt").write_text("".join(line for line in lines if not line.startswith("401 ")))
    files = ["qrels.txt", *sorted(map(str, Path("runs").iterdir()))]
    assert command(["check", *files, "--json"]) == 0
    remarks = json.loads(capfd.readouterr().out)["remarks"]
    assert command(["report", *files, "-o", "x.html"]) == 0
    page = opened.open(Path("x.html").resolve())
    shown = page.locator("#health > ul li, #health > details ul li").all_text_contents()
    assert {remark.replace("runs/", "") for remark in remarks} <= set(shown)
    assert len(remarks) >= 5
    assert f"({len(shown)})" in (page.text_content('nav a[href="#health"]') or "")


def test_in_a_notebook(opened: Opened, tmp_path: Path) -> None:
    data = exaequo.sample()
    made = exaequo.report(data.qrels, data.runs, measures="AP P@10", title='a "b" <c>')
    assert repr(made).startswith("Page(verdict='hybrid has the highest mean AP")
    around = tmp_path / "notebook.html"
    around.write_text(f"<!doctype html><title>x</title><body>{made._repr_html_()}</body>", encoding="utf-8")
    page = opened.open(around)
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").text_content() == 'a "b" <c>'
    frame.locator('#scores th[data-key="run"] button').click()
    assert frame.locator("#scores tbody tr").first.get_attribute("data-run") == "bm25"
    frame.locator('nav a[href="#glossary"]').click()
    assert made.save(tmp_path / "saved.html").read_text(encoding="utf-8") == made.html


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_scrolls_inside_the_page_but_sideways(sample: Path, browser: Browser, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(sample.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inner = "all => all.filter(each => each.scrollHeight > each.clientHeight + 2 && each.clientHeight > 0).length"
    assert page.eval_on_selector_all(".scroll", inner) == 0
    assert accessibility(page) == []
    page.close()
